// SPDX-License-Identifier: MIT
// What the marks of a world find of its value. A history compares only items that may have changed since
// its last mark: slots by the planes of own data and of places, entities by the index plane, chunks by the
// versions of their columns. Here the whole value is compared before and after each operation, and each
// item that differs must be one of them. ESPL_FACTOR makes the runs so many times as many.
#include "lib/tree/motion.h"
#include "lib/value/image.h"
#include "lib/value/manifest.h"
#include "lib/world/moment.h"
#include "tests/images.h"
#include "tests/runner.h"
#include "tests/stage.h"

#include <stdlib.h>
#include <string.h>

enum {
    PLANES = 1 << ESPL__PLANE_OWN | 1 << ESPL__PLANE_PLACE | 1 << ESPL__PLANE_INDEX,
    AREA_LIMIT = 16, // arrays by slot
    // Flags of a slot that follow from the side arrays of its tree, and from its parent.
    FLAGS_THAT_FOLLOW = ESPL__SLOT_SIDE | ESPL__SLOT_EXCEPTIONAL,
    TEXT_SIZE = ESPL_NAME_LIMIT + 1,
};

// --- A look at a world ---

typedef struct slot_area {
    const char *name;
    const unsigned char *bytes; // in the image
    size_t size;
    bool is_flags;
} slot_area;

typedef struct chunk_look {
    bool is_there;
    uint32_t archetype, position, count;
    size_t size;
    unsigned char *bytes; // handles and columns of its rows
} chunk_look;

typedef struct look {
    test_image image;
    size_t at; // of the next area in the image
    espl__image_head head;
    const espl__record *records;
    const espl__tree *trees;
    const uint32_t *tree_of, *parents;
    const espl__links *links;
    slot_area areas[AREA_LIMIT];
    size_t area_count;
    bool *is_near;      // by slot: found by the links of a marked one
    uint32_t *owners;   // by slot: the tree whose range has it, or ESPL__NO_TREE
    espl__extra *extra; // by slot
    espl__kept *kept;
    espl_pose *past[ESPL__PASTS]; // earlier kept parts
    uint32_t *side_counts;        // by tree: entries, kept entries, whether reserved, whether there
    chunk_look *chunks;
    size_t chunk_count;
    char (*names)[TEXT_SIZE]; // by index
    espl_entity *originals;   // by index
    uint64_t version;
    uint32_t moment, rolled, rolled_before;
} look;

static void find_area(void *context, const espl__area *area)
{
    look *const l = context;
    const unsigned char *const bytes = l->image.bytes + l->at;

    l->at += espl__image_room(area->size * area->count);
    if (area->kind == ESPL__AREA_RECORDS) {
        l->records = (const espl__record *)(const void *)bytes;
    } else if (area->kind == ESPL__AREA_TREES) {
        l->trees = (const espl__tree *)(const void *)bytes;
    } else if (area->kind >= ESPL__AREA_SLOTS) {
        if (area->kind == ESPL__AREA_TREE_OF) {
            l->tree_of = (const uint32_t *)(const void *)bytes;
        }
        if (area->kind == ESPL__AREA_PARENT) {
            l->parents = (const uint32_t *)(const void *)bytes;
        }
        if (area->kind == ESPL__AREA_LINKS) {
            l->links = (const espl__links *)(const void *)bytes;
        }
        // Worlds follow from the rest.
        if (strcmp(area->name, "column world") != 0) {
            ck_assert_uint_lt(l->area_count, AREA_LIMIT);
            l->areas[l->area_count++] =
                (slot_area){area->name, bytes, area->size, area->kind == ESPL__AREA_FLAGS};
        }
    }
}

