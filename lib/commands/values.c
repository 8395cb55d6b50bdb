// SPDX-License-Identifier: MIT
// The values that commands carry, and the component sets that nodes get by them. Every command takes
// O(ESPL_SET_LIMIT), however many commands changed the same node before, because a set holds only the
// newest value of each of its components.
#include "lib/commands/playback.h"

#include <string.h>

// --- Values in a payload ---

// Tell whether a transform precedes the values in the payload.
static bool begins_with_transform(const espl__command *command)
{
    return command->kind == ESPL__COMMAND_INSTANTIATE || command->kind == ESPL__COMMAND_CREATE ||
           (command->kind == ESPL__COMMAND_CHANGE && command->place == ESPL__PLACEMENT_COMES);
}

espl__value_cursor espl__values_of(const espl__playback *playback, const espl__entry *entry)
{
    const size_t head = begins_with_transform(entry->command) ? sizeof(espl_transform) : 0;
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

uint32_t espl__components_set_of(const espl__playback *playback, const espl__part *part,
                                 uint32_t slot)
{
    if (espl__slot_is_made(playback->forest, slot)) {
        return part->made[espl__made_number(playback->forest, slot)].set;
    }
    ESPL_CHECK(!playback->changes_sets || slot < espl__array_length(playback->note_marks));
    // Without commands that change sets there may be no mark for the slot.
    const uint32_t mark = playback->changes_sets ? playback->note_marks[slot] : 0;

    if (mark == 0) {
        return ESPL__NONE;
    }
    ESPL_CHECK(mark <= espl__array_length(part->notes) && part->notes[mark - 1].slot == slot);
    return part->notes[mark - 1].set;
}

uint32_t espl__components_base(const espl__playback *playback, const espl__part *part,
                               uint32_t slot)
{
    const espl__forest *const forest = playback->forest;
    const uint32_t entity = espl__slot_is_made(forest, slot)
                                ? part->edit.made[espl__made_number(forest, slot)].source
                                : forest->links[slot].entity;

    return entity == ESPL__NO_ENTITY ? ESPL__NONE : espl__entity_archetype(playback->store, entity);
}

// Components of a row that do not count among those of a set: roles, the transform, and for a copy of
// the row the tag of a prefab.
static bool is_skipped(espl_component component, bool is_copy)
{
    return component <= ESPL_MEMBER || (is_copy && component == ESPL_PREFAB);
}

static size_t count_base(const espl__store *store, uint32_t base, bool is_copy)
{
    if (base == ESPL__NONE) {
        return 0;
    }
    const bool has_transform = espl__archetype_has(store, base, ESPL_TRANSFORM);
    const bool loses_tag = is_copy && espl__archetype_has(store, base, ESPL_PREFAB);

    // Every row has exactly one role.
    return espl__array_length(store->archetypes[base].set) - 1 - (has_transform ? 1 : 0) -
           (loses_tag ? 1 : 0);
}

size_t espl__components_count(const espl__playback *playback, const espl__part *part, uint32_t slot)
{
    const uint32_t set = espl__components_set_of(playback, part, slot);

    return set != ESPL__NONE
               ? part->sets.sets[set].count
               : count_base(playback->store, espl__components_base(playback, part, slot),
                            espl__slot_is_made(playback->forest, slot));
}

bool espl__components_have(const espl__playback *playback, const espl__part *part, uint32_t slot,
                           espl_component component)
{
    const uint32_t set = espl__components_set_of(playback, part, slot);

    if (set != ESPL__NONE) {
        return espl__set_find(&part->sets, set, component) != NULL;
    }
    const uint32_t base = espl__components_base(playback, part, slot);

    return base != ESPL__NONE &&
           !is_skipped(component, espl__slot_is_made(playback->forest, slot)) &&
           espl__archetype_has(playback->store, base, component);
}

bool espl__components_fit(size_t count, bool has_transform)
{
    return count + 1 + (has_transform ? 1 : 0) <= ESPL_SET_LIMIT;
}

espl_status espl__components_archetype(const espl__playback *playback, const espl__part *part,
                                       uint32_t set, espl_component role, bool has_transform,
                                       uint32_t guess, uint32_t *out)
{
    espl__store *const store = playback->store;
    const espl__set from = set != ESPL__NONE ? part->sets.sets[set] : (espl__set){0};
    espl_component components[ESPL_SET_LIMIT + 2];
    size_t count = 0;

    if (has_transform) {
        components[count++] = ESPL_TRANSFORM;
    }
    components[count++] = role;
    ESPL_CHECK(count + from.count <= ESPL_SET_LIMIT);
    for (uint32_t i = 0; i < from.count; ++i) {
        components[count++] = part->sets.items[from.begin + i].component;
    }
    if (guess != ESPL__NONE && espl__archetype_is(store, guess, components, count)) {
        *out = guess;
        return ESPL_OK;
    }
    return espl__archetype_of(store, components, count, out);
}

// --- Sets of nodes ---

// A new set with what a row of an archetype has, or a copy of the row. ESPL__NONE: no memory.
static uint32_t set_of_base(espl__apply *a, uint32_t base, bool is_copy, size_t more)
{
    espl__sets *const sets = &a->part->sets;
    const espl__store *const store = a->playback->store;
    const size_t count = base == ESPL__NONE ? 0 : espl__array_length(store->archetypes[base].set);
    const uint32_t set =
        espl__set_make(a->playback->heap, sets, count + more, ESPL__NONE, espl__apply_number(a));

    for (size_t i = 0; set != ESPL__NONE && i < count; ++i) {
        const espl_component component = store->archetypes[base].set[i];

        if (!is_skipped(component, is_copy)) {
            espl__set_put(sets, set, &(espl__set_item){component, ESPL__NONE, NULL});
        }
    }
    return set;
}

espl_status espl__components_open(espl__apply *a, uint32_t slot, size_t more)
{
    espl__sets *const sets = &a->part->sets;
    uint32_t set = espl__components_set_of(a->playback, a->part, slot);

    if (set != ESPL__NONE && !sets->sets[set].is_shared) {
        return espl__set_reserve(a->playback->heap, sets, set, more) ? ESPL_OK
                                                                     : espl__apply_no_memory(a);
    }
    set = set == ESPL__NONE
              ? set_of_base(a, espl__components_base(a->playback, a->part, slot),
                            espl__slot_is_made(a->playback->forest, slot), more)
              : espl__set_make(a->playback->heap, sets, more, set, espl__apply_number(a));
    return set != ESPL__NONE ? espl__components_give(a, slot, set) : espl__apply_no_memory(a);
}

espl_status espl__components_give(espl__apply *a, uint32_t slot, uint32_t set)
{
    espl__part *const part = a->part;
    const espl__forest *const forest = a->playback->forest;

    if (espl__slot_is_made(forest, slot)) {
        part->made[espl__made_number(forest, slot)].set = set;
        return ESPL_OK;
    }
    ESPL_CHECK(a->playback->changes_sets && slot < espl__array_length(a->playback->note_marks));
    uint32_t *const mark = &a->playback->note_marks[slot];

    if (*mark == 0) {
        if (!ESPL_ARRAY_RESERVE(a->playback->heap, ESPL__FOR_COMMANDS, part->notes, 1)) {
            return espl__apply_no_memory(a);
        }
        ESPL_ARRAY_PUSH(part->notes, (espl__note){slot, set});
        *mark = (uint32_t)espl__array_length(part->notes);
    }
    part->notes[*mark - 1].set = set;
    return ESPL_OK;
}

void espl__set_apply(espl__sets *sets, uint32_t set, espl__value_cursor *values, uint32_t entry)
{
    while (espl__values_next(values)) {
        const espl_component component = values->header.component;

        if (values->is_taken) {
            espl__set_drop(sets, set, component);
        } else {
            const bool has_value = values->header.size != 0;

            espl__set_put(sets, set,
                          &(espl__set_item){component, entry, has_value ? values->bytes : NULL});
        }
    }
}

// --- Sets of copies ---

// The same set without the tag of a prefab; made once. ESPL__NONE: no memory.
static uint32_t bare_of(espl__apply *a, uint32_t set)
{
    espl__sets *const sets = &a->part->sets;

    if (sets->sets[set].bare == ESPL__NONE) {
        const uint32_t bare =
            espl__set_make(a->playback->heap, sets, 0, set, espl__apply_number(a));

        if (bare == ESPL__NONE) {
            return ESPL__NONE;
        }
        espl__set_drop(sets, bare, ESPL_PREFAB);
        sets->sets[bare].is_shared = true;
        sets->sets[set].bare = bare;
    }
    return sets->sets[set].bare;
}

espl_status espl__components_share(espl__apply *a, uint32_t slot, uint32_t *out)
{
    espl__sets *const sets = &a->part->sets;
    const uint32_t set = espl__components_set_of(a->playback, a->part, slot);

    *out = set;
    if (set == ESPL__NONE) {
        return ESPL_OK;
    }
    sets->sets[set].is_shared = true;
    if (espl__set_find(sets, set, ESPL_PREFAB) != NULL) {
        *out = bare_of(a, set);
    }
    return *out != ESPL__NONE ? ESPL_OK : espl__apply_no_memory(a);
}

espl_status espl__components_make(espl__apply *a, uint32_t before, uint32_t base, uint32_t *out)
{
    const size_t more = a->command->value_count;

    *out = before;
    if (more == 0) {
        return ESPL_OK;
    }
    *out = before == ESPL__NONE ? set_of_base(a, base, true, more)
                                : espl__set_make(a->playback->heap, &a->part->sets, more, before,
                                                 espl__apply_number(a));
    if (*out == ESPL__NONE) {
        return espl__apply_no_memory(a);
    }
    espl__value_cursor values = espl__values_of(a->playback, a->entry);

    espl__set_apply(&a->part->sets, *out, &values, espl__apply_number(a));
    // All copies that the command makes have this set.
    a->part->sets.sets[*out].is_shared = true;
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
    const espl__set *const at = &sets->sets[set];

    for (uint32_t i = 0; i < at->count; ++i) {
        const espl__set_item *const item = &sets->items[at->begin + i];

        if (item->bytes != NULL) {
            espl__rows_fill(playback->store, first->chunk, item->component, first->row, count,
                            item->bytes);
        }
    }
}
