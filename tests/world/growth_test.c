// SPDX-License-Identifier: MIT
// Structs that grow at their end, as programs have them that were compiled with headers of other versions:
// shorter ones, equal ones, and longer ones. Each function that takes or fills such a struct has a row,
// which calls the exported NAME_sized() with each size. tests/symbols.sh finds a function without one.
//
// A struct is in a block of its own size, so that a sanitizer finds an access past its end; and in front of
// bytes of 0xff, which are not the default of any field, so that the test finds such a read by itself.
#include "tests/runner.h"
#include "tests/told.h"

#include <espalier/espalier.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LONGER = 24, // bytes that later versions add
    ROOM = 256,  // for the longest struct that is read
};

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
    ck_ok(espl_world_create(&t.world, &def));
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
    const char *call; // name of the inline form
    size_t own;       // size in this version
    size_t least;     // bytes that must be there
    // Make a struct that the call takes of zeros, and spoil the field at `spoilt`, so that the call is
    // refused. NULL: zeros are taken; all bits of the field are set.
    void (*fill)(void *def);
    void (*spoil)(void *def);
    size_t spoilt, spoilt_size;
    espl_status (*carry)(const void *def, size_t size);
    bool is_silent; // has no log
} input;

// A function that sets a field of a struct.
#define FILL(function, type, field, value) \
    static void function(void *def)        \
    {                                      \
        ((type *)def)->field = value;      \
    }

FILL(fill_world, espl_world_def, hooks, told_hooks(&t))

static espl_status carry_world(const void *def, size_t size)
{
    espl_world *made = NULL;
    const espl_status status = espl_world_create_sized(&made, def, size);

    ck_status(made != NULL, status == ESPL_OK);
    espl_world_destroy(made);
    return status;
}

// A function that makes a call with a struct of `size` bytes.
#define CARRY(name, call)                                         \
    static espl_status carry_##name(const void *def, size_t size) \
    {                                                             \
        return call;                                              \
    }

CARRY(attach, espl_attach_sized(w, solo, child, def, size))
CARRY(attach_many, espl_attach_many_sized(w, &solo, &child, 1, def, NULL, size))
CARRY(record_attach, espl_record_attach_sized(recorder, 0, solo, child, def, size))
FILL(fill_instance, espl_instance_def, source, root)
CARRY(instantiate, espl_instantiate_at_sized(w, def, 1, NULL, size))
CARRY(record_instantiate, espl_record_instantiate_sized(recorder, 0, def, 1, NULL, size))
CARRY(create, espl_create_at_sized(w, def, 1, NULL, size))
CARRY(record_create, espl_record_create_sized(recorder, 0, def, 1, NULL, size))

static void ignore_calls(void *user, const espl_custom_calls *calls)
{
    (void)user;
    (void)calls;
}

static void fill_command(void *def)
{
    *(espl_custom_command_def *)def = (espl_custom_command_def){"growth", NULL, ignore_calls};
}

FILL(spoil_command, espl_custom_command_def, name, "")

static espl_status carry_command(const void *def, size_t size)
{
    espl_custom_command number;

    return espl_register_command_sized(w, def, &number, size);
}

FILL(fill_threads, espl_threads_def, workers, 1)

static espl_status carry_threads(const void *def, size_t size)
{
    espl_executor executor = {0};
    const espl_status status = espl_executor_create_sized(&executor, def, size);

    espl_executor_destroy_threads(&executor);
    return status;
}

static void fill_component(void *def)
{
    *(espl_component_def *)def = (espl_component_def){.name = "growth", .size = 8};
}

static espl_status carry_component(const void *def, size_t size)
{
    espl_component number;

    return espl_component_register_sized(w, def, &number, size);
}

CARRY(reserve, espl_reserve_sized(w, def, size))

static espl_status end_query(espl_status begun, espl_query *query)
{
    if (begun == ESPL_OK) {
        espl_query_end(query);
    }
    return begun;
}

static espl_status carry_query(const void *def, size_t size)
{
    espl_query query;

    return end_query(espl_query_begin_sized(w, def, &query, size), &query);
}

static espl_status carry_query_read(const void *def, size_t size)
{
    espl_query query;

    return end_query(espl_query_begin_read_sized(w, def, &query, size), &query);
}

