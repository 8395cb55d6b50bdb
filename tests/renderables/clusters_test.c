// SPDX-License-Identifier: MIT
// Clusters of many members: leaves that divide and merge, members that move to another cluster, come and
// go, each compared with the world.
#include "tests/inside.h"
#include "tests/renderables/seeing.h"

// Entities with boxes, some of them in hierarchies.
typedef struct field {
    test_world test;
    seeing s;
    espl_entity *entities;
    uint32_t count, room;
    uint64_t random;
    bool never_lacks; // memory does not run out
} field;

static void field_begin(field *f, const espl_renderables_def *def, const espl_executor *executor)
{
    *f = (field){.random = 5};
    test_world_begin(&f->test, 1, executor);
    seeing_begin(&f->s, f->test.world, def);
}

static void field_end(field *f)
{
    seeing_end(&f->s);
    test_world_end(&f->test);
    free(f->entities);
}

static espl_transform draw_place(field *f, float extent)
{
    return test_at(test_between(&f->random, -extent, extent),
                   test_between(&f->random, -extent, extent),
                   test_between(&f->random, -extent, extent));
}

// Add entities with boxes. @param tree  how many are in a hierarchy.
static void add_boxes(field *f, uint32_t count, uint32_t tree, float extent)
{
    espl_world *const world = f->test.world;

    if (f->count + count > f->room) {
        f->room = 2 * (f->count + count);
        f->entities = realloc(f->entities, f->room * sizeof *f->entities);
        ck_assert_ptr_nonnull(f->entities);
    }
    for (uint32_t i = 0; i < count; ++i) {
        const espl_transform place = draw_place(f, i % tree == 0 ? extent : 3);
        const espl_bounds bounds = {{0, 0, 0}, {1, 1, 1}};
        const espl_renderable renderable = {i % 5, i, 0};
        espl_entity *const entity = &f->entities[f->count];
        const espl_component_value values[2] = {
            {f->s.bounds, sizeof bounds, &bounds},
            {f->s.renderable, sizeof renderable, &renderable},
        };
        const espl_change_def change = {.add = values, .add_count = 2};
        const espl_entity parent = i % tree == 0 ? test_null : entity[-(int32_t)(i % tree)];

        ck_assert_int_ge(espl_create_node(world, parent, &place, NULL, entity), 0);
        ck_ok(espl_change_components(world, *entity, &change));
        f->count += 1;
    }
}

static void move(field *f, uint32_t at, float extent)
{
    const espl_transform place = draw_place(f, extent);

    ck_assert_int_ge(espl_set_local_transform(f->test.world, f->entities[at], &place), 0);
}

static void destroy_at(field *f, uint32_t at)
{
    ck_assert_int_ge(espl_destroy(f->test.world, f->entities[at], ESPL_EXTENT_ENTITY), 0);
    f->count -= 1;
    f->entities[at] = f->entities[f->count];
}

static espl_renderables_report see_valid(field *f)
{
    const espl_renderables_report report = see(&f->s);

    test_world_is_valid(f->test.world);
    return report;
}

// --- Leaves ---

TEST_LOOP(leaf_divides_when_it_is_full, 0, 3)
{
    static const uint32_t counts[3] = {128, 129, 257};
    static const uint32_t leaves[3] = {1, 2, 3};
    field f;

    if (test_lacks_room(300, "a full cluster")) {
        return;
    }
    field_begin(&f, NULL, NULL);
    add_boxes(&f, counts[_i], 1, 0); // all at one point
    const espl_renderables_report report = see_valid(&f);

    ck_assert_uint_eq(report.clusters, leaves[_i]);
    ck_assert_uint_eq(report.added, counts[_i]);
    ck_assert_uint_eq(report.moving, 0);
    add_boxes(&f, 1, 1, 0);
    ck_assert_uint_le(see_valid(&f).rewritten, 2);
    field_end(&f);
}

// So many that a product of members and leaves has more than 32 bits. Where a size has 64 they would show nothing.
TEST(hundreds_of_thousands_come_at_once)
{
    const uint32_t count = sizeof(size_t) > sizeof(uint32_t) ? 10000 : 800000;
    espl_renderables_report report;
    field f;

    if (test_lacks_room(count, "many newcomers")) {
        return;
    }
    field_begin(&f, NULL, NULL);
    const espl_component components[3] = {ESPL_TRANSFORM, f.s.bounds, f.s.renderable};

    ck_ok(espl_create(f.test.world, components, 3, count, NULL));
    ck_ok(espl_renderables_update(f.s.renderables, NULL, &report));
    ck_assert_uint_eq(report.renderables, count);
    ck_assert_uint_eq(report.clusters, (count + ESPL__LEAF_FILL - 1) / ESPL__LEAF_FILL);
    field_end(&f);
}

