// SPDX-License-Identifier: MIT
// Stage 1: the commands of all lanes in one order: by key, then lane, then index in the lane.
//
// Input: the lanes. Output: one entry for each command, with its lane and index; the numbers at
// which each lane begins; the payloads of custom commands, which take no part in the stages that
// follow.
//
// The commands of lane 0, then lane 1 and so on are in this order already if no key is smaller than
// the one before it, as where all keys are equal. Otherwise a stable radix sort orders them, which
// skips the bytes in which all keys agree. Both run on the workers, and the result does not depend
// on the cut.
//
// Cost: O(commands + lanes of each job); with the sort, one more pass for each byte in which keys
// differ.
#include "lib/commands/stages.h"

#include <stdatomic.h>
#include <string.h>

enum {
    ORDER_GRAIN =
        4096,          // commands of a job at least: one worker lists fewer before another wakes up
    SORT_BLOCK = 8192, // commands of a block of the sort at least
    SORT_BLOCKS = 64,  // at most
    DIGITS = 4,        // bytes of a key
    BUCKETS = 256      // values of a byte
};

// State of the stage.
typedef struct ordering {
    const espl_executor *executor;
    const espl_hooks *hooks;
    const espl__lane_view *lanes; // [lane_count]
    espl__lane_base *bases;       // [lane_count]
    espl__entry *entries;         // [count]
    size_t count;
    atomic_bool is_unordered; // a key is smaller than the one before it
} ordering;

// Number the commands and the pending handles of all lanes. Limits keep all numbers below
// UINT32_MAX / 2. @return ESPL_OK, ESPL_ERR_LIMIT.
static espl_status count_lanes(const espl__play_request *request, espl__lane_base *bases,
                               espl__ordered *out)
{
    size_t commands = 0, pendings = 0, customs = 0;

    for (uint32_t i = 0; i < request->lane_count; ++i) {
        const espl__lane_view *const lane = &request->lanes[i];

        bases[i] =
            (espl__lane_base){.commands = (uint32_t)commands, .pendings = (uint32_t)pendings};
        pendings += lane->pending_count;
        commands += lane->count;
        customs += lane->custom_count;
        if (pendings >= UINT32_MAX / 2 || commands >= UINT32_MAX / 8) {
            return ESPL_ERR_LIMIT;
        }
    }
    ESPL_CHECK(customs <= commands);
    out->bases = bases;
    out->entry_count = commands;
    out->pending_count = pendings;
    out->custom_count = customs;
    return ESPL_OK;
}

// --- Lane after lane ---

// The lane of a command, by its number among the commands of all lanes.
static uint32_t lane_of(const ordering *o, size_t number)
{
    uint32_t lane = 0;

    ESPL_CHECK(number < o->count);
    while (number - o->bases[lane].commands >= o->lanes[lane].count) {
        lane += 1;
    }
    return lane;
}

// The key of a command, by its number among the commands of all lanes.
static uint32_t key_at(const ordering *o, size_t number)
{
    const uint32_t lane = lane_of(o, number);

    return o->lanes[lane].commands[number - o->bases[lane].commands].key;
}

// The other fields are written by the stages that follow, before any of them reads them.
static inline void fill_entry(espl__entry *out, const espl__command *command, uint32_t lane,
                              uint32_t index)
{
    out->command = command;
    out->lane = lane;
    out->index = index;
}

// List commands [begin, end) of one lane, whose entries start at `out`.
// @param key  the largest key that came before.
// @return the largest key so far, or UINT32_MAX + 1 where a smaller key follows a larger one, and
//         then the rest is not listed.
static uint64_t list_lane(espl__entry *out, const espl__lane_view *lane, uint32_t number,
                          uint32_t begin, uint32_t end, uint64_t key)
{
    ESPL_CHECK(begin <= end && end <= lane->count);
    for (uint32_t i = begin; i < end; ++i) {
        const espl__command *const command = &lane->commands[i];

        if (command->key < key) {
            return (uint64_t)UINT32_MAX + 1;
        }
        key = command->key;
        fill_entry(&out[i - begin], command, number, i);
    }
    return key;
}

