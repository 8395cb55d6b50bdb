// SPDX-License-Identifier: MIT
// What the examples of executors share: a world on a given executor, written in all three ways, and a sum
// of all its transforms to compare.
#ifndef ESPALIER_EXAMPLES_FRAMES_H
#define ESPALIER_EXAMPLES_FRAMES_H

#include "common.h"

#include <string.h>

enum { HIERARCHIES = 500, ENTITIES = 5000 };

static espl_entity entities[ENTITIES];

// 500 trees in which each node has two children, until all entities are attached.
static espl_world *make_world(const espl_executor *executor)
{
    const espl_world_def def = {.executor = *executor, .tag = 1};
    const espl_attach_options as_it_is = {.position = ESPL_KEEP_LOCAL};
    espl_world *world = NULL;

    must(espl_world_create(&def, &world));
    must(espl_create(world, (espl_component[]){ESPL_TRANSFORM}, 1, ENTITIES, entities));
    for (size_t i = HIERARCHIES; i < ENTITIES; ++i) {
        must(espl_set_local_position(world, entities[i], (float[]){0, 0.1F * (float)(i % 13), 1}));
        must(espl_attach(world, entities[i], entities[(i - HIERARCHIES) / 2], &as_it_is));
    }
    return world;
}

static espl_write turn(size_t i, float angle)
{
    return (espl_write){entities[i],
                        ESPL_WRITE_ROTATE_IN_PARENT,
                        {.rotation = {0, angle, 0, 1 - angle * angle / 2}}};
}

static void write_at_once(espl_world *world)
{
    static espl_write writes[ENTITIES];

    for (size_t i = 0; i < ENTITIES; ++i) {
        writes[i] = turn(i, 0.01F * (float)(i % 7));
    }
    must(espl_write_batch(world, writes, ENTITIES, NULL));
}

static void write_at_the_sync_point(espl_world *world)
{
    espl_command_buffer *commands = NULL;

    must(espl_command_buffer_create(world, 1, &commands));
    for (size_t i = 0; i < ENTITIES; ++i) {
        const espl_write write = turn(i, 0.02F * (float)(i % 5));

        must(espl_record_write(espl_command_buffer_recorder(commands, 0), 0, write.entity,
                               write.kind, &write.value));
    }
    must(espl_play(world, commands, NULL));
    espl_command_buffer_destroy(commands);
}

// Each hierarchy belongs to one job, which alone writes it.
static void turn_rows(espl_writer *writer, const espl_query *rows, void *context)
{
    for (size_t i = 0; i < rows->count; ++i) {
        must(ESPL_WRITER_WRITE(writer, rows->entities[i], ESPL_WRITE_ROTATE_IN_PARENT, context));
    }
}

static void write_on_all_cores(espl_world *world)
{
    float by[4] = {0.05F, 0, 0, 1};
    const espl_parallel_def def = {.function = turn_rows, .context = by};

    must(espl_write_parallel(world, &def, NULL));
}

// Play three frames on an executor, and return a checksum of all world transforms.
static uint64_t play_frames(const espl_executor *executor)
{
    espl_world *const world = make_world(executor);
    uint64_t sum = 14695981039346656037U;

    for (int frame = 0; frame < 3; ++frame) {
        write_at_once(world);
        write_at_the_sync_point(world);
        write_on_all_cores(world);
    }
    for (size_t i = 0; i < ENTITIES; ++i) {
        espl_transform at;
        unsigned char bytes[sizeof at];

        must(espl_get_world_transform(world, entities[i], &at));
        memcpy(bytes, &at, sizeof at);
        for (size_t k = 0; k < sizeof bytes; ++k) {
            sum = (sum ^ bytes[k]) * 1099511628211U;
        }
    }
    espl_world_destroy(world);
    return sum;
}

#endif
