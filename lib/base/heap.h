// SPDX-License-Identifier: MIT
// The memory of one world: the only place that calls its allocator. Counts what is outstanding,
// by purpose, and can be told that allocation is forbidden while a commit runs.
#ifndef ESPALIER_LIB_BASE_HEAP_H
#define ESPALIER_LIB_BASE_HEAP_H

#include "lib/base/trap.h"

#include <stdatomic.h>

/// What a block is for; statistics tell bytes by purpose.
typedef enum espl__purpose {
    ESPL__FOR_WORLD,
    ESPL__FOR_STORE,
    ESPL__FOR_TREE,
    ESPL__FOR_COMMANDS,
    ESPL__FOR_RECORDING, ///< by any thread, also while a commit runs
    ESPL__PURPOSE_COUNT
} espl__purpose;

/// The size of a huge page where there are any, in bytes: that of x86 and of AArch64 with pages of
/// 4 KiB. Where it is another one, nothing but time is lost.
enum { ESPL__HUGE_PAGE = 1 << 21 };

typedef struct espl__heap {
    espl_allocator allocator;
    atomic_flag busy;                  // guards the allocator and the counts
    bool is_forbidden;                 // a commit runs: only recorders may allocate
    uint64_t commits;                  // that ran, for tests
    size_t bytes[ESPL__PURPOSE_COUNT]; // outstanding, by purpose
} espl__heap;

/// Set up; the null allocator means malloc and free.
void espl__heap_init(espl__heap *heap, const espl_allocator *allocator);

/// From now on, lay blocks of at least ESPL__HUGE_PAGE bytes out in huge pages where the system has
/// them: what is asked for and counted stays the same. An allocator of the user's own is left as it
/// is.
void espl__heap_use_huge_pages(espl__heap *heap);

/// Bytes outstanding over all purposes. Any thread.
size_t espl__heap_bytes(const espl__heap *heap);
/// Bytes outstanding for one purpose. Any thread.
size_t espl__heap_bytes_for(const espl__heap *heap, espl__purpose purpose);

/// Return count * size bytes aligned to alignment, or NULL: no memory, or the product overflows.
/// A product of zero gives NULL and is no failure: ask for at least one. Any thread.
void *espl__heap_take(espl__heap *heap, espl__purpose purpose, size_t count, size_t size,
                      size_t alignment);

/// Begin a commit: until it ends nothing but what recorders ask for may be taken. Commits do not
/// nest. For the thread that changes the world, while no job of it runs.
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

/// Take back a block of espl__heap_take() with the numbers it was asked for; NULL is left alone.
/// Any thread.
void espl__heap_give(espl__heap *heap, espl__purpose purpose, void *block, size_t count,
                     size_t size, size_t alignment);

/// Sum and product that refuse to wrap: false where they would, *out unchanged.
bool espl__size_add(size_t *out, size_t a, size_t b);
bool espl__size_multiply(size_t *out, size_t a, size_t b);

#endif
