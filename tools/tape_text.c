// SPDX-License-Identifier: MIT
// The fields of each record are a table, read beside replay_calls.c: tests compare the ends that both find.
#include "tools/tape_text.h"

#include "tools/replay.h"
#include "tools/tape_words.h"

#include <espalier/names.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/// Items of a list that are written out.
enum { SHOWN = 4, FIELD_LIMIT = 8, TAKEN = 0xffff };

typedef enum field_form {
    FORM_END,
    FORM_ENTITY,
    FORM_U32,
    FORM_U64,
    FORM_FRAME,
    FORM_EXTENT,
    FORM_KEEP,
    FORM_LINK,
    FORM_AXIS,
    FORM_VECTOR,
    FORM_OPTIONAL_VECTOR,
    FORM_ROTATION,
    FORM_CELL, // three integers
    FORM_FLOAT,
    FORM_NAME,
    FORM_WORDS,    // list (u32) of u32
    FORM_ENTITIES, // list (u64) of entities
    FORM_PAIRS,    // list (u64) of two entities
    FORM_VALUE,
    FORM_VALUES,  // list (u32) of values
    FORM_BYTES,   // list (u64) of bytes
    FORM_FIELDS,  // of a component
    FORM_VERSION, // of a component, with flags and fields
    FORM_WRITE,
    FORM_WRITES,
    FORM_COLUMN, // u32 size; entities, then size bytes for each
    FORM_COMMAND,
    FORM_COMMANDS,
} field_form;

/// A write, and what the next one of its record is compared with (espalier/tape.h).
typedef struct write_head {
    espl_entity entity;
    uint32_t kind;
} write_head;

typedef struct record_field {
    const char *name;
    field_form form;
} record_field;

typedef struct record_call {
    const char *name;
    uint32_t marks;
    record_field fields[FIELD_LIMIT];
} record_call;

#define KEEPS                                         \
    {"position", FORM_KEEP}, {"rotation", FORM_KEEP}, \
    {                                                 \
        "scale", FORM_KEEP                            \
    }

