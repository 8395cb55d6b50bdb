// SPDX-License-Identifier: MIT
// What the planes of a forest say, slot by slot and block by block, whatever happens: no slot gets another node
// without a mark, and no block is newer than what happened to its slots. What the planes of worlds and of own
// data say of slots is tested with watches: world/watch_random_test.
#include "lib/world/moment.h"
#include "tests/asked.h"
#include "tests/fixture.h"
#include "tests/runner.h"
#include "tests/stage.h"

#include <stdlib.h>
#include <string.h>

enum {
    SLOTS = 1 << 14,
    BLOCKS = SLOTS / ESPL__PLANE_BLOCK,
    PLANES = 1 << ESPL__PLANE_WORLD | 1 << ESPL__PLANE_OWN | 1 << ESPL__PLANE_PLACE
};

// The node of a slot, by its entity.
typedef struct occupant {
    uint32_t index, generation;
} occupant;

// What the slots had at a moment.
typedef struct shadow {
    espl_world *world;
    uint32_t since, end;
    occupant occupants[SLOTS];
    uint64_t changed, quiet; // slots that got another node, and blocks that nothing happened to
} shadow;

static shadow seen;

static occupant occupant_of(const espl_world *world, uint32_t slot)
{
    const espl__forest *const forest = &world->forest;

    if (slot >= forest->end || !espl__slot_has_node(forest, slot)) {
        return (occupant){ESPL__NO_ENTITY, 0};
    }
    const uint32_t index = forest->links[slot].entity;

    return (occupant){index, world->store.records[index].generation};
}

static void look(void)
{
    ck_assert_uint_le(seen.world->forest.end, SLOTS);
    seen.end = seen.world->forest.end;
    for (uint32_t slot = 0; slot < SLOTS; ++slot) {
        seen.occupants[slot] = occupant_of(seen.world, slot);
    }
    seen.since = (uint32_t)espl__world_next_moment(seen.world);
}

static void begin_shadow(espl_world *world)
{
    seen.world = world;
    ck_assert(espl__planes_acquire(world, PLANES));
    look();
}

// Compare the planes of one block with what happened since the last look.
static void compare_block(uint32_t block)
{
    const espl__forest *const forest = &seen.world->forest;
    const espl__plane *const planes = forest->tracks.planes;
    const espl__plane *const place = &planes[ESPL__PLANE_PLACE];
    const uint64_t moved = espl__plane_changed(place, block, seen.since);
    uint64_t happened = moved;

    for (uint32_t i = 0; i < ESPL__PLANE_BLOCK; ++i) {
        const uint32_t slot = block * ESPL__PLANE_BLOCK + i;
        const occupant now = occupant_of(seen.world, slot);

        if (slot < forest->end && memcmp(&now, &seen.occupants[slot], sizeof now) != 0) {
            ck_assert_msg((moved >> i & 1) != 0, "slot %u has another node, unmarked", slot);
            seen.changed += 1;
        }
    }
    ck_assert(espl__plane_block_changed(place, block, seen.since) == (moved != 0));
    for (int plane = ESPL__PLANE_WORLD; plane <= ESPL__PLANE_OWN; ++plane) {
        happened |= espl__plane_changed(&planes[plane], block, seen.since);
        // A node that moves takes its stamp along, and makes the block of its new slot newer.
        ck_assert_msg(!espl__plane_block_changed(&planes[plane], block, seen.since) ||
                          espl__plane_changed(&planes[plane], block, seen.since) != 0 || moved != 0,
                      "block %u of plane %d is newer than its slots", block, plane);
    }
    seen.quiet += happened == 0 ? 1 : 0;
}

static void compare(void)
{
    const uint32_t end = seen.world->forest.end;

    for (uint32_t block = 0; block * ESPL__PLANE_BLOCK < end; ++block) {
        compare_block(block);
    }
    look();
}

static void end_shadow(void)
{
    espl__planes_release(seen.world, PLANES);
}

static void tell(uint64_t changed, uint64_t quiet)
{
    test_tell_figure(changed, "slots that got another node");
    test_tell_figure(quiet, "blocks that nothing happened to");
    ck_assert_uint_gt(changed, 0);
}

TEST_LOOP(no_call_gives_a_slot_another_node_unmarked, 0, 2)
{
    static const uint32_t populations[2] = {30, 300};
    const uint32_t runs = _i == 0 ? 20 : 4;
    uint64_t state = 5 + (uint64_t)_i;

    seen.changed = seen.quiet = 0;
    for (uint32_t run = 0; run < runs; ++run) {
        test_tape tape;
        test_side side;

        tape_begin(&tape, test_random(&state), populations[_i]);
        tape_take_cells(&tape);
        side_begin(&side, &tape, 1, NULL);
        begin_shadow(side.world);
        for (size_t i = test_scaled_alone(300); i != 0 && !tape_is_worn(&tape); --i) {
            const operation op = tape_next(&tape);

            side_follow(&side, &tape, &op, side_run(&side, &tape, &op));
            compare();
        }
        end_shadow();
        side_end(&side);
        tape_end(&tape);
    }
    tell(seen.changed, seen.quiet);
}

