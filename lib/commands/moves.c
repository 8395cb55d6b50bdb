// SPDX-License-Identifier: MIT
// Rows that move to another archetype or leave, sorted by chunk.
#include "lib/commands/assemble.h"

#include "lib/base/ahead.h"

#include <string.h>

// Fewer groups are looked through sooner by one worker than others wake up.
enum { GROUP_GRAIN = 4096 };

static espl__row_change row_change(const espl__store *store, uint32_t entity, uint32_t archetype)
{
    return (espl__row_change){entity, archetype, store->records[entity].chunk,
                              store->records[entity].row};
}

// The archetype of a row to be: the one it has, with the role and the placement that the node has.
static espl_status find_plain(espl__store *store, const espl__node *node, uint32_t now,
                              uint32_t *out)
{
    const espl_component role = espl__node_role(node), placement = ESPL_PLACEMENT;
    espl_status status = ESPL_OK;

    *out = now;
    if (!espl__archetype_has(store, now, role)) {
        status = espl__archetype_role(store, now, role, out);
    }
    if (status == ESPL_OK &&
        espl__archetype_has(store, now, placement) != espl__node_is_placed(node)) {
        status = espl__archetype_change(store, *out, &placement, espl__node_is_placed(node) ? 1 : 0,
                                        &placement, 1, out);
    }
    return status;
}

// Where the set of a node changed: rows of one archetype mostly go the same way.
static espl_status find_given(espl__playback *playback, const espl__group *group,
                              const espl__node *node, uint32_t *guess, uint32_t *out)
{
    const espl_status status = espl__components_archetype(playback, group, node, *guess, out);

    *guess = *out;
    return status;
}

static void list_gift(espl__playback *playback, uint32_t number, const espl__node *node)
{
    if (espl__values_are_given(&playback->groups[number].work->sets, node->values)) {
        playback->gifts[playback->gift_count++] = (espl__gift){node->entity, number, node->values};
    }
}

static espl_status list_row(espl__playback *playback, uint32_t number, const espl__node *node,
                            uint32_t *guesses)
{
    espl__store *const store = playback->store;
    const uint32_t now = espl__entity_archetype(store, node->entity);
    const bool is_given = node->values != ESPL__NO_NODE;
    uint32_t archetype = 0;
    const espl_status status =
        is_given ? find_given(playback, &playback->groups[number], node, &guesses[now], &archetype)
                 : find_plain(store, node, now, &archetype);

    if (status == ESPL_OK && archetype != now) {
        playback->moves[playback->move_count++] = row_change(store, node->entity, archetype);
    }
    if (is_given) {
        list_gift(playback, number, node);
    }
    return status;
}

// Tell whether a root that did not move is sure to have the role that its row says, which is far
// away. Where there are ghosts, a role may have been put off.
static bool keeps_role(const espl__forest *forest, const espl__node *root)
{
    const espl__run *const run = espl__run_of(forest, root->slot);
    const bool had_children = run->size > 1;

    return run->ghosts == 0 && had_children == (root->first != ESPL__NO_NODE);
}

// The root of a hierarchy to be whose row may change though it was not noted; NULL for any other.
static const espl__node *other_root(const espl__playback *playback, const espl__sketch *sketch,
                                    uint32_t number)
{
    const espl__laid *const laid = espl__sketch_laid(sketch, number);

    // A root that nobody asked for has the children it had.
    if (!laid->is_restructured || !espl__sketch_is_known(sketch, laid->root)) {
        return NULL;
    }
    const espl__node *const root = espl__sketch_at(sketch, laid->root);
    const bool is_other = !espl__node_is_clone(root) && (root->flags & ESPL__NODE_NOTED) == 0 &&
                          !keeps_role(playback->forest, root);

    return is_other ? root : NULL;
}

