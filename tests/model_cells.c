// SPDX-License-Identifier: MIT
// Cells by the model: a root has three integers, and its members are in the cell of their root. What is kept in
// coordinates of one cell and is to be in those of another one is shifted by a double and rounded once.
#include "tests/placing.h"
#include "tests/support.h"

#include <math.h>
#include <string.h>

enum { FAR = 1024 }; // cells

// --- The cell of a node, and shifts ---

model_cell model_cell_of(const test_model *model, uint32_t node)
{
    return model->nodes[model_root(model, node)].cell;
}

model_shift model_shift_of(const test_model *model, model_cell from, model_cell to)
{
    model_shift shift = {.is_any = false};

    for (int i = 0; i < 3; ++i) {
        const int64_t cells = (int64_t)from.at[i] - to.at[i];

        shift.by[i] = (double)cells * (double)model->cell_size;
        shift.is_any = shift.is_any || cells != 0;
        shift.is_far = shift.is_far || cells > FAR || cells < -FAR;
    }
    return shift;
}

model_shift model_shift_between(const test_model *model, uint32_t node, uint32_t other)
{
    return model->cell_size != 0 && other != MODEL_NONE
               ? model_shift_of(model, model_cell_of(model, node), model_cell_of(model, other))
               : (model_shift){.is_any = false};
}

static float shifted(float coordinate, double by)
{
    return by == 0 ? coordinate : (float)((double)coordinate + by);
}

void model_shift_position(float position[3], const model_shift *shift)
{
    for (int i = 0; i < 3; ++i) {
        position[i] = shifted(position[i], shift->by[i]);
    }
}

static void shift_kept(model_state *state, const model_shift *shift)
{
    for (int i = 0; i < 3; ++i) {
        if ((state->flags & ((uint32_t)ESPL_ABSOLUTE_X << i)) != 0) {
            state->kept.position[i] = shifted(state->kept.position[i], shift->by[i]);
        }
    }
}

void model_shift_below(test_model *model, uint32_t top, const model_shift *shift)
{
    for (uint32_t i = model_next(model, top, top); shift->is_any && i != MODEL_NONE;
         i = model_next(model, top, i)) {
        shift_kept(&model->nodes[i].state, shift);
    }
}

void model_shift_worlds(test_model *model, uint32_t top, const model_shift *shift)
{
    for (uint32_t i = top; shift->is_any && i != MODEL_NONE; i = model_next(model, top, i)) {
        model_shift_position(model->nodes[i].world.position, shift);
    }
}

// --- Writes ---

bool model_is_of_cell(espl_write_kind kind)
{
    return kind == ESPL_WRITE_CELL || kind == ESPL_WRITE_ABSOLUTE_POSITION;
}

model_answer model_cell_faults(const test_model *model, uint32_t node, espl_write_kind kind,
                               const espl_write_value *value)
{
    const bool has_cell = model->cell_size != 0 && model_fault_of(model, node) == 0 &&
                          model->nodes[node].parent == MODEL_NONE;
    double wanted[3];

    if (kind == ESPL_WRITE_CELL) {
        return has_cell || model_fault_of(model, node) != 0 ? 0
                                                            : model_answer_of(ESPL_ERR_UNSUPPORTED);
    }
    memcpy(wanted, value, sizeof wanted);
    return isfinite(wanted[0]) && isfinite(wanted[1]) && isfinite(wanted[2])
               ? 0
               : model_answer_of(ESPL_ERR_NOT_FINITE);
}

// Round to the nearest cell, halves away from 0. @return false: no cell is there.
static bool nearest_cell(double cells, int64_t from, int32_t *out)
{
    const double rounded = round(cells);

    if (!(fabs(rounded) < 0x1p40)) {
        return false;
    }
    const int64_t number = from + (int64_t)rounded;

    *out = (int32_t)(number >= INT32_MIN && number <= INT32_MAX ? number : 0);
    return number >= INT32_MIN && number <= INT32_MAX;
}

// Bring the position of a write to the cell of a member's root, or to a world without cells.
static espl_status bring_near(const test_model *model, uint32_t node, const double wanted[3],
                              float out[3])
{
    const model_cell cell = model_cell_of(model, node);
    const double size = (double)model->cell_size;
    bool is_far = false;

    for (int i = 0; i < 3; ++i) {
        const double away = wanted[i] - (double)cell.at[i] * size;

        out[i] = (float)away;
        is_far = is_far || (size != 0 && fabs(away) > FAR * size);
        if (!isfinite(out[i])) {
            return ESPL_ERR_RANGE;
        }
    }
    return is_far ? ESPL_LOSSY : ESPL_OK;
}

void model_change_cell(test_model *model, uint32_t root, model_cell cell)
{
    model_node *const n = &model->nodes[root];
    const model_shift shift = model_shift_of(model, n->cell, cell);

    model_shift_position(n->state.local.position, &shift);
    model_shift_below(model, root, &shift);
    n->cell = cell;
}

espl_status model_begin_cell_write(test_model *model, uint32_t node, espl_write_kind kind,
                                   const espl_write_value *value, espl_transform *position)
{
    model_node *const n = &model->nodes[node];
    model_cell cell = {{0, 0, 0}};
    double wanted[3];

    *position = espl_transform_identity();
    if (kind == ESPL_WRITE_CELL) {
        memcpy(&n->cell, value, sizeof n->cell);
        return ESPL_OK;
    }
    memcpy(wanted, value, sizeof wanted);
    if (model->cell_size == 0 || n->parent != MODEL_NONE) {
        return bring_near(model, node, wanted, position->position);
    }
    for (int i = 0; i < 3; ++i) {
        const double size = (double)model->cell_size;

        if (!nearest_cell(wanted[i] / size, 0, &cell.at[i])) {
            return ESPL_ERR_RANGE;
        }
        position->position[i] = (float)(wanted[i] - (double)cell.at[i] * size);
    }
    model_change_cell(model, node, cell);
    return ESPL_OK;
}

