// SPDX-License-Identifier: MIT
// Placements that come and go among other commands of one playback: as one by one.
#include "tests/commands/shadows.h"
#include "tests/runner.h"

enum { ACTORS = 64, ORIGINALS = 12, STEPS = 16 };

// Actors are originals, then tops of clones by the order of their commands.
typedef struct stage {
    test_world test;
    espl_entity actors[ACTORS];
    uint32_t count;
} stage;

typedef struct script {
    espl__command commands[STEPS];
    espl_transform payload[STEPS]; // fits the first block
    uint32_t actor[STEPS], other[STEPS];
    uint32_t count, pending;
} script;

enum { SCRIPT_TAG = 1234, PLACES = sizeof(espl_transform) / ESPL__PAYLOAD_UNIT };

static bool has_tiny_limits(void)
{
    return test_limits_of_build().entities < 4096;
}

static void add_command(script *sc, uint64_t *random, uint32_t known)
{
    static const uint8_t kinds[] = {
        ESPL__COMMAND_PLACE,   ESPL__COMMAND_PLACE,        ESPL__COMMAND_UNPLACE,
        ESPL__COMMAND_UNPLACE, ESPL__COMMAND_INSTANTIATE,  ESPL__COMMAND_INSTANTIATE,
        ESPL__COMMAND_ATTACH,  ESPL__COMMAND_DESTROY_ONLY, ESPL__COMMAND_WRITE,
        ESPL__COMMAND_INHERIT, ESPL__COMMAND_SIBLING,      ESPL__COMMAND_DETACH};
    const uint32_t at = sc->count++;
    const uint8_t kind = kinds[test_below(random, sizeof kinds)];
    const bool is_instance = kind == ESPL__COMMAND_INSTANTIATE;

    sc->actor[at] = 1 + test_below(random, known - 1);
    sc->other[at] = test_below(random, known);
    sc->payload[at] = random_transform(random, test_one_in(random, 3));
    sc->commands[at] = (espl__command){
        .count = is_instance ? 1 + test_below(random, 2) : 0,
        .pending = is_instance ? sc->pending : 0,
        .payload = at * PLACES,
        .kind = kind,
        .link = (uint8_t)test_below(random, 2),
        .place = kind == ESPL__COMMAND_WRITE ? ESPL_WRITE_LOCAL : (uint8_t)test_below(random, 3),
        .stay_position = (uint8_t)test_below(random, 3),
        .stay_rotation = (uint8_t)test_below(random, 3),
        .stay_scale = (uint8_t)test_below(random, 3),
        .inherit = kind == ESPL__COMMAND_INHERIT ? (uint8_t)random_inherit(random) : 0};
    sc->pending += sc->commands[at].count;
}

// Play commands [begin, end) of a script; what they make are the next actors. False where a world of
// a build with tiny limits is full.
static bool play_script(stage *st, script *sc, uint32_t begin, uint32_t end, espl_status *results,
                        espl_report *report)
{
    espl__command commands[STEPS];
    espl_entity pending[ACTORS], created[ACTORS];
    uint32_t made = 0;

    for (uint32_t i = begin; i < end; ++i) {
        espl__command *const k = &commands[i - begin];
        const uint32_t actor = sc->actor[i], other = sc->other[i];

        *k = sc->commands[i];
        const espl_entity far = other < st->count ? st->actors[other] : pending[other - st->count];
        const bool takes_parent =
            k->kind == ESPL__COMMAND_ATTACH || k->kind == ESPL__COMMAND_INSTANTIATE;
        k->target = actor < st->count ? st->actors[actor] : pending[actor - st->count];
        k->parent = takes_parent ? far : espl_entity_null();
        k->before = k->kind == ESPL__COMMAND_SIBLING ? far : espl_entity_null();
        k->pending = made;
        for (uint32_t c = 0; c < k->count; ++c) {
            pending[made] = espl__pending_handle(SCRIPT_TAG, 0, made);
            made += 1;
        }
    }
    unsigned char *const payload = (unsigned char *)sc->payload;
    espl__lane_view lane = {.commands = commands,
                            .payloads = &payload,
                            .created = created,
                            .results = results + begin,
                            .count = end - begin,
                            .pending_count = made};
    const espl_status status =
        espl__playback_run(&st->test.world->playback, &lane, 1, SCRIPT_TAG, report);
    if (status == ESPL_ERR_LIMIT && has_tiny_limits()) {
        return false;
    }
    ck_assert_int_eq(status, ESPL_OK);
    for (uint32_t i = 0; i < made; ++i) {
        // Nobody's handle stands for what was not made.
        st->actors[st->count++] = espl_entity_is_null(created[i])
                                      ? (espl_entity){UINT32_MAX, UINT32_MAX >> 1}
                                      : created[i];
    }
    test_world_is_valid(st->test.world);
    return true;
}

