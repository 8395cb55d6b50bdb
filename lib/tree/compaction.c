// SPDX-License-Identifier: MIT
// Compaction of a forest: all trees move to a new block that fits them, each laid out, in the order
// of their numbers. So the pool does not stay much larger than its contents, and trees that are
// propagated one after the other are neighbours in memory. The old forest stays whole until all
// memory is allocated; then nothing can fail. espl_compact() compacts tightly; structural calls
// compact with room to spare when much of the pool is free.
#include "lib/tree/forest.h"

#include <string.h>

// Slots of a pool whose compaction is worth its cost; and the part of slots and headers, as a
// divisor, that a compaction keeps for new trees beside the spare room of each tree.
enum { WORTHWHILE = 4096, SPARE_SHARE = 128 };

// The arguments of one compaction, and the new forest.
typedef struct compaction {
    const espl__forest *from;
    espl__forest *to;
    bool is_tight; // no spare room, and no side arrays that no entry needs
    espl__moved_function moved;
    void *context;
} compaction;

bool espl__forest_wants_compaction(const espl__forest *forest)
{
    return forest->end >= WORTHWHILE && forest->free_slots > forest->end / 3;
}

// --- Memory ---

// Return the slots that a tree gets: never more than it has.
static uint32_t packed_capacity(const compaction *p, const espl__tree *tree)
{
    // A range with several roots is copied slot by slot, with its holes.
    const uint32_t needed = espl__tree_is_single(p->from, tree) ? tree->live : tree->used;
    const uint32_t roomy = espl__tree_room(needed);

    if (p->is_tight) {
        return needed;
    }
    return roomy < tree->capacity ? roomy : tree->capacity;
}

// Tell whether a tree gets side arrays: a tight compaction frees those without an entry.
static bool needs_side(const compaction *p, const espl__side *side)
{
    return side != NULL && (!p->is_tight || side->extra_count != 0 || side->kept_count != 0);
}

// Tell whether side arrays get room for inherit flags.
static bool needs_kept(const compaction *p, const espl__side *side)
{
    return p->is_tight ? side->kept_count != 0 : side->kept != NULL;
}

// Allocate all memory of the new forest, and give each tree its header, its range and its side
// arrays, in the order of the old numbers. @return false: no memory; the caller frees the new
// forest.
static bool reserve_compacted(const compaction *p)
{
    size_t slots = 0, trees = 0;

    for (uint32_t tree = 0; tree < p->from->tree_end; ++tree) {
        const espl__tree *const old = &p->from->trees[tree];

        slots += old->capacity != 0 ? packed_capacity(p, old) : 0;
        trees += old->capacity != 0 ? 1 : 0;
    }
    if (!p->is_tight) {
        slots += slots / SPARE_SHARE;
        trees += trees / SPARE_SHARE;
        slots = slots > p->from->floor ? slots : p->from->floor;
        trees = trees > p->from->tree_floor ? trees : p->from->tree_floor;
    }
    if (!espl__forest_make_room(p->to, (uint32_t)slots, (uint32_t)trees)) {
        return false;
    }
    for (uint32_t tree = 0; tree < p->from->tree_end; ++tree) {
        const espl__tree *const old = &p->from->trees[tree];

        if (old->capacity == 0) {
            continue;
        }
        espl__tree *const header = &p->to->trees[espl__tree_take(p->to)];

        header->base = p->to->end;
        header->capacity = packed_capacity(p, old);
        p->to->end += header->capacity;
        ESPL_CHECK(header->capacity >= old->live && p->to->end <= p->to->capacity);
        if (needs_side(p, old->side)) {
            header->side = espl__side_make(p->to->heap, header->capacity, needs_kept(p, old->side));
            if (header->side == NULL) {
                return false;
            }
            header->side->is_prepaid = !p->is_tight && old->side->is_prepaid;
        }
    }
    return true;
}

// --- Copies ---

