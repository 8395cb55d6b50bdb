// SPDX-License-Identifier: MIT
// The stores of local_stores.h. A kernel checks and stores several poses at a time; around an entry
// that is bit-equal, or not sound, they are done one by one, and so are parts.
#include "lib/tree/local_stores.h"

#include <string.h>

// Store a checked local, unless it is bit-equal. @return false where it is.
ESPL__INLINE bool store_unless_equal(espl_pose *old, espl__wide_pose local)
{
    if (espl__wide_is_same(espl__wide_load(old), local)) {
        return false;
    }
    espl__wide_store(old, local);
    return true;
}

// Normalise and store an entry whose value is not of unit length, or refuse it. @return its result.
static ESPL__APART espl_status store_unsound(espl_pose *old, const espl__write_source *source,
                                             uint32_t number)
{
    espl_write_value value;

    espl__write_load(&value, source->kind, espl__value_at(source, number));
    const espl_status status = espl__write_check(source->kind, &value);

    if (status != ESPL_OK) {
        return status;
    }
    return store_unless_equal(old, espl__wide_from(&value)) ? ESPL_OK
                                                            : (espl_status)ESPL__UNCHANGED;
}

// Count the result of an entry, and report it unless it is ESPL_OK.
ESPL__INLINE void note_result(const espl__write_source *source, uint32_t number, uint32_t slot,
                              espl_status result, espl__stored *sum)
{
    if (result == ESPL_OK) {
        sum->first = slot < sum->first ? slot : sum->first;
        sum->writes += 1;
        return;
    }
    source->results[number] = result;
    sum->skipped += result > 0 ? 1 : 0;
    sum->has_status = sum->has_status || result < 0;
}

// Check and store entries one by one.
static void store_each(espl_pose *locals, const espl__tree_writes *w, uint32_t begin, uint32_t end,
                       espl__stored *sum)
{
    const espl__write_source *const source = w->source;

    for (uint32_t at = begin; at < end; ++at) {
        const uint32_t number = espl__entry_number(w, at), slot = w->slots[at];
        const unsigned char *const value = espl__value_at(source, number);
        espl_status result = ESPL_OK;

        if (!espl__value_is_sound(value, source->values.has_stretch)) {
            result = store_unsound(&locals[slot], source, number);
        } else if (!store_unless_equal(&locals[slot], espl__wide_from(value))) {
            result = (espl_status)ESPL__UNCHANGED;
        }
        note_result(source, number, slot, result, sum);
    }
}

// Check and store entries that set one part of the local, in place.
// @param kind  of the source; a constant, so that the size of the part is one as well.
ESPL__INLINE void store_parts_of(espl_pose *locals, const espl__tree_writes *w, uint32_t begin,
                                 uint32_t end, espl_write_kind kind, espl__stored *sum)
{
    enum { AHEAD = 16 }; // entries may be in any order, which no hardware foresees
    const espl__write_source *const source = w->source;

    for (uint32_t at = begin; at < end; ++at) {
        const uint32_t number = espl__entry_number(w, at), slot = w->slots[at];
        const void *value = espl__value_at(source, number);
        espl_write_value checked;
        espl_status result = ESPL_OK;
        size_t size = 0;
        float *const part = espl__part_of(&locals[slot], kind, &size);

        if (at + AHEAD < end) {
            espl__prefetch_to_write(&locals[w->slots[at + AHEAD]]);
        }
        if (!espl__part_is_sound(kind, value)) {
            espl__write_load(&checked, kind, value);
            result = espl__write_check(kind, &checked);
            value = &checked;
        }
        if (result == ESPL_OK && memcmp(part, value, size) == 0) {
            result = (espl_status)ESPL__UNCHANGED;
        } else if (result == ESPL_OK) {
            memcpy(part, value, size);
        }
        note_result(source, number, slot, result, sum);
    }
}

// Store parts of the kind of the source.
static void store_parts(espl_pose *locals, const espl__tree_writes *w, uint32_t begin, uint32_t end,
                        espl__stored *sum)
{
    switch (w->source->kind) {
    case ESPL_WRITE_LOCAL_POSITION:
        store_parts_of(locals, w, begin, end, ESPL_WRITE_LOCAL_POSITION, sum);
        break;
    case ESPL_WRITE_LOCAL_ROTATION:
        store_parts_of(locals, w, begin, end, ESPL_WRITE_LOCAL_ROTATION, sum);
        break;
    default:
        store_parts_of(locals, w, begin, end, ESPL_WRITE_LOCAL_SCALE, sum);
        break;
    }
}

