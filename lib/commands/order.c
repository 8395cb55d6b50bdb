// SPDX-License-Identifier: MIT
// Stage 1: all lanes' commands in one order: by key, then lane, then place in the lane. A stable
// radix sort that skips the bytes in which all keys agree.
#include "lib/commands/playback.h"

#include <string.h>

enum { DIGITS = 4, BUCKETS = 256 };

typedef struct sortable {
    uint32_t key, lane, index;
} sortable;

static void gather(const espl__playback *playback, sortable *items,
                   size_t histograms[DIGITS][BUCKETS])
{
    size_t at = 0;

    for (uint32_t lane = 0; lane < playback->lane_count; ++lane) {
        for (size_t i = 0; i < playback->lanes[lane].count; ++i) {
            const uint32_t key = playback->lanes[lane].commands[i].key;

            items[at++] = (sortable){key, lane, (uint32_t)i};
            for (unsigned digit = 0; digit < DIGITS; ++digit) {
                histograms[digit][(key >> (8 * digit)) & 0xffu] += 1;
            }
        }
    }
}

static void sort_by_digit(sortable *out, const sortable *in, size_t count, unsigned digit,
                          const size_t *histogram)
{
    size_t begin[BUCKETS], sum = 0;

    for (size_t bucket = 0; bucket < BUCKETS; ++bucket) {
        begin[bucket] = sum;
        sum += histogram[bucket];
    }
    for (size_t i = 0; i < count; ++i) {
        out[begin[(in[i].key >> (8 * digit)) & 0xffu]++] = in[i];
    }
}

// Sort in place of one of two buffers; returns the one that holds the result.
static sortable *sort(sortable *items, sortable *other, size_t count,
                      size_t histograms[DIGITS][BUCKETS])
{
    for (unsigned digit = 0; digit < DIGITS && count > 0; ++digit) {
        if (histograms[digit][(items[0].key >> (8 * digit)) & 0xffu] == count) {
            continue;
        }
        sort_by_digit(other, items, count, digit, histograms[digit]);
        sortable *const sorted = other;
        other = items;
        items = sorted;
    }
    return items;
}

static espl_status count_lanes(espl__playback *playback)
{
    size_t commands = 0, pendings = 0;

    for (uint32_t i = 0; i < playback->lane_count; ++i) {
        espl__lane_view *const lane = &playback->lanes[i];

        lane->pending_base = (uint32_t)pendings;
        pendings += lane->pending_count;
        commands += lane->count;
        if (pendings >= UINT32_MAX / 2 || commands >= UINT32_MAX / 8) {
            return ESPL_ERR_LIMIT;
        }
    }
    playback->entry_count = commands;
    playback->pending_count = pendings;
    return ESPL_OK;
}

espl_status espl__stage_order(espl__playback *playback)
{
    size_t histograms[DIGITS][BUCKETS];
    const espl_status status = count_lanes(playback);
    const size_t count = playback->entry_count;

    if (status != ESPL_OK) {
        return status;
    }
    sortable *const items = espl__arena_take(&playback->arena, count, sizeof *items);
    sortable *const other = espl__arena_take(&playback->arena, count, sizeof *other);
    playback->entries = espl__arena_take(&playback->arena, count, sizeof *playback->entries);
    if (items == NULL || other == NULL || playback->entries == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }

    memset(histograms, 0, sizeof histograms);
    gather(playback, items, histograms);
    const sortable *const sorted = sort(items, other, count, histograms);
    for (size_t i = 0; i < count; ++i) {
        playback->entries[i] =
            (espl__entry){.command = &playback->lanes[sorted[i].lane].commands[sorted[i].index],
                          .lane = sorted[i].lane,
                          .index = sorted[i].index};
    }
    return ESPL_OK;
}
