// SPDX-License-Identifier: MIT
#include "lib/tree/graft.h"

#include <string.h>

// Ranks [begin, end).
typedef struct ranks {
    uint32_t begin, end;
} ranks;

// --- Taking down ---

// The ranks right below a range of ranks.
static ranks below(const espl__forest *forest, const espl__run *run, ranks level)
{
    return (ranks){espl__first_child(forest, run, level.begin),
                   espl__first_child(forest, run, level.end)};
}

bool espl__graft_measure(espl__graft *graft, espl__forest *forest, uint32_t slot, uint32_t limit)
{
    const espl__run *const run = espl__run_of(forest, slot);
    const uint32_t rank = forest->rank[slot];
    ranks level = {rank, rank + 1};

    *graft = (espl__graft){.forest = forest,
                           .run = forest->run[slot],
                           .rank = rank,
                           .parent = ESPL__NO_SLOT,
                           .before = ESPL__NO_SLOT};
    while (level.begin < level.end && graft->size <= limit) {
        graft->size += level.end - level.begin;
        graft->levels += 1;
        level = below(forest, run, level);
    }
    return graft->size <= limit;
}

size_t espl__graft_size(const espl__graft *graft)
{
    const size_t node = sizeof(espl_pose) + sizeof(espl__extra) + 4 * sizeof(uint32_t);
    const size_t level = 4 * sizeof(uint32_t) + 2 * sizeof(espl__stretch);

    return graft->size * node + ((size_t)graft->levels + 3) * level;
}

static void point_arrays(espl__graft *graft, void *memory)
{
    const size_t size = graft->size, levels = graft->levels;

    graft->worlds = memory;
    graft->extras = (espl__extra *)(void *)(graft->worlds + size);
    graft->slots = (uint32_t *)(void *)(graft->extras + size);
    graft->sources = graft->slots + size;
    graft->parents = graft->sources + size;
    graft->firsts = graft->parents + size;
    graft->starts = graft->firsts + size;
    graft->places = graft->starts + levels + 1;
    graft->cuts = graft->places + levels + 1;
    graft->pastes = graft->cuts + levels + 2;
    graft->stretches = (espl__stretch *)(void *)(graft->pastes + levels + 2);
}

// Copy the links of one level, as seen from the subtree alone.
// @param above  rank less position on the level above.
static void lift_level(espl__graft *graft, const espl__run *run, ranks level, uint32_t start,
                       uint32_t above)
{
    const espl__forest *const forest = graft->forest;
    const uint32_t next = espl__first_child(forest, run, level.begin);
    const uint32_t behind = start + (level.end - level.begin);

    for (uint32_t rank = level.begin; rank < level.end; ++rank) {
        const uint32_t at = start + (rank - level.begin);
        const uint32_t slot = forest->order[run->base + rank];

        graft->sources[at] = graft->slots[at] = slot;
        graft->parents[at] = start == 0 ? ESPL__NO_SLOT : forest->parent[run->base + rank] - above;
        graft->firsts[at] = forest->first[run->base + rank] - next + behind;
        graft->ghosts += espl__slot_is(forest, slot, ESPL__SLOT_GHOST) ? 1 : 0;
    }
}

void espl__graft_lift(espl__graft *graft, void *memory)
{
    const espl__run *const run = &graft->forest->runs[graft->run];
    ranks level = {graft->rank, graft->rank + 1};
    uint32_t start = 0, above = 0;

    point_arrays(graft, memory);
    graft->ghosts = 0;
    graft->cuts[0] = graft->forest->parent[run->base + graft->rank] + 1;
    for (uint32_t i = 0; i < graft->levels; ++i) {
        graft->starts[i] = start;
        graft->cuts[i + 1] = level.end;
        lift_level(graft, run, level, start, above);
        above = level.begin - start;
        start += level.end - level.begin;
        level = below(graft->forest, run, level);
    }
    graft->starts[graft->levels] = start;
    graft->cuts[graft->levels + 1] = level.begin;
}

bool espl__graft_has(const espl__graft *graft, uint32_t slot)
{
    const uint32_t rank = graft->forest->rank[slot];
    uint32_t level = 0;

    while (level + 1 < graft->levels && graft->cuts[level + 1] <= rank) {
        level += 1;
    }
    return graft->forest->run[slot] == graft->run &&
           rank >= espl__graft_level_begin(graft, level) && rank < graft->cuts[level + 1];
}

// --- Placing ---

// What is to be stored of a node; `extras` of its parent is known.
static espl__placement placement_at(const espl__graft *graft, uint32_t at)
{
    const uint32_t source = graft->sources[at];
    espl__placement placement =
        at == 0 ? graft->placement : espl__slot_placement(graft->forest, source);

    if (at != 0 && graft->is_sided && espl__slot_copies(graft->forest, source)) {
        placement.extra = graft->extras[graft->parents[at]];
    }
    return placement;
}

