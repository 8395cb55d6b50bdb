// SPDX-License-Identifier: MIT
// The layout of one tree: its nodes are copied to another range in breadth-first order, without
// holes. The links define the tree and do not need this order, but writes are faster with it. So
// each tree has a layout debt, which says when a layout is worth its cost. Slots change only here,
// in relocation.c and in compaction.c, and never within a write, so that slots that a query loop
// holds stay valid.
#include "lib/tree/layout.h"

#include "lib/base/prefetch.h"

// --- Debt ---

// The debt is the cost that a layout would have saved, and a layout is due when it reaches the cost
// of one. So the sum of both costs is at most twice the optimum, whatever writes follow. This is
// the ski-rental argument (Karlin, Manasse, Rudolph, Sleator, "Competitive snoopy caching",
// Algorithmica 3, 1988).
void espl__tree_add_debt(espl__forest *forest, espl__context *context, uint32_t tree,
                         uint32_t amount)
{
    espl__tree *const t = &forest->trees[tree];

    if ((t->flags & ESPL__TREE_IN_ORDER) != 0 || context->is_present) {
        return;
    }
    ESPL_CHECK(t->capacity != 0);
    // Saturating.
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

// Pass 1: fill parents and links of the new slots. The new range is its own queue: `entity` of a new
// slot is the old slot until pass 3. @return the number of nodes.
static uint32_t queue_nodes(const espl__transfer *transfer, uint32_t root, uint32_t base)
{
    const espl__links *const old = transfer->from->links;
    espl__links *const links = transfer->to->links;
    uint32_t *const parent = transfer->to->parent;
    uint32_t end = base + 1;

    links[base] = (espl__links){ESPL__NO_SLOT, ESPL__NO_SLOT, ESPL__NO_SLOT, root};
    parent[base] = ESPL__NO_SLOT;
    for (uint32_t slot = base; slot < end; ++slot) {
        const uint32_t first = end;
        uint32_t child = old[links[slot].entity].first_child;

        links[slot].first_child = child == ESPL__NO_SLOT ? ESPL__NO_SLOT : first;
        if (child == ESPL__NO_SLOT) {
            continue;
        }
        for (; child != ESPL__NO_SLOT; child = old[child].next) {
            espl__prefetch(&old[child]);
            ESPL_CHECK_FULL(end < transfer->to->end);
            links[end].next = end + 1;
            links[end].previous = end - 1;
            links[end].entity = child;
            parent[end] = slot;
            end += 1;
        }
        links[end - 1].next = ESPL__NO_SLOT;
        links[first].previous = end - 1;
    }
    return end - base;
}

// Pass 2: copy the side entries of the nodes.
static void copy_sides(const espl__transfer *transfer, uint32_t base, uint32_t end,
                       espl__side *side)
{
    enum { AHEAD = 8 };
    const espl__forest *const from = transfer->from;
    const espl__links *const links = transfer->to->links;

    for (uint32_t slot = base; slot < end; ++slot) {
        const uint32_t ahead = links[slot + AHEAD < end ? slot + AHEAD : slot].entity;
        const espl__tree *const t = espl__tree_of(from, ahead);

        espl__side_prefetch(espl__side_of(from, t), t->capacity, ahead - t->base);
        espl__node_copy_side(from, slot, links[slot].entity, base, side);
    }
}

void espl__transfer_tracks(const espl__transfer *transfer, uint32_t slot, uint32_t from)
{
    espl__tracks_move(&transfer->to->tracks, slot, &transfer->from->tracks, from);
}

// A pass of its own over the old slots, which pass 3 overwrites.
static ESPL__APART void copy_tracks(const espl__transfer *transfer, uint32_t base, uint32_t end)
{
    for (uint32_t slot = base; slot < end; ++slot) {
        espl__transfer_tracks(transfer, slot, transfer->to->links[slot].entity);
    }
}

// Pass 3: copy the other data of the nodes. The addresses of the arrays are in locals, because the
// compiler must assume that a store changes a field.
// @return the number of exceptional nodes.
static uint32_t copy_nodes(const espl__transfer *transfer, uint32_t base, uint32_t end,
                           uint32_t tree, const espl__side *side)
{
    enum { AHEAD = 8 };
    espl__forest *const from = transfer->from, *const to = transfer->to;
    const espl__columns olds = from->columns, news = to->columns;
    espl__links *const links = news.links;
    uint32_t exceptional = 0;

    for (uint32_t slot = base; slot < end; ++slot) {
        const uint32_t old = links[slot].entity;
        const uint32_t ahead = links[slot + AHEAD < end ? slot + AHEAD : slot].entity;

        ESPL_CHECK_FULL(olds.links[old].entity != ESPL__NO_ENTITY);
        ESPL_CHECK_FULL(from != to || old < base || old >= end);
        const uint8_t kept = espl__moved_flags(olds.flags[old], side);

        espl__columns_prefetch(&olds, ahead);
        espl__columns_move(&news, slot, &olds, old);
        news.flags[slot] = kept;
        exceptional += (kept & ESPL__SLOT_EXCEPTIONAL) / ESPL__SLOT_EXCEPTIONAL;
        news.tree[slot] = tree;
        links[slot].entity = olds.links[old].entity;
        if (from == to && olds.tree[old] != tree) {
            // The header of the other range counts its nodes, so that it is found empty in the end.
            espl__slot_free(from, old);
        }
    }
    return exceptional;
}

// Several passes, because each has the addresses that it needs in registers.
espl__tree espl__copy_in_order(const espl__transfer *transfer, uint32_t root, uint32_t tree,
                               uint32_t base, uint32_t capacity, espl__side *side)
{
    const uint32_t count = queue_nodes(transfer, root, base);

    ESPL_CHECK(count <= capacity && (side == NULL || side->capacity == capacity));
    if (side != NULL) {
        copy_sides(transfer, base, base + count, side);
    }
    if (espl__forest_is_tracked(transfer->from)) {
        copy_tracks(transfer, base, base + count);
    }
    const uint32_t exceptional = copy_nodes(transfer, base, base + count, tree, side);

    espl__range_clear(transfer->to, tree, base + count, base + capacity);
    transfer->moved(transfer->context, &transfer->to->links[base].entity, base, count);
    return espl__tree_in_order(base, capacity, count, exceptional);
}

// The debt is 0 in the new header.
void espl__tree_replace(espl__forest *forest, uint32_t tree, const espl__tree *now,
                        espl__side *side)
{
    espl__tree *const t = &forest->trees[tree];
    const espl__tree old = *t;
    espl__side *const old_side = espl__side_of(forest, t);

    ESPL_CHECK(side != NULL || old_side == NULL);
    *t = *now;
    t->side = old.side;
    t->side_number = old.side_number;
    t->flags |= old.flags & (uint32_t)ESPL__TREE_UNSETTLED;
    t->next = old.next;
    t->previous = old.previous;
    espl__tree_put_side(forest, tree, side);
    if (old_side != NULL) {
        side->is_prepaid = old_side->is_prepaid;
        espl__side_free(forest, old_side);
    }
    espl__range_give(forest, old.base, old.capacity);
    forest->layouts += 1;
    forest->nodes_laid_out += now->live;
}

// The new range is taken while the old one is in use, so that the pool needs room for both.
bool espl__tree_compact(espl__forest *forest, uint32_t tree, espl__moved_function moved,
                        void *context)
{
    const espl__tree *const t = &forest->trees[tree];
    const uint32_t capacity = espl__tree_kept_room(t->live, t->capacity);
    espl__side *side = NULL;

    ESPL_CHECK(espl__tree_is_single(forest, t));
    if (t->side != 0) {
        side = espl__side_make(forest, capacity, (t->side & ESPL__HAS_KEPT) != 0);
        if (side == NULL) {
            return false;
        }
    }
    if (espl__forest_reserve(forest, capacity, 0) != ESPL_OK) {
        espl__side_free(forest, side);
        return false;
    }
    const espl__transfer transfer = {forest, forest, moved, context};

    espl__heap_forbid(forest->heap);
    // `t` is invalid, because the reserve may have moved the headers.
    const espl__tree now = espl__copy_in_order(&transfer, forest->trees[tree].base, tree,
                                               espl__range_take(forest, capacity), capacity, side);

    ESPL_CHECK(now.live == forest->trees[tree].live);
    espl__tree_replace(forest, tree, &now, side);
    espl__heap_allow(forest->heap);
    return true;
}
