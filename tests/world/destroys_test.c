// SPDX-License-Identifier: MIT
// The three destroys on closures of many shapes: who dies, whom the survivors follow, where they
// stand; that they stay where they are, to rounding when it happens and to the bit when all is laid
// out later; and that the dead are nowhere to be seen.
#include "tests/planting.h"
#include "tests/runner.h"

#include <math.h>
#include <string.h>

enum { KIN = 40, NOBODY = KIN };

typedef enum policy { OWNED_CLOSURE, WHOLE_SUBTREE, ONE_ALONE, POLICY_COUNT } policy;

// A family numbered in preorder, so that siblings and those who take a dead one's place stand in
// the order of their numbers.
typedef struct clan {
    test_world test;
    uint32_t count;
    uint32_t parent[KIN]; // by birth; NOBODY
    bool is_free[KIN], is_dead[KIN];
    espl_entity member[KIN];
    espl_transform world[KIN]; // as it was when last noted
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
    uint32_t depths[KIN] = {0};

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
    c->count = 3 + test_below(&random, KIN - 2);
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
        ck_assert_int_eq(espl_set_local_transform(c->test.world, c->member[i], &value), ESPL_OK);
        if (i != 0) {
            ck_assert_int_eq(
                espl_attach(c->test.world, c->member[i], c->member[c->parent[i]], &options),
                ESPL_OK);
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
    bool dies[KIN] = {false};

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

    ck_assert_int_eq(espl_destroy(c->test.world, c->member[top], extents[how]), ESPL_OK);
    mark_dead(c, top, how);
}

static espl_entity handle_of(const clan *c, uint32_t i)
{
    return i != NOBODY ? c->member[i] : espl_entity_null();
}

// Living children in order. @return how many.
static uint32_t list_children(const clan *c, uint32_t parent, uint32_t *out)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < c->count; ++i) {
        if (!c->is_dead[i] && heir_of(c, i) == parent) {
            out[count++] = i;
        }
    }
    return count;
}

// Breadth-first. @return how many.
static uint32_t list_subtree(const clan *c, uint32_t top, uint32_t *out)
{
    uint32_t count = 1;

    out[0] = top;
    for (uint32_t i = 0; i < count; ++i) {
        count += list_children(c, out[i], out + count);
    }
    return count;
}

// --- What can be seen ---

static void demand(bool is_so, const clan *c, uint32_t i, const char *what)
{
    if (!is_so) {
        ck_abort_msg("%s of member %u of %u", what, i, c->count);
    }
}

static bool is_member(const clan *c, espl_entity entity, uint32_t i)
{
    return espl_entity_equal(entity, handle_of(c, i));
}

static void check_children(const clan *c, uint32_t i)
{
    const espl_world *const world = c->test.world;
    const espl_entity self = c->member[i];
    uint32_t children[KIN];
    const uint32_t count = list_children(c, i, children);

    demand(espl_count_children(world, self) == count, c, i, "number of children");
    demand(is_member(c, espl_get_first_child(world, self), count != 0 ? children[0] : NOBODY), c, i,
           "first child");
    demand(
        is_member(c, espl_get_last_child(world, self), count != 0 ? children[count - 1] : NOBODY),
        c, i, "last child");
    for (uint32_t n = 0; n <= count; ++n) {
        const uint32_t child = n < count ? children[n] : NOBODY;

        demand(is_member(c, espl_get_child(world, self, n), child), c, i, "n-th child");
        if (child != NOBODY) {
            demand(is_member(c, espl_get_previous_sibling(world, c->member[child]),
                             n != 0 ? children[n - 1] : NOBODY),
                   c, child, "previous sibling");
            demand(is_member(c, espl_get_next_sibling(world, c->member[child]),
                             n + 1 < count ? children[n + 1] : NOBODY),
                   c, child, "next sibling");
        }
    }
}

static void check_below(const clan *c, uint32_t i)
{
    uint32_t below[KIN];
    bool is_met[KIN] = {false};
    espl_entity entities[KIN];
    espl_subtree walk;
    size_t steps = 0;
    const uint32_t count = list_subtree(c, i, below);
    const espl_subtree_arrays arrays = {.entities = entities};

    demand(espl_count_descendants(c->test.world, c->member[i]) == count - 1, c, i, "descendants");
    demand(espl_copy_subtree(c->test.world, c->member[i], ESPL_EXTENT_SUBTREE, KIN, &arrays) ==
               count,
           c, i, "size of the copied subtree");
    for (uint32_t n = 0; n < count; ++n) {
        demand(is_member(c, entities[n], below[n]), c, i, "copied subtree");
        demand(below[n] == i || espl_is_ancestor(c->test.world, c->member[i], entities[n]), c, i,
               "being an ancestor");
    }
    demand(espl_subtree_begin(c->test.world, c->member[i], &walk) == ESPL_OK, c, i, "walk");
    while (espl_subtree_next(&walk)) {
        for (uint32_t n = 0; n < count; ++n) {
            is_met[n] = is_met[n] || is_member(c, walk.entity, below[n]);
        }
        steps += 1;
    }
    for (uint32_t n = 0; n < count; ++n) {
        demand(is_met[n], c, below[n], "being walked over");
    }
    demand(steps == count, c, i, "length of the walk");
}

