// SPDX-License-Identifier: MIT
// The fixture of suites about histories: a small world with one.
#ifndef ESPALIER_TESTS_VALUE_ONE_HISTORY_H
#define ESPALIER_TESTS_VALUE_ONE_HISTORY_H

#include "tests/fixture.h"
#include "tests/runner.h"

#include <espalier/history.h>

static test_world test;
static espl_world *w;
static espl_history *h;
static espl_component number, passing; // 8 bytes each, the second one transient
static espl_entity nodes[4];           // a root with two children, and a solo with a number

static const espl_history_def usual = {
    .frames = 16, .flags = ESPL_HISTORY_HASH, .byte_limit = 1 << 20};

static inline void begin_with(const espl_history_def *def)
{
    test_world_begin(&test, 1, NULL);
    w = test.world;
    number = test_component(w, "number", 8, 8);
    ck_ok(espl_component_register(
        w,
        &(espl_component_def){
            .name = "passing", .size = 8, .alignment = 8, .flags = ESPL_COMPONENT_TRANSIENT},
        &passing));
    for (int i = 0; i < 4; ++i) {
        const espl_transform at = test_at((float)i, 1, 2);

        ck_ok(espl_create_node(w, i == 0 || i == 3 ? test_null : nodes[0], &at, NULL, &nodes[i]));
    }
    ck_ok(espl_add_component(w, nodes[3], number, &(uint64_t){7}, 8));
    ck_ok(espl_history_create(w, def, &h));
}

static inline void begin(void)
{
    begin_with(&usual);
}

static inline void end(void)
{
    espl_history_destroy(h);
    test_world_end(&test);
}

static inline void move(float x)
{
    ck_ok(espl_set_local_position(w, nodes[1], (float[3]){x, 0, 0}));
}

static inline float place(void)
{
    return test_local_of(w, nodes[1]).position[0];
}

static inline void demand_range(uint64_t oldest, uint64_t newest)
{
    uint64_t first = 0, last = 0;

    ck_assert(espl_history_range(h, &first, &last));
    ck_assert_uint_eq(first, oldest);
    ck_assert_uint_eq(last, newest);
}

static inline void demand_no_frame(void)
{
    uint64_t first = 77, last = 78;

    ck_assert(!espl_history_range(h, &first, &last));
    ck_assert(first == 77 && last == 78);
}

static inline uint64_t hash_of(uint64_t frame)
{
    uint64_t out = 0;

    ck_ok(espl_history_hash(h, frame, &out));
    return out;
}

#endif
