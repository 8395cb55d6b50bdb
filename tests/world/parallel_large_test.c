// SPDX-License-Identifier: MIT
// Worlds so large that rows are distributed by sets of chunks, or that all chunks share
// hierarchies. Two equal worlds, one of which is written by immediate calls in the documented
// order, get the same bits, and each hierarchy is written by one job.
#include "tests/asked.h"
#include "tests/runner.h"
#include "tests/world/parallel.h"

#include <stdlib.h>
#include <string.h>

enum { NODES = 24000, KINDS = 5 };

// How a forest is laid out, and what is asked of it.
typedef struct layout {
    const char *what;
    uint32_t tree;     // nodes of a hierarchy, at most
    uint32_t first;    // nodes of the first one
    bool is_even;      // all are of that size
    bool is_shuffled;  // members stand in rows in any order
    bool has_kinds;    // members are spread over archetypes
    espl_component of; // role that is asked for; 0: any
    size_t fewest_jobs, most_groups;
} layout;

static const layout layouts[] = {
    {"sets of three chunks", 4, 0, true, false, false, ESPL_MEMBER, 40, NODES / 128},
    {"hierarchies of many sizes", 30, 0, false, false, false, ESPL_MEMBER, 30, NODES},
    {"members in many archetypes", 9, 0, false, false, true, ESPL_MEMBER, 30, NODES},
    {"sets of a chunk of roots and one of their children", 2, 0, true, false, false, 0, 40,
     NODES / 128},
    {"rows in any order: all hang together", 12, 0, false, true, true, 0, 100, NODES},
    {"one hierarchy is half of all", 5, NODES / 2, false, false, true, 0, 30, NODES},
    {"roots and members: all hang together", 6, 0, false, false, false, 0, 100, NODES},
    {"few hierarchies", 3000, 0, false, true, false, ESPL_MEMBER, 8, 20},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

typedef struct land {
    test_world test;
    espl_world *world;
    espl_component kinds[KINDS];
    uint32_t *job;  // [NODES + 1] by index: of the row, plus 1
    uint32_t *seen; // [NODES + 1] by index: number of the row among those of its job
    uint32_t in_job[ESPL_PARALLEL_JOB_LIMIT];
} land;

static void *zeros(size_t count, size_t size)
{
    void *const block = calloc(count, size);

    ck_assert_ptr_nonnull(block);
    return block;
}

// Numbers of the nodes in the order they are made: parents are made before their children.
static void plan(const layout *l, uint32_t *parents, uint64_t *random)
{
    uint32_t root = 0, size = l->first != 0 ? l->first : l->tree;

    for (uint32_t i = 0; i < NODES; ++i) {
        if (i == root + size) {
            root = i;
            size = l->is_even ? l->tree : l->tree / 2 + 1 + test_below(random, l->tree / 2 + 1);
        }
        parents[i] = i == root ? NO_PARENT : root + test_below(random, i - root);
    }
}

// Members take their rows in the order in which they get a kind.
static void give_kinds(land *at, const layout *l, const espl_entity *made, uint64_t *random)
{
    uint32_t *const order = zeros(NODES, sizeof *order);

    for (uint32_t i = 0; i < NODES; ++i) {
        const uint32_t k = l->is_shuffled ? test_below(random, i + 1) : i;

        order[i] = order[k];
        order[k] = i;
    }
    for (uint32_t i = 0; i < NODES; ++i) {
        const espl_component kind = at->kinds[l->has_kinds ? order[i] % KINDS : 0];

        ck_ok(espl_add_component(at->world, made[order[i]], kind, NULL, 0));
    }
    free(order);
}

static void land_begin(land *at, const layout *l, uint64_t seed, const espl_executor *executor)
{
    static const char *const names[KINDS] = {"a", "b", "c", "d", "e"};
    uint32_t *const parents = zeros(NODES, sizeof *parents);
    uint64_t random = seed;

    memset(at, 0, sizeof *at);
    test_world_begin(&at->test, 9, executor);
    cut_small(at->test.world);
    at->world = at->test.world;
    for (size_t k = 0; k < KINDS; ++k) {
        ck_ok(espl_component_register(at->world, &(espl_component_def){.name = names[k]},
                                      &at->kinds[k]));
    }
    plan(l, parents, &random);
    espl_entity *const made = make_forest(at->world, parents, NODES);
    give_kinds(at, l, made, &random);
    at->job = zeros(NODES + 1, sizeof *at->job);
    at->seen = zeros(NODES + 1, sizeof *at->seen);
    free(made);
    free(parents);
}

static void land_end(land *at)
{
    free(at->job);
    free(at->seen);
    test_world_end(&at->test);
}

// A step that hangs on where the parent is now.
static void write_row(hand by, espl_entity entity)
{
    const espl_entity parent = espl_get_parent(by.world, entity);
    espl_write write = write_vector(entity, ESPL_WRITE_TRANSLATE_WORLD, 1, 0, 0.5f);
    float above[3] = {0};

    if (!espl_entity_is_null(parent)) {
        ck_ok(espl_get_world_position(by.world, parent, above));
        write.value.position[1] = above[0] * 0.125f;
    }
    ck_ok(hand_write(by, &write));
}

static void write_rows(espl_writer *writer, const espl_query *rows, void *context)
{
    land *const at = context;
    const uint32_t job = espl_writer_job(writer);

    for (size_t row = 0; row < rows->count; ++row) {
        const espl_entity entity = rows->entities[row];

        ck_assert_uint_eq(at->job[entity.index], 0);
        at->job[entity.index] = job + 1;
        at->seen[entity.index] = at->in_job[job]++;
        write_row((hand){writer, at->world}, entity);
    }
}

// Write the twin as the documentation has it, and look whether the jobs kept to that.
static size_t write_at_once(land *twin, const land *at, const espl_query_def *def, bool top_down)
{
    uint32_t last[ESPL_PARALLEL_JOB_LIMIT] = {0};
    espl_query query;
    size_t rows = 0;

    for (uint32_t rank = 0; top_down && rank < NODES; ++rank) {
        size_t here = 0;

        ck_ok(espl_query_begin(twin->world, def, &query));
        while (espl_query_next(&query)) {
            for (size_t row = 0; row < query.count; ++row) {
                const uint32_t own = test_rank(twin->world, query.entities[row]);

                here += own >= rank;
                if (own == rank) {
                    write_row((hand){NULL, twin->world}, query.entities[row]);
                    rows += 1;
                }
            }
        }
        if (here == 0) {
            return rows;
        }
    }
    if (top_down) {
        return rows;
    }
    ck_ok(espl_query_begin(twin->world, def, &query));
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count; ++row, ++rows) {
            const espl_entity entity = query.entities[row];
            const uint32_t job = at->job[entity.index] - 1;

            ck_assert_uint_eq(at->seen[entity.index], last[job]++);
            write_row((hand){NULL, twin->world}, entity);
        }
    }
    return rows;
}

