// SPDX-License-Identifier: MIT
// Placements that come and go, at once: what changes, what keeps its world and its bits, where the
// row goes.
#include "tests/commands/shadows.h"
#include "tests/runner.h"

#include <math.h>
#include <stddef.h>

enum { NODES = 24, NO_NODE = NODES };

// --- Calls, as the layer above makes them ---

static espl_status place(espl_world *world, espl_entity entity, const espl_transform *value)
{
    espl_transform checked = value != NULL ? *value : espl_transform_identity();
    const espl_status status = espl_transform_normalize(&checked);

    return status != ESPL_OK
               ? status
               : espl__carry_one(world,
                                 &(espl__command){.target = entity, .kind = ESPL__COMMAND_PLACE},
                                 &checked, NULL);
}

static espl_status unplace(espl_world *world, espl_entity entity)
{
    return espl__carry_one(world, &(espl__command){.target = entity, .kind = ESPL__COMMAND_UNPLACE},
                           NULL, NULL);
}

// --- All of them, read off the forest ---

typedef struct forest_shadow {
    uint32_t count;
    shadow nodes[NODES]; // parents before children
} forest_shadow;

static void read_shadows(const espl_world *world, const espl_entity *entities, uint32_t count,
                         forest_shadow *out)
{
    out->count = count;
    for (uint32_t i = 0; i < count; ++i) {
        const espl_entity parent = espl_get_parent(world, entities[i]);

        out->nodes[i] = shadow_of(world, entities[i]);
        out->nodes[i].parent = NO_NODE;
        for (uint32_t k = 0; k < count; ++k) {
            if (espl_entity_equal(entities[k], parent)) {
                out->nodes[i].parent = k;
            }
        }
    }
}

// --- The rule, in public formulas ---

static bool is_finite(const espl_transform *t)
{
    bool is = isfinite(t->scale);

    for (int i = 0; i < 4; ++i) {
        is = is && isfinite(t->rotation[i]) && (i == 3 || isfinite(t->position[i]));
    }
    return is;
}

static bool copies(const shadow *n)
{
    return n->is_pass || (n->flags & ESPL_COPY_PARENT) != 0;
}

static espl_transform frame_above(const forest_shadow *f, uint32_t node)
{
    const uint32_t parent = f->nodes[node].parent;

    return parent == NO_NODE ? espl_transform_identity() : f->nodes[parent].shown;
}

static espl_transform shown_by(const forest_shadow *f, uint32_t node)
{
    const shadow *const n = &f->nodes[node];
    const espl_transform up = frame_above(f, node);

    if (copies(n)) {
        return up;
    }
    return n->parent == NO_NODE ? n->local
                                : espl_transform_inherit(&up, &n->local, &n->kept, n->flags);
}

// The local that keeps a world in a frame: seen from it, else the composed one, else the identity.
static espl_transform kept_local(const espl_transform *frame, const espl_transform *world,
                                 const espl_transform *composed)
{
    espl_transform local = *composed;

    (void)espl_transform_relative(&local, frame, world);
    espl_transform back = espl_transform_compose(frame, &local);
    if (is_finite(&local) && is_finite(&back)) {
        return local;
    }
    back = espl_transform_compose(frame, composed);
    return is_finite(composed) && is_finite(&back) ? *composed : espl_transform_identity();
}

static bool sees_same(const espl_transform *a, const espl_transform *b)
{
    return memcmp(a, b, offsetof(espl_transform, context)) == 0;
}

// Numbers are such that parents may stand behind children: walk by depth.
static uint32_t depth_of(const forest_shadow *f, uint32_t node)
{
    uint32_t depth = 0;

    for (; f->nodes[node].parent != NO_NODE; node = f->nodes[node].parent) {
        depth += 1;
    }
    return depth;
}

static void show_all(forest_shadow *f)
{
    for (uint32_t depth = 0; depth < f->count; ++depth) {
        for (uint32_t i = 0; i < f->count; ++i) {
            if (depth_of(f, i) == depth) {
                f->nodes[i].shown = shown_by(f, i);
            }
        }
    }
}

// What hangs below `node` right below it, or below what follows it as a copy, and has a placement.
static bool is_rebased(const forest_shadow *f, uint32_t at, uint32_t node)
{
    uint32_t up = f->nodes[at].parent;

    if (copies(&f->nodes[at])) {
        return false;
    }
    while (up != NO_NODE && up != node && copies(&f->nodes[up])) {
        up = f->nodes[up].parent;
    }
    return up == node;
}

