// SPDX-License-Identifier: MIT
// Every wrong use of a parallel write: refused, logged with both places in the source where two are
// concerned, and nothing changed.
#include "tests/runner.h"
#include "tests/world/parallel.h"

#include "tests/checks.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { IS_CHECKED = ESPL_CHECKS >= 1, SIZE = 20 };

// What was told last.
typedef struct ears {
    char line[1024], trap[1024];
    size_t lines, traps;
} ears;

// Two hierarchies, each with a job, and two that have no row: one with the tag, and a solo.
typedef struct deeds {
    test_heap heap;
    ears heard;
    espl_world *world;
    espl_component tag, number;
    espl_entity root[2], child[2]; // of jobs 0 and 1; the roots have numbers
    espl_entity apart, solo;       // nobody's
    espl_entity dead;
    espl_component root_role;
    espl_query_def query;
    espl_parallel_def def;
    void (*deed)(espl_writer *writer, const espl_query *rows);
    uint32_t by; // job that does the deed
    size_t done;
    int which; // of a table
} deeds;

// The world of a test, or of the two worlds of a test the one that is called.
static deeds worlds[2], *d;

static void hear_line(void *user, espl_log_level level, const char *message)
{
    deeds *const own = user;

    (void)level;
    own->heard.lines += 1;
    snprintf(own->heard.line, sizeof own->heard.line, "%s", message);
}

static void hear_trap(void *user, const char *file, int line, const char *condition)
{
    deeds *const own = user;

    own->heard.traps += 1;
    snprintf(own->heard.trap, sizeof own->heard.trap, "%s:%d: %s", file, line, condition);
}

static void do_deed(espl_writer *writer, const espl_query *rows, void *context)
{
    deeds *const own = context;

    if (espl_writer_job(writer) == own->by) {
        own->deed(writer, rows);
        own->done += 1;
    }
}

static espl_entity make_hierarchy(espl_world *world, uint32_t size, espl_entity *last)
{
    const espl_entity root = test_solo(world);

    for (uint32_t i = 1; i < size; ++i) {
        *last = test_solo(world);
        ck_ok(espl_attach(world, *last, root, NULL));
    }
    return root;
}

static void make_entities(void)
{
    espl_entity ignored;

    d->tag = test_component(d->world, "apart", 0, 0);
    d->number = test_component(d->world, "number", 4, 4);
    for (int i = 0; i < 2; ++i) {
        d->root[i] = make_hierarchy(d->world, SIZE, &d->child[i]);
        ck_ok(espl_add_component(d->world, d->root[i], d->number, NULL, 4));
    }
    d->apart = make_hierarchy(d->world, 2, &ignored);
    d->solo = test_solo(d->world);
    d->dead = test_solo(d->world);
    ck_ok(espl_add_component(d->world, d->apart, d->tag, NULL, 0));
    ck_ok(espl_destroy(d->world, d->dead, ESPL_EXTENT_OWNED));
}

// Begin the world of `d`.
static void begin_logged(void (*log)(void *, espl_log_level, const char *))
{
    memset(d, 0, sizeof *d);
    test_heap_init(&d->heap);
    const espl_world_def def = {
        .allocator = test_heap_allocator(&d->heap),
        .hooks = {.user = d, .log = log, .trap = hear_trap},
        .tag = 5,
    };
    ck_ok(espl_world_create(&def, &d->world));
    cut_small(d->world);
    make_entities();
    d->root_role = ESPL_ROOT;
    d->query =
        (espl_query_def){.all = &d->root_role, .all_count = 1, .none = &d->tag, .none_count = 1};
    d->def = (espl_parallel_def){
        .query = &d->query, .function = do_deed, .context = d, .site = "frame.c:77"};
    d->heard = (ears){.lines = 0};
}

static void set_up(void)
{
    d = worlds;
    begin_logged(hear_line);
}