static void look_at_chunks(look *l, const espl__store *store)
{
    l->chunk_count = espl__array_length(store->chunks);
    l->chunks = test_array(l->chunk_count + 1, sizeof *l->chunks);
    for (size_t i = 0; i < l->chunk_count; ++i) {
        const espl__chunk *const chunk = &store->chunks[i];
        chunk_look *const to = &l->chunks[i];

        *to = (chunk_look){.is_there = chunk->bytes != NULL && chunk->count != 0};
        if (!to->is_there) {
            continue;
        }
        const espl__archetype *const archetype = &store->archetypes[chunk->archetype];

        to->archetype = chunk->archetype;
        to->position = chunk->position;
        to->count = chunk->count;
        to->bytes = test_array(archetype->chunk_bytes + sizeof(espl_entity) * chunk->count, 1);
        memcpy(to->bytes, chunk->bytes, sizeof(espl_entity) * chunk->count);
        to->size = sizeof(espl_entity) * chunk->count;
        for (size_t c = 0; c < espl__array_length(archetype->columns); ++c) {
            const espl__column *const column = &archetype->columns[c];

            if (column->component != ESPL_TRANSFORM) { // it repeats the slots of nodes
                memcpy(to->bytes + to->size, chunk->bytes + column->offset,
                       (size_t)column->size * chunk->count);
                to->size += (size_t)column->size * chunk->count;
            }
        }
    }
}

static void look_at_names(look *l, const espl__names *names)
{
    l->names = test_array(l->head.records + 1, sizeof *l->names);
    for (uint32_t i = 0; i < l->head.records; ++i) {
        const espl__name *const name = espl__name_of(names, i);

        memset(l->names[i], 0, TEXT_SIZE);
        if (name != NULL) {
            ck_assert_uint_le(name->size, TEXT_SIZE);
            memcpy(l->names[i], name->text, name->size);
        }
    }
}

static void look_at_originals(look *l, const espl__counterparts *counterparts)
{
    l->originals = test_array(l->head.records + 1, sizeof *l->originals);
    for (uint32_t i = 0; i < l->head.records; ++i) {
        l->originals[i] = espl__original_of(counterparts, i);
    }
}

static void look_at_sides(look *l, const espl__forest *forest)
{
    const size_t slots = l->head.slots + (size_t)1;

    l->extra = test_array(slots, sizeof *l->extra);
    l->kept = test_array(slots, sizeof *l->kept);
    for (uint32_t time = 0; time < ESPL__PASTS; ++time) {
        l->past[time] = test_array(slots, sizeof **l->past);
        memset(l->past[time], 0, slots * sizeof **l->past);
    }
    for (uint32_t slot = 0; slot < l->head.slots; ++slot) {
        l->extra[slot] = espl__extra_default();
        l->kept[slot] = espl__kept_none();
    }
    l->side_counts = test_array(4 * (l->head.trees + (size_t)1), sizeof *l->side_counts);
    memset(l->side_counts, 0, 4 * (l->head.trees + (size_t)1) * sizeof *l->side_counts);
    for (uint32_t tree = 0; tree < l->head.trees; ++tree) {
        const espl__tree *const header = &forest->trees[tree];
        espl__side *const side = espl__side_of(forest, header);

        if (side == NULL) {
            continue;
        }
        l->side_counts[4 * tree] = side->extra_count;
        l->side_counts[4 * tree + 1] = side->kept_count;
        l->side_counts[4 * tree + 2] = side->is_prepaid ? 1 : 0;
        l->side_counts[4 * tree + 3] = 1 + (side->has_kept != 0 ? 1u : 0u);
        for (uint32_t i = 0; i < header->used; ++i) {
            const uint32_t slot = header->base + i;

            // Stretch and user data of a node that copies its parent follow from the parent.
            if (!espl__slot_copies(forest, slot)) {
                l->extra[slot] = side->extra[i];
            }
            if (espl__slot_is(forest, slot, ESPL__SLOT_KEEPS)) {
                l->kept[slot] = espl__side_kept(side)[i];
                for (uint32_t time = 0; time < l->head.pasts; ++time) {
                    l->past[time][slot] = espl__side_past(side, (int)time)[i];
                }
            }
        }
    }
}

