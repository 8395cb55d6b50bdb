// SPDX-License-Identifier: MIT
// Making and unmaking a world, and what every call checks first.
#include "lib/world/tape.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_LIMIT = 127 };

// What worlds share, beside the gates of executors (lib/jobs/ranges.c): a round of tags, so that one
// world's handles mean nothing to another one.
static _Atomic uint32_t next_tag;

static bool is_def_valid(const espl_world_def *def)
{
    const espl_allocator *const a = &def->allocator;

    return (a->allocate == NULL) == (a->release == NULL) && def->tag <= TAG_LIMIT &&
           (unsigned)def->huge_pages <= ESPL_HUGE_PAGES_ON;
}

// The kernels that a definition asks for, or the environment where it does not. NULL: there are none
// of that name here.
static const espl__kernels *find_kernels(const espl_world_def *def)
{
    const char *const name = def->kernels != NULL ? def->kernels : getenv("ESPALIER_KERNELS");
    const espl__kernels *const kernels =
        name == NULL ? espl__kernels_best() : espl__kernels_named(name);
    char line[160];

    if (kernels == NULL && def->hooks.log != NULL) {
        (void)espl__tell(line, sizeof line, 0,
                         "world refused: kernels \"%.40s\"%s are unknown or not for this machine",
                         name, def->kernels != NULL ? "" : ", by ESPALIER_KERNELS,");
        def->hooks.log(def->hooks.user, ESPL_LOG_WARNING, line);
    }
    return kernels;
}

// Whether a definition wants huge pages, or the environment where it does not say. The third value
// means that the environment says neither.
static espl_huge_pages find_pages(const espl_world_def *def)
{
    const char *const word =
        def->huge_pages == ESPL_HUGE_PAGES_DEFAULT ? getenv("ESPALIER_HUGE_PAGES") : NULL;
    char line[160];

    if (word == NULL) {
        return def->huge_pages == ESPL_HUGE_PAGES_OFF ? ESPL_HUGE_PAGES_OFF : ESPL_HUGE_PAGES_ON;
    }
    if (strcmp(word, "on") == 0 || strcmp(word, "off") == 0) {
        return word[1] == 'n' ? ESPL_HUGE_PAGES_ON : ESPL_HUGE_PAGES_OFF;
    }
    if (def->hooks.log != NULL) {
        (void)espl__tell(line, sizeof line, 0,
                         "world refused: ESPALIER_HUGE_PAGES is \"%.40s\", not on or off", word);
        def->hooks.log(def->hooks.user, ESPL_LOG_WARNING, line);
    }
    return ESPL_HUGE_PAGES_DEFAULT;
}

static void begin_heap(espl__heap *heap, const espl_world_def *def, espl_huge_pages pages)
{
    espl__heap_init(heap, &def->allocator);
    if (pages == ESPL_HUGE_PAGES_ON) {
        espl__heap_use_huge_pages(heap);
    }
}

espl_status espl_world_create(espl_world **out, const espl_world_def *def)
{
    const espl_world_def defaults = {0};
    const espl_world_def *const d = def != NULL ? def : &defaults;

    if (!ESPL_DEMAND(&d->hooks, out != NULL) || !is_def_valid(d)) {
        return ESPL_ERR_ARGUMENT;
    }
    const espl__kernels *const kernels = find_kernels(d);
    const espl_huge_pages pages = kernels != NULL ? find_pages(d) : ESPL_HUGE_PAGES_DEFAULT;
    if (pages == ESPL_HUGE_PAGES_DEFAULT) {
        return ESPL_ERR_ARGUMENT;
    }
    espl__heap heap;
    begin_heap(&heap, d, pages);
    espl_world *const world =
        espl__heap_take(&heap, ESPL__FOR_WORLD, 1, sizeof *world, _Alignof(max_align_t));
    if (world == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }

    memset(world, 0, sizeof *world);
    begin_heap(&world->heap, d, pages);
    world->heap.bytes[ESPL__FOR_WORLD] = sizeof *world;
    espl__hooks_guard(world, &d->hooks);
    world->executor = d->executor;
    world->line.is_closed = &world->is_playing;
    world->job_cost = ESPL__JOB_COST;
    world->wake_cost = ESPL__WAKE_COST;
    world->layout_budget = d->layout_budget != 0 ? d->layout_budget : ESPL__LAYOUT_BUDGET;
    const uint32_t tag = d->tag != 0 ? d->tag : 1 + atomic_fetch_add(&next_tag, 1) % TAG_LIMIT;
    const espl_status status = espl__store_init(&world->store, &world->heap, tag);
    espl__forest_init(&world->forest, &world->heap);
    world->forest.kernels = kernels;
    world->forest.context.workers =
        (espl__workers){&world->executor, &world->hooks, &world->is_playing};
    espl__playback_init(&world->playback, &world->heap, &world->store, &world->forest,
                        &world->executor, &world->hooks);
    if (status != ESPL_OK) {
        espl_world_destroy(world);
        return status;
    }
    world->tape.sink = d->tape;
    if (espl__is_taped(world)) {
        espl__tape_head(world);
    }
    *out = world;
    return ESPL_OK;
}

