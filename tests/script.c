// SPDX-License-Identifier: MIT
// Worlds for scripts, and the writing of scripts.
#include "tests/asked.h"
#include "tests/script.h"

#include "tests/asserts.h"
#include "tests/fixture.h"
#include "tests/forms.h"
#include "tests/steps.h"

#include <stdlib.h>
#include <string.h>

// Entities that commands name together, and hierarchies at first, keep to blocks of indices.
enum { BLOCK = 32 };

// --- The world ---

static void register_kinds(script_world *s)
{
    static const uint32_t first[1] = {0};
    static const espl_component_def defs[SCRIPT_PLACEMENT_BIT] = {
        {.name = "number", .size = 4, .alignment = 4},
        {.name = "target", .size = 8, .alignment = 4, .references = first, .reference_count = 1},
        {.name = "line", .size = 64, .alignment = 64},
        {.name = "mark"},
        {.name = "note"}};

    for (size_t i = 0; i < SCRIPT_PLACEMENT_BIT; ++i) {
        ck_ok(espl_component_register(s->world, &defs[i], &s->number[i]));
    }
    s->number[SCRIPT_PLACEMENT_BIT] = ESPL_TRANSFORM;
}

enum { FOLLOWS = 1 << 30 };

static void follow_up(script_world *s, uint32_t key, uint32_t number)
{
    const uint32_t next = number | FOLLOWS;

    if (s->follow != NULL && next != number) {
        ck_ok(espl_record_custom(s->follow, key, s->callback[number % 2], &next, sizeof next,
                                 script_alignment(next)));
    }
}

// The order of payloads, where they were recorded but for the lane, and whether they are aligned.
static void hear(void *user, const espl_custom_calls *calls)
{
    script_world *const s = user;

    s->calls += 1;
    s->heard = test_hash_bytes(s->heard, &calls->count, sizeof calls->count);
    for (size_t i = 0; i < calls->count; ++i) {
        const espl_custom_payload *const payload = &calls->payloads[i];
        uint32_t number = 0;

        ck_assert_uint_eq(payload->size, sizeof number);
        memcpy(&number, payload->data, sizeof number);
        ck_assert_uint_eq((uintptr_t)payload->data % script_alignment(number), 0);
        s->heard = test_hash_bytes(s->heard, &payload->key, sizeof payload->key);
        s->heard = test_hash_bytes(s->heard, &number, sizeof number);
        follow_up(s, payload->key, number);
    }
}

static void register_callbacks(script_world *s)
{
    static const char *const names[2] = {"one", "other"};

    for (size_t i = 0; i < 2; ++i) {
        const espl_custom_command_def def = {.name = names[i], .user = s, .function = hear};

        ck_ok(espl_command_register(s->world, &def, &s->callback[i]));
    }
}

static espl_transform any_transform(uint64_t *random)
{
    espl_transform t = espl_transform_identity();

    for (int i = 0; i < 4; ++i) {
        t.rotation[i] = test_between(random, -1, 1);
    }
    for (int i = 0; i < 3; ++i) {
        t.position[i] = test_between(random, -4, 4);
        t.stretch[i] = test_one_in(random, 8) ? test_between(random, 0.5f, 2) : 1;
    }
    t.scale = test_one_in(random, 1000) ? 1e30f
              : test_one_in(random, 30) ? 0
                                        : test_between(random, 0.5f, 1.5f);
    t.user_data = test_one_in(random, 20) ? test_below(random, 3) : 0;
    ck_ok(espl_transform_normalize(&t));
    return t;
}

static uint32_t any_inherit(uint64_t *random)
{
    static const uint32_t choices[] = {ESPL_COPY_PARENT, ESPL_ABSOLUTE_SCALE,
                                       ESPL_ABSOLUTE_ROTATION, ESPL_ABSOLUTE_X | ESPL_ABSOLUTE_UP};

    return test_one_in(random, 12) ? choices[test_below(random, 4)] : 0;
}

