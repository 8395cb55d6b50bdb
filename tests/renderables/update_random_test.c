// SPDX-License-Identifier: MIT
// No change of the world is missed by an update: random operations of every kind, at once and recorded, with
// memory that runs out and on several workers. After each update every entity is compared with the mirror.
// ESPL_FACTOR makes the runs so many times as many.
#include "tests/inside.h"
#include "tests/renderables/seeing.h"
#include "tests/runner.h"
#include "tests/stage.h"

// What runs have done.
typedef struct tally {
    uint64_t rounds, checked, added, removed, moved, refiled;
} tally;

// Let memory run out in some calls, at one that is drawn. Not in a build with few indices.
static void vex(test_heap *heap, uint64_t *random)
{
    const bool is_vexed = test_one_in(random, 4) && test_limits_of_build().lives > 100;

    test_heap_arm(heap, is_vexed ? 1 + test_below(random, 12) : 0, test_one_in(random, 2));
}

// --- Components ---

static float draw_number(uint64_t *random, float low, float high)
{
    if (test_one_in(random, 60)) {
        const float odd[] = {NAN, INFINITY, -INFINITY, 3e38f, 1e30f, 0, -1};

        return odd[test_below(random, 7)];
    }
    return test_between(random, low, high);
}

static void draw_values(uint64_t *random, espl_bounds *bounds, espl_renderable *renderable)
{
    for (int k = 0; k < 3; ++k) {
        bounds->center[k] = draw_number(random, -2, 2);
        bounds->half[k] = draw_number(random, 0, 3);
    }
    renderable->key = test_one_in(random, 8) ? ESPL_NO_KEY : test_below(random, 5);
    renderable->user_data = test_below(random, 100);
    renderable->flags = (test_one_in(random, 50) ? 4u : 0u) | // unknown
                        (test_one_in(random, 12) ? ESPL_RENDERABLE_UNION : 0u) |
                        (test_one_in(random, 20) ? ESPL_RENDERABLE_ALWAYS : 0u);
}

// Any answer will do but one: mirrors are compared with what came of it.
static void take(espl_status status)
{
    ck_assert_int_ne(status, ESPL_ERR_BUSY);
}

// Change the components of an entity. A refusal for want of memory has changed nothing.
static void dress(const seeing *s, espl_entity entity, uint64_t *random)
{
    espl_bounds bounds;
    espl_renderable renderable;
    const espl_layers layers = {(uint32_t)test_random(random),
                                test_one_in(random, 5) ? ESPL_LAYERS_ABSOLUTE : 0u};
    const espl_component all[3] = {s->bounds, s->renderable, s->layers};
    const espl_component_value values[3] = {
        {s->bounds, sizeof bounds, &bounds},
        {s->renderable, sizeof renderable, &renderable},
        {s->layers, sizeof layers, &layers},
    };
    const uint32_t first = test_one_in(random, 3) ? test_below(random, 3) : 0;
    const uint32_t count = test_one_in(random, 3) ? 1 : test_one_in(random, 4) ? 3 - first : 2;
    const uint32_t end = first + count < 3 ? count : 3 - first;

    draw_values(random, &bounds, &renderable);
    switch (test_below(random, 6)) {
    case 0:
        take(espl_change_components(
            s->world, entity, &(espl_change_def){.remove = all + first, .remove_count = end}));
        break;
    case 1:
    case 2:
        for (uint32_t i = first; i < first + end; ++i) {
            if (espl_has_component(s->world, entity, all[i])) {
                ck_ok(espl_set_component(s->world, entity, all[i], values[i].data, values[i].size));
            }
        }
        break;
    default:
        take(espl_change_components(s->world, entity,
                                    &(espl_change_def){.add = values + first, .add_count = end}));
        break;
    }
}

