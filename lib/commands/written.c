// SPDX-License-Identifier: MIT
// The plan of groups that only write: their writes by rank, and whether carrying them out so comes
// to what playback order comes to. All are looked through in playback order first, which asks for
// memory well ahead; then group by group.
#include "lib/commands/written.h"

#include "lib/base/ahead.h"

// Writes that one job takes at least, and those up to which a group is sorted where it stands.
#ifdef ESPL_SHRUNKEN
enum { GRAIN = 8, FEW = 8 };
#else
enum { GRAIN = 128, FEW = 32 };
#endif
enum { DIGIT_BITS = 8, BUCKETS = 1 << DIGIT_BITS, RANK_BITS = 32 };
// Nodes that a bound may look at for each write. A sketch of few writes to a large hierarchy, which
// looks at what it must, takes as long as that.
enum { NODES_BY_WRITE = 256 };
// Steps up that are taken for a write to see whether anyone above it is written to later.
enum { CLIMB = 64 };

// --- Listing ---

static uint32_t run_of(const espl__playback *playback, const espl__group *group)
{
    return playback->touched[playback->grouped_runs[group->run_begin]].run;
}

static bool may_write(const espl__playback *playback, const espl__group *group)
{
    // Where one refused refuses all, a write would have to be taken back.
    ESPL_CHECK(!group->only_writes || !playback->is_strict);
    return group->only_writes && !playback->sketches_all;
}

static size_t count_writing(const espl__playback *playback, size_t *groups)
{
    size_t count = 0;

    for (size_t i = 0; i < playback->group_count; ++i) {
        if (may_write(playback, &playback->groups[i])) {
            count += espl__group_size(&playback->groups[i]);
            *groups += 1;
        }
    }
    return count;
}

static void list_group(espl__playback *playback, uint32_t number)
{
    espl__writing *const w = &playback->writing;
    espl__group *const group = &playback->groups[number];

    w->groups[w->group_count++] = number;
    group->run = run_of(playback, group);
    group->write_begin = (uint32_t)w->count;
    for (uint32_t i = group->entry_begin; i < group->entry_end; ++i) {
        w->written[w->count++].entry = playback->grouped_entries[i];
    }
}

static bool has_sides(const espl__playback *playback)
{
    const espl__writing *const w = &playback->writing;
    bool has_side = false;

    for (size_t i = 0; i < w->group_count && !has_side; ++i) {
        has_side = playback->forest->runs[playback->groups[w->groups[i]].run].side != NULL;
    }
    return has_side;
}

static bool take_lists(espl__playback *playback, size_t groups, size_t count)
{
    espl__writing *const w = &playback->writing;
    espl__arena *const arena = &playback->arena;

    w->groups = espl__arena_take(arena, groups, sizeof *w->groups);
    w->written = espl__arena_take(arena, count, sizeof *w->written);
    w->slots = espl__arena_take(arena, count, sizeof *w->slots);
    w->numbers = espl__arena_take(arena, count, sizeof *w->numbers);
    w->ranks = espl__arena_take(arena, count, sizeof *w->ranks);
    w->results = espl__arena_take(arena, count, sizeof *w->results);
    w->rooms = espl__arena_take(arena, count, sizeof *w->rooms);
    w->old_locals = espl__arena_take(arena, count, sizeof *w->old_locals);
    return w->groups != NULL && w->written != NULL && w->slots != NULL && w->numbers != NULL &&
           w->ranks != NULL && w->results != NULL && w->rooms != NULL && w->old_locals != NULL;
}

bool espl__written_list(espl__playback *playback)
{
    espl__writing *const w = &playback->writing;
    size_t groups = 0;
    const size_t count = count_writing(playback, &groups);

    *w = (espl__writing){0};
    if (groups == 0) {
        return true;
    }
    if (!take_lists(playback, groups, count)) {
        return false;
    }
    for (uint32_t i = 0; i < playback->group_count; ++i) {
        if (may_write(playback, &playback->groups[i])) {
            list_group(playback, i);
        }
    }
    if (has_sides(playback)) {
        w->old_sides = espl__arena_take(&playback->arena, count, sizeof *w->old_sides);
        return w->old_sides != NULL;
    }
    return true;
}

// --- Looking through ---

static const espl__entry *entry_at(const espl__playback *playback, size_t number)
{
    return &playback->entries[playback->writing.written[number].entry];
}

// What is read of writes behind one at hand, which end at `end`.
static void ask_ahead(const espl__playback *playback, size_t number, size_t end)
{
    enum { ENTRY = 24, COMMAND = 16, VALUE = 8 };
    const espl__forest *const forest = playback->forest;

    if (number + ENTRY < end) {
        espl__ask_to_write(entry_at(playback, number + ENTRY));
    }
    if (number + COMMAND < end) {
        const espl__entry *const entry = entry_at(playback, number + COMMAND);

        espl__ask(entry->command);
        espl__ask(&forest->rank[entry->target.number]);
        espl__ask(&forest->flags[entry->target.number]);
    }
    if (number + VALUE < end) {
        espl__ask(espl__entry_value(playback, entry_at(playback, number + VALUE)));
    }
}

