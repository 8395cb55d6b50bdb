// SPDX-License-Identifier: MIT
// The struct espl_world, and what the files of lib/world share: checks of handles, refusals,
// scratch memory, the playback of single commands.
//
// A public function of lib/world has four steps: enter by ESPL__CHANGE_OR_RETURN() if it changes
// the world; check its arguments; do the work by a static function, which records the call on the
// tape (lib/world/tape.h); log the refusal if there is one. A refused call has changed nothing. One
// thread at a time changes a world; `is_playing` is true while jobs run or commands are applied,
// and then every change is refused but those of writers.
#ifndef ESPALIER_LIB_WORLD_WORLD_INTERNAL_H
#define ESPALIER_LIB_WORLD_WORLD_INTERNAL_H

#include "lib/base/sized.h"
#include "lib/commands/hold.h"
#include "lib/commands/playback.h"
#include "lib/store/message.h"

#include <espalier/espalier.h>

#include <stdatomic.h>

/// Default of espl_world_def.layout_budget: laying out this many nodes takes about a millisecond.
enum { ESPL__LAYOUT_BUDGET = 65536 };

/// Scratch memory of the world. It grows, and is kept until espl_compact() or the end of the world.
typedef struct espl__scratch {
    void *block;
    size_t size; // bytes
} espl__scratch;

/// World transforms recomputed that are worth a job: a few microseconds. Of 500 roots with 20 nodes
/// each, two workers that were awake took 1.6 times less time than one with jobs a sixteenth as
/// large, and 1.8 times less with these.
enum { ESPL__JOB_COST = 512 };
/// World transforms to recompute for which sleeping workers are woken: waking them costs as much as
/// 100 microseconds of work.
enum { ESPL__WAKE_COST = 65536 };

/// The tape of a world (lib/world/tape.c).
typedef struct espl__tape {
    espl_tape sink;           // of the user; without `append` there is no tape
    bool is_open;             // a record has begun, and waits for the status of its call
    size_t used;              // of `bytes`
    unsigned char bytes[240]; // what the sink does not have yet
} espl__tape;

/// An entry for an iteration under way (iterations.c). Atomic, because threads begin and end
/// iterations side by side.
typedef struct espl__iteration {
    _Atomic uint32_t turn;  // begins and ends of iterations in this entry: odd while there is one
    _Atomic uint32_t order; // world->noted_order when it began
    _Atomic uint32_t kind;  // espl__iteration_kind
    _Atomic(const char *) site;
    _Atomic(const void *) object;
    _Atomic uint32_t index, generation; // of the top
} espl__iteration;

/// Iterations under way that have an entry; more are counted only.
enum { ESPL__ITERATIONS_NOTED = 32 };

/// Which iteration a query or a subtree belongs to.
typedef struct espl__iteration_id {
    uint32_t number; // of its entry, from 1; 0: it is counted only
    uint32_t turn;   // of the entry
} espl__iteration_id;

struct espl_world {
    espl__heap heap;  // owns this struct too
    espl_hooks hooks; // of the library: pass their arguments on to the user's (hooks.c)
    espl_hooks given_hooks;            // of the user
    espl_log_level least_level;        // messages of lower levels are left out
    _Atomic(const void *) hook_holder; // the thread that is inside a hook, by an address of its own
    espl__holder holder;               // the thread that is inside a changing call
    espl_executor executor;
    espl__store store;
    espl__forest forest;
    espl__playback playback;
    espl__submit_queue line; // for espl_sync()
    _Atomic uint32_t commands_alive;
    espl_command_buffer *own;    // one lane, in which creation.c records; NULL until its first use
    _Atomic uint32_t own_alive;  // 1 while there is `own`, which commands_alive does not count
    _Atomic uint32_t iterations; // queries, subtrees and custom commands under way
    _Atomic uint32_t unnoted;    // those of them that have no entry
    espl__iteration noted[ESPL__ITERATIONS_NOTED];
    _Atomic uint32_t noted_order; // counts up with each that is noted, and wraps
    bool is_playing;                               // commands are applied, or jobs run
    espl__scratch write_scratch, side_scratch; // of batched writes
    uint32_t job_cost;  // least cost of a job: ESPL__JOB_COST, unless a test sets it
    uint32_t wake_cost; // least cost of a batch for several workers: ESPL__WAKE_COST, likewise
    espl__scratch partition_scratch, mark_scratch; // of parallel writes
    uint32_t marks_used;                           // highest number that a mark may have
    size_t layout_budget; // upper bound of nodes that espl__settle() lays out
    _Atomic(const struct espl__parallel *) parallel; // the one under way, or NULL
    espl__tape tape;
};

