// SPDX-License-Identifier: MIT
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tools/film_sink.h"

#ifndef HAVE_CAIRO

bool film_path_is_good(const char *path, tool_fault *fault)
{
    fault_say(fault, "%s: no film: this espalier was built without Cairo", path);
    return false;
}

#else

#include <cairo.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef _WIN32
#include <direct.h>
#else
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#endif

/// How ffmpeg writes a kind of file.
typedef struct film_kind {
    const char *ending;
    const char *options[12]; // up to NULL
} film_kind;

static const film_kind kinds[] = {
    {".webm",
     {"-c:v", "libvpx-vp9", "-crf", "34", "-b:v", "0", "-row-mt", "1", "-pix_fmt", "yuv420p"}},
    {".mp4", {"-c:v", "libx264", "-crf", "23", "-pix_fmt", "yuv420p", "-movflags", "+faststart"}},
    {".webp", {"-c:v", "libwebp_anim", "-loop", "0", "-quality", "32", "-compression_level", "6"}},
};

static const char *find_name(const char *path)
{
    const char *const slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/// Find how a file is written; NULL for a directory.
static const film_kind *find_kind(const char *path)
{
    const char *const ending = strrchr(find_name(path), '.');

    for (size_t i = 0; ending != NULL && i < sizeof kinds / sizeof *kinds; ++i) {
        if (strcmp(ending, kinds[i].ending) == 0) {
            return &kinds[i];
        }
    }
    return NULL;
}

static bool is_directory(const char *path)
{
    struct stat found;

    return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

bool film_path_is_good(const char *path, tool_fault *fault)
{
    const char *const name = find_name(path);

    if (is_directory(path) || *name == '\0' || strrchr(name, '.') == NULL ||
        find_kind(path) != NULL) {
        return true;
    }
    fault_say(fault,
              "--film takes a file that ends in .webm, .mp4 or .webp, or a directory, not '%s'",
              path);
    return false;
}

// A directory.

static bool make_directory(const char *path)
{
    if (is_directory(path)) {
        return true;
    }
#ifdef _WIN32
    return _mkdir(path) == 0;
#else
    return mkdir(path, 0777) == 0;
#endif
}

/// Make the directory. @param length  of the path: bytes after it are left out.
static bool open_directory(film_sink *sink, size_t length, tool_fault *fault)
{
    const char *const path = sink->format.path;

    sink->directory = calloc(length + 1, 1);
    if (sink->directory == NULL) {
        fault_say(fault, "no memory for a path");
        return false;
    }
    memcpy(sink->directory, path, length);
    if (!make_directory(sink->directory)) {
        fault_say(fault, "%s: no directory: %s", sink->directory, strerror(errno));
        free(sink->directory);
        sink->directory = NULL;
        return false;
    }
    return true;
}

static bool write_png(const film_sink *sink, cairo_surface_t *surface, tool_fault *fault)
{
    const size_t size = strlen(sink->directory) + 32;
    char *const path = malloc(size);

    if (path == NULL) {
        fault_say(fault, "no memory for a path");
        return false;
    }
    (void)snprintf(path, size, "%s/frame-%05zu.png", sink->directory, sink->count);
    const cairo_status_t status = cairo_surface_write_to_png(surface, path);
    if (status != CAIRO_STATUS_SUCCESS) {
        fault_say(fault, "%s: no frame: %s", path, cairo_status_to_string(status));
    }
    free(path);
    return status == CAIRO_STATUS_SUCCESS;
}

// A pipe to ffmpeg.

#ifdef _WIN32

// A program for Windows starts no other: its frames are files.

typedef enum ffmpeg_start { FFMPEG_RUNS, FFMPEG_IS_MISSING, FFMPEG_FAILED } ffmpeg_start;

static ffmpeg_start start_ffmpeg(film_sink *sink, const film_kind *kind, tool_fault *fault)
{
    (void)sink;
    (void)kind;
    (void)fault;
    return FFMPEG_IS_MISSING;
}

static bool pipe_frame(const film_sink *sink, cairo_surface_t *surface, tool_fault *fault)
{
    (void)sink;
    (void)surface;
    (void)fault;
    return false;
}

static bool end_ffmpeg(film_sink *sink, tool_fault *fault)
{
    (void)sink;
    (void)fault;
    return false;
}

#else

extern char **environ;

typedef enum ffmpeg_start { FFMPEG_RUNS, FFMPEG_IS_MISSING, FFMPEG_FAILED } ffmpeg_start;

/// The child process reads frames as its standard input, and its signals are as the system has them.
static int spawn_ffmpeg(pid_t *child, int input, char *const arguments[])
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;

    (void)sigemptyset(&defaults);
    (void)sigaddset(&defaults, SIGPIPE);
    int status = posix_spawn_file_actions_init(&actions);
    if (status != 0) {
        return status;
    }
    status = posix_spawnattr_init(&attributes);
    if (status == 0) {
        (void)posix_spawnattr_setsigdefault(&attributes, &defaults);
        (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
        status = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
        if (status == 0) {
            status = posix_spawnp(child, arguments[0], &actions, &attributes, arguments, environ);
        }
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return status;
}

/// Cairo's pixels are words of 32 bits.
static const char *name_pixels(void)
{
    const union {
        uint16_t word;
        unsigned char bytes[2];
    } probe = {.word = 1};

    return probe.bytes[0] == 1 ? "bgr0" : "0rgb";
}

/// Write ffmpeg's command line. No shell reads it, and "file:" keeps a path from being taken for an option or
/// an address.
static int run_ffmpeg(film_sink *sink, const film_kind *kind, int input, char *path)
{
    enum { WORDS = 40 };
    char size[32], rate[16];
    const char *const before[] = {"ffmpeg", "-hide_banner", "-loglevel", "error",    "-nostdin",
                                  "-y",     "-f",           "rawvideo",  "-pix_fmt", name_pixels(),
                                  "-s",     size,           "-r",        rate,       "-i",
                                  "pipe:0", "-fflags",      "+bitexact", "-flags",   "+bitexact"};
    char *words[WORDS];
    size_t count = 0;
    pid_t child = 0;

    (void)snprintf(size, sizeof size, "%ux%u", sink->format.width, sink->format.height);
    (void)snprintf(rate, sizeof rate, "%u", sink->format.rate);
    // posix_spawnp() takes words that it does not change.
    for (size_t i = 0; i < sizeof before / sizeof *before; ++i) {
        words[count++] = (char *)(uintptr_t)before[i];
    }
    for (size_t i = 0; kind->options[i] != NULL; ++i) {
        words[count++] = (char *)(uintptr_t)kind->options[i];
    }
    words[count++] = path;
    words[count] = NULL;
    const int status = spawn_ffmpeg(&child, input, words);
    sink->child = (long)child;
    return status;
}

static ffmpeg_start start_ffmpeg(film_sink *sink, const film_kind *kind, tool_fault *fault)
{
    const size_t size = strlen(sink->format.path) + sizeof "file:";
    char *const path = malloc(size);
    int ends[2];

    if (path == NULL || pipe(ends) != 0) {
        fault_say(fault, "no pipe for ffmpeg: %s", strerror(errno));
        free(path);
        return FFMPEG_FAILED;
    }
    (void)snprintf(path, size, "file:%s", sink->format.path);
    // ffmpeg must not hold the end that is written to, because it reads up to the end of the pipe.
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    const int status = run_ffmpeg(sink, kind, ends[0], path);
    free(path);
    (void)close(ends[0]);
    if (status == 0) {
        sink->pipe = ends[1];
        return FFMPEG_RUNS;
    }
    (void)close(ends[1]);
    if (status == ENOENT) {
        return FFMPEG_IS_MISSING;
    }
    fault_say(fault, "ffmpeg cannot be started: %s", strerror(status));
    return FFMPEG_FAILED;
}

static bool write_bytes(int pipe, const unsigned char *bytes, size_t size)
{
    size_t done = 0;

    while (done < size) {
        const ssize_t written = write(pipe, bytes + done, size - done);

        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        done += (size_t)written;
    }
    return true;
}

static bool pipe_frame(const film_sink *sink, cairo_surface_t *surface, tool_fault *fault)
{
    const unsigned char *const pixels = cairo_image_surface_get_data(surface);
    const size_t stride = (size_t)cairo_image_surface_get_stride(surface);
    struct sigaction ignored = {.sa_handler = SIG_IGN}, before;
    bool is_good = true;

    // When ffmpeg ends early, a write fails, and ends no process.
    (void)sigaction(SIGPIPE, &ignored, &before);
    for (size_t row = 0; is_good && row < sink->format.height; ++row) {
        is_good = write_bytes(sink->pipe, pixels + row * stride, (size_t)4 * sink->format.width);
    }
    if (!is_good) {
        fault_say(fault, "%s: ffmpeg takes no more frames: %s", sink->format.path, strerror(errno));
    }
    (void)sigaction(SIGPIPE, &before, NULL);
    return is_good;
}

static bool end_ffmpeg(film_sink *sink, tool_fault *fault)
{
    int ending = 0;

    (void)close(sink->pipe);
    while (waitpid((pid_t)sink->child, &ending, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(ending) && WEXITSTATUS(ending) == 0) {
        return true;
    }
    if (WIFEXITED(ending)) {
        fault_say(fault, "%s: no film: ffmpeg ended with status %d", sink->format.path,
                  WEXITSTATUS(ending));
    } else {
        fault_say(fault, "%s: no film: ffmpeg crashed (%s)", sink->format.path,
                  strsignal(WTERMSIG(ending)));
    }
    return false;
}

#endif

bool film_sink_open(film_sink *sink, const film_format *format, tool_fault *fault)
{
    const film_kind *const kind = find_kind(format->path);
    const size_t length = strlen(format->path);

    *sink = (film_sink){.format = *format, .pipe = -1};
    if (kind == NULL || is_directory(format->path)) {
        return open_directory(sink, length, fault);
    }
    const ffmpeg_start start = start_ffmpeg(sink, kind, fault);
    if (start == FFMPEG_IS_MISSING) {
        (void)fprintf(stderr, "espalier: there is no ffmpeg: the frames become PNG files in %.*s\n",
                      (int)(length - strlen(kind->ending)), format->path);
        return open_directory(sink, length - strlen(kind->ending), fault);
    }
    return start == FFMPEG_RUNS;
}

bool film_sink_write(film_sink *sink, cairo_surface_t *surface, tool_fault *fault)
{
    cairo_surface_flush(surface);
    const bool is_written = sink->directory != NULL ? write_png(sink, surface, fault)
                                                    : pipe_frame(sink, surface, fault);

    sink->count += is_written;
    return is_written;
}

bool film_sink_close(film_sink *sink, tool_fault *fault)
{
    const bool is_good = sink->directory != NULL || end_ffmpeg(sink, fault);

    free(sink->directory);
    sink->directory = NULL;
    return is_good;
}

#endif
