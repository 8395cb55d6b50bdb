// SPDX-License-Identifier: MIT
// Nodes in chunks of 128, in the manner of an entity component system: columns inside a chunk, rows
// filled by swap-remove, a number per chunk that tells when its locals were last written. What the
// schemes `recursive` and `depth-sweep` have in common: storage, links, structure, and the descent
// from a node. They differ in how they propagate.
#ifndef ESPALIER_BENCH_CHUNKS_H
#define ESPALIER_BENCH_CHUNKS_H

#include "bench/schemes/scheme.h"

/// Nodes of a chunk.
#define CHUNK_ROWS 128

/// Links that lead down or on, which a propagation follows: places, or NO_NODE.
struct chunk_down {
    uint32_t first_child;
    uint32_t next_sibling; ///< Of a root: the next root.
};

/// A chunk: columns by row.
struct chunk {
    struct pose locals[CHUNK_ROWS];
    struct pose worlds[CHUNK_ROWS];
    struct chunk_down downs[CHUNK_ROWS];
    uint32_t parents[CHUNK_ROWS];           ///< NO_NODE for a root.
    uint32_t previous_siblings[CHUNK_ROWS]; ///< Of a root: the previous root.
    uint32_t handles[CHUNK_ROWS];           ///< Whose row it is.
};

_Static_assert(sizeof(struct chunk) == 84 * CHUNK_ROWS, "chunk: 32 + 32 + 8 + 4 + 4 + 4 a node");

/// What a scheme adds to the chunks. Every call but the first may be NULL.
struct chunk_rules {
    /// Bring all worlds up to date.
    void (*propagate)(struct scheme_world *world);
    /// Make room for so many chunks in what the scheme keeps itself.
    void (*grow)(struct scheme_world *world, uint32_t chunk_capacity);
    /// The last row is about to go; where another one goes, the last moves there.
    void (*drop_row)(struct scheme_world *world, uint32_t hole, uint32_t last);
    /// A node has a new parent, or is new itself, and so may be all below it.
    void (*place_subtree)(struct scheme_world *world, uint32_t top);
    /// Release what the scheme keeps itself.
    void (*release)(struct scheme_world *world);
    /// Return the bytes of it.
    size_t (*bytes)(const struct scheme_world *world);
};

struct depth_sweep;

/// A world of chunks. A node's place is 128 times its chunk plus its row; places are taken without
/// gaps, and change when a row moves. A handle is an index into `places` and stays.
struct scheme_world {
    const struct chunk_rules *rules;
    struct chunk *chunks; ///< [chunk_capacity + 1] the last is only there to be fetched ahead.
    uint32_t chunk_capacity;
    uint32_t count; ///< Nodes alive.

    uint32_t *places;      ///< [128 chunk_capacity] by handle; of a free one, the next free one.
    uint32_t handle_count; ///< Handles in use or free.
    uint32_t free_handle;  ///< First of the free ones, or NO_NODE.

    uint32_t version;         ///< Of the update to come.
    uint32_t *local_versions; ///< [chunk_capacity] update that sees the last write of locals or
                              ///< parents in the chunk.
    uint32_t first_root;

    uint32_t *stack; ///< [stack_capacity] nodes below which, and beside which, a descent goes on.
    uint32_t stack_height, stack_capacity;

    struct depth_sweep *sweep; ///< Of `depth-sweep` alone.

    struct scheme_swing *swings; ///< [swing_count]
    size_t swing_count;
    struct scheme_velocity *velocities; ///< [velocity_count]
    size_t velocity_count;
    struct pose prefab[PREFAB_SIZE];
};

static inline uint32_t chunk_of(uint32_t place)
{
    return place / CHUNK_ROWS;
}

static inline uint32_t row_of(uint32_t place)
{
    return place % CHUNK_ROWS;
}

/// Number of chunks that hold nodes.
static inline uint32_t chunks_used(const struct scheme_world *world)
{
    return (world->count + CHUNK_ROWS - 1) / CHUNK_ROWS;
}

static inline struct pose *local_at(const struct scheme_world *world, uint32_t place)
{
    return &world->chunks[chunk_of(place)].locals[row_of(place)];
}

static inline struct pose *world_at(const struct scheme_world *world, uint32_t place)
{
    return &world->chunks[chunk_of(place)].worlds[row_of(place)];
}

static inline struct chunk_down *down_at(const struct scheme_world *world, uint32_t place)
{
    return &world->chunks[chunk_of(place)].downs[row_of(place)];
}

