// SPDX-License-Identifier: MIT
// Cells of trees: see cells.h. Sums and differences of cells are integers of 64 bits, and a product with the
// size of a cell is exact in double, because the size is a power of two. What is rounded is a coordinate, once.
#include "lib/tree/cells.h"

#include "lib/base/bits.h"
#include "lib/base/prefetch.h"
#include "lib/tree/writes.h"

#include <math.h>

// --- The cell of a tree ---

uint32_t espl__cell_root(const espl__forest *forest, uint32_t slot)
{
    const espl__tree *const t = espl__tree_of(forest, slot);

    // The climb is not needed where the root is where the header says.
    return !espl__forest_is_edited(forest) && espl__tree_is_single(forest, t)
               ? t->base
               : espl__root_of(forest, slot);
}

espl__cell espl__cell_of(const espl__forest *forest, uint32_t slot)
{
    return espl__forest_has_cells(forest) ? forest->tracks.cells[espl__cell_root(forest, slot)]
                                          : (espl__cell){{0, 0, 0}};
}

void espl__cell_store(const espl__forest *forest, uint32_t root, espl__cell cell)
{
    ESPL_CHECK(espl__forest_has_cells(forest));
    forest->tracks.cells[root] = cell;
    espl__tracks_mark(&forest->tracks, ESPL__PLANE_CELL, root);
}

// --- Marks ---

// Make the mark of a slot at least as new as that of another one.
static void mark_with(const espl__plane *plane, uint32_t slot, uint32_t top)
{
    _Atomic uint32_t *const block = &plane->blocks[slot / ESPL__PLANE_BLOCK];
    const uint16_t now = (uint16_t)plane->moment;
    const uint32_t newer =
        atomic_load_explicit(&plane->blocks[top / ESPL__PLANE_BLOCK], memory_order_relaxed);

    if ((uint16_t)(now - plane->stamps[top]) < (uint16_t)(now - plane->stamps[slot])) {
        plane->stamps[slot] = plane->stamps[top];
    }
    // The moment of a block is an upper bound of those of its slots.
    if ((int32_t)(newer - atomic_load_explicit(block, memory_order_relaxed)) > 0) {
        atomic_store_explicit(block, newer, memory_order_relaxed);
    }
}

// Mark what is below a node. The slots of a settled tree follow each other; those of holes may be marked as
// well.
static void spread_mark(const espl__forest *forest, const espl__plane *plane, uint32_t top)
{
    const espl__tree *const t = espl__tree_of(forest, top);

    if (espl__tree_is_single(forest, t) && t->base == top) {
        for (uint32_t slot = top + 1; slot < top + t->used; ++slot) {
            mark_with(plane, slot, top);
        }
        return;
    }
    for (uint32_t slot = espl__next_in_walk(forest, top, top, true); slot != ESPL__NO_SLOT;
         slot = espl__next_in_walk(forest, slot, top, true)) {
        mark_with(plane, slot, top);
    }
}

void espl__cells_spread(const espl__forest *forest, uint32_t since)
{
    const espl__plane *const plane = &forest->tracks.planes[ESPL__PLANE_CELL];
    espl__plane_walk walk = {
        .planes = {plane}, .plane_count = 1, .items = forest->end, .since = since};

    espl__plane_walk_begin(&walk);
    for (uint64_t left; (left = espl__plane_walk_next(&walk)) != 0;) {
        for (; left != 0; left &= left - 1) {
            const uint32_t slot = walk.block * ESPL__PLANE_BLOCK + espl__lowest_bit(left);
            const uint32_t parent = forest->parent[slot];

            // What is below a marked parent is marked from there.
            if (espl__slot_has_node(forest, slot) &&
                (parent == ESPL__NO_SLOT || !espl__plane_has_changed(plane, parent, since))) {
                spread_mark(forest, plane, slot);
            }
        }
    }
}

// --- Shifts ---

espl__cell_shift espl__cell_shift_of(const espl__forest *forest, espl__cell from, espl__cell to)
{
    espl__cell_shift shift = {{0, 0, 0}, false, false};

    for (int i = 0; i < 3; ++i) {
        const int64_t cells = (int64_t)from.at[i] - to.at[i];

        shift.by[i] = (double)cells * (double)forest->cell_size;
        shift.is_any = shift.is_any || cells != 0;
        shift.is_far = shift.is_far || cells > ESPL__CELLS_FAR || cells < -ESPL__CELLS_FAR;
    }
    return shift;
}

