// SPDX-License-Identifier: MIT
// Stage 6: the forest follows the plans. Ranges are handed out one after the other, groups are
// patched in parallel, and what is no longer used goes back at the end: so every slot that a patch
// reads still holds what it held before, and every slot that it moves a node to is free.
#include "lib/commands/playback.h"

#include <string.h>

enum { GRAIN = 16 };

// One plot with the arrays that its patch works on.
typedef struct patch {
    espl__playback *playback;
    espl__forest *forest;
    const espl__sketch *sketch;
    espl__plot *plot;
    const espl__laid *laid;
    const uint32_t *order; // [size] nodes by rank
    uint32_t size;
} patch;

static patch patch_of(espl__playback *playback, espl__group *group, espl__plot *plot)
{
    const espl__laid *const laid = &group->sketch.laid[plot->laid];

    return (patch){
        playback,  playback->forest, &group->sketch, plot, laid, group->sketch.order + laid->begin,
        laid->size};
}

static bool is_resident(const patch *p, uint32_t node)
{
    return !p->plot->is_moved && node >= p->laid->resident_begin && node < p->laid->resident_end;
}

// --- Before the parallel part ---

static void hand_out_ranges(espl__playback *playback)
{
    for (size_t i = 0; i < playback->plot_count; ++i) {
        espl__plot *const plot = &playback->plots[i];

        if (plot->old_run == ESPL__NO_RUN) {
            plot->run = espl__run_take(playback->forest);
        }
        if (plot->is_moved) {
            plot->base = espl__range_take(playback->forest, plot->capacity);
        }
    }
}

// --- One group ---

// Where each node will stand: residents stay, the others take holes in order, then new slots; in a
// new range everybody stands in rank order. path[node] holds the answer.
static void choose_slots(const patch *p)
{
    const espl__run *const old = p->plot->is_moved ? NULL : &p->forest->runs[p->plot->old_run];
    uint32_t hole = old != NULL ? old->size : 0;

    for (uint32_t rank = 0; rank < p->size; ++rank) {
        const uint32_t node = p->order[rank];

        if (old == NULL) {
            p->sketch->path[node] = p->plot->base + rank;
        } else if (is_resident(p, node)) {
            p->sketch->path[node] = p->sketch->nodes[node].slot;
        } else {
            p->sketch->path[node] =
                hole < old->used ? p->forest->order[old->base + hole] : old->base + hole;
            hole += 1;
        }
    }
}

static espl_pose final_local(const patch *p, const espl__node *node)
{
    return node->written != ESPL__NO_NODE ? p->sketch->written[node->written].local
                                          : p->forest->local[node->slot];
}

// What side arrays hold of a node.
static void write_side(const patch *p, uint32_t node, uint32_t at)
{
    espl__side *const side = p->plot->side;
    const bool copies = espl__sketch_copies(p->sketch, node);

    side->extra[at] = espl__sketch_extra(p->sketch, node);
    side->extra_count += !copies && !espl__extra_is_default(&side->extra[at]) ? 1 : 0;
    if (side->kept != NULL) {
        side->kept[at] = espl__sketch_placement(p->sketch, node).kept;
        side->kept_count += side->kept[at].flags != 0 ? 1 : 0;
    }
}

// Poses of nodes that come to stand elsewhere; reads old slots, writes free ones. And all of the
// side arrays, since they are read from the old runs.
static void move_in(const patch *p)
{
    if (!p->plot->is_moved && p->laid->entrants == 0 && p->plot->side == NULL) {
        return;
    }
    for (uint32_t rank = 0; rank < p->size; ++rank) {
        const uint32_t node = p->order[rank];
        const espl__node *const n = &p->sketch->nodes[node];
        const uint32_t slot = p->sketch->path[node];

        if (p->plot->side != NULL) {
            write_side(p, node, slot - p->plot->base);
        }
        if (!is_resident(p, node)) {
            p->forest->local[slot] = final_local(p, n);
            p->forest->world[slot] = (n->flags & ESPL__NODE_CHANGED) != 0
                                         ? p->sketch->worlds[node]
                                         : p->forest->world[n->slot];
        }
    }
}

