// SPDX-License-Identifier: MIT
// Rewinds: the log, the report, and new generations.
#include "lib/value/rewind.h"

#include "lib/base/bits.h"
#include "lib/base/prefetch.h"

#include <espalier/history.h>

#include <string.h>

// --- The log ---

// Note an item of the shadow that gets an earlier content.
static void note_entry(espl__shadow *shadow, const espl__undo_key *key)
{
    switch ((espl__shadow_kind)key->kind) {
    case ESPL__SHADOW_SLOT:
    case ESPL__SHADOW_LOCAL:
    case ESPL__SHADOW_SIDE:
    case ESPL__SHADOW_PAST:
    case ESPL__SHADOW_CELL:
        espl__noted_add(&shadow->noted_slots, key->number);
        break;
    case ESPL__SHADOW_TREE:
        espl__noted_add(&shadow->noted_trees, key->number);
        break;
    case ESPL__SHADOW_RECORD:
    case ESPL__SHADOW_NAME:
    case ESPL__SHADOW_ORIGINAL:
        espl__noted_add(&shadow->noted_records, key->number);
        break;
    case ESPL__SHADOW_COLUMN:
        shadow->archetypes[key->number].chunks[key->position].is_touched = true;
        shadow->archetypes[key->number].is_touched = true;
        break;
    case ESPL__SHADOW_ROWS:
        shadow->archetypes[key->number].is_touched = true;
        break;
    case ESPL__SHADOW_NUMBERS:
    case ESPL__SHADOW_HEADS:
    case ESPL__SHADOW_SET:
        break;
    }
}

// Return where the shadow has an item.
static void *shadow_place(espl__shadow *shadow, const espl__undo_key *key)
{
    const uint32_t number = key->number;

    switch ((espl__shadow_kind)key->kind) {
    case ESPL__SHADOW_NUMBERS:
        return &shadow->numbers;
    case ESPL__SHADOW_HEADS:
        return &shadow->heads[(size_t)number * ESPL__SHADOW_HEADS_EACH];
    case ESPL__SHADOW_SLOT:
        return &shadow->slots[number].links;
    case ESPL__SHADOW_LOCAL:
        return &shadow->slots[number].local;
    case ESPL__SHADOW_SIDE:
        return &shadow->sides[number];
    case ESPL__SHADOW_PAST:
        return &shadow->pasts[number];
    case ESPL__SHADOW_CELL:
        return &shadow->cells[number];
    case ESPL__SHADOW_TREE:
        return &shadow->trees[number];
    case ESPL__SHADOW_RECORD:
        return &shadow->records[number];
    case ESPL__SHADOW_NAME:
        return &shadow->names[number];
    case ESPL__SHADOW_ORIGINAL:
        return &shadow->originals[number];
    case ESPL__SHADOW_ROWS:
        return &shadow->archetypes[number].rows;
    case ESPL__SHADOW_COLUMN:
    case ESPL__SHADOW_SET:
        break;
    }
    const espl__archetype *const archetype = &shadow->world->store.archetypes[number];
    const uint32_t offset = key->column == 0 ? 0 : archetype->columns[key->column - 1].offset;

    return shadow->archetypes[number].chunks[key->position].bytes + offset;
}

// Give the shadow the content of an entry. One of a name is held by the shadow afterwards.
static void apply_entry(espl__shadow *shadow, const espl__undo_key *key, void *place,
                        uint64_t begin)
{
    note_entry(shadow, key);
    if (key->kind == ESPL__SHADOW_NAME) {
        espl__name_let_go(&shadow->world->store.names, &shadow->world->heap,
                          shadow->names[key->number].text);
        shadow->log->names -= 1;
    }
    espl__undo_content(shadow->log, begin, place, key->size);
    if (key->kind == ESPL__SHADOW_TREE) {
        shadow->is_plain[key->number] = espl__shadow_is_plain(&shadow->trees[key->number].tree);
    }
}

// Restore the shadow from the log. No archetype of the log is dropped before the end of this. Items are prefetched,
// because their order in memory is random.
static void go_back(espl__shadow *shadow, uint32_t at)
{
    enum { READ = 32 };
    espl__undo_log *const log = shadow->log;
    const uint64_t to = espl__undo_frame_at(log, at)->end;
    espl__undo_key keys[READ];
    void *places[READ];
    uint64_t begins[READ];

    for (uint64_t end = log->end; end != to;) {
        uint32_t count = 0;

        for (; count < READ && end != to; ++count) {
            end = begins[count] = espl__undo_read(log, end, &keys[count]);
            places[count] = shadow_place(shadow, &keys[count]);
            espl__prefetch_to_write(places[count]);
        }
        for (uint32_t i = 0; i < count; ++i) {
            apply_entry(shadow, &keys[i], places[i], begins[i]);
        }
    }
    shadow->checksum = espl__undo_frame_at(log, at)->checksum;
    espl__undo_cut(log, at + 1);
}

// --- The report ---

void espl__rewind_each_index(espl__shadow *shadow, espl__rewind_function *call, void *context)
{
    const espl__noted *const noted = &shadow->noted_records;
    const size_t words = espl__array_length(noted->words);

    for (uint32_t word = espl__noted_next(noted, 0); word < words;
         word = espl__noted_next(noted, word + 1)) {
        for (uint64_t left = noted->words[word]; left != 0; left &= left - 1) {
            call(shadow, word * 64 + espl__lowest_bit(left), context);
        }
    }
}

