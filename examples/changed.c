// SPDX-License-Identifier: MIT
// A query for what changed: rows whose health was written since the last look. Changes are noted by
// chunk, so a write to one row shows all rows of its chunk.
#include "common.h"

enum { ENTITIES = 200 };

static espl_entity entities[ENTITIES];

// Count the rows in chunks that were written since a version, and return the version of now.
static uint64_t look(espl_world *world, const char *when, espl_component health, uint64_t since)
{
    const espl_query_def def = {.changed = &health, .changed_count = 1, .since = since};
    espl_query query;
    size_t rows = 0;

    must(espl_query_begin(world, &def, &query));
    while (espl_query_next(&query)) {
        rows += query.count;
    }
    printf("%s: %zu rows to look at\n", when, rows);
    return espl_get_version(world);
}

int main(void)
{
    const espl_component_def def = {
        .name = "health", .size = sizeof(float), .alignment = _Alignof(float)};
    const float hurt = 0.5f;
    espl_component health;
    espl_world *world = NULL;
    uint64_t version;

    must(espl_world_create(NULL, &world));
    must(espl_component_register(world, &def, &health));
    must(espl_create(world, &health, 1, ENTITIES, entities));
    version = look(world, "all are new", health, 0);
    version = look(world, "nothing was written", health, version);
    must(espl_set_component(world, entities[150], health, &hurt, sizeof hurt));
    version = look(world, "one was written", health, version);
    look(world, "nothing since", health, version);
    espl_world_destroy(world);
    return 0;
}