/// Tell whether a parallel write is under way. Any thread may call it.
static inline bool espl__is_parallel(const espl_world *world)
{
    return atomic_load_explicit(&world->parallel, memory_order_relaxed) != NULL;
}

/// Hooks of a world; NULL where there is no world.
static inline const espl_hooks *espl__hooks_of(const espl_world *world)
{
    return world != NULL ? &world->hooks : NULL;
}

/// Tell whether warnings of a world reach a log hook, so that it is worth looking for them.
static inline bool espl__is_logged(const espl_world *world)
{
    return world->hooks.log != NULL && world->least_level <= ESPL_LOG_WARNING;
}

/// Holder of a world, for ESPL__CHANGE_OR_RETURN(); NULL where there is no world.
static inline espl__holder *espl__holder_of(espl_world *world)
{
    return world != NULL ? &world->holder : NULL;
}

/// Enter a call that changes a world, until the function returns. Where another thread is inside
/// such a call, the function returns ESPL_ERR_BUSY: see ESPL__HOLD_OR_RETURN().
#define ESPL__CHANGE_OR_RETURN(world, call) \
    ESPL__HOLD_OR_RETURN(espl__holder_of(world), (call), ESPL_ERR_BUSY)

// --- Refusals (refusals.c) ---
//
// Each logs why a call is refused, and returns the status. A status that is no refusal is not logged.
// `call` is the name of the public function. `why` is a sentence that says what is wrong with an
// argument, or NULL; it is logged with ESPL_ERR_ARGUMENT, ESPL_ERR_NOT_FINITE and ESPL_ERR_UNSUPPORTED.
// Other statuses are logged with their own sentence, and ESPL_ERR_BUSY with what keeps the world busy.

/// Refuse a call that names no entity.
espl_status espl__refuse_call(const espl_world *world, const char *call, espl_status status,
                              const char *why);
/// Refuse a call whose struct asks for what only later versions have: see espl__sized_is_known().
static inline espl_status espl__refuse_later(const espl_world *world, const char *call)
{
    return espl__refuse_call(world, call, ESPL_ERR_UNSUPPORTED, ESPL__SIZED_FAULT);
}
/// Refuse a call that names entities. The one that the status is about comes first in the message;
/// null ones after the first are left out.
/// @param named  [count], at least 1.
espl_status espl__refuse_named(const espl_world *world, const char *call,
                               const espl__mention *named, size_t count, espl_status status,
                               const char *why);

/// Refuse a call that names one entity. A status that is no refusal returns at once.
static inline espl_status espl__refuse_why(const espl_world *world, const char *call,
                                           espl_entity entity, espl_status status, const char *why)
{
    return status >= 0 ? status
                       : espl__refuse_named(world, call, &(espl__mention){"entity", entity}, 1,
                                            status, why);
}

/// Begin the message of a refusal that has parts of its own.
/// @param site  of the call, or NULL.
/// @return false: there is no log hook, no world or no refusal, and the message must not be
///         used.
bool espl__refusal_begin(espl__message *message, const espl_world *world, const char *call,
                         const char *site, espl_status status);
/// The entry for which a call on an array is refused.
typedef struct espl__refused_at {
    size_t first; // its number
    size_t count; // of the array
    size_t *out;  // where the caller wants the number, or NULL
} espl__refused_at;

/// Refuse a call on an array of entities for one entry. Postcondition: `*at->out` is its number.
/// Preconditions: the status is a refusal, and the entry is in the array.
espl_status espl__refuse_at(const espl_world *world, const char *call, const espl__refused_at *at,
                            const espl__mention *named, size_t count, espl_status status);
/// Add entities to a message, in the order of espl__refuse_named().
void espl__refusal_mention(espl__message *message, const espl_world *world,
                           const espl__mention *named, size_t count, espl_status status);
/// Send the message. Precondition: espl__refusal_begin() returned true.
void espl__refusal_send(espl__message *message, const espl_world *world, espl_status status,
                        const char *why);

/// Tell whether a required pointer of a call without a status is there; log it where it is not.
/// @param name  of the parameter.
bool espl__is_given(const espl_world *world, const char *call, const void *pointer,
                    const char *name);

/// Log a remark on a whole transform whose scale or stretch is 0: see espl__write_blank(). Does
/// nothing for other values.
/// @param site  of the call, or NULL.
/// @param entity  null: the message names none.
/// @param value  of the kind.
void espl__remark_zero(const espl_world *world, const char *call, const char *site,
                       espl_entity entity, espl_write_kind kind, const void *value);

// --- Iterations (iterations.c) ---

/// What iterates over a world, so that structural calls are refused.
typedef enum espl__iteration_kind {
    ESPL__ITERATES_QUERY,
    ESPL__ITERATES_SUBTREE,
    ESPL__ITERATES_CALLBACK,
} espl__iteration_kind;

