// SPDX-License-Identifier: MIT
// The propagation of propagate.h. Functions that compose worlds return an alarm: a sum of float
// that is 0 while all worlds are finite and NaN after one that is not, so that the frequent case
// costs no branch for each node. Only after an alarm the worlds are read again.
#include "lib/tree/propagate.h"

#include "lib/base/prefetch.h"
#include "lib/jobs/ranges.h"
#include "lib/tree/levels.h"
#include "lib/tree/worlds.h"

// --- One node ---

// The validation compares with this, so that it shares no code with the wide kernels.
espl_pose espl__world_expected(const espl__forest *forest, uint32_t slot)
{
    const uint32_t parent = forest->parent[slot];

    if (parent == ESPL__NO_SLOT) {
        return forest->local[slot];
    }
    if (espl__slot_copies(forest, slot)) {
        return forest->world[parent];
    }
    const espl__placement placement = espl__slot_placement(forest, slot);
    const espl__frame up = espl__slot_frame(forest, parent);

    return espl__placement_world(&placement, &up);
}

// Copy stretch and user data of the parent to a node that copies it. @return true where they
// changed.
static bool copy_extra(espl__forest *forest, uint32_t slot)
{
    const espl__extra shown = espl__slot_extra(forest, forest->parent[slot]);
    const espl__tree *const tree = espl__tree_of(forest, slot);

    // Inside an edit a copy may be in the range of another tree without side arrays: the parent has
    // the default then, or ensure_sides_of_copies() made them.
    if (tree->side == 0) {
        return false;
    }
    espl__extra *const extra = &espl__side_of_slot(forest, slot)->extra[slot - tree->base];
    const bool is_changed = memcmp(extra, &shown, sizeof shown) != 0;

    *extra = shown;
    if (is_changed) {
        espl__children_update_exceptional(forest, slot);
    }
    return is_changed;
}

// Recompute a root or an exceptional node. @return true where its children see a change.
static bool compose_exceptional(espl__forest *forest, uint32_t slot)
{
    const uint32_t parent = forest->parent[slot];
    const bool copies = parent != ESPL__NO_SLOT && espl__slot_copies(forest, slot);
    const bool is_stretched = copies && copy_extra(forest, slot);
    espl__wide_pose world =
        copies ? espl__wide_load(&forest->world[parent])
               : espl__world_below(forest, parent, espl__wide_load(&forest->local[slot]));

    if (!copies && parent != ESPL__NO_SLOT && espl__slot_is(forest, slot, ESPL__SLOT_KEEPS)) {
        const espl__kept kept = espl__slot_kept(forest, slot);
        espl_pose composed;

        espl__wide_store(&composed, world);
        espl__keep_parts(&composed, &kept);
        world = espl__wide_load(&composed);
    }
    const bool is_moved = !espl__wide_is_same(espl__wide_load(&forest->world[slot]), world);

    espl__world_store_wide(espl__worlds_of(forest), slot, world);
    return is_stretched || is_moved;
}

// Compute the world of any other node.
static inline espl__wide_pose compose_plain(const espl__forest *forest, uint32_t slot)
{
    ESPL_CHECK_FULL(!espl__is_root(forest, slot) &&
                    !espl__slot_is(forest, slot, ESPL__SLOT_EXCEPTIONAL));
    return espl__wide_compose(espl__wide_load(&forest->world[forest->parent[slot]]),
                              espl__wide_load(&forest->local[slot]));
}

bool espl__propagate_exceptional(espl__forest *forest, espl__context *context, uint32_t slot)
{
    const bool is_changed = compose_exceptional(forest, slot);

    context->counts.nodes_visited += 1;
    context->has_overflowed =
        context->has_overflowed || !espl__pose_is_finite(&forest->world[slot]);
    return is_changed;
}

// For one node at a time, as edits refresh paths. Ranges of nodes go through compose_range()
// instead.
bool espl__propagate_node(espl__forest *forest, espl__context *context, uint32_t slot)
{
    return espl__propagate_single(forest, context, slot);
}

// --- Flags in a range of slots ---

