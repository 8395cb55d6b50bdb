// SPDX-License-Identifier: MIT
#include "tools/stage.h"

#include "tools/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void hear(void *user, espl_log_level level, const char *message)
{
    tool_stage *const stage = user;

    (void)level;
    (void)snprintf(stage->complaint, sizeof stage->complaint, "%s", message);
}

static void follow(void *user, const char *name, espl_trace_edge edge)
{
    const tool_stage *const stage = user;

    trace_mark(stage->trace, name, edge == ESPL_TRACE_BEGIN ? TRACE_BEGIN : TRACE_END);
}

bool stage_went_well(const tool_stage *stage, espl_status status, const char *call,
                     tool_fault *fault)
{
    if (!espl_failed(status)) {
        return true;
    }
    const bool is_explained = stage->complaint[0] != '\0';
    fault_say(fault, "%s answered %s: %s", call, espl_status_name(status),
              is_explained ? stage->complaint : espl_status_text(status));
    return false;
}

static bool open_executor(espl_executor *out, uint32_t workers, tool_fault *fault)
{
    *out = (espl_executor){0};
    if (workers == 1) {
        return true;
    }
    const espl_status status = espl_executor_create(&(espl_threads_def){.workers = workers}, out);
    if (espl_failed(status)) {
        fault_say(fault, "no threads: %s", espl_status_text(status));
    }
    return !espl_failed(status);
}

static bool register_kinds(tool_stage *stage, tool_fault *fault)
{
    const size_t size = sizeof(uint32_t), alignment = _Alignof(uint32_t);
    const espl_component_def node = {.name = "node", .size = size, .alignment = alignment};
    const espl_component_def copy = {.name = "copy", .size = size, .alignment = alignment};

    return stage_went_well(stage, espl_component_register(stage->world, &node, &stage->node_kind),
                           "espl_component_register", fault) &&
           stage_went_well(stage, espl_component_register(stage->world, &copy, &stage->copy_kind),
                           "espl_component_register", fault);
}

bool stage_open(tool_stage *stage, uint32_t workers, float cell_size, const espl_tape *tape,
                tool_fault *fault)
{
    *stage = (tool_stage){0};
    if (!open_executor(&stage->executor, workers, fault)) {
        return false;
    }

    // A fixed tag makes handles the same in every run.
    const espl_world_def def = {.hooks = {.user = stage, .log = hear, .trace = follow},
                                .executor = stage->executor,
                                .tag = 1,
                                .cell_size = cell_size,
                                .tape = tape != NULL ? *tape : (espl_tape){0}};
    const espl_status status = espl_world_create(&def, &stage->world);
    if (!stage_went_well(stage, status, "espl_world_create", fault) ||
        !register_kinds(stage, fault)) {
        stage_close(stage);
        return false;
    }
    return true;
}

void stage_close(tool_stage *stage)
{
    espl_world_destroy(stage->world);
    espl_executor_destroy(&stage->executor);
    *stage = (tool_stage){0};
}

static bool create_nodes(tool_stage *stage, const tool_scene *scene, espl_entity *nodes,
                         tool_fault *fault)
{
    const espl_component kinds[] = {ESPL_TRANSFORM, stage->node_kind};

    espl_status status = espl_create(stage->world, kinds, 2, scene->node_count, nodes);
    if (!stage_went_well(stage, status, "espl_create", fault)) {
        return false;
    }
    for (uint32_t i = 0; i < scene->node_count; ++i) {
        const espl_transform local = placement_round(&scene->nodes[i].rest.place);

        status = espl_set_local_transform(stage->world, nodes[i], &local);
        if (!stage_went_well(stage, status, "espl_set_local_transform", fault)) {
            return false;
        }
        status = espl_set_component(stage->world, nodes[i], stage->node_kind, &i, sizeof i);
        if (!stage_went_well(stage, status, "espl_set_component", fault)) {
            return false;
        }
    }
    return true;
}

