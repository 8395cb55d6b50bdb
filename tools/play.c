// SPDX-License-Identifier: MIT
// `espalier play`: plays a crowd of each scene for a number of frames, and compares world transforms
// with the oracle between the writes.
#include "tools/commands.h"

#include "tools/document.h"
#include "tools/figure.h"
#include "tools/film.h"
#include "tools/progress.h"
#include "tools/table.h"
#include "tools/ticks.h"

#include <espalier/motion.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 60
/// Moments of a scene that copies are spread over.
#define PHASES 32

/// Numbers of the table that are computed from a show.
typedef struct play_figures {
    size_t entities, hierarchies;
    uint32_t depth;
    double per_node, per_prefab; // nanoseconds, microseconds
} play_figures;

// Preparation.

static uint32_t count_frames(const tool_options *options)
{
    return options->frames > 0 ? options->frames : FRAMES;
}

static bool list_moved(play_show *show)
{
    const tool_scene *const scene = show->scene;

    show->moved = calloc(scene->node_count + scene->channel_count + 1, sizeof *show->moved);
    if (show->moved == NULL) {
        return false;
    }
    show->moved_count = scene_list_moved(scene, show->moved);
    return true;
}

static bool reserve_phases(play_show *show)
{
    const uint32_t copies = show->options->copies;

    show->phase_count = show->scene->duration == 0 ? 1 : copies < PHASES ? copies : PHASES;
    show->phases = calloc(show->phase_count, sizeof *show->phases);
    bool is_good = show->phases != NULL;
    for (size_t i = 0; is_good && i < show->phase_count; ++i) {
        play_phase *const phase = &show->phases[i];
        phase->locals = calloc(show->moved_count + 1, sizeof *phase->locals);
        is_good = phase->locals != NULL && moment_reserve(&phase->moment, show->scene);
    }
    return is_good;
}

static void take_phases(play_show *show, double seconds)
{
    for (size_t i = 0; i < show->phase_count; ++i) {
        play_phase *const phase = &show->phases[i];
        const double share = (double)i / (double)show->phase_count;

        if (show->options->ticks > 0) {
            const tool_moment earlier = phase->moment;

            phase->moment = phase->earlier;
            phase->earlier = earlier;
        }
        moment_take(&phase->moment, show->scene, seconds + show->scene->duration * share);
        for (size_t j = 0; j < show->moved_count; ++j) {
            phase->locals[j] = placement_round(&phase->moment.locals[show->moved[j]].place);
        }
    }
}

/// Sides of the box around a figure at one moment.
static void measure_figure(double sides[3], const tool_moment *moment)
{
    for (int axis = 0; axis < 3; ++axis) {
        double least = HUGE_VAL, most = -HUGE_VAL;

        for (size_t i = 0; i < moment->count; ++i) {
            least = fmin(least, moment->nodes[i].world.m[axis][3]);
            most = fmax(most, moment->nodes[i].world.m[axis][3]);
        }
        sides[axis] = most - least;
    }
}

/// Room for the figure at any of the moments, and never less than a third of its height.
static void choose_spacing(double spacing[2], const play_show *show)
{
    const int up = show->scene->up_axis;
    double needed[3] = {0, 0, 0};

    for (size_t i = 0; i < show->phase_count; ++i) {
        double sides[3];

        measure_figure(sides, &show->phases[i].moment);
        for (int axis = 0; axis < 3; ++axis) {
            needed[axis] = fmax(needed[axis], sides[axis]);
        }
    }
    for (int i = 0; i < 2; ++i) {
        const double size = fmax(needed[(up + 1 + i) % 3], needed[up] / 3);
        spacing[i] = size > 0 ? 1.3 * size : 1;
    }
}

static bool prepare(play_show *show, tool_fault *fault)
{
    show->frame_count = count_frames(show->options);
    if (!list_moved(show) || !reserve_phases(show)) {
        fault_say(fault, "no memory for %zu nodes", show->scene->node_count);
        return false;
    }
    if (!stage_open(&show->stage, show->options->workers, show->tape, fault) ||
        !ticks_open(show, fault)) {
        return false;
    }
    take_phases(show, 0);

    crowd_plan plan = {
        .copy_count = show->options->copies,
        .phase_count = (uint32_t)show->phase_count,
        .seed = show->options->seed,
        .respawn = show->options->respawn,
    };
    choose_spacing(plan.spacing, show);
    return crowd_open(&show->crowd, &show->stage, show->scene, &plan, fault);
}

// Frames.

