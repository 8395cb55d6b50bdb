// SPDX-License-Identifier: MIT
// Slots and links of one tree: the steps of which every edit consists. They keep the counts of the
// header (used, live, roots, exceptional) and clear ESPL__TREE_IN_ORDER when the order ends. They
// allocate nothing and cannot fail. Edits, relocations and layouts call them.
#include "lib/tree/forest.h"
#include "lib/tree/links.h"
#include "lib/tree/order.h"

// Tell whether the header of a slot's tree has counts. That of the nursery has none, because
// several threads make nodes in it at once.
static bool is_counted(const espl__forest *forest, uint32_t slot)
{
    return forest->tree[slot] != forest->nursery;
}

// --- Slots ---

// Reset the side entries of a slot that becomes a hole, because the counts are updated by comparing
// the entry before and after a store. Most nodes have the default.
ESPL__INLINE void clear_side(espl__forest *forest, espl__side *side, uint32_t at, uint32_t slot)
{
    const bool keeps = espl__slot_is(forest, slot, ESPL__SLOT_KEEPS);

    ESPL_CHECK(at < side->capacity);
    if (!keeps && espl__extra_is_default(&side->extra[at])) {
        return;
    }
    if (!espl__slot_copies(forest, slot) && !espl__extra_is_default(&side->extra[at])) {
        ESPL_CHECK(side->extra_count != 0);
        side->extra_count -= 1;
    }
    side->extra[at] = espl__extra_default();
    if (keeps) {
        ESPL_CHECK(side->has_kept != 0 && side->kept_count != 0);
        side->kept_count -= 1;
        espl__side_kept(side)[at] = espl__kept_none();
        espl__side_forget_past(side, at);
    }
}

// The only node of a range is in order if it is at the base: all holes are unused slots again.
static void reset_order_of_root(espl__forest *forest, espl__tree *t)
{
    ESPL_CHECK(t->live == 1);
    if (espl__tree_is_single(forest, t)) {
        t->used = 1;
        t->hole = ESPL__NO_SLOT;
        t->debt = 0;
        t->flags |= ESPL__TREE_IN_ORDER;
    }
}

// Free a slot of a tree with counts. The side entry is reset before the flags, because the flags
// say what the entry counts as. @param side  of the tree, or NULL.
ESPL__INLINE void free_slot(espl__forest *forest, espl__tree *t, espl__side *side, uint32_t slot)
{
    espl__links *const links = &forest->links[slot];
    const uint32_t parent = forest->parent[slot], base = t->base;
    const unsigned flags = forest->flags[slot];

    ESPL_CHECK(slot - base < t->used && t->live != 0);
    if (side != NULL) {
        clear_side(forest, side, slot - base, slot);
    }
    ESPL_CHECK(t->exceptional != 0 || (flags & ESPL__SLOT_EXCEPTIONAL) == 0);
    ESPL_CHECK(t->roots != 0 || parent != ESPL__NO_SLOT);
    if ((flags & ESPL__SLOT_EXCEPTIONAL) != 0) {
        t->exceptional -= 1;
    }
    if (parent == ESPL__NO_SLOT) {
        t->roots -= 1;
    }
    t->live -= 1;
    forest->flags[slot] = 0;
    espl__probe_clear(&forest->columns, slot);
    espl__tracks_mark(&forest->tracks, ESPL__PLANE_PLACE, slot);
    // The parent of a hole is the base, so that a pass over the range may compute its world: it
    // reads a valid slot, and no node reads the result.
    forest->parent[slot] = base;
    if (slot == base + t->used - 1) {
        links->entity = ESPL__NO_ENTITY;
        t->used -= 1;
    } else {
        *links = (espl__links){ESPL__NO_SLOT, t->hole, ESPL__NO_SLOT, ESPL__NO_ENTITY};
        t->hole = slot;
        t->flags &= ~(uint32_t)ESPL__TREE_IN_ORDER; // the slot is marked above
    }
    if (t->live == 1) {
        reset_order_of_root(forest, t);
    }
}

void espl__slot_free(espl__forest *forest, uint32_t slot)
{
    if (is_counted(forest, slot)) {
        espl__tree *const t = espl__tree_of(forest, slot);

        free_slot(forest, t, espl__side_of(forest, t), slot);
    } else {
        forest->links[slot].entity = ESPL__NO_ENTITY;
    }
}

void espl__subtree_free(espl__forest *forest, uint32_t top,
                        void (*freed)(void *context, uint32_t entity), void *context)
{
    for (uint32_t slot = espl__first_leaf(forest, top);;) {
        const uint32_t parent = forest->parent[slot], next = forest->links[slot].next;
        const bool is_top = slot == top;

        if (freed != NULL) {
            freed(context, forest->links[slot].entity);
        }
        espl__slot_free(forest, slot);
        if (is_top) {
            return;
        }
        slot = next != ESPL__NO_SLOT ? espl__first_leaf(forest, next) : parent;
    }
}

// Prefetch what freeing the slots before an entry of a list reads and writes, at three distances:
// the header follows from the tree of the slot, and the address of a side entry from the header.
enum { DEAD_FAR = 12, DEAD_MIDDLE = 8, DEAD_NEAR = 4 };

