// SPDX-License-Identifier: MIT
#include "lib/commands/sets.h"

#include <string.h>

enum { ALIGNMENT = 64, FIRST_CAPACITY = 64 };

// --- Memory ---

void espl__sets_clear(espl__sets *sets)
{
    sets->set_count = sets->item_count = 0;
}

void espl__sets_drop(espl__heap *heap, espl__sets *sets)
{
    espl__heap_give(heap, ESPL__FOR_COMMANDS, sets->own_sets, sets->set_capacity,
                    sizeof *sets->sets, ALIGNMENT);
    espl__heap_give(heap, ESPL__FOR_COMMANDS, sets->own_items, sets->item_capacity,
                    sizeof *sets->items, ALIGNMENT);
    *sets = (espl__sets){0};
}

// A larger block in place of a slice or of a smaller block. NULL where there is none.
static void *grow(espl__heap *heap, void **own, const void *now, size_t count, size_t *capacity,
                  size_t more, size_t size)
{
    const size_t wanted = count + more;
    const size_t next = wanted + wanted / 2 + FIRST_CAPACITY;

    // Past what memory holds.
    if (next >= UINT32_MAX) { // GCOVR_EXCL_BR_LINE
        return NULL;
    }
    void *const block = espl__heap_take(heap, ESPL__FOR_COMMANDS, next, size, ALIGNMENT);

    if (block == NULL) {
        return NULL;
    }
    if (count != 0) {
        memcpy(block, now, count * size);
    }
    espl__heap_give(heap, ESPL__FOR_COMMANDS, *own, *capacity, size, ALIGNMENT);
    *own = block;
    *capacity = next;
    return block;
}

static bool reserve_set(espl__heap *heap, espl__sets *sets)
{
    if (sets->set_count < sets->set_capacity) {
        return true;
    }
    espl__set *const block = grow(heap, &sets->own_sets, sets->sets, sets->set_count,
                                  &sets->set_capacity, 1, sizeof *block);

    sets->sets = block != NULL ? block : sets->sets;
    return block != NULL;
}

static bool reserve_items(espl__heap *heap, espl__sets *sets, size_t more)
{
    if (more <= sets->item_capacity - sets->item_count) {
        return true;
    }
    espl__set_item *const block = grow(heap, &sets->own_items, sets->items, sets->item_count,
                                       &sets->item_capacity, more, sizeof *block);

    sets->items = block != NULL ? block : sets->items;
    return block != NULL;
}

// --- One set ---

// Where a component stands in a set, or would.
static uint32_t place_of(const espl__sets *sets, uint32_t number, espl_component component)
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

static bool stands_at(const espl__sets *sets, uint32_t number, uint32_t place,
                      espl_component component)
{
    const espl__set *const set = &sets->sets[number];

    return place < set->begin + set->count && sets->items[place].component == component;
}

const espl__set_item *espl__set_find(const espl__sets *sets, uint32_t number,
                                     espl_component component)
{
    const uint32_t place = place_of(sets, number, component);

    return stands_at(sets, number, place, component) ? &sets->items[place] : NULL;
}

void espl__set_put(espl__sets *sets, uint32_t number, const espl__set_item *item)
{
    espl__set *const set = &sets->sets[number];
    const uint32_t place = place_of(sets, number, item->component);

    ESPL_CHECK(!set->is_shared);
    if (!stands_at(sets, number, place, item->component)) {
        ESPL_CHECK(set->count < set->capacity);
        memmove(sets->items + place + 1, sets->items + place,
                (set->begin + set->count - place) * sizeof *sets->items);
        set->count += 1;
    }
    sets->items[place] = *item;
}

void espl__set_drop(espl__sets *sets, uint32_t number, espl_component component)
{
    espl__set *const set = &sets->sets[number];
    const uint32_t place = place_of(sets, number, component);

    ESPL_CHECK(!set->is_shared);
    if (stands_at(sets, number, place, component)) {
        set->count -= 1;
        memmove(sets->items + place, sets->items + place + 1,
                (set->begin + set->count - place) * sizeof *sets->items);
    }
}

uint32_t espl__set_make(espl__heap *heap, espl__sets *sets, size_t more, uint32_t before,
                        uint32_t entry)
{
    const uint32_t count = before != ESPL__NONE ? sets->sets[before].count : 0;

    if (!reserve_set(heap, sets) || !reserve_items(heap, sets, count + more)) {
        return ESPL__NONE;
    }
    const uint32_t number = (uint32_t)sets->set_count++;
    const uint32_t begin = (uint32_t)sets->item_count;

    sets->sets[number] = (espl__set){.begin = begin,
                                     .count = count,
                                     .capacity = count + (uint32_t)more,
                                     .entry = entry,
                                     .before = before,
                                     .bare = ESPL__NONE};
    sets->item_count += count + more;
    if (count != 0) {
        memcpy(sets->items + begin, sets->items + sets->sets[before].begin,
               count * sizeof *sets->items);
    }
    return number;
}

bool espl__set_reserve(espl__heap *heap, espl__sets *sets, uint32_t number, size_t more)
{
    const uint32_t count = sets->sets[number].count;

    ESPL_CHECK(!sets->sets[number].is_shared);
    if (more <= sets->sets[number].capacity - count) {
        return true;
    }
    // Twice as many, so that what is left behind stays a part of what is used.
    const size_t capacity = 2 * (count + more);

    if (!reserve_items(heap, sets, capacity)) {
        return false;
    }
    espl__set *const set = &sets->sets[number];
    const uint32_t begin = (uint32_t)sets->item_count;

    if (count != 0) {
        memcpy(sets->items + begin, sets->items + set->begin, count * sizeof *sets->items);
    }
    set->begin = begin;
    set->capacity = (uint32_t)capacity;
    sets->item_count += capacity;
    return true;
}
