// SPDX-License-Identifier: MIT
// What a file holds, as a world: an archive, an image, the state of a tape at a frame, or a scene at rest.
#ifndef ESPALIER_TOOLS_VALUE_H
#define ESPALIER_TOOLS_VALUE_H

#include "tools/contents.h"
#include "tools/replay.h"
#include "tools/stage.h"

typedef struct value_def {
    uint64_t frames;       // of a tape, to play at most; 0: all
    const char *animation; // of a scene, which is chosen and does not move
} value_def;

typedef struct tool_value {
    const char *path;
    tool_contents contents; // {0} of a scene
    contents_kind kind;
    espl_world *world;
    espl_entity
        *tops; // [top_count] roots and solos, in the order of an archive or of their indices
    size_t top_count;
    espl_archive_info info; // of an archive
    tool_fault note;        // what could not be read, and was left out; or empty
    replay_def how;         // of a tape
    replay_result played;
    replay *replay;
    tool_scene scene;
    tool_stage stage;
} tool_value;

/// Open a file.
/// @param def  NULL means {0}.
/// @return false with the reason, and nothing to close.
bool value_open(tool_value *out, const char *path, const value_def *def, tool_fault *fault);
/// Open bytes that are not packed, of a tape, an archive or an image.
/// @param contents  the value's from then on, also where it is refused.
bool value_take(tool_value *out, tool_contents *contents, const char *path, const value_def *def,
                tool_fault *fault);
/// Close what value_open() opened. {0} is allowed.
void value_close(tool_value *value);

/// Write the world as an archive. @return false with the reason, and nothing to release.
bool value_archive(const tool_value *value, tool_contents *out, tool_fault *fault);

/// Make the world that is read into.
/// @param cell_size  the bits of espl_world_def.cell_size, as the file has them. Another size is that of no cells.
espl_status value_make_world(tool_value *value, uint32_t tag, uint32_t cell_size);

// The readers of each kind. They fill `world`, and `tops` where the order is not that of the indices.

bool value_read_archive(tool_value *value, tool_fault *fault);
bool value_read_image(tool_value *value, tool_fault *fault);

/// Say why the library refuses bytes. @return false.
bool value_refuse(tool_fault *out, espl_status status, const espl_format_fault *why);

#endif
