// SPDX-License-Identifier: MIT
// The presets of the stress test for transform hierarchies that the Bevy engine ships: how their
// trees are made, and which nodes of them move. A tree is a map, where node i + 1 has parent map[i].
#ifndef ESPALIER_BENCH_PRESETS_H
#define ESPALIER_BENCH_PRESETS_H

#include "bench/forest.h"

/// Presets there are.
#define PRESET_COUNT 9

struct preset {
    const char *name;

    /// Makes the map of a depth and a width into `map`, if that is not NULL. @return its length.
    uint32_t (*make_map)(uint32_t *map, uint32_t depth, uint32_t width);
    uint32_t depth, width;
    uint64_t fingerprint; ///< FNV-1a, 64 bits, of the map as little-endian words.
    uint32_t copies;

    double chance;          ///< That a node moves, where it may.
    uint32_t shallow, deep; ///< Least and largest depth of nodes that may; the root has 0.
    uint32_t moving_copies; ///< Copies whose nodes may, the first ones.
    uint32_t nodes;         ///< Of all copies.
    uint32_t expected;      ///< Nodes that move or hang below one that does, on average.
    uint32_t recomputed;    ///< The same with the seed of the course.
};

extern const struct preset presets[PRESET_COUNT];

/// Return the parents of the nodes of one tree of a preset, the root's, NO_NODE, first; to be freed.
/// A name that no preset has, or a map with another fingerprint, ends the program.
/// @param size  out: nodes.
uint32_t *preset_parents(const char *name, uint32_t *size);

/// A preset laid out. Locals of members are of frame 0: on a circle about the parent, evenly.
struct scene {
    struct forest forest;
    uint32_t *active; ///< [active_count] nodes that move in every frame, ascending.
    double *angles;   ///< [active_count] where on its circle each begins, radians.
    uint32_t active_count;
    uint32_t recomputed; ///< Nodes that move or hang below one that does.
};

/// Lay a preset out. A map with another fingerprint, or another number of nodes or of recomputed
/// ones than the preset is known for, ends the program.
struct scene scene_create(const struct preset *preset);
void scene_destroy(struct scene *scene);

/// Write the position on the circle that belongs to an angle.
void scene_place(float position[3], double angle);

#endif
