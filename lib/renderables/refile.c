// SPDX-License-Identifier: MIT
// Home boxes of clusters, and which members move to another cluster although they stay: members outside of the
// home box of their cluster, and members of moving clusters that have come to rest.
//
// Members are found astray when their poses are written, and move in the next update, so that the cost of an
// update is bounded by the budget. Until then their cluster is larger than it need be.
#include "lib/renderables/far_places.h"

#include "lib/base/bits.h"

#include <string.h>

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

void espl__find_astray(const espl__cells *cells, espl__cluster *cluster,
                       const float (*centers)[ESPL__CLUSTER_SIZE], const float *box)
{
    const uint32_t count = cluster->count;
    uint32_t outside[ESPL__CLUSTER_SIZE], any = 0;
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
    memset(outside, 0, sizeof outside);
    for (int k = 0; k < 3; ++k) {
        const float *const at = centers[k];

        for (uint32_t place = 0; place < count; ++place) {
            outside[place] |= (uint32_t)(at[place] < low[k]) | (uint32_t)(at[place] > high[k]);
            any |= outside[place];
        }
    }
    for (uint32_t place = 0; place < count && any != 0; ++place) {
        cluster->astray.words[place / 64] |= (uint64_t)outside[place] << (place % 64);
    }
    for (int word = 0; word < ESPL__MEMBER_WORDS; ++word) {
        cluster->astray.words[word] &= ~cluster->holes.words[word];
    }
}

// Extend the home box of a cluster to a member that stays in it, because its code is that of the cluster.
static void extend_home(const espl_renderables *r, espl__cluster *cluster,
                        const espl__cluster_entry *entry, uint32_t place)
{
    float center[3];

    for (int k = 0; k < 3; ++k) {
        center[k] = entry->poses->boxes[ESPL__BOX_CENTER + k][place];
    }
    if (entry->values->cells != NULL) {
        espl__far_center(r, entry->values->cells->of[place], center, center);
    }
    for (int k = 0; k < 3; ++k) {
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
        const uint64_t code = espl__code_now(r, espl__member(number, place));

        if (espl__find_cluster(r, category, code) == number) {
            cluster->codes[place] = code;
            extend_home(r, cluster, entry, place);
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

bool espl__collect_astray(espl_renderables *r, espl__update *u)
{
    const size_t listed = espl__array_length(r->astray);
    const uint32_t leaves = (uint32_t)espl__array_length(r->leaves[ESPL__MOVING]);
    uint32_t budget = r->budget, rests = budget;
    bool is_done = true;

    for (size_t i = 0; i < listed && is_done; ++i) {
        is_done = list_astray(r, u, r->astray[i], &budget);
    }
    // Each update looks at a part of the moving clusters, and all of them are looked at in turn.
    for (uint32_t i = u->number % ESPL__STILL_AFTER; i < leaves && is_done;
         i += ESPL__STILL_AFTER) {
        is_done = list_rested(r, u, r->leaves[ESPL__MOVING][i].cluster, &rests);
    }
    return is_done;
}