static void demand_whole_hierarchies(const land *at, const espl_query_def *def)
{
    uint32_t *const of = zeros(NODES + 1, sizeof *of); // job of a root, by index
    espl_query query;

    ck_ok(espl_query_begin(at->world, def, &query));
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count; ++row) {
            const espl_entity entity = query.entities[row];
            uint32_t *const job = &of[espl_get_root(at->world, entity).index];

            *job = *job == 0 ? at->job[entity.index] : *job;
            ck_assert_uint_eq(at->job[entity.index], *job);
        }
    }
    free(of);
}

TEST_LOOP(large_worlds_are_written_as_at_once_and_hierarchy_by_hierarchy, 0, 2 * LAYOUTS)
{
    const layout *const l = &layouts[_i / 2];
    const bool top_down = _i % 2 == 1 && l->first == 0 && l->tree < 100;
    test_executor hostile = {.manner = TEST_SHUFFLED, .workers = 16, .random = 5};
    const espl_executor executor = test_executor_of(&hostile);
    const espl_query_def def = {.all = &l->of, .all_count = l->of != 0};
    espl_parallel_report report;
    land at, twin;

    // Where steps are slow or arrays always move, a third of the cases, or a ninth.
    const uint32_t stride = test_moves_always() ? 9 : test_stride(3);

    if ((uint32_t)_i % stride != 0 || test_lacks_room(NODES + 1, "large worlds")) {
        return;
    }
    land_begin(&at, l, 77, &executor);
    land_begin(&twin, l, 77, NULL);
    const espl_parallel_def write = {.query = &def,
                                     .function = write_rows,
                                     .context = &at,
                                     .flags = top_down ? ESPL_PARALLEL_TOP_DOWN : 0};
    ck_ok(espl_write_parallel(at.world, &write, &report));
    ck_assert_uint_eq(write_at_once(&twin, &at, &def, top_down), report.rows);
    demand_whole_hierarchies(&at, &def);
    ck_assert_msg(report.jobs >= l->fewest_jobs && report.groups >= report.jobs, "%s: %zu jobs",
                  l->what, report.jobs);
    ck_assert_msg(top_down || report.groups <= l->most_groups, "%s: %zu groups", l->what,
                  report.groups);
    ck_assert_uint_eq(test_physical_hash(at.world), test_physical_hash(twin.world));
    land_end(&at);
    land_end(&twin);
}