static espl_entity plant_one(script_world *s, uint64_t *random)
{
    espl_component set[SCRIPT_COMPONENTS + 2];
    espl_entity entity = {0};
    size_t count = 0;

    for (size_t i = 0; i < SCRIPT_PLACEMENT_BIT; ++i) {
        if (test_one_in(random, 3)) {
            set[count++] = s->number[i];
        }
    }
    if (!test_one_in(random, 6)) {
        set[count++] = ESPL_TRANSFORM;
    }
    if (test_one_in(random, 20)) {
        set[count++] = test_one_in(random, 2) ? ESPL_DISABLED : ESPL_PREFAB;
    }
    ck_ok(espl_create(s->world, set, count, 1, &entity));
    return entity;
}

static void plant_values(script_world *s, espl_entity entity, espl_entity named, uint64_t *random)
{
    const uint32_t number = test_below(random, 1000);
    const espl_transform value = any_transform(random);

    if (espl_has_component(s->world, entity, ESPL_TRANSFORM)) {
        (void)!espl_set_local_transform(s->world, entity, &value);
    }
    if (espl_has_component(s->world, entity, s->number[0])) {
        ck_ok(espl_set_component(s->world, entity, s->number[0], &number, 4));
    }
    if (espl_has_component(s->world, entity, s->number[1])) {
        ck_ok(espl_set_component(s->world, entity, s->number[1], &named, 8));
    }
}

uint32_t script_population(uint32_t entities)
{
    return test_fitting(entities, 40);
}

uint32_t script_lines(uint32_t lines, uint32_t entities)
{
    return lines * script_population(entities) / entities + 1;
}

void script_world_begin(script_world *s, espl_world *world, uint32_t entities, uint64_t seed)
{
    espl_entity block[BLOCK];
    uint64_t random = seed;

    memset(s, 0, sizeof *s);
    s->world = world;
    s->heard = TEST_HASH_START;
    register_kinds(s);
    register_callbacks(s);
    for (uint32_t i = 0; i < entities; ++i) {
        const uint32_t at = i % BLOCK;
        const espl_entity other = block[at > 0 ? test_below(&random, at) : 0];

        block[at] = plant_one(s, &random);
        plant_values(s, block[at], at > 0 ? other : block[at], &random);
        if (at > 0 && !test_one_in(&random, 5)) {
            const bool is_placed = espl_has_component(world, block[at], ESPL_TRANSFORM);
            const espl_attach_options options = {.link = (espl_link)test_one_in(&random, 4),
                                                 .inherit = is_placed ? any_inherit(&random) : 0};

            // One that would overflow stays where it is.
            (void)!espl_attach(world, block[at], other, &options);
        }
    }
}

// --- The living, by index ---

typedef struct crowd {
    espl_entity *entities; // [count]
    uint32_t count;
} crowd;

static crowd crowd_of(espl_world *world)
{
    const espl_query_def all = {.include = ESPL_INCLUDE_PREFABS | ESPL_INCLUDE_DISABLED};
    espl_world_stats stats;
    espl_query query;

    espl_stats(world, &stats);
    const size_t room = stats.entities + stats.retired + 1;
    // An index past all that were ever made is not met: those that are free are counted in.
    crowd c = {.entities = NULL};
    uint32_t past = 0;

    ck_ok(espl_query_begin(world, &all, &query));
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count; ++row) {
            past = query.entities[row].index >= past ? query.entities[row].index + 1 : past;
        }
    }
    espl_entity *const by_index = calloc(past + 1, sizeof *by_index);
    c.entities = calloc(room, sizeof *c.entities);
    ck_assert(by_index != NULL && c.entities != NULL);
    ck_ok(espl_query_begin(world, &all, &query));
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count; ++row) {
            by_index[query.entities[row].index] = query.entities[row];
        }
    }
    for (uint32_t i = 0; i < past; ++i) {
        if (!espl_entity_is_null(by_index[i])) {
            c.entities[c.count++] = by_index[i];
        }
    }
    free(by_index);
    return c;
}

// --- Lines ---

typedef struct writer {
    const script_world *s;
    crowd crowd;
    uint64_t random;
    const script_line *lines;
    uint32_t written; // lines
    uint32_t around;  // number of an entity of the crowd, whose block the next names are from
} writer;

