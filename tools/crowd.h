// SPDX-License-Identifier: MIT
// Copies of one scene on moving carriers, spawned and destroyed by commands that are recorded in
// several lanes and played at a sync point.
//
//     carrier (root, moves) - seat (one copy) - the scene's nodes
#ifndef ESPALIER_TOOLS_CROWD_H
#define ESPALIER_TOOLS_CROWD_H

#include "tools/oracle.h"
#include "tools/random.h"
#include "tools/stage.h"

/// Copies on one carrier.
#define CROWD_SEATS 8
/// Lanes of recording. Independent of the number of workers, so that the worlds are too.
#define CROWD_LANES 8
/// Links above the scene's own nodes.
#define CROWD_DEPTH 2

/// What the next playback does to a carrier or a copy.
typedef enum crowd_fate { FATE_STAY, FATE_SPAWN, FATE_DESTROY } crowd_fate;

typedef struct crowd_carrier {
    espl_entity entity, pending;
    double home[2];         // on the ground
    double beat;            // phase of its movement at second 0, radians
    tool_placement place;   // now
    tool_placement earlier; // before the last crowd_change(); of a new carrier that of now
    crowd_fate fate;
    bool is_alive;
} crowd_carrier;

typedef struct crowd_copy {
    espl_entity seat, pending;
    espl_entity *nodes; // [node_count], in the scene's order
    tool_placement place;
    uint32_t carrier, phase;
    crowd_fate fate;
    bool is_alive;
} crowd_copy;

typedef struct tool_crowd {
    tool_stage *stage;
    const tool_scene *scene;
    espl_command_buffer *commands;
    espl_entity carrier_prefab, seat_prefab;
    uint32_t phase_count;
    size_t seat_columns; // of the seats on a carrier
    double respawn;      // copies destroyed in each frame or tick, in percent
    double spacing[2];   // between seats along the two ground axes, scene units
    double drift;        // radius of the circle that a carrier moves on
    size_t carrier_count, copy_count;
    crowd_carrier *carriers; // [carrier_count]
    crowd_copy *copies;      // [copy_count]
    espl_entity *nodes;      // [copy_count * node_count]
    random_stream random;
    espl_status recorded[CROWD_LANES]; // first refusal while recording
    size_t made;                       // prefabs instantiated, carriers not counted
    double playback_seconds;           // of all playbacks
    espl_report account;               // sum over all playbacks
} tool_crowd;

/// How to lay a crowd out.
typedef struct crowd_plan {
    uint32_t copy_count;
    uint32_t phase_count; // copies draw one of these each time they are spawned
    uint64_t seed;
    double respawn;    // copies destroyed in each frame or tick, in percent
    double spacing[2]; // between seats along the two ground axes, scene units
    bool is_named;     // the entities have names
} crowd_plan;

/// Create the prefabs and place the crowd. No carrier or copy exists until crowd_change().
bool crowd_open(tool_crowd *crowd, tool_stage *stage, const tool_scene *scene,
                const crowd_plan *plan, tool_fault *fault);
/// Release the crowd; {0} is allowed. stage_close() destroys the entities.
void crowd_close(tool_crowd *crowd);

/// Record and play the spawns and destroys of one frame: each carrier and copy that is missing is
/// spawned, and a share of the others is destroyed unless this is the last frame.
bool crowd_change(tool_crowd *crowd, double seconds, bool is_last, tool_fault *fault);

/// Write the transforms that the carriers have at a time.
bool crowd_move(tool_crowd *crowd, double seconds, tool_fault *fault);

/// Compute, in double, the frame of a copy's seat.
oracle_frame crowd_frame(const tool_crowd *crowd, const crowd_copy *copy);
/// Compute the frame that is shown between the last two crowd_change(). @param share  0 to 1.
oracle_frame crowd_frame_between(const tool_crowd *crowd, const crowd_copy *copy, double share);

/// Compute half the lengths of a carrier along the two ground axes: all its seats are within.
void crowd_deck(const tool_crowd *crowd, double half[2]);

/// Return the seconds of a monotonic clock.
double crowd_clock(void);

#endif
