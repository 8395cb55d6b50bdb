// SPDX-License-Identifier: MIT
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tools/scene.h"

#include "tools/contents.h"
#include "tools/guard.h"
#include "tools/robot.h"
#include "tools/truth.h"
#include "tools/xml_root.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_readable_file(const char *path, tool_fault *fault)
{
    struct stat facts;

    if (stat(path, &facts) != 0) {
        fault_say(fault, "%s", strerror(errno));
    } else if (S_ISDIR(facts.st_mode)) {
        fault_say(fault, "is a directory");
    } else if (!S_ISREG(facts.st_mode)) {
        fault_say(fault, "is not a regular file");
    } else if (facts.st_size == 0) {
        fault_say(fault, "is empty");
    } else if (contents_is_value(path)) {
        fault_say(fault, "is no scene, but a tape, an archive, an image or packed");
    } else {
        return true;
    }
    return false;
}

#ifndef HAVE_TINYGLTF
bool scene_read_gltf(tool_scene *out, const char *path, tool_fault *fault)
{
    return scene_read_assimp(out, path, fault) &&
           scene_note(out, fault,
                      "read by Assimp, by which steps and curves play as straight lines, because "
                      "this espalier was built without tinygltf");
}
#endif

#ifndef HAVE_URDFDOM
bool scene_read_urdf(tool_scene *out, const char *path, tool_fault *fault)
{
    (void)out;
    (void)path;
    fault_say(fault, "is a URDF file, and this espalier was built without urdfdom");
    return false;
}
#endif

#ifndef HAVE_SDFORMAT
bool scene_read_sdf(tool_scene *out, const char *path, tool_fault *fault)
{
    (void)out;
    (void)path;
    fault_say(fault, "is an SDF file, and this espalier was built without libsdformat");
    return false;
}
#endif

/// Tell a glTF file, binary or a JSON object, by its first bytes.
static bool is_gltf(const char *path)
{
    static const char blanks[] = "\xef\xbb\xbf \t\r\n"; // with a byte order mark
    char head[256] = "";
    FILE *const file = fopen(path, "rb");

    if (file == NULL) {
        return false;
    }
    const size_t length = fread(head, 1, sizeof head - 1, file);
    (void)fclose(file);
    head[length] = '\0';
    return strncmp(head, "glTF", 4) == 0 || head[strspn(head, blanks)] == '{';
}

typedef bool (*scene_reader)(tool_scene *out, const char *path, tool_fault *fault);

/// Choose the reader of a file: some formats are told by their root element, and Assimp knows the
/// others.
static scene_reader find_reader(const char *path)
{
    static const struct {
        const char *root;
        scene_reader reader;
    } formats[] = {
        {"mujoco", scene_read_mujoco},
        {"robot", scene_read_urdf},
        {"sdf", scene_read_sdf},
        {"gazebo", scene_read_sdf}, // of SDF before 1.2
    };
    char root[XML_NAME_SIZE];

    if (xml_read_root(root, path)) {
        for (size_t i = 0; i < sizeof formats / sizeof *formats; ++i) {
            if (strcmp(root, formats[i].root) == 0) {
                return formats[i].reader;
            }
        }
    }
    return is_gltf(path) ? scene_read_gltf : scene_read_assimp;
}

bool scene_reserve(tool_scene *scene, size_t node_count, size_t channel_count, tool_fault *fault)
{
    scene->nodes = calloc(node_count > 0 ? node_count : 1, sizeof *scene->nodes);
    scene->channels = calloc(channel_count > 0 ? channel_count : 1, sizeof *scene->channels);
    if (scene->nodes == NULL || scene->channels == NULL) {
        fault_say(fault, "no memory for %zu nodes", node_count);
        return false;
    }
    scene->node_count = node_count;
    scene->channel_count = channel_count;
    return true;
}

void shape_take(scene_shape *shape, bool is_first, const double point[3])
{
    for (int i = 0; i < 3; ++i) {
        shape->least[i] = is_first ? point[i] : fmin(shape->least[i], point[i]);
        shape->most[i] = is_first ? point[i] : fmax(shape->most[i], point[i]);
    }
}

