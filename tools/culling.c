// SPDX-License-Identifier: MIT
#include "tools/culling.h"

#include "tools/show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

/// The eye: its heights above the ground and shares of the crowd's radius, its angles, and the tangents of half of
/// its angles of view.
#define EYE_HEIGHT 1.5
#define EYE_MIDDLE 0.55
#define EYE_RISE 0.2
#define EYE_BEHIND 0.55
#define EYE_YAW 1.2
#define EYE_PITCH 0.09
#define EYE_NEAR 0.1
#define EYE_FAR 1.1
#define EYE_TANGENT 0.30
#define EYE_ASPECT (16.0 / 9)
/// The sun: its angles, and the shares of the crowd's radius that its box has ahead of the eye.
#define SUN_YAW 0.9
#define SUN_PITCH 0.9
#define SUN_AHEAD 0.45
#define SUN_HALF 0.30
/// Largest error of a box and of its distance from a plane, relative to the numbers that they are summed of: a
/// world transform of floats, its matrix and the box have some twenty roundings of 2^-24.
#define CLOSE 4e-6

static const char *const names[CULLING_CAMERAS] = {"eye", "sun"};

// Opening and closing.

bool culling_open(tool_culling *culling, tool_stage *stage, const tool_scene *scene,
                  size_t copy_count, tool_fault *fault)
{
    culling->bounds = calloc(scene->node_count + 1, sizeof *culling->bounds);
    culling->worlds = calloc(scene->node_count + 1, sizeof *culling->worlds);
    culling->tints = calloc(copy_count * scene->node_count + 1, sizeof *culling->tints);
    if (culling->bounds == NULL || culling->worlds == NULL || culling->tints == NULL) {
        fault_say(fault, "no memory for the bounds of %zu copies", copy_count);
        return false;
    }
    bounds_measure(scene, culling->bounds);
    return stage_went_well(stage,
                           espl_renderables_create(stage->world, NULL, &culling->renderables),
                           "espl_renderables_create", fault) &&
           stage_went_well(stage, espl_visible_create(NULL, &culling->visible),
                           "espl_visible_create", fault);
}

bool culling_dress(tool_culling *culling, tool_crowd *crowd, tool_fault *fault)
{
    // The entities of the crowd's nodes are those of the prefab until copies are spawned.
    return bounds_give(crowd->stage, crowd->scene, crowd->nodes, culling->bounds, fault);
}

void culling_close(tool_culling *culling)
{
    espl_visible_destroy(culling->visible);
    espl_renderables_destroy(culling->renderables);
    free(culling->bounds);
    free(culling->worlds);
    free(culling->tints);
    free(culling->entities);
    free(culling->seen);
    *culling = (tool_culling){0};
}

// Cameras.

/// Take the box around all nodes of the crowd.
static bool bound_crowd(tool_culling *culling, const tool_crowd *crowd, tool_fault *fault)
{
    const size_t count = crowd->scene->node_count;

    culling->crowd = drawing_bounds_empty();
    for (size_t i = 0; i < crowd->copy_count; ++i) {
        const crowd_copy *const copy = &crowd->copies[i];

        if (!copy->is_alive) {
            continue;
        }
        const espl_status status =
            espl_read_strided(crowd->stage->world, ESPL_READ_WORLD_TRANSFORM, copy->nodes, count,
                              sizeof *copy->nodes, culling->worlds, sizeof *culling->worlds);
        if (!stage_went_well(crowd->stage, status, "espl_read_strided", fault)) {
            return false;
        }
        for (size_t j = 0; j < count; ++j) {
            const float *const at = culling->worlds[j].position;

            drawing_bounds_take(&culling->crowd,
                                (double[3]){(double)at[0], (double)at[1], (double)at[2]});
        }
    }
    return true;
}

