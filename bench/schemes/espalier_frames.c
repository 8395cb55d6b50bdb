// SPDX-License-Identifier: MIT
// Frames of structure: through commands in the scheme `espalier`, through immediate calls in its
// variant `onebyone`; and where their time goes.
#include "bench/schemes/espalier.h"

#include "bench/clock.h"

#include <string.h>

/// What the nodes of a spawned prefab carry besides their transform.
struct payload {
    uint32_t words[4];
};

static const char *const value_names[VALUE_COUNT] = {
    "copy", "fresh", "save", "load", "checked", "write-archive", "read-archive"};

size_t espalier_split(const struct scheme_world *world, struct scheme_part *out)
{
    const struct frame_times *const times = &world->times;
    size_t count = 0;

    _Static_assert(ESPL_STAGE_COUNT + 18 + VALUE_COUNT <= SCHEME_PART_LIMIT, "all parts are told");
    out[count++] = (struct scheme_part){"structure", times->structure};
    out[count++] = (struct scheme_part){"record", times->record};
    for (int stage = 0; stage < ESPL_STAGE_COUNT; ++stage) {
        out[count++] =
            (struct scheme_part){espl_stage_name((espl_stage)stage), times->stages[stage]};
    }
    out[count++] = (struct scheme_part){"rest", times->rest};
    out[count++] = (struct scheme_part){"resolve", times->resolve};
    out[count++] = (struct scheme_part){"deal", times->deal};
    out[count++] = (struct scheme_part){"jobs", times->jobs};
    out[count++] = (struct scheme_part){"roll", times->roll};
    out[count++] = (struct scheme_part){"write", times->write};
    out[count++] = (struct scheme_part){"present", times->present};
    for (int what = 0; what < VALUE_COUNT; ++what) {
        out[count++] = (struct scheme_part){value_names[what], times->values[what]};
    }
    out[count++] = (struct scheme_part){"mark", times->mark};
    out[count++] = (struct scheme_part){"rewind", times->rewind};
    out[count++] = (struct scheme_part){"collect", times->collect};
    out[count++] = (struct scheme_part){"follow", times->follow};
    out[count++] = (struct scheme_part){"rebase", times->rebase};
    out[count++] = (struct scheme_part){"update", times->update};
    out[count++] = (struct scheme_part){"delta", times->delta};
    out[count++] = (struct scheme_part){"patch", times->patch};
    out[count++] = (struct scheme_part){"apply", times->apply};
    return count;
}

static void record(struct scheme_world *world, espl_command_buffer *commands, lane_work work,
                   const void *frame, size_t count)
{
    const double before = clock_now();

    espalier_record(world, commands, work, frame, count);
    world->times.record += clock_now() - before;
}

// A library that does not tell the time of its stages has no rest either.
static void play(struct scheme_world *world, espl_command_buffer *commands)
{
    const double before = clock_now();
    const espl_report report = espalier_play(world, commands);
    const double whole = clock_now() - before;
    double told = 0;

    for (int stage = 0; stage < ESPL_STAGE_COUNT; ++stage) {
        world->times.stages[stage] += (double)report.stage_ns[stage];
        told += (double)report.stage_ns[stage];
    }
    world->times.rest += told > 0 ? whole - told : 0;
}

// Return the handles of what was recorded as pending.
static void resolve(struct scheme_world *world, const espl_entity *pending, size_t count,
                    scheme_handle *out)
{
    const double before = clock_now();

    for (size_t i = 0; i < count; ++i) {
        espl_entity entity;

        must(espl_command_buffer_resolve(world->commands, pending[i], &entity),
             "espl_command_buffer_resolve");
        out[i] = handle_from(entity);
    }
    world->times.resolve += clock_now() - before;
}