// A job: list commands [begin, end) of all lanes. The key before `begin` is compared too, so that
// the cut hides no smaller key.
static void list_commands(void *context, size_t begin, size_t end)
{
    ordering *const o = context;
    uint32_t lane = lane_of(o, begin);
    uint64_t key = begin == 0 ? 0 : key_at(o, begin - 1);

    // A job that finds a smaller key stops all other jobs.
    while (begin < end && !atomic_load_explicit(&o->is_unordered, memory_order_relaxed)) {
        const espl__lane_view *const view = &o->lanes[lane];
        const size_t base = o->bases[lane].commands, last = base + view->count;
        const size_t stop = last < end ? last : end;

        key = list_lane(&o->entries[begin], view, lane, (uint32_t)(begin - base),
                        (uint32_t)(stop - base), key);
        if (key > UINT32_MAX) {
            atomic_store_explicit(&o->is_unordered, true, memory_order_relaxed);
        }
        begin = stop;
        lane += 1;
    }
}

// --- The sort ---

typedef struct sortable {
    uint32_t key, lane, index;
} sortable;

// Keys are counted and moved block by block. In the output the blocks of one bucket follow each
// other in their order, which makes the sort stable for any cut.
typedef struct sorting {
    ordering *o;
    sortable *in, *out;          // [count]
    uint32_t (*places)[BUCKETS]; // [blocks] count of each digit, then where its next item goes
    uint32_t *differences;       // [blocks] bits in which a key differs from the first key of all
    size_t count, blocks;
    unsigned shift; // of the digit of this pass
} sorting;

// First item of a block. The product does not overflow, also where size_t has 32 bits, because
// commands that many do not fit into memory.
static size_t block_begin(const sorting *s, size_t block)
{
    ESPL_CHECK_FULL(block <= s->blocks);
    return s->count * block / s->blocks;
}

// Gather the keys of a block, and the bits in which they differ from the first key.
static void gather_block(const sorting *s, size_t block)
{
    const ordering *const o = s->o;
    const size_t end = block_begin(s, block + 1);
    const uint32_t first = key_at(o, 0);
    uint32_t lane = lane_of(o, block_begin(s, block)), differences = 0;

    for (size_t at = block_begin(s, block); at < end; ++at) {
        while (at - o->bases[lane].commands >= o->lanes[lane].count) {
            lane += 1;
        }
        const uint32_t index = (uint32_t)(at - o->bases[lane].commands);
        const uint32_t key = o->lanes[lane].commands[index].key;

        s->in[at] = (sortable){key, lane, index};
        differences |= key ^ first;
    }
    s->differences[block] = differences;
}

// A job: gather the blocks [begin, end).
static void gather_keys(void *context, size_t begin, size_t end)
{
    for (size_t block = begin; block < end; ++block) {
        gather_block(context, block);
    }
}

// The digit of the current pass.
static unsigned digit_of_key(const sorting *s, const sortable *item)
{
    return (item->key >> s->shift) % BUCKETS;
}

// A job: count the digits of each of the blocks [begin, end).
static void count_digits(void *context, size_t begin, size_t end)
{
    const sorting *const s = context;

    for (size_t block = begin; block < end; ++block) {
        memset(s->places[block], 0, sizeof s->places[block]);
        for (size_t i = block_begin(s, block); i < block_begin(s, block + 1); ++i) {
            s->places[block][digit_of_key(s, &s->in[i])] += 1;
        }
    }
}

// A prefix sum over the blocks of each digit, digit by digit.
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
    ESPL_CHECK(sum == s->count);
}

// A job: move the items of the blocks [begin, end) to their places. Blocks write disjoint places.
static void move_items(void *context, size_t begin, size_t end)
{
    const sorting *const s = context;

    for (size_t block = begin; block < end; ++block) {
        for (size_t i = block_begin(s, block); i < block_begin(s, block + 1); ++i) {
            s->out[s->places[block][digit_of_key(s, &s->in[i])]++] = s->in[i];
        }
    }
}

