// SPDX-License-Identifier: MIT
// The command replay: tapes from files, packed or not, played and compared.
#include "tools/commands.h"

#include "tools/contents.h"
#include "tools/replay.h"

#include <stdio.h>

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
    const replay_verdict verdict = replay_run(def, c.bytes, c.size, &result);

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
    return statuses[verdict];
}

int run_replay(const tool_options *options)
{
    espl_executor executor = {0};
    const replay_def def = {
        .executor = &executor, .frames = options->frames, .rollback = options->rollback};
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
