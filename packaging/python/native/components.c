// SPDX-License-Identifier: MIT
// Components and queries.
#include "internal.h"

#include <stdlib.h>
#include <string.h>

int native_register(native_world *w, const espl_component_def *def, uint32_t *out)
{
    return espl_component_register(native_enter(w), def, out);
}

int native_change(native_world *w, const void *entities, size_t count,
                  const espl_component_value *add, size_t add_count, const espl_component *remove,
                  size_t remove_count, size_t *refused)
{
    const espl_change_def change = {add, add_count, remove, remove_count};

    return espl_change_components_array(native_enter(w), entities, count, &change, refused);
}

int native_has_component(const native_world *w, int64_t entity, uint32_t component)
{
    return espl_has_component(native_peek(w), native_from(entity), component);
}

int native_get_components(const native_world *w, uint32_t component, const void *entities,
                          size_t count, void *out, size_t size, size_t *refused)
{
    const espl_entity *const each = entities;
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < count && status == ESPL_OK; ++i) {
        status = espl_get_component(native_peek(w), each[i], component,
                                    (unsigned char *)out + i * size, size);
        *refused = i;
    }
    return status;
}

// All or nothing: every entity is checked before any value is set. The call of the library on the first
// entity that lacks the component gives the status and the message.
int native_set_components(native_world *w, uint32_t component, const void *entities, size_t count,
                          const void *values, size_t size, size_t *refused)
{
    espl_world *const world = native_enter(w);
    const espl_entity *const each = entities;
    const unsigned char *const bytes = values;
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < count; ++i) {
        if (!espl_has_component(world, each[i], component)) {
            *refused = i;
            return espl_set_component(world, each[i], component, bytes + i * size, size);
        }
    }
    for (size_t i = 0; i < count && status == ESPL_OK; ++i) {
        status = espl_set_component(world, each[i], component, bytes + i * size, size);
        *refused = i;
    }
    return status;
}

uint64_t native_version(const native_world *w)
{
    return espl_get_version(native_peek(w));
}

// --- Queries ---

// The chunks are copies of the guard, an espl_query, one at each chunk. They stay valid because the guard is
// not ended: it stays at its last chunk, so that the world refuses changes of structure, no row moves and no
// chunk is freed.
struct native_query {
    native_owned owned;
    espl_query guard;
    espl_view view;
    bool is_open;
    espl_query *chunks; // [count]
    size_t count, rows;
};

static bool end_query(native_owned *owned)
{
    native_query *const q = (native_query *)owned;

    owned->w->open_queries -= q->is_open ? 1 : 0;
    q->is_open = false;
    espl_query_end(&q->guard);
    free(q->chunks);
    q->chunks = NULL;
    q->count = q->rows = 0;
    q->view = (espl_view){0};
    return true;
}

// Count the chunks of a query, by an iteration of its own.
static espl_status count_chunks(espl_world *world, const espl_query_def *def, size_t *count)
{
    espl_query walk;
    const espl_status status = espl_query_begin(world, def, &walk);

    *count = 0;
    if (status == ESPL_OK) {
        while (espl_query_next(&walk)) {
            *count += 1;
        }
    }
    return status;
}

