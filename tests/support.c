// SPDX-License-Identifier: MIT
// What the tests share. It sees the public headers only.
#include "tests/asked.h"
#include "tests/support.h"

#include "tests/asserts.h"
#include "tools/aligned.h"

#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- The allocator under test ---

enum { GUARD_SIZE = 16, FRESH = 0xA5, STALE = 0xDD, GUARD = 0x5C, PAGE = 4096, PLACES = 4 };

// Stands right before each block.
typedef struct block_header {
    void *base; // what malloc returned
    size_t size, alignment;
} block_header;

void test_heap_init(test_heap *heap)
{
    memset(heap, 0, sizeof *heap);
    atomic_flag_clear(&heap->is_busy);
}

void test_heap_arm(test_heap *heap, size_t fail_at, bool fails_after)
{
    heap->calls = 0;
    heap->failures = 0;
    heap->fail_at = fail_at;
    heap->fails_after = fails_after;
    heap->fails_again = 0;
}

static void heap_enter(test_heap *heap)
{
    if (atomic_flag_test_and_set(&heap->is_busy)) {
        heap->faults += 1;
    }
}

static void heap_leave(test_heap *heap)
{
    atomic_flag_clear(&heap->is_busy);
}

static bool heap_fails_now(test_heap *heap)
{
    heap->calls += 1;
    if (heap->fail_at == 0 || heap->calls < heap->fail_at) {
        return false;
    }
    return heap->fails_after || heap->calls == heap->fail_at || heap->calls == heap->fails_again;
}

static block_header header_of(const void *block)
{
    block_header header;
    memcpy(&header, (const unsigned char *)block - sizeof header, sizeof header);
    return header;
}

// Room for a block with what stands around it. Scattered, it is one of several that are free.
static unsigned char *heap_place(test_heap *heap, size_t size, size_t alignment)
{
    const bool is_wide = heap->blocks_kind == TEST_BLOCKS_WIDE;
    const size_t room = sizeof(block_header) + (is_wide ? PAGE : 2 * alignment) + size + GUARD_SIZE;
    const uint32_t places = heap->blocks_kind == TEST_BLOCKS_SCATTERED ? PLACES : 1;
    const uint32_t taken = test_below(&heap->random, places);
    unsigned char *place[PLACES];

    for (uint32_t i = 0; i < places; ++i) {
        place[i] = malloc(room + 64 * (size_t)i);
    }
    for (uint32_t i = 0; i < places; ++i) {
        if (i != taken) {
            free(place[i]);
        }
    }
    return place[taken];
}

// Where a block begins in its room: at an odd multiple of the alignment, so that one that needs more
// than it asked for is found out, or at a page.
static size_t heap_offset(const test_heap *heap, const unsigned char *base, size_t alignment)
{
    const bool is_wide = heap->blocks_kind == TEST_BLOCKS_WIDE;
    const size_t step = is_wide ? PAGE : 2 * alignment;
    const uintptr_t first = (uintptr_t)base + sizeof(block_header);
    const uintptr_t past = (first + (is_wide ? 0 : alignment)) % step;

    return sizeof(block_header) + (past != 0 ? step - past : 0);
}

static void heap_fill(test_heap *heap, unsigned char *block, size_t size)
{
    if (heap->blocks_kind == TEST_BLOCKS_NOISY) {
        const uint64_t start = test_random(&heap->random);

        for (size_t i = 0; i < size; ++i) {
            block[i] = (unsigned char)(start >> (i % 8 * 8)) ^ (unsigned char)i;
        }
        return;
    }
    memset(block, heap->blocks_kind == TEST_BLOCKS_WIDE ? 0 : FRESH, size);
}

static void *heap_allocate(void *user, size_t size, size_t alignment)
{
    test_heap *const heap = user;

    heap_enter(heap);
    if (size == 0 || alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > 4096) {
        heap->faults += 1;
    }
    if (heap_fails_now(heap)) {
        heap->failures += 1;
        heap_leave(heap);
        return NULL;
    }

    unsigned char *const base = heap_place(heap, size, alignment);
    if (base == NULL) {
        heap_leave(heap);
        return NULL;
    }
    unsigned char *const block = base + heap_offset(heap, base, alignment);
    const block_header header = {base, size, alignment};

    memcpy(block - sizeof header, &header, sizeof header);
    heap_fill(heap, block, size);
    memset(block + size, GUARD, GUARD_SIZE);
    heap->bytes += size;
    heap->blocks += 1;
    heap_leave(heap);
    return block;
}