// Copy placement, world, flags and entity of one slot, which may be a hole.
static void move_node(const compaction *p, const espl__tree *to_tree, uint32_t to, uint32_t from)
{
    const espl__tree *const from_tree = espl__tree_of(p->from, from);
    const espl__side *const old = from_tree->side;
    espl__side *const side = to_tree->side;
    const unsigned flags = p->from->flags[from] & ~(unsigned)ESPL__SLOT_SIDE;

    ESPL_CHECK_FULL((flags & (ESPL__SLOT_MOVED | ESPL__SLOT_MARK | ESPL__SLOT_STALE)) == 0);
    p->to->local[to] = p->from->local[from];
    p->to->world[to] = p->from->world[from];
    p->to->flags[to] = (uint8_t)(flags | (side != NULL ? (unsigned)ESPL__SLOT_SIDE : 0u));
    p->to->links[to].entity = p->from->links[from].entity;
    if (side != NULL) {
        ESPL_CHECK_FULL(old != NULL && to - to_tree->base < side->capacity);
        side->extra[to - to_tree->base] = old->extra[from - from_tree->base];
    }
    if (side != NULL && side->kept != NULL) {
        side->kept[to - to_tree->base] = old->kept[from - from_tree->base];
    }
    if (p->from->links[from].entity != ESPL__NO_ENTITY) {
        p->moved(p->context, p->from->links[from].entity, to);
    }
}

// Copy a single tree in breadth-first order, in two passes as espl__copy_in_order(): the new slots
// are their own queue, in which `next` is the old slot until the second pass.
static void copy_breadth_first(const compaction *p, const espl__tree *tree, uint32_t root)
{
    uint32_t *const parent = p->to->parent;
    espl__links *const links = p->to->links;
    uint32_t end = tree->base + 1;

    parent[tree->base] = ESPL__NO_SLOT;
    links[tree->base].next = root;
    for (uint32_t slot = tree->base; slot < end; ++slot) {
        uint32_t child = p->from->links[links[slot].next].first_child;

        links[slot].first_child = child != ESPL__NO_SLOT ? end : ESPL__NO_SLOT;
        for (; child != ESPL__NO_SLOT; child = p->from->links[child].next) {
            parent[end] = slot;
            links[end++].next = child;
        }
    }
    ESPL_CHECK(end == tree->base + tree->live);
    links[tree->base].previous = ESPL__NO_SLOT;
    for (uint32_t slot = tree->base; slot < end; ++slot) {
        const uint32_t up = parent[slot];
        const bool is_last = up == ESPL__NO_SLOT || slot + 1 == end || parent[slot + 1] != up;

        move_node(p, tree, slot, links[slot].next);
        links[slot].next = is_last ? ESPL__NO_SLOT : slot + 1;
        if (up != ESPL__NO_SLOT && links[up].first_child != slot) {
            links[slot].previous = slot - 1;
        }
        if (up != ESPL__NO_SLOT && is_last) {
            links[links[up].first_child].previous = slot;
        }
    }
}

// Return a slot at the same distance from the new base, or ESPL__NO_SLOT for itself.
static uint32_t shifted(uint32_t slot, uint32_t by)
{
    return slot == ESPL__NO_SLOT ? slot : slot + by;
}

// Copy a range with several roots, with its holes: each slot keeps its distance from the base.
static void copy_shifted(const compaction *p, const espl__tree *tree, const espl__tree *old)
{
    const uint32_t by = tree->base - old->base; // modulo 2^32

    ESPL_CHECK(tree->capacity >= old->used);
    for (uint32_t from = old->base; from < old->base + old->used; ++from) {
        const espl__links *const links = &p->from->links[from];

        p->to->parent[from + by] = shifted(p->from->parent[from], by);
        p->to->links[from + by] =
            (espl__links){shifted(links->first_child, by), shifted(links->next, by),
                          shifted(links->previous, by), links->entity};
        move_node(p, tree, from + by, from);
    }
}

