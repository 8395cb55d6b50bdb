// SPDX-License-Identifier: MIT
// A buffer as a graphics card would keep it: a place for each renderable, 128 places for each cluster. Each
// frame uploads only the clusters that changed since the frame before, and a card that culls by itself draws
// from the buffer. The program compares the buffer with all that the mirror has.
#include "common.h"

#include <espalier/renderables.h>

#include <string.h>

enum { CRATES = 5000, FRAMES = 60, LARGEST = 1024, MATRIX = 48 };

// Memory that the card reads: a matrix and a handle for each place, and how many of a cluster's places are
// used.
typedef struct device {
    unsigned char matrices[LARGEST][ESPL_CLUSTER_SIZE][MATRIX];
    espl_entity entities[LARGEST][ESPL_CLUSTER_SIZE];
    size_t counts[LARGEST];
    uint64_t number; // of the mirror that it has
    size_t uploaded; // clusters, in all frames
} device;

static void write_cluster(device *d, const espl_mirror *mirror, uint32_t cluster)
{
    const espl_instance_arrays arrays = {.matrices = d->matrices[cluster],
                                         .entities = d->entities[cluster]};

    must(espl_mirror_write(mirror, cluster, &arrays, &d->counts[cluster]));
}

// Bring the device up to date.
static void upload(device *d, const espl_mirror *mirror)
{
    static uint32_t changed[LARGEST];
    espl_mirror_description now;

    espl_mirror_describe(mirror, &now);
    const size_t count = espl_mirror_changed(mirror, d->number, LARGEST, changed);

    for (size_t i = 0; i < count; ++i) {
        write_cluster(d, mirror, changed[i]);
    }
    d->number = now.number;
    d->uploaded += count;
}

// Compare the device with a new one that gets all clusters.
static bool is_whole(const device *d, const espl_mirror *mirror)
{
    static device all;
    espl_mirror_description now;
    size_t renderables = 0;
    bool is_equal = true;

    espl_mirror_describe(mirror, &now);
    for (uint32_t i = 0; i < now.clusters; ++i) {
        write_cluster(&all, mirror, i);
        renderables += all.counts[i];
        is_equal =
            is_equal && d->counts[i] == all.counts[i] &&
            memcmp(d->matrices[i], all.matrices[i], all.counts[i] * MATRIX) == 0 &&
            memcmp(d->entities[i], all.entities[i], all.counts[i] * sizeof(espl_entity)) == 0;
    }
    return is_equal && renderables == now.renderables;
}

// A yard of crates, 100 in a row.
static void make_crates(espl_world *world, espl_entity *crates)
{
    const espl_component bounds = espl_component_find(world, "bounds");
    const espl_component renderable = espl_component_find(world, "renderable");
    const espl_bounds box = {.half = {0.5F, 0.5F, 0.5F}};

    for (int i = 0; i < CRATES; ++i) {
        espl_transform at = espl_transform_identity();

        at.position[0] = (float)(i % 100) * 4;
        at.position[2] = (float)(i / 100) * 4;
        must(espl_create_node(world, espl_entity_null(), &at, NULL, &crates[i]));
        must(espl_add_component(world, crates[i], bounds, &box, sizeof box));
        must(espl_add_component(world, crates[i], renderable, NULL, sizeof(espl_renderable)));
    }
}

int main(void)
{
    static espl_entity crates[CRATES];
    static device d;
    const float up[3] = {0, 0.1F, 0};
    espl_world *world = NULL;
    espl_renderables *renderables = NULL;
    size_t wrong = 0;

    must(espl_world_create(NULL, &world));
    must(espl_renderables_create(world, NULL, &renderables));
    make_crates(world, crates);
    for (int frame = 0; frame < FRAMES; ++frame) {
        // A crane lifts 20 crates, and every tenth frame a crate is broken.
        for (int i = 0; i < 20; ++i) {
            must(espl_translate_own(world, crates[2000 + i], up));
        }
        if (frame % 10 == 9) {
            must(espl_destroy(world, crates[frame], ESPL_EXTENT_SUBTREE));
        }
        must(espl_renderables_update(renderables, NULL, NULL));
        const espl_mirror *const mirror = espl_renderables_acquire(renderables);
        const size_t before = d.uploaded;

        upload(&d, mirror);
        wrong += is_whole(&d, mirror) ? 0 : 1;
        if (frame == 0 || frame == FRAMES - 1) {
            printf("frame %d: %s clusters uploaded\n", frame,
                   d.uploaded - before < 10 ? "a few" : "many");
        }
    }
    printf("frames in which the device lacked something: %zu\n", wrong);
    espl_renderables_destroy(renderables);
    espl_world_destroy(world);
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
