// SPDX-License-Identifier: MIT
// A forest that gets the contents of another world: it is made beside the old one with all of its memory,
// and then takes its place.
#include "lib/tree/remake.h"

#include "lib/tree/changes.h"
#include "lib/tree/motion.h"

#include <string.h>

// Open the planes that the old forest has, and the arrays of motion. @return false: no memory.
static bool make_tracks(espl__forest *made, const espl__forest *old, uint32_t pasts)
{
    bool is_done = true;

    for (int i = 0; i < ESPL__PLANE_COUNT; ++i) {
        made->tracks.planes[i].moment = old->tracks.planes[i].moment;
        is_done =
            is_done && (!espl__plane_is_open(&old->tracks.planes[i]) || espl__plane_open(made, i));
    }
    is_done = is_done && (old->tracks.cells == NULL || espl__cells_open(made, old->cell_size));
    return is_done && (pasts < 1 || espl__poses_open(made, ESPL__PREVIOUS)) &&
           (pasts < 2 || espl__poses_open(made, ESPL__BEFORE)) &&
           (pasts < 1 || espl__poses_open(made, ESPL__SHOWN));
}

bool espl__forest_begin(espl__forest *made, const espl__forest *old, uint32_t slots, uint32_t trees,
                        uint32_t pasts, bool takes_slots)
{
    const uint32_t room = slots > old->floor ? slots : old->floor;
    const bool takes = takes_slots && espl__forest_lends_slots(old, room);

    espl__forest_init(made, old->heap);
    espl__forest_keep_settings(made, old);
    made->modes = 0;
    made->floor = old->floor;
    made->tree_floor = old->tree_floor;
    made->capacity = takes ? old->capacity : 0;
    if (!espl__forest_make_room(made, takes ? 0 : room,
                                trees > old->tree_floor ? trees : old->tree_floor) ||
        !make_tracks(made, old, pasts)) {
        espl__forest_free(made);
        return false;
    }
    made->end = slots;
    made->tree_end = trees;
    return true;
}

void espl__forest_take_slots(espl__forest *made, espl__forest *old)
{
    ESPL_CHECK(made->block == NULL && made->capacity == old->capacity);
    made->columns = old->columns;
    made->block = old->block;
    made->block_size = old->block_size;
    old->columns = (espl__columns){0};
    old->block = NULL;
    old->block_size = 0;
    old->capacity = old->end = 0;
}

// --- Side arrays ---

// Tell whether a header without slots is as espl__tree_give() leaves it.
static bool is_free_header(const espl__tree *header)
{
    const espl__tree given = {
        .hole = ESPL__NO_SLOT, .next = header->next, .previous = ESPL__NO_TREE};

    return memcmp(header, &given, sizeof given) == 0;
}

// Tell whether the headers of a forest can be those of its slots: they have no more slots than it, and none
// is inside an edit. @param sides  out: how many have side arrays.
static bool are_headers_sound(const espl__forest *made, size_t *sides)
{
    const uint32_t known = ESPL__TREE_IN_ORDER | ESPL__TREE_UNSETTLED;
    uint64_t slots = 0;
    bool is_sound = true;

    for (uint32_t tree = 0; tree < made->tree_end; ++tree) {
        const espl__tree *const header = &made->trees[tree];

        slots += header->capacity;
        *sides += header->side != 0 ? 1 : 0;
        is_sound = is_sound && (header->flags & ~known) == 0 && header->mark == 0 &&
                   (header->capacity != 0 || is_free_header(header)) &&
                   (header->side & ~(uint32_t)(ESPL__HAS_SIDE | ESPL__HAS_KEPT)) == 0 &&
                   header->side != ESPL__HAS_KEPT;
    }
    return is_sound && slots <= made->end;
}

