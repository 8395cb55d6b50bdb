// SPDX-License-Identifier: MIT
// The change stage, row by row: where clones, rows that move and rows that fill holes come to stand,
// worked out by hand, and how often a chunk is opened for them, counted by the stamps of its
// columns; and that neither workers nor a lack of memory change any of it.
#include "lib/world/inside.h"
#include "tests/runner.h"
#include "tests/support.h"

#include <stdlib.h>
#include <string.h>

enum { SOURCES = 12, LIST = 4096, ARCHETYPE_LIMIT = 64 };

// Solos with a value, some with a tag; nothing of them refers to anything.
typedef struct scene {
    test_world test;
    espl_world *world;
    espl__store *store;
    espl_component value, tag;
    espl_commands *commands;
    espl_recorder *recorder;
    uint64_t random;
} scene;

static void scene_begin(scene *s, uint64_t seed, const espl_executor *executor)
{
    const espl_component_def value = {.name = "value", .size = 8, .alignment = 8};
    const espl_component_def tag = {.name = "tag", .alignment = 1};

    memset(s, 0, sizeof *s);
    test_world_begin(&s->test, 11, executor);
    s->world = s->test.world;
    s->store = &s->world->store;
    s->random = seed;
    ck_assert_int_eq(espl_component_register(s->world, &value, &s->value), ESPL_OK);
    ck_assert_int_eq(espl_component_register(s->world, &tag, &s->tag), ESPL_OK);
    ck_assert_int_eq(espl_commands_create(s->world, 1, &s->commands), ESPL_OK);
    s->recorder = espl_commands_recorder(s->commands, 0);
}

static void scene_end(scene *s)
{
    espl_commands_destroy(s->commands);
    test_world_end(&s->test);
}

static void create(const scene *s, bool is_tagged, size_t count, espl_entity *out)
{
    const espl_component set[] = {ESPL_PLACEMENT, s->value, s->tag};

    ck_assert_int_eq(espl_create(s->world, set, is_tagged ? 3 : 2, count, out), ESPL_OK);
    for (size_t i = 0; i < count; ++i) {
        const uint64_t value = out[i].index + UINT64_C(1000);

        ck_assert_int_eq(espl_set(s->world, out[i], s->value, &value, sizeof value), ESPL_OK);
    }
}

static uint64_t value_of(const scene *s, espl_entity entity)
{
    uint64_t value = 0;

    ck_assert_int_eq(espl_get(s->world, entity, s->value, &value, sizeof value), ESPL_OK);
    return value;
}

static espl_report play(scene *s)
{
    espl_report report = {0};

    ck_assert_int_eq(espl_play(s->world, s->commands, &report), ESPL_OK);
    ck_assert_uint_eq(report.refused, 0);
    test_world_is_valid(s->world);
    return report;
}

static void resolve(const scene *s, espl_entity *entities, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        ck_assert_int_eq(espl_commands_resolve(s->commands, entities[i], &entities[i]), ESPL_OK);
    }
}

static void shuffle(scene *s, espl_entity *entities, size_t count)
{
    for (size_t i = count; i > 1; --i) {
        const size_t other = test_below(&s->random, (uint32_t)i);
        const espl_entity kept = entities[i - 1];

        entities[i - 1] = entities[other];
        entities[other] = kept;
    }
}

// --- Rows as they should stand ---

// Indices of the entities in the rows of every archetype.
typedef struct table {
    uint32_t rows[ARCHETYPE_LIMIT][LIST];
    size_t counts[ARCHETYPE_LIMIT];
    uint64_t stamps; // chunks that are opened or filled
} table;

static uint32_t archetype_of(const scene *s, espl_entity entity)
{
    return espl__entity_archetype(s->store, entity.index);
}

static size_t capacity_of(const scene *s, size_t archetype)
{
    return s->store->archetypes[archetype].capacity;
}

