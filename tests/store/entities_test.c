// SPDX-License-Identifier: MIT
#include "tests/store/fixture.h"
#include "tests/support.h"

#define INDEX_LIMIT ((size_t)1 << ESPL__INDEX_BITS)
#define LAST_GENERATION ((UINT32_C(1) << ESPL__GENERATION_BITS) - 1)

static fixture fix;
static uint32_t bare; // the archetype of the empty set

static void set_up(void)
{
    fixture_begin(&fix);
    bare = fixture_archetype(&fix, NULL, 0);
}

static void tear_down(void)
{
    fixture_is_sound(&fix);
    fixture_end(&fix);
}

static espl_entity create(void)
{
    uint32_t index = 0;

    fixture_create(&fix, bare, &index, 1);
    return espl__entity_at(&fix.store, index);
}

static void destroy(espl_entity entity)
{
    fixture_destroy(&fix, entity.index);
    fixture_settle(&fix);
}

FIXTURE(set_up, tear_down);

// Suites that include no header of the store take the limits from tests/support.h.
TEST(limits_are_those_that_the_tests_know)
{
    const test_limits limits = test_limits_of_build();

    ck_assert_uint_eq(limits.entities, INDEX_LIMIT);
    ck_assert_uint_eq(limits.lives, LAST_GENERATION);
    ck_assert_uint_eq(limits.rows, ESPL__CHUNK_ROWS);
}

TEST(first_life_carries_tag_and_one)
{
    const espl_entity entity = create();

    ck_assert_uint_eq(entity.index, 0);
    ck_assert_uint_eq(entity.generation, (uint32_t)FIXTURE_TAG << ESPL__TAG_SHIFT | 1);
    ck_ok(espl__entity_check(&fix.store, entity));
    ck_assert_uint_eq(fix.store.records[0].slot, ESPL__NONE);
}

// BUGS B4: a recycled index keeps its generation word whole.
TEST(recycled_index_differs_in_the_count_alone)
{
    const espl_entity first = create();
    destroy(first);
    const espl_entity second = create();

    ck_assert_uint_eq(second.index, first.index);
    ck_assert_uint_eq(second.generation, first.generation + 1);
    ck_status(espl__entity_check(&fix.store, first), ESPL_ERR_DEAD);
    ck_ok(espl__entity_check(&fix.store, second));
}

// BUGS B7: generations go up per index, whatever grows or moves meanwhile.
TEST(generation_of_an_index_only_goes_up)
{
    uint32_t last[32] = {0};
    uint64_t random = 7;
    espl_entity living[32];
    size_t count = 0;

    for (int step = 0; step < 200; ++step) {
        if (count < 32 && (count == 0 || fixture_below(&random, 2) == 0)) {
            living[count] = create();
            ck_assert_uint_gt(living[count].generation, last[living[count].index]);
            last[living[count].index] = living[count].generation;
            count += 1;
            continue;
        }
        const uint32_t at = fixture_below(&random, count);
        destroy(living[at]);
        living[at] = living[--count];
    }
}

TEST(last_freed_index_is_taken_first)
{
    espl_entity entities[4];

    for (size_t i = 0; i < 4; ++i) {
        entities[i] = create();
    }
    destroy(entities[1]);
    destroy(entities[3]);
    destroy(entities[0]);

    ck_assert_uint_eq(create().index, entities[0].index);
    ck_assert_uint_eq(create().index, entities[3].index);
    ck_assert_uint_eq(create().index, entities[1].index);
    ck_assert_uint_eq(create().index, 4);
}

TEST(handles_that_name_nothing_are_told_apart)
{
    const espl_entity entity = create();
    const espl_entity dead = create();
    destroy(dead);
    const uint32_t tag = (uint32_t)FIXTURE_TAG << ESPL__TAG_SHIFT;
    const struct {
        espl_entity entity;
        espl_status status;
    } cases[] = {
        {{0, 0}, ESPL_ERR_NULL_ENTITY},
        {dead, ESPL_ERR_DEAD},
        // The next life of an index that is free now, and a life that nobody had.
        {{dead.index, dead.generation + 1}, ESPL_ERR_DEAD},
        {{entity.index, tag}, ESPL_ERR_DEAD},
        {{entity.index, entity.generation + 1}, ESPL_ERR_DEAD},
        // Another world, no world, a pending handle, an index never issued.
        {{entity.index, (FIXTURE_TAG + 1) << ESPL__TAG_SHIFT | 1}, ESPL_ERR_FOREIGN},
        {{entity.index, 1}, ESPL_ERR_FOREIGN},
        {{5, 0}, ESPL_ERR_FOREIGN},
        {{entity.index, entity.generation | UINT32_C(1) << 31}, ESPL_ERR_PENDING},
        {{2, entity.generation}, ESPL_ERR_FOREIGN},
        {{UINT32_MAX, entity.generation}, ESPL_ERR_FOREIGN},
        {{UINT32_MAX, UINT32_MAX}, ESPL_ERR_PENDING},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        ck_assert_msg(espl__entity_check(&fix.store, cases[i].entity) == cases[i].status,
                      "case %zu", i);
    }
    ck_ok(espl__entity_check(&fix.store, entity));
}