/// Place the eye, behind the middle of the crowd as it sees it.
static tool_frustum place_eye(const tool_culling *culling, int up, double share)
{
    const drawing_bounds *const crowd = &culling->crowd;
    const int a = (up + 1) % 3, b = (up + 2) % 3;
    const double high = fmax(crowd->most[up] - fmin(crowd->least[up], 0), 1e-3);
    const double wide = hypot(crowd->most[a] - crowd->least[a], crowd->most[b] - crowd->least[b]);
    const double radius = fmax(wide / 2, high);
    tool_frustum eye = {
        .camera = {.yaw = EYE_YAW + 2 * PI * share, .pitch = EYE_PITCH},
        .nearest = EYE_NEAR * high,
        .farthest = EYE_FAR * radius,
        .half = {EYE_TANGENT * EYE_ASPECT, EYE_TANGENT},
        .up_axis = up,
    };
    double from[3], axes[3][3];

    frustum_axes(&eye, from, axes);
    eye.camera.distance = radius;
    for (int i = 0; i < 3; ++i) {
        eye.camera.centre[i] = (crowd->least[i] + crowd->most[i]) / 2 -
                               EYE_BEHIND * radius * axes[2][i] + radius * axes[2][i];
    }
    // In a small crowd it is not above all heads.
    const double height = fmin(EYE_HEIGHT, EYE_MIDDLE + EYE_RISE * (radius / high - 1));
    eye.camera.centre[up] = fmin(crowd->least[up], 0) + height * high + radius * axes[2][up];
    return eye;
}

/// Place the sun, above what is close in front of the eye.
static tool_frustum place_sun(const tool_frustum *eye)
{
    const double radius = eye->farthest / EYE_FAR;
    tool_frustum sun = {
        .camera = {.yaw = SUN_YAW, .pitch = SUN_PITCH, .distance = 2 * radius},
        .farthest = 4 * radius,
        .half = {SUN_HALF * radius, SUN_HALF * radius},
        .up_axis = eye->up_axis,
        .is_orthographic = true,
    };
    double from[3], axes[3][3];

    frustum_axes(eye, from, axes);
    for (int i = 0; i < 3; ++i) {
        sun.camera.centre[i] = from[i] + SUN_AHEAD * radius * axes[2][i];
    }
    return sun;
}

static bool make_cameras(tool_culling *culling, const tool_stage *stage, int up, double share,
                         tool_fault *fault)
{
    culling->frustums[CULLING_EYE] = place_eye(culling, up, share);
    culling->frustums[CULLING_SUN] = place_sun(&culling->frustums[CULLING_EYE]);
    for (size_t i = 0; i < CULLING_CAMERAS; ++i) {
        float matrix[16];

        frustum_matrix(&culling->frustums[i], matrix);
        if (!stage_went_well(
                stage, espl_camera_from_matrix(matrix, ESPL_CLIP_ZERO_TO_ONE, &culling->cameras[i]),
                "espl_camera_from_matrix", fault)) {
            return false;
        }
    }
    return true;
}

// What is seen.

/// Make room for what is seen of so many boxes, and for the indices of all entities.
static bool reserve(tool_culling *culling, const tool_crowd *crowd, tool_fault *fault)
{
    size_t indices = 0;

    for (size_t i = 0; i < crowd->copy_count * crowd->scene->node_count; ++i) {
        const size_t index = crowd->nodes[i].index;

        indices = index >= indices ? index + 1 : indices;
    }
    if (culling->all > culling->entity_capacity) {
        free(culling->entities);
        culling->entity_capacity = culling->all;
        culling->entities = calloc(culling->all, sizeof *culling->entities);
    }
    if (indices > culling->index_count) {
        free(culling->seen);
        culling->index_count = indices;
        culling->seen = calloc(indices, sizeof *culling->seen);
    }
    if ((culling->entities == NULL && culling->all > 0) || culling->seen == NULL) {
        fault_say(fault, "no memory for what is seen of %zu boxes", culling->all);
        return false;
    }
    memset(culling->seen, 0, culling->index_count * sizeof *culling->seen);
    return true;
}

