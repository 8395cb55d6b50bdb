// SPDX-License-Identifier: MIT
// The command replay: tapes from files, packed or not, played and compared.
#include "tools/commands.h"

#include "tools/contents.h"
#include "tools/replay.h"

#include <espalier/names.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void print_hashes(void *user, const uint64_t hashes[2])
{
    (void)user;
    (void)printf("%016llx %016llx\n", (unsigned long long)hashes[0], (unsigned long long)hashes[1]);
}

/// Find an entity by its name or path, or where none has it by its handle, as in 7.16777217.
static espl_entity find_entity(const espl_world *world, const char *path)
{
    espl_entity found = espl_entity_null();
    int length = 0;

    if (!espl_failed(espl_find_descendant(world, espl_entity_null(), path, &found)) &&
        !espl_entity_is_null(found)) {
        return found;
    }
    const bool is_handle = sscanf(path, "%10" SCNu32 ".%10" SCNu32 "%n", &found.index,
                                  &found.generation, &length) == 2 &&
                           path[length] == '\0';

    return is_handle && espl_is_alive(world, found) ? found : espl_entity_null();
}

/// Print what the world has of an entity.
static bool show(const espl_world *world, const char *path)
{
    const espl_entity entity = find_entity(world, path);
    const size_t size = espl_dump(world, entity, NULL, 0) + 1;
    char *const text = espl_entity_is_null(entity) ? NULL : malloc(size);

    if (text == NULL) {
        (void)fprintf(stderr, "espalier: no entity %s where the replay ends\n", path);
        return false;
    }
    (void)espl_dump(world, entity, text, size);
    (void)fputs(text, stdout);
    free(text);
    return true;
}

static int replay_file(const tool_options *options, const replay_def *def, const char *path)
{
    static const int statuses[] = {[REPLAY_AGREED] = EXIT_AGREED,
                                   [REPLAY_DISAGREED] = EXIT_DISAGREED,
                                   [REPLAY_BAD] = EXIT_BAD_SCENE};
    replay_result result = {.fault = {""}};
    tool_contents c;

    if (!contents_load(&c, path, &result.fault)) {
        (void)fprintf(stderr, "espalier: %s: %s\n", path, result.fault.text);
        return EXIT_BAD_SCENE;
    }
    replay p;

    replay_begin(&p, def, c.bytes, c.size, &result);
    while (replay_step(&p)) {
    }
    const bool is_shown = options->shown == NULL || show(p.world, options->shown);
    const replay_verdict verdict = replay_end(&p);

    contents_release(&c);
    if (!options->is_quiet && verdict != REPLAY_BAD) {
        (void)printf("%s: %llu calls, %llu frames", path, (unsigned long long)result.calls,
                     (unsigned long long)result.frames);
        if (def->rollback != 0) {
            (void)printf(", %llu times back by %u", (unsigned long long)result.rollbacks,
                         def->rollback);
        }
        (void)puts(result.is_cut ? "; the tape ends within a call" : "");
    }
    if (verdict != REPLAY_AGREED) {
        (void)fprintf(stderr, "espalier: %s: %s\n", path, result.fault.text);
    }
    return verdict == REPLAY_AGREED && !is_shown ? EXIT_BAD_SCENE : statuses[verdict];
}

int run_replay(const tool_options *options)
{
    espl_executor executor = {0};
    const replay_def def = {.executor = &executor,
                            .frames = options->frames,
                            .rollback = options->rollback,
                            .frame = options->has_hashes ? print_hashes : NULL};
    int worst = EXIT_AGREED;

    if (options->workers != 1 &&
        espl_failed(
            espl_executor_create(&(espl_threads_def){.workers = options->workers}, &executor))) {
        (void)fprintf(stderr, "espalier: %u threads cannot be started\n", options->workers);
        return EXIT_BAD_SCENE;
    }
    for (size_t i = 0; i < options->scene_count; ++i) {
        const int status = replay_file(options, &def, options->scenes[i]);

        worst = status > worst ? status : worst;
    }
    if (options->workers != 1) {
        espl_executor_destroy(&executor);
    }
    return worst;
}
