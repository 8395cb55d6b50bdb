// SPDX-License-Identifier: MIT
// Two whips of a thousand links, each link hung on the one before. One is bent by a batch, which goes
// through the hierarchy once, parents before children, whatever the order of its entries; the other
// link by link, so that all that hangs below moves each time. Both come to the same bits.
#include <espalier/espalier.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINKS = 1000 };

static void must(espl_status status)
{
    if (status != ESPL_OK) {
        fprintf(stderr, "%s: %s\n", espl_status_name(status), espl_status_text(status));
        exit(EXIT_FAILURE);
    }
}

// Links a metre apart along +Z. Attached by one playback, they are laid out once.
static void braid(espl_world *world, espl_entity links[LINKS])
{
    espl_command_buffer *commands = NULL;

    must(espl_create(world, (espl_component[]){ESPL_TRANSFORM}, 1, LINKS, links));
    must(espl_command_buffer_create(world, 1, &commands));
    for (int i = 1; i < LINKS; ++i) {
        espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);

        must(espl_set_world_position(world, links[i], (float[]){0, 0, (float)i}));
        must(espl_record_attach(recorder, 0, links[i], links[i - 1], NULL));
    }
    must(espl_play(world, commands, NULL));
    espl_command_buffer_destroy(commands);
}

// Since the last call.
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
    static espl_entity one[LINKS], other[LINKS], tip_first[LINKS];
    static float bends[LINKS][4];
    espl_transform tip, other_tip;
    espl_world *world = NULL;

    must(espl_world_create(&world, NULL));
    braid(world, one);
    braid(world, other);
    for (int i = 0; i < LINKS; ++i) {
        tip_first[i] = one[LINKS - 1 - i];
        bends[i][1] = 1, bends[i][3] = 500; // 0.004 radians to the right
    }
    (void)count_visits(world);

    must(espl_write_rotations(world, ESPL_WRITE_LOCAL_ROTATION, tip_first, (const float(*)[4])bends,
                              LINKS, NULL));
    printf("bent by one batch: %u nodes visited\n", count_visits(world));
    for (int i = 0; i < LINKS; ++i) {
        must(espl_set_local_rotation(world, other[i], bends[i]));
    }
    printf("bent link by link: %u nodes visited\n", count_visits(world));
    must(espl_get_world_transform(world, one[LINKS - 1], &tip));
    must(espl_get_world_transform(world, other[LINKS - 1], &other_tip));
    printf("%s at %.0f, %.0f metres\n",
           memcmp(&tip, &other_tip, sizeof tip) == 0 ? "both tips are" : "one tip is",
           (double)tip.position[0], (double)tip.position[2]);
    espl_world_destroy(world);
    return 0;
}
