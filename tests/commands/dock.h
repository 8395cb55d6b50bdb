// SPDX-License-Identifier: MIT
// Worlds alike with ships and prefabs, in one of which every group gets a sketch; and how they are
// compared.
#ifndef ESPALIER_TESTS_COMMANDS_DOCK_H
#define ESPALIER_TESTS_COMMANDS_DOCK_H

#include "tests/commands/planned.h"

enum { MEMBERS = 24, ROOM = 8, PREFAB = 5 };

// A world with ships and prefabs, whose entities bear numbers that clones have too.
typedef struct dock {
    yard y;
    espl_component word, link;
    espl_recorder *lane;
    uint32_t ship, other, prefab, solo; // in y.entities: those of one tree follow each other
    espl_report report;
} dock;

typedef struct link_value {
    uint32_t data;
    espl_entity named;
} link_value;

// --- Two worlds alike ---

static inline espl_entity entity_of(const dock *d, uint32_t number)
{
    return d->y.entities[number];
}

static inline uint32_t add_entity(dock *d, espl_entity parent, bool is_bare)
{
    const uint32_t number = d->y.count++;
    espl_world *const world = d->y.world;
    const espl_entity entity = is_bare ? bare(world) : test_solo(world);

    d->y.entities[number] = entity;
    ck_assert_int_eq(espl_add(world, entity, d->word, &number, sizeof number), ESPL_OK);
    if (!is_bare) {
        espl_transform value = random_transform(&d->y.random, false);

        value.scale = test_between(&d->y.random, 0.5f, 1);
        ck_assert_int_eq(espl_set_local(world, entity, &value), ESPL_OK);
    }
    if (!espl_entity_is_null(parent)) {
        attach(world, entity, parent, 0);
    }
    return number;
}

// A root, and members each below one of the last few. @return the number of the root.
static inline uint32_t add_tree(dock *d, uint32_t size, uint32_t reach)
{
    const uint32_t root = add_entity(d, espl_entity_null(), false);

    for (uint32_t i = 1; i < size; ++i) {
        const uint32_t back = test_below(&d->y.random, reach < i ? reach : i);

        (void)add_entity(d, entity_of(d, root + i - 1 - back), false);
    }
    return root;
}

static inline void play(dock *d)
{
    ck_assert_int_eq(espl_play(d->y.world, d->y.bed.commands, &d->report), ESPL_OK);
    test_world_is_valid(d->y.world);
    // Roots that were made are known from now on.
    for (uint32_t i = 0; i < d->y.count; ++i) {
        espl_entity made = espl_entity_null();

        if (espl_commands_resolve(d->y.bed.commands, d->y.entities[i], &made) == ESPL_OK) {
            d->y.entities[i] = made;
        }
    }
}

static inline const espl__run *run_of(const dock *d, uint32_t number)
{
    return espl__run_of(&d->y.world->forest, slot_of(d->y.world, entity_of(d, number)));
}

static inline void destroy(dock *d, uint32_t number)
{
    ck_assert_int_eq(espl_record_destroy(d->lane, 0, entity_of(d, number)), ESPL_OK);
}

// Leaves at the root of a ship go, so that their slots are room.
static inline uint32_t add_ship(dock *d, uint32_t room)
{
    const uint32_t ship = add_tree(d, MEMBERS, 3), leaves = d->y.count;

    for (uint32_t i = 0; i < room; ++i) {
        (void)add_entity(d, entity_of(d, ship), false);
    }
    ck_assert_int_eq(espl_trim(d->y.world), ESPL_OK);
    for (uint32_t i = 0; i < room; ++i) {
        destroy(d, leaves + i);
    }
    play(d);
    espl_commands_reset(d->y.bed.commands);
    return ship;
}

static inline void dock_begin(dock *d, uint64_t seed, bool is_long)
{
    static const uint32_t behind[1] = {4};
    const espl_component_def word = {"word", 4, 4, NULL, 0};
    const espl_component_def link = {"link", sizeof(link_value), 4, behind, 1};

    memset(d, 0, sizeof *d);
    yard_begin(&d->y, seed);
    d->y.playback->sketches_all = is_long;
    ck_assert_int_eq(espl_component_register(d->y.world, &word, &d->word), ESPL_OK);
    ck_assert_int_eq(espl_component_register(d->y.world, &link, &d->link), ESPL_OK);
    d->lane = yard_lane(&d->y, 0);
    d->prefab = add_tree(d, PREFAB, 2);
    d->solo = add_entity(d, espl_entity_null(), false);
    d->other = add_ship(d, ROOM);
    d->ship = add_ship(d, ROOM);
}

static inline void dock_end(dock *d)
{
    yard_end(&d->y);
}

// --- Comparing ---

