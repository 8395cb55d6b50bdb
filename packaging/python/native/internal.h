// SPDX-License-Identifier: MIT
/// @file
/// What the native sources share.
#ifndef ESPALIER_PYTHON_INTERNAL_H
#define ESPALIER_PYTHON_INTERNAL_H

#include "native.h"

#include <stdatomic.h>

/// The memory of one world, as espl_allocator. It outlives the world while something is pinned.
typedef struct native_heap native_heap;

/// Return a heap without blocks, or NULL.
native_heap *native_heap_create(bool huge_pages);
/// Return the functions of a heap.
espl_allocator native_heap_allocator(native_heap *heap);
/// The world has ended: free the heap now, or with its last pin.
void native_heap_close(native_heap *heap);

/// What a world must end before it is destroyed: a command buffer, or an iteration.
typedef struct native_owned {
    struct native_owned *previous, *next; // of the same world
    struct native_owned *next_dead;       // among those that Python has released
    native_world *w;
    void (*end)(struct native_owned *owned); // may be called more than once
} native_owned;

struct native_world {
    espl_world *world; // NULL once closed
    native_heap *heap;
    native_owned *first;
    // Released by Python's garbage collector on any thread, perhaps while the world is inside a call.
    // They are freed by the next call that changes the world.
    _Atomic(native_owned *) dead;
    atomic_size_t users;
};

/// Begin a call that changes the world: free what was released. Return the world, or NULL.
espl_world *native_enter(native_world *w);
/// Return the world for a call that only reads, or NULL.
static inline const espl_world *native_peek(const native_world *w)
{
    return w != NULL ? w->world : NULL;
}
/// Add what was allocated by malloc() and begins with a native_owned.
void native_own(native_world *w, native_owned *added, void (*end)(native_owned *owned));
/// Hand it over to be freed. Any thread.
void native_disown(native_owned *released);

/// Return the definition that a native_creation stands for.
espl_instance_def native_instance_def(const native_creation *def);
/// Fill in the definition; false where there are too many values. `room` has ESPL_SET_LIMIT + 1 values.
bool native_creation_def(const native_creation *def, espl_component_value *room,
                         espl_creation_def *out);
espl_attach_options native_attach_options(const native_attachment *options);

espl_entity native_from(int64_t handle);
int64_t native_to(espl_entity entity);

#endif
