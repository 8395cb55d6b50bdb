// SPDX-License-Identifier: MIT
// Writes inside an edit. Writes of locals of one tree that follow each other are a run: their locals are
// stored at once, in order, and the worlds follow at its end. A run of many writes recomputes the slots from
// the lowest one on in one pass, as a batch does; a run of few recomputes the worlds of its nodes and leaves
// those below to the end of the edit. Any other write is carried out by itself. The statuses, and the worlds
// at the end of the edit, are those of the same writes one by one, because a write of a local reads no
// world.
#include "lib/tree/edit_nodes.h"
#include "lib/tree/edit_steps.h"
#include "lib/tree/cell_writes.h"
#include "lib/tree/edit_cells.h"
#include "lib/tree/flagged_writes.h"
#include "lib/tree/writes.h"

// Tell whether a world that a pass over the tree of a run recomputes is not finite. The worlds tell, because
// the note of the forest may be set where none is: how nodes are recomputed decides the layout debt, and the
// debt depends only on what the world holds.
static ESPL__APART bool has_infinite_world(const espl__forest *forest, const espl__local_run *run)
{
    const espl__tree *const t = &forest->trees[run->tree];
    bool is_found = false;

    for (uint32_t slot = run->lowest; slot < t->base + t->used && !is_found; ++slot) {
        is_found = forest->links[slot].entity != ESPL__NO_ENTITY &&
                   !espl__pose_is_finite(&forest->world[slot]);
    }
    return is_found;
}

// Tell whether the worlds of the tree of a run are recomputed from the lowest changed slot on: the writes are
// so many that each pays for its part of the pass, and all nodes of the tree are in its range. Not where one
// of these worlds was not finite before: the pass may recompute it, though no write changes it.
static bool is_swept(const espl__edit *edit, const espl__local_run *run, size_t count)
{
    enum { PART = 4 };
    const espl__forest *const forest = edit->forest;
    const espl__tree *const t = &forest->trees[run->tree];

    return count > 1 && count > (t->base + t->used - run->lowest) / PART &&
           espl__array_length(edit->moved) == edit->moved_from && espl__tree_is_single(forest, t) &&
           !(espl__may_be_overflowed(forest, &edit->context) && has_infinite_world(forest, run));
}

// Recompute the world of a node whose local changed. With a stale ancestor it is recomputed later in any
// case. The parent is made stale then, because only a stale ancestor recomputes the world of the node itself.
static void place_written(espl__edit *edit, uint32_t slot)
{
    espl__forest *const forest = edit->forest;

    if (espl__edit_is_below_stale(edit, slot)) {
        ESPL_CHECK(!espl__is_root(forest, slot));
        espl__edit_mark_stale(edit, forest->parent[slot]);
    } else if (espl__propagate_node(forest, &edit->context, slot)) {
        espl__edit_mark_stale(edit, slot);
    }
}

void espl__edit_close_run(espl__edit *edit)
{
    const espl__local_run run = edit->run;
    const size_t count = espl__array_length(edit->locals) - run.from;

    ESPL_CHECK(run.tree != ESPL__NO_TREE && run.from <= espl__array_length(edit->locals));
    edit->run.tree = ESPL__NO_TREE;
    if (is_swept(edit, &run, count)) {
        espl__tree_follow(edit->forest, &edit->context, run.tree, run.lowest);
        return;
    }
    for (size_t i = 0; i < count; ++i) {
        place_written(edit, edit->locals[run.from + i].slot);
    }
}

// Begin a run in the tree of a slot. @return false: no memory.
static bool begin_run(espl__edit *edit, uint32_t slot)
{
    const size_t from = espl__array_length(edit->locals);

    espl__edit_end_run(edit);
    if (!espl__edit_log(edit, (espl__undo){.kind = ESPL__UNDO_RUN,
                                           .slot = slot,
                                           .a = (uint32_t)from,
                                           .b = espl__tree_of(edit->forest, slot)->debt})) {
        return false;
    }
    edit->run = (espl__local_run){edit->forest->tree[slot], slot, from};
    return true;
}

// Make sure that the list of pasts has room for each local that the list of locals has room for, because
// the fast path looks at that alone. @return false: no memory.
static bool reserve_run_pasts(espl__edit *edit)
{
    const size_t count = espl__array_length(edit->run_pasts);
    const size_t wanted = espl__array_capacity(edit->locals);

    return !espl__edit_saves_past(edit) || wanted <= count ||
           ESPL__EDIT_RESERVE(edit, run_pasts, wanted - count);
}

// Mark a local that a run stored, after the past was appended that the mark changes: outside a tick alone.
static ESPL__APART void mark_in_run(espl__edit *edit, uint32_t slot)
{
    if (espl__edit_saves_past(edit)) {
        ESPL_CHECK(espl__array_length(edit->run_pasts) + 1 == espl__array_length(edit->locals));
        ESPL_ARRAY_PUSH(edit->run_pasts, espl__past_read(edit->forest, slot));
    }
    espl__mark_written(edit->forest, slot);
}

// Store a local, after the old one was appended to the run. Precondition: the list has room.
ESPL__INLINE void store_in_run(espl__edit *edit, uint32_t slot, espl__wide_pose local)
{
    espl_pose *const old = &edit->forest->local[slot];

    ESPL_ARRAY_PUSH(edit->locals, (espl__saved_local){slot, *old});
    edit->run.lowest = slot < edit->run.lowest ? slot : edit->run.lowest;
    espl__wide_store(old, local);
    if (espl__forest_is_tracked(edit->forest)) {
        mark_in_run(edit, slot);
    }
}