// Return the first slot of [begin, end) with a flag, or end. It reads many flags at a time, but none
// at or past the end, because another thread may write those of another tree.
static uint32_t find_flag(const espl__forest *forest, uint32_t begin, uint32_t end, unsigned flag)
{
    enum { WORDS = 4, BLOCK = WORDS * sizeof(uint64_t) };
    const uint64_t all = UINT64_C(0x0101010101010101) * flag;
    const uint8_t *const flags = forest->flags;
    uint32_t slot = begin;

    ESPL_CHECK_FULL(begin <= end && flag <= UINT8_MAX);
    for (; end - slot >= BLOCK; slot += BLOCK) {
        uint64_t block[WORDS];

        memcpy(block, flags + slot, sizeof block);
        if (((block[0] | block[1] | block[2] | block[3]) & all) != 0) {
            break;
        }
    }
    for (; end - slot >= sizeof all; slot += (uint32_t)sizeof all) {
        uint64_t word;

        memcpy(&word, flags + slot, sizeof word);
        if ((word & all) != 0) {
            break;
        }
    }
    while (slot < end && !espl__slot_is(forest, slot, flag)) {
        slot += 1;
    }
    return slot;
}

// Fast path: only a playback has stale nodes.
void espl__clear_stale(espl__forest *forest, uint32_t begin, uint32_t end)
{
    if (!espl__forest_is_edited(forest)) {
        return;
    }
    for (uint32_t slot = find_flag(forest, begin, end, ESPL__SLOT_STALE); slot < end;
         slot = find_flag(forest, slot + 1, end, ESPL__SLOT_STALE)) {
        forest->flags[slot] &= (uint8_t)~ESPL__SLOT_STALE;
    }
}

// --- Ranges of slots ---

// Compose slots none of which is exceptional. A few are composed here, because the call of the wide
// kernel costs more than it saves. The caller marks the range. @return the alarm.
static inline float compose_slots(espl__forest *forest, uint32_t begin, uint32_t end)
{
    enum { MANY = 8 };
    // In registers, because the compiler must assume that storing a world changes the originals.
    const espl__worlds stored = espl__worlds_of(forest);
    const espl_pose *const worlds = forest->world;
    const espl_pose *const locals = forest->local;
    const uint32_t *const parents = forest->parent;
    espl__wide_bits alarm = {0};

    if (end - begin >= MANY) {
        return espl__worlds_put(forest, begin, end);
    }
    for (uint32_t slot = begin; slot < end; ++slot) {
        ESPL_CHECK_FULL(parents[slot] < slot &&
                        !espl__slot_is(forest, slot, ESPL__SLOT_EXCEPTIONAL));
        const espl__wide_pose world = espl__wide_compose(espl__wide_load(&worlds[parents[slot]]),
                                                         espl__wide_load(&locals[slot]));

        espl__world_put_wide(stored, slot, world);
        alarm |= espl__wide_nonfinite(world);
    }
    return espl__wide_found_nothing(alarm) ? 0 : NAN;
}

// Compose slots with exceptional ones among them: the ranges between these, and each of them by
// itself. Its entries of side arrays are far from all else that a propagation reads, so that they are
// prefetched before the slots below it are composed.
static ESPL__APART float compose_between(espl__forest *forest, const espl__tree *tree,
                                         uint32_t begin, uint32_t end)
{
    const espl__side *const side = espl__side_of(forest, tree);
    uint32_t slot = begin;
    float alarm = 0;

    while (slot < end) {
        if (espl__slot_is(forest, slot, ESPL__SLOT_EXCEPTIONAL)) {
            (void)compose_exceptional(forest, slot);
            alarm += espl__pose_nonfinite(&forest->world[slot]);
            slot += 1;
            continue;
        }
        const uint32_t next = find_flag(forest, slot, end, ESPL__SLOT_EXCEPTIONAL);

        if (next < end && side != NULL) {
            espl__side_prefetch(side, tree->capacity, next - tree->base);
            espl__prefetch(&side->extra[forest->parent[next] - tree->base]);
        }
        alarm += compose_slots(forest, slot, next);
        slot = next;
    }
    return alarm;
}

// The same as begin_range(), inside an edit.
static ESPL__APART void begin_edited(espl__forest *forest, uint32_t begin, uint32_t end)
{
    espl__clear_stale(forest, begin, end);
    espl__worlds_stored(espl__worlds_of(forest), begin, end);
}

