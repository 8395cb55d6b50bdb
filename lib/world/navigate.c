// SPDX-License-Identifier: MIT
// Navigation by handles. Reads only; a handle that names nobody gets the empty answer.
#include "lib/world/inside.h"

espl_role espl_get_role(const espl_world *world, espl_entity entity)
{
    const uint32_t slot = espl__slot_or_none(world, entity);

    if (slot == ESPL__NO_SLOT) {
        return ESPL_ROLE_NONE;
    }
    if (espl__living_parent(&world->forest, slot) != ESPL__NO_SLOT) {
        return ESPL_ROLE_MEMBER;
    }
    return espl__living_first_child(&world->forest, slot) != ESPL__NO_SLOT ? ESPL_ROLE_ROOT
                                                                           : ESPL_ROLE_SOLO;
}

typedef uint32_t (*slot_function)(const espl__forest *forest, uint32_t slot);

static espl_entity follow(const espl_world *world, espl_entity entity, slot_function step)
{
    const uint32_t slot = espl__slot_or_none(world, entity);

    return slot == ESPL__NO_SLOT ? espl_entity_null()
                                 : espl__entity_of_slot(world, step(&world->forest, slot));
}

espl_entity espl_get_parent(const espl_world *world, espl_entity entity)
{
    return follow(world, entity, espl__living_parent);
}

espl_entity espl_get_root(const espl_world *world, espl_entity entity)
{
    return follow(world, entity, espl__living_root);
}

espl_entity espl_get_first_child(const espl_world *world, espl_entity entity)
{
    return follow(world, entity, espl__living_first_child);
}

espl_entity espl_get_last_child(const espl_world *world, espl_entity entity)
{
    return follow(world, entity, espl__living_last_child);
}

espl_entity espl_get_previous_sibling(const espl_world *world, espl_entity entity)
{
    return follow(world, entity, espl__living_previous_sibling);
}

espl_entity espl_get_next_sibling(const espl_world *world, espl_entity entity)
{
    return follow(world, entity, espl__living_next_sibling);
}

espl_link espl_get_link(const espl_world *world, espl_entity entity)
{
    const uint32_t slot = espl__slot_or_none(world, entity);

    return slot != ESPL__NO_SLOT && espl__slot_is(&world->forest, slot, ESPL__SLOT_FREE_LINK)
               ? ESPL_LINK_FREE
               : ESPL_LINK_OWNED;
}

uint32_t espl_get_rank(const espl_world *world, espl_entity entity)
{
    const uint32_t slot = espl__slot_or_none(world, entity);

    return slot == ESPL__NO_SLOT ? ESPL_NO_RANK : world->forest.rank[slot];
}

uint32_t espl_get_depth(const espl_world *world, espl_entity entity)
{
    const uint32_t slot = espl__slot_or_none(world, entity);

    return slot == ESPL__NO_SLOT ? ESPL_NO_RANK : espl__living_depth(&world->forest, slot);
}

size_t espl_count_children(const espl_world *world, espl_entity entity)
{
    const uint32_t slot = espl__slot_or_none(world, entity);

    return slot == ESPL__NO_SLOT ? 0 : espl__living_children(&world->forest, slot);
}

size_t espl_count_descendants(const espl_world *world, espl_entity entity)
{
    const uint32_t slot = espl__slot_or_none(world, entity);

    return slot == ESPL__NO_SLOT ? 0 : espl__living_below(&world->forest, slot);
}

espl_entity espl_get_child(const espl_world *world, espl_entity entity, size_t n)
{
    const uint32_t slot = espl__slot_or_none(world, entity);

    return slot == ESPL__NO_SLOT
               ? espl_entity_null()
               : espl__entity_of_slot(world, espl__living_child(&world->forest, slot, n));
}

bool espl_is_ancestor(const espl_world *world, espl_entity ancestor, espl_entity entity)
{
    const uint32_t above = espl__slot_or_none(world, ancestor);
    uint32_t slot = espl__slot_or_none(world, entity);

    if (above == ESPL__NO_SLOT || slot == ESPL__NO_SLOT) {
        return false;
    }
    do {
        slot = espl__living_parent(&world->forest, slot);
    } while (slot != ESPL__NO_SLOT && slot != above);
    return slot == above;
}
