// SPDX-License-Identifier: MIT
// The world of refused_test.c, which owes a layout, and the refused calls that would change
// structure: one function for each exported one, which makes its `way`-th refused call, or answers
// END.
#ifndef ESPALIER_TESTS_WORLD_REFUSALS_H
#define ESPALIER_TESTS_WORLD_REFUSALS_H

#include "tests/checks.h"
#include "tests/inside.h"
#include "tests/misuse.h"
#include "tests/runner.h"

#include <espalier/motion.h>
#include <espalier/writers.h>

#include <math.h>
#include <string.h>

enum {
    NODES = 40,   // of the hierarchy that owes a layout
    WRITES = 800, // until it does
    BAD = MISUSE_HANDLES
};

// No status: a row has no more ways.
#define END ((espl_status)99)

static misuse m;
static espl_world *w;
static espl_entity node[NODES];
static misuse_handle bad[BAD];
static espl_recorder *recorder;
static espl_command_buffer *played;
static espl_custom_command ignored;
static const espl_query_def strange = {.include = 64};
static const float one[4] = {1, 0, 0, 0}, nan3[4] = {NAN, NAN, NAN, NAN};

static void ignore(void *user, const espl_custom_calls *calls)
{
    (void)user;
    (void)calls;
}

// A tree without order, whose inner nodes are written until the next structural call would lay it out.
static void make_debt(void)
{
    test_solos(w, NODES, node);
    for (int i = 1; i < NODES; ++i) {
        ck_ok(espl_attach(w, node[i], node[i / 4], NULL));
    }
    for (int i = NODES - 1; i > NODES / 4; i -= 2) {
        ck_ok(espl_attach(w, node[i], node[1 + i % 5], NULL));
    }
    for (int i = 0; i < WRITES; ++i) {
        ck_ok(espl_write_one(w, node[1 + i % 3], ESPL_WRITE_TRANSLATE_IN_PARENT, one));
    }
    ck_assert(test_owes_layout(w, node[0]));
}

static void set_up(void)
{
    misuse_begin(&m, NULL);
    w = m.world;
    misuse_handles(&m, bad);
    recorder = espl_command_buffer_recorder(m.commands, 1);
    played = test_commands(w, 1);
    ck_ok(espl_play(w, played, NULL));
    ck_ok(espl_command_register(
        w, &(espl_custom_command_def){.name = "ignored", .function = ignore}, &ignored));
    make_debt();
    misuse_forget_lines(&m);
}

static void tear_down(void)
{
    ck_assert(test_owes_layout(w, node[0]));
    espl_command_buffer_destroy(played);
    misuse_end(&m);
}

// --- Rows: the `way`-th refused call of a function, or END ---

// A call that returns nothing, or no status.
#define SILENT(call) ((call), ESPL_ERR_ARGUMENT)

static espl_status attach(int way)
{
    static const espl_attach_options options[] = {
        {.position = (espl_keep)77}, {.rotation = (espl_keep)77}, {.scale = (espl_keep)77},
        {.link = (espl_link)77},     {.inherit = UINT32_MAX},     {.before = {1, 1}},
    };
    enum { OPTIONS = sizeof options / sizeof *options };
    const espl_attach_options elsewhere = {.before = m.solo};

    if (way < BAD) {
        return espl_attach(w, bad[way].entity, node[0], NULL);
    }
    if (way < 2 * BAD) {
        return espl_attach(w, node[5], bad[way - BAD].entity, NULL);
    }
    if (way < 2 * BAD + OPTIONS) {
        return espl_attach(w, node[5], node[0], &options[way - 2 * BAD]);
    }
    switch (way - 2 * BAD - OPTIONS) {
    case 0:
        return espl_attach(w, node[0], node[0], NULL);
    case 1:
        return espl_attach(w, node[0], node[NODES - 1], NULL);
    case 2:
        return espl_attach(w, node[9], node[0], &elsewhere);
    default:
        return END;
    }
}