static void tear_down(void)
{
    test_world_is_valid(d->world);
    espl_world_destroy(d->world);
    ck_assert(d->heap.bytes == 0 && d->heap.blocks == 0 && d->heap.faults == 0);
}

// Let a job do the deed. @return the status of the whole.
static espl_status let(uint32_t by, void (*deed)(espl_writer *, const espl_query *),
                       espl_parallel_report *report)
{
    d->by = by;
    d->deed = deed;
    d->done = 0;
    d->heard = (ears){.lines = 0};
    const espl_status status = espl_write_parallel(d->world, &d->def, report);

    ck_assert_uint_eq(d->done, 1);
    return status;
}

// The one line that was told holds all of this.
static void demand_line(const char *const *parts)
{
    ck_assert_msg(d->heard.lines == 1, "%zu lines, the last: %s", d->heard.lines, d->heard.line);
    for (; *parts != NULL; ++parts) {
        ck_assert_msg(strstr(d->heard.line, *parts) != NULL, "\"%s\" is not in: %s", *parts,
                      d->heard.line);
    }
}

static void demand_trap(const char *wanted)
{
    ck_assert_msg(d->heard.traps == 1 && strstr(d->heard.trap, wanted) != NULL,
                  "%zu traps, the last: %s", d->heard.traps, d->heard.trap);
}

// --- Writes of what is not the writer's own ---

static const float step[3] = {1, 2, 3};

static void write_own_then_foreign(espl_writer *writer, const espl_query *rows)
{
    (void)rows;
    ck_ok(espl_writer_write(writer, d->child[d->by], ESPL_WRITE_LOCAL_POSITION, step, "arm.c:10"));
    ck_status(espl_writer_write(writer, d->child[1 - d->by], ESPL_WRITE_TRANSLATE_IN_PARENT, step,
                                "hand.c:20"),
              ESPL_ERR_NOT_OWNER);
}

FIXTURE(set_up, tear_down);

TEST_IF(a_write_to_a_hierarchy_of_another_job_is_told_with_where_it_was_dealt, IS_CHECKED)
{
    static const char *const parts[] = {
        "espl_writer_write at hand.c:20: ESPL_ERR_NOT_OWNER: entity ",
        ", ESPL_WRITE_TRANSLATE_IN_PARENT, by job 0: ",
        "The hierarchy was dealt to job 1 by the parallel write at frame.c:77. ",
        NULL,
    };
    espl_parallel_report report;

    ck_status(let(0, write_own_then_foreign, &report), ESPL_PARTLY);
    demand_line(parts);
    demand_trap("hand.c:20: espl_writer_write at hand.c:20: ESPL_ERR_NOT_OWNER: ");
    ck_assert(report.jobs == 2 && report.refused == 1);
    ck_assert(espl_entity_equal(report.first_refused, d->child[1]));
    ck_status(report.first_status, ESPL_ERR_NOT_OWNER);
    ck_assert_float_eq(test_local_of(d->world, d->child[0]).position[2], 3);
    ck_assert_float_eq(test_local_of(d->world, d->child[1]).position[2], 0);
}

static void write_in_turns(espl_writer *writer, const espl_query *rows, void *context)
{
    const uint32_t job = espl_writer_job(writer);

    (void)rows;
    (void)context;
    if (job == 0) {
        ck_ok(espl_writer_write(writer, d->child[0], ESPL_WRITE_LOCAL_POSITION, step, "arm.c:10"));
        ck_ok(espl_writer_write(writer, d->root[0], ESPL_WRITE_LOCAL_POSITION, step, "leg.c:11"));
        return;
    }
    ck_status(espl_writer_write(writer, d->child[0], ESPL_WRITE_LOCAL_TRANSFORM,
                                &(espl_transform){.scale = 1}, "hand.c:20"),
              ESPL_ERR_NOT_OWNER);
}

