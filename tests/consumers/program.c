// SPDX-License-Identifier: MIT
// What each consumer builds: a world of 32 trees that are spawned by commands, turned, cut and joined
// for twenty frames. It prints the kernels and the logical hash of the world, which is the same on
// every machine, by every compiler and in every language.
#include <espalier/espalier.h>
#include <stdio.h>
#include <string.h>

enum { TREES = 32, NODES = 12, FRAMES = 20 };

static uint32_t seed = 1;

// A number below `limit`, from the generator of the C standard's example.
static uint32_t draw(uint32_t limit)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 16) % limit;
}

static espl_transform draw_transform(void)
{
    espl_transform t = espl_transform_identity();
    float axis[3] = {1};

    for (int i = 1; i < 3; ++i) {
        axis[i] = (float)draw(8);
    }
    for (int i = 0; i < 3; ++i) {
        t.position[i] = (float)draw(2000) / 64 - 15;
    }
    (void)espl_quat_from_axis_angle(axis, (float)draw(628) / 100, t.rotation);
    t.scale = 0.5f + (float)draw(64) / 64;
    return t;
}

// Each node of a tree hangs from one made before it.
static espl_status spawn(espl_world *world, espl_entity nodes[TREES * NODES])
{
    const espl_component set[] = {ESPL_TRANSFORM};
    espl_command_buffer *commands = NULL;
    espl_status status = espl_create(world, set, 1, TREES, nodes);

    if (status == ESPL_OK) {
        status = espl_command_buffer_create(world, 1, &commands);
    }
    for (uint32_t i = TREES; i < TREES * NODES && status == ESPL_OK; ++i) {
        const espl_transform local = draw_transform();
        const espl_component_value value = {ESPL_TRANSFORM, sizeof local, &local};
        const espl_creation_def def = {
            .values = &value, .value_count = 1, .parent = nodes[draw(i / TREES) * TREES + i % TREES]};

        status = espl_record_create(espl_command_buffer_recorder(commands, 0), i, &def, 1, &nodes[i]);
    }
    if (status == ESPL_OK) {
        status = espl_play(world, commands, NULL);
    }
    for (uint32_t i = TREES; i < TREES * NODES && status == ESPL_OK; ++i) {
        status = espl_command_buffer_resolve(commands, nodes[i], &nodes[i]);
    }
    espl_command_buffer_destroy(commands);
    return status;
}

// A remark is no refusal, and a cycle is refused as it should be.
static espl_status move(espl_world *world, const espl_entity nodes[TREES * NODES])
{
    const uint32_t roots = TREES, all = TREES * NODES;

    for (uint32_t i = 0; i < roots; ++i) {
        const espl_transform local = draw_transform();
        const espl_entity node = nodes[draw(all)];
        const espl_status status = espl_set_local_transform(world, node, &local);

        if (status < 0) {
            return status;
        }
    }
    for (uint32_t i = 0; i < 4; ++i) {
        const espl_entity child = nodes[draw(all)], parent = nodes[draw(all)];
        const espl_status status = espl_attach(world, child, parent, NULL);

        if (status < 0 && status != ESPL_ERR_CYCLE) {
            return status;
        }
    }
    return ESPL_OK;
}

int main(void)
{
    static espl_entity nodes[TREES * NODES];
    espl_world *world = NULL;
    uint64_t hash = 0;

    espl_status status = espl_world_create(NULL, &world);
    if (status == ESPL_OK) {
        status = spawn(world, nodes);
    }
    for (int frame = 0; frame < FRAMES && status == ESPL_OK; ++frame) {
        status = move(world, nodes);
    }
    if (status == ESPL_OK) {
        status = espl_hash(world, ESPL_HASH_LOGICAL, &hash);
    }
    if (status == ESPL_OK && espl_validate(world, NULL)) {
        printf("%s %08lx%08lx\n", espl_world_kernels(world), (unsigned long)(hash >> 32),
               (unsigned long)(hash & 0xffffffffu));
    } else {
        fprintf(stderr, "%s: %s\n", espl_status_name(status), espl_status_text(status));
    }
    espl_world_destroy(world);
    return status == ESPL_OK ? 0 : 1;
}
