// SPDX-License-Identifier: MIT
// The begin and the end of a world: espl_world_create(), espl_world_destroy().
//
// A definition and the environment are read before anything is allocated. The struct espl_world and
// its playback are a block of its own heap; destroying the world frees it last. Invariant at the end: the heap has
// no bytes left.
#include "lib/base/reserved.h"
#include "lib/commands/playback.h"
#include "lib/math/arithmetic.h"
#include "lib/store/message.h"
#include "lib/tree/cells.h"
#include "lib/world/creation.h"
#include "lib/world/hooks.h"
#include "lib/world/moment.h"
#include "lib/world/tape_bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_LIMIT = 127 };

// A world and its playback: most files of lib/world need not know what a playback has.
typedef struct world_block {
    espl_world world;
    espl__playback playback;
} world_block;

// The only state that worlds share, beside the gates of executors (lib/jobs/ranges.c): tags are
// assigned in turn, so that a handle of one world names nothing in another.
static _Atomic uint32_t next_world_tag;

// --- Definitions ---

// What a definition and the environment ask for. The environment is asked only where the definition
// leaves a choice open, so that a program can rule out its effect. A word in the environment that
// is not known refuses the world: a silent default would hide the mistake.
typedef struct wanted {
    const espl_world_def *def;
    espl_hooks hooks; // those of the definition, and a log that the environment names
    espl_log_level least_level;
    const espl__kernels *kernels;
    espl_huge_pages pages;
    espl_status status; // why no world is made
} wanted;

// Log why no world is created. @param part  is added to the message; or NULL.
static espl_status refuse_world(const wanted *w, espl_status status, const char *part,
                                const char *sentence)
{
    espl__message m;

    if (espl__message_begin(&m, &w->hooks, "espl_world_create", NULL) &&
        w->least_level <= ESPL_LOG_WARNING) {
        espl__message_status(&m, status);
        if (part != NULL) {
            espl__message_part(&m, "%s", part);
        }
        espl__message_send(&m, ESPL_LOG_WARNING, "%s", sentence);
    }
    return status;
}

// Log what is wrong with the definition or the environment.
// @param word  the value given, which may be long; or NULL.
// @return false.
static bool refuse_wanted(wanted *w, espl_status status, const char *what, const char *word,
                          const char *sentence)
{
    char part[80];

    if (word != NULL) {
        (void)snprintf(part, sizeof part, "%s \"%.40s\"", what, word);
    }
    w->status = refuse_world(w, status, word != NULL ? part : NULL, sentence);
    return false;
}

// Refuse a definition with ESPL_ERR_ARGUMENT: see refuse_wanted().
static bool refuse_def(wanted *w, const char *what, const char *word, const char *sentence)
{
    return refuse_wanted(w, ESPL_ERR_ARGUMENT, what, word, sentence);
}

// Find the log hook: the hook of the definition, else the one that the environment names. Called
// before the other checks, so that the log receives their refusals.
// @return false: refused.
static bool find_log(wanted *w)
{
    static const struct {
        const char *word;
        espl_log_level level;
    } words[] = {{"info", ESPL_LOG_INFO}, {"warning", ESPL_LOG_WARNING}, {"error", ESPL_LOG_ERROR}};
    const char *const word = w->hooks.log == NULL ? getenv("ESPALIER_LOG") : NULL;

    if (word == NULL || strcmp(word, "off") == 0) {
        return true;
    }
    w->hooks.log = espl_log_stderr;
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        if (strcmp(word, words[i].word) == 0) {
            w->least_level = words[i].level;
            return true;
        }
    }
    return refuse_def(
        w, "ESPALIER_LOG", word,
        "The environment variable has a word other than error, warning, info and off.");
}

// Find the kernels that the definition names, or without a name the environment.
static bool find_kernels(wanted *w)
{
    const char *const given = w->def->kernels;
    const char *const name = given != NULL ? given : getenv("ESPALIER_KERNELS");

    w->kernels = name == NULL ? espl__kernels_best() : espl__kernels_named(name);
    if (w->kernels != NULL) {
        return true;
    }
    const char *const what = given != NULL ? "def->kernels" : "ESPALIER_KERNELS";

    return espl__kernels_exist(name)
               ? refuse_wanted(w, ESPL_ERR_UNSUPPORTED, what, name,
                               "The kernels are not for this machine, or not in this build.")
               : refuse_def(w, what, name, "There are no kernels of that name.");
}

