// SPDX-License-Identifier: MIT
// Faults that other systems of this kind have had with orphans and membership, and with changes in
// the middle of an iteration, each as a test that would have caught it here. The letters name the
// entry in tests/BUGS.md.
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tests/planting.h"
#include "tests/runner.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const espl_attach_options keep_local = {
    .position = ESPL_KEEP_LOCAL, .rotation = ESPL_KEEP_LOCAL, .scale = ESPL_KEEP_LOCAL};

static espl_component registered(espl_world *world, const char *name, size_t size)
{
    const espl_component_def def = {.name = name, .size = size, .alignment = size == 0 ? 1 : 4};
    espl_component out = 0;

    ck_assert_int_eq(espl_component_register(world, &def, &out), ESPL_OK);
    return out;
}

static espl_entity attached(espl_world *world, espl_entity parent, espl_link link)
{
    espl_attach_options options = keep_local;
    const espl_entity child = test_solo(world);

    options.link = link;
    ck_assert_int_eq(espl_attach(world, child, parent, &options), ESPL_OK);
    return child;
}

// --- C: what a destroy leaves ---

enum { NODES = 12 };

// A random tree, some links free; parents stand before their children.
typedef struct tree {
    test_world test;
    espl_world *world;
    espl_entity node[NODES];
    uint32_t parent[NODES];
    bool is_free[NODES];
} tree;

static void tree_begin(tree *t, uint64_t *random)
{
    memset(t, 0, sizeof *t);
    test_world_begin(&t->test, 0, NULL);
    t->world = t->test.world;
    t->node[0] = test_solo_at(t->world, 1, 2, 3);
    t->parent[0] = PLANT_ROOT;
    for (uint32_t i = 1; i < NODES; ++i) {
        t->parent[i] = test_below(random, i);
        t->is_free[i] = test_one_in(random, 4);
        t->node[i] = attached(t->world, t->node[t->parent[i]],
                              t->is_free[i] ? ESPL_LINK_FREE : ESPL_LINK_OWNED);
    }
}

static void tree_end(tree *t)
{
    test_world_end(&t->test);
}

// The naive closure of a node: itself, and each child of one that is in it, by owned links or all.
static size_t close_over(const tree *t, uint32_t top, bool takes_free, bool is_in[NODES])
{
    size_t count = 1;

    memset(is_in, 0, NODES * sizeof *is_in);
    is_in[top] = true;
    for (uint32_t i = top + 1; i < NODES; ++i) {
        is_in[i] =
            t->parent[i] != PLANT_ROOT && is_in[t->parent[i]] && (takes_free || !t->is_free[i]);
        count += is_in[i];
    }
    return count;
}

// Whoever lives has a living parent or none, stands among that one's children, and so do others.
static void check_links(const tree *t)
{
    for (uint32_t i = 0; i < NODES; ++i) {
        const espl_entity parent = espl_get_parent(t->world, t->node[i]);
        espl_entity child = espl_get_first_child(t->world, t->node[i]);
        size_t children = 0;

        if (!espl_is_alive(t->world, t->node[i])) {
            ck_assert(espl_entity_is_null(parent) && espl_entity_is_null(child));
            continue;
        }
        ck_assert(espl_entity_is_null(parent) || espl_is_alive(t->world, parent));
        for (; !espl_entity_is_null(child); child = espl_get_next_sibling(t->world, child)) {
            ck_assert(espl_is_alive(t->world, child));
            ck_assert(espl_entity_equal(espl_get_parent(t->world, child), t->node[i]));
            children += 1;
        }
        ck_assert_uint_eq(children, espl_count_children(t->world, t->node[i]));
    }
    test_world_is_valid(t->world);
}

static const espl_extent extents[3] = {ESPL_EXTENT_OWNED, ESPL_EXTENT_SUBTREE, ESPL_EXTENT_ENTITY};

