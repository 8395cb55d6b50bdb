// SPDX-License-Identifier: MIT
#include "lib/commands/short.h"

#include <math.h>
#include <string.h>

// Positions and scales of what stands in the sky of any game: a world, a top below it and a recipe
// whose scales are at most one come to 1e12 + 1e6 * 1e12 + 256 * 1e12 * 1e12, which is finite.
static bool is_small(const espl_pose *pose)
{
    const float far = 1e12F, large = 1e6F;

    return fabsf(pose->position[0]) < far && fabsf(pose->position[1]) < far &&
           fabsf(pose->position[2]) < far && fabsf(pose->scale) < large;
}

// --- Recipes ---

// Tell whether copies of a slot's closure can be made by recipe: plain placements, references to
// nobody, and nobody writes to its run.
static bool is_simple(const espl__playback *playback, uint32_t slot)
{
    const espl__forest *const forest = playback->forest;
    const espl__run *const run = espl__run_of(forest, slot);

    return playback->run_marks[forest->run[slot]] == 0 && run->ghosts == 0 && run->side == NULL &&
           (run->flags & ESPL__RUN_GENERAL) == 0;
}

// List the owned closure of a slot, the list being its own queue.
static void list_closure(const espl__forest *forest, uint32_t top, uint32_t *slots,
                         uint32_t *parents, espl__recipe *out)
{
    const espl__run *const run = espl__run_of(forest, top);

    slots[0] = top;
    parents[0] = ESPL__NO_SLOT;
    out->size = 1;
    for (uint32_t at = 0; at < out->size; ++at) {
        const uint32_t rank = forest->rank[slots[at]];
        const uint32_t end = espl__first_child(forest, run, rank + 1);

        for (uint32_t child = espl__first_child(forest, run, rank); child < end; ++child) {
            const uint32_t slot = forest->order[run->base + child];

            if (!espl__slot_is(forest, slot, ESPL__SLOT_FREE_LINK)) {
                slots[out->size] = slot;
                parents[out->size++] = at;
            }
        }
    }
    out->slots = slots;
    out->parents = parents;
}

// A level begins where parents reach the one above.
static void find_levels(espl__recipe *recipe, uint32_t *starts)
{
    uint32_t levels = 0;

    for (uint32_t at = 0; at < recipe->size; ++at) {
        if (at == 0 || (recipe->parents[at] >= starts[levels - 1])) {
            starts[levels++] = at;
        }
    }
    starts[levels] = recipe->size;
    recipe->levels = levels;
    recipe->starts = starts;
}

static bool draw_up(espl__playback *playback, uint32_t slot, uint32_t bound,
                    espl__recipe_card *card)
{
    const espl__forest *const forest = playback->forest;

    *card = (espl__recipe_card){.slot = slot};
    if (bound > ESPL__SPLICE_MADE || !is_simple(playback, slot)) {
        return true;
    }
    uint32_t *const words =
        espl__arena_take(&playback->arena, (size_t)4 * bound + 1, sizeof *words);

    if (words == NULL) {
        return false;
    }
    uint32_t *const entities = words + bound;

    list_closure(forest, slot, words, words + 2 * (size_t)bound, &card->tree);
    find_levels(&card->tree, words + 3 * (size_t)bound);
    card->is_useful = true;
    // With scales of at most one below the top, and so few nodes, positions add up and no more.
    card->is_small = true;
    for (uint32_t i = 0; i < card->tree.size; ++i) {
        const espl_pose *const local = &forest->local[words[i]];

        card->is_small =
            card->is_small && (i == 0 || (is_small(local) && fabsf(local->scale) <= 1));
        entities[i] = forest->entity[words[i]];
        const uint32_t archetype = espl__entity_archetype(playback->store, entities[i]);

        card->is_useful = card->is_useful && (playback->store->referring_count == 0 ||
                                              !espl__references_in(playback->store, archetype));
    }
    card->entities = entities;
    return true;
}

static bool names_source(const espl__entry *entry)
{
    return espl__entry_instantiates(entry) && espl__operand_is_living(&entry->target);
}

