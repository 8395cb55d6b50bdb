// SPDX-License-Identifier: MIT
// Nodes read off the forest as they are stored.
#ifndef ESPALIER_TESTS_COMMANDS_SHADOWS_H
#define ESPALIER_TESTS_COMMANDS_SHADOWS_H

#include "lib/world/inside.h"
#include "tests/commands/planted.h"

#include <string.h>

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

#endif
