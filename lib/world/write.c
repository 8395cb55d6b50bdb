// SPDX-License-Identifier: MIT
// Transforms of one entity: plain loads, and writes that propagate before they return.
#include "lib/world/inside.h"

#include <string.h>

// --- Reading ---

static espl_status read_transform(const espl_world *world, espl_entity entity, bool is_world,
                                  espl_transform *out)
{
    uint32_t slot = 0;

    if (out == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    const espl_status status = espl__find_placed(world, entity, &slot);
    if (status != ESPL_OK) {
        return status;
    }
    const espl_pose *const pose =
        is_world ? &world->forest.world[slot] : &world->forest.local[slot];
    const espl__extra extra = espl__slot_extra(&world->forest, slot);

    *out = espl__transform_of(pose, &extra);
    return ESPL_OK;
}

espl_status espl_get_world(const espl_world *world, espl_entity entity, espl_transform *out)
{
    return espl__refuse(world, "get world", entity, read_transform(world, entity, true, out));
}

espl_status espl_get_local(const espl_world *world, espl_entity entity, espl_transform *out)
{
    return espl__refuse(world, "get local", entity, read_transform(world, entity, false, out));
}

espl_status espl_get_world_position(const espl_world *world, espl_entity entity, float out[3])
{
    uint32_t slot = 0;
    espl_status status = espl__find_placed(world, entity, &slot);

    if (status == ESPL_OK && out == NULL) {
        status = ESPL_ERR_ARGUMENT;
    }
    if (status == ESPL_OK) {
        memcpy(out, world->forest.world[slot].position, 3 * sizeof *out);
    }
    return espl__refuse(world, "get world position", entity, status);
}

// --- Writing ---

// Give a run its extras, all of them the default. Structural: it takes memory.
static espl_status add_extras(espl_world *world, espl__run *run)
{
    const espl_status status = espl__check_structural(world);

    if (status != ESPL_OK) {
        return status;
    }
    run->extra =
        espl__heap_take(&world->heap, ESPL__FOR_TREE, run->capacity, sizeof *run->extra, 16);
    if (run->extra == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < run->capacity; ++i) {
        run->extra[i] = espl__extra_default();
    }
    for (uint32_t i = 0; i < run->used; ++i) {
        world->forest.flags[run->base + i] |= ESPL__SLOT_EXTRA;
    }
    run->flags |= ESPL__RUN_GENERAL;
    return ESPL_OK;
}

// Put a value in place and propagate. false: some world is not finite.
static bool put(espl__forest *forest, uint32_t slot, const espl_pose *local,
                const espl__extra *extra)
{
    const uint32_t run = forest->run[slot];
    const uint32_t rank = forest->rank[slot];
    espl__extra *const extras = forest->runs[run].extra;
    bool is_stretched = false;

    forest->local[slot] = *local;
    if (extras != NULL) {
        espl__extra *const own = &extras[slot - forest->runs[run].base];

        is_stretched = memcmp(own, extra, sizeof *own) != 0;
        *own = *extra;
    }
    const bool is_finite = espl__propagate_from(forest, run, rank);

    // A stretch moves what hangs below even where the node's own pose stays.
    return is_stretched ? espl__propagate_below(forest, run, rank) && is_finite : is_finite;
}

// Write a local whose fields are known to be fine.
static espl_status write_local(espl_world *world, uint32_t slot, const espl_pose *local,
                               const espl__extra *extra)
{
    espl__forest *const forest = &world->forest;
    espl__run *const run = espl__run_of(forest, slot);
    const espl_pose old_local = forest->local[slot];
    const espl__extra old_extra = espl__slot_extra(forest, slot);

    if (memcmp(&old_local, local, sizeof old_local) == 0 &&
        memcmp(&old_extra, extra, sizeof old_extra) == 0) {
        return ESPL_OK;
    }
    if (run->extra == NULL && !espl__extra_is_default(extra)) {
        const espl_status status = add_extras(world, run);

        if (status != ESPL_OK) {
            return status;
        }
    }
    if (!put(forest, slot, local, extra)) {
        // Worlds are a function of the locals: the old local brings the old worlds back.
        (void)put(forest, slot, &old_local, &old_extra);
        (void)espl__propagate_below(forest, forest->run[slot], forest->rank[slot]);
        return ESPL_ERR_RANGE;
    }
    forest->writes += 1;
    return ESPL_OK;
}

// Ask for the lines that a write will touch, so that their misses overlap instead of adding up.
static inline void prefetch_slot(const espl__forest *forest, uint32_t slot)
{
#if defined(__GNUC__)
    __builtin_prefetch(&forest->run[slot]);
    __builtin_prefetch(&forest->local[slot], 1);
    __builtin_prefetch(&forest->world[slot], 1);
    __builtin_prefetch(&forest->rank[slot]);
    __builtin_prefetch(&forest->parent[slot]);
    __builtin_prefetch(&forest->local[slot] + 2);
    __builtin_prefetch(&forest->world[slot] + 2, 1);
#else
    (void)forest;
    (void)slot;
#endif
}

// The checks that both whole-transform writes make.
static espl_status check_write(const espl_world *world, espl_entity entity,
                               const espl_transform *value, uint32_t *slot, espl_transform *normal)
{
    const espl_status status = espl__find_slot(world, entity, slot);

    if (status != ESPL_OK) {
        return status;
    }
    prefetch_slot(&world->forest, *slot);
    if (espl__slot_is(&world->forest, *slot, ESPL__SLOT_PASS)) {
        return ESPL_ERR_NO_TRANSFORM;
    }
    if (value == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    if (world->is_playing) {
        return ESPL_ERR_BUSY;
    }
    *normal = *value;
    return espl_transform_normalize(normal);
}

static espl_status set_local(espl_world *world, espl_entity entity, const espl_transform *value)
{
    uint32_t slot = 0;
    espl_transform normal;
    const espl_status status = check_write(world, entity, value, &slot, &normal);

    if (status != ESPL_OK) {
        return status;
    }
    const espl_pose local = espl__pose_of(&normal);
    const espl__extra extra = espl__extra_of(&normal);

    return write_local(world, slot, &local, &extra);
}

static espl_status set_world(espl_world *world, espl_entity entity, const espl_transform *value)
{
    uint32_t slot = 0;
    espl_transform normal;
    espl_status status = check_write(world, entity, value, &slot, &normal);
    unsigned lost = 0;

    if (status != ESPL_OK) {
        return status;
    }
    const espl__forest *const forest = &world->forest;
    const uint32_t parent = espl__living_parent(forest, slot);
    const espl__extra extra = espl__extra_of(&normal);
    espl_pose local = espl__pose_of(&normal);

    if (parent != ESPL__NO_SLOT) {
        const espl__extra above = espl__slot_extra(forest, parent);

        lost = espl__pose_relative(&local, &forest->world[parent], above.stretch, &local,
                                   &forest->local[slot]);
    }
    if (!espl__pose_is_finite(&local)) {
        return ESPL_ERR_RANGE;
    }
    status = write_local(world, slot, &local, &extra);
    return status == ESPL_OK && lost != 0 ? ESPL_LOSSY : status;
}

espl_status espl_set_local(espl_world *world, espl_entity entity, const espl_transform *value)
{
    return espl__refuse(world, "set local", entity, set_local(world, entity, value));
}

espl_status espl_set_world(espl_world *world, espl_entity entity, const espl_transform *value)
{
    return espl__refuse(world, "set world", entity, set_world(world, entity, value));
}
