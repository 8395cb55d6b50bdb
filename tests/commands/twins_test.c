// SPDX-License-Identifier: MIT
// Commands of every kind on a few entities, recorded over lanes with keys and played, beside a twin
// world in which each is carried out by calls at once, in playback order.
#include "tests/commands/planted.h"
#include "tests/runner.h"

#include <stdlib.h>

enum { LANES = 3, ORIGINALS = 10, STEPS = 28, ACTOR_LIMIT = ORIGINALS + 2 * STEPS, KNOWN = 4096 };
enum { FIRST = 7, WORD = FIRST, PAIR, LINK, MARK, COMPONENTS_END };

typedef enum kind {
    CREATE,
    INSTANTIATE,
    CHANGE,
    SET,
    ENABLE,
    DISABLE,
    ATTACH,
    DETACH,
    DESTROY,
    DESTROY_ONLY,
    SIBLING,
    LOCAL,
    INHERIT,
    KINDS
} kind;

// One command. Actors are originals first, then what commands make, by their numbers in the script.
typedef struct step {
    kind kind;
    uint32_t key, lane, index;    // where it is recorded
    uint32_t actor, other, third; // numbers of actors; UINT32_MAX: none
    uint32_t made, count;         // creations: number of the first
    uint32_t add, remove;         // bits of components
    uint64_t payload;             // of a word, a pair
    uint32_t named;               // actor of a link
    espl_transform transform;
    espl_place place;
    espl_dead_parent dead_parent;
    espl_link link;
    espl_extent extent;
    espl_keep stay;
    uint32_t inherit;
    espl_status refused; // when recorded
} step;

typedef struct script {
    step steps[STEPS];
    uint32_t count, made;
} script;

typedef struct side {
    test_world test;
    espl_world *world;
    espl_entity actors[ACTOR_LIMIT]; // the null one where it was not made
    espl_entity dead;
} side;

static uint32_t bit(espl_component component)
{
    return UINT32_C(1) << component;
}

// --- Worlds ---

static void side_begin(side *s, uint64_t seed, const espl_executor *executor)
{
    static const uint32_t offset[1] = {4};
    const espl_component_def defs[] = {{"word", 4, 4, NULL, 0},
                                       {"pair", 8, 8, NULL, 0},
                                       {"link", 12, 4, offset, 1},
                                       {"mark", 0, 1, NULL, 0}};

    memset(s, 0, sizeof *s);
    test_world_begin(&s->test, 5, executor);
    s->world = s->test.world;
    for (uint32_t i = 0; i < 4; ++i) {
        espl_component number = 0;

        ck_assert_int_eq(espl_component_register(s->world, &defs[i], &number), ESPL_OK);
        ck_assert_uint_eq(number, FIRST + i);
    }
    s->dead = bare(s->world);
    ck_assert_int_eq(espl_destroy(s->world, s->dead, ESPL_EXTENT_OWNED), ESPL_OK);
    plant(s->world, &seed, s->actors, ORIGINALS, true);
    for (uint32_t i = 0; i < ORIGINALS; ++i) {
        const uint32_t word = i, pair[2] = {i, i};
        const struct {
            uint32_t data;
            espl_entity named;
        } link = {i, s->actors[test_below(&seed, ORIGINALS)]};

        if (test_one_in(&seed, 2)) {
            ck_assert_int_eq(espl_add_component(s->world, s->actors[i], WORD, &word, 4), ESPL_OK);
        }
        if (test_one_in(&seed, 2)) {
            ck_assert_int_eq(espl_add_component(s->world, s->actors[i], PAIR, pair, 8), ESPL_OK);
        }
        if (test_one_in(&seed, 2)) {
            ck_assert_int_eq(espl_add_component(s->world, s->actors[i], LINK, &link, 12), ESPL_OK);
        }
        if (test_one_in(&seed, 3)) {
            ck_assert_int_eq(espl_add_component(s->world, s->actors[i], ESPL_PREFAB, NULL, 0),
                             ESPL_OK);
        }
    }
}

// --- Scripts ---