// Look at the arithmetic of this thread and of these kernels.
static bool find_arithmetic(wanted *w)
{
    const char *const fault = espl__arithmetic_fault(w->kernels);

    return fault == NULL || refuse_wanted(w, ESPL_ERR_ARITHMETIC, NULL, NULL, fault);
}

// Find whether huge pages are wanted: by the definition, or where it leaves that open by the
// environment.
static bool find_pages(wanted *w)
{
    const char *const word =
        w->def->huge_pages == ESPL_HUGE_PAGES_DEFAULT ? getenv("ESPALIER_HUGE_PAGES") : NULL;

    w->pages = w->def->huge_pages == ESPL_HUGE_PAGES_OFF ? ESPL_HUGE_PAGES_OFF : ESPL_HUGE_PAGES_ON;
    if (word == NULL || strcmp(word, "on") == 0) {
        return true;
    }
    if (strcmp(word, "off") == 0) {
        w->pages = ESPL_HUGE_PAGES_OFF;
        return true;
    }
    return refuse_def(w, "ESPALIER_HUGE_PAGES", word,
                      "The environment variable has a word other than on and off.");
}

// Say what is wrong with a definition, or NULL. An allocator needs both of its functions, because a
// block must be freed by the allocator that it comes from.
static const char *find_def_fault(const espl_world_def *def)
{
    const espl_allocator *const a = &def->allocator;

    if ((a->allocate == NULL) != (a->release == NULL)) {
        return "def->allocator has one of its functions without the other.";
    }
    if (def->tag > TAG_LIMIT) {
        return "def->tag is more than 127.";
    }
    if ((unsigned)def->huge_pages > ESPL_HUGE_PAGES_ON) {
        return "def->huge_pages is none of espl_huge_pages.";
    }
    return def->cell_size == 0 || espl__is_cell_size(def->cell_size)
               ? NULL
               : "def->cell_size is no power of two from 1 to 2^30.";
}

// Read the definition and the environment.
// @return false: `w->status` says why, and it is logged.
static bool find_wanted(wanted *w, const espl_world_def *def, const void *out)
{
    *w = (wanted){.def = def, .hooks = def->hooks, .least_level = ESPL_LOG_INFO};
    if (!find_log(w)) {
        return false;
    }
    if (ESPL__ASKS_LATER(def)) {
        return refuse_wanted(w, ESPL_ERR_UNSUPPORTED, NULL, NULL, ESPL__LATER_FAULT);
    }
    const char *const fault = out == NULL ? "out is NULL." : find_def_fault(def);

    return fault != NULL ? refuse_def(w, NULL, NULL, fault)
                         : find_kernels(w) && find_pages(w) && find_arithmetic(w);
}

// --- Making and unmaking ---

// Set up a heap without blocks. It is done twice for a world: on the stack, to allocate the world,
// and inside the world, where the heap then counts that block as well.
static void begin_heap(espl__heap *heap, const espl_world_def *def, espl_huge_pages pages)
{
    espl__heap_init(heap, &def->allocator);
    if (pages == ESPL_HUGE_PAGES_ON) {
        espl__heap_use_huge_pages(heap);
    }
}

// Create a world. Nothing is allocated before the definition was checked. Where the store finds no
// memory, the other parts are set up nevertheless, so that espl_world_destroy() can free a world
// that is complete but for the store. `*out` is written only where the call succeeds. The head of
// the tape is written last, because a world that was not created has no tape.
espl_status espl_world_create(const espl_world_def *def, espl_world **out)
{
    const espl_world_def defaults = {0};
    const espl_world_def *const d = def != NULL ? def : &defaults;
    wanted w;

    if (!find_wanted(&w, d, out)) {
        return w.status;
    }
    espl__heap heap;
    begin_heap(&heap, d, w.pages);
    world_block *const block =
        espl__heap_take(&heap, ESPL__FOR_WORLD, 1, sizeof *block, _Alignof(espl__max_align));
    if (block == NULL) {
        return refuse_world(&w, ESPL_ERR_NO_MEMORY, NULL, espl_status_text(ESPL_ERR_NO_MEMORY));
    }

    espl_world *const world = &block->world;

    memset(block, 0, sizeof *block);
    world->playback = &block->playback;
    begin_heap(&world->heap, d, w.pages);
    world->heap.bytes[ESPL__FOR_WORLD] = sizeof *block;
    espl__hooks_guard(world, &w.hooks, w.least_level);
    world->holder.hooks = &world->hooks;
    world->holder.is_playing = &world->is_playing;
    world->executor = d->executor;
    world->line.is_closed = &world->is_playing;
    world->job_cost = ESPL__JOB_COST;
    world->wake_cost = ESPL__WAKE_COST;
    world->layout_budget = d->layout_budget != 0 ? d->layout_budget : ESPL__LAYOUT_BUDGET;
    const uint32_t tag =
        d->tag != 0 ? d->tag : 1 + atomic_fetch_add(&next_world_tag, 1) % TAG_LIMIT;
    espl_status status = espl__store_init(&world->store, &world->heap, tag);
    espl__forest_init(&world->forest, &world->heap);
    world->forest.kernels = w.kernels;
    if (status == ESPL_OK && d->cell_size != 0 && !espl__cells_open(&world->forest, d->cell_size)) {
        status = ESPL_ERR_NO_MEMORY;
    }
    (void)espl__world_next_moment(world);
    world->forest.context.workers =
        (espl__workers){&world->executor, &world->hooks, &world->is_playing};
    espl__playback_init(world->playback, &world->heap, &world->store, &world->forest,
                        &world->executor, &world->hooks);
    if (status != ESPL_OK) {
        espl_world_destroy(world);
        return refuse_world(&w, status, NULL, espl_status_text(status));
    }
    world->tape.sink = d->tape;
    world->has_tape = d->tape.append != NULL;
    if (espl__is_taped(world)) {
        espl__tape_head(world);
    }
    *out = world;
    return ESPL_OK;
}