TEST(index_lives_from_its_row_to_its_removal)
{
    uint32_t index = 0;

    fixture_take_indices(&fix, bare, &index, 1);
    const espl_entity entity = espl__entity_at(&fix.store, index);
    ck_status(espl__entity_check(&fix.store, entity), ESPL_ERR_DEAD);

    espl__row_add(&fix.store, bare, index);
    ck_ok(espl__entity_check(&fix.store, entity));

    espl__entities_remove(&fix.store, &index, 1);
    ck_status(espl__entity_check(&fix.store, entity), ESPL_ERR_DEAD);
    fixture_settle(&fix);
}

// BUGS C7: nothing of the life before shows.
TEST(fresh_life_has_no_slot)
{
    const espl_entity entity = create();

    espl__entity_set_slot(&fix.store, entity.index, 77);
    ck_assert_uint_eq(fix.store.records[entity.index].slot, 77);
    destroy(entity);
    ck_assert_uint_eq(fix.store.records[create().index].slot, ESPL__NONE);
}

// BUGS K1, K6: every index has the same number of lives, and no handle comes back.
TEST(index_retires_after_its_last_generation)
{
    espl_entity first = create();
    const espl_entity other = create();
    espl_entity last = first;

    destroy(first);
    for (uint32_t life = 2; life < LAST_GENERATION; ++life) {
        last = espl__entity_take(&fix.store);
        espl__entity_release(&fix.store, last.index);
    }
    ck_assert_uint_eq(last.generation, first.generation + LAST_GENERATION - 2);
    ck_assert_uint_eq(fix.store.retired_count, 0);

    last = create();
    ck_assert_uint_eq(last.index, first.index);
    ck_assert_uint_eq(last.generation, first.generation + LAST_GENERATION - 1);
    destroy(last);
    ck_assert_uint_eq(fix.store.retired_count, 1);
    ck_assert_uint_eq(fix.store.free_count, 0);
    ck_status(espl__entity_check(&fix.store, last), ESPL_ERR_DEAD);
    ck_status(espl__entity_check(&fix.store, first), ESPL_ERR_DEAD);
    ck_assert_uint_eq(create().index, other.index + 1);
}

// BUGS K2: the largest count does not wrap into a small one.
TEST(reserve_past_the_index_limit_is_refused)
{
    create();

    ck_status(espl__entities_reserve(&fix.store, INDEX_LIMIT), ESPL_ERR_LIMIT);
    ck_status(espl__entities_reserve(&fix.store, SIZE_MAX), ESPL_ERR_LIMIT);
    ck_status(espl__entities_reserve(&fix.store, SIZE_MAX / 2 + 2), ESPL_ERR_LIMIT);
    ck_assert_uint_eq(espl__array_length(fix.store.records), 1);
    ck_ok(espl__entities_reserve(&fix.store, 20));
    ck_ok(espl__entities_reserve(&fix.store, 0));
}

#ifdef ESPL_SHRUNKEN
// BUGS K1: at the end of all lives of all indices there is no entity more, and none comes back.
TEST(store_without_indices_gives_none)
{
    espl_entity living[1 << ESPL__INDEX_BITS];
    size_t lives = 0;

    while (fix.store.retired_count < INDEX_LIMIT) {
        const size_t left = INDEX_LIMIT - fix.store.retired_count;

        for (size_t i = 0; i < left; ++i, ++lives) {
            living[i] = create();
            ck_assert_uint_lt(living[i].index, INDEX_LIMIT);
        }
        ck_status(espl__entities_reserve(&fix.store, 1), ESPL_ERR_LIMIT);
        fixture_is_sound(&fix);
        for (size_t i = 0; i < left; ++i) {
            destroy(living[i]);
            ck_status(espl__entity_check(&fix.store, living[i]), ESPL_ERR_DEAD);
        }
    }

    ck_assert_uint_eq(lives, INDEX_LIMIT * LAST_GENERATION);
    ck_status(espl__entities_reserve(&fix.store, 1), ESPL_ERR_LIMIT);
    ck_ok(espl__entities_reserve(&fix.store, 0));
}
#endif