// Writes [begin, end) of any groups: what they write, and the ranks of their nodes.
static void read_writes(const espl__playback *playback, size_t begin, size_t end)
{
    const espl__writing *const w = &playback->writing;

    for (size_t i = begin; i < end; ++i) {
        ask_ahead(playback, i, end);
        const espl__entry *const entry = entry_at(playback, i);

        w->written[i].value = espl__entry_value(playback, entry);
        w->written[i].kind = entry->command->place;
        w->slots[i] = entry->target.number;
        w->ranks[i] = playback->forest->rank[w->slots[i]];
        w->results[i] = ESPL_OK;
    }
}

// --- Sorting ---

// Take the ranks of a group as keys. Tells whether they stand in order.
static bool make_keys(const espl__writing *w, const espl__group *group, uint64_t *keys)
{
    const uint32_t begin = group->write_begin, count = espl__group_size(group);
    bool is_sorted = true;

    for (uint32_t i = 0; i < count; ++i) {
        keys[i] = (uint64_t)w->ranks[begin + i] << RANK_BITS | (begin + i);
        is_sorted = is_sorted && (i == 0 || keys[i - 1] < keys[i]);
    }
    return is_sorted;
}

static void sort_few(uint64_t *keys, uint32_t count)
{
    for (uint32_t i = 1; i < count; ++i) {
        const uint64_t key = keys[i];
        uint32_t at = i;

        for (; at > 0 && keys[at - 1] > key; --at) {
            keys[at] = keys[at - 1];
        }
        keys[at] = key;
    }
}

static void move_keys(uint64_t *out, const uint64_t *in, uint32_t count, unsigned shift)
{
    uint32_t at[BUCKETS] = {0};
    uint32_t sum = 0;

    for (uint32_t i = 0; i < count; ++i) {
        at[(in[i] >> shift) % BUCKETS] += 1;
    }
    for (uint32_t bucket = 0; bucket < BUCKETS; ++bucket) {
        const uint32_t here = at[bucket];

        at[bucket] = sum;
        sum += here;
    }
    for (uint32_t i = 0; i < count; ++i) {
        out[at[(in[i] >> shift) % BUCKETS]++] = in[i];
    }
}

// Stable, by the bytes of ranks in a run of a size; numbers ascend already. @return the sorted
// keys, in either half of the room.
static uint64_t *sort_many(uint64_t *keys, uint32_t count, uint32_t size)
{
    uint64_t *other = keys + count;
    unsigned shift = RANK_BITS;

    for (uint32_t left = size - 1; left != 0; left >>= DIGIT_BITS) {
        uint64_t *const moved = other;

        move_keys(moved, keys, count, shift);
        shift += DIGIT_BITS;
        other = keys;
        keys = moved;
    }
    return keys;
}

