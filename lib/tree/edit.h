// SPDX-License-Identifier: MIT
// Edits: changes of links and placements, carried out at once on the trees themselves. Immediate calls
// and playback use the same functions. What an edit changed can be taken back by its undo log, until
// espl__edit_place() moves nodes to their final slots.
//
// Inside an edit a node may be in another range than its parent (ESPL__SLOT_MOVED), and worlds below a
// changed node may be out of date (ESPL__SLOT_STALE); each function that reads a world brings it up to
// date first. Dead nodes keep their slots, with ESPL__NO_ENTITY, until espl__edit_place().
//
//     espl__edit_begin(&edit, ...)
//     espl__edit_attach(&edit, ...), espl__edit_destroy(&edit, ...), ...   in command order
//     espl__edit_survey(&edit)         what has to move where; may fail
//     espl__places_reserve(...)        all memory for it; may fail
//     espl__edit_undo(&edit)   or      espl__edit_place(&edit), espl__places_finish(...)
//
// Several edits may run at once on different trees. Each grows its own lists.
#ifndef ESPALIER_LIB_TREE_EDIT_H
#define ESPALIER_LIB_TREE_EDIT_H

#include "lib/base/array.h"
#include "lib/tree/propagate.h"

/// What an undo log entry restores.
typedef enum espl__undo_kind {
    ESPL__UNDO_LINK,  ///< links: parent `a`, next sibling `b`, free link or not
    ESPL__UNDO_PLACE, ///< placement and world: number `a` of the saved ones
    ESPL__UNDO_DEATH, ///< entities of `b` removed nodes, from number `a` on
    ESPL__UNDO_MAKE,  ///< `b` nodes were made, from number `a` on; `slot` is the first
    ESPL__UNDO_BARE,  ///< flag ESPL__SLOT_BARE
    ESPL__UNDO_SIDE,  ///< side arrays were made for the tree of the slot
} espl__undo_kind;

/// One edit to take back: 16 bytes.
typedef struct espl__undo {
    uint8_t kind, flags; // flags of the slot before
    uint8_t was_in_order, parent_was_in_order; // of the trees of the slot and of its new parent
    uint32_t slot, a, b;
} espl__undo;

/// A placement before it was changed.
typedef struct espl__saved {
    espl__placement placement;
    espl_pose world;
} espl__saved;

/// An entity that died.
typedef struct espl__removed {
    uint32_t slot, entity;
} espl__removed;

/// Where the slot of a new node came from: the end of the range, the nursery, or a hole, which stood behind
/// this one in the list of holes or, for ESPL__NO_SLOT, first.
#define ESPL__FROM_TAIL (ESPL__NO_SLOT - 1)
#define ESPL__FROM_NURSERY (ESPL__NO_SLOT - 2)

/// A node that was made. The layer above keeps what it knows of it by the same number.
typedef struct espl__made {
    uint32_t slot;
    uint32_t source;   // entity of the node it is a copy of; ESPL__NO_ENTITY: made from nothing
    uint32_t original; // number of the made node it is a copy of, or ESPL__NO_ENTITY
    uint32_t from;     // ESPL__FROM_TAIL, ESPL__FROM_NURSERY, or the hole before it
} espl__made;

/// A tree or subtree that gets other slots: see espl__edit_survey().
typedef struct espl__relocation {
    uint32_t root;     // slot of the root, or of the top of a subtree that comes to a tree
    uint32_t tree;     // header; of a new tree it is taken by espl__places_reserve()
    uint32_t count;    // nodes
    uint32_t base, capacity; // of the new range; capacity 0: no new range
    uint32_t exceptional;    // nodes with ESPL__SLOT_EXCEPTIONAL, once they are in it
    bool is_new;       // a tree that had no header of its own
    bool is_adopted;   // its nodes are slots [root, root + count) of the nursery: they stay
    bool needs_side, needs_kept;
    espl__side *side;  // for the new range, or in place of none
} espl__relocation;

