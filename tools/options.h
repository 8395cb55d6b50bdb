// SPDX-License-Identifier: MIT
// The command line of espalier(1).
#ifndef ESPALIER_TOOLS_OPTIONS_H
#define ESPALIER_TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The largest size of cells (espl_world_def.cell_size).
#define OPTIONS_CELL_MOST 0x1p30
/// Cells between the origin and an offset, at most: a scene and its movement fit beyond it.
#define OPTIONS_CELLS_MOST 0x1p30

/// Exit statuses.
enum { EXIT_AGREED = 0, EXIT_DISAGREED = 1, EXIT_BAD_SCENE = 2 };

typedef enum tool_command {
    COMMAND_PLAY,
    COMMAND_TREE,
    COMMAND_CHECK,
    COMMAND_REPLAY,
    COMMAND_PACK,
    COMMAND_UNPACK,
    COMMAND_INFO,
    COMMAND_DIFF,
    COMMAND_EXPORT,
    COMMAND_VIEW
} tool_command;

/// Where a film is seen from.
typedef enum film_camera { FILM_ORBIT, FILM_CHASE } film_camera;

typedef struct tool_options {
    tool_command command;
    uint32_t copies; // what suits the command, if not given
    uint32_t frames; // 0: what suits the command and the scene
    uint32_t rate;   // frames a second
    uint32_t ticks;  // a second, with drawn frames between them; 0: none
    uint32_t workers;
    uint32_t level;    // of zstd
    uint32_t rollback; // frames of a tape that are played again after each; 0: none
    uint64_t seed;
    double ahead;          // ticks by which a frame is shown ahead of its time; 0 without ticks
    double respawn;        // copies destroyed in each frame or tick, in percent
    double offset[3];      // of check: where the scene plays
    float cell_size;       // of its world; 0: what suits the scene
    double within;         // largest error of a position; 0: the bound of rounding alone
    const char *png;       // or NULL
    const char *film;      // or NULL: a file, or a directory
    uint32_t film_size[2]; // pixels: width, height
    film_camera camera;
    bool has_boats;        // of a film: the carriers are drawn
    bool has_culling;      // what cameras see is found, compared and drawn
    const char *gltf;      // of export, or NULL
    const char *trace;     // of export, or NULL
    const char *json;      // or NULL; "-": stdout, which then shows nothing else
    const char *tape;      // or NULL
    const char *animation; // name or number, or NULL: the first
    const char *output;    // of pack and unpack, which need one, and of view; "-": stdout
    const char *program;   // as it was called
    const char *shown;     // name or path of an entity to print, or NULL
    bool has_offset;
    bool has_hashes; // print both hashes of each frame
    bool is_strict;  // what is not compared fails
    bool is_quiet;
    char **scenes; // [scene_count]; of commands from replay on, files
    size_t scene_count;
} tool_options;

/// What options_parse() found.
typedef enum options_result {
    OPTIONS_RUN,  // carry the command out
    OPTIONS_DONE, // help or version was printed: exit with EXIT_AGREED
    OPTIONS_BAD,  // a message was printed: exit with EXIT_BAD_SCENE
} options_result;

options_result options_parse(tool_options *out, int argc, char **argv);

#endif
