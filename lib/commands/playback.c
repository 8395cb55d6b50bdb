// SPDX-License-Identifier: MIT
// Runs the stages of a playback in order, undoes the edits where a stage fails, and cleans up.
//
// Owns the memory that is kept from one playback to the next (espl__playback_memory), and decides
// when to free it. Invariant between playbacks: all marks are 0, the lists of parts hold nothing
// that the next playback reads, the arena is empty, and the forest has no nursery.
#include "lib/commands/playback.h"

#include "lib/base/marks.h"
#include "lib/commands/nursery.h"
#include "lib/commands/parts.h"
#include "lib/commands/stages.h"

_Static_assert(ESPL_REASON_COUNT == 1 - ESPL_ERR_UNSUPPORTED,
               "a report counts every status that a command may have");

void espl__playback_init(espl__playback *playback, espl__heap *heap, espl__store *store,
                         espl__forest *forest, const espl_executor *executor,
                         const espl_hooks *hooks)
{
    *playback = (espl__playback){
        .context = {.heap = heap,
                    .store = store,
                    .forest = forest,
                    .executor = executor,
                    .hooks = hooks,
                    .part_entries = ESPL__PART_ENTRIES,
                    .divided_entries = ESPL__DIVIDED_ENTRIES},
    };
    espl__arena_init(&playback->context.arena, heap, ESPL__FOR_COMMANDS);
    espl__edit_init(&playback->unlogged, forest);
    playback->unlogged.is_unlogged = true;
}

// --- Memory that is kept ---

void espl__playback_trim(espl__playback *playback)
{
    espl__heap *const heap = playback->context.heap;
    espl__playback_memory *const memory = &playback->context.memory;

    ESPL_CHECK(espl__array_length(memory->sources) == 0);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_COMMANDS, memory->set_marks);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_COMMANDS, memory->entity_marks);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_COMMANDS, memory->chunk_marks);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_COMMANDS, memory->sources);
    espl__parts_free(&playback->context);
    espl__arena_free(&playback->context.arena);
}

void espl__playback_free(espl__playback *playback)
{
    espl__playback_trim(playback);
    espl__custom_registry_free(playback->context.heap, &playback->custom);
}

size_t espl__playback_bytes(const espl__playback *playback)
{
    const espl__playback_memory *const memory = &playback->context.memory;
    size_t bytes = ESPL_ARRAY_BYTES(memory->set_marks) + ESPL_ARRAY_BYTES(memory->entity_marks) +
                   ESPL_ARRAY_BYTES(memory->chunk_marks) + ESPL_ARRAY_BYTES(memory->sources) +
                   espl__arena_bytes(&playback->context.arena);

    for (uint32_t i = 0; i < ESPL__PARTS; ++i) {
        size_t used;

        bytes += espl__part_bytes(memory->parts[i], &used);
    }
    return bytes;
}

// --- One playback ---

// A copy of zeros, because gcc 12 sets more than 80 bytes to 0 by "rep stos", which takes long to
// begin.
static const espl__planned no_plan;

// Tell whether what a playback may leave behind is gone: part of the invariant between playbacks.
static bool is_clean(const espl__playback *playback)
{
    const espl__forest *const forest = playback->context.forest;

    return !espl__forest_is_edited(forest) && forest->nursery == ESPL__NO_TREE &&
           espl__array_length(playback->context.memory.sources) == 0;
}

// Stages 1 to 4 and reserve. A failure leaves the edits to be undone.
static espl_status run_stages(espl__playback *p, const espl__play_request *request)
{
    espl__stage_context *const context = &p->context;

    // The trace begins with the order stage: see espl__trace_begin().
    const espl__order_input order = {request, &p->custom};
    espl_status status = espl__stage_order(context, &order, &p->ordered);

    if (status == ESPL_OK) {
        const espl__resolve_input in = {request, &p->ordered};

        espl__trace_stage(&p->trace, ESPL_STAGE_RESOLVE);
        status = espl__stage_resolve(context, &in, &p->resolved);
    }
    if (status == ESPL_OK) {
        const espl__group_input in = {&p->ordered, &p->resolved};

        espl__trace_stage(&p->trace, ESPL_STAGE_GROUP);
        status = espl__stage_group(context, &in, &p->grouped);
    }
    if (status == ESPL_OK) {
        const espl__apply_input in = {request, &p->ordered, &p->resolved, &p->grouped};

        espl__trace_stage(&p->trace, ESPL_STAGE_APPLY);
        status = espl__stage_apply(context, &in, &p->applied);
    }
    if (status == ESPL_OK) {
        const espl__reserve_input in = {request, &p->ordered, &p->grouped, &p->applied};

        // Part of the apply stage for the trace, because users see seven stages.
        status = espl__stage_reserve(context, &in, &p->planned, &p->changed);
    }
    return status;
}

