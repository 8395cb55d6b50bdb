// SPDX-License-Identifier: MIT
#include "tools/oracle.h"

#include "tools/truth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

/// How far the library's blend of two rotations may be from the arc, in radians: at most
/// BLEND_MOST, and BLEND_SMALL times the third power of a small turn.
#define BLEND_MOST 7.5e-5
#define BLEND_SMALL (1.0 / 8000)

/// How far rounding of the two ends may turn, move or scale a blend, of its size, for each time that they
/// are larger than the blend.
#define BLEND_ROUNDING 0x1p-22

/// Within this angle of half a turn either arc may be the shorter one, because dot products of floats are
/// rounded.
#define HALF_TURN_WIDTH 0x1p-19

/// So many times larger than their blend, scales leave little but their rounding.
#define SCALE_TIMES_MOST 0x1p10

bool moment_reserve(tool_moment *out, const tool_scene *scene)
{
    out->count = scene->node_count;
    out->locals = calloc(out->count + 1, sizeof *out->locals);
    out->nodes = calloc(out->count + 1, sizeof *out->nodes);
    out->worlds = calloc(out->count + 1, sizeof *out->worlds);
    return out->locals != NULL && out->nodes != NULL && out->worlds != NULL;
}

void moment_release(tool_moment *moment)
{
    free(moment->locals);
    free(moment->nodes);
    free(moment->worlds);
    *moment = (tool_moment){0};
}

static double distance(const tool_affine *a, const tool_affine *b)
{
    const double offset[3] = {a->m[0][3] - b->m[0][3], a->m[1][3] - b->m[1][3],
                              a->m[2][3] - b->m[2][3]};

    return vector_length(offset);
}

/// Worlds as products of the locals down the path.
static void multiply_down(tool_moment *moment, const tool_scene *scene)
{
    for (size_t i = 0; i < moment->count; ++i) {
        const uint32_t parent = scene->nodes[i].parent;
        const tool_affine *const local = &moment->locals[i].matrix;

        moment->nodes[i].world = parent == SCENE_NO_PARENT
                                     ? *local
                                     : affine_multiply(&moment->nodes[parent].world, local);
    }
}

/// Take the worlds that a simulation computed by itself.
static void take_worlds(tool_moment *moment, const tool_scene *scene)
{
    physics_worlds(scene->physics, moment->worlds);
    for (size_t i = 0; i < moment->count; ++i) {
        moment->nodes[i].world = moment->worlds[i];
    }
}

/// Compute the bound of each node's error, and mark nodes that cannot be compared. Only the file's
/// own matrices are looked at: what the library is given may be wrong.
static void weigh(tool_moment *moment, const tool_scene *scene)
{
    const oracle_node nothing = {.world = affine_identity()};

    for (size_t i = 0; i < moment->count; ++i) {
        const uint32_t parent = scene->nodes[i].parent;
        const oracle_node *const above =
            parent == SCENE_NO_PARENT ? &nothing : &moment->nodes[parent];
        const double spread = truth_spread(&moment->locals[i].matrix);
        const double shear = truth_shear(&moment->locals[i].matrix);
        oracle_node *const node = &moment->nodes[i];

        node->reach = above->reach + distance(&node->world, &above->world);
        node->depth = scene->nodes[i].depth;
        node->is_uneven = spread > AFFINE_EVEN;
        node->is_sheared = shear > AFFINE_EVEN;
        node->is_below = above->is_below || above->is_uneven || above->is_sheared;
        node->is_unclear = false;
        node->blend = 0;
        // Just above the tolerance the library may still be given equal axes.
        node->slack = above->slack + shear + (spread <= 2 * AFFINE_EVEN ? spread : 0);
    }
}

void moment_take(tool_moment *moment, const tool_scene *scene, double seconds)
{
    scene_pose(scene, seconds, moment->locals);
    if (scene->physics != NULL) {
        take_worlds(moment, scene);
    } else {
        multiply_down(moment, scene);
    }
    weigh(moment, scene);
}

static bool is_same(const tool_placement *a, const tool_placement *b)
{
    bool is_equal = a->scale == b->scale;

    for (int i = 0; i < 4; ++i) {
        is_equal = is_equal && a->rotation[i] == b->rotation[i];
    }
    for (int i = 0; i < 3; ++i) {
        is_equal = is_equal && a->position[i] == b->position[i];
    }
    return is_equal;
}

