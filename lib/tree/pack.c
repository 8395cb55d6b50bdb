// SPDX-License-Identifier: MIT
// Packing: all runs move together into a block that fits them, each in rank order again. Keeps the
// pool from staying twice as large as what lives in it, and memory in the order of propagation.
#include "lib/tree/forest.h"

#include <string.h>

// Beside what each run keeps to grow, a pool has this part of it to spare for runs that come.
enum { WORTHWHILE = 4096, SPARE_SHARE = 64 };

// One packing under way.
typedef struct packing {
    const espl__forest *from;
    espl__forest *to;
    bool is_tight; // nothing is left over, and side arrays are made anew
    void (*moved)(void *context, uint32_t entity, uint32_t slot);
    void *context;
} packing;

bool espl__forest_wants_pack(const espl__forest *forest)
{
    return forest->end >= WORTHWHILE && forest->free_slots > forest->end / 3;
}

// What a run keeps: some room to grow, and all of it where side arrays are filed by slot.
static uint32_t packed_capacity(const espl__run *run)
{
    const uint32_t roomy = run->size + run->size / 4;

    return run->side != NULL || roomy > run->capacity ? run->capacity : roomy;
}

// --- Moving ---

// Copy one node, links aside.
static void move_node(espl__forest *to, uint32_t new_slot, const espl__forest *from, uint32_t slot)
{
    to->local[new_slot] = from->local[slot];
    to->world[new_slot] = from->world[slot];
    to->entity[new_slot] = from->entity[slot];
    to->flags[new_slot] = from->flags[slot];
}

// File what stands in the side arrays of a run by the new slots, which are in rank order.
static void refile(espl__forest *to, const espl__run *run, const espl__forest *from,
                   const espl__run *old)
{
    espl__side *const side = run->side;

    if (side != NULL) {
        side->extra_count = old->side->extra_count;
        side->kept_count = old->side->kept_count;
    }
    for (uint32_t rank = 0; rank < run->size; ++rank) {
        const uint32_t at = from->order[old->base + rank] - old->base;

        if (side == NULL) {
            to->flags[run->base + rank] &= (uint8_t)~ESPL__SLOT_SIDE;
            continue;
        }
        side->extra[rank] = old->side->extra[at];
        if (side->kept != NULL) {
            side->kept[rank] = old->side->kept[at];
        }
    }
}

static bool has_special_slots(const espl__forest *forest, const espl__run *run)
{
    for (uint32_t slot = run->base; slot < run->base + run->size; ++slot) {
        if (espl__slot_is(forest, slot, ESPL__SLOT_PASS | ESPL__SLOT_ROOTED)) {
            return true;
        }
    }
    return false;
}

// Side arrays made anew are filed, and a run that lost them may not be a special one any more.
static void settle_side(const packing *p, espl__run *run, const espl__run *old)
{
    if (!p->is_tight || old->side == NULL) {
        return;
    }
    refile(p->to, run, p->from, old);
    if (run->side == NULL && !has_special_slots(p->to, run)) {
        run->flags &= ~(unsigned)ESPL__RUN_GENERAL;
    }
}

// @param side  of the run to be.
static void move_run(const packing *p, uint32_t new_run, const espl__run *old, espl__side *side)
{
    const espl__forest *const from = p->from;
    espl__forest *const to = p->to;
    espl__run *const run = &to->runs[new_run];
    const uint32_t base = to->end;
    const bool keeps_slots = !p->is_tight && old->side != NULL;

    *run = *old;
    run->side = side;
    run->base = base;
    run->capacity = p->is_tight ? old->size : packed_capacity(old);
    run->used = keeps_slots ? old->used : old->size;
    run->flags &= ~(unsigned)ESPL__RUN_UNSETTLED;
    run->flags |= keeps_slots ? 0u : (unsigned)ESPL__RUN_IN_ORDER;
    run->next = run->previous = ESPL__NO_RUN;
    to->end += run->capacity;

    for (uint32_t i = 0; i < run->capacity; ++i) {
        to->run[base + i] = new_run;
    }
    for (uint32_t rank = 0; rank < run->used; ++rank) {
        const uint32_t slot = from->order[old->base + rank];
        const uint32_t new_slot = keeps_slots ? slot - old->base + base : base + rank;

        move_node(to, new_slot, from, slot);
        to->order[base + rank] = new_slot;
        to->rank[new_slot] = rank;
        if (rank < run->size && from->entity[slot] != ESPL__NO_ENTITY) {
            p->moved(p->context, from->entity[slot], new_slot);
        }
    }
    memcpy(to->parent + base, from->parent + old->base, old->size * sizeof *to->parent);
    memcpy(to->first + base, from->first + old->base, old->size * sizeof *to->first);
    settle_side(p, run, old);
    if ((old->flags & ESPL__RUN_UNSETTLED) != 0) {
        espl__run_mark_unsettled(to, new_run);
    }
}