// One node's world and extra below a parent that is placed.
static void place_sided(espl__graft *graft, uint32_t at)
{
    const uint32_t up = graft->parents[at];
    const espl__frame frame = {graft->worlds[up], graft->extras[up]};
    const espl__placement placement = placement_at(graft, at);
    const bool is_pass = espl__slot_is(graft->forest, graft->sources[at], ESPL__SLOT_PASS);

    graft->worlds[at] = is_pass ? frame.world : espl__placement_world(&placement, &frame);
    graft->extras[at] = placement.extra;
    graft->needs_side = graft->needs_side || espl__placement_needs_side(&placement);
    graft->needs_kept = graft->needs_kept || placement.kept.flags != 0;
}

static void place_plain(espl__graft *graft, uint32_t at)
{
    const uint32_t source = graft->sources[at];
    const espl_pose *const up = &graft->worlds[graft->parents[at]];

    if (espl__slot_is(graft->forest, source, ESPL__SLOT_PASS)) {
        graft->worlds[at] = *up;
    } else {
        espl__pose_compose_to(&graft->worlds[at], up, NULL, &graft->forest->local[source]);
    }
}

bool espl__graft_place(espl__graft *graft, const espl__placement *placement, const espl__frame *up)
{
    bool is_finite = true;

    graft->placement = *placement;
    graft->needs_side = espl__placement_needs_side(placement);
    graft->needs_kept = placement->kept.flags != 0;
    graft->is_sided = graft->needs_side || graft->forest->runs[graft->run].side != NULL;
    graft->worlds[0] = espl__placement_world(placement, up);
    graft->extras[0] = placement->extra;
    for (uint32_t at = 1; at < graft->size; ++at) {
        if (graft->is_sided) {
            place_sided(graft, at);
        } else {
            place_plain(graft, at);
        }
    }
    for (uint32_t at = 0; at < graft->size; ++at) {
        is_finite = is_finite && espl__pose_is_finite(&graft->worlds[at]);
    }
    return is_finite;
}

// --- Where it goes ---

void espl__graft_aim(espl__graft *graft, uint32_t parent, uint32_t before)
{
    const espl__forest *const forest = graft->forest;

    graft->parent = parent;
    graft->before = before;
    graft->capacity = 0;
    if (parent == ESPL__NO_SLOT) {
        graft->capacity = graft->size;
        return;
    }
    const espl__run *const to = espl__run_of(forest, parent);

    if (forest->run[parent] != graft->run && graft->size > to->capacity - to->size) {
        graft->capacity = espl__run_room(to, to->size + graft->size);
    }
}

// The side arrays that the run it goes to lacks, in a block of their own. false: no memory.
static bool make_side(espl__graft *graft)
{
    const espl__forest *const forest = graft->forest;
    const espl__side *const old =
        graft->parent == ESPL__NO_SLOT ? NULL : espl__run_of(forest, graft->parent)->side;
    const bool has_kept = old != NULL && old->kept != NULL;
    const bool is_enough = (old != NULL || !graft->needs_side) && (has_kept || !graft->needs_kept);

    if (is_enough && (old == NULL || graft->capacity == 0)) {
        return true;
    }
    const uint32_t capacity =
        graft->capacity != 0 ? graft->capacity : espl__run_of(forest, graft->parent)->capacity;

    graft->side = espl__side_make(forest->heap, capacity, has_kept || graft->needs_kept);
    return graft->side != NULL;
}

espl_status espl__graft_reserve(espl__graft *graft)
{
    if (!make_side(graft)) {
        return ESPL_ERR_NO_MEMORY;
    }
    const size_t runs = graft->parent == ESPL__NO_SLOT ? 1 : 0;
    const espl_status status =
        graft->capacity == 0 ? ESPL_OK : espl__forest_reserve(graft->forest, graft->capacity, runs);

    if (status != ESPL_OK) {
        espl__side_free(graft->forest->heap, graft->side);
        graft->side = NULL;
    }
    return status;
}

// --- Out of a run ---

// Close the gaps that the subtree leaves; its slots become the first holes.
static void cut(espl__graft *graft, espl__run *run)
{
    espl__forest *const forest = graft->forest;

    espl__graft_shift(graft, run, true, false);
    run->size -= graft->size;
    run->ghosts -= graft->ghosts;
    for (uint32_t at = 0; at < graft->size; ++at) {
        forest->order[run->base + run->size + at] = graft->sources[at];
        forest->rank[graft->sources[at]] = run->size + at;
    }
}

// --- Into a run ---

