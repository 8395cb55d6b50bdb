// SPDX-License-Identifier: MIT
/// @file
/// Components, creation, and queries: the archetype-chunk store.
///
/// Thread rule: as for the world. "Structural" calls are refused with ESPL_ERR_BUSY during
/// iteration.
#ifndef ESPALIER_STORE_H
#define ESPALIER_STORE_H

#include <espalier/transform.h>
#include <espalier/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Number of a registered component; 0 names none.
typedef uint32_t espl_component;

/// Components that every world has. Roles follow by themselves: they can be asked for in queries,
/// not added or removed. ESPL_PLACEMENT is given at creation; ESPL_PREFAB at any time.
enum {
    ESPL_PLACEMENT = 1, ///< Has a transform of its own.
    ESPL_SOLO = 2,      ///< Role: in no hierarchy. Tag.
    ESPL_ROOT = 3,      ///< Role: owner of a hierarchy. Tag.
    ESPL_MEMBER = 4,    ///< Role: non-root in a hierarchy. Tag.
    ESPL_PREFAB = 5,    ///< A template for instantiate: queries skip it, clones lack it. Tag.
};

/// Registered components a world can hold, the built-in ones included.
#define ESPL_COMPONENT_LIMIT 1024
/// Largest component, bytes.
#define ESPL_COMPONENT_SIZE_LIMIT 4096
/// Components one entity can have, the built-in ones included.
#define ESPL_SET_LIMIT 64

/// A kind of plain data on entities: copied and moved by bytes, zero where no value is given.
typedef struct espl_component_def {
    const char *name; ///< Unique in the world; copied. 1 to 255 bytes. Taken: "placement", "solo",
                      ///< "root", "member", "prefab".
    size_t size;      ///< Bytes, a multiple of alignment, to ESPL_COMPONENT_SIZE_LIMIT; 0: a tag.
    size_t alignment; ///< Power of two, at most 256; 0 means 1.
} espl_component_def;

/// Register a component. Structural.
///
/// @param out  its number, unchanged when refused. Numbers count up in order of registration.
/// @return ESPL_OK, ESPL_ERR_EXISTS, ESPL_ERR_ARGUMENT (name, size or alignment), ESPL_ERR_LIMIT,
///         ESPL_ERR_NO_MEMORY, ESPL_ERR_BUSY.
ESPL_API ESPL_NODISCARD espl_status espl_component_register(espl_world *world,
                                                            const espl_component_def *def,
                                                            espl_component *out);

/// Find a component by name; 0 where there is none.
ESPL_API espl_component espl_component_find(const espl_world *world, const char *name);

/// Value of one component, for creation and commands.
typedef struct espl_component_value {
    espl_component component;
    size_t size;      ///< Must be the registered size.
    const void *data; ///< [size] bytes, copied; NULL means zeros.
} espl_component_value;

/// Create solos with a set of components, zero-filled; with ESPL_PLACEMENT the identity placement.
/// Structural.
///
/// @param components  [component_count] in any order, without repeats; NULL when the count is 0.
/// @param count       How many; 0 does nothing.
/// @param out         [count] handles, in order; may be NULL.
/// @return ESPL_OK, ESPL_ERR_NO_COMPONENT, ESPL_ERR_ARGUMENT (a role, ESPL_PREFAB excepted; a
///         repeat), ESPL_ERR_LIMIT, ESPL_ERR_NO_MEMORY, ESPL_ERR_BUSY; refused, it made none.
ESPL_API ESPL_NODISCARD espl_status espl_create(espl_world *world, const espl_component *components,
                                                size_t component_count, size_t count,
                                                espl_entity *out);

/// Tell whether a handle names a living entity of this world.
ESPL_API bool espl_is_alive(const espl_world *world, espl_entity entity);