// Clear the stale flags of a range, and mark its worlds. Each call is the last one, so that no register is saved.
static ESPL__APART void begin_range(espl__forest *forest, uint32_t begin, uint32_t end)
{
    if (espl__forest_is_edited(forest)) {
        begin_edited(forest, begin, end);
    } else {
        espl__worlds_stored(espl__worlds_of(forest), begin, end);
    }
}

// Compose slots [begin, end) of a tree on this thread. @return the alarm.
static inline float compose_range(espl__forest *forest, const espl__tree *tree, uint32_t begin,
                                  uint32_t end)
{
    // The worlds are marked before they are stored, which makes no difference to a consumer, because a
    // propagation is one call.
    if (forest->modes != 0) {
        begin_range(forest, begin, end);
    }
    return tree->exceptional == 0 ? compose_slots(forest, begin, end)
                                  : compose_between(forest, tree, begin, end);
}

// Tell whether a propagation in a tree is divided among workers.
static bool has_workers(const espl__forest *forest, const espl__context *context,
                        const espl__tree *tree)
{
    return espl__tree_is_parallel(forest, tree) &&
           !espl__executor_is_serial(context->workers.executor);
}

// Compose all slots from one on, on the workers. The caller counts them.
static float compose_suffix_parallel(espl__forest *forest, espl__context *context,
                                     const espl__tree *tree, uint32_t begin)
{
    uint64_t visited = 0;

    return espl__compose_parallel(forest, &context->workers, tree, begin,
                                  espl__first_below(forest, tree, begin), true, &visited);
}

void espl__count_swept(espl__forest *forest, espl__context *context, uint32_t tree, uint32_t begin,
                       uint32_t end)
{
    const espl__tree *const t = &forest->trees[tree];
    const uint32_t holes = t->used - t->live;

    context->counts.nodes_visited += end - begin;
    if (holes != 0) {
        // Holes in [begin, end) as on average in the range, because counting them would cost a
        // pass.
        const uint64_t passed = (uint64_t)holes * (end - begin) / t->used;

        espl__tree_add_debt(forest, context, tree, (uint32_t)passed);
    }
}

// A sweep to the end of the tree may run on workers; a shorter one is a block of a batch, see
// sweep_poses().
void espl__sweep(espl__forest *forest, espl__context *context, uint32_t tree, uint32_t begin,
                 uint32_t end)
{
    const espl__tree *const t = &forest->trees[tree];
    const uint32_t limit = t->base + t->used;

    if (begin >= end) {
        return;
    }
    ESPL_CHECK(begin > t->base && end <= limit && espl__tree_is_single(forest, t));
    const float alarm = end == limit && has_workers(forest, context, t)
                            ? compose_suffix_parallel(forest, context, t, begin)
                            : compose_range(forest, t, begin, end);

    espl__count_swept(forest, context, tree, begin, end);
    context->has_overflowed = context->has_overflowed || alarm != 0;
}

// --- Below a node ---

// A node that keeps its world ends the search, because it ends compose_by_links() as well: the answer
// must not depend on whether the tree is in order.
bool espl__finds_overflow(const espl__forest *forest, uint32_t top, uint64_t *visited)
{
    bool enters = true;

    for (uint32_t slot = top; slot != ESPL__NO_SLOT;
         slot = espl__next_in_walk(forest, slot, top, enters)) {
        *visited += 1;
        enters = slot == top || !espl__slot_keeps_world(forest, slot);
        if (!espl__pose_is_finite(&forest->world[slot])) {
            return true;
        }
    }
    return false;
}

bool espl__searches_overflow(espl__forest *forest, uint32_t top, uint64_t *visited)
{
    for (uint32_t slot = top; slot != ESPL__NO_SLOT;) {
        const bool is_open = !espl__slot_is(forest, slot, ESPL__SLOT_MARK) &&
                             (slot == top || !espl__slot_keeps_world(forest, slot));

        *visited += 1;
        forest->flags[slot] |= is_open ? ESPL__SLOT_MARK : 0;
        if (is_open && !espl__pose_is_finite(&forest->world[slot])) {
            return true;
        }
        slot = espl__next_in_walk(forest, slot, top, is_open);
    }
    return false;
}

