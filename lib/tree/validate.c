// SPDX-License-Identifier: MIT
// Validation of a forest between structural calls: ranges, links, flags and counts, and each world,
// recomputed from the locals and compared bit for bit. Tests, checks=full and espl_validate() call
// it.
//
// Each function named *_rule returns NULL where its invariants hold, else the first one that does
// not, as a sentence that is true of a valid forest. Tests compare these sentences, and users read
// them. Walks are bounded by the counts of the header, so that broken links neither crash nor hang
// the validation. The functions run in the order in which each may rely on those before it.
#include "lib/tree/motion.h"
#include "lib/tree/plain_tree.h"
#include "lib/tree/present.h"
#include "lib/tree/propagate.h"

#include <string.h>

// The slot, and the tree or count, that the report names.
typedef struct location {
    uint32_t slot;
    size_t detail;
} location;

// Return the end of the used slots of a tree.
static uint32_t end_of(const espl__tree *tree)
{
    return tree->base + tree->used;
}

// Tell whether a used slot is a node, not a hole.
static bool is_node(const espl__forest *forest, uint32_t slot)
{
    return forest->links[slot].entity != ESPL__NO_ENTITY;
}

// Tell whether a number is the slot of a node of a tree.
static bool is_node_of(const espl__forest *forest, const espl__tree *tree, uint32_t slot)
{
    return slot >= tree->base && slot < end_of(tree) && is_node(forest, slot);
}

// --- Slots of a range ---

// Check the counts of a header and the tree numbers of its slots.
static const char *range_rule(const espl__forest *forest, uint32_t number, location *at)
{
    const espl__tree *const tree = &forest->trees[number];
    uint32_t live = 0;

    if (tree->live == 0 || tree->live > tree->used || tree->used > tree->capacity) {
        return "a range has room for the nodes of its tree";
    }
    for (uint32_t slot = tree->base; slot < tree->base + tree->capacity; ++slot) {
        at->slot = slot;
        if (forest->tree[slot] != number) {
            return "slots know their tree";
        }
        live += slot < end_of(tree) && is_node(forest, slot) ? 1 : 0;
    }
    return live == tree->live ? NULL : "the nodes of a tree are counted";
}

// Tell whether side arrays have nothing of a slot without a node: what is made there finds the default.
static bool is_side_empty(espl__side *side, uint32_t at)
{
    const espl__extra none = espl__extra_default();
    const espl__kept unkept = espl__kept_none();

    return side == NULL || (memcmp(&side->extra[at], &none, sizeof none) == 0 &&
                            (side->has_kept == 0 ||
                             memcmp(&espl__side_kept(side)[at], &unkept, sizeof unkept) == 0));
}

// Check the list of holes: it visits as many holes as the range has, and none twice, because it
// ends then.
static const char *holes_rule(const espl__forest *forest, const espl__tree *tree, location *at)
{
    espl__side *const side = espl__side_of(forest, tree);
    uint32_t holes = 0;

    for (uint32_t slot = tree->hole; slot != ESPL__NO_SLOT; slot = forest->links[slot].next) {
        at->slot = slot;
        if (slot < tree->base || slot >= end_of(tree) || is_node(forest, slot) ||
            holes == tree->used - tree->live) {
            return "the holes of a tree are in one chain";
        }
        holes += 1;
        if ((forest->flags[slot] & ~(unsigned)ESPL__SLOT_SIDE) != 0 ||
            forest->parent[slot] != tree->base) {
            return "a hole has no flags, and names the base of its range as its parent";
        }
        if (!is_side_empty(side, slot - tree->base)) {
            return "a hole has nothing in the side arrays";
        }
    }
    for (uint32_t i = tree->used; side != NULL && i < tree->capacity; ++i) {
        at->slot = tree->base + i;
        if (!is_side_empty(side, i)) {
            return "an unused slot has nothing in the side arrays";
        }
    }
    return holes == tree->used - tree->live ? NULL : "the holes of a tree are in one chain";
}

// --- Links ---

