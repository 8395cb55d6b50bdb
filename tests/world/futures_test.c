// SPDX-License-Identifier: MIT
// Worlds of one physical hash have one future: the same calls come to the same statuses, bits, handles and
// orders of queries on both. Pairs of worlds with different pasts, by hand and at random.
#include "tests/images.h"
#include "tests/inside.h"
#include "tests/runner.h"
#include "tests/stage.h"

#include <stdio.h>
#include <string.h>

// --- Pasts by hand, whose futures differ ---

// Two ways to come to a world that reads the same, and what a call answers after that.
typedef struct fork_case {
    const char *name;
    void (*past[2])(espl_world *world);
    uint64_t (*future)(espl_world *world);
} fork_case;

static void make_and_destroy(espl_world *world, const char *name)
{
    const espl_component set = espl_component_find(world, name);
    espl_entity made;

    ck_ok(espl_create(world, &set, 1, 1, &made));
    ck_ok(espl_destroy(world, made, ESPL_EXTENT_OWNED));
}

static void register_both(espl_world *world)
{
    (void)test_component(world, "a", 4, 4);
    (void)test_component(world, "b", 4, 4);
}

static void meet_a_first(espl_world *world)
{
    register_both(world);
    make_and_destroy(world, "a");
    make_and_destroy(world, "b");
}

static void meet_b_first(espl_world *world)
{
    register_both(world);
    make_and_destroy(world, "b");
    make_and_destroy(world, "a");
}

// The handles of all entities, in the order of a query.
static uint64_t hash_order(const espl_world *world)
{
    const espl_query_def all = {.include = ESPL_INCLUDE_PREFABS | ESPL_INCLUDE_DISABLED};
    espl_query query;
    uint64_t hash = TEST_HASH_START;

    ck_ok(espl_query_begin_read(world, &all, &query));
    while (espl_query_next(&query)) {
        hash = test_hash_bytes(hash, query.entities, query.count * sizeof *query.entities);
    }
    return hash;
}

static uint64_t order_of_a_and_b(espl_world *world)
{
    const espl_component a = espl_component_find(world, "a"), b = espl_component_find(world, "b");

    ck_ok(espl_create(world, &a, 1, 1, NULL));
    ck_ok(espl_create(world, &b, 1, 1, NULL));
    return hash_order(world);
}

static void register_a_first(espl_world *world)
{
    (void)test_component(world, "a", 4, 4);
    (void)test_component(world, "b", 4, 4);
}

static void register_b_first(espl_world *world)
{
    (void)test_component(world, "b", 4, 4);
    (void)test_component(world, "a", 4, 4);
}

static uint64_t number_of_a(espl_world *world)
{
    return espl_component_find(world, "a");
}

enum { CHAIN = 12 };

static espl_entity chain[CHAIN];

// A chain whose nodes are not in order: each was attached above the ones before it.
static void grow_chain(espl_world *world)
{
    test_solos(world, CHAIN, chain);
    for (int i = CHAIN - 2; i >= 0; --i) {
        ck_ok(espl_attach(world, chain[i + 1], chain[i], &test_keep_local));
    }
    // A side branch that leaves a hole.
    ck_ok(espl_attach(world, chain[3], chain[1], &test_keep_local));
    ck_ok(espl_detach(world, chain[6], ESPL_KEEP_LOCAL));
}

static void write_chain(espl_world *world, float x)
{
    const espl_transform at = test_at(x, 0, 0);

    ck_ok(espl_set_local_transform(world, chain[0], &at));
}

static void owe_little(espl_world *world)
{
    grow_chain(world);
    write_chain(world, 1);
}

static void owe_more(espl_world *world)
{
    grow_chain(world);
    write_chain(world, 2);
    write_chain(world, 1);
}

