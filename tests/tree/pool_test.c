// SPDX-License-Identifier: MIT
// Ranges and headers against an array that says who owns each slot.
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tests/runner.h"
#include "tests/tree/grove.h"

#include <string.h>

enum { SLOTS = 4096, RUNS = 256, NOBODY = ESPL__NO_RUN };

static grove g;
static espl__forest *const forest = &g.forest;

// The model: owner of each slot, and the runs that live.
static uint32_t owner[SLOTS];
static uint32_t living[RUNS], living_count;

static void set_up(void)
{
    grove_begin(&g);
    memset(owner, 0xff, sizeof owner);
    living_count = 0;
}

static void tear_down(void)
{
    while (living_count > 0) {
        espl__run_release(forest, living[--living_count]);
    }
    ck_assert_uint_eq(forest->end, 0);
    ck_assert_uint_eq(forest->free_slots, 0);
    grove_end(&g);
}

// A run with one node, as large as asked; its range was nobody's.
static uint32_t take(uint32_t count)
{
    ck_assert_int_eq(espl__forest_reserve(forest, count, 1), ESPL_OK);
    const uint32_t run = espl__run_take(forest);
    const uint32_t base = espl__range_take(forest, count);
    bool overlaps = false;

    ck_assert_uint_le(base + count, forest->end);
    ck_assert_uint_le(forest->end, forest->capacity);
    ck_assert_uint_le(forest->end, SLOTS);
    forest->runs[run].base = base;
    forest->runs[run].capacity = count;
    forest->runs[run].used = forest->runs[run].size = 1;
    for (uint32_t slot = base; slot < base + count; ++slot) {
        overlaps = overlaps || owner[slot] != NOBODY;
        owner[slot] = forest->run[slot] = run;
    }
    ck_assert(!overlaps);
    ck_assert_uint_lt(living_count, RUNS);
    living[living_count++] = run;
    return run;
}

// The headers may move on the way.
static uint32_t base_taken(uint32_t count)
{
    const uint32_t run = take(count);

    return forest->runs[run].base;
}

static void give(uint32_t at)
{
    const uint32_t run = living[at];
    const espl__run header = forest->runs[run];

    for (uint32_t slot = header.base; slot < header.base + header.capacity; ++slot) {
        owner[slot] = NOBODY;
    }
    living[at] = living[--living_count];
    espl__run_release(forest, run);
}

static void give_run(uint32_t run)
{
    uint32_t at = 0;

    while (living[at] != run) {
        at += 1;
    }
    give(at);
}

// Ranges that hang in the list of a class: all larger than those of the classes before, linked both
// ways. Returns how many, or SLOTS where something is wrong. Asserts are too slow in here.
static uint32_t count_class(uint32_t class, uint32_t *largest)
{
    uint32_t previous = ESPL__NO_SLOT, count = 0, largest_here = *largest;

    for (uint32_t at = forest->free_heads[class]; at != ESPL__NO_SLOT; at = forest->order[at]) {
        const uint32_t size = forest->rank[at];

        if (forest->parent[at] != previous || size <= *largest || count == SLOTS) {
            return SLOTS;
        }
        largest_here = size > largest_here ? size : largest_here;
        previous = at;
        count += 1;
    }
    *largest = largest_here;
    return count;
}

static uint32_t count_filed(void)
{
    uint32_t count = 0, largest = 0;

    for (uint32_t class = 0; class < ESPL__SIZE_CLASSES; ++class) {
        const bool is_marked = (forest->free_bits[class / 64] >> (class % 64) & 1) != 0;

        if (is_marked != (forest->free_heads[class] != ESPL__NO_SLOT)) {
            return SLOTS;
        }
        count += is_marked ? count_class(class, &largest) : 0;
    }
    return count;
}

