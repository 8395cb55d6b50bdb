// SPDX-License-Identifier: MIT
// The layout of a sketch beside the naive tree: every hierarchy in breadth-first order, every
// piece, every world, and that nothing but what differs is laid out.
#ifndef ESPALIER_TESTS_TREE_LAID_PLANTS_H
#define ESPALIER_TESTS_TREE_LAID_PLANTS_H

#include "tests/tree/plants.h"

// One hierarchy under way: rank by rank as a queue has it, with the pieces that ranks are in.
typedef struct bed {
    uint32_t queue[PLANTS], parent[PLANTS], piece[PLANTS];
    uint32_t size, first, entrants;
    size_t changed;
} bed;

// Where parents have new worlds a piece says where.
static inline bool above_agrees(const bed *b, uint32_t up, const espl__piece *piece)
{
    const uint32_t above = up == ESPL__NO_SLOT ? NONE : b->piece[up];

    if (above != NONE && espl__sketch_piece(&sketch, above)->worlds != NONE) {
        return piece->above == above;
    }
    return piece->above == NONE || espl__sketch_piece(&sketch, piece->above)->worlds == NONE;
}

// What the layout says of one node against the naive tree.
static inline bool rank_agrees(const bed *b, uint32_t rank, const espl__piece *piece, uint32_t i)
{
    const uint32_t node = espl__piece_node(&sketch, piece, i), up = b->parent[rank];
    const bool is_alone = piece->node != NONE;
    const uint32_t at = is_alone ? 0 : g.forest.runs[loads[piece->load].run].base + piece->rank + i;
    const uint32_t parent = is_alone ? piece->parents : g.forest.parent[at] + piece->parents;
    const uint32_t first = is_alone ? piece->firsts : g.forest.first[at] + piece->firsts;
    const uint32_t old_rank = piece->load == NONE ? NONE : g.forest.rank[node] - i;

    return node == plants[b->queue[rank]].node && parent == up && first == b->first &&
           is_alone == espl__sketch_is_known(&sketch, node) &&
           piece->load == plants[b->queue[rank]].load && piece->rank == old_rank &&
           above_agrees(b, up, piece);
}

// What there was of a node before; a made one had nothing.
static inline bool differs_from_forest(uint32_t node, const espl_pose *world)
{
    return espl__sketch_is_made(node) || !grove_same(world, &g.forest.world[node]);
}

static inline bool final_world_agrees(bed *b, uint32_t rank, const espl__piece *piece, uint32_t i)
{
    const uint32_t number = b->queue[rank], node = plants[number].node;
    const espl_pose expected = plain_world(number);
    const bool is_new = piece->worlds != NONE;
    const bool agrees = is_new ? grove_same(&expected, espl__piece_world(&sketch, piece, i))
                               : !differs_from_forest(node, &expected);

    if (piece->node == NONE) {
        b->changed += differs_from_forest(node, &expected);
        return agrees;
    }
    const espl__node *const n = espl__sketch_at(&sketch, node);

    b->changed += is_new;
    return agrees && is_new == ((n->flags & ESPL__NODE_CHANGED) != 0) &&
           (!is_new || n->world == piece->worlds);
}

// What only worlds changed of stands as it stands in the forest.
static inline bool piece_stays(const espl__laid *laid, const espl__piece *piece)
{
    const uint32_t at = g.forest.runs[loads[piece->load].run].base + piece->rank;
    const bool is_alone = piece->node != NONE;

    return espl__piece_stays(piece, laid) &&
           piece->parents == (is_alone ? g.forest.parent[at] : 0) &&
           piece->firsts == (is_alone ? g.forest.first[at] : 0);
}

// Where a piece stands, by the naive tree's own numbers.
static inline bool piece_agrees(const espl__laid *laid, const espl__piece *piece, uint32_t rank)
{
    const bool is_resident = laid->load != NONE && piece->load == laid->load;

    return piece->position == rank && piece->count >= 1 &&
           (piece->node == NONE || piece->count == 1) &&
           espl__piece_is_resident(piece, laid) == is_resident &&
           espl__piece_stays(piece, laid) == (is_resident && piece->rank == rank) &&
           (laid->is_restructured || piece_stays(laid, piece));
}

static inline void enqueue_children(bed *b, uint32_t rank)
{
    const plant *const p = &plants[b->queue[rank]];

    b->first += p->count;
    for (uint32_t i = 0; i < p->count; ++i) {
        b->parent[b->size] = rank;
        b->queue[b->size++] = p->child[i];
    }
}