static espl_status attach_many(int way)
{
    const espl_entity children[3] = {m.solo, way < BAD ? bad[way].entity : node[0], node[9]};
    const espl_entity parents[3] = {node[2], node[5],
                                    way < 2 * BAD ? bad[way % BAD].entity : m.root};
    const espl_attach_options options = {.position = (espl_keep)77};
    size_t refused = 0;

    switch (way - 2 * BAD) {
    case 0: // a cycle
        return espl_attach_many(w, children, parents, 2, NULL, &refused);
    case 1:
        return espl_attach_many(w, children, parents, 1, &options, NULL);
    case 2:
        return espl_attach_many(w, NULL, parents, 1, NULL, NULL);
    case 3:
        return espl_attach_many(w, children, parents, SIZE_MAX, NULL, NULL);
    default:
        return way < 2 * BAD ? espl_attach_many(w, children, parents, 3, NULL, &refused) : END;
    }
}

static espl_status detach(int way)
{
    return way < BAD    ? espl_detach(w, bad[way].entity, ESPL_KEEP_WORLD)
           : way == BAD ? espl_detach(w, node[9], (espl_keep)77)
                        : END;
}

static espl_status set_sibling(int way)
{
    if (way < 2 * BAD) {
        return way < BAD ? espl_move_before(w, bad[way].entity, espl_entity_null())
               : way == BAD // null is legal there
                   ? ESPL_ERR_ARGUMENT
                   : espl_move_before(w, node[9], bad[way - BAD].entity);
    }
    return way == 2 * BAD       ? espl_move_before(w, node[0], espl_entity_null())
           : way == 2 * BAD + 1 ? espl_move_before(w, node[9], m.solo)
                                : END;
}

static espl_status destroy(int way)
{
    return way < BAD    ? espl_destroy(w, bad[way].entity, ESPL_EXTENT_OWNED)
           : way == BAD ? espl_destroy(w, node[9], (espl_extent)77)
                        : END;
}

static espl_status destroy_many(int way)
{
    const espl_entity some[3] = {node[9], node[0], way < BAD ? bad[way].entity : m.solo};

    return way < BAD        ? espl_destroy_many(w, some, 3, ESPL_EXTENT_OWNED, NULL)
           : way == BAD     ? espl_destroy_many(w, some, 3, (espl_extent)77, NULL)
           : way == BAD + 1 ? espl_destroy_many(w, NULL, 3, ESPL_EXTENT_OWNED, NULL)
                            : END;
}

static espl_status create(int way)
{
    const espl_component sets[][2] = {
        {m.number, m.number}, {900, m.number}, {ESPL_ROOT, ESPL_TRANSFORM}};

    return way < 3    ? espl_create(w, sets[way], 2, 1, NULL)
           : way == 3 ? espl_create(w, NULL, 1, 1, NULL)
           : way == 4 ? espl_create(w, sets[0], 1, SIZE_MAX, NULL)
                      : END;
}

static espl_status create_at(int way)
{
    espl_creation_def def = {.parent = way < BAD ? bad[way].entity : node[3]};
    const espl_component_value wrong = {m.number, 3, one}, place = {ESPL_TRANSFORM, 4, nan3};

    switch (way - BAD) {
    case -BAD: // without a parent it is a root
    case 0:
        def.parent = node[3];
        def.values = &wrong;
        def.value_count = 1;
        break;
    case 1:
        def.values = &place;
        def.value_count = 1;
        break;
    case 2:
        def.before = m.solo;
        break;
    case 3:
        return espl_create_at(w, NULL, 1, NULL);
    case 4:
        return espl_create_at(w, &def, SIZE_MAX, NULL);
    case 5:
        return END;
    default:
        break;
    }
    return espl_create_at(w, &def, 1, NULL);
}

