// SPDX-License-Identifier: MIT
// A world with a few components and a command buffer, and functions that read and hash its values.
#ifndef ESPALIER_TESTS_COMMANDS_PARTS_H
#define ESPALIER_TESTS_COMMANDS_PARTS_H

#include "tests/runner.h"
#include "tests/support.h"

#include <string.h>

// Lanes of the commands, and tags for sets that are full.
enum { PARTS_LANES = 2, PARTS_TAGS = ESPL_SET_LIMIT };

typedef struct parts {
    test_world test;
    espl_world *world;
    espl_component word, pair, mark; // 4 and 8 bytes, a tag
    espl_component tags[PARTS_TAGS];
    espl_command_buffer *commands;
    espl_recorder *lane, *next; // the first and the second
    espl_report report;
} parts;

static parts p;

static void set_up(void)
{
    memset(&p, 0, sizeof p);
    test_world_begin(&p.test, 5, NULL);
    p.world = p.test.world;
    p.word = test_component(p.world, "word", 4, 4);
    p.pair = test_component(p.world, "pair", 8, 4);
    p.mark = test_component(p.world, "mark", 0, 0);
    for (uint32_t i = 0; i < PARTS_TAGS; ++i) {
        const char name[] = {'t', (char)('a' + i / 10), (char)('0' + i % 10), '\0'};

        p.tags[i] = test_component(p.world, name, 0, 0);
    }
    ck_ok(espl_command_buffer_create(p.world, PARTS_LANES, &p.commands));
    p.lane = espl_command_buffer_recorder(p.commands, 0);
    p.next = espl_command_buffer_recorder(p.commands, 1);
}

static void tear_down(void)
{
    espl_command_buffer_destroy(p.commands);
    test_world_end(&p.test);
}

// Play and check every invariant.
static inline void parts_play(void)
{
    ck_ok(espl_play(p.world, p.commands, &p.report));
    test_world_is_valid(p.world);
}

static inline espl_status parts_result(uint32_t index)
{
    return espl_command_buffer_result(p.commands, 0, index);
}

static inline espl_entity parts_resolved(espl_entity pending)
{
    espl_entity out = {0};

    ck_ok(espl_command_buffer_resolve(p.commands, pending, &out));
    return out;
}

static inline espl_entity parts_bare(void)
{
    espl_entity out = {0};

    ck_ok(espl_create(p.world, NULL, 0, 1, &out));
    return out;
}

static inline uint32_t word_of(espl_entity entity)
{
    uint32_t out = 0;

    ck_ok(espl_get_component(p.world, entity, p.word, &out, sizeof out));
    return out;
}

static inline void give_word(espl_entity entity, uint32_t value)
{
    ck_ok(espl_add_component(p.world, entity, p.word, &value, sizeof value));
}

static inline void hang(espl_entity child, espl_entity parent, espl_link link)
{
    const espl_attach_options options = {.link = link};

    ck_ok(espl_attach(p.world, child, parent, &options));
}

#endif
