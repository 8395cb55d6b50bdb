// SPDX-License-Identifier: MIT
#include "tests/tree/grove.h"

#include <check.h>
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
        forest->flags[order[i]] = plan->has_extras ? ESPL__SLOT_EXTRA : 0;
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

// A pass-through that is a root stands at the identity.
static void fill_node(grove *g, const espl__run *header, uint32_t rank, unsigned flags,
                      uint64_t *random)
{
    espl__forest *const forest = &g->forest;
    const uint32_t slot = forest->order[header->base + rank];
    const bool is_pass = (flags & ESPL__SLOT_PASS) != 0;

    forest->entity[slot] = g->entities++;
    forest->flags[slot] |= (uint8_t)flags;
    forest->local[slot] = grove_random_pose(random);
    espl__extra extra = {{1, 1, 1}, (uint32_t)test_random(random)};
    for (int i = 0; i < 3; ++i) {
        extra.stretch[i] = test_between(random, 0.8f, 1.25f);
    }
    if (is_pass && (rank == 0 || (flags & ESPL__SLOT_ROOTED) != 0)) {
        forest->local[slot] = espl__pose_identity();
        extra = espl__extra_default();
    }
    if (header->extra != NULL) {
        header->extra[slot - header->base] = extra;
    }
}

uint32_t grove_plant(grove *g, const grove_plan *plan)
{
    espl__forest *const forest = &g->forest;
    const uint32_t used = plan->size + plan->holes;

    ck_assert_uint_le(plan->size, GROVE_LIMIT);
    const uint32_t run = reserve_run(g, used + plan->spare);
    espl__run *const header = &forest->runs[run];
    uint64_t random = plan->seed;
    unsigned seen = 0;

    header->used = used;
    header->size = plan->size;
    if (plan->has_extras) {
        header->extra =
            espl__heap_take(&g->heap, ESPL__FOR_TREE, header->capacity, sizeof *header->extra, 16);
        ck_assert_ptr_nonnull(header->extra);
        memset(header->extra, 0, header->capacity * sizeof *header->extra);
    }
    arrange(forest, header, plan);
    link_ranks(forest, header, plan);
    for (uint32_t rank = 0; rank < plan->size; ++rank) {
        const unsigned flags = plan->flags != NULL ? plan->flags[rank] : 0;

        fill_node(g, header, rank, flags, &random);
        seen |= flags;
    }
    header->flags = plan->is_shuffled ? 0u : (unsigned)ESPL__RUN_IN_ORDER;
    if (plan->is_general || plan->has_extras || (seen & (ESPL__SLOT_PASS | ESPL__SLOT_ROOTED))) {
        header->flags |= ESPL__RUN_GENERAL;
    }
    ck_assert(espl__propagate_at(forest, run, 0));
    ck_assert(espl__propagate_below(forest, run, 0));
    return run;
}

// --- Hash ---

static uint64_t hash_run(uint64_t hash, const espl__forest *forest, uint32_t run)
{
    const espl__run *const h = &forest->runs[run];
    const uint32_t words[] = {run,       h->base,  h->used, h->size,
                              h->ghosts, h->flags, h->next, h->previous};

    hash = test_hash_bytes(hash, words, sizeof words);
    for (uint32_t rank = 0; rank < h->size; ++rank) {
        const uint32_t slot = forest->order[h->base + rank];
        const espl__extra extra = espl__slot_extra(forest, slot);
        const uint32_t node[] = {slot,
                                 forest->rank[slot],
                                 forest->run[slot],
                                 forest->entity[slot],
                                 forest->flags[slot],
                                 forest->parent[h->base + rank],
                                 forest->first[h->base + rank]};

        hash = test_hash_bytes(hash, node, sizeof node);
        hash = test_hash_bytes(hash, &forest->local[slot], sizeof(espl_pose));
        hash = test_hash_bytes(hash, &forest->world[slot], sizeof(espl_pose));
        hash = test_hash_bytes(hash, &extra, sizeof extra);
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
