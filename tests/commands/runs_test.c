// SPDX-License-Identifier: MIT
// Writes of locals that follow each other in a playback, which the library carries out hierarchy by
// hierarchy: many or few, in any order, repeated, of parts, with refused ones and commands of other kinds
// among them. Statuses and world are those of the same calls at once, on any number of workers; and a
// playback that finds no memory changes no bit.
#include "tests/fixture.h"
#include "tests/forms.h"
#include "tests/inside.h"
#include "tests/runner.h"
#include "tests/ticks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDES = 4, TREES = 12, LARGEST = 150, NODES = TREES * LARGEST, MADE = 64, ACTS = 4000 };

typedef enum act_kind { WRITE, ATTACH, DETACH, DESTROY, FLAGS, REMOVE, CREATE } act_kind;

// A change of one node. `node` and `other` are indices of entities; entities made in a frame follow the
// entities of the forest.
typedef struct act {
    act_kind kind;
    uint32_t node, other;
    espl_write write;
} act;

// The same world several times. On side 0 each change is carried out at once; on the others they are
// played on one worker and on several.
static struct {
    test_executor jobs[SIDES];
    espl_executor executors[SIDES];
    test_world tests[SIDES];
    espl_command_buffer *commands[SIDES];
    espl_entity entities[SIDES][NODES + MADE];
    uint32_t parent[NODES], base[TREES + 1];
    uint32_t trees, nodes, made;
    act acts[ACTS];
    uint32_t count;
    uint64_t random;
    espl_report reports[SIDES]; // of the last frame
    test_ticks ticks[SIDES];
    bool has_flags; // writes have some
} t;

// --- Worlds ---

static void draw_forest(uint32_t trees)
{
    static const uint32_t sizes[] = {1, 2, 5, 20, 20, 24, 40, LARGEST};
    const uint32_t most = test_fitting((size_t)NODES, MADE);

    t.nodes = t.trees = t.made = 0;
    while (t.trees < trees && t.nodes + LARGEST <= most) {
        const uint32_t size = sizes[test_below(&t.random, sizeof sizes / sizeof *sizes)];
        const uint32_t fan = 1 + test_below(&t.random, 4), base = t.nodes;

        t.base[t.trees++] = base;
        for (uint32_t k = 0; k < size; ++k) {
            t.parent[base + k] = k == 0 ? NO_PARENT : base + (k - 1) / fan;
        }
        t.nodes += size;
    }
    t.base[t.trees] = t.nodes;
}

static void begin_worlds(int sides)
{
    static const test_executor manners[SIDES] = {
        {.workers = 1},
        {.workers = 1},
        {.manner = TEST_REVERSED, .workers = 2},
        {.manner = TEST_SHUFFLED, .workers = 16, .random = 5},
    };

    for (int k = 0; k < sides; ++k) {
        t.jobs[k] = manners[k];
        t.executors[k] = test_executor_of(&t.jobs[k]);
        test_world_begin(&t.tests[k], 1, k > 1 ? &t.executors[k] : NULL);
        test_cut_jobs(t.tests[k].world, 4);
        espl_entity *const made = make_forest(t.tests[k].world, t.parent, t.nodes);

        memcpy(t.entities[k], made, t.nodes * sizeof *made);
        free(made);
        t.commands[k] = test_commands(t.tests[k].world, 1);
    }
}

// Half of the seeds have motion, and writes with flags.
static void begin(uint64_t seed, uint32_t trees, int sides)
{
    t.random = seed;
    draw_forest(trees);
    begin_worlds(sides);
    t.has_flags = seed % 2 != 0;
    for (int k = 0; k < sides; ++k) {
        test_ticks_begin(&t.ticks[k], t.tests[k].world, seed);
    }
}

static void end(int sides)
{
    for (int k = 0; k < sides; ++k) {
        test_ticks_end(&t.ticks[k]);
        espl_command_buffer_destroy(t.commands[k]);
        test_world_end(&t.tests[k]);
    }
}

// --- Changes ---

static void add(act_kind kind, uint32_t node, uint32_t other)
{
    if (t.count < ACTS) {
        t.acts[t.count++] = (act){.kind = kind, .node = node, .other = other};
    }
}