static size_t archetype_count(const scene *s)
{
    const size_t count = espl__array_length(s->store->archetypes);

    ck_assert_uint_le(count, ARCHETYPE_LIMIT);
    return count;
}

static uint32_t row_at(const scene *s, size_t archetype, size_t row)
{
    const espl__archetype *const at = &s->store->archetypes[archetype];
    const espl__chunk *const chunk = &s->store->chunks[at->chunks[row / at->capacity]];

    return espl__chunk_entities(chunk)[row % at->capacity].index;
}

static table *table_of(const scene *s)
{
    table *const t = calloc(1, sizeof *t);

    ck_assert_ptr_nonnull(t);
    for (size_t a = 0; a < archetype_count(s); ++a) {
        t->counts[a] = s->store->archetypes[a].count;
        ck_assert_uint_le(t->counts[a], LIST);
        for (size_t row = 0; row < t->counts[a]; ++row) {
            t->rows[a][row] = row_at(s, a, row);
        }
    }
    t->stamps = s->store->version;
    return t;
}

// Compare and free.
static void table_holds(const scene *s, table *t)
{
    for (size_t a = 0; a < archetype_count(s); ++a) {
        ck_assert_uint_eq(s->store->archetypes[a].count, t->counts[a]);
        for (size_t row = 0; row < t->counts[a]; ++row) {
            ck_assert_uint_eq(row_at(s, a, row), t->rows[a][row]);
        }
    }
    ck_assert_uint_eq(s->store->version, t->stamps);
    free(t);
}

// Append a batch: each chunk that it reaches is opened once.
static void append(const scene *s, table *t, size_t archetype, const uint32_t *indices,
                   size_t count)
{
    const size_t capacity = capacity_of(s, archetype), first = t->counts[archetype];

    if (count == 0) {
        return;
    }
    ck_assert_uint_le(first + count, LIST);
    memcpy(t->rows[archetype] + first, indices, count * sizeof *indices);
    t->counts[archetype] = first + count;
    t->stamps += (first + count - 1) / capacity - first / capacity + 1;
}

// Rows that leave an archetype, in the order in which they are named.
typedef struct leaving {
    size_t archetype, count;
    size_t rows[LIST];
} leaving;

static bool leaves(const leaving *l, size_t row)
{
    bool is_named = false;

    for (size_t i = 0; i < l->count; ++i) {
        is_named = is_named || l->rows[i] == row;
    }
    return is_named;
}

// Close the holes: chunks in the order in which they are first named, rows ascending, by those past
// the new end that stay, ascending. A chunk with holes to fill is stamped once.
static void settle(const scene *s, table *t, const leaving *l)
{
    const size_t capacity = capacity_of(s, l->archetype);
    const size_t staying = t->counts[l->archetype] - l->count;
    uint32_t *const rows = t->rows[l->archetype];
    bool is_done[LIST] = {false};
    size_t tail = staying;

    for (size_t i = 0; i < l->count; ++i) {
        const size_t chunk = l->rows[i] / capacity;
        bool is_stamped = false;

        for (size_t row = chunk * capacity;
             !is_done[chunk] && row < (chunk + 1) * capacity && row < staying; ++row) {
            if (leaves(l, row)) {
                while (leaves(l, tail)) {
                    tail += 1;
                }
                rows[row] = rows[tail++];
                t->stamps += is_stamped ? 0 : 1;
                is_stamped = true;
            }
        }
        is_done[chunk] = true;
    }
    t->counts[l->archetype] = staying;
}

static size_t row_of(const table *t, size_t archetype, espl_entity entity)
{
    size_t row = 0;

    while (t->rows[archetype][row] != entity.index) {
        ck_assert_uint_lt(++row, t->counts[archetype]);
    }
    return row;
}

// --- Clones ---

// Clones of random sources, as solos or members, with a tag more or not.
typedef struct brood {
    espl_entity sources[SOURCES], parent, clones[LIST];
    uint32_t source[LIST];
    size_t count;
} brood;

