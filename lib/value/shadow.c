// SPDX-License-Identifier: MIT
// The shadow of a world: slots, headers and indices. An update finds the slots and headers that it looks at
// first, while the shadow still has the links from before, and copies them then.
#include "lib/value/shadow.h"

#include "lib/base/bits.h"
#include "lib/value/checksum.h"
#include "lib/world/moment.h"

#include <string.h>

typedef espl__shadow_look update;

// --- Items ---

static void exchange_item(const update *u, espl__shadow_kind kind, uint32_t number, void *to,
                          const void *from, size_t size)
{
    espl__shadow_put(u->shadow, kind, number, to, from, size, size);
}

// The texts of two names are compared, so that a name that was set anew is the same. The log has what the
// shadow held.
static void copy_name(const update *u, uint32_t index)
{
    espl__shadow *const shadow = u->shadow;
    espl__held_name *const to = &shadow->names[index];
    espl__name *const was = to->text;
    const bool is_named = index < u->now.records && u->store->names.count != 0;
    // The shadow holds it, and changes nothing else of it.
    espl__name *const now =
        is_named ? (espl__name *)(uintptr_t)espl__name_of(&u->store->names, index) : NULL;

    if (was == now || (was != NULL && now != NULL && was->size == now->size &&
                       memcmp(was->text, now->text, now->size) == 0)) {
        return;
    }
    if (shadow->has_checksum) {
        shadow->checksum -=
            was == NULL ? 0 : espl__checksum_item(ESPL__SHADOW_NAME, index, was->text, was->size);
        shadow->checksum +=
            now == NULL ? 0 : espl__checksum_item(ESPL__SHADOW_NAME, index, now->text, now->size);
    }
    espl__name_hold(now);
    if (shadow->log != NULL) {
        shadow->log->names += 1;
        espl__undo_push(
            shadow->log,
            &(espl__undo_key){.kind = ESPL__SHADOW_NAME, .number = index, .size = sizeof *to}, to);
    } else {
        espl__name_let_go(&shadow->world->store.names, &shadow->world->heap, was);
    }
    to->text = now;
}

static void copy_original(const update *u, uint32_t index)
{
    const espl__counterparts *const links = &u->store->counterparts;

    if (espl__array_length(u->shadow->originals) != 0) {
        const espl_entity now =
            index < u->now.records ? espl__original_of(links, index) : espl_entity_null();

        exchange_item(u, ESPL__SHADOW_ORIGINAL, index, &u->shadow->originals[index], &now,
                      sizeof now);
    }
}

static void copy_record(const update *u, uint32_t index)
{
    espl__record record = {0};

    if (index < u->now.records) {
        record = u->store->records[index];
        // A living record is found by its row.
        if (record.row < ESPL__ROW_RETIRED) {
            record.chunk = ESPL__NONE;
            record.row = 0;
        } else {
            record.slot = 0;
            record.chunk = record.row == ESPL__NONE ? record.chunk : 0;
        }
    }
    exchange_item(u, ESPL__SHADOW_RECORD, index, &u->shadow->records[index], &record,
                  sizeof record);
    copy_name(u, index);
    copy_original(u, index);
}

static void exchange_side(const update *u, uint32_t slot, bool is_a_node)
{
    if (espl__array_length(u->shadow->sides) > slot) {
        const espl__shadow_side side = espl__shadow_read_side(u->forest, slot, is_a_node);

        exchange_item(u, ESPL__SHADOW_SIDE, slot, &u->shadow->sides[slot], &side, sizeof side);
    }
}

static void exchange_past(const update *u, uint32_t slot, bool is_a_node)
{
    if (u->now.pasts != 0) {
        const espl__past past = espl__shadow_read_past(u->forest, slot, is_a_node);

        ESPL_CHECK(slot < espl__array_length(u->shadow->pasts));
        exchange_item(u, ESPL__SHADOW_PAST, slot, &u->shadow->pasts[slot], &past, sizeof past);
    }
}

