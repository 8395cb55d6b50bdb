// SPDX-License-Identifier: MIT
// Calls of motion and of watches, and writes with flags, in worlds in which a tick is under way.
#include "tests/asserts.h"
#include "tests/fixture.h"
#include "tests/forms.h"
#include "tests/sweep.h"
#include "tests/ticks.h"

#include <espalier/writers.h>

#include <string.h>

#define ONE PART_BIT(PART_SOLO)
#define TREE PARTS_OF_TREE

// --- Motion ---

static void prepare_ticks(sweep_world *w, unsigned number)
{
    (void)number;
    sweep_take_ticks(w);
}

static espl_status run_start(sweep_world *w, unsigned number)
{
    return espl_motion_start(w->world, &(espl_motion_def){.history = number});
}

static espl_status run_stop(sweep_world *w, unsigned number)
{
    (void)number;
    return espl_motion_stop(w->world);
}

static espl_status run_tick(sweep_world *w, unsigned number)
{
    return number == 0 ? espl_tick_begin(w->world) : espl_tick_end(w->world);
}

static espl_status run_present(sweep_world *w, unsigned number)
{
    static const float times[] = {0.75f, 1, 1.5f, 0};
    espl_present_report report;
    const espl_status status = espl_present(w->world, times[number], &report);

    if (status >= 0) {
        const uint64_t shown = test_shown_hash(w->world);

        sweep_tell(w, &report.blended, sizeof report.blended);
        sweep_tell(w, &report.visited, sizeof report.visited);
        sweep_tell(w, &shown, sizeof shown);
    }
    return status;
}

// All that can be read of the past and of what is shown.
static espl_status run_read(sweep_world *w, unsigned number)
{
    espl_transform out[SWEEP_ALL];
    float matrix[16] = {0};

    memset(out, 0, sizeof out);
    for (int kind = ESPL_READ_SHOWN_POSITION; kind < ESPL_READ_CELL; ++kind) {
        const espl_status status = espl_read_strided(w->world, (espl_read_kind)kind, w->all,
                                                     w->count, sizeof *w->all, out, sizeof *out);

        ck_assert(status == ESPL_OK || status == ESPL_PARTLY);
        sweep_tell(w, out, w->count * sizeof *out);
    }
    for (uint32_t i = 0; i < w->count; ++i) {
        (void)!espl_get_shown_matrix(w->world, w->all[i], (espl_matrix_form)number, matrix);
        sweep_tell(w, matrix, sizeof matrix);
    }
    return ESPL_OK;
}

// --- Watches ---

static const uint32_t watch_flags[] = {
    0,
    ESPL_WATCH_LOCAL,
    ESPL_WATCH_WORLD | ESPL_WATCH_LOCAL,
    ESPL_WATCH_BEFORE,
    ESPL_WATCH_SHOWN,
    ESPL_WATCH_SHOWN | ESPL_WATCH_LOCAL,
    ESPL_WATCH_SHOWN | ESPL_WATCH_BEFORE,
    ESPL_WATCH_WORLD | ESPL_WATCH_LOCAL | ESPL_WATCH_BEFORE,
    ESPL_WATCH_WORLD | ESPL_WATCH_SHOWN | ESPL_WATCH_BEFORE,
};
enum { WATCHES = sizeof watch_flags / sizeof *watch_flags };

static espl_status create_watch(sweep_world *w, unsigned number, espl_watch **out)
{
    const espl_component all[] = {ESPL_MEMBER}, none[] = {w->word};
    const espl_query_def filter = {.all = all,
                                   .all_count = 1,
                                   .none = none,
                                   .none_count = 1,
                                   .include = ESPL_INCLUDE_DISABLED};
    const espl_watch_def def = {.filter = number < WATCHES ? NULL : &filter,
                                .flags = watch_flags[number % WATCHES]};

    return espl_watch_create(w->world, &def, out);
}

static espl_status run_create_watch(sweep_world *w, unsigned number)
{
    const espl_status status = create_watch(w, number, &w->watches[WATCH_MADE]);

    ck_assert(status >= 0 || w->watches[WATCH_MADE] == NULL);
    return status;
}

