// SPDX-License-Identifier: MIT
// Scheme `espalier`: the library through its public headers, as a user would write it. One worker
// writes transforms at once; several record them and play. Structure always goes through commands.
#include "bench/schemes/scheme.h"

#include "bench/blocks.h"

#include <espalier/espalier.h>

#include <string.h>

/// What the nodes of a spawned prefab carry besides their transform.
struct payload {
    uint32_t words[4];
};

struct scheme_world {
    espl_world *world;
    espl_executor executor;
    uint32_t workers;
    espl_entity *nodes; ///< [copies * tree_size] entities by number, once the copies are walked.
    espl_entity *roots; ///< [copies] of copies that nobody has walked yet, or NULL.
    size_t copies, tree_size;
    espl_commands *commands; ///< Of the frames: a lane for each worker. NULL before the first.
    espl_entity prefab;
    espl_entity *pending; ///< [pending_capacity] prefabs recorded in the frame at hand.
    size_t pending_capacity;
    espl_entity *batch_entities;  ///< [batch_capacity] of the batch at hand.
    espl_transform *batch_values; ///< [batch_capacity]
    size_t batch_capacity;
};

/// Records items [begin, end) of a frame in one lane.
typedef void (*record_lane)(espl_recorder *recorder, const struct scheme_world *world,
                            const void *frame, size_t begin, size_t end);

/// A recording over all lanes.
struct lanes {
    const struct scheme_world *world;
    espl_commands *commands;
    record_lane record;
    const void *frame;
    size_t count;
};

static void must(espl_status status, const char *call)
{
    if (status != ESPL_OK) {
        course_fail(call, espl_status_text(status));
    }
}

static scheme_handle handle_from(espl_entity entity)
{
    return (uint64_t)entity.generation << 32 | entity.index;
}

static espl_entity entity_from(scheme_handle handle)
{
    return (espl_entity){(uint32_t)handle, (uint32_t)(handle >> 32)};
}

static espl_transform transform_from(const struct pose *pose)
{
    const float *const r = pose->rotation;
    const float *const p = pose->position;

    return (espl_transform){
        {r[0], r[1], r[2], r[3]}, {p[0], p[1], p[2]}, pose->scale, {1, 1, 1}, 0};
}

static struct pose pose_from(const espl_transform *transform)
{
    const float *const r = transform->rotation;
    const float *const p = transform->position;

    return (struct pose){{r[0], r[1], r[2], r[3]}, {p[0], p[1], p[2]}, transform->scale};
}

static struct pose world_of(const struct scheme_world *world, espl_entity entity)
{
    espl_transform transform;

    must(espl_get_world(world->world, entity, &transform), "espl_get_world");
    return pose_from(&transform);
}

// Equal shares, in the order of the lanes, so that playback has the order of the items.
static void record_share(void *argument, size_t lane)
{
    const struct lanes *const all = argument;
    const size_t workers = all->world->workers;
    espl_recorder *const recorder = espl_commands_recorder(all->commands, (uint32_t)lane);

    all->record(recorder, all->world, all->frame, all->count * lane / workers,
                all->count * (lane + 1) / workers);
}

static void record_lanes(struct lanes *all)
{
    const espl_executor *const executor = &all->world->executor;

    if (executor->parallel_for == NULL) {
        record_share(all, 0);
        return;
    }
    executor->parallel_for(executor->context, record_share, all, all->world->workers);
}

static void play(const struct scheme_world *world, espl_commands *commands)
{
    espl_report report;

    must(espl_play(world->world, commands, &report), "espl_play");
    if (report.refused > 0) {
        course_fail("espl_play", "a command was refused");
    }
}

static espl_commands *commands_new(const struct scheme_world *world)
{
    espl_commands *commands = NULL;

    must(espl_commands_create(world->world, world->workers, &commands), "espl_commands_create");
    return commands;
}

// Return the commands object of the frames, empty.
static espl_commands *frame_commands(struct scheme_world *world)
{
    if (world->commands == NULL) {
        world->commands = commands_new(world);
    }
    espl_commands_reset(world->commands);
    return world->commands;
}

static unsigned worker_limit(void)
{
    return espl_executor_has_threads() ? ESPL_LANE_LIMIT : 1;
}

static struct scheme_world *world_new(size_t copies, size_t tree_size, unsigned workers)
{
    struct scheme_world *const world = block_new(1, sizeof *world);
    espl_world_def def = {.tag = 1};

    *world = (struct scheme_world){
        .executor = espl_executor_serial(),
        .workers = workers,
        .nodes = block_new(copies * tree_size, sizeof(espl_entity)),
        .copies = copies,
        .tree_size = tree_size,
    };
    if (workers > 1) {
        must(espl_executor_create_threads(&world->executor, workers),
             "espl_executor_create_threads");
    }
    def.executor = world->executor;
    must(espl_world_create(&world->world, &def), "espl_world_create");
    return world;
}