// Check the parent of one node.
static const char *parent_rule(const espl__forest *forest, const espl__tree *tree, uint32_t slot)
{
    const uint32_t parent = forest->parent[slot];
    const espl__links *const links = &forest->links[slot];

    if (parent == ESPL__NO_SLOT) {
        return links->next == ESPL__NO_SLOT && links->previous == ESPL__NO_SLOT &&
                       !espl__slot_is(forest, slot, ESPL__SLOT_FREE_LINK)
                   ? NULL
                   : "a root has neither siblings nor a link";
    }
    if (!is_node_of(forest, tree, parent)) {
        return "a parent is a node of the same tree";
    }
    return parent < slot ? NULL : "the slot of a parent is below those of its children";
}

// Check the list of children of one node. @param met  in and out: number of children of all nodes
// so far.
static const char *children_rule(const espl__forest *forest, const espl__tree *tree, uint32_t slot,
                                 uint32_t *met)
{
    const uint32_t first = forest->links[slot].first_child;
    uint32_t last = ESPL__NO_SLOT;

    for (uint32_t child = first; child != ESPL__NO_SLOT; child = forest->links[child].next) {
        if (!is_node_of(forest, tree, child) || forest->parent[child] != slot ||
            *met == tree->live) {
            return "children name their parent";
        }
        if (child != first && forest->links[child].previous != last) {
            return "siblings name each other";
        }
        last = child;
        *met += 1;
    }
    return first == ESPL__NO_SLOT || forest->links[first].previous == last
               ? NULL
               : "a first child names the last one";
}

// Check the links of all nodes, and the count of roots.
static const char *links_rule(const espl__forest *forest, const espl__tree *tree, location *at)
{
    uint32_t children = 0, roots = 0;

    for (uint32_t slot = tree->base; slot < end_of(tree); ++slot) {
        if (!is_node(forest, slot)) {
            continue;
        }
        at->slot = slot;
        const char *rule = parent_rule(forest, tree, slot);

        rule = rule != NULL ? rule : children_rule(forest, tree, slot, &children);
        if (rule != NULL) {
            return rule;
        }
        roots += espl__is_root(forest, slot) ? 1 : 0;
    }
    at->detail = roots;
    if (roots != tree->roots) {
        return "the roots of a tree are counted";
    }
    // Lists visit each child at most once, because a child has one parent and one previous sibling.
    return children + roots == tree->live ? NULL
                                          : "each node is a root or among the children of one";
}

// Check ESPL__TREE_IN_ORDER: siblings are neighbours, and the first child of a node follows the
// last child of the nearest earlier node with children.
static const char *order_rule(const espl__forest *forest, const espl__tree *tree, location *at)
{
    if (!espl__tree_is_single(forest, tree)) {
        return (tree->flags & (ESPL__TREE_UNSETTLED | ESPL__TREE_IN_ORDER)) == ESPL__TREE_UNSETTLED
                   ? NULL
                   : "a tree has one root, at its base, or is unsettled and not in order";
    }
    if ((tree->flags & ESPL__TREE_IN_ORDER) == 0) {
        return NULL;
    }
    if (tree->used != tree->live) {
        return "a tree that is in order has no holes";
    }
    for (uint32_t slot = tree->base + 1; slot < end_of(tree); ++slot) {
        const uint32_t parent = forest->parent[slot];
        const bool is_first = forest->links[parent].first_child == slot;

        at->slot = slot;
        if (is_first ? slot != tree->base + 1 && parent <= forest->parent[slot - 1]
                     : forest->links[slot].previous != slot - 1) {
            return "a tree that says so is in breadth-first order";
        }
    }
    return NULL;
}

// --- Flags and side arrays ---

// Check the flags of one node.
static const char *flags_rule(const espl__forest *forest, const espl__tree *tree, uint32_t slot)
{
    const unsigned flags = forest->flags[slot];

    if (((flags & ESPL__SLOT_SIDE) != 0) != (tree->side != 0)) {
        return "slots know whether their tree has side arrays";
    }
    if ((flags & (ESPL__SLOT_MOVED | ESPL__SLOT_MARK | ESPL__SLOT_STALE)) != 0 ||
        (forest->links[slot].entity & ESPL__MADE) != 0) {
        return "no edit left anything behind";
    }
    return ((flags & ESPL__SLOT_EXCEPTIONAL) != 0) == espl__slot_is_exceptional(forest, slot)
               ? NULL
               : "slots know whether their worlds are exceptional";
}