bool espl__recipes_list(espl__playback *playback)
{
    size_t count = 0;

    for (size_t i = 0; i < playback->entry_count; ++i) {
        count += names_source(&playback->entries[i]) ? 1 : 0;
    }
    playback->recipes = espl__arena_take(&playback->arena, count, sizeof *playback->recipes);
    playback->recipe_count = 0;
    for (size_t i = 0; i < playback->entry_count && playback->recipes != NULL; ++i) {
        const espl__entry *const entry = &playback->entries[i];
        uint32_t *const mark =
            names_source(entry) ? &playback->slot_marks[entry->target.number] : NULL;

        // A source that sketches write to is none that they know by this mark: it is theirs.
        if (mark == NULL || *mark != 0 ||
            playback->run_marks[playback->forest->run[entry->target.number]] != 0) {
            continue;
        }
        if (!draw_up(playback, entry->target.number, entry->clone_bound,
                     &playback->recipes[playback->recipe_count])) {
            return false;
        }
        *mark = (uint32_t)++playback->recipe_count;
    }
    return playback->recipes != NULL;
}

void espl__recipes_forget(espl__playback *playback)
{
    for (size_t i = 0; i < playback->recipe_count; ++i) {
        playback->slot_marks[playback->recipes[i].slot] = 0;
    }
    playback->recipe_count = 0;
}

const espl__recipe_card *espl__short_recipe(const espl__playback *playback,
                                            const espl__entry *entry)
{
    return &playback->recipes[playback->slot_marks[entry->target.number] - 1];
}

// --- Which groups ---

static bool is_plain_instance(const espl__playback *playback, const espl__entry *entry)
{
    const espl__command *const command = entry->command;

    if (command->count != 1 || command->value_count != 0 || command->inherit != 0 ||
        command->place != ESPL_PLACE_LOCAL || !espl_entity_is_null(command->before) ||
        !names_source(entry) || !espl__operand_is_living(&entry->parent) ||
        playback->run_marks[playback->forest->run[entry->target.number]] != 0) {
        return false;
    }
    const espl__extra extra = espl__extra_of(espl__entry_transform(playback, entry));

    return espl__short_recipe(playback, entry)->is_useful && espl__extra_is_default(&extra);
}

static bool is_plain_destroy(const espl__entry *entry)
{
    const unsigned kind = entry->command->kind;

    return (kind == ESPL__COMMAND_DESTROY || kind == ESPL__COMMAND_DESTROY_SUBTREE) &&
           espl__operand_is_living(&entry->target);
}

bool espl__short_suits(const espl__playback *playback, const espl__group *group)
{
    const uint32_t count = espl__group_size(group);
    bool suits =
        count <= ESPL__SPLICE_EDITS && count != 0 && group->run_end - group->run_begin == 1;

    for (uint32_t i = 0; i < count && suits; ++i) {
        const espl__entry *const entry = espl__group_entry(playback, group, i);

        suits = espl__entry_instantiates(entry) ? is_plain_instance(playback, entry)
                                                : is_plain_destroy(entry);
    }
    return suits;
}

// --- Memory ---

static const espl__run *run_ahead(const espl__playback *playback, size_t number)
{
    if (number >= playback->group_count ||
        playback->groups[number].run_begin == playback->groups[number].run_end) {
        return NULL;
    }
    const uint32_t load = playback->grouped_runs[playback->groups[number].run_begin];

    return &playback->forest->runs[playback->touched[load].run];
}

// Lines of each array of links that are asked for: what a run of some dozens has.
enum { LINE = 16, LINES = 5 };

void espl__short_look_ahead(const espl__playback *playback, size_t number)
{
    enum { FAR = 4, NEAR = 2 };
    const espl__forest *const forest = playback->forest;
    const espl__run *const far = run_ahead(playback, number + FAR);
    const espl__run *const near = run_ahead(playback, number + NEAR);

    if (far != NULL) {
        __builtin_prefetch(far);
    }
    for (uint32_t at = 0; near != NULL && at < near->used && at < LINE * LINES; at += LINE) {
        __builtin_prefetch(forest->order + near->base + at, 1);
        __builtin_prefetch(forest->parent + near->base + at, 1);
        __builtin_prefetch(forest->first + near->base + at, 1);
        __builtin_prefetch(forest->rank + near->base + at, 1);
    }
}

