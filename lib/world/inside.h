// SPDX-License-Identifier: MIT
// What a world is made of, and the checks that every public call makes.
#ifndef ESPALIER_LIB_WORLD_INSIDE_H
#define ESPALIER_LIB_WORLD_INSIDE_H

#include "lib/commands/hold.h"
#include "lib/commands/playback.h"
#include "lib/store/message.h"

#include <espalier/espalier.h>

#include <stdatomic.h>

/// Default of espl_world_def.layout_budget: a layout of so many nodes takes about a millisecond.
enum { ESPL__LAYOUT_BUDGET = 65536 };

/// A block that grows and is kept.
typedef struct espl__scratch {
    void *block;
    size_t size; // bytes
} espl__scratch;

/// Worlds recomputed, for which it is worth while to hand a job out: a few microseconds. Of 500 roots
/// with 20 nodes each, two wakeful workers took 1.6 times less than one with jobs a sixteenth as
/// large, 1.8 with these.
enum { ESPL__JOB_COST = 512 };
/// Worlds to recompute for which other workers are woken: waking them takes as long as some 100
/// microseconds of work.
enum { ESPL__WAKE_COST = 65536 };

/// The tape of a world, and what of it is not with the user yet.
typedef struct espl__tape {
    espl_tape sink;
    bool is_open; // a record waits for what its call answers
    size_t used;
    unsigned char bytes[240];
} espl__tape;

/// An iteration under way, for messages: threads begin and end theirs side by side.
typedef struct espl__iteration {
    _Atomic uint32_t order; // counts up with each that is noted; 0: this entry is free
    _Atomic uint32_t kind;  // espl__iteration_kind
    _Atomic(const char *) site;
    _Atomic(const void *) object;
    _Atomic uint32_t index, generation; // of the top
} espl__iteration;

enum { ESPL__ITERATIONS_NOTED = 8 };

struct espl_world {
    espl__heap heap;  // owns this struct too
    espl_hooks hooks; // pass what they are told on to the given ones, one thread at a time
    espl_hooks given_hooks;
    espl_log_level least_level;        // messages of lower levels are left out
    _Atomic(const void *) hook_holder; // the thread that is inside a hook, by an address of its own
    espl__holder holder;               // the thread that is inside a changing call
    espl_executor executor;
    espl__store store;
    espl__forest forest;
    espl__playback playback;
    espl__line line; // for espl_sync()
    _Atomic uint32_t commands_alive;
    espl_command_buffer *own;   // one lane, in which makes.c records; NULL until it is needed
    _Atomic uint32_t own_alive; // 1 while there is `own`, which commands_alive does not count
    _Atomic uint32_t iterations; // of queries and subtrees, and of callbacks, under way
    espl__iteration noted[ESPL__ITERATIONS_NOTED]; // empty in unchecked builds
    _Atomic uint32_t noted_order;                  // of the last one
    bool is_playing;
    espl__scratch write_scratch, side_scratch; // of batched writes
    uint32_t job_cost; // of a job of parallel writes at least: ESPL__JOB_COST, but for tests
    uint32_t wake_cost; // of a batch of writes for several workers: ESPL__WAKE_COST, but for tests
    espl__scratch deal_scratch, mark_scratch; // of parallel writes
    uint32_t marks_used;                      // numbers that marks may have
    size_t layout_budget;                     // nodes laid out by one call, to pay layout debt
    _Atomic(const struct espl__parallel *) parallel; // the one under way, or NULL
    espl__tape tape;
};

/// Tell whether a parallel write is under way. Any thread.
static inline bool espl__is_parallel(const espl_world *world)
{
    return atomic_load_explicit(&world->parallel, memory_order_relaxed) != NULL;
}

/// Hooks of a world; NULL where there is none.
static inline const espl_hooks *espl__hooks_of(const espl_world *world)
{
    return world != NULL ? &world->hooks : NULL;
}

/// Tell whether warnings of a world are logged.
static inline bool espl__is_logged(const espl_world *world)
{
    return world->hooks.log != NULL && world->least_level <= ESPL_LOG_WARNING;
}

/// The holder of a world; NULL where there is no world.
static inline espl__holder *espl__holder_of(espl_world *world)
{
    return world != NULL ? &world->holder : NULL;
}

/// Enter a call that changes a world: see ESPL__HOLD_OR_RETURN().
#define ESPL__CHANGE_OR_RETURN(world, call) \
    ESPL__HOLD_OR_RETURN(espl__holder_of(world), (call), ESPL_ERR_BUSY)

// --- Refusals (refuse.c) ---
//
// Each tells the log hook why a call was refused, and returns the status; a status that is no
// refusal passes silently. `call` is the name of the public function. `why` says what is wrong with
// an argument, or is NULL: it ends the line of ESPL_ERR_ARGUMENT and ESPL_ERR_NOT_FINITE. Other
// statuses say themselves what to do, and for ESPL_ERR_BUSY the line says what keeps the world
// busy.

