// SPDX-License-Identifier: MIT
// Batches whose entries are sorted by hierarchy, or nearly so: for any arrangement of the entries,
// worlds and counts are those of single writes.
#include "tests/asked.h"
#include "tests/forms.h"
#include "tests/fixture.h"
#include "tests/inside.h"
#include "tests/runner.h"

#include <math.h>
#include <stdlib.h>

enum { TREES = 6, FAN = 3, MOST = TREES * 900 * 6 / 5 + 8 };

typedef struct arrangement {
    uint32_t nodes[MOST];
    uint32_t count;
    uint32_t far[2]; // nodes that are out of range below each other; 0: none
} arrangement;

typedef struct fixture {
    test_world at_once, one_by_one;
    espl_entity *here, *there; // by number: tree by tree, each breadth-first
    uint32_t size;             // of a tree
} fixture;

static fixture b;

static void begin_with(uint32_t trees, const espl_executor *executor)
{
    b.size = test_fitting((size_t)TREES * 900, 1) / TREES;
    const uint32_t count = TREES * b.size;

    test_world_begin(&b.at_once, 0, executor);
    test_world_begin(&b.one_by_one, 0, NULL);
    b.here = make_trees(b.at_once.world, trees, count / trees, FAN);
    b.there = make_trees(b.one_by_one.world, trees, count / trees, FAN);
}

static void set_up(void)
{
    begin_with(TREES, NULL);
}

static void tear_down(void)
{
    free(b.here);
    free(b.there);
    test_world_end(&b.at_once);
    test_world_end(&b.one_by_one);
}

// --- Arrangements ---

static void add(arrangement *a, uint32_t begin, uint32_t end)
{
    for (uint32_t i = begin; i < end; ++i) {
        a->nodes[a->count++] = i;
    }
}

// Depth first within each tree, as whoever goes through hierarchies by their links does.
static void take_trees_by_links(arrangement *a)
{
    uint32_t left[64 * FAN];

    for (uint32_t tree = 0; tree < TREES; ++tree) {
        uint32_t depth = 0;

        left[depth++] = 0;
        while (depth > 0) {
            const uint32_t node = left[--depth];

            add(a, tree * b.size + node, tree * b.size + node + 1);
            for (uint32_t i = FAN; i > 0; --i) {
                const uint32_t child = node * FAN + i;

                if (child < b.size) {
                    left[depth++] = child;
                }
            }
        }
    }
}

typedef enum arranged {
    ALL,
    TREES_IN_ANOTHER_ORDER,
    BACK_TO_A_TREE, // whose later half comes last
    STEP_BACK,      // at the end, to the last root
    SOME,
    MANY_TWICE,
    LAST_NODES_FIRST,
    TREES_BY_LINKS,
    SHUFFLED, // within each tree in an order of its own, some left out
    REPEATED, // by links, and some nodes twice, far from each other
    ARRANGEMENTS
} arranged;

// The i-th node, and how often it is an entry.
static uint32_t arranged_node(arranged how, uint32_t i, uint32_t *times)
{
    const uint32_t tree = i / b.size, rank = i % b.size, half = b.size / 2, all = TREES * b.size;

    *times = 1;
    switch (how) {
    case TREES_IN_ANOTHER_ORDER:
        return (tree * 5 + 3) % TREES * b.size + rank;
    case BACK_TO_A_TREE:
        return i < half ? i : i < half + all - b.size ? i - half + b.size : i - (all - b.size);
    case SOME:
        *times = i * 7 % 5 < 2;
        return i;
    case MANY_TWICE:
        *times = i % 5 == 1 ? 2 : 1;
        return i;
    case LAST_NODES_FIRST:
        return all - 1 - i;
    case SHUFFLED:
        *times = b.size % 7 != 0 && ((rank * 7 + tree) % b.size + tree) % 3 != 0;
        return tree * b.size + (rank * 7 + tree) % b.size;
    default:
        return i;
    }
}

