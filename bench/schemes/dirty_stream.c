// SPDX-License-Identifier: MIT
// Scheme `dirty-stream`: deferred; trees lie in depth-first order, so that a subtree is an interval,
// and a stream of bits tells which intervals are out of date. After the transform hierarchy that
// Alex Sabourin wrote about in 2019. Idle stretches cost a bit a node, and one node at a time is
// composed in vector registers. Groups of whole trees go to threads. There is no way to change the
// structure short of laying all nodes out anew, so `spawn` and `reparent` are not for it.
//
// Scheme `deferred`: its variant for the loads about ways to write. It is what a deferred mode of a library
// would be: each write is a call that looks its handle up, checks the value, stores it and marks the node, and
// one call at the end brings all worlds up to date.
#include "bench/schemes/scheme.h"

#include "bench/blocks.h"
#include "bench/crew.h"
#include "bench/schemes/lanes.h"

#include <math.h>
#include <string.h>

enum {
    word_bits = 64,
    group_size = 2048, ///< Nodes that a group has at least; the last one may have fewer.
    batch_size = 16,   ///< Words with marks that are found before the first of them is worked on.
    fetch_limit = 2,   ///< Intervals of a word that are fetched beforehand.
};

/// What a handle of `deferred` names: index in the low word, generation in the high one.
struct record {
    uint32_t generation;
    uint32_t place;
};

/// Nodes of whole trees: [first, end). The next group begins with a word of its own.
struct group {
    uint32_t first;
    uint32_t end;
};

struct scheme_world {
    size_t count;     ///< Nodes.
    size_t capacity;  ///< Indices, those between groups included: whole words.
    uint32_t *places; ///< [count] index of a node by its number, for handles.

    uint32_t *parents;   ///< [capacity] index, NO_NODE for a root.
    uint32_t *lasts;     ///< [capacity] index of the last node of the subtree.
    struct pose *locals; ///< [capacity]
    struct pose *worlds; ///< [capacity]
    uint64_t *opens;     ///< [capacity / word_bits] a bit for each node that an interval opens at.
    uint32_t low, high;  ///< Words [low, high) may have bits.

    struct group *groups; ///< [group_count]
    size_t group_count;
    struct crew *crew;
    struct record *records; ///< [count] by number, in `deferred`; NULL: handles are indices.

    struct scheme_swing *swings; ///< [swing_count]
    size_t swing_count;
    struct scheme_velocity *velocities; ///< [velocity_count]
    size_t velocity_count;
};

// Note that a subtree is out of date.
static inline void mark(struct scheme_world *world, uint32_t node)
{
    const uint32_t word = node / word_bits;

    world->opens[word] |= (uint64_t)1 << node % word_bits;
    world->low = word < world->low ? word : world->low;
    world->high = word >= world->high ? word + 1 : world->high;
}

// Compose the interval of a subtree. Only its first node can be a root.
static inline void sweep(const struct scheme_world *world, uint32_t first, uint32_t last)
{
    const uint32_t *restrict const parents = world->parents;
    const struct pose *restrict const locals = world->locals;
    struct pose *restrict const worlds = world->worlds;

    if (parents[first] == NO_NODE) {
        worlds[first] = locals[first];
    } else {
        pose_compose_lanes(&worlds[first], &worlds[parents[first]], &locals[first]);
    }
    for (size_t i = (size_t)first + 1; i <= last; ++i) {
        pose_compose_lanes(&worlds[i], &worlds[parents[i]], &locals[i]);
    }
}

// Ask for what the first intervals of a word need. gcc 12 drops calls of a function that does
// nothing else, unless told to inline it.
__attribute__((always_inline)) static inline void fetch(const struct scheme_world *world,
                                                        uint32_t word)
{
    uint64_t bits = world->opens[word];

    for (int i = 0; bits != 0 && i < fetch_limit; ++i) {
        const size_t node = (size_t)word * word_bits + (size_t)__builtin_ctzll(bits);

        __builtin_prefetch(&world->lasts[node]);
        __builtin_prefetch(&world->parents[node]);
        __builtin_prefetch(&world->locals[node]);
        __builtin_prefetch(&world->worlds[node]);
        bits &= bits - 1;
    }
}

