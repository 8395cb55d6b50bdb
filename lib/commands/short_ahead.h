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

/// How often a loop goes round that takes things in fours: how many a group has nobody can guess, but
/// most have no more than that. What it takes behind the last one is somebody else's.
static inline uint32_t espl__in_fours(uint32_t count)
{
    return (count + 3) & ~3u;
}

/// Where the first lines of a range of links begin.
typedef struct espl__link_lines {
    uint32_t at[6];
} espl__link_lines;

/// As many whatever the length, the first one again past the end, since nothing tells the length
/// beforehand. Not in a loop, which would take twice as many instructions.
static inline espl__link_lines espl__link_lines_of(uint32_t begin, uint32_t end)
{
    enum { LINE = 16 };
    const uint32_t first = begin & ~(uint32_t)(LINE - 1);
    const uint32_t second = first + LINE, third = second + LINE, fourth = third + LINE;
    const uint32_t fifth = fourth + LINE, sixth = fifth + LINE;

    return (espl__link_lines){{first, second < end ? second : first, third < end ? third : first,
                               fourth < end ? fourth : first, fifth < end ? fifth : first,
                               sixth < end ? sixth : first}};
}

/// Ask for what of an array of links stands at [begin, end), up to a bound.
static inline void espl__ahead_links(const uint32_t *links, uint32_t begin, uint32_t end)
{
    const espl__link_lines lines = espl__link_lines_of(begin, end);

    espl__ask_to_write(&links[lines.at[0]]);
    espl__ask_to_write(&links[lines.at[1]]);
    espl__ask_to_write(&links[lines.at[2]]);
    espl__ask_to_write(&links[lines.at[3]]);
    espl__ask_to_write(&links[lines.at[4]]);
    espl__ask_to_write(&links[lines.at[5]]);
}

/// The same of two arrays at once.
static inline void espl__ahead_pairs(const uint32_t *a, const uint32_t *b, uint32_t begin,
                                     uint32_t end)
{
    espl__ahead_links(a, begin, end);
    espl__ahead_links(b, begin, end);
}

#endif
