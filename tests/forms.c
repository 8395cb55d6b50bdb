// SPDX-License-Identifier: MIT
#include "tests/forms.h"

#include "tests/asserts.h"
#include "tests/named_writes.h"
#include "tests/support.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct kind_row {
    const char *name;
    value_type type;
} kind_row;

static const kind_row kinds[ESPL_WRITE_KIND_COUNT] = {
    [ESPL_WRITE_LOCAL_POSITION] = {"set_local_position", VALUE_POSITION},
    [ESPL_WRITE_LOCAL_ROTATION] = {"set_local_rotation", VALUE_ROTATION},
    [ESPL_WRITE_LOCAL_SCALE] = {"set_local_scale", VALUE_SCALE},
    [ESPL_WRITE_LOCAL_POSE] = {"set_local_pose", VALUE_POSE},
    [ESPL_WRITE_LOCAL_TRANSFORM] = {"set_local_transform", VALUE_TRANSFORM},
    [ESPL_WRITE_STRETCH] = {"set_stretch", VALUE_STRETCH},
    [ESPL_WRITE_USER_DATA] = {"set_user_data", VALUE_CONTEXT},
    [ESPL_WRITE_WORLD_POSITION] = {"set_world_position", VALUE_POSITION},
    [ESPL_WRITE_WORLD_ROTATION] = {"set_world_rotation", VALUE_ROTATION},
    [ESPL_WRITE_WORLD_SCALE] = {"set_world_scale", VALUE_SCALE},
    [ESPL_WRITE_WORLD_POSE] = {"set_world_pose", VALUE_POSE},
    [ESPL_WRITE_WORLD_TRANSFORM] = {"set_world_transform", VALUE_TRANSFORM},
    [ESPL_WRITE_TRANSLATE_IN_PARENT] = {"translate_in_parent", VALUE_POSITION},
    [ESPL_WRITE_ROTATE_IN_PARENT] = {"rotate_in_parent", VALUE_ROTATION},
    [ESPL_WRITE_TRANSFORM_IN_PARENT] = {"transform_in_parent", VALUE_TRANSFORM},
    [ESPL_WRITE_INVERSE_TRANSFORM_IN_PARENT] = {"inverse_transform_in_parent", VALUE_TRANSFORM},
    [ESPL_WRITE_TRANSLATE_WORLD] = {"translate_world", VALUE_POSITION},
    [ESPL_WRITE_ROTATE_WORLD] = {"rotate_world", VALUE_ROTATION},
    [ESPL_WRITE_TRANSFORM_WORLD] = {"transform_world", VALUE_TRANSFORM},
    [ESPL_WRITE_INVERSE_TRANSFORM_WORLD] = {"inverse_transform_world", VALUE_TRANSFORM},
    [ESPL_WRITE_MULTIPLY_SCALE] = {"multiply_scale", VALUE_SCALE},
    [ESPL_WRITE_MULTIPLY_STRETCH] = {"multiply_stretch", VALUE_STRETCH},
    [ESPL_WRITE_TRANSLATE_OWN] = {"translate_own", VALUE_POSITION},
    [ESPL_WRITE_ROTATE_OWN] = {"rotate_own", VALUE_ROTATION},
    [ESPL_WRITE_PREVIOUS_LOCAL_POSE] = {"previous_local_pose", VALUE_POSE},
    [ESPL_WRITE_PREVIOUS_WORLD_POSE] = {"previous_world_pose", VALUE_POSE},
    // Three words, and more than three doubles.
    [ESPL_WRITE_CELL] = {"cell", VALUE_POSITION},
    [ESPL_WRITE_ABSOLUTE_POSITION] = {"absolute_position", VALUE_TRANSFORM},
};

static bool is_kind(espl_write_kind kind)
{
    return test_plain_kind(kind) < ESPL_WRITE_KIND_COUNT;
}

value_type form_type(espl_write_kind kind)
{
    return kinds[test_plain_kind(kind)].type;
}

form_field form_field_of(value_type type)
{
    static const form_field fields[] = {
        [VALUE_POSITION] = {offsetof(espl_transform, position), sizeof(float[3])},
        [VALUE_ROTATION] = {offsetof(espl_transform, rotation), sizeof(float[4])},
        [VALUE_SCALE] = {offsetof(espl_transform, scale), sizeof(float)},
        [VALUE_STRETCH] = {offsetof(espl_transform, stretch), sizeof(float[3])},
        [VALUE_CONTEXT] = {offsetof(espl_transform, user_data), sizeof(uint32_t)},
        [VALUE_POSE] = {0, sizeof(espl_pose)},
        [VALUE_TRANSFORM] = {0, sizeof(espl_transform)},
    };

    return fields[type];
}

const char *form_name(espl_write_kind kind)
{
    kind = (espl_write_kind)test_plain_kind(kind);
    return is_kind(kind) ? kinds[kind].name : "no kind";
}