static void record_brood(scene *s, brood *b, size_t count, bool is_mixed)
{
    const espl_component_value tag = {.component = s->tag};

    b->count = count;
    for (size_t i = 0; i < count; ++i) {
        b->source[i] = test_below(&s->random, SOURCES);
        espl_instance_def def = {.source = b->sources[b->source[i]], .values = &tag};

        def.value_count = is_mixed && test_one_in(&s->random, 3) ? 1 : 0;
        def.parent = is_mixed && test_one_in(&s->random, 3) ? b->parent : espl_entity_null();
        ck_assert_int_eq(espl_record_instantiate(s->recorder, 0, &def, 1, &b->clones[i]), ESPL_OK);
    }
}

static void brood_begin(scene *s, brood *b)
{
    espl_entity child;

    create(s, false, SOURCES / 2, b->sources);
    create(s, true, SOURCES - SOURCES / 2, b->sources + SOURCES / 2);
    // A root already, so that no clone changes its role.
    create(s, false, 1, &b->parent);
    create(s, false, 1, &child);
    ck_assert_int_eq(espl_attach(s->world, child, b->parent, NULL), ESPL_OK);
}

// Append the clones of one source to each archetype that has some.
static void append_clones(const scene *s, table *t, const brood *b, uint32_t source)
{
    for (size_t a = 0; a < archetype_count(s); ++a) {
        uint32_t indices[LIST];
        size_t count = 0;

        for (size_t i = 0; i < b->count; ++i) {
            if (b->source[i] == source && archetype_of(s, b->clones[i]) == a) {
                indices[count++] = b->clones[i].index;
            }
        }
        append(s, t, a, indices, count);
    }
}

static void clones_stand_as_they_should(scene *s, brood *b, table *t)
{
    bool is_done[SOURCES] = {false};

    resolve(s, b->clones, b->count);
    for (size_t i = 0; i < b->count; ++i) {
        if (!is_done[b->source[i]]) {
            append_clones(s, t, b, b->source[i]);
            is_done[b->source[i]] = true;
        }
        ck_assert_uint_eq(value_of(s, b->clones[i]),
                          b->sources[b->source[i]].index + UINT64_C(1000));
    }
    table_holds(s, t);
}

static void breed(bool is_mixed, uint64_t seed)
{
    const size_t count = test_fitting(500, SOURCES + 3);
    brood *const b = calloc(1, sizeof *b);
    scene s;

    ck_assert_ptr_nonnull(b);
    scene_begin(&s, seed, NULL);
    brood_begin(&s, b);
    table *const t = table_of(&s);
    record_brood(&s, b, count, is_mixed);
    const espl_report report = play(&s);
    ck_assert_uint_eq(report.created, count);
    ck_assert_uint_eq(report.row_moves, 0);
    clones_stand_as_they_should(&s, b, t);
    free(b);
    scene_end(&s);
}

START_TEST(clones_stand_by_source_and_sources_by_first_appearance)
{
    breed(false, (uint64_t)_i);
}
END_TEST

START_TEST(clones_of_one_source_are_made_at_once_for_each_archetype)
{
    breed(true, (uint64_t)_i);
}
END_TEST

// Handles go by command, not by row.
START_TEST(handles_are_given_in_the_order_of_commands)
{
    const size_t count = test_fitting(300, SOURCES + 3);
    brood *const b = calloc(1, sizeof *b);
    scene s;

    ck_assert_ptr_nonnull(b);
    scene_begin(&s, 7, NULL);
    brood_begin(&s, b);
    const uint32_t first = (uint32_t)espl__array_length(s.store->records);
    record_brood(&s, b, count, true);
    play(&s);
    resolve(&s, b->clones, count);
    for (uint32_t i = 0; i < count; ++i) {
        ck_assert_uint_eq(b->clones[i].index, first + i);
    }
    free(b);
    scene_end(&s);
}
END_TEST

