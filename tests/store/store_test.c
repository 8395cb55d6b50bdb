// SPDX-License-Identifier: MIT
// The store as a whole: random changes against a naive model, failure of each allocation, the same
// order whatever the addresses. ESPL_SEED and ESPL_OPERATIONS run one seed alone, and so far.
#include "tests/store/fixture.h"
#include "tests/support.h"

static fixture fix;

// --- The model: each entity is its handle, a set of kinds, and a seed for each value ---

enum {
    KINDS = 6,
    MODEL_LIMIT = ESPL__INDEX_BITS < 10 ? 1 << ESPL__INDEX_BITS : 1200,
    DEAD_LIMIT = 512,
    BATCH_LIMIT = 24,
    OPERATIONS = 120000
};

static const struct {
    const char *name;
    size_t size, alignment;
} kinds[KINDS] = {
    {"byte", 1, 1}, {"vector", 12, 4},  {"line", 64, 64},
    {"mark", 0, 1}, {"wide", 256, 256}, {"page", 4096, 16},
};

typedef struct model_entity {
    espl_entity entity;
    uint32_t set; // bit k: has kind k; bit KINDS: has ESPL_TRANSFORM
    uint32_t slot;
    uint32_t value[KINDS]; // 0: zeros
} model_entity;

typedef struct model {
    model_entity items[MODEL_LIMIT];
    size_t count;
    uint32_t item_of[1 << 12]; // by index
    espl_entity dead[DEAD_LIMIT];
    size_t dead_count;
    espl_component numbers[KINDS];
    uint64_t seed, random;
    size_t operations, moved, refused;
} model;

static model the_model;

// A failure of the random test names its seed, its place and the build. Check writes a line to a
// file for each of its own assertions, held or not.
#define AGREES(m, condition)                                                                \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            ck_abort_msg("seed %llu, operation %zu, %s: %s", (unsigned long long)(m)->seed, \
                         (m)->operations, __VERSION__, #condition);                         \
        }                                                                                   \
    } while (0)

static void pattern(unsigned char *bytes, size_t size, uint32_t value)
{
    for (size_t i = 0; i < size; ++i) {
        bytes[i] = value == 0 ? 0 : (unsigned char)((value * 2654435761u + i * 97) >> 7);
    }
}

static void model_begin(model *m, uint64_t seed)
{
    *m = (model){.seed = seed, .random = seed};
    for (size_t k = 0; k < KINDS; ++k) {
        m->numbers[k] = fixture_component(&fix, kinds[k].name, kinds[k].size, kinds[k].alignment);
    }
}

static uint32_t below(model *m, size_t bound)
{
    return fixture_below(&m->random, bound);
}

// Small sets are frequent, so that archetypes have many rows; pages are rare, since they are large.
static uint32_t random_set(model *m)
{
    uint32_t set = below(m, 2) << KINDS;

    for (uint32_t k = 0; k < KINDS; ++k) {
        set |= (uint32_t)(below(m, k == 5 ? 12 : 4) == 0) << k;
    }
    return set;
}

static uint32_t archetype_of(const model *m, uint32_t set)
{
    espl_component list[KINDS + 1];
    size_t count = 0;

    if ((set >> KINDS & 1) != 0) {
        list[count++] = ESPL_TRANSFORM;
    }
    for (size_t k = 0; k < KINDS; ++k) {
        if ((set >> k & 1) != 0) {
            list[count++] = m->numbers[k];
        }
    }
    return fixture_archetype(&fix, list, count);
}

static void item_is_true(const model *m, const model_entity *item)
{
    const uint32_t index = item->entity.index;
    unsigned char expected[4096];

    AGREES(m, espl__entity_check(&fix.store, item->entity) == ESPL_OK);
    AGREES(m, fix.store.records[index].slot == item->slot);
    const uint32_t archetype = fix.store.chunks[fix.store.records[index].chunk].archetype;
    for (size_t k = 0; k < KINDS; ++k) {
        const void *const value = espl__row_value(&fix.store, index, m->numbers[k]);
        const bool has_kind = (item->set >> k & 1) != 0;

        AGREES(m, espl__archetype_has(&fix.store, archetype, m->numbers[k]) == has_kind);
        if (!has_kind || kinds[k].size == 0) {
            AGREES(m, value == NULL);
            continue;
        }
        pattern(expected, kinds[k].size, item->value[k]);
        AGREES(m, value != NULL && memcmp(value, expected, kinds[k].size) == 0);
    }
}

