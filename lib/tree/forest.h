// SPDX-License-Identifier: MIT
// Where transforms live: the pool of slots, cut into runs, one run for each hierarchy (a solo is a
// run of one). Knows entity indices as numbers only.
//
// A slot stays put while its rank changes: order[rank] -> slot and rank[slot] are inverse to each
// other within a run, so that an edit rewrites integers, not transforms or back-references.
#ifndef ESPALIER_LIB_TREE_FOREST_H
#define ESPALIER_LIB_TREE_FOREST_H

#include "lib/math/kernels.h"
#include "lib/tree/placement.h"
#include "lib/tree/side.h"

#include <espalier/jobs.h>

#define ESPL__NO_SLOT UINT32_MAX
#define ESPL__NO_RUN UINT32_MAX
#define ESPL__NO_NODE UINT32_MAX
#define ESPL__NO_ENTITY UINT32_MAX

/// Flags of a slot.
enum {
    ESPL__SLOT_FREE_LINK = 1, ///< member that outlives its parent
    ESPL__SLOT_PASS = 2,    ///< no transform of its own: world and extra are copies of the parent's
    ESPL__SLOT_GHOST = 4,   ///< destroyed, waits for the next purge; PASS as well
    ESPL__SLOT_ROOTED = 8,  ///< its root is a ghost: world is the local, bit for bit
    ESPL__SLOT_DYING = 16,  ///< only while a destroy runs
    ESPL__SLOT_LOOSE = 32,  ///< only while a destroy runs: a PASS whose children keep their worlds
    ESPL__SLOT_SIDE = 64,   ///< its run has side arrays: the same in all its slots
    ESPL__SLOT_KEEPS = 128, ///< has inherit flags, in the side arrays
    ESPL__SLOT_WRITTEN = ESPL__SLOT_DYING, ///< only while a batch is undone
    ESPL__SLOT_BARREN =
        ESPL__SLOT_FREE_LINK, ///< of a ghost: nobody lives below it; its world is old
};

/// Flags of a run.
enum {
    ESPL__RUN_IN_ORDER = 1,  ///< order[base + r] == base + r for every rank
    ESPL__RUN_GENERAL = 2,   ///< has PASS or ROOTED slots, or side arrays: takes the general kernel
    ESPL__RUN_UNSETTLED = 4, ///< stands in the list of runs that want a purge
};

/// One hierarchy's contiguous slots [base, base + capacity).
typedef struct espl__run {
    uint32_t base, capacity;
    uint32_t used; // order[base .. base + used) is a permutation of [base, base + used)
    uint32_t size; // nodes, ghosts included; entries of order past it are holes. 0: header is free
    uint32_t ghosts;
    uint32_t flags;
    uint32_t next;     // next unsettled run, or next free header
    uint32_t previous; // previous unsettled run
    espl__side *side;  // [capacity] by slot - base; NULL: everything in it is the default
} espl__run;

_Static_assert(sizeof(espl__run) == 40 || sizeof(void *) != 8, "run: 8 words and a pointer");

enum { ESPL__SIZE_CLASSES = 256 };

/// What writes count.
typedef struct espl__tally {
    uint64_t nodes_visited, nodes_skipped, writes, writes_skipped;
} espl__tally;

static inline void espl__tally_add(espl__tally *to, const espl__tally *more)
{
    to->nodes_visited += more->nodes_visited;
    to->nodes_skipped += more->nodes_skipped;
    to->writes += more->writes;
    to->writes_skipped += more->writes_skipped;
}

/// Workers that what hangs below one root may be cut over; {0}: all of it stays on the thread.
typedef struct espl__team {
    const espl_executor *executor;
    const espl_hooks *hooks;
    bool *is_closed; // true while they work: whoever asks for a change then is refused
} espl__team;

/// Who carries writes out, and where they are counted. A job that writes has one of its own,
/// without a team.
typedef struct espl__crew {
    espl__tally tally;
    espl__team team;
    bool is_job;            // one of several at work: takes no memory and gives none back
    bool has_sides_to_drop; // a job's: side arrays that it wrote may have come to be needless
    espl_pose old_local, old_world; // of the one write under way, should it have to be taken back
} espl__crew;

/// Nodes for which it is worth while to call another worker: some 17 microseconds of propagation in
/// cache, and as long or longer until a worker that sleeps begins. On two workers a tree of 100,000
/// takes the same with pieces of 4096 to 16384, and a fifth more with 32768. One of 10,000 takes a third
/// more than on one worker where pieces have 1024 to 4096 nodes and the other worker sleeps; where it
/// is awake, pieces of 2048 take two thirds to three quarters.
enum { ESPL__GRAIN = 8192 };

