// SPDX-License-Identifier: MIT
// One local in a run without side arrays, and the worlds that follow from it. Most runs stand in
// rank order and have nothing out of the ordinary: there everything that a write needs is found by
// the slot itself, so that what it waits for is asked for at once, and what hangs below is one range
// of ranks for each generation.
#include "lib/tree/single.h"

#include "lib/math/lanes.h"
#include "lib/tree/band.h"
#include "lib/tree/propagate.h"

// Ranks that a kernel for several nodes at once takes at least.
enum { MANY = 8 };

// A run in rank order, by rank.
typedef struct straight {
    espl_pose *world;
    const espl_pose *local;
    const uint32_t *parent, *first;
    uint32_t size;
} straight;

static straight straight_of(const espl__forest *forest, const espl__run *run)
{
    return (straight){forest->world + run->base, forest->local + run->base,
                      forest->parent + run->base, forest->first + run->base, run->size};
}

static uint32_t first_child(const straight *s, uint32_t rank)
{
    return rank < s->size ? s->first[rank] : s->size;
}

// Worlds of ranks [begin, end), a few. false: one is not finite.
static inline bool compose_few(const straight *s, uint32_t begin, uint32_t end)
{
    espl__lane_bits alarm = {0};

    for (uint32_t rank = begin; rank < end; ++rank) {
        const espl__laned world = espl__laned_compose(espl__laned_load(&s->world[s->parent[rank]]),
                                                      espl__laned_load(&s->local[rank]));

        espl__laned_store(&s->world[rank], world);
        alarm |= espl__laned_alarm(world);
    }
    return espl__lane_bits_are_zero(alarm);
}

// Worlds below a rank of a run that is not wide: what hangs there at one depth is one range of
// ranks. false: one is not finite.
static bool compose_below(espl__forest *forest, espl__crew *crew, const espl__run *run,
                          uint32_t rank)
{
    const straight s = straight_of(forest, run);
    uint32_t begin = first_child(&s, rank);
    uint32_t end = first_child(&s, rank + 1);
    bool is_finite = true;

    while (begin < end) {
        const uint32_t next = first_child(&s, begin), count = end - begin;
        const bool is_fine = count < MANY ? compose_few(&s, begin, end)
                                          : espl__compose_ranks(forest, run, begin, end);

        is_finite = is_finite && is_fine;
        crew->tally.nodes_visited += count;
        begin = next > end ? next : end;
        end = first_child(&s, end);
    }
    return is_finite;
}

// The old local brings the old worlds back.
static ESPL__APART espl_status take_back(espl__forest *forest, espl__crew *crew, uint32_t slot)
{
    forest->local[slot] = crew->old_local;
    forest->world[slot] = crew->old_world;
    (void)espl__propagate_below(forest, crew, forest->run[slot], forest->rank[slot]);
    return ESPL_ERR_RANGE;
}

// In any run.
static ESPL__APART espl_status put_anywhere(espl__forest *forest, espl__crew *crew, uint32_t slot,
                                            const espl_pose *local)
{
    const uint32_t run = forest->run[slot], rank = forest->rank[slot];
    const espl_pose old_local = forest->local[slot], old_world = forest->world[slot];

    if (espl__pose_is_same(&old_local, local)) {
        crew->tally.writes_skipped += 1;
        return ESPL_OK;
    }
    crew->old_local = old_local;
    crew->old_world = old_world;
    forest->local[slot] = *local;
    if (!espl__propagate_at(forest, crew, run, rank)) {
        return take_back(forest, crew, slot);
    }
    if (espl__pose_is_same(&old_world, &forest->world[slot])) {
        crew->tally.nodes_skipped += 1;
    } else if (!espl__propagate_changed(forest, crew, run, rank)) {
        return take_back(forest, crew, slot);
    }
    crew->tally.writes += 1;
    return ESPL_OK;
}

// Worlds of all nodes below the root of a run in rank order. false: one is not finite.
static inline bool compose_all(espl__forest *forest, const espl__run *run)
{
    const espl__ranks ranks = {.world = forest->world + run->base,
                               .local = forest->local + run->base,
                               .parent = forest->parent + run->base,
                               .first = forest->first + run->base};

    return forest->kernels->compose(&ranks, 1, run->size) == 0 ||
           espl__compose_ranks(forest, run, 1, run->size);
}

