// SPDX-License-Identifier: MIT
// Long use like that of a game, in two worlds at once. Entities are created, attached and
// destroyed, get and lose components, and are written one by one, in batches, in queries and from
// jobs; several command buffers are played at the end of each frame. One world is serial, the jobs
// of the other run in shuffled order. They stay equal, bit for bit; kept handles keep their
// meaning; the high-water mark of memory does not grow by a byte after the warm-up, and the memory
// left after destroying all entities is the same each time.
#include "tests/forms.h"
#include "tests/gauge.h"
#include "tests/runner.h"
#include "tests/script.h"
#include "tests/steps.h"
#include "tests/ticks.h"
#include "tests/world/parallel.h"

#include <espalier/far.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Frames, and those of a level, at whose end all die; living ones at most, as far as that is up to
// this test, and commands of a frame. At first a life is warmed up: it holds twice as much, so that
// what it then needs by chance was there before. One that is cut short does not get warm.
enum { FRAMES = 20000, LEVEL = 250, WARM_PART = 5, CROWD = 100, LINES = 26 };
enum { KEPT = 48, BURIED = 256, TAG = 3, TOLD = 100000 };

// --- One of the two worlds ---

typedef struct life {
    gauge memory;
    test_hooks hooks;
    test_executor shuffled;
    espl_world *world;
    script_world actors;
    espl_component token;
    espl_command_buffer *spoken, *added; // of a script, and of this test
    test_ticks ticks;                    // of the level
} life;

// A handle that is kept, and what its entity says of itself.
typedef struct keepsake {
    espl_entity entity;
    uint64_t token;
} keepsake;

typedef struct soak {
    life lives[2];
    keepsake kept[KEPT];
    espl_entity buried[BURIED]; // dead for ever
    size_t burials;
    uint64_t random;             // of this test's own choices
    uint64_t frame, frames, age; // age: frames of these two worlds
    size_t worlds, retired, made;
    size_t records;             // indices ever taken at once in these two worlds
    size_t archetypes, left[2]; // at the end of the last level: sets met, bytes out
    size_t levels_alike;        // at whose end as much was left as before
    size_t peak[2];             // bytes, when the life was warm; 0: it is not yet
} soak;

static void take_commands(life *l)
{
    ck_ok(espl_command_buffer_create(l->world, 3, &l->spoken));
    ck_ok(espl_command_buffer_create(l->world, 1, &l->added));
}

static void drop_commands(life *l)
{
    espl_command_buffer_destroy(l->spoken);
    espl_command_buffer_destroy(l->added);
}

static void life_begin(life *l, const espl_executor *executor)
{
    gauge_begin(&l->memory);
    const espl_world_def def = {.allocator = gauge_allocator(&l->memory),
                                .hooks = test_hooks_of(&l->hooks),
                                .executor = *executor,
                                .tag = TAG,
                                .cell_size = 256};
    ck_ok(espl_world_create(&def, &l->world));
    cut_small(l->world);
    script_world_begin(&l->actors, l->world, 1, 1);
    l->token = test_component(l->world, "token", 8, 8);
    take_commands(l);
}

static void life_end(life *l)
{
    test_world_is_valid(l->world);
    test_ticks_end(&l->ticks);
    drop_commands(l);
    espl_world_destroy(l->world);
    ck_assert_uint_eq(l->memory.heap.bytes, 0);
    ck_assert_uint_eq(l->memory.heap.blocks, 0);
    ck_assert_uint_eq(l->memory.heap.faults, 0);
}

static void worlds_begin(soak *s)
{
    const espl_executor serial = {0};

    s->lives[1].shuffled =
        (test_executor){.manner = TEST_SHUFFLED, .workers = 3, .random = s->frame};
    const espl_executor shuffled = test_executor_of(&s->lives[1].shuffled);
    life_begin(&s->lives[0], &serial);
    life_begin(&s->lives[1], &shuffled);
    memset(s->kept, 0, sizeof s->kept);
    memset(s->buried, 0, sizeof s->buried);
    memset(s->peak, 0, sizeof s->peak);
    s->burials = s->archetypes = s->records = 0;
    s->age = 0;
    s->worlds += 1;
}

static void worlds_end(soak *s)
{
    s->retired += test_stats(s->lives[0].world).retired;
    life_end(&s->lives[0]);
    life_end(&s->lives[1]);
}

static void demand_same(const soak *s)
{
    ck_assert_msg(script_hash(&s->lives[0].actors) == script_hash(&s->lives[1].actors),
                  "frame %llu: two worlds", (unsigned long long)s->frame);
}

// --- Handles that are kept ---

