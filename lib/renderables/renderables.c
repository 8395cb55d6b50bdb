// SPDX-License-Identifier: MIT
// The lifetime and the memory of renderables: espl_renderables_create(), espl_renderables_destroy(),
// espl_renderables_reserve().
#include "lib/renderables/renderables.h"

#include "lib/base/key_sort.h"
#include "lib/base/reserved.h"
#include "lib/renderables/far_places.h"
#include "lib/tree/cells.h"
#include "lib/world/moment.h"
#include "lib/world/refusals.h"

#include <string.h>

enum {
    BUDGET = 2048,
    MOST_USER_BYTES = 65536,
    PLANES_OF_RENDERABLES = 1 << ESPL__PLANE_WORLD | 1 << ESPL__PLANE_PLACE |
                            1 << ESPL__PLANE_JUMP | 1 << ESPL__PLANE_JUMP_TOP |
                            1 << ESPL__PLANE_INDEX,
    PLANES_WITH_CELLS = PLANES_OF_RENDERABLES | 1 << ESPL__PLANE_CELL,
};

// The planes that updates read.
static uint32_t planes_to_read(const espl_world *world)
{
    return espl__forest_has_cells(&world->forest) ? PLANES_WITH_CELLS : PLANES_OF_RENDERABLES;
}

// --- Components ---

// Tell whether a world has a component of a name with another size.
static bool has_another(const espl_world *world, const espl_component_def *def)
{
    const espl_component found = espl__component_find(&world->store, def->name);

    return found != 0 && espl__component_info_of(&world->store, found)->size != def->size;
}

// Find a component by its name, or register it.
static espl_status find_component(espl_world *world, const espl_component_def *def,
                                  espl_component *out)
{
    *out = espl__component_find(&world->store, def->name);
    return *out != 0 ? ESPL_OK : espl_component_register(world, def, out);
}

static espl_status find_components(espl_world *world, espl_renderables *r)
{
    const espl_component_def defs[] = {
        {.name = "bounds", .size = sizeof(espl_bounds), .alignment = _Alignof(espl_bounds)},
        {.name = "renderable",
         .size = sizeof(espl_renderable),
         .alignment = _Alignof(espl_renderable)},
        {.name = "layers", .size = sizeof(espl_layers), .alignment = _Alignof(espl_layers)},
    };
    espl_component *const out[] = {&r->bounds, &r->renderable, &r->layers};
    espl_status status = ESPL_OK;

    // Before the first one is registered, so that a refused call changes nothing.
    for (size_t i = 0; i < sizeof defs / sizeof *defs && status == ESPL_OK; ++i) {
        status = has_another(world, &defs[i]) ? ESPL_ERR_EXISTS : ESPL_OK;
    }
    for (size_t i = 0; i < sizeof defs / sizeof *defs && status == ESPL_OK; ++i) {
        status = find_component(world, &defs[i], out[i]);
    }
    return status;
}

// --- Creation ---

// Say what is wrong with a definition, or NULL.
static const char *find_renderables_fault(const espl_world *world, const espl_renderables_def *def,
                                          const void *out)
{
    if (world == NULL || out == NULL) {
        return "out is NULL.";
    }
    if (!(def->cell_size >= 0 && def->cell_size - def->cell_size == 0)) {
        return "espl_renderables_def.cell_size is negative or not finite.";
    }
    return def->user_size > MOST_USER_BYTES ? "espl_renderables_def.user_size is above 65,536."
                                            : NULL;
}