static script_name nobody(writer *w)
{
    espl_entity entity = w->crowd.entities[test_below(&w->random, w->crowd.count)];

    switch (test_below(&w->random, 3)) {
    case 0:
        entity.generation += 1; // not born yet
        break;
    case 1:
        entity.generation ^= UINT32_C(1) << 24; // of another world
        break;
    default:
        entity.index = UINT32_C(1) << 30;
        break;
    }
    return (script_name){.entity = entity};
}

static bool is_maker(const script_line *line)
{
    return line->kind == SCRIPT_INSTANTIATE || line->kind == SCRIPT_CREATE;
}

// A line among the last of the same block, where one is met.
static bool find_maker(writer *w, script_name *out)
{
    for (uint32_t back = 1; back <= 200 && back <= w->written; ++back) {
        const script_line *const line = &w->lines[w->written - back];

        if (is_maker(line) && line->number / BLOCK == w->around / BLOCK &&
            test_one_in(&w->random, 2)) {
            *out = (script_name){.maker = w->written - back + 1,
                                 .copy = test_below(&w->random, line->count)};
            return true;
        }
    }
    return false;
}

static script_name somebody(writer *w)
{
    script_name out = {.maker = 0};

    if (w->crowd.count == 0 || test_one_in(&w->random, 60)) {
        return w->crowd.count == 0 ? out : nobody(w);
    }
    if (test_one_in(&w->random, 3) && find_maker(w, &out)) {
        return out;
    }
    const bool is_far = test_one_in(&w->random, 400);
    const uint32_t begin = w->around / BLOCK * BLOCK;
    const uint32_t rest = w->crowd.count - begin;
    const uint32_t at = is_far ? test_below(&w->random, w->crowd.count)
                               : begin + test_below(&w->random, rest < BLOCK ? rest : BLOCK);

    return (script_name){.entity = w->crowd.entities[at]};
}

// What has little below it, so that clones of clones do not fill the world.
static script_name some_source(writer *w)
{
    script_name out = somebody(w);

    for (int tries = 0; tries < 8; ++tries) {
        if (out.maker != 0 || !espl_is_alive(w->s->world, out.entity) ||
            test_count_descendants(w->s->world, out.entity) < 6) {
            break;
        }
        out = somebody(w);
    }
    return out;
}

static script_name maybe(writer *w, uint32_t one_in)
{
    return test_one_in(&w->random, one_in) ? somebody(w) : (script_name){.maker = 0};
}

// A child of the parent that is named, so that not every place is refused.
static script_name some_child(writer *w, const script_name *parent, uint32_t one_in)
{
    script_name out = maybe(w, one_in);

    if (parent->maker == 0 && out.maker == 0 && !espl_entity_is_null(out.entity)) {
        const espl_entity child =
            test_child(w->s->world, parent->entity, test_below(&w->random, 3));

        out.entity = espl_entity_is_null(child) ? out.entity : child;
    }
    return out;
}

static espl_write_value any_value(uint64_t *random, espl_write_kind kind)
{
    const espl_transform t = any_transform(random);
    const espl_write ordinary = write_ordinary(espl_entity_null(), kind, random);

    if (kind == ESPL_WRITE_LOCAL_TRANSFORM || kind == ESPL_WRITE_WORLD_TRANSFORM) {
        return (espl_write_value){.transform = t};
    }
    return ordinary.value;
}

// Flags are drawn apart, so that the rest of the script stays as it is.
static void flag_write(const espl_world *world, script_line *line, uint64_t aside)
{
    const espl_write_kind kind = form_any_flag(line->write, &aside);

    if (test_plain_kind(kind) >= TEST_KINDS) {
        line->value = any_value(&aside, kind);
    }
    espl_write write = {line->target.entity, kind, line->value};

    place_sometimes(world, &write, &aside);
    line->write = write.kind;
    line->value = write.value;
}

static espl_keep any_stay(uint64_t *random)
{
    return (espl_keep)test_below(random, 3);
}