static void check_living(const clan *c, uint32_t i)
{
    const espl_world *const world = c->test.world;
    const uint32_t heir = heir_of(c, i);
    uint32_t children[KIN], root = i;
    const espl_role top = list_children(c, i, children) != 0 ? ESPL_ROLE_ROOT : ESPL_ROLE_SOLO;

    while (heir_of(c, root) != NOBODY) {
        root = heir_of(c, root);
    }
    demand(espl_get_role(world, c->member[i]) == (heir != NOBODY ? ESPL_ROLE_MEMBER : top), c, i,
           "role");
    demand(is_member(c, espl_get_parent(world, c->member[i]), heir), c, i, "parent");
    demand(is_member(c, espl_get_root(world, c->member[i]), root), c, i, "root");
    demand((espl_get_link(world, c->member[i]) == ESPL_LINK_FREE) == is_free(c, i), c, i, "link");
    check_children(c, i);
    check_below(c, i);
}

static void check_dead(const clan *c, uint32_t i)
{
    const espl_world *const world = c->test.world;
    const espl_entity dead = c->member[i];
    espl_transform out;

    demand(!espl_is_alive(world, dead) && espl_get_role(world, dead) == ESPL_ROLE_NONE, c, i,
           "death");
    demand(espl_entity_is_null(espl_get_parent(world, dead)) &&
               espl_entity_is_null(espl_get_root(world, dead)) &&
               espl_entity_is_null(espl_get_first_child(world, dead)) &&
               espl_entity_is_null(espl_get_last_child(world, dead)) &&
               espl_entity_is_null(espl_get_next_sibling(world, dead)) &&
               espl_entity_is_null(espl_get_previous_sibling(world, dead)),
           c, i, "silence");
    demand(espl_get_world_transform(world, dead, &out) == ESPL_ERR_DEAD &&
               espl_copy_subtree(world, dead, ESPL_EXTENT_SUBTREE, 0, NULL) == 0,
           c, i, "end");
}

// Queries answer with the living, each once.
static void check_query(const clan *c, const espl_query_def *def)
{
    size_t answered = 0, living = 0;
    espl_query query;

    ck_assert_int_eq(espl_query_begin(c->test.world, def, &query), ESPL_OK);
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count; ++row) {
            demand(espl_is_alive(c->test.world, query.entities[row]), c, (uint32_t)row, "a row");
        }
        answered += query.count;
    }
    for (uint32_t i = 0; i < c->count; ++i) {
        living += !c->is_dead[i];
    }
    ck_assert_uint_eq(answered, living);
}

