// SPDX-License-Identifier: MIT
// The end of stage 4: what the plans need is written down in the order in which it will be done,
// and all memory for it is taken. After this nothing can fail.
#include "lib/commands/playback.h"

#include <string.h>

enum { ROLES = 3 };

static bool is_dead(const espl__node *node)
{
    return (node->flags & ESPL__NODE_DEAD) != 0;
}

static bool is_clone(const espl__node *node)
{
    return (node->flags & ESPL__NODE_CLONE) != 0;
}

static bool is_placed(const espl__node *node)
{
    return (node->flags & ESPL__NODE_PASS) == 0;
}

static espl_component role_of(const espl__node *node)
{
    if (node->parent != ESPL__NO_NODE) {
        return ESPL_MEMBER;
    }
    return node->first != ESPL__NO_NODE ? ESPL_ROOT : ESPL_SOLO;
}

// --- Clones ---

static espl_status clone_archetype(espl__playback *playback, const espl__make *make, uint32_t *out)
{
    const espl__group *const group = &playback->groups[make->group];
    const espl__node *const node = &group->sketch.nodes[make->node];
    const espl_component role = role_of(node);
    espl_component add[ESPL_SET_LIMIT + 2], remove[ROLES + 2];
    size_t removed = 0;
    size_t added = espl__values_components(playback, group, node->values, make->node, add);
    bool keeps_prefab = false;

    for (size_t i = 0; i < added; ++i) {
        keeps_prefab = keeps_prefab || add[i] == ESPL_PREFAB;
    }
    add[added++] = role;
    if (is_placed(node)) {
        add[added++] = ESPL_PLACEMENT;
    } else {
        remove[removed++] = ESPL_PLACEMENT;
    }
    for (espl_component other = ESPL_SOLO; other <= ESPL_MEMBER; ++other) {
        if (other != role) {
            remove[removed++] = other;
        }
    }
    if (!keeps_prefab) {
        remove[removed++] = ESPL_PREFAB;
    }
    return espl__archetype_change(playback->store,
                                  espl__entity_archetype(playback->store, make->source), add, added,
                                  remove, removed, out);
}

