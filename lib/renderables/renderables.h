// SPDX-License-Identifier: MIT
// The struct espl_renderables, and the steps of an update.
//
// Members are the entities that are renderables. They are filed in clusters of at most 128, which are the
// leaves of two B+ trees of codes (codes.h): one of the members that rest, and one of the members that move.
// Each tree is two levels high: an array of leaves in the order of their codes.
//
// Newcomers of one update are spread over many leaves, each of which would be written whole for a few of them.
// So they get recent leaves: clusters of their own, which rest and are in no tree. Within the newcomers of one
// update these are by code, and they lie in the ranges of leaves and of each other. Members that live for
// long are filed from there, many at a time (recent.c); the others go, often with their whole leaf.
//
// Where members leave a cluster and nothing else of it changes, its entry notes their places as holes, and no
// block is written. A cluster of which a third is holes is written anew without them.
//
// An update has steps, of which only the first two can fail. What these change is no part of a mirror, and
// an update that is refused may be repeated:
//
//     collect   (members.c, values.c, layers.c) Walk the slots that the planes marked, and list what goes, what
//               comes, what moves to another cluster, and which clusters are to be written anew.
//     reserve   (update.c) Take the memory for all of it.
//     refile    (clusters.c) Remove members from clusters and insert them into clusters.
//     fill      (fill.c) Write the values and poses of these clusters into blocks that no mirror has yet.
//     publish   (update.c) Make a mirror of the newest blocks.
#ifndef ESPALIER_LIB_RENDERABLES_RENDERABLES_H
#define ESPALIER_LIB_RENDERABLES_RENDERABLES_H

#include "lib/base/key_sort.h"
#include "lib/renderables/codes.h"
#include "lib/renderables/tables.h"
#include "lib/world/attachment.h"
#include "lib/world/world_internal.h"

#include <espalier/renderables.h>

/// A member: cluster * ESPL__CLUSTER_SIZE + its place in the cluster.
#define ESPL__NO_MEMBER UINT32_MAX
/// Bit of the source of a member that is new: the other bits are the number of its arrival.
#define ESPL__FROM_STORE UINT32_C(0x80000000)
/// Upper bounds of clusters, and of the members of clusters that are half full.
enum { ESPL__CLUSTER_LIMIT = 1 << 24, ESPL__MEMBER_LIMIT = 1 << 30 };

enum {
    ESPL__PLACE_BITS = 7,
    ESPL__STILL_AFTER = 64,   // updates from one look for members that rest to the next
    ESPL__RISE_FACTOR = 8,    // members that begin to move in one update, in budgets
    ESPL__LEAF_FILL = 112,    // members of a leaf that many arrivals fill
    ESPL__JOINED = 4,         // leaves that become one less
    ESPL__JOINED_FILL = 112,  // members that each of them has then, at most
    ESPL__MERGE_BELOW = 48,   // members of a leaf that looks for another one to merge with
    ESPL__WORTH_WRITING = 16, // arrivals for which a leaf is written that else stays as it is
};
_Static_assert(1 << ESPL__PLACE_BITS == ESPL__CLUSTER_SIZE, "a member is a word");

/// Categories. Order of results.
enum { ESPL__STILL, ESPL__RECENT, ESPL__MOVING, ESPL__CATEGORIES };

/// Bits of the state of a cluster. Those of ESPL__WRITE_ANY say what an update has to write.
enum {
    ESPL__CLUSTER_USED = 1,
    ESPL__CLUSTER_MOVING = 2,
    ESPL__WRITE_POSES = 4,
    ESPL__WRITE_VALUES = 8,
    ESPL__WRITE_BOXES = 16,   // the poses before as well, because local boxes changed
    ESPL__WRITE_MEMBERS = 32, // both, because its members are others, or in another order
    ESPL__CLUSTER_RECENT = 64,
    ESPL__WRITE_HOLES = 128, // no block, because members left it alone
    ESPL__WRITE_ANY = 188,
};

/// Bits for the members of a cluster.
typedef struct espl__member_bits {
    uint64_t words[ESPL__MEMBER_WORDS];
} espl__member_bits;

