// SPDX-License-Identifier: MIT
// An archive in a world of its own, with the components that it has. What the archive says of itself is
// believed in nothing: the library checks it when it reads it.
#include "tools/archive_file.h"

#include "tools/value.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD = 64, ENTRY = 40, COUNT_AT = 24, FLAGS_AT = 32, FLAG_BIG_ENDIAN = 1 };

// --- The table ---

static uint64_t number_at(const tool_contents *archive, size_t at, unsigned size)
{
    tool_fault fault;
    reel r = {.bytes = archive->bytes + at, .size = size, .fault = &fault};

    return reel_number(&r, size);
}

uint32_t archive_section_count(const tool_contents *archive)
{
    return (uint32_t)number_at(archive, COUNT_AT, 4);
}

archive_section archive_section_at(const tool_contents *archive, uint32_t number)
{
    const size_t at = HEAD + (size_t)number * ENTRY;
    archive_section section = {.bytes = archive->bytes + number_at(archive, at + 8, 8),
                               .size = (size_t)number_at(archive, at + 16, 8)};

    memcpy(section.letters, archive->bytes + at, 4);
    for (int i = 0; i < 4; ++i) {
        const char c = section.letters[i];

        section.letters[i] = (char)(c > ' ' && c <= '~' ? c : '?');
    }
    return section;
}

archive_section archive_find_section(const tool_contents *archive, const char *letters)
{
    const uint32_t count = archive_section_count(archive);

    for (uint32_t i = 0; i < count; ++i) {
        const archive_section section = archive_section_at(archive, i);

        if (strcmp(section.letters, letters) == 0) {
            return section;
        }
    }
    return (archive_section){.letters = ""};
}

bool archive_is_native(const tool_contents *archive)
{
    const uint16_t one = 1;
    unsigned char first;

    memcpy(&first, &one, sizeof first);
    return ((number_at(archive, FLAGS_AT, 4) & FLAG_BIG_ENDIAN) != 0) == (first == 0);
}

// --- Components ---

// A component of the section COMP. Its lists are those of the reel.
typedef struct listed {
    char name[ESPL_NAME_LIMIT + 1];
    espl_component_def def;
} listed;

// @param out  [ESPL_NAME_LIMIT + 1]
static void read_text(reel *r, char *out)
{
    const size_t length = (size_t)reel_number(r, 1);
    const unsigned char *const bytes = reel_bytes(r, length);

    if (bytes != NULL) {
        memcpy(out, bytes, length);
    }
    out[bytes != NULL ? length : 0] = '\0';
}

static void read_fields(reel *r, espl_component_def *def)
{
    def->field_count = reel_up_to(r, ESPL_FIELD_LIMIT, "fields");
    espl_component_field *const fields = reel_list(r, def->field_count, sizeof *fields);
    char *const names = reel_list(r, def->field_count, ESPL_NAME_LIMIT + 1);

    for (size_t i = 0; fields != NULL && names != NULL && i < def->field_count; ++i) {
        char *const name = names + i * (ESPL_NAME_LIMIT + 1);

        read_text(r, name);
        fields[i].name = name;
        fields[i].type = (espl_field_type)reel_number(r, 1);
        fields[i].offset = reel_u32(r);
        fields[i].count = reel_u32(r);
    }
    def->fields = fields;
}

static void read_component(reel *r, listed *out)
{
    espl_component_def *const def = &out->def;

    *out = (listed){.def = {.name = out->name}};
    read_text(r, out->name);
    def->version = reel_u32(r);
    def->size = reel_u32(r);
    def->alignment = reel_u32(r);
    def->flags = reel_u32(r);
    def->reference_count = reel_up_to(r, ESPL_REFERENCE_LIMIT, "references");
    uint32_t *const references = reel_list(r, def->reference_count, sizeof *references);

    reel_words(r, references, references == NULL ? 0 : def->reference_count);
    def->references = references;
    read_fields(r, def);
}

