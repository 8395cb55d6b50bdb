// SPDX-License-Identifier: MIT
// Worlds of a sketch while links are edited. A node of the forest has the world that stands there,
// until it or something above it is touched: its rank is stale from then on, and that of all that
// hang below it in the forest. Whoever is linked elsewhere is touched, and so is stale with all it
// brings along; what is made is always stale.
//
// Worlds of stale nodes are kept once they were computed. They hang below one another as their nodes
// do, so that a touch takes back those below it and no others. A node that is not stale keeps one
// too once a kept one is to hang below it, and its rank is marked for that: ranks turn stale in
// stretches, and those of them that bear something are found by their marks.
//
// So each rank turns stale once, each kept world is given back once, and a climb ends at the first
// node whose world is known.
#include "lib/tree/sketch.h"

#include <string.h>

enum { WORD_BITS = 64, NO_KEPT = ESPL__NO_NODE };

// Of 64 ranks of a load.
typedef struct ranks {
    uint64_t stale;
    uint64_t bears; // not stale, and some kept world hangs below theirs
} ranks;

_Static_assert(sizeof(ranks) == 2 * sizeof(uint64_t), "ranks: two words of the bag");

// --- Ranks ---

static ranks *ranks_of(const espl__sketch *sketch, const espl__load *load)
{
    return (ranks *)(void *)((uint64_t *)sketch->stale.items + load->stale);
}

// Give a load its words. @return false where there is no memory.
static bool make_ranks(espl__sketch *sketch, espl__load *load)
{
    espl__bag *const bag = &sketch->stale;

    if (load->stale != ESPL__NO_NODE) {
        return true;
    }
    const size_t words = 2 * espl__sketch_words(sketch->forest->runs[load->run].size);

    if (!espl__bag_reserve(bag, sketch->heap, sizeof(uint64_t), words)) {
        return false;
    }
    memset((uint64_t *)bag->items + bag->count, 0, words * sizeof(uint64_t));
    load->stale = bag->count;
    bag->count += (uint32_t)words;
    return true;
}

static bool is_stale(const espl__sketch *sketch, uint32_t node)
{
    if (espl__sketch_is_made(node)) {
        return true;
    }
    if (!sketch->is_touched) {
        return false;
    }
    const uint32_t mark = sketch->run_marks[sketch->forest->run[node]];

    ESPL_CHECK(mark != 0);
    const espl__load *const load = &sketch->loads[mark - 1];
    const uint32_t rank = sketch->forest->rank[node];

    return load->stale != ESPL__NO_NODE &&
           (ranks_of(sketch, load)[rank / WORD_BITS].stale >> rank % WORD_BITS & 1) != 0;
}

// --- Kept worlds ---

static espl__kept_world *kept_at(const espl__sketch *sketch, uint32_t number)
{
    return (espl__kept_world *)sketch->kept.items + number;
}

static uint32_t kept_of(const espl__sketch *sketch, uint32_t node)
{
    return espl__sketch_at(sketch, node)->kept - 1;
}

// Take one that was given back, or a new one. NO_KEPT where there is no memory.
static uint32_t take_kept(espl__sketch *sketch)
{
    espl__bag *const bag = &sketch->kept;
    const uint32_t unused = sketch->unused_kept;

    if (unused != NO_KEPT) {
        sketch->unused_kept = kept_at(sketch, unused)->next;
        return unused;
    }
    return espl__bag_reserve(bag, sketch->heap, sizeof(espl__kept_world), 1) ? bag->count++
                                                                             : NO_KEPT;
}

// Keep the world of a node below another kept one, or below none. Without memory it is computed
// again when it is asked for again. @return its number, or NO_KEPT.
static uint32_t keep_world(espl__sketch *sketch, uint32_t node, uint32_t above,
                           const espl_pose *world)
{
    const uint32_t number = take_kept(sketch);
    espl__kept_world kept = {.world = *world,
                             .node = node,
                             .parent = above,
                             .first = NO_KEPT,
                             .next = NO_KEPT,
                             .previous = NO_KEPT};

    if (number == NO_KEPT) {
        return NO_KEPT;
    }
    if (above != NO_KEPT) {
        kept.next = kept_at(sketch, above)->first;
        kept_at(sketch, above)->first = number;
    }
    if (kept.next != NO_KEPT) {
        kept_at(sketch, kept.next)->previous = number;
    }
    *kept_at(sketch, number) = kept;
    espl__sketch_at(sketch, node)->kept = number + 1;
    return number;
}

