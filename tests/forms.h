// SPDX-License-Identifier: MIT
// The kinds of write and the three ways to make one: by the function of its kind, as an entry of a
// batch, and by the short form of a batch.
#ifndef ESPALIER_TESTS_FORMS_H
#define ESPALIER_TESTS_FORMS_H

#include <espalier/write.h>

/// What the value of a kind is.
typedef enum value_type {
    VALUE_POSITION,
    VALUE_ROTATION,
    VALUE_SCALE,
    VALUE_STRETCH,
    VALUE_CONTEXT,
    VALUE_POSE,
    VALUE_TRANSFORM,
} value_type;

/// Where a value of a type is in an espl_transform. Alone, it is at the start of an espl_write_value.
typedef struct form_field {
    size_t at, size;
} form_field;

typedef enum write_form { FORM_FUNCTION, FORM_BATCH, FORM_SHORT, FORM_COUNT } write_form;

/// Type of a kind's value. The kind is in range, with a flag or without.
value_type form_type(espl_write_kind kind);
form_field form_field_of(value_type type);
/// Name of a kind, "set_local_position" for example; "no kind" for one out of range.
const char *form_name(espl_write_kind kind);
/// Tell whether a kind has a short form.
bool form_has_short(espl_write_kind kind);

/// Every kind with each flag that it takes, and without.
enum { FORM_FLAGGED = 3 * ESPL_WRITE_PREVIOUS_LOCAL_POSE + 2 };
espl_write_kind form_flagged(uint32_t number);
/// Tell whether a write takes a kind with its flag.
bool form_exists(espl_write_kind kind);
/// Add a flag to a kind, or make it one of a previous pose: in a quarter of the cases, some of which no
/// call takes.
espl_write_kind form_any_flag(espl_write_kind kind, uint64_t *random);

/// Make one write in one of the ways. A kind without a short form is written by its function, one
/// out of range as a batch. An account that contradicts itself fails the test.
espl_status form_write(espl_world *world, const espl_write *write, write_form form);
/// Make a batch, by the short form of the first entry's kind where the form says so; all entries
/// are then of that kind.
espl_status form_write_all(espl_world *world, const espl_write *writes, size_t count,
                           write_form form, espl_write_report *report);

#endif