static void destroy(struct scheme_world *world)
{
    espl_commands_destroy(world->commands);
    espl_world_destroy(world->world);
    espl_executor_destroy_threads(&world->executor);
    free(world->nodes);
    free(world->roots);
    free(world->pending);
    free(world->batch_entities);
    free(world->batch_values);
    free(world);
}

static espl_attach_options keep_local_options(void)
{
    return (espl_attach_options){
        .position = ESPL_STAY_LOCAL, .rotation = ESPL_STAY_LOCAL, .scale = ESPL_STAY_LOCAL};
}

/// Entities and where they belong.
struct planting {
    const struct forest *forest;
    const espl_entity *entities; ///< [forest->count]
};

static void record_planting(espl_recorder *recorder, const struct scheme_world *world,
                            const void *frame, size_t begin, size_t end)
{
    const struct planting *const planting = frame;
    const struct forest *const forest = planting->forest;
    const espl_entity *const entities = planting->entities;
    const espl_attach_options keep_local = keep_local_options();

    (void)world;
    for (size_t i = begin; i < end; ++i) {
        const espl_transform local = transform_from(&forest->locals[i]);

        must(espl_record_set_local(recorder, 0, entities[i], &local), "espl_record_set_local");
        if (forest->parents[i] != NO_NODE) {
            must(espl_record_attach(recorder, 0, entities[i], entities[forest->parents[i]],
                                    &keep_local),
                 "espl_record_attach");
        }
    }
}

// Give entities their locals and parents. The commands are not kept: no frame is as large.
static void plant(const struct scheme_world *world, const struct forest *forest,
                  const espl_entity *entities)
{
    const struct planting planting = {forest, entities};
    espl_commands *const commands = commands_new(world);
    struct lanes all = {world, commands, record_planting, &planting, forest->count};

    record_lanes(&all);
    play(world, commands);
    espl_commands_destroy(commands);
}

static struct scheme_world *create(const struct forest *forest, unsigned workers)
{
    struct scheme_world *const world = world_new(1, forest->count, workers);
    const espl_component placement = ESPL_PLACEMENT;

    must(espl_create(world->world, &placement, 1, forest->count, world->nodes), "espl_create");
    plant(world, forest, world->nodes);
    return world;
}

/// Copies of one entity.
struct copying {
    espl_entity source;
    const struct pose *locals; ///< [copies]
    espl_entity *pending;      ///< [copies] out
};

static void record_copies(espl_recorder *recorder, const struct scheme_world *world,
                          const void *frame, size_t begin, size_t end)
{
    const struct copying *const copying = frame;
    espl_instance_def def = {.source = copying->source, .place = ESPL_PLACE_WORLD};

    (void)world;
    for (size_t i = begin; i < end; ++i) {
        def.transform = transform_from(&copying->locals[i]);
        must(espl_record_instantiate(recorder, 0, &def, 1, &copying->pending[i]),
             "espl_record_instantiate");
    }
}

// Replace pending handles by the entities they became.
static void resolve(const espl_commands *commands, espl_entity *entities, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        must(espl_commands_resolve(commands, entities[i], &entities[i]), "espl_commands_resolve");
    }
}

static struct scheme_world *create_copies(const struct forest *tree, const struct pose *root_locals,
                                          size_t copies, unsigned workers)
{
    struct scheme_world *const world = world_new(copies, tree->count, workers);
    espl_entity *const prefab = block_new(tree->count, sizeof *prefab);
    const espl_component components[] = {ESPL_PLACEMENT, ESPL_PREFAB};

    must(espl_create(world->world, components, 2, tree->count, prefab), "espl_create");
    plant(world, tree, prefab);

    world->roots = block_new(copies, sizeof *world->roots);
    espl_commands *const commands = commands_new(world);
    const struct copying copying = {prefab[0], root_locals, world->roots};
    struct lanes all = {world, commands, record_copies, &copying, copies};
    record_lanes(&all);
    play(world, commands);
    resolve(commands, world->roots, copies);
    espl_commands_destroy(commands);
    free(prefab);
    return world;
}

// Number the nodes of one copy breadth-first. [tree_size] nodes, out.
static void walk_copy(const struct scheme_world *world, espl_entity *nodes, espl_entity root)
{
    size_t count = 1;

    nodes[0] = root;
    for (size_t i = 0; i < count; ++i) {
        espl_entity child = espl_get_first_child(world->world, nodes[i]);

        while (!espl_entity_is_null(child) && count < world->tree_size) {
            nodes[count++] = child;
            child = espl_get_next_sibling(world->world, child);
        }
    }
    if (count != world->tree_size) {
        course_fail("espl_record_instantiate", "a copy has not the size of its source");
    }
}