// One hierarchy of the layout: a queue, and SPEC's formulas. @return nodes whose world differs.
static inline size_t hierarchy_agrees(uint32_t root, uint32_t load, const espl__laid *laid)
{
    static bed b;
    uint32_t rank = 0;

    b.queue[0] = root;
    b.parent[0] = ESPL__NO_SLOT;
    b.size = b.first = 1;
    b.entrants = 0;
    b.changed = 0;
    ck_assert_uint_eq(laid->root, plants[root].node);
    ck_assert_uint_eq(laid->load, load);
    ck_assert_int_eq(laid->is_restructured, load == NONE || loads[load].is_restructured);
    for (uint32_t i = laid->begin; i < laid->end; ++i) {
        const espl__piece *const piece = espl__sketch_piece(&sketch, i);

        if (!piece_agrees(laid, piece, rank)) {
            ck_abort_msg("piece %u", i);
        }
        b.entrants += load != NONE && piece->load == load ? 0 : piece->count;
        for (uint32_t k = 0; k < piece->count; ++k, ++rank) {
            b.piece[rank] = i;
            if (rank >= b.size || !rank_agrees(&b, rank, piece, k)) {
                ck_abort_msg("links at rank %u", rank);
            }
            if (!final_world_agrees(&b, rank, piece, k)) {
                ck_abort_msg("world at rank %u", rank);
            }
            enqueue_children(&b, rank);
        }
    }
    ck_assert_uint_eq(rank, b.size);
    ck_assert_uint_eq(laid->size, b.size);
    ck_assert_uint_eq(laid->entrants, b.entrants);
    return b.changed;
}

// A hierarchy that is not laid out stands as it is: its naive tree is that of the forest.
static inline void untouched_agrees(uint32_t root, const espl__load *load)
{
    const espl__run *const run = &g.forest.runs[load->run];
    static bed b;

    b.queue[0] = root;
    b.size = b.first = 1;
    for (uint32_t rank = 0; rank < b.size; ++rank) {
        const uint32_t number = b.queue[rank];
        const espl_pose world = plain_world(number);

        if (rank >= run->size || plants[number].node != g.forest.order[run->base + rank] ||
            g.forest.first[run->base + rank] != b.first ||
            differs_from_forest(plants[number].node, &world)) {
            ck_abort_msg("rank %u of a hierarchy that is not laid out", rank);
        }
        enqueue_children(&b, rank);
    }
    ck_assert_uint_eq(b.size, run->size);
}

// Noted are those with the flag, once each.
static inline void noted_agree(void)
{
    size_t flagged = 0, listed = 0;

    for (uint32_t number = 0; number < plant_count; ++number) {
        const uint32_t node = plants[number].node;
        const bool is_noted = espl__sketch_is_known(&sketch, node) &&
                              (node_of(number)->flags & ESPL__NODE_NOTED) != 0;

        flagged += is_noted;
        for (uint32_t i = 0; is_noted && i < sketch.noted.count; ++i) {
            listed += espl__sketch_noted(&sketch, i) == node;
        }
    }
    ck_assert_uint_eq(flagged, sketch.noted.count);
    ck_assert_uint_eq(listed, flagged);
}

static inline bool is_plain_root(uint32_t number)
{
    return plants[number].parent == NONE && !plants[number].is_dead;
}

// Walks over the hierarchies of a layout in the order in which they are to stand.
typedef struct survey {
    uint32_t laid, pieces, untouched;
    size_t changed;
} survey;

static inline void next_hierarchy(survey *s, uint32_t root, uint32_t load)
{
    ck_assert_uint_lt(s->laid, sketch.laid.count);
    const espl__laid *const laid = espl__sketch_laid(&sketch, s->laid++);

    ck_assert_uint_eq(laid->begin, s->pieces);
    s->changed += hierarchy_agrees(root, load, laid);
    s->pieces = laid->end;
}

static inline void survey_loads(survey *s)
{
    for (uint32_t i = 0; i < load_count; ++i) {
        const espl__load *const load = &loads[load_numbers[i]];
        const uint32_t root = plant_of_slot[grove_slot(&g, load->run, 0)];

        ck_assert_int_eq(load->goes_on, is_plain_root(root));
        if (load->goes_on && !load->is_restructured && !load->is_dirty) {
            untouched_agrees(root, load);
            s->untouched += 1;
        } else if (load->goes_on) {
            next_hierarchy(s, root, load_numbers[i]);
        }
    }
}

static inline void layout_agrees(void)
{
    uint32_t roots = 0;
    survey s = {0};

    ck_assert(espl__sketch_lay_out(&sketch, load_numbers, load_count));
    survey_loads(&s);
    for (uint32_t i = 0; i < sketch.noted.count; ++i) {
        const uint32_t node = espl__sketch_noted(&sketch, i);

        if (!espl__sketch_is_made(node) && g.forest.rank[node] != 0 &&
            is_plain_root(plant_of(node))) {
            next_hierarchy(&s, plant_of(node), NONE);
        }
    }
    for (uint32_t i = 0; i < sketch.made.count; ++i) {
        if (is_plain_root(plant_of_made[i])) {
            next_hierarchy(&s, plant_of_made[i], NONE);
        }
    }
    for (uint32_t number = 0; number < plant_count; ++number) {
        roots += is_plain_root(number);
    }
    ck_assert_uint_eq(s.laid, sketch.laid.count);
    ck_assert_uint_eq(s.laid + s.untouched, roots);
    ck_assert_uint_eq(s.pieces, sketch.pieces.count);
    ck_assert_uint_eq(s.changed, sketch.changed_count);
    noted_agree();
}

#endif