/// The owned closure of a source as arrays, breadth-first: what a clone is made of.
typedef struct espl__template {
    uint32_t count;
    const uint32_t *slots;   // [count]
    const uint32_t *parents; // [count] number of the parent in this array, below its own; [0]: 0
    bool has_side;           // some node of it may have something in side arrays
    bool has_bare;           // some node of it has no transform
} espl__template;

/// How a node comes to stand below a parent.
typedef struct espl__attach_rules {
    espl__stay_rules stay;
    uint8_t link; // espl_link
    uint8_t inherit;
} espl__attach_rules;

typedef struct espl__edit {
    espl__forest *forest;
    espl_status status; // ESPL_ERR_NO_MEMORY once a list could not grow: the edit has to be undone
    // NULL, or no list is grown and nothing can be taken back: dead entities are told to it, their
    // slots are freed at once, and trees that have something left to do are marked unsettled.
    void (*bury)(void *context, uint32_t entity);
    void *bury_context;
    uint32_t nursery, nursery_end; // slots for new nodes of the group at hand
    uint32_t nursery_begin;        // where they began
    size_t stale_from, moved_from, made_from; // where the group at hand begins in the lists
    uint32_t fresh;  // a node of the group whose own world is up to date, or ESPL__NO_SLOT
    uint32_t lowest; // of the slots that the group marked with ESPL__SLOT_STALE
    espl__context context;         // counts
    uint64_t overflow_events; // worlds computed that are not finite, the same node several times too
    // stb arrays, kept from one edit to the next.
    espl__undo *log;
    espl__saved *saved;
    uint32_t *moved;   // slots with ESPL__SLOT_MOVED, or that had it
    uint32_t *stale;   // slots with ESPL__SLOT_STALE, or that had it
    uint32_t *path;    // scratch of espl__edit_refresh()
    uint32_t *touched; // slots whose roles may have changed; may repeat, may be dead
    espl__removed *removed;
    espl__made *made;
    espl__relocation *places; // of the survey
    uint32_t *template_slots, *template_parents; // of espl__edit_find_template()
} espl__edit;

// --- edit.c ---

void espl__edit_init(espl__edit *edit, espl__forest *forest);
/// Empty all lists and keep their memory.
void espl__edit_begin(espl__edit *edit);
/// Give the lists back.
void espl__edit_free(espl__edit *edit);
/// Bytes that the lists take. @param used  out: bytes of their items
size_t espl__edit_bytes(espl__edit *edit, size_t *used);
/// Begin the commands of another group of trees.
void espl__edit_begin_group(espl__edit *edit, uint32_t nursery, uint32_t nursery_end);

/// Tell whether a node is the other one or below it.
bool espl__edit_is_at_or_below(const espl__edit *edit, uint32_t slot, uint32_t top);
/// Attach a node to a parent: under another one, or with other options under the one it has. The caller
/// has refused cycles. `before` is a child of the parent, or ESPL__NO_SLOT for last (under the same
/// parent: where it is).
/// @return ESPL_OK, ESPL_LOSSY; refused: ESPL_ERR_NO_TRANSFORM, ESPL_ERR_RANGE, ESPL_ERR_NO_MEMORY.
espl_status espl__edit_attach(espl__edit *edit, uint32_t child, uint32_t parent, uint32_t before,
                              const espl__attach_rules *rules);
/// Make a node a root. Statuses as espl__edit_attach().
espl_status espl__edit_detach(espl__edit *edit, uint32_t slot, espl__stay_rules stay);
/// Put a member before a sibling, or last. @return ESPL_OK, ESPL_ERR_NO_MEMORY.
espl_status espl__edit_set_sibling(espl__edit *edit, uint32_t slot, uint32_t before);
/// Destroy a node and its closure; survivors keep their worlds. @return ESPL_OK; ESPL_ERR_NO_MEMORY,
/// never with `bury`.
espl_status espl__edit_destroy(espl__edit *edit, uint32_t slot, espl_extent extent);
/// Write a placement. @return as espl__placement_write(), ESPL_ERR_NO_MEMORY.
espl_status espl__edit_write(espl__edit *edit, uint32_t slot, espl_write_kind kind,
                             const espl_write_value *value);