TEST(clusters_merge_when_members_go)
{
    field f;

    if (test_lacks_room(2100, "clusters that merge")) {
        return;
    }
    field_begin(&f, NULL, NULL);
    add_boxes(&f, 2000, 1, 500);
    const size_t clusters = see_valid(&f).clusters;

    while (f.count > 60) {
        for (int i = 0; i < 90 && f.count > 60; ++i) {
            destroy_at(&f, test_below(&f.random, f.count));
        }
        ck_assert_uint_gt(see_valid(&f).removed, 0);
    }
    ck_assert_uint_ge(clusters, 16);
    ck_assert_uint_le(see_valid(&f).clusters, 3);
    while (f.count != 0) {
        destroy_at(&f, 0);
    }
    const espl_renderables_report report = see_valid(&f);

    ck_assert_uint_eq(report.clusters + report.renderables, 0);
    add_boxes(&f, 300, 3, 100);
    ck_assert_uint_eq(see_valid(&f).added, 300);
    field_end(&f);
}

// --- Categories ---

TEST(members_that_move_are_filed_together_and_rest_again)
{
    enum { MOVERS = 20, ROUNDS = 140 };
    field f;
    size_t moving = 0;

    if (test_lacks_room(1100, "clusters that move")) {
        return;
    }
    field_begin(&f, NULL, NULL);
    add_boxes(&f, 1000, 1, 500);
    ck_assert_uint_eq(see_valid(&f).moving, 0);
    for (int round = 0; round < 5; ++round) {
        for (uint32_t i = 0; i < MOVERS; ++i) {
            move(&f, i * 37, 500);
        }
        const espl_renderables_report report = see_valid(&f);

        ck_assert_uint_eq(report.moved, MOVERS);
        ck_assert_uint_eq(report.moving, MOVERS);
        // From the second round on, only the cluster of the movers.
        ck_assert_uint_le(report.rewritten, round == 0 ? MOVERS + 1 : round == 1 ? 2 : 3);
    }
    for (int round = 0; round < ROUNDS; ++round) {
        moving = see(&f.s).moving;
    }
    ck_assert_uint_eq(moving, 0);
    ck_assert_uint_eq(see_valid(&f).rewritten, 0);
    field_end(&f);
}

TEST(update_at_rest_writes_no_cluster)
{
    field f;

    if (test_lacks_room(600, "clusters at rest")) {
        return;
    }
    field_begin(&f, NULL, NULL);
    add_boxes(&f, 500, 5, 100);
    (void)see_valid(&f);
    const espl_renderables_report report = see_valid(&f);

    ck_assert_uint_eq(report.rewritten + report.marked + report.moved + report.added, 0);
    // A write of the same bits is none.
    const espl_transform same = test_at(1, 2, 3);

    ck_assert_int_ge(espl_set_local_transform(f.test.world, f.entities[0], &same), 0);
    (void)see_valid(&f);
    ck_assert_int_ge(espl_set_local_transform(f.test.world, f.entities[0], &same), 0);
    ck_assert_uint_eq(see_valid(&f).moved, 0);
    field_end(&f);
}

TEST(budget_bounds_how_many_are_filed_anew)
{
    const espl_renderables_def def = {.refile_budget = 10, .cell_size = 1};
    field f;
    size_t refiled = 0, waited = 0;

    if (test_lacks_room(700, "clusters of which members move far")) {
        return;
    }
    field_begin(&f, &def, NULL);
    add_boxes(&f, 600, 1, 300);
    (void)see_valid(&f);
    for (int round = 0; round < 20; ++round) {
        for (uint32_t i = 0; i < 300; ++i) {
            move(&f, i, 300);
        }
        const espl_renderables_report report = see_valid(&f);

        ck_assert_uint_le(report.refiled, 10);
        refiled += report.refiled;
        waited += report.waiting;
    }
    ck_assert_uint_gt(refiled, 0);
    ck_assert_uint_gt(waited, 0);
    // In the end none waits.
    for (int round = 0; round < 80; ++round) {
        waited = see(&f.s).waiting;
    }
    ck_assert_uint_eq(waited, 0);
    (void)see_valid(&f);
    field_end(&f);
}

