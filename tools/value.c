// SPDX-License-Identifier: MIT
#include "tools/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool value_refuse(tool_fault *out, espl_status status, const espl_format_fault *why)
{
    if (why->sentence != NULL) {
        fault_say(out, "at byte %llu: %s", (unsigned long long)why->offset, why->sentence);
    } else {
        fault_say(out, "%s: %s", espl_status_name(status), espl_status_text(status));
    }
    return false;
}

espl_status value_make_world(tool_value *value, uint32_t tag, uint32_t cell_size)
{
    espl_world_def def = {.tag = tag};
    int exponent = 0;

    memcpy(&def.cell_size, &cell_size, sizeof def.cell_size);
    // Bytes with another size are refused when they are read, by a sentence that says so.
    if (!(def.cell_size >= 1 && def.cell_size <= 0x1p30f) ||
        frexpf(def.cell_size, &exponent) != 0.5f) {
        def.cell_size = 0;
    }
    return espl_world_create(&def, &value->world);
}

// --- Tapes and scenes ---

// The world of a replay lives as long as the replay.
static bool read_tape(tool_value *value, const value_def *def, tool_fault *fault)
{
    value->replay = calloc(1, sizeof *value->replay);
    if (value->replay == NULL) {
        fault_say(fault, "no memory");
        return false;
    }
    value->how.frames = def->frames;
    replay_begin(value->replay, &value->how, value->contents.bytes, value->contents.size,
                 &value->played);
    while (replay_step(value->replay)) {
    }
    value->world = value->replay->world;
    if (value->played.fault.text[0] != '\0') {
        *fault = value->played.fault;
        return false;
    }
    if (value->played.frames < def->frames) {
        fault_say(fault, "the tape has %llu frames, not %llu",
                  (unsigned long long)value->played.frames, (unsigned long long)def->frames);
        return false;
    }
    return true;
}

// The numbers of nodes in the scene are no part of the value.
static bool drop_numbers(tool_stage *stage, const espl_entity *nodes, size_t count,
                         tool_fault *fault)
{
    bool is_good = true;

    for (size_t i = 0; is_good && i < count; ++i) {
        is_good =
            stage_went_well(stage, espl_remove_component(stage->world, nodes[i], stage->node_kind),
                            "espl_remove_component", fault);
    }
    return is_good;
}

static bool read_scene(tool_value *value, const value_def *def, tool_fault *fault)
{
    if (!scene_load(&value->scene, value->path, def->animation, fault)) {
        return false;
    }
    const size_t count = value->scene.node_count;
    espl_entity *const nodes = calloc(count, sizeof *nodes);

    if (nodes == NULL) {
        fault_say(fault, "no memory for %zu nodes", count);
        return false;
    }
    const bool is_good =
        stage_open(&value->stage, 1, 0, NULL, fault) &&
        stage_plant(&value->stage, &value->scene, espl_entity_null(), nodes, fault) &&
        stage_name(&value->stage, &value->scene, nodes, fault) &&
        drop_numbers(&value->stage, nodes, count, fault);

    value->world = value->stage.world;
    if (value->scene.notes != NULL) {
        fault_say(&value->note, "%s", value->scene.notes);
    }
    free(nodes);
    return is_good;
}

// --- Tops ---

static int compare_indices(const void *a, const void *b)
{
    const espl_entity *const one = a, *const other = b;

    return (one->index > other->index) - (one->index < other->index);
}

static bool list_tops(tool_value *value, tool_fault *fault)
{
    const espl_component member = ESPL_MEMBER;
    const espl_query_def def = {
        .none = &member, .none_count = 1, .include = ESPL_INCLUDE_DISABLED | ESPL_INCLUDE_PREFABS};
    espl_world_stats stats;
    espl_query query;

    espl_stats(value->world, &stats);
    value->tops = calloc(stats.entities + 1, sizeof *value->tops);
    if (value->tops == NULL || espl_failed(espl_query_begin_read(value->world, &def, &query))) {
        fault_say(fault, "no memory for %zu roots", stats.entities);
        return false;
    }
    while (espl_query_next(&query)) {
        memcpy(value->tops + value->top_count, query.entities, query.count * sizeof *value->tops);
        value->top_count += query.count;
    }
    qsort(value->tops, value->top_count, sizeof *value->tops, compare_indices);
    return true;
}

// --- All kinds ---

static bool read_value(tool_value *value, const value_def *def, tool_fault *fault)
{
    switch (value->kind) {
    case CONTENTS_TAPE:
        return read_tape(value, def, fault);
    case CONTENTS_ARCHIVE:
        return value_read_archive(value, fault);
    case CONTENTS_IMAGE:
        return value_read_image(value, fault);
    default:
        return read_scene(value, def, fault);
    }
}

static bool refuse_options(const tool_value *value, const value_def *def, tool_fault *fault)
{
    if (def->frames != 0 && value->kind != CONTENTS_TAPE) {
        fault_say(fault, "only a tape has frames");
        return false;
    }
    if (def->animation != NULL && value->kind != CONTENTS_OTHER) {
        fault_say(fault, "only a scene has animations");
        return false;
    }
    return true;
}

// Read what the value has, or a scene. @return false with the reason, and nothing to close.
static bool read_or_close(tool_value *value, const value_def *def, tool_fault *fault)
{
    const value_def none = {0};

    def = def == NULL ? &none : def;
    const bool is_good = refuse_options(value, def, fault) && read_value(value, def, fault) &&
                         (value->tops != NULL || list_tops(value, fault));

    if (!is_good) {
        value_close(value);
    }
    return is_good;
}

bool value_take(tool_value *out, tool_contents *contents, const char *path, const value_def *def,
                tool_fault *fault)
{
    *out = (tool_value){.path = path, .contents = *contents, .kind = contents_kind_of(contents)};
    *contents = (tool_contents){0};
    if (out->kind == CONTENTS_OTHER) {
        fault_say(fault, "no tape, archive or image");
        value_close(out);
        return false;
    }
    return read_or_close(out, def, fault);
}

bool value_open(tool_value *out, const char *path, const value_def *def, tool_fault *fault)
{
    tool_contents contents;

    *out = (tool_value){.path = path};
    if (!contents_is_value(path)) {
        return read_or_close(out, def, fault);
    }
    return contents_load(&contents, path, fault) && value_take(out, &contents, path, def, fault);
}

void value_close(tool_value *value)
{
    if (value->replay != NULL) {
        (void)replay_end(value->replay);
        free(value->replay);
    } else if (value->stage.world == NULL) {
        espl_world_destroy(value->world);
    }
    stage_close(&value->stage);
    scene_release(&value->scene);
    free(value->tops);
    contents_release(&value->contents);
    *value = (tool_value){0};
}

// --- Writing ---

typedef struct growing {
    tool_contents *to;
    size_t room;
} growing;

static bool grow(void *user, const void *bytes, size_t size)
{
    growing *const g = user;

    return contents_append(g->to, &g->room, bytes, size);
}

bool value_archive(const tool_value *value, tool_contents *out, tool_fault *fault)
{
    growing g = {.to = out};
    const espl_sink sink = {.user = &g, .write = grow};
    const espl_archive_def all = {.extent = ESPL_EXTENT_SUBTREE};

    *out = (tool_contents){0};
    const espl_status status = espl_archive_write(value->world, &all, &sink);

    if (espl_failed(status)) {
        contents_release(out);
        fault_say(fault, "%s: %s", espl_status_name(status), espl_status_text(status));
    }
    return !espl_failed(status);
}
