// SPDX-License-Identifier: MIT
// `espalier view`: a page that plays tapes, its own or those of scenes that are played first.
#include "tools/commands.h"

#include "tools/outputs.h"
#include "tools/page.h"
#include "tools/replay.h"
#include "tools/show.h"
#include "tools/tape_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[] = "espltape";

/// Frames of a scene that are played.
enum { FRAMES = 120 };

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), size = strlen(end);

    return length >= size && strcmp(text + length - size, end) == 0;
}

/// A tape has its first bytes; what is called a tape and lacks them is no scene either.
static bool is_tape(const char *path, const tool_contents *c)
{
    return ends_with(path, ".tape") ||
           (c->size >= sizeof magic - 1 && memcmp(c->bytes, magic, sizeof magic - 1) == 0);
}

/// Tell whether a tape can be played from its begin. What follows its head may be anything: the page says where
/// a tape is broken.
static bool has_known_head(const tool_contents *tape, tool_fault *fault)
{
    static const replay_def def = {0};
    replay_result result;
    replay p;

    replay_begin(&p, &def, tape->bytes, tape->size, &result);
    const bool is_good = replay_end(&p) != REPLAY_BAD;

    *fault = result.fault;
    return is_good;
}

/// Leave out what follows a number of frames; 0: nothing. A tape that cannot be read so far stays as it is.
static void cut_tape(tool_contents *tape, uint32_t frames)
{
    tool_fault fault = {""};
    reel r = {.bytes = tape->bytes, .size = tape->size, .at = sizeof magic - 1, .fault = &fault};
    const uint32_t version = reel_u32(&r);
    const tape_head head = {version, reel_u32(&r)};
    uint32_t passed = 0;

    (void)reel_bytes(&r, TAPE_HEAD_SIZE - r.at);
    while (passed < frames && r.state == REEL_GOOD && reel_left(&r) != 0) {
        passed += tape_text_read(&r, &head, NULL).op == ESPL_TAPE_FRAME;
    }
    if (frames != 0 && passed == frames && r.state == REEL_GOOD) {
        tape->size = r.at;
    }
}

static void append_to_text(void *user, const void *bytes, size_t size)
{
    page_text_add(user, bytes, size);
}

/// Play a scene, and keep the tape of its world.
static bool play_on_tape(const tool_options *options, tool_scene *scene, tool_contents *tape,
                         tool_fault *fault)
{
    page_text text = {0};
    const espl_tape recorded = {.user = &text, .append = append_to_text};
    tool_options own = *options;
    // The page culls by the bounds that are on the tape.
    play_show show = {.options = &own, .scene = scene, .tape = &recorded, .has_bounds = true};

    own.frames = options->frames != 0 ? options->frames : FRAMES;
    bool is_good = show_open(&show, fault) && show_run(&show, fault) && show_judge(&show, fault);

    if (is_good && text.has_failed) {
        fault_say(fault, "no memory for the tape");
        is_good = false;
    }
    show_close(&show);
    *tape = text.contents;
    return is_good;
}

/// Take the tape of a file, or of the scene in it.
static bool take_tape(const tool_options *options, const char *path, tool_contents *tape,
                      bool *is_z_up, tool_fault *fault)
{
    tool_scene scene;

    if (!contents_load(tape, path, fault)) {
        return false;
    }
    if (is_tape(path, tape)) {
        if (!has_known_head(tape, fault)) {
            return false;
        }
        cut_tape(tape, options->frames);
        return true;
    }
    contents_release(tape);
    if (!scene_load(&scene, path, options->animation, fault)) {
        return false;
    }
    const bool is_good = play_on_tape(options, &scene, tape, fault);

    *is_z_up = scene.up_axis == 2;
    scene_release(&scene);
    return is_good;
}

static bool add_input(const tool_options *options, const char *path, page_text *text)
{
    tool_contents tape = {0};
    tool_fault fault = {""};
    bool is_z_up = false;
    const bool is_good =
        take_tape(options, path, &tape, &is_z_up, &fault) &&
        page_add_tape(text,
                      &(page_tape){.name = page_label(path), .is_z_up = is_z_up, .tape = &tape},
                      &fault);

    if (!is_good) {
        (void)fprintf(stderr, "espalier: %s: %s\n", path, fault.text);
    }
    contents_release(&tape);
    return is_good;
}

/// The name of the first input with another ending, in the working directory.
static char *choose_path(const char *input)
{
    static const char ending[] = ".html";
    const char *const label = page_label(input), *const dot = strrchr(label, '.');
    const size_t length = dot != NULL && dot != label ? (size_t)(dot - label) : strlen(label);
    char *const path = malloc(length + sizeof ending);

    if (path != NULL) {
        memcpy(path, label, length);
        memcpy(path + length, ending, sizeof ending);
    }
    return path;
}

/// Write the page of all inputs.
static bool write_page(const tool_options *options, const char *path)
{
    tool_contents page = {0};
    page_text text = {0};
    tool_fault fault = {""};
    bool is_good = page_load(&page, options->program, &fault);
    bool has_inputs = is_good;

    for (size_t i = 0; has_inputs && i < options->scene_count; ++i) {
        has_inputs = add_input(options, options->scenes[i], &text);
    }
    is_good = is_good && (!has_inputs || page_write(path, &page, &text, &fault));
    if (!is_good) {
        (void)fprintf(stderr, "espalier: %s\n", fault.text);
    } else if (has_inputs && !options->is_quiet) {
        (void)printf("page        %s\n", path);
    }
    contents_release(&page);
    contents_release(&text.contents);
    return is_good && has_inputs;
}

int run_view(const tool_options *options)
{
    char *const chosen = options->output == NULL ? choose_path(options->scenes[0]) : NULL;
    const char *const path = options->output != NULL ? options->output : chosen;

    if (path == NULL) {
        (void)fprintf(stderr, "espalier: no memory\n");
        return EXIT_BAD_SCENE;
    }
    const bool is_good = (chosen == NULL || outputs_spare_inputs(options, chosen, "the page")) &&
                         write_page(options, path);

    free(chosen);
    return is_good ? EXIT_AGREED : EXIT_BAD_SCENE;
}