// Carry the change out on shadows; `value` is NULL for one that takes the placement.
static void expect(forest_shadow *f, uint32_t node, const espl_transform *value)
{
    const forest_shadow before = *f;
    shadow *const n = &f->nodes[node];

    n->is_pass = value == NULL;
    n->flags = 0;
    n->local = value != NULL ? *value : espl_transform_identity();
    n->kept = espl_transform_identity();
    n->shown = shown_by(f, node);
    for (uint32_t i = 0; !sees_same(&n->shown, &before.nodes[node].shown) && i < f->count; ++i) {
        const shadow *const was = &before.nodes[i];

        if (is_rebased(&before, i, node)) {
            const bool drops = value == NULL && !copies(&before.nodes[node]);
            espl_transform composed = was->local;

            if (drops) {
                composed = espl_transform_compose(&before.nodes[node].local, &was->local);
            }
            const espl_transform local = kept_local(&n->shown, &was->shown, &composed);

            memcpy(&f->nodes[i].local, &local, sizeof(espl_pose));
        }
    }
    show_all(f);
}

static void shadows_agree(const forest_shadow *a, const forest_shadow *b)
{
    for (uint32_t i = 0; i < a->count; ++i) {
        const shadow *const x = &a->nodes[i], *const y = &b->nodes[i];

        ck_assert_uint_eq(x->parent, y->parent);
        shadow_agrees(x, y, i);
    }
}

// --- Random changes ---

// Leave some of the dead among the living: survivors stand below ghosts, below dead roots too where
// there is no memory for the purge.
static uint32_t destroy_some(test_world *test, uint64_t *random, espl_entity *entities,
                             uint32_t count)
{
    espl_world *const world = test->world;
    uint32_t left = 0;

    test_heap_arm(&test->heap, 1, true);
    for (uint32_t i = 0; i < count; ++i) {
        if (test_one_in(random, 7) && left + 2 < count) {
            ck_assert_int_eq(espl_destroy_only(world, entities[i]), ESPL_OK);
        } else {
            entities[left++] = entities[i];
        }
    }
    test_heap_arm(&test->heap, 0, false);
    return left;
}

static void change_one(espl_world *world, uint64_t *random, const espl_entity *entities,
                       uint32_t count)
{
    const uint32_t node = test_below(random, count);
    const bool is_placed = espl_has(world, entities[node], ESPL_PLACEMENT);
    const espl_transform value = random_transform(random, test_one_in(random, 2));
    forest_shadow expected, found;

    read_shadows(world, entities, count, &expected);
    expect(&expected, node, is_placed ? NULL : &value);
    ck_assert_int_eq(
        is_placed ? unplace(world, entities[node]) : place(world, entities[node], &value), ESPL_OK);
    read_shadows(world, entities, count, &found);
    shadows_agree(&expected, &found);
    ck_assert_int_eq(espl_has(world, entities[node], ESPL_PLACEMENT), !is_placed);
    test_world_is_valid(world);
}

START_TEST(random_changes_follow_the_rule_to_the_bit)
{
    uint64_t random = 7 + (uint64_t)_i;

    for (size_t round = 0; round < test_scaled(60); ++round) {
        test_world test;
        espl_entity entities[NODES];

        test_world_begin(&test, 3, NULL);
        plant(test.world, &random, entities, NODES, round % 3 == 0);
        for (uint32_t step = 0, count = NODES; step < 12; ++step) {
            count = step % 4 == 1 ? destroy_some(&test, &random, entities, count) : count;
            change_one(test.world, &random, entities, count);
        }
        test_world_end(&test);
    }
}
END_TEST

// --- Who changes, by name ---

// The slot column of an entity's row, as queries give it; ESPL__NONE where there is none.
static uint32_t slot_column(const espl_world *world, espl_entity entity)
{
    const espl__record *const record = &world->store.records[entity.index];
    const espl__chunk *const chunk = &world->store.chunks[record->chunk];
    const uint32_t offset = world->store.archetypes[chunk->archetype].placement_offset;

    return offset == ESPL__NONE
               ? ESPL__NONE
               : ((const uint32_t *)(const void *)(chunk->bytes + offset))[record->row];
}