static const record_call calls[ESPL_TAPE_OP_COUNT] = {
    [ESPL_TAPE_FRAME] = {"espl_tape_frame", 0, {{"", FORM_FRAME}}},
    [ESPL_TAPE_REGISTER] = {"espl_component_register",
                            0,
                            {{"name", FORM_NAME},
                             {"size", FORM_U32},
                             {"alignment", FORM_U32},
                             {"references", FORM_WORDS},
                             {"version", FORM_VERSION}}},
    [ESPL_TAPE_CREATE] = {"espl_create",
                          TAPE_CREATES,
                          {{"components", FORM_WORDS}, {"count", FORM_U64}}},
    [ESPL_TAPE_CHANGE] = {"espl_change_components",
                          TAPE_CHANGES,
                          {{"entities", FORM_ENTITIES},
                           {"add", FORM_VALUES},
                           {"remove", FORM_WORDS}}},
    [ESPL_TAPE_SET] = {"espl_set_component", 0, {{"entity", FORM_ENTITY}, {"value", FORM_VALUE}}},
    [ESPL_TAPE_ENABLE] = {"espl_set_enabled true",
                          TAPE_CHANGES,
                          {{"entity", FORM_ENTITY}, {"extent", FORM_EXTENT}}},
    [ESPL_TAPE_DISABLE] = {"espl_set_enabled false",
                           TAPE_CHANGES,
                           {{"entity", FORM_ENTITY}, {"extent", FORM_EXTENT}}},
    [ESPL_TAPE_ATTACH] = {"espl_attach",
                          TAPE_LINKS,
                          {{"child", FORM_ENTITY},
                           {"parent", FORM_ENTITY},
                           {"before", FORM_ENTITY},
                           KEEPS,
                           {"link", FORM_LINK},
                           {"inherit", FORM_U32}}},
    [ESPL_TAPE_DETACH] = {"espl_detach",
                          TAPE_LINKS,
                          {{"entity", FORM_ENTITY}, {"keep", FORM_KEEP}}},
    [ESPL_TAPE_SIBLING] = {"espl_move_before",
                           TAPE_LINKS,
                           {{"entity", FORM_ENTITY}, {"before", FORM_ENTITY}}},
    [ESPL_TAPE_DESTROY] = {"espl_destroy",
                           TAPE_DESTROYS,
                           {{"entity", FORM_ENTITY}, {"extent", FORM_EXTENT}}},
    [ESPL_TAPE_INSTANTIATE] = {"espl_instantiate",
                               TAPE_CREATES,
                               {{"source", FORM_ENTITY}, {"count", FORM_U64}}},
    [ESPL_TAPE_WRITES] = {"espl_write_batch", 0, {{"writes", FORM_WRITES}}},
    [ESPL_TAPE_WRITE] = {"espl_write_one", 0, {{"", FORM_WRITE}}},
    [ESPL_TAPE_LOOK_AT] = {"espl_look_at",
                           0,
                           {{"entity", FORM_ENTITY},
                            {"target", FORM_VECTOR},
                            {"up", FORM_OPTIONAL_VECTOR},
                            {"axis", FORM_AXIS}}},
    [ESPL_TAPE_ROTATE_ABOUT] = {"espl_rotate_about",
                                0,
                                {{"entity", FORM_ENTITY},
                                 {"pivot", FORM_VECTOR},
                                 {"by", FORM_ROTATION}}},
    [ESPL_TAPE_INHERIT] = {"espl_set_inherit", 0, {{"entity", FORM_ENTITY}, {"flags", FORM_U32}}},
    [ESPL_TAPE_COLUMN] = {"espl_query_write", 0, {{"component", FORM_U32}, {"", FORM_COLUMN}}},
    [ESPL_TAPE_RESERVE] = {"espl_reserve",
                           0,
                           {{"entities", FORM_U64},
                            {"components", FORM_WORDS},
                            {"rows", FORM_U64},
                            {"writes", FORM_U64},
                            {"parallel rows", FORM_U64},
                            {"side arrays of", FORM_ENTITY}}},
    [ESPL_TAPE_COMPACT] = {"espl_compact", 0, {{"", FORM_END}}},
    [ESPL_TAPE_VIEW] = {"espl_view_hierarchy", 0, {{"entity", FORM_ENTITY}}},
    [ESPL_TAPE_PLAY] = {"espl_play",
                        0,
                        {{"lanes", FORM_U32}, {"tag", FORM_U32}, {"commands", FORM_COMMANDS}}},
    [ESPL_TAPE_MAKE] = {"espl_create_at", TAPE_CREATES, {{"", FORM_COMMAND}}},
    [ESPL_TAPE_NAME] = {"espl_set_name",
                        TAPE_CHANGES,
                        {{"entity", FORM_ENTITY}, {"name", FORM_NAME}}},
    [ESPL_TAPE_ATTACH_MANY] = {"espl_attach_many",
                               TAPE_LINKS,
                               {{"child and parent", FORM_PAIRS},
                                {"before", FORM_ENTITY},
                                KEEPS,
                                {"link", FORM_LINK},
                                {"inherit", FORM_U32}}},
    [ESPL_TAPE_DESTROY_MANY] = {"espl_destroy_many",
                                TAPE_DESTROYS,
                                {{"entities", FORM_ENTITIES}, {"extent", FORM_EXTENT}}},
    [ESPL_TAPE_CLEAR] = {"espl_world_clear", TAPE_DESTROYS, {{"", FORM_END}}},
    [ESPL_TAPE_SYNC] = {"espl_sync", 0, {{"", FORM_END}}},
    [ESPL_TAPE_MOTION_START] = {"espl_motion_start", 0, {{"history", FORM_U32}}},
    [ESPL_TAPE_MOTION_STOP] = {"espl_motion_stop", 0, {{"", FORM_END}}},
    [ESPL_TAPE_TICK_BEGIN] = {"espl_tick_begin", 0, {{"", FORM_END}}},
    [ESPL_TAPE_TICK_END] = {"espl_tick_end", 0, {{"", FORM_END}}},
    [ESPL_TAPE_IMAGE] = {"espl_image_load",
                         TAPE_CREATES | TAPE_DESTROYS,
                         {{"flags", FORM_U32}, {"image", FORM_BYTES}}},
    [ESPL_TAPE_ARCHIVE] = {"espl_archive_read",
                           TAPE_CREATES,
                           {{"parent", FORM_ENTITY}, {"flags", FORM_U32}, {"archive", FORM_BYTES}}},
    [ESPL_TAPE_APPLY] = {"espl_archive_apply",
                         TAPE_CREATES | TAPE_LINKS | TAPE_DESTROYS,
                         {{"parent", FORM_ENTITY},
                          {"flags", FORM_U32},
                          {"archive", FORM_BYTES},
                          {"known", FORM_BYTES},
                          {"entities", FORM_ENTITIES}}},
    [ESPL_TAPE_HISTORY_CREATE] = {"espl_history_create",
                                  TAPE_HAS_HISTORY,
                                  {{"frames", FORM_U32}, {"flags", FORM_U32}, {"bytes", FORM_U64}}},
    [ESPL_TAPE_HISTORY_DESTROY] = {"espl_history_destroy", TAPE_HAS_HISTORY, {{"", FORM_END}}},
    [ESPL_TAPE_MARK] = {"espl_history_mark", TAPE_HAS_HISTORY, {{"frame", FORM_U64}}},
    [ESPL_TAPE_REWIND] = {"espl_history_rewind",
                          TAPE_HAS_HISTORY | TAPE_REWINDS | TAPE_CHANGES,
                          {{"frame", FORM_U64}, {"flags", FORM_U32}}},
    [ESPL_TAPE_COUNTERPARTS] = {"espl_set_counterpart",
                                TAPE_CHANGES,
                                {{"counterpart and original", FORM_PAIRS}}},
    [ESPL_TAPE_REBASE] = {"espl_rebase", 0, {{"cells", FORM_CELL}, {"offset", FORM_VECTOR}}},
    [ESPL_TAPE_RECENTER] = {"espl_recenter", 0, {{"limit", FORM_FLOAT}}},
};

