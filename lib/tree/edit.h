// SPDX-License-Identifier: MIT
// Edits: changes of links and placements, in place on the trees. Immediate calls and playback use
// the same functions. Each change appends its inverse to the undo log of the edit, so that
// espl__edit_undo() restores every bit until espl__edit_relocate() moves nodes to their final
// slots.
//
// Invariants between two calls of an edit:
//
// - Links, locals and side arrays are those after the changes so far.
// - A node may be in another range than its parent, or below its parent's slot. The topmost node of
//   such a subtree has ESPL__SLOT_MOVED. The subtree moves when the edit is relocated.
// - Worlds below a node with ESPL__SLOT_STALE may be out of date: the world of each other node is that
//   which follows from its parent's. So the world of a node is up to date unless an ancestor is stale. A
//   stale node may have children whose worlds are up to date. Each function that reads a world brings it
//   up to date first.
// - A dead node keeps its slot, with ESPL__NO_ENTITY, until the relocation.
//
//     espl__edit_begin(&edit)
//     espl__edit_attach(&edit, ...), espl__edit_destroy(&edit, ...), ...   in command order
//     espl__edit_survey(&edit)            which subtrees move to which trees; may fail
//     espl__relocations_reserve(...)      memory for it; may fail
//     espl__edit_undo(&edit)     or       espl__edit_relocate(&edit), espl__relocations_finish(...)
//
// Several edits may run concurrently on different trees. Each has its own lists.
//
// This file has the state of an edit. edit_links.h and edit_nodes.h have the changes,
// relocation_survey.h the survey, relocation.h the relocation.
#ifndef ESPALIER_LIB_TREE_EDIT_H
#define ESPALIER_LIB_TREE_EDIT_H

#include "lib/base/array.h"
#include "lib/tree/motion.h"
#include "lib/tree/propagate.h"

/// What an entry of the undo log restores.
typedef enum espl__undo_kind {
    ESPL__UNDO_LINK,     ///< parent `a`, next sibling `b`, and ESPL__SLOT_FREE_LINK
    ESPL__UNDO_PLACE,    ///< placement, world and past: number `a` in `saved`
    ESPL__UNDO_DEATH,    ///< entities of `b` dead nodes, from number `a` in `removed` on
    ESPL__UNDO_MAKE,     ///< frees `b` new nodes, from number `a` in `made` on; `slot` is the first
    ESPL__UNDO_BARE,     ///< flag ESPL__SLOT_BARE; `a`: it was shown as a new node
    ESPL__UNDO_SIDE,     ///< the tree of the slot had fewer side arrays
    ESPL__UNDO_CELL,     ///< the cell of a root: number `a` in `cells`
    ESPL__UNDO_SHOWN,    ///< it was shown at a shown world
    ESPL__UNDO_SHOWN_AT, ///< the shown position: its bits are number `a` in `cells`
    ESPL__UNDO_RUN,      ///< locals of a run, from number `a` in `locals` on; layout debt `b`
} espl__undo_kind;

/// An entry of the undo log.
typedef struct espl__undo {
    uint8_t kind, flags; // espl__undo_kind; flags of the slot before the change
    uint8_t was_in_order, parent_was_in_order; // trees of the slot and of its new parent
    uint32_t slot, a, b;
} espl__undo;

_Static_assert(sizeof(espl__undo) == 16, "undo: four words");

/// A placement and its world before a change.
typedef struct espl__saved {
    espl__placement placement;
    espl_pose world;
} espl__saved;

/// A local before a write of a run.
typedef struct espl__saved_local {
    uint32_t slot;
    espl_pose local;
} espl__saved_local;

/// A run: writes of locals of one tree that follow each other. Their locals are stored, and the worlds
/// follow at its end: see espl__edit_end_run().
typedef struct espl__local_run {
    uint32_t tree;   // ESPL__NO_TREE: there is none
    uint32_t lowest; // of the slots that changed
    size_t from;     // number of its first entry in `locals`
} espl__local_run;

