// SPDX-License-Identifier: MIT
// What a second camera sees, by espl_cull() in the module: the share of the boxes that is culled, their edges, and
// the bones that are grey. Of worlds that have the components of renderables (espalier/renderables.h).
#include "tools/view/module.h"

#include <espalier/renderables.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIM = 3, CORNERS = 8, EDGES = 12, EDGE_FLOATS = 2 * DIM * EDGES };

/// Of more boxes some are left out of the picture, but not of the culling.
enum { BOX_LIMIT = 20000 };

/// What is known of an entity, by its index.
enum { NO_BOX = 0, CULLED = 1, SEEN = 2 };

static struct {
    espl_renderables *renderables; // of the world at hand, or NULL
    espl_visible *visible;
    unsigned char *states; // [state_count]
    size_t state_count, state_capacity;
    espl_entity *entities;
    size_t entity_capacity;
    float *edges, *colors; // [box_count][EDGE_FLOATS]
    size_t edge_capacity, color_capacity, box_count;
    size_t all;
} culling;

// --- Opening and closing ---

static bool has_component(const char *name, size_t size)
{
    const espl_component component = espl_component_find(view_world(), name);
    espl_component_def def;

    return component != 0 && espl_component_info(view_world(), component, &def) == ESPL_OK &&
           def.size == size;
}

/// The components must be there already: one that came by this would be a change of the tape's world.
static bool has_components(void)
{
    return view_world() != NULL && has_component("bounds", sizeof(espl_bounds)) &&
           has_component("renderable", sizeof(espl_renderable)) &&
           has_component("layers", sizeof(espl_layers));
}

static bool open_culling(void)
{
    return has_components() &&
           (culling.visible != NULL || !espl_failed(espl_visible_create(NULL, &culling.visible))) &&
           (culling.renderables != NULL ||
            !espl_failed(espl_renderables_create(view_world(), NULL, &culling.renderables)));
}

void culling_leave(void)
{
    espl_renderables_destroy(culling.renderables);
    culling.renderables = NULL;
    culling.state_count = culling.all = 0;
}

void culling_close(void)
{
    culling_leave();
    espl_visible_destroy(culling.visible);
    free(culling.states);
    free(culling.entities);
    free(culling.edges);
    free(culling.colors);
    memset(&culling, 0, sizeof culling);
}

bool culling_has_boxes(void)
{
    return has_components();
}

// --- Culling ---

static void mark_boxes(void)
{
    const espl_component all[] = {ESPL_TRANSFORM, espl_component_find(view_world(), "bounds"),
                                  espl_component_find(view_world(), "renderable")};
    const espl_query_def def = {.all = all, .all_count = sizeof all / sizeof *all};
    espl_query query;

    memset(culling.states, NO_BOX, culling.state_count);
    if (espl_failed(espl_query_begin_read(view_world(), &def, &query))) {
        return;
    }
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count; ++row) {
            if (query.entities[row].index < culling.state_count) {
                culling.states[query.entities[row].index] = CULLED;
            }
        }
    }
}

/// Mark what is seen. @return how many boxes.
static size_t mark_seen(void)
{
    const espl_instance_arrays arrays = {.entities = culling.entities};
    size_t group_count = 0, count = 0;
    const espl_group *const groups = espl_visible_groups(culling.visible, 0, &group_count);

    for (size_t i = 0; i < group_count; ++i) {
        count += groups[i].count;
    }
    if (count > culling.all || espl_failed(espl_visible_write(culling.visible, 0, &arrays))) {
        return VIEW_NONE;
    }
    for (size_t i = 0; i < count; ++i) {
        if (culling.entities[i].index < culling.state_count) {
            culling.states[culling.entities[i].index] = SEEN;
        }
    }
    return count;
}

uint32_t culling_cull(const float *matrix)
{
    espl_mirror_description description;
    espl_camera camera;

    if (!open_culling() ||
        espl_failed(espl_camera_from_matrix(matrix, ESPL_CLIP_MINUS_ONE_TO_ONE, &camera)) ||
        espl_failed(espl_renderables_update(culling.renderables, NULL, NULL))) {
        return VIEW_NONE;
    }
    const espl_mirror *const mirror = espl_renderables_acquire(culling.renderables);

    espl_mirror_describe(mirror, &description);
    if (!view_grow(&culling.states, &culling.state_capacity, scene_capacity() + 1,
                   sizeof *culling.states) ||
        !view_grow(&culling.entities, &culling.entity_capacity, description.renderables + 1,
                   sizeof *culling.entities) ||
        espl_failed(espl_cull(culling.visible, mirror, &camera, 1, NULL))) {
        return VIEW_NONE;
    }
    culling.all = description.renderables;
    culling.state_count = scene_capacity();
    mark_boxes();
    return (uint32_t)mark_seen();
}