// A source that dies in the same playback is copied before its row is gone.
START_TEST(clones_of_a_source_that_dies_have_its_values)
{
    espl_entity source, clones[5];
    scene s;

    scene_begin(&s, 8, NULL);
    create(&s, true, 1, &source);
    const espl_instance_def def = {.source = source};
    ck_assert_int_eq(espl_record_instantiate(s.recorder, 0, &def, 5, clones), ESPL_OK);
    ck_assert_int_eq(espl_record_destroy(s.recorder, 1, source), ESPL_OK);
    play(&s);
    resolve(&s, clones, 5);
    for (size_t i = 0; i < 5; ++i) {
        ck_assert(espl_has(s.world, clones[i], s.tag));
        ck_assert_uint_eq(value_of(&s, clones[i]), source.index + UINT64_C(1000));
    }
    ck_assert(!espl_is_alive(s.world, source));
    scene_end(&s);
}
END_TEST

// Scratch by entity is for those who refer to entities.
START_TEST(nothing_is_kept_for_each_entity_of_the_world)
{
    const size_t count = test_fitting(2000, 1);
    espl_entity *const all = malloc(count * sizeof *all);
    espl_entity clone;
    scene s;

    ck_assert_ptr_nonnull(all);
    scene_begin(&s, 9, NULL);
    create(&s, false, count, all);
    const espl_instance_def def = {.source = all[count - 1]};
    ck_assert_int_eq(espl_record_instantiate(s.recorder, 0, &def, 1, &clone), ESPL_OK);
    play(&s);
    ck_assert_ptr_null(s.world->playback.source_marks);
    free(all);
    scene_end(&s);
}
END_TEST

// --- Rows that move and rows that leave ---

START_TEST(rows_that_leave_are_filled_chunk_by_chunk)
{
    const size_t count = test_fitting(700, 0) / 2, gone = 1 + (size_t)_i * (count - 1) / 9;
    espl_entity *const all = malloc(2 * count * sizeof *all);
    leaving *const plain = calloc(2, sizeof *plain), *const tagged = plain + 1;
    scene s;

    ck_assert(all != NULL && plain != NULL);
    scene_begin(&s, (uint64_t)_i, NULL);
    create(&s, false, count, all);
    create(&s, true, count, all + count);
    plain->archetype = archetype_of(&s, all[0]);
    tagged->archetype = archetype_of(&s, all[count]);
    shuffle(&s, all, 2 * count);

    table *const t = table_of(&s);
    for (size_t i = 0; i < gone; ++i) {
        leaving *const l = espl_has(s.world, all[i], s.tag) ? tagged : plain;

        l->rows[l->count++] = row_of(t, l->archetype, all[i]);
        ck_assert_int_eq(espl_record_destroy(s.recorder, 0, all[i]), ESPL_OK);
    }
    settle(&s, t, plain);
    settle(&s, t, tagged);
    ck_assert_uint_eq(play(&s).destroyed, gone);
    table_holds(&s, t);
    for (size_t i = gone; i < 2 * count; ++i) {
        ck_assert_uint_eq(value_of(&s, all[i]), all[i].index + UINT64_C(1000));
    }

    // The last one that went comes back first.
    espl_commands_reset(s.commands);
    espl_entity clones[LIST];
    const espl_instance_def def = {.source = all[2 * count - 1]};
    ck_assert_int_eq(espl_record_instantiate(s.recorder, 0, &def, gone, clones), ESPL_OK);
    play(&s);
    resolve(&s, clones, gone);
    for (size_t i = 0; i < gone; ++i) {
        ck_assert_uint_eq(clones[i].index, all[gone - 1 - i].index);
    }
    free(all);
    free(plain);
    scene_end(&s);
}
END_TEST

// Pairs of solos become a root and its member: each chunk's rows go to two archetypes, and chunks,
// and archetypes in them, come in the order in which commands name them first.
typedef struct moving {
    espl_entity all[LIST];
    size_t pairs;
    leaving left;
} moving;

