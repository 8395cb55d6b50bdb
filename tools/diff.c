// SPDX-License-Identifier: MIT
// The command diff.
#include "tools/diff.h"

#include "tools/commands.h"
#include "tools/page.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void print_line(const tool_diff *diff, const char *line)
{
    if (diff->count == 1) {
        (void)printf("A is %s, B is %s\n", diff->paths[0], diff->paths[1]);
    }
    (void)puts(line);
}

void diff_say(tool_diff *diff, const char *format, ...)
{
    char text[4096];
    va_list arguments;

    diff->count += 1;
    if (diff->is_quiet) {
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *c = text; *c != '\0'; ++c) {
        *c = (char)((unsigned char)*c < ' ' || *c == 0x7f ? ' ' : *c); // one line
    }
    if (diff->take != NULL) {
        diff->take(diff->user, text);
    } else {
        print_line(diff, text);
    }
}

// --- Values as text ---

const char *diff_floats(const void *floats, size_t count, char out[DIFF_TEXT])
{
    size_t at = 0;

    out[0] = '\0';
    for (size_t i = 0; i < count && at < DIFF_TEXT - 16; ++i) {
        float value;

        memcpy(&value, (const unsigned char *)floats + i * sizeof value, sizeof value);
        at +=
            (size_t)snprintf(out + at, DIFF_TEXT - at, "%s%.9g", i == 0 ? "" : " ", (double)value);
    }
    return out;
}

const char *diff_element(espl_field_type type, const unsigned char *bytes, char out[DIFF_TEXT])
{
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    double f64;

    memcpy(&u8, bytes, sizeof u8);
    switch (type) {
    case ESPL_FIELD_I8:
        (void)snprintf(out, DIFF_TEXT, "%d", (int)(int8_t)u8);
        break;
    case ESPL_FIELD_U8:
        (void)snprintf(out, DIFF_TEXT, "%u", u8);
        break;
    case ESPL_FIELD_I16:
    case ESPL_FIELD_U16:
        memcpy(&u16, bytes, sizeof u16);
        (void)snprintf(out, DIFF_TEXT, "%d", type == ESPL_FIELD_I16 ? (int)(int16_t)u16 : (int)u16);
        break;
    case ESPL_FIELD_I32:
    case ESPL_FIELD_U32:
        memcpy(&u32, bytes, sizeof u32);
        (void)snprintf(out, DIFF_TEXT, "%" PRId64,
                       type == ESPL_FIELD_I32 ? (int64_t)(int32_t)u32 : (int64_t)u32);
        break;
    case ESPL_FIELD_I64:
        memcpy(&u64, bytes, sizeof u64);
        (void)snprintf(out, DIFF_TEXT, "%" PRId64, (int64_t)u64);
        break;
    case ESPL_FIELD_U64:
        memcpy(&u64, bytes, sizeof u64);
        (void)snprintf(out, DIFF_TEXT, "%" PRIu64, u64);
        break;
    case ESPL_FIELD_F32:
        return diff_floats(bytes, 1, out);
    case ESPL_FIELD_F64:
        memcpy(&f64, bytes, sizeof f64);
        (void)snprintf(out, DIFF_TEXT, "%.17g", f64);
        break;
    case ESPL_FIELD_BOOL:
        (void)snprintf(out, DIFF_TEXT, u8 <= 1 ? u8 ? "true" : "false" : "0x%02x", u8);
        break;
    default:
        (void)snprintf(out, DIFF_TEXT, "0x%02x", u8);
        break;
    }
    return out;
}

// --- Parts of components ---

const espl_component_field *diff_field(const espl_component_def *def, uint32_t byte,
                                       uint32_t *element, size_t *size)
{
    static const uint8_t sizes[ESPL_FIELD_TYPE_COUNT] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 1, 8};

    for (size_t i = 0; i < def->field_count; ++i) {
        const espl_component_field *const field = &def->fields[i];

        *size = sizes[field->type];
        if (byte >= field->offset && byte - field->offset < field->count * *size) {
            *element = (byte - field->offset) / (uint32_t)*size;
            return field;
        }
    }
    return NULL;
}

