// SPDX-License-Identifier: MIT
// Structs that grow have words at their end that are reserved for later versions. In a struct that the
// library reads they must be 0, so that a program that asks for what only later versions have is refused.
// In a struct that the library fills they are 0.
#ifndef ESPALIER_LIB_BASE_RESERVED_H
#define ESPALIER_LIB_BASE_RESERVED_H

#include "lib/base/trap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Sentence for the log where ESPL__ASKS_LATER() is true.
#define ESPL__LATER_FAULT                                                               \
    "A reserved word of the struct is not 0, which only later versions of the library " \
    "understand; "                                                                      \
    "set it to 0, or link a later version."

/// Tell whether one of `count` words is not 0. One branch for any number, because words that are reserved
/// are nearly always 0.
static inline bool espl__some_word_is_set(const uintptr_t *words, size_t count)
{
    uintptr_t all = 0;

    for (size_t i = 0; i < count; ++i) {
        all |= words[i];
    }
    return all != 0;
}

/// Tell whether a struct of the caller asks for what only later versions of the library have.
/// @param given  pointer to the struct, not NULL.
#define ESPL__ASKS_LATER(given) \
    espl__some_word_is_set((given)->reserved, sizeof(given)->reserved / sizeof *(given)->reserved)

#endif