static void change_much(sweep_world *w)
{
    const espl_entity root = w->part[PART_ROOT];
    const float step[3] = {0, 2, 0};
    espl_entity made[9];

    ck_ok(espl_write_one(w->world, root, ESPL_WRITE_TRANSLATE_OWN, step));
    ck_ok(espl_destroy(w->world, w->part[PART_LEAF], ESPL_EXTENT_ENTITY));
    test_solos(w->world, sizeof made / sizeof *made, made);
    ck_ok(espl_attach(w->world, made[0], root, NULL));
    ck_ok(espl_present(w->world, 0.25f, NULL));
}

// A watch with an earlier look, or the first look of all.
static void prepare_watch(sweep_world *w, unsigned number)
{
    espl_changes changes;

    sweep_take_ticks(w);
    ck_ok(create_watch(w, number, &w->watches[WATCH_OF_CALL]));
    if (number != 0) {
        ck_ok(espl_watch_collect(w->watches[WATCH_OF_CALL], 0, &changes));
        w->since = number % 3 == 2 ? changes.moment : 0;
    }
    change_much(w);
    if (w->since != 0) {
        ck_ok(espl_watch_collect(w->watches[WATCH_OF_CALL], 0, &changes));
        ck_ok(espl_present(w->world, 1, NULL));
    }
}

static espl_status run_collect(sweep_world *w, unsigned number)
{
    const espl_changes untouched = {.moment = number + 7, .changed_count = 3};
    espl_changes changes = untouched;
    const espl_status status = espl_watch_collect(w->watches[WATCH_OF_CALL], w->since, &changes);

    if (status < 0) {
        ck_assert_mem_eq(&changes, &untouched, sizeof changes);
        return status;
    }
    const uint64_t told = test_changes_hash(&changes);

    sweep_tell(w, &told, sizeof told);
    return status;
}

static espl_status run_destroy_watch(sweep_world *w, unsigned number)
{
    (void)number;
    espl_watch_destroy(w->watches[WATCH_OF_CALL]);
    w->watches[WATCH_OF_CALL] = NULL;
    return ESPL_OK;
}

// --- Writes ---

// The first stretch and user data of a hierarchy take memory, with any flag.
static espl_status run_flagged_write(sweep_world *w, unsigned number)
{
    static const sweep_part parts[] = {PART_SOLO, PART_ROOT, PART_LEAF};
    static const unsigned flags[] = {ESPL_TELEPORT, ESPL_CARRY};
    static const espl_write_kind kinds[] = {ESPL_WRITE_LOCAL_TRANSFORM, ESPL_WRITE_WORLD_TRANSFORM,
                                            ESPL_WRITE_STRETCH};
    const espl_entity entity = w->part[parts[number / 8]];
    const unsigned kind = number % 8;
    espl_transform value = test_at(1, 2, 3);

    value.stretch[2] = 2;
    value.user_data = 6;
    if (kind >= 6) {
        return espl_write_one(w->world, entity,
                              (espl_write_kind)(ESPL_WRITE_PREVIOUS_LOCAL_POSE + kind - 6), &value);
    }
    return espl_write_one(w->world, entity,
                          (espl_write_kind)((unsigned)kinds[kind / 2] | flags[kind % 2]),
                          kind / 2 == 2 ? (const void *)value.stretch : &value);
}

// Every kind and flag in turn, each entity once or twice; or one of them.
static espl_status run_flagged_batch(sweep_world *w, unsigned number)
{
    static const espl_write_kind kinds[] = {
        ESPL_WRITE_LOCAL_POSE | ESPL_TELEPORT, ESPL_WRITE_WORLD_TRANSFORM | ESPL_CARRY,
        ESPL_WRITE_PREVIOUS_LOCAL_POSE, ESPL_WRITE_PREVIOUS_WORLD_POSE};
    espl_write writes[2 * SWEEP_ALL];
    espl_write_report report;
    uint64_t random = 7;
    size_t count = 0;

    for (uint32_t i = 0; i < w->count * (number % 2 + 1); ++i) {
        const espl_write_kind kind =
            number < 2 ? form_flagged(i * 5 % FORM_FLAGGED) : kinds[number / 2 - 1];

        writes[count++] = write_ordinary(w->all[i % w->count], kind, &random);
    }
    const espl_status status = espl_write_batch(w->world, writes, count, &report);

    if (status >= 0) {
        sweep_tell(w, &report.applied, sizeof report.applied);
    }
    return status;
}