// The pool's books say what the model says.
static void is_right(void)
{
    uint32_t gaps = 0, free_slots = 0;
    bool are_marked = true;

    ck_assert_pstr_eq(espl__pool_broken_rule(forest), NULL);
    for (uint32_t slot = 0; slot < forest->end;) {
        uint32_t past = slot;

        while (past < forest->end && owner[past] == NOBODY) {
            past += 1;
        }
        if (past > slot) {
            are_marked = are_marked && forest->rank[slot] == past - slot &&
                         forest->rank[past - 1] == past - slot;
            gaps += 1;
            free_slots += past - slot;
        }
        slot = past + (past < forest->end ? forest->runs[owner[past]].capacity : 0);
    }
    ck_assert(are_marked);
    ck_assert_uint_eq(free_slots, forest->free_slots);
    ck_assert_uint_eq(count_filed(), gaps);
    if (forest->end != 0) {
        ck_assert_uint_ne(owner[forest->end - 1], NOBODY); // the end shrinks
    }
}

static uint32_t random_size(uint64_t *random)
{
    if (test_one_in(random, 10)) {
        return 1 + test_below(random, 120);
    }
    return 1 + test_below(random, test_one_in(random, 2) ? 2 : 20);
}

START_TEST(ranges_taken_and_given_at_random_never_overlap)
{
    const size_t operations = test_scaled(120000);
    uint64_t random = 1;
    uint32_t wanted = 100;

    for (size_t i = 0; i < operations; ++i) {
        // The tide comes and goes, down to nothing.
        if (i % 2000 == 0) {
            wanted = test_below(&random, 140);
        }
        const bool grows =
            living_count < wanted ? !test_one_in(&random, 4) : test_one_in(&random, 4);
        if (living_count == 0 || (grows && living_count < 140 && forest->end < SLOTS - 120)) {
            (void)take(random_size(&random));
        } else {
            give(test_below(&random, living_count));
        }
        is_right();
    }
}
END_TEST

START_TEST(steady_churn_does_not_move_the_high_water_mark)
{
    const size_t steps = test_scaled(100000);
    uint64_t random = 2;

    for (uint32_t i = 0; i < 150; ++i) {
        (void)take(random_size(&random));
    }
    const uint32_t mark = forest->end;

    // Each run that goes is followed by one of the same size.
    for (size_t i = 0; i < steps; ++i) {
        const uint32_t at = test_below(&random, living_count);
        const uint32_t count = forest->runs[living[at]].capacity;

        give(at);
        (void)take(count);
        ck_assert_uint_le(forest->end, mark);
    }
    is_right();
}
END_TEST

START_TEST(churn_that_takes_before_it_gives_stays_below_twice_what_lives)
{
    enum { BATCH = 10 };
    const size_t frames = test_scaled(20000);
    uint64_t random = 3;
    uint32_t total = 0;

    for (uint32_t i = 0; i < 150; ++i) {
        const uint32_t count = random_size(&random);

        (void)take(count);
        total += count;
    }
    // The way of a playback: new runs have their places before the old ones go.
    for (size_t frame = 0; frame < frames; ++frame) {
        uint32_t old[BATCH];

        for (uint32_t i = 0; i < BATCH; ++i) {
            old[i] = living[test_below(&random, 15) * BATCH + i]; // all different
            (void)take(forest->runs[old[i]].capacity);
        }
        for (uint32_t i = 0; i < BATCH; ++i) {
            give_run(old[i]);
        }
        ck_assert_uint_le(forest->end, 2 * total);
    }
    is_right();
}
END_TEST

START_TEST(end_shrinks_past_free_ranges_before_it)
{
    const uint32_t a = take(10), b = take(20), c = take(30);

    give_run(b);
    ck_assert_uint_eq(forest->end, 60);
    give_run(c);
    ck_assert_uint_eq(forest->end, 10);
    ck_assert_uint_eq(forest->free_slots, 0);
    is_right();
    give_run(a);
    ck_assert_uint_eq(forest->end, 0);
}
END_TEST

