// SPDX-License-Identifier: MIT
/// @file
/// Command buffers: commands are recorded on any thread and played at a sync point.
///
/// The result of a playback is exactly as if the commands were carried out one by one, ordered by
/// key, then lane, then recording order. It depends on nothing else: not on threads, timing or
/// addresses.
///
/// Thread rule: one thread at a time for each recorder. Calls that take the world, and calls that
/// create, submit, reset or destroy a command buffer, change the world: one thread at a time. Reading
/// results and counts is reading.
#ifndef ESPALIER_COMMANDS_H
#define ESPALIER_COMMANDS_H

#include <espalier/tree.h>
#include <espalier/write.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A command buffer: commands that wait for playback, with one recorder for each lane.
///
/// Thread rule: one thread at a time, except that each recorder may be used by a thread of its own,
/// also while the world plays another command buffer. Creating, submitting, resetting and
/// destroying are changes of the world.
typedef struct espl_command_buffer espl_command_buffer;

/// One lane of commands: append-only, used by one thread at a time, no locks.
typedef struct espl_recorder espl_recorder;

/// Largest number of lanes of a command buffer.
#define ESPL_LANE_LIMIT 256
/// Largest number of entities that one recorder can record between resets.
#define ESPL_PENDING_LIMIT (1u << 31)

/// Make a command buffer of a world.
///
/// @param lanes  Recorders, 1 to ESPL_LANE_LIMIT.
/// @return ESPL_OK, ESPL_ERR_ARGUMENT (NULL, no lanes), ESPL_ERR_LIMIT (too many), ESPL_ERR_BUSY (in a job
///         of a parallel write), ESPL_ERR_NO_MEMORY.
ESPL_API ESPL_NODISCARD espl_status espl_command_buffer_create(espl_world *world, uint32_t lanes,
                                                               espl_command_buffer **out);

/// Destroy a command buffer in any state. NULL is allowed. Commands that were not played are
/// dropped, and their number is logged (ESPL_LOG_INFO). The function of a custom command must not
/// destroy the buffer whose payloads it gets: the call then traps in checked builds, and does
/// nothing.
ESPL_API void espl_command_buffer_destroy(espl_command_buffer *commands);

/// Empty a command buffer for the next recording and keep its memory, so that recording the same
/// again takes none. Its pending handles become foreign, until 2^23 command buffers more were made
/// or reset in the process: do not keep them that long. A submitted buffer is withdrawn. Commands
/// that were not played are logged, and the function of a custom command must not reset the buffer
/// whose payloads it gets, as for espl_command_buffer_destroy().
ESPL_API void espl_command_buffer_reset(espl_command_buffer *commands);

/// Return the recorder of a lane, NULL past the last. It lives as long as the command buffer.
ESPL_API espl_recorder *espl_command_buffer_recorder(espl_command_buffer *commands, uint32_t lane);

/// Count the commands recorded in all lanes.
ESPL_API size_t espl_command_buffer_count(const espl_command_buffer *commands);

// Recording never reads the world: whether an entity is alive is found at playback. A command that
// is refused is not recorded: ESPL_ERR_NO_MEMORY, ESPL_ERR_NULL_ENTITY, ESPL_ERR_FOREIGN (pending
// in another command buffer), ESPL_ERR_PLAYED, ESPL_ERR_LIMIT, ESPL_ERR_ARGUMENT,
// ESPL_ERR_NOT_FINITE. The log names the call, the lane and the entities. Keys order the playback;
// use 0 where the order of lanes will do.

/// Where an instance starts. In a world with cells (espalier/far.h) a transform relative to the world is in the
/// cell of the parent; without a parent in the cell of what is cloned, or else in cell 0, 0, 0.
typedef enum espl_place {
    ESPL_PLACE_SOURCE = 0, ///< No parent: the source's world. With a parent: the source's local.
    ESPL_PLACE_LOCAL = 1,  ///< `transform` is relative to the parent (without one: to the world).
    ESPL_PLACE_WORLD = 2,  ///< `transform` is relative to the world.
} espl_place;

/// What an instance becomes when its parent is dead at playback.
typedef enum espl_dead_parent {
    ESPL_DEAD_PARENT_REFUSE = 0, ///< It is not made; the command is refused with ESPL_ERR_DEAD.
    ESPL_DEAD_PARENT_ROOT = 1, ///< It is made as a root or solo, `transform` relative to the world.
} espl_dead_parent;