// All members leave their clusters at once. Each update files those of a part of space, until none waits.
TEST(parts_of_space_are_filed_in_turn)
{
    const espl_renderables_def def = {.refile_budget = UINT32_MAX, .cell_size = 1};
    enum { MEMBERS = 30000 };
    field f;
    uint32_t updates = 0;

    if (test_lacks_room(MEMBERS + 100, "a world of some parts")) {
        return;
    }
    field_begin(&f, &def, NULL);
    add_boxes(&f, MEMBERS, 1, 1000);
    (void)see(&f.s);
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        move(&f, i, 1000);
    }
    // They begin to move, and are filed where they are now. Then they move as others do.
    ck_assert_uint_eq(see(&f.s).moving, MEMBERS);
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        move(&f, i, 1000);
    }
    ck_assert_uint_eq(see(&f.s).refiled, 0);
    for (size_t waiting = 1; waiting != 0; ++updates) {
        const espl_renderables_report report = see(&f.s);

        ck_assert_uint_le(report.refiled, MEMBERS / 4);
        ck_assert_uint_lt(updates, 24);
        waiting = report.waiting;
    }
    ck_assert_uint_ge(updates, 8);
    test_world_is_valid(f.test.world);
    field_end(&f);
}

// Members that wander leave their leaves at random, so that many leaves divide.
TEST(leaves_of_an_aged_world_are_full)
{
    const espl_renderables_def def = {.cell_size = 1};
    enum { MEMBERS = 3000, UPDATES = 120, LEAST_FILL = 84 };
    field f;
    size_t clusters = 0, refiled = 0;

    if (test_lacks_room(MEMBERS + 100, "leaves that divide")) {
        return;
    }
    field_begin(&f, &def, NULL);
    add_boxes(&f, MEMBERS, 1, 100);
    for (uint32_t update = 0; update < UPDATES; ++update) {
        for (uint32_t i = 0; i < MEMBERS; ++i) {
            if ((i + update) % 20 == 0) {
                move(&f, i, 100);
            }
        }
        const espl_renderables_report report = update % 16 == 0 ? see_valid(&f) : see(&f.s);

        refiled += report.refiled;
        clusters += update >= UPDATES / 2 ? report.clusters : 0;
    }
    ck_assert_uint_gt(refiled, MEMBERS);
    ck_assert_uint_le(clusters, (UPDATES / 2) * MEMBERS / LEAST_FILL);
    field_end(&f);
}

// All members begin to move at once, more than one update lets. They leave whole clusters, part by part of space.
TEST(members_begin_to_move_by_parts_of_space)
{
    const espl_renderables_def def = {.refile_budget = 64, .cell_size = 1};
    enum { MEMBERS = 6000, RISES = 64 * ESPL__RISE_FACTOR, LEAVES = 54 };
    field f;
    size_t moving = 0, updates = 0, most = 0;

    if (test_lacks_room(MEMBERS + 100, "clusters that begin to move")) {
        return;
    }
    field_begin(&f, &def, NULL);
    add_boxes(&f, MEMBERS, 1, 100);
    ck_assert_uint_eq(see_valid(&f).clusters, LEAVES);
    for (; moving != MEMBERS; ++updates) {
        for (uint32_t i = 0; i < MEMBERS; ++i) {
            espl_transform place;

            ck_ok(espl_get_local_transform(f.test.world, f.entities[i], &place));
            place.position[0] += 0.01f;
            ck_assert_int_ge(espl_set_local_transform(f.test.world, f.entities[i], &place), 0);
        }
        const espl_renderables_report report = updates % 4 == 0 ? see_valid(&f) : see(&f.s);

        ck_assert_uint_le(report.moving, moving + RISES);
        ck_assert_uint_lt(updates, (size_t)3 * MEMBERS / RISES);
        moving = report.moving;
        // The first update takes members of all clusters.
        most = updates > 0 && report.clusters > most ? report.clusters : most;
    }
    ck_assert_uint_le(most, LEAVES + LEAVES / 4);
    field_end(&f);
}

static void step_aside(const field *f, uint32_t at, float by)
{
    espl_transform place;

    ck_ok(espl_get_local_transform(f->test.world, f->entities[at], &place));
    place.position[0] += by;
    ck_assert_int_ge(espl_set_local_transform(f->test.world, f->entities[at], &place), 0);
}

// The members that begin to move are beside each other, and all other parts of space have none.
TEST(crowd_begins_to_move_as_quickly_as_others)
{
    const espl_renderables_def def = {.refile_budget = 16, .cell_size = 1};
    enum { MEMBERS = 12000, RISES = 16 * ESPL__RISE_FACTOR };
    field f;
    size_t moving = 0, updates = 0;
    uint32_t crowd = 0;

    if (test_lacks_room(MEMBERS + 100, "a crowd in a large world")) {
        return;
    }
    field_begin(&f, &def, NULL);
    add_boxes(&f, MEMBERS, 1, 100);
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        espl_transform place;

        ck_ok(espl_get_local_transform(f.test.world, f.entities[i], &place));
        if (place.position[0] > 0 && place.position[1] > 0 && place.position[2] > 0) {
            const espl_entity member = f.entities[i];

            f.entities[i] = f.entities[crowd];
            f.entities[crowd++] = member;
        }
    }
    (void)see_valid(&f);
    for (; moving != crowd; ++updates) {
        for (uint32_t i = 0; i < crowd; ++i) {
            step_aside(&f, i, 0.01f);
        }
        ck_assert_uint_lt(updates, 2 * (crowd / RISES));
        moving = see(&f.s).moving;
    }
    field_end(&f);
}

