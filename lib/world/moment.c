// SPDX-License-Identifier: MIT
// The moment and the planes of a world: see moment.h. The planes of the forest are by slot, that of the
// store is by entity index, and all have one moment.
#include "lib/world/moment.h"

#include "lib/tree/changes.h"

_Static_assert(ESPL__PLANES <= 32, "a set of planes is a word");

uint64_t espl__world_next_moment(espl_world *world)
{
    const uint64_t before = world->moment;

    world->moment = before + 1;
    espl__forest_set_moment(&world->forest, world->moment);
    espl__store_set_moment(&world->store, world->moment);
    return before;
}

static bool open_number(espl_world *world, int number)
{
    return number == ESPL__PLANE_INDEX ? espl__index_plane_open(&world->store)
                                       : espl__plane_open(&world->forest, number);
}

static void close_number(espl_world *world, int number)
{
    if (number == ESPL__PLANE_INDEX) {
        espl__index_plane_close(&world->store);
    } else {
        espl__plane_close(&world->forest, number);
    }
}

// A plane without users is closed, so that it is closed again where a later one finds no memory.
bool espl__planes_acquire(espl_world *world, uint32_t planes)
{
    bool is_done = true;

    for (int i = 0; i < ESPL__PLANES && is_done; ++i) {
        is_done = (planes >> i & 1) == 0 || open_number(world, i);
    }
    for (int i = 0; i < ESPL__PLANES; ++i) {
        if (is_done) {
            world->plane_users[i] += planes >> i & 1;
        } else if (world->plane_users[i] == 0) {
            close_number(world, i);
        }
    }
    return is_done;
}

void espl__planes_release(espl_world *world, uint32_t planes)
{
    for (int i = 0; i < ESPL__PLANES; ++i) {
        if ((planes >> i & 1) != 0) {
            ESPL_CHECK(world->plane_users[i] != 0);
            world->plane_users[i] -= 1;
            if (world->plane_users[i] == 0) {
                close_number(world, i);
            }
        }
    }
}

// Return a plane by its number.
static const espl__plane *plane_of(const espl_world *world, int number)
{
    return number == ESPL__PLANE_INDEX ? &world->store.index_plane
                                       : &world->forest.tracks.planes[number];
}

size_t espl__planes_count(const espl_world *world)
{
    size_t count = 0;

    for (int i = 0; i < ESPL__PLANES; ++i) {
        count += espl__plane_is_open(plane_of(world, i)) ? 1 : 0;
    }
    return count;
}

size_t espl__planes_bytes(const espl_world *world)
{
    size_t bytes = 0;

    for (int i = 0; i < ESPL__PLANES; ++i) {
        bytes += espl__plane_bytes(plane_of(world, i));
    }
    return bytes;
}
