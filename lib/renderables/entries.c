// SPDX-License-Identifier: MIT
// The blocks of clusters that an update writes: how many it takes at most, which it takes, and that they become
// the newest entries.
#include "lib/renderables/member_cells.h"

#include "lib/base/prefetch.h"

// --- Blocks ---

// Prefetch what is known of clusters some places further in the list, and then their blocks.
static void prefetch_dirty(const espl_renderables *r, size_t at)
{
    enum { AHEAD = 8, LINE = 64 };
    const size_t count = espl__array_length(r->dirty);

    if (at + AHEAD < count) {
        const uint32_t number = r->dirty[at + AHEAD].cluster;
        const espl__cluster *const cluster = espl__cluster_at(r, number);

        espl__prefetch(espl__tables_entry(&r->tables, number));
        for (size_t from = offsetof(espl__cluster, home_low); from < sizeof *cluster;
             from += LINE) {
            espl__prefetch((const unsigned char *)cluster + from);
        }
    }
    if (at + AHEAD / 2 < count) {
        const espl__dirty *const dirty = &r->dirty[at + AHEAD / 2];
        const espl__poses *const poses = espl__tables_entry(&r->tables, dirty->cluster)->poses;

        if (poses != NULL) {
            espl__prefetch(&poses->block);
        }
        if (dirty->poses != NULL) {
            espl__prefetch_to_write(&dirty->poses->block);
        }
    }
}

// Tell whether a member of a cluster has a stretch.
static bool has_stretch(const espl_renderables *r, const espl__cluster *cluster)
{
    float room[3];
    bool has_some = false;

    for (uint32_t place = 0; place < cluster->count && !has_some; ++place) {
        has_some = espl__slot_stretch(&r->world->forest, cluster->slots[place], room) != NULL;
    }
    return has_some;
}

// Tell whether the poses of the mirror before do not serve as those before.
static bool needs_pair(const espl__cluster *cluster, uint32_t state)
{
    return (state & (ESPL__WRITE_MEMBERS | ESPL__WRITE_BOXES)) != 0 ||
           ((state & ESPL__WRITE_POSES) != 0 && espl__has_bits(&cluster->bad_world));
}

// Tell whether the poses of a cluster are written where those before were.
static bool reuses_before(const espl_renderables *r, uint32_t number, uint32_t state)
{
    return !needs_pair(espl__cluster_at(r, number), state) &&
           espl__tables_may_reuse(&r->tables, number);
}

// Tell whether all members of a cluster are new, so that none has a pose before.
static bool is_new_cluster(const espl_renderables *r, const espl__dirty *dirty,
                           const espl__cluster *cluster)
{
    if (dirty->sources == ESPL__NO_CLUSTER) {
        return false;
    }
    const uint32_t *const sources = r->sources[dirty->sources].of;
    uint32_t from_store = ESPL__FROM_STORE;

    for (uint32_t place = 0; place < cluster->count; ++place) {
        from_store &= sources[place];
    }
    return from_store != 0;
}

// Tell whether members left a cluster, and nothing else of it changed: the blocks that it had are copied.
static bool is_thinned_cluster(const espl_renderables *r, const espl__dirty *dirty,
                               const espl__cluster *cluster)
{
    const uint32_t others = ESPL__WRITE_POSES | ESPL__WRITE_VALUES | ESPL__WRITE_BOXES;
    bool is_own = dirty->sources != ESPL__NO_CLUSTER && dirty->old_values != NULL &&
                  (r->states[dirty->cluster] & others) == 0 && dirty->bad == 0 &&
                  dirty->unions == 0 && dirty->old_values->stretches == NULL &&
                  !espl__renderables_have_cells(r) && !espl__has_bits(&dirty->load);

    for (uint32_t place = 0; place < cluster->count && is_own; ++place) {
        is_own = espl__member_cluster(r->sources[dirty->sources].of[place]) == dirty->cluster;
    }
    return is_own;
}

