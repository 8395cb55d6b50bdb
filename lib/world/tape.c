// SPDX-License-Identifier: MIT
// Writing a world's tape. A record is gathered in a few bytes of the world, which go to the user
// whenever they are full, and at its two ends: before the call begins, and when it has answered.
#include "lib/world/tape.h"

#include <string.h>

// --- Bytes ---

void espl__tape_flush(espl_world *world)
{
    espl__tape *const tape = &world->tape;

    if (tape->used != 0) {
        tape->sink.append(tape->sink.user, tape->bytes, tape->used);
        tape->used = 0;
    }
}

static void put_bytes(espl_world *world, const void *bytes, size_t size)
{
    espl__tape *const tape = &world->tape;
    const unsigned char *from = bytes;

    while (size != 0) {
        const size_t room = sizeof tape->bytes - tape->used;
        const size_t count = size < room ? size : room;

        memcpy(tape->bytes + tape->used, from, count);
        tape->used += count;
        from += count;
        size -= count;
        if (tape->used == sizeof tape->bytes) {
            espl__tape_flush(world);
        }
    }
}

static void put_number(espl_world *world, uint64_t number, unsigned size)
{
    unsigned char bytes[8];

    for (unsigned i = 0; i < size; ++i) {
        bytes[i] = (unsigned char)(number >> (8 * i));
    }
    put_bytes(world, bytes, size);
}

static void put_u8(espl_world *world, unsigned number)
{
    put_number(world, number, 1);
}

static void put_u32(espl_world *world, uint32_t number)
{
    put_number(world, number, 4);
}

static void put_u64(espl_world *world, uint64_t number)
{
    put_number(world, number, 8);
}

static void put_entity(espl_world *world, espl_entity entity)
{
    put_u32(world, entity.index);
    put_u32(world, entity.generation);
}

// Words of 4 bytes: floats, and a transform's context.
static void put_words(espl_world *world, const void *words, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        uint32_t word;

        memcpy(&word, (const unsigned char *)words + 4 * i, sizeof word);
        put_u32(world, word);
    }
}

static void put_list(espl_world *world, const uint32_t *words, size_t count)
{
    put_u32(world, (uint32_t)count);
    put_words(world, words, count);
}

// --- Records ---

static void open_record(espl_world *world, espl_tape_op op)
{
    world->tape.is_open = true;
    put_u8(world, op);
}

espl_status espl__tape_close(espl_world *world, espl_status status)
{
    if (world->tape.is_open) {
        world->tape.is_open = false;
        put_u8(world, (unsigned)(int)status & 0xffu);
        espl__tape_flush(world);
    }
    return status;
}

void espl__tape_head(espl_world *world)
{
    const uint32_t order = 0x01020304;

    put_bytes(world, "espltape", 8);
    put_u32(world, ESPL_TAPE_VERSION);
    put_u32(world, world->store.tag);
    put_bytes(world, &order, sizeof order);
    put_u8(world, ESPL__INDEX_BITS);
    put_u8(world, ESPL__GENERATION_BITS);
    put_u8(world, ESPL__CHUNK_ROWS);
    put_u8(world, 0);
    espl__tape_flush(world);
}

espl_status espl_tape_frame(espl_world *world)
{
    uint64_t hashes[2] = {0, 0};

    ESPL__CHANGE_OR_RETURN(world, "espl_tape_frame")
    const espl_status status = espl__check_structural(world);

    if (status == ESPL_OK && espl__is_taped(world)) {
        const espl_status logical = espl_hash(world, ESPL_HASH_LOGICAL, &hashes[0]);
        const espl_status physical = espl_hash(world, ESPL_HASH_PHYSICAL, &hashes[1]);

        // A world that is not busy has both.
        ESPL_CHECK(logical == ESPL_OK && physical == ESPL_OK);
        open_record(world, ESPL_TAPE_FRAME);
        put_u64(world, hashes[0]);
        put_u64(world, hashes[1]);
        (void)espl__tape_close(world, status);
    }
    return espl__refuse_call(world, "espl_tape_frame", status, NULL);
}

// --- Components ---

