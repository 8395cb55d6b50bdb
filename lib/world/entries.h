// SPDX-License-Identifier: MIT
// The entries of a batch of writes as the caller holds them, and what the log is told of them.
#ifndef ESPALIER_LIB_WORLD_ENTRIES_H
#define ESPALIER_LIB_WORLD_ENTRIES_H

#include "lib/world/handles.h"

/// Entries in one array, or entities and values in arrays of the caller's own structs.
typedef struct espl__entries {
    const char *call;         // name of the public function
    const espl_write *writes; // [count], which have a kind each; or NULL
    espl__handles handles;
    const unsigned char *values; // of the first entry
    size_t value_size;           // from one to the next
    espl_write_kind kind;        // where there are no writes
    size_t count;
} espl__entries;

static inline espl_write_kind espl__entries_kind(const espl__entries *e, size_t i)
{
    return e->writes != NULL ? e->writes[i].kind : e->kind;
}

static inline espl_entity espl__entries_entity(const espl__entries *e, size_t i)
{
    return espl__handle_at(&e->handles, i);
}

static inline const void *espl__entries_value(const espl__entries *e, size_t i)
{
    return e->values + i * e->value_size;
}

/// Say what is wrong with strides over handles and values, or NULL.
const char *espl__entries_fault(const espl__entries *e);
/// Tell the log of the first entry that was refused.
void espl__refuse_entry(const espl_world *world, const espl__entries *e,
                        const espl_write_report *report);
/// Tell whether some of the entries [begin, end) sets a whole transform with a scale or stretch of 0.
bool espl__entries_have_zero(const espl__entries *e, size_t begin, size_t end);
/// Remark on them, of which there is one at least.
void espl__remark_zeros(const espl_world *world, const espl__entries *e);

#endif