// Append the rows of one chunk that go where `first` goes.
static void append_moved(const scene *s, table *t, const moving *m, size_t first, bool *is_done)
{
    const size_t capacity = capacity_of(s, m->left.archetype);
    const size_t chunk = m->left.rows[first] / capacity;
    const uint32_t to = archetype_of(s, m->all[first]);
    uint32_t indices[ESPL__CHUNK_ROWS];
    size_t count = 0;

    for (size_t row = chunk * capacity; row < (chunk + 1) * capacity; ++row) {
        for (size_t i = 0; i < 2 * m->pairs; ++i) {
            if (m->left.rows[i] == row && archetype_of(s, m->all[i]) == to) {
                indices[count++] = m->all[i].index;
                is_done[i] = true;
            }
        }
    }
    append(s, t, to, indices, count);
}

// All of one chunk go before those of the next.
static void append_chunk(const scene *s, table *t, const moving *m, size_t chunk, bool *is_done)
{
    for (size_t i = 0; i < 2 * m->pairs; ++i) {
        if (!is_done[i] && m->left.rows[i] / capacity_of(s, m->left.archetype) == chunk) {
            append_moved(s, t, m, i, is_done);
        }
    }
}

START_TEST(rows_that_move_go_by_chunk_and_archetype)
{
    const size_t count = test_fitting(600, 0);
    moving *const m = calloc(1, sizeof *m);
    bool is_done[LIST] = {false};
    scene s;

    ck_assert_ptr_nonnull(m);
    scene_begin(&s, (uint64_t)_i, NULL);
    create(&s, false, count, m->all);
    m->left.archetype = archetype_of(&s, m->all[0]);
    m->pairs = 1 + (size_t)_i * (count / 2 - 1) / 9;
    shuffle(&s, m->all, count);
    table *const t = table_of(&s);
    for (size_t i = 0; i < m->pairs; ++i) {
        // The member is named first, and moves before its root does.
        m->left.rows[2 * i] = row_of(t, m->left.archetype, m->all[2 * i]);
        m->left.rows[2 * i + 1] = row_of(t, m->left.archetype, m->all[2 * i + 1]);
        ck_assert_int_eq(espl_record_attach(s.recorder, 0, m->all[2 * i], m->all[2 * i + 1], NULL),
                         ESPL_OK);
    }
    m->left.count = 2 * m->pairs;
    ck_assert_uint_eq(play(&s).row_moves, m->left.count);

    for (size_t i = 0; i < m->left.count; ++i) {
        if (!is_done[i]) {
            append_chunk(&s, t, m, m->left.rows[i] / capacity_of(&s, m->left.archetype), is_done);
        }
    }
    settle(&s, t, &m->left);
    table_holds(&s, t);
    for (size_t i = 0; i < count; ++i) {
        ck_assert_uint_eq(value_of(&s, m->all[i]), m->all[i].index + UINT64_C(1000));
    }
    free(m);
    scene_end(&s);
}
END_TEST

// A survivor whose role was put off for lack of memory gets it when its hierarchy is played upon,
// though it had children before and has some now.
START_TEST(a_role_that_was_put_off_is_not_taken_as_kept)
{
    const espl_attach_options free_link = {.link = ESPL_LINK_FREE};
    espl_entity all[4];
    scene s;

    scene_begin(&s, 10, NULL);
    create(&s, false, 4, all);
    ck_assert_int_eq(espl_attach(s.world, all[1], all[0], &free_link), ESPL_OK);
    ck_assert_int_eq(espl_attach(s.world, all[2], all[1], NULL), ESPL_OK);
    test_heap_arm(&s.test.heap, 1, true);
    ck_assert_int_eq(espl_destroy(s.world, all[0]), ESPL_OK);
    test_heap_arm(&s.test.heap, 0, false);
    ck_assert(espl_has(s.world, all[1], ESPL_MEMBER));

    ck_assert_int_eq(espl_record_attach(s.recorder, 0, all[3], all[2], NULL), ESPL_OK);
    play(&s);
    ck_assert(espl_has(s.world, all[1], ESPL_ROOT));
    ck_assert(espl_has(s.world, all[2], ESPL_MEMBER));
    ck_assert(espl_has(s.world, all[3], ESPL_MEMBER));
    scene_end(&s);
}
END_TEST