static void destroy_by(tree *t, uint32_t node, int kind, bool is_recorded)
{
    espl_command_buffer *commands = NULL;

    if (!is_recorded) {
        ck_assert_int_eq(espl_destroy(t->world, t->node[node], extents[kind]), ESPL_OK);
        return;
    }
    ck_assert_int_eq(espl_command_buffer_create(t->world, 1, &commands), ESPL_OK);
    ck_assert_int_eq(espl_record_destroy(espl_command_buffer_recorder(commands, 0), 0,
                                         t->node[node], extents[kind]),
                     ESPL_OK);
    ck_assert_int_eq(espl_play(t->world, commands, NULL), ESPL_OK);
    espl_command_buffer_destroy(commands);
}

START_TEST(c3_no_link_dangles_after_any_destroy_of_any_node)
{
    for (uint32_t turn = 0; turn < 6 * NODES; ++turn) {
        uint64_t random = turn / 6 % 3;
        const int kind = (int)(turn % 3);
        bool dies[NODES] = {false};
        tree t;

        tree_begin(&t, &random);
        const uint32_t node = turn / 6;
        if (kind == 2) {
            dies[node] = true;
        } else {
            (void)close_over(&t, node, kind == 1, dies);
        }
        destroy_by(&t, node, kind, turn % 6 >= 3);
        for (uint32_t i = 0; i < NODES; ++i) {
            ck_assert(espl_is_alive(t.world, t.node[i]) != dies[i]);
        }
        check_links(&t);
        tree_end(&t);
    }
}
END_TEST

// Each list there is, without an element.
START_TEST(c12_an_empty_list_is_no_matter_anywhere)
{
    espl_command_buffer *commands = NULL;
    espl_entity clone = {0};
    espl_query query;
    espl_report report;
    test_world test;

    test_world_begin(&test, 0, NULL);
    const espl_component lonely = registered(test.world, "lonely", 0);
    const espl_query_def nobody = {.all = &lonely, .all_count = 1};
    const espl_change_def nothing = {.add_count = 0};
    const espl_entity leaf = test_solo(test.world);
    const uint64_t before = test_physical_hash(test.world);

    ck_assert_int_eq(espl_create(test.world, NULL, 0, 0, NULL), ESPL_OK);
    ck_assert_int_eq(espl_instantiate(test.world, leaf, 0, NULL), ESPL_OK);
    ck_assert_int_eq(espl_write_batch(test.world, NULL, 0, NULL), ESPL_OK);
    ck_assert_int_eq(espl_change_components(test.world, leaf, &nothing), ESPL_OK);
    ck_assert_int_eq(espl_change_components_array(test.world, NULL, 0, &nothing, NULL), ESPL_OK);
    ck_assert_int_eq(espl_change_components_query(test.world, &nobody, &nothing, NULL), ESPL_OK);
    ck_assert_int_eq(espl_query_begin(test.world, &nobody, &query), ESPL_OK);
    ck_assert(!espl_query_next(&query) && !espl_query_next(&query));
    ck_assert_int_eq(espl_command_buffer_create(test.world, 2, &commands), ESPL_OK);
    ck_assert_int_eq(espl_play(test.world, commands, &report), ESPL_OK);
    ck_assert_uint_eq(report.accepted, 0);
    ck_assert_int_eq(espl_sync(test.world, &report), ESPL_OK);
    ck_assert_uint_eq(test_physical_hash(test.world), before);

    // A closure without members but the top, in each of the destroys and as a source.
    for (int kind = 0; kind < 3; ++kind) {
        ck_assert_int_eq(espl_instantiate(test.world, leaf, 1, &clone), ESPL_OK);
        ck_assert_int_eq(espl_destroy(test.world, clone, extents[kind]), ESPL_OK);
        ck_assert(!espl_is_alive(test.world, clone));
    }
    espl_command_buffer_destroy(commands);
    test_world_end(&test);
}
END_TEST