static void arrange(arrangement *a, arranged how)
{
    const uint32_t last = (TREES - 1) * b.size;

    a->count = 0;
    if (how == TREES_BY_LINKS || how == REPEATED) {
        take_trees_by_links(a);
    } else {
        for (uint32_t i = 0; i < TREES * b.size; ++i) {
            uint32_t times;
            const uint32_t node = arranged_node(how, i, &times);

            for (; times > 0 && a->count < MOST; --times) {
                add(a, node, node + 1);
            }
        }
    }
    if (how == STEP_BACK) {
        add(a, last, last + 1);
    }
    for (uint32_t i = 0; how == REPEATED && i < b.size && a->count < MOST; i += 11) {
        add(a, last + i, last + i + 1);
    }
}

// --- Writing ---

static void value_of(float value[3], uint32_t i, int round)
{
    value[0] = (float)i + 0.5f;
    value[1] = (float)(round + 1) * 0.25f;
    value[2] = -(float)(i % 16);
}

static void entry_value(float value[3], const arrangement *a, uint32_t i, int round)
{
    const uint32_t node = a->nodes[i];

    value_of(value, i, round);
    if (a->far[0] != 0 && (node == a->far[0] || node == a->far[1])) {
        value[0] = 3e38f;
    }
}

static espl_status write_typed(const arrangement *a, int round, espl_write_report *report)
{
    static espl_entity entities[MOST];
    static float values[MOST][3];

    for (uint32_t i = 0; i < a->count; ++i) {
        entities[i] = b.here[a->nodes[i]];
        entry_value(values[i], a, i, round);
    }
    return espl_write_strided(b.at_once.world, ESPL_WRITE_LOCAL_POSITION, entities, a->count,
                              sizeof(espl_entity), (const float(*)[3])values, sizeof(float[3]),
                              report);
}

static espl_status write_any(const arrangement *a, int round, espl_write_report *report)
{
    static espl_write writes[MOST];

    for (uint32_t i = 0; i < a->count; ++i) {
        float value[3];

        entry_value(value, a, i, round);
        writes[i] = write_vector(b.here[a->nodes[i]], ESPL_WRITE_LOCAL_POSITION, value[0], value[1],
                                 value[2]);
    }
    return espl_write_batch(b.at_once.world, writes, a->count, report);
}

static int compare_keys(const void *left, const void *right)
{
    const uint64_t x = *(const uint64_t *)left, y = *(const uint64_t *)right;

    return x < y ? -1 : x > y;
}

// Parents first and, of a node, the entry that comes first.
static void write_one_by_one(const arrangement *a, int round)
{
    static uint64_t keys[MOST];

    for (uint32_t i = 0; i < a->count; ++i) {
        keys[i] = (uint64_t)a->nodes[i] << 32 | i;
    }
    qsort(keys, a->count, sizeof *keys, compare_keys);
    for (uint32_t at = 0; at < a->count; ++at) {
        const uint32_t i = (uint32_t)keys[at];
        float value[3];

        entry_value(value, a, i, round);
        const espl_status status =
            espl_set_local_position(b.one_by_one.world, b.there[a->nodes[i]], value);
        ck_assert(status == ESPL_OK || status == ESPL_OVERFLOW);
    }
}

static void worlds_are_the_same(void)
{
    for (uint32_t i = 0; i < TREES * b.size; ++i) {
        const espl_transform here = test_world_of(b.at_once.world, b.here[i]);
        const espl_transform there = test_world_of(b.one_by_one.world, b.there[i]);

        ck_assert_msg(test_same(&here, &there), "node %u", i);
    }
}

static void follow(const arrangement *a, int round, bool is_typed)
{
    const uint64_t before = test_stats(b.at_once.world).writes;
    const uint64_t other = test_stats(b.one_by_one.world).writes;
    const bool is_finite = a->far[0] == 0 && test_count_overflowed(b.at_once.world) == 0;
    espl_write_report report;
    const espl_status status =
        is_typed ? write_typed(a, round, &report) : write_any(a, round, &report);
    write_one_by_one(a, round);
    const size_t overflowed = test_count_overflowed(b.one_by_one.world);

    ck_status(status, report.has_overflowed ? ESPL_OVERFLOW : ESPL_OK);
    ck_assert_uint_eq(report.refused, 0);
    ck_assert_uint_eq(report.applied, a->count);
    ck_assert(report.has_overflowed || overflowed == 0);
    ck_assert(!report.has_overflowed || !is_finite);
    ck_assert_uint_eq(test_count_overflowed(b.at_once.world), overflowed);
    ck_assert_uint_eq(test_stats(b.at_once.world).writes - before,
                      test_stats(b.one_by_one.world).writes - other);
    worlds_are_the_same();
}

