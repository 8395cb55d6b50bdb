// SPDX-License-Identifier: MIT
// Draws churn on a model of the links, and lays the forest of its end out anew.
#include "bench/loads/churn.h"

#include "bench/blocks.h"
#include "bench/contest.h"
#include "bench/draw.h"

enum { churn_seed = 113 };

// A node that a prefab hangs from is no leaf.
static void draw_births(struct churn *churn, struct draw *draw, unsigned frame)
{
    struct birth *const births = churn->births + (size_t)frame * churn->count;
    const struct birth *const doomed =
        frame < churn_life ? NULL : births - (size_t)churn_life * churn->count;

    for (uint32_t i = 0; doomed != NULL && i < churn->count; ++i) {
        --churn->links.child_counts[doomed[i].parent];
    }
    for (uint32_t i = 0; i < churn->count; ++i) {
        births[i].parent = draw_below(draw, churn->links.count);
        births[i].local = draw_pose(draw, MEMBER_SIDE);
        ++churn->links.child_counts[births[i].parent];
    }
}

struct churn churn_create(const struct forest *forest, uint32_t count, uint64_t prefab_seed)
{
    const size_t total = (size_t)churn_frames * count;
    struct churn churn = {
        .count = count,
        .births = block_new(total, sizeof(struct birth)),
        .moves = block_new(total, sizeof(struct move)),
        .links = links_create(forest),
    };

    contest_draw_prefab(churn.prefab, prefab_seed);
    for (unsigned frame = 0; frame < churn_frames; ++frame) {
        struct move *const moves = churn.moves + (size_t)frame * count;
        struct draw draw = draw_begin(churn_seed, frame);

        draw_births(&churn, &draw, frame);
        for (uint32_t i = 0; i < count; ++i) {
            moves[i] = links_draw_move(&churn.links, &draw);
        }
    }
    return churn;
}

void churn_destroy(struct churn *churn)
{
    free(churn->births);
    free(churn->moves);
    links_destroy(&churn->links);
}

/// The forest of the end in its old numbers, where a parent may have the greater one: nodes of the
/// forest first, living prefabs behind.
struct jumble {
    uint32_t *parents;      ///< [count]
    struct pose *locals;    ///< [count]
    uint32_t *child_begins; ///< [count + 1] first of each node's children in `children`.
    uint32_t *children;     ///< [count] ascending below each node; roots are left out.
    uint32_t count;
};

static void add_living(struct jumble *jumble, const struct churn *churn, uint32_t first_prefab)
{
    const struct birth *const births =
        churn->births + (size_t)(churn_frames - churn_life) * churn->count;

    for (uint32_t i = 0; i < churn_living(churn); ++i) {
        const uint32_t first = first_prefab + PREFAB_SIZE * i;

        for (uint32_t node = 0; node < PREFAB_SIZE; ++node) {
            jumble->parents[first + node] = node == 0 ? births[i].parent : first;
            jumble->locals[first + node] = node == 0 ? births[i].local : churn->prefab[node];
        }
    }
}

// Children by a counting sort: each node's begin is moved to its end while they are handed out from
// the last to the first, and so comes to rest where it belongs.
static void sort_children(const struct jumble *jumble)
{
    uint32_t *const begins = jumble->child_begins;
    uint32_t end = 0;

    memset(begins, 0, ((size_t)jumble->count + 1) * sizeof *begins);
    for (uint32_t node = 0; node < jumble->count; ++node) {
        if (jumble->parents[node] != NO_NODE) {
            ++begins[jumble->parents[node]];
        }
    }
    for (uint32_t node = 0; node <= jumble->count; ++node) {
        end += begins[node];
        begins[node] = end;
    }
    for (uint32_t node = jumble->count; node-- > 0;) {
        if (jumble->parents[node] != NO_NODE) {
            jumble->children[--begins[jumble->parents[node]]] = node;
        }
    }
}

static struct jumble jumble_create(const struct churn *churn, const struct forest *forest)
{
    const uint32_t count = (uint32_t)forest->count + PREFAB_SIZE * churn_living(churn);
    struct jumble jumble = {
        .parents = block_new(count, sizeof(uint32_t)),
        .locals = block_new(count, sizeof(struct pose)),
        .child_begins = block_new((size_t)count + 1, sizeof(uint32_t)),
        .children = block_new(count, sizeof(uint32_t)),
        .count = count,
    };

    memcpy(jumble.parents, churn->links.parents, forest->count * sizeof(uint32_t));
    memcpy(jumble.locals, forest->locals, forest->count * sizeof(struct pose));
    add_living(&jumble, churn, (uint32_t)forest->count);
    sort_children(&jumble);
    return jumble;
}

static void jumble_destroy(struct jumble *jumble)
{
    free(jumble->parents);
    free(jumble->locals);
    free(jumble->child_begins);
    free(jumble->children);
}

// Write the old numbers of a tree's nodes in their new order, from place `begin` on. Return the
// end.
static uint32_t order_tree(const struct jumble *jumble, uint32_t *order, uint32_t begin,
                           uint32_t root)
{
    uint32_t end = begin;

    order[end++] = root;
    for (uint32_t place = begin; place < end; ++place) {
        const uint32_t node = order[place];

        for (uint32_t i = jumble->child_begins[node]; i < jumble->child_begins[node + 1]; ++i) {
            order[end++] = jumble->children[i];
        }
    }
    return end;
}

struct forest churn_forest(const struct churn *churn, const struct forest *forest,
                           uint32_t *numbers)
{
    struct jumble jumble = jumble_create(churn, forest);
    uint32_t *const order = block_new(jumble.count, sizeof *order);
    struct forest out = {
        .shape = {forest->shape.trees, 0, 0},
        .count = jumble.count,
        .parents = block_new(jumble.count, sizeof(uint32_t)),
        .locals = block_new(jumble.count, sizeof(struct pose)),
    };
    uint32_t end = 0;

    for (uint32_t tree = 0; tree < forest->shape.trees; ++tree) {
        end = order_tree(&jumble, order, end, forest_root(forest, tree));
    }
    for (uint32_t place = 0; place < end; ++place) {
        const uint32_t parent = jumble.parents[order[place]];

        numbers[order[place]] = place;
        out.parents[place] = parent == NO_NODE ? NO_NODE : numbers[parent];
        out.locals[place] = jumble.locals[order[place]];
    }
    free(order);
    jumble_destroy(&jumble);
    return out;
}
