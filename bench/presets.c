// SPDX-License-Identifier: MIT
// Maps, what moves in them, and the checks that both are the ones the presets are known for.
#include "bench/presets.h"

#include "bench/blocks.h"
#include "bench/checksum.h"
#include "bench/draw.h"
#include "bench/turn.h"

#include <inttypes.h>
#include <math.h>

enum { activity_seed = 111, rig_size = 68, depth_limit = 64 };

// A tree that is full: each node of the levels above the last has so many children.
static uint32_t full_map(uint32_t *map, uint32_t depth, uint32_t width)
{
    uint32_t inner = 0;
    uint32_t level = 1;

    for (uint32_t i = 0; i + 1 < depth; ++i) {
        inner += level;
        level *= width;
    }
    for (uint32_t i = 0; map != NULL && i < inner * width; ++i) {
        map[i] = i / width;
    }
    return inner * width;
}

/// A node whose children are being made.
struct growth {
    uint32_t node;
    uint32_t budget; ///< Left for the next child.
    uint32_t made;
};

// A tree that thins out: a child is left with one less than the sibling before it, and at 0 its
// parent has no more. Depth first, with the path in a stack.
static uint32_t thinning_map(uint32_t *map, uint32_t depth, uint32_t width)
{
    struct growth path[depth_limit] = {{0, depth, 0}};
    uint32_t length = 1;
    uint32_t count = 0;

    while (length > 0) {
        struct growth *const last = &path[length - 1];

        if (last->made == width || last->budget == 0) {
            --length;
            continue;
        }
        if (map != NULL) {
            map[count] = last->node;
        }
        ++count;
        ++last->made;
        if (--last->budget > 0) {
            path[length++] = (struct growth){count, last->budget, 0};
        }
    }
    return count;
}

// A human skeleton with its fingers and toes.
static uint32_t rig_map(uint32_t *map, uint32_t depth, uint32_t width)
{
    static const uint32_t rig[rig_size - 1] = {
        0,  1,  2,  3,  4,  5,  6,  6,  6,  4,  10, 11, 12, 13, 14, 15, 16, 13, 18, 19, 20, 13, 22,
        23, 24, 13, 26, 27, 28, 13, 30, 31, 32, 4,  34, 35, 36, 37, 38, 39, 40, 37, 42, 43, 44, 37,
        46, 47, 48, 37, 50, 51, 52, 37, 54, 55, 56, 1,  58, 59, 60, 61, 1,  63, 64, 65, 66};

    (void)depth;
    (void)width;
    for (uint32_t i = 0; map != NULL && i < rig_size - 1; ++i) {
        map[i] = rig[i];
    }
    return rig_size - 1;
}

#define ANY_DEPTH 0, UINT32_MAX
#define BINARY_TREE full_map, 18, 2, 0x8cb2c33ed05217e9u, 1
#define RIGS rig_map, 0, 0, 0x47ed5327e202cfe6u, 4000

const struct preset presets[PRESET_COUNT] = {
    {"large_tree", thinning_map, 18, 8, 0x71e6c9d4676bcb92u, 1, 0.5, ANY_DEPTH, 1, 257025, 255739,
     256386},
    {"wide_tree", full_map, 3, 500, 0xbcac7531f624f855u, 1, 0.5, ANY_DEPTH, 1, 250501, 187750,
     192951},
    {"deep_tree", thinning_map, 25, 2, 0x626379c932a36a5du, 1, 0.5, ANY_DEPTH, 1, 317810, 317792,
     317752},
    {"chain", full_map, 2500, 1, 0xe6bf2bcd21e5f645u, 1, 0.5, ANY_DEPTH, 1, 2500, 2498, 2498},
    {"update_leaves", BINARY_TREE, 0.5, 17, UINT32_MAX, 1, 262143, 65536, 65360},
    {"update_shallow", BINARY_TREE, 0.5, 0, 8, 1, 262143, 261112, 262138},
    {"humanoids_active", RIGS, 1, ANY_DEPTH, 4000, 272000, 268000, 268000},
    {"humanoids_inactive", RIGS, 1, ANY_DEPTH, 10, 272000, 670, 670},
    {"humanoids_mixed", RIGS, 1, ANY_DEPTH, 2000, 272000, 134000, 134000},
};

static uint64_t fingerprint_of(const uint32_t *map, uint32_t length)
{
    uint64_t sum = checksum_begin();

    for (uint32_t i = 0; i < length; ++i) {
        const unsigned char bytes[4] = {
            (unsigned char)(map[i] & 0xff), (unsigned char)(map[i] >> 8 & 0xff),
            (unsigned char)(map[i] >> 16 & 0xff), (unsigned char)(map[i] >> 24)};

        sum = checksum_add(sum, bytes, sizeof bytes);
    }
    return sum;
}

// Return the parents of one tree's nodes, the root's before the map. [*size] out.
static uint32_t *tree_parents(const struct preset *preset, uint32_t *size)
{
    const uint32_t length = preset->make_map(NULL, preset->depth, preset->width);
    uint32_t *const parents = block_new((size_t)length + 1, sizeof *parents);

    parents[0] = NO_NODE;
    (void)preset->make_map(parents + 1, preset->depth, preset->width);
    if (fingerprint_of(parents + 1, length) != preset->fingerprint) {
        course_fail(preset->name, "the map of the tree has another fingerprint");
    }
    *size = length + 1;
    return parents;
}