void espl__tape_register(espl_world *world, const espl_component_def *def)
{
    if (def == NULL || def->name == NULL || def->reference_count > ESPL_REFERENCE_LIMIT ||
        (def->references == NULL && def->reference_count != 0) || strlen(def->name) > 255 ||
        def->size > ESPL_COMPONENT_SIZE_LIMIT || def->alignment > ESPL_COMPONENT_SIZE_LIMIT) {
        return;
    }
    open_record(world, ESPL_TAPE_REGISTER);
    put_u32(world, (uint32_t)strlen(def->name));
    put_bytes(world, def->name, strlen(def->name));
    put_u32(world, (uint32_t)def->size);
    put_u32(world, (uint32_t)def->alignment);
    put_list(world, def->references, def->reference_count);
    espl__tape_flush(world);
}

void espl__tape_set_of(espl_world *world, espl_tape_op op, const espl_component *components,
                       size_t component_count, size_t count)
{
    if (component_count > ESPL_SET_LIMIT || (components == NULL && component_count != 0)) {
        return;
    }
    open_record(world, op);
    put_list(world, components, component_count);
    put_u64(world, count);
    espl__tape_flush(world);
}

static void put_value(espl_world *world, espl_component component, const void *data, size_t size)
{
    put_u32(world, component);
    put_u32(world, (uint32_t)size);
    put_u32(world, data != NULL ? 1 : 0);
    if (data != NULL) {
        put_bytes(world, data, size);
    }
}

static bool is_change_sound(const espl_change_def *def)
{
    bool is_sound = def != NULL && (def->add != NULL || def->add_count == 0) &&
                    (def->remove != NULL || def->remove_count == 0) &&
                    def->add_count <= ESPL_SET_LIMIT && def->remove_count <= ESPL_SET_LIMIT;

    for (size_t i = 0; is_sound && i < def->add_count; ++i) {
        is_sound = def->add[i].size <= ESPL_COMPONENT_SIZE_LIMIT;
    }
    return is_sound;
}

static void put_change(espl_world *world, const espl_change_def *def)
{
    put_u32(world, (uint32_t)def->add_count);
    for (size_t i = 0; i < def->add_count; ++i) {
        put_value(world, def->add[i].component, def->add[i].data, def->add[i].size);
    }
    put_list(world, def->remove, def->remove_count);
    espl__tape_flush(world);
}

void espl__tape_change(espl_world *world, const espl_entity *entities, size_t count,
                       const espl_change_def *def)
{
    if (!is_change_sound(def)) {
        return;
    }
    open_record(world, ESPL_TAPE_CHANGE);
    put_u64(world, count);
    for (size_t i = 0; i < count; ++i) {
        put_entity(world, entities[i]);
    }
    put_change(world, def);
}

// By its entities, in the order of the query: what it asks may be of versions, and these are other
// ones in a replay. Two queries of the world's own, with its iterations counted as they were.
void espl__tape_change_query(espl_world *world, const espl_query_def *query_def,
                             const espl_change_def *def)
{
    espl_query query;
    size_t count = 0;

    if (!is_change_sound(def) || espl__query_start(world, query_def, &query) != ESPL_OK) {
        return;
    }
    while (espl_query_next(&query)) {
        count += query.count;
    }
    const espl_status status = espl__query_start(world, query_def, &query);

    // As before.
    ESPL_CHECK(status == ESPL_OK);
    open_record(world, ESPL_TAPE_CHANGE);
    put_u64(world, count);
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count; ++row) {
            put_entity(world, query.entities[row]);
        }
    }
    put_change(world, def);
}

void espl__tape_set(espl_world *world, espl_entity entity, espl_component component,
                    const void *data, size_t size)
{
    open_record(world, ESPL_TAPE_SET);
    put_entity(world, entity);
    put_value(world, component, data, size);
    espl__tape_flush(world);
}

void espl__tape_name(espl_world *world, espl_entity entity, const char *name, size_t length)
{
    if (length > ESPL_NAME_LIMIT) {
        return;
    }
    open_record(world, ESPL_TAPE_NAME);
    put_entity(world, entity);
    put_u32(world, (uint32_t)length);
    put_bytes(world, name, length);
    espl__tape_flush(world);
}

// --- Structure ---

static void put_options(espl_world *world, const espl_attach_options *o)
{
    put_entity(world, o->before);
    put_u32(world, (uint32_t)o->position);
    put_u32(world, (uint32_t)o->rotation);
    put_u32(world, (uint32_t)o->scale);
    put_u32(world, (uint32_t)o->link);
    put_u32(world, o->inherit);
}

