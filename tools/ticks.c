// SPDX-License-Identifier: MIT
#include "tools/ticks.h"

#include <espalier/motion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(play_show *show)
{
    show->ticks.read = calloc(show->scene->node_count, sizeof *show->ticks.read);
    bool is_good = show->ticks.read != NULL;
    for (size_t i = 0; is_good && i < show->phase_count; ++i) {
        play_phase *const phase = &show->phases[i];

        is_good = moment_reserve(&phase->earlier, show->scene) &&
                  moment_reserve(&phase->shown, show->scene);
    }
    return is_good;
}

bool ticks_open(play_show *show, tool_fault *fault)
{
    if (show->options->ticks == 0) {
        return true;
    }
    if (!reserve(show)) {
        fault_say(fault, "no memory for %zu nodes", show->scene->node_count);
        return false;
    }
    return stage_went_well(&show->stage, espl_motion_start(show->stage.world, NULL),
                           "espl_motion_start", fault);
}

void ticks_close(play_show *show)
{
    for (size_t i = 0; show->phases != NULL && i < show->phase_count; ++i) {
        moment_release(&show->phases[i].earlier);
        moment_release(&show->phases[i].shown);
    }
    free(show->ticks.read);
}

size_t ticks_in_frames(const tool_options *options, uint32_t frame_count)
{
    return (size_t)(frame_count - 1) * options->ticks / options->rate + 1;
}

bool ticks_are_due(const play_show *show, uint32_t frame)
{
    return show->ticks.count < ticks_in_frames(show->options, frame + 1);
}

static bool present(play_show *show, double at, tool_fault *fault)
{
    espl_present_report report = {0};

    const double begin = crowd_clock();
    const espl_status status = espl_present(show->stage.world, (float)at, &report);
    show->ticks.present_seconds += crowd_clock() - begin;
    show->ticks.blended += report.blended;
    return stage_went_well(&show->stage, status, "espl_present", fault);
}

/// Read transforms of a copy's nodes, shown ones or those of the world.
static bool read_copy(const play_show *show, const crowd_copy *copy, espl_read_kind kind,
                      espl_transform *out, tool_fault *fault)
{
    const espl_status status =
        espl_read_strided(show->stage.world, kind, copy->nodes, show->scene->node_count,
                          sizeof *copy->nodes, out, sizeof *out);

    if (status == ESPL_PARTLY) {
        fault_say(fault, "espl_read_strided did not read all nodes: %s", show->stage.complaint);
        return false;
    }
    return stage_went_well(&show->stage, status, "espl_read_strided", fault);
}

/// A copy that was made in the last tick is shown where it is, on a carrier that is blended.
static bool judge_copy(play_show *show, const crowd_copy *copy, double at, tool_fault *fault)
{
    const oracle_frame above = crowd_frame_between(&show->crowd, copy, at);
    const play_phase *const phase = &show->phases[copy->phase];
    const tool_moment *const moment = copy->fate == FATE_SPAWN ? &phase->moment : &phase->shown;

    if (!read_copy(show, copy, ESPL_READ_SHOWN_TRANSFORM, show->ticks.read, fault)) {
        return false;
    }
    for (size_t i = 0; i < show->scene->node_count; ++i) {
        tally_compare(&show->ticks.tally, moment, i, &above, &show->ticks.read[i]);
    }
    return true;
}

bool ticks_draw(play_show *show, uint32_t frame, tool_fault *fault)
{
    // Whole numbers, so that no sum of steps drifts away from the time of the frame.
    const uint32_t rate = show->options->rate;
    const uint64_t parts = (uint64_t)frame * show->options->ticks % rate;
    const double time = (double)parts / rate + show->options->ahead;
    const float at = (float)time; // what the library is given
    const size_t stride = show_stride(show);
    bool is_good = present(show, (double)at, fault);

    for (size_t i = 0; is_good && i < show->phase_count; ++i) {
        play_phase *const phase = &show->phases[i];

        moment_between(&phase->shown, show->scene, &phase->earlier, &phase->moment, (double)at);
    }
    for (size_t i = 0; is_good && i < show->crowd.copy_count; ++i) {
        const crowd_copy *const copy = &show->crowd.copies[i];

        if (copy->is_alive && (i + frame) % stride == 0) {
            is_good = judge_copy(show, copy, (double)at, fault);
        }
    }
    return is_good;
}

/// Compare shown transforms with those of the world, all bits.
static bool is_world_shown(play_show *show, const crowd_copy *copy, tool_fault *fault)
{
    for (size_t i = 0; i < show->scene->node_count; ++i) {
        espl_transform world;
        const espl_status status =
            espl_get_world_transform(show->stage.world, copy->nodes[i], &world);

        if (!stage_went_well(&show->stage, status, "espl_get_world_transform", fault)) {
            return false;
        }
        if (memcmp(&world, &show->ticks.read[i], sizeof world) != 0) {
            fault_say(fault, "'%s' is not shown where it is at the end of the last tick",
                      show->scene->nodes[i].name);
            return false;
        }
    }
    return true;
}

static bool judge_end(play_show *show, tool_fault *fault)
{
    bool is_good = present(show, 1, fault);

    for (size_t i = 0; is_good && i < show->crowd.copy_count; ++i) {
        const crowd_copy *const copy = &show->crowd.copies[i];

        is_good = !copy->is_alive ||
                  (read_copy(show, copy, ESPL_READ_SHOWN_TRANSFORM, show->ticks.read, fault) &&
                   is_world_shown(show, copy, fault));
    }
    return is_good;
}

bool ticks_judge(play_show *show, tool_fault *fault)
{
    tool_fault reason = {""};

    if (show->options->ticks == 0) {
        return true;
    }
    if (!tally_judge(&show->ticks.tally, show->scene, show->options->within,
                     show->options->is_strict, &reason)) {
        fault_say(fault, "shown: %s", reason.text);
        return false;
    }
    return judge_end(show, fault);
}

void ticks_head_table(tool_table *table)
{
    table_cell(table, "us/present");
    table_cell(table, "shown");
    table_cell(table, "shown error");
    table_cell(table, "of allowed");
}

/// Microseconds of a call of espl_present(); each frame has one, and the end.
static double time_present(const play_show *show)
{
    return show->ticks.present_seconds / (show->frame_count + 1) * 1e6;
}

void ticks_add_to_table(tool_table *table, const play_show *show)
{
    table_cell(table, "%.1f", time_present(show));
    table_cell(table, "%zu", show->ticks.tally.reads);
    table_cell(table, "%.2g", show->ticks.tally.worst_error);
    table_cell(table, "%.0f %%", ceil(100 * show->ticks.tally.worst_share));
}

void ticks_add_to_document(tool_document *document, const play_show *show)
{
    const tool_tally *const tally = &show->ticks.tally;

    document_number(document, "us_per_present", time_present(show));
    document_count(document, "blended", show->ticks.blended);
    document_count(document, "shown_reads", tally->reads);
    document_count(document, "shown_not_compared", tally_left_out(tally));
    document_number(document, "shown_max_error", tally->worst_error);
    document_number(document, "shown_of_allowed", tally->worst_share);
}
