// SPDX-License-Identifier: MIT
// What a world does after a rewind, beside a twin that never went another way: 1,000 calls come to the same
// statuses, handles, hashes and orders of queries. Each case is a past, and a future that is abandoned.
#include "tests/inside.h"
#include "tests/runner.h"
#include "tests/support.h"

#include <espalier/history.h>
#include <espalier/motion.h>

#include <stdio.h>
#include <string.h>

enum { CALLS = 1000, MOST = 400, POPULATION = 40 };

// --- Entities of a world ---

typedef struct crowd {
    espl_entity all[MOST];
    uint32_t count;
} crowd;

// All entities in the order of a query, or the first ones of them.
static crowd crowd_of(const espl_world *world)
{
    const espl_query_def all = {.include = ESPL_INCLUDE_PREFABS | ESPL_INCLUDE_DISABLED};
    espl_query query;
    crowd out;

    out.count = 0;
    ck_ok(espl_query_begin_read(world, &all, &query));
    while (espl_query_next(&query)) {
        for (size_t i = 0; i < query.count && out.count < MOST; ++i) {
            out.all[out.count++] = query.entities[i];
        }
    }
    return out;
}

static espl_entity pick(const espl_world *world, uint64_t *random)
{
    const crowd c = crowd_of(world);
    const uint64_t drawn = test_random(random);

    return c.count != 0 ? c.all[drawn % c.count] : test_null;
}

static espl_transform any_transform(uint64_t *random)
{
    espl_transform at = test_at(test_between(random, -9, 9), test_between(random, -9, 9), 0);

    at.scale = test_between(random, 0.5f, 2);
    at.stretch[1] = test_one_in(random, 3) ? 2.0f : 1.0f;
    at.user_data = test_below(random, 5);
    return at;
}

static espl_component component_of(const espl_world *world, uint64_t *random)
{
    static const char *const names[] = {"number", "tag", "other tag", "link"};

    return espl_component_find(world, names[test_below(random, 4)]);
}

// --- One call, drawn ---

// Most calls may be refused.
static void go_on(espl_status status)
{
    ck_assert_int_ne(status, ESPL_ERR_NO_MEMORY);
}

typedef espl_status call(espl_world *world, espl_entity e, uint64_t *random);

static espl_status create_below(espl_world *world, espl_entity e, uint64_t *random)
{
    const espl_transform at = any_transform(random);

    return espl_create_node(world, test_one_in(random, 4) ? test_null : e, &at,
                            test_one_in(random, 3) ? "new" : NULL, NULL);
}

static espl_status create_plain(espl_world *world, espl_entity e, uint64_t *random)
{
    espl_component set[2] = {ESPL_TRANSFORM, component_of(world, random)};

    (void)e;
    return espl_create(world, set + test_below(random, 2), 1, 1 + test_below(random, 3), NULL);
}

static espl_status attach(espl_world *world, espl_entity e, uint64_t *random)
{
    const espl_keep keep = (espl_keep)test_below(random, 3);
    const espl_attach_options options = {.position = keep,
                                         .rotation = keep,
                                         .link = (espl_link)test_below(random, 2),
                                         .inherit =
                                             test_one_in(random, 4) ? test_below(random, 129) : 0};

    return espl_attach(world, e, pick(world, random), &options);
}

static espl_status detach(espl_world *world, espl_entity e, uint64_t *random)
{
    return espl_detach(world, e, (espl_keep)test_below(random, 3));
}

static espl_status destroy(espl_world *world, espl_entity e, uint64_t *random)
{
    return espl_destroy(world, e, (espl_extent)test_below(random, 3));
}

static espl_status write_local(espl_world *world, espl_entity e, uint64_t *random)
{
    const espl_transform at = any_transform(random);

    return espl_set_local_transform(world, e, &at);
}

static espl_status write_world(espl_world *world, espl_entity e, uint64_t *random)
{
    const espl_transform at = any_transform(random);

    return espl_write_one(
        world, e, ESPL_WRITE_WORLD_TRANSFORM | (test_one_in(random, 2) ? ESPL_CARRY : 0), &at);
}

static espl_status inherit(espl_world *world, espl_entity e, uint64_t *random)
{
    return espl_set_inherit(world, e, test_one_in(random, 2) ? 0 : test_below(random, 129));
}

static espl_status name(espl_world *world, espl_entity e, uint64_t *random)
{
    static const char *const names[] = {"one", "two", "a longer name", ""};

    return espl_set_name(world, e, names[test_below(random, 4)]);
}

