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
    enum { MOST = 256 };
    const uint32_t begin = batch.first->entry_begin, end = batch.end[-1].entry_end;

    return end - begin < MOST ? end : begin + MOST;
}

/// How often a loop goes round that takes things in fours, the last one again in the end: how many a
/// group has nobody can guess, but most have no more than that.
static inline uint32_t espl__in_fours(uint32_t count)
{
    return (count + 3) & ~3u;
}

/// Ask for what of an array of links stands at [begin, end), up to a bound. As many times whatever the
/// length, since nothing tells it beforehand, and not in a loop, which would take twice as many
/// instructions.
static inline void espl__ahead_links(const uint32_t *links, uint32_t begin, uint32_t end)
{
    enum { LINE = 16 };
    const uint32_t *const first = links + begin / LINE * LINE, *const limit = links + end;
    const uint32_t *const second = first + LINE, *const third = second + LINE;
    const uint32_t *const fourth = third + LINE, *const fifth = fourth + LINE;
    const uint32_t *const sixth = fifth + LINE;

    espl__ask_to_write(first);
    espl__ask_to_write(second < limit ? second : first);
    espl__ask_to_write(third < limit ? third : first);
    espl__ask_to_write(fourth < limit ? fourth : first);
    espl__ask_to_write(fifth < limit ? fifth : first);
    espl__ask_to_write(sixth < limit ? sixth : first);
}

#endif