static void add_write(uint32_t node, espl_write_kind kind)
{
    if (t.has_flags && test_one_in(&t.random, 4)) {
        const espl_write_kind flagged = form_any_flag(kind, &t.random);

        // What does not exist is not recorded.
        kind = form_exists(flagged) ? flagged : kind;
    }
    act a = {WRITE, node, 0, write_ordinary(test_null, kind, &t.random)};

    // Most transforms have no stretch, and a write now and then changes nothing.
    if (kind == ESPL_WRITE_LOCAL_TRANSFORM && !test_one_in(&t.random, 20)) {
        a.write.value.transform.stretch[2] = 1;
    }
    if (t.count != 0 && t.acts[t.count - 1].kind == WRITE && test_one_in(&t.random, 10)) {
        a.write = t.acts[t.count - 1].write;
    }
    if (t.count < ACTS) {
        t.acts[t.count++] = a;
    }
}

// A change that ends the writes of a hierarchy, or is refused among them.
static void add_other(uint32_t tree)
{
    const uint32_t size = t.base[tree + 1] - t.base[tree];
    const uint32_t node = t.base[tree] + test_below(&t.random, size);
    const uint32_t other = test_below(&t.random, t.nodes);

    switch (test_below(&t.random, 9)) {
    case 0:
        add(ATTACH, node, other);
        break;
    case 1:
        add(DETACH, node, 0);
        break;
    case 2:
        add(DESTROY, node, 0);
        break;
    case 3:
        add(FLAGS, node, test_below(&t.random, 2) * ESPL_ABSOLUTE_POSITION);
        break;
    case 4:
        add(REMOVE, node, 0);
        break;
    case 5:
        if (t.made < MADE) {
            add(CREATE, t.nodes + t.made++, node);
            add_write(t.nodes + t.made - 1, ESPL_WRITE_LOCAL_POSE);
            add_write(t.nodes + t.made - 1, ESPL_WRITE_LOCAL_SCALE);
        }
        break;
    case 6:
        add_write(node, ESPL_WRITE_STRETCH);
        break;
    default:
        add_write(node, ESPL_WRITE_WORLD_POSITION + test_below(&t.random, 5));
        break;
    }
}

static espl_write_kind draw_kind(uint32_t manner)
{
    static const espl_write_kind frequent[] = {
        ESPL_WRITE_LOCAL_POSE,     ESPL_WRITE_LOCAL_TRANSFORM, ESPL_WRITE_LOCAL_POSITION,
        ESPL_WRITE_LOCAL_ROTATION, ESPL_WRITE_LOCAL_SCALE,     ESPL_WRITE_TRANSLATE_IN_PARENT,
        ESPL_WRITE_ROTATE_OWN};

    return manner != 0 ? frequent[manner % (sizeof frequent / sizeof *frequent)]
                       : (espl_write_kind)test_below(&t.random, TEST_KINDS);
}

// Writes of a hierarchy: of all nodes, from the first or the last one on; of some, in any order; of the
// root; of one node several times, and of its ancestors.
static void add_run(uint32_t tree, uint32_t others)
{
    const uint32_t base = t.base[tree], size = t.base[tree + 1] - base;
    const uint32_t manner = test_below(&t.random, 7), of = test_below(&t.random, 12);
    uint32_t up = base + test_below(&t.random, size);

    for (uint32_t k = 0; k < size; ++k) {
        if (manner < 2) {
            add_write(base + (manner == 0 ? k : size - 1 - k), draw_kind(of));
        } else if (manner < 5 && test_one_in(&t.random, 1 + manner * manner / 2)) {
            add_write(base + test_below(&t.random, size), draw_kind(of));
        } else if (manner == 5 && k == 0) {
            add_write(base, draw_kind(of));
        } else if (manner == 6 && k < 9) {
            add_write(up, draw_kind(of));
            up = k % 2 == 0 || t.parent[up] == NO_PARENT ? up : t.parent[up];
        }
        if (others != 0 && test_one_in(&t.random, others)) {
            add_other(tree);
        }
    }
}

// @param others  one in so many changes is no write of a run; 0: none.
static void draw_frame(uint32_t others)
{
    const uint32_t runs = 1 + test_below(&t.random, 2 * t.trees);

    t.count = 0;
    for (uint32_t i = 0; i < runs; ++i) {
        add_run(test_below(&t.random, t.trees), others);
    }
}

// --- Ways to carry them out ---

static espl_creation_def creation_of(const espl_transform *at, espl_entity parent,
                                     espl_component_value *value)
{
    *value = (espl_component_value){ESPL_TRANSFORM, sizeof *at, at};
    return (espl_creation_def){.values = value, .value_count = 1, .parent = parent};
}

