// SPDX-License-Identifier: MIT
// The slots of the nursery, its tree header, and its side arrays.
//
// Invariant: while a playback has a nursery, it ends where the pool ends.
#include "lib/commands/nursery.h"

#include <string.h>

espl_status espl__nursery_open(espl__stage_context *context, espl__nursery *nursery, size_t slots)
{
    espl__forest *const forest = context->forest;
    espl__side *side = NULL;
    const espl_status status = espl__forest_reserve(forest, slots, 1);

    ESPL_CHECK(forest->nursery == ESPL__NO_TREE && slots < ESPL__NURSERY_LIMIT);
    if (status != ESPL_OK) {
        return status;
    }
    if (nursery->has_side && slots != 0) {
        side = espl__side_make(forest, (uint32_t)slots, true);
        if (side == NULL) {
            return ESPL_ERR_NO_MEMORY;
        }
    }
    nursery->is_new = forest->free_tree == ESPL__NO_TREE;
    forest->nursery = espl__tree_take(forest);
    nursery->begin = forest->end;
    nursery->end = forest->end + (uint32_t)slots;
    forest->end = nursery->end;
    forest->trees[forest->nursery] = (espl__tree){.base = nursery->begin,
                                                  .capacity = (uint32_t)slots,
                                                  .used = (uint32_t)slots,
                                                  .hole = ESPL__NO_SLOT,
                                                  .next = ESPL__NO_TREE,
                                                  .previous = ESPL__NO_TREE};
    espl__tree_put_side(forest, forest->nursery, side);
    for (uint32_t slot = nursery->begin; slot < nursery->end; ++slot) {
        forest->tree[slot] = forest->nursery;
    }
    return ESPL_OK;
}

void espl__nursery_close(espl__stage_context *context, const espl__nursery *nursery, bool is_undone)
{
    espl__forest *const forest = context->forest;

    if (forest->nursery == ESPL__NO_TREE) {
        return;
    }
    ESPL_CHECK(nursery->begin <= nursery->end);
    espl__tree_free_side(forest, forest->nursery);
    forest->trees[forest->nursery].capacity = 0;
    if (is_undone) {
        forest->end = nursery->begin;
    }
    // A header that was taken after all others is removed, so that no trace of it is left.
    if (nursery->is_new && forest->nursery + 1 == forest->tree_end) {
        forest->tree_end -= 1;
    } else {
        espl__tree_give(forest, forest->nursery);
    }
    forest->nursery = ESPL__NO_TREE;
}

// Make sure that the side arrays of the nursery have entries for its first `slots` slots. They grow by
// half at least, because a group that copies what it edits makes room clone by clone.
static espl_status grow_side(const espl__stage_context *context, uint32_t slots)
{
    espl__forest *const forest = context->forest;
    espl__side *const old = espl__side_of(forest, &forest->trees[forest->nursery]);
    const uint32_t count = old != NULL ? old->capacity : 0;

    if (slots <= count) {
        return ESPL_OK;
    }
    if (old == NULL && !espl__sides_reserve(forest, 1)) {
        return ESPL_ERR_NO_MEMORY;
    }
    const uint32_t half_more = count + count / 2;
    const uint32_t capacity = slots > half_more ? slots : half_more;
    espl__side *const side = espl__side_make(forest, capacity, true);

    if (side == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    if (old != NULL) {
        memcpy(side->extra, old->extra, count * sizeof *side->extra);
        memcpy(espl__side_kept(side), espl__side_kept(old), count * sizeof(espl__kept));
        for (int number = 0; number < side->past_count && number < old->past_count; ++number) {
            memcpy(espl__side_past(side, number), espl__side_past(old, number),
                   count * sizeof(espl_pose));
        }
        espl__side_free(forest, old);
    }
    espl__tree_put_side(forest, forest->nursery, side);
    return ESPL_OK;
}

espl_status espl__nursery_grow(espl__stage_context *context, espl__nursery *nursery,
                               espl__edit *edit, uint32_t closure, uint32_t count,
                               uint32_t spare)
{
    espl__forest *const forest = context->forest;
    const size_t left = edit->nursery_end - edit->nursery - edit->nursery_spare;
    size_t wanted = 0;

    if (!espl__size_multiply(&wanted, closure, count) ||
        wanted > ESPL__NURSERY_LIMIT) { // GCOVR_EXCL_BR_LINE: past what memory holds
        return ESPL_ERR_LIMIT;
    }
    if (wanted <= left && spare == 0) {
        return ESPL_OK;
    }
    if (forest->nursery == ESPL__NO_TREE) {
        const espl_status opened = espl__nursery_open(context, nursery, 0);

        if (opened != ESPL_OK) {
            edit->status = ESPL_ERR_NO_MEMORY;
            return ESPL_ERR_NO_MEMORY;
        }
        ESPL_CHECK(nursery->begin == edit->nursery_begin);
    }
    const uint32_t more = (uint32_t)(wanted > left ? wanted - left : 0) + spare;
    espl_status status = espl__forest_reserve(forest, more, 0);

    if (status == ESPL_OK && nursery->has_side) {
        status = grow_side(context, nursery->end - nursery->begin + more);
    }
    if (status != ESPL_OK) {
        edit->status = ESPL_ERR_NO_MEMORY;
        return ESPL_ERR_NO_MEMORY;
    }
    // No other part is being applied, so that the nursery ends where the pool ends.
    ESPL_CHECK(forest->end == edit->nursery_end && forest->end == nursery->end);
    for (uint32_t slot = forest->end; slot < forest->end + more; ++slot) {
        forest->tree[slot] = forest->nursery;
    }
    forest->end += more;
    forest->trees[forest->nursery].capacity += more;
    forest->trees[forest->nursery].used += more;
    nursery->end += more;
    edit->nursery_end += more;
    edit->nursery_spare += spare;
    return ESPL_OK;
}
