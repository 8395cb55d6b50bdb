// SPDX-License-Identifier: MIT
// The conductor: runs the stages, takes everything back where memory runs out, and cleans up.
#include "lib/commands/playback.h"

#include <string.h>

_Static_assert(ESPL_REASON_COUNT == 1 - ESPL_ERR_PENDING,
               "a report counts every status that a command may have");

void espl__playback_init(espl__playback *playback, espl__heap *heap, espl__store *store,
                         espl__forest *forest, const espl_executor *executor,
                         const espl_hooks *hooks)
{
    *playback = (espl__playback){
        .heap = heap,
        .store = store,
        .forest = forest,
        .executor = executor,
        .hooks = hooks,
        .part_entries = ESPL__PART_ENTRIES,
        .root_tree = ESPL__NO_TREE,
    };
    espl__arena_init(&playback->arena, heap, ESPL__FOR_COMMANDS);
}

// --- Memory that is kept ---

static void free_part(espl__playback *playback, espl__part *part)
{
    if (part == NULL) {
        return;
    }
    espl__edit_free(&part->edit);
    espl__sets_drop(playback->heap, &part->sets);
    ESPL_ARRAY_FREE(playback->heap, ESPL__FOR_COMMANDS, part->made);
    ESPL_ARRAY_FREE(playback->heap, ESPL__FOR_COMMANDS, part->notes);
    espl__heap_give(playback->heap, ESPL__FOR_COMMANDS, part, 1, sizeof *part, 64);
}

void espl__playback_trim(espl__playback *playback)
{
    espl__heap *const heap = playback->heap;

    ESPL_ARRAY_FREE(heap, ESPL__FOR_COMMANDS, playback->note_marks);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_COMMANDS, playback->entity_marks);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_COMMANDS, playback->chunk_marks);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_COMMANDS, playback->sources);
    for (uint32_t i = 0; i < ESPL__PARTS; ++i) {
        free_part(playback, playback->parts[i]);
        playback->parts[i] = NULL;
    }
    espl__arena_free(&playback->arena);
}

void espl__playback_free(espl__playback *playback)
{
    espl__playback_trim(playback);
    espl__callbacks_free(playback->heap, &playback->callbacks);
}

// @param used  out: bytes of the items in its lists
static size_t part_bytes(espl__part *part, size_t *used)
{
    *used = 0;
    if (part == NULL) {
        return 0;
    }
    const size_t lists = espl__edit_bytes(&part->edit, used);

    *used += espl__array_length(part->made) * sizeof *part->made;
    *used += espl__array_length(part->notes) * sizeof *part->notes;
    return sizeof *part + lists + espl__sets_bytes(&part->sets) + ESPL_ARRAY_BYTES(part->made) +
           ESPL_ARRAY_BYTES(part->notes);
}

size_t espl__playback_bytes(const espl__playback *playback)
{
    size_t bytes = ESPL_ARRAY_BYTES(playback->note_marks) +
                   ESPL_ARRAY_BYTES(playback->entity_marks) +
                   ESPL_ARRAY_BYTES(playback->chunk_marks) + ESPL_ARRAY_BYTES(playback->sources) +
                   espl__arena_bytes(&playback->arena);

    for (uint32_t i = 0; i < ESPL__PARTS; ++i) {
        size_t used;

        bytes += part_bytes(playback->parts[i], &used);
    }
    return bytes;
}

bool espl__marks_reserve(espl__heap *heap, uint32_t **marks, size_t count)
{
    const size_t length = espl__array_length(*marks);

    if (count <= length) {
        return true;
    }
    // All of the room counts at once, so that marks grow as rarely as the array does.
    if (!espl__array_reserve(heap, ESPL__FOR_COMMANDS, (void **)marks, sizeof **marks,
                             count - length)) {
        return false;
    }
    const size_t room = espl__array_capacity(*marks);

    memset(*marks + length, 0, (room - length) * sizeof **marks);
    espl__array_set_length(*marks, room);
    return true;
}

// Free a mark array when it is more than four times as long as needed.
static void trim_one(espl__playback *playback, uint32_t **marks, size_t count)
{
    if (espl__array_length(*marks) > 4 * count + 1024) {
        ESPL_ARRAY_FREE(playback->heap, ESPL__FOR_COMMANDS, *marks);
    }
}

static void trim_marks(espl__playback *playback)
{
    trim_one(playback, &playback->note_marks, playback->forest->end);
    trim_one(playback, &playback->chunk_marks, espl__array_length(playback->store->chunks));
}

