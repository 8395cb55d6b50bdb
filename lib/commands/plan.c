// SPDX-License-Identifier: MIT
// Stage 4, parallel over groups: each group's commands are carried out on its sketch, in order, and
// the hierarchies that come of it are laid out. Nothing but scratch is written.
#include "lib/commands/assemble.h"
#include "lib/commands/reparent.h"
#include "lib/commands/written.h"

enum { GRAIN = 16 };

// A bound past which a group takes its nodes as it goes: a command may yet be refused.
#define NODE_BUDGET ((size_t)1 << 20)

// Nodes that a command asks for, as a rule: its operands, their parents and neighbours.
enum { KNOWN_BY_CLONE = 2, KNOWN_BY_VALUE = 1, KNOWN_BY_MOVE = 8 };

static size_t known_by(const espl__command *command)
{
    switch (command->kind) {
    case ESPL__COMMAND_INSTANTIATE:
    case ESPL__COMMAND_CREATE:
    case ESPL__COMMAND_CREATE_BARE:
        return KNOWN_BY_CLONE;
    case ESPL__COMMAND_WRITE:
    case ESPL__COMMAND_INHERIT:
    case ESPL__COMMAND_SET:
    case ESPL__COMMAND_ENABLE:
    case ESPL__COMMAND_DISABLE:
        return KNOWN_BY_VALUE;
    case ESPL__COMMAND_CHANGE:
        return command->place == ESPL__PLACEMENT_STAYS ? KNOWN_BY_VALUE : KNOWN_BY_MOVE;
    default:
        return KNOWN_BY_MOVE;
    }
}

static void add_command(espl__sketch_room *room, const espl__entry *entry)
{
    const espl__command *const command = entry->command;
    const bool makes = command->count != 0;
    const size_t copies = makes ? command->count : 1;
    size_t made = 0;

    if (makes) {
        // Past what memory holds.
        if (!espl__size_multiply(&made, entry->clone_bound, copies) || // GCOVR_EXCL_BR_LINE
            made >= NODE_BUDGET) {                                     // GCOVR_EXCL_BR_LINE
            made = 0;
        }
        room->made += made;
    }
    room->written += copies < NODE_BUDGET ? copies : 0; // GCOVR_EXCL_BR_LINE
    room->known += known_by(command);
    room->noted += makes ? 0 : known_by(command);
}

// What a group is likely to need.
static espl__sketch_room room_for(const espl__playback *playback, const espl__group *group)
{
    espl__sketch_room room = {0};

    for (uint32_t i = 0; i < espl__group_size(group); ++i) {
        add_command(&room, espl__group_entry(playback, group, i));
    }
    for (uint32_t i = group->run_begin; i < group->run_end; ++i) {
        const uint32_t run = playback->touched[playback->grouped_runs[i]].run;

        room.bits += espl__sketch_words(playback->forest->runs[run].size);
    }
    room.stale = 2 * room.bits;
    room.kept = room.known;
    room.list = room.noted;
    room.watched = KNOWN_BY_MOVE; // of one command at a time
    room.pieces = 2 * room.known + room.made + 8;
    room.worlds = room.made + room.known;
    room.laid = group->run_end - group->run_begin + 1;
    return room;
}

static bool give_slices(espl__playback *playback, espl__group *group)
{
    espl__sketch *const sketch = &group->work->sketch;
    const espl__sketch_room room = room_for(playback, group);
    void *const block = espl__arena_take(&playback->arena, 1, espl__sketch_size(&room));

    if (block == NULL || !espl__values_give_slices(playback, group)) {
        return false;
    }
    sketch->heap = playback->heap;
    sketch->forest = playback->forest;
    sketch->marks = playback->slot_marks;
    sketch->run_marks = playback->run_marks;
    sketch->loads = playback->loads;
    espl__sketch_begin(sketch, &room, block);
    return true;
}

static size_t count_long(const espl__playback *playback)
{
    size_t count = 0;

    for (size_t i = 0; i < playback->group_count; ++i) {
        count += playback->groups[i].is_short ? 0 : 1;
    }
    return count;
}

// What is kept of each group that is not short.
static bool make_lists(espl__playback *playback, size_t count)
{
    espl__arena *const arena = &playback->arena;

    playback->works = espl__arena_take_zeroed(arena, count, sizeof *playback->works);
    playback->long_groups = espl__arena_take(arena, count, sizeof *playback->long_groups);
    playback->group_weights = espl__arena_take(arena, count, sizeof *playback->group_weights);
    playback->weight_order = espl__arena_take(arena, count, sizeof *playback->weight_order);
    return playback->works != NULL && playback->long_groups != NULL &&
           playback->group_weights != NULL && playback->weight_order != NULL;
}

