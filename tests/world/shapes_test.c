// SPDX-License-Identifier: MIT
// Huge shapes are legal: a chain and a star of a million nodes are made by one playback, written at
// the root, read at the end, edited at both ends and in the middle, iterated, copied, cloned and
// destroyed, on a thread with a small stack.
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tests/asked.h"
#include "tests/inside.h"
#include "tests/runner.h"
#include "tests/stacked.h"

#include <stdlib.h>
#include <string.h>

// Where there are few indices, small shapes meet the same limits.
#ifdef ESPL_SHRUNKEN
enum { MILLION = 20, DOUBLINGS = 4, LEAVES = 30 };
#else
enum { MILLION = 1000000, DOUBLINGS = 17, LEAVES = 20000 };
#endif

#define DEMAND STACKED_DEMAND

typedef struct huge {
    test_world test;
    espl_world *world;
    espl_command_buffer *commands;
    espl_entity source, root, middle, last;
    uint32_t count, half; // `half` nodes before the middle one
    bool is_chain;
} huge;

// --- Making it ---

// Locals are one step along X, so that every world is a whole number and exact.
static const char *record_shape(huge *h)
{
    espl_recorder *const recorder = espl_command_buffer_recorder(h->commands, 0);
    espl_instance_def def = {
        .source = h->source, .place = ESPL_PLACE_LOCAL, .transform = test_at(1, 0, 0)};

    DEMAND(espl_record_instantiate(recorder, 0, &def, 1, &h->root) == ESPL_OK);
    def.parent = h->root;
    for (uint32_t i = 1; i < h->count; ++i) {
        DEMAND(espl_record_instantiate(recorder, 0, &def, 1, &h->last) == ESPL_OK);
        if (i == h->half) {
            h->middle = h->last;
        }
        if (h->is_chain) {
            def.parent = h->last;
        }
    }
    return NULL;
}

static const char *play_shape(huge *h)
{
    espl_report report;

    DEMAND(espl_play(h->world, h->commands, &report) == ESPL_OK);
    DEMAND(report.accepted == h->count && report.applied == h->count && report.refused == 0);
    DEMAND(report.created == h->count);
    DEMAND(espl_command_buffer_resolve(h->commands, h->root, &h->root) == ESPL_OK);
    DEMAND(espl_command_buffer_resolve(h->commands, h->middle, &h->middle) == ESPL_OK);
    DEMAND(espl_command_buffer_resolve(h->commands, h->last, &h->last) == ESPL_OK);
    espl_command_buffer_destroy(h->commands);
    h->commands = NULL;
    return NULL;
}

static const char *write_shape(huge *h)
{
    const uint32_t depth = h->is_chain ? h->count - 1 : 1;
    const espl_transform moved = test_at(5, 1, 0);
    espl_transform world = {0};

    DEMAND(espl_get_world_transform(h->world, h->last, &world) == ESPL_OK);
    DEMAND(world.position[0] == (float)(depth + 1) && world.position[1] == 0);
    DEMAND(espl_set_local_transform(h->world, h->root, &moved) == ESPL_OK);
    DEMAND(espl_get_world_transform(h->world, h->last, &world) == ESPL_OK);
    DEMAND(world.position[0] == (float)(depth + 5) && world.position[1] == 1);
    DEMAND(espl_attach(h->world, h->root, h->last, NULL) == ESPL_ERR_CYCLE);
    return NULL;
}

// --- Looking at it ---

// Ranks are breadth-first once the hierarchy is viewed.
static const char *view_shape(huge *h)
{
    espl_view view;

    DEMAND(espl_view_hierarchy(h->world, h->middle, &view) == ESPL_OK);
    DEMAND(view.count == h->count);
    DEMAND(espl_entity_equal(espl_view_entity(&view, 0), h->root));
    DEMAND(espl_entity_equal(espl_view_entity(&view, h->half), h->middle));
    DEMAND(espl_entity_equal(espl_view_entity(&view, h->count - 1), h->last));
    for (uint32_t rank = 1; rank < h->count; ++rank) {
        DEMAND(espl_view_parent(&view, rank) == (h->is_chain ? rank - 1 : 0));
    }
    return NULL;
}