static espl_status add(espl_world *world, espl_entity e, uint64_t *random)
{
    const espl_component component = component_of(world, random);
    espl_component_def def;

    ck_ok(espl_component_info(world, component, &def));
    return espl_add_component(world, e, component, NULL, def.size);
}

static espl_status take(espl_world *world, espl_entity e, uint64_t *random)
{
    return espl_remove_component(world, e, component_of(world, random));
}

static espl_status set_number(espl_world *world, espl_entity e, uint64_t *random)
{
    const uint64_t value = test_random(random);

    return espl_set_component(world, e, espl_component_find(world, "number"), &value, sizeof value);
}

static espl_status set_link(espl_world *world, espl_entity e, uint64_t *random)
{
    const espl_entity to = pick(world, random);

    return espl_set_component(world, e, espl_component_find(world, "link"), &to, sizeof to);
}

static espl_status enable(espl_world *world, espl_entity e, uint64_t *random)
{
    return espl_set_enabled(world, e, (espl_extent)test_below(random, 3), test_one_in(random, 2));
}

static espl_status clone(espl_world *world, espl_entity e, uint64_t *random)
{
    const espl_instance_def def = {
        .source = e, .parent = test_one_in(random, 2) ? pick(world, random) : test_null};

    return espl_instantiate(world, &def, 1 + test_below(random, 2), NULL);
}

static espl_status tick(espl_world *world, espl_entity e, uint64_t *random)
{
    (void)e;
    return test_one_in(random, 2) ? espl_tick_begin(world) : espl_tick_end(world);
}

static espl_status play(espl_world *world, espl_entity e, uint64_t *random)
{
    espl_command_buffer *const commands = test_commands(world, 1);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    const espl_instance_def def = {.source = e};
    espl_report report;

    for (int i = 0; i < 4; ++i) {
        const espl_transform at = any_transform(random);
        const espl_entity target = pick(world, random);

        go_on(espl_record_write(recorder, 0, target, ESPL_WRITE_LOCAL_TRANSFORM, &at));
        go_on(espl_record_attach(recorder, 0, pick(world, random), target, NULL));
    }
    go_on(espl_record_instantiate(recorder, 0, &def, 1, NULL));
    go_on(espl_record_destroy(recorder, 1, pick(world, random), ESPL_EXTENT_OWNED));
    const espl_status status = espl_play(world, commands, &report);

    espl_command_buffer_destroy(commands);
    return status;
}

static call *const calls[] = {
    create_below, create_below, create_plain, attach,      attach,  attach, detach,
    destroy,      write_local,  write_local,  write_world, inherit, name,   add,
    take,         set_number,   set_link,     enable,      clone,   tick,   play};

static espl_status act(espl_world *world, uint64_t *random)
{
    const uint32_t count = crowd_of(world).count;
    const uint32_t drawn = test_below(random, sizeof calls / sizeof *calls);
    const espl_entity e = pick(world, random);

    return (count > POPULATION ? destroy
            : count < 4        ? create_below
                               : calls[drawn])(world, e, random);
}

static void act_many(espl_world *world, uint64_t seed, int count)
{
    for (int i = 0; i < count; ++i) {
        go_on(act(world, &seed));
    }
}

// --- Pasts and futures ---

static void nothing(espl_world *world)
{
    (void)world;
}

static void scene(espl_world *world)
{
    act_many(world, 5, 60);
}

static void meet_sets(espl_world *world)
{
    static const char *const names[] = {"other tag", "link", "number", "tag"};

    for (int i = 0; i < 4; ++i) {
        const espl_component set[] = {espl_component_find(world, names[i]),
                                      espl_component_find(world, names[(i + 1) % 4]),
                                      i % 2 == 0 ? ESPL_TRANSFORM : ESPL_PREFAB};
        espl_entity made;

        ck_ok(espl_create(world, set, 3, 1, &made));
        if (i != 2) {
            ck_ok(espl_destroy(world, made, ESPL_EXTENT_OWNED));
        }
    }
}

static void register_late(espl_world *world)
{
    (void)test_component(world, "late", 16, 8);
}

static void use_late(espl_world *world)
{
    const crowd c = crowd_of(world);

    register_late(world);
    for (uint32_t i = 0; i < c.count; i += 2) {
        ck_ok(espl_add_component(world, c.all[i], espl_component_find(world, "late"), NULL, 16));
    }
}

// Hierarchies of a few nodes; then each gets more than its range has room for.
static void small_trees(espl_world *world)
{
    espl_entity tops[4];

    test_solos(world, 4, tops);
    for (int i = 0; i < 4; ++i) {
        ck_ok(espl_create_node(world, tops[i], NULL, NULL, NULL));
        ck_ok(espl_create_node(world, tops[i], NULL, "second", NULL));
    }
}

