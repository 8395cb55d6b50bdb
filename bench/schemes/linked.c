// SPDX-License-Identifier: MIT
// Scheme `linked`: immediate; one block of parallel arrays with parent, first child, next and
// previous sibling; a write walks its subtree depth first, without recursion. After the transform
// component of the Bitsquid engine, as its authors described it in 2014. Indices stay what they
// are, and free ones wait in a list, so an index is the handle.
#include "bench/schemes/scheme.h"

#include "bench/blocks.h"
#include "bench/clock.h"

#include <string.h>

/// Parent of an index that is free; its next sibling is the next free one.
#define FREE_NODE (UINT32_MAX - 1)

struct scheme_world {
    void *block; ///< Holds all the arrays, each of `capacity`.
    uint32_t capacity;
    uint32_t count; ///< Indices in use or free; those behind were never used.
    uint32_t free;  ///< First of the free ones, or NO_NODE.

    struct pose *locals;
    struct pose *worlds;
    uint32_t *parents;
    uint32_t *first_children;
    uint32_t *next_siblings;
    uint32_t *previous_siblings;

    struct scheme_swing *swings; ///< [swing_count]
    size_t swing_count;
    struct scheme_velocity *velocities; ///< [velocity_count]
    size_t velocity_count;

    struct pose prefab[PREFAB_SIZE];
    double structure; ///< Nanoseconds that structure took in the last frame of `battle`.
};

enum { node_bytes = 2 * sizeof(struct pose) + 4 * sizeof(uint32_t) };

// Cut a block into the arrays: the widest first, so that each is aligned.
static void arrays_place(struct scheme_world *world, void *block, uint32_t capacity)
{
    world->block = block;
    world->capacity = capacity;
    world->locals = block;
    world->worlds = world->locals + capacity;
    world->parents = (uint32_t *)(void *)(world->worlds + capacity);
    world->first_children = world->parents + capacity;
    world->next_siblings = world->first_children + capacity;
    world->previous_siblings = world->next_siblings + capacity;
}

static void arrays_copy(struct scheme_world *to, const struct scheme_world *from, size_t count)
{
    memcpy(to->locals, from->locals, count * sizeof(struct pose));
    memcpy(to->worlds, from->worlds, count * sizeof(struct pose));
    memcpy(to->parents, from->parents, count * sizeof(uint32_t));
    memcpy(to->first_children, from->first_children, count * sizeof(uint32_t));
    memcpy(to->next_siblings, from->next_siblings, count * sizeof(uint32_t));
    memcpy(to->previous_siblings, from->previous_siblings, count * sizeof(uint32_t));
}

static void grow(struct scheme_world *world)
{
    const struct scheme_world old = *world;
    const uint32_t capacity = old.capacity < 64 ? 64 : 2 * old.capacity;

    arrays_place(world, block_new(capacity, node_bytes), capacity);
    arrays_copy(world, &old, old.count);
    free(old.block);
}

static struct scheme_world *world_new(size_t count)
{
    struct scheme_world *const world = block_new(1, sizeof *world);

    *world = (struct scheme_world){.free = NO_NODE};
    arrays_place(world, block_new(count, node_bytes), (uint32_t)count);
    return world;
}

static void destroy(struct scheme_world *world)
{
    free(world->block);
    free(world->swings);
    free(world->velocities);
    free(world);
}

// Take a free index, or one never used, for a node that stands alone.
static uint32_t node_new(struct scheme_world *world, const struct pose *local)
{
    uint32_t node = world->free;

    if (node != NO_NODE) {
        world->free = world->next_siblings[node];
    } else {
        if (world->count == world->capacity) {
            grow(world);
        }
        node = world->count++;
    }
    world->locals[node] = *local;
    world->parents[node] = NO_NODE;
    world->first_children[node] = NO_NODE;
    world->next_siblings[node] = NO_NODE;
    world->previous_siblings[node] = NO_NODE;
    return node;
}

// Make a node the first child of another one.
static void link_first(struct scheme_world *world, uint32_t node, uint32_t parent)
{
    const uint32_t next = world->first_children[parent];

    world->parents[node] = parent;
    world->next_siblings[node] = next;
    world->previous_siblings[node] = NO_NODE;
    if (next != NO_NODE) {
        world->previous_siblings[next] = node;
    }
    world->first_children[parent] = node;
}

