// SPDX-License-Identifier: MIT
// What is stored of one node, and the side arrays of its run.
#include "lib/tree/forest.h"

#include <string.h>

enum { SIDE_ALIGNMENT = 16 };

static size_t side_size(uint32_t capacity, bool keeps)
{
    const size_t entry = sizeof(espl__extra) + (keeps ? sizeof(espl__kept) : 0);

    return sizeof(espl__side) + capacity * entry;
}

espl__side *espl__side_make(espl__heap *heap, uint32_t capacity, bool keeps)
{
    espl__side *const side =
        espl__heap_take(heap, ESPL__FOR_TREE, 1, side_size(capacity, keeps), SIDE_ALIGNMENT);

    if (side == NULL) {
        return NULL;
    }
    *side = (espl__side){.capacity = capacity};
    side->kept = keeps ? (espl__kept *)(void *)(side->extra + capacity) : NULL;
    for (uint32_t i = 0; i < capacity; ++i) {
        side->extra[i] = espl__extra_default();
    }
    for (uint32_t i = 0; keeps && i < capacity; ++i) {
        side->kept[i] = espl__kept_none();
    }
    return side;
}

size_t espl__side_bytes(const espl__side *side)
{
    return side == NULL ? 0 : side_size(side->capacity, side->kept != NULL);
}

void espl__side_free(espl__heap *heap, espl__side *side)
{
    if (side != NULL) {
        espl__heap_give(heap, ESPL__FOR_TREE, side, 1, espl__side_bytes(side), SIDE_ALIGNMENT);
    }
}

void espl__run_set_side(espl__forest *forest, uint32_t run, espl__side *side)
{
    espl__run *const header = &forest->runs[run];
    espl__side *const old = header->side;

    ESPL_CHECK(side->capacity == header->capacity);
    if (old != NULL) {
        // Others come for room for inherit flags alone.
        ESPL_CHECK(old->kept == NULL && old->kept_count == 0);
        side->extra_count = old->extra_count;
        side->is_prepaid = old->is_prepaid;
        memcpy(side->extra, old->extra, old->capacity * sizeof *side->extra);
        espl__side_free(forest->heap, old);
    }
    header->side = side;
    header->flags |= ESPL__RUN_GENERAL;
    for (uint32_t i = 0; i < header->used; ++i) {
        forest->flags[header->base + i] |= ESPL__SLOT_SIDE;
    }
}

bool espl__run_add_side(espl__forest *forest, uint32_t run, bool keeps)
{
    const espl__run *const header = &forest->runs[run];

    if (header->side != NULL && (header->side->kept != NULL || !keeps)) {
        return true;
    }
    espl__side *const side = espl__side_make(forest->heap, header->capacity, keeps);

    if (side == NULL) {
        return false;
    }
    espl__run_set_side(forest, run, side);
    return true;
}

// --- A run elsewhere ---

// What side arrays hold, slot by slot in another order.
static void move_side(espl__forest *forest, const espl__run *from, espl__side *to)
{
    const espl__side *const old = from->side;

    if (old == NULL) {
        return;
    }
    to->extra_count = old->extra_count;
    to->kept_count = old->kept_count;
    to->is_prepaid = old->is_prepaid;
    for (uint32_t rank = 0; rank < from->size; ++rank) {
        const uint32_t at = forest->order[from->base + rank] - from->base;

        to->extra[rank] = old->extra[at];
        if (old->kept != NULL) {
            to->kept[rank] = old->kept[at];
        }
    }
    espl__side_free(forest->heap, from->side);
}