static void exchange_cell(const update *u, uint32_t slot, bool is_a_node)
{
    if (espl__forest_has_cells(u->forest)) {
        const espl__cell cell = espl__shadow_read_cell(u->forest, slot, is_a_node);

        ESPL_CHECK(slot < espl__array_length(u->shadow->cells));
        exchange_item(u, ESPL__SHADOW_CELL, slot, &u->shadow->cells[slot], &cell, sizeof cell);
    }
}

// An entity that gets another slot has another record. After a call that lacked memory an array of the shadow
// may have room for slots that the world and other arrays do not have.
static void copy_slot(const update *u, uint32_t slot)
{
    espl__shadow_slot *const to = &u->shadow->slots[slot];
    espl__shadow_slot item;

    if (slot >= u->forest->capacity) {
        return;
    }
    espl__shadow_read_slot(u->forest, slot, &item);
    const bool is_a_node = espl__shadow_is_node(&item);

    if (is_a_node && !(espl__shadow_is_node(to) && to->links.entity == item.links.entity)) {
        copy_record(u, item.links.entity);
    }
    espl__shadow_put_slot(u->shadow, slot, &item);
    exchange_side(u, slot, is_a_node);
    exchange_past(u, slot, is_a_node);
    exchange_cell(u, slot, is_a_node);
}

static void copy_tree(const update *u, uint32_t number)
{
    espl__shadow_tree tree;

    espl__shadow_read_tree(u->forest, number, &tree);
    espl__shadow_put(u->shadow, ESPL__SHADOW_TREE, number, &u->shadow->trees[number], &tree,
                     sizeof tree, ESPL__SHADOW_TREE_HASHED);
    u->shadow->is_plain[number] = espl__shadow_is_plain(&tree.tree);
}

// --- What is looked at ---

static void note_near(const update *u, uint32_t slot)
{
    if (slot < u->forest->capacity) {
        espl__noted_add(&u->shadow->noted_slots, slot);
    }
}

static void note_neighbours(const update *u, const espl__shadow_slot *item, uint32_t first_child)
{
    if (espl__shadow_is_node(item)) {
        note_near(u, item->links.next);
        note_near(u, item->links.previous);
        note_near(u, item->parent);
        note_near(u, first_child);
    }
}

// Note the neighbours of a slot with another node, or with a node that was linked anew.
static void note_around(const update *u, uint32_t slot)
{
    const espl__forest *const forest = u->forest;
    const espl__shadow_slot *const was = &u->shadow->slots[slot];
    espl__shadow_slot now;

    espl__shadow_read_slot(forest, slot, &now);
    note_neighbours(u, was,
                    was->parent < u->was.slots ? u->shadow->slots[was->parent].links.first_child
                                               : ESPL__NO_SLOT);
    note_neighbours(u, &now,
                    espl__shadow_is_node(&now) && now.parent != ESPL__NO_SLOT
                        ? forest->links[now.parent].first_child
                        : ESPL__NO_SLOT);
    if (espl__shadow_is_node(&now) &&
        !(espl__shadow_is_node(was) && was->links.entity == now.links.entity)) {
        for (uint32_t child = now.links.first_child; child != ESPL__NO_SLOT;
             child = forest->links[child].next) {
            note_near(u, child);
        }
    }
}

// Return the marked slots of a block as bits. New slots, and those that are gone, count as marked.
static uint64_t marked_slots(const update *u, uint32_t block, int plane, uint32_t since)
{
    const espl__plane *const planes = u->forest->tracks.planes;
    const uint32_t begin = block * ESPL__PLANE_BLOCK;
    const uint32_t both = u->was.slots < u->now.slots ? u->was.slots : u->now.slots;
    uint64_t bits = UINT64_MAX;

    if (!u->is_whole && begin < both) {
        bits = espl__plane_changed(&planes[plane], block, since);
        if (both - begin < ESPL__PLANE_BLOCK) {
            bits |= UINT64_MAX << (both - begin);
        }
    }
    return bits;
}