/// Record all attaches, and play them back in one batch.
static bool attach_nodes(tool_stage *stage, const tool_scene *scene, espl_entity seat,
                         const espl_entity *nodes, espl_command_buffer *commands, tool_fault *fault)
{
    const espl_attach_options keep = {
        .position = ESPL_KEEP_LOCAL, .rotation = ESPL_KEEP_LOCAL, .scale = ESPL_KEEP_LOCAL};
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    espl_report report;

    for (size_t i = 0; i < scene->node_count; ++i) {
        const bool is_top = scene->nodes[i].parent == SCENE_NO_PARENT;
        const espl_entity parent = is_top ? seat : nodes[scene->nodes[i].parent];

        if (espl_entity_is_null(parent)) {
            continue;
        }
        const espl_status status = espl_record_attach(recorder, 0, nodes[i], parent, &keep);
        if (!stage_went_well(stage, status, "espl_record_attach", fault)) {
            return false;
        }
    }
    if (!stage_went_well(stage, espl_play(stage->world, commands, &report), "espl_play", fault)) {
        return false;
    }
    if (report.refused > 0) {
        fault_say(fault, "%zu of %zu attach commands were refused", report.refused,
                  report.accepted);
    }
    return report.refused == 0;
}

bool stage_plant(tool_stage *stage, const tool_scene *scene, espl_entity seat, espl_entity *nodes,
                 tool_fault *fault)
{
    espl_command_buffer *commands = NULL;

    if (!create_nodes(stage, scene, nodes, fault) ||
        !stage_went_well(stage, espl_command_buffer_create(stage->world, 1, &commands),
                         "espl_command_buffer_create", fault)) {
        return false;
    }
    const bool is_attached = attach_nodes(stage, scene, seat, nodes, commands, fault);
    espl_command_buffer_destroy(commands);
    return is_attached;
}

static bool is_name_byte(unsigned char byte)
{
    return byte >= 0x20 && byte != 0x7f && byte != '/';
}

/// A name that is cut ends with a whole character of UTF-8.
static void fit_name(const char *name, char out[ESPL_NAME_LIMIT + 1])
{
    size_t length = strlen(name);

    if (length > ESPL_NAME_LIMIT) {
        length = ESPL_NAME_LIMIT;
        while (length > 0 && ((unsigned char)name[length] & 0xc0u) == 0x80u) {
            --length;
        }
    }
    for (size_t i = 0; i < length; ++i) {
        out[i] = is_name_byte((unsigned char)name[i]) ? name[i] : '_';
    }
    out[length] = '\0';
}

bool stage_name(tool_stage *stage, const tool_scene *scene, const espl_entity *nodes,
                tool_fault *fault)
{
    char name[ESPL_NAME_LIMIT + 1];
    bool is_good = true;

    for (size_t i = 0; is_good && i < scene->node_count; ++i) {
        fit_name(scene->nodes[i].name, name);
        is_good = stage_went_well(stage, espl_set_name(stage->world, nodes[i], name),
                                  "espl_set_name", fault);
    }
    return is_good;
}

static size_t list_children(const tool_stage *stage, espl_entity parent, espl_entity *out,
                            size_t capacity, size_t filled)
{
    espl_entity child = espl_get_first_child(stage->world, parent);

    for (; !espl_entity_is_null(child); child = espl_get_next_sibling(stage->world, child)) {
        if (filled < capacity) {
            out[filled] = child;
        }
        ++filled;
    }
    return filled;
}

size_t stage_list_below(const tool_stage *stage, espl_entity top, espl_entity *out, size_t capacity)
{
    size_t filled = list_children(stage, top, out, capacity, 0);

    // The list is its own queue.
    for (size_t i = 0; i < filled && i < capacity; ++i) {
        filled = list_children(stage, out[i], out, capacity, filled);
    }
    return filled;
}

bool stage_is_valid(const tool_stage *stage, tool_fault *fault)
{
    espl_validation report = {0};

    if (espl_validate(stage->world, &report)) {
        return true;
    }
    fault_say(fault, "invariant broken: %s (entity %u, detail %zu)",
              report.rule != NULL ? report.rule : "unknown rule", report.entity.index,
              report.detail);
    return false;
}
