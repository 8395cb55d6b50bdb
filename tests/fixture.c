// SPDX-License-Identifier: MIT
#include "tests/fixture.h"

#include "tests/asserts.h"
#include "tests/forms.h"

#include <stdlib.h>

// Entities one step along X from their parents, which stand before them; hung in one playback.
espl_entity *make_forest(espl_world *world, const uint32_t *parent, uint32_t count)
{
    const espl_transform step = test_at(1, 0, 0);
    espl_entity *const entity = test_array(count, sizeof *entity);

    test_solos(world, count, entity);
    espl_command_buffer *const commands = test_commands(world, 1);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    for (uint32_t i = 0; i < count; ++i) {
        ck_ok(espl_set_local_transform(world, entity[i], &step));
        if (parent[i] != NO_PARENT) {
            ck_ok(espl_record_attach(recorder, 0, entity[i], entity[parent[i]], &test_keep_local));
        }
    }
    ck_ok(espl_play(world, commands, NULL));
    espl_command_buffer_destroy(commands);
    return entity;
}

espl_entity *make_trees(espl_world *world, uint32_t trees, uint32_t nodes, uint32_t fan_out)
{
    const uint32_t count = trees * nodes;
    uint32_t *const parent = test_array(count, sizeof *parent);

    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t at = i % nodes;

        parent[i] = at == 0 ? NO_PARENT : i - at + (fan_out == 0 ? 0 : (at - 1) / fan_out);
    }
    espl_entity *const entity = make_forest(world, parent, count);
    free(parent);
    return entity;
}

espl_entity *make_chain(espl_world *world, uint32_t count)
{
    return make_trees(world, count != 0, count != 0 ? count : 1, 1);
}

void shuffle_writes(espl_write *writes, size_t count, uint64_t *random)
{
    for (size_t i = count; i > 1; --i) {
        const size_t at = test_below(random, (uint32_t)i);
        const espl_write moved = writes[i - 1];
        writes[i - 1] = writes[at];
        writes[at] = moved;
    }
}

espl_write write_vector(espl_entity entity, espl_write_kind kind, float x, float y, float z)
{
    return (espl_write){.entity = entity, .kind = kind, .value.position = {x, y, z}};
}

espl_write write_scale(espl_entity entity, espl_write_kind kind, float scale)
{
    return (espl_write){.entity = entity, .kind = kind, .value.scale = scale};
}

espl_world_stats test_stats(const espl_world *world)
{
    espl_world_stats stats;

    espl_stats(world, &stats);
    return stats;
}

espl_write write_ordinary(espl_entity entity, espl_write_kind kind, uint64_t *random)
{
    espl_write_value out = {.transform = espl_transform_identity()};

    switch (form_type(kind)) {
    case VALUE_SCALE:
        out.scale = test_between(random, 0.5f, 1.5f);
        break;
    case VALUE_CONTEXT:
        out.user_data = test_below(random, 9);
        break;
    case VALUE_POSITION:
    case VALUE_STRETCH:
    case VALUE_ROTATION:
        for (int i = 0; i < 4; ++i) {
            out.rotation[i] = test_between(random, 0.5f, 2);
        }
        break;
    case VALUE_POSE:
    case VALUE_TRANSFORM:
        for (int i = 0; i < 4; ++i) {
            out.transform.rotation[i] = test_between(random, -1, 1);
        }
        out.transform.rotation[3] += 2;
        out.transform.position[1] = test_between(random, -5, 5);
        out.transform.scale = test_between(random, 0.5f, 1.5f);
        out.transform.stretch[2] = test_between(random, 0.5f, 1.5f);
        break;
    }
    return (espl_write){entity, kind, out};
}
