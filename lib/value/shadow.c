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

void espl__shadow_put(espl__shadow *shadow, espl__shadow_kind kind, uint32_t number, void *to,
                      const void *from, size_t size, size_t hashed)
{
    static const unsigned char none[sizeof(espl__past)];

    if (memcmp(to, from, size) == 0) {
        return;
    }
    if (shadow->has_checksum && memcmp(to, none, hashed) != 0) {
        shadow->checksum -= espl__checksum_item(kind, number, to, hashed);
    }
    if (shadow->has_checksum && memcmp(from, none, hashed) != 0) {
        shadow->checksum += espl__checksum_item(kind, number, from, hashed);
    }
    if (shadow->log != NULL) {
        espl__undo_push(
            shadow->log,
            &(espl__undo_key){.kind = (uint8_t)kind, .number = number, .size = (uint32_t)size}, to);
    }
    memcpy(to, from, size);
}

_Static_assert(sizeof(espl__past) >= sizeof(espl__shadow_tree) &&
                   sizeof(espl__past) >= sizeof(espl__shadow_side),
               "a past is the largest item");

static void exchange_item(const update *u, espl__shadow_kind kind, uint32_t number, void *to,
                          const void *from, size_t size)
{
    espl__shadow_put(u->shadow, kind, number, to, from, size, size);
}

// Return the tree in whose range a slot is, or ESPL__NO_TREE. Slots of free ranges have any number.
static uint32_t tree_at(const espl__forest *forest, uint32_t slot)
{
    const uint32_t tree = forest->tree[slot];

    return tree < forest->tree_end && slot - forest->trees[tree].base < forest->trees[tree].capacity
               ? tree
               : ESPL__NO_TREE;
}

// Read a slot that belongs to a tree.
static void read_slot_of_tree(const espl__forest *forest, uint32_t slot, espl__shadow_slot *out)
{
    const uint32_t follows = ESPL__SLOT_SIDE | ESPL__SLOT_EXCEPTIONAL;
    const espl__links *const links = &forest->links[slot];

    out->tree = forest->tree[slot];
    out->parent = forest->parent[slot];
    if (links->entity == ESPL__NO_ENTITY) {
        out->kind = ESPL__SHADOW_HOLE;
        out->links = (espl__links){.next = links->next, .entity = ESPL__NO_ENTITY};
        return;
    }
    out->kind = ESPL__SHADOW_NODE;
    out->local = forest->local[slot];
    out->links = *links;
    out->flags = (uint8_t)(forest->flags[slot] & ~follows);
#if ESPL_CHECKS >= 2
    out->lineage = forest->lineage[slot];
#endif
}

// Read an end of a free range. The last slot of several has no links to other ranges.
static void read_free_end(const espl__forest *forest, uint32_t slot, espl__shadow_slot *out)
{
    const espl__links *const links = &forest->links[slot];

    out->kind = ESPL__SHADOW_FREE_END;
    out->tree = ESPL__NO_TREE;
    out->links = (espl__links){links->first_child, links->next, links->previous, 0};
}

void espl__shadow_read_slot(const espl__forest *forest, uint32_t slot, espl__shadow_slot *out)
{
    *out = (espl__shadow_slot){.kind = ESPL__SHADOW_UNUSED};
    if (slot >= forest->end) {
        return;
    }
    const uint32_t tree = tree_at(forest, slot);

    if (tree == ESPL__NO_TREE) {
        if (forest->tree[slot] == ESPL__NO_TREE) {
            read_free_end(forest, slot, out);
        }
    } else if (slot - forest->trees[tree].base < forest->trees[tree].used) {
        read_slot_of_tree(forest, slot, out);
    }
}

// The texts of two names are compared, so that a name that was set anew is the same. The log has what the
// shadow held.
static void copy_name(const update *u, uint32_t index)
{
    espl__shadow *const shadow = u->shadow;
    espl__name **const to = &shadow->names[index];
    const bool is_named = index < u->now.records && u->store->names.count != 0;
    // The shadow holds it, and changes nothing else of it.
    espl__name *const now =
        is_named ? (espl__name *)(uintptr_t)espl__name_of(&u->store->names, index) : NULL;

    if (*to == now || (*to != NULL && now != NULL && (*to)->size == now->size &&
                       memcmp((*to)->text, now->text, now->size) == 0)) {
        return;
    }
    if (shadow->has_checksum) {
        shadow->checksum -=
            *to == NULL ? 0
                        : espl__checksum_item(ESPL__SHADOW_NAME, index, (*to)->text, (*to)->size);
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
        espl__name_let_go(&shadow->world->store.names, &shadow->world->heap, *to);
    }
    *to = now;
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
}

