// SPDX-License-Identifier: MIT
/// @file
/// What the native sources share.
#ifndef ESPALIER_PYTHON_INTERNAL_H
#define ESPALIER_PYTHON_INTERNAL_H

#include "native.h"

#include <stdatomic.h>

/// The allocator of one world. It outlives the world while a pin is left.
typedef struct native_heap native_heap;

/// Return a heap without blocks, or NULL.
native_heap *native_heap_create(bool huge_pages);
/// Return the functions of a heap.
espl_allocator native_heap_allocator(native_heap *heap);
/// Free the heap of a world that was destroyed, now or with the last pin.
void native_heap_close(native_heap *heap);

/// The first member of what a world must end before it is destroyed: a native_buffer,
/// a native_query, a native_watch, a native_history, native_renderables or a native_visible.
typedef struct native_owned {
    struct native_owned *previous, *next; // in the list of all that the world owns
    struct native_owned *next_released;   // in the list native_world.released
    native_world *w;
    // May be called more than once. Returns false where a query is open that must end before it.
    bool (*end)(struct native_owned *owned);
} native_owned;

struct native_world {
    espl_world *world; // NULL once closed
    native_heap *heap;
    native_owned *owned; // the first of the list
    // What Python has released and the world still owns. Python's garbage collector releases on any
    // thread, perhaps during a call of the world, so the next call that changes the world frees them.
    _Atomic(native_owned *) released;
    size_t open_queries;
    atomic_size_t users; // Python's World, and what the world owns and Python has not released
};

/// Begin a call that changes the world: free what was released. Return the world, NULL once closed.
espl_world *native_enter(native_world *w);
/// Return the world for a call that only reads, NULL once closed.
static inline const espl_world *native_peek(const native_world *w)
{
    return w->world;
}
/// Make the world own an object that malloc() has allocated and that begins with a native_owned.
void native_own(native_world *w, native_owned *added, bool (*end)(native_owned *owned));
/// Release an object: the next call that changes its world, and may end it, frees it. Any thread.
void native_disown(native_owned *released);

/// Return the definition that a native_creation stands for.
espl_instance_def native_instance_def(const native_creation *def);
/// Fill in the definition; false where there are too many values. `room` has ESPL_SET_LIMIT + 1 values.
bool native_creation_def(const native_creation *def, espl_component_value *room,
                         espl_creation_def *out);
espl_attach_options native_attach_options(const native_attachment *options);
/// Return the definition that terms stand for. It points to their arrays.
espl_query_def native_query_def(const native_terms *terms);

espl_entity native_from(int64_t handle);
int64_t native_to(espl_entity entity);

#endif
