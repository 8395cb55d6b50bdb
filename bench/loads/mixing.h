// SPDX-License-Identifier: MIT
// Frames of the load `mixed`: prefabs of three nodes appear below nodes of trees of 12, the prefabs
// of 20 frames ago are destroyed, and extras are added. A frame depends on its number alone.
#ifndef ESPALIER_BENCH_MIXING_H
#define ESPALIER_BENCH_MIXING_H

#include "bench/forest.h"
#include "bench/schemes/scheme.h"

/// Nodes of a tree, children to a node, and frames that a prefab lives.
enum { mixing_tree_size = 12, mixing_fan = 3, mixing_life = 20 };

/// All extras of one frame.
#define MIXING_ALL_EXTRAS                                                              \
    (EXTRA_VALUES | EXTRA_NEW_VALUES | EXTRA_BEFORE | EXTRA_COUNT | EXTRA_REFERENCES | \
     EXTRA_ATTACH | EXTRA_WRITE | EXTRA_PREFAB_STRETCH | EXTRA_STRETCH | EXTRA_FLAG)

/// The extras of a world and the frame at hand. Nodes have the numbers of a forest of `trees`
/// trees, also where the forest is one tree with as many nodes.
struct mixing {
    unsigned drawn;  ///< Extras that parents and locals are drawn for.
    unsigned extras; ///< Extras that are played: all drawn ones, or none for the plain frame.
    uint32_t trees;
    uint32_t count; ///< Prefabs that appear in a frame; even.

    struct scheme_spawn *spawns; ///< [count] of the frame at hand, and so on.
    scheme_handle *befores;      ///< [count]
    size_t spawn_count;
    uint32_t *touched; ///< [trees] in which a prefab appears or is destroyed.
    bool *is_touched;  ///< [trees]
    size_t touched_count;
    struct scheme_move *moves;   ///< [trees]
    struct scheme_write *writes; ///< [trees]
};

struct mixing mixing_create(uint32_t trees, uint32_t count, unsigned drawn, unsigned extras);
void mixing_destroy(struct mixing *mixing);

/// Tell whether a scheme can play frames with these extras.
bool mixing_is_for(const struct scheme *scheme, unsigned extras);
/// Make the prefab of a new world and its exceptional nodes.
void mixing_set_up(const struct mixing *mixing, const struct scheme *scheme,
                   struct scheme_world *world);
/// Draw the frame with a number.
void mixing_draw(struct mixing *mixing, const struct scheme *scheme, struct scheme_world *world,
                 unsigned frame);
/// Play the frame drawn last.
/// @param doomed     [mixing->count] first nodes of the prefabs to be destroyed; NULL: none.
/// @param just_made  [mixing->count] out: first nodes of the prefabs that appear.
void mixing_play(const struct mixing *mixing, const struct scheme *scheme,
                 struct scheme_world *world, const scheme_handle *doomed, scheme_handle *just_made);

#endif
