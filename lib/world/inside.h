// SPDX-License-Identifier: MIT
// What a world is made of, and the checks that every public call makes.
#ifndef ESPALIER_LIB_WORLD_INSIDE_H
#define ESPALIER_LIB_WORLD_INSIDE_H

#include "lib/commands/playback.h"

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

struct espl_world {
    espl__heap heap;  // owns this struct too
    espl_hooks hooks; // pass what they are told on to the given ones, one thread at a time
    espl_hooks given_hooks;
    _Atomic(const void *) hook_holder; // the thread that is inside a hook, by an address of its own
    espl_executor executor;
    espl__store store;
    espl__forest forest;
    espl__playback playback;
    espl__line line; // for espl_sync()
    _Atomic uint32_t commands_alive;
    espl_command_buffer *own;   // one lane, in which makes.c records; NULL until it is needed
    _Atomic uint32_t own_alive; // 1 while there is `own`, which commands_alive does not count
    _Atomic uint32_t iterations; // of queries and subtrees, and of callbacks, under way
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

/// Who hears of a programmer's fault; nobody where there is no world.
static inline const espl_hooks *espl__hooks_of(const espl_world *world)
{
    return world != NULL ? &world->hooks : NULL;
}

/// Tell the log hook that a call was refused, and return the status. ESPL_OK passes silently. Of
/// several entities the null ones behind the first are left out.
espl_status espl__refuse_among(const espl_world *world, const char *operation,
                               const espl_entity *entities, size_t count, espl_status status);

/// The same of one entity. Each read and write passes here, nearly always with nothing to tell.
static inline espl_status espl__refuse(const espl_world *world, const char *call,
                                       espl_entity entity, espl_status status)
{
    return status >= 0 ? status : espl__refuse_among(world, call, &entity, 1, status);
}

/// Let a world's hooks be called by one thread at a time (hooks.c).
void espl__hooks_guard(espl_world *world, const espl_hooks *given);

/// Tell the log hook and the trap that a job touched a hierarchy that is not its own (tokens.c).
/// Checked builds only. @return ESPL_ERR_NOT_OWNER.
espl_status espl__refuse_trespass(const espl_world *world, const char *operation,
                                  const espl_entity *entities, size_t count);

/// Tell whether the calling thread may read a slot while a parallel write is under way (tokens.c):
/// its hierarchy was dealt to the job that the thread is in, or to nobody, or the thread is in none.
/// Checked builds only.
bool espl__may_read(const espl_world *world, uint32_t slot);

/// Append to a line of text, as printf; what does not fit is left out. @return the length of the
/// line.
size_t espl__tell(char *line, size_t size, size_t length, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/// Append a handle and, where it names a living entity that has one, its name.
size_t espl__tell_entity(char *line, size_t size, size_t length, const espl_world *world,
                         espl_entity entity);

/// ESPL_ERR_BUSY during iteration or playback.
espl_status espl__check_structural(const espl_world *world);

/// ESPL_OK, or why a handle names no living entity; a pending one is foreign to calls at once.
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
    if (world == NULL || !espl__entity_is_alive(&world->store, entity)) {
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

/// Begin a query, telling no one where it is refused; the pointers are checked.
espl_status espl__query_start(espl_world *world, const espl_query_def *def, espl_query *query);

/// Tell whether a component comes and goes by itself.
static inline bool espl__is_role(espl_component component)
{
    return component >= ESPL_SOLO && component <= ESPL_MEMBER;
}

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
/// Apply the one command of a lane at once, as a playback does (structure.c). Pending handles are foreign.
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