void shape_finish(scene_shape *shape, uint32_t number)
{
    bool is_good = true;

    for (int i = 0; i < 3; ++i) {
        // Comparisons with what is not a number are false.
        is_good = is_good && shape->least[i] > -(double)FLT_MAX / 4 &&
                  shape->least[i] <= shape->most[i] && shape->most[i] < (double)FLT_MAX / 4;
    }
    shape->number = is_good ? number : 0;
}

/// Depths, tops, and the check that float can hold the scene at all.
static bool finish(tool_scene *scene, tool_fault *fault)
{
    tool_affine *const worlds = calloc(scene->node_count + 1, sizeof *worlds);
    bool fits = worlds != NULL;

    if (!fits) {
        fault_say(fault, "no memory for %zu nodes", scene->node_count);
    }
    for (size_t i = 0; i < scene->node_count && fits; ++i) {
        scene_node *const node = &scene->nodes[i];
        const bool is_top = node->parent == SCENE_NO_PARENT;

        node->depth = is_top ? 0 : scene->nodes[node->parent].depth + 1;
        scene->depth = node->depth > scene->depth ? node->depth : scene->depth;
        scene->top_count += is_top;
        worlds[i] =
            is_top ? node->rest.matrix : affine_multiply(&worlds[node->parent], &node->rest.matrix);
        fits = affine_fits_float(&worlds[i]) && affine_fits_float(&node->rest.matrix);
        if (!fits) {
            fault_say(fault, "node '%s' is larger or farther away than floats allow", node->name);
        }
    }
    if (fits && scene->node_count == 0) {
        fault_say(fault, "has no nodes");
        fits = false;
    }
    free(worlds);
    return fits;
}

bool scene_note(tool_scene *scene, tool_fault *fault, const char *format, ...)
{
    tool_fault line;
    char text[sizeof line.text];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fault_say(&line, "%s", text); // makes it one line

    const size_t before = scene->notes != NULL ? strlen(scene->notes) + 1 : 0;
    char *const notes = realloc(scene->notes, before + strlen(line.text) + 1);
    if (notes == NULL) {
        fault_say(fault, "no memory for a note");
        return false;
    }
    if (before > 0) {
        notes[before - 1] = '\n';
    }
    strcpy(notes + before, line.text);
    scene->notes = notes;
    return true;
}

void scene_print_notes(const tool_scene *scene)
{
    const char *line = scene->notes;

    while (line != NULL) {
        const char *const end = strchr(line, '\n');
        const size_t length = end != NULL ? (size_t)(end - line) : strlen(line);

        (void)printf("    note: %.*s\n", (int)length, line);
        line = end != NULL ? end + 1 : NULL;
    }
}

/// Write the names of animations in quotes, with their numbers, as far as they fit.
static void list_names(char *out, size_t size, const char *const *names, size_t count)
{
    size_t length = 0;

    *out = '\0';
    for (size_t i = 0; i < count && length < size; ++i) {
        const int added =
            snprintf(out + length, size - length, "%s%zu '%s'", i > 0 ? ", " : "", i + 1, names[i]);
        length += added > 0 ? (size_t)added : 0;
    }
}

/// Find a name, or where no animation has it the number.
/// @return how many animations have the name; 1 for a number.
static size_t find_animation(const char *wanted, const char *const *names, size_t count,
                             size_t *chosen)
{
    size_t found = 0;
    char *end = NULL;

    for (size_t i = 0; i < count; ++i) {
        if (strcmp(names[i], wanted) == 0) {
            *chosen = found == 0 ? i : *chosen;
            ++found;
        }
    }
    if (found == 0 && *wanted >= '1' && *wanted <= '9') {
        const unsigned long long number = strtoull(wanted, &end, 10);

        if (*end == '\0' && number <= count) {
            *chosen = (size_t)number - 1;
            found = 1;
        }
    }
    return found;
}

bool scene_choose_animation(tool_scene *scene, const char *const *names, size_t count,
                            size_t *chosen, tool_fault *fault)
{
    const char *const wanted = scene->wanted;
    char list[400];
    size_t number = 0;

    if (count == 0) {
        return true; // read_scene() refuses where one was asked for
    }
    list_names(list, sizeof list, names, count);
    const size_t found = wanted == NULL ? 1 : find_animation(wanted, names, count, &number);
    if (found != 1) {
        fault_say(fault, "%s animation '%s'; it has %s", found == 0 ? "no" : "more than one",
                  wanted, list);
        return false;
    }
    scene->animation = strdup(names[number]);
    if (scene->animation == NULL) {
        fault_say(fault, "no memory for the name of its animation");
        return false;
    }
    scene->animation_count = count;
    *chosen = number;
    return count == 1 || scene_note(scene, fault, "animation %zu of %zu plays, '%s'; it has %s",
                                    number + 1, count, names[number], list);
}

