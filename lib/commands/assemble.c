// SPDX-License-Identifier: MIT
// The plan of the short way of assembly, and what the forest is like afterwards.
#include "lib/commands/assemble.h"

// Groups that one job takes at least.
enum { GRAIN = 16 };

// Worlds that may reach so far are not looked at closer. It leaves powers of two to spare, for
// rotations off unit length and for rounding in chains of any length.
#define FAR_AWAY 1e30F

// One group at work.
typedef struct assembly {
    const espl__playback *playback;
    const espl__forest *forest;
    espl__assembly_node *nodes; // of all groups
    espl_pose *worlds;          // likewise; NULL: no command asks for one
    uint32_t *stamps;
    uint32_t *order; // [size]
    uint32_t size;   // nodes
    uint32_t stamp;  // worlds with another one hold no longer
} assembly;

// --- Which groups ---

static bool is_solo(const espl__run *run)
{
    return run->size == 1 && run->capacity == 1 && run->ghosts == 0 && run->side == NULL &&
           (run->flags & ESPL__RUN_GENERAL) == 0;
}

static bool are_solos(const espl__playback *playback, const espl__group *group)
{
    bool are_all = true;

    for (uint32_t i = group->run_begin; i < group->run_end && are_all; ++i) {
        const uint32_t run = playback->touched[playback->grouped_runs[i]].run;

        are_all = is_solo(&playback->forest->runs[run]);
    }
    return are_all;
}

static bool keeps_local(const espl__command *command)
{
    return command->stay_position == ESPL_STAY_LOCAL && command->stay_rotation == ESPL_STAY_LOCAL &&
           command->stay_scale == ESPL_STAY_LOCAL;
}

static bool is_plain_attach(const espl__entry *entry)
{
    const espl__command *const command = entry->command;

    return command->kind == ESPL__COMMAND_ATTACH && command->inherit == 0 &&
           espl_entity_is_null(command->before) && espl__operand_is_living(&entry->target) &&
           espl__operand_is_living(&entry->parent);
}

static bool is_plain_write(const espl__entry *entry)
{
    return entry->command->kind == ESPL__COMMAND_WRITE && espl__operand_is_living(&entry->target);
}

// Tell whether a command is to be carried out on worlds as well.
static bool asks_for_world(const espl__command *command)
{
    return command->kind == ESPL__COMMAND_ATTACH
               ? !keeps_local(command)
               : !espl__write_is_local((espl_write_kind)command->place);
}

bool espl__assemble_suits(const espl__playback *playback, espl__group *group)
{
    bool suits = group->run_end - group->run_begin > 1 && are_solos(playback, group);
    bool asks = false;

    for (uint32_t i = 0; i < espl__group_size(group) && suits; ++i) {
        const espl__entry *const entry = espl__group_entry(playback, group, i);

        suits = is_plain_attach(entry) || is_plain_write(entry);
        asks = asks || (suits && asks_for_world(entry->command));
    }
    group->asks_for_worlds = asks;
    return suits;
}

// --- Nodes ---

static uint32_t node_of(const assembly *a, const espl__operand *operand)
{
    return a->playback->run_marks[a->forest->run[operand->number]] - 1;
}

static float larger(float a, float b)
{
    return a > b ? a : b;
}

// Note the local that a node has now: once it was there it counts.
static void widen(espl__assembly_node *node)
{
    const float *const position = node->local.position;

    node->growth = larger(node->growth, fabsf(node->local.scale));
    node->reach = larger(node->reach, fabsf(position[0]) + fabsf(position[1]) + fabsf(position[2]));
}

static void begin_nodes(const assembly *a, const espl__group *group)
{
    for (uint32_t i = group->run_begin; i < group->run_end; ++i) {
        const uint32_t number = a->playback->grouped_runs[i];
        const uint32_t slot = a->forest->runs[a->playback->touched[number].run].base;
        espl__assembly_node *const node = &a->nodes[number];

        *node = (espl__assembly_node){.local = a->forest->local[slot],
                                      .growth = 1,
                                      .parent = ESPL__NO_NODE,
                                      .first = ESPL__NO_NODE,
                                      .last = ESPL__NO_NODE,
                                      .next = ESPL__NO_NODE,
                                      .slot = slot & INT32_MAX};
        widen(node);
        if (a->stamps != NULL) {
            a->stamps[number] = 0;
        }
    }
}

