// SPDX-License-Identifier: MIT
// Scheme `clustered`: deferred; structure of arrays in clusters of 128 nodes, filed by depth; a
// propagation goes from depth to depth, and clusters of one depth go to threads. OGRE-Next keeps its
// nodes so, an array for each field and a set of them for each depth; the clusters make room for
// more without anything moving.
//
// A handle has the pool of an entry, the entry in it, and its generation.
#include "bench/schemes/clusters.h"
#include "bench/schemes/scheme.h"

#include "bench/blocks.h"

#include <string.h>

struct scheme_world {
    struct clusters all;

    struct scheme_swing *swings; ///< [swing_count]
    size_t swing_count;
    struct scheme_velocity *velocities; ///< [velocity_count]
    size_t velocity_count;

    struct pose prefab[PREFAB_SIZE];
};

static scheme_handle handle_to(const struct scheme_world *world, uint32_t entry)
{
    return (uint64_t)entry_of(&world->all, entry)->generation << 32 | entry;
}

// Return the entry of a handle. Nobody in the course keeps one for longer than its node.
static inline struct entry *resolve(const struct scheme_world *world, scheme_handle node)
{
    struct entry *const entry = entry_of(&world->all, (uint32_t)node);

    if (entry->generation != node >> 32) {
        course_fail("clustered", "a node is gone");
    }
    return entry;
}

static uint32_t entry_at(const struct scheme_world *world, scheme_handle node)
{
    resolve(world, node);
    return (uint32_t)node;
}

static struct scheme_world *world_new(unsigned workers)
{
    struct scheme_world *const world = block_new(1, sizeof *world);

    *world = (struct scheme_world){.all = clusters_create(workers)};
    return world;
}

static void destroy(struct scheme_world *world)
{
    clusters_destroy(&world->all);
    free(world->swings);
    free(world->velocities);
    free(world);
}

// In a new world entries come in order, so the forest's nodes have theirs by number, for ever.
static void add_tree(struct scheme_world *world, const struct forest *tree, uint32_t first,
                     const struct pose *root_local)
{
    for (size_t i = 0; i < tree->count; ++i) {
        const uint32_t parent = tree->parents[i];
        const struct pose *const local =
            parent == NO_NODE && root_local != NULL ? root_local : &tree->locals[i];

        clusters_add(&world->all, local, parent == NO_NODE ? NO_NODE : first + parent);
    }
}

static struct scheme_world *create(const struct forest *forest, unsigned workers)
{
    struct scheme_world *const world = world_new(workers);

    add_tree(world, forest, 0, NULL);
    clusters_propagate(&world->all);
    return world;
}

static struct scheme_world *create_copies(const struct forest *tree, const struct pose *root_locals,
                                          size_t copies, unsigned workers)
{
    struct scheme_world *const world = world_new(workers);

    for (size_t copy = 0; copy < copies; ++copy) {
        add_tree(world, tree, (uint32_t)(copy * tree->count), &root_locals[copy]);
    }
    clusters_propagate(&world->all);
    return world;
}

static scheme_handle handle_of(struct scheme_world *world, uint32_t node)
{
    return handle_to(world, node);
}

static struct pose world_at(const struct scheme_world *world, uint32_t place)
{
    return fields_get(&cluster_of(&world->all, place)->worlds, place % CLUSTER_SIZE);
}

static void copy_worlds(struct scheme_world *world, struct pose *out, size_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        out[i] = world_at(world, entry_of(&world->all, i)->place);
    }
}

static struct pose world_of(struct scheme_world *world, scheme_handle node)
{
    return world_at(world, resolve(world, node)->place);
}

static size_t count_bytes(const struct scheme_world *world)
{
    return sizeof *world + clusters_bytes(&world->all);
}

static void write_one(struct scheme_world *world, scheme_handle node, const struct pose *local)
{
    const uint32_t place = resolve(world, node)->place;

    fields_set(&cluster_of(&world->all, place)->locals, place % CLUSTER_SIZE, local);
    clusters_mark(&world->all, place);
}

static void write_all(struct scheme_world *world, const struct scheme_write *writes, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        write_one(world, writes[i].node, &writes[i].local);
    }
}

static void write_locals(struct scheme_world *world, const struct scheme_write *writes,
                         size_t count)
{
    write_all(world, writes, count);
    clusters_propagate(&world->all);
}

static void write_positions(struct scheme_world *world, const scheme_handle *nodes,
                            const float (*positions)[3], size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const uint32_t place = resolve(world, nodes[i])->place;
        struct cluster *const cluster = cluster_of(&world->all, place);

        for (int axis = 0; axis < 3; ++axis) {
            cluster->locals.of[4 + axis][place % CLUSTER_SIZE] = positions[i][axis];
        }
        clusters_mark(&world->all, place);
    }
    clusters_propagate(&world->all);
}

static void probe(struct scheme_world *world, const struct scheme_probe *probes, size_t count,
                  struct pose *out)
{
    for (size_t i = 0; i < count; ++i) {
        write_one(world, probes[i].written, &probes[i].local);
        clusters_propagate(&world->all);
        out[i] = world_of(world, probes[i].read);
    }
}

static void make_prefab(struct scheme_world *world, const struct pose locals[PREFAB_SIZE])
{
    memcpy(world->prefab, locals, sizeof world->prefab);
}

// Make the prefab's first nodes, so many of them, under a parent or NO_NODE.
static scheme_handle spawn_one(struct scheme_world *world, const struct pose *local,
                               uint32_t parent, int size)
{
    const uint32_t first = clusters_add(&world->all, local, parent);

    for (int i = size; --i > 0;) {
        clusters_add(&world->all, &world->prefab[i], first);
    }
    return handle_to(world, first);
}