// Copies are walked when the first node is asked for, which is never in timed work.
static void walk_copies(struct scheme_world *world)
{
    for (size_t copy = 0; world->roots != NULL && copy < world->copies; ++copy) {
        walk_copy(world, world->nodes + copy * world->tree_size, world->roots[copy]);
    }
    free(world->roots);
    world->roots = NULL;
}

static scheme_handle handle_of(struct scheme_world *world, uint32_t node)
{
    walk_copies(world);
    return handle_from(world->nodes[node]);
}

static void copy_worlds(struct scheme_world *world, struct pose *out, size_t count)
{
    walk_copies(world);
    for (size_t i = 0; i < count; ++i) {
        out[i] = world_of(world, world->nodes[i]);
    }
}

static size_t count_bytes(const struct scheme_world *world)
{
    espl_world_stats stats;

    espl_stats(world->world, &stats);
    return stats.bytes;
}

static void write_one(struct scheme_world *world, scheme_handle node, const struct pose *local)
{
    const espl_transform transform = transform_from(local);

    must(espl_set_local(world->world, entity_from(node), &transform), "espl_set_local");
}

static void record_writes(espl_recorder *recorder, const struct scheme_world *world,
                          const void *frame, size_t begin, size_t end)
{
    const struct scheme_write *const writes = frame;

    (void)world;
    for (size_t i = begin; i < end; ++i) {
        const espl_transform local = transform_from(&writes[i].local);
        const espl_entity entity = entity_from(writes[i].node);

        must(espl_record_set_local(recorder, 0, entity, &local), "espl_record_set_local");
    }
}

static void write_locals(struct scheme_world *world, const struct scheme_write *writes,
                         size_t count)
{
    if (world->workers > 1) {
        struct lanes all = {world, frame_commands(world), record_writes, writes, count};

        record_lanes(&all);
        play(world, all.commands);
        return;
    }

    for (size_t i = 0; i < count; ++i) {
        write_one(world, writes[i].node, &writes[i].local);
    }
}

// A user has entities and transforms in arrays of their own; filling them is part of the frame here.
static void write_batch(struct scheme_world *world, const struct scheme_write *writes, size_t count)
{
    if (world->batch_capacity < count) {
        free(world->batch_entities);
        free(world->batch_values);
        world->batch_entities = block_new(count, sizeof *world->batch_entities);
        world->batch_values = block_new(count, sizeof *world->batch_values);
        world->batch_capacity = count;
    }
    for (size_t i = 0; i < count; ++i) {
        world->batch_entities[i] = entity_from(writes[i].node);
        world->batch_values[i] = transform_from(&writes[i].local);
    }
    must(espl_write_transforms(world->world, ESPL_WRITE_LOCAL_POSE, world->batch_entities,
                               world->batch_values, count, NULL),
         "espl_write_transforms");
}

static void probe(struct scheme_world *world, const struct scheme_probe *probes, size_t count,
                  struct pose *out)
{
    for (size_t i = 0; i < count; ++i) {
        write_one(world, probes[i].written, &probes[i].local);
        out[i] = world_of(world, entity_from(probes[i].read));
    }
}

// The nodes of the prefab carry a component besides, as those of a game would.
static void make_prefab(struct scheme_world *world, const struct pose locals[PREFAB_SIZE])
{
    const espl_component_def def = {
        .name = "payload", .size = sizeof(struct payload), .alignment = _Alignof(struct payload)};
    espl_component components[] = {ESPL_PLACEMENT, ESPL_PREFAB, 0};
    espl_entity entities[PREFAB_SIZE];
    uint32_t parents[PREFAB_SIZE] = {NO_NODE, 0, 0};
    struct pose own_locals[PREFAB_SIZE];
    const struct forest forest = {.count = PREFAB_SIZE, .parents = parents, .locals = own_locals};

    must(espl_component_register(world->world, &def, &components[2]), "espl_component_register");
    must(espl_create(world->world, components, 3, PREFAB_SIZE, entities), "espl_create");
    memcpy(own_locals, locals, sizeof own_locals);
    plant(world, &forest, entities);
    world->prefab = entities[0];
}

static void record_deaths(espl_recorder *recorder, const struct scheme_world *world,
                          const void *frame, size_t begin, size_t end)
{
    const struct scheme_spawn_frame *const spawning = frame;

    (void)world;
    for (size_t i = begin; i < end; ++i) {
        must(espl_record_destroy(recorder, 0, entity_from(spawning->doomed[i])),
             "espl_record_destroy");
    }
}

