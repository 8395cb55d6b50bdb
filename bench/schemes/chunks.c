// SPDX-License-Identifier: MIT
// Chunks of nodes: storage, links, and what the two schemes of chunks do alike. How an update comes
// about is theirs.
#include "bench/schemes/chunks.h"

#include "bench/blocks.h"

#include <string.h>

void *chunks_lengthen(void *block, size_t count, size_t capacity, size_t size)
{
    char *const longer = block_new(capacity, size);

    if (count > 0) {
        memcpy(longer, block, count * size);
    }
    memset(longer + count * size, 0, (capacity - count) * size);
    free(block);
    return longer;
}

static void reserve_chunks(struct scheme_world *world, uint32_t capacity)
{
    struct chunk *const longer = block_new((size_t)capacity + 1, sizeof *longer);
    const uint32_t used = chunks_used(world);
    const uint32_t old = world->chunk_capacity;

    if (used > 0) {
        memcpy(longer, world->chunks, used * sizeof *longer);
    }
    free(world->chunks);
    world->chunks = longer;
    world->local_versions =
        chunks_lengthen(world->local_versions, old, capacity, sizeof *world->local_versions);
    world->places = chunks_lengthen(world->places, world->handle_count,
                                    (size_t)capacity * CHUNK_ROWS, sizeof *world->places);
    if (world->rules->grow != NULL) {
        world->rules->grow(world, capacity);
    }
    world->chunk_capacity = capacity;
}

void chunks_grow_stack(struct scheme_world *world)
{
    const uint32_t capacity = world->stack_capacity < 64 ? 64 : 2 * world->stack_capacity;

    world->stack =
        chunks_lengthen(world->stack, world->stack_height, capacity, sizeof *world->stack);
    world->stack_capacity = capacity;
}

// Versions begin at 1, so that those of chunks never written are old.
static struct scheme_world *world_new(size_t count, const struct chunk_rules *rules)
{
    struct scheme_world *const world = block_new(1, sizeof *world);
    const size_t chunks = (count + CHUNK_ROWS - 1) / CHUNK_ROWS;

    *world = (struct scheme_world){
        .rules = rules, .version = 1, .free_handle = NO_NODE, .first_root = NO_NODE};
    reserve_chunks(world, (uint32_t)(chunks > 0 ? chunks : 1));
    return world;
}

void chunks_destroy(struct scheme_world *world)
{
    if (world->rules->release != NULL) {
        world->rules->release(world);
    }
    free(world->chunks);
    free(world->places);
    free(world->local_versions);
    free(world->stack);
    free(world->swings);
    free(world->velocities);
    free(world);
}

static void update(struct scheme_world *world)
{
    world->rules->propagate(world);
    ++world->version;
}

// What is written here is seen by the update to come, with the whole chunk.
static void touch(struct scheme_world *world, uint32_t place)
{
    world->local_versions[chunk_of(place)] = world->version;
}

static uint32_t place_of(const struct scheme_world *world, scheme_handle node)
{
    return world->places[node];
}

static uint32_t handle_at(const struct scheme_world *world, uint32_t place)
{
    return world->chunks[chunk_of(place)].handles[row_of(place)];
}

static uint32_t handle_new(struct scheme_world *world)
{
    const uint32_t handle = world->free_handle;

    if (handle == NO_NODE) {
        return world->handle_count++;
    }
    world->free_handle = world->places[handle];
    return handle;
}

// Take the next place for a node that stands alone, and is not linked as a root either.
static uint32_t node_new(struct scheme_world *world, const struct pose *local)
{
    if (world->count == world->chunk_capacity * CHUNK_ROWS) {
        reserve_chunks(world, 2 * world->chunk_capacity);
    }

    const uint32_t place = world->count++;
    const uint32_t handle = handle_new(world);
    world->chunks[chunk_of(place)].handles[row_of(place)] = handle;
    world->places[handle] = place;
    *local_at(world, place) = *local;
    *down_at(world, place) = (struct chunk_down){NO_NODE, NO_NODE};
    *parent_at(world, place) = NO_NODE;
    *previous_at(world, place) = NO_NODE;
    touch(world, place);
    return place;
}

// Where the list of a parent's children begins; that of the roots, for NO_NODE.
static uint32_t *first_below(struct scheme_world *world, uint32_t parent)
{
    return parent == NO_NODE ? &world->first_root : &down_at(world, parent)->first_child;
}

