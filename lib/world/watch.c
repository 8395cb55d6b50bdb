// SPDX-License-Identifier: MIT
// The lifetime of watches, and the steps of a collect: espl_watch_create(), espl_watch_collect(),
// espl_watch_destroy().
//
// A collect counts first, takes memory for what it counted, and then lists. The count of changes is an upper
// bound, so that entities are looked at once. A collect ends with the next moment of the world: each change
// after it has a later moment.
#include "lib/world/watches.h"

#include "lib/tree/cells.h"
#include "lib/world/moment.h"
#include "lib/world/query.h"
#include "lib/world/refusals.h"

#include <string.h>

enum {
    COLLECTS_OF_FIT = 64, // after as many, a block that was too large for all of them is replaced
    SHARE_OF_FIT = 4,     // it is too large if they needed less than this share of it
    LEAST_BLOCK = 4096,   // bytes that are always kept
};

enum {
    KINDS_OF_WATCH = ESPL_WATCH_WORLD | ESPL_WATCH_LOCAL | ESPL_WATCH_SHOWN | ESPL_WATCH_CELL,
    FLAGS_OF_WATCH = KINDS_OF_WATCH | ESPL_WATCH_BEFORE,
};

// --- Creation ---

// Return the flags of a definition, with a kind.
static uint32_t flags_of(const espl_watch_def *def)
{
    return def->flags | ((def->flags & KINDS_OF_WATCH) == 0 ? (uint32_t)ESPL_WATCH_WORLD : 0);
}

// Say what is wrong with a definition, or NULL.
static const char *find_watch_fault(const espl_world *world, const espl_watch_def *def)
{
    const uint32_t flags = flags_of(def);

    if ((def->flags & ~(uint32_t)FLAGS_OF_WATCH) != 0) {
        return "espl_watch_def.flags has a bit that is no ESPL_WATCH_ bit.";
    }
    if ((flags & ESPL_WATCH_BEFORE) != 0 && (flags & (ESPL_WATCH_WORLD | ESPL_WATCH_SHOWN)) == 0) {
        return "ESPL_WATCH_BEFORE compares world or shown transforms; add ESPL_WATCH_WORLD.";
    }
    if ((flags & ESPL_WATCH_SHOWN) != 0 && !espl__forest_has_motion(&world->forest)) {
        return "ESPL_WATCH_SHOWN needs motion, which the world does not have.";
    }
    if ((flags & ESPL_WATCH_CELL) != 0 && world->forest.cell_size == 0) {
        return "ESPL_WATCH_CELL needs cells, which the world does not have.";
    }
    if (def->filter != NULL && def->filter->changed_count != 0) {
        return "espl_watch_def.filter has components in `changed`, which a watch does not ask for.";
    }
    return NULL;
}

// Return the planes that a watch needs, as bits. One for shown transforms needs the worlds as well, which are
// shown when motion has stopped.
static uint32_t planes_of(uint32_t flags)
{
    const uint32_t world = UINT32_C(1) << ESPL__PLANE_WORLD, own = UINT32_C(1) << ESPL__PLANE_OWN,
                   shown = UINT32_C(1) << ESPL__PLANE_SHOWN, cell = UINT32_C(1) << ESPL__PLANE_CELL;

    return UINT32_C(1) << ESPL__PLANE_INDEX | ((flags & ESPL_WATCH_WORLD) != 0 ? world : 0) |
           ((flags & ESPL_WATCH_LOCAL) != 0 ? own : 0) |
           ((flags & ESPL_WATCH_CELL) != 0 ? cell : 0) |
           ((flags & ESPL_WATCH_SHOWN) != 0 ? world | shown : 0);
}

// Count the transforms that a watch keeps of each entity: one for each kind that it compares.
static uint32_t kept_by(uint32_t flags)
{
    const uint32_t both = ESPL_WATCH_WORLD | ESPL_WATCH_SHOWN;

    return (flags & ESPL_WATCH_BEFORE) == 0 ? 0 : (flags & both) == both ? 2 : 1;
}