// Give holes the slot of a member, so that what is read of each place is there. No bit of a block shows it.
static void give_slots_to_holes(espl__cluster *cluster)
{
    uint32_t first = 0;

    if (!espl__has_bits(&cluster->holes)) {
        return;
    }
    while (espl__has_bit(&cluster->holes, first)) {
        first += 1;
    }
    for (uint32_t place = 0; place < cluster->count; ++place) {
        if (espl__has_bit(&cluster->holes, place)) {
            cluster->slots[place] = cluster->slots[first];
        }
    }
}

void espl__take_blocks(espl_renderables *r)
{
    const bool has_sides = espl__forest_has_sides(&r->world->forest);

    for (size_t i = 0; i < espl__array_length(r->dirty); ++i) {
        prefetch_dirty(r, i);
        espl__dirty *const dirty = &r->dirty[i];
        const espl__cluster_entry *const entry = espl__tables_entry(&r->tables, dirty->cluster);
        espl__cluster *const cluster = espl__cluster_at(r, dirty->cluster);
        const uint32_t state = r->states[dirty->cluster];

        dirty->old_values = entry->values;
        dirty->old_poses = entry->poses;
        dirty->load = (espl__member_bits){{
            cluster->reload.words[0] | cluster->bad_local.words[0],
            cluster->reload.words[1] | cluster->bad_local.words[1],
        }};
        dirty->jumped = cluster->jumped;
        dirty->bad = espl__count_bad(cluster);
        dirty->unions = espl__count_members(&cluster->unions);
        if ((state & ESPL__CLUSTER_USED) == 0) {
            continue;
        }
        give_slots_to_holes(cluster);
        if ((state & (ESPL__WRITE_MEMBERS | ESPL__WRITE_VALUES)) != 0) {
            dirty->values = espl__values_take(&r->tables);
            if (has_sides && has_stretch(r, cluster)) {
                dirty->stretches = espl__stretches_take(&r->tables);
            }
            if (espl__renderables_have_cells(r)) {
                dirty->cells = espl__member_cells_take(&r->tables);
            }
        }
        if ((state & (ESPL__WRITE_MEMBERS | ESPL__WRITE_BOXES | ESPL__WRITE_POSES)) != 0) {
            dirty->poses = reuses_before(r, dirty->cluster, state)
                               ? espl__tables_reuse_before(&r->tables, dirty->cluster)
                               : espl__poses_take(&r->tables);
        }
        dirty->is_new = is_new_cluster(r, dirty, cluster);
        dirty->is_thinned = is_thinned_cluster(r, dirty, cluster);
        if (needs_pair(cluster, state) && !dirty->is_new && !dirty->is_thinned) {
            dirty->before = espl__poses_take(&r->tables);
        }
    }
}

// --- Entries ---

void espl__count_blocks(const espl_renderables *r, const espl__update *u, espl__tables_need *need)
{
    const bool has_sides = espl__forest_has_sides(&r->world->forest);
    // A leaf with few members may be merged into one that is not listed.
    size_t values = u->new_clusters + u->thin_clusters;
    size_t poses = u->new_clusters + u->mixed_clusters + 2 * u->thin_clusters;

    for (size_t i = 0; i < espl__array_length(r->dirty); ++i) {
        prefetch_dirty(r, i);
        const uint32_t number = r->dirty[i].cluster, state = r->states[number];
        const bool is_pair = needs_pair(espl__cluster_at(r, number), state);
        const bool is_one = (state & ESPL__WRITE_POSES) != 0 && !reuses_before(r, number, state);

        values += (state & (ESPL__WRITE_MEMBERS | ESPL__WRITE_VALUES)) != 0 ? 1 : 0;
        poses += is_pair ? 2 : is_one ? 1 : 0;
    }
    // A cluster may be counted as one that is written and as one that another is merged into.
    values = values < need->clusters ? values : need->clusters;
    poses = poses < 2 * (size_t)need->clusters ? poses : 2 * (size_t)need->clusters;
    need->blocks[ESPL__BLOCK_VALUES] = (uint32_t)values;
    need->blocks[ESPL__BLOCK_POSES] = (uint32_t)poses;
    need->blocks[ESPL__BLOCK_STRETCHES] = has_sides ? (uint32_t)values : 0;
    need->blocks[ESPL__BLOCK_CELLS] = espl__renderables_have_cells(r) ? (uint32_t)values : 0;
}

