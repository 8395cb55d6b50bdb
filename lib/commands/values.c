// SPDX-License-Identifier: MIT
// The values that commands carry, and what they make of the component sets of nodes. Every command
// takes O(ESPL_SET_LIMIT), however many came before it on the same node: a set holds the newest
// value of each of its components and nothing else.
#include "lib/commands/carrier.h"

#include <string.h>

// --- Values in a payload ---

static bool has_transform(const espl__command *command)
{
    return command->kind == ESPL__COMMAND_INSTANTIATE || command->kind == ESPL__COMMAND_CREATE ||
           (command->kind == ESPL__COMMAND_CHANGE && command->place == ESPL__PLACEMENT_COMES);
}

espl__value_cursor espl__values_of(const espl__playback *playback, const espl__entry *entry)
{
    const size_t head = has_transform(entry->command) ? sizeof(espl_transform) : 0;
    const uint32_t count = entry->command->value_count;

    return (espl__value_cursor){.payload = count != 0 ? espl__entry_payload(playback, entry) : NULL,
                                .layout = espl__values_begin(head),
                                .left = count};
}

bool espl__values_next(espl__value_cursor *c)
{
    if (c->left == 0) {
        return false;
    }
    memcpy(&c->header, c->payload + c->layout.size, sizeof c->header);
    c->is_taken = c->header.size == ESPL__VALUE_TAKEN;
    c->bytes = c->payload + espl__layout_value(&c->layout, c->is_taken ? 0 : c->header.size,
                                               c->header.alignment);
    c->left -= 1;
    return true;
}

// --- What a node has ---

uint32_t espl__components_base(const espl__store *store, const espl__node *node)
{
    const uint32_t entity = espl__node_is_clone(node) ? node->source : node->entity;

    return entity == ESPL__NO_ENTITY ? ESPL__NONE : espl__entity_archetype(store, entity);
}

// Components that do not count among a set's: roles, the placement, and a clone's tag of a prefab.
static bool is_skipped(espl_component component, bool is_clone)
{
    return component <= ESPL_MEMBER || (is_clone && component == ESPL_PREFAB);
}

static size_t count_base(const espl__store *store, uint32_t base, bool is_clone)
{
    if (base == ESPL__NONE) {
        return 0;
    }
    const bool is_placed = espl__archetype_has(store, base, ESPL_PLACEMENT);
    const bool loses_tag = is_clone && espl__archetype_has(store, base, ESPL_PREFAB);

    return espl__array_length(store->archetypes[base].set) - 1 - (is_placed ? 1 : 0) -
           (loses_tag ? 1 : 0);
}

size_t espl__components_count(const espl__playback *playback, const espl__group *group,
                              const espl__node *node)
{
    return node->values != ESPL__NONE
               ? group->work->sets.sets[node->values].count
               : count_base(playback->store, espl__components_base(playback->store, node),
                            espl__node_is_clone(node));
}

bool espl__components_have(const espl__playback *playback, const espl__group *group,
                           const espl__node *node, espl_component component)
{
    if (node->values != ESPL__NONE) {
        return espl__set_find(&group->work->sets, node->values, component) != NULL;
    }
    const uint32_t base = espl__components_base(playback->store, node);

    return base != ESPL__NONE && !is_skipped(component, espl__node_is_clone(node)) &&
           espl__archetype_has(playback->store, base, component);
}

bool espl__components_fit(size_t count, bool is_placed)
{
    return count + 1 + (is_placed ? 1 : 0) <= ESPL_SET_LIMIT;
}

