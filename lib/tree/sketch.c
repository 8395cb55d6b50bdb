// SPDX-License-Identifier: MIT
#include "lib/tree/sketch.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { NONE_STAMP = 0 };

// --- Memory ---

size_t espl__sketch_size(size_t capacity)
{
    return capacity *
           (sizeof(espl__node) + sizeof(espl_pose) + 5 * sizeof(uint32_t) + sizeof(espl__laid));
}

void espl__sketch_use(espl__sketch *sketch, void *block, size_t capacity)
{
    unsigned char *at = block;

    sketch->nodes = (espl__node *)(void *)at;
    at += capacity * sizeof(espl__node);
    sketch->worlds = (espl_pose *)(void *)at;
    at += capacity * sizeof(espl_pose);
    sketch->laid = (espl__laid *)(void *)at;
    at += capacity * sizeof(espl__laid);
    sketch->order = (uint32_t *)(void *)at;
    sketch->parent = sketch->order + capacity;
    sketch->first = sketch->parent + capacity;
    sketch->path = sketch->first + capacity;
    sketch->noted = sketch->path + capacity;
    sketch->capacity = capacity;
}

void espl__sketch_clear(espl__sketch *sketch)
{
    sketch->count = sketch->written_count = sketch->laid_count = 0;
    sketch->noted_count = sketch->changed_count = 0;
    sketch->stamp = NONE_STAMP + 1;
    sketch->reach = 0;
    sketch->growth = 0;
    sketch->may_hide = sketch->is_touched = sketch->is_restructured = false;
}

void espl__sketch_drop(espl__sketch *sketch)
{
    espl__heap_give(sketch->heap, ESPL__FOR_COMMANDS, sketch->own_block, 1,
                    espl__sketch_size(sketch->capacity), 64);
    espl__heap_give(sketch->heap, ESPL__FOR_COMMANDS, sketch->own_written, sketch->written_capacity,
                    sizeof(espl__placement), 64);
    sketch->own_block = sketch->own_written = NULL;
    sketch->capacity = sketch->written_capacity = 0;
}

bool espl__sketch_reserve_nodes(espl__sketch *sketch, size_t more)
{
    const size_t wanted = sketch->count + more;

    if (wanted <= sketch->capacity) {
        return true;
    }
    if (wanted >= UINT32_MAX / 4) {
        return false;
    }
    const size_t capacity = wanted + wanted / 2;
    void *const block =
        espl__heap_take(sketch->heap, ESPL__FOR_COMMANDS, 1, espl__sketch_size(capacity), 64);
    if (block == NULL) {
        return false;
    }

    espl__sketch next = *sketch;
    espl__sketch_use(&next, block, capacity);
    if (sketch->count != 0) {
        memcpy(next.nodes, sketch->nodes, sketch->count * sizeof *next.nodes);
        memcpy(next.worlds, sketch->worlds, sketch->count * sizeof *next.worlds);
        memcpy(next.noted, sketch->noted, sketch->noted_count * sizeof *next.noted);
    }
    espl__heap_give(sketch->heap, ESPL__FOR_COMMANDS, sketch->own_block, 1,
                    espl__sketch_size(sketch->capacity), 64);
    next.own_block = block;
    *sketch = next;
    return true;
}

bool espl__sketch_reserve_written(espl__sketch *sketch, size_t more)
{
    const size_t wanted = sketch->written_count + more;

    if (wanted <= sketch->written_capacity) {
        return true;
    }
    const size_t capacity = wanted + wanted / 2;
    espl__placement *const written =
        espl__heap_take(sketch->heap, ESPL__FOR_COMMANDS, capacity, sizeof *written, 64);
    if (written == NULL) {
        return false;
    }

    if (sketch->written_count != 0) {
        memcpy(written, sketch->written, sketch->written_count * sizeof *written);
    }
    espl__heap_give(sketch->heap, ESPL__FOR_COMMANDS, sketch->own_written, sketch->written_capacity,
                    sizeof *written, 64);
    sketch->written = sketch->own_written = written;
    sketch->written_capacity = capacity;
    return true;
}

// --- Loading ---

