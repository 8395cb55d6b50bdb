// SPDX-License-Identifier: MIT
// Stage 4: room for new nodes, then all groups are applied, side by side where there are workers. A group
// that copies what it edits is applied after the others, alone, because the sizes of such copies are
// known only at their turn.
#include "lib/commands/apply.h"

#include "lib/tree/edit_steps.h"

// --- Room for new nodes ---

// New nodes of a command at most; SIZE_MAX where only its turn tells.
static size_t bound_of(const espl__playback *playback, const espl__entry *entry)
{
    const size_t count = entry->command->count;

    if (count == 0 || entry->command->kind != ESPL__COMMAND_INSTANTIATE) {
        return count;
    }
    if (entry->template == 0) {
        // A source that does not live makes nothing.
        return entry->target.state < ESPL_OK ? 0 : SIZE_MAX;
    }
    return count * playback->sources[entry->template - 1].tree.count;
}

enum { BOUND_LIMIT = UINT32_MAX / 4, BOUND_UNKNOWN = UINT32_MAX / 4 + 1 };

// New nodes of each command at most, in made_count until it is applied, and of all commands to a tree, so
// that a tree which has room needs none elsewhere.
static void count_coming(espl__playback *playback)
{
    for (size_t i = 0; i < playback->entry_count; ++i) {
        espl__entry *const entry = &playback->entries[i];
        const size_t most = bound_of(playback, entry);
        const uint32_t bound = most == SIZE_MAX      ? BOUND_UNKNOWN
                               : most <= BOUND_LIMIT ? (uint32_t)most
                                                     : BOUND_LIMIT;

        entry->made_count = bound;
        if (bound != 0 && bound <= BOUND_LIMIT && espl__operand_is_living(&entry->parent)) {
            const uint32_t tree = playback->forest->tree[entry->parent.number];
            uint32_t *const coming = &playback->touched[playback->forest->trees[tree].mark - 1].coming;

            *coming = bound < UINT32_MAX / 2 - *coming ? *coming + bound : UINT32_MAX / 2;
        }
    }
}

// Tell whether what a command makes finds room in the range of its parent for certain. One that becomes a
// root where its parent dies does not.
static bool has_room(const espl__playback *playback, const espl__entry *entry)
{
    const espl__operand *const parent = &entry->parent;

    if (!espl__operand_is_living(parent) || entry->command->dead_parent == ESPL_DEAD_PARENT_ROOT) {
        return false;
    }
    const espl__tree *const t = espl__tree_of(playback->forest, parent->number);
    const uint32_t number = t->mark - 1;

    return t->capacity - t->used >= playback->touched[number].coming;
}

// Slots of the nursery that each group may need; groups that are applied alone need none before their
// turn. @return in all, SIZE_MAX: too many.
static size_t divide_nursery(espl__playback *playback, bool *has_alone)
{
    size_t sum = 0;

    for (size_t i = 0; i < playback->group_count; ++i) {
        espl__group *const group = &playback->groups[i];
        size_t here = 0;

        for (uint32_t k = group->entry_begin; k < group->entry_end && !group->is_alone; ++k) {
            const espl__entry *const entry = &playback->entries[playback->grouped_entries[k]];
            const uint32_t bound = entry->made_count;

            group->is_alone = bound == BOUND_UNKNOWN;
            here += bound == 0 || group->is_alone || has_room(playback, entry) ? 0 : bound;
            if (here >= BOUND_LIMIT) {
                return SIZE_MAX;
            }
        }
        *has_alone = *has_alone || group->is_alone;
        here = group->is_alone ? 0 : here;
        group->nursery = (uint32_t)sum;
        sum += here;
        group->nursery_end = (uint32_t)sum;
        if (sum >= BOUND_LIMIT) {
            return SIZE_MAX;
        }
    }
    return sum;
}

// The nursery is the end of the pool, with a header of its own while the playback runs.
static espl_status open_nursery(espl__playback *playback, size_t slots)
{
    espl__forest *const forest = playback->forest;
    espl__side *side = NULL;
    const espl_status status = espl__forest_reserve(forest, slots, 1);

    if (status != ESPL_OK) {
        return status;
    }
    if (playback->wants_side && slots != 0) {
        side = espl__side_make(playback->heap, (uint32_t)slots, true);
        if (side == NULL) {
            return ESPL_ERR_NO_MEMORY;
        }
    }
    playback->nursery_is_new = forest->free_tree == ESPL__NO_TREE;
    forest->nursery = espl__tree_take(forest);
    playback->nursery_begin = forest->end;
    playback->nursery_end = forest->end + (uint32_t)slots;
    forest->end = playback->nursery_end;
    forest->trees[forest->nursery] = (espl__tree){.base = playback->nursery_begin,
                                                  .capacity = (uint32_t)slots,
                                                  .used = (uint32_t)slots,
                                                  .hole = ESPL__NO_SLOT,
                                                  .next = ESPL__NO_TREE,
                                                  .previous = ESPL__NO_TREE,
                                                  .side = side};
    for (uint32_t slot = playback->nursery_begin; slot < playback->nursery_end; ++slot) {
        forest->tree[slot] = forest->nursery;
    }
    for (size_t i = 0; i < playback->group_count; ++i) {
        playback->groups[i].nursery += playback->nursery_begin;
        playback->groups[i].nursery_end += playback->nursery_begin;
    }
    return ESPL_OK;
}

