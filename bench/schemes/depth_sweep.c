// SPDX-License-Identifier: MIT
// Scheme `depth-sweep`: deferred; nodes in chunks, with a depth byte per node and a mask per chunk
// of the depths that occur in it. An update goes from depth to depth over the chunks that hold it:
// a first pass finds the chunks that must follow, those that were written and those with a node
// whose parent stands in a chunk whose worlds were; a second one recomputes their nodes of that
// depth, each from its parent wherever that stands. What lies deeper than the mask reaches is
// recomputed by descent. After the Latios Framework's hierarchies for Unity's Entities.
#include "bench/schemes/chunks.h"

#include "bench/blocks.h"

#include <string.h>

/// Depths that a mask tells apart, 0 to 15.
#define DEPTHS 16

/// Depth byte of all nodes that the sweep leaves to the descent, and of a row without a node.
#define DEPTH_BELOW DEPTHS
#define DEPTH_NONE UINT8_MAX

struct depth_sweep {
    uint8_t *depths;          ///< [128 chunk_capacity] by place
    uint16_t *masks;          ///< [chunk_capacity] bit d: a node of depth d stands in the chunk.
    bool *is_stale;           ///< [chunk_capacity] the mask may be wrong.
    bool has_stale;           ///< Some chunk is stale.
    uint32_t *world_versions; ///< [chunk_capacity] last update that wrote worlds of the chunk.
    uint32_t *due;            ///< [chunk_capacity] chunks to recompute at the depth at hand.

    uint32_t *binned; ///< [binned_capacity] chunks, by the depths that occur in them.
    size_t binned_capacity;
    size_t bins[DEPTHS + 1]; ///< Bin d is binned[bins[d]] up to binned[bins[d + 1]].
};

/// Rows of one depth in a chunk, ascending.
struct row_list {
    uint32_t chunk;
    unsigned count;
    uint8_t rows[CHUNK_ROWS]; ///< [count]
};

static void grow(struct scheme_world *world, uint32_t capacity)
{
    struct depth_sweep *sweep = world->sweep;
    const uint32_t old = world->chunk_capacity;

    if (sweep == NULL) {
        sweep = world->sweep = chunks_lengthen(NULL, 0, 1, sizeof *sweep);
    }
    sweep->depths = chunks_lengthen(sweep->depths, (size_t)old * CHUNK_ROWS,
                                    (size_t)capacity * CHUNK_ROWS, sizeof *sweep->depths);
    memset(sweep->depths + (size_t)old * CHUNK_ROWS, DEPTH_NONE,
           (size_t)(capacity - old) * CHUNK_ROWS);
    sweep->masks = chunks_lengthen(sweep->masks, old, capacity, sizeof *sweep->masks);
    sweep->is_stale = chunks_lengthen(sweep->is_stale, old, capacity, sizeof *sweep->is_stale);
    sweep->world_versions =
        chunks_lengthen(sweep->world_versions, old, capacity, sizeof *sweep->world_versions);
    sweep->due = chunks_lengthen(sweep->due, 0, capacity, sizeof *sweep->due);
}

static void release(struct scheme_world *world)
{
    struct depth_sweep *const sweep = world->sweep;

    free(sweep->depths);
    free(sweep->masks);
    free(sweep->is_stale);
    free(sweep->world_versions);
    free(sweep->due);
    free(sweep->binned);
    free(sweep);
}

static size_t count_bytes(const struct scheme_world *world)
{
    const struct depth_sweep *const sweep = world->sweep;
    const size_t of_chunk = CHUNK_ROWS * sizeof *sweep->depths + sizeof *sweep->masks +
                            sizeof *sweep->is_stale + sizeof *sweep->world_versions +
                            sizeof *sweep->due;

    return sizeof *sweep + world->chunk_capacity * of_chunk +
           sweep->binned_capacity * sizeof *sweep->binned;
}

static void depth_set(struct depth_sweep *sweep, uint32_t place, uint8_t depth)
{
    sweep->depths[place] = depth;
    sweep->is_stale[chunk_of(place)] = true;
    sweep->has_stale = true;
}

static void drop_row(struct scheme_world *world, uint32_t hole, uint32_t last)
{
    struct depth_sweep *const sweep = world->sweep;

    depth_set(sweep, hole, sweep->depths[last]);
    depth_set(sweep, last, DEPTH_NONE);
}

static uint8_t depth_below(const struct depth_sweep *sweep, uint32_t parent)
{
    if (parent == NO_NODE) {
        return 0;
    }
    return sweep->depths[parent] < DEPTH_BELOW ? (uint8_t)(sweep->depths[parent] + 1) : DEPTH_BELOW;
}

