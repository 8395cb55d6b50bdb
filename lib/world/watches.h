// SPDX-License-Identifier: MIT
// The struct espl_watch, and the parts of a collect.
//
// A watch remembers the moment of its last collect and, for each entity index, the generation that it
// reported. A collect compares the indices that the index plane marked since then with what they are now
// (watch_presence.c), then lists the slots that the planes of the forest marked (watch_changes.c). All
// memory is taken before the first of these steps changes the watch.
#ifndef ESPALIER_LIB_WORLD_WATCHES_H
#define ESPALIER_LIB_WORLD_WATCHES_H

#include "lib/world/query.h"

/// The arrays of a collect, in the block of a watch.
typedef struct espl__watch_arrays {
    espl_entity *removed, *added, *changed;
    uint8_t *kinds;
    // Without ESPL_WATCH_WORLD and ESPL_WATCH_SHOWN the worlds are NULL, without ESPL_WATCH_LOCAL the locals,
    // without ESPL_WATCH_BEFORE `changed_before`.
    espl_transform *added_worlds, *changed_worlds, *added_locals, *changed_locals, *changed_before;
    espl_changed_cell *added_cells, *changed_cells; // NULL without ESPL_WATCH_CELL
} espl__watch_arrays;

/// How many entities a collect may report.
typedef struct espl__watch_counts {
    size_t removed, added, changed;
} espl__watch_counts;

/// Transforms that a watch keeps by entity index with ESPL_WATCH_BEFORE, as of its last report: what it
/// reports, shown or not, and the worlds where it reports shown transforms and compares worlds as well.
enum { ESPL__KEPT_REPORTED, ESPL__KEPT_WORLD, ESPL__KEPT_COUNT };

struct espl_watch {
    espl_world *world;
    espl_watch *next;     // in espl_world.watches
    espl_query filter;    // not under way: only its terms are used
    uint32_t flags;       // with ESPL_WATCH_WORLD where the definition has no kind
    uint32_t planes;      // that it uses, as bits
    uint64_t first, last; // moments of its first and its last collect; 0: there was none
    uint32_t *known;      // [records] stb array: the generation reported last; 0: none
    size_t known_count;   // of `known` that are not 0
    size_t scanned;       // slots whose stamps the last collect compared to count the changes
    espl_transform *kept[ESPL__KEPT_COUNT]; // [records] stb arrays, the first kept_count of them
    uint32_t kept_count;
    espl__scratch scratch; // has the arrays of the last collect
    espl__scratch spare;   // what espl_reserve() took for the next one, while these are in use
    size_t least;          // bytes that were reserved: `scratch` or `spare` has as many
    size_t most;           // bytes that a collect needed at most, of the last `fitted` ones
    uint32_t fitted;       // collects since the size of `scratch` was last looked at
};

/// Tell whether a watch reports world transforms, or shown ones.
static inline bool espl__watch_has_worlds(const espl_watch *watch)
{
    return (watch->flags & (ESPL_WATCH_WORLD | ESPL_WATCH_SHOWN)) != 0;
}

/// Tell whether a watch reports each entity whose absolute position changes with the cell of its root; else
/// those roots and solos alone.
static inline bool espl__watch_has_places(const espl_watch *watch)
{
    return (watch->flags & ESPL_WATCH_CELL) != 0 && espl__watch_has_worlds(watch);
}

/// Return the cell of the node at a slot, as a collect reports it.
espl_changed_cell espl__watch_cell(const espl__forest *forest, uint32_t slot);

/// A bit of `known` that no generation of a handle has: the entity was added by the present collect.
#define ESPL__WATCH_ADDED UINT32_C(0x80000000)

/// Which archetypes answer the filter of a watch: a cache for one walk.
typedef struct espl__watch_answers {
    const espl_watch *watch;
    uint32_t
        archetypes[64]; // direct-mapped: an archetype and whether it answers, in its lowest bit
} espl__watch_answers;

/// Begin to ask which entities answer a watch.
void espl__watch_ask(const espl_watch *watch, espl__watch_answers *answers);
/// Return the generation of an index if its entity is alive, has a transform and answers; else 0.
uint32_t espl__watch_generation(espl__watch_answers *answers, uint32_t index);

/// Set the length of the arrays by index, which have room for it.
void espl__watch_set_known(espl_watch *watch, size_t length);

/// Count the entities that came and went. Precondition: `known` has an element for each record, or more.
void espl__watch_count_presence(const espl_watch *watch, espl__watch_counts *counts);
/// List them, with their transforms, and note that they are known. Those that came have
/// ESPL__WATCH_ADDED in `known`.
void espl__watch_list_presence(espl_watch *watch, const espl__watch_arrays *arrays);
/// Clear ESPL__WATCH_ADDED of entities that came.
void espl__watch_settle_presence(espl_watch *watch, const espl_entity *added, size_t count);

/// Count the slots that may have changed: an upper bound of what espl__watch_list_changes() lists, which
/// looks at the same slots again.
/// @param scanned  out: slots whose stamps were compared, in all planes together.
size_t espl__watch_count_changes(const espl_watch *watch, uint64_t since, size_t *scanned);
/// List the entities that were known before this collect and changed since a moment.
/// @param bound  at least as many as they are. @return the count.
size_t espl__watch_list_changes(espl_watch *watch, uint64_t since, size_t bound,
                                const espl__watch_arrays *arrays);
/// Read the transform that a watch reports of a slot, the shown one or the world, and keep what
/// ESPL_WATCH_BEFORE compares.
void espl__watch_read(const espl_watch *watch, uint32_t index, uint32_t slot, espl_transform *out);

/// Make room for collects of so many entities that came, went and changed each, in a world with so many
/// more indices. For all watches. @return false: no memory; some of it may be reserved.
bool espl__watches_reserve(espl_world *world, size_t entities, size_t more_indices);
/// Free what the next collects do not need, reserved memory included. Arrays of the last collects stay.
/// @return false: there was no memory to move to for a part of it.
bool espl__watches_trim(espl_world *world);
/// Return the bytes of all watches of a world.
size_t espl__watches_bytes(const espl_world *world);
/// Return the first rule that a watch breaks, or NULL. @param where  out: the entity concerned.
const char *espl__watches_broken_rule(const espl_world *world, espl_entity *where);

#endif
