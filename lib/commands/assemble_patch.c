// SPDX-License-Identifier: MIT
// The second half of the short way of assembly: who is made, and what the forest is like afterwards.
#include "lib/commands/assemble.h"

// Groups that one job takes at least.
enum { GRAIN = 16 };

// --- Those that are made ---

static const espl__entry *maker_of(const espl__playback *playback, const espl__make *make)
{
    return &playback->entries[playback->pending_entries[make->node]];
}

static espl_component role_of(const espl__playback *playback, const espl__make *make)
{
    const espl__assembly_node *const node =
        &playback->assembling->nodes[playback->touched_count + make->node];

    if (node->parent != ESPL__NO_NODE) {
        return ESPL_MEMBER;
    }
    return playback->groups[make->group].size > 1 ? ESPL_ROOT : ESPL_SOLO;
}

// Put a component in its place in a sorted set, which has none like it.
static void insert(espl_component *set, size_t count, espl_component component)
{
    for (; count > 0 && set[count - 1] > component; --count) {
        set[count] = set[count - 1];
    }
    set[count] = component;
}

espl_status espl__assembly_archetype(const espl__playback *playback, const espl__make *make,
                                     uint32_t guess, uint32_t *out)
{
    espl__value_cursor values = espl__values_of(playback, maker_of(playback, make));
    espl_component set[ESPL_SET_LIMIT];
    size_t count = 0;

    insert(set, count++, ESPL_PLACEMENT);
    insert(set, count++, role_of(playback, make));
    while (espl__values_next(&values)) {
        insert(set, count++, values.header.component);
    }
    if (guess != ESPL__NONE && espl__archetype_is(playback->store, guess, set, count)) {
        *out = guess;
        return ESPL_OK;
    }
    return espl__archetype_of(playback->store, set, count, out);
}

void espl__assembly_fill(const espl__playback *playback, const espl__make *make,
                         const espl__record *record)
{
    espl__value_cursor values = espl__values_of(playback, maker_of(playback, make));

    while (espl__values_next(&values)) {
        if (values.header.size != 0) {
            espl__rows_fill(playback->store, record->chunk, values.header.component, record->row, 1,
                            values.bytes);
        }
    }
}

// --- The patch ---

static uint32_t entity_of(const espl__playback *playback, uint32_t node)
{
    if (node < playback->touched_count) {
        return playback->forest->entity[playback->assembling->nodes[node].slot];
    }
    const uint32_t pending = node - (uint32_t)playback->touched_count;
    const espl__entry *const entry = &playback->entries[playback->pending_entries[pending]];
    const uint32_t first = playback->lanes[entry->lane].pending_base + entry->command->pending;

    return playback->make_entities[entry->make_begin + (pending - first)].index;
}

static void place_node(const espl__playback *playback, const espl__group *group, uint32_t number)
{
    const espl__assembly_node *const nodes = playback->assembling->nodes;
    const espl__assembly_node *const node = &nodes[number];
    espl__forest *const forest = playback->forest;
    const uint32_t slot = group->base + node->rank, entity = entity_of(playback, number);

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
    const uint32_t *const order = all->order + group->step_begin;
    espl__forest *const forest = playback->forest;

    for (uint32_t rank = 0; rank < group->size; ++rank) {
        place_node(playback, group, order[rank]);
    }
    forest->runs[group->run] = espl__run_filling(group->base, group->size);
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
