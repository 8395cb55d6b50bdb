// SPDX-License-Identifier: MIT
// The columns of a forest: arrays by slot, with an element for each node. ESPL__COLUMNS lists all of
// them. The fields of espl__forest, the memory of the pool (pool.c) and the functions below follow
// from the list, so a column is added by one line: its elements are allocated, move with their nodes
// in a layout, a relocation and a compaction, and get a value in new nodes and clones.
//
// An undo moves no element. Nodes move only once an edit cannot fail any more, and a node that dies
// in an edit keeps its slot until then. A change of a column inside an edit must log what it
// overwrites, as espl__edit_save() does for placements and worlds.
#ifndef ESPALIER_LIB_TREE_COLUMNS_H
#define ESPALIER_LIB_TREE_COLUMNS_H

#include "lib/base/prefetch.h"
#include "lib/base/trap.h"
#include "lib/math/pose.h"

#define ESPL__NO_SLOT UINT32_MAX

/// Links of one node: 16 bytes, so that a node's links are in one cache line. A hole has
/// ESPL__NO_ENTITY, and `next` is the next hole of its tree.
typedef struct espl__links {
    uint32_t first_child; // ESPL__NO_SLOT for a leaf
    uint32_t next;        // next sibling, or ESPL__NO_SLOT
    uint32_t previous;    // previous sibling; of a first child: the last child of its parent
    uint32_t entity;      // index; ESPL__MADE | number; ESPL__NO_ENTITY for a hole or a dead node
} espl__links;

_Static_assert(sizeof(espl__links) == 16, "links: four words");

// COLUMN(access, type, name, role, initial) for each column, in the order of the arrays in memory. The
// fields of espl__forest that are `const` are stored by one header alone, through espl__forest.columns:
// worlds by worlds.h. `initial` is the value of a new node. The role says when a column gets its values:
//
// STRUCTURE  The code that links, moves and frees nodes writes them.
// POSE       They move with their node. The code that makes a node computes them; a solo node gets
//            `initial`.
// COPIED     They move with their node. A clone gets the value of the node that it copies, and any
//            other new node gets `initial`.
// FRESH      They move with their node. Each new node, a clone as well, gets `initial`.
//
// Fields that are used together share an array. parent: slot; ESPL__NO_SLOT for a root; of a hole: base
// of its range. tree: ESPL__NO_TREE at both ends of a free range. links: of a free range first_child of
// both ends is its length, and next and previous of the first slot are its neighbours in the list of
// its size class.
#define ESPL__COLUMNS(COLUMN)                                    \
    COLUMN(, espl_pose, local, POSE, espl__pose_identity())      \
    COLUMN(const, espl_pose, world, POSE, espl__pose_identity()) \
    COLUMN(, uint32_t, parent, STRUCTURE, ESPL__NO_SLOT)         \
    COLUMN(, uint32_t, tree, STRUCTURE, 0)                       \
    COLUMN(, espl__links, links, STRUCTURE, 0)                   \
    COLUMN(, uint8_t, flags, STRUCTURE, 0)                       \
    ESPL__TEST_COLUMNS(COLUMN)

/// Value of the test columns in a slot without a node, and the lineage of a node that copies none.
#define ESPL__NO_PROBE UINT32_C(0)
#define ESPL__FIRST_LINEAGE UINT32_C(0x5a5aa5a5)

// The columns of builds with all checks: one that espl_validate() compares with the entity of the node,
// and one that clones copy. They find a place that moves or clones nodes without their columns.
#if ESPL_CHECKS >= 2
#define ESPL__TEST_COLUMNS(COLUMN)                   \
    COLUMN(, uint32_t, probe, FRESH, ESPL__NO_PROBE) \
    COLUMN(, uint32_t, lineage, COPIED, ESPL__FIRST_LINEAGE)
#else
#define ESPL__TEST_COLUMNS(COLUMN)
#endif

// --- The arrays ---

#define ESPL__COLUMN_FIELD(access, type, name, role, initial) access type *name;
#define ESPL__COLUMN_ARRAY(access, type, name, role, initial) type *name;

/// The addresses of all columns.
typedef struct espl__columns {
    ESPL__COLUMNS(ESPL__COLUMN_ARRAY)
} espl__columns;

// --- Elements of one slot ---

// The functions are inline, so that the addresses of columns that a loop has in a local stay in
// registers.

#define ESPL__MOVE_STRUCTURE(name)
#define ESPL__MOVE_POSE(name) to->name[slot] = from->name[old];
#define ESPL__MOVE_COPIED(name) ESPL__MOVE_POSE(name)
#define ESPL__MOVE_FRESH(name) ESPL__MOVE_POSE(name)
#define ESPL__COLUMN_MOVE(access, type, name, role, initial) ESPL__MOVE_##role(name)

