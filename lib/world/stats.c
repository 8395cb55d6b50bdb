// SPDX-License-Identifier: MIT
// espl_stats(): statistics of a world.
//
// espl_stats() counts most of them from the world, so that other calls pay nothing; a few are
// counters that calls add to. It only reads, in O(archetypes + roots), and O(nodes) for unsettled
// trees.
#include "lib/base/bits.h"
#include "lib/commands/playback.h"
#include "lib/world/attachment.h"
#include "lib/world/entity_slots.h"
#include "lib/world/moment.h"
#include "lib/world/refusals.h"
#include "lib/world/watches.h"

// Entities that have a component.
static size_t count_with(const espl__store *store, espl_component component)
{
    const size_t archetypes = espl__array_length(store->archetypes);
    size_t count = 0;

    for (uint32_t a = 0; a < archetypes; ++a) {
        count += espl__archetype_has(store, a, component) ? store->archetypes[a].count : 0;
    }
    return count;
}

// Chunks, and how many of them are spare.
static void count_chunks(const espl__store *store, espl_world_stats *out)
{
    const size_t archetypes = espl__array_length(store->archetypes);

    for (size_t a = 0; a < archetypes; ++a) {
        const espl__archetype *const archetype = &store->archetypes[a];
        const size_t chunks = espl__array_length(archetype->chunks);
        const size_t filled = (archetype->count + archetype->capacity - 1) / archetype->capacity;

        ESPL_CHECK(filled <= chunks);
        out->chunks += chunks;
        out->spare_chunks += chunks - filled;
        out->row_capacity += chunks * archetype->capacity;
    }
}

// Class of hierarchies with 2^i to 2^(i + 1) - 1 entities. @param size  not 0.
static unsigned class_of_size(uint32_t size)
{
    ESPL_CHECK(size != 0);
    return espl__highest_bit(size);
}

// Count a hierarchy or solo. @param size  its entities.
static void count_tree(espl_world_stats *out, uint32_t size)
{
    if (size == 1) {
        out->solos += 1;
        return;
    }
    out->hierarchies += 1;
    out->members += size - 1;
    out->hierarchies_by_size[class_of_size(size)] += 1;
}

// Tree of a living entity.
static const espl__tree *tree_of_row(const espl_world *world, espl_entity entity)
{
    ESPL_CHECK_FULL(espl__entity_is_alive(&world->store, entity));
    return espl__tree_of(&world->forest, world->store.records[entity.index].slot);
}

// Count the settled hierarchies: each has its root in one row of an archetype of roots.
static void count_settled(const espl_world *world, const espl__archetype *archetype,
                          espl_world_stats *out)
{
    for (size_t row = 0; row < archetype->count; ++row) {
        const espl__chunk *const chunk =
            &world->store.chunks[archetype->chunks[row / archetype->capacity]];
        const espl__tree *const tree =
            tree_of_row(world, espl__chunk_entities(chunk)[row % archetype->capacity]);

        if ((tree->flags & ESPL__TREE_UNSETTLED) == 0) {
            ESPL_CHECK(tree->live != 0 && tree->live <= tree->used);
            count_tree(out, tree->live);
            out->holes += tree->used - tree->live;
        }
    }
}

// Count the hierarchies of an unsettled tree, which has several roots. Its rows may still have
// roles of an earlier time, so that solos which were counted by their role are subtracted.
static void count_unsettled(const espl_world *world, const espl__tree *tree, espl_world_stats *out)
{
    const espl__forest *const forest = &world->forest;
    const espl__store *const store = &world->store;

    out->holes += tree->used - tree->live;
    for (uint32_t slot = tree->base; slot < tree->base + tree->used; ++slot) {
        const uint32_t entity = forest->links[slot].entity;

        if (entity == ESPL__NO_ENTITY) {
            continue;
        }
        if (espl__archetype_has(store, espl__entity_archetype(store, entity), ESPL_SOLO)) {
            out->solos -= 1;
        }
        if (espl__is_root(forest, slot)) {
            count_tree(out, (uint32_t)espl__count_below(forest, slot) + 1);
        }
    }
}

// Count hierarchies by size. Solos are counted by their role, because most worlds have many.
static void count_hierarchies(const espl_world *world, espl_world_stats *out)
{
    const espl__forest *const forest = &world->forest;
    const size_t archetypes = espl__array_length(world->store.archetypes);

    out->solos = count_with(&world->store, ESPL_SOLO);
    for (uint32_t a = 0; a < archetypes; ++a) {
        if (espl__archetype_has(&world->store, a, ESPL_ROOT)) {
            count_settled(world, &world->store.archetypes[a], out);
        }
    }
    for (uint32_t tree = forest->unsettled; tree != ESPL__NO_TREE;
         tree = forest->trees[tree].next) {
        count_unsettled(world, &forest->trees[tree], out);
    }
}

// Memory by purpose.
static void count_bytes(const espl__heap *heap, espl_world_stats *out)
{
    out->bytes = espl__heap_bytes(heap);
    out->bytes_store = espl__heap_bytes_for(heap, ESPL__FOR_STORE);
    out->bytes_tree = espl__heap_bytes_for(heap, ESPL__FOR_TREE);
    out->bytes_commands = espl__heap_bytes_for(heap, ESPL__FOR_COMMANDS) +
                          espl__heap_bytes_for(heap, ESPL__FOR_RECORDING);
}

void espl_stats(const espl_world *world, espl_world_stats *out)
{
    if (world == NULL || !espl__is_given(world, "espl_stats", out, "out")) {
        return;
    }
    const espl__store *const store = &world->store;
    const espl__forest *const forest = &world->forest;
    const espl__counts *const counts = &forest->context.counts;
    const espl__playback *const playback = world->playback;

    espl_world_stats all = {.entities = store->alive_count,
                            .archetypes = espl__array_length(store->archetypes),
                            .nodes_visited = counts->nodes_visited,
                            .writes = counts->writes,
                            .writes_skipped = counts->writes_skipped,
                            .nodes_skipped = counts->nodes_skipped,
                            .disabled = count_with(store, ESPL_DISABLED),
                            .prefabs = count_with(store, ESPL_PREFAB),
                            .retired = store->retired_count,
                            .slots = forest->capacity,
                            .free_slots = forest->capacity - forest->end + forest->free_slots,
                            .layouts = forest->layouts,
                            .nodes_laid_out = forest->nodes_laid_out,
                            .layout_debt_incurred = counts->debt,
                            .names = store->names.count,
                            .bytes_names = espl__names_bytes(&store->names),
                            .counterparts = store->counterparts.count,
                            .watches = world->watch_count,
                            .presented = world->presented,
                            .blended = world->blended,
                            .planes = espl__planes_count(world),
                            .bytes_changes = espl__watches_bytes(world) +
                                             espl__planes_bytes(world) +
                                             espl__attachment_bytes(world->attachment),
                            .renderables = world->attachment != NULL ? world->attachment->count : 0,
                            .bytes_renderables = espl__attachment_bytes(world->attachment),
                            .commands_accepted = playback->totals.accepted,
                            .commands_applied = playback->totals.applied,
                            .commands_refused = playback->totals.refused};
    count_bytes(&world->heap, &all);
    count_chunks(store, &all);
    count_hierarchies(world, &all);
    *out = all;
}