static void stage_begin(stage *st, uint64_t seed)
{
    memset(st, 0, sizeof *st);
    test_world_begin(&st->test, 3, NULL);
    st->actors[0] = bare(st->test.world);
    plant(st->test.world, &seed, st->actors + 1, ORIGINALS - 1, false);
    st->count = ORIGINALS;
}

static uint32_t number_of(const stage *st, espl_entity entity)
{
    for (uint32_t i = 0; i < st->count; ++i) {
        if (espl_entity_equal(st->actors[i], entity)) {
            return i;
        }
    }
    return ESPL_NO_RANK;
}

// Two worlds agree on an entity, up to handles.
static void actors_agree(const stage *a, const stage *b, espl_entity left, espl_entity right)
{
    const espl_world *const x = a->test.world, *const y = b->test.world;

    ck_assert_int_eq(espl_is_alive(x, left), espl_is_alive(y, right));
    if (!espl_is_alive(x, left)) {
        return;
    }
    const shadow one = shadow_of(x, left), other = shadow_of(y, right);
    shadow_agrees(&one, &other, number_of(a, left));
    ck_assert_int_eq(is_placed(x, left), is_placed(y, right));
    ck_assert_int_eq(espl_get_role(x, left), espl_get_role(y, right));
    ck_assert_int_eq(espl_get_link(x, left), espl_get_link(y, right));
    ck_assert_uint_eq(number_of(a, espl_get_parent(x, left)),
                      number_of(b, espl_get_parent(y, right)));
    ck_assert_uint_eq(number_of(a, espl_get_next_sibling(x, left)),
                      number_of(b, espl_get_next_sibling(y, right)));
    ck_assert_uint_eq(espl_count_children(x, left), espl_count_children(y, right));
}

START_TEST(recorded_among_others_is_one_by_one)
{
    const uint32_t steps = has_tiny_limits() ? 8 : STEPS;
    uint64_t random = 900 + (uint64_t)_i;
    size_t refused = 0, applied = 0, compared = 0;

    for (size_t round = 0; round < test_scaled(300); ++round) {
        espl_status at_once[STEPS], together[STEPS];
        espl_report report = {0};
        script sc = {.count = 0};
        stage one, many;

        stage_begin(&one, random);
        stage_begin(&many, random);
        bool has_room = true;
        for (uint32_t i = 0; i < steps && has_room; ++i) {
            espl_report single = {0};

            add_command(&sc, &random, ORIGINALS + sc.pending);
            has_room = play_script(&one, &sc, i, i + 1, at_once, &single);
        }
        has_room = has_room && play_script(&many, &sc, 0, steps, together, &report);
        ck_assert(!has_room || one.count == many.count);
        for (uint32_t i = 0; i < steps && has_room; ++i) {
            // Nobody's handle is foreign; a pending one that was not made is dead.
            const bool is_nobody = at_once[i] == ESPL_ERR_FOREIGN && together[i] == ESPL_ERR_DEAD;
            ck_assert_msg(is_nobody || at_once[i] == together[i], "command %u: %s, %s", i,
                          espl_status_name(at_once[i]), espl_status_name(together[i]));
        }
        for (uint32_t i = 0; i < one.count && has_room; ++i) {
            actors_agree(&one, &many, one.actors[i], many.actors[i]);
        }
        refused += report.refused;
        applied += report.applied;
        compared += has_room;
        test_world_end(&one.test);
        test_world_end(&many.test);
    }
    ck_assert_uint_gt(applied, 2 * refused);
    ck_assert_uint_ge(compared, test_scaled(300) / (steps == STEPS ? 1 : 2));
}
END_TEST