static void heap_release(void *user, void *block, size_t size, size_t alignment)
{
    test_heap *const heap = user;
    const block_header header = header_of(block);
    unsigned char guard[GUARD_SIZE];

    heap_enter(heap);
    memset(guard, GUARD, sizeof guard);
    if (header.size != size || header.alignment != alignment ||
        memcmp((unsigned char *)block + header.size, guard, sizeof guard) != 0) {
        heap->faults += 1;
    }
    heap->bytes -= header.size;
    heap->blocks -= 1;
    memset(block, STALE, header.size);
    free(header.base);
    heap_leave(heap);
}

espl_allocator test_heap_allocator(test_heap *heap)
{
    return (espl_allocator){heap, heap_allocate, heap_release};
}

// --- Hooks and worlds ---

static void hear_line(void *user, espl_log_level level, const char *message)
{
    test_hooks *const hooks = user;
    (void)level;
    hooks->lines += 1;
    snprintf(hooks->last_line, sizeof hooks->last_line, "%s", message);
}

static void hear_trap(void *user, const char *file, int line, const char *condition)
{
    test_hooks *const hooks = user;
    hooks->traps += 1;
    snprintf(hooks->last_line, sizeof hooks->last_line, "%s:%d: %s", file, line, condition);
    snprintf(hooks->last_trap, sizeof hooks->last_trap, "%s", condition);
}

espl_hooks test_hooks_of(test_hooks *hooks)
{
    return (espl_hooks){.user = hooks, .log = hear_line, .trap = hear_trap};
}

static espl_tape next_tape;
static test_blocks next_blocks;
static float next_cells;

void test_world_record(espl_tape tape)
{
    next_tape = tape;
}

void test_world_cells(float size)
{
    next_cells = size;
}

void test_world_take(test_blocks kind)
{
    next_blocks = kind;
}

void test_world_begin(test_world *test, uint32_t tag, const espl_executor *executor)
{
    test_heap_init(&test->heap);
    test->heap.blocks_kind = next_blocks;
    next_blocks = TEST_BLOCKS_TIGHT;
    memset(&test->hooks, 0, sizeof test->hooks);
    test->world = NULL;

    espl_world_def def = {.allocator = test_heap_allocator(&test->heap),
                          .hooks = test_hooks_of(&test->hooks),
                          .tag = tag,
                          .tape = next_tape,
                          .cell_size = next_cells};
    next_tape = (espl_tape){NULL, NULL};
    next_cells = 0;
    if (executor != NULL) {
        def.executor = *executor;
    }
    ck_ok(espl_world_create(&def, &test->world));
    ck_assert_ptr_nonnull(test->world);
}

void test_world_end(test_world *test)
{
    test_heap_arm(&test->heap, 0, false);
    test_world_is_valid(test->world);
    espl_world_destroy(test->world);
    ck_assert_uint_eq(test->heap.bytes, 0);
    ck_assert_uint_eq(test->heap.blocks, 0);
    ck_assert_uint_eq(test->heap.faults, 0);
}

size_t test_count_overflowed(const espl_world *world)
{
    espl_validation report = {0};

    if (!espl_validate(world, &report)) {
        ck_abort_msg("%s (entity %u.%x, detail %zu)", report.rule, report.entity.index,
                     report.entity.generation, report.detail);
    }
    ck_assert_ptr_null(report.rule);
    return report.overflowed;
}

void test_world_is_valid(const espl_world *world)
{
    (void)test_count_overflowed(world);
}

void test_solos(espl_world *world, size_t count, espl_entity *out)
{
    const espl_component placement = ESPL_TRANSFORM;

    ck_ok(espl_create(world, &placement, 1, count, out));
}

espl_entity test_solo(espl_world *world)
{
    espl_entity entity = {0};

    test_solos(world, 1, &entity);
    return entity;
}

espl_entity test_solo_at(espl_world *world, float x, float y, float z)
{
    const espl_entity entity = test_solo(world);
    const espl_transform value = test_at(x, y, z);

    ck_ok(espl_set_local_transform(world, entity, &value));
    return entity;
}

espl_transform test_at(float x, float y, float z)
{
    espl_transform value = espl_transform_identity();
    value.position[0] = x;
    value.position[1] = y;
    value.position[2] = z;
    return value;
}

espl_transform test_world_of(const espl_world *world, espl_entity entity)
{
    espl_transform out = {0};
    ck_ok(espl_get_world_transform(world, entity, &out));
    return out;
}

espl_transform test_local_of(const espl_world *world, espl_entity entity)
{
    espl_transform out = {0};
    ck_ok(espl_get_local_transform(world, entity, &out));
    return out;
}

static bool are_same(const float *a, const float *b, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (memcmp(&a[i], &b[i], sizeof *a) != 0 && !(isnan(a[i]) && isnan(b[i]))) {
            return false;
        }
    }
    return true;
}

