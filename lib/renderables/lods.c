// SPDX-License-Identifier: MIT
// Keys with levels of detail: espl_renderables_add_lods(). They are only ever added, in pages that stay where
// they are, because a reader may have a mirror that reads the earlier ones. So the list of pages has its full
// length from the first key on.
#include "lib/renderables/renderables.h"

#include "lib/base/reserved.h"
#include "lib/renderables/visible.h"
#include "lib/world/refusals.h"

enum { LOD_PAGES = 1024 }; // 65,536 keys

static bool is_finite_size(float size)
{
    return size - size == 0;
}

// Say what is wrong with levels, or NULL.
static const char *find_lods_fault(const espl_lods *lods)
{
    if (lods->count == 0 || lods->count > ESPL_LOD_LIMIT) {
        return "espl_lods.count is 0 or above 8.";
    }
    for (uint32_t i = 0; i < lods->count; ++i) {
        if (!is_finite_size(lods->sizes[i])) {
            return "espl_lods.sizes has a number that is not finite.";
        }
        if (i != 0 && lods->sizes[i] > lods->sizes[i - 1]) {
            return "espl_lods.sizes ascend; the first level is that of the largest size.";
        }
        if (lods->keys[i] != ESPL_NO_KEY && (lods->keys[i] & ESPL__LOD_KEY) != 0) {
            return "espl_lods.keys has a key with the highest bit, which only keys with levels "
                   "have.";
        }
    }
    return NULL;
}

// Have a page for one more key. @return false: no memory.
static bool reserve_key(espl_renderables *r)
{
    espl__heap *const heap = &r->world->heap;

    if (r->lod_count < espl__array_length(r->lod_pages) * ESPL__LOD_PAGE) {
        return true;
    }
    // The list is allocated once, so that it never moves.
    if (r->lod_pages == NULL &&
        // NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers to pages.
        !ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->lod_pages, LOD_PAGES)) {
        return false;
    }
    espl_lods *const page =
        espl__heap_take(heap, ESPL__FOR_CHANGES, ESPL__LOD_PAGE, sizeof *page, _Alignof(espl_lods));

    if (page == NULL) {
        return false;
    }
    ESPL_ARRAY_PUSH(r->lod_pages, page);
    return true;
}

static espl_status add_lods(espl_renderables *r, const espl_lods *lods, uint32_t *key)
{
    const uint32_t number = r->lod_count;

    if (r->world->is_playing) {
        return ESPL_ERR_BUSY;
    }
    if (number == LOD_PAGES * ESPL__LOD_PAGE) {
        return ESPL_ERR_LIMIT;
    }
    if (!reserve_key(r)) {
        return ESPL_ERR_NO_MEMORY;
    }
    r->lod_pages[number / ESPL__LOD_PAGE][number % ESPL__LOD_PAGE] = *lods;
    r->lod_count += 1;
    *key = ESPL__LOD_KEY | number;
    return ESPL_OK;
}

espl_status espl_renderables_add_lods(espl_renderables *renderables, const espl_lods *lods,
                                      uint32_t *key)
{
    static const char *const call = "espl_renderables_add_lods";

    if (renderables == NULL) {
        return espl__refuse_call(NULL, call, ESPL_ERR_ARGUMENT, NULL);
    }
    espl_world *const world = renderables->world;

    ESPL__HOLD_OR_RETURN(&world->holder, call, ESPL_ERR_BUSY)
    if (lods == NULL || key == NULL) {
        return espl__refuse_call(world, call, ESPL_ERR_ARGUMENT,
                                 lods == NULL ? "lods is NULL." : "key is NULL.");
    }
    if (ESPL__ASKS_LATER(lods)) {
        return espl__refuse_later(world, call);
    }
    const char *const fault = find_lods_fault(lods);

    if (fault != NULL) {
        return espl__refuse_call(world, call, ESPL_ERR_ARGUMENT, fault);
    }
    return espl__refuse_call(world, call, add_lods(renderables, lods, key), NULL);
}
