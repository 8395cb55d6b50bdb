// SPDX-License-Identifier: MIT
// Nodes of a sketch, their memory, and their placements while links are edited.
#include "lib/tree/sketch.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { ALIGNMENT = 8 };

// --- Memory ---

static size_t aligned(size_t size)
{
    return (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

// A bag's slice, for each of those that have one from the start.
typedef struct slice {
    espl__bag *bag;
    size_t count, size;
} slice;

enum { SLICES = 11 };

// The known nodes have one more, which stands for what finds no memory.
static void list_slices(espl__sketch *sketch, const espl__sketch_room *room, slice out[SLICES])
{
    const slice all[SLICES] = {
        {&sketch->known, room->known + 1, sizeof(espl__node)},
        {&sketch->made, room->made, sizeof(espl__node)},
        {&sketch->pieces, room->pieces, sizeof(espl__piece)},
        {&sketch->worlds, room->worlds, sizeof(espl_pose)},
        {&sketch->laid, room->laid, sizeof(espl__laid)},
        {&sketch->bits, room->bits, sizeof(uint64_t)},
        {&sketch->stale, room->stale, sizeof(uint64_t)},
        {&sketch->kept, room->kept, sizeof(espl__kept_world)},
        {&sketch->written, room->written, sizeof(espl__placement)},
        {&sketch->noted, room->noted, sizeof(uint32_t)},
        {&sketch->list, room->list, sizeof(uint32_t)},
    };

    memcpy(out, all, sizeof all);
}

size_t espl__sketch_size(const espl__sketch_room *room)
{
    espl__sketch none;
    slice slices[SLICES];
    size_t size = 0;

    list_slices(&none, room, slices);
    for (int i = 0; i < SLICES; ++i) {
        size += aligned(slices[i].count * slices[i].size);
    }
    return size;
}

void espl__sketch_begin(espl__sketch *sketch, const espl__sketch_room *room, void *block)
{
    unsigned char *at = block;
    slice slices[SLICES];

    list_slices(sketch, room, slices);
    for (int i = 0; i < SLICES; ++i) {
        espl__bag_begin(slices[i].bag, at, slices[i].count);
        at += aligned(slices[i].count * slices[i].size);
    }
    espl__sketch_clear(sketch);
}

void espl__sketch_clear(espl__sketch *sketch)
{
    espl__node *const known = sketch->known.items;

    for (uint32_t i = 1; i < sketch->known.count; ++i) {
        sketch->marks[known[i].slot] = 0;
    }
    known[0] = espl__node_alone();
    sketch->known.count = 1;
    sketch->made.count = sketch->written.count = sketch->noted.count = sketch->list.count = 0;
    sketch->laid.count = sketch->pieces.count = sketch->worlds.count = 0;
    sketch->changed_count = 0;
    sketch->climbed = 0;
    sketch->risen = 0;
    sketch->stale.count = sketch->kept.count = 0;
    sketch->unused_kept = ESPL__NO_NODE;
    sketch->may_hide = sketch->is_touched = sketch->is_restructured = sketch->is_failed = false;
}

void espl__sketch_drop(espl__sketch *sketch)
{
    espl__heap *const heap = sketch->heap;

    if (sketch->known.items == NULL) {
        return;
    }
    espl__sketch_clear(sketch);
    espl__bag_drop(&sketch->known, heap, sizeof(espl__node));
    espl__bag_drop(&sketch->made, heap, sizeof(espl__node));
    espl__bag_drop(&sketch->written, heap, sizeof(espl__placement));
    espl__bag_drop(&sketch->noted, heap, sizeof(uint32_t));
    espl__bag_drop(&sketch->list, heap, sizeof(uint32_t));
    espl__bag_drop(&sketch->pieces, heap, sizeof(espl__piece));
    espl__bag_drop(&sketch->laid, heap, sizeof(espl__laid));
    espl__bag_drop(&sketch->worlds, heap, sizeof(espl_pose));
    espl__bag_drop(&sketch->bits, heap, sizeof(uint64_t));
    espl__bag_drop(&sketch->stale, heap, sizeof(uint64_t));
    espl__bag_drop(&sketch->kept, heap, sizeof(espl__kept_world));
}

bool espl__sketch_reserve_made(espl__sketch *sketch, size_t more)
{
    return espl__bag_reserve(&sketch->made, sketch->heap, sizeof(espl__node), more);
}

bool espl__sketch_reserve_written(espl__sketch *sketch, size_t more)
{
    return espl__bag_reserve(&sketch->written, sketch->heap, sizeof(espl__placement), more);
}

static void push_number(espl__sketch *sketch, espl__bag *bag, uint32_t number)
{
    if (!espl__bag_reserve(bag, sketch->heap, sizeof number, 1)) {
        sketch->is_failed = true;
        return;
    }
    ((uint32_t *)bag->items)[bag->count++] = number;
}

void espl__sketch_list(espl__sketch *sketch, uint32_t node)
{
    push_number(sketch, &sketch->list, node);
}

// --- Nodes ---

uint32_t espl__node_flags_of(uint32_t kept_flags)
{
    return (kept_flags != 0 ? ESPL__NODE_KEEPS : 0u) |
           ((kept_flags & ESPL_COPY_PARENT) != 0 ? ESPL__NODE_COPIES : 0u);
}

static uint32_t node_flags(const espl__forest *forest, uint32_t slot)
{
    const unsigned flags = forest->flags[slot];

    return ((flags & ESPL__SLOT_FREE_LINK) != 0 ? ESPL__NODE_FREE_LINK : 0u) |
           ((flags & ESPL__SLOT_PASS) != 0 ? ESPL__NODE_PASS : 0u) |
           ((flags & ESPL__SLOT_GHOST) != 0 ? ESPL__NODE_GHOST | ESPL__NODE_DEAD : 0u) |
           ((flags & ESPL__SLOT_KEEPS) != 0
                ? espl__node_flags_of(espl__slot_kept(forest, slot).flags)
                : 0u);
}

// A node as it stands in the forest.
static void copy_node(espl__node *out, const espl__forest *forest, uint32_t slot)
{
    const espl__run *const run = espl__run_of(forest, slot);
    const uint32_t *const order = forest->order + run->base;
    const uint32_t *const parent = forest->parent + run->base;
    const uint32_t rank = forest->rank[slot];
    const uint32_t begin = espl__first_child(forest, run, rank);
    const uint32_t end = espl__first_child(forest, run, rank + 1);
    const bool has_next = rank != 0 && rank + 1 < run->size && parent[rank + 1] == parent[rank];
    const bool has_previous = rank > 1 && parent[rank - 1] == parent[rank];

    *out = espl__node_alone();
    out->parent = rank == 0 ? ESPL__NO_NODE : order[parent[rank]];
    out->first = begin < end ? order[begin] : ESPL__NO_NODE;
    out->last = begin < end ? order[end - 1] : ESPL__NO_NODE;
    out->next = has_next ? order[rank + 1] : ESPL__NO_NODE;
    out->previous = has_previous ? order[rank - 1] : ESPL__NO_NODE;
    out->slot = slot;
    out->entity = forest->entity[slot];
    out->flags = node_flags(forest, slot);
}

// What has failed knows nothing more, so that a walk finds the same nodes whenever it is made.
uint32_t espl__sketch_know(espl__sketch *sketch, uint32_t slot)
{
    if (sketch->is_failed ||
        !espl__bag_reserve(&sketch->known, sketch->heap, sizeof(espl__node), 1)) {
        sketch->is_failed = true;
        ((espl__node *)sketch->known.items)[0] = espl__node_alone();
        return 0;
    }
    const uint32_t number = sketch->known.count++;
    espl__node *const node = (espl__node *)sketch->known.items + number;

    copy_node(node, sketch->forest, slot);
    node->load = sketch->run_marks[sketch->forest->run[slot]] - 1;
    sketch->marks[slot] = number + 1;
    return number;
}

uint32_t espl__sketch_add(espl__sketch *sketch, const espl__node *node)
{
    ESPL_CHECK(sketch->made.count < sketch->made.capacity);
    ((espl__node *)sketch->made.items)[sketch->made.count] = *node;
    return ESPL__MADE | sketch->made.count++;
}

void espl__sketch_load(espl__sketch *sketch, uint32_t load)
{
    const espl__forest *const forest = sketch->forest;
    espl__load *const at = &sketch->loads[load];
    const espl__run *const run = &forest->runs[at->run];

    at->is_restructured = at->is_dirty = at->goes_on = false;
    at->stale = ESPL__NO_NODE;
    for (uint32_t rank = 0; run->ghosts != 0 && rank < run->size; ++rank) {
        const uint32_t slot = forest->order[run->base + rank];

        if (espl__slot_is(forest, slot, ESPL__SLOT_GHOST)) {
            espl__sketch_splice(sketch, slot);
            at->is_restructured = true;
        }
    }
}

void espl__sketch_note(espl__sketch *sketch, uint32_t node, uint32_t flag)
{
    espl__node *const n = espl__sketch_at(sketch, node);

    if ((n->flags & ESPL__NODE_NOTED) == 0) {
        push_number(sketch, &sketch->noted, node);
    }
    n->flags |= flag | ESPL__NODE_NOTED;
    sketch->may_hide = sketch->may_hide || (n->flags & ESPL__NODE_CLONE) != 0;
}

// --- Transforms ---

// What the forest has of a node that nobody asked for is what there is.
uint32_t espl__sketch_parent(const espl__sketch *sketch, uint32_t node)
{
    return espl__sketch_is_known(sketch, node) ? espl__sketch_at(sketch, node)->parent
                                               : espl__parent_slot(sketch->forest, node);
}

espl__node espl__sketch_peek(const espl__sketch *sketch, uint32_t node)
{
    espl__node out;

    if (espl__sketch_is_known(sketch, node)) {
        return *espl__sketch_at(sketch, node);
    }
    copy_node(&out, sketch->forest, node);
    return out;
}

bool espl__sketch_copies(const espl__sketch *sketch, uint32_t node)
{
    if (!espl__sketch_is_known(sketch, node)) {
        return espl__slot_copies(sketch->forest, node);
    }
    return (espl__sketch_at(sketch, node)->flags & (ESPL__NODE_PASS | ESPL__NODE_COPIES)) != 0;
}

static const espl__placement *written_of(const espl__sketch *sketch, const espl__node *node)
{
    return (const espl__placement *)sketch->written.items + node->written;
}

espl_pose espl__sketch_local(const espl__sketch *sketch, uint32_t node)
{
    if (!espl__sketch_is_known(sketch, node)) {
        return sketch->forest->local[node];
    }
    const espl__node *const n = espl__sketch_at(sketch, node);

    return n->written != ESPL__NO_NODE ? written_of(sketch, n)->local
                                       : sketch->forest->local[n->slot];
}

// As it stands in the sketch or the forest.
static espl__placement stored_placement(const espl__sketch *sketch, uint32_t node)
{
    if (!espl__sketch_is_known(sketch, node)) {
        return espl__slot_placement(sketch->forest, node);
    }
    const espl__node *const n = espl__sketch_at(sketch, node);

    return n->written != ESPL__NO_NODE ? *written_of(sketch, n)
                                       : espl__slot_placement(sketch->forest, n->slot);
}

espl__placement espl__sketch_placement(const espl__sketch *sketch, uint32_t node)
{
    espl__placement placement = stored_placement(sketch, node);

    if (placement.kept.flags != 0 && espl__sketch_copies(sketch, node)) {
        placement.extra = espl__sketch_extra(sketch, node);
    }
    return placement;
}

espl__extra espl__sketch_extra(const espl__sketch *sketch, uint32_t node)
{
    while (node != ESPL__NO_NODE && espl__sketch_copies(sketch, node)) {
        node = espl__sketch_parent(sketch, node);
    }
    return node == ESPL__NO_NODE ? espl__extra_default() : stored_placement(sketch, node).extra;
}

// Powers of two by which a placement may enlarge what hangs below it.
static unsigned growth_by(float factor)
{
    int exponent = 0;

    if (fabsf(factor) <= 1) {
        return 0;
    }
    const float mantissa = frexpf(fabsf(factor), &exponent); // in [0.5, 1)

    exponent -= mantissa == 0.5f; // a power of two is no more than itself
    return exponent > 0 ? (unsigned)exponent : 0;
}

// A kept scale stands in the place of a product that may be smaller.
static unsigned growth_of(const espl__placement *placement)
{
    unsigned growth = 0;

    for (int i = 0; i < 3; ++i) {
        const unsigned by = growth_by(placement->extra.stretch[i]);

        growth = by > growth ? by : growth;
    }
    return growth + growth_by(placement->local.scale) + growth_by(placement->kept.pose.scale);
}

static double length_of(const float v[static 3])
{
    return fabs((double)v[0]) + fabs((double)v[1]) + fabs((double)v[2]);
}

static double reach_of(const espl__placement *placement)
{
    return length_of(placement->local.position) + length_of(placement->kept.pose.position);
}

// The power of two above a length; far below all there are for 0.
static int16_t exponent_of(double length)
{
    int exponent = INT16_MIN;

    if (length > 0) {
        (void)frexp(length, &exponent);
    }
    return (int16_t)exponent;
}

// Note a placement that a node has or had.
static void widen(espl__node *node, const espl__placement *placement)
{
    const unsigned growth = growth_of(placement);
    const int16_t reach = exponent_of(reach_of(placement));

    node->growth = growth > node->growth ? (uint16_t)growth : node->growth;
    node->reach = reach > node->reach ? reach : node->reach;
}

// How far worlds can reach at any moment of the editing: they stay below 2^growth in scale and
// reach * 2^growth in position. What never had a child is at the end of each chain that it is in:
// one of these counts, the worst. All others may stand in one chain.
typedef struct bound {
    double reach, last_reach;
    uint64_t growth, last_growth;
} bound;

static void add_bound(bound *b, bool is_parent, uint64_t growth, double reach)
{
    if (is_parent) {
        b->growth += growth;
        b->reach += reach;
    } else {
        b->last_growth = growth > b->last_growth ? growth : b->last_growth;
        b->last_reach = reach > b->last_reach ? reach : b->last_reach;
    }
}

// A node with a placement that it has now or had at first, beside those that it was given.
static void add_node(bound *b, const espl__node *node, bool is_parent, const espl__placement *other)
{
    espl__node widened = *node;

    widen(&widened, other);
    add_bound(b, is_parent || (node->flags & ESPL__NODE_PARENT) != 0, widened.growth,
              ldexp(1, widened.reach));
}

static void add_run(bound *b, const espl__sketch *sketch, const espl__run *run)
{
    const espl__forest *const forest = sketch->forest;

    for (uint32_t rank = 0; rank < run->size; ++rank) {
        const uint32_t slot = forest->order[run->base + rank];
        const espl__placement placement = espl__slot_placement(forest, slot);
        const bool is_parent =
            espl__first_child(forest, run, rank) < espl__first_child(forest, run, rank + 1);

        if (espl__sketch_is_known(sketch, slot)) {
            add_node(b, espl__sketch_at(sketch, slot), is_parent, &placement);
        } else {
            add_bound(b, is_parent, growth_of(&placement), reach_of(&placement));
        }
    }
}

static void add_made(bound *b, const espl__sketch *sketch)
{
    const espl__node *const made = sketch->made.items;

    for (uint32_t i = 0; i < sketch->made.count; ++i) {
        // What is made has a placement of its own, or that of the slot that it is a clone of.
        ESPL_CHECK(made[i].written != ESPL__NO_NODE || made[i].slot != ESPL__NO_SLOT);
        const espl__placement placement = made[i].written != ESPL__NO_NODE
                                              ? *written_of(sketch, &made[i])
                                              : espl__slot_placement(sketch->forest, made[i].slot);

        add_node(b, &made[i], false, &placement);
    }
}

bool espl__sketch_is_tame(const espl__sketch *sketch, const uint32_t *loads, size_t count)
{
    bound b = {0};
    int exponent = 0;

    for (size_t i = 0; i < count; ++i) {
        add_run(&b, sketch, &sketch->forest->runs[sketch->loads[loads[i]].run]);
    }
    add_made(&b, sketch);
    const uint64_t growth = b.growth + b.last_growth;

    (void)frexp(b.reach + b.last_reach, &exponent);
    // Eight powers to spare, for rotations off unit length and for rounding.
    return growth < 110 && (int)growth + exponent + 8 < FLT_MAX_EXP;
}

uint32_t espl__sketch_keep(espl__sketch *sketch, const espl__placement *placement)
{
    ESPL_CHECK(sketch->written.count < sketch->written.capacity);
    ((espl__placement *)sketch->written.items)[sketch->written.count] = *placement;
    return sketch->written.count++;
}

void espl__sketch_write(espl__sketch *sketch, uint32_t node, const espl__placement *placement)
{
    const espl__extra before = espl__sketch_placement(sketch, node).extra;
    espl__node *const n = espl__sketch_at(sketch, node);

    if (memcmp(&before, &placement->extra, sizeof before) != 0) {
        n->flags |= ESPL__NODE_RESTRETCHED;
    }
    if (n->written == ESPL__NO_NODE) {
        n->written = espl__sketch_keep(sketch, placement);
    } else {
        espl__placement *const written = (espl__placement *)sketch->written.items + n->written;

        widen(n, written); // what it was made with counts too
        *written = *placement;
    }
    widen(n, placement);
    n->flags &= ~(unsigned)(ESPL__NODE_KEEPS | ESPL__NODE_COPIES);
    n->flags |= espl__node_flags_of(placement->kept.flags);
    espl__sketch_touch(sketch, node);
}

espl_pose espl__sketch_world_below(const espl__sketch *sketch, uint32_t node, const espl_pose *up)
{
    const espl__node *const n = espl__sketch_at(sketch, node);
    const bool is_pass = (n->flags & ESPL__NODE_PASS) != 0;
    const uint32_t above = n->parent;

    if (above == ESPL__NO_NODE) {
        return is_pass ? espl__pose_identity() : espl__sketch_local(sketch, node);
    }
    if (is_pass) {
        return *up;
    }
    const espl__frame parent = {*up, espl__sketch_extra(sketch, above)};
    const espl__placement placement = stored_placement(sketch, node);

    return espl__placement_world(&placement, &parent);
}

bool espl__rebased_exactly(espl_pose *out, const espl_pose *parent, const float *stretch,
                           const espl_pose *world)
{
    const espl_pose unread = espl__pose_identity();
    espl_pose local;

    if (parent->scale == 0 || stretch[0] == 0 || stretch[1] == 0 || stretch[2] == 0) {
        return false;
    }
    (void)espl__pose_relative(&local, parent, stretch, world, &unread);
    const espl_pose back = espl__pose_compose(parent, stretch, &local);
    // Of a local that is not finite nothing finite is composed.
    if (!espl__pose_is_finite(&back)) {
        return false;
    }
    *out = local;
    return true;
}

espl_pose espl__rebased(const espl_pose *parent, const float *stretch, const espl_pose *world,
                        const espl_pose *composed)
{
    espl_pose local = *composed;

    (void)espl__pose_relative(&local, parent, stretch, world, composed);
    const espl_pose back = espl__pose_compose(parent, stretch, &local);
    if (espl__pose_is_finite(&back)) {
        return local;
    }
    const espl_pose there = espl__pose_compose(parent, stretch, composed);
    return espl__pose_is_finite(&there) ? *composed : espl__pose_identity();
}