// Make a node a child of another one, before one of its children.
static void link_before(struct scheme_world *world, uint32_t node, uint32_t next)
{
    const uint32_t previous = world->previous_siblings[next];

    if (previous == NO_NODE) {
        link_first(world, node, world->parents[next]);
        return;
    }
    world->parents[node] = world->parents[next];
    world->next_siblings[node] = next;
    world->previous_siblings[node] = previous;
    world->next_siblings[previous] = node;
    world->previous_siblings[next] = node;
}

static void unlink_node(struct scheme_world *world, uint32_t node)
{
    const uint32_t next = world->next_siblings[node];
    const uint32_t previous = world->previous_siblings[node];

    if (next != NO_NODE) {
        world->previous_siblings[next] = previous;
    }
    if (previous != NO_NODE) {
        world->next_siblings[previous] = next;
    } else if (world->parents[node] != NO_NODE) {
        world->first_children[world->parents[node]] = next;
    }
}

// Go on in depth-first order below `top` behind a node and all that is below it; NO_NODE at the
// end.
static inline uint32_t next_behind(const struct scheme_world *world, uint32_t node, uint32_t top)
{
    while (node != top) {
        const uint32_t next = world->next_siblings[node];

        if (next != NO_NODE) {
            return next;
        }
        node = world->parents[node];
    }
    return NO_NODE;
}

// Bring a node and everything below it up to date.
static void propagate(struct scheme_world *world, uint32_t top)
{
    const struct pose *restrict const locals = world->locals;
    struct pose *restrict const worlds = world->worlds;
    const uint32_t *const parents = world->parents;
    const uint32_t above = parents[top];

    if (above == NO_NODE) {
        worlds[top] = locals[top];
    } else {
        pose_compose(&worlds[top], &worlds[above], &locals[top]);
    }

    uint32_t node = world->first_children[top];
    while (node != NO_NODE) {
        const uint32_t child = world->first_children[node];

        pose_compose(&worlds[node], &worlds[parents[node]], &locals[node]);
        node = child != NO_NODE ? child : next_behind(world, node, top);
    }
}

// Free a node and everything below it, children before parents.
static void destroy_subtree(struct scheme_world *world, uint32_t top)
{
    uint32_t node = top;

    unlink_node(world, top);
    for (;;) {
        while (world->first_children[node] != NO_NODE) {
            node = world->first_children[node];
        }

        const uint32_t next = world->next_siblings[node];
        const uint32_t parent = world->parents[node];
        world->parents[node] = FREE_NODE;
        world->next_siblings[node] = world->free;
        world->free = node;
        if (node == top) {
            return;
        }
        world->first_children[parent] = next;
        node = parent;
    }
}

// Links go first child first, so nodes are linked from the last to the first to stand in order.
static struct scheme_world *create(const struct forest *forest, unsigned workers)
{
    struct scheme_world *const world = world_new(forest->count);

    (void)workers;
    for (size_t i = 0; i < forest->count; ++i) {
        node_new(world, &forest->locals[i]);
    }
    for (uint32_t i = (uint32_t)forest->count; i-- > 0;) {
        if (forest->parents[i] != NO_NODE) {
            link_first(world, i, forest->parents[i]);
        }
    }
    for (uint32_t i = 0; i < forest->count; ++i) {
        if (forest->parents[i] == NO_NODE) {
            propagate(world, i);
        }
    }
    return world;
}

static uint32_t moved(uint32_t node, uint32_t distance)
{
    return node == NO_NODE ? NO_NODE : node + distance;
}

// Copies of a block of nodes: indices move by the same distance.
static void copy_tree(struct scheme_world *world, const struct scheme_world *tree, uint32_t root)
{
    memcpy(world->locals + root, tree->locals, tree->count * sizeof(struct pose));
    for (uint32_t i = 0; i < tree->count; ++i) {
        world->parents[root + i] = moved(tree->parents[i], root);
        world->first_children[root + i] = moved(tree->first_children[i], root);
        world->next_siblings[root + i] = moved(tree->next_siblings[i], root);
        world->previous_siblings[root + i] = moved(tree->previous_siblings[i], root);
    }
}

static struct scheme_world *create_copies(const struct forest *tree, const struct pose *root_locals,
                                          size_t copies, unsigned workers)
{
    struct scheme_world *const prefab = create(tree, workers);
    struct scheme_world *const world = world_new(tree->count * copies);

    for (size_t copy = 0; copy < copies; ++copy) {
        const uint32_t root = (uint32_t)(copy * tree->count);

        copy_tree(world, prefab, root);
        world->count += prefab->count;
        world->locals[root] = root_locals[copy];
        propagate(world, root);
    }
    destroy(prefab);
    return world;
}