static void follow_all(void)
{
    static arrangement a;

    for (int k = 0; k < 2 * ARRANGEMENTS; ++k) {
        arrange(&a, (arranged)(k / 2));
        follow(&a, k, k % 2 == 0);
    }
}

FIXTURE(set_up, tear_down);

TEST(every_arrangement_of_entries_comes_to_what_they_do_one_by_one)
{
    follow_all();
}

// --- Hierarchies at which one job ends and the next one begins ---

// Entries of the second tree in two parts, the cut between them in the middle of all entries.
typedef struct halves {
    bool is_front_backward, is_back_backward; // in which order each comes
    bool has_front_twice, has_back_twice;     // its first node
    bool is_swapped;                          // the later nodes come first
    bool has_cut_twice;                       // the node at the cut is the last and the first
} halves;

static void add_half(arrangement *a, uint32_t begin, uint32_t end, bool is_backward, bool is_twice)
{
    for (uint32_t i = begin; i < end; ++i) {
        const uint32_t node = is_backward ? end - 1 - (i - begin) : i;

        add(a, node, node + 1);
        if (is_twice && i == begin + 1) {
            add(a, node, node + 1);
        }
    }
}

static void add_halves(arrangement *a, const halves *h)
{
    const uint32_t begin = b.size, middle = begin + b.size / 5, end = 2 * b.size;
    const uint32_t overlap = h->has_cut_twice ? 1 : 0;

    if (h->is_swapped) {
        add_half(a, middle, end, h->is_front_backward, h->has_front_twice);
    } else {
        add_half(a, begin, middle + overlap, h->is_front_backward, h->has_front_twice);
    }
    // Two jobs, of which the second begins here: as many entries behind it as before.
    const uint32_t cut = a->count;

    if (h->is_swapped) {
        add_half(a, begin, middle, h->is_back_backward, h->has_back_twice);
    } else {
        add_half(a, middle, end, h->is_back_backward, h->has_back_twice);
    }
    for (uint32_t i = 2 * b.size; a->count < 2 * cut && i < TREES * b.size; ++i) {
        add(a, i, i + 1);
    }
    ck_assert_uint_eq(a->count, 2 * cut);
}

// The first node that comes twice on end, or else any that comes.
static uint32_t twice_of(const arrangement *a)
{
    for (uint32_t i = 1; i < a->count; ++i) {
        if (a->nodes[i] == a->nodes[i - 1]) {
            return a->nodes[i];
        }
    }
    return a->nodes[a->count / 2];
}

TEST(hierarchy_that_two_jobs_share_comes_to_what_it_does_one_by_one)
{
    static const halves all[] = {
        {.has_front_twice = true},
        {.has_back_twice = true},
        {.has_cut_twice = true},
        {.is_swapped = true},
        {.is_back_backward = true},
        {.is_front_backward = true},
        {.is_front_backward = true, .is_back_backward = true},
        {.is_swapped = true, .is_front_backward = true, .is_back_backward = true},
        {.is_swapped = true, .has_front_twice = true},
        {.is_swapped = true, .has_back_twice = true},
        {.is_front_backward = true, .has_back_twice = true},
        {.is_back_backward = true, .has_front_twice = true},
    };
    static arrangement a;

    for (int k = 0; k < 2 * (int)(sizeof all / sizeof *all); ++k) {
        a.count = 0;
        a.far[0] = 0;
        add(&a, 0, b.size);
        add_halves(&a, &all[k / 2]);
        follow(&a, k, k % 2 == 0);
        // What comes twice overflows twice.
        a.far[0] = twice_of(&a);
        a.far[1] = b.size + (a.far[0] - b.size - 1) / FAN;
        follow(&a, k + 1, k % 2 == 0);
    }
}