static uint32_t actor_or_none(uint64_t *random, uint32_t known, uint32_t odds)
{
    return test_one_in(random, odds) ? UINT32_MAX : test_below(random, known);
}

static void add_step(script *sc, uint64_t *random)
{
    static const uint8_t kinds[] = {
        CREATE, CREATE,  INSTANTIATE,  INSTANTIATE, INSTANTIATE, CHANGE,  CHANGE, CHANGE,
        CHANGE, SET,     SET,          SET,         ENABLE,      DISABLE, ATTACH, ATTACH,
        DETACH, DESTROY, DESTROY_ONLY, SIBLING,     LOCAL,       INHERIT};
    static const uint32_t choices[] = {
        1u << ESPL_TRANSFORM, 1u << ESPL_PREFAB, 1u << ESPL_DISABLED, 1u << WORD,
        1u << PAIR,           1u << LINK,        1u << MARK};
    step *const s = &sc->steps[sc->count];
    const uint32_t known = ORIGINALS + sc->made;

    memset(s, 0, sizeof *s);
    s->kind = (kind)kinds[test_below(random, sizeof kinds)];
    s->lane = test_below(random, LANES);
    s->key = test_one_in(random, 3) ? test_below(random, 4) : sc->count / 4;
    s->actor = test_below(random, known);
    s->other = actor_or_none(random, known, s->kind == ATTACH ? 1000 : 4);
    s->third = test_one_in(random, 3) ? test_below(random, known) : UINT32_MAX;
    s->named = test_below(random, known);
    s->payload = test_random(random);
    s->transform = random_transform(random, test_one_in(random, 4));
    s->place = (espl_place)test_below(random, 3);
    s->dead_parent = (espl_dead_parent)test_below(random, 2);
    s->link = (espl_link)test_below(random, 2);
    s->extent = (espl_extent)test_below(random, 3);
    s->stay = (espl_keep)test_below(random, 3);
    for (uint32_t i = 0; i < sizeof choices / sizeof *choices; ++i) {
        s->add |= test_one_in(random, 3) ? choices[i] : 0;
        s->remove |= test_one_in(random, 4) ? choices[i] : 0;
    }
    s->remove &= ~s->add;
    if (s->kind == SET) {
        s->add = choices[1 + test_below(random, 6)];
    }
    if (s->kind == INSTANTIATE) {
        s->add = test_one_in(random, 2) ? 0 : s->add & ~bit(ESPL_TRANSFORM);
    }
    if (s->kind == CREATE || s->kind == INSTANTIATE) {
        s->count = 1 + test_below(random, 2);
        s->made = known;
        sc->made += s->count;
    }
    s->inherit = (s->kind == INHERIT || test_one_in(random, 3)) ? random_inherit(random) : 0;
    sc->count += 1;
}

// --- Values ---

typedef struct given {
    espl_component_value values[COMPONENTS_END];
    size_t count;
    espl_component removed[COMPONENTS_END];
    size_t removed_count;
    uint32_t word;
    uint64_t pair;
    struct {
        uint32_t data;
        espl_entity named;
    } link;
    espl_transform transform;
} given;

// What handles in values name must stand in the values of both: originals only.
static void fill(given *g, const side *s, const step *k)
{
    memset(g, 0, sizeof *g);
    g->word = (uint32_t)k->payload;
    g->pair = k->payload;
    g->link.data = (uint32_t)(k->payload >> 7);
    g->link.named = s->actors[k->named % ORIGINALS];
    g->transform = k->transform;
    for (espl_component c = 1; c < COMPONENTS_END; ++c) {
        if ((k->remove & bit(c)) != 0) {
            g->removed[g->removed_count++] = c;
        }
        if ((k->add & bit(c)) == 0) {
            continue;
        }
        espl_component_value *const v = &g->values[g->count++];

        v->component = c;
        if (c == ESPL_TRANSFORM) {
            v->data = &g->transform, v->size = sizeof g->transform;
        } else if (c == WORD) {
            v->data = &g->word, v->size = 4;
        } else if (c == PAIR) {
            v->data = &g->pair, v->size = 8;
        } else if (c == LINK) {
            v->data = &g->link, v->size = 12;
        }
        // Zeros, now and then.
        if (k->kind != SET && k->payload % 5 == 0) {
            v->data = NULL;
        }
    }
}