TEST_IF(a_write_to_a_hierarchy_of_another_job_is_told_with_where_that_wrote_last, IS_CHECKED)
{
    static const char *const parts[] = {
        "espl_writer_write at hand.c:20: ESPL_ERR_NOT_OWNER: entity ",
        ", ESPL_WRITE_LOCAL_TRANSFORM, by job 1: ",
        "The hierarchy belongs to job 0, which last wrote it at leg.c:11. ", NULL};

    d->def.function = write_in_turns;
    ck_status(espl_write_parallel(d->world, &d->def, NULL), ESPL_PARTLY);
    demand_line(parts);
    demand_trap("hand.c:20: ");
}

static void write_nobodys(espl_writer *writer, const espl_query *rows)
{
    (void)rows;
    ck_status(espl_writer_write(writer, d->which == 0 ? d->apart : d->solo,
                                ESPL_WRITE_TRANSLATE_WORLD, step, NULL),
              ESPL_ERR_NOT_OWNER);
}

TEST_LOOP(a_write_to_what_has_no_row_is_told_as_nobodys, 0, IS_CHECKED ? 2 : 0)
{
    static const char *const parts[] = {
        "espl_writer_write: ESPL_ERR_NOT_OWNER: entity ",
        ", ESPL_WRITE_TRANSLATE_WORLD, by job 1: ",
        "The hierarchy has no row in the parallel write at frame.c:77. ", NULL};

    d->which = _i;
    const uint64_t before = test_physical_hash(d->world);
    ck_status(let(1, write_nobodys, NULL), ESPL_PARTLY);
    demand_line(parts);
    ck_assert_uint_eq(d->heard.traps, 1);
    ck_assert_uint_eq(test_physical_hash(d->world), before);
}

enum { OTHER_WRITES = 3, ALL_WRITES = FORM_FLAGGED + OTHER_WRITES };

// Each way to write through a writer; with macros where there are such, so that the site is here.
static espl_status write_some_way(espl_writer *writer, espl_entity entity, int way)
{
    const float point[3] = {9, 9, 9}, turn[4] = {0, 0.6f, 0, 0.8f};
    uint64_t random = 3;

    if (way < FORM_FLAGGED) {
        const espl_write write = write_ordinary(entity, form_flagged((uint32_t)way), &random);

        return writer_write(writer, &write, ESPL_SITE);
    }
    switch (way - FORM_FLAGGED) {
    case 0:
        return espl_writer_look_at(writer, entity, point, NULL, ESPL_AXIS_FORWARD, ESPL_SITE);
    case 1:
        return espl_writer_rotate_about(writer, entity, point, turn, ESPL_SITE);
    default:
        return espl_writer_set_inherit(writer, entity, ESPL_ABSOLUTE_X, ESPL_SITE);
    }
}

static void write_foreign_every_way(espl_writer *writer, const espl_query *rows)
{
    const espl_entity foreign[3] = {d->root[1 - d->by], d->child[1 - d->by], d->solo};

    (void)rows;
    for (int way = 0; way < ALL_WRITES; ++way) {
        for (int i = 0; i < 3; ++i) {
            d->heard = (ears){.lines = 0};
            ck_status(write_some_way(writer, foreign[i], way), ESPL_ERR_NOT_OWNER);
            ck_assert(d->heard.lines == 1 && d->heard.traps == 1);
            demand_trap(__FILE__); // or the header next to it
        }
    }
}

TEST_LOOP(every_way_to_write_is_refused_for_what_is_not_the_writers_own, 0, IS_CHECKED ? 2 : 0)
{
    espl_parallel_report report;

    const uint64_t before = test_physical_hash(d->world);
    const espl_world_stats stats = test_stats(d->world);
    ck_status(let((uint32_t)_i, write_foreign_every_way, &report), ESPL_PARTLY);
    ck_assert_uint_eq(report.refused, 3 * ALL_WRITES);
    ck_assert_uint_eq(test_physical_hash(d->world), before);
    ck_assert_uint_eq(test_stats(d->world).nodes_visited, stats.nodes_visited);
}