// Members that rest while their leaves are joined, because others go, rest from their last move on.
TEST(members_rest_although_their_leaves_are_joined)
{
    const espl_renderables_def def = {.cell_size = 1};
    enum { MEMBERS = 6000, ROAMERS = 10, MOVED = 30, RESTED = 300 };
    field f;
    size_t moving = 0;

    if (test_lacks_room(MEMBERS + 100, "members that rest")) {
        return;
    }
    field_begin(&f, &def, NULL);
    add_boxes(&f, MEMBERS, 1, 200);
    for (int update = 0; update < MOVED + RESTED; ++update) {
        for (uint32_t i = 0; i < MEMBERS; ++i) {
            if (update < MOVED || i % ROAMERS == 0) {
                step_aside(&f, i, test_between(&f.random, -25, 25));
            }
        }
        moving = update % 32 == 0 ? see_valid(&f).moving : see(&f.s).moving;
        ck_assert(update != MOVED || moving == MEMBERS);
    }
    ck_assert_uint_ge(moving, MEMBERS / ROAMERS);
    ck_assert_uint_le(moving, MEMBERS * 3 / 10);
    field_end(&f);
}

// The box of a union is far from the node. It is filed by the box, and does not wait for ever.
TEST(unions_are_filed_where_their_boxes_are)
{
    const espl_renderables_def def = {.cell_size = 1};
    const espl_renderable all = {1, 1, ESPL_RENDERABLE_UNION};
    const espl_transform far = test_at(400, 300, 200);
    enum { MEMBERS = 3000, UNIONS = 1000 };
    field f;
    size_t waiting = 1, refiled = 0;

    if (test_lacks_room(MEMBERS + 100, "many unions")) {
        return;
    }
    field_begin(&f, &def, NULL);
    add_boxes(&f, MEMBERS, 1, 500);
    for (uint32_t i = 0; i < UNIONS; ++i) {
        const espl_entity other = f.entities[2 * i + 1];

        ck_ok(
            espl_set_component(f.test.world, f.entities[2 * i], f.s.renderable, &all, sizeof all));
        ck_assert_int_ge(espl_attach(f.test.world, other, f.entities[2 * i], NULL), 0);
        ck_assert_int_ge(espl_set_local_transform(f.test.world, other, &far), 0);
    }
    for (int update = 0; update < 120; ++update) {
        for (uint32_t i = 0; i < UNIONS; ++i) {
            step_aside(&f, 2 * i, update >= 60 ? 0.01f : i % 2 == 0 ? 3.0f : -3.0f);
        }
        const espl_renderables_report report = see(&f.s);

        waiting = report.waiting;
        refiled += report.refiled;
    }
    ck_assert_uint_eq(waiting, 0);
    ck_assert_uint_gt(refiled, 0);
    size_t astray = 0;

    for (uint32_t i = 0; i < espl__array_length(f.s.renderables->astray); ++i) {
        astray += espl__count_members(
            &espl__cluster_at(f.s.renderables, f.s.renderables->astray[i])->astray);
    }
    ck_assert_uint_eq(astray, 0);
    test_world_is_valid(f.test.world);
    field_end(&f);
}

// --- Newcomers and holes ---

// Return a member of a leaf of what rests.
static espl_entity member_of_leaf(const field *f, uint32_t leaf, uint32_t place)
{
    const espl_renderables *const r = f->s.renderables;
    const espl__cluster *const cluster = espl__cluster_at(r, r->leaves[ESPL__STILL][leaf].cluster);

    for (uint32_t at = 0; at < cluster->count; ++at) {
        if (!espl__has_bit(&cluster->holes, at) && place-- == 0) {
            return cluster->entities[at];
        }
    }
    return test_null;
}

// Destroy members of every fourth leaf, from one on, until some are left.
static void thin_leaves(field *f, uint32_t first, uint32_t left)
{
    const espl_renderables *const r = f->s.renderables;

    for (uint32_t leaf = first; leaf < espl__array_length(r->leaves[ESPL__STILL]); leaf += 4) {
        const espl__cluster *const cluster =
            espl__cluster_at(r, r->leaves[ESPL__STILL][leaf].cluster);

        for (uint32_t i = left; i < espl__cluster_members(cluster); ++i) {
            ck_assert_int_ge(
                espl_destroy(f->test.world, member_of_leaf(f, leaf, i), ESPL_EXTENT_ENTITY), 0);
        }
    }
}