typedef struct espl__forest {
    espl__heap *heap;

    // One block, cut into arrays by use. By slot:
    espl_pose *local, *world;
    uint32_t *entity; // index, ESPL__NO_ENTITY for a ghost or hole
    uint32_t *run;    // owner; ESPL__NO_RUN at both ends of a free range
    uint32_t *rank;   // in its run; a free range keeps its length at both ends
    uint8_t *flags;
    // By base + rank:
    uint32_t *order;  // slot; a free range keeps its next range here
    uint32_t *parent; // rank of the parent, ESPL__NO_SLOT for the root; free: previous range
    uint32_t *first;  // rank of the first child, as if every leaf had an empty list
    void *block;
    size_t block_size;
    uint32_t capacity;         // slots there is memory for
    uint32_t end;              // slots [0, end) belong to runs and free ranges
    uint32_t floor, run_floor; // capacities that a user asked for, kept until a trim

    espl__run *runs;
    uint32_t run_capacity, run_end, free_run; // headers there is memory for, ever used, free list
    uint32_t free_heads[ESPL__SIZE_CLASSES];  // free ranges by size class
    uint64_t free_bits[ESPL__SIZE_CLASSES / 64];
    uint32_t free_slots;

    uint32_t unsettled;  // first run that wants a purge
    uint32_t ghosts;     // in all runs
    bool has_free_links; // some link was free, or was to be, since the world was made
    const espl__kernels *kernels;
    uint32_t grain;  // nodes in one of several pieces at least: ESPL__GRAIN, but for tests
    espl__crew crew; // of calls at once; its counts are those since the world was made
    uint64_t purges, nodes_rebuilt, nodes_shifted; // since the world was made
} espl__forest;

// --- pool.c: slots and headers ---

void espl__forest_init(espl__forest *forest, espl__heap *heap);
void espl__forest_free(espl__forest *forest);
/// Make sure that runs with `slots` slots in all and `runs` headers can be taken.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT.
espl_status espl__forest_reserve(espl__forest *forest, size_t slots, size_t runs);
/// Give an empty forest room for exactly that many. @return false where there is no memory; what
/// was taken is the forest's then.
bool espl__forest_make_room(espl__forest *forest, uint32_t slots, uint32_t runs);
/// The same, and keep the room until a trim.
espl_status espl__forest_prepay(espl__forest *forest, size_t slots, size_t runs);
/// Take a header without slots; reserved.
uint32_t espl__run_take(espl__forest *forest);
/// Give a run with its slots and extras back.
void espl__run_release(espl__forest *forest, uint32_t run);
/// Take a range of slots, or the end of the pool; reserved. The best fit of its size class comes
/// first, so the answer depends on the calls alone.
uint32_t espl__range_take(espl__forest *forest, uint32_t count);
void espl__range_give(espl__forest *forest, uint32_t base, uint32_t count);
/// Make a run of one slot for an entity with the identity placement; reserved. @return the slot.
uint32_t espl__solo_make(espl__forest *forest, uint32_t entity, bool has_transform);
void espl__run_mark_unsettled(espl__forest *forest, uint32_t run);
void espl__run_unmark_unsettled(espl__forest *forest, uint32_t run);
/// NULL, or the first broken rule of the pool's own books. O(slots).
const char *espl__pool_broken_rule(const espl__forest *forest);

// --- slots.c: what is stored of one node ---

/// Put a placement in place, world aside. Its run has the side arrays that it needs.
void espl__slot_place(espl__forest *forest, uint32_t slot, const espl__placement *placement);
/// The same, writing nothing but what is the slot's: several workers may do it in one run. @return
/// what is to be added to the counts of the run's side arrays.
espl__side_counts espl__slot_put(espl__forest *forest, uint32_t slot,
                                 const espl__placement *placement);
/// Give a run side arrays, or ones with room for inherit flags too.
/// @return false where there is no memory; nothing changed then.
bool espl__run_add_side(espl__forest *forest, uint32_t run, bool keeps);
/// Give a run side arrays that were made for its capacity, in place of those it has, whose content
/// goes along.
void espl__run_set_side(espl__forest *forest, uint32_t run, espl__side *side);
/// Move a run to a new range of slots, in rank order; both it and the side arrays, for that capacity,
/// were taken before. NULL: the run has none.
/// @param moved  called with the context, each entity and its new slot.
void espl__run_move(espl__forest *forest, uint32_t run, uint32_t capacity, espl__side *side,
                    void (*moved)(void *, uint32_t, uint32_t), void *context);
