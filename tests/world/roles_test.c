// SPDX-License-Identifier: MIT
// Who may come under whom: a solo, a root with its tree, a leaf and a member with a subtree, each
// under a solo, a root, an inner member and a leaf, across two hierarchies and within one; with
// every rule for each part, sorts of inherit flags, both links and each sibling position, at once
// and recorded; and back again. Each pair is a test of its own, all against the model.
#include "tests/runner.h"
#include "tests/small.h"

// Two hierarchies of one shape, and two solos. The numbers are the model's.
enum {
    ROOT,    // children: INNER, LEAF, LAST
    INNER,   // children: SMALL, SUBTREE
    SMALL,   // a leaf
    SUBTREE, // children: COPY, KEEP
    COPY,    // copies its parent
    KEEP,    // keeps parts of its own
    LEAF,
    LAST,
    HIERARCHY_SIZE,

    OTHER_ROOT = HIERARCHY_SIZE,
    OTHER_INNER,
    OTHER_LEAF = OTHER_ROOT + LEAF,
    SOLO = 2 * HIERARCHY_SIZE,
    OTHER_SOLO,
    NODE_COUNT
};

static void plant(small *s)
{
    static const uint32_t parents[HIERARCHY_SIZE] = {MODEL_NONE, ROOT,    INNER, INNER,
                                                     SUBTREE,    SUBTREE, ROOT,  ROOT};

    for (uint32_t i = 0; i < NODE_COUNT; ++i) {
        const uint32_t at = i % HIERARCHY_SIZE, first = i - at;
        const bool is_alone = i >= SOLO || parents[at] == MODEL_NONE;
        (void)small_add(s, is_alone ? MODEL_NONE : first + parents[at],
                        at == LEAF || at == COPY ? ESPL_LINK_FREE : ESPL_LINK_OWNED);
    }
    for (uint32_t first = 0; first < SOLO; first += HIERARCHY_SIZE) {
        const operation ops[3] = {
            {.code = OP_SET_INHERIT, .entity = first + COPY, .inherit = ESPL_COPY_PARENT},
            {.code = OP_SET_INHERIT,
             .entity = first + KEEP,
             .inherit = ESPL_ABSOLUTE_Y | ESPL_ABSOLUTE_UP},
            {.code = OP_WRITE,
             .entity = first + INNER,
             .kind = ESPL_WRITE_STRETCH,
             .data.stretch = {1, 2, 0.5f}}};
        for (int i = 0; i < 3; ++i) {
            (void)small_run(s, &ops[i]);
        }
    }
}

// --- One pair ---

static const uint32_t flags[] = {
    0,
    ESPL_ABSOLUTE_X | ESPL_ABSOLUTE_Z,
    ESPL_ABSOLUTE_FORWARD,
    ESPL_ABSOLUTE_UP | ESPL_STRICT_UP,
    ESPL_ABSOLUTE_ROTATION,
    ESPL_ABSOLUTE_SCALE,
    ESPL_ABSOLUTE_POSITION | ESPL_ABSOLUTE_ROTATION | ESPL_ABSOLUTE_SCALE,
    ESPL_COPY_PARENT,
};

enum { FLAG_SORTS = sizeof flags / sizeof *flags, RULES = 27, CHOICES = RULES * FLAG_SORTS * 2 };

// Every so many-th of the choices is tried where that is slow.
static uint32_t step(void)
{
    return test_stride(7);
}

static void carry_out(small *s, operation *op, bool is_recorded)
{
    if (is_recorded) {
        small_play(s, op, 1);
    } else {
        (void)small_run(s, op);
        side_compare(&s->side, &s->tape);
    }
}

// There, and back.
static void try_one(small *s, const operation *attach, espl_keep keep, bool is_recorded)
{
    operation there = *attach;
    operation back = {.code = OP_DETACH, .entity = attach->entity, .keep = keep};

    plant(s);
    carry_out(s, &there, is_recorded);
    carry_out(s, &back, is_recorded);
    small_clear(s);
}

static void try_rules(small *s, uint32_t child, uint32_t parent, uint32_t before)
{
    for (uint32_t n = 0; n < CHOICES; n += step()) {
        const uint32_t rule = n % RULES, sort = n / RULES % FLAG_SORTS;
        const operation op = {.code = OP_ATTACH,
                              .entity = child,
                              .parent = parent,
                              .before = before,
                              .options = {.position = (espl_keep)(rule % 3),
                                          .rotation = (espl_keep)(rule / 3 % 3),
                                          .scale = (espl_keep)(rule / 9),
                                          .inherit = flags[sort],
                                          .link = (espl_link)(n / RULES / FLAG_SORTS)}};
        for (int way = 0; way < 2; ++way) {
            try_one(s, &op, (espl_keep)((rule + sort) % 3), way != 0);
        }
    }
}