static void model_is_true(const model *m)
{
    const char *const rule = espl__store_broken_rule(&fix.store, NULL, NULL);
    const size_t dead_count = m->dead_count < DEAD_LIMIT ? m->dead_count : DEAD_LIMIT;

    ck_assert_msg(rule == NULL, "seed %llu, operation %zu, %s: %s", (unsigned long long)m->seed,
                  m->operations, __VERSION__, rule);
    AGREES(m, fix.store.alive_count == m->count);
    AGREES(m, espl__store_bytes(&fix.store) == fix.bytes);
    for (size_t i = 0; i < m->count; ++i) {
        item_is_true(m, &m->items[i]);
    }
    for (size_t i = 0; i < dead_count; ++i) {
        AGREES(m, espl__entity_check(&fix.store, m->dead[i]) == ESPL_ERR_DEAD);
    }
}

static model_entity *model_add(model *m, uint32_t index, uint32_t set)
{
    model_entity *const item = &m->items[m->count];

    *item = (model_entity){
        .entity = espl__entity_at(&fix.store, index), .set = set, .slot = ESPL__NONE};
    m->item_of[index] = (uint32_t)m->count++;
    return item;
}

static void model_drop(model *m, uint32_t index)
{
    const uint32_t at = m->item_of[index];

    m->dead[m->dead_count++ % DEAD_LIMIT] = m->items[at].entity;
    m->items[at] = m->items[--m->count];
    m->item_of[m->items[at].entity.index] = at;
}

// --- Operations: each reserves, then commits while memory is forbidden ---

// Take up to `wanted` indices, as many as there are. The model knows how many that is.
static size_t take(model *m, uint32_t archetype, uint32_t *indices, size_t wanted)
{
    const size_t limit = (size_t)1 << ESPL__INDEX_BITS;
    const size_t left = limit - m->count - fix.store.retired_count;
    const size_t room = MODEL_LIMIT - m->count < left ? MODEL_LIMIT - m->count : left;
    const size_t count = wanted < room ? wanted : room;

    if (wanted > left) {
        ck_assert_int_eq(espl__entities_reserve(&fix.store, wanted), ESPL_ERR_LIMIT);
        m->refused += 1;
    }
    ck_assert_int_eq(espl__entities_reserve(&fix.store, count), ESPL_OK);
    ck_assert_int_eq(espl__rows_reserve(&fix.store, archetype, count), ESPL_OK);
    fix.heap.is_forbidden = true;
    for (size_t i = 0; i < count; ++i) {
        indices[i] = espl__entity_take(&fix.store).index;
    }
    return count;
}

static void create_some(model *m)
{
    const uint32_t set = random_set(m);
    const uint32_t archetype = archetype_of(m, set);
    uint32_t indices[BATCH_LIMIT];
    const size_t count = take(m, archetype, indices, 1 + below(m, BATCH_LIMIT));

    for (size_t i = 0; i < count; ++i) {
        espl__row_add(&fix.store, archetype, indices[i]);
        model_add(m, indices[i], set);
    }
}

static void copy_one(model *m)
{
    uint32_t indices[BATCH_LIMIT];

    if (m->count == 0) {
        return;
    }
    const uint32_t set = below(m, 2) == 0 ? random_set(m) : m->items[below(m, m->count)].set;
    const uint32_t archetype = archetype_of(m, set);
    const model_entity source = m->items[below(m, m->count)];
    const size_t count = take(m, archetype, indices, 1 + below(m, BATCH_LIMIT));
    fixture_copy(&fix, archetype, source.entity.index, indices, count);
    for (size_t i = 0; i < count; ++i) {
        model_entity *const item = model_add(m, indices[i], set);

        for (size_t k = 0; k < KINDS; ++k) {
            item->value[k] = (set >> k & 1) != 0 ? source.value[k] : 0;
        }
    }
}

// Choose rows of the chunk of a random entity that are not marked yet.
static size_t choose_rows(model *m, uint32_t *chunk, uint32_t *rows)
{
    const espl_entity entity = m->items[below(m, m->count)].entity;
    const uint32_t share = 1 + below(m, 6);
    size_t count = 0;

    *chunk = fix.store.records[entity.index].chunk;
    const espl__chunk *const at = &fix.store.chunks[*chunk];
    for (uint32_t row = 0; row < at->count; ++row) {
        const bool is_marked = (at->leaving[row >> 6] >> (row & 63) & 1) != 0;

        if (!is_marked && below(m, share) == 0 && count < BATCH_LIMIT) {
            rows[count++] = row;
        }
    }
    return count;
}

