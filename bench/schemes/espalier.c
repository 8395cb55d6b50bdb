// SPDX-License-Identifier: MIT
// Scheme `espalier`: the library through its public headers, as a user would write it. One worker
// writes transforms at once; several record them and play. Structure goes through commands: see
// espalier_frames.c, and for its variant `onebyone`, which does without. Nodes that move by
// themselves are written through writers: see espalier_motions.c, and for its variant `batch`.
// Watches and ticks are in espalier_changes.c, images and archives in espalier_values.c.
#include "bench/schemes/espalier.h"

/// A recording over all lanes.
struct lanes {
    const struct scheme_world *world;
    espl_command_buffer *commands;
    lane_work work;
    const void *frame;
    size_t count;
};

static void record_share(void *argument, size_t lane)
{
    const struct lanes *const all = argument;
    const size_t workers = all->world->workers;
    espl_recorder *const recorder = espl_command_buffer_recorder(all->commands, (uint32_t)lane);

    all->work(recorder, all->world, all->frame, all->count * lane / workers,
              all->count * (lane + 1) / workers);
}

void espalier_record(const struct scheme_world *world, espl_command_buffer *commands,
                     lane_work work, const void *frame, size_t count)
{
    enum { SHARED = 4096 };
    const espl_executor *const executor = &world->executor;
    struct lanes all = {world, commands, work, frame, count};

    // A command is recorded in 20 ns, and another worker wakes up in some 20,000.
    if (executor->parallel_for == NULL || count < SHARED) {
        work(espl_command_buffer_recorder(commands, 0), world, frame, 0, count);
        return;
    }
    executor->parallel_for(executor->context, record_share, &all, world->workers);
}

espl_report espalier_play(const struct scheme_world *world, espl_command_buffer *commands)
{
    espl_report report;

    must(espl_play(world->world, commands, &report), "espl_play");
    if (report.refused > 0) {
        course_fail("espl_play", "a command was refused");
    }
    return report;
}

static espl_command_buffer *commands_new(const struct scheme_world *world)
{
    espl_command_buffer *commands = NULL;

    must(espl_command_buffer_create(world->world, world->workers, &commands),
         "espl_command_buffer_create");
    return commands;
}

espl_command_buffer *espalier_frame_commands(struct scheme_world *world)
{
    if (world->commands == NULL) {
        world->commands = commands_new(world);
    }
    espl_command_buffer_reset(world->commands);
    return world->commands;
}

// More workers than there may be are refused for their number, in a library that has threads.
static unsigned worker_limit(void)
{
    const espl_threads_def too_many = {.workers = ESPL_WORKER_LIMIT + 1};
    espl_executor none;

    return espl_executor_create(&too_many, &none) != ESPL_ERR_UNSUPPORTED ? ESPL_LANE_LIMIT : 1;
}

static espl_idle idle = ESPL_IDLE_SLEEP;

void scheme_wake_espalier(void)
{
    idle = ESPL_IDLE_SPIN;
}

static struct scheme_world *world_new(size_t copies, size_t tree_size, unsigned workers,
                                      float cell_size)
{
    struct scheme_world *const world = block_new(1, sizeof *world);
    espl_world_def def = {.tag = 1, .cell_size = cell_size};

    *world = (struct scheme_world){
        .workers = workers,
        .nodes = block_new(copies * tree_size, sizeof(espl_entity)),
        .copies = copies,
        .tree_size = tree_size,
    };
    if (workers > 1) {
        const espl_threads_def threads = {.workers = workers, .idle = idle};

        must(espl_executor_create(&threads, &world->executor), "espl_executor_create");
    }
    def.executor = world->executor;
    must(espl_world_create(&def, &world->world), "espl_world_create");
    return world;
}

void espalier_destroy(struct scheme_world *world)
{
    espalier_free_values(world);
    espalier_free_followed(world);
    espalier_end_counterparts(world);
    espalier_free_culls(world);
    espl_history_destroy(world->history);
    espl_command_buffer_destroy(world->commands);
    espl_watch_destroy(world->watch);
    for (int i = 0; i < COPIES_OF_WORLDS; ++i) {
        free(world->copied[i]);
    }
    espl_world_destroy(world->world);
    espl_executor_destroy(&world->executor);
    free(world->nodes);
    free(world->roots);
    free(world->pending);
    free(world->batch_entities);
    free(world->batch_values);
    free(world->batch_vectors);
    free(world->list.writes);
    free(world->numbers);
    free(world->seen);
    free(world->changed);
    free(world->changed_worlds);
    free(world);
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

        must(espl_record_write(recorder, 0, entities[i], ESPL_WRITE_LOCAL_TRANSFORM, &local),
             "espl_record_write");
        if (forest->parents[i] != NO_NODE) {
            must(espl_record_attach(recorder, 0, entities[i], entities[forest->parents[i]],
                                    &keep_local),
                 "espl_record_attach");
        }
    }
}