static espl_attach_options options_of(const step *k, espl_entity before)
{
    return (espl_attach_options){.position = k->stay,
                                 .rotation = k->stay,
                                 .scale = k->stay,
                                 .link = k->link,
                                 .inherit = k->inherit,
                                 .before = before};
}

static espl_creation_def creation_of(const step *k, const given *g, espl_entity parent,
                                     espl_entity before)
{
    return (espl_creation_def){.values = g->values,
                               .value_count = g->count,
                               .parent = parent,
                               .before = before,
                               .link = k->link,
                               .dead_parent = k->dead_parent,
                               .place = k->place,
                               .inherit = k->inherit};
}

static espl_instance_def instance_of(const step *k, const given *g, espl_entity source,
                                     espl_entity parent, espl_entity before)
{
    return (espl_instance_def){.source = source,
                               .parent = parent,
                               .before = before,
                               .link = k->link,
                               .dead_parent = k->dead_parent,
                               .place = k->place,
                               .transform = k->transform,
                               .values = g->values,
                               .value_count = g->count,
                               .inherit = k->inherit};
}

// --- Recording ---

// What a step that was recorded wants of an actor; the dead one where there is none yet.
static espl_entity handle(const side *s, uint32_t actor)
{
    if (actor == UINT32_MAX) {
        return espl_entity_null();
    }
    return espl_entity_is_null(s->actors[actor]) ? s->dead : s->actors[actor];
}

static espl_status record(side *s, espl_recorder *r, step *k)
{
    const espl_entity actor = handle(s, k->actor), other = handle(s, k->other);
    const espl_entity third = handle(s, k->third);
    const espl_attach_options options = options_of(k, third);
    given g;

    fill(&g, s, k);
    switch (k->kind) {
    case CREATE: {
        const espl_creation_def def = creation_of(k, &g, other, third);
        return espl_record_create(r, k->key, &def, k->count, &s->actors[k->made]);
    }
    case INSTANTIATE: {
        const espl_instance_def def = instance_of(k, &g, actor, other, third);
        return espl_record_instantiate(r, k->key, &def, k->count, &s->actors[k->made]);
    }
    case CHANGE: {
        const espl_change_def def = {g.values, g.count, g.removed, g.removed_count};
        return espl_record_change_components(r, k->key, actor, &def);
    }
    case SET:
        return espl_record_set_component(r, k->key, actor, g.values[0].component, g.values[0].data,
                                         g.values[0].size);
    case ENABLE:
        return espl_record_enable(r, k->key, actor, k->extent);
    case DISABLE:
        return espl_record_disable(r, k->key, actor, k->extent);
    case ATTACH:
        return espl_record_attach(r, k->key, actor, other, &options);
    case DETACH:
        return espl_record_detach(r, k->key, actor, k->stay);
    case DESTROY:
        return espl_record_destroy(r, k->key, actor, ESPL_EXTENT_OWNED);
    case DESTROY_ONLY:
        return espl_record_destroy(r, k->key, actor, ESPL_EXTENT_ENTITY);
    case SIBLING:
        return espl_record_set_sibling(r, k->key, actor, third);
    case LOCAL:
        return espl_record_set_local_transform(r, k->key, actor, &k->transform);
    default:
        return espl_record_set_inherit(r, k->key, actor, k->inherit);
    }
}

// --- At once ---

static bool is_dead(const side *s, espl_entity entity)
{
    return !espl_entity_is_null(entity) && !espl_is_alive(s->world, entity);
}