// Change the components of some entities, or of many.
static void dress_some(const seeing *s, uint64_t *random)
{
    const espl_query_def everything = {.include = ESPL_INCLUDE_DISABLED | ESPL_INCLUDE_PREFABS};
    const uint32_t share = test_one_in(random, 6) ? 1 : 10;
    espl_entity some[128];
    uint32_t count = 0;
    espl_query query;

    ck_ok(espl_query_begin(s->world, &everything, &query));
    while (espl_query_next(&query)) {
        for (size_t i = 0; i < query.count; ++i) {
            if (count < 128 && test_one_in(random, share)) {
                some[count++] = query.entities[i];
            }
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        dress(s, some[i], random);
    }
}

// --- Updates ---

// Update where memory may run out: then the mirror before stays, and the next update does the work.
static void update_vexed(seeing *s, test_heap *heap, uint64_t *random, tally *sum)
{
    const espl_mirror *const before = espl__tables_acquire(&s->renderables->tables);
    espl_renderables_report report = {.number = 77};
    bool is_done = false;

    for (int i = 0; i < 3 && !is_done; ++i) {
        vex(heap, random);
        const espl_status status = espl_renderables_update(s->renderables, NULL, &report);

        test_heap_arm(heap, 0, false);
        ck_assert_msg(status == ESPL_ERR_NO_MEMORY || status >= 0, "%s", espl_status_name(status));
        is_done = status >= 0;
        if (!is_done) {
            ck_assert_ptr_eq(espl__tables_acquire(&s->renderables->tables), before);
            ck_assert_uint_eq(report.number, 77);
        }
    }
    if (is_done) {
        demand_seen(s, &report);
    } else {
        report = see(s);
    }
    sum->added += report.added;
    sum->removed += report.removed;
    sum->moved += report.moved;
    sum->refiled += report.refiled;
}

static void begin_seeing(seeing *s, espl_world *world, uint64_t seed)
{
    const espl_renderables_def def = {
        .readers = 0,
        .cell_size = seed % 3 == 0 ? 0 : (float)(seed % 7) * 0.3f,
        .refile_budget = (uint32_t)(seed % 4),
    };

    seeing_begin(s, world, &def);
    s->ignores_before = true;
}

static void tell(const tally *sum)
{
    test_tell_figure(sum->rounds, "rounds with renderables");
    test_tell_figure(sum->checked, "renderables compared with mirrors");
    // A short run may have none of one kind.
    if (sum->rounds >= 300) {
        ck_assert_uint_gt(sum->added, 0);
        ck_assert_uint_gt(sum->removed, 0);
        ck_assert_uint_gt(sum->moved, 0);
    }
}

// --- Calls at once ---

// Carry an operation out, again where it found no memory.
static void run_vexed(test_tape *tape, test_side *side, uint64_t *random)
{
    const operation op = tape_next(tape);

    vex(&side->test.heap, random);
    espl_status status = side_run(side, tape, &op);

    const bool has_lacked = side->test.heap.failures != 0;

    test_heap_arm(&side->test.heap, 0, false);
    // A destroy that found no memory leaves roles to the next structural call, and the model has none late.
    if (has_lacked) {
        ck_ok(espl_destroy(side->world, test_solo(side->world), ESPL_EXTENT_ENTITY));
    }
    if (status == ESPL_ERR_NO_MEMORY || (op.code == OP_TRIM && status == ESPL_PARTLY)) {
        status = side_run(side, tape, &op);
    }
    side_follow(side, tape, &op, status);
}

static void run_at_once(uint64_t seed, uint32_t population, size_t rounds, tally *sum)
{
    uint64_t random = seed;
    test_tape tape;
    test_side side;
    seeing s;

    tape_begin(&tape, seed, population);
    tape.has_own_renderables = true;
    side_begin(&side, &tape, 1, NULL);
    begin_seeing(&s, side.world, seed);
    for (size_t round = 1; round <= rounds && !tape_is_worn(&tape); ++round) {
        for (uint32_t i = test_below(&random, 6); i != 0 && !tape_is_worn(&tape); --i) {
            run_vexed(&tape, &side, &random);
        }
        if (test_one_in(&random, 3)) {
            dress_some(&s, &random);
        }
        update_vexed(&s, &side.test.heap, &random, sum);
        sum->rounds += 1;
        if (round % 8 == 0) {
            test_world_is_valid(side.world);
        }
    }
    sum->checked += s.checked;
    seeing_end(&s);
    side_end(&side);
    tape_end(&tape);
}

TEST_LOOP(no_change_at_once_is_missed, 0, 3)
{
    static const uint32_t populations[3] = {6, 40, 300};
    const uint64_t chosen = test_environment("ESPL_SEED", 0);
    uint64_t state = 171 + (uint64_t)_i;
    tally sum = {0};
    const size_t runs = (_i == 0 ? 60 : _i == 1 ? 25 : 6) * (size_t)test_factor();

    for (size_t i = 0; i < (chosen != 0 ? 1 : runs); ++i) {
        run_at_once(chosen != 0 ? chosen : test_random(&state), populations[_i],
                    test_scaled_alone(120), &sum);
    }
    tell(&sum);
}

// A node took the slot of another one, and had the layers of it, while the nodes below it had others.
TEST(layers_are_right_below_a_node_that_took_another_slot)
{
    tally sum = {0};

    run_at_once(4479720826367963615, 40, 120, &sum);
}