static void destroy_all(struct scheme_world *world, const scheme_handle *doomed, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        clusters_remove(&world->all, entry_at(world, doomed[i]));
    }
}

// The dead go first: their entries and places are taken again at once.
static void spawn(struct scheme_world *world, const struct scheme_spawn_frame *frame)
{
    destroy_all(world, frame->doomed, frame->doomed_count);
    for (size_t i = 0; i < frame->spawn_count; ++i) {
        const struct scheme_spawn *const one = &frame->spawns[i];

        frame->made[i] = spawn_one(world, &one->local, entry_at(world, one->parent), PREFAB_SIZE);
    }
    clusters_propagate(&world->all);
}

static void aim(const struct scheme_world *world, const struct scheme_battle_frame *frame)
{
    for (size_t i = 0; i < frame->shot_count; ++i) {
        struct scheme_shot *const shot = &frame->shots[i];
        const struct pose gun = world_at(world, resolve(world, shot->gun)->place);

        memcpy(shot->bullet.position, gun.position, sizeof gun.position);
    }
}

static void shoot(struct scheme_world *world, const struct scheme_battle_frame *frame)
{
    for (size_t i = 0; i < frame->shot_count; ++i) {
        const struct scheme_shot *const shot = &frame->shots[i];
        const int size = shot->is_large ? PREFAB_SIZE : 1;

        frame->effects_made[i] = spawn_one(world, &shot->effect, entry_at(world, shot->gun), size);
        frame->bullets_made[i] = spawn_one(world, &shot->bullet, NO_NODE, 1);
    }
}

// One propagation at the end is for what moved and for what came, so no part of it is structure alone.
static void battle(struct scheme_world *world, const struct scheme_battle_frame *frame)
{
    aim(world, frame);
    write_all(world, frame->ships, frame->ship_count);
    write_all(world, frame->bullets, frame->bullet_count);

    destroy_all(world, frame->doomed, frame->doomed_count);
    shoot(world, frame);
    clusters_propagate(&world->all);
}

static void spawn_worlds(struct scheme_world *world, scheme_handle made,
                         struct pose out[PREFAB_SIZE])
{
    const struct entry *at = resolve(world, made);

    out[0] = world_at(world, at->place);
    for (uint32_t child = at->first_child, i = 1; i < PREFAB_SIZE; ++i) {
        at = entry_of(&world->all, child);
        out[i] = world_at(world, at->place);
        child = at->next_sibling;
    }
}

static void reparent(struct scheme_world *world, const struct scheme_move *moves, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        clusters_move(&world->all, entry_at(world, moves[i].leaf),
                      entry_at(world, moves[i].parent));
    }
    clusters_propagate(&world->all);
}

static void regraft(struct scheme_world *world, const struct scheme_move *moves, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const uint32_t leaf = entry_at(world, moves[i].leaf);

        clusters_move(&world->all, leaf, NO_NODE);
        clusters_propagate(&world->all);
        clusters_move(&world->all, leaf, entry_at(world, moves[i].parent));
        clusters_propagate(&world->all);
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
        const struct pose local = swing_at(&world->swings[i].swing, phase);

        write_one(world, world->swings[i].node, &local);
    }
    clusters_propagate(&world->all);
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
        const uint32_t place = resolve(world, world->velocities[i].node)->place;
        struct fields *const locals = &cluster_of(&world->all, place)->locals;

        for (int axis = 0; axis < 3; ++axis) {
            locals->of[4 + axis][place % CLUSTER_SIZE] += world->velocities[i].velocity.step[axis];
        }
        clusters_mark(&world->all, place);
    }
    clusters_propagate(&world->all);
}

static void add_positions(const struct cluster *cluster, double sum[3])
{
    double x = sum[0], y = sum[1], z = sum[2];

    for (uint32_t lane = 0; lane < cluster->count; ++lane) {
        x += (double)cluster->worlds.of[4][lane];
        y += (double)cluster->worlds.of[5][lane];
        z += (double)cluster->worlds.of[6][lane];
    }
    sum[0] = x;
    sum[1] = y;
    sum[2] = z;
}

static void sum_positions(struct scheme_world *world, double sum[3])
{
    sum[0] = sum[1] = sum[2] = 0;
    for (size_t d = 0; d < world->all.depth_count; ++d) {
        const struct depth *const depth = &world->all.depths[d];

        for (uint32_t i = 0; i < depth->cluster_count; ++i) {
            add_positions(world->all.table[depth->clusters[i]], sum);
        }
    }
}

static void read_positions(struct scheme_world *world, const scheme_handle *nodes, size_t count,
                           double sum[3])
{
    double x = 0, y = 0, z = 0;

    for (size_t i = 0; i < count; ++i) {
        const uint32_t place = resolve(world, nodes[i])->place;
        const struct fields *const worlds = &cluster_of(&world->all, place)->worlds;
        const uint32_t lane = place % CLUSTER_SIZE;

        x += (double)worlds->of[4][lane];
        y += (double)worlds->of[5][lane];
        z += (double)worlds->of[6][lane];
    }
    sum[0] = x;
    sum[1] = y;
    sum[2] = z;
}

const struct scheme scheme_clustered = {
    .name = "clustered",
    .summary = "deferred: structure of arrays in clusters of 128, filed by depth",
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
    .make_prefab = make_prefab,
    .spawn = spawn,
    .spawn_worlds = spawn_worlds,
    .battle = battle,
    .reparent = reparent,
    .regraft = regraft,
    .set_swings = set_swings,
    .animate = animate,
    .set_velocities = set_velocities,
    .move_roots = move_roots,
    .sum_positions = sum_positions,
    .read_positions = read_positions,
};
