// SPDX-License-Identifier: MIT
// The proof of a forest: links, back-references, and every world again from its local, bit for bit.
#include "lib/tree/forest.h"

#include <string.h>

// Where a walk stands, for the report.
typedef struct place {
    uint32_t slot;
    size_t detail;
} place;

static const char *order_rule(const espl__forest *forest, uint32_t run, place *at)
{
    const espl__run *const header = &forest->runs[run];

    if (header->size > header->used || header->used > header->capacity) {
        return "a run holds its nodes";
    }
    for (uint32_t i = 0; i < header->used; ++i) {
        const uint32_t slot = forest->order[header->base + i];

        at->detail = i;
        if (slot < header->base || slot >= header->base + header->used) {
            return "the order of a run names its own slots";
        }
        at->slot = slot;
        if (forest->rank[slot] != i || forest->run[slot] != run) {
            return "rank and order are inverse to each other";
        }
        if ((header->flags & ESPL__RUN_IN_ORDER) != 0 && i < header->size &&
            slot != header->base + i) {
            return "a run that says so is in order";
        }
        if (i >= header->size && forest->entity[slot] != ESPL__NO_ENTITY) {
            return "a hole holds nobody";
        }
    }
    return NULL;
}

static const char *links_rule(const espl__forest *forest, const espl__run *header, place *at)
{
    const uint32_t *const parent = forest->parent + header->base;
    const uint32_t *const first = forest->first + header->base;
    uint32_t child = 1;

    if (parent[0] != ESPL__NO_SLOT) {
        return "rank 0 is the root";
    }
    for (uint32_t rank = 0; rank < header->size; ++rank) {
        at->slot = forest->order[header->base + rank];
        at->detail = rank;
        if (rank > 0 && (parent[rank] >= rank || (rank > 1 && parent[rank] < parent[rank - 1]))) {
            return "parents stand before children, in order";
        }
        if (first[rank] != child) {
            return "children are contiguous";
        }
        while (child < header->size && parent[child] == rank) {
            child += 1;
        }
    }
    // That each node was met as a child follows: its parent is the rank of some node before it.
    return NULL;
}

static const char *flags_rule(const espl__forest *forest, const espl__run *header, uint32_t slot)
{
    const unsigned flags = forest->flags[slot];
    const bool is_ghost = (flags & ESPL__SLOT_GHOST) != 0;

    if (((flags & ESPL__SLOT_SIDE) != 0) != (header->side != NULL)) {
        return "slots know whether their run has side arrays";
    }
    if (is_ghost != (forest->entity[slot] == ESPL__NO_ENTITY)) {
        return "ghosts and no others lack an entity";
    }
    if ((flags & (ESPL__SLOT_DYING | ESPL__SLOT_LOOSE)) != 0 ||
        (is_ghost && (flags & ESPL__SLOT_PASS) == 0)) {
        return "flags of a slot are at rest";
    }
    if ((flags & (ESPL__SLOT_PASS | ESPL__SLOT_ROOTED)) != 0 &&
        (header->flags & ESPL__RUN_GENERAL) == 0) {
        return "a run with pass-throughs takes the general kernel";
    }
    if ((flags & ESPL__SLOT_FREE_LINK) != 0 && forest->rank[slot] == 0) {
        return "a root has no link";
    }
    if ((flags & ESPL__SLOT_FREE_LINK) != 0 && !is_ghost && !forest->has_free_links) {
        return "a forest knows of its free links";
    }
    return NULL;
}

// What a slot keeps is noted where its flag says so, and nowhere else.
static const char *kept_rule(const espl__forest *forest, const espl__run *header, uint32_t slot)
{
    const bool has_room = header->side != NULL && header->side->kept != NULL;
    const bool keeps = espl__slot_is(forest, slot, ESPL__SLOT_KEEPS);
    const espl__kept kept = has_room ? header->side->kept[slot - header->base] : espl__kept_none();
    const espl__kept masked = espl__kept_of(&kept.pose, kept.flags);

    if (keeps != (kept.flags != 0) || !espl__flags_are_valid(kept.flags) ||
        memcmp(&kept, &masked, sizeof kept) != 0) {
        return "inherit flags and kept parts agree";
    }
    if (keeps && (forest->rank[slot] == 0 ||
                  espl__slot_is(forest, slot, ESPL__SLOT_PASS | ESPL__SLOT_ROOTED))) {
        return "only a member with a transform has inherit flags";
    }
    return NULL;
}