static espl_status run(int k, const act *a)
{
    espl_world *const w = t.tests[k].world;
    espl_entity *const e = t.entities[k];
    const espl_transform at = test_at(1, 2, 3);
    espl_component_value value;

    switch (a->kind) {
    case WRITE:
        return espl_write_one(w, e[a->node], a->write.kind, &a->write.value);
    case ATTACH:
        return espl_attach(w, e[a->node], e[a->other], NULL);
    case DETACH:
        return espl_detach(w, e[a->node], ESPL_KEEP_WORLD);
    case DESTROY:
        return espl_destroy(w, e[a->node], ESPL_EXTENT_OWNED);
    case FLAGS:
        return espl_set_inherit(w, e[a->node], a->other);
    case REMOVE:
        return espl_remove_component(w, e[a->node], ESPL_TRANSFORM);
    default: {
        const espl_creation_def def = creation_of(&at, e[a->other], &value);

        e[a->node] = test_null;
        return espl_create_at(w, &def, 1, &e[a->node]);
    }
    }
}

static espl_status record(int k, const act *a)
{
    espl_recorder *const to = espl_command_buffer_recorder(t.commands[k], 0);
    espl_entity *const e = t.entities[k];
    const espl_transform at = test_at(1, 2, 3);
    espl_component_value value;

    switch (a->kind) {
    case WRITE:
        return espl_record_write(to, 0, e[a->node], a->write.kind, &a->write.value);
    case ATTACH:
        return espl_record_attach(to, 0, e[a->node], e[a->other], NULL);
    case DETACH:
        return espl_record_detach(to, 0, e[a->node], ESPL_KEEP_WORLD);
    case DESTROY:
        return espl_record_destroy(to, 0, e[a->node], ESPL_EXTENT_OWNED);
    case FLAGS:
        return espl_record_set_inherit(to, 0, e[a->node], a->other);
    case REMOVE:
        return espl_record_remove_component(to, 0, e[a->node], ESPL_TRANSFORM);
    default: {
        const espl_creation_def def = creation_of(&at, e[a->other], &value);

        return espl_record_create(to, 0, &def, 1, &e[a->node]);
    }
    }
}

static void record_all(int k)
{
    espl_command_buffer_reset(t.commands[k]);
    for (uint32_t i = 0; i < t.count; ++i) {
        ck_ok(record(k, &t.acts[i]));
    }
}

// What a pending handle became, or the null entity.
static void resolve_made(int k)
{
    for (uint32_t i = 0; i < t.count; ++i) {
        espl_entity *const made = &t.entities[k][t.acts[i].node];

        if (t.acts[i].kind == CREATE &&
            espl_command_buffer_resolve(t.commands[k], *made, made) != ESPL_OK) {
            *made = test_null;
        }
    }
}

// A write to an entity that no creation made names a pending handle, or nothing.
static espl_status as_played(espl_status status)
{
    return status == ESPL_OVERFLOW          ? ESPL_OK
           : status == ESPL_ERR_NULL_ENTITY ? ESPL_ERR_DEAD
                                            : status;
}

// --- Tests ---

static void show_the_same(int k)
{
    for (uint32_t i = 0; i < t.nodes + t.made; ++i) {
        espl_transform wanted = {.scale = 0}, shown = wanted;
        const espl_status at_once =
            espl_read_one(t.tests[0].world, t.entities[0][i], ESPL_READ_SHOWN_TRANSFORM, &wanted);
        const espl_status played =
            espl_read_one(t.tests[k].world, t.entities[k][i], ESPL_READ_SHOWN_TRANSFORM, &shown);

        ck_status(as_played(played), as_played(at_once));
        ck_assert_msg(test_same(&shown, &wanted), "node %u of side %d", i, k);
    }
}

// The side that writes at once may mark more than a playback does: what it reports is not compared.
static void take_steps(void)
{
    const uint64_t drawn = test_random(&t.random);
    uint64_t steps[SIDES];

    for (int k = 0; k < SIDES; ++k) {
        steps[k] = test_ticks_step(&t.ticks[k], drawn);
        ck_assert(k < 2 || steps[k] == steps[1]);
    }
    for (int k = 1; k < SIDES && t.has_flags; ++k) {
        show_the_same(k);
    }
}

