// SPDX-License-Identifier: MIT
// Structs that grow have reserved words at their end, which later versions give a meaning (GROWTH in
// espalier(3)). Where one of them is not 0, each call that reads the struct is refused, says so, and
// changes nothing. In a struct that the library fills they are 0, whatever was there before. Each call
// with such a struct has a row; tests/symbols.sh finds a function without one.
#include "tests/asked.h"
#include "tests/runner.h"
#include "tests/told.h"

#include <espalier/espalier.h>
#include <espalier/renderables.h>

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { ROOM = 512 }; // for the longest struct that is read

static told t;
static espl_world *w;
static espl_entity root, child, solo;
static espl_command_buffer *commands;
static espl_recorder *recorder;
static const float here[3] = {1, 2, 3};

static uint64_t stop_clock(void *user)
{
    (void)user;
    return 7;
}

static void begin(void)
{
    espl_entity made[3];

    memset(&t, 0, sizeof t);
    test_heap_init(&t.heap);
    espl_world_def def = {
        .allocator = test_heap_allocator(&t.heap), .hooks = told_hooks(&t), .tag = 3};
    def.hooks.clock = stop_clock;
    ck_ok(espl_world_create(&def, &t.world));
    w = t.world;
    test_solos(w, 3, made);
    root = made[0];
    child = made[1];
    solo = made[2];
    ck_ok(espl_attach(w, child, root, NULL));
    ck_ok(espl_command_buffer_create(w, 1, &commands));
    recorder = espl_command_buffer_recorder(commands, 0);
}

static void end(void)
{
    espl_command_buffer_reset(commands);
    t.lines = 0; // of the commands that are dropped
    espl_command_buffer_destroy(commands);
    told_end(&t);
}

// --- Structs that the library reads ---

typedef struct input {
    const char *call;        // name of the function
    size_t size;             // of the struct
    size_t first, count;     // offset and number of the reserved words
    void (*fill)(void *def); // make a struct that the call takes of zeros; NULL: zeros are taken
    espl_status (*carry)(const void *def);
    bool is_silent; // has no log
} input;

// A function that sets a field of a struct.
#define FILL(function, type, field, value) \
    static void function(void *def)        \
    {                                      \
        ((type *)def)->field = value;      \
    }

FILL(fill_world, espl_world_def, hooks, told_hooks(&t))

static espl_status carry_world(const void *def)
{
    espl_world *made = NULL;
    const espl_status status = espl_world_create(def, &made);

    ck_status(made != NULL, status == ESPL_OK);
    espl_world_destroy(made);
    return status;
}

// A function that makes a call with a struct.
#define CARRY(name, call)                            \
    static espl_status carry_##name(const void *def) \
    {                                                \
        return call;                                 \
    }

CARRY(attach, espl_attach(w, solo, child, def))
CARRY(attach_many, espl_attach_many(w, &solo, &child, 1, def, NULL))
CARRY(record_attach, espl_record_attach(recorder, 0, solo, child, def))
FILL(fill_instance, espl_instance_def, source, root)
CARRY(instantiate, espl_instantiate(w, def, 1, NULL))
CARRY(record_instantiate, espl_record_instantiate(recorder, 0, def, 1, NULL))
CARRY(create, espl_create_at(w, def, 1, NULL))
CARRY(record_create, espl_record_create(recorder, 0, def, 1, NULL))

static void ignore_calls(void *user, const espl_custom_calls *calls)
{
    (void)user;
    (void)calls;
}

static void fill_command(void *def)
{
    *(espl_custom_command_def *)def =
        (espl_custom_command_def){.name = "growth", .function = ignore_calls};
}

static espl_status carry_command(const void *def)
{
    espl_custom_command number;

    return espl_command_register(w, def, &number);
}

FILL(fill_threads, espl_threads_def, workers, 1)

static espl_status carry_threads(const void *def)
{
    espl_executor executor = {0};
    const espl_status status = espl_executor_create(def, &executor);

    espl_executor_destroy(&executor);
    return status;
}

static void fill_component(void *def)
{
    *(espl_component_def *)def = (espl_component_def){.name = "growth", .size = 8};
}