// --- Workers ---

enum { FLOCK = 9000 };

// So many commands that they are cut into jobs; every tenth clone dies again where asked for.
static uint64_t play_flock(scene *s, bool has_dead, espl_status *status)
{
    espl_entity sources[SOURCES], clone;

    create(s, false, SOURCES / 2, sources);
    create(s, true, SOURCES - SOURCES / 2, sources + SOURCES / 2);
    for (uint32_t i = 0; i < FLOCK; ++i) {
        const espl_instance_def def = {.source = sources[test_below(&s->random, SOURCES)]};

        ck_assert_int_eq(espl_record_instantiate(s->recorder, 0, &def, 1, &clone), ESPL_OK);
        if (has_dead && i % 10 == 0) {
            ck_assert_int_eq(espl_record_destroy(s->recorder, 0, clone), ESPL_OK);
        }
    }
    *status = espl_play(s->world, s->commands, NULL);
    test_world_is_valid(s->world);
    return test_physical_hash(s->world);
}

START_TEST(jobs_in_any_order_make_the_same_rows)
{
    static const test_manner manners[] = {TEST_IN_ORDER, TEST_REVERSED, TEST_SHUFFLED};
    const bool has_dead = _i % 2 != 0;
    test_executor hostile = {.manner = manners[_i / 2], .workers = 7, .random = 5};
    const espl_executor executor = test_executor_of(&hostile);
    espl_status status = ESPL_OK;
    scene serial, parallel;

    if (test_lacks_room(FLOCK + SOURCES, "jobs of the change stage")) {
        return;
    }
    scene_begin(&serial, 3, NULL);
    scene_begin(&parallel, 3, &executor);
    const uint64_t expected = play_flock(&serial, has_dead, &status);
    ck_assert_int_eq(status, ESPL_OK);
    ck_assert_uint_eq(play_flock(&parallel, has_dead, &status), expected);
    ck_assert_int_eq(status, ESPL_OK);
    ck_assert_uint_gt(hostile.calls, 0);
    scene_end(&serial);
    scene_end(&parallel);
}
END_TEST

// Loses the last job of one of its runs.
typedef struct careless {
    size_t lost, runs;
} careless;

static void run_carelessly(void *context, espl_job function, void *argument, size_t count)
{
    careless *const c = context;

    c->runs += 1;
    for (size_t i = 0; i + (c->runs == c->lost ? 1 : 0) < count; ++i) {
        function(argument, i);
    }
}

// Before the change the playback is refused; from there on it is completed all the same.
START_TEST(a_job_that_is_lost_leaves_all_or_nothing)
{
    espl_status status = ESPL_OK;
    size_t refused = 0, done = 0;
    scene calm;

    if (test_lacks_room(FLOCK + SOURCES, "jobs of the change stage")) {
        return;
    }
    scene_begin(&calm, 3, NULL);
    const uint64_t expected = play_flock(&calm, false, &status);

    bool was_lost = true;
    for (size_t lost = 1; was_lost; ++lost) {
        careless c = {.lost = lost};
        const espl_executor executor = {&c, 2, run_carelessly};
        scene s;

        scene_begin(&s, 3, &executor);
        const uint64_t hash = play_flock(&s, false, &status);
        was_lost = c.runs >= lost;
        ck_assert(status == ESPL_OK || (was_lost && status == ESPL_ERR_EXECUTOR));
        refused += status == ESPL_ERR_EXECUTOR;
        done += was_lost && status == ESPL_OK;
        if (status == ESPL_OK) {
            ck_assert_uint_eq(hash, expected);
        } else {
            ck_assert_uint_eq(s.store->alive_count, SOURCES);
            ck_assert_int_eq(espl_play(s.world, s.commands, NULL), ESPL_OK);
            ck_assert_uint_eq(test_physical_hash(s.world), expected);
        }
        ck_assert_uint_eq(s.test.hooks.traps, was_lost && ESPL_CHECKS >= 1 ? 1 : 0);
        s.test.hooks.traps = 0;
        scene_end(&s);
    }
    ck_assert_uint_gt(refused, 0);
    ck_assert_uint_gt(done, 0);
    scene_end(&calm);
}
END_TEST