// What a group costs against the others is its commands; the patch has use of it too.
static bool give_works(espl__playback *playback)
{
    if (!make_lists(playback, count_long(playback))) {
        return false;
    }
    for (size_t i = 0; i < playback->group_count; ++i) {
        espl__group *const group = &playback->groups[i];

        if (group->is_short) {
            continue;
        }
        const size_t number = playback->long_count++;

        playback->long_groups[number] = (uint32_t)i;
        playback->group_weights[number] = espl__group_size(group);
        group->work = &playback->works[number];
        if (!give_slices(playback, group)) {
            return false;
        }
    }
    return true;
}

void espl__works_drop(espl__playback *playback)
{
    for (size_t i = 0; i < playback->long_count; ++i) {
        espl__sketch_drop(&playback->works[i].sketch);
        espl__sets_drop(playback->heap, &playback->works[i].sets);
    }
    playback->long_count = 0;
}

static const uint32_t *loads_of(const espl__playback *playback, const espl__group *group)
{
    return playback->grouped_runs + group->run_begin;
}

static size_t count_loads(const espl__group *group)
{
    return group->run_end - group->run_begin;
}

// Note what a sketch came to.
static void check_sketch(espl__group *group)
{
    if (espl__sketch_has_failed(&group->work->sketch)) {
        group->work->status = ESPL_ERR_NO_MEMORY;
    }
}

static void start_over(espl__playback *playback, espl__group *group)
{
    group->work->starts += 1;
    espl__sketch_clear(&group->work->sketch);
    espl__sets_clear(&group->work->sets);
    for (uint32_t i = group->run_begin; i < group->run_end; ++i) {
        espl__sketch_load(&group->work->sketch, playback->grouped_runs[i]);
    }
    for (uint32_t i = 0; i < espl__group_size(group); ++i) {
        espl__entry *const entry = espl__group_entry(playback, group, i);
        const uint32_t first = playback->lanes[entry->lane].pending_base + entry->command->pending;

        entry->clone_count = 0;
        for (uint32_t k = 0; k < entry->command->count; ++k) {
            playback->pending_nodes[first + k] = ESPL__NO_NODE;
        }
    }
    check_sketch(group);
}

// Carry out all commands; worlds are looked at once, at the end.
static void carry_out_all(espl__playback *playback, espl__group *group)
{
    const uint32_t count = espl__group_size(group);

    for (uint32_t i = 0; i < count && group->work->status == ESPL_OK; ++i) {
        espl__entry *const entry = espl__group_entry(playback, group, i);

        entry->status = espl__carry_out(playback, group, entry);
        check_sketch(group);
    }
}

static bool lay_out(const espl__playback *playback, espl__group *group)
{
    const bool is_fine =
        espl__sketch_lay_out(&group->work->sketch, loads_of(playback, group), count_loads(group));

    check_sketch(group);
    return is_fine;
}

static bool stayed_finite(espl__group *group)
{
    const bool is_finite = espl__sketch_stayed_finite(&group->work->sketch);

    check_sketch(group);
    return is_finite;
}

// Tell whether an entry that makes a world overflow could be left out as it stands: a write is taken
// back, and is not carried out again.
static bool leave_out(espl__group *group, espl__entry *entry)
{
    if (entry->command->kind != ESPL__COMMAND_WRITE) {
        return false;
    }
    espl__sketch_take_back(&group->work->sketch);
    entry->is_out_of_range = true;
    return true;
}

// Carry out all commands and look at the worlds that each changes, past the first `known`. The number
// of the first that makes one overflow and is there now, or the count; the count also where the group
// failed.
static uint32_t find_overflow(espl__playback *playback, espl__group *group, uint32_t known,
                              bool *is_clean)
{
    const uint32_t count = espl__group_size(group);

    for (uint32_t i = 0; i < count && group->work->status == ESPL_OK; ++i) {
        espl__entry *const entry = espl__group_entry(playback, group, i);

        espl__sketch_watch(&group->work->sketch);
        entry->status = espl__carry_out(playback, group, entry);
        check_sketch(group);
        if (group->work->status == ESPL_OK && i >= known && entry->status >= 0 &&
            !stayed_finite(group)) {
            *is_clean = false;
            if (!leave_out(group, entry)) {
                return i;
            }
        }
    }
    return count;
}

// Refuse each command that makes a world overflow, as one by one they would be: it is left out, and
// where its traces cannot be wiped away the group starts again.
static void plan_carefully(espl__playback *playback, espl__group *group)
{
    const uint32_t count = espl__group_size(group);
    uint32_t known = 0;
    bool is_clean = true;

    ESPL_CHECK(count > 0);
    while (known < count) {
        start_over(playback, group);
        is_clean = true;
        known = find_overflow(playback, group, known, &is_clean);
        if (known < count) {
            espl__group_entry(playback, group, known)->is_out_of_range = true;
            known += 1;
        }
    }
    if (group->work->status == ESPL_OK && !is_clean) {
        start_over(playback, group);
        carry_out_all(playback, group);
    }
}