espl_status espl__components_archetype(const espl__playback *playback, const espl__group *group,
                                       const espl__node *node, uint32_t guess, uint32_t *out)
{
    espl__store *const store = playback->store;
    const bool has_set = node->values != ESPL__NONE;
    const espl__set set = has_set ? group->work->sets.sets[node->values] : (espl__set){0};
    espl_component components[ESPL_SET_LIMIT + 2];
    size_t count = 0;

    if (espl__node_is_placed(node)) {
        components[count++] = ESPL_PLACEMENT;
    }
    components[count++] = espl__node_role(node);
    ESPL_CHECK(count + set.count <= ESPL_SET_LIMIT);
    for (uint32_t i = 0; i < set.count; ++i) {
        components[count++] = group->work->sets.items[set.begin + i].component;
    }
    if (guess != ESPL__NONE && espl__archetype_is(store, guess, components, count)) {
        *out = guess;
        return ESPL_OK;
    }
    return espl__archetype_of(store, components, count, out);
}

// --- Sets of their own ---

// A new set with what a row of an archetype has. ESPL__NONE where there is no memory.
static uint32_t set_of_base(espl__carrier *c, uint32_t base, bool is_clone, size_t more)
{
    espl__sets *const sets = &c->group->work->sets;
    const espl__store *const store = c->playback->store;
    const size_t count = base == ESPL__NONE ? 0 : espl__array_length(store->archetypes[base].set);
    const uint32_t set =
        espl__set_make(c->playback->heap, sets, count + more, ESPL__NONE, espl__carrier_number(c));

    for (size_t i = 0; set != ESPL__NONE && i < count; ++i) {
        const espl_component component = store->archetypes[base].set[i];

        if (!is_skipped(component, is_clone)) {
            espl__set_put(sets, set, &(espl__set_item){component, ESPL__NONE, NULL});
        }
    }
    return set;
}

espl_status espl__components_open(espl__carrier *c, uint32_t node, size_t more)
{
    espl__sets *const sets = &c->group->work->sets;
    const espl__node *const n = espl__sketch_at(c->sketch, node);
    const bool is_clone = espl__node_is_clone(n);
    uint32_t set = n->values;

    // What stands in for a node that found no memory holds no set.
    if (espl__sketch_has_failed(c->sketch)) {
        return espl__carrier_no_memory(c);
    }
    if (set != ESPL__NONE && !sets->sets[set].is_shared) {
        return espl__set_reserve(c->playback->heap, sets, set, more) ? ESPL_OK
                                                                     : espl__carrier_no_memory(c);
    }
    set = set == ESPL__NONE
              ? set_of_base(c, espl__components_base(c->playback->store, n), is_clone, more)
              : espl__set_make(c->playback->heap, sets, more, set, espl__carrier_number(c));
    if (set == ESPL__NONE) {
        return espl__carrier_no_memory(c);
    }
    espl__components_set(c, node, set);
    // Where the sketch found no memory the node is none that keeps a set.
    return espl__sketch_has_failed(c->sketch) ? espl__carrier_no_memory(c) : ESPL_OK;
}

void espl__components_set(espl__carrier *c, uint32_t node, uint32_t set)
{
    espl__sketch_at(c->sketch, node)->values = set;
    if (!espl__carrier_has(c, node, ESPL__NODE_CLONE)) {
        espl__sketch_note(c->sketch, node, ESPL__NODE_RESET);
    }
}

void espl__components_apply(espl__carrier *c, uint32_t set)
{
    const uint32_t entry = espl__carrier_number(c);
    espl__value_cursor values = espl__values_of(c->playback, c->entry);

    while (espl__values_next(&values)) {
        const espl_component component = values.header.component;

        if (values.is_taken) {
            espl__set_drop(&c->group->work->sets, set, component);
        } else {
            const bool has_value = values.header.size != 0;

            espl__set_put(&c->group->work->sets, set,
                          &(espl__set_item){component, entry, has_value ? values.bytes : NULL});
        }
    }
}

// --- Sets of clones ---

// The same without the tag of a prefab; made once.
static uint32_t bare_of(espl__carrier *c, uint32_t set)
{
    espl__sets *const sets = &c->group->work->sets;

    if (sets->sets[set].bare == ESPL__NONE) {
        const uint32_t bare =
            espl__set_make(c->playback->heap, sets, 0, set, espl__carrier_number(c));

        if (bare == ESPL__NONE) {
            return ESPL__NONE;
        }
        espl__set_drop(sets, bare, ESPL_PREFAB);
        sets->sets[bare].is_shared = true;
        sets->sets[set].bare = bare;
    }
    return sets->sets[set].bare;
}