static void fill_line(writer *w, script_line *line)
{
    uint64_t *const random = &w->random;

    line->target = line->kind == SCRIPT_INSTANTIATE ? some_source(w) : somebody(w);
    line->write = (espl_write_kind)test_below(random, TEST_KINDS);
    line->value = any_value(random, line->write);
    flag_write(w->s->world, line, w->random ^ 0x666c6167);
    line->transform = any_transform(random);
    line->options = (espl_attach_options){.position = any_stay(random),
                                          .rotation = any_stay(random),
                                          .scale = any_stay(random),
                                          .link = (espl_link)test_one_in(random, 4),
                                          .inherit = any_inherit(random)};
    line->dead_parent = (espl_dead_parent)test_one_in(random, 3);
    line->place = (espl_place)test_below(random, 3);
    line->extent = (espl_extent)test_below(random, 3);
    line->gains =
        test_below(random, 1u << SCRIPT_COMPONENTS) & test_below(random, 1u << SCRIPT_COMPONENTS);
    line->losses = test_below(random, 1u << SCRIPT_COMPONENTS) & ~line->gains;
    line->number = w->around;
    line->count = 1 + (test_one_in(random, 4) ? test_below(random, 4) : 0);
    line->parent = line->kind == SCRIPT_ATTACH ? somebody(w) : (script_name){.maker = 0};
    if (is_maker(line)) {
        line->parent = test_one_in(random, 3) ? line->parent : somebody(w);
        // A place among the written ones of a parent alone; others are refused when recorded.
        line->options.inherit = line->parent.maker != 0 || !espl_entity_is_null(line->parent.entity)
                                    ? line->options.inherit
                                    : 0;
    }
    line->before = line->kind == SCRIPT_SIBLING ? maybe(w, 2) : some_child(w, &line->parent, 4);
}

// Makers and destroyers are about as many, so that the world keeps its size.
static script_kind any_kind(uint64_t *random, uint32_t kinds)
{
    static const uint8_t weights[SCRIPT_KINDS] = {14, 5, 3, 6, 14, 4, 4, 12, 3,
                                                  6,  6, 5, 4, 6,  2, 2, 4};
    uint32_t sum = 0;

    for (uint32_t kind = 0; kind < SCRIPT_KINDS; ++kind) {
        sum += (kinds >> kind & 1) != 0 ? weights[kind] : 0;
    }
    uint32_t at = test_below(random, sum);
    for (uint32_t kind = 0; kind < SCRIPT_KINDS; ++kind) {
        const uint32_t weight = (kinds >> kind & 1) != 0 ? weights[kind] : 0;

        if (at < weight) {
            return (script_kind)kind;
        }
        at -= weight;
    }
    return SCRIPT_DESTROY;
}

// Mostly in the order of the script, so that what is made is there for most that names it.
static uint32_t any_key(uint64_t *random, uint32_t line, bool has_equal_keys)
{
    const uint32_t near = line * 16 + test_below(random, 256);

    return has_equal_keys ? near / 1024 : near * SCRIPT_LIMIT + line;
}

script script_write(const script_world *s, uint64_t seed, uint32_t count, uint32_t kinds,
                    bool has_equal_keys)
{
    ck_assert_uint_le(count, SCRIPT_LIMIT);
    script_line *const lines = test_array(count, sizeof *lines);
    writer w = {.s = s, .crowd = crowd_of(s->world), .random = seed, .lines = lines};

    for (; w.written < count; ++w.written) {
        script_line *const line = &lines[w.written];

        w.around = test_below(&w.random, w.crowd.count);
        line->kind = any_kind(&w.random, kinds != 0 ? kinds : (1u << SCRIPT_KINDS) - 1);
        fill_line(&w, line);
        line->key = any_key(&w.random, w.written, has_equal_keys);
    }
    free(w.crowd.entities);
    return (script){lines, count};
}

void script_free(script *s)
{
    free(s->lines);
    *s = (script){NULL, 0};
}

void script_disturb(script_world *s, uint64_t seed)
{
    crowd c = crowd_of(s->world);
    uint64_t random = seed;

    for (uint32_t i = 0; i < c.count / 64; ++i) {
        const espl_entity entity = c.entities[test_below(&random, c.count)];

        // One that died with another is refused.
        (void)!(test_one_in(&random, 3) ? espl_detach(s->world, entity, ESPL_KEEP_WORLD)
                                        : espl_destroy(s->world, entity, ESPL_EXTENT_ENTITY));
    }
    free(c.entities);
}