/// Give the side arrays of a run back if nothing in them differs from the default and nobody asked
/// for them ahead of time. O(capacity) when it does.
void espl__run_drop_side(espl__forest *forest, uint32_t run);
/// Nodes below which a run that grows gets half as many slots to spare, not a quarter.
enum { ESPL__SMALL_RUN = 64 };
/// Slots that a run gets when it comes to have more nodes than slots: what it needs at first, some
/// more once it has grown.
static inline uint32_t espl__run_room(const espl__run *run, uint32_t size)
{
    const uint32_t spare = size < ESPL__SMALL_RUN ? size / 2 : size / 4;

    return run->capacity > 1 ? size + spare : size;
}
/// Tell whether a run of a size fills so small a part of its slots that it is to be laid out anew.
static inline bool espl__run_is_loose(const espl__run *run, uint32_t size)
{
    return run->capacity > 16 && size + size / 4 < run->capacity / 4;
}
/// Tell whether a run has what a placement needs.
static inline bool espl__run_can_hold(const espl__run *run, const espl__placement *placement)
{
    if (!espl__placement_needs_side(placement)) {
        return true;
    }
    return run->side != NULL && (placement->kept.flags == 0 || run->side->kept != NULL);
}

// --- pack.c ---

/// Tell whether more than a third of a pool worth the work is free.
bool espl__forest_wants_pack(const espl__forest *forest);
/// Move all runs into a block that fits them, in rank order, and renumber them.
/// @param moved  called with the context, an entity and its new slot.
/// @return false where there is no memory; nothing changed then. O(slots).
bool espl__forest_pack(espl__forest *forest, void (*moved)(void *, uint32_t, uint32_t),
                       void *context);
/// The same with no room to spare: side arrays that nothing needs go too, prepaid ones included.
/// Does nothing where everything stands so already.
bool espl__forest_trim(espl__forest *forest, void (*moved)(void *, uint32_t, uint32_t),
                       void *context);

// --- propagate.c: see propagate.h for walks that begin at several nodes ---

/// Recompute the worlds of everything below a rank. false: some world is not finite (all of them
/// were recomputed all the same).
bool espl__propagate_below(espl__forest *forest, espl__crew *crew, uint32_t run, uint32_t rank);
/// The same for a rank whose world changed, but for what hangs below a world that then stays.
bool espl__propagate_changed(espl__forest *forest, espl__crew *crew, uint32_t run, uint32_t rank);
/// Recompute the world at a rank alone.
bool espl__propagate_at(espl__forest *forest, espl__crew *crew, uint32_t run, uint32_t rank);
/// World that follows for a slot from its parent's world and its own local.
espl_pose espl__world_expected(const espl__forest *forest, uint32_t slot);

// --- ghosts.c: destroying without memory ---

/// What a destroy takes along.
typedef enum espl__closure {
    ESPL__CLOSURE_OWNED,   ///< what is reached through owned links only
    ESPL__CLOSURE_SUBTREE, ///< everything below
    ESPL__CLOSURE_ONLY,    ///< nothing
} espl__closure;

/// Turn a living slot and its closure into ghosts. Survivors are re-based on the nearest living
/// ancestor, so that their worlds stay to rounding; below a ghost root they become ROOTED. The run
/// is released when nobody is left, and marked unsettled when it wants a purge.
///
/// @param bury  called for the entity of each new ghost, in rank order, before anything of the run
///              is given back.
/// Cannot fail, takes no memory. O(descendants).
void espl__make_ghosts(espl__forest *forest, uint32_t slot, espl__closure closure,
                       void (*bury)(void *context, uint32_t entity), void *context);
/// Tell whether a run has so many ghosts, or such ones, that it wants a purge.
bool espl__run_wants_purge(const espl__forest *forest, const espl__run *run);

// --- navigate.c: the tree as its users see it, without ghosts. Slots or ESPL__NO_SLOT. ---

uint32_t espl__living_parent(const espl__forest *forest, uint32_t slot);
uint32_t espl__living_root(const espl__forest *forest, uint32_t slot);
uint32_t espl__living_first_child(const espl__forest *forest, uint32_t slot);
uint32_t espl__living_last_child(const espl__forest *forest, uint32_t slot);
uint32_t espl__living_next_sibling(const espl__forest *forest, uint32_t slot);
uint32_t espl__living_previous_sibling(const espl__forest *forest, uint32_t slot);
/// The next sibling of a child of `above`, its living parent. A walk over all children is linear in
/// them and the ghosts between.
uint32_t espl__living_behind(const espl__forest *forest, uint32_t slot, uint32_t above);
size_t espl__living_children(const espl__forest *forest, uint32_t slot);
/// The n-th child. O(1) where the run has no ghosts.
uint32_t espl__living_child(const espl__forest *forest, uint32_t slot, size_t n);
uint32_t espl__living_depth(const espl__forest *forest, uint32_t slot);
size_t espl__living_below(const espl__forest *forest, uint32_t slot);
/// Count what is reached through owned links only.
size_t espl__living_owned(const espl__forest *forest, uint32_t slot);
/// The living node behind a slot in a walk over what hangs below `top`, parents first; through the
/// slot's own children where told. A whole walk is O(descendants).
uint32_t espl__living_next(const espl__forest *forest, uint32_t slot, uint32_t top, bool enters);