static const char *node_rule(const espl__forest *forest, const espl__run *header, uint32_t slot)
{
    const uint32_t up = espl__frame_slot(forest, slot);
    const char *rule = flags_rule(forest, header, slot);

    rule = rule != NULL ? rule : kept_rule(forest, header, slot);
    if (rule == NULL && up != ESPL__NO_SLOT && espl__slot_is_barren(forest, up) &&
        !espl__slot_is_barren(forest, slot)) {
        return "nobody lives below a barren ghost";
    }
    if (rule == NULL && up != ESPL__NO_SLOT && header->side != NULL &&
        espl__slot_copies(forest, slot) && !espl__slot_is_barren(forest, slot) &&
        memcmp(&header->side->extra[slot - header->base], &header->side->extra[up - header->base],
               sizeof(espl__extra)) != 0) {
        return "what copies its parent shows the parent's stretch";
    }
    return rule;
}

// The counts by which side arrays are known to be needed.
static const char *side_rule(const espl__forest *forest, const espl__run *header)
{
    const espl__side *const side = header->side;
    uint32_t extras = 0, kept = 0;

    if (side == NULL) {
        return NULL;
    }
    for (uint32_t rank = 0; rank < header->size; ++rank) {
        const uint32_t slot = forest->order[header->base + rank];
        const espl__extra extra = espl__slot_extra(forest, slot);

        kept += espl__slot_is(forest, slot, ESPL__SLOT_KEEPS) ? 1 : 0;
        extras += !espl__slot_copies(forest, slot) && !espl__extra_is_default(&extra) ? 1 : 0;
    }
    if (side->capacity != header->capacity || (header->flags & ESPL__RUN_GENERAL) == 0) {
        return "a run with side arrays takes the general kernel";
    }
    if (side->extra_count != extras || side->kept_count != kept) {
        return "what side arrays are needed for is counted";
    }
    return extras == 0 && kept == 0 && !side->is_prepaid ? "side arrays are there for a reason"
                                                         : NULL;
}

static const char *world_rule(const espl__forest *forest, uint32_t slot)
{
    const espl__placement placement = espl__slot_placement(forest, slot);

    if (!espl__pose_is_finite(&forest->world[slot]) || !espl__pose_is_finite(&placement.local) ||
        !espl__pose_is_finite(&placement.kept.pose) || !espl__extra_is_finite(&placement.extra)) {
        return "transforms are finite";
    }
    const espl_pose expected = espl__world_expected(forest, slot);

    return espl__pose_is_same(&expected, &forest->world[slot])
               ? NULL
               : "a world follows from the locals bit for bit";
}

// A run that wants a purge hangs in their list: what stands before it there names it, and so does
// what stands behind.
static bool is_listed(const espl__forest *forest, uint32_t run)
{
    const espl__run *const header = &forest->runs[run];
    const uint32_t next = header->next, previous = header->previous;
    const bool is_first = previous == ESPL__NO_RUN;

    if ((header->flags & ESPL__RUN_UNSETTLED) == 0) {
        return forest->unsettled != run;
    }
    if ((!is_first && previous >= forest->run_end) ||
        (next != ESPL__NO_RUN && next >= forest->run_end)) {
        return false;
    }
    return (is_first ? forest->unsettled : forest->runs[previous].next) == run &&
           (next == ESPL__NO_RUN || forest->runs[next].previous == run);
}

