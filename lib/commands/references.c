// SPDX-License-Identifier: MIT
// Entity references in clones: a field that names a member of the closure that was cloned comes to
// name that member's clone in the same copy. Copies of one command are alike, so each command is
// worked out once, member by member; what an earlier command of the playback made is known by its
// node, since it has no handle before the change.
#include "lib/commands/playback.h"

#include <string.h>

// What a field of a clone names.
enum {
    HELD,   // what its row holds once it is made
    MEMBER, // a member of its own copy
    CLONE,  // a node that an earlier command made
};

// Where plans are made: one group, and the closure of one command by its members' numbers + 1.
typedef struct planner {
    espl__playback *playback;
    const espl__group *group;
    uint32_t first_batch;   // of the group
    const uint8_t *refers;  // by archetype
    uint32_t *entity_marks; // by entity index
    uint32_t *node_marks;   // by node
} planner;

// --- Archetypes and fields ---

bool espl__references_in(const espl__store *store, uint32_t archetype)
{
    const espl__column *const columns = store->archetypes[archetype].columns;
    const size_t count = espl__array_length(columns);
    bool refers = false;

    for (size_t i = 0; i < count && !refers; ++i) {
        refers = espl__component_info_of(store, columns[i].component)->reference_count != 0;
    }
    return refers;
}

static bool reserve_fields(const planner *p, size_t more)
{
    espl__playback *const playback = p->playback;

    // Their numbers are kept in 32 bits. Past what memory holds.
    if (espl__array_length(playback->references) >= UINT32_MAX - more) { // GCOVR_EXCL_BR_LINE
        return false;
    }
    return ESPL_ARRAY_RESERVE(playback->heap, ESPL__FOR_COMMANDS, playback->references, more);
}

// The number of the member that a field names, or ESPL__NO_NODE for anything else.
static uint32_t find_member(const planner *p, const espl__reference *field)
{
    const espl__store *const store = p->playback->store;
    uint32_t mark = 0;

    if (field->kind == CLONE) {
        mark = p->node_marks[field->node & ~ESPL__MADE];
    } else if (field->held.index < espl__array_length(store->records) &&
               espl_entity_equal(field->held, espl__entity_at(store, field->held.index))) {
        mark = p->entity_marks[field->held.index];
    }
    return mark - 1;
}

// List a field as this command leaves it. Reserved.
static void list_field(const planner *p, const espl__reference *before)
{
    const uint32_t member = find_member(p, before);
    espl__reference field = *before;

    if (member != ESPL__NO_NODE) {
        field.kind = MEMBER;
        field.node = member;
    }
    ESPL_ARRAY_PUSH(p->playback->references, field);
}

static espl__reference held_field(espl_component component, uint32_t offset,
                                  const unsigned char *value)
{
    espl__reference field = {.component = component, .offset = offset, .kind = HELD};

    memcpy(&field.held, value + offset, sizeof field.held);
    return field;
}

// --- Originals ---

// Fields of one component whose value stands somewhere.
static bool list_value(const planner *p, espl_component component, const unsigned char *value)
{
    const espl__component_info *const info = espl__component_info_of(p->playback->store, component);

    if (!reserve_fields(p, info->reference_count)) {
        return false;
    }
    for (uint32_t r = 0; r < info->reference_count; ++r) {
        const espl__reference field = held_field(component, info->references[r], value);

        list_field(p, &field);
    }
    return true;
}

// Fields of a clone of an entity that lived before the playback.
static bool list_row(const planner *p, uint32_t entity)
{
    const espl__store *const store = p->playback->store;
    const uint32_t archetype = espl__entity_archetype(store, entity);
    const espl__column *const columns = store->archetypes[archetype].columns;
    const size_t count = p->refers[archetype] != 0 ? espl__array_length(columns) : 0;
    bool is_done = true;

    for (size_t i = 0; i < count && is_done; ++i) {
        if (espl__component_info_of(store, columns[i].component)->reference_count != 0) {
            is_done = list_value(p, columns[i].component,
                                 espl__row_value(store, entity, columns[i].component));
        }
    }
    return is_done;
}

// The batch of this group that made a node; they count up.
static const espl__reference_batch *find_batch(const planner *p, uint32_t node)
{
    const espl__reference_batch *const batches = p->playback->batches;
    size_t low = p->first_batch, high = p->playback->batch_count;

    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;

        if (batches[middle].begin <= node) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &batches[low];
}

