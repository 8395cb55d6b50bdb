// SPDX-License-Identifier: MIT
// A world of entities that refer to each other through components, to be cloned.
#ifndef ESPALIER_TESTS_COMMANDS_LINKED_H
#define ESPALIER_TESTS_COMMANDS_LINKED_H

#include "tests/asserts.h"
#include "tests/support.h"

#include <string.h>

// Three references at odd addresses, and a byte of ordinary data on either side of each.
enum { LINKS = 3, LINKS_SIZE = 28 };

static const uint32_t link_offsets[LINKS] = {1, 10, 19};

typedef struct scene {
    test_world test;
    espl_world *world;
    espl_component links, target, data, mark;
    espl_command_buffer *commands;
    espl_recorder *lane;
    espl_report report;
} scene;

static scene s;

static inline espl_component register_one(espl_world *world, const espl_component_def *def)
{
    espl_component out = 0;

    ck_ok(espl_component_register(world, def, &out));
    return out;
}

static void set_up(void)
{
    static const uint32_t first[1] = {0};

    memset(&s, 0, sizeof s);
    test_world_begin(&s.test, 5, NULL);
    s.world = s.test.world;
    s.links =
        register_one(s.world, &(espl_component_def){"links", LINKS_SIZE, 1, link_offsets, LINKS});
    s.data = register_one(s.world, &(espl_component_def){"data", 8, 8, NULL, 0});
    s.target = register_one(s.world, &(espl_component_def){"target", 8, 4, first, 1});
    s.mark = register_one(s.world, &(espl_component_def){"mark", 0, 1, NULL, 0});
    ck_ok(espl_command_buffer_create(s.world, 1, &s.commands));
    s.lane = espl_command_buffer_recorder(s.commands, 0);
}

static void tear_down(void)
{
    espl_command_buffer_destroy(s.commands);
    test_world_end(&s.test);
}

static inline void play(void)
{
    ck_ok(espl_play(s.world, s.commands, &s.report));
    ck_assert_uint_eq(s.report.refused, 0);
    test_world_is_valid(s.world);
}

static inline espl_entity resolved(espl_entity pending)
{
    espl_entity out = {0};

    ck_ok(espl_command_buffer_resolve(s.commands, pending, &out));
    return out;
}

// --- Entities with references ---

static inline espl_entity make(void)
{
    const espl_component set[] = {ESPL_TRANSFORM, s.links, s.data, s.target};
    espl_entity entity = {0};

    ck_ok(espl_create(s.world, set, 4, 1, &entity));
    return entity;
}

static inline espl_entity make_below(espl_entity parent, espl_link link)
{
    const espl_entity entity = make();

    ck_ok(espl_attach(s.world, entity, parent, &(espl_attach_options){.link = link}));
    return entity;
}

static inline void pack_links(unsigned char *bytes, const espl_entity *named)
{
    memset(bytes, 0x5a, LINKS_SIZE);
    for (int i = 0; i < LINKS; ++i) {
        memcpy(bytes + link_offsets[i], &named[i], sizeof named[i]);
    }
}

static inline void set_links(espl_entity entity, espl_entity a, espl_entity b, espl_entity c)
{
    const espl_entity named[LINKS] = {a, b, c};
    unsigned char bytes[LINKS_SIZE];

    pack_links(bytes, named);
    ck_ok(espl_set_component(s.world, entity, s.links, bytes, LINKS_SIZE));
}

static inline void set_target(espl_entity entity, espl_entity named)
{
    ck_ok(espl_set_component(s.world, entity, s.target, &named, sizeof named));
}

static inline espl_entity link_of(espl_entity entity, int i)
{
    unsigned char bytes[LINKS_SIZE];
    espl_entity named;

    ck_ok(espl_get_component(s.world, entity, s.links, bytes, LINKS_SIZE));
    ck_assert(bytes[0] == bytes[9] && bytes[9] == bytes[18] && bytes[18] == bytes[27]);
    memcpy(&named, bytes + link_offsets[i], sizeof named);
    return named;
}

static inline espl_entity target_of(espl_entity entity)
{
    espl_entity named = {0};

    ck_ok(espl_get_component(s.world, entity, s.target, &named, sizeof named));
    return named;
}

static inline void ck_names(espl_entity named, espl_entity wanted)
{
    ck_assert_msg(espl_entity_equal(named, wanted), "names %u/%x, not %u/%x", named.index,
                  named.generation, wanted.index, wanted.generation);
}

static inline espl_entity child(espl_entity parent, size_t n)
{
    espl_entity at = espl_get_first_child(s.world, parent);

    for (; n > 0; --n) {
        at = espl_get_next_sibling(s.world, at);
    }
    ck_assert(!espl_entity_is_null(at));
    return at;
}

static inline espl_entity clone(espl_entity source)
{
    espl_entity out = {0};

    ck_ok(espl_instantiate(s.world, source, 1, &out));
    test_world_is_valid(s.world);
    return out;
}

static const espl_entity nobody = {0, 0};

#endif