/// What scene_load() is asked for.
typedef struct load_request {
    tool_scene *scene;
    const char *animation;
} load_request;

static bool read_scene(void *out, const char *path, tool_fault *fault)
{
    const load_request *const request = out;
    tool_scene *const scene = request->scene;

    *scene = (tool_scene){.wanted = request->animation};
    scene->path = strdup(path);
    if (scene->path == NULL) {
        fault_say(fault, "no memory");
        return false;
    }
    const char *const slash = strrchr(scene->path, '/');
    scene->label = slash != NULL ? slash + 1 : scene->path;

    const bool is_read = find_reader(path)(scene, path, fault);

    if (is_read && scene->wanted != NULL && scene->animation_count == 0) {
        fault_say(fault, "no animation '%s'; it has none", scene->wanted);
    } else if (is_read && finish(scene, fault)) {
        return true;
    }
    scene_release(scene);
    return false;
}

bool scene_load(tool_scene *out, const char *path, const char *animation, tool_fault *fault)
{
    load_request request = {out, animation};

    // guard_try() reads in another process, so that out is not filled by it.
    return is_readable_file(path, fault) && guard_try(read_scene, &request, path, fault) &&
           read_scene(&request, path, fault);
}

void scene_release(tool_scene *scene)
{
    for (size_t i = 0; i < scene->node_count; ++i) {
        free(scene->nodes[i].name);
    }
    for (size_t i = 0; i < scene->channel_count; ++i) {
        channel_release(&scene->channels[i]);
    }
    if (scene->physics != NULL) {
        physics_end(scene->physics);
    }
    if (scene->robot != NULL) {
        robot_release(scene->robot);
    }
    free(scene->nodes);
    free(scene->channels);
    free(scene->animation);
    free(scene->notes);
    free(scene->path);
    *scene = (tool_scene){0};
}

bool scene_moves(const tool_scene *scene)
{
    return scene->physics != NULL || scene->robot != NULL || scene->channel_count > 0;
}

size_t scene_list_moved(const tool_scene *scene, uint32_t *nodes)
{
    size_t count = 0;

    if (scene->robot != NULL) {
        return robot_list_moved(scene->robot, nodes);
    }
    for (uint32_t i = 0; scene->physics != NULL && i < scene->node_count; ++i) {
        nodes[count++] = i;
    }
    for (size_t i = 0; i < scene->channel_count;) {
        nodes[count++] = scene->channels[i].node;
        i += channels_of_node(&scene->channels[i], scene->channel_count - i);
    }
    return count;
}

void scene_pose(const tool_scene *scene, double seconds, local_frame *locals)
{
    if (scene->physics != NULL) {
        physics_pose(scene->physics, locals);
        return;
    }

    for (size_t i = 0; i < scene->node_count; ++i) {
        locals[i] = scene->nodes[i].rest;
    }
    if (scene->robot != NULL) {
        robot_pose_nodes(scene->robot, scene->nodes, seconds, locals);
    }
    // The end is a moment of its own, because the last key of a step holds there alone.
    const double time = seconds > scene->duration && scene->duration > 0
                            ? fmod(seconds, scene->duration)
                            : fmin(seconds, scene->duration);
    for (size_t i = 0; i < scene->channel_count;) {
        const tool_channel *const channels = &scene->channels[i];
        const size_t count = channels_of_node(channels, scene->channel_count - i);
        local_frame *const local = &locals[channels->node];

        local->place = channels_sample(channels, count, time);
        local->matrix = truth_of_channel(&channels[0], time);
        for (size_t j = 1; j < count; ++j) {
            const tool_affine next = truth_of_channel(&channels[j], time);
            local->matrix = affine_multiply(&local->matrix, &next);
        }
        i += count;
    }
}

void scene_step(tool_scene *scene)
{
    if (scene->physics != NULL) {
        physics_step(scene->physics);
    }
}