/// Refuse a call that is about no entity.
espl_status espl__refuse_call(const espl_world *world, const char *call, espl_status status,
                              const char *why);
/// Refuse a call that is about some entities. The null ones behind the first are left out, and the
/// one that the status is about comes first.
espl_status espl__refuse_named(const espl_world *world, const char *call,
                               const espl__mention *named, size_t count, espl_status status,
                               const char *why);

/// The same of one entity.
static inline espl_status espl__refuse_why(const espl_world *world, const char *call,
                                           espl_entity entity, espl_status status, const char *why)
{
    return status >= 0 ? status
                       : espl__refuse_named(world, call, &(espl__mention){"entity", entity}, 1,
                                            status, why);
}

/// The same. Each read and write passes here, nearly always with nothing to tell.
static inline espl_status espl__refuse(const espl_world *world, const char *call,
                                       espl_entity entity, espl_status status)
{
    return espl__refuse_why(world, call, entity, status, NULL);
}

/// Begin the line of a refusal that has parts of its own. @return false: there is nothing to do.
bool espl__refusal_begin(espl__message *message, const espl_world *world, const char *call,
                         const char *site, espl_status status);
/// Add some entities, the one that the status is about first. The other null ones are left out.
void espl__refusal_mention(espl__message *message, const espl_world *world,
                           const espl__mention *named, size_t count, espl_status status);
/// Send it.
void espl__refusal_send(espl__message *message, const espl_world *world, espl_status status,
                        const char *why);

/// Tell whether the required pointer of a call without a status is there, and the log where it is
/// not.
/// @param name  of the parameter.
bool espl__is_given(const espl_world *world, const char *call, const void *pointer,
                    const char *name);

/// Remark on a whole transform whose scale or stretch is 0: see espl__write_blank().
/// @param site    of the call, or NULL.
/// @param entity  null: none is named.
/// @param value   of the kind.
void espl__remark_zero(const espl_world *world, const char *call, const char *site,
                       espl_entity entity, espl_write_kind kind, const void *value);

/// What iterates over a world, so that structural calls are refused.
typedef enum espl__iteration_kind {
    ESPL__ITERATES_QUERY,
    ESPL__ITERATES_SUBTREE,
    ESPL__ITERATES_CALLBACK,
} espl__iteration_kind;

/// Begin an iteration. Checked builds note it for messages.
/// @param site    where it began, or NULL; lives until it ends.
/// @param object  the query or subtree; never followed, because a forgotten one may be gone.
/// @param top     of a subtree.
/// @return number for espl__iteration_end().
uint32_t espl__iteration_begin(espl_world *world, espl__iteration_kind kind, const char *site,
                               const void *object, espl_entity top);
void espl__iteration_end(espl_world *world, uint32_t number);

/// Let a world's hooks be called by one thread at a time, and its log for messages of a level at
/// least (hooks.c).
void espl__hooks_guard(espl_world *world, const espl_hooks *given, espl_log_level least);

/// Tell the log hook and the trap that a job touched a hierarchy that is not its own (tokens.c).
/// Checked builds only. @param part  goes into the line too; or NULL. @return ESPL_ERR_NOT_OWNER.
espl_status espl__refuse_trespass(const espl_world *world, const char *call,
                                  const espl__mention *named, size_t count, const char *part);

/// Tell whether the calling thread may read a slot while a parallel write is under way (tokens.c):
/// its hierarchy was dealt to the job that the thread is in, or to nobody, or the thread is in none.
/// Checked builds only.
bool espl__may_read(const espl_world *world, uint32_t slot);

