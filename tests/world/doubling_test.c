// SPDX-License-Identifier: MIT
// The cost of every structural call and every kind of write, by counters: nodes visited, looked at,
// laid out and moved, rows moved, bytes allocated. Each call is made on hierarchies of twice and
// four times the size: its cost grows at most as the size to the power of 1.1, or of 1.2 where it is a
// logarithm for each node. Then on one small
// hierarchy among twice and four times as many others that it does not touch: its cost stays.
#include "tests/runner.h"
#include "tests/world/costs.h"

#include <math.h>

// Nodes at first, and how often they double; nodes that are touched among others, and others at
// first. Where arrays always move, building is quadratic, and in a small world there is no room to
// double in.
#if defined(ESPL_SHRUNKEN)
enum { SMALLEST = 64, DOUBLINGS = 4, TOUCHED = 4, FEWEST = 1, MORE = 3 };
#elif defined(ESPL_HARD_MOVE)
enum { SMALLEST = 16, DOUBLINGS = 4, TOUCHED = 16, FEWEST = 8, MORE = 4 };
#else
enum { SMALLEST = 128, DOUBLINGS = 4, TOUCHED = 16, FEWEST = 32, MORE = 5 };
#endif

// --- What one costs ---

typedef struct cost {
    uint64_t nodes, rows, bytes;
} cost;

static uint64_t nodes_of(const espl_world *world)
{
    const espl_world_stats s = test_stats(world);

    return s.nodes_visited + s.nodes_skipped + test_count_moved_nodes(world);
}

static espl_status run_recorded(costs_world *w, const entry *e, uint32_t kind, cost *c)
{
    espl_report report;

    for (uint32_t i = 0; i < w->n; ++i) {
        const espl_status status = e->record(w, i, kind);

        ck_assert_msg(status == ESPL_OK, "%s: %s", e->name, espl_status_name(status));
    }
    const espl_status status = espl_play(w->world, w->commands, &report);
    // One that is refused is known at once; the costs of that are another matter.
    ck_assert_msg(report.refused <= 1, "%s, kind %u: %zu refused", e->name, kind, report.refused);
    espl_command_buffer_reset(w->commands);
    c->rows = report.row_moves;
    c->nodes = report.moved_nodes;
    return status;
}

static cost run_once(costs_world *w, const entry *e, uint32_t kind)
{
    const uint64_t asked = w->memory.asked;
    const uint64_t before = nodes_of(w->world);
    cost out = {.nodes = 0};

    const espl_status status = e->call != NULL ? e->call(w, kind) : run_recorded(w, e, kind, &out);

    ck_assert_msg(status >= 0, "%s of %u: %s", e->name, w->n, espl_status_name(status));
    out.nodes += nodes_of(w->world) - before;
    out.bytes = w->memory.asked - asked;
    return out;
}

static cost measure(const entry *e, shape plan, uint32_t n, uint32_t kind)
{
    costs_world w;

    costs_begin(&w, plan, n, 0);
    const cost out = run_once(&w, e, kind);
    costs_end(&w);
    return out;
}

static void turn_to_others(costs_world *w)
{
    espl_entity *const e = w->e;
    const espl_entity aside = w->aside;

    w->e = w->other;
    w->other = e;
    w->aside = w->other_aside;
    w->other_aside = aside;
}

// The second of two calls, each on a hierarchy of its own: what is taken once for a world of that
// size and then kept is there.
static cost measure_among(const entry *e, shape plan, uint32_t idle, uint32_t kind)
{
    costs_world w;

    costs_begin(&w, plan, TOUCHED, idle);
    (void)run_once(&w, e, kind);
    turn_to_others(&w);
    const cost out = run_once(&w, e, kind);
    costs_end(&w);
    return out;
}

// --- How it grows ---

static const shape plans[SHAPES] = {SOLOS, STAR, CHAIN, HEAP};
static const char *const plan_names[SHAPES] = {"solos", "star", "chain", "heap"};

// As often once more in a long run, up to a million nodes.
static uint32_t doublings_of_run(uint32_t doublings)
{
    for (unsigned long factor = test_factor(); factor > 1 && doublings < 14; factor /= 2) {
        doublings += 1;
    }
    return doublings;
}

