// SPDX-License-Identifier: MIT
// Slots and run headers. Free ranges are filed by size class and merge with free neighbours; their
// books stand in the arrays of the free slots themselves, at both ends of each range.
#include "lib/tree/forest.h"

#include <string.h>

enum { BLOCK_ALIGNMENT = 64, ARRAY_COUNT = 9, FIRST_CAPACITY = 64 };
#ifdef ESPL_HARD_MOVE
enum { ARRAYS_MOVE = 1 };
#else
enum { ARRAYS_MOVE = 0 };
#endif

// Between arrays stands an odd number of cache lines, so that the same index of several arrays
// does not fall into one cache set.
enum { SKEW = 5 * 64 };

// Item sizes, in the order in which point_arrays() lays the arrays out.
static const size_t item_sizes[ARRAY_COUNT] = {
    sizeof(espl_pose), sizeof(espl_pose), sizeof(uint32_t), sizeof(uint32_t), sizeof(uint32_t),
    sizeof(uint32_t),  sizeof(uint32_t),  sizeof(uint32_t), sizeof(uint8_t)};
enum { SLOT_SIZE = 2 * sizeof(espl_pose) + 6 * sizeof(uint32_t) + sizeof(uint8_t) };

typedef struct arrays {
    unsigned char *at[ARRAY_COUNT];
} arrays;

static arrays arrays_of(const espl__forest *forest)
{
    return (arrays){{(unsigned char *)forest->local, (unsigned char *)forest->world,
                     (unsigned char *)forest->entity, (unsigned char *)forest->run,
                     (unsigned char *)forest->rank, (unsigned char *)forest->order,
                     (unsigned char *)forest->parent, (unsigned char *)forest->first,
                     forest->flags}};
}

static void point_arrays(espl__forest *forest, const arrays *to)
{
    forest->local = (espl_pose *)(void *)to->at[0];
    forest->world = (espl_pose *)(void *)to->at[1];
    forest->entity = (uint32_t *)(void *)to->at[2];
    forest->run = (uint32_t *)(void *)to->at[3];
    forest->rank = (uint32_t *)(void *)to->at[4];
    forest->order = (uint32_t *)(void *)to->at[5];
    forest->parent = (uint32_t *)(void *)to->at[6];
    forest->first = (uint32_t *)(void *)to->at[7];
    forest->flags = to->at[8];
}

void espl__forest_init(espl__forest *forest, espl__heap *heap)
{
    *forest = (espl__forest){.heap = heap,
                             .free_run = ESPL__NO_RUN,
                             .unsettled = ESPL__NO_RUN,
                             .kernels = espl__kernels_best(),
                             .grain = ESPL__GRAIN};
    for (int i = 0; i < ESPL__SIZE_CLASSES; ++i) {
        forest->free_heads[i] = ESPL__NO_SLOT;
    }
}

void espl__forest_free(espl__forest *forest)
{
    for (uint32_t run = 0; run < forest->run_end; ++run) {
        espl__run *const header = &forest->runs[run];

        if (header->size != 0) {
            espl__side_free(forest->heap, header->side);
        }
    }
    espl__heap_give(forest->heap, ESPL__FOR_TREE, forest->runs, forest->run_capacity,
                    sizeof(espl__run), 16);
    espl__heap_give(forest->heap, ESPL__FOR_TREE, forest->block, 1, forest->block_size,
                    BLOCK_ALIGNMENT);
    espl__forest_init(forest, forest->heap);
}

static uint32_t grown(uint32_t capacity, size_t wanted, size_t limit)
{
    size_t next = capacity + (size_t)capacity / 2;

    // Only where arrays always move.
    if (wanted <= capacity) { // GCOVR_EXCL_BR_LINE
        return capacity;
    }
    next = next < wanted ? wanted : next;
    next = next < FIRST_CAPACITY ? FIRST_CAPACITY : next;
    return (uint32_t)(next > limit ? limit : next);
}

// Lay the arrays of so many slots out. @return bytes, or 0 where they are more than a size_t counts,
// as on a machine of 32 bits 49 million slots are.
static size_t lay_out(size_t offsets[ARRAY_COUNT], size_t capacity)
{
    const size_t most = (SIZE_MAX - ARRAY_COUNT * (SKEW + 63)) / SLOT_SIZE;
    size_t size = 0;

    // A machine of 32 bits meets it; 64 count the bytes of all slots that there can be.
    if (capacity > most) { // GCOVR_EXCL_BR_LINE
        return 0;
    }
    for (int i = 0; i < ARRAY_COUNT; ++i) {
        offsets[i] = size;
        size += (capacity * item_sizes[i] + SKEW + 63) & ~(size_t)63;
    }
    return size;
}