static void update_resident(espl__forest *forest, const espl__sketch *sketch, uint32_t node)
{
    const espl__node *const n = &sketch->nodes[node];

    if (n->written != ESPL__NO_NODE) {
        forest->local[n->slot] = sketch->written[n->written].local;
    }
    if ((n->flags & ESPL__NODE_CHANGED) != 0) {
        forest->world[n->slot] = sketch->worlds[node];
    }
}

static uint8_t slot_flags(const patch *p, const espl__node *node)
{
    const bool has_side = p->plot->side != NULL;
    const bool keeps = (node->flags & ESPL__NODE_KEEPS) != 0;
    const bool is_free = (node->flags & ESPL__NODE_FREE_LINK) != 0;
    const bool is_pass = (node->flags & ESPL__NODE_PASS) != 0;

    return (uint8_t)((is_free ? ESPL__SLOT_FREE_LINK : 0) | (is_pass ? ESPL__SLOT_PASS : 0) |
                     (has_side ? ESPL__SLOT_SIDE : 0) | (keeps ? ESPL__SLOT_KEEPS : 0));
}

// Slots of the run that no node uses stand behind the nodes in `order`.
static void file_holes(const patch *p, uint32_t used)
{
    espl__forest *const forest = p->forest;
    const uint32_t base = p->plot->base;
    uint32_t at = p->size;

    for (uint32_t slot = base; slot < base + used && at < used; ++slot) {
        if (forest->rank[slot] == ESPL__NO_SLOT) {
            forest->order[base + at] = slot;
            forest->rank[slot] = at++;
            forest->entity[slot] = ESPL__NO_ENTITY;
        }
    }
}

// A new range belongs to its run from end to end, unused slots too; in an old one, slots that no
// node claims are to be found.
static void claim_range(const patch *p, uint32_t used)
{
    const espl__plot *const plot = p->plot;

    if (!plot->is_moved) {
        memset(p->forest->rank + plot->base, 0xff, used * sizeof *p->forest->rank);
        return;
    }
    for (uint32_t slot = plot->base; slot < plot->base + plot->capacity; ++slot) {
        p->forest->run[slot] = plot->run;
    }
}

// One node's place in the links. Returns the flags that its run may have with it.
static uint32_t write_node(const patch *p, uint32_t rank)
{
    espl__forest *const forest = p->forest;
    const uint32_t node = p->order[rank];
    const espl__node *const n = &p->sketch->nodes[node];
    const uint32_t slot = p->sketch->path[node];
    const uint32_t straight = p->plot->base + rank;

    if (is_resident(p, node)) {
        update_resident(forest, p->sketch, node);
    } else {
        espl__entity_set_slot(p->playback->store, n->entity, slot);
    }
    forest->order[straight] = slot;
    forest->rank[slot] = rank;
    forest->entity[slot] = n->entity;
    forest->flags[slot] = slot_flags(p, n);
    return (slot == straight ? ESPL__RUN_IN_ORDER : 0u) |
           ((n->flags & ESPL__NODE_PASS) != 0 ? ESPL__RUN_GENERAL : 0u);
}

static void write_links(const patch *p)
{
    espl__forest *const forest = p->forest;
    espl__plot *const plot = p->plot;
    const size_t begin = p->laid->begin;
    uint32_t used = p->size;
    uint32_t in_order = ESPL__RUN_IN_ORDER;
    uint32_t general = plot->side != NULL ? ESPL__RUN_GENERAL : 0;

    if (!plot->is_moved) {
        const espl__run *const old = &forest->runs[plot->old_run];
        const uint32_t reached = old->size + p->laid->entrants;

        used = reached > old->used ? reached : old->used;
    }
    claim_range(p, used);
    memcpy(forest->parent + plot->base, p->sketch->parent + begin, p->size * sizeof(uint32_t));
    memcpy(forest->first + plot->base, p->sketch->first + begin, p->size * sizeof(uint32_t));
    for (uint32_t rank = 0; rank < p->size; ++rank) {
        const uint32_t flags = write_node(p, rank);

        in_order &= flags;
        general |= flags & (uint32_t)ESPL__RUN_GENERAL;
    }
    file_holes(p, used);
    forest->runs[plot->run] = (espl__run){.base = plot->base,
                                          .capacity = plot->capacity,
                                          .used = used,
                                          .size = p->size,
                                          .flags = in_order | general,
                                          .next = ESPL__NO_RUN,
                                          .previous = ESPL__NO_RUN,
                                          .side = plot->side};
}

