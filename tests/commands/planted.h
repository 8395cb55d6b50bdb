// SPDX-License-Identifier: MIT
// Random trees whose nodes have a transform or none, and what can be read of a node, to be compared with its
// twin in another world.
#ifndef ESPALIER_TESTS_COMMANDS_PLANTED_H
#define ESPALIER_TESTS_COMMANDS_PLANTED_H

#include "tests/asserts.h"
#include "tests/support.h"

#include <string.h>

static inline espl_entity bare(espl_world *world)
{
    espl_entity entity = {0};

    ck_assert_int_eq(espl_create(world, NULL, 0, 1, &entity), ESPL_OK);
    return entity;
}

static inline void attach(espl_world *world, espl_entity child, espl_entity parent,
                          uint32_t inherit)
{
    const espl_attach_options options = {.position = ESPL_KEEP_LOCAL,
                                         .rotation = ESPL_KEEP_LOCAL,
                                         .scale = ESPL_KEEP_LOCAL,
                                         .inherit = inherit};

    ck_assert_int_eq(espl_attach(world, child, parent, &options), ESPL_OK);
}

static inline bool is_placed(const espl_world *world, espl_entity entity)
{
    return espl_has_component(world, entity, ESPL_TRANSFORM);
}

// --- What can be read ---

typedef struct look {
    bool is_placed;
    espl_transform local, world; // zeros without a transform
    uint32_t inherit;
    espl_link link;
    espl_role role;
} look;

static inline look look_of(const espl_world *world, espl_entity entity)
{
    look out = {.is_placed = is_placed(world, entity),
                .inherit = espl_get_inherit(world, entity),
                .link = espl_get_link(world, entity),
                .role = espl_get_role(world, entity)};
    const espl_status wanted = out.is_placed ? ESPL_OK : ESPL_ERR_NO_TRANSFORM;

    ck_assert_int_eq(espl_get_local_transform(world, entity, &out.local), wanted);
    ck_assert_int_eq(espl_get_world_transform(world, entity, &out.world), wanted);
    return out;
}

static inline void looks_agree(const look *x, const look *y, uint32_t number)
{
    ck_assert_int_eq(x->is_placed, y->is_placed);
    ck_assert_uint_eq(x->inherit, y->inherit);
    ck_assert_int_eq(x->link, y->link);
    ck_assert_int_eq(x->role, y->role);
    ck_assert_msg(test_same(&x->local, &y->local), "local of %u", number);
    ck_assert_msg(test_same(&x->world, &y->world), "world of %u", number);
}

// --- Random forests ---

static inline espl_transform random_transform(uint64_t *random, bool is_stretched)
{
    espl_transform t = espl_transform_identity();

    for (int i = 0; i < 4; ++i) {
        t.rotation[i] = test_between(random, -1, 1);
    }
    for (int i = 0; i < 3; ++i) {
        t.position[i] = test_between(random, -4, 4);
        t.stretch[i] = is_stretched && !test_one_in(random, 9) ? test_between(random, 0.5f, 2)
                       : is_stretched                          ? 0
                                                               : 1;
    }
    t.scale = test_one_in(random, 9) ? 0 : test_between(random, 0.5f, 2);
    t.user_data = is_stretched ? test_below(random, 3) : 0;
    ck_assert_int_eq(espl_transform_normalize(&t), ESPL_OK);
    return t;
}

static inline uint32_t random_inherit(uint64_t *random)
{
    const uint32_t choices[] = {0,
                                0,
                                0,
                                ESPL_COPY_PARENT,
                                ESPL_COPY_PARENT,
                                ESPL_ABSOLUTE_SCALE,
                                ESPL_ABSOLUTE_POSITION,
                                ESPL_ABSOLUTE_X | ESPL_ABSOLUTE_UP,
                                ESPL_ABSOLUTE_ROTATION};

    return choices[test_below(random, sizeof choices / sizeof *choices)];
}

static inline void plant(espl_world *world, uint64_t *random, espl_entity *entities, uint32_t count,
                         bool is_plain)
{
    for (uint32_t i = 0; i < count; ++i) {
        const bool is_pass = test_one_in(random, 3);
        const espl_transform value = random_transform(random, !is_plain && test_one_in(random, 3));

        entities[i] = is_pass ? bare(world) : test_solo(world);
        if (!is_pass) {
            ck_assert_int_eq(espl_set_local_transform(world, entities[i], &value), ESPL_OK);
        }
        if (i > 0 && !test_one_in(random, 6)) {
            attach(world, entities[i], entities[test_below(random, i)],
                   is_pass || is_plain ? 0 : random_inherit(random));
        }
    }
}

static const espl_transform turned = {{0, 0, 0.6f, 0.8f}, {3, -2, 1}, 2, {1, 3, 1}, 9};

#endif
