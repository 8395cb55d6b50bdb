// SPDX-License-Identifier: MIT
// The end of stage 4: what the plans need is written down in the order in which it will be done,
// and all memory for it is taken. After this nothing can fail.
#include "lib/commands/playback.h"

// Room for all rows to be. Tells whether any of them may refer to entities.
static espl_status reserve_rows(espl__playback *playback, bool *refers)
{
    espl__store *const store = playback->store;
    const size_t archetypes = espl__array_length(playback->store->archetypes);
    size_t *const rows = espl__arena_take_zeroed(&playback->arena, archetypes, sizeof *rows);
    espl_status status = rows == NULL ? ESPL_ERR_NO_MEMORY : ESPL_OK;

    for (size_t i = 0; status == ESPL_OK && i < playback->copies_count; ++i) {
        rows[playback->copies[i].archetype] += playback->copies[i].count;
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

espl_status espl__stage_reserve(espl__playback *playback)
{
    bool refers = false;
    espl_status status = espl__list_makes(playback);

    status = status != ESPL_OK ? status : espl__list_rows(playback);
    status = status != ESPL_OK ? status : reserve_rows(playback, &refers);
    if (status == ESPL_OK && refers && playback->make_count != 0) {
        status = espl__references_plan(playback);
    }
    status =
        status != ESPL_OK
            ? status
            : espl__entities_reserve(playback->store, playback->make_count + playback->lost_count);
    return status != ESPL_OK ? status : espl__lay_plots(playback);
}