static void patch_group(espl__playback *playback, espl__group *group)
{
    for (uint32_t i = group->plot_begin; i < group->plot_end; ++i) {
        const patch p = patch_of(playback, group, &playback->plots[i]);

        choose_slots(&p);
    }
    for (uint32_t i = group->plot_begin; i < group->plot_end; ++i) {
        const patch p = patch_of(playback, group, &playback->plots[i]);

        move_in(&p);
    }
    for (uint32_t i = group->plot_begin; i < group->plot_end; ++i) {
        const patch p = patch_of(playback, group, &playback->plots[i]);

        write_links(&p);
    }
}

// Links as they were: values change where they stand.
static void write_in_place(espl__playback *playback, const espl__group *group)
{
    const espl__sketch *const sketch = &group->sketch;

    for (uint32_t node = 0; sketch->is_touched && node < sketch->count; ++node) {
        update_resident(playback->forest, sketch, node);
    }
}

static void patch_groups(void *context, size_t begin, size_t end)
{
    espl__playback *const playback = context;

    for (size_t i = begin; i < end; ++i) {
        espl__group *const group = &playback->groups[i];

        if (group->is_patched) {
            continue;
        }
        if (group->has_plots) {
            patch_group(playback, group);
        } else {
            write_in_place(playback, group);
        }
        group->is_patched = true;
    }
}

// Runs that the plots take the place of: their ghosts go.
static void retire_runs(espl__playback *playback)
{
    espl__forest *const forest = playback->forest;

    for (size_t i = 0; i < playback->touched_count; ++i) {
        const espl__touched_run *const touched = &playback->touched[i];
        const uint32_t ghosts = forest->runs[touched->run].ghosts;

        if (playback->groups[touched->group].has_plots) {
            forest->ghosts -= ghosts;
            forest->purges += ghosts != 0 ? 1 : 0;
            espl__run_unmark_unsettled(forest, touched->run);
        }
    }
}

// --- After the parallel part ---

static void release_unused(espl__playback *playback)
{
    espl__forest *const forest = playback->forest;

    for (size_t i = 0; i < playback->touched_count; ++i) {
        const espl__touched_run *const touched = &playback->touched[i];

        if (playback->groups[touched->group].has_plots && !touched->is_kept) {
            espl__run_release(forest, touched->run);
        }
    }
    for (size_t i = 0; i < playback->plot_count; ++i) {
        const espl__plot *const plot = &playback->plots[i];

        if (plot->old_run == ESPL__NO_RUN) {
            continue;
        }
        espl__side_free(playback->heap, plot->old_side);
        if (plot->is_moved) {
            espl__range_give(forest, plot->old_base, plot->old_capacity);
        }
    }
}

void espl__stage_patch(espl__playback *playback)
{
    espl__forest *const forest = playback->forest;

    hand_out_ranges(playback);
    retire_runs(playback);
    const espl_status status = espl__run_ranges(playback->executor, playback->hooks, patch_groups,
                                                playback, playback->group_count, GRAIN);
    if (status != ESPL_OK) {
        // The executor lost a job; the change is under way and is completed here.
        patch_groups(playback, 0, playback->group_count);
    }
    for (size_t i = 0; i < playback->group_count; ++i) {
        forest->nodes_visited += playback->groups[i].visited;
    }
    for (size_t i = 0; i < playback->plot_count; ++i) {
        const espl__plot *const plot = &playback->plots[i];

        forest->nodes_rebuilt += playback->groups[plot->group].sketch.laid[plot->laid].size;
    }
    release_unused(playback);
}
