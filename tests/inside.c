// SPDX-License-Identifier: MIT
#include "tests/inside.h"

#include "tests/asserts.h"
#include "tests/support.h"

#include "lib/commands/playback.h"
#include "lib/world/creation.h"
#include "lib/world/moment.h"
#include "lib/world/watches.h"

void test_cut_jobs(espl_world *world, uint32_t cost)
{
    world->job_cost = world->wake_cost = cost;
    world->forest.grain = cost;
    world->store.fill_least = cost;
    world->playback->context.part_entries = 1 + cost / 4;
    world->playback->context.divided_entries = 1 + cost / 4;
}

// --- Scratch ---

void test_free_scratch(espl_world *world)
{
    espl__own_free(world);
    espl__playback_trim(world->playback);
    espl__scratch_free(&world->heap, ESPL__FOR_COMMANDS, &world->write_scratch);
}

// A block of the arena is at least as large as all blocks before it together, and aligned to the step: so
// the arena's allocations differ from all others.
static void *allocate_but_scratch(void *user, size_t size, size_t alignment)
{
    test_heap *const heap = user;

    return size >= TEST_SCRATCH_LIMIT && alignment == TEST_SCRATCH_STEP
               ? NULL
               : test_heap_allocator(heap).allocate(heap, size, alignment);
}

espl_status test_play_in(espl_world *world, espl_command_buffer *commands, size_t room,
                         espl_report *report)
{
    void *(*const allocate)(void *, size_t, size_t) = world->heap.allocator.allocate;
    espl__arena *const arena = &world->playback->context.arena;

    espl__arena_free(arena);
    ck_assert_ptr_nonnull(espl__arena_take(arena, 1, TEST_SCRATCH_LIMIT));
    // The round took the whole limit, as the size of the next block shows.
    arena->next = arena->end - room;
    arena->earlier = room;
    world->heap.allocator.allocate = allocate_but_scratch;
    const espl_status status = espl_play(world, commands, report);

    world->heap.allocator.allocate = allocate;
    return status;
}

// --- Huge pages ---

bool test_uses_huge_pages(const espl_world *world)
{
    const espl_allocator none = {0};
    espl__heap plain;

    espl__heap_init(&plain, &none);
    return world->heap.allocator.allocate != plain.allocator.allocate;
}

// --- Commits ---

bool test_is_in_commit(const espl_world *world)
{
    return world->heap.is_forbidden;
}

size_t test_scanned_slots(const espl_watch *watch)
{
    return watch->scanned;
}

uint64_t test_count_commits(const espl_world *world)
{
    return world->heap.commits;
}

void test_allocate_inside(espl_world *world)
{
    (void)espl__heap_take(&world->heap, ESPL__FOR_TREE, 1, 8, 8);
}

// --- Layout ---

bool test_is_laid_out(const espl_world *world, espl_entity entity)
{
    ck_assert(espl_is_alive(world, entity));
    return (espl__tree_of(&world->forest, world->store.records[entity.index].slot)->flags &
            ESPL__TREE_IN_ORDER) != 0;
}

bool test_owes_layout(const espl_world *world, espl_entity entity)
{
    ck_assert(espl_is_alive(world, entity));
    return espl__tree_is_due(
        espl__tree_of(&world->forest, world->store.records[entity.index].slot));
}

uint64_t test_count_moved_nodes(const espl_world *world)
{
    return world->forest.nodes_laid_out + world->forest.nodes_moved;
}

// --- Numbers that run out ---

void test_wear_marks(espl_world *world, uint32_t left)
{
    world->marks_used = UINT32_MAX - left;
}

// Turns are even where no iteration is under way.
void test_wear_iterations(espl_world *world, uint32_t left)
{
    for (size_t i = 0; i < ESPL__ITERATIONS_NOTED; ++i) {
        ck_assert_uint_eq(world->noted[i].turn % 2, 0);
        world->noted[i].turn = (UINT32_MAX - 2 * left) & ~UINT32_C(1);
    }
    world->noted_order = UINT32_MAX - left;
}

void test_forget_iterations(espl_world *world, uint32_t count)
{
    world->iterations = count;
    world->unnoted = count;
}

void test_wear_commands(espl_world *world, uint32_t left)
{
    world->playback->custom.last = UINT32_MAX - left;
}

void test_age_index(espl_world *world, uint32_t index, uint32_t left)
{
    const uint32_t last = (UINT32_C(1) << ESPL__GENERATION_BITS) - 1;
    espl__record *const record = &world->store.records[index];

    ck_assert_uint_eq(record->row, ESPL__NONE);
    record->generation = (record->generation & ~last) | (last + 1 - left);
}

void test_set_moment(espl_world *world, uint64_t moment)
{
    ck_assert_uint_eq(world->watch_count, 0);
    world->moment = moment - 1;
    (void)espl__world_next_moment(world);
}

size_t test_count_indices(const espl_world *world)
{
    return espl__array_length(world->store.records);
}