static const uint64_t *sort_group(const espl__writing *w, const espl__group *group, uint32_t size)
{
    const uint32_t count = espl__group_size(group);
    uint64_t *keys = w->rooms[group->write_begin].keys;

    if (!make_keys(w, group, keys)) {
        if (count <= FEW) {
            sort_few(keys, count);
        } else {
            keys = sort_many(keys, count, size);
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        w->numbers[group->write_begin + i] = (uint32_t)keys[i];
        w->ranks[group->write_begin + i] = espl__key_rank(keys[i]);
    }
    return keys;
}

// --- What must hold ---

// Each node has a placement, and side arrays are there where a write wants them.
static bool can_hold(const espl__playback *playback, espl__group *group, const espl__run *run)
{
    const espl__writing *const w = &playback->writing;
    const uint32_t end = group->write_begin + espl__group_size(group);
    bool is_fine = true;

    for (uint32_t i = group->write_begin; i < end && is_fine; ++i) {
        const espl_write_kind kind = (espl_write_kind)w->written[i].kind;

        group->may_drop_side =
            group->may_drop_side || (run->side != NULL && espl__write_has_extra(kind));
        is_fine = !espl__slot_is(playback->forest, w->slots[i], ESPL__SLOT_PASS) &&
                  (run->side != NULL || !espl__write_wants_side(kind, w->written[i].value));
    }
    return is_fine;
}

static bool are_leaves(const espl__forest *forest, const espl__rank_writes *writes)
{
    const espl__run *const run = &forest->runs[writes->run];
    bool are_all = true;

    for (uint32_t i = 0; i < writes->count && are_all; ++i) {
        const uint32_t rank = espl__key_rank(writes->keys[i]);

        are_all = espl__first_child(forest, run, rank) == espl__first_child(forest, run, rank + 1);
    }
    return are_all;
}

// Tell whether what a write does depends on where the parent of its node is.
static bool sees_parent(const espl__playback *playback, uint32_t number)
{
    const espl__writing *const w = &playback->writing;

    return !espl__write_is_local((espl_write_kind)w->written[number].kind) ||
           espl__slot_is(playback->forest, w->slots[number], ESPL__SLOT_KEEPS);
}

// Tell whether a node of a rank is written to behind a write.
static bool is_written_behind(const espl__rank_writes *writes, uint32_t rank, uint32_t number)
{
    const uint64_t bound = ((uint64_t)rank + 1) << RANK_BITS;
    uint32_t low = 0, high = writes->count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (writes->keys[middle] < bound) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && espl__key_rank(writes->keys[low - 1]) == rank &&
           (uint32_t)writes->keys[low - 1] > number;
}

// Tell whether some node above one is written to behind a write to that; or may be, far up.
static bool moves_later(const espl__forest *forest, const espl__rank_writes *writes, uint64_t key)
{
    const uint32_t *const parent = forest->parent + forest->runs[writes->run].base;
    uint32_t rank = espl__key_rank(key);

    for (uint32_t step = 0; step < CLIMB && rank != 0; ++step) {
        rank = parent[rank];
        if (is_written_behind(writes, rank, (uint32_t)key)) {
            return true;
        }
    }
    return rank != 0;
}

// Tell whether every write that sees its parent finds it where it is in playback order. Most stand
// behind all writes to lower ranks, or have nobody above.
static bool are_in_order(const espl__playback *playback, const espl__rank_writes *writes)
{
    uint32_t last = 0, last_of_rank = 0; // numbers: at lower ranks, and at this one
    bool is_fine = true;

    for (uint32_t i = 0; i < writes->count && is_fine; ++i) {
        const uint64_t key = writes->keys[i];
        const uint32_t number = (uint32_t)key;

        if (i != 0 && espl__key_rank(writes->keys[i - 1]) != espl__key_rank(key)) {
            last = last_of_rank > last ? last_of_rank : last;
        }
        last_of_rank = number;
        is_fine = last <= number || !sees_parent(playback, number) ||
                  !moves_later(playback->forest, writes, key);
    }
    return is_fine;
}

static bool is_small_enough(const espl__run *run, uint32_t count)
{
    return run->size <= (uint64_t)count * NODES_BY_WRITE;
}

static bool suits(espl__playback *playback, espl__group *group)
{
    const espl__forest *const forest = playback->forest;
    const espl__run *const run = &forest->runs[group->run];

    if (run->ghosts != 0 || !can_hold(playback, group, run)) {
        return false;
    }
    const espl__rank_writes writes = {playback->writing.written,
                                      sort_group(&playback->writing, group, run->size),
                                      espl__group_size(group), group->run};

    // Nobody sees where a leaf is, and a write to it is refused alone.
    return are_leaves(forest, &writes) ||
           (is_small_enough(run, writes.count) && are_in_order(playback, &writes) &&
            espl__writes_are_tame(forest, &writes));
}

// --- All of them ---

static void plan_group(espl__playback *playback, espl__group *group)
{
    if (!suits(playback, group)) {
        return;
    }
    group->does = ESPL__SHORT_WRITE;
    group->is_short = true;
    playback->loads[playback->grouped_runs[group->run_begin]].goes_on = true;
    for (uint32_t i = 0; i < espl__group_size(group); ++i) {
        espl__group_entry(playback, group, i)->is_short = true;
    }
}

size_t espl__written_group_from(const espl__playback *playback, size_t begin)
{
    const espl__writing *const w = &playback->writing;
    size_t low = 0, high = w->group_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (playback->groups[w->groups[middle]].write_begin < begin) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void ask_for_group(const espl__playback *playback, size_t number)
{
    const espl__writing *const w = &playback->writing;
    const espl__forest *const forest = playback->forest;

    if (number < w->group_count) {
        const espl__run *const run = &forest->runs[playback->groups[w->groups[number]].run];

        espl__ask(&forest->local[run->base]);
        espl__ask(&forest->first[run->base]);
        espl__ask(&forest->order[run->base]);
    }
}

// Groups whose writes begin at [begin, end).
static void plan_groups(void *context, size_t begin, size_t end)
{
    espl__playback *const playback = context;
    const espl__writing *const w = &playback->writing;
    const size_t first = espl__written_group_from(playback, begin),
                 last = espl__written_group_from(playback, end);
    enum { AHEAD = 2 };

    if (first == last) {
        return;
    }
    const espl__group *const back = &playback->groups[w->groups[last - 1]];

    read_writes(playback, playback->groups[w->groups[first]].write_begin,
                back->write_begin + espl__group_size(back));
    for (size_t i = first; i < last; ++i) {
        ask_for_group(playback, i + AHEAD);
        plan_group(playback, &playback->groups[w->groups[i]]);
    }
}

espl_status espl__written_plan(espl__playback *playback)
{
    espl__writing *const w = &playback->writing;
    const espl_status status = espl__run_ranges(playback->executor, playback->hooks, plan_groups,
                                                playback, w->count, GRAIN);

    for (size_t i = 0; i < w->group_count; ++i) {
        w->short_count += playback->groups[w->groups[i]].is_short ? 1 : 0;
    }
    return status;
}
