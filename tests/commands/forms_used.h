// SPDX-License-Identifier: MIT
// Each short form of recording, used once as in a program: the tests use them in C, and
// tests/headers.sh compiles them as C++ too.
#ifndef ESPALIER_TESTS_COMMANDS_FORMS_USED_H
#define ESPALIER_TESTS_COMMANDS_FORMS_USED_H

#include <espalier/espalier.h>

typedef struct used_health {
    double points;
    uint32_t shields;
} used_health;

typedef struct used_names {
    espl_entity prefab, parent, other;
    espl_component health;
    espl_custom_command callback;
} used_names;

/// Record a clone of the prefab under the parent, at (1, 2, 3), and write to it.
static inline espl_status use_transforms(espl_recorder *recorder, const used_names *names,
                                         espl_entity *clone)
{
    const float position[3] = {4, 5, 6}, rotation[4] = {0, 0, 1, 0}, scale = 2;
    espl_transform local = espl_transform_identity();
    espl_status status = ESPL_OK;

    local.position[0] = 1;
    local.position[1] = 2;
    local.position[2] = 3;
    status = espl_record_spawn(recorder, 0, names->prefab, names->parent, &local, clone);
    if (status == ESPL_OK) {
        status = espl_record_write(recorder, 0, *clone, ESPL_WRITE_LOCAL_POSITION, position);
    }
    if (status == ESPL_OK) {
        status = espl_record_write(recorder, 0, *clone, ESPL_WRITE_LOCAL_ROTATION, rotation);
    }
    return status == ESPL_OK
               ? espl_record_write(recorder, 0, *clone, ESPL_WRITE_LOCAL_SCALE, &scale)
               : status;
}

/// Record that one comes under the other where it stands, and the other way round as seen.
static inline espl_status use_attaches(espl_recorder *recorder, const used_names *names)
{
    const espl_status status =
        espl_record_attach(recorder, 0, names->other, names->parent, ESPL_NULL_);
    espl_attach_options keep_local = ESPL_ZERO;

    keep_local.position = keep_local.rotation = keep_local.scale = ESPL_KEEP_LOCAL;
    return status == ESPL_OK
               ? espl_record_attach(recorder, 0, names->other, names->prefab, &keep_local)
               : status;
}

/// Record a component that comes and then changes.
static inline espl_status use_components(espl_recorder *recorder, const used_names *names)
{
    const used_health full = {100, 3}, hurt = {40, 0};
    const espl_status status = ESPL_RECORD_ADD(recorder, 0, names->other, names->health, &full);

    return status == ESPL_OK ? ESPL_RECORD_SET(recorder, 0, names->other, names->health, &hurt)
                             : status;
}

/// Record a payload.
static inline espl_status use_call(espl_recorder *recorder, const used_names *names)
{
    const used_health health = {7, 8};

    return ESPL_RECORD_CUSTOM(recorder, 0, names->callback, &health);
}

#endif
