// SPDX-License-Identifier: MIT
// Stage 5: ids for the clones, their rows in the final archetypes, rows that change archetype, rows
// that leave; each in batches. Memory for all of it was taken before.
#include "lib/commands/assemble.h"

// What one job takes at least: less is done sooner than another worker wakes up.
enum { ENTRY_GRAIN = 4096, ROW_GRAIN = 4096 };

static espl__node *node_of(const espl__playback *playback, const espl__make *make)
{
    return espl__sketch_at(&playback->groups[make->group].work->sketch, make->node);
}

// Tell what each pending handle of a command became.
static void resolve_entry(const espl__playback *playback, const espl__entry *entry)
{
    const espl__lane_view *const lane = &playback->lanes[entry->lane];
    const espl__sketch *const sketch = &playback->groups[entry->group].work->sketch;

    for (uint32_t k = 0; k < entry->command->count; ++k) {
        const uint32_t pending = entry->command->pending + k;
        const uint32_t node = playback->pending_nodes[lane->pending_base + pending];
        const bool is_made =
            node != ESPL__NO_NODE && !espl__node_is_dead(espl__sketch_at(sketch, node));

        lane->created[pending] =
            is_made ? espl__entity_at(playback->store, espl__sketch_at(sketch, node)->entity)
                    : espl_entity_null();
    }
}

// Where all clones live and the first ones are what the command is asked for.
static void resolve_short(const espl__playback *playback, const espl__entry *entry)
{
    const espl_entity *const made = playback->make_entities + entry->make_begin;
    espl_entity *const created = playback->lanes[entry->lane].created + entry->command->pending;
    const uint32_t count = entry->command->count;

    for (uint32_t k = 0; k < count; ++k) {
        created[k] = made[k];
    }
}

// Tell the living clones of commands [begin, end) who they are, and then who asked for them.
static void name_entries(void *context, size_t begin, size_t end)
{
    const espl__playback *const playback = context;

    for (size_t i = begin; i < end; ++i) {
        const espl__entry *const entry = &playback->entries[i];

        // Who makes nothing has no clones.
        if (entry->command->count == 0) {
            continue;
        }
        if (entry->is_short) {
            resolve_short(playback, entry);
            continue;
        }
        const espl__sketch *const sketch = &playback->groups[entry->group].work->sketch;
        const espl_entity *entity = playback->make_entities + entry->make_begin;

        for (uint32_t k = 0; k < entry->clone_count; ++k) {
            espl__node *const node = espl__sketch_at(sketch, entry->clone_begin + k);

            if (!espl__node_is_dead(node)) {
                node->entity = entity->index;
                entity += 1;
            }
        }
        resolve_entry(playback, entry);
    }
}

// Work that may be cut anywhere and done again.
static void run(espl__playback *playback, espl__range_function function, size_t count, size_t grain)
{
    const espl_status status =
        espl__run_ranges(playback->executor, playback->hooks, function, playback, count, grain);

    if (status != ESPL_OK) {
        // The executor lost a job; the change is under way and is completed here.
        function(playback, 0, count);
    }
}

static size_t begin_of(const espl__playback *playback, size_t copies)
{
    return (size_t)(playback->copies[copies].order - playback->make_order);
}

// The copies that the clone at `position` in the order of rows is one of.
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

// Make the rows of clones [begin, end) in the order of rows.
static void fill_rows(void *context, size_t begin, size_t end)
{
    const espl__playback *const playback = context;

    for (size_t i = find_copies(playback, begin); begin < end; ++i) {
        const size_t first = begin_of(playback, i);
        const size_t limit = first + playback->copies[i].count;
        const size_t here = end < limit ? end : limit;

        espl__rows_copy(playback->store, &playback->copies[i], begin - first, here - first);
        begin = here;
    }
}

