// SPDX-License-Identifier: MIT
// One world of the library, and a scene's nodes as entities in it.
#ifndef ESPALIER_TOOLS_STAGE_H
#define ESPALIER_TOOLS_STAGE_H

#include "tools/scene.h"

#include <espalier/espalier.h>

typedef struct tool_stage {
    espl_world *world;
    espl_executor executor;
    espl_component node_kind; // uint32_t: which node of the scene an entity stands for
    espl_component copy_kind; // uint32_t: which copy of the scene stands on this seat
    struct tool_trace *trace; // of playbacks, or NULL; set it after stage_open()
    char complaint[256];      // last message of the world's log
} tool_stage;

/// Make a world that runs on a number of workers; 1 is the calling thread alone.
/// @param cell_size  as espl_world_def has it; 0: no cells.
/// @param tape       where its calls are recorded, or NULL.
bool stage_open(tool_stage *stage, uint32_t workers, float cell_size, const espl_tape *tape,
                tool_fault *fault);
/// Destroy the world; {0} is allowed.
void stage_close(tool_stage *stage);

/// Tell whether a call of the library succeeded; otherwise the fault names the call and its status.
bool stage_went_well(const tool_stage *stage, espl_status status, const char *call,
                     tool_fault *fault);

/// Make an entity for every node, placed at rest, and attach them through commands.
///
/// @param seat   what the nodes without a parent are attached to; null: they become roots.
/// @param nodes  [scene->node_count] out.
bool stage_plant(tool_stage *stage, const tool_scene *scene, espl_entity seat, espl_entity *nodes,
                 tool_fault *fault);

/// Give the entities the names of their nodes, with '_' in place of bytes that names may not have, cut
/// where they are too long.
/// @param nodes  [scene->node_count] as stage_plant() made them.
bool stage_name(tool_stage *stage, const tool_scene *scene, const espl_entity *nodes,
                tool_fault *fault);

/// List everything below an entity, breadth-first.
/// @param out  [capacity]
/// @return how many there are; those past the capacity are not listed.
size_t stage_list_below(const tool_stage *stage, espl_entity top, espl_entity *out,
                        size_t capacity);

/// Validate all invariants of the world.
bool stage_is_valid(const tool_stage *stage, tool_fault *fault);

#endif
