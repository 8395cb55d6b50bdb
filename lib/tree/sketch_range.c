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

static void widen(espl__node *node, const espl__placement *placement)
{
    const uint16_t growth = shorten(growth_of(placement));
    const int16_t reach = exponent_of(reach_of(placement));

    node->growth = growth > node->growth ? growth : node->growth;
    node->reach = reach > node->reach ? reach : node->reach;
}

void espl__sketch_widen(espl__sketch *sketch, espl__node *node, const espl__placement *placement)
{
    widen(node, placement);
    sketch->stretch = larger(sketch->stretch, espl__growth_of_stretch(placement->extra.stretch));
}

// How far worlds can reach at any moment of the editing: they stay below 2^growth in scale and
// reach * 2^growth in position. What never had a child is at the end of each chain that it is in:
// one of these counts, the worst. All others may stand in one chain. A stretch moves children and
// goes no further, so that one of them counts as well.
typedef struct bound {
    double reach, last_reach;
    double growth, last_growth;
    double stretch; // growth by that
} bound;

static void add_bound(bound *b, bool is_parent, double growth, double reach)
{
    if (is_parent) {
        b->growth += growth;
        b->reach += reach;
    } else {
        b->last_growth = larger(b->last_growth, growth);
        b->last_reach = larger(b->last_reach, reach);
    }
}

// A node with a placement that it has now or had at first, beside those that it was given.
static void add_node(bound *b, const espl__node *node, bool is_parent, const espl__placement *other)
{
    espl__node widened = *node;

    widen(&widened, other);
    b->stretch = larger(b->stretch, espl__growth_of_stretch(other->extra.stretch));
    add_bound(b, is_parent || (node->flags & ESPL__NODE_PARENT) != 0, lengthen(widened.growth),
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
            b->stretch = larger(b->stretch, espl__growth_of_stretch(placement.extra.stretch));
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
                                              ? *espl__node_written(sketch, &made[i])
                                              : espl__slot_placement(sketch->forest, made[i].slot);

        add_node(b, &made[i], false, &placement);
    }
}

bool espl__sketch_is_tame(const espl__sketch *sketch, const uint32_t *loads, size_t count)
{
    bound b = {.stretch = sketch->stretch};

    for (size_t i = 0; i < count; ++i) {
        add_run(&b, sketch, &sketch->forest->runs[sketch->loads[loads[i]].run]);
    }
    add_made(&b, sketch);
    return espl__is_in_range(b.growth + b.last_growth + b.stretch, b.reach + b.last_reach);
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
    return is_finite;
}

void espl__sketch_take_back(espl__sketch *sketch)
{
    const espl__placement before = sketch->before;

    espl__sketch_write(sketch, sketch->rewritten, &before);
    espl__sketch_watch(sketch);
}