// Make a node the first child of a parent, or the first root.
static void link_first(struct scheme_world *world, uint32_t node, uint32_t parent)
{
    uint32_t *const first = first_below(world, parent);

    if (*first != NO_NODE) {
        *previous_at(world, *first) = node;
    }
    down_at(world, node)->next_sibling = *first;
    *parent_at(world, node) = parent;
    *previous_at(world, node) = NO_NODE;
    *first = node;
}

static void unlink_node(struct scheme_world *world, uint32_t node)
{
    const uint32_t next = down_at(world, node)->next_sibling;
    const uint32_t previous = *previous_at(world, node);

    if (next != NO_NODE) {
        *previous_at(world, next) = previous;
    }
    if (previous != NO_NODE) {
        down_at(world, previous)->next_sibling = next;
    } else {
        *first_below(world, *parent_at(world, node)) = next;
    }
}

// Whoever stands in a hierarchy is told to the scheme when its top is linked.
static void link_subtree(struct scheme_world *world, uint32_t top, uint32_t parent)
{
    link_first(world, top, parent);
    touch(world, top);
    if (world->rules->place_subtree != NULL) {
        world->rules->place_subtree(world, top);
    }
}

// Point those at a node's new place that are linked to it.
static void relink(struct scheme_world *world, uint32_t node)
{
    const struct chunk_down down = *down_at(world, node);
    const uint32_t previous = *previous_at(world, node);

    if (down.next_sibling != NO_NODE) {
        *previous_at(world, down.next_sibling) = node;
    }
    if (previous != NO_NODE) {
        down_at(world, previous)->next_sibling = node;
    } else {
        *first_below(world, *parent_at(world, node)) = node;
    }
    for (uint32_t child = down.first_child; child != NO_NODE;) {
        *parent_at(world, child) = node;
        child = down_at(world, child)->next_sibling;
    }
}

// A write that no update has seen yet moves along.
static void move_row(struct scheme_world *world, uint32_t to, uint32_t from)
{
    const uint32_t handle = handle_at(world, from);

    *local_at(world, to) = *local_at(world, from);
    *world_at(world, to) = *world_at(world, from);
    *down_at(world, to) = *down_at(world, from);
    *parent_at(world, to) = *parent_at(world, from);
    *previous_at(world, to) = *previous_at(world, from);
    world->chunks[chunk_of(to)].handles[row_of(to)] = handle;
    world->places[handle] = to;
    if (chunk_is_written(world, from)) {
        touch(world, to);
    }
    relink(world, to);
}

// Free a node that nobody is linked to. The last node takes its place.
static void node_free(struct scheme_world *world, uint32_t node)
{
    const uint32_t handle = handle_at(world, node);
    const uint32_t last = world->count - 1;

    if (world->rules->drop_row != NULL) {
        world->rules->drop_row(world, node, last);
    }
    if (node != last) {
        move_row(world, node, last);
    }
    world->places[handle] = world->free_handle;
    world->free_handle = handle;
    --world->count;
}

// Free a node and everything below it, children before parents. The parent of a node freed may be
// the one that takes its place.
static void destroy_subtree(struct scheme_world *world, scheme_handle top)
{
    uint32_t node = place_of(world, top);
    bool is_top = false;

    while (!is_top) {
        while (down_at(world, node)->first_child != NO_NODE) {
            node = down_at(world, node)->first_child;
        }

        const uint32_t parent = *parent_at(world, node);
        const uint32_t last = world->count - 1;
        is_top = node == place_of(world, top);
        unlink_node(world, node);
        node_free(world, node);
        node = parent == last ? node : parent;
    }
}

// Mostly nodes stand in the order in which they are visited, so the same row of the next chunk is
// soon needed. Columns are too short for the processor to see that by itself (50000x20: 19 ns a node
// without, 12 with).
static inline void fetch_next(const struct chunk *chunk, uint32_t row)
{
    __builtin_prefetch(&chunk[1].locals[row]);
    __builtin_prefetch(&chunk[1].worlds[row], 1);
    __builtin_prefetch(&chunk[1].downs[row]);
}

