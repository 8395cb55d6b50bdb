// SPDX-License-Identifier: MIT
// The commands of immediate calls, and the settling of trees after every structural call.
//
// An immediate structural call applies one command (espl__apply_one()) without the stages of a
// playback, and a call for many entities is a strict playback of one command for each
// (espl__apply_strictly()). No kind of command has a second implementation.
//
// A tree is unsettled if it holds several roots, if a root does not have the component of its role,
// or if it owes a layout. espl__settle() repairs such trees. It needs memory and may fail without
// harm: a tree that finds none stays in the list for the next structural call. Reads do not depend
// on it.
#include "lib/world/structure.h"

#include "lib/commands/immediate.h"

// @param refused  out: 0 where the command is refused; else unchanged.
static espl_status apply_command(espl_world *world, const espl__lane_view *lane, size_t *refused)
{
    espl__immediate_result result;

    ESPL_CHECK(!world->is_playing);
    world->is_playing = true;
    const espl_status status = espl__immediate_apply(world->playback, lane, &result);
    world->is_playing = false;
    // A call that is refused changes nothing, so that it settles no tree either.
    if (status < 0) {
        *refused = result.is_refused ? 0 : *refused;
        return status;
    }
    (void)espl__settle(world);
    return result.has_overflowed ? ESPL_OVERFLOW : status;
}

espl_status espl__apply_lane(espl_world *world, const espl__lane_view *lane)
{
    return apply_command(world, lane, &(size_t){0});
}

espl_status espl__apply_one(espl_world *world, const espl__command *command)
{
    const espl__lane_view lane = {
        .commands = command, .count = 1, .traits = espl__command_traits(command)};

    return espl__apply_lane(world, &lane);
}

espl_status espl__apply_strictly(espl_world *world, espl__lane_view lane, size_t *refused)
{
    if (lane.count == 1) {
        return apply_command(world, &lane, refused);
    }
    const espl__play_request request = {
        .lanes = &lane, .lane_count = 1, .tag = ESPL__NO_TAG, .is_strict = true};
    espl_report report = {0};

    ESPL_CHECK(!world->is_playing && lane.pending_count == 0 && lane.results != NULL);
    world->is_playing = true;
    const espl_status status = espl__playback_run(world->playback, &request, &report);
    world->is_playing = false;
    if (status != ESPL_OK) {
        const uint32_t first = world->playback->applied.first_refused;

        *refused = first != UINT32_MAX ? first : *refused;
        ESPL_CHECK(first == UINT32_MAX || *refused < lane.count);
        return status;
    }
    (void)espl__settle(world);
    if (report.has_overflowed) {
        return ESPL_OVERFLOW;
    }
    return report.lossy != 0 ? ESPL_LOSSY : ESPL_OK;
}

// --- Settling ---

// Tell whether a tree has a single root, which has the component of its role.
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

// A tree whose roots are settled is laid out by itself; elsewhere the playback that settles them lays
// them out, so that both are done or neither.
bool espl__settle_in_order(espl_world *world, uint32_t tree)
{
    const espl__tree *const t = &world->forest.trees[tree];

    if (!is_settled(world, t)) {
        return espl__immediate_settle(world->playback, tree, true);
    }
    return (t->flags & ESPL__TREE_IN_ORDER) != 0 ||
           espl__tree_compact(&world->forest, tree, espl__entities_record_slots, &world->store);
}

// Lay out a tree whose layout debt is due, if the budget of the call allows. The first tree is laid
// out whatever its size, so that a tree larger than the budget gets its turn.
// @return whether the tree may leave the list.
static bool pay_debt(espl_world *world, uint32_t tree, size_t *budget)
{
    const espl__tree *const t = &world->forest.trees[tree];
    const bool is_first = *budget == world->layout_budget;

    ESPL_CHECK(*budget <= world->layout_budget && t->live != 0);

    if (!espl__tree_is_due(t)) {
        return true;
    }
    if (t->live > *budget && !is_first) {
        return false;
    }
    *budget -= t->live < *budget ? t->live : *budget;
    return espl__tree_compact(&world->forest, tree, espl__entities_record_slots, &world->store);
}

// Walk the list of unsettled trees in the order of their numbers, because the order in which trees
// entered it depends on workers. A tree leaves the list once it is settled; where memory or the
// budget runs out it stays for the next call.
// @return whether a tree has changed.
static bool settle_trees(espl_world *world)
{
    espl__forest *const forest = &world->forest;
    size_t budget = world->layout_budget;
    bool has_changed = false;

    espl__sort_unsettled(forest);
    espl__forest_sort_loose(forest);
    for (uint32_t tree = forest->unsettled, next = tree; tree != ESPL__NO_TREE; tree = next) {
        next = forest->trees[tree].next;
        const bool was_settled = is_settled(world, &forest->trees[tree]);

        if (!was_settled && !espl__immediate_settle(world->playback, tree, false)) {
            continue;
        }
        has_changed = has_changed || !was_settled;
        // The flags are read again, because the header may be free by now.
        if ((forest->trees[tree].flags & ESPL__TREE_UNSETTLED) != 0 &&
            pay_debt(world, tree, &budget)) {
            espl__tree_unmark_unsettled(forest, tree);
            // By its first slot, consumers find the header: perhaps nothing else of the tree has changed.
            espl__tracks_mark(&forest->tracks, ESPL__PLANE_PLACE, forest->trees[tree].base);
            has_changed = true;
        }
    }
    return has_changed;
}

bool espl__settle(espl_world *world)
{
    espl__forest *const forest = &world->forest;
    bool has_changed = false;

    ESPL_CHECK(!world->is_playing && !espl__is_parallel(world));
    if (forest->unsettled != ESPL__NO_TREE) {
        has_changed = settle_trees(world);
    }
    if (espl__forest_wants_compaction(forest)) {
        has_changed |=
            espl__forest_compact(forest, false, espl__entities_record_slots, &world->store);
    }
    return has_changed;
}