// A hierarchy that is come back to is written once all the same, and so is one with repeats, but that
// its root is computed at each entry.
TEST(each_node_is_visited_once_however_entries_are_arranged)
{
    static arrangement a;

    for (int k = 0; k < ARRANGEMENTS; ++k) {
        arrange(&a, (arranged)k);
        const uint64_t before = test_stats(b.at_once.world).nodes_visited;
        ck_ok(write_typed(&a, k, NULL));
        const uint64_t visited = test_stats(b.at_once.world).nodes_visited - before;
        ck_assert_uint_le(visited, TREES * (b.size + 1));
    }
}

// Dense writes in no order are visited as often as in order, and the same worlds overflow.
static void write_in_and_out_of_order(float large)
{
    static arrangement a;
    static espl_entity entities[2][MOST];
    static float values[MOST][3];
    espl_write_report reports[2];

    a.count = 0;
    take_trees_by_links(&a);
    for (uint32_t i = 0; i < a.count; ++i) {
        const uint32_t in_order = i, by_links = a.nodes[i];

        entities[0][i] = b.there[in_order];
        entities[1][i] = b.here[by_links];
    }
    for (int k = 0; k < 2; ++k) {
        espl_world *const world = k == 0 ? b.one_by_one.world : b.at_once.world;
        const uint64_t before = test_stats(world).nodes_visited;

        for (uint32_t i = 0; i < a.count; ++i) {
            const uint32_t node = k == 0 ? i : a.nodes[i];

            value_of(values[i], node, large < 1e38f ? (int)large : 0);
            values[i][0] = node == 1 || node == 1 * FAN + 1 ? large : values[i][0];
        }
        const espl_status status = espl_write_strided(
            world, ESPL_WRITE_LOCAL_POSITION, entities[k], a.count, sizeof(espl_entity),
            (const float(*)[3])values, sizeof(float[3]), &reports[k]);
        ck_status(status, large > 1e38f ? ESPL_OVERFLOW : ESPL_OK);
        // All of it, by one sweep.
        ck_assert_uint_eq(test_stats(world).nodes_visited - before, TREES * b.size);
    }
    ck_assert_uint_eq(reports[0].applied, a.count);
    ck_assert_uint_eq(reports[1].applied, a.count);
    ck_assert_int_eq(reports[0].has_overflowed, reports[1].has_overflowed);
    ck_assert_uint_eq(test_count_overflowed(b.one_by_one.world),
                      test_count_overflowed(b.at_once.world));
    ck_assert_int_eq(test_count_overflowed(b.one_by_one.world) != 0, reports[0].has_overflowed);
    worlds_are_the_same();
    test_world_is_valid(b.at_once.world);
}

TEST(entries_by_links_come_to_what_they_do_by_rank)
{
    write_in_and_out_of_order(1);
    write_in_and_out_of_order(3e38f);
    write_in_and_out_of_order(2);
}

// One transform of each: it is as it should be, or is brought to unit length, or is large, or has a
// context that would be no number as a float; or it is refused.
static espl_transform odd_transform(uint32_t which, uint32_t i)
{
    espl_transform t = espl_transform_identity();

    t.position[0] = (float)i;
    switch (which) {
    case 1:
        t.rotation[1] = 2;
        break;
    case 2:
        t.position[2] = 3e38f;
        break;
    case 3:
        t.user_data = 0x7fc00000;
        break;
    case 4:
        t.stretch[2] = NAN;
        break;
    case 5:
        t.rotation[3] = 0;
        break;
    case 6:
        t.scale = INFINITY;
        break;
    default:
        break;
    }
    return t;
}