// Run a step of the sort on the workers, one block for a job at least.
static espl_status run_blocks(sorting *s, espl__range_function function)
{
    return espl__run_ranges(s->o->executor, s->o->hooks, function, s, s->blocks, 1);
}

// Sort by one digit after the other, the lowest first. Postcondition: the result is in s->in,
// because each pass ends by exchanging the buffers.
static espl_status sort_keys(sorting *s)
{
    espl_status status = run_blocks(s, gather_keys);
    uint32_t differences = 0;

    for (size_t block = 0; status == ESPL_OK && block < s->blocks; ++block) {
        differences |= s->differences[block];
    }
    for (s->shift = 0; status == ESPL_OK && s->shift < 8 * DIGITS; s->shift += 8) {
        if ((differences >> s->shift) % BUCKETS == 0) {
            continue; // all keys have the same digit
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

// A job: list the commands of the sorted items [begin, end).
static void list_sorted(void *context, size_t begin, size_t end)
{
    const sorting *const s = context;
    const ordering *const o = s->o;

    for (size_t i = begin; i < end; ++i) {
        const sortable *const item = &s->in[i];

        fill_entry(&o->entries[i], &o->lanes[item->lane].commands[item->index], item->lane,
                   item->index);
    }
}

// List the commands sorted by key. Overwrites what list_commands() listed before it stopped.
static espl_status list_by_key(espl__arena *arena, ordering *o)
{
    const size_t count = o->count;
    const size_t most = (count + SORT_BLOCK - 1) / SORT_BLOCK;
    const size_t blocks = most < SORT_BLOCKS ? most : SORT_BLOCKS;
    sorting s = {.o = o,
                 .in = espl__arena_take(arena, count, sizeof *s.in),
                 .out = espl__arena_take(arena, count, sizeof *s.out),
                 .places = espl__arena_take(arena, blocks, sizeof *s.places),
                 .differences = espl__arena_take(arena, blocks, sizeof *s.differences),
                 .count = count,
                 .blocks = blocks};

    if (s.in == NULL || s.out == NULL || s.places == NULL || s.differences == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    const espl_status status = sort_keys(&s);

    return status != ESPL_OK
               ? status
               : espl__run_ranges(o->executor, o->hooks, list_sorted, &s, count, ORDER_GRAIN);
}

// --- The stage ---

// Tell whether the entries are by key, then lane, then index.
static bool entries_are_ordered(const espl__ordered *ordered)
{
    bool is_ordered = true;

    for (size_t i = 1; i < ordered->entry_count && is_ordered; ++i) {
        const espl__entry *const a = &ordered->entries[i - 1], *const b = a + 1;

        is_ordered = a->command->key != b->command->key ? a->command->key < b->command->key
                     : a->lane != b->lane               ? a->lane < b->lane
                                                        : a->index < b->index;
    }
    return is_ordered;
}

espl_status espl__stage_order(espl__stage_context *context, const espl__order_input *in,
                              espl__ordered *out)
{
    const espl__play_request *const request = in->request;
    espl__arena *const arena = &context->arena;
    ordering o = {.executor = context->executor, .hooks = context->hooks, .lanes = request->lanes};

    // Number the lanes.
    o.bases = espl__arena_take(arena, request->lane_count, sizeof *o.bases);
    if (o.bases == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    espl_status status = count_lanes(request, o.bases, out);

    if (status != ESPL_OK) {
        return status;
    }
    o.count = out->entry_count;
    o.entries = out->entries = espl__arena_take(arena, o.count, sizeof *o.entries);
    if (out->entries == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }

    // List lane after lane, and sort only if that is not the order already.
    atomic_init(&o.is_unordered, false);
    status = espl__run_ranges(o.executor, o.hooks, list_commands, &o, o.count, ORDER_GRAIN);
    if (status == ESPL_OK && atomic_load(&o.is_unordered)) {
        status = list_by_key(arena, &o);
    }
    // Custom commands are taken out last, because their payloads are listed in playback order.
    if (status == ESPL_OK) {
        ESPL_CHECK_FULL(entries_are_ordered(out));
        if (out->custom_count != 0) {
            espl__custom_take(in, out);
        }
    }
    return status;
}