// Clear the bits of a word, and compose each interval that is open and in no other, clearing what
// lies inside: an interval ends at the last node of the subtree of the node it opens at, and bits
// inside say nothing new.
//
// The published stream has a second bit a node, where an interval closes, and counts the open ones.
// That loses one where two close at the same node, as those of a parent and its last child do.
static void scan_word(const struct scheme_world *world, uint32_t word)
{
    uint64_t *const opens = world->opens;

    while (opens[word] != 0) {
        const uint32_t first = word * word_bits + (uint32_t)__builtin_ctzll(opens[word]);
        const uint32_t last = world->lasts[first];
        const uint32_t end = last / word_bits;

        sweep(world, first, last);
        if (end > word) {
            memset(opens + word, 0, (end - word) * sizeof *opens);
            word = end;
        }
        opens[word] &= (~(uint64_t)0 << last % word_bits) << 1;
    }
}

// Bring up to date what the bits of words [begin, end) mark. Intervals do not leave them.
static void scan(const struct scheme_world *world, uint32_t begin, uint32_t end)
{
    uint32_t words[batch_size];
    uint32_t word = begin;

    while (word < end) {
        uint32_t count = 0;

        for (; word < end && count < batch_size; ++word) {
            if (world->opens[word] != 0) {
                fetch(world, word);
                words[count++] = word;
            }
        }
        for (uint32_t i = 0; i < count; ++i) {
            scan_word(world, words[i]);
        }
    }
}

/// Words [begin, end) of the group.
static uint32_t group_word(uint32_t node)
{
    return (node + word_bits - 1) / word_bits;
}

static void scan_groups(void *context, size_t begin, size_t end)
{
    const struct scheme_world *const world = context;

    for (size_t i = begin; i < end; ++i) {
        const struct group *const group = &world->groups[i];
        const uint32_t low = group_word(group->first);
        const uint32_t high = group_word(group->end);

        scan(world, low > world->low ? low : world->low, high < world->high ? high : world->high);
    }
}

// With one worker groups do not matter.
static void propagate(struct scheme_world *world)
{
    if (world->crew == NULL) {
        scan(world, world->low, world->high);
    } else {
        crew_run(world->crew, scan_groups, world, world->group_count, 1);
    }
    world->low = UINT32_MAX;
    world->high = 0;
}

// Arrays for so many nodes, and all the words that groups of them may fill.
static struct scheme_world *world_new(size_t count, unsigned workers)
{
    struct scheme_world *const world = block_new(1, sizeof *world);
    const size_t group_limit = count / group_size + 1;
    const size_t word_limit = count / word_bits + group_limit;
    const size_t capacity = word_limit * word_bits;

    *world = (struct scheme_world){
        .count = count,
        .capacity = capacity,
        .places = block_new(count, sizeof(uint32_t)),
        .parents = block_new(capacity, sizeof(uint32_t)),
        .lasts = block_new(capacity, sizeof(uint32_t)),
        .locals = block_new(capacity, sizeof(struct pose)),
        .worlds = block_new(capacity, sizeof(struct pose)),
        .opens = block_new(word_limit, sizeof(uint64_t)),
        .low = UINT32_MAX,
        .groups = block_new(group_limit, sizeof(struct group)),
        .crew = crew_create(workers),
    };
    memset(world->opens, 0, word_limit * sizeof(uint64_t));
    return world;
}

static void destroy(struct scheme_world *world)
{
    crew_destroy(world->crew);
    free(world->places);
    free(world->parents);
    free(world->lasts);
    free(world->locals);
    free(world->worlds);
    free(world->opens);
    free(world->groups);
    free(world->records);
    free(world->swings);
    free(world->velocities);
    free(world);
}

// Return the index of the root of the next tree, of so many nodes: in the last group, or in a new
// one where that has its size.
static uint32_t tree_new(struct scheme_world *world, uint32_t size)
{
    struct group *group = world->groups + world->group_count;
    const uint32_t end = world->group_count > 0 ? group[-1].end : 0;

    if (world->group_count > 0 && end - group[-1].first < group_size) {
        --group;
    } else {
        group->first = group_word(end) * word_bits;
        group->end = group->first;
        ++world->group_count;
    }
    group->end += size;
    return group->end - size;
}

// Return how many nodes each subtree has. [forest->count]
static uint32_t *subtree_sizes(const struct forest *forest)
{
    uint32_t *const sizes = block_new(forest->count, sizeof *sizes);

    for (size_t i = 0; i < forest->count; ++i) {
        sizes[i] = 1;
    }
    for (size_t i = forest->count; i-- > 0;) {
        if (forest->parents[i] != NO_NODE) {
            sizes[forest->parents[i]] += sizes[i];
        }
    }
    return sizes;
}

