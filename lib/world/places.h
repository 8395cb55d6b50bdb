// SPDX-License-Identifier: MIT
// Things sorted by where their nodes stand in the pool: by hierarchy, and in it parents first.
#ifndef ESPALIER_LIB_WORLD_PLACES_H
#define ESPALIER_LIB_WORLD_PLACES_H

#include <stddef.h>
#include <stdint.h>

/// Something by where its node stands: base of its run plus rank.
typedef struct espl__place {
    uint32_t position, number;
} espl__place;

/// Sort by position; what shares one keeps its order. Linear.
/// @param count   not 0.
/// @param places  [count] in and out; its array may change places with `other`.
/// @param other   [count] scratch.
void espl__places_sort(espl__place **places, espl__place **other, size_t count);

#endif