// What hangs below a node that keeps its depth keeps its own; a new node has had none.
static void place_subtree(struct scheme_world *world, uint32_t top)
{
    struct depth_sweep *const sweep = world->sweep;
    const uint8_t depth = depth_below(sweep, *parent_at(world, top));

    if (sweep->depths[top] == depth) {
        return;
    }

    depth_set(sweep, top, depth);
    stack_push(world, top);
    while (world->stack_height > 0) {
        const uint32_t parent = world->stack[--world->stack_height];
        uint32_t child = down_at(world, parent)->first_child;

        while (child != NO_NODE) {
            const struct chunk_down down = *down_at(world, child);

            depth_set(sweep, child, depth_below(sweep, parent));
            if (down.first_child != NO_NODE) {
                stack_push(world, child);
            }
            child = down.next_sibling;
        }
    }
}

static uint16_t mask_of(const uint8_t depths[CHUNK_ROWS])
{
    uint32_t mask = 0;

    for (int row = 0; row < CHUNK_ROWS; ++row) {
        mask |= depths[row] < DEPTHS ? 1u << depths[row] : 0;
    }
    return (uint16_t)mask;
}

// Count what goes into each bin; then `bins` holds where each begins.
static void count_bins(struct depth_sweep *sweep, uint32_t chunks)
{
    size_t counts[DEPTHS] = {0};

    for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
        for (uint32_t mask = sweep->masks[chunk]; mask != 0; mask &= mask - 1) {
            ++counts[__builtin_ctz(mask)];
        }
    }
    sweep->bins[0] = 0;
    for (int depth = 0; depth < DEPTHS; ++depth) {
        sweep->bins[depth + 1] = sweep->bins[depth] + counts[depth];
    }
}

static void fill_bins(struct depth_sweep *sweep, uint32_t chunks)
{
    size_t ends[DEPTHS];

    memcpy(ends, sweep->bins, sizeof ends);
    for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
        for (uint32_t mask = sweep->masks[chunk]; mask != 0; mask &= mask - 1) {
            sweep->binned[ends[__builtin_ctz(mask)]++] = chunk;
        }
    }
}

// Masks and bins stand until the structure changes.
static void bin_chunks(const struct scheme_world *world)
{
    struct depth_sweep *const sweep = world->sweep;
    const uint32_t chunks = chunks_used(world);

    if (!sweep->has_stale) {
        return;
    }
    for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
        if (sweep->is_stale[chunk]) {
            sweep->masks[chunk] = mask_of(sweep->depths + (size_t)chunk * CHUNK_ROWS);
        }
    }
    memset(sweep->is_stale, 0, world->chunk_capacity * sizeof *sweep->is_stale);
    sweep->has_stale = false;

    count_bins(sweep, chunks);
    if (sweep->bins[DEPTHS] > sweep->binned_capacity) {
        sweep->binned_capacity = sweep->bins[DEPTHS] + sweep->bins[DEPTHS] / 2;
        free(sweep->binned);
        sweep->binned = block_new(sweep->binned_capacity, sizeof *sweep->binned);
    }
    fill_bins(sweep, chunks);
}

// Eight rows whose depth is a given one, a bit each. The first factor spreads the depth; a byte is
// zero where the two are equal, which the sum finds exactly; the second factor gathers the bits.
static inline uint64_t rows_of_eight(const uint8_t d[8], uint64_t depth)
{
    const uint64_t low = 0x7f7f7f7f7f7f7f7fu;
    // Spelled out, this is one load.
    const uint64_t bytes = (uint64_t)d[0] | (uint64_t)d[1] << 8 | (uint64_t)d[2] << 16 |
                           (uint64_t)d[3] << 24 | (uint64_t)d[4] << 32 | (uint64_t)d[5] << 40 |
                           (uint64_t)d[6] << 48 | (uint64_t)d[7] << 56;
    const uint64_t rest = bytes ^ depth * 0x0101010101010101u;
    const uint64_t is_zero = ~(((rest & low) + low) | rest | low) >> 7;

    return is_zero * 0x0102040810204080u >> 56;
}

// The same of 64 rows.
static inline uint64_t rows_of_word(const uint8_t depths[64], uint64_t depth)
{
    uint64_t rows = 0;

    for (unsigned row = 0; row < 64; row += 8) {
        rows |= rows_of_eight(depths + row, depth) << row;
    }
    return rows;
}

static void rows_find(struct row_list *out, const struct depth_sweep *sweep, uint32_t chunk,
                      unsigned depth)
{
    const uint8_t *const depths = sweep->depths + (size_t)chunk * CHUNK_ROWS;
    unsigned count = 0;

    for (unsigned first = 0; first < CHUNK_ROWS; first += 64) {
        for (uint64_t left = rows_of_word(depths + first, depth); left != 0; left &= left - 1) {
            out->rows[count++] = (uint8_t)(first + (unsigned)__builtin_ctzll(left));
        }
    }
    out->chunk = chunk;
    out->count = count;
}

// Tell whether a parent of a row of a depth stands in a chunk whose worlds this update has written.
static bool parents_have_moved(const struct scheme_world *world, uint32_t chunk, unsigned depth)
{
    const uint32_t *const parents = world->chunks[chunk].parents;
    const uint8_t *const depths = world->sweep->depths + (size_t)chunk * CHUNK_ROWS;
    const uint32_t *const versions = world->sweep->world_versions;

    for (unsigned first = 0; first < CHUNK_ROWS; first += 64) {
        for (uint64_t left = rows_of_word(depths + first, depth); left != 0; left &= left - 1) {
            const unsigned row = first + (unsigned)__builtin_ctzll(left);

            if (versions[chunk_of(parents[row])] == world->version) {
                return true;
            }
        }
    }
    return false;
}

