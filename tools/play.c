// SPDX-License-Identifier: MIT
// `espalier play`: plays a crowd of each scene for a number of frames, and compares world transforms
// with the oracle between the writes.
#include "tools/commands.h"

#include "tools/document.h"
#include "tools/figure.h"
#include "tools/film.h"
#include "tools/table.h"
#include "tools/ticks.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Numbers of the table that are computed from a show.
typedef struct play_figures {
    size_t entities, hierarchies;
    uint32_t depth;
    double per_node, per_prefab; // nanoseconds, microseconds
} play_figures;

// What is shown.

const char *show_spell(char out[32], size_t count)
{
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%zu", count);
    char *end = out;

    for (int i = 0; i < length; ++i) {
        if (i > 0 && (length - i) % 3 == 0) {
            *end++ = ',';
        }
        *end++ = digits[i];
    }
    *end = '\0';
    return out;
}

/// What the picture shows, and what was checked.
static void write_caption(picture_panel *panel, const play_show *show)
{
    const bool has_physics = show->scene->physics != NULL;
    const tool_tally *const tally = &show->tally;
    char figures[32], nodes[32], reads[32], left_out[32], ticks[64] = "";

    if (show->options->ticks > 0) {
        (void)snprintf(ticks, sizeof ticks, ", %zu ticks", show->ticks.count);
    }
    (void)snprintf(panel->title, sizeof panel->title, "%s after %u frames%s: %s %s, %s nodes",
                   show->scene->label, show->frame_count, ticks,
                   show_spell(figures, panel->figure_count),
                   panel->figure_count == 1 ? "figure" : "figures",
                   show_spell(nodes, show->crowd.copy_count * show->scene->node_count));
    (void)snprintf(panel->caption, sizeof panel->caption,
                   "Checked: %s world transforms, read between writes. All equal %s; no error "
                   "exceeds %.0f %% of the rounding bound. Not compared: %s.",
                   show_spell(reads, tally->reads),
                   has_physics ? "MuJoCo's own" : "matrices in double precision",
                   ceil(100 * tally->worst_share), show_spell(left_out, tally_left_out(tally)));
    panel->mark_label = has_physics ? "one figure; dots: its nodes by MuJoCo"
                                    : "one figure; dots: its nodes by matrices";
}

static bool collect_panel(const play_show *show, picture_panel *panel, tool_fault *fault)
{
    const tool_moment *const moment = &show->phases[show->crowd.copies[0].phase].moment;

    const bool has_culling = show->options->has_culling;

    if (!figure_collect(panel, &show->crowd, moment, has_culling ? show->culling.tints : NULL,
                        fault)) {
        return false;
    }
    write_caption(panel, show);
    if (has_culling) {
        panel->has_frustum = true;
        panel->frustum = show->culling.frustums[CULLING_EYE];
        (void)memcpy(panel->sight, "; ", 3);
        culling_explain(&show->culling, panel->sight + 2, sizeof panel->sight - 2);
    }
    return true;
}

static void head_table(tool_table *table, const tool_options *options)
{
    static const char *const headings[] = {"scene",       "nodes",     "copies",    "entities",
                                           "hierarchies", "depth",     "ns/node",   "us/prefab",
                                           "reads",       "max error", "of allowed"};

    (void)table_row_begin(table);
    for (size_t i = 0; i < sizeof headings / sizeof *headings; ++i) {
        table_cell(table, "%s", headings[i]);
    }
    if (options->ticks > 0) {
        ticks_head_table(table);
    }
}

static play_figures take_figures(const play_show *show)
{
    const tool_crowd *const crowd = &show->crowd;

    // The prefabs are an entity and a hierarchy of their own: a carrier, and a seat with nodes.
    return (play_figures){
        .entities = show->stats.entities - show->scene->node_count - 2,
        .hierarchies = show->stats.hierarchies - 1,
        .depth = show->scene->depth + CROWD_DEPTH,
        .per_node = show->visited > 0 ? show->write_seconds / (double)show->visited * 1e9 : 0,
        .per_prefab = crowd->made > 0 ? crowd->playback_seconds / (double)crowd->made * 1e6 : 0,
    };
}

static void add_to_table(tool_table *table, const play_show *show)
{
    const play_figures figures = take_figures(show);

    (void)table_row_begin(table);
    table_cell(table, "%s", show->scene->label);
    table_cell(table, "%zu", show->scene->node_count);
    table_cell(table, "%zu", show->crowd.copy_count);
    table_cell(table, "%zu", figures.entities);
    table_cell(table, "%zu", figures.hierarchies);
    table_cell(table, "%u", figures.depth);
    table_cell(table, "%.1f", figures.per_node);
    table_cell(table, "%.2f", figures.per_prefab);
    table_cell(table, "%zu", show->tally.reads);
    table_cell(table, "%.2g", show->tally.worst_error);
    table_cell(table, "%.0f %%", ceil(100 * show->tally.worst_share));
    if (show->options->ticks > 0) {
        ticks_add_to_table(table, show);
    }
}

