// SPDX-License-Identifier: MIT
// Structs whose size the caller tells. A struct that grows at its end has in a program the size that it
// had in the headers which the program was compiled with, and that may be less or more than its size
// here. Public functions therefore take the size with the pointer: NAME_sized(), which the inline form
// NAME() in the header calls.
//
// Every function here is one comparison where the sizes are equal, which is the usual case.
#ifndef ESPALIER_LIB_BASE_SIZED_H
#define ESPALIER_LIB_BASE_SIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/// Says what is wrong where espl__sized_is_known() is false.
#define ESPL__SIZED_FAULT                                                                   \
    "A field that only later versions of the library have is not 0; link a later version, " \
    "or leave the field 0."

/// Bodies of the two functions below, for sizes that differ.
bool espl__sized_tail_is_zero(const void *given, size_t size, size_t own);
const void *espl__sized_copy(const void *given, size_t size, void *room, size_t own);

/// Tell whether a struct of `size` bytes asks for nothing that this library does not know: the bytes
/// past its own size are 0.
/// @param given  may be NULL, which asks for nothing.
/// @param own    size of the struct in this library.
static inline bool espl__sized_is_known(const void *given, size_t size, size_t own)
{
    return size <= own || given == NULL || espl__sized_tail_is_zero(given, size, own);
}

/// Return a struct of `own` bytes with the fields of one of `size` bytes; those that it lacks are 0.
/// @param given  may be NULL.
/// @param room   [own] written only where the sizes differ. Must live as long as what is returned.
/// @return `given` where the sizes are equal or it is NULL, else `room`.
static inline const void *espl__sized_read(const void *given, size_t size, void *room, size_t own)
{
    return size == own || given == NULL ? given : espl__sized_copy(given, size, room, own);
}

/// Write a struct of `own` bytes to one of the caller's of `size` bytes: as many of its fields as the
/// caller has, and 0 to fields of later versions.
/// @param out  NULL: nothing is written.
static inline void espl__sized_write(void *out, size_t size, const void *from, size_t own)
{
    if (out == NULL) {
        return;
    }
    if (size == own) {
        memcpy(out, from, own);
    } else {
        (void)espl__sized_copy(from, own, out, size);
    }
}

#endif