static espl_status carry_component(const void *def)
{
    espl_component number;

    return espl_component_register(w, def, &number);
}

CARRY(reserve, espl_reserve(w, def))

static espl_status carry_watch(const void *def)
{
    espl_watch *watch = NULL;
    const espl_status status = espl_watch_create(w, def, &watch);

    espl_watch_destroy(watch);
    return status;
}

static espl_status carry_history(const void *def)
{
    espl_history *history = NULL;
    const espl_status status = espl_history_create(w, def, &history);

    espl_history_destroy(history);
    return status;
}

static espl_status carry_renderables(const void *def)
{
    espl_renderables *renderables = NULL;
    const espl_status status = espl_renderables_create(w, def, &renderables);

    espl_renderables_destroy(renderables);
    return status;
}

// A world with one renderable, and its mirror.
typedef struct mirrored {
    espl_world *world;
    espl_renderables *renderables;
    espl_visible *visible;
    const espl_mirror *mirror;
} mirrored;

static mirrored mirror_one(void)
{
    const espl_world_def def = {.hooks = told_hooks(&t), .tag = 5};
    mirrored m = {NULL, NULL, NULL, NULL};

    ck_ok(espl_world_create(&def, &m.world));
    ck_ok(espl_renderables_create(m.world, NULL, &m.renderables));
    const espl_entity e = test_solo(m.world);

    ck_ok(espl_add_component(m.world, e, espl_component_find(m.world, "bounds"), NULL,
                             sizeof(espl_bounds)));
    ck_ok(espl_add_component(m.world, e, espl_component_find(m.world, "renderable"), NULL,
                             sizeof(espl_renderable)));
    ck_ok(espl_renderables_update(m.renderables, NULL, NULL));
    ck_ok(espl_visible_create(NULL, &m.visible));
    m.mirror = espl_renderables_acquire(m.renderables);
    ck_ok(espl_cull(m.visible, m.mirror, &(espl_camera){.layers = 1}, 1, NULL));
    return m;
}

static espl_status end_mirrored(const mirrored *m, espl_status status)
{
    espl_visible_destroy(m->visible);
    espl_renderables_destroy(m->renderables);
    espl_world_destroy(m->world);
    return status;
}

static espl_status carry_cull(const void *def)
{
    const mirrored m = mirror_one();

    return end_mirrored(&m, espl_cull(m.visible, m.mirror, &(espl_camera){0}, 1, def));
}

static espl_status carry_camera(const void *def)
{
    const mirrored m = mirror_one();

    return end_mirrored(&m, espl_cull(m.visible, m.mirror, def, 1, NULL));
}

static espl_status carry_visible_write(const void *def)
{
    const mirrored m = mirror_one();

    return end_mirrored(&m, espl_visible_write(m.visible, 0, def));
}

static espl_status carry_mirror_write(const void *def)
{
    const mirrored m = mirror_one();

    return end_mirrored(&m, espl_mirror_write(m.mirror, 0, def, NULL));
}

static espl_status carry_lods(const void *def)
{
    const mirrored m = mirror_one();
    uint32_t key = 0;

    return end_mirrored(&m, espl_renderables_add_lods(m.renderables, def, &key));
}

FILL(fill_lods, espl_lods, count, 1)

static espl_status carry_motion(const void *def)
{
    const espl_status status = espl_motion_start(w, def);

    if (status == ESPL_OK) {
        ck_ok(espl_motion_stop(w));
    }
    return status;
}

static unsigned char archive[4096];
static size_t archive_size;

static bool keep_bytes(void *user, const void *bytes, size_t size)
{
    (void)user;
    ck_assert_uint_le(archive_size + size, sizeof archive);
    memcpy(archive + archive_size, bytes, size);
    archive_size += size;
    return true;
}

// Of nothing, so that a read of it changes nothing.
static void fill_archive(void *def)
{
    static const espl_entity none[1];

    ((espl_archive_def *)def)->tops = none;
}

static espl_status carry_archive(const void *def)
{
    const espl_sink sink = {.write = keep_bytes};

    archive_size = 0;
    return espl_archive_write(w, def, &sink);
}

