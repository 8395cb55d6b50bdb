// SPDX-License-Identifier: MIT
// Entity references in clones, made immediately and in one playback: a reference inside the closure
// names the clone, any other is kept, also in clones of clones and where entities die in the
// playback.
#include "tests/runner.h"
#include "tests/support.h"

#include <stdlib.h>
#include <string.h>

// --- A world of entities that refer to each other through components ---

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

// A component by its name, size, alignment and references.
#define COMPONENT(...) ((espl_component_def){__VA_ARGS__, 0, 0, NULL, 0, {0}})

static espl_component register_one(espl_world *world, const espl_component_def *def)
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
    s.links = register_one(s.world, &COMPONENT("links", LINKS_SIZE, 1, link_offsets, LINKS));
    s.data = register_one(s.world, &COMPONENT("data", 8, 8, NULL, 0));
    s.target = register_one(s.world, &COMPONENT("target", 8, 4, first, 1));
    s.mark = register_one(s.world, &COMPONENT("mark", 0, 1, NULL, 0));
    ck_ok(espl_command_buffer_create(s.world, 1, &s.commands));
    s.lane = espl_command_buffer_recorder(s.commands, 0);
}

static void tear_down(void)
{
    espl_command_buffer_destroy(s.commands);
    test_world_end(&s.test);
}

static void play(void)
{
    ck_ok(espl_play(s.world, s.commands, &s.report));
    ck_assert_uint_eq(s.report.refused, 0);
    test_world_is_valid(s.world);
}

static espl_entity resolved(espl_entity pending)
{
    espl_entity out = {0};

    ck_ok(espl_command_buffer_resolve(s.commands, pending, &out));
    return out;
}

// --- Entities with references ---

static espl_entity make(void)
{
    const espl_component set[] = {ESPL_TRANSFORM, s.links, s.data, s.target};
    espl_entity entity = {0};

    ck_ok(espl_create(s.world, set, 4, 1, &entity));
    return entity;
}

static espl_entity make_below(espl_entity parent, espl_link link)
{
    const espl_entity entity = make();

    ck_ok(espl_attach(s.world, entity, parent, &(espl_attach_options){.link = link}));
    return entity;
}

static void pack_links(unsigned char *bytes, const espl_entity *named)
{
    memset(bytes, 0x5a, LINKS_SIZE);
    for (int i = 0; i < LINKS; ++i) {
        memcpy(bytes + link_offsets[i], &named[i], sizeof named[i]);
    }
}

static void set_links(espl_entity entity, espl_entity a, espl_entity b, espl_entity c)
{
    const espl_entity named[LINKS] = {a, b, c};
    unsigned char bytes[LINKS_SIZE];

    pack_links(bytes, named);
    ck_ok(espl_set_component(s.world, entity, s.links, bytes, LINKS_SIZE));
}

static void set_target(espl_entity entity, espl_entity named)
{
    ck_ok(espl_set_component(s.world, entity, s.target, &named, sizeof named));
}

static espl_entity link_of(espl_entity entity, int i)
{
    unsigned char bytes[LINKS_SIZE];
    espl_entity named;

    ck_ok(espl_get_component(s.world, entity, s.links, bytes, LINKS_SIZE));
    ck_assert(bytes[0] == bytes[9] && bytes[9] == bytes[18] && bytes[18] == bytes[27]);
    memcpy(&named, bytes + link_offsets[i], sizeof named);
    return named;
}

static espl_entity target_of(espl_entity entity)
{
    espl_entity named = {0};

    ck_ok(espl_get_component(s.world, entity, s.target, &named, sizeof named));
    return named;
}

static void ck_names(espl_entity named, espl_entity wanted)
{
    ck_assert_msg(espl_entity_equal(named, wanted), "names %u/%x, not %u/%x", named.index,
                  named.generation, wanted.index, wanted.generation);
}

static espl_entity child(espl_entity parent, size_t n)
{
    espl_entity at = espl_get_first_child(s.world, parent);

    for (; n > 0; --n) {
        at = espl_get_next_sibling(s.world, at);
    }
    ck_assert(!espl_entity_is_null(at));
    return at;
}

static espl_entity clone(espl_entity source)
{
    espl_entity out = {0};

    ck_ok(espl_instantiate(s.world, &(espl_instance_def){.source = source}, 1, &out));
    test_world_is_valid(s.world);
    return out;
}

// --- At once ---

FIXTURE(set_up, tear_down);