static const struct {
    const char *name;
    uint32_t marks;
} commands[ESPL_TAPE_COMMAND_COUNT] = {
    [ESPL_TAPE_COMMAND_INSTANTIATE] = {"instantiate", TAPE_CREATES},
    [ESPL_TAPE_COMMAND_CREATE] = {"create", TAPE_CREATES},
    [ESPL_TAPE_COMMAND_CREATE_BARE] = {"create bare", TAPE_CREATES},
    [ESPL_TAPE_COMMAND_DESTROY] = {"destroy", TAPE_DESTROYS},
    [ESPL_TAPE_COMMAND_ATTACH] = {"attach", TAPE_LINKS},
    [ESPL_TAPE_COMMAND_DETACH] = {"detach", TAPE_LINKS},
    [ESPL_TAPE_COMMAND_SIBLING] = {"move before", TAPE_LINKS},
    [ESPL_TAPE_COMMAND_WRITE] = {"write", 0},
    [ESPL_TAPE_COMMAND_INHERIT] = {"set inherit", 0},
    [ESPL_TAPE_COMMAND_CHANGE] = {"change components", TAPE_CHANGES},
    [ESPL_TAPE_COMMAND_SET] = {"set component", 0},
    [ESPL_TAPE_COMMAND_ENABLE] = {"enable", TAPE_CHANGES},
    [ESPL_TAPE_COMMAND_DISABLE] = {"disable", TAPE_CHANGES},
};

// --- Text ---

