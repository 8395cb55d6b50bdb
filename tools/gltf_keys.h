// SPDX-License-Identifier: MIT
// Numbers of a glTF file: accessors decoded to doubles, normalised integers and sparse ones too, and
// samplers of animations as key tracks.
#ifndef ESPALIER_TOOLS_GLTF_KEYS_H
#define ESPALIER_TOOLS_GLTF_KEYS_H

#include "tools/channel.h"
#include "tools/gltf_file.h"

/// Decode an accessor whose elements have a number of components.
/// @param values  out: [*count * components] to be freed.
/// @return false with the reason.
bool gltf_decode(const gltf_file *file, int accessor, size_t components, double **values,
                 size_t *count, tool_fault *fault);

/// Take the keys of a channel into a track that is {0}.
/// @param components  3, or 4 for rotations.
/// @return false with the reason; the track may be filled in part.
bool gltf_take_track(key_track *track, const gltf_file *file, const gltf_channel *channel,
                     size_t components, tool_fault *fault);

/// Tell whether the faces of all meshes name vertices that exist.
bool gltf_faces_are_valid(const gltf_file *file, tool_fault *fault);

#endif
