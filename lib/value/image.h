// SPDX-License-Identifier: MIT
// The bytes of an image: a head, then tables of components, archetypes, names and originals, then the areas of
// the manifest. Everything begins at a multiple of 8 bytes from the begin of the image; the bytes between are
// 0.
//
// A world is not in its image as it is in memory where memory depends on its past and not on its value:
//
// - Chunks are numbered in the order of their archetypes, as a world numbers them that makes them all anew.
// - What has no meaning is 0: columns of slots without a node, the hint in the record of a free index, numbers
//   of side arrays, links between unsettled trees.
#ifndef ESPALIER_LIB_VALUE_IMAGE_H
#define ESPALIER_LIB_VALUE_IMAGE_H

#include "lib/world/world_internal.h"

/// The first bytes of an image. The third line ends as a text that was changed by a transfer would not.
extern const unsigned char espl__image_magic[8];

/// The head. Its fields have the same meaning in each build of one layout. The program finds the table of
/// components behind it (tools/image_file.c).
typedef struct espl__image_head {
    unsigned char magic[8];
    uint64_t layout;
    uint64_t size;     // of the image
    uint64_t checksum; // of all bytes, with 0 in place of this field
    uint32_t tag;
    uint32_t components, archetypes; // their tables follow
    uint32_t names;
    uint64_t names_size;    // bytes of the table of names
    uint64_t sets_size;     // bytes of the table of archetypes
    uint64_t registry_size; // bytes of the table of components
    uint32_t records, free_head;
    uint32_t free_count, alive_count, retired_count;
    uint32_t slots, trees, free_tree;
    uint32_t pasts;            // arrays of earlier locals: 0 without motion
    uint32_t is_ticking;       // 0 or 1
    uint32_t has_overflowed;   // 0 or 1: a world may be not finite
    uint32_t least_generation; // of indices that are freed
    uint32_t originals;        // their table follows that of the names
    uint32_t cell_size;        // the bits of a float; 0: no cells
} espl__image_head;

/// A component in its table, before its references and its name.
typedef struct espl__image_component {
    uint32_t size, alignment, references, name; // bytes, bytes, count, bytes without an end
    uint32_t version, flags;
} espl__image_component;

/// An archetype in its table, before its set.
typedef struct espl__image_set {
    uint32_t components, rows;
} espl__image_set;

/// A name in its table, before its text, which ends with a 0.
typedef struct espl__image_name {
    uint32_t entity, size;
} espl__image_name;

/// A counterpart in its table.
typedef struct espl__image_original {
    uint32_t entity, zero;
    espl_entity original;
} espl__image_original;

/// Return the bytes that something takes in an image: up to the next multiple of 8.
static inline size_t espl__image_room(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

/// Tell whether an image is so large that little of it stays in the cache until it is used next.
static inline bool espl__image_is_large(size_t size)
{
    return size >= (size_t)8 << 20;
}

/// Return the head of the image of a world, without its checksum.
espl__image_head espl__image_head_of(const espl_world *world);

#endif
