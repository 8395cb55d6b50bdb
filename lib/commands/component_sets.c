// SPDX-License-Identifier: MIT
// Component sets: see component_sets.h.
//
// The items of all sets of a part are in one array. A set that needs more room is copied to the end
// of it, and its old items stay unused until the sets are cleared.
#include "lib/commands/component_sets.h"

#include <string.h>

// --- Memory ---

void espl__sets_clear(espl__sets *sets)
{
    espl__array_set_length(sets->sets, 0);
    espl__array_set_length(sets->items, 0);
}

void espl__sets_free(espl__heap *heap, espl__sets *sets)
{
    ESPL_ARRAY_FREE(heap, ESPL__FOR_COMMANDS, sets->sets);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_COMMANDS, sets->items);
}

size_t espl__sets_bytes(const espl__sets *sets)
{
    return ESPL_ARRAY_BYTES(sets->sets) + ESPL_ARRAY_BYTES(sets->items);
}

// Reserve room for more items. @return false: no memory.
static bool reserve_items(espl__heap *heap, espl__sets *sets, size_t more)
{
    // Items are numbered in 32 bits. Past what memory holds.
    if (more >= UINT32_MAX - espl__array_length(sets->items)) { // GCOVR_EXCL_BR_LINE
        return false;
    }
    return ESPL_ARRAY_RESERVE(heap, ESPL__FOR_COMMANDS, sets->items, more);
}

// Append `capacity` items to the array, the first ones copies of those of a set. The rest is not
// initialised, because a count tells how many are used. Reserved. @return the number of the first
// item.
static uint32_t append_items(espl__sets *sets, const espl__set *from, size_t capacity)
{
    const size_t begin = espl__array_length(sets->items);

    ESPL_CHECK(from == NULL || from->count <= capacity);
    espl__array_set_length(sets->items, begin + capacity);
    if (from != NULL && from->count != 0) {
        memcpy(sets->items + begin, sets->items + from->begin, from->count * sizeof *sets->items);
    }
    return (uint32_t)begin;
}

// --- One set ---

// Tell whether a set is within the items and its components ascend.
static bool set_is_valid(const espl__sets *sets, uint32_t number)
{
    const espl__set *const set = &sets->sets[number];
    bool is_valid = set->count <= set->capacity &&
                    set->begin + set->capacity <= espl__array_length(sets->items);

    for (uint32_t i = 1; i < set->count && is_valid; ++i) {
        const uint32_t at = set->begin + i;

        is_valid = sets->items[at - 1].component < sets->items[at].component;
    }
    return is_valid;
}

// Index of the first item of a set whose component is not below the given one.
static uint32_t lower_bound(const espl__sets *sets, uint32_t number, espl_component component)
{
    const espl__set *const set = &sets->sets[number];
    uint32_t low = set->begin, high = set->begin + set->count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (sets->items[middle].component < component) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Tell whether that item is the one of the component.
static bool is_item_of(const espl__sets *sets, uint32_t number, uint32_t index,
                       espl_component component)
{
    const espl__set *const set = &sets->sets[number];

    return index < set->begin + set->count && sets->items[index].component == component;
}

const espl__set_item *espl__set_find(const espl__sets *sets, uint32_t number,
                                     espl_component component)
{
    const uint32_t index = lower_bound(sets, number, component);

    ESPL_CHECK_FULL(number < espl__array_length(sets->sets));
    return is_item_of(sets, number, index, component) ? &sets->items[index] : NULL;
}

void espl__set_put(espl__sets *sets, uint32_t number, const espl__set_item *item)
{
    espl__set *const set = &sets->sets[number];
    const uint32_t index = lower_bound(sets, number, item->component);

    ESPL_CHECK(!set->is_shared);
    if (!is_item_of(sets, number, index, item->component)) {
        ESPL_CHECK(set->count < set->capacity);
        memmove(sets->items + index + 1, sets->items + index,
                (set->begin + set->count - index) * sizeof *sets->items);
        set->count += 1;
    }
    sets->items[index] = *item;
    ESPL_CHECK_FULL(set_is_valid(sets, number));
}

void espl__set_drop(espl__sets *sets, uint32_t number, espl_component component)
{
    espl__set *const set = &sets->sets[number];
    const uint32_t index = lower_bound(sets, number, component);

    ESPL_CHECK(!set->is_shared);
    if (is_item_of(sets, number, index, component)) {
        set->count -= 1;
        memmove(sets->items + index, sets->items + index + 1,
                (set->begin + set->count - index) * sizeof *sets->items);
    }
    ESPL_CHECK_FULL(set_is_valid(sets, number));
}

uint32_t espl__set_make(espl__heap *heap, espl__sets *sets, size_t more, uint32_t before,
                        uint32_t entry)
{
    ESPL_CHECK(before == ESPL__NONE || before < espl__array_length(sets->sets));
    const uint32_t count = before != ESPL__NONE ? sets->sets[before].count : 0;

    if (!ESPL_ARRAY_RESERVE(heap, ESPL__FOR_COMMANDS, sets->sets, 1) ||
        !reserve_items(heap, sets, count + more)) {
        return ESPL__NONE;
    }
    const espl__set *const from = before != ESPL__NONE ? &sets->sets[before] : NULL;
    const espl__set set = {.begin = append_items(sets, from, count + more),
                           .count = count,
                           .capacity = count + (uint32_t)more,
                           .entry = entry,
                           .before = before,
                           .of_copies = ESPL__NONE};

    ESPL_ARRAY_PUSH(sets->sets, set);
    ESPL_CHECK_FULL(set_is_valid(sets, (uint32_t)espl__array_length(sets->sets) - 1));
    return (uint32_t)(espl__array_length(sets->sets) - 1);
}

bool espl__set_reserve(espl__heap *heap, espl__sets *sets, uint32_t number, size_t more)
{
    espl__set *const set = &sets->sets[number];

    ESPL_CHECK(!set->is_shared);
    if (more <= set->capacity - set->count) {
        return true;
    }
    // Twice as many, so that the unused items are a bounded share of all items.
    const size_t capacity = 2 * (set->count + more);

    if (!reserve_items(heap, sets, capacity)) {
        return false;
    }
    set->begin = append_items(sets, set, capacity);
    set->capacity = (uint32_t)capacity;
    ESPL_CHECK(more <= set->capacity - set->count);
    return true;
}
