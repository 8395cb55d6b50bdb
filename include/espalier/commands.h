// SPDX-License-Identifier: MIT
/// @file
/// Structural work recorded from any thread and played back at a sync point.
///
/// Playback means: exactly as if the commands were carried out one by one, ordered by key, then
/// lane, then recording order. The result depends on nothing else: not on threads, timing or
/// addresses.
#ifndef ESPALIER_COMMANDS_H
#define ESPALIER_COMMANDS_H

#include <espalier/write.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Commands waiting for playback: one recorder for each lane.
///
/// Thread rule: one thread at a time, except that each recorder may be used by a thread of its own,
/// also while the world plays other commands. Creating, submitting, resetting and destroying are
/// changes of the world.
typedef struct espl_commands espl_commands;

/// One lane of commands: append-only, used by one thread at a time, no locks.
typedef struct espl_recorder espl_recorder;

/// Lanes one commands object can have.
#define ESPL_LANE_LIMIT 256
/// Creations one recorder can hold between resets.
#define ESPL_PENDING_LIMIT (1u << 31)

/// Make a commands object of a world.
///
/// @param lanes  Recorders, 1 to ESPL_LANE_LIMIT.
/// @return ESPL_OK, ESPL_ERR_ARGUMENT, ESPL_ERR_NO_MEMORY.
ESPL_API ESPL_NODISCARD espl_status espl_commands_create(espl_world *world, uint32_t lanes,
                                                         espl_commands **out);

/// Destroy a commands object in any state; what it still holds is dropped. NULL is allowed.
ESPL_API void espl_commands_destroy(espl_commands *commands);

/// Empty it for the next recording and keep its memory. Its pending handles become foreign.
/// A submitted object is withdrawn.
ESPL_API void espl_commands_reset(espl_commands *commands);

/// Return the recorder of a lane, NULL past the last. It lives as long as the commands object.
ESPL_API espl_recorder *espl_commands_recorder(espl_commands *commands, uint32_t lane);

/// Count the commands recorded in all lanes.
ESPL_API size_t espl_commands_count(const espl_commands *commands);

// Recording. It never touches the world: whether an entity lives is found at playback. Refused when
// recorded, the command is not there: ESPL_ERR_NO_MEMORY, ESPL_ERR_NULL_ENTITY, ESPL_ERR_FOREIGN
// (pending in another commands object), ESPL_ERR_PLAYED, ESPL_ERR_LIMIT, ESPL_ERR_ARGUMENT,
// ESPL_ERR_NOT_FINITE. Keys order the playback; 0 is as good as any.

/// Where an instance starts.
typedef enum espl_place {
    ESPL_PLACE_SOURCE = 0, ///< No parent: the source's world. With a parent: the source's local.
    ESPL_PLACE_LOCAL = 1,  ///< `transform` is relative to the parent (without one: to the world).
    ESPL_PLACE_WORLD = 2,  ///< `transform` is relative to the world.
} espl_place;

/// What an instance becomes when its parent is dead at playback.
typedef enum espl_orphan {
    ESPL_ORPHAN_REFUSE = 0, ///< It is not made; the command is refused with ESPL_ERR_DEAD.
    ESPL_ORPHAN_ROOT = 1,   ///< It is made as a root or solo, `transform` relative to the world.
} espl_orphan;

/// What to instantiate, and where. All but `source` may be zero. Grows at the end only.
typedef struct espl_instance_def {
    espl_entity source;       ///< Any living entity, or a pending one of the same commands.
    espl_entity parent;       ///< Null: none. May be pending.
    espl_entity before;       ///< Sibling to stand before; null: last.
    espl_link link;           ///< To the parent.
    espl_orphan orphan;       ///< When the parent is dead.
    espl_place place;         ///< How to read `transform`.
    espl_transform transform; ///< Not read for ESPL_PLACE_SOURCE.
    const espl_component_value *values; ///< [value_count] set on, or added to, the clone of the
                                        ///< source itself. Copied.
    size_t value_count;                 ///< At most ESPL_SET_LIMIT.
    uint32_t inherit; ///< Inherit flags under the parent, as espl_attach_options has them.
} espl_instance_def;

/// Record clones of a source's owned closure.
///
/// @param count    Clones, each placed alike; 0 records nothing.
/// @param pending  [count] handles of the clones to be; may be NULL.
ESPL_API ESPL_NODISCARD espl_status espl_record_instantiate(espl_recorder *recorder, uint32_t key,
                                                            const espl_instance_def *def,
                                                            size_t count, espl_entity *pending);
/// Record espl_destroy().
ESPL_API ESPL_NODISCARD espl_status espl_record_destroy(espl_recorder *recorder, uint32_t key,
                                                        espl_entity entity);
/// Record espl_destroy_subtree().
ESPL_API ESPL_NODISCARD espl_status espl_record_destroy_subtree(espl_recorder *recorder,
                                                                uint32_t key, espl_entity entity);
/// Record espl_destroy_only().
ESPL_API ESPL_NODISCARD espl_status espl_record_destroy_only(espl_recorder *recorder, uint32_t key,
                                                             espl_entity entity);
