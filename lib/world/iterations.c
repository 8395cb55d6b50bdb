// SPDX-License-Identifier: MIT
// The iterations under way in a world: queries, subtrees and functions of custom commands. While
// there is one, structural calls are refused.
//
// An iteration takes an entry of the world, whose turn it keeps. So a copy of a query that goes on
// after another copy has ended is found, and ends nothing: the turn of the entry is another one by
// then. Iterations past the last entry are counted only; of these an end too many is found when
// none is left. Threads begin and end iterations of reads side by side, so that everything here is
// atomic.
//
// No counter that wraps does harm. A turn that wraps needs 2^31 iterations in one entry until the
// turn of a copy that ended comes again; orders are compared by their difference; counts that have
// reached their end stay there, because the iterations that they count were forgotten by a program
// that keeps the world busy for ever.
#include "lib/world/iterations.h"

// --- Counts ---

static void count_begin(_Atomic uint32_t *count)
{
    uint32_t now = atomic_load_explicit(count, memory_order_relaxed);

    while (now != UINT32_MAX &&
           !atomic_compare_exchange_weak_explicit(count, &now, now + 1, memory_order_acq_rel,
                                                  memory_order_relaxed)) {
    }
}

// @return false: the count was 0.
static bool count_end(_Atomic uint32_t *count)
{
    uint32_t now = atomic_load_explicit(count, memory_order_relaxed);

    while (now != 0 && now != UINT32_MAX &&
           !atomic_compare_exchange_weak_explicit(count, &now, now - 1, memory_order_acq_rel,
                                                  memory_order_relaxed)) {
    }
    return now != 0;
}

// --- Entries ---

// Take a free entry, by a compare and exchange. @return number 0: there is none.
static espl__iteration_id take_entry(espl_world *world)
{
    for (uint32_t i = 0; i < ESPL__ITERATIONS_NOTED; ++i) {
        _Atomic uint32_t *const turn = &world->noted[i].turn;
        uint32_t now = atomic_load_explicit(turn, memory_order_relaxed);

        if (now % 2 == 0 && atomic_compare_exchange_strong_explicit(
                                turn, &now, now + 1, memory_order_acq_rel, memory_order_relaxed)) {
            return (espl__iteration_id){i + 1, now + 1};
        }
    }
    return (espl__iteration_id){0, 0};
}

// Each field by itself, because the fields of an entry are read for messages alone.
static void note(espl_world *world, espl__iteration *noted, espl__iteration_kind kind,
                 const char *site, const void *object, espl_entity top)
{
    const uint32_t order = atomic_fetch_add_explicit(&world->noted_order, 1, memory_order_relaxed);

    atomic_store_explicit(&noted->order, order, memory_order_relaxed);
    atomic_store_explicit(&noted->kind, kind, memory_order_relaxed);
    atomic_store_explicit(&noted->site, site, memory_order_relaxed);
    atomic_store_explicit(&noted->object, object, memory_order_relaxed);
    atomic_store_explicit(&noted->index, top.index, memory_order_relaxed);
    atomic_store_explicit(&noted->generation, top.generation, memory_order_relaxed);
}

espl__iteration_id espl__iteration_begin(espl_world *world, espl__iteration_kind kind,
                                         const char *site, const void *object, espl_entity top)
{
    const espl__iteration_id id = take_entry(world);

    count_begin(&world->iterations);
    if (id.number == 0) {
        count_begin(&world->unnoted);
    } else {
        note(world, &world->noted[id.number - 1], kind, site, object, top);
    }
    return id;
}

// Free the entry of an iteration. @return false: the entry is free, or has another iteration.
static bool free_entry(espl_world *world, espl__iteration_id id)
{
    uint32_t now = id.turn;

    ESPL_CHECK(id.number <= ESPL__ITERATIONS_NOTED && now % 2 != 0);
    return atomic_compare_exchange_strong_explicit(&world->noted[id.number - 1].turn, &now, now + 1,
                                                   memory_order_acq_rel, memory_order_relaxed);
}

bool espl__iteration_end(espl_world *world, espl__iteration_id id)
{
    const bool has_ended = id.number == 0 ? count_end(&world->unnoted) : free_entry(world, id);

    if (has_ended && !count_end(&world->iterations)) {
        ESPL_CHECK(world->iterations != 0);
    }
    return has_ended;
}

// --- Messages ---

void espl__trap_ended(const espl_world *world, const char *call, const char *what)
{
    espl__message m;

    (void)espl__message_begin(&m, &world->hooks, call, NULL);
    espl__message_trap_always(&m, __FILE__, __LINE__,
                              "The iteration has ended, by this %s or by a copy of it; begin "
                              "another one, and end each once.",
                              what);
}

const espl__iteration *espl__last_iteration(const espl_world *world)
{
    const espl__iteration *last = NULL;

    for (uint32_t i = 0; i < ESPL__ITERATIONS_NOTED; ++i) {
        const espl__iteration *const at = &world->noted[i];

        // Orders wrap: the later one is less than half of all numbers ahead.
        if (at->turn % 2 != 0 && (last == NULL || at->order - last->order <= UINT32_MAX / 2)) {
            last = at;
        }
    }
    return last;
}

// The message for a query. Its address helps where it has no site.
static void send_query(espl__message *m, const espl__iteration *open)
{
    static const char *const advice =
        "let espl_query_next() return false or call espl_query_end() first, or record a command";

    if (open->site != NULL) {
        espl__message_send(m, ESPL_LOG_WARNING, "The query that began at %s is open; %s.",
                           open->site, advice);
    } else {
        espl__message_send(m, ESPL_LOG_WARNING,
                           "The query at %p is open; %s. Set espl_query_def.site to ESPL_SITE to "
                           "learn where a query began.",
                           open->object, advice);
    }
}

void espl__message_iteration(espl__message *m, const espl__iteration *open)
{
    if (open->kind == ESPL__ITERATES_QUERY) {
        send_query(m, open);
    } else if (open->kind == ESPL__ITERATES_SUBTREE) {
        espl__message_send(
            m, ESPL_LOG_WARNING,
            "The espl_subtree at %p, of entity %lu.%lu and all below it, is open; let "
            "espl_subtree_next() return false or call espl_subtree_end() first, or "
            "record a command.",
            open->object, (unsigned long)open->index, (unsigned long)open->generation);
    } else {
        espl__message_send(m, ESPL_LOG_WARNING,
                           "The function of a custom command is being called; record a command "
                           "instead, or wait until it has returned.");
    }
}
