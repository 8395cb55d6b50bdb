// SPDX-License-Identifier: MIT
// Pending entities: the entity that a pending handle names in later commands of any lane, and the
// answer of espl_command_buffer_resolve() before playback, after it, and after a reset.
#include "tests/runner.h"
#include "tests/support.h"

#include <stdlib.h>
#include <string.h>

enum { LANES = 4 };

typedef struct stage {
    test_world test;
    espl_world *world;
    espl_command_buffer *commands;
    espl_recorder *lane[LANES];
    espl_report report;
    espl_component link;
    espl_entity source, top, child; // the child hangs below the top
    bool creates;                   // from nothing; else clones of the source
} stage;

static stage s;

// Tests run twice: pendings are clones, and creations.
enum { CLONES, CREATIONS, MAKERS };

static void stage_begin(int maker)
{
    static const uint32_t first[1] = {0};
    const espl_component_def def = {
        .name = "link", .size = 8, .alignment = 4, .references = first, .reference_count = 1};

    memset(&s, 0, sizeof s);
    test_world_begin(&s.test, 127, NULL);
    s.world = s.test.world;
    s.creates = maker == CREATIONS;
    ck_ok(espl_component_register(s.world, &def, &s.link));
    s.source = test_solo_at(s.world, 1, 0, 0);
    s.top = test_solo_at(s.world, 2, 0, 0);
    s.child = test_solo_at(s.world, 3, 0, 0);
    ck_ok(espl_attach(s.world, s.child, s.top, NULL));
    ck_ok(espl_command_buffer_create(s.world, LANES, &s.commands));
    for (uint32_t i = 0; i < LANES; ++i) {
        s.lane[i] = espl_command_buffer_recorder(s.commands, i);
    }
}

static void stage_end(void)
{
    espl_command_buffer_destroy(s.commands);
    test_world_end(&s.test);
}

// What the generation of a pending handle differs by from one lane to the next: tags of objects and
// resets are below it.
static uint32_t lane_step(void)
{
    const espl_instance_def def = {.source = s.source};
    espl_entity first, second;

    espl_command_buffer *const other = test_commands(s.world, LANES);
    espl_recorder *const lanes[] = {espl_command_buffer_recorder(other, 0),
                                    espl_command_buffer_recorder(other, 1)};
    ck_ok(espl_record_instantiate(lanes[0], 0, &def, 1, &first));
    ck_ok(espl_record_instantiate(lanes[1], 0, &def, 1, &second));
    espl_command_buffer_destroy(other);
    ck_assert_uint_eq(first.index, second.index);
    return second.generation - first.generation;
}

typedef struct making {
    espl_entity parent, before;
    espl_dead_parent dead_parent;
    uint32_t count; // 0 counts as 1
} making;

static espl_status record_maker(uint32_t lane, uint32_t key, const making *how,
                                espl_entity *pending)
{
    const espl_transform at = test_at((float)key, 0, 0);
    const espl_component_value placement = {ESPL_TRANSFORM, sizeof at, &at};
    const espl_instance_def clone = {.source = s.source,
                                     .parent = how->parent,
                                     .before = how->before,
                                     .dead_parent = how->dead_parent,
                                     .place = ESPL_PLACE_LOCAL,
                                     .transform = at};
    const espl_creation_def creation = {.values = &placement,
                                        .value_count = 1,
                                        .parent = how->parent,
                                        .before = how->before,
                                        .dead_parent = how->dead_parent};
    const uint32_t count = how->count > 0 ? how->count : 1;

    return s.creates ? espl_record_create(s.lane[lane], key, &creation, count, pending)
                     : espl_record_instantiate(s.lane[lane], key, &clone, count, pending);
}

static espl_entity make(uint32_t lane, uint32_t key, espl_entity parent)
{
    espl_entity pending = {0};

    ck_ok(record_maker(lane, key, &(making){.parent = parent}, &pending));
    return pending;
}

// A maker that is refused at playback, because its parent is the null entity.
static espl_entity make_refused(uint32_t lane, uint32_t key)
{
    const espl_entity dead = {s.source.index, s.source.generation + 1};

    return make(lane, key, dead);
}

static void play(void)
{
    ck_ok(espl_play(s.world, s.commands, &s.report));
    test_world_is_valid(s.world);
}

static espl_entity resolved(espl_entity pending)
{
    espl_entity out = {0};

    ck_ok(espl_command_buffer_resolve(s.commands, pending, &out));
    ck_assert(espl_is_alive(s.world, out));
    ck_assert_uint_eq(out.generation >> 31, 0);
    return out;
}