// Free the lists of parts that this playback made much longer than usual, or than the next one needs.
// Small playbacks, immediate calls above all, say nothing about what is usual.
static void trim_parts(espl__playback *playback)
{
    enum { SMALL = 1 << 16, FACTOR = 4 };
    size_t used = 0, bytes = 0;

    // An immediate call that made nothing long.
    if (playback->entry_count <= 1 &&
        espl__array_capacity(playback->parts[0]->edit.log) < SMALL / sizeof(espl__undo)) {
        return;
    }
    for (uint32_t i = 0; i < ESPL__PARTS; ++i) {
        size_t here;

        bytes += part_bytes(playback->parts[i], &here);
        used += i < playback->part_count ? here : 0;
    }
    const bool is_usual = used <= SMALL || used <= FACTOR * playback->usual_bytes;

    if (used > SMALL) {
        playback->usual_bytes = (3 * playback->usual_bytes + used + 3) / 4;
    }
    const size_t usual = playback->usual_bytes > SMALL ? playback->usual_bytes : SMALL;

    if (is_usual && bytes <= 2 * FACTOR * usual) {
        return;
    }
    for (uint32_t i = 0; i < ESPL__PARTS; ++i) {
        free_part(playback, playback->parts[i]);
        playback->parts[i] = NULL;
    }
}

// --- One playback ---

static espl_status begin(espl__playback *playback, espl__lane_view *lanes, uint32_t lane_count,
                         uint32_t tag)
{
    playback->lanes = lanes;
    playback->lane_count = lane_count;
    playback->tag = tag;
    playback->touched_count = playback->group_count = 0;
    playback->make_count = playback->copies_count = playback->move_count = 0;
    playback->removal_count = playback->given_count = 0;
    playback->references = NULL;
    playback->moved_nodes = playback->row_batches = playback->call_count = 0;
    playback->entry_count = playback->pending_count = 0;
    playback->layouts_before = playback->forest->nodes_laid_out;
    for (uint32_t i = 0; i < lane_count; ++i) {
        playback->call_count += lanes[i].call_count;
    }
    playback->first_refused = UINT32_MAX;
    playback->nursery_begin = playback->nursery_end = 0;
    playback->part_count = 1;
    return espl__playback_part(playback, 0) != NULL ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}

// Where all is to be done or nothing, a refused command refuses the playback.
static espl_status check_strict(espl__playback *playback)
{
    for (size_t i = 0; playback->is_strict && i < playback->entry_count; ++i) {
        const espl__entry *const entry = &playback->entries[i];

        if (entry->status < 0) {
            playback->first_refused = entry->index;
            return entry->status;
        }
    }
    return ESPL_OK;
}

// Stages 1 to 4: may fail.
static espl_status prepare(espl__playback *playback)
{
    espl_status status = espl__stage_order(playback);

    if (status == ESPL_OK) {
        espl__calls_take(playback);
        espl__watch_stage(&playback->watch, ESPL_STAGE_RESOLVE);
        status = espl__stage_resolve(playback);
    }
    if (status == ESPL_OK) {
        espl__watch_stage(&playback->watch, ESPL_STAGE_GROUP);
        status = espl__stage_group(playback);
    }
    if (status == ESPL_OK) {
        espl__watch_stage(&playback->watch, ESPL_STAGE_APPLY);
        status = espl__stage_apply(playback);
    }
    status = status != ESPL_OK ? status : check_strict(playback);
    return status != ESPL_OK ? status : espl__stage_reserve(playback);
}

// Archetypes that get rows, one after the other, of copies and of rows that move.
static uint32_t archetype_at(const espl__playback *playback, size_t number)
{
    return number < playback->copies_count
               ? playback->copies[number].archetype
               : playback->moves[number - playback->copies_count].archetype;
}

// Room for all rows to be. What comes to an archetype is summed up first, because reserves do not add up.
static espl_status reserve_rows(espl__playback *playback)
{
    espl__store *const store = playback->store;
    const size_t count = playback->copies_count + playback->move_count;
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < count; ++i) {
        store->archetypes[archetype_at(playback, i)].coming +=
            i < playback->copies_count ? playback->copies[i].count : 1;
    }
    for (size_t i = 0; i < count; ++i) {
        const uint32_t archetype = archetype_at(playback, i);
        const size_t coming = store->archetypes[archetype].coming;

        store->archetypes[archetype].coming = 0;
        if (coming != 0 && status == ESPL_OK) {
            status = espl__rows_reserve(store, archetype, coming);
        }
    }
    return status;
}

// Places for the names of clones: each copy of a named entity shares its name.
static bool reserve_names(const espl__playback *playback)
{
    espl__names *const names = &playback->store->names;
    size_t more = 0;

    if (names->count == 0) {
        return true;
    }
    for (size_t i = 0; i < playback->copies_count; ++i) {
        const espl__copies *const copies = &playback->copies[i];

        more += espl__name_of(names, copies->source) != NULL ? copies->count : 0;
    }
    return espl__names_reserve(names, playback->heap, more);
}

