// SPDX-License-Identifier: MIT
/// @file
/// Components, creation, and queries: the archetype-chunk store.
///
/// Thread rule: as for the world. "Structural" calls are refused with ESPL_ERR_BUSY during
/// iteration. A number that names no component of the world is ESPL_ERR_ARGUMENT in every call.
#ifndef ESPALIER_STORE_H
#define ESPALIER_STORE_H

#include <espalier/transform.h>
#include <espalier/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Number of a registered component; 0 names none.
typedef uint32_t espl_component;

/// Components that every world has. Attaching and detaching set the roles: queries can name them, but
/// they cannot be added or removed. The others can be added and removed at any time.
enum {
    ESPL_TRANSFORM = 1, ///< Has a transform of its own. Its value is the local espl_transform;
                        ///< espalier/read.h and write.h have its parts, and the world.
    ESPL_SOLO = 2,      ///< Role: in no hierarchy. Tag.
    ESPL_ROOT = 3,      ///< Role: owner of a hierarchy. Tag.
    ESPL_MEMBER = 4,    ///< Role: non-root in a hierarchy. Tag.
    ESPL_PREFAB = 5,    ///< A template for instantiate: queries skip it, clones lack it. Tag of this
                        ///< entity alone: each part below needs its own to be skipped.
    ESPL_DISABLED = 6,  ///< Queries skip it; it still moves with its parent. Tag.
};

/// Registered components a world can hold, the built-in ones included.
#define ESPL_COMPONENT_LIMIT 1024
/// Largest component, bytes.
#define ESPL_COMPONENT_SIZE_LIMIT 4096
/// Components one entity can have, the built-in ones included.
#define ESPL_SET_LIMIT 64
/// Entity references one component can have.
#define ESPL_REFERENCE_LIMIT 64

/// Fields that the definition of a component can describe.
#define ESPL_FIELD_LIMIT 64

/// Flags of a component.
enum {
    /// Images (espalier/image.h), archives (espalier/archive.h) and frames (espalier/history.h) have no values
    /// of the component: they are zeros after a load or a read, a rewind does not change them in rows that stay,
    /// and an apply keeps those of survivors. For data that the program computes anew, such as an index into a
    /// cache.
    ESPL_COMPONENT_TRANSIENT = 1,
    /// Clones get zeros instead of the value of their source, for what no two entities share: a number in
    /// another system, for example. A value that the definition of a clone gives counts.
    ESPL_COMPONENT_UNIQUE = 2,
};

/// Type of the elements of a field.
typedef enum espl_field_type {
    ESPL_FIELD_BYTES = 0, ///< 1 byte: text, or anything else
    ESPL_FIELD_I8 = 1,
    ESPL_FIELD_U8 = 2,
    ESPL_FIELD_I16 = 3,
    ESPL_FIELD_U16 = 4,
    ESPL_FIELD_I32 = 5,
    ESPL_FIELD_U32 = 6,
    ESPL_FIELD_I64 = 7,
    ESPL_FIELD_U64 = 8,
    ESPL_FIELD_F32 = 9,
    ESPL_FIELD_F64 = 10,
    ESPL_FIELD_BOOL = 11,   ///< 1 byte
    ESPL_FIELD_ENTITY = 12, ///< espl_entity: an entity reference
    ESPL_FIELD_TYPE_COUNT
} espl_field_type;

/// What bytes of a component mean, for tools that show, convert or store its values. Never grows.
typedef struct espl_component_field {
    const char *name; ///< As that of a component, unique in the component.
    espl_field_type type;
    uint32_t offset; ///< Of the first element, in the component.
    uint32_t count;  ///< Elements, one behind the other; 0 means 1.
} espl_component_field;