TEST(references_inside_are_mapped_and_outside_kept)
{
    const espl_entity outside = make(), dead = make(), top = make();
    const espl_entity a = make_below(top, ESPL_LINK_OWNED);
    const espl_entity b = make_below(top, ESPL_LINK_OWNED);
    const espl_entity below = make_below(b, ESPL_LINK_OWNED);
    const espl_entity loose = make_below(top, ESPL_LINK_FREE);
    ck_ok(espl_destroy(s.world, dead, ESPL_EXTENT_OWNED));
    set_links(top, a, outside, below);
    set_links(a, top, a, dead);
    set_links(b, loose, test_null, top);
    set_links(below, b, (espl_entity){77, 0x7f000001}, (espl_entity){UINT32_MAX, UINT32_MAX});
    set_target(top, top);
    set_target(a, below);
    set_target(b, loose);

    const espl_entity copy = clone(top);
    const espl_entity copy_a = child(copy, 0), copy_b = child(copy, 1);
    const espl_entity copy_below = child(copy_b, 0);
    ck_names(link_of(copy, 0), copy_a);
    ck_names(link_of(copy, 1), outside);
    ck_names(link_of(copy, 2), copy_below);
    ck_names(link_of(copy_a, 0), copy);
    ck_names(link_of(copy_a, 1), copy_a);
    ck_names(link_of(copy_a, 2), dead);
    ck_names(link_of(copy_b, 0), loose);
    ck_names(link_of(copy_b, 1), test_null);
    ck_names(link_of(copy_b, 2), copy);
    ck_names(link_of(copy_below, 0), copy_b);
    ck_names(link_of(copy_below, 1), (espl_entity){77, 0x7f000001});
    ck_names(link_of(copy_below, 2), (espl_entity){UINT32_MAX, UINT32_MAX});
    ck_names(target_of(copy), copy);
    ck_names(target_of(copy_a), copy_below);
    ck_names(target_of(copy_b), loose);

    // The original names what it named.
    ck_names(link_of(top, 0), a);
    ck_names(link_of(top, 2), below);
    ck_names(link_of(a, 0), top);
    ck_names(target_of(a), below);
}

TEST(a_member_alone_keeps_what_it_names_above)
{
    const espl_entity top = make(), low = make_below(top, ESPL_LINK_OWNED);
    set_links(low, top, low, test_null);
    const espl_entity copy = clone(low);
    ck_names(link_of(copy, 0), top);
    ck_names(link_of(copy, 1), copy);
}

// A handle of the same index but of an earlier life names nobody of the closure.
TEST(a_stale_handle_is_not_taken_for_its_heir)
{
    const espl_entity dead = make();
    ck_ok(espl_destroy(s.world, dead, ESPL_EXTENT_OWNED));
    const espl_entity heir = make();
    ck_assert_uint_eq(heir.index, dead.index);
    set_links(heir, dead, heir, dead);
    const espl_entity copy = clone(heir);
    ck_names(link_of(copy, 0), dead);
    ck_names(link_of(copy, 1), copy);
    ck_names(link_of(copy, 2), dead);
}

TEST(each_of_many_copies_names_its_own_members)
{
    const size_t counts[] = {1, 2, 127, 128, 129, 1000, test_scaled(100000)};

    const espl_entity outside = make(), top = make();
    const espl_entity a = make_below(top, ESPL_LINK_OWNED);
    const espl_entity b = make_below(a, ESPL_LINK_OWNED);
    set_links(top, b, a, outside);
    set_links(b, top, outside, b);
    set_target(a, top);
    for (size_t k = 0, made = 4; k < sizeof counts / sizeof *counts; ++k) {
        const size_t count = (test_fitting(made + counts[k] * 3, 0) - made) / 3;
        espl_entity *const copies = test_array(count + 1, sizeof *copies);
        ck_ok(espl_instantiate(s.world, &(espl_instance_def){.source = top}, count, copies));
        made += count * 3;
        for (size_t i = 0; i < count; ++i) {
            const espl_entity copy_a = child(copies[i], 0), copy_b = child(copy_a, 0);
            ck_names(link_of(copies[i], 0), copy_b);
            ck_names(link_of(copies[i], 1), copy_a);
            ck_names(link_of(copies[i], 2), outside);
            ck_names(link_of(copy_b, 0), copies[i]);
            ck_names(link_of(copy_b, 1), outside);
            ck_names(link_of(copy_b, 2), copy_b);
            ck_names(target_of(copy_a), copies[i]);
        }
        free(copies);
    }
    test_world_is_valid(s.world);
}

// --- Cost ---

