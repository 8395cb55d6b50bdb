// SPDX-License-Identifier: MIT
// Layout: a tree in breadth-first order, and the debt by which it is known when that is worth while.
#include "lib/tree/layout.h"

#include "lib/base/prefetch.h"

// --- Debt ---

// A tree pays for one layout what its writes cost more than they would after it, so that it never pays
// more than twice the best possible. The same argument as renting skis.
void espl__tree_owe(espl__forest *forest, espl__context *context, uint32_t tree, uint32_t amount)
{
    espl__tree *const t = &forest->trees[tree];

    if ((t->flags & ESPL__TREE_IN_ORDER) != 0) {
        return;
    }
    t->debt = amount < UINT32_MAX - t->debt ? t->debt + amount : UINT32_MAX;
    context->counts.debt += amount;
    if (!espl__tree_is_due(t)) {
        return;
    }
    if (context->is_job) {
        t->flags |= ESPL__TREE_DUE;
        context->has_due = true;
    } else {
        espl__tree_mark_unsettled(forest, tree);
    }
}

// --- Copying ---

// Pass 1: the new range is its own queue. `next` of a new slot is the old slot until pass 2.
static uint32_t queue_nodes(espl__forest *forest, uint32_t root, uint32_t base)
{
    espl__links *const links = forest->links;
    uint32_t *const parent = forest->parent;
    uint32_t end = base + 1;

    links[base].next = root;
    parent[base] = ESPL__NO_SLOT;
    for (uint32_t slot = base; slot < end; ++slot) {
        const uint32_t first = links[links[slot].next].first_child;

        links[slot].first_child = first == ESPL__NO_SLOT ? ESPL__NO_SLOT : end;
        for (uint32_t child = first; child != ESPL__NO_SLOT; child = links[child].next) {
            espl__prefetch(&links[child]);
            links[end].next = child;
            parent[end] = slot;
            end += 1;
        }
    }
    return end - base;
}

static void copy_side(espl__forest *forest, uint32_t slot, uint32_t from, uint32_t base,
                      espl__side *side)
{
    espl__extra *const extra = &side->extra[slot - base];

    *extra = espl__slot_extra(forest, from);
    side->extra_count += !espl__slot_copies(forest, from) && !espl__extra_is_default(extra) ? 1 : 0;
    if (espl__slot_is(forest, from, ESPL__SLOT_KEEPS)) {
        side->kept[slot - base] = espl__slot_kept(forest, from);
        side->kept_count += 1;
    }
}

// Flags that a node takes along to another range.
static inline uint8_t moved_flags(uint8_t flags, const espl__side *side)
{
    const unsigned kept = ~(unsigned)(ESPL__SLOT_SIDE | ESPL__SLOT_MOVED | ESPL__SLOT_MARK);

    return (uint8_t)((flags & kept) | (side != NULL ? (unsigned)ESPL__SLOT_SIDE : 0u));
}

void espl__node_copy(espl__forest *forest, uint32_t slot, uint32_t from, uint32_t base,
                     espl__side *side)
{
    forest->local[slot] = forest->local[from];
    forest->world[slot] = forest->world[from];
    forest->flags[slot] = moved_flags(forest->flags[from], side);
    if (side != NULL) {
        copy_side(forest, slot, from, base, side);
    }
}