TEST(newcomers_get_leaves_of_their_own)
{
    field f;

    if (test_lacks_room(2300, "clusters of newcomers")) {
        return;
    }
    field_begin(&f, NULL, NULL);
    add_boxes(&f, 2000, 1, 500);
    const size_t clusters = see_valid(&f).clusters;

    // They are in the places of all 18 leaves, none of which is written.
    add_boxes(&f, 120, 1, 500);
    const espl_renderables_report report = see_valid(&f);

    ck_assert_uint_eq(report.added, 120);
    ck_assert_uint_eq(report.rewritten, 1);
    ck_assert_uint_eq(report.clusters, clusters + 1);
    // They go with their leaf.
    for (uint32_t i = 0; i < 120; ++i) {
        destroy_at(&f, f.count - 1);
    }
    const espl_renderables_report after = see_valid(&f);

    ck_assert_uint_eq(after.removed, 120);
    ck_assert_uint_eq(after.rewritten, 0);
    ck_assert_uint_eq(after.clusters, clusters);
    field_end(&f);
}

// A few newcomers in each update: leaves are filled, filed when they have been there for some updates and
// there are many, and then rest.
TEST(newcomers_are_filed_in_the_long_run)
{
    field f;
    size_t refiled = 0, most = 0, clusters = 0;

    if (test_lacks_room(4000, "clusters that are filed")) {
        return;
    }
    field_begin(&f, NULL, NULL);
    add_boxes(&f, 1000, 1, 500);
    (void)see_valid(&f);
    for (int round = 0; round < 100; ++round) {
        add_boxes(&f, 25, 1, 500);
        const espl_renderables_report report = see_valid(&f);

        refiled += report.refiled;
        most = report.clusters > most ? report.clusters : most;
    }
    ck_assert_uint_gt(refiled, 1000);
    ck_assert_uint_le(most, 3500 / 48);
    // Updates without a change come to rest.
    for (int round = 0; round < 100; ++round) {
        (void)see(&f.s);
    }
    for (int round = 0; round < 40; ++round) {
        const espl_renderables_report report = see_valid(&f);

        clusters = report.clusters;
        ck_assert_uint_eq(report.rewritten + report.refiled, 0);
    }
    // Leaves of the tree have most of the members: few lie in the ranges of others.
    ck_assert_uint_le(f.s.renderables->counts[ESPL__RECENT] * 2, f.count);
    ck_assert_uint_ge(clusters, 3500 / 128);
    field_end(&f);
}

TEST(members_that_go_leave_holes)
{
    field f;
    size_t rewritten = 0;

    if (test_lacks_room(2100, "clusters with holes")) {
        return;
    }
    field_begin(&f, NULL, NULL);
    add_boxes(&f, 2000, 1, 500);
    const size_t clusters = see_valid(&f).clusters;

    for (uint32_t i = 0; i < 100; ++i) {
        destroy_at(&f, test_below(&f.random, f.count));
    }
    espl_renderables_report report = see_valid(&f);

    ck_assert_uint_eq(report.removed, 100);
    ck_assert_uint_eq(report.rewritten, 0);
    ck_assert_uint_eq(report.clusters, clusters);
    ck_assert_uint_eq(
        espl_mirror_changed(espl_renderables_acquire(f.s.renderables), report.number - 1, 0, NULL),
        clusters);
    // A box and layers of a cluster with holes change, and one that moves leaves a hole as well.
    for (uint32_t i = 0; i < 40; ++i) {
        const espl_bounds bounds = {{0, 0, 0}, {2, 1, 1}};

        ck_ok(espl_set_component(f.test.world, f.entities[i * 17], f.s.bounds, &bounds,
                                 sizeof bounds));
        move(&f, 1000 + i, 500);
        report = see_valid(&f);
    }
    ck_assert_uint_gt(report.moving, 0);
    // Each death costs a part of a cluster.
    for (int round = 0; round < 20; ++round) {
        for (uint32_t i = 0; i < 40; ++i) {
            destroy_at(&f, test_below(&f.random, f.count));
        }
        rewritten += see_valid(&f).rewritten;
    }
    ck_assert_uint_gt(rewritten, 0);
    ck_assert_uint_le(rewritten, 800 / 16);
    field_end(&f);
}