// Worlds below a root whose world changed, in a run in rank order that is not wide: all of them, in
// one go.
static ESPL__APART espl_status follow_root(espl__forest *forest, espl__crew *crew, uint32_t slot)
{
    const espl__run *const run = espl__run_of(forest, slot);

    crew->tally.nodes_visited += run->size - 1;
    if (!compose_all(forest, run)) {
        return take_back(forest, crew, slot);
    }
    crew->tally.writes += 1;
    return ESPL_OK;
}

// Worlds below a node whose world changed, in a run in rank order. Not below the root of one that is
// not wide, see above.
static ESPL__APART espl_status follow(espl__forest *forest, espl__crew *crew, uint32_t slot)
{
    const espl__run *const run = espl__run_of(forest, slot);
    const uint32_t rank = forest->rank[slot];
    const bool is_finite = espl__run_is_wide(forest, run)
                               ? espl__propagate_changed(forest, crew, forest->run[slot], rank)
                               : compose_below(forest, crew, run, rank);

    if (!is_finite) {
        return take_back(forest, crew, slot);
    }
    crew->tally.writes += 1;
    return ESPL_OK;
}

// A world that is not finite was made of a pose that is not, or it overflowed.
static ESPL__APART espl_status refuse(espl__crew *crew, espl__laned to)
{
    if (!espl__laned_is_finite(to)) {
        return ESPL_ERR_NOT_FINITE;
    }
    crew->tally.nodes_visited += 1;
    return ESPL_ERR_RANGE;
}

// Of the two calls below, inline in each: the pose stays in registers from check to store.
ESPL__INLINE espl_status put(espl__forest *forest, espl__crew *crew, uint32_t slot, espl__laned to)
{
    const espl__run *const run = espl__run_of(forest, slot);
    const uint32_t rank = forest->rank[slot];
    // Found from the slot, not from the run, which is another line to wait for.
    const uint32_t base = slot - rank;
    const espl__laned old_local = espl__laned_load(&forest->local[slot]);
    const espl__laned old_world = espl__laned_load(&forest->world[slot]);
    const espl__laned world =
        rank == 0 ? to
                  : espl__laned_compose(
                        espl__laned_load(&forest->world[base + forest->parent[slot]]), to);

    if (espl__lane_bits_are_zero(espl__laned_differ(old_local, to))) {
        crew->tally.writes_skipped += 1;
        return ESPL_OK;
    }
    if (!espl__lane_bits_are_zero(espl__laned_alarm(world))) {
        return refuse(crew, to);
    }
    crew->tally.nodes_visited += 1;
    espl__laned_store(&forest->local[slot], to);
    if (espl__lane_bits_are_zero(espl__laned_differ(old_world, world))) {
        crew->tally.nodes_skipped += 1;
    } else {
        espl__laned_store(&forest->world[slot], world);
        const uint32_t behind = rank + 1 < run->size ? forest->first[slot + 1] : run->size;

        if (forest->first[slot] != behind) {
            espl__laned_store(&crew->old_local, old_local);
            espl__laned_store(&crew->old_world, old_world);
            return rank == 0 && !espl__run_is_wide(forest, run) ? follow_root(forest, crew, slot)
                                                                : follow(forest, crew, slot);
        }
    }
    crew->tally.writes += 1;
    return ESPL_OK;
}

static inline bool is_straight(const espl__forest *forest, uint32_t slot)
{
    const unsigned kind = (unsigned)ESPL__RUN_IN_ORDER | ESPL__RUN_GENERAL;

    return (espl__run_of(forest, slot)->flags & kind) == ESPL__RUN_IN_ORDER;
}

espl_status espl__local_put(espl__forest *forest, espl__crew *crew, uint32_t slot,
                            const espl_pose *local)
{
    return is_straight(forest, slot) ? put(forest, crew, slot, espl__laned_load(local))
                                     : put_anywhere(forest, crew, slot, local);
}

static ESPL__APART espl_status put_checked(espl__forest *forest, espl__crew *crew, uint32_t slot,
                                           const espl_transform *value)
{
    espl_pose local = espl__pose_of(value);

    if (!espl__pose_is_finite(&local) || !espl__rotation_normalize(local.rotation)) {
        return ESPL_ERR_NOT_FINITE;
    }
    return espl__local_put(forest, crew, slot, &local);
}

espl_status espl__pose_put(espl__forest *forest, espl__crew *crew, uint32_t slot,
                           const espl_transform *value)
{
    // A rotation of unit length is finite; whether the rest is shows in the world.
    if (!espl__rotation_is_unit(value->rotation) || !is_straight(forest, slot)) {
        return put_checked(forest, crew, slot, value);
    }
    const espl_pose local = espl__pose_of(value);

    return put(forest, crew, slot, espl__laned_load(&local));
}