static void shows_its_slot(const espl_world *world, espl_entity entity)
{
    ck_assert_uint_eq(slot_column(world, entity), slot_of(world, entity));
}

START_TEST(a_solo_gets_and_loses_its_placement)
{
    test_world test;
    espl_component tag = 0;
    uint32_t value = 41, read = 0;

    test_world_begin(&test, 3, NULL);
    const espl_component_def def = {"tag", sizeof value, 4, NULL, 0};
    ck_assert_int_eq(espl_component_register(test.world, &def, &tag), ESPL_OK);
    const espl_entity solo = bare(test.world);
    ck_assert_int_eq(espl_add(test.world, solo, tag, &value, sizeof value), ESPL_OK);

    ck_assert_int_eq(place(test.world, solo, &turned), ESPL_OK);
    ck_assert(is_placed(test.world, solo) && espl_has(test.world, solo, ESPL_SOLO));
    const espl_transform local = test_local_of(test.world, solo);
    const espl_transform world = test_world_of(test.world, solo);
    ck_assert(test_same(&local, &turned) && test_same(&world, &turned));
    shows_its_slot(test.world, solo);
    test_world_is_valid(test.world);

    ck_assert_int_eq(unplace(test.world, solo), ESPL_OK);
    ck_assert(!is_placed(test.world, solo) && espl_has(test.world, solo, ESPL_SOLO));
    ck_assert_int_eq(espl_get(test.world, solo, tag, &read, sizeof read), ESPL_OK);
    ck_assert_uint_eq(read, value);
    test_world_is_valid(test.world);
    test_world_end(&test);
}
END_TEST

// A root with a tree: the tree stays where it is, and is placed in the new frame from now on.
START_TEST(a_root_leaves_its_tree_where_it_is)
{
    test_world test;
    espl_transform before[3], after[3];

    test_world_begin(&test, 3, NULL);
    const espl_entity root = bare(test.world);
    espl_entity nodes[3];
    for (int i = 0; i < 3; ++i) {
        nodes[i] = test_solo_at(test.world, 1, (float)i, 2);
        attach(test.world, nodes[i], i == 2 ? nodes[1] : root, 0);
        before[i] = test_world_of(test.world, nodes[i]);
    }
    for (int step = 0; step < 2; ++step) {
        ck_assert_int_eq(step == 0 ? place(test.world, root, &turned) : unplace(test.world, root),
                         ESPL_OK);
        for (int i = 0; i < 3; ++i) {
            after[i] = test_world_of(test.world, nodes[i]);
            for (int axis = 0; axis < 3; ++axis) {
                ck_assert_float_eq_tol(after[i].position[axis], before[i].position[axis], 1e-5f);
            }
            shows_its_slot(test.world, nodes[i]);
        }
        ck_assert(espl_has(test.world, root, ESPL_ROOT));
        ck_assert(espl_entity_equal(espl_get_first_child(test.world, root), nodes[0]));
        test_world_is_valid(test.world);
    }
    // The child of a child was not touched: its local is the one it was given.
    const espl_transform local = test_local_of(test.world, nodes[2]);
    const espl_transform given = test_at(1, 2, 2);
    ck_assert(test_same(&local, &given));
    test_world_end(&test);
}
END_TEST

START_TEST(a_leaf_follows_its_parent_or_itself)
{
    test_world test;

    test_world_begin(&test, 3, NULL);
    const espl_entity parent = test_solo(test.world), leaf = bare(test.world);
    ck_assert_int_eq(espl_set_local(test.world, parent, &turned), ESPL_OK);
    attach(test.world, leaf, parent, 0);
    const espl_transform value = test_at(1, 1, 1);
    const espl_transform expected = espl_transform_compose(&turned, &value);

    ck_assert_int_eq(place(test.world, leaf, &value), ESPL_OK);
    const espl_transform placed = test_world_of(test.world, leaf);
    ck_assert(test_same(&placed, &expected));
    ck_assert(espl_has(test.world, leaf, ESPL_MEMBER));
    ck_assert_int_eq(unplace(test.world, leaf), ESPL_OK);
    const shadow shown = shadow_of(test.world, leaf);
    ck_assert(shown.is_pass && test_same(&shown.shown, &turned));
    test_world_is_valid(test.world);
    test_world_end(&test);
}
END_TEST