static bool write_copy(play_show *show, const crowd_copy *copy, tool_fault *fault)
{
    const play_phase *const phase = &show->phases[copy->phase];
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < show->moved_count && !espl_failed(status); ++i) {
        const espl_entity node = copy->nodes[show->moved[i]];
        status = espl_set_local_transform(show->stage.world, node, &phase->locals[i]);
    }
    return stage_went_well(&show->stage, status, "espl_set_local_transform", fault);
}

/// Compare the worlds of a copy right after its writes, before other copies are written.
static bool judge_copy(play_show *show, const crowd_copy *copy, tool_fault *fault)
{
    const oracle_frame above = crowd_frame(&show->crowd, copy);
    const tool_moment *const moment = &show->phases[copy->phase].moment;

    for (size_t i = 0; i < show->scene->node_count; ++i) {
        espl_transform world;
        const espl_status status =
            espl_get_world_transform(show->stage.world, copy->nodes[i], &world);

        if (!stage_went_well(&show->stage, status, "espl_get_world_transform", fault)) {
            return false;
        }
        tally_compare(&show->tally, moment, i, &above, &world);
    }
    return true;
}

/// Write all that moves at a time, and compare worlds between the writes.
/// @param step  number of the frame or tick.
static bool write_step(play_show *show, size_t step, double seconds, tool_fault *fault)
{
    const size_t stride = show_stride(show);
    espl_world_stats before, after;

    espl_stats(show->stage.world, &before);
    double begin = crowd_clock();
    bool is_good = crowd_move(&show->crowd, seconds, fault);
    show->write_seconds += crowd_clock() - begin;

    for (size_t i = 0; is_good && i < show->crowd.copy_count; ++i) {
        const crowd_copy *const copy = &show->crowd.copies[i];
        if (!copy->is_alive) {
            continue;
        }
        begin = crowd_clock();
        is_good = write_copy(show, copy, fault);
        show->write_seconds += crowd_clock() - begin;
        if (is_good && (i + step) % stride == 0) {
            is_good = judge_copy(show, copy, fault);
        }
    }
    espl_stats(show->stage.world, &after);
    show->visited += after.nodes_visited - before.nodes_visited;
    return is_good;
}

/// Carry the scene on: what is spawned and destroyed first, then what moves.
/// @param count  of all steps.
static bool run_step(play_show *show, size_t step, size_t count, double seconds, tool_fault *fault)
{
    const bool is_good = crowd_change(&show->crowd, seconds, step + 1 == count, fault);

    scene_step(show->scene);
    take_phases(show, seconds);
    return is_good && write_step(show, step, seconds, fault);
}

static bool run_tick(play_show *show, tool_fault *fault)
{
    espl_world *const world = show->stage.world;
    const size_t tick = show->ticks.count++;
    const size_t count = ticks_in_frames(show->options, show->frame_count);
    const double seconds = (double)tick / show->options->ticks;

    return stage_went_well(&show->stage, espl_tick_begin(world), "espl_tick_begin", fault) &&
           run_step(show, tick, count, seconds, fault) &&
           stage_went_well(&show->stage, espl_tick_end(world), "espl_tick_end", fault);
}

/// Without ticks the scene moves in each frame; with them in the ticks before it.
static bool run_frame(play_show *show, uint32_t frame, tool_fault *fault)
{
    bool is_good = true;

    if (show->options->ticks == 0) {
        return run_step(show, frame, show->frame_count, (double)frame / show->options->rate, fault);
    }
    while (is_good && ticks_are_due(show, frame)) {
        is_good = run_tick(show, fault);
    }
    return is_good && ticks_draw(show, frame, fault);
}

// Put the end of a frame on the tape, if there is one.
static bool end_frame(const play_show *show, tool_fault *fault)
{
    return show->tape == NULL || stage_went_well(&show->stage, espl_tape_frame(show->stage.world),
                                                 "espl_tape_frame", fault);
}

static bool run_frames(play_show *show, tool_fault *fault)
{
    tool_progress progress =
        progress_begin(show->scene->label, show->frame_count, show->options->is_quiet);
    bool is_good = true;

    for (uint32_t frame = 0; is_good && frame < show->frame_count; ++frame) {
        is_good = run_frame(show, frame, fault) && end_frame(show, fault) &&
                  (show->film == NULL || film_take(show->film, show, frame, fault));
        progress_show(&progress, frame + 1);
    }
    progress_end(&progress);
    return is_good;
}

// The end.