static espl_status create_node(int way)
{
    espl_transform place = espl_transform_identity();
    char text[ESPL_NAME_LIMIT + 2];

    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    place.position[1] = nan3[0];
    // The null entity is no parent, which is legal.
    if (way < BAD && !espl_entity_is_null(bad[way].entity)) {
        return espl_create_node(w, bad[way].entity, NULL, "lamp", NULL);
    }
    return way <= BAD       ? espl_create_node(w, node[3], &place, "lamp", NULL)
           : way == BAD + 1 ? espl_create_node(w, node[3], NULL, "la/mp", NULL)
           : way == BAD + 2 ? espl_create_node(w, node[3], NULL, text, NULL)
                            : END;
}

static espl_status spawn(int way)
{
    const espl_entity parent = way < 2 * BAD ? bad[way % BAD].entity : node[3];

    if (way < BAD) {
        return espl_spawn(w, bad[way].entity, node[3], NULL, NULL);
    }
    // Without a parent the clone is made in the world.
    return espl_entity_is_null(parent) ? espl_spawn(w, parent, parent, NULL, NULL)
           : way < 2 * BAD             ? espl_spawn(w, m.solo, parent, NULL, NULL)
                                       : END;
}

static espl_status instantiate(int way)
{
    return way < BAD ? espl_instantiate(w, &(espl_instance_def){.source = bad[way].entity}, 1, NULL)
           : way == BAD
               ? espl_instantiate(w, &(espl_instance_def){.source = m.solo}, SIZE_MAX, NULL)
               : END;
}

static espl_status instantiate_at(int way)
{
    espl_instance_def def = {.source = m.solo, .parent = node[3]};

    if (way < BAD) {
        def.source = bad[way].entity;
    } else if (way < 2 * BAD - 1) {
        def.parent = bad[1 + way - BAD].entity; // null is legal there
    } else if (way == 2 * BAD - 1) {
        def.place = (espl_place)77;
    } else if (way == 2 * BAD) {
        def.inherit = UINT32_MAX;
    } else {
        return way == 2 * BAD + 1 ? espl_instantiate(w, NULL, 1, NULL) : END;
    }
    return espl_instantiate(w, &def, 2, NULL);
}

static espl_status enable(int way)
{
    return way < BAD    ? espl_set_enabled(w, bad[way].entity, ESPL_EXTENT_SUBTREE, true)
           : way == BAD ? espl_set_enabled(w, node[0], (espl_extent)77, true)
                        : END;
}

static espl_status disable(int way)
{
    return way < BAD    ? espl_set_enabled(w, bad[way].entity, ESPL_EXTENT_SUBTREE, false)
           : way == BAD ? espl_set_enabled(w, node[0], (espl_extent)77, false)
                        : END;
}

// A change that is wrong; NULL: there is none of that number.
static const espl_change_def *wrong_change(int number)
{
    static espl_component_value values[6];
    static espl_component removed[2];
    static espl_change_def defs[6];

    values[0] = (espl_component_value){m.number, 3, one};
    values[1] = (espl_component_value){900, 4, one};
    values[2] = (espl_component_value){ESPL_ROOT, 0, NULL};
    values[3] = (espl_component_value){m.number, 4, one};
    values[4] = (espl_component_value){m.number, 4, one};
    removed[0] = m.number;
    removed[1] = 900;
    for (int i = 0; i < 3; ++i) {
        defs[i] = (espl_change_def){&values[i], 1, NULL, 0};
    }
    defs[3] = (espl_change_def){&values[3], 2, NULL, 0};
    defs[4] = (espl_change_def){&values[3], 1, removed, 1};
    defs[5] = (espl_change_def){NULL, 0, &removed[1], 1};
    return number < 6 ? &defs[number] : NULL;
}

static const espl_transform *bad_place(void)
{
    static espl_transform place;

    place = espl_transform_identity();
    place.position[1] = INFINITY;
    return &place;
}