// Several values are looked at at once; none is taken for its neighbour's sake.
TEST(each_transform_is_judged_by_itself)
{
    static espl_entity entities[MOST];
    static espl_transform values[MOST];

    const uint32_t count = TREES * b.size;
    for (uint32_t which = 0; which < 7; ++which) {
        // Of a pose the stretch is not read. A whole transform with user data needs a side array.
        const espl_write_kind kind =
            which == 4 ? ESPL_WRITE_LOCAL_TRANSFORM : ESPL_WRITE_LOCAL_POSE;

        for (uint32_t every = 1; every < 8; ++every) {
            espl_write_report report;
            size_t refused = 0;

            for (uint32_t i = 0; i < count; ++i) {
                // Where some are large, their like beneath them would overflow.
                const bool is_odd = (which == 2 ? i % b.size == b.size - 1 : i % every == 0);
                entities[i] = b.here[i];
                values[i] = odd_transform(is_odd ? which : 0, i + which + every);
                const espl_status status =
                    espl_write_one(b.one_by_one.world, b.there[i], kind, &values[i]);
                refused += status != ESPL_OK ? 1 : 0;
                ck_status(status, is_odd && which > 3 ? ESPL_ERR_NOT_FINITE : ESPL_OK);
            }
            ck_status(espl_write_strided(b.at_once.world, kind, entities, count,
                                         sizeof(espl_entity), values, sizeof(espl_transform),
                                         &report),
                      refused != 0 ? ESPL_PARTLY : ESPL_OK);
            ck_assert_uint_eq(report.refused, refused);
            worlds_are_the_same();
        }
    }
}

// Four values are stored at once, and of each four one, at each place in turn, changes nothing: it has
// the bits of the local, or has them once it is brought to unit length.
TEST(each_entry_that_changes_nothing_is_left_out_alone)
{
    static espl_entity entities[MOST];
    static espl_transform values[MOST];

    const uint32_t count = TREES * b.size;
    for (uint32_t i = 0; i < count; ++i) {
        entities[i] = b.here[i];
        values[i] = espl_transform_identity();
    }
    for (uint32_t round = 0; round < 12; ++round) {
        const espl_write_kind kind =
            round % 2 == 0 ? ESPL_WRITE_LOCAL_POSE : ESPL_WRITE_LOCAL_TRANSFORM;
        uint32_t kept = 0;

        for (uint32_t i = 0; i < count; ++i) {
            const bool is_kept = round != 0 && i % 4 == round % 4;

            kept += is_kept ? 1 : 0;
            values[i].position[1] += is_kept ? 0.f : 1.f;
            values[i].rotation[3] = is_kept && round > 6 ? 2.f : 1.f;
            ck_ok(espl_write_one(b.one_by_one.world, b.there[i], kind, &values[i]));
        }
        const espl_world_stats before = test_stats(b.at_once.world);
        ck_ok(espl_write_strided(b.at_once.world, kind, entities, count, sizeof(espl_entity),
                                 values, sizeof(espl_transform), NULL));
        const espl_world_stats after = test_stats(b.at_once.world);
        ck_assert_uint_eq(after.writes_skipped - before.writes_skipped, kept);
        ck_assert_uint_eq(after.writes - before.writes, count - kept);
        worlds_are_the_same();
    }
}

// A handle that is none of a living entity, by one of its parts.
static espl_entity odd_handle(espl_entity entity, uint32_t which)
{
    switch (which) {
    case 0:
        entity.generation += 1;
        break;
    case 1:
        entity.generation -= 1;
        break;
    case 2:
        entity.index += UINT32_C(0x40000000);
        break;
    default:
        entity = (espl_entity){0};
        break;
    }
    return entity;
}

// Handles in order are looked up one behind the other: one that names no node does not keep its
// neighbours from being written.
TEST(each_handle_among_many_in_order_is_judged_by_itself)
{
    static espl_entity entities[MOST];
    static float values[MOST][3];

    const uint32_t count = TREES * b.size;
    for (uint32_t round = 0; round < 12; ++round) {
        const uint32_t odd = (round * 37 + round / 4) % count;
        espl_write_report report;

        for (uint32_t i = 0; i < count; ++i) {
            entities[i] = i == odd ? odd_handle(b.here[i], round % 4) : b.here[i];
            value_of(values[i], i, (int)round);
            if (i != odd) {
                ck_ok(espl_set_local_position(b.one_by_one.world, b.there[i], values[i]));
            }
        }
        const espl_status status =
            espl_set_local_position(b.at_once.world, entities[odd], values[odd]);
        ck_assert_int_lt(status, 0);
        ck_status(espl_write_strided(b.at_once.world, ESPL_WRITE_LOCAL_POSITION, entities, count,
                                     sizeof(espl_entity), (const float(*)[3])values,
                                     sizeof(float[3]), &report),
                  ESPL_PARTLY);
        ck_assert_uint_eq(report.refused, 1);
        ck_assert_uint_eq(report.first_refused, odd);
        ck_assert_int_eq(report.first_status, status);
        worlds_are_the_same();
    }
}