espl__cell_shift espl__cell_shift_between(const espl__forest *forest, uint32_t slot, uint32_t other)
{
    if (!espl__forest_has_cells(forest) || other == ESPL__NO_SLOT) {
        return (espl__cell_shift){{0, 0, 0}, false, false};
    }
    return espl__cell_shift_of(forest, espl__cell_of(forest, slot), espl__cell_of(forest, other));
}

void espl__kept_shift(espl_pose *kept, uint32_t flags, const espl__cell_shift *shift)
{
    for (int i = 0; i < 3; ++i) {
        if ((flags & ((unsigned)ESPL_ABSOLUTE_X << i)) != 0) {
            kept->position[i] = espl__coordinate_shift(kept->position[i], shift->by[i]);
        }
    }
}

void espl__past_shift(const espl__forest *forest, espl__past *past, uint32_t flags, bool is_root,
                      const espl__cell_shift *shift)
{
    const uint32_t pasts = espl__tracks_past_count(&forest->tracks);

    for (uint32_t time = 0; time < pasts; ++time) {
        // A marker stays one: the node has no past.
        if (espl__pose_is_marker(&past->local[time])) {
            continue;
        }
        if (is_root) {
            espl__position_shift(past->local[time].position, shift);
        }
        espl__kept_shift(&past->kept[time], flags, shift);
    }
}

espl__past espl__past_moved(const espl__forest *forest, uint32_t slot,
                            const espl__cell_shift *shift)
{
    const espl__placement placement = espl__slot_placement(forest, slot);
    const bool is_root = espl__is_root(forest, slot);
    espl__past past = espl__past_read(forest, slot);

    if (!espl__forest_shows_writes(forest)) {
        espl__past_shift(forest, &past, placement.kept.flags, is_root, shift);
    } else if (is_root && !espl__pose_is_marker(&past.local[ESPL__PREVIOUS])) {
        past = espl__past_of(&placement);
    }
    return past;
}

// --- Absolute positions ---

void espl__position_in_cells(const espl__cell *cell, float cell_size,
                             const float position[ESPL__LEAST 3], double out[ESPL__LEAST 3])
{
    for (int i = 0; i < 3; ++i) {
        out[i] = (double)cell->at[i] * (double)cell_size + (double)position[i];
    }
}

void espl__absolute_position(const espl__forest *forest, uint32_t slot,
                             const float position[ESPL__LEAST 3], double out[ESPL__LEAST 3])
{
    const espl__cell cell = espl__cell_of(forest, slot);

    espl__position_in_cells(&cell, forest->cell_size, position, out);
}

// Add the nearest integer of a number of cells to a coordinate of a cell, halves away from 0. Only the sum is
// in the range of a cell, because a root may be far from its cell on the side where there are more.
// @return false: the sum is out of range.
static bool add_nearest(int32_t cell, double value, int32_t *out)
{
    // From one end of the range to beyond the other one. A double of this magnitude has a bit for a half.
    if (!(fabs(value) < 0x1p+33)) {
        return false;
    }
    const int64_t sum = (int64_t)cell + (int64_t)(value < 0 ? value - 0.5 : value + 0.5);

    *out = sum >= INT32_MIN && sum <= INT32_MAX ? (int32_t)sum : 0;
    return *out == sum;
}

bool espl__cell_nearest(const espl__forest *forest, const double position[ESPL__LEAST 3],
                        espl__cell *cell, float rest[ESPL__LEAST 3])
{
    const double size = (double)forest->cell_size;

    for (int i = 0; i < 3; ++i) {
        if (!add_nearest(0, position[i] / size, &cell->at[i])) {
            return false;
        }
        // Exact, because both are multiples of a bit of the position.
        rest[i] = (float)(position[i] - (double)cell->at[i] * size);
    }
    return true;
}

void espl__cell_relative(const espl__forest *forest, uint32_t slot,
                         const double position[ESPL__LEAST 3], float out[ESPL__LEAST 3],
                         bool *is_far)
{
    const espl__cell cell = espl__cell_of(forest, slot);
    const double size = (double)forest->cell_size;

    *is_far = false;
    for (int i = 0; i < 3; ++i) {
        const double away = position[i] - (double)cell.at[i] * size;

        out[i] = (float)away;
        *is_far = *is_far || (size != 0 && fabs(away) > ESPL__CELLS_FAR * size);
    }
}

// --- Whole trees ---

