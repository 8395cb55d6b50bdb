// SPDX-License-Identifier: MIT
// espl_renderables_update(): the order of its steps, and their memory.
#include "lib/renderables/member_cells.h"

#include "lib/tree/changes.h"
#include "lib/world/moment.h"
#include "lib/world/refusals.h"

#include <string.h>

// --- Collecting ---

// Bound which members of still clusters may begin to move. Where more do than one update lets, each one lets those
// of a part of space, because clusters that all members leave cost little, and many that some leave cost much.
static void bound_rises(const espl_renderables *r, espl__update *u)
{
    const espl__leaf *const leaves = r->leaves[ESPL__STILL];

    u->rises =
        r->budget <= UINT32_MAX / ESPL__RISE_FACTOR ? r->budget * ESPL__RISE_FACTOR : UINT32_MAX;
    u->rising = (espl__code_range){.low = 0, .high = UINT64_MAX};
    u->first_unrisen = u->next_unrisen = UINT64_MAX;
    if (r->unrisen > u->rises) {
        const uint64_t share = (uint64_t)r->unrisen_clusters * u->rises / r->unrisen;

        u->rising = espl__find_part(leaves, r->risen_to, (size_t)share + 1);
    }
}

// Mark what a refused update left to be done. @return false: no memory.
static bool begin_update(espl_renderables *r, espl__update *u)
{
    const espl__forest *const forest = &r->world->forest;
    const size_t clusters = espl__array_length(r->states);

    *u = (espl__update){
        .number = (uint32_t)r->tables.number,
        .has_sides = espl__forest_has_sides(forest),
    };
    bound_rises(r, u);
    espl__tables_begin(&r->tables);
    for (int category = 0; category < ESPL__CATEGORIES; ++category) {
        espl__array_set_length(r->arrivals[category], 0);
        espl__array_set_length(r->orders[category], 0);
        espl__array_set_length(r->runs[category], 0);
    }
    if (r->union_count != 0 && r->climbed != NULL) {
        memset(r->climbed, 0, espl__array_length(r->climbed) * sizeof *r->climbed);
    }
    return espl__slots_reserve(r) && espl__clusters_reserve(r, clusters);
}

// Let the unions of the world be computed anew, because a renderable below some may have gone.
static void mark_unions(espl_renderables *r)
{
    for (int category = 0; category < ESPL__CATEGORIES; ++category) {
        for (size_t i = 0; i < espl__array_length(r->leaves[category]); ++i) {
            const uint32_t number = r->leaves[category][i].cluster;

            if (espl__has_bits(&espl__cluster_at(r, number)->unions)) {
                espl__mark_dirty(r, number, ESPL__WRITE_POSES);
            }
        }
    }
}

// Forget which members were to move, because the update that found them is refused.
static void forget_movers(espl_renderables *r)
{
    for (size_t i = 0; i < espl__array_length(r->dirty); ++i) {
        espl__cluster_at(r, r->dirty[i].cluster)->leaving = (espl__member_bits){{0, 0}};
    }
}

static bool collect_changes(espl_renderables *r, espl__update *u)
{
    espl__row_kinds kinds;
    bool is_done;

    espl__row_kinds_begin(&kinds, r);
    is_done = espl__collect_members(r, &kinds, u);
    if (is_done && espl__renderables_have_cells(r)) {
        espl__collect_cells(r);
    }
    if (is_done) {
        espl__collect_values(r, &kinds, u);
        is_done = espl__collect_layers(r, &kinds, u) && espl__collect_astray(r, u) &&
                  espl__collect_recent(r, u);
    }
    if (is_done && r->union_count != 0 && u->is_union_whole) {
        mark_unions(r);
    }
    espl__clear_candidates(r);
    return is_done;
}

// --- Memory ---

// Take all memory that is not taken yet, for what was listed.
static espl_status reserve(espl_renderables *r, espl__update *u)
{
    espl__heap *const heap = &r->world->heap;

    if (!espl__sort_arrivals(r) || !espl__divert_runs(r)) {
        return ESPL_ERR_NO_MEMORY;
    }
    espl__plan_arrivals(r, u);
    const size_t listed = espl__array_length(r->dirty);
    const size_t numbers = r->tables.newest.clusters, unused = r->tables.newest.free_count;
    // Numbers that no cluster has are taken first.
    const size_t after = numbers + (u->new_clusters > unused ? u->new_clusters - unused : 0);
    espl__tables_need need = {.clusters = (uint32_t)after};

    if (after > ESPL__CLUSTER_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    espl__count_blocks(r, u, &need);
    bool is_done = espl__clusters_reserve(r, after) &&
                   ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->sources,
                                      listed + u->new_clusters + u->thin_clusters) &&
                   ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->astray,
                                      after - espl__array_length(r->astray));

    for (int category = 0; category < ESPL__CATEGORIES && is_done; ++category) {
        const size_t leaves = espl__array_length(r->leaves[category]) + u->new_clusters;

        espl__array_set_length(r->spare_leaves[category], 0);
        is_done = ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->spare_leaves[category], leaves);
    }
    is_done = is_done && espl__tables_reserve(&r->tables, heap, &need);
    return is_done ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}