// Pass 2: what the nodes have, and their siblings: neighbours that have the same parent. Arrays are in
// locals, because what is written might alias their addresses otherwise.
// @return exceptional nodes.
static uint32_t copy_nodes(espl__forest *forest, uint32_t base, uint32_t end, uint32_t tree,
                           espl__side *side, espl__moved_function moved, void *context)
{
    enum { AHEAD = 8 };
    espl_pose *const local = forest->local, *const world = forest->world;
    espl__links *const links = forest->links;
    uint32_t *const trees = forest->tree;
    const uint32_t *const parent = forest->parent;
    uint8_t *const flags = forest->flags;
    uint32_t exceptional = 0;

    for (uint32_t slot = base; slot < end; ++slot) {
        const uint32_t old = links[slot].next, up = parent[slot];
        const uint32_t ahead = links[slot + AHEAD < end ? slot + AHEAD : slot].next;
        const uint32_t entity = links[old].entity;
        const bool is_last = slot + 1 == end || parent[slot + 1] != up;
        const uint8_t kept = moved_flags(flags[old], side);

        espl__prefetch(&local[ahead]);
        espl__prefetch(&world[ahead]);
        local[slot] = local[old];
        world[slot] = world[old];
        flags[slot] = kept;
        exceptional += (kept & ESPL__SLOT_EXCEPTIONAL) != 0 ? 1 : 0;
        if (side != NULL) {
            const espl__tree *const t = espl__tree_of(forest, ahead);

            espl__side_ask(t->side, t->capacity, ahead - t->base);
            copy_side(forest, slot, old, base, side);
        }
        trees[slot] = tree;
        links[slot].entity = entity;
        links[slot].next = is_last ? ESPL__NO_SLOT : slot + 1;
        if (up == ESPL__NO_SLOT) {
            links[slot].previous = ESPL__NO_SLOT;
        } else {
            const uint32_t first = links[up].first_child;

            links[slot].previous = slot == first ? links[slot].previous : slot - 1;
            links[first].previous = is_last ? slot : links[first].previous;
        }
        moved(context, entity, slot);
        if (trees[old] != tree) {
            espl__slot_free(forest, old);
        }
    }
    return exceptional;
}

uint32_t espl__copy_in_order(espl__forest *forest, uint32_t root, uint32_t tree, uint32_t base,
                             espl__side *side, uint32_t *exceptional, espl__moved_function moved,
                             void *context)
{
    const uint32_t count = queue_nodes(forest, root, base);

    *exceptional = copy_nodes(forest, base, base + count, tree, side, moved, context);
    return count;
}

void espl__tree_lay_out(espl__forest *forest, uint32_t tree, uint32_t root, uint32_t base,
                        uint32_t capacity, espl__side *side, espl__moved_function moved,
                        void *context)
{
    espl__tree *const t = &forest->trees[tree];
    const espl__tree old = *t;
    uint32_t exceptional = 0;
    const uint32_t count =
        espl__copy_in_order(forest, root, tree, base, side, &exceptional, moved, context);

    ESPL_CHECK(count == old.live && (side != NULL || old.side == NULL));
    for (uint32_t slot = base + count; slot < base + capacity; ++slot) {
        forest->tree[slot] = tree;
    }
    if (side != NULL && old.side != NULL) {
        side->is_prepaid = old.side->is_prepaid;
    }
    *t = espl__tree_in_order(base, capacity, count, exceptional, side);
    t->flags |= old.flags & (uint32_t)ESPL__TREE_UNSETTLED;
    t->next = old.next;
    t->previous = old.previous;
    espl__side_free(forest->heap, old.side);
    espl__range_give(forest, old.base, old.capacity);
    forest->layouts += 1;
    forest->nodes_laid_out += count;
}

bool espl__tree_compact(espl__forest *forest, uint32_t tree, espl__moved_function moved,
                        void *context)
{
    const espl__tree *const t = &forest->trees[tree];
    const uint32_t roomy = espl__tree_room(t->live);
    const uint32_t capacity = roomy < t->capacity ? roomy : t->capacity;
    espl__side *side = NULL;

    ESPL_CHECK(espl__tree_is_single(forest, t));
    if (t->side != NULL) {
        side = espl__side_make(forest->heap, capacity, t->side->kept != NULL);
        if (side == NULL) {
            return false;
        }
    }
    if (espl__forest_reserve(forest, capacity, 0) != ESPL_OK) {
        espl__side_free(forest->heap, side);
        return false;
    }
    const uint32_t root = forest->trees[tree].base; // the reserve may have moved the headers

    espl__heap_forbid(forest->heap);
    espl__tree_lay_out(forest, tree, root, espl__range_take(forest, capacity), capacity, side,
                       moved, context);
    espl__heap_allow(forest->heap);
    return true;
}