// --- Memory ---

// Sources over several chunks, clones in several archetypes, rows that move and rows that leave.
static void record_all(scene *s, brood *b, size_t count)
{
    record_brood(s, b, count, true);
    ck_assert_int_eq(espl_record_attach(s->recorder, 1, b->sources[0], b->sources[1], NULL),
                     ESPL_OK);
    ck_assert_int_eq(espl_record_destroy(s->recorder, 2, b->sources[2]), ESPL_OK);
}

START_TEST(memory_may_run_out_anywhere)
{
    const size_t count = test_fitting(300, SOURCES + 3);
    brood *const b = calloc(1, sizeof *b);
    size_t failed = 0;
    uint64_t expected = 0;
    bool has_failed = true;

    ck_assert_ptr_nonnull(b);
    for (size_t n = 0; has_failed; ++n) {
        scene s;

        scene_begin(&s, 4, NULL);
        brood_begin(&s, b);
        record_all(&s, b, count);
        const uint64_t before = test_physical_hash(s.world);
        test_heap_arm(&s.test.heap, n, false);
        const espl_status status = espl_play(s.world, s.commands, NULL);
        has_failed = n == 0 || status != ESPL_OK || s.test.heap.failures != 0;
        test_heap_arm(&s.test.heap, 0, false);
        if (status != ESPL_OK) {
            ck_assert_int_eq(status, ESPL_ERR_NO_MEMORY);
            ck_assert_uint_eq(test_physical_hash(s.world), before);
            test_world_is_valid(s.world);
            ck_assert_int_eq(espl_play(s.world, s.commands, NULL), ESPL_OK);
            failed += 1;
        }
        test_world_is_valid(s.world);
        const uint64_t after = test_physical_hash(s.world);
        expected = n == 0 ? after : expected;
        ck_assert_uint_eq(after, expected);
        scene_end(&s);
    }
    ck_assert_uint_gt(failed, 0);
    free(b);
}
END_TEST

static Suite *change_stage_suite(void)
{
    Suite *const suite = suite_create("change_stage");
    TCase *const cases = tcase_create("change_stage");

    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, clones_stand_by_source_and_sources_by_first_appearance, 0, 5);
    tcase_add_loop_test(cases, clones_of_one_source_are_made_at_once_for_each_archetype, 0, 5);
    tcase_add_test(cases, handles_are_given_in_the_order_of_commands);
    tcase_add_test(cases, clones_of_a_source_that_dies_have_its_values);
    tcase_add_test(cases, nothing_is_kept_for_each_entity_of_the_world);
    tcase_add_loop_test(cases, rows_that_leave_are_filled_chunk_by_chunk, 0, 10);
    tcase_add_loop_test(cases, rows_that_move_go_by_chunk_and_archetype, 0, 10);
    tcase_add_test(cases, a_role_that_was_put_off_is_not_taken_as_kept);
    tcase_add_loop_test(cases, jobs_in_any_order_make_the_same_rows, 0, 6);
    tcase_add_test(cases, a_job_that_is_lost_leaves_all_or_nothing);
    tcase_add_test(cases, memory_may_run_out_anywhere);
    suite_add_tcase(suite, cases);
    return suite;
}

RUN_SUITE(change_stage_suite)