// Copy one tree to its new range, and complete its new header.
static void move_tree(const compaction *p, uint32_t number, const espl__tree *old)
{
    espl__tree *const tree = &p->to->trees[number];
    const bool is_single = espl__tree_is_single(p->from, old);

    ESPL_CHECK(old->moved == 0 && old->incoming == 0 && old->mark == 0);
    tree->live = old->live;
    tree->roots = old->roots;
    tree->exceptional = old->exceptional;
    for (uint32_t i = 0; i < tree->capacity; ++i) {
        p->to->tree[tree->base + i] = number;
    }
    if (tree->side != NULL) {
        tree->side->extra_count = old->side->extra_count;
        tree->side->kept_count = old->side->kept_count;
    }
    if (is_single) {
        tree->used = old->live;
        tree->flags = ESPL__TREE_IN_ORDER;
        copy_breadth_first(p, tree, old->base);
    } else {
        tree->used = old->used;
        tree->hole = shifted(old->hole, tree->base - old->base);
        tree->debt = old->debt;
        copy_shifted(p, tree, old);
    }
    // A tree that was in order was copied, not laid out.
    if (is_single && (old->flags & ESPL__TREE_IN_ORDER) == 0) {
        p->to->layouts += 1;
        p->to->nodes_laid_out += old->live;
    }
    if ((old->flags & ESPL__TREE_UNSETTLED) != 0) {
        espl__tree_mark_unsettled(p->to, number);
    }
}

// Copy what does not depend on slots: settings, counts, and the context of immediate calls.
static void keep_settings(espl__forest *to, const espl__forest *from)
{
    to->kernels = from->kernels;
    to->grain = from->grain;
    to->context = from->context;
    to->layouts = from->layouts;
    to->nodes_laid_out = from->nodes_laid_out;
}

// --- Compaction ---

// Tell whether a tight compaction would leave side arrays as they are.
static bool is_side_tight(const espl__side *side)
{
    return side == NULL || ((side->kept != NULL) == (side->kept_count != 0) && !side->is_prepaid);
}

// Tell whether a tight compaction would change nothing, so that it is skipped and moves no node.
static bool is_tight(const espl__forest *forest)
{
    if (forest->capacity != forest->end || forest->free_slots != 0 ||
        forest->tree_capacity != forest->tree_end) {
        return false;
    }
    for (uint32_t tree = 0; tree < forest->tree_end; ++tree) {
        const espl__tree *const header = &forest->trees[tree];

        // A free header has no flags, so that it is not tight.
        if (header->capacity != header->live || (header->flags & ESPL__TREE_IN_ORDER) == 0 ||
            !is_side_tight(header->side)) {
            return false;
        }
    }
    return true;
}

bool espl__forest_compact(espl__forest *forest, bool tightly, espl__moved_function moved,
                          void *context)
{
    espl__forest packed;
    const compaction p = {forest, &packed, tightly, moved, context};
    uint32_t next = 0;

    ESPL_CHECK(!forest->is_edited && forest->nursery == ESPL__NO_TREE);
    if (tightly && is_tight(forest)) {
        return true;
    }
    espl__forest_init(&packed, forest->heap);
    if (!reserve_compacted(&p)) {
        espl__forest_free(&packed);
        return false;
    }
    espl__heap_forbid(forest->heap);
    keep_settings(&packed, forest);
    packed.floor = tightly ? 0 : forest->floor;
    packed.tree_floor = tightly ? 0 : forest->tree_floor;
    for (uint32_t tree = 0; tree < forest->tree_end; ++tree) {
        if (forest->trees[tree].capacity != 0) {
            move_tree(&p, next++, &forest->trees[tree]);
        }
    }
    ESPL_CHECK(next == packed.tree_end);
    espl__forest_free(forest);
    *forest = packed;
    espl__heap_allow(forest->heap);
    return true;
}