// Headers name what their side arrays have before there are any, so that a failure ends with headers that name
// none.
espl_status espl__forest_make_sides(espl__forest *made)
{
    size_t count = 0;
    const bool is_sound = are_headers_sound(made, &count);
    bool is_done = is_sound && espl__sides_reserve(made, count);

    for (uint32_t tree = 0; tree < made->tree_end; ++tree) {
        espl__tree *const header = &made->trees[tree];
        const uint32_t contents = header->side;

        header->side = header->side_number = 0;
        if (is_done && contents != 0) {
            espl__side *const side =
                espl__side_make(made, header->capacity, (contents & ESPL__HAS_KEPT) != 0);

            is_done = side != NULL;
            if (is_done) {
                espl__tree_put_side(made, tree, side);
            }
        }
    }
    if (is_done) {
        return ESPL_OK;
    }
    return is_sound ? ESPL_ERR_NO_MEMORY : ESPL_ERR_FORMAT;
}

// --- The end ---

// Tell whether the lists have so many free ranges together. Bounded, whatever the links are.
static bool are_ranges_listed(const espl__forest *forest, uint32_t ranges)
{
    uint32_t listed = 0;

    for (uint32_t class = 0; class < ESPL__SIZE_CLASSES; ++class) {
        for (uint32_t base = forest->free_heads[class]; base != ESPL__NO_SLOT;
             base = forest->links[base].next) {
            if (base >= forest->end || listed == ranges) {
                return false;
            }
            listed += 1;
        }
    }
    return listed == ranges;
}

// A free range that is the first one of its list has no neighbour before it there.
static bool list_ranges(espl__forest *forest)
{
    uint32_t slot = 0, ranges = 0;

    while (slot < forest->end) {
        const uint32_t tree = forest->tree[slot];
        const bool is_free = tree == ESPL__NO_TREE;

        if (!is_free && (tree >= forest->tree_end || forest->trees[tree].base != slot)) {
            return false;
        }
        const uint32_t count =
            is_free ? forest->links[slot].first_child : forest->trees[tree].capacity;

        if (count == 0 || count > forest->end - slot) {
            return false;
        }
        if (is_free) {
            const unsigned class = espl__size_class(count);
            const bool is_first = forest->links[slot].previous == ESPL__NO_SLOT;

            if (is_first && forest->free_heads[class] != ESPL__NO_SLOT) {
                return false;
            }
            if (is_first) {
                forest->free_heads[class] = slot;
                forest->free_bits[class / 64] |= UINT64_C(1) << (class % 64);
            }
            forest->free_slots += count;
            ranges += 1;
        }
        slot += count;
    }
    return are_ranges_listed(forest, ranges);
}

// List the unsettled trees, lowest number first, as they are before the next structural call uses them.
static void list_unsettled(espl__forest *made)
{
    for (uint32_t tree = made->tree_end; tree-- > 0;) {
        espl__tree *const header = &made->trees[tree];
        const bool is_unsettled = (header->flags & ESPL__TREE_UNSETTLED) != 0;

        header->previous = ESPL__NO_TREE;
        if (header->capacity != 0) {
            header->next = ESPL__NO_TREE;
        }
        if (is_unsettled) {
            header->flags &= ~(uint32_t)ESPL__TREE_UNSETTLED;
            espl__tree_mark_unsettled(made, tree);
        }
        // The list of their roots is a hint that the other world had.
        made->loose_lost += is_unsettled && header->roots > 1 ? header->roots : 0;
    }
}

// Each node is shown where it is.
static void show_worlds(espl__forest *made)
{
    espl__tracks *const tracks = &made->tracks;
    const uint32_t now = espl__forest_moment(made);

    for (uint32_t slot = 0; slot < made->end; ++slot) {
        tracks->poses[ESPL__SHOWN][slot] = espl__pose_marker();
        tracks->is_unshown[slot] = true;
    }
    tracks->rolled = tracks->rolled_before = now - 1;
    made->presented =
        (espl__presented){.moment = now - 1, .tick = now - 1, .at = 1, .has_ticked = true};
    atomic_store_explicit(&made->presented.has_unshown, made->end != 0, memory_order_relaxed);
}

bool espl__forest_finish(espl__forest *made)
{
    if (!list_ranges(made)) {
        return false;
    }
    list_unsettled(made);
    for (int i = 0; i < ESPL__PLANE_COUNT; ++i) {
        if (espl__plane_is_open(&made->tracks.planes[i])) {
            espl__plane_mark_range(&made->tracks.planes[i], 0, made->end);
        }
    }
    if (espl__forest_has_motion(made)) {
        show_worlds(made);
    }
    return true;
}
