// SPDX-License-Identifier: MIT
#include "lib/base/bag.h"

#include <string.h>

enum { ALIGNMENT = 64 };

bool espl__bag_grow(espl__bag *bag, espl__heap *heap, size_t item_size, size_t more)
{
    size_t capacity = 0;

    if (!espl__size_add(&capacity, bag->count, more) || capacity > UINT32_MAX / 4) {
        return false;
    }
    capacity += capacity / 2;
    void *const items = espl__heap_take(heap, ESPL__FOR_COMMANDS, capacity, item_size, ALIGNMENT);
    if (items == NULL) {
        return false;
    }

    if (bag->count != 0) {
        memcpy(items, bag->items, bag->count * item_size);
    }
    const uint32_t count = bag->count;

    espl__bag_drop(bag, heap, item_size);
    *bag = (espl__bag){
        .items = items, .count = count, .capacity = (uint32_t)capacity & INT32_MAX, .is_own = 1};
    return true;
}

void espl__bag_drop(espl__bag *bag, espl__heap *heap, size_t item_size)
{
    if (bag->is_own) {
        espl__heap_give(heap, ESPL__FOR_COMMANDS, bag->items, bag->capacity, item_size, ALIGNMENT);
    }
    *bag = (espl__bag){0};
}
