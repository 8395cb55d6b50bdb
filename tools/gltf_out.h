// SPDX-License-Identifier: MIT
// A glTF 2.0 file that is being put together: nodes, and keys that move them. All arrays are in one buffer.
#ifndef ESPALIER_TOOLS_GLTF_OUT_H
#define ESPALIER_TOOLS_GLTF_OUT_H

#include "tools/fault.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct gltf_out gltf_out;

/// What moves a part of a node.
typedef struct gltf_out_keys {
    int node;
    const char *path;  // "translation", "rotation" or "scale"
    int times, values; // accessors
} gltf_out_keys;

/// Make an empty file. NULL where there is no memory.
/// @param title  of its scene and its animation.
gltf_out *gltf_out_create(const char *title);
void gltf_out_destroy(gltf_out *out);

/// Add a node. Bytes of a name that are no UTF-8 become '?'.
/// @param parent  -1: none, it is at the top of the scene.
/// @return its number; -1 where there is no memory.
int gltf_out_node(gltf_out *out, const char *name, int parent, const float translation[3],
                  const float rotation[4], const float scale[3]);

/// Nodes that were added.
size_t gltf_out_node_count(const gltf_out *out);

/// Add an array of elements of 1, 3 or 4 floats. @return its accessor; -1 where there is no memory.
int gltf_out_floats(gltf_out *out, const float *values, size_t count, size_t components);

/// Add keys with straight lines and arcs between them. @return false where there is no memory.
bool gltf_out_move(gltf_out *out, const gltf_out_keys *keys);

/// Write the file: binary where the path ends in .glb, or else JSON with its buffer inside.
/// @return false with the reason.
bool gltf_out_write(gltf_out *out, const char *path, tool_fault *fault);

#endif
