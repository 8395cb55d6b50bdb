// SPDX-License-Identifier: MIT
// Scripts as they are recorded, and what is left of a playback, in hashes.
#include "tests/asserts.h"
#include "tests/script.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t value_sizes[SCRIPT_PLACEMENT_BIT] = {4, 8, 64, 0, 0};

void script_recording_begin(script_recording *r, espl_command_buffer *commands, const script *from)
{
    *r = (script_recording){.commands = commands, .count = from->count};
    r->lane = calloc(from->count + 1, sizeof *r->lane);
    r->index = calloc(from->count + 1, sizeof *r->index);
    r->pending = calloc(from->count + 1, sizeof *r->pending);
    r->made = calloc(from->count + 1, sizeof *r->made);
    r->recorded = calloc(from->count + 1, sizeof *r->recorded);
    ck_assert(r->lane != NULL && r->index != NULL && r->pending != NULL && r->made != NULL &&
              r->recorded != NULL);
}

void script_recording_free(script_recording *r)
{
    for (size_t i = 0; i < r->count; ++i) {
        free(r->pending[i]);
    }
    free(r->lane);
    free(r->index);
    free(r->pending);
    free(r->made);
    free(r->recorded);
    memset(r, 0, sizeof *r);
}

// --- One line ---

// Who is made by a line that was refused when recorded was never born.
static espl_entity handle_of(const script_recording *r, const script_name *name)
{
    static const espl_entity unborn = {UINT32_C(1) << 30, 1};

    if (name->maker == 0) {
        return name->entity;
    }
    const espl_entity *const pending = r->pending[name->maker - 1];

    return pending != NULL ? pending[name->copy] : unborn;
}

// Values of the components that a set of bits names.
typedef struct values {
    espl_component_value value[SCRIPT_COMPONENTS];
    _Alignas(64) unsigned char bytes[SCRIPT_COMPONENTS][64];
    size_t count;
} values;

static void make_values(values *v, const script_world *s, const script_line *line, uint32_t set)
{
    memset(v, 0, sizeof *v);
    for (uint32_t i = 0; i < SCRIPT_COMPONENTS; ++i) {
        const size_t size = i == SCRIPT_PLACEMENT_BIT ? sizeof(espl_transform) : value_sizes[i];

        if ((set >> i & 1) == 0) {
            continue;
        }
        memset(v->bytes[i], (int)(line->number * 7 + i), sizeof v->bytes[i]);
        if (i == SCRIPT_PLACEMENT_BIT) {
            memcpy(v->bytes[i], &line->transform, sizeof line->transform);
        } else if (i == 1) {
            memcpy(v->bytes[i], &line->target.entity, sizeof line->target.entity);
        }
        v->value[v->count++] = (espl_component_value){
            s->number[i], size, line->number % 5 != 0 && size != 0 ? v->bytes[i] : NULL};
    }
}

static espl_status record_instance(const script_world *s, espl_recorder *lane,
                                   const script_recording *r, const script_line *line,
                                   espl_entity *pending)
{
    values v;

    make_values(&v, s, line, line->gains & ~(1u << SCRIPT_PLACEMENT_BIT));
    const espl_instance_def def = {.source = handle_of(r, &line->target),
                                   .parent = handle_of(r, &line->parent),
                                   .before = handle_of(r, &line->before),
                                   .link = line->options.link,
                                   .dead_parent = line->dead_parent,
                                   .place = line->place,
                                   .transform = line->transform,
                                   .values = v.value,
                                   .value_count = v.count,
                                   .inherit = line->options.inherit};

    return espl_record_instantiate(lane, line->key, &def, line->count, pending);
}

