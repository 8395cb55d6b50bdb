// SPDX-License-Identifier: MIT
// Frames of the loads `animate` and `roots`: what moves a node is a component of it, and the nodes
// that move are found by a query. The scheme `espalier` writes them from all workers, by rows that
// are dealt out so that a hierarchy belongs to one of them; its variant `onebyone` writes at once
// while it iterates, on one thread; its variant `batch` gathers all writes of a frame into one.
#include "bench/schemes/espalier.h"

/// A component that moves nodes, and what a frame gives to its functions.
struct moving {
    espl_component component;
    float phase;
};

/// Does what a component moves for the rows of one chunk.
typedef void (*chunk_work)(struct scheme_world *world, const espl_query *rows,
                           const struct moving *moving);

static espl_component component_new(struct scheme_world *world, const char *name, size_t size)
{
    const espl_component_def def = {.name = name, .size = size, .alignment = _Alignof(float)};
    espl_component out;

    must(espl_component_register(world->world, &def, &out), "espl_component_register");
    return out;
}

// The rows of the component come in the order of the nodes given.
void espalier_set_swings(struct scheme_world *world, const struct scheme_swing *swings,
                         size_t count)
{
    world->swing = component_new(world, "swing", sizeof(struct swing));
    for (size_t i = 0; i < count; ++i) {
        must(espl_add_component(world->world, entity_from(swings[i].node), world->swing,
                                &swings[i].swing, sizeof swings[i].swing),
             "espl_add_component");
    }
}

void espalier_set_velocities(struct scheme_world *world, const struct scheme_velocity *velocities,
                             size_t count)
{
    world->velocity = component_new(world, "velocity", sizeof(struct velocity));
    for (size_t i = 0; i < count; ++i) {
        must(espl_add_component(world->world, entity_from(velocities[i].node), world->velocity,
                                &velocities[i].velocity, sizeof velocities[i].velocity),
             "espl_add_component");
    }
}

static void write_parallel(struct scheme_world *world, const espl_component *all,
                           espl_parallel_function function, struct moving *moving)
{
    const espl_query_def query = {.all = all, .all_count = 2};
    const espl_parallel_def def = {.query = &query, .function = function, .context = moving};
    espl_parallel_report report;

    must(espl_write_parallel(world->world, &def, &report), "espl_write_parallel");
    world->times =
        (struct frame_times){.deal = (double)report.group_ns, .jobs = (double)report.run_ns};
}

static void swing_rows(espl_writer *writer, const espl_query *rows, void *context)
{
    const struct moving *const moving = context;
    const struct swing *const swings =
        espl_query_read(rows, moving->component, sizeof(struct swing));

    for (size_t row = 0; row < rows->count; ++row) {
        const struct pose local = swing_at(&swings[row], moving->phase);
        const espl_transform transform = transform_from(&local);

        must(ESPL_WRITER_WRITE(writer, rows->entities[row], ESPL_WRITE_LOCAL_POSE, &transform),
             "espl_writer_set_local_pose");
    }
}

void espalier_animate(struct scheme_world *world, float phase)
{
    const espl_component all[] = {ESPL_MEMBER, world->swing};
    struct moving moving = {world->swing, phase};

    write_parallel(world, all, swing_rows, &moving);
}

static void step_rows(espl_writer *writer, const espl_query *rows, void *context)
{
    const struct moving *const moving = context;
    const struct velocity *const velocities =
        espl_query_read(rows, moving->component, sizeof(struct velocity));

    for (size_t row = 0; row < rows->count; ++row) {
        must(ESPL_WRITER_WRITE(writer, rows->entities[row], ESPL_WRITE_TRANSLATE_IN_PARENT,
                               velocities[row].step),
             "espl_writer_translate_in_parent");
    }
}

void espalier_move_roots(struct scheme_world *world)
{
    const espl_component all[] = {ESPL_ROOT, world->velocity};
    struct moving moving = {.component = world->velocity};

    write_parallel(world, all, step_rows, &moving);
}