/// A cluster, as updates know it.
typedef struct espl__cluster {
    uint32_t slots[ESPL__CLUSTER_SIZE];
    espl_entity entities[ESPL__CLUSTER_SIZE];
    uint64_t codes[ESPL__CLUSTER_SIZE]; // by which it was filed
    /// Box of the cells that the members were filed in, and of centres that belong to it although they are
    /// outside.
    float home_low[3], home_high[3];
    uint32_t count;              // members, and holes
    uint32_t dirty;              // its number in the list of clusters to be written
    espl__member_bits holes;     // places without a member, as in the entry
    espl__member_bits gone;      // they are renderables no more
    espl__member_bits leaving;   // they move to another cluster in this update
    espl__member_bits reload;    // their values differ from those in the values block
    espl__member_bits jumped;    // a write with ESPL_TELEPORT placed them
    espl__member_bits astray;    // found outside of the home box at the last write
    espl__member_bits bad_local; // its values are not sound (espl__values_are_sound())
    espl__member_bits bad_world; // the pose or the world box is not finite
    espl__member_bits unions;    // ESPL_RENDERABLE_UNION
    espl__member_bits moved;     // they moved, or came, since `looked_at`
    uint32_t looked_at; // low bits of the number of the mirror that looked for members that rest
} espl__cluster;

enum { ESPL__CLUSTER_PAGE = 16, ESPL__CLUSTER_ALIGNMENT = 64 }; // clusters of a page

/// A leaf of a tree of codes. Codes of its members are from `low` on, and not above that of the next leaf. A
/// recent leaf has codes from `low` on.
typedef struct espl__leaf {
    uint64_t low;
    uint32_t cluster;
    uint32_t since; // of a recent leaf: low bits of the number of the mirror that it is made for
} espl__leaf;

/// A member that is to be inserted: a new one, or one that moves to another cluster. A cache line.
typedef struct espl__arrival {
    uint64_t code;
    uint32_t slot;
    uint32_t source; // member, or ESPL__FROM_STORE and its own number
    espl_entity entity;
    espl_bounds bounds;         // of a new one
    espl_renderable renderable; // of a new one
    uint32_t unused;
} espl__arrival;
_Static_assert(sizeof(espl__arrival) == 64, "arrival: a cache line");

/// Arrivals of one category that go into one leaf.
typedef struct espl__run {
    uint32_t leaf;         // ESPL__NO_CLUSTER: new ones, the last of their category
    uint32_t begin, count; // in the sorted arrivals
    uint32_t pieces;       // leaves that it becomes
} espl__run;

/// A cluster that an update writes.
typedef struct espl__dirty {
    uint32_t cluster;
    uint32_t sources; // number of its array of sources; ESPL__NO_CLUSTER: the members are as before
    const espl__values *old_values;
    const espl__poses *old_poses;
    espl__values *values; // NULL: as before
    espl__poses *poses;   // NULL: as before
    espl__poses *before;  // NULL: old_poses
    espl__stretches *stretches;
    espl__member_cells *cells;
    espl__member_bits
        load; // of the members before this update: values that are read from the store
    espl__member_bits jumped; // of them: a write with ESPL_TELEPORT placed them
    uint32_t bad, unions;     // such members before this update
    uint32_t moved;           // members that stay and whose pose differs
    bool is_new;              // all of its members are
    bool is_thinned;          // members left it, and nothing else changed
    bool is_same;             // the poses and boxes are those before
    bool is_filled;
} espl__dirty;

/// Sources of the members of a cluster: members before this update, or arrivals.
typedef struct espl__sources {
    uint32_t of[ESPL__CLUSTER_SIZE];
} espl__sources;

