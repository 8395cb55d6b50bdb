// SPDX-License-Identifier: MIT
// Values that commands carry, and the component sets that nodes get by them: see
// component_values.h.
//
// Every command takes O(ESPL_SET_LIMIT) time, however many commands changed the same node before,
// because a set holds only the newest value of each of its components.
#include "lib/commands/component_values.h"

#include <string.h>

// --- Values in a payload ---

// A command without values may have no payload at all, so that the payload is looked up only where
// there are values.
espl__value_cursor espl__values_of(const espl__lane_view *lanes, const espl__entry *entry)
{
    const size_t head = espl__command_has_transform(entry->command) ? sizeof(espl_transform) : 0;
    const uint32_t count = entry->command->value_count;

    ESPL_CHECK_FULL(entry->command->kind != ESPL__COMMAND_CUSTOM);
    return (espl__value_cursor){.payload = count != 0 ? espl__entry_payload(lanes, entry) : NULL,
                                .layout = espl__values_begin(head),
                                .left = count};
}

// The header is copied, because the type of the payload is bytes. The value is not: `bytes` points
// into the payload, which stays until the buffer is reset. A removal has a header and no value.
bool espl__values_next(espl__value_cursor *c)
{
    if (c->left == 0) {
        return false;
    }
    memcpy(&c->header, c->payload + c->layout.size, sizeof c->header);
    c->is_taken = c->header.size == ESPL__VALUE_TAKEN;
    c->bytes = c->payload + espl__layout_value(&c->layout, c->is_taken ? 0 : c->header.size,
                                               c->header.alignment);
    ESPL_CHECK_FULL((uintptr_t)c->bytes % c->header.alignment == 0);
    c->left -= 1;
    return true;
}

// --- The components of a node ---

// A node that this playback made keeps the number of its set in its own record. Any other node has
// a mark by slot: 0 for none, or the index of its entry in part->node_sets plus 1, so that memory
// of zeros has no marks.
uint32_t espl__components_set_of(const espl__part *part, uint32_t slot)
{
    const espl__forest *const forest = part->edit.forest;

    if (espl__slot_is_made(forest, slot)) {
        return part->made[espl__made_number(forest, slot)].set;
    }
    // Without commands that change sets there may be no mark for the slot.
    if (part->set_marks == NULL) {
        return ESPL__NONE;
    }
    ESPL_CHECK_FULL(slot < espl__array_length(part->set_marks));
    const uint32_t mark = part->set_marks[slot];

    if (mark == 0) {
        return ESPL__NONE;
    }
    ESPL_CHECK_FULL(mark <= espl__array_length(part->node_sets));
    ESPL_CHECK_FULL(part->node_sets[mark - 1].slot == slot);
    return part->node_sets[mark - 1].set;
}

// A node that was made has no row yet. It tells the components of the row that it is a copy of, or
// has none where it was created from nothing.
uint32_t espl__components_base(const espl__part *part, uint32_t slot)
{
    const espl__forest *const forest = part->edit.forest;
    const uint32_t entity = espl__slot_is_made(forest, slot)
                                ? part->edit.made[espl__made_number(forest, slot)].source
                                : forest->links[slot].entity;

    return entity == ESPL__NO_ENTITY ? ESPL__NONE : espl__entity_archetype(part->store, entity);
}

// Tell whether a component of a row does not count among those of a set: roles, the transform, and
// for a copy of the row ESPL_PREFAB.
static bool is_outside_sets(espl_component component, bool is_copy)
{
    return component <= ESPL_MEMBER || (is_copy && component == ESPL_PREFAB);
}

