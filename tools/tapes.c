// SPDX-License-Identifier: MIT
// The command replay: tapes from files, played and compared.
#include "tools/commands.h"

#include "tools/replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 1 << 16 };

// A file in memory.
typedef struct contents {
    unsigned char *bytes;
    size_t size, room;
} contents;

static bool make_room(contents *c)
{
    const size_t room = c->room == 0 ? FIRST_ROOM : 2 * c->room;
    unsigned char *const bytes = c->size < c->room ? c->bytes : realloc(c->bytes, room);

    if (bytes == NULL) {
        return false;
    }
    c->room = c->size < c->room ? c->room : room;
    c->bytes = bytes;
    return true;
}

static bool load(contents *c, const char *path, tool_fault *fault)
{
    FILE *const file = fopen(path, "rb");
    bool is_good = file != NULL;
    size_t count = 1;

    *c = (contents){NULL, 0, 0};
    while (is_good && count != 0) {
        is_good = make_room(c);
        count = is_good ? fread(c->bytes + c->size, 1, c->room - c->size, file) : 0;
        c->size += count;
    }
    is_good = is_good && ferror(file) == 0;
    if (!is_good) {
        fault_say(fault, "%s", strerror(errno));
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return is_good;
}

static int replay_file(const tool_options *options, const replay_def *def, const char *path)
{
    static const int statuses[] = {[REPLAY_AGREED] = EXIT_AGREED,
                                   [REPLAY_DISAGREED] = EXIT_DISAGREED,
                                   [REPLAY_BAD] = EXIT_BAD_SCENE};
    replay_result result = {.fault = {""}};
    contents c;

    if (!load(&c, path, &result.fault)) {
        (void)fprintf(stderr, "espalier: %s: %s\n", path, result.fault.text);
        free(c.bytes);
        return EXIT_BAD_SCENE;
    }
    const replay_verdict verdict = replay_run(def, c.bytes, c.size, &result);

    free(c.bytes);
    if (!options->is_quiet && verdict != REPLAY_BAD) {
        (void)printf("%s: %llu calls, %llu frames%s\n", path, (unsigned long long)result.calls,
                     (unsigned long long)result.frames,
                     result.is_cut ? "; the tape ends within a call" : "");
    }
    if (verdict != REPLAY_AGREED) {
        (void)fprintf(stderr, "espalier: %s: %s\n", path, result.fault.text);
    }
    return statuses[verdict];
}

int run_replay(const tool_options *options)
{
    espl_executor executor = {0};
    const replay_def def = {.executor = &executor, .frames = options->frames};
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