// Check that a node has inherit flags where ESPL__SLOT_KEEPS is set, and nowhere else.
static const char *kept_rule(const espl__forest *forest, const espl__tree *tree, uint32_t slot)
{
    const bool has_room = (tree->side & ESPL__HAS_KEPT) != 0;
    const bool keeps = espl__slot_is(forest, slot, ESPL__SLOT_KEEPS);
    const espl__kept kept = has_room
                                ? espl__side_kept(espl__side_of(forest, tree))[slot - tree->base]
                                : espl__kept_none();
    const espl__kept masked = espl__kept_of(&kept.pose, kept.flags);

    if (keeps != (kept.flags != 0) || !espl__flags_are_valid(kept.flags) ||
        memcmp(&kept, &masked, sizeof kept) != 0) {
        return "inherit flags and kept parts agree";
    }
    if (keeps && (espl__is_root(forest, slot) || espl__slot_is(forest, slot, ESPL__SLOT_BARE))) {
        return "only a member with a transform has inherit flags";
    }
    return NULL;
}

// Check that a tree has the side arrays that its header names, with an entry for each slot.
static const char *side_room_rule(const espl__forest *forest, uint32_t number)
{
    const espl__tree *const tree = &forest->trees[number];
    const bool has_side = tree->side != 0 && tree->side_number < forest->side_capacity;
    const espl__side *const side = has_side ? forest->sides[tree->side_number] : NULL;

    if (forest->trees[number].side != espl__side_contents(side)) {
        return "headers know what their side arrays have";
    }
    return side == NULL || side->capacity == forest->trees[number].capacity
               ? NULL
               : "side arrays fit the range of their tree";
}

// Check the counts by which side arrays are freed.
static const char *side_rule(const espl__forest *forest, const espl__tree *tree)
{
    const espl__side *const side = espl__side_of(forest, tree);
    uint32_t extras = 0, kept = 0;

    if (side == NULL) {
        return NULL;
    }
    for (uint32_t slot = tree->base; slot < end_of(tree); ++slot) {
        if (is_node(forest, slot)) {
            const espl__extra extra = espl__slot_extra(forest, slot);

            kept += espl__slot_is(forest, slot, ESPL__SLOT_KEEPS) ? 1 : 0;
            extras += !espl__slot_copies(forest, slot) && !espl__extra_is_default(&extra) ? 1 : 0;
        }
    }
    if (side->extra_count != extras || side->kept_count != kept) {
        return "the entries of side arrays are counted";
    }
    return extras == 0 && kept == 0 && !side->is_prepaid ? "side arrays are there for a reason"
                                                         : NULL;
}

// --- Worlds ---

// Check that a placement is finite and the world follows from it.
static const char *world_rule(const espl__forest *forest, uint32_t slot)
{
    const espl__placement placement = espl__slot_placement(forest, slot);

    if (!espl__pose_is_finite(&placement.local) || !espl__pose_is_finite(&placement.kept.pose) ||
        !espl__extra_is_finite(&placement.extra)) {
        return "locals and kept parts are finite";
    }
    if (!espl__rotation_is_unit(placement.local.rotation)) {
        return "the rotation of a local has unit length";
    }
    const espl_pose expected = espl__world_expected(forest, slot);

    return espl__pose_is_alike(&expected, &forest->world[slot])
               ? NULL
               : "a world follows from the locals bit for bit";
}