// Shift the local of a node, and its past.
static void shift_local(espl__forest *forest, uint32_t slot, const espl__cell_shift *shift)
{
    espl__position_shift(forest->local[slot].position, shift);
    if (espl__forest_has_motion(forest)) {
        espl__past past = espl__past_read(forest, slot);

        espl__past_shift(forest, &past, 0, true, shift);
        espl__past_store(forest, slot, &past);
    }
    if (espl__forest_is_tracked(forest)) {
        espl__mark_edited(forest, slot);
    }
}

// Shift what a node keeps, and kept earlier.
static void shift_kept(espl__forest *forest, uint32_t slot, const espl__cell_shift *shift)
{
    espl__placement placement = espl__slot_placement(forest, slot);
    espl__past past;

    if (espl__kept_axes(&placement.kept) == 0) {
        return;
    }
    if (espl__forest_has_motion(forest)) {
        past = espl__past_read(forest, slot);
        espl__past_shift(forest, &past, placement.kept.flags, false, shift);
    }
    espl__kept_shift(&placement.kept.pose, placement.kept.flags, shift);
    espl__slot_place(forest, slot, &placement);
    if (espl__forest_has_motion(forest)) {
        espl__past_store(forest, slot, &past);
    }
    if (espl__forest_is_tracked(forest)) {
        espl__mark_edited(forest, slot);
    }
}

static bool keeps_axes(const espl__forest *forest, uint32_t slot)
{
    return (espl__tree_of(forest, slot)->side & ESPL__HAS_KEPT) != 0;
}

// Shift all that a tree has in the coordinates of the world: the local of its root, or those of the topmost
// nodes below a root without a transform; and kept coordinates.
static void shift_tree(espl__forest *forest, uint32_t root, const espl__cell_shift *shift)
{
    const bool is_bare = espl__slot_is(forest, root, ESPL__SLOT_BARE);
    bool enters = true;

    if (!is_bare) {
        shift_local(forest, root, shift);
    } else if (espl__forest_is_tracked(forest)) {
        // The recomputation may add layout debt where no local is shifted: a history finds the header by a mark.
        espl__mark_edited(forest, root);
    }
    for (uint32_t slot = root; slot != ESPL__NO_SLOT && is_bare;
         slot = espl__next_in_walk(forest, slot, root, enters)) {
        enters = slot == root || espl__slot_copies(forest, slot);
        if (!enters) {
            shift_local(forest, slot, shift);
        }
    }
    for (uint32_t slot = root; slot != ESPL__NO_SLOT && keeps_axes(forest, root);
         slot = espl__next_in_walk(forest, slot, root, true)) {
        if (espl__slot_is(forest, slot, ESPL__SLOT_KEEPS)) {
            shift_kept(forest, slot, shift);
        }
    }
}

// Recompute the worlds of a tree. Each of them, because a node below one whose world stays the same may keep
// coordinates that changed.
static void recompute_tree(espl__forest *forest, espl__context *context, uint32_t root)
{
    const uint32_t number = forest->tree[root];
    const espl__tree *const t = &forest->trees[number];

    (void)espl__propagate_node(forest, context, root);
    if (!espl__tree_is_single(forest, t)) {
        for (uint32_t slot = espl__next_in_walk(forest, root, root, true); slot != ESPL__NO_SLOT;
             slot = espl__next_in_walk(forest, slot, root, true)) {
            (void)espl__propagate_node(forest, context, slot);
        }
    } else if (t->used > 1) {
        espl__sweep(forest, context, number, t->base + 1, t->base + t->used);
    }
}

// Shift what is shown of a tree, so that it is shown where it was. The next present computes each of its nodes
// anew: it would leave out what is below a node that shows the same, but shifts round each position by itself.
static void shift_shown(espl__forest *forest, uint32_t root, const espl__cell_shift *shift)
{
    if (!espl__forest_has_motion(forest)) {
        return;
    }
    for (uint32_t slot = root; slot != ESPL__NO_SLOT;
         slot = espl__next_in_walk(forest, slot, root, true)) {
        espl_pose *const shown = &forest->tracks.poses[ESPL__SHOWN][slot];

        if (!forest->tracks.is_unshown[slot]) {
            espl__position_shift(shown->position, shift);
            espl__tracks_mark(&forest->tracks, ESPL__PLANE_SHOWN, slot);
            espl__mark_edited(forest, slot);
        }
    }
}

