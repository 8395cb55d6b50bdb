// SPDX-License-Identifier: MIT
// Stage 5: ids for the clones, their rows in the final archetypes, rows that change archetype, rows
// that leave; each in batches. Memory for all of it was taken before.
#include "lib/commands/playback.h"

static espl__node *node_of(const espl__playback *playback, const espl__make *make)
{
    return &playback->groups[make->group].sketch.nodes[make->node];
}

static void name_clones(espl__playback *playback)
{
    for (size_t i = 0; i < playback->make_count; ++i) {
        node_of(playback, &playback->makes[i])->entity = espl__entity_take(playback->store).index;
    }
}

// Tell what each pending handle became.
static void resolve_pendings(const espl__playback *playback)
{
    for (size_t i = 0; i < playback->entry_count; ++i) {
        const espl__entry *const entry = &playback->entries[i];
        const espl__lane_view *const lane = &playback->lanes[entry->lane];
        const espl__node *const nodes = playback->groups[entry->group].sketch.nodes;

        for (uint32_t k = 0; k < entry->command->count; ++k) {
            const uint32_t pending = entry->command->pending + k;
            const uint32_t node = playback->pending_nodes[lane->pending_base + pending];
            const bool is_made =
                node != ESPL__NO_NODE && (nodes[node].flags & ESPL__NODE_DEAD) == 0;

            lane->created[pending] =
                is_made ? espl__entity_at(playback->store, nodes[node].entity) : espl_entity_null();
        }
    }
}

// Rows of one source and one archetype are made by one call.
static void make_rows(espl__playback *playback)
{
    const espl__make *const makes = playback->makes;
    const uint32_t *const order = playback->make_order;
    size_t begin = 0;

    while (begin < playback->make_count) {
        const espl__make *const first = &makes[order[begin]];
        size_t end = begin;

        while (end < playback->make_count && makes[order[end]].source == first->source &&
               makes[order[end]].archetype == first->archetype) {
            playback->make_indices[end] = node_of(playback, &makes[order[end]])->entity;
            end += 1;
        }
        espl__rows_add_copies(playback->store, first->archetype, first->source,
                              playback->make_indices + begin, end - begin);
        begin = end;
    }
    for (size_t i = 0; i < playback->make_count; ++i) {
        const espl__node *const node = node_of(playback, &makes[i]);

        espl__values_apply(playback, &playback->groups[makes[i].group], node->values, node->entity);
    }
}

// Hand runs of changes with one chunk and one archetype to the store.
static void change_rows(espl__playback *playback, const espl__row_change *changes, size_t count)
{
    uint32_t rows[ESPL__CHUNK_ROWS];
    size_t begin = 0;

    while (begin < count) {
        const espl__row_change *const first = &changes[begin];
        size_t taken = 0;

        while (begin + taken < count && changes[begin + taken].chunk == first->chunk &&
               changes[begin + taken].archetype == first->archetype) {
            rows[taken] = changes[begin + taken].row;
            taken += 1;
        }
        if (first->archetype == ESPL__NONE) {
            espl__rows_remove(playback->store, first->chunk, rows, taken);
        } else {
            espl__rows_move(playback->store, first->chunk, first->archetype, rows, taken);
        }
        begin += taken;
    }
}

void espl__stage_change(espl__playback *playback)
{
    name_clones(playback);
    espl__references_name(playback);
    resolve_pendings(playback);
    make_rows(playback);
    espl__references_write(playback);
    change_rows(playback, playback->moves, playback->move_count);
    change_rows(playback, playback->removals, playback->removal_count);
    espl__rows_settle(playback->store);
    for (size_t i = 0; i < playback->removal_count; ++i) {
        espl__entity_release(playback->store, playback->removals[i].entity);
    }
}