static look *look_at(espl_world *world)
{
    look *const l = test_array(1, sizeof *l);

    *l = (look){.image = test_image_of(world), .version = world->store.version};
    memcpy(&l->head, l->image.bytes, sizeof l->head);
    l->at = espl__image_room(sizeof l->head) +
            (size_t)(l->head.registry_size + l->head.sets_size + l->head.names_size) +
            l->head.originals * sizeof(espl__image_original);
    espl__manifest_trees(&world->forest, &(espl__area_visitor){find_area, l});
    espl__manifest_rows(&world->store, &(espl__area_visitor){find_area, l});
    espl__manifest_nodes(&world->forest, &(espl__area_visitor){find_area, l});
    l->is_near = test_array(l->head.slots + (size_t)1, sizeof *l->is_near);
    memset(l->is_near, 0, l->head.slots);
    l->owners = test_array(l->head.slots + (size_t)1, sizeof *l->owners);
    for (uint32_t slot = 0; slot < l->head.slots; ++slot) {
        l->owners[slot] = ESPL__NO_TREE;
    }
    for (uint32_t tree = 0; tree < l->head.trees; ++tree) {
        for (uint32_t i = 0; i < l->trees[tree].capacity; ++i) {
            l->owners[l->trees[tree].base + i] = tree;
        }
    }
    look_at_sides(l, &world->forest);
    look_at_chunks(l, &world->store);
    look_at_names(l, &world->store.names);
    look_at_originals(l, &world->store.counterparts);
    l->moment = espl__forest_moment(&world->forest);
    l->rolled = world->forest.tracks.rolled;
    l->rolled_before = world->forest.tracks.rolled_before;
    world->forest.free_low = world->forest.free_tree;
    (void)espl__world_next_moment(world);
    return l;
}

static void look_end(look *l)
{
    for (size_t i = 0; i < l->chunk_count; ++i) {
        free(l->chunks[i].bytes);
    }
    for (int time = 0; time < ESPL__PASTS; ++time) {
        free(l->past[time]);
    }
    free(l->chunks);
    free(l->names);
    free(l->originals);
    free(l->is_near);
    free(l->owners);
    free(l->extra);
    free(l->kept);
    free(l->side_counts);
    test_image_end(&l->image);
    free(l);
}

// --- What may have changed since a look ---

// Tell whether a slot has contents: a node, a hole, or an end of a free range.
static bool has_contents(const look *l, uint32_t slot)
{
    const uint32_t owner = l->owners[slot];

    return owner == ESPL__NO_TREE ? l->tree_of[slot] == ESPL__NO_TREE
                                  : slot - l->trees[owner].base < l->trees[owner].used;
}

static bool has_node(const look *l, uint32_t slot)
{
    return slot < l->head.slots && l->owners[slot] != ESPL__NO_TREE && has_contents(l, slot) &&
           l->links[slot].entity != ESPL__NO_ENTITY;
}

static bool is_slot_stamped(const espl_world *world, const look *was, uint32_t slot, int plane)
{
    return slot >= world->forest.end || slot >= was->head.slots ||
           espl__plane_has_changed(&world->forest.tracks.planes[plane], slot, was->moment);
}

static bool is_slot_marked(const espl_world *world, const look *was, uint32_t slot)
{
    return is_slot_stamped(world, was, slot, ESPL__PLANE_OWN) ||
           is_slot_stamped(world, was, slot, ESPL__PLANE_PLACE) || was->is_near[slot];
}

static void note_near(look *was, uint32_t slot)
{
    if (slot < was->head.slots) {
        was->is_near[slot] = true;
    }
}

// Note the nodes that have links to the node of a slot at one look.
static void note_neighbours(look *was, const look *at, uint32_t slot)
{
    if (has_node(at, slot)) {
        const espl__links *const links = &at->links[slot];
        const uint32_t parent = at->parents[slot];

        note_near(was, links->next);
        note_near(was, links->previous);
        if (parent != ESPL__NO_SLOT) {
            note_near(was, parent);
            note_near(was, at->links[parent].first_child);
        }
    }
}

// The neighbours of a node that was linked, moved, made or destroyed have other links, before and after it.
// Where a node came into a slot, its children have another parent.
static void find_near(const espl_world *world, look *was, const look *now)
{
    const uint32_t slots = was->head.slots > now->head.slots ? was->head.slots : now->head.slots;

    for (uint32_t slot = 0; slot < slots; ++slot) {
        if (!is_slot_stamped(world, was, slot, ESPL__PLANE_PLACE)) {
            continue;
        }
        note_neighbours(was, was, slot);
        note_neighbours(was, now, slot);
        if (has_node(now, slot) &&
            !(has_node(was, slot) && was->links[slot].entity == now->links[slot].entity)) {
            for (uint32_t child = now->links[slot].first_child; child != ESPL__NO_SLOT;
                 child = now->links[child].next) {
                note_near(was, child);
            }
        }
    }
}

