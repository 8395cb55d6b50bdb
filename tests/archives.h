// SPDX-License-Identifier: MIT
// Archives of worlds under test.
#ifndef ESPALIER_TESTS_ARCHIVES_H
#define ESPALIER_TESTS_ARCHIVES_H

#include "tests/support.h"

typedef struct test_archive {
    unsigned char *bytes;
    size_t size, room;
} test_archive;

/// A sink that appends to a test_archive.
espl_sink test_archive_sink(test_archive *archive);
/// Write an archive, which must succeed. @param def  NULL: all of the world.
test_archive test_archive_of(const espl_world *world, const espl_archive_def *def);
void test_archive_end(test_archive *archive);
/// Read an archive, which must not be refused, and validate the world. @param def  NULL means {0}.
espl_status test_archive_read(espl_world *world, const test_archive *from,
                              const espl_archive_read_def *def);

/// Write a delta, which must succeed.
test_archive test_delta_of(const test_archive *before, const test_archive *after);
/// Carry a delta out. @param out  what a sink got
espl_status test_patch(const test_archive *before, const test_archive *delta, test_archive *out,
                       espl_format_fault *fault);

// --- A world that changes ---

enum { TEST_HERD = 40 };

/// Hierarchies with something of everything, which change at random.
typedef struct test_herd {
    test_world test;
    espl_world *world;
    uint64_t random;
    espl_component tag, link;
    espl_entity nodes[TEST_HERD]; // some died
} test_herd;

void test_herd_begin(test_herd *herd, uint64_t seed);
void test_herd_end(test_herd *herd);
/// Register the components of such a world in another one.
void test_herd_register(espl_world *world);
/// Move all nodes a little, as animation does.
void test_herd_animate(test_herd *herd);
/// Change something.
void test_herd_change(test_herd *herd);

// --- Two worlds: one that is written, and one that reads ---

typedef struct test_pair {
    test_world from, to;
    espl_world *a, *b; // of them
} test_pair;

void test_pair_begin(test_pair *pair);
void test_pair_end(test_pair *pair);
/// Create a node somewhere. @param name  or NULL
espl_entity test_pair_node(espl_world *world, espl_entity parent, float x, const char *name);

/// A component with references.
typedef struct test_link {
    espl_entity to;
    uint32_t number;
    espl_entity other;
} test_link;

espl_component test_link_component(espl_world *world, const char *name, uint32_t flags);

#endif