static espl_status carry_archive_read(const void *def)
{
    static const espl_entity none[1];

    ck_ok(carry_archive(&(espl_archive_def){.tops = none}));
    return espl_archive_read(w, archive, archive_size, def, NULL);
}

static espl_status carry_archive_apply(const void *def)
{
    static const espl_entity none[1];

    ck_ok(carry_archive(&(espl_archive_def){.tops = none}));
    return espl_archive_apply(w, archive, archive_size, def, NULL, NULL);
}

static espl_status carry_filter(const void *def)
{
    const espl_watch_def watch = {.filter = def};

    return carry_watch(&watch);
}

static espl_status end_query(espl_status begun, espl_query *query)
{
    if (begun == ESPL_OK) {
        espl_query_end(query);
    }
    return begun;
}

static espl_status carry_query(const void *def)
{
    espl_query query;

    return end_query(espl_query_begin(w, def, &query), &query);
}

static espl_status carry_query_read(const void *def)
{
    espl_query query;

    return end_query(espl_query_begin_read(w, def, &query), &query);
}

static espl_status carry_query_change(const void *def)
{
    const espl_change_def change = {0};

    return espl_change_components_query(w, def, &change, NULL);
}

FILL(fill_parallel, espl_parallel_def, function, test_no_write)
CARRY(parallel, espl_write_parallel(w, def, NULL))

// The query of a parallel write has reserved words of its own.
static espl_status carry_parallel_query(const void *def)
{
    const espl_parallel_def parallel = {.query = def, .function = test_no_write};

    return espl_write_parallel(w, &parallel, NULL);
}

static espl_entity entities[4];

FILL(fill_arrays, espl_subtree_arrays, entities, entities)

// Its answer is a count, so that the log has the status.
static espl_status carry_arrays(const void *def)
{
    if (espl_copy_subtree(w, root, ESPL_EXTENT_SUBTREE, 4, def) != 0) {
        return ESPL_OK;
    }
    return strstr(t.line, "ESPL_ERR_UNSUPPORTED") != NULL ? ESPL_ERR_UNSUPPORTED
                                                          : ESPL_ERR_ARGUMENT;
}

// An original in another world, which ends with the call.
static espl_status carry_placing(const void *def)
{
    espl_world *from = NULL;

    ck_ok(espl_world_create(&(espl_world_def){.tag = 101}, &from));
    const espl_status status = espl_place_counterparts(w, from, test_solo(from), def, NULL);

    espl_world_destroy(from);
    return status;
}

static const espl_changes no_changes;

CARRY(follow, espl_follow(w, &no_changes, def, NULL))
CARRY(follow_changes, espl_follow(w, def, NULL, NULL))

#define WORDS(type)                         \
    sizeof(type), offsetof(type, reserved), \
        sizeof(((const type *)NULL)->reserved) / sizeof(uintptr_t)

