// SPDX-License-Identifier: MIT
// Entities with and without placements, read off the forest as they are stored; and random ones.
#ifndef ESPALIER_TESTS_COMMANDS_SHADOWS_H
#define ESPALIER_TESTS_COMMANDS_SHADOWS_H

#include "lib/world/inside.h"
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
    const espl_attach_options options = {.position = ESPL_STAY_LOCAL,
                                         .rotation = ESPL_STAY_LOCAL,
                                         .scale = ESPL_STAY_LOCAL,
                                         .inherit = inherit};

    ck_assert_int_eq(espl_attach(world, child, parent, &options), ESPL_OK);
}

static inline bool is_placed(const espl_world *world, espl_entity entity)
{
    return espl_has(world, entity, ESPL_PLACEMENT);
}

// --- What is stored and shown, read off the forest ---

typedef struct shadow {
    uint32_t parent; // number, set by who knows it
    bool is_pass;
    espl_transform local, kept; // stretch and context in local
    uint32_t flags;
    espl_transform shown; // world, with the stretch and context that children see
} shadow;

static const espl__extra no_extra = {{1, 1, 1}, 0};

static inline uint32_t slot_of(const espl_world *world, espl_entity entity)
{
    return world->store.records[entity.index].slot;
}

static inline shadow shadow_of(const espl_world *world, espl_entity entity)
{
    const espl__forest *const forest = &world->forest;
    const uint32_t slot = slot_of(world, entity);
    const espl__placement p = espl__slot_placement(forest, slot);
    const bool copies = espl__slot_copies(forest, slot);

    return (shadow){.is_pass = espl__slot_is(forest, slot, ESPL__SLOT_PASS),
                    .local = espl__transform_of(&p.local, copies ? &no_extra : &p.extra),
                    .kept = espl__transform_of(&p.kept.pose, &no_extra),
                    .flags = p.kept.flags,
                    .shown = espl__transform_of(&forest->world[slot], &p.extra)};
}

// Field by field: there is padding.
static inline void shadow_agrees(const shadow *x, const shadow *y, uint32_t number)
{
    ck_assert_int_eq(x->is_pass, y->is_pass);
    ck_assert_uint_eq(x->flags, y->flags);
    ck_assert_msg(memcmp(&x->local, &y->local, sizeof x->local) == 0, "local of %u", number);
    ck_assert_msg(memcmp(&x->kept, &y->kept, sizeof x->kept) == 0, "kept of %u", number);
    ck_assert_msg(memcmp(&x->shown, &y->shown, sizeof x->shown) == 0, "world of %u", number);
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
    t.context = is_stretched ? test_below(random, 3) : 0;
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
                                ESPL_KEEP_SCALE,
                                ESPL_KEEP_POSITION,
                                ESPL_KEEP_X | ESPL_KEEP_UP,
                                ESPL_KEEP_ROTATION};

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
            ck_assert_int_eq(espl_set_local(world, entities[i], &value), ESPL_OK);
        }
        if (i > 0 && !test_one_in(random, 6)) {
            attach(world, entities[i], entities[test_below(random, i)],
                   is_pass || is_plain ? 0 : random_inherit(random));
        }
    }
}

static const espl_transform turned = {{0, 0, 0.6f, 0.8f}, {3, -2, 1}, 2, {1, 3, 1}, 9};

#endif