// --- validate.c ---

/// Bytes of the blocks that a forest holds: the pool, the headers and the side arrays. O(runs).
size_t espl__forest_bytes(const espl__forest *forest);

/// NULL, or the first broken invariant of runs, links and transforms as a sentence. O(size), no
/// memory.
const char *espl__forest_broken_rule(const espl__forest *forest, uint32_t *slot, size_t *detail);

// --- Accessors ---

/// A run that fills a range of slots in rank order.
static inline espl__run espl__run_filling(uint32_t base, uint32_t size)
{
    return (espl__run){.base = base,
                       .capacity = size,
                       .used = size,
                       .size = size,
                       .flags = ESPL__RUN_IN_ORDER,
                       .next = ESPL__NO_RUN,
                       .previous = ESPL__NO_RUN};
}

static inline espl__run *espl__run_of(const espl__forest *forest, uint32_t slot)
{
    return &forest->runs[forest->run[slot]];
}

/// Slot of the parent, ghosts included, or ESPL__NO_SLOT.
static inline uint32_t espl__parent_slot(const espl__forest *forest, uint32_t slot)
{
    const uint32_t base = espl__run_of(forest, slot)->base;
    const uint32_t parent = forest->parent[base + forest->rank[slot]];

    return parent == ESPL__NO_SLOT ? ESPL__NO_SLOT : forest->order[base + parent];
}

/// Rank of the first child of a rank; for rank == size the end of all children.
static inline uint32_t espl__first_child(const espl__forest *forest, const espl__run *run,
                                         uint32_t rank)
{
    return rank < run->size ? forest->first[run->base + rank] : run->size;
}

static inline espl__extra espl__slot_extra(const espl__forest *forest, uint32_t slot)
{
    // The flag saves a read of the run where there is none, which is nearly everywhere.
    if ((forest->flags[slot] & ESPL__SLOT_SIDE) == 0) {
        return espl__extra_default();
    }
    const espl__run *const run = espl__run_of(forest, slot);

    return run->side->extra[slot - run->base];
}

static inline espl__kept espl__slot_kept(const espl__forest *forest, uint32_t slot)
{
    if ((forest->flags[slot] & ESPL__SLOT_KEEPS) == 0) {
        return espl__kept_none();
    }
    const espl__run *const run = espl__run_of(forest, slot);

    return run->side->kept[slot - run->base];
}

static inline espl__placement espl__slot_placement(const espl__forest *forest, uint32_t slot)
{
    return (espl__placement){forest->local[slot], espl__slot_kept(forest, slot),
                             espl__slot_extra(forest, slot)};
}

/// What children of a slot see.
static inline espl__frame espl__slot_frame(const espl__forest *forest, uint32_t slot)
{
    return (espl__frame){forest->world[slot], espl__slot_extra(forest, slot)};
}

static inline bool espl__slot_is(const espl__forest *forest, uint32_t slot, unsigned flag)
{
    return (forest->flags[slot] & flag) != 0;
}

static inline bool espl__slot_is_barren(const espl__forest *forest, uint32_t slot)
{
    const unsigned both = ESPL__SLOT_GHOST | ESPL__SLOT_BARREN;

    return (forest->flags[slot] & both) == both;
}

/// Slot whose frame a slot is placed in, ghosts included; ESPL__NO_SLOT for what is a root to its
/// users.
static inline uint32_t espl__frame_slot(const espl__forest *forest, uint32_t slot)
{
    return espl__slot_is(forest, slot, ESPL__SLOT_ROOTED) ? ESPL__NO_SLOT
                                                          : espl__parent_slot(forest, slot);
}

/// Tell whether a slot follows its parent as a copy: no transform of its own, or the flag for it.
static inline bool espl__slot_copies(const espl__forest *forest, uint32_t slot)
{
    return espl__slot_is(forest, slot, ESPL__SLOT_PASS) ||
           (espl__slot_is(forest, slot, ESPL__SLOT_KEEPS) &&
            (espl__slot_kept(forest, slot).flags & ESPL_COPY_PARENT) != 0);
}

#endif