static void move_some(model *m)
{
    uint32_t chunk = 0, rows[BATCH_LIMIT];

    if (m->count == 0) {
        return;
    }
    const uint32_t set = random_set(m);
    const uint32_t archetype = archetype_of(m, set);
    const size_t count = choose_rows(m, &chunk, rows);
    const espl_entity *const entities = espl__chunk_entities(&fix.store.chunks[chunk]);

    ck_assert_int_eq(espl__rows_reserve(&fix.store, archetype, count), ESPL_OK);
    fix.heap.is_forbidden = true;
    for (size_t i = 0; i < count; ++i) {
        model_entity *const item = &m->items[m->item_of[entities[rows[i]].index]];

        for (size_t k = 0; k < KINDS; ++k) {
            item->value[k] = (set >> k & 1) != 0 ? item->value[k] : 0;
        }
        item->set = set;
    }
    m->moved += count;
    espl__rows_move(&fix.store, chunk, archetype, rows, count);
}

static void destroy_some(model *m)
{
    uint32_t chunk = 0, rows[BATCH_LIMIT];

    if (m->count == 0) {
        return;
    }
    const size_t count = choose_rows(m, &chunk, rows);
    const espl_entity *const entities = espl__chunk_entities(&fix.store.chunks[chunk]);
    uint32_t indices[BATCH_LIMIT];

    fix.heap.is_forbidden = true;
    for (size_t i = 0; i < count; ++i) {
        indices[i] = entities[rows[i]].index;
        model_drop(m, indices[i]);
    }
    espl__entities_remove(&fix.store, indices, count);
}

static void write_some(model *m)
{
    if (m->count == 0) {
        return;
    }
    model_entity *const item = &m->items[below(m, m->count)];
    const size_t k = below(m, KINDS);
    void *const value = espl__row_write(&fix.store, item->entity.index, m->numbers[k]);

    item->slot = below(m, 100000);
    espl__entity_set_slot(&fix.store, item->entity.index, item->slot);
    if (value != NULL) {
        item->value[k] = below(m, 1u << 30);
        pattern(value, kinds[k].size, item->value[k]);
    }
}

// Rooms that are kept, and all of them given back.
static void keep_some(model *m)
{
    if (below(m, 4) == 0) {
        const size_t bytes = fix.bytes;

        AGREES(m, espl__store_trim(&fix.store));
        AGREES(m, fix.bytes <= bytes);
    } else {
        const uint32_t archetype = archetype_of(m, random_set(m));
        const size_t rows = below(m, BATCH_LIMIT);
        const size_t before = fix.store.archetypes[archetype].floor;

        ck_assert_int_eq(espl__rows_keep(&fix.store, archetype, rows), ESPL_OK);
        AGREES(m, fix.store.archetypes[archetype].floor >= before);
    }
}

// One structural change of a few operations. Creation outweighs destruction until there are many.
static void change(model *m)
{
    const uint32_t steps = 1 + below(m, 6);

    for (uint32_t i = 0; i < steps; ++i) {
        const uint32_t choice = below(m, 12);
        const bool is_full = m->count > MODEL_LIMIT * 3 / 4;

        fix.heap.is_forbidden = false;
        if (choice < (is_full ? 1 : 2)) {
            create_some(m);
        } else if (choice < 3) {
            copy_one(m);
        } else if (choice < 6) {
            move_some(m);
        } else if (choice < (is_full ? 10 : 7)) {
            destroy_some(m);
        } else {
            write_some(m);
        }
        m->operations += 1;
    }
    fixture_settle(&fix);
    if (below(m, 60) == 0) {
        keep_some(m);
    }
}

// Where all indices are retired, as they soon are in the shrunken build, a new store takes over.
static void renew(model *m)
{
    const model before = *m;

    fixture_end(&fix);
    fixture_begin(&fix);
    model_begin(m, before.seed);
    m->random = before.random;
    m->operations = before.operations;
    m->moved = before.moved;
    m->refused = before.refused;
}

static size_t operations_to_run(void)
{
    return (size_t)test_environment("ESPL_OPERATIONS", test_scaled(OPERATIONS));
}

static uint64_t seed_to_run(int loop)
{
    const char *const text = getenv("ESPL_SEED");

    return text != NULL ? (uint64_t)strtoull(text, NULL, 10) : (uint64_t)loop;
}