START_TEST(free_ranges_merge_with_both_neighbours)
{
    uint32_t run[5];

    for (uint32_t i = 0; i < 5; ++i) {
        run[i] = take(10 + i);
    }
    give_run(run[1]);
    give_run(run[3]);
    ck_assert_uint_eq(count_filed(), 2);
    give_run(run[2]);
    ck_assert_uint_eq(count_filed(), 1);
    ck_assert_uint_eq(forest->rank[10], 11 + 12 + 13);
    is_right();
}
END_TEST

START_TEST(small_range_goes_where_it_fits_exactly)
{
    uint32_t run[16], base[16];

    for (uint32_t size = 1; size < 16; ++size) {
        run[size] = take(size);
        base[size] = forest->runs[run[size]].base;
        (void)take(1); // keeps neighbours apart
    }
    for (uint32_t size = 1; size < 16; ++size) {
        give_run(run[size]);
    }
    for (uint32_t size = 15; size > 0; --size) {
        ck_assert_uint_eq(base_taken(size), base[size]);
    }
    is_right();
}
END_TEST

START_TEST(last_range_given_is_the_first_taken_again)
{
    uint32_t run[3], base[3];

    for (int i = 0; i < 3; ++i) {
        run[i] = take(8);
        base[i] = forest->runs[run[i]].base;
        (void)take(1);
    }
    give_run(run[1]);
    give_run(run[2]);
    give_run(run[0]);
    ck_assert_uint_eq(base_taken(8), base[0]);
    ck_assert_uint_eq(base_taken(8), base[2]);
    ck_assert_uint_eq(base_taken(8), base[1]);
}
END_TEST

START_TEST(rest_of_a_larger_range_stays_free)
{
    const uint32_t run = take(100);

    (void)take(1);
    give_run(run);
    ck_assert_uint_eq(base_taken(30), 0);
    ck_assert_uint_eq(forest->free_slots, 70);
    ck_assert_uint_eq(forest->rank[30], 70);
    is_right();
}
END_TEST

START_TEST(range_of_every_size_is_filed_and_found)
{
    for (uint32_t size = 1; size < 1500; ++size) {
        const uint32_t run = take(size);
        const uint32_t behind = take(1);

        give_run(run);
        is_right();
        // A class holds ranges of up to an eighth more; what is that much smaller fits for certain.
        const uint32_t fits = size < 16 ? size : size - size / 8;
        const uint32_t again = take(fits);

        ck_assert_uint_eq(forest->runs[again].base, 0);
        give_run(again);
        give_run(behind);
        ck_assert_uint_eq(forest->end, 0);
    }
}
END_TEST

// --- Headers ---

START_TEST(headers_are_used_again_the_last_released_first)
{
    const uint32_t a = take(1), b = take(1), c = take(1);

    give_run(a);
    give_run(c);
    give_run(b);
    ck_assert_uint_eq(take(1), b);
    ck_assert_uint_eq(take(1), c);
    ck_assert_uint_eq(take(1), a);
    ck_assert_uint_eq(forest->run_end, 3);
    ck_assert_uint_eq(take(1), 3);
}
END_TEST

START_TEST(header_taken_again_is_blank)
{
    const uint32_t run = take(7);

    espl__run_mark_unsettled(forest, run);
    forest->runs[run].flags |= ESPL__RUN_GENERAL;
    forest->runs[run].ghosts = 3;
    give_run(run);
    ck_assert_uint_eq(forest->runs[run].size, 0);
    ck_assert_uint_eq(espl__run_take(forest), run);
    const espl__run blank = {.next = ESPL__NO_RUN, .previous = ESPL__NO_RUN};
    ck_assert_uint_eq(forest->runs[run].base, blank.base);
    ck_assert_uint_eq(forest->runs[run].capacity, 0);
    ck_assert_uint_eq(forest->runs[run].flags, 0);
    ck_assert_uint_eq(forest->runs[run].ghosts, 0);
    ck_assert_uint_eq(forest->runs[run].next, ESPL__NO_RUN);
    espl__run_release(forest, run); // without slots
}
END_TEST