void espl__tape_attach(espl_world *world, espl_entity child, espl_entity parent,
                       const espl_attach_options *o)
{
    open_record(world, ESPL_TAPE_ATTACH);
    put_entity(world, child);
    put_entity(world, parent);
    put_options(world, o);
    espl__tape_flush(world);
}

void espl__tape_attach_many(espl_world *world, const espl_entity *children,
                            const espl_entity *parents, size_t count, const espl_attach_options *o)
{
    open_record(world, ESPL_TAPE_ATTACH_MANY);
    put_u64(world, count);
    for (size_t i = 0; i < count; ++i) {
        put_entity(world, children[i]);
        put_entity(world, parents[i]);
    }
    put_options(world, o);
    espl__tape_flush(world);
}

void espl__tape_destroy_many(espl_world *world, const espl_entity *entities, size_t count,
                             espl_extent extent)
{
    open_record(world, ESPL_TAPE_DESTROY_MANY);
    put_u64(world, count);
    for (size_t i = 0; i < count; ++i) {
        put_entity(world, entities[i]);
    }
    put_u32(world, (uint32_t)extent);
    espl__tape_flush(world);
}

void espl__tape_plain(espl_world *world, espl_tape_op op)
{
    open_record(world, op);
    espl__tape_flush(world);
}

void espl__tape_entity(espl_world *world, espl_tape_op op, espl_entity entity)
{
    open_record(world, op);
    put_entity(world, entity);
    espl__tape_flush(world);
}

void espl__tape_pair(espl_world *world, espl_tape_op op, espl_entity entity, espl_entity other)
{
    open_record(world, op);
    put_entity(world, entity);
    put_entity(world, other);
    espl__tape_flush(world);
}

void espl__tape_word(espl_world *world, espl_tape_op op, espl_entity entity, uint32_t word)
{
    open_record(world, op);
    put_entity(world, entity);
    put_u32(world, word);
    espl__tape_flush(world);
}

void espl__tape_count(espl_world *world, espl_tape_op op, const espl_entity *entity, size_t count)
{
    open_record(world, op);
    if (entity != NULL) {
        put_entity(world, *entity);
    }
    put_u64(world, count);
    espl__tape_flush(world);
}

void espl__tape_reserve(espl_world *world, const espl_reserve_def *def)
{
    if (def->component_count > ESPL_SET_LIMIT ||
        (def->components == NULL && def->component_count != 0)) {
        return;
    }
    open_record(world, ESPL_TAPE_RESERVE);
    put_u64(world, def->entities);
    put_list(world, def->components, def->component_count);
    put_u64(world, def->rows);
    put_u64(world, def->writes);
    put_u64(world, def->parallel_rows);
    put_entity(world, def->side_of);
    espl__tape_flush(world);
}

// --- Writes ---

// Words of 4 bytes in the value of a kind of write.
static size_t value_words(espl_write_kind kind)
{
    return espl__write_value_size(kind) / 4;
}

void espl__tape_entry(espl_world *world, espl_entity entity, espl_write_kind kind,
                      const void *value)
{
    put_entity(world, entity);
    put_u32(world, (uint32_t)kind);
    put_words(world, value, value_words(kind));
}

void espl__tape_write(espl_world *world, espl_entity entity, espl_write_kind kind,
                      const void *value)
{
    if (value == NULL) {
        return;
    }
    open_record(world, ESPL_TAPE_WRITE);
    espl__tape_entry(world, entity, kind, value);
    espl__tape_flush(world);
}

void espl__tape_look_at(espl_world *world, espl_entity entity, const float *target, const float *up,
                        espl_axis forward)
{
    open_record(world, ESPL_TAPE_LOOK_AT);
    put_entity(world, entity);
    put_words(world, target, 3);
    put_u32(world, up != NULL ? 1 : 0);
    put_words(world, up, up != NULL ? 3 : 0);
    put_u32(world, (uint32_t)forward);
    espl__tape_flush(world);
}

void espl__tape_rotate_about(espl_world *world, espl_entity entity, const float *pivot,
                             const float *by)
{
    open_record(world, ESPL_TAPE_ROTATE_ABOUT);
    put_entity(world, entity);
    put_words(world, pivot, 3);
    put_words(world, by, 4);
    espl__tape_flush(world);
}

void espl__tape_batch(espl_world *world, size_t count)
{
    open_record(world, ESPL_TAPE_WRITES);
    put_u64(world, count);
}

// --- Columns ---

