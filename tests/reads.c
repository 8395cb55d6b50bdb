// SPDX-License-Identifier: MIT
// Every way to read a placement: parts of it, points and directions through it, matrices, and as
// another entity sees it. Each gives the bits of the pure function on the model's world.
#include "tests/asked.h"
#include "tests/placing.h"
#include "tests/tape.h"

#include <math.h>
#include <string.h>

enum { VALUE_LIMIT = 16 };

// A node and the one that sees it, in world and model.
typedef struct reading {
    const test_tape *tape;
    const espl_world *world;
    espl_entity entity, frame;
    uint32_t node;
    bool has_placement;
    espl_transform local, placed;
} reading;

// What a read that is refused must leave as it was.
static void fill(float out[VALUE_LIMIT])
{
    for (int i = 0; i < VALUE_LIMIT; ++i) {
        out[i] = 1234.5f;
    }
}

// Compare floats read with those expected; where there is no placement none were read.
static void check_values(const reading *r, const char *name, espl_status status,
                         espl_status expected, const float *got, const float *want, size_t count)
{
    float untouched[VALUE_LIMIT];

    fill(untouched);
    expected = r->has_placement ? expected : ESPL_ERR_NO_TRANSFORM;
    tape_demand(r->tape, status == expected, "%s of node %u answers %s, not %s", name, r->node,
                espl_status_name(status), espl_status_name(expected));
    for (size_t i = 0; i < VALUE_LIMIT; ++i) {
        const float value = status >= 0 && i < count ? want[i] : untouched[i];
        // What overflows on the way has no bits to be promised.
        const bool is_same = memcmp(&got[i], &value, sizeof value) == 0 || !isfinite(value);
        tape_demand(r->tape, is_same, "%s of node %u: value %zu is %a, not %a", name, r->node, i,
                    (double)got[i], (double)value);
    }
}

// --- Parts ---

typedef espl_status (*part_function)(const espl_world *, espl_entity, float *);

static void check_part(const reading *r, const char *name, part_function read, const float *want,
                       size_t count)
{
    float got[VALUE_LIMIT];

    fill(got);
    const espl_status status = read(r->world, r->entity, got);
    check_values(r, name, status, ESPL_OK, got, want, count);
}

// The pose is the first part of a transform.
static espl_status read_world_pose(const espl_world *world, espl_entity entity, float *out)
{
    return espl_get_world_pose(world, entity, (espl_pose *)out);
}

static espl_status read_local_pose(const espl_world *world, espl_entity entity, float *out)
{
    return espl_get_local_pose(world, entity, (espl_pose *)out);
}

static void check_parts(const reading *r)
{
    const espl_transform *const local = &r->local, *const placed = &r->placed;
    uint32_t context = 12345;

    check_part(r, "world position", espl_get_world_position, placed->position, 3);
    check_part(r, "world rotation", espl_get_world_rotation, placed->rotation, 4);
    check_part(r, "world scale", espl_get_world_scale, &placed->scale, 1);
    check_part(r, "local position", espl_get_local_position, local->position, 3);
    check_part(r, "local rotation", espl_get_local_rotation, local->rotation, 4);
    check_part(r, "local scale", espl_get_local_scale, &local->scale, 1);
    check_part(r, "world pose", read_world_pose, placed->rotation, 8);
    check_part(r, "local pose", read_local_pose, local->rotation, 8);
    check_part(r, "stretch", espl_get_stretch, placed->stretch, 3);

    const espl_status status = espl_get_user_data(r->world, r->entity, &context);
    tape_demand(r->tape,
                r->has_placement ? status == ESPL_OK && context == placed->user_data
                                 : status == ESPL_ERR_NO_TRANSFORM && context == 12345,
                "context of node %u: %s, %u, not %u", r->node, espl_status_name(status), context,
                placed->user_data);
}

// --- Conversions ---

typedef struct conversion {
    const char *name;
    espl_conversion number;
    bool loses_axes; // those of no length
} conversion;

static const conversion conversions[] = {
    {"point to world", ESPL_POINT_TO_WORLD, false},
    {"point to local", ESPL_POINT_TO_LOCAL, true},
    {"vector to world", ESPL_VECTOR_TO_WORLD, false},
    {"vector to local", ESPL_VECTOR_TO_LOCAL, true},
    {"direction to world", ESPL_DIRECTION_TO_WORLD, false},
    {"direction to local", ESPL_DIRECTION_TO_LOCAL, false},
};

static bool is_flat(const espl_transform *t)
{
    return t->scale == 0 || t->stretch[0] == 0 || t->stretch[1] == 0 || t->stretch[2] == 0;
}