static espl_status record_creation(const script_world *s, espl_recorder *lane,
                                   const script_recording *r, const script_line *line,
                                   espl_entity *pending)
{
    const bool is_placed = (line->gains >> SCRIPT_PLACEMENT_BIT & 1) != 0;
    values v;

    make_values(&v, s, line, line->gains);
    const espl_creation_def def = {.values = v.value,
                                   .value_count = v.count,
                                   .parent = handle_of(r, &line->parent),
                                   .before = handle_of(r, &line->before),
                                   .link = line->options.link,
                                   .dead_parent = line->dead_parent,
                                   .place = line->place,
                                   .inherit = is_placed ? line->options.inherit : 0};

    return espl_record_create(lane, line->key, &def, line->count, pending);
}

static espl_status record_change(const script_world *s, espl_recorder *lane,
                                 const script_line *line, espl_entity entity)
{
    espl_component losses[SCRIPT_COMPONENTS];
    size_t loss_count = 0;
    values v;

    make_values(&v, s, line, line->gains);
    for (uint32_t i = 0; i < SCRIPT_COMPONENTS; ++i) {
        if ((line->losses >> i & 1) != 0) {
            losses[loss_count++] = s->number[i];
        }
    }
    const espl_change_def change = {
        .add = v.value, .add_count = v.count, .remove = losses, .remove_count = loss_count};

    return espl_record_change_components(lane, line->key, entity, &change);
}

// Add, set or remove the component that the line's number names.
static espl_status record_one(const script_world *s, espl_recorder *lane, const script_line *line,
                              espl_entity entity)
{
    const uint32_t bit = line->number % SCRIPT_COMPONENTS;
    values v;

    make_values(&v, s, line, 1u << bit);
    switch (line->kind) {
    case SCRIPT_ADD:
        return espl_record_add_component(lane, line->key, entity, s->number[bit], v.value[0].data,
                                         v.value[0].size);
    case SCRIPT_REMOVE:
        return espl_record_remove_component(lane, line->key, entity, s->number[bit]);
    default:
        return espl_record_set_component(lane, line->key, entity, s->number[bit], v.bytes[bit],
                                         v.value[0].size);
    }
}

static espl_status record_structure(espl_recorder *lane, const script_recording *r,
                                    const script_line *line, espl_entity entity)
{
    espl_attach_options options = line->options;

    switch (line->kind) {
    case SCRIPT_DESTROY:
        return espl_record_destroy(lane, line->key, entity, ESPL_EXTENT_OWNED);
    case SCRIPT_DESTROY_SUBTREE:
        return espl_record_destroy(lane, line->key, entity, ESPL_EXTENT_SUBTREE);
    case SCRIPT_DESTROY_ONLY:
        return espl_record_destroy(lane, line->key, entity, ESPL_EXTENT_ENTITY);
    case SCRIPT_ATTACH:
        options.before = handle_of(r, &line->before);
        return espl_record_attach(lane, line->key, entity, handle_of(r, &line->parent), &options);
    case SCRIPT_DETACH:
        return espl_record_detach(lane, line->key, entity, options.position);
    case SCRIPT_SIBLING:
        return espl_record_move_before(lane, line->key, entity, handle_of(r, &line->before));
    case SCRIPT_INHERIT:
        return espl_record_set_inherit(lane, line->key, entity, options.inherit);
    default:
        return espl_record_write(lane, line->key, entity, line->write, &line->value);
    }
}

static espl_status record(const script_world *s, espl_recorder *lane, const script_recording *r,
                          const script_line *line, espl_entity *pending)
{
    const espl_entity entity = handle_of(r, &line->target);

    switch (line->kind) {
    case SCRIPT_INSTANTIATE:
        return record_instance(s, lane, r, line, pending);
    case SCRIPT_CREATE:
        return record_creation(s, lane, r, line, pending);
    case SCRIPT_CHANGE:
        return record_change(s, lane, line, entity);
    case SCRIPT_ADD:
    case SCRIPT_REMOVE:
    case SCRIPT_SET:
        return record_one(s, lane, line, entity);
    case SCRIPT_ENABLE:
        return espl_record_set_enabled(lane, line->key, entity, line->extent, true);
    case SCRIPT_DISABLE:
        return espl_record_set_enabled(lane, line->key, entity, line->extent, false);
    case SCRIPT_CALL:
        return espl_record_custom(lane, line->key, s->callback[line->number % 2], &line->number,
                                  sizeof line->number, script_alignment(line->number));
    default:
        return record_structure(lane, r, line, entity);
    }
}