// The commands are not kept: no frame is as large.
void espalier_plant(const struct scheme_world *world, const struct forest *forest,
                    const espl_entity *entities)
{
    const struct planting planting = {forest, entities};
    espl_command_buffer *const commands = commands_new(world);

    espalier_record(world, commands, record_planting, &planting, forest->count);
    (void)espalier_play(world, commands);
    espl_command_buffer_destroy(commands);
}

struct scheme_world *espalier_create(const struct forest *forest, unsigned workers)
{
    return espalier_create_in_cells(forest, workers, 0);
}

struct scheme_world *espalier_create_in_cells(const struct forest *forest, unsigned workers,
                                              float cell_size)
{
    struct scheme_world *const world = world_new(1, forest->count, workers, cell_size);
    const espl_component placement = ESPL_TRANSFORM;

    must(espl_create(world->world, &placement, 1, forest->count, world->nodes), "espl_create");
    espalier_plant(world, forest, world->nodes);
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

void espalier_resolve(const espl_command_buffer *commands, espl_entity *entities, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        must(espl_command_buffer_resolve(commands, entities[i], &entities[i]),
             "espl_command_buffer_resolve");
    }
}

static struct scheme_world *create_copies(const struct forest *tree, const struct pose *root_locals,
                                          size_t copies, unsigned workers)
{
    struct scheme_world *const world = world_new(copies, tree->count, workers, 0);
    espl_entity *const prefab = block_new(tree->count, sizeof *prefab);
    const espl_component components[] = {ESPL_TRANSFORM, ESPL_PREFAB};

    must(espl_create(world->world, components, 2, tree->count, prefab), "espl_create");
    espalier_plant(world, tree, prefab);

    world->roots = block_new(copies, sizeof *world->roots);
    espl_command_buffer *const commands = commands_new(world);
    const struct copying copying = {prefab[0], root_locals, world->roots};
    espalier_record(world, commands, record_copies, &copying, copies);
    (void)espalier_play(world, commands);
    espalier_resolve(commands, world->roots, copies);
    espl_command_buffer_destroy(commands);
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

scheme_handle espalier_handle_of(struct scheme_world *world, uint32_t node)
{
    walk_copies(world);
    return handle_from(world->nodes[node]);
}

void espalier_copy_worlds(struct scheme_world *world, struct pose *out, size_t count)
{
    walk_copies(world);
    for (size_t i = 0; i < count; ++i) {
        out[i] = entity_world(world, world->nodes[i]);
    }
}

void espalier_number(struct scheme_world *world)
{
    const size_t count = world->copies * world->tree_size;

    walk_copies(world);
    for (size_t i = 0; i < count; ++i) {
        const size_t index = world->nodes[i].index;

        world->number_count = world->number_count > index ? world->number_count : index + 1;
    }
    world->numbers = block_new(world->number_count, sizeof *world->numbers);
    for (size_t i = 0; i < count; ++i) {
        world->numbers[world->nodes[i].index] = (uint32_t)i;
    }
}

uint32_t espalier_number_of(struct scheme_world *world, scheme_handle node)
{
    return world->numbers[entity_from(node).index];
}

static struct pose world_of(struct scheme_world *world, scheme_handle node)
{
    return entity_world(world, entity_from(node));
}

size_t espalier_count_bytes(const struct scheme_world *world)
{
    espl_world_stats stats;

    espl_stats(world->follower != NULL ? world->follower : world->world, &stats);
    return stats.bytes;
}

static void tidy(struct scheme_world *world)
{
    must(espl_compact(world->world), "espl_compact");
}

static void write_one(struct scheme_world *world, scheme_handle node, const struct pose *local)
{
    const espl_transform transform = transform_from(local);

    must(espl_set_local_transform(world->world, entity_from(node), &transform),
         "espl_set_local_transform");
}

static void write_each(struct scheme_world *world, const struct scheme_write *writes, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        write_one(world, writes[i].node, &writes[i].local);
    }
}

