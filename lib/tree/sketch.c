// SPDX-License-Identifier: MIT
// Nodes of a sketch, their memory, and their placements while links are edited.
#include "lib/tree/sketch.h"

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

enum { SLICES = 12 };

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
        {&sketch->watched, room->watched, sizeof(uint32_t)},
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
    sketch->risen = sketch->looked = 0;
    sketch->stretch = 0;
    sketch->is_watched = false;
    sketch->watched.count = sketch->watched_made = 0;
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
    espl__bag_drop(&sketch->watched, heap, sizeof(uint32_t));
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

espl_pose espl__sketch_local(const espl__sketch *sketch, uint32_t node)
{
    if (!espl__sketch_is_known(sketch, node)) {
        return sketch->forest->local[node];
    }
    const espl__node *const n = espl__sketch_at(sketch, node);

    return n->written != ESPL__NO_NODE ? espl__node_written(sketch, n)->local
                                       : sketch->forest->local[n->slot];
}

// As it stands in the sketch or the forest.
static espl__placement stored_placement(const espl__sketch *sketch, uint32_t node)
{
    if (!espl__sketch_is_known(sketch, node)) {
        return espl__slot_placement(sketch->forest, node);
    }
    const espl__node *const n = espl__sketch_at(sketch, node);

    return n->written != ESPL__NO_NODE ? *espl__node_written(sketch, n)
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

uint32_t espl__sketch_keep(espl__sketch *sketch, const espl__placement *placement)
{
    ESPL_CHECK(sketch->written.count < sketch->written.capacity);
    ((espl__placement *)sketch->written.items)[sketch->written.count] = *placement;
    return sketch->written.count++;
}

void espl__sketch_write(espl__sketch *sketch, uint32_t node, const espl__placement *placement)
{
    const espl__placement before = espl__sketch_placement(sketch, node);
    espl__node *const n = espl__sketch_at(sketch, node);

    if (sketch->is_watched) {
        sketch->before = before;
        sketch->rewritten = node;
    }
    if (memcmp(&before.extra, &placement->extra, sizeof before.extra) != 0) {
        n->flags |= ESPL__NODE_RESTRETCHED;
    }
    if (n->written == ESPL__NO_NODE) {
        n->written = espl__sketch_keep(sketch, placement);
    } else {
        espl__placement *const written = (espl__placement *)sketch->written.items + n->written;

        espl__sketch_widen(sketch, n, written); // what it was made with counts too
        *written = *placement;
    }
    espl__sketch_widen(sketch, n, placement);
    n->flags &= ~(unsigned)(ESPL__NODE_KEEPS | ESPL__NODE_COPIES);
    n->flags |= espl__node_flags_of(placement->kept.flags);
    espl__sketch_touch(sketch, node);
}

static bool passes(const espl__sketch *sketch, uint32_t node)
{
    return espl__sketch_is_known(sketch, node)
               ? (espl__sketch_at(sketch, node)->flags & ESPL__NODE_PASS) != 0
               : espl__slot_is(sketch->forest, node, ESPL__SLOT_PASS);
}

espl_pose espl__sketch_world_below(const espl__sketch *sketch, uint32_t node, const espl_pose *up)
{
    const bool is_pass = passes(sketch, node);
    const uint32_t above = espl__sketch_parent(sketch, node);

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
