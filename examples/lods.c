// SPDX-License-Identifier: MIT
// Levels of detail: a key that stands for three meshes, by the size of a tree on the image. A row of trees is
// drawn with the fine mesh near the camera, then with the coarse one, then as a card, then not at all. The size
// of each goes with it, so that a shader can fade one mesh into the next.
#include "common.h"

#include <espalier/renderables.h>

enum { FINE = 10, COARSE = 11, CARD = 12, TREES = 80 };

static void make_tree(espl_world *world, uint32_t key, int number)
{
    const espl_bounds box = {{0, 2, 0}, {1, 2, 1}};
    const espl_renderable look = {key, (uint32_t)number, 0};
    espl_transform at = espl_transform_identity();
    espl_entity tree;

    at.position[2] = (float)-number * 6;
    must(espl_create_node(world, espl_entity_null(), &at, NULL, &tree));
    must(espl_add_component(world, tree, espl_component_find(world, "bounds"), &box, sizeof box));
    must(espl_add_component(world, tree, espl_component_find(world, "renderable"), &look,
                            sizeof look));
}

int main(void)
{
    const espl_lods levels = {.keys = {FINE, COARSE, CARD}, .sizes = {200, 50, 12}, .count = 3};
    // An image 1,080 pixels high with an angle of 60 degrees: 1080 / (2 * tan(30 degrees)).
    const espl_camera camera = {.layers = UINT32_MAX, .eye = {0, 2, 10}, .pixels = 935};
    static const char *const names[] = {"fine", "coarse", "card"};
    static uint32_t trees[TREES];
    static float sizes[TREES];
    espl_world *world = NULL;
    espl_renderables *renderables = NULL;
    espl_visible *visible = NULL;
    size_t count = 0;
    uint32_t key = 0;

    must(espl_world_create(NULL, &world));
    must(espl_renderables_create(world, NULL, &renderables));
    must(espl_renderables_add_lods(renderables, &levels, &key));
    must(espl_visible_create(NULL, &visible));
    for (int i = 0; i < TREES; ++i) {
        make_tree(world, key, i);
    }

    must(espl_renderables_update(renderables, NULL, NULL));
    must(espl_cull(visible, espl_renderables_acquire(renderables), &camera, 1,
                   &(espl_cull_def){.flags = ESPL_CULL_BY_ENTITY}));
    const espl_group *const groups = espl_visible_groups(visible, 0, &count);

    must(espl_visible_write(visible, 0,
                            &(espl_instance_arrays){.user_data = trees, .sizes = sizes}));
    for (size_t i = 0; i < count; ++i) {
        const uint32_t first = groups[i].first, last = first + groups[i].count - 1;

        printf("%s: trees %u to %u, %.1f to %.1f pixels\n", names[groups[i].key - FINE],
               trees[first], trees[last], (double)sizes[first], (double)sizes[last]);
    }

    espl_visible_destroy(visible);
    espl_renderables_destroy(renderables);
    espl_world_destroy(world);
    return 0;
}