/// Change inherit flags. The flags are valid. @return as espl__placement_inherit(),
/// ESPL_ERR_NOT_CHILD (flags for a root), ESPL_ERR_NO_MEMORY.
espl_status espl__edit_set_inherit(espl__edit *edit, uint32_t slot, uint32_t flags);
/// Give a bare node a transform; what is below it keeps its worlds. @return ESPL_OK, ESPL_ERR_RANGE,
/// ESPL_ERR_NO_MEMORY.
espl_status espl__edit_add_transform(espl__edit *edit, uint32_t slot, const espl_transform *value);
/// Take the transform of a node away; what is below it keeps its worlds. Statuses likewise.
espl_status espl__edit_remove_transform(espl__edit *edit, uint32_t slot);

/// Where the top of a clone, or a node made from nothing, comes to stand.
typedef struct espl__new_place {
    uint32_t parent, before; // ESPL__NO_SLOT for none, last
    uint8_t link, inherit;
    bool keeps_world; // `placement` is relative to the world, not to the parent
    bool is_bare;     // no transform: the rest means nothing
    espl__placement placement;
    espl_pose world; // where keeps_world
} espl__new_place;

/// Find the owned closure of a node as it is now. Holds until the next call.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY.
espl_status espl__edit_find_template(espl__edit *edit, uint32_t slot, espl__template *out);
/// The placement that a copy of a node starts with as a root, and the node's world: its local as it is
/// read under its parent, what it shows of stretch and user data, nothing kept.
espl__placement espl__edit_source_placement(espl__edit *edit, uint32_t slot, espl_pose *world);
/// Compute where a new node comes to stand: place->placement and place->world become what it is to have
/// below the parent. @return ESPL_OK, ESPL_LOSSY, ESPL_ERR_RANGE.
espl_status espl__edit_prepare_new(espl__edit *edit, espl__new_place *place);
/// Make one copy of a template. The top gets the prepared place, the others are as they are in the
/// source. The numbers of the nodes made are consecutive, in the order of the template.
/// @param made  out: number of the first one.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY. Nothing was made then.
espl_status espl__edit_clone(espl__edit *edit, const espl__template *source,
                             const espl__new_place *place, uint32_t *made);
/// Make one node from nothing. As espl__edit_clone().
espl_status espl__edit_create(espl__edit *edit, const espl__new_place *place, uint32_t *made);

/// Take everything back, bit for bit: links, slots, placements and worlds are as they were.
void espl__edit_undo(espl__edit *edit);

// --- places.c ---

/// Find what the group at hand has to move to other slots: subtrees that came to another tree or below a parent with a
/// higher slot, new roots, and trees whose range is too short for what comes. Changes nothing that
/// espl__edit_undo() would not take back. @return ESPL_OK, ESPL_ERR_NO_MEMORY.
espl_status espl__edit_survey(espl__edit *edit);
/// Take all memory that the places of some edits need: ranges, headers, side arrays.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT: nothing changed then.
espl_status espl__places_reserve(espl__forest *forest, espl__edit *const *edits, size_t count);
/// Free the slots of the dead, propagate below stale nodes, and move all nodes to their final slots.
/// Cannot fail. Edits of different trees may be placed at the same time.
void espl__edit_place(espl__edit *edit, espl__moved_function moved, void *context);
/// Point headers to their new ranges and give back those that no tree needs any more, of all edits in
/// order. On the calling thread.
void espl__places_finish(espl__forest *forest, espl__edit *const *edits, size_t count,
                         uint32_t nursery_begin, uint32_t nursery_end);

#endif