// BUGS B10, F15, K4, E10: creation, copies, moves and removal in every order.
START_TEST(limits_are_those_that_the_tests_know)
{
    const test_limits limits = test_limits_of_build();

    ck_assert_uint_eq(limits.entities, (size_t)1 << ESPL__INDEX_BITS);
    ck_assert_uint_eq(limits.lives, ((size_t)1 << ESPL__GENERATION_BITS) - 1);
    ck_assert_uint_eq(limits.rows, ESPL__CHUNK_ROWS);
}
END_TEST

START_TEST(random_changes_agree_with_the_model)
{
    model *const m = &the_model;
    const size_t operations = operations_to_run();
    const uint64_t seed = seed_to_run(_i);
    size_t next_check = 0;

    fixture_begin(&fix);
    model_begin(m, seed);
    while (m->operations < operations) {
        change(m);
        if (m->operations >= next_check) {
            model_is_true(m);
            next_check = m->operations + (m->operations < 2000 ? 20 : 1500);
        }
        if (fix.store.retired_count == (size_t)1 << ESPL__INDEX_BITS) {
            model_is_true(m);
            renew(m);
        }
    }
    model_is_true(m);
    ck_assert_uint_gt(m->moved, operations / 8);
    ck_assert(ESPL__INDEX_BITS > 10 || m->refused > 0);
    fixture_end(&fix);
}
END_TEST

// --- Failure of each allocation ---

enum { SCENARIO_STEPS = 10 };

typedef struct scenario {
    espl_component value, wide;
    uint32_t small, large, other; // archetypes
    uint32_t indices[24];
} scenario;

// What must be the same before and after a refusal.
typedef struct counts {
    size_t components, archetypes, records, alive, free_indices, chunks, rows, reserved, wanted;
    size_t floor, referring;
    size_t changed;
} counts;

static counts count_all(void)
{
    const espl__store *const store = &fix.store;
    counts all = {
        .components = store->component_count,
        .referring = store->referring_count,
        .archetypes = espl__array_length(store->archetypes),
        .records = espl__array_length(store->records),
        .alive = store->alive_count,
        .free_indices = store->free_count,
        .chunks = espl__array_length(store->chunks) - espl__array_length(store->free_chunks),
        .changed = espl__array_length(store->changed),
    };

    for (size_t i = 0; i < all.archetypes; ++i) {
        all.rows += store->archetypes[i].count;
        all.reserved += store->archetypes[i].reserved;
        all.wanted += store->archetypes[i].wanted;
        all.floor += store->archetypes[i].floor;
    }
    return all;
}

static espl_status register_one(const char *name, size_t size, size_t alignment,
                                espl_component *out)
{
    static const uint32_t references[] = {0};
    const espl_component_def def = {.name = name,
                                    .size = size,
                                    .alignment = alignment,
                                    .references = references,
                                    .reference_count = 1};

    return espl__component_register(&fix.store, &def, out);
}

// Add 24 entities, destroy a third, and move a third to another archetype; all reserved.
static void commit(scenario *s)
{
    fix.heap.is_forbidden = true;
    for (size_t i = 0; i < 24; ++i) {
        s->indices[i] = espl__entity_take(&fix.store).index;
    }
    espl__row_add(&fix.store, s->small, s->indices[0]);
    memset(espl__row_value(&fix.store, s->indices[0], s->value), 0x3c, 8);
    fixture_copy(&fix, s->small, s->indices[0], s->indices + 1, 15);
    fixture_copy(&fix, s->large, s->indices[0], s->indices + 16, 8);
    espl__rows_settle(&fix.store);

    for (size_t i = 0; i < 24; i += 3) {
        fixture_destroy(&fix, s->indices[i]);
    }
    for (size_t i = 1; i < 24; i += 3) {
        const espl__record record = fix.store.records[s->indices[i]];

        espl__rows_move(&fix.store, record.chunk, s->other, &record.row, 1);
    }
    fixture_settle(&fix);
}

static espl_status run_step(scenario *s, int step)
{
    const espl_component small[] = {ESPL_TRANSFORM, ESPL_SOLO, s->value};
    const espl_component tag = ESPL_PREFAB, solo = ESPL_SOLO;

    switch (step) {
    case 0:
        return register_one("value", 8, 8, &s->value);
    case 1:
        return register_one("wide", 3000, 8, &s->wide);
    case 2:
        return espl__archetype_of(&fix.store, small, 3, &s->small);
    case 3:
        return espl__archetype_change(&fix.store, s->small, &s->wide, 1, &solo, 1, &s->large);
    case 4:
        return espl__archetype_role(&fix.store, s->small, ESPL_MEMBER, &s->other);
    case 5:
        return espl__entities_reserve(&fix.store, 24);
    case 6:
        return espl__rows_reserve(&fix.store, s->small, 16);
    case 7:
        return espl__rows_reserve(&fix.store, s->large, 8);
    case 8:
        return espl__rows_keep(&fix.store, s->other, 8);
    default:
        commit(s);
        return espl__archetype_change(&fix.store, s->small, &tag, 1, NULL, 0, &s->other);
    }
}