// The writes until a structural call lays the chain out.
static uint64_t writes_to_layout(espl_world *world)
{
    enum { MOST = 1000 };
    espl_world_stats stats;

    espl_stats(world, &stats);
    const uint64_t before = stats.layouts;

    for (uint64_t i = 0; i < MOST; ++i) {
        write_chain(world, (float)i + 3);
        make_and_destroy(world, "transform");
        espl_stats(world, &stats);
        if (stats.layouts != before) {
            return i;
        }
    }
    return MOST;
}

static void keep_one_tick(espl_world *world)
{
    ck_ok(espl_motion_start(world, &(espl_motion_def){.history = 1}));
}

static void keep_two_ticks(espl_world *world)
{
    ck_ok(espl_motion_start(world, &(espl_motion_def){.history = 2}));
}

static uint64_t reads_the_tick_before(espl_world *world)
{
    const espl_entity e = test_solo(world);
    espl_pose pose = {{0}, {0}, 0};
    espl_status status = ESPL_OK;

    for (int tick = 1; tick < 4; ++tick) {
        const espl_transform at = test_at((float)tick, 0, 0);

        ck_ok(espl_tick_begin(world));
        ck_ok(espl_set_local_transform(world, e, &at));
    }
    status = espl_read_one(world, e, ESPL_READ_BEFORE_LOCAL_POSE, &pose);
    return (uint64_t)(128 + status) * 256 + (uint64_t)pose.position[0];
}

enum { STAR = 9, LOST = 3, WRITTEN = 4 };

// A root with children, of which the first ones are gone, and two nodes beside it. Two numbers whose sum is
// too large come and go there. The library looks for overflowed worlds until it finds none.
static void come_and_go(espl_world *world, float x)
{
    espl_entity pair[2];

    test_solos(world, STAR, chain);
    for (int i = 1; i < STAR; ++i) {
        ck_ok(espl_attach(world, chain[i], chain[0], &test_keep_local));
    }
    for (int i = 1; i <= LOST; ++i) {
        ck_ok(espl_destroy(world, chain[i], ESPL_EXTENT_OWNED));
    }
    test_solos(world, 2, pair);
    ck_ok(espl_attach(world, pair[1], pair[0], &test_keep_local));
    for (int i = 0; i < 4; ++i) {
        const espl_transform at = test_at(i < 2 ? x : 0, 0, 0);
        const espl_status status = espl_set_local_transform(world, pair[i % 2], &at);

        ck_assert_int_eq(status, i == 1 && x > 1e38f ? ESPL_OVERFLOW : ESPL_OK);
    }
}

static void stay_finite(espl_world *world)
{
    come_and_go(world, 3);
}

static void overflow_for_a_while(espl_world *world)
{
    come_and_go(world, 3e38f);
}

// The playbacks of writes to all nodes until one lays the chain out.
static uint64_t playbacks_to_layout(espl_world *world)
{
    enum { MOST = 100 };
    espl_command_buffer *const commands = test_commands(world, 1);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    espl_world_stats stats;
    uint64_t count = 0;

    espl_stats(world, &stats);
    for (const uint64_t before = stats.layouts; stats.layouts == before && count < MOST; ++count) {
        for (int i = STAR - WRITTEN; i < STAR; ++i) {
            const espl_transform at = test_at((float)count, (float)i, 5);

            ck_ok(espl_record_write(recorder, 0, chain[i], ESPL_WRITE_LOCAL_TRANSFORM, &at));
        }
        ck_ok(espl_play(world, commands, NULL));
        espl_command_buffer_reset(commands);
        espl_stats(world, &stats);
    }
    espl_command_buffer_destroy(commands);
    return count;
}

static const fork_case forks[] = {
    {"empty component sets", {meet_a_first, meet_b_first}, order_of_a_and_b},
    {"components", {register_a_first, register_b_first}, number_of_a},
    {"layout debt", {owe_little, owe_more}, writes_to_layout},
    {"ticks that motion keeps", {keep_one_tick, keep_two_ticks}, reads_the_tick_before},
};

enum { FORKS = sizeof forks / sizeof *forks };