// Every case of a pair: last, and before each child that the parent has.
static void try_pair(uint32_t child, uint32_t parent)
{
    uint32_t before[NODE_COUNT], places = 1;
    small s;

    small_begin(&s);
    plant(&s);
    before[0] = MODEL_NONE;
    for (uint32_t i = s.tape.model.nodes[parent].first; i != MODEL_NONE;
         i = s.tape.model.nodes[i].next) {
        before[places++] = i;
    }
    small_clear(&s);
    s.cases = 0;
    for (uint32_t i = 0; i < places; ++i) {
        try_rules(&s, child, parent, before[i]);
    }
    ck_assert_uint_eq(s.cases, places * ((CHOICES + step() - 1) / step()) * 2);
    small_end(&s);
}

// --- All pairs ---

#define PAIRS(X)                                                                        \
    X(a_solo_comes_under_a_solo, SOLO, OTHER_SOLO)                                      \
    X(a_solo_comes_under_a_root, SOLO, OTHER_ROOT)                                      \
    X(a_solo_comes_under_an_inner_member, SOLO, OTHER_INNER)                            \
    X(a_solo_comes_under_a_leaf, SOLO, OTHER_LEAF)                                      \
    X(a_root_with_its_tree_comes_under_a_solo, ROOT, SOLO)                              \
    X(a_root_with_its_tree_comes_under_a_root, ROOT, OTHER_ROOT)                        \
    X(a_root_with_its_tree_comes_under_an_inner_member, ROOT, OTHER_INNER)              \
    X(a_root_with_its_tree_comes_under_a_leaf, ROOT, OTHER_LEAF)                        \
    X(a_leaf_comes_under_a_solo, SMALL, SOLO)                                           \
    X(a_leaf_comes_under_a_root_of_another_hierarchy, SMALL, OTHER_ROOT)                \
    X(a_leaf_comes_under_an_inner_member_of_another_hierarchy, SMALL, OTHER_INNER)      \
    X(a_leaf_comes_under_a_leaf_of_another_hierarchy, SMALL, OTHER_LEAF)                \
    X(a_subtree_comes_under_a_solo, SUBTREE, SOLO)                                      \
    X(a_subtree_comes_under_a_root_of_another_hierarchy, SUBTREE, OTHER_ROOT)           \
    X(a_subtree_comes_under_an_inner_member_of_another_hierarchy, SUBTREE, OTHER_INNER) \
    X(a_subtree_comes_under_a_leaf_of_another_hierarchy, SUBTREE, OTHER_LEAF)           \
    X(a_leaf_comes_under_its_root, SMALL, ROOT)                                         \
    X(a_leaf_comes_under_the_parent_it_has, SMALL, INNER)                               \
    X(a_leaf_comes_under_its_sibling, SMALL, SUBTREE)                                   \
    X(a_leaf_comes_under_a_leaf_of_its_hierarchy, SMALL, LEAF)                          \
    X(a_child_of_a_root_comes_under_the_root_it_has, LEAF, ROOT)                        \
    X(a_child_of_a_root_comes_under_an_inner_member_of_its_hierarchy, LEAF, SUBTREE)    \
    X(a_subtree_comes_under_its_root, SUBTREE, ROOT)                                    \
    X(a_subtree_comes_under_the_parent_it_has, SUBTREE, INNER)                          \
    X(a_subtree_comes_under_a_leaf_of_its_hierarchy, SUBTREE, LEAF)                     \
    X(a_subtree_comes_under_its_sibling, SUBTREE, SMALL)                                \
    X(a_member_with_subtrees_comes_under_a_leaf_of_its_hierarchy, INNER, LAST)          \
    X(a_solo_is_refused_under_itself, SOLO, SOLO)                                       \
    X(a_root_is_refused_under_itself, ROOT, ROOT)                                       \
    X(a_root_is_refused_under_an_inner_member_below_it, ROOT, INNER)                    \
    X(a_root_is_refused_under_a_leaf_below_it, ROOT, LEAF)                              \
    X(a_leaf_is_refused_under_itself, SMALL, SMALL)                                     \
    X(a_subtree_is_refused_under_itself, SUBTREE, SUBTREE)                              \
    X(a_subtree_is_refused_under_its_own_leaf, SUBTREE, KEEP)                           \
    X(a_subtree_is_refused_under_an_inner_member_below_it, INNER, SUBTREE)

#define DEFINE_PAIR(name, child, parent) \
    START_TEST(name)                     \
    {                                    \
        try_pair(child, parent);         \
    }                                    \
    END_TEST

PAIRS(DEFINE_PAIR)

// --- What becomes of the old hierarchy ---

static espl_world_stats stats_of(const small *s)
{
    espl_world_stats stats;

    espl_stats(s->side.world, &stats);
    return stats;
}

