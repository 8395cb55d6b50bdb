// SPDX-License-Identifier: MIT
// Which thread may touch which hierarchy while a parallel write is under way: see ownership.c. Checked
// builds only.
#ifndef ESPALIER_LIB_WORLD_OWNERSHIP_H
#define ESPALIER_LIB_WORLD_OWNERSHIP_H

#include "lib/store/message.h"
#include "lib/world/writers.h"

/// Note that the calling thread enters the job of a writer. Jobs nest: a job may begin a parallel
/// write of another world.
void espl__writer_enter(espl_writer *writer);
/// Note that the calling thread leaves it. Precondition: it is the innermost.
void espl__writer_leave(const espl_writer *writer);
/// Tell whether the calling thread is inside the job of a writer. The writer may be one that is
/// gone.
bool espl__writer_is_of_thread(const espl_writer *writer);
/// Tell whether the tree of a slot is in the writer's job, and if so note the writer's site with
/// the tree.
bool espl__writer_owns(const espl_writer *writer, uint32_t slot);

/// Log and trap that a job touched a hierarchy of another job.
/// @param part  is added to the message; or NULL.
/// @return ESPL_ERR_NOT_OWNER.
espl_status espl__refuse_trespass(const espl_world *world, const char *call,
                                  const espl__mention *named, size_t count, const char *part);

/// Tell whether the calling thread may read a slot while a parallel write is under way: the
/// thread is inside no job, or the slot's hierarchy is in its job or in none.
bool espl__may_read(const espl_world *world, uint32_t slot);

#endif