static const input inputs[] = {
    {"espl_world_create", WORDS(espl_world_def), fill_world, carry_world, false},
    {"espl_attach", WORDS(espl_attach_options), NULL, carry_attach, false},
    {"espl_attach_many", WORDS(espl_attach_options), NULL, carry_attach_many, false},
    {"espl_record_attach", WORDS(espl_attach_options), NULL, carry_record_attach, false},
    {"espl_instantiate", WORDS(espl_instance_def), fill_instance, carry_instantiate, false},
    {"espl_record_instantiate", WORDS(espl_instance_def), fill_instance, carry_record_instantiate,
     false},
    {"espl_create_at", WORDS(espl_creation_def), NULL, carry_create, false},
    {"espl_record_create", WORDS(espl_creation_def), NULL, carry_record_create, false},
    {"espl_command_register", WORDS(espl_custom_command_def), fill_command, carry_command, false},
    {"espl_executor_create", WORDS(espl_threads_def), fill_threads, carry_threads, true},
    {"espl_component_register", WORDS(espl_component_def), fill_component, carry_component, false},
    {"espl_reserve", WORDS(espl_reserve_def), NULL, carry_reserve, false},
    {"espl_archive_write", WORDS(espl_archive_def), fill_archive, carry_archive, false},
    {"espl_archive_read", WORDS(espl_archive_read_def), NULL, carry_archive_read, false},
    {"espl_archive_apply", WORDS(espl_archive_read_def), NULL, carry_archive_apply, false},
    {"espl_history_create", WORDS(espl_history_def), NULL, carry_history, false},
    {"espl_motion_start", WORDS(espl_motion_def), NULL, carry_motion, false},
    {"espl_renderables_create", WORDS(espl_renderables_def), NULL, carry_renderables, false},
    {"espl_renderables_add_lods", WORDS(espl_lods), fill_lods, carry_lods, false},
    {"espl_cull", WORDS(espl_cull_def), NULL, carry_cull, true},
    {"espl_cull", WORDS(espl_camera), NULL, carry_camera, true},
    {"espl_visible_write", WORDS(espl_instance_arrays), NULL, carry_visible_write, true},
    {"espl_mirror_write", WORDS(espl_instance_arrays), NULL, carry_mirror_write, true},
    {"espl_watch_create", WORDS(espl_watch_def), NULL, carry_watch, false},
    {"espl_watch_create", WORDS(espl_query_def), NULL, carry_filter, false},
    {"espl_query_begin", WORDS(espl_query_def), NULL, carry_query, false},
    {"espl_query_begin_read", WORDS(espl_query_def), NULL, carry_query_read, false},
    {"espl_change_components_query", WORDS(espl_query_def), NULL, carry_query_change, false},
    {"espl_write_parallel", WORDS(espl_parallel_def), fill_parallel, carry_parallel, false},
    {"espl_write_parallel", WORDS(espl_query_def), NULL, carry_parallel_query, false},
    {"espl_copy_subtree", WORDS(espl_subtree_arrays), fill_arrays, carry_arrays, false},
    {"espl_place_counterparts", WORDS(espl_placing_def), NULL, carry_placing, false},
    {"espl_follow", WORDS(espl_follow_def), NULL, carry_follow, false},
    {"espl_follow", WORDS(espl_changes), NULL, carry_follow_changes, false},
};
enum { INPUTS = sizeof inputs / sizeof *inputs };

// Where there are no threads, the call has one answer.
static bool is_left_out(const input *in)
{
    return in->carry == carry_threads && !test_has_threads();
}

// A struct that the call takes.
static _Alignas(max_align_t) unsigned char filled[ROOM];

static void begin_input(const input *in)
{
    ck_assert_uint_le(in->size, ROOM);
    begin();
    memset(filled, 0, sizeof filled);
    if (in->fill != NULL) {
        in->fill(filled);
    }
}

TEST_LOOP(a_struct_whose_reserved_words_are_0_is_taken, 0, INPUTS)
{
    const input *const in = &inputs[_i];

    if (!is_left_out(in)) {
        begin_input(in);
        ck_ok(in->carry(filled));
        told_demand_nothing(&t);
        end();
    }
}

// Any bit of any word: the first and the last bit are tried.
static void demand_refused(const input *in, size_t word, uintptr_t value)
{
    char start[80];
    uint64_t before, after;

    begin_input(in);
    snprintf(start, sizeof start, "%s: ESPL_ERR_UNSUPPORTED: ", in->call);
    memcpy(filled + in->first + word * sizeof value, &value, sizeof value);
    ck_ok(espl_hash(w, ESPL_HASH_PHYSICAL, &before));
    ck_status(in->carry(filled), ESPL_ERR_UNSUPPORTED);
    ck_ok(espl_hash(w, ESPL_HASH_PHYSICAL, &after));
    ck_assert_uint_eq(before, after);
    ck_assert_uint_eq(espl_command_buffer_count(commands), 0);
    ck_assert_uint_eq(t.lines, in->is_silent ? 0 : 1);
    if (!in->is_silent) {
        ck_assert_msg(strncmp(t.line, start, strlen(start)) == 0, "%s", t.line);
        ck_assert_ptr_nonnull(strstr(t.line, "reserved"));
    }
    t.lines = 0;
    end();
}

TEST_LOOP(a_reserved_word_that_is_not_0_is_refused, 0, INPUTS)
{
    const input *const in = &inputs[_i];

    for (size_t word = 0; !is_left_out(in) && word < in->count; ++word) {
        demand_refused(in, word, 1);
        demand_refused(in, word, ~(UINTPTR_MAX >> 1));
    }
}

