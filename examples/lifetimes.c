// SPDX-License-Identifier: MIT
// Lifetimes: a child by an owned link is disabled, cloned and destroyed with its parent. A child by a
// free link moves with the parent, and stays where it is when the parent is destroyed.
#include "common.h"

enum { CART, WHEEL, CRATE, COUNT }; // the wheel is owned, the crate is not

// Count the entities that a query finds. A query skips disabled entities and prefabs.
static size_t count_found(espl_world *world)
{
    espl_query query;
    size_t rows = 0;

    must(espl_query_begin(world, NULL, &query));
    while (espl_query_next(&query)) {
        rows += query.count;
    }
    return rows;
}

static void print_state(espl_world *world, const char *when, const espl_entity e[COUNT])
{
    static const char *const names[COUNT] = {"cart", "wheel", "crate"};

    printf("%-10s %zu found by a query;", when, count_found(world));
    for (int i = 0; i < COUNT; ++i) {
        float at[3];

        if (!espl_failed(espl_get_world_position(world, e[i], at))) {
            printf(" %s at %g", names[i], (double)at[0]);
        }
    }
    puts("");
}

int main(void)
{
    const espl_component set[] = {ESPL_TRANSFORM};
    const espl_attach_options carried = {.link = ESPL_LINK_FREE};
    espl_entity e[COUNT], copy;
    espl_world *world = NULL;

    must(espl_world_create(NULL, &world));
    must(espl_create(world, set, 1, COUNT, e));
    must(espl_attach(world, e[WHEEL], e[CART], NULL));
    must(espl_attach(world, e[CRATE], e[CART], &carried));
    must(espl_set_world_position(world, e[CART], (float[]){10, 0, 0}));
    print_state(world, "driven:", e);
    must(espl_set_enabled(world, e[CART], ESPL_EXTENT_OWNED, false));
    print_state(world, "disabled:", e);
    must(espl_set_enabled(world, e[CART], ESPL_EXTENT_OWNED, true));
    must(espl_instantiate(world, &(espl_instance_def){.source = e[CART]}, 1, &copy));
    print_state(world, "cloned:", e);
    printf("the clone has %zu child\n", espl_get_children(world, copy, 0, NULL));
    must(espl_destroy(world, e[CART], ESPL_EXTENT_OWNED));
    print_state(world, "destroyed:", e);
    espl_world_destroy(world);
    return 0;
}
