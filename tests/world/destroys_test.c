// SPDX-License-Identifier: MIT
// The three extents of a destroy on trees of many shapes: the world transforms of survivors stay,
// to rounding. The suites that compare with the model check which entities survive, and below which
// parent.
#include "tests/asked.h"
#include "tests/fixture.h"
#include "tests/runner.h"

#include <math.h>
#include <string.h>

enum { NODES = 40, NOBODY = NODES };

typedef enum policy { OWNED_CLOSURE, WHOLE_SUBTREE, ONE_ALONE, POLICY_COUNT } policy;

// A family numbered in preorder, so that siblings and those who take a dead one's place stand in
// the order of their numbers.
typedef struct clan {
    test_world test;
    uint32_t count;
    uint32_t parent[NODES]; // by birth; NOBODY
    bool is_free[NODES], is_dead[NODES];
    espl_entity member[NODES];
    espl_transform world[NODES]; // as it was when last noted
} clan;

// --- Shapes ---

typedef enum clan_shape { CHAIN, STAR, COMB, BUSHY, RANDOM, SHAPE_COUNT } clan_shape;
typedef enum clan_links { OWNED, FREE, ALTERNATING, MIXED, LINKS_COUNT } clan_links;

static uint32_t next_depth(clan_shape shape, uint32_t i, uint32_t depth, uint64_t *random)
{
    switch (shape) {
    case CHAIN:
        return depth + 1;
    case STAR:
        return 1;
    case COMB: // a spine with a tooth at each
        return i % 2 == 1 ? i / 2 + 1 : depth;
    case BUSHY:
        return i % 9 == 1 ? 1 : 1 + test_below(random, 3);
    case RANDOM:
    case SHAPE_COUNT:
        break;
    }
    return 1 + test_below(random, depth + 1);
}

static void choose_parents(clan *c, clan_shape shape, clan_links links, uint64_t *random)
{
    uint32_t depths[NODES] = {0};

    c->parent[0] = NOBODY;
    c->is_free[0] = false;
    for (uint32_t i = 1; i < c->count; ++i) {
        const uint32_t wanted = next_depth(shape, i, depths[i - 1], random);

        depths[i] = wanted <= depths[i - 1] + 1 ? wanted : depths[i - 1] + 1;
        c->parent[i] = i - 1;
        while (depths[c->parent[i]] != depths[i] - 1) {
            c->parent[i] -= 1;
        }
        c->is_free[i] = links == FREE || (links == ALTERNATING && i % 2 == 1) ||
                        (links == MIXED && test_one_in(random, 3));
    }
}

static espl_transform value_of(uint64_t *random)
{
    espl_transform value = test_at(test_between(random, -9, 9), test_between(random, -9, 9),
                                   test_between(random, -9, 9));

    for (int i = 0; i < 4; ++i) {
        value.rotation[i] = test_between(random, -1, 1);
    }
    value.rotation[3] += 1.5f;
    value.scale = test_between(random, 0.8f, 1.25f);
    if (test_one_in(random, 4)) {
        value.stretch[test_below(random, 3)] = test_between(random, 0.5f, 1.5f);
    }
    return value;
}

static void note_worlds(clan *c)
{
    for (uint32_t i = 0; i < c->count; ++i) {
        if (!c->is_dead[i]) {
            c->world[i] = test_world_of(c->test.world, c->member[i]);
        }
    }
}