// Keep the clusters with members astray that this update did not write.
static void keep_astray(espl_renderables *r)
{
    size_t kept = 0;

    for (size_t i = 0; i < espl__array_length(r->astray); ++i) {
        const uint32_t number = r->astray[i];

        if ((r->states[number] & ESPL__CLUSTER_USED) != 0 &&
            (r->states[number] & ESPL__WRITE_ANY) == 0 &&
            espl__has_bits(&espl__cluster_at(r, number)->astray)) {
            r->astray[kept++] = number;
        }
    }
    espl__array_set_length(r->astray, kept);
}

static void set_poses(espl_renderables *r, const espl__dirty *dirty)
{
    if (dirty->is_new || dirty->is_thinned) {
        espl__tables_set_pair(&r->tables, dirty->cluster, dirty->poses, dirty->poses);
        return;
    }
    if (dirty->before == NULL) {
        // What was written and is the same stays as it is, so that the cluster does not count as changed.
        if (dirty->is_same) {
            espl__tables_leave_poses(&r->tables, dirty->cluster, dirty->poses);
        } else {
            espl__tables_set_poses(&r->tables, dirty->cluster, dirty->poses);
        }
        return;
    }
    if (dirty->is_same) {
        espl__poses_give(&r->tables, dirty->before);
    }
    espl__tables_set_pair(&r->tables, dirty->cluster, dirty->poses,
                          dirty->is_same ? dirty->poses : dirty->before);
}

// Let the first bad entity be found again where a cluster had or has bad members.
static void forget_first_bad(espl_renderables *r, uint32_t bad)
{
    if (bad != 0) {
        r->first_bad = espl_entity_null();
    }
}

void espl__set_blocks(espl_renderables *r, espl__update *u)
{
    keep_astray(r);
    for (size_t i = 0; i < espl__array_length(r->dirty); ++i) {
        prefetch_dirty(r, i);
        const espl__dirty *const dirty = &r->dirty[i];
        const uint32_t number = dirty->cluster;
        espl__cluster *const cluster = espl__cluster_at(r, number);

        if ((r->states[number] & ESPL__CLUSTER_USED) == 0) {
            forget_first_bad(r, dirty->bad);
            r->bad_count -= dirty->bad;
            r->union_count -= dirty->unions;
            espl__tables_remove_cluster(&r->tables, number);
            continue;
        }
        if (dirty->values != NULL) {
            espl__tables_set_values(&r->tables, number, dirty->values);
        }
        if (dirty->poses != NULL) {
            set_poses(r, dirty);
            u->report.rewritten +=
                dirty->is_same && dirty->before == NULL && !dirty->is_new && !dirty->is_thinned ? 0
                                                                                                : 1;
            u->report.moved += dirty->moved;
        }
        espl__tables_set_holes(&r->tables, number, cluster->holes.words);
        forget_first_bad(r, dirty->bad + espl__count_bad(cluster));
        r->bad_count = r->bad_count + espl__count_bad(cluster) - dirty->bad;
        r->union_count = r->union_count + espl__count_members(&cluster->unions) - dirty->unions;
        cluster->reload = cluster->jumped = (espl__member_bits){{0, 0}};
        r->states[number] &= (uint8_t)~ESPL__WRITE_ANY;
        if (espl__has_bits(&cluster->astray)) {
            ESPL_ARRAY_PUSH(r->astray, number);
        }
    }
    espl__array_set_length(r->dirty, 0);
    espl__array_set_length(r->sources, 0);
}
