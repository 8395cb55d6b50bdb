// SPDX-License-Identifier: MIT
// An image in a world of its own, with the components that it has. The table of components is that of
// lib/value/image.h; an image of another layout is refused before it is read.
#include "tools/value.h"

#include <string.h>

enum { LAYOUT_AT = 8, TAG_AT = 32, COMPONENTS_AT = 36, CELL_SIZE_AT = 124, HEAD = 128, PIECE = 8 };

// The next bytes of a table, of which each piece is filled up to a multiple of 8.
static const unsigned char *take(const tool_contents *image, size_t *at, size_t size)
{
    const size_t room = (size + PIECE - 1) / PIECE * PIECE;
    const unsigned char *const from = image->bytes + *at;

    if (size > image->size || room > image->size - *at) {
        return NULL;
    }
    *at += room;
    return from;
}

// Register one component, as its entry says. @return false: it cannot be.
static bool register_next(espl_world *world, const tool_contents *image, size_t *at, bool is_known)
{
    uint32_t entry[6]; // size, alignment, references, bytes of the name, version, flags
    uint32_t references[ESPL_REFERENCE_LIMIT];
    char name[ESPL_NAME_LIMIT + 1] = "";
    const unsigned char *bytes = take(image, at, sizeof entry);
    espl_component number;

    if (bytes == NULL) {
        return false;
    }
    memcpy(entry, bytes, sizeof entry);
    if (entry[2] > ESPL_REFERENCE_LIMIT || entry[3] > ESPL_NAME_LIMIT) {
        return false;
    }
    const unsigned char *const offsets = take(image, at, entry[2] * sizeof *references);

    bytes = take(image, at, entry[3]);
    if (offsets == NULL || bytes == NULL) {
        return false;
    }
    memcpy(references, offsets, entry[2] * sizeof *references);
    memcpy(name, bytes, entry[3]);
    const espl_component_def def = {.name = name,
                                    .size = entry[0],
                                    .alignment = entry[1],
                                    .references = references,
                                    .reference_count = entry[2],
                                    .version = entry[4],
                                    .flags = entry[5]};

    return is_known || !espl_failed(espl_component_register(world, &def, &number));
}

static uint32_t u32_at(const tool_contents *image, size_t at)
{
    uint32_t word;

    memcpy(&word, image->bytes + at, sizeof word);
    return word;
}

bool value_read_image(tool_value *value, tool_fault *fault)
{
    const tool_contents *const image = &value->contents;
    espl_format_fault why = {0};
    uint64_t layout = 0;
    size_t at = HEAD;

    if (image->size < HEAD) {
        fault_say(fault, "at byte %zu: an image that ends within its head", image->size);
        return false;
    }
    memcpy(&layout, image->bytes + LAYOUT_AT, sizeof layout);
    if (layout != espl_image_layout()) {
        fault_say(fault, "at byte %d: an image of the layout %016llx, where this build has %016llx",
                  LAYOUT_AT, (unsigned long long)layout, (unsigned long long)espl_image_layout());
        return false;
    }
    const uint32_t tag = u32_at(image, TAG_AT), count = u32_at(image, COMPONENTS_AT);
    espl_status status =
        value_make_world(value, tag == 0 || tag > 127 ? 1 : tag, u32_at(image, CELL_SIZE_AT));
    bool is_good = !espl_failed(status);

    for (uint32_t i = 0; is_good && i < count; ++i) {
        is_good = register_next(value->world, image, &at, i < ESPL_DISABLED);
    }
    // Where a component could not be registered, the library says what is wrong.
    status = espl_failed(status)
                 ? status
                 : espl_image_load(value->world, image->bytes, image->size, 0, &why);
    return espl_failed(status) ? value_refuse(fault, status, &why) : true;
}