// All that hang in the list are met from its head on, once each.
static bool is_list_whole(const espl__forest *forest)
{
    uint32_t marked = 0, listed = 0;

    for (uint32_t run = 0; run < forest->run_end; ++run) {
        const espl__run *const header = &forest->runs[run];

        marked += header->size != 0 && (header->flags & ESPL__RUN_UNSETTLED) != 0 ? 1 : 0;
    }
    for (uint32_t run = forest->unsettled; run != ESPL__NO_RUN; run = forest->runs[run].next) {
        if (run >= forest->run_end || forest->runs[run].size == 0 || listed == marked) {
            return false;
        }
        listed += 1;
    }
    return listed == marked;
}

// What stays between structural changes: a hierarchy is the root and at least one more, all of them
// living but for a few.
static const char *ghosts_rule(const espl__forest *forest, const espl__run *header)
{
    const bool is_settled = (header->flags & ESPL__RUN_UNSETTLED) == 0;
    const uint32_t quarter = header->size / 4;

    if (header->ghosts == header->size) {
        return "the ghosts of a run are counted, and not alone";
    }
    if (!is_settled || header->ghosts == 0) {
        return NULL;
    }
    if (espl__slot_is(forest, forest->order[header->base], ESPL__SLOT_GHOST)) {
        return "a root lives, or its hierarchy wants a purge";
    }
    if (header->size - header->ghosts < 2) {
        return "a hierarchy has two members, or wants a purge";
    }
    return header->ghosts > (quarter > 8 ? quarter : 8) ? "ghosts that pile up want a purge" : NULL;
}

static const char *run_rule(const espl__forest *forest, uint32_t run, place *at)
{
    const espl__run *const header = &forest->runs[run];
    uint32_t ghosts = 0;
    const char *rule = order_rule(forest, run, at);

    rule = rule != NULL ? rule : links_rule(forest, header, at);
    for (uint32_t rank = 0; rule == NULL && rank < header->size; ++rank) {
        at->detail = rank;
        at->slot = forest->order[header->base + rank];
        ghosts += espl__slot_is(forest, at->slot, ESPL__SLOT_GHOST) ? 1 : 0;
        rule = node_rule(forest, header, at->slot);
        rule = rule != NULL || espl__slot_is_barren(forest, at->slot)
                   ? rule
                   : world_rule(forest, at->slot);
    }
    if (rule == NULL && ghosts != header->ghosts) {
        return "the ghosts of a run are counted, and not alone";
    }
    rule = rule != NULL ? rule : ghosts_rule(forest, header);
    rule = rule != NULL ? rule : side_rule(forest, header);
    if (rule == NULL && !is_listed(forest, run)) {
        return "runs that want a purge stand in one list";
    }
    return rule;
}

size_t espl__forest_bytes(const espl__forest *forest)
{
    size_t bytes = forest->block_size + forest->run_capacity * sizeof *forest->runs;

    for (uint32_t run = 0; run < forest->run_end; ++run) {
        bytes += forest->runs[run].size != 0 ? espl__side_bytes(forest->runs[run].side) : 0;
    }
    return bytes;
}

const char *espl__forest_broken_rule(const espl__forest *forest, uint32_t *slot, size_t *detail)
{
    place at = {ESPL__NO_SLOT, 0};
    const char *rule = espl__pool_broken_rule(forest);
    uint32_t ghosts = 0;

    for (uint32_t run = 0; rule == NULL && run < forest->run_end; ++run) {
        const espl__run *const header = &forest->runs[run];

        if (header->size == 0) {
            continue; // a free header
        }
        at = (place){ESPL__NO_SLOT, run};
        ghosts += header->ghosts;
        rule = run_rule(forest, run, &at);
    }
    if (rule == NULL) {
        at = (place){ESPL__NO_SLOT, ghosts};
        rule = ghosts == forest->ghosts ? NULL : "all ghosts are counted";
    }
    if (rule == NULL && !is_list_whole(forest)) {
        rule = "runs that want a purge stand in one list";
    }
    *slot = at.slot;
    *detail = at.detail;
    return rule;
}