// Fields that a clone got when it was made, of one component or, for 0, of all.
static bool list_clone(const planner *p, uint32_t original, espl_component component)
{
    const espl__playback *const playback = p->playback;
    const espl__reference_batch *const batch = find_batch(p, original);
    const uint32_t member = (original - batch->begin) % batch->size;
    const uint32_t top = original - member;
    const uint32_t begin = playback->member_fields[batch->members + member];
    const uint32_t end = playback->member_fields[batch->members + member + 1];

    if (!reserve_fields(p, end - begin)) {
        return false;
    }
    for (uint32_t i = begin; i < end; ++i) {
        espl__reference field = playback->references[i];

        if (component != 0 && field.component != component) {
            continue;
        }
        if (field.kind == MEMBER) {
            field.kind = CLONE;
            field.node += top;
        }
        list_field(p, &field);
    }
    return true;
}

// --- Sets that commands changed ---

// Tell whether a component of a clone was given to the clone itself: its value stands as it is.
static bool is_own(const espl__set_item *item, const espl__reference_batch *batch)
{
    return item->entry != ESPL__NONE && item->entry >= batch->entry;
}

// The set that a clone had when it was made, or ESPL__NONE. Each set is passed once: it belongs to
// one node, and what changed later leads back to it.
static uint32_t first_set(const planner *p, const espl__node *clone, uint32_t entry)
{
    const espl__set *const sets = p->group->work->sets.sets;
    uint32_t set = clone->values;

    while (set != ESPL__NONE && sets[set].entry > entry) {
        set = sets[set].before;
    }
    return set;
}

// Fields of one component that a clone got from its original.
static bool list_item(const planner *p, const espl__set_item *item, uint32_t original)
{
    const espl__node *const n = espl__sketch_at(&p->group->work->sketch, original);

    if (item->entry != ESPL__NONE &&
        (!espl__node_is_clone(n) || is_own(item, find_batch(p, original)))) {
        return list_value(p, item->component, item->bytes);
    }
    return espl__node_is_clone(n)
               ? list_clone(p, original, item->component)
               : list_value(p, item->component,
                            espl__row_value(p->playback->store, n->entity, item->component));
}

static bool list_set(const planner *p, uint32_t number, const espl__reference_batch *batch,
                     uint32_t original)
{
    const espl__sets *const sets = &p->group->work->sets;
    const espl__set *const set = &sets->sets[number];
    bool is_done = true;

    for (uint32_t i = 0; i < set->count && is_done; ++i) {
        const espl__set_item *const item = &sets->items[set->begin + i];
        const espl__component_info *const info =
            espl__component_info_of(p->playback->store, item->component);

        if (info->reference_count != 0 && !is_own(item, batch)) {
            is_done = list_item(p, item, original);
        }
    }
    return is_done;
}

// --- One command ---

// Mark what the members were cloned from with their numbers, or take the marks back.
static void mark_members(const planner *p, const espl__reference_batch *batch, bool is_marked)
{
    const espl__sketch *const sketch = &p->group->work->sketch;

    for (uint32_t member = 0; member < batch->size; ++member) {
        const espl__node *const clone = espl__sketch_at(sketch, batch->begin + member);
        const uint32_t original = clone->entity;
        const uint32_t mark = is_marked ? member + 1 : 0;

        if (original == ESPL__NO_NODE && clone->source != ESPL__NO_ENTITY) {
            p->entity_marks[clone->source] = mark;
        } else if (original == ESPL__NO_NODE) {
            continue; // it has no original
        } else if ((espl__sketch_at(sketch, original)->flags & ESPL__NODE_CLONE) == 0) {
            p->entity_marks[espl__sketch_at(sketch, original)->entity] = mark;
        } else {
            p->node_marks[original & ~ESPL__MADE] = mark;
        }
    }
}

// Without a node to be its original, its original is a row that nothing changed, or there is none.
static bool list_member(const planner *p, const espl__reference_batch *batch,
                        const espl__node *clone)
{
    const uint32_t original = clone->entity;
    const uint32_t set = first_set(p, clone, batch->entry);

    if (original == ESPL__NO_NODE) {
        return clone->source == ESPL__NO_ENTITY || list_row(p, clone->source);
    }
    if (set != ESPL__NONE) {
        return list_set(p, set, batch, original);
    }
    const espl__node *const n = espl__sketch_at(&p->group->work->sketch, original);

    return espl__node_is_clone(n) ? list_clone(p, original, 0) : list_row(p, n->entity);
}

