// SPDX-License-Identifier: MIT
// The reserve stage: takes all memory that the change and place stages need, so that they cannot
// fail.
//
// Input: the trees as the apply stage leaves them. Output: the plan of all changes of the store
// (row_plan.c, clone_references.c), and the memory of the output of the change stage. In the store
// it makes archetypes and room for rows, names and entities, which a refused playback leaves
// unused.
//
// Ranges of the forest are reserved last, because they could not be given back without a trace.
#include "lib/commands/stages.h"

// Archetypes that get rows: first those of the copies, then those of rows that move. A number may
// name the same archetype as another one.
static uint32_t archetype_at(const espl__planned *planned, size_t number)
{
    return number < planned->copies_count
               ? planned->copies[number].archetype
               : planned->moves[number - planned->copies_count].archetype;
}

// Reserve room for all new rows. The rows of one archetype are summed first, because each reserve
// is for the rows that it names alone.
static espl_status reserve_planned_rows(espl__store *store, const espl__planned *planned)
{
    const size_t count = planned->copies_count + planned->move_count;
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < count; ++i) {
        store->archetypes[archetype_at(planned, i)].coming +=
            i < planned->copies_count ? planned->copies[i].count : 1;
    }
    // Each sum is taken once, and cleared also where a reserve fails.
    for (size_t i = 0; i < count; ++i) {
        const uint32_t archetype = archetype_at(planned, i);
        const size_t coming = store->archetypes[archetype].coming;

        store->archetypes[archetype].coming = 0;
        if (coming != 0 && status == ESPL_OK) {
            status = espl__rows_reserve(store, archetype, coming);
        }
    }
    return status;
}

// Reserve room for the names of clones, because each copy of a named entity shares its name.
static bool reserve_clone_names(const espl__stage_context *context, const espl__planned *planned)
{
    espl__names *const names = &context->store->names;
    size_t more = 0;

    if (names->count == 0) {
        return true;
    }
    for (size_t i = 0; i < planned->copies_count; ++i) {
        const espl__copies *const copies = &planned->copies[i];

        more += espl__name_of(names, copies->source) != NULL ? copies->count : 0;
    }
    return espl__names_reserve(names, context->heap, more);
}

// Reserve what the plan of the rows needs of the store.
static espl_status reserve_store(espl__stage_context *context, const espl__planned *planned)
{
    const espl_status status = reserve_planned_rows(context->store, planned);

    if (status != ESPL_OK) {
        return status;
    }
    return reserve_clone_names(context, planned) ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}

espl_status espl__stage_reserve(espl__stage_context *context, const espl__reserve_input *in,
                                espl__planned *out, espl__changed *memory)
{
    const espl__play_request *const request = in->request;
    espl__edit *edits[ESPL__PARTS];
    espl_status status = espl__plan_rows(context, in, out, memory);

    status = status != ESPL_OK ? status : reserve_store(context, out);
    status = status != ESPL_OK ? status : espl__references_plan(context, in, out);
    if (status == ESPL_OK) {
        const size_t lost = espl__references_lost(out->references);

        status = espl__entities_reserve(context->store, out->make_count + lost);
    }
    if (status == ESPL_OK && request->reserve_more != NULL) {
        status = request->reserve_more(request->more_context);
    }
    return status != ESPL_OK
               ? status
               : espl__relocations_reserve(context->forest, edits, espl__part_edits(in->applied, edits));
}
