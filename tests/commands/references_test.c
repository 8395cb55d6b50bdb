// SPDX-License-Identifier: MIT
// Entity references in clones made at once: inside the closure they are mapped, outside they are
// kept. Read through the public calls alone.
#include "tests/commands/linked.h"
#include "tests/runner.h"

// --- At once ---

START_TEST(references_inside_are_mapped_and_outside_kept)
{
    scene s;

    scene_begin(&s);
    const espl_entity outside = make(&s), dead = make(&s), top = make(&s);
    const espl_entity a = make_below(&s, top, ESPL_LINK_OWNED);
    const espl_entity b = make_below(&s, top, ESPL_LINK_OWNED);
    const espl_entity below = make_below(&s, b, ESPL_LINK_OWNED);
    const espl_entity loose = make_below(&s, top, ESPL_LINK_FREE);
    ck_assert_int_eq(espl_destroy(s.world, dead, ESPL_EXTENT_OWNED), ESPL_OK);
    set_links(&s, top, a, outside, below);
    set_links(&s, a, top, a, dead);
    set_links(&s, b, loose, nobody, top);
    set_links(&s, below, b, (espl_entity){77, 0x7f000001}, (espl_entity){UINT32_MAX, UINT32_MAX});
    set_target(&s, top, top);
    set_target(&s, a, below);
    set_target(&s, b, loose);

    const espl_entity copy = clone(&s, top);
    const espl_entity copy_a = child(&s, copy, 0), copy_b = child(&s, copy, 1);
    const espl_entity copy_below = child(&s, copy_b, 0);
    ck_names(link_of(&s, copy, 0), copy_a);
    ck_names(link_of(&s, copy, 1), outside);
    ck_names(link_of(&s, copy, 2), copy_below);
    ck_names(link_of(&s, copy_a, 0), copy);
    ck_names(link_of(&s, copy_a, 1), copy_a);
    ck_names(link_of(&s, copy_a, 2), dead);
    ck_names(link_of(&s, copy_b, 0), loose);
    ck_names(link_of(&s, copy_b, 1), nobody);
    ck_names(link_of(&s, copy_b, 2), copy);
    ck_names(link_of(&s, copy_below, 0), copy_b);
    ck_names(link_of(&s, copy_below, 1), (espl_entity){77, 0x7f000001});
    ck_names(link_of(&s, copy_below, 2), (espl_entity){UINT32_MAX, UINT32_MAX});
    ck_names(target_of(&s, copy), copy);
    ck_names(target_of(&s, copy_a), copy_below);
    ck_names(target_of(&s, copy_b), loose);

    // The original names what it named.
    ck_names(link_of(&s, top, 0), a);
    ck_names(link_of(&s, top, 2), below);
    ck_names(link_of(&s, a, 0), top);
    ck_names(target_of(&s, a), below);
    scene_end(&s);
}
END_TEST

START_TEST(a_member_alone_keeps_what_it_names_above)
{
    scene s;

    scene_begin(&s);
    const espl_entity top = make(&s), low = make_below(&s, top, ESPL_LINK_OWNED);
    set_links(&s, low, top, low, nobody);
    const espl_entity copy = clone(&s, low);
    ck_names(link_of(&s, copy, 0), top);
    ck_names(link_of(&s, copy, 1), copy);
    scene_end(&s);
}
END_TEST

// A handle of the same index but of an earlier life names nobody of the closure.
START_TEST(a_stale_handle_is_not_taken_for_its_heir)
{
    scene s;

    scene_begin(&s);
    const espl_entity dead = make(&s);
    ck_assert_int_eq(espl_destroy(s.world, dead, ESPL_EXTENT_OWNED), ESPL_OK);
    const espl_entity heir = make(&s);
    ck_assert_uint_eq(heir.index, dead.index);
    set_links(&s, heir, dead, heir, dead);
    const espl_entity copy = clone(&s, heir);
    ck_names(link_of(&s, copy, 0), dead);
    ck_names(link_of(&s, copy, 1), copy);
    ck_names(link_of(&s, copy, 2), dead);
    scene_end(&s);
}
END_TEST

START_TEST(each_of_many_copies_names_its_own_members)
{
    const size_t counts[] = {1, 2, 127, 128, 129, 1000, test_scaled(100000)};
    scene s;

    scene_begin(&s);
    const espl_entity outside = make(&s), top = make(&s);
    const espl_entity a = make_below(&s, top, ESPL_LINK_OWNED);
    const espl_entity b = make_below(&s, a, ESPL_LINK_OWNED);
    set_links(&s, top, b, a, outside);
    set_links(&s, b, top, outside, b);
    set_target(&s, a, top);
    for (size_t k = 0, made = 4; k < sizeof counts / sizeof *counts; ++k) {
        const size_t count = (test_fitting(made + counts[k] * 3, 0) - made) / 3;
        espl_entity *const copies = malloc((count + 1) * sizeof *copies);
        ck_assert_ptr_nonnull(copies);
        ck_assert_int_eq(espl_instantiate(s.world, top, count, copies), ESPL_OK);
        made += count * 3;
        for (size_t i = 0; i < count; ++i) {
            const espl_entity copy_a = child(&s, copies[i], 0), copy_b = child(&s, copy_a, 0);
            ck_names(link_of(&s, copies[i], 0), copy_b);
            ck_names(link_of(&s, copies[i], 1), copy_a);
            ck_names(link_of(&s, copies[i], 2), outside);
            ck_names(link_of(&s, copy_b, 0), copies[i]);
            ck_names(link_of(&s, copy_b, 1), outside);
            ck_names(link_of(&s, copy_b, 2), copy_b);
            ck_names(target_of(&s, copy_a), copies[i]);
        }
        free(copies);
    }
    test_world_is_valid(s.world);
    scene_end(&s);
}
END_TEST

