// SPDX-License-Identifier: MIT
// One scene that is played: a crowd of its copies, frame by frame, compared with the oracle.
#ifndef ESPALIER_TOOLS_SHOW_H
#define ESPALIER_TOOLS_SHOW_H

#include "tools/crowd.h"
#include "tools/culling.h"
#include "tools/options.h"

/// One moment of the scene, ready to be written to any copy.
typedef struct play_phase {
    tool_moment moment;
    espl_transform *locals;     // [moved_count]
    tool_moment earlier, shown; // with ticks: at the tick before, and between the two
} play_phase;

/// What is shown between ticks.
typedef struct play_ticks {
    size_t count;           // ticks played
    size_t blended;         // sum of all reports of espl_present()
    double present_seconds; // of all espl_present()
    espl_transform *read;   // [node_count] of one copy
    tool_tally tally;       // of shown transforms
} play_ticks;

/// One scene's performance.
typedef struct play_show {
    const tool_options *options;
    tool_scene *scene;
    const espl_tape *tape;    // of the world, or NULL
    struct tool_trace *trace; // of the frames and playbacks, or NULL
    // Called after each frame, or NULL; false ends the show.
    bool (*take)(void *taker, const struct play_show *show, uint32_t frame, tool_fault *fault);
    void *taker;
    tool_stage stage;
    tool_crowd crowd;
    size_t phase_count, moved_count;
    play_phase *phases; // [phase_count]
    uint32_t *moved;    // [moved_count] nodes that something moves
    uint32_t frame_count;
    double write_seconds;
    uint64_t visited; // worlds recomputed by the writes
    tool_tally tally;
    play_ticks ticks;
    bool has_bounds; // the nodes have bounds, also where nothing is culled
    tool_culling culling;
    espl_world_stats stats; // at the end
    uint64_t checksum;      // of the final worlds
} play_show;

/// World transforms compared in a frame or tick, about; of larger crowds each compares other copies.
#define SHOW_READS 65536

/// Return how many copies share a comparison: of so many copies each frame or tick compares one.
static inline size_t show_stride(const play_show *show)
{
    const size_t nodes = show->scene->node_count * show->crowd.copy_count;

    return (nodes + SHOW_READS - 1) / SHOW_READS;
}

/// Return the number of frames that the options ask for.
uint32_t show_count_frames(const tool_options *options);

/// Make the world and the crowd. Options, scene, tape, trace, take and has_bounds are set.
/// @return false with the reason; show_close() is needed either way.
bool show_open(play_show *show, tool_fault *fault);
/// Play all frames.
bool show_run(play_show *show, tool_fault *fault);
/// Judge what was compared, and validate the world.
bool show_judge(play_show *show, tool_fault *fault);
void show_close(play_show *show);

/// Write a count with a comma before every third digit from the end. @return out.
const char *show_spell(char out[32], size_t count);

#endif
