// SPDX-License-Identifier: MIT
// Scheme `ticks`: arrays of local and world, parents before children, and for each node the number of
// the tick in which its world changed last. A consumer remembers the tick of its last look, and scans
// the ticks of all nodes. After the change detection of the Bevy engine, which has such a tick for each
// component.
#include "bench/schemes/scheme.h"

#include "bench/blocks.h"

struct scheme_world {
    size_t count;
    uint32_t *parents;   ///< [count] less than the node's own index, NO_NODE for a root.
    struct pose *locals; ///< [count]
    struct pose *worlds; ///< [count]
    uint32_t *ticks;     ///< [count] when the world changed last
    uint32_t now;        ///< The present tick.
    uint32_t seen;       ///< The tick of the last look.

    scheme_handle *changed; ///< [count] of the last look
    struct pose *copies;    ///< [count] their worlds
};

// Recompute the nodes that were written in this tick, and those below a node that was.
static void sweep(const struct scheme_world *world)
{
    const uint32_t *restrict const parents = world->parents;
    uint32_t *restrict const ticks = world->ticks;
    const uint32_t now = world->now;

    for (size_t i = 0; i < world->count; ++i) {
        const uint32_t parent = parents[i];

        if (ticks[i] != now && (parent == NO_NODE || ticks[parent] != now)) {
            continue;
        }
        ticks[i] = now;
        if (parent == NO_NODE) {
            world->worlds[i] = world->locals[i];
        } else {
            pose_compose(&world->worlds[i], &world->worlds[parent], &world->locals[i]);
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
        .locals = block_copy(forest->locals, count, sizeof(struct pose)),
        .worlds = block_new(count, sizeof(struct pose)),
        .ticks = block_new(count, sizeof(uint32_t)),
        .now = 1,
        .changed = block_new(count, sizeof(scheme_handle)),
        .copies = block_new(count, sizeof(struct pose)),
    };
    for (size_t i = 0; i < count; ++i) {
        world->ticks[i] = world->now;
    }
    sweep(world);
    return world;
}

static void destroy(struct scheme_world *world)
{
    free(world->parents);
    free(world->locals);
    free(world->worlds);
    free(world->ticks);
    free(world->changed);
    free(world->copies);
    free(world);
}

static scheme_handle handle_of(struct scheme_world *world, uint32_t node)
{
    (void)world;
    return node;
}

static uint32_t number_of(struct scheme_world *world, scheme_handle node)
{
    (void)world;
    return (uint32_t)node;
}

static void copy_worlds(struct scheme_world *world, struct pose *out, size_t count)
{
    memcpy(out, world->worlds, count * sizeof(struct pose));
}

static size_t count_bytes(const struct scheme_world *world)
{
    return sizeof *world +
           world->count * (2 * sizeof(uint32_t) + 3 * sizeof(struct pose) + sizeof(scheme_handle));
}

static void change(struct scheme_world *world, const struct scheme_write *writes, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        world->locals[writes[i].node] = writes[i].local;
        world->ticks[writes[i].node] = world->now;
    }
    sweep(world);
}

// Ticks are compared by their difference, because they wrap.
static bool is_newer(uint32_t tick, uint32_t seen)
{
    return (int32_t)(tick - seen) > 0;
}

enum { group = 32 };

// Without a branch in the loop, so that the compiler has wide instructions for it.
static bool group_has_newer(const uint32_t *ticks, uint32_t seen)
{
    uint32_t newer = 0;

    for (int i = 0; i < group; ++i) {
        newer |= seen - ticks[i];
    }
    return newer >> 31 != 0;
}

static size_t take_newer(const struct scheme_world *world, size_t begin, size_t end, size_t taken)
{
    for (size_t i = begin; i < end; ++i) {
        if (is_newer(world->ticks[i], world->seen)) {
            world->changed[taken] = i;
            world->copies[taken++] = world->worlds[i];
        }
    }
    return taken;
}

static struct scheme_changes collect(struct scheme_world *world)
{
    const size_t whole = world->count / group * group;
    size_t taken = 0;

    for (size_t begin = 0; begin < whole; begin += group) {
        if (group_has_newer(world->ticks + begin, world->seen)) {
            taken = take_newer(world, begin, begin + group, taken);
        }
    }
    taken = take_newer(world, whole, world->count, taken);

    world->seen = world->now++;
    return (struct scheme_changes){world->changed, world->copies, sizeof *world->copies, taken};
}

static void track(struct scheme_world *world, enum scheme_tracking tracking)
{
    (void)tracking;
    (void)collect(world);
}

const struct scheme scheme_ticks = {
    .name = "ticks",
    .summary = "deferred: arrays with a tick of the last change for each node",
    .is_deferred = true,
    .is_variant = true,
    .create = create,
    .destroy = destroy,
    .handle_of = handle_of,
    .number_of = number_of,
    .copy_worlds = copy_worlds,
    .bytes = count_bytes,
    .change = change,
    .track = track,
    .collect = collect,
};