// Clones without values of one archetype, one role, with a placement or without, go to one
// archetype: look it up once.
static espl_status find_clone_archetypes(espl__playback *playback)
{
    const size_t known = espl__array_length(playback->store->archetypes) * ROLES * 2;
    uint32_t *const memo = espl__arena_take(&playback->arena, known, sizeof *memo);

    if (memo == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    memset(memo, 0xff, known * sizeof *memo);
    for (size_t i = 0; i < playback->make_count; ++i) {
        espl__make *const make = &playback->makes[i];
        const espl__node *const node = &playback->groups[make->group].sketch.nodes[make->node];
        const size_t number = espl__entity_archetype(playback->store, make->source);
        const size_t kind = (role_of(node) - ESPL_SOLO) * 2 + (is_placed(node) ? 1 : 0);
        uint32_t *const cached = &memo[number * ROLES * 2 + kind];

        if (node->values == ESPL__NO_NODE && *cached != ESPL__NONE) {
            make->archetype = *cached;
            continue;
        }
        const espl_status status = clone_archetype(playback, make, &make->archetype);
        if (status != ESPL_OK) {
            return status;
        }
        if (node->values == ESPL__NO_NODE) {
            *cached = make->archetype;
        }
    }
    return ESPL_OK;
}

// Copies of one source stand together, in command order: counting sort by first appearance.
static bool sort_makes(espl__playback *playback)
{
    const size_t count = playback->make_count;
    uint32_t *const sizes = espl__arena_take_zeroed(&playback->arena, count + 1, sizeof *sizes);
    uint32_t buckets = 0;

    playback->make_order = espl__arena_take(&playback->arena, count, sizeof(uint32_t));
    playback->make_indices = espl__arena_take(&playback->arena, count, sizeof(uint32_t));
    if (sizes == NULL || playback->make_order == NULL || playback->make_indices == NULL ||
        !espl__marks_reserve(playback->heap, &playback->source_marks,
                             espl__array_length(playback->store->records))) {
        return false;
    }

    uint32_t *const marks = playback->source_marks;
    for (size_t i = 0; i < count; ++i) {
        uint32_t *const mark = &marks[playback->makes[i].source];

        *mark = *mark == 0 ? ++buckets : *mark;
        sizes[*mark] += 1; // the next bucket's begin, once summed
    }
    for (uint32_t bucket = 1; bucket <= buckets; ++bucket) {
        sizes[bucket] += sizes[bucket - 1];
    }
    for (size_t i = 0; i < count; ++i) {
        playback->make_order[sizes[marks[playback->makes[i].source] - 1]++] = (uint32_t)i;
    }
    for (size_t i = 0; i < count; ++i) {
        marks[playback->makes[i].source] = 0;
    }
    return true;
}

static espl_status list_makes(espl__playback *playback)
{
    size_t count = 0;

    for (size_t i = 0; i < playback->group_count; ++i) {
        count += playback->groups[i].clones;
    }
    playback->makes = espl__arena_take(&playback->arena, count, sizeof *playback->makes);
    if (playback->makes == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }

    playback->make_count = 0;
    for (size_t i = 0; i < playback->entry_count; ++i) {
        const espl__entry *const entry = &playback->entries[i];
        const espl__node *const nodes = playback->groups[entry->group].sketch.nodes;

        for (uint32_t k = 0; k < entry->clone_count; ++k) {
            const uint32_t node = entry->clone_begin + k;

            if (!is_dead(&nodes[node])) {
                playback->makes[playback->make_count++] =
                    (espl__make){entry->group, node, nodes[node].source, ESPL__NONE};
            }
        }
    }
    ESPL_CHECK(playback->make_count == count);
    return sort_makes(playback) ? find_clone_archetypes(playback) : ESPL_ERR_NO_MEMORY;
}

// --- Rows that move or leave ---

static espl__row_change row_change(const espl__store *store, uint32_t entity, uint32_t archetype)
{
    return (espl__row_change){entity, archetype, store->records[entity].chunk,
                              store->records[entity].row};
}

// The archetype of a node's row to be: the one it has, with the role and the placement that the
// node has.
static espl_status find_archetype(espl__store *store, const espl__node *node, uint32_t *out)
{
    const uint32_t now = espl__entity_archetype(store, node->entity);
    const espl_component role = role_of(node), placement = ESPL_PLACEMENT;
    espl_status status = ESPL_OK;

    *out = now;
    if (!espl__archetype_has(store, now, role)) {
        status = espl__archetype_role(store, now, role, out);
    }
    if (status == ESPL_OK && espl__archetype_has(store, now, placement) != is_placed(node)) {
        status = espl__archetype_change(store, *out, &placement, is_placed(node) ? 1 : 0,
                                        &placement, 1, out);
    }
    return status;
}

static espl_status list_row(espl__playback *playback, const espl__node *node)
{
    espl__store *const store = playback->store;
    uint32_t archetype = 0;
    const espl_status status = find_archetype(store, node, &archetype);

    if (status == ESPL_OK && archetype != espl__entity_archetype(store, node->entity)) {
        playback->moves[playback->move_count++] = row_change(store, node->entity, archetype);
    }
    return status;
}

// Nodes that moved, were replaced or died, then the roots that did not move: the only ones whose
// rows change.
static espl_status list_group_rows(espl__playback *playback, const espl__group *group)
{
    const espl__sketch *const sketch = &group->sketch;
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < sketch->noted_count && status == ESPL_OK; ++i) {
        const espl__node *const node = &sketch->nodes[sketch->noted[i]];

        if (is_clone(node)) {
            continue;
        }
        if (is_dead(node)) {
            playback->removals[playback->removal_count++] =
                row_change(playback->store, node->entity, ESPL__NONE);
        } else {
            status = list_row(playback, node);
        }
    }
    for (size_t i = 0; i < sketch->laid_count && status == ESPL_OK; ++i) {
        const espl__node *const root = &sketch->nodes[sketch->order[sketch->laid[i].begin]];

        if (!is_clone(root) && (root->flags & ESPL__NODE_NOTED) == 0) {
            status = list_row(playback, root);
        }
    }
    return status;
}

// One chunk's changes in the order of archetypes' first appearance, rows ascending.
static void sort_bucket(espl__row_change *out, espl__row_change *in, size_t count)
{
    uint16_t by_row[ESPL__CHUNK_ROWS];
    size_t at = 0;

    memset(by_row, 0xff, sizeof by_row);
    for (size_t i = 0; i < count; ++i) {
        by_row[in[i].row] = (uint16_t)i;
    }
    for (size_t i = 0; i < count; ++i) {
        const uint32_t archetype = in[i].archetype;

        // Taken changes are marked by a row of none.
        for (size_t row = 0; in[i].row != ESPL__NONE && row < ESPL__CHUNK_ROWS; ++row) {
            const uint16_t item = by_row[row];

            if (item != UINT16_MAX && in[item].row != ESPL__NONE &&
                in[item].archetype == archetype) {
                out[at++] = in[item];
                in[item].row = ESPL__NONE;
            }
        }
    }
}

