// SPDX-License-Identifier: MIT
// Scheme `flat`: deferred; arrays of local and world, parents before children, one scalar sweep.
// What most users write by hand. It has no way to change its structure short of sorting anew, so
// `spawn` and `reparent` are not for it.
#include "bench/schemes/scheme.h"

#include "bench/blocks.h"

#include <string.h>

struct scheme_world {
    size_t count;
    uint32_t *parents;   ///< [count] less than the node's own index, NO_NODE for a root.
    struct pose *locals; ///< [count]
    struct pose *worlds; ///< [count]

    struct scheme_swing *swings; ///< [swing_count]
    size_t swing_count;
    struct scheme_velocity *velocities; ///< [velocity_count]
    size_t velocity_count;
};

static void sweep(const struct scheme_world *world)
{
    const uint32_t *restrict const parents = world->parents;
    const struct pose *restrict const locals = world->locals;
    struct pose *restrict const worlds = world->worlds;
    const size_t count = world->count;

    for (size_t i = 0; i < count; ++i) {
        const uint32_t parent = parents[i];

        if (parent == NO_NODE) {
            worlds[i] = locals[i];
        } else {
            pose_compose(&worlds[i], &worlds[parent], &locals[i]);
        }
    }
}

static struct scheme_world *world_new(size_t count)
{
    struct scheme_world *const world = block_new(1, sizeof *world);

    *world = (struct scheme_world){
        .count = count,
        .parents = block_new(count, sizeof(uint32_t)),
        .locals = block_new(count, sizeof(struct pose)),
        .worlds = block_new(count, sizeof(struct pose)),
    };
    return world;
}

static void destroy(struct scheme_world *world)
{
    free(world->parents);
    free(world->locals);
    free(world->worlds);
    free(world->swings);
    free(world->velocities);
    free(world);
}

static struct scheme_world *create(const struct forest *forest, unsigned workers)
{
    struct scheme_world *const world = world_new(forest->count);

    (void)workers;
    for (size_t i = 0; i < forest->count; ++i) {
        world->parents[i] = forest->parents[i];
        world->locals[i] = forest->locals[i];
    }
    sweep(world);
    return world;
}

static struct scheme_world *create_copies(const struct forest *tree, const struct pose *root_locals,
                                          size_t copies, unsigned workers)
{
    const size_t size = tree->count;
    struct scheme_world *const world = world_new(size * copies);

    (void)workers;
    for (size_t copy = 0; copy < copies; ++copy) {
        const size_t root = copy * size;

        memcpy(world->locals + root, tree->locals, size * sizeof(struct pose));
        world->locals[root] = root_locals[copy];
        world->parents[root] = NO_NODE;
        for (size_t i = 1; i < size; ++i) {
            world->parents[root + i] = (uint32_t)root + tree->parents[i];
        }
    }
    sweep(world);
    return world;
}

static scheme_handle handle_of(struct scheme_world *world, uint32_t node)
{
    (void)world;
    return node;
}

static void copy_worlds(struct scheme_world *world, struct pose *out, size_t count)
{
    memcpy(out, world->worlds, count * sizeof(struct pose));
}

static size_t count_bytes(const struct scheme_world *world)
{
    return sizeof *world + world->count * (sizeof(uint32_t) + 2 * sizeof(struct pose));
}

static void write_locals(struct scheme_world *world, const struct scheme_write *writes,
                         size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        world->locals[writes[i].node] = writes[i].local;
    }
    sweep(world);
}

static void write_positions(struct scheme_world *world, const scheme_handle *nodes,
                            const float (*positions)[3], size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        memcpy(world->locals[nodes[i]].position, positions[i], sizeof positions[i]);
    }
    sweep(world);
}

// What a deferred scheme must do for a world that is true in the middle of a frame.
static void probe(struct scheme_world *world, const struct scheme_probe *probes, size_t count,
                  struct pose *out)
{
    for (size_t i = 0; i < count; ++i) {
        world->locals[probes[i].written] = probes[i].local;
        sweep(world);
        out[i] = world->worlds[probes[i].read];
    }
}

static void set_swings(struct scheme_world *world, const struct scheme_swing *swings, size_t count)
{
    world->swings = block_copy(swings, count, sizeof *swings);
    world->swing_count = count;
}

static void animate(struct scheme_world *world, float phase)
{
    for (size_t i = 0; i < world->swing_count; ++i) {
        const uint32_t node = (uint32_t)world->swings[i].node;

        world->locals[node] = swing_at(&world->swings[i].swing, phase);
    }
    sweep(world);
}

static void set_velocities(struct scheme_world *world, const struct scheme_velocity *velocities,
                           size_t count)
{
    world->velocities = block_copy(velocities, count, sizeof *velocities);
    world->velocity_count = count;
}

static void move_roots(struct scheme_world *world)
{
    for (size_t i = 0; i < world->velocity_count; ++i) {
        const uint32_t node = (uint32_t)world->velocities[i].node;

        for (int axis = 0; axis < 3; ++axis) {
            world->locals[node].position[axis] += world->velocities[i].velocity.step[axis];
        }
    }
    sweep(world);
}

static void sum_positions(struct scheme_world *world, double sum[3])
{
    const struct pose *const worlds = world->worlds;
    double x = 0, y = 0, z = 0;

    for (size_t i = 0; i < world->count; ++i) {
        x += (double)worlds[i].position[0];
        y += (double)worlds[i].position[1];
        z += (double)worlds[i].position[2];
    }
    sum[0] = x;
    sum[1] = y;
    sum[2] = z;
}

static void read_positions(struct scheme_world *world, const scheme_handle *nodes, size_t count,
                           double sum[3])
{
    double x = 0, y = 0, z = 0;

    for (size_t i = 0; i < count; ++i) {
        const float *const position = world->worlds[nodes[i]].position;

        x += (double)position[0];
        y += (double)position[1];
        z += (double)position[2];
    }
    sum[0] = x;
    sum[1] = y;
    sum[2] = z;
}

const struct scheme scheme_flat = {
    .name = "flat",
    .summary = "deferred: arrays, parents before children, one scalar sweep",
    .is_deferred = true,
    .exceptions = 1u << EXCEPTION_CONTEXT, // An array that no sweep reads.
    .create = create,
    .create_copies = create_copies,
    .destroy = destroy,
    .handle_of = handle_of,
    .copy_worlds = copy_worlds,
    .bytes = count_bytes,
    .write = write_locals,
    .write_each = write_locals,
    .write_batch = write_locals,
    .write_positions = write_positions,
    .probe = probe,
    .set_swings = set_swings,
    .animate = animate,
    .set_velocities = set_velocities,
    .move_roots = move_roots,
    .sum_positions = sum_positions,
    .read_positions = read_positions,
};