/// What to instantiate, and where. All but `source` may be zero. Grows into `reserved`.
typedef struct espl_instance_def {
    espl_entity source; ///< Any living entity, or a pending one of the same command buffer.
    espl_entity parent; ///< Null: none. May be pending.
    espl_entity before; ///< Sibling that it comes before; null: last.
    espl_link link;     ///< To the parent.
    espl_dead_parent dead_parent; ///< When the parent is dead.
    espl_place place;             ///< How to read `transform`.
    uint32_t inherit;         ///< Inherit flags under the parent, as espl_attach_options has them.
    espl_transform transform; ///< Not read for ESPL_PLACE_SOURCE.
    const espl_component_value *values; ///< [value_count] set on, or added to, the clone of the
                                        ///< source itself. Copied.
    size_t value_count;                 ///< At most ESPL_SET_LIMIT.
    uintptr_t reserved[4];              ///< Must be 0 (GROWTH in espalier(3)).
} espl_instance_def;

/// Record clones of a source's owned closure.
///
/// @param count    Clones, each placed alike; 0 records nothing.
/// @param pending  [count] handles of the clones to be made; may be NULL.
ESPL_API ESPL_NODISCARD espl_status espl_record_instantiate(espl_recorder *recorder, uint32_t key,
                                                            const espl_instance_def *def,
                                                            size_t count, espl_entity *pending);
/// Record espl_destroy(). Refused now with ESPL_ERR_ARGUMENT for an extent that does not exist.
ESPL_API ESPL_NODISCARD espl_status espl_record_destroy(espl_recorder *recorder, uint32_t key,
                                                        espl_entity entity, espl_extent extent);
/// Record espl_attach(). @param options  NULL means {0}; copied.
ESPL_API ESPL_NODISCARD espl_status espl_record_attach(espl_recorder *recorder, uint32_t key,
                                                       espl_entity child, espl_entity parent,
                                                       const espl_attach_options *options);
/// Record espl_detach().
ESPL_API ESPL_NODISCARD espl_status espl_record_detach(espl_recorder *recorder, uint32_t key,
                                                       espl_entity entity, espl_keep keep);
/// Record espl_move_before(). @param before  Null: last.
ESPL_API ESPL_NODISCARD espl_status espl_record_move_before(espl_recorder *recorder, uint32_t key,
                                                            espl_entity entity, espl_entity before);
/// Record espl_write_one(). The value is copied and checked now; a rotation, the transform's too,
/// is normalised now.
ESPL_API ESPL_NODISCARD espl_status espl_record_write(espl_recorder *recorder, uint32_t key,
                                                      espl_entity entity, espl_write_kind kind,
                                                      const void *value);
/// Record espl_set_inherit().
ESPL_API ESPL_NODISCARD espl_status espl_record_set_inherit(espl_recorder *recorder, uint32_t key,
                                                            espl_entity entity, uint32_t flags);

/// What to create, which is no clone. All zero: a solo without components. Grows into `reserved`.
typedef struct espl_creation_def {
    /// [value_count] its components with their values, each once; copied. The value of
    /// ESPL_TRANSFORM is an espl_transform, as in espl_change_def.
    const espl_component_value *values;
    size_t value_count;           ///< At most ESPL_SET_LIMIT.
    espl_entity parent;           ///< Null: none. May be pending.
    espl_entity before;           ///< Sibling that it comes before; null: last.
    espl_link link;               ///< To the parent.
    espl_dead_parent dead_parent; ///< When the parent is dead.
    espl_place place; ///< How to read the transform; ESPL_PLACE_SOURCE is ESPL_PLACE_LOCAL here.
    uint32_t inherit; ///< Inherit flags under the parent; a transform is needed for them.
    uintptr_t reserved[4]; ///< Must be 0 (GROWTH in espalier(3)).
} espl_creation_def;