// Run everything, with the n-th allocation failing. Returns whether it failed anywhere.
static bool run_scenario(size_t n, uint32_t *hash)
{
    scenario s = {0};
    bool has_failed = false;

    fixture_begin_heap(&fix);
    fix.fail_at = n;
    espl_status status = espl__store_init(&fix.store, &fix.heap, FIXTURE_TAG);
    if (status != ESPL_OK) {
        ck_assert_int_eq(status, ESPL_ERR_NO_MEMORY);
        ck_assert_uint_eq(fix.bytes, 0);
        has_failed = true;
        ck_assert_int_eq(espl__store_init(&fix.store, &fix.heap, FIXTURE_TAG), ESPL_OK);
    }
    for (int step = 0; step < SCENARIO_STEPS; ++step) {
        const counts before = count_all();

        status = run_step(&s, step);
        if (status != ESPL_OK) {
            const counts after = count_all();

            ck_assert_int_eq(status, ESPL_ERR_NO_MEMORY);
            ck_assert(!has_failed);
            has_failed = true;
            ck_assert(step == SCENARIO_STEPS - 1 || memcmp(&before, &after, sizeof after) == 0);
            fixture_is_sound(&fix);
            const espl_component tag = ESPL_PREFAB;
            status = step < SCENARIO_STEPS - 1
                         ? run_step(&s, step)
                         : espl__archetype_change(&fix.store, s.small, &tag, 1, NULL, 0, &s.other);
            ck_assert_int_eq(status, ESPL_OK);
        }
    }

    fixture_is_sound(&fix);
    *hash = fixture_hash(&fix);
    fixture_end(&fix);
    return has_failed;
}

START_TEST(any_allocation_may_fail)
{
    uint32_t undisturbed = 0, hash = 0;
    size_t n = 1;

    ck_assert(!run_scenario(0, &undisturbed));
    while (run_scenario(n, &hash)) {
        ck_assert_uint_eq(hash, undisturbed);
        n += 1;
    }
    ck_assert_uint_eq(hash, undisturbed);
    ck_assert_uint_gt(n, 40);
}
END_TEST

// --- Order ---

static uint32_t run_changes(unsigned char *arena, size_t size)
{
    model *const m = &the_model;

    fixture_begin_heap(&fix);
    fix.arena = arena;
    fix.arena_left = size;
    ck_assert_int_eq(espl__store_init(&fix.store, &fix.heap, FIXTURE_TAG), ESPL_OK);
    model_begin(m, 11);
    while (m->operations < 600) {
        change(m);
    }
    const uint32_t hash = fixture_hash(&fix);
    fixture_end(&fix);
    return hash;
}

START_TEST(order_depends_on_the_calls_alone)
{
    const size_t size = (size_t)1 << 28;
    unsigned char *const arena = malloc(size);

    ck_assert_ptr_nonnull(arena);
    const uint32_t expected = run_changes(NULL, 0);
    ck_assert_uint_eq(run_changes(arena, size), expected);
    ck_assert_uint_eq(run_changes(arena, size - 4096 - 16), expected);
    free(arena);
}
END_TEST

START_TEST(store_ends_with_nothing_outstanding)
{
    fixture_begin(&fix);
    fixture_end(&fix);
    ck_assert_uint_eq(fix.store.free_head, ESPL__NONE);
    ck_assert_uint_eq(espl__component_find(&fix.store, "transform"), 0);

    // A second time does nothing.
    espl__store_free(&fix.store);
}
END_TEST

static Suite *store_suite(void)
{
    Suite *const suite = suite_create("store");
    TCase *const cases = tcase_create("store");

    tcase_set_timeout(cases, 600);
    tcase_add_test(cases, limits_are_those_that_the_tests_know);
    tcase_add_test(cases, store_ends_with_nothing_outstanding);
    tcase_add_test(cases, any_allocation_may_fail);
    tcase_add_test(cases, order_depends_on_the_calls_alone);
    tcase_add_loop_test(cases, random_changes_agree_with_the_model, 1, 5);
    suite_add_tcase(suite, cases);
    return suite;
}

RUN_SUITE(store_suite)
