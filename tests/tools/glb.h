// SPDX-License-Identifier: MIT
// Small glTF files for tests, and the scenes that they are read as.
#ifndef ESPALIER_TESTS_TOOLS_GLB_H
#define ESPALIER_TESTS_TOOLS_GLB_H

#include "tools/scene.h"

#include <stddef.h>

/// A binary file that is being put together. {0} is an empty one.
typedef struct glb_maker {
    unsigned char bytes[4096];
    size_t size;
    char views[4096], accessors[4096]; // JSON
    int view_count, accessor_count;
} glb_maker;

/// Add a buffer view of bytes, with more of its JSON. @return its number.
int glb_add_view(glb_maker *maker, const void *bytes, size_t size, const char *more);

/// Add an accessor by its JSON. @return its number.
int glb_add_accessor(glb_maker *maker, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/// Add a view of floats, so many of an element, and its accessor. @return the accessor.
int glb_add_floats(glb_maker *maker, size_t count, size_t components, const float *values);

/// Make a file with keys at 0 and 1 second (accessor 0), and vectors for them: 1 along x (1) and 5
/// along x (2).
glb_maker glb_two_outputs(void);

/// Write the binary file with its other JSON: nodes, scenes, animations. @return its path.
const char *glb_write(const glb_maker *maker, const char *rest);

/// Load the binary file, or JSON without buffers; both files are removed.
bool glb_load(tool_scene *out, const glb_maker *maker, const char *rest, const char *animation,
              tool_fault *fault);
bool glb_load_text(tool_scene *out, const char *rest, tool_fault *fault);

#define CHANNEL(sampler, node, what) \
    "{\"sampler\":" sampler ",\"target\":{\"node\":" node ",\"path\":\"" what "\"}}"
#define SAMPLER(input, output, how) \
    "{\"input\":" input ",\"output\":" output ",\"interpolation\":\"" how "\"}"
#define ONE_NODE "\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"name\":\"arm\"}],"
#define ONE_CHANNEL(what, how)                                                                     \
    ONE_NODE "\"animations\":[{\"channels\":[" CHANNEL("0", "0", what) "],\"samplers\":[" SAMPLER( \
        "0", "1", how) "]}]"

#define NAMED(name, output)                          \
    "{\"name\":\"" name "\",\"channels\":[" CHANNEL( \
        "0", "0", "translation") "],\"samplers\":[" SAMPLER("0", output, "LINEAR") "]}"
#define THREE_ANIMATIONS \
    ONE_NODE "\"animations\":[" NAMED("walk", "1") "," NAMED("run", "2") "," NAMED("run", "1") "]"

#endif