// A member that moves away and gets bounds that are bad in one update leaves a hole, of which nothing is read.
TEST(what_leaves_a_hole_takes_its_values_along)
{
    const espl_bounds bad = {{0, 0, 0}, {NAN, 1, 1}};
    field f;

    if (test_lacks_room(210, "a cluster with holes")) {
        return;
    }
    field_begin(&f, NULL, NULL);
    add_boxes(&f, 200, 1, 500);
    (void)see_valid(&f);
    for (uint32_t i = 0; i < 10; ++i) {
        const espl_renderable all = {1, i, ESPL_RENDERABLE_UNION};

        ck_ok(espl_set_component(
            f.test.world, f.entities[i], i % 2 == 0 ? f.s.bounds : f.s.renderable,
            i % 2 == 0 ? (const void *)&bad : &all, i % 2 == 0 ? sizeof bad : sizeof all));
        move(&f, i, 500);
    }
    const espl_renderables_report report = see_valid(&f);

    ck_assert_uint_eq(report.bad, 5);
    ck_assert_uint_eq(report.moving, 10);
    ck_assert_uint_eq(f.s.renderables->union_count, 5);
    for (uint32_t i = 10; i-- > 0;) {
        destroy_at(&f, i);
    }
    ck_assert_uint_eq(see_valid(&f).bad, 0);
    ck_assert_uint_eq(f.s.renderables->union_count, 0);
    for (uint32_t i = 0; i < f.count; ++i) {
        const espl_renderable other = {2, i, 0};

        ck_ok(
            espl_set_component(f.test.world, f.entities[i], f.s.renderable, &other, sizeof other));
    }
    (void)see_valid(&f);
    field_end(&f);
}

// Leaves that few newcomers come to are merged with others that nothing else changes.
TEST(leaves_merge_that_lost_no_member)
{
    field f;

    if (test_lacks_room(4000, "many leaves that merge")) {
        return;
    }
    field_begin(&f, NULL, NULL);
    add_boxes(&f, 3584, 1, 500);
    ck_assert_uint_eq(see_valid(&f).clusters, 32);
    // Leaves of 30 members, each between two of 112; then after one of 50.
    thin_leaves(&f, 1, 30);
    ck_assert_uint_eq(see_valid(&f).clusters, 32);
    thin_leaves(&f, 0, 50);
    ck_assert_uint_eq(see_valid(&f).clusters, 32);
    ck_assert_int_ge(espl_compact(f.test.world), 0);
    for (uint32_t leaf = 1; leaf < 32; leaf += 4) {
        for (int i = 0; i < 16; ++i) {
            espl_transform place;

            ck_ok(espl_get_world_transform(f.test.world, member_of_leaf(&f, leaf, 0), &place));
            add_boxes(&f, 1, 1, 0);
            ck_assert_int_ge(
                espl_set_local_transform(f.test.world, f.entities[f.count - 1], &place), 0);
        }
    }
    ck_assert_int_ge(espl_destroy(f.test.world, member_of_leaf(&f, 1, 1), ESPL_EXTENT_ENTITY), 0);
    ck_assert_uint_eq(see_valid(&f).clusters, 24);
    field_end(&f);
}

// Newcomers that are young while older ones are looked at in vain have their turn.
TEST(young_newcomers_are_looked_at_later)
{
    field f;
    size_t refiled = 0;

    if (test_lacks_room(4500, "clusters that are filed")) {
        return;
    }
    field_begin(&f, NULL, NULL);
    add_boxes(&f, 4000, 1, 500);
    (void)see_valid(&f);
    for (int round = 0; round < 110; ++round) {
        if (round < 3 || round == 25) {
            add_boxes(&f, 100, 1, 500);
        }
        refiled += see(&f.s).refiled;
    }
    ck_assert_uint_eq(refiled, 400);
    field_end(&f);
}

// A budget of less than two clusters files newcomers too, and then rests.
TEST_LOOP(small_budgets_file_newcomers, 0, 2)
{
    static const uint32_t budgets[2] = {1, ESPL_CLUSTER_SIZE};
    const espl_renderables_def def = {.refile_budget = budgets[_i]};
    size_t refiled = 0;
    field f;

    if (test_lacks_room(4000, "clusters that are filed")) {
        return;
    }
    field_begin(&f, &def, NULL);
    add_boxes(&f, 1500, 1, 500);
    (void)see_valid(&f);
    for (int round = 0; round < 200; ++round) {
        if (round < 60) {
            add_boxes(&f, 40, 1, 500);
        }
        ck_ok(espl_renderables_update(f.s.renderables, NULL, NULL));
    }
    for (int round = 0; round < 300; ++round) {
        espl_renderables_report report;

        ck_ok(espl_renderables_update(f.s.renderables, NULL, &report));
        refiled += round >= 260 ? report.refiled + report.rewritten : 0;
    }
    ck_assert_uint_eq(refiled, 0);
    ck_assert_uint_le(f.s.renderables->counts[ESPL__RECENT] * 2, f.count);
    test_world_is_valid(f.test.world);
    field_end(&f);
}