// The nodes of prefabs carry a component besides, as those of a game would.
void espalier_make_prefab(struct scheme_world *world, const struct pose locals[PREFAB_SIZE])
{
    const espl_component_def def = {
        .name = "payload", .size = sizeof(struct payload), .alignment = _Alignof(struct payload)};
    espl_component components[] = {ESPL_TRANSFORM, ESPL_PREFAB, 0};
    espl_entity entities[PREFAB_SIZE];
    uint32_t parents[PREFAB_SIZE] = {NO_NODE, 0, 0};
    struct pose own_locals[PREFAB_SIZE];
    const struct forest forest = {.count = PREFAB_SIZE, .parents = parents, .locals = own_locals};

    must(espl_component_register(world->world, &def, &components[2]), "espl_component_register");
    must(espl_create(world->world, components, 3, PREFAB_SIZE, entities), "espl_create");
    memcpy(own_locals, locals, sizeof own_locals);
    espalier_plant(world, &forest, entities);
    world->prefab = entities[0];
    world->payload = components[2];
    must(espl_create(world->world, components, 3, 1, &world->single), "espl_create");
}

static void record_deaths(espl_recorder *recorder, const struct scheme_world *world,
                          const void *frame, size_t begin, size_t end)
{
    const struct scheme_spawn_frame *const spawning = frame;

    (void)world;
    for (size_t i = begin; i < end; ++i) {
        must(espl_record_destroy(recorder, 0, entity_from(spawning->doomed[i]), ESPL_EXTENT_OWNED),
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

void espalier_spawn(struct scheme_world *world, const struct scheme_spawn_frame *frame)
{
    espl_command_buffer *const commands = espalier_frame_commands(world);

    world->times = (struct frame_times){0};
    pending_reserve(world, frame->spawn_count);
    record(world, commands, record_deaths, frame, frame->doomed_count);
    record(world, commands, record_births, frame, frame->spawn_count);
    play(world, commands);
    resolve(world, world->pending, frame->spawn_count, frame->made);
}

void espalier_spawn_worlds(struct scheme_world *world, scheme_handle made,
                           struct pose out[PREFAB_SIZE])
{
    espl_entity child = espl_get_first_child(world->world, entity_from(made));

    out[0] = entity_world(world, entity_from(made));
    for (int i = 1; i < PREFAB_SIZE; ++i) {
        out[i] = entity_world(world, child);
        child = espl_get_next_sibling(world->world, child);
    }
}

// Read where the guns are, from as many threads as there are lanes.
static void aim(espl_recorder *recorder, const struct scheme_world *world, const void *frame,
                size_t begin, size_t end)
{
    const struct scheme_battle_frame *const battle = frame;

    (void)recorder;
    for (size_t i = begin; i < end; ++i) {
        struct scheme_shot *const shot = &battle->shots[i];

        must(espl_get_world_position(world->world, entity_from(shot->gun), shot->bullet.position),
             "espl_get_world_position");
    }
}

static void record_doom(espl_recorder *recorder, const struct scheme_world *world,
                        const void *frame, size_t begin, size_t end)
{
    const struct scheme_battle_frame *const battle = frame;

    (void)world;
    for (size_t i = begin; i < end; ++i) {
        must(espl_record_destroy(recorder, 0, entity_from(battle->doomed[i]), ESPL_EXTENT_OWNED),
             "espl_record_destroy");
    }
}

// Pending effects stand before pending bullets.
static void record_shots(espl_recorder *recorder, const struct scheme_world *world,
                         const void *frame, size_t begin, size_t end)
{
    const struct scheme_battle_frame *const battle = frame;
    espl_instance_def effect = {.place = ESPL_PLACE_LOCAL};
    espl_instance_def bullet = {.source = world->single, .place = ESPL_PLACE_WORLD};

    for (size_t i = begin; i < end; ++i) {
        const struct scheme_shot *const shot = &battle->shots[i];

        effect.source = shot->is_large ? world->prefab : world->single;
        effect.parent = entity_from(shot->gun);
        effect.transform = transform_from(&shot->effect);
        must(espl_record_instantiate(recorder, 0, &effect, 1, &world->pending[i]),
             "espl_record_instantiate");
        bullet.transform = transform_from(&shot->bullet);
        must(espl_record_instantiate(recorder, 0, &bullet, 1,
                                     &world->pending[battle->shot_count + i]),
             "espl_record_instantiate");
    }
}

static void move_all(struct scheme_world *world, const struct scheme_battle_frame *frame)
{
    espalier_write_batch(world, frame->ships, frame->ship_count);
    espalier_write_batch(world, frame->bullets, frame->bullet_count);
}

// Commands are recorded while the systems of the frame read and write transforms.
void espalier_battle(struct scheme_world *world, const struct scheme_battle_frame *frame)
{
    espl_command_buffer *const commands = espalier_frame_commands(world);

    world->times = (struct frame_times){0};
    pending_reserve(world, 2 * frame->shot_count);
    espalier_record(world, commands, aim, frame, frame->shot_count);
    record(world, commands, record_doom, frame, frame->doomed_count);
    record(world, commands, record_shots, frame, frame->shot_count);
    move_all(world, frame);

    const double before = clock_now();
    play(world, commands);
    resolve(world, world->pending, frame->shot_count, frame->effects_made);
    resolve(world, world->pending + frame->shot_count, frame->shot_count, frame->bullets_made);
    world->times.structure = world->times.record + (clock_now() - before);
}

// Return a clone at a place in the world, or relative to a parent.
static scheme_handle make_one(const struct scheme_world *world, espl_entity source,
                              const struct pose *local, const espl_entity *parent)
{
    const espl_instance_def def = {.source = source,
                                   .parent = parent != NULL ? *parent : espl_entity_null(),
                                   .place = ESPL_PLACE_LOCAL,
                                   .transform = transform_from(local)};
    espl_entity made;

    must(espl_instantiate(world->world, &def, 1, &made), "espl_instantiate");
    return handle_from(made);
}

void espalier_spawn_each(struct scheme_world *world, const struct scheme_spawn_frame *frame)
{
    world->times = (struct frame_times){0};
    for (size_t i = 0; i < frame->doomed_count; ++i) {
        must(espl_destroy(world->world, entity_from(frame->doomed[i]), ESPL_EXTENT_OWNED),
             "espl_destroy");
    }
    for (size_t i = 0; i < frame->spawn_count; ++i) {
        const espl_entity parent = entity_from(frame->spawns[i].parent);

        frame->made[i] = make_one(world, world->prefab, &frame->spawns[i].local, &parent);
    }
}

static void make_all(const struct scheme_world *world, const struct scheme_battle_frame *frame)
{
    for (size_t i = 0; i < frame->shot_count; ++i) {
        const struct scheme_shot *const shot = &frame->shots[i];
        const espl_entity gun = entity_from(shot->gun);
        const espl_entity effect = shot->is_large ? world->prefab : world->single;

        frame->effects_made[i] = make_one(world, effect, &shot->effect, &gun);
        frame->bullets_made[i] = make_one(world, world->single, &shot->bullet, NULL);
    }
}

void espalier_battle_one_by_one(struct scheme_world *world, const struct scheme_battle_frame *frame)
{
    world->times = (struct frame_times){0};
    aim(NULL, world, frame, 0, frame->shot_count);
    move_all(world, frame);

    const double before = clock_now();
    for (size_t i = 0; i < frame->doomed_count; ++i) {
        must(espl_destroy(world->world, entity_from(frame->doomed[i]), ESPL_EXTENT_OWNED),
             "espl_destroy");
    }
    make_all(world, frame);
    world->times.structure = clock_now() - before;
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

static void record_writes(espl_recorder *recorder, const struct scheme_world *world,
                          const void *frame, size_t begin, size_t end)
{
    const struct scheme_write *const writes = frame;

    (void)world;
    for (size_t i = begin; i < end; ++i) {
        const espl_transform local = transform_from(&writes[i].local);

        must(espl_record_write(recorder, 0, entity_from(writes[i].node), ESPL_WRITE_LOCAL_TRANSFORM,
                               &local),
             "espl_record_write");
    }
}

static const float exceptional_stretch[3] = {1.5f, 1, 0.75f};

static void make_referring(const struct scheme_world *world)
{
    const uint32_t offset = 0;
    const espl_component_def def = {.name = "reference",
                                    .size = sizeof(espl_entity),
                                    .alignment = _Alignof(espl_entity),
                                    .references = &offset,
                                    .reference_count = 1};
    const espl_entity child = espl_get_first_child(world->world, world->prefab);
    espl_component reference;

    must(espl_component_register(world->world, &def, &reference), "espl_component_register");
    must(espl_add_component(world->world, world->prefab, reference, &child, sizeof child),
         "espl_add_component");
}

void espalier_extend_prefab(struct scheme_world *world, unsigned extras)
{
    const espl_component_def def = {
        .name = "extra", .size = sizeof(struct payload), .alignment = _Alignof(struct payload)};

    if ((extras & EXTRA_NEW_VALUES) != 0) {
        must(espl_component_register(world->world, &def, &world->extra), "espl_component_register");
    }
    if ((extras & EXTRA_REFERENCES) != 0) {
        make_referring(world);
    }
    if ((extras & EXTRA_PREFAB_STRETCH) != 0) {
        must(espl_set_stretch(world->world, world->prefab, exceptional_stretch),
             "espl_set_stretch");
    }
}

// List the component values of an instance. [2] out. @return how many.
static size_t list_values(const struct scheme_world *world, unsigned extras,
                          const struct payload *data, espl_component_value *out)
{
    size_t count = 0;

    if ((extras & EXTRA_VALUES) != 0) {
        out[count++] = (espl_component_value){world->payload, sizeof *data, data};
    }
    if ((extras & EXTRA_NEW_VALUES) != 0) {
        out[count++] = (espl_component_value){world->extra, sizeof *data, data};
    }
    return count;
}

// The stretch is part of the transform that places an instance.
static void record_mixed_births(espl_recorder *recorder, const struct scheme_world *world,
                                const void *frame, size_t begin, size_t end)
{
    const struct scheme_mixed_frame *const mixed = frame;
    const bool is_stretched = (mixed->extras & EXTRA_PREFAB_STRETCH) != 0;
    struct payload data = {{0, 1, 2, 3}};
    espl_component_value values[2];
    espl_instance_def def = {.source = world->prefab, .place = ESPL_PLACE_LOCAL, .values = values};

    def.value_count = list_values(world, mixed->extras, &data, values);
    for (size_t i = begin; i < end; ++i) {
        const struct scheme_spawn *const spawn = &mixed->spawning.spawns[i];

        data.words[0] = (uint32_t)i;
        def.parent = entity_from(spawn->parent);
        if (mixed->befores != NULL) {
            def.before = entity_from(mixed->befores[i]);
        }
        def.transform = transform_from(&spawn->local);
        if (is_stretched) {
            memcpy(def.transform.stretch, exceptional_stretch, sizeof exceptional_stretch);
        }
        must(espl_record_instantiate(recorder, 0, &def, mixed->copies,
                                     &world->pending[i * mixed->copies]),
             "espl_record_instantiate");
    }
}

void espalier_mix(struct scheme_world *world, const struct scheme_mixed_frame *frame)
{
    const struct scheme_spawn_frame *const spawning = &frame->spawning;
    const size_t made = spawning->spawn_count * frame->copies;
    espl_command_buffer *const commands = espalier_frame_commands(world);

    world->times = (struct frame_times){0};
    pending_reserve(world, made);
    record(world, commands, record_deaths, spawning, spawning->doomed_count);
    record(world, commands, record_mixed_births, frame, spawning->spawn_count);
    record(world, commands, record_moves, frame->moves, frame->move_count);
    record(world, commands, record_writes, frame->writes, frame->write_count);
    play(world, commands);
    resolve(world, world->pending, made, spawning->made);
}

static espl_status except_one(espl_world *world, enum scheme_exception kind, espl_entity entity)
{
    switch (kind) {
    case EXCEPTION_FLAG:
        return espl_set_inherit(world, entity, ESPL_ABSOLUTE_ROTATION);
    case EXCEPTION_STRETCH:
        return espl_set_stretch(world, entity, exceptional_stretch);
    case EXCEPTION_BARE:
        return espl_remove_component(world, entity, ESPL_TRANSFORM);
    case EXCEPTION_CONTEXT:
        return espl_set_user_data(world, entity, 1);
    case EXCEPTION_DESTROYED:
        return espl_destroy(world, entity, ESPL_EXTENT_OWNED);
    }
    return ESPL_ERR_ARGUMENT;
}

void espalier_except(struct scheme_world *world, enum scheme_exception kind,
                     const scheme_handle *nodes, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        must(except_one(world->world, kind, entity_from(nodes[i])), "exceptional node");
    }
}

void espalier_reparent(struct scheme_world *world, const struct scheme_move *moves, size_t count)
{
    espl_command_buffer *const commands = espalier_frame_commands(world);

    world->times = (struct frame_times){0};
    record(world, commands, record_moves, moves, count);
    play(world, commands);
}

void espalier_reparent_each(struct scheme_world *world, const struct scheme_move *moves,
                            size_t count)
{
    const espl_attach_options keep_local = keep_local_options();

    for (size_t i = 0; i < count; ++i) {
        must(espl_attach(world->world, entity_from(moves[i].leaf), entity_from(moves[i].parent),
                         &keep_local),
             "espl_attach");
    }
}

void espalier_reparent_played(struct scheme_world *world, const struct scheme_move *moves,
                              size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        espalier_reparent(world, &moves[i], 1);
    }
}

static void record_poses(espl_recorder *recorder, const struct scheme_world *world,
                         const void *frame, size_t begin, size_t end)
{
    const struct scheme_write *const writes = frame;

    (void)world;
    for (size_t i = begin; i < end; ++i) {
        must(espl_record_write(recorder, 0, entity_from(writes[i].node), ESPL_WRITE_LOCAL_POSE,
                               &writes[i].local),
             "espl_record_write");
    }
}

void espalier_write_played(struct scheme_world *world, const struct scheme_write *writes,
                           size_t count)
{
    espl_command_buffer *const commands = espalier_frame_commands(world);

    world->times = (struct frame_times){0};
    record(world, commands, record_poses, writes, count);
    play(world, commands);
}

void espalier_regraft(struct scheme_world *world, const struct scheme_move *moves, size_t count)
{
    const espl_attach_options keep_local = keep_local_options();

    for (size_t i = 0; i < count; ++i) {
        const espl_entity leaf = entity_from(moves[i].leaf);

        must(espl_detach(world->world, leaf, ESPL_KEEP_LOCAL), "espl_detach");
        must(espl_attach(world->world, leaf, entity_from(moves[i].parent), &keep_local),
             "espl_attach");
    }
}

static void record_detaches(espl_recorder *recorder, const struct scheme_world *world,
                            const void *frame, size_t begin, size_t end)
{
    const struct scheme_move *const moves = frame;

    (void)world;
    for (size_t i = begin; i < end; ++i) {
        must(espl_record_detach(recorder, 0, entity_from(moves[i].leaf), ESPL_KEEP_LOCAL),
             "espl_record_detach");
    }
}

// Neither the parts of an edit are timed nor a report is asked for, because reading the clock for each stage
// takes as long as the edit.
static void play_alone(struct scheme_world *world, lane_work work, const struct scheme_move *move)
{
    espl_command_buffer *const commands = espalier_frame_commands(world);

    espalier_record(world, commands, work, move, 1);
    must(espl_play(world->world, commands, NULL), "espl_play");
}

void espalier_regraft_played(struct scheme_world *world, const struct scheme_move *moves,
                             size_t count)
{
    world->times = (struct frame_times){0};
    for (size_t i = 0; i < count; ++i) {
        play_alone(world, record_detaches, &moves[i]);
        play_alone(world, record_moves, &moves[i]);
    }
}