TEST_LOOP(pasts_of_different_futures_have_different_hashes, 0, FORKS)
{
    const fork_case *const fork = &forks[_i];
    uint64_t hashes[2], logical[2], futures[2];

    if (test_lacks_room(CHAIN + 2, fork->name)) {
        return;
    }
    for (int i = 0; i < 2; ++i) {
        test_world each;

        test_world_begin(&each, 1, NULL);
        fork->past[i](each.world);
        logical[i] = test_logical_hash(each.world);
        hashes[i] = test_physical_hash(each.world);
        futures[i] = fork->future(each.world);
        test_world_end(&each);
    }
    ck_assert_uint_eq(logical[0], logical[1]);
    ck_assert_msg(futures[0] != futures[1], "%s decide nothing: %llu", fork->name,
                  (unsigned long long)futures[0]);
    ck_assert_msg(hashes[0] != hashes[1], "%s are not in the hash", fork->name);
}

// A playback of many writes owes the hierarchy for the free slots that it passes, and did not while the library
// looked for worlds that overflowed.
TEST(an_overflow_that_has_ended_decides_nothing)
{
    static void (*const pasts[2])(espl_world * world) = {stay_finite, overflow_for_a_while};
    uint64_t hashes[2], futures[2];

    if (test_lacks_room(STAR + 2, "a hierarchy with free slots")) {
        return;
    }
    for (int i = 0; i < 2; ++i) {
        test_world each;

        test_world_begin(&each, 1, NULL);
        pasts[i](each.world);
        hashes[i] = test_physical_hash(each.world);
        futures[i] = playbacks_to_layout(each.world);
        test_world_end(&each);
    }
    ck_assert_uint_eq(hashes[0], hashes[1]);
    ck_assert_uint_gt(futures[0], 1);
    ck_assert_uint_eq(futures[0], futures[1]);
}

static void load_itself(espl_world *world)
{
    test_image image = test_image_of(world);

    test_image_load(world, &image, 0);
    test_image_end(&image);
}

enum { SURVIVORS = 24 };

// A destroyed root leaves its free children where they are, as roots of their own, and the library lists some of
// them. How many depends on the destroys before: a world that has loaded its own image begins with an empty list.
// @return the root to be destroyed.
static espl_entity gather_survivors(espl_world *world, bool is_loaded)
{
    const espl_attach_options loosely = {.link = ESPL_LINK_FREE};
    espl_entity all[SURVIVORS];

    test_solos(world, SURVIVORS, all);
    ck_ok(espl_attach(world, all[1], all[0], &loosely));
    ck_ok(espl_destroy(world, all[0], ESPL_EXTENT_OWNED));
    for (int i = 3; i < SURVIVORS; ++i) {
        const espl_attach_options first = {.link = ESPL_LINK_FREE,
                                           .before = i == 3 ? test_null : all[i - 1]};

        ck_ok(espl_attach(world, all[i], all[2], &first));
    }
    if (is_loaded) {
        load_itself(world);
    }
    return all[2];
}

TEST(how_many_survivors_of_a_destroy_were_listed_decides_nothing)
{
    uint64_t hashes[2], futures[2];

    for (int i = 0; i < 2; ++i) {
        test_world each;

        test_world_begin(&each, 1, NULL);
        const espl_entity root = gather_survivors(each.world, i == 1);

        hashes[i] = test_physical_hash(each.world);
        ck_ok(espl_destroy(each.world, root, ESPL_EXTENT_OWNED));
        futures[i] = test_physical_hash(each.world);
        test_world_end(&each);
    }
    ck_assert_uint_eq(hashes[0], hashes[1]);
    ck_assert_uint_eq(futures[0], futures[1]);
}