// A parent has a smaller number than its children, so it has its place before them; it keeps where
// the next one of them goes.
static struct scheme_world *lay_out(const struct forest *forest, unsigned workers)
{
    struct scheme_world *const world = world_new(forest->count, workers);
    uint32_t *const sizes = subtree_sizes(forest);
    uint32_t *const next_places = block_new(forest->count, sizeof *next_places);

    for (size_t i = 0; i < forest->count; ++i) {
        const uint32_t parent = forest->parents[i];
        const bool is_root = parent == NO_NODE;
        const uint32_t place = is_root ? tree_new(world, sizes[i]) : next_places[parent];

        if (!is_root) {
            next_places[parent] += sizes[i];
        }
        next_places[i] = place + 1;
        world->places[i] = place;
        world->parents[place] = is_root ? NO_NODE : world->places[parent];
        world->lasts[place] = place + sizes[i] - 1;
        world->locals[place] = forest->locals[i];
    }
    free(sizes);
    free(next_places);
    return world;
}

static void propagate_all(const struct scheme_world *world)
{
    for (size_t i = 0; i < world->group_count; ++i) {
        for (uint32_t node = world->groups[i].first; node < world->groups[i].end;) {
            sweep(world, node, world->lasts[node]);
            node = world->lasts[node] + 1;
        }
    }
}

static struct scheme_world *create(const struct forest *forest, unsigned workers)
{
    struct scheme_world *const world = lay_out(forest, workers);

    propagate_all(world);
    return world;
}

// A copy lies as the tree does that it is one of, from another index on.
static void copy_tree(struct scheme_world *world, const struct scheme_world *tree, uint32_t number)
{
    const uint32_t size = (uint32_t)tree->count;
    const uint32_t root = tree_new(world, size);

    memcpy(world->locals + root, tree->locals, size * sizeof(struct pose));
    for (uint32_t i = 0; i < size; ++i) {
        world->places[number + i] = root + tree->places[i];
        world->parents[root + i] = root + tree->parents[i];
        world->lasts[root + i] = root + tree->lasts[i];
    }
    world->parents[root] = NO_NODE;
}

static struct scheme_world *create_copies(const struct forest *tree, const struct pose *root_locals,
                                          size_t copies, unsigned workers)
{
    struct scheme_world *const prefab = lay_out(tree, 1);
    struct scheme_world *const world = world_new(tree->count * copies, workers);

    for (size_t copy = 0; copy < copies; ++copy) {
        const uint32_t number = (uint32_t)(copy * tree->count);

        copy_tree(world, prefab, number);
        world->locals[world->places[number]] = root_locals[copy];
    }
    destroy(prefab);
    propagate_all(world);
    return world;
}

static scheme_handle handle_of(struct scheme_world *world, uint32_t node)
{
    return world->places[node];
}

static void copy_worlds(struct scheme_world *world, struct pose *out, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        out[i] = world->worlds[world->places[i]];
    }
}

static struct pose world_of(struct scheme_world *world, scheme_handle node)
{
    return world->worlds[node];
}

// Places by number are the user's, who has handles.
static size_t count_bytes(const struct scheme_world *world)
{
    return sizeof *world + world->capacity * (2 * sizeof(struct pose) + 2 * sizeof(uint32_t)) +
           world->capacity / word_bits * sizeof(uint64_t) +
           world->group_count * sizeof(struct group);
}

static void write_locals(struct scheme_world *world, const struct scheme_write *writes,
                         size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const uint32_t node = (uint32_t)writes[i].node;

        world->locals[node] = writes[i].local;
        mark(world, node);
    }
    propagate(world);
}

static void write_positions(struct scheme_world *world, const scheme_handle *nodes,
                            const float (*positions)[3], size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const uint32_t node = (uint32_t)nodes[i];

        memcpy(world->locals[node].position, positions[i], sizeof positions[i]);
        mark(world, node);
    }
    propagate(world);
}

static void probe(struct scheme_world *world, const struct scheme_probe *probes, size_t count,
                  struct pose *out)
{
    for (size_t i = 0; i < count; ++i) {
        const uint32_t node = (uint32_t)probes[i].written;

        world->locals[node] = probes[i].local;
        mark(world, node);
        propagate(world);
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
        mark(world, node);
    }
    propagate(world);
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
        mark(world, node);
    }
    propagate(world);
}

