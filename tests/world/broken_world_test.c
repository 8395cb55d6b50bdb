// SPDX-License-Identifier: MIT
// The rules that espl_validate() checks between the parts of a world: each test breaks one of them, and the
// report names it. Those inside the store and the forest are in tests/store/validate_test.c and
// tests/tree/validate_test.c.
#include "lib/commands/playback.h"
#include "lib/tree/motion.h"
#include "lib/tree/worlds.h"
#include "lib/world/watches.h"
#include "tests/fixture.h"
#include "tests/one_world.h"

#include <espalier/motion.h>

#include <string.h>

FIXTURE(set_up, tear_down);

// @param where  the entity that the report names; NULL: none.
static void expect_rule(const char *rule, const espl_entity *where, int line)
{
    espl_validation report;

    memset(&report, 0x5a, sizeof report);
    ck_assert_msg(!espl_validate(w, &report), "line %d: not found: %s", line, rule);
    ck_assert_msg(strcmp(report.rule, rule) == 0, "line %d: %s", line, report.rule);
    ck_assert(espl_entity_equal(report.entity, where != NULL ? *where : espl_entity_null()));
    ck_assert(!espl_validate(w, NULL));
}

// Give a field a wrong value, see the rule named, and restore the field.
#define BREAKS(rule, where, field, wrong)        \
    do {                                         \
        const __typeof__(field) right = (field); \
        (field) = (wrong);                       \
        expect_rule((rule), (where), __LINE__);  \
        (field) = right;                         \
        ck_assert(espl_validate(w, NULL));       \
    } while (0)

static uint32_t slot_of(espl_entity entity)
{
    return w->store.records[entity.index].slot;
}

static void set_slot(espl_entity entity, uint32_t slot)
{
    espl__entity_set_slot(&w->store, entity.index, slot);
}

// Let two entities have each other's slots.
static void swap_slots(espl_entity a, espl_entity b)
{
    const uint32_t slot_a = slot_of(a), slot_b = slot_of(b);

    set_slot(a, slot_b);
    set_slot(b, slot_a);
    w->forest.links[slot_b].entity = a.index;
    w->forest.links[slot_a].entity = b.index;
    espl__probe_node(&w->forest.columns, slot_b, a.index);
    espl__probe_node(&w->forest.columns, slot_a, b.index);
}

TEST(no_world_is_not_sound)
{
    ck_assert(!espl_validate(NULL, NULL));
}

TEST(an_entity_and_its_slot_name_each_other)
{
    static const char rule[] = "an entity and its slot name each other";
    const espl_entity first = test_solo(w), second = test_solo(w);

    const uint32_t wrong[] = {w->forest.end, UINT32_MAX, slot_of(second)};

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        const uint32_t right = slot_of(first);

        set_slot(first, wrong[i]);
        expect_rule(rule, &first, __LINE__);
        set_slot(first, right);
        ck_assert(espl_validate(w, NULL));
    }
}

TEST(an_entity_with_a_transform_has_a_node_of_its_own)
{
    static const char rule[] = "entities with a placement have a transform, others pass through";
    const espl_entity placed = test_solo(w);
    espl_entity bare;

    ck_ok(espl_create(w, NULL, 0, 1, &bare));
    swap_slots(placed, bare);
    expect_rule(rule, &placed, __LINE__);
    swap_slots(placed, bare);
    ck_assert(espl_validate(w, NULL));
}

TEST(role_components_agree_with_links)
{
    static const char rule[] = "role components agree with roles";
    espl_entity *const tree = make_chain(w, 2);
    const espl_entity solo = test_solo(w);
    const espl_entity pairs[][2] = {{tree[0], solo}, {tree[1], solo}, {tree[0], tree[1]}};

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i) {
        const espl_entity a = pairs[i][0], b = pairs[i][1];

        swap_slots(a, b);
        expect_rule(rule, a.index < b.index ? &a : &b, __LINE__);
        swap_slots(a, b);
        ck_assert(espl_validate(w, NULL));
    }
    free(tree);
}

// The row of an entity leaves, and its node stays. The world is this test's own, because it remains broken.
TEST(as_many_nodes_live_as_entities)
{
    espl_world *const sound = w;

    ck_ok(espl_world_create(NULL, &w));
    espl__entity_remove(&w->store, test_solo(w).index);
    espl__rows_settle(&w->store, NULL, NULL);
    expect_rule("living members are alive and distinct", NULL, __LINE__);
    espl_world_destroy(w);
    w = sound;
}

TEST(bytes_are_accounted_for_by_purpose)
{
    static const struct {
        espl__purpose purpose;
        const char *rule;
    } kinds[] = {
        {ESPL__FOR_WORLD, "outstanding bytes of the world are accounted for"},
        {ESPL__FOR_STORE, "outstanding bytes of the store are accounted for"},
        {ESPL__FOR_TREE, "outstanding bytes of the tree are accounted for"},
        {ESPL__FOR_COMMANDS, "outstanding bytes of playback and writes are accounted for"},
    };

    (void)test_solo(w);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        size_t *const bytes = &w->heap.bytes[kinds[i].purpose];

        BREAKS(kinds[i].rule, NULL, *bytes, *bytes + 1);
    }
}