/// Note what a camera sees, by entity index.
static bool note_seen(tool_culling *culling, const tool_stage *stage, size_t camera,
                      tool_fault *fault)
{
    const espl_instance_arrays arrays = {.entities = culling->entities};
    size_t group_count = 0, count = 0;
    const espl_group *const groups = espl_visible_groups(culling->visible, camera, &group_count);

    for (size_t i = 0; i < group_count; ++i) {
        count += groups[i].count;
    }
    if (count > culling->all) {
        fault_say(fault, "the %s sees %zu of %zu boxes", names[camera], count, culling->all);
        return false;
    }
    if (!stage_went_well(stage, espl_visible_write(culling->visible, camera, &arrays),
                         "espl_visible_write", fault)) {
        return false;
    }
    for (size_t i = 0; i < count; ++i) {
        const size_t index = culling->entities[i].index;
        const bool is_known = index < culling->index_count;

        if (!is_known || (culling->seen[index] >> camera & 1u) != 0) {
            fault_say(fault, "the %s sees entity %zu, which %s", names[camera], index,
                      is_known ? "it saw already" : "is no node of the crowd");
            return false;
        }
        culling->seen[index] |= 1u << camera;
    }
    culling->shown[camera] = count;
    culling->sum_shown[camera] += count;
    return true;
}

static bool cull(tool_culling *culling, const tool_crowd *crowd, tool_fault *fault)
{
    const tool_stage *const stage = crowd->stage;
    const espl_cull_def def = {.executor = &stage->executor};
    espl_renderables_report report = {0};
    espl_mirror_description description;

    double begin = crowd_clock();
    espl_status status = espl_renderables_update(culling->renderables, NULL, &report);
    culling->update_seconds += crowd_clock() - begin;
    if (!stage_went_well(stage, status, "espl_renderables_update", fault)) {
        return false;
    }
    if (status == ESPL_PARTLY) {
        fault_say(fault, "%zu boxes are not finite", report.bad);
        return false;
    }
    const espl_mirror *const mirror = espl_renderables_acquire(culling->renderables);
    espl_mirror_describe(mirror, &description);
    culling->all = description.renderables;
    culling->sum_all += description.renderables;

    begin = crowd_clock();
    status = espl_cull(culling->visible, mirror, culling->cameras, CULLING_CAMERAS, &def);
    culling->cull_seconds += crowd_clock() - begin;
    bool is_good =
        stage_went_well(stage, status, "espl_cull", fault) && reserve(culling, crowd, fault);
    for (size_t i = 0; is_good && i < CULLING_CAMERAS; ++i) {
        is_good = note_seen(culling, stage, i, fault);
    }
    return is_good;
}

// The oracle.

/// Judge a box by the planes of a camera, in double.
/// @return 1: seen, -1: not seen, 0: too close to a plane to say.
static int judge_box(const espl_camera *camera, const tool_affine *world, const espl_bounds *bounds)
{
    double center[3], half[3], size[3];
    int verdict = 1;

    for (int i = 0; i < 3; ++i) {
        const double *const row = world->m[i];

        center[i] = row[3];
        half[i] = 0;
        size[i] = fabs(row[3]);
        for (int j = 0; j < 3; ++j) {
            center[i] += row[j] * (double)bounds->center[j];
            half[i] += fabs(row[j]) * (double)bounds->half[j];
            size[i] += fabs(row[j]) * (fabs((double)bounds->center[j]) + (double)bounds->half[j]);
        }
    }
    for (uint32_t plane = 0; plane < camera->plane_count; ++plane) {
        double value = (double)camera->planes[plane][3], sum = fabs(value);

        for (int i = 0; i < 3; ++i) {
            const double normal = (double)camera->planes[plane][i];

            value += normal * center[i] + fabs(normal) * half[i];
            sum += fabs(normal) * size[i];
        }
        if (value < -CLOSE * sum) {
            return -1;
        }
        verdict = value > CLOSE * sum ? verdict : 0;
    }
    return verdict;
}