void espl__tree_change_cell(espl__forest *forest, espl__context *context, uint32_t root,
                            espl__cell cell)
{
    const espl__cell_shift shift = espl__cell_shift_of(forest, forest->tracks.cells[root], cell);

    ESPL_CHECK(espl__is_root(forest, root) && !espl__forest_is_edited(forest));
    if (!shift.is_any) {
        return;
    }
    espl__cell_store(forest, root, cell);
    shift_tree(forest, root, &shift);
    shift_shown(forest, root, &shift);
    recompute_tree(forest, context, root);
}

void espl__tree_move_cell(espl__forest *forest, uint32_t root, espl__cell cell)
{
    const espl__cell_shift shift = espl__cell_shift_of(forest, forest->tracks.cells[root], cell);

    ESPL_CHECK(espl__is_root(forest, root) && !espl__forest_is_edited(forest));
    if (!shift.is_any) {
        return;
    }
    espl__cell_store(forest, root, cell);
    if (!espl__forest_has_motion(forest)) {
        return;
    }
    for (uint32_t slot = root; slot != ESPL__NO_SLOT && (slot == root || keeps_axes(forest, root));
         slot = espl__next_in_walk(forest, slot, root, true)) {
        if (slot == root || espl__slot_is(forest, slot, ESPL__SLOT_KEEPS)) {
            const espl__past past = espl__past_moved(forest, slot, &shift);

            espl__past_store(forest, slot, &past);
            espl__mark_edited(forest, slot);
        }
    }
    shift_shown(forest, root, &shift);
}

// --- All trees ---

// Return the first root of the range of a tree from a slot on, or the end of the range. Roots with
// ESPL__SLOT_MARK are left out.
static uint32_t next_root(const espl__forest *forest, const espl__tree *t, uint32_t slot)
{
    const uint32_t end = t->base + t->used;

    while (slot < end &&
           (forest->links[slot].entity == ESPL__NO_ENTITY || !espl__is_root(forest, slot) ||
            espl__slot_is(forest, slot, ESPL__SLOT_MARK))) {
        slot += 1;
    }
    return slot;
}

// Return the first root to visit in the range of a tree: O(1) where it has one.
static uint32_t first_root(const espl__forest *forest, const espl__tree *t)
{
    if (espl__tree_is_single(forest, t)) {
        return espl__slot_is(forest, t->base, ESPL__SLOT_MARK) ? t->base + t->used : t->base;
    }
    return next_root(forest, t, t->base);
}

static uint32_t root_after(const espl__forest *forest, const espl__tree *t, uint32_t root)
{
    return espl__tree_is_single(forest, t) ? t->base + t->used : next_root(forest, t, root + 1);
}

enum { ROOTS_AHEAD = 16 };

// Prefetch what a pass over all trees reads of the root of a later one.
static inline void prefetch_root(const espl__forest *forest, uint32_t tree, const void *array,
                                 size_t size)
{
    if (tree + ROOTS_AHEAD < forest->tree_end) {
        const uint32_t base = forest->trees[tree + ROOTS_AHEAD].base;

        espl__prefetch_element(array, base, size);
        espl__prefetch(&forest->parent[base]);
        espl__prefetch(&forest->flags[base]);
    }
}

// Return the nearest cell of a root. @return false: it is out of range.
static bool nearest_cell(const espl__forest *forest, uint32_t root, espl__cell *out)
{
    const float *const position = forest->local[root].position;
    const espl__cell cell = forest->tracks.cells[root];
    bool is_found = true;

    for (int i = 0; i < 3 && is_found; ++i) {
        is_found =
            add_nearest(cell.at[i], (double)position[i] / (double)forest->cell_size, &out->at[i]);
    }
    return is_found;
}

// Tell whether a root is farther than a distance from the middle of its cell.
static inline bool is_away(const espl__forest *forest, uint32_t root, float distance)
{
    const float *const position = forest->local[root].position;

    return fabsf(position[0]) > distance || fabsf(position[1]) > distance ||
           fabsf(position[2]) > distance;
}

bool espl__forest_recenter(espl__forest *forest, espl__context *context, float limit, size_t *count)
{
    const float distance = limit * forest->cell_size;
    bool is_done = true;

    *count = 0;
    for (uint32_t tree = 0; tree < forest->tree_end; ++tree) {
        const espl__tree *const t = &forest->trees[tree];

        prefetch_root(forest, tree, forest->local, sizeof *forest->local);
        for (uint32_t root = t->capacity != 0 ? first_root(forest, t) : t->base + t->used;
             root < t->base + t->used; root = root_after(forest, t, root)) {
            espl__cell cell;

            if (!is_away(forest, root, distance) || espl__slot_is(forest, root, ESPL__SLOT_BARE)) {
                continue;
            }
            if (nearest_cell(forest, root, &cell)) {
                espl__tree_change_cell(forest, context, root, cell);
                *count += 1;
            } else {
                is_done = false;
            }
        }
    }
    return is_done;
}