static const char *navigate_shape(huge *h)
{
    const espl_world *const world = h->world;
    const uint32_t depth = h->is_chain ? h->count - 1 : 1;
    const char *const failure = view_shape(h);

    if (failure != NULL) {
        return failure;
    }
    DEMAND(espl_get_depth(world, h->last) == depth);
    DEMAND(test_rank(world, h->last) == h->count - 1);
    DEMAND(test_rank(world, h->middle) == h->half);
    DEMAND(test_count_descendants(world, h->root) == h->count - 1);
    DEMAND(test_count_descendants(world, h->middle) == (h->is_chain ? h->count - 1 - h->half : 0));
    DEMAND(test_count_children(world, h->root) == (h->is_chain ? 1 : h->count - 1));
    DEMAND(espl_entity_equal(espl_get_root(world, h->last), h->root));
    DEMAND(espl_is_ancestor(world, h->root, h->last));
    DEMAND(espl_is_ancestor(world, h->middle, h->last) == h->is_chain);
    if (!h->is_chain) {
        DEMAND(espl_entity_equal(espl_get_last_child(world, h->root), h->last));
        DEMAND(espl_entity_equal(test_child(world, h->root, h->half - 1), h->middle));
        const espl_entity next = espl_get_next_sibling(world, h->middle);
        DEMAND(espl_entity_equal(espl_get_previous_sibling(world, next), h->middle));
    }
    return NULL;
}

static const char *walk_shape(huge *h)
{
    espl_subtree below;
    uint32_t met = 0;

    DEMAND(espl_subtree_begin(h->world, h->root, &below) == ESPL_OK);
    while (espl_subtree_next(&below)) {
        DEMAND(met != h->half || espl_entity_equal(below.entity, h->middle));
        DEMAND(below.rank == met);
        met += 1;
    }
    DEMAND(met == h->count);
    DEMAND(espl_subtree_begin(h->world, h->middle, &below) == ESPL_OK);
    for (met = 0; espl_subtree_next(&below); ++met) {
        DEMAND(met != 0 || espl_entity_equal(below.entity, h->middle));
    }
    DEMAND(met == (h->is_chain ? h->count - h->half : 1));
    return NULL;
}

// Arrays of a copy, in one block.
typedef struct shape_copy {
    espl_entity *entities;
    uint32_t *parents, *depths;
} shape_copy;

static const char *check_copy(const huge *h, const shape_copy *copy)
{
    DEMAND(espl_entity_equal(copy->entities[0], h->root));
    DEMAND(espl_entity_equal(copy->entities[h->half], h->middle));
    DEMAND(espl_entity_equal(copy->entities[h->count - 1], h->last));
    DEMAND(copy->parents[0] == ESPL_NO_RANK && copy->depths[0] == 0);
    for (uint32_t i = 1; i < h->count; ++i) {
        DEMAND(copy->parents[i] == (h->is_chain ? i - 1 : 0));
        DEMAND(copy->depths[i] == (h->is_chain ? i : 1));
    }
    return NULL;
}

static const char *copy_shape(huge *h)
{
    const size_t count = h->count;
    unsigned char *const block = malloc(count * (sizeof(espl_entity) + 2 * sizeof(uint32_t)));

    DEMAND(block != NULL);
    shape_copy copy = {.entities = (espl_entity *)(void *)block};
    copy.parents = (uint32_t *)(void *)(copy.entities + count);
    copy.depths = copy.parents + count;
    const espl_subtree_arrays arrays = {
        .entities = copy.entities, .parents = copy.parents, .depths = copy.depths};
    const char *failure = "the number of copied entities";

    if (espl_copy_subtree(h->world, h->root, ESPL_EXTENT_OWNED, count, &arrays) == count &&
        espl_copy_subtree(h->world, h->root, ESPL_EXTENT_SUBTREE, 0, NULL) == count) {
        failure = check_copy(h, &copy);
    }
    free(block);
    return failure;
}

// --- Editing it ---

