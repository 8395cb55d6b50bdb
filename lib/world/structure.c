// SPDX-License-Identifier: MIT
// Destroys at once, the application of one command at once, and the settling behind structural calls.
#include "lib/world/tape.h"

espl_status espl__apply_lane(espl_world *world, espl__lane_view lane)
{
    espl_status result = ESPL_OK;
    espl_report report = {0};

    lane.results = &result;
    world->is_playing = true;
    const espl_status status =
        espl__playback_run(&world->playback, &lane, 1, ESPL__NO_TAG, &report);
    world->is_playing = false;
    if (status != ESPL_OK) {
        return status;
    }
    espl__settle(world);
    return result >= 0 && report.overflowed != 0 ? ESPL_OVERFLOW : result;
}

espl_status espl__apply_one(espl_world *world, const espl__command *command)
{
    return espl__apply_lane(world, (espl__lane_view){.commands = command, .count = 1});
}

espl_status espl__apply_strictly(espl_world *world, espl__lane_view lane, size_t *refused)
{
    espl__playback *const playback = &world->playback;
    espl_report report = {0};

    world->is_playing = true;
    playback->is_strict = true;
    const espl_status status = espl__playback_run(playback, &lane, 1, UINT32_MAX, &report);
    playback->is_strict = false;
    world->is_playing = false;
    if (status != ESPL_OK) {
        *refused = playback->first_refused != UINT32_MAX ? playback->first_refused : *refused;
        return status;
    }
    espl__settle(world);
    if (report.overflowed != 0) {
        return ESPL_OVERFLOW;
    }
    return report.lossy != 0 ? ESPL_LOSSY : ESPL_OK;
}

// --- Settling ---

// Give roles to the roots of a range, and ranges of their own to those that share it. What a destroy
// without memory left behind. @return false: there is still no memory.
static bool place_roots(espl_world *world, uint32_t tree)
{
    espl_report report = {0};

    world->playback.root_tree = tree;
    const espl_status status = espl__playback_run(&world->playback, NULL, 0, ESPL__NO_TAG, &report);
    world->playback.root_tree = ESPL__NO_TREE;
    return status == ESPL_OK;
}

// Tell whether the roots of a range have their roles, and the range to themselves.
static bool is_settled(const espl_world *world, const espl__tree *t)
{
    const espl__forest *const forest = &world->forest;

    if (!espl__tree_is_single(forest, t)) {
        return false;
    }
    const espl_component role =
        forest->links[t->base].first_child != ESPL__NO_SLOT ? ESPL_ROOT : ESPL_SOLO;
    const uint32_t entity = forest->links[t->base].entity;

    return espl__archetype_has(&world->store, espl__entity_archetype(&world->store, entity), role);
}

bool espl__settle_roots(espl_world *world, uint32_t tree)
{
    return is_settled(world, &world->forest.trees[tree]) || place_roots(world, tree);
}

// Lay a tree out whose debt is due, if the budget allows. The first tree of a call always is, so that one
// that is larger than the budget gets its turn. @return whether the tree may leave the list.
static bool pay_debt(espl_world *world, uint32_t tree, size_t *budget)
{
    const espl__tree *const t = &world->forest.trees[tree];
    const bool is_first = *budget == world->layout_budget;

    if (!espl__tree_is_due(t)) {
        return true;
    }
    if (t->live > *budget && !is_first) {
        return false;
    }
    *budget -= t->live < *budget ? t->live : *budget;
    return espl__tree_compact(&world->forest, tree, espl__entity_record_slot, &world->store);
}

// Trees in the list have roots without their roles or ranges, or a layout debt that is due. One leaves the
// list once it is settled; where memory or the budget runs out it stays for the next call.
void espl__settle(espl_world *world)
{
    espl__forest *const forest = &world->forest;
    size_t budget = world->layout_budget;

    espl__sort_unsettled(forest);
    for (uint32_t tree = forest->unsettled, next = tree; tree != ESPL__NO_TREE; tree = next) {
        next = forest->trees[tree].next;
        const bool is_settled_now = espl__settle_roots(world, tree);

        // Its header is gone if no tree stayed in the range.
        if (is_settled_now && (forest->trees[tree].flags & ESPL__TREE_UNSETTLED) != 0 &&
            pay_debt(world, tree, &budget)) {
            espl__tree_unmark_unsettled(forest, tree);
        }
    }
    if (espl__forest_wants_pack(forest)) {
        (void)espl__forest_pack(forest, false, espl__entity_record_slot, &world->store);
    }
}

// --- Destroy ---

static void bury(void *context, uint32_t entity)
{
    espl__entities_remove(context, &entity, 1);
}

void espl__destroy_begin(espl_world *world, espl__edit *edit)
{
    espl__edit_init(edit, &world->forest);
    espl__edit_begin(edit);
    edit->bury = bury;
    edit->bury_context = &world->store;
    espl__heap_forbid(&world->heap);
}

espl_status espl__destroy_end(espl_world *world, const espl__edit *edit)
{
    espl__rows_settle(&world->store);
    espl__heap_allow(&world->heap);
    espl__counts_add(&world->forest.context.counts, &edit->context.counts);
    espl__settle(world);
    return edit->context.counts.overflowed != 0 ? ESPL_OVERFLOW : ESPL_OK;
}

// @return ESPL_OK, ESPL_OVERFLOW.
static espl_status destroy_at(espl_world *world, uint32_t slot, espl_extent extent)
{
    espl__edit edit;

    espl__destroy_begin(world, &edit);
    (void)espl__edit_destroy(&edit, slot, extent);
    return espl__destroy_end(world, &edit);
}

espl_status espl_destroy(espl_world *world, espl_entity entity, espl_extent extent)
{
    uint32_t slot = 0;

    ESPL__CHANGE_OR_RETURN(world, "espl_destroy")
    espl_status status = espl__check_structural(world);

    status = status != ESPL_OK ? status : espl__find_slot(world, entity, &slot);
    if (status == ESPL_OK && (unsigned)extent > ESPL_EXTENT_SUBTREE) {
        status = ESPL_ERR_ARGUMENT;
    }
    if (status != ESPL_OK) {
        return espl__refuse_why(world, "espl_destroy", entity, status,
                                "extent is none of espl_extent.");
    }
    if (espl__may_tape(world)) {
        espl__tape_word(world, ESPL_TAPE_DESTROY, entity, (uint32_t)extent);
    }
    return espl__tape_end(world, destroy_at(world, slot, extent));
}