static scheme_handle handle_of(struct scheme_world *world, uint32_t node)
{
    (void)world;
    return node;
}

// The forest's nodes are never destroyed, so they keep the first indices.
static void copy_worlds(struct scheme_world *world, struct pose *out, size_t count)
{
    memcpy(out, world->worlds, count * sizeof(struct pose));
}

static struct pose world_of(struct scheme_world *world, scheme_handle node)
{
    return world->worlds[node];
}

static size_t count_bytes(const struct scheme_world *world)
{
    return sizeof *world + (size_t)world->capacity * node_bytes;
}

static void write_locals(struct scheme_world *world, const struct scheme_write *writes,
                         size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const uint32_t node = (uint32_t)writes[i].node;

        world->locals[node] = writes[i].local;
        propagate(world, node);
    }
}

// One write after the other: what hangs below several of them is visited as often.
static void write_positions(struct scheme_world *world, const scheme_handle *nodes,
                            const float (*positions)[3], size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const uint32_t node = (uint32_t)nodes[i];

        memcpy(world->locals[node].position, positions[i], sizeof positions[i]);
        propagate(world, node);
    }
}

static void probe(struct scheme_world *world, const struct scheme_probe *probes, size_t count,
                  struct pose *out)
{
    for (size_t i = 0; i < count; ++i) {
        const uint32_t node = (uint32_t)probes[i].written;

        world->locals[node] = probes[i].local;
        propagate(world, node);
        out[i] = world->worlds[probes[i].read];
    }
}

static void make_prefab(struct scheme_world *world, const struct pose locals[PREFAB_SIZE])
{
    memcpy(world->prefab, locals, sizeof world->prefab);
}

// Make the first `size` nodes of the prefab, without a parent.
static inline uint32_t prefab_new(struct scheme_world *world, const struct pose *local, int size)
{
    const uint32_t first = node_new(world, local);

    for (int i = size; --i > 0;) {
        link_first(world, node_new(world, &world->prefab[i]), first);
    }
    return first;
}

// The same below a parent; NO_NODE: none.
static inline uint32_t spawn_one(struct scheme_world *world, const struct pose *local,
                                 uint32_t parent, int size)
{
    const uint32_t first = prefab_new(world, local, size);

    if (parent != NO_NODE) {
        link_first(world, first, parent);
    }
    propagate(world, first);
    return first;
}

static void destroy_doomed(struct scheme_world *world, const struct scheme_spawn_frame *frame)
{
    for (size_t i = 0; i < frame->doomed_count; ++i) {
        destroy_subtree(world, (uint32_t)frame->doomed[i]);
    }
}

// The dead go first: their indices are taken again at once.
static void spawn(struct scheme_world *world, const struct scheme_spawn_frame *frame)
{
    destroy_doomed(world, frame);
    for (size_t i = 0; i < frame->spawn_count; ++i) {
        const struct scheme_spawn *const one = &frame->spawns[i];

        frame->made[i] = spawn_one(world, &one->local, (uint32_t)one->parent, PREFAB_SIZE);
    }
}

static void aim(const struct scheme_world *world, const struct scheme_battle_frame *frame)
{
    for (size_t i = 0; i < frame->shot_count; ++i) {
        struct scheme_shot *const shot = &frame->shots[i];

        memcpy(shot->bullet.position, world->worlds[shot->gun].position,
               sizeof shot->bullet.position);
    }
}

static void shoot(struct scheme_world *world, const struct scheme_battle_frame *frame)
{
    for (size_t i = 0; i < frame->shot_count; ++i) {
        const struct scheme_shot *const shot = &frame->shots[i];
        const int size = shot->is_large ? PREFAB_SIZE : 1;

        frame->effects_made[i] = spawn_one(world, &shot->effect, (uint32_t)shot->gun, size);
        frame->bullets_made[i] = spawn_one(world, &shot->bullet, NO_NODE, 1);
    }
}

static void battle(struct scheme_world *world, const struct scheme_battle_frame *frame)
{
    aim(world, frame);
    write_locals(world, frame->ships, frame->ship_count);
    write_locals(world, frame->bullets, frame->bullet_count);

    const double before = clock_now();
    for (size_t i = 0; i < frame->doomed_count; ++i) {
        destroy_subtree(world, (uint32_t)frame->doomed[i]);
    }
    shoot(world, frame);
    world->structure = clock_now() - before;
}

