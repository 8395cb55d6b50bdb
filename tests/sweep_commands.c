// SPDX-License-Identifier: MIT
// Commands of every kind: recorded, played alone, played together, and in line behind each other.
#include "tests/asserts.h"
#include "tests/sweep.h"

#include <string.h>

// --- One command ---

static espl_status record_clone(sweep_world *w, espl_recorder *to, uint32_t key, unsigned number)
{
    static const struct {
        sweep_part source, parent;
        uint32_t count;
        espl_place place;
    } ways[] = {{PART_SOLO, PART_COUNT, 2, ESPL_PLACE_SOURCE},
                {PART_SOLO, PART_ROOT, 3, ESPL_PLACE_LOCAL},
                {PART_MEMBER, PART_LEAF, 1, ESPL_PLACE_WORLD},
                {PART_PREFAB, PART_OTHER, 2, ESPL_PLACE_LOCAL}};
    const uint32_t word = 3;
    const espl_component_value values[] = {{w->word, sizeof word, &word}, {w->tag, 0, NULL}};
    espl_instance_def def = {.source = w->part[ways[number].source],
                             .place = ways[number].place,
                             .transform = test_at(1, 0, 2),
                             .values = values,
                             .value_count = number % 3};

    if (ways[number].parent != PART_COUNT) {
        def.parent = w->part[ways[number].parent];
    }
    const uint32_t made = w->made_count;
    const espl_status status =
        espl_record_instantiate(to, key, &def, ways[number].count, w->pending + made);

    w->made_count += status == ESPL_OK ? ways[number].count : 0;
    return status;
}

static espl_status record_creation(sweep_world *w, espl_recorder *to, uint32_t key, unsigned number)
{
    const espl_transform place = test_at(2, 0, 1);
    const uint32_t word = 4;
    const espl_component_value values[] = {{w->word, sizeof word, &word},
                                           {ESPL_TRANSFORM, sizeof place, &place}};
    espl_creation_def def = {.values = values, .value_count = 1 + number % 2};

    if (number >= 2) {
        def.parent = w->part[number == 2 ? PART_LEAF : PART_ROOT];
        def.inherit = number == 3 ? ESPL_ABSOLUTE_UP : 0;
    }
    const espl_status status = espl_record_create(to, key, &def, 2, w->pending + w->made_count);

    w->made_count += status == ESPL_OK ? 2 : 0;
    return status;
}

static espl_status record_end(sweep_world *w, espl_recorder *to, uint32_t key, unsigned number)
{
    const espl_entity entity = w->part[number % 2 == 0 ? PART_LEAF : PART_MEMBER];

    switch (number / 2) {
    case 0:
        return espl_record_destroy(to, key, entity, ESPL_EXTENT_OWNED);
    case 1:
        return espl_record_destroy(to, key, entity, ESPL_EXTENT_SUBTREE);
    default:
        return espl_record_destroy(to, key, entity, ESPL_EXTENT_ENTITY);
    }
}

static espl_status record_structure(sweep_world *w, espl_recorder *to, uint32_t key,
                                    unsigned number)
{
    const espl_attach_options options = {.position = ESPL_KEEP_LOCAL, .inherit = ESPL_ABSOLUTE_X};
    const espl_entity solo = w->part[PART_SOLO], root = w->part[PART_ROOT];
    const espl_entity member = w->part[PART_MEMBER], leaf = w->part[PART_LEAF];

    switch (number) {
    case 0:
        return espl_record_attach(to, key, solo, leaf, NULL);
    case 1:
        return espl_record_attach(to, key, member, solo, &options);
    case 2:
        return espl_record_attach(to, key, root, solo, NULL);
    case 3:
        return espl_record_detach(to, key, member, ESPL_KEEP_WORLD);
    case 4:
        return espl_record_detach(to, key, leaf, ESPL_SNAP);
    default:
        return espl_record_move_before(to, key, member, espl_entity_null());
    }
}