// --- The whole world ---

// Tell whether a node is a root that is moved with the world.
static bool is_moved(const model_node *n)
{
    return n->parent == MODEL_NONE && (n->set & model_bit(ESPL_PREFAB)) == 0;
}

// Compute the worlds of a hierarchy anew.
static void follow_root(test_model *model, uint32_t root)
{
    const model_node *const n = &model->nodes[root];
    const espl_transform world = model_world_of(NULL, n->has_placement, &n->state);

    (void)model_try(model, root, &world);
    model_keep_trial(model, root);
}

// What a move of the whole world answers: it says of every world that it is not finite.
static model_answer moved_answer(test_model *model, espl_status status)
{
    bool are_finite = true;

    for (uint32_t i = 0; i < model->living_count; ++i) {
        are_finite = are_finite && model_is_finite(&model->nodes[model->living[i]].world);
    }
    model->overflow = MODEL_FINITE;
    return model_answer_of(are_finite || status != ESPL_OK ? status : ESPL_OVERFLOW);
}

static bool are_cells_in_range(const test_model *model, const int32_t cells[3])
{
    bool are = true;

    for (uint32_t i = 0; i < model->living_count; ++i) {
        const model_node *const n = &model->nodes[model->living[i]];

        for (int k = 0; k < 3 && is_moved(n); ++k) {
            const int64_t sum = (int64_t)n->cell.at[k] + cells[k];

            are = are && sum >= INT32_MIN && sum <= INT32_MAX;
        }
    }
    return are;
}

// Move what a hierarchy has in coordinates of the world: the local of its root, or the topmost ones below a
// root without a placement, and what its nodes keep.
static void move_root(test_model *model, uint32_t root, const model_shift *shift)
{
    const bool is_bare = !model->nodes[root].has_placement;

    if (!is_bare) {
        model_shift_position(model->nodes[root].state.local.position, shift);
    }
    for (uint32_t i = model_next(model, root, root); is_bare && i != MODEL_NONE;) {
        const bool follows = model_follows(&model->nodes[i]);

        if (!follows) {
            model_shift_position(model->nodes[i].state.local.position, shift);
        }
        i = follows ? model_next(model, root, i) : model_next_behind(model, root, i);
    }
    model_shift_below(model, root, shift);
    follow_root(model, root);
}

model_answer model_move_world(test_model *model, const int32_t cells[3], const float offset[3])
{
    const bool has_cells = (cells[0] | cells[1] | cells[2]) != 0;
    const model_shift shift = {
        .by = {(double)offset[0], (double)offset[1], (double)offset[2]},
        .is_any = offset[0] != 0 || offset[1] != 0 || offset[2] != 0,
    };

    if (!isfinite(offset[0]) || !isfinite(offset[1]) || !isfinite(offset[2])) {
        return model_answer_of(ESPL_ERR_NOT_FINITE);
    }
    if (has_cells && model->cell_size == 0) {
        return model_answer_of(ESPL_ERR_UNSUPPORTED);
    }
    if (!are_cells_in_range(model, cells)) {
        return model_answer_of(ESPL_ERR_RANGE);
    }
    for (uint32_t i = 0; i < model->living_count; ++i) {
        model_node *const n = &model->nodes[model->living[i]];

        for (int k = 0; k < 3 && is_moved(n); ++k) {
            n->cell.at[k] += cells[k];
        }
        if (is_moved(n) && shift.is_any) {
            move_root(model, model->living[i], &shift);
        }
    }
    return moved_answer(model, ESPL_OK);
}

// The nearest cell of a root. @return false: it is out of range.
static bool nearest_of(const test_model *model, const model_node *n, model_cell *out)
{
    bool is_there = true;

    for (int i = 0; i < 3; ++i) {
        is_there =
            is_there && nearest_cell((double)n->state.local.position[i] / (double)model->cell_size,
                                     n->cell.at[i], &out->at[i]);
    }
    return is_there;
}

model_answer model_recenter(test_model *model, float limit)
{
    const float cells = limit == 0 ? 1 : limit, distance = cells * model->cell_size;
    bool is_done = true;

    if (!(cells >= 0.5f) || model->cell_size == 0) {
        return (cells >= 0.5f ? 0 : model_answer_of(ESPL_ERR_ARGUMENT)) |
               (model->cell_size != 0 ? 0 : model_answer_of(ESPL_ERR_UNSUPPORTED));
    }
    for (uint32_t i = 0; i < model->living_count; ++i) {
        const model_node *const n = &model->nodes[model->living[i]];
        const float *const at = n->state.local.position;
        model_cell cell;

        if (!is_moved(n) || !n->has_placement ||
            (fabsf(at[0]) <= distance && fabsf(at[1]) <= distance && fabsf(at[2]) <= distance)) {
            continue;
        }
        if (nearest_of(model, n, &cell)) {
            model_change_cell(model, model->living[i], cell);
            follow_root(model, model->living[i]);
        } else {
            is_done = false;
        }
    }
    return moved_answer(model, is_done ? ESPL_OK : ESPL_PARTLY);
}