// The components of a row, or of a copy of it, that count among those of a set. O(1), because it
// must not make a set for each node that is only counted.
static size_t count_base(const espl__store *store, uint32_t base, bool is_copy)
{
    if (base == ESPL__NONE) {
        return 0;
    }
    const bool has_transform = espl__archetype_has(store, base, ESPL_TRANSFORM);
    const bool loses_tag = is_copy && espl__archetype_has(store, base, ESPL_PREFAB);
    const size_t count = espl__array_length(store->archetypes[base].set);
    const size_t outside = (size_t)1 + (has_transform ? 1 : 0) + (loses_tag ? 1 : 0);

    ESPL_CHECK_FULL(count >= outside); // every row has exactly one role
    return count - outside;
}

// The set where the node has one, because the set is complete; else the row.
size_t espl__components_count(const espl__part *part, uint32_t slot)
{
    const uint32_t set = espl__components_set_of(part, slot);

    return set != ESPL__NONE ? part->sets.sets[set].count
                             : count_base(part->store, espl__components_base(part, slot),
                                          espl__slot_is_made(part->edit.forest, slot));
}

// As the count: a set replaces the row as a whole. A component that a command removed is not in the
// set although the row has it until the playback writes the store.
bool espl__components_have(const espl__part *part, uint32_t slot, espl_component component)
{
    const uint32_t set = espl__components_set_of(part, slot);

    if (set != ESPL__NONE) {
        return espl__set_find(&part->sets, set, component) != NULL;
    }
    const uint32_t base = espl__components_base(part, slot);

    return base != ESPL__NONE &&
           !is_outside_sets(component, espl__slot_is_made(part->edit.forest, slot)) &&
           espl__archetype_has(part->store, base, component);
}

// Each entity has one role, so that it counts besides the transform.
bool espl__components_fit(size_t count, bool has_transform)
{
    return count + 1 + (has_transform ? 1 : 0) <= ESPL_SET_LIMIT;
}

// Built in ascending order without a sort: the transform has the first number, the roles the next
// ones, and the items of a set are sorted and have higher ones. The buffer has two more entries
// than a set, for the role and the transform.
espl_status espl__components_archetype(espl__store *store, const espl__part *part, uint32_t set,
                                       espl_component role, bool has_transform, uint32_t guess,
                                       uint32_t *out)
{
    const espl__set from = set != ESPL__NONE ? part->sets.sets[set] : (espl__set){0};
    espl_component components[ESPL_SET_LIMIT + 2];
    size_t count = 0;

    ESPL_CHECK_FULL(role >= ESPL_SOLO && role <= ESPL_MEMBER);
    ESPL_CHECK_FULL(espl__components_fit(from.count, has_transform));
    if (has_transform) {
        components[count++] = ESPL_TRANSFORM;
    }
    components[count++] = role;
    for (uint32_t i = 0; i < from.count; ++i) {
        components[count++] = part->sets.items[from.begin + i].component;
    }
    // Fast path: consecutive nodes often get the same archetype.
    if (guess != ESPL__NONE && espl__archetype_is(store, guess, components, count)) {
        *out = guess;
        return ESPL_OK;
    }
    return espl__archetype_of(store, components, count, out);
}

// --- Sets of nodes ---

// Make a set with what a row of an archetype has, or a copy of the row. ESPL__NONE: no memory.
static uint32_t set_of_base(espl__apply *a, uint32_t base, bool is_copy, size_t more)
{
    espl__sets *const sets = &a->part->sets;
    const espl__store *const store = a->part->store;
    const size_t count = base == ESPL__NONE ? 0 : espl__array_length(store->archetypes[base].set);
    const uint32_t set =
        espl__set_make(a->context->heap, sets, count + more, ESPL__NONE, espl__apply_number(a));

    for (size_t i = 0; set != ESPL__NONE && i < count; ++i) {
        const espl_component component = store->archetypes[base].set[i];

        if (!is_outside_sets(component, is_copy)) {
            espl__set_put(sets, set, &(espl__set_item){component, ESPL__NONE, NULL});
        }
    }
    return set;
}

