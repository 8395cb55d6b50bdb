// SPDX-License-Identifier: MIT
// Everything that differs between operating systems: aligned memory, a clock, and giving way to
// other threads. No other file of the library asks which system it is built for.
#ifndef ESPALIER_LIB_BASE_SYSTEM_H
#define ESPALIER_LIB_BASE_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

/// The size of a huge page in bytes on x86, and on AArch64 with pages of 4 KiB. A machine with
/// another size loses time and nothing else.
enum { ESPL__HUGE_PAGE = 1 << 21 };

/// Return a block for the allocator of a world whose user gives none, or NULL.
/// @param user       not used.
/// @param size       not 0.
/// @param alignment  a power of two.
void *espl__system_allocate(void *user, size_t size, size_t alignment);

/// Allocate as espl__system_allocate(), but a block of at least ESPL__HUGE_PAGE bytes in huge pages
/// where the system has them.
void *espl__system_allocate_huge(void *user, size_t size, size_t alignment);

/// Free a block of either function.
void espl__system_release(void *user, void *block, size_t size, size_t alignment);

/// Return a time in nanoseconds since a moment that stays the same while the process runs.
uint64_t espl__system_time(void);

/// Let another thread run on this processor, if one waits.
void espl__system_yield(void);

#endif