static espl_status carry_query_change(const void *def, size_t size)
{
    const espl_change_def change = {0};

    return espl_change_components_query_sized(w, def, &change, NULL, size);
}

FILL(fill_parallel, espl_parallel_def, function, test_no_write)
CARRY(parallel, espl_write_parallel_sized(w, def, NULL, size, 0, 0))

// The query of a parallel write is a struct with a size of its own.
static espl_status carry_parallel_query(const void *def, size_t size)
{
    const espl_parallel_def parallel = {.query = def, .function = test_no_write};

    return espl_write_parallel_sized(w, &parallel, NULL, sizeof parallel, size, 0);
}

static espl_entity entities[4];
static espl_transform worlds[4];

FILL(fill_arrays, espl_subtree_arrays, entities, entities)
FILL(spoil_arrays, espl_subtree_arrays, worlds, worlds)

// Its answer is a count, so that the log has the status, and a spoilt struct is one whose array is
// written.
static espl_status carry_arrays(const void *def, size_t size)
{
    const size_t lines = t.lines;

    memset(worlds, 0, sizeof worlds);
    if (def == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    if (espl_copy_subtree_sized(w, root, ESPL_EXTENT_SUBTREE, 4, def, size) == 0) {
        ck_assert_uint_eq(t.lines, lines + 1);
        return strstr(t.line, "ESPL_ERR_UNSUPPORTED") != NULL ? ESPL_ERR_UNSUPPORTED
                                                              : ESPL_ERR_ARGUMENT;
    }
    return worlds[0].scale != 0 ? ESPL_ERR_EXISTS : ESPL_OK;
}

#define FIELD(type, field) offsetof(type, field), sizeof((const type *)NULL)->field

static const input inputs[] = {
    {"espl_world_create", sizeof(espl_world_def), 0, fill_world, NULL,
     FIELD(espl_world_def, huge_pages), carry_world, false},
    {"espl_attach", sizeof(espl_attach_options), 0, NULL, NULL, FIELD(espl_attach_options, inherit),
     carry_attach, false},
    {"espl_attach_many", sizeof(espl_attach_options), 0, NULL, NULL,
     FIELD(espl_attach_options, inherit), carry_attach_many, false},
    {"espl_record_attach", sizeof(espl_attach_options), 0, NULL, NULL,
     FIELD(espl_attach_options, inherit), carry_record_attach, false},
    {"espl_instantiate_at", sizeof(espl_instance_def), sizeof(espl_entity), fill_instance, NULL,
     FIELD(espl_instance_def, value_count), carry_instantiate, false},
    {"espl_record_instantiate", sizeof(espl_instance_def), sizeof(espl_entity), fill_instance, NULL,
     FIELD(espl_instance_def, value_count), carry_record_instantiate, false},
    {"espl_create_at", sizeof(espl_creation_def), 0, NULL, NULL, FIELD(espl_creation_def, inherit),
     carry_create, false},
    {"espl_record_create", sizeof(espl_creation_def), 0, NULL, NULL,
     FIELD(espl_creation_def, inherit), carry_record_create, false},
    {"espl_register_command", sizeof(espl_custom_command_def), sizeof(espl_custom_command_def),
     fill_command, spoil_command, FIELD(espl_custom_command_def, name), carry_command, false},
    {"espl_executor_create", sizeof(espl_threads_def), 0, fill_threads, NULL,
     FIELD(espl_threads_def, idle), carry_threads, true},
    {"espl_component_register", sizeof(espl_component_def), offsetof(espl_component_def, alignment),
     fill_component, NULL, FIELD(espl_component_def, reference_count), carry_component, false},
    {"espl_reserve", sizeof(espl_reserve_def), 0, NULL, NULL, FIELD(espl_reserve_def, side_of),
     carry_reserve, false},
    {"espl_query_begin", sizeof(espl_query_def), 0, NULL, NULL, FIELD(espl_query_def, include),
     carry_query, false},
    {"espl_query_begin_read", sizeof(espl_query_def), 0, NULL, NULL, FIELD(espl_query_def, include),
     carry_query_read, false},
    {"espl_change_components_query", sizeof(espl_query_def), 0, NULL, NULL,
     FIELD(espl_query_def, include), carry_query_change, false},
    {"espl_write_parallel", sizeof(espl_parallel_def), offsetof(espl_parallel_def, context),
     fill_parallel, NULL, FIELD(espl_parallel_def, flags), carry_parallel, false},
    {"espl_write_parallel", sizeof(espl_query_def), 0, NULL, NULL, FIELD(espl_query_def, include),
     carry_parallel_query, false},
    {"espl_copy_subtree", sizeof(espl_subtree_arrays), sizeof(espl_entity *), fill_arrays,
     spoil_arrays, FIELD(espl_subtree_arrays, worlds), carry_arrays, false},
};
enum { INPUTS = sizeof inputs / sizeof *inputs };

// Where there are no threads, the call has one answer.
static bool is_left_out(const input *in)
{
    return in->carry == carry_threads && !espl_executor_has_threads();
}

// A struct that the call takes.
static _Alignas(max_align_t) unsigned char filled[ROOM];

static void begin_input(const input *in)
{
    ck_assert_uint_le(in->own, ROOM);
    begin();
    memset(filled, 0, sizeof filled);
    if (in->fill != NULL) {
        in->fill(filled);
    }
}

static void begin_spoilt(const input *in)
{
    begin_input(in);
    if (in->spoil != NULL) {
        in->spoil(filled);
    } else {
        memset(filled + in->spoilt, 0xff, in->spoilt_size);
    }
}

// Carry a call out with a struct of `size` bytes: the first bytes of `filled`, then zeros, at `at` a 1.
static espl_status carry(const input *in, size_t size, size_t at, size_t garbage)
{
    unsigned char *const block = malloc(size + garbage + (size + garbage == 0 ? 1 : 0));

    ck_assert_ptr_nonnull(block);
    memset(block, 0, size);
    memset(block + size, 0xff, garbage);
    memcpy(block, filled, size < in->own ? size : in->own);
    if (at < size) {
        block[at] = 1;
    }
    const espl_status status = in->carry(block, size);

    free(block);
    return status;
}

TEST_LOOP(a_shorter_struct_has_zeros_for_the_fields_that_it_lacks, 0, INPUTS)
{
    const input *const in = &inputs[_i];

    for (size_t size = is_left_out(in) ? in->own : in->least; size < in->own; ++size) {
        for (size_t garbage = 0; garbage <= LONGER; garbage += LONGER) {
            begin_input(in);
            ck_ok(carry(in, size, SIZE_MAX, garbage));
            told_demand_nothing(&t);
            end();
        }
    }
}

// The field is read exactly where it is within the size.
TEST_LOOP(a_field_within_the_size_is_read, 0, INPUTS)
{
    const input *const in = &inputs[_i];

    if (is_left_out(in)) {
        return;
    }
    begin_spoilt(in);
    if (in->spoilt >= in->least) {
        ck_ok(carry(in, in->spoilt, SIZE_MAX, 0));
        end();
        begin_spoilt(in);
    }
    const espl_status equal = carry(in, in->own, SIZE_MAX, 0);
    ck_assert_int_lt(equal, 0);
    ck_assert_int_ne(equal, ESPL_ERR_UNSUPPORTED);
    t.lines = 0;
    ck_assert_int_eq(carry(in, in->own + LONGER, SIZE_MAX, 0), equal);
    t.lines = 0;
    end();
}

TEST_LOOP(a_longer_struct_is_taken_where_its_end_is_0, 0, INPUTS)
{
    const input *const in = &inputs[_i];

    for (size_t more = 0; !is_left_out(in) && more <= LONGER; ++more) {
        begin_input(in);
        ck_ok(carry(in, in->own + more, SIZE_MAX, LONGER));
        told_demand_nothing(&t);
        end();
    }
}

TEST_LOOP(a_longer_struct_with_a_field_that_is_not_0_is_refused, 0, INPUTS)
{
    const input *const in = &inputs[_i];

    for (size_t at = 0; !is_left_out(in) && at < LONGER; ++at) {
        char start[80];
        uint64_t before, after;

        begin_input(in);
        snprintf(start, sizeof start, "%s: ESPL_ERR_UNSUPPORTED: ", in->call);
        ck_ok(espl_hash(w, ESPL_HASH_PHYSICAL, &before));
        ck_status(carry(in, in->own + LONGER, in->own + at, 0), ESPL_ERR_UNSUPPORTED);
        ck_ok(espl_hash(w, ESPL_HASH_PHYSICAL, &after));
        ck_assert_uint_eq(before, after);
        ck_assert_uint_eq(espl_command_buffer_count(commands), 0);
        ck_assert_uint_eq(t.lines, in->is_silent ? 0 : 1);
        if (!in->is_silent) {
            ck_assert_msg(strncmp(t.line, start, strlen(start)) == 0, "%s", t.line);
            ck_assert_ptr_nonnull(strstr(t.line, "later versions"));
        }
        t.lines = 0;
        end();
    }
}

TEST_LOOP(null_has_no_size, 0, INPUTS)
{
    const input *const in = &inputs[_i];
    espl_status with_own = ESPL_OK;

    for (size_t i = 0; i < 3; ++i) {
        begin();
        const espl_status status = in->carry(NULL, i == 0 ? in->own : i == 1 ? 0 : SIZE_MAX);
        with_own = i == 0 ? status : with_own;
        ck_assert_int_eq(status, with_own);
        ck_assert_int_ne(status, espl_executor_has_threads() ? ESPL_ERR_UNSUPPORTED : 1);
        t.lines = 0;
        end();
    }
}

// --- Structs that the library fills ---

typedef struct output {
    size_t own; // size in this version
    espl_status (*carry)(void *out, size_t size);
    bool is_optional; // NULL is allowed
} output;

#define CARRY_OUT(name, call)                               \
    static espl_status carry_##name(void *out, size_t size) \
    {                                                       \
        return call;                                        \
    }

static void record_write(void)
{
    ck_ok(espl_record_write(recorder, 0, root, ESPL_WRITE_LOCAL_POSITION, here));
}

static espl_status carry_play(void *out, size_t size)
{
    record_write();
    return espl_play_sized(w, commands, out, size);
}

static espl_status carry_sync(void *out, size_t size)
{
    record_write();
    ck_ok(espl_command_buffer_submit(commands));
    return espl_sync_sized(w, out, size);
}

static espl_status carry_stats(void *out, size_t size)
{
    espl_stats_sized(w, out, size);
    return ESPL_OK;
}

CARRY_OUT(info, espl_component_info_sized(w, ESPL_TRANSFORM, out, size))

static espl_status carry_batch(void *out, size_t size)
{
    const espl_write writes[] = {
        {root, ESPL_WRITE_LOCAL_POSITION, {.position = {1, 2, 3}}},
        {espl_entity_null(), ESPL_WRITE_LOCAL_POSITION, {.position = {1, 2, 3}}}};
    const espl_status status = espl_write_batch_sized(w, writes, 2, out, size);

    t.lines = 0; // of the entry that is refused
    return status;
}

CARRY_OUT(strided, espl_write_strided_sized(w, ESPL_WRITE_LOCAL_POSITION, &root, sizeof root, here,
                                            sizeof here, 1, out, size))

static espl_status carry_parallel_report(void *out, size_t size)
{
    const espl_parallel_def def = {.function = test_no_write};

    return espl_write_parallel_sized(w, &def, out, sizeof def, sizeof(espl_query_def), size);
}

// The root's local is the largest float, so that the worlds below overflow, and one field is not 0.
static espl_status carry_validate(void *out, size_t size)
{
    static const float far[3] = {3e38f, 0, 0};
    const bool is_written = espl_write_one(w, root, ESPL_WRITE_LOCAL_POSITION, far) >= 0 &&
                            espl_write_one(w, child, ESPL_WRITE_LOCAL_POSITION, far) >= 0;

    ck_assert(is_written);
    return espl_validate_sized(w, out, size) ? ESPL_OK : ESPL_ERR_EXISTS;
}

CARRY_OUT(view, espl_view_hierarchy_sized(w, root, out, size))

static const output outputs[] = {
    {sizeof(espl_report), carry_play, true},
    {sizeof(espl_report), carry_sync, true},
    {sizeof(espl_world_stats), carry_stats, false},
    {sizeof(espl_component_def), carry_info, false},
    {sizeof(espl_write_report), carry_batch, true},
    {sizeof(espl_write_report), carry_strided, true},
    {sizeof(espl_parallel_report), carry_parallel_report, true},
    {sizeof(espl_validation), carry_validate, true},
    {sizeof(espl_view), carry_view, false},
};
enum { OUTPUTS = sizeof outputs / sizeof *outputs };

// Pointers into the world differ from one world to the next: all sizes are of one world.
static void reuse(void)
{
    espl_command_buffer_reset(commands);
    t.lines = 0;
}

TEST_LOOP(a_struct_is_filled_as_far_as_the_caller_has_it, 0, OUTPUTS)
{
    const output *const out = &outputs[_i];
    _Alignas(max_align_t) unsigned char full[1024], again[1024];
    const unsigned char nothing[1024] = {0};

    begin();
    ck_assert_uint_le(out->own, sizeof full);
    ck_assert_int_ge(out->carry(full, out->own), 0); // later calls change no value
    reuse();
    memset(full, 0xaa, sizeof full);
    memset(again, 0x55, sizeof again);
    const espl_status status = out->carry(full, out->own);
    ck_assert_int_ge(status, 0);
    reuse();
    ck_assert_int_eq(out->carry(again, out->own), status);
    ck_assert_mem_ne(full, nothing, out->own);
    for (size_t size = 0; size <= out->own + LONGER; ++size) {
        const size_t both = size < out->own ? size : out->own;
        unsigned char *const block = malloc(size == 0 ? 1 : size);

        ck_assert_ptr_nonnull(block);
        memset(block, 0xaa, size);
        reuse();
        ck_assert_int_eq(out->carry(block, size), status);
        for (size_t i = 0; i < size; ++i) {
            // A byte that differs between two full structs counts something.
            if (i >= both) {
                ck_assert_uint_eq(block[i], 0);
            } else if (full[i] == again[i]) {
                ck_assert_uint_eq(block[i], full[i]);
            }
        }
        free(block);
    }
    told_demand_nothing(&t);
    end();
}

TEST_LOOP(nothing_past_the_size_is_written, 0, OUTPUTS)
{
    const output *const out = &outputs[_i];

    begin();
    for (size_t size = 0; size <= out->own + LONGER; ++size) {
        _Alignas(max_align_t) unsigned char block[1024];

        reuse();
        memset(block, 0xaa, sizeof block);
        ck_assert_int_ge(out->carry(block, size), 0);
        for (size_t i = size; i < sizeof block; ++i) {
            ck_assert_uint_eq(block[i], 0xaa);
        }
    }
    end();
}

TEST_LOOP(a_report_may_be_null_of_any_size, 0, OUTPUTS)
{
    const output *const out = &outputs[_i];

    for (size_t i = 0; out->is_optional && i < 3; ++i) {
        begin();
        ck_assert_int_ge(out->carry(NULL, i == 0 ? out->own : i == 1 ? 0 : SIZE_MAX), 0);
        told_demand_nothing(&t);
        end();
    }
}

// --- The inline forms ---

// They are functions: they have an address.
TEST(an_inline_form_is_a_function)
{
    espl_status (*const attach)(espl_world *, espl_entity, espl_entity,
                                const espl_attach_options *) = espl_attach;
    void (*const stats)(const espl_world *, espl_world_stats *) = espl_stats;
    espl_world_stats all;

    begin();
    ck_ok(attach(w, solo, child, NULL));
    stats(w, &all);
    ck_assert_uint_eq(all.members, 2);
    end();
}

// New fields begin behind the old ones: padding at the end, which a program leaves as it is, would be
// read as a field.
TEST(a_struct_that_is_read_has_no_padding_at_its_end)
{
#define ENDS(type, field) \
    ck_assert_uint_eq(sizeof(type), offsetof(type, field) + sizeof((const type *)NULL)->field)
    ENDS(espl_world_def, layout_budget);
    ENDS(espl_attach_options, inherit);
    ENDS(espl_instance_def, value_count);
    ENDS(espl_creation_def, inherit);
    ENDS(espl_custom_command_def, function);
    ENDS(espl_threads_def, idle);
    ENDS(espl_component_def, reference_count);
    ENDS(espl_reserve_def, side_of);
    ENDS(espl_query_def, site);
    ENDS(espl_parallel_def, site);
    ENDS(espl_subtree_arrays, worlds);
#undef ENDS
}