START_TEST(c17_a_move_before_a_child_of_another_parent_is_refused)
{
    espl_command_buffer *commands = NULL;
    test_world test;

    test_world_begin(&test, 0, NULL);
    const espl_entity a = test_solo(test.world), b = test_solo(test.world);
    const espl_entity of_a = attached(test.world, a, ESPL_LINK_OWNED);
    const espl_entity of_b = attached(test.world, b, ESPL_LINK_OWNED);
    const uint64_t before = test_physical_hash(test.world);

    ck_assert_int_eq(espl_set_sibling(test.world, of_a, of_b), ESPL_ERR_NOT_CHILD);
    ck_assert_int_eq(espl_set_sibling(test.world, of_a, a), ESPL_ERR_NOT_CHILD);
    ck_assert_int_eq(espl_set_sibling(test.world, a, espl_entity_null()), ESPL_ERR_NOT_CHILD);
    ck_assert_int_eq(espl_command_buffer_create(test.world, 1, &commands), ESPL_OK);
    ck_assert_int_eq(
        espl_record_set_sibling(espl_command_buffer_recorder(commands, 0), 0, of_a, of_b), ESPL_OK);
    ck_assert_int_eq(espl_play(test.world, commands, NULL), ESPL_OK);
    ck_assert_int_eq(espl_command_buffer_result(commands, 0, 0), ESPL_ERR_NOT_CHILD);
    ck_assert_uint_eq(test_physical_hash(test.world), before);
    espl_command_buffer_destroy(commands);
    test_world_end(&test);
}
END_TEST

// What is counted, cloned, disabled, copied and destroyed with an entity is one and the same set.
static void compare_closure(tree *t, uint32_t top)
{
    bool is_in[NODES], is_below[NODES];
    const size_t owned = close_over(t, top, false, is_in);
    const size_t all = close_over(t, top, true, is_below);
    espl_entity clone = {0}, entities[NODES];
    const espl_subtree_arrays arrays = {.entities = entities};

    ck_assert_uint_eq(espl_count_descendants(t->world, t->node[top]), all - 1);
    ck_assert_int_eq(espl_instantiate(t->world, t->node[top], 1, &clone), ESPL_OK);
    ck_assert_uint_eq(espl_count_descendants(t->world, clone), owned - 1);
    ck_assert_int_eq(espl_destroy(t->world, clone, ESPL_EXTENT_SUBTREE), ESPL_OK);
    ck_assert_uint_eq(espl_copy_subtree(t->world, t->node[top], ESPL_EXTENT_OWNED, NODES, &arrays),
                      owned);
    for (size_t i = 0; i < owned; ++i) {
        uint32_t node = 0;
        while (node < NODES && !espl_entity_equal(t->node[node], entities[i])) {
            node += 1;
        }
        ck_assert(node < NODES && is_in[node]);
    }
    ck_assert_int_eq(espl_disable(t->world, t->node[top], ESPL_EXTENT_OWNED), ESPL_OK);
    for (uint32_t i = 0; i < NODES; ++i) {
        ck_assert(espl_is_enabled(t->world, t->node[i]) != is_in[i]);
    }
    ck_assert_int_eq(espl_destroy(t->world, t->node[top], ESPL_EXTENT_OWNED), ESPL_OK);
    for (uint32_t i = 0; i < NODES; ++i) {
        ck_assert(espl_is_alive(t->world, t->node[i]) != is_in[i]);
    }
}

START_TEST(c11_c19_the_closure_of_an_entity_is_the_same_set_for_every_call)
{
    for (uint32_t turn = 0; turn < 5 * NODES; ++turn) {
        uint64_t random = turn / NODES;
        tree t;

        tree_begin(&t, &random);
        compare_closure(&t, turn % NODES);
        tree_end(&t);
    }
}
END_TEST

// Some hierarchies of one change want their roles put right, the others do not, in any order.
START_TEST(c20_each_hierarchy_of_a_change_is_put_right_whatever_the_others_want)
{
    enum { COUNT = 9 };
    for (unsigned wants = 0; wants < 1u << COUNT; wants += 7) {
        espl_entity root[COUNT], child[COUNT];
        espl_command_buffer *commands = NULL;
        test_world test;

        test_world_begin(&test, 0, NULL);
        ck_assert_int_eq(espl_command_buffer_create(test.world, 1, &commands), ESPL_OK);
        espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
        for (int i = 0; i < COUNT; ++i) {
            root[i] = test_solo(test.world);
            child[i] = attached(test.world, root[i], ESPL_LINK_OWNED);
            if ((wants >> i & 1) == 0) {
                (void)attached(test.world, root[i], ESPL_LINK_OWNED);
            }
            ck_assert_int_eq(espl_record_destroy(recorder, 0, child[i], ESPL_EXTENT_OWNED),
                             ESPL_OK);
        }
        ck_assert_int_eq(espl_play(test.world, commands, NULL), ESPL_OK);
        for (int i = 0; i < COUNT; ++i) {
            const bool is_alone = (wants >> i & 1) != 0;

            ck_assert(espl_has_component(test.world, root[i], ESPL_SOLO) == is_alone);
            ck_assert(espl_has_component(test.world, root[i], ESPL_ROOT) != is_alone);
            ck_assert_uint_eq(espl_count_children(test.world, root[i]), is_alone ? 0 : 1);
        }
        espl_command_buffer_destroy(commands);
        test_world_end(&test);
    }
}
END_TEST