// List those of a group that died, unless it is short; tell whether some other row of it may change.
static bool survey_group(const espl__playback *playback, const espl__group *group)
{
    if (group->is_short) {
        return espl__group_assembles(group) && group->run_begin != group->run_end;
    }
    const espl__sketch *const sketch = &group->work->sketch;
    uint32_t *removals = playback->removals + group->removal_begin;
    bool may_move = false;

    for (uint32_t i = 0; i < sketch->noted.count; ++i) {
        const espl__node *const node = espl__sketch_at(sketch, espl__sketch_noted(sketch, i));

        if (!espl__node_is_clone(node) && espl__node_is_dead(node)) {
            *removals++ = node->entity;
        } else {
            may_move = may_move || !espl__node_is_clone(node);
        }
    }
    for (uint32_t i = 0; i < sketch->laid.count && !may_move; ++i) {
        may_move = other_root(playback, sketch, i) != NULL;
    }
    return may_move;
}

// Nodes that moved, were replaced or reset, then the roots that did not move: the only ones whose
// rows go elsewhere.
static espl_status list_group_rows(espl__playback *playback, uint32_t number, uint32_t *guesses)
{
    const espl__sketch *const sketch = &playback->groups[number].work->sketch;
    espl_status status = ESPL_OK;

    for (uint32_t i = 0; i < sketch->noted.count && status == ESPL_OK; ++i) {
        const espl__node *const node = espl__sketch_at(sketch, espl__sketch_noted(sketch, i));

        if (!espl__node_is_clone(node) && !espl__node_is_dead(node)) {
            status = list_row(playback, number, node, guesses);
        }
    }
    for (uint32_t i = 0; i < sketch->laid.count && status == ESPL_OK; ++i) {
        const espl__node *const root = other_root(playback, sketch, i);

        if (root != NULL) {
            status = list_row(playback, number, root, guesses);
        }
    }
    return status;
}

static espl_status list_role(espl__playback *playback, uint32_t entity, espl_component role)
{
    espl__store *const store = playback->store;
    uint32_t archetype = 0;
    const espl_status status =
        espl__archetype_role(store, espl__entity_archetype(store, entity), role, &archetype);

    if (status == ESPL_OK) {
        playback->moves[playback->move_count++] = row_change(store, entity, archetype);
    }
    return status;
}

// Of solos that come together each gets another role, the root as the last.
static espl_status list_assembled(espl__playback *playback, const espl__group *group)
{
    espl_status status = ESPL_OK;

    for (uint32_t i = 0; i < espl__group_size(group) && status == ESPL_OK; ++i) {
        const uint32_t member =
            espl__assembly_member(playback, espl__group_entry(playback, group, i));

        if (member != ESPL__NO_ENTITY) {
            status = list_role(playback, member, ESPL_MEMBER);
        }
    }
    return status == ESPL_OK && espl__assembly_goes_on(group)
               ? list_role(playback, espl__assembly_root(playback, group), ESPL_ROOT)
               : status;
}

// Groups stand far apart, and so do their nodes: what is looked at soon is asked for ahead.
static void look_ahead(const espl__playback *playback, size_t i)
{
    enum { FAR = 12, MIDDLE = 8, NEAR = 4 };
    const espl__group *const groups = playback->groups;

    if (i + FAR < playback->group_count) {
        espl__ask(&groups[i + FAR].is_short);
    }
    if (i + MIDDLE < playback->group_count) {
        espl__ask(groups[i + MIDDLE].work->sketch.noted.items);
    }
    if (i + NEAR < playback->group_count && groups[i + NEAR].work->sketch.noted.count != 0) {
        const espl__sketch *const sketch = &groups[i + NEAR].work->sketch;

        espl__ask(espl__sketch_at(sketch, espl__sketch_noted(sketch, 0)));
    }
}

// Tell whether rows of some group may change: of all others none does.
static bool has_changes(const espl__playback *playback)
{
    return playback->long_count != 0 || playback->assembling != NULL;
}