static bool plan_batch(const planner *p, espl__reference_batch *batch)
{
    espl__playback *const playback = p->playback;
    const size_t begin = espl__array_length(playback->references);
    bool is_done = true;

    mark_members(p, batch, true);
    for (uint32_t member = 0; member < batch->size && is_done; ++member) {
        is_done =
            list_member(p, batch, espl__sketch_at(&p->group->work->sketch, batch->begin + member));
        playback->member_fields[batch->members + member + 1] =
            (uint32_t)espl__array_length(playback->references);
    }
    mark_members(p, batch, false);
    for (size_t i = begin; i < espl__array_length(playback->references); ++i) {
        batch->has_new = batch->has_new || playback->references[i].kind != HELD;
    }
    return is_done;
}

// --- All commands ---

static bool plan_group(planner *p, uint32_t number, uint32_t *members)
{
    espl__playback *const playback = p->playback;
    bool is_done = true;

    p->group = &playback->groups[number];
    p->first_batch = (uint32_t)playback->batch_count;
    if (p->group->is_short) {
        return true; // nothing in it refers to anybody
    }
    for (uint32_t i = p->group->entry_begin; i < p->group->entry_end && is_done; ++i) {
        const espl__entry *const entry = &playback->entries[playback->grouped_entries[i]];

        if (entry->clone_count != 0) {
            const uint32_t size = entry->clone_count / entry->command->count;
            espl__reference_batch *const batch = &playback->batches[playback->batch_count++];

            *batch = (espl__reference_batch){.group = number,
                                             .entry = playback->grouped_entries[i],
                                             .begin = entry->clone_begin,
                                             .size = size,
                                             .copies = entry->command->count,
                                             .members = *members};
            *members += size;
            is_done = plan_batch(p, batch);
        }
    }
    return is_done;
}

static size_t count_batches(const espl__playback *playback, size_t *members)
{
    size_t batches = 0;

    for (size_t i = 0; i < playback->entry_count; ++i) {
        const espl__entry *const entry = &playback->entries[i];

        batches += entry->clone_count != 0 ? 1 : 0;
        *members += entry->clone_count != 0 ? entry->clone_count / entry->command->count : 0;
    }
    return batches;
}

// Marks and tables. false where there is no memory.
static bool reserve_plan(planner *p)
{
    espl__playback *const playback = p->playback;
    const espl__store *const store = playback->store;
    const size_t archetypes = espl__array_length(store->archetypes);
    uint8_t *const refers = espl__arena_take(&playback->arena, archetypes, sizeof *refers);
    size_t members = 0, nodes = 0;
    const size_t batches = count_batches(playback, &members);

    for (size_t i = 0; i < playback->group_count; ++i) {
        const size_t count = playback->groups[i].work->sketch.made.count;

        nodes = count > nodes ? count : nodes;
    }
    p->refers = refers;
    p->node_marks = espl__arena_take_zeroed(&playback->arena, nodes, sizeof(uint32_t));
    playback->batches = espl__arena_take(&playback->arena, batches, sizeof(espl__reference_batch));
    playback->member_fields =
        espl__arena_take_zeroed(&playback->arena, members + 1, sizeof(uint32_t));
    if (refers == NULL || p->node_marks == NULL || playback->batches == NULL ||
        playback->member_fields == NULL ||
        !espl__marks_reserve(playback->heap, &playback->source_marks,
                             espl__array_length(store->records))) {
        return false;
    }
    p->entity_marks = playback->source_marks;
    for (uint32_t archetype = 0; archetype < archetypes; ++archetype) {
        refers[archetype] = espl__references_in(store, archetype);
    }
    return true;
}

// --- Clones that are named again ---

typedef void (*visitor)(espl__playback *playback, uint32_t group, uint32_t node,
                        const espl__reference *field, uint32_t target);