// --- Structs that the library fills ---

typedef struct output {
    size_t size, first, count; // as input has them
    espl_status (*carry)(void *out);
} output;

#define CARRY_OUT(name, call)                  \
    static espl_status carry_##name(void *out) \
    {                                          \
        return call;                           \
    }

static void record_write(void)
{
    ck_ok(espl_record_write(recorder, 0, root, ESPL_WRITE_LOCAL_POSITION, here));
}

static espl_status carry_play(void *out)
{
    record_write();
    return espl_play(w, commands, out);
}

static espl_status carry_sync(void *out)
{
    record_write();
    ck_ok(espl_command_buffer_submit(commands));
    return espl_sync(w, out);
}

static espl_status carry_stats(void *out)
{
    espl_stats(w, out);
    return ESPL_OK;
}

CARRY_OUT(info, espl_component_info(w, ESPL_TRANSFORM, out))

static espl_status carry_batch(void *out)
{
    const espl_write writes[] = {
        {root, ESPL_WRITE_LOCAL_POSITION, {.position = {1, 2, 3}}},
        {espl_entity_null(), ESPL_WRITE_LOCAL_POSITION, {.position = {1, 2, 3}}}};
    const espl_status status = espl_write_batch(w, writes, 2, out);

    t.lines = 0; // of the entry that is refused
    return status;
}

CARRY_OUT(strided, espl_write_strided(w, ESPL_WRITE_LOCAL_POSITION, &root, 1, sizeof root, here,
                                      sizeof here, out))

static espl_status carry_copies(void *out)
{
    const espl_copy copy = {root, root};

    return espl_copy_world_transforms(w, w, &copy, 1, out);
}

static espl_status carry_parallel_report(void *out)
{
    const espl_parallel_def def = {.function = test_no_write};

    return espl_write_parallel(w, &def, out);
}

static espl_status carry_changes(void *out)
{
    espl_watch *watch = NULL;

    ck_ok(espl_watch_create(w, NULL, &watch));
    const espl_status status = espl_watch_collect(watch, 0, out);

    espl_watch_destroy(watch);
    return status;
}

CARRY_OUT(follow_report, espl_follow(w, &no_changes, NULL, out))

static espl_status carry_validate(void *out)
{
    return espl_validate(w, out) ? ESPL_OK : ESPL_ERR_EXISTS;
}

static espl_status carry_present(void *out)
{
    ck_ok(espl_motion_start(w, NULL));
    const espl_status status = espl_present(w, 0.5f, out);

    ck_ok(espl_motion_stop(w));
    return status;
}

static espl_status carry_rewind(void *out)
{
    espl_history *history = NULL;

    ck_ok(espl_history_create(w, NULL, &history));
    ck_ok(espl_history_mark(history, 1));
    const espl_status status = espl_history_rewind(history, 1, 0, out);

    espl_history_destroy(history);
    return status;
}

static espl_status carry_fault(void *out)
{
    const size_t size = espl_image_size(w);
    void *const bytes = test_array(1, size);

    ck_ok(espl_image_save(w, bytes, size));
    const espl_status status = espl_image_load(w, bytes, size, 0, out);

    free(bytes);
    return status;
}

static espl_status carry_archive_info(void *out)
{
    ck_ok(carry_archive(NULL));
    return espl_archive_inspect(archive, archive_size, out, NULL);
}

static espl_status carry_inspect_fault(void *out)
{
    espl_archive_info info;

    ck_ok(carry_archive(NULL));
    return espl_archive_inspect(archive, archive_size, &info, out);
}

// Of nothing, so that a read of it changes nothing.
static espl_status carry_archive_fault(void *out)
{
    static const espl_entity none[1];

    ck_ok(carry_archive(&(espl_archive_def){.tops = none}));
    return espl_archive_read(w, archive, archive_size, NULL, out);
}

static espl_status carry_apply_fault(void *out)
{
    static const espl_entity none[1];

    ck_ok(carry_archive(&(espl_archive_def){.tops = none}));
    return espl_archive_apply(w, archive, archive_size, NULL, NULL, out);
}

