// SPDX-License-Identifier: MIT
// Components and queries: 200 carts with a speed move, each with a lantern attached. One loop writes a
// column, one moves the carts, one reads the world transforms of the lanterns, which nothing wrote.
#include "common.h"

enum { CARTS = 200 };

static espl_entity carts[CARTS], lanterns[CARTS];

// Writing a transform is not a structural call, so it is allowed while a query is open.
static void roll(espl_world *world, espl_component speed)
{
    const espl_query_def def = {.all = &speed, .all_count = 1};
    espl_query query;

    must(espl_query_begin(world, &def, &query));
    while (espl_query_next(&query)) {
        float *const speeds = espl_query_write(&query, speed, sizeof *speeds);

        for (size_t row = 0; row < query.count; ++row) {
            speeds[row] = (float)(row % 4);
            must(espl_write_one(world, query.entities[row], ESPL_WRITE_TRANSLATE_IN_PARENT,
                                (float[]){speeds[row], 0, 0}));
        }
    }
}

// All entities that are found have a transform, so each chunk has a column of slots.
static void measure(espl_world *world)
{
    const espl_component all[] = {ESPL_MEMBER, ESPL_TRANSFORM};
    espl_query query;
    double metres = 0;

    must(espl_query_begin(world, &(espl_query_def){.all = all, .all_count = 2}, &query));
    while (espl_query_next(&query)) {
        printf("a chunk of %zu lanterns\n", query.count);
        for (size_t row = 0; row < query.count; ++row) {
            metres += (double)query.world_poses[query.slots[row]].position[0];
        }
    }
    printf("the lanterns moved %g metres in all\n", metres);
}

int main(void)
{
    const espl_component_def def = {
        .name = "speed", .size = sizeof(float), .alignment = _Alignof(float)};
    espl_component set[2] = {ESPL_TRANSFORM}; // and speed
    espl_world *world = NULL;

    must(espl_world_create(NULL, &world));
    must(espl_component_register(world, &def, &set[1]));
    must(espl_create(world, set, 2, CARTS, carts));
    must(espl_create(world, set, 1, CARTS, lanterns));
    must(espl_attach_many(world, lanterns, carts, CARTS, NULL, NULL));
    roll(world, set[1]);
    measure(world);
    espl_world_destroy(world);
    return 0;
}