/// A kind of plain data on entities: copied and moved by bytes, zero where no value is given. Grows
/// into `reserved`.
typedef struct espl_component_def {
    const char *name; ///< Unique in the world; copied. 1 to 255 bytes, such as a name of an entity
                      ///< may have (espalier/names.h). Taken: "transform", "solo", "root",
                      ///< "member", "prefab", "disabled".
    size_t size;      ///< Bytes, a multiple of alignment, to ESPL_COMPONENT_SIZE_LIMIT; 0: a tag.
    size_t alignment; ///< Power of two, at most 256; 0 means 1.
    /// [reference_count] byte offsets of the espl_entity fields in it, ascending, not overlapping,
    /// inside size; copied. In a clone, such a field that names an entity of the source's closure
    /// names the clone of that entity instead.
    const uint32_t *references;
    size_t reference_count; ///< At most ESPL_REFERENCE_LIMIT.
    /// The caller's number of this layout of the component. Any. An archive of another one needs a migration.
    uint32_t version;
    uint32_t flags;         ///< ESPL_COMPONENT_ flags.
    /// [field_count] what the bytes mean, in ascending order, not overlapping, inside size; copied, names
    /// too. Bytes may be left out, but if there are fields, the elements of ESPL_FIELD_ENTITY are exactly
    /// `references`. An archive of a machine with the other order of bytes is read by the fields in it, and
    /// checksums of frames are equal on both by them.
    const espl_component_field *fields;
    size_t field_count;    ///< At most ESPL_FIELD_LIMIT.
    uintptr_t reserved[4]; ///< Must be 0 (GROWTH in espalier(3)).
} espl_component_def;

/// Register a component. Structural.
///
/// @param out  its number, unchanged when refused. Numbers count up in order of registration.
/// @return ESPL_OK, ESPL_ERR_EXISTS, ESPL_ERR_ARGUMENT (name, size, alignment, references or fields),
///         ESPL_ERR_LIMIT (past a limit above, of the world or of the component),
///         ESPL_ERR_UNSUPPORTED (a flag that this library does not have, or a word of `reserved`),
///         ESPL_ERR_NO_MEMORY, ESPL_ERR_BUSY.
ESPL_API ESPL_NODISCARD espl_status espl_component_register(espl_world *world,
                                                            const espl_component_def *def,
                                                            espl_component *out);

/// Find a component by name; 0 where there is none.
ESPL_API espl_component espl_component_find(const espl_world *world, const char *name);

/// Count the registered components, the built-in ones included: they have the numbers from 1 to that
/// one. Any thread, also while another one registers components.
ESPL_API uint32_t espl_component_count(const espl_world *world);

/// Read how a component was registered. Any thread, also while another one registers components.
///
/// @param out  the definition of the component, with 1 for an alignment or a count of a field of 0, and
///             NULL for references and fields where there are none; unchanged when refused. Names,
///             references and fields are memory of the world, valid until it is destroyed. ESPL_TRANSFORM
///             has the size and the alignment of an espl_transform.
/// @return ESPL_OK; ESPL_ERR_ARGUMENT (no component has the number; NULL).
ESPL_API ESPL_NODISCARD espl_status espl_component_info(const espl_world *world,
                                                        espl_component component,
                                                        espl_component_def *out);

/// Value of one component, for creation and commands.
typedef struct espl_component_value {
    espl_component component;
    size_t size;      ///< Must be the registered size.
    const void *data; ///< [size] bytes, copied; NULL means zeros.
} espl_component_value;

/// Create solos with a set of components, zero-filled; with ESPL_TRANSFORM the identity transform.
/// Structural.
///
/// @param components  [component_count] in any order, without repeats; NULL when the count is 0.
/// @param count       How many; 0 does nothing.
/// @param out         [count] handles, in order; may be NULL.
/// @return ESPL_OK, ESPL_ERR_ARGUMENT (an unknown component, a role, a repeat), ESPL_ERR_LIMIT,
///         ESPL_ERR_NO_MEMORY, ESPL_ERR_BUSY. A refused call makes no entity.
ESPL_API ESPL_NODISCARD espl_status espl_create(espl_world *world, const espl_component *components,
                                                size_t component_count, size_t count,
                                                espl_entity *out);

/// Tell whether a handle names a living entity of this world.
ESPL_API bool espl_is_alive(const espl_world *world, espl_entity entity);

/// Components to give and to take away, in one step. Never grows.
typedef struct espl_change_def {
    /// [add_count] given with their values; where the entity has one already, its value is set.
    /// ESPL_TRANSFORM has an espl_transform for its value, NULL means the identity.
    const espl_component_value *add;
    size_t add_count; ///< At most ESPL_SET_LIMIT, without repeats.
    /// [remove_count] taken away. A component that the entity lacks, or that is named twice, is
    /// legal.
    const espl_component *remove;
    size_t remove_count; ///< At most ESPL_SET_LIMIT, and none of them among `add`.
} espl_change_def;