static void begin_clan(clan *c, clan_shape shape, clan_links links, uint64_t seed)
{
    uint64_t random = seed;

    memset(c, 0, sizeof *c);
    c->count = 3 + test_below(&random, NODES - 2);
    choose_parents(c, shape, links, &random);
    test_world_begin(&c->test, 9, NULL);
    for (uint32_t i = 0; i < c->count; ++i) {
        const espl_transform value = value_of(&random);
        const espl_attach_options options = {.position = ESPL_KEEP_LOCAL,
                                             .rotation = ESPL_KEEP_LOCAL,
                                             .scale = ESPL_KEEP_LOCAL,
                                             .link =
                                                 c->is_free[i] ? ESPL_LINK_FREE : ESPL_LINK_OWNED};
        c->member[i] = test_solo(c->test.world);
        ck_ok(espl_set_local_transform(c->test.world, c->member[i], &value));
        if (i != 0) {
            ck_ok(espl_attach(c->test.world, c->member[i], c->member[c->parent[i]], &options));
        }
    }
    note_worlds(c);
}

// --- Who lives, and under whom ---

static uint32_t heir_of(const clan *c, uint32_t i)
{
    do {
        i = c->parent[i];
    } while (i != NOBODY && c->is_dead[i]);
    return i;
}

// The link that a living one has: it is forgotten where a root died.
static bool is_free(const clan *c, uint32_t i)
{
    return heir_of(c, i) != NOBODY && c->is_free[i];
}

// Whoever is reached from the top through living ones and those that die with it.
static void mark_dead(clan *c, uint32_t top, policy how)
{
    bool dies[NODES] = {false};

    for (uint32_t i = top; i < c->count; ++i) {
        const uint32_t heir = i != top ? heir_of(c, i) : NOBODY;
        const bool is_reached = heir != NOBODY && dies[heir];

        dies[i] =
            !c->is_dead[i] &&
            (i == top ||
             (is_reached && (how == WHOLE_SUBTREE || (how == OWNED_CLOSURE && !is_free(c, i)))));
    }
    for (uint32_t i = top; i < c->count; ++i) {
        c->is_dead[i] = c->is_dead[i] || dies[i];
    }
}

static void destroy(clan *c, uint32_t top, policy how)
{
    static const espl_extent extents[POLICY_COUNT] = {ESPL_EXTENT_OWNED, ESPL_EXTENT_SUBTREE,
                                                      ESPL_EXTENT_ENTITY};

    ck_ok(espl_destroy(c->test.world, c->member[top], extents[how]));
    mark_dead(c, top, how);
}

static void demand(bool is_so, const clan *c, uint32_t i, const char *what)
{
    if (!is_so) {
        ck_abort_msg("%s of member %u of %u", what, i, c->count);
    }
}

// --- Where they stand ---

static double length_of(const float v[3])
{
    return sqrt((double)v[0] * (double)v[0] + (double)v[1] * (double)v[1] +
                (double)v[2] * (double)v[2]);
}

// Distance from the origin of the farthest that is noted.
static double reach_of(const clan *c)
{
    double reach = 1;

    for (uint32_t i = 0; i < c->count; ++i) {
        reach = fmax(reach, length_of(c->world[i].position));
    }
    return reach;
}

enum { ULPS = 32, ULPS_A_LINK = 4 };

// A survivor is within a few units in the last place of where it was: of the farthest position, of
// its scale, of a unit rotation. World rotations drift off unit length by a unit or two a link,
// which a way into such a frame and back out shows twice over.
static void check_stays(const clan *c, uint32_t i, double reach)
{
    const espl_transform was = c->world[i], is = test_world_of(c->test.world, c->member[i]);
    uint32_t links = 0;

    for (uint32_t up = c->parent[i]; up != NOBODY; up = c->parent[up]) {
        links += 1;
    }
    const double ulps = (ULPS + ULPS_A_LINK * links) * 0x1p-24;
    double turned = 0;
    float offset[3];

    for (int k = 0; k < 3; ++k) {
        offset[k] = is.position[k] - was.position[k];
    }
    for (int k = 0; k < 4; ++k) {
        turned = fmax(turned, fabs((double)is.rotation[k] - (double)was.rotation[k]));
    }
    demand(length_of(offset) <= ulps * reach, c, i, "position");
    demand(turned <= ulps, c, i, "rotation");
    demand(fabs((double)is.scale - (double)was.scale) <= ulps * fabs((double)was.scale), c, i,
           "scale");
    demand(memcmp(is.stretch, was.stretch, sizeof is.stretch) == 0 && is.user_data == was.user_data,
           c, i, "stretch");
}