// Copies of one source in one archetype get rows side by side.
static void make_rows(espl__playback *playback)
{
    for (size_t i = 0; i < playback->copies_count; ++i) {
        espl__copies *const copies = &playback->copies[i];

        copies->first = espl__rows_open(playback->store, copies->archetype, copies->count);
    }
    run(playback, fill_rows, playback->make_count, ROW_GRAIN);
}

static const espl__node *made_node(const espl__playback *playback, size_t position)
{
    return node_of(playback, &playback->makes[playback->make_order[position]]);
}

// Clones in the order of rows, from a position on, that share a set and stand side by side.
static uint32_t count_alike(const espl__playback *playback, size_t position)
{
    const uint32_t *const order = playback->make_order + position;
    const uint32_t group = playback->makes[order[0]].group;
    const espl__node *const first = made_node(playback, position);
    const espl__record at = playback->store->records[first->entity];
    uint32_t count = 1;

    while (position + count < playback->make_count &&
           playback->makes[order[count]].group == group) {
        const espl__node *const node = made_node(playback, position + count);
        const espl__record *const record = &playback->store->records[node->entity];

        if (node->values != first->values || record->chunk != at.chunk) {
            break;
        }
        ESPL_CHECK(record->row == at.row + count);
        count += 1;
    }
    return count;
}

static void fill_assembled(const espl__playback *playback, uint32_t number)
{
    const uint32_t entity = playback->make_entities[number].index;

    espl__assembly_fill(playback, &playback->makes[number], &playback->store->records[entity]);
}

static void write_made(espl__playback *playback)
{
    uint32_t count = 1;

    // What is made by recipe is given nothing.
    for (size_t at = 0; !playback->are_all_short && at < playback->make_count; at += count) {
        const uint32_t number = playback->make_order[at];

        count = 1;
        if (playback->make_kinds[number] == ESPL__MAKE_ASSEMBLED) {
            fill_assembled(playback, number);
        }
        if (playback->make_kinds[number] != ESPL__MAKE_GIVEN) {
            continue;
        }
        const espl__node *const node = made_node(playback, at);

        if (node->values != ESPL__NO_NODE) {
            const espl__record *const record = &playback->store->records[node->entity];

            count = count_alike(playback, at);
            espl__values_fill(playback, &playback->groups[playback->makes[number].group].work->sets,
                              node->values, record, count);
        }
    }
}

// Values that were given go on top, to clones and, once their rows have moved, to the others.
static void write_values(espl__playback *playback)
{
    write_made(playback);
    for (size_t i = 0; i < playback->gift_count; ++i) {
        const espl__gift *const gift = &playback->gifts[i];

        espl__values_fill(playback, &playback->groups[gift->group].work->sets, gift->set,
                          &playback->store->records[gift->entity], 1);
    }
}

// Hand runs of changes with one chunk and one archetype to the store.
static void change_rows(espl__playback *playback, const espl__row_change *changes, size_t count)
{
    uint32_t rows[ESPL__CHUNK_ROWS];
    size_t begin = 0;

    while (begin < count) {
        const espl__row_change *const first = &changes[begin];
        size_t taken = 0;

        while (begin + taken < count && changes[begin + taken].chunk == first->chunk &&
               changes[begin + taken].archetype == first->archetype) {
            rows[taken] = changes[begin + taken].row;
            taken += 1;
        }
        espl__rows_move(playback->store, first->chunk, first->archetype, rows, taken);
        playback->row_batches += 1;
        begin += taken;
    }
}

void espl__stage_change(espl__playback *playback)
{
    espl__entities_take(playback->store, playback->make_entities, playback->make_count);
    espl__references_name(playback);
    run(playback, name_entries, playback->pending_count != 0 ? playback->entry_count : 0,
        ENTRY_GRAIN);
    make_rows(playback);
    change_rows(playback, playback->moves, playback->move_count);
    write_values(playback);
    espl__references_write(playback);
    espl__entities_remove(playback->store, playback->removals, playback->removal_count);
    espl__rows_settle(playback->store);
    playback->row_batches += playback->copies_count + (playback->removal_count != 0 ? 1 : 0);
}