/// Clone the owned closure of any entity n times, under a parent and with a transform and values where the
/// definition has them: the command of espl_record_instantiate(), carried out at once by the functions of
/// a playback, without its stages. Structural.
///
/// A clone has the source's components (but ESPL_PREFAB) with their bytes (zeros for those with
/// ESPL_COMPONENT_UNIQUE), its name and its transforms.
/// Entity references in them (espl_component_def) that name an entity of the closure name its clone;
/// others stay. Without a parent the clone of a member starts as a root at the source's world transform.
/// The original is not touched. Clones of one source entity have neighbouring rows.
/// @param count  Clones, each placed alike; 0 does nothing, but a source that does not live is refused.
/// @param out    [count] the first entity of each clone, in order; may be NULL; unchanged when
///               refused.
/// @return ESPL_OK, ESPL_LOSSY, ESPL_OVERFLOW. Refusals, which change nothing: the statuses that the
///         recorded command has, when it is recorded and when it is played, and ESPL_ERR_BUSY.
ESPL_API ESPL_NODISCARD espl_status espl_instantiate(espl_world *world,
                                                     const espl_instance_def *def, size_t count,
                                                     espl_entity *out);
/// Create immediately: the command of espl_record_create(), carried out as that of espl_instantiate().
ESPL_API ESPL_NODISCARD espl_status espl_create_at(espl_world *world, const espl_creation_def *def,
                                                   size_t count, espl_entity *out);

/// Create one node immediately: an entity with a transform, under a parent, with a name. As
/// espl_create_at() and espl_set_name(), all or nothing. Structural.
///
/// @param parent  Null: a solo, and `local` is relative to the world.
/// @param local   NULL: the identity.
/// @param name    as espl_set_name() takes it; NULL or "": none.
/// @param out     the entity; may be NULL; unchanged when refused.
/// @return ESPL_OK, ESPL_OVERFLOW; ESPL_ERR_NOT_FINITE (local); of the name ESPL_ERR_LIMIT,
///         ESPL_ERR_ARGUMENT; the parent's statuses, but for ESPL_ERR_NULL_ENTITY; ESPL_ERR_RANGE;
///         ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT, ESPL_ERR_BUSY.
ESPL_API ESPL_NODISCARD espl_status espl_create_node(espl_world *world, espl_entity parent,
                                                     const espl_transform *local, const char *name,
                                                     espl_entity *out);
/// Make one clone of a prefab immediately: espl_instantiate() of one, in short. Structural.
///
/// @param parent  Null: none, and `local` is relative to the world: to the cell of the prefab (espl_place).
/// @param local   Relative to the parent; NULL: that of the prefab.
/// @param out     the clone; may be NULL; unchanged when refused.
/// Statuses as espl_instantiate().
ESPL_API ESPL_NODISCARD espl_status espl_spawn(espl_world *world, espl_entity prefab,
                                               espl_entity parent, const espl_transform *local,
                                               espl_entity *out);

/// Record the creation of entities, all alike.
///
/// @param count    0 records nothing.
/// @param pending  [count] handles of the entities to be made; may be NULL.
/// Refused as other recordings, and with ESPL_ERR_ARGUMENT for an unknown component.
ESPL_API ESPL_NODISCARD espl_status espl_record_create(espl_recorder *recorder, uint32_t key,
                                                       const espl_creation_def *def, size_t count,
                                                       espl_entity *pending);

// --- Components ---

/// Record espl_change_components(). The values are copied; of a transform the value is checked and
/// normalised now. Refused now with ESPL_ERR_ARGUMENT too, as espl_change_components().
ESPL_API ESPL_NODISCARD espl_status espl_record_change_components(espl_recorder *recorder,
                                                                  uint32_t key, espl_entity entity,
                                                                  const espl_change_def *change);
/// Record espl_add_component(): espl_record_change_components() of one component; messages name this function
/// for such a change.
ESPL_API ESPL_NODISCARD espl_status espl_record_add_component(espl_recorder *recorder, uint32_t key,
                                                              espl_entity entity,
                                                              espl_component component,
                                                              const void *data, size_t size);
/// Record espl_remove_component().
ESPL_API ESPL_NODISCARD espl_status espl_record_remove_component(espl_recorder *recorder,
                                                                 uint32_t key, espl_entity entity,
                                                                 espl_component component);