// Refused, resolving writes nothing.
static void resolves_to(espl_entity pending, espl_status status)
{
    const espl_entity before = {123, 456};
    espl_entity out = before;

    ck_assert_int_eq(espl_command_buffer_resolve(s.commands, pending, &out), status);
    ck_assert(espl_entity_equal(out, before));
}

static bool is(espl_entity a, espl_entity b)
{
    return espl_entity_equal(a, b);
}

static espl_status result(uint32_t lane, uint32_t index)
{
    return espl_command_buffer_result(s.commands, lane, index);
}

// --- Every use of a pending, each command in a lane of its own ---

enum { USES = 14 };

// Record one use of each kind at a key. Every one is the only command of the key in its lane.
static espl_status record_use(int use, uint32_t lane, uint32_t key, espl_entity pending)
{
    espl_recorder *const r = s.lane[lane];
    const espl_transform at = test_at(9, 8, 7);
    const espl_attach_options before = {.before = pending};
    const espl_write write = {.entity = pending, .kind = ESPL_WRITE_WORLD_SCALE, .value.scale = 2};

    switch (use) {
    case 0:
        return espl_record_destroy(r, key, pending, ESPL_EXTENT_OWNED);
    case 1:
        return espl_record_destroy(r, key, pending, ESPL_EXTENT_SUBTREE);
    case 2:
        return espl_record_destroy(r, key, pending, ESPL_EXTENT_ENTITY);
    case 3:
        return espl_record_attach(r, key, pending, s.child, NULL);
    case 4:
        return espl_record_attach(r, key, s.child, pending, NULL);
    case 5:
        return espl_record_attach(r, key, s.source, s.top, &before);
    case 6:
        return espl_record_detach(r, key, pending, ESPL_KEEP_WORLD);
    case 7:
        return espl_record_move_before(r, key, pending, test_null);
    case 8:
        return espl_record_move_before(r, key, s.child, pending);
    case 9:
        return espl_record_write(r, key, pending, ESPL_WRITE_LOCAL_TRANSFORM, &at);
    case 10:
        return espl_record_write(r, key, write.entity, write.kind, &write.value);
    case 11:
        return espl_record_set_inherit(r, key, pending, ESPL_ABSOLUTE_Y);
    case 12:
        return espl_record_instantiate(r, key, &(espl_instance_def){.source = pending}, 1, NULL);
    default:
        return record_maker(lane, key, &(making){.parent = pending}, NULL);
    }
}

// What a maker makes under the top is a sibling of the child, so that each use is legal.
TEST_LOOP(any_command_of_any_lane_may_name_what_another_lane_makes, 0, MAKERS)
{
    for (int use = 0; use < USES; ++use) {
        for (uint32_t lane = 0; lane < LANES; ++lane) {
            stage_begin(_i);
            const espl_entity pending = make(1, 5, s.top);
            ck_ok(record_use(use, lane, 6, pending));
            play();
            ck_assert_msg(s.report.applied == 2, "use %d in lane %u", use, (unsigned)lane);
            resolves_to((espl_entity){7, pending.generation}, ESPL_ERR_FOREIGN);
            if (use < 3) {
                resolves_to(pending, ESPL_ERR_DEAD);
            } else {
                (void)resolved(pending);
            }
            stage_end();
        }
    }
}

// Keys come first, then lanes.
TEST_LOOP(what_is_made_later_in_playback_order_is_dead, 0, MAKERS)
{
    for (int use = 0; use < USES; ++use) {
        for (uint32_t lane = 0; lane < LANES; ++lane) {
            stage_begin(_i);
            const espl_entity pending = make(1, 5, s.top);
            ck_ok(record_use(use, lane, lane <= 1 ? 4 : 5, pending));
            play();
            const espl_status status = result(lane, lane == 1 ? 1 : 0);
            ck_assert_msg(status == (lane <= 1 ? ESPL_ERR_DEAD : ESPL_OK), "use %d, lane %u: %s",
                          use, (unsigned)lane, espl_status_name(status));
            if (lane <= 1 || use > 2) {
                (void)resolved(pending);
            }
            stage_end();
        }
    }
}