TEST(a_reserve_takes_no_memory_that_is_never_used)
{
    field f;

    field_begin(&f, NULL, NULL);
    ck_ok(espl_renderables_reserve(f.s.renderables, 100));
    ck_assert_ptr_null(f.s.renderables->arrivals[ESPL__RECENT]);
    ck_assert_ptr_nonnull(f.s.renderables->arrivals[ESPL__MOVING]);
    field_end(&f);
}

// --- Everything at once ---

// List the entities that have boxes.
static void list_boxes(field *f)
{
    const espl_query_def def = {.all = &f->s.bounds,
                                .all_count = 1,
                                .include = ESPL_INCLUDE_DISABLED | ESPL_INCLUDE_PREFABS};
    espl_query query;

    f->count = 0;
    ck_ok(espl_query_begin(f->test.world, &def, &query));
    while (espl_query_next(&query)) {
        if (f->count + query.count > f->room) {
            f->room = 2 * (f->count + (uint32_t)query.count);
            f->entities = realloc(f->entities, f->room * sizeof *f->entities);
            ck_assert_ptr_nonnull(f->entities);
        }
        memcpy(f->entities + f->count, query.entities, query.count * sizeof *f->entities);
        f->count += (uint32_t)query.count;
    }
}

static espl_entity draw_entity(field *f)
{
    return f->entities[test_below(&f->random, f->count)];
}

// Record a command of some kind.
static void record_one(field *f, espl_recorder *lane, uint32_t key)
{
    const espl_transform place = draw_place(f, 300);
    const espl_instance_def clone = {.source = draw_entity(f)};
    const espl_bounds bounds = {{0, 1, 0}, {1, 2, test_between(&f->random, -0.2f, 4)}};
    const espl_layers layers = {(uint32_t)test_random(&f->random), 0};
    const espl_entity entity = draw_entity(f);
    espl_status status = ESPL_OK;

    switch (test_below(&f->random, 9)) {
    case 0:
        status = f->count < 3000 ? espl_record_instantiate(lane, key, &clone,
                                                           1 + test_below(&f->random, 30), NULL)
                                 : ESPL_OK;
        break;
    case 1:
        status = espl_record_destroy(lane, key, entity,
                                     test_one_in(&f->random, 2) ? ESPL_EXTENT_ENTITY
                                                                : ESPL_EXTENT_SUBTREE);
        break;
    case 2:
        status = espl_record_attach(lane, key, entity, draw_entity(f), NULL);
        break;
    case 3:
        status = espl_record_detach(lane, key, entity, ESPL_KEEP_WORLD);
        break;
    case 4:
        status = espl_record_add_component(lane, key, entity, f->s.bounds, &bounds, sizeof bounds);
        break;
    case 5:
        status = espl_record_add_component(lane, key, entity, f->s.layers, &layers, sizeof layers);
        break;
    case 6:
        status = test_one_in(&f->random, 2)
                     ? espl_record_add_component(lane, key, entity, ESPL_DISABLED, NULL, 0)
                     : espl_record_remove_component(lane, key, entity, ESPL_DISABLED);
        break;
    default:
        status = espl_record_write(lane, key, entity, ESPL_WRITE_LOCAL_TRANSFORM, &place);
        break;
    }
    ck_ok(status);
}

// Play commands, at first with memory that runs out.
static void play_some(field *f)
{
    const uint32_t count = 1 + test_below(&f->random, 60);
    espl_command_buffer *commands = NULL;

    if (f->count == 0) {
        return;
    }
    ck_ok(espl_command_buffer_create(f->test.world, 1, &commands));
    for (uint32_t i = 0; i < count; ++i) {
        record_one(f, espl_command_buffer_recorder(commands, 0), i);
    }
    test_heap_arm(&f->test.heap, f->never_lacks ? 0 : 1 + test_below(&f->random, 40), true);
    const espl_status status = espl_play(f->test.world, commands, NULL);

    test_heap_arm(&f->test.heap, 0, false);
    if (status == ESPL_ERR_NO_MEMORY) {
        // An update in between sees a playback that was undone.
        f->s.ignores_before = true;
        (void)see(&f->s);
        ck_assert_int_ge(espl_play(f->test.world, commands, NULL), 0);
    }
    espl_command_buffer_destroy(commands);
    list_boxes(f);
}

// One round of changes of many members.
static void change_many(field *f)
{
    const uint32_t share = 1 + test_below(&f->random, 20);

    for (uint32_t i = 0; i < f->count; ++i) {
        if (test_one_in(&f->random, share)) {
            move(f, i, test_one_in(&f->random, 3) ? 400 : 4);
        }
    }
    if (test_one_in(&f->random, 3) && f->count < 3000) {
        add_boxes(f, 1 + test_below(&f->random, test_one_in(&f->random, 4) ? 700 : 20),
                  1 + test_below(&f->random, 6), 400);
    }
    for (uint32_t i = test_one_in(&f->random, 3) ? test_below(&f->random, f->count / 2 + 1) : 0;
         i != 0 && f->count != 0; --i) {
        destroy_at(f, test_below(&f->random, f->count));
    }
    if (test_one_in(&f->random, 2)) {
        play_some(f);
    }
    if (test_one_in(&f->random, 10)) {
        ck_assert_int_ge(espl_compact(f->test.world), 0);
    }
    if (test_one_in(&f->random, 25)) {
        ck_assert_int_ge(espl_world_clear(f->test.world), 0);
        f->count = 0;
    }
}