// Check flags, side entries and the world of one node.
static const char *node_rule(const espl__forest *forest, const espl__tree *tree, uint32_t slot)
{
    const uint32_t parent = forest->parent[slot];
    const char *rule = flags_rule(forest, tree, slot);

    rule = rule != NULL ? rule : kept_rule(forest, tree, slot);
    if (rule == NULL && !espl__probe_is_sound(&forest->columns, slot, forest->links[slot].entity)) {
        rule = "columns move with their nodes";
    }
    if (rule == NULL && parent != ESPL__NO_SLOT && espl__slot_copies(forest, slot)) {
        const espl__extra own = espl__slot_extra(forest, slot);
        const espl__extra shown = espl__slot_extra(forest, parent);

        rule = memcmp(&own, &shown, sizeof own) == 0
                   ? NULL
                   : "what copies its parent shows the parent's stretch";
    }
    return rule != NULL ? rule : world_rule(forest, slot);
}

// Check all nodes of a tree, and the count of exceptional ones.
static const char *nodes_rule(const espl__forest *forest, const espl__tree *tree, location *at)
{
    uint32_t exceptional = 0;

    for (uint32_t slot = tree->base; slot < end_of(tree); ++slot) {
        if (!is_node(forest, slot)) {
            continue;
        }
        at->slot = slot;
        const char *const rule = node_rule(forest, tree, slot);

        if (rule != NULL) {
            return rule;
        }
        exceptional += espl__slot_is(forest, slot, ESPL__SLOT_EXCEPTIONAL) ? 1 : 0;
    }
    at->detail = exceptional;
    return exceptional == tree->exceptional ? NULL : "the exceptional nodes of a tree are counted";
}

// --- The list of unsettled trees ---

// Tell whether the neighbours of an unsettled tree in the list link to it.
static bool is_in_unsettled_list(const espl__forest *forest, uint32_t number)
{
    const espl__tree *const tree = &forest->trees[number];
    const bool is_first = tree->previous == ESPL__NO_TREE;

    if ((tree->flags & ESPL__TREE_UNSETTLED) == 0) {
        return forest->unsettled != number;
    }
    if ((!is_first && tree->previous >= forest->tree_end) ||
        (tree->next != ESPL__NO_TREE && tree->next >= forest->tree_end)) {
        return false;
    }
    return (is_first ? forest->unsettled : forest->trees[tree->previous].next) == number &&
           (tree->next == ESPL__NO_TREE || forest->trees[tree->next].previous == number);
}

// Tell whether the list has each unsettled tree once.
static bool is_unsettled_list_whole(const espl__forest *forest)
{
    uint32_t marked = 0, listed = 0;

    for (uint32_t tree = 0; tree < forest->tree_end; ++tree) {
        const espl__tree *const header = &forest->trees[tree];

        marked += header->capacity != 0 && (header->flags & ESPL__TREE_UNSETTLED) != 0 ? 1 : 0;
    }
    for (uint32_t tree = forest->unsettled; tree != ESPL__NO_TREE;
         tree = forest->trees[tree].next) {
        if (tree >= forest->tree_end || forest->trees[tree].capacity == 0 || listed == marked) {
            return false;
        }
        listed += 1;
    }
    return listed == marked;
}

// --- The forest ---

// Check one tree. Links are checked before the functions that follow them without bounds.
static const char *tree_rule(const espl__forest *forest, uint32_t number, location *at)
{
    const espl__tree *const tree = &forest->trees[number];
    const char *rule = range_rule(forest, number, at);

    rule = rule != NULL ? rule : side_room_rule(forest, number);
    rule = rule != NULL ? rule : holes_rule(forest, tree, at);
    rule = rule != NULL ? rule : links_rule(forest, tree, at);
    rule = rule != NULL ? rule : order_rule(forest, tree, at);
    rule = rule != NULL ? rule : nodes_rule(forest, tree, at);
    rule = rule != NULL ? rule : side_rule(forest, tree);
    if (rule == NULL &&
        (tree->moved != 0 || tree->incoming != 0 || (tree->flags & ESPL__TREE_DUE) != 0)) {
        return "no edit left anything behind";
    }
    if (rule == NULL && !is_in_unsettled_list(forest, number)) {
        return "unsettled trees are in one list";
    }
    return rule;
}