static void write_own_every_way(espl_writer *writer, const espl_query *rows)
{
    (void)rows;
    for (int way = 0; way < ALL_WRITES; ++way) {
        ck_assert_int_ge(write_some_way(writer, d->child[d->by], way), ESPL_OK);
    }
}

TEST_LOOP(no_way_to_write_is_refused_for_what_is_the_writers_own, 0, 2)
{
    espl_parallel_report report;

    ck_ok(espl_motion_start(d->world, NULL));
    ck_ok(espl_reserve(d->world, &(espl_reserve_def){.side_of = d->root[_i]}));
    ck_ok(let((uint32_t)_i, write_own_every_way, &report));
    ck_assert(report.refused == 0 && d->heard.lines == 0 && d->heard.traps == 0);
}

// --- Reads of what another job may be writing ---

// X(name, the start of the line, the call)
// A call for many tells by its message which of them was refused, and why.
static espl_status get_positions(const espl_world *world, espl_entity entity, float *out)
{
    const espl_status status = espl_read_strided(world, ESPL_READ_WORLD_POSITION, &entity, 1,
                                                 sizeof entity, (float(*)[3])out, sizeof(float[3]));

    return status == ESPL_PARTLY ? ESPL_ERR_NOT_OWNER : status;
}

#define READS(X)                                                                                   \
    X(world, "espl_get_world_transform: ", espl_get_world_transform(w, e, &t))                     \
    X(local, "espl_get_local_transform: ", espl_get_local_transform(w, e, &t))                     \
    X(world_position, "espl_get_world_position: ", espl_get_world_position(w, e, f))               \
    X(world_rotation, "espl_get_world_rotation: ", espl_get_world_rotation(w, e, f))               \
    X(world_scale, "espl_get_world_scale: ", espl_get_world_scale(w, e, f))                        \
    X(local_position, "espl_get_local_position: ", espl_get_local_position(w, e, f))               \
    X(local_rotation, "espl_get_local_rotation: ", espl_get_local_rotation(w, e, f))               \
    X(local_scale, "espl_get_local_scale: ", espl_get_local_scale(w, e, f))                        \
    X(world_pose, "espl_get_world_pose: ", espl_get_world_pose(w, e, &pose))                       \
    X(local_pose, "espl_get_local_pose: ", espl_get_local_pose(w, e, &pose))                       \
    X(stretch, "espl_get_stretch: ", espl_get_stretch(w, e, f))                                    \
    X(context, "espl_get_user_data: ", espl_get_user_data(w, e, &word))                            \
    X(relative, "espl_get_relative_transform: ", espl_get_relative_transform(w, own, e, &t))       \
    X(relative_frame, "espl_get_relative_transform: ", espl_get_relative_transform(w, e, own, &t)) \
    X(point, "espl_convert: ", espl_convert(w, e, ESPL_POINT_TO_WORLD, step, f))                   \
    X(point_back, "espl_convert: ", espl_convert(w, e, ESPL_POINT_TO_LOCAL, step, f))              \
    X(vector, "espl_convert: ", espl_convert(w, e, ESPL_VECTOR_TO_WORLD, step, f))                 \
    X(vector_back, "espl_convert: ", espl_convert(w, e, ESPL_VECTOR_TO_LOCAL, step, f))            \
    X(direction, "espl_convert: ", espl_convert(w, e, ESPL_DIRECTION_TO_WORLD, step, f))           \
    X(direction_back, "espl_convert: ", espl_convert(w, e, ESPL_DIRECTION_TO_LOCAL, step, f))      \
    X(axis, "espl_get_axis: ", espl_get_axis(w, e, ESPL_AXIS_UP, f))                               \
    X(matrix_3x4, "espl_get_matrix: ", espl_get_matrix(w, e, ESPL_MATRIX_3X4, f))                  \
    X(matrix_4x4, "espl_get_matrix: ", espl_get_matrix(w, e, ESPL_MATRIX_4X4, f))                  \
    X(matrix_inverse, "espl_get_matrix: ", espl_get_matrix(w, e, ESPL_MATRIX_4X4_INVERSE, f))      \
    X(positions, "espl_read_strided: ", get_positions(w, e, f))