// One entity, by the calls that a creation stands for.
static espl_status create_one(side *s, const step *k, const given *g, uint32_t number)
{
    const espl_entity parent = handle(s, k->other);
    const espl_entity before = handle(s, k->third);
    const espl_keep stay = k->place == ESPL_PLACE_WORLD ? ESPL_KEEP_WORLD : ESPL_KEEP_LOCAL;
    const espl_attach_options options = {.position = stay,
                                         .rotation = stay,
                                         .scale = stay,
                                         .link = k->link,
                                         .inherit = k->inherit,
                                         .before = before};
    espl_component components[COMPONENTS_END];
    espl_entity made = {0};
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < g->count; ++i) {
        components[i] = g->values[i].component;
    }
    if (is_dead(s, parent) && k->dead_parent == ESPL_DEAD_PARENT_REFUSE) {
        return ESPL_ERR_DEAD;
    }
    if (espl_entity_is_null(parent) && !espl_entity_is_null(before)) {
        return ESPL_ERR_NOT_CHILD;
    }
    ck_assert_int_eq(espl_create(s->world, components, g->count, 1, &made), ESPL_OK);
    for (size_t i = 0; i < g->count; ++i) {
        const espl_component_value *const v = &g->values[i];

        ck_assert_int_eq(espl_add_component(s->world, made, v->component, v->data, v->size),
                         ESPL_OK);
    }
    if (!espl_entity_is_null(parent) && !is_dead(s, parent)) {
        status = espl_attach(s->world, made, parent, &options);
    }
    if (status < 0) {
        ck_assert_int_eq(espl_destroy(s->world, made, ESPL_EXTENT_OWNED), ESPL_OK);
    } else {
        s->actors[number] = made;
    }
    return status;
}

static espl_status instantiate(side *s, const step *k, const given *g)
{
    const espl_instance_def def =
        instance_of(k, g, handle(s, k->actor), handle(s, k->other), handle(s, k->third));
    espl_command_buffer *commands = NULL;
    espl_entity pending[2];

    ck_assert_int_eq(espl_command_buffer_create(s->world, 1, &commands), ESPL_OK);
    ck_assert_int_eq(espl_record_instantiate(espl_command_buffer_recorder(commands, 0), 0, &def,
                                             k->count, pending),
                     ESPL_OK);
    ck_assert_int_eq(espl_play(s->world, commands, NULL), ESPL_OK);
    const espl_status status = espl_command_buffer_result(commands, 0, 0);
    for (uint32_t i = 0; i < k->count && status >= 0; ++i) {
        ck_assert_int_eq(espl_command_buffer_resolve(commands, pending[i], &s->actors[k->made + i]),
                         ESPL_OK);
    }
    espl_command_buffer_destroy(commands);
    return status;
}

static espl_status carry_out(side *s, const step *k)
{
    const espl_entity actor = handle(s, k->actor), other = handle(s, k->other);
    const espl_entity third = handle(s, k->third);
    const espl_attach_options options = options_of(k, third);
    espl_status status = ESPL_OK;
    given g;

    fill(&g, s, k);
    switch (k->kind) {
    case CREATE:
        for (uint32_t i = 0; i < k->count && status >= 0; ++i) {
            status = create_one(s, k, &g, k->made + i);
        }
        return status;
    case INSTANTIATE:
        return instantiate(s, k, &g);
    case CHANGE: {
        const espl_change_def def = {g.values, g.count, g.removed, g.removed_count};
        return espl_change_components(s->world, actor, &def);
    }
    case SET:
        return espl_set_component(s->world, actor, g.values[0].component, g.values[0].data,
                                  g.values[0].size);
    case ENABLE:
        return espl_enable(s->world, actor, k->extent);
    case DISABLE:
        return espl_disable(s->world, actor, k->extent);
    case ATTACH:
        return espl_attach(s->world, actor, other, &options);
    case DETACH:
        return espl_detach(s->world, actor, k->stay);
    case DESTROY:
        return espl_destroy(s->world, actor, ESPL_EXTENT_OWNED);
    case DESTROY_ONLY:
        return espl_destroy(s->world, actor, ESPL_EXTENT_ENTITY);
    case SIBLING:
        return espl_set_sibling(s->world, actor, third);
    case LOCAL:
        return espl_set_local_transform(s->world, actor, &k->transform);
    default:
        return espl_set_inherit(s->world, actor, k->inherit);
    }
}

// --- Comparing ---

typedef struct pair {
    espl_entity played, at_once;
} pair;

