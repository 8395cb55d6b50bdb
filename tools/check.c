// SPDX-License-Identifier: MIT
// `espalier check`: one copy of a scene in a world of its own, every world transform compared with
// the oracle at every moment.
#include "tools/commands.h"

#include "tools/distant.h"
#include "tools/document.h"
#include "tools/oracle.h"
#include "tools/progress.h"
#include "tools/stage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MOMENTS 100
#define STEPS 500

/// How far a rotation may be off where a simulation is the oracle: 1 - |q.q'|.
#define TURN_ALLOWED 1e-7

/// One scene under examination.
typedef struct check_bench {
    const tool_options *options;
    tool_scene *scene;
    tool_stage stage;
    tool_moment moment;
    tool_distance distance;
    espl_entity *nodes; // [node_count]
    tool_tally tally;
    double worst_turn; // 1 - |q.q'|; simulations only
} check_bench;

static uint32_t count_moments(const check_bench *bench)
{
    if (!scene_moves(bench->scene)) {
        return 1;
    }
    const uint32_t usual = bench->scene->physics != NULL ? STEPS : MOMENTS;
    return bench->options->frames > 0 ? bench->options->frames : usual;
}

static bool write_locals(check_bench *bench, tool_fault *fault)
{
    for (size_t i = 0; i < bench->scene->node_count; ++i) {
        tool_placement place = bench->moment.locals[i].place;
        oracle_frame above = oracle_frame_identity();

        if (bench->scene->nodes[i].parent == SCENE_NO_PARENT &&
            !distance_frame(&bench->distance, &bench->stage, bench->nodes[i], &above, fault)) {
            return false;
        }
        for (int axis = 0; axis < 3; ++axis) {
            place.position[axis] += above.matrix.m[axis][3];
        }
        const espl_transform local = placement_round(&place);
        const espl_status status =
            espl_set_local_transform(bench->stage.world, bench->nodes[i], &local);

        if (!stage_went_well(&bench->stage, status, "espl_set_local_transform", fault)) {
            return false;
        }
    }
    return distance_recenter(&bench->distance, &bench->stage, fault);
}

/// 1 - |q.q'| between the directions of two quaternions. Lengths are left out: the library brings
/// rotations to unit length when they are written, not on the way down.
static double turn_error(const tool_affine *expected, const espl_transform *world)
{
    double seen[4], dot = 0;
    tool_placement truth;

    for (int i = 0; i < 4; ++i) {
        seen[i] = (double)world->rotation[i];
    }
    quaternion_normalize(seen);
    (void)placement_of_affine(&truth, expected);
    for (int i = 0; i < 4; ++i) {
        dot += seen[i] * truth.rotation[i];
    }
    return 1 - fabs(dot);
}

static bool read_worlds(check_bench *bench, tool_fault *fault)
{
    for (size_t i = 0; i < bench->scene->node_count; ++i) {
        const espl_entity entity = bench->nodes[i];
        espl_transform world;
        oracle_frame above;
        const espl_status status = espl_get_world_transform(bench->stage.world, entity, &world);

        if (!stage_went_well(&bench->stage, status, "espl_get_world_transform", fault) ||
            !distance_frame(&bench->distance, &bench->stage, entity, &above, fault) ||
            !distance_compare(&bench->distance, &bench->stage, entity,
                              &bench->moment.nodes[i].world, &world, fault)) {
            return false;
        }
        tally_compare(&bench->tally, &bench->moment, i, &above, &world);
        if (bench->scene->physics != NULL) {
            const double turn = turn_error(&bench->moment.nodes[i].world, &world);
            bench->worst_turn = fmax(bench->worst_turn, turn);
        }
    }
    return true;
}

static bool run_moments(check_bench *bench, tool_fault *fault)
{
    const uint32_t count = count_moments(bench);
    tool_progress progress = progress_begin(bench->scene->label, count, bench->options->is_quiet);
    bool is_good = true;

    for (uint32_t i = 0; is_good && i < count; ++i) {
        if (i > 0) {
            scene_step(bench->scene);
        }
        // The last moment is the end of the animation.
        moment_take(&bench->moment, bench->scene,
                    count > 1 ? bench->scene->duration * i / (count - 1) : 0);
        is_good = write_locals(bench, fault) && read_worlds(bench, fault);
        progress_show(&progress, i + 1);
    }
    progress_end(&progress);
    return is_good;
}

/// Compare the largest errors with what is allowed.
static bool judge(const check_bench *bench, tool_fault *fault)
{
    const tool_options *const options = bench->options;

    if (!tally_judge(&bench->tally, bench->scene, options->within, options->is_strict, fault)) {
        return false;
    }
    if (!(bench->worst_turn <= TURN_ALLOWED)) {
        fault_say(fault, "a rotation is off by 1 - |q.q'| = %.3g, more than %.3g",
                  bench->worst_turn, TURN_ALLOWED);
        return false;
    }
    return true;
}

