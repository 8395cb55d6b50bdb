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

    for (unsigned i = 1; atomic_flag_test_and_set_explicit(&heap->busy, memory_order_acquire);
         ++i) {
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

// --- Retired blocks ---

// The begin of a retired block.
typedef struct espl__retired_block {
    struct espl__retired_block *next;
    size_t size;
    uint64_t age_and_alignment; // the alignment in the low 16 bits
} block;

enum { ALIGNMENT_BITS = 16, LEAST_RETIRED = sizeof(block) };

static size_t alignment_of_retired(const block *b)
{
    return (size_t)(b->age_and_alignment & (((size_t)1 << ALIGNMENT_BITS) - 1));
}

static uint64_t age_of(const block *b)
{
    return b->age_and_alignment >> ALIGNMENT_BITS;
}

static block **list_for(espl__heap *heap, size_t size)
{
    return &heap->retired.fresh[(size / 16 * UINT32_C(0x9e3779b1) >> 8) % 64];
}

// Free a block that is in no list any more.
static void release(espl__heap *heap, block *b)
{
    const size_t size = b->size, alignment = alignment_of_retired(b);

    ESPL_CHECK(heap->retired.bytes >= size);
    heap->retired.bytes -= size;
    espl__heap_give(heap, ESPL__FOR_CHANGES, b, 1, size, alignment);
}

// Several jobs may retire and take at once, so that the lists have the lock of the heap.
void *espl__heap_take_back(espl__heap *heap, espl__purpose purpose, size_t size, size_t alignment)
{
    block *found = NULL;

    if (!heap->retired.is_on) {
        return NULL;
    }
    lock(heap);
    for (block **at = list_for(heap, size); *at != NULL; at = &(*at)->next) {
        if ((*at)->size == size && alignment_of_retired(*at) == alignment) {
            found = *at;
            *at = found->next;
            heap->retired.bytes -= size;
            heap->bytes[ESPL__FOR_CHANGES] -= size;
            heap->bytes[purpose] += size;
            break;
        }
    }
    unlock(heap);
    return found;
}

void espl__heap_retire(espl__heap *heap, espl__purpose purpose, void *bytes, size_t size,
                       size_t alignment)
{
    block *const b = bytes;

    if (bytes == NULL || !heap->retired.is_on) {
        espl__heap_give(heap, purpose, bytes, 1, size, alignment);
        return;
    }
    ESPL_CHECK(size >= LEAST_RETIRED && alignment >> ALIGNMENT_BITS == 0);
    lock(heap);
    block **const list = list_for(heap, size);

    *b = (block){*list, size, heap->retired.age << ALIGNMENT_BITS | alignment};
    *list = b;
    ESPL_CHECK(heap->bytes[purpose] >= size);
    heap->bytes[purpose] -= size;
    heap->bytes[ESPL__FOR_CHANGES] += size;
    heap->retired.bytes += size;
    unlock(heap);
}

void espl__retired_age(espl__heap *heap)
{
    espl__retired *const retired = &heap->retired;

    for (size_t i = 0; i < ESPL__RETIRED_SIZES; ++i) {
        block *const first = retired->fresh[i];
        block *last = first;

        if (first == NULL) {
            continue;
        }
        while (last->next != NULL) {
            last = last->next;
        }
        *(retired->first == NULL ? &retired->first : &retired->last->next) = first;
        retired->last = last;
        retired->fresh[i] = NULL;
    }
    retired->age += 1;
}

void espl__retired_drop(espl__heap *heap, uint64_t below)
{
    espl__retired *const retired = &heap->retired;

    while (retired->first != NULL && age_of(retired->first) < below) {
        block *const b = retired->first;

        retired->first = b->next;
        release(heap, b);
    }
}

void espl__retired_go_back(espl__heap *heap, uint64_t age)
{
    espl__retired *const retired = &heap->retired;
    block *kept = NULL, *later = retired->first;

    ESPL_CHECK(age <= retired->age);
    while (later != NULL && age_of(later) < age) {
        kept = later;
        later = later->next;
    }
    *(kept == NULL ? &retired->first : &kept->next) = NULL;
    retired->last = kept;
    while (later != NULL) {
        block *const next = later->next;
        block **const list = list_for(heap, later->size);

        later->next = *list;
        *list = later;
        later = next;
    }
    retired->age = age;
}

void espl__retired_drop_present(espl__heap *heap)
{
    espl__retired *const retired = &heap->retired;

    for (size_t i = 0; i < ESPL__RETIRED_SIZES; ++i) {
        while (retired->fresh[i] != NULL) {
            block *const b = retired->fresh[i];

            retired->fresh[i] = b->next;
            release(heap, b);
        }
    }
}

// --- Sizes ---

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