START_TEST(release_gives_side_arrays_back)
{
    for (uint32_t keeps = 0; keeps < 2; ++keeps) {
        const uint32_t run = take(9);
        const size_t bytes = g.under.bytes;

        forest->runs[run].side = espl__side_make(&g.heap, 9, keeps != 0);
        ck_assert_uint_gt(g.under.bytes, bytes);
        give_run(run);
        ck_assert_uint_eq(g.under.bytes, bytes);
    }
}
END_TEST

START_TEST(solo_is_a_sound_run_of_one)
{
    for (uint32_t i = 0; i < 100; ++i) {
        ck_assert_int_eq(espl__forest_reserve(forest, 1, 1), ESPL_OK);
        const uint32_t slot = espl__solo_make(forest, i, i % 3 != 0);
        const espl_pose identity = espl__pose_identity();

        ck_assert_uint_eq(forest->entity[slot], i);
        ck_assert(grove_same(&forest->local[slot], &identity));
        ck_assert(grove_same(&forest->world[slot], &identity));
        ck_assert_int_eq(espl__slot_is(forest, slot, ESPL__SLOT_PASS), i % 3 == 0);
        ck_assert_uint_eq(espl__parent_slot(forest, slot), ESPL__NO_SLOT);
        grove_is_sound(&g);
        if (i % 4 == 0) {
            espl__run_release(forest, forest->run[slot]);
            grove_is_sound(&g);
        }
    }
    for (uint32_t run = 0; run < forest->run_end; ++run) {
        if (forest->runs[run].size != 0) {
            espl__run_release(forest, run);
        }
    }
}
END_TEST

// --- Runs that want a purge ---

static bool marked[RUNS];

static void list_is_right(void)
{
    uint32_t count = 0, expected = 0, previous = ESPL__NO_RUN;

    for (uint32_t run = forest->unsettled; run != ESPL__NO_RUN; run = forest->runs[run].next) {
        ck_assert(marked[run]);
        ck_assert_uint_eq(forest->runs[run].previous, previous);
        previous = run;
        count += 1;
        ck_assert_uint_le(count, RUNS);
    }
    for (uint32_t i = 0; i < living_count; ++i) {
        const bool is_unsettled = (forest->runs[living[i]].flags & ESPL__RUN_UNSETTLED) != 0;

        ck_assert_int_eq(is_unsettled, marked[living[i]]);
        ck_assert(is_unsettled || (forest->runs[living[i]].next == ESPL__NO_RUN &&
                                   forest->runs[living[i]].previous == ESPL__NO_RUN));
        expected += is_unsettled;
    }
    ck_assert_uint_eq(count, expected);
}

START_TEST(unsettled_runs_stand_in_one_list)
{
    uint64_t random = 3;

    memset(marked, 0, sizeof marked);
    for (size_t i = 0; i < test_scaled(20000); ++i) {
        const uint32_t at = test_below(&random, living_count);

        switch (test_below(&random, living_count == 0 ? 1 : 5)) {
        case 0:
            if (living_count < 40) {
                marked[take(1)] = false;
            }
            break;
        case 1:
            marked[living[at]] = false;
            give(at); // a released run is in no list
            break;
        case 2:
        case 3:
            espl__run_mark_unsettled(forest, living[at]);
            marked[living[at]] = true;
            break;
        default:
            espl__run_unmark_unsettled(forest, living[at]);
            marked[living[at]] = false;
            break;
        }
        list_is_right();
    }
}
END_TEST

START_TEST(marking_twice_is_marking_once)
{
    const uint32_t a = take(1), b = take(1);

    espl__run_mark_unsettled(forest, a);
    espl__run_mark_unsettled(forest, b);
    espl__run_mark_unsettled(forest, a);
    ck_assert_uint_eq(forest->unsettled, b);
    ck_assert_uint_eq(forest->runs[b].next, a);
    ck_assert_uint_eq(forest->runs[a].next, ESPL__NO_RUN);
    espl__run_unmark_unsettled(forest, b);
    espl__run_unmark_unsettled(forest, b);
    ck_assert_uint_eq(forest->unsettled, a);
}
END_TEST

