// SPDX-License-Identifier: MIT
// Views: a whole hierarchy as it is in memory, for reads of many transforms
// (espl_view_hierarchy()).
//
// A view shows the arrays of the tree, parents before children, so the tree is laid out in
// breadth-first order first, if it is not. That is the only change, and the only thing that needs
// memory. A view is valid until the next structural call.
#include "lib/tree/present.h"
#include "lib/world/entity_slots.h"
#include "lib/world/refusals.h"
#include "lib/world/structure.h"
#include "lib/world/tape.h"

#include <string.h>

static bool is_laid_out(const espl__forest *forest, uint32_t slot)
{
    return (espl__tree_of(forest, slot)->flags & ESPL__TREE_IN_ORDER) != 0;
}

// Lay out the tree of an entity. Roots that share a tree are divided; no other tree is touched,
// because the call changes nothing where it is refused.
static espl_status lay_out_tree(espl_world *world, uint32_t tree)
{
    const espl_status busy = espl__check_structural(world);

    if (busy != ESPL_OK) {
        return busy;
    }
    return espl__settle_in_order(world, tree) ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}

static espl_status view(espl_world *world, espl_entity entity, espl_view *out)
{
    uint32_t slot = 0;

    if (world == NULL || out == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    espl_status status = espl__find_slot(world, entity, &slot);

    if (status == ESPL_OK && !is_laid_out(&world->forest, slot)) {
        ESPL__CHANGE_OR_RETURN(world, "espl_view_hierarchy")
        status = ESPL__TAPED(world, lay_out_tree(world, world->forest.tree[slot]),
                             .op = ESPL_TAPE_VIEW, .entity = entity);
        slot = world->store.records[entity.index].slot;
        ESPL_CHECK(status != ESPL_OK || is_laid_out(&world->forest, slot));
    }
    if (status != ESPL_OK) {
        return status;
    }
    espl__forest *const forest = &world->forest;
    const espl__tree *const tree = espl__tree_of(forest, slot);
    const espl_pose *const shown = forest->tracks.poses[ESPL__SHOWN];

    if (shown != NULL) {
        espl__shown_complete(forest, tree);
    }
    *out = (espl_view){.count = tree->live,
                       .first = tree->base,
                       .parents = forest->parent + tree->base,
                       .world_poses = forest->world,
                       .state.world = world,
                       .shown_poses = shown != NULL ? shown : forest->world};
    return ESPL_OK;
}

espl_status espl_view_hierarchy(espl_world *world, espl_entity entity, espl_view *out)
{
    return espl__refuse_why(world, "espl_view_hierarchy", entity, view(world, entity, out),
                            "out is NULL.");
}

espl_entity espl_view_entity(const espl_view *view, size_t rank)
{
    if (view == NULL || rank >= view->count) {
        return espl_entity_null();
    }
    return espl__entity_of_slot(view->state.world, view->first + (uint32_t)rank);
}
