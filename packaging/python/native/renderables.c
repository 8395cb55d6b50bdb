// SPDX-License-Identifier: MIT
// Renderables, mirrors, and what cameras see.
#include "internal.h"

#include <stdlib.h>

_Static_assert(sizeof(espl_bounds) == 24 && sizeof(espl_renderable) == 12 &&
                   sizeof(espl_layers) == 8 && sizeof(espl_group) == 12,
               "_renderables.py has other types");

// --- Renderables ---

struct native_renderables {
    native_owned owned;
    espl_renderables *renderables; // NULL once closed
};

static bool end_renderables(native_owned *owned)
{
    native_renderables *const r = (native_renderables *)owned;

    if (r->renderables != NULL && owned->w->open_queries != 0) {
        return false;
    }
    espl_renderables_destroy(r->renderables);
    r->renderables = NULL;
    return true;
}

int native_renderables_create(native_world *w, float cell_size, uint32_t refile_budget,
                              size_t user_size, native_renderables **out)
{
    espl_world *const world = native_enter(w);
    native_renderables *const r = calloc(1, sizeof *r);
    const espl_renderables_def def = {
        .cell_size = cell_size, .refile_budget = refile_budget, .user_size = user_size};
    const espl_status status =
        r != NULL ? espl_renderables_create(world, &def, &r->renderables) : ESPL_ERR_NO_MEMORY;

    if (status != ESPL_OK) {
        free(r);
        return status;
    }
    native_own(w, &r->owned, end_renderables);
    *out = r;
    return ESPL_OK;
}

int native_renderables_close(native_renderables *r)
{
    return end_renderables(&r->owned) ? ESPL_OK : ESPL_ERR_BUSY;
}

void native_renderables_release(native_renderables *r)
{
    native_disown(&r->owned);
}

uint32_t native_find_component(const native_world *w, const char *name)
{
    return espl_component_find(native_peek(w), name);
}

int native_renderables_reserve(native_renderables *r, size_t count)
{
    (void)native_enter(r->owned.w);
    return espl_renderables_reserve(r->renderables, count);
}

int native_renderables_update(native_renderables *r, const void *user, native_updated *out)
{
    espl_renderables_report report = {0};

    (void)native_enter(r->owned.w);
    const espl_status status = espl_renderables_update(r->renderables, user, &report);

    *out = (native_updated){
        .renderables = report.renderables,
        .moving = report.moving,
        .clusters = report.clusters,
        .marked = report.marked,
        .moved = report.moved,
        .added = report.added,
        .removed = report.removed,
        .rewritten = report.rewritten,
        .refiled = report.refiled,
        .waiting = report.waiting,
        .bad = report.bad,
        .first_bad = native_to(report.first_bad),
        .number = report.number,
    };
    return status;
}

int native_renderables_add_lods(native_renderables *r, const espl_lods *lods, uint32_t *key)
{
    (void)native_enter(r->owned.w);
    return espl_renderables_add_lods(r->renderables, lods, key);
}

// --- Mirrors ---

const espl_mirror *native_renderables_acquire(native_renderables *r)
{
    return espl_renderables_acquire(r->renderables);
}

static espl_instance_arrays arrays_of(const native_arrays *arrays)
{
    return (espl_instance_arrays){
        .matrices = arrays->matrices,
        .matrix_stride = arrays->matrix_stride,
        .form = (espl_instance_form)arrays->form,
        .previous = arrays->previous,
        .previous_stride = arrays->previous_stride,
        .entities = arrays->entities,
        .user_data = arrays->user_data,
        .sizes = arrays->sizes,
        .cells = arrays->cells,
    };
}

size_t native_mirror_changed(const espl_mirror *mirror, uint64_t since, size_t capacity,
                             void *clusters)
{
    return espl_mirror_changed(mirror, since, capacity, clusters);
}

int native_mirror_write(const espl_mirror *mirror, uint32_t cluster, const native_arrays *arrays,
                        size_t *count)
{
    const espl_instance_arrays to = arrays_of(arrays);

    return espl_mirror_write(mirror, cluster, &to, count);
}

// --- What cameras see ---

struct native_visible {
    native_owned owned;
    espl_visible *visible; // NULL once closed
};

static bool end_visible(native_owned *owned)
{
    native_visible *const v = (native_visible *)owned;

    espl_visible_destroy(v->visible);
    v->visible = NULL;
    return true;
}

int native_visible_create(native_world *w, native_visible **out)
{
    native_visible *const v = calloc(1, sizeof *v);
    const espl_status status =
        v != NULL ? espl_visible_create(NULL, &v->visible) : ESPL_ERR_NO_MEMORY;

    (void)native_enter(w);
    if (status != ESPL_OK) {
        free(v);
        return status;
    }
    native_own(w, &v->owned, end_visible);
    *out = v;
    return ESPL_OK;
}

void native_visible_close(native_visible *v)
{
    (void)end_visible(&v->owned);
}

void native_visible_release(native_visible *v)
{
    native_disown(&v->owned);
}

int native_visible_cull(native_visible *v, const espl_mirror *mirror, const espl_camera *cameras,
                        size_t count, float alpha, uint32_t flags)
{
    const espl_cull_def def = {.alpha = alpha, .flags = flags};

    return espl_cull(v->visible, mirror, cameras, count, &def);
}

const void *native_visible_groups(const native_visible *v, size_t camera, size_t *count)
{
    return espl_visible_groups(v->visible, camera, count);
}

int native_visible_write(const native_visible *v, size_t camera, const native_arrays *arrays)
{
    const espl_instance_arrays to = arrays_of(arrays);

    return espl_visible_write(v->visible, camera, &to);
}