size_t culling_count(void)
{
    return culling.all;
}

const unsigned char *culling_states(void)
{
    return culling.states;
}

// --- The picture ---

/// A bone moves with its parent, whose box it is in; one without a parent is in its own.
static unsigned char state_of_bone(uint32_t owner)
{
    const uint32_t parent = scene_parents()[owner];
    const unsigned char state = parent < culling.state_count ? culling.states[parent] : NO_BOX;

    return state != NO_BOX ? state : owner < culling.state_count ? culling.states[owner] : NO_BOX;
}

void culling_shade(size_t bone_count, uint32_t selected, const float *gray)
{
    const uint32_t *const owners = scene_owners();
    float *const colors = scene_colors();

    for (size_t i = 0; i < bone_count; ++i) {
        if (owners[i] != selected && state_of_bone(owners[i]) == CULLED) {
            memcpy(colors + DIM * i, gray, DIM * sizeof *gray);
        }
    }
}

/// Compute the corners of a box: bit 0 of a number is the side along x, and so on.
static void place_corners(float corners[CORNERS][DIM], const float *world, const espl_bounds *box)
{
    const float *const q = world;
    float m[DIM][DIM];

    for (int i = 0; i < DIM; ++i) {
        const int j = (i + 1) % DIM, k = (i + 2) % DIM;

        m[i][i] = 1 - 2 * (q[j] * q[j] + q[k] * q[k]);
        m[j][i] = 2 * (q[i] * q[j] + q[k] * q[3]);
        m[k][i] = 2 * (q[i] * q[k] - q[j] * q[3]);
    }
    for (int corner = 0; corner < CORNERS; ++corner) {
        for (int row = 0; row < DIM; ++row) {
            corners[corner][row] = world[4 + row];
        }
        for (int i = 0; i < DIM; ++i) {
            const float side = (corner >> i & 1) != 0 ? box->half[i] : -box->half[i];
            const float along = (box->center[i] + side) * world[7] * world[8 + i];

            for (int row = 0; row < DIM; ++row) {
                corners[corner][row] += m[row][i] * along;
            }
        }
    }
}

static void add_box(uint32_t index, const espl_bounds *box, const float *color)
{
    float *at = culling.edges + EDGE_FLOATS * culling.box_count;
    float *colors = culling.colors + EDGE_FLOATS * culling.box_count;
    float corners[CORNERS][DIM];

    // Twelve words a transform; see scene.c.
    place_corners(corners, scene_worlds() + 12 * (size_t)index, box);
    for (int corner = 0; corner < CORNERS; ++corner) {
        for (int bit = 1; bit < CORNERS; bit *= 2) {
            if ((corner & bit) == 0) {
                memcpy(at, corners[corner], sizeof corners[corner]);
                memcpy(at + DIM, corners[corner | bit], sizeof corners[corner]);
                at += 2 * DIM;
            }
        }
    }
    for (int i = 0; i < 2 * EDGES; ++i) {
        memcpy(colors + DIM * i, color, DIM * sizeof *color);
    }
    ++culling.box_count;
}

size_t culling_boxes(const float *palette)
{
    const espl_component bounds = espl_component_find(view_world(), "bounds");
    const size_t stride = (culling.all + BOX_LIMIT - 1) / BOX_LIMIT;
    size_t number = 0;

    culling.box_count = 0;
    if (culling.all == 0 ||
        !view_grow(&culling.edges, &culling.edge_capacity, culling.all / stride + 1,
                   EDGE_FLOATS * sizeof(float)) ||
        !view_grow(&culling.colors, &culling.color_capacity, culling.all / stride + 1,
                   EDGE_FLOATS * sizeof(float))) {
        return 0;
    }
    for (uint32_t i = 0; i < culling.state_count; ++i) {
        const espl_entity entity = {i, scene_generations()[i]};
        espl_bounds box;

        if (culling.states[i] == NO_BOX || number++ % stride != 0 ||
            culling.box_count > culling.all / stride ||
            espl_failed(espl_get_component(view_world(), entity, bounds, &box, sizeof box))) {
            continue;
        }
        add_box(i, &box, palette + (culling.states[i] == SEEN ? 0 : DIM));
    }
    return culling.box_count;
}

const float *culling_edges(void)
{
    return culling.edges;
}

const float *culling_colors(void)
{
    return culling.colors;
}
