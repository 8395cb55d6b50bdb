// SPDX-License-Identifier: MIT
// Navigation by handles: the role, relatives, rank, depth and counts of an entity. Reads only, by
// any thread while no thread changes the world. A handle that names no living entity yields the
// empty answer, and no message, because a read of a dead entity is common and no fault.
//
// Nothing here asks for a transform: entities without one have nodes as well. The empty answers are
// ESPL_ROLE_NONE, the null entity, ESPL_LINK_OWNED, ESPL_NO_RANK, 0 and false. A NULL world has the
// empty answer too.
#include "lib/world/entity_slots.h"
#include "lib/world/refusals.h"

// The role follows from the links, so that it is right also where the role component is late.
espl_role espl_get_role(const espl_world *world, espl_entity entity)
{
    const uint32_t slot = espl__slot_or_none(world, entity);

    if (slot == ESPL__NO_SLOT) {
        return ESPL_ROLE_NONE;
    }
    ESPL_CHECK(slot < world->forest.end);
    if (!espl__is_root(&world->forest, slot)) {
        return ESPL_ROLE_MEMBER;
    }
    return world->forest.links[slot].first_child != ESPL__NO_SLOT ? ESPL_ROLE_ROOT : ESPL_ROLE_SOLO;
}

// A step from a slot to a relative; ESPL__NO_SLOT where there is none.
typedef uint32_t (*slot_function)(const espl__forest *forest, uint32_t slot);

// Handle of a relative; null where there is none.
static espl_entity step_from(const espl_world *world, espl_entity entity, slot_function step)
{
    const uint32_t slot = espl__slot_or_none(world, entity);

    return slot == ESPL__NO_SLOT ? espl_entity_null()
                                 : espl__entity_of_slot(world, step(&world->forest, slot));
}

// Steps of the functions below.
static uint32_t parent_of(const espl__forest *forest, uint32_t slot)
{
    return forest->parent[slot];
}

static uint32_t first_child_of(const espl__forest *forest, uint32_t slot)
{
    return forest->links[slot].first_child;
}

// Null for a root.
espl_entity espl_get_parent(const espl_world *world, espl_entity entity)
{
    return step_from(world, entity, parent_of);
}

// A root is its own root.
espl_entity espl_get_root(const espl_world *world, espl_entity entity)
{
    return step_from(world, entity, espl__root_of);
}

// The first and the last child, and both siblings, are in the order of the siblings, which users
// set. Null where there is none.
espl_entity espl_get_first_child(const espl_world *world, espl_entity entity)
{
    return step_from(world, entity, first_child_of);
}

espl_entity espl_get_last_child(const espl_world *world, espl_entity entity)
{
    return step_from(world, entity, espl__last_child);
}

espl_entity espl_get_previous_sibling(const espl_world *world, espl_entity entity)
{
    return step_from(world, entity, espl__previous_sibling);
}

espl_entity espl_get_next_sibling(const espl_world *world, espl_entity entity)
{
    return step_from(world, entity, espl__next_sibling);
}

// A root has no link, and reads as owned.
espl_link espl_get_link(const espl_world *world, espl_entity entity)
{
    const uint32_t slot = espl__slot_or_none(world, entity);

    return slot != ESPL__NO_SLOT && espl__slot_is(&world->forest, slot, ESPL__SLOT_FREE_LINK)
               ? ESPL_LINK_FREE
               : ESPL_LINK_OWNED;
}

// The number of links to the root, so 0 for a root.
uint32_t espl_get_depth(const espl_world *world, espl_entity entity)
{
    const uint32_t slot = espl__slot_or_none(world, entity);

    return slot == ESPL__NO_SLOT ? ESPL_NO_RANK : espl__depth_of(&world->forest, slot);
}

// Counts first, so that an array that is too small is not written to: a count alone is O(1) in a tree
// that is laid out.
size_t espl_get_children(const espl_world *world, espl_entity entity, size_t capacity,
                         espl_entity *out)
{
    const uint32_t slot = espl__slot_or_none(world, entity);

    if (slot == ESPL__NO_SLOT ||
        (capacity != 0 && !espl__is_given(world, "espl_get_children", out, "out"))) {
        return 0;
    }
    const espl__forest *const forest = &world->forest;
    const size_t count = espl__count_children(forest, slot);
    size_t copied = 0;

    for (uint32_t child = forest->links[slot].first_child;
         child != ESPL__NO_SLOT && count <= capacity; child = forest->links[child].next) {
        out[copied++] = espl__entity_of_slot(world, child);
    }
    ESPL_CHECK(copied == count || (copied == 0 && count > capacity));
    return count;
}

// O(depth): links lead from child to parent, and an entity is not its own ancestor.
bool espl_is_ancestor(const espl_world *world, espl_entity ancestor, espl_entity entity)
{
    const uint32_t above = espl__slot_or_none(world, ancestor);
    uint32_t slot = espl__slot_or_none(world, entity);

    if (above == ESPL__NO_SLOT || slot == ESPL__NO_SLOT) {
        return false;
    }
    ESPL_CHECK(above < world->forest.end && slot < world->forest.end);
    do {
        slot = world->forest.parent[slot];
    } while (slot != ESPL__NO_SLOT && slot != above);
    return slot == above;
}