static inline void nodes_agree(const dock *a, const dock *b, espl_entity x, espl_entity y)
{
    const shadow of_x = shadow_of(a->y.world, x), of_y = shadow_of(b->y.world, y);
    uint32_t word_x = 0, word_y = 0;

    ck_assert_int_eq(espl_get(a->y.world, x, a->word, &word_x, sizeof word_x), ESPL_OK);
    ck_assert_int_eq(espl_get(b->y.world, y, b->word, &word_y, sizeof word_y), ESPL_OK);
    ck_assert_uint_eq(word_x, word_y);
    shadow_agrees(&of_x, &of_y, word_x);
    ck_assert_int_eq(espl_get_link(a->y.world, x), espl_get_link(b->y.world, y));
    ck_assert_int_eq(espl_get_role(a->y.world, x), espl_get_role(b->y.world, y));
}

// The next node of a walk over a tree, parents first; null at its end.
static inline espl_entity walk_on(const espl_world *world, espl_entity entity)
{
    espl_entity next = espl_get_first_child(world, entity);

    while (espl_entity_is_null(next) && !espl_entity_is_null(entity)) {
        next = espl_get_next_sibling(world, entity);
        entity = espl_get_parent(world, entity);
    }
    return next;
}

static inline size_t trees_agree(const dock *a, const dock *b, espl_entity x, espl_entity y)
{
    size_t count = 0;

    while (!espl_entity_is_null(x) && !espl_entity_is_null(y)) {
        nodes_agree(a, b, x, y);
        ck_assert_uint_eq(espl_count_children(a->y.world, x), espl_count_children(b->y.world, y));
        x = walk_on(a->y.world, x);
        y = walk_on(b->y.world, y);
        count += 1;
    }
    ck_assert_int_eq(espl_entity_is_null(x), espl_entity_is_null(y));
    return count;
}

// All that live, from the roots that both know.
static inline void docks_agree(const dock *a, const dock *b)
{
    size_t count = 0;

    ck_assert_uint_eq(a->y.count, b->y.count);
    for (uint32_t i = 0; i < a->y.count; ++i) {
        const espl_entity x = entity_of(a, i), y = entity_of(b, i);
        const bool lives = espl_is_alive(a->y.world, x);

        ck_assert_int_eq(lives, espl_is_alive(b->y.world, y));
        if (lives && espl_entity_is_null(espl_get_parent(a->y.world, x))) {
            count += trees_agree(a, b, x, y);
        }
    }
    ck_assert_uint_eq(count, a->y.world->store.alive_count);
    ck_assert_uint_eq(count, b->y.world->store.alive_count);
}

// All but what the long way looks at beside.
static inline void reports_agree(const espl_report *x, const espl_report *y)
{
    ck_assert_uint_eq(x->accepted, y->accepted);
    ck_assert_uint_eq(x->applied, y->applied);
    ck_assert_uint_eq(x->lossy, y->lossy);
    ck_assert(memcmp(x->refused_by, y->refused_by, sizeof x->refused_by) == 0);
    ck_assert_uint_eq(x->created, y->created);
    ck_assert_uint_eq(x->destroyed, y->destroyed);
    ck_assert_uint_eq(x->row_moves, y->row_moves);
    ck_assert_uint_eq(x->groups, y->groups);
    ck_assert_uint_eq(x->largest_group, y->largest_group);
    ck_assert_uint_eq(x->rebuilt_nodes, y->rebuilt_nodes);
    ck_assert_uint_eq(x->pendings, y->pendings);
}

static inline void answers_agree(const dock *a, const dock *b)
{
    const espl_commands *const x = a->y.bed.commands, *const y = b->y.bed.commands;

    for (uint32_t lane = 0; lane < YARD_LANES; ++lane) {
        espl_status status = ESPL_OK;

        for (uint32_t i = 0; status != ESPL_ERR_ARGUMENT; ++i) {
            status = espl_commands_result(x, lane, i);
            ck_assert_int_eq(status, espl_commands_result(y, lane, i));
        }
    }
    reports_agree(&a->report, &b->report);
}

// --- Which way ---

// Groups that go the short way, of all; nothing is carried out.
static inline uint32_t count_short(dock *d, uint32_t *groups)
{
    const espl__playback *const playback = d->y.playback;
    uint32_t count = 0;

    yard_open(&d->y);
    ck_assert_int_eq(yard_prepare(&d->y), ESPL_OK);
    for (size_t i = 0; i < playback->group_count; ++i) {
        const espl__group *const group = &playback->groups[i];

        count += group->is_short ? 1 : 0;
        ck_assert(!group->is_short || group->sketch.known.items == NULL);
    }
    *groups = (uint32_t)playback->group_count;
    yard_close(&d->y, false);
    return count;
}

static inline void attach_free(dock *d, uint32_t child, uint32_t parent)
{
    const espl_attach_options options = {.link = ESPL_LINK_FREE};

    ck_assert_int_eq(espl_attach(d->y.world, entity_of(d, child), entity_of(d, parent), &options),
                     ESPL_OK);
}

#endif
