// SPDX-License-Identifier: MIT
// Plays the first frames of a tape, culls with a matrix, and prints how many boxes are seen, of how many, and a sum
// over the entities that are:
//
//     culled TAPE FRAMES WORD...
//
// The 16 words are the floats of a matrix from world to clip space with depths from -1 to 1, as hexadecimal numbers.
// Tests of pages compare what a browser says with it.
#include "tools/contents.h"
#include "tools/replay.h"

#include <espalier/renderables.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 16, ARGUMENTS = 3 + WORDS };

/// Print what a camera sees of a mirror.
static bool print_seen(espl_visible *visible, const espl_mirror *mirror, const espl_camera *camera)
{
    espl_mirror_description description;
    size_t group_count = 0, count = 0;
    uint32_t sum = 0;

    espl_mirror_describe(mirror, &description);
    espl_entity *const entities = calloc(description.renderables + 1, sizeof *entities);
    const espl_instance_arrays arrays = {.entities = entities};

    if (entities == NULL || espl_failed(espl_cull(visible, mirror, camera, 1, NULL)) ||
        espl_failed(espl_visible_write(visible, 0, &arrays))) {
        free(entities);
        return false;
    }
    const espl_group *const groups = espl_visible_groups(visible, 0, &group_count);

    for (size_t i = 0; i < group_count; ++i) {
        count += groups[i].count;
    }
    for (size_t i = 0; i < count; ++i) {
        sum += entities[i].index * UINT32_C(2654435761);
    }
    free(entities);
    return printf("%zu %zu %08x\n", count, description.renderables, sum) > 0;
}

static bool cull(espl_world *world, const float matrix[WORDS])
{
    espl_renderables *renderables = NULL;
    espl_visible *visible = NULL;
    espl_camera camera;

    const bool is_good =
        !espl_failed(espl_camera_from_matrix(matrix, ESPL_CLIP_MINUS_ONE_TO_ONE, &camera)) &&
        !espl_failed(espl_renderables_create(world, NULL, &renderables)) &&
        !espl_failed(espl_visible_create(NULL, &visible)) &&
        !espl_failed(espl_renderables_update(renderables, NULL, NULL)) &&
        print_seen(visible, espl_renderables_acquire(renderables), &camera);

    espl_visible_destroy(visible);
    espl_renderables_destroy(renderables);
    return is_good;
}

int main(int argc, char **argv)
{
    const replay_def def = {.frames = argc == ARGUMENTS ? strtoull(argv[2], NULL, 10) : 0};
    tool_contents tape = {0};
    replay_result result = {0};
    replay p;
    float matrix[WORDS];

    if (argc != ARGUMENTS || !contents_load(&tape, argv[1], &result.fault)) {
        (void)fprintf(stderr, "usage: culled TAPE FRAMES WORD... (16): %s\n", result.fault.text);
        return EXIT_FAILURE;
    }
    for (int i = 0; i < WORDS; ++i) {
        const uint32_t word = (uint32_t)strtoul(argv[3 + i], NULL, 16);

        memcpy(&matrix[i], &word, sizeof word);
    }
    replay_begin(&p, &def, tape.bytes, tape.size, &result);
    while (replay_step(&p)) {
    }
    const bool is_culled = p.world != NULL && cull(p.world, matrix);
    const replay_verdict verdict = replay_end(&p);

    contents_release(&tape);
    if (!is_culled || verdict != REPLAY_AGREED) {
        (void)fprintf(stderr, "culled: nothing is culled: %s\n", result.fault.text);
    }
    return is_culled && verdict == REPLAY_AGREED ? EXIT_SUCCESS : EXIT_FAILURE;
}