/// Add and remove components of one entity. Structural.
///
/// Adding or removing the transform does not move the descendants by more than rounding. Given to an
/// entity that has one, its value is written as by espl_set_local_transform(), and a bit-equal one recomputes
/// nothing. Without a transform the
/// world of the entity is its parent's; removing the transform drops its inherit flags.
/// @return ESPL_OK, ESPL_LOSSY (a descendant could not stay where it was), ESPL_OVERFLOW (a world that was
///         recomputed is not finite), ESPL_ERR_ARGUMENT (an unknown component, a size, a role, a repeat), the
///         handle's statuses, ESPL_ERR_LIMIT (more components than ESPL_SET_LIMIT after the change),
///         ESPL_ERR_NO_MEMORY, ESPL_ERR_BUSY; for the value of a transform ESPL_ERR_NOT_FINITE,
///         ESPL_ERR_RANGE, ESPL_ERR_COPIES_PARENT.
ESPL_API ESPL_NODISCARD espl_status espl_change_components(espl_world *world, espl_entity entity,
                                                           const espl_change_def *change);

/// Add and remove the same components on many entities. Structural. All or nothing.
///
/// @param entities  [count] repeats are legal; may be memory of the world, a chunk's for example.
/// @param refused   NULL, or out: where the call is refused for one entity, its index; else
///                  unchanged.
/// Statuses as espl_change_components().
ESPL_API ESPL_NODISCARD espl_status espl_change_components_array(espl_world *world,
                                                                 const espl_entity *entities,
                                                                 size_t count,
                                                                 const espl_change_def *change,
                                                                 size_t *refused);

/// Add a component with a value; if the entity has it already, set the value. Structural.
/// espl_change_components() of one component; messages name this function for such a change.
///
/// @param data  [size] bytes, copied; NULL means zeros. size must be the registered one; for
///              ESPL_TRANSFORM that of espl_transform, and NULL means the identity.
ESPL_API ESPL_NODISCARD espl_status espl_add_component(espl_world *world, espl_entity entity,
                                                       espl_component component, const void *data,
                                                       size_t size);

/// Remove a component; does nothing if the entity lacks it. Structural. espl_change_components() of
/// one removed component; messages name this function for such a change.
ESPL_API ESPL_NODISCARD espl_status espl_remove_component(espl_world *world, espl_entity entity,
                                                          espl_component component);

/// Tell whether a living entity has a component; false for any other handle.
ESPL_API bool espl_has_component(const espl_world *world, espl_entity entity,
                                 espl_component component);

/// Copy a component's value out. Of ESPL_TRANSFORM it is the local espl_transform, as
/// espl_get_local_transform() reads it.
///
/// @param out  [size] bytes; unchanged when refused.
/// @return ESPL_OK, ESPL_ERR_NO_COMPONENT (the entity lacks it; of ESPL_TRANSFORM
///         ESPL_ERR_NO_TRANSFORM), ESPL_ERR_ARGUMENT (an unknown component or a role; a size; NULL for
///         a size other than 0), the handle's statuses.
ESPL_API ESPL_NODISCARD espl_status espl_get_component(const espl_world *world, espl_entity entity,
                                                       espl_component component, void *out,
                                                       size_t size);

/// Copy a value into a component that the entity has. Not structural. Statuses as espl_get_component().
/// ESPL_TRANSFORM is written as by espl_set_local_transform(), whose statuses the call then has too.
ESPL_API ESPL_NODISCARD espl_status espl_set_component(espl_world *world, espl_entity entity,
                                                       espl_component component, const void *data,
                                                       size_t size);