// --- Memory ---

// A few hierarchies with gaps between them, extras, and inherit flags.
static void plant_some(void)
{
    uint32_t parent[40], run[6];
    uint8_t inherit[40];
    uint64_t random = 4;

    for (uint32_t i = 0; i < 6; ++i) {
        grove_random_parents(parent, 40, 3, &random);
        grove_random_inherit(inherit, 40, 2, &random);
        run[i] = grove_plant(&g, &(grove_plan){.parent = parent,
                                               .size = 10 + i * 5,
                                               .inherit = i >= 4 ? inherit : NULL,
                                               .spare = i,
                                               .seed = i,
                                               .is_shuffled = i % 2 == 0,
                                               .has_extras = i == 3});
    }
    espl__run_release(forest, run[1]);
    espl__run_release(forest, run[4]);
    espl__run_mark_unsettled(forest, run[2]);
}

START_TEST(prepaid_room_is_the_most_that_was_asked_for)
{
    ck_assert_int_eq(espl__forest_prepay(forest, 200, 100), ESPL_OK);
    ck_assert_uint_ge(forest->capacity, 200);
    ck_assert_uint_ge(forest->run_capacity, 100);
    ck_assert_int_eq(espl__forest_prepay(forest, 10, 300), ESPL_OK);
    ck_assert_uint_eq(forest->floor, 200);
    ck_assert_uint_eq(forest->run_floor, 300);
}
END_TEST

START_TEST(room_that_could_not_be_prepaid_is_not_kept)
{
    ck_assert_int_eq(espl__forest_prepay(forest, 200, 100), ESPL_OK);
    // No slots, then no headers; then more than there may be.
    for (size_t fail_at = 1; fail_at <= 2; ++fail_at) {
        test_heap_arm(&g.under, fail_at, true);
        ck_assert_int_eq(espl__forest_prepay(forest, 2000, 1000), ESPL_ERR_NO_MEMORY);
        ck_assert_uint_eq(g.under.failures, 1);
    }
    test_heap_arm(&g.under, 0, false);
    ck_assert_int_eq(espl__forest_prepay(forest, SIZE_MAX, 0), ESPL_ERR_LIMIT);
    ck_assert_uint_eq(g.under.calls, 0);
    ck_assert_uint_eq(forest->floor, 200);
    ck_assert_uint_eq(forest->run_floor, 100);
    grove_is_sound(&g);
}
END_TEST

static void *refuse(void *asked, size_t size, size_t alignment)
{
    (void)alignment;
    *(size_t *)asked = size;
    return NULL;
}

static void release_nothing(void *asked, void *block, size_t size, size_t alignment)
{
    (void)asked, (void)block, (void)size, (void)alignment;
    ck_abort_msg("nothing was taken");
}

// As if there were memory for so many: what is asked for is seen, and not given.
START_TEST(growth_ends_where_indices_do)
{
    const uint32_t many = 1500000000, limit = UINT32_MAX / 2;
    size_t asked = 0;
    const espl_allocator allocator = {&asked, refuse, release_nothing};
    espl__heap heap;
    espl__forest full;

    if (sizeof(size_t) < 8) {
        return; // a machine that counts fewer bytes
    }
    espl__heap_init(&heap, &allocator);
    espl__forest_init(&full, &heap);
    full.run_capacity = full.run_end = many;
    ck_assert_int_eq(espl__forest_reserve(&full, 0, 1), ESPL_ERR_NO_MEMORY);
    ck_assert_uint_eq(asked, limit * sizeof *full.runs);
    full.run_capacity = full.run_end = 0;
    full.capacity = full.end = many;
    ck_assert_int_eq(espl__forest_reserve(&full, 1, 0), ESPL_ERR_NO_MEMORY);
    ck_assert_uint_eq(asked / limit, 2 * sizeof(espl_pose) + 6 * sizeof(uint32_t) + 1);
}
END_TEST