#define AS_NAME(name, operation, call) READ_##name,
enum { READS(AS_NAME) READ_COUNT };

#define AS_OPERATION(name, operation, call) operation,
static const char *const read_operations[READ_COUNT] = {READS(AS_OPERATION)};

// @param own  what the reader may read, for calls that read two.
static espl_status read_some_way(const espl_world *w, espl_entity e, espl_entity own, int way)
{
    espl_transform t = {0};
    espl_pose pose = {0};
    float f[16] = {0};
    uint32_t word = 0;

    switch (way) {
#define AS_CASE(name, operation, call) \
    case READ_##name:                  \
        return call;
        READS(AS_CASE)
    default:
        ck_abort();
    }
    return ESPL_OK;
}

static void read_every_way(espl_writer *writer, const espl_query *rows)
{
    const espl_entity own = d->child[d->by], foreign = d->child[1 - d->by];

    (void)rows;
    for (int way = 0; way < READ_COUNT; ++way) {
        const char *const parts[] = {
            read_operations[way], ": ESPL_ERR_NOT_OWNER: ", ", by job 1: ",
            "The hierarchy was dealt to job 0 by the parallel write at frame.c:77. ", NULL};

        d->heard = (ears){.lines = 0};
        ck_status(read_some_way(d->world, foreign, own, way), ESPL_ERR_NOT_OWNER);
        demand_line(parts);
        demand_trap(read_operations[way]);
        ck_ok(read_some_way(d->world, own, d->solo, way));
        ck_ok(read_some_way(d->world, d->apart, own, way));
        ck_assert_uint_eq(d->heard.traps, 1);
    }
    // Of two that are read the one that may not be is told.
    d->heard = (ears){.lines = 0};
    ck_status(read_some_way(d->world, foreign, d->solo, READ_relative_frame), ESPL_ERR_NOT_OWNER);
    demand_line((const char *const[]){"was dealt to job 0 by ", NULL});
    d->heard = (ears){.lines = 0};
    ck_status(read_some_way(d->world, foreign, d->dead, READ_relative_frame), ESPL_ERR_NOT_OWNER);
    demand_line((const char *const[]){"was dealt to job 0 by ", NULL});
    // What the reader wrote last is the second place.
    ck_ok(espl_writer_write(writer, own, ESPL_WRITE_LOCAL_POSITION, step, "arm.c:10"));
    d->heard = (ears){.lines = 0};
    ck_status(read_some_way(d->world, foreign, own, READ_world), ESPL_ERR_NOT_OWNER);
    demand_line((const char *const[]){"by job 1, which last wrote at arm.c:10", NULL});
    demand_trap("arm.c:10: ");
}

TEST_IF(every_way_to_read_is_refused_for_what_another_job_was_dealt, IS_CHECKED)
{
    espl_parallel_report report;

    ck_ok(let(1, read_every_way, &report)); // reads are no writes
    ck_assert_uint_eq(report.refused, 0);
    // Outside, nothing of it is left.
    d->heard = (ears){.lines = 0};
    for (int way = 0; way < READ_COUNT; ++way) {
        ck_ok(read_some_way(d->world, d->child[0], d->child[1], way));
    }
    ck_assert_uint_eq(d->heard.lines, 0);
}

// A job of a world that writes another world's hierarchies in parallel.
static void read_around(espl_writer *writer, const espl_query *rows)
{
    espl_transform at;

    (void)writer;
    (void)rows;
    d = &worlds[0];
    ck_ok(espl_get_world_transform(d->world, d->child[1], &at));
    ck_ok(espl_get_world_transform(d->world, d->apart, &at));
    ck_assert_uint_eq(d->heard.traps, 0);
    ck_status(espl_get_world_transform(d->world, d->child[0], &at), ESPL_ERR_NOT_OWNER);
    demand_line((const char *const[]){", by job 1: ", "was dealt to job 0 by ", NULL});
    demand_trap("espl_get_world_transform: ESPL_ERR_NOT_OWNER: ");
    d = &worlds[1];
}