// Take a kept world out of the list of the one that it hangs below.
static void unhook(const espl__sketch *sketch, uint32_t number)
{
    const espl__kept_world *const kept = kept_at(sketch, number);

    if (kept->next != NO_KEPT) {
        kept_at(sketch, kept->next)->previous = kept->previous;
    }
    if (kept->previous != NO_KEPT) {
        kept_at(sketch, kept->previous)->next = kept->next;
    } else if (kept->parent != NO_KEPT) {
        kept_at(sketch, kept->parent)->first = kept->next;
    }
}

// Give back what is kept of a node and of all below it: what hangs below one goes before it.
static void forget_worlds(espl__sketch *sketch, uint32_t node)
{
    const uint32_t top = kept_of(sketch, node);
    uint32_t at = top;

    if (top == NO_KEPT) {
        return;
    }
    unhook(sketch, top);
    kept_at(sketch, top)->parent = NO_KEPT;
    while (at != NO_KEPT) {
        espl__kept_world *const kept = kept_at(sketch, at);
        const uint32_t below = kept->first;

        if (below != NO_KEPT) {
            kept->first = kept_at(sketch, below)->next;
            at = below;
            continue;
        }
        espl__sketch_at(sketch, kept->node)->kept = 0;
        kept->next = sketch->unused_kept;
        sketch->unused_kept = at;
        at = kept->parent;
    }
}

// --- Touching ---

// Ranks of one word turn stale: what stands on them is known no longer.
static void forget_borne(espl__sketch *sketch, const espl__load *load, uint32_t word,
                         uint64_t borne)
{
    const espl__forest *const forest = sketch->forest;

    for (; borne != 0; borne &= borne - 1) {
        const uint32_t rank = word * WORD_BITS + (uint32_t)__builtin_ctzll(borne);

        forget_worlds(sketch, forest->order[forest->runs[load->run].base + rank]);
    }
}

// The ranks of a word that are in [begin, end), which has some there.
static uint64_t mask_of(uint32_t word, uint32_t begin, uint32_t end)
{
    const uint32_t first = word * WORD_BITS;
    const uint64_t from = begin > first ? UINT64_MAX << (begin - first) : UINT64_MAX;

    return end - first < WORD_BITS ? from & ~(UINT64_MAX << (end - first)) : from;
}

// Let the ranks of a stretch turn stale, and narrow it to those that were not: below the others all
// are.
static void turn_stale(espl__sketch *sketch, const espl__load *load, uint32_t *begin, uint32_t *end)
{
    uint32_t first = *end, last = *end;

    for (uint32_t word = *begin / WORD_BITS; word <= (*end - 1) / WORD_BITS; ++word) {
        ranks *const at = &ranks_of(sketch, load)[word];
        const uint64_t fresh = mask_of(word, *begin, *end) & ~at->stale;

        if (fresh == 0) {
            continue;
        }
        const uint32_t lowest = word * WORD_BITS + (uint32_t)__builtin_ctzll(fresh);

        at->stale |= fresh;
        first = lowest < first ? lowest : first;
        last = word * WORD_BITS + WORD_BITS - (uint32_t)__builtin_clzll(fresh);
        forget_borne(sketch, load, word, fresh & at->bears);
    }
    *begin = first;
    *end = last;
}

// A rank and all below it, level by level.
static void touch_rank(espl__sketch *sketch, espl__load *load, uint32_t rank)
{
    const espl__run *const run = &sketch->forest->runs[load->run];
    uint32_t begin = rank, end = rank + 1;

    if (!make_ranks(sketch, load)) {
        sketch->is_failed = true;
        return;
    }
    load->is_dirty = sketch->is_touched = true;
    while (begin < end) {
        turn_stale(sketch, load, &begin, &end);
        begin = espl__first_child(sketch->forest, run, begin);
        end = espl__first_child(sketch->forest, run, end);
    }
}

