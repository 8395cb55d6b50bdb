// SPDX-License-Identifier: MIT
// The struct espl_world, and the begin of every call: which thread is inside, and what keeps the world
// busy.
//
// A public function of lib/world has four steps: enter by ESPL__CHANGE_OR_RETURN() if it changes
// the world; check its arguments; do the work by a static function, which records the call on the
// tape (lib/world/tape.h); log the refusal if there is one. A refused call has changed nothing. One
// thread at a time changes a world; `is_playing` is true while jobs run or commands are applied,
// and then every change is refused but those of writers.
#ifndef ESPALIER_LIB_WORLD_WORLD_INTERNAL_H
#define ESPALIER_LIB_WORLD_WORLD_INTERNAL_H

#include "lib/base/scratch.h"
#include "lib/commands/hold.h"
#include "lib/commands/submit_queue.h"
#include "lib/store/store.h"
#include "lib/tree/forest.h"

#include <espalier/espalier.h>

#include <stdatomic.h>

/// Planes of a world: those of the forest, and the index plane of the store.
enum { ESPL__PLANE_INDEX = ESPL__PLANE_COUNT, ESPL__PLANES };

/// Default of espl_world_def.layout_budget: laying out this many nodes takes about a millisecond.
enum { ESPL__LAYOUT_BUDGET = 65536 };

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
    struct espl__playback *playback; // in the block of the world: see espl_world_create()
    espl__submit_queue line; // for espl_sync()
    _Atomic uint32_t commands_alive;
    espl_command_buffer *own;    // one lane, in which creation.c records; NULL until its first use
    _Atomic uint32_t own_alive;  // 1 while there is `own`, which commands_alive does not count
    _Atomic uint32_t iterations; // queries, subtrees and custom commands under way
    _Atomic uint32_t unnoted;    // those of them that have no entry
    espl__iteration noted[ESPL__ITERATIONS_NOTED];
    _Atomic uint32_t noted_order; // counts up with each that is noted, and wraps
    bool is_playing; // commands are applied, or jobs run
    bool has_tape;   // next to it, because a write at once tests both: espl__is_restrained()
    // Scratch memory, kept until espl_compact() or the end of the world.
    espl__scratch write_scratch, side_scratch; // of batched writes
    uint32_t job_cost;  // least cost of a job: ESPL__JOB_COST, unless a test sets it
    uint32_t wake_cost; // least cost of a batch for several workers: ESPL__WAKE_COST, unless a test
    espl__scratch partition_scratch, mark_scratch; // of parallel writes
    uint32_t marks_used;                           // highest number that a mark may have
    size_t layout_budget; // upper bound of nodes that espl__settle() lays out
    _Atomic(const struct espl__parallel *) parallel; // the one under way, or NULL
    espl__tape tape;
    // Increases by espl__world_next_moment(). Planes have its low bits, and the plane of a change that
    // comes after a collect has a later moment than the collect.
    uint64_t moment;
    uint32_t plane_users[ESPL__PLANES]; // consumers that need each plane (moment.h)
    struct espl_watch *watches;         // the watches of the world, in a list
    uint32_t watch_count;
    size_t presented, blended;          // statistics of motion
    struct espl_history *history;       // or NULL
    struct espl__attachment *attachment; // renderables, or NULL
    uint64_t timeline;                  // how often an image was loaded, or the world went back to a frame
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

/// Tell whether a world has a tape.
static inline bool espl__is_taped(const espl_world *world)
{
    return world != NULL && world->has_tape;
}

/// Tell whether a world plays, or has a tape: one test for both.
static inline bool espl__is_restrained(const espl_world *world)
{
    uint16_t both;

    _Static_assert(offsetof(espl_world, has_tape) == offsetof(espl_world, is_playing) + 1 &&
                       sizeof(bool) == 1,
                   "one load has both");
    memcpy(&both, &world->is_playing, sizeof both);
    return both != 0;
}

/// Enter a call that changes a world, until the function returns. Where another thread is inside
/// such a call, the function returns ESPL_ERR_BUSY: see ESPL__HOLD_OR_RETURN().
#define ESPL__CHANGE_OR_RETURN(world, call) \
    ESPL__HOLD_OR_RETURN(espl__holder_of(world), (call), ESPL_ERR_BUSY)

/// Why a structural call is refused, or ESPL_OK: ESPL_ERR_ARGUMENT without a world, ESPL_ERR_BUSY
/// during iterations and playbacks.
static inline espl_status espl__check_structural(const espl_world *world)
{
    if (world == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    return world->iterations != 0 || world->is_playing ? ESPL_ERR_BUSY : ESPL_OK;
}

#endif