/// ESPL_ERR_BUSY during iteration or playback.
static inline espl_status espl__check_structural(const espl_world *world)
{
    if (world == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    return world->iterations != 0 || world->is_playing ? ESPL_ERR_BUSY : ESPL_OK;
}

/// ESPL_OK, or why a handle names no living entity; ESPL_ERR_PENDING for a pending one.
espl_status espl__check_living(const espl_world *world, espl_entity entity);

/// Find the slot of a living entity with a transform of its own; false where there is none, whatever
/// world and handle are. What nearly every read and write begins with: a read at random waits for
/// memory, and waits for more entities at a time the fewer instructions each takes. The handle by
/// address, for the reason of espl__is_alive().
ESPL__INLINE bool espl__has_placed(const espl_world *world, const espl_entity *entity,
                                   uint32_t *slot)
{
    if (world == NULL || !espl__is_alive(&world->store, entity->index, entity->generation)) {
        return false;
    }
    *slot = world->store.records[entity->index].slot;
    return !espl__slot_is(&world->forest, *slot, ESPL__SLOT_BARE);
}

/// ESPL_OK and the slot of a living entity, or why there is none.
static inline espl_status espl__find_slot(const espl_world *world, espl_entity entity,
                                          uint32_t *slot)
{
    if (world == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    if (!espl__entity_is_alive(&world->store, entity)) {
        return espl__check_living(world, entity);
    }
    *slot = world->store.records[entity.index].slot;
    return ESPL_OK;
}

/// The same, for an entity with a transform of its own.
static inline espl_status espl__find_placed(const espl_world *world, espl_entity entity,
                                            uint32_t *slot)
{
    const espl_status status = espl__find_slot(world, entity, slot);

    if (status == ESPL_OK && espl__slot_is(&world->forest, *slot, ESPL__SLOT_BARE)) {
        return ESPL_ERR_NO_TRANSFORM;
    }
    return status;
}

/// Slot of a living entity, or ESPL__NO_SLOT.
uint32_t espl__slot_or_none(const espl_world *world, espl_entity entity);

/// Handle of the entity at a slot; null for ESPL__NO_SLOT.
espl_entity espl__entity_of_slot(const espl_world *world, uint32_t slot);

/// Where an array of a block begins, or NULL where there is no block yet; `at` moves past it, to
/// SIZE_MAX where that is more than a size_t counts: nobody gives so much.
/// @param size       of an item, not 0.
/// @param alignment  a power of two.
static inline void *espl__carve(unsigned char *block, size_t *at, size_t count, size_t size,
                                size_t alignment)
{
    const size_t begin = (*at + alignment - 1) & ~(alignment - 1);

    // Counts are below 2^32: only a build for 32 bits meets this.
    if (begin < *at || count > (SIZE_MAX - begin) / size) { // GCOVR_EXCL_BR_LINE
        *at = SIZE_MAX;
        return NULL;
    }
    *at = begin + count * size;
    return block != NULL ? block + begin : NULL;
}

/// Make a block of scratch as large as asked for; what it held is lost where it grows (batch.c).
espl_status espl__scratch_grow(espl_world *world, espl__scratch *scratch, size_t size);

/// What espl_get_world_transform() and espl_get_local_transform() read of a slot (read.c). One without a transform of
/// its own shows its parent's stretch and context in both.
espl_transform espl__read_world(const espl_world *world, uint32_t slot);
espl_transform espl__read_local(const espl_world *world, uint32_t slot);

/// Settle the trees of the forest's list: divide those with several roots, set roles that are late,
/// and pay layout debt within the budget (structure.c). Structural. A tree for which there is no
/// memory stays in the list.
void espl__settle(espl_world *world);
/// Give the roots of one range their roles, and ranges of their own where several share it. Its header is
/// gone if no tree stayed there. @return false where there is no memory: nothing changed then.
bool espl__settle_roots(espl_world *world, uint32_t tree);

/// Give a block of scratch back (batch.c).
void espl__scratch_free(espl_world *world, espl__scratch *scratch);

/// See that a tree has side arrays, with room for inherit flags if asked for (slot_writes.c).
/// Structural where it takes memory. @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_BUSY.
espl_status espl__ensure_side(espl_world *world, uint32_t tree, bool keeps);

/// Make room for batches of `count` writes (batch.c). @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT.
espl_status espl__writes_reserve(espl_world *world, size_t count);

/// Begin a query, telling no one where it is refused; `world` and `query` are there.
espl_status espl__query_start(espl_world *world, const espl_query_def *def, espl_query *query);
/// Refuse a call for the definition of its query. @param site  of the call, or NULL.
espl_status espl__refuse_query(const espl_world *world, const char *call, const char *site,
                               const espl_query_def *def, espl_status status);

/// Begin destroys by espl__edit_destroy() that need no memory and cannot be taken back: entities go as
/// they are met, and what would need memory is settled at the end, or by a later call (structure.c).
void espl__destroy_begin(espl_world *world, espl__edit *edit);
/// End them. @return ESPL_OK, ESPL_OVERFLOW.
espl_status espl__destroy_end(espl_world *world, const espl__edit *edit);

/// Make a commands object of the world (play.c). @param alive  counts it.
espl_status espl__commands_of(espl_world *world, _Atomic uint32_t *alive, uint32_t lanes,
                              espl_command_buffer **out);
/// Free world->own (makes.c).
void espl__own_free(espl_world *world);
/// Apply the one command of a lane at once, as a playback does (structure.c). Pending handles are
/// refused.
/// @param lane  its `results` are not used.
/// @return ESPL_ERR_NO_MEMORY and other statuses of a playback; else the verdict on the command, or
///         ESPL_OVERFLOW.
espl_status espl__apply_lane(espl_world *world, espl__lane_view lane);
/// The same for a command without a payload that makes nothing.
espl_status espl__apply_one(espl_world *world, const espl__command *command);
/// Apply all commands of a lane at once, or none, where one is refused.
/// @param lane     its commands make nothing.
/// @param refused  out: index of the first one that is refused; unchanged where none is.
/// @return ESPL_OK, ESPL_LOSSY, ESPL_OVERFLOW; why one is refused; statuses of a playback.
espl_status espl__apply_strictly(espl_world *world, espl__lane_view lane, size_t *refused);

#endif