TEST_LOOP(what_a_refused_command_would_have_made_is_dead, 0, MAKERS)
{
    for (int use = 0; use < USES; ++use) {
        stage_begin(_i);
        const espl_entity pending = make_refused(2, 1);
        ck_ok(record_use(use, (uint32_t)use % LANES, 7, pending));
        play();
        ck_assert_uint_eq(s.report.refused_by[-ESPL_ERR_DEAD], 2);
        ck_assert_uint_eq(s.report.created, 0);
        resolves_to(pending, ESPL_ERR_DEAD);
        stage_end();
    }
}

TEST_LOOP(what_was_destroyed_in_the_same_playback_is_dead, 0, MAKERS)
{
    for (int use = 0; use < USES; ++use) {
        stage_begin(_i);
        const espl_entity pending = make(3, 1, s.top);
        ck_ok(espl_record_destroy(s.lane[0], 2, pending, ESPL_EXTENT_OWNED));
        ck_ok(record_use(use, 1, 3, pending));
        play();
        ck_status(result(1, 0), ESPL_ERR_DEAD);
        ck_assert_uint_eq(s.report.created, 0);
        ck_assert_uint_eq(s.report.destroyed, 0);
        resolves_to(pending, ESPL_ERR_DEAD);
        stage_end();
    }
}

TEST_LOOP(a_chain_hangs_on_its_first_maker, 0, MAKERS)
{
    enum { LENGTH = 40 };
    espl_entity pending[LENGTH];

    for (int refused = 0; refused < 2; ++refused) {
        stage_begin(_i);
        pending[0] = refused != 0 ? make_refused(0, 0) : make(0, 0, s.top);
        for (uint32_t i = 1; i < LENGTH; ++i) {
            pending[i] = make((i * 7) % LANES, i, pending[i - 1]);
        }
        play();
        ck_assert_uint_eq(s.report.refused_by[-ESPL_ERR_DEAD], refused != 0 ? LENGTH : 0);
        for (uint32_t i = 0; i < LENGTH; ++i) {
            if (refused != 0) {
                resolves_to(pending[i], ESPL_ERR_DEAD);
            } else {
                const espl_entity parent = i > 0 ? resolved(pending[i - 1]) : s.top;

                ck_assert(is(espl_get_parent(s.world, resolved(pending[i])), parent));
            }
        }
        stage_end();
    }
}

// --- Orphans ---

// --- Places ---

TEST_LOOP(a_pending_that_is_no_child_is_no_place, 0, MAKERS)
{
    stage_begin(_i);
    const espl_entity solo = make(0, 1, test_null);
    const making how = {.parent = s.top, .before = solo};
    ck_ok(record_maker(1, 2, &how, NULL));
    ck_ok(espl_record_move_before(s.lane[2], 2, s.child, solo));
    ck_ok(espl_record_attach(s.lane[3], 2, solo, solo, NULL));
    play();
    ck_status(result(1, 0), ESPL_ERR_NOT_CHILD);
    ck_status(result(2, 0), ESPL_ERR_NOT_CHILD);
    ck_status(result(3, 0), ESPL_ERR_CYCLE);
    stage_end();
}

TEST(a_pending_in_a_value_stays_as_it_is)
{
    espl_entity holder, held = {0};

    stage_begin(CLONES);
    const espl_entity pending = make(0, 0, test_null);
    const espl_component_value value = {s.link, sizeof pending, &pending};
    const espl_instance_def def = {.source = s.source, .values = &value, .value_count = 1};
    ck_ok(espl_record_instantiate(s.lane[1], 1, &def, 1, &holder));
    play();
    ck_ok(espl_get_component(s.world, resolved(holder), s.link, &held, sizeof held));
    ck_assert(is(held, pending));
    stage_end();
}

// --- Copies ---

TEST_LOOP(no_copies_are_no_command_and_no_handle, 0, MAKERS)
{
    espl_entity pending = {3, 4};
    const espl_component_value none = {0};

    stage_begin(_i);
    const espl_instance_def clone = {.source = s.source};
    const espl_creation_def creation = {.values = &none};
    ck_ok(s.creates ? espl_record_create(s.lane[0], 0, &creation, 0, &pending)
                    : espl_record_instantiate(s.lane[0], 0, &clone, 0, &pending));
    ck_assert_uint_eq(espl_command_buffer_count(s.commands), 0);
    ck_assert(is(pending, (espl_entity){3, 4}));
    play();
    stage_end();
}

// --- Answers ---