static void add_entity(tape_line *line, espl_entity entity)
{
    if (line == NULL) {
        return;
    }
    const char *const name = line->world != NULL ? espl_get_name(line->world, entity) : "";

    if (espl_entity_is_null(entity)) {
        tape_line_add(line, "null");
    } else if (entity.generation >> 31 != 0) {
        tape_line_add(line, "pending %u of lane %u", entity.index,
                      (entity.generation >> 23) & 0xffu);
    } else {
        // Isolates of Unicode, because a name may be written from right to left.
        tape_line_add(line, *name != '\0' ? "\xe2\x81\xa8%s\xe2\x81\xa9 " : "%s", name);
        tape_line_add(line, "%u.%u", entity.index, entity.generation);
    }
}

static void add_word_of(tape_line *line, uint32_t word, const char *const *words, uint32_t count)
{
    if (word < count) {
        tape_line_add(line, "%s", words[word]);
    } else {
        tape_line_add(line, "%u", word);
    }
}

static void add_floats(tape_line *line, const float *values, size_t count)
{
    tape_line_add(line, "(");
    for (size_t i = 0; i < count; ++i) {
        tape_line_add(line, i == 0 ? "%.6g" : " %.6g", (double)values[i]);
    }
    tape_line_add(line, ")");
}

static void read_floats(reel *r, tape_line *line, size_t count)
{
    float values[12] = {0};

    reel_floats(r, values, count);
    add_floats(line, values, count);
}

static void read_cell(reel *r, tape_line *line)
{
    uint32_t words[3];

    for (int i = 0; i < 3; ++i) {
        words[i] = reel_u32(r);
    }
    tape_line_add_cell(line, words);
}

/// The line for an item of a list; NULL from the first one on that is left out.
static tape_line *item_line(tape_line *line, uint64_t item)
{
    if (item > 0 && item < SHOWN) {
        tape_line_add(line, ", ");
    } else if (item == SHOWN) {
        tape_line_add(line, ", ...");
    }
    return item < SHOWN ? line : NULL;
}

// --- Fields ---

static void read_name(reel *r, tape_line *line)
{
    const size_t length = reel_length(r, 4, 1);
    const unsigned char *const bytes = reel_bytes(r, length);

    if (bytes != NULL) {
        tape_line_add(line, "\"%.*s\"", (int)(length < 255 ? length : 255), (const char *)bytes);
    }
}

static void read_words(reel *r, tape_line *line)
{
    const size_t count = reel_length(r, 4, 4);

    tape_line_add(line, "[");
    for (size_t i = 0; i < count; ++i) {
        const uint32_t word = reel_u32(r);

        tape_line_add(item_line(line, i), "%u", word);
    }
    tape_line_add(line, "]");
}

static void read_entities(reel *r, tape_line *line)
{
    const size_t count = reel_length(r, 8, 8);

    tape_line_add(line, "%zu [", count);
    for (size_t i = 0; i < count; ++i) {
        add_entity(item_line(line, i), reel_entity(r));
    }
    tape_line_add(line, "]");
}

static void read_pairs(reel *r, tape_line *line)
{
    const size_t count = reel_length(r, 8, 16);

    tape_line_add(line, "%zu [", count);
    for (size_t i = 0; i < count; ++i) {
        tape_line *const item = item_line(line, i);

        add_entity(item, reel_entity(r));
        tape_line_add(item, " under ");
        add_entity(item, reel_entity(r));
    }
    tape_line_add(line, "]");
}

static void read_value(reel *r, tape_line *line)
{
    const uint32_t component = reel_u32(r), size = reel_u32(r);

    tape_line_add(line, "component %u of %u bytes", component, size);
    if (reel_u32(r) == 0) {
        tape_line_add(line, ", zeros");
    } else {
        (void)reel_bytes(r, size);
    }
}

static void read_values(reel *r, tape_line *line)
{
    const size_t count = reel_length(r, 4, 12);

    tape_line_add(line, "[");
    for (size_t i = 0; i < count && r->state == REEL_GOOD; ++i) {
        read_value(r, item_line(line, i));
    }
    tape_line_add(line, "]");
}