/// Compare what is seen of a copy with the oracle.
static bool compare_copy(tool_culling *culling, const tool_crowd *crowd, const crowd_copy *copy,
                         tool_fault *fault)
{
    const size_t count = crowd->scene->node_count;
    const espl_status status =
        espl_read_strided(crowd->stage->world, ESPL_READ_WORLD_TRANSFORM, copy->nodes, count,
                          sizeof *copy->nodes, culling->worlds, sizeof *culling->worlds);

    if (!stage_went_well(crowd->stage, status, "espl_read_strided", fault)) {
        return false;
    }
    for (size_t i = 0; i < count * CULLING_CAMERAS; ++i) {
        const size_t node = i / CULLING_CAMERAS, camera = i % CULLING_CAMERAS;
        const tool_affine world = affine_of_transform(&culling->worlds[node]);
        const bool is_seen = (culling->seen[copy->nodes[node].index] >> camera & 1u) != 0;
        const int verdict =
            judge_box(&culling->cameras[camera], &world, &culling->bounds[node].box);

        ++culling->compared;
        culling->close += verdict == 0;
        if (verdict != 0 && is_seen != (verdict > 0)) {
            fault_say(fault, "the %s %s node '%s' of copy %zu, and by brute force it is %s",
                      names[camera], is_seen ? "sees" : "does not see",
                      crowd->scene->nodes[node].name, (size_t)(copy - crowd->copies),
                      is_seen ? "outside" : "inside");
            return false;
        }
    }
    return true;
}

/// Colour a copy by what the eye sees of it.
static void colour_copy(tool_culling *culling, const tool_crowd *crowd, size_t copy)
{
    const size_t count = crowd->scene->node_count;

    for (size_t i = 0; i < count; ++i) {
        const uint32_t index = crowd->copies[copy].nodes[i].index;
        const bool is_seen = (culling->seen[index] >> CULLING_EYE & 1u) != 0;

        culling->tints[copy * count + i] =
            is_seen ? culling->bounds[i].drawn.key + 1 : DRAWING_GREY;
    }
}

bool culling_take(tool_culling *culling, const tool_crowd *crowd, size_t stride, double share,
                  tool_fault *fault)
{
    size_t alive = 0;

    if ((!culling->is_begun && !bound_crowd(culling, crowd, fault)) ||
        !make_cameras(culling, crowd->stage, crowd->scene->up_axis, share, fault) ||
        !cull(culling, crowd, fault)) {
        return false;
    }
    culling->is_begun = true;
    for (size_t i = 0; i < crowd->copy_count; ++i) {
        const crowd_copy *const copy = &crowd->copies[i];

        if (!copy->is_alive) {
            continue;
        }
        ++alive;
        colour_copy(culling, crowd, i);
        if ((i + culling->frames) % stride == 0 && !compare_copy(culling, crowd, copy, fault)) {
            return false;
        }
    }
    ++culling->frames;
    if (culling->all != alive * crowd->scene->node_count) {
        fault_say(fault, "the mirror has %zu boxes, but %zu exist", culling->all,
                  alive * crowd->scene->node_count);
        return false;
    }
    return true;
}

// Words.

static double share_of(size_t part, size_t all)
{
    return all > 0 ? 100 * (double)part / (double)all : 0;
}

void culling_explain(const tool_culling *culling, char *out, size_t size)
{
    const size_t shown = culling->shown[CULLING_EYE], all = culling->all;
    char seen[32], boxes[32];

    (void)snprintf(out, size, "the eye sees %s of %s boxes: %.1f %% culled",
                   show_spell(seen, shown), show_spell(boxes, all), share_of(all - shown, all));
}

void culling_print(const tool_culling *culling, const char *label)
{
    const double frames = culling->frames > 0 ? (double)culling->frames : 1;

    for (size_t i = 0; i < CULLING_CAMERAS; ++i) {
        (void)printf("%s: the %s sees %.0f of %.0f boxes in a frame: %.1f %% culled\n", label,
                     names[i], (double)culling->sum_shown[i] / frames,
                     (double)culling->sum_all / frames,
                     share_of(culling->sum_all - culling->sum_shown[i], culling->sum_all));
    }
    (void)printf("%s: the same by brute force for %zu boxes and cameras, %zu of them too close to "
                 "a plane to tell; update %.3f ms, culling %.3f ms a frame\n",
                 label, culling->compared, culling->close, 1e3 * culling->update_seconds / frames,
                 1e3 * culling->cull_seconds / frames);
}

void culling_add_to_document(tool_document *document, const tool_culling *culling)
{
    document_count(document, "boxes", culling->sum_all);
    document_count(document, "seen_by_eye", culling->sum_shown[CULLING_EYE]);
    document_count(document, "seen_by_sun", culling->sum_shown[CULLING_SUN]);
    document_count(document, "boxes_compared", culling->compared);
    document_count(document, "boxes_too_close", culling->close);
}