// --- Against a naive map ---

static void add_pair(tree *t, espl_entity source, espl_entity copy)
{
    ck_assert_uint_lt(t->pair_count, TREE);
    t->pairs[t->pair_count][0] = source;
    t->pairs[t->pair_count++][1] = copy;
}

// Pair the source with its copy and all that hangs below: owned links only are cloned.
static void pair_below(const scene *s, tree *t, espl_entity source, espl_entity copy)
{
    t->pair_count = 0;
    add_pair(t, source, copy);
    for (uint32_t i = 0; i < t->pair_count; ++i) {
        espl_entity twin = espl_get_first_child(s->world, t->pairs[i][1]);

        for (espl_entity at = espl_get_first_child(s->world, t->pairs[i][0]);
             !espl_entity_is_null(at); at = espl_get_next_sibling(s->world, at)) {
            if (espl_get_link(s->world, at) == ESPL_LINK_OWNED) {
                ck_assert(!espl_entity_is_null(twin));
                add_pair(t, at, twin);
                twin = espl_get_next_sibling(s->world, twin);
            }
        }
        ck_assert(espl_entity_is_null(twin));
    }
}

static espl_entity twin_of(const tree *t, espl_entity named)
{
    for (uint32_t i = 0; i < t->pair_count; ++i) {
        if (espl_entity_equal(t->pairs[i][0], named)) {
            return t->pairs[i][1];
        }
    }
    return named;
}

static void copy_agrees(const scene *s, tree *t, espl_entity source, espl_entity copy)
{
    pair_below(s, t, source, copy);
    for (uint32_t i = 0; i < t->pair_count; ++i) {
        const espl_entity original = t->pairs[i][0], twin = t->pairs[i][1];

        for (int k = 0; k < LINKS; ++k) {
            ck_names(link_of(s, twin, k), twin_of(t, link_of(s, original, k)));
        }
        ck_names(target_of(s, twin), twin_of(t, target_of(s, original)));
    }
}

// Three copies, or as many as there is room for, should each be of all that hangs below.
static uint32_t copies_of(const scene *s, espl_entity source)
{
    const size_t size = 1 + espl_count_descendants(s->world, source);
    espl_world_stats stats;

    espl_stats(s->world, &stats);
    return (uint32_t)((test_fitting(stats.entities + 3 * size, 0) - stats.entities) / size);
}

START_TEST(random_trees_agree_with_a_naive_map)
{
    uint64_t random = 31;

    for (size_t round = 0; round < test_scaled(60); ++round) {
        espl_entity copies[3];
        scene s;
        tree t;

        scene_begin(&s);
        plant(&s, &random, &t);
        for (uint32_t step = 0; step < 8; ++step) {
            const espl_entity source = t.nodes[test_below(&random, TREE)];
            const uint32_t count = copies_of(&s, source);
            ck_assert_int_eq(espl_instantiate(s.world, source, count, copies), ESPL_OK);
            for (uint32_t k = 0; k < count; ++k) {
                copy_agrees(&s, &t, source, copies[k]);
            }
        }
        test_world_is_valid(s.world);
        scene_end(&s);
    }
}
END_TEST

// --- Cost ---

// Calls of the allocator for one playback of clones without references.
static size_t count_calls(bool has_references)
{
    static const uint32_t first[1] = {0};
    test_world test;
    espl_entity out[100];
    size_t calls = 0;

    test_world_begin(&test, 5, NULL);
    (void)register_one(test.world,
                       &(espl_component_def){"target", 8, 4, has_references ? first : NULL,
                                             has_references ? 1 : 0});
    const espl_entity source = test_solo(test.world);
    test_heap_arm(&test.heap, 0, false);
    ck_assert_int_eq(espl_instantiate(test.world, source, test_fitting(100, 1), out), ESPL_OK);
    calls = test.heap.calls;
    test_world_end(&test);
    return calls;
}

START_TEST(who_has_no_references_pays_nothing_for_them)
{
    ck_assert_uint_eq(count_calls(true), count_calls(false));
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("references");
    TCase *const rule = tcase_create("rule");
    TCase *const at_random = tcase_create("random");

    tcase_add_test(rule, references_inside_are_mapped_and_outside_kept);
    tcase_add_test(rule, a_member_alone_keeps_what_it_names_above);
    tcase_add_test(rule, a_stale_handle_is_not_taken_for_its_heir);
    tcase_add_test(rule, each_of_many_copies_names_its_own_members);
    tcase_add_test(rule, who_has_no_references_pays_nothing_for_them);
    tcase_set_timeout(rule, 60);
    suite_add_tcase(suite, rule);

    tcase_add_test(at_random, random_trees_agree_with_a_naive_map);
    tcase_set_timeout(at_random, 120);
    suite_add_tcase(suite, at_random);
    return suite;
}

RUN_SUITE(make_suite)
