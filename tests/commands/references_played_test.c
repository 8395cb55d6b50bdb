// SPDX-License-Identifier: MIT
// Entity references in clones of one playback: exactly as one by one, through clones of clones, also
// where some die in it.
#include "tests/commands/linked.h"
#include "tests/runner.h"

static espl_entity record_clone(scene *s, espl_entity source, espl_entity parent,
                                const espl_component_value *value)
{
    const espl_instance_def def = {
        .source = source, .parent = parent, .values = value, .value_count = value != NULL ? 1 : 0};
    espl_entity pending = {0};

    ck_assert_int_eq(espl_record_instantiate(s->lane, 0, &def, 1, &pending), ESPL_OK);
    return pending;
}

START_TEST(a_clone_of_a_clone_is_mapped_through_both)
{
    scene s;

    scene_begin(&s);
    const espl_entity top = make(&s), low = make_below(&s, top, ESPL_LINK_OWNED);
    set_links(&s, top, low, top, nobody);
    set_links(&s, low, top, low, nobody);
    const espl_entity first = record_clone(&s, top, nobody, NULL);
    const espl_entity second = record_clone(&s, first, nobody, NULL);
    const espl_entity third = record_clone(&s, second, nobody, NULL);
    // The middle one goes, in the same playback.
    ck_assert_int_eq(espl_record_destroy(s.lane, 0, second, ESPL_EXTENT_SUBTREE), ESPL_OK);
    play(&s);
    ck_assert_uint_eq(s.report.created, 4);
    const espl_entity kept[] = {resolved(&s, first), resolved(&s, third)};
    for (int i = 0; i < 2; ++i) {
        const espl_entity below = child(&s, kept[i], 0);
        ck_names(link_of(&s, kept[i], 0), below);
        ck_names(link_of(&s, kept[i], 1), kept[i]);
        ck_names(link_of(&s, below, 0), kept[i]);
        ck_names(link_of(&s, below, 1), below);
    }
    scene_end(&s);
}
END_TEST

// One by one the lost one had a handle, which is dead now; it has one here too, the same for all.
START_TEST(a_clone_that_died_in_the_playback_is_named_as_dead)
{
    scene s;

    scene_begin(&s);
    const espl_entity top = make(&s), a = make_below(&s, top, ESPL_LINK_OWNED);
    const espl_entity b = make_below(&s, top, ESPL_LINK_OWNED);
    const espl_entity holder = make(&s);
    set_links(&s, a, top, b, a);
    set_links(&s, b, top, a, b);
    const espl_entity first = record_clone(&s, top, holder, NULL);
    ck_assert_int_eq(espl_record_destroy(s.lane, 0, first, ESPL_EXTENT_ENTITY), ESPL_OK);
    play(&s);
    ck_assert_uint_eq(s.report.created, 2);
    const espl_entity copy_a = child(&s, holder, 0), copy_b = child(&s, holder, 1);
    const espl_entity lost = link_of(&s, copy_a, 0);
    espl_transform unused;
    ck_names(link_of(&s, copy_b, 0), lost);
    ck_assert_int_eq(espl_get_world_transform(s.world, lost, &unused), ESPL_ERR_DEAD);
    ck_names(link_of(&s, copy_a, 1), copy_b);
    ck_names(link_of(&s, copy_b, 1), copy_a);
    // Its handle is used up: whoever comes next is another.
    ck_assert(!espl_entity_equal(make(&s), lost));
    ck_assert_int_eq(espl_get_world_transform(s.world, lost, &unused), ESPL_ERR_DEAD);
    scene_end(&s);
}
END_TEST

// What it had of the dead is cloned with it, and not taken for one of the new clones.
START_TEST(a_clone_of_who_names_a_dead_clone_names_it_too)
{
    scene s;

    scene_begin(&s);
    const espl_entity top = make(&s), low = make_below(&s, top, ESPL_LINK_FREE);
    const espl_entity below = make_below(&s, top, ESPL_LINK_OWNED), holder = make(&s);
    set_links(&s, below, top, below, low);
    const espl_entity place = record_clone(&s, holder, nobody, NULL);
    const espl_entity first = record_clone(&s, top, place, NULL);
    ck_assert_int_eq(espl_record_destroy(s.lane, 0, first, ESPL_EXTENT_ENTITY), ESPL_OK);
    const espl_entity second = record_clone(&s, place, nobody, NULL);
    play(&s);
    ck_assert_uint_eq(s.report.created, 4);
    const espl_entity one = child(&s, resolved(&s, place), 0);
    const espl_entity two = child(&s, resolved(&s, second), 0);
    const espl_entity lost = link_of(&s, one, 0);
    espl_transform unused;
    ck_assert_int_eq(espl_get_world_transform(s.world, lost, &unused), ESPL_ERR_DEAD);
    ck_names(link_of(&s, two, 0), lost);
    ck_names(link_of(&s, one, 1), one);
    ck_names(link_of(&s, two, 1), two);
    ck_names(link_of(&s, one, 2), low);
    ck_names(link_of(&s, two, 2), low);
    scene_end(&s);
}
END_TEST

