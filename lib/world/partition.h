// SPDX-License-Identifier: MIT
// The partition of a query's rows into the jobs of a parallel write. All rows of one hierarchy are
// in one job. There are three ways, and which is taken depends on the rows and the definition
// alone, so that it does not depend on workers:
//
// - Where no row is a member, each row is a hierarchy of its own, and the rows are cut in the
//   order they have (partition.c).
// - Chunks that share a hierarchy are united to sets, and each set is in one job, as long as no
//   set is too large a part of all rows (partition_members.c). This reads the tree of each row once.
// - Otherwise, and where the definition wants parents first, hierarchies are numbered in the
//   order they are met, the numbers are cut into jobs, and the rows are sorted by job. There are
//   few jobs, so that rows which are neighbours mostly stay neighbours; sorted by hierarchy they
//   would not.
//
// Callers: parallel.c, and espl_reserve() through espl__partition_reserve().
#ifndef ESPALIER_LIB_WORLD_PARTITION_H
#define ESPALIER_LIB_WORLD_PARTITION_H

#include "lib/world/partition_rows.h"

/// Find the chunks that answer, and take the memory for everything else.
/// @param query  just begun; it moves on, and does not end.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT: nothing changed then.
espl_status espl__partition_begin(espl__partition *partition, espl_query *query);
/// Cut the rows into jobs. Cannot fail. Preconditions: espl__partition_begin(), and there are rows.
/// @param job_limit  at least 1.
/// Postcondition: begins[0 .. job_count] are the pieces of the jobs, and each row is in one piece.
void espl__partition_cut(espl__partition *partition, uint32_t job_limit);
/// Take the memory for that many rows ahead of time.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY.
espl_status espl__partition_reserve(espl_world *world, size_t rows);

#endif
