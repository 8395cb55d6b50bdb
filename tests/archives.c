// SPDX-License-Identifier: MIT
#include "tests/archives.h"

#include "tests/asserts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool append(void *user, const void *bytes, size_t size)
{
    test_archive *const to = user;

    if (to->size + size > to->room) {
        to->room = 2 * (to->size + size);
        to->bytes = realloc(to->bytes, to->room);
        ck_assert_ptr_nonnull(to->bytes);
    }
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
    return true;
}

espl_sink test_archive_sink(test_archive *archive)
{
    return (espl_sink){.user = archive, .write = append};
}

test_archive test_archive_of(const espl_world *world, const espl_archive_def *def)
{
    test_archive out = {0};
    const espl_sink sink = test_archive_sink(&out);

    ck_ok(espl_archive_write(world, def, &sink));
    ck_assert_uint_ne(out.size, 0);
    return out;
}

void test_archive_end(test_archive *archive)
{
    free(archive->bytes);
    *archive = (test_archive){0};
}

espl_status test_archive_read(espl_world *world, const test_archive *from,
                              const espl_archive_read_def *def)
{
    espl_format_fault fault;
    const espl_status status = espl_archive_read(world, from->bytes, from->size, def, &fault);

    ck_assert_msg(status >= 0, "%s at %llu: %s", espl_status_name(status),
                  (unsigned long long)fault.offset, fault.sentence);
    ck_assert_ptr_null(fault.sentence);
    if (status == ESPL_OK) {
        test_world_is_valid(world);
    }
    return status;
}

test_archive test_delta_of(const test_archive *before, const test_archive *after)
{
    test_archive out = {0};
    const espl_sink sink = test_archive_sink(&out);
    espl_format_fault fault;

    ck_ok(
        espl_archive_delta(before->bytes, before->size, after->bytes, after->size, &sink, &fault));
    ck_assert_ptr_null(fault.sentence);
    return out;
}

espl_status test_patch(const test_archive *before, const test_archive *delta, test_archive *out,
                       espl_format_fault *fault)
{
    const espl_sink sink = test_archive_sink(out);

    *out = (test_archive){0};
    return espl_archive_patch(before->bytes, before->size, delta->bytes, delta->size, &sink, fault);
}

// --- A world that changes ---

static espl_entity *pick(test_herd *herd)
{
    return &herd->nodes[test_below(&herd->random, TEST_HERD)];
}

static bool is_alive(const test_herd *herd, espl_entity entity)
{
    return espl_is_alive(herd->world, entity);
}

static espl_transform anywhere(test_herd *herd)
{
    uint64_t *const random = &herd->random;
    espl_transform t = test_at(test_between(random, -9, 9), test_between(random, -9, 9),
                               test_between(random, -9, 9));

    for (int i = 0; i < 4; ++i) {
        t.rotation[i] = test_between(random, -1, 1) + (i == 3 ? 1.5F : 0);
    }
    t.stretch[1] = test_one_in(random, 5) ? test_between(random, 0.5F, 2) : 1;
    t.user_data = test_one_in(random, 6) ? test_below(random, 1000) : 0;
    ck_assert(espl_transform_normalize(&t) >= 0);
    return t;
}

static void make(test_herd *herd, espl_entity *node, espl_entity parent)
{
    const espl_transform at = anywhere(herd);
    char name[16];

    (void)snprintf(name, sizeof name, "node %u", (unsigned)test_below(&herd->random, 30));
    ck_ok(espl_create_node(herd->world, is_alive(herd, parent) ? parent : test_null, &at,
                           test_one_in(&herd->random, 3) ? name : NULL, node));
}

void test_herd_register(espl_world *world)
{
    (void)test_component(world, "tag", 0, 1);
    (void)test_link_component(world, "link", 0);
}

void test_herd_begin(test_herd *herd, uint64_t seed)
{
    herd->random = seed;
    test_world_begin(&herd->test, 7, NULL);
    herd->world = herd->test.world;
    test_herd_register(herd->world);
    herd->tag = espl_component_find(herd->world, "tag");
    herd->link = espl_component_find(herd->world, "link");
    for (uint32_t i = 0; i < TEST_HERD; ++i) {
        make(herd, &herd->nodes[i],
             i % 13 == 0 ? test_null : herd->nodes[i - 1 - test_below(&herd->random, i % 13)]);
    }
    for (int i = 0; i < 60; ++i) {
        test_herd_change(herd);
    }
}

void test_herd_end(test_herd *herd)
{
    test_world_end(&herd->test);
}