// A tick that began since moved the pasts of nodes whose own data changed before the look.
static bool is_past_marked(const espl_world *world, const look *was, uint32_t slot)
{
    const espl__tracks *const tracks = &world->forest.tracks;

    return is_slot_marked(world, was, slot) ||
           (tracks->rolled != was->rolled &&
            espl__plane_has_changed(&tracks->planes[ESPL__PLANE_OWN], slot, was->rolled_before));
}

// A cell that is written alone has a plane of its own.
static bool is_cell_marked(const espl_world *world, const look *was, uint32_t slot)
{
    return is_slot_marked(world, was, slot) ||
           espl__plane_has_changed(&world->forest.tracks.planes[ESPL__PLANE_CELL], slot,
                                   was->moment);
}

static bool is_index_marked(const espl_world *world, const look *was, uint32_t index)
{
    return index >= was->head.records ||
           espl__plane_has_changed(&world->store.index_plane, index, was->moment);
}

static bool is_chunk_marked(const espl_world *world, const look *was, uint32_t number)
{
    const espl__chunk *const chunk = &world->store.chunks[number];
    const chunk_look *const before = &was->chunks[number];
    const espl__archetype *const archetype = &world->store.archetypes[chunk->archetype];

    if (before->archetype != chunk->archetype || before->position != chunk->position ||
        before->count != chunk->count) {
        return true;
    }
    for (size_t i = 0; i <= espl__array_length(archetype->columns); ++i) {
        if (chunk->versions[i] > was->version) {
            return true;
        }
    }
    return false;
}

// --- Comparison ---

static bool is_past_area(const slot_area *area)
{
    return strcmp(area->name, "earlier locals") == 0;
}

static bool is_cell_area(const slot_area *area)
{
    return strcmp(area->name, "cells of roots") == 0;
}

static void compare_slot(const espl_world *world, const look *was, const look *now, uint32_t slot)
{
    const bool is_marked = is_slot_marked(world, was, slot);
    const bool is_past_free = is_past_marked(world, was, slot);

    if (!has_contents(was, slot) && !has_contents(now, slot)) {
        return;
    }
    ck_assert_msg(has_contents(was, slot) == has_contents(now, slot) || is_marked, "slot %u is %s",
                  slot, has_contents(now, slot) ? "used" : "unused");
    for (size_t i = 0; i < was->area_count; ++i) {
        const slot_area *const a = &was->areas[i], *const b = &now->areas[i];
        const bool differs =
            a->is_flags
                ? ((a->bytes[slot] ^ b->bytes[slot]) & ~FLAGS_THAT_FOLLOW) != 0
                : memcmp(a->bytes + slot * a->size, b->bytes + slot * b->size, a->size) != 0;

        ck_assert_msg(!differs || (is_past_area(a)   ? is_past_free
                                   : is_cell_area(a) ? is_cell_marked(world, was, slot)
                                                     : is_marked),
                      "slot %u: %s", slot, a->name);
    }
    ck_assert_msg(is_marked ||
                      memcmp(&was->extra[slot], &now->extra[slot], sizeof *was->extra) == 0,
                  "slot %u: extra", slot);
    ck_assert_msg(is_marked || memcmp(&was->kept[slot], &now->kept[slot], sizeof *was->kept) == 0,
                  "slot %u: kept parts", slot);
    for (int time = 0; time < ESPL__PASTS; ++time) {
        ck_assert_msg(is_past_free || memcmp(&was->past[time][slot], &now->past[time][slot],
                                             sizeof **was->past) == 0,
                      "slot %u: earlier kept parts", slot);
    }
}

