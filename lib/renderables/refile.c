// SPDX-License-Identifier: MIT
// Home boxes of clusters, and which members move to another cluster although they stay: members outside of the
// home box of their cluster, and members of moving clusters that have come to rest.
//
// Members are found astray when their poses are written, and move in a later update, so that the cost of an
// update is bounded by the budget. Until then their cluster is larger than it need be.
//
// Each update files the members of a part of space, and all parts have their turn. Of so many members of near
// clusters, most move from one of these to another, so that few clusters are written for all of them.
#include "lib/renderables/far_places.h"

#include "lib/math/boxes.h"

#include <string.h>

enum {
    PARTS_OF_SPACE = 8,  // each of which has its turn
    LEAVES_OF_PART = 32, // at least, so that a small world is one part
};

void espl__find_home(const espl__cells *cells, espl__cluster *cluster)
{
    for (int k = 0; k < 3; ++k) {
        uint64_t low = UINT64_MAX, high = 0;

        for (uint32_t place = 0; place < cluster->count; ++place) {
            const uint64_t bits = cluster->codes[place] & ESPL__CODE_AXIS(k);

            low = bits < low ? bits : low;
            high = bits > high ? bits : high;
        }
        cluster->home_low[k] = espl__cell_begin(cells, low, k);
        cluster->home_high[k] = espl__cell_begin(cells, high, k) + cells->edge;
    }
}

// Tell whether a box is inside of another one. False for NaNs.
static bool is_inside(const float box[ESPL__BOX_NUMBERS], const float low[3], const float high[3])
{
    bool is_in = true;

    for (int k = 0; k < 3; ++k) {
        const float center = box[ESPL__BOX_CENTER + k], half = box[ESPL__BOX_HALF + k];

        is_in = is_in && center - half >= low[k] && center + half <= high[k];
    }
    return is_in;
}

// Return a bit for each of ESPL__BOX_PADDING centres that is outside of a box. Most have none outside, which
// compilers find with vectors.
static uint64_t outside_of(const float (*centers)[ESPL__CLUSTER_SIZE], uint32_t first,
                           const float low[3], const float high[3])
{
    uint32_t outside[ESPL__BOX_PADDING] = {0}, any = 0;
    uint64_t bits = 0;

    for (int k = 0; k < 3; ++k) {
        const float *const at = &centers[k][first];

        for (int i = 0; i < ESPL__BOX_PADDING; ++i) {
            outside[i] |= (uint32_t)(at[i] < low[k]) | (uint32_t)(at[i] > high[k]);
        }
    }
    for (int i = 0; i < ESPL__BOX_PADDING; ++i) {
        any |= outside[i];
    }
    for (int i = 0; i < ESPL__BOX_PADDING && any != 0; ++i) {
        bits |= (uint64_t)outside[i] << i;
    }
    return bits;
}

void espl__find_astray(const espl__cells *cells, espl__cluster *cluster,
                       const float (*centers)[ESPL__CLUSTER_SIZE], const float *box)
{
    float low[3], high[3];

    for (int k = 0; k < 3; ++k) {
        const float margin = cells->edge + (cluster->home_high[k] - cluster->home_low[k]) * 0.125f;

        low[k] = cluster->home_low[k] - margin;
        high[k] = cluster->home_high[k] + margin;
    }
    cluster->astray = (espl__member_bits){{0, 0}};
    if (box != NULL && is_inside(box, low, high)) {
        return;
    }
    for (uint32_t first = 0; first < cluster->count; first += ESPL__BOX_PADDING) {
        const uint64_t bits = outside_of(centers, first, low, high);

        cluster->astray.words[first / 64] |= bits << first % 64;
    }
    for (uint32_t word = 0; word < ESPL__MEMBER_WORDS; ++word) {
        cluster->astray.words[word] &=
            espl__members_of_word(cluster->count, word) & ~cluster->holes.words[word];
    }
}

// Read the centre of the box that a member had at the last update, in edges of the spatial order where the world
// has cells.
static void read_center(const espl_renderables *r, const espl__cluster_entry *entry, uint32_t place,
                        float center[3])
{
    for (int k = 0; k < 3; ++k) {
        center[k] = entry->poses->boxes[ESPL__BOX_CENTER + k][place];
    }
    if (entry->values->cells != NULL) {
        espl__far_center(r, entry->values->cells->of[place], center, center);
    }
}

// Extend the home box of a cluster to a member that stays in it, because its code is that of the cluster. One
// that is infinitely far away would let every member be at home.
static void extend_home(espl__cluster *cluster, const float center[3])
{
    for (int k = 0; k < 3 && espl__all_finite(center, 3); ++k) {
        cluster->home_low[k] = center[k] < cluster->home_low[k] ? center[k] : cluster->home_low[k];
        cluster->home_high[k] =
            center[k] > cluster->home_high[k] ? center[k] : cluster->home_high[k];
    }
}