static espl_status change_components(int way)
{
    const espl_component_value value = {m.number, 4, one},
                               place = {ESPL_TRANSFORM, sizeof(espl_transform), bad_place()};
    const espl_change_def good = {&value, 1, NULL, 0}, worse = {&place, 1, NULL, 0};

    if (way < BAD) {
        return espl_change_components(w, bad[way].entity, &good);
    }
    if (way == BAD) {
        return espl_change_components(w, node[3], &worse);
    }
    return wrong_change(way - BAD - 1) != NULL
               ? espl_change_components(w, node[3], wrong_change(way - BAD - 1))
               : END;
}

static espl_status change_array(int way)
{
    const espl_component_value value = {m.number, 4, one},
                               place = {ESPL_TRANSFORM, sizeof(espl_transform), bad_place()};
    const espl_change_def good = {&value, 1, NULL, 0}, worse = {&place, 1, NULL, 0};
    const espl_entity some[3] = {node[3], node[0], way < BAD ? bad[way].entity : m.solo};

    if (way <= BAD) {
        return espl_change_components_array(w, some, 3, way < BAD ? &good : &worse, NULL);
    }
    return wrong_change(way - BAD - 1) != NULL
               ? espl_change_components_array(w, some, 3, wrong_change(way - BAD - 1), NULL)
               : END;
}

static espl_status change_query(int way)
{
    const espl_component_value place = {ESPL_TRANSFORM, sizeof(espl_transform), bad_place()};
    const espl_change_def worse = {&place, 1, NULL, 0};

    if (way == 0) {
        return espl_change_components_query(w, &strange, &worse, NULL);
    }
    if (way == 1) {
        return espl_change_components_query(w, NULL, &worse, NULL);
    }
    return wrong_change(way - 2) != NULL
               ? espl_change_components_query(w, NULL, wrong_change(way - 2), NULL)
               : END;
}

static espl_status set_component(int way)
{
    return way < BAD        ? espl_set_component(w, bad[way].entity, m.number, one, 4)
           : way == BAD     ? espl_set_component(w, m.child, m.number, one, 3)
           : way == BAD + 1 ? espl_set_component(w, node[3], m.number, one, 4)
           : way == BAD + 2 ? espl_set_component(w, node[3], ESPL_TRANSFORM, one, 4)
                            : END;
}

static espl_status register_component(int way)
{
    static const espl_component_def defs[] = {{.name = ""},
                                              {.name = "a\nb"},
                                              {.name = "number"},
                                              {.name = "a", .size = 3, .alignment = 2},
                                              {.name = "a", .size = SIZE_MAX}};
    espl_component out = 0;

    return way < 5 ? espl_component_register(w, &defs[way], &out) : END;
}

static espl_status register_command(int way)
{
    const espl_custom_command_def defs[] = {
        {.name = "", .function = ignore}, {.name = "a/b", .function = ignore}, {.name = "a"}};
    espl_custom_command out = 0;

    return way < 3 ? espl_command_register(w, &defs[way], &out) : END;
}

static espl_status unregister_command(int way)
{
    return way < 2 ? espl_command_unregister(w, way == 0 ? 0 : 900) : END;
}

static espl_status reserve(int way)
{
    const espl_component twice[2] = {m.number, m.number};
    const espl_reserve_def defs[] = {
        {.components = twice, .component_count = 2, .rows = 9},
        {.entities = SIZE_MAX},
        {.rows = SIZE_MAX},
        {.writes = SIZE_MAX},
        {.parallel_rows = SIZE_MAX},
        {.side_of = way >= 6 && way < 5 + BAD ? bad[way - 5].entity : m.dead}};

    return way < 5 + BAD ? espl_reserve(w, &defs[way < 5 ? way : 5]) : END;
}

static espl_status set_name(int way)
{
    char longer[ESPL_NAME_LIMIT + 2];

    memset(longer, 'n', sizeof longer);
    longer[ESPL_NAME_LIMIT + 1] = '\0';
    return way < BAD        ? espl_set_name(w, bad[way].entity, "name")
           : way == BAD     ? espl_set_name(w, node[3], "a\tb")
           : way == BAD + 1 ? espl_set_name(w, node[3], longer)
                            : END;
}

#endif