static void bury(soak *s, espl_entity entity)
{
    s->buried[s->burials++ % BURIED] = entity;
}

// Made at once in both worlds, with the same handle.
static espl_status keep_one(soak *s, keepsake *k)
{
    espl_status status = ESPL_OK;

    k->token = test_random(&s->random);
    for (size_t i = 0; i < 2; ++i) {
        life *const l = &s->lives[i];
        const espl_component set[2] = {ESPL_TRANSFORM, l->token};
        espl_entity made = {0};

        status = espl_create(l->world, set, 2, 1, &made);
        if (status != ESPL_OK) {
            ck_assert(status == ESPL_ERR_LIMIT && i == 0);
            return status;
        }
        ck_ok(espl_set_component(l->world, made, l->token, &k->token, 8));
        ck_assert(i == 0 || espl_entity_equal(made, k->entity));
        k->entity = made;
    }
    s->made += 1;
    return status;
}

static void look_at_kept(soak *s)
{
    keepsake *const k = &s->kept[test_below(&s->random, KEPT)];
    const espl_entity gone = s->buried[test_below(&s->random, BURIED)];

    ck_assert(!espl_is_alive(s->lives[0].world, gone));
    ck_assert(!espl_is_alive(s->lives[1].world, gone));
    if (espl_entity_is_null(k->entity)) {
        (void)!keep_one(s, k);
        return;
    }
    const bool is_alive = espl_is_alive(s->lives[0].world, k->entity);
    ck_assert(is_alive == espl_is_alive(s->lives[1].world, k->entity));
    for (size_t i = 0; i < 2 && is_alive; ++i) {
        uint64_t token = 0;

        ck_ok(espl_get_component(s->lives[i].world, k->entity, s->lives[i].token, &token, 8));
        ck_assert(token == k->token);
    }
    if (!is_alive) {
        bury(s, k->entity);
        *k = (keepsake){.token = 0};
    }
}

// --- Writes of a frame ---

static void move_rows(espl_writer *writer, const espl_query *rows, void *context)
{
    const float step[3] = {0.25f, *(const float *)context, -0.25f};

    for (size_t row = 0; row < rows->count; ++row) {
        (void)!espl_writer_write(writer, rows->entities[row], ESPL_WRITE_TRANSLATE_IN_PARENT, step,
                                 ESPL_SITE);
    }
}

static void write_by_jobs(life *l, float step)
{
    const espl_component all[] = {ESPL_TRANSFORM};
    const espl_query_def query = {.all = all, .all_count = 1};
    const espl_parallel_def def = {.query = &query, .function = move_rows, .context = &step};

    ck_assert_int_ge(espl_write_parallel(l->world, &def, NULL), 0);
}

static void write_columns(life *l, uint32_t number)
{
    const espl_query_def def = {.all = &l->actors.number[0], .all_count = 1};
    espl_query query;

    ck_ok(espl_query_begin(l->world, &def, &query));
    while (espl_query_next(&query)) {
        uint32_t *const column = espl_query_write(&query, l->actors.number[0], 4);

        for (size_t row = 0; row < query.count; ++row) {
            column[row] = column[row] * 5 + number;
        }
    }
}

// Of those that are kept, dead ones too; one by one and in one batch.
static void write_kept(const soak *s, life *l, uint64_t random)
{
    espl_write writes[KEPT];

    for (size_t i = 0; i < KEPT; ++i) {
        const espl_write_kind kind = (espl_write_kind)test_below(&random, TEST_KINDS);

        writes[i] = write_ordinary(s->kept[i].entity, form_any_flag(kind, &random), &random);
        place_sometimes(l->world, &writes[i], &random);
        if (i % 8 == 0) {
            (void)!form_write(l->world, &writes[i], FORM_FUNCTION);
        }
    }
    ck_assert_int_ge(espl_write_batch(l->world, writes, KEPT, NULL), 0);
    // A root at an end of the range of cells stays where it is.
    const espl_status status = espl_rebase(l->world, (int32_t[3]){1, -1, 0}, NULL);

    ck_assert(status >= 0 || status == ESPL_ERR_RANGE);
    ck_assert_int_ge(espl_recenter(l->world, 1, NULL), 0);
}

// --- Structure of a frame ---

