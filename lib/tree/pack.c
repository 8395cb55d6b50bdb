// SPDX-License-Identifier: MIT
// Packing: all runs move together into a block that fits them, each in rank order again. Keeps the
// pool from staying twice as large as what lives in it, and memory in the order of propagation.
#include "lib/tree/forest.h"

#include <string.h>

enum { WORTHWHILE = 4096 };

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

// Copy one node, links aside.
static void move_node(espl__forest *to, uint32_t new_slot, const espl__forest *from, uint32_t slot)
{
    to->local[new_slot] = from->local[slot];
    to->world[new_slot] = from->world[slot];
    to->entity[new_slot] = from->entity[slot];
    to->flags[new_slot] = from->flags[slot];
}

static void move_run(espl__forest *to, uint32_t new_run, const espl__forest *from,
                     const espl__run *old, void (*moved)(void *, uint32_t, uint32_t), void *context)
{
    espl__run *const run = &to->runs[new_run];
    const uint32_t base = to->end;
    const bool keeps_slots = old->side != NULL;

    *run = *old;
    run->base = base;
    run->capacity = packed_capacity(old);
    run->used = keeps_slots ? old->used : old->size;
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
            moved(context, from->entity[slot], new_slot);
        }
    }
    memcpy(to->parent + base, from->parent + old->base, old->size * sizeof *to->parent);
    memcpy(to->first + base, from->first + old->base, old->size * sizeof *to->first);
}

bool espl__forest_pack(espl__forest *forest, void (*moved)(void *, uint32_t, uint32_t),
                       void *context)
{
    espl__forest packed;
    size_t slots = 0, runs = 0;

    for (uint32_t run = 0; run < forest->run_end; ++run) {
        slots += forest->runs[run].size != 0 ? packed_capacity(&forest->runs[run]) : 0;
        runs += forest->runs[run].size != 0 ? 1 : 0;
    }
    espl__forest_init(&packed, forest->heap);
    if (espl__forest_reserve(&packed, slots + slots / 16, runs + runs / 16) != ESPL_OK) {
        espl__forest_free(&packed);
        return false;
    }

    for (uint32_t run = 0; run < forest->run_end; ++run) {
        espl__run *const old = &forest->runs[run];

        if (old->size == 0) {
            continue;
        }
        const uint32_t new_run = espl__run_take(&packed);

        move_run(&packed, new_run, forest, old, moved, context);
        if ((old->flags & ESPL__RUN_UNSETTLED) != 0) {
            packed.runs[new_run].flags &= ~(unsigned)ESPL__RUN_UNSETTLED;
            espl__run_mark_unsettled(&packed, new_run);
        }
        old->side = NULL; // it went along
    }
    packed.ghosts = forest->ghosts;
    packed.nodes_visited = forest->nodes_visited;
    packed.nodes_skipped = forest->nodes_skipped;
    packed.writes = forest->writes;
    packed.writes_skipped = forest->writes_skipped;
    espl__forest_free(forest);
    *forest = packed;
    return true;
}