/// Begin an iteration. Postcondition: espl__check_structural() refuses until it ends.
/// @param site  where it began, or NULL; must live until it ends.
/// @param object  the query or subtree, for messages. Not followed, because one that was forgotten
///          may be gone.
/// @param top  of a subtree; null elsewhere.
espl__iteration_id espl__iteration_begin(espl_world *world, espl__iteration_kind kind,
                                         const char *site, const void *object, espl_entity top);
/// End an iteration. @return false: it has ended before, and nothing changes.
bool espl__iteration_end(espl_world *world, espl__iteration_id id);

/// Tell whether an iteration is under way. An iteration without an entry cannot be told from others
/// of its kind.
static inline bool espl__iteration_is_open(const espl_world *world, espl__iteration_id id)
{
    if (id.number - 1 >= ESPL__ITERATIONS_NOTED) {
        return id.number == 0 &&
               atomic_load_explicit(&world->unnoted, memory_order_relaxed) != 0;
    }
    return atomic_load_explicit(&world->noted[id.number - 1].turn, memory_order_relaxed) == id.turn;
}

/// Log and trap, in every build, that the program goes on with an iteration that has ended.
/// @param what  "query" or "espl_subtree".
void espl__trap_ended(const espl_world *world, const char *call, const char *what);

/// Return the iteration that began last of those with an entry, or NULL.
const espl__iteration *espl__last_iteration(const espl_world *world);
/// End a message with what says which iteration keeps the world busy, and how to end it.
void espl__message_iteration(espl__message *message, const espl__iteration *open);

/// Set the hooks of a world, so that one thread at a time is inside log and trap, and so that
/// messages below a level are dropped (hooks.c).
void espl__hooks_guard(espl_world *world, const espl_hooks *given, espl_log_level least);

/// Log and trap that a job touched a hierarchy of another job (ownership.c). Checked builds only.
/// @param part  is added to the message; or NULL.
/// @return ESPL_ERR_NOT_OWNER.
espl_status espl__refuse_trespass(const espl_world *world, const char *call,
                                  const espl__mention *named, size_t count, const char *part);

/// Tell whether the calling thread may read a slot while a parallel write is under way
/// (ownership.c): the thread is inside no job, or the slot's hierarchy is in its job or in none.
/// Checked builds only.
bool espl__may_read(const espl_world *world, uint32_t slot);

/// Why a structural call is refused, or ESPL_OK: ESPL_ERR_ARGUMENT without a world, ESPL_ERR_BUSY
/// during iterations and playbacks.
static inline espl_status espl__check_structural(const espl_world *world)
{
    if (world == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    return world->iterations != 0 || world->is_playing ? ESPL_ERR_BUSY : ESPL_OK;
}

/// Why a handle names no living entity, or ESPL_OK. A pending handle is ESPL_ERR_PENDING.
espl_status espl__check_living(const espl_world *world, espl_entity entity);

/// Find the slot of a living entity with a transform of its own; false where there is none,
/// whatever the world and the handle are. Nearly every read and write begins with it: a read at
/// random waits for memory, and more reads wait side by side the fewer instructions each takes. The
/// handle by address, for the reason of espl__is_alive().
ESPL__INLINE bool espl__has_placed(const espl_world *world, const espl_entity *entity,
                                   uint32_t *slot)
{
    if (world == NULL ||
        !espl__is_alive_and_placed(&world->store, entity->index, entity->generation)) {
        return false;
    }
    *slot = world->store.records[entity->index].slot;
    return true;
}

/// Tell whether an index names a living entity: a record is free or retired from ESPL__ROW_RETIRED on.
static inline bool espl__index_is_alive(const espl__store *store, uint32_t index)
{
    return store->records[index].row < ESPL__ROW_RETIRED;
}

/// Find the slot of a living entity. @return ESPL_OK, or why there is none; `*slot` is unchanged
/// then.
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

/// The same, for an entity with a transform of its own; ESPL_ERR_NO_TRANSFORM where it has none.
static inline espl_status espl__find_placed(const espl_world *world, espl_entity entity,
                                            uint32_t *slot)
{
    const espl_status status = espl__find_slot(world, entity, slot);

    if (status == ESPL_OK && espl__slot_is(&world->forest, *slot, ESPL__SLOT_BARE)) {
        return ESPL_ERR_NO_TRANSFORM;
    }
    return status;
}

/// Slot of a living entity; ESPL__NO_SLOT for any other handle, and without a world.
uint32_t espl__slot_or_none(const espl_world *world, espl_entity entity);

/// Handle of the entity at a slot; null for ESPL__NO_SLOT. Precondition: the slot is not a hole.
espl_entity espl__entity_of_slot(const espl_world *world, uint32_t slot);

/// Reserve an array in a block.
/// @param block  NULL: there is no block yet, and the size of one is measured.
/// @param at  in and out: bytes used; SIZE_MAX where a size_t cannot count them, which no
///          allocator grants.
/// @param size  of an item, not 0.
/// @param alignment  a power of two.
/// @return where the array begins; NULL without a block.
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
    ESPL_CHECK((alignment & (alignment - 1)) == 0 && size != 0);
    return block != NULL ? block + begin : NULL;
}