static void plan_group(espl__playback *playback, espl__group *group)
{
    const uint32_t count = espl__group_size(group);

    start_over(playback, group);
    carry_out_all(playback, group);
    if (group->work->status != ESPL_OK) {
        return;
    }
    const bool is_fine = lay_out(playback, group);
    const bool may_hide = count > 1 && group->work->sketch.may_hide;

    if (group->work->status != ESPL_OK ||
        (is_fine &&
         (!may_hide || espl__sketch_is_tame(&group->work->sketch, loads_of(playback, group),
                                            count_loads(group))))) {
        return;
    }
    plan_carefully(playback, group);
    if (group->work->status == ESPL_OK) {
        (void)lay_out(playback, group);
    }
}

static bool is_source_sided(const espl__playback *playback, const espl__entry *entry)
{
    const espl__operand *const source = &entry->target;

    return entry->command->kind == ESPL__COMMAND_INSTANTIATE && espl__operand_is_living(source) &&
           espl__run_of(playback->forest, source->number)->side != NULL;
}

static bool may_have_side(const espl__playback *playback, const espl__group *group)
{
    const espl__sketch *const sketch = &group->work->sketch;

    for (uint32_t i = group->run_begin; i < group->run_end; ++i) {
        const uint32_t run = playback->touched[playback->grouped_runs[i]].run;

        if (playback->forest->runs[run].side != NULL) {
            return true;
        }
    }
    for (uint32_t i = 0; i < espl__group_size(group); ++i) {
        if (is_source_sided(playback, espl__group_entry(playback, group, i))) {
            return true;
        }
    }
    const espl__placement *const written = sketch->written.items;

    for (uint32_t i = 0; i < sketch->written.count; ++i) {
        if (espl__placement_needs_side(&written[i])) {
            return true;
        }
    }
    return false;
}

static void count_work(const espl__playback *playback, espl__group *group)
{
    const espl__sketch *const sketch = &group->work->sketch;

    group->clones = group->dead = 0;
    group->visited = (uint32_t)sketch->changed_count;
    // Roots may have become solos, or solos roots, without being noted.
    group->work->role_changes = sketch->laid.count;
    for (uint32_t i = 0; i < espl__group_size(group); ++i) {
        group->clones += espl__group_entry(playback, group, i)->clone_count;
    }
    for (uint32_t i = 0; i < sketch->noted.count; ++i) {
        const uint32_t flags = espl__sketch_at(sketch, espl__sketch_noted(sketch, i))->flags;
        const bool is_dead = (flags & ESPL__NODE_DEAD) != 0;

        if ((flags & ESPL__NODE_CLONE) != 0) {
            group->clones -= is_dead;
        } else if (is_dead) {
            group->dead += 1;
        } else {
            group->work->role_changes += 1;
        }
    }
    group->work->has_side =
        sketch->is_restructured || sketch->is_touched ? may_have_side(playback, group) : false;
}

static void plan_one(void *context, size_t number)
{
    espl__playback *const playback = context;
    espl__group *const group = &playback->groups[playback->long_groups[number]];

    plan_group(playback, group);
    if (group->work->status == ESPL_OK) {
        count_work(playback, group);
    }
}

// The runs as the sketches see them.
static bool list_loads(espl__playback *playback)
{
    const size_t count = playback->touched_count;

    playback->loads = espl__arena_take(&playback->arena, count, sizeof *playback->loads);
    if (playback->loads == NULL ||
        !espl__marks_reserve(playback->heap, &playback->slot_marks, playback->forest->end)) {
        return false;
    }
    for (size_t i = 0; i < count; ++i) {
        playback->loads[i] = (espl__load){.run = playback->touched[i].run};
    }
    return true;
}

espl_status espl__stage_plan(espl__playback *playback)
{
    if (!list_loads(playback) || !espl__recipes_list(playback) ||
        !espl__short_make_room(playback) || !espl__written_list(playback)) {
        return ESPL_ERR_NO_MEMORY;
    }
    espl_status status = ESPL_OK;

    if (playback->writing.group_count != playback->group_count) {
        status = espl__run_ranges(playback->executor, playback->hooks, espl__short_plan, playback,
                                  playback->group_count, ESPL__SHORT_GRAIN);
    }
    status = status != ESPL_OK ? status : espl__reparent_plan(playback);
    status = status != ESPL_OK ? status : espl__assemble_plan(playback);
    status = status != ESPL_OK ? status : espl__written_plan(playback);
    if (status == ESPL_OK && !give_works(playback)) {
        return ESPL_ERR_NO_MEMORY;
    }
    status = status != ESPL_OK
                 ? status
                 : espl__run_weighted(playback->executor, playback->hooks, plan_one, playback,
                                      playback->group_weights, playback->weight_order,
                                      playback->long_count, GRAIN);
    for (size_t i = 0; status == ESPL_OK && i < playback->long_count; ++i) {
        status = playback->works[i].status;
    }
    return status;
}
