// SPDX-License-Identifier: MIT
// Iteration over the chunks that answer a query.
#include "lib/world/inside.h"

#include <string.h>

static bool are_known(const espl__store *store, const espl_component *components, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (espl__component_info_of(store, components[i]) == NULL) {
            return false;
        }
    }
    return true;
}

static espl_status check_def(const espl_world *world, const espl_query_def *def)
{
    if ((def->all_count != 0 && def->all == NULL) || (def->none_count != 0 && def->none == NULL)) {
        return ESPL_ERR_ARGUMENT;
    }
    if (def->all_count > ESPL_SET_LIMIT || def->none_count > ESPL_SET_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    return are_known(&world->store, def->all, def->all_count) &&
                   are_known(&world->store, def->none, def->none_count)
               ? ESPL_OK
               : ESPL_ERR_NO_COMPONENT;
}

espl_status espl_query_begin(espl_world *world, const espl_query_def *def, espl_query *query)
{
    const espl_query_def everything = {0};
    const espl_query_def *const d = def != NULL ? def : &everything;

    if (!ESPL_DEMAND(espl__hooks_of(world), world != NULL && query != NULL)) {
        return ESPL_ERR_ARGUMENT;
    }
    const espl_status status = check_def(world, d);
    if (status != ESPL_OK) {
        return espl__refuse(world, "query", espl_entity_null(), status);
    }

    memset(query, 0, sizeof *query);
    query->state.world = world;
    query->state.all_count = d->all_count;
    query->state.none_count = d->none_count;
    if (d->all_count != 0) {
        memcpy(query->state.all, d->all, d->all_count * sizeof *d->all);
    }
    if (d->none_count != 0) {
        memcpy(query->state.none, d->none, d->none_count * sizeof *d->none);
    }
    world->iterations += 1;
    return ESPL_OK;
}

static bool answers(const espl_query *query, uint32_t archetype)
{
    const espl__store *const store = &query->state.world->store;
    bool takes_prefabs = false;

    for (size_t i = 0; i < query->state.all_count; ++i) {
        if (!espl__archetype_has(store, archetype, query->state.all[i])) {
            return false;
        }
        takes_prefabs = takes_prefabs || query->state.all[i] == ESPL_PREFAB;
    }
    for (size_t i = 0; i < query->state.none_count; ++i) {
        if (espl__archetype_has(store, archetype, query->state.none[i])) {
            return false;
        }
    }
    return takes_prefabs || !espl__archetype_has(store, archetype, ESPL_PREFAB);
}

static void show_chunk(espl_query *query, const espl__archetype *archetype, uint32_t number)
{
    espl_world *const world = query->state.world;
    const espl__chunk *const chunk = &world->store.chunks[number];

    query->count = chunk->count;
    query->entities = espl__chunk_entities(chunk);
    query->worlds = world->forest.world;
    query->slots =
        archetype->placement_offset == ESPL__NONE
            ? NULL
            : (const uint32_t *)(const void *)(chunk->bytes + archetype->placement_offset);
}

bool espl_query_next(espl_query *query)
{
    if (query == NULL || query->state.world == NULL) {
        return false;
    }
    const espl__store *const store = &query->state.world->store;
    const size_t archetypes = espl__array_length(store->archetypes);

    while (query->state.archetype < archetypes) {
        const espl__archetype *const archetype = &store->archetypes[query->state.archetype];
        const uint32_t at = query->state.chunk++;

        if (at == 0 && !answers(query, query->state.archetype)) {
            query->state.archetype += 1;
            query->state.chunk = 0;
            continue;
        }
        // Chunks past the count are only reserved.
        if ((size_t)at * archetype->capacity >= archetype->count) {
            query->state.archetype += 1;
            query->state.chunk = 0;
            continue;
        }
        show_chunk(query, archetype, archetype->chunks[at]);
        return true;
    }
    espl_query_end(query);
    return false;
}

void espl_query_end(espl_query *query)
{
    if (query == NULL || query->state.world == NULL) {
        return;
    }
    ESPL_CHECK(query->state.world->iterations > 0);
    query->state.world->iterations -= 1;
    memset(query, 0, sizeof *query);
}

void *espl_query_column(const espl_query *query, espl_component component, size_t size)
{
    if (query == NULL || query->count == 0 || component <= ESPL_PREFAB) {
        return NULL;
    }
    const espl__store *const store = &query->state.world->store;
    const espl__component_info *const info = espl__component_info_of(store, component);

    if (info == NULL || info->size != size) {
        return NULL;
    }
    const uint32_t chunk = store->archetypes[query->state.archetype].chunks[query->state.chunk - 1];

    return espl__chunk_column(store, chunk, component);
}