static void end_note(espl__shadow *shadow, uint32_t index, void *context)
{
    (void)context;
    shadow->noted_records.words[index / 64] = 0;
    shadow->noted_records.groups[index / 4096] &= ~(UINT64_C(1) << index / 64 % 64);
}

// The lists of a rewind, in the memory of the shadow: three of them, each with room for all indices.
typedef struct rewind_lists {
    espl_entity *unborn, *revived;
    espl_entity *spent; // free indices, each with a generation that no handle had; without a tag
    size_t unborn_count, revived_count, spent_count;
    // Each revived entity has an index of which no handle had this generation, or none after its own.
    uint32_t least_generation;
} rewind_lists;

// Return the handle of an index that is alive, else the null entity.
static espl_entity living(const espl__record *records, size_t count, uint32_t index)
{
    return index < count && records[index].row < ESPL__ROW_RETIRED
               ? (espl_entity){index, records[index].generation}
               : (espl_entity){0, 0};
}

// Compare an index before and after.
static void report_index(espl__shadow *shadow, uint32_t index, void *context)
{
    const espl__store *const store = &shadow->world->store;
    rewind_lists *const l = context;
    const size_t issued = espl__array_length(store->records);
    const espl_entity before = living(store->records, issued, index);
    const espl_entity after = living(shadow->records, shadow->numbers.records, index);

    if (espl_entity_equal(before, after) && !espl_entity_is_null(after)) {
        return;
    }
    if (!espl_entity_is_null(before)) {
        l->unborn[l->unborn_count++] = before;
    }
    if (!espl_entity_is_null(after)) {
        l->revived[l->revived_count++] = after;
    }
    if (index >= issued) {
        return;
    }
    const uint32_t unused = espl__unused_generation(store, index);

    if (espl_entity_is_null(after)) {
        l->spent[l->spent_count++] = (espl_entity){index, unused};
    } else if (unused > (after.generation & ESPL__GENERATION_MASK) + 1 &&
               unused > l->least_generation) {
        l->least_generation = unused;
    }
}

// --- New generations ---

// Return the indices to be free, in the order in which they are taken: those of the frame, without such as are
// retired now, then later ones.
static void free_spent(espl__store *store, const rewind_lists *l, size_t issued)
{
    uint32_t *link = &store->free_head;

    for (size_t i = 0; i < l->spent_count; ++i) {
        espl__record *const record = &store->records[l->spent[i].index];
        const bool is_used_up = l->spent[i].generation > ESPL__LAST_GENERATION;
        const bool is_new = l->spent[i].index >= issued;

        if (record->row == ESPL__ROW_RETIRED) {
            continue;
        }
        store->free_count += is_new ? 1 : 0;
        if (is_used_up) {
            record->row = ESPL__ROW_RETIRED;
            store->retired_count += 1;
            store->free_count -= 1;
        } else {
            record->generation = store->tag << ESPL__TAG_SHIFT | l->spent[i].generation;
        }
    }
    while (*link != ESPL__NONE) {
        espl__record *const record = &store->records[*link];

        if (record->row == ESPL__ROW_RETIRED) {
            *link = record->chunk;
            record->chunk = ESPL__NONE;
        } else {
            link = &record->chunk;
        }
    }
    for (size_t i = 0; i < l->spent_count; ++i) {
        const uint32_t index = l->spent[i].index;

        if (index >= issued && store->records[index].row == ESPL__NONE) {
            *link = index;
            link = &store->records[index].chunk;
            *link = ESPL__NONE;
        }
    }
}

// Indices that are free now get a generation that no handle had, and those of revived entities get one once they
// are free. Later ones stay issued.
static void freshen(espl_world *world, const rewind_lists *l, size_t had)
{
    espl__store *const store = &world->store;
    const size_t issued = espl__array_length(store->records);

    if (had > issued) {
        espl__array_set_length(store->records, had);
    }
    for (size_t index = issued; index < had; ++index) {
        store->records[index].chunk = ESPL__NONE;
        store->records[index].row = ESPL__NONE;
        store->records[index].slot = (uint32_t)index;
    }
    store->least_generation = l->least_generation;
    free_spent(store, l, issued);
    espl__store_mark_entities(store, l->spent, l->spent_count);
}

// --- All ---

void espl__rewind(espl__shadow *shadow, uint32_t at, uint32_t flags, espl_rewind *report)
{
    espl_world *const world = shadow->world;
    espl__shadow_look look = espl__shadow_look_of(shadow);
    const uint64_t age = espl__undo_frame_at(shadow->log, at)->age;
    const size_t had = espl__array_length(world->store.records);
    const size_t room = espl__array_length(shadow->report) / 3;
    rewind_lists l = {.unborn = shadow->report, .least_generation = world->store.least_generation};

    // A world without indices has no room for a report.
    if (room != 0) {
        l.revived = l.unborn + room;
        l.spent = l.revived + room;
    }

    espl__shadow_note_changed(&look);
    go_back(shadow, at);
    espl__retired_go_back(&world->heap, age);
    espl__rewind_drop_nodes(shadow);
    espl__rewind_each_index(shadow, report_index, &l);
    espl__rewind_drop_rows(shadow);
    espl__rewind_rows(shadow);
    espl__rewind_nodes(shadow);
    espl__retired_drop_present(&world->heap);
    espl__rewind_each_index(shadow, end_note, NULL);
    espl__shadow_settle(shadow);
    if ((flags & ESPL_REWIND_FRESH) != 0) {
        freshen(world, &l, had);
    }
    *report = (espl_rewind){.unborn = l.unborn,
                            .revived = l.revived,
                            .unborn_count = l.unborn_count,
                            .revived_count = l.revived_count};
}