// Store entries by the kernel, and those at which it ends one by one.
static void store_many(espl__forest *forest, const espl__tree_writes *w, uint32_t begin,
                       uint32_t end, espl__stored *sum)
{
    enum { BLOCK = 8 };

    for (uint32_t at = begin; at < end;) {
        const uint32_t *const numbers = w->numbers != NULL ? w->numbers + at : NULL;
        const uint32_t done = forest->kernels->store_poses(
            forest->local, w->slots + at, &w->source->values, numbers, w->first + at, end - at);

        // Of slots that ascend the first one is the lowest.
        for (uint32_t i = 0; i < (w->ascend ? done != 0 : done); ++i) {
            sum->first = w->slots[at + i] < sum->first ? w->slots[at + i] : sum->first;
        }
        sum->writes += done;
        at += done;
        if (at < end) {
            const uint32_t next = end - at < BLOCK ? end : at + BLOCK;

            store_each(forest->local, w, at, next, sum);
            at = next;
        }
    }
}

// Tell whether slots that ascend are all of a range. A slot may come twice, so that the ends alone do not tell.
static inline bool are_consecutive(const uint32_t *slots, uint32_t count)
{
    ESPL_CHECK(count != 0);
    if (slots[count - 1] - slots[0] != count - 1) {
        return false;
    }
    // Eight at a time, each two of them as one number, because a loop over single slots costs a tenth of
    // a write.
    const uint32_t pair[2] = {slots[0], slots[0] + 1}, steps[2] = {2, 2};
    uint64_t wanted, step;
    uint32_t at = 0;

    memcpy(&wanted, pair, sizeof wanted);
    memcpy(&step, steps, sizeof step);
    for (; count - at >= 8; at += 8) {
        uint64_t four[4];

        memcpy(four, slots + at, sizeof four);
        if (((four[0] ^ wanted) | (four[1] ^ (wanted + step)) | (four[2] ^ (wanted + 2 * step)) |
             (four[3] ^ (wanted + 3 * step))) != 0) {
            return false;
        }
        wanted += 4 * step;
    }
    while (at < count && slots[at] - slots[0] == at) {
        at += 1;
    }
    return at == count;
}

// Mark the nodes whose local was stored: those of entries without another result. Where all slots of a
// range were, the range is marked.
// @param writes  number of these entries.
static ESPL__APART void mark_stored(espl__forest *forest, const espl__tree_writes *w,
                                    uint32_t begin, uint32_t end, uint32_t writes)
{
    const espl_status *const results = w->source->results;
    const uint32_t *const slots = w->slots, *const numbers = w->numbers;
    const uint32_t count = end - begin, first = w->first;
    const espl__plane *const own = &forest->tracks.planes[ESPL__PLANE_OWN];
    const espl__marker marker = espl__marker_of(own);
    const bool is_plane_alone = espl__plane_is_open(own) && !espl__forest_shows_writes(forest);
    uint32_t block = UINT32_MAX; // marked last

    if (is_plane_alone && w->ascend && writes == count && are_consecutive(slots + begin, count)) {
        espl__plane_mark_range(own, slots[begin], slots[end - 1] + 1);
        return;
    }
    for (uint32_t at = begin; at < end; ++at) {
        const uint32_t slot = slots[at], number = numbers != NULL ? numbers[at] : first + at;

        if (results[number] != ESPL_OK) {
            continue;
        }
        if (!is_plane_alone) {
            espl__mark_written(forest, slot);
            continue;
        }
        marker.stamps[slot] = marker.stamp;
        if (slot / ESPL__PLANE_BLOCK != block) {
            block = slot / ESPL__PLANE_BLOCK;
            espl__plane_mark_block(own, block);
        }
    }
}

// A few entries are not worth a call of the kernel.
void espl__store_locals(espl__forest *forest, const espl__tree_writes *w, uint32_t begin,
                        uint32_t end, espl__stored *sum)
{
    enum { FEW = 4 };
    const uint32_t writes = sum->writes;

    ESPL_CHECK(begin <= end && end <= w->count && espl__kind_sets_local(w->source->kind));
    if (espl__kind_sets_part(w->source->kind)) {
        store_parts(forest->local, w, begin, end, sum);
    } else if (end - begin < FEW) {
        store_each(forest->local, w, begin, end, sum);
    } else {
        store_many(forest, w, begin, end, sum);
    }
    // Jobs of few entries may have none.
    if ((forest->modes & ESPL__MODE_OWN) != 0 && begin < end) {
        mark_stored(forest, w, begin, end, sum->writes - writes);
    }
}