/// Origin of the slot of a new node, from which its undo restores the list of holes: an unused
/// slot, the nursery, or else a hole. For a hole it is the one before it in the list, or
/// ESPL__NO_SLOT for the first.
#define ESPL__FROM_TAIL (ESPL__NO_SLOT - 1)
#define ESPL__FROM_NURSERY (ESPL__NO_SLOT - 2)

/// A new node. The layer above has data of it under the same number.
typedef struct espl__made {
    uint32_t slot;
    uint32_t from;     // ESPL__FROM_TAIL, ESPL__FROM_NURSERY, or the hole before it
    uint32_t source;   // entity of the copied node, or ESPL__NO_ENTITY: no copy
    uint32_t original; // number of the copied node where this edit made it, or ESPL__NO_ENTITY
} espl__made;

/// A relocation: a tree that gets another range, another first slot, or first side arrays. There are
/// four kinds.
///
/// - A new tree (is_new): a root moves to a range of its own, or is adopted where it is.
/// - A growth (capacity not 0): `tree` is laid out in a longer range, with all that arrives.
/// - A new root of a range (is_head): the root alone moves to the first slot, and its descendants stay.
/// - Side arrays alone (capacity 0): arriving nodes need them.
///
/// Subtrees that arrive in a tree that does not grow have none: their tops are those nodes of
/// edit->moved that have ESPL__SLOT_MOVED after the survey.
typedef struct espl__relocation {
    uint32_t root;  // slot of the root
    uint32_t tree;  // header; espl__relocations_reserve() takes it for a new tree
    uint32_t count; // nodes of a new tree
    bool is_new;    // the tree has no header yet
    bool is_head;   // the root moves to the first slot of the range, which others have left by then
    bool is_adopted; // slots of the nursery from the root on become the range of the new tree
    bool needs_side, needs_kept; // some node has an entry in side arrays; has inherit flags
    espl__side *side;            // made by the reserve; NULL: not needed
    // The header in the new range. The survey writes `capacity`, the reserve `base`, and the relocation
    // the rest.
    espl__tree range;
} espl__relocation;

/// A root in a range that has several, or is to have another one: the walk over its descendants is at
/// node `at`.
typedef struct espl__part_root {
    uint32_t tree, root, at;
} espl__part_root;

/// A node of a template. Numbers are those of the entries in the template.
typedef struct espl__template_node {
    uint32_t slot;
    uint32_t parent;           // number of its parent, below its own; of the first: 0
    uint32_t source, original; // of a copy: see espl__made
} espl__template_node;

/// The owned closure of a source node as an array, breadth-first. A clone is a copy of it. Or nodes that copy
/// none: their slots and entities are none, and all but the first one have a transform, the default extra and no
/// inherit flags.
typedef struct espl__template {
    uint32_t count;
    const espl__template_node *nodes; // [count]
    const espl_pose *locals;          // NULL, or [count] of nodes that copy none
    bool has_side;                    // some node may have an entry in side arrays
    bool has_bare;                    // some node has no transform
} espl__template;