static void *block_moved(void *block, size_t count, size_t capacity, size_t size)
{
    void *const longer = block_new(capacity, size);

    if (count > 0) {
        memcpy(longer, block, count * size);
    }
    free(block);
    return longer;
}

void espalier_batch_reserve(struct scheme_world *world, size_t count)
{
    const size_t kept = world->batch_count;
    const size_t capacity = count > 2 * kept ? count : 2 * count;

    if (world->batch_capacity >= count) {
        return;
    }
    world->batch_entities =
        block_moved(world->batch_entities, kept, capacity, sizeof *world->batch_entities);
    world->batch_values =
        block_moved(world->batch_values, kept, capacity, sizeof *world->batch_values);
    world->batch_vectors =
        block_moved(world->batch_vectors, kept, capacity, sizeof *world->batch_vectors);
    world->batch_capacity = capacity;
}

// A pose of the course is one of the library.
_Static_assert(sizeof(struct pose) == sizeof(espl_pose) &&
                   offsetof(struct pose, position) == offsetof(espl_pose, position) &&
                   offsetof(struct pose, scale) == offsetof(espl_pose, scale),
               "rotation, position, scale");

// Entities and poses are written from where they stand.
void espalier_write_batch(struct scheme_world *world, const struct scheme_write *writes,
                          size_t count)
{
    must(espl_write_strided(world->world, ESPL_WRITE_LOCAL_POSE, entities_at(&writes->node), count,
                            sizeof *writes, (const espl_pose *)(const void *)&writes->local,
                            sizeof *writes, NULL),
         "espl_write_poses");
}

static void list_reserve(struct scheme_world *world, size_t count)
{
    if (world->list.capacity < count) {
        free(world->list.writes);
        world->list = (espl_write_list){block_new(count, sizeof(espl_write)), 0, count};
    }
}

// The array of the list is kept from frame to frame.
void espalier_write_listed(struct scheme_world *world, const struct scheme_write *writes,
                           size_t count)
{
    list_reserve(world, count);
    for (size_t i = 0; i < count; ++i) {
        must(espl_write_list_push(&world->list, entity_from(writes[i].node), ESPL_WRITE_LOCAL_POSE,
                                  &writes[i].local),
             "espl_write_list_push");
    }
    must(espl_write_listed(world->world, &world->list, NULL), "espl_write_listed");
}

// Many writes are handed over in one call, as users are told to; several workers share it out by
// hierarchies.
void espalier_write(struct scheme_world *world, const struct scheme_write *writes, size_t count)
{
    enum { MANY = 256 };

    if (count >= MANY || world->workers > 1) {
        espalier_write_batch(world, writes, count);
    } else {
        write_each(world, writes, count);
    }
}

static void write_positions(struct scheme_world *world, const scheme_handle *nodes,
                            const float (*positions)[3], size_t count)
{
    must(espl_write_strided(world->world, ESPL_WRITE_LOCAL_POSITION, entities_at(nodes), count,
                            sizeof(espl_entity), positions, sizeof(float[3]), NULL),
         "espl_write_vectors");
}

static void probe(struct scheme_world *world, const struct scheme_probe *probes, size_t count,
                  struct pose *out)
{
    for (size_t i = 0; i < count; ++i) {
        write_one(world, probes[i].written, &probes[i].local);
        out[i] = entity_world(world, entity_from(probes[i].read));
    }
}

static void sum_positions(struct scheme_world *world, double sum[3])
{
    const espl_component placement = ESPL_TRANSFORM;
    const espl_query_def def = {.all = &placement, .all_count = 1};
    espl_query query;
    double x = 0, y = 0, z = 0;

    must(espl_query_begin(world->world, &def, &query), "espl_query_begin");
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count; ++row) {
            const float *const position = query.world_poses[query.slots[row]].position;

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
    enum { CHUNK = 256 };
    float positions[CHUNK][3];
    double x = 0, y = 0, z = 0;

    for (size_t begin = 0; begin < count; begin += CHUNK) {
        const size_t here = count - begin < CHUNK ? count - begin : CHUNK;

        must(espl_read_strided(world->world, ESPL_READ_WORLD_POSITION, entities_at(nodes + begin),
                               here, sizeof *nodes, positions, sizeof(float[3])),
             "espl_read_strided");
        for (size_t i = 0; i < here; ++i) {
            x += (double)positions[i][0];
            y += (double)positions[i][1];
            z += (double)positions[i][2];
        }
    }
    sum[0] = x;
    sum[1] = y;
    sum[2] = z;
}

