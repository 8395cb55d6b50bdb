// SPDX-License-Identifier: MIT
// Queries inside the library.
#ifndef ESPALIER_LIB_WORLD_QUERY_H
#define ESPALIER_LIB_WORLD_QUERY_H

#include "lib/world/iterations.h"
#include "lib/world/world_internal.h"

/// Begin a query without a message where it is refused. Preconditions: `world` and `query` are not
/// NULL.
espl_status espl__query_start(espl_world *world, const espl_query_def *def, espl_query *query);
/// Set up a query by a definition, without an iteration, to be asked by espl__query_answers(). As
/// espl__query_start().
espl_status espl__query_fill(espl_world *world, const espl_query_def *def, espl_query *query);
/// Tell whether the entities of an archetype answer a query.
bool espl__query_answers(const espl_query *query, uint32_t archetype);
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

#endif