// Four cases: a set that only this node has gets room; a shared one is copied; without a set, one
// is made of the row; and without a row, an empty one is made.
espl_status espl__components_open(espl__apply *a, uint32_t slot, size_t more, uint32_t *out)
{
    espl__heap *const heap = a->context->heap;
    espl__sets *const sets = &a->part->sets;
    uint32_t set = espl__components_set_of(a->part, slot);

    // A set that is shared never changes: the node gets a copy.
    if (set != ESPL__NONE && !sets->sets[set].is_shared) {
        *out = set;
        return espl__set_reserve(heap, sets, set, more) ? ESPL_OK : espl__apply_no_memory(a);
    }
    set = set == ESPL__NONE ? set_of_base(a, espl__components_base(a->part, slot),
                                          espl__slot_is_made(a->forest, slot), more)
                            : espl__set_make(heap, sets, more, set, espl__apply_number(a));
    *out = set;
    return set != ESPL__NONE ? espl__components_give(a, slot, set) : espl__apply_no_memory(a);
}

// The new set replaces the one that the node had, which stays unused: sets are removed all at once.
espl_status espl__components_give(espl__apply *a, uint32_t slot, uint32_t set)
{
    espl__part *const part = a->part;

    ESPL_CHECK(set < espl__array_length(part->sets.sets));
    if (espl__slot_is_made(a->forest, slot)) {
        espl__made_info *const made = &part->made[espl__made_number(a->forest, slot)];

        made->set = set;
        made->first_bucket = ESPL__NONE;
        return ESPL_OK;
    }
    // The resolve stage saw that a command changes sets, so that the marks were reserved.
    ESPL_CHECK(part->set_marks != NULL && slot < espl__array_length(part->set_marks));
    uint32_t *const mark = &part->set_marks[slot];

    if (*mark == 0) {
        if (!ESPL_ARRAY_RESERVE(a->context->heap, ESPL__FOR_COMMANDS, part->node_sets, 1)) {
            return espl__apply_no_memory(a);
        }
        ESPL_ARRAY_PUSH(part->node_sets, (espl__node_set){slot, set});
        *mark = (uint32_t)espl__array_length(part->node_sets);
    }
    part->node_sets[*mark - 1].set = set;
    return ESPL_OK;
}