// Free the lists of arrivals where they are large, because many renderables came at once.
static void drop_large_lists(espl_renderables *r)
{
    enum { KEPT = 16384 };
    espl__heap *const heap = &r->world->heap;

    for (int i = 0; i < ESPL__CATEGORIES; ++i) {
        const size_t capacity = espl__array_capacity(r->arrivals[i]);

        if (capacity > KEPT && capacity > r->reserved &&
            capacity / 4 > espl__array_length(r->arrivals[i])) {
            ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, r->arrivals[i]);
            ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, r->orders[i]);
            ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, r->keys[0]);
            ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, r->keys[1]);
        }
    }
    if (r->arrivals[ESPL__STILL] == NULL) {
        ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, r->orders[ESPL__RECENT]);
    }
}

// --- Publishing ---

// Fill the order of clusters in the tables where it changed.
static void set_order(espl_renderables *r)
{
    const size_t still = espl__array_length(r->leaves[ESPL__STILL]);
    const size_t recent = espl__array_length(r->leaves[ESPL__RECENT]);
    const size_t moving = espl__array_length(r->leaves[ESPL__MOVING]);

    if (!r->has_new_order) {
        return;
    }
    uint32_t *order = espl__tables_order(&r->tables);

    for (int category = 0; category < ESPL__CATEGORIES; ++category) {
        const espl__leaf *const leaves = r->leaves[category];

        for (size_t i = 0; i < espl__array_length(leaves); ++i) {
            *order++ = leaves[i].cluster;
        }
    }
    espl__tables_set_order(&r->tables, (uint32_t)(still + recent + moving),
                           (uint32_t)(still + recent));
    r->has_new_order = false;
}

// Find the entity with the lowest index that is left out.
static espl_entity find_first_bad(const espl_renderables *r)
{
    espl_entity first = espl_entity_null();

    for (int category = 0; category < ESPL__CATEGORIES && r->bad_count != 0; ++category) {
        for (size_t i = 0; i < espl__array_length(r->leaves[category]); ++i) {
            const espl__cluster *const cluster =
                espl__cluster_at(r, r->leaves[category][i].cluster);

            for (uint32_t place = 0; place < cluster->count && espl__count_bad(cluster) != 0;
                 ++place) {
                const bool is_bad = espl__has_bit(&cluster->bad_local, place) ||
                                    espl__has_bit(&cluster->bad_world, place);

                if (is_bad &&
                    (espl_entity_is_null(first) || cluster->entities[place].index < first.index)) {
                    first = cluster->entities[place];
                }
            }
        }
    }
    return first;
}

static void publish(espl_renderables *r, const void *user, espl__update *u)
{
    espl_world *const world = r->world;
    espl_renderables_report *const report = &u->report;

    set_order(r);
    memcpy(r->filed_to, u->filed_to, sizeof r->filed_to);
    r->risen_to = u->next_unrisen != UINT64_MAX ? u->next_unrisen : u->first_unrisen;
    r->unrisen = u->unrisen;
    r->unrisen_clusters = u->unrisen_clusters;
    report->renderables = espl__renderables_count(r);
    report->moving = r->counts[ESPL__MOVING];
    report->clusters = r->tables.newest.order_count;
    report->bad = r->bad_count;
    if (espl_entity_is_null(r->first_bad)) {
        r->first_bad = find_first_bad(r);
    }
    report->first_bad = r->first_bad;
    report->number =
        espl__tables_publish(&r->tables, &(espl__publication){
                                             .renderables = report->renderables,
                                             .user = user,
                                             .lod_pages = (const espl_lods *const *)r->lod_pages,
                                             .lod_count = r->lod_count,
                                             .cell_size = world->forest.cell_size,
                                             .rebased = world->forest.rebased,
                                         });
    r->attachment.count = report->renderables;
    r->attachment.clusters = report->clusters;
    // A query that is open may have given out addresses of columns, which are written later than their version
    // says.
    r->version = world->iterations == 0 ? world->store.version : r->version;
    r->known_slots = world->forest.end;
    r->known_makings = world->forest.makings;
    r->known_lods = r->lod_count;
    r->rebased = world->forest.rebased;
    r->has_layers_of_mirror = true;
    r->had_sides = u->has_sides;
    r->last = espl__world_next_moment(world);
}

// --- The call ---

static espl_status run_update(espl_renderables *r, const void *user,
                              espl_renderables_report *report)
{
    espl__update u;
    espl_status status =
        begin_update(r, &u) && collect_changes(r, &u) ? ESPL_OK : ESPL_ERR_NO_MEMORY;

    status = status == ESPL_OK ? reserve(r, &u) : status;
    if (status != ESPL_OK) {
        espl__clear_candidates(r);
        forget_movers(r);
        return status;
    }
    u.report.removed = espl__array_length(r->gone);
    u.report.added = u.added;
    espl__refile(r, &u);
    espl__take_blocks(r);
    espl__fill(r, &u);
    espl__set_blocks(r, &u);
    publish(r, user, &u);
    drop_large_lists(r);
    if (report != NULL) {
        *report = u.report;
    }
    return u.report.bad != 0 ? ESPL_PARTLY : ESPL_OK;
}

espl_status espl_renderables_update(espl_renderables *renderables, const void *user,
                                    espl_renderables_report *report)
{
    static const char *const call = "espl_renderables_update";

    if (renderables == NULL) {
        return espl__refuse_call(NULL, call, ESPL_ERR_ARGUMENT, NULL);
    }
    espl_world *const world = renderables->world;

    ESPL__HOLD_OR_RETURN(&world->holder, call, ESPL_ERR_BUSY)
    if (world->is_playing) {
        return espl__refuse_call(world, call, ESPL_ERR_BUSY, NULL);
    }
    return espl__refuse_call(world, call, run_update(renderables, user, report), NULL);
}
