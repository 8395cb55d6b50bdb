// SPDX-License-Identifier: MIT
// The shadow of a world: a copy of its value as it was at the last update, item by item, and a checksum of it.
//
// An item is what a slot, a header of a tree, an index, or a column of a chunk has. An update looks only at
// items that may have changed since the last one, so that it costs what changed and a pass over the blocks of
// planes and over the chunks. Which items those are:
//
// - Slots: those that the planes of own data and of places mark. The neighbours of a node in a slot whose place
//   is marked, by its links at the last update and now, because a link changes those of both sides without a
//   mark. The children of a node that came into a slot. The slots that a tree has left, which may have had
//   holes.
// - Headers: those of trees to which such slots belong or belonged, and the free headers down to
//   espl__forest.free_low.
// - Indices: those that the index plane marks, and the entities of slots that got another one.
// - Columns of chunks: those of a later version, and all of a chunk with another count. A chunk is named by its
//   archetype and its position, because its number has no effect.
//
// What follows from other items is in none: worlds, stretch and user data of nodes that copy their parent, the
// flags ESPL__SLOT_SIDE and ESPL__SLOT_EXCEPTIONAL, the slot column of chunks. Values of components with
// ESPL_COMPONENT_TRANSIENT are no part of a value.
//
// The checksum is a sum over items of what they are, read as little-endian numbers, so that all machines have
// the same one. Values of components are read by their fields and references, and other bytes of them as they
// are.
//
// All memory is taken by espl__shadow_grow(), which the world calls before it has room for as many items
// itself.
#ifndef ESPALIER_LIB_VALUE_SHADOW_H
#define ESPALIER_LIB_VALUE_SHADOW_H

#include "lib/tree/cells.h"
#include "lib/value/undo_log.h"
#include "lib/world/world_internal.h"

/// Kinds of items.
typedef enum espl__shadow_kind {
    ESPL__SHADOW_NUMBERS,
    ESPL__SHADOW_HEADS, ///< 16 heads of the lists of free ranges
    ESPL__SHADOW_SLOT,  ///< espl__shadow_slot from `links` on
    ESPL__SHADOW_LOCAL, ///< of a slot: an item of its own, because most writes change it alone
    ESPL__SHADOW_SIDE,
    ESPL__SHADOW_PAST,
    ESPL__SHADOW_TREE,
    ESPL__SHADOW_RECORD,
    ESPL__SHADOW_NAME,     ///< in the log an address, which is held
    ESPL__SHADOW_ROWS,     ///< espl__shadow_rows
    ESPL__SHADOW_COLUMN,   ///< of a chunk: the handles, or number + 1 of a column
    ESPL__SHADOW_SET,      ///< only in the checksum
    ESPL__SHADOW_ORIGINAL, ///< of the entity of an index; null: it has none
    ESPL__SHADOW_CELL,     ///< of a root
} espl__shadow_kind;

/// What a slot is.
enum {
    ESPL__SHADOW_UNUSED, ///< all bytes of its item are 0
    ESPL__SHADOW_NODE,
    ESPL__SHADOW_HOLE,
    ESPL__SHADOW_FREE_END, ///< of a free range; only its links have a meaning
};

/// The two items of a slot: a cache line.
typedef struct espl__shadow_slot {
    espl_pose local;
    espl__links links;
    uint32_t parent, tree;
    uint8_t flags; // of the slot, without those that follow from others
    uint8_t kind;
    uint16_t zero;
    uint32_t lineage; // the test column, which is in no checksum; else 0
} espl__shadow_slot;

_Static_assert(sizeof(espl__shadow_slot) == 64, "a slot is a cache line, without padding");

/// What side arrays have of a slot: zeros where the node has the default.
typedef struct espl__shadow_side {
    espl__extra extra;
    espl__kept kept;
} espl__shadow_side;

/// A header, with the counts of its side arrays. Links of unsettled trees and numbers of side arrays are left
/// out, because their order has no effect. The checksum ends before `tree.side`: which side arrays there are
/// has no effect on later results either: an array that no node needs only saves a later call its memory.
typedef struct espl__shadow_tree {
    uint32_t extra_count, kept_count;
    espl__tree tree;
    uint32_t is_prepaid, zero;
} espl__shadow_tree;

/// Bytes of a header that the checksum has.
enum { ESPL__SHADOW_TREE_HASHED = offsetof(espl__shadow_tree, tree) + offsetof(espl__tree, side) };

