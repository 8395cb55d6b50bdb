// SPDX-License-Identifier: MIT
// Groups of the short way stand far apart in the forest, so that most of what one costs is waiting
// for memory: these ask for it while groups before it are at work.
#ifndef ESPALIER_LIB_COMMANDS_SHORT_AHEAD_H
#define ESPALIER_LIB_COMMANDS_SHORT_AHEAD_H

#include "lib/base/ahead.h"
#include "lib/commands/short.h"

/// Groups that take each step of their way together. Their commands are one range of
/// grouped_entries, so that what is asked for of each is one loop: how many a group has nobody can
/// guess.
typedef struct espl__batch {
    espl__group *first, *end;
} espl__batch;

/// Batches of a size that groups [begin, end) come to.
static inline size_t espl__batch_count(size_t begin, size_t end, size_t size)
{
    return (end - begin + size - 1) / size;
}

/// One of them, which is there.
static inline espl__batch espl__batch_at(espl__group *groups, size_t begin, size_t end,
                                         size_t number, size_t size)
{
    const size_t first = begin + number * size;

    return (espl__batch){groups + first, groups + (end - first < size ? end : first + size)};
}

/// Where the commands of a batch that are asked for end: all of them, unless some group is large.
static inline uint32_t espl__batch_entries_end(espl__batch batch)
{
    enum { MOST = 64 };
    const uint32_t begin = batch.first->entry_begin, end = batch.end[-1].entry_end;

    return end - begin < MOST ? end : begin + MOST;
}

/// Ask for what of an array of links stands at [begin, end), up to a bound. As many times whatever the
/// length: nothing tells it beforehand.
static inline void espl__ahead_links(const uint32_t *links, uint32_t begin, uint32_t end)
{
    enum { LINE = 16, LINES = 6 };
    const uint32_t first = begin / LINE * LINE;

    for (uint32_t at = first; at < first + LINES * LINE; at += LINE) {
        espl__ask_to_write(links + (at < end ? at : begin));
    }
}

/// The rank that is asked for on behalf of a step. Which steps are those of nodes that go nothing tells
/// beforehand, so that all are asked for: where nodes come in, the rank before them, which is there.
static inline uint32_t espl__ahead_rank(const espl__splice_step *step)
{
    return step->gap - (step->comes ? 1 : 0);
}

/// Ask for the order of ranks that go.
static inline void espl__ahead_order(const espl__playback *playback, const espl__group *group)
{
    const espl__splice_step *const steps = playback->steps + group->step_begin;

    if (group->does == ESPL__SHORT_END) {
        espl__ask(&playback->forest->order[group->base]);
    }
    for (uint32_t i = 0; group->does == ESPL__SHORT_SPLICE && i < group->step_count; ++i) {
        espl__ask(&playback->forest->order[group->base + espl__ahead_rank(&steps[i])]);
    }
}

/// Ask for what is read of the first nodes that go by each step of a group; their order is at hand.
static inline void espl__ahead_goners(const espl__playback *playback, const espl__group *group)
{
    const espl__splice_step *const steps = playback->steps + group->step_begin;
    const espl__forest *const forest = playback->forest;

    if (group->does == ESPL__SHORT_END) {
        espl__ask(&forest->entity[group->base]);
    }
    for (uint32_t i = 0; group->does == ESPL__SHORT_SPLICE && i < group->step_count; ++i) {
        const uint32_t slot = forest->order[group->base + espl__ahead_rank(&steps[i])];

        espl__ask(&forest->entity[slot]);
    }
}

#endif
