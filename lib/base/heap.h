// SPDX-License-Identifier: MIT
// The memory of one world. Only heap.c calls the allocator of the world. A heap counts the
// outstanding bytes by purpose, and asserts that a commit allocates nothing.
#ifndef ESPALIER_LIB_BASE_HEAP_H
#define ESPALIER_LIB_BASE_HEAP_H

#include "lib/base/system.h"
#include "lib/base/trap.h"

#include <stdatomic.h>

/// What a block is used for. Statistics report bytes by purpose.
typedef enum espl__purpose {
    ESPL__FOR_WORLD,
    ESPL__FOR_STORE,
    ESPL__FOR_TREE,
    ESPL__FOR_COMMANDS,
    ESPL__FOR_CHANGES, ///< watches
    ESPL__FOR_RECORDING, ///< allocated by any thread, during a commit as well
    ESPL__PURPOSE_COUNT
} espl__purpose;

typedef struct espl__heap {
    espl_allocator allocator;
    atomic_flag busy;                  // a spin lock over the allocator and the counts
    bool is_forbidden;                 // a commit runs: only recorders allocate
    bool has_lacked;                   // the allocator refused a block, other than to a recorder
    uint64_t commits;                  // number of commits begun, for tests
    size_t bytes[ESPL__PURPOSE_COUNT]; // outstanding bytes by purpose
} espl__heap;

/// Set up a heap. An allocator without functions stands for malloc and free.
void espl__heap_init(espl__heap *heap, const espl_allocator *allocator);

/// Place blocks of at least ESPL__HUGE_PAGE bytes in huge pages from now on, where the system has
/// them. Sizes and counts are unaffected. An allocator of the user is left as it is.
void espl__heap_use_huge_pages(espl__heap *heap);

/// Return the outstanding bytes of all purposes. Any thread.
size_t espl__heap_bytes(const espl__heap *heap);
/// Return the outstanding bytes of one purpose. Any thread.
size_t espl__heap_bytes_for(const espl__heap *heap, espl__purpose purpose);

/// Tell whether the allocator has refused a block since the heap was set up, other than one of
/// ESPL__FOR_RECORDING. Any thread.
bool espl__heap_has_lacked(const espl__heap *heap);

/// Allocate count * size bytes. Any thread.
/// @param alignment  a power of two.
/// @return NULL where there is no memory, where the product overflows, and where it is zero.
void *espl__heap_take(espl__heap *heap, espl__purpose purpose, size_t count, size_t size,
                      size_t alignment);

/// Free a block of espl__heap_take(), given the purpose and numbers it was allocated with. NULL is
/// ignored. Any thread.
void espl__heap_give(espl__heap *heap, espl__purpose purpose, void *block, size_t count,
                     size_t size, size_t alignment);

/// Begin a commit. Until it ends, only ESPL__FOR_RECORDING may be allocated. Commits do not nest.
/// Called by the thread that changes the world, while no job of that thread runs.
static inline void espl__heap_forbid(espl__heap *heap)
{
    ESPL_CHECK(!heap->is_forbidden);
    heap->is_forbidden = true;
    heap->commits += 1;
}

/// End a commit.
static inline void espl__heap_allow(espl__heap *heap)
{
    ESPL_CHECK(heap->is_forbidden);
    heap->is_forbidden = false;
}

/// Add or multiply two sizes. @return false where the result overflows; *out is unchanged then.
bool espl__size_add(size_t *out, size_t a, size_t b);
bool espl__size_multiply(size_t *out, size_t a, size_t b);

#endif