/// Copy the elements of a node that moves to another slot, perhaps of another forest. The caller
/// writes those of STRUCTURE.
ESPL__INLINE void espl__columns_move(const espl__columns *to, uint32_t slot,
                                     const espl__columns *from, uint32_t old)
{
    ESPL__COLUMNS(ESPL__COLUMN_MOVE)
}

#define ESPL__PREFETCH_STRUCTURE(name)
#define ESPL__PREFETCH_POSE(name) espl__prefetch(&from->name[slot]);
#define ESPL__PREFETCH_COPIED(name) ESPL__PREFETCH_POSE(name)
#define ESPL__PREFETCH_FRESH(name) ESPL__PREFETCH_POSE(name)
#define ESPL__COLUMN_PREFETCH(access, type, name, role, initial) ESPL__PREFETCH_##role(name)

/// Prefetch what espl__columns_move() reads.
ESPL__INLINE void espl__columns_prefetch(const espl__columns *from, uint32_t slot)
{
    ESPL__COLUMNS(ESPL__COLUMN_PREFETCH)
}

#define ESPL__MAKE_STRUCTURE(name, initial)
#define ESPL__MAKE_POSE(name, initial) columns->name[slot] = initial;
#define ESPL__MAKE_COPIED(name, initial) ESPL__MAKE_POSE(name, initial)
#define ESPL__MAKE_FRESH(name, initial) ESPL__MAKE_POSE(name, initial)
#define ESPL__COLUMN_MAKE(access, type, name, role, initial) ESPL__MAKE_##role(name, initial)

/// Write the initial elements of a solo node.
ESPL__INLINE void espl__columns_make(const espl__columns *columns, uint32_t slot)
{
    ESPL__COLUMNS(ESPL__COLUMN_MAKE)
}

#define ESPL__CLONE_STRUCTURE(name, initial)
#define ESPL__CLONE_POSE(name, initial)
#define ESPL__CLONE_COPIED(name, initial)              \
    if (original != ESPL__NO_SLOT) {                   \
        columns->name[slot] = columns->name[original]; \
    } else {                                           \
        columns->name[slot] = initial;                 \
    }
#define ESPL__CLONE_FRESH(name, initial) columns->name[slot] = initial;
#define ESPL__COLUMN_CLONE(access, type, name, role, initial) ESPL__CLONE_##role(name, initial)

/// Write the elements of a node that is made in a playback. The caller computes those of POSE.
/// @param original  slot of the node that it copies, or ESPL__NO_SLOT.
ESPL__INLINE void espl__columns_clone(const espl__columns *columns, uint32_t slot,
                                      uint32_t original)
{
    (void)columns;
    (void)slot;
    (void)original;
    ESPL__COLUMNS(ESPL__COLUMN_CLONE)
}

// --- Test columns ---

#if ESPL_CHECKS >= 2

/// Compute the probe of a node from its entity.
static inline uint32_t espl__probe_of(uint32_t entity)
{
    const uint32_t half = (entity * UINT32_C(0x9e3779b1)) >> 16;

    // The halves are complements, so that the bytes of a slot that no node has are no probe.
    return half << 16 | (~half & UINT32_C(0xffff));
}

/// Tell whether a number is the probe of some entity.
static inline bool espl__is_probe(uint32_t probe)
{
    return ((probe >> 16) ^ (probe & UINT32_C(0xffff))) == UINT32_C(0xffff);
}

#endif

/// Write the test column of a node that gets its entity.
static inline void espl__probe_node(const espl__columns *columns, uint32_t slot, uint32_t entity)
{
#if ESPL_CHECKS >= 2
    columns->probe[slot] = espl__probe_of(entity);
#else
    (void)columns;
    (void)slot;
    (void)entity;
#endif
}

/// Clear the test columns of a slot that loses its node, so that they are not taken for those of the
/// next one.
static inline void espl__probe_clear(const espl__columns *columns, uint32_t slot)
{
#if ESPL_CHECKS >= 2
    columns->probe[slot] = columns->lineage[slot] = ESPL__NO_PROBE;
#else
    (void)columns;
    (void)slot;
#endif
}

/// Tell whether the test columns of a slot are those of the node of an entity.
static inline bool espl__probe_is_sound(const espl__columns *columns, uint32_t slot,
                                        uint32_t entity)
{
#if ESPL_CHECKS >= 2
    return columns->probe[slot] == espl__probe_of(entity) && espl__is_probe(columns->lineage[slot]);
#else
    (void)columns;
    (void)slot;
    (void)entity;
    return true;
#endif
}

#endif