// --- E: changes in the middle of an iteration ---

enum { CROWD = 50 };

typedef struct crowd {
    test_world test;
    espl_world *world;
    espl_component number;
    espl_entity entity[CROWD]; // a root and its children, every other one with a number
    espl_command_buffer *commands;
} crowd;

static void crowd_begin(crowd *c)
{
    memset(c, 0, sizeof *c);
    test_world_begin(&c->test, 0, NULL);
    c->world = c->test.world;
    c->number = registered(c->world, "number", sizeof(uint32_t));
    c->entity[0] = test_solo(c->world);
    for (uint32_t i = 1; i < CROWD; ++i) {
        c->entity[i] = attached(c->world, c->entity[0], ESPL_LINK_OWNED);
    }
    for (uint32_t i = 0; i < CROWD; i += 2) {
        ck_assert_int_eq(espl_add_component(c->world, c->entity[i], c->number, &i, sizeof i),
                         ESPL_OK);
    }
    ck_assert_int_eq(espl_command_buffer_create(c->world, 1, &c->commands), ESPL_OK);
}

static void crowd_end(crowd *c)
{
    espl_command_buffer_destroy(c->commands);
    test_world_end(&c->test);
}

// What peers have crashed on in a loop. All of it is refused.
static void meddle(crowd *c, espl_entity entity)
{
    const uint32_t value = 99;

    ck_assert_int_eq(espl_destroy(c->world, entity, ESPL_EXTENT_OWNED), ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_destroy(c->world, c->entity[0], ESPL_EXTENT_ENTITY), ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_destroy(c->world, c->entity[0], ESPL_EXTENT_SUBTREE), ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_detach(c->world, entity, ESPL_KEEP_WORLD), ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_attach(c->world, entity, c->entity[1], NULL), ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_set_sibling(c->world, entity, espl_entity_null()), ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_instantiate(c->world, entity, 1000, NULL), ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_create(c->world, &c->number, 1, 1000, NULL), ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_add_component(c->world, entity, c->number, &value, sizeof value),
                     ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_remove_component(c->world, c->entity[CROWD - 2], c->number),
                     ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_remove_component(c->world, entity, c->number), ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_play(c->world, c->commands, NULL), ESPL_ERR_BUSY);
}

START_TEST(e1_e7_components_and_entities_stay_while_a_query_runs)
{
    bool is_met[CROWD] = {false};
    espl_query query;
    crowd c;

    crowd_begin(&c);
    const espl_query_def numbered = {.all = &c.number, .all_count = 1};
    const uint64_t before = test_physical_hash(c.world);
    ck_assert_int_eq(espl_query_begin(c.world, &numbered, &query), ESPL_OK);
    while (espl_query_next(&query)) {
        const uint32_t *const column = espl_query_read(&query, c.number, sizeof *column);

        for (size_t row = 0; row < query.count; ++row) {
            meddle(&c, query.entities[row]);
            ck_assert_uint_lt(column[row], CROWD);
            ck_assert(!is_met[column[row]]);
            ck_assert(espl_entity_equal(query.entities[row], c.entity[column[row]]));
            is_met[column[row]] = true;
        }
    }
    for (uint32_t i = 0; i < CROWD; ++i) {
        ck_assert(is_met[i] == (i % 2 == 0));
    }
    ck_assert_uint_eq(test_physical_hash(c.world), before);
    crowd_end(&c);
}
END_TEST