FIXTURE(NULL, NULL);

// Of a large tree locals and worlds are written in turns, block by block. What overflows in the first
// one is told, though all blocks behind it are in range.
TEST(a_large_tree_is_written_block_by_block)
{
    static espl_entity entities[MOST];
    static float values[MOST][3];

    begin_with(1, NULL);
    // One of the first leaves, below one that is large.
    const uint32_t count = TREES * b.size, far = count / FAN + 10, large = (far - 1) / FAN;
    ck_ok(espl_set_local_scale(b.at_once.world, b.here[large], 1e30f));
    ck_ok(espl_set_local_scale(b.one_by_one.world, b.there[large], 1e30f));
    for (int round = 0; round < 2; ++round) {
        espl_write_report report;

        for (uint32_t i = 0; i < count; ++i) {
            const bool is_far = round == 1 && i == far;

            entities[i] = b.here[i];
            value_of(values[i], i, round);
            values[i][0] = is_far ? 1e30f : values[i][0];
            ck_status(espl_set_local_position(b.one_by_one.world, b.there[i], values[i]),
                      is_far ? ESPL_OVERFLOW : ESPL_OK);
        }
        ck_status(espl_write_strided(b.at_once.world, ESPL_WRITE_LOCAL_POSITION, entities, count,
                                     sizeof(espl_entity), (const float(*)[3])values,
                                     sizeof(float[3]), &report),
                  round == 1 ? ESPL_OVERFLOW : ESPL_OK);
        ck_assert_uint_eq(report.refused, 0);
        // It may have children.
        const size_t overflowed = test_count_overflowed(b.at_once.world);
        ck_assert((overflowed != 0) == (round == 1));
        ck_assert_int_eq(report.has_overflowed, overflowed != 0);
        worlds_are_the_same();
        test_world_is_valid(b.at_once.world);
    }
    tear_down();
}

// The entries of a large tree are stored by several jobs: all entries of one node by the same job, whatever
// the order in which an executor runs them.
TEST_LOOP(the_jobs_of_a_large_tree_come_to_what_single_writes_do, TEST_IN_ORDER, TEST_SHUFFLED + 1)
{
    static espl_entity entities[MOST];
    static espl_transform values[MOST];
    test_executor busy = {.manner = (test_manner)_i, .workers = 4, .random = 3};
    const espl_executor executor = test_executor_of(&busy);

    begin_with(1, &executor);
    test_cut_jobs(b.at_once.world, 16);
    for (uint32_t round = 0; round < 3; ++round) {
        uint32_t count = 0;
        espl_write_report report;

        for (uint32_t i = 0; i < TREES * b.size; ++i) {
            // Of some nodes three entries, of which the last one prevails.
            for (uint32_t k = 0; k < (i % 13 == 3 ? 3u : 1u); ++k, ++count) {
                values[count] = espl_transform_identity();
                values[count].position[0] = round == 2 && i == 9 ? NAN : (float)(i + k * round);
                entities[count] = b.here[i];
                ck_status(espl_set_local_transform(b.one_by_one.world, b.there[i], &values[count]),
                          round == 2 && i == 9 ? ESPL_ERR_NOT_FINITE : ESPL_OK);
            }
        }
        const size_t calls = busy.calls;
        ck_status(espl_write_strided(b.at_once.world, ESPL_WRITE_LOCAL_TRANSFORM, entities, count,
                                     sizeof(espl_entity), values, sizeof(espl_transform), &report),
                  round == 2 ? ESPL_PARTLY : ESPL_OK);
        ck_assert_uint_eq(report.refused, round == 2 ? 1 : 0);
        ck_assert(TREES * b.size < 64 || busy.calls > calls);
        worlds_are_the_same();
    }
    tear_down();
}