static void release_all(void)
{
    for (uint32_t run = 0; run < forest->run_end; ++run) {
        if (forest->runs[run].size != 0) {
            espl__run_release(forest, run);
        }
    }
}

START_TEST(growth_keeps_everything)
{
    plant_some();
    const uint64_t hash = grove_hash(&g);

    for (size_t slots = 100; slots < 100000; slots *= 3) {
        ck_assert_int_eq(espl__forest_reserve(forest, slots, slots / 5), ESPL_OK);
        ck_assert_uint_ge(forest->capacity, forest->end + slots);
        ck_assert_uint_ge(forest->run_capacity, forest->run_end + slots / 5);
        ck_assert_uint_eq(grove_hash(&g), hash);
        grove_is_sound(&g);
    }
    release_all();
}
END_TEST

START_TEST(reserve_fails_cleanly_wherever_memory_runs_out)
{
    size_t points = 0;

    plant_some();
    const uint64_t hash = grove_hash(&g);
    for (int fails_after = 0; fails_after < 2; ++fails_after) {
        // As much more each time: slots and headers have to grow, both.
        const size_t slots = forest->capacity + 1, runs = forest->run_capacity + 1;
        espl_status status = ESPL_ERR_NO_MEMORY;

        for (size_t fail_at = 1; status != ESPL_OK; ++fail_at) {
            test_heap_arm(&g.under, fail_at, fails_after != 0);
            status = espl__forest_reserve(forest, slots, runs);
            ck_assert_int_eq(status, g.under.failures == 0 ? ESPL_OK : ESPL_ERR_NO_MEMORY);
            points += g.under.failures;
            ck_assert_uint_eq(grove_hash(&g), hash);
            grove_is_sound(&g);
        }
        ck_assert_uint_ge(forest->capacity, forest->end + slots);
        ck_assert_uint_ge(forest->run_capacity, forest->run_end + runs);
    }
    ck_assert_uint_eq(points, 4);
    release_all();
}
END_TEST

START_TEST(counts_past_the_limit_are_refused_before_the_allocator_is_asked)
{
    const size_t limit = UINT32_MAX / 2;

    (void)take(3);
    test_heap_arm(&g.under, 0, false);
    ck_assert_int_eq(espl__forest_reserve(forest, limit - 2, 1), ESPL_ERR_LIMIT);
    ck_assert_int_eq(espl__forest_reserve(forest, 1, limit), ESPL_ERR_LIMIT);
    ck_assert_int_eq(espl__forest_reserve(forest, SIZE_MAX, 1), ESPL_ERR_LIMIT);
    ck_assert_int_eq(espl__forest_reserve(forest, 1, SIZE_MAX), ESPL_ERR_LIMIT);
    ck_assert_uint_eq(g.under.calls, 0);
    // The largest count is no matter of limits but of memory.
    test_heap_arm(&g.under, 1, true);
    ck_assert_int_eq(espl__forest_reserve(forest, limit - 3, 1), ESPL_ERR_NO_MEMORY);
}
END_TEST

// Whatever a slot takes between 64 and 128 bytes, one of these counts of slots takes a size_t just
// once round.
START_TEST(slots_of_more_bytes_than_can_be_counted_are_refused)
{
    (void)take(3);
    test_heap_arm(&g.under, 0, false);
    for (size_t bytes = 64; bytes <= 128; ++bytes) {
        ck_assert_int_lt(espl__forest_reserve(forest, SIZE_MAX / bytes + 1, 1), 0);
    }
    ck_assert_uint_eq(g.under.calls, 0);
}
END_TEST

