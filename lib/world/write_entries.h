// SPDX-License-Identifier: MIT
// The entries of a batch of writes as the caller holds them: either an array of espl_write, or
// arrays of the caller's own structs that hold the entities and the values. batch.c reads them by
// the accessors below, and the tape records them.
#ifndef ESPALIER_LIB_WORLD_WRITE_ENTRIES_H
#define ESPALIER_LIB_WORLD_WRITE_ENTRIES_H

#include "lib/world/handles.h"

/// Entries of a batch at most, so that counts of their numbers fit 32 bits: a batch has four numbers
/// for each.
#define ESPL__ENTRIES_LIMIT (UINT32_MAX / 4)

/// Entries in one array, or entities and values in arrays of the caller's own structs. Nothing is
/// owned.
typedef struct espl__entries {
    const char *call;         // name of the public function, for messages
    const espl_write *writes; // [count], each with a kind; NULL: all have `kind`
    espl__handles handles;
    // [count] slots of the entities, where the caller looked them up as espl__find_slots() does; NULL: the
    // batch does.
    const uint32_t *slots;
    const unsigned char *values; // value of the first entry
    size_t value_size;           // bytes from one value to the next
    espl_write_kind kind;        // of all entries; not read where there are writes
    size_t count;
    // Of a copy from another world: what its entries are copied from, and [count] whether each could be read;
    // an entry that could not is refused by that status. NULL: nothing is copied.
    espl__handles sources;
    const espl_status *readable;
} espl__entries;

/// Kind of entry i. Precondition of this and the next three: i < count, and espl__entries_fault()
/// found nothing. The kind of an espl_write may be one that does not exist.
static inline espl_write_kind espl__entries_kind(const espl__entries *e, size_t i)
{
    return e->writes != NULL ? e->writes[i].kind : e->kind;
}

static inline espl_entity espl__entries_entity(const espl__entries *e, size_t i)
{
    return espl__handle_at(&e->handles, i);
}

/// Tell whether entry i has a value: all but copies of what could not be read.
static inline bool espl__entries_has_value(const espl__entries *e, size_t i)
{
    return e->readable == NULL || e->readable[i] == ESPL_OK;
}

/// Value of entry i, of any alignment.
static inline const void *espl__entries_value(const espl__entries *e, size_t i)
{
    return e->values + i * e->value_size;
}

/// Check the pointers, the kind and the strides of a strided call.
/// @return a sentence that says what is wrong, or NULL.
const char *espl__entries_fault(const espl__entries *e);
/// Tell whether entry i sets a stretch or user data for which its tree needs side arrays. An entry whose
/// value is refused needs none.
bool espl__entries_want_side(const espl__entries *e, size_t i);
/// Log the first entry that was refused. Precondition: the report has one.
void espl__refuse_entry(const espl_world *world, const espl__entries *e,
                        const espl_write_report *report);
/// Tell whether some entry of [begin, end) sets a whole transform whose scale or stretch is 0: see
/// espl__write_blank().
bool espl__entries_have_zero(const espl__entries *e, size_t begin, size_t end);
/// Log a remark on such entries. Precondition: there is one at least.
void espl__remark_zeros(const espl_world *world, const espl__entries *e);

#endif