// Hierarchies without gaps, whose order in memory is not that of their numbers. A world that was loaded has no room
// beside them.
TEST(a_compaction_does_not_depend_on_the_room_of_a_world)
{
    uint64_t hashes[2], futures[2];

    for (int i = 0; i < 2; ++i) {
        test_world each;
        espl_entity all[6];

        test_world_begin(&each, 1, NULL);
        test_solos(each.world, 6, all);
        ck_ok(espl_compact(each.world));
        ck_ok(espl_destroy(each.world, all[2], ESPL_EXTENT_OWNED));
        ck_ok(espl_destroy(each.world, all[3], ESPL_EXTENT_OWNED));
        test_solos(each.world, 1, NULL);
        test_solos(each.world, 1, NULL);
        if (i == 1) {
            load_itself(each.world);
        }
        hashes[i] = test_physical_hash(each.world);
        ck_ok(espl_compact(each.world));
        futures[i] = test_physical_hash(each.world);
        test_world_end(&each);
    }
    ck_assert_uint_eq(hashes[0], hashes[1]);
    ck_assert_uint_eq(futures[0], futures[1]);
}

TEST(worlds_that_were_made_otherwise_have_different_hashes)
{
    const espl_world_def defs[] = {{.tag = 1}, {.tag = 2}, {.tag = 1, .layout_budget = 5}};
    uint64_t hashes[3];

    for (int i = 0; i < 3; ++i) {
        espl_world *world = NULL;

        ck_ok(espl_world_create(&defs[i], &world));
        hashes[i] = test_physical_hash(world);
        espl_world_destroy(world);
    }
    ck_assert_uint_ne(hashes[0], hashes[1]);
    ck_assert_uint_ne(hashes[0], hashes[2]);
}

// --- Pasts at random ---

// Two worlds that follow one tape, of which one has another past in between.
typedef struct pair {
    test_side plain, detoured;
    test_tape tape;
} pair;

// What the second world does besides. What can be read is as before.
typedef void (*detour)(test_world *test, uint64_t *random);

// A living entity, or the null entity where the world has none.
static espl_entity pick(const espl_world *world, uint64_t *random)
{
    espl_entity found[64];
    const espl_query_def all = {.include = ESPL_INCLUDE_PREFABS | ESPL_INCLUDE_DISABLED};
    espl_query query;
    uint32_t count = 0;

    ck_ok(espl_query_begin_read(world, &all, &query));
    while (espl_query_next(&query)) {
        for (size_t i = 0; i < query.count && count < 64; ++i) {
            found[count++] = query.entities[i];
        }
    }
    return count != 0 ? found[test_below(random, count)] : test_null;
}

static void refuse(test_world *test, uint64_t *random)
{
    const espl_component twice[] = {MODEL_TAG, ESPL_DISABLED, MODEL_TAG};
    const espl_entity e = pick(test->world, random);

    ck_status(espl_create(test->world, twice, 3, 1, NULL), ESPL_ERR_ARGUMENT);
    ck_assert_int_lt(espl_attach(test->world, e, e, NULL), 0);
    ck_assert_int_lt(espl_destroy(test->world, test_null, ESPL_EXTENT_OWNED), 0);
}

// Sets that the world may not have met, each of them without the n-th allocation.
static void lack_memory(test_world *test, uint64_t *random)
{
    const espl_component set[] = {MODEL_TAG, MODEL_MARK, MODEL_BULK + 7, ESPL_PREFAB};
    const espl_entity e = pick(test->world, random);

    for (size_t n = 1; n < 12; ++n) {
        espl_status statuses[3];

        test_heap_arm(&test->heap, n, true);
        statuses[0] = espl_create(test->world, set, 2 + n % 3, 1000, NULL);
        statuses[1] = espl_attach(test->world, e, test_null, NULL);
        statuses[2] = espl_instantiate(test->world, &(espl_instance_def){.source = e}, 500, NULL);
        test_heap_arm(&test->heap, 0, false);
        for (int i = 0; i < 3; ++i) {
            if (statuses[i] >= 0) {
                return; // It was done: the worlds have parted.
            }
        }
    }
}

static void reserve(test_world *test, uint64_t *random)
{
    (void)random;
    ck_ok(espl_reserve(test->world, &(espl_reserve_def){.entities = 20, .writes = 50}));
}