// Note the trees that slots which may have changed belong to, and belonged to, and the free headers that
// were listed since.
static bool *find_touched(const espl_world *world, const look *was, const look *now, uint32_t low)
{
    const uint32_t slots = was->head.slots > now->head.slots ? was->head.slots : now->head.slots;
    const size_t trees = (size_t)was->head.trees + now->head.trees + 1;
    bool *const touched = test_array(trees, sizeof *touched);

    memset(touched, 0, trees * sizeof *touched);
    for (uint32_t slot = 0; slot < slots; ++slot) {
        if (is_slot_marked(world, was, slot)) {
            if (slot < was->head.slots && was->owners[slot] != ESPL__NO_TREE) {
                touched[was->owners[slot]] = true;
            }
            if (slot < now->head.slots && now->owners[slot] != ESPL__NO_TREE) {
                touched[now->owners[slot]] = true;
            }
        }
    }
    for (uint32_t tree = now->head.free_tree; tree != low; tree = now->trees[tree].next) {
        touched[tree] = true;
    }
    return touched;
}

// A tree that leaves slots forgets its holes there.
static void find_left(look *was, const look *now, uint32_t low, const espl_world *world)
{
    bool *const touched = find_touched(world, was, now, low);

    for (uint32_t tree = 0; tree < was->head.trees; ++tree) {
        for (uint32_t i = 0; touched[tree] && i < was->trees[tree].used; ++i) {
            const uint32_t slot = was->trees[tree].base + i;

            if (slot >= now->head.slots || now->owners[slot] != tree || !has_contents(now, slot)) {
                note_near(was, slot);
            }
        }
    }
    free(touched);
}

static void compare_trees(const espl_world *world, const look *was, const look *now, uint32_t low)
{
    const uint32_t trees = was->head.trees < now->head.trees ? was->head.trees : now->head.trees;
    bool *const touched = find_touched(world, was, now, low);

    for (uint32_t tree = 0; tree < trees; ++tree) {
        const espl__tree *const a = &was->trees[tree], *const b = &now->trees[tree];

        ck_assert_msg(touched[tree] || memcmp(a, b, sizeof *a) == 0,
                      "tree %u: base %u %u, capacity %u %u, used %u %u, live %u %u, debt %u %u, "
                      "flags %u %u, side %u %u, next %u %u, hole %u %u",
                      tree, a->base, b->base, a->capacity, b->capacity, a->used, b->used, a->live,
                      b->live, a->debt, b->debt, a->flags, b->flags, a->side, b->side, a->next,
                      b->next, a->hole, b->hole);
        ck_assert_msg(touched[tree] ||
                          memcmp(&was->side_counts[4 * tree], &now->side_counts[4 * tree], 16) == 0,
                      "tree %u: side arrays", tree);
    }
    free(touched);
}

static void compare_entities(const espl_world *world, const look *was, const look *now)
{
    const uint32_t count =
        was->head.records < now->head.records ? was->head.records : now->head.records;

    for (uint32_t i = 0; i < count; ++i) {
        const espl__record *const a = &was->records[i], *const b = &now->records[i];
        const bool is_moved = a->row == 0 && b->row == 0 && a->slot != b->slot;
        espl__record moved = *a;

        // The slot of an entity follows from the nodes.
        moved.slot = is_moved && is_slot_marked(world, was, b->slot) ? b->slot : a->slot;
        ck_assert_msg(is_index_marked(world, was, i) || memcmp(&moved, b, sizeof *b) == 0,
                      "record %u: row %u %u, slot %u %u", i, a->row, b->row, a->slot, b->slot);
        ck_assert_msg(is_index_marked(world, was, i) || strcmp(was->names[i], now->names[i]) == 0,
                      "name of %u: '%s' '%s'", i, was->names[i], now->names[i]);
        ck_assert_msg(is_index_marked(world, was, i) ||
                          espl_entity_equal(was->originals[i], now->originals[i]),
                      "original of %u", i);
    }
}

