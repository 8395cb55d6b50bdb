// SPDX-License-Identifier: MIT
// Compaction of a forest: all trees move to a new block that fits them, each laid out, in the order
// of their numbers. So the pool does not stay much larger than its contents, and trees that are
// propagated one after the other are neighbours in memory. The old forest stays whole until all
// memory is allocated; then nothing can fail. espl_compact() compacts tightly; structural calls
// compact with room to spare when much of the pool is free.
#include "lib/tree/layout.h"

// Slots of a pool whose compaction is worth its cost; and the part of slots and headers, as a
// divisor, that a compaction keeps for new trees beside the spare room of each tree.
enum { WORTHWHILE = 4096, SPARE_SHARE = 512 };

// The arguments of one compaction, and the new forest.
typedef struct compaction {
    espl__transfer transfer;
    bool is_tight; // no spare room, and no side arrays that no entry needs
} compaction;

bool espl__forest_wants_compaction(const espl__forest *forest)
{
    return forest->end >= WORTHWHILE && forest->free_slots > forest->end / 3;
}

// --- Memory ---

// Return the slots that a tree gets. A tight compaction leaves it the room of a new tree.
static uint32_t packed_capacity(const compaction *p, const espl__tree *tree)
{
    // A range with several roots is copied slot by slot, with its holes.
    const uint32_t needed = espl__tree_is_single(p->transfer.from, tree) ? tree->live : tree->used;

    return p->is_tight ? needed + espl__tree_spare(needed)
                       : espl__tree_kept_room(needed, tree->capacity);
}

// Tell whether a tree gets side arrays: a tight compaction frees those without an entry.
static bool needs_side(const compaction *p, const espl__side *side)
{
    return side != NULL && (!p->is_tight || side->extra_count != 0 || side->kept_count != 0);
}

// Tell whether side arrays get room for inherit flags.
static bool needs_kept(const compaction *p, const espl__side *side)
{
    return p->is_tight ? side->kept_count != 0 : side->has_kept != 0;
}

// Allocate all memory of the new forest, and give each tree its header, its range and its side
// arrays, in the order of the old numbers. @return false: no memory; the caller frees the new
// forest.
static bool reserve_compacted(const compaction *p)
{
    size_t slots = 0, trees = 0, sides = 0;

    for (uint32_t tree = 0; tree < p->transfer.from->tree_end; ++tree) {
        const espl__tree *const old = &p->transfer.from->trees[tree];

        slots += old->capacity != 0 ? packed_capacity(p, old) : 0;
        trees += old->capacity != 0 ? 1 : 0;
    }
    if (!p->is_tight) {
        slots += slots / SPARE_SHARE;
        trees += trees / SPARE_SHARE;
        slots = slots > p->transfer.from->floor ? slots : p->transfer.from->floor;
        trees = trees > p->transfer.from->tree_floor ? trees : p->transfer.from->tree_floor;
        // The room of a forest that may be gone back to stays.
        if (p->transfer.from->heap->retired.is_on) {
            slots = p->transfer.from->capacity;
            trees = p->transfer.from->tree_capacity;
            sides = p->transfer.from->side_capacity;
        }
    }
    if (!espl__forest_make_room(p->transfer.to, (uint32_t)slots, (uint32_t)trees) ||
        !espl__sides_reserve(p->transfer.to, sides)) {
        return false;
    }
    if (espl__forest_is_tracked(p->transfer.from) &&
        !espl__tracks_make(p->transfer.to->heap, &p->transfer.to->tracks, p->transfer.to->capacity,
                           &p->transfer.from->tracks, 0)) {
        return false;
    }
    for (uint32_t tree = 0; tree < p->transfer.from->tree_end; ++tree) {
        const espl__tree *const old = &p->transfer.from->trees[tree];

        if (old->capacity == 0) {
            continue;
        }
        const espl__side *const old_side = espl__side_of(p->transfer.from, old);
        const uint32_t number = espl__tree_take(p->transfer.to);
        espl__tree *const header = &p->transfer.to->trees[number];

        header->base = p->transfer.to->end;
        header->capacity = packed_capacity(p, old);
        p->transfer.to->end += header->capacity;
        ESPL_CHECK(header->capacity >= old->live &&
                   p->transfer.to->end <= p->transfer.to->capacity);
        if (needs_side(p, old_side)) {
            espl__side *const side =
                espl__sides_reserve(p->transfer.to, 1)
                    ? espl__side_make(p->transfer.to, header->capacity, needs_kept(p, old_side))
                    : NULL;

            if (side == NULL) {
                return false;
            }
            side->is_prepaid = !p->is_tight && old_side->is_prepaid;
            espl__tree_put_side(p->transfer.to, number, side);
        }
    }
    return true;
}

// --- Copies ---

// Return a slot at the same distance from the new base, or ESPL__NO_SLOT for itself.
static uint32_t shifted(uint32_t slot, uint32_t by)
{
    return slot == ESPL__NO_SLOT ? slot : slot + by;
}