// The edges of the place that the subtree goes to.
static void find_pastes(espl__graft *graft, const espl__run *run)
{
    const espl__forest *const forest = graft->forest;
    uint32_t rank = forest->rank[graft->parent] + 1;

    graft->pastes[0] = rank;
    rank = graft->before != ESPL__NO_SLOT ? forest->rank[graft->before]
                                          : espl__first_child(forest, run, rank);
    for (uint32_t level = 0; level <= graft->levels; ++level) {
        graft->pastes[level + 1] = rank;
        rank = espl__first_child(forest, run, rank);
    }
}

// Nodes that leave from before a rank; ranks ascend from call to call.
static uint32_t leaving_before(const espl__graft *graft, uint32_t *level, uint32_t rank)
{
    while (*level < graft->levels && graft->cuts[*level + 1] <= rank) {
        *level += 1;
    }
    return graft->starts[*level];
}

// Where the subtree's nodes will stand. Returns the rank that their parent will have.
static uint32_t find_places(espl__graft *graft, bool has_cut)
{
    uint32_t gone = 0;
    uint32_t parent = graft->pastes[0] - 1;

    parent -= has_cut ? leaving_before(graft, &gone, parent) : 0;
    for (uint32_t level = 0; level <= graft->levels; ++level) {
        const uint32_t rank = graft->pastes[level + 1];

        graft->places[level] = has_cut ? rank - leaving_before(graft, &gone, rank) : rank;
    }
    return parent;
}

// The slots that the nodes will have: holes in order, then new ones.
static void choose_slots(espl__graft *graft, espl__run *run)
{
    for (uint32_t at = 0; at < graft->size; ++at) {
        const uint32_t hole = run->size + at;

        graft->slots[at] =
            hole < run->used ? graft->forest->order[run->base + hole] : run->base + hole;
    }
    const uint32_t reached = run->size + graft->size;

    run->used = reached > run->used ? reached : run->used;
}

// Put the subtree's nodes into the links.
static void write_links(espl__graft *graft, espl__run *run, uint32_t parent)
{
    espl__forest *const forest = graft->forest;

    for (uint32_t level = 0; level < graft->levels; ++level) {
        const uint32_t above = level == 0 ? 0 : graft->places[level - 1];

        for (uint32_t at = graft->starts[level]; at < graft->starts[level + 1]; ++at) {
            const uint32_t rank = graft->places[level] + at;
            const uint32_t slot = graft->slots[at];

            forest->order[run->base + rank] = slot;
            forest->rank[slot] = rank;
            forest->parent[run->base + rank] = at == 0 ? parent : above + graft->parents[at];
            forest->first[run->base + rank] = graft->places[level + 1] + graft->firsts[at];
            run->flags &= slot == run->base + rank ? ~0u : ~(unsigned)ESPL__RUN_IN_ORDER;
        }
    }
}

static void paste(espl__graft *graft, espl__run *run)
{
    find_pastes(graft, run);
    const uint32_t parent = find_places(graft, false);

    choose_slots(graft, run);
    espl__graft_shift(graft, run, false, true);
    write_links(graft, run, parent);
    run->size += graft->size;
    run->ghosts += graft->ghosts;
}

// From one place of a run to another: what stands behind both is left alone.
static void move_within(espl__graft *graft)
{
    espl__run *const run = &graft->forest->runs[graft->run];

    find_pastes(graft, run);
    const uint32_t parent = find_places(graft, true);

    espl__graft_shift(graft, run, true, true);
    write_links(graft, run, parent);
}

// A run for the subtree alone.
static uint32_t plant(espl__graft *graft)
{
    espl__forest *const forest = graft->forest;
    const uint32_t number = espl__run_take(forest);
    const uint32_t base = espl__range_take(forest, graft->size);
    espl__run *const run = &forest->runs[number];

    *run = espl__run_filling(base, graft->size);
    run->ghosts = graft->ghosts;
    for (uint32_t at = 0; at < graft->size; ++at) {
        graft->slots[at] = base + at;
        forest->run[base + at] = number;
    }
    memset(graft->places, 0, ((size_t)graft->levels + 1) * sizeof *graft->places);
    write_links(graft, run, ESPL__NO_SLOT);
    return number;
}

// --- Values ---

static unsigned side_flag(const espl__forest *forest, uint32_t slot)
{
    return espl__run_of(forest, slot)->side != NULL ? (unsigned)ESPL__SLOT_SIDE : 0u;
}

// Move what a slot holds beside its placement; it is a hole from now on, and holds nothing.
static void move_name(espl__forest *forest, uint32_t from, uint32_t to)
{
    const unsigned own = ESPL__SLOT_SIDE | ESPL__SLOT_KEEPS;
    const espl__placement bare = espl__placement_identity();

    forest->flags[to] = (uint8_t)((forest->flags[from] & ~own) | side_flag(forest, to));
    forest->entity[to] = forest->entity[from];
    espl__slot_place(forest, from, &bare);
    forest->flags[from] = (uint8_t)side_flag(forest, from);
    forest->entity[from] = ESPL__NO_ENTITY;
}