// The default is no item, so that it does not matter whether there are side arrays.
espl__shadow_side espl__shadow_read_side(const espl__forest *forest, uint32_t slot, bool is_node)
{
    const espl__shadow_side none = {espl__extra_default(), espl__kept_none()};
    espl__shadow_side side = none;

    if (!is_node) {
        return (espl__shadow_side){0};
    }
    if (!espl__slot_copies(forest, slot)) {
        side.extra = espl__slot_extra(forest, slot);
    }
    side.kept = espl__slot_kept(forest, slot);
    return memcmp(&side, &none, sizeof side) == 0 ? (espl__shadow_side){0} : side;
}

espl__past espl__shadow_read_past(const espl__forest *forest, uint32_t slot, bool is_node)
{
    const uint32_t pasts = espl__tracks_past_count(&forest->tracks);
    espl__past past = {0};

    if (pasts != 0 && is_node) {
        const espl__past read = espl__past_read(forest, slot);

        for (uint32_t time = 0; time < pasts; ++time) {
            past.local[time] = read.local[time];
            past.kept[time] = read.kept[time];
        }
    }
    return past;
}

// An entity that gets another slot has another record.
static void copy_slot(const update *u, uint32_t slot)
{
    espl__shadow_slot *const to = &u->shadow->slots[slot];
    espl__shadow_slot item;

    espl__shadow_read_slot(u->forest, slot, &item);
    if (espl__shadow_is_node(&item) &&
        !(espl__shadow_is_node(to) && to->links.entity == item.links.entity)) {
        copy_record(u, item.links.entity);
    }
    espl__shadow_put(u->shadow, ESPL__SHADOW_SLOT, slot, to, &item, sizeof item,
                     offsetof(espl__shadow_slot, lineage));
    if (espl__array_length(u->shadow->sides) > slot) {
        const espl__shadow_side side =
            espl__shadow_read_side(u->forest, slot, espl__shadow_is_node(&item));

        exchange_item(u, ESPL__SHADOW_SIDE, slot, &u->shadow->sides[slot], &side, sizeof side);
    }
    if (u->now.pasts != 0) {
        const espl__past past =
            espl__shadow_read_past(u->forest, slot, espl__shadow_is_node(&item));

        exchange_item(u, ESPL__SHADOW_PAST, slot, &u->shadow->pasts[slot], &past, sizeof past);
    }
}

void espl__shadow_read_tree(const espl__forest *forest, uint32_t number, espl__shadow_tree *out)
{
    *out = (espl__shadow_tree){.tree = {0}};
    if (number < forest->tree_end) {
        const espl__tree *const tree = &forest->trees[number];
        const espl__side *const side = espl__side_of(forest, tree);

        out->tree = *tree;
        out->tree.side_number = 0;
        if ((tree->flags & ESPL__TREE_UNSETTLED) != 0) {
            out->tree.next = out->tree.previous = ESPL__NO_TREE;
        }
        if (side != NULL) {
            out->extra_count = side->extra_count;
            out->kept_count = side->kept_count;
            out->is_prepaid = side->is_prepaid;
        }
    }
}

static void copy_tree(const update *u, uint32_t number)
{
    espl__shadow_tree tree;

    espl__shadow_read_tree(u->forest, number, &tree);
    exchange_item(u, ESPL__SHADOW_TREE, number, &u->shadow->trees[number], &tree, sizeof tree);
}

// --- What is looked at ---