// --- The plan ---

static bool add_edit(const espl__playback *playback, const espl__entry *entry, espl__splice *splice)
{
    const uint32_t *const rank = playback->forest->rank;

    return espl__entry_instantiates(entry)
               ? espl__splice_paste(splice, rank[entry->parent.number],
                                    &espl__short_recipe(playback, entry)->tree)
               : espl__splice_cut(splice, rank[entry->target.number]);
}

// The splice of a group: the same in the plan and in the patch. false: there is none.
static bool build(const espl__playback *playback, const espl__group *group, espl__splice *splice)
{
    const uint32_t count = espl__group_size(group);
    const uint32_t load = playback->grouped_runs[group->run_begin];
    bool is_done = true;

    espl__splice_begin(splice, playback->forest, playback->touched[load].run);
    for (uint32_t i = 0; i < count && is_done; ++i) {
        is_done = add_edit(playback, espl__group_entry(playback, group, i), splice);
    }
    return is_done && espl__splice_sort(splice);
}

// An owned closure is the whole subtree unless some link below its top is free.
static bool is_owned(const espl__forest *forest, const espl__splice *splice,
                     const espl__splice_event *event)
{
    const uint32_t *const order = forest->order + forest->runs[splice->run].base;
    unsigned flags = 0;

    for (uint32_t i = 0; event->level != 0 && i < event->count; ++i) {
        flags |= forest->flags[order[event->gap + i]];
    }
    return (flags & ESPL__SLOT_FREE_LINK) == 0;
}

static bool are_closures(const espl__playback *playback, const espl__group *group,
                         const espl__splice *splice)
{
    bool are_whole = true;

    for (uint32_t i = 0; i < splice->event_count && are_whole; ++i) {
        const espl__splice_event *const event = &splice->events[i];

        if (splice->edits[event->edit].recipe == NULL &&
            espl__group_entry(playback, group, event->edit)->command->kind ==
                ESPL__COMMAND_DESTROY) {
            are_whole = is_owned(playback->forest, splice, event);
        }
    }
    return are_whole;
}

// The worlds of a copy, given where it comes to stand.
static void find_worlds(const espl__playback *playback, const espl__entry *entry,
                        const espl__recipe *recipe, espl_pose *worlds)
{
    const espl__forest *const forest = playback->forest;
    const espl_pose top = espl__pose_of(espl__entry_transform(playback, entry));

    espl__pose_compose_to(&worlds[0], &forest->world[entry->parent.number], NULL, &top);
    for (uint32_t i = 1; i < recipe->size; ++i) {
        espl__pose_compose_to(&worlds[i], &worlds[recipe->parents[i]], NULL,
                              &forest->local[recipe->slots[i]]);
    }
}

static bool are_all_finite(const espl_pose *worlds, uint32_t count)
{
    bool are_finite = true;

    for (uint32_t i = 0; i < count; ++i) {
        are_finite = are_finite && espl__pose_is_finite(&worlds[i]);
    }
    return are_finite;
}

// Tell whether the worlds of a copy are finite, mostly without a look at them.
static bool is_copy_finite(const espl__playback *playback, const espl__entry *entry)
{
    const espl__recipe_card *const card = espl__short_recipe(playback, entry);
    const espl_pose top = espl__pose_of(espl__entry_transform(playback, entry));
    espl_pose worlds[ESPL__SPLICE_MADE];

    if (card->is_small && is_small(&top) &&
        is_small(&playback->forest->world[entry->parent.number])) {
        return true;
    }
    find_worlds(playback, entry, &card->tree, worlds);
    return are_all_finite(worlds, card->tree.size);
}