uint32_t espl__sketch_add(espl__sketch *sketch, const espl__node *node)
{
    ESPL_CHECK(sketch->count < sketch->capacity);
    sketch->nodes[sketch->count] = *node;
    return (uint32_t)sketch->count++;
}

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
           espl__node_flags_of(espl__slot_kept(forest, slot).flags);
}

uint32_t espl__sketch_load(espl__sketch *sketch, uint32_t run)
{
    const espl__forest *const forest = sketch->forest;
    const espl__run *const header = &forest->runs[run];
    const uint32_t *const order = forest->order + header->base;
    const uint32_t *const parent = forest->parent + header->base;
    const uint32_t *const first = forest->first + header->base;
    const uint32_t size = header->size;
    const uint32_t base = (uint32_t)sketch->count;

    ESPL_CHECK(size <= sketch->capacity - sketch->count);
    for (uint32_t rank = 0; rank < size; ++rank) {
        const uint32_t slot = order[rank];
        const uint32_t begin = first[rank];
        const uint32_t end = rank + 1 < size ? first[rank + 1] : size;
        const bool has_next = rank != 0 && rank + 1 < size && parent[rank + 1] == parent[rank];
        const bool has_previous = rank > 1 && parent[rank - 1] == parent[rank];

        sketch->nodes[base + rank] =
            (espl__node){.parent = rank == 0 ? ESPL__NO_NODE : base + parent[rank],
                         .first = begin < end ? base + begin : ESPL__NO_NODE,
                         .last = begin < end ? base + end - 1 : ESPL__NO_NODE,
                         .next = has_next ? base + rank + 1 : ESPL__NO_NODE,
                         .previous = has_previous ? base + rank - 1 : ESPL__NO_NODE,
                         .slot = slot,
                         .entity = forest->entity[slot],
                         .written = ESPL__NO_NODE,
                         .values = ESPL__NO_NODE,
                         .flags = node_flags(forest, slot)};
    }
    sketch->count += size;

    for (uint32_t rank = 0; header->ghosts != 0 && rank < size; ++rank) {
        if ((sketch->nodes[base + rank].flags & ESPL__NODE_GHOST) != 0) {
            espl__sketch_splice(sketch, base + rank);
        }
    }
    return base;
}

// --- Links ---

void espl__sketch_unlink(espl__sketch *sketch, uint32_t node)
{
    espl__node *const nodes = sketch->nodes;
    espl__node *const n = &nodes[node];

    if (n->parent == ESPL__NO_NODE) {
        return;
    }
    if (n->previous != ESPL__NO_NODE) {
        nodes[n->previous].next = n->next;
    } else {
        nodes[n->parent].first = n->next;
    }
    if (n->next != ESPL__NO_NODE) {
        nodes[n->next].previous = n->previous;
    } else {
        nodes[n->parent].last = n->previous;
    }
    n->parent = n->next = n->previous = ESPL__NO_NODE;
    sketch->is_restructured = true;
}

void espl__sketch_link(espl__sketch *sketch, uint32_t node, uint32_t parent, uint32_t before)
{
    espl__node *const nodes = sketch->nodes;
    espl__node *const n = &nodes[node];
    espl__node *const p = &nodes[parent];

    ESPL_CHECK(n->parent == ESPL__NO_NODE);
    ESPL_CHECK(before == ESPL__NO_NODE || nodes[before].parent == parent);
    n->parent = parent;
    n->next = before;
    n->previous = before == ESPL__NO_NODE ? p->last : nodes[before].previous;
    if (n->previous != ESPL__NO_NODE) {
        nodes[n->previous].next = node;
    } else {
        p->first = node;
    }
    if (before != ESPL__NO_NODE) {
        nodes[before].previous = node;
    } else {
        p->last = node;
    }
    sketch->is_restructured = true;
}

// Make all children of a node roots.
static void scatter_children(espl__sketch *sketch, uint32_t node)
{
    espl__node *const nodes = sketch->nodes;
    uint32_t child = nodes[node].first;

    while (child != ESPL__NO_NODE) {
        espl__node *const c = &nodes[child];

        // A ghost has no row; it is spliced out in its turn.
        if ((c->flags & ESPL__NODE_GHOST) == 0) {
            espl__sketch_note(sketch, child, ESPL__NODE_MOVED);
        }
        child = c->next;
        c->parent = c->next = c->previous = ESPL__NO_NODE;
        c->flags &= ~(unsigned)ESPL__NODE_FREE_LINK;
    }
    nodes[node].first = nodes[node].last = ESPL__NO_NODE;
}