static void put_column(espl_world *world, const espl_query *rows, const espl__chunk *chunk,
                       const espl__column *column)
{
    open_record(world, ESPL_TAPE_COLUMN);
    put_u32(world, column->component);
    put_u32(world, column->size);
    put_u64(world, rows->count);
    for (size_t row = 0; row < rows->count; ++row) {
        put_entity(world, rows->entities[row]);
    }
    put_bytes(world, chunk->bytes + column->offset + (size_t)rows->state.first * column->size,
              rows->count * column->size);
    (void)espl__tape_close(world, ESPL_OK);
}

// Whether a column counts as written: named beforehand, or by its version.
static bool is_written(const espl_query *rows, const espl__chunk *chunk, size_t column)
{
    const espl__archetype *const archetype = &rows->state.world->store.archetypes[chunk->archetype];

    if (!rows->state.is_dealt) {
        return chunk->versions[column + 1] > rows->state.shown_at;
    }
    for (uint32_t i = 0; i < rows->state.all_count; ++i) {
        if (rows->state.all[i] == archetype->columns[column].component) {
            return true;
        }
    }
    return false;
}

static void put_columns(const espl_query *rows)
{
    espl_world *const world = rows->state.world;
    const espl__store *const store = &world->store;
    const uint32_t number = store->records[rows->entities[0].index].chunk;
    const espl__chunk *const chunk = &store->chunks[number];
    const espl__archetype *const archetype = &store->archetypes[chunk->archetype];
    const size_t count = espl__array_length(archetype->columns);

    for (size_t i = 0; i < count; ++i) {
        if (archetype->columns[i].component != ESPL_TRANSFORM && is_written(rows, chunk, i)) {
            put_column(world, rows, chunk, &archetype->columns[i]);
        }
    }
}

void espl__tape_columns(const espl_query *query)
{
    if (query->count != 0) {
        put_columns(query);
    }
}

void espl__tape_rows(const espl_query *rows)
{
    put_columns(rows);
}

// --- Playbacks ---

static const uint8_t kinds[ESPL__COMMAND_KINDS] = {
    [ESPL__COMMAND_INSTANTIATE] = ESPL_TAPE_COMMAND_INSTANTIATE,
    [ESPL__COMMAND_DESTROY] = ESPL_TAPE_COMMAND_DESTROY,
    [ESPL__COMMAND_ATTACH] = ESPL_TAPE_COMMAND_ATTACH,
    [ESPL__COMMAND_DETACH] = ESPL_TAPE_COMMAND_DETACH,
    [ESPL__COMMAND_SIBLING] = ESPL_TAPE_COMMAND_SIBLING,
    [ESPL__COMMAND_WRITE] = ESPL_TAPE_COMMAND_WRITE,
    [ESPL__COMMAND_INHERIT] = ESPL_TAPE_COMMAND_INHERIT,
    [ESPL__COMMAND_CREATE] = ESPL_TAPE_COMMAND_CREATE,
    [ESPL__COMMAND_CREATE_BARE] = ESPL_TAPE_COMMAND_CREATE_BARE,
    [ESPL__COMMAND_CHANGE] = ESPL_TAPE_COMMAND_CHANGE,
    [ESPL__COMMAND_SET] = ESPL_TAPE_COMMAND_SET,
    [ESPL__COMMAND_ENABLE] = ESPL_TAPE_COMMAND_ENABLE,
    [ESPL__COMMAND_DISABLE] = ESPL_TAPE_COMMAND_DISABLE,
};

static bool has_transform(const espl__command *command)
{
    return command->kind == ESPL__COMMAND_INSTANTIATE || command->kind == ESPL__COMMAND_CREATE ||
           (command->kind == ESPL__COMMAND_CHANGE && command->place == ESPL__PLACEMENT_COMES);
}

// Bytes before the values of a payload.
static size_t head_size(const espl__command *command)
{
    if (command->kind == ESPL__COMMAND_WRITE) {
        return 4 * value_words((espl_write_kind)command->place);
    }
    return has_transform(command) ? sizeof(espl_transform) : 0;
}

static void put_values(espl_world *world, const espl__command *command,
                       const unsigned char *payload)
{
    espl__value_layout layout = espl__values_begin(head_size(command));

    put_u32(world, command->value_count);
    for (uint32_t i = 0; i < command->value_count; ++i) {
        espl__value_header header;

        memcpy(&header, payload + layout.size, sizeof header);
        const size_t size = espl__value_size(&header);
        const size_t at = espl__layout_value(&layout, size, header.alignment);

        put_u32(world, header.component);
        put_u32(world, header.size);
        put_bytes(world, payload + at, size);
    }
}

