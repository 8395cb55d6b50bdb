// SPDX-License-Identifier: MIT
// The state of a world as a sequence of pieces. lib/store/state.c and lib/tree/state.c enumerate what
// the store and the forest hold, each in a fixed order, and call a visitor for each piece. The physical
// hash and espl_validate() are visitors. An image copies whole arrays by lib/value/manifest.h instead.
//
// Two worlds are equal if they have the same pieces with the same elements. The same calls then come to
// the same bits, handles and orders on both. Reserved memory, versions, caches and statistics are in no
// piece, because no call depends on them. Sizes come first: how many pieces and elements follow is known
// from the pieces before them, or from a note. So a reader of saved pieces can allocate the memory of
// each before it comes.
#ifndef ESPALIER_LIB_BASE_STATE_H
#define ESPALIER_LIB_BASE_STATE_H

#include "lib/base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// How the elements of a piece are compared. The values of the physical hash depend on the kinds.
typedef enum espl__state_kind {
    ESPL__STATE_NOTE, ///< uint32_t; only a reader needs them: sizes, and what has no part in equality
    ESPL__STATE_WORDS,  ///< uint32_t, each by itself
    ESPL__STATE_PAIRS,  ///< uint32_t, two by two
    ESPL__STATE_FLOATS, ///< float; all NaNs are equal, and 0 differs from -0
    ESPL__STATE_BYTES,  ///< bytes
    ESPL__STATE_TEXT,   ///< bytes that few things have: without them the piece counts as missing
} espl__state_kind;

/// A visitor of pieces.
typedef struct espl__state_visitor {
    /// Called for each piece.
    /// @param name  what the elements are: a literal.
    /// @param data  [count]; may be on the stack of the caller. NULL where the count is 0.
    void (*visit)(void *context, const char *name, espl__state_kind kind, const void *data,
                  size_t count);
    void *context;
} espl__state_visitor;

/// Visit a piece.
static inline void espl__state_piece(const espl__state_visitor *visitor, const char *name,
                                     espl__state_kind kind, const void *data, size_t count)
{
    visitor->visit(visitor->context, name, kind, data, count);
}

#endif