static bool grow_slots(espl__forest *forest, uint32_t capacity)
{
    const arrays old = arrays_of(forest);
    arrays next;
    size_t offsets[ARRAY_COUNT];
    const size_t size = lay_out(offsets, capacity);
    unsigned char *const block =
        espl__heap_take(forest->heap, ESPL__FOR_TREE, 1, size, BLOCK_ALIGNMENT);

    if (block == NULL) {
        return false;
    }

    for (int i = 0; i < ARRAY_COUNT; ++i) {
        next.at[i] = block + offsets[i];
        if (forest->end != 0) {
            memcpy(next.at[i], old.at[i], forest->end * item_sizes[i]);
        }
    }
    point_arrays(forest, &next);
    espl__heap_give(forest->heap, ESPL__FOR_TREE, forest->block, 1, forest->block_size,
                    BLOCK_ALIGNMENT);
    forest->block = block;
    forest->block_size = size;
    forest->capacity = capacity;
    return true;
}

static bool grow_runs(espl__forest *forest, uint32_t capacity)
{
    espl__run *const runs =
        espl__heap_take(forest->heap, ESPL__FOR_TREE, capacity, sizeof *runs, 16);

    if (runs == NULL) {
        return false;
    }
    if (forest->run_end != 0) {
        memcpy(runs, forest->runs, forest->run_end * sizeof *runs);
    }
    espl__heap_give(forest->heap, ESPL__FOR_TREE, forest->runs, forest->run_capacity, sizeof *runs,
                    16);
    forest->runs = runs;
    forest->run_capacity = capacity;
    return true;
}

static bool must_grow(size_t wanted, uint32_t capacity, bool moves)
{
    return wanted > capacity || ((bool)ARRAYS_MOVE && moves && wanted != 0);
}

espl_status espl__forest_reserve(espl__forest *forest, size_t slots, size_t runs)
{
    const size_t limit = UINT32_MAX / 2;
    size_t wanted = 0, wanted_runs = 0;

    if (!espl__size_add(&wanted, forest->end, slots) ||
        !espl__size_add(&wanted_runs, forest->run_end, runs) || wanted > limit ||
        wanted_runs > limit) {
        return ESPL_ERR_LIMIT;
    }
    const bool moves = slots + runs != 0;

    if (must_grow(wanted, forest->capacity, moves) &&
        !grow_slots(forest, grown(forest->capacity, wanted, limit))) {
        return ESPL_ERR_NO_MEMORY;
    }
    if (must_grow(wanted_runs, forest->run_capacity, moves) &&
        !grow_runs(forest, grown(forest->run_capacity, wanted_runs, limit))) {
        return ESPL_ERR_NO_MEMORY;
    }
    return ESPL_OK;
}

bool espl__forest_make_room(espl__forest *forest, uint32_t slots, uint32_t runs)
{
    return (slots == 0 || grow_slots(forest, slots)) && (runs == 0 || grow_runs(forest, runs));
}

static uint32_t larger(uint32_t a, size_t b)
{
    return a > b ? a : (uint32_t)b;
}

espl_status espl__forest_prepay(espl__forest *forest, size_t slots, size_t runs)
{
    const espl_status status = espl__forest_reserve(forest, slots, runs);

    if (status == ESPL_OK) {
        forest->floor = larger(forest->floor, forest->end + slots);
        forest->run_floor = larger(forest->run_floor, forest->run_end + runs);
    }
    return status;
}

// --- Headers ---

uint32_t espl__run_take(espl__forest *forest)
{
    uint32_t run = forest->free_run;

    if (run != ESPL__NO_RUN) {
        forest->free_run = forest->runs[run].next;
    } else {
        ESPL_CHECK(forest->run_end < forest->run_capacity);
        run = forest->run_end++;
    }
    forest->runs[run] = (espl__run){.next = ESPL__NO_RUN, .previous = ESPL__NO_RUN};
    return run;
}

void espl__run_release(espl__forest *forest, uint32_t run)
{
    espl__run *const header = &forest->runs[run];

    espl__run_unmark_unsettled(forest, run);
    espl__side_free(forest->heap, header->side);
    if (header->capacity != 0) {
        espl__range_give(forest, header->base, header->capacity);
    }
    *header = (espl__run){.next = forest->free_run, .previous = ESPL__NO_RUN};
    forest->free_run = run;
}

