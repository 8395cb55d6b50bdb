// SPDX-License-Identifier: MIT
// The command info: what an archive, an image or a tape has.
#include "tools/commands.h"

#include "tools/archive_file.h"
#include "tools/outline.h"

#include <espalier/far.h>

#include <stdio.h>

enum { TAPE_VERSION_AT = 8, TAPE_TAG_AT = 12 };

// --- Heads ---

static uint32_t u32_at(const tool_contents *contents, size_t at)
{
    const unsigned char *const b = contents->bytes + at;

    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static void print_writer(uint32_t version)
{
    (void)printf("written by espalier %u.%u.%u", version / 1000000, version / 1000 % 1000,
                 version % 1000);
}

static void print_head(const tool_value *value)
{
    (void)printf("%s: ", value->path);
    switch (value->kind) {
    case CONTENTS_ARCHIVE:
        (void)printf("an archive of format %u.%u, ", value->info.major, value->info.minor);
        print_writer(value->info.writer);
        (void)puts(archive_is_native(&value->contents) ? "" : ", in the other order of bytes");
        break;
    case CONTENTS_IMAGE:
        (void)printf("an image of the layout %016llx\n", (unsigned long long)espl_image_layout());
        break;
    default:
        (void)printf("a tape of version %u, of a world with the tag %u\n",
                     u32_at(&value->contents, TAPE_VERSION_AT),
                     u32_at(&value->contents, TAPE_TAG_AT));
        (void)printf("  %llu calls, %llu frames%s\n", (unsigned long long)value->played.calls,
                     (unsigned long long)value->played.frames,
                     value->replay->reel.state == REEL_SHORT ? "; it ends within a call" : "");
        break;
    }
}

// --- Nodes ---

static void print_counted(size_t count, const char *one, const char *more)
{
    (void)printf("%zu %s", count, count == 1 ? one : more);
}

static void print_nodes(const tool_value *value, const tool_outline *outline)
{
    (void)printf("  ");
    print_counted(outline->count, "node", "nodes");
    (void)printf(", %zu at the top, depth %u, %zu with a name", value->top_count, outline->depth,
                 outline->named);
    (void)puts(value->kind == CONTENTS_TAPE ? ", at its end" : "");
}

// Cells and counterparts, where the world has them.
static void print_places(const tool_value *value)
{
    const float cell_size = espl_get_cell_size(value->world);
    espl_world_stats stats;
    size_t away = 0;

    for (size_t i = 0; i < value->top_count; ++i) {
        int32_t cell[3] = {0, 0, 0};

        (void)espl_read_one(value->world, value->tops[i], ESPL_READ_CELL, cell);
        away += (cell[0] | cell[1] | cell[2]) != 0;
    }
    if (cell_size != 0) {
        (void)printf("  cells of %.9g, ", (double)cell_size);
        print_counted(away, "node", "nodes");
        (void)puts(" at the top in others than 0 0 0");
    }
    espl_stats(value->world, &stats);
    if (stats.counterparts != 0) {
        (void)printf("  ");
        print_counted(stats.counterparts, "counterpart", "counterparts");
        (void)puts(" of entities of other worlds");
    }
}

static void print_sizes(const tool_value *value, size_t nodes)
{
    const tool_contents *const c = &value->contents;

    (void)printf("  %zu bytes", c->size);
    if (nodes != 0 && value->kind != CONTENTS_TAPE) {
        (void)printf(", %.1f a node", (double)c->size / (double)nodes);
    }
    if (c->packed_size != 0) {
        (void)printf("; packed %zu, which is %.1f %% of it", c->packed_size,
                     100 * (double)c->packed_size / (double)c->size);
        if (nodes != 0 && value->kind != CONTENTS_TAPE) {
            (void)printf(" and %.1f a node", (double)c->packed_size / (double)nodes);
        }
    }
    (void)putchar('\n');
}

// --- Components ---

static size_t count_entities(const espl_world *world, espl_component component)
{
    const espl_query_def def = {
        .all = &component, .all_count = 1, .include = ESPL_INCLUDE_DISABLED | ESPL_INCLUDE_PREFABS};
    espl_query query;
    size_t count = 0;

    if (!espl_failed(espl_query_begin_read(world, &def, &query))) {
        while (espl_query_next(&query)) {
            count += query.count;
        }
    }
    return count;
}

static void print_component(const espl_component_def *def, size_t entities)
{
    (void)printf("    %-16s  version %u, ", def->name, def->version);
    if (def->size == 0) {
        (void)printf("no value");
    } else {
        print_counted(def->size, "byte", "bytes");
    }
    if (def->field_count != 0) {
        (void)printf(", ");
        print_counted(def->field_count, "field", "fields");
    }
    if (def->reference_count != 0) {
        (void)printf(", ");
        print_counted(def->reference_count, "reference", "references");
    }
    (void)printf("%s%s: ", def->flags & ESPL_COMPONENT_TRANSIENT ? ", transient" : "",
                 def->flags & ESPL_COMPONENT_UNIQUE ? ", unique" : "");
    print_counted(entities, "entity", "entities");
    (void)putchar('\n');
}

static void print_components(const espl_world *world)
{
    const uint32_t count = espl_component_count(world);
    bool is_begun = false;

    for (espl_component i = 1; i <= count; ++i) {
        const bool is_role = i == ESPL_SOLO || i == ESPL_ROOT || i == ESPL_MEMBER;
        const size_t entities = is_role ? 0 : count_entities(world, i);
        espl_component_def def;

        if ((entities == 0 && i <= ESPL_DISABLED) ||
            espl_failed(espl_component_info(world, i, &def))) {
            continue;
        }
        (void)printf("%s", is_begun ? "" : "  components\n");
        is_begun = true;
        print_component(&def, entities);
    }
}

static void print_sections(const tool_contents *archive)
{
    const uint32_t count = archive_section_count(archive);

    (void)puts("  sections");
    for (uint32_t i = 0; i < count; ++i) {
        const archive_section section = archive_section_at(archive, i);

        (void)printf("    %s  ", section.letters);
        print_counted(section.size, "byte", "bytes");
        (void)putchar('\n');
    }
}

// --- Files ---

static bool print_value(const tool_value *value, tool_fault *fault)
{
    tool_outline outline;

    if (!outline_make(&outline, value)) {
        fault_say(fault, "no memory");
        return false;
    }
    print_head(value);
    print_nodes(value, &outline);
    print_places(value);
    print_sizes(value, outline.count);
    if (value->note.text[0] != '\0') {
        (void)printf("  note: %s\n", value->note.text);
    }
    print_components(value->world);
    if (value->kind == CONTENTS_ARCHIVE) {
        print_sections(&value->contents);
    }
    outline_release(&outline);
    return true;
}

static bool print_file(const char *path, tool_fault *fault)
{
    tool_contents contents;
    tool_value value;

    if (!contents_load(&contents, path, fault) ||
        !value_take(&value, &contents, path, NULL, fault)) {
        return false;
    }
    const bool is_good = print_value(&value, fault);

    value_close(&value);
    return is_good;
}

int run_info(const tool_options *options)
{
    int status = EXIT_AGREED;

    for (size_t i = 0; i < options->scene_count; ++i) {
        tool_fault fault = {""};

        if (!print_file(options->scenes[i], &fault)) {
            (void)fprintf(stderr, "espalier: %s: %s\n", options->scenes[i], fault.text);
            status = EXIT_BAD_SCENE;
        }
    }
    return status;
}
