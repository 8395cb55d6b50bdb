// SPDX-License-Identifier: MIT
// Writing the tape of a world (lib/world/tape.h says what is recorded, and by whom).
//
// A table says which arguments the record of an operation has. tape_bytes.c writes numbers, and
// tape_commands.c the commands of a playback. Invariants of espl_world.tape: a record is open from
// espl__tape_open() to espl__tape_close(), records do not nest, and the buffer is empty between
// calls, because each record is flushed before its call begins and when it ends. One thread writes at
// a time: the thread of the call, or the only thread of a parallel write with a tape. Nothing here
// allocates or fails.
#include "lib/world/tape.h"

#include "lib/world/query.h"
#include "lib/world/tape_bytes.h"
#include "lib/world/tape_commands.h"
#include "lib/world/tape_writes.h"

#include <string.h>

// --- Fields of several numbers ---

static void put_field_of_component(espl_world *world, const espl_component_field *field)
{
    const size_t length = strlen(field->name);

    espl__tape_u32(world, (uint32_t)length);
    espl__tape_bytes(world, field->name, length);
    espl__tape_u32(world, (uint32_t)field->type);
    espl__tape_u32(world, field->offset);
    espl__tape_u32(world, field->count);
}

// Precondition: is_registration().
static void put_component_def(espl_world *world, const espl_component_def *def)
{
    const size_t length = strlen(def->name);

    espl__tape_u32(world, (uint32_t)length);
    espl__tape_bytes(world, def->name, length);
    espl__tape_u32(world, (uint32_t)def->size);
    espl__tape_u32(world, (uint32_t)def->alignment);
    espl__tape_list(world, def->references, def->reference_count);
    espl__tape_u32(world, def->version);
    espl__tape_u32(world, def->flags);
    espl__tape_u32(world, (uint32_t)def->field_count);
    for (size_t i = 0; i < def->field_count; ++i) {
        put_field_of_component(world, &def->fields[i]);
    }
}

// Write a value. NULL data is written as zeros.
static void put_value(espl_world *world, espl_component component, const void *data, size_t size)
{
    espl__tape_u32(world, component);
    espl__tape_u32(world, (uint32_t)size);
    espl__tape_u32(world, data != NULL ? 1 : 0);
    if (data != NULL) {
        espl__tape_bytes(world, data, size);
    }
}

// Precondition: is_change().
static void put_change(espl_world *world, const espl_change_def *def)
{
    espl__tape_u32(world, (uint32_t)def->add_count);
    for (size_t i = 0; i < def->add_count; ++i) {
        put_value(world, def->add[i].component, def->add[i].data, def->add[i].size);
    }
    espl__tape_list(world, def->remove, def->remove_count);
}

// The field order of ESPL_TAPE_ATTACH.
static void put_options(espl_world *world, const espl_attach_options *o)
{
    espl__tape_entity(world, o->before);
    espl__tape_u32(world, (uint32_t)o->position);
    espl__tape_u32(world, (uint32_t)o->rotation);
    espl__tape_u32(world, (uint32_t)o->scale);
    espl__tape_u32(world, (uint32_t)o->link);
    espl__tape_u32(world, o->inherit);
}

// The field order of ESPL_TAPE_RESERVE.
static void put_reserve(espl_world *world, const espl_reserve_def *def)
{
    espl__tape_u64(world, def->entities);
    espl__tape_list(world, def->components, def->component_count);
    espl__tape_u64(world, def->rows);
    espl__tape_u64(world, def->writes);
    espl__tape_u64(world, def->parallel_rows);
    espl__tape_entity(world, def->side_of);
}

// A look at without an up hint has 0 in its place.
static void put_look_at(espl_world *world, const espl__taped_call *call)
{
    espl__tape_words(world, call->point, 3);
    espl__tape_u32(world, call->by != NULL ? 1 : 0);
    espl__tape_words(world, call->by, call->by != NULL ? 3 : 0);
    espl__tape_u32(world, call->word);
}

// --- Lists of entities ---

// Children and parents in turn, or counterparts and originals.
static void put_pairs(espl_world *world, const espl__taped_call *call)
{
    espl__tape_u64(world, call->count);
    for (size_t i = 0; i < call->count; ++i) {
        espl__tape_entity(world, call->entities[i]);
        espl__tape_entity(world, call->parents[i]);
    }
}

static size_t count_answers_of(espl_world *world, const espl_query_def *def)
{
    espl_query query;
    size_t count = 0;
    const espl_status status = espl__query_start(world, def, &query);

    // Precondition of espl__tape_open(): is_recordable() began the same query.
    ESPL_CHECK(status == ESPL_OK);
    while (espl_query_next(&query)) {
        count += query.count;
    }
    return count;
}