static void write_within(espl_writer *writer, const espl_query *rows)
{
    (void)writer;
    (void)rows;
    d = &worlds[1];
    ck_ok(let(0, read_around, NULL));
    ck_assert_uint_eq(d->heard.lines, 0);
    d = &worlds[0];
}

TEST_IF(a_job_within_a_job_of_another_world_keeps_to_what_either_was_dealt, IS_CHECKED)
{
    d = &worlds[1];
    begin_logged(hear_line);
    d = &worlds[0];
    ck_ok(let(1, write_within, NULL));
    d = &worlds[1];
    tear_down();
    d = &worlds[0];
}

TEST_IF(a_trespass_that_nobody_logs_is_a_trap_all_the_same, IS_CHECKED)
{
    tear_down();
    begin_logged(NULL);
    ck_status(let(0, write_own_then_foreign, NULL), ESPL_PARTLY);
    ck_assert_uint_eq(d->heard.lines, 0);
    demand_trap("hand.c:20: espl_writer_write at hand.c:20: ESPL_ERR_NOT_OWNER: ");
}

// --- Writers in the wrong hands ---

typedef struct borrower {
    espl_writer *writer;
    espl_status wrote, read;
} borrower;

static void *borrow(void *context)
{
    borrower *const b = context;
    espl_transform at;

    b->wrote = ESPL_WRITER_WRITE(b->writer, d->child[0], ESPL_WRITE_TRANSLATE_IN_PARENT, step);
    b->read = espl_get_world_transform(d->world, d->solo, &at);
    return NULL;
}

