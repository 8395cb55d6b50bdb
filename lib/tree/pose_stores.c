// SPDX-License-Identifier: MIT
// The stores of pose_stores.h. Values are checked and stored four at a time; four with an entry that
// is bit-equal, or not sound, are done one by one.
#include "lib/tree/pose_stores.h"

// Return the pose at an address, of a value that is a pose or a transform, which begins with one.
ESPL__INLINE const espl_pose *pose_of(const unsigned char *value)
{
    return (const espl_pose *)(const void *)value;
}

// Store a checked local, unless it is bit-equal. @return false where it is.
ESPL__INLINE bool store_changed(espl_pose *old, espl__wide_pose local)
{
    if (espl__wide_is_same(espl__wide_load(old), local)) {
        return false;
    }
    espl__wide_store(old, local);
    return true;
}

// Tell whether a value is finite and of unit length.
ESPL__INLINE bool is_sound(const espl_pose *v, bool has_stretch)
{
    const espl__wide_pose local = espl__wide_load(v);

    return espl__wide_is_unit(local) && espl__wide_found_nothing(espl__wide_nonfinite(local)) &&
           (!has_stretch ||
            espl__all_finite(((const espl_transform *)(const void *)v)->stretch, 3));
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
    return store_changed(old, espl__wide_from(&value)) ? ESPL_OK : (espl_status)ESPL__UNCHANGED;
}

// Check and store entries one by one: fewer than four, or some of them are bit-equal or not sound.
static espl__stored store_each(espl_pose *locals, const espl__tree_writes *w, uint32_t begin,
                               uint32_t end)
{
    const espl__write_source *const source = w->source;
    const bool has_stretch = source->kind == ESPL_WRITE_LOCAL_TRANSFORM;
    espl__stored sum = {.first = UINT32_MAX};

    for (uint32_t at = begin; at < end; ++at) {
        const uint32_t number = espl__entry_number(w, at), slot = w->slots[at];
        const espl_pose *const v = pose_of(espl__value_at(source, number));
        espl_status result = ESPL_OK;

        if (!is_sound(v, has_stretch)) {
            result = store_unsound(&locals[slot], source, number);
        } else if (!store_changed(&locals[slot], espl__wide_load(v))) {
            result = (espl_status)ESPL__UNCHANGED;
        }
        if (result == ESPL_OK) {
            sum.first = slot < sum.first ? slot : sum.first;
            sum.writes += 1;
            continue;
        }
        source->results[number] = result;
        sum.skipped += result > 0 ? 1 : 0;
        sum.has_status = sum.has_status || result < 0;
    }
    return sum;
}

// Add a sum to another one.
ESPL__INLINE void add_sum(espl__stored *sum, const espl__stored *more)
{
    sum->first = more->first < sum->first ? more->first : sum->first;
    sum->writes += more->writes;
    sum->skipped += more->skipped;
    sum->has_status = sum->has_status || more->has_status;
}

// Tell whether four values are finite and of unit length, without a branch for each.
ESPL__INLINE bool are_sound(const espl_pose *const v[4], bool has_stretch)
{
    espl__wide_bits alarm = espl__poses_invalid(v[0], v[1], v[2], v[3]);

    if (has_stretch) {
        alarm |= espl__stretches_nonfinite(
            (const espl_transform *)(const void *)v[0], (const espl_transform *)(const void *)v[1],
            (const espl_transform *)(const void *)v[2], (const espl_transform *)(const void *)v[3]);
    }
    return espl__wide_found_nothing(alarm);
}

// Store four entries whose values are at v. Four copies of the code instead of a loop, because the
// compiler then keeps the addresses in registers.
// @return the number of entries that were stored, up to the first one that is bit-equal; 0 where a
//         value is not sound.
ESPL__INLINE uint32_t store_four(espl_pose *locals, const uint32_t *slots,
                                 const espl_pose *const v[4], bool has_stretch)
{
    if (!are_sound(v, has_stretch) || !store_changed(&locals[slots[0]], espl__wide_load(v[0]))) {
        return 0;
    }
    if (!store_changed(&locals[slots[1]], espl__wide_load(v[1]))) {
        return 1;
    }
    if (!store_changed(&locals[slots[2]], espl__wide_load(v[2]))) {
        return 2;
    }
    return store_changed(&locals[slots[3]], espl__wide_load(v[3])) ? 4 : 3;
}

// Store four entries or more. Values are checked four at a time, because nearly all pass.
static espl__stored store_many(espl_pose *locals, const espl__tree_writes *w, uint32_t begin,
                               uint32_t end)
{
    // In registers, because the compiler must assume that a store changes the originals.
    const uint32_t *const slots = w->slots, *const numbers = w->numbers, first = w->first;
    const unsigned char *const values = w->source->values;
    const bool has_stretch = w->source->kind == ESPL_WRITE_LOCAL_TRANSFORM;
    const size_t size = w->source->value_size;
    espl__stored sum = {.first = UINT32_MAX};
    uint32_t at = begin;

    for (; end - at >= 4; at += 4) {
        const espl_pose *v[4];

        if (numbers == NULL) {
            const unsigned char *const value = values + (first + at) * size;

            v[0] = pose_of(value), v[1] = pose_of(value + size);
            v[2] = pose_of(value + 2 * size), v[3] = pose_of(value + 3 * size);
        } else {
            const uint32_t *const n = numbers + at;

            v[0] = pose_of(values + n[0] * size), v[1] = pose_of(values + n[1] * size);
            v[2] = pose_of(values + n[2] * size), v[3] = pose_of(values + n[3] * size);
        }
        const uint32_t done = store_four(locals, slots + at, v, has_stretch);

        if (done != 4) {
            const espl__stored rest = store_each(locals, w, at + done, at + 4);

            add_sum(&sum, &rest);
        }
        sum.writes += done;
        sum.first = done != 0 && slots[at] < sum.first ? slots[at] : sum.first;
    }
    if (at < end) {
        const espl__stored rest = store_each(locals, w, at, end);

        add_sum(&sum, &rest);
    }
    return sum;
}

espl__stored espl__store_poses(espl_pose *locals, const espl__tree_writes *w, uint32_t begin,
                               uint32_t end)
{
    ESPL_CHECK(begin <= end && end <= w->count);
    return end - begin < 4 ? store_each(locals, w, begin, end) : store_many(locals, w, begin, end);
}