const struct scheme scheme_espalier = {
    .name = "espalier",
    .summary = "the library: always current, structure through commands",
    .extras = EXTRA_VALUES | EXTRA_NEW_VALUES | EXTRA_BEFORE | EXTRA_COUNT | EXTRA_REFERENCES |
              EXTRA_ATTACH | EXTRA_WRITE | EXTRA_PREFAB_STRETCH | EXTRA_STRETCH | EXTRA_FLAG,
    .exceptions = 1u << EXCEPTION_FLAG | 1u << EXCEPTION_STRETCH | 1u << EXCEPTION_BARE |
                  1u << EXCEPTION_CONTEXT | 1u << EXCEPTION_DESTROYED,
    .worker_limit = worker_limit,
    .create = espalier_create,
    .create_copies = create_copies,
    .destroy = espalier_destroy,
    .handle_of = espalier_handle_of,
    .copy_worlds = espalier_copy_worlds,
    .world_of = world_of,
    .bytes = espalier_count_bytes,
    .write = espalier_write,
    .write_each = write_each,
    .write_batch = espalier_write_batch,
    .write_listed = espalier_write_listed,
    .write_played = espalier_write_played,
    .write_positions = write_positions,
    .probe = probe,
    .make_prefab = espalier_make_prefab,
    .spawn = espalier_spawn,
    .spawn_each = espalier_spawn_each,
    .extend_prefab = espalier_extend_prefab,
    .mix = espalier_mix,
    .except = espalier_except,
    .spawn_worlds = espalier_spawn_worlds,
    .battle = espalier_battle,
    .reparent = espalier_reparent,
    .reparent_each = espalier_reparent_each,
    .reparent_played = espalier_reparent_played,
    .tidy = tidy,
    .regraft = espalier_regraft,
    .regraft_played = espalier_regraft_played,
    .set_swings = espalier_set_swings,
    .animate = espalier_animate,
    .set_velocities = espalier_set_velocities,
    .move_roots = espalier_move_roots,
    .number_of = espalier_number_of,
    .track = espalier_track,
    .change = espalier_change,
    .collect = espalier_collect,
    .advance = espalier_advance,
    .rewind = espalier_rewind,
    .repeat = espalier_repeat,
    .tick = espalier_tick,
    .copy_shown = espalier_copy_shown,
    .furnish = espalier_furnish,
    .refresh = espalier_refresh,
    .cull = espalier_cull,
    .publish = espalier_publish,
    .copy_mirror = espalier_copy_mirror,
    .shift = espalier_shift,
    .value = espalier_value,
    .archive_bytes = espalier_archive_bytes,
    .follow = espalier_follow,
    .split = espalier_split,
    .sum_positions = sum_positions,
    .read_positions = read_positions,
};

// One thread: an immediate call is done by the thread that calls.
const struct scheme scheme_onebyone = {
    .name = "onebyone",
    .summary = "the library through one immediate call after the other",
    .is_variant = true,
    .create = espalier_create,
    .destroy = espalier_destroy,
    .handle_of = espalier_handle_of,
    .copy_worlds = espalier_copy_worlds,
    .world_of = world_of,
    .make_prefab = espalier_make_prefab,
    .spawn_worlds = espalier_spawn_worlds,
    .battle = espalier_battle_one_by_one,
    .regraft = espalier_regraft,
    .set_swings = espalier_set_swings,
    .animate = espalier_animate_one_by_one,
    .set_velocities = espalier_set_velocities,
    .move_roots = espalier_move_roots_one_by_one,
    .split = espalier_split,
};

// Where several threads are to write without writers: their writes are gathered, and written as one.
const struct scheme scheme_batch = {
    .name = "batch",
    .summary = "the library, writes of a frame gathered into one batch",
    .is_variant = true,
    .worker_limit = worker_limit,
    .create = espalier_create,
    .destroy = espalier_destroy,
    .handle_of = espalier_handle_of,
    .copy_worlds = espalier_copy_worlds,
    .set_swings = espalier_set_swings,
    .animate = espalier_animate_batch,
    .set_velocities = espalier_set_velocities,
    .move_roots = espalier_move_roots_batch,
};