void espl_world_destroy(espl_world *world)
{
    if (world == NULL) {
        return;
    }
    // They hold memory of the world and a way back to it.
    if (!ESPL_DEMAND(&world->hooks, world->commands_alive == 0)) {
        return;
    }
    espl__own_free(world);
    espl__scratch_free(world, &world->write_scratch);
    espl__scratch_free(world, &world->side_scratch);
    espl__scratch_free(world, &world->deal_scratch);
    espl__scratch_free(world, &world->mark_scratch);
    espl__playback_free(&world->playback);
    espl__forest_free(&world->forest);
    espl__store_free(&world->store);

    // The heap stands in the block that goes last.
    espl__heap heap;
    espl__heap_init(&heap, &world->heap.allocator);
    memcpy(heap.bytes, world->heap.bytes, sizeof heap.bytes);
    espl__heap_give(&heap, ESPL__FOR_WORLD, world, 1, sizeof *world, _Alignof(max_align_t));
    ESPL_CHECK(espl__heap_bytes(&heap) == 0);
}

const char *espl_world_kernels(const espl_world *world)
{
    return ESPL_DEMAND(espl__hooks_of(world), world != NULL) ? world->forest.kernels->name : NULL;
}

// --- Checks ---

size_t espl__tell(char *line, size_t size, size_t length, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    const int more = vsnprintf(line + length, size - length, format, arguments);
    va_end(arguments);
    const size_t left = size - length - 1;
    // Formats are our own, so that none fails.
    const size_t wanted = more < 0 ? 0 : (size_t)more; // GCOVR_EXCL_BR_LINE

    return length + (wanted < left ? wanted : left);
}

size_t espl__tell_entity(char *line, size_t size, size_t length, const espl_world *world,
                         espl_entity entity)
{
    length = espl__tell(line, size, length, "%lu:%lu", (unsigned long)entity.index,
                        (unsigned long)entity.generation);
    if (espl__entity_is_alive(&world->store, entity)) {
        const espl__name *const name = espl__name_of(&world->store.names, entity.index);

        length = name != NULL ? espl__tell(line, size, length, " \"%s\"", name->text) : length;
    }
    return length;
}

espl_status espl__refuse_among(const espl_world *world, const char *operation,
                               const espl_entity *entities, size_t count, espl_status status)
{
    char line[320 + 3 * (ESPL_NAME_LIMIT + 3)];

    if (ESPL_CHECKS >= 1 && status == ESPL_ERR_NOT_OWNER) {
        return espl__refuse_trespass(world, operation, entities, count);
    }
    if (status >= 0) {
        return status;
    }
    // Builds without checks come here with no world, where others trap before.
    if (world == NULL) { // GCOVR_EXCL_BR_LINE
        return status;
    }
    if (world->hooks.log == NULL) {
        return status;
    }
    size_t length = espl__tell(line, sizeof line, 0, "%s of entity", operation);

    for (size_t i = 0; i < count; ++i) {
        if (i == 0 || !espl_entity_is_null(entities[i])) {
            length = espl__tell(line, sizeof line, length, i == 0 ? " " : ", ");
            length = espl__tell_entity(line, sizeof line, length, world, entities[i]);
        }
    }
    (void)espl__tell(line, sizeof line, length, " refused, %s: %s", espl_status_name(status),
                     espl_status_text(status));
    world->hooks.log(world->hooks.user, ESPL_LOG_WARNING, line);
    return status;
}

espl_status espl__check_structural(const espl_world *world)
{
    if (!ESPL_DEMAND(espl__hooks_of(world), world != NULL)) {
        return ESPL_ERR_ARGUMENT;
    }
    return world->iterations != 0 || world->is_playing ? ESPL_ERR_BUSY : ESPL_OK;
}

espl_status espl__check_living(const espl_world *world, espl_entity entity)
{
    return ESPL_DEMAND(espl__hooks_of(world), world != NULL)
               ? espl__entity_check(&world->store, entity)
               : ESPL_ERR_ARGUMENT;
}

uint32_t espl__slot_or_none(const espl_world *world, espl_entity entity)
{
    if (!ESPL_DEMAND(espl__hooks_of(world), world != NULL) ||
        espl__entity_check(&world->store, entity) != ESPL_OK) {
        return ESPL__NO_SLOT;
    }
    return world->store.records[entity.index].slot;
}

espl_entity espl__entity_of_slot(const espl_world *world, uint32_t slot)
{
    return slot == ESPL__NO_SLOT ? espl_entity_null()
                                 : espl__entity_at(&world->store, world->forest.links[slot].entity);
}
