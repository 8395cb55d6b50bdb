// SPDX-License-Identifier: MIT
// What tests ask often, by the general calls of the library. This is a header alone, because the golden
// tapes are built without the sources that the suites share.
#ifndef ESPALIER_TESTS_ASKED_H
#define ESPALIER_TESTS_ASKED_H

#include <espalier/espalier.h>

/// Count the children of an entity; 0 for a handle that names no living entity.
static inline size_t test_count_children(const espl_world *world, espl_entity entity)
{
    return espl_get_children(world, entity, 0, NULL);
}

/// Return the n-th child of an entity, counted from 0; null where there are fewer.
static inline espl_entity test_child(const espl_world *world, espl_entity entity, size_t n)
{
    espl_entity child = espl_get_first_child(world, entity);

    for (; n > 0 && !espl_entity_is_null(child); --n) {
        child = espl_get_next_sibling(world, child);
    }
    return child;
}

/// Count everything below an entity; 0 for a handle that names no living entity.
static inline size_t test_count_descendants(const espl_world *world, espl_entity entity)
{
    const size_t count = espl_copy_subtree(world, entity, ESPL_EXTENT_SUBTREE, 0, NULL);

    return count == 0 ? 0 : count - 1;
}

/// Return the position of an entity in the storage of its hierarchy; ESPL_NO_RANK for a handle that names
/// no living entity.
static inline uint32_t test_rank(const espl_world *world, espl_entity entity)
{
    espl_subtree below;
    uint32_t rank = ESPL_NO_RANK;

    if (espl_is_alive(world, entity) &&
        espl_subtree_begin((espl_world *)(uintptr_t)world, entity, &below) == ESPL_OK) {
        rank = espl_subtree_next(&below) ? below.rank : ESPL_NO_RANK;
        espl_subtree_end(&below);
    }
    return rank;
}

/// Tell whether the world transform of an entity mirrors; false for one without a transform.
static inline bool test_is_mirrored(const espl_world *world, espl_entity entity)
{
    espl_transform placed;

    return espl_is_alive(world, entity) && espl_has_component(world, entity, ESPL_TRANSFORM) &&
           espl_get_world_transform(world, entity, &placed) == ESPL_OK &&
           espl_transform_is_mirrored(&placed);
}

/// Tell whether the library has threads: more than there may be are refused for their number.
static inline bool test_has_threads(void)
{
    const espl_threads_def too_many = {.workers = ESPL_WORKER_LIMIT + 1};
    espl_executor none;

    return espl_executor_create(&too_many, &none) != ESPL_ERR_UNSUPPORTED;
}

/// Return the world of the rows of a parallel write.
static inline espl_world *test_rows_world(const espl_query *rows)
{
    return rows->state.world;
}

#endif