TEST_LOOP(resolving_answers_in_every_state, 0, MAKERS)
{
    espl_entity again;

    stage_begin(_i);
    const espl_entity pending = make(1, 0, test_null);
    espl_entity no_lane = pending, no_serial = pending;
    no_lane.generation += LANES * lane_step();
    no_serial.index += 1;
    resolves_to(pending, ESPL_ERR_PENDING);
    resolves_to(test_null, ESPL_ERR_NULL_ENTITY);
    resolves_to(s.source, ESPL_ERR_ARGUMENT);
    resolves_to(no_lane, ESPL_ERR_FOREIGN);
    resolves_to(no_serial, ESPL_ERR_FOREIGN);

    // A playback that is refused as a whole is none.
    test_heap_arm(&s.test.heap, 1, true);
    ck_status(espl_play(s.world, s.commands, NULL), ESPL_ERR_NO_MEMORY);
    test_heap_arm(&s.test.heap, 0, false);
    resolves_to(pending, ESPL_ERR_PENDING);

    play();
    const espl_entity entity = resolved(pending);
    ck_status(espl_play(s.world, s.commands, NULL), ESPL_ERR_PLAYED);
    ck_assert(is(resolved(pending), entity));
    resolves_to(no_lane, ESPL_ERR_FOREIGN);
    resolves_to(no_serial, ESPL_ERR_FOREIGN);
    resolves_to(entity, ESPL_ERR_ARGUMENT);
    resolves_to(test_null, ESPL_ERR_NULL_ENTITY);

    // What it became is told, whatever became of that.
    ck_ok(espl_destroy(s.world, entity, ESPL_EXTENT_OWNED));
    ck_ok(espl_command_buffer_resolve(s.commands, pending, &again));
    ck_assert(is(again, entity));

    espl_command_buffer_reset(s.commands);
    resolves_to(pending, ESPL_ERR_FOREIGN);
    stage_end();
}

TEST_LOOP(pendings_of_other_commands_are_foreign_when_recorded, 0, MAKERS)
{
    espl_entity theirs;

    stage_begin(_i);
    espl_command_buffer *const others = test_commands(s.world, LANES);
    const espl_instance_def def = {.source = s.source};
    ck_ok(espl_record_instantiate(espl_command_buffer_recorder(others, 1), 0, &def, 1, &theirs));
    const espl_entity old = make(1, 0, test_null);
    resolves_to(theirs, ESPL_ERR_FOREIGN);
    espl_command_buffer_reset(s.commands);
    espl_entity no_lane = make(1, 0, test_null);
    no_lane.generation += LANES * lane_step();
    for (int use = 0; use < USES; ++use) {
        ck_status(record_use(use, 2, 0, no_lane), ESPL_ERR_FOREIGN);
        ck_status(record_use(use, 2, 0, theirs), ESPL_ERR_FOREIGN);
        ck_status(record_use(use, 2, 0, old), ESPL_ERR_FOREIGN);
    }
    ck_assert_uint_eq(espl_command_buffer_count(s.commands), 1);
    espl_command_buffer_destroy(others);
    stage_end();
}

// A lane may be named before it has made so many: the serial is looked at when all is recorded.
TEST_LOOP(serials_that_were_never_given_are_foreign_at_playback, 0, MAKERS)
{
    for (int use = 0; use < USES; ++use) {
        stage_begin(_i);
        espl_entity pending = make(1, 0, s.top);
        pending.index += 1;
        const espl_status status = record_use(use, 2, 1, pending);
        play();
        ck_status(status == ESPL_OK ? result(2, 0) : status, ESPL_ERR_FOREIGN);
        ck_assert_uint_eq(s.report.applied, 1);
        stage_end();
    }
}

TEST_LOOP(calls_at_once_do_not_know_pendings, 0, MAKERS)
{
    stage_begin(_i);
    const espl_entity pending = make(1, 0, s.top);
    const espl_transform at = test_at(1, 1, 1);
    for (int played = 0; played < 2; ++played) {
        ck_assert(!espl_is_alive(s.world, pending));
        ck_status(espl_destroy(s.world, pending, ESPL_EXTENT_OWNED), ESPL_ERR_PENDING);
        ck_status(espl_set_local_transform(s.world, pending, &at), ESPL_ERR_PENDING);
        ck_status(espl_attach(s.world, pending, s.top, NULL), ESPL_ERR_PENDING);
        ck_status(espl_attach(s.world, s.child, pending, NULL), ESPL_ERR_PENDING);
        ck_status(espl_instantiate(s.world, &(espl_instance_def){.source = pending}, 1, NULL),
                  ESPL_ERR_PENDING);
        ck_assert_int_eq(espl_get_role(s.world, pending), ESPL_ROLE_NONE);
        if (played == 0) {
            play();
        }
    }
    stage_end();
}

