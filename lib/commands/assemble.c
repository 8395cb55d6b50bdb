// SPDX-License-Identifier: MIT
// The plan of the short way of assembly: which groups go it, and what their commands come to.
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
    uint32_t solos;  // numbers of all solos are less
    uint32_t stamp;  // worlds with another one hold no longer
} assembly;

// --- Which groups ---

static bool is_solo(const espl__run *run)
{
    ESPL_CHECK(run->ghosts < run->size);
    return run->size == 1 && run->capacity == 1 && run->side == NULL &&
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

static bool is_last_child(const espl__command *command)
{
    return command->inherit == 0 && espl_entity_is_null(command->before);
}

// What refers to entities may name others that are made: that is told the long way.
static bool are_plain_values(const espl__playback *playback, const espl__entry *entry)
{
    espl__value_cursor values = espl__values_of(playback, entry);
    bool are_plain = espl__components_fit(entry->command->value_count, true);

    while (are_plain && espl__values_next(&values)) {
        are_plain =
            espl__component_info_of(playback->store, values.header.component)->reference_count == 0;
    }
    return are_plain;
}

static bool is_plain_creation(const espl__playback *playback, const espl__entry *entry)
{
    const espl__extra extra = espl__extra_of(espl__entry_transform(playback, entry));

    return (espl__operand_is_known(&entry->parent) ||
            espl_entity_is_null(entry->command->parent)) &&
           is_last_child(entry->command) && espl__extra_is_default(&extra) &&
           are_plain_values(playback, entry);
}

static bool is_plain(const espl__playback *playback, const espl__entry *entry)
{
    switch (entry->command->kind) {
    case ESPL__COMMAND_ATTACH:
        return is_last_child(entry->command) && espl__operand_is_known(&entry->target) &&
               espl__operand_is_known(&entry->parent);
    case ESPL__COMMAND_WRITE:
        return espl__operand_is_known(&entry->target);
    case ESPL__COMMAND_CREATE:
        return is_plain_creation(playback, entry);
    default:
        return false;
    }
}

// Tell whether a command is to be carried out on worlds as well.
static bool asks_for_world(const espl__entry *entry)
{
    const espl__command *const command = entry->command;

    switch (command->kind) {
    case ESPL__COMMAND_ATTACH:
        return !keeps_local(command);
    case ESPL__COMMAND_WRITE:
        return !espl__write_is_local((espl_write_kind)command->place);
    default:
        return command->place == ESPL_PLACE_WORLD && espl__entry_has_parent(entry);
    }
}

bool espl__assemble_suits(const espl__playback *playback, espl__group *group)
{
    const uint32_t solos = group->run_end - group->run_begin;
    uint64_t made = 0;
    bool suits = are_solos(playback, group), asks = false;

    for (uint32_t i = 0; i < espl__group_size(group) && suits; ++i) {
        const espl__entry *const entry = espl__group_entry(playback, group, i);

        suits = is_plain(playback, entry);
        asks = asks || (suits && asks_for_world(entry));
        made += entry->command->count;
    }
    suits = suits && (solos > 1 || made != 0);
    if (suits) {
        group->asks_for_worlds = asks;
        group->size = (uint32_t)(solos + made);
    }
    return suits;
}

// --- Nodes ---

static uint32_t node_of(const assembly *a, const espl__operand *operand)
{
    return espl__operand_is_pending(operand)
               ? a->solos + operand->number
               : a->playback->run_marks[a->forest->run[operand->number]] - 1;
}

// Tell whether a node is one by now.
static bool is_there(const assembly *a, uint32_t node)
{
    return a->nodes[node].growth != 0;
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

static void begin_node(const assembly *a, uint32_t number)
{
    a->nodes[number] = (espl__assembly_node){.parent = ESPL__NO_NODE,
                                             .first = ESPL__NO_NODE,
                                             .last = ESPL__NO_NODE,
                                             .next = ESPL__NO_NODE};
    if (a->stamps != NULL) {
        a->stamps[number] = 0;
    }
}

// Give a node the local that it has at first.
static void found_node(espl__assembly_node *node, const espl_pose *local)
{
    node->local = *local;
    node->growth = 1;
    widen(node);
}

static uint32_t first_pending(const espl__playback *playback, const espl__entry *entry)
{
    return playback->lanes[entry->lane].pending_base + entry->command->pending;
}

static void begin_nodes(const assembly *a, const espl__group *group)
{
    for (uint32_t i = group->run_begin; i < group->run_end; ++i) {
        const uint32_t number = a->playback->grouped_runs[i];
        const uint32_t slot = a->forest->runs[a->playback->touched[number].run].base;

        begin_node(a, number);
        a->nodes[number].slot = slot & INT32_MAX;
        found_node(&a->nodes[number], &a->forest->local[slot]);
    }
    for (uint32_t i = 0; a->playback->assembling->creates && i < espl__group_size(group); ++i) {
        const espl__entry *const entry = espl__group_entry(a->playback, group, i);

        for (uint32_t k = 0; k < entry->command->count; ++k) {
            begin_node(a, a->solos + first_pending(a->playback, entry) + k);
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
    *out = a->worlds[node];
    return true;
}

// --- Commands: false where the group has to go the long way ---

static bool write_world(assembly *a, uint32_t number, espl_write_kind kind,
                        const espl_write_value *value)
{
    espl__assembly_node *const node = &a->nodes[number];
    espl__frame up = {.extra = espl__extra_default()};
    espl_pose world;

    if (!find_world(a, number, &world)) {
        return false;
    }
    if (node->parent == ESPL__NO_NODE) {
        return espl__pose_write(&node->local, &world, NULL, kind, value) == ESPL_OK;
    }
    // Where the world of a node holds, so do those above it.
    ESPL_CHECK(a->stamps[node->parent] == a->stamp);
    up.world = a->worlds[node->parent];
    return espl__pose_write(&node->local, &world, &up, kind, value) == ESPL_OK;
}

static bool write(assembly *a, const espl__entry *entry)
{
    const espl_write_kind kind = (espl_write_kind)entry->command->place;
    const espl_write_value *const value = espl__entry_value(a->playback, entry);
    const uint32_t number = node_of(a, &entry->target);
    espl__assembly_node *const node = &a->nodes[number];

    if (!is_there(a, number) || espl__write_wants_side(kind, value) ||
        (espl__write_is_local(kind) ? espl__local_write(&node->local, kind, value) != ESPL_OK
                                    : !write_world(a, number, kind, value))) {
        return false;
    }
    widen(node);
    touch(a, number);
    return true;
}

// Place a root under another node.
static bool place(assembly *a, espl__assembly_node *node, uint32_t parent, espl__stay_rules rules)
{
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
    const espl__stay_rules rules = {command->stay_position, command->stay_rotation,
                                    command->stay_scale};
    const uint32_t child = node_of(a, &entry->target), parent = node_of(a, &entry->parent);
    espl__assembly_node *const node = &a->nodes[child];

    if (!is_there(a, child) || !is_there(a, parent) || node->parent != ESPL__NO_NODE ||
        child == parent || (!keeps_local(command) && !place(a, node, parent, rules))) {
        return false;
    }
    node->is_free = command->link == ESPL_LINK_FREE ? 1 : 0;
    link_last(a, child, parent);
    touch(a, child);
    return true;
}

static bool create_below(assembly *a, const espl__entry *entry, uint32_t child, uint32_t parent)
{
    const espl__stay_rules rules = {ESPL_STAY_WORLD, ESPL_STAY_WORLD, ESPL_STAY_WORLD};
    espl__assembly_node *const node = &a->nodes[child];

    if (entry->command->place == ESPL_PLACE_WORLD && !place(a, node, parent, rules)) {
        return false;
    }
    node->is_free = entry->command->link == ESPL_LINK_FREE ? 1 : 0;
    link_last(a, child, parent);
    return true;
}

static bool create(assembly *a, const espl__entry *entry)
{
    const bool has_parent = espl__entry_has_parent(entry);
    const uint32_t parent = has_parent ? node_of(a, &entry->parent) : ESPL__NO_NODE;
    const uint32_t first = a->solos + first_pending(a->playback, entry);
    const espl_pose local = espl__pose_of(espl__entry_transform(a->playback, entry));
    bool is_fine = !has_parent || is_there(a, parent);

    for (uint32_t k = 0; k < entry->command->count && is_fine; ++k) {
        found_node(&a->nodes[first + k], &local);
        is_fine = !has_parent || create_below(a, entry, first + k, parent);
    }
    return is_fine;
}

static bool carry_out(assembly *a, const espl__entry *entry)
{
    switch (entry->command->kind) {
    case ESPL__COMMAND_ATTACH:
        return attach(a, entry);
    case ESPL__COMMAND_WRITE:
        return write(a, entry);
    default:
        return create(a, entry);
    }
}

static bool carry_out_all(assembly *a, const espl__group *group)
{
    bool is_fine = true;

    for (uint32_t i = 0; i < espl__group_size(group) && is_fine; ++i) {
        is_fine = carry_out(a, espl__group_entry(a->playback, group, i));
    }
    return is_fine;
}

// --- The layout ---

static uint32_t find_made_root(const assembly *a, const espl__entry *entry)
{
    const uint32_t first = a->solos + first_pending(a->playback, entry);

    for (uint32_t k = 0; k < entry->command->count; ++k) {
        if (a->nodes[first + k].parent == ESPL__NO_NODE) {
            return first + k;
        }
    }
    return ESPL__NO_NODE;
}

// Some node without a parent, of which there is one only where nothing is left out of the hierarchy;
// ESPL__NO_NODE where all hang in circles.
static uint32_t find_root(const assembly *a, const espl__group *group)
{
    uint32_t root = ESPL__NO_NODE;

    for (uint32_t i = group->run_begin; i < group->run_end; ++i) {
        const uint32_t number = a->playback->grouped_runs[i];

        if (a->nodes[number].parent == ESPL__NO_NODE) {
            return number;
        }
    }
    for (uint32_t i = 0; i < espl__group_size(group) && root == ESPL__NO_NODE; ++i) {
        root = find_made_root(a, espl__group_entry(a->playback, group, i));
    }
    return root;
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
        entry->clone_count = entry->command->count;
    }
}

// What was done counts as the long way counts it: all that moved or were made, and a root that stays
// where its world differs.
static void tell_group(const assembly *a, espl__group *group, uint32_t root)
{
    const espl__assembly_node *const node = &a->nodes[root];
    const bool goes_on = root < a->solos;
    const bool is_same = goes_on && espl__pose_is_same(&node->local, &a->forest->world[node->slot]);

    group->run = goes_on ? a->playback->touched[root].run : ESPL__NO_RUN;
    group->visited = a->size - (is_same ? 1 : 0);
    group->clones = a->size - (group->run_end - group->run_begin);
    group->dead = 0;
    group->is_short = true;
    group->is_resettled = goes_on;
    if (goes_on) {
        a->playback->loads[root].goes_on = true;
    }
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
                  .order = all->order + group->step_begin,
                  .size = group->size,
                  .solos = (uint32_t)playback->touched_count,
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

// Give each group its part of the order. Tells whether there is one.
static bool list_groups(espl__playback *playback, espl__assembling *all, size_t *size, bool *asks)
{
    bool is_any = false;

    for (size_t i = 0; i < playback->group_count; ++i) {
        espl__group *const group = &playback->groups[i];

        if (group->does == ESPL__SHORT_ASSEMBLY) {
            is_any = true;
            *asks = *asks || group->asks_for_worlds;
            all->creates = all->creates || group->size != group->run_end - group->run_begin;
            group->step_begin = (uint32_t)*size;
            *size += group->size;
        }
    }
    return is_any;
}

static bool make_lists(espl__playback *playback, espl__assembling *all, size_t size, bool asks)
{
    espl__arena *const arena = &playback->arena;
    const size_t count = playback->touched_count + (all->creates ? playback->pending_count : 0);

    all->nodes = espl__arena_take(arena, count, sizeof *all->nodes);
    all->order = espl__arena_take(arena, size, sizeof *all->order);
    if (asks) {
        all->worlds = espl__arena_take(arena, count, sizeof *all->worlds);
        all->stamps = espl__arena_take(arena, count, sizeof *all->stamps);
    }
    return all->nodes != NULL && all->order != NULL &&
           (!asks || (all->worlds != NULL && all->stamps != NULL));
}

espl_status espl__assemble_plan(espl__playback *playback)
{
    espl__assembling found = {0};
    size_t size = 0;
    bool asks = false;

    playback->assembling = NULL;
    if (!list_groups(playback, &found, &size, &asks)) {
        return ESPL_OK;
    }
    espl__assembling *const all = espl__arena_take(&playback->arena, 1, sizeof *all);

    if (all == NULL || !make_lists(playback, &found, size, asks)) {
        return ESPL_ERR_NO_MEMORY;
    }
    *all = found;
    playback->assembling = all;
    return espl__run_ranges(playback->executor, playback->hooks, plan_groups, playback,
                            playback->group_count, GRAIN);
}