// Some are undone first, because memory runs out.
TEST_LOOP(no_playback_gives_a_slot_another_node_unmarked, 0, 2)
{
    static const uint32_t populations[2] = {30, 300};
    const uint32_t runs = _i == 0 ? 12 : 3;
    uint64_t state = 9 + (uint64_t)_i, random = state;

    seen.changed = seen.quiet = 0;
    for (uint32_t run = 0; run < runs; ++run) {
        stage *const s = stage_begin(test_random(&state), populations[_i], NULL, 1);
        const uint32_t limit = stage_fit(s, populations[_i]);
        test_side *const side = &s->played[0];

        begin_shadow(side->world);
        for (size_t i = test_scaled_alone(20); i != 0 && !tape_is_worn(&s->tape); --i) {
            espl_report report;
            espl_status status = ESPL_ERR_NO_MEMORY;

            stage_record(s, 1 + test_below(&random, limit));
            const expected wanted = stage_run(s);

            for (int tries = 0; tries < 3 && status == ESPL_ERR_NO_MEMORY; ++tries) {
                test_heap_arm(&side->test.heap, 1 + test_below(&random, 60), false);
                status = espl_play(side->world, side->batch, &report);
                test_heap_arm(&side->test.heap, 0, false);
                compare();
            }
            if (status != ESPL_OK && !stage_play(s, side, &wanted, &report)) {
                break;
            }
            compare();
            stage_compare(s, side, &wanted, NULL);
        }
        end_shadow();
        stage_end(s);
    }
    tell(seen.changed, seen.quiet);
}

// A write of one entity makes one block newer, in the planes of worlds and of own data.
TEST(a_write_makes_one_block_newer)
{
    if (test_lacks_room(4000, "several blocks of slots")) {
        return;
    }
    enum { NODES = 4 * ESPL__PLANE_BLOCK };
    const espl_component transform = ESPL_TRANSFORM;
    espl_entity nodes[NODES];
    test_world test;

    test_world_begin(&test, 1, NULL);
    ck_ok(espl_create(test.world, &transform, 1, NODES, nodes));
    begin_shadow(test.world);
    for (uint32_t i = 0; i < NODES; ++i) {
        const espl__plane *const planes = test.world->forest.tracks.planes;
        const uint32_t slot = test.world->store.records[nodes[i].index].slot;

        ck_ok(espl_set_local_position(test.world, nodes[i], (const float[3]){1 + (float)i, 0, 0}));
        for (uint32_t block = 0; block * ESPL__PLANE_BLOCK < test.world->forest.end; ++block) {
            const bool is_written = block == slot / ESPL__PLANE_BLOCK;

            ck_assert(espl__plane_block_changed(&planes[ESPL__PLANE_WORLD], block, seen.since) ==
                      is_written);
            ck_assert(espl__plane_block_changed(&planes[ESPL__PLANE_OWN], block, seen.since) ==
                      is_written);
            ck_assert(!espl__plane_block_changed(&planes[ESPL__PLANE_PLACE], block, seen.since));
        }
        look();
        // An equal write makes none newer.
        ck_ok(espl_set_local_position(test.world, nodes[i], (const float[3]){1 + (float)i, 0, 0}));
        for (uint32_t block = 0; block * ESPL__PLANE_BLOCK < test.world->forest.end; ++block) {
            ck_assert(!espl__plane_block_changed(&planes[ESPL__PLANE_WORLD], block, seen.since));
            ck_assert(!espl__plane_block_changed(&planes[ESPL__PLANE_OWN], block, seen.since));
        }
    }
    end_shadow();
    test_world_end(&test);
}

// A tree moves down over the entities before it, and some of its slots are spare ones then.
TEST(slots_that_a_compaction_empties_are_marked)
{
    if (test_lacks_room(4000, "several blocks of slots")) {
        return;
    }
    enum { BEFORE = 100, NODES = 200 };
    const espl_component transform = ESPL_TRANSFORM;
    espl_entity before[BEFORE];
    test_world test;

    test_world_begin(&test, 1, NULL);
    ck_ok(espl_create(test.world, &transform, 1, BEFORE, before));
    free(make_chain(test.world, NODES));
    ck_ok(espl_compact(test.world));
    for (uint32_t i = 0; i < BEFORE; ++i) {
        ck_ok(espl_destroy(test.world, before[i], ESPL_EXTENT_SUBTREE));
    }
    seen.changed = 0;
    begin_shadow(test.world);
    ck_ok(espl_compact(test.world));
    compare();
    ck_assert_uint_gt(seen.changed, NODES);
    end_shadow();
    test_world_end(&test);
}
