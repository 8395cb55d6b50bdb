// SPDX-License-Identifier: MIT
// espalier(1): plays scenes made by others in the library's hierarchies.
#include "tools/commands.h"

#include "tools/document.h"
#include "tools/film_sink.h"
#include "tools/outputs.h"
#include "tools/packing.h"
#include "tools/page.h"
#include "tools/picture.h"
#include "tools/poses.h"
#include "tools/trace.h"

#include <espalier/jobs.h>

#include <stdio.h>
#include <stdlib.h>

/// Load all scenes first: one bad scene refuses the whole command line, and the readers' child
/// processes must be started before any thread.
static bool load_all(tool_scene *scenes, const tool_options *options)
{
    bool is_good = true;

    for (size_t i = 0; i < options->scene_count; ++i) {
        tool_fault fault = {""};

        if (!scene_load(&scenes[i], options->scenes[i], options->animation, &fault)) {
            (void)fprintf(stderr, "espalier: %s: %s\n", options->scenes[i], fault.text);
            is_good = false;
        }
    }
    return is_good;
}

/// More workers than there may be are refused for their number, in a library that has threads.
static bool has_threads(void)
{
    const espl_threads_def too_many = {.workers = ESPL_WORKER_LIMIT + 1};
    espl_executor none;

    return espl_executor_create(&too_many, &none) != ESPL_ERR_UNSUPPORTED;
}

/// Refuse options that this build does not support, before any work.
static bool is_possible(const tool_options *options)
{
    tool_fault fault = {""};

    if (options->png != NULL && !picture_is_built()) {
        (void)fprintf(stderr, "espalier: this espalier was built without Cairo: no --png\n");
        return false;
    }
    if (options->film != NULL && !film_path_is_good(options->film, &fault)) {
        (void)fprintf(stderr, "espalier: %s\n", fault.text);
        return false;
    }
    if ((options->command == COMMAND_VIEW ||
         (options->command == COMMAND_DIFF && options->output != NULL)) &&
        !page_is_built()) {
        (void)fprintf(stderr, "espalier: this espalier was built without zlib: no page\n");
        return false;
    }
    if (options->json != NULL && !document_is_built()) {
        (void)fprintf(stderr, "espalier: this espalier was built without jansson: no --json\n");
        return false;
    }
    if (options->gltf != NULL && !poses_are_built()) {
        (void)fprintf(stderr, "espalier: this espalier was built without tinygltf: no --gltf\n");
        return false;
    }
    if (options->trace != NULL && !trace_is_built()) {
        (void)fprintf(stderr, "espalier: this espalier was built without jansson: no --trace\n");
        return false;
    }
    if (options->command == COMMAND_PACK && !packing_is_built()) {
        (void)fprintf(stderr, "espalier: this espalier was built without zstd: no pack\n");
        return false;
    }
    if (options->workers != 1 && !has_threads()) {
        (void)fprintf(stderr,
                      "espalier: this espalier was built without pthreadpool: no --workers\n");
        return false;
    }
    return outputs_are_apart(options);
}

static int run_on_scenes(const tool_options *options, tool_scene *scenes)
{
    switch (options->command) {
    case COMMAND_PLAY:
        return run_play(options, scenes);
    case COMMAND_CHECK:
        return run_check(options, scenes);
    case COMMAND_EXPORT:
        return run_export(options, scenes);
    default:
        return run_tree(options, scenes);
    }
}

static int play_scenes(const tool_options *options)
{
    tool_scene *const scenes = calloc(options->scene_count, sizeof *scenes);

    if (scenes == NULL) {
        (void)fprintf(stderr, "espalier: no memory\n");
        return EXIT_BAD_SCENE;
    }
    const int status = load_all(scenes, options) ? run_on_scenes(options, scenes) : EXIT_BAD_SCENE;

    for (size_t i = 0; i < options->scene_count; ++i) {
        scene_release(&scenes[i]);
    }
    free(scenes);
    return status;
}

static int run(const tool_options *options)
{
    switch (options->command) {
    case COMMAND_REPLAY:
        return run_replay(options);
    case COMMAND_VIEW:
        return run_view(options);
    case COMMAND_PACK:
        return run_pack(options);
    case COMMAND_UNPACK:
        return run_unpack(options);
    case COMMAND_INFO:
        return run_info(options);
    case COMMAND_DIFF:
        return run_diff(options);
    default:
        return play_scenes(options);
    }
}

int main(int argc, char **argv)
{
    tool_options options;
    const options_result parsed = options_parse(&options, argc, argv);

    if (parsed != OPTIONS_RUN) {
        return parsed == OPTIONS_DONE ? EXIT_AGREED : EXIT_BAD_SCENE;
    }
    if (!is_possible(&options)) {
        return EXIT_BAD_SCENE;
    }
    const int status = run(&options);

    return fflush(stdout) == 0 ? status : EXIT_BAD_SCENE;
}