static void check_worlds(const clan *c)
{
    const double reach = reach_of(c);

    for (uint32_t i = 0; i < c->count; ++i) {
        if (!c->is_dead[i]) {
            check_stays(c, i, reach);
        }
    }
}

// --- Each destroy of each closure ---

static void destroy_each(clan_shape shape, clan_links links, policy how)
{
    for (uint64_t seed = 1; seed <= 4; ++seed) {
        for (uint32_t top = 0; top < NODES; ++top) {
            clan c;

            begin_clan(&c, shape, links, seed * SHAPE_COUNT + (uint64_t)shape);
            if (top < c.count) {
                destroy(&c, top, how);
                check_worlds(&c);
            }
            test_world_end(&c.test);
        }
    }
}

static void destroy_all_links(clan_shape shape, policy how)
{
    for (clan_links links = OWNED; links < LINKS_COUNT; ++links) {
        destroy_each(shape, links, how);
    }
}

static const clan_shape shapes[] = {CHAIN, STAR, COMB, BUSHY, RANDOM};

TEST_LOOP(each_destroy_leaves_the_survivors_where_they_are, 0, SHAPE_COUNT)
{
    for (policy how = OWNED_CLOSURE; how < POLICY_COUNT; ++how) {
        destroy_all_links(shapes[_i], how);
    }
}

// Deaths one after the other, until none is left.
TEST_LOOP(whoever_survives_many_deaths_is_where_it_was, 0, SHAPE_COUNT)
{
    uint64_t random = 77 + (uint64_t)_i;

    for (size_t run = 0; run < test_scaled(60); ++run) {
        uint32_t living[NODES];
        clan c;

        begin_clan(&c, shapes[_i], (clan_links)(run % LINKS_COUNT), test_random(&random));
        for (uint32_t count = c.count; count != 0;) {
            count = 0;
            for (uint32_t i = 0; i < c.count; ++i) {
                living[count] = i;
                count += !c.is_dead[i];
            }
            if (count != 0) {
                note_worlds(&c);
                destroy(&c, living[test_below(&random, count)],
                        (policy)(test_one_in(&random, 3) ? test_below(&random, 2) : ONE_ALONE));
                check_worlds(&c);
            }
        }
        ck_assert_uint_eq(test_stats(c.test.world).entities, 0);
        test_world_end(&c.test);
    }
}

// --- The default ---

// A program that leaves the extent of its own struct zero takes the owned closure.
TEST(an_extent_of_zero_is_the_owned_closure)
{
    const struct order {
        espl_entity entity;
        espl_extent extent;
    } order = {.extent = 0};
    const espl_component set[] = {ESPL_TRANSFORM};
    const espl_attach_options loose = {.link = ESPL_LINK_FREE};
    espl_entity e[3]; // the top, an owned child, a free child
    test_world test;

    test_world_begin(&test, 1, NULL);
    ck_ok(espl_create(test.world, set, 1, 3, e));
    ck_ok(espl_attach(test.world, e[1], e[0], NULL));
    ck_ok(espl_attach(test.world, e[2], e[0], &loose));
    ck_assert_uint_eq(espl_copy_subtree(test.world, e[0], order.extent, 0, NULL), 2);
    ck_ok(espl_set_enabled(test.world, e[0], order.extent, false));
    ck_assert(!espl_is_enabled(test.world, e[1]) && espl_is_enabled(test.world, e[2]));
    ck_ok(espl_destroy(test.world, e[0], order.extent));
    ck_assert(!espl_is_alive(test.world, e[0]) && !espl_is_alive(test.world, e[1]));
    ck_assert(espl_is_alive(test.world, e[2]));
    test_world_end(&test);
}