static void play_frame(void)
{
    static espl_status statuses[ACTS];
    espl_report *const reports = t.reports;

    for (uint32_t i = 0; i < t.count; ++i) {
        statuses[i] = as_played(run(0, &t.acts[i]));
    }
    for (int k = 1; k < SIDES; ++k) {
        record_all(k);
        ck_assert_int_ge(espl_play(t.tests[k].world, t.commands[k], &reports[k]), ESPL_OK);
        resolve_made(k);
        for (uint32_t i = 0; i < t.count; ++i) {
            ck_assert_msg(espl_command_buffer_result(t.commands[k], 0, i) == statuses[i],
                          "change %u of %u, kind %d of node %u: %s, not %s", i, t.count,
                          (int)t.acts[i].kind, t.acts[i].node,
                          espl_status_name(espl_command_buffer_result(t.commands[k], 0, i)),
                          espl_status_name(statuses[i]));
        }
        test_world_is_valid(t.tests[k].world);
        ck_assert_uint_eq(test_logical_hash(t.tests[k].world), test_logical_hash(t.tests[0].world));
        ck_assert_uint_eq(test_physical_hash(t.tests[k].world),
                          test_physical_hash(t.tests[1].world));
        ck_assert_uint_eq(reports[k].visited_nodes, reports[1].visited_nodes);
    }
    take_steps();
}

TEST_LOOP(writes_alone_play_as_one_after_the_other, 0, 8)
{
    if (test_lacks_room(NODES + MADE, "runs of writes")) {
        return;
    }
    begin(test_environment("ESPL_SEED", 1) + (uint64_t)_i, TREES, SIDES);
    for (int frame = 0; frame < 6; ++frame) {
        draw_frame(0);
        play_frame();
    }
    // A world with tiny limits holds too few hierarchies for several jobs.
    ck_assert(t.trees < TREES || t.jobs[SIDES - 1].calls > 0);
    end(SIDES);
}

TEST_LOOP(writes_among_other_changes_play_as_one_after_the_other, 0, 16)
{
    if (test_lacks_room(NODES + MADE, "runs of writes")) {
        return;
    }
    begin(test_environment("ESPL_SEED", 101) + (uint64_t)_i, TREES, SIDES);
    for (int frame = 0; frame < 4; ++frame) {
        draw_frame(2 + test_below(&t.random, 60));
        play_frame();
    }
    end(SIDES);
}

// Each world of a hierarchy is computed once, though each of its nodes is written.
TEST(writes_of_all_nodes_compute_each_world_once)
{
    if (test_lacks_room(NODES + MADE, "runs of writes")) {
        return;
    }
    begin(test_environment("ESPL_SEED", 401), TREES, SIDES);
    t.count = 0;
    for (uint32_t i = t.nodes; i-- > 0;) {
        add_write(i, ESPL_WRITE_LOCAL_POSE);
        t.acts[t.count - 1].write = write_ordinary(test_null, ESPL_WRITE_LOCAL_POSE, &t.random);
    }
    play_frame();
    ck_assert_uint_eq(t.reports[1].visited_nodes, t.nodes);
    end(SIDES);
}

// The n-th allocation fails, or that and all later ones, for all n until the playback passes.
static void play_without_memory(bool fails_after)
{
    espl_world *const w = t.tests[1].world;
    const uint64_t logical = test_logical_hash(w), physical = test_physical_hash(w);
    espl_status status = ESPL_ERR_NO_MEMORY;

    for (size_t n = 1; status == ESPL_ERR_NO_MEMORY; ++n) {
        test_free_scratch(w);
        test_heap_arm(&t.tests[1].heap, n, fails_after);
        status = espl_play(w, t.commands[1], NULL);
        test_heap_arm(&t.tests[1].heap, 0, false);
        test_world_is_valid(w);
        if (status == ESPL_ERR_NO_MEMORY) {
            ck_assert_uint_eq(test_logical_hash(w), logical);
            ck_assert_uint_eq(test_physical_hash(w), physical);
        }
    }
    ck_assert_int_ge(status, ESPL_OK);
}

TEST_LOOP(writes_that_find_no_memory_are_undone, 0, 12)
{
    if (test_lacks_room(NODES + MADE, "runs of writes")) {
        return;
    }
    for (int way = 0; way < 2; ++way) {
        begin(test_environment("ESPL_SEED", 201) + (uint64_t)_i, 4, 2);
        draw_frame(_i % 2 == 0 ? 30 : 0);
        for (uint32_t i = 0; i < t.count; ++i) {
            (void)run(0, &t.acts[i]);
        }
        record_all(1);
        play_without_memory(way == 1);
        ck_assert_uint_eq(test_logical_hash(t.tests[1].world), test_logical_hash(t.tests[0].world));
        end(2);
    }
}

