// SPDX-License-Identifier: MIT
// A heap of the library on the allocator under test, for each test.
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

/// Fail the test unless all that was taken was given back, without a fault.
static void heap_is_empty(void)
{
    ck_assert_uint_eq(espl__heap_bytes(&heap), 0);
    ck_assert_uint_eq(under.bytes, 0);
    ck_assert_uint_eq(under.blocks, 0);
    ck_assert_uint_eq(under.faults, 0);
}

#endif