// Put the values of one node in place, which may be where they are.
static void move_values(espl__graft *graft, uint32_t at)
{
    espl__forest *const forest = graft->forest;
    const uint32_t from = graft->sources[at], to = graft->slots[at];
    const espl__placement placement = placement_at(graft, at);

    if (to != from) {
        move_name(forest, from, to);
    }
    espl__slot_place(forest, to, &placement);
    forest->world[to] = graft->worlds[at];
}

static void move_all_values(espl__graft *graft, uint32_t number)
{
    espl__run *const run = &graft->forest->runs[number];
    unsigned flags = 0;

    for (uint32_t at = 0; at < graft->size; ++at) {
        move_values(graft, at);
        flags |= graft->forest->flags[graft->slots[at]];
    }
    uint8_t *const top = &graft->forest->flags[graft->slots[0]];

    *top = (uint8_t)((*top & ~(unsigned)ESPL__SLOT_FREE_LINK) |
                     (graft->is_free ? (unsigned)ESPL__SLOT_FREE_LINK : 0u));
    graft->forest->has_free_links = graft->forest->has_free_links || graft->is_free;
    run->flags |= (flags & ESPL__SLOT_PASS) != 0 ? (unsigned)ESPL__RUN_GENERAL : 0u;
    graft->forest->crew.tally.nodes_visited += graft->size;
}

// --- Carrying out ---

// The run that the subtree goes to gets the room and the side arrays that were made for it.
static void make_room(espl__graft *graft, uint32_t number,
                      void (*moved)(void *, uint32_t, uint32_t), void *context)
{
    if (graft->capacity > graft->forest->runs[number].capacity) {
        espl__run_move(graft->forest, number, graft->capacity, graft->side, moved, context);
    } else if (graft->side != NULL) {
        espl__run_set_side(graft->forest, number, graft->side);
    }
    graft->side = NULL;
}

// Into the run of the parent, which moves if it must; the slots that the graft names move along.
static uint32_t move_across(espl__graft *graft, void (*moved)(void *, uint32_t, uint32_t),
                            void *context)
{
    espl__forest *const forest = graft->forest;
    const uint32_t number = forest->run[graft->parent];
    espl__run *const run = &forest->runs[number];
    const bool has_before = graft->before != ESPL__NO_SLOT;
    const uint32_t parent = forest->rank[graft->parent];
    const uint32_t before = has_before ? forest->rank[graft->before] : 0;

    make_room(graft, number, moved, context);
    graft->parent = forest->order[run->base + parent];
    graft->before = has_before ? forest->order[run->base + before] : ESPL__NO_SLOT;
    paste(graft, run);
    return number;
}

// Out of its run, unless it is all of it: then that goes once its values are copied.
static void leave(espl__graft *graft)
{
    espl__run *const run = &graft->forest->runs[graft->run];

    if (run->size != graft->size) {
        cut(graft, run);
    }
}

// To the new place in the links. Returns the run.
static uint32_t change_links(espl__graft *graft, void (*moved)(void *, uint32_t, uint32_t),
                             void *context)
{
    espl__forest *const forest = graft->forest;

    if (graft->parent == ESPL__NO_SLOT) {
        leave(graft);
        const uint32_t number = plant(graft);

        make_room(graft, number, moved, context);
        return number;
    }
    if (forest->run[graft->parent] != graft->run) {
        leave(graft);
        return move_across(graft, moved, context);
    }
    make_room(graft, graft->run, moved, context);
    if (!graft->stays) {
        move_within(graft);
    }
    return graft->run;
}

void espl__graft_commit(espl__graft *graft, void (*moved)(void *, uint32_t, uint32_t),
                        void *context)
{
    espl__forest *const forest = graft->forest;
    const bool is_whole = forest->runs[graft->run].size == graft->size;
    const uint32_t number = change_links(graft, moved, context);

    if (graft->keeps_values) {
        return;
    }
    move_all_values(graft, number);
    for (uint32_t at = 0; at < graft->size; ++at) {
        const uint32_t slot = graft->slots[at];

        if (slot != graft->sources[at] && forest->entity[slot] != ESPL__NO_ENTITY) {
            moved(context, forest->entity[slot], slot);
        }
    }
    if (number != graft->run) {
        if (is_whole) {
            espl__run_release(forest, graft->run);
        } else {
            espl__run_drop_side(forest, graft->run);
        }
    }
    espl__run_drop_side(forest, number);
}