static espl_status run_flagged_arrays(sweep_world *w, unsigned number)
{
    static const espl_write_kind kinds[] = {
        ESPL_WRITE_LOCAL_TRANSFORM | ESPL_TELEPORT, ESPL_WRITE_WORLD_TRANSFORM | ESPL_CARRY,
        ESPL_WRITE_PREVIOUS_LOCAL_POSE, ESPL_WRITE_PREVIOUS_WORLD_POSE};
    espl_transform transforms[SWEEP_ALL];

    for (uint32_t i = 0; i < w->count; ++i) {
        transforms[i] = test_at((float)i, 2, 3);
        transforms[i].user_data = i % 3;
    }
    return espl_write_strided(w->world, kinds[number], w->all, w->count, sizeof(espl_entity),
                              transforms, sizeof(espl_transform), NULL);
}

static void push_flagged(espl_writer *writer, const espl_query *rows, void *context)
{
    const espl_write_kind kind = *(const espl_write_kind *)context;
    uint64_t random = 9;

    for (size_t row = 0; row < rows->count; ++row) {
        const espl_write write = write_ordinary(rows->entities[row], kind, &random);

        (void)!ESPL_WRITER_WRITE(writer, write.entity, kind, &write.value);
    }
}

static espl_status run_flagged_parallel(sweep_world *w, unsigned number)
{
    static const espl_write_kind kinds[] = {
        ESPL_WRITE_TRANSLATE_OWN | ESPL_TELEPORT, ESPL_WRITE_WORLD_POSITION | ESPL_CARRY,
        ESPL_WRITE_PREVIOUS_LOCAL_POSE, ESPL_WRITE_PREVIOUS_WORLD_POSE};
    const espl_component all[] = {ESPL_TRANSFORM};
    const espl_query_def query = {.all = all, .all_count = 1};
    espl_write_kind kind = kinds[number];
    const espl_parallel_def def = {.query = &query, .function = push_flagged, .context = &kind};
    espl_parallel_report report;
    const espl_status status = espl_write_parallel(w->world, &def, &report);

    if (status >= 0) {
        sweep_tell(w, &report.rows, sizeof report.rows);
        sweep_tell(w, &report.refused, sizeof report.refused);
    }
    return status;
}

// --- The list ---

const sweep_group sweep_motion_groups[] = {
    {"start motion", run_start, NULL, 0, 3, {0}, {3}},
    {"stop motion", run_stop, prepare_ticks, 0, 1, {0}, {1}},
    {"a tick", run_tick, prepare_ticks, 0, 2, {0}, {2}},
    {"present", run_present, prepare_ticks, 0, 4, {0}, {4}},
    {"read what is shown", run_read, prepare_ticks, 0, 2, {0}, {2}},
    {"create a watch", run_create_watch, NULL, 0, WATCHES + 4, {0}, {WATCHES + 4}},
    {"collect", run_collect, prepare_watch, 0, WATCHES + 4, {TREE}, {WATCHES + 4}},
    {"destroy a watch", run_destroy_watch, prepare_watch, 0, 1, {TREE}, {1}},
    {"write with a flag", run_flagged_write, prepare_ticks, 0, 24, {ONE, TREE}, {8, 24}},
    {"write a batch with flags", run_flagged_batch, prepare_ticks, 0, 10, {ONE}, {10}},
    {"write arrays with a flag", run_flagged_arrays, prepare_ticks, 0, 4, {ONE}, {4}},
    {"write in parallel with a flag", run_flagged_parallel, prepare_ticks, 0, 4, {ONE}, {4}},
};
const size_t sweep_motion_group_count = sizeof sweep_motion_groups / sizeof *sweep_motion_groups;
