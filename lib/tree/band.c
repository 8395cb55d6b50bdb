// SPDX-License-Identifier: MIT
#include "lib/tree/band.h"

#include "lib/jobs/ranges.h"

#include <stdatomic.h>

enum {
    PIECES = 64, // of a band at most
    // Part of a piece that each of its levels has on average at least: a worker that jumps to the
    // next level after a few nodes waits for memory longer than another worker saves.
    SHORT = 16,
    // A level that grows or shrinks by more than this factor against the first one begins another
    // band, because the pieces are cut by the widest level and would become uneven.
    GROWTH = 8,
};

// Consecutive levels that are cut into pieces.
typedef struct band {
    espl__forest *forest;
    const espl__tree *tree;
    uint32_t begin, end;           // first level
    uint32_t wide_begin, wide_end; // widest level
    uint32_t height;               // of the first level above the widest one
    uint32_t limit;                // end of the last level
    uint32_t next_begin, next_end; // the level below the last one
    uint32_t pieces;
    _Atomic bool has_alarm;
    bool is_done[PIECES];
} band;

// --- Levels ---

// Children are in the order of their parents, so the first child of the next node that has one is
// it.
uint32_t espl__first_below(const espl__forest *forest, const espl__tree *tree, uint32_t slot)
{
    enum { NEAR = 4 };
    const uint32_t *const parent = forest->parent;
    uint32_t low = slot + 1, high = tree->base + tree->used;

    if (low >= high || parent[high - 1] < slot) {
        return high;
    }
    for (uint32_t i = slot; i < slot + NEAR; ++i) { // some node at or behind `slot` has a child
        if (forest->links[i].first_child != ESPL__NO_SLOT) {
            return forest->links[i].first_child;
        }
    }
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (parent[middle] < slot) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static float compose(espl__forest *forest, uint32_t begin, uint32_t end)
{
    espl__clear_stale(forest, begin, end);
    return forest->kernels->compose(forest->world, forest->local, forest->parent, begin, end);
}

// --- Bands ---

// Collect levels from the first one on. @return nodes in all of them.
static uint64_t collect_levels(band *b, uint32_t *levels)
{
    const uint64_t first = b->end - b->begin;
    uint32_t begin = b->begin, end = b->end;
    uint64_t nodes = 0, most = 0, width = first;

    *levels = 0;
    while (width != 0 && width * GROWTH >= first && width <= first * GROWTH) {
        if (width > most) {
            most = width;
            b->wide_begin = begin;
            b->wide_end = end;
            b->height = *levels;
        }
        nodes += width;
        *levels += 1;
        b->limit = end;
        begin = espl__first_below(b->forest, b->tree, begin);
        end = espl__first_below(b->forest, b->tree, end);
        width = end - begin;
    }
    b->next_begin = begin;
    b->next_end = end;
    return nodes;
}

// @return nodes of the band; 0: too few for several workers, or too narrow.
static uint64_t band_lay(band *b, uint32_t begin, uint32_t end)
{
    const uint32_t grain = b->forest->grain, least = grain / SHORT + 1;
    uint32_t levels = 0;

    b->begin = begin;
    b->end = end;
    b->limit = end;
    if (end - begin < least) {
        return 0;
    }
    const uint64_t nodes = collect_levels(b, &levels);
    const uint64_t by_all = nodes / grain, by_width = nodes / levels / least;
    const uint64_t pieces = by_all < by_width ? by_all : by_width;

    b->pieces = (uint32_t)(pieces < PIECES ? pieces : PIECES);
    return b->pieces >= 2 ? nodes : 0;
}

// Where a piece begins in the first level. The widest level is cut into equal parts, and the cuts
// are followed up along the parents.
static uint32_t piece_begin(const band *b, size_t piece)
{
    const uint64_t width = b->wide_end - b->wide_begin;
    uint32_t slot = b->wide_begin + (uint32_t)(width * piece / b->pieces);

    if (piece == 0 || piece == b->pieces) {
        return piece == 0 ? b->begin : b->end;
    }
    for (uint32_t i = 0; i < b->height; ++i) {
        slot = b->forest->parent[slot];
    }
    return slot;
}

static void run_piece(void *context, size_t piece)
{
    band *const b = context;
    espl__forest *const forest = b->forest;
    uint32_t begin = piece_begin(b, piece), end = piece_begin(b, piece + 1);
    float alarm = 0;

    if (b->is_done[piece]) {
        return;
    }
    while (begin < end && begin < b->limit) {
        alarm += compose(forest, begin, end);
        begin = espl__first_below(forest, b->tree, begin);
        end = espl__first_below(forest, b->tree, end);
    }
    if (alarm != 0) {
        b->has_alarm = true;
    }
    b->is_done[piece] = true;
}

static void band_run(band *b, const espl__workers *workers)
{
    bool own = false;
    bool *const is_closed = workers->is_closed != NULL ? workers->is_closed : &own;
    const bool was_closed = *is_closed;

    memset(b->is_done, 0, sizeof b->is_done);
    *is_closed = true;
    (void)espl__run_jobs(workers->executor, workers->hooks, run_piece, b, b->pieces);
    *is_closed = was_closed;
    for (size_t piece = 0; piece < b->pieces; ++piece) {
        run_piece(b, piece); // unless the executor had it done
    }
}

// --- From a level down ---

// Levels that are not worth a band, on this thread. Their children are the next level.
static float compose_levels(band *b, uint64_t *visited)
{
    uint32_t begin = b->begin, end = b->end;
    float alarm = 0;

    while (begin < end && begin < b->limit) {
        alarm += compose(b->forest, begin, end);
        *visited += end - begin;
        begin = espl__first_below(b->forest, b->tree, begin);
        end = espl__first_below(b->forest, b->tree, end);
    }
    b->next_begin = begin;
    b->next_end = end;
    return alarm;
}

// The same of everything behind a slot, where levels are next to each other: a good number of slots
// in one call, because levels may be narrow. Any slot begins a level then.
static float compose_suffix(band *b, uint64_t *visited)
{
    const uint32_t end = b->tree->base + b->tree->used, least = b->begin + b->forest->grain;
    const uint32_t limit = b->limit > least ? b->limit : least < end ? least : end;
    const float alarm = compose(b->forest, b->begin, limit);

    *visited += limit - b->begin;
    b->next_begin = limit;
    b->next_end = limit < end ? espl__first_below(b->forest, b->tree, limit) : limit;
    return alarm;
}

float espl__compose_wide(espl__forest *forest, const espl__workers *workers, const espl__tree *tree,
                         uint32_t begin, uint32_t end, bool is_suffix, uint64_t *visited)
{
    band b = {.forest = forest, .tree = tree, .next_begin = begin, .next_end = end};
    float alarm = 0;

    while (b.next_begin < b.next_end) {
        const uint64_t nodes = band_lay(&b, b.next_begin, b.next_end);

        if (nodes != 0) {
            band_run(&b, workers);
            *visited += nodes;
        } else {
            alarm += is_suffix ? compose_suffix(&b, visited) : compose_levels(&b, visited);
        }
    }
    return b.has_alarm ? NAN : alarm;
}
