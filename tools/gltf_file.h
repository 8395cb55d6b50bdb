// SPDX-License-Identifier: MIT
// A glTF 2.0 file as its reader has it: nodes, animations and accessors by their indices. Views point
// into the file and last until it is closed. Nothing here is checked but what each function says.
#ifndef ESPALIER_TOOLS_GLTF_FILE_H
#define ESPALIER_TOOLS_GLTF_FILE_H

#include "tools/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct gltf_file gltf_file;

typedef struct gltf_node {
    const char *name; // may be empty
    const int *children;
    size_t child_count;
    bool has_matrix;
    double matrix[16]; // 4 columns; where has_matrix
    double translation[3], rotation[4], scale[3];
    bool is_instanced;   // has EXT_mesh_gpu_instancing
    bool has_visibility; // has KHR_node_visibility
    int mesh;            // that is drawn in the node's axes, -1: none
} gltf_node;

typedef struct gltf_scene {
    const char *name;
    const int *nodes;
    size_t count;
} gltf_scene;

typedef struct gltf_animation {
    const char *name;
    size_t channel_count;
} gltf_animation;

typedef struct gltf_channel {
    int node;                  // -1: an extension names the target
    const char *path;          // what it moves
    const char *interpolation; // empty: linear
    int input, output;         // accessors
} gltf_channel;

/// Bytes of a buffer view; NULL where there is no such view or it does not lie in its buffer.
typedef struct gltf_bytes {
    const unsigned char *bytes;
    size_t size, stride; // stride 0: tightly packed
} gltf_bytes;

typedef struct gltf_accessor {
    int view;           // -1: all zeros
    size_t offset;      // in the view
    int component_type; // 5120 to 5126
    size_t components;  // of an element: 1, 3, 4, ...; 0: unknown
    size_t count;
    bool is_normalized;
    size_t sparse_count; // elements that are replaced
    int index_view, index_type, value_view;
    long long index_offset, value_offset;
} gltf_accessor;

/// Open a file, with its buffers. Images are not read.
/// @param is_other  out: the file is of version 1, or has meshes that Draco compressed, and another
///                  reader is needed.
/// @return NULL with the reason, or with is_other.
gltf_file *gltf_open(const char *path, bool *is_other, tool_fault *fault);
void gltf_close(gltf_file *file);

/// Return what the reader found wrong and passed over; empty: nothing.
const char *gltf_complaint(const gltf_file *file);

size_t gltf_count_nodes(const gltf_file *file);
size_t gltf_count_scenes(const gltf_file *file);
size_t gltf_count_animations(const gltf_file *file);

/// Return the number of the default scene, -1 where the file names none.
int gltf_default_scene(const gltf_file *file);

/// Read by an index, which exists. gltf_read_node() answers false where a part of the node has the
/// wrong count of numbers.
bool gltf_read_node(const gltf_file *file, size_t index, gltf_node *out);
gltf_scene gltf_read_scene(const gltf_file *file, size_t index);
gltf_animation gltf_read_animation(const gltf_file *file, size_t index);

/// Read a channel of an animation, both of which exist; false where its sampler does not.
bool gltf_read_channel(const gltf_file *file, size_t animation, size_t index, gltf_channel *out);

/// Read an accessor, or the bytes of a buffer view, which need not exist; false where they do not.
bool gltf_read_accessor(const gltf_file *file, int index, gltf_accessor *out);
bool gltf_read_view(const gltf_file *file, int index, gltf_bytes *out);

/// Read the box around a primitive of a mesh, as the accessor of its positions has it.
/// @param index  of the primitive. @return whether there is such a primitive.
/// @param has_box  out: whether it has a box.
bool gltf_read_box(const gltf_file *file, int mesh, size_t index, double least[3], double most[3],
                   bool *has_box);

/// Read the accessors of indices and positions of a triangle mesh, by a count over all meshes; -1
/// where there are none. Return false past the last.
bool gltf_read_faces(const gltf_file *file, size_t number, int *indices, int *positions);

#endif