void espl__nursery_close(espl__playback *playback, bool is_undone)
{
    espl__forest *const forest = playback->forest;

    if (forest->nursery == ESPL__NO_TREE) {
        return;
    }
    espl__side_free(playback->heap, forest->trees[forest->nursery].side);
    forest->trees[forest->nursery].side = NULL;
    forest->trees[forest->nursery].capacity = 0;
    if (is_undone) {
        forest->end = playback->nursery_begin;
    }
    // A header that was taken behind all others goes back there, so that nothing is left of it.
    if (playback->nursery_is_new && forest->nursery + 1 == forest->tree_end) {
        forest->tree_end -= 1;
    } else {
        espl__tree_give(forest, forest->nursery);
    }
    forest->nursery = ESPL__NO_TREE;
}

static espl_status grow_side(espl__playback *playback, uint32_t capacity)
{
    espl__tree *const nursery = &playback->forest->trees[playback->forest->nursery];
    espl__side *const side = espl__side_make(playback->heap, capacity, true);

    if (side == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    if (nursery->side != NULL) {
        const uint32_t count = nursery->side->capacity;

        memcpy(side->extra, nursery->side->extra, count * sizeof *side->extra);
        memcpy(side->kept, nursery->side->kept, count * sizeof *side->kept);
        espl__side_free(playback->heap, nursery->side);
    }
    nursery->side = side;
    return ESPL_OK;
}

espl_status espl__apply_grow_nursery(espl__apply *a, uint32_t closure)
{
    espl__playback *const playback = a->playback;
    espl__forest *const forest = playback->forest;
    size_t wanted = 0;

    if (!a->is_alone) {
        return ESPL_OK; // its part of the nursery is large enough
    }
    if (!espl__size_multiply(&wanted, closure, a->command->count) ||
        wanted > UINT32_MAX / 4) { // GCOVR_EXCL_BR_LINE: past what memory holds
        return ESPL_ERR_LIMIT;
    }
    const size_t left = a->edit->nursery_end - a->edit->nursery;

    if (wanted <= left) {
        return ESPL_OK;
    }
    const uint32_t more = (uint32_t)(wanted - left);
    espl_status status = espl__forest_reserve(forest, more, 0);

    if (status == ESPL_OK && playback->wants_side) {
        status = grow_side(playback, playback->nursery_end - playback->nursery_begin + more);
    }
    if (status != ESPL_OK) {
        return espl__apply_no_memory(a);
    }
    ESPL_CHECK(forest->end == a->edit->nursery_end);
    for (uint32_t slot = forest->end; slot < forest->end + more; ++slot) {
        forest->tree[slot] = forest->nursery;
    }
    forest->end += more;
    forest->trees[forest->nursery].capacity += more;
    forest->trees[forest->nursery].used += more;
    playback->nursery_end += more;
    a->edit->nursery_end += more;
    return ESPL_OK;
}

// --- Groups ---

static void apply_group(espl__playback *playback, espl__part *part, uint32_t number)
{
    const espl__group *const group = &playback->groups[number];
    const uint32_t end = playback->groups[part->group_end - 1].entry_end;
    espl__apply a = {.playback = playback,
                     .part = part,
                     .edit = &part->edit,
                     .is_alone = group->is_alone};

    if (group->is_alone) {
        espl__edit_begin_group(a.edit, playback->nursery_end, playback->nursery_end);
    } else {
        espl__edit_begin_group(a.edit, group->nursery, group->nursery_end);
    }
    for (uint32_t k = group->entry_begin; k < group->entry_end; ++k) {
        espl__look_ahead(playback, k, end);
        a.entry = &playback->entries[playback->grouped_entries[k]];
        a.command = a.entry->command;
        a.entry->part = part->number;
        a.entry->made_begin = a.entry->made_count = 0;
        a.entry->status = espl__apply_command(&a);
        if (part->edit.status != ESPL_OK) {
            return;
        }
    }
    part->edit.status = espl__edit_survey(&part->edit);
}

// Look at all roots of a range that a destroy without memory left behind.
static void note_roots(espl__edit *edit, uint32_t tree)
{
    const espl__forest *const forest = edit->forest;
    const espl__tree *const t = &forest->trees[tree];

    for (uint32_t slot = t->base; slot < t->base + t->used; ++slot) {
        if (espl__is_root(forest, slot) && forest->links[slot].entity != ESPL__NO_ENTITY &&
            (!espl__edit_touch(edit, slot) ||
             (slot != t->base && !espl__edit_mark_moved(edit, slot)))) {
            return;
        }
    }
}

static void apply_part(void *context, size_t number)
{
    espl__playback *const playback = context;
    espl__part *const part = playback->parts[number];

    if (playback->root_tree != ESPL__NO_TREE) {
        note_roots(&part->edit, playback->root_tree);
        if (part->edit.status == ESPL_OK) {
            part->edit.status = espl__edit_survey(&part->edit);
        }
    }
    for (uint32_t i = part->group_begin; i < part->group_end && part->edit.status == ESPL_OK; ++i) {
        if (!playback->groups[i].is_alone) {
            apply_group(playback, part, i);
        }
    }
}

static void apply_alone(espl__playback *playback)
{
    espl__part *const part = playback->parts[playback->part_count - 1];

    for (uint32_t i = 0; i < playback->group_count && part->edit.status == ESPL_OK; ++i) {
        if (playback->groups[i].is_alone) {
            apply_group(playback, part, i);
        }
    }
}

// --- Parts ---

espl__part *espl__playback_part(espl__playback *playback, uint32_t number)
{
    if (playback->parts[number] == NULL) {
        espl__part *const part =
            espl__heap_take(playback->heap, ESPL__FOR_COMMANDS, 1, sizeof *part, 64);

        if (part == NULL) {
            return NULL;
        }
        *part = (espl__part){.number = number};
        espl__edit_init(&part->edit, playback->forest);
        playback->parts[number] = part;
    }
    espl__part *const part = playback->parts[number];

    espl__edit_begin(&part->edit);
    espl__sets_clear(&part->sets);
    espl__array_set_length(part->made, 0);
    espl__array_set_length(part->notes, 0);
    part->group_begin = part->group_end = 0;
    part->is_placed = false;
    return part;
}

// Consecutive groups with about equally many commands for each part; the result does not depend on how
// many parts there are. One more part is for the groups that are applied alone.
static espl_status divide_groups(espl__playback *playback, bool has_alone)
{
    const bool is_serial = espl__executor_is_serial(playback->executor);
    const size_t most = ESPL__PARTS - 1;
    size_t parts = is_serial ? 1 : playback->entry_count / playback->part_entries + 1;

    parts = parts < most ? parts : most;
    for (uint32_t i = 0; i < parts + (has_alone ? 1 : 0); ++i) {
        if (espl__playback_part(playback, i) == NULL) {
            return ESPL_ERR_NO_MEMORY;
        }
        playback->part_count = i + 1;
    }
    uint32_t group = 0;

    for (uint32_t i = 0; i < parts; ++i) {
        const size_t end = playback->entry_count * (i + 1) / parts;

        playback->parts[i]->group_begin = group;
        while (group < playback->group_count &&
               (playback->groups[group].entry_end <= end || i + 1 == parts)) {
            group += 1;
        }
        playback->parts[i]->group_end = group;
    }
    if (has_alone) {
        espl__part *const part = playback->parts[playback->part_count - 1];

        part->group_begin = 0;
        part->group_end = (uint32_t)playback->group_count;
    }
    return ESPL_OK;
}

static espl_status check_parts(const espl__playback *playback)
{
    espl_status status = ESPL_OK;

    for (uint32_t i = 0; i < playback->part_count && status == ESPL_OK; ++i) {
        status = playback->parts[i]->edit.status;
    }
    return status;
}

espl_status espl__stage_apply(espl__playback *playback)
{
    bool has_alone = false;

    count_coming(playback);
    const size_t slots = divide_nursery(playback, &has_alone);
    espl_status status = slots == SIZE_MAX ? ESPL_ERR_LIMIT : divide_groups(playback, has_alone);

    if (status == ESPL_OK && playback->changes_sets &&
        !espl__marks_reserve(playback->heap, &playback->note_marks,
                             playback->forest->end + slots)) {
        status = ESPL_ERR_NO_MEMORY;
    }
    if (status == ESPL_OK && (slots != 0 || has_alone)) {
        status = open_nursery(playback, slots);
    }
    if (status != ESPL_OK) {
        return status;
    }
    const uint32_t jobs = playback->part_count - (has_alone ? 1 : 0);

    status = espl__run_jobs(playback->executor, playback->hooks, apply_part, playback, jobs);
    if (status == ESPL_OK && has_alone) {
        apply_alone(playback);
    }
    return status != ESPL_OK ? status : check_parts(playback);
}
