// SPDX-License-Identifier: MIT
// Scheme `espalier` in the load `publish`: all nodes are renderables, of which a mirror is published for a
// reader. Scheme `copied` in its place copies all world poses, as a program does that cannot ask what
// changed.
#include "bench/schemes/espalier.h"

#include "bench/clock.h"

#include <espalier/renderables.h>

// --- Mirrors ---

// Return the nodes of the prefab; 0 where there is none.
static size_t list_prefab(const struct scheme_world *world, espl_entity nodes[PREFAB_SIZE])
{
    size_t count = 0;

    if (!espl_entity_is_null(world->prefab)) {
        nodes[count++] = world->prefab;
        for (espl_entity child = espl_get_first_child(world->world, world->prefab);
             !espl_entity_is_null(child) && count < PREFAB_SIZE;
             child = espl_get_next_sibling(world->world, child)) {
            nodes[count++] = child;
        }
    }
    return count;
}

// A box of which the size is that of no node, because the load does not cull.
void espalier_begin_mirrors(struct scheme_world *world, uint32_t readers)
{
    const espl_renderables_def def = {.readers = readers};
    const espl_bounds box = {.half = {0.5f, 0.5f, 0.5f}};
    const size_t count = world->copies * world->tree_size;

    must(espl_renderables_create(world->world, &def, &world->renderables),
         "espl_renderables_create");
    const espl_component_value values[] = {
        {espl_component_find(world->world, "bounds"), sizeof box, &box},
        {espl_component_find(world->world, "renderable"), sizeof(espl_renderable), NULL},
    };
    const espl_change_def with = {.add = values, .add_count = 2};
    espl_entity prefab[PREFAB_SIZE];
    const size_t prefab_count = list_prefab(world, prefab);

    for (size_t i = 0; i < count; ++i) {
        must(espl_change_components(world->world, world->nodes[i], &with),
             "espl_change_components");
    }
    for (size_t i = 0; i < prefab_count; ++i) {
        must(espl_change_components(world->world, prefab[i], &with), "espl_change_components");
    }
    espalier_publish(world);
}

void espalier_publish(struct scheme_world *world)
{
    const double before = clock_now();

    must(espl_renderables_update(world->renderables, NULL, NULL), "espl_renderables_update");
    world->times.update = clock_now() - before;
}

void espalier_copy_mirror(struct scheme_world *world, struct pose *out, size_t count)
{
    const espl_mirror *const mirror = espl_renderables_acquire(world->renderables);
    espl_mirror_description description;

    espl_mirror_describe(mirror, &description);
    for (uint32_t cluster = 0; cluster < description.clusters; ++cluster) {
        struct pose poses[ESPL_CLUSTER_SIZE];
        espl_entity entities[ESPL_CLUSTER_SIZE];
        const espl_instance_arrays arrays = {
            .matrices = poses, .form = ESPL_INSTANCE_POSE, .entities = entities};
        size_t members = 0;

        memset(poses, 0, sizeof poses);
        must(espl_mirror_write(mirror, cluster, &arrays, &members), "espl_mirror_write");
        for (size_t i = 0; i < members; ++i) {
            const uint32_t node = espalier_number_of(world, handle_from(entities[i]));

            if (node < count) {
                out[node] = poses[i];
            }
        }
    }
}

// --- Copies ---

static const espl_component placement = ESPL_TRANSFORM;
static const espl_query_def all_nodes = {.all = &placement, .all_count = 1};

// The slots of the nodes are [copied_first, copied_first + copied_count), with few others among them.
static void copied_begin(struct scheme_world *world, enum scheme_tracking tracking)
{
    uint32_t first = UINT32_MAX, end = 0;
    espl_query query;

    (void)tracking;
    espalier_number(world);
    must(espl_query_begin(world->world, &all_nodes, &query), "espl_query_begin");
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count; ++row) {
            const uint32_t slot = query.slots[row];

            first = slot < first ? slot : first;
            end = slot >= end ? slot + 1 : end;
        }
    }
    world->copied_first = first;
    world->copied_count = end - first;
    for (int i = 0; i < COPIES_OF_WORLDS; ++i) {
        world->copied[i] = block_new(world->copied_count, sizeof *world->copied[i]);
    }
}

// Three copies in turn, as a reader of its own needs.
static void copied_publish(struct scheme_world *world)
{
    espl_query query;

    world->copied_turn = (world->copied_turn + 1) % COPIES_OF_WORLDS;
    must(espl_query_begin_read(world->world, &all_nodes, &query), "espl_query_begin_read");
    (void)espl_query_next(&query);
    memcpy(world->copied[world->copied_turn], query.world_poses + world->copied_first,
           world->copied_count * sizeof **world->copied);
    espl_query_end(&query);
}

static void copied_mirror(struct scheme_world *world, struct pose *out, size_t count)
{
    const espl_pose *const copied = world->copied[world->copied_turn];
    espl_query query;

    must(espl_query_begin_read(world->world, &all_nodes, &query), "espl_query_begin_read");
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count; ++row) {
            const uint32_t node = espalier_number_of(world, handle_from(query.entities[row]));

            if (node < count) {
                memcpy(&out[node], &copied[query.slots[row] - world->copied_first], sizeof *out);
            }
        }
    }
}

const struct scheme scheme_copied = {
    .name = "copied",
    .summary = "the library, all world poses copied for a reader",
    .is_variant = true,
    .create = espalier_create,
    .destroy = espalier_destroy,
    .handle_of = espalier_handle_of,
    .number_of = espalier_number_of,
    .copy_worlds = espalier_copy_worlds,
    .change = espalier_write,
    .track = copied_begin,
    .publish = copied_publish,
    .copy_mirror = copied_mirror,
};