// --- Worlds between two commands ---

// A node has another world now.
static void touch(assembly *a, uint32_t node)
{
    if (a->stamps != NULL) {
        a->stamps[node] = 0;
        a->stamp += a->nodes[node].first != ESPL__NO_NODE ? 1 : 0; // what hangs below it as well
    }
}

// Compute the worlds from below the nearest one that holds, or from the root, down to a node.
// false: a circle was closed.
static bool find_world(const assembly *a, uint32_t node, espl_pose *out)
{
    uint32_t at = node, next = ESPL__NO_NODE;
    uint32_t steps = 0;

    for (; at != ESPL__NO_NODE && a->stamps[at] != a->stamp && steps <= a->size; ++steps) {
        a->nodes[at].rank = next;
        next = at;
        at = a->nodes[at].parent;
    }
    if (steps > a->size) {
        return false;
    }
    const espl_pose *up = at == ESPL__NO_NODE ? NULL : &a->worlds[at];

    while (next != ESPL__NO_NODE) {
        const espl_pose *const local = &a->nodes[next].local;

        a->worlds[next] = up == NULL ? *local : espl__pose_compose(up, NULL, local);
        a->stamps[next] = a->stamp;
        up = &a->worlds[next];
        next = a->nodes[next].rank;
    }
    *out = *up;
    return true;
}

// --- Commands: false where the group has to go the long way ---

static bool write_world(assembly *a, uint32_t number, espl_write_kind kind,
                        const espl_write_value *value)
{
    espl__assembly_node *const node = &a->nodes[number];
    espl__frame up = {.extra = espl__extra_default()};
    espl_pose world;

    return find_world(a, number, &world) &&
           (node->parent == ESPL__NO_NODE || find_world(a, node->parent, &up.world)) &&
           espl__pose_write(&node->local, &world, node->parent == ESPL__NO_NODE ? NULL : &up, kind,
                            value) == ESPL_OK;
}

static bool write(assembly *a, const espl__entry *entry)
{
    const espl_write_kind kind = (espl_write_kind)entry->command->place;
    const espl_write_value *const value = espl__entry_value(a->playback, entry);
    const uint32_t number = node_of(a, &entry->target);
    espl__assembly_node *const node = &a->nodes[number];

    if (espl__write_wants_side(kind, value) ||
        (espl__write_is_local(kind) ? espl__local_write(&node->local, kind, value) != ESPL_OK
                                    : !write_world(a, number, kind, value))) {
        return false;
    }
    widen(node);
    touch(a, number);
    return true;
}

// Place a root under another node, by the options.
static bool place(assembly *a, espl__assembly_node *node, uint32_t parent,
                  const espl__command *command)
{
    const espl__stay_rules rules = {command->stay_position, command->stay_rotation,
                                    command->stay_scale};
    espl__placement placement = espl__placement_identity();
    espl__frame up = {.extra = placement.extra};
    espl_pose world = node->local;

    placement.local = node->local;
    if (!find_world(a, parent, &up.world) ||
        espl__placement_move(&placement, &world, &node->local, &up, rules, 0) != ESPL_OK) {
        return false;
    }
    node->local = placement.local;
    widen(node);
    return true;
}

static void link_last(const assembly *a, uint32_t child, uint32_t parent)
{
    espl__assembly_node *const up = &a->nodes[parent];

    a->nodes[child].parent = parent;
    if (up->first == ESPL__NO_NODE) {
        up->first = child;
    } else {
        a->nodes[up->last].next = child;
    }
    up->last = child;
}

static bool attach(assembly *a, const espl__entry *entry)
{
    const espl__command *const command = entry->command;
    const uint32_t child = node_of(a, &entry->target), parent = node_of(a, &entry->parent);
    espl__assembly_node *const node = &a->nodes[child];

    if (node->parent != ESPL__NO_NODE || child == parent ||
        (!keeps_local(command) && !place(a, node, parent, command))) {
        return false;
    }
    node->is_free = command->link == ESPL_LINK_FREE ? 1 : 0;
    link_last(a, child, parent);
    touch(a, child);
    return true;
}

