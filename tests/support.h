// SPDX-License-Identifier: MIT
// Support for all tests: an allocator that counts, checks and fails on demand, worlds on top of it,
// executors that are legal but hostile, random numbers, and hashes of a world.
#ifndef ESPALIER_TESTS_SUPPORT_H
#define ESPALIER_TESTS_SUPPORT_H

#include "tests/asked.h"

#include <espalier/espalier.h>

#include <stdatomic.h>

/// Kinds of write that change the transform: all below it. The others set what motion blends from.
enum { TEST_KINDS = ESPL_WRITE_PREVIOUS_LOCAL_POSE };

/// The kind of a write without its flags.
static inline unsigned test_plain_kind(espl_write_kind kind)
{
    return (unsigned)kind & ~(unsigned)(ESPL_TELEPORT | ESPL_CARRY);
}

/// What an allocator under test may do that a program might come to depend on.
typedef enum test_blocks {
    TEST_BLOCKS_TIGHT,     // aligned to what was asked and no more, filled with 0xA5
    TEST_BLOCKS_SCATTERED, // the same, but each at one of several places, picked at random
    TEST_BLOCKS_NOISY,     // filled with bytes that differ from block to block
    TEST_BLOCKS_WIDE,      // aligned to a page, filled with zeros
    TEST_BLOCKS_KINDS
} test_blocks;

/// Allocator under test. Every block is laid out as `blocks` says, followed by a guard, and checked
/// against its size and alignment when it comes back. None is ever grown in place.
typedef struct test_heap {
    size_t bytes;       // outstanding
    size_t blocks;      // outstanding
    size_t calls;       // allocations asked for since the last test_heap_arm()
    size_t fail_at;     // this call fails, counted from 1; 0: none
    bool fails_after;   // so do all later ones
    size_t fails_again; // this later call fails as well; 0: none; test_heap_arm() clears it
    size_t failures;    // calls refused since the last test_heap_arm()
    size_t faults;      // wrong size, alignment or guard; two threads at once
    test_blocks blocks_kind;
    uint64_t random; // places and bytes
    atomic_flag is_busy;
} test_heap;

void test_heap_init(test_heap *heap);
/// Count calls from 1 again and let the given one fail; 0 means none.
void test_heap_arm(test_heap *heap, size_t fail_at, bool fails_after);
espl_allocator test_heap_allocator(test_heap *heap);

/// Traps that were heard instead of aborting, and the last log line.
typedef struct test_hooks {
    size_t traps;
    size_t lines;
    char last_line[1024];
    char last_trap[1024]; // its sentence
} test_hooks;

espl_hooks test_hooks_of(test_hooks *hooks);

/// A world with its heap and hooks; tests end it with test_world_end().
typedef struct test_world {
    test_heap heap;
    test_hooks hooks;
    espl_world *world;
} test_world;

/// @param executor  NULL means serial.
void test_world_begin(test_world *test, uint32_t tag, const espl_executor *executor);
/// Have the next of these worlds record itself.
void test_world_record(espl_tape tape);
/// Give the next of these worlds cells.
void test_world_cells(float size);
/// Give the next of these worlds blocks of another kind.
void test_world_take(test_blocks kind);
/// Let no allocation fail any more, validate, destroy, and demand that the heap ends at zero bytes
/// without a fault.
void test_world_end(test_world *test);
/// Fail the test with the broken rule unless every invariant holds.
void test_world_is_valid(const espl_world *world);
/// The same, and count the world transforms that are not finite.
size_t test_count_overflowed(const espl_world *world);

/// Make one solo with a placement.
espl_entity test_solo(espl_world *world);
/// Make so many, each with a placement. @param out  [count] their handles, or NULL.
void test_solos(espl_world *world, size_t count, espl_entity *out);
/// Make one solo with a placement at a position.
espl_entity test_solo_at(espl_world *world, float x, float y, float z);
/// Identity placement but for its position.
espl_transform test_at(float x, float y, float z);
/// World placement of a living entity.
espl_transform test_world_of(const espl_world *world, espl_entity entity);
espl_transform test_local_of(const espl_world *world, espl_entity entity);
/// Tell whether two placements are the same 48 bytes, but that any NaN is like any other.
bool test_same(const espl_transform *a, const espl_transform *b);

/// Tell whether statistics agree but for memory, which may stay reserved: bytes, chunks and slots.
bool test_same_stats(const espl_world_stats *a, const espl_world_stats *b);

/// The null entity.
extern const espl_entity test_null;
/// Options of an attach that keeps the local as it is.
extern const espl_attach_options test_keep_local;
/// Register a component without references.
espl_component test_component(espl_world *world, const char *name, size_t size, size_t alignment);
/// espl_reserve() of rows for entities with so many components.
espl_status test_reserve_rows(espl_world *world, const espl_component *components, size_t count,
                              size_t rows);
/// A new command buffer with so many lanes.
espl_command_buffer *test_commands(espl_world *world, uint32_t lanes);

