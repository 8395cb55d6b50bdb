// SPDX-License-Identifier: MIT
// The allocator of a world. A block that the world releases while an address in it is pinned stays
// allocated until the last of these pins is released. So a Python array without a copy never reads freed
// memory, not even after its `with` block or its world has ended.
#include "internal.h"

#include <stdlib.h>
#ifdef __linux__
#include <sys/mman.h>
#endif
#ifdef _WIN32
#include <malloc.h>
#endif

#define HUGE_PAGE ((size_t)1 << 21)

// The record of a released block that is pinned. It overwrites the block, whose values are unspecified
// then.
typedef struct kept {
    size_t pins; // left in the block
    size_t size;
} kept;

struct native_pin {
    native_pin *previous, *next;
    native_heap *heap;
    const unsigned char *address;
    kept *block; // NULL while the block is in use
};

// The lock is held for a few instructions. Pins are made and released by Python threads while
// other threads may allocate.
struct native_heap {
    atomic_flag busy;
    bool has_huge_pages;
    bool is_closed;
    native_pin *pins;
    size_t kept_bytes;
};

static void lock(native_heap *heap)
{
    while (atomic_flag_test_and_set_explicit(&heap->busy, memory_order_acquire)) {
    }
}

static void unlock(native_heap *heap)
{
    atomic_flag_clear_explicit(&heap->busy, memory_order_release);
}

static void free_block(void *block)
{
#ifdef _WIN32
    _aligned_free(block);
#else
    free(block);
#endif
}

// Large blocks begin at a huge page and are advised to be huge pages, as by the library's own allocator,
// which is not public.
static void *allocate(void *user, size_t size, size_t alignment)
{
    const native_heap *const heap = user;
    const size_t least = alignment < 16 ? 16 : alignment;
    const size_t wanted = size < sizeof(kept) ? sizeof(kept) : size;

#ifdef _WIN32
    (void)heap;
    return _aligned_malloc(wanted, least);
#else
    const bool is_huge = heap->has_huge_pages && wanted >= HUGE_PAGE;
    void *block = NULL;

    if (posix_memalign(&block, is_huge ? HUGE_PAGE : least, wanted) != 0) {
        return NULL;
    }
#ifdef MADV_HUGEPAGE
    if (is_huge) {
        (void)madvise(block, wanted & ~(HUGE_PAGE - 1), MADV_HUGEPAGE);
    }
#endif
    return block;
#endif
}

static void release(void *user, void *block, size_t size, size_t alignment)
{
    native_heap *const heap = user;
    const uintptr_t begin = (uintptr_t)block;
    size_t pins = 0;

    (void)alignment;
    lock(heap);
    for (native_pin *pin = heap->pins; pin != NULL; pin = pin->next) {
        if (pin->block == NULL && (uintptr_t)pin->address - begin < size) {
            pin->block = block;
            pins += 1;
        }
    }
    if (pins != 0) {
        *(kept *)block = (kept){pins, size};
        heap->kept_bytes += size;
    }
    unlock(heap);
    if (pins == 0) {
        free_block(block);
    }
}

native_heap *native_heap_create(bool huge_pages)
{
    native_heap *const heap = calloc(1, sizeof *heap);

    if (heap != NULL) {
        atomic_flag_clear(&heap->busy);
        heap->has_huge_pages = huge_pages;
    }
    return heap;
}

espl_allocator native_heap_allocator(native_heap *heap)
{
    return (espl_allocator){heap, allocate, release};
}

void native_heap_close(native_heap *heap)
{
    lock(heap);
    heap->is_closed = true;
    const bool is_last = heap->pins == NULL;
    unlock(heap);
    if (is_last) {
        free(heap);
    }
}

native_pin *native_pin_create(native_world *w, const void *address)
{
    native_pin *const pin = w->world != NULL ? calloc(1, sizeof *pin) : NULL;

    if (pin == NULL) {
        return NULL;
    }
    pin->heap = w->heap;
    pin->address = address;
    lock(pin->heap);
    pin->next = pin->heap->pins;
    if (pin->next != NULL) {
        pin->next->previous = pin;
    }
    pin->heap->pins = pin;
    unlock(pin->heap);
    return pin;
}

void native_pin_release(native_pin *pin)
{
    native_heap *const heap = pin->heap;
    kept *unused = NULL;

    lock(heap);
    *(pin->previous != NULL ? &pin->previous->next : &heap->pins) = pin->next;
    if (pin->next != NULL) {
        pin->next->previous = pin->previous;
    }
    if (pin->block != NULL && --pin->block->pins == 0) {
        unused = pin->block;
        heap->kept_bytes -= unused->size;
    }
    const bool is_last = heap->is_closed && heap->pins == NULL;
    unlock(heap);
    if (unused != NULL) {
        free_block(unused);
    }
    if (is_last) {
        free(heap);
    }
    free(pin);
}

size_t native_pinned_bytes(const native_world *w)
{
    lock(w->heap);
    const size_t bytes = w->heap->kept_bytes;
    unlock(w->heap);
    return bytes;
}