// Beside what a script says: drones come under those that are kept, in lanes of another object.
static void record_drones(const soak *s, life *l, uint64_t random)
{
    espl_recorder *const recorder = espl_command_buffer_recorder(l->added, 0);

    for (uint32_t i = 0; i < 3; ++i) {
        const keepsake *const from = &s->kept[test_below(&random, KEPT)];
        const keepsake *const under = &s->kept[test_below(&random, KEPT)];
        const espl_transform at = test_at((float)i, 1, 2);
        espl_entity made;

        // One that is not there any more is refused, now or when it is played.
        (void)!espl_record_attach(recorder, i, from->entity, under->entity, NULL);
        (void)!espl_record_write(recorder, i, under->entity, ESPL_WRITE_LOCAL_TRANSFORM, &at);
        if (test_one_in(&random, 4)) {
            (void)!espl_record_spawn(recorder, i, from->entity, under->entity, &at, &made);
            (void)!espl_record_destroy(recorder, i, under->entity, ESPL_EXTENT_OWNED);
        }
    }
}

static void change_at_once(life *l, uint64_t random)
{
    const espl_component mark = l->actors.number[3], number = l->actors.number[0];
    const espl_component_value gain = {.component = mark};
    const espl_change_def give = {.add = &gain, .add_count = 1};
    const espl_change_def take = {.remove = &mark, .remove_count = 1};
    const espl_query_def with = {.all = &number, .all_count = 1};

    if (test_one_in(&random, 8)) {
        ck_assert_int_ge(espl_change_components_query(
                             l->world, &with, test_one_in(&random, 2) ? &give : &take, NULL),
                         0);
    }
    script_disturb(&l->actors, random);
}

// Every other level has motion. Both worlds show the same.
static void take_steps(soak *s, uint64_t random)
{
    uint64_t steps[2];

    for (size_t i = 0; i < 2; ++i) {
        life *const l = &s->lives[i];

        if (s->age % LEVEL == 0) {
            test_ticks_begin(&l->ticks, l->world, s->age / LEVEL);
        }
        steps[i] = test_ticks_step(&l->ticks, random);
    }
    ck_assert(steps[0] == steps[1]);
}

static bool is_warm(const soak *s)
{
    return s->age >= (s->frames > FRAMES ? FRAMES : FRAMES / WARM_PART);
}

// Makers where few live, destroyers where many do.
static uint32_t kinds_of_frame(const soak *s)
{
    const uint32_t makers = 1u << SCRIPT_INSTANTIATE | 1u << SCRIPT_CREATE;
    const uint32_t enders =
        1u << SCRIPT_DESTROY | 1u << SCRIPT_DESTROY_SUBTREE | 1u << SCRIPT_DESTROY_ONLY;
    const uint32_t all = (1u << SCRIPT_KINDS) - 1;
    const size_t living = test_stats(s->lives[0].world).entities;
    const size_t most = test_fitting(is_warm(s) ? CROWD : CROWD * 2, 24);

    return living >= most ? all & ~makers : living <= most / 2 ? all & ~enders : all;
}

static void play_frame(soak *s, const script *lines)
{
    const uint64_t random = test_random(&s->random);
    uint64_t results[2];
    espl_report report[2];
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < 2; ++i) {
        life *const l = &s->lives[i];
        script_recording r;

        script_record(&l->actors, &r, l->spoken, 3, lines, s->frame + 1);
        record_drones(s, l, random);
        ck_ok(espl_command_buffer_submit(l->spoken));
        ck_ok(espl_command_buffer_submit(l->added));
        const espl_status played = espl_sync(l->world, &report[i]);
        ck_assert(played == ESPL_OK || played == ESPL_ERR_LIMIT);
        ck_assert(i == 0 || played == status);
        status = played;
        results[i] = script_results(&r);
        script_recording_free(&r);
        espl_command_buffer_reset(l->spoken);
        espl_command_buffer_reset(l->added);
        memset(report[i].stage_ns, 0, sizeof report[i].stage_ns);
    }
    ck_assert(results[0] == results[1]);
    ck_assert(memcmp(&report[0], &report[1], sizeof *report) == 0);
    s->made += report[0].created;
}

static void run_frame(soak *s)
{
    const uint32_t count = script_lines(is_warm(s) ? LINES : LINES * 2, CROWD);
    script lines = script_write(&s->lives[0].actors, test_random(&s->random), count,
                                kinds_of_frame(s), s->frame % 2 == 0);
    const uint64_t random = test_random(&s->random);

    take_steps(s, random);
    play_frame(s, &lines);
    script_free(&lines);
    look_at_kept(s);
    for (size_t i = 0; i < 2; ++i) {
        life *const l = &s->lives[i];

        change_at_once(l, random);
        write_kept(s, l, random);
        write_columns(l, (uint32_t)s->frame);
        write_by_jobs(l, (float)(s->frame % 3) - 1);
        if (s->frame % 211 == 0) {
            ck_ok(espl_compact(l->world));
        }
        if (s->frame % 64 == 0) {
            test_world_is_valid(l->world);
        }
    }
    if (s->frame % 16 == 0) {
        demand_same(s);
    }
    s->frame += 1;
    s->age += 1;
}