// Trap because command buffers, watches, a history or renderables of the world are still live. They point to
// its heap and its store, so that freeing the world would leave them dangling.
static void trap_alive(const espl_world *world, const char *what, const char *plural,
                       uint32_t count, const char *call)
{
    espl__message m;

    (void)espl__message_begin(&m, &world->hooks, "espl_world_destroy", NULL);
    espl__message_trap(&m, __FILE__, __LINE__,
                       "%lu %s%s of the world still live%s; call %s() for each, then destroy the "
                       "world.",
                       (unsigned long)count, what, count == 1 ? "" : plural, count == 1 ? "s" : "",
                       call);
}

// Tell whether a world has command buffers, watches, a history or renderables, and trap.
static bool has_users(const espl_world *world)
{
    if (world->commands_alive != 0) {
        trap_alive(world, "command buffer", "s", world->commands_alive,
                   "espl_command_buffer_destroy");
        return true;
    }
    if (world->history != NULL) {
        trap_alive(world, "history", "", 1, "espl_history_destroy");
        return true;
    }
    if (world->attachment != NULL) {
        trap_alive(world, "set of renderables", "", 1, "espl_renderables_destroy");
        return true;
    }
    if (world->watch_count != 0) {
        trap_alive(world, "watch", "es", world->watch_count, "espl_watch_destroy");
        return true;
    }
    return false;
}

// Tell whether another thread is inside a changing call, and trap. In a function of its own,
// because the world is gone before espl_world_destroy() would leave the call.
static bool is_held(espl_world *world)
{
    ESPL__HOLD_OR_RETURN(&world->holder, "espl_world_destroy", true)
    return false;
}

// Destroy a world; NULL does nothing. A world that is in use by another thread or has live command
// buffers or watches is a fault of the caller: it traps, and where the trap returns, the world stays as it
// was.
void espl_world_destroy(espl_world *world)
{
    if (world == NULL) {
        return;
    }
    if (is_held(world)) {
        return;
    }
    if (has_users(world)) {
        return;
    }
    espl__heap_end_follower(&world->heap);
    espl__own_free(world);
    espl__scratch_free(&world->heap, ESPL__FOR_COMMANDS, &world->write_scratch);
    espl__scratch_free(&world->heap, ESPL__FOR_COMMANDS, &world->side_scratch);
    espl__scratch_free(&world->heap, ESPL__FOR_COMMANDS, &world->partition_scratch);
    espl__scratch_free(&world->heap, ESPL__FOR_COMMANDS, &world->mark_scratch);
    espl__playback_free(world->playback);
    espl__forest_free(&world->forest);
    espl__store_free(&world->store);

    // The heap is in the block that is freed last, so a copy frees it.
    espl__heap heap;
    espl__heap_init(&heap, &world->heap.allocator);
    memcpy(heap.bytes, world->heap.bytes, sizeof heap.bytes);
    espl__heap_give(&heap, ESPL__FOR_WORLD, world, 1, sizeof(world_block),
                    _Alignof(espl__max_align));
    ESPL_CHECK(espl__heap_bytes(&heap) == 0);
}

// The kernels never change after the creation, so any thread may ask. The name is a constant.
const char *espl_world_kernels(const espl_world *world)
{
    return world != NULL ? world->forest.kernels->name : NULL;
}
