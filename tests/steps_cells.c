// SPDX-License-Identifier: MIT
// Large worlds in tapes: worlds with cells, rebases, recenters, and writes of cells and of absolute positions.
#include "tests/asserts.h"
#include "tests/changes.h"
#include "tests/fixture.h"
#include "tests/placing.h"
#include "tests/steps.h"

#include <espalier/far.h>
#include <math.h>
#include <string.h>

// --- Draws ---

void tape_take_cells(test_tape *tape)
{
    static const float sizes[] = {2048, 16, 1, 1024, 1073741824.0f};
    uint64_t seed = tape->seed ^ 0x63656c6c;

    tape->takes_places = test_one_in(&seed, 3);
    if (tape->takes_places && !test_one_in(&seed, 6)) {
        tape->model.cell_size = sizes[test_below(&seed, sizeof sizes / sizeof *sizes)];
    }
}

// A coordinate of a cell, or how far to move: near, farther than floats reach, or where the range ends.
static int32_t pick_cell(uint64_t *random)
{
    static const int32_t ends[] = {INT32_MIN, INT32_MAX, INT32_MIN + 3, INT32_MAX - 3};

    if (test_one_in(random, 40)) {
        return ends[test_below(random, 4)];
    }
    return test_one_in(random, 12) ? (int32_t)test_below(random, 6000) - 3000
                                   : (int32_t)test_below(random, 7) - 3;
}

static float pick_offset(uint64_t *random)
{
    static const float odd[] = {NAN, INFINITY, -0.0f, 1e6f};

    return test_one_in(random, 40) ? odd[test_below(random, 4)] : test_between(random, -50, 50);
}

static float pick_limit(uint64_t *random)
{
    static const float limits[] = {0, 0.5f, 0.5f, 1, 3, 0.75f, 0.25f, -1, NAN, INFINITY};

    return limits[test_below(random, test_one_in(random, 8) ? 10 : 6)];
}

void pick_place_step(const test_tape *tape, uint64_t *random, operation *out)
{
    const uint32_t kind = test_below(random, 8);
    const bool by_offset = kind == 0 || tape->model.cell_size == 0;

    out->step = kind < 4 ? STEP_RECENTER : STEP_REBASE;
    out->time = pick_limit(random);
    for (int i = 0; i < 3; ++i) {
        out->cells[i] = kind != 4 ? pick_cell(random) : 0;
        out->point[i] = by_offset || kind == 4 ? pick_offset(random) : 0;
        out->cells[i] = by_offset && test_one_in(random, 2) ? 0 : out->cells[i];
    }
}

espl_write_kind pick_place_kind(const test_tape *tape, espl_write_kind kind, uint64_t *random)
{
    if (!tape->takes_places || (unsigned)kind >= ESPL_WRITE_KIND_COUNT || !test_one_in(random, 6)) {
        return kind;
    }
    kind = test_one_in(random, 2) ? ESPL_WRITE_CELL : ESPL_WRITE_ABSOLUTE_POSITION;
    return test_one_in(random, 24) ? (espl_write_kind)(kind | ESPL_TELEPORT) : kind;
}

// An absolute coordinate: in a cell near the origin or far from it, on an edge, or nowhere.
static double pick_absolute(float size, uint64_t *random)
{
    static const double odd[] = {(double)INFINITY, 1e300, 4e38, -1e39, 0, -0.0};
    const double unit = size != 0 ? (double)size : 100;
    const double cells = (double)pick_cell(random);

    if (test_one_in(random, 64)) {
        return test_one_in(random, 4) ? (double)NAN : odd[test_below(random, 6)];
    }
    if (test_one_in(random, 6)) {
        return (cells + 0.5) * unit;
    }
    return cells * unit + (double)test_between(random, -0.6f, 0.6f) * unit;
}

espl_write_value place_value(float cell_size, espl_write_kind kind, uint64_t random)
{
    espl_write_value value = {.transform = espl_transform_identity()};

    for (int i = 0; i < 3; ++i) {
        const int32_t cell = pick_cell(&random);
        const double at = pick_absolute(cell_size, &random);

        if (kind == ESPL_WRITE_CELL) {
            memcpy((unsigned char *)&value + (size_t)i * sizeof cell, &cell, sizeof cell);
        } else {
            memcpy((unsigned char *)&value + (size_t)i * sizeof at, &at, sizeof at);
        }
    }
    return value;
}

void place_sometimes(const espl_world *world, espl_write *write, uint64_t *random)
{
    const float cell_size = espl_get_cell_size(world);

    if (cell_size != 0 && test_one_in(random, 6)) {
        write->kind = test_one_in(random, 2) ? ESPL_WRITE_CELL : ESPL_WRITE_ABSOLUTE_POSITION;
        write->value = place_value(cell_size, write->kind, test_random(random));
    }
}

// --- A side ---

espl_status side_move(const test_side *side, const operation *op)
{
    return espl_rebase(side->world, op->cells, op->point);
}

espl_status side_recenter(const test_side *side, const test_tape *tape, const operation *op)
{
    size_t count = SIDE_UNTOUCHED, again = SIDE_UNTOUCHED;
    const espl_status status = espl_recenter(side->world, op->time, &count);

    // What is near its cell stays there.
    if (status >= 0 && op->ends_watch) {
        const espl_status second = espl_recenter(side->world, op->time, &again);

        tape_demand(tape, second >= 0 && again == 0, "a second recenter moves %zu", again);
    }
    tape_demand(tape, status >= 0 || count == 0, "%zu moved by a recenter that is refused", count);
    return status;
}

void side_compare_cell(const test_side *side, const test_tape *tape, uint32_t node)
{
    const model_node *const n = &tape->model.nodes[node];
    const float size = tape->model.cell_size;
    const model_cell wanted = model_cell_of(&tape->model, node);
    model_cell cell = {{7, 7, 7}};
    double absolute[3];
    const espl_status status =
        espl_read_one(side->world, side->handles[node], ESPL_READ_CELL, &cell);

    tape_demand(tape,
                status == (!n->has_placement ? ESPL_ERR_NO_TRANSFORM
                           : size == 0       ? ESPL_ERR_UNSUPPORTED
                                             : ESPL_OK),
                "the cell of node %u reads %s", node, espl_status_name(status));
    if (!n->has_placement) {
        return;
    }
    tape_demand(tape, size == 0 || memcmp(&cell, &wanted, sizeof cell) == 0,
                "node %u is in cell %d %d %d, not %d %d %d", node, cell.at[0], cell.at[1],
                cell.at[2], wanted.at[0], wanted.at[1], wanted.at[2]);
    ck_ok(espl_read_one(side->world, side->handles[node], ESPL_READ_ABSOLUTE_POSITION, absolute));
    for (int i = 0; i < 3; ++i) {
        const double at = (double)wanted.at[i] * (double)size + (double)n->world.position[i];

        tape_demand(tape, absolute[i] == at || (isnan(absolute[i]) && isnan(at)),
                    "node %u is at %a on axis %d, not %a", node, absolute[i], i, at);
    }
}
