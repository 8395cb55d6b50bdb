// SPDX-License-Identifier: MIT
// Playbacks on large hierarchies, of which commands touch a small part, beside a twin world in
// which each command is carried out by calls at once: who hangs where, in which order, and every
// bit that is stored and shown.
#include "tests/commands/planned.h"
#include "tests/runner.h"

enum { STEPS = 40, ROUNDS = 4, ACTORS = YARD_ENTITIES + ROUNDS * STEPS };

typedef enum kind {
    ATTACH,
    DETACH,
    SIBLING,
    LOCAL,
    WORLD,
    INHERIT,
    PLACE,
    UNPLACE,
    CREATE,
    DESTROY,
    DESTROY_ONLY,
    DESTROY_SUBTREE,
    KINDS
} kind;

typedef struct step {
    kind kind;
    uint32_t target, other, third, made; // actors; ACTORS: none
    espl_transform value;
    espl_attach_options options; // without `before`
} step;

// One of the two worlds. What was refused to be made is the dead one.
typedef struct side {
    yard y;
    espl_entity actors[ACTORS], dead;
    espl_status results[STEPS];
} side;

typedef struct pair {
    side played, at_once;
    uint32_t actor_count;
    step steps[STEPS];
    uint64_t random;
} pair;

// --- Steps ---

static step any_step(pair *p)
{
    const uint32_t known = p->actor_count;
    const espl_stay stay = (espl_stay)test_below(&p->random, 3);
    step s = {.kind = (kind)test_below(&p->random, KINDS + 4),
              .target = test_below(&p->random, known),
              .other = test_below(&p->random, known),
              .third = test_one_in(&p->random, 3) ? test_below(&p->random, known) : ACTORS,
              .made = ACTORS,
              .value = random_transform(&p->random, test_one_in(&p->random, 4)),
              .options = {.position = stay,
                          .rotation = stay,
                          .scale = stay,
                          .link = (espl_link)test_below(&p->random, 2)}};

    s.kind = s.kind >= KINDS ? ATTACH : s.kind;
    if (s.kind == INHERIT || (s.kind == ATTACH && test_one_in(&p->random, 5))) {
        s.options.inherit = random_inherit(&p->random);
    }
    // Large ones are to stay large.
    if (s.kind == DESTROY_SUBTREE && !test_one_in(&p->random, 4)) {
        s.kind = DESTROY_ONLY;
    }
    if (s.kind == CREATE) {
        s.made = p->actor_count++;
    }
    return s;
}

static espl_entity actor(const side *s, uint32_t number)
{
    return number == ACTORS ? espl_entity_null() : s->actors[number];
}

static espl_attach_options options_of(const side *s, const step *k)
{
    espl_attach_options options = k->options;

    options.before = actor(s, k->third);
    return options;
}

static espl_status record(side *s, const step *k, uint32_t key)
{
    espl_recorder *const lane = yard_lane(&s->y, key % YARD_LANES);
    const espl_entity target = actor(s, k->target), other = actor(s, k->other);
    const espl_attach_options options = options_of(s, k);
    const espl_component_value placement = {
        .component = ESPL_PLACEMENT, .size = sizeof k->value, .data = &k->value};
    const espl_creation_def def = {.values = &placement, .value_count = 1, .parent = other};

    switch (k->kind) {
    case ATTACH:
        return espl_record_attach(lane, key, target, other, &options);
    case DETACH:
        return espl_record_detach(lane, key, target, k->options.position);
    case SIBLING:
        return espl_record_set_sibling(lane, key, target, options.before);
    case LOCAL:
        return espl_record_set_local(lane, key, target, &k->value);
    case WORLD:
        return espl_record_set_world(lane, key, target, &k->value);
    case INHERIT:
        return espl_record_set_inherit(lane, key, target, k->options.inherit);
    case PLACE:
        return espl_record_add(lane, key, target, ESPL_PLACEMENT, &k->value, sizeof k->value);
    case UNPLACE:
        return espl_record_remove(lane, key, target, ESPL_PLACEMENT);
    case CREATE:
        return espl_record_create(lane, key, &def, 1, &s->actors[k->made]);
    case DESTROY:
        return espl_record_destroy(lane, key, target);
    case DESTROY_ONLY:
        return espl_record_destroy_only(lane, key, target);
    default:
        return espl_record_destroy_subtree(lane, key, target);
    }
}

