// SPDX-License-Identifier: MIT
// A splice of a run that has no room for all who come in, or far too much: it is written into
// another range, where everybody stands in rank order. What was there is read meanwhile, so that its
// own range is given back later.
#include "lib/tree/splice.h"

typedef struct walk {
    espl__forest *forest;
    const espl__run *run; // as it was
    const espl__resettling *to;
    uint32_t rank, place;         // the next one: as it was, and as it will be
    uint32_t parents, firsts;     // steps that have moved the parents, the first children of ranks
    uint32_t parent_by, first_by; // by how much, wrapping around
} walk;

// A parent moves by the steps before it, a list of children by those before its end.
static void move_links(walk *w)
{
    const espl__splice_step *const steps = w->to->steps;
    const uint32_t count = w->to->step_count;

    while (w->parents < count &&
           espl__first_child(w->forest, w->run, steps[w->parents].gap) <= w->rank) {
        w->parent_by += espl__splice_shift(&steps[w->parents++]);
    }
    while (w->firsts < count && steps[w->firsts].split <= w->rank) {
        w->first_by += espl__splice_shift(&steps[w->firsts++]);
    }
}

static void put_link(const walk *w, uint32_t parent, uint32_t first)
{
    espl__forest *const forest = w->forest;
    const uint32_t slot = w->to->base + w->place;

    forest->order[slot] = slot;
    forest->rank[slot] = w->place;
    forest->parent[slot] = parent;
    forest->first[slot] = first;
}

// Those who stay, up to a rank.
static void carry_over(walk *w, uint32_t end)
{
    espl__forest *const forest = w->forest;

    for (; w->rank < end; ++w->rank, ++w->place) {
        const uint32_t at = w->run->base + w->rank, slot = w->to->base + w->place;
        const uint32_t from = forest->order[at];

        move_links(w);
        put_link(w, forest->parent[at] + w->parent_by, forest->first[at] + w->first_by);
        forest->local[slot] = forest->local[from];
        forest->world[slot] = forest->world[from];
        forest->flags[slot] = forest->flags[from];
        forest->entity[slot] = forest->entity[from];
    }
}

static void let_in(walk *w, const espl__splice_step *step)
{
    const espl__recipe *const recipe = w->to->copies[step->edit].recipe;
    uint32_t *const slots = w->to->copies[step->edit].slots + step->start;

    for (uint32_t k = 0; k < step->count; ++k, ++w->place) {
        slots[k] = w->to->base + w->place;
        put_link(w, recipe->parents[step->start + k] + step->parents,
                 recipe->firsts[step->start + k] + step->firsts);
    }
}

// Where children of the last levels of what came in would stand is where those of the next rank do:
// from the last step to the first. @param shift  by how much the run has grown.
static void tell_firsts(const walk *w, uint32_t shift)
{
    uint32_t *const first = w->forest->first + w->to->base;

    for (uint32_t i = w->to->step_count; i-- > 0;) {
        const espl__splice_step *const step = &w->to->steps[i];

        shift -= espl__splice_shift(step);
        const uint32_t begin = step->gap + shift, end = begin + step->count;

        if (step->comes && step->start + step->count == w->to->copies[step->edit].recipe->size) {
            const uint32_t next = end < w->place ? first[end] : w->place;

            for (uint32_t rank = begin; rank < end; ++rank) {
                first[rank] = next;
            }
        }
    }
}

void espl__splice_resettle(espl__forest *forest, uint32_t run, const espl__resettling *to)
{
    espl__run *const header = &forest->runs[run];
    walk w = {.forest = forest, .run = header, .to = to};

    for (uint32_t i = 0; i < to->step_count; ++i) {
        const espl__splice_step *const step = &to->steps[i];

        carry_over(&w, step->gap);
        if (step->comes) {
            let_in(&w, step);
        } else {
            w.rank += step->count;
        }
    }
    carry_over(&w, header->size);
    tell_firsts(&w, w.place - header->size);
    for (uint32_t i = 0; i < to->capacity; ++i) {
        forest->run[to->base + i] = run;
    }
    header->base = to->base;
    header->capacity = to->capacity;
    header->size = header->used = w.place;
    header->flags |= (unsigned)ESPL__RUN_IN_ORDER;
}