// Make a watch. @param filter  what espl__query_fill() made of its filter.
static espl_status make_watch(espl_world *world, const espl_watch_def *def,
                              const espl_query *filter, espl_watch **out)
{
    const uint32_t flags = flags_of(def), planes = planes_of(flags);
    espl_watch *const watch = espl__heap_take(&world->heap, ESPL__FOR_CHANGES, 1, sizeof *watch,
                                              _Alignof(espl__max_align));

    if (watch == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    if (!espl__planes_acquire(world, planes)) {
        espl__heap_give(&world->heap, ESPL__FOR_CHANGES, watch, 1, sizeof *watch,
                        _Alignof(espl__max_align));
        return ESPL_ERR_NO_MEMORY;
    }
    *watch = (espl_watch){
        .world = world,
        .next = world->watches,
        .filter = *filter,
        .flags = flags,
        .planes = planes,
        .kept_count = kept_by(flags),
    };
    world->watches = watch;
    world->watch_count += 1;
    *out = watch;
    return ESPL_OK;
}

espl_status espl_watch_create(espl_world *world, const espl_watch_def *def, espl_watch **out)
{
    static const char *const call = "espl_watch_create";
    const espl_watch_def defaults = {0};
    const espl_watch_def *const d = def != NULL ? def : &defaults;
    espl_query filter;

    ESPL__CHANGE_OR_RETURN(world, call)
    if (world == NULL || out == NULL) {
        return espl__refuse_call(world, call, ESPL_ERR_ARGUMENT, "out is NULL.");
    }
    if (ESPL__ASKS_LATER(d)) {
        return espl__refuse_later(world, call);
    }
    espl_status status = espl__check_structural(world);

    if (status != ESPL_OK) {
        return espl__refuse_call(world, call, status, NULL);
    }
    const char *const fault = find_watch_fault(world, d);

    if (fault != NULL) {
        return espl__refuse_call(world, call, ESPL_ERR_ARGUMENT, fault);
    }
    status = espl__query_fill(world, d->filter, &filter);
    if (status != ESPL_OK) {
        return espl__refuse_query(world, call, NULL, d->filter, status);
    }
    return espl__refuse_call(world, call, make_watch(world, d, &filter, out), NULL);
}

// --- Destruction ---

// Trap because the planes may be marked by a job or a playback now.
static void trap_watch_in_use(const espl_world *world)
{
    espl__message m;

    (void)espl__message_begin(&m, &world->hooks, "espl_watch_destroy", NULL);
    espl__message_trap(
        &m, __FILE__, __LINE__,
        "A playback or a write is under way, which marks changes for the watch; wait "
        "until it has returned.");
}

// Remove a watch from the list of its world.
static void unlist(espl_watch *watch)
{
    espl_watch **at = &watch->world->watches;

    while (*at != watch) {
        ESPL_CHECK(*at != NULL);
        at = &(*at)->next;
    }
    *at = watch->next;
    watch->world->watch_count -= 1;
}

void espl_watch_destroy(espl_watch *watch)
{
    if (watch == NULL) {
        return;
    }
    espl_world *const world = watch->world;

    ESPL__HOLD_OR_RETURN(&world->holder, "espl_watch_destroy", )
    if (world->is_playing) {
        trap_watch_in_use(world);
        return;
    }
    unlist(watch);
    espl__planes_release(world, watch->planes);
    ESPL_ARRAY_FREE(&world->heap, ESPL__FOR_CHANGES, watch->known);
    for (int i = 0; i < ESPL__KEPT_COUNT; ++i) {
        ESPL_ARRAY_FREE(&world->heap, ESPL__FOR_CHANGES, watch->kept[i]);
    }
    espl__scratch_free(&world->heap, ESPL__FOR_CHANGES, &watch->scratch);
    espl__scratch_free(&world->heap, ESPL__FOR_CHANGES, &watch->spare);
    espl__heap_give(&world->heap, ESPL__FOR_CHANGES, watch, 1, sizeof *watch,
                    _Alignof(espl__max_align));
}

// --- Memory ---

// Place the arrays of a collect in a block. @param block  NULL: only the size is wanted.
// @return the bytes of the arrays; SIZE_MAX where a size_t cannot count them.
static size_t place_arrays(const espl_watch *watch, unsigned char *block,
                           const espl__watch_counts *n, espl__watch_arrays *out)
{
    enum {
        TRANSFORM = sizeof(espl_transform),
        HANDLE = sizeof(espl_entity),
        CELL = sizeof(espl_changed_cell),
        LINE_OF_CACHE = 64
    };
    const bool has_locals = (watch->flags & ESPL_WATCH_LOCAL) != 0;
    const bool has_before = (watch->flags & ESPL_WATCH_BEFORE) != 0;
    size_t at = 0;

    *out = (espl__watch_arrays){0};
    if (espl__watch_has_worlds(watch)) {
        out->added_worlds = espl__carve(block, &at, n->added, TRANSFORM, LINE_OF_CACHE);
        out->changed_worlds = espl__carve(block, &at, n->changed, TRANSFORM, LINE_OF_CACHE);
    }
    if (has_locals) {
        out->added_locals = espl__carve(block, &at, n->added, TRANSFORM, LINE_OF_CACHE);
        out->changed_locals = espl__carve(block, &at, n->changed, TRANSFORM, LINE_OF_CACHE);
    }
    if (has_before) {
        out->changed_before = espl__carve(block, &at, n->changed, TRANSFORM, LINE_OF_CACHE);
    }
    if ((watch->flags & ESPL_WATCH_CELL) != 0) {
        out->added_cells = espl__carve(block, &at, n->added, CELL, LINE_OF_CACHE);
        out->changed_cells = espl__carve(block, &at, n->changed, CELL, LINE_OF_CACHE);
    }
    out->removed = espl__carve(block, &at, n->removed, HANDLE, LINE_OF_CACHE);
    out->added = espl__carve(block, &at, n->added, HANDLE, LINE_OF_CACHE);
    out->changed = espl__carve(block, &at, n->changed, HANDLE, LINE_OF_CACHE);
    out->kinds = espl__carve(block, &at, n->changed, 1, LINE_OF_CACHE);
    // A byte more, so that there is a block where nothing is reported.
    return at == SIZE_MAX ? at : at + 1;
}

// Let the next collect fit the block to what it needs itself.
static void fit_next(espl_watch *watch)
{
    watch->most = 0;
    watch->fitted = COLLECTS_OF_FIT - 1;
}

// Replace a block that is much larger than what a row of collects needed. A single collect that needs little
// does not cause it, because a large one may follow every few frames.
static void fit_block(espl_watch *watch, size_t size)
{
    watch->most = size > watch->most ? size : watch->most;
    watch->fitted += 1;
    if (watch->fitted < COLLECTS_OF_FIT) {
        return;
    }
    const size_t room = watch->most + watch->most / 2;
    const size_t wanted = room > LEAST_BLOCK ? room : LEAST_BLOCK;

    if (wanted < watch->scratch.size / SHARE_OF_FIT) {
        espl__scratch_shrink(&watch->world->heap, ESPL__FOR_CHANGES, &watch->scratch,
                             wanted > watch->least ? wanted : watch->least);
    }
    watch->most = 0;
    watch->fitted = 0;
}

// Take the block for a collect. It grows by half, because the next collect may report a few more.
// @return false: no memory; arrays of the last collect stay then.
static bool take_for_collect(espl_watch *watch, const espl__watch_counts *counts)
{
    espl__heap *const heap = &watch->world->heap;
    espl__watch_arrays none;
    const size_t size = place_arrays(watch, NULL, counts, &none);
    const size_t more = watch->scratch.size + watch->scratch.size / 2;

    if (size > watch->scratch.size && size > watch->spare.size &&
        espl__scratch_grow(heap, ESPL__FOR_CHANGES, &watch->scratch, size < more ? more : size) !=
            ESPL_OK &&
        espl__scratch_grow(heap, ESPL__FOR_CHANGES, &watch->scratch, size) != ESPL_OK) {
        return false;
    }
    if (watch->spare.size > watch->scratch.size) {
        espl__scratch_free(heap, ESPL__FOR_CHANGES, &watch->scratch);
        watch->scratch = watch->spare;
        watch->spare = (espl__scratch){NULL, 0};
    }
    espl__scratch_free(heap, ESPL__FOR_CHANGES, &watch->spare);
    fit_block(watch, size);
    return true;
}

// Make room for the arrays of a later collect, beside those of the last one, which are in use.
static bool reserve_arrays(espl_watch *watch, const espl__watch_counts *counts)
{
    espl__watch_arrays none;
    const size_t size = place_arrays(watch, NULL, counts, &none);

    if (size > watch->scratch.size && espl__scratch_grow(&watch->world->heap, ESPL__FOR_CHANGES,
                                                         &watch->spare, size) != ESPL_OK) {
        return false;
    }
    watch->least = size > watch->least ? size : watch->least;
    return true;
}

void espl__watch_set_known(espl_watch *watch, size_t length)
{
    espl__array_set_length(watch->known, length);
    // What is kept of an index is read only where the index is known.
    for (uint32_t i = 0; i < watch->kept_count; ++i) {
        espl__array_set_length(watch->kept[i], length);
    }
}

// Make room for what is known of so many indices, of which the first ones exist. The watch may know more
// indices than exist, because the world became one with fewer of them: these stay until the next collect lists
// them.
static bool reserve_known(espl_watch *watch, size_t records, size_t more)
{
    espl__heap *const heap = &watch->world->heap;
    const size_t length = espl__array_length(watch->known);
    const size_t wanted = records > length ? records : length;
    const size_t growth = wanted - length + more;
    bool is_done = ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, watch->known, growth);

    for (uint32_t i = 0; i < watch->kept_count && is_done; ++i) {
        is_done = ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, watch->kept[i], growth);
    }
    if (!is_done) {
        return false;
    }
    if (wanted != length) {
        memset(watch->known + length, 0, (wanted - length) * sizeof *watch->known);
    }
    espl__watch_set_known(watch, wanted);
    return true;
}