static void check_conversions(const reading *r)
{
    const float in[3] = {1.5f, -2, (float)(r->node % 7)};
    const espl_status flat = is_flat(&r->placed) ? ESPL_LOSSY : ESPL_OK;

    for (size_t i = 0; i < sizeof conversions / sizeof *conversions; ++i) {
        const conversion *const c = &conversions[i];
        float got[VALUE_LIMIT], want[3];

        fill(got);
        espl_transform_convert(&r->placed, c->number, in, want);
        const espl_status status = espl_convert(r->world, r->entity, c->number, in, got);
        check_values(r, c->name, status, c->loses_axes ? flat : ESPL_OK, got, want, 3);
    }
}

// --- Axes and matrices ---

static void check_axes(const reading *r)
{
    for (int axis = ESPL_AXIS_RIGHT; axis <= ESPL_AXIS_BACK; ++axis) {
        float got[VALUE_LIMIT], want[3];

        fill(got);
        espl_transform_axis(&r->placed, (espl_axis)axis, want);
        const espl_status status = espl_get_axis(r->world, r->entity, (espl_axis)axis, got);
        check_values(r, "axis", status, ESPL_OK, got, want, 3);
    }
    tape_demand(r->tape,
                test_is_mirrored(r->world, r->entity) ==
                    (r->has_placement && espl_transform_is_mirrored(&r->placed)),
                "node %u winds the other way", r->node);
}

static void check_matrix(const reading *r, const char *name, espl_matrix_form form,
                         const float *want, size_t count)
{
    float got[VALUE_LIMIT];

    fill(got);
    const espl_status status = espl_get_matrix(r->world, r->entity, form, got);
    check_values(r, name, status, ESPL_OK, got, want, count);
}

static void check_matrices(const reading *r)
{
    const espl_status flat = is_flat(&r->placed) ? ESPL_LOSSY : ESPL_OK;
    float want[VALUE_LIMIT], got[VALUE_LIMIT];

    espl_transform_to_matrix(&r->placed, ESPL_MATRIX_3X4, want);
    check_matrix(r, "matrix 3x4", ESPL_MATRIX_3X4, want, 12);
    espl_transform_to_matrix(&r->placed, ESPL_MATRIX_4X4, want);
    check_matrix(r, "matrix 4x4", ESPL_MATRIX_4X4, want, 16);

    fill(got);
    espl_transform_to_matrix(&r->placed, ESPL_MATRIX_4X4_INVERSE, want);
    const espl_status status = espl_get_matrix(r->world, r->entity, ESPL_MATRIX_4X4_INVERSE, got);
    check_values(r, "inverse matrix", status, flat, got, want, 16);
}

// --- As another one sees it ---

static espl_status expected_relative(const test_model *model, uint32_t frame, uint32_t node,
                                     espl_transform *out)
{
    const espl_transform before = *out;
    espl_transform seen = espl_transform_identity();

    if (!model->nodes[frame].has_placement || !model->nodes[node].has_placement) {
        return ESPL_ERR_NO_TRANSFORM;
    }
    // Stretch and user data are its own. Within a hierarchy locals tell the rest, else worlds.
    espl_transform by_locals = model->nodes[node].world;

    if (model_path(model, frame, node, UINT32_MAX, &by_locals)) {
        *out = by_locals;
        return ESPL_OK;
    }
    espl_transform above = model->nodes[frame].world, wanted = model->nodes[node].world;
    const model_shift shift = model_shift_between(model, node, frame);

    // Between cells what is rounded is the difference of the positions, once.
    for (int i = 0; i < 3 && shift.is_any; ++i) {
        wanted.position[i] =
            (float)(shift.by[i] + ((double)wanted.position[i] - (double)above.position[i]));
        above.position[i] = 0;
    }
    const espl_status status = espl_transform_relative(&above, &wanted, &seen);
    *out = model_is_finite(&seen) ? seen : before;
    return model_is_finite(&seen) ? status : ESPL_ERR_RANGE;
}

static void check_relative(const reading *r, uint32_t frame)
{
    espl_transform want = test_at(7, 7, 7), got = want;
    const espl_status expected = expected_relative(&r->tape->model, frame, r->node, &want);
    const espl_status status = espl_get_relative_transform(r->world, r->frame, r->entity, &got);

    tape_demand(r->tape, status == expected, "node %u seen from node %u answers %s, not %s",
                r->node, frame, espl_status_name(status), espl_status_name(expected));
    tape_demand(r->tape, test_same(&got, &want), "node %u is seen elsewhere from node %u", r->node,
                frame);
}

void side_compare_reads(const test_side *side, const test_tape *tape, uint32_t node, uint32_t frame)
{
    const reading r = {.tape = tape,
                       .world = side->world,
                       .entity = side->handles[node],
                       .frame = side->handles[frame],
                       .node = node,
                       .has_placement = tape->model.nodes[node].has_placement,
                       .local = model_local(&tape->model, node),
                       .placed = tape->model.nodes[node].world};

    check_parts(&r);
    check_conversions(&r);
    check_axes(&r);
    check_matrices(&r);
    check_relative(&r, frame);
}