static void outgrow(espl_world *world)
{
    const crowd c = crowd_of(world);

    for (int round = 0; round < 9; ++round) {
        for (uint32_t i = 0; i < c.count && i < 4; ++i) {
            ck_ok(espl_create_node(world, c.all[i], NULL, NULL, NULL));
        }
    }
}

static void join(espl_world *world)
{
    const crowd c = crowd_of(world);

    for (uint32_t i = 1; i < c.count; ++i) {
        if (espl_entity_is_null(espl_get_parent(world, c.all[i]))) {
            go_on(espl_attach(world, c.all[i], c.all[0], NULL));
        }
    }
}

static void split(espl_world *world)
{
    const crowd c = crowd_of(world);

    for (uint32_t i = 0; i < c.count; ++i) {
        go_on(espl_detach(world, c.all[i], ESPL_KEEP_WORLD));
    }
}

// More rows than one chunk has; then other sets take the chunks.
static void fill_chunks(espl_world *world)
{
    const uint32_t rows = test_fitting(3 * test_limits_of_build().rows / 2, 50);
    const espl_component numbered = espl_component_find(world, "number");

    ck_ok(espl_create(world, &numbered, 1, rows, NULL));
    test_solos(world, 4, NULL);
}

static void retake_chunks(espl_world *world)
{
    const uint32_t rows = test_fitting(2 * test_limits_of_build().rows, 40);
    const espl_component linked = espl_component_find(world, "link");

    ck_ok(espl_world_clear(world));
    ck_ok(espl_create(world, &linked, 1, rows, NULL));
    test_solos(world, 2, NULL);
}

static void flag(espl_world *world)
{
    const crowd c = crowd_of(world);

    for (uint32_t i = 0; i < c.count; ++i) {
        go_on(
            espl_set_inherit(world, c.all[i], i % 2 == 0 ? ESPL_ABSOLUTE_Y : ESPL_ABSOLUTE_SCALE));
        go_on(espl_set_stretch(world, c.all[i], (float[3]){1, (float)i, 2}));
    }
}

static void flagged(espl_world *world)
{
    scene(world);
    flag(world);
}

static void unflag(espl_world *world)
{
    const crowd c = crowd_of(world);

    for (uint32_t i = 0; i < c.count; ++i) {
        go_on(espl_set_inherit(world, c.all[i], 0));
        go_on(espl_set_stretch(world, c.all[i], (float[3]){1, 1, 1}));
    }
}

static void copy(espl_world *world)
{
    const crowd c = crowd_of(world);

    for (uint32_t i = 0; i < c.count; i += 3) {
        go_on(espl_set_inherit(world, c.all[i], ESPL_COPY_PARENT));
    }
}

static void copying(espl_world *world)
{
    scene(world);
    copy(world);
}

static void rename_all(espl_world *world)
{
    const crowd c = crowd_of(world);

    for (uint32_t i = 0; i < c.count; ++i) {
        ck_ok(espl_set_name(world, c.all[i],
                            i % 3 == 0   ? ""
                            : i % 3 == 1 ? "one"
                                         : "a third name"));
    }
}

static void clear(espl_world *world)
{
    ck_ok(espl_world_clear(world));
}

static void scene_in_motion(espl_world *world)
{
    ck_ok(espl_motion_start(world, &(espl_motion_def){.history = 2}));
    scene(world);
    ck_ok(espl_tick_begin(world));
}

static void tick_on(espl_world *world)
{
    for (uint64_t i = 0; i < 4; ++i) {
        act_many(world, 70 + i, 5);
        ck_ok(espl_tick_begin(world));
        act_many(world, 80 + i, 5);
        ck_ok(espl_tick_end(world));
    }
}

static void rest_in_motion(espl_world *world)
{
    ck_ok(espl_motion_start(world, NULL));
    small_trees(world);
    tick_on(world);
}

static void write_all(espl_world *world, float x, float y)
{
    const crowd c = crowd_of(world);

    for (uint32_t i = 0; i < c.count; ++i) {
        go_on(espl_set_local_position(world, c.all[i], (float[3]){x, y, -x}));
    }
}

static void zeros(espl_world *world)
{
    small_trees(world);
    write_all(world, 0, 1e-42f);
}

static void other_zeros(espl_world *world)
{
    write_all(world, -0.0f, -1e-42f);
}

static void huge(espl_world *world)
{
    small_trees(world);
    write_all(world, 3e38f, 1);
}

static void not_so_huge(espl_world *world)
{
    write_all(world, 1e3f, 1);
}