/// The state of an edit. Each node with ESPL__SLOT_STALE or ESPL__SLOT_MOVED is in the list of that
/// name.
typedef struct espl__edit {
    espl__forest *forest;
    espl_status status; // ESPL_ERR_NO_MEMORY once a list could not grow: the edit must be undone
    // The edit has neither an undo log nor lists, because the caller knows that it needs no memory: worlds
    // are recomputed at once, and nodes are not marked as moved.
    bool is_unlogged;
    // Of an unlogged edit: called for each destroyed entity. Slots of the dead are freed at once, and trees
    // with work left are marked unsettled.
    void (*destroyed)(void *context, uint32_t entity);
    void *destroyed_context;
    // Slots [nursery, nursery_end) are for new nodes of the current group, which began with
    // nursery_begin.
    uint32_t nursery, nursery_end;
    uint32_t nursery_begin;
    uint32_t nursery_root;  // where the slots of the last root begin, or nursery_begin
    uint32_t nursery_spare; // of the slots: for no node, but for the room of new trees
    // Lengths of the lists when the current group began.
    size_t stale_from, moved_from, made_from, removed_from;
    uint32_t fresh;        // a node of the group whose world is up to date, or ESPL__NO_SLOT
    uint32_t lowest;       // lowest slot that the group marked with ESPL__SLOT_STALE
    espl__local_run run;   // the writes so far that no other edit follows
    bool is_lossy;         // the last change gave a node that it does not name another world
    bool lays_out;         // no part of a tree keeps its range
    bool has_side;         // it made a node in a tree with side arrays, or added side arrays
    espl__context context; // counts; `has_overflowed`: a world that it computed was not finite
    // After the relocation: the world of a changed node, or of one that follows it, is not finite.
    bool ends_overflowed;
    size_t arriving; // nodes that the survey found to get other slots of an existing tree
    // stb arrays. Their memory is reused by the next edit.
    espl__undo *log;
    espl__saved *saved;
    espl__saved_local *locals;
    espl__cell *cells;     // that were replaced, where the world has cells
    espl__past *pasts;     // as many as `saved`, where motion runs
    espl__past *run_pasts; // as many as `locals`, where motion runs outside a tick
    uint32_t *moved;       // slots that got ESPL__SLOT_MOVED; after the relocation: see list_left()
    uint32_t *stale;       // slots that got ESPL__SLOT_STALE
    uint32_t *path;        // scratch of espl__edit_refresh()
    uint32_t *touched;     // slots whose roles may have changed; with repeats and dead ones
    espl__removed *removed;
    espl__made *made;
    espl__relocation *relocations;       // found by the survey
    espl__part_root *part_roots;         // scratch of the survey
    espl__template_node *template_nodes; // of espl__edit_find_template()
} espl__edit;

/// Set up an edit of a forest, and begin it. Takes no memory.
void espl__edit_init(espl__edit *edit, espl__forest *forest);
/// Begin the next edit: empty all lists and keep their memory.
void espl__edit_begin(espl__edit *edit);
/// Free the lists.
void espl__edit_free(espl__edit *edit);
/// Return the bytes of the lists. @param used  out: bytes of their items.
size_t espl__edit_bytes(espl__edit *edit, size_t *used);
/// Give the current group its slots for new nodes.
/// @param nursery, nursery_end  slots for the new nodes of the group.
/// @param spare                 of these: for the room of new trees, beside those of all nodes.
static inline void espl__edit_begin_nursery(espl__edit *edit, uint32_t nursery,
                                            uint32_t nursery_end, uint32_t spare)
{
    ESPL_CHECK(nursery <= nursery_end && spare <= nursery_end - nursery &&
               edit->run.tree == ESPL__NO_TREE);
    edit->nursery = edit->nursery_begin = edit->nursery_root = nursery;
    edit->nursery_end = nursery_end;
    edit->nursery_spare = spare;
}
/// Begin the commands of a group of trees that no other group of any edit changes. Entries of
/// earlier groups stay in the lists, because one undo and one relocation process all groups.
/// @param nursery, nursery_end, spare  see espl__edit_begin_nursery().
static inline void espl__edit_begin_group(espl__edit *edit, uint32_t nursery, uint32_t nursery_end,
                                          uint32_t spare)
{
    espl__edit_begin_nursery(edit, nursery, nursery_end, spare);
    edit->fresh = ESPL__NO_SLOT;
    edit->lowest = UINT32_MAX;
    edit->stale_from = espl__array_length(edit->stale);
    edit->moved_from = espl__array_length(edit->moved);
    edit->made_from = espl__array_length(edit->made);
    edit->removed_from = espl__array_length(edit->removed);
}

/// Undo all changes since espl__edit_begin(): links, slots, placements and worlds are restored bit
/// for bit. Needs no memory. Precondition: espl__edit_relocate() was not called.
void espl__edit_undo(espl__edit *edit);

#endif
