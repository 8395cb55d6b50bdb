// SPDX-License-Identifier: MIT
// Playbacks on large hierarchies, of which commands touch a small part, beside a twin world in
// which each command is carried out by calls at once: parents, the order of children, and every bit that
// can be read.
#include "tests/commands/planted.h"
#include "tests/inside.h"
#include "tests/runner.h"

enum { PLANTED = 600, LANES = 3, STEPS = 40, ROUNDS = 4, ACTORS = PLANTED + ROUNDS * STEPS };

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
    test_world test;
    test_executor hostile;
    espl_world *world;
    espl_command_buffer *commands;
    espl_entity actors[ACTORS], dead;
    uint64_t random; // that of planting
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
    const espl_keep stay = (espl_keep)test_below(&p->random, 3);
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
    espl_recorder *const lane = espl_command_buffer_recorder(s->commands, key % LANES);
    const espl_entity target = actor(s, k->target), other = actor(s, k->other);
    const espl_attach_options options = options_of(s, k);
    const espl_component_value placement = {
        .component = ESPL_TRANSFORM, .size = sizeof k->value, .data = &k->value};
    const espl_creation_def def = {.values = &placement, .value_count = 1, .parent = other};

    switch (k->kind) {
    case ATTACH:
        return espl_record_attach(lane, key, target, other, &options);
    case DETACH:
        return espl_record_detach(lane, key, target, k->options.position);
    case SIBLING:
        return espl_record_set_sibling(lane, key, target, options.before);
    case LOCAL:
        return espl_record_set_local_transform(lane, key, target, &k->value);
    case WORLD:
        return espl_record_set_world_transform(lane, key, target, &k->value);
    case INHERIT:
        return espl_record_set_inherit(lane, key, target, k->options.inherit);
    case PLACE:
        return espl_record_add_component(lane, key, target, ESPL_TRANSFORM, &k->value,
                                         sizeof k->value);
    case UNPLACE:
        return espl_record_remove_component(lane, key, target, ESPL_TRANSFORM);
    case CREATE:
        return espl_record_create(lane, key, &def, 1, &s->actors[k->made]);
    case DESTROY:
        return espl_record_destroy(lane, key, target, ESPL_EXTENT_OWNED);
    case DESTROY_ONLY:
        return espl_record_destroy(lane, key, target, ESPL_EXTENT_ENTITY);
    default:
        return espl_record_destroy(lane, key, target, ESPL_EXTENT_SUBTREE);
    }
}

static espl_status create(side *s, const step *k)
{
    const espl_attach_options options = {
        .position = ESPL_KEEP_LOCAL, .rotation = ESPL_KEEP_LOCAL, .scale = ESPL_KEEP_LOCAL};
    const espl_entity parent = actor(s, k->other);

    s->actors[k->made] = s->dead;
    if (!espl_is_alive(s->world, parent)) {
        return ESPL_ERR_DEAD;
    }
    const espl_entity made = test_solo(s->world);

    ck_assert_int_eq(espl_set_local_transform(s->world, made, &k->value), ESPL_OK);
    const espl_status status = espl_attach(s->world, made, parent, &options);

    if (status < 0) {
        ck_assert_int_eq(espl_destroy(s->world, made, ESPL_EXTENT_OWNED), ESPL_OK);
    } else {
        s->actors[k->made] = made;
    }
    return status;
}