// List the members of a cluster that are astray, as long as the budget lasts. @return false: no memory.
static bool list_astray(espl_renderables *r, espl__update *u, uint32_t number, uint32_t *budget)
{
    espl__cluster *const cluster = espl__cluster_at(r, number);
    // Members of recent leaves are filed where their codes are.
    const int category =
        (r->states[number] & ESPL__CLUSTER_MOVING) != 0 ? ESPL__MOVING : ESPL__STILL;
    const espl__cluster_entry *const entry = espl__tables_entry(&r->tables, number);

    for (uint32_t place = 0; place < cluster->count; ++place) {
        if (!espl__has_bit(&cluster->astray, place) || espl__has_bit(&cluster->gone, place) ||
            espl__has_bit(&cluster->leaving, place)) {
            continue;
        }
        if (*budget == 0) {
            u->report.waiting += 1;
            continue;
        }
        float center[3];

        read_center(r, entry, place, center);
        const uint64_t code = espl__code_of(&r->cells, center);

        if (espl__find_cluster(r, category, code) == number) {
            cluster->codes[place] = code;
            extend_home(cluster, center);
            cluster->astray.words[place / 64] &= ~(UINT64_C(1) << (place % 64));
            continue;
        }
        if (!espl__add_mover(r, espl__member(number, place), category, code)) {
            return false;
        }
        *budget -= 1;
        u->report.refiled += 1;
    }
    return true;
}

// List members of a moving cluster that have not moved for long. @return false: no memory.
static bool list_rested(espl_renderables *r, espl__update *u, uint32_t number, uint32_t *budget)
{
    espl__cluster *const cluster = espl__cluster_at(r, number);

    if (u->number - cluster->looked_at < ESPL__STILL_AFTER) {
        return true;
    }
    for (uint32_t place = 0; place < cluster->count && *budget != 0; ++place) {
        const uint32_t member = espl__member(number, place);

        if (espl__has_bit(&cluster->moved, place) || espl__has_bit(&cluster->holes, place) ||
            espl__has_bit(&cluster->gone, place) || espl__has_bit(&cluster->leaving, place)) {
            continue;
        }
        if (!espl__add_mover(r, member, ESPL__STILL, espl__code_now(r, member))) {
            return false;
        }
        *budget -= 1;
    }
    // Members that the budget does not suffice for are found by the next look.
    if (*budget != 0) {
        cluster->moved = (espl__member_bits){{0, 0}};
        cluster->looked_at = u->number;
    }
    return true;
}

espl__code_range espl__find_part(const espl__leaf *leaves, uint64_t from, size_t least)
{
    const size_t count = espl__array_length(leaves);
    const size_t end = count == 0 ? 0 : espl__find_leaf(leaves, from) + least;

    if (end < count && leaves[end].low > from) {
        return (espl__code_range){
            .low = from, .high = leaves[end].low - 1, .next = leaves[end].low};
    }
    return (espl__code_range){.low = from, .high = UINT64_MAX, .next = 0};
}

// Find the part of space of which this update files members of a category: an eighth of it.
static espl__code_range find_filed(const espl_renderables *r, espl__update *u, int category)
{
    const espl__leaf *const leaves = r->leaves[category];
    const size_t count = espl__array_length(leaves), share = count / PARTS_OF_SPACE + 1;
    const espl__code_range part = espl__find_part(leaves, r->filed_to[category],
                                                  share > LEAVES_OF_PART ? share : LEAVES_OF_PART);

    u->filed_to[category] = part.next;
    return part;
}

// Count the members astray that neither go nor move to another cluster in this update.
static uint32_t count_staying_astray(const espl__cluster *cluster)
{
    espl__member_bits staying;

    for (int i = 0; i < ESPL__MEMBER_WORDS; ++i) {
        staying.words[i] =
            cluster->astray.words[i] & ~(cluster->gone.words[i] | cluster->leaving.words[i]);
    }
    return espl__count_members(&staying);
}

// List the members astray of a part of space. @return false: no memory.
static bool list_part(espl_renderables *r, espl__update *u)
{
    const espl__code_range still = find_filed(r, u, ESPL__STILL),
                           moving = find_filed(r, u, ESPL__MOVING);
    uint32_t budget = r->budget;
    bool is_done = true;

    for (size_t i = 0; i < espl__array_length(r->astray) && is_done; ++i) {
        const uint32_t number = r->astray[i];
        const espl__cluster *const cluster = espl__cluster_at(r, number);
        const bool is_moving = espl__cluster_category(r, number) == ESPL__MOVING;
        const espl__code_range *const part = is_moving ? &moving : &still;

        if (cluster->codes[0] >= part->low && cluster->codes[0] <= part->high) {
            is_done = list_astray(r, u, number, &budget);
        } else {
            u->report.waiting += count_staying_astray(cluster);
        }
    }
    return is_done;
}

bool espl__collect_astray(espl_renderables *r, espl__update *u)
{
    const uint32_t leaves = (uint32_t)espl__array_length(r->leaves[ESPL__MOVING]);
    uint32_t rests = r->budget;
    bool is_done = list_part(r, u);

    // Each update looks at some of the moving clusters, and at all of them in turn.
    for (uint32_t i = u->number % ESPL__STILL_AFTER; i < leaves && is_done;
         i += ESPL__STILL_AFTER) {
        is_done = list_rested(r, u, r->leaves[ESPL__MOVING][i].cluster, &rests);
    }
    return is_done;
}
