// SPDX-License-Identifier: MIT
// `espalier export`: plays a scene, and writes what its world did: the nodes and their movement as glTF, or when
// playbacks and their stages began and ended as a trace.
#include "tools/commands.h"

#include "tools/poses.h"
#include "tools/show.h"
#include "tools/trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/// Frames of an animation at most.
#define FRAMES_LIMIT 100000
/// Bytes of a line about what was written.
#define SAID 512

/// Name of a carrier or seat, with its number.
typedef char export_name[32];

/// The nodes of a crowd, in one list.
typedef struct node_list {
    tool_poses poses;
    export_name *names; // [carrier_count + copy_count]
} node_list;

/// List carriers, then seats, then the nodes of each copy: parents come first.
static void list_nodes(node_list *list, const play_show *show)
{
    const tool_crowd *const crowd = &show->crowd;
    const size_t count = show->scene->node_count;
    const size_t seats = crowd->carrier_count, nodes = seats + crowd->copy_count;

    for (size_t i = 0; i < nodes; ++i) {
        const bool is_seat = i >= seats;

        (void)snprintf(list->names[i], sizeof list->names[i], "%s %zu",
                       is_seat ? "seat" : "carrier", (is_seat ? i - seats : i) + 1);
        list->poses.nodes[i] = (poses_node){
            .entity = is_seat ? crowd->copies[i - seats].seat : crowd->carriers[i].entity,
            .parent = is_seat ? crowd->copies[i - seats].carrier : SCENE_NO_PARENT,
            .name = list->names[i],
        };
    }
    for (size_t i = 0; i < crowd->copy_count * count; ++i) {
        const size_t copy = i / count, node = i % count;
        const uint32_t parent = show->scene->nodes[node].parent;

        list->poses.nodes[nodes + i] = (poses_node){
            .entity = crowd->copies[copy].nodes[node],
            .parent = (uint32_t)(parent == SCENE_NO_PARENT ? seats + copy
                                                           : nodes + copy * count + parent),
            .name = show->scene->nodes[node].name,
        };
    }
}

/// Nothing is destroyed, so that the nodes of the first frame are those of all frames.
static bool take_frame(void *taker, const play_show *show, uint32_t frame, tool_fault *fault)
{
    node_list *const list = taker;
    const tool_crowd *const crowd = &show->crowd;
    const size_t above = crowd->carrier_count + crowd->copy_count;

    if (frame == 0) {
        const size_t count = above + crowd->copy_count * show->scene->node_count;

        if (!poses_open(&list->poses, count, show->frame_count, fault)) {
            return false;
        }
        list->names = calloc(above, sizeof *list->names);
        if (list->names == NULL) {
            fault_say(fault, "no memory for %zu names", above);
            return false;
        }
        list->poses.rate = show->options->rate;
        list->poses.up_axis = show->scene->up_axis;
        list_nodes(list, show);
    }
    return poses_take(&list->poses, &show->stage, fault);
}

/// Return the frames of the whole movement, its end included, where none are asked for.
static uint32_t count_frames(const tool_options *options, const tool_scene *scene)
{
    const double count = ceil(scene->duration * options->rate) + 1;

    return options->frames > 0 || scene->duration == 0 ? options->frames
                                                       : (uint32_t)fmin(count, FRAMES_LIMIT);
}

/// Play a scene to its end, and judge it.
static bool play(play_show *show, tool_fault *fault)
{
    return show_open(show, fault) && show_run(show, fault) && show_judge(show, fault);
}

/// @param said  what was written, one line.
static bool export_gltf(const tool_options *options, tool_scene *scene, char said[SAID],
                        tool_fault *fault)
{
    node_list list = {{0}, NULL};
    play_show show = {.options = options, .scene = scene, .take = take_frame, .taker = &list};

    const bool is_good =
        play(&show, fault) && poses_write(&list.poses, options->gltf, scene->label, fault);
    (void)snprintf(said, SAID, "%zu nodes, %zu frames in %s", list.poses.written,
                   list.poses.frame_count, options->gltf);
    show_close(&show);
    poses_close(&list.poses);
    free(list.names);
    return is_good;
}

/// @param said  what was written, one line.
static bool export_trace(const tool_options *options, tool_scene *scene, char said[SAID],
                         tool_fault *fault)
{
    tool_trace *const trace = trace_create();
    play_show show = {.options = options, .scene = scene, .trace = trace};

    if (trace == NULL) {
        fault_say(fault, "no memory for a trace");
        return false;
    }
    const bool is_good =
        play(&show, fault) && trace_write(trace, options->trace, scene->label, fault);
    (void)snprintf(said, SAID, "%zu events of %u frames in %s", trace_count(trace),
                   show.frame_count, options->trace);
    show_close(&show);
    trace_destroy(trace);
    return is_good;
}

int run_export(const tool_options *options, tool_scene *scenes)
{
    tool_options own = *options;
    char said[SAID] = "";
    tool_fault fault = {""};
    bool is_good = false;

    if (options->gltf != NULL) {
        own.frames = count_frames(options, scenes);
        is_good = export_gltf(&own, scenes, said, &fault);
    } else {
        is_good = export_trace(&own, scenes, said, &fault);
    }
    if (!is_good) {
        (void)fprintf(stderr, "espalier: %s: %s\n", scenes->path, fault.text);
    } else if (!options->is_quiet) {
        (void)printf("%s\n", said);
    }
    return is_good ? EXIT_AGREED : EXIT_DISAGREED;
}
