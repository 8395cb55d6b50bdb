// SPDX-License-Identifier: MIT
// The one file that includes xxHash, as a header: its functions are static here, and no symbol of it is
// exported. Its functions that allocate are not called; from version 0.8.2 on it leaves them out where
// XXH_NO_STDLIB is defined.
#include "lib/value/checksum.h"

#define XXH_INLINE_ALL
#define XXH_NO_STDLIB 1
#include <xxhash.h>

_Static_assert(sizeof(XXH3_state_t) <= sizeof(espl__checksum), "room for the state");

static XXH3_state_t *state_of(espl__checksum *checksum)
{
    return (XXH3_state_t *)(void *)checksum->state;
}

void espl__checksum_begin(espl__checksum *checksum)
{
    (void)XXH3_64bits_reset(state_of(checksum));
}

void espl__checksum_add(espl__checksum *checksum, const void *bytes, size_t size)
{
    (void)XXH3_64bits_update(state_of(checksum), bytes, size);
}

uint64_t espl__checksum_of(const espl__checksum *checksum)
{
    return XXH3_64bits_digest((const XXH3_state_t *)(const void *)checksum->state);
}
