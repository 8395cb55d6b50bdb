// SPDX-License-Identifier: MIT
// Frames of spawns and ends, of members and of whole ships, some groups of which go the short way:
// beside a world in which none does, on any executor, and where memory runs out.
#include "tests/commands/dock.h"
#include "tests/runner.h"

// --- Random frames ---

enum { FLEET = 48, BERTHS = 160, SOURCES = 6, MOST = 1500, INDICES = 8000 };

// A fleet of small ships, of which only the roots have numbers to be asked for. Berths are for
// those that are to come: each holds a ship, or one that was recorded, or null.
typedef struct fleet {
    dock d;
    uint32_t berths[BERTHS], sources[SOURCES];
    uint32_t ship_count; // that live or come, and were not recorded to go
    espl_executor threads;
} fleet;

static void add_sources(fleet *f)
{
    dock *const d = &f->d;
    const uint32_t all[SOURCES] = {d->prefab,         d->solo,           d->prefab + 1,
                                   add_tree(d, 4, 4), add_tree(d, 3, 1), add_tree(d, 6, 2)};
    const link_value value = {1, entity_of(d, all[4])};

    memcpy(f->sources, all, sizeof all);
    attach_free(d, add_entity(d, espl_entity_null(), false), all[3]);
    ck_assert_int_eq(espl_add(d->y.world, entity_of(d, all[4] + 1), d->link, &value, sizeof value),
                     ESPL_OK);
    (void)add_entity(d, entity_of(d, all[5]), true);
}

static void fleet_begin(fleet *f, uint64_t seed, bool is_long)
{
    memset(f, 0, sizeof *f);
    dock_begin(&f->d, seed, is_long);
    add_sources(f);
    for (uint32_t i = 0; i < BERTHS; ++i) {
        f->berths[i] = f->d.y.count++;
        if (i < FLEET) {
            f->d.y.count = f->berths[i];
            ck_assert_uint_eq(add_tree(&f->d, 8, 3), f->berths[i]);
            f->d.y.count = f->berths[i] + 1;
            f->d.y.entities[f->d.y.count] = espl_entity_null();
        }
    }
    f->ship_count = FLEET;
    f->d.y.random = seed;
}

static void fleet_end(fleet *f)
{
    dock_end(&f->d);
    espl_executor_destroy_threads(&f->threads);
}

static bool is_root(const fleet *f, espl_entity node)
{
    return espl_entity_is_null(espl_get_parent(f->d.y.world, node));
}

static bool is_ship(const fleet *f, uint32_t berth)
{
    return espl_is_alive(f->d.y.world, entity_of(&f->d, f->berths[berth]));
}

// A berth for one that comes.
static espl_entity *find_berth(fleet *f)
{
    uint32_t i = 0;

    while (!espl_entity_is_null(entity_of(&f->d, f->berths[i]))) {
        ck_assert_uint_lt(++i, BERTHS);
    }
    return &f->d.y.entities[f->berths[i]];
}

// Behind a playback: those that went, or never came, leave their berths; roots that nobody knows,
// since they hung below those that went, are ships too.
static void moor(fleet *f)
{
    static bool are_known[INDICES];
    dock *const d = &f->d;
    const espl__store *const store = &d->y.world->store;

    memset(are_known, 0, sizeof are_known);
    ck_assert_uint_le(espl__array_length(store->records), INDICES);
    for (uint32_t i = 0; i < d->y.count; ++i) {
        if (espl_is_alive(d->y.world, entity_of(d, i))) {
            are_known[entity_of(d, i).index] = true;
        }
    }
    f->ship_count = 0;
    for (uint32_t i = 0; i < BERTHS; ++i) {
        espl_entity *const berth = &d->y.entities[f->berths[i]];

        *berth = is_ship(f, i) ? *berth : espl_entity_null();
        f->ship_count += espl_entity_is_null(*berth) ? 0 : 1;
    }
    for (uint32_t i = 0; i < espl__array_length(store->records); ++i) {
        const espl_entity entity = espl__entity_at(store, i);

        if (store->records[i].row < ESPL__CHUNK_ROWS && !are_known[i] && is_root(f, entity)) {
            *find_berth(f) = entity;
            f->ship_count += 1;
        }
    }
}