static void read_fields(reel *r, tape_line *line)
{
    const size_t count = reel_length(r, 4, 16);

    tape_line_add(line, ", fields [");
    for (size_t i = 0; i < count && r->state == REEL_GOOD; ++i) {
        tape_line *const item = item_line(line, i);

        read_name(r, item);
        const uint32_t type = reel_u32(r), offset = reel_u32(r);

        tape_line_add(item, " of type %u at %u", type, offset);
        (void)reel_u32(r);
    }
    tape_line_add(line, "]");
}

static uint32_t unfold(uint32_t folded)
{
    return (folded >> 1) ^ ((folded & 1) != 0 ? UINT32_MAX : 0);
}

static void add_kind(tape_line *line, const write_head *head)
{
    char word[64];

    if (line != NULL) {
        add_entity(line, head->entity);
        tape_line_add(line, ": %s ", tape_write_word(head->kind, word, sizeof word));
    }
}

/// A write of a tape before REPLAY_WRITES_VERSION.
static void read_plain_write(reel *r, tape_line *line, write_head *head)
{
    head->entity = reel_entity(r);
    head->kind = reel_u32(r);
    add_kind(line, head);
    if (head->kind == ESPL_WRITE_USER_DATA) {
        tape_line_add(line, "%u", reel_u32(r));
    } else {
        read_floats(r, line, replay_value_words(head->kind));
    }
}

/// The value that the line was given, once.
static void add_value(tape_line *line, uint32_t kind, size_t words)
{
    float values[12] = {0};
    uint32_t data[3];
    double position[3];

    memcpy(values, line->value, 4 * words);
    memcpy(data, values, sizeof data);
    memcpy(position, values, sizeof position);
    line->value = NULL;
    if (kind == ESPL_WRITE_USER_DATA) {
        tape_line_add(line, "%u", data[0]);
    } else if (kind == ESPL_WRITE_CELL) {
        tape_line_add_cell(line, data);
    } else if (kind == ESPL_WRITE_ABSOLUTE_POSITION) {
        tape_line_add(line, "(%.17g %.17g %.17g)", position[0], position[1], position[2]);
    } else {
        add_floats(line, values, words);
    }
}

/// A write by its differences. Its value is a difference too, from a world that is not at hand here.
static void read_differences(reel *r, tape_line *line, write_head *head)
{
    static const unsigned char widths[4] = {0, 1, 3, 4};
    const uint64_t first = reel_varint(r);

    head->entity.index += unfold((uint32_t)(first >> 2));
    head->entity.generation += (first & 2) != 0 ? unfold((uint32_t)reel_varint(r)) : 0;
    head->kind = (first & 1) != 0 ? (uint32_t)reel_varint(r) : head->kind;
    const size_t words = replay_value_words(head->kind);
    const unsigned char *const sizes = reel_bytes(r, (words + 3) / 4);

    for (size_t i = 0; sizes != NULL && i < words; ++i) {
        (void)reel_bytes(r, widths[sizes[i / 4] >> (2 * (i % 4)) & 3]);
    }
    add_kind(line, head);
    if (line != NULL && line->value != NULL && words != 0) {
        add_value(line, head->kind, words);
    }
}

static void read_write(reel *r, const tape_head *tape, tape_line *line, write_head *head)
{
    if (tape->version < REPLAY_WRITES_VERSION) {
        read_plain_write(r, line, head);
    } else {
        read_differences(r, line, head);
    }
}

static write_head no_write(const tape_head *tape)
{
    return (write_head){.entity = {0, tape->tag << 24 | 1}, .kind = ESPL_WRITE_KIND_COUNT};
}

static espl_entity read_one_write(reel *r, const tape_head *tape, tape_line *line)
{
    write_head head = no_write(tape);

    read_write(r, tape, line, &head);
    return head.entity;
}