void espl__sketch_splice(espl__sketch *sketch, uint32_t node)
{
    espl__node *const nodes = sketch->nodes;
    espl__node *const n = &nodes[node];
    const uint32_t parent = n->parent;

    sketch->is_restructured = true;
    if (parent == ESPL__NO_NODE) {
        scatter_children(sketch, node);
        return;
    }
    if (n->first == ESPL__NO_NODE) {
        espl__sketch_unlink(sketch, node);
        return;
    }

    // The list of children stands where the node stood.
    for (uint32_t child = n->first; child != ESPL__NO_NODE; child = nodes[child].next) {
        nodes[child].parent = parent;
    }
    nodes[n->first].previous = n->previous;
    nodes[n->last].next = n->next;
    if (n->previous != ESPL__NO_NODE) {
        nodes[n->previous].next = n->first;
    } else {
        nodes[parent].first = n->first;
    }
    if (n->next != ESPL__NO_NODE) {
        nodes[n->next].previous = n->last;
    } else {
        nodes[parent].last = n->last;
    }
    n->parent = n->first = n->last = n->next = n->previous = ESPL__NO_NODE;
}

bool espl__sketch_is_below(const espl__sketch *sketch, uint32_t node, uint32_t above)
{
    while (node != ESPL__NO_NODE && node != above) {
        node = sketch->nodes[node].parent;
    }
    return node == above;
}

uint32_t espl__sketch_next(const espl__sketch *sketch, uint32_t node, uint32_t top, bool descend)
{
    const espl__node *const nodes = sketch->nodes;

    if (descend && nodes[node].first != ESPL__NO_NODE) {
        return nodes[node].first;
    }
    while (node != top) {
        if (nodes[node].next != ESPL__NO_NODE) {
            return nodes[node].next;
        }
        node = nodes[node].parent;
    }
    return ESPL__NO_NODE;
}

void espl__sketch_note(espl__sketch *sketch, uint32_t node, uint32_t flag)
{
    espl__node *const n = &sketch->nodes[node];

    if ((n->flags & ESPL__NODE_NOTED) == 0) {
        sketch->noted[sketch->noted_count++] = node;
    }
    n->flags |= flag | ESPL__NODE_NOTED;
    sketch->may_hide = sketch->may_hide || (n->flags & ESPL__NODE_CLONE) != 0;
}

// --- Transforms ---

espl_pose espl__sketch_local(const espl__sketch *sketch, uint32_t node)
{
    const espl__node *const n = &sketch->nodes[node];

    return n->written != ESPL__NO_NODE ? sketch->written[n->written].local
                                       : sketch->forest->local[n->slot];
}

// As it stands in the sketch or the forest.
static espl__placement stored_placement(const espl__sketch *sketch, uint32_t node)
{
    const espl__node *const n = &sketch->nodes[node];

    return n->written != ESPL__NO_NODE ? sketch->written[n->written]
                                       : espl__slot_placement(sketch->forest, n->slot);
}

espl__placement espl__sketch_placement(const espl__sketch *sketch, uint32_t node)
{
    espl__placement placement = stored_placement(sketch, node);

    if ((sketch->nodes[node].flags & ESPL__NODE_COPIES) != 0) {
        placement.extra = espl__sketch_extra(sketch, node);
    }
    return placement;
}