bool test_same(const espl_transform *a, const espl_transform *b)
{
    return are_same(a->rotation, b->rotation, 4) && are_same(a->position, b->position, 3) &&
           are_same(&a->scale, &b->scale, 1) && are_same(a->stretch, b->stretch, 3) &&
           a->user_data == b->user_data;
}

// --- Memory ---

const espl_entity test_null = {0, 0};
const espl_attach_options test_keep_local = {
    .position = ESPL_KEEP_LOCAL, .rotation = ESPL_KEEP_LOCAL, .scale = ESPL_KEEP_LOCAL};

espl_component test_component(espl_world *world, const char *name, size_t size, size_t alignment)
{
    const espl_component_def def = {.name = name, .size = size, .alignment = alignment};
    espl_component out = 0;

    ck_ok(espl_component_register(world, &def, &out));
    return out;
}

espl_status test_reserve_rows(espl_world *world, const espl_component *components, size_t count,
                              size_t rows)
{
    const espl_reserve_def def = {.components = components, .component_count = count, .rows = rows};

    return espl_reserve(world, &def);
}

espl_command_buffer *test_commands(espl_world *world, uint32_t lanes)
{
    espl_command_buffer *commands = NULL;

    ck_ok(espl_command_buffer_create(world, lanes, &commands));
    return commands;
}

void *test_array(size_t count, size_t size)
{
    void *const block = calloc(count + 1, size);

    ck_assert_ptr_nonnull(block);
    return block;
}

void test_give_block(void *user, void *block, size_t size, size_t alignment)
{
    (void)user;
    (void)size;
    (void)alignment;
    aligned_give(block);
}

// --- Random numbers ---

uint64_t test_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint32_t test_below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)(((test_random(state) >> 32) * bound) >> 32);
}

bool test_one_in(uint64_t *state, uint32_t n)
{
    return test_below(state, n) == 0;
}

float test_between(uint64_t *state, float low, float high)
{
    const float unit = (float)(test_random(state) >> 40) * 0x1p-24f;
    return low + unit * (high - low);
}

void test_direction(float out[3], uint64_t *state)
{
    double squares = 0;

    for (int k = 0; k < 3; ++k) {
        out[k] = test_one_in(state, 4) ? 0 : test_between(state, -1, 1);
        squares += (double)out[k] * (double)out[k];
    }
    for (int k = 0; k < 3 && squares > 0; ++k) {
        out[k] = (float)((double)out[k] / sqrt(squares));
    }
}

// --- Hashes ---

uint64_t test_hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *const byte = bytes;
    for (size_t i = 0; i < size; ++i) {
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

uint64_t test_hash_transform(uint64_t hash, const espl_transform *transform)
{
    float values[sizeof(espl_transform) / sizeof(float)];

    memcpy(values, transform, sizeof values);
    // The last one is the context, whose bits are no number.
    for (size_t i = 0; i + 1 < sizeof values / sizeof *values; ++i) {
        values[i] = isnan(values[i]) ? NAN : values[i];
    }
    return test_hash_bytes(hash, values, sizeof values);
}

uint64_t test_physical_hash(const espl_world *world)
{
    uint64_t hash = 0;

    ck_ok(espl_hash(world, ESPL_HASH_PHYSICAL, &hash));
    return hash;
}

uint64_t test_logical_hash(const espl_world *world)
{
    uint64_t hash = 0;

    ck_ok(espl_hash(world, ESPL_HASH_LOGICAL, &hash));
    return hash;
}

// --- Executors ---

static void run_in_order(espl_job function, void *argument, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        function(argument, i);
    }
}

static void run_shuffled(uint64_t *random, espl_job function, void *argument, size_t count)
{
    size_t *const order = malloc(count * sizeof *order);
    ck_assert_ptr_nonnull(order);
    for (size_t i = 0; i < count; ++i) {
        const size_t at = test_below(random, (uint32_t)(i + 1));
        order[i] = order[at];
        order[at] = i;
    }
    for (size_t i = 0; i < count; ++i) {
        function(argument, order[i]);
    }
    free(order);
}

static void run_hostile(void *context, espl_job function, void *argument, size_t count)
{
    test_executor *const executor = context;

    executor->calls += count > 1;
    const bool is_decent = executor->decency != 0 && executor->calls <= executor->decency;

    if (count == 0) {
        return;
    }
    switch (executor->manner) {
    case TEST_IN_ORDER:
        run_in_order(function, argument, count);
        break;
    case TEST_REVERSED:
        for (size_t i = count; i-- > 0;) {
            function(argument, i);
        }
        break;
    case TEST_SHUFFLED:
        run_shuffled(&executor->random, function, argument, count);
        break;
    case TEST_SKIPS_ONE:
        run_in_order(function, argument, executor->calls > executor->decency ? count - 1 : count);
        break;
    case TEST_RUNS_TWICE:
        run_in_order(function, argument, count);
        if (!is_decent) {
            function(argument, count / 2);
        }
        break;
    case TEST_OUT_OF_RANGE:
        run_in_order(function, argument, count);
        if (!is_decent) {
            function(argument, count + 3);
        }
        break;
    }
}