typedef struct pairs {
    pair items[KNOWN];
    uint32_t count;
} pairs;

static espl_entity twin_of(const pairs *p, espl_entity played)
{
    for (uint32_t i = 0; i < p->count; ++i) {
        if (espl_entity_equal(p->items[i].played, played)) {
            return p->items[i].at_once;
        }
    }
    return espl_entity_null();
}

// Pair everybody who lives: the actors, and what hangs in their hierarchies.
static void pair_up(pairs *p, const side *a, const side *b)
{
    p->count = 0;
    for (uint32_t i = 0; i < ACTOR_LIMIT; ++i) {
        const bool lives =
            !espl_entity_is_null(a->actors[i]) && espl_is_alive(a->world, a->actors[i]);

        ck_assert_msg(
            lives == (!espl_entity_is_null(b->actors[i]) && espl_is_alive(b->world, b->actors[i])),
            "actor %u lives in one only", i);
        if (lives && espl_entity_is_null(twin_of(p, a->actors[i]))) {
            p->items[p->count++] = (pair){a->actors[i], b->actors[i]};
        }
    }
    for (uint32_t i = 0; i < p->count; ++i) {
        const pair up = p->items[i];
        const size_t children = espl_count_children(a->world, up.played);

        ck_assert_uint_eq(children, espl_count_children(b->world, up.at_once));
        for (size_t n = 0; n < children; ++n) {
            const espl_entity played = espl_get_child(a->world, up.played, n);
            const espl_entity at_once = espl_get_child(b->world, up.at_once, n);

            if (espl_entity_is_null(twin_of(p, played))) {
                ck_assert_uint_lt(p->count, KNOWN);
                p->items[p->count++] = (pair){played, at_once};
            }
            ck_assert(espl_entity_equal(twin_of(p, played), at_once));
        }
    }
}

static void compare_values(const pairs *p, const side *a, const side *b, pair both)
{
    for (espl_component c = 1; c < COMPONENTS_END; ++c) {
        static const size_t sizes[COMPONENTS_END] = {[WORD] = 4, [PAIR] = 8, [LINK] = 12};
        unsigned char x[12] = {0}, y[12] = {0};
        const bool has = espl_has_component(a->world, both.played, c);

        ck_assert_msg(has == espl_has_component(b->world, both.at_once, c), "component %u", c);
        if (!has || sizes[c] == 0) {
            continue;
        }
        ck_assert_int_eq(espl_get_component(a->world, both.played, c, x, sizes[c]), ESPL_OK);
        ck_assert_int_eq(espl_get_component(b->world, both.at_once, c, y, sizes[c]), ESPL_OK);
        if (c == LINK) {
            espl_entity named, theirs;

            memcpy(&named, x + 4, sizeof named);
            memcpy(&theirs, y + 4, sizeof theirs);
            ck_assert_int_eq(espl_is_alive(a->world, named), espl_is_alive(b->world, theirs));
            // What a clone's top left behind as roots is paired by nobody.
            const espl_entity twin = twin_of(p, named);
            ck_assert(espl_entity_is_null(twin) || espl_entity_equal(twin, theirs));
            memset(x + 4, 0, 8), memset(y + 4, 0, 8);
        }
        ck_assert_mem_eq(x, y, sizes[c]);
    }
}

static void compare(const side *a, const side *b)
{
    static pairs p;
    espl_world_stats played, at_once;

    pair_up(&p, a, b);
    espl_stats(a->world, &played);
    espl_stats(b->world, &at_once);
    ck_assert_uint_eq(played.entities, at_once.entities);
    ck_assert_uint_ge(played.entities, p.count);
    for (uint32_t i = 0; i < p.count; ++i) {
        const pair both = p.items[i];
        const look x = look_of(a->world, both.played), y = look_of(b->world, both.at_once);

        looks_agree(&x, &y, i);
        ck_assert(espl_entity_equal(twin_of(&p, espl_get_parent(a->world, both.played)),
                                    espl_get_parent(b->world, both.at_once)));
        compare_values(&p, a, b, both);
    }
}