struct espl_renderables {
    espl_world *world;
    espl__attachment attachment;
    espl__tables tables;
    espl_component bounds, renderable, layers;
    espl__cells cells; // in a world with cells of 1, in edges of the order (far_places.h)
    double far_origin[3], far_inverse; // of the spatial order in a world with cells
    espl__cell rebased;                // espl__forest.rebased at the last update
    uint32_t budget;
    uint64_t last;    // moment of the last update; 0: there was none
    uint64_t version; // of the store at that time
    bool had_sides;   // of the forest at that time: members may be stretched
    // By slot.
    uint32_t *member_of;       // stb array
    uint32_t *layers_of;       // stb array: effective layers; NULL: all bits everywhere
    bool has_layers_of_mirror; // false: a refused update has computed layers since
    espl__cell *cells_of; // stb array: stored cells (member_cells.h); NULL: the world has no cells
    uint64_t *noted;      // stb array of bits: slots in `candidates`
    uint64_t *climbed;    // stb array of bits: slots whose ancestors were looked at
    uint32_t known_slots; // slots from here on have no member
    uint32_t known_makings; // of the forest at the last update
    // By cluster, of the numbers of the tables.
    espl__cluster **pages;                      // stb array
    uint8_t *states;                            // stb array
    espl__leaf *leaves[ESPL__CATEGORIES];       // stb arrays
    espl__leaf *spare_leaves[ESPL__CATEGORIES]; // stb arrays, exchanged with them
    size_t counts[ESPL__CATEGORIES];            // members
    uint64_t filed_to[ESPL__CATEGORIES]; // code at which the next part of space begins (refile.c)
    uint64_t risen_to;                   // the same for members that begin to move
    size_t unrisen; // members that the last update could have let begin to move, but for its bounds
    size_t unrisen_clusters; // that have them
    size_t settled;          // recent leaves that were looked at in vain since there are other ones
    size_t union_count, bad_count;
    espl_entity first_bad; // null where it is to be found again, or there is none
    bool has_new_order;
    size_t reserved; // arrivals that memory was reserved for
    // Lists of an update: stb arrays, kept for the next one.
    uint32_t *candidates;                      // slots that may have another entity
    uint32_t *gone;                            // members; kept where an update is refused
    uint32_t *jumps;                           // slots that a write with ESPL_TELEPORT placed
    uint32_t *relocated;                       // members that have another slot
    espl__arrival *arrivals[ESPL__CATEGORIES]; // those of ESPL__RECENT are among ESPL__STILL
    espl__run *runs[ESPL__CATEGORIES];
    uint32_t *orders[ESPL__CATEGORIES]; // arrivals in the order of their codes
    espl__sort_key *keys[2];
    espl__dirty *dirty;
    espl__sources *sources;
    uint32_t *astray; // clusters that have some
    // Levels of detail: pages of ESPL__LOD_PAGE keys.
    espl_lods **lod_pages;
    uint32_t lod_count;
    uint32_t known_lods; // lod_count at the last update
};

/// The codes of a part of space.
typedef struct espl__code_range {
    uint64_t low, high; // the first and the last one
    uint64_t next;      // where the next part begins
} espl__code_range;

/// An update under way.
typedef struct espl__update {
    espl_renderables_report report;
    uint32_t number;         // low bits of the number of the mirror
    uint32_t rises;          // members that may begin to move
    espl__code_range rising; // of the clusters of which they may be
    // Members that did not because of these bounds, their clusters, and the lowest code of these: of all, and above
    // the bounds.
    size_t unrisen, unrisen_clusters;
    uint64_t first_unrisen, next_unrisen;
    bool is_union_whole; // each union is to be computed
    bool has_sides;      // some node has a stretch
    size_t added, new_clusters;
    size_t mixed_clusters;               // new clusters that may get members of a leaf
    uint64_t filed_to[ESPL__CATEGORIES]; // of the renderables, after this update
    size_t thin_clusters; // clusters that have few members left, and may be merged with another one
} espl__update;

// --- Access ---

static inline espl__cluster *espl__cluster_at(const espl_renderables *r, uint32_t cluster)
{
    ESPL_CHECK_FULL(cluster / ESPL__CLUSTER_PAGE < espl__array_length(r->pages));
    return &r->pages[cluster / ESPL__CLUSTER_PAGE][cluster % ESPL__CLUSTER_PAGE];
}
static inline uint32_t espl__member_cluster(uint32_t member)
{
    return member >> ESPL__PLACE_BITS;
}
static inline uint32_t espl__member_place(uint32_t member)
{
    return member & (ESPL__CLUSTER_SIZE - 1);
}
static inline uint32_t espl__member(uint32_t cluster, uint32_t place)
{
    return cluster << ESPL__PLACE_BITS | place;
}
static inline bool espl__has_bit(const espl__member_bits *bits, uint32_t place)
{
    return (bits->words[place / 64] >> (place % 64) & 1) != 0;
}
static inline void espl__set_bit(espl__member_bits *bits, uint32_t place)
{
    bits->words[place / 64] |= UINT64_C(1) << (place % 64);
}
static inline void espl__put_bit(espl__member_bits *bits, uint32_t place, bool is_set)
{
    const uint64_t bit = UINT64_C(1) << (place % 64);

    bits->words[place / 64] = (bits->words[place / 64] & ~bit) | (is_set ? bit : 0);
}
static inline bool espl__has_bits(const espl__member_bits *bits)
{
    return (bits->words[0] | bits->words[1]) != 0;
}
/// Return the bits of one word that are of the first `count` places.
static inline uint64_t espl__members_of_word(uint32_t count, uint32_t word)
{
    const uint32_t first = word * 64;

    return count >= first + 64 ? UINT64_MAX
           : count > first     ? (UINT64_C(1) << (count - first)) - 1
                               : 0;
}
uint32_t espl__count_members(const espl__member_bits *bits);
/// Return how many members there are.
static inline size_t espl__renderables_count(const espl_renderables *r)
{
    return r->counts[ESPL__STILL] + r->counts[ESPL__RECENT] + r->counts[ESPL__MOVING];
}
/// Return how many members a cluster has.
static inline uint32_t espl__cluster_members(const espl__cluster *cluster)
{
    return cluster->count - espl__count_members(&cluster->holes);
}
/// Return the category of a cluster.
static inline int espl__cluster_category(const espl_renderables *r, uint32_t cluster)
{
    const uint8_t state = r->states[cluster];

    return (state & ESPL__CLUSTER_MOVING) != 0   ? ESPL__MOVING
           : (state & ESPL__CLUSTER_RECENT) != 0 ? ESPL__RECENT
                                                 : ESPL__STILL;
}