/// Record espl_set_component(): at playback an entity that lacks the component is
/// ESPL_ERR_NO_COMPONENT. Of ESPL_TRANSFORM it is espl_record_write() of ESPL_WRITE_LOCAL_TRANSFORM.
ESPL_API ESPL_NODISCARD espl_status espl_record_set_component(espl_recorder *recorder, uint32_t key,
                                                              espl_entity entity,
                                                              espl_component component,
                                                              const void *data, size_t size);
/// Record espl_set_enabled().
ESPL_API ESPL_NODISCARD espl_status espl_record_set_enabled(espl_recorder *recorder, uint32_t key,
                                                            espl_entity entity, espl_extent extent,
                                                            bool enabled);

// --- Custom commands ---

/// Number of a custom command that was registered; 0 names none.
typedef uint32_t espl_custom_command;

/// Largest number of custom commands that are registered in a world.
#define ESPL_CUSTOM_COMMAND_LIMIT 256

/// The payload that one espl_record_custom() recorded.
typedef struct espl_custom_payload {
    const void *data; ///< [size] aligned as it was recorded; NULL where the size is 0.
    size_t size;
    uint32_t key;
    uint32_t lane, index; ///< Where it was recorded.
} espl_custom_payload;

/// All payloads of one custom command in one playback, in playback order. Valid until the function
/// returns. Grows at its end: the library alone makes it.
typedef struct espl_custom_calls {
    espl_world *world;
    const espl_command_buffer *commands; ///< It is played: espl_command_buffer_resolve() works.
    const espl_custom_payload *payloads; ///< [count]
    size_t count;                        ///< At least 1.
} espl_custom_calls;

/// A custom command: a kind of command that the user defines. Grows into `reserved`.
typedef struct espl_custom_command_def {
    const char *name; ///< For traces; copied. 1 to 255 bytes, as espl_component_def has them.
    void *user;       ///< Passed to the function.
    /// Called once for each playback that has payloads for it, after all other commands of the
    /// playback, custom command by custom command in order of registration, on the thread that
    /// plays. It may read, write transforms and components, begin, end and present ticks, collect a
    /// watch, record into other command buffers, and reset, submit or destroy those. Structural calls
    /// return ESPL_ERR_BUSY, and recording into the command buffer that is being played returns
    /// ESPL_ERR_PLAYED.
    void (*function)(void *user, const espl_custom_calls *calls);
    uintptr_t reserved[4]; ///< Must be 0 (GROWTH in espalier(3)).
} espl_custom_command_def;

/// Register a custom command, until espl_command_unregister() or for the life of the world.
/// Structural.
///
/// @param out  its number, unchanged when refused. Numbers count up in order of registration, and
///             none is given twice.
/// @return ESPL_OK; ESPL_ERR_ARGUMENT (the name, or no function); ESPL_ERR_LIMIT
///         (ESPL_CUSTOM_COMMAND_LIMIT are registered, or 2^32 - 1 were); ESPL_ERR_NO_MEMORY;
///         ESPL_ERR_BUSY.
ESPL_API ESPL_NODISCARD espl_status espl_command_register(espl_world *world,
                                                          const espl_custom_command_def *def,
                                                          espl_custom_command *out);

/// Unregister a custom command. Structural, so that the function of a custom command cannot do it.
///
/// Its number is never given again. Payloads that are recorded for it, before or after, are not
/// delivered: at playback their commands are refused with ESPL_ERR_DEAD, and the report counts
/// them.
/// @return ESPL_OK; ESPL_ERR_ARGUMENT (no custom command has the number); ESPL_ERR_BUSY.
ESPL_API ESPL_NODISCARD espl_status espl_command_unregister(espl_world *world,
                                                            espl_custom_command command);

/// Largest alignment of a payload.
#define ESPL_PAYLOAD_ALIGNMENT_LIMIT 256

/// Record a custom command with one payload. At playback it is refused only if the custom command
/// was unregistered.
///
/// @param command    Its number; ESPL_ERR_ARGUMENT for a number that was never given.
/// @param data       [size] bytes, copied; NULL means zero bytes. Pending handles in it are not
///                   replaced: the function gets their entities from espl_command_buffer_resolve().
/// @param size       At most UINT32_MAX; 0 records no data.
/// @param alignment  Power of two, else ESPL_ERR_ARGUMENT; up to ESPL_PAYLOAD_ALIGNMENT_LIMIT, else
///                   ESPL_ERR_LIMIT; 0 means 1.
ESPL_API ESPL_NODISCARD espl_status espl_record_custom(espl_recorder *recorder, uint32_t key,
                                                       espl_custom_command command,
                                                       const void *data, size_t size,
                                                       size_t alignment);

