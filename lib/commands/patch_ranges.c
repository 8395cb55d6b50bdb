// SPDX-License-Identifier: MIT
// A step of a patch in ranges of ranks: a plot that is much of the whole is cut between workers, in
// ranges that cost as much. Each of them writes what lies in it alone, and what ranges find out is
// added up, so that nothing depends on where the cuts are and who does which. A range that a
// bad executor loses is done here; none is done twice.
#include "lib/commands/patch.h"

// Ranges of one plot at most: what is kept of them is on the stack. Long ones are copied faster, but
// some for each worker let all of them end at once.
enum { RANGES = 64, RANGES_EACH = 4 };
// Ranges of the smallest plot that is cut.
enum { LEAST_RANGES = 4 };

typedef struct cutting {
    const espl__patch *patch;
    espl__patch_step step;
    uint32_t count;
    espl__cut cuts[RANGES + 1];
    espl__found found[RANGES];
    bool is_done[RANGES];
} cutting;

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint32_t count_ranges(const espl__patch *p)
{
    const espl_executor *const executor = p->playback->executor;

    if (!p->plot->is_wide || espl__executor_is_serial(executor)) {
        return 1;
    }
    const uint32_t grain = p->playback->wide / LEAST_RANGES;
    const uint64_t most = p->plot->cost / ESPL__RANK_COST / (grain > 0 ? grain : 1);
    const uint64_t workers = smaller(executor->worker_count, RANGES);

    return (uint32_t)smaller(smaller(most, RANGES), workers * RANGES_EACH);
}

// Go on by so many ranks of the piece that a cut is in.
static void pass(espl__cut *cut, const espl__patch *p, const espl__piece *piece, uint32_t count)
{
    cut->position += count;
    cut->piece += cut->position == piece->position + piece->count ? 1 : 0;
    cut->at += espl__patch_drafts(p, piece) ? count : 0;
    cut->hole += espl__patch_keeps_slots(p, piece) ? 0 : count;
}

// Go on until what has passed costs so much together, or little more.
static void pass_cost(const espl__patch *p, espl__cut *cut, uint64_t *passed, uint64_t cost)
{
    while (*passed < cost) {
        // What all pieces cost is more.
        ESPL_CHECK(cut->piece < p->laid->end);
        const espl__piece *const piece = espl__sketch_piece(p->sketch, cut->piece);
        const uint64_t each = espl__plot_cost(p->plot, p->laid, piece);
        const uint64_t left = piece->position + piece->count - cut->position;
        const uint64_t count = each == 0 ? left : smaller(left, (cost - *passed + each - 1) / each);

        *passed += count * each;
        pass(cut, p, piece, (uint32_t)count);
    }
}

// One way through the pieces for all cuts.
static void make_cuts(cutting *c)
{
    const espl__patch *const p = c->patch;
    espl__cut cut = espl__patch_begin(p);
    uint64_t passed = 0;

    for (uint32_t i = 0; i < c->count; ++i) {
        pass_cost(p, &cut, &passed, p->plot->cost * i / c->count);
        c->cuts[i] = cut;
    }
    c->cuts[c->count] = (espl__cut){.position = p->laid->size};
}

static void do_range(void *context, size_t number)
{
    cutting *const c = context;
    const uint32_t i = (uint32_t)number;
    const espl__stretch stretch = {c->cuts[i], c->cuts[i + 1].position, i, c->count};
    espl__found found = {0};

    if (!c->is_done[i]) {
        c->step(c->patch, &stretch, &found);
        c->found[i] = found;
        c->is_done[i] = true;
    }
}

static espl__found add_up(const cutting *c)
{
    espl__found all = {0};

    for (uint32_t i = 0; i < c->count; ++i) {
        all.extras += c->found[i].extras;
        all.kept += c->found[i].kept;
        all.strays |= c->found[i].strays;
        all.flags |= c->found[i].flags;
    }
    return all;
}

static espl__found run_whole(const espl__patch *p, espl__patch_step step)
{
    const espl__stretch whole = {espl__patch_begin(p), p->laid->size, 0, 1};
    espl__found found = {0};

    step(p, &whole, &found);
    return found;
}

static espl__found run_ranges(const espl__patch *p, espl__patch_step step, uint32_t count)
{
    const espl__playback *const playback = p->playback;
    cutting c = {.patch = p, .step = step, .count = count};

    make_cuts(&c);
    (void)espl__run_jobs(playback->executor, playback->hooks, do_range, &c, count);
    for (uint32_t i = 0; i < count; ++i) {
        do_range(&c, i);
    }
    return add_up(&c);
}

espl__found espl__patch_run(const espl__patch *p, espl__patch_step step)
{
    const uint32_t count = count_ranges(p);

    return count <= 1 ? run_whole(p, step) : run_ranges(p, step, count);
}