const char *diff_part(const espl_component_def *def, uint32_t byte, char out[DIFF_PATH])
{
    uint32_t element = 0;
    size_t size = 0;
    const espl_component_field *const field = diff_field(def, byte, &element, &size);

    if (field == NULL) {
        (void)snprintf(out, DIFF_PATH, "%s, byte %u,", def->name, byte);
    } else if (field->count > 1) {
        (void)snprintf(out, DIFF_PATH, "%s.%s[%u]", def->name, field->name, element);
    } else {
        (void)snprintf(out, DIFF_PATH, "%s.%s", def->name, field->name);
    }
    return out;
}

// --- The command ---

static diff_verdict fail(const char *path, const tool_fault *fault)
{
    (void)fprintf(stderr, "espalier: %s: %s\n", path, fault->text);
    return DIFF_TROUBLE;
}

// A comparison whose lines are printed and kept.
typedef struct kept_lines {
    tool_diff *diff;
    bool is_quiet;
    page_text text;
} kept_lines;

static void keep_line(void *user, const char *line)
{
    kept_lines *const kept = user;

    if (!kept->is_quiet) {
        print_line(kept->diff, line);
    }
    page_text_add(&kept->text, line, strlen(line));
    page_text_add(&kept->text, "\n", 1);
}

// Write the page of both tapes, which opens where they part.
static bool write_page(const tool_diff *diff, const tool_options *options, const tool_contents c[2],
                       const char *note, tool_fault *fault)
{
    tool_contents page = {0};
    page_text text = {0};
    bool is_good = page_load(&page, options->program, fault);

    for (int i = 0; i < 2 && is_good; ++i) {
        const page_place place = {.frame = diff->place.frame,
                                  .call = diff->place.call,
                                  .entity = diff->place.entities[i],
                                  .note = note};
        const char *const label = page_label(diff->paths[i]);
        char name[DIFF_PATH];

        (void)snprintf(name, sizeof name, "%c: %s", "AB"[i], label);
        is_good =
            page_add_tape(&text, &(page_tape){.name = name, .tape = &c[i], .place = &place}, fault);
    }
    is_good = is_good && page_write(options->output, &page, &text, fault);
    contents_release(&page);
    contents_release(&text.contents);
    return is_good;
}

static diff_verdict compare_tapes(const tool_diff *asked, const tool_options *options,
                                  tool_contents c[2])
{
    tool_diff diff = *asked;
    kept_lines kept = {.diff = &diff, .is_quiet = options->is_quiet};
    tool_fault fault = {""};
    int side = 0;

    if (options->output != NULL) {
        diff.take = keep_line;
        diff.user = &kept;
        diff.is_quiet = false;
    }
    const diff_verdict verdict = diff_tapes(&diff, &c[0], &c[1], &side, &fault);

    page_text_add(&kept.text, "", 1);
    if (verdict == DIFF_TROUBLE) {
        (void)fail(diff.paths[side], &fault);
    } else if (verdict == DIFF_DIFFERENT && options->output != NULL) {
        const char *const note = kept.text.has_failed ? "" : (const char *)kept.text.contents.bytes;

        if (!write_page(&diff, options, c, note, &fault)) {
            (void)fprintf(stderr, "espalier: %s\n", fault.text);
            contents_release(&kept.text.contents);
            return DIFF_TROUBLE;
        }
    }
    contents_release(&kept.text.contents);
    return verdict;
}

void diff_cell_sizes(tool_diff *diff, const espl_world *const worlds[2], bool has_archive)
{
    const float a = espl_get_cell_size(worlds[0]), b = espl_get_cell_size(worlds[1]);

    if (a != b && !(has_archive && (a == 0 || b == 0))) {
        diff_say(diff, "the size of cells is %.9g in A and %.9g in B", (double)a, (double)b);
    }
}