static void keep_settings(espl__forest *to, const espl__forest *from)
{
    to->ghosts = from->ghosts;
    to->has_free_links = from->has_free_links;
    to->kernels = from->kernels;
    to->grain = from->grain;
    to->crew = from->crew;
    to->purges = from->purges;
    to->nodes_rebuilt = from->nodes_rebuilt;
    to->nodes_shifted = from->nodes_shifted;
}

bool espl__forest_pack(espl__forest *forest, void (*moved)(void *, uint32_t, uint32_t),
                       void *context)
{
    espl__forest packed;
    const packing p = {.from = forest, .to = &packed, .moved = moved, .context = context};
    size_t slots = 0, runs = 0;

    for (uint32_t run = 0; run < forest->run_end; ++run) {
        slots += forest->runs[run].size != 0 ? packed_capacity(&forest->runs[run]) : 0;
        runs += forest->runs[run].size != 0 ? 1 : 0;
    }
    slots += slots / SPARE_SHARE;
    runs += runs / SPARE_SHARE;
    espl__forest_init(&packed, forest->heap);
    if (espl__forest_reserve(&packed, slots > forest->floor ? slots : forest->floor,
                             runs > forest->run_floor ? runs : forest->run_floor) != ESPL_OK) {
        espl__forest_free(&packed);
        return false;
    }
    packed.floor = forest->floor;
    packed.run_floor = forest->run_floor;

    espl__heap_forbid(forest->heap);
    for (uint32_t run = 0; run < forest->run_end; ++run) {
        espl__run *const old = &forest->runs[run];

        if (old->size != 0) {
            move_run(&p, espl__run_take(&packed), old, old->side);
            old->side = NULL; // it went along
        }
    }
    keep_settings(&packed, forest);
    espl__forest_free(forest);
    *forest = packed;
    espl__heap_allow(forest->heap);
    return true;
}

// --- Packing tightly ---

static bool needs_side(const espl__run *run)
{
    return run->side != NULL && (run->side->extra_count != 0 || run->side->kept_count != 0);
}

// Those that nothing needs are prepaid.
static bool is_side_tight(const espl__side *side)
{
    return side == NULL || ((side->kept != NULL) == (side->kept_count != 0) && !side->is_prepaid);
}

static bool is_tight(const espl__forest *forest)
{
    if (forest->capacity != forest->end || forest->free_slots != 0 ||
        forest->run_capacity != forest->run_end) {
        return false;
    }
    for (uint32_t run = 0; run < forest->run_end; ++run) {
        const espl__run *const header = &forest->runs[run];

        // Nor is a free header that of a run in order.
        if (header->capacity != header->size || (header->flags & ESPL__RUN_IN_ORDER) == 0 ||
            !is_side_tight(header->side)) {
            return false;
        }
    }
    return true;
}

// Take all memory for the runs of another forest, headers and side arrays in order.
static bool prepare(espl__forest *tight, const espl__forest *forest)
{
    uint32_t slots = 0, runs = 0;

    for (uint32_t run = 0; run < forest->run_end; ++run) {
        slots += forest->runs[run].size;
        runs += forest->runs[run].size != 0 ? 1 : 0;
    }
    if (!espl__forest_make_room(tight, slots, runs)) {
        return false;
    }
    for (uint32_t run = 0; run < forest->run_end; ++run) {
        const espl__run *const old = &forest->runs[run];

        if (old->size == 0) {
            continue;
        }
        espl__run *const header = &tight->runs[espl__run_take(tight)];

        header->size = old->size;
        if (needs_side(old)) {
            header->side = espl__side_make(tight->heap, old->size, old->side->kept_count != 0);
            if (header->side == NULL) {
                return false;
            }
        }
    }
    return true;
}

bool espl__forest_trim(espl__forest *forest, void (*moved)(void *, uint32_t, uint32_t),
                       void *context)
{
    espl__forest tight;
    const packing p = {
        .from = forest, .to = &tight, .is_tight = true, .moved = moved, .context = context};
    uint32_t next = 0;

    if (is_tight(forest)) {
        return true;
    }
    espl__forest_init(&tight, forest->heap);
    if (!prepare(&tight, forest)) {
        espl__forest_free(&tight);
        return false;
    }

    espl__heap_forbid(forest->heap);
    for (uint32_t run = 0; run < forest->run_end; ++run) {
        const espl__run *const old = &forest->runs[run];

        if (old->size != 0) {
            move_run(&p, next, old, tight.runs[next].side);
            next += 1;
        }
    }
    keep_settings(&tight, forest);
    espl__forest_free(forest);
    *forest = tight;
    espl__heap_allow(forest->heap);
    return true;
}