// Passes over a range with holes add layout debt, here until a layout is due. That is undone as well.
TEST_LOOP(a_layout_that_writes_without_memory_made_due_is_forgotten, 0, 2)
{
    enum { RANGE = 60, FIRST_LEAF = 20, RUNS = 80 };

    t.nodes = RANGE;
    t.count = t.made = 0;
    for (uint32_t i = 0; i < RANGE; ++i) {
        t.parent[i] = i == 0 ? NO_PARENT : (i - 1) / 3;
    }
    begin_worlds(2);
    for (uint32_t i = FIRST_LEAF; i < RANGE; i += 2) {
        const act destroy = {.kind = DESTROY, .node = i};

        ck_ok(run(0, &destroy));
        ck_ok(run(1, &destroy));
    }
    // A refused command ends each run.
    for (int i = 0; i < RUNS; ++i) {
        for (uint32_t node = 0; node < FIRST_LEAF; ++node) {
            add_write(node, ESPL_WRITE_LOCAL_POSE);
        }
        add(ATTACH, 0, 0);
    }
    add(DETACH, FIRST_LEAF + 1, 0);
    for (uint32_t i = 0; i < t.count; ++i) {
        (void)run(0, &t.acts[i]);
    }
    record_all(1);
    play_without_memory(_i == 1);
    ck_assert_uint_eq(test_logical_hash(t.tests[1].world), test_logical_hash(t.tests[0].world));
    end(2);
}

// --- Worlds that overflow ---

static bool is_finite(uint32_t node)
{
    const espl_transform world = test_world_of(t.tests[0].world, t.entities[0][node]);

    return isfinite(world.scale) && isfinite(world.position[0]);
}

static void add_scale(uint32_t node, float scale)
{
    add_write(node, ESPL_WRITE_LOCAL_SCALE);
    t.acts[t.count - 1].write = write_scale(test_null, ESPL_WRITE_LOCAL_SCALE, scale);
}

// Two large scales on a path are enough. No value is written twice.
TEST_LOOP(a_playback_reports_worlds_that_its_writes_make_infinite, 0, 6)
{
    if (test_lacks_room(NODES + MADE, "runs of writes")) {
        return;
    }
    begin(test_environment("ESPL_SEED", 301) + (uint64_t)_i, TREES, SIDES);
    for (int frame = 0; frame < 6; ++frame) {
        const float large = frame % 2 == 0 ? 1e30f : 1;
        bool is_overflowed = false;

        t.count = 0;
        for (uint32_t i = 0; i < t.nodes; ++i) {
            add_scale(i, (test_one_in(&t.random, 8) ? large : 1.5f) + 0.125f * (float)frame);
        }
        play_frame();
        for (uint32_t i = 0; i < t.nodes; ++i) {
            is_overflowed = is_overflowed || !is_finite(i);
        }
        for (int k = 1; k < SIDES; ++k) {
            ck_assert_int_eq(t.reports[k].has_overflowed, is_overflowed);
        }
    }
    end(SIDES);
}

// A root with five children, and below the first of these two nodes, the last one of which is infinite.
static void begin_infinite(void)
{
    static const uint32_t parents[] = {NO_PARENT, 0, 0, 0, 0, 0, 1, 6};

    t.nodes = sizeof parents / sizeof *parents;
    memcpy(t.parent, parents, sizeof parents);
    begin_worlds(SIDES);
    t.count = 0;
    add_scale(6, 1e30f);
    add_scale(7, 1e30f);
    play_frame();
    ck_assert(t.reports[1].has_overflowed && !is_finite(7));
    t.count = 0;
}

static void add_position(uint32_t node, float x)
{
    add_write(node, ESPL_WRITE_LOCAL_POSITION);
    t.acts[t.count - 1].write = write_vector(test_null, ESPL_WRITE_LOCAL_POSITION, x, 0, 0);
}

TEST(an_infinite_world_that_is_below_no_write_is_not_reported)
{
    if (test_lacks_room(NODES + MADE, "runs of writes")) {
        return;
    }
    begin_infinite();
    for (uint32_t i = 2; i < 6; ++i) {
        add_position(i, 5);
    }
    play_frame();
    for (int k = 1; k < SIDES; ++k) {
        ck_assert(!t.reports[k].has_overflowed);
    }
    end(SIDES);
}

// Far from the origin a short step of the local is none of the world.
TEST(an_infinite_world_that_no_write_moves_is_not_reported)
{
    if (test_lacks_room(NODES + MADE, "runs of writes")) {
        return;
    }
    begin_infinite();
    add_position(0, 1e9f);
    play_frame();
    t.count = 0;
    for (uint32_t i = 1; i < 6; ++i) {
        add_position(i, 1.5f);
    }
    play_frame();
    for (int k = 1; k < SIDES; ++k) {
        ck_assert(!t.reports[k].has_overflowed);
    }
    end(SIDES);
}
