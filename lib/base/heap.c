// SPDX-License-Identifier: MIT
// Allocation with accounts. A spin lock guards allocator and counts, because recorders allocate on
// any thread and a call of the allocator is short.
#include "lib/base/heap.h"

static bool is_power_of_two(size_t number)
{
    return number != 0 && (number & (number - 1)) == 0;
}

// Waiters spin, because a heap is held for one call of the allocator. They yield now and then: where
// threads outnumber processors, the holder may be waiting for one.
static void lock(espl__heap *heap)
{
    enum { SPINS = 64 };

    for (unsigned i = 1; atomic_flag_test_and_set_explicit(&heap->busy, memory_order_acquire); ++i) {
        if (i % SPINS == 0) {
            espl__system_yield();
        }
    }
}

static void unlock(espl__heap *heap)
{
    atomic_flag_clear_explicit(&heap->busy, memory_order_release);
}

void espl__heap_init(espl__heap *heap, const espl_allocator *allocator)
{
    ESPL_CHECK((allocator->allocate == NULL) == (allocator->release == NULL));
    *heap = (espl__heap){.allocator = *allocator};
    atomic_flag_clear(&heap->busy);
    if (allocator->allocate == NULL) {
        heap->allocator = (espl_allocator){NULL, espl__system_allocate, espl__system_release};
    }
}

// The blocks so far are freed as before, because both allocators share one release function.
void espl__heap_use_huge_pages(espl__heap *heap)
{
    if (heap->allocator.allocate == espl__system_allocate) {
        heap->allocator.allocate = espl__system_allocate_huge;
    }
}

size_t espl__heap_bytes_for(const espl__heap *heap, espl__purpose purpose)
{
    // Readers lock as well. The cast is sound, because the lock is not part of the heap's value.
    espl__heap *const locked = (espl__heap *)(uintptr_t)heap;

    ESPL_CHECK(purpose < ESPL__PURPOSE_COUNT);
    lock(locked);
    const size_t bytes = heap->bytes[purpose];
    unlock(locked);
    return bytes;
}

// The sum is exact only while no other thread allocates, because each purpose is read on its own.
size_t espl__heap_bytes(const espl__heap *heap)
{
    size_t sum = 0;

    for (int purpose = 0; purpose < ESPL__PURPOSE_COUNT; ++purpose) {
        sum += espl__heap_bytes_for(heap, (espl__purpose)purpose);
    }
    return sum;
}

bool espl__heap_has_lacked(const espl__heap *heap)
{
    espl__heap *const locked = (espl__heap *)(uintptr_t)heap;

    lock(locked);
    const bool has_lacked = heap->has_lacked;
    unlock(locked);
    return has_lacked;
}

void *espl__heap_take(espl__heap *heap, espl__purpose purpose, size_t count, size_t size,
                      size_t alignment)
{
    size_t bytes = 0;

    ESPL_CHECK(purpose < ESPL__PURPOSE_COUNT && is_power_of_two(alignment));
    ESPL_CHECK(purpose == ESPL__FOR_RECORDING || !heap->is_forbidden);
    // A size above PTRDIFF_MAX is refused here, because no object is that large.
    if (!espl__size_multiply(&bytes, count, size) || bytes == 0 || bytes > SIZE_MAX / 2) {
        return NULL;
    }

    lock(heap);
    void *const block = heap->allocator.allocate(heap->allocator.user, bytes, alignment);
    if (block != NULL) {
        heap->bytes[purpose] += bytes;
    } else if (purpose != ESPL__FOR_RECORDING) {
        heap->has_lacked = true;
    }
    unlock(heap);
    return block;
}

void espl__heap_give(espl__heap *heap, espl__purpose purpose, void *block, size_t count,
                     size_t size, size_t alignment)
{
    if (block == NULL) {
        return;
    }

    ESPL_CHECK(purpose < ESPL__PURPOSE_COUNT && is_power_of_two(alignment));
    ESPL_CHECK(size != 0 && count <= SIZE_MAX / size);
    lock(heap);
    ESPL_CHECK(heap->bytes[purpose] >= count * size);
    heap->bytes[purpose] -= count * size;
    heap->allocator.release(heap->allocator.user, block, count * size, alignment);
    unlock(heap);
}

bool espl__size_add(size_t *out, size_t a, size_t b)
{
    if (b > SIZE_MAX - a) {
        return false;
    }
    *out = a + b;
    return true;
}

bool espl__size_multiply(size_t *out, size_t a, size_t b)
{
    if (b != 0 && a > SIZE_MAX / b) {
        return false;
    }
    *out = a * b;
    return true;
}