START_TEST(e2_e5_children_stay_while_the_tree_is_walked)
{
    espl_subtree below;
    size_t met = 0;
    crowd c;

    crowd_begin(&c);
    const uint64_t before = test_physical_hash(c.world);
    ck_assert_int_eq(espl_subtree_begin(c.world, c.entity[0], &below), ESPL_OK);
    meddle(&c, c.entity[5]);
    while (espl_subtree_next(&below)) {
        ck_assert(espl_entity_equal(below.entity, c.entity[met]));
        meddle(&c, below.entity);
        met += 1;
    }
    ck_assert_uint_eq(met, CROWD);
    ck_assert_uint_eq(test_physical_hash(c.world), before);
    ck_assert_int_eq(espl_destroy(c.world, c.entity[5], ESPL_EXTENT_OWNED), ESPL_OK);
    crowd_end(&c);
}
END_TEST

// Jobs of a playback that call the world back, from a thread of their own as well.
typedef struct guest {
    crowd *c;
    size_t visits;
} guest;

static void *visit(void *argument)
{
    guest *const g = argument;

    meddle(g->c, g->c->entity[3]);
    ck_assert_int_eq(espl_sync(g->c->world, NULL), ESPL_ERR_BUSY);
    g->visits += 1;
    return NULL;
}

static void run_with_guest(void *context, espl_job function, void *argument, size_t count)
{
    guest *const g = context;
    pthread_t thread;

    for (size_t i = 0; i < count; ++i) {
        if (g->c != NULL) {
            (void)visit(g);
            ck_assert_int_eq(pthread_create(&thread, NULL, visit, g), 0);
            ck_assert_int_eq(pthread_join(thread, NULL), 0);
            g->c = NULL;
        }
        function(argument, i);
    }
}

START_TEST(e3_e11_a_job_of_a_playback_cannot_change_the_world_it_works_for)
{
    guest g = {0};
    const espl_executor executor = {&g, 4, run_with_guest};
    crowd c = {.number = 0};

    test_world_begin(&c.test, 0, &executor);
    c.world = c.test.world;
    c.number = registered(c.world, "number", sizeof(uint32_t));
    for (uint32_t i = 0; i < CROWD; ++i) {
        c.entity[i] = test_solo(c.world);
    }
    ck_assert_int_eq(espl_command_buffer_create(c.world, 1, &c.commands), ESPL_OK);
    const espl_instance_def def = {.source = c.entity[1]};
    const espl_transform moved = test_at(1, 2, 3);
    const uint32_t clones = test_fitting(20000, CROWD);
    espl_recorder *const recorder = espl_command_buffer_recorder(c.commands, 0);
    for (uint32_t i = 0; i < 20000; ++i) {
        ck_assert_int_eq(i < clones
                             ? espl_record_instantiate(recorder, 0, &def, 1, NULL)
                             : espl_record_set_local_transform(recorder, 0, c.entity[1], &moved),
                         ESPL_OK);
    }
    g.c = &c;
    ck_assert_int_eq(espl_play(c.world, c.commands, NULL), ESPL_OK);
    ck_assert_uint_eq(g.visits, 2);
    ck_assert_uint_eq(test_stats(c.world).entities, clones + CROWD);
    crowd_end(&c);
}
END_TEST

// Four threads record, one of them for what does not live any more; the world stays as it is.
typedef struct scribe {
    espl_recorder *recorder;
    const espl_entity *entity;
    espl_status status;
} scribe;

static void *scribble(void *argument)
{
    scribe *const s = argument;

    for (uint32_t i = 0; i < 1000 && s->status == ESPL_OK; ++i) {
        const espl_transform at = test_at((float)i, 0, 0);

        s->status =
            i % 2 == 0
                ? espl_record_set_local_transform(s->recorder, i, s->entity[i % CROWD], &at)
                : espl_record_destroy(s->recorder, i, s->entity[i % CROWD], ESPL_EXTENT_ENTITY);
    }
    return NULL;
}