static void run_many(uint64_t seed, const espl_renderables_def *def, const espl_executor *executor,
                     size_t rounds)
{
    field f;

    field_begin(&f, def, executor);
    test_cut_jobs(f.test.world, 4);
    f.random = seed;
    for (size_t round = 0; round < rounds; ++round) {
        change_many(&f);
        if (test_one_in(&f.random, 3)) {
            // Each allocation may fail: the next update does the work.
            test_heap_arm(&f.test.heap, 1 + test_below(&f.random, 20), true);
            const espl_status status = espl_renderables_update(f.s.renderables, NULL, NULL);

            test_heap_arm(&f.test.heap, 0, false);
            ck_assert(status == ESPL_OK || status == ESPL_PARTLY || status == ESPL_ERR_NO_MEMORY);
            test_world_is_valid(f.test.world);
            f.s.number += status >= 0 ? 1 : 0;
            f.s.ignores_before = status >= 0;
        }
        (void)see(&f.s);
        f.s.ignores_before = false;
        test_world_is_valid(f.test.world);
    }
    test_tell_figure(f.s.checked, "renderables compared with mirrors");
    field_end(&f);
}

TEST_LOOP(mirror_follows_many_members, 0, 6)
{
    static const espl_renderables_def defs[6] = {
        {0},
        {.cell_size = 0.01f},
        {.cell_size = 1e6f},
        {.refile_budget = 1},
        {.refile_budget = 100000},
        {.readers = 1},
    };
    test_executor hostile = {.manner = TEST_SHUFFLED, .workers = 5, .random = 7};
    espl_executor executor = test_executor_of(&hostile);
    const bool has_threads = _i % 3 == 0 && test_has_threads();

    if (test_lacks_room(4000, "many members")) {
        return;
    }
    if (has_threads) {
        ck_ok(espl_executor_create(&(espl_threads_def){.workers = 3}, &executor));
    }
    run_many(100 + (uint64_t)_i, &defs[_i], _i % 3 != 2 ? &executor : NULL,
             test_scaled_alone(40) * test_factor());
    if (has_threads) {
        espl_executor_destroy(&executor);
    }
}

// Any number of workers gives the same mirror, bit for bit and in the same order.
TEST(workers_give_the_same_mirror)
{
    test_executor shuffled = {.manner = TEST_SHUFFLED, .workers = 7, .random = 3};
    const espl_executor executor = test_executor_of(&shuffled);
    field two[2];

    if (test_lacks_room(4000, "the same mirror twice")) {
        return;
    }
    field_begin(&two[0], NULL, NULL);
    field_begin(&two[1], NULL, &executor);
    test_cut_jobs(two[1].test.world, 4);
    for (int round = 0; round < 12; ++round) {
        const espl_mirror *mirrors[2];

        for (int i = 0; i < 2; ++i) {
            two[i].never_lacks = true;
            change_many(&two[i]);
            two[i].s.ignores_before = true;
            (void)see(&two[i].s);
            mirrors[i] = espl_renderables_acquire(two[i].s.renderables);
        }
        ck_assert_uint_eq(mirrors[0]->order_count, mirrors[1]->order_count);
        for (uint32_t i = 0; i < mirrors[0]->order_count; ++i) {
            const espl__cluster_entry *const a = &mirrors[0]->entries[mirrors[0]->order[i]];
            const espl__cluster_entry *const b = &mirrors[1]->entries[mirrors[1]->order[i]];
            const uint32_t count = a->values->count;

            ck_assert_uint_eq(count, b->values->count);
            ck_assert_mem_eq(a->values->entities, b->values->entities,
                             count * sizeof *a->values->entities);
            ck_assert_mem_eq(a->poses->poses, b->poses->poses, count * sizeof *a->poses->poses);
            ck_assert_mem_eq(a->before->poses, b->before->poses, count * sizeof *a->poses->poses);
            ck_assert_mem_eq(a->poses->swept, b->poses->swept, sizeof a->poses->swept);
            ck_assert_mem_eq(a->holes, b->holes, sizeof a->holes);
        }
    }
    ck_assert_uint_gt(shuffled.calls, 0);
    field_end(&two[0]);
    field_end(&two[1]);
}
