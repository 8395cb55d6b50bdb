// SPDX-License-Identifier: MIT
#include "tools/show.h"

#include "tools/progress.h"
#include "tools/ticks.h"
#include "tools/trace.h"

#include <espalier/motion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 60
/// Moments of a scene that copies are spread over.
#define PHASES 32

// Preparation.

uint32_t show_count_frames(const tool_options *options)
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

static bool has_bounds(const play_show *show)
{
    return show->has_bounds || show->options->has_culling;
}

bool show_open(play_show *show, tool_fault *fault)
{
    show->frame_count = show_count_frames(show->options);
    if (!list_moved(show) || !reserve_phases(show)) {
        fault_say(fault, "no memory for %zu nodes", show->scene->node_count);
        return false;
    }
    if (!stage_open(&show->stage, show->options->workers, 0, show->tape, fault) ||
        !ticks_open(show, fault)) {
        return false;
    }
    show->stage.trace = show->trace;
    take_phases(show, 0);

    crowd_plan plan = {
        .copy_count = show->options->copies,
        .phase_count = (uint32_t)show->phase_count,
        .seed = show->options->seed,
        .respawn = show->options->respawn,
        .is_named = show->tape != NULL,
    };
    choose_spacing(plan.spacing, show);
    if (!has_bounds(show)) {
        return crowd_open(&show->crowd, &show->stage, show->scene, &plan, fault);
    }
    return culling_open(&show->culling, &show->stage, show->scene, plan.copy_count, fault) &&
           crowd_open(&show->crowd, &show->stage, show->scene, &plan, fault) &&
           culling_dress(&show->culling, &show->crowd, fault);
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
    bool is_good = crowd_change(&show->crowd, seconds, step + 1 == count, fault);

    scene_step(show->scene);
    take_phases(show, seconds);
    trace_mark(show->trace, "write", TRACE_BEGIN);
    is_good = is_good && write_step(show, step, seconds, fault);
    trace_mark(show->trace, "write", TRACE_END);
    return is_good;
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

static bool cull_frame(play_show *show, uint32_t frame, tool_fault *fault)
{
    return !show->options->has_culling ||
           culling_take(&show->culling, &show->crowd, show_stride(show),
                        (double)frame / show->frame_count, fault);
}

bool show_run(play_show *show, tool_fault *fault)
{
    tool_progress progress =
        progress_begin(show->scene->label, show->frame_count, show->options->is_quiet);
    bool is_good = true;

    for (uint32_t frame = 0; is_good && frame < show->frame_count; ++frame) {
        trace_mark(show->trace, "frame", TRACE_BEGIN);
        is_good = run_frame(show, frame, fault) && end_frame(show, fault) &&
                  cull_frame(show, frame, fault) &&
                  (show->take == NULL || show->take(show->taker, show, frame, fault));
        trace_mark(show->trace, "frame", TRACE_END);
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

bool show_judge(play_show *show, tool_fault *fault)
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

void show_close(play_show *show)
{
    crowd_close(&show->crowd);
    culling_close(&show->culling);
    stage_close(&show->stage);
    ticks_close(show);
    for (size_t i = 0; show->phases != NULL && i < show->phase_count; ++i) {
        moment_release(&show->phases[i].moment);
        free(show->phases[i].locals);
    }
    free(show->phases);
    free(show->moved);
}
