// SPDX-License-Identifier: MIT
// Playbacks whose scratch runs out. Blocks of the arena hold many pieces, so that an allocation which
// fails is the one of hardly any of them: here the arena has room up to some byte and gets no more.
#ifndef ESPALIER_TESTS_COMMANDS_SCARCE_H
#define ESPALIER_TESTS_COMMANDS_SCARCE_H

#include "lib/world/inside.h"
#include "tests/runner.h"
#include "tests/support.h"

// A block is at least as large as all before it, by which it is told from what else is taken.
enum { SCARCE_STEP = 64, SCARCE_MOST = 1 << 20 };

static inline void *scarce_allocate(void *user, size_t size, size_t alignment)
{
    test_heap *const heap = user;

    return size >= SCARCE_MOST && alignment == SCARCE_STEP
               ? NULL
               : test_heap_allocator(heap).allocate(heap, size, alignment);
}

/// Play with `room` bytes of scratch, at most SCARCE_MOST.
static inline espl_status scarce_play(espl_world *world, espl_commands *commands, size_t room,
                                      espl_report *report)
{
    void *(*const allocate)(void *, size_t, size_t) = world->heap.allocator.allocate;
    espl__arena *const arena = &world->playback.arena;

    espl__arena_free(arena);
    ck_assert_ptr_nonnull(espl__arena_take(arena, 1, SCARCE_MOST));
    arena->blocks->used = arena->blocks->size - room;
    world->heap.allocator.allocate = scarce_allocate;
    const espl_status status = espl_play(world, commands, report);

    world->heap.allocator.allocate = allocate;
    return status;
}

#endif
