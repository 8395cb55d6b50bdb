// SPDX-License-Identifier: MIT
// Scheme `compare`: the library, and a consumer without a watch. It keeps a copy of all world poses, and
// compares each with the present one: what a program does where it cannot ask what changed.
#include "bench/schemes/espalier.h"

// By index of an entity, because an entity moves to other slots.
static void compare_begin(struct scheme_world *world, enum scheme_tracking tracking)
{
    const size_t count = world->copies * world->tree_size;

    (void)tracking;
    espalier_number(world);
    world->seen = block_new(world->number_count, sizeof *world->seen);
    world->changed = block_new(count, sizeof *world->changed);
    world->changed_worlds = block_new(count, sizeof *world->changed_worlds);
    for (size_t i = 0; i < count; ++i) {
        const struct pose pose = entity_world(world, world->nodes[i]);

        memcpy(&world->seen[world->nodes[i].index], &pose, sizeof pose);
    }
}

// In four comparisons, where memcmp() would be a call.
static bool differ(const espl_pose *a, const espl_pose *b)
{
    uint64_t x[4], y[4];

    _Static_assert(sizeof x == sizeof *a, "a pose is four words");
    memcpy(x, a, sizeof x);
    memcpy(y, b, sizeof y);
    return ((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3])) != 0;
}

static size_t compare_rows(const struct scheme_world *world, const espl_query *query, size_t taken)
{
    for (size_t row = 0; row < query->count; ++row) {
        const espl_pose *const pose = &query->world_poses[query->slots[row]];
        espl_pose *const seen = &world->seen[query->entities[row].index];

        if (differ(pose, seen)) {
            *seen = *pose;
            world->changed[taken] = query->entities[row];
            world->changed_worlds[taken++] = *pose;
        }
    }
    return taken;
}

static struct scheme_changes compare_all(struct scheme_world *world)
{
    const espl_component placement = ESPL_TRANSFORM;
    const espl_query_def def = {.all = &placement, .all_count = 1};
    espl_query query;
    size_t taken = 0;

    must(espl_query_begin(world->world, &def, &query), "espl_query_begin");
    while (espl_query_next(&query)) {
        taken = compare_rows(world, &query, taken);
    }
    return (struct scheme_changes){world->changed, world->changed_worlds,
                                   sizeof *world->changed_worlds, taken};
}

const struct scheme scheme_compare = {
    .name = "compare",
    .summary = "the library, all world poses compared with a copy of them",
    .is_variant = true,
    .create = espalier_create,
    .destroy = espalier_destroy,
    .handle_of = espalier_handle_of,
    .number_of = espalier_number_of,
    .copy_worlds = espalier_copy_worlds,
    .change = espalier_write,
    .track = compare_begin,
    .collect = compare_all,
};