// The entities that answer the query of a change, in the order of the query. The record has them and
// not the query, because the query may ask for versions, which are others in a replay. The queries
// end before the call begins, so that the count of iterations is unchanged.
static void put_answers(espl_world *world, const espl_query_def *def)
{
    espl_query query;

    espl__tape_u64(world, count_answers_of(world, def));
    const espl_status status = espl__query_start(world, def, &query);

    ESPL_CHECK(status == ESPL_OK);
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count; ++row) {
            espl__tape_entity(world, query.entities[row]);
        }
    }
}

// The entities of a call on an array or on the answers to a query.
static void put_entities(espl_world *world, const espl__taped_call *call)
{
    if (call->is_of_query) {
        put_answers(world, call->query);
        return;
    }
    espl__tape_u64(world, call->count);
    for (size_t i = 0; i < call->count; ++i) {
        espl__tape_entity(world, call->entities[i]);
    }
}

// --- Fields of a record ---

// The fields after the byte of an operation, in order. put_field() writes them:
//
//     e entity           o other            w word
//     n count            E entities         P entities and parents, or originals
//     C components       D component_def    V component value
//     N name             K write            L look at
//     A pivot, rotation  O options          X change
//     R reserve          W entries          B command buffer
//     M first command of the lane       I bytes of an image or an archive
//     Q known archive
//     H history_def      f frame          J six words at `value`: cells and an offset
static const char *const fields_of[ESPL_TAPE_OP_COUNT] = {
    [ESPL_TAPE_REGISTER] = "D",       [ESPL_TAPE_CREATE] = "Cn",
    [ESPL_TAPE_CHANGE] = "EX",        [ESPL_TAPE_SET] = "eV",
    [ESPL_TAPE_ENABLE] = "ew",        [ESPL_TAPE_DISABLE] = "ew",
    [ESPL_TAPE_ATTACH] = "eoO",       [ESPL_TAPE_DETACH] = "ew",
    [ESPL_TAPE_SIBLING] = "eo",       [ESPL_TAPE_DESTROY] = "ew",
    [ESPL_TAPE_INSTANTIATE] = "en",   [ESPL_TAPE_WRITES] = "W",
    [ESPL_TAPE_WRITE] = "K",          [ESPL_TAPE_LOOK_AT] = "eL",
    [ESPL_TAPE_ROTATE_ABOUT] = "eA",  [ESPL_TAPE_INHERIT] = "ew",
    [ESPL_TAPE_RESERVE] = "R",        [ESPL_TAPE_COMPACT] = "",
    [ESPL_TAPE_VIEW] = "e",           [ESPL_TAPE_PLAY] = "B",
    [ESPL_TAPE_MAKE] = "M",           [ESPL_TAPE_NAME] = "eN",
    [ESPL_TAPE_ATTACH_MANY] = "PO",   [ESPL_TAPE_DESTROY_MANY] = "Ew",
    [ESPL_TAPE_CLEAR] = "",           [ESPL_TAPE_SYNC] = "",
    [ESPL_TAPE_MOTION_START] = "w",   [ESPL_TAPE_MOTION_STOP] = "",
    [ESPL_TAPE_TICK_BEGIN] = "",      [ESPL_TAPE_TICK_END] = "",
    [ESPL_TAPE_IMAGE] = "wI",         [ESPL_TAPE_ARCHIVE] = "ewI",
    [ESPL_TAPE_APPLY] = "ewIQ",       [ESPL_TAPE_HISTORY_CREATE] = "H",
    [ESPL_TAPE_HISTORY_DESTROY] = "", [ESPL_TAPE_MARK] = "f",
    [ESPL_TAPE_REWIND] = "fw",        [ESPL_TAPE_COUNTERPARTS] = "P",
    [ESPL_TAPE_REBASE] = "J",         [ESPL_TAPE_RECENTER] = "w",
};

// An empty name removes the name.
static void put_name(espl_world *world, const espl__taped_call *call)
{
    espl__tape_u32(world, (uint32_t)call->count);
    espl__tape_bytes(world, call->name, call->count);
}

static void put_turn(espl_world *world, const espl__taped_call *call)
{
    espl__tape_words(world, call->point, 3);
    espl__tape_words(world, call->by, 4);
}

static void put_known(espl_world *world, const espl_archive_known *known)
{
    const size_t count = known == NULL ? 0 : known->count;

    espl__tape_u64(world, known == NULL ? 0 : known->size);
    espl__tape_bytes(world, known == NULL ? NULL : known->bytes, known == NULL ? 0 : known->size);
    espl__tape_u64(world, count);
    for (size_t i = 0; i < count; ++i) {
        espl__tape_entity(world, known->entities[i]);
    }
}

// Write a field that is a handle or a number. @return false: it is another field.
static bool put_plain_field(espl_world *world, const espl__taped_call *call, char field)
{
    switch (field) {
    case 'e':
        espl__tape_entity(world, call->entity);
        break;
    case 'o':
        espl__tape_entity(world, call->other);
        break;
    case 'w':
        espl__tape_u32(world, call->word);
        break;
    case 'n':
        espl__tape_u64(world, call->count);
        break;
    case 'f':
        espl__tape_u64(world, call->frame);
        break;
    default:
        return false;
    }
    return true;
}