START_TEST(e11_recording_from_threads_touches_no_world)
{
    espl_command_buffer *commands = NULL;
    pthread_t thread[4];
    scribe scribes[4];
    crowd c;

    crowd_begin(&c);
    ck_assert_int_eq(espl_command_buffer_create(c.world, 4, &commands), ESPL_OK);
    const uint64_t before = test_physical_hash(c.world);
    for (uint32_t i = 0; i < 4; ++i) {
        scribes[i] = (scribe){espl_command_buffer_recorder(commands, i), c.entity, ESPL_OK};
        ck_assert_int_eq(pthread_create(&thread[i], NULL, scribble, &scribes[i]), 0);
    }
    for (int i = 0; i < 4; ++i) {
        ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
        ck_assert_int_eq(scribes[i].status, ESPL_OK);
    }
    ck_assert_uint_eq(espl_command_buffer_count(commands), 4000);
    ck_assert_uint_eq(test_physical_hash(c.world), before);
    espl_command_buffer_destroy(commands);
    crowd_end(&c);
}
END_TEST

// --- E: nesting, contexts, aliases, growth ---

START_TEST(e6_iterations_end_in_any_order_and_the_last_one_frees_the_world)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

    for (int order = 0; order < 6; ++order) {
        espl_query query[2];
        espl_subtree below;
        crowd c;

        crowd_begin(&c);
        ck_assert_int_eq(espl_query_begin(c.world, NULL, &query[0]), ESPL_OK);
        ck_assert(espl_query_next(&query[0]));
        ck_assert_int_eq(espl_subtree_begin(c.world, c.entity[0], &below), ESPL_OK);
        ck_assert(espl_subtree_next(&below));
        ck_assert_int_eq(espl_query_begin(c.world, NULL, &query[1]), ESPL_OK);
        for (int i = 0; i < 3; ++i) {
            meddle(&c, c.entity[5]);
            for (int twice = 0; twice < 2; ++twice) {
                if (orders[order][i] == 2) {
                    espl_subtree_end(&below);
                } else {
                    espl_query_end(&query[orders[order][i]]);
                }
            }
        }
        ck_assert_int_eq(espl_destroy(c.world, c.entity[5], ESPL_EXTENT_OWNED), ESPL_OK);
        crowd_end(&c);
    }
}
END_TEST

START_TEST(e8_a_call_with_things_of_another_kind_or_world_is_refused)
{
    espl_entity pending = {0}, out = {0};
    espl_command_buffer *elsewhere = NULL;
    test_world other;
    crowd c;

    crowd_begin(&c);
    test_world_begin(&other, 0, NULL);
    const espl_entity stranger = test_solo(other.world);
    const espl_instance_def def = {.source = c.entity[1]}, strange = {.source = stranger};
    const uint64_t before = test_physical_hash(c.world);

    // What only a playback knows, given to calls that are carried out at once.
    espl_recorder *const recorder = espl_command_buffer_recorder(c.commands, 0);
    ck_assert_int_eq(espl_record_instantiate(recorder, 0, &def, 1, &pending), ESPL_OK);
    ck_assert_int_eq(espl_destroy(c.world, pending, ESPL_EXTENT_OWNED), ESPL_ERR_PENDING);
    ck_assert_int_eq(espl_attach(c.world, c.entity[1], pending, NULL), ESPL_ERR_PENDING);
    ck_assert_int_eq(espl_command_buffer_resolve(c.commands, c.entity[1], &out), ESPL_ERR_ARGUMENT);

    // A commands object of another world, and a foreign handle in one's own.
    ck_assert_int_eq(espl_command_buffer_create(other.world, 1, &elsewhere), ESPL_OK);
    ck_assert_int_eq(espl_play(c.world, elsewhere, NULL), ESPL_ERR_FOREIGN);
    ck_assert_int_eq(espl_record_destroy(espl_command_buffer_recorder(elsewhere, 0), 0, pending,
                                         ESPL_EXTENT_OWNED),
                     ESPL_ERR_FOREIGN);
    ck_assert_int_eq(espl_record_instantiate(recorder, 0, &strange, 1, NULL), ESPL_OK);
    espl_command_buffer_reset(c.commands);
    ck_assert_int_eq(espl_record_instantiate(recorder, 0, &strange, 1, NULL), ESPL_OK);
    ck_assert_int_eq(espl_record_destroy(recorder, 0, stranger, ESPL_EXTENT_OWNED), ESPL_OK);
    ck_assert_int_eq(espl_play(c.world, c.commands, NULL), ESPL_OK);
    ck_assert_int_eq(espl_command_buffer_result(c.commands, 0, 0), ESPL_ERR_FOREIGN);
    ck_assert_int_eq(espl_command_buffer_result(c.commands, 0, 1), ESPL_ERR_FOREIGN);
    ck_assert_uint_eq(test_physical_hash(c.world), before);
    ck_assert(espl_is_alive(other.world, stranger));
    espl_command_buffer_destroy(elsewhere);
    test_world_end(&other);
    crowd_end(&c);
}
END_TEST

