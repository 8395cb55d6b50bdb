// SPDX-License-Identifier: MIT
// The second half of the short way of moves: what the forest is like afterwards.
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

// What comes below one node is a mover and all that hangs below it by now.
static void place_all(const espl__playback *playback, const espl__refit *refit,
                      const uint32_t *slots)
{
    const espl__reparenting *const all = playback->reparenting;

    for (uint32_t i = 0; i < refit->edit_count; ++i) {
        const uint32_t edit = all->edits[refit->edit_begin + i];
        const espl__mover *const top = &all->movers[edit / 2];
        const uint32_t size = edit % 2 != 0 ? top->recipe->size : 0;

        for (uint32_t k = 0; k < size; ++k) {
            place(playback, &all->movers[all->members[top->member_begin + k]], *slots++);
        }
    }
}

static void patch_run(const espl__playback *playback, uint32_t touched)
{
    const espl__reparenting *const all = playback->reparenting;
    espl__refit *const refit = &all->refits[touched];
    const espl__recipe *recipes[ESPL__SPLICE_EDITS];
    uint32_t slots[ESPL__SPLICE_MADE];

    for (uint32_t i = 0; i < refit->edit_count; ++i) {
        const uint32_t edit = all->edits[refit->edit_begin + i];

        recipes[i] = edit % 2 != 0 ? all->movers[edit / 2].recipe : NULL;
    }
    espl__splice_commit(playback->forest, playback->touched[touched].run,
                        all->steps + refit->step_begin, refit->step_count, recipes, slots);
    place_all(playback, refit, slots);
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

static void patch_runs(void *context, size_t begin, size_t end)
{
    enum { AHEAD = 4 };
    const espl__playback *const playback = context;
    const espl__reparenting *const all = playback->reparenting;

    for (size_t i = begin; i < end; ++i) {
        if (i + AHEAD < end) {
            ask_for_links(playback, all->listed[i + AHEAD]);
        }
        if (!all->refits[all->listed[i]].is_patched) {
            patch_run(playback, all->listed[i]);
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