static size_t split(const struct scheme_world *world, struct scheme_part *out)
{
    out[0] = (struct scheme_part){"structure", world->structure};
    return 1;
}

static void spawn_worlds(struct scheme_world *world, scheme_handle made,
                         struct pose out[PREFAB_SIZE])
{
    uint32_t node = world->first_children[made];

    out[0] = world->worlds[made];
    for (int i = 1; i < PREFAB_SIZE; ++i) {
        out[i] = world->worlds[node];
        node = world->next_siblings[node];
    }
}

static void reparent(struct scheme_world *world, const struct scheme_move *moves, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const uint32_t leaf = (uint32_t)moves[i].leaf;

        unlink_node(world, leaf);
        link_first(world, leaf, (uint32_t)moves[i].parent);
        propagate(world, leaf);
    }
}

static uint32_t spawn_before(struct scheme_world *world, const struct pose *local, uint32_t next)
{
    const uint32_t first = prefab_new(world, local, PREFAB_SIZE);

    link_before(world, first, next);
    propagate(world, first);
    return first;
}

// The scheme has no components, so values and references are no work here.
static void mix(struct scheme_world *world, const struct scheme_mixed_frame *frame)
{
    const struct scheme_spawn_frame *const spawning = &frame->spawning;

    destroy_doomed(world, spawning);
    for (size_t i = 0; i < spawning->spawn_count * frame->copies; ++i) {
        const size_t at = i / frame->copies;
        const struct scheme_spawn *const one = &spawning->spawns[at];

        spawning->made[i] = frame->befores != NULL
                                ? spawn_before(world, &one->local, (uint32_t)frame->befores[at])
                                : spawn_one(world, &one->local, (uint32_t)one->parent, PREFAB_SIZE);
    }
    reparent(world, frame->moves, frame->move_count);
    write_locals(world, frame->writes, frame->write_count);
}

// User data would be an array of its own, which propagation does not read.
static void except(struct scheme_world *world, enum scheme_exception kind,
                   const scheme_handle *nodes, size_t count)
{
    for (size_t i = 0; kind == EXCEPTION_DESTROYED && i < count; ++i) {
        destroy_subtree(world, (uint32_t)nodes[i]);
    }
}

static void regraft(struct scheme_world *world, const struct scheme_move *moves, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const uint32_t leaf = (uint32_t)moves[i].leaf;

        unlink_node(world, leaf);
        world->parents[leaf] = NO_NODE;
        world->next_siblings[leaf] = world->previous_siblings[leaf] = NO_NODE;
        propagate(world, leaf);
        link_first(world, leaf, (uint32_t)moves[i].parent);
        propagate(world, leaf);
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
        propagate(world, node);
    }
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
        propagate(world, node);
    }
}

static void sum_positions(struct scheme_world *world, double sum[3])
{
    double x = 0, y = 0, z = 0;

    for (uint32_t i = 0; i < world->count; ++i) {
        const float *const position = world->worlds[i].position;

        if (world->parents[i] == FREE_NODE) {
            continue;
        }
        x += (double)position[0];
        y += (double)position[1];
        z += (double)position[2];
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

const struct scheme scheme_linked = {
    .name = "linked",
    .summary = "immediate: parent, first child and sibling links in one block",
    .extras = EXTRA_VALUES | EXTRA_NEW_VALUES | EXTRA_BEFORE | EXTRA_COUNT | EXTRA_REFERENCES |
              EXTRA_ATTACH | EXTRA_WRITE,
    .exceptions = 1u << EXCEPTION_CONTEXT | 1u << EXCEPTION_DESTROYED,
    .create = create,
    .create_copies = create_copies,
    .destroy = destroy,
    .handle_of = handle_of,
    .copy_worlds = copy_worlds,
    .world_of = world_of,
    .bytes = count_bytes,
    .write = write_locals,
    .write_each = write_locals,
    .write_positions = write_positions,
    .probe = probe,
    .make_prefab = make_prefab,
    .spawn = spawn,
    .spawn_each = spawn,
    .mix = mix,
    .except = except,
    .spawn_worlds = spawn_worlds,
    .battle = battle,
    .reparent = reparent,
    .reparent_each = reparent,
    .regraft = regraft,
    .set_swings = set_swings,
    .animate = animate,
    .set_velocities = set_velocities,
    .move_roots = move_roots,
    .split = split,
    .sum_positions = sum_positions,
    .read_positions = read_positions,
};