uint32_t espl__solo_make(espl__forest *forest, uint32_t entity, bool has_transform)
{
    const uint32_t run = espl__run_take(forest);
    const uint32_t slot = espl__range_take(forest, 1);

    forest->runs[run] = (espl__run){.base = slot,
                                    .capacity = 1,
                                    .used = 1,
                                    .size = 1,
                                    .flags = ESPL__RUN_IN_ORDER |
                                             (has_transform ? 0u : (unsigned)ESPL__RUN_GENERAL),
                                    .next = ESPL__NO_RUN,
                                    .previous = ESPL__NO_RUN};
    forest->local[slot] = forest->world[slot] = espl__pose_identity();
    forest->entity[slot] = entity;
    forest->run[slot] = run;
    forest->rank[slot] = 0;
    forest->flags[slot] = has_transform ? 0 : ESPL__SLOT_PASS;
    forest->order[slot] = slot;
    forest->parent[slot] = ESPL__NO_SLOT;
    forest->first[slot] = 1;
    return slot;
}

void espl__run_mark_unsettled(espl__forest *forest, uint32_t run)
{
    espl__run *const header = &forest->runs[run];

    if ((header->flags & ESPL__RUN_UNSETTLED) != 0) {
        return;
    }
    header->flags |= ESPL__RUN_UNSETTLED;
    header->next = forest->unsettled;
    header->previous = ESPL__NO_RUN;
    if (forest->unsettled != ESPL__NO_RUN) {
        forest->runs[forest->unsettled].previous = run;
    }
    forest->unsettled = run;
}

void espl__run_unmark_unsettled(espl__forest *forest, uint32_t run)
{
    espl__run *const header = &forest->runs[run];

    if ((header->flags & ESPL__RUN_UNSETTLED) == 0) {
        return;
    }
    header->flags &= ~(unsigned)ESPL__RUN_UNSETTLED;
    if (header->previous != ESPL__NO_RUN) {
        forest->runs[header->previous].next = header->next;
    } else {
        forest->unsettled = header->next;
    }
    if (header->next != ESPL__NO_RUN) {
        forest->runs[header->next].previous = header->previous;
    }
    header->next = header->previous = ESPL__NO_RUN;
}

// --- Free ranges ---

static unsigned highest_bit(uint32_t value)
{
    return 31u - (unsigned)__builtin_clz(value);
}

// Sizes up to 15 have a class each; then eight classes an octave.
static unsigned class_of(uint32_t count)
{
    if (count < 16) {
        return count;
    }
    const unsigned octave = highest_bit(count);

    return 16 + (octave - 4) * 8 + ((count >> (octave - 3)) & 7u);
}

// The first class whose every range holds count slots.
static unsigned class_that_fits(uint32_t count)
{
    const unsigned step = count < 16 ? 0 : highest_bit(count) - 3;

    return class_of(count + ((UINT32_C(1) << step) - 1));
}

static unsigned first_filled_class(const espl__forest *forest, unsigned from)
{
    for (unsigned word = from / 64; word < ESPL__SIZE_CLASSES / 64; ++word) {
        const uint64_t above = word == from / 64 ? ~UINT64_C(0) << (from % 64) : ~UINT64_C(0);
        const uint64_t bits = forest->free_bits[word] & above;

        if (bits != 0) {
            return word * 64 + (unsigned)__builtin_ctzll(bits);
        }
    }
    return ESPL__SIZE_CLASSES;
}

static void file_range(espl__forest *forest, uint32_t base, uint32_t count)
{
    const unsigned class = class_of(count);
    const uint32_t next = forest->free_heads[class];
    const uint32_t last = base + count - 1;

    forest->run[base] = forest->run[last] = ESPL__NO_RUN;
    forest->rank[base] = forest->rank[last] = count;
    forest->order[base] = next;
    forest->parent[base] = ESPL__NO_SLOT;
    if (next != ESPL__NO_SLOT) {
        forest->parent[next] = base;
    }
    forest->free_heads[class] = base;
    forest->free_bits[class / 64] |= UINT64_C(1) << (class % 64);
    forest->free_slots += count;
}

static void unfile_range(espl__forest *forest, uint32_t base)
{
    const uint32_t count = forest->rank[base];
    const unsigned class = class_of(count);
    const uint32_t next = forest->order[base], previous = forest->parent[base];

    if (previous != ESPL__NO_SLOT) {
        forest->order[previous] = next;
    } else {
        forest->free_heads[class] = next;
    }
    if (next != ESPL__NO_SLOT) {
        forest->parent[next] = previous;
    }
    if (forest->free_heads[class] == ESPL__NO_SLOT) {
        forest->free_bits[class / 64] &= ~(UINT64_C(1) << (class % 64));
    }
    forest->free_slots -= count;
}