/// Stages of a playback.
typedef enum espl_stage {
    ESPL_STAGE_ORDER = 0,   ///< Sort the commands of all lanes into one order.
    ESPL_STAGE_RESOLVE = 1, ///< Find the nodes that handles name.
    ESPL_STAGE_GROUP = 2,   ///< Group the commands that touch the same hierarchies.
    ESPL_STAGE_APPLY = 3,  ///< Apply the commands to the hierarchies; take all memory for the rest.
    ESPL_STAGE_CHANGE = 4, ///< Change entities and rows.
    ESPL_STAGE_PLACE = 5,  ///< Move nodes to their final slots and compute world transforms.
    ESPL_STAGE_REPORT = 6, ///< Write the report and call the functions of custom commands.
    ESPL_STAGE_COUNT = 7,
} espl_stage;

/// Return the name of a stage, "order" for example; "unknown stage" for any other number.
ESPL_API const char *espl_stage_name(espl_stage stage);

/// Reasons counted by a report: index with the negated status. No command is refused with a status past
/// them.
#define ESPL_REASON_COUNT 22
/// Where a command was recorded.
typedef struct espl_command_place {
    uint32_t lane;
    uint32_t index; ///< In the lane, from 0.
} espl_command_place;

/// The report of one playback. Always accepted == applied + refused. Grows into `reserved`.
typedef struct espl_report {
    size_t accepted;                      ///< Commands that were recorded.
    size_t applied;                       ///< Commands carried out, also with a loss.
    size_t refused;                       ///< Commands that changed nothing.
    size_t lossy;                         ///< Of the applied: ESPL_LOSSY.
    size_t refused_by[ESPL_REASON_COUNT]; ///< Refused by reason: [-status].
    espl_command_place first_refused[ESPL_REASON_COUNT]; ///< First of each reason in playback
                                                         ///< order; valid where the count is not 0.
    size_t created;                                      ///< Entities made.
    size_t destroyed;     ///< Entities destroyed that lived before the playback.
    size_t row_moves;     ///< Rows moved between archetypes.
    size_t groups;        ///< Independent groups of hierarchies.
    size_t rebuilt_nodes; ///< Nodes in trees that were laid out anew.
    size_t visited_nodes; ///< World transforms computed, as espl_world_stats.nodes_visited counts.
    uint64_t stage_ns[ESPL_STAGE_COUNT]; ///< Time spent in each stage, nanoseconds.
    size_t pendings;       ///< Creations that were recorded, as counted by pending handles.
    size_t largest_group;  ///< Commands in the largest group.
    size_t moved_nodes;    ///< Nodes that moved to another slot, and nodes that were made.
    size_t row_batches;    ///< Batches in which rows were made, moved and removed.
    size_t calls;          ///< Payloads delivered to custom commands.
    bool has_overflowed;   ///< A world transform that playback recomputed is not finite.
    uintptr_t reserved[8]; ///< 0 (GROWTH in espalier(3)).
} espl_report;

/// Play a command buffer now. Structural.
///
/// @param report  NULL, or the report; also filled for an empty playback; zeroed when refused.
/// @return ESPL_OK, also if single commands are refused. Otherwise the world and the command buffer
///         are unchanged: ESPL_ERR_NO_MEMORY (free memory and play again); ESPL_ERR_PLAYED;
///         ESPL_ERR_BUSY; ESPL_ERR_FOREIGN (of another world); ESPL_ERR_EXECUTOR (the executor lost
///         or repeated a job before the change stage; from then on the calling thread runs a lost
///         job, and checked builds trap); ESPL_ERR_LIMIT (the clones need more indices than are free
///         before the playback); ESPL_ERR_ARGUMENT.
ESPL_API ESPL_NODISCARD espl_status espl_play(espl_world *world, espl_command_buffer *commands,
                                              espl_report *report);

