// SPDX-License-Identifier: MIT
// The layout of a sketch: breadth-first order in pieces. Ranks that nobody asked for keep their
// children, so that a stretch of them and the stretch of their children only move; a known node
// stands alone. The pieces are their own queue.
//
// What stands before the lowest known rank of a run stays as it is; and once a single stretch is
// left to be looked at with no known rank behind it, all the rest moves as it does.
#include "lib/tree/sketch.h"

#include <string.h>

enum { WORD_BITS = 64 };

// A hierarchy under way.
typedef struct layout {
    espl__sketch *sketch;
    const espl__forest *forest;
    espl__laid *laid;
    uint32_t head;     // piece whose children come next
    uint32_t position; // ranks given out
    bool is_finite;
} layout;

static espl__piece *piece_at(const layout *l, uint32_t i)
{
    return (espl__piece *)l->sketch->pieces.items + i;
}

static espl_pose *world_at(const layout *l, uint32_t i)
{
    return (espl_pose *)l->sketch->worlds.items + i;
}

// --- Known ranks ---

static uint64_t *bits_of(const espl__sketch *sketch, const espl__load *load)
{
    return (uint64_t *)sketch->bits.items + load->bits;
}

static bool reserve_bits(espl__sketch *sketch, const uint32_t *loads, size_t count)
{
    size_t words = 0;

    for (size_t i = 0; i < count; ++i) {
        espl__load *const load = &sketch->loads[loads[i]];

        load->bits = (uint32_t)words;
        load->lowest = sketch->forest->runs[load->run].size;
        words += espl__sketch_words(load->lowest);
    }
    sketch->bits.count = 0;
    if (!espl__bag_reserve(&sketch->bits, sketch->heap, sizeof(uint64_t), words)) {
        return false;
    }
    memset(sketch->bits.items, 0, words * sizeof(uint64_t));
    return true;
}

static void mark_known(espl__sketch *sketch)
{
    const espl__node *const known = sketch->known.items;

    for (uint32_t i = 1; i < sketch->known.count; ++i) {
        espl__load *const load = &sketch->loads[known[i].load];
        const uint32_t rank = sketch->forest->rank[known[i].slot];

        bits_of(sketch, load)[rank / WORD_BITS] |= UINT64_C(1) << rank % WORD_BITS;
        load->lowest = rank < load->lowest ? rank : load->lowest;
    }
}

// The first known rank in [rank, end), or the end.
static uint32_t next_known(const layout *l, uint32_t load, uint32_t rank, uint32_t end)
{
    const uint64_t *const bits = bits_of(l->sketch, &l->sketch->loads[load]);

    while (rank < end) {
        const uint64_t word = bits[rank / WORD_BITS] >> rank % WORD_BITS;

        if (word != 0) {
            const uint32_t found = rank + (uint32_t)__builtin_ctzll(word);

            return found < end ? found : end;
        }
        rank = (rank | (WORD_BITS - 1)) + 1;
    }
    return end;
}

static const espl__run *run_of(const layout *l, uint32_t load)
{
    return &l->forest->runs[l->sketch->loads[load].run];
}

static uint32_t slot_at(const layout *l, uint32_t load, uint32_t rank)
{
    return l->forest->order[run_of(l, load)->base + rank];
}

// --- Pieces ---

static void push_piece(layout *l, const espl__piece *piece)
{
    espl__bag *const bag = &l->sketch->pieces;

    if (!espl__bag_reserve(bag, l->sketch->heap, sizeof *piece, 1)) {
        l->sketch->is_failed = true;
        return;
    }
    espl__piece *const to = (espl__piece *)bag->items + bag->count++;

    *to = *piece;
    to->position = l->position;
    to->worlds = ESPL__NO_NODE;
    l->position += piece->count;
    l->laid->entrants += espl__piece_is_resident(piece, l->laid) ? 0 : piece->count;
}

// Ranks that nobody asked for, below one piece.
static void push_ranks(layout *l, uint32_t load, uint32_t begin, uint32_t end, uint32_t parents,
                       uint32_t above)
{
    const espl__piece piece = {.node = ESPL__NO_NODE,
                               .load = load,
                               .rank = begin,
                               .count = end - begin,
                               .parents = parents,
                               .above = above};

    if (begin < end) {
        push_piece(l, &piece);
    }
}

