// SPDX-License-Identifier: MIT
// What a graft does to the nodes that stay: the stretches between its edges, and how they shift.
//
// Where a subtree leaves or comes in, the edges are: behind its parent, whose next ranks have their
// first children moved; behind (or at) each level, where ranks move; and where children of the last
// level would stand, from where on all parents have moved. With n edges passed, ranks have moved by
// the nodes of n - 1 levels, parents by those of n - 2, first children by those of n.
#include "lib/tree/graft.h"

#include <string.h>

// Ranks [begin, end).
typedef struct ranks {
    uint32_t begin, end;
} ranks;

// Nodes of the first levels of the subtree, as many as there are.
static uint32_t nodes_of(const espl__graft *graft, uint32_t levels)
{
    return graft->starts[levels < graft->levels ? levels : graft->levels];
}

static uint32_t less(uint32_t value, uint32_t by)
{
    return value > by ? value - by : 0;
}

// Note a stretch behind so many edges, unless nothing in it moves.
static uint32_t note_stretch(espl__graft *graft, uint32_t count, ranks at, uint32_t cuts,
                             uint32_t pastes)
{
    const espl__stretch s = {
        .begin = at.begin,
        .end = at.end,
        .by = nodes_of(graft, less(pastes, 1)) - nodes_of(graft, less(cuts, 1)),
        .parents_by = nodes_of(graft, less(pastes, 2)) - nodes_of(graft, less(cuts, 2)),
        .firsts_by = nodes_of(graft, pastes) - nodes_of(graft, cuts),
    };

    if (at.begin >= at.end || (s.by | s.parents_by | s.firsts_by) == 0) {
        return count;
    }
    graft->stretches[count] = s;
    graft->forest->nodes_shifted += s.end - s.begin;
    return count + 1;
}

// List the stretches that stay in a run of a size, by edges of the cut, the paste or both.
static uint32_t list_stretches(espl__graft *graft, uint32_t size, bool has_cut, bool has_paste)
{
    const uint32_t edges = graft->levels + 2;
    uint32_t cut = has_cut ? 0 : edges, paste = has_paste ? 0 : edges;
    uint32_t at = 0, count = 0;

    while (cut < edges || paste < edges) {
        const uint32_t leaving = cut == edges ? UINT32_MAX
                                 : cut == 0   ? graft->cuts[0]
                                              : espl__graft_level_begin(graft, cut - 1);
        const bool is_paste = paste < edges && graft->pastes[paste] <= leaving;
        const uint32_t end = is_paste ? graft->pastes[paste] : leaving;

        count =
            note_stretch(graft, count, (ranks){at, end}, has_cut ? cut : 0, has_paste ? paste : 0);
        at = is_paste ? end : graft->cuts[cut];
        paste += is_paste ? 1 : 0;
        cut += is_paste ? 0 : 1;
    }
    return note_stretch(graft, count, (ranks){at, size}, has_cut ? cut : 0, has_paste ? paste : 0);
}

enum { BLOCK = 64 };

// Move one block and add to it on the way. All of it is read before any of it is written; a whole
// block has a fixed count, which compilers turn into wide operations.
static void carry_block(uint32_t *to, const uint32_t *from, size_t count, uint32_t by)
{
    uint32_t block[BLOCK];

    if (count == BLOCK) {
        memcpy(block, from, sizeof block);
        for (int i = 0; i < BLOCK; ++i) {
            block[i] += by;
        }
        memcpy(to, block, sizeof block);
        return;
    }
    memcpy(block, from, count * sizeof *block);
    for (size_t i = 0; i < count; ++i) {
        block[i] += by;
    }
    memcpy(to, block, count * sizeof *block);
}

// Move values by some places, up or down, and add to each of them on the way.
static void carry(uint32_t *values, size_t from, size_t to, size_t count, uint32_t by)
{
    if (from == to && by == 0) {
        return;
    }
    for (size_t done = 0; to <= from && done < count; done += BLOCK) {
        const size_t size = count - done < BLOCK ? count - done : BLOCK;

        carry_block(values + to + done, values + from + done, size, by);
    }
    for (size_t left = count; to > from && left > 0;) {
        const size_t size = left < BLOCK ? left : BLOCK;

        left -= size;
        carry_block(values + to + left, values + from + left, size, by);
    }
}

// Move slots by some places, front to back where they go down, and tell each its rank on the way.
static void carry_order(espl__forest *forest, size_t from, size_t to, size_t count, uint32_t rank)
{
    uint32_t *const order = forest->order, *const rank_of = forest->rank;

    for (size_t i = 0; to < from && i < count; ++i) {
        const uint32_t slot = order[from + i];

        order[to + i] = slot;
        rank_of[slot] = rank + (uint32_t)i;
    }
    for (size_t i = count; to > from && i-- > 0;) {
        const uint32_t slot = order[from + i];

        order[to + i] = slot;
        rank_of[slot] = rank + (uint32_t)i;
    }
}

static void shift_stretch(espl__forest *forest, const espl__run *run, espl__stretch s)
{
    const size_t from = (size_t)run->base + s.begin;
    const size_t to = (size_t)run->base + (uint32_t)(s.begin + s.by);
    const size_t count = s.end - s.begin;

    carry(forest->parent, from, to, count, s.parents_by);
    carry(forest->first, from, to, count, s.firsts_by);
    carry_order(forest, from, to, count, (uint32_t)(to - run->base));
}

// Those that move down go front to back, then those that move up back to front,
// so that none is written over before it moved. Nodes keep their order, so a stretch that moves one
// way ends before the place of one that moves the other way.
void espl__graft_shift(espl__graft *graft, espl__run *run, bool has_cut, bool has_paste)
{
    const uint32_t count = list_stretches(graft, run->size, has_cut, has_paste);

    for (uint32_t i = 0; i < count; ++i) {
        const espl__stretch s = graft->stretches[i];

        if (s.by == 0 || s.by > INT32_MAX) {
            shift_stretch(graft->forest, run, s);
        }
        run->flags &= s.by == 0 ? ~0u : ~(unsigned)ESPL__RUN_IN_ORDER;
    }
    for (uint32_t i = count; i-- > 0;) {
        const espl__stretch s = graft->stretches[i];

        if (s.by != 0 && s.by <= INT32_MAX) {
            shift_stretch(graft->forest, run, s);
        }
    }
}
