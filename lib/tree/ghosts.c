// SPDX-License-Identifier: MIT
// Destroying in place: the dead stay in their run as pass-throughs until the next purge, so a
// destroy needs no memory, and a purge later changes no bit.
#include "lib/tree/sketch.h"

// Local of a survivor relative to the first living transform above it: the locals of the dying
// between them applied one after the other. What copies its parent adds nothing. There is such a
// transform: below the identity of a root without one every local is exact, and nobody asks.
static espl_pose composed_local(const espl__forest *forest, uint32_t slot)
{
    espl_pose local = forest->local[slot];
    uint32_t up = espl__parent_slot(forest, slot);

    while (espl__slot_is(forest, up, ESPL__SLOT_DYING) || espl__slot_copies(forest, up)) {
        if (!espl__slot_copies(forest, up)) {
            const espl__extra extra = espl__slot_extra(forest, up);

            local = espl__pose_compose(&forest->local[up], extra.stretch, &local);
        }
        up = espl__parent_slot(forest, up);
        ESPL_CHECK(up != ESPL__NO_SLOT);
    }
    return local;
}

// Give a survivor that stands on its own the local that keeps its world, under the slot above the
// dying or, where the root dies, the identity. Its kept parts stay what they are.
static void rebase_survivor(espl__forest *forest, uint32_t slot, uint32_t anchor)
{
    if (anchor == ESPL__NO_SLOT) {
        forest->local[slot] = forest->world[slot];
        (void)espl__rotation_normalize(forest->local[slot].rotation);
        return;
    }
    const espl__extra extra = espl__slot_extra(forest, anchor);
    const espl_pose *const above = &forest->world[anchor], *const world = &forest->world[slot];

    // What is composed climbs past all that die above, so it is left where nothing asks for it.
    if (!espl__rebased_exactly(&forest->local[slot], above, extra.stretch, world)) {
        const espl_pose composed = composed_local(forest, slot);

        forest->local[slot] = espl__rebased(above, extra.stretch, world, &composed);
    }
}

// A survivor right below a dead root is a root to its users: it stands where it stood, a
// pass-through at the identity, and takes nothing from a parent any more.
static void become_rooted(espl__forest *forest, uint32_t slot)
{
    espl__placement placement = espl__slot_placement(forest, slot);

    placement.kept = espl__kept_none();
    if (espl__slot_is(forest, slot, ESPL__SLOT_PASS)) {
        placement = espl__placement_identity();
    } else {
        placement.local = forest->world[slot];
        (void)espl__rotation_normalize(placement.local.rotation);
    }
    espl__slot_place(forest, slot, &placement);
    forest->flags[slot] =
        (uint8_t)((forest->flags[slot] & ~ESPL__SLOT_FREE_LINK) | ESPL__SLOT_ROOTED);
}

static void spread_to(espl__forest *forest, uint32_t slot, espl__closure closure, uint32_t anchor)
{
    const uint32_t up = espl__parent_slot(forest, slot);
    const bool is_below_dying = espl__slot_is(forest, up, ESPL__SLOT_DYING);
    const bool is_owned = !espl__slot_is(forest, slot, ESPL__SLOT_FREE_LINK);
    const bool dies = espl__slot_is(forest, slot, ESPL__SLOT_GHOST) ||
                      closure == ESPL__CLOSURE_SUBTREE ||
                      (closure == ESPL__CLOSURE_OWNED && is_owned);

    if (!is_below_dying && !espl__slot_is(forest, up, ESPL__SLOT_LOOSE)) {
        return;
    }
    if (is_below_dying && dies) {
        forest->flags[slot] |= ESPL__SLOT_DYING;
        return;
    }
    const bool is_root = is_below_dying && anchor == ESPL__NO_SLOT;
    const bool is_pass = espl__slot_is(forest, slot, ESPL__SLOT_PASS);

    // What follows its parent has nothing to keep, but those below it have.
    if (is_root ? is_pass : espl__slot_copies(forest, slot)) {
        forest->flags[slot] |= ESPL__SLOT_LOOSE;
    } else if (!is_root) {
        rebase_survivor(forest, slot, anchor);
    }
    if (is_root) {
        become_rooted(forest, slot);
    }
}

// Ranks [begin, end) of one level.
typedef struct level {
    uint32_t begin, end;
} level;

// The level right below, without the ghosts at its ends that nobody lives below: so what died long
// ago is not walked over again by each destroy above it.
static level level_below(const espl__forest *forest, const espl__run *run, level above)
{
    const uint32_t *const order = forest->order + run->base;
    level below = {espl__first_child(forest, run, above.begin),
                   espl__first_child(forest, run, above.end)};

    while (below.begin < below.end && espl__slot_is_barren(forest, order[below.begin])) {
        below.begin += 1;
    }
    while (below.begin < below.end && espl__slot_is_barren(forest, order[below.end - 1])) {
        below.end -= 1;
    }
    return below;
}