// A part of a clone is cloned: what it names of the rest stays the first clone's.
START_TEST(a_part_of_a_clone_keeps_what_it_names_of_the_rest)
{
    scene s;

    scene_begin(&s);
    const espl_entity top = make(&s), low = make_below(&s, top, ESPL_LINK_OWNED);
    set_links(&s, low, top, low, nobody);
    set_links(&s, top, low, nobody, nobody);
    const espl_entity first = record_clone(&s, top, nobody, NULL);
    // An original that comes under the clone is cloned with it.
    const espl_entity guest = make(&s);
    set_links(&s, guest, guest, top, low);
    set_target(&s, top, guest);
    ck_assert_int_eq(espl_record_attach(s.lane, 0, guest, first, NULL), ESPL_OK);
    const espl_entity second = record_clone(&s, first, nobody, NULL);
    const espl_entity third = record_clone(&s, guest, nobody, NULL);
    play(&s);
    const espl_entity one = resolved(&s, first), two = resolved(&s, second);
    const espl_entity three = resolved(&s, third);
    ck_names(link_of(&s, one, 0), child(&s, one, 0));
    ck_names(target_of(&s, one), guest);
    ck_names(child(&s, one, 1), guest);
    ck_names(link_of(&s, two, 0), child(&s, two, 0));
    ck_names(target_of(&s, two), child(&s, two, 1));
    ck_names(link_of(&s, child(&s, two, 1), 0), child(&s, two, 1));
    ck_names(link_of(&s, child(&s, two, 1), 1), top);
    ck_names(link_of(&s, child(&s, two, 1), 2), low);
    ck_names(link_of(&s, three, 0), three);
    ck_names(link_of(&s, guest, 0), guest);
    scene_end(&s);
}
END_TEST

START_TEST(values_go_on_top_and_are_mapped_by_the_next_clone)
{
    scene s;

    scene_begin(&s);
    const espl_entity top = make(&s), low = make_below(&s, top, ESPL_LINK_OWNED);
    const espl_entity guest = make(&s);
    const espl_entity named[LINKS] = {top, low, guest};
    unsigned char bytes[LINKS_SIZE];
    pack_links(bytes, named);
    const espl_component_value value = {s.links, LINKS_SIZE, bytes};
    set_links(&s, top, low, low, low);
    set_target(&s, top, top);
    const espl_entity first = record_clone(&s, top, nobody, &value);
    ck_assert_int_eq(espl_record_attach(s.lane, 0, guest, first, NULL), ESPL_OK);
    const espl_entity second = record_clone(&s, first, nobody, NULL);
    play(&s);
    const espl_entity one = resolved(&s, first), two = resolved(&s, second);
    ck_names(link_of(&s, one, 0), top);
    ck_names(link_of(&s, one, 1), low);
    ck_names(link_of(&s, one, 2), guest);
    ck_names(target_of(&s, one), one);
    ck_names(link_of(&s, two, 0), top);
    ck_names(link_of(&s, two, 1), low);
    ck_names(link_of(&s, two, 2), child(&s, two, 1));
    ck_names(target_of(&s, two), two);
    scene_end(&s);
}
END_TEST

// A component with references that only the values bring.
START_TEST(values_bring_references_of_their_own)
{
    scene s;

    scene_begin(&s);
    const espl_entity plain = test_solo(s.world), holder = make(&s);
    const espl_component_value value = {s.target, sizeof plain, &plain};
    const espl_component_value zero = {s.target, sizeof plain, NULL};
    const espl_entity first = record_clone(&s, plain, holder, &value);
    const espl_entity second = record_clone(&s, first, holder, &zero);
    play(&s);
    ck_names(target_of(&s, resolved(&s, first)), plain);
    ck_names(target_of(&s, resolved(&s, second)), nobody);
    scene_end(&s);
}
END_TEST

// --- Recorded against one by one ---

enum { ACTORS = 48, STEPS = 24, PAIRS = 4096 };

// A world with actors: originals, then the tops of clones in order of their commands.
typedef struct stage {
    scene s;
    espl_entity actors[ACTORS];
    uint32_t count;
} stage;

typedef struct act {
    unsigned kind;
    uint32_t actor, other, copies;
    bool has_value;
    uint32_t named;
} act;