/// Make scratch memory at least that large (batch.c). Its contents are lost if it grows.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY: it is unchanged then.
espl_status espl__scratch_grow(espl_world *world, espl__scratch *scratch, size_t size);

/// What espl_get_world_transform() and espl_get_local_transform() read of a slot (read.c). An
/// entity without a transform of its own shows its parent's stretch and user data in both.
espl_transform espl__read_world(const espl_world *world, uint32_t slot);
espl_transform espl__read_local(const espl_world *world, uint32_t slot);

/// Settle the trees in the forest's list: divide those with several roots, give roots their roles,
/// and lay out trees whose debt is due, within the budget (structure.c). Structural. A tree for
/// which there is no memory stays in the list. @return whether a tree has changed.
bool espl__settle(espl_world *world);
/// Give the roots of one tree their roles, and trees of their own where several share it. Each is
/// laid out then. The header of the tree is free if no root stayed in it.
/// @return false: there is no memory, and nothing has changed.
bool espl__settle_in_order(espl_world *world, uint32_t tree);

/// Free scratch memory (batch.c). Does nothing where there is none.
void espl__scratch_free(espl_world *world, espl__scratch *scratch);

/// Give a tree side arrays, with room for inherit flags if `keeps` (slot_writes.c). Structural
/// where memory is taken. @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_BUSY.
espl_status espl__ensure_side(espl_world *world, uint32_t tree, bool keeps);

/// Take the scratch memory for batches of `count` writes (batch.c).
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT.
espl_status espl__writes_reserve(espl_world *world, size_t count);

/// Begin a query without a message where it is refused. Preconditions: `world` and `query` are not
/// NULL.
espl_status espl__query_start(espl_world *world, const espl_query_def *def, espl_query *query);
/// Show the next chunk of a query under way. @return false: there is none; the query has not ended.
bool espl__query_advance(espl_query *query);
/// Return the iteration of a query; of the rows of a parallel write, that of its query.
static inline espl__iteration_id espl__query_iteration(const espl_query *query)
{
    return (espl__iteration_id){query->state.noted, query->state.turn};
}
/// Tell whether the iteration of a query is under way. Precondition: the query has a world.
static inline bool espl__query_is_open(const espl_query *query)
{
    return espl__iteration_is_open(query->state.world, espl__query_iteration(query));
}
/// Store the numbers of components in the state of a query. @param out  [count]
void espl__query_list(uint16_t *out, const espl_component *components, size_t count);
/// Refuse a call because of the definition of its query. @param site  of the call, or NULL.
espl_status espl__refuse_query(const espl_world *world, const char *call, const char *site,
                               const espl_query_def *def, espl_status status);

/// Begin an edit for espl__edit_destroy() that needs no memory and has no undo log (destroy.c).
/// Entities are removed as they are met; what needs memory is left to espl__settle().
void espl__destroy_begin(espl_world *world, espl__edit *edit);
/// End it. @param remark  of its destroys: ESPL_OK, ESPL_LOSSY. @return the remark, ESPL_OVERFLOW.
espl_status espl__destroy_end(espl_world *world, const espl__edit *edit, espl_status remark);

/// Create a command buffer of the world (commands.c). @param alive  the count that includes it.
espl_status espl__commands_of(espl_world *world, _Atomic uint32_t *alive, uint32_t lanes,
                              espl_command_buffer **out);
/// Free world->own (creation.c).
void espl__own_free(espl_world *world);
/// Apply the one command of a lane, as a playback does (structure.c). Pending handles are refused.
/// @param lane  its `results` are not used.
/// @return ESPL_ERR_NO_MEMORY and other statuses of a playback; else the result of the
///         command, or ESPL_OVERFLOW.
espl_status espl__apply_lane(espl_world *world, espl__lane_view lane);
/// The same for a command without a payload that creates nothing.
espl_status espl__apply_one(espl_world *world, const espl__command *command);
/// Apply all commands of a lane, or none where one is refused.
/// @param lane  its commands create nothing.
/// @param refused  out: index of the first command that is refused; unchanged where none
///          is.
/// @return ESPL_OK, ESPL_LOSSY, ESPL_OVERFLOW; why one is refused; statuses of a playback.
espl_status espl__apply_strictly(espl_world *world, espl__lane_view lane, size_t *refused);

#endif