// Where the writing of each lane stands: its next command, and the pending ones that are made.
typedef struct lane_cursor {
    size_t next;
    uint32_t made;
} lane_cursor;

static bool is_made(const lane_cursor *cursors, espl_entity entity)
{
    return !espl__is_pending(entity) || entity.index < cursors[espl__pending_lane(entity)].made;
}

// A handle that is nobody's when its command is written is somebody's guess: a stranger's stands for
// it, which is refused as it is.
static void put_operand(espl_world *world, const lane_cursor *cursors, espl_entity entity)
{
    const espl_entity stranger = {0, (world->store.tag ^ 1u) << ESPL__TAG_SHIFT | 1u};

    put_entity(world, is_made(cursors, entity) ? entity : stranger);
}

static void put_command(espl_world *world, uint32_t number, const lane_cursor *cursors,
                        const espl__command *command, const espl__lane *lane)
{
    const uint8_t rules[8] = {
        command->link,          command->place,      command->dead_parent, command->stay_position,
        command->stay_rotation, command->stay_scale, command->inherit,     0};
    const size_t head = head_size(command);
    const unsigned char *const payload =
        head != 0 || command->value_count != 0
            ? espl__payload_at(lane->payloads.blocks, command->payload)
            : NULL;

    put_u32(world, number);
    put_u8(world, kinds[command->kind]);
    put_u32(world, command->key);
    put_operand(world, cursors, command->target);
    put_operand(world, cursors, command->parent);
    put_operand(world, cursors, command->before);
    put_u32(world, command->count);
    put_bytes(world, rules, sizeof rules);
    put_u32(world, (uint32_t)head);
    put_words(world, payload, head / 4);
    put_values(world, command, payload);
}

// Write what can be written of a lane: up to a command that names what another lane is yet to make.
// @param guesses  commands to be written though they do. @return commands passed.
static size_t put_lane(espl_world *world, const espl_command_buffer *commands, uint32_t number,
                       lane_cursor *cursors, size_t guesses)
{
    const espl__lane *const lane = &commands->recorders[number].lane;
    const size_t count = espl__array_length(lane->commands), from = cursors[number].next;
    size_t at = from;

    for (; at < count; ++at) {
        const espl__command *const command = &lane->commands[at];

        if (command->kind == ESPL__COMMAND_CALL) {
            continue;
        }
        if (!is_made(cursors, command->target) || !is_made(cursors, command->parent) ||
            !is_made(cursors, command->before)) {
            if (guesses == 0) {
                break;
            }
            guesses -= 1;
        }
        put_command(world, number, cursors, command, lane);
        cursors[number].made += command->count;
    }
    cursors[number].next = at;
    return at - from;
}

void espl__tape_play(espl_world *world, const espl_command_buffer *commands)
{
    lane_cursor cursors[ESPL_LANE_LIMIT] = {{0, 0}};
    size_t left = 0, guesses = 0;
    uint64_t count = 0;

    for (uint32_t lane = 0; lane < commands->lane_count; ++lane) {
        const espl__lane *const from = &commands->recorders[lane].lane;

        left += espl__array_length(from->commands);
        count += espl__array_length(from->commands) - from->call_count;
    }
    open_record(world, ESPL_TAPE_PLAY);
    put_u32(world, commands->lane_count);
    put_u32(world, commands->tag);
    put_u64(world, count);
    // A handle is handed out before it is named, so that some lane can go on; or else one names what
    // it was never given.
    while (left != 0) {
        size_t passed = 0;

        for (uint32_t lane = 0; lane < commands->lane_count; ++lane) {
            passed += put_lane(world, commands, lane, cursors, passed == 0 ? guesses : 0);
        }
        guesses = passed == 0 ? 1 : 0;
        left -= passed;
    }
    espl__tape_flush(world);
}

void espl__tape_make(espl_world *world, const espl__lane *lane)
{
    const lane_cursor cursors[ESPL_LANE_LIMIT] = {{0, 0}};

    open_record(world, ESPL_TAPE_MAKE);
    put_command(world, 0, cursors, &lane->commands[0], lane);
    espl__tape_flush(world);
}
