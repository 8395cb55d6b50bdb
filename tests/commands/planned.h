// SPDX-License-Identifier: MIT
// Plans and patches by hand: stages called by themselves on recorded lanes, over hierarchies that
// are large against what commands touch of them.
#ifndef ESPALIER_TESTS_COMMANDS_PLANNED_H
#define ESPALIER_TESTS_COMMANDS_PLANNED_H

#include "lib/commands/short.h"
#include "tests/commands/stages.h"

enum { YARD_ENTITIES = 600, YARD_LANES = 3 };

/// A bed with large hierarchies.
typedef struct yard {
    stage_bed bed;
    espl_world *world;
    espl__playback *playback;
    espl_entity entities[YARD_ENTITIES];
    uint32_t count;
    espl_entity created[YARD_LANES][STAGE_PENDINGS]; // what each lane's pendings became
    uint64_t random;
} yard;

static inline void yard_begin(yard *y, uint64_t seed)
{
    memset(y, 0, sizeof *y);
    y->random = seed;
    bed_begin(&y->bed, YARD_LANES);
    y->world = y->bed.world;
    y->playback = y->bed.playback;
    y->playback->sketches_all = true; // which are what is looked at
}

static inline void yard_end(yard *y)
{
    bed_end(&y->bed);
}

static inline espl_recorder *yard_lane(const yard *y, uint32_t lane)
{
    return espl_commands_recorder(y->bed.commands, lane);
}

// --- Hierarchies ---

/// What a hierarchy is made of.
typedef struct yard_plan {
    uint32_t size;
    uint32_t reach;  // a parent is one of the last `reach`; 0: any
    uint32_t passes; // one in so many has no placement; 0: none
    uint32_t keeps;  // one in so many has inherit flags; 0: none
    bool is_stretched;
} yard_plan;

static inline espl_entity yard_sprout(yard *y, const yard_plan *plan)
{
    const bool is_pass = plan->passes != 0 && test_one_in(&y->random, plan->passes);
    const espl_entity entity = is_pass ? bare(y->world) : test_solo(y->world);

    if (!is_pass) {
        const bool is_stretched = plan->is_stretched && test_one_in(&y->random, 4);
        espl_transform value = random_transform(&y->random, is_stretched);

        value.scale = test_between(&y->random, 0.9f, 1.1f);
        ck_assert_int_eq(espl_set_local(y->world, entity, &value), ESPL_OK);
    }
    return entity;
}

/// Plant one. @return the number of its root; the others follow.
static inline uint32_t yard_plant(yard *y, const yard_plan *plan)
{
    const uint32_t first = y->count;

    ck_assert_uint_le(first + plan->size, YARD_ENTITIES);
    for (uint32_t i = 0; i < plan->size; ++i) {
        const espl_entity entity = yard_sprout(y, plan);
        const uint32_t reach = plan->reach == 0 || plan->reach > i ? i : plan->reach;
        const bool keeps = plan->keeps != 0 && test_one_in(&y->random, plan->keeps);

        y->entities[y->count++] = entity;
        if (i > 0) {
            const espl_entity parent = y->entities[first + i - 1 - test_below(&y->random, reach)];

            attach(y->world, entity, parent,
                   keeps && is_placed(y->world, entity) ? random_inherit(&y->random) : 0);
        }
    }
    return first;
}

/// Entities that random yards may come to have, clones of clones too.
enum { YARD_LIMIT = 20000 };

/// Some of all kinds: chains, bushes, solos; plain and not.
static inline void yard_plant_all(yard *y)
{
    while (y->count + 1 < YARD_ENTITIES) {
        const uint32_t left = YARD_ENTITIES - y->count;
        const uint32_t size = 1 + test_below(&y->random, test_one_in(&y->random, 4) ? 3 : 90);
        const yard_plan plan = {.size = size < left ? size : left,
                                .reach = test_below(&y->random, 3) * 8,
                                .passes = test_below(&y->random, 3) * 5,
                                .keeps = test_below(&y->random, 3) / 2 * 6,
                                .is_stretched = test_one_in(&y->random, 3)};

        (void)yard_plant(y, &plan);
    }
    for (uint32_t i = 0; i < y->count / 20; ++i) {
        const espl_entity doomed = y->entities[test_below(&y->random, y->count)];

        if (espl_is_alive(y->world, doomed)) {
            ck_assert_int_eq(espl_destroy_only(y->world, doomed), ESPL_OK);
        }
    }
}

// --- Commands ---

static inline espl_entity yard_pick(yard *y)
{
    stage_bed *const bed = &y->bed;

    return bed->pending_count > 0 && test_one_in(&y->random, 6)
               ? bed->pendings[test_below(&y->random, bed->pending_count)]
               : y->entities[test_below(&y->random, y->count)];
}