static void stage_begin(stage *st, uint64_t seed)
{
    tree t;

    memset(st, 0, sizeof *st);
    scene_begin(&st->s);
    st->actors[st->count++] = make(&st->s); // everything comes to hang below it
    plant(&st->s, &seed, &t);
    for (uint32_t i = 0; i < 12; ++i) {
        st->actors[st->count++] = t.nodes[i];
    }
}

static espl_status record_instance(stage *st, const act *a, const espl_component_value *value)
{
    const espl_instance_def def = {.source = st->actors[a->actor],
                                   .parent = st->actors[a->other],
                                   .values = value,
                                   .value_count = a->has_value ? 1 : 0};

    return espl_record_instantiate(st->s.lane, 0, &def, a->copies, st->actors + st->count);
}

static void record_act(stage *st, const act *a)
{
    // An original's handle is the same in both worlds.
    const espl_component_value value = {st->s.target, sizeof(espl_entity), &st->actors[a->named]};
    const espl_entity actor = st->actors[a->actor];
    espl_status status = ESPL_OK;

    switch (a->kind) {
    case 0:
        status = espl_record_destroy(st->s.lane, 0, actor, ESPL_EXTENT_OWNED);
        break;
    case 1:
        status = espl_record_destroy(st->s.lane, 0, actor, ESPL_EXTENT_ENTITY);
        break;
    case 2:
    case 3:
        status = espl_record_attach(st->s.lane, 0, actor, st->actors[a->other], NULL);
        break;
    default:
        status = record_instance(st, a, &value);
        st->count += a->copies;
        break;
    }
    ck_assert_int_eq(status, ESPL_OK);
}

// @return false where a world of a build with tiny limits is full; then nothing was done.
static bool settle(stage *st, uint32_t first)
{
    const espl_status played = espl_play(st->s.world, st->s.commands, NULL);

    if (played == ESPL_ERR_LIMIT && test_limits_of_build().entities < PAIRS) {
        return false;
    }
    ck_assert_int_eq(played, ESPL_OK);
    for (uint32_t i = first; i < st->count; ++i) {
        espl_entity found = {UINT32_MAX, 1}; // nobody's
        const espl_status status =
            espl_command_buffer_resolve(st->s.commands, st->actors[i], &found);

        ck_assert(status == ESPL_OK || status == ESPL_ERR_DEAD);
        st->actors[i] = found;
    }
    espl_command_buffer_reset(st->s.commands);
    test_world_is_valid(st->s.world);
    return true;
}

// Who is who in the two worlds; the dead as well.
typedef struct pairs {
    espl_entity left[PAIRS], right[PAIRS];
    size_t count;
} pairs;

static void pair_up(pairs *p, espl_entity left, espl_entity right)
{
    for (size_t i = 0; i < p->count; ++i) {
        const bool is_left = espl_entity_equal(p->left[i], left);

        ck_assert_int_eq(is_left, espl_entity_equal(p->right[i], right));
        if (is_left) {
            return;
        }
    }
    ck_assert_uint_lt(p->count, PAIRS);
    p->left[p->count] = left;
    p->right[p->count++] = right;
}

// All that hangs below the first actors; the pairs are their own queue.
static void pair_trees(pairs *p, const stage *a, const stage *b)
{
    p->count = 0;
    pair_up(p, a->actors[0], b->actors[0]);
    for (size_t i = 0; i < p->count; ++i) {
        espl_entity twin = espl_get_first_child(b->s.world, p->right[i]);

        for (espl_entity at = espl_get_first_child(a->s.world, p->left[i]);
             !espl_entity_is_null(at); at = espl_get_next_sibling(a->s.world, at)) {
            ck_assert(!espl_entity_is_null(twin));
            pair_up(p, at, twin);
            twin = espl_get_next_sibling(b->s.world, twin);
        }
        ck_assert(espl_entity_is_null(twin));
    }
}

static void names_agree(pairs *p, const stage *a, const stage *b, espl_entity left,
                        espl_entity right)
{
    ck_assert_int_eq(espl_is_alive(a->s.world, left), espl_is_alive(b->s.world, right));
    ck_assert_int_eq(espl_entity_is_null(left), espl_entity_is_null(right));
    pair_up(p, left, right);
}

static void stages_agree(const stage *a, const stage *b)
{
    static pairs p;

    pair_trees(&p, a, b);
    for (size_t i = 0, living = p.count; i < living; ++i) {
        ck_assert_int_eq(espl_has_component(a->s.world, p.left[i], a->s.links),
                         espl_has_component(b->s.world, p.right[i], b->s.links));
        for (int k = 0; k < LINKS; ++k) {
            names_agree(&p, a, b, link_of(&a->s, p.left[i], k), link_of(&b->s, p.right[i], k));
        }
        names_agree(&p, a, b, target_of(&a->s, p.left[i]), target_of(&b->s, p.right[i]));
    }
}