espl__extra espl__sketch_extra(const espl__sketch *sketch, uint32_t node)
{
    while (node != ESPL__NO_NODE && espl__sketch_copies(sketch, node)) {
        node = sketch->nodes[node].parent;
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

bool espl__sketch_is_tame(const espl__sketch *sketch)
{
    double reach = sketch->reach;
    uint64_t growth = sketch->growth;
    int exponent = 0;

    for (uint32_t node = 0; node < sketch->count; ++node) {
        const uint32_t slot = sketch->nodes[node].slot;
        const espl_pose *const local = &sketch->forest->local[slot];

        if (espl__slot_is(sketch->forest, slot, ESPL__SLOT_SIDE)) {
            const espl__placement placement = espl__slot_placement(sketch->forest, slot);

            reach += reach_of(&placement);
            growth += growth_of(&placement);
        } else {
            reach += length_of(local->position);
            growth += growth_by(local->scale);
        }
    }
    (void)frexp(reach, &exponent);
    // Eight powers to spare, for rotations off unit length and for rounding.
    return growth < 110 && (int)growth + exponent + 8 < FLT_MAX_EXP;
}

void espl__sketch_write(espl__sketch *sketch, uint32_t node, const espl__placement *placement)
{
    espl__node *const n = &sketch->nodes[node];
    const espl__extra before = espl__sketch_placement(sketch, node).extra;

    if (memcmp(&before, &placement->extra, sizeof before) != 0) {
        n->flags |= ESPL__NODE_RESTRETCHED;
    }
    if (n->written == ESPL__NO_NODE) {
        ESPL_CHECK(sketch->written_count < sketch->written_capacity);
        n->written = (uint32_t)sketch->written_count++;
    }
    sketch->written[n->written] = *placement;
    n->flags &= ~(unsigned)(ESPL__NODE_KEEPS | ESPL__NODE_COPIES);
    n->flags |= espl__node_flags_of(placement->kept.flags);
    sketch->growth += growth_of(placement);
    sketch->reach += reach_of(placement);
    espl__sketch_touch(sketch, node);
}

void espl__sketch_touch(espl__sketch *sketch, uint32_t node)
{
    espl__node *const n = &sketch->nodes[node];

    n->flags |= ESPL__NODE_DIRTY;
    n->stamp = NONE_STAMP;
    sketch->is_touched = true;
    sketch->may_hide =
        sketch->may_hide || n->first != ESPL__NO_NODE || (n->flags & ESPL__NODE_CLONE) != 0;
    if (n->first != ESPL__NO_NODE) {
        sketch->stamp += 1; // what hangs below is known no longer
    }
}

// World that follows for a node from its parent's.
static espl_pose world_below(const espl__sketch *sketch, uint32_t node, const espl_pose *up)
{
    const espl__node *const n = &sketch->nodes[node];
    const bool is_pass = (n->flags & ESPL__NODE_PASS) != 0;

    if (n->parent == ESPL__NO_NODE) {
        return is_pass ? espl__pose_identity() : espl__sketch_local(sketch, node);
    }
    if (is_pass) {
        return *up;
    }
    const espl__frame parent = {*up, espl__sketch_extra(sketch, n->parent)};
    const espl__placement placement = stored_placement(sketch, node);

    return espl__placement_world(&placement, &parent);
}

espl_pose espl__sketch_world(espl__sketch *sketch, uint32_t node)
{
    espl__node *const nodes = sketch->nodes;
    const bool is_clone = (nodes[node].flags & ESPL__NODE_CLONE) != 0;
    uint32_t at = node;
    size_t count = 0;
    bool is_dirty = false;

    if (!sketch->is_touched && !is_clone) {
        return sketch->forest->world[nodes[node].slot];
    }

    // Up to the nearest known world, then down again.
    while (at != ESPL__NO_NODE && nodes[at].stamp != sketch->stamp) {
        is_dirty = is_dirty || (nodes[at].flags & (ESPL__NODE_DIRTY | ESPL__NODE_CLONE)) != 0;
        sketch->path[count++] = at;
        at = nodes[at].parent;
    }
    is_dirty = is_dirty || at != ESPL__NO_NODE;
    while (count > 0) {
        const uint32_t next = sketch->path[--count];
        const uint32_t parent = nodes[next].parent;
        const espl_pose *const up = parent == ESPL__NO_NODE ? NULL : &sketch->worlds[parent];

        sketch->worlds[next] =
            is_dirty ? world_below(sketch, next, up) : sketch->forest->world[nodes[next].slot];
        nodes[next].stamp = sketch->stamp;
    }
    return sketch->worlds[node];
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
    if (!espl__pose_is_finite(&local) || !espl__pose_is_finite(&back)) {
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
    if (espl__pose_is_finite(&local) && espl__pose_is_finite(&back)) {
        return local;
    }
    const espl_pose there = espl__pose_compose(parent, stretch, composed);
    return espl__pose_is_finite(composed) && espl__pose_is_finite(&there) ? *composed
                                                                          : espl__pose_identity();
}

// --- Layout ---

// Final world of a node that is laid out already.
static const espl_pose *laid_world(const espl__sketch *sketch, uint32_t node)
{
    const espl__node *const n = &sketch->nodes[node];

    return (n->flags & ESPL__NODE_CHANGED) != 0 ? &sketch->worlds[node]
                                                : &sketch->forest->world[n->slot];
}

// Compute one node's world when it may differ; its parent's is final. false: not finite.
static bool settle_world(espl__sketch *sketch, uint32_t node)
{
    espl__node *const nodes = sketch->nodes;
    espl__node *const n = &nodes[node];
    const bool has_parent = n->parent != ESPL__NO_NODE;
    const bool is_clone = (n->flags & ESPL__NODE_CLONE) != 0;
    const bool is_below_change = has_parent && (nodes[n->parent].flags & ESPL__NODE_CHANGED) != 0;

    n->flags &= ~(unsigned)ESPL__NODE_CHANGED;
    if (!is_clone && !is_below_change && (n->flags & ESPL__NODE_DIRTY) == 0) {
        return true;
    }
    const espl_pose world =
        world_below(sketch, node, has_parent ? laid_world(sketch, n->parent) : NULL);
    // A stretch moves what hangs below even where the node's own pose stays.
    const bool is_passed_on = (n->flags & (ESPL__NODE_RESTRETCHED | ESPL__NODE_MOVED)) != 0 ||
                              espl__sketch_copies(sketch, node);
    if (is_clone || is_passed_on || !espl__pose_is_same(&world, &sketch->forest->world[n->slot])) {
        n->flags |= ESPL__NODE_CHANGED;
        sketch->worlds[node] = world;
        sketch->changed_count += 1;
    }
    return espl__pose_is_finite(&world);
}

// The nodes that stay where they are when a root goes on in its run.
static void find_residents(const espl__sketch *sketch, uint32_t root, espl__laid *laid)
{
    const espl__node *const n = &sketch->nodes[root];
    const espl__forest *const forest = sketch->forest;
    const bool goes_on = (n->flags & ESPL__NODE_CLONE) == 0 && forest->rank[n->slot] == 0;

    laid->resident_begin = root;
    laid->resident_end = root + (goes_on ? espl__run_of(forest, n->slot)->size : 0);
}

// Lay one hierarchy out; its nodes serve as their own queue. false: some world is not finite.
static bool lay_hierarchy(espl__sketch *sketch, uint32_t root, espl__laid *laid)
{
    const espl__node *const nodes = sketch->nodes;
    const size_t begin = laid->begin;
    size_t behind = begin;
    bool is_finite = true;

    find_residents(sketch, root, laid);
    sketch->order[behind] = root;
    sketch->parent[behind++] = ESPL__NO_SLOT;
    for (size_t at = begin; at < behind; ++at) {
        const uint32_t node = sketch->order[at];

        is_finite = settle_world(sketch, node) && is_finite;
        laid->entrants += node < laid->resident_begin || node >= laid->resident_end;
        sketch->first[at] = (uint32_t)(behind - begin);
        for (uint32_t child = nodes[node].first; child != ESPL__NO_NODE;
             child = nodes[child].next) {
            sketch->order[behind] = child;
            sketch->parent[behind++] = (uint32_t)(at - begin);
        }
    }
    laid->size = (uint32_t)(behind - begin);
    return is_finite;
}

bool espl__sketch_lay_out(espl__sketch *sketch)
{
    uint32_t position = 0;
    bool is_finite = true;

    sketch->laid_count = sketch->changed_count = 0;
    for (uint32_t node = 0; node < sketch->count; ++node) {
        const espl__node *const n = &sketch->nodes[node];
        espl__laid *const laid = &sketch->laid[sketch->laid_count];

        if (n->parent != ESPL__NO_NODE || (n->flags & ESPL__NODE_DEAD) != 0) {
            continue;
        }
        *laid = (espl__laid){.begin = position};
        is_finite = lay_hierarchy(sketch, node, laid) && is_finite;
        position += laid->size;
        sketch->laid_count += 1;
    }
    return is_finite;
}
