// SPDX-License-Identifier: MIT
// A counting allocator: bytes outstanding, their high-water mark, and the sum of all requests.
#ifndef ESPALIER_TESTS_GAUGE_H
#define ESPALIER_TESTS_GAUGE_H

#include "tests/support.h"

typedef struct gauge {
    test_heap heap;
    size_t peak;    // bytes outstanding at most, since gauge_begin()
    uint64_t asked; // bytes of all allocations since then
} gauge;

static inline void *gauge_take(void *user, size_t size, size_t alignment)
{
    gauge *const g = user;
    const espl_allocator inner = test_heap_allocator(&g->heap);
    void *const block = inner.allocate(inner.user, size, alignment);

    g->asked += block != NULL ? size : 0;
    g->peak = g->heap.bytes > g->peak ? g->heap.bytes : g->peak;
    return block;
}

static inline void gauge_give(void *user, void *block, size_t size, size_t alignment)
{
    gauge *const g = user;
    const espl_allocator inner = test_heap_allocator(&g->heap);

    inner.release(inner.user, block, size, alignment);
}

static inline void gauge_begin(gauge *g)
{
    test_heap_init(&g->heap);
    g->peak = 0;
    g->asked = 0;
}

static inline espl_allocator gauge_allocator(gauge *g)
{
    return (espl_allocator){g, gauge_take, gauge_give};
}

#endif
