// SPDX-License-Identifier: MIT
// Worlds from locals, in breadth-first order. The kernels touch the arrays they are handed and
// nothing else. A level may be cut anywhere: parents stand before it and are final.
#include "lib/tree/forest.h"

#include <string.h>

// One run's arrays; slots are absolute, ranks start at the run's base.
typedef struct view {
    espl_pose *world;
    const espl_pose *local;
    const uint32_t *order, *parent;
    const uint8_t *flags;
    espl__extra *extra; // by slot - base, or NULL
    uint32_t base;
} view;

static view view_of(const espl__forest *forest, const espl__run *run)
{
    return (view){.world = forest->world,
                  .local = forest->local,
                  .order = forest->order + run->base,
                  .parent = forest->parent + run->base,
                  .flags = forest->flags,
                  .extra = run->extra,
                  .base = run->base};
}

// 0 while every value is finite, NaN from the first that is not. A sum of large finite values may
// overflow and give a false alarm; whoever hears it looks closer.
static inline float alarm_of(const espl_pose *pose)
{
    const float sum = pose->position[0] + pose->position[1] + pose->position[2] + pose->scale;

    return sum - sum;
}

// Slots in rank order, no flags, no extras: straight through memory.
static float compose_in_order(espl_pose *restrict world, const espl_pose *restrict local,
                              const uint32_t *restrict parent, uint32_t begin, uint32_t end)
{
    float alarm = 0;

    for (uint32_t rank = begin; rank < end; ++rank) {
        espl__pose_compose_to(&world[rank], &world[parent[rank]], NULL, &local[rank]);
        alarm += alarm_of(&world[rank]);
    }
    return alarm;
}

static float compose_by_order(const view *v, uint32_t begin, uint32_t end)
{
    float alarm = 0;

    for (uint32_t rank = begin; rank < end; ++rank) {
        const uint32_t slot = v->order[rank];
        const uint32_t up = v->order[v->parent[rank]];

        espl__pose_compose_to(&v->world[slot], &v->world[up], NULL, &v->local[slot]);
        alarm += alarm_of(&v->world[slot]);
    }
    return alarm;
}

// The world at one rank below the root, whatever its flags. Copies extras down to pass-throughs.
static void compose_general(const view *v, uint32_t rank)
{
    const uint32_t slot = v->order[rank];
    const uint32_t up = v->order[v->parent[rank]];
    const unsigned flags = v->flags[slot];

    if ((flags & ESPL__SLOT_ROOTED) != 0) {
        v->world[slot] = v->local[slot];
        return;
    }
    if ((flags & ESPL__SLOT_PASS) != 0) {
        v->world[slot] = v->world[up];
        if (v->extra != NULL) {
            v->extra[slot - v->base] = v->extra[up - v->base];
        }
        return;
    }
    const float *const stretch = v->extra != NULL ? v->extra[up - v->base].stretch : NULL;

    espl__pose_compose_to(&v->world[slot], &v->world[up], stretch, &v->local[slot]);
}

static bool all_finite(const espl__forest *forest, const espl__run *run, uint32_t begin,
                       uint32_t end)
{
    for (uint32_t rank = begin; rank < end; ++rank) {
        if (!espl__pose_is_finite(&forest->world[forest->order[run->base + rank]])) {
            return false;
        }
    }
    return true;
}

// Recompute ranks [begin, end), 1 <= begin; ranks below begin are final.
static bool compose_ranks(espl__forest *forest, const espl__run *run, uint32_t begin, uint32_t end)
{
    const view v = view_of(forest, run);
    float alarm = 0;

    forest->nodes_visited += end - begin;
    if ((run->flags & ESPL__RUN_GENERAL) != 0) {
        for (uint32_t rank = begin; rank < end; ++rank) {
            compose_general(&v, rank);
            alarm += alarm_of(&v.world[v.order[rank]]);
        }
    } else if ((run->flags & ESPL__RUN_IN_ORDER) != 0) {
        alarm = compose_in_order(forest->world + run->base, forest->local + run->base,
                                 forest->parent + run->base, begin, end);
    } else {
        alarm = compose_by_order(&v, begin, end);
    }
    return alarm == 0 || all_finite(forest, run, begin, end);
}

bool espl__propagate_below(espl__forest *forest, uint32_t run, uint32_t rank)
{
    const espl__run *const header = &forest->runs[run];
    bool is_finite = true;

    if (rank == 0) {
        return header->size == 1 || compose_ranks(forest, header, 1, header->size);
    }

    // Descendants at one depth are one contiguous range; its children are the next one.
    uint32_t begin = espl__first_child(forest, header, rank);
    uint32_t end = espl__first_child(forest, header, rank + 1);
    while (begin < end) {
        is_finite = compose_ranks(forest, header, begin, end) && is_finite;
        const uint32_t next = espl__first_child(forest, header, begin);

        end = espl__first_child(forest, header, end);
        begin = next;
    }
    return is_finite;
}

bool espl__propagate_at(espl__forest *forest, uint32_t run, uint32_t rank)
{
    const espl__run *const header = &forest->runs[run];

    if (rank == 0) {
        const uint32_t slot = forest->order[header->base];

        forest->world[slot] = forest->local[slot];
        forest->nodes_visited += 1;
        return true;
    }
    return compose_ranks(forest, header, rank, rank + 1);
}

bool espl__propagate_from(espl__forest *forest, uint32_t run, uint32_t rank)
{
    const uint32_t slot = forest->order[forest->runs[run].base + rank];
    const espl_pose before = forest->world[slot];

    if (!espl__propagate_at(forest, run, rank)) {
        return false;
    }
    if (memcmp(&before, &forest->world[slot], sizeof before) == 0) {
        return true;
    }
    return espl__propagate_below(forest, run, rank);
}

espl_pose espl__world_expected(const espl__forest *forest, uint32_t slot)
{
    const uint32_t up = espl__parent_slot(forest, slot);
    const unsigned flags = forest->flags[slot];

    if (up == ESPL__NO_SLOT || (flags & ESPL__SLOT_ROOTED) != 0) {
        return forest->local[slot];
    }
    if ((flags & ESPL__SLOT_PASS) != 0) {
        return forest->world[up];
    }
    const espl__extra extra = espl__slot_extra(forest, up);

    return espl__pose_compose(&forest->world[up], extra.stretch, &forest->local[slot]);
}
