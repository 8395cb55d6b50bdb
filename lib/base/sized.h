// SPDX-License-Identifier: MIT
// Structs that grow at the end from version to version. The program passes the size of its struct,
// because it may have been compiled with other headers than the library: NAME(), an inline form in
// the header, passes sizeof to the exported NAME_sized().
//
// Where both sizes are equal, which is the usual case, each function here is one comparison.
#ifndef ESPALIER_LIB_BASE_SIZED_H
#define ESPALIER_LIB_BASE_SIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/// Sentence for the log where espl__sized_is_known() returns false.
#define ESPL__SIZED_FAULT                                                                   \
    "A field that only later versions of the library have is not 0; link a later version, " \
    "or leave the field 0."

/// Tell whether the bytes from `own` up to `size` are 0. Precondition: there are some.
bool espl__sized_tail_is_zero(const void *given, size_t size, size_t own);
/// Copy a struct of `size` bytes to one of `own` bytes: the bytes that both have; the rest is 0.
/// @return room.
const void *espl__sized_copy(const void *given, size_t size, void *room, size_t own);

/// Tell whether the library knows all fields of the program's struct that are not 0.
/// @param given  the struct of the program; may be NULL, which is known.
/// @param size   its size in the program.
/// @param own    its size in the library.
static inline bool espl__sized_is_known(const void *given, size_t size, size_t own)
{
    return size <= own || given == NULL || espl__sized_tail_is_zero(given, size, own);
}

/// Return the program's struct with the size that the library reads. Fields that the program does not
/// have are 0.
/// @param given  may be NULL.
/// @param room   [own] where the copy is written, if the sizes differ. It must live as long as the
///               result is used.
/// @return `given` if the sizes are equal or it is NULL, else `room`.
static inline const void *espl__sized_read(const void *given, size_t size, void *room, size_t own)
{
    return size == own || given == NULL ? given : espl__sized_copy(given, size, room, own);
}

/// Fill the program's struct, of `size` bytes, from the library's, of `own` bytes. Fields that the
/// library does not have become 0.
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