// Check the planes, and that tracks have room for each slot.
static const char *tracks_rule(const espl__forest *forest, location *at)
{
    const espl__tracks *const tracks = &forest->tracks;
    const uint32_t needed = espl__forest_is_tracked(forest) ? forest->capacity : 0;
    const char *rule = NULL;

    for (int i = 0; i < ESPL__PLANE_COUNT && rule == NULL; ++i) {
        rule = espl__plane_broken_rule(&tracks->planes[i], &at->slot);
    }
    if (rule == NULL && tracks->capacity != needed) {
        at->slot = ESPL__NO_SLOT;
        rule = "tracks have room for each slot";
    }
    if (rule == NULL && (tracks->cells != NULL) != espl__is_cell_size(forest->cell_size)) {
        at->slot = ESPL__NO_SLOT;
        rule = "a world has cells where it has a size of cells";
    }
    if (rule == NULL) {
        rule = espl__motion_broken_rule(forest, &at->slot);
    }
    if (rule == NULL) {
        rule = espl__present_broken_rule(forest, &at->slot);
    }
    at->slot = rule == NULL ? ESPL__NO_SLOT : at->slot;
    return rule;
}

size_t espl__forest_bytes(const espl__forest *forest)
{
    size_t bytes = forest->block_size + forest->tree_capacity * sizeof *forest->trees +
                   ESPL_ARRAY_BYTES(forest->loose) + espl__sides_bytes(forest) +
                   espl__tracks_bytes(&forest->tracks);

    for (uint32_t tree = 0; tree < forest->tree_end; ++tree) {
        bytes += espl__side_bytes(espl__side_of(forest, &forest->trees[tree]));
    }
    return bytes;
}

// Tell whether a tree is passed over, because it was found to be plain. @param are_plain  NULL: none is.
static bool passes_over(const espl__forest *forest, uint32_t tree, bool *are_plain)
{
    if (are_plain == NULL || !espl__tree_is_plain(forest, tree)) {
        return false;
    }
    ESPL_CHECK_FULL(tree_rule(forest, tree, &(location){ESPL__NO_SLOT, 0}) == NULL);
    return true;
}

// The pool is checked first, because the checks of a tree read all slots of its range.
const char *espl__forest_broken_rule_quick(const espl__forest *forest, uint32_t *slot,
                                           size_t *detail, bool *are_plain)
{
    location at = {ESPL__NO_SLOT, 0};
    const char *rule = espl__pool_broken_rule(forest);
    bool is_any_other = false;

    for (uint32_t tree = 0; rule == NULL && tree < forest->tree_end; ++tree) {
        if (forest->trees[tree].capacity != 0 && !passes_over(forest, tree, are_plain)) {
            at = (location){ESPL__NO_SLOT, tree};
            rule = tree_rule(forest, tree, &at);
            is_any_other = true;
        }
    }
    if (are_plain != NULL) {
        *are_plain = !is_any_other;
    }
    if (rule == NULL && !is_unsettled_list_whole(forest)) {
        at = (location){ESPL__NO_SLOT, 0};
        rule = "unsettled trees are in one list";
    }
    if (rule == NULL && forest->nursery != ESPL__NO_TREE) {
        rule = "no edit left anything behind";
    }
    if (rule == NULL) {
        rule = tracks_rule(forest, &at);
    }
    *slot = at.slot;
    *detail = at.detail;
    return rule;
}

const char *espl__forest_broken_rule(const espl__forest *forest, uint32_t *slot, size_t *detail)
{
    return espl__forest_broken_rule_quick(forest, slot, detail, NULL);
}

// Holes do not count: a pass may compute worlds for them.
size_t espl__count_overflowed(const espl__forest *forest)
{
    size_t count = 0;

    for (uint32_t tree = 0; tree < forest->tree_end; ++tree) {
        const espl__tree *const header = &forest->trees[tree];

        if (header->capacity == 0) {
            continue;
        }
        for (uint32_t slot = header->base; slot < end_of(header); ++slot) {
            count += is_node(forest, slot) && !espl__pose_is_finite(&forest->world[slot]) ? 1 : 0;
        }
    }
    return count;
}