// In the order of the payload: the values first, then the removals. No component is in both, which
// the recorder has checked, so that the order does not matter. Cannot fail, because the caller
// reserved room for all values.
void espl__set_apply(espl__sets *sets, uint32_t set, espl__value_cursor *values, uint32_t entry)
{
    ESPL_CHECK_FULL(!sets->sets[set].is_shared);
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

// Tell whether an item of a set is not what copies have: the tag of prefabs, or a value of
// ESPL_COMPONENT_UNIQUE.
static bool is_no_copy(const espl__store *store, const espl__set_item *item)
{
    return item->component == ESPL_PREFAB ||
           (item->entry != ESPL__NONE && store->unique_count != 0 &&
            espl__component_is_unique(store, item->component));
}

// Tell whether copies of a node with a set have another one.
static bool is_set_of_original(const espl__apply *a, uint32_t set)
{
    const espl__sets *const sets = &a->part->sets;
    const espl__set *const at = &sets->sets[set];
    bool is_found = false;

    for (uint32_t i = 0; i < at->count && !is_found; ++i) {
        is_found = is_no_copy(a->part->store, &sets->items[at->begin + i]);
    }
    return is_found;
}

// Return the number of the set that copies have, or ESPL__NONE: no memory. Without ESPL_PREFAB, and with the
// value of a new row, zeros, where a value does not belong to copies. It is made once for each set, because a
// prefab is often instantiated many times. It is shared from the start, since all copies have it.
static uint32_t set_of_copies(espl__apply *a, uint32_t set)
{
    espl__sets *const sets = &a->part->sets;

    if (sets->sets[set].of_copies == ESPL__NONE) {
        const uint32_t made = espl__set_make(a->context->heap, sets, 0, set, espl__apply_number(a));

        if (made == ESPL__NONE) {
            return ESPL__NONE;
        }
        espl__set_drop(sets, made, ESPL_PREFAB);
        for (uint32_t i = 0; i < sets->sets[made].count; ++i) {
            espl__set_item *const item = &sets->items[sets->sets[made].begin + i];

            if (is_no_copy(a->part->store, item)) {
                *item = (espl__set_item){item->component, ESPL__NONE, NULL};
            }
        }
        sets->sets[made].is_shared = true;
        sets->sets[set].of_copies = made;
    }
    return sets->sets[set].of_copies;
}

// Copies of a prefab are ordinary entities, so that they lose the tag.
espl_status espl__components_share(espl__apply *a, uint32_t slot, uint32_t *out)
{
    espl__sets *const sets = &a->part->sets;
    const uint32_t set = espl__components_set_of(a->part, slot);

    *out = set;
    if (set == ESPL__NONE) {
        return ESPL_OK;
    }
    // The original keeps the set too, and a later command that changes it gets a copy.
    sets->sets[set].is_shared = true;
    if (is_set_of_original(a, set)) {
        *out = set_of_copies(a, set);
    }
    return *out != ESPL__NONE ? ESPL_OK : espl__apply_no_memory(a);
}

// The values are put over those of the original once for all copies of the command. The limit is
// not checked here: the caller counts the whole node and refuses the command.
espl_status espl__components_make(espl__apply *a, uint32_t before, uint32_t base, uint32_t *out)
{
    espl__sets *const sets = &a->part->sets;
    const size_t more = a->command->value_count;

    *out = before;
    if (more == 0) {
        return ESPL_OK;
    }
    *out = before == ESPL__NONE
               ? set_of_base(a, base, true, more)
               : espl__set_make(a->context->heap, sets, more, before, espl__apply_number(a));
    if (*out == ESPL__NONE) {
        return espl__apply_no_memory(a);
    }
    espl__value_cursor values = espl__values_of(a->in->request->lanes, a->entry);

    espl__set_apply(sets, *out, &values, espl__apply_number(a));
    // All copies that the command makes have this set.
    sets->sets[*out].is_shared = true;
    return ESPL_OK;
}

// --- Writing ---

// Linear in the set, which has few components. Saves a walk over the rows where only tags changed.
bool espl__values_are_given(const espl__sets *sets, uint32_t set)
{
    const espl__set *const at = &sets->sets[set];
    bool is_given = false;

    for (uint32_t i = 0; i < at->count && !is_given; ++i) {
        is_given = sets->items[at->begin + i].bytes != NULL;
    }
    return is_given;
}

bool espl__values_are_same(const espl__sets *sets, uint32_t set, const espl__sets *others,
                           uint32_t other)
{
    const espl__set *const one = &sets->sets[set], *const two = &others->sets[other];
    bool is_same = one->count == two->count;

    for (uint32_t i = 0; i < one->count && is_same; ++i) {
        const espl__set_item *const a = &sets->items[one->begin + i];
        const espl__set_item *const b = &others->items[two->begin + i];

        is_same = a->component == b->component && a->bytes == b->bytes;
    }
    return is_same;
}

// Components without bytes keep what is in the row: zeros in a new row, or the value of the
// original in a copy.
void espl__values_fill(espl__store *store, const espl__sets *sets, uint32_t set,
                       const espl__record *first, uint32_t count)
{
    const espl__set *const at = &sets->sets[set];

    ESPL_CHECK_FULL(set < espl__array_length(sets->sets));
    for (uint32_t i = 0; i < at->count; ++i) {
        const espl__set_item *const item = &sets->items[at->begin + i];

        if (item->bytes != NULL) {
            espl__rows_fill(store, first->chunk, item->component, espl__record_row(first), count,
                            item->bytes);
        }
    }
}