// Some node of a ship, by a path that is the same in all fleets.
static espl_entity any_node(fleet *f)
{
    uint64_t *const random = &f->d.y.random;
    const espl_world *const world = f->d.y.world;
    uint32_t berth = test_below(random, BERTHS);

    for (uint32_t i = 0; i < BERTHS && !is_ship(f, berth); ++i) {
        berth = (berth + 1) % BERTHS;
    }
    espl_entity node = entity_of(&f->d, f->berths[berth]);
    const uint32_t steps = test_below(random, 5);
    size_t children = espl_count_children(world, node);

    for (uint32_t i = 0; i < steps && children != 0; ++i) {
        const uint32_t number = test_below(random, (uint32_t)children);

        node = espl_get_first_child(world, node);
        for (uint32_t k = 0; k < number; ++k) {
            node = espl_get_next_sibling(world, node);
        }
        children = espl_count_children(world, node);
    }
    return node;
}

static espl_transform any_local(fleet *f)
{
    uint64_t *const random = &f->d.y.random;
    espl_transform value = random_transform(random, test_one_in(random, 40));

    value.scale = test_between(random, 0.5f, 1);
    if (test_one_in(random, 30)) {
        value.position[0] = 2e38f;
    } else if (test_one_in(random, 20)) {
        value.position[1] = 3e13f;
    }
    return value;
}

// A ship that comes by itself, as most are, and some that are not.
static espl_status record_birth(fleet *f, espl_recorder *lane)
{
    uint64_t *const random = &f->d.y.random;
    const uint32_t kind = test_below(random, 12);
    const espl_instance_def def = {.source =
                                       entity_of(&f->d, f->sources[test_below(random, SOURCES)]),
                                   .link = kind == 0 ? ESPL_LINK_FREE : ESPL_LINK_OWNED,
                                   .place = kind < 2   ? ESPL_PLACE_SOURCE
                                            : kind < 7 ? ESPL_PLACE_WORLD
                                                       : ESPL_PLACE_LOCAL,
                                   .transform = any_local(f)};

    if (f->ship_count >= BERTHS / 2) {
        return ESPL_OK;
    }
    f->ship_count += 1;
    return espl_record_instantiate(lane, 0, &def, 1, find_berth(f));
}

static espl_status record_spawn(fleet *f, espl_recorder *lane)
{
    uint64_t *const random = &f->d.y.random;
    const bool is_odd = test_one_in(random, 40);
    const espl_instance_def def = {
        .source = entity_of(&f->d, f->sources[test_below(random, SOURCES)]),
        .parent = any_node(f),
        .link = test_one_in(random, 5) ? ESPL_LINK_FREE : ESPL_LINK_OWNED,
        .place = is_odd ? ESPL_PLACE_WORLD : ESPL_PLACE_LOCAL,
        .transform = any_local(f)};

    return espl_record_instantiate(lane, 0, &def, is_odd ? 2 : 1, NULL);
}

// Some ships stay.
static espl_status record_end(fleet *f, espl_recorder *lane)
{
    const espl_entity node = any_node(f);
    const uint32_t kind = test_below(&f->d.y.random, 12);

    if (is_root(f, node)) {
        if (f->ship_count <= FLEET / 2) {
            return ESPL_OK;
        }
        f->ship_count -= 1;
    }
    return kind == 0  ? espl_record_destroy_only(lane, 0, node)
           : kind < 3 ? espl_record_destroy_subtree(lane, 0, node)
                      : espl_record_destroy(lane, 0, node);
}

static espl_status record_other(fleet *f, espl_recorder *lane)
{
    const espl_entity node = any_node(f), other = any_node(f);
    const espl_transform value = test_at(1, 2, 3);

    return test_one_in(&f->d.y.random, 2) || is_root(f, node)
               ? espl_record_set_local(lane, 0, node, &value)
               : espl_record_attach(lane, 0, node, other, NULL);
}