static bool carry_out_all(assembly *a, const espl__group *group)
{
    bool is_fine = true;

    for (uint32_t i = 0; i < espl__group_size(group) && is_fine; ++i) {
        const espl__entry *const entry = espl__group_entry(a->playback, group, i);

        is_fine = entry->command->kind == ESPL__COMMAND_WRITE ? write(a, entry) : attach(a, entry);
    }
    return is_fine;
}

// --- The layout ---

static uint32_t find_root(const assembly *a, const espl__group *group)
{
    for (uint32_t i = group->run_begin; i < group->run_end; ++i) {
        const uint32_t number = a->playback->grouped_runs[i];

        if (a->nodes[number].parent == ESPL__NO_NODE) {
            return number;
        }
    }
    return ESPL__NO_NODE;
}

// Where whatever hung above a node at some moment hangs above it in the end, its worlds reach no
// farther than the locals of all of these together.
static bool bound_below(espl__assembly_node *child, const espl__assembly_node *up)
{
    child->reach = up->reach + up->growth * child->reach;
    child->growth *= up->growth;
    return child->reach < FAR_AWAY && child->growth < FAR_AWAY;
}

// Breadth-first, the order being its own queue. false: not all nodes were reached, or a world may
// overflow.
static bool lay_out(const assembly *a, uint32_t root)
{
    espl__assembly_node *const nodes = a->nodes;
    uint32_t end = 1;
    bool is_near = nodes[root].reach < FAR_AWAY && nodes[root].growth < FAR_AWAY;

    a->order[0] = root;
    for (uint32_t rank = 0; rank < end && is_near; ++rank) {
        espl__assembly_node *const node = &nodes[a->order[rank]];
        uint32_t child = node->first;

        node->rank = rank;
        node->first = end;
        while (child != ESPL__NO_NODE) {
            is_near = bound_below(&nodes[child], node) && is_near;
            a->order[end++] = child;
            child = nodes[child].next;
        }
    }
    return is_near && end == a->size;
}

// --- One group ---

static void accept(const espl__playback *playback, const espl__group *group)
{
    for (uint32_t i = 0; i < espl__group_size(group); ++i) {
        espl__entry *const entry = espl__group_entry(playback, group, i);

        entry->is_short = true;
        entry->status = ESPL_OK;
        entry->clone_count = 0;
    }
}

// What was done counts as the long way counts it: whoever came below another node, and the root
// where its world differs.
static void tell_group(const assembly *a, espl__group *group, uint32_t root)
{
    const espl__assembly_node *const node = &a->nodes[root];
    const bool is_same = espl__pose_is_same(&node->local, &a->forest->world[node->slot]);

    group->run = a->playback->touched[root].run;
    group->size = a->size;
    group->visited = a->size - (is_same ? 1 : 0);
    group->clones = group->dead = 0;
    group->is_resettled = group->is_short = true;
    a->playback->loads[root].goes_on = true;
}

static void plan_group(const espl__playback *playback, espl__group *group)
{
    const espl__assembling *const all = playback->assembling;
    const bool asks = group->asks_for_worlds;
    assembly a = {.playback = playback,
                  .forest = playback->forest,
                  .nodes = all->nodes,
                  .worlds = asks ? all->worlds : NULL,
                  .stamps = asks ? all->stamps : NULL,
                  .order = all->order + group->run_begin,
                  .size = group->run_end - group->run_begin,
                  .stamp = 1};

    begin_nodes(&a, group);
    if (!carry_out_all(&a, group)) {
        return;
    }
    const uint32_t root = find_root(&a, group);

    if (root != ESPL__NO_NODE && lay_out(&a, root)) {
        tell_group(&a, group, root);
        accept(playback, group);
    }
}

// --- All groups ---

static void plan_groups(void *context, size_t begin, size_t end)
{
    const espl__playback *const playback = context;

    for (size_t i = begin; i < end; ++i) {
        espl__group *const group = &playback->groups[i];

        if (group->does == ESPL__SHORT_ASSEMBLY) {
            plan_group(playback, group);
        }
    }
}