// Tell whether the coordinates of a node stay finite.
static bool stays_finite(const espl__forest *forest, uint32_t slot,
                         const float offset[ESPL__LEAST 3])
{
    const espl__kept kept = espl__slot_kept(forest, slot);
    bool is_finite = true;

    for (int i = 0; i < 3; ++i) {
        is_finite = is_finite && isfinite(forest->local[slot].position[i] + offset[i]) &&
                    isfinite(kept.pose.position[i] + offset[i]);
    }
    return is_finite;
}

// Tell whether the coordinates of all nodes stay finite. A sum is finite if no number is so large that it
// reaches the last bit of the largest float.
bool espl__forest_can_rebase(const espl__forest *forest, const float offset[ESPL__LEAST 3])
{
    const float harmless = 1e31f;
    bool is_finite = true;

    if (fabsf(offset[0]) < harmless && fabsf(offset[1]) < harmless && fabsf(offset[2]) < harmless) {
        return true;
    }
    for (uint32_t slot = 0; slot < forest->end && is_finite; ++slot) {
        is_finite = !espl__slot_has_node(forest, slot) || stays_finite(forest, slot, offset);
    }
    return is_finite;
}

// Add a cell to that of each root. A sum outside of 32 bits wraps, so that a pass with the negated cell takes
// all back. Where no root is marked, the root of a settled tree is found by the header of the tree alone.
// @return whether no sum wrapped.
static bool add_to_cells(const espl__forest *forest, espl__cell by, bool has_marked)
{
    espl__cell *const all = forest->tracks.cells;
    uint32_t wrapped = 0;

    for (uint32_t tree = 0; tree < forest->tree_end; ++tree) {
        const espl__tree *const t = &forest->trees[tree];
        const uint32_t end = t->base + t->used;
        const bool is_known = !has_marked && espl__tree_is_single(forest, t);

        if (tree + ROOTS_AHEAD < forest->tree_end) {
            espl__prefetch_element(all, forest->trees[tree + ROOTS_AHEAD].base, sizeof *all);
        }
        for (uint32_t root = t->capacity == 0 ? end
                             : is_known       ? t->base
                                              : first_root(forest, t);
             root < end; root = is_known ? end : root_after(forest, t, root)) {
            const espl__cell old = all[root], sum = espl__cell_sum(old, by);

            // A sum wraps where its sign differs from those of both numbers.
            for (int i = 0; i < 3; ++i) {
                wrapped |= (uint32_t)((old.at[i] ^ sum.at[i]) & (by.at[i] ^ sum.at[i]));
            }
            all[root] = sum;
            espl__tracks_mark(&forest->tracks, ESPL__PLANE_CELL, root);
        }
    }
    return wrapped >> 31 == 0;
}

bool espl__forest_rebase_cells(espl__forest *forest, espl__cell cells, bool has_marked)
{
    static const espl__cell none;

    if (!add_to_cells(forest, cells, has_marked)) {
        (void)add_to_cells(forest, espl__cell_difference(none, cells), has_marked);
        return false;
    }
    forest->rebased = espl__cell_sum(forest->rebased, cells);
    return true;
}

void espl__forest_rebase_offset(espl__forest *forest, espl__context *context,
                                const float offset[ESPL__LEAST 3])
{
    const espl__cell_shift shift = {
        {(double)offset[0], (double)offset[1], (double)offset[2]}, true, false};

    for (uint32_t tree = 0; tree < forest->tree_end; ++tree) {
        const espl__tree *const t = &forest->trees[tree];

        for (uint32_t root = t->capacity != 0 ? first_root(forest, t) : t->base + t->used;
             root < t->base + t->used; root = root_after(forest, t, root)) {
            const bool is_single = espl__tree_is_single(forest, t);

            shift_tree(forest, root, &shift);
            if (is_single && (t->side & ESPL__HAS_KEPT) == 0 &&
                !espl__slot_is(forest, root, ESPL__SLOT_BARE)) {
                espl__tree_follow(forest, context, tree, root);
            } else {
                recompute_tree(forest, context, root);
            }
        }
    }
}