static void sum_positions(struct scheme_world *world, double sum[3])
{
    double x = 0, y = 0, z = 0;

    for (size_t g = 0; g < world->group_count; ++g) {
        for (uint32_t i = world->groups[g].first; i < world->groups[g].end; ++i) {
            x += (double)world->worlds[i].position[0];
            y += (double)world->worlds[i].position[1];
            z += (double)world->worlds[i].position[2];
        }
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

const struct scheme scheme_dirty_stream = {
    .name = "dirty-stream",
    .summary = "deferred: depth-first order, bits for dirty intervals, SIMD on one node",
    .is_deferred = true,
    .worker_limit = crew_limit,
    .create = create,
    .create_copies = create_copies,
    .destroy = destroy,
    .handle_of = handle_of,
    .copy_worlds = copy_worlds,
    .world_of = world_of,
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

static struct scheme_world *create_deferred(const struct forest *forest, unsigned workers)
{
    struct scheme_world *const world = create(forest, workers);

    world->records = block_new(world->count, sizeof *world->records);
    for (size_t i = 0; i < world->count; ++i) {
        world->records[i] = (struct record){1, world->places[i]};
    }
    return world;
}

static scheme_handle deferred_handle_of(struct scheme_world *world, uint32_t node)
{
    return (uint64_t)world->records[node].generation << 32 | node;
}

// A product with 0 is not 0 for NaN and infinity alone.
static bool is_finite(const struct pose *pose)
{
    const float *const r = pose->rotation;
    const float *const p = pose->position;
    const float sum = r[0] * 0 + r[1] * 0 + r[2] * 0 + r[3] * 0 + p[0] * 0 + p[1] * 0 + p[2] * 0;

    return sum + pose->scale * 0 == 0;
}

// Normalise a rotation, unless it is as near to unit length as the library leaves one alone.
// @return whether it has a length.
static bool normalize(float rotation[4])
{
    const float square = rotation[0] * rotation[0] + rotation[1] * rotation[1] +
                         rotation[2] * rotation[2] + rotation[3] * rotation[3];

    if (fabsf(square - 1) > 4e-7f) {
        const float length = sqrtf(square);

        for (int i = 0; i < 4; ++i) {
            rotation[i] /= length;
        }
    }
    return square > 0;
}

// Look a write up, check it, and store it. [*place] out: the node, or NO_NODE where it has that local.
// @return whether the write is one.
static inline bool store(const struct scheme_world *world, scheme_handle handle,
                         const struct pose *value, uint32_t *place)
{
    const uint32_t index = (uint32_t)handle;
    struct pose local = *value;

    if (index >= world->count || world->records[index].generation != handle >> 32 ||
        !is_finite(&local) || !normalize(local.rotation)) {
        return false;
    }

    struct pose *const stored = &world->locals[world->records[index].place];
    const bool is_same = memcmp(stored, &local, sizeof local) == 0;
    *place = is_same ? NO_NODE : world->records[index].place;
    *stored = local;
    return true;
}

// The call that a program would make for each write.
__attribute__((noinline)) static bool write_deferred(struct scheme_world *world,
                                                     scheme_handle handle, const struct pose *value)
{
    uint32_t place;

    if (!store(world, handle, value, &place)) {
        return false;
    }
    if (place != NO_NODE) {
        mark(world, place);
    }
    return true;
}

// The same without waiting: what it gains by waiting shows on its own layout.
__attribute__((noinline)) static bool write_at_once(struct scheme_world *world,
                                                    scheme_handle handle, const struct pose *value)
{
    uint32_t place;

    if (!store(world, handle, value, &place)) {
        return false;
    }
    if (place != NO_NODE) {
        sweep(world, place, world->lasts[place]);
    }
    return true;
}

static void write_all(struct scheme_world *world, const struct scheme_write *writes, size_t count,
                      bool (*write)(struct scheme_world *, scheme_handle, const struct pose *))
{
    for (size_t i = 0; i < count; ++i) {
        if (!write(world, writes[i].node, &writes[i].local)) {
            course_fail("deferred", "a write was refused");
        }
    }
}

static void write_all_deferred(struct scheme_world *world, const struct scheme_write *writes,
                               size_t count)
{
    write_all(world, writes, count, write_deferred);
    propagate(world);
}

static void write_all_at_once(struct scheme_world *world, const struct scheme_write *writes,
                              size_t count)
{
    write_all(world, writes, count, write_at_once);
}

const struct scheme scheme_deferred = {
    .name = "deferred",
    .summary = "dirty-stream as a mode of a library: each write is a call that checks it",
    .is_deferred = true,
    .is_variant = true,
    .worker_limit = crew_limit,
    .create = create_deferred,
    .destroy = destroy,
    .handle_of = deferred_handle_of,
    .copy_worlds = copy_worlds,
    .write_each = write_all_at_once,
    .write_batch = write_all_deferred,
};