void diff_places(tool_diff *diff, const char *path, const espl_world *const worlds[2],
                 const espl_entity entities[2], bool has_originals)
{
    espl_entity originals[2];
    int32_t cells[2][3] = {{0}};
    bool is_top = true;

    for (int side = 0; side < 2; ++side) {
        is_top = is_top && espl_entity_is_null(espl_get_parent(worlds[side], entities[side]));
        // A world without cells leaves it as it is: 0 0 0.
        (void)espl_read_one(worlds[side], entities[side], ESPL_READ_CELL, cells[side]);
        originals[side] = espl_get_original(worlds[side], entities[side]);
    }
    if (is_top && memcmp(cells[0], cells[1], sizeof cells[0]) != 0) {
        diff_say(diff, "%s: the cell is %d %d %d in A and %d %d %d in B", path, cells[0][0],
                 cells[0][1], cells[0][2], cells[1][0], cells[1][1], cells[1][2]);
    }
    if (has_originals && !espl_entity_equal(originals[0], originals[1])) {
        diff_say(diff, "%s: the original is %u.%u in A and %u.%u in B", path, originals[0].index,
                 originals[0].generation, originals[1].index, originals[1].generation);
    }
}

static diff_verdict compare_worlds(tool_diff *diff)
{
    tool_value values[2] = {{0}};
    tool_fault fault = {""};
    diff_verdict verdict = DIFF_EQUAL;

    for (int i = 0; i < 2 && verdict == DIFF_EQUAL; ++i) {
        if (!value_open(&values[i], diff->paths[i], NULL, &fault)) {
            verdict = fail(diff->paths[i], &fault);
        } else if (values[i].note.text[0] != '\0') {
            (void)fprintf(stderr, "espalier: %s: note: %s\n", diff->paths[i], values[i].note.text);
        }
    }
    if (verdict == DIFF_EQUAL) {
        verdict = diff_values(diff, &values[0], &values[1], &fault);
        verdict = verdict == DIFF_TROUBLE ? fail(diff->paths[0], &fault) : verdict;
    }
    value_close(&values[0]);
    value_close(&values[1]);
    return verdict;
}

// Load both files, if they are no scenes, to tell what they are. @return the verdict on them.
static diff_verdict compare_files(tool_diff *diff, const tool_options *options)
{
    tool_contents c[2] = {{0}};
    tool_fault fault = {""};
    contents_kind kinds[2] = {CONTENTS_OTHER, CONTENTS_OTHER};
    diff_verdict verdict = DIFF_EQUAL;

    for (int i = 0; i < 2 && verdict == DIFF_EQUAL; ++i) {
        if (!contents_is_value(diff->paths[i])) {
            continue;
        }
        if (!contents_load(&c[i], diff->paths[i], &fault)) {
            verdict = fail(diff->paths[i], &fault);
        } else {
            kinds[i] = contents_kind_of(&c[i]);
        }
    }
    const bool are_tapes = kinds[0] == CONTENTS_TAPE && kinds[1] == CONTENTS_TAPE;
    const bool is_one_tape = !are_tapes && (kinds[0] == CONTENTS_TAPE || kinds[1] == CONTENTS_TAPE);

    if (verdict == DIFF_EQUAL && are_tapes) {
        verdict = compare_tapes(diff, options, c);
    } else if (verdict == DIFF_EQUAL && (is_one_tape || options->output != NULL)) {
        const int other = kinds[0] == CONTENTS_TAPE;

        // A file that cannot be read is no tape either, and that is the better reason.
        if (c[other].bytes != NULL || contents_load(&c[other], diff->paths[other], &fault)) {
            fault_say(&fault,
                      options->output != NULL
                          ? "no tape of Espalier: --output writes a page of two tapes"
                          : "no tape of Espalier, and a tape is compared with a tape alone: pack "
                            "writes the state of a tape");
        }
        verdict = fail(diff->paths[other], &fault);
    }
    contents_release(&c[0]);
    contents_release(&c[1]);
    return verdict == DIFF_EQUAL && !are_tapes ? compare_worlds(diff) : verdict;
}

int run_diff(const tool_options *options)
{
    static const int statuses[] = {[DIFF_EQUAL] = EXIT_AGREED,
                                   [DIFF_DIFFERENT] = EXIT_DISAGREED,
                                   [DIFF_TROUBLE] = EXIT_BAD_SCENE};
    tool_diff diff = {.paths = {options->scenes[0], options->scenes[1]},
                      .is_quiet = options->is_quiet};

    return statuses[compare_files(&diff, options)];
}
