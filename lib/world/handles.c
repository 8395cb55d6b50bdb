// SPDX-License-Identifier: MIT
#include "lib/world/handles.h"

static inline uint32_t find_placed(const espl__registry *registry, uint32_t slot)
{
    return espl__registry_has_placed(registry, slot) ? slot : ESPL__NO_SLOT;
}

bool espl__find_slots(const espl_world *world, const espl__handles *handles, size_t begin,
                      size_t end, uint32_t *slots)
{
    enum { BLOCK = 32 };
    const espl__registry r = espl__registry_of(world);
    const espl__handles h = *handles;
    uint32_t before = 0;
    bool is_ordered = true;

    if (begin != 0) {
        before = find_placed(&r, espl__registry_find(&r, espl__handle_at(&h, begin - 1)));
    }
    for (size_t stop = begin; begin < end; begin = stop) {
        stop = end - begin < BLOCK ? end : begin + BLOCK;
        for (size_t i = begin; i < stop; ++i) {
            espl__registry_ask(&r, espl__handle_at(&h, i));
        }
        for (size_t i = begin; i < stop; ++i) {
            slots[i] = espl__registry_find(&r, espl__handle_at(&h, i));
        }
        for (size_t i = begin; i < stop; ++i) {
            slots[i] = find_placed(&r, slots[i]);
            is_ordered &= slots[i] >= before && slots[i] != ESPL__NO_SLOT;
            before = slots[i];
        }
    }
    return is_ordered;
}