/// Return how many times larger than their blend the numbers are that are added up for it: 1 between two of
/// one sign, and more beyond them.
static double times_larger(double from, double to, double share)
{
    const double parts = fabs(from * (1 - share)) + fabs(to * share);
    const double blend = fabs(from * (1 - share) + to * share);

    return parts == blend ? 1 : blend > 0 ? parts / blend : HUGE_VAL;
}

/// Return how far a blend may be off, in radians and of its size. Beyond the two ends turns have no fit.
static double blend_error(const tool_placement *from, const tool_placement *to, double share)
{
    const double turn = truth_turn(from->rotation, to->rotation);
    const double fit = fmin(BLEND_SMALL * turn * turn * turn, BLEND_MOST);
    const double times =
        fmax(times_larger(1, 1, share), times_larger(from->scale, to->scale, share));
    const bool is_inside = share >= 0 && share <= 1;

    return (is_inside ? fit : 0) + BLEND_ROUNDING * (times - 1);
}

/// Tell whether two placements have no one blend.
static bool is_between_unclear(const tool_placement *from, const tool_placement *to, double share)
{
    // At the ends the library takes the poses as they are.
    return share != 0 && share != 1 &&
           (truth_turn(from->rotation, to->rotation) > PI - HALF_TURN_WIDTH ||
            times_larger(from->scale, to->scale, share) > SCALE_TIMES_MOST);
}

/// The bound of rounding grows with what is blended, even if the blend is shorter than both.
/// @param blend  how far the blend is from the node above.
static double blended_reach(double blend, const tool_affine *above, const tool_placement *from,
                            const tool_placement *to)
{
    const tool_affine first = affine_of_placement(from), second = affine_of_placement(to);
    const tool_affine a = affine_multiply(above, &first), b = affine_multiply(above, &second);

    return fmax(blend, fmax(distance(&a, above), distance(&b, above)));
}

/// Add what blends may be off to the bounds that weigh() computed, and mark what is unclear.
static void weigh_blends(tool_moment *moment, const tool_scene *scene, const tool_moment *from,
                         const tool_moment *to, double share)
{
    const oracle_node nothing = {.world = affine_identity()};

    for (size_t i = 0; i < moment->count; ++i) {
        const uint32_t parent = scene->nodes[i].parent;
        const oracle_node *const above =
            parent == SCENE_NO_PARENT ? &nothing : &moment->nodes[parent];
        const tool_placement *const a = &from->locals[i].place, *const b = &to->locals[i].place;
        oracle_node *const node = &moment->nodes[i];
        const bool is_blended = !is_same(a, b);

        node->is_sheared = from->nodes[i].is_sheared || to->nodes[i].is_sheared;
        node->is_below = above->is_below || above->is_uneven || above->is_sheared;
        node->is_unclear = above->is_unclear || (is_blended && is_between_unclear(a, b, share));
        node->blend = above->blend + (is_blended ? blend_error(a, b, share) : 0);
        const double way = distance(&node->world, &above->world);
        node->reach = above->reach + (is_blended ? blended_reach(way, &above->world, a, b) : way);
    }
}

void moment_between(tool_moment *out, const tool_scene *scene, const tool_moment *from,
                    const tool_moment *to, double share)
{
    for (size_t i = 0; i < out->count; ++i) {
        const tool_placement *const a = &from->locals[i].place, *const b = &to->locals[i].place;

        out->locals[i].place = *b;
        out->locals[i].matrix = is_same(a, b) ? to->locals[i].matrix : truth_between(a, b, share);
    }
    multiply_down(out, scene);
    weigh(out, scene);
    weigh_blends(out, scene, from, to, share);
}

bool moment_compares(const tool_moment *moment, size_t node)
{
    const oracle_node *const it = &moment->nodes[node];

    return !it->is_below && !it->is_sheared && !it->is_unclear;
}

oracle_frame oracle_frame_identity(void)
{
    return (oracle_frame){affine_identity(), 0, 0, 0};
}

void oracle_frame_push(oracle_frame *frame, const tool_placement *from, const tool_placement *to,
                       double share)
{
    const tool_affine local =
        is_same(from, to) ? affine_of_placement(to) : truth_between(from, to, share);

    const tool_affine world = affine_multiply(&frame->matrix, &local);

    frame->reach += blended_reach(distance(&world, &frame->matrix), &frame->matrix, from, to);
    frame->blend += blend_error(from, to, share);
    frame->matrix = world;
    frame->depth += 1;
}