// BUGS K4: single and batched reserves draw from the same pool.
TEST(single_and_batched_takes_give_distinct_indices)
{
    const size_t sizes[] = {1, 7, 1, 1, 12, 3, 1, 9};
    bool is_taken[64] = {false};
    size_t total = 0;

    destroy(create());
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        uint32_t indices[12];

        fixture_create(&fix, bare, indices, sizes[i]);
        for (size_t k = 0; k < sizes[i]; ++k) {
            ck_assert(indices[k] < 64 && !is_taken[indices[k]]);
            is_taken[indices[k]] = true;
        }
        total += sizes[i];
        ck_assert_uint_eq(fix.store.alive_count, total);
        fixture_is_sound(&fix);
    }
    ck_assert_uint_eq(espl__array_length(fix.store.records), total);
}

// Takes of any sizes, from the free list and past its end, are the same as takes one by one.
TEST(many_taken_at_once_are_those_taken_one_by_one)
{
    static const size_t sizes[] = {1, 0, 4, 3, 9};
    uint32_t freed[6];
    fixture other;

    fixture_begin(&other);
    const uint32_t other_bare = fixture_archetype(&other, NULL, 0);
    for (int turn = 0; turn < 2; ++turn) {
        fixture *const at = turn == 0 ? &fix : &other;

        fixture_create(at, turn == 0 ? bare : other_bare, freed, 6);
        const uint32_t order[] = {freed[3], freed[0], freed[5], freed[4], freed[1]};
        espl__entities_remove(&at->store, order, 5);
        fixture_settle(at);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        espl_entity together[9];
        uint32_t indices[9];

        ck_ok(espl__entities_reserve(&fix.store, sizes[i]));
        espl__entities_take(&fix.store, together, sizes[i]);
        fixture_take_indices(&other, other_bare, indices, sizes[i]);
        other.heap.is_forbidden = false;
        for (size_t k = 0; k < sizes[i]; ++k) {
            const espl_entity alone = espl__entity_at(&other.store, indices[k]);

            ck_assert(espl_entity_equal(together[k], alone));
            ck_status(espl__entity_check(&fix.store, together[k]), ESPL_ERR_DEAD);
            ck_ok(espl__rows_reserve(&fix.store, bare, 1));
            espl__row_add(&fix.store, bare, together[k].index);
            espl__row_add(&other.store, other_bare, alone.index);
        }
        ck_assert_uint_eq(fix.store.alive_count, other.store.alive_count);
        ck_assert_uint_eq(fix.store.free_count, other.store.free_count);
        ck_assert_uint_eq(fix.store.free_head, other.store.free_head);
        fixture_settle(&fix);
        fixture_settle(&other);
        fixture_is_sound(&fix);
    }
    fixture_end(&other);
}

TEST(removed_together_are_freed_in_order)
{
    uint32_t indices[8];

    fixture_create(&fix, bare, indices, 8);
    const uint32_t leaving[] = {indices[6], indices[1], indices[2]};
    fix.heap.is_forbidden = true;
    espl__entities_remove(&fix.store, leaving, 3);
    espl__entities_remove(&fix.store, leaving, 0);
    fixture_settle(&fix);

    ck_assert_uint_eq(fix.store.alive_count, 5);
    for (size_t i = 3; i > 0; --i) {
        ck_assert_uint_eq(create().index, leaving[i - 1]);
    }
}

TEST(failed_reserve_changes_nothing)
{
    const espl_entity entity = create();
    const size_t room = espl__array_capacity(fix.store.records);

    fix.fail_at = fix.calls + 1;
    ck_status(espl__entities_reserve(&fix.store, room + 1), ESPL_ERR_NO_MEMORY);
    ck_assert_uint_eq(espl__array_length(fix.store.records), 1);
    ck_ok(espl__entity_check(&fix.store, entity));
    fixture_is_sound(&fix);
    ck_ok(espl__entities_reserve(&fix.store, room + 1));
}
