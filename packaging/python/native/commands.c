// SPDX-License-Identifier: MIT
// Command buffers and their recorders.
#include "internal.h"

#include <stdlib.h>

struct native_buffer {
    native_owned owned;
    espl_command_buffer *commands; // NULL once closed
};

static void end_buffer(native_owned *owned)
{
    native_buffer *const b = (native_buffer *)owned;

    espl_command_buffer_destroy(b->commands);
    b->commands = NULL;
}

int native_buffer_create(native_world *w, uint32_t lanes, native_buffer **out)
{
    espl_world *const world = native_enter(w);
    native_buffer *const b = calloc(1, sizeof *b);
    const espl_status status =
        b != NULL ? espl_command_buffer_create(world, lanes, &b->commands) : ESPL_ERR_NO_MEMORY;

    if (status != ESPL_OK) {
        free(b);
        return status;
    }
    native_own(w, &b->owned, end_buffer);
    *out = b;
    return ESPL_OK;
}

void native_buffer_close(native_buffer *b)
{
    end_buffer(&b->owned);
}

void native_buffer_release(native_buffer *b)
{
    native_disown(&b->owned);
}

void native_buffer_reset(native_buffer *b)
{
    espl_command_buffer_reset(b->commands);
}

size_t native_buffer_count(const native_buffer *b)
{
    return espl_command_buffer_count(b->commands);
}

int native_buffer_submit(native_buffer *b)
{
    return espl_command_buffer_submit(b->commands);
}

// Stops at the first handle that is refused, whose index is then `*refused`.
int native_buffer_resolve(const native_buffer *b, const void *pending, size_t count, void *out,
                          size_t *refused)
{
    const espl_entity *const each = pending;
    espl_entity *const entities = out;
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < count && status == ESPL_OK; ++i) {
        status = espl_command_buffer_resolve(b->commands, each[i], &entities[i]);
        *refused = i;
    }
    return status;
}

int native_buffer_result(const native_buffer *b, uint32_t lane, uint32_t index)
{
    return espl_command_buffer_result(b->commands, lane, index);
}

int native_play(native_world *w, native_buffer *b, espl_report *report)
{
    return espl_play(native_enter(w), b->commands, report);
}

int native_sync(native_world *w, espl_report *report)
{
    return espl_sync(native_enter(w), report);
}

// --- Recording ---

static espl_recorder *recorder(native_buffer *b, uint32_t lane)
{
    return espl_command_buffer_recorder(b->commands, lane);
}

int native_record_create(native_buffer *b, uint32_t lane, uint32_t key, const native_creation *def,
                         size_t count, void *pending)
{
    espl_component_value room[ESPL_SET_LIMIT + 1];
    espl_creation_def made;

    if (!native_creation_def(def, room, &made)) {
        return ESPL_ERR_LIMIT;
    }
    return espl_record_create(recorder(b, lane), key, &made, count, pending);
}

int native_record_instantiate(native_buffer *b, uint32_t lane, uint32_t key,
                              const native_creation *def, size_t count, void *pending)
{
    const espl_instance_def made = native_instance_def(def);

    return espl_record_instantiate(recorder(b, lane), key, &made, count, pending);
}

int native_record_spawn(native_buffer *b, uint32_t lane, uint32_t key, int64_t prefab,
                        int64_t parent, const espl_transform *local, int64_t *pending)
{
    espl_entity made = {0, 0};
    const espl_status status = espl_record_spawn(recorder(b, lane), key, native_from(prefab),
                                                 native_from(parent), local, &made);

    *pending = native_to(made);
    return status;
}

int native_record_destroy(native_buffer *b, uint32_t lane, uint32_t key, int64_t entity, int extent)
{
    return espl_record_destroy(recorder(b, lane), key, native_from(entity), (espl_extent)extent);
}

int native_record_attach(native_buffer *b, uint32_t lane, uint32_t key, int64_t child,
                         int64_t parent, const native_attachment *options)
{
    const espl_attach_options made = native_attach_options(options);

    return espl_record_attach(recorder(b, lane), key, native_from(child), native_from(parent),
                              &made);
}

int native_record_detach(native_buffer *b, uint32_t lane, uint32_t key, int64_t entity, int keep)
{
    return espl_record_detach(recorder(b, lane), key, native_from(entity), (espl_keep)keep);
}

int native_record_move_before(native_buffer *b, uint32_t lane, uint32_t key, int64_t entity,
                              int64_t before)
{
    return espl_record_move_before(recorder(b, lane), key, native_from(entity),
                                   native_from(before));
}

int native_record_write(native_buffer *b, uint32_t lane, uint32_t key, int64_t entity, int kind,
                        const void *value)
{
    return espl_record_write(recorder(b, lane), key, native_from(entity), (espl_write_kind)kind,
                             value);
}

int native_record_set_inherit(native_buffer *b, uint32_t lane, uint32_t key, int64_t entity,
                              uint32_t flags)
{
    return espl_record_set_inherit(recorder(b, lane), key, native_from(entity), flags);
}

int native_record_change(native_buffer *b, uint32_t lane, uint32_t key, int64_t entity,
                         const espl_component_value *add, size_t add_count,
                         const espl_component *remove, size_t remove_count)
{
    const espl_change_def change = {add, add_count, remove, remove_count};

    return espl_record_change_components(recorder(b, lane), key, native_from(entity), &change);
}

int native_record_set_component(native_buffer *b, uint32_t lane, uint32_t key, int64_t entity,
                                uint32_t component, const void *value, size_t size)
{
    return espl_record_set_component(recorder(b, lane), key, native_from(entity), component, value,
                                     size);
}

int native_record_set_enabled(native_buffer *b, uint32_t lane, uint32_t key, int64_t entity,
                              int extent, int enabled)
{
    return espl_record_set_enabled(recorder(b, lane), key, native_from(entity), (espl_extent)extent,
                                   enabled != 0);
}