static espl_status carry_delta_fault(void *out)
{
    static unsigned char before[4096];
    const espl_sink sink = {.write = keep_bytes};

    ck_ok(carry_archive(NULL));
    const size_t size = archive_size;

    memcpy(before, archive, size);
    archive_size = 0;
    return espl_archive_delta(before, size, before, size, &sink, out);
}

static espl_status carry_patch_fault(void *out)
{
    const espl_sink sink = {.write = keep_bytes};

    ck_ok(carry_archive(NULL));
    return espl_archive_patch(archive, archive_size, archive, 0, &sink, out) == ESPL_ERR_FORMAT
               ? ESPL_OK
               : ESPL_ERR_ARGUMENT;
}

static espl_status carry_update(void *out)
{
    const mirrored m = mirror_one();

    return end_mirrored(&m, espl_renderables_update(m.renderables, NULL, out));
}

static espl_status carry_description(void *out)
{
    const mirrored m = mirror_one();

    espl_mirror_describe(m.mirror, out);
    return end_mirrored(&m, ESPL_OK);
}

static espl_status carry_camera_from_matrix(void *out)
{
    static const float matrix[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

    return espl_camera_from_matrix(matrix, ESPL_CLIP_ZERO_TO_ONE, out);
}

CARRY_OUT(view, espl_view_hierarchy(w, root, out))

static const output outputs[] = {
    {WORDS(espl_report), carry_play},
    {WORDS(espl_report), carry_sync},
    {WORDS(espl_world_stats), carry_stats},
    {WORDS(espl_component_def), carry_info},
    {WORDS(espl_write_report), carry_batch},
    {WORDS(espl_write_report), carry_strided},
    {WORDS(espl_write_report), carry_copies},
    {WORDS(espl_parallel_report), carry_parallel_report},
    {WORDS(espl_changes), carry_changes},
    {WORDS(espl_present_report), carry_present},
    {WORDS(espl_follow_report), carry_follow_report},
    {WORDS(espl_renderables_report), carry_update},
    {WORDS(espl_mirror_description), carry_description},
    {WORDS(espl_camera), carry_camera_from_matrix},
    {WORDS(espl_rewind), carry_rewind},
    {WORDS(espl_format_fault), carry_fault},
    {WORDS(espl_archive_info), carry_archive_info},
    {WORDS(espl_format_fault), carry_inspect_fault},
    {WORDS(espl_format_fault), carry_archive_fault},
    {WORDS(espl_format_fault), carry_apply_fault},
    {WORDS(espl_format_fault), carry_delta_fault},
    {WORDS(espl_format_fault), carry_patch_fault},
    {WORDS(espl_validation), carry_validate},
    {WORDS(espl_view), carry_view},
};
enum { OUTPUTS = sizeof outputs / sizeof *outputs };

TEST_LOOP(the_reserved_words_of_a_struct_that_is_filled_are_0, 0, OUTPUTS)
{
    static const uintptr_t zeros[8];
    const output *const out = &outputs[_i];
    _Alignas(max_align_t) unsigned char block[1024];

    begin();
    ck_assert_uint_le(out->size, sizeof block);
    memset(block, 0xaa, sizeof block);
    ck_assert_int_ge(out->carry(block), 0);
    ck_assert_mem_eq(block + out->first, zeros, out->count * sizeof *zeros);
    for (size_t i = out->size; i < sizeof block; ++i) {
        ck_assert_uint_eq(block[i], 0xaa);
    }
    told_demand_nothing(&t);
    end();
}

// A program compiles its sizes in: later versions take words away from the end of the reserved ones.
TEST(reserved_words_are_the_end_of_each_struct)
{
    for (size_t i = 0; i < INPUTS; ++i) {
        ck_assert_uint_eq(inputs[i].first + inputs[i].count * sizeof(uintptr_t), inputs[i].size);
        ck_assert_uint_ge(inputs[i].count, 2);
    }
    for (size_t i = 0; i < OUTPUTS; ++i) {
        ck_assert_uint_eq(outputs[i].first + outputs[i].count * sizeof(uintptr_t), outputs[i].size);
        ck_assert_uint_ge(outputs[i].count, 2);
    }
}