// Return the next node, of those on the stack above a base and their siblings, that has children;
// NO_NODE if there is none. Siblings behind it stay on the stack.
static uint32_t next_parent(struct scheme_world *world, uint32_t base)
{
    while (world->stack_height > base) {
        const uint32_t node = world->stack[--world->stack_height];
        const struct chunk_down down = *down_at(world, node);

        if (down.next_sibling != NO_NODE) {
            stack_push(world, down.next_sibling);
        }
        if (down.first_child != NO_NODE) {
            return node;
        }
    }
    return NO_NODE;
}

// The children of one node are computed together, and then what is below each of them, from the
// first to the last: from the last to the first is against the order in memory (1000x1000: 27 ns a
// node against 14).
void chunks_recompute_below(struct scheme_world *world, uint32_t top)
{
    const uint32_t base = world->stack_height;

    for (uint32_t parent = top; parent != NO_NODE; parent = next_parent(world, base)) {
        const struct pose *const above = world_at(world, parent);
        const uint32_t first = down_at(world, parent)->first_child;
        bool has_parent = false;

        for (uint32_t child = first; child != NO_NODE;) {
            struct chunk *const chunk = &world->chunks[chunk_of(child)];
            const uint32_t row = row_of(child);
            const struct chunk_down down = chunk->downs[row];

            fetch_next(chunk, row);
            pose_compose(&chunk->worlds[row], above, &chunk->locals[row]);
            has_parent |= down.first_child != NO_NODE;
            child = down.next_sibling;
        }
        if (has_parent) {
            stack_push(world, first);
        }
    }
}

// Siblings wait on the stack while what is below the one before them is visited.
void chunks_search_below(struct scheme_world *world, uint32_t top)
{
    const uint32_t base = world->stack_height;
    uint32_t node = down_at(world, top)->first_child;

    while (node != NO_NODE) {
        struct chunk *const chunk = &world->chunks[chunk_of(node)];
        const uint32_t row = row_of(node);
        const struct chunk_down down = chunk->downs[row];
        const bool is_written = chunk_is_written(world, node);

        __builtin_prefetch(&chunk[1].downs[row]);
        if (is_written) {
            pose_compose(&chunk->worlds[row], world_at(world, chunk->parents[row]),
                         &chunk->locals[row]);
            chunks_recompute_below(world, node);
        }
        if (!is_written && down.first_child != NO_NODE) {
            if (down.next_sibling != NO_NODE) {
                stack_push(world, down.next_sibling);
            }
            node = down.first_child;
            continue;
        }
        node = down.next_sibling;
        if (node == NO_NODE && world->stack_height > base) {
            node = world->stack[--world->stack_height];
        }
    }
}

// Lists are filled from the front, so nodes are linked from the last to the first to stand in order.
struct scheme_world *chunks_create(const struct forest *forest, const struct chunk_rules *rules)
{
    struct scheme_world *const world = world_new(forest->count, rules);

    for (size_t i = 0; i < forest->count; ++i) {
        node_new(world, &forest->locals[i]);
    }
    for (uint32_t i = (uint32_t)forest->count; i-- > 0;) {
        link_first(world, i, forest->parents[i]);
    }
    for (uint32_t root = world->first_root; root != NO_NODE;) {
        if (rules->place_subtree != NULL) {
            rules->place_subtree(world, root);
        }
        root = down_at(world, root)->next_sibling;
    }
    update(world);
    return world;
}

static uint32_t moved(uint32_t place, uint32_t distance)
{
    return place == NO_NODE ? NO_NODE : place + distance;
}

// Append a copy of a tree whose nodes stand in the first places of a world of its own: links move
// by the same distance.
static uint32_t copy_tree(struct scheme_world *world, const struct scheme_world *tree)
{
    const uint32_t root = world->count;

    for (uint32_t i = 0; i < tree->count; ++i) {
        const uint32_t node = node_new(world, local_at(tree, i));
        const struct chunk_down down = *down_at(tree, i);

        *down_at(world, node) =
            (struct chunk_down){moved(down.first_child, root), moved(down.next_sibling, root)};
        *parent_at(world, node) = moved(*parent_at(tree, i), root);
        *previous_at(world, node) = moved(*previous_at(tree, i), root);
    }
    return root;
}