void espl__clear_search(espl__forest *forest, uint32_t top)
{
    for (uint32_t slot = top; slot != ESPL__NO_SLOT;) {
        const bool is_marked = espl__slot_is(forest, slot, ESPL__SLOT_MARK);

        forest->flags[slot] &= (uint8_t)~ESPL__SLOT_MARK;
        slot = espl__next_in_walk(forest, slot, top, is_marked);
    }
}

bool espl__is_still_overflowed(espl__forest *forest)
{
    forest->searched_in_vain = 0;
    forest->context.has_overflowed = espl__count_overflowed(forest) != 0;
    return forest->context.has_overflowed;
}

void espl__note_search(espl__forest *forest, uint64_t visited)
{
    forest->searched_in_vain += visited;
    if (forest->searched_in_vain >= forest->end) {
        (void)espl__is_still_overflowed(forest);
    }
}

// After an alarm: note whether a world below a slot is not finite. The alarm alone does not tell, because
// a pass over the range also recomputes holes and nodes that do not follow the slot. A present tests all nodes
// after any alarm, because it may have changed nodes that do not follow the slot as well.
static ESPL__APART void note_overflow_below(const espl__forest *forest, espl__context *context,
                                            uint32_t slot)
{
    uint64_t visited = 0;

    context->has_overflowed = context->has_overflowed || context->is_present ||
                              espl__finds_overflow(forest, slot, &visited);
}

// Compose at most `most` descendants of a slot by links. @return their number, or `most` + 1 where
// there are more.
static uint32_t compose_by_links(espl__forest *forest, espl__context *context, uint32_t top,
                                 uint32_t most, float *alarm)
{
    bool enters = true;
    uint32_t visited = 0;

    for (uint32_t slot = espl__next_in_walk(forest, top, top, true); slot != ESPL__NO_SLOT;
         slot = espl__next_in_walk(forest, slot, top, enters)) {
        enters = true;
        if (visited == most) {
            return most + 1;
        }
        visited += 1;
        // Prefetch the next sibling, because the walk visits a subtree before it.
        if (forest->links[slot].next != ESPL__NO_SLOT) {
            espl__prefetch(&forest->links[forest->links[slot].next]);
        }
        // A node that keeps its world ends the propagation, unless worlds below it were stale
        // before.
        if (espl__slot_is(forest, slot, ESPL__SLOT_EXCEPTIONAL)) {
            (void)compose_exceptional(forest, slot);
            enters = !espl__slot_keeps_world(forest, slot) ||
                     espl__slot_is(forest, slot, ESPL__SLOT_STALE);
            context->counts.nodes_skipped += enters ? 0 : 1;
        } else {
            espl__world_store_wide(espl__worlds_of(forest), slot, compose_plain(forest, slot));
        }
        *alarm += espl__pose_nonfinite(&forest->world[slot]);
        forest->flags[slot] &= (uint8_t)~ESPL__SLOT_STALE;
    }
    return visited;
}

void espl__propagate_by_links(espl__forest *forest, espl__context *context, uint32_t slot)
{
    float alarm = 0;

    forest->flags[slot] &= (uint8_t)~ESPL__SLOT_STALE;
    context->counts.nodes_visited += compose_by_links(forest, context, slot, UINT32_MAX, &alarm);
    if (alarm != 0) {
        note_overflow_below(forest, context, slot);
    }
}

// Compose all descendants of a node of a tree that is not in order. It goes by links until the
// descendants are known to be more than a part of the slots after the node. Then one pass over
// these slots costs less; other nodes in them are recomputed to the same bits. What both cost more
// than in a laid-out tree is added to the debt. @return the alarm.
static float compose_unordered(espl__forest *forest, espl__context *context, uint32_t slot)
{
    enum { PART = 4, FEW = 8 };
    const uint32_t tree = forest->tree[slot];
    const espl__tree *const t = &forest->trees[tree];
    const uint32_t end = t->base + t->used, behind = end - slot - 1;

    ESPL_CHECK((t->flags & ESPL__TREE_IN_ORDER) == 0 && slot < end);
    const bool may_sweep = espl__tree_is_single(forest, t);
    const uint32_t most = may_sweep ? FEW + behind / PART : behind;
    float alarm = 0;
    uint32_t visited = compose_by_links(forest, context, slot, most, &alarm);
    uint32_t debt = visited;

    if (visited > most) {
        alarm = compose_range(forest, t, slot + 1, end);
        debt += behind / PART;
        visited += behind;
    }
    context->counts.nodes_visited += visited;
    espl__tree_add_debt(forest, context, tree, debt);
    return alarm;
}