uint32_t *preset_parents(const char *name, uint32_t *size)
{
    for (size_t i = 0; i < PRESET_COUNT; ++i) {
        if (strcmp(presets[i].name, name) == 0) {
            return tree_parents(&presets[i], size);
        }
    }
    course_fail(name, "there is no such preset");
}

void scene_place(float position[3], double angle)
{
    double cosine, sine;

    turn(angle, &cosine, &sine);
    position[0] = (float)(32 * cosine);
    position[1] = (float)(32 * sine);
    position[2] = 0;
}

/// What is known of each node of a forest: [count] each.
struct survey {
    uint32_t *depths;
    uint32_t *places; ///< Among its siblings.
    uint32_t *child_counts;
    uint32_t *candidates; ///< Nodes on the way from the root to it, both included, that may move.
    uint8_t *is_recomputed;
};

static struct survey survey_create(size_t count)
{
    return (struct survey){
        block_new(count, sizeof(uint32_t)), block_new(count, sizeof(uint32_t)),
        block_new(count, sizeof(uint32_t)), block_new(count, sizeof(uint32_t)),
        block_new(count, sizeof(uint8_t)),
    };
}

static void survey_destroy(const struct survey *survey)
{
    free(survey->depths);
    free(survey->places);
    free(survey->child_counts);
    free(survey->candidates);
    free(survey->is_recomputed);
}

static bool may_move(const struct preset *preset, const struct survey *survey, uint32_t node)
{
    const uint32_t copy = node / (preset->nodes / preset->copies);
    const uint32_t depth = survey->depths[node];

    return depth > 0 && depth >= preset->shallow && depth <= preset->deep &&
           copy < preset->moving_copies;
}

static void survey_fill(const struct survey *survey, const struct preset *preset,
                        const struct forest *forest)
{
    for (uint32_t node = 0; node < forest->count; ++node) {
        const uint32_t parent = forest->parents[node];
        const bool is_root = parent == NO_NODE;

        survey->child_counts[node] = 0;
        survey->depths[node] = is_root ? 0 : survey->depths[parent] + 1;
        survey->places[node] = is_root ? 0 : survey->child_counts[parent]++;
        survey->candidates[node] =
            (is_root ? 0 : survey->candidates[parent]) + may_move(preset, survey, node);
    }
}

// Each node that may move does so by a draw of its own, so with n of them on the way from the root
// a node is recomputed with the chance 1 - (1 - p)^n. Sums of so many differ by less than a whole.
static double expected_recomputed(const struct preset *preset, const struct survey *survey)
{
    double sum = 0;

    for (uint32_t node = 0; node < preset->nodes; ++node) {
        double stay = 1;

        for (uint32_t i = 0; i < survey->candidates[node] && stay > 0; ++i) {
            stay *= 1 - preset->chance;
        }
        sum += 1 - stay;
    }
    return sum;
}

static double angle_of(const struct survey *survey, const struct forest *forest, uint32_t node)
{
    return (double)survey->places[node] / survey->child_counts[forest->parents[node]];
}

// One draw for each member in the order of the map, whether it may move or not.
static void draw_activity(struct scene *scene, const struct preset *preset,
                          const struct survey *survey)
{
    const uint32_t *const parents = scene->forest.parents;
    struct draw draw = draw_begin(activity_seed, 0);

    for (uint32_t node = 0; node < scene->forest.count; ++node) {
        const bool is_root = parents[node] == NO_NODE;
        const bool is_drawn = !is_root && draw_unit(&draw) <= preset->chance;
        const bool is_active = is_drawn && may_move(preset, survey, node);
        const bool is_below = !is_root && survey->is_recomputed[parents[node]];

        if (is_active) {
            scene->active[scene->active_count] = node;
            scene->angles[scene->active_count++] = angle_of(survey, &scene->forest, node);
        }
        survey->is_recomputed[node] = is_active || is_below;
        scene->recomputed += survey->is_recomputed[node];
    }
}

static void place_members(const struct scene *scene, const struct survey *survey)
{
    const struct forest *const forest = &scene->forest;

    for (uint32_t node = 0; node < forest->count; ++node) {
        if (forest->parents[node] != NO_NODE) {
            forest->locals[node] = (struct pose){{0, 0, 0, 1}, {0, 0, 0}, 1};
            scene_place(forest->locals[node].position, angle_of(survey, forest, node));
        }
    }
}

static void check_count(const char *name, const char *what, double is, double should)
{
    if (is != should) {
        fprintf(stderr, "course: %s: %.0f %s instead of %.0f\n", name, is, what, should);
        course_fail(name, "is not laid out as it should be");
    }
}

struct scene scene_create(const struct preset *preset)
{
    uint32_t size;
    uint32_t *const parents = tree_parents(preset, &size);
    struct scene out = {.forest = forest_create_copies(parents, size, preset->copies)};
    const size_t count = out.forest.count;
    const struct survey survey = survey_create(count);

    free(parents);
    check_count(preset->name, "nodes", (double)count, preset->nodes);
    out.active = block_new(count, sizeof *out.active);
    out.angles = block_new(count, sizeof *out.angles);
    survey_fill(&survey, preset, &out.forest);
    draw_activity(&out, preset, &survey);
    place_members(&out, &survey);
    check_count(preset->name, "expected to be recomputed",
                floor(expected_recomputed(preset, &survey) + 0.5), preset->expected);
    check_count(preset->name, "recomputed", out.recomputed, preset->recomputed);
    survey_destroy(&survey);
    return out;
}

void scene_destroy(struct scene *scene)
{
    forest_destroy(&scene->forest);
    free(scene->active);
    free(scene->angles);
    scene->active = NULL;
    scene->angles = NULL;
}
