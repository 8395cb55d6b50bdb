// SPDX-License-Identifier: MIT
// The steps of member_cells.h.
#include "lib/renderables/member_cells.h"

#include "lib/base/bits.h"
#include "lib/tree/changes.h"

#include <math.h>
#include <string.h>

// --- Cells by slot ---

// Note a member whose stored cell is another one than in its values block.
static void compare_cell(espl_renderables *r, uint32_t slot)
{
    const uint32_t member = r->member_of[slot];

    if (member == ESPL__NO_MEMBER) {
        return;
    }
    const uint32_t cluster = espl__member_cluster(member);
    const espl__member_cells *const cells = espl__tables_entry(&r->tables, cluster)->values->cells;

    if (!espl__cell_is_same(cells->of[espl__member_place(member)], r->cells_of[slot])) {
        espl__mark_dirty(r, cluster, ESPL__WRITE_VALUES | ESPL__WRITE_BOXES | ESPL__WRITE_POSES);
    }
}

// Store the cell of a slot. @return whether it changed.
static bool renew_cell(espl_renderables *r, uint32_t slot)
{
    const espl__forest *const forest = &r->world->forest;
    const uint32_t parent = forest->parent[slot];
    const espl__cell now = parent != ESPL__NO_SLOT
                               ? r->cells_of[parent]
                               : espl__cell_difference(forest->tracks.cells[slot], forest->rebased);

    if (espl__cell_is_same(now, r->cells_of[slot])) {
        return false;
    }
    r->cells_of[slot] = now;
    compare_cell(r, slot);
    return true;
}

// Store the cells of a slot and of the nodes below it whose parent changed. A slot that is looked at before its
// parent gets its cell from that later.
static void spread_cell(espl_renderables *r, uint32_t top)
{
    const espl__forest *const forest = &r->world->forest;

    if (!espl__slot_has_node(forest, top)) {
        return;
    }
    bool has_changed = renew_cell(r, top);

    for (uint32_t slot = top; has_changed || slot != top;) {
        slot = espl__next_in_walk(forest, slot, top, has_changed);
        if (slot == ESPL__NO_SLOT) {
            return;
        }
        has_changed = renew_cell(r, slot);
    }
}

// Look at all roots, because a rebase changes the stored cells of the roots that it leaves where they are.
static void spread_roots(espl_renderables *r)
{
    const espl__forest *const forest = &r->world->forest;

    for (uint32_t slot = 0; slot < forest->end; ++slot) {
        if (espl__slot_has_node(forest, slot) && forest->parent[slot] == ESPL__NO_SLOT) {
            spread_cell(r, slot);
        }
    }
}

void espl__collect_cells(espl_renderables *r)
{
    const espl_world *const world = r->world;
    const espl__plane *const planes = world->forest.tracks.planes;
    espl__plane_walk walk = {
        .planes = {&planes[ESPL__PLANE_PLACE], &planes[ESPL__PLANE_CELL]},
        .plane_count = 2,
        .items = world->forest.end,
        .since = espl__plane_since(world->moment, r->last),
        // Marks of a forest that was made anew may be gone.
        .is_whole = r->last == 0 || world->forest.makings != r->known_makings,
    };

    espl__plane_walk_begin(&walk);
    for (uint64_t left; (left = espl__plane_walk_next(&walk)) != 0;) {
        for (; left != 0; left &= left - 1) {
            spread_cell(r, walk.block * ESPL__PLANE_BLOCK + espl__lowest_bit(left));
        }
    }
    if (!espl__cell_is_same(world->forest.rebased, r->rebased)) {
        spread_roots(r);
    }
    // A slot may have the cell that it had, and another member.
    for (size_t i = 0; i < espl__array_length(r->candidates); ++i) {
        compare_cell(r, r->candidates[i]);
    }
}

// --- Blocks ---

// The box of a cluster stays relative to the cell of the first place, also where its member went and only values
// are written.
void espl__fill_cells(const espl_renderables *r, const espl__dirty *dirty,
                      const espl__cluster *cluster)
{
    espl__member_cells *const cells = dirty->cells;
    bool has_one = true;

    for (uint32_t place = 0; place < cluster->count; ++place) {
        cells->of[place] = espl__has_bit(&cluster->holes, place)
                               ? dirty->old_values->cells->of[place]
                               : r->cells_of[cluster->slots[place]];
        has_one = has_one && espl__cell_is_same(cells->of[place], cells->of[0]);
    }
    cells->has_one_cell = has_one;
}

// Compute the box of a cluster whose members are in several cells, relative to the first one.
static void box_around_cells(const espl_renderables *r, float out[ESPL__LEAST ESPL__BOX_NUMBERS],
                             const espl__values *values, const espl__box_rows boxes,
                             const uint64_t members[ESPL__LEAST ESPL__MEMBER_WORDS])
{
    const espl__cell *const cells = values->cells->of;
    float low[3], high[3];

    for (int k = 0; k < 3; ++k) {
        double least = HUGE_VAL, most = -HUGE_VAL, reach = 0;

        for (uint32_t place = 0; place < values->count; ++place) {
            if ((members[place / 64] >> (place % 64) & 1) != 0) {
                const double way = espl__way_between_cells(r, cells[place], cells[0], k);
                const double center = (double)boxes[k][place], half = (double)boxes[3 + k][place];
                const double size = fabs(center) + half + fabs(way);

                least = fmin(least, (center + way) - half);
                most = fmax(most, (center + way) + half);
                reach = fmax(reach, size);
            }
        }
        low[k] = (float)(least - reach * 0x1p-19);
        high[k] = (float)(most + reach * 0x1p-19);
    }
    espl__box_between(out, low, high);
}

void espl__box_around_members(const espl_renderables *r, espl__poses *poses,
                              const espl__values *values,
                              const uint64_t members[ESPL__LEAST ESPL__MEMBER_WORDS])
{
    if (values->cells != NULL && !values->cells->has_one_cell) {
        box_around_cells(r, poses->box, values, poses->boxes, members);
    } else {
        r->world->forest.kernels->boxes->around(poses->box, poses->boxes, members);
    }
}

void espl__find_far_astray(const espl_renderables *r, espl__cluster *cluster,
                           const espl__values *values, const espl__poses *poses)
{
    float centers[3][ESPL__CLUSTER_SIZE] = {{0}};

    for (uint32_t place = 0; place < cluster->count; ++place) {
        float center[3];

        for (int k = 0; k < 3; ++k) {
            center[k] = poses->boxes[ESPL__BOX_CENTER + k][place];
        }
        espl__far_center(r, values->cells->of[place], center, center);
        for (int k = 0; k < 3; ++k) {
            centers[k][place] = center[k];
        }
    }
    espl__find_astray(&r->cells, cluster, (const float(*)[ESPL__CLUSTER_SIZE])centers, NULL);
}
