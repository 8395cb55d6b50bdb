// SPDX-License-Identifier: MIT
// Where the frames of a film go: to ffmpeg through a pipe, which writes a file, or into a directory as PNG
// files. It knows pixels only.
#ifndef ESPALIER_TOOLS_FILM_SINK_H
#define ESPALIER_TOOLS_FILM_SINK_H

#include "tools/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct _cairo_surface; // Cairo's

/// What a film is like.
typedef struct film_format {
    const char *path;       // a file, or a directory
    uint32_t width, height; // pixels, even numbers
    uint32_t rate;          // frames a second
} film_format;

typedef struct film_sink {
    film_format format;
    char *directory; // of PNG files, or NULL
    int pipe;        // to ffmpeg, where there is no directory
    long child;      // ffmpeg's process
    size_t count;    // frames written
} film_sink;

/// Tell whether a path can be that of a film: a file that ends in .webm, .mp4 or .webp, or a directory.
/// @return false with the reason.
bool film_path_is_good(const char *path, tool_fault *fault);

/// Start ffmpeg, or make the directory. Where there is no ffmpeg, a line on stderr says so, and the directory is
/// the file's path without its ending.
/// @return false with the reason, and nothing to close.
bool film_sink_open(film_sink *sink, const film_format *format, tool_fault *fault);

/// Write a frame.
/// @param surface  an image of 32 bits a pixel, of the format's size.
bool film_sink_write(film_sink *sink, struct _cairo_surface *surface, tool_fault *fault);

/// End the file. Needed after film_sink_open(), also when a frame could not be written.
/// @return false with the reason: ffmpeg failed.
bool film_sink_close(film_sink *sink, tool_fault *fault);

#endif