// A pass-through that gets the identity under a parent without stretch shows what it showed.
START_TEST(where_the_frame_stays_no_child_is_touched)
{
    test_world test;

    test_world_begin(&test, 3, NULL);
    const espl_entity parent = test_solo(test.world), middle = bare(test.world);
    const espl_entity low = test_solo(test.world);
    espl_transform plain = turned;
    plain.stretch[1] = 1;
    ck_assert_int_eq(espl_set_local(test.world, parent, &plain), ESPL_OK);
    attach(test.world, middle, parent, 0);
    attach(test.world, low, middle, ESPL_KEEP_X);
    // Off by rounding, so that a rebase would show.
    const espl_transform odd = {
        {0.1f, 0.7f, -0.1f, 0.70000005f}, {0.3f, 1e-3f, 77}, 0.3f, {1, 1, 1}, 0};
    ck_assert_int_eq(espl_set_local(test.world, low, &odd), ESPL_OK);
    const shadow before = shadow_of(test.world, low);
    for (int step = 0; step < 2; ++step) {
        ck_assert_int_eq(step == 0 ? place(test.world, middle, NULL) : unplace(test.world, middle),
                         ESPL_OK);
        const shadow after = shadow_of(test.world, low);
        ck_assert(test_same(&before.local, &after.local) && test_same(&before.shown, &after.shown));
        ck_assert(test_same(&before.kept, &after.kept));
    }
    test_world_end(&test);
}
END_TEST

// Chains of copies hang together: what follows them stays, they themselves come along.
START_TEST(copies_come_along_and_what_follows_them_stays)
{
    test_world test;

    test_world_begin(&test, 3, NULL);
    const espl_entity root = bare(test.world), pass = bare(test.world);
    const espl_entity copy = test_solo(test.world), low = test_solo_at(test.world, 1, 2, 3);
    attach(test.world, pass, root, 0);
    attach(test.world, copy, pass, ESPL_COPY_PARENT);
    attach(test.world, low, copy, 0);
    ck_assert_int_eq(place(test.world, root, &turned), ESPL_OK);
    const espl_transform copied = test_world_of(test.world, copy);
    ck_assert(test_same(&copied, &turned));
    const espl_transform kept = test_world_of(test.world, low);
    for (int axis = 0; axis < 3; ++axis) {
        ck_assert_float_eq_tol(kept.position[axis], (float)(axis + 1), 1e-5f);
    }
    // Without its placement a copy shows the same: nobody is touched.
    const shadow before = shadow_of(test.world, low);
    ck_assert_int_eq(unplace(test.world, copy), ESPL_OK);
    const shadow after = shadow_of(test.world, low);
    ck_assert(test_same(&before.local, &after.local) && test_same(&before.shown, &after.shown));
    ck_assert_uint_eq(espl_get_inherit(test.world, copy), 0);
    test_world_is_valid(test.world);
    test_world_end(&test);
}
END_TEST

START_TEST(placing_what_has_a_placement_is_a_write)
{
    test_world test;

    test_world_begin(&test, 3, NULL);
    const espl_entity parent = test_solo(test.world), low = test_solo_at(test.world, 5, 5, 5);
    const espl_entity copy = test_solo(test.world), bare_one = bare(test.world);
    attach(test.world, low, parent, 0);
    attach(test.world, copy, parent, ESPL_COPY_PARENT);
    ck_assert_int_eq(place(test.world, parent, &turned), ESPL_OK);
    const espl_transform local = test_local_of(test.world, low), given = test_at(5, 5, 5);
    ck_assert(test_same(&local, &given));
    uint64_t before = test_physical_hash(test.world);
    ck_assert_int_eq(place(test.world, parent, &turned), ESPL_OK);
    ck_assert_int_eq(unplace(test.world, bare_one), ESPL_OK);
    ck_assert_int_eq(place(test.world, copy, &turned), ESPL_ERR_COPIES_PARENT);
    ck_assert_uint_eq(test_physical_hash(test.world), before);
    test_world_end(&test);
}
END_TEST

