// SPDX-License-Identifier: MIT
// A batch against single writes, on two chains of a thousand links. The batch visits each link once,
// parents first, whatever the order of its entries. The single writes visit all links below, each time.
#include "common.h"

#include <string.h>

enum { LINKS = 1000 };

// Links a metre apart along +Z, attached by one call.
static void make_chain(espl_world *world, espl_entity links[LINKS])
{
    must(espl_create(world, (espl_component[]){ESPL_TRANSFORM}, 1, LINKS, links));
    for (int i = 1; i < LINKS; ++i) {
        must(espl_set_world_position(world, links[i], (float[]){0, 0, (float)i}));
    }
    must(espl_attach_many(world, links + 1, links, LINKS - 1, NULL, NULL));
}

// World transforms that were computed since the last call.
static unsigned count_visits(const espl_world *world)
{
    static uint64_t last;
    const uint64_t before = last;
    espl_world_stats stats;

    espl_stats(world, &stats);
    last = stats.nodes_visited;
    return (unsigned)(last - before);
}

int main(void)
{
    static espl_entity one[LINKS], other[LINKS], end_first[LINKS];
    static float turns[LINKS][4];
    espl_transform end, other_end;
    espl_world *world = NULL;

    must(espl_world_create(NULL, &world));
    make_chain(world, one);
    make_chain(world, other);
    for (int i = 0; i < LINKS; ++i) {
        end_first[i] = one[LINKS - 1 - i];
        turns[i][1] = 1, turns[i][3] = 500; // 0.004 radians to the right
    }
    (void)count_visits(world);

    must(espl_write_strided(world, ESPL_WRITE_LOCAL_ROTATION, end_first, LINKS, sizeof(espl_entity),
                            turns, sizeof(float[4]), NULL));
    printf("turned by one batch: %u nodes visited\n", count_visits(world));
    for (int i = 0; i < LINKS; ++i) {
        must(espl_set_local_rotation(world, other[i], turns[i]));
    }
    printf("turned one by one: %u nodes visited\n", count_visits(world));
    must(espl_get_world_transform(world, one[LINKS - 1], &end));
    must(espl_get_world_transform(world, other[LINKS - 1], &other_end));
    printf("%s at %.0f, %.0f metres\n",
           memcmp(&end, &other_end, sizeof end) == 0 ? "both ends are" : "one end is",
           (double)end.position[0], (double)end.position[2]);
    espl_world_destroy(world);
    return 0;
}