/// Counts of an archetype. That of the chunks is no part of the value, because it has empty ones.
typedef struct espl__shadow_rows {
    uint32_t count, chunks;
} espl__shadow_rows;

/// A chunk: handles and columns as a chunk has them.
typedef struct espl__shadow_chunk {
    unsigned char *bytes;
    bool is_touched; // used by a rewind
} espl__shadow_chunk;

typedef struct espl__shadow_archetype {
    espl__shadow_rows rows;
    uint32_t block_size;        // of each chunk
    espl__shadow_chunk *chunks; // stb array by position
    bool is_touched;            // used by a rewind
} espl__shadow_archetype;

/// Numbers of the whole world.
typedef struct espl__shadow_numbers {
    uint32_t slots, trees, free_tree, records, free_head, archetypes, pasts, is_ticking;
    uint32_t free_count, alive_count, retired_count, free_slots, least_generation;
    uint32_t
        has_overflowed; // the last one, because it depends on what was read: it is in no checksum
} espl__shadow_numbers;

enum { ESPL__SHADOW_HEADS_EACH = 16 };

/// A set of numbers that is empty between two calls: a bit for each, and a bit for each word of these, so that
/// few numbers are found in little time.
typedef struct espl__noted {
    uint64_t *words, *groups; // stb arrays
} espl__noted;

static inline void espl__noted_add(const espl__noted *noted, uint32_t number)
{
    noted->words[number / 64] |= UINT64_C(1) << number % 64;
    noted->groups[number / 4096] |= UINT64_C(1) << number / 64 % 64;
}

static inline void espl__noted_remove(const espl__noted *noted, uint32_t number)
{
    noted->words[number / 64] &= ~(UINT64_C(1) << number % 64);
}

/// Return the first word from one on that may have a number, or the number of words.
uint32_t espl__noted_next(const espl__noted *noted, uint32_t word);

/// The name of an entity, held (espl__name_hold()).
typedef struct espl__held_name {
    espl__name *text; // NULL: the entity has none
} espl__held_name;

typedef struct espl__shadow {
    espl_world *world;
    espl__undo_log *log; // gets what items were before they change; NULL: none
    bool has_checksum;
    bool is_empty; // there was no update yet: all items are 0
    uint64_t checksum;
    espl__shadow_numbers numbers;
    uint32_t heads[ESPL__SIZE_CLASSES];
    uint64_t moment;  // changes marked later are not in it
    uint64_t version; // of the store, likewise
    uint32_t rolled, rolled_before;

    // Stb arrays, with elements for all items that the world has room for.
    espl__shadow_slot *slots;
    espl__shadow_side *sides; // empty: there are no side arrays
    espl__past *pasts;        // empty: motion did not run
    espl__cell *cells;        // of roots, else 0; empty: the world has no cells
    espl__noted noted_slots;  // looked at by this update for another reason than own data
    espl__shadow_tree *trees;
    espl__noted noted_trees;
    bool *is_plain;          // by tree: its header can change only with the place of a slot
    bool *had_side;          // by tree: used by a rewind
    espl__noted noted_moved; // used by a rewind: slots whose worlds, and those below, it computes
    espl__record *records;
    espl__held_name *names;    // by index
    espl_entity *originals;    // by index; empty: no entity has one
    espl__noted noted_records; // used by a rewind
    espl__context *context;    // likewise
    uint32_t followed;         // likewise: worlds of lower slots are computed
    espl_entity *report;       // lists of a rewind
    espl__shadow_archetype *archetypes;
    size_t block_bytes; // of the chunks
} espl__shadow;

/// Planes that a shadow needs, as in moment.h.
enum {
    ESPL__SHADOW_PLANES = 1 << ESPL__PLANE_OWN | 1 << ESPL__PLANE_PLACE | 1 << ESPL__PLANE_INDEX,
    ESPL__SHADOW_CELL_PLANES = 1 << ESPL__PLANE_CELL, // beside these in a world with cells
};

/// An update, or another look at what may have changed since the last one.
typedef struct espl__shadow_look {
    espl__shadow *shadow;
    const espl__forest *forest;
    const espl__store *store;
    espl__shadow_numbers was, now;
    uint32_t since;     // changes with a later moment are looked at
    uint32_t since_own; // of own data: also those whose past a tick moved
    bool is_whole;      // all items are looked at
} espl__shadow_look;