/// Largest difference of an entry of the axes, relative to the longest axis of the truth.
static double shape_error(const tool_affine *truth, const tool_affine *seen)
{
    double largest = 0, longest = 0;

    for (int j = 0; j < 3; ++j) {
        const double axis[3] = {truth->m[0][j], truth->m[1][j], truth->m[2][j]};

        longest = fmax(longest, vector_length(axis));
        for (int i = 0; i < 3; ++i) {
            const double difference = fabs(seen->m[i][j] - truth->m[i][j]);
            largest = difference <= largest ? largest : difference; // keeps a NaN
        }
    }
    return longest > 0 ? largest / longest : largest;
}

void tally_compare(tool_tally *tally, const tool_moment *moment, size_t node,
                   const oracle_frame *above, const espl_transform *world)
{
    const oracle_node *const expected = &moment->nodes[node];

    if (!moment_compares(moment, node)) {
        tally->below += expected->is_below;
        tally->sheared += !expected->is_below && expected->is_sheared;
        tally->unclear += !expected->is_below && !expected->is_sheared;
        return;
    }

    const tool_affine truth = affine_multiply(&above->matrix, &expected->world);
    const tool_affine seen = affine_of_transform(world);
    const double grain = 8 * (above->depth + expected->depth + 1) * 0x1p-24;
    const double slack = 3 * expected->slack, blend = above->blend + expected->blend;
    const double error = distance(&truth, &seen), reach = above->reach + expected->reach;
    const double position_share =
        error / (grain * (reach + 1) + slack * expected->reach + blend * reach);
    const double shape_share = shape_error(&truth, &seen) / (grain + slack + blend);
    const bool is_right = position_share <= 1 && shape_share <= 1; // false for a NaN

    ++tally->reads;
    tally->wrong += !is_right;
    tally->worst_error = fmax(tally->worst_error, error);
    const double share =
        is_right ? fmax(position_share, shape_share) : fmax(fmax(position_share, shape_share), 1);
    if (share > tally->worst_share) {
        tally->worst_share = share;
        tally->worst_node = node;
    }
}

size_t tally_left_out(const tool_tally *tally)
{
    return tally->below + tally->sheared + tally->unclear;
}

void tally_explain(const tool_tally *tally, char *out, size_t size)
{
    const size_t left_out = tally_left_out(tally);
    char sheared[64] = "", unclear[64] = "";

    if (tally->sheared > 0) {
        (void)snprintf(sheared, sizeof sheared, ", %zu of sheared nodes", tally->sheared);
    }
    if (tally->unclear > 0) {
        (void)snprintf(unclear, sizeof unclear, ", %zu of unclear blends", tally->unclear);
    }
    *out = '\0';
    if (left_out > 0) {
        (void)snprintf(out, size,
                       "%zu of %zu reads are not compared: %zu below uneven scale or shear%s%s",
                       left_out, left_out + tally->reads, tally->below, sheared, unclear);
    }
}

bool tally_judge(const tool_tally *tally, const tool_scene *scene, double within, bool is_strict,
                 tool_fault *fault)
{
    char reason[256];

    if (tally->wrong > 0) {
        fault_say(fault, "%zu of %zu reads differ from the oracle, '%s' by %.3g of what is allowed",
                  tally->wrong, tally->reads, scene->nodes[tally->worst_node].name,
                  tally->worst_share);
        return false;
    }
    if (within > 0 && !(tally->worst_error <= within)) {
        fault_say(fault, "a position is off by %.3g, more than %.3g", tally->worst_error, within);
        return false;
    }
    if (is_strict && tally_left_out(tally) > 0) {
        tally_explain(tally, reason, sizeof reason);
        fault_say(fault, "%s", reason);
        return false;
    }
    if (is_strict && scene->unplayed > 0) {
        fault_say(fault, "%zu channels of its animation are not played; %s", scene->unplayed,
                  scene->notes != NULL ? scene->notes : "");
        return false;
    }
    if (is_strict && scene->missing > 0) {
        fault_say(fault, "%zu parts of the file are missing; %s", scene->missing,
                  scene->notes != NULL ? scene->notes : "");
        return false;
    }
    return true;
}
