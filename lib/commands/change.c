// SPDX-License-Identifier: MIT
// Stage 5: ids for the nodes that were made, their rows in the final archetypes, rows that change
// archetype, rows that leave; each in batches. Memory for all of it was taken before.
#include "lib/commands/playback.h"

// Rows of a job at least: fewer are made sooner than another worker wakes up.
enum { ROW_GRAIN = 4096 };

// --- Ids and names ---

static void identify_makes(espl__playback *playback)
{
    espl__forest *const forest = playback->forest;

    for (size_t i = 0; i < playback->make_count; ++i) {
        forest->links[playback->makes[i].slot].entity = playback->make_entities[i].index;
    }
}

// Clones have the names of what they are copies of.
static void share_names(const espl__playback *playback)
{
    espl__names *const names = &playback->store->names;

    for (size_t i = 0; i < playback->copies_count && names->count != 0; ++i) {
        const espl__copies *const copies = &playback->copies[i];

        if (espl__name_of(names, copies->source) == NULL) {
            continue;
        }
        for (size_t k = 0; k < copies->count; ++k) {
            espl__name_share(names, copies->source,
                             playback->make_entities[copies->order[k]].index);
        }
    }
}

// Tell what each pending handle became.
static void resolve_pendings(const espl__playback *playback)
{
    const espl__forest *const forest = playback->forest;

    for (uint32_t i = 0; i < playback->lane_count; ++i) {
        const espl__lane_view *const lane = &playback->lanes[i];

        for (uint32_t k = 0; k < lane->pending_count; ++k) {
            const uint32_t slot = playback->pending_slots[lane->pending_base + k];
            const uint32_t entity =
                slot == ESPL__NO_SLOT ? ESPL__NO_ENTITY : forest->links[slot].entity;

            lane->created[k] = entity == ESPL__NO_ENTITY
                                   ? espl_entity_null()
                                   : espl__entity_at(playback->store, entity);
        }
    }
}

// --- Rows ---

static size_t begin_of(const espl__playback *playback, size_t copies)
{
    return (size_t)(playback->copies[copies].order - playback->make_order);
}

// The bucket that the make at `position` in the order of rows is in.
static size_t find_copies(const espl__playback *playback, size_t position)
{
    size_t low = 0, high = playback->copies_count;

    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;

        if (begin_of(playback, middle) <= position) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static void write_slots(const espl__playback *playback, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; ++i) {
        const uint32_t number = playback->make_order[i];

        espl__entity_set_slot(playback->store, playback->make_entities[number].index,
                              playback->makes[number].slot);
    }
}

// Make the rows of makes [begin, end) in the order of rows.
static void fill_rows(void *context, size_t begin, size_t end)
{
    const espl__playback *const playback = context;

    for (size_t i = find_copies(playback, begin); begin < end; ++i) {
        const size_t first = begin_of(playback, i);
        const size_t limit = first + playback->copies[i].count;
        const size_t here = end < limit ? end : limit;

        espl__rows_copy(playback->store, &playback->copies[i], begin - first, here - first);
        write_slots(playback, begin, here);
        begin = here;
    }
}

static void make_rows(espl__playback *playback)
{
    for (size_t i = 0; i < playback->copies_count; ++i) {
        espl__copies *const copies = &playback->copies[i];

        copies->first = espl__rows_open(playback->store, copies->archetype, copies->count);
    }
    if (espl__run_ranges(playback->executor, playback->hooks, fill_rows, playback,
                         playback->make_count, ROW_GRAIN) != ESPL_OK) {
        // The executor lost a job; the change is under way and is completed here.
        fill_rows(playback, 0, playback->make_count);
    }
}

// Hand consecutive changes with one chunk and one archetype to the store.
static void change_rows(espl__playback *playback)
{
    const espl__row_change *const changes = playback->moves;
    uint32_t rows[ESPL__CHUNK_ROWS];
    size_t begin = 0;

    while (begin < playback->move_count) {
        const espl__row_change *const first = &changes[begin];
        size_t taken = 0;

        while (begin + taken < playback->move_count &&
               changes[begin + taken].chunk == first->chunk &&
               changes[begin + taken].archetype == first->archetype) {
            rows[taken] = changes[begin + taken].row;
            taken += 1;
        }
        espl__rows_move(playback->store, first->chunk, first->archetype, rows, taken);
        playback->row_batches += 1;
        begin += taken;
    }
}

static void write_made_values(const espl__playback *playback, const espl__part *part)
{
    const bool has_sets = espl__array_length(part->sets.sets) != 0;
    const size_t count = has_sets ? espl__array_length(part->made) : 0;

    for (size_t i = 0; i < count; ++i) {
        const uint32_t set = part->made[i].set;
        const uint32_t entity = playback->forest->links[part->edit.made[i].slot].entity;

        if (set != ESPL__NONE && entity != ESPL__NO_ENTITY) {
            espl__values_fill(playback, &part->sets, set, &playback->store->records[entity], 1);
        }
    }
}

// Values that were given go on top, to made nodes and, once their rows have moved, to the others.
static void write_values(espl__playback *playback)
{
    for (uint32_t i = 0; i < playback->part_count; ++i) {
        write_made_values(playback, playback->parts[i]);
    }
    for (size_t i = 0; i < playback->given_count; ++i) {
        const espl__given_values *const given = &playback->given[i];

        espl__values_fill(playback, &playback->parts[given->part]->sets, given->set,
                          &playback->store->records[given->entity], 1);
    }
}

void espl__stage_change(espl__playback *playback)
{
    espl__entities_take(playback->store, playback->make_entities, playback->make_count);
    espl__references_name(playback);
    identify_makes(playback);
    share_names(playback);
    resolve_pendings(playback);
    make_rows(playback);
    change_rows(playback);
    write_values(playback);
    espl__references_write(playback);
    espl__entities_remove(playback->store, playback->removals, playback->removal_count);
    espl__rows_settle(playback->store);
    playback->row_batches += playback->copies_count + (playback->removal_count != 0 ? 1 : 0);
}