static inline uint32_t *parent_at(const struct scheme_world *world, uint32_t place)
{
    return &world->chunks[chunk_of(place)].parents[row_of(place)];
}

static inline uint32_t *previous_at(const struct scheme_world *world, uint32_t place)
{
    return &world->chunks[chunk_of(place)].previous_siblings[row_of(place)];
}

/// Tell whether locals or parents of a node's chunk were written since the last update.
static inline bool chunk_is_written(const struct scheme_world *world, uint32_t place)
{
    return world->local_versions[chunk_of(place)] == world->version;
}

/// Return a longer block with the elements of the old one, which is released; the rest is zero.
void *chunks_lengthen(void *block, size_t count, size_t capacity, size_t size);

/// Lengthen the stack.
void chunks_grow_stack(struct scheme_world *world);

static inline void stack_push(struct scheme_world *world, uint32_t place)
{
    if (world->stack_height == world->stack_capacity) {
        chunks_grow_stack(world);
    }
    world->stack[world->stack_height++] = place;
}

/// Recompute all that is below a node.
void chunks_recompute_below(struct scheme_world *world, uint32_t top);
/// Recompute what is below a node whose own world has not changed: nodes of chunks that were
/// written, and all below these.
void chunks_search_below(struct scheme_world *world, uint32_t top);

/// Build a world, node by node.
struct scheme_world *chunks_create(const struct forest *forest, const struct chunk_rules *rules);
/// Build a world of copies of one tree.
struct scheme_world *chunks_create_copies(const struct forest *tree, const struct pose *root_locals,
                                          size_t copies, const struct chunk_rules *rules);

// What follows is as `struct scheme` says.
void chunks_destroy(struct scheme_world *world);
scheme_handle chunks_handle_of(struct scheme_world *world, uint32_t node);
void chunks_copy_worlds(struct scheme_world *world, struct pose *out, size_t count);
struct pose chunks_world_of(struct scheme_world *world, scheme_handle node);
size_t chunks_bytes(const struct scheme_world *world);
void chunks_write(struct scheme_world *world, const struct scheme_write *writes, size_t count);
void chunks_write_positions(struct scheme_world *world, const scheme_handle *nodes,
                            const float (*positions)[3], size_t count);
void chunks_probe(struct scheme_world *world, const struct scheme_probe *probes, size_t count,
                  struct pose *out);
void chunks_make_prefab(struct scheme_world *world, const struct pose locals[PREFAB_SIZE]);
void chunks_spawn(struct scheme_world *world, const struct scheme_spawn_frame *frame);
void chunks_battle(struct scheme_world *world, const struct scheme_battle_frame *frame);
void chunks_spawn_worlds(struct scheme_world *world, scheme_handle made,
                         struct pose out[PREFAB_SIZE]);
void chunks_reparent(struct scheme_world *world, const struct scheme_move *moves, size_t count);
void chunks_regraft(struct scheme_world *world, const struct scheme_move *moves, size_t count);
void chunks_set_swings(struct scheme_world *world, const struct scheme_swing *swings, size_t count);
void chunks_animate(struct scheme_world *world, float phase);
void chunks_set_velocities(struct scheme_world *world, const struct scheme_velocity *velocities,
                           size_t count);
void chunks_move_roots(struct scheme_world *world);
void chunks_sum_positions(struct scheme_world *world, double sum[3]);
void chunks_read_positions(struct scheme_world *world, const scheme_handle *nodes, size_t count,
                           double sum[3]);

/// The calls that schemes of chunks share, as members of a `struct scheme`.
#define CHUNKS_CALLS                                                                             \
    .is_deferred = true, .destroy = chunks_destroy, .handle_of = chunks_handle_of,               \
    .copy_worlds = chunks_copy_worlds, .world_of = chunks_world_of, .bytes = chunks_bytes,       \
    .write = chunks_write, .write_each = chunks_write, .write_batch = chunks_write,              \
    .write_positions = chunks_write_positions, .probe = chunks_probe,                            \
    .make_prefab = chunks_make_prefab, .spawn = chunks_spawn, .battle = chunks_battle,           \
    .spawn_worlds = chunks_spawn_worlds, .reparent = chunks_reparent, .regraft = chunks_regraft, \
    .set_swings = chunks_set_swings, .animate = chunks_animate,                                  \
    .set_velocities = chunks_set_velocities, .move_roots = chunks_move_roots,                    \
    .sum_positions = chunks_sum_positions, .read_positions = chunks_read_positions

#endif
