// SPDX-License-Identifier: MIT
// Slots of many handles (lib/world/handles.h). Jobs of a batch call this side by side, each for a
// range of handles; it reads the world and writes the caller's array.
#include "lib/world/handles.h"

// The slot of an entity, or ESPL__NO_SLOT.
static inline uint32_t slot_or_none(const espl__registry *registry, espl_entity entity)
{
    uint32_t slot = 0;

    return espl__registry_find(registry, entity, &slot) ? slot : ESPL__NO_SLOT;
}

// Handles are looked up in blocks of 32: enough waits for memory overlap, and what was prefetched is
// still in the cache.
enum { BLOCK = 32 };

// Prefetch the records of handles [begin, end), a block at most. Where the first and the last one tell
// that they lie near each other, the hardware reads them ahead, though not far enough: then the records
// behind those of the next block are prefetched, and no handle is read for it.
static inline void prefetch_records(const espl__registry *registry, const espl__handles *handles,
                                    size_t begin, size_t end)
{
    enum { LINE = 64 / sizeof(espl__record) };
    const uint32_t first = espl__handle_at(handles, begin).index;
    const uint32_t last = espl__handle_at(handles, end - 1).index;

    if (last - first < 2 * (end - begin)) {
        for (uint32_t i = BLOCK; i < 2 * BLOCK; i += LINE) {
            espl__prefetch_element(registry->records, last + i, sizeof *registry->records);
        }
        return;
    }
    for (size_t i = begin; i < end; ++i) {
        espl__registry_ask(registry, espl__handle_at(handles, i));
    }
}

// The slot of handle begin - 1 is looked up again, because it is in the range of another job and the
// order is checked range by range. Descents are counted without branches, because those of handles in
// any order are unpredictable. ESPL__NO_SLOT is above all slots, so that a slot behind it descends.
bool espl__find_slots(const espl_world *world, const espl__handles *handles, size_t begin,
                      size_t end, uint32_t *slots)
{
    const espl__registry r = espl__registry_of(world);
    const espl__handles h = *handles;
    uint32_t before = 0, descents = 0;

    ESPL_CHECK(begin <= end && (begin == end || h.first != NULL));
    if (begin != 0) {
        before = slot_or_none(&r, espl__handle_at(&h, begin - 1));
    }
    for (size_t stop = begin; begin < end; begin = stop) {
        stop = end - begin < BLOCK ? end : begin + BLOCK;
        prefetch_records(&r, &h, begin, stop);
        for (size_t i = begin; i < stop; ++i) {
            const uint32_t slot = slot_or_none(&r, espl__handle_at(&h, i));

            ESPL_CHECK_FULL(slot == ESPL__NO_SLOT || slot < world->forest.end);
            slots[i] = slot;
            descents += slot < before ? 1 : 0;
            before = slot;
        }
    }
    return descents == 0 && before != ESPL__NO_SLOT;
}
