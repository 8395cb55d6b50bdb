// SPDX-License-Identifier: MIT
// Whether some world of a sketch left the range of floats between the edits, though none does in the
// end: a bound over all placements tells it at once where worlds stay far from it; else they are
// looked at behind each edit, as a call at once would.
#include "lib/math/range.h"
#include "lib/tree/sketch.h"

#include <string.h>

// --- The bound ---

// A kept scale stands in the place of a product that may be smaller.
static double growth_of(const espl__placement *placement)
{
    return espl__growth_by(placement->local.scale) + espl__growth_by(placement->kept.pose.scale);
}

static double reach_of(const espl__placement *placement)
{
    return espl__reach_of(placement->local.position) +
           espl__reach_of(placement->kept.pose.position);
}

// The upper half of a float that is no less: a node has no room for more.
static uint16_t shorten(double growth)
{
    const float rounded = (float)growth;
    uint32_t bits = 0;

    memcpy(&bits, &rounded, sizeof bits);
    // What the float lacks of the double is less than what the half has more.
    return (uint16_t)((bits + UINT16_MAX + ((double)rounded < growth ? 1u : 0u)) >> 16);
}

static double lengthen(uint16_t growth)
{
    const uint32_t bits = (uint32_t)growth << 16;
    float value = 0;

    memcpy(&value, &bits, sizeof value);
    return (double)value;
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

static double larger(double a, double b)
{
    return a > b ? a : b;
}

void espl__sketch_widen(espl__sketch *sketch, espl__node *node, const espl__placement *placement)
{
    const uint16_t growth = shorten(growth_of(placement));
    const int16_t reach = exponent_of(reach_of(placement));

    node->growth = growth > node->growth ? growth : node->growth;
    node->reach = reach > node->reach ? reach : node->reach;
    sketch->stretch = larger(sketch->stretch, espl__growth_of_stretch(placement->extra.stretch));
}

// How far worlds can reach: they stay below 2^growth in scale and reach * 2^growth in position.
typedef struct span {
    double growth, reach;
} span;

// At any moment of the editing. What never had a child is at the end of each chain that it is in: one
// of these counts, the worst. Of all others, either all may stand in one chain; or, where a chain goes
// through nodes of a run that hang together as they do there, those count that are worst on each level.
// It does so once, and once more for each parent that came to hang elsewhere. A stretch moves children
// and goes no further, so that one of them counts as well.
typedef struct bound {
    span all, levels, last;
    double stretch; // growth by that
} bound;

static span sum_of(span a, span b, uint32_t times)
{
    return (span){a.growth + times * b.growth, a.reach + times * b.reach};
}

static span worst_of(span a, span b)
{
    return (span){larger(a.growth, b.growth), larger(a.reach, b.reach)};
}

// Of a placement that a node has now or had at first, and of those that it was given; NULL: of none.
static span span_of(const espl__node *node, const espl__placement *placement)
{
    span out = {growth_of(placement), reach_of(placement)};

    if (node != NULL) {
        out = worst_of(out, (span){lengthen(node->growth), ldexp(1, node->reach)});
    }
    return out;
}

static const espl__node *known_at(const espl__sketch *sketch, uint32_t slot)
{
    return espl__sketch_is_known(sketch, slot) ? espl__sketch_at(sketch, slot) : NULL;
}

static bool has(const espl__node *node, unsigned flag)
{
    return node != NULL && (node->flags & flag) != 0;
}

// One level of a run. @return what is worst of its parents; *moved counts those that hang elsewhere.
static span add_level(bound *b, const espl__sketch *sketch, const espl__run *run, uint32_t begin,
                      uint32_t end, uint32_t *moved)
{
    const espl__forest *const forest = sketch->forest;
    span worst = {0, 0};

    for (uint32_t rank = begin; rank < end; ++rank) {
        const uint32_t slot = forest->order[run->base + rank];
        const espl__placement placement = espl__slot_placement(forest, slot);
        const espl__node *const node = known_at(sketch, slot);
        const span own = span_of(node, &placement);

        b->stretch = larger(b->stretch, espl__growth_of_stretch(placement.extra.stretch));
        if (espl__first_child(forest, run, rank) == espl__first_child(forest, run, rank + 1) &&
            !has(node, ESPL__NODE_PARENT)) {
            b->last = worst_of(b->last, own);
            continue;
        }
        b->all = sum_of(b->all, own, 1);
        worst = worst_of(worst, own);
        *moved += rank != 0 && has(node, ESPL__NODE_MOVED) ? 1 : 0;
    }
    return worst;
}

static void add_run(bound *b, const espl__sketch *sketch, const espl__run *run)
{
    uint32_t begin = 0, end = 1, moved = 0;
    span levels = {0, 0};

    while (begin < end) {
        levels = sum_of(levels, add_level(b, sketch, run, begin, end, &moved), 1);
        const uint32_t next = espl__first_child(sketch->forest, run, end);

        begin = end;
        end = next;
    }
    b->levels = sum_of(b->levels, levels, 1 + moved);
}

static void add_made(bound *b, const espl__sketch *sketch)
{
    const espl__node *const made = sketch->made.items;

    for (uint32_t i = 0; i < sketch->made.count; ++i) {
        // What is made has a placement of its own, or that of the slot that it is a clone of.
        ESPL_CHECK(made[i].written != ESPL__NO_NODE || made[i].slot != ESPL__NO_SLOT);
        const espl__placement placement = made[i].written != ESPL__NO_NODE
                                              ? *espl__node_written(sketch, &made[i])
                                              : espl__slot_placement(sketch->forest, made[i].slot);
        const span own = span_of(&made[i], &placement);

        b->stretch = larger(b->stretch, espl__growth_of_stretch(placement.extra.stretch));
        if (!has(&made[i], ESPL__NODE_PARENT)) {
            b->last = worst_of(b->last, own);
            continue;
        }
        b->all = sum_of(b->all, own, 1);
        b->levels = sum_of(b->levels, own, 1);
    }
}

static bool is_in_range(const bound *b, span parents)
{
    const span whole = sum_of(parents, b->last, 1);

    return espl__is_in_range(whole.growth + b->stretch, whole.reach);
}

bool espl__sketch_is_tame(const espl__sketch *sketch, const uint32_t *loads, size_t count)
{
    bound b = {.stretch = sketch->stretch};

    for (size_t i = 0; i < count; ++i) {
        add_run(&b, sketch, &sketch->forest->runs[sketch->loads[loads[i]].run]);
    }
    add_made(&b, sketch);
    return is_in_range(&b, b.all) || is_in_range(&b, b.levels);
}

// --- Edit by edit ---

void espl__sketch_watch(espl__sketch *sketch)
{
    sketch->is_watched = true;
    sketch->watched_made = sketch->made.count;
    sketch->watched.count = 0;
}

void espl__sketch_watch_node(espl__sketch *sketch, uint32_t node)
{
    espl__bag *const bag = &sketch->watched;

    if (!espl__bag_reserve(bag, sketch->heap, sizeof node, 1)) {
        sketch->is_failed = true;
        return;
    }
    ((uint32_t *)bag->items)[bag->count++] = node;
}

// The way from a node down to the one at hand: nodes in the list of walks, which is free between
// edits, and worlds in that of the layout, which is yet to come.
static void shorten_way(espl__sketch *sketch, uint32_t parent)
{
    const uint32_t *const way = sketch->list.items;

    while (way[sketch->list.count - 1] != parent) {
        sketch->list.count -= 1;
    }
    sketch->worlds.count = sketch->list.count;
}

static void lengthen_way(espl__sketch *sketch, uint32_t node, const espl_pose *world)
{
    espl__sketch_list(sketch, node);
    if (!espl__bag_reserve(&sketch->worlds, sketch->heap, sizeof *world, 1)) {
        sketch->is_failed = true;
        return;
    }
    ((espl_pose *)sketch->worlds.items)[sketch->worlds.count++] = *world;
}

// A node and all below it, none of which is asked for: they would take as much memory as each edit
// has below it.
static bool is_finite_below(espl__sketch *sketch, uint32_t top)
{
    espl_pose world = espl__sketch_world(sketch, top);
    uint32_t node = top;

    sketch->list.count = sketch->worlds.count = 0;
    while (node != ESPL__NO_NODE && espl__pose_is_finite(&world) && !sketch->is_failed) {
        sketch->looked += 1;
        lengthen_way(sketch, node, &world);
        node = espl__sketch_look_below(sketch, node, top);
        if (node != ESPL__NO_NODE && !sketch->is_failed) {
            shorten_way(sketch, espl__sketch_parent(sketch, node));
            world = espl__sketch_world_below(
                sketch, node, (const espl_pose *)sketch->worlds.items + sketch->worlds.count - 1);
        }
    }
    sketch->list.count = sketch->worlds.count = 0;
    return node == ESPL__NO_NODE;
}

// Tell whether the edit made a node, or has taken it away.
static bool is_of_edit(const espl__sketch *sketch, uint32_t node)
{
    return (espl__sketch_is_made(node) && (node & ~ESPL__MADE) >= sketch->watched_made) ||
           (espl__sketch_at(sketch, node)->flags & ESPL__NODE_DEAD) != 0;
}

bool espl__sketch_stayed_finite(espl__sketch *sketch)
{
    bool is_finite = true;

    for (uint32_t i = 0; i < sketch->watched.count && is_finite && !sketch->is_failed; ++i) {
        const uint32_t node = ((const uint32_t *)sketch->watched.items)[i];
        const uint32_t last =
            i == 0 ? ESPL__NO_NODE : ((const uint32_t *)sketch->watched.items)[i - 1];

        is_finite = node == last || is_of_edit(sketch, node) || is_finite_below(sketch, node);
    }
    for (uint32_t i = sketch->watched_made; i < sketch->made.count && is_finite; ++i) {
        const espl_pose world = espl__sketch_world(sketch, ESPL__MADE | i);

        sketch->looked += 1;
        is_finite = espl__pose_is_finite(&world);
    }
    espl__sketch_watch(sketch);
    return is_finite || sketch->is_failed;
}

void espl__sketch_take_back(espl__sketch *sketch)
{
    const espl__placement before = sketch->before;

    espl__sketch_write(sketch, sketch->rewritten, &before);
    espl__sketch_watch(sketch);
}
