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
    ESPL__FOR_CHANGES,   ///< watches
    ESPL__FOR_RECORDING, ///< allocated by any thread, during a commit as well
    ESPL__PURPOSE_COUNT
} espl__purpose;

/// What a follower of a world keeps a copy of, so that it needs as much memory.
typedef enum espl__growth {
    ESPL__GROWTH_SLOTS,
    ESPL__GROWTH_TREES,
    ESPL__GROWTH_RECORDS,
    ESPL__GROWTH_ARCHETYPES,
    ESPL__GROWTH_CHUNKS,    ///< of one archetype
    ESPL__GROWTH_SIDES,     ///< whether there are side arrays
    ESPL__GROWTH_PASTS,     ///< whether motion runs
    ESPL__GROWTH_ORIGINALS, ///< whether there are counterparts
} espl__growth;

/// A follower of a world, which takes its memory where the world does. {0}: none.
typedef struct espl__follower {
    /// Take memory for `count` items. @param number  of an archetype. @return false: no memory.
    bool (*grow)(void *context, espl__growth what, uint32_t number, size_t count);
    /// The world changed in a way that cannot be followed.
    void (*forget)(void *context);
    /// The world has another store and another forest now, all of whose memory it has. @param names  of the
    /// store that it had. @return false: no memory; the world goes back to what it had.
    bool (*adopt)(void *context, void *names);
    /// Return the bytes of ESPL__FOR_CHANGES that it holds.
    size_t (*bytes)(const void *context);
    /// The world ends: stop to follow it, and free all memory.
    void (*end)(void *context);
    void *context;
} espl__follower;

enum { ESPL__RETIRED_SIZES = 64 }; // lists of blocks, by size

/// Blocks that the world has freed and that a follower may take back, to go back to an earlier state. They are
/// of an age: a number that only increases, but when the follower goes back.
typedef struct espl__retired {
    bool is_on;                                             // else blocks are freed at once
    uint64_t age;                                           // of blocks that are freed now
    struct espl__retired_block *fresh[ESPL__RETIRED_SIZES]; // of the present age, by size
    struct espl__retired_block *first, *last;               // of earlier ages, the oldest first
    size_t bytes; // of all of them, which count as ESPL__FOR_CHANGES
} espl__retired;

typedef struct espl__heap {
    espl_allocator allocator;
    espl__follower follower;
    espl__retired retired;
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

// --- Followers. Blocks that they take back ---

/// Tell a follower that the world is about to have room for so many items, before it has.
/// @return false: no memory; the world must not have it then.
static inline bool espl__heap_grow(const espl__heap *heap, espl__growth what, uint32_t number,
                                   size_t count)
{
    return heap->follower.grow == NULL ||
           heap->follower.grow(heap->follower.context, what, number, count);
}

/// Tell a follower that the world changed in a way that it cannot follow.
static inline void espl__heap_forget(const espl__heap *heap)
{
    if (heap->follower.forget != NULL) {
        heap->follower.forget(heap->follower.context);
    }
}

/// Tell a follower that the world ends.
static inline void espl__heap_end_follower(const espl__heap *heap)
{
    if (heap->follower.end != NULL) {
        heap->follower.end(heap->follower.context);
    }
}

/// Return the bytes of ESPL__FOR_CHANGES of the follower and of retired blocks.
static inline size_t espl__heap_followed(const espl__heap *heap)
{
    return heap->retired.bytes +
           (heap->follower.bytes != NULL ? heap->follower.bytes(heap->follower.context) : 0);
}

/// As espl__heap_give(), but the block is retired while there is a follower. Precondition: it has 24 bytes at
/// least.
void espl__heap_retire(espl__heap *heap, espl__purpose purpose, void *block, size_t size,
                       size_t alignment);
/// Take back a block of the present age. Allocates nothing. @return NULL: there is none.
void *espl__heap_take_back(espl__heap *heap, espl__purpose purpose, size_t size, size_t alignment);
/// As espl__heap_take() of one item, but a retired block of the present age comes first.
static inline void *espl__heap_take_again(espl__heap *heap, espl__purpose purpose, size_t size,
                                          size_t alignment)
{
    void *const again =
        heap->retired.is_on ? espl__heap_take_back(heap, purpose, size, alignment) : NULL;

    return again != NULL ? again : espl__heap_take(heap, purpose, 1, size, alignment);
}
/// Go to the next age.
void espl__retired_age(espl__heap *heap);
/// Free the blocks of lower ages.
void espl__retired_drop(espl__heap *heap, uint64_t below);
/// Go back to an age: blocks of it and of later ones become those of the present age.
void espl__retired_go_back(espl__heap *heap, uint64_t age);
/// Free the blocks of the present age.
void espl__retired_drop_present(espl__heap *heap);

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