static void lend(espl_writer *writer, const espl_query *rows)
{
    borrower b = {.writer = writer};
    pthread_t thread;

    (void)rows;
    ck_assert_int_eq(pthread_create(&thread, NULL, borrow, &b), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_status(b.wrote, ESPL_ERR_ARGUMENT);
    ck_ok(b.read);
    demand_trap("The writer was handed to another thread, or to a job that is over; ");
}

TEST_IF(a_writer_in_the_hand_of_another_thread_is_a_fault, IS_CHECKED)
{
    const uint64_t before = test_physical_hash(d->world);
    ck_ok(let(0, lend, NULL));
    ck_assert_uint_eq(test_physical_hash(d->world), before);
}

static espl_writer *kept;

static void keep(espl_writer *writer, const espl_query *rows)
{
    (void)rows;
    kept = writer;
}

#define demand_over(call)                                                                   \
    do {                                                                                    \
        d->heard = (ears){.lines = 0};                                                      \
        ck_status((call), ESPL_ERR_ARGUMENT);                                               \
        demand_trap("The writer was handed to another thread, or to a job that is over; "); \
    } while (0)

static void use_kept(espl_writer *writer, const espl_query *rows)
{
    (void)rows;
    ck_assert_ptr_ne(writer, kept);
    demand_over(ESPL_WRITER_WRITE(kept, d->child[0], ESPL_WRITE_TRANSLATE_IN_PARENT, step));
}

TEST_IF(a_writer_of_a_job_that_is_over_is_a_fault, IS_CHECKED)
{
    const float turn[4] = {0, 0, 0, 1};

    ck_ok(let(0, keep, NULL));
    ck_ok(let(1, use_kept, NULL));
    demand_over(ESPL_WRITER_WRITE(kept, d->child[0], ESPL_WRITE_TRANSLATE_IN_PARENT, step));
    demand_over(espl_writer_look_at(kept, d->child[0], step, NULL, ESPL_AXIS_FORWARD, NULL));
    demand_over(espl_writer_rotate_about(kept, d->child[0], step, turn, NULL));
    demand_over(espl_writer_set_inherit(kept, d->child[0], 0, NULL));
    ck_assert_float_eq(test_local_of(d->world, d->child[0]).position[0], 0);
}

// --- Values and handles ---

static void write_badly(espl_writer *writer, const espl_query *rows)
{
    const espl_entity own = d->child[d->by];
    const float none[4] = {0}, bad[3] = {0, NAN, 0};
    const espl_entity pending = {own.index, own.generation | 1u << 31};
    const espl_write_kind out = ESPL_WRITE_KIND_COUNT;
    const float infinite = INFINITY;
    const uint32_t seven = 7;
    const struct {
        espl_status got, wanted;
    } cases[] = {
        {ESPL_WRITER_WRITE(writer, espl_entity_null(), ESPL_WRITE_LOCAL_POSITION, step),
         ESPL_ERR_NULL_ENTITY},
        {ESPL_WRITER_WRITE(writer, d->dead, ESPL_WRITE_LOCAL_POSITION, step), ESPL_ERR_DEAD},
        {ESPL_WRITER_WRITE(writer, pending, ESPL_WRITE_LOCAL_POSITION, step), ESPL_ERR_PENDING},
        {ESPL_WRITER_WRITE(writer, own, ESPL_WRITE_LOCAL_POSITION, bad), ESPL_ERR_NOT_FINITE},
        {ESPL_WRITER_WRITE(writer, own, ESPL_WRITE_LOCAL_ROTATION, none), ESPL_ERR_NOT_FINITE},
        {ESPL_WRITER_WRITE(writer, own, ESPL_WRITE_LOCAL_SCALE, &infinite), ESPL_ERR_NOT_FINITE},
        {espl_writer_write(writer, own, out, step, NULL), ESPL_ERR_ARGUMENT},
        {espl_writer_look_at(writer, own, step, NULL, (espl_axis)(ESPL_AXIS_BACK + 1), NULL),
         ESPL_ERR_ARGUMENT},
        {espl_writer_set_inherit(writer, own, 1u << 30, ESPL_SITE), ESPL_ERR_ARGUMENT},
        {espl_writer_set_inherit(writer, d->root[d->by], ESPL_ABSOLUTE_X, ESPL_SITE),
         ESPL_ERR_NOT_CHILD},
        // No side array is there, and none may be made.
        {ESPL_WRITER_WRITE(writer, own, ESPL_WRITE_USER_DATA, &seven), ESPL_ERR_BUSY},
        {ESPL_WRITER_WRITE(writer, own, ESPL_WRITE_STRETCH, step), ESPL_ERR_BUSY},
        {espl_writer_set_inherit(writer, own, ESPL_ABSOLUTE_X, ESPL_SITE), ESPL_ERR_BUSY},
    };

    (void)rows;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        ck_assert_msg(cases[i].got == cases[i].wanted, "case %zu: %s, not %s", i,
                      espl_status_name(cases[i].got), espl_status_name(cases[i].wanted));
    }
    ck_assert_uint_eq(d->heard.lines, sizeof cases / sizeof *cases);
    ck_assert_uint_eq(d->heard.traps, 0);
    d->which = (int)(sizeof cases / sizeof *cases);
}

TEST(bad_values_and_handles_are_refused_one_by_one)
{
    espl_parallel_report report;

    const uint64_t before = test_physical_hash(d->world);
    ck_status(let(1, write_badly, &report), ESPL_PARTLY);
    ck_assert_uint_eq(report.refused, (size_t)d->which);
    ck_status(report.first_status, ESPL_ERR_NULL_ENTITY);
    ck_assert(espl_entity_is_null(report.first_refused));
    ck_assert_uint_eq(test_physical_hash(d->world), before);
}

// --- Rows ---