/// What to make room for, for the calls that espl_reserve() names. {0}: nothing. Grows into `reserved`.
typedef struct espl_reserve_def {
    size_t entities; ///< So many more: their records, and the slots of their transforms.
    /// [component_count] a component set, as espl_create() takes it. A role may be in it; without one
    /// it is that of solos.
    const espl_component *components;
    size_t component_count;
    size_t rows;          ///< So many more entities with that set.
    size_t writes;        ///< Batches of so many writes.
    size_t parallel_rows; ///< Parallel writes of so many rows, as long as the world has no more
                          ///< hierarchies and solos than it has room for now.
    /// Null, or an entity: its hierarchy gets the side arrays that stretch, user data and inherit
    /// flags need. They stay until the hierarchy is laid out without a need for them. They belong to images and
    /// frames of a history: a load and a rewind bring them back, or take them away.
    espl_entity side_of;
    /// Collects of the watches that the world has now (espalier/watch.h), each with at most so many
    /// entities added, removed and changed.
    size_t watch_entities;
    uintptr_t reserved[3]; ///< Must be 0 (GROWTH in espalier(3)).
} espl_reserve_def;

/// Make room. What was reserved is kept until espl_compact(). Structural.
///
/// espl_create() takes no memory once `entities` and `rows` of its set are reserved; a batch that needs no
/// new side arrays, once `writes` is; a parallel write, once `parallel_rows` is; a write of stretch, user
/// data or inherit flags, once `side_of` is; a collect, once `watch_entities` is. Other calls may still take
/// memory: scratch, rows where a role or a component set changes, the range of a hierarchy that outgrows its
/// own, and names.
/// @return ESPL_OK; ESPL_ERR_ARGUMENT (NULL; an unknown component, a repeat or two roles in the set);
///         the statuses of handles; ESPL_ERR_LIMIT; ESPL_ERR_BUSY; ESPL_ERR_NO_MEMORY: nothing that
///         can be read changed, and some of it may be reserved.
ESPL_API ESPL_NODISCARD espl_status espl_reserve(espl_world *world, const espl_reserve_def *def);

/// What queries skip unless it is included here or named in `all`.
enum {
    ESPL_INCLUDE_PREFABS = 1,  ///< Entities with ESPL_PREFAB.
    ESPL_INCLUDE_DISABLED = 2, ///< Entities with ESPL_DISABLED.
};

/// Components that a query can name in all of its lists together.
#define ESPL_TERM_LIMIT 64

/// Which entities a query finds, by at most ESPL_TERM_LIMIT components in all lists. {0} finds every
/// entity that is neither a prefab nor disabled. Roles are components too: `all` with ESPL_ROOT finds
/// roots only. Grows into `reserved`.
typedef struct espl_query_def {
    const espl_component *all; ///< [all_count] the entity has each of these.
    size_t all_count;
    const espl_component *none; ///< [none_count] the entity has none of these.
    size_t none_count;
    const espl_component *any; ///< [any_count] the entity has at least one of these.
    size_t any_count;          ///< 0 asks nothing.
    /// [changed_count] the chunk has the column of one of these, and it was written after `since`:
    /// by espl_set_component(), by a value that espl_change_components() or another form of it gave to
    /// an entity that has the component, by a call of espl_query_write(), or because an entity moved
    /// into the chunk or changed its row there. Only such moves count for a tag and for
    /// ESPL_TRANSFORM: writing or propagating a transform writes no column.
    const espl_component *changed;
    size_t changed_count; ///< 0 asks nothing.
    uint64_t since;       ///< A version, see espl_get_version().
    uint32_t include;     ///< ESPL_INCLUDE_ bits.
    /// NULL, or ESPL_SITE. A structural call that an open query refuses logs where the query began:
    /// this place, else its address. The text must be valid until the iteration ends.
    const char *site;
    uintptr_t reserved[4]; ///< Must be 0 (GROWTH in espalier(3)).
} espl_query_def;

/// Return the version of the columns: each write of a column increases it, and it is never 0 again
/// after the first. Later writes have a higher version. Any thread while none writes.
ESPL_API uint64_t espl_get_version(const espl_world *world);

/// Add and remove components of every entity that answers a query. Structural. All or nothing.
///
/// @param def    NULL means {0}.
/// @param count  NULL, or out: entities that answered; unchanged when refused.
/// @return as espl_change_components() and espl_query_begin().
ESPL_API ESPL_NODISCARD espl_status espl_change_components_query(espl_world *world,
                                                                 const espl_query_def *def,
                                                                 const espl_change_def *change,
                                                                 size_t *count);