START_TEST(what_cannot_be_placed_changes_nothing)
{
    test_world test;
    espl_component set[ESPL_SET_LIMIT];
    espl_entity full = {0};

    test_world_begin(&test, 3, NULL);
    const espl_entity huge = test_solo(test.world), low = bare(test.world);
    const espl_entity below = test_solo(test.world), dead = bare(test.world);
    espl_transform value = espl_transform_identity();
    value.scale = 3e38f;
    ck_assert_int_eq(espl_set_local(test.world, huge, &value), ESPL_OK);
    attach(test.world, low, huge, 0);
    attach(test.world, below, low, ESPL_KEEP_SCALE);
    ck_assert_int_eq(espl_destroy(test.world, dead), ESPL_OK);
    for (uint32_t i = 0; i < ESPL_SET_LIMIT - 1; ++i) {
        char name[8] = {'c', (char)('a' + i / 26), (char)('a' + i % 26), 0};
        ck_assert_int_eq(espl_component_register(
                             test.world, &(espl_component_def){name, 0, 1, NULL, 0}, &set[i]),
                         ESPL_OK);
    }
    ck_assert_int_eq(espl_create(test.world, set, ESPL_SET_LIMIT - 1, 1, &full), ESPL_OK);

    const uint64_t before = test_physical_hash(test.world);
    value.scale = 10;
    ck_assert_int_eq(place(test.world, low, &value), ESPL_ERR_RANGE);
    ck_assert_int_eq(place(test.world, full, NULL), ESPL_ERR_LIMIT);
    ck_assert_int_eq(place(test.world, dead, NULL), ESPL_ERR_DEAD);
    ck_assert_int_eq(unplace(test.world, dead), ESPL_ERR_DEAD);
    ck_assert_int_eq(place(test.world, espl_entity_null(), NULL), ESPL_ERR_NULL_ENTITY);
    ck_assert_uint_eq(test_physical_hash(test.world), before);
    ck_assert_int_eq(espl_remove(test.world, full, set[7]), ESPL_OK);
    ck_assert_int_eq(place(test.world, full, NULL), ESPL_OK);
    test_world_is_valid(test.world);
    test_world_end(&test);
}
END_TEST

START_TEST(without_memory_no_placement_comes_or_goes)
{
    for (int kind = 0; kind < 2; ++kind) {
        espl_status status = ESPL_ERR_NO_MEMORY;
        uint64_t random = 77;
        espl_entity entities[NODES];
        test_world test;
        uint32_t at = 0;

        test_world_begin(&test, 3, NULL);
        plant(test.world, &random, entities, NODES, false);
        while (is_placed(test.world, entities[at]) != (kind == 1) ||
               espl_count_children(test.world, entities[at]) == 0) {
            at += 1;
        }
        for (size_t n = 1; status == ESPL_ERR_NO_MEMORY; ++n) {
            const uint64_t before = test_physical_hash(test.world);
            test_heap_arm(&test.heap, n, _i != 0);
            status = kind == 0 ? place(test.world, entities[at], &turned)
                               : unplace(test.world, entities[at]);
            test_heap_arm(&test.heap, 0, false);
            if (status == ESPL_ERR_NO_MEMORY) {
                ck_assert_uint_eq(test_physical_hash(test.world), before);
                test_world_is_valid(test.world);
            }
        }
        ck_assert_int_eq(status, ESPL_OK);
        ck_assert_int_eq(is_placed(test.world, entities[at]), kind == 0);
        test_world_end(&test);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("placements");
    TCase *const rule = tcase_create("rule");

    tcase_add_loop_test(rule, random_changes_follow_the_rule_to_the_bit, 0, 4);
    tcase_add_test(rule, a_solo_gets_and_loses_its_placement);
    tcase_add_test(rule, a_root_leaves_its_tree_where_it_is);
    tcase_add_test(rule, a_leaf_follows_its_parent_or_itself);
    tcase_add_test(rule, where_the_frame_stays_no_child_is_touched);
    tcase_add_test(rule, copies_come_along_and_what_follows_them_stays);
    tcase_add_test(rule, placing_what_has_a_placement_is_a_write);
    tcase_add_test(rule, what_cannot_be_placed_changes_nothing);
    tcase_add_loop_test(rule, without_memory_no_placement_comes_or_goes, 0, 2);
    tcase_set_timeout(rule, 120);
    suite_add_tcase(suite, rule);
    return suite;
}

RUN_SUITE(make_suite)