static void compare_chunks(const espl_world *world, const look *was, const look *now)
{
    const size_t count = was->chunk_count < now->chunk_count ? was->chunk_count : now->chunk_count;

    for (uint32_t i = 0; i < count; ++i) {
        const chunk_look *const a = &was->chunks[i], *const b = &now->chunks[i];

        // Chunks without rows are no part of a value.
        if (a->is_there && b->is_there && !is_chunk_marked(world, was, i)) {
            ck_assert_uint_eq(a->size, b->size);
            ck_assert_msg(memcmp(a->bytes, b->bytes, a->size) == 0, "chunk %u", i);
        }
    }
}

static look *compare(espl_world *world, look *was)
{
    const uint32_t low = world->forest.free_low;
    look *const now = look_at(world);
    const uint32_t slots = was->head.slots < now->head.slots ? was->head.slots : now->head.slots;

    find_near(world, was, now);
    find_left(was, now, low, world);
    // Motion that began or ended changed all nodes.
    for (uint32_t slot = 0; was->head.pasts == now->head.pasts && slot < slots; ++slot) {
        compare_slot(world, was, now, slot);
    }
    compare_trees(world, was, now, low);
    compare_entities(world, was, now);
    compare_chunks(world, was, now);
    look_end(was);
    return now;
}

// --- Runs ---

static uint32_t planes_of(const espl_world *world)
{
    return (uint32_t)PLANES | (espl_get_cell_size(world) != 0 ? 1U << ESPL__PLANE_CELL : 0U);
}

static void run_at_once(uint64_t seed, uint32_t population, size_t count)
{
    uint64_t random = seed;
    test_tape tape;
    test_side side;

    tape_begin(&tape, seed, population);
    tape_take_cells(&tape);
    tape.moves = test_one_in(&random, 2);
    side_begin(&side, &tape, 1, NULL);
    ck_assert(espl__planes_acquire(side.world, planes_of(side.world)));
    look *l = look_at(side.world);

    for (size_t i = 0; i < count && !tape_is_worn(&tape); ++i) {
        const operation op = tape_next(&tape);
        const espl_status status = side_run(&side, &tape, &op);

        side_follow(&side, &tape, &op, status);
        if (test_one_in(&random, 2)) {
            l = compare(side.world, l);
        }
    }
    look_end(compare(side.world, l));
    espl__planes_release(side.world, planes_of(side.world));
    side_end(&side);
    tape_end(&tape);
}

TEST_LOOP(each_change_at_once_is_marked, 0, 3)
{
    static const uint32_t populations[3] = {6, 40, 300};
    const uint64_t chosen = test_environment("ESPL_SEED", 0);
    uint64_t state = 410 + (uint64_t)_i;
    const size_t runs = (_i == 0 ? 40 : _i == 1 ? 16 : 3) * (size_t)test_factor();

    for (size_t i = 0; i < (chosen != 0 ? 1 : runs); ++i) {
        run_at_once(chosen != 0 ? chosen : test_random(&state), populations[_i],
                    test_scaled_alone(100));
    }
}

static void run_played(uint64_t seed, uint32_t population, uint32_t limit, size_t rounds)
{
    test_executor hostile = {.manner = TEST_SHUFFLED, .workers = 4, .random = seed};
    const espl_executor executor = test_executor_of(&hostile);
    stage *const s = stage_begin(seed, population, &executor, 1);
    const uint32_t fitting = stage_fit(s, limit);
    espl_world *const world = s->played[0].world;
    uint64_t random = seed;

    ck_assert(espl__planes_acquire(world, planes_of(world)));
    look *l = look_at(world);

    for (size_t round = 1; round <= rounds && !tape_is_worn(&s->tape); ++round) {
        if (!stage_step(s, 1 + test_below(&random, fitting))) {
            break;
        }
        l = compare(world, l);
    }
    look_end(l);
    espl__planes_release(world, planes_of(world));
    stage_end(s);
}

TEST_LOOP(each_change_of_a_playback_is_marked, 0, 3)
{
    static const uint32_t populations[3] = {6, 40, 300}, limits[3] = {8, 60, 400};
    uint64_t state = 420 + (uint64_t)_i;
    const size_t runs = (_i == 0 ? 24 : _i == 1 ? 8 : 2) * (size_t)test_factor();

    for (size_t i = 0; i < runs; ++i) {
        run_played(test_random(&state), populations[_i], limits[_i], test_scaled(16));
    }
}