static void note_near(const update *u, uint32_t slot)
{
    if (slot < espl__array_length(u->shadow->slots)) {
        u->shadow->near_slots[slot / ESPL__PLANE_BLOCK] |= UINT64_C(1) << slot % ESPL__PLANE_BLOCK;
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

// Call a function for slots of a block, by their bits.
static void each_slot(const update *u, uint32_t block, uint64_t bits,
                      void (*call)(const update *, uint32_t))
{
    const uint32_t begin = block * ESPL__PLANE_BLOCK;
    const size_t count = espl__array_length(u->shadow->slots);

    for (uint64_t left = bits; left != 0; left &= left - 1) {
        const uint32_t slot = begin + espl__lowest_bit(left);

        if (slot < count) {
            call(u, slot);
        }
    }
}

// Note the trees that a slot belongs to and belonged to.
static void touch_trees(const update *u, uint32_t slot)
{
    const espl__shadow_slot *const was = &u->shadow->slots[slot];
    const uint32_t now = slot < u->now.slots ? tree_at(u->forest, slot) : ESPL__NO_TREE;
    const size_t trees = espl__array_length(u->shadow->touched);

    if (now != ESPL__NO_TREE) {
        u->shadow->touched[now] = true;
    }
    if ((espl__shadow_is_node(was) || was->kind == ESPL__SHADOW_HOLE) && was->tree < trees) {
        u->shadow->touched[was->tree] = true;
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
    u->shadow->touched[number] = false;
}

static uint32_t count_trees(const update *u)
{
    return u->was.trees > u->now.trees ? u->was.trees : u->now.trees;
}

static void touch_free_trees(const update *u)
{
    for (uint32_t tree = u->now.free_tree; tree != u->forest->free_low;
         tree = u->forest->trees[tree].next) {
        u->shadow->touched[tree] = true;
    }
}

static void update_trees(const update *u)
{
    const uint32_t count = count_trees(u);

    touch_free_trees(u);
    for (uint32_t tree = 0; tree < count; ++tree) {
        if (u->is_whole || u->shadow->touched[tree] || tree >= u->now.trees ||
            tree >= u->was.trees) {
            update_tree(u, tree);
        }
    }
}

static uint32_t count_blocks(const update *u)
{
    const size_t slots = u->was.slots > u->now.slots ? u->was.slots : u->now.slots;

    return (uint32_t)((slots + ESPL__PLANE_BLOCK - 1) / ESPL__PLANE_BLOCK);
}

// Note the neighbours of slots, and the trees of all that are looked at.
static void note_touched(const update *u)
{
    const uint32_t blocks = count_blocks(u);
    const uint64_t *const near_slots = u->shadow->near_slots;

    for (uint32_t block = 0; block < blocks; ++block) {
        each_slot(u, block, marked_slots(u, block, ESPL__PLANE_PLACE, u->since), note_around);
    }
    for (uint32_t block = 0; block < blocks; ++block) {
        each_slot(u, block,
                  near_slots[block] | marked_slots(u, block, ESPL__PLANE_PLACE, u->since) |
                      marked_slots(u, block, ESPL__PLANE_OWN, u->since),
                  touch_trees);
    }
}

static void update_slots(const update *u)
{
    const uint32_t blocks = count_blocks(u);
    uint64_t *const near_slots = u->shadow->near_slots;

    note_touched(u);
    update_trees(u);
    for (uint32_t block = 0; block < blocks; ++block) {
        each_slot(u, block,
                  near_slots[block] | marked_slots(u, block, ESPL__PLANE_PLACE, u->since) |
                      marked_slots(u, block, ESPL__PLANE_OWN, u->since_own),
                  copy_slot);
        near_slots[block] = 0;
    }
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

static void update_indices(const update *u)
{
    const uint32_t count = count_indices(u);

    for (uint32_t block = 0; block < espl__plane_blocks(count); ++block) {
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

void espl__shadow_note_changed(const espl__shadow_look *u)
{
    const uint32_t trees = count_trees(u), blocks = count_blocks(u), indices = count_indices(u);

    note_touched(u);
    touch_free_trees(u);
    for (uint32_t tree = 0; tree < trees; ++tree) {
        u->shadow->touched[tree] =
            u->shadow->touched[tree] || tree >= u->now.trees || tree >= u->was.trees;
        if (u->shadow->touched[tree]) {
            note_left(u, tree);
        }
    }
    for (uint32_t block = 0; block < blocks; ++block) {
        u->shadow->near_slots[block] |= marked_slots(u, block, ESPL__PLANE_PLACE, u->since) |
                                        marked_slots(u, block, ESPL__PLANE_OWN, u->since_own);
    }
    for (uint32_t block = 0; block < espl__plane_blocks(indices); ++block) {
        u->shadow->near_records[block] |= marked_indices(u, block);
    }
}