// One that has no room for another component is refused alone, a clone of it too.
START_TEST(a_full_set_is_refused_alone)
{
    espl_component set[ESPL_SET_LIMIT];
    espl_status results[4];
    espl_report report = {0};
    script sc = {.count = 4};
    stage st;

    memset(&st, 0, sizeof st);
    test_world_begin(&st.test, 3, NULL);
    for (uint32_t i = 0; i < ESPL_SET_LIMIT - 1; ++i) {
        char name[8] = {'c', (char)('a' + i / 26), (char)('a' + i % 26), 0};
        ck_assert_int_eq(espl_component_register(
                             st.test.world, &(espl_component_def){name, 0, 1, NULL, 0}, &set[i]),
                         ESPL_OK);
    }
    ck_assert_int_eq(espl_create(st.test.world, set, ESPL_SET_LIMIT - 1, 1, &st.actors[st.count++]),
                     ESPL_OK);
    st.actors[st.count++] = bare(st.test.world);
    for (uint32_t i = 0; i < 4; ++i) {
        sc.payload[i] = turned;
        sc.commands[i] = (espl__command){.kind = ESPL__COMMAND_PLACE, .payload = i * PLACES};
    }
    sc.commands[1] = (espl__command){.kind = ESPL__COMMAND_INSTANTIATE, .count = 1};
    sc.other[1] = 1;
    sc.actor[2] = 2;
    sc.actor[3] = 1;
    ck_assert(play_script(&st, &sc, 0, 4, results, &report));
    ck_assert_int_eq(results[0], ESPL_ERR_LIMIT);
    ck_assert_int_eq(results[1], ESPL_OK);
    ck_assert_int_eq(results[2], ESPL_ERR_LIMIT);
    ck_assert_int_eq(results[3], ESPL_OK);
    ck_assert(is_placed(st.test.world, st.actors[1]));
    test_world_end(&st.test);
}
END_TEST

// A clone of what got or lost its placement in this playback is born in the archetype that says so.
START_TEST(clones_of_the_changed_need_no_move)
{
    for (int kind = 0; kind < 2; ++kind) {
        espl_status results[2];
        espl_report report = {0};
        script sc = {.count = 2};
        stage st;

        memset(&st, 0, sizeof st);
        test_world_begin(&st.test, 3, NULL);
        st.actors[0] = kind == 0 ? bare(st.test.world) : test_solo_at(st.test.world, 1, 2, 3);
        st.count = 1;
        sc.payload[0] = sc.payload[1] = turned;
        sc.commands[0] =
            (espl__command){.kind = kind == 0 ? ESPL__COMMAND_PLACE : ESPL__COMMAND_UNPLACE};
        sc.commands[1] = (espl__command){.kind = ESPL__COMMAND_INSTANTIATE,
                                         .count = 20,
                                         .place = ESPL_PLACE_SOURCE,
                                         .payload = PLACES};
        sc.other[1] = 0;
        ck_assert(play_script(&st, &sc, 0, 2, results, &report));
        ck_assert_uint_eq(report.refused, 0);
        ck_assert_uint_eq(report.created, 20);
        ck_assert_uint_eq(report.row_moves, 1);
        for (uint32_t i = 1; i < st.count; ++i) {
            ck_assert_int_eq(is_placed(st.test.world, st.actors[i]), kind == 0);
        }
        test_world_end(&st.test);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("placements_played");
    TCase *const rule = tcase_create("rule");

    tcase_add_loop_test(rule, recorded_among_others_is_one_by_one, 0, 4);
    tcase_add_test(rule, a_full_set_is_refused_alone);
    tcase_add_test(rule, clones_of_the_changed_need_no_move);
    tcase_set_timeout(rule, 120);
    suite_add_tcase(suite, rule);
    return suite;
}

RUN_SUITE(make_suite)
