// SPDX-License-Identifier: MIT
// Which entities came to a watch and went since its last collect: a difference of two states. The index
// plane says at which indices the states may differ, so that nothing is kept of an event, and a destroy
// takes no memory.
#include "lib/world/watches.h"

#include "lib/base/bits.h"
#include "lib/world/read.h"

enum { NO_ARCHETYPE = 0xffffffff >> 1 };

void espl__watch_ask(const espl_watch *watch, espl__watch_answers *answers)
{
    answers->watch = watch;
    for (size_t i = 0; i < sizeof answers->archetypes / sizeof *answers->archetypes; ++i) {
        answers->archetypes[i] = (uint32_t)NO_ARCHETYPE << 1;
    }
}

// The cache is as old as the collect, because a refused call may give the number of an archetype to
// another set.
static bool archetype_answers(espl__watch_answers *answers, uint32_t archetype)
{
    uint32_t *const entry = &answers->archetypes[archetype % 64];

    if (*entry >> 1 != archetype) {
        *entry =
            archetype << 1 | (espl__query_answers(&answers->watch->filter, archetype) ? 1u : 0u);
    }
    return (*entry & 1) != 0;
}

uint32_t espl__watch_generation(espl__watch_answers *answers, uint32_t index)
{
    const espl__store *const store = &answers->watch->world->store;
    const espl__record *const record = &store->records[index];

    ESPL_CHECK_FULL(index < espl__array_length(store->records));
    // Rows of entities without ESPL_TRANSFORM, and those of free indices, are from ESPL__ROW_BARE on.
    if (record->row >= ESPL__ROW_BARE ||
        !archetype_answers(answers, store->chunks[record->chunk].archetype)) {
        return 0;
    }
    return record->generation;
}

// Begin a walk over the indices that may have changed since the last collect; the first one has no earlier
// state, so that it looks at all.
static void begin_walk_of_indices(const espl_watch *watch, espl__plane_walk *walk)
{
    const espl_world *const world = watch->world;

    *walk = (espl__plane_walk){
        .planes = {&world->store.index_plane},
        .plane_count = 1,
        .items = (uint32_t)espl__array_length(world->store.records),
        .since = espl__plane_since(world->moment, watch->last),
        .is_whole = watch->first == 0,
    };
    espl__plane_walk_begin(walk);
}

// Note that an index has another entity than before, or none: list both.
static void list_index(espl_watch *watch, const espl__watch_arrays *arrays,
                       const espl__watch_counts *counts, uint32_t index, uint32_t now)
{
    const uint32_t before = watch->known[index];

    if (before != 0) {
        arrays->removed[counts->removed] = (espl_entity){index, before};
    }
    if (now != 0) {
        arrays->added[counts->added] = (espl_entity){index, now};
    }
    watch->known[index] = now == 0 ? 0 : now | ESPL__WATCH_ADDED;
}

// List or count the entities of indices that no longer exist, as in walk_indices().
static void walk_past_indices(const espl_watch *watch, espl_watch *lists,
                              const espl__watch_arrays *arrays, espl__watch_counts *counts)
{
    const size_t records = espl__array_length(watch->world->store.records);

    for (size_t index = records; index < espl__array_length(watch->known); ++index) {
        if (watch->known[index] == 0) {
            continue;
        }
        counts->removed += 1;
        if (lists != NULL) {
            arrays->removed[counts->removed - 1] =
                (espl_entity){(uint32_t)index, watch->known[index]};
        }
    }
    if (lists != NULL) {
        espl__watch_set_known(lists, records);
    }
}

// Count the entities that went and came.
// @param lists   the watch, to list them and to know them from now on; NULL: they are counted alone.
// @param arrays  with room for all of them; read where they are listed.
// @param counts  out: `removed` and `added`.
static void walk_indices(const espl_watch *watch, espl_watch *lists,
                         const espl__watch_arrays *arrays, espl__watch_counts *counts)
{
    espl__watch_answers answers;
    espl__plane_walk walk;

    ESPL_CHECK(espl__array_length(watch->known) >= espl__array_length(watch->world->store.records));
    counts->removed = counts->added = 0;
    espl__watch_ask(watch, &answers);
    begin_walk_of_indices(watch, &walk);
    for (uint64_t left; (left = espl__plane_walk_next(&walk)) != 0;) {
        for (; left != 0; left &= left - 1) {
            const uint32_t index = walk.block * ESPL__PLANE_BLOCK + espl__lowest_bit(left);
            const uint32_t before = watch->known[index];
            const uint32_t now = espl__watch_generation(&answers, index);

            if (before == now) {
                continue;
            }
            if (lists != NULL) {
                list_index(lists, arrays, counts, index, now);
            }
            counts->removed += before != 0 ? 1 : 0;
            counts->added += now != 0 ? 1 : 0;
        }
    }
    walk_past_indices(watch, lists, arrays, counts);
}

void espl__watch_count_presence(const espl_watch *watch, espl__watch_counts *counts)
{
    walk_indices(watch, NULL, NULL, counts);
}

// Copy the transforms of entities that came. They are in any order in the pool.
static void read_added(espl_watch *watch, const espl__watch_arrays *arrays, size_t count)
{
    enum { AHEAD = 8 };
    const espl_world *const world = watch->world;
    const espl__record *const records = world->store.records;

    for (size_t i = 0; i < count; ++i) {
        const uint32_t index = arrays->added[i].index, slot = records[index].slot;

        if (i + AHEAD < count) {
            espl__prefetch(&world->forest.world[records[arrays->added[i + AHEAD].index].slot]);
        }
        if (arrays->added_worlds != NULL) {
            espl__watch_read(watch, index, slot, &arrays->added_worlds[i]);
        }
        if (arrays->added_locals != NULL) {
            arrays->added_locals[i] = espl__read_local(world, slot);
        }
        if (arrays->added_cells != NULL) {
            arrays->added_cells[i] = espl__watch_cell(&world->forest, slot);
        }
    }
}

void espl__watch_list_presence(espl_watch *watch, const espl__watch_arrays *arrays)
{
    espl__watch_counts counts;

    walk_indices(watch, watch, arrays, &counts);
    watch->known_count += counts.added - counts.removed;
    read_added(watch, arrays, counts.added);
}

void espl__watch_settle_presence(espl_watch *watch, const espl_entity *added, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        watch->known[added[i].index] = added[i].generation;
    }
}