/// Note that an update is to write a cluster. There is room in the list for every cluster.
/// @param bits  ESPL__WRITE_ bits.
static inline void espl__mark_dirty(espl_renderables *r, uint32_t cluster, uint32_t bits)
{
    const uint8_t state = r->states[cluster];

    ESPL_CHECK_FULL((state & ESPL__CLUSTER_USED) != 0);
    if ((state & ESPL__WRITE_ANY) == 0) {
        const size_t at = espl__array_length(r->dirty);

        espl__cluster_at(r, cluster)->dirty = (uint32_t)at;
        ESPL_ARRAY_PUSH(r->dirty, (espl__dirty){.cluster = cluster, .sources = ESPL__NO_CLUSTER});
    }
    r->states[cluster] = (uint8_t)(state | bits);
}

// --- What entities are (members.c) ---

/// What the entities of an archetype are to renderables.
typedef struct espl__row_kind {
    uint32_t archetype; // ESPL__NONE: none yet
    bool is_renderable;
    uint32_t bounds, renderable, layers; // numbers of the columns; ESPL__NONE: it has none
} espl__row_kind;

/// A cache of them for one update.
typedef struct espl__row_kinds {
    const espl_renderables *r;
    espl__row_kind kinds[32];
} espl__row_kinds;

void espl__row_kinds_begin(espl__row_kinds *kinds, const espl_renderables *r);
const espl__row_kind *espl__row_kind_of(espl__row_kinds *kinds, uint32_t archetype);
/// Read the values of an entity that is a renderable.
void espl__read_values(const espl_renderables *r, espl__row_kinds *kinds, uint32_t index,
                       espl_bounds *bounds, espl_renderable *renderable);
/// Tell whether the numbers of bounds are finite and no half is negative, whether a key has levels if it says
/// so, and whether all flags are known.
bool espl__values_are_sound(const espl_renderables *r, const espl_bounds *bounds,
                            const espl_renderable *renderable);

/// Make the arrays by slot as long as the forest has slots. @return false: no memory.
bool espl__slots_reserve(espl_renderables *r);
/// List what came, went and moved. @return false: no memory.
bool espl__collect_members(espl_renderables *r, espl__row_kinds *kinds, espl__update *u);
/// List the members whose values changed. Cannot fail.
void espl__collect_values(espl_renderables *r, espl__row_kinds *kinds, espl__update *u);
/// Note that a member moved, or that something of its world may have changed. @return false: no memory.
bool espl__collect_moved(espl_renderables *r, espl__update *u, uint32_t slot, uint32_t member);
/// Note each entity with ESPL_RENDERABLE_UNION above a slot.
void espl__climb_unions(espl_renderables *r, uint32_t slot);
/// Bring effective layers up to date. @return false: no memory.
bool espl__collect_layers(espl_renderables *r, espl__row_kinds *kinds, espl__update *u);
/// Forget the candidates of an update.
void espl__clear_candidates(espl_renderables *r);
/// Compute the home box of a cluster: that of the cells that its members were filed in.
void espl__find_home(const espl__cells *cells, espl__cluster *cluster);
/// Note the members that are outside of the home box by more than an eighth of it, and a cell.
/// @param centers  read up to a multiple of ESPL__BOX_PADDING
/// @param box      around all of them; NULL: not known
void espl__find_astray(const espl__cells *cells, espl__cluster *cluster,
                       const float (*centers)[ESPL__CLUSTER_SIZE], const float *box);