// One chunk after the other, on the thread that calls.
static void iterate(struct scheme_world *world, const espl_component *all, chunk_work work,
                    const struct moving *moving)
{
    const espl_query_def def = {.all = all, .all_count = 2};
    espl_query query;

    must(espl_query_begin(world->world, &def, &query), "espl_query_begin");
    while (espl_query_next(&query)) {
        work(world, &query, moving);
    }
}

static void swing_at_once(struct scheme_world *world, const espl_query *rows,
                          const struct moving *moving)
{
    const struct swing *const swings =
        espl_query_read(rows, moving->component, sizeof(struct swing));

    for (size_t row = 0; row < rows->count; ++row) {
        const struct pose local = swing_at(&swings[row], moving->phase);
        const espl_transform transform = transform_from(&local);

        must(espl_set_local_transform(world->world, rows->entities[row], &transform),
             "espl_set_local_transform");
    }
}

void espalier_animate_one_by_one(struct scheme_world *world, float phase)
{
    const espl_component all[] = {ESPL_MEMBER, world->swing};
    const struct moving moving = {world->swing, phase};

    iterate(world, all, swing_at_once, &moving);
}

static void step_at_once(struct scheme_world *world, const espl_query *rows,
                         const struct moving *moving)
{
    const struct velocity *const velocities =
        espl_query_read(rows, moving->component, sizeof(struct velocity));

    for (size_t row = 0; row < rows->count; ++row) {
        must(espl_write_one(world->world, rows->entities[row], ESPL_WRITE_TRANSLATE_IN_PARENT,
                            velocities[row].step),
             "espl_write_one");
    }
}

void espalier_move_roots_one_by_one(struct scheme_world *world)
{
    const espl_component all[] = {ESPL_ROOT, world->velocity};
    const struct moving moving = {.component = world->velocity};

    iterate(world, all, step_at_once, &moving);
}

static void gather_swings(struct scheme_world *world, const espl_query *rows,
                          const struct moving *moving)
{
    const struct swing *const swings =
        espl_query_read(rows, moving->component, sizeof(struct swing));

    espalier_batch_reserve(world, world->batch_count + rows->count);
    for (size_t row = 0; row < rows->count; ++row) {
        const struct pose local = swing_at(&swings[row], moving->phase);

        world->batch_entities[world->batch_count] = rows->entities[row];
        world->batch_values[world->batch_count++] = transform_from(&local);
    }
}

void espalier_animate_batch(struct scheme_world *world, float phase)
{
    const espl_component all[] = {ESPL_MEMBER, world->swing};
    const struct moving moving = {world->swing, phase};

    world->batch_count = 0;
    iterate(world, all, gather_swings, &moving);
    must(espl_write_strided(world->world, ESPL_WRITE_LOCAL_POSE, world->batch_entities,
                            world->batch_count, sizeof(espl_entity), world->batch_values,
                            sizeof(espl_transform), NULL),
         "espl_write_transforms");
}

static void gather_steps(struct scheme_world *world, const espl_query *rows,
                         const struct moving *moving)
{
    const struct velocity *const velocities =
        espl_query_read(rows, moving->component, sizeof(struct velocity));

    espalier_batch_reserve(world, world->batch_count + rows->count);
    for (size_t row = 0; row < rows->count; ++row) {
        world->batch_entities[world->batch_count] = rows->entities[row];
        memcpy(world->batch_vectors[world->batch_count++], velocities[row].step, sizeof(float[3]));
    }
}

void espalier_move_roots_batch(struct scheme_world *world)
{
    const espl_component all[] = {ESPL_ROOT, world->velocity};
    const struct moving moving = {.component = world->velocity};

    world->batch_count = 0;
    iterate(world, all, gather_steps, &moving);
    must(espl_write_strided(world->world, ESPL_WRITE_TRANSLATE_IN_PARENT, world->batch_entities,
                            world->batch_count, sizeof(espl_entity),
                            (const float(*)[3])world->batch_vectors, sizeof(float[3]), NULL),
         "espl_write_vectors");
}