static espl_status carry_out(side *s, const step *k)
{
    espl_world *const world = s->world;
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
        return espl_set_local_transform(world, target, &k->value);
    case WORLD:
        return espl_set_world_transform(world, target, &k->value);
    case INHERIT:
        return espl_set_inherit(world, target, k->options.inherit);
    case PLACE:
        return espl_add_component(world, target, ESPL_TRANSFORM, &k->value, sizeof k->value);
    case UNPLACE:
        return espl_remove_component(world, target, ESPL_TRANSFORM);
    case CREATE:
        return create(s, k);
    case DESTROY:
        return espl_destroy(world, target, ESPL_EXTENT_OWNED);
    case DESTROY_ONLY:
        return espl_destroy(world, target, ESPL_EXTENT_ENTITY);
    default:
        return espl_destroy(world, target, ESPL_EXTENT_SUBTREE);
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
        if (espl_is_alive(s->world, s->actors[i])) {
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
        const bool lives = espl_is_alive(a->world, x);

        ck_assert_msg(lives == espl_is_alive(b->world, y), "actor %u lives in one only", i);
        if (!lives) {
            continue;
        }
        const look of_x = look_of(a->world, x), of_y = look_of(b->world, y);

        looks_agree(&of_x, &of_y, i);
        espl_entity child = espl_get_first_child(a->world, x);
        espl_entity twin = espl_get_first_child(b->world, y);

        while (!espl_entity_is_null(child) && !espl_entity_is_null(twin)) {
            if (played[child.index] != at_once[twin.index] || played[child.index] == ACTORS) {
                ck_abort_msg("children of actor %u", i);
            }
            child = espl_get_next_sibling(a->world, child);
            twin = espl_get_next_sibling(b->world, twin);
        }
        ck_assert(espl_entity_is_null(child) && espl_entity_is_null(twin));
    }
}

// Move every root: parts that inherit flags keep show by where nodes are then.
static void move_roots(const pair *p)
{
    for (uint32_t i = 0; i < p->actor_count; ++i) {
        const espl_entity x = p->played.actors[i], y = p->at_once.actors[i];

        if (espl_is_alive(p->played.world, x) &&
            espl_entity_is_null(espl_get_parent(p->played.world, x))) {
            ck_assert_int_eq(espl_set_local_transform(p->played.world, x, &turned),
                             espl_set_local_transform(p->at_once.world, y, &turned));
        }
    }
}

// --- Large hierarchies ---

// What a hierarchy is made of.
typedef struct plan {
    uint32_t size;
    uint32_t reach;  // a parent is one of the last `reach`; 0: any
    uint32_t passes; // one in so many has no transform; 0: none
    uint32_t keeps;  // one in so many has inherit flags; 0: none
    bool is_stretched;
} plan;

static espl_entity make_node(side *s, const plan *of)
{
    const bool is_pass = of->passes != 0 && test_one_in(&s->random, of->passes);
    const espl_entity entity = is_pass ? bare(s->world) : test_solo(s->world);

    if (!is_pass) {
        const bool is_stretched = of->is_stretched && test_one_in(&s->random, 4);
        espl_transform value = random_transform(&s->random, is_stretched);

        value.scale = test_between(&s->random, 0.9f, 1.1f);
        ck_assert_int_eq(espl_set_local_transform(s->world, entity, &value), ESPL_OK);
    }
    return entity;
}

static void make_tree(side *s, uint32_t first, const plan *of)
{
    for (uint32_t i = 0; i < of->size; ++i) {
        const espl_entity entity = make_node(s, of);
        const uint32_t reach = of->reach == 0 || of->reach > i ? i : of->reach;
        const bool keeps = of->keeps != 0 && test_one_in(&s->random, of->keeps);

        s->actors[first + i] = entity;
        if (i > 0) {
            attach(s->world, entity, s->actors[first + i - 1 - test_below(&s->random, reach)],
                   keeps && is_placed(s->world, entity) ? random_inherit(&s->random) : 0);
        }
    }
}