bool espl__watches_reserve(espl_world *world, size_t entities, size_t more_indices)
{
    const espl__watch_counts counts = {entities, entities, entities};
    const size_t records = espl__array_length(world->store.records);
    bool is_done = true;

    for (espl_watch *watch = world->watches; watch != NULL && is_done; watch = watch->next) {
        is_done = reserve_known(watch, records, more_indices) && reserve_arrays(watch, &counts);
    }
    return is_done;
}

bool espl__watches_trim(espl_world *world)
{
    espl__heap *const heap = &world->heap;
    bool is_done = true;

    for (espl_watch *watch = world->watches; watch != NULL; watch = watch->next) {
        espl__scratch_free(heap, ESPL__FOR_CHANGES, &watch->spare);
        watch->least = 0;
        fit_next(watch);
        is_done &= ESPL_ARRAY_SHRINK(heap, ESPL__FOR_CHANGES, watch->known, 0);
        for (int i = 0; i < ESPL__KEPT_COUNT; ++i) {
            is_done &= ESPL_ARRAY_SHRINK(heap, ESPL__FOR_CHANGES, watch->kept[i], 0);
        }
    }
    return is_done;
}

size_t espl__watches_bytes(const espl_world *world)
{
    size_t bytes = 0;

    for (const espl_watch *watch = world->watches; watch != NULL; watch = watch->next) {
        bytes += sizeof *watch + ESPL_ARRAY_BYTES(watch->known) + watch->scratch.size +
                 watch->spare.size;
        for (int i = 0; i < ESPL__KEPT_COUNT; ++i) {
            bytes += ESPL_ARRAY_BYTES(watch->kept[i]);
        }
    }
    return bytes;
}