static bool are_worlds_finite(const espl__playback *playback, const espl__group *group)
{
    bool are_finite = true;

    for (uint32_t i = 0; i < espl__group_size(group) && are_finite; ++i) {
        const espl__entry *const entry = espl__group_entry(playback, group, i);

        are_finite = !espl__entry_instantiates(entry) || is_copy_finite(playback, entry);
    }
    return are_finite;
}

// Tell whether the run has room where it is, and its root the role that it had.
static bool fits(const espl__run *run, const espl__splice *splice)
{
    const uint32_t size = run->size + splice->made - splice->gone;

    return run->size > 1 && size > 1 && splice->made <= run->capacity - run->size &&
           !espl__run_is_loose(run, size);
}

bool espl__short_plan(const espl__playback *playback, espl__group *group)
{
    const uint32_t load = playback->grouped_runs[group->run_begin];
    const espl__run *const run = &playback->forest->runs[playback->touched[load].run];
    espl__splice splice;

    if (run->ghosts != 0 || run->side != NULL || !build(playback, group, &splice) ||
        !fits(run, &splice) || !are_closures(playback, group, &splice) ||
        !are_worlds_finite(playback, group)) {
        return false;
    }
    for (uint32_t i = 0; i < splice.edit_count; ++i) {
        espl__entry *const entry = espl__group_entry(playback, group, i);

        entry->status = ESPL_OK;
        entry->clone_count = splice.edits[i].recipe != NULL ? splice.edits[i].recipe->size : 0;
    }
    group->clones = group->visited = splice.made;
    group->dead = splice.gone;
    group->role_changes = 0;
    group->size = run->size + splice.made - splice.gone;
    playback->loads[load].goes_on = true;
    return true;
}

// --- Those that go ---

// In the order of the long way, so that indices come back alike.
void espl__short_removals(const espl__playback *playback, const espl__group *group, uint32_t *out)
{
    const espl__forest *const forest = playback->forest;

    for (uint32_t i = 0; i < espl__group_size(group); ++i) {
        const espl__entry *const entry = espl__group_entry(playback, group, i);
        const uint32_t top = entry->target.number;
        uint32_t slot = espl__entry_instantiates(entry) ? ESPL__NO_SLOT : top;

        for (; slot != ESPL__NO_SLOT; slot = espl__living_next(forest, slot, top, true)) {
            *out++ = forest->entity[slot];
        }
    }
}

// --- The patch ---

// What the slots of a copy hold.
static void place_copy(espl__playback *playback, const espl__entry *entry, const uint32_t *slots)
{
    espl__forest *const forest = playback->forest;
    const espl__recipe *const recipe = &espl__short_recipe(playback, entry)->tree;
    const espl_entity *const entities = playback->make_entities + entry->make_begin;
    const bool is_free = entry->command->link == ESPL_LINK_FREE;
    espl_pose worlds[ESPL__SPLICE_MADE];

    find_worlds(playback, entry, recipe, worlds);
    for (uint32_t i = 0; i < recipe->size; ++i) {
        const uint32_t slot = slots[i];

        forest->local[slot] = i == 0 ? espl__pose_of(espl__entry_transform(playback, entry))
                                     : forest->local[recipe->slots[i]];
        forest->world[slot] = worlds[i];
        forest->flags[slot] = i == 0 && is_free ? ESPL__SLOT_FREE_LINK : 0;
        forest->entity[slot] = entities[i].index;
        espl__entity_set_slot(playback->store, entities[i].index, slot);
    }
}

void espl__short_patch(espl__playback *playback, const espl__group *group)
{
    espl__splice splice;
    uint32_t slots[ESPL__SPLICE_MADE], made = 0;

    // Parents are looked up before any slot is given to another node.
    const bool is_built = build(playback, group, &splice);

    ESPL_CHECK(is_built);
    (void)is_built;
    espl__splice_commit(&splice, playback->forest, slots);
    for (uint32_t i = 0; i < splice.edit_count; ++i) {
        if (splice.edits[i].recipe != NULL) {
            place_copy(playback, espl__group_entry(playback, group, i), slots + made);
            made += splice.edits[i].recipe->size;
        }
    }
}