struct scheme_world *chunks_create_copies(const struct forest *tree, const struct pose *root_locals,
                                          size_t copies, const struct chunk_rules *rules)
{
    struct scheme_world *const prefab = chunks_create(tree, rules);
    struct scheme_world *const world = world_new(tree->count * copies, rules);
    uint32_t before = NO_NODE;

    for (size_t copy = 0; copy < copies; ++copy) {
        const uint32_t root = copy_tree(world, prefab);

        *local_at(world, root) = root_locals[copy];
        *previous_at(world, root) = before;
        *(before == NO_NODE ? &world->first_root : &down_at(world, before)->next_sibling) = root;
        if (rules->place_subtree != NULL) {
            rules->place_subtree(world, root);
        }
        before = root;
    }
    chunks_destroy(prefab);
    update(world);
    return world;
}

// The forest's nodes came first, so their numbers are their handles.
scheme_handle chunks_handle_of(struct scheme_world *world, uint32_t node)
{
    (void)world;
    return node;
}

void chunks_copy_worlds(struct scheme_world *world, struct pose *out, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        out[i] = *world_at(world, place_of(world, i));
    }
}

struct pose chunks_world_of(struct scheme_world *world, scheme_handle node)
{
    return *world_at(world, place_of(world, node));
}

size_t chunks_bytes(const struct scheme_world *world)
{
    const size_t of_chunk =
        sizeof(struct chunk) + sizeof *world->local_versions + CHUNK_ROWS * sizeof *world->places;
    const size_t of_scheme = world->rules->bytes != NULL ? world->rules->bytes(world) : 0;

    return sizeof *world + world->chunk_capacity * of_chunk + sizeof(struct chunk) +
           world->stack_capacity * sizeof *world->stack + of_scheme;
}

static void set_local(struct scheme_world *world, scheme_handle node, const struct pose *local)
{
    const uint32_t place = place_of(world, node);

    *local_at(world, place) = *local;
    touch(world, place);
}

static void set_locals(struct scheme_world *world, const struct scheme_write *writes, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        set_local(world, writes[i].node, &writes[i].local);
    }
}

void chunks_write(struct scheme_world *world, const struct scheme_write *writes, size_t count)
{
    set_locals(world, writes, count);
    update(world);
}

void chunks_write_positions(struct scheme_world *world, const scheme_handle *nodes,
                            const float (*positions)[3], size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const uint32_t place = place_of(world, nodes[i]);

        memcpy(local_at(world, place)->position, positions[i], sizeof positions[i]);
        touch(world, place);
    }
    update(world);
}

// What a deferred scheme must do for a world that is true in the middle of a frame.
void chunks_probe(struct scheme_world *world, const struct scheme_probe *probes, size_t count,
                  struct pose *out)
{
    for (size_t i = 0; i < count; ++i) {
        set_local(world, probes[i].written, &probes[i].local);
        update(world);
        out[i] = chunks_world_of(world, probes[i].read);
    }
}

void chunks_make_prefab(struct scheme_world *world, const struct pose locals[PREFAB_SIZE])
{
    memcpy(world->prefab, locals, sizeof world->prefab);
}

// Make the prefab's first nodes, so many of them, under a parent or NO_NODE, a place. Nothing moves
// while nodes are made, so places hold.
static scheme_handle spawn_one(struct scheme_world *world, const struct pose *local,
                               uint32_t parent, int size)
{
    const uint32_t first = node_new(world, local);

    for (int i = size; --i > 0;) {
        link_first(world, node_new(world, &world->prefab[i]), first);
    }
    link_subtree(world, first, parent);
    return handle_at(world, first);
}

static void destroy_all(struct scheme_world *world, const scheme_handle *doomed, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        destroy_subtree(world, doomed[i]);
    }
}

// The dead go first: their handles are taken again at once.
void chunks_spawn(struct scheme_world *world, const struct scheme_spawn_frame *frame)
{
    destroy_all(world, frame->doomed, frame->doomed_count);
    for (size_t i = 0; i < frame->spawn_count; ++i) {
        const struct scheme_spawn *const one = &frame->spawns[i];

        frame->made[i] = spawn_one(world, &one->local, place_of(world, one->parent), PREFAB_SIZE);
    }
    update(world);
}

static void shoot(struct scheme_world *world, const struct scheme_battle_frame *frame)
{
    for (size_t i = 0; i < frame->shot_count; ++i) {
        const struct scheme_shot *const shot = &frame->shots[i];
        const int size = shot->is_large ? PREFAB_SIZE : 1;

        frame->effects_made[i] = spawn_one(world, &shot->effect, place_of(world, shot->gun), size);
        frame->bullets_made[i] = spawn_one(world, &shot->bullet, NO_NODE, 1);
    }
}