// Stages 5 to 7. The heap is forbidden, so that a stage that allocated would trap in checked
// builds.
static void commit_stages(espl__playback *p, const espl__play_request *request,
                          uint64_t layouts_before, espl_report *report)
{
    espl__stage_context *const context = &p->context;
    const espl__change_input change = {request, &p->ordered, &p->applied, &p->planned};

    espl__heap_forbid(context->heap);
    espl__trace_stage(&p->trace, ESPL_STAGE_CHANGE);
    espl__stage_change(context, &change, &p->changed);

    espl__trace_stage(&p->trace, ESPL_STAGE_PLACE);
    p->has_overflowed = espl__stage_place(context, &p->applied);

    const espl__report_input in = {request,
                                   &p->ordered,
                                   &p->grouped,
                                   &p->applied,
                                   &p->planned,
                                   &p->changed,
                                   .nodes_laid_out =
                                       context->forest->nodes_laid_out - layouts_before,
                                   .has_overflowed = p->has_overflowed};

    espl__trace_stage(&p->trace, ESPL_STAGE_REPORT);
    espl__stage_report(&in, report);
    espl__heap_allow(context->heap);
}

// Undo all edits of the apply stage: links, slots, transforms and worlds of the forest are
// restored, bit for bit. The last part first, because the part that is applied alone follows the
// others.
static void undo_edits(const espl__applied *applied)
{
    for (uint32_t i = applied->part_count; i > 0; --i) {
        espl__edit_undo(&applied->parts[i - 1]->edit);
    }
}

// Clear what the stages marked, and free the memory of this playback.
static void clean_up(espl__playback *playback, bool is_undone)
{
    espl__stage_context *const context = &playback->context;
    espl__playback_memory *const memory = &context->memory;
    espl__forest *const forest = context->forest;

    // Set by the group stage, also where it failed.
    for (size_t i = 0; i < playback->grouped.touched_count; ++i) {
        forest->trees[playback->grouped.touched[i]].mark = 0;
    }
    // Set by the apply stage.
    for (uint32_t i = 0; i < playback->applied.part_count; ++i) {
        espl__part_clear_marks(context, playback->applied.parts[i]);
    }
    espl__array_set_length(memory->sources, 0);
    // The edits were undone or placed: a node that is left in the slots of the nursery belongs to a
    // tree.
    espl__nursery_close(context, &playback->applied.nursery, is_undone);
    espl__references_free(context->heap, playback->planned.references);
    espl__arena_reset(&context->arena);
    forest->modes &= (uint8_t)~ESPL__MODE_EDITED;
}

espl_status espl__playback_run(espl__playback *playback, const espl__play_request *request,
                               espl_report *report)
{
    enum { FEW = 16 };
    espl__stage_context *const context = &playback->context;
    const uint64_t layouts_before = context->forest->nodes_laid_out;
    const size_t archetypes_before = espl__array_length(context->store->archetypes);

    ESPL_CHECK(is_clean(playback));
    // `resolved` is written as a whole by its stage.
    playback->ordered = (espl__ordered){0};
    playback->grouped = (espl__grouped){0};
    playback->applied = (espl__applied){.first_refused = UINT32_MAX};
    playback->planned = no_plan;
    playback->changed = (espl__changed){0};
    playback->has_overflowed = false;

    context->forest->modes |= ESPL__MODE_EDITED;
    const espl_status status = run_stages(playback, request);

    if (status == ESPL_OK) {
        commit_stages(playback, request, layouts_before, report);
    } else {
        undo_edits(&playback->applied);
        espl__archetypes_forget(context->store, archetypes_before);
    }
    clean_up(playback, status != ESPL_OK);
    ESPL_CHECK(is_clean(playback));

    espl__marks_trim(context->heap, ESPL__FOR_COMMANDS, &context->memory.set_marks,
                     context->forest->end);
    espl__marks_trim(context->heap, ESPL__FOR_COMMANDS, &context->memory.chunk_marks,
                     espl__array_length(context->store->chunks));
    // Fast path: few commands that made no long list.
    if (playback->ordered.entry_count > FEW || playback->applied.part_count == 0 ||
        espl__part_is_long(playback->applied.parts[0])) {
        espl__parts_trim(context, playback->applied.part_count);
    }
    return status;
}