/// Return the leaf that a code goes into: the last one that does not begin above it. ESPL__NO_CLUSTER where
/// there is none.
static inline uint32_t espl__find_leaf(const espl__leaf *leaves, uint64_t code)
{
    uint32_t begin = 0, end = (uint32_t)espl__array_length(leaves);

    if (end == 0) {
        return ESPL__NO_CLUSTER;
    }
    // The first leaf has all codes below that of the second one.
    while (end - begin > 1) {
        const uint32_t middle = begin + (end - begin) / 2;

        if (leaves[middle].low <= code) {
            begin = middle;
        } else {
            end = middle;
        }
    }
    return begin;
}

/// Return the cluster that a code goes into; ESPL__NO_CLUSTER where there is none.
static inline uint32_t espl__find_cluster(const espl_renderables *r, int category, uint64_t code)
{
    const uint32_t leaf = espl__find_leaf(r->leaves[category], code);

    return leaf != ESPL__NO_CLUSTER ? r->leaves[category][leaf].cluster : ESPL__NO_CLUSTER;
}

/// Return the part of space that begins at a code and has at least so many leaves. The last one may have fewer.
espl__code_range espl__find_part(const espl__leaf *leaves, uint64_t from, size_t least);
/// List the members that are to be filed anew. @return false: no memory.
bool espl__collect_astray(espl_renderables *r, espl__update *u);
/// List members of recent leaves that are to be filed (recent.c). @return false: no memory.
bool espl__collect_recent(espl_renderables *r, espl__update *u);
/// List a member that moves to another cluster. @return false: no memory.
bool espl__add_mover(espl_renderables *r, uint32_t member, int category, uint64_t code);
/// Compute the centre of the world box of a slot with a local box, in a world with cells in edges of the spatial
/// order.
void espl__find_center(const espl_renderables *r, uint32_t slot, const espl_bounds *bounds,
                       float center[ESPL__LEAST 3]);
/// Compute the codes of new members, and choose the cells of space where there are none yet.
void espl__find_codes(espl_renderables *r);
/// Compute the code of a member where it is now.
uint64_t espl__code_now(const espl_renderables *r, uint32_t member);

// --- Clusters (clusters.c) ---

/// Find the clusters that are written because members leave them, sort the arrivals of each category, and
/// divide them into runs. @return false: no memory.
bool espl__sort_arrivals(espl_renderables *r);
/// Mark the leaf of each run to be written. Count the clusters that the runs add, and the clusters that the
/// update may merge with another one.
void espl__plan_arrivals(espl_renderables *r, espl__update *u);
/// Return the arrivals that runs and the order of a category are of.
static inline const espl__arrival *espl__arrivals_of(const espl_renderables *r, int category)
{
    return r->arrivals[category == ESPL__RECENT ? ESPL__STILL : category];
}
/// Move the runs that are too short to write a leaf of ESPL__STILL for to ESPL__RECENT.
/// @return false: no memory.
bool espl__divert_runs(espl_renderables *r);
/// Make room for so many clusters. @return false: no memory.
bool espl__clusters_reserve(espl_renderables *r, size_t clusters);
/// Return how many members of a cluster are in no result because of their numbers.
static inline uint32_t espl__count_bad(const espl__cluster *cluster)
{
    const espl__member_bits bad = {{
        cluster->bad_local.words[0] | cluster->bad_world.words[0],
        cluster->bad_local.words[1] | cluster->bad_world.words[1],
    }};

    return espl__count_members(&bad);
}
/// Remove and insert what was listed. Cannot fail. Precondition: reserved.
void espl__refile(espl_renderables *r, espl__update *u);

// --- Writing (entries.c, fill.c) ---

/// Count the blocks that an update takes at most.
void espl__count_blocks(const espl_renderables *r, const espl__update *u, espl__tables_need *need);
/// Take the blocks of the listed clusters. Precondition: reserved.
void espl__take_blocks(espl_renderables *r);
/// Write them on the executor of the world.
void espl__fill(espl_renderables *r, espl__update *u);
/// Make them the newest entries.
void espl__set_blocks(espl_renderables *r, espl__update *u);
/// Compute the world box of an entity with ESPL_RENDERABLE_UNION.
void espl__box_of_union(const espl_renderables *r, uint32_t slot, float box[ESPL__BOX_NUMBERS]);

// --- The rest ---

/// Return the first rule that renderables break, or NULL (validate.c). @param where  out: the entity concerned.
const char *espl__renderables_broken_rule(const void *renderables, espl_entity *where);
/// Return the bytes of renderables.
size_t espl__renderables_bytes(const void *renderables);
/// Free memory that the next updates do not need. @return false: no memory to move to for a part.
bool espl__renderables_trim(void *renderables);

#endif