static act random_act(uint64_t *random, uint32_t count)
{
    act a = {.kind = test_below(random, 10),
             .actor = 1 + test_below(random, count - 1),
             .other = test_below(random, count),
             .copies = 1 + test_below(random, 2),
             .has_value = test_one_in(random, 3),
             .named = test_below(random, 13)};

    // What dies with all that hangs below it leaves nobody to name it: rarely.
    a.kind = a.kind == 0 && !test_one_in(random, 3) ? 1 : a.kind;
    return a;
}

// Everything hangs below the first actor, so that each survivor is found.
START_TEST(recorded_references_agree_with_one_by_one)
{
    const uint32_t steps = test_limits_of_build().entities < PAIRS ? 4 : STEPS;
    uint64_t random = 100 + (uint64_t)_i;
    size_t compared = 0;

    for (size_t round = 0; round < test_scaled(60); ++round) {
        stage one, many;

        stage_begin(&one, random);
        stage_begin(&many, random);
        const uint32_t originals = one.count;
        for (uint32_t i = 1; i < originals; ++i) {
            // Some are attached already; a cycle is refused in both.
            const act a = {.kind = 2, .actor = i, .other = 0};
            record_act(&one, &a);
            ck_assert(settle(&one, one.count));
            record_act(&many, &a);
            ck_assert(settle(&many, many.count));
        }
        bool has_room = true;
        for (uint32_t step = 0; step < steps && has_room && many.count + 2 <= ACTORS; ++step) {
            const act a = random_act(&random, many.count);
            const uint32_t first = one.count;

            record_act(&one, &a);
            has_room = settle(&one, first);
            record_act(&many, &a);
        }
        if (has_room && settle(&many, originals)) {
            stages_agree(&one, &many);
            compared += 1;
        }
        scene_end(&one.s);
        scene_end(&many.s);
    }
    ck_assert_uint_ge(compared, test_scaled(60) / (steps == STEPS ? 1 : 4));
}
END_TEST

// --- Memory ---

START_TEST(without_memory_nothing_is_cloned)
{
    espl_status status = ESPL_ERR_NO_MEMORY;
    size_t points = 0;
    scene s;

    scene_begin(&s);
    const espl_entity top = make(&s), low = make_below(&s, top, ESPL_LINK_OWNED);
    const espl_entity holder = make(&s);
    set_links(&s, top, low, top, nobody);
    set_links(&s, low, top, low, nobody);
    const espl_entity first = record_clone(&s, top, holder, NULL);
    for (uint32_t i = 0; i < test_fitting(40 * 2, 6) / 2; ++i) {
        (void)record_clone(&s, first, holder, NULL);
    }
    ck_assert_int_eq(espl_record_destroy(s.lane, 0, first, ESPL_EXTENT_ENTITY), ESPL_OK);
    for (size_t n = 1; status == ESPL_ERR_NO_MEMORY; ++n) {
        const uint64_t before = test_physical_hash(s.world);
        test_heap_arm(&s.test.heap, n, _i != 0);
        status = espl_play(s.world, s.commands, NULL);
        test_heap_arm(&s.test.heap, 0, false);
        if (status == ESPL_ERR_NO_MEMORY) {
            ck_assert_uint_eq(test_physical_hash(s.world), before);
            test_world_is_valid(s.world);
            points += 1;
        }
    }
    ck_assert_int_eq(status, ESPL_OK);
    ck_assert_uint_gt(points, 10);
    // The destroyed top's child took its place, before those that came after.
    const espl_entity orphan = child(&s, holder, 0), copy = child(&s, holder, 1);
    ck_names(link_of(&s, orphan, 1), orphan);
    ck_assert(!espl_is_alive(s.world, link_of(&s, orphan, 0)));
    ck_names(link_of(&s, copy, 0), child(&s, copy, 0));
    scene_end(&s);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("references_played");
    TCase *const rule = tcase_create("rule");

    tcase_add_test(rule, a_clone_of_a_clone_is_mapped_through_both);
    tcase_add_test(rule, a_clone_that_died_in_the_playback_is_named_as_dead);
    tcase_add_test(rule, a_clone_of_who_names_a_dead_clone_names_it_too);
    tcase_add_test(rule, a_part_of_a_clone_keeps_what_it_names_of_the_rest);
    tcase_add_test(rule, values_go_on_top_and_are_mapped_by_the_next_clone);
    tcase_add_test(rule, values_bring_references_of_their_own);
    tcase_add_loop_test(rule, without_memory_nothing_is_cloned, 0, 2);
    tcase_add_loop_test(rule, recorded_references_agree_with_one_by_one, 0, 4);
    tcase_set_timeout(rule, 120);
    suite_add_tcase(suite, rule);
    return suite;
}

RUN_SUITE(make_suite)