espl_status espl__components_share(espl__carrier *c, uint32_t node, uint32_t *out)
{
    espl__sets *const sets = &c->group->work->sets;
    const uint32_t set = espl__sketch_at(c->sketch, node)->values;

    *out = set;
    if (set == ESPL__NONE) {
        return ESPL_OK;
    }
    sets->sets[set].is_shared = true;
    if (espl__set_find(sets, set, ESPL_PREFAB) != NULL) {
        *out = bare_of(c, set);
    }
    return *out != ESPL__NONE ? ESPL_OK : espl__carrier_no_memory(c);
}

espl_status espl__components_make(espl__carrier *c, uint32_t before, uint32_t base, uint32_t *out)
{
    espl__sets *const sets = &c->group->work->sets;
    const size_t more = c->command->value_count;

    *out = before;
    if (more == 0) {
        return ESPL_OK;
    }
    *out = before == ESPL__NONE
               ? set_of_base(c, base, true, more)
               : espl__set_make(c->playback->heap, sets, more, before, espl__carrier_number(c));
    if (*out == ESPL__NONE) {
        return espl__carrier_no_memory(c);
    }
    espl__components_apply(c, *out);
    sets->sets[*out].is_shared = true;
    return ESPL_OK;
}

// --- The change ---

bool espl__values_are_given(const espl__sets *sets, uint32_t set)
{
    const espl__set *const at = &sets->sets[set];
    bool is_given = false;

    for (uint32_t i = 0; i < at->count && !is_given; ++i) {
        is_given = sets->items[at->begin + i].bytes != NULL;
    }
    return is_given;
}

void espl__values_fill(const espl__playback *playback, const espl__sets *sets, uint32_t set,
                       const espl__record *first, uint32_t count)
{
    const espl__set_item *const items = sets->items + sets->sets[set].begin;

    for (uint32_t i = 0; i < sets->sets[set].count; ++i) {
        if (items[i].bytes != NULL) {
            espl__rows_fill(playback->store, first->chunk, items[i].component, first->row, count,
                            items[i].bytes);
        }
    }
}

// --- Scratch ---

// Commands of a group that are counted; one with more takes what it needs as it goes.
enum { BUDGET = 16 };

static bool changes_sets(const espl__command *command)
{
    return command->value_count != 0 || command->kind == ESPL__COMMAND_ENABLE ||
           command->kind == ESPL__COMMAND_DISABLE;
}

// Items that a command's first look at its target may copy.
static size_t item_budget(const espl__playback *playback, const espl__entry *entry)
{
    const espl__operand *const target = &entry->target;
    size_t count = entry->command->value_count + 1;

    if (espl__operand_is_living(target)) {
        const uint32_t entity = playback->forest->entity[target->number];
        const uint32_t archetype = espl__entity_archetype(playback->store, entity);

        count += espl__array_length(playback->store->archetypes[archetype].set);
    }
    return count;
}

bool espl__values_give_slices(espl__playback *playback, espl__group *group)
{
    espl__sets *const sets = &group->work->sets;
    size_t count = 0, items = 0;

    for (uint32_t i = group->entry_begin; i < group->entry_end && count < BUDGET; ++i) {
        const espl__entry *const entry = &playback->entries[playback->grouped_entries[i]];

        if (changes_sets(entry->command)) {
            count += 1;
            items += item_budget(playback, entry);
        }
    }
    if (count == 0) {
        return true;
    }
    sets->sets = espl__arena_take(&playback->arena, count, sizeof *sets->sets);
    sets->items = espl__arena_take(&playback->arena, items, sizeof *sets->items);
    sets->set_capacity = sets->sets != NULL ? count : 0;
    sets->item_capacity = sets->items != NULL ? items : 0;
    return sets->sets != NULL && sets->items != NULL;
}