static espl_status record_write(sweep_world *w, espl_recorder *to, uint32_t key, unsigned number)
{
    const espl_write stretch = {
        .entity = w->part[PART_LEAF], .kind = ESPL_WRITE_STRETCH, .value.stretch = {1, 2, 1}};
    const espl_write shift = {.entity = w->part[PART_SOLO],
                              .kind = ESPL_WRITE_TRANSLATE_WORLD,
                              .value.position = {1, 2, 1}};
    const espl_entity root = w->part[PART_ROOT], leaf = w->part[PART_LEAF];
    espl_transform value = test_at(5, 6, 7);

    switch (number) {
    case 0:
        return espl_record_write(to, key, root, ESPL_WRITE_LOCAL_TRANSFORM, &value);
    case 1:
        value.user_data = 12;
        return espl_record_write(to, key, leaf, ESPL_WRITE_WORLD_TRANSFORM, &value);
    case 2:
        return espl_record_write(to, key, stretch.entity, stretch.kind, &stretch.value);
    case 3:
        return espl_record_write(to, key, shift.entity, shift.kind, &shift.value);
    case 4:
        return espl_record_set_inherit(to, key, w->part[PART_MEMBER], ESPL_ABSOLUTE_POSITION);
    case 5:
        value.stretch[1] = 2;
        return espl_record_write(to, key, leaf, ESPL_WRITE_WORLD_TRANSFORM | ESPL_CARRY, &value);
    case 6:
        return espl_record_write(to, key, root, ESPL_WRITE_LOCAL_POSE | ESPL_TELEPORT, &value);
    case 7:
        return espl_record_write(to, key, root, ESPL_WRITE_PREVIOUS_LOCAL_POSE, &value);
    default:
        return espl_record_write(to, key, leaf, ESPL_WRITE_PREVIOUS_WORLD_POSE, &value);
    }
}

static espl_status record_change(sweep_world *w, espl_recorder *to, uint32_t key, unsigned number)
{
    const espl_transform place = test_at(1, 1, 1);
    const uint32_t word = 8;
    const espl_component_value given[] = {{w->word, sizeof word, &word},
                                          {ESPL_TRANSFORM, sizeof place, &place}};
    const espl_change_def def = {given, 2, &w->link, 1};
    const espl_entity solo = w->part[PART_SOLO], leaf = w->part[PART_LEAF];

    switch (number) {
    case 0:
        return espl_record_change_components(to, key, leaf, &def);
    case 1:
        return espl_record_add_component(to, key, solo, w->link, NULL, 12);
    case 2:
        return espl_record_remove_component(to, key, leaf, ESPL_TRANSFORM);
    case 3:
        return espl_record_remove_component(to, key, w->part[PART_ROOT], ESPL_TRANSFORM);
    case 4:
        return espl_record_set_enabled(to, key, w->part[PART_ROOT], ESPL_EXTENT_SUBTREE, false);
    case 5:
        return espl_record_set_enabled(to, key, w->part[PART_ROOT], ESPL_EXTENT_OWNED, true);
    default:
        return espl_record_change_components(to, key, w->part[PART_BARE], &def);
    }
}

static espl_status record_rest(sweep_world *w, espl_recorder *to, uint32_t key, unsigned number)
{
    static const unsigned char payload[3000] = {1, 2, 3};
    const uint32_t word = 8;

    switch (number) {
    case 0:
        return espl_record_set_component(to, key, w->part[PART_SOLO], w->word, &word, sizeof word);
    case 1:
        return espl_record_custom(to, key, w->callback, payload, 5, 1);
    default:
        return espl_record_custom(to, key, w->callback, payload, sizeof payload, 256);
    }
}

// --- All kinds ---

enum { CLONE_OF_PREFAB = 3, CHANGE_OF_BARE = 4 + 4 + 6 + 6 + 9 + 6 };

typedef espl_status (*recording)(sweep_world *w, espl_recorder *to, uint32_t key, unsigned number);

static const struct {
    const char *name;
    recording record;
    unsigned count;
} groups[] = {
    {"instantiate", record_clone, 4}, {"create", record_creation, 4},
    {"destroy", record_end, 6},       {"structure", record_structure, 6},
    {"write", record_write, 9},       {"change", record_change, 7},
    {"call and set", record_rest, 3},
};

const unsigned sweep_command_count = 4 + 4 + 6 + 6 + 9 + 7 + 3;

static unsigned group_of(unsigned *kind)
{
    unsigned group = 0;

    for (; *kind >= groups[group].count; ++group) {
        *kind -= groups[group].count;
    }
    return group;
}

static espl_status record(sweep_world *w, espl_recorder *to, unsigned kind, uint32_t key)
{
    const unsigned group = group_of(&kind);

    return groups[group].record(w, to, key, kind);
}

// --- Forms ---

static void make_commands(sweep_world *w, uint32_t which, uint32_t lanes)
{
    ck_ok(espl_command_buffer_create(w->world, lanes, &w->commands[which]));
}

static void tell_report(sweep_world *w, const espl_report *report)
{
    const size_t told[] = {report->accepted, report->applied,   report->refused, report->lossy,
                           report->created,  report->destroyed, report->calls,   report->pendings};

    sweep_tell(w, told, sizeof told);
    sweep_tell(w, report->refused_by, sizeof report->refused_by);
    sweep_tell(w, &w->heard, sizeof w->heard);
}