static void misuse_rows(espl_writer *writer, const espl_query *rows)
{
    espl_query copy = *rows;

    (void)writer;
    ck_assert_ptr_nonnull(espl_query_read(rows, d->number, 4));
    ck_assert_ptr_null(espl_query_write(rows, d->number, 4)); // it was not named
    ck_assert_ptr_null(espl_query_read(rows, d->number, 8));
    ck_assert(!espl_query_next(&copy));
    espl_query_end(&copy);
    ck_assert_uint_eq(copy.count, rows->count);
    ck_assert_uint_eq(d->heard.traps, IS_CHECKED ? 4 : 0);
}

TEST(rows_move_nowhere_and_their_columns_are_written_only_where_named)
{
    const uint64_t version = espl_get_version(d->world);
    ck_ok(let(0, misuse_rows, NULL));
    ck_assert_uint_eq(espl_get_version(d->world), version);
    ck_ok(espl_compact(d->world)); // no iteration was lost or left open
}

// --- Definitions ---

static void call_nothing(espl_writer *writer, const espl_query *rows, void *context)
{
    (void)writer;
    (void)rows;
    (void)context;
    ck_abort_msg("called");
}

typedef struct bad_def {
    espl_parallel_def def;
    espl_status status;
    const char *told; // behind the name of the call and the status; NULL: the text of the status
} bad_def;

static void demand_told(const bad_def *bad)
{
    char line[512];

    snprintf(line, sizeof line, "espl_write_parallel: %s: %s", espl_status_name(bad->status),
             bad->told != NULL ? bad->told : espl_status_text(bad->status));
    ck_assert_str_eq(d->heard.line, line);
    ck_assert(d->heard.lines == 1 && d->heard.traps == 0);
}

TEST(bad_definitions_are_refused_as_a_whole)
{
    static const espl_component unknown = 999, known = ESPL_ROOT;
    static const espl_query_def bad_query = {.all = &unknown, .all_count = 1};
    static const espl_query_def bad_include = {.include = 64};
    static const char *const no_flag = "def->flags has a bit that is no ESPL_PARALLEL_ bit.";
    static const char *const no_component =
        "component 999: The world has no component of that number; register it, or call "
        "espl_component_find().";
    const espl_status argument = ESPL_ERR_ARGUMENT;
    const bad_def cases[] = {
        {{.function = NULL}, argument, "def->function is NULL."},
        {{.function = call_nothing, .flags = 2}, argument, no_flag},
        {{.function = call_nothing, .flags = 1u << 31}, argument, no_flag},
        {{.function = call_nothing, .column_count = 1},
         argument,
         "def->columns is NULL, but def->column_count is not 0."},
        {{.function = call_nothing, .columns = &unknown, .column_count = 1},
         argument,
         no_component},
        {{.function = call_nothing, .columns = &known, .column_count = ESPL_SET_LIMIT + 1},
         ESPL_ERR_LIMIT,
         NULL},
        {{.function = call_nothing, .query = &bad_query}, argument, no_component},
        {{.function = call_nothing, .query = &bad_include},
         argument,
         "espl_query_def.include has a bit that is no ESPL_INCLUDE_ bit."},
    };
    const espl_parallel_report empty = {0};
    espl_parallel_report report;

    const uint64_t before = test_physical_hash(d->world);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        memset(&report, 0xA5, sizeof report);
        d->heard = (ears){.lines = 0};
        ck_assert_int_eq(espl_write_parallel(d->world, &cases[i].def, &report), cases[i].status);
        demand_told(&cases[i]);
        ck_assert_uint_eq(report.rows + report.calls + report.jobs, empty.rows);
    }
    ck_status(espl_write_parallel(d->world, NULL, &report), ESPL_ERR_ARGUMENT);
    ck_status(espl_reserve(d->world, &(espl_reserve_def){.parallel_rows = SIZE_MAX}),
              ESPL_ERR_LIMIT);
    ck_assert_uint_eq(test_physical_hash(d->world), before);
}