// Return the first block from one on in which some item may be marked. Blocks that the shadow or the world has
// not whole are among them.
static uint32_t next_block(const update *u, const espl__plane *plane, uint32_t block,
                           uint32_t whole, uint32_t since)
{
    return u->is_whole || block >= whole ? block : espl__plane_next(plane, block, whole, since);
}

// Call a function for numbers of a word, by their bits.
static void each_of_word(const update *u, uint32_t word, uint64_t bits,
                         void (*call)(const update *, uint32_t))
{
    for (uint64_t left = bits; left != 0; left &= left - 1) {
        call(u, word * 64 + espl__lowest_bit(left));
    }
}

// Call a function for the numbers of a set.
static void each_noted(const update *u, const espl__noted *noted,
                       void (*call)(const update *, uint32_t))
{
    const size_t words = espl__array_length(noted->words);

    for (uint32_t word = espl__noted_next(noted, 0); word < words;
         word = espl__noted_next(noted, word + 1)) {
        each_of_word(u, word, noted->words[word], call);
    }
}

// Note the trees that a slot belongs to and belonged to.
static void touch_trees(const update *u, uint32_t slot)
{
    const espl__shadow_slot *const was = &u->shadow->slots[slot];
    const uint32_t now =
        slot < u->now.slots ? espl__shadow_tree_at(u->forest, slot) : ESPL__NO_TREE;
    const size_t trees = espl__array_length(u->shadow->trees);

    if (now != ESPL__NO_TREE) {
        espl__noted_add(&u->shadow->noted_trees, now);
    }
    if ((espl__shadow_is_node(was) || was->kind == ESPL__SHADOW_HOLE) && was->tree < trees) {
        espl__noted_add(&u->shadow->noted_trees, was->tree);
    }
}

// Copy a header, and note the slots that its tree has left.
static void update_tree(const update *u, uint32_t number)
{
    const espl__tree was = u->shadow->trees[number].tree;

    copy_tree(u, number);
    const espl__tree *const now = &u->shadow->trees[number].tree;

    for (uint32_t i = 0; i < was.used; ++i) {
        const uint32_t slot = was.base + i;

        if (slot - now->base >= now->used) {
            note_near(u, slot);
        }
    }
}

static uint32_t count_trees(const update *u)
{
    return u->was.trees > u->now.trees ? u->was.trees : u->now.trees;
}

// Note the headers of the free list, and each header that exists in the shadow or in the world alone.
static void touch_other_trees(const update *u)
{
    const uint32_t both = u->was.trees < u->now.trees ? u->was.trees : u->now.trees;

    for (uint32_t tree = u->now.free_tree; tree != u->forest->free_low;
         tree = u->forest->trees[tree].next) {
        espl__noted_add(&u->shadow->noted_trees, tree);
    }
    for (uint32_t tree = u->is_whole ? 0 : both; tree < count_trees(u); ++tree) {
        espl__noted_add(&u->shadow->noted_trees, tree);
    }
}

static void clear_noted(const espl__noted *noted)
{
    const size_t words = espl__array_length(noted->words);

    for (uint32_t word = espl__noted_next(noted, 0); word < words;
         word = espl__noted_next(noted, word + 1)) {
        noted->words[word] = 0;
        noted->groups[word / 64] &= ~(UINT64_C(1) << word % 64);
    }
}

static uint32_t count_blocks(const update *u)
{
    return espl__plane_blocks(u->was.slots > u->now.slots ? u->was.slots : u->now.slots);
}

// Return the blocks of slots that both the shadow and the world have whole.
static uint32_t whole_blocks(const update *u)
{
    return (u->was.slots < u->now.slots ? u->was.slots : u->now.slots) / ESPL__PLANE_BLOCK;
}

// Return the blocks of slots that both have, whole or not.
static uint32_t common_blocks(const update *u)
{
    return espl__plane_blocks(u->was.slots < u->now.slots ? u->was.slots : u->now.slots);
}

static void note_placed(const update *u, uint32_t slot)
{
    note_near(u, slot);
    if (slot < u->forest->capacity) {
        note_around(u, slot);
    }
}