static espl_entity read_entity(reel *r, tape_line *line)
{
    const espl_entity entity = reel_entity(r);

    add_entity(line, entity);
    return entity;
}

static void read_writes(reel *r, const tape_head *tape, tape_line *line)
{
    const size_t count = reel_length(r, 8, tape->version < REPLAY_WRITES_VERSION ? 12 : 1);
    write_head head = no_write(tape);

    tape_line_add(line, "%zu [", count);
    for (size_t i = 0; i < count && r->state == REEL_GOOD; ++i) {
        read_write(r, tape, item_line(line, i), &head);
    }
    tape_line_add(line, "]");
}

static void read_column(reel *r, tape_line *line)
{
    const uint32_t size = reel_up_to(r, ESPL_COMPONENT_SIZE_LIMIT, "bytes of a value");
    const size_t count = reel_length(r, 8, 8 + size);

    tape_line_add(line, "%zu of %u bytes [", count, size);
    for (size_t i = 0; i < count; ++i) {
        add_entity(item_line(line, i), reel_entity(r));
    }
    tape_line_add(line, "]");
    (void)reel_bytes(r, count * size);
}

static uint32_t read_command(reel *r, tape_line *line)
{
    (void)reel_u32(r); // lane
    const uint32_t kind = (uint32_t)reel_number(r, 1);

    (void)reel_u32(r); // key
    const espl_entity target = reel_entity(r), parent = reel_entity(r);

    (void)reel_entity(r); // before
    const uint32_t count = reel_u32(r);

    (void)reel_bytes(r, 8); // rules
    (void)reel_bytes(r, reel_u32(r));
    const uint32_t values = reel_u32(r);

    for (uint32_t i = 0; i < values && r->state == REEL_GOOD; ++i) {
        (void)reel_u32(r);
        const uint32_t size = reel_u32(r);

        (void)reel_bytes(r, size == TAKEN ? 0 : size);
    }
    const bool is_known = kind < ESPL_TAPE_COMMAND_COUNT;

    tape_line_add(line, "%s ", is_known ? commands[kind].name : "?");
    add_entity(line, target);
    if (!espl_entity_is_null(parent)) {
        tape_line_add(line, " under ");
        add_entity(line, parent);
    }
    if (count > 1) {
        tape_line_add(line, " x %u", count);
    }
    return is_known ? commands[kind].marks : 0;
}

static uint32_t read_commands(reel *r, tape_line *line)
{
    const uint64_t count = reel_number(r, 8);
    uint32_t marks = 0;

    tape_line_add(line, "%llu [", (unsigned long long)count);
    for (uint64_t i = 0; i < count && r->state == REEL_GOOD; ++i) {
        marks |= read_command(r, item_line(line, i));
    }
    tape_line_add(line, "]");
    return marks;
}

static void read_bytes(reel *r, tape_line *line)
{
    const size_t size = reel_length(r, 8, 1);

    tape_line_add(line, "%zu bytes", size);
    (void)reel_bytes(r, size);
}

static void read_version(reel *r, const tape_head *tape, tape_line *line)
{
    if (tape->version >= REPLAY_FIELDS_VERSION) {
        const uint32_t number = reel_u32(r), flags = reel_u32(r);

        tape_line_add(line, "%u, flags %u", number, flags);
        read_fields(r, line);
    } else {
        tape_line_add(line, "none");
    }
}

/// A word that has a name.
static void read_word(reel *r, field_form form, tape_line *line)
{
    static const char *const extents[] = {"owned", "entity", "subtree"};
    static const char *const keeps[] = {"keep world", "keep local", "snap"};
    static const char *const links[] = {"owned", "free"};
    const uint64_t number = reel_number(r, form == FORM_U64 ? 8 : 4);
    const uint32_t word = (uint32_t)number;

    if (form == FORM_EXTENT) {
        add_word_of(line, word, extents, 3);
    } else if (form == FORM_KEEP) {
        add_word_of(line, word, keeps, 3);
    } else if (form == FORM_LINK) {
        add_word_of(line, word, links, 2);
    } else {
        tape_line_add(line, "%llu", (unsigned long long)number);
    }
}