void espl__run_move(espl__forest *forest, uint32_t run, uint32_t capacity, espl__side *side,
                    void (*moved)(void *, uint32_t, uint32_t), void *context)
{
    espl__run *const header = &forest->runs[run];
    const espl__run old = *header;
    const uint32_t base = espl__range_take(forest, capacity);
    const unsigned sided = side != NULL ? (unsigned)ESPL__SLOT_SIDE : 0u;

    ESPL_CHECK(capacity >= old.size && (old.side == NULL || side != NULL));
    move_side(forest, &old, side);
    for (uint32_t rank = 0; rank < old.size; ++rank) {
        const uint32_t from = forest->order[old.base + rank], to = base + rank;

        forest->local[to] = forest->local[from];
        forest->world[to] = forest->world[from];
        forest->entity[to] = forest->entity[from];
        forest->flags[to] = (uint8_t)((forest->flags[from] & ~(unsigned)ESPL__SLOT_SIDE) | sided);
        forest->order[to] = to;
        forest->rank[to] = rank;
        if (forest->entity[to] != ESPL__NO_ENTITY) {
            moved(context, forest->entity[to], to);
        }
    }
    memcpy(forest->parent + base, forest->parent + old.base, old.size * sizeof *forest->parent);
    memcpy(forest->first + base, forest->first + old.base, old.size * sizeof *forest->first);
    for (uint32_t i = 0; i < capacity; ++i) {
        forest->run[base + i] = run;
    }
    header->base = base;
    header->capacity = capacity;
    header->used = old.size;
    header->side = side;
    header->flags |=
        (unsigned)ESPL__RUN_IN_ORDER | (side != NULL ? (unsigned)ESPL__RUN_GENERAL : 0u);
    espl__range_give(forest, old.base, old.capacity);
}

// --- Less again ---

void espl__run_drop_side(espl__forest *forest, uint32_t run)
{
    espl__run *const header = &forest->runs[run];
    const espl__side *const side = header->side;
    bool is_general = false;

    if (side == NULL || side->is_prepaid || side->extra_count != 0 || side->kept_count != 0) {
        return;
    }
    espl__side_free(forest->heap, header->side);
    header->side = NULL;
    for (uint32_t i = 0; i < header->used; ++i) {
        uint8_t *const flags = &forest->flags[header->base + i];

        *flags &= (uint8_t)~ESPL__SLOT_SIDE;
    }
    for (uint32_t rank = 0; rank < header->size; ++rank) {
        is_general = is_general || espl__slot_is(forest, forest->order[header->base + rank],
                                                 ESPL__SLOT_PASS | ESPL__SLOT_ROOTED);
    }
    header->flags &= is_general ? ~0u : ~(unsigned)ESPL__RUN_GENERAL;
}

// 1 for a node that has an extra of its own other than the default.
static uint32_t own_extras(const espl__placement *placement, bool is_pass)
{
    return !is_pass && !espl__placement_copies(placement) &&
           !espl__extra_is_default(&placement->extra);
}

espl__side_counts espl__slot_put(espl__forest *forest, uint32_t slot,
                                 const espl__placement *placement)
{
    const espl__run *const run = espl__run_of(forest, slot);
    espl__side *const side = run->side;
    const uint32_t at = slot - run->base;
    const bool is_pass = espl__slot_is(forest, slot, ESPL__SLOT_PASS);
    const bool keeps = placement->kept.flags != 0;
    espl__side_counts changes = {0, 0};

    ESPL_CHECK(espl__run_can_hold(run, placement));
    if (side != NULL) {
        const espl__placement before = espl__slot_placement(forest, slot);

        changes.extras = own_extras(placement, is_pass) - own_extras(&before, is_pass);
        changes.kept = (keeps ? 1u : 0u) - (before.kept.flags != 0 ? 1u : 0u);
        side->extra[at] = placement->extra;
        if (side->kept != NULL) {
            side->kept[at] = placement->kept;
        }
    }
    forest->local[slot] = placement->local;
    forest->flags[slot] =
        (uint8_t)((forest->flags[slot] & ~ESPL__SLOT_KEEPS) | (keeps ? ESPL__SLOT_KEEPS : 0));
    return changes;
}

void espl__slot_place(espl__forest *forest, uint32_t slot, const espl__placement *placement)
{
    espl__side_count(espl__run_of(forest, slot)->side, espl__slot_put(forest, slot, placement));
}
