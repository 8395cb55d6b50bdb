// SPDX-License-Identifier: MIT
#include "tests/tree/grove.h"

#include "tests/asserts.h"

#include <string.h>

void grove_begin(grove *g)
{
    test_heap_init(&g->under);
    const espl_allocator allocator = test_heap_allocator(&g->under);

    espl__heap_init(&g->heap, &allocator);
    espl__forest_init(&g->forest, &g->heap);
    g->entities = 0;
}

void grove_end(grove *g)
{
    espl__forest_free(&g->forest);
    ck_assert_uint_eq(espl__heap_bytes(&g->heap), 0);
    ck_assert_uint_eq(g->under.bytes, 0);
    ck_assert_uint_eq(g->under.blocks, 0);
    ck_assert_uint_eq(g->under.faults, 0);
}

void grove_is_sound(const grove *g)
{
    uint32_t slot = 0;
    size_t detail = 0;
    const char *const rule = espl__forest_broken_rule(&g->forest, &slot, &detail);

    ck_assert_msg(rule == NULL, "%s (slot %u, detail %zu)", rule, slot, detail);
}

uint32_t grove_slot(const grove *g, uint32_t run, uint32_t rank)
{
    return g->forest.order[g->forest.runs[run].base + rank];
}

bool grove_same(const espl_pose *a, const espl_pose *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

bool grove_same_extra(const espl__extra *a, const espl__extra *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

// --- Random shapes and poses ---

void grove_random_parents(uint32_t *parent, uint32_t size, uint32_t reach, uint64_t *random)
{
    parent[0] = ESPL__NO_SLOT;
    for (uint32_t i = 1; i < size; ++i) {
        const uint32_t last = i == 1 ? 0 : parent[i - 1];
        const uint32_t choice = i - last < reach ? i - last : reach;

        parent[i] = last + test_below(random, choice);
    }
}

espl_pose grove_random_pose(uint64_t *random)
{
    espl_pose pose;

    do {
        for (int i = 0; i < 4; ++i) {
            pose.rotation[i] = test_between(random, -1, 1);
        }
    } while (!espl__rotation_normalize(pose.rotation));
    for (int i = 0; i < 3; ++i) {
        pose.position[i] = test_between(random, -10, 10);
    }
    pose.scale = test_between(random, 0.75f, 1.3f) * (test_one_in(random, 8) ? -1.0f : 1.0f);
    return pose;
}

void grove_random_inherit(uint8_t *inherit, uint32_t size, uint32_t n, uint64_t *random)
{
    for (uint32_t rank = 0; rank < size; ++rank) {
        const uint32_t kept = test_below(random, ESPL_COPY_PARENT);
        const bool copies = test_one_in(random, 4);

        inherit[rank] = (uint8_t)(!test_one_in(random, n) ? 0 : copies ? ESPL_COPY_PARENT : kept);
    }
}

bool grove_next_parents(uint32_t *parent, uint32_t size)
{
    for (uint32_t i = size; i-- > 1;) {
        if (parent[i] + 1 < i) {
            parent[i] += 1;
            for (uint32_t behind = i + 1; behind < size; ++behind) {
                parent[behind] = parent[i];
            }
            return true;
        }
    }
    return false;
}

// --- Planting ---

static uint32_t reserve_run(grove *g, uint32_t capacity)
{
    espl__forest *const forest = &g->forest;

    ck_assert_int_eq(espl__forest_reserve(forest, capacity, 1), ESPL_OK);
    const uint32_t run = espl__run_take(forest);
    const uint32_t base = espl__range_take(forest, capacity);

    forest->runs[run].base = base;
    forest->runs[run].capacity = capacity;
    for (uint32_t i = 0; i < capacity; ++i) {
        forest->run[base + i] = run;
    }
    return run;
}

// Which slot holds which rank; holes stand behind the nodes.
static void arrange(espl__forest *forest, const espl__run *header, const grove_plan *plan)
{
    uint32_t *const order = forest->order + header->base;
    uint64_t random = plan->seed ^ 0x5eed;

    for (uint32_t i = 0; i < header->used; ++i) {
        const uint32_t at = plan->is_shuffled ? test_below(&random, i + 1) : i;

        order[i] = order[at];
        order[at] = header->base + i;
    }
    for (uint32_t i = 0; i < header->used; ++i) {
        forest->rank[order[i]] = i;
        forest->entity[order[i]] = ESPL__NO_ENTITY;
        forest->flags[order[i]] = header->side != NULL ? ESPL__SLOT_SIDE : 0;
    }
}

// SPEC's formula: first(0) = 1, first(i) = first(i-1) + count(i-1).
static void link_ranks(espl__forest *forest, const espl__run *header, const grove_plan *plan)
{
    uint32_t *const first = forest->first + header->base;
    uint32_t *const parent = forest->parent + header->base;
    uint32_t counts[GROVE_LIMIT] = {0};

    for (uint32_t rank = 0; rank < plan->size; ++rank) {
        parent[rank] = rank == 0 ? ESPL__NO_SLOT : plan->parent[rank];
        if (rank != 0) {
            counts[plan->parent[rank]] += 1;
        }
    }
    for (uint32_t rank = 0; rank < plan->size; ++rank) {
        first[rank] = rank == 0 ? 1 : first[rank - 1] + counts[rank - 1];
    }
}

// --- Placements ---

// What a slot may have: neither a root nor what stands for one keeps anything.
static uint32_t inherit_of(const grove_plan *plan, uint32_t rank, unsigned flags)
{
    const bool may_keep = rank != 0 && (flags & (ESPL__SLOT_PASS | ESPL__SLOT_ROOTED)) == 0;

    return may_keep && plan->inherit != NULL ? plan->inherit[rank] : 0;
}

// Kept parts are those of a pose that has nothing to do with the local. Each draws the same numbers
// whatever its flags are. A pass-through that is a root stands at the identity.
static espl__placement random_placement(const grove_plan *plan, uint32_t rank, unsigned flags,
                                        uint64_t *random)
{
    const bool is_root = rank == 0 || (flags & ESPL__SLOT_ROOTED) != 0;
    const uint32_t inherit = inherit_of(plan, rank, flags);
    const espl_pose local = grove_random_pose(random);
    espl__placement placement = {local, espl__kept_none(), espl__extra_default()};
    espl__extra extra = {{1, 1, 1}, (uint32_t)test_random(random)};
    uint64_t other = *random ^ 0xcafe;
    const espl_pose world = grove_random_pose(&other);

    for (int i = 0; i < 3; ++i) {
        extra.stretch[i] = test_between(random, 0.8f, 1.25f);
    }
    if (is_root && (flags & ESPL__SLOT_PASS) != 0) {
        return espl__placement_identity();
    }
    placement.kept = espl__kept_of(&world, inherit);
    placement.extra = plan->has_extras ? extra : placement.extra;
    if (inherit == ESPL_COPY_PARENT) {
        placement.local = espl__pose_identity();
    }
    return placement;
}

// Write a node, its side arrays and their counts by hand.
static void fill_node(grove *g, const espl__run *header, uint32_t rank, unsigned flags,
                      const espl__placement *placement)
{
    espl__forest *const forest = &g->forest;
    const uint32_t slot = forest->order[header->base + rank];
    const uint32_t at = slot - header->base;
    const bool keeps = placement->kept.flags != 0;
    const bool copies = (flags & ESPL__SLOT_PASS) != 0 || espl__placement_copies(placement);

    forest->entity[slot] = g->entities++;
    forest->flags[slot] |= (uint8_t)(flags | (keeps ? ESPL__SLOT_KEEPS : 0u));
    forest->has_free_links = forest->has_free_links || (flags & ESPL__SLOT_FREE_LINK) != 0;
    forest->local[slot] = placement->local;
    if (header->side == NULL) {
        return;
    }
    header->side->extra[at] = placement->extra;
    header->side->extra_count += !copies && !espl__extra_is_default(&placement->extra);
    header->side->kept_count += keeps;
    if (header->side->kept != NULL) {
        header->side->kept[at] = placement->kept;
    }
}

static bool has_inherit(const grove_plan *plan)
{
    bool has_any = false;

    for (uint32_t rank = 0; rank < plan->size; ++rank) {
        const unsigned flags = plan->flags != NULL ? plan->flags[rank] : 0;

        has_any = has_any || inherit_of(plan, rank, flags) != 0;
    }
    return has_any;
}

static void add_side(grove *g, espl__run *header, const grove_plan *plan)
{
    const bool keeps = plan->is_prepaid || has_inherit(plan);

    if (keeps || plan->has_extras) {
        header->side = espl__side_make(&g->heap, header->capacity, keeps);
        ck_assert_ptr_nonnull(header->side);
    }
}

// Fill all nodes. Returns the flags that were seen.
static unsigned fill_nodes(grove *g, const espl__run *header, const grove_plan *plan)
{
    uint64_t random = plan->seed;
    unsigned seen = 0;

    for (uint32_t rank = 0; rank < plan->size; ++rank) {
        const unsigned flags = plan->flags != NULL ? plan->flags[rank] : 0;
        const espl__placement placement = random_placement(plan, rank, flags, &random);

        fill_node(g, header, rank, flags, &placement);
        seen |= flags;
    }
    return seen;
}

uint32_t grove_plant(grove *g, const grove_plan *plan)
{
    espl__forest *const forest = &g->forest;
    const uint32_t used = plan->size + plan->holes;

    ck_assert_uint_le(plan->size, GROVE_LIMIT);
    const uint32_t run = reserve_run(g, used + plan->spare);
    espl__run *const header = &forest->runs[run];

    header->used = used;
    header->size = plan->size;
    add_side(g, header, plan);
    arrange(forest, header, plan);
    link_ranks(forest, header, plan);
    const unsigned seen = fill_nodes(g, header, plan);
    espl__side *const side = header->side;

    if (side != NULL) {
        side->is_prepaid = plan->is_prepaid || (side->extra_count == 0 && side->kept_count == 0);
    }
    header->flags = plan->is_shuffled ? 0u : (unsigned)ESPL__RUN_IN_ORDER;
    if (plan->is_general || side != NULL || (seen & (ESPL__SLOT_PASS | ESPL__SLOT_ROOTED))) {
        header->flags |= ESPL__RUN_GENERAL;
    }
    ck_assert(espl__propagate_at(forest, &forest->crew, run, 0));
    ck_assert(espl__propagate_below(forest, &forest->crew, run, 0));
    return run;
}

// --- Recomputing ---

espl_pose grove_inherit(const espl__frame *above, const espl__placement *placement)
{
    const espl_transform parent = espl__transform_of(&above->world, &above->extra);
    const espl_transform local = espl__transform_of(&placement->local, &placement->extra);
    const espl_transform kept = espl__transform_of(&placement->kept.pose, &placement->extra);
    const espl_transform world =
        espl_transform_inherit(&parent, &local, &kept, placement->kept.flags);

    return espl__pose_of(&world);
}

void grove_recompute(const grove *g, uint32_t run, espl__frame *frames)
{
    const espl__forest *const forest = &g->forest;
    const espl__run *const header = &forest->runs[run];

    for (uint32_t rank = 0; rank < header->size; ++rank) {
        const uint32_t slot = forest->order[header->base + rank];
        const uint32_t up = forest->parent[header->base + rank];
        const espl__placement placement = espl__slot_placement(forest, slot);

        if (rank == 0 || espl__slot_is(forest, slot, ESPL__SLOT_ROOTED)) {
            frames[rank] = (espl__frame){placement.local, placement.extra};
        } else if (espl__slot_is(forest, slot, ESPL__SLOT_PASS) ||
                   placement.kept.flags == ESPL_COPY_PARENT) {
            frames[rank] = frames[up];
        } else {
            frames[rank] = (espl__frame){grove_inherit(&frames[up], &placement), placement.extra};
        }
    }
}

bool grove_propagate(espl__forest *forest, uint32_t run, uint32_t rank)
{
    const uint32_t slot = forest->order[forest->runs[run].base + rank];
    const espl_pose before = forest->world[slot];

    if (!espl__propagate_at(forest, &forest->crew, run, rank)) {
        return false;
    }
    if (memcmp(&before, &forest->world[slot], sizeof before) == 0) {
        forest->crew.tally.nodes_skipped += 1;
        return true;
    }
    return espl__propagate_changed(forest, &forest->crew, run, rank);
}

// --- Hash ---

static uint64_t hash_side(uint64_t hash, const espl__side *side)
{
    if (side == NULL) {
        return hash;
    }
    const uint32_t words[] = {side->capacity, side->extra_count, side->kept_count, side->is_prepaid,
                              side->kept != NULL};

    return test_hash_bytes(hash, words, sizeof words);
}

static uint64_t hash_run(uint64_t hash, const espl__forest *forest, uint32_t run)
{
    const espl__run *const h = &forest->runs[run];
    const uint32_t words[] = {run,       h->base,  h->used, h->size,
                              h->ghosts, h->flags, h->next, h->previous};

    hash = test_hash_bytes(hash, words, sizeof words);
    hash = hash_side(hash, h->side);
    for (uint32_t rank = 0; rank < h->size; ++rank) {
        const uint32_t slot = forest->order[h->base + rank];
        const espl__placement placement = espl__slot_placement(forest, slot);
        const uint32_t node[] = {slot,
                                 forest->rank[slot],
                                 forest->run[slot],
                                 forest->entity[slot],
                                 forest->flags[slot],
                                 forest->parent[h->base + rank],
                                 forest->first[h->base + rank]};

        hash = test_hash_bytes(hash, node, sizeof node);
        hash = test_hash_bytes(hash, &placement, sizeof placement);
        hash = test_hash_bytes(hash, &forest->world[slot], sizeof(espl_pose));
    }
    return hash;
}

uint64_t grove_hash(const grove *g)
{
    const espl__forest *const forest = &g->forest;
    const uint32_t words[] = {forest->end,        forest->run_end,   forest->free_run,
                              forest->free_slots, forest->unsettled, forest->ghosts};
    uint64_t hash = test_hash_bytes(TEST_HASH_START, words, sizeof words);

    hash = test_hash_bytes(hash, forest->free_heads, sizeof forest->free_heads);
    hash = test_hash_bytes(hash, forest->free_bits, sizeof forest->free_bits);
    for (int i = 0; i < ESPL__SIZE_CLASSES; ++i) {
        for (uint32_t at = forest->free_heads[i]; at != ESPL__NO_SLOT; at = forest->order[at]) {
            const uint32_t range[] = {at, forest->rank[at], forest->parent[at]};

            hash = test_hash_bytes(hash, range, sizeof range);
        }
    }
    for (uint32_t run = 0; run < forest->run_end; ++run) {
        hash = hash_run(hash, forest, run);
    }
    return hash;
}