void espl__sketch_touch(espl__sketch *sketch, uint32_t node)
{
    espl__node *const n = espl__sketch_at(sketch, node);

    n->flags |= ESPL__NODE_DIRTY;
    sketch->may_hide =
        sketch->may_hide || n->first != ESPL__NO_NODE || (n->flags & ESPL__NODE_CLONE) != 0;
    forget_worlds(sketch, node);
    if (sketch->is_watched) {
        espl__sketch_watch_node(sketch, node);
    }
    if (n->load != ESPL__NO_NODE) {
        touch_rank(sketch, &sketch->loads[n->load], sketch->forest->rank[n->slot]);
    }
}

// --- Asking ---

// The world of a node for which nothing is to be computed, or NULL.
static const espl_pose *settled_world(const espl__sketch *sketch, uint32_t node)
{
    if (!is_stale(sketch, node)) {
        return &sketch->forest->world[node];
    }
    if (!espl__sketch_is_known(sketch, node)) {
        return NULL;
    }
    const uint32_t kept = kept_of(sketch, node);

    return kept != NO_KEPT ? &kept_at(sketch, kept)->world : NULL;
}

// Go up to the nearest settled world, or past the root, and note the way down. @return the node there.
static uint32_t climb(espl__sketch *sketch, uint32_t node, uint32_t *way)
{
    *way = ESPL__NO_NODE;
    while (node != ESPL__NO_NODE && settled_world(sketch, node) == NULL) {
        espl__node *const n = espl__sketch_at(sketch, node);

        n->below = *way;
        *way = node;
        node = n->parent;
        sketch->risen += 1;
    }
    return node;
}

// What worlds below a settled node are to hang below: its kept world, which one that is not stale may
// have yet to get. Its rank bears them then. Tells whether they can be kept at all.
static bool bear(espl__sketch *sketch, uint32_t settled, uint32_t *above)
{
    *above = settled == ESPL__NO_NODE ? NO_KEPT : kept_of(sketch, settled);
    if (settled == ESPL__NO_NODE || *above != NO_KEPT) {
        return true;
    }
    // To ask for it may have failed.
    const uint32_t number = espl__sketch_at(sketch, settled)->load;

    if (sketch->is_failed || !make_ranks(sketch, &sketch->loads[number])) {
        return false;
    }
    const uint32_t rank = sketch->forest->rank[settled];

    *above = keep_world(sketch, settled, NO_KEPT, &sketch->forest->world[settled]);
    ranks_of(sketch, &sketch->loads[number])[rank / WORD_BITS].bears |= UINT64_C(1)
                                                                        << rank % WORD_BITS;
    return *above != NO_KEPT;
}

// Compute the worlds on the way down from a settled one, or from the root. Below one that cannot be
// kept none can: nobody would find it.
static espl_pose descend(espl__sketch *sketch, uint32_t settled, uint32_t way)
{
    espl_pose world =
        settled == ESPL__NO_NODE ? espl__pose_identity() : *settled_world(sketch, settled);
    uint32_t above = NO_KEPT;
    bool is_kept = bear(sketch, settled, &above);

    while (way != ESPL__NO_NODE && !sketch->is_failed) {
        world = espl__sketch_world_below(sketch, way, &world);
        above = is_kept ? keep_world(sketch, way, above, &world) : NO_KEPT;
        is_kept = above != NO_KEPT;
        way = espl__sketch_at(sketch, way)->below;
    }
    return world;
}

espl_pose espl__sketch_world(espl__sketch *sketch, uint32_t node)
{
    const espl_pose *const world = settled_world(sketch, node);
    uint32_t way = ESPL__NO_NODE;

    if (world != NULL) {
        return *world;
    }
    const uint32_t settled = climb(sketch, node, &way);

    return descend(sketch, settled, way);
}