// Tapes of earlier versions have both hashes.
static void read_frame(reel *r, const tape_head *tape, tape_line *line)
{
    if (tape->version < REPLAY_FRAMES_VERSION) {
        tape_line_add(line, "logical %016llx, ", (unsigned long long)reel_number(r, 8));
        tape_line_add(line, "physical %016llx", (unsigned long long)reel_number(r, 8));
        return;
    }
    tape_line_add(line, "%s ",
                  reel_up_to(r, 1, "for a checksum or a hash") == 0 ? "checksum" : "logical");
    tape_line_add(line, "%016llx", (unsigned long long)reel_number(r, 8));
}

static void read_field(reel *r, const tape_head *tape, field_form form, tape_line *line,
                       taped_record *record)
{
    espl_entity entity = espl_entity_null();

    switch (form) {
    case FORM_ENTITY:
        entity = read_entity(r, line);
        break;
    case FORM_FRAME:
        read_frame(r, tape, line);
        break;
    case FORM_OPTIONAL_VECTOR:
        read_floats(r, line, reel_u32(r) != 0 ? 3 : 0);
        break;
    case FORM_VECTOR:
    case FORM_ROTATION:
        read_floats(r, line, form == FORM_VECTOR ? 3 : 4);
        break;
    case FORM_CELL:
        read_cell(r, line);
        break;
    case FORM_FLOAT:
        read_floats(r, line, 1);
        break;
    case FORM_NAME:
        read_name(r, line);
        break;
    case FORM_WORDS:
        read_words(r, line);
        break;
    case FORM_ENTITIES:
        read_entities(r, line);
        break;
    case FORM_PAIRS:
        read_pairs(r, line);
        break;
    case FORM_VALUE:
        read_value(r, line);
        break;
    case FORM_VALUES:
        read_values(r, line);
        break;
    case FORM_BYTES:
        read_bytes(r, line);
        break;
    case FORM_VERSION:
        read_version(r, tape, line);
        break;
    case FORM_WRITE:
        entity = read_one_write(r, tape, line);
        break;
    case FORM_WRITES:
        read_writes(r, tape, line);
        break;
    case FORM_COLUMN:
        read_column(r, line);
        break;
    case FORM_COMMAND:
        record->marks |= read_command(r, line);
        break;
    case FORM_COMMANDS:
        record->marks |= read_commands(r, line);
        break;
    default:
        read_word(r, form, line);
        break;
    }
    record->entity = espl_entity_is_null(record->entity) ? entity : record->entity;
}

const char *tape_text_name(uint32_t op)
{
    return op < ESPL_TAPE_OP_COUNT && calls[op].name != NULL ? calls[op].name : "";
}

taped_record tape_text_read(reel *r, const tape_head *tape, tape_line *line)
{
    reel_next(r);
    taped_record record = {.op = (uint32_t)reel_number(r, 1)};

    if (*tape_text_name(record.op) == '\0') {
        reel_blame(r, "no record begins with %u", record.op);
        return record;
    }
    const record_call *const call = &calls[record.op];

    record.marks = call->marks;
    tape_line_add(line, "%s", call->name);
    for (size_t i = 0; i < FIELD_LIMIT && call->fields[i].form != FORM_END; ++i) {
        tape_line_add(line, i == 0 ? " " : ", ");
        tape_line_add(line, "%s%s", call->fields[i].name, *call->fields[i].name != '\0' ? " " : "");
        read_field(r, tape, call->fields[i].form, line, &record);
    }
    if (r->state == REEL_GOOD && reel_left(r) == 0) {
        record.is_cut = true;
        return record;
    }
    const int answer = (int)reel_number(r, 1);

    record.status = (espl_status)(answer < 0x80 ? answer : answer - 0x100);
    return record;
}
