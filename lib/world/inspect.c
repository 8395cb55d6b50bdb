// SPDX-License-Identifier: MIT
// Statistics and the proof of a whole world.
#include "lib/world/inside.h"

#include <string.h>

// --- Statistics ---

static size_t count_with(const espl__store *store, espl_component component)
{
    const size_t archetypes = espl__array_length(store->archetypes);
    size_t count = 0;

    for (uint32_t a = 0; a < archetypes; ++a) {
        count += espl__archetype_has(store, a, component) ? store->archetypes[a].count : 0;
    }
    return count;
}

static void count_chunks(const espl__store *store, espl_world_stats *out)
{
    const size_t archetypes = espl__array_length(store->archetypes);

    for (size_t a = 0; a < archetypes; ++a) {
        const espl__archetype *const archetype = &store->archetypes[a];
        const size_t chunks = espl__array_length(archetype->chunks);
        const size_t filled = (archetype->count + archetype->capacity - 1) / archetype->capacity;

        out->chunks += chunks;
        out->spare_chunks += chunks - filled;
        out->row_capacity += chunks * archetype->capacity;
    }
}

// Number of the class of 2^i to 2^(i + 1) - 1.
static unsigned class_of_size(uint32_t size)
{
    return 31u - (unsigned)__builtin_clz(size);
}

// Count a hierarchy or solo by its size.
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

static const espl__tree *tree_of_row(const espl_world *world, espl_entity entity)
{
    return espl__tree_of(&world->forest, world->store.records[entity.index].slot);
}

// The settled hierarchies: each has its root in one row of an archetype of roots.
static void count_settled(const espl_world *world, const espl__archetype *archetype,
                          espl_world_stats *out)
{
    for (size_t row = 0; row < archetype->count; ++row) {
        const espl__chunk *const chunk =
            &world->store.chunks[archetype->chunks[row / archetype->capacity]];
        const espl__tree *const tree =
            tree_of_row(world, espl__chunk_entities(chunk)[row % archetype->capacity]);

        if ((tree->flags & ESPL__TREE_UNSETTLED) == 0) {
            count_tree(out, tree->live);
            out->holes += tree->used - tree->live;
        }
    }
}

// An unsettled tree holds a hierarchy or solo for each of its roots. Rows may still have the roles
// of an earlier time.
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
    const espl__playback *const playback = &world->playback;

    *out = (espl_world_stats){.entities = store->alive_count,
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
                              .commands_accepted = playback->accepted,
                              .commands_applied = playback->applied,
                              .commands_refused = playback->refused};
    count_bytes(&world->heap, out);
    count_chunks(store, out);
    count_hierarchies(world, out);
}

// --- Store and forest ---

static espl_component expected_role(const espl__forest *forest, uint32_t slot)
{
    if (!espl__is_root(forest, slot)) {
        return ESPL_MEMBER;
    }
    return forest->links[slot].first_child != ESPL__NO_SLOT ? ESPL_ROOT : ESPL_SOLO;
}

// What store and forest say of each other, for one living entity.
static const char *entity_rule(const espl_world *world, uint32_t index)
{
    const espl__record *const record = &world->store.records[index];
    const espl__forest *const forest = &world->forest;
    const uint32_t slot = record->slot;

    if (slot >= forest->end || forest->tree[slot] >= forest->tree_end ||
        forest->links[slot].entity != index) {
        return "an entity and its slot name each other";
    }
    const uint32_t archetype = world->store.chunks[record->chunk].archetype;
    const bool is_bare = espl__slot_is(forest, slot, ESPL__SLOT_BARE);

    if (espl__archetype_has(&world->store, archetype, ESPL_TRANSFORM) == is_bare) {
        return "entities with a placement have a transform, others pass through";
    }
    // Roles in an unsettled tree may be late, because rows found no memory to move.
    if ((espl__tree_of(forest, slot)->flags & ESPL__TREE_UNSETTLED) != 0) {
        return NULL;
    }
    for (espl_component role = ESPL_SOLO; role <= ESPL_MEMBER; ++role) {
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
    const espl__forest *const forest = &world->forest;
    size_t living = 0;

    for (uint32_t index = 0; index < length; ++index) {
        if (is_living(world, index)) {
            const char *const rule = entity_rule(world, index);

            report->entity = espl__entity_at(&world->store, index);
            if (rule != NULL) {
                return rule;
            }
        }
    }
    // Each living entity has a slot of its own. As many slots as entities: there is no other.
    report->entity = espl_entity_null();
    for (uint32_t tree = 0; tree < forest->tree_end; ++tree) {
        living += forest->trees[tree].live;
    }
    report->detail = living;
    return living == world->store.alive_count ? NULL : "living members are alive and distinct";
}

// --- Totals ---

static const char *bytes_rule(const espl_world *world, espl_validation *report)
{
    const struct {
        espl__purpose purpose;
        size_t bytes;
        const char *rule;
    } kinds[] = {
        {ESPL__FOR_WORLD, sizeof *world + espl__callbacks_bytes(&world->playback.callbacks),
         "outstanding bytes of the world are accounted for"},
        {ESPL__FOR_STORE, espl__store_bytes(&world->store),
         "outstanding bytes of the store are accounted for"},
        {ESPL__FOR_TREE, espl__forest_bytes(&world->forest),
         "outstanding bytes of the tree are accounted for"},
        {ESPL__FOR_COMMANDS,
         espl__playback_bytes(&world->playback) + world->write_scratch.size +
             world->side_scratch.size + world->deal_scratch.size + world->mark_scratch.size,
         "outstanding bytes of playback and writes are accounted for"},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        report->detail = espl__heap_bytes_for(&world->heap, kinds[i].purpose);
        if (report->detail != kinds[i].bytes) {
            return kinds[i].rule;
        }
    }
    return NULL;
}

static const char *commands_rule(const espl_world *world, espl_validation *report)
{
    const espl__playback *const playback = &world->playback;

    report->detail = (size_t)playback->accepted;
    return playback->accepted == playback->applied + playback->refused
               ? NULL
               : "commands accepted were applied or refused";
}

// --- The proof ---

static const char *store_rule(const espl_world *world, espl_validation *report)
{
    return espl__store_broken_rule(&world->store, &report->entity, &report->detail);
}

static const char *forest_rule(const espl_world *world, espl_validation *report)
{
    uint32_t slot = ESPL__NO_SLOT;
    const char *const rule = espl__forest_broken_rule(&world->forest, &slot, &report->detail);

    if (rule != NULL && slot < world->forest.end &&
        world->forest.links[slot].entity < espl__array_length(world->store.records)) {
        report->entity = espl__entity_of_slot(world, slot);
    }
    return rule;
}

bool espl_validate(const espl_world *world, espl_validation *report)
{
    // Each may rely on those before it.
    static const char *(*const checks[])(const espl_world *, espl_validation *) = {
        store_rule, forest_rule, cross_rule, bytes_rule, commands_rule,
    };
    espl_validation found = {0};
    size_t overflowed = 0;

    if (world == NULL) {
        return false;
    }
    for (size_t i = 0; found.rule == NULL && i < sizeof checks / sizeof *checks; ++i) {
        found = (espl_validation){0};
        found.rule = checks[i](world, &found);
        // Trees are gone through only where they are whole.
        if (checks[i] == forest_rule && found.rule == NULL) {
            overflowed = espl__count_overflowed(&world->forest);
        }
    }
    if (report != NULL) {
        *report = found.rule != NULL ? found : (espl_validation){0};
        report->overflowed = overflowed;
    }
    return found.rule == NULL;
}