// Compose all descendants of a node of a tree in order, level by level. @return the alarm.
static float compose_level_ranges(espl__forest *forest, espl__context *context, uint32_t slot)
{
    const espl__tree *const t = espl__tree_of(forest, slot);
    const uint32_t first = forest->links[slot].first_child;
    uint32_t begin = first, end = forest->links[first].previous + 1;

    ESPL_CHECK((t->flags & ESPL__TREE_IN_ORDER) != 0 && begin < end);
    float alarm = 0;

    if (has_workers(forest, context, t)) {
        return espl__compose_parallel(forest, &context->workers, t, begin, end, false,
                                      &context->counts.nodes_visited);
    }
    while (begin < end) {
        alarm += compose_range(forest, t, begin, end);
        context->counts.nodes_visited += end - begin;
        begin = espl__first_below(forest, t, begin);
        end = espl__first_below(forest, t, end);
    }
    return alarm;
}

// Compose all nodes of a tree but its root: one pass over its range.
ESPL__INLINE void compose_tree(espl__forest *forest, espl__context *context, uint32_t tree)
{
    const espl__tree *const t = &forest->trees[tree];
    const uint32_t begin = t->base + 1, end = t->base + t->used;

    ESPL_CHECK(t->live > 1 && espl__tree_is_single(forest, t));
    espl__count_tree(forest, context, tree);
    const float alarm = has_workers(forest, context, t)
                            ? compose_suffix_parallel(forest, context, t, begin)
                            : compose_range(forest, t, begin, end);

    if (alarm != 0) {
        note_overflow_below(forest, context, t->base);
    }
}

void espl__propagate_tree(espl__forest *forest, espl__context *context, uint32_t tree)
{
    compose_tree(forest, context, tree);
}

// Three ways, by the form of the tree: the root, a node of a tree in order, a node of any other
// tree. Outside an edit no node is stale.
void espl__propagate_below(espl__forest *forest, espl__context *context, uint32_t slot)
{
    const espl__tree *const t = espl__tree_of(forest, slot);
    float alarm = 0;

    if (espl__forest_is_edited(forest)) {
        forest->flags[slot] &= (uint8_t)~ESPL__SLOT_STALE;
    }
    ESPL_CHECK_FULL(!espl__slot_is(forest, slot, ESPL__SLOT_STALE));
    if (forest->links[slot].first_child == ESPL__NO_SLOT) {
        return;
    }
    if (slot == t->base && espl__tree_is_single(forest, t)) {
        compose_tree(forest, context, forest->tree[slot]);
        return;
    }
    if ((t->flags & ESPL__TREE_IN_ORDER) != 0) {
        alarm = compose_level_ranges(forest, context, slot);
    } else {
        alarm = compose_unordered(forest, context, slot);
    }
    if (alarm != 0) {
        note_overflow_below(forest, context, slot);
    }
}

// --- User data ---

// Only user data is copied. Inside an edit the node may be stale: its copies have its old stretch
// until the worlds below them are recomputed with the new one. A copy that had the new stretch already
// would show no change then, and the worlds below it would stay as they are.
void espl__propagate_user_data(espl__forest *forest, uint32_t top)
{
    const uint32_t user_data = espl__slot_extra(forest, top).user_data;
    bool enters = true;

    // Copies are exceptional. Inside an edit they may be in the range of another tree, so that the
    // count of this one does not tell.
    if (espl__tree_of(forest, top)->exceptional == 0 && !espl__forest_is_edited(forest)) {
        return;
    }
    for (uint32_t slot = espl__next_in_walk(forest, top, top, true); slot != ESPL__NO_SLOT;
         slot = espl__next_in_walk(forest, slot, top, enters)) {
        const espl__tree *const tree = espl__tree_of(forest, slot);

        enters = espl__slot_copies(forest, slot);
        // A copy in a range without side arrays shows the default, as in copy_extra().
        if (enters && tree->side != 0) {
            espl__side_of_slot(forest, slot)->extra[slot - tree->base].user_data = user_data;
            espl__world_stored(espl__worlds_of(forest), slot);
        }
    }
}