static bool make_lists(espl__playback *playback, bool asks)
{
    espl__arena *const arena = &playback->arena;
    espl__assembling *const all = espl__arena_take_zeroed(arena, 1, sizeof *all);
    const size_t count = playback->touched_count;

    if (all == NULL) {
        return false;
    }
    all->nodes = espl__arena_take(arena, count, sizeof *all->nodes);
    all->order = espl__arena_take(arena, count, sizeof *all->order);
    if (asks) {
        all->worlds = espl__arena_take(arena, count, sizeof *all->worlds);
        all->stamps = espl__arena_take(arena, count, sizeof *all->stamps);
    }
    playback->assembling = all;
    return all->nodes != NULL && all->order != NULL &&
           (!asks || (all->worlds != NULL && all->stamps != NULL));
}

espl_status espl__assemble_plan(espl__playback *playback)
{
    bool is_any = false, asks = false;

    playback->assembling = NULL;
    for (size_t i = 0; i < playback->group_count; ++i) {
        const espl__group *const group = &playback->groups[i];
        const bool assembles = group->does == ESPL__SHORT_ASSEMBLY;

        is_any = is_any || assembles;
        asks = asks || (assembles && group->asks_for_worlds);
    }
    if (!is_any) {
        return ESPL_OK;
    }
    return make_lists(playback, asks)
               ? espl__run_ranges(playback->executor, playback->hooks, plan_groups, playback,
                                  playback->group_count, GRAIN)
               : ESPL_ERR_NO_MEMORY;
}

// --- The patch ---

static void open_run(const espl__playback *playback, const espl__group *group)
{
    playback->forest->runs[group->run] = (espl__run){.base = group->base,
                                                     .capacity = group->size,
                                                     .used = group->size,
                                                     .size = group->size,
                                                     .flags = ESPL__RUN_IN_ORDER,
                                                     .next = ESPL__NO_RUN,
                                                     .previous = ESPL__NO_RUN};
}

static void place_node(const espl__playback *playback, const espl__group *group,
                       const espl__assembly_node *node)
{
    const espl__assembly_node *const nodes = playback->assembling->nodes;
    espl__forest *const forest = playback->forest;
    const uint32_t slot = group->base + node->rank, entity = forest->entity[node->slot];

    forest->local[slot] = node->local;
    forest->flags[slot] = node->is_free != 0 ? ESPL__SLOT_FREE_LINK : 0;
    forest->entity[slot] = entity;
    forest->run[slot] = group->run;
    forest->rank[slot] = node->rank;
    forest->order[slot] = slot;
    forest->parent[slot] = node->parent == ESPL__NO_NODE ? ESPL__NO_SLOT : nodes[node->parent].rank;
    forest->first[slot] = node->first;
    espl__entity_set_slot(playback->store, entity, slot);
}

static void patch_group(const espl__playback *playback, espl__group *group)
{
    const espl__assembling *const all = playback->assembling;
    const uint32_t *const order = all->order + group->run_begin;
    espl__forest *const forest = playback->forest;

    for (uint32_t rank = 0; rank < group->size; ++rank) {
        place_node(playback, group, &all->nodes[order[rank]]);
    }
    open_run(playback, group);
    forest->world[group->base] = forest->local[group->base];
    (void)espl__compose_ranks(forest, &forest->runs[group->run], 1, group->size);
    group->is_patched = true;
}

static void patch_groups(void *context, size_t begin, size_t end)
{
    const espl__playback *const playback = context;

    for (size_t i = begin; i < end; ++i) {
        espl__group *const group = &playback->groups[i];

        if (espl__group_assembles(group) && !group->is_patched) {
            patch_group(playback, group);
        }
    }
}

// Where the executor loses a job, the change is under way and is completed here.
void espl__assemble_patch(espl__playback *playback)
{
    const size_t count = playback->assembling != NULL ? playback->group_count : 0;

    if (count != 0 && espl__run_ranges(playback->executor, playback->hooks, patch_groups, playback,
                                       count, GRAIN) != ESPL_OK) {
        patch_groups(playback, 0, count);
    }
}
