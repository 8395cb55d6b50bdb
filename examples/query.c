// SPDX-License-Identifier: MIT
// Components and queries: carts with a speed roll, each with a lantern hung on. The second loop
// reads the lanterns' transforms from the world column; nobody has ever written to a lantern.
#include <espalier/espalier.h>

#include <stdio.h>

enum { CARTS = 200 };

static espl_component speed;

static bool make_carts(espl_world *world)
{
    const espl_component set[] = {ESPL_TRANSFORM, speed};
    espl_entity carts[CARTS], lanterns[CARTS];
    bool ok =
        !espl_create(world, set, 2, CARTS, carts) && !espl_create(world, set, 1, CARTS, lanterns);

    for (int i = 0; ok && i < CARTS; ++i) {
        ok = !espl_attach(world, lanterns[i], carts[i], NULL);
    }
    return ok;
}

// A column that is asked for to be written counts as changed from now on.
static bool push(espl_world *world)
{
    espl_query query;

    if (espl_query_begin(world, &(espl_query_def){.all = &speed, .all_count = 1}, &query)) {
        return false;
    }
    while (espl_query_next(&query)) {
        float *const speeds = espl_query_write(&query, speed, sizeof *speeds);

        for (size_t row = 0; row < query.count; ++row) {
            speeds[row] = (float)(row % 4);
        }
    }
    return true;
}

// Writing a transform is no structural call, so it may be done within the loop.
static bool roll(espl_world *world)
{
    const espl_component all[] = {ESPL_ROOT, ESPL_TRANSFORM, speed};
    espl_transform local = espl_transform_identity();
    espl_query query;
    bool ok = true;

    if (espl_query_begin(world, &(espl_query_def){.all = all, .all_count = 3}, &query)) {
        return false;
    }
    while (espl_query_next(&query)) {
        const float *const speeds = espl_query_read(&query, speed, sizeof *speeds);

        for (size_t row = 0; row < query.count; ++row) {
            ok = ok && !espl_get_local_transform(world, query.entities[row], &local);
            local.position[0] += speeds[row];
            ok = ok && !espl_set_local_transform(world, query.entities[row], &local);
        }
    }
    return ok;
}

// Lanterns are members, and all that is asked for has a transform: so there is a column of slots.
static bool survey(espl_world *world)
{
    const espl_component all[] = {ESPL_MEMBER, ESPL_TRANSFORM};
    espl_query query;
    double metres = 0;

    if (espl_query_begin(world, &(espl_query_def){.all = all, .all_count = 2}, &query)) {
        return false;
    }
    while (espl_query_next(&query)) {
        printf("a chunk of %zu lanterns\n", query.count);
        for (size_t row = 0; row < query.count; ++row) {
            metres += (double)query.worlds[query.slots[row]].position[0];
        }
    }
    printf("the lanterns have come %g metres in all\n", metres);
    return true;
}

int main(void)
{
    const espl_component_def def = {
        .name = "speed", .size = sizeof(float), .alignment = _Alignof(float)};
    espl_world *world = NULL;
    bool ok = !espl_world_create(&world, NULL) && !espl_component_register(world, &def, &speed);
    ok = ok && make_carts(world) && push(world) && roll(world) && survey(world);
    espl_world_destroy(world);
    return ok ? 0 : 1;
}
