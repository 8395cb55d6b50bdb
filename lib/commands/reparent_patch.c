// SPDX-License-Identifier: MIT
// The second half of the short way of moves: what the forest is like afterwards.
#include "lib/base/ahead.h"
#include "lib/commands/reparent.h"
#include "lib/commands/short_ahead.h"

// Runs that one job patches at least.
enum { GRAIN = 32 };

void espl__reparent_hand_out(espl__playback *playback)
{
    const espl__reparenting *const all = playback->reparenting;

    for (uint32_t i = 0; all != NULL && i < all->listed_count; ++i) {
        const espl__refit *const refit = &all->refits[all->listed[i]];

        if (refit->capacity != 0) {
            espl__run_move(playback->forest, playback->touched[all->listed[i]].run, refit->capacity,
                           NULL, espl__entity_record_slot, playback->store);
        }
    }
}

static void place(const espl__playback *playback, const espl__mover *mover, uint32_t slot)
{
    espl__forest *const forest = playback->forest;

    forest->local[slot] = mover->local;
    forest->world[slot] = mover->world;
    forest->flags[slot] = mover->flags;
    forest->entity[slot] = mover->entity;
    espl__entity_set_slot(playback->store, mover->entity, slot);
}

// What a run gets, in the order of its slots: movers that come below one who stays, each with all
// that hangs below it by now.
static uint32_t list_movers(const espl__reparenting *all, const espl__refit *refit, uint32_t *out)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < refit->edit_count; ++i) {
        const uint32_t edit = all->edits[refit->edit_begin + i];
        const espl__mover *const top = &all->movers[edit / 2];
        const uint32_t size = edit % 2 != 0 ? top->recipe->size : 0;

        for (uint32_t k = 0; k < size; ++k) {
            out[count++] = all->members[top->member_begin + k];
        }
    }
    return count;
}

// Who comes where: between the splice of a run and the placing stands the memory that this asks for.
typedef struct arrivals {
    uint32_t movers[ESPL__SPLICE_MADE], slots[ESPL__SPLICE_MADE];
} arrivals;

static void ask_for_arrivals(const espl__playback *playback, const arrivals *a, uint32_t count)
{
    const espl__forest *const forest = playback->forest;

    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t slot = a->slots[i];

        espl__ask_to_write(&forest->local[slot]);
        espl__ask_to_write(&forest->world[slot]);
        espl__ask_to_write(&forest->flags[slot]);
        espl__ask_to_write(&forest->entity[slot]);
        espl__ask_to_write(
            &playback->store->records[playback->reparenting->movers[a->movers[i]].entity]);
    }
}

static void splice(const espl__playback *playback, uint32_t touched, arrivals *a)
{
    const espl__reparenting *const all = playback->reparenting;
    const espl__refit *const refit = &all->refits[touched];
    espl__splice_copy copies[ESPL__SPLICE_EDITS];
    uint32_t made = 0;

    if (refit->is_patched) {
        return;
    }
    for (uint32_t i = 0; i < refit->edit_count; ++i) {
        const uint32_t edit = all->edits[refit->edit_begin + i];

        copies[i] = (espl__splice_copy){all->movers[edit / 2].recipe, a->slots + made};
        made += edit % 2 != 0 ? copies[i].recipe->size : 0;
    }
    espl__splice_commit(playback->forest, playback->touched[touched].run,
                        all->steps + refit->step_begin, refit->step_count, copies);
    ask_for_arrivals(playback, a, list_movers(all, refit, a->movers));
}

static void place_all(const espl__playback *playback, uint32_t touched, const arrivals *a)
{
    const espl__reparenting *const all = playback->reparenting;
    espl__refit *const refit = &all->refits[touched];

    for (uint32_t i = 0; i < refit->made && !refit->is_patched; ++i) {
        place(playback, &all->movers[a->movers[i]], a->slots[i]);
    }
    refit->is_patched = true;
}

static void ask_for_links(const espl__playback *playback, uint32_t touched)
{
    const espl__refit *const refit = &playback->reparenting->refits[touched];
    const espl__forest *const forest = playback->forest;
    const espl__run *const run = &forest->runs[playback->touched[touched].run];
    const uint32_t end = run->base + run->size + refit->made;
    const uint32_t begin = run->base + playback->reparenting->steps[refit->step_begin].split;

    espl__ahead_links(forest->first, begin, end);
    espl__ahead_links(forest->order, begin, end);
    espl__ahead_links(forest->parent, begin, end);
    espl__ahead_links(forest->rank, begin, end);
}

// Each step of a patch comes some runs after the one before it, which asked for its memory.
static void patch_runs(void *context, size_t begin, size_t end)
{
    enum { LINKS = 4, ARRIVALS = 2 };
    const espl__playback *const playback = context;
    const uint32_t *const listed = playback->reparenting->listed + begin;
    const size_t count = end - begin;
    arrivals all[ARRIVALS + 1]; // in turns

    for (size_t at = 0; at < count + LINKS + ARRIVALS; ++at) {
        // Where a number is less than 0 it is past the count as well.
        const size_t spliced = at - LINKS, placed = at - LINKS - ARRIVALS;

        if (at < count) {
            ask_for_links(playback, listed[at]);
        }
        if (spliced < count) {
            splice(playback, listed[spliced], &all[spliced % (ARRIVALS + 1)]);
        }
        if (placed < count) {
            place_all(playback, listed[placed], &all[placed % (ARRIVALS + 1)]);
        }
    }
}

// Where the executor loses a job, the change is under way and is completed here.
void espl__reparent_patch(espl__playback *playback)
{
    const size_t count = playback->reparenting != NULL ? playback->reparenting->listed_count : 0;

    if (count != 0 && espl__run_ranges(playback->executor, playback->hooks, patch_runs, playback,
                                       count, GRAIN) != ESPL_OK) {
        patch_runs(playback, 0, count);
    }
}