#ifdef ESPL_HARD_MOVE
START_TEST(every_reserve_moves_slots_and_headers)
{
    plant_some();
    const uint64_t hash = grove_hash(&g);

    ck_assert_int_eq(espl__forest_reserve(forest, 1000, 1000), ESPL_OK);
    for (int i = 0; i < 10; ++i) {
        const void *const block = forest->block, *const runs = forest->runs;
        const uint32_t capacity = forest->capacity, run_capacity = forest->run_capacity;

        ck_assert_int_eq(espl__forest_reserve(forest, 1, 1), ESPL_OK);
        ck_assert_ptr_ne(forest->block, block);
        ck_assert_ptr_ne(forest->runs, runs);
        ck_assert_uint_eq(forest->capacity, capacity);
        ck_assert_uint_eq(forest->run_capacity, run_capacity);
        ck_assert_uint_eq(grove_hash(&g), hash);
        grove_is_sound(&g);
    }
    release_all();
}
END_TEST
#else
START_TEST(reserve_of_room_that_is_there_asks_for_nothing)
{
    plant_some();
    ck_assert_int_eq(espl__forest_reserve(forest, 1000, 1000), ESPL_OK);
    test_heap_arm(&g.under, 1, true);
    for (int i = 0; i < 10; ++i) {
        ck_assert_int_eq(espl__forest_reserve(forest, 1000, 1000), ESPL_OK);
    }
    ck_assert_uint_eq(g.under.calls, 0);
    release_all();
}
END_TEST
#endif

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("tree/pool");
    TCase *const ranges = tcase_create("ranges");
    TCase *const headers = tcase_create("headers");
    TCase *const memory = tcase_create("memory");

    tcase_add_checked_fixture(ranges, set_up, tear_down);
    tcase_add_test(ranges, ranges_taken_and_given_at_random_never_overlap);
    tcase_add_test(ranges, steady_churn_does_not_move_the_high_water_mark);
    tcase_add_test(ranges, churn_that_takes_before_it_gives_stays_below_twice_what_lives);
    tcase_add_test(ranges, end_shrinks_past_free_ranges_before_it);
    tcase_add_test(ranges, free_ranges_merge_with_both_neighbours);
    tcase_add_test(ranges, small_range_goes_where_it_fits_exactly);
    tcase_add_test(ranges, last_range_given_is_the_first_taken_again);
    tcase_add_test(ranges, rest_of_a_larger_range_stays_free);
    tcase_add_test(ranges, range_of_every_size_is_filed_and_found);
    suite_add_tcase(suite, ranges);

    tcase_add_checked_fixture(headers, set_up, tear_down);
    tcase_add_test(headers, headers_are_used_again_the_last_released_first);
    tcase_add_test(headers, header_taken_again_is_blank);
    tcase_add_test(headers, release_gives_side_arrays_back);
    tcase_add_test(headers, solo_is_a_sound_run_of_one);
    tcase_add_test(headers, unsettled_runs_stand_in_one_list);
    tcase_add_test(headers, marking_twice_is_marking_once);
    suite_add_tcase(suite, headers);

    tcase_add_checked_fixture(memory, set_up, tear_down);
    tcase_add_test(memory, growth_keeps_everything);
    tcase_add_test(memory, reserve_fails_cleanly_wherever_memory_runs_out);
    tcase_add_test(memory, counts_past_the_limit_are_refused_before_the_allocator_is_asked);
    tcase_add_test(memory, slots_of_more_bytes_than_can_be_counted_are_refused);
    tcase_add_test(memory, prepaid_room_is_the_most_that_was_asked_for);
    tcase_add_test(memory, room_that_could_not_be_prepaid_is_not_kept);
    tcase_add_test(memory, growth_ends_where_indices_do);
#ifdef ESPL_HARD_MOVE
    tcase_add_test(memory, every_reserve_moves_slots_and_headers);
#else
    tcase_add_test(memory, reserve_of_room_that_is_there_asks_for_nothing);
#endif
    suite_add_tcase(suite, memory);
    return suite;
}

RUN_SUITE(make_suite)