// Calls of the allocator for one playback of clones without references.
static size_t count_calls(bool has_references)
{
    static const uint32_t first[1] = {0};
    test_world test;
    espl_entity out[100];
    size_t calls = 0;

    test_world_begin(&test, 5, NULL);
    (void)register_one(test.world, &COMPONENT("target", 8, 4, has_references ? first : NULL,
                                              has_references ? 1 : 0));
    const espl_entity source = test_solo(test.world);
    test_heap_arm(&test.heap, 0, false);
    ck_ok(espl_instantiate(test.world, &(espl_instance_def){.source = source}, test_fitting(100, 1),
                           out));
    calls = test.heap.calls;
    test_world_end(&test);
    return calls;
}

TEST(who_has_no_references_pays_nothing_for_them)
{
    ck_assert_uint_eq(count_calls(true), count_calls(false));
}

// --- In one playback ---

static espl_entity record_clone(espl_entity source, espl_entity parent,
                                const espl_component_value *value)
{
    const espl_instance_def def = {
        .source = source, .parent = parent, .values = value, .value_count = value != NULL ? 1 : 0};
    espl_entity pending = {0};

    ck_ok(espl_record_instantiate(s.lane, 0, &def, 1, &pending));
    return pending;
}

TEST(a_clone_of_a_clone_is_mapped_through_both)
{
    const espl_entity top = make(), low = make_below(top, ESPL_LINK_OWNED);
    set_links(top, low, top, test_null);
    set_links(low, top, low, test_null);
    const espl_entity first = record_clone(top, test_null, NULL);
    const espl_entity second = record_clone(first, test_null, NULL);
    const espl_entity third = record_clone(second, test_null, NULL);
    // The middle one goes, in the same playback.
    ck_ok(espl_record_destroy(s.lane, 0, second, ESPL_EXTENT_SUBTREE));
    play();
    ck_assert_uint_eq(s.report.created, 4);
    const espl_entity kept[] = {resolved(first), resolved(third)};
    for (int i = 0; i < 2; ++i) {
        const espl_entity below = child(kept[i], 0);
        ck_names(link_of(kept[i], 0), below);
        ck_names(link_of(kept[i], 1), kept[i]);
        ck_names(link_of(below, 0), kept[i]);
        ck_names(link_of(below, 1), below);
    }
}

// One by one the lost one had a handle, which is dead now; it has one here too, the same for all.
TEST(a_clone_that_died_in_the_playback_is_named_as_dead)
{
    const espl_entity top = make(), a = make_below(top, ESPL_LINK_OWNED);
    const espl_entity b = make_below(top, ESPL_LINK_OWNED);
    const espl_entity holder = make();
    set_links(a, top, b, a);
    set_links(b, top, a, b);
    const espl_entity first = record_clone(top, holder, NULL);
    ck_ok(espl_record_destroy(s.lane, 0, first, ESPL_EXTENT_ENTITY));
    play();
    ck_assert_uint_eq(s.report.created, 2);
    const espl_entity copy_a = child(holder, 0), copy_b = child(holder, 1);
    const espl_entity lost = link_of(copy_a, 0);
    espl_transform unused;
    ck_names(link_of(copy_b, 0), lost);
    ck_status(espl_get_world_transform(s.world, lost, &unused), ESPL_ERR_DEAD);
    ck_names(link_of(copy_a, 1), copy_b);
    ck_names(link_of(copy_b, 1), copy_a);
    // Its handle is used up: whoever comes next is another.
    ck_assert(!espl_entity_equal(make(), lost));
    ck_status(espl_get_world_transform(s.world, lost, &unused), ESPL_ERR_DEAD);
}

// What it had of the dead is cloned with it, and not taken for one of the new clones.
TEST(a_clone_of_who_names_a_dead_clone_names_it_too)
{
    const espl_entity top = make(), low = make_below(top, ESPL_LINK_FREE);
    const espl_entity below = make_below(top, ESPL_LINK_OWNED), holder = make();
    set_links(below, top, below, low);
    const espl_entity place = record_clone(holder, test_null, NULL);
    const espl_entity first = record_clone(top, place, NULL);
    ck_ok(espl_record_destroy(s.lane, 0, first, ESPL_EXTENT_ENTITY));
    const espl_entity second = record_clone(place, test_null, NULL);
    play();
    ck_assert_uint_eq(s.report.created, 4);
    const espl_entity one = child(resolved(place), 0);
    const espl_entity two = child(resolved(second), 0);
    const espl_entity lost = link_of(one, 0);
    espl_transform unused;
    ck_status(espl_get_world_transform(s.world, lost, &unused), ESPL_ERR_DEAD);
    ck_names(link_of(two, 0), lost);
    ck_names(link_of(one, 1), one);
    ck_names(link_of(two, 1), two);
    ck_names(link_of(one, 2), low);
    ck_names(link_of(two, 2), low);
}

