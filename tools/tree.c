// SPDX-License-Identifier: MIT
// `espalier tree`: the hierarchy as the library holds it, one line a node.
#include "tools/commands.h"

#include "tools/stage.h"

#include <stdio.h>
#include <stdlib.h>

/// Deeper nodes are not indented further.
#define INDENT_LIMIT 24

static const char *role_name(const tool_stage *stage, espl_entity entity)
{
    switch (espl_get_role(stage->world, entity)) {
    case ESPL_ROLE_SOLO:
        return "solo";
    case ESPL_ROLE_ROOT:
        return "root";
    case ESPL_ROLE_MEMBER:
        return espl_entity_is_null(espl_get_first_child(stage->world, entity)) ? "leaf" : "member";
    default:
        return "none";
    }
}

static void print_transform(const espl_transform *transform)
{
    const espl_transform *const t = transform;

    (void)printf("  position %.6g %.6g %.6g  rotation %.4g %.4g %.4g %.4g", (double)t->position[0],
                 (double)t->position[1], (double)t->position[2], (double)t->rotation[0],
                 (double)t->rotation[1], (double)t->rotation[2], (double)t->rotation[3]);
    if (t->scale != 1) {
        (void)printf("  scale %.6g", (double)t->scale);
    }
    if (t->stretch[0] != 1 || t->stretch[1] != 1 || t->stretch[2] != 1) {
        (void)printf("  stretch %.4g %.4g %.4g", (double)t->stretch[0], (double)t->stretch[1],
                     (double)t->stretch[2]);
    }
}

/// The position of an entity in the storage of its hierarchy.
static uint32_t rank_of(const tool_stage *stage, espl_entity entity)
{
    espl_subtree at;
    uint32_t rank = ESPL_NO_RANK;

    if (!espl_failed(espl_subtree_begin(stage->world, entity, &at))) {
        rank = espl_subtree_next(&at) ? at.rank : ESPL_NO_RANK;
        espl_subtree_end(&at);
    }
    return rank;
}

static bool print_node(const tool_stage *stage, espl_entity entity, uint32_t depth,
                       tool_fault *fault)
{
    const char *const name = espl_get_name(stage->world, entity);
    const int indent = 2 * (int)(depth < INDENT_LIMIT ? depth : INDENT_LIMIT);
    espl_transform local, world;

    if (!stage_went_well(stage, espl_get_local_transform(stage->world, entity, &local),
                         "espl_get_local_transform", fault) ||
        !stage_went_well(stage, espl_get_world_transform(stage->world, entity, &world),
                         "espl_get_world_transform", fault)) {
        return false;
    }
    (void)printf("%5u %5u  %-6s  %*s%s\n", rank_of(stage, entity), depth, role_name(stage, entity),
                 indent, "", name[0] != '\0' ? name : "-");
    (void)printf("%*slocal", 22 + indent, "");
    print_transform(&local);
    (void)printf("\n%*sworld", 22 + indent, "");
    print_transform(&world);
    (void)putchar('\n');
    return true;
}

/// The next node in depth-first order, by the library's own links; null after the last.
/// @param depth  in and out: the library would count it from the root for each node.
static espl_entity next_in_depth(const tool_stage *stage, espl_entity entity, uint32_t *depth)
{
    espl_entity next = espl_get_first_child(stage->world, entity);

    *depth += 1;
    for (espl_entity up = entity; espl_entity_is_null(next) && !espl_entity_is_null(up);) {
        next = espl_get_next_sibling(stage->world, up);
        up = espl_get_parent(stage->world, up);
        *depth -= 1;
    }
    return next;
}

static bool print_below(const tool_stage *stage, espl_entity root, tool_fault *fault)
{
    espl_entity entity = root;
    uint32_t depth = 0;

    while (!espl_entity_is_null(entity)) {
        if (!print_node(stage, entity, depth, fault)) {
            return false;
        }
        entity = next_in_depth(stage, entity, &depth);
    }
    return true;
}

static bool print_scene(const tool_scene *scene, tool_fault *fault)
{
    espl_entity *const nodes = calloc(scene->node_count, sizeof *nodes);
    tool_stage stage = {0};
    bool is_good = nodes != NULL;

    if (!is_good) {
        fault_say(fault, "no memory for %zu nodes", scene->node_count);
    }
    is_good = is_good && stage_open(&stage, 1, 0, NULL, fault) &&
              stage_plant(&stage, scene, espl_entity_null(), nodes, fault) &&
              stage_name(&stage, scene, nodes, fault);
    if (is_good) {
        (void)printf("%s: %zu nodes, depth %u, %zu at the top\n", scene->label, scene->node_count,
                     scene->depth, scene->top_count);
        scene_print_notes(scene);
        (void)printf("\n rank depth  role    name\n");
    }
    for (size_t i = 0; is_good && i < scene->top_count; ++i) {
        // Breadth-first order has the tops first.
        is_good = print_below(&stage, nodes[i], fault);
    }
    stage_close(&stage);
    free(nodes);
    return is_good;
}

int run_tree(const tool_options *options, tool_scene *scenes)
{
    int status = EXIT_AGREED;

    for (size_t i = 0; i < options->scene_count; ++i) {
        tool_fault fault = {""};

        (void)fputs(i > 0 ? "\n" : "", stdout);
        if (!print_scene(&scenes[i], &fault)) {
            (void)fprintf(stderr, "espalier: %s: %s\n", scenes[i].path, fault.text);
            status = EXIT_DISAGREED;
        }
    }
    return status;
}