// What an archive is read with.
typedef struct reading {
    tool_value *value;
    espl_archive_migration *left_out; // components whose values this machine cannot read
    char (*names)[ESPL_NAME_LIMIT + 1];
    size_t left_out_count;
} reading;

static espl_status register_listed(reading *in, const listed *component)
{
    const espl_component_def *const def = &component->def;
    espl_component number = espl_component_find(in->value->world, def->name);

    if (number != 0) {
        return ESPL_OK; // one of the library
    }
    if (def->size != 0 && def->field_count == 0 && !archive_is_native(&in->value->contents)) {
        char *const name = in->names[in->left_out_count];

        memcpy(name, component->name, sizeof component->name);
        in->left_out[in->left_out_count++] = (espl_archive_migration){.name = name};
        return ESPL_OK;
    }
    return espl_component_register(in->value->world, def, &number);
}

// Register the components that the archive has. What cannot be is left to the library, which says why.
static espl_status register_all(reading *in)
{
    const archive_section section = archive_find_section(&in->value->contents, "COMP");
    tool_fault fault;
    reel r = {.bytes = section.bytes, .size = section.size, .fault = &fault};
    const uint32_t count =
        section.size == 0 ? 0 : reel_up_to(&r, ESPL_COMPONENT_LIMIT, "components");
    listed component;
    espl_status status = ESPL_OK;

    in->left_out = calloc(count + 1, sizeof *in->left_out);
    in->names = calloc(count + 1, sizeof *in->names);
    if (in->left_out == NULL || in->names == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < count && !espl_failed(status); ++i) {
        read_component(&r, &component);
        status = r.state == REEL_GOOD ? register_listed(in, &component) : ESPL_ERR_FORMAT;
        reel_next(&r);
    }
    return status;
}

static void note_left_out(const reading *in, tool_fault *note)
{
    if (in->left_out_count != 0) {
        fault_say(
            note,
            "the values of %zu component%s, the first of which is '%s', are left out: they have "
            "the other order of bytes and no fields",
            in->left_out_count, in->left_out_count == 1 ? "" : "s", in->names[0]);
    }
}

static bool read_in(reading *in, tool_fault *fault)
{
    tool_value *const value = in->value;
    const espl_status registered = register_all(in);
    espl_format_fault why = {0};
    const espl_archive_read_def def = {.flags = ESPL_ARCHIVE_SKIP_UNKNOWN,
                                       .migrations = in->left_out,
                                       .migration_count = in->left_out_count,
                                       .tops = value->tops,
                                       .top_capacity = value->top_count};
    const espl_status status =
        espl_archive_read(value->world, value->contents.bytes, value->contents.size, &def, &why);

    if (espl_failed(status)) {
        return value_refuse(fault, status, &why);
    }
    if (espl_failed(registered)) {
        fault_say(fault, "its components cannot be registered: %s", espl_status_name(registered));
        return false;
    }
    note_left_out(in, &value->note);
    return true;
}

// The bits of the size of cells, with which the section of cells begins; 0 where the archive has none.
static uint32_t cell_size_bits(const tool_contents *archive)
{
    const archive_section cells = archive_find_section(archive, "Cell");

    return cells.size < 4 ? 0
                          : (uint32_t)number_at(archive, (size_t)(cells.bytes - archive->bytes), 4);
}

bool value_read_archive(tool_value *value, tool_fault *fault)
{
    reading in = {.value = value};
    espl_format_fault why = {0};
    espl_status status =
        espl_archive_inspect(value->contents.bytes, value->contents.size, &value->info, &why);

    if (espl_failed(status)) {
        return value_refuse(fault, status, &why);
    }
    value->top_count = value->info.tops;
    value->tops = calloc(value->top_count + 1, sizeof *value->tops);
    status = value->tops == NULL ? ESPL_ERR_NO_MEMORY
                                 : value_make_world(value, 1, cell_size_bits(&value->contents));
    const bool is_good =
        espl_failed(status) ? value_refuse(fault, status, &why) : read_in(&in, fault);

    free(in.left_out);
    free(in.names);
    return is_good;
}