// Note the slots whose place is marked, and their neighbours, and the trees of these.
static void note_places(const update *u)
{
    const espl__plane *const places = &u->forest->tracks.planes[ESPL__PLANE_PLACE];
    const uint32_t blocks = count_blocks(u), whole = whole_blocks(u);

    for (uint32_t block = next_block(u, places, 0, whole, u->since); block < blocks;
         block = next_block(u, places, block + 1, whole, u->since)) {
        each_of_word(u, block, marked_slots(u, block, ESPL__PLANE_PLACE, u->since), note_placed);
    }
    each_noted(u, &u->shadow->noted_slots, touch_trees);
    touch_other_trees(u);
}

// --- Own data ---

enum { GATHERED = 256, FAR = 24, NEAR = 12 };

// Slots whose own data are marked, and not their places.
typedef struct gathered {
    uint32_t slots[GATHERED + ESPL__PLANE_BLOCK];
    uint32_t count;
} gathered;

// Copy what a write changes of a node. Its header changes with it only where it is not plain, and with the
// flags.
static void copy_own(const update *u, uint32_t slot)
{
    espl__shadow_slot *const to = &u->shadow->slots[slot];
    const uint32_t follows = ESPL__SLOT_SIDE | ESPL__SLOT_EXCEPTIONAL;

    if (!espl__shadow_is_node(to) || u->forest->links[slot].entity != to->links.entity) {
        note_near(u, slot);
        touch_trees(u, slot);
        return;
    }
    const uint8_t flags = (uint8_t)(u->forest->flags[slot] & ~follows);
    const bool is_flagged = flags != to->flags;

    if (is_flagged) {
        espl__shadow_slot item = *to;

        item.flags = flags;
        espl__shadow_put_slot(u->shadow, slot, &item);
    }
    espl__shadow_put_local(u->shadow, slot, &u->forest->local[slot]);
    if (is_flagged || !u->shadow->is_plain[to->tree] ||
        !espl__shadow_is_plain(&u->forest->trees[to->tree])) {
        espl__noted_add(&u->shadow->noted_trees, to->tree);
        exchange_side(u, slot, true);
    }
    exchange_past(u, slot, true);
}

static void prefetch_own(const update *u, const gathered *all, uint32_t at)
{
    if (at + FAR < all->count) {
        const uint32_t slot = all->slots[at + FAR];

        // In two cache lines, because the array begins behind its header.
        espl__prefetch_to_write(&u->shadow->slots[slot].local);
        espl__prefetch_to_write(&u->shadow->slots[slot].lineage);
        espl__prefetch(&u->forest->local[slot]);
        espl__prefetch(&u->forest->flags[slot]);
        espl__prefetch(&u->forest->links[slot]);
        espl__prefetch(&u->forest->tree[slot]);
    }
    if (at + NEAR < all->count) {
        const uint32_t tree = u->forest->tree[all->slots[at + NEAR]];

        if (tree < u->now.trees) {
            espl__prefetch(&u->forest->trees[tree]);
        }
    }
}

static void copy_gathered(const update *u, gathered *all)
{
    for (uint32_t i = 0; i < all->count; ++i) {
        prefetch_own(u, all, i);
        copy_own(u, all->slots[i]);
    }
    all->count = 0;
}

static void update_own(const update *u)
{
    const espl__plane *const own = &u->forest->tracks.planes[ESPL__PLANE_OWN];
    const uint32_t whole = whole_blocks(u), common = common_blocks(u);
    gathered all;

    all.count = 0;
    // Other slots were noted with their places.
    for (uint32_t block = next_block(u, own, 0, whole, u->since_own);
         block < common && !u->is_whole;
         block = next_block(u, own, block + 1, whole, u->since_own)) {
        uint64_t left =
            espl__plane_changed(own, block, u->since_own) & ~u->shadow->noted_slots.words[block];

        for (; left != 0; left &= left - 1) {
            all.slots[all.count++] = block * ESPL__PLANE_BLOCK + espl__lowest_bit(left);
        }
        if (all.count >= GATHERED) {
            copy_gathered(u, &all);
        }
    }
    copy_gathered(u, &all);
}