espl_status script_record_line(const script_world *s, script_recording *r, const script *from,
                               size_t i, uint32_t lane)
{
    const script_line *const line = &from->lines[i];
    const bool makes = line->kind == SCRIPT_INSTANTIATE || line->kind == SCRIPT_CREATE;
    espl_entity *const pending = makes ? calloc(line->count, sizeof *pending) : NULL;

    r->lane[i] = lane;
    r->index[i] = r->in_lane[lane];
    r->recorded[i] = record(s, espl_command_buffer_recorder(r->commands, lane), r, line, pending);
    if (r->recorded[i] != ESPL_OK) {
        free(pending);
        return r->recorded[i];
    }
    r->pending[i] = pending;
    r->made[i] = makes ? line->count : 0;
    r->in_lane[lane] += 1;
    return ESPL_OK;
}

// --- A whole script ---

static bool is_ready(const uint8_t *is_done, const script_name *name)
{
    return name->maker == 0 || is_done[name->maker - 1] != 0;
}

static void shuffle_order(size_t *order, size_t count, uint64_t *random)
{
    for (size_t i = 0; i < count; ++i) {
        const size_t at = test_below(random, (uint32_t)(i + 1));

        order[i] = order[at];
        order[at] = i;
    }
}

void script_record(const script_world *s, script_recording *r, espl_command_buffer *commands,
                   uint32_t lanes, const script *from, uint64_t shuffle)
{
    size_t *const order = calloc(from->count + 1, sizeof *order);
    uint8_t *const is_done = calloc(from->count + 1, 1);
    uint64_t random = shuffle;

    ck_assert(order != NULL && is_done != NULL);
    script_recording_begin(r, commands, from);
    for (size_t i = 0; i < from->count; ++i) {
        order[i] = i;
    }
    if (shuffle != 0) {
        shuffle_order(order, from->count, &random);
    }
    // Lines wait until those they name are recorded.
    for (size_t left = from->count; left > 0;) {
        for (size_t k = 0; k < from->count; ++k) {
            const size_t i = order[k];
            const script_line *const line = &from->lines[i];

            if (is_done[i] != 0 || !is_ready(is_done, &line->target) ||
                !is_ready(is_done, &line->parent) || !is_ready(is_done, &line->before)) {
                continue;
            }
            const uint32_t lane = shuffle != 0 ? test_below(&random, lanes) : 0;

            (void)!script_record_line(s, r, from, i, lane);
            is_done[i] = 1;
            left -= 1;
        }
    }
    free(order);
    free(is_done);
}

// --- What is left ---

uint64_t script_results(const script_recording *r)
{
    uint64_t hash = TEST_HASH_START;

    for (size_t i = 0; i < r->count; ++i) {
        const bool is_recorded = r->recorded[i] == ESPL_OK;
        const espl_status status =
            is_recorded ? espl_command_buffer_result(r->commands, r->lane[i], r->index[i])
                        : r->recorded[i];

        hash = test_hash_bytes(hash, &status, sizeof status);
        for (uint32_t k = 0; r->pending[i] != NULL && k < r->made[i]; ++k) {
            espl_entity entity = {0};
            const espl_status found =
                espl_command_buffer_resolve(r->commands, r->pending[i][k], &entity);

            hash = test_hash_bytes(hash, &found, sizeof found);
            hash = test_hash_bytes(hash, &entity, sizeof entity);
        }
    }
    return hash;
}

static uint32_t line_at(const script_recording *r, espl_command_place place)
{
    uint32_t line = 0;

    while (line < r->count && (r->recorded[line] != ESPL_OK || r->lane[line] != place.lane ||
                               r->index[line] != place.index)) {
        line += 1;
    }
    ck_assert_uint_lt(line, r->count);
    return line;
}