// Copy the guard at each of so many chunks.
static espl_status list_chunks(native_query *q, size_t count)
{
    q->chunks = calloc(count != 0 ? count : 1, sizeof *q->chunks);
    if (q->chunks == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    while (q->count < count && espl_query_next(&q->guard)) {
        q->chunks[q->count++] = q->guard;
        q->rows += q->guard.count;
    }
    return ESPL_OK;
}

// Begin the guard. @param def  NULL for a view. @return a query without chunks, or NULL and why.
static native_query *begin(native_world *w, const espl_query_def *def, espl_status *status)
{
    espl_world *const world = native_enter(w);
    native_query *const q = calloc(1, sizeof *q);

    *status = q != NULL ? espl_query_begin(world, def, &q->guard) : ESPL_ERR_NO_MEMORY;
    if (*status != ESPL_OK) {
        free(q);
        return NULL;
    }
    native_own(w, &q->owned, end_query);
    q->is_open = true;
    w->open_queries += 1;
    return q;
}

espl_query_def native_query_def(const native_terms *terms)
{
    return (espl_query_def){.all = terms->all,
                            .all_count = terms->all_count,
                            .none = terms->none,
                            .none_count = terms->none_count,
                            .any = terms->any,
                            .any_count = terms->any_count,
                            .changed = terms->changed,
                            .changed_count = terms->changed_count,
                            .since = terms->since,
                            .include = terms->include};
}

int native_query_begin(native_world *w, const native_terms *terms, native_query **out)
{
    const espl_query_def def = native_query_def(terms);
    size_t count;
    espl_status status = count_chunks(native_enter(w), &def, &count);
    native_query *const q = status == ESPL_OK ? begin(w, &def, &status) : NULL;

    if (q == NULL) {
        return status;
    }
    status = list_chunks(q, count);
    if (status != ESPL_OK) {
        (void)end_query(&q->owned);
        native_disown(&q->owned);
        return status;
    }
    *out = q;
    return ESPL_OK;
}

int native_view_begin(native_world *w, int64_t entity, native_query **out, native_hierarchy *shown)
{
    espl_view view;
    espl_status status = espl_view_hierarchy(native_enter(w), native_from(entity), &view);
    native_query *const q = status == ESPL_OK ? begin(w, NULL, &status) : NULL;

    if (q == NULL) {
        return status;
    }
    q->view = view;
    *shown =
        (native_hierarchy){view.count, view.first, view.parents, view.world_poses + view.first,
                           view.shown_poses + view.first};
    *out = q;
    return ESPL_OK;
}

void native_query_end(native_query *q)
{
    (void)end_query(&q->owned);
}

void native_query_release(native_query *q)
{
    native_disown(&q->owned);
}

size_t native_query_chunks(const native_query *q)
{
    return q->count;
}

size_t native_query_rows(const native_query *q)
{
    return q->rows;
}

void native_query_chunk(const native_query *q, size_t index, native_chunk *out)
{
    const espl_query *const chunk = &q->chunks[index];

    *out = (native_chunk){chunk->count, chunk->entities};
}

const void *native_query_column(const native_query *q, size_t index, uint32_t component,
                                size_t size)
{
    return espl_query_read(&q->chunks[index], component, size);
}

void native_query_entities(const native_query *q, void *out)
{
    espl_entity *to = out;

    for (size_t i = 0; i < q->count; ++i) {
        memcpy(to, q->chunks[i].entities, q->chunks[i].count * sizeof *to);
        to += q->chunks[i].count;
    }
}

int native_query_read(const native_query *q, uint32_t component, size_t size, void *out)
{
    unsigned char *to = out;

    for (size_t i = 0; i < q->count; ++i) {
        const void *const column = espl_query_read(&q->chunks[i], component, size);

        if (column == NULL) {
            return ESPL_ERR_NO_COMPONENT;
        }
        memcpy(to, column, q->chunks[i].count * size);
        to += q->chunks[i].count * size;
    }
    return ESPL_OK;
}

// All or nothing: a chunk without the column is found before any column is written.
int native_query_write(native_query *q, size_t first, size_t end, uint32_t component, size_t size,
                       const void *values)
{
    const unsigned char *from = values;

    for (size_t i = first; i < end; ++i) {
        if (espl_query_read(&q->chunks[i], component, size) == NULL) {
            return ESPL_ERR_NO_COMPONENT;
        }
    }
    for (size_t i = first; i < end; ++i) {
        memcpy(espl_query_write(&q->chunks[i], component, size), from, q->chunks[i].count * size);
        from += q->chunks[i].count * size;
    }
    return ESPL_OK;
}

int native_query_transforms(const native_query *q, size_t first, size_t end, int kind, void *out,
                            size_t size)
{
    unsigned char *to = out;
    espl_status status = ESPL_OK;

    for (size_t i = first; i < end && status == ESPL_OK; ++i) {
        status = espl_query_read_transforms(&q->chunks[i], (espl_read_kind)kind, to, size);
        to += q->chunks[i].count * size;
    }
    return status;
}

void native_view_entities(const native_query *q, void *out)
{
    espl_entity *const entities = out;

    for (size_t rank = 0; rank < q->view.count; ++rank) {
        entities[rank] = espl_view_entity(&q->view, rank);
    }
}

void native_view_depths(const native_query *q, void *out)
{
    uint32_t *const depths = out;

    for (size_t rank = 0; rank < q->view.count; ++rank) {
        const uint32_t parent = espl_view_parent(&q->view, rank);

        depths[rank] = parent == ESPL_NO_RANK ? 0 : depths[parent] + 1;
    }
}