// Carry out a write of the local of a node without inherit flags. It reads no world. With a stale
// ancestor the world of the node is recomputed later, so that refreshing it now would be wasted.
static espl_status write_local(espl__edit *edit, uint32_t slot, espl_write_kind kind,
                               const espl_write_value *value)
{
    espl__forest *const forest = edit->forest;
    const bool is_stale = espl__edit_is_below_stale(edit, slot);
    const espl_pose before = forest->local[slot];
    espl__placement placement = espl__slot_placement(forest, slot);
    espl_pose world = forest->world[slot];
    const espl_status status = espl__placement_write_local(&placement, kind, value);

    if (status < 0) {
        return status;
    }
    if (!is_stale) {
        espl__wide_store(&world, espl__world_below(forest, forest->parent[slot],
                                                   espl__wide_load(&placement.local)));
    }
    if (!espl__edit_put(edit, slot, &placement, &world, NULL)) {
        return ESPL_ERR_NO_MEMORY;
    }
    // The stored world does not belong to the new local. The parent is made stale, because only a
    // stale ancestor recomputes the world of the node itself.
    if (is_stale && !espl__pose_is_same(&placement.local, &before)) {
        ESPL_CHECK(!espl__is_root(forest, slot));
        espl__edit_mark_stale(edit, forest->parent[slot]);
    }
    return status;
}

// Carry out a write that is in no run.
static espl_status write_alone(espl__edit *edit, uint32_t slot, espl_write_kind kind,
                               const espl_write_value *value)
{
    espl__node_change c;

    if (espl__write_is_local(kind) && !espl__slot_is(edit->forest, slot, ESPL__SLOT_KEEPS)) {
        return write_local(edit, slot, kind, value);
    }
    espl__edit_read(edit, slot, &c);
    return espl__edit_commit(edit, &c, NULL,
                             espl__placement_write(&c.placement, &c.world, c.up, kind, value));
}

// Carry out a write of a cell or of an absolute position.
static espl_status write_far_in_edit(espl__edit *edit, uint32_t slot, espl_write_kind kind,
                                     const espl_write_value *value)
{
    espl_write_value position;

    if (espl__slot_is(edit->forest, slot, ESPL__SLOT_KEEPS) &&
        espl__slot_copies(edit->forest, slot)) {
        return ESPL_ERR_COPIES_PARENT;
    }
    const espl_status status = espl__edit_write_cell(edit, slot, kind, value, &position);

    if (status < 0 || kind == ESPL_WRITE_CELL) {
        return status;
    }
    const espl_status written = write_alone(edit, slot, ESPL_WRITE_WORLD_POSITION, &position);

    return written == ESPL_OK ? status : written;
}

// Carry out a write that is not ordinary. The previous pose is appended to the undo log first, because the
// ordinary write may leave the placement as it is.
static espl_status write_flagged_in_edit(espl__edit *edit, uint32_t slot, espl_write_kind kind,
                                         const espl_write_value *value)
{
    espl__flagged_write flagged;

    if (espl__write_is_of_cell(kind)) {
        return write_far_in_edit(edit, slot, kind, value);
    }
    if (espl__forest_has_motion(edit->forest) && !espl__edit_save(edit, slot)) {
        return ESPL_ERR_NO_MEMORY;
    }
    if (espl__write_is_of_previous(kind)) {
        // The parent may copy a stretch that follows from an earlier write.
        espl__edit_refresh(edit, slot);
        return espl__previous_write(edit->forest, slot, kind, value);
    }
    espl__flagged_write_begin(&flagged, edit->forest, slot, kind);
    const espl_status status = write_alone(edit, slot, espl__write_base(kind), value);

    espl__flagged_write_end(&flagged, status);
    return status;
}

// Add a write to the run of its tree, or carry it out by itself.
static ESPL__APART espl_status write_other(espl__edit *edit, uint32_t slot, espl_write_kind kind,
                                           const espl_write_value *value)
{
    const espl__forest *const forest = edit->forest;
    espl_pose local = forest->local[slot];

    if (!espl__write_is_ordinary(kind)) {
        espl__edit_end_run(edit);
        return write_flagged_in_edit(edit, slot, kind, value);
    }
    if (!espl__write_is_local(kind) || !espl__slot_is_plain(forest, slot, kind) ||
        espl__write_wants_side(kind, value)) {
        espl__edit_end_run(edit);
        return write_alone(edit, slot, kind, value);
    }
    const espl_status status = espl__local_write(&local, kind, value);

    if (status < 0 || espl__pose_is_same(&local, &forest->local[slot])) {
        return status;
    }
    if ((forest->tree[slot] != edit->run.tree && !begin_run(edit, slot)) ||
        !ESPL__EDIT_RESERVE(edit, locals, 1) || !reserve_run_pasts(edit)) {
        return ESPL_ERR_NO_MEMORY;
    }
    store_in_run(edit, slot, espl__wide_load(&local));
    return status;
}

// Fast path: a usual value for a node of the tree of the run. It calls nothing, so that it saves no
// registers.
espl_status espl__edit_write_in_run(espl__edit *edit, uint32_t slot, espl_write_kind kind,
                                    const espl_write_value *value)
{
    const espl__forest *const forest = edit->forest;

    if (forest->tree[slot] != edit->run.tree || !espl__write_is_usual(forest, slot, kind, value) ||
        !espl__array_has_room(edit->locals, 1)) {
        return write_other(edit, slot, kind, value);
    }
    const espl__wide_pose local = espl__wide_from(value);

    if (!espl__wide_is_same(espl__wide_load(&forest->local[slot]), local)) {
        store_in_run(edit, slot, local);
    }
    return ESPL_OK;
}

espl_status espl__edit_write(espl__edit *edit, uint32_t slot, espl_write_kind kind,
                             const espl_write_value *value)
{
    const espl_status status = espl__edit_write_in_run(edit, slot, kind, value);

    espl__edit_end_run(edit);
    return status;
}
