// SPDX-License-Identifier: MIT
// Scheme `espalier` in the load `follow`: another world with counterparts of all nodes.
#include "bench/schemes/espalier.h"

#include "bench/clock.h"

// The counterparts are made root by root, so that both worlds have the same order.
void espalier_begin_counterparts(struct scheme_world *world)
{
    const espl_watch_def locals = {.flags = ESPL_WATCH_LOCAL};
    const espl_placing_def def = {.extent = ESPL_EXTENT_SUBTREE};
    espl_changes changes;

    must(espl_world_create(&(espl_world_def){.executor = world->executor, .tag = 100},
                           &world->follower),
         "espl_world_create");
    for (size_t i = 0; i < world->copies * world->tree_size; ++i) {
        const espl_entity node = entity_from(espalier_handle_of(world, (uint32_t)i));

        if (espl_entity_equal(node, espl_get_root(world->world, node))) {
            must(espl_place_counterparts(world->follower, world->world, node, &def, NULL),
                 "espl_place_counterparts");
        }
    }
    must(espl_watch_create(world->world, &locals, &world->watch), "espl_watch_create");
    must(espl_watch_collect(world->watch, 0, &changes), "espl_watch_collect");
}

void espalier_repeat(struct scheme_world *world)
{
    const double before = clock_now();
    espl_follow_report report;
    espl_changes changes;

    must(espl_watch_collect(world->watch, 0, &changes), "espl_watch_collect");
    const double collected = clock_now();

    must(espl_follow(world->follower, &changes, NULL, &report), "espl_follow");
    world->times.collect = collected - before;
    world->times.follow = clock_now() - before;
    if (report.written != changes.changed_count) {
        course_fail("espl_follow", "a change has no counterpart");
    }
}

void espalier_end_counterparts(struct scheme_world *world)
{
    const size_t count = world->follower == NULL ? 0 : world->copies * world->tree_size;

    for (size_t i = 0; i < count; ++i) {
        const espl_entity node = entity_from(espalier_handle_of(world, (uint32_t)i));
        espl_transform here, there;

        must(espl_get_world_transform(world->world, node, &here), "espl_get_world_transform");
        must(espl_get_world_transform(world->follower, espl_find_counterpart(world->follower, node),
                                      &there),
             "espl_get_world_transform");
        if (memcmp(&here, &there, sizeof here) != 0) {
            course_fail("espl_follow", "a counterpart has another world");
        }
    }
    espl_world_destroy(world->follower);
}
