// SPDX-License-Identifier: MIT
// Stage 6: the edits of all parts move their nodes to the final slots and bring the worlds up to
// date.
//
// Input: the parts of the apply stage. Output: the forest, whose trees are in order again where
// they were or where a layout was due, and the counts of the forest. All memory was taken by the
// reserve stage. Cost: linear in the nodes that move and in the worlds that are out of date.
//
// Parts are placed at the same time, because no two edits have a tree in common.
#include "lib/commands/parts.h"
#include "lib/commands/stages.h"
#include "lib/jobs/ranges.h"
#include "lib/tree/relocation.h"

_Static_assert(ESPL__ENTITY_STRIDE == 4, "as espl__entities_record_slots() reads them");

typedef struct part_placing {
    const espl__applied *applied;
    espl__store *store;
    bool is_done[ESPL__PARTS];
} part_placing;

// A job: place the edit of one part, once.
static void place_part(void *context, size_t number)
{
    part_placing *const p = context;

    ESPL_CHECK(number < p->applied->part_count);
    if (!p->is_done[number]) {
        p->is_done[number] = true;
        espl__edit_relocate(&p->applied->parts[number]->edit, espl__entities_record_slots, p->store);
    }
}

// Complete the edits of all parts after their nodes moved. @return as espl__stage_place().
static inline bool finish(espl__forest *forest, espl__edit *const *edits, size_t count,
                          const espl__nursery *nursery)
{
    bool has_computed = false, has_ended = false;

    espl__relocations_finish(forest, edits, count, nursery->begin, nursery->end);
    // All edits together, because how groups are divided among them must not matter: a world that was not
    // finite before, and is below a change that did not recompute it, does not count.
    for (size_t i = 0; i < count; ++i) {
        espl__counts_add(&forest->context.counts, &edits[i]->context.counts);
        has_computed = has_computed || edits[i]->context.has_overflowed;
        has_ended = has_ended || edits[i]->ends_overflowed;
    }
    forest->context.has_overflowed = forest->context.has_overflowed || has_ended;
    return has_computed && has_ended;
}

bool espl__place_one(espl__stage_context *context, const espl__applied *applied)
{
    espl__edit *const edit = &applied->parts[0]->edit;

    ESPL_CHECK(applied->part_count == 1);
    espl__edit_relocate(edit, espl__entities_record_slots, context->store);
    return finish(context->forest, &edit, 1, &applied->nursery);
}

bool espl__stage_place(espl__stage_context *context, const espl__applied *applied)
{
    espl__edit *edits[ESPL__PARTS]; // not all set to NULL, because most playbacks have one

    edits[0] = NULL; // or gcc warns of the amalgamation, because it does not know that there is a part
    const size_t count = espl__part_edits(applied, edits);
    part_placing p = {.applied = applied, .store = context->store};

    // The stage cannot fail: parts that the executor lost are placed here, and none is placed
    // twice.
    if (espl__run_jobs(context->executor, context->hooks, place_part, &p, count) != ESPL_OK) {
        for (size_t i = 0; i < count; ++i) {
            place_part(&p, i);
        }
    }
    return finish(context->forest, edits, count, &applied->nursery);
}
