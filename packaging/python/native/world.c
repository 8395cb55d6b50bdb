// SPDX-License-Identifier: MIT
// Worlds and what they own, messages, and the calls on whole worlds.
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- Messages ---

// The last message of a thread, for the exception that follows.
static _Thread_local char message[1024];

const char *native_take_message(void)
{
    static _Thread_local char taken[sizeof message];

    memcpy(taken, message, sizeof taken);
    message[0] = 0;
    return taken;
}

// `user` is the lowest level that is printed, as a number.
static void log_message(void *user, espl_log_level level, const char *text)
{
    snprintf(message, sizeof message, "%s", text);
    if ((intptr_t)level >= (intptr_t)user) {
        espl_log_stderr(NULL, level, text);
    }
}

// A fault must not end the interpreter: the call that found it answers with an error.
static void trap_message(void *user, const char *file, int line, const char *sentence)
{
    (void)user;
    snprintf(message, sizeof message, "%s:%d: %s", file, line, sentence);
}

// --- What a world owns ---

static void release_later(native_world *w, native_owned *released)
{
    native_owned *first = atomic_load(&w->released);

    do {
        released->next_released = first;
    } while (!atomic_compare_exchange_weak(&w->released, &first, released));
}

static void free_released(native_world *w)
{
    native_owned *each = atomic_exchange(&w->released, NULL);

    while (each != NULL) {
        native_owned *const next = each->next_released;

        if (!each->end(each)) {
            release_later(w, each);
            each = next;
            continue;
        }
        *(each->previous != NULL ? &each->previous->next : &w->owned) = each->next;
        if (each->next != NULL) {
            each->next->previous = each->previous;
        }
        free(each);
        each = next;
    }
}

espl_world *native_enter(native_world *w)
{
    if (atomic_load_explicit(&w->released, memory_order_relaxed) != NULL) {
        free_released(w);
    }
    return w->world;
}

void native_own(native_world *w, native_owned *added, bool (*end)(native_owned *owned))
{
    *added = (native_owned){.next = w->owned, .w = w, .end = end};
    if (added->next != NULL) {
        added->next->previous = added;
    }
    w->owned = added;
    atomic_fetch_add(&w->users, 1);
}

void native_disown(native_owned *released)
{
    native_world *const w = released->w;

    release_later(w, released);
    native_world_release(w);
}

int native_world_create(native_world **out, const native_options *options)
{
    native_world *const w = calloc(1, sizeof *w);
    native_heap *const heap = native_heap_create(options->huge_pages != 0);
    espl_status status = ESPL_ERR_NO_MEMORY;

    if (w != NULL && heap != NULL) {
        const espl_world_def def = {
            .allocator = native_heap_allocator(heap),
            .hooks = {.user = (void *)(intptr_t)options->log_level,
                      .log = log_message,
                      .trap = trap_message},
            .tag = options->tag,
            .kernels = options->kernels,
            .layout_budget = options->layout_budget,
            .cell_size = options->cell_size,
        };
        status = espl_world_create(&def, &w->world);
    }
    if (status != ESPL_OK) {
        if (heap != NULL) {
            native_heap_close(heap);
        }
        free(w);
        return status;
    }
    w->heap = heap;
    atomic_init(&w->users, 1);
    *out = w;
    return ESPL_OK;
}

void native_world_close(native_world *w)
{
    // Queries end in the first pass, and what waits for them in the second one.
    for (int pass = 0; pass < 2; ++pass) {
        for (native_owned *each = w->owned; each != NULL; each = each->next) {
            (void)each->end(each);
        }
    }
    free_released(w);
    espl_world_destroy(w->world);
    w->world = NULL;
}

void native_world_release(native_world *w)
{
    if (atomic_fetch_sub(&w->users, 1) != 1) {
        return;
    }
    native_world_close(w);
    native_heap_close(w->heap);
    free(w);
}

// --- Whole worlds ---

espl_entity native_from(int64_t handle)
{
    espl_entity entity;

    _Static_assert(sizeof entity == sizeof handle, "a handle is 64 bits");
    memcpy(&entity, &handle, sizeof entity);
    return entity;
}

int64_t native_to(espl_entity entity)
{
    int64_t handle = 0;

    memcpy(&handle, &entity, sizeof handle);
    return handle;
}

const char *native_kernels(const native_world *w)
{
    return espl_world_kernels(native_peek(w));
}

int native_clear(native_world *w)
{
    return espl_world_clear(native_enter(w));
}

int native_compact(native_world *w)
{
    return espl_compact(native_enter(w));
}

int native_hash(const native_world *w, int kind, uint64_t *out)
{
    return espl_hash(native_peek(w), (espl_hash_kind)kind, out);
}

const char *native_validate(const native_world *w, int64_t *entity, size_t *detail)
{
    espl_validation report = {0};

    (void)espl_validate(native_peek(w), &report);
    *entity = native_to(report.entity);
    *detail = report.detail;
    return report.rule;
}

void native_stats(const native_world *w, espl_world_stats *out)
{
    espl_stats(native_peek(w), out);
}

int native_reserve(native_world *w, size_t entities, const espl_component *components,
                   size_t component_count, size_t rows, size_t writes, int64_t side_of,
                   size_t watch_entities)
{
    const espl_reserve_def def = {.entities = entities,
                                  .components = components,
                                  .component_count = component_count,
                                  .rows = rows,
                                  .writes = writes,
                                  .side_of = native_from(side_of),
                                  .watch_entities = watch_entities};

    return espl_reserve(native_enter(w), &def);
}

// --- Names ---

int native_set_name(native_world *w, int64_t entity, const char *name)
{
    return espl_set_name(native_enter(w), native_from(entity), name);
}

const char *native_name(const native_world *w, int64_t entity)
{
    return espl_get_name(native_peek(w), native_from(entity));
}

int native_find(const native_world *w, int64_t top, const char *path, int64_t *out)
{
    espl_entity found = {0, 0};
    const espl_status status = espl_find_descendant(native_peek(w), native_from(top), path, &found);

    *out = native_to(found);
    return status;
}

size_t native_path(const native_world *w, int64_t entity, char *buffer, size_t size)
{
    return espl_get_path(native_peek(w), native_from(entity), buffer, size);
}

size_t native_dump(const native_world *w, int64_t entity, char *buffer, size_t size)
{
    return espl_dump(native_peek(w), native_from(entity), buffer, size);
}
