// SPDX-License-Identifier: MIT
// The end of a walk in which much waits: bands of it are visited in pieces, each by a walk of its
// own that goes down as far as the band does. What then waits behind the band is joined in the
// order of ranks.
#include "lib/tree/band.h"
#include "lib/tree/propagate.h"

// Gaps that a piece steps over; where there are more, they are visited.
enum { SPANS_OF_PIECE = 16 };
// Part of a band's first generation that waits at least: else most pieces had nothing to do.
enum { DENSE = 4 };

typedef struct piece {
    espl__walk walk;
    espl__span spans[SPANS_OF_PIECE];
} piece;

typedef struct spread {
    const espl__walk *walk; // what waits; not touched while pieces are walked
    espl__band band;
    piece pieces[ESPL__PIECES];
} spread;

static void walk_piece(void *context, size_t number)
{
    spread *const s = context;
    piece *const p = &s->pieces[number];

    espl__walk_fork(&p->walk, s->walk, p->spans, SPANS_OF_PIECE, s->band.cuts[number],
                    s->band.cuts[number + 1]);
    espl__walk_advance(&p->walk, espl__band_limit(&s->band));
}

// Ranks that wait.
static uint64_t count_waiting(const espl__walk *walk)
{
    uint64_t ranks = 0;

    for (uint32_t i = 0; i < walk->count; ++i) {
        const espl__span *const span = espl__walk_span(walk, i);

        ranks += span->end - span->begin;
    }
    return ranks;
}

// Visit a band of what waits, or, where that is too little, what is best visited on one thread.
// Only children of visited nodes wait, so that none hangs below another.
static void visit_band(espl__walk *walk, const espl__team *team)
{
    const uint32_t begin = espl__walk_span(walk, 0)->begin;
    const uint32_t end = espl__walk_span(walk, walk->count - 1)->end;
    spread s;

    s.walk = walk;
    if (!espl__band_lay(&s.band, walk->forest, walk->run, begin, end)) {
        espl__walk_advance(walk, s.band.resume);
        return;
    }
    if (count_waiting(walk) < (end - begin) / DENSE) {
        espl__walk_advance(walk, espl__first_child(walk->forest, walk->run, begin));
        return;
    }
    espl__band_cut(&s.band);
    espl__band_run(&s.band, team, walk_piece, &s);
    espl__walk_clear(walk, espl__band_limit(&s.band));
    for (uint32_t i = 0; i < s.band.pieces; ++i) {
        espl__walk_join(walk, &s.pieces[i].walk);
    }
}

void espl__walk_finish(espl__walk *walk, const espl__team *team)
{
    while (walk->count != 0) {
        visit_band(walk, team);
    }
}