// Some of all kinds: chains, bushes, solos; plain and not; some nodes die. @return how many.
static uint32_t make_trees(side *s)
{
    uint32_t count = 0;

    while (count + 1 < PLANTED) {
        const uint32_t left = PLANTED - count;
        const uint32_t size = 1 + test_below(&s->random, test_one_in(&s->random, 4) ? 3 : 90);
        const uint32_t reach = test_below(&s->random, 3) * 8;
        const uint32_t passes = test_below(&s->random, 3) * 5;
        const uint32_t keeps = test_below(&s->random, 3) / 2 * 6;
        const plan of = {size < left ? size : left, reach, passes, keeps,
                         test_one_in(&s->random, 3)};

        make_tree(s, count, &of);
        count += of.size;
    }
    for (uint32_t i = 0; i < count / 20; ++i) {
        const espl_entity doomed = s->actors[test_below(&s->random, count)];

        if (espl_is_alive(s->world, doomed)) {
            ck_assert_int_eq(espl_destroy(s->world, doomed, ESPL_EXTENT_ENTITY), ESPL_OK);
        }
    }
    return count;
}

// --- Rounds ---

static void side_begin(side *s, uint64_t seed, bool is_played)
{
    static const uint32_t workers[] = {1, 2, 3, 7};

    s->hostile =
        (test_executor){.manner = TEST_SHUFFLED, .workers = workers[seed % 4], .random = seed};
    const espl_executor executor = test_executor_of(&s->hostile);
    test_world_begin(&s->test, 5, is_played && seed % 4 != 0 ? &executor : NULL);
    s->world = s->test.world;
    if (is_played && seed % 3 == 0) {
        test_cut_jobs(s->world, 8);
    }
    ck_assert_int_eq(espl_command_buffer_create(s->world, LANES, &s->commands), ESPL_OK);
    s->dead = test_solo(s->world);
    ck_assert_int_eq(espl_destroy(s->world, s->dead, ESPL_EXTENT_OWNED), ESPL_OK);
    s->random = seed;
}

static void side_end(side *s)
{
    espl_command_buffer_destroy(s->commands);
    test_world_end(&s->test);
}

static void pair_begin(pair *p, uint64_t seed)
{
    p->random = seed;
    side_begin(&p->played, seed, true);
    side_begin(&p->at_once, seed, false);
    p->actor_count = make_trees(&p->played);
    ck_assert_uint_eq(make_trees(&p->at_once), p->actor_count);
}

// What pendings became; one whose making was refused is dead.
static void resolve(pair *p)
{
    side *const s = &p->played;

    for (uint32_t i = 0; i < STEPS; ++i) {
        if (p->steps[i].kind == CREATE) {
            espl_entity *const made = &s->actors[p->steps[i].made];

            if (espl_command_buffer_resolve(s->commands, *made, made) != ESPL_OK) {
                *made = s->dead;
            }
        }
    }
}

static void play_round(pair *p)
{
    side *const a = &p->played, *const b = &p->at_once;

    for (uint32_t i = 0; i < STEPS; ++i) {
        p->steps[i] = any_step(p);
        ck_assert_int_eq(record(a, &p->steps[i], i), ESPL_OK);
    }
    ck_assert_int_eq(espl_play(a->world, a->commands, NULL), ESPL_OK);
    test_world_is_valid(a->world);
    for (uint32_t i = 0; i < STEPS; ++i) {
        const espl_status played = espl_command_buffer_result(a->commands, i % LANES, i / LANES);
        const espl_status at_once = carry_out(b, &p->steps[i]);

        ck_assert_msg(played == at_once, "step %u of kind %u: played %d, at once %d", i,
                      (unsigned)p->steps[i].kind, (int)played, (int)at_once);
    }
    resolve(p);
    espl_command_buffer_reset(a->commands);
    ck_assert_int_eq(espl_compact(b->world), ESPL_OK);
    compare(p);
    move_roots(p);
    compare(p);
}

START_TEST(playbacks_on_large_hierarchies_are_what_calls_at_once_come_to)
{
    static pair p;

    if (test_lacks_room(2 * ACTORS, "large hierarchies")) {
        return;
    }
    for (uint64_t i = 0; i < test_scaled(12) + 2; ++i) {
        pair_begin(&p, 100 * i + (uint64_t)_i);
        for (uint32_t round = 0; round < ROUNDS; ++round) {
            play_round(&p);
        }
        side_end(&p.played);
        side_end(&p.at_once);
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