static inline espl_entity yard_pick_or_none(yard *y, uint32_t odds)
{
    return test_one_in(&y->random, odds) ? espl_entity_null() : yard_pick(y);
}

static inline espl_status yard_instantiate(yard *y, espl_recorder *lane, uint32_t key)
{
    stage_bed *const bed = &y->bed;
    const size_t count = 1 + test_below(&y->random, 2);
    const espl_instance_def def = {.source = yard_pick(y),
                                   .parent = yard_pick_or_none(y, 3),
                                   .orphan = (espl_orphan)test_below(&y->random, 2),
                                   .link = (espl_link)test_below(&y->random, 2)};
    const bool has_room = bed->pending_count + count <= STAGE_PENDINGS;
    const espl_status status = espl_record_instantiate(
        lane, key, &def, count, has_room ? bed->pendings + bed->pending_count : NULL);

    bed->pending_count += status == ESPL_OK && has_room ? (uint32_t)count : 0;
    return status;
}

static inline espl_status yard_create(yard *y, espl_recorder *lane, uint32_t key)
{
    stage_bed *const bed = &y->bed;
    const espl_transform value = random_transform(&y->random, test_one_in(&y->random, 5));
    const espl_component_value placement = {
        .component = ESPL_PLACEMENT, .data = &value, .size = sizeof value};
    const espl_creation_def def = {.values = &placement,
                                   .value_count = test_below(&y->random, 2),
                                   .parent = yard_pick_or_none(y, 4)};
    const bool has_room = bed->pending_count + 1 <= STAGE_PENDINGS;
    const espl_status status = espl_record_create(
        lane, key, &def, 1, has_room ? bed->pendings + bed->pending_count : NULL);

    bed->pending_count += status == ESPL_OK && has_room ? 1 : 0;
    return status;
}

/// Record one command of any kind that changes hierarchies.
static inline void yard_record_one(yard *y, uint32_t keys)
{
    espl_recorder *const lane = yard_lane(y, test_below(&y->random, YARD_LANES));
    const uint32_t key = test_below(&y->random, keys);
    const espl_entity target = yard_pick(y), other = yard_pick(y);
    const espl_transform value = random_transform(&y->random, test_one_in(&y->random, 6));
    const espl_stay stay = (espl_stay)test_below(&y->random, 3);
    const espl_attach_options options = {
        .position = stay,
        .rotation = stay,
        .scale = stay,
        .link = (espl_link)test_below(&y->random, 2),
        .inherit = test_one_in(&y->random, 8) ? random_inherit(&y->random) : 0};
    espl_status status = ESPL_OK;

    switch (test_below(&y->random, 14)) {
    case 0:
        status = espl_record_destroy(lane, key, target);
        break;
    case 1:
        status = espl_record_destroy_only(lane, key, target);
        break;
    case 2:
        status = espl_record_detach(lane, key, target, stay);
        break;
    case 3:
        status = espl_record_set_sibling(lane, key, target, yard_pick_or_none(y, 2));
        break;
    case 4:
    case 5:
        status = espl_record_set_local(lane, key, target, &value);
        break;
    case 6:
        status = espl_record_set_inherit(lane, key, target, random_inherit(&y->random));
        break;
    case 7:
        status = yard_instantiate(y, lane, key);
        break;
    case 8:
        status = yard_create(y, lane, key);
        break;
    case 9:
        status = espl_record_add(lane, key, target, ESPL_PLACEMENT, &value, sizeof value);
        break;
    case 10:
        status = espl_record_remove(lane, key, target, ESPL_PLACEMENT);
        break;
    default:
        status = espl_record_attach(lane, key, target, other, &options);
        break;
    }
    ck_assert_int_eq(status, ESPL_OK);
}

static inline void yard_record(yard *y, uint32_t count, uint32_t keys)
{
    for (uint32_t i = 0; i < count; ++i) {
        yard_record_one(y, keys);
    }
}

// --- Stages ---

/// What a playback does before the first stage.
static inline void yard_open(yard *y)
{
    espl__playback *const playback = y->playback;

    bed_open(&y->bed);
    for (uint32_t i = 0; i < YARD_LANES; ++i) {
        const espl__lane *const lane = &y->bed.commands->recorders[i].lane;

        ck_assert_uint_le(lane->pending_count, STAGE_PENDINGS);
        y->bed.lanes[i].payloads = lane->payloads.blocks;
        y->bed.lanes[i].created = y->created[i];
    }
    playback->gift_count = playback->batch_count = playback->lost_count = 0;
    playback->moved_nodes = playback->row_batches = playback->call_count = 0;
    playback->copies_count = playback->recipe_count = 0;
    playback->references = NULL;
    playback->first_refused = UINT32_MAX;
}