// Copy cells that are marked. The cells of slots with another node are copied with their transforms.
static void update_cells(const update *u)
{
    const espl__plane *const cells = &u->forest->tracks.planes[ESPL__PLANE_CELL];
    const uint32_t whole = whole_blocks(u), common = common_blocks(u);

    if (!espl__forest_has_cells(u->forest) || u->is_whole) {
        return;
    }
    for (uint32_t block = next_block(u, cells, 0, whole, u->since); block < common;
         block = next_block(u, cells, block + 1, whole, u->since)) {
        uint64_t left = espl__plane_changed(cells, block, u->since);

        for (; left != 0; left &= left - 1) {
            const uint32_t slot = block * ESPL__PLANE_BLOCK + espl__lowest_bit(left);

            if (slot < u->was.slots && slot < u->now.slots) {
                exchange_cell(u, slot, espl__slot_has_node(u->forest, slot));
            }
        }
    }
}

static void update_slots(const update *u)
{
    note_places(u);
    update_own(u);
    update_cells(u);
    each_noted(u, &u->shadow->noted_trees, update_tree);
    clear_noted(&u->shadow->noted_trees);
    each_noted(u, &u->shadow->noted_slots, copy_slot);
    clear_noted(&u->shadow->noted_slots);
}

// Return the indices of a block that may have changed, as bits.
static uint64_t marked_indices(const update *u, uint32_t block)
{
    const uint32_t begin = block * ESPL__PLANE_BLOCK;
    const uint32_t both = u->was.records < u->now.records ? u->was.records : u->now.records;
    uint64_t bits = UINT64_MAX;

    if (!u->is_whole && begin < both) {
        bits = espl__plane_changed(&u->store->index_plane, block, u->since);
        if (both - begin < ESPL__PLANE_BLOCK) {
            bits |= UINT64_MAX << (both - begin);
        }
    }
    return bits;
}

static uint32_t count_indices(const update *u)
{
    return u->was.records > u->now.records ? u->was.records : u->now.records;
}

// Return the first block of indices from one on in which some may be marked.
static uint32_t next_indices(const update *u, uint32_t block)
{
    const uint32_t both = u->was.records < u->now.records ? u->was.records : u->now.records;

    return next_block(u, &u->store->index_plane, block, both / ESPL__PLANE_BLOCK, u->since);
}

static void update_indices(const update *u)
{
    const uint32_t count = count_indices(u), blocks = espl__plane_blocks(count);

    for (uint32_t block = next_indices(u, 0); block < blocks; block = next_indices(u, block + 1)) {
        for (uint64_t left = marked_indices(u, block); left != 0; left &= left - 1) {
            const uint32_t index = block * ESPL__PLANE_BLOCK + espl__lowest_bit(left);

            if (index < count) {
                copy_record(u, index);
            }
        }
    }
}

// --- Updates ---

static espl__shadow_numbers numbers_of(const espl_world *world)
{
    const espl__store *const store = &world->store;
    const espl__forest *const forest = &world->forest;

    return (espl__shadow_numbers){
        .slots = forest->end,
        .trees = forest->tree_end,
        .free_tree = forest->free_tree,
        .records = (uint32_t)espl__array_length(store->records),
        .free_head = store->free_head,
        .archetypes = (uint32_t)espl__array_length(store->archetypes),
        .pasts = espl__tracks_past_count(&forest->tracks),
        .is_ticking = forest->tracks.is_ticking ? 1 : 0,
        .free_count = (uint32_t)store->free_count,
        .alive_count = (uint32_t)store->alive_count,
        .retired_count = (uint32_t)store->retired_count,
        .free_slots = forest->free_slots,
        .least_generation = store->least_generation,
        .has_overflowed = forest->context.has_overflowed ? 1 : 0,
    };
}