static void push_node(layout *l, uint32_t node, uint32_t parent, uint32_t above)
{
    const espl__node *const n = espl__sketch_at(l->sketch, node);
    const bool is_made = espl__sketch_is_made(node);
    const espl__piece piece = {.node = node,
                               .load = n->load,
                               .rank = is_made ? ESPL__NO_NODE : l->forest->rank[n->slot],
                               .count = 1,
                               .parents = parent,
                               .above = above};

    push_piece(l, &piece);
}

// Children of ranks that nobody asked for: all there, in order, known ones among them.
static void push_range(layout *l, uint32_t load, uint32_t begin, uint32_t end, uint32_t parents,
                       uint32_t above)
{
    const espl__run *const run = run_of(l, load);

    while (begin < end) {
        const uint32_t known = next_known(l, load, begin, end);

        push_ranks(l, load, begin, known, parents, above);
        if (known < end) {
            push_node(l, slot_at(l, load, known), l->forest->parent[run->base + known] + parents,
                      above);
        }
        begin = known + 1;
    }
}

// Children of a known node, by its list. One that nobody asked for was a child of it before, and so
// were those behind it up to the next known one.
static void push_children(layout *l, uint32_t number)
{
    const espl__piece piece = *piece_at(l, number);
    uint32_t child = espl__sketch_at(l->sketch, piece.node)->first;

    while (child != ESPL__NO_NODE) {
        if (espl__sketch_is_known(l->sketch, child)) {
            push_node(l, child, piece.position, number);
            child = espl__sketch_at(l->sketch, child)->next;
            continue;
        }
        const espl__run *const run = run_of(l, piece.load);
        const uint32_t begin = l->forest->rank[child];
        const uint32_t last = espl__first_child(l->forest, run, piece.rank + 1);
        const uint32_t end = next_known(l, piece.load, begin, last);

        push_ranks(l, piece.load, begin, end, piece.position - piece.rank, number);
        child = end < last ? slot_at(l, piece.load, end) : ESPL__NO_NODE;
    }
}

// --- Worlds ---

// New world of the parent of a piece's i-th node; NULL: it is as in the forest, or there is none.
static const espl_pose *new_world_above(const layout *l, const espl__piece *piece, uint32_t i)
{
    if (piece->above == ESPL__NO_NODE) {
        return NULL;
    }
    const espl__piece *const above = piece_at(l, piece->above);

    if (above->worlds == ESPL__NO_NODE) {
        return NULL;
    }
    if (above->node != ESPL__NO_NODE) {
        return world_at(l, above->worlds);
    }
    const uint32_t parent = l->forest->parent[run_of(l, piece->load)->base + piece->rank + i];

    return world_at(l, above->worlds + (parent - above->rank));
}

static bool reserve_worlds(layout *l, uint32_t count)
{
    if (!espl__bag_reserve(&l->sketch->worlds, l->sketch->heap, sizeof(espl_pose), count)) {
        l->sketch->is_failed = true;
    }
    return !l->sketch->is_failed;
}

// One node's world when it may differ; its parent's is final.
static void settle_node(layout *l, uint32_t number)
{
    espl__sketch *const sketch = l->sketch;
    const espl__piece piece = *piece_at(l, number);
    espl__node *n = espl__sketch_at(sketch, piece.node);
    const bool is_made = espl__sketch_is_made(piece.node);
    const espl_pose *up = new_world_above(l, &piece, 0);

    n->flags &= ~(unsigned)ESPL__NODE_CHANGED;
    if ((!is_made && up == NULL && (n->flags & ESPL__NODE_DIRTY) == 0) || !reserve_worlds(l, 1)) {
        return;
    }
    if (up == NULL && n->parent != ESPL__NO_NODE) {
        up = &l->forest->world[n->parent]; // a made one has a new world
    } else if (up != NULL) {
        up = new_world_above(l, &piece, 0); // it may have moved
    }
    const espl_pose world = espl__sketch_world_below(sketch, piece.node, up);

    n = espl__sketch_at(sketch, piece.node);
    // A stretch moves what hangs below even where the node's own pose stays.
    const bool is_passed_on = (n->flags & (ESPL__NODE_RESTRETCHED | ESPL__NODE_MOVED)) != 0 ||
                              espl__sketch_copies(sketch, piece.node);
    if (!is_made && !is_passed_on && espl__pose_is_same(&world, &l->forest->world[n->slot])) {
        return;
    }
    n->flags |= ESPL__NODE_CHANGED;
    n->world = sketch->worlds.count;
    piece_at(l, number)->worlds = sketch->worlds.count;
    *world_at(l, sketch->worlds.count++) = world;
    sketch->changed_count += 1;
    l->is_finite = l->is_finite && espl__pose_is_finite(&world);
}