// --- Memory (shadow_memory.c) ---

/// Make the shadow of a world, as if this were empty, with memory for all that it has. Its planes must be open
/// from now on. @return false: no memory, nothing made.
bool espl__shadow_begin(espl__shadow *shadow, espl_world *world);
/// Free its memory. Precondition: no log has entries for it.
void espl__shadow_free(espl__shadow *shadow);
/// Take memory for more items: espl__follower.grow().
bool espl__shadow_grow(espl__shadow *shadow, espl__growth what, uint32_t number, size_t count);
/// Make the shadow empty again. Precondition: the log has no entries.
/// @param names  of the store to which the names belong that it holds.
void espl__shadow_forget(espl__shadow *shadow, espl__names *names);
/// Return the bytes that it holds.
size_t espl__shadow_bytes(const espl__shadow *shadow);

// --- Items (shadow_items.c), updates (shadow.c, shadow_rows.c) ---

/// Copy what changed since the last update, and go to the next moment. Takes no memory.
void espl__shadow_update(espl__shadow *shadow);
/// Return the look of a call that changes nothing of the shadow.
espl__shadow_look espl__shadow_look_of(espl__shadow *shadow);
/// Say that world and shadow are the same now, and go to the next moment.
void espl__shadow_settle(espl__shadow *shadow);
/// Exchange an item by another one, in log and checksum. Items of zeros are none.
/// @param hashed  bytes that the checksum has.
void espl__shadow_put(espl__shadow *shadow, espl__shadow_kind kind, uint32_t number, void *to,
                      const void *from, size_t size, size_t hashed);
/// Return the checksum of an item: of its little-endian words of 32 bits on every machine, but that a slot ends
/// with four bytes. @param size  a multiple of 4.
uint64_t espl__shadow_checksum_of(espl__shadow_kind kind, uint32_t number, const void *item,
                                  size_t size);
/// Exchange the items of a slot.
void espl__shadow_put_local(espl__shadow *shadow, uint32_t slot, const espl_pose *local);
void espl__shadow_put_slot(espl__shadow *shadow, uint32_t slot, const espl__shadow_slot *item);
/// Update counts, handles and columns of archetypes.
void espl__shadow_update_rows(const espl__shadow_look *look);
/// Read what the side arrays, or the past, of a node have, as the shadow has them. Zeros for other slots.
espl__shadow_side espl__shadow_read_side(const espl__forest *forest, uint32_t slot, bool is_node);
espl__past espl__shadow_read_past(const espl__forest *forest, uint32_t slot, bool is_node);
espl__cell espl__shadow_read_cell(const espl__forest *forest, uint32_t slot, bool is_node);
/// Read a header.
void espl__shadow_read_tree(const espl__forest *forest, uint32_t number, espl__shadow_tree *out);
/// Return the tree in whose range a slot is, or ESPL__NO_TREE.
uint32_t espl__shadow_tree_at(const espl__forest *forest, uint32_t slot);
/// Read a slot of the world.
void espl__shadow_read_slot(const espl__forest *forest, uint32_t slot, espl__shadow_slot *out);
/// Note all slots, headers and indices that may have changed, in the three sets.
void espl__shadow_note_changed(const espl__shadow_look *look);

/// Return the rows of a chunk by its position.
static inline uint32_t espl__shadow_rows_at(const espl__archetype *archetype, uint32_t count,
                                            uint32_t position)
{
    const uint64_t before = (uint64_t)position * archetype->capacity;

    return before >= count                        ? 0
           : count - before < archetype->capacity ? (uint32_t)(count - before)
                                                  : archetype->capacity;
}

/// Tell whether a column is a part of the value.
static inline bool espl__shadow_has_column(const espl__store *store, const espl__column *column)
{
    return column->component != ESPL_TRANSFORM &&
           (espl__component_info_of(store, column->component)->flags & ESPL_COMPONENT_TRANSIENT) ==
               0;
}

/// Tell whether a header changes only with the place of a slot: it has no debt, and no side arrays.
static inline bool espl__shadow_is_plain(const espl__tree *tree)
{
    return tree->side == 0 &&
           (tree->flags & (ESPL__TREE_IN_ORDER | ESPL__TREE_UNSETTLED)) == ESPL__TREE_IN_ORDER;
}

static inline bool espl__shadow_is_node(const espl__shadow_slot *slot)
{
    return slot->kind == ESPL__SHADOW_NODE;
}

#endif
