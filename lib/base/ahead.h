// SPDX-License-Identifier: MIT
// Asking for memory before it is read or written, so that it is there by then. What is asked for need
// not be anybody's; nothing else comes of it.
#ifndef ESPALIER_LIB_BASE_AHEAD_H
#define ESPALIER_LIB_BASE_AHEAD_H

#include <stddef.h>
#include <stdint.h>

// gcc holds a function that does nothing but ask for one without effect, and drops calls of it unless
// they were inlined first. An empty statement that it may not drop keeps them.
#define ESPL__IS_AN_EFFECT() __asm__ volatile("")

/// Ask for memory that is read soon. Costs no wait; any address.
static inline void espl__ask(const void *at)
{
    __builtin_prefetch(at);
    ESPL__IS_AN_EFFECT();
}

/// Ask for an element of an array that is read soon, whether there is such an element or not.
static inline void espl__ask_element(const void *array, size_t number, size_t size)
{
    // As a number, because a pointer must not leave its array.
    espl__ask((const void *)((uintptr_t)array + number * size));
}

/// Ask for memory that is written soon. Costs no wait; any address.
static inline void espl__ask_to_write(const void *at)
{
    __builtin_prefetch(at, 1);
    ESPL__IS_AN_EFFECT();
}

#endif
