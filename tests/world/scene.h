// SPDX-License-Identifier: MIT
// A world of one small hierarchy, R{A{C,D},B{E}}, and a solo.
#ifndef ESPALIER_TESTS_WORLD_SCENE_H
#define ESPALIER_TESTS_WORLD_SCENE_H

#include "tests/planting.h"
#include "tests/support.h"

#include <stdlib.h>

typedef struct scene {
    test_world test;
    espl_world *world;
    espl_entity r, a, b, c, d, e, solo;
} scene;

static inline void scene_begin(scene *s)
{
    static const uint32_t parent[] = {PLANT_ROOT, 0, 0, 1, 1, 2, PLANT_ROOT};

    test_world_begin(&s->test, 0, NULL);
    s->world = s->test.world;
    espl_entity *const made = plant_forest(s->world, parent, 7);
    s->r = made[0];
    s->a = made[1];
    s->b = made[2];
    s->c = made[3];
    s->d = made[4];
    s->e = made[5];
    s->solo = made[6];
    free(made);
}

static inline void scene_end(scene *s)
{
    test_world_end(&s->test);
}

#endif