// Where the entities and values of the first chunk stand in the world's own memory.
static const espl_entity *own_rows(crowd *c, const uint32_t **column, size_t *count)
{
    const espl_query_def def = {.all = &c->number, .all_count = 1};
    espl_query query;

    ck_assert_int_eq(espl_query_begin(c->world, &def, &query), ESPL_OK);
    ck_assert(espl_query_next(&query));
    const espl_entity *const entities = query.entities;
    *column = espl_query_read(&query, c->number, sizeof **column);
    *count = query.count;
    espl_query_end(&query);
    return entities;
}

START_TEST(e9_memory_of_the_world_itself_may_be_the_input)
{
    const uint32_t *column = NULL;
    size_t count = 0;
    uint32_t got = 0;
    espl_entity copy[CROWD];
    crowd c;

    crowd_begin(&c);
    const espl_component twin = registered(c.world, "twin", sizeof(uint32_t));
    const espl_entity *entities = own_rows(&c, &column, &count);
    memcpy(copy, entities, count * sizeof *copy);
    const uint32_t first = column[0], last = column[count - 1];

    // A value onto itself, and one that stands in the row which the call moves away.
    ck_assert_int_eq(espl_set_component(c.world, copy[0], c.number, column, sizeof *column),
                     ESPL_OK);
    ck_assert_int_eq(
        espl_set_component(c.world, copy[0], c.number, &column[count - 1], sizeof *column),
        ESPL_OK);
    ck_assert_int_eq(espl_get_component(c.world, copy[0], c.number, &got, sizeof got), ESPL_OK);
    ck_assert_uint_eq(got, last);
    ck_assert_int_eq(espl_set_component(c.world, copy[0], c.number, &first, sizeof first), ESPL_OK);
    ck_assert_int_eq(espl_add_component(c.world, copy[0], twin, column, sizeof *column), ESPL_OK);
    ck_assert_int_eq(espl_get_component(c.world, copy[0], twin, &got, sizeof got), ESPL_OK);
    ck_assert_uint_eq(got, first);

    // The handles of a chunk whose rows all leave it, and a value out of it for all of them.
    entities = own_rows(&c, &column, &count);
    memcpy(copy, entities, count * sizeof *copy);
    const uint32_t given = column[count / 2];
    const espl_component_value value = {twin, sizeof given, &column[count / 2]};
    const espl_change_def change = {
        .add = &value, .add_count = 1, .remove = &c.number, .remove_count = 1};
    ck_assert_int_eq(espl_change_components_array(c.world, entities, count, &change, NULL),
                     ESPL_OK);
    for (size_t i = 0; i < count; ++i) {
        ck_assert(!espl_has_component(c.world, copy[i], c.number));
        ck_assert_int_eq(espl_get_component(c.world, copy[i], twin, &got, sizeof got), ESPL_OK);
        ck_assert_uint_eq(got, given);
    }
    test_world_is_valid(c.world);
    crowd_end(&c);
}
END_TEST

START_TEST(e9_the_handles_of_a_chunk_may_be_written_in_a_batch)
{
    const uint32_t *column = NULL;
    size_t count = 0;
    float values[CROWD][3];
    crowd c;

    crowd_begin(&c);
    const espl_entity *const entities = own_rows(&c, &column, &count);
    for (size_t i = 0; i < count; ++i) {
        values[i][0] = (float)i;
        values[i][1] = values[i][2] = 1;
    }
    ck_assert_int_eq(espl_write_strided(c.world, ESPL_WRITE_LOCAL_POSITION, entities,
                                        sizeof(espl_entity), (const float(*)[3])values,
                                        sizeof(float[3]), count, NULL),
                     ESPL_OK);
    for (size_t i = 0; i < count; ++i) {
        ck_assert_float_eq(test_local_of(c.world, entities[i]).position[0], (float)i);
    }
    crowd_end(&c);
}
END_TEST