static void add_to_document(tool_document *document, const play_show *show)
{
    const play_figures figures = take_figures(show);

    document_count(document, "nodes", show->scene->node_count);
    document_count(document, "not_compared", tally_left_out(&show->tally));
    document_count(document, "copies", show->crowd.copy_count);
    document_count(document, "entities", figures.entities);
    document_count(document, "hierarchies", figures.hierarchies);
    document_count(document, "depth", figures.depth);
    document_number(document, "ns_per_node", figures.per_node);
    document_number(document, "us_per_prefab", figures.per_prefab);
    document_count(document, "reads", show->tally.reads);
    document_number(document, "max_error", show->tally.worst_error);
    document_number(document, "of_allowed", show->tally.worst_share);
    if (show->options->ticks > 0) {
        ticks_add_to_document(document, show);
    }
    if (show->options->has_culling) {
        culling_add_to_document(document, &show->culling);
    }
    document_scene_facts(document, show->scene);
}

/// Print what the table has no column for.
static void print_remarks(const play_show *show)
{
    char left_out[256];

    tally_explain(&show->tally, left_out, sizeof left_out);
    if (*left_out != '\0') {
        (void)printf("%s: %s\n", show->scene->label, left_out);
    }
    tally_explain(&show->ticks.tally, left_out, sizeof left_out);
    if (*left_out != '\0') {
        (void)printf("%s: shown: %s\n", show->scene->label, left_out);
    }
    if (show->options->has_culling) {
        culling_print(&show->culling, show->scene->label);
    }
    if (show->scene->notes != NULL) {
        (void)printf("%s:\n", show->scene->label);
        scene_print_notes(show->scene);
    }
}

/// Results of all scenes.
typedef struct play_sum {
    tool_table table;
    tool_document document;
    picture_panel *panels; // [scene_count]
    tool_film *film;       // or NULL
    uint64_t checksum;     // of all scenes' final worlds
    espl_report account;
    size_t made;
} play_sum;

static void append_to_file(void *user, const void *bytes, size_t size)
{
    (void)fwrite(bytes, 1, size, user); // ferror() knows
}

// Open the file of the tape, if one is asked for.
static bool open_tape(espl_tape *tape, const char *path, tool_fault *fault)
{
    FILE *const file = path != NULL ? fopen(path, "wb") : NULL;

    *tape = (espl_tape){file, append_to_file};
    if (path != NULL && file == NULL) {
        fault_say(fault, "%s: %s", path, strerror(errno));
        return false;
    }
    return true;
}

// Close it. Precondition: the world has ended.
static bool close_tape(const espl_tape *tape, const char *path, tool_fault *fault)
{
    FILE *const file = tape->user;
    const bool has_failed = file != NULL && ferror(file) != 0;

    if (file != NULL && (fclose(file) != 0 || has_failed)) {
        fault_say(fault, "%s: the tape could not be written", path);
        return false;
    }
    return true;
}

static bool take_frame(void *taker, const play_show *show, uint32_t frame, tool_fault *fault)
{
    return film_take(taker, show, frame, fault);
}

static bool play_scene(const tool_options *options, tool_scene *scene, play_sum *sum,
                       picture_panel *panel, tool_fault *fault)
{
    play_show show = {.options = options,
                      .scene = scene,
                      .take = sum->film != NULL ? take_frame : NULL,
                      .taker = sum->film};
    espl_tape tape;

    if (!open_tape(&tape, options->tape, fault)) {
        return false;
    }
    show.tape = tape.user != NULL ? &tape : NULL;
    const bool is_good = show_open(&show, fault) && show_run(&show, fault) &&
                         show_judge(&show, fault) &&
                         (options->png == NULL || collect_panel(&show, panel, fault));
    if (is_good) {
        add_to_table(&sum->table, &show);
        add_to_document(&sum->document, &show);
        sum->account.accepted += show.crowd.account.accepted;
        sum->account.refused += show.crowd.account.refused;
        sum->account.created += show.crowd.account.created;
        sum->account.destroyed += show.crowd.account.destroyed;
        sum->made += show.crowd.made;
        sum->checksum = sum->checksum * UINT64_C(0x100000001b3) ^ show.checksum;
    }
    if (is_good && !options->is_quiet) {
        print_remarks(&show);
    }
    show_close(&show);
    return close_tape(&tape, options->tape, fault) && is_good;
}

static void print_sum(const tool_options *options, const play_sum *sum)
{
    const uint32_t frames = show_count_frames(options);

    (void)printf("%u frames, ", frames);
    if (options->ticks > 0) {
        (void)printf("%zu ticks at %u a second, ", ticks_in_frames(options, frames),
                     options->ticks);
    }
    if (options->ahead != 0) {
        (void)printf("%g ahead, ", options->ahead);
    }
    (void)printf("seed %llu, %d lanes of commands\n\n", (unsigned long long)options->seed,
                 CROWD_LANES);
    table_print(&sum->table);
    (void)printf("\ncommands    %zu played, %zu refused; %zu prefabs made, %zu entities created, "
                 "%zu destroyed\n",
                 sum->account.accepted, sum->account.refused, sum->made, sum->account.created,
                 sum->account.destroyed);
    (void)printf("oracle      agreed on every read that was compared\ninvariants  hold\nchecksum   "
                 " %016llx\n",
                 (unsigned long long)sum->checksum);
}

