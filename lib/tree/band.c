// SPDX-License-Identifier: MIT
#include "lib/tree/band.h"

#include "lib/jobs/ranges.h"

// A first generation that grows to more than twice its length at once is left to grow on one
// thread, until it is a fourth of a piece: a few nodes may have nearly all others below them.
enum { EARLY = 4 };
// Part of a piece that a generation has at least, or going down through it is not worth the cuts.
enum { THIN = 128 };
// Part of a piece that each of its generations has on average at least: a worker that jumps on
// after a few nodes waits for memory longer than another one saves it. Asking for that memory a
// generation ahead was measured and changes nothing.
enum { SHORT = 16 };

typedef struct generation {
    uint32_t begin, end;
} generation;

static generation below(const espl__band *band, generation g)
{
    return (generation){espl__first_child(band->forest, band->run, g.begin),
                        espl__first_child(band->forest, band->run, g.end)};
}

static uint32_t length_of(generation g)
{
    return g.end - g.begin;
}

static bool is_thin(const espl__band *band, generation g)
{
    return length_of(g) <= band->forest->grain / THIN;
}

// --- Laying ---

// Ranks before which no generation is long enough; many generations are looked through at once.
static uint32_t skip_thin(const espl__band *band, generation g)
{
    for (uint32_t i = 0; i < ESPL__GENERATIONS && is_thin(band, g); ++i) {
        if (length_of(g) == 0) {
            return UINT32_MAX;
        }
        g = below(band, g);
    }
    return g.begin;
}

// Take in generation upon generation until one is thin. @return ranks in all of them.
static uint64_t take_generations(espl__band *band, generation g)
{
    uint64_t ranks = 0;

    band->generations = 0;
    while (band->generations < ESPL__GENERATIONS && !is_thin(band, g)) {
        band->begin[band->generations] = g.begin;
        band->end[band->generations] = g.end;
        band->generations += 1;
        ranks += length_of(g);
        g = below(band, g);
    }
    // Half of what was looked through is not looked at again, nor is an end that is too small.
    band->resume = band->generations > 1 ? band->begin[band->generations / 2] : g.begin;
    if (length_of(g) == 0 && ranks / 2 < band->forest->grain) {
        band->resume = UINT32_MAX;
    }
    return ranks;
}

// Pieces that a band is worth.
static uint32_t count_pieces(const espl__band *band, uint64_t ranks)
{
    const uint32_t grain = band->forest->grain;
    const uint64_t by_all = ranks / grain;
    const uint64_t by_length = ranks / band->generations / (grain / SHORT + 1);
    const uint64_t pieces = by_all < by_length ? by_all : by_length;

    return (uint32_t)(pieces < ESPL__PIECES ? pieces : ESPL__PIECES);
}

bool espl__band_lay(espl__band *band, const espl__forest *forest, const espl__run *run,
                    uint32_t begin, uint32_t end)
{
    const generation first = {begin, end};

    band->forest = forest;
    band->run = run;
    if (is_thin(band, first)) {
        band->resume = skip_thin(band, first);
        return false;
    }
    const generation second = below(band, first);

    if (length_of(first) < forest->grain / EARLY && length_of(second) / 2 > length_of(first)) {
        band->resume = second.begin;
        return false;
    }
    const uint64_t ranks = take_generations(band, first);

    band->pieces = count_pieces(band, ranks);
    return band->pieces >= 2;
}

// --- Cutting ---

// How many ranks of the band lie before a place in the first generation, but for a constant.
static uint64_t weight_before(const espl__band *band, uint32_t rank)
{
    uint64_t weight = rank;

    for (uint32_t g = 1; g < band->generations; ++g) {
        rank = espl__first_child(band->forest, band->run, rank);
        weight += rank;
    }
    return weight;
}

// The first place from `low` on with so much before it, or one with nearly as much.
static uint32_t find_cut(const espl__band *band, uint32_t low, uint64_t weight, uint64_t tolerance)
{
    uint32_t high = band->end[0];

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const uint64_t before = weight_before(band, middle);

        if (before + tolerance < weight) {
            low = middle + 1;
        } else if (before > weight + tolerance) {
            high = middle;
        } else {
            return middle;
        }
    }
    return low;
}

void espl__band_cut(espl__band *band)
{
    const uint64_t least = weight_before(band, band->begin[0]);
    const uint64_t ranks = weight_before(band, band->end[0]) - least;
    const uint64_t tolerance = ranks / band->pieces / 16;

    band->cuts[0] = band->begin[0];
    for (uint32_t i = 1; i < band->pieces; ++i) {
        band->cuts[i] =
            find_cut(band, band->cuts[i - 1], least + ranks * i / band->pieces, tolerance);
    }
    band->cuts[band->pieces] = band->end[0];
}

// --- Running ---

typedef struct band_run {
    espl_job function;
    void *context;
    bool is_done[ESPL__PIECES];
} band_run;

static void run_piece(void *argument, size_t piece)
{
    band_run *const run = argument;

    if (!run->is_done[piece]) {
        run->function(run->context, piece);
        run->is_done[piece] = true;
    }
}

void espl__band_run(const espl__band *band, const espl__team *team, espl_job function,
                    void *context)
{
    band_run run = {.function = function, .context = context};
    bool own = false;
    bool *const is_closed = team->is_closed != NULL ? team->is_closed : &own;
    const bool was_closed = *is_closed;

    *is_closed = true;
    (void)espl__run_jobs(team->executor, team->hooks, run_piece, &run, band->pieces);
    *is_closed = was_closed;
    for (size_t piece = 0; piece < band->pieces; ++piece) {
        run_piece(&run, piece);
    }
}