// The class to take from. The range filed last in the count's own class may fit as well: without
// it a run that goes would not find its place again when one of the same size comes.
static unsigned choose_class(const espl__forest *forest, uint32_t count)
{
    const unsigned own = class_of(count);
    const uint32_t last = forest->free_heads[own];

    return last != ESPL__NO_SLOT && forest->rank[last] >= count
               ? own
               : first_filled_class(forest, class_that_fits(count));
}

uint32_t espl__range_take(espl__forest *forest, uint32_t count)
{
    const unsigned class = choose_class(forest, count);

    ESPL_CHECK(count > 0);
    if (class == ESPL__SIZE_CLASSES) {
        ESPL_CHECK(count <= forest->capacity - forest->end);
        forest->end += count;
        return forest->end - count;
    }

    const uint32_t base = forest->free_heads[class];
    const uint32_t found = forest->rank[base];

    unfile_range(forest, base);
    if (found > count) {
        file_range(forest, base + count, found - count);
    }
    return base;
}

void espl__range_give(espl__forest *forest, uint32_t base, uint32_t count)
{
    ESPL_CHECK(count > 0 && base + count <= forest->end);
    if (base > 0 && forest->run[base - 1] == ESPL__NO_RUN) {
        const uint32_t before = forest->rank[base - 1];

        base -= before;
        count += before;
        unfile_range(forest, base);
    }
    if (base + count < forest->end && forest->run[base + count] == ESPL__NO_RUN) {
        const uint32_t behind = base + count;

        count += forest->rank[behind];
        unfile_range(forest, behind);
    }
    if (base + count == forest->end) {
        forest->end = base;
        return;
    }
    file_range(forest, base, count);
}

// A free range hangs in the list of its size: what stands before it there names it, and so does
// what stands behind.
static bool is_filed(const espl__forest *forest, uint32_t base)
{
    const unsigned class = class_of(forest->rank[base]);
    const uint32_t next = forest->order[base], previous = forest->parent[base];
    const bool is_first = previous == ESPL__NO_SLOT;

    if ((!is_first && previous >= forest->end) || (next != ESPL__NO_SLOT && next >= forest->end)) {
        return false;
    }
    return (is_first ? forest->free_heads[class] : forest->order[previous]) == base &&
           (next == ESPL__NO_SLOT || forest->parent[next] == base) &&
           (forest->free_bits[class / 64] >> (class % 64) & 1) != 0;
}

static uint32_t count_free_headers(const espl__forest *forest)
{
    uint32_t count = 0;

    for (uint32_t run = 0; run < forest->run_end; ++run) {
        count += forest->runs[run].size == 0 ? 1 : 0;
    }
    return count;
}

// Headers that are free stand in one list, and no others.
static bool are_headers_listed(const espl__forest *forest)
{
    const uint32_t unused = count_free_headers(forest);
    uint32_t listed = 0;

    for (uint32_t run = forest->free_run; run != ESPL__NO_RUN; run = forest->runs[run].next) {
        if (run >= forest->run_end || forest->runs[run].size != 0 || listed == unused) {
            return false;
        }
        listed += 1;
    }
    return listed == unused;
}

const char *espl__pool_broken_rule(const espl__forest *forest)
{
    uint32_t slot = 0, free_slots = 0, runs = 0;

    while (slot < forest->end) {
        const bool is_free = forest->run[slot] == ESPL__NO_RUN;
        const uint32_t run = forest->run[slot];

        if (!is_free && (run >= forest->run_end || forest->runs[run].base != slot ||
                         forest->runs[run].size == 0)) {
            return "free ranges and runs tile the pool";
        }
        const uint32_t count = is_free ? forest->rank[slot] : forest->runs[run].capacity;
        if (count == 0 || count > forest->end - slot) {
            return "free ranges and runs stay inside the pool";
        }
        if (is_free && (forest->run[slot + count - 1] != ESPL__NO_RUN ||
                        forest->rank[slot + count - 1] != count || slot + count == forest->end ||
                        forest->run[slot + count] == ESPL__NO_RUN)) {
            return "free ranges are merged and marked at both ends";
        }
        if (is_free && !is_filed(forest, slot)) {
            return "free ranges are filed by their size";
        }
        free_slots += is_free ? count : 0;
        runs += is_free ? 0 : 1;
        slot += count;
    }
    // Each was met once, so that no other header holds slots.
    if (runs + count_free_headers(forest) != forest->run_end) {
        return "free ranges and runs tile the pool";
    }
    if (free_slots != forest->free_slots) {
        return "free slots are counted";
    }
    return are_headers_listed(forest) ? NULL : "free headers stand in one list";
}