static size_t list_edits(const espl__playback *playback, espl__edit *edits[ESPL__PARTS])
{
    for (uint32_t i = 0; i < playback->part_count; ++i) {
        edits[i] = &playback->parts[i]->edit;
    }
    return playback->part_count;
}

espl_status espl__stage_reserve(espl__playback *playback)
{
    espl__edit *edits[ESPL__PARTS];
    espl_status status = espl__list_rows(playback);

    status = status != ESPL_OK ? status : reserve_rows(playback);
    if (status == ESPL_OK && !reserve_names(playback)) {
        status = ESPL_ERR_NO_MEMORY;
    }
    status = status != ESPL_OK ? status : espl__references_plan(playback);
    status = status != ESPL_OK
                 ? status
                 : espl__entities_reserve(playback->store,
                                          playback->make_count + espl__references_lost(playback));
    if (status == ESPL_OK && playback->reserve_more != NULL) {
        status = playback->reserve_more(playback->more_context);
    }
    // Last, because ranges that were taken could not be given back without a trace.
    return status != ESPL_OK
               ? status
               : espl__relocations_reserve(playback->forest, edits, list_edits(playback, edits));
}

// --- Stage 6 ---

static void place_part(void *context, size_t number)
{
    espl__playback *const playback = context;
    espl__part *const part = playback->parts[number];

    if (!part->is_placed) {
        part->is_placed = true;
        espl__edit_relocate(&part->edit, espl__entity_record_slot, playback->store);
    }
}

// Nodes below a change whose worlds were not finite before, and were not computed now, are counted by
// the edits too. There are not more in all than worlds were computed that are not finite.
static void bound_overflowed(espl__edit *const *edits, size_t count)
{
    uint64_t counted = 0, computed = 0;

    for (size_t i = 0; i < count; ++i) {
        counted += edits[i]->context.counts.overflowed;
        computed += edits[i]->overflow_events;
    }
    for (size_t i = 0; i < count && counted > computed; ++i) {
        uint64_t *const here = &edits[i]->context.counts.overflowed;
        const uint64_t less = *here < counted - computed ? *here : counted - computed;

        *here -= less;
        counted -= less;
    }
}

void espl__stage_place(espl__playback *playback)
{
    espl__edit *edits[ESPL__PARTS];
    const size_t count = list_edits(playback, edits);

    // A job that the executor lost is done here; one is never done twice.
    if (espl__run_jobs(playback->executor, playback->hooks, place_part, playback, count) !=
        ESPL_OK) {
        for (size_t i = 0; i < count; ++i) {
            place_part(playback, i);
        }
    }
    espl__relocations_finish(playback->forest, edits, count, playback->nursery_begin,
                             playback->nursery_end);
    bound_overflowed(edits, count);
    for (size_t i = 0; i < count; ++i) {
        espl__counts_add(&playback->forest->context.counts, &edits[i]->context.counts);
    }
}

// Stages 5 to 7: cannot fail.
static void commit(espl__playback *playback, espl_report *report)
{
    espl__heap_forbid(playback->heap);
    espl__watch_stage(&playback->watch, ESPL_STAGE_CHANGE);
    espl__stage_change(playback);
    espl__watch_stage(&playback->watch, ESPL_STAGE_PLACE);
    espl__stage_place(playback);
    espl__watch_stage(&playback->watch, ESPL_STAGE_REPORT);
    espl__stage_report(playback, report);
    espl__calls_report(playback, report);
    espl__heap_allow(playback->heap);
}

static void undo(espl__playback *playback)
{
    for (uint32_t i = playback->part_count; i > 0; --i) {
        espl__edit_undo(&playback->parts[i - 1]->edit);
    }
}

static void end(espl__playback *playback, bool is_undone)
{
    for (size_t i = 0; i < playback->touched_count; ++i) {
        playback->forest->trees[playback->touched[i].tree].mark = 0;
    }
    espl__array_set_length(playback->sources, 0);
    for (uint32_t i = 0; i < playback->part_count; ++i) {
        espl__part *const part = playback->parts[i];

        for (size_t k = 0; part != NULL && k < espl__array_length(part->notes); ++k) {
            playback->note_marks[part->notes[k].slot] = 0;
        }
    }
    espl__nursery_close(playback, is_undone);
    playback->forest->is_edited = false;
    espl__references_drop(playback);
    espl__arena_reset(&playback->arena);
}

espl_status espl__playback_run(espl__playback *playback, espl__lane_view *lanes,
                               uint32_t lane_count, uint32_t tag, espl_report *report)
{
    espl_status status = begin(playback, lanes, lane_count, tag);

    if (status != ESPL_OK) {
        return status;
    }
    playback->forest->is_edited = true;
    status = prepare(playback);
    if (status == ESPL_OK) {
        commit(playback, report);
    } else {
        undo(playback);
    }
    end(playback, status != ESPL_OK);
    trim_marks(playback);
    trim_parts(playback);
    return status;
}