// One buffer for all names: what was copied from it stays, what was not is lost.
static const char *name_of(uint32_t i, char *buffer)
{
    memcpy(buffer, "kind??", 7);
    buffer[4] = (char)('0' + i / 10);
    buffer[5] = (char)('0' + i % 10);
    return buffer;
}

// Names, archetypes, chunks, runs and records grow one by one; each time all that stood before is
// found where it is now. The test's heap never grows a block in place.
START_TEST(e10_nothing_points_where_a_grown_container_was)
{
    enum { STEPS = 40 };
    espl_component kind[STEPS];
    espl_entity entity[STEPS];
    char name[8];
    test_world test;

    test_world_begin(&test, 0, NULL);
    for (uint32_t i = 0; i < STEPS; ++i) {
        kind[i] = registered(test.world, name_of(i, name), sizeof(uint32_t));
        const espl_component set[2] = {ESPL_TRANSFORM, kind[i]};
        ck_assert_int_eq(espl_create(test.world, set, 2, 1, &entity[i]), ESPL_OK);
        ck_assert_int_eq(espl_set_component(test.world, entity[i], kind[i], &i, sizeof i), ESPL_OK);
        if (i > 0) {
            ck_assert_int_eq(espl_attach(test.world, entity[i], entity[i / 2], NULL), ESPL_OK);
        }
        for (uint32_t k = 0; k <= i; ++k) {
            uint32_t got = UINT32_MAX;
            const espl_entity parent = k == 0 ? espl_entity_null() : entity[k / 2];

            ck_assert_uint_eq(espl_component_find(test.world, name_of(k, name)), kind[k]);
            ck_assert_int_eq(espl_get_component(test.world, entity[k], kind[k], &got, sizeof got),
                             ESPL_OK);
            ck_assert_uint_eq(got, k);
            ck_assert(espl_entity_equal(espl_get_parent(test.world, entity[k]), parent));
        }
    }
    test_world_end(&test);
}
END_TEST

static Suite *bugs_suite(void)
{
    Suite *const suite = suite_create("bugs with structure");
    TCase *const orphans = tcase_create("orphans"), *const iteration = tcase_create("iteration");

    tcase_set_timeout(orphans, 120);
    tcase_add_test(orphans, c3_no_link_dangles_after_any_destroy_of_any_node);
    tcase_add_test(orphans, c12_an_empty_list_is_no_matter_anywhere);
    tcase_add_test(orphans, c17_a_move_before_a_child_of_another_parent_is_refused);
    tcase_add_test(orphans, c11_c19_the_closure_of_an_entity_is_the_same_set_for_every_call);
    tcase_add_test(orphans, c20_each_hierarchy_of_a_change_is_put_right_whatever_the_others_want);
    suite_add_tcase(suite, orphans);
    tcase_set_timeout(iteration, 120);
    tcase_add_test(iteration, e1_e7_components_and_entities_stay_while_a_query_runs);
    tcase_add_test(iteration, e2_e5_children_stay_while_the_tree_is_walked);
    tcase_add_test(iteration, e3_e11_a_job_of_a_playback_cannot_change_the_world_it_works_for);
    tcase_add_test(iteration, e11_recording_from_threads_touches_no_world);
    tcase_add_test(iteration, e6_iterations_end_in_any_order_and_the_last_one_frees_the_world);
    tcase_add_test(iteration, e8_a_call_with_things_of_another_kind_or_world_is_refused);
    tcase_add_test(iteration, e9_memory_of_the_world_itself_may_be_the_input);
    tcase_add_test(iteration, e9_the_handles_of_a_chunk_may_be_written_in_a_batch);
    tcase_add_test(iteration, e10_nothing_points_where_a_grown_container_was);
    suite_add_tcase(suite, iteration);
    return suite;
}

RUN_SUITE(bugs_suite)