TEST(commands_were_applied_or_refused)
{
    BREAKS("commands accepted were applied or refused", NULL, w->playback->totals.accepted, 1);
}

TEST(a_broken_rule_of_the_forest_names_the_entity_of_its_slot)
{
    espl_entity *const tree = make_chain(w, 3);
    const uint32_t slot = slot_of(tree[1]);
    espl_validation report;

    espl_pose *const world = &espl__worlds_of(&w->forest).to_store[slot];

    world->position[0] += 1;
    ck_assert(!espl_validate(w, &report));
    ck_assert(espl_entity_equal(report.entity, tree[1]));
    world->position[0] -= 1;
    ck_assert(espl_validate(w, &report));
    free(tree);
}

TEST(a_watch_knows_what_answers_it)
{
    static const char counts[] = "a watch looked before now, and counts what it knows";
    espl_watch *watch = NULL;
    espl_changes changes;

    ck_ok(espl_watch_create(w, NULL, &watch));
    const espl_entity one = test_solo(w), two = test_solo(w);

    ck_ok(espl_watch_collect(watch, 0, &changes));
    BREAKS("a watch knows entities that live, or whose index changed since it looked", &two,
           watch->known[two.index], 0);
    BREAKS("a watch knows entities that live, or whose index changed since it looked", &one,
           watch->known[one.index], one.generation + 1);
    BREAKS(counts, NULL, watch->known_count, 3);
    BREAKS(counts, NULL, watch->last, w->moment);
    BREAKS("watches are in the list of their world", NULL, w->watch_count, 2);
    BREAKS("outstanding bytes of watches are accounted for", NULL, w->heap.bytes[ESPL__FOR_CHANGES],
           1);
    // What is wrong at an index that changed since is not known yet.
    ck_ok(espl_destroy(w, one, ESPL_EXTENT_ENTITY));
    ck_assert(espl_validate(w, NULL));
    espl_watch_destroy(watch);
}

TEST(marks_have_room_and_their_moment)
{
    espl_watch *watch = NULL;

    ck_ok(espl_watch_create(w, NULL, &watch));
    const espl_entity one = test_solo(w);
    uint16_t *const stamp = &w->store.index_plane.stamps[one.index];

    BREAKS("no stamp is newer than the moment", NULL, *stamp, (uint16_t)(w->moment + 1));
    BREAKS("tracks have room for each slot", NULL, w->forest.tracks.capacity,
           w->forest.tracks.capacity - 1);
    espl_watch_destroy(watch);
}

// Move an entity in a tick, and show it half way.
static void show_half_way(espl_entity entity)
{
    ck_ok(espl_tick_begin(w));
    ck_ok(espl_set_local_position(w, entity, (const float[]){8, 0, 0}));
    ck_ok(espl_tick_end(w));
    ck_ok(espl_present(w, 0.5f, NULL));
}

TEST(the_past_of_a_node_is_finite_and_where_it_was)
{
    static const char sound[] = "earlier locals are finite, or the markers of a new node";
    espl_entity *const tree = make_chain(w, 3);

    ck_ok(espl_motion_start(w, &(espl_motion_def){.history = 2}));
    show_half_way(tree[0]);
    espl_pose *const previous = &w->forest.tracks.poses[ESPL__PREVIOUS][slot_of(tree[1])];
    espl_pose *const before = &w->forest.tracks.poses[ESPL__BEFORE][slot_of(tree[0])];

    BREAKS(sound, &tree[1], previous->position[2], INFINITY);
    BREAKS(sound, &tree[1], previous->rotation[3], 1.01f);
    BREAKS(sound, &tree[1], previous->scale, NAN);
    BREAKS(sound, &tree[0], before->position[0], NAN);
    BREAKS("a node that did not change since the tick began has its local as previous one",
           &tree[1], previous->position[0], 77);
    free(tree);
}

TEST(a_shown_world_follows_from_blended_locals_until_the_next_write)
{
    static const char rule[] = "a shown world follows from blended locals bit for bit";
    espl_entity *const tree = make_chain(w, 3), *const other = make_chain(w, 2);

    ck_ok(espl_motion_start(w, NULL));
    show_half_way(tree[0]);
    float *const shown = &w->forest.tracks.poses[ESPL__SHOWN][slot_of(tree[1])].position[0];
    float *const resting = &w->forest.tracks.poses[ESPL__SHOWN][slot_of(other[1])].position[0];

    BREAKS(rule, &tree[1], *shown, 77);
    BREAKS(rule, &other[1], *resting, 77);
    BREAKS(rule, &tree[0], w->forest.presented.at, 0.25f);
    // What is shown of a hierarchy that changed since is not known to follow.
    ck_ok(espl_set_local_position(w, tree[2], (const float[]){0, 1, 0}));
    *shown += 1;
    ck_assert(espl_validate(w, NULL));
    *shown -= 1;
    BREAKS(rule, &other[1], *resting, 77);
    // Nor is that of one that changed in the tick before.
    show_half_way(tree[2]);
    ck_ok(espl_tick_begin(w));
    *shown += 1;
    ck_assert(espl_validate(w, NULL));
    *shown -= 1;
    BREAKS(rule, &other[1], *resting, 77);
    free(tree);
    free(other);
}