// Sort by chunk, numbered by first appearance, then as sort_bucket() does. Linear: a chunk has few
// rows and its rows go to few archetypes.
static bool sort_rows(espl__playback *playback, espl__row_change **changes, size_t count)
{
    espl__row_change *const by_chunk = espl__arena_take(&playback->arena, count, sizeof *by_chunk);
    uint32_t *const ends = espl__arena_take_zeroed(&playback->arena, count + 1, sizeof *ends);
    uint32_t buckets = 0;

    if (by_chunk == NULL || ends == NULL ||
        !espl__marks_reserve(playback->heap, &playback->chunk_marks,
                             espl__array_length(playback->store->chunks))) {
        return false;
    }
    uint32_t *const marks = playback->chunk_marks;
    for (size_t i = 0; i < count; ++i) {
        uint32_t *const mark = &marks[(*changes)[i].chunk];

        *mark = *mark == 0 ? ++buckets : *mark;
        ends[*mark] += 1;
    }
    for (uint32_t bucket = 1; bucket <= buckets; ++bucket) {
        ends[bucket] += ends[bucket - 1];
    }
    for (size_t i = 0; i < count; ++i) {
        by_chunk[ends[marks[(*changes)[i].chunk] - 1]++] = (*changes)[i];
    }
    for (size_t i = 0; i < count; ++i) {
        marks[by_chunk[i].chunk] = 0;
    }

    // Each bucket's begin moved to its end while it was filled.
    size_t begin = 0;
    for (uint32_t bucket = 0; bucket < buckets; ++bucket) {
        sort_bucket(*changes + begin, by_chunk + begin, ends[bucket] - begin);
        begin = ends[bucket];
    }
    return true;
}

static espl_status list_rows(espl__playback *playback)
{
    size_t moves = 0, removals = 0;

    for (size_t i = 0; i < playback->group_count; ++i) {
        moves += playback->groups[i].role_changes;
        removals += playback->groups[i].dead;
    }
    playback->moves = espl__arena_take(&playback->arena, moves, sizeof *playback->moves);
    playback->removals = espl__arena_take(&playback->arena, removals, sizeof *playback->removals);
    if (playback->moves == NULL || playback->removals == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }

    playback->move_count = playback->removal_count = 0;
    for (size_t i = 0; i < playback->group_count; ++i) {
        if (!playback->groups[i].sketch.is_restructured) {
            continue;
        }
        const espl_status status = list_group_rows(playback, &playback->groups[i]);

        if (status != ESPL_OK) {
            return status;
        }
    }
    return sort_rows(playback, &playback->moves, playback->move_count) &&
                   sort_rows(playback, &playback->removals, playback->removal_count)
               ? ESPL_OK
               : ESPL_ERR_NO_MEMORY;
}

// Room for all rows to be. Tells whether any of them may refer to entities.
static espl_status reserve_rows(espl__playback *playback, bool *refers)
{
    espl__store *const store = playback->store;
    const size_t archetypes = espl__array_length(playback->store->archetypes);
    size_t *const rows = espl__arena_take_zeroed(&playback->arena, archetypes, sizeof *rows);
    espl_status status = rows == NULL ? ESPL_ERR_NO_MEMORY : ESPL_OK;

    for (size_t i = 0; status == ESPL_OK && i < playback->make_count; ++i) {
        rows[playback->makes[i].archetype] += 1;
    }
    for (size_t i = 0; status == ESPL_OK && i < playback->move_count; ++i) {
        rows[playback->moves[i].archetype] += 1;
    }
    for (uint32_t archetype = 0; status == ESPL_OK && archetype < archetypes; ++archetype) {
        if (rows[archetype] != 0) {
            status = espl__rows_reserve(store, archetype, rows[archetype]);
            *refers =
                *refers || (store->referring_count != 0 && espl__references_in(store, archetype));
        }
    }
    return status;
}

// --- Plots ---

// What side arrays a hierarchy needs: a bit for each of the two.
enum { NEEDS_SIDE = 1, NEEDS_KEPT = 2 };