static void reserve_side(test_world *test, uint64_t *random)
{
    const espl_status status =
        espl_reserve(test->world, &(espl_reserve_def){.side_of = pick(test->world, random)});

    ck_assert(status == ESPL_OK);
}

static void reserve_rows(test_world *test, uint64_t *random)
{
    const espl_component set[] = {MODEL_TAG, ESPL_TRANSFORM};

    ck_ok(test_reserve_rows(test->world, set, 1 + test_below(random, 2), 40));
}

static void meet_a_set(test_world *test, uint64_t *random)
{
    const espl_component set[] = {MODEL_TAG, ESPL_TRANSFORM, MODEL_BULK + test_below(random, 9)};

    ck_ok(test_reserve_rows(test->world, set, 3, 1));
}

// Names that no tape gives.
static void name_and_rename(test_world *test, uint64_t *random)
{
    const espl_entity e = pick(test->world, random);
    const char *const before = espl_entity_is_null(e) ? NULL : espl_get_name(test->world, e);
    char kept[256];

    if (!espl_entity_is_null(e)) {
        (void)snprintf(kept, sizeof kept, "%s", before == NULL ? "" : before);
        ck_ok(espl_set_name(test->world, e, "a name for a moment"));
        ck_ok(espl_set_name(test->world, e, kept[0] == '\0' ? NULL : kept));
    }
}

static void write_and_restore(test_world *test, uint64_t *random)
{
    const espl_entity e = pick(test->world, random);
    espl_transform kept, other;

    if (espl_get_local_transform(test->world, e, &kept) != ESPL_OK) {
        return;
    }
    other = kept;
    other.position[0] = test_one_in(random, 2) ? 3e38f : other.position[0] + 1;
    other.user_data = test_one_in(random, 2) ? kept.user_data + 1 : kept.user_data;
    (void)espl_set_local_transform(test->world, e, &other);
    (void)espl_set_local_transform(test->world, e, &kept);
}

static void disable_and_enable(test_world *test, uint64_t *random)
{
    const espl_entity e = pick(test->world, random);

    if (!espl_entity_is_null(e) && !espl_has_component(test->world, e, ESPL_DISABLED)) {
        ck_ok(espl_set_enabled(test->world, e, ESPL_EXTENT_ENTITY, false));
        ck_ok(espl_set_enabled(test->world, e, ESPL_EXTENT_ENTITY, true));
    }
}

static void make_and_lose(test_world *test, uint64_t *random)
{
    espl_entity made;

    (void)random;
    if (espl_create(test->world, NULL, 0, 1, &made) == ESPL_OK) {
        ck_ok(espl_destroy(test->world, made, ESPL_EXTENT_OWNED));
    }
}

static void register_one(test_world *test, uint64_t *random)
{
    (void)random;
    (void)test_component(test->world, "another", 8, 8);
}

static void record_nothing(test_world *test, uint64_t *random)
{
    espl_command_buffer *const commands = test_commands(test->world, 2);
    const espl_entity e = pick(test->world, random);

    if (!espl_entity_is_null(e)) {
        ck_ok(espl_record_detach(espl_command_buffer_recorder(commands, 1), 0, e, ESPL_KEEP_WORLD));
    }
    espl_command_buffer_destroy(commands);
}

static void start_and_stop_motion(test_world *test, uint64_t *random)
{
    (void)random;
    if (espl_motion_start(test->world, NULL) == ESPL_OK) {
        ck_ok(espl_motion_stop(test->world));
    }
}

static void copy_tree(test_world *test, uint64_t *random)
{
    const espl_entity e = pick(test->world, random);
    espl_entity clone;

    if (!espl_entity_is_null(e) &&
        espl_instantiate(test->world, &(espl_instance_def){.source = e}, 1, &clone) >= 0) {
        ck_assert_int_ge(espl_destroy(test->world, clone, ESPL_EXTENT_OWNED), 0);
    }
}

