// SPDX-License-Identifier: MIT
// Stage 1: all lanes' commands in one order: by key, then lane, then place in the lane. Lane behind
// lane is that order already where no key is smaller than the one before it, as when all are alike.
// Else a stable radix sort, which skips the bytes in which all keys agree.
#include "lib/commands/playback.h"

#include <stdatomic.h>
#include <string.h>

// Fewer commands are listed sooner by one worker than others wake up.
enum { GRAIN = 4096, SORT_BLOCK = 8192, SORT_BLOCKS = 64, DIGITS = 4, BUCKETS = 256 };

static espl_status count_lanes(espl__playback *playback)
{
    size_t commands = 0, pendings = 0;

    for (uint32_t i = 0; i < playback->lane_count; ++i) {
        espl__lane_view *const lane = &playback->lanes[i];

        lane->pending_base = (uint32_t)pendings;
        lane->command_base = (uint32_t)commands;
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

// --- Lane behind lane ---

typedef struct listing {
    espl__playback *playback;
    atomic_bool is_unordered;
} listing;

static uint32_t lane_of(const espl__playback *playback, size_t number)
{
    uint32_t lane = 0;

    while (number - playback->lanes[lane].command_base >= playback->lanes[lane].count) {
        lane += 1;
    }
    return lane;
}

static uint32_t key_at(const espl__playback *playback, size_t number)
{
    const espl__lane_view *const lane = &playback->lanes[lane_of(playback, number)];

    return lane->commands[number - lane->command_base].key;
}

// List commands [begin, end) of one lane, whose entries start at `out`. The largest key that came
// before, or UINT32_MAX + 1 where a smaller one follows: the rest is not listed then.
static uint64_t list_part(espl__entry *out, const espl__lane_view *lane, uint32_t number,
                          uint32_t begin, uint32_t end, uint64_t key)
{
    for (uint32_t i = begin; i < end; ++i) {
        const espl__command *const command = &lane->commands[i];

        if (command->key < key) {
            return (uint64_t)UINT32_MAX + 1;
        }
        key = command->key;
        out[i - begin] = (espl__entry){.command = command, .lane = number, .index = i};
    }
    return key;
}

static void list_commands(void *context, size_t begin, size_t end)
{
    listing *const l = context;
    const espl__playback *const playback = l->playback;
    uint32_t lane = lane_of(playback, begin);
    uint64_t key = begin == 0 ? 0 : key_at(playback, begin - 1);

    // Whoever finds one smaller key stops all others.
    while (begin < end && !atomic_load_explicit(&l->is_unordered, memory_order_relaxed)) {
        const espl__lane_view *const view = &playback->lanes[lane];
        const size_t last = view->command_base + view->count;
        const size_t stop = last < end ? last : end;

        key =
            list_part(&playback->entries[begin], view, lane, (uint32_t)(begin - view->command_base),
                      (uint32_t)(stop - view->command_base), key);
        if (key > UINT32_MAX) {
            atomic_store_explicit(&l->is_unordered, true, memory_order_relaxed);
        }
        begin = stop;
        lane += 1;
    }
}

// --- The sort ---

typedef struct sortable {
    uint32_t key, lane, index;
} sortable;

// Keys are counted, and moved, block by block: the blocks of one bucket follow each other, which
// gives the same order for any cut.
typedef struct sorting {
    espl__playback *playback;
    sortable *in, *out;          // [count]
    uint32_t (*places)[BUCKETS]; // [blocks] how many of each digit, then where they go
    uint32_t *differences;       // [blocks] bits in which a key differs from the first of all
    size_t count, blocks;
    unsigned shift;
} sorting;

static size_t block_begin(const sorting *s, size_t block)
{
    return s->count * block / s->blocks;
}

static void gather_block(const sorting *s, size_t block)
{
    const espl__playback *const playback = s->playback;
    const size_t end = block_begin(s, block + 1);
    const uint32_t first = key_at(playback, 0);
    uint32_t lane = lane_of(playback, block_begin(s, block)), differences = 0;

    for (size_t at = block_begin(s, block); at < end; ++at) {
        while (at - playback->lanes[lane].command_base >= playback->lanes[lane].count) {
            lane += 1;
        }
        const uint32_t index = (uint32_t)(at - playback->lanes[lane].command_base);
        const uint32_t key = playback->lanes[lane].commands[index].key;

        s->in[at] = (sortable){key, lane, index};
        differences |= key ^ first;
    }
    s->differences[block] = differences;
}

static void gather(void *context, size_t begin, size_t end)
{
    for (size_t block = begin; block < end; ++block) {
        gather_block(context, block);
    }
}

static unsigned digit_of(const sorting *s, const sortable *item)
{
    return (item->key >> s->shift) % BUCKETS;
}

static void count_digits(void *context, size_t begin, size_t end)
{
    const sorting *const s = context;

    for (size_t block = begin; block < end; ++block) {
        memset(s->places[block], 0, sizeof s->places[block]);
        for (size_t i = block_begin(s, block); i < block_begin(s, block + 1); ++i) {
            s->places[block][digit_of(s, &s->in[i])] += 1;
        }
    }
}

static void find_places(const sorting *s)
{
    uint32_t sum = 0;

    for (unsigned digit = 0; digit < BUCKETS; ++digit) {
        for (size_t block = 0; block < s->blocks; ++block) {
            const uint32_t here = s->places[block][digit];

            s->places[block][digit] = sum;
            sum += here;
        }
    }
}

static void move_items(void *context, size_t begin, size_t end)
{
    const sorting *const s = context;

    for (size_t block = begin; block < end; ++block) {
        for (size_t i = block_begin(s, block); i < block_begin(s, block + 1); ++i) {
            s->out[s->places[block][digit_of(s, &s->in[i])]++] = s->in[i];
        }
    }
}

static espl_status run_blocks(sorting *s, espl__range_function function)
{
    return espl__run_ranges(s->playback->executor, s->playback->hooks, function, s, s->blocks, 1);
}

// Ends with the result as what would go into the next pass.
static espl_status sort(sorting *s)
{
    espl_status status = run_blocks(s, gather);
    uint32_t differences = 0;

    for (size_t block = 0; status == ESPL_OK && block < s->blocks; ++block) {
        differences |= s->differences[block];
    }
    for (s->shift = 0; status == ESPL_OK && s->shift < 8 * DIGITS; s->shift += 8) {
        if ((differences >> s->shift) % BUCKETS == 0) {
            continue;
        }
        status = run_blocks(s, count_digits);
        if (status == ESPL_OK) {
            find_places(s);
            status = run_blocks(s, move_items);
        }
        sortable *const sorted = s->out;
        s->out = s->in;
        s->in = sorted;
    }
    return status;
}

static void list_sorted(void *context, size_t begin, size_t end)
{
    const sorting *const s = context;
    const espl__playback *const playback = s->playback;

    for (size_t i = begin; i < end; ++i) {
        const sortable *const item = &s->in[i];

        playback->entries[i] =
            (espl__entry){.command = &playback->lanes[item->lane].commands[item->index],
                          .lane = item->lane,
                          .index = item->index};
    }
}

static espl_status list_by_key(espl__playback *playback)
{
    const size_t count = playback->entry_count;
    const size_t most = (count + SORT_BLOCK - 1) / SORT_BLOCK;
    const size_t blocks = most < SORT_BLOCKS ? most : SORT_BLOCKS;
    espl__arena *const arena = &playback->arena;
    sorting s = {.playback = playback,
                 .in = espl__arena_take(arena, count, sizeof *s.in),
                 .out = espl__arena_take(arena, count, sizeof *s.out),
                 .places = espl__arena_take(arena, blocks, sizeof *s.places),
                 .differences = espl__arena_take(arena, blocks, sizeof *s.differences),
                 .count = count,
                 .blocks = blocks};

    if (s.in == NULL || s.out == NULL || s.places == NULL || s.differences == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    const espl_status status = sort(&s);

    return status != ESPL_OK ? status
                             : espl__run_ranges(playback->executor, playback->hooks, list_sorted,
                                                &s, count, GRAIN);
}

espl_status espl__stage_order(espl__playback *playback)
{
    listing l = {.playback = playback};
    espl_status status = count_lanes(playback);

    if (status != ESPL_OK) {
        return status;
    }
    playback->entries =
        espl__arena_take(&playback->arena, playback->entry_count, sizeof *playback->entries);
    if (playback->entries == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }

    atomic_init(&l.is_unordered, false);
    status = espl__run_ranges(playback->executor, playback->hooks, list_commands, &l,
                              playback->entry_count, GRAIN);
    return status == ESPL_OK && atomic_load(&l.is_unordered) ? list_by_key(playback) : status;
}