/// Array of zeros, of `size` bytes an item, to be freed. It is not NULL for a count of 0 either.
void *test_array(size_t count, size_t size);

/// The release of an allocator whose blocks are of aligned_take().
void test_give_block(void *user, void *block, size_t size, size_t alignment);

/// Next number of a splitmix64 sequence.
uint64_t test_random(uint64_t *state);
/// Number in [0, bound); 0 for a bound of 0.
uint32_t test_below(uint64_t *state, uint32_t bound);
/// Tell true in one of `n` cases.
bool test_one_in(uint64_t *state, uint32_t n);
/// Float in [low, high).
float test_between(uint64_t *state, float low, float high);
/// Draw a vector of unit length, along fewer than three axes in many of the cases; now and then 0, 0, 0.
void test_direction(float out[3], uint64_t *state);

/// espl_hash(), which must succeed.
uint64_t test_physical_hash(const espl_world *world);
uint64_t test_logical_hash(const espl_world *world);
/// FNV-1a over bytes, continued from `hash`.
uint64_t test_hash_bytes(uint64_t hash, const void *bytes, size_t size);
/// The same over a transform, any NaN like any other.
uint64_t test_hash_transform(uint64_t hash, const espl_transform *transform);
#define TEST_HASH_START UINT64_C(0xcbf29ce484222325)

/// Legal executors with bad manners, and illegal ones.
typedef enum test_manner {
    TEST_IN_ORDER,
    TEST_REVERSED,
    TEST_SHUFFLED,
    TEST_SKIPS_ONE,   // illegal: one job never runs
    TEST_RUNS_TWICE,  // illegal
    TEST_OUT_OF_RANGE // illegal
} test_manner;

typedef struct test_executor {
    test_manner manner;
    uint32_t workers;
    uint64_t random;
    size_t calls;   // of parallel_for, with more than one job
    size_t decency; // how many of these are carried out by the rule before the first that is not
} test_executor;

espl_executor test_executor_of(test_executor *executor);

/// An espl_parallel_function that writes nothing.
void test_no_write(espl_writer *writer, const espl_query *rows, void *context);

// --- accounts.c ---

/// espl_play(); fails the test where the account does not add up: accepted == applied + refused,
/// all of them recorded, each refused for a reason, as the results of the commands say; a playback
/// that is refused has an empty one.
espl_status test_play(espl_world *world, espl_command_buffer *commands, espl_report *report);
/// espl_sync(), the same for the sum.
espl_status test_sync(espl_world *world, espl_report *report);
/// Fail the test unless an account adds up.
void test_account_is_whole(const espl_report *report);

// No test plays without: whoever calls them calls these. (espl_play)(...) is the bare function.
#define espl_play(world, commands, report) test_play((world), (commands), (report))
#define espl_sync(world, report) test_sync((world), (report))

// ---

/// How much a world of this build holds: --enable-shrunken leaves it very little.
typedef struct test_limits {
    size_t entities; // living at once, as long as none of their indices retired
    size_t lives;    // of one index; then it retires
    size_t rows;     // of a chunk, at most
} test_limits;

test_limits test_limits_of_build(void);
/// `count`, or as many entities as a new world holds with `others` beside them.
uint32_t test_fitting(size_t count, size_t others);
/// Tell whether a world that made so many entities may lack the indices to hold so many at once: a
/// test that goes on goes on in a new world.
bool test_is_worn(size_t made, size_t held);
/// Tell whether a test must be skipped because it is about more entities than a world of this build
/// holds, and say so in its output. Where a smaller test shows anything, that is to be run instead.
bool test_lacks_room(size_t entities, const char *subject);

/// Number in an environment variable, or `otherwise`.
uint64_t test_environment(const char *name, uint64_t otherwise);
/// How many times as long random runs are to be: the environment variable ESPL_FACTOR, else 1.
unsigned long test_factor(void);
/// Tell whether arrays of the build move at each reserve, which then takes memory.
bool test_moves_always(void);
/// How long a step takes in this build: what is left out where steps are slow, is left out by this,
/// by test_scaled() or by test_stride().
typedef enum test_pace {
    TEST_SWIFT,  // a plain build: everything is run
    TEST_SLOW,   // AddressSanitizer, and valgrind by ESPL_DIVISOR: about ten times as long
    TEST_SLOWEST // ThreadSanitizer: about twenty times as long
} test_pace;

test_pace test_pace_of_build(void);
/// Divide a count where every step is slow.
size_t test_scaled(size_t count);
/// The same for what runs on one thread, and so shows ThreadSanitizer little.
size_t test_scaled_alone(size_t count);
/// From each case of a long list, run on one thread, to the next one that is run: 1 where steps are
/// swift, else `stride`, its square under ThreadSanitizer. It is prime to the counts that make up
/// the list, so that each part of a case still meets many of the others.
uint32_t test_stride(uint32_t stride);
/// Say in the output of a suite how much of something it did, on a line that tests/figures.sh sums.
/// @param what  plural, without a blank at either end.
void test_tell_figure(uint64_t count, const char *what);

#endif