static espl_status make_renderables(espl_world *world, const espl_renderables_def *def,
                                    espl_renderables **out)
{
    espl_renderables with = {.world = world};
    espl_status status = espl__check_structural(world);

    if (status == ESPL_OK && world->attachment != NULL) {
        status = ESPL_ERR_EXISTS;
    }
    status = status == ESPL_OK ? find_components(world, &with) : status;
    if (status != ESPL_OK) {
        return status;
    }
    espl_renderables *const r =
        espl__heap_take(&world->heap, ESPL__FOR_CHANGES, 1, sizeof *r, _Alignof(espl_renderables));

    if (r == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    if (!espl__planes_acquire(world, planes_to_read(world))) {
        espl__heap_give(&world->heap, ESPL__FOR_CHANGES, r, 1, sizeof *r,
                        _Alignof(espl_renderables));
        return ESPL_ERR_NO_MEMORY;
    }
    memset(r, 0, sizeof *r);
    r->world = world;
    r->bounds = with.bounds;
    r->renderable = with.renderable;
    r->layers = with.layers;
    r->cells.edge = def->cell_size;
    r->budget = def->refile_budget != 0 ? def->refile_budget : BUDGET;
    espl__tables_init(&r->tables, def->readers != 0, def->user_size);
    r->tables.has_cells = espl__forest_has_cells(&world->forest);
    r->rebased = world->forest.rebased;
    r->attachment = (espl__attachment){
        .object = r,
        .broken_rule = espl__renderables_broken_rule,
        .bytes = espl__renderables_bytes,
        .trim = espl__renderables_trim,
    };
    world->attachment = &r->attachment;
    *out = r;
    return ESPL_OK;
}

espl_status espl_renderables_create(espl_world *world, const espl_renderables_def *def,
                                    espl_renderables **out)
{
    static const char *const call = "espl_renderables_create";
    const espl_renderables_def defaults = {0};
    const espl_renderables_def *const d = def != NULL ? def : &defaults;

    ESPL__CHANGE_OR_RETURN(world, call)
    const char *const fault = find_renderables_fault(world, d, out);

    if (fault != NULL) {
        return espl__refuse_call(world, call, ESPL_ERR_ARGUMENT, fault);
    }
    if (ESPL__ASKS_LATER(d)) {
        return espl__refuse_later(world, call);
    }
    if (d->readers > 1) {
        return espl__refuse_call(world, call, ESPL_ERR_UNSUPPORTED,
                                 "espl_renderables_def.readers is above 1.");
    }
    return espl__refuse_call(world, call, make_renderables(world, d, out),
                             "The world has renderables already, or a component of the name "
                             "\"bounds\", \"renderable\" or \"layers\" with another size.");
}

// --- The end ---

static void free_lists(espl_renderables *r)
{
    espl__heap *const heap = &r->world->heap;

    for (int i = 0; i < ESPL__CATEGORIES; ++i) {
        ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, r->spare_leaves[i]);
        ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, r->arrivals[i]);
        ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, r->runs[i]);
        ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, r->orders[i]);
    }
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, r->keys[0]);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, r->keys[1]);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, r->candidates);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, r->relocated);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, r->jumps);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, r->sources);
}

static void free_all(espl_renderables *r)
{
    espl__heap *const heap = &r->world->heap;

    espl__tables_free(&r->tables, heap);
    free_lists(r);
    for (size_t i = 0; i < espl__array_length(r->pages); ++i) {
        espl__heap_give(heap, ESPL__FOR_CHANGES, r->pages[i], ESPL__CLUSTER_PAGE, sizeof **r->pages,
                        ESPL__CLUSTER_ALIGNMENT);
    }
    for (size_t i = 0; i < espl__array_length(r->lod_pages); ++i) {
        espl__heap_give(heap, ESPL__FOR_CHANGES, r->lod_pages[i], ESPL__LOD_PAGE,
                        sizeof **r->lod_pages, _Alignof(espl_lods));
    }
    for (int i = 0; i < ESPL__CATEGORIES; ++i) {
        ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, r->leaves[i]);
    }
    // NOLINTBEGIN(bugprone-sizeof-expression): arrays of pointers to pages.
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, r->lod_pages);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, r->pages);
    // NOLINTEND(bugprone-sizeof-expression)
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, r->states);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, r->dirty);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, r->gone);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, r->astray);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, r->member_of);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, r->layers_of);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, r->cells_of);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, r->noted);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, r->climbed);
    espl__heap_give(heap, ESPL__FOR_CHANGES, r, 1, sizeof *r, _Alignof(espl_renderables));
}