// World of a node that nobody asked for, below one that changed.
static espl_pose stretch_world(const layout *l, const espl__piece *piece, uint32_t i)
{
    const espl__forest *const forest = l->forest;
    const espl__run *const run = run_of(l, piece->load);
    const uint32_t slot = forest->order[run->base + piece->rank + i];
    const espl_pose *const up = new_world_above(l, piece, i);

    if (espl__slot_is(forest, slot, ESPL__SLOT_PASS)) {
        return *up;
    }
    const uint32_t parent = forest->order[run->base + forest->parent[run->base + piece->rank + i]];
    const espl__placement placement = espl__sketch_placement(l->sketch, slot);
    const espl__frame frame = {*up, espl__sketch_extra(l->sketch, parent)};

    return espl__placement_world(&placement, &frame);
}

// The worlds of a stretch. Where one of them differs all count as new; and where side arrays are
// written anew, or a pass-through may show another extra in the same world.
static void settle_ranks(layout *l, uint32_t number)
{
    espl__sketch *const sketch = l->sketch;
    const espl__piece piece = *piece_at(l, number);
    const espl__run *const run = run_of(l, piece.load);
    bool is_passed_on = run->side != NULL;
    size_t changed = 0;

    if (new_world_above(l, &piece, 0) == NULL || !reserve_worlds(l, piece.count)) {
        return;
    }
    for (uint32_t i = 0; i < piece.count; ++i) {
        const uint32_t slot = l->forest->order[run->base + piece.rank + i];
        const espl_pose world = stretch_world(l, &piece, i);

        is_passed_on = is_passed_on || espl__slot_is(l->forest, slot, ESPL__SLOT_PASS);
        changed += espl__pose_is_same(&world, &l->forest->world[slot]) ? 0 : 1;
        *world_at(l, sketch->worlds.count + i) = world;
        l->is_finite = l->is_finite && espl__pose_is_finite(&world);
    }
    if (changed != 0 || is_passed_on) {
        piece_at(l, number)->worlds = sketch->worlds.count;
        sketch->worlds.count += piece.count;
        sketch->changed_count += changed;
    }
}

// --- One hierarchy ---

// Tell whether the piece at hand is all that is left, and everything behind it moves as it does.
static bool is_rest(const layout *l, const espl__piece *piece)
{
    const espl__run *const run = run_of(l, piece->load);
    const uint32_t end = piece->rank + piece->count;

    return l->head + 1 == l->sketch->pieces.count && piece->worlds == ESPL__NO_NODE &&
           espl__first_child(l->forest, run, piece->rank) == end &&
           next_known(l, piece->load, end, run->size) == run->size;
}

// The stretch behind the one at hand to the end of the run; nothing follows from it any more.
static void push_rest(layout *l, uint32_t number)
{
    const espl__piece piece = *piece_at(l, number);
    const uint32_t end = piece.rank + piece.count;
    const uint32_t by = piece.position - piece.rank;

    piece_at(l, number)->firsts = by;
    push_ranks(l, piece.load, end, run_of(l, piece.load)->size, by, number);
    if (l->sketch->pieces.count > number + 1) {
        piece_at(l, number + 1)->firsts = by;
        l->head += 1;
    }
}

static void push_below_ranks(layout *l, uint32_t number)
{
    const espl__piece piece = *piece_at(l, number);
    const espl__run *const run = run_of(l, piece.load);
    const uint32_t begin = espl__first_child(l->forest, run, piece.rank);
    const uint32_t end = espl__first_child(l->forest, run, piece.rank + piece.count);

    if (is_rest(l, &piece)) {
        push_rest(l, number);
        return;
    }
    piece_at(l, number)->firsts = l->position - begin;
    push_range(l, piece.load, begin, end, piece.position - piece.rank, number);
}

// Ranks before the lowest known one: they stay, but children of the last of them are yet to come.
static void push_prefix(layout *l, uint32_t load)
{
    const espl__run *const run = run_of(l, load);
    const uint32_t lowest = l->sketch->loads[load].lowest;

    ESPL_CHECK(lowest < run->size); // what is laid out was changed, and what was changed is known
    push_ranks(l, load, 0, lowest, 0, ESPL__NO_NODE);
    if (l->sketch->is_failed) {
        return;
    }
    piece_at(l, l->head)->firsts = 0;
    push_range(l, load, lowest, espl__first_child(l->forest, run, lowest), 0, l->head);
    l->head += 1;
}