// A part of a clone is cloned: what it names of the rest stays the first clone's.
TEST(a_part_of_a_clone_keeps_what_it_names_of_the_rest)
{
    const espl_entity top = make(), low = make_below(top, ESPL_LINK_OWNED);
    set_links(low, top, low, test_null);
    set_links(top, low, test_null, test_null);
    const espl_entity first = record_clone(top, test_null, NULL);
    // An original that comes under the clone is cloned with it.
    const espl_entity guest = make();
    set_links(guest, guest, top, low);
    set_target(top, guest);
    ck_ok(espl_record_attach(s.lane, 0, guest, first, NULL));
    const espl_entity second = record_clone(first, test_null, NULL);
    const espl_entity third = record_clone(guest, test_null, NULL);
    play();
    const espl_entity one = resolved(first), two = resolved(second);
    const espl_entity three = resolved(third);
    ck_names(link_of(one, 0), child(one, 0));
    ck_names(target_of(one), guest);
    ck_names(child(one, 1), guest);
    ck_names(link_of(two, 0), child(two, 0));
    ck_names(target_of(two), child(two, 1));
    ck_names(link_of(child(two, 1), 0), child(two, 1));
    ck_names(link_of(child(two, 1), 1), top);
    ck_names(link_of(child(two, 1), 2), low);
    ck_names(link_of(three, 0), three);
    ck_names(link_of(guest, 0), guest);
}

TEST(values_go_on_top_and_are_mapped_by_the_next_clone)
{
    const espl_entity top = make(), low = make_below(top, ESPL_LINK_OWNED);
    const espl_entity guest = make();
    const espl_entity named[LINKS] = {top, low, guest};
    unsigned char bytes[LINKS_SIZE];
    pack_links(bytes, named);
    const espl_component_value value = {s.links, LINKS_SIZE, bytes};
    set_links(top, low, low, low);
    set_target(top, top);
    const espl_entity first = record_clone(top, test_null, &value);
    ck_ok(espl_record_attach(s.lane, 0, guest, first, NULL));
    const espl_entity second = record_clone(first, test_null, NULL);
    play();
    const espl_entity one = resolved(first), two = resolved(second);
    ck_names(link_of(one, 0), top);
    ck_names(link_of(one, 1), low);
    ck_names(link_of(one, 2), guest);
    ck_names(target_of(one), one);
    ck_names(link_of(two, 0), top);
    ck_names(link_of(two, 1), low);
    ck_names(link_of(two, 2), child(two, 1));
    ck_names(target_of(two), two);
}

// A component with references that only the values bring.
TEST(values_bring_references_of_their_own)
{
    const espl_entity plain = test_solo(s.world), holder = make();
    const espl_component_value value = {s.target, sizeof plain, &plain};
    const espl_component_value zero = {s.target, sizeof plain, NULL};
    const espl_entity first = record_clone(plain, holder, &value);
    const espl_entity second = record_clone(first, holder, &zero);
    play();
    ck_names(target_of(resolved(first)), plain);
    ck_names(target_of(resolved(second)), test_null);
}

TEST_LOOP(without_memory_nothing_is_cloned, 0, 2)
{
    espl_status status = ESPL_ERR_NO_MEMORY;
    size_t points = 0;

    const espl_entity top = make(), low = make_below(top, ESPL_LINK_OWNED);
    const espl_entity holder = make();
    set_links(top, low, top, test_null);
    set_links(low, top, low, test_null);
    // Members of the clones have what a command gave the source before.
    ck_ok(espl_record_add_component(s.lane, 0, low, s.mark, NULL, 0));
    const espl_entity first = record_clone(top, holder, NULL);
    for (uint32_t i = 0; i < test_fitting(40 * 2, 6) / 2; ++i) {
        (void)record_clone(first, holder, NULL);
    }
    ck_ok(espl_record_destroy(s.lane, 0, first, ESPL_EXTENT_ENTITY));
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
    ck_ok(status);
    ck_assert_uint_gt(points, 10);
    // The destroyed top's child took its place, before those that came after.
    const espl_entity orphan = child(holder, 0), copy = child(holder, 1);
    ck_names(link_of(orphan, 1), orphan);
    ck_assert(!espl_is_alive(s.world, link_of(orphan, 0)));
    ck_names(link_of(copy, 0), child(copy, 0));
}
