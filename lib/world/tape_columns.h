// SPDX-License-Identifier: MIT
// Columns on the tape: users write them through pointers, without a call.
#ifndef ESPALIER_LIB_WORLD_TAPE_COLUMNS_H
#define ESPALIER_LIB_WORLD_TAPE_COLUMNS_H

#include "lib/world/world_internal.h"

/// Record the columns of a query's chunk that were written since the query moved to it, each as a
/// whole record. Precondition: the world has a tape.
void espl__tape_columns(const espl_query *query);
/// Record the columns that a parallel write named, for the rows that its function was called with.
/// Precondition: the world has a tape.
void espl__tape_rows(const espl_query *rows);

#endif