// --- Collecting ---

// Count what a collect may report, and take the memory for it. Nothing else changes.
// @return false: no memory.
static bool reserve_collect(espl_watch *watch, uint64_t since, espl__watch_counts *counts)
{
    if (!reserve_known(watch, espl__array_length(watch->world->store.records), 0)) {
        return false;
    }
    espl__watch_count_presence(watch, counts);
    // Only entities that stay can have changed.
    const size_t staying = watch->known_count - counts->removed;

    if (staying != 0 && espl__watch_has_places(watch)) {
        const espl_world *const world = watch->world;

        espl__cells_spread(&world->forest, espl__plane_since(world->moment, since));
    }
    watch->scanned = 0;
    const size_t changes =
        staying == 0 ? 0 : espl__watch_count_changes(watch, since, &watch->scanned);

    counts->changed = changes < staying ? changes : staying;
    return take_for_collect(watch, counts);
}

// What the user gets of the arrays of a collect.
static espl_changes changes_of(const espl__watch_arrays *arrays, const espl__watch_counts *counts)
{
    return (espl_changes){
        .removed = arrays->removed,
        .added = arrays->added,
        .changed = arrays->changed,
        .removed_count = counts->removed,
        .added_count = counts->added,
        .changed_count = counts->changed,
        .kinds = arrays->kinds,
        .added_worlds = arrays->added_worlds,
        .changed_worlds = arrays->changed_worlds,
        .added_locals = arrays->added_locals,
        .changed_locals = arrays->changed_locals,
        .changed_before = arrays->changed_before,
        .added_cells = arrays->added_cells,
        .changed_cells = arrays->changed_cells,
    };
}