void test_herd_animate(test_herd *herd)
{
    uint64_t *const random = &herd->random;

    for (int i = 0; i < TEST_HERD; ++i) {
        const espl_entity node = herd->nodes[i];
        const float axis[3] = {test_between(random, -1, 1), test_between(random, -1, 1), 1};
        float turn[4];

        if (is_alive(herd, node) && espl_has_component(herd->world, node, ESPL_TRANSFORM) &&
            (espl_get_inherit(herd->world, node) & ESPL_COPY_PARENT) == 0) {
            ck_ok(espl_quat_from_axis_angle(axis, 0.01F * test_between(random, 0.5F, 1), turn));
            ck_assert(espl_rotate_own(herd->world, node, turn) >= 0);
        }
    }
}

static void change_values(test_herd *herd, espl_entity node)
{
    espl_world *const world = herd->world;

    switch (test_below(&herd->random, 5)) {
    case 0:
        if (espl_has_component(world, node, herd->tag)) {
            ck_ok(espl_remove_component(world, node, herd->tag));
        } else {
            ck_ok(espl_add_component(world, node, herd->tag, NULL, 0));
        }
        break;
    case 1: {
        const test_link value = {*pick(herd), test_below(&herd->random, 99), *pick(herd)};

        ck_ok(espl_add_component(world, node, herd->link, &value, sizeof value));
        break;
    }
    case 2:
        ck_ok(espl_set_name(world, node, test_one_in(&herd->random, 2) ? "other" : NULL));
        break;
    case 3:
        ck_assert(
            espl_set_enabled(world, node, ESPL_EXTENT_SUBTREE, test_one_in(&herd->random, 2)) >= 0);
        break;
    default:
        if (espl_has_component(world, node, ESPL_TRANSFORM) && test_one_in(&herd->random, 3)) {
            ck_assert(espl_remove_component(world, node, ESPL_TRANSFORM) >= 0);
        }
        break;
    }
}

void test_herd_change(test_herd *herd)
{
    static const uint32_t flags[] = {0, ESPL_ABSOLUTE_X | ESPL_ABSOLUTE_Z, ESPL_ABSOLUTE_ROTATION,
                                     ESPL_ABSOLUTE_FORWARD | ESPL_STRICT_UP, ESPL_COPY_PARENT};
    espl_world *const world = herd->world;
    espl_entity *const node = pick(herd);
    const espl_entity other = *pick(herd);

    if (!is_alive(herd, *node)) {
        make(herd, node, other);
        return;
    }
    switch (test_below(&herd->random, 8)) {
    case 0:
        if (is_alive(herd, other) && !espl_is_ancestor(world, *node, other) &&
            !espl_entity_equal(other, *node)) {
            ck_assert(espl_attach(world, *node, other,
                                  &(espl_attach_options){.link = test_one_in(&herd->random, 4)
                                                                     ? ESPL_LINK_FREE
                                                                     : ESPL_LINK_OWNED}) >= 0);
        }
        break;
    case 1:
        if (test_one_in(&herd->random, 4)) {
            ck_assert(espl_destroy(world, *node, ESPL_EXTENT_ENTITY) >= 0);
        }
        break;
    case 2:
        if (espl_get_role(world, *node) == ESPL_ROLE_MEMBER &&
            espl_has_component(world, *node, ESPL_TRANSFORM)) {
            ck_assert(espl_set_inherit(world, *node, flags[test_below(&herd->random, 5)]) >= 0);
        }
        break;
    case 3:
        test_herd_animate(herd);
        break;
    default:
        change_values(herd, *node);
        break;
    }
}

// --- Two worlds ---

void test_pair_begin(test_pair *pair)
{
    test_world_begin(&pair->from, 3, NULL);
    test_world_begin(&pair->to, 5, NULL);
    pair->a = pair->from.world;
    pair->b = pair->to.world;
}

void test_pair_end(test_pair *pair)
{
    test_world_end(&pair->from);
    test_world_end(&pair->to);
}

espl_entity test_pair_node(espl_world *world, espl_entity parent, float x, const char *name)
{
    const espl_transform at = test_at(x, 1, -2);
    espl_entity out;

    ck_ok(espl_create_node(world, parent, &at, name, &out));
    return out;
}

espl_component test_link_component(espl_world *world, const char *name, uint32_t flags)
{
    static const uint32_t references[] = {offsetof(test_link, to), offsetof(test_link, other)};
    espl_component out = 0;

    ck_ok(espl_component_register(world,
                                  &(espl_component_def){.name = name,
                                                        .size = sizeof(test_link),
                                                        .alignment = _Alignof(test_link),
                                                        .references = references,
                                                        .reference_count = 2,
                                                        .flags = flags},
                                  &out));
    return out;
}