uint64_t script_account(const script_recording *r, const espl_report *report)
{
    const size_t counts[] = {report->accepted,      report->applied,     report->refused,
                             report->lossy,         report->created,     report->destroyed,
                             report->row_moves,     report->groups,      report->rebuilt_nodes,
                             report->visited_nodes, report->pendings,    report->largest_group,
                             report->moved_nodes,   report->row_batches, report->calls};
    uint64_t hash = test_hash_bytes(TEST_HASH_START, counts, sizeof counts);

    ck_assert_uint_eq(report->accepted, report->applied + report->refused);
    hash = test_hash_bytes(hash, report->refused_by, sizeof report->refused_by);
    for (size_t reason = 0; reason < ESPL_REASON_COUNT; ++reason) {
        if (report->refused_by[reason] != 0) {
            const uint32_t line = line_at(r, report->first_refused[reason]);

            hash = test_hash_bytes(hash, &line, sizeof line);
        }
    }
    return hash;
}

static uint64_t hash_values(uint64_t hash, const script_world *s, espl_entity entity)
{
    unsigned char bytes[64];

    for (uint32_t i = 0; i < SCRIPT_PLACEMENT_BIT; ++i) {
        const uint8_t has = espl_has_component(s->world, entity, s->number[i]);

        hash = test_hash_bytes(hash, &has, 1);
        if (has != 0 && value_sizes[i] != 0) {
            ck_ok(espl_get_component(s->world, entity, s->number[i], bytes, value_sizes[i]));
            hash = test_hash_bytes(hash, bytes, value_sizes[i]);
        }
    }
    const uint8_t tags[3] = {espl_has_component(s->world, entity, ESPL_DISABLED),
                             espl_has_component(s->world, entity, ESPL_PREFAB),
                             espl_has_component(s->world, entity, ESPL_TRANSFORM)};
    return test_hash_bytes(hash, tags, sizeof tags);
}

// How an entity stands, but for rank and slot.
static uint64_t hash_place(uint64_t hash, const script_world *s, espl_entity entity)
{
    const espl_entity near[4] = {entity, espl_get_parent(s->world, entity),
                                 espl_get_first_child(s->world, entity),
                                 espl_get_next_sibling(s->world, entity)};
    const uint32_t words[3] = {(uint32_t)espl_get_role(s->world, entity),
                               (uint32_t)espl_get_link(s->world, entity),
                               espl_get_inherit(s->world, entity)};
    espl_transform local = {0}, placed = {0};
    const int status[2] = {(int)espl_get_local_transform(s->world, entity, &local),
                           (int)espl_get_world_transform(s->world, entity, &placed)};

    hash = test_hash_bytes(hash, near, sizeof near);
    hash = test_hash_bytes(hash, words, sizeof words);
    hash = test_hash_bytes(hash, status, sizeof status);
    hash = test_hash_transform(hash, &local);
    return test_hash_transform(hash, &placed);
}

// Rows come in any order: what is summed up names its entity.
uint64_t script_logical_hash(const script_world *s)
{
    const espl_query_def all = {.include = ESPL_INCLUDE_PREFABS | ESPL_INCLUDE_DISABLED};
    uint64_t sums[2] = {s->heard, 0};
    espl_query query;

    ck_ok(espl_query_begin(s->world, &all, &query));
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count; ++row) {
            const uint64_t place = hash_place(TEST_HASH_START, s, query.entities[row]);

            sums[1] += hash_values(place, s, query.entities[row]);
        }
    }
    return test_hash_bytes(TEST_HASH_START, sums, sizeof sums);
}

uint64_t script_hash(const script_world *s)
{
    const uint64_t parts[3] = {test_physical_hash(s->world), script_logical_hash(s),
                               espl_get_version(s->world)};

    return test_hash_bytes(TEST_HASH_START, parts, sizeof parts);
}