// @param since  a moment of the watch, or 0 where it was never collected.
static espl_status collect(espl_watch *watch, uint64_t since, espl_changes *out)
{
    espl_world *const world = watch->world;
    const bool is_coarse = since != 0 && world->moment - since > ESPL__PLANE_AGE;
    espl__watch_counts counts;
    espl__watch_arrays arrays;

    if (!reserve_collect(watch, since, &counts)) {
        return ESPL_ERR_NO_MEMORY;
    }
    (void)place_arrays(watch, watch->scratch.block, &counts, &arrays);
    // Each list is a walk of its own, which a world at rest is spared.
    if (counts.removed + counts.added != 0) {
        espl__watch_list_presence(watch, &arrays);
    }
    if (counts.changed != 0) {
        counts.changed = espl__watch_list_changes(watch, since, counts.changed, &arrays);
    }
    espl__watch_settle_presence(watch, arrays.added, counts.added);
    watch->last = espl__world_next_moment(world);
    if (watch->first == 0) {
        watch->first = watch->last;
        fit_next(watch);
    }
    *out = changes_of(&arrays, &counts);
    out->moment = watch->last;
    out->is_coarse = is_coarse;
    out->is_plain = !espl__forest_has_sides(&world->forest);
    out->cell_size = (watch->flags & ESPL_WATCH_CELL) != 0 ? world->forest.cell_size : 0;
    return ESPL_OK;
}

// Say why a moment is none to look back to, or NULL.
static const char *find_since_fault(const espl_watch *watch, uint64_t since)
{
    return since != 0 && (watch->first == 0 || since < watch->first || since > watch->last)
               ? "since is no moment from the first collect of the watch to the last."
               : NULL;
}

espl_status espl_watch_collect(espl_watch *watch, uint64_t since, espl_changes *out)
{
    static const char *const call = "espl_watch_collect";

    if (watch == NULL) {
        return espl__refuse_call(NULL, call, ESPL_ERR_ARGUMENT, NULL);
    }
    espl_world *const world = watch->world;

    ESPL__HOLD_OR_RETURN(&world->holder, call, ESPL_ERR_BUSY)
    if (out == NULL) {
        return espl__refuse_call(world, call, ESPL_ERR_ARGUMENT, "out is NULL.");
    }
    if (world->is_playing) {
        return espl__refuse_call(world, call, ESPL_ERR_BUSY, NULL);
    }
    const char *const fault = find_since_fault(watch, since);

    if (fault != NULL) {
        return espl__refuse_call(world, call, ESPL_ERR_ARGUMENT, fault);
    }
    return espl__refuse_call(world, call, collect(watch, since != 0 ? since : watch->last, out),
                             NULL);
}

// --- Validation ---

// Check what a watch knows of an index: what is there now, unless the index changed since it looked.
static bool knows_index(const espl_watch *watch, espl__watch_answers *answers, uint32_t index)
{
    const espl_world *const world = watch->world;
    const uint32_t known = index < espl__array_length(watch->known) ? watch->known[index] : 0;

    return known == espl__watch_generation(answers, index) || watch->first == 0 ||
           espl__plane_has_changed(&world->store.index_plane, index,
                                   espl__plane_since(world->moment, watch->last));
}

static const char *watch_rule(const espl_watch *watch, espl_entity *where)
{
    const espl_world *const world = watch->world;
    const size_t records = espl__array_length(world->store.records);
    espl__watch_answers answers;
    size_t known = 0;

    espl__watch_ask(watch, &answers);
    for (uint32_t index = 0; index < records; ++index) {
        if (!knows_index(watch, &answers, index)) {
            *where = espl__entity_at(&world->store, index);
            return "a watch knows entities that live, or whose index changed since it looked";
        }
    }
    for (size_t index = 0; index < espl__array_length(watch->known); ++index) {
        known += watch->known[index] != 0 ? 1 : 0;
    }
    return known == watch->known_count && watch->last < world->moment
               ? NULL
               : "a watch looked before now, and counts what it knows";
}

const char *espl__watches_broken_rule(const espl_world *world, espl_entity *where)
{
    const char *rule = NULL;
    uint32_t count = 0;

    for (const espl_watch *watch = world->watches; watch != NULL && rule == NULL;
         watch = watch->next) {
        rule = watch_rule(watch, where);
        count += 1;
    }
    return rule == NULL && count != world->watch_count ? "watches are in the list of their world"
                                                       : rule;
}
