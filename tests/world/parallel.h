// SPDX-License-Identifier: MIT
// Parts that the tests of parallel writes share: writes by kind, through a writer or immediate.
#ifndef ESPALIER_TESTS_WORLD_PARALLEL_H
#define ESPALIER_TESTS_WORLD_PARALLEL_H

#include "tests/checks.h"
#include "tests/forms.h"
#include "tests/inside.h"
#include "tests/fixture.h"
#include "tests/support.h"

#include <espalier/writers.h>

/// Let a small world have several jobs.
static inline void cut_small(espl_world *world)
{
    test_cut_jobs(world, 32);
}

/// Carry one write out through a writer.
static inline espl_status writer_write(espl_writer *writer, const espl_write *w, const char *site)
{
    switch (form_type(w->kind)) {
    case VALUE_ROTATION:
        return espl_writer_write(writer, w->entity, w->kind, w->value.rotation, site);
    case VALUE_SCALE:
        return espl_writer_write(writer, w->entity, w->kind, &w->value.scale, site);
    case VALUE_CONTEXT:
        return espl_writer_write(writer, w->entity, w->kind, &w->value.user_data, site);
    case VALUE_POSE:
    case VALUE_TRANSFORM:
        return espl_writer_write(writer, w->entity, w->kind, &w->value.transform, site);
    case VALUE_POSITION:
    case VALUE_STRETCH:
        break;
    }
    return espl_writer_write(writer, w->entity, w->kind, w->value.position, site);
}

/// Whoever writes: a writer, or calls at once where there is none.
typedef struct hand {
    espl_writer *writer; // or NULL
    espl_world *world;
} hand;

static inline espl_status hand_write(hand by, const espl_write *w)
{
    return by.writer != NULL ? writer_write(by.writer, w, ESPL_SITE)
                             : form_write(by.world, w, FORM_FUNCTION);
}

static inline espl_status hand_look_at(hand by, espl_entity entity, const float target[3])
{
    return by.writer != NULL
               ? espl_writer_look_at(by.writer, entity, target, NULL, ESPL_AXIS_FORWARD, ESPL_SITE)
               : espl_look_at(by.world, entity, target, NULL, ESPL_AXIS_FORWARD);
}

static inline espl_status hand_rotate_about(hand by, espl_entity entity, const float pivot[3],
                                            const float turn[4])
{
    return by.writer != NULL ? espl_writer_rotate_about(by.writer, entity, pivot, turn, ESPL_SITE)
                             : espl_rotate_about(by.world, entity, pivot, turn);
}

static inline espl_status hand_set_inherit(hand by, espl_entity entity, uint32_t flags)
{
    return by.writer != NULL ? espl_writer_set_inherit(by.writer, entity, flags, ESPL_SITE)
                             : espl_set_inherit(by.world, entity, flags);
}

#endif