// Bytes that a node may take in a call: where it takes less, blocks of many nodes' room, which come
// whole, are no growth.
enum { FREE_BYTES = 4096 };

// Of two costs, each of which is at least what is free for its size.
static double exponent(uint64_t first, uint64_t last, uint64_t each, uint32_t doublings)
{
    const uint64_t least = each * SMALLEST, most = least << doublings;
    const double a = (double)(first > least ? first : least);
    const double b = (double)(last > most ? last : most);

    return log2(b / a) / doublings;
}

static void demand(const entry *e, size_t plan, uint32_t kind, const char *what, double grows)
{
    const double most = (e->traits & HALVES) != 0 ? 1.2 : 1.1;

    ck_assert_msg(grows <= most, "%s, %s, kind %u: %s grow by the power of %.2f", e->name,
                  plan_names[plan], kind, what, grows);
}

static void try_growth(const entry *e, size_t plan, uint32_t kind)
{
    const uint32_t doublings = doublings_of_run(DOUBLINGS);
    const cost first = measure(e, plans[plan], SMALLEST, kind);
    const cost last = measure(e, plans[plan], (uint32_t)SMALLEST << doublings, kind);

    demand(e, plan, kind, "nodes", exponent(first.nodes, last.nodes, 1, doublings));
    demand(e, plan, kind, "rows", exponent(first.rows, last.rows, 1, doublings));
    // Where arrays move at each reserve they take their whole size each time.
    if (!test_moves_always()) {
        demand(e, plan, kind, "bytes", exponent(first.bytes, last.bytes, FREE_BYTES, doublings));
    }
}

static void try_among_others(const entry *e, size_t plan, uint32_t kind)
{
    const uint32_t doublings = doublings_of_run(MORE);
    const cost first = measure_among(e, plans[plan], FEWEST, kind);
    const cost last = measure_among(e, plans[plan], (uint32_t)FEWEST << doublings, kind);

    ck_assert_msg(first.nodes == last.nodes && first.rows == last.rows,
                  "%s, %s, kind %u: %zu nodes and %zu rows, among more %zu and %zu", e->name,
                  plan_names[plan], kind, (size_t)first.nodes, (size_t)first.rows,
                  (size_t)last.nodes, (size_t)last.rows);
    ck_assert_msg(test_moves_always() || last.bytes <= 2 * first.bytes + FREE_BYTES,
                  "%s, %s, kind %u: %zu bytes, among more %zu", e->name, plan_names[plan], kind,
                  (size_t)first.bytes, (size_t)last.bytes);
}

typedef void (*trial)(const entry *e, size_t plan, uint32_t kind);

// Every kind of write in one shape; some of them in the others, where a run is not a long one.
static uint32_t step_of_kinds(size_t plan)
{
    return plans[plan] == HEAP || test_factor() > 1 ? test_stride(5) : 4 * test_stride(5);
}

// Every call in every shape that suits it.
static size_t try_all(trial of, bool is_among_others)
{
    size_t tried = 0;

    for (size_t i = 0; i < ENTRIES; ++i) {
        const entry *const e = &entries[i];
        const uint32_t kinds = (e->traits & KINDS) != 0 ? TEST_KINDS : 1;

        for (size_t plan = 0; plan < SHAPES && !(is_among_others && (e->traits & WHOLE) != 0);
             ++plan) {
            const uint32_t most = (e->shapes & plans[plan]) != 0 ? kinds : 0;

            for (uint32_t kind = 0; kind < most; kind += step_of_kinds(plan)) {
                of(e, plan, kind);
                tried += 1;
            }
        }
    }
    return tried;
}

TEST(what_a_call_costs_grows_as_what_it_touches)
{
    if (test_lacks_room(SMALLEST << (DOUBLINGS + 2), "calls on more and more nodes")) {
        return;
    }
    test_tell_figure(try_all(try_growth, false), "calls whose cost grows as what they touch");
}

TEST(k11_what_a_call_costs_is_the_same_among_any_number_of_others)
{
    test_tell_figure(try_all(try_among_others, true), "calls whose cost is the same among others");
}
