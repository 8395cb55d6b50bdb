// SPDX-License-Identifier: MIT
// The commands pack and unpack: what a file holds as a packed archive, and the bytes that were packed.
#include "tools/commands.h"

#include "tools/packing.h"
#include "tools/value.h"

#include <stdio.h>

static int end_command(const char *path, bool is_good, const tool_fault *fault)
{
    if (!is_good) {
        (void)fprintf(stderr, "espalier: %s: %s\n", path, fault->text);
    }
    return is_good ? EXIT_AGREED : EXIT_BAD_SCENE;
}

static bool save(const tool_contents *contents, const char *path, tool_fault *fault)
{
    tool_fault why = {""};
    const bool is_good = contents_save(contents, path, &why);

    if (!is_good) {
        fault_say(fault, "not written to %s: %s", path, why.text);
    }
    return is_good;
}

static void say_sizes(const tool_options *options, size_t from, size_t to)
{
    if (!options->is_quiet) {
        (void)printf("%s: %zu bytes, from %zu\n", options->output, to, from);
    }
}

// An archive is packed as it is, so that unpacking gives its bytes; all else becomes one.
static bool pack_value(const tool_options *options, const tool_value *value, tool_fault *fault)
{
    const bool is_archive = value->kind == CONTENTS_ARCHIVE;
    tool_contents written = {0}, packed = {0};
    const tool_contents *const archive = is_archive ? &value->contents : &written;
    const bool is_good = (is_archive || value_archive(value, &written, fault)) &&
                         packing_pack(&packed, archive, options->level, fault) &&
                         save(&packed, options->output, fault);

    if (is_good) {
        say_sizes(options, archive->size, packed.size);
    }
    contents_release(&written);
    contents_release(&packed);
    return is_good;
}

int run_pack(const tool_options *options)
{
    const char *const path = options->scenes[0];
    const value_def def = {.frames = options->frames, .animation = options->animation};
    tool_fault fault = {""};
    tool_value value;

    if (!value_open(&value, path, &def, &fault)) {
        return end_command(path, false, &fault);
    }
    if (value.note.text[0] != '\0') {
        (void)fprintf(stderr, "espalier: %s: note: %s\n", path, value.note.text);
    }
    const bool is_good = pack_value(options, &value, &fault);

    value_close(&value);
    return end_command(path, is_good, &fault);
}

// What is unpacked is checked: a file that cannot be read is not written.
static bool unpack(const tool_options *options, const char *path, tool_fault *fault)
{
    tool_contents contents;
    tool_value value;

    if (!contents_load(&contents, path, fault)) {
        return false;
    }
    if (!value_take(&value, &contents, path, NULL, fault)) {
        return false;
    }
    const bool is_packed = value.contents.packed_size != 0;
    const bool is_good = is_packed && save(&value.contents, options->output, fault);

    if (!is_packed) {
        fault_say(fault, "%s that is not packed", contents_kind_name(value.kind));
    }
    if (is_good) {
        say_sizes(options, value.contents.packed_size, value.contents.size);
    }
    value_close(&value);
    return is_good;
}

int run_unpack(const tool_options *options)
{
    tool_fault fault = {""};
    const char *const path = options->scenes[0];

    return end_command(path, unpack(options, path, &fault), &fault);
}