static const struct {
    const char *name;
    detour run;
    bool is_free; // never decides anything
} detours[] = {
    {"refused calls", refuse, true},
    {"calls without memory", lack_memory, false},
    {"reserved entities", reserve, true},
    {"reserved side arrays", reserve_side, true},
    {"reserved rows", reserve_rows, false},
    {"a set that no entity has", meet_a_set, false},
    {"a name for a moment", name_and_rename, true},
    {"a value for a moment", write_and_restore, false},
    {"disabled for a moment", disable_and_enable, false},
    {"an entity for a moment", make_and_lose, false},
    {"a component", register_one, false},
    {"a recording that is not played", record_nothing, true},
    {"motion for a moment", start_and_stop_motion, true},
    {"a clone for a moment", copy_tree, false},
};

enum { DETOURS = sizeof detours / sizeof *detours, FUTURE = 1000 };

// One operation in both worlds. @return whether the tape goes on.
static void step_both(pair *p, bool is_compared)
{
    const operation op = tape_next(&p->tape);
    const espl_status plain = side_run(&p->plain, &p->tape, &op);
    const espl_status other = side_run(&p->detoured, &p->tape, &op);
    const model_answer answer = tape_apply(&p->tape, &op);

    side_check(&p->plain, &p->tape, &op, plain, answer);
    side_map(&p->plain, &p->tape, &op);
    side_map(&p->detoured, &p->tape, &op);
    if (!is_compared) {
        return;
    }
    tape_demand(&p->tape, plain == other, "%s, not %s", espl_status_name(other),
                espl_status_name(plain));
    tape_demand(&p->tape,
                test_physical_hash(p->plain.world) == test_physical_hash(p->detoured.world),
                "they stand otherwise");
    tape_demand(&p->tape, hash_order(p->plain.world) == hash_order(p->detoured.world),
                "other handles, or in another order");
}

// Follow a tape, take a detour in one world, and go on where the hashes are equal.
// @return whether they were.
static bool run_pair(uint64_t seed, size_t number)
{
    static pair p;
    const size_t past = (size_t)(seed % 97);
    uint64_t random = seed;

    tape_begin(&p.tape, seed, test_fitting(24, 8) / 2);
    p.tape.is_still = true;
    p.tape.note = detours[number].name;
    side_begin(&p.plain, &p.tape, 1, NULL);
    side_begin(&p.detoured, &p.tape, 1, NULL);
    for (p.tape.at = 0; p.tape.at < past && !tape_is_worn(&p.tape); ++p.tape.at) {
        step_both(&p, true);
    }
    detours[number].run(&p.detoured.test, &random);
    tape_demand(&p.tape, test_logical_hash(p.plain.world) == test_logical_hash(p.detoured.world),
                "a detour that shows");
    const bool agree = test_physical_hash(p.plain.world) == test_physical_hash(p.detoured.world);

    tape_demand(&p.tape, agree || !detours[number].is_free, "it decides something");
    for (size_t end = p.tape.at + FUTURE; agree && p.tape.at < end && !tape_is_worn(&p.tape);
         ++p.tape.at) {
        step_both(&p, true);
    }
    side_end(&p.plain);
    side_end(&p.detoured);
    tape_end(&p.tape);
    return agree;
}

TEST_LOOP(equal_hashes_have_equal_futures, 0, DETOURS)
{
    enum { PAIRS = 6 };
    const uint64_t chosen = test_environment("ESPL_SEED", 0);
    const size_t count = chosen != 0 ? 1 : test_scaled(PAIRS);
    uint64_t state = 71 + (uint64_t)_i;
    size_t equal = 0;

    for (size_t i = 0; i < count; ++i) {
        equal += run_pair(chosen != 0 ? chosen : test_random(&state), (size_t)_i) ? 1 : 0;
    }
    printf("# figure: %zu pairs of worlds of one past and a detour that agree, %s\n", equal,
           detours[_i].name);
}