static espl_role role_of(const small *s, uint32_t node)
{
    return espl_get_role(s->side.world, s->side.handles[node]);
}

static void move_under(small *s, uint32_t child, uint32_t parent, bool is_recorded)
{
    operation op = {.code = OP_ATTACH, .entity = child, .parent = parent, .before = MODEL_NONE};

    carry_out(s, &op, is_recorded);
}

START_TEST(a_root_turns_solo_when_its_only_child_goes_elsewhere)
{
    for (int way = 0; way < 2; ++way) {
        small s;

        small_begin(&s);
        const uint32_t root = small_add(&s, MODEL_NONE, ESPL_LINK_OWNED);
        const uint32_t child = small_add(&s, root, ESPL_LINK_OWNED);
        const uint32_t other = small_add(&s, MODEL_NONE, ESPL_LINK_OWNED);
        ck_assert_int_eq(role_of(&s, root), ESPL_ROLE_ROOT);
        move_under(&s, child, other, way != 0);
        ck_assert_int_eq(role_of(&s, root), ESPL_ROLE_SOLO);
        ck_assert_int_eq(role_of(&s, other), ESPL_ROLE_ROOT);
        ck_assert_uint_eq(stats_of(&s).hierarchies, 1);
        ck_assert_uint_eq(stats_of(&s).solos, 1);
        small_clear(&s);
        small_end(&s);
    }
}
END_TEST

START_TEST(a_root_turns_solo_when_its_only_child_is_detached)
{
    for (int way = 0; way < 2; ++way) {
        small s;

        small_begin(&s);
        const uint32_t root = small_add(&s, MODEL_NONE, ESPL_LINK_OWNED);
        const uint32_t child = small_add(&s, root, ESPL_LINK_OWNED);
        operation op = {.code = OP_DETACH, .entity = child};
        carry_out(&s, &op, way != 0);
        ck_assert_int_eq(role_of(&s, root), ESPL_ROLE_SOLO);
        ck_assert_int_eq(role_of(&s, child), ESPL_ROLE_SOLO);
        ck_assert_uint_eq(stats_of(&s).hierarchies, 0);
        small_clear(&s);
        small_end(&s);
    }
}
END_TEST

START_TEST(the_hierarchy_of_a_root_that_comes_under_another_is_gone)
{
    for (int way = 0; way < 2; ++way) {
        small s;

        small_begin(&s);
        plant(&s);
        ck_assert_uint_eq(stats_of(&s).hierarchies, 2);
        move_under(&s, ROOT, OTHER_LEAF, way != 0);
        ck_assert_uint_eq(stats_of(&s).hierarchies, 1);
        ck_assert_uint_eq(stats_of(&s).members, 2 * HIERARCHY_SIZE - 1);
        ck_assert_int_eq(role_of(&s, ROOT), ESPL_ROLE_MEMBER);
        small_clear(&s);
        small_end(&s);
    }
}
END_TEST

START_TEST(a_detached_subtree_is_a_hierarchy_and_a_detached_leaf_a_solo)
{
    for (int way = 0; way < 2; ++way) {
        operation subtree = {.code = OP_DETACH, .entity = SUBTREE};
        operation leaf = {.code = OP_DETACH, .entity = LEAF};
        small s;

        small_begin(&s);
        plant(&s);
        carry_out(&s, &subtree, way != 0);
        carry_out(&s, &leaf, way != 0);
        ck_assert_int_eq(role_of(&s, SUBTREE), ESPL_ROLE_ROOT);
        ck_assert_int_eq(role_of(&s, LEAF), ESPL_ROLE_SOLO);
        ck_assert_int_eq(role_of(&s, ROOT), ESPL_ROLE_ROOT);
        ck_assert_uint_eq(stats_of(&s).hierarchies, 3);
        small_clear(&s);
        small_end(&s);
    }
}
END_TEST

static Suite *roles_suite(void)
{
    Suite *const suite = suite_create("roles");
    TCase *const pairs = tcase_create("pairs");
    TCase *const old = tcase_create("old hierarchies");

    tcase_set_timeout(pairs, 600);
#define ADD_PAIR(name, child, parent) tcase_add_test(pairs, name);
    PAIRS(ADD_PAIR)
    tcase_add_test(old, a_root_turns_solo_when_its_only_child_goes_elsewhere);
    tcase_add_test(old, a_root_turns_solo_when_its_only_child_is_detached);
    tcase_add_test(old, the_hierarchy_of_a_root_that_comes_under_another_is_gone);
    tcase_add_test(old, a_detached_subtree_is_a_hierarchy_and_a_detached_leaf_a_solo);
    suite_add_tcase(suite, pairs);
    suite_add_tcase(suite, old);
    return suite;
}

RUN_SUITE(roles_suite)
