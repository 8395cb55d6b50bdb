// SPDX-License-Identifier: MIT
// Which mirrors are valid. The words are static, so that a result can ask after its mirror when the renderables
// were destroyed.
#ifndef ESPALIER_LIB_RENDERABLES_LIFETIMES_H
#define ESPALIER_LIB_RENDERABLES_LIFETIMES_H

#include <stdbool.h>
#include <stdint.h>

/// Of renderables without a word, because too many others exist. Their mirrors count as valid.
#define ESPL__NO_LIFETIME UINT32_MAX

enum { ESPL__LIFETIMES = 256 };

/// Take a word for renderables that begin. @param first  out: what the number of a mirror is added to for its
/// life, which no mirror of other renderables has. @return the number of the word, or ESPL__NO_LIFETIME.
uint32_t espl__lifetime_begin(uint64_t *first);
/// Store which mirror is valid. One thread at a time.
void espl__lifetime_set(uint32_t lifetime, uint64_t life);
/// Let all mirrors have ended, and give the word back.
void espl__lifetime_end(uint32_t lifetime);
/// Tell whether a mirror is valid. @param life  0: it belongs to no renderables, and is.
bool espl__lifetime_has(uint32_t lifetime, uint64_t life);

#endif