static void record_births(espl_recorder *recorder, const struct scheme_world *world,
                          const void *frame, size_t begin, size_t end)
{
    const struct scheme_spawn_frame *const spawning = frame;
    espl_instance_def def = {.source = world->prefab, .place = ESPL_PLACE_LOCAL};

    for (size_t i = begin; i < end; ++i) {
        def.parent = entity_from(spawning->spawns[i].parent);
        def.transform = transform_from(&spawning->spawns[i].local);
        must(espl_record_instantiate(recorder, 0, &def, 1, &world->pending[i]),
             "espl_record_instantiate");
    }
}

static void pending_reserve(struct scheme_world *world, size_t count)
{
    if (world->pending_capacity < count) {
        free(world->pending);
        world->pending = block_new(count, sizeof *world->pending);
        world->pending_capacity = count;
    }
}

static void spawn(struct scheme_world *world, const struct scheme_spawn_frame *frame)
{
    espl_commands *const commands = frame_commands(world);
    struct lanes deaths = {world, commands, record_deaths, frame, frame->doomed_count};
    struct lanes births = {world, commands, record_births, frame, frame->spawn_count};

    pending_reserve(world, frame->spawn_count);
    record_lanes(&deaths);
    record_lanes(&births);
    play(world, commands);

    resolve(commands, world->pending, frame->spawn_count);
    for (size_t i = 0; i < frame->spawn_count; ++i) {
        frame->made[i] = handle_from(world->pending[i]);
    }
}

static void spawn_worlds(struct scheme_world *world, scheme_handle made,
                         struct pose out[PREFAB_SIZE])
{
    espl_entity child = espl_get_first_child(world->world, entity_from(made));

    out[0] = world_of(world, entity_from(made));
    for (int i = 1; i < PREFAB_SIZE; ++i) {
        out[i] = world_of(world, child);
        child = espl_get_next_sibling(world->world, child);
    }
}

static void record_moves(espl_recorder *recorder, const struct scheme_world *world,
                         const void *frame, size_t begin, size_t end)
{
    const struct scheme_move *const moves = frame;
    const espl_attach_options keep_local = keep_local_options();

    (void)world;
    for (size_t i = begin; i < end; ++i) {
        must(espl_record_attach(recorder, 0, entity_from(moves[i].leaf),
                                entity_from(moves[i].parent), &keep_local),
             "espl_record_attach");
    }
}

static void reparent(struct scheme_world *world, const struct scheme_move *moves, size_t count)
{
    struct lanes all = {world, frame_commands(world), record_moves, moves, count};

    record_lanes(&all);
    play(world, all.commands);
}

static void regraft(struct scheme_world *world, const struct scheme_move *moves, size_t count)
{
    const espl_attach_options keep_local = keep_local_options();

    for (size_t i = 0; i < count; ++i) {
        const espl_entity leaf = entity_from(moves[i].leaf);

        must(espl_detach(world->world, leaf, ESPL_STAY_LOCAL), "espl_detach");
        must(espl_attach(world->world, leaf, entity_from(moves[i].parent), &keep_local),
             "espl_attach");
    }
}

static void sum_positions(struct scheme_world *world, double sum[3])
{
    const espl_component placement = ESPL_PLACEMENT;
    const espl_query_def def = {.all = &placement, .all_count = 1};
    espl_query query;
    double x = 0, y = 0, z = 0;

    must(espl_query_begin(world->world, &def, &query), "espl_query_begin");
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count; ++row) {
            const float *const position = query.worlds[query.slots[row]].position;

            x += (double)position[0];
            y += (double)position[1];
            z += (double)position[2];
        }
    }
    sum[0] = x;
    sum[1] = y;
    sum[2] = z;
}

static void read_positions(struct scheme_world *world, const scheme_handle *nodes, size_t count,
                           double sum[3])
{
    double x = 0, y = 0, z = 0;

    for (size_t i = 0; i < count; ++i) {
        float position[3];

        must(espl_get_world_position(world->world, entity_from(nodes[i]), position),
             "espl_get_world_position");
        x += (double)position[0];
        y += (double)position[1];
        z += (double)position[2];
    }
    sum[0] = x;
    sum[1] = y;
    sum[2] = z;
}

const struct scheme scheme_espalier = {
    .name = "espalier",
    .summary = "the library: always current, structure through commands",
    .worker_limit = worker_limit,
    .create = create,
    .create_copies = create_copies,
    .destroy = destroy,
    .handle_of = handle_of,
    .copy_worlds = copy_worlds,
    .bytes = count_bytes,
    .write = write_locals,
    .write_batch = write_batch,
    .probe = probe,
    .make_prefab = make_prefab,
    .spawn = spawn,
    .spawn_worlds = spawn_worlds,
    .reparent = reparent,
    .regraft = regraft,
    .sum_positions = sum_positions,
    .read_positions = read_positions,
};
