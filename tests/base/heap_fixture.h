// SPDX-License-Identifier: MIT
// The fixture of suites that use the library's heap: a new heap over a test allocator for each test.
#ifndef ESPALIER_TESTS_BASE_HEAP_FIXTURE_H
#define ESPALIER_TESTS_BASE_HEAP_FIXTURE_H

#include "lib/base/heap.h"
#include "tests/runner.h"
#include "tests/support.h"

static test_heap under;
static espl__heap heap;

static void heap_begin(void)
{
    test_heap_init(&under);
    const espl_allocator allocator = test_heap_allocator(&under);

    espl__heap_init(&heap, &allocator);
}

/// Fail the test unless all memory is released and the allocator has counted no fault.
static void heap_is_empty(void)
{
    ck_assert_uint_eq(espl__heap_bytes(&heap), 0);
    ck_assert_uint_eq(under.bytes, 0);
    ck_assert_uint_eq(under.blocks, 0);
    ck_assert_uint_eq(under.faults, 0);
}

#endif