static void chain(espl_world *world)
{
    espl_entity last = test_null;

    for (int i = 0; i < 30; ++i) {
        const espl_transform at = test_at(1, 0, 0);

        ck_ok(espl_create_node(world, last, &at, NULL, &last));
    }
}

static void star(espl_world *world)
{
    espl_entity top = test_solo(world);

    for (int i = 0; i < 30; ++i) {
        ck_ok(espl_create_node(world, top, NULL, NULL, NULL));
    }
}

static void one_solo(espl_world *world)
{
    (void)test_solo(world);
}

static void disable(espl_world *world)
{
    const crowd c = crowd_of(world);

    for (uint32_t i = 0; i < c.count; i += 2) {
        ck_ok(espl_set_enabled(world, c.all[i], ESPL_EXTENT_SUBTREE, i % 4 == 0));
        go_on(espl_add_component(world, c.all[i], ESPL_PREFAB, NULL, 0));
    }
}

static void play_some(espl_world *world)
{
    uint64_t random = 3;

    for (int i = 0; i < 6; ++i) {
        go_on(play(world, pick(world, &random), &random));
    }
}

// Out of order, so that writes owe a layout.
static void disorder(espl_world *world)
{
    espl_entity links[12];

    test_solos(world, 12, links);
    for (int i = 10; i >= 0; --i) {
        ck_ok(espl_attach(world, links[i + 1], links[i], &test_keep_local));
    }
    ck_ok(espl_attach(world, links[3], links[1], &test_keep_local));
    ck_ok(espl_detach(world, links[6], ESPL_KEEP_LOCAL));
}

static void write_often(espl_world *world)
{
    for (int i = 0; i < 50; ++i) {
        write_all(world, (float)i, 1);
        if (i % 10 == 0) {
            ck_ok(espl_create_node(world, test_null, NULL, NULL, NULL));
        }
    }
}

static void shuffle_indices(espl_world *world)
{
    espl_entity made[9];

    test_solos(world, 9, made);
    for (int i = 0; i < 9; ++i) {
        ck_ok(espl_destroy(world, made[i * 5 % 9], ESPL_EXTENT_OWNED));
    }
}

static void some_links(espl_world *world)
{
    uint64_t random = 8;
    const crowd c = (scene(world), crowd_of(world));

    for (uint32_t i = 0; i < c.count; ++i) {
        go_on(espl_add_component(world, c.all[i], espl_component_find(world, "link"),
                                 &c.all[test_below(&random, c.count)], sizeof(espl_entity)));
    }
}

// The next index has one life left.
static void age(espl_world *world)
{
    const uint32_t lives = (uint32_t)test_limits_of_build().lives;
    espl_entity entity = test_solo(world);

    ck_ok(espl_destroy(world, entity, ESPL_EXTENT_OWNED));
    if (lives > 100) {
        test_age_index(world, entity.index, 1);
    }
    while (lives <= 100 && (entity.generation & lives) != lives - 1) {
        entity = test_solo(world);
        ck_ok(espl_destroy(world, entity, ESPL_EXTENT_OWNED));
    }
}

static void retire(espl_world *world)
{
    const espl_entity last = test_solo(world);

    ck_assert_uint_eq(last.index, 0);
    ck_ok(espl_destroy(world, last, ESPL_EXTENT_OWNED));
    ck_assert_uint_ne(test_solo(world).index, 0);
}

static void go_on_at_random(espl_world *world)
{
    act_many(world, 99, 200);
}