// Trap because the planes may be marked by a job or a playback now.
static void trap_renderables_in_use(const espl_world *world)
{
    espl__message m;

    (void)espl__message_begin(&m, &world->hooks, "espl_renderables_destroy", NULL);
    espl__message_trap(&m, __FILE__, __LINE__,
                       "A playback, a write or a query is under way; wait until it has ended.");
}

void espl_renderables_destroy(espl_renderables *renderables)
{
    if (renderables == NULL) {
        return;
    }
    espl_world *const world = renderables->world;

    ESPL__HOLD_OR_RETURN(&world->holder, "espl_renderables_destroy", )
    if (espl__check_structural(world) != ESPL_OK) {
        trap_renderables_in_use(world);
        return;
    }
    world->attachment = NULL;
    espl__planes_release(world, planes_to_read(world));
    free_all(renderables);
}

// --- Memory ---

size_t espl__renderables_bytes(const void *renderables)
{
    const espl_renderables *const r = renderables;
    size_t bytes = sizeof *r + espl__tables_bytes(&r->tables);

    for (int i = 0; i < ESPL__CATEGORIES; ++i) {
        bytes += ESPL_ARRAY_BYTES(r->leaves[i]) + ESPL_ARRAY_BYTES(r->spare_leaves[i]) +
                 ESPL_ARRAY_BYTES(r->arrivals[i]) + ESPL_ARRAY_BYTES(r->runs[i]) +
                 ESPL_ARRAY_BYTES(r->orders[i]);
    }
    bytes += ESPL_ARRAY_BYTES(r->keys[0]) + ESPL_ARRAY_BYTES(r->keys[1]);
    // NOLINTBEGIN(bugprone-sizeof-expression): arrays of pointers to pages.
    bytes += ESPL_ARRAY_BYTES(r->pages) +
             espl__array_length(r->pages) * ESPL__CLUSTER_PAGE * sizeof **r->pages;
    bytes += ESPL_ARRAY_BYTES(r->lod_pages) +
             espl__array_length(r->lod_pages) * ESPL__LOD_PAGE * sizeof **r->lod_pages;
    // NOLINTEND(bugprone-sizeof-expression)
    bytes += ESPL_ARRAY_BYTES(r->candidates) + ESPL_ARRAY_BYTES(r->relocated) +
             ESPL_ARRAY_BYTES(r->jumps) + ESPL_ARRAY_BYTES(r->sources) +
             ESPL_ARRAY_BYTES(r->states) + ESPL_ARRAY_BYTES(r->dirty) + ESPL_ARRAY_BYTES(r->gone) +
             ESPL_ARRAY_BYTES(r->astray);
    return bytes + ESPL_ARRAY_BYTES(r->member_of) + ESPL_ARRAY_BYTES(r->layers_of) +
           ESPL_ARRAY_BYTES(r->cells_of) + ESPL_ARRAY_BYTES(r->noted) +
           ESPL_ARRAY_BYTES(r->climbed);
}

bool espl__renderables_trim(void *renderables)
{
    espl_renderables *const r = renderables;
    espl__heap *const heap = &r->world->heap;
    bool is_done = espl__tables_trim(&r->tables, heap);

    free_lists(r);
    r->reserved = 0;
    for (int i = 0; i < ESPL__CATEGORIES; ++i) {
        is_done &= ESPL_ARRAY_SHRINK(heap, ESPL__FOR_CHANGES, r->leaves[i], 0);
    }
    is_done &= ESPL_ARRAY_SHRINK(heap, ESPL__FOR_CHANGES, r->member_of, 0);
    is_done &= ESPL_ARRAY_SHRINK(heap, ESPL__FOR_CHANGES, r->layers_of, 0);
    is_done &= ESPL_ARRAY_SHRINK(heap, ESPL__FOR_CHANGES, r->cells_of, 0);
    is_done &= ESPL_ARRAY_SHRINK(heap, ESPL__FOR_CHANGES, r->noted, 0);
    is_done &= ESPL_ARRAY_SHRINK(heap, ESPL__FOR_CHANGES, r->climbed, 0);
    is_done &= ESPL_ARRAY_SHRINK(heap, ESPL__FOR_CHANGES, r->dirty, 0);
    is_done &= ESPL_ARRAY_SHRINK(heap, ESPL__FOR_CHANGES, r->gone, 0);
    is_done &= ESPL_ARRAY_SHRINK(heap, ESPL__FOR_CHANGES, r->astray, 0);
    return is_done;
}

