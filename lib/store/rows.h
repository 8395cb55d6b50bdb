// SPDX-License-Identifier: MIT
// Rows that leave at the next settle: see rows.c. The rest of what rows.c defines is declared in store.h.
#ifndef ESPALIER_LIB_STORE_ROWS_H
#define ESPALIER_LIB_STORE_ROWS_H

#include "lib/store/store.h"

/// List a chunk and its archetype for the next settle. Called for the first row that leaves.
void espl__chunk_note_leaving(espl__store *store, uint32_t number);
/// Let a row of a chunk leave at the next settle.
static inline void espl__row_set_leaving(espl__store *store, uint32_t number, uint32_t row)
{
    espl__chunk *const chunk = &store->chunks[number];

    ESPL_CHECK(row < chunk->count && (chunk->leaving[row >> 6] >> (row & 63) & 1) == 0);
    if (chunk->leaving_count++ == 0) {
        espl__chunk_note_leaving(store, number);
    }
    chunk->leaving[row >> 6] |= UINT64_C(1) << (row & 63);
}

#endif
