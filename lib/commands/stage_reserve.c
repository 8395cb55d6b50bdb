// SPDX-License-Identifier: MIT
// The reserve stage: takes all memory that the change and place stages need, so that they cannot
// fail.
//
// Input: the trees as the apply stage leaves them. Output: the plan of all changes of the store
// (row_plan.c, clone_references.c), and the memory of the output of the change stage. In the store
// it makes archetypes, which a refused playback forgets, and room for rows, names and entities,
// which a refused playback leaves unused.
//
// Ranges of the forest are reserved last, because they could not be given back without a trace.
#include "lib/commands/parts.h"
#include "lib/commands/stages.h"
#include "lib/tree/relocation.h"

// Reserve room for all new rows. The rows of one archetype are summed first, because each reserve
// is for the rows that it names alone. All sums are cleared, also where a reserve fails.
static espl_status reserve_planned_rows(espl__store *store, const espl__planned *planned)
{
    espl__archetype *const archetypes = store->archetypes;
    espl_status status = ESPL_OK;

    // Buckets of one archetype often follow each other, as those of the nodes of one source.
    for (size_t i = 0; i < planned->copies_count;) {
        const uint32_t archetype = planned->copies[i].archetype;
        size_t sum = 0;

        for (; i < planned->copies_count && planned->copies[i].archetype == archetype; ++i) {
            sum += planned->copies[i].count;
        }
        archetypes[archetype].coming += sum;
    }
    for (size_t i = 0; i < planned->move_count; ++i) {
        archetypes[planned->moves[i].archetype].coming += 1;
    }
    for (size_t i = 0; i < planned->copies_count; ++i) {
        const uint32_t archetype = planned->copies[i].archetype;

        if (i == 0 || planned->copies[i - 1].archetype != archetype) {
            const espl_status here = espl__rows_reserve_coming(store, archetype);

            status = status != ESPL_OK ? status : here;
        }
    }
    for (size_t i = 0; i < planned->move_count; ++i) {
        const espl_status here = espl__rows_reserve_coming(store, planned->moves[i].archetype);

        status = status != ESPL_OK ? status : here;
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
    espl__edit *edits[ESPL__PARTS];
    espl_status status = espl__plan_rows(context, in, out, memory);

    status = status != ESPL_OK ? status : reserve_store(context, out);
    status = status != ESPL_OK ? status : espl__references_plan(context, in, out);
    if (status == ESPL_OK) {
        const size_t lost = espl__references_lost(out->references);

        status = espl__entities_reserve(context->store, out->make_count + lost);
    }
    return status != ESPL_OK
               ? status
               : espl__relocations_reserve(context->forest, edits, espl__part_edits(in->applied, edits));
}
