// SPDX-License-Identifier: MIT
// The follower of a world: see follow.h. All memory is taken when it begins and where the world takes memory
// itself.
#include "lib/value/follow.h"

#include "lib/world/moment.h"

static bool grow(void *context, espl__growth what, uint32_t number, size_t count)
{
    espl__following *const following = context;

    return espl__shadow_grow(&following->shadow, what, number, count);
}

static size_t bytes_held(const void *context)
{
    const espl__following *const following = context;

    return sizeof *following + espl__shadow_bytes(&following->shadow) + following->history_bytes;
}

void espl__follow_drop_frames(const espl__following *following)
{
    espl__heap *const heap = &following->world->heap;

    if (following->shadow.log == NULL) {
        return;
    }
    espl__undo_forget(following->shadow.log);
    espl__retired_age(heap);
    espl__retired_drop(heap, heap->retired.age);
    heap->retired.is_on = false;
    espl__sides_release(&following->world->forest);
}

static void forget(void *context)
{
    espl__following *const following = context;

    espl__follow_drop_frames(following);
    espl__shadow_forget(&following->shadow, following->names);
}

// Slots of free ranges are no ends of ranges by chance, and the last ones have no links to other ranges: only a
// follower reads them.
static void clear_unused(espl__forest *forest)
{
    uint32_t slot = 0;

    while (slot < forest->end) {
        const uint32_t tree = forest->tree[slot];
        const bool is_free = tree == ESPL__NO_TREE;
        const uint32_t count =
            is_free ? forest->links[slot].first_child : forest->trees[tree].capacity;

        for (uint32_t i = 1; is_free && i + 1 < count; ++i) {
            forest->tree[slot + i] = 0;
        }
        if (is_free && count > 1) {
            forest->links[slot + count - 1] = (espl__links){.first_child = count};
        }
        slot += count;
    }
    for (; slot < forest->capacity; ++slot) {
        forest->tree[slot] = 0;
    }
}

// Make the shadow of the world as it is now. @return false: no memory, nothing changed.
static bool make_shadow(espl_world *world, bool has_checksum, espl__shadow *out)
{
    if (!espl__shadow_begin(out, world)) {
        return false;
    }
    out->has_checksum = has_checksum;
    clear_unused(&world->forest);
    return true;
}

// A loaded world. The log has no frame afterwards.
static bool adopt_world(void *context, void *names)
{
    espl__following *const following = context;
    espl__shadow made;

    if (!make_shadow(following->world, following->shadow.has_checksum, &made)) {
        return false;
    }
    following->names = names;
    forget(following);
    made.log = following->shadow.log;
    espl__shadow_free(&following->shadow);
    following->names = &following->world->store.names;
    following->shadow = made;
    return true;
}

// --- Begin and end ---

// The planes that the shadow of a world needs.
static uint32_t shadow_planes_of(const espl_world *world)
{
    return ESPL__SHADOW_PLANES |
           (espl__forest_has_cells(&world->forest) ? (uint32_t)ESPL__SHADOW_CELL_PLANES : 0u);
}

static void end_following(void *context)
{
    espl__following *const following = context;
    espl_world *const world = following->world;

    ESPL_CHECK(following->shadow.log == NULL);
    world->heap.follower = (espl__follower){NULL, NULL, NULL, NULL, NULL, NULL};
    espl__planes_release(world, shadow_planes_of(world));
    espl__shadow_free(&following->shadow);
    espl__heap_give(&world->heap, ESPL__FOR_CHANGES, following, 1, sizeof *following,
                    _Alignof(espl__following));
}

static espl__following *begin_following(espl_world *world, bool has_checksum)
{
    espl__following *const made = espl__heap_take(&world->heap, ESPL__FOR_CHANGES, 1, sizeof *made,
                                                  _Alignof(espl__following));

    if (made == NULL) {
        return NULL;
    }
    *made = (espl__following){.world = world, .names = &world->store.names};
    if (make_shadow(world, has_checksum, &made->shadow)) {
        if (espl__planes_acquire(world, shadow_planes_of(world))) {
            world->heap.follower =
                (espl__follower){grow, forget, adopt_world, bytes_held, end_following, made};
            return made;
        }
        espl__shadow_free(&made->shadow);
    }
    espl__heap_give(&world->heap, ESPL__FOR_CHANGES, made, 1, sizeof *made,
                    _Alignof(espl__following));
    return NULL;
}

espl__following *espl__follow(espl_world *world, bool has_checksum)
{
    return world->heap.follower.context != NULL
               ? world->heap.follower.context
               : begin_following(world, has_checksum || espl__is_taped(world));
}

void espl__unfollow(espl__following *following)
{
    if (following->shadow.log == NULL && !following->has_frames) {
        end_following(following);
    }
}