static unsigned find_needs(const espl__sketch *sketch, const espl__laid *laid)
{
    unsigned needs = 0;

    for (uint32_t i = 0; i < laid->size; ++i) {
        const uint32_t node = sketch->order[laid->begin + i];

        if ((sketch->nodes[node].flags & ESPL__NODE_KEEPS) != 0) {
            return NEEDS_SIDE | NEEDS_KEPT;
        }
        const espl__extra extra = espl__sketch_extra(sketch, node);

        needs |= !espl__extra_is_default(&extra) ? NEEDS_SIDE : 0u;
    }
    return needs;
}

// Room that a hierarchy gets: what it needs at first, some more once it has grown, and less again
// when it fills a small part of it.
static void choose_room(espl__plot *plot, const espl__run *old, uint32_t size, uint32_t entrants)
{
    const bool fits = old != NULL && entrants <= old->capacity - old->size;
    const bool is_loose = old != NULL && espl__run_is_loose(old, size);

    plot->is_moved = !fits || is_loose;
    plot->base = plot->is_moved ? ESPL__NO_SLOT : old->base;
    plot->capacity = !plot->is_moved ? old->capacity
                     : old != NULL   ? espl__run_room(old, size)
                                     : size;
}

static void lay_plot(espl__playback *playback, const espl__group *group, espl__plot *plot)
{
    const espl__forest *const forest = playback->forest;
    const espl__sketch *const sketch = &group->sketch;
    const espl__laid *const laid = &sketch->laid[plot->laid];
    const espl__node *const root = &sketch->nodes[sketch->order[laid->begin]];

    if (laid->resident_begin == laid->resident_end) {
        plot->old_run = plot->run = ESPL__NO_RUN;
        choose_room(plot, NULL, laid->size, 0);
        return;
    }
    const uint32_t run = forest->run[root->slot];
    const espl__run *const old = &forest->runs[run];

    playback->touched[playback->run_marks[run] - 1].is_kept = true;
    plot->old_run = plot->run = run;
    plot->old_base = old->base;
    plot->old_capacity = old->capacity;
    plot->old_side = old->side;
    choose_room(plot, old, laid->size, laid->entrants);
}

static espl_status lay_group_plots(espl__playback *playback, uint32_t number, size_t *slots,
                                   size_t *runs)
{
    espl__group *const group = &playback->groups[number];

    group->plot_begin = (uint32_t)playback->plot_count;
    for (uint32_t laid = 0; group->has_plots && laid < group->sketch.laid_count; ++laid) {
        espl__plot *const plot = &playback->plots[playback->plot_count++];

        *plot = (espl__plot){.group = number, .laid = laid};
        lay_plot(playback, group, plot);
        *slots += plot->is_moved ? plot->capacity : 0;
        *runs += plot->old_run == ESPL__NO_RUN ? 1 : 0;
        const unsigned needs =
            group->has_side ? find_needs(&group->sketch, &group->sketch.laid[laid]) : 0;

        if (needs != 0) {
            plot->side = espl__side_make(playback->heap, plot->capacity, (needs & NEEDS_KEPT) != 0);
            if (plot->side == NULL) {
                return ESPL_ERR_NO_MEMORY;
            }
        }
    }
    group->plot_end = (uint32_t)playback->plot_count;
    return ESPL_OK;
}

static espl_status lay_plots(espl__playback *playback)
{
    size_t count = 0, slots = 0, runs = 0;
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < playback->group_count; ++i) {
        count += playback->groups[i].has_plots ? playback->groups[i].sketch.laid_count : 0;
    }
    playback->plots = espl__arena_take(&playback->arena, count, sizeof *playback->plots);
    playback->plot_count = 0;
    if (playback->plots == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; status == ESPL_OK && i < playback->group_count; ++i) {
        status = lay_group_plots(playback, i, &slots, &runs);
    }
    return status != ESPL_OK ? status : espl__forest_reserve(playback->forest, slots, runs);
}

espl_status espl__stage_reserve(espl__playback *playback)
{
    bool refers = false;
    espl_status status = list_makes(playback);

    status = status != ESPL_OK ? status : list_rows(playback);
    status = status != ESPL_OK ? status : reserve_rows(playback, &refers);
    if (status == ESPL_OK && refers && playback->make_count != 0) {
        status = espl__references_plan(playback);
    }
    status =
        status != ESPL_OK
            ? status
            : espl__entities_reserve(playback->store, playback->make_count + playback->lost_count);
    return status != ESPL_OK ? status : lay_plots(playback);
}