/// FNV-1a over the bytes of the worlds, copy by copy.
static bool sum_worlds(play_show *show, tool_fault *fault)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < show->crowd.copy_count * show->scene->node_count; ++i) {
        const crowd_copy *const copy = &show->crowd.copies[i / show->scene->node_count];
        espl_transform world;
        unsigned char bytes[sizeof world];

        if (!copy->is_alive) {
            continue;
        }
        const espl_status status =
            espl_get_world_transform(show->stage.world, show->crowd.nodes[i], &world);
        if (!stage_went_well(&show->stage, status, "espl_get_world_transform", fault)) {
            return false;
        }
        memcpy(bytes, &world, sizeof world);
        for (size_t j = 0; j < sizeof bytes; ++j) {
            sum = (sum ^ bytes[j]) * UINT64_C(0x100000001b3);
        }
    }
    show->checksum = sum;
    return true;
}

/// Count by a query that exactly the nodes of the living copies exist.
static bool count_by_query(const play_show *show, tool_fault *fault)
{
    const espl_query_def def = {.all = &show->stage.node_kind, .all_count = 1};
    size_t found = 0, expected = 0;
    espl_query query;

    const espl_status status = espl_query_begin(show->stage.world, &def, &query);
    if (!stage_went_well(&show->stage, status, "espl_query_begin", fault)) {
        return false;
    }
    while (espl_query_next(&query)) {
        found += query.count;
    }
    for (size_t i = 0; i < show->crowd.copy_count; ++i) {
        expected += show->crowd.copies[i].is_alive ? show->scene->node_count : 0;
    }
    if (found != expected) {
        fault_say(fault, "a query finds %zu nodes, but %zu exist", found, expected);
    }
    return found == expected;
}

static bool judge(play_show *show, tool_fault *fault)
{
    const espl_report *const account = &show->crowd.account;

    espl_stats(show->stage.world, &show->stats);
    if (!stage_is_valid(&show->stage, fault) || !count_by_query(show, fault) ||
        !sum_worlds(show, fault)) {
        return false;
    }
    if (account->refused > 0 || account->accepted != account->applied) {
        fault_say(fault, "%zu of %zu commands were refused", account->refused, account->accepted);
        return false;
    }
    return tally_judge(&show->tally, show->scene, show->options->within, show->options->is_strict,
                       fault) &&
           ticks_judge(show, fault);
}

// What is shown.

const char *show_count(char out[32], size_t count)
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
                   show_count(figures, panel->figure_count),
                   panel->figure_count == 1 ? "figure" : "figures",
                   show_count(nodes, show->crowd.copy_count * show->scene->node_count));
    (void)snprintf(panel->caption, sizeof panel->caption,
                   "Checked: %s world transforms, read between writes. All equal %s; no error "
                   "exceeds %.0f %% of the rounding bound. Not compared: %s.",
                   show_count(reads, tally->reads),
                   has_physics ? "MuJoCo's own" : "matrices in double precision",
                   ceil(100 * tally->worst_share), show_count(left_out, tally_left_out(tally)));
    panel->mark_label = has_physics ? "one figure; dots: its nodes by MuJoCo"
                                    : "one figure; dots: its nodes by matrices";
}

static bool collect_panel(const play_show *show, picture_panel *panel, tool_fault *fault)
{
    const tool_moment *const moment = &show->phases[show->crowd.copies[0].phase].moment;

    if (!figure_collect(panel, &show->crowd, moment, fault)) {
        return false;
    }
    write_caption(panel, show);
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
    if (show->scene->notes != NULL) {
        (void)printf("%s:\n", show->scene->label);
        scene_print_notes(show->scene);
    }
}

static void release(play_show *show)
{
    crowd_close(&show->crowd);
    stage_close(&show->stage);
    ticks_close(show);
    for (size_t i = 0; show->phases != NULL && i < show->phase_count; ++i) {
        moment_release(&show->phases[i].moment);
        free(show->phases[i].locals);
    }
    free(show->phases);
    free(show->moved);
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

static bool play_scene(const tool_options *options, tool_scene *scene, play_sum *sum,
                       picture_panel *panel, tool_fault *fault)
{
    play_show show = {.options = options, .film = sum->film, .scene = scene};
    espl_tape tape;

    if (!open_tape(&tape, options->tape, fault)) {
        return false;
    }
    show.tape = tape.user != NULL ? &tape : NULL;
    const bool is_good = prepare(&show, fault) && run_frames(&show, fault) && judge(&show, fault) &&
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
    release(&show);
    return close_tape(&tape, options->tape, fault) && is_good;
}

static void print_sum(const tool_options *options, const play_sum *sum)
{
    const uint32_t frames = count_frames(options);

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
    document_count(document, "frames", count_frames(options));
    if (options->ticks > 0) {
        document_count(document, "ticks", ticks_in_frames(options, count_frames(options)));
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