/// The first stages, the plan too.
static inline espl_status yard_plan_stages(yard *y)
{
    const espl_status status = bed_run_to(&y->bed, espl__stage_group);

    return status != ESPL_OK ? status : espl__stage_plan(y->playback);
}

/// All stages that may fail.
static inline espl_status yard_prepare(yard *y)
{
    const espl_status status = yard_plan_stages(y);

    return status != ESPL_OK ? status : espl__stage_reserve(y->playback);
}

/// What a playback does behind the last stage that it came to. The marks are all zero then.
static inline void yard_close(yard *y, bool is_done)
{
    espl__playback *const playback = y->playback;
    uint32_t any = 0;

    for (size_t i = 0; i < playback->plot_count && !is_done; ++i) {
        espl__side_free(playback->heap, playback->plots[i].side);
    }
    espl__recipes_forget(playback);
    espl__works_drop(playback);
    ESPL_ARRAY_FREE(playback->heap, ESPL__FOR_COMMANDS, playback->references);
    bed_close(&y->bed);
    for (size_t i = 0; i < espl__array_length(playback->slot_marks); ++i) {
        any |= playback->slot_marks[i];
    }
    ck_assert_uint_eq(any, 0);
}

/// Fail with the broken rule unless the forest is sound, also between two stages.
static inline void yard_is_sound(const yard *y)
{
    uint32_t slot = 0;
    size_t detail = 0;
    const char *const rule = espl__forest_broken_rule(&y->world->forest, &slot, &detail);

    ck_assert_msg(rule == NULL, "%s (slot %u, detail %zu)", rule, slot, detail);
}

/// The entry of the n-th command of a lane.
static inline const espl__entry *yard_entry(const yard *y, uint32_t lane, uint32_t index)
{
    for (size_t i = 0; i < y->playback->entry_count; ++i) {
        const espl__entry *const entry = &y->playback->entries[i];

        if (entry->lane == lane && entry->index == index) {
            return entry;
        }
    }
    ck_abort_msg("no such command");
    return NULL;
}

// --- A plan, read without asking it for anything ---

/// Fields of a node: what the sketch knows of it, or what the forest has.
static inline uint32_t plan_parent(const espl__sketch *sketch, uint32_t node)
{
    return espl__sketch_is_known(sketch, node) ? espl__sketch_at(sketch, node)->parent
                                               : espl__parent_slot(sketch->forest, node);
}

static inline uint32_t plan_first(const espl__sketch *sketch, uint32_t node)
{
    const espl__forest *const forest = sketch->forest;

    if (espl__sketch_is_known(sketch, node)) {
        return espl__sketch_at(sketch, node)->first;
    }
    const espl__run *const run = espl__run_of(forest, node);
    const uint32_t first = espl__first_child(forest, run, forest->rank[node]);
    const uint32_t end = espl__first_child(forest, run, forest->rank[node] + 1);

    return first < end ? forest->order[run->base + first] : ESPL__NO_NODE;
}

static inline uint32_t plan_next(const espl__sketch *sketch, uint32_t node)
{
    const espl__forest *const forest = sketch->forest;

    if (espl__sketch_is_known(sketch, node)) {
        return espl__sketch_at(sketch, node)->next;
    }
    const espl__run *const run = espl__run_of(forest, node);
    const uint32_t rank = forest->rank[node];
    const bool has_next = rank != 0 && rank + 1 < run->size &&
                          forest->parent[run->base + rank + 1] == forest->parent[run->base + rank];

    return has_next ? forest->order[run->base + rank + 1] : ESPL__NO_NODE;
}

static inline uint32_t plan_entity(const espl__sketch *sketch, uint32_t node)
{
    return espl__sketch_is_known(sketch, node) ? espl__sketch_at(sketch, node)->entity
                                               : sketch->forest->entity[node];
}

static inline bool plan_is_pass(const espl__sketch *sketch, uint32_t node)
{
    return espl__sketch_is_known(sketch, node)
               ? (espl__sketch_at(sketch, node)->flags & ESPL__NODE_PASS) != 0
               : espl__slot_is(sketch->forest, node, ESPL__SLOT_PASS);
}

static inline bool plan_is_free(const espl__sketch *sketch, uint32_t node)
{
    return espl__sketch_is_known(sketch, node)
               ? (espl__sketch_at(sketch, node)->flags & ESPL__NODE_FREE_LINK) != 0
               : espl__slot_is(sketch->forest, node, ESPL__SLOT_FREE_LINK);
}

#endif
