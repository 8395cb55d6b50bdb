// SPDX-License-Identifier: MIT
// What a watch says, against a look at every entity before and after: presence, each transform that
// differs, own data, order, and what ESPL_WATCH_BEFORE keeps.
#ifndef ESPALIER_TESTS_WATCHING_H
#define ESPALIER_TESTS_WATCHING_H

#include "tests/support.h"

#include <espalier/watch.h>

/// What was seen of the entity of an index.
typedef struct test_seen {
    uint32_t generation; // 0: none that answers
    uint32_t living;     // of any entity at the index; 0: none
    uint32_t slot;
    uint32_t rank;    // among the siblings
    uint32_t inherit; // flags
    espl_entity parent;
    espl_transform world, local; // `world`: what the watch reports, shown or not
    espl_transform truth;        // the world, where a watch of shown transforms asks for worlds too
} test_seen;

enum { TEST_LOOKS = 3 }; // the last look, the one before it, and the present one

/// A watch, and what was seen when it was collected.
typedef struct test_watcher {
    espl_world *world;
    espl_watch *watch;
    uint32_t flags;
    espl_query_def filter; // with ESPL_TRANSFORM in `all`
    espl_component all[8];
    test_seen *seen[TEST_LOOKS];  // by index; [0] is the last look
    uint64_t moments[TEST_LOOKS]; // 0: there was none
    size_t capacity;
    uint64_t checks;   // entities compared
    uint64_t reported; // in `changed`
    uint64_t spare;    // of these: bit-equal
} test_watcher;

/// Create a watch. @param filter  NULL, or a query without `any`, with at most 7 in `all`.
void test_watcher_begin(test_watcher *watcher, espl_world *world, uint32_t flags,
                        const espl_query_def *filter);
/// Destroy it.
void test_watcher_end(test_watcher *watcher);
/// Collect and demand that the answer is right. @param changes  NULL, or what was collected.
void test_watcher_check(test_watcher *watcher, espl_changes *changes);
/// The same, looking back to the look before the last one, where there is one.
void test_watcher_look_back(test_watcher *watcher);

/// Every set of flags that a watch may have, those of shown transforms last.
enum { TEST_WATCH_FLAGS = 15, TEST_WATCH_FLAGS_UNSHOWN = 7 };
extern const uint32_t test_watch_flags[TEST_WATCH_FLAGS];
#endif