// Tell whether a clone has the component of a field, and as it was made.
static bool has_kept(const espl__playback *playback, const espl__reference_batch *batch,
                     const espl__node *clone, espl_component component)
{
    const espl__sets *const sets = &playback->groups[batch->group].work->sets;

    if (clone->values == ESPL__NONE) {
        return true;
    }
    const espl__set_item *const item = espl__set_find(sets, clone->values, component);

    return item != NULL && !is_own(item, batch);
}

// Visit the fields of living clones of one member that name clones.
static void visit_member(espl__playback *playback, const espl__reference_batch *batch,
                         uint32_t member, visitor visit)
{
    const espl__sketch *const sketch = &playback->groups[batch->group].work->sketch;
    const uint32_t *const ends = playback->member_fields + batch->members + member;

    for (uint32_t i = ends[0]; i < ends[1]; ++i) {
        const espl__reference *const field = &playback->references[i];

        for (uint32_t copy = 0; field->kind != HELD && copy < batch->copies; ++copy) {
            const uint32_t top = batch->begin + copy * batch->size;
            const uint32_t target = field->kind == MEMBER ? top + field->node : field->node;

            const espl__node *const n = espl__sketch_at(sketch, top + member);

            if (!espl__node_is_dead(n) && has_kept(playback, batch, n, field->component)) {
                visit(playback, batch->group, top + member, field, target);
            }
        }
    }
}

static void visit_batches(espl__playback *playback, visitor visit)
{
    for (size_t i = 0; i < playback->batch_count; ++i) {
        const espl__reference_batch *const batch = &playback->batches[i];

        for (uint32_t member = 0; batch->has_new && member < batch->size; ++member) {
            visit_member(playback, batch, member, visit);
        }
    }
}

// A clone that died in the playback but is named by one that lives: one by one it had a handle.
static void list_lost(espl__playback *playback, uint32_t group, uint32_t node,
                      const espl__reference *field, uint32_t target)
{
    espl__node *const n = espl__sketch_at(&playback->groups[group].work->sketch, target);

    (void)node;
    (void)field;
    if ((n->flags & (ESPL__NODE_DEAD | ESPL__NODE_LOST)) == ESPL__NODE_DEAD) {
        n->flags |= ESPL__NODE_LOST;
        playback->lost[playback->lost_count++] = (espl__lost_clone){group, target};
    }
}

static bool list_all_lost(espl__playback *playback)
{
    size_t clones = 0;

    for (size_t i = 0; i < playback->entry_count; ++i) {
        clones += playback->entries[i].clone_count;
    }
    const size_t dead = clones - playback->make_count;

    playback->lost = espl__arena_take(&playback->arena, dead, sizeof *playback->lost);
    if (playback->lost != NULL && dead != 0) {
        visit_batches(playback, list_lost);
    }
    return playback->lost != NULL;
}

espl_status espl__references_plan(espl__playback *playback)
{
    planner p = {.playback = playback};
    uint32_t members = 0;
    bool is_done = reserve_plan(&p);

    for (uint32_t group = 0; is_done && group < playback->group_count; ++group) {
        is_done = plan_group(&p, group, &members);
    }
    return is_done && list_all_lost(playback) ? ESPL_OK : ESPL_ERR_NO_MEMORY;
}

// --- The change ---

static espl__node *lost_node(const espl__playback *playback, size_t i)
{
    return espl__sketch_at(&playback->groups[playback->lost[i].group].work->sketch,
                           playback->lost[i].node);
}

void espl__references_name(espl__playback *playback)
{
    for (size_t i = 0; i < playback->lost_count; ++i) {
        lost_node(playback, i)->entity = espl__entity_take(playback->store).index;
    }
}

static void write_field(espl__playback *playback, uint32_t group, uint32_t node,
                        const espl__reference *field, uint32_t target)
{
    const espl__sketch *const sketch = &playback->groups[group].work->sketch;
    const espl_entity named =
        espl__entity_at(playback->store, espl__sketch_at(sketch, target)->entity);
    unsigned char *const value =
        espl__row_write(playback->store, espl__sketch_at(sketch, node)->entity, field->component);

    memcpy(value + field->offset, &named, sizeof named);
}

void espl__references_write(espl__playback *playback)
{
    visit_batches(playback, write_field);
    for (size_t i = 0; i < playback->lost_count; ++i) {
        espl__entity_release(playback->store, lost_node(playback, i)->entity);
    }
}