static const struct {
    const char *name;
    void (*past)(espl_world *world);
    void (*future)(espl_world *world); // the one that is abandoned
    void (*twin)(espl_world *world);   // what stays of it, or NULL
} cases[] = {
    {"nothing at all", scene, nothing, NULL},
    {"sets made after the mark", scene, meet_sets, NULL},
    {"sets made again", meet_sets, meet_sets, NULL},
    {"components registered after the mark", scene, use_late, register_late},
    {"ranges that moved", small_trees, outgrow, NULL},
    {"ranges that moved, and back", outgrow, split, NULL},
    {"hierarchies joined", small_trees, join, NULL},
    {"hierarchies split", small_trees, split, NULL},
    {"chunks taken by other sets", fill_chunks, retake_chunks, NULL},
    {"chunks filled", one_solo, fill_chunks, NULL},
    {"side arrays made", small_trees, flag, NULL},
    {"side arrays dropped", flagged, unflag, NULL},
    {"copies of parents made", scene, copy, NULL},
    {"copies of parents ended", copying, unflag, NULL},
    {"kept parts of other parents", flagged, join, NULL},
    {"names", scene, rename_all, NULL},
    {"everything destroyed", flagged, clear, NULL},
    {"ticks", scene_in_motion, tick_on, NULL},
    {"ticks at rest", rest_in_motion, tick_on, NULL},
    {"motion and another structure", scene_in_motion, join, NULL},
    {"negative zeros and denormals", zeros, other_zeros, NULL},
    {"negative zeros come back", other_zeros, zeros, NULL},
    {"worlds that overflow", small_trees, huge, NULL},
    {"worlds that no longer overflow", huge, not_so_huge, NULL},
    {"an empty world", nothing, scene, NULL},
    {"one solo", one_solo, scene, NULL},
    {"a solo that is gone", one_solo, clear, NULL},
    {"a chain", chain, split, NULL},
    {"a chain at random", chain, go_on_at_random, NULL},
    {"a root of many children", star, split, NULL},
    {"a root of many children at random", star, go_on_at_random, NULL},
    {"disabled ones and prefabs", scene, disable, NULL},
    {"playbacks", scene, play_some, NULL},
    {"layout debt", disorder, write_often, NULL},
    {"disorder", small_trees, disorder, NULL},
    {"the order of free indices", scene, shuffle_indices, NULL},
    {"references", some_links, go_on_at_random, NULL},
    {"an index that retires", age, retire, NULL},
    {"200 calls at random", scene, go_on_at_random, NULL},
    {"200 calls at random with flags", flagged, go_on_at_random, NULL},
    {"200 calls at random in motion", scene_in_motion, go_on_at_random, NULL},
};

enum { CASES = sizeof cases / sizeof *cases };

// --- Beside the twin ---

static void begin(test_world *test)
{
    static const uint32_t first[1] = {0};
    const espl_component_def link = {.name = "link",
                                     .size = sizeof(espl_entity),
                                     .alignment = _Alignof(espl_entity),
                                     .references = first,
                                     .reference_count = 1};
    espl_component number;

    test_world_begin(test, 1, NULL);
    (void)test_component(test->world, "number", 8, 8);
    (void)test_component(test->world, "tag", 0, 1);
    (void)test_component(test->world, "other tag", 0, 1);
    ck_ok(espl_component_register(test->world, &link, &number));
}

static void compare(const espl_world *here, const espl_world *twin, const char *name, int step)
{
    const crowd a = crowd_of(here), b = crowd_of(twin);

    ck_assert_msg(test_logical_hash(here) == test_logical_hash(twin), "%s, %d: logical hash", name,
                  step);
    ck_assert_msg(test_physical_hash(here) == test_physical_hash(twin), "%s, %d: physical hash",
                  name, step);
    ck_assert_msg(a.count == b.count && memcmp(a.all, b.all, a.count * sizeof *a.all) == 0,
                  "%s, %d: handles, or the order of queries", name, step);
}

TEST_LOOP(b17_a_thousand_calls_after_a_rewind_are_those_of_a_twin, 0, CASES)
{
    const char *const subject = cases[_i].name;
    test_world here, twin;
    espl_history *history;

    begin(&here);
    begin(&twin);
    cases[_i].past(twin.world);
    ck_ok(espl_history_create(
        here.world, &(espl_history_def){.flags = ESPL_HISTORY_HASH, .byte_limit = 1 << 20},
        &history));
    cases[_i].past(here.world);
    ck_ok(espl_history_mark(history, 1));
    for (int turn = 0; turn < 3; ++turn) {
        // One rewind goes over a mark.
        cases[_i].future(here.world);
        if (turn == 1) {
            ck_ok(espl_history_mark(history, 2));
            act_many(here.world, 4, 10);
        }
        ck_ok(espl_history_rewind(history, 1, 0, NULL));
        test_world_is_valid(here.world);
        if (turn == 0 && cases[_i].twin != NULL) {
            cases[_i].twin(twin.world);
        }
        compare(here.world, twin.world, subject, -turn);
        if (cases[_i].twin != NULL) {
            break;
        }
    }
    uint64_t random = 7, again = 7;
    const int count = (int)test_scaled_alone(CALLS);

    for (int step = 1; step <= count; ++step) {
        const espl_status status = act(here.world, &random), other = act(twin.world, &again);

        ck_assert_msg(status == other, "%s, %d: %s, not %s", subject, step,
                      espl_status_name(status), espl_status_name(other));
        compare(here.world, twin.world, subject, step);
    }
    test_world_is_valid(here.world);
    espl_history_destroy(history);
    test_world_end(&here);
    test_world_end(&twin);
}