// --- Levels ---

static void destroy_all(life *l)
{
    const espl_query_def def = {.include = ESPL_INCLUDE_PREFABS | ESPL_INCLUDE_DISABLED};
    const size_t living = test_stats(l->world).entities;
    espl_entity *const all = test_array(living + 1, sizeof *all);
    size_t count = 0;
    espl_query query;

    ck_ok(espl_query_begin(l->world, &def, &query));
    while (espl_query_next(&query)) {
        memcpy(all + count, query.entities, query.count * sizeof *all);
        count += query.count;
    }
    ck_assert_uint_eq(count, living);
    for (size_t i = 0; i < count; ++i) {
        // Many die with another.
        (void)!(i % 3 == 0 ? espl_destroy(l->world, all[i], ESPL_EXTENT_ENTITY)
                           : espl_destroy(l->world, all[i], ESPL_EXTENT_OWNED));
    }
    free(all);
    ck_assert_uint_eq(test_stats(l->world).entities, 0);
}

static void forget_kept(soak *s)
{
    for (size_t i = 0; i < KEPT; ++i) {
        if (!espl_entity_is_null(s->kept[i].entity)) {
            bury(s, s->kept[i].entity);
        }
        s->kept[i] = (keepsake){.token = 0};
    }
}

// Everybody dies, and no byte more is left than at the end of the level before. A set of components
// that was never met takes a few for ever, and there are only so many.
static void end_level(soak *s)
{
    const size_t known = s->archetypes;

    forget_kept(s);
    for (size_t i = 0; i < 2; ++i) {
        life *const l = &s->lives[i];

        test_ticks_end(&l->ticks);
        destroy_all(l);
        drop_commands(l);
        ck_ok(espl_compact(l->world));
        s->archetypes = test_stats(l->world).archetypes;
        const size_t left = l->memory.heap.bytes;
        ck_assert_msg(s->archetypes != known || left == s->left[i],
                      "frame %llu: %zu bytes are left, not %zu", (unsigned long long)s->frame, left,
                      s->left[i]);
        s->left[i] = left;
        take_commands(l);
    }
    s->levels_alike += s->archetypes == known;
    demand_same(s);
}

// Where more were alive at once than ever, their indices stay, and nothing can be as it was. This
// comes of clones of clones, and rarely once the life is warm.
static void look_at_crowd(soak *s)
{
    const size_t records = test_count_indices(s->lives[0].world);

    if (records != s->records) {
        s->records = records;
        s->archetypes = 0;
        s->peak[0] = s->peak[1] = 0;
    }
}

static void look_at_peak(soak *s)
{
    for (size_t i = 0; i < 2 && is_warm(s); ++i) {
        const size_t peak = s->lives[i].memory.peak;

        ck_assert_msg(s->peak[i] == 0 || peak == s->peak[i],
                      "frame %llu: %zu bytes were out, not %zu", (unsigned long long)s->frame, peak,
                      s->peak[i]);
        s->peak[i] = peak;
    }
    if (s->frame % TOLD == 0) {
        printf("# frame %llu: %zu made, %zu bytes at most, %zu left when all had died\n",
               (unsigned long long)s->frame, s->made, s->lives[0].memory.peak, s->left[0]);
        fflush(stdout);
    }
}

// Tell whether so many indices are used up that little can live.
static bool are_worn(const soak *s)
{
    return test_stats(s->lives[0].world).retired > test_limits_of_build().entities * 3 / 4;
}

TEST(a_long_life_takes_no_byte_more_once_it_is_warm)
{
    static soak s;

    s.frames = (uint64_t)test_scaled_alone(FRAMES) * test_factor();
    s.random = test_environment("ESPL_SEED", 1);
    worlds_begin(&s);
    while (s.frame < s.frames) {
        run_frame(&s);
        look_at_crowd(&s);
        if (s.age % LEVEL == 0) {
            end_level(&s);
        }
        look_at_peak(&s);
        if (are_worn(&s)) {
            worlds_end(&s);
            worlds_begin(&s);
        }
    }
    worlds_end(&s);
    test_tell_figure(s.frame, "frames of soak, in two worlds");
    // Where an index has few lives, worlds were worn out, else one lasted; and where there was time,
    // it met all sets of components.
    const bool is_short_lived = test_limits_of_build().lives < 1000;
    ck_assert(is_short_lived ? s.worlds > 1 && s.retired > 0 : s.worlds == 1);
    ck_assert(is_short_lived || s.frame < FRAMES || s.levels_alike * 2 > s.frame / LEVEL);
}