// --- Reserving ---

// Make room in the lists of updates, in which a list is empty between updates.
static bool reserve_lists(espl_renderables *r, size_t members, size_t clusters)
{
    espl__heap *const heap = &r->world->heap;
    const size_t slots = r->world->forest.capacity;
    bool is_done = ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->candidates, slots) &&
                   ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->gone, slots) &&
                   ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->relocated, slots) &&
                   ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->keys[0], members) &&
                   ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->keys[1], members) &&
                   ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->sources, 3 * clusters) &&
                   ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->astray, clusters);

    for (int i = 0; i < ESPL__CATEGORIES && is_done; ++i) {
        // Arrivals of ESPL__RECENT are among ESPL__STILL.
        is_done = (i == ESPL__RECENT ||
                   ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->arrivals[i], members)) &&
                  ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->orders[i], members) &&
                  ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->runs[i], clusters) &&
                  ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->leaves[i], clusters) &&
                  ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->spare_leaves[i], clusters);
    }
    return is_done;
}

// Make room for elements, without a change of the length.
#define PREPAY(array, count)                 \
    (espl__array_length(array) >= (count) || \
     ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, array, (count)-espl__array_length(array)))

// Take the memory for slots that the forest has memory for.
static bool prepay_slots(espl_renderables *r)
{
    const size_t slots = r->world->forest.capacity, words = (slots + 63) / 64;
    espl__heap *const heap = &r->world->heap;

    return PREPAY(r->member_of, slots) && PREPAY(r->noted, words) && PREPAY(r->climbed, words) &&
           (r->layers_of == NULL || PREPAY(r->layers_of, slots)) &&
           (!espl__renderables_have_cells(r) || PREPAY(r->cells_of, slots));
}

#undef PREPAY

static espl_status reserve_members(espl_renderables *r, size_t count)
{
    if (count > ESPL__MEMBER_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    // Leaves are filled by half at least when they divide; each category has one that is not, and members that
    // go may leave others with fewer.
    const size_t clusters = count / (ESPL__MERGE_BELOW) + 2 * ESPL__CATEGORIES;

    if (!espl__slots_reserve(r) || !prepay_slots(r) || !reserve_lists(r, count, clusters) ||
        !espl__clusters_reserve(r, clusters) ||
        !espl__tables_prepay(&r->tables, &r->world->heap, (uint32_t)clusters)) {
        return ESPL_ERR_NO_MEMORY;
    }
    r->reserved = espl__array_capacity(r->arrivals[ESPL__STILL]);
    return ESPL_OK;
}

espl_status espl_renderables_reserve(espl_renderables *renderables, size_t count)
{
    static const char *const call = "espl_renderables_reserve";

    if (renderables == NULL) {
        return espl__refuse_call(NULL, call, ESPL_ERR_ARGUMENT, NULL);
    }
    espl_world *const world = renderables->world;

    ESPL__HOLD_OR_RETURN(&world->holder, call, ESPL_ERR_BUSY)
    return espl__refuse_call(
        world, call, world->is_playing ? ESPL_ERR_BUSY : reserve_members(renderables, count), NULL);
}

const espl_mirror *espl_renderables_acquire(espl_renderables *renderables)
{
    return renderables != NULL ? espl__tables_acquire(&renderables->tables) : NULL;
}