static void print_result(const check_bench *bench)
{
    const tool_scene *const scene = bench->scene;
    const tool_tally *const tally = &bench->tally;
    char when[32] = "at rest", left_out[256];

    if (scene_moves(scene)) {
        (void)snprintf(when, sizeof when, "%u moments", count_moments(bench));
    }
    (void)printf("%s: %zu nodes, depth %u, %s, %zu reads agree; largest error %.3g "
                 "(%.0f %% of what is allowed)",
                 scene->label, scene->node_count, scene->depth, when, tally->reads,
                 tally->worst_error, ceil(100 * tally->worst_share));
    if (scene->physics != NULL) {
        (void)printf(", 1-|q.q'| %.2g", bench->worst_turn);
    }
    (void)putchar('\n');
    if (bench->distance.cell_size != 0) {
        (void)printf(
            "    at %.10g, %.10g, %.10g in cells of %.10g, %zu times in another one; the nearest "
            "floats are off by up to %.3g\n",
            bench->distance.offset[0], bench->distance.offset[1], bench->distance.offset[2],
            (double)bench->distance.cell_size, bench->distance.moved, bench->distance.floats);
    }
    tally_explain(tally, left_out, sizeof left_out);
    if (*left_out != '\0') {
        (void)printf("    %s\n", left_out);
    }
    scene_print_notes(scene);
}

static bool examine(check_bench *bench, tool_fault *fault)
{
    bench->nodes = calloc(bench->scene->node_count, sizeof *bench->nodes);
    if (bench->nodes == NULL || !moment_reserve(&bench->moment, bench->scene)) {
        fault_say(fault, "no memory for %zu nodes", bench->scene->node_count);
        return false;
    }
    moment_take(&bench->moment, bench->scene, 0);
    bench->distance = distance_choose(bench->options, &bench->moment);
    return stage_open(&bench->stage, bench->options->workers, bench->distance.cell_size, NULL,
                      fault) &&
           stage_plant(&bench->stage, bench->scene, espl_entity_null(), bench->nodes, fault) &&
           distance_place(&bench->distance, &bench->stage, bench->scene, &bench->moment,
                          bench->nodes, fault) &&
           stage_is_valid(&bench->stage, fault) && run_moments(bench, fault) &&
           stage_is_valid(&bench->stage, fault) && judge(bench, fault);
}

static void add_to_document(tool_document *document, const check_bench *bench)
{
    document_count(document, "nodes", bench->scene->node_count);
    document_count(document, "not_compared", tally_left_out(&bench->tally));
    document_count(document, "depth", bench->scene->depth);
    document_count(document, "moments", count_moments(bench));
    document_count(document, "reads", bench->tally.reads);
    document_number(document, "max_error", bench->tally.worst_error);
    document_number(document, "of_allowed", bench->tally.worst_share);
    if (bench->scene->physics != NULL) {
        document_number(document, "max_turn", bench->worst_turn);
    }
    if (bench->distance.cell_size != 0) {
        document_number(document, "x", bench->distance.offset[0]);
        document_number(document, "y", bench->distance.offset[1]);
        document_number(document, "z", bench->distance.offset[2]);
        document_number(document, "cell_size", (double)bench->distance.cell_size);
        document_count(document, "other_cells", bench->distance.moved);
        document_number(document, "floats_error", bench->distance.floats);
    }
    document_scene_facts(document, bench->scene);
}

static bool check_scene(const tool_options *options, tool_scene *scene, tool_document *document)
{
    check_bench bench = {.options = options, .scene = scene};
    tool_fault fault = {""};

    document_scene_begin(document);
    document_text(document, "scene", scene->label);
    const bool has_agreed = examine(&bench, &fault);
    if (has_agreed) {
        add_to_document(document, &bench);
    } else {
        (void)fprintf(stderr, "espalier: %s: %s\n", scene->path, fault.text);
        document_text(document, "fault", fault.text);
    }
    if (has_agreed && !options->is_quiet) {
        print_result(&bench);
    }
    document_scene_end(document);
    stage_close(&bench.stage);
    moment_release(&bench.moment);
    free(bench.nodes);
    return has_agreed;
}

int run_check(const tool_options *options, tool_scene *scenes)
{
    tool_document document = {0};
    tool_fault fault = {""};
    int status = EXIT_AGREED;

    document_text(&document, "command", "check");
    for (size_t i = 0; i < options->scene_count; ++i) {
        if (!check_scene(options, &scenes[i], &document)) {
            status = EXIT_DISAGREED;
        }
    }
    document_flag(&document, "agreed", status == EXIT_AGREED);
    if (options->json != NULL && !document_write(&document, options->json, &fault)) {
        (void)fprintf(stderr, "espalier: %s\n", fault.text);
        status = EXIT_DISAGREED;
    }
    document_release(&document);
    return status;
}