espl_executor test_executor_of(test_executor *executor)
{
    return (espl_executor){executor, executor->workers, run_hostile};
}

void test_no_write(espl_writer *writer, const espl_query *rows, void *context)
{
    (void)writer;
    (void)rows;
    (void)context;
}

// --- Limits ---

// As lib/store/store.h has them; tests/store/store_test.c compares.
test_limits test_limits_of_build(void)
{
#ifdef ESPL_SHRUNKEN
    return (test_limits){.entities = 1 << 6, .lives = (1 << 4) - 1, .rows = 3};
#else
    return (test_limits){.entities = (size_t)1 << 31, .lives = ((size_t)1 << 24) - 1, .rows = 128};
#endif
}

uint32_t test_fitting(size_t count, size_t others)
{
    const size_t limit = test_limits_of_build().entities;

    ck_assert_uint_lt(others, limit);
    return (uint32_t)(count < limit - others ? count : limit - others);
}

bool test_is_worn(size_t made, size_t held)
{
    const test_limits limits = test_limits_of_build();

    // At most so many indices retired, whichever were taken.
    return made / limits.lives + held > limits.entities;
}

bool test_lacks_room(size_t entities, const char *subject)
{
    const size_t limit = test_limits_of_build().entities;

    if (entities <= limit) {
        return false;
    }
    printf("# skipped: a world of this build holds %zu entities, of the %zu for %s\n", limit,
           entities, subject);
    fflush(stdout);
    return true;
}

// --- Surroundings ---

uint64_t test_environment(const char *name, uint64_t otherwise)
{
    const char *const text = getenv(name);
    return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 0) : otherwise;
}

#if defined(__SANITIZE_ADDRESS__)
#define PACE TEST_SLOW
#elif defined(__SANITIZE_THREAD__)
#define PACE TEST_SLOWEST
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PACE TEST_SLOW
#elif __has_feature(thread_sanitizer)
#define PACE TEST_SLOWEST
#endif
#endif
#ifndef PACE
#define PACE TEST_SWIFT
#endif

unsigned long test_factor(void)
{
    const uint64_t factor = test_environment("ESPL_FACTOR", 1);

    return factor == 0 ? 1 : (unsigned long)factor;
}

// Appending one by one is quadratic there, so large counts are cut further.
#ifdef ESPL_HARD_MOVE
#define ARRAYS_ALWAYS_MOVE 1
#else
#define ARRAYS_ALWAYS_MOVE 0
#endif

bool test_moves_always(void)
{
    return ARRAYS_ALWAYS_MOVE != 0;
}

static size_t divisor_of_build(void)
{
    return (size_t)test_environment("ESPL_DIVISOR", PACE == TEST_SWIFT ? 1 : 10);
}

test_pace test_pace_of_build(void)
{
    if (PACE != TEST_SWIFT) {
        return PACE;
    }
    return divisor_of_build() > 1 ? TEST_SLOW : TEST_SWIFT;
}

size_t test_scaled(size_t count)
{
    const size_t divisor = divisor_of_build() * (ARRAYS_ALWAYS_MOVE && count >= 50000 ? 50 : 1);
    return divisor > 1 ? count / divisor + 1 : count;
}

size_t test_scaled_alone(size_t count)
{
    return PACE == TEST_SLOWEST ? test_scaled(count) / 5 + 1 : test_scaled(count);
}

uint32_t test_stride(uint32_t stride)
{
    const uint32_t strides[] = {
        [TEST_SWIFT] = 1, [TEST_SLOW] = stride, [TEST_SLOWEST] = stride * stride};

    return strides[test_pace_of_build()];
}

void test_tell_figure(uint64_t count, const char *what)
{
    printf("# figure: %llu %s\n", (unsigned long long)count, what);
    fflush(stdout);
}

// --- Statistics ---

static espl_world_stats without_memory(const espl_world_stats *stats)
{
    espl_world_stats s = *stats;

    s.chunks = s.spare_chunks = s.row_capacity = s.slots = s.free_slots = 0;
    s.bytes = s.bytes_store = s.bytes_tree = s.bytes_commands = s.bytes_names = s.bytes_changes = 0;
    return s;
}

bool test_same_stats(const espl_world_stats *a, const espl_world_stats *b)
{
    const espl_world_stats x = without_memory(a), y = without_memory(b);

    return memcmp(&x, &y, sizeof x) == 0;
}