static void record_frame(fleet *f, uint32_t frame)
{
    uint64_t *const random = &f->d.y.random;
    const bool is_full = f->d.y.world->store.alive_count > MOST;
    const uint32_t spawns = is_full ? 2 : frame / 16 % 2 == 0 ? 11 : 4;
    const uint32_t count = test_below(random, 60);

    for (uint32_t i = 0; i < count; ++i) {
        espl_recorder *const lane = yard_lane(&f->d.y, test_below(random, YARD_LANES));
        const uint32_t kind = test_below(random, 16);

        ck_assert_int_eq(kind < spawns / 4 ? record_birth(f, lane)
                         : kind < spawns   ? record_spawn(f, lane)
                         : kind < 15       ? record_end(f, lane)
                         : is_full         ? ESPL_OK
                                           : record_other(f, lane),
                         ESPL_OK);
    }
}

// What calls at once leave behind: ghosts, side arrays that come and go, runs without room.
static void disturb(fleet *f)
{
    uint64_t *const random = &f->d.y.random;
    espl_world *const world = f->d.y.world;
    const espl_entity node = any_node(f), other = any_node(f);

    if (test_one_in(random, is_root(f, node) ? 20 : 3)) {
        ck_assert_int_eq(espl_destroy(world, node), ESPL_OK);
    } else if (test_one_in(random, 3) && espl_has(world, other, ESPL_PLACEMENT)) {
        espl_transform value = test_at(1, 0, 2);

        value.stretch[2] = test_one_in(random, 3) ? 2 : 1;
        const espl_status status = espl_set_local(world, other, &value);
        ck_assert(status == ESPL_OK || status == ESPL_ERR_RANGE);
    }
    if (test_one_in(random, 25)) {
        ck_assert_int_eq(espl_compact(world), ESPL_OK);
    }
}

static void play_on(fleet *f, const espl_executor *executor)
{
    f->d.y.playback->executor = executor;
    play(&f->d);
    f->d.y.playback->executor = &f->d.y.world->executor;
}

// One frame in all fleets. @return groups that went the short way, of so many.
static uint32_t play_frame(fleet *all, uint32_t frame, uint32_t *groups)
{
    const uint32_t workers = stage_workers[frame % STAGE_WORKERS];

    for (uint32_t i = 0; i < 3; ++i) {
        record_frame(&all[i], frame);
    }
    const uint32_t count = count_short(&all[1].d, groups);

    all[2].d.in_place = all[1].d.in_place;
    memcpy(all[2].d.does, all[1].d.does, sizeof all[1].d.does);
    bed_run_on(&all[1].d.y.bed, workers, frame % 2 == 0 ? TEST_SHUFFLED : TEST_REVERSED);
    play_on(&all[0], all[0].d.y.playback->executor);
    play_on(&all[1], all[1].d.y.playback->executor);
    play_on(&all[2], &all[2].threads);
    for (uint32_t i = 1; i < 3; ++i) {
        answers_agree(&all[i].d, &all[0].d);
        docks_agree(&all[i].d, &all[0].d);
        worlds_agree(&all[i].d, &all[0].d);
    }
    ck_assert_uint_eq(test_physical_hash(all[1].d.y.world), test_physical_hash(all[2].d.y.world));
    for (uint32_t i = 0; i < 3; ++i) {
        espl_commands_reset(all[i].d.y.bed.commands);
        moor(&all[i]);
        disturb(&all[i]);
        moor(&all[i]);
    }
    return count;
}