// A leaf at the far end and one that becomes the first child of the root, and away with them.
static const char *edit_ends(huge *h)
{
    const espl_attach_options first = {.before = espl_get_first_child(h->world, h->root)};
    const espl_component placement = ESPL_TRANSFORM;
    espl_entity leaf[2] = {{0}};

    DEMAND(espl_create(h->world, &placement, 1, 2, leaf) == ESPL_OK);
    DEMAND(espl_attach(h->world, leaf[0], h->last, NULL) == ESPL_OK);
    DEMAND(espl_get_depth(h->world, leaf[0]) == (h->is_chain ? h->count : 2));
    DEMAND(espl_attach(h->world, leaf[1], h->root, &first) == ESPL_OK);
    DEMAND(espl_entity_equal(espl_get_first_child(h->world, h->root), leaf[1]));
    DEMAND(test_count_descendants(h->world, h->root) == h->count + 1);
    DEMAND(espl_detach(h->world, leaf[1], ESPL_KEEP_WORLD) == ESPL_OK);
    DEMAND(espl_destroy(h->world, leaf[0], ESPL_EXTENT_OWNED) == ESPL_OK);
    DEMAND(espl_destroy(h->world, leaf[1], ESPL_EXTENT_OWNED) == ESPL_OK);
    return NULL;
}

// The lower half leaves and comes back to where it was.
static const char *edit_halves(huge *h)
{
    const espl_entity above = espl_get_parent(h->world, h->middle);
    const espl_attach_options back = {.before = espl_get_next_sibling(h->world, h->middle)};
    espl_transform before = {0}, after = {0};

    DEMAND(espl_get_world_transform(h->world, h->last, &before) == ESPL_OK);
    DEMAND(espl_detach(h->world, h->middle, ESPL_KEEP_WORLD) == ESPL_OK);
    DEMAND(test_count_descendants(h->world, h->root) == (h->is_chain ? h->half - 1 : h->count - 2));
    DEMAND(espl_get_role(h->world, h->middle) == (h->is_chain ? ESPL_ROLE_ROOT : ESPL_ROLE_SOLO));
    DEMAND(espl_attach(h->world, h->middle, above, &back) == ESPL_OK);
    DEMAND(espl_get_world_transform(h->world, h->last, &after) == ESPL_OK);
    DEMAND(memcmp(&before, &after, sizeof before) == 0);
    return NULL;
}

// The whole under a new root, and out again.
static const char *edit_whole(huge *h)
{
    const espl_component placement = ESPL_TRANSFORM;
    espl_entity top = {0};

    DEMAND(espl_create(h->world, &placement, 1, 1, &top) == ESPL_OK);
    DEMAND(espl_attach(h->world, h->root, top, NULL) == ESPL_OK);
    DEMAND(test_count_descendants(h->world, top) == h->count);
    DEMAND(espl_destroy(h->world, top, ESPL_EXTENT_ENTITY) == ESPL_OK);
    DEMAND(espl_get_role(h->world, h->root) == ESPL_ROLE_ROOT);
    return NULL;
}

// In the star the middle one goes to the front, to the end, and back; a chain has no siblings.
static const char *edit_siblings(huge *h)
{
    const espl_entity next = espl_get_next_sibling(h->world, h->middle);
    const espl_entity first = espl_get_first_child(h->world, h->root);

    DEMAND(espl_entity_is_null(next) == h->is_chain);
    if (!h->is_chain) {
        DEMAND(espl_move_before(h->world, h->middle, first) == ESPL_OK);
        DEMAND(espl_entity_equal(espl_get_first_child(h->world, h->root), h->middle));
        DEMAND(espl_entity_equal(espl_get_next_sibling(h->world, h->middle), first));
        DEMAND(espl_entity_is_null(espl_get_previous_sibling(h->world, h->middle)));
    }
    DEMAND(espl_move_before(h->world, h->middle, espl_entity_null()) == ESPL_OK);
    DEMAND(h->is_chain || espl_entity_equal(espl_get_last_child(h->world, h->root), h->middle));
    DEMAND(espl_move_before(h->world, h->middle, next) == ESPL_OK);
    DEMAND(espl_move_before(h->world, h->root, next) == ESPL_ERR_NOT_CHILD ||
           espl_move_before(h->world, h->root, espl_entity_null()) == ESPL_ERR_NOT_CHILD);
    return NULL;
}

static size_t enabled_count(huge *h)
{
    size_t count = 0;
    espl_query query;

    if (espl_query_begin(h->world, NULL, &query) == ESPL_OK) {
        while (espl_query_next(&query)) {
            count += query.count;
        }
    }
    return count;
}

