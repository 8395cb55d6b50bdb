// SPDX-License-Identifier: MIT
// Statistics and the proof of a whole world.
#include "lib/world/inside.h"

#include <string.h>

static size_t count_role(const espl__store *store, espl_component role)
{
    const size_t archetypes = espl__array_length(store->archetypes);
    size_t count = 0;

    for (uint32_t a = 0; a < archetypes; ++a) {
        count += espl__archetype_has(store, a, role) ? store->archetypes[a].count : 0;
    }
    return count;
}

static size_t count_chunks(const espl__store *store)
{
    const size_t length = espl__array_length(store->chunks);
    size_t count = 0;

    for (size_t i = 0; i < length; ++i) {
        count += store->chunks[i].bytes != NULL ? 1 : 0;
    }
    return count;
}

void espl_stats(const espl_world *world, espl_world_stats *out)
{
    if (!ESPL_DEMAND(espl__hooks_of(world), world != NULL && out != NULL)) {
        return;
    }
    const espl__heap *const heap = &world->heap;

    *out = (espl_world_stats){.entities = world->store.alive_count,
                              .solos = count_role(&world->store, ESPL_SOLO),
                              .hierarchies = count_role(&world->store, ESPL_ROOT),
                              .members = count_role(&world->store, ESPL_MEMBER),
                              .ghosts = world->forest.ghosts,
                              .archetypes = espl__array_length(world->store.archetypes),
                              .chunks = count_chunks(&world->store),
                              .bytes = espl__heap_bytes(heap),
                              .bytes_store = espl__heap_bytes_for(heap, ESPL__FOR_STORE),
                              .bytes_tree = espl__heap_bytes_for(heap, ESPL__FOR_TREE),
                              .bytes_commands = espl__heap_bytes_for(heap, ESPL__FOR_COMMANDS) +
                                                espl__heap_bytes_for(heap, ESPL__FOR_RECORDING),
                              .nodes_visited = world->forest.nodes_visited,
                              .writes = world->forest.writes,
                              .writes_skipped = world->forest.writes_skipped,
                              .nodes_skipped = world->forest.nodes_skipped};
}

static espl_component expected_role(const espl__forest *forest, uint32_t slot)
{
    if (forest->rank[slot] != 0) {
        return ESPL_MEMBER;
    }
    return espl__run_of(forest, slot)->size > 1 ? ESPL_ROOT : ESPL_SOLO;
}

// What store and forest say of each other, for one living entity.
static const char *entity_rule(const espl_world *world, uint32_t index)
{
    const espl__record *const record = &world->store.records[index];
    const espl__forest *const forest = &world->forest;
    const uint32_t slot = record->slot;

    if (slot >= forest->end || forest->run[slot] >= forest->run_end ||
        forest->entity[slot] != index) {
        return "an entity and its slot name each other";
    }
    const uint32_t archetype = world->store.chunks[record->chunk].archetype;
    const bool is_pass = espl__slot_is(forest, slot, ESPL__SLOT_PASS);

    if (espl__archetype_has(&world->store, archetype, ESPL_PLACEMENT) == is_pass) {
        return "entities with a placement have a transform, others pass through";
    }
    // A run that wants a purge has roles to be put right with it.
    const bool is_settled = (espl__run_of(forest, slot)->flags & ESPL__RUN_UNSETTLED) == 0;

    for (espl_component role = ESPL_SOLO; is_settled && role <= ESPL_MEMBER; ++role) {
        if (espl__archetype_has(&world->store, archetype, role) !=
            (expected_role(forest, slot) == role)) {
            return "role components agree with roles";
        }
    }
    return NULL;
}

// A record lives while its row is a row.
static bool is_living(const espl_world *world, uint32_t index)
{
    return world->store.records[index].row < ESPL__CHUNK_ROWS;
}

static const char *cross_rule(const espl_world *world, espl_validation *report)
{
    const size_t length = espl__array_length(world->store.records);
    const char *rule = NULL;

    for (uint32_t index = 0; rule == NULL && index < length; ++index) {
        if (is_living(world, index)) {
            rule = entity_rule(world, index);
            report->entity = espl__entity_at(&world->store, index);
        }
    }
    return rule;
}

bool espl_validate(const espl_world *world, espl_validation *report)
{
    espl_validation found = {0};
    uint32_t slot = ESPL__NO_SLOT;

    if (!ESPL_DEMAND(espl__hooks_of(world), world != NULL)) {
        return false;
    }
    found.rule = espl__store_broken_rule(&world->store, &found.entity, &found.detail);
    if (found.rule == NULL) {
        found.rule = espl__forest_broken_rule(&world->forest, &slot, &found.detail);
        if (found.rule != NULL && slot < world->forest.end &&
            world->forest.entity[slot] < espl__array_length(world->store.records)) {
            found.entity = espl__entity_of_slot(world, slot);
        }
    }
    if (found.rule == NULL) {
        found.rule = cross_rule(world, &found);
    }
    if (report != NULL) {
        *report = found.rule != NULL ? found : (espl_validation){0};
    }
    return found.rule == NULL;
}