/// Add a component with a value; has it already: sets the value. Structural.
///
/// @param data  [size] bytes, copied; NULL means zeros. size must be the registered one.
/// @return ESPL_OK, ESPL_ERR_NO_COMPONENT, ESPL_ERR_ARGUMENT (size; ESPL_PLACEMENT or a role), the
///         handle's statuses, ESPL_ERR_LIMIT, ESPL_ERR_NO_MEMORY, ESPL_ERR_BUSY.
ESPL_API ESPL_NODISCARD espl_status espl_add(espl_world *world, espl_entity entity,
                                             espl_component component, const void *data,
                                             size_t size);

/// Remove a component; lacks it: does nothing. Structural. Statuses as espl_add().
ESPL_API ESPL_NODISCARD espl_status espl_remove(espl_world *world, espl_entity entity,
                                                espl_component component);

/// Tell whether a living entity has a component; false for any other handle.
ESPL_API bool espl_has(const espl_world *world, espl_entity entity, espl_component component);

/// Copy a component's value out.
///
/// @param out  [size] bytes; unchanged when refused.
/// @return ESPL_OK, ESPL_ERR_NO_COMPONENT, ESPL_ERR_ARGUMENT (size; NULL for a size other than 0;
///         ESPL_PLACEMENT or a role), the handle's statuses.
ESPL_API ESPL_NODISCARD espl_status espl_get(const espl_world *world, espl_entity entity,
                                             espl_component component, void *out, size_t size);

/// Copy a value into a component that the entity has. Not structural. Statuses as espl_get().
ESPL_API ESPL_NODISCARD espl_status espl_set(espl_world *world, espl_entity entity,
                                             espl_component component, const void *data,
                                             size_t size);

/// What a query asks for. {0} asks for every entity that is no prefab.
typedef struct espl_query_def {
    const espl_component *all;  ///< [all_count] the entity has each of these.
    size_t all_count;           ///< At most ESPL_SET_LIMIT.
    const espl_component *none; ///< [none_count] the entity has none of these.
    size_t none_count;          ///< At most ESPL_SET_LIMIT.
} espl_query_def;

/// Iteration over the chunks whose entities answer a query. Prefabs are skipped unless ESPL_PREFAB
/// is among `all`.
///
///     espl_query query;
///     status = espl_query_begin(world, &def, &query);
///     while (espl_query_next(&query)) {
///         for (size_t row = 0; row < query.count; ++row) { ... query.entities[row] ... }
///     }
///
/// The world is in iteration from begin until next returns false or espl_query_end(). The fields
/// before `state` are to be read; they hold for the chunk at hand.
typedef struct espl_query {
    size_t count;                ///< Rows of this chunk, at most 128.
    const espl_entity *entities; ///< [count]
    /// [count] slots, or NULL where the entities have no placement: the world placement of row r
    /// is worlds[slots[r]].
    const uint32_t *slots;
    const espl_pose *worlds; ///< World placements of the whole world, by slot.
    struct {
        espl_world *world;
        uint32_t archetype, chunk;
        size_t all_count, none_count;
        espl_component all[ESPL_SET_LIMIT], none[ESPL_SET_LIMIT];
    } state; ///< Not for use.
} espl_query;

/// Begin an iteration. Queries nest. Chunks come in order of archetype, then of creation.
///
/// @return ESPL_OK, ESPL_ERR_NO_COMPONENT, ESPL_ERR_LIMIT, ESPL_ERR_ARGUMENT.
ESPL_API ESPL_NODISCARD espl_status espl_query_begin(espl_world *world, const espl_query_def *def,
                                                     espl_query *query);

/// Go to the next chunk; false at the end, where the iteration is over.
ESPL_API bool espl_query_next(espl_query *query);

/// End an iteration early. After the end it does nothing.
ESPL_API void espl_query_end(espl_query *query);

/// Return one component's column of the chunk at hand: count values, aligned as registered; NULL
/// where the chunk lacks it, for a tag, for ESPL_PLACEMENT, and where size is not the registered
/// one.
ESPL_API void *espl_query_column(const espl_query *query, espl_component component, size_t size);

#ifdef __cplusplus
}
#endif

#endif