static void survey_groups(void *context, size_t begin, size_t end)
{
    const espl__playback *const playback = context;
    const size_t surveyed = has_changes(playback) ? end : begin;
    const bool has_sketches = playback->long_count != 0;

    espl__short_removals(playback, begin, end);
    for (size_t i = begin; i < surveyed; ++i) {
        if (has_sketches) {
            look_ahead(playback, i);
        }
        playback->group_moves[i] = survey_group(playback, &playback->groups[i]);
    }
}

// One chunk's changes in the order of archetypes' first appearance, rows ascending.
static void sort_bucket(espl__row_change *out, const espl__row_change *in, size_t count)
{
    uint16_t by_row[ESPL__CHUNK_ROWS];
    uint64_t left[2] = {0, 0}; // rows not taken yet; the others' places in by_row mean nothing
    size_t at = 0;

    for (size_t i = 0; i < count; ++i) {
        by_row[in[i].row] = (uint16_t)i;
        left[in[i].row >> 6] |= UINT64_C(1) << (in[i].row & 63);
    }
    for (size_t i = 0; i < count; ++i) {
        const bool is_left = (left[in[i].row >> 6] >> (in[i].row & 63) & 1) != 0;

        for (uint32_t word = 0; is_left && word < 2; ++word) {
            for (uint64_t rows = left[word]; rows != 0; rows &= rows - 1) {
                const uint32_t bit = (uint32_t)__builtin_ctzll(rows);
                const espl__row_change *const change = &in[by_row[word * 64 + bit]];

                if (change->archetype == in[i].archetype) {
                    out[at++] = *change;
                    left[word] ^= UINT64_C(1) << bit;
                }
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

// Room for as many as there may be.
static bool make_lists(espl__playback *playback)
{
    const size_t surveyed = has_changes(playback) ? playback->group_count : 0;
    size_t moves = 0, removals = 0, gifts = 0;

    for (size_t i = 0; i < playback->group_count; ++i) {
        playback->groups[i].removal_begin = (uint32_t)removals;
        removals += playback->groups[i].dead;
    }
    for (size_t i = 0; i < surveyed; ++i) {
        const espl__group *const group = &playback->groups[i];

        moves += espl__group_assembles(group) ? group->run_end - group->run_begin
                                              : group->work->role_changes;
        gifts += group->work->sets.set_count != 0 ? group->work->sketch.noted.count : 0;
    }
    playback->moves = espl__arena_take(&playback->arena, moves, sizeof *playback->moves);
    playback->removals = espl__arena_take(&playback->arena, removals, sizeof *playback->removals);
    playback->group_moves = espl__arena_take(&playback->arena, surveyed, sizeof(bool));
    playback->gifts = espl__arena_take(&playback->arena, gifts, sizeof *playback->gifts);
    playback->move_count = playback->gift_count = 0;
    playback->removal_count = removals;
    return playback->moves != NULL && playback->removals != NULL && playback->gifts != NULL &&
           playback->group_moves != NULL;
}

espl_status espl__list_rows(espl__playback *playback)
{
    const size_t known = espl__array_length(playback->store->archetypes);
    uint32_t *const guesses = espl__arena_take(&playback->arena, known, sizeof *guesses);
    espl_status status = guesses == NULL || !make_lists(playback) ? ESPL_ERR_NO_MEMORY : ESPL_OK;

    if (status == ESPL_OK) {
        memset(guesses, 0xff, known * sizeof *guesses);
        status = espl__run_ranges(playback->executor, playback->hooks, survey_groups, playback,
                                  playback->group_count, GROUP_GRAIN);
    }
    const size_t surveyed = has_changes(playback) ? playback->group_count : 0;

    for (uint32_t i = 0; i < surveyed && status == ESPL_OK; ++i) {
        if (playback->group_moves[i]) {
            status = espl__group_assembles(&playback->groups[i])
                         ? list_assembled(playback, &playback->groups[i])
                         : list_group_rows(playback, i, guesses);
        }
    }
    if (status != ESPL_OK) {
        return status;
    }
    return sort_rows(playback, &playback->moves, playback->move_count) ? ESPL_OK
                                                                       : ESPL_ERR_NO_MEMORY;
}