// Copy a range with several roots, with its holes: each slot keeps its distance from the base.
static void copy_shifted(const compaction *p, uint32_t number, const espl__tree *tree,
                         const espl__tree *old)
{
    const espl__forest *const source = p->transfer.from;
    espl__forest *const to = p->transfer.to;
    const uint32_t by = tree->base - old->base; // modulo 2^32

    ESPL_CHECK(tree->capacity >= old->used);
    for (uint32_t from = old->base; from < old->base + old->used; ++from) {
        const espl__links *const links = &source->links[from];

        to->parent[from + by] = shifted(source->parent[from], by);
        to->tree[from + by] = number;
        to->links[from + by] =
            (espl__links){shifted(links->first_child, by), shifted(links->next, by),
                          shifted(links->previous, by), links->entity};
        espl__node_copy(&p->transfer, from + by, from, tree->base, espl__side_of(to, tree));
        if (links->entity != ESPL__NO_ENTITY) {
            p->transfer.moved(p->transfer.context, &links->entity, from + by, 1);
        }
    }
    espl__range_clear(to, number, tree->base + old->used, tree->base + tree->capacity);
}

// Copy one tree to its new range, and complete its new header.
static void move_tree(const compaction *p, uint32_t number, const espl__tree *old)
{
    espl__forest *const to = p->transfer.to;
    espl__tree *const tree = &to->trees[number];
    const bool is_single = espl__tree_is_single(p->transfer.from, old);

    ESPL_CHECK(old->moved == 0 && old->incoming == 0 && old->mark == 0);
    if (is_single) {
        const espl__tree reserved = *tree;

        *tree = espl__copy_in_order(&p->transfer, old->base, number, tree->base, tree->capacity,
                                    espl__side_of(to, tree));
        tree->side = reserved.side;
        tree->side_number = reserved.side_number;
        ESPL_CHECK(tree->live == old->live && tree->exceptional == old->exceptional);
    } else {
        tree->used = old->used;
        tree->live = old->live;
        tree->roots = old->roots;
        tree->exceptional = old->exceptional;
        tree->hole = shifted(old->hole, tree->base - old->base);
        tree->debt = old->debt;
        copy_shifted(p, number, tree, old);
    }
    // A tree that was in order was copied, not laid out.
    if (is_single && (old->flags & ESPL__TREE_IN_ORDER) == 0) {
        to->layouts += 1;
        to->nodes_laid_out += old->live;
    }
    if ((old->flags & ESPL__TREE_UNSETTLED) != 0) {
        espl__tree_mark_unsettled(to, number);
    }
}

void espl__forest_keep_settings(espl__forest *to, const espl__forest *from)
{
    to->makings = from->makings + 1;
    to->kernels = from->kernels;
    to->grain = from->grain;
    to->cell_size = from->cell_size;
    to->rebased = from->rebased;
    to->modes = from->modes;
    to->context = from->context;
    to->searched_in_vain = from->searched_in_vain;
    to->layouts = from->layouts;
    to->nodes_laid_out = from->nodes_laid_out;
    to->nodes_moved = from->nodes_moved;
    to->presented = from->presented;
}

// --- Compaction ---

// Tell whether a tight compaction would leave side arrays as they are.
static bool is_side_tight(const espl__side *side)
{
    return side == NULL || ((side->has_kept != 0) == (side->kept_count != 0) && !side->is_prepaid);
}

// Tell whether a tight compaction would change nothing, so that it is skipped and moves no node. It would put trees
// in the order of their numbers.
static bool is_tight(const espl__forest *forest)
{
    uint32_t base = 0;

    if (forest->capacity != forest->end || forest->free_slots != 0 ||
        forest->tree_capacity != forest->tree_end) {
        return false;
    }
    for (uint32_t tree = 0; tree < forest->tree_end; ++tree) {
        const espl__tree *const header = &forest->trees[tree];

        // A free header has no flags, so that it is not tight.
        if (header->base != base ||
            header->capacity != header->live + espl__tree_spare(header->live) ||
            (header->flags & ESPL__TREE_IN_ORDER) == 0 ||
            !is_side_tight(espl__side_of(forest, header))) {
            return false;
        }
        base += header->capacity;
    }
    return true;
}

bool espl__forest_compact(espl__forest *forest, bool tightly, espl__moved_function moved,
                          void *context)
{
    espl__forest packed;
    const compaction p = {{forest, &packed, moved, context}, tightly};
    uint32_t next = 0;

    ESPL_CHECK(!espl__forest_is_edited(forest) && forest->nursery == ESPL__NO_TREE);
    if (tightly && is_tight(forest)) {
        return true;
    }
    espl__forest_init(&packed, forest->heap);
    if (!reserve_compacted(&p)) {
        espl__forest_free(&packed);
        return false;
    }
    espl__heap_forbid(forest->heap);
    espl__forest_keep_settings(&packed, forest);
    packed.floor = tightly ? 0 : forest->floor;
    packed.tree_floor = tightly ? 0 : forest->tree_floor;
    for (uint32_t tree = 0; tree < forest->tree_end; ++tree) {
        if (forest->trees[tree].capacity != 0) {
            move_tree(&p, next++, &forest->trees[tree]);
        }
    }
    ESPL_CHECK(next == packed.tree_end);
    // Slots that lost their nodes are among them.
    if (espl__plane_is_open(&packed.tracks.planes[ESPL__PLANE_PLACE])) {
        espl__plane_mark_range(&packed.tracks.planes[ESPL__PLANE_PLACE], 0, packed.end);
    }
    espl__forest_free(forest);
    *forest = packed;
    espl__heap_allow(forest->heap);
    return true;
}