// Write one field of a record.
static void put_field(espl_world *world, const espl__taped_call *call, char field)
{
    if (put_plain_field(world, call, field)) {
        return;
    }
    switch (field) {
    case 'E':
        put_entities(world, call);
        break;
    case 'P':
        put_pairs(world, call);
        break;
    case 'C':
        espl__tape_list(world, call->components, call->component_count);
        break;
    case 'D':
        put_component_def(world, call->component_def);
        break;
    case 'V':
        put_value(world, call->component, call->value, call->size);
        break;
    case 'N':
        put_name(world, call);
        break;
    case 'K':
        espl__tape_write(world, call->entity, call->kind, call->value);
        break;
    case 'L':
        put_look_at(world, call);
        break;
    case 'A':
        put_turn(world, call);
        break;
    case 'O':
        put_options(world, call->options);
        break;
    case 'X':
        put_change(world, call->change);
        break;
    case 'R':
        put_reserve(world, call->reserve);
        break;
    case 'W':
        espl__tape_entries(world, call->entries);
        break;
    case 'I':
        espl__tape_u64(world, call->size);
        espl__tape_bytes(world, call->value, call->size);
        break;
    case 'Q':
        put_known(world, call->known);
        break;
    case 'H':
        espl__tape_u32(world, call->history->frames);
        espl__tape_u32(world, call->history->flags);
        espl__tape_u64(world, call->history->byte_limit);
        break;
    case 'J':
        espl__tape_words(world, call->value, 6);
        break;
    case 'B':
        espl__tape_playback(world, call->commands);
        break;
    default:
        ESPL_CHECK(field == 'M');
        espl__tape_command(world, call->lane);
    }
}

// --- Calls ---

// Tell whether a list can be read and is no longer than the limit.
static bool is_list(const void *items, size_t count, size_t limit)
{
    return count <= limit && (items != NULL || count == 0);
}

static bool is_registration(const espl_component_def *def)
{
    if (def == NULL || !is_list(def->fields, def->field_count, ESPL_FIELD_LIMIT)) {
        return false;
    }
    for (size_t i = 0; i < def->field_count; ++i) {
        if (espl__name_length(def->fields[i].name) > ESPL_NAME_LIMIT ||
            def->fields[i].name == NULL) {
            return false;
        }
    }
    return def->name != NULL &&
           is_list(def->references, def->reference_count, ESPL_REFERENCE_LIMIT) &&
           strlen(def->name) <= 255 && def->size <= ESPL_COMPONENT_SIZE_LIMIT &&
           def->alignment <= ESPL_COMPONENT_SIZE_LIMIT;
}

static bool is_change(const espl_change_def *def)
{
    bool is_sound = def != NULL && is_list(def->add, def->add_count, ESPL_SET_LIMIT) &&
                    is_list(def->remove, def->remove_count, ESPL_SET_LIMIT);

    for (size_t i = 0; is_sound && i < def->add_count; ++i) {
        is_sound = def->add[i].size <= ESPL_COMPONENT_SIZE_LIMIT;
    }
    return is_sound;
}

static bool is_query(espl_world *world, const espl_query_def *def)
{
    espl_query query;

    if (espl__query_start(world, def, &query) != ESPL_OK) {
        return false;
    }
    espl_query_end(&query);
    return true;
}

// Tell whether the arguments of a call can be read, and fit the fields of its record.
static bool is_recordable(espl_world *world, const espl__taped_call *call)
{
    switch (call->op) {
    case ESPL_TAPE_REGISTER:
        return is_registration(call->component_def);
    case ESPL_TAPE_CREATE:
        return is_list(call->components, call->component_count, ESPL_SET_LIMIT);
    case ESPL_TAPE_CHANGE:
        return is_change(call->change) && (!call->is_of_query || is_query(world, call->query));
    case ESPL_TAPE_WRITES:
        return call->entries->count <= ESPL__ENTRIES_LIMIT;
    case ESPL_TAPE_RESERVE:
        return is_list(call->reserve->components, call->reserve->component_count, ESPL_SET_LIMIT);
    case ESPL_TAPE_NAME:
        return call->count <= ESPL_NAME_LIMIT;
    default:
        return true;
    }
}

void espl__tape_open(espl_world *world, const espl__taped_call *call)
{
    ESPL_CHECK(call->op < ESPL_TAPE_OP_COUNT && fields_of[call->op] != NULL);
    if (!is_recordable(world, call)) {
        return;
    }
    espl__tape_begin(world, call->op);
    for (const char *field = fields_of[call->op]; *field != '\0'; ++field) {
        put_field(world, call, *field);
    }
    espl__tape_flush(world);
}