/// Add a command buffer to the queue of espl_sync(). Refused with ESPL_ERR_ARGUMENT if it is
/// submitted already, ESPL_ERR_PLAYED, and ESPL_ERR_BUSY from inside a job of the world; the
/// function of a custom command may submit. The buffer may still be recorded into, and played by
/// espl_play(), which removes it from the queue.
ESPL_API ESPL_NODISCARD espl_status espl_command_buffer_submit(espl_command_buffer *commands);

/// Play every command buffer that was submitted before this call, in order of submission: one, its
/// custom commands, then the next. A buffer that the function of a custom command submits waits for
/// the next call, so that submitting each time is no endless loop; what the function records into a
/// buffer later in the queue is played by this call.
///
/// @param report  NULL, or the sum of the reports of all buffers; the largest `largest_group`.
/// @return as espl_play(). A buffer that is refused and those after it stay in the queue.
ESPL_API ESPL_NODISCARD espl_status espl_sync(espl_world *world, espl_report *report);

/// Return the entity that a pending handle became.
///
/// @param out  unchanged when refused.
/// @return ESPL_OK; ESPL_ERR_PENDING (not played yet); ESPL_ERR_DEAD (refused at playback, or
///         destroyed in the same playback); ESPL_ERR_FOREIGN (of another command buffer, or from
///         before a reset); ESPL_ERR_NULL_ENTITY; ESPL_ERR_ARGUMENT (not a pending handle).
ESPL_API ESPL_NODISCARD espl_status espl_command_buffer_resolve(const espl_command_buffer *commands,
                                                                espl_entity pending,
                                                                espl_entity *out);

/// Return the status of one command after playback; ESPL_ERR_ARGUMENT if the buffer was not played,
/// and if there is no such lane or command. No command gets ESPL_ERR_ARGUMENT at playback, so that
/// this status ends a loop over the commands of a lane; an index past the last is not logged.
ESPL_API espl_status espl_command_buffer_result(const espl_command_buffer *commands, uint32_t lane,
                                                uint32_t index);

// --- Short forms of common recordings ---

/// Record one clone of a prefab.
///
/// @param parent   Null: none, and `local` is relative to the world: to the cell of the prefab (espl_place).
/// @param local    Relative to the parent; NULL: that of the prefab.
/// @param pending  Handle of the clone to be made; may be NULL.
ESPL_API ESPL_NODISCARD espl_status espl_record_spawn(espl_recorder *recorder, uint32_t key,
                                                      espl_entity prefab, espl_entity parent,
                                                      const espl_transform *local,
                                                      espl_entity *pending);

/// Record espl_add_component() of the value that a pointer points to.
#define ESPL_RECORD_ADD(recorder, key, entity, component, pointer)                 \
    espl_record_add_component((recorder), (key), (entity), (component), (pointer), \
                              sizeof *(pointer))

/// Record espl_set_component() of the value that a pointer points to.
#define ESPL_RECORD_SET(recorder, key, entity, component, pointer)                 \
    espl_record_set_component((recorder), (key), (entity), (component), (pointer), \
                              sizeof *(pointer))

/// Record a custom command whose payload is the value that a pointer points to, with its alignment,
/// which is at most ESPL_PAYLOAD_ALIGNMENT_LIMIT.
#define ESPL_RECORD_CUSTOM(recorder, key, command, pointer)                        \
    espl_record_custom((recorder), (key), (command), (pointer), sizeof *(pointer), \
                       ESPL_ALIGNMENT_OF(pointer))

/// Alignment of what a pointer points to. Where the compiler cannot tell, the largest that its size
/// allows, which is at least that.
#if defined(__GNUC__)
#define ESPL_ALIGNMENT_OF(pointer) __alignof__(*(pointer))
#elif defined(__cplusplus)
#define ESPL_ALIGNMENT_OF(pointer) alignof(decltype(*(pointer)))
#else
#define ESPL_ALIGNMENT_OF(pointer)                                                 \
    ((sizeof *(pointer) & (~sizeof *(pointer) + 1)) < ESPL_PAYLOAD_ALIGNMENT_LIMIT \
         ? (sizeof *(pointer) & (~sizeof *(pointer) + 1))                          \
         : (size_t)ESPL_PAYLOAD_ALIGNMENT_LIMIT)
#endif

#ifdef __cplusplus
}
#endif

#endif