START_TEST(frames_of_spawns_and_ends_come_to_the_same_both_ways_on_any_executor)
{
    static fleet all[3];
    uint32_t shorts = 0, groups = 0, more = 0;

    if (test_lacks_room(INDICES, "a fleet")) {
        return;
    }
    for (uint32_t i = 0; i < 3; ++i) {
        fleet_begin(&all[i], 900 + (uint64_t)_i, i == 0);
    }
    if (espl_executor_has_threads()) {
        ck_assert_int_eq(espl_executor_create_threads(&all[2].threads, 3), ESPL_OK);
    }
    for (uint32_t frame = 0; frame < test_scaled(120) + 20; ++frame) {
        shorts += play_frame(all, frame, &more);
        groups += more;
    }
    ck_assert_uint_gt(shorts, groups / 10);
    ck_assert_uint_lt(shorts, groups);
    ck_assert_uint_gt(all[1].d.does[ESPL__SHORT_SPLICE], test_scaled(120) / 3);
    ck_assert_uint_gt(all[1].d.does[ESPL__SHORT_BIRTH], test_scaled(120) / 3);
    ck_assert_uint_gt(all[1].d.does[ESPL__SHORT_END], test_scaled(120) / 3);
    for (uint32_t i = 0; i < 3; ++i) {
        fleet_end(&all[i]);
    }
}
END_TEST

// --- Memory ---

START_TEST(without_memory_nothing_happens_and_a_later_playback_is_what_it_would_have_been)
{
    static fleet f, twin;
    espl_status status = ESPL_ERR_NO_MEMORY;
    uint32_t groups = 0;
    size_t failures = 0;

    if (test_lacks_room(INDICES, "a fleet")) {
        return;
    }
    fleet_begin(&f, 40 + (uint64_t)_i, false);
    fleet_begin(&twin, 40 + (uint64_t)_i, false);
    for (uint32_t frame = 0; frame < 6; ++frame) {
        // The last one is long and of all kinds.
        for (uint32_t i = 0; i < (frame < 5 ? 1 : 4); ++i) {
            record_frame(&f, frame < 5 ? frame : 16);
            record_frame(&twin, frame < 5 ? frame : 16);
        }
        if (frame < 5) {
            play(&f.d);
            play(&twin.d);
            espl_commands_reset(f.d.y.bed.commands);
            espl_commands_reset(twin.d.y.bed.commands);
            moor(&f);
            moor(&twin);
        }
    }
    ck_assert_uint_gt(count_short(&f.d, &groups), 0);
    ck_assert_uint_gt(f.d.does[ESPL__SHORT_BIRTH], 0);
    ck_assert_uint_gt(f.d.does[ESPL__SHORT_END], 0);
    const uint64_t hash = test_physical_hash(f.d.y.world);
    test_heap *const heap = &f.d.y.bed.test.heap;

    for (size_t n = 1; status == ESPL_ERR_NO_MEMORY; ++n) {
        failures = n - 1;
        espl__playback_trim(f.d.y.playback);
        test_heap_arm(heap, n, n % 2 == 0);
        status = espl_play(f.d.y.world, f.d.y.bed.commands, &f.d.report);
        // What fails behind the commit is scratch that the next playback takes again.
        ck_assert(status == ESPL_OK || (status == ESPL_ERR_NO_MEMORY && heap->failures > 0));
        ck_assert_int_eq(test_physical_hash(f.d.y.world) == hash, status != ESPL_OK);
        ck_assert(status == ESPL_OK || n < 10000);
        test_heap_arm(heap, 0, false);
    }
    ck_assert_uint_gt(failures, 5);
    learn_made(&f.d);
    play(&twin.d);
    answers_agree(&f.d, &twin.d);
    docks_agree(&f.d, &twin.d);
    worlds_agree(&f.d, &twin.d);
    ck_assert_uint_eq(test_physical_hash(f.d.y.world), test_physical_hash(twin.d.y.world));
    fleet_end(&f);
    fleet_end(&twin);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("short_frames");
    TCase *const frames = tcase_create("frames");

    tcase_set_timeout(frames, 300);
    tcase_add_loop_test(frames,
                        frames_of_spawns_and_ends_come_to_the_same_both_ways_on_any_executor, 0, 3);
    tcase_add_loop_test(
        frames, without_memory_nothing_happens_and_a_later_playback_is_what_it_would_have_been, 0,
        2);
    suite_add_tcase(suite, frames);
    return suite;
}

RUN_SUITE(make_suite)