static void lay_hierarchy(layout *l)
{
    espl__sketch *const sketch = l->sketch;
    espl__laid *const laid = l->laid;
    const uint32_t load = laid->load;

    l->head = laid->begin = sketch->pieces.count;
    l->position = 0;
    if (load != ESPL__NO_NODE && sketch->loads[load].lowest != 0) {
        push_prefix(l, load);
    } else {
        push_node(l, laid->root, ESPL__NO_SLOT, ESPL__NO_NODE);
    }
    for (; l->head < sketch->pieces.count && !sketch->is_failed; ++l->head) {
        const uint32_t number = l->head;

        if (piece_at(l, number)->node == ESPL__NO_NODE) {
            settle_ranks(l, number);
            push_below_ranks(l, number);
        } else {
            settle_node(l, number);
            piece_at(l, number)->firsts = l->position;
            push_children(l, number);
        }
    }
    laid->end = sketch->pieces.count;
    laid->size = l->position;
}

// --- All of them ---

static bool open_hierarchy(espl__sketch *sketch, const espl__laid *laid, bool *is_finite)
{
    layout l = {.sketch = sketch, .forest = sketch->forest, .is_finite = *is_finite};
    espl__laid done = *laid;

    if (!espl__bag_reserve(&sketch->laid, sketch->heap, sizeof done, 1)) {
        sketch->is_failed = true;
        return false;
    }
    l.laid = &done;
    lay_hierarchy(&l);
    ((espl__laid *)sketch->laid.items)[sketch->laid.count++] = done;
    *is_finite = l.is_finite;
    return !sketch->is_failed;
}

static bool is_root(const espl__node *n)
{
    return n->parent == ESPL__NO_NODE && (n->flags & ESPL__NODE_DEAD) == 0;
}

// Hierarchies that go on in their runs. A root that nobody asked for is one still.
static void lay_loads(espl__sketch *sketch, const uint32_t *loads, size_t count, bool *is_finite)
{
    const espl__forest *const forest = sketch->forest;

    for (size_t i = 0; i < count && !sketch->is_failed; ++i) {
        espl__load *const load = &sketch->loads[loads[i]];
        const uint32_t root = forest->order[forest->runs[load->run].base];

        load->goes_on =
            !espl__sketch_is_known(sketch, root) || is_root(espl__sketch_at(sketch, root));
        if (load->goes_on && (load->is_restructured || load->is_dirty)) {
            const espl__laid laid = {
                .root = root, .load = loads[i], .is_restructured = load->is_restructured};

            (void)open_hierarchy(sketch, &laid, is_finite);
        }
    }
}

static void lay_new(espl__sketch *sketch, uint32_t root, bool *is_finite)
{
    const espl__laid laid = {.root = root, .load = ESPL__NO_NODE, .is_restructured = true};

    (void)open_hierarchy(sketch, &laid, is_finite);
}

// Roots that were members, in the order in which they were noted.
static void lay_noted(espl__sketch *sketch, bool *is_finite)
{
    for (uint32_t i = 0; i < sketch->noted.count && !sketch->is_failed; ++i) {
        const uint32_t node = ((const uint32_t *)sketch->noted.items)[i];

        if (!espl__sketch_is_made(node) && sketch->forest->rank[node] != 0 &&
            is_root(espl__sketch_at(sketch, node))) {
            lay_new(sketch, node, is_finite);
        }
    }
}

static void lay_made(espl__sketch *sketch, bool *is_finite)
{
    for (uint32_t i = 0; i < sketch->made.count && !sketch->is_failed; ++i) {
        if (is_root((const espl__node *)sketch->made.items + i)) {
            lay_new(sketch, ESPL__MADE | i, is_finite);
        }
    }
}

bool espl__sketch_lay_out(espl__sketch *sketch, const uint32_t *loads, size_t count)
{
    bool is_finite = true;

    sketch->laid.count = sketch->pieces.count = sketch->worlds.count = 0;
    sketch->changed_count = 0;
    if (!reserve_bits(sketch, loads, count)) {
        sketch->is_failed = true;
        return false;
    }
    mark_known(sketch);
    lay_loads(sketch, loads, count, &is_finite);
    lay_noted(sketch, &is_finite);
    lay_made(sketch, &is_finite);
    return is_finite && !sketch->is_failed;
}
