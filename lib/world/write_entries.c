// SPDX-License-Identifier: MIT
// Entries of a batch: their checks and their messages (lib/world/write_entries.h). Called by
// batch.c and batch_groups.c. Nothing here changes the world.
#include "lib/world/write_entries.h"

#include "lib/commands/explain.h"
#include "lib/tree/write_kinds.h"
#include "lib/world/refusals.h"

#include <stddef.h>
#include <string.h>

_Static_assert(offsetof(espl_pose, scale) == offsetof(espl_transform, scale), "pose: as transform");

// A batch of espl_write has strides of our own, so that only its pointer is checked, by its caller.
const char *espl__entries_fault(const espl__entries *e)
{
    const size_t size = espl__write_value_size(e->kind);

    if (e->count != 0 && (e->handles.first == NULL || e->values == NULL)) {
        return e->handles.first == NULL ? "entities is NULL, but the count is not 0."
                                        : "values is NULL, but the count is not 0.";
    }
    if (size == 0) {
        return espl__kind_fault(e->kind);
    }
    if (e->handles.stride < sizeof(espl_entity) || e->handles.stride % _Alignof(espl_entity) != 0) {
        return "entity_stride is less than the size of an espl_entity, or no multiple of 4.";
    }
    return e->value_size < size || e->value_size % _Alignof(float) != 0
               ? "value_stride is less than the size of a value of that kind, or no multiple of 4."
               : NULL;
}

bool espl__entries_want_side(const espl__entries *e, size_t i)
{
    const espl_write_kind kind = espl__write_base(espl__entries_kind(e, i));
    espl_write_value value = {0};

    // The usual case, without a copy of the value.
    if (kind == ESPL_WRITE_LOCAL_TRANSFORM) {
        espl__extra extra;

        memcpy(&extra,
               (const unsigned char *)espl__entries_value(e, i) + offsetof(espl_transform, stretch),
               sizeof extra);
        if (espl__extra_is_default(&extra)) {
            return false;
        }
    } else if (!espl__write_has_extra(kind)) {
        return false;
    }
    espl__write_load(&value, kind, espl__entries_value(e, i));
    return espl__write_wants_side(kind, &value) && espl__write_check(kind, &value) == ESPL_OK;
}

// The line names the call, the entry, its entity and its kind, and counts the refused entries,
// because a batch logs one line.
void espl__refuse_entry(const espl_world *world, const espl__entries *e,
                        const espl_write_report *report)
{
    const size_t at = report->first_refused;

    ESPL_CHECK(report->refused != 0 && at < e->count && report->first_status < 0);
    const espl_write_kind kind = espl__entries_kind(e, at);
    espl__kind_name name;
    espl__sentence sentence;
    espl__message m;

    if (espl__refusal_begin(&m, world, e->call, NULL, report->first_status)) {
        espl__message_part(&m, "entry %zu of %zu", at, e->count);
        espl__message_entity(&m, "entity", espl__entries_entity(e, at));
        if (e->readable != NULL) {
            espl__message_entity(&m, "copied from", espl__handle_at(&e->sources, at));
        }
        espl__message_part(&m, "%s", espl__write_kind_name(&name, kind));
        espl__message_part(&m, "first of %zu refused", report->refused);
        espl__refusal_send(&m, world, report->first_status,
                           espl__write_fault(&sentence, kind, espl__entries_value(e, at)));
    }
}

// Name of the field of an entry that is 0, or NULL.
static const char *find_blank(const espl__entries *e, size_t i)
{
    return espl__write_blank(espl__entries_kind(e, i), espl__entries_value(e, i));
}

// Fast path: true for nearly all entries, without a copy of the value. The compare takes -0 for 0;
// find_blank() tells them apart.
static inline bool is_without_zero(const espl__entries *e, size_t i)
{
    const unsigned char *const value = espl__entries_value(e, i);
    const espl_write_kind kind = espl__entries_kind(e, i);
    float scale, stretch[3] = {1, 1, 1};

    if (!espl__write_sets_whole(kind)) {
        return true;
    }
    memcpy(&scale, value + offsetof(espl_transform, scale), sizeof scale);
    if (espl__write_value_type(kind) == ESPL__VALUE_TRANSFORM) {
        memcpy(stretch, value + offsetof(espl_transform, stretch), sizeof stretch);
    }
    return scale != 0 && stretch[0] != 0 && stretch[1] != 0 && stretch[2] != 0;
}

// Called for each batch of a world with a log hook, so that it must cost little beside the write.
bool espl__entries_have_zero(const espl__entries *e, size_t begin, size_t end)
{
    bool has_zero = false;

    ESPL_CHECK(begin <= end && end <= e->count);

    if (e->writes == NULL && !espl__write_sets_whole(e->kind)) {
        return false;
    }
    for (size_t i = begin; i < end && !has_zero; ++i) {
        has_zero = !is_without_zero(e, i) && find_blank(e, i) != NULL;
    }
    return has_zero;
}

// A remark, not a refusal: a scale of 0 is valid, but most often it is a transform that was set to
// {0}.
void espl__remark_zeros(const espl_world *world, const espl__entries *e)
{
    size_t first = 0, count = 0;
    espl__message m;

    while (find_blank(e, first) == NULL) {
        first += 1;
        ESPL_CHECK(first < e->count);
    }
    ESPL_CHECK(espl__write_sets_whole(espl__entries_kind(e, first)));
    for (size_t i = first; i < e->count; ++i) {
        count += find_blank(e, i) != NULL ? 1 : 0;
    }
    if (espl__message_begin(&m, &world->hooks, e->call, NULL)) {
        m.store = &world->store;
        espl__message_part(&m, "entry %zu of %zu", first, e->count);
        espl__message_entity(&m, "entity", espl__entries_entity(e, first));
        espl__message_part(&m, "first of %zu such", count);
        espl__message_blank(&m, find_blank(e, first));
    }
}