// Guns are where the update of the frame before has left them.
void chunks_battle(struct scheme_world *world, const struct scheme_battle_frame *frame)
{
    for (size_t i = 0; i < frame->shot_count; ++i) {
        struct scheme_shot *const shot = &frame->shots[i];
        const struct pose *const gun = world_at(world, place_of(world, shot->gun));

        memcpy(shot->bullet.position, gun->position, sizeof shot->bullet.position);
    }
    set_locals(world, frame->ships, frame->ship_count);
    set_locals(world, frame->bullets, frame->bullet_count);
    destroy_all(world, frame->doomed, frame->doomed_count);
    shoot(world, frame);
    update(world);
}

void chunks_spawn_worlds(struct scheme_world *world, scheme_handle made,
                         struct pose out[PREFAB_SIZE])
{
    const uint32_t first = place_of(world, made);
    uint32_t node = down_at(world, first)->first_child;

    out[0] = *world_at(world, first);
    for (int i = 1; i < PREFAB_SIZE; ++i) {
        out[i] = *world_at(world, node);
        node = down_at(world, node)->next_sibling;
    }
}

static void move_subtree(struct scheme_world *world, uint32_t top, uint32_t parent)
{
    unlink_node(world, top);
    link_subtree(world, top, parent);
}

void chunks_reparent(struct scheme_world *world, const struct scheme_move *moves, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        move_subtree(world, place_of(world, moves[i].leaf), place_of(world, moves[i].parent));
    }
    update(world);
}

void chunks_regraft(struct scheme_world *world, const struct scheme_move *moves, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const uint32_t leaf = place_of(world, moves[i].leaf);

        move_subtree(world, leaf, NO_NODE);
        update(world);
        move_subtree(world, leaf, place_of(world, moves[i].parent));
        update(world);
    }
}

void chunks_set_swings(struct scheme_world *world, const struct scheme_swing *swings, size_t count)
{
    world->swings = block_copy(swings, count, sizeof *swings);
    world->swing_count = count;
}

void chunks_animate(struct scheme_world *world, float phase)
{
    for (size_t i = 0; i < world->swing_count; ++i) {
        const struct pose local = swing_at(&world->swings[i].swing, phase);

        set_local(world, world->swings[i].node, &local);
    }
    update(world);
}

void chunks_set_velocities(struct scheme_world *world, const struct scheme_velocity *velocities,
                           size_t count)
{
    world->velocities = block_copy(velocities, count, sizeof *velocities);
    world->velocity_count = count;
}

void chunks_move_roots(struct scheme_world *world)
{
    for (size_t i = 0; i < world->velocity_count; ++i) {
        const uint32_t place = place_of(world, world->velocities[i].node);
        struct pose *const local = local_at(world, place);

        for (int axis = 0; axis < 3; ++axis) {
            local->position[axis] += world->velocities[i].velocity.step[axis];
        }
        touch(world, place);
    }
    update(world);
}

// Chunks have no gaps: only the last is not full.
void chunks_sum_positions(struct scheme_world *world, double sum[3])
{
    double x = 0, y = 0, z = 0;

    for (uint32_t first = 0; first < world->count; first += CHUNK_ROWS) {
        const struct chunk *const chunk = &world->chunks[chunk_of(first)];
        const uint32_t left = world->count - first;
        const uint32_t rows = left < CHUNK_ROWS ? left : CHUNK_ROWS;

        for (uint32_t row = 0; row < rows; ++row) {
            const float *const position = chunk->worlds[row].position;

            x += (double)position[0];
            y += (double)position[1];
            z += (double)position[2];
        }
    }
    sum[0] = x;
    sum[1] = y;
    sum[2] = z;
}

void chunks_read_positions(struct scheme_world *world, const scheme_handle *nodes, size_t count,
                           double sum[3])
{
    double x = 0, y = 0, z = 0;

    for (size_t i = 0; i < count; ++i) {
        const float *const position = world_at(world, place_of(world, nodes[i]))->position;

        x += (double)position[0];
        y += (double)position[1];
        z += (double)position[2];
    }
    sum[0] = x;
    sum[1] = y;
    sum[2] = z;
}