// Mark what dies below a dying rank, re-base what survives; level by level.
static void spread(espl__forest *forest, uint32_t run, uint32_t rank, espl__closure closure,
                   uint32_t anchor)
{
    const espl__run *const header = &forest->runs[run];
    level ranks = level_below(forest, header, (level){rank, rank + 1});

    for (; ranks.begin < ranks.end; ranks = level_below(forest, header, ranks)) {
        for (uint32_t at = ranks.begin; at < ranks.end; ++at) {
            spread_to(forest, forest->order[header->base + at], closure, anchor);
        }
    }
}

// Who hears of each new ghost.
typedef struct burial {
    void (*bury)(void *context, uint32_t entity);
    void *context;
} burial;

// A dying slot becomes a ghost; what else a destroy marked is unmarked.
static void settle_slot(espl__forest *forest, espl__run *header, uint32_t slot, burial to)
{
    const bool was_barren = espl__slot_is_barren(forest, slot);

    forest->flags[slot] &= (uint8_t)~ESPL__SLOT_LOOSE;
    if (!espl__slot_is(forest, slot, ESPL__SLOT_DYING)) {
        return;
    }
    if (!espl__slot_is(forest, slot, ESPL__SLOT_GHOST)) {
        // It keeps nothing, and what it shows is its parent's.
        const espl__placement bare = {forest->local[slot], espl__kept_none(),
                                      espl__extra_default()};

        to.bury(to.context, forest->entity[slot]);
        espl__slot_place(forest, slot, &bare);
        forest->entity[slot] = ESPL__NO_ENTITY;
        header->ghosts += 1;
        forest->ghosts += 1;
    }
    forest->flags[slot] = (uint8_t)((forest->flags[slot] & ESPL__SLOT_SIDE) | ESPL__SLOT_GHOST |
                                    ESPL__SLOT_PASS | (was_barren ? ESPL__SLOT_BARREN : 0));
}

// Settle a rank and everything below it, level by level. Tells whether somebody lives there.
static bool settle_below(espl__forest *forest, espl__run *header, uint32_t rank, burial to)
{
    level ranks = {rank, rank + 1};
    bool has_living = false;

    for (; ranks.begin < ranks.end; ranks = level_below(forest, header, ranks)) {
        for (uint32_t at = ranks.begin; at < ranks.end; ++at) {
            const uint32_t slot = forest->order[header->base + at];

            settle_slot(forest, header, slot, to);
            has_living = has_living || !espl__slot_is(forest, slot, ESPL__SLOT_GHOST);
        }
    }
    header->flags |= ESPL__RUN_GENERAL;
    return has_living;
}

// Nobody lives at a rank and below it: there is nobody whose world could hang on theirs.
static void mark_barren(espl__forest *forest, const espl__run *header, uint32_t rank)
{
    level ranks = {rank, rank + 1};

    for (; ranks.begin < ranks.end; ranks = level_below(forest, header, ranks)) {
        for (uint32_t at = ranks.begin; at < ranks.end; ++at) {
            forest->flags[forest->order[header->base + at]] |= ESPL__SLOT_BARREN;
        }
    }
}

bool espl__run_wants_purge(const espl__forest *forest, const espl__run *run)
{
    const uint32_t quarter = run->size / 4;
    const uint32_t bound = quarter > 8 ? quarter : 8;
    const bool is_alone = run->ghosts != 0 && run->size - run->ghosts == 1;

    return is_alone || run->ghosts > bound ||
           espl__slot_is(forest, forest->order[run->base], ESPL__SLOT_GHOST);
}

void espl__make_ghosts(espl__forest *forest, uint32_t slot, espl__closure closure,
                       void (*bury)(void *context, uint32_t entity), void *context)
{
    const uint32_t run = forest->run[slot];
    const uint32_t rank = forest->rank[slot];
    espl__run *const header = &forest->runs[run];
    // A survivor whose root is a ghost is a root to its users: what hangs below it is rooted too.
    const bool is_top = rank == 0 || espl__slot_is(forest, slot, ESPL__SLOT_ROOTED);

    forest->flags[slot] |= ESPL__SLOT_DYING;
    spread(forest, run, rank, closure, is_top ? ESPL__NO_SLOT : espl__parent_slot(forest, slot));
    const bool has_living = settle_below(forest, header, rank, (burial){bury, context});

    if (header->ghosts == header->size) {
        forest->ghosts -= header->ghosts;
        espl__run_release(forest, run);
        return;
    }

    // A dead root stays where it was; those below stand on their own.
    (void)espl__propagate_at(forest, &forest->crew, run, rank);
    if (has_living) {
        (void)espl__propagate_below(forest, &forest->crew, run, rank);
    } else {
        mark_barren(forest, header, rank);
    }
    espl__run_drop_side(forest, run);
    if (espl__run_wants_purge(forest, header)) {
        espl__run_mark_unsettled(forest, run);
    }
}
