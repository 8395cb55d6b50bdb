// SPDX-License-Identifier: MIT
// Scheme `eased`: arrays with two locals for each node, that at the begin of the tick and that at its
// end. Each frame blends both locals of all nodes, rotations by a spherical interpolation, and composes
// the worlds that are shown in one scalar sweep. After the easing crates of the Bevy engine. Nothing
// but the shown worlds is computed.
#include "bench/schemes/scheme.h"

#include "bench/blocks.h"

#include <math.h>

struct scheme_world {
    size_t count;
    uint32_t *parents;     ///< [count] less than the node's own index, NO_NODE for a root.
    struct pose *previous; ///< [count] locals at the begin of the last tick
    struct pose *locals;   ///< [count] at its end
    struct pose *shown;    ///< [count] worlds
};

// Return the angle whose cosine is given, in [0, 1], as good as floats go. The polynomial is that of
// Abramowitz and Stegun, 4.4.46.
static float angle_of(float cosine)
{
    const float x = cosine;
    float sum = -0.0012624911f;

    sum = sum * x + 0.0066700901f;
    sum = sum * x - 0.0170881256f;
    sum = sum * x + 0.0308918810f;
    sum = sum * x - 0.0501743046f;
    sum = sum * x + 0.0889789874f;
    sum = sum * x - 0.2145988016f;
    sum = sum * x + 1.5707963050f;
    return sum * sqrtf(1 - x);
}

// Return the sine of an angle in [0, pi / 2]: its series up to the eleventh power.
static float sine_of(float angle)
{
    const float square = angle * angle;
    float sum = -2.5052108e-8f;

    sum = sum * square + 2.7557319e-6f;
    sum = sum * square - 1.9841270e-4f;
    sum = sum * square + 8.3333333e-3f;
    sum = sum * square - 1.6666667e-1f;
    return angle + angle * square * sum;
}

// Two rotations that are nearly equal are blended linearly, because the sine of their angle is near 0.
// Equal ones are among them: the square of a rotation is 1 as nearly as floats go.
static void rotation_blend(float *restrict out, const float *a, const float *b, float at)
{
    const float near = 0.999999f;
    const float product = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    const float cosine = fabsf(product);
    float weight_a = 1 - at, weight_b = at, divisor;

    if (cosine <= near) {
        const float angle = angle_of(cosine);

        weight_a = sine_of(weight_a * angle);
        weight_b = sine_of(weight_b * angle);
        divisor = 1 / sine_of(angle);
    } else {
        divisor = 1;
    }
    weight_a *= divisor;
    weight_b *= product < 0 ? -divisor : divisor;
    for (int i = 0; i < 4; ++i) {
        out[i] = a[i] * weight_a + b[i] * weight_b;
    }
}

static void pose_blend(struct pose *restrict out, const struct pose *a, const struct pose *b,
                       float at)
{
    rotation_blend(out->rotation, a->rotation, b->rotation, at);
    for (int axis = 0; axis < 3; ++axis) {
        out->position[axis] = a->position[axis] + (b->position[axis] - a->position[axis]) * at;
    }
    out->scale = a->scale + (b->scale - a->scale) * at;
}

static void blend_all(const struct scheme_world *world, float at)
{
    const struct pose *restrict const previous = world->previous;
    const struct pose *restrict const locals = world->locals;
    struct pose *restrict const shown = world->shown;
    const size_t count = world->count;

    for (size_t i = 0; i < count; ++i) {
        pose_blend(&shown[i], &previous[i], &locals[i], at);
    }
}

// Two passes, because a pass that composes each blend at once takes 1.4 to 1.6 times as long.
static void show(const struct scheme_world *world, float at)
{
    const uint32_t *restrict const parents = world->parents;
    struct pose *restrict const shown = world->shown;
    const size_t count = world->count;

    blend_all(world, at);
    for (size_t i = 0; i < count; ++i) {
        const uint32_t parent = parents[i];

        if (parent != NO_NODE) {
            const struct pose blended = shown[i];

            pose_compose(&shown[i], &shown[parent], &blended);
        }
    }
}

static struct scheme_world *create(const struct forest *forest, unsigned workers)
{
    const size_t count = forest->count;
    struct scheme_world *const world = block_new(1, sizeof *world);

    (void)workers;
    *world = (struct scheme_world){
        .count = count,
        .parents = block_copy(forest->parents, count, sizeof(uint32_t)),
        .previous = block_copy(forest->locals, count, sizeof(struct pose)),
        .locals = block_copy(forest->locals, count, sizeof(struct pose)),
        .shown = block_new(count, sizeof(struct pose)),
    };
    return world;
}

static void destroy(struct scheme_world *world)
{
    free(world->parents);
    free(world->previous);
    free(world->locals);
    free(world->shown);
    free(world);
}

static scheme_handle handle_of(struct scheme_world *world, uint32_t node)
{
    (void)world;
    return node;
}

// The worlds at the end of the tick, which no frame needs.
static void copy_worlds(struct scheme_world *world, struct pose *out, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const uint32_t parent = world->parents[i];

        if (parent == NO_NODE) {
            out[i] = world->locals[i];
        } else {
            pose_compose(&out[i], &out[parent], &world->locals[i]);
        }
    }
}

static void copy_shown(struct scheme_world *world, struct pose *out, size_t count)
{
    memcpy(out, world->shown, count * sizeof(struct pose));
}

static size_t count_bytes(const struct scheme_world *world)
{
    return sizeof *world + world->count * (sizeof(uint32_t) + 3 * sizeof(struct pose));
}

static void track(struct scheme_world *world, enum scheme_tracking tracking)
{
    (void)world;
    (void)tracking;
}

static void tick(struct scheme_world *world, const struct scheme_write *writes, size_t count,
                 float at)
{
    memcpy(world->previous, world->locals, world->count * sizeof(struct pose));
    for (size_t i = 0; i < count; ++i) {
        world->locals[writes[i].node] = writes[i].local;
    }
    show(world, at);
}

const struct scheme scheme_eased = {
    .name = "eased",
    .summary = "deferred: arrays with two locals a node, all blended in each frame",
    .is_deferred = true,
    .is_variant = true,
    .create = create,
    .destroy = destroy,
    .handle_of = handle_of,
    .copy_worlds = copy_worlds,
    .bytes = count_bytes,
    .track = track,
    .tick = tick,
    .copy_shown = copy_shown,
};
