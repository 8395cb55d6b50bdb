// SPDX-License-Identifier: MIT
// Putting calls on a world's tape (include/espalier/tape.h has the format). Each call that changes a
// world puts its record there before it begins, and its answer behind it. A record that cannot be
// written, since a pointer is missing or a number is past every limit, is left out: such a call is
// refused.
#ifndef ESPALIER_LIB_WORLD_TAPE_H
#define ESPALIER_LIB_WORLD_TAPE_H

#include "lib/world/inside.h"

/// Tell whether calls are put on a tape. This is all that a call does where there is none.
static inline bool espl__is_taped(const espl_world *world)
{
    return world != NULL && world->tape.sink.append != NULL;
}

/// Tell whether a call puts itself on the tape. While jobs run, what calls back is refused and leaves
/// the tape alone, as it may come from any thread.
static inline bool espl__may_tape(const espl_world *world)
{
    return espl__is_taped(world) && !world->is_playing;
}

void espl__tape_head(espl_world *world);
/// Hand over what is gathered: at the end of each record, so that it is there when its call begins.
void espl__tape_flush(espl_world *world);
/// End the record that was begun, if one was, with what the call answers. @return the status.
espl_status espl__tape_close(espl_world *world, espl_status status);
static inline espl_status espl__tape_end(espl_world *world, espl_status status)
{
    return espl__may_tape(world) ? espl__tape_close(world, status) : status;
}
/// The same of a write through a writer, in a job.
static inline espl_status espl__tape_written(espl_world *world, espl_status status)
{
    return espl__is_taped(world) ? espl__tape_close(world, status) : status;
}

// Records, named for their calls. Only where espl__is_taped().

void espl__tape_plain(espl_world *world, espl_tape_op op);
void espl__tape_register(espl_world *world, const espl_component_def *def);
/// Create, and reserve rows.
void espl__tape_set_of(espl_world *world, espl_tape_op op, const espl_component *components,
                       size_t component_count, size_t count);
/// Of entities that are there.
void espl__tape_change(espl_world *world, const espl_entity *entities, size_t count,
                       const espl_change_def *def);
void espl__tape_change_query(espl_world *world, const espl_query_def *query,
                             const espl_change_def *def);
/// A value that the world takes: it was checked.
void espl__tape_set(espl_world *world, espl_entity entity, espl_component component,
                    const void *data, size_t size);
/// A name; one that is too long is left out.
void espl__tape_name(espl_world *world, espl_entity entity, const char *name, size_t length);
void espl__tape_attach(espl_world *world, espl_entity child, espl_entity parent,
                       const espl_attach_options *o);
/// @param children, parents  [count]
void espl__tape_attach_many(espl_world *world, const espl_entity *children,
                            const espl_entity *parents, size_t count, const espl_attach_options *o);
void espl__tape_destroy_many(espl_world *world, const espl_entity *entities, size_t count,
                             espl_extent extent);
/// What needs nothing but one or two entities.
void espl__tape_entity(espl_world *world, espl_tape_op op, espl_entity entity);
void espl__tape_pair(espl_world *world, espl_tape_op op, espl_entity entity, espl_entity other);
/// An entity and a word: an extent, what stays, flags.
void espl__tape_word(espl_world *world, espl_tape_op op, espl_entity entity, uint32_t word);
/// An entity, or null for no entity at all, and a count.
void espl__tape_count(espl_world *world, espl_tape_op op, const espl_entity *entity, size_t count);
void espl__tape_reserve(espl_world *world, const espl_reserve_def *def);
void espl__tape_write(espl_world *world, espl_entity entity, espl_write_kind kind,
                      const void *value);
void espl__tape_look_at(espl_world *world, espl_entity entity, const float *target, const float *up,
                        espl_axis forward);
void espl__tape_rotate_about(espl_world *world, espl_entity entity, const float *pivot,
                             const float *by);
/// Begin a batch of so many writes, each of which follows by espl__tape_entry(); then
/// espl__tape_flush().
void espl__tape_batch(espl_world *world, size_t count);
void espl__tape_entry(espl_world *world, espl_entity entity, espl_write_kind kind,
                      const void *value);
void espl__tape_play(espl_world *world, const espl_command_buffer *commands);
/// The one command of a lane, which is applied at once.
void espl__tape_make(espl_world *world, const espl__lane *lane);
/// The columns of the chunk that a query shows which were written since it shows it, whole records.
void espl__tape_columns(const espl_query *query);
/// The columns that a parallel write named, of the rows at hand.
void espl__tape_rows(const espl_query *rows);

#endif