// --- Tags ---

// A handle is foreign after any number of resets, up to as many as there are tags.
TEST(a_pending_stays_foreign_while_tags_go_round)
{
    espl_entity out;

    stage_begin(_i);
    // Of the tags the object of lane_step() took one.
    const size_t resets = test_scaled(lane_step() - 2);
    const espl_entity pending = make(1, 0, test_null);
    for (size_t i = 0; i < resets; ++i) {
        espl_command_buffer_reset(s.commands);
        if (espl_command_buffer_resolve(s.commands, pending, &out) != ESPL_ERR_FOREIGN) {
            ck_abort_msg("known again after %zu resets", i + 1);
        }
    }
    ck_status(espl_record_destroy(s.lane[0], 0, pending, ESPL_EXTENT_OWNED), ESPL_ERR_FOREIGN);
    const espl_entity fresh = make(1, 0, test_null);
    play();
    (void)resolved(fresh);
    stage_end();
}

static int by_handle(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(espl_entity));
}

TEST(handles_of_all_objects_lanes_and_resets_are_distinct)
{
    enum { OBJECTS = 5, RESETS = 4, EACH = 3, ALL = OBJECTS * RESETS * LANES * EACH };
    espl_command_buffer *objects[OBJECTS];
    espl_entity all[ALL];
    size_t count = 0;

    stage_begin(_i);
    const espl_instance_def def = {.source = s.source};
    for (size_t i = 0; i < OBJECTS; ++i) {
        ck_ok(espl_command_buffer_create(s.world, LANES, &objects[i]));
    }
    for (size_t reset = 0; reset < RESETS; ++reset) {
        for (size_t i = 0; i < OBJECTS * LANES; ++i) {
            espl_recorder *const lane =
                espl_command_buffer_recorder(objects[i / LANES], (uint32_t)(i % LANES));

            ck_ok(espl_record_instantiate(lane, 0, &def, EACH, all + count));
            count += EACH;
        }
        for (size_t i = 0; i < OBJECTS; ++i) {
            espl_command_buffer_reset(objects[i]);
        }
    }
    qsort(all, count, sizeof *all, by_handle);
    for (size_t i = 1; i < count; ++i) {
        ck_assert(!is(all[i - 1], all[i]));
        ck_assert(all[i].generation >> 31 == 1);
    }
    for (size_t i = 0; i < OBJECTS; ++i) {
        espl_command_buffer_destroy(objects[i]);
    }
    stage_end();
}

// --- A million ---

// Made by few commands, destroyed by many; what is left answers for itself.
TEST_LOOP(a_million_pendings_are_made_named_and_resolved, 0, MAKERS)
{
    enum { MILLION = 1000000 };
    const uint32_t count = test_fitting(test_scaled(MILLION), 4) / LANES * LANES;
    espl_entity *const pending = calloc(count, sizeof *pending);
    uint8_t *const seen = calloc(count + 8, 1);

    ck_assert(pending != NULL && seen != NULL);
    stage_begin(_i);
    for (uint32_t lane = 0; lane < LANES; ++lane) {
        const making how = {.count = count / LANES};

        ck_ok(record_maker(lane, 0, &how, pending + lane * (count / LANES)));
    }
    for (uint32_t i = 0; i < count; i += 8) {
        ck_ok(espl_record_destroy(s.lane[i / 8 % LANES], 1, pending[i], ESPL_EXTENT_OWNED));
    }
    play();
    ck_assert_uint_eq(s.report.refused, 0);
    ck_assert_uint_eq(s.report.created, count - (count + 7) / 8);
    for (uint32_t i = 0; i < count; ++i) {
        espl_entity entity = {0};
        const espl_status status = espl_command_buffer_resolve(s.commands, pending[i], &entity);

        if (status != (i % 8 == 0 ? ESPL_ERR_DEAD : ESPL_OK) ||
            (status == ESPL_OK && (!espl_is_alive(s.world, entity) || entity.index >= count + 8 ||
                                   seen[entity.index]++ != 0))) {
            ck_abort_msg("pending %u: %s", (unsigned)i, espl_status_name(status));
        }
    }
    free(pending);
    free(seen);
    stage_end();
}