static espl_status create(side *s, const step *k)
{
    const espl_attach_options options = {
        .position = ESPL_STAY_LOCAL, .rotation = ESPL_STAY_LOCAL, .scale = ESPL_STAY_LOCAL};
    const espl_entity parent = actor(s, k->other);

    s->actors[k->made] = s->dead;
    if (!espl_is_alive(s->y.world, parent)) {
        return ESPL_ERR_DEAD;
    }
    const espl_entity made = test_solo(s->y.world);

    ck_assert_int_eq(espl_set_local(s->y.world, made, &k->value), ESPL_OK);
    const espl_status status = espl_attach(s->y.world, made, parent, &options);

    if (status < 0) {
        ck_assert_int_eq(espl_destroy(s->y.world, made), ESPL_OK);
    } else {
        s->actors[k->made] = made;
    }
    return status;
}

static espl_status carry_out(side *s, const step *k)
{
    espl_world *const world = s->y.world;
    const espl_entity target = actor(s, k->target), other = actor(s, k->other);
    const espl_attach_options options = options_of(s, k);

    switch (k->kind) {
    case ATTACH:
        return espl_attach(world, target, other, &options);
    case DETACH:
        return espl_detach(world, target, k->options.position);
    case SIBLING:
        return espl_set_sibling(world, target, options.before);
    case LOCAL:
        return espl_set_local(world, target, &k->value);
    case WORLD:
        return espl_set_world(world, target, &k->value);
    case INHERIT:
        return espl_set_inherit(world, target, k->options.inherit);
    case PLACE:
        return espl_add(world, target, ESPL_PLACEMENT, &k->value, sizeof k->value);
    case UNPLACE:
        return espl_remove(world, target, ESPL_PLACEMENT);
    case CREATE:
        return create(s, k);
    case DESTROY:
        return espl_destroy(world, target);
    case DESTROY_ONLY:
        return espl_destroy_only(world, target);
    default:
        return espl_destroy_subtree(world, target);
    }
}

// --- Comparing ---

// Number of the actor that a handle names, by its index.
static void number_actors(const pair *p, const side *s, uint32_t *numbers, uint32_t bound)
{
    for (uint32_t i = 0; i < bound; ++i) {
        numbers[i] = ACTORS;
    }
    for (uint32_t i = 0; i < p->actor_count; ++i) {
        if (espl_is_alive(s->y.world, s->actors[i])) {
            ck_assert_uint_lt(s->actors[i].index, bound);
            numbers[s->actors[i].index] = i;
        }
    }
}

static void compare(const pair *p)
{
    enum { BOUND = 2 * ACTORS };
    static uint32_t played[BOUND], at_once[BOUND];
    const side *const a = &p->played, *const b = &p->at_once;

    number_actors(p, a, played, BOUND);
    number_actors(p, b, at_once, BOUND);
    for (uint32_t i = 0; i < p->actor_count; ++i) {
        const espl_entity x = a->actors[i], y = b->actors[i];
        const bool lives = espl_is_alive(a->y.world, x);

        ck_assert_msg(lives == espl_is_alive(b->y.world, y), "actor %u lives in one only", i);
        if (!lives) {
            continue;
        }
        const shadow of_x = shadow_of(a->y.world, x), of_y = shadow_of(b->y.world, y);

        shadow_agrees(&of_x, &of_y, i);
        ck_assert_int_eq(espl_get_link(a->y.world, x), espl_get_link(b->y.world, y));
        ck_assert_int_eq(espl_get_role(a->y.world, x), espl_get_role(b->y.world, y));
        espl_entity child = espl_get_first_child(a->y.world, x);
        espl_entity twin = espl_get_first_child(b->y.world, y);

        while (!espl_entity_is_null(child) && !espl_entity_is_null(twin)) {
            if (played[child.index] != at_once[twin.index] || played[child.index] == ACTORS) {
                ck_abort_msg("children of actor %u", i);
            }
            child = espl_get_next_sibling(a->y.world, child);
            twin = espl_get_next_sibling(b->y.world, twin);
        }
        ck_assert(espl_entity_is_null(child) && espl_entity_is_null(twin));
    }
}