static const char *disable_shape(huge *h)
{
    const size_t below = h->is_chain ? h->count - h->half : 1;
    const size_t enabled = enabled_count(h);

    DEMAND(espl_set_enabled(h->world, h->middle, ESPL_EXTENT_OWNED, false) == ESPL_OK);
    DEMAND(enabled_count(h) == enabled - below);
    DEMAND(!espl_is_enabled(h->world, h->middle));
    DEMAND(espl_is_enabled(h->world, h->last) != h->is_chain);
    DEMAND(espl_set_enabled(h->world, h->root, ESPL_EXTENT_SUBTREE, false) == ESPL_OK);
    DEMAND(enabled_count(h) == enabled - h->count);
    DEMAND(espl_set_enabled(h->world, h->root, ESPL_EXTENT_OWNED, true) == ESPL_OK);
    DEMAND(enabled_count(h) == enabled);
    return NULL;
}

// A clone of half the chain, of the whole star.
static const char *clone_shape(huge *h)
{
    const espl_entity source = h->is_chain ? h->middle : h->root;
    const size_t below = test_count_descendants(h->world, source);
    espl_entity clone = {0};

    DEMAND(espl_instantiate(h->world, &(espl_instance_def){.source = source}, 1, &clone) ==
           ESPL_OK);
    DEMAND(test_count_descendants(h->world, clone) == below);
    DEMAND(below >= h->count / 2 - 1);
    DEMAND(espl_destroy(h->world, clone, ESPL_EXTENT_SUBTREE) == ESPL_OK);
    return NULL;
}

// --- Taking it apart ---

static const char *take_apart(huge *h)
{
    const espl_entity above = espl_get_parent(h->world, h->middle);
    const espl_entity below = espl_get_first_child(h->world, h->middle);
    espl_world_stats stats;

    DEMAND(espl_destroy(h->world, h->middle, ESPL_EXTENT_ENTITY) == ESPL_OK);
    DEMAND(!espl_is_alive(h->world, h->middle));
    DEMAND(!h->is_chain || espl_entity_equal(espl_get_parent(h->world, below), above));
    DEMAND(test_count_descendants(h->world, h->root) == h->count - 2);
    DEMAND(espl_validate(h->world, NULL));
    DEMAND(espl_detach(h->world, h->last, ESPL_KEEP_WORLD) == ESPL_OK);
    DEMAND(espl_destroy(h->world, h->root, ESPL_EXTENT_OWNED) == ESPL_OK);
    DEMAND(!espl_is_alive(h->world, h->root) && espl_is_alive(h->world, h->last));
    espl_stats(h->world, &stats);
    DEMAND(stats.entities == 2 && stats.solos == 2 && stats.hierarchies == 0);
    return NULL;
}

typedef const char *(*shape_step)(huge *h);

static const char *run_shape(void *argument)
{
    static const shape_step steps[] = {record_shape, play_shape,     write_shape,   navigate_shape,
                                       walk_shape,   copy_shape,     edit_ends,     edit_halves,
                                       edit_whole,   navigate_shape, edit_siblings, disable_shape,
                                       clone_shape,  navigate_shape, walk_shape,    take_apart};
    const char *failure = NULL;

    for (size_t i = 0; i < sizeof steps / sizeof *steps && failure == NULL; ++i) {
        failure = steps[i](argument);
    }
    return failure;
}

static void try_shape(bool is_chain, const espl_executor *executor)
{
    enum { LEAST = 20 }; // the middle one is neither the first child nor the last one
    const size_t count = test_scaled(MILLION);
    huge h = {.count = count > LEAST ? (uint32_t)count : LEAST, .is_chain = is_chain};

    h.half = h.count / 2;
    test_world_begin(&h.test, 0, executor);
    h.world = h.test.world;
    h.source = test_solo(h.world);
    ck_ok(espl_command_buffer_create(h.world, 1, &h.commands));
    run_on_a_small_stack(run_shape, &h);
    espl_command_buffer_destroy(h.commands);
    test_world_end(&h.test);
}

TEST(a6_d1_d7_a_chain_of_a_million_is_made_edited_and_destroyed)
{
    try_shape(true, NULL);
}

TEST(a6_d1_a_star_of_a_million_is_made_edited_and_destroyed)
{
    try_shape(false, NULL);
}

TEST(d1_a_chain_of_a_million_survives_a_shuffled_executor)
{
    test_executor hostile = {.manner = TEST_SHUFFLED, .workers = 4, .random = 3};
    const espl_executor executor = test_executor_of(&hostile);

    try_shape(true, &executor);
}