/// Iteration over the chunks whose entities answer a query.
///
///     espl_query query;
///     status = espl_query_begin(world, &def, &query);
///     while (espl_query_next(&query)) {
///         for (size_t row = 0; row < query.count; ++row) { ... query.entities[row] ... }
///     }
///
/// The world is in iteration from begin until next returns false or espl_query_end(). The fields
/// before `state` may be read; they describe the current chunk. A query is a value of less than 256
/// bytes and takes no memory. Never grows, because it is the memory of the iteration.
///
/// A query may be moved. Copies of it are one iteration, which the first of them ends; another one
/// that then goes on, reads, writes or ends traps in every build, and does nothing or gives NULL.
/// Of more than 32 iterations under way at once the others are counted only: then it traps where
/// more of them ended than began.
typedef struct espl_query {
    size_t count;                ///< Rows of this chunk, at most 128.
    const espl_entity *entities; ///< [count]
    /// [count] slots, or NULL where the entities have no transform: the world transform of row r
    /// is world_poses[slots[r]]. espl_query_read_transforms(), espalier/read.h, copies the other parts of
    /// transforms, stretch too. Only functions of espalier/write.h write transforms.
    const uint32_t *slots;
    /// By slot, of the whole world: each relative to the middle of the cell of its hierarchy
    /// (espalier/far.h), which is the origin of a world without cells.
    const espl_pose *world_poses;
    struct {
        espl_world *world;
        uint64_t since;
        uint64_t shown_at; // version of the columns when the current chunk was shown
        uint32_t archetype, chunk;
        uint32_t include;
        uint32_t turn; // of `noted`, while the iteration is under way
        uint8_t all_count, none_count, any_count, changed_count;
        uint8_t first;     // row of the chunk that is shown as row 0
        bool is_read_only; // begun by espl_query_begin_read()
        bool is_dealt;     // rows of a parallel write: `all` names the columns that may be written
        uint8_t noted;     // entry of the iteration in the world; 0: it has none
        uint16_t terms[ESPL_TERM_LIMIT]; // all, then none, any and changed
    } state;                             ///< Not for use.
} espl_query;

/// Begin an iteration. Queries nest. Chunks come in order of archetype, then of creation.
///
/// @param def  NULL means {0}; not kept.
/// @return ESPL_OK, ESPL_ERR_ARGUMENT (an unknown component or bit), ESPL_ERR_LIMIT (more than
///         ESPL_TERM_LIMIT components).
ESPL_API ESPL_NODISCARD espl_status espl_query_begin(espl_world *world, const espl_query_def *def,
                                                     espl_query *query);

/// Begin an iteration that only reads: espl_query_begin() of a world that may not be changed.
///
/// Any number of threads may iterate so at once, each with a query of its own, while none changes the
/// world; espl_query_next(), espl_query_end() and espl_query_read() then have the same rule.
/// espl_query_write() gives NULL, and traps in checked builds. As of every iteration, structural calls
/// are refused with ESPL_ERR_BUSY until it ends.
ESPL_API ESPL_NODISCARD espl_status espl_query_begin_read(const espl_world *world,
                                                          const espl_query_def *def,
                                                          espl_query *query);

/// Go to the next chunk; false at the end, where the iteration is over.
ESPL_API bool espl_query_next(espl_query *query);

/// End an iteration early. After the end it does nothing; a copy of a query that has ended traps.
ESPL_API void espl_query_end(espl_query *query);

/// Return one component's column of the current chunk, to be read: count values, aligned as
/// registered; NULL where the chunk lacks it, for a tag and for ESPL_TRANSFORM. A size other than
/// the registered one is a fault: it traps in checked builds and gives NULL.
ESPL_API const void *espl_query_read(const espl_query *query, espl_component component,
                                     size_t size);

/// The same, to be written: the call counts as a write of the column (see espl_query_def). A change of
/// the world: one thread at a time, except in the jobs of a parallel write (espalier/writers.h).
ESPL_API void *espl_query_write(const espl_query *query, espl_component component, size_t size);

#ifdef __cplusplus
}
#endif

#endif