static bool draw(const tool_options *options, const play_sum *sum)
{
    tool_fault fault = {""};

    if (!picture_write(options->png, sum->panels, options->scene_count, &fault)) {
        (void)fprintf(stderr, "espalier: %s\n", fault.text);
        return false;
    }
    if (!options->is_quiet) {
        (void)printf("picture     %s\n", options->png);
    }
    return true;
}

static void begin_document(tool_document *document, const tool_options *options)
{
    char seed[24];

    // Of 64 bits many readers of JSON keep 53, so the seed and the checksum are texts.
    (void)snprintf(seed, sizeof seed, "%llu", (unsigned long long)options->seed);
    document_text(document, "command", "play");
    document_count(document, "frames", show_count_frames(options));
    if (options->ticks > 0) {
        document_count(document, "ticks", ticks_in_frames(options, show_count_frames(options)));
        document_count(document, "ticks_per_second", options->ticks);
        document_number(document, "ahead", options->ahead);
    }
    document_text(document, "seed", seed);
    document_count(document, "lanes", CROWD_LANES);
}

/// Add what print_sum() prints below the table.
static void add_sum(play_sum *sum)
{
    tool_document *const document = &sum->document;
    char checksum[24];

    (void)snprintf(checksum, sizeof checksum, "%016llx", (unsigned long long)sum->checksum);
    document_count(document, "commands_played", sum->account.accepted);
    document_count(document, "commands_refused", sum->account.refused);
    document_count(document, "prefabs_made", sum->made);
    document_count(document, "entities_created", sum->account.created);
    document_count(document, "entities_destroyed", sum->account.destroyed);
    document_text(document, "checksum", checksum);
}

static bool save_document(const tool_options *options, play_sum *sum, bool has_agreed)
{
    tool_fault fault = {""};

    document_flag(&sum->document, "agreed", has_agreed);
    if (has_agreed) {
        add_sum(sum);
    }
    if (!document_write(&sum->document, options->json, &fault)) {
        (void)fprintf(stderr, "espalier: %s\n", fault.text);
        return false;
    }
    return true;
}

static bool play_all(const tool_options *options, tool_scene *scenes, play_sum *sum)
{
    bool has_agreed = true;

    for (size_t i = 0; i < options->scene_count; ++i) {
        tool_fault fault = {""};

        document_scene_begin(&sum->document);
        document_text(&sum->document, "scene", scenes[i].label);
        if (!play_scene(options, &scenes[i], sum, &sum->panels[i], &fault)) {
            (void)fprintf(stderr, "espalier: %s: %s\n", scenes[i].path, fault.text);
            document_text(&sum->document, "fault", fault.text);
            has_agreed = false;
        }
        document_scene_end(&sum->document);
    }
    return has_agreed;
}

/// Print, draw and write what the options ask for.
static bool show_sum(const tool_options *options, play_sum *sum, bool has_agreed)
{
    bool is_shown = true;

    if (has_agreed && !options->is_quiet) {
        print_sum(options, sum);
    }
    if (has_agreed && options->png != NULL) {
        is_shown = draw(options, sum);
    }
    return (options->json == NULL || save_document(options, sum, has_agreed)) && is_shown;
}

/// Begin the film, which all scenes are drawn into.
static bool begin_film(const tool_options *options, play_sum *sum)
{
    tool_fault fault = {""};

    sum->film = options->film != NULL ? film_open(options, &fault) : NULL;
    if (options->film != NULL && sum->film == NULL) {
        (void)fprintf(stderr, "espalier: %s\n", fault.text);
        return false;
    }
    return true;
}

static bool end_film(const tool_options *options, play_sum *sum)
{
    char text[DRAWING_TEXT];
    tool_fault fault = {""};

    if (!film_close(sum->film, text, &fault)) {
        (void)fprintf(stderr, "espalier: %s\n", fault.text);
        return false;
    }
    if (*text != '\0' && !options->is_quiet) {
        (void)printf("film        %s\n", text);
    }
    return true;
}

int run_play(const tool_options *options, tool_scene *scenes)
{
    play_sum sum = {.panels = calloc(options->scene_count, sizeof *sum.panels)};

    if (sum.panels == NULL) {
        (void)fprintf(stderr, "espalier: no memory\n");
        return EXIT_DISAGREED;
    }
    head_table(&sum.table, options);
    begin_document(&sum.document, options);
    const bool is_begun = begin_film(options, &sum);
    const bool has_agreed = is_begun && play_all(options, scenes, &sum);
    const bool is_shown = is_begun && show_sum(options, &sum, has_agreed);
    const bool is_filmed = end_film(options, &sum);

    for (size_t i = 0; i < options->scene_count; ++i) {
        figure_release(&sum.panels[i]);
    }
    free(sum.panels);
    document_release(&sum.document);
    table_release(&sum.table);
    return has_agreed && is_shown && is_filmed ? EXIT_AGREED : EXIT_DISAGREED;
}