// A chunk's column of parents is short, and the chunks of a bin lie apart.
static inline void parents_fetch(const struct chunk *chunk)
{
    enum { of_line = 64 / sizeof chunk->parents[0] };

    for (unsigned row = 0; row < CHUNK_ROWS; row += of_line) {
        __builtin_prefetch(&chunk->parents[row]);
    }
}

// Return how many chunks of a bin are due.
static size_t check_depth(const struct scheme_world *world, unsigned depth)
{
    const struct depth_sweep *const sweep = world->sweep;
    size_t count = 0;

    for (size_t i = sweep->bins[depth]; i < sweep->bins[depth + 1]; ++i) {
        const uint32_t chunk = sweep->binned[i];
        const bool is_written = world->local_versions[chunk] == world->version;

        if (i + 1 < sweep->bins[depth + 1]) {
            parents_fetch(&world->chunks[sweep->binned[i + 1]]);
        }
        sweep->due[count] = chunk;
        count += is_written || (depth > 0 && parents_have_moved(world, chunk, depth));
    }
    return count;
}

// The world of the parent is not fetched: looking the parent up ahead of time costs more than it
// saves (50000x20: 38 ns a node against 26).
static inline void row_fetch(const struct scheme_world *world, const struct row_list *list,
                             unsigned i)
{
    const struct chunk *const chunk = &world->chunks[list->chunk];
    const uint32_t row = list->rows[i];

    __builtin_prefetch(&chunk->locals[row]);
    __builtin_prefetch(&chunk->worlds[row], 1);
    __builtin_prefetch(&chunk->parents[row]);
}

// Recompute rows; meanwhile those that come next are fetched.
static void update_rows(const struct scheme_world *world, const struct row_list *list,
                        const struct row_list *next)
{
    struct chunk *const chunk = &world->chunks[list->chunk];

    for (unsigned i = 0; i < list->count; ++i) {
        const uint32_t row = list->rows[i];
        const uint32_t parent = chunk->parents[row];

        if (i < next->count) {
            row_fetch(world, next, i);
        }
        if (parent == NO_NODE) {
            chunk->worlds[row] = chunk->locals[row];
        } else {
            pose_compose(&chunk->worlds[row], world_at(world, parent), &chunk->locals[row]);
        }
    }
}

static void update_depth(const struct scheme_world *world, unsigned depth, size_t due_count)
{
    const struct depth_sweep *const sweep = world->sweep;
    struct row_list lists[2];

    if (due_count == 0) {
        return;
    }
    rows_find(&lists[0], sweep, sweep->due[0], depth);
    for (size_t i = 0; i < due_count; ++i) {
        struct row_list *const next = &lists[(i + 1) % 2];

        next->count = 0;
        if (i + 1 < due_count) {
            rows_find(next, sweep, sweep->due[i + 1], depth);
        }
        update_rows(world, &lists[i % 2], next);
        sweep->world_versions[sweep->due[i]] = world->version;
    }
}

// Below the last depth of a mask whole hierarchies are descended from the nodes that have it.
static void descend(struct scheme_world *world)
{
    const struct depth_sweep *const sweep = world->sweep;

    for (size_t i = sweep->bins[DEPTHS - 1]; i < sweep->bins[DEPTHS]; ++i) {
        const uint32_t chunk = sweep->binned[i];
        const bool has_moved = sweep->world_versions[chunk] == world->version;
        struct row_list list;

        rows_find(&list, sweep, chunk, DEPTHS - 1);
        for (unsigned r = 0; r < list.count; ++r) {
            const uint32_t place = chunk * CHUNK_ROWS + list.rows[r];

            has_moved ? chunks_recompute_below(world, place) : chunks_search_below(world, place);
        }
    }
}

static void propagate(struct scheme_world *world)
{
    bin_chunks(world);
    for (unsigned depth = 0; depth < DEPTHS; ++depth) {
        update_depth(world, depth, check_depth(world, depth));
    }
    descend(world);
}

static const struct chunk_rules rules = {propagate,     grow,    drop_row,
                                         place_subtree, release, count_bytes};

static struct scheme_world *create(const struct forest *forest, unsigned workers)
{
    (void)workers;
    return chunks_create(forest, &rules);
}

static struct scheme_world *create_copies(const struct forest *tree, const struct pose *root_locals,
                                          size_t copies, unsigned workers)
{
    (void)workers;
    return chunks_create_copies(tree, root_locals, copies, &rules);
}

const struct scheme scheme_depth_sweep = {
    .name = "depth-sweep",
    .summary = "deferred: chunks binned by depth, a check and an update pass per depth",
    .create = create,
    .create_copies = create_copies,
    CHUNKS_CALLS,
};