static void check_clan(const clan *c)
{
    const espl_query_def all = {.include = ESPL_INCLUDE_PREFABS | ESPL_INCLUDE_DISABLED};

    for (uint32_t i = 0; i < c->count; ++i) {
        if (c->is_dead[i]) {
            check_dead(c, i);
        } else {
            check_living(c, i);
        }
    }
    check_query(c, &all);
    test_world_is_valid(c->test.world);
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

static void check_bits(const clan *c)
{
    for (uint32_t i = 0; i < c->count; ++i) {
        if (!c->is_dead[i]) {
            const espl_transform is = test_world_of(c->test.world, c->member[i]);
            demand(test_same(&is, &c->world[i]), c, i, "a bit");
        }
    }
}

// Lay out or trim in one of several ways: what can be read stays, to the bit.
static void lay_out(clan *c, uint32_t way)
{
    note_worlds(c);
    for (uint32_t i = 0; way != 0 && i < c->count; ++i) {
        espl_view view;

        if (c->is_dead[i] || heir_of(c, i) != NOBODY) {
            continue;
        }
        if (way == 1) {
            ck_assert_int_eq(espl_view_hierarchy(c->test.world, c->member[i], &view), ESPL_OK);
        } else {
            const espl_entity leaf = test_solo(c->test.world);
            ck_assert_int_eq(espl_attach(c->test.world, leaf, c->member[i], NULL), ESPL_OK);
            check_bits(c);
            ck_assert_int_eq(espl_destroy(c->test.world, leaf, ESPL_EXTENT_OWNED), ESPL_OK);
        }
    }
    if (way != 1) {
        ck_assert_int_eq(espl_compact(c->test.world), ESPL_OK);
    }
    check_bits(c);
}

// --- Each destroy of each closure ---

static void destroy_each(clan_shape shape, clan_links links, policy how)
{
    for (uint64_t seed = 1; seed <= 4; ++seed) {
        for (uint32_t top = 0; top < KIN; ++top) {
            clan c;

            begin_clan(&c, shape, links, seed * SHAPE_COUNT + (uint64_t)shape);
            if (top < c.count) {
                destroy(&c, top, how);
                check_clan(&c);
                check_worlds(&c);
                lay_out(&c, (top + (uint32_t)seed) % 3);
                check_query(&c, NULL);
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

START_TEST(destroy_takes_the_owned_closure_and_leaves_the_others_where_they_are)
{
    destroy_all_links(shapes[_i], OWNED_CLOSURE);
}
END_TEST

START_TEST(destroy_subtree_takes_all_that_is_below_and_moves_nobody_else)
{
    destroy_all_links(shapes[_i], WHOLE_SUBTREE);
}
END_TEST

START_TEST(destroy_only_takes_one_and_leaves_all_below_where_they_are)
{
    destroy_all_links(shapes[_i], ONE_ALONE);
}
END_TEST

// Deaths one after the other, until none is left; now and then the trees are laid out.
START_TEST(whoever_survives_many_deaths_is_where_it_was)
{
    uint64_t random = 77 + (uint64_t)_i;

    for (size_t run = 0; run < test_scaled(60); ++run) {
        uint32_t living[KIN];
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
                check_clan(&c);
                check_worlds(&c);
            }
            if (test_one_in(&random, 8)) {
                lay_out(&c, test_below(&random, 3));
            }
        }
        ck_assert_uint_eq(test_stats(c.test.world).entities, 0);
        test_world_end(&c.test);
    }
}
END_TEST

// --- A root that dies ---

// What a subtree lists, as handles.
static size_t copy_below(const clan *c, uint32_t top, espl_entity *out, uint32_t *depths)
{
    const espl_subtree_arrays arrays = {.entities = out, .depths = depths};

    return espl_copy_subtree(c->test.world, c->member[top], ESPL_EXTENT_SUBTREE, KIN, &arrays);
}

static void check_split(clan *c)
{
    espl_entity before[KIN], after[KIN], lists[KIN][KIN];
    uint32_t depths[KIN];
    size_t sizes[KIN] = {0}, roots = 0, solos = 0, listed = 0;
    const size_t count = copy_below(c, 0, before, depths);

    for (uint32_t i = 1; i < c->count; ++i) {
        sizes[i] = copy_below(c, i, lists[i], depths);
    }
    (void)copy_below(c, 0, before, depths);
    destroy(c, 0, ONE_ALONE);

    // The first level of the old listing are the new tops, in order; each lists what it did.
    for (size_t n = 1; n < count && depths[n] == 1; ++n, ++listed) {
        uint32_t i = 1, own[KIN];
        while (!espl_entity_equal(c->member[i], before[n])) {
            i += 1;
        }
        const espl_role role = espl_get_role(c->test.world, before[n]);
        ck_assert_int_eq(role, sizes[i] > 1 ? ESPL_ROLE_ROOT : ESPL_ROLE_SOLO);
        ck_assert_uint_eq(copy_below(c, i, after, own), sizes[i]);
        ck_assert_int_eq(memcmp(after, lists[i], sizes[i] * sizeof *after), 0);
        roots += role == ESPL_ROLE_ROOT;
        solos += role == ESPL_ROLE_SOLO;
    }
    const espl_world_stats stats = test_stats(c->test.world);
    ck_assert_uint_eq(stats.hierarchies, roots);
    ck_assert_uint_eq(stats.solos, solos);
    ck_assert_uint_eq(listed, roots + solos);
}

START_TEST(a_destroyed_root_leaves_hierarchies_that_stand_as_its_children_stood)
{
    for (clan_links links = OWNED; links < LINKS_COUNT; ++links) {
        for (uint64_t seed = 1; seed <= 20; ++seed) {
            clan c;

            begin_clan(&c, shapes[_i], links, seed);
            check_split(&c);
            check_clan(&c);
            check_worlds(&c);
            lay_out(&c, (uint32_t)seed % 3);
            test_world_end(&c.test);
        }
    }
}
END_TEST

static Suite *destroys_suite(void)
{
    Suite *const suite = suite_create("destroys");
    TCase *const tcase = tcase_create("closures");

    tcase_set_timeout(tcase, 600);
    tcase_add_loop_test(tcase, destroy_takes_the_owned_closure_and_leaves_the_others_where_they_are,
                        0, SHAPE_COUNT);
    tcase_add_loop_test(tcase, destroy_subtree_takes_all_that_is_below_and_moves_nobody_else, 0,
                        SHAPE_COUNT);
    tcase_add_loop_test(tcase, destroy_only_takes_one_and_leaves_all_below_where_they_are, 0,
                        SHAPE_COUNT);
    tcase_add_loop_test(tcase, whoever_survives_many_deaths_is_where_it_was, 0, SHAPE_COUNT);
    tcase_add_loop_test(tcase, a_destroyed_root_leaves_hierarchies_that_stand_as_its_children_stood,
                        0, SHAPE_COUNT);
    suite_add_tcase(suite, tcase);
    return suite;
}

RUN_SUITE(destroys_suite)