static inline void prefetch_dead(const espl__forest *forest, const espl__removed *now)
{
    const uint32_t far = now[-DEAD_FAR].slot, near = now[-DEAD_NEAR].slot;

    espl__prefetch_to_write(&forest->links[far]);
    espl__prefetch_to_write(&forest->flags[far]);
    espl__prefetch_to_write(&forest->parent[far]);
    espl__prefetch(&forest->tree[far]);
    espl__prefetch_to_write(espl__tree_of(forest, now[-DEAD_MIDDLE].slot));
    if (espl__slot_is(forest, near, ESPL__SLOT_SIDE)) {
        const espl__tree *const t = espl__tree_of(forest, near);

        espl__side_prefetch(espl__side_of_slot(forest, near), t->capacity, near - t->base);
    }
}

size_t espl__dead_free(espl__forest *forest, espl__removed *dead, size_t count)
{
    const size_t prefetched = espl__forest_is_far(forest) ? DEAD_FAR : count;
    const uint32_t nursery = forest->nursery;
    size_t listed = count;

    for (size_t i = count; i > 0; --i) {
        const espl__removed *const now = &dead[i - 1];

        const uint32_t tree = forest->tree[now->slot];
        espl__tree *const t = &forest->trees[tree];

        if (i > prefetched) {
            prefetch_dead(forest, now);
        }
        if (tree == nursery) {
            continue; // the header has no counts
        }
        espl__side *const side = espl__side_of(forest, t);

        free_slot(forest, t, side, now->slot);
        if (t->live == 0 || espl__side_is_unneeded(side)) {
            dead[--listed] = *now;
        }
    }
    return count - listed;
}

// --- Exceptional nodes ---

// `exceptional` of the header is the reason why the flag is stored: a tree with none is composed by
// the wide kernel alone, without a look at the flags.
void espl__node_update_exceptional(espl__forest *forest, uint32_t slot)
{
    const bool is_so = espl__slot_is_exceptional(forest, slot);
    const bool was_so = espl__slot_is(forest, slot, ESPL__SLOT_EXCEPTIONAL);

    if (is_so == was_so) {
        return;
    }
    forest->flags[slot] ^= ESPL__SLOT_EXCEPTIONAL;
    if (is_counted(forest, slot)) {
        espl__tree *const t = espl__tree_of(forest, slot);

        t->exceptional += is_so ? 1 : UINT32_MAX;
        ESPL_CHECK(t->exceptional <= t->live);
    }
}

void espl__children_update_exceptional(espl__forest *forest, uint32_t slot)
{
    for (uint32_t child = forest->links[slot].first_child; child != ESPL__NO_SLOT;
         child = forest->links[child].next) {
        espl__node_update_exceptional(forest, child);
    }
}

// --- Links ---

// Tell whether a node that was just linked keeps its tree in breadth-first order: it is the last
// slot, a leaf and a last child, the range has no holes, and the parents of ascending slots still
// ascend.
static bool keeps_order(const espl__forest *forest, const espl__tree *t, uint32_t slot)
{
    return slot == t->base + t->used - 1 && t->live == t->used &&
           forest->links[slot].first_child == ESPL__NO_SLOT &&
           forest->links[slot].next == ESPL__NO_SLOT &&
           (slot - 1 == t->base || forest->parent[slot - 1] <= forest->parent[slot]);
}

// Clear ESPL__TREE_IN_ORDER of the trees of a new link that does not keep the order. The node and
// its parent may be in different ranges inside an edit; neither tree is in order then.
static void end_order_unless_kept(espl__forest *forest, uint32_t slot, uint32_t parent)
{
    espl__tree *const t = espl__tree_of(forest, slot);

    if (forest->tree[parent] != forest->tree[slot] || parent > slot ||
        !keeps_order(forest, t, slot)) {
        espl__tree_end_order(forest, t);
        espl__tree_end_order(forest, espl__tree_of(forest, parent));
    }
}

// The parent is set before the order is tested, because the test reads it.
void espl__node_link(espl__forest *forest, uint32_t slot, uint32_t parent, uint32_t before)
{
    ESPL_CHECK(espl__is_root(forest, slot) && slot != parent);
    ESPL_CHECK(before == ESPL__NO_SLOT || (before != slot && forest->parent[before] == parent));
    forest->parent[slot] = parent;
    espl__links_insert(forest->links, slot, parent, before);
    if (is_counted(forest, slot)) {
        ESPL_CHECK(espl__tree_of(forest, slot)->roots != 0);
        espl__tree_of(forest, slot)->roots -= 1;
    }
    end_order_unless_kept(forest, slot, parent);
    espl__node_update_linked(forest, slot, parent);
}

// Siblings are linked to each other in O(1), wherever the node is among them.
void espl__node_unlink(espl__forest *forest, uint32_t slot)
{
    espl__links *const links = forest->links;

    ESPL_CHECK(!espl__is_root(forest, slot));
    espl__links_remove(links, slot, forest->parent[slot]);
    links[slot].next = links[slot].previous = ESPL__NO_SLOT;
    forest->parent[slot] = ESPL__NO_SLOT;
    if (is_counted(forest, slot)) {
        espl__tree *const t = espl__tree_of(forest, slot);

        t->roots += 1;
        ESPL_CHECK(t->roots <= t->live);
        t->flags &= ~(uint32_t)ESPL__TREE_IN_ORDER; // the caller marks the slot
    }
    if (espl__slot_is(forest, slot, ESPL__SLOT_EXCEPTIONAL)) {
        espl__node_update_exceptional(forest, slot);
    }
}