/// Record espl_attach(). @param options  NULL means {0}; copied.
ESPL_API ESPL_NODISCARD espl_status espl_record_attach(espl_recorder *recorder, uint32_t key,
                                                       espl_entity child, espl_entity parent,
                                                       const espl_attach_options *options);
/// Record espl_detach().
ESPL_API ESPL_NODISCARD espl_status espl_record_detach(espl_recorder *recorder, uint32_t key,
                                                       espl_entity entity, espl_stay keep);
/// Record espl_set_sibling(). @param before  Null: last.
ESPL_API ESPL_NODISCARD espl_status espl_record_set_sibling(espl_recorder *recorder, uint32_t key,
                                                            espl_entity entity, espl_entity before);
/// Record espl_set_local(). The value is checked and normalised now.
ESPL_API ESPL_NODISCARD espl_status espl_record_set_local(espl_recorder *recorder, uint32_t key,
                                                          espl_entity entity,
                                                          const espl_transform *value);
/// Record espl_set_world(). The value is checked and normalised now.
ESPL_API ESPL_NODISCARD espl_status espl_record_set_world(espl_recorder *recorder, uint32_t key,
                                                          espl_entity entity,
                                                          const espl_transform *value);

/// Record one write of any kind. The value is checked now; a rotation, the transform's too, is
/// normalised now.
ESPL_API ESPL_NODISCARD espl_status espl_record_write(espl_recorder *recorder, uint32_t key,
                                                      const espl_write *write);
/// Record espl_set_inherit().
ESPL_API ESPL_NODISCARD espl_status espl_record_set_inherit(espl_recorder *recorder, uint32_t key,
                                                            espl_entity entity, uint32_t flags);

/// Reasons counted by a report: index with the negated status.
#define ESPL_REASON_COUNT 19
/// Where a command was recorded.
typedef struct espl_command_place {
    uint32_t lane;
    uint32_t index; ///< In the lane, from 0.
} espl_command_place;

/// Account of one playback: accepted == applied + refused, always.
typedef struct espl_report {
    size_t accepted;                      ///< Commands that were recorded.
    size_t applied;                       ///< Carried out, those with a remark included.
    size_t refused;                       ///< Not carried out; nothing of them was.
    size_t lossy;                         ///< Of the applied: ESPL_LOSSY.
    size_t refused_by[ESPL_REASON_COUNT]; ///< Refused by reason: [-status].
    espl_command_place first_refused[ESPL_REASON_COUNT]; ///< First of each reason in playback
                                                         ///< order; valid where the count is not 0.
    size_t created;                                      ///< Entities made.
    size_t destroyed;     ///< Entities destroyed that lived before the playback.
    size_t row_moves;     ///< Rows moved between archetypes.
    size_t groups;        ///< Independent groups of hierarchies.
    size_t rebuilt_nodes; ///< Nodes in hierarchies that were laid out anew.
    size_t visited_nodes; ///< World transforms recomputed.
} espl_report;

/// Carry the commands out now. Structural.
///
/// @param report  NULL, or the account; also filled for an empty playback; zeroed when refused.
/// @return ESPL_OK, whatever single commands came to; ESPL_ERR_NO_MEMORY (world untouched, commands
///         intact: free memory and play again), ESPL_ERR_PLAYED, ESPL_ERR_BUSY, ESPL_ERR_FOREIGN
///         (commands of another world), ESPL_ERR_EXECUTOR (the executor lost or repeated a job
///         while only scratch was written; once the change is under way a lost job is done by the
///         calling thread, and the fault is told by the trap), ESPL_ERR_LIMIT (the clones need more
///         indices than are free before the playback; world untouched, commands intact),
///         ESPL_ERR_ARGUMENT.
ESPL_API ESPL_NODISCARD espl_status espl_play(espl_world *world, espl_commands *commands,
                                              espl_report *report);

/// Put commands in line for espl_sync(). Submitting twice, or after playing, is refused with
/// ESPL_ERR_ARGUMENT or ESPL_ERR_PLAYED.
ESPL_API ESPL_NODISCARD espl_status espl_commands_submit(espl_commands *commands);

/// Play every submitted commands object in order of submission.
///
/// @param report  NULL, or the sum of the accounts.
/// @return as espl_play(). On a refusal the object concerned and those behind it stay in line.
ESPL_API ESPL_NODISCARD espl_status espl_sync(espl_world *world, espl_report *report);

/// Return the entity that a pending handle became.
///
/// @param out  unchanged when refused.
/// @return ESPL_OK; ESPL_ERR_DEAD (refused at playback, destroyed in the same playback, or not
///         played yet); ESPL_ERR_FOREIGN (of other commands, or from before a reset);
///         ESPL_ERR_NULL_ENTITY; ESPL_ERR_ARGUMENT (not a pending handle).
ESPL_API ESPL_NODISCARD espl_status espl_commands_resolve(const espl_commands *commands,
                                                          espl_entity pending, espl_entity *out);

/// Return what became of one command after playback: its status; ESPL_ERR_ARGUMENT where there is
/// no such command or it was not played yet.
ESPL_API espl_status espl_commands_result(const espl_commands *commands, uint32_t lane,
                                          uint32_t index);

#ifdef __cplusplus
}
#endif

#endif