espl__shadow_look espl__shadow_look_of(espl__shadow *shadow)
{
    const espl_world *const world = shadow->world;
    const espl__tracks *const tracks = &world->forest.tracks;
    espl__shadow_look look = {.shadow = shadow,
                              .forest = &world->forest,
                              .store = &world->store,
                              .was = shadow->numbers,
                              .now = numbers_of(world)};

    look.is_whole = shadow->is_empty;
    look.since = espl__plane_since(world->moment, shadow->moment);
    look.since_own = tracks->rolled != shadow->rolled ? shadow->rolled_before : look.since;
    return look;
}

void espl__shadow_settle(espl__shadow *shadow)
{
    espl_world *const world = shadow->world;

    shadow->is_empty = false;
    shadow->version = world->store.version;
    shadow->rolled = world->forest.tracks.rolled;
    shadow->rolled_before = world->forest.tracks.rolled_before;
    world->forest.free_low = world->forest.free_tree;
    shadow->moment = espl__world_next_moment(world);
}

static void update_heads(const update *u)
{
    const uint32_t *const heads = u->forest->free_heads;

    for (uint32_t i = 0; i < ESPL__SIZE_CLASSES; i += ESPL__SHADOW_HEADS_EACH) {
        exchange_item(u, ESPL__SHADOW_HEADS, i / ESPL__SHADOW_HEADS_EACH, &u->shadow->heads[i],
                      &heads[i], ESPL__SHADOW_HEADS_EACH * sizeof *heads);
    }
}

void espl__shadow_update(espl__shadow *shadow)
{
    espl__shadow_look look = espl__shadow_look_of(shadow);

    update_slots(&look);
    update_heads(&look);
    update_indices(&look);
    espl__shadow_update_rows(&look);
    espl__shadow_put(shadow, ESPL__SHADOW_NUMBERS, 0, &shadow->numbers, &look.now, sizeof look.now,
                     offsetof(espl__shadow_numbers, has_overflowed));
    espl__shadow_settle(shadow);
}

// --- Rewinds ---

// Note the slots that a tree has left.
static void note_left(const update *u, uint32_t number)
{
    static const espl__tree none;
    const espl__tree *const was = &u->shadow->trees[number].tree;
    const espl__tree *const now = number < u->now.trees ? &u->forest->trees[number] : &none;

    for (uint32_t i = 0; i < was->used; ++i) {
        if (was->base + i - now->base >= now->used) {
            note_near(u, was->base + i);
        }
    }
}

// Note slots whose own data are marked.
static void note_own(const update *u)
{
    const espl__plane *const own = &u->forest->tracks.planes[ESPL__PLANE_OWN];
    const uint32_t whole = whole_blocks(u), common = common_blocks(u);

    for (uint32_t block = next_block(u, own, 0, whole, u->since_own);
         block < common && !u->is_whole;
         block = next_block(u, own, block + 1, whole, u->since_own)) {
        each_of_word(u, block, espl__plane_changed(own, block, u->since_own), note_near);
    }
}

// Note slots whose cells are marked.
static void note_cells(const update *u)
{
    const espl__plane *const cells = &u->forest->tracks.planes[ESPL__PLANE_CELL];
    const uint32_t whole = whole_blocks(u), common = common_blocks(u);

    if (!espl__forest_has_cells(u->forest) || u->is_whole) {
        return;
    }
    for (uint32_t block = next_block(u, cells, 0, whole, u->since); block < common;
         block = next_block(u, cells, block + 1, whole, u->since)) {
        each_of_word(u, block, espl__plane_changed(cells, block, u->since), note_near);
    }
}

void espl__shadow_note_changed(const espl__shadow_look *u)
{
    const uint32_t blocks = espl__plane_blocks(count_indices(u));

    note_places(u);
    note_own(u);
    note_cells(u);
    each_noted(u, &u->shadow->noted_slots, touch_trees);
    each_noted(u, &u->shadow->noted_trees, note_left);
    for (uint32_t block = next_indices(u, 0); block < blocks; block = next_indices(u, block + 1)) {
        for (uint64_t left = marked_indices(u, block); left != 0; left &= left - 1) {
            espl__noted_add(&u->shadow->noted_records,
                            block * ESPL__PLANE_BLOCK + espl__lowest_bit(left));
        }
    }
}
