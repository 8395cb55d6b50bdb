// SPDX-License-Identifier: MIT
// The iterations under way in a world: see iterations.c.
#ifndef ESPALIER_LIB_WORLD_ITERATIONS_H
#define ESPALIER_LIB_WORLD_ITERATIONS_H

#include "lib/store/message.h"
#include "lib/world/world_internal.h"

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
        return id.number == 0 && atomic_load_explicit(&world->unnoted, memory_order_relaxed) != 0;
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

#endif