bool form_has_short(espl_write_kind kind)
{
    return is_kind(kind);
}

espl_write_kind form_flagged(uint32_t number)
{
    static const unsigned flags[3] = {0, ESPL_TELEPORT, ESPL_CARRY};

    ck_assert_uint_lt(number, FORM_FLAGGED);
    return (espl_write_kind)(number < 3 * TEST_KINDS ? number / 3 | flags[number % 3]
                                                     : number - 2 * TEST_KINDS);
}

bool form_exists(espl_write_kind kind)
{
    const unsigned flags = (unsigned)kind ^ test_plain_kind(kind);

    return is_kind(kind) && flags != (ESPL_TELEPORT | ESPL_CARRY) &&
           (flags == 0 || test_plain_kind(kind) < TEST_KINDS);
}

espl_write_kind form_any_flag(espl_write_kind kind, uint64_t *random)
{
    static const unsigned flags[4] = {ESPL_TELEPORT, ESPL_CARRY, 0, ESPL_TELEPORT | ESPL_CARRY};
    const uint32_t way = test_below(random, 32);

    if (way >= 9) {
        return kind;
    }
    if (way >= 7) {
        kind = way == 7 ? ESPL_WRITE_PREVIOUS_LOCAL_POSE : ESPL_WRITE_PREVIOUS_WORLD_POSE;
        return test_one_in(random, 8) ? kind | ESPL_CARRY : kind;
    }
    const uint32_t flag = way < 6 ? way % 2 : 2 + test_below(random, 2);

    return (espl_write_kind)((unsigned)kind | flags[flag]);
}

// --- As a batch ---

// Arrays of entities and of values, each value `size` bytes.
static void *gathered(const espl_write *writes, size_t count, size_t size, espl_entity *entities)
{
    unsigned char *const values = test_array(count, size);

    for (size_t i = 0; i < count; ++i) {
        entities[i] = writes[i].entity;
        memcpy(values + i * size, &writes[i].value, size);
    }
    return values;
}

// What a caller keeps of a node.
typedef struct bone {
    uint32_t before;
    espl_entity entity;
    espl_pose local;
    uint32_t behind;
} bone;

static espl_status write_poses(espl_world *world, const espl_write *writes, size_t count,
                               espl_write_report *report)
{
    bone *const bones = test_array(count, sizeof *bones);

    for (size_t i = 0; i < count; ++i) {
        // What stands around them is no number.
        memset(&bones[i], 0xFF, sizeof bones[i]);
        bones[i].entity = writes[i].entity;
        memcpy(&bones[i].local, &writes[i].value, sizeof bones[i].local);
    }
    const espl_status status =
        espl_write_strided(world, writes[0].kind, &bones->entity, count, sizeof *bones,
                           &bones->local, sizeof *bones, report);

    free(bones);
    return status;
}

static espl_status write_short(espl_world *world, const espl_write *writes, size_t count,
                               espl_write_report *report)
{
    const espl_write_kind kind = writes[0].kind;
    const size_t size = form_field_of(form_type(kind)).size;

    // As often as not, by what the writes are.
    if (form_type(kind) == VALUE_POSE && (writes[0].entity.index + count) % 2 == 0) {
        return write_poses(world, writes, count, report);
    }
    espl_entity *const entities = test_array(count, sizeof *entities);
    void *const values = gathered(writes, count, size, entities);
    const espl_status status =
        espl_write_strided(world, kind, entities, count, sizeof *entities, values, size, report);

    free(entities);
    free(values);
    return status;
}

espl_status form_write_all(espl_world *world, const espl_write *writes, size_t count,
                           write_form form, espl_write_report *report)
{
    return form == FORM_SHORT && count != 0 && form_has_short(writes[0].kind)
               ? write_short(world, writes, count, report)
               : espl_write_batch(world, writes, count, report);
}

espl_status form_write(espl_world *world, const espl_write *write, write_form form)
{
    espl_write_report report;

    if (is_kind(write->kind) &&
        (form == FORM_FUNCTION || (form == FORM_SHORT && !form_has_short(write->kind)))) {
        return write_by_function(world, write);
    }
    memset(&report, 0xA5, sizeof report);
    const espl_status status = form_write_all(world, write, 1, form, &report);
    const bool is_refused = status == ESPL_PARTLY;
    const bool is_done = status == ESPL_OK || status == ESPL_LOSSY || status == ESPL_OVERFLOW;

    // Refused as a whole, the account is all zeros.
    if (report.applied != is_done || report.lossy > report.applied ||
        (status != ESPL_OVERFLOW && report.lossy != (status == ESPL_LOSSY)) ||
        (!is_refused && report.has_overflowed != (status == ESPL_OVERFLOW)) ||
        report.refused != is_refused || (is_refused && report.first_refused != 0) ||
        (is_refused && report.first_status >= 0)) {
        ck_abort_msg("the account of one write is wrong");
    }
    return is_refused ? report.first_status : status;
}