static void tell_results(sweep_world *w, const espl_command_buffer *commands)
{
    for (uint32_t lane = 0; lane < SWEEP_LANES; ++lane) {
        espl_status status = ESPL_OK;

        for (uint32_t i = 0; status != ESPL_ERR_ARGUMENT; ++i) {
            status = espl_command_buffer_result(commands, lane, i);
            sweep_tell(w, &status, sizeof status);
        }
    }
    for (uint32_t i = 0; i < w->made_count; ++i) {
        espl_entity made = {0};

        if (espl_command_buffer_resolve(commands, w->pending[i], &made) == ESPL_OK) {
            sweep_tell(w, &made, sizeof made);
        }
    }
}

static espl_status run_play(sweep_world *w, unsigned number)
{
    espl_report report;
    const espl_status status = espl_play(w->world, w->commands[0], &report);

    (void)number;
    if (status == ESPL_OK) {
        tell_report(w, &report);
        tell_results(w, w->commands[0]);
    }
    return status;
}

static void finish_play(sweep_world *w, unsigned number)
{
    ck_ok(run_play(w, number));
}

static void prepare_recording(sweep_world *w, unsigned kind)
{
    (void)kind;
    make_commands(w, 0, 1);
}

// Refused, it is not there.
static espl_status run_record(sweep_world *w, unsigned kind)
{
    const size_t before = espl_command_buffer_count(w->commands[0]);
    const espl_status status = record(w, espl_command_buffer_recorder(w->commands[0], 0), kind, 1);

    ck_assert_uint_eq(espl_command_buffer_count(w->commands[0]), before + (status == ESPL_OK));
    return status;
}

static void prepare_play(sweep_world *w, unsigned kind)
{
    make_commands(w, 0, 1);
    ck_ok(record(w, espl_command_buffer_recorder(w->commands[0], 0), kind, 1));
}

// Every third kind from the number on, dealt to lanes, by keys that lead elsewhere.
static void record_mix(sweep_world *w, uint32_t which, unsigned number)
{
    make_commands(w, which, SWEEP_LANES);
    for (unsigned kind = number % 3; kind < sweep_command_count; kind += 3) {
        espl_recorder *const to =
            espl_command_buffer_recorder(w->commands[which], kind % SWEEP_LANES);
        const bool is_full = w->made_count + 3 > SWEEP_MADE;

        if (!is_full || kind >= groups[0].count + groups[1].count) {
            const espl_status status = record(w, to, kind, kind * (1 + number) % 7);

            // A scene may lack the one it names.
            ck_assert(status == ESPL_OK || status == ESPL_ERR_NULL_ENTITY);
        }
    }
}

static void prepare_mix(sweep_world *w, unsigned number)
{
    record_mix(w, 0, number);
}

static void prepare_sync(sweep_world *w, unsigned number)
{
    record_mix(w, 0, number);
    w->made_count = 0;
    record_mix(w, 1, number + 1);
    ck_ok(espl_command_buffer_submit(w->commands[1]));
    ck_ok(espl_command_buffer_submit(w->commands[0]));
}

static espl_status run_sync(sweep_world *w, unsigned number)
{
    espl_report report;
    const espl_status status = espl_sync(w->world, &report);

    (void)number;
    if (status == ESPL_OK) {
        tell_results(w, w->commands[0]);
        tell_results(w, w->commands[1]);
    }
    return status;
}

sweep_call sweep_command_call(sweep_form form, unsigned kind)
{
    unsigned number = kind;
    sweep_call call = {
        .name = groups[group_of(&number)].name, .parts = PARTS_OF_TREE, .number = kind};

    if (form <= SWEEP_PLAYS && (kind == CLONE_OF_PREFAB || kind == CHANGE_OF_BARE)) {
        call.parts = PART_BIT(PART_COUNT) - 1;
    }
    switch (form) {
    case SWEEP_RECORDS:
        call.prepare = prepare_recording;
        call.run = run_record;
        call.finish = finish_play;
        break;
    case SWEEP_PLAYS:
        call.prepare = prepare_play;
        call.run = run_play;
        break;
    case SWEEP_MIXES:
        call.name = "play a mix";
        call.prepare = prepare_mix;
        call.run = run_play;
        break;
    case SWEEP_SYNCS:
    case SWEEP_FORMS:
        call.name = "sync";
        call.traits = CALL_IS_STEPWISE;
        call.prepare = prepare_sync;
        call.run = run_sync;
        break;
    }
    return call;
}