// Move every root: parts that inherit flags keep show by where nodes are then.
static void move_roots(const side *a, const side *b)
{
    static pairs p;

    pair_up(&p, a, b);
    for (uint32_t i = 0; i < p.count; ++i) {
        const pair both = p.items[i];

        if (espl_entity_is_null(espl_get_parent(a->world, both.played))) {
            ck_assert_int_eq(espl_set_local_transform(a->world, both.played, &turned),
                             espl_set_local_transform(b->world, both.at_once, &turned));
        }
    }
}

// --- One run ---

static int by_order(const void *x, const void *y)
{
    const step *const a = *(step *const *)x, *const b = *(step *const *)y;

    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    if (a->lane != b->lane) {
        return a->lane < b->lane ? -1 : 1;
    }
    return a->index < b->index ? -1 : 1;
}

static void resolve_all(side *a, const script *sc, const espl_command_buffer *commands)
{
    for (uint32_t i = 0; i < sc->count; ++i) {
        for (uint32_t n = 0; n < sc->steps[i].count; ++n) {
            espl_entity *const made = &a->actors[sc->steps[i].made + n];
            espl_entity became = {0};

            if (sc->steps[i].refused == ESPL_OK) {
                (void)!espl_command_buffer_resolve(commands, *made, &became);
            }
            *made = became;
        }
    }
}

static void run(uint64_t seed)
{
    static side a, b;
    static script sc;
    step *order[STEPS];
    uint32_t indices[LANES] = {0}, recorded = 0;
    uint64_t random = seed;
    test_executor hostile = {.manner = TEST_SHUFFLED, .workers = 7, .random = seed};
    const espl_executor executor = test_executor_of(&hostile);
    espl_command_buffer *commands = NULL;
    espl_report report;

    sc.count = sc.made = 0;
    side_begin(&a, seed, seed % 2 != 0 ? &executor : NULL);
    side_begin(&b, seed, NULL);
    ck_assert_int_eq(espl_command_buffer_create(a.world, LANES, &commands), ESPL_OK);
    while (sc.count < STEPS) {
        step *const k = &sc.steps[sc.count];

        add_step(&sc, &random);
        k->refused = record(&a, espl_command_buffer_recorder(commands, k->lane), k);
        if (k->refused == ESPL_OK) {
            k->index = indices[k->lane]++;
            order[recorded++] = k;
        }
    }
    qsort(order, recorded, sizeof *order, by_order);
    ck_assert_int_eq(espl_play(a.world, commands, &report), ESPL_OK);
    test_world_is_valid(a.world);
    ck_assert_uint_eq(report.accepted, recorded);
    ck_assert_uint_eq(report.accepted, report.applied + report.refused);
    for (uint32_t i = 0; i < recorded; ++i) {
        const step *const k = order[i];
        const espl_status status = carry_out(&b, k);

        ck_assert_msg(espl_command_buffer_result(commands, k->lane, k->index) == status,
                      "seed %llu: step %u of kind %u: played %d, at once %d",
                      (unsigned long long)seed, i, (unsigned)k->kind,
                      (int)espl_command_buffer_result(commands, k->lane, k->index), (int)status);
    }
    resolve_all(&a, &sc, commands);
    ck_assert_int_eq(espl_compact(b.world), ESPL_OK);
    compare(&a, &b);
    move_roots(&a, &b);
    compare(&a, &b);
    espl_command_buffer_destroy(commands);
    test_world_end(&a.test);
    test_world_end(&b.test);
}

START_TEST(a_playback_is_what_the_calls_at_once_come_to)
{
    const uint64_t runs = test_environment("ESPL_TWINS", test_scaled(60));

    if (test_lacks_room(4000, "twins")) {
        return;
    }
    for (uint64_t i = 0; i < runs; ++i) {
        run(UINT64_C(0x9e3779b9) * (uint64_t)(_i + 1) + i);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("twins");
    TCase *const all = tcase_create("all");

    tcase_set_timeout(all, 0);
    tcase_add_loop_test(all, a_playback_is_what_the_calls_at_once_come_to, 0, 8);
    suite_add_tcase(suite, all);
    return suite;
}

RUN_SUITE(make_suite)