// --- Rounds ---

static void pair_begin(pair *p, uint64_t seed)
{
    side *const sides[] = {&p->played, &p->at_once};

    p->random = seed;
    for (uint32_t i = 0; i < 2; ++i) {
        side *const s = sides[i];

        yard_begin(&s->y, seed);
        s->dead = test_solo(s->y.world);
        ck_assert_int_eq(espl_destroy(s->y.world, s->dead), ESPL_OK);
        yard_plant_all(&s->y);
        memcpy(s->actors, s->y.entities, sizeof s->y.entities);
        p->actor_count = s->y.count;
    }
    p->played.y.playback->sketches_all = seed % 2 == 0;
}

// What pendings became; one whose making was refused is dead.
static void resolve(pair *p)
{
    side *const s = &p->played;

    for (uint32_t i = 0; i < STEPS; ++i) {
        if (p->steps[i].kind == CREATE) {
            espl_entity *const made = &s->actors[p->steps[i].made];

            if (espl_commands_resolve(s->y.bed.commands, *made, made) != ESPL_OK) {
                *made = s->dead;
            }
        }
    }
}

static void play_round(pair *p)
{
    const uint32_t workers = stage_workers[test_below(&p->random, STAGE_WORKERS)];
    side *const a = &p->played, *const b = &p->at_once;

    for (uint32_t i = 0; i < STEPS; ++i) {
        p->steps[i] = any_step(p);
        ck_assert_int_eq(record(a, &p->steps[i], i), ESPL_OK);
    }
    bed_run_on(&a->y.bed, workers, TEST_SHUFFLED);
    ck_assert_int_eq(espl_play(a->y.world, a->y.bed.commands, NULL), ESPL_OK);
    a->y.playback->executor = &a->y.world->executor;
    test_world_is_valid(a->y.world);
    for (uint32_t i = 0; i < STEPS; ++i) {
        const espl_status played =
            espl_commands_result(a->y.bed.commands, i % YARD_LANES, i / YARD_LANES);
        const espl_status at_once = carry_out(b, &p->steps[i]);

        ck_assert_msg(played == at_once, "step %u of kind %u: played %d, at once %d", i,
                      (unsigned)p->steps[i].kind, (int)played, (int)at_once);
    }
    resolve(p);
    espl_commands_reset(a->y.bed.commands);
    ck_assert_int_eq(espl_compact(b->y.world), ESPL_OK);
    compare(p);
}

START_TEST(playbacks_on_large_hierarchies_are_what_calls_at_once_come_to)
{
    static pair p;

    if (test_lacks_room(YARD_LIMIT, "large hierarchies")) {
        return;
    }
    for (uint64_t i = 0; i < test_scaled(12) + 2; ++i) {
        pair_begin(&p, 100 * i + (uint64_t)_i);
        for (uint32_t round = 0; round < ROUNDS; ++round) {
            play_round(&p);
        }
        yard_end(&p.played.y);
        yard_end(&p.at_once.y);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("large_twins");
    TCase *const all = tcase_create("all");

    tcase_set_timeout(all, 0);
    tcase_add_loop_test(all, playbacks_on_large_hierarchies_are_what_calls_at_once_come_to, 0, 8);
    suite_add_tcase(suite, all);
    return suite;
}

RUN_SUITE(make_suite)
