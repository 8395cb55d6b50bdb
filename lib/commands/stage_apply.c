// SPDX-License-Identifier: MIT
// Stage 4: the groups are applied, in parts that the workers apply at the same time.
//
// Input: the entries by group, with their operands; the closures of sources. Output: the verdict of
// each command, the parts with their edits and lists, the slots of pending entities, the nursery.
//
// This file divides the groups into parts and bounds the room for new nodes. A new node gets a slot in
// the range of its parent if that has room for all new nodes that commands place there; else a slot
// of the nursery, at the end of the pool. How many nodes a group makes at most is known before,
// unless it copies what it edits: such groups are applied alone, after the others, and grow the
// nursery as they need.
//
// Cost: that of the edits of the commands, and of the nodes that they make. A playback with one
// group is applied by one worker, however many commands the group has.
//
// Invariants: parts write disjoint trees and disjoint slots of the nursery; and no list of the
// forest moves while parts are applied at the same time.
#include "lib/commands/apply.h"

#include "lib/base/marks.h"
#include "lib/commands/nursery.h"
#include "lib/commands/parts.h"
#include "lib/jobs/ranges.h"
#include "lib/tree/edit_nodes.h"
#include "lib/tree/tree_batch.h"
#include "lib/tree/relocation_survey.h"

#include <string.h>

// State of the stage.
typedef struct applying {
    espl__stage_context *context;
    const espl__apply_input *in;
    espl__applied *out;
} applying;

// --- Room for new nodes ---

// An upper bound that no request reaches, and the mark of a command whose bound is unknown.
enum { BOUND_LIMIT = ESPL__NURSERY_LIMIT, BOUND_UNKNOWN = ESPL__NURSERY_LIMIT + 1 };

// The upper bound of the new nodes of a command.
static uint32_t bound_of(const espl__grouped *grouped, const espl__entry *entry)
{
    size_t bound = entry->command->count;

    if (bound != 0 && entry->command->kind == ESPL__COMMAND_INSTANTIATE) {
        if (entry->template == 0) {
            // A source that does not live makes nothing.
            return entry->target.state < ESPL_OK ? 0 : BOUND_UNKNOWN;
        }
        ESPL_CHECK_FULL(entry->template <= grouped->source_count);
        bound *= grouped->sources[entry->template - 1].tree.count;
    }
    return bound <= BOUND_LIMIT ? (uint32_t)bound : BOUND_LIMIT;
}

// The upper bound of the new nodes that come to a touched tree.
static inline uint32_t *coming_to(const applying *s, const espl__tree *tree)
{
    ESPL_CHECK_FULL(tree->mark - 1 < s->in->grouped->element_count);
    return &s->out->coming[tree->mark - 1];
}

// Add the upper bound of a command to that of the tree of its parent. @return false: the tree has no
// room for what comes so far, or the parent is in no tree.
static inline bool add_bound(const applying *s, const espl__entry *entry, uint32_t bound)
{
    if (!espl__operand_is_living(&entry->parent)) {
        return false;
    }
    const espl__tree *const t = espl__tree_of(s->context->forest, entry->parent.number);
    uint32_t *const coming = coming_to(s, t);
    const uint32_t sum = *coming + bound;

    _Static_assert(BOUND_LIMIT < UINT32_MAX / 2, "a sum of two does not wrap");
    *coming = sum < UINT32_MAX / 2 ? sum : UINT32_MAX / 2;
    return *coming <= t->capacity - t->used && entry->command->dead_parent != ESPL_DEAD_PARENT_ROOT;
}

// Compute an upper bound of the new nodes of each command (made_count) and of each tree. A tree
// with room for its bound needs no nursery.
// @return whether some command may need the nursery, or has no bound.
static bool bound_new_nodes(const applying *s)
{
    const espl__ordered *const ordered = s->in->ordered;
    bool needs_nursery = false;

    for (size_t i = 0; i < ordered->entry_count; ++i) {
        espl__entry *const entry = &ordered->entries[i];
        const uint32_t bound = bound_of(s->in->grouped, entry);

        entry->made_count = bound;
        if (bound != 0 && (bound == BOUND_UNKNOWN || !add_bound(s, entry, bound))) {
            needs_nursery = true;
        }
    }
    return needs_nursery;
}

// Tell whether all that a command makes finds room in the range of its parent. False for a command
// that makes a root where its parent is dead, because a root is in no range yet.
static bool has_room(const applying *s, const espl__entry *entry)
{
    const espl__operand *const parent = &entry->parent;

    if (!espl__operand_is_living(parent) || entry->command->dead_parent == ESPL_DEAD_PARENT_ROOT) {
        return false;
    }
    const espl__tree *const t = espl__tree_of(s->context->forest, parent->number);

    return t->capacity - t->used >= *coming_to(s, t);
}

// Count the spare slots for the room of the trees that a command may make. Each copy of a source may
// be one. Nodes that are created may be one tree together with others of their group.
static void count_spare(const applying *s, const espl__entry *entry, espl__group *group)
{
    if (espl__operand_is_living(&entry->parent) &&
        entry->command->dead_parent != ESPL_DEAD_PARENT_ROOT) {
        return;
    }
    if (entry->template != 0) {
        const uint32_t size = s->in->grouped->sources[entry->template - 1].tree.count;

        group->spare += entry->command->count * espl__tree_spare(size);
    } else {
        group->created += entry->made_count;
    }
}

// Bound the slots that each group needs in the nursery: none for a group that must be applied alone,
// because that group grows the nursery itself. The number is in `nursery_end`, at most BOUND_LIMIT.
static void bound_groups(const applying *s)
{
    const espl__ordered *const ordered = s->in->ordered;
    const espl__home *const homes = s->in->resolved->homes;
    espl__group *const groups = s->in->grouped->groups;

    for (size_t i = 0; i < ordered->entry_count; ++i) {
        const espl__entry *const entry = &ordered->entries[i];
        const uint32_t bound = entry->made_count;

        if (bound == BOUND_UNKNOWN) {
            groups[homes[i].group].nursery = ESPL__NO_SLOT;
        } else if (bound != 0 && !has_room(s, entry)) {
            espl__group *const group = &groups[homes[i].group];
            const uint32_t sum = group->nursery_end + bound;

            group->nursery_end = sum < BOUND_LIMIT ? sum : BOUND_LIMIT;
            count_spare(s, entry, group);
        }
    }
}

// Give each group its part of the nursery, as numbers from 0 on.
// @return slots in all; SIZE_MAX: too many.
static size_t divide_nursery(const applying *s, bool *has_alone)
{
    size_t sum = 0;

    // Fast path: no group needs the nursery, and each has an empty part of it.
    if (s->in->ordered->pending_count == 0 || !bound_new_nodes(s)) {
        return 0;
    }
    // Bounds first, because a tree has room only if it has room for all commands together.
    bound_groups(s);
    for (size_t i = 0; i < s->in->grouped->group_count; ++i) {
        espl__group *const group = &s->in->grouped->groups[i];

        if (espl__group_is_alone(group)) {
            *has_alone = true;
            continue;
        }
        group->spare += espl__tree_spare(group->created);
        const size_t here = (size_t)group->nursery_end + group->spare;

        if (here >= BOUND_LIMIT || sum + here >= BOUND_LIMIT) {
            return SIZE_MAX;
        }
        group->nursery = (uint32_t)sum;
        group->nursery_end = (uint32_t)(sum + here);
        sum += here;
    }
    return sum;
}

// Take the nursery, and give each group its slots of it.
// @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT: there is no nursery then.
static espl_status open_nursery(const applying *s, size_t slots)
{
    const espl_status status = espl__nursery_open(s->context, &s->out->nursery, slots);

    if (status != ESPL_OK) {
        return status;
    }
    const uint32_t begin = s->out->nursery.begin;

    for (size_t i = 0; i < s->in->grouped->group_count; ++i) {
        espl__group *const group = &s->in->grouped->groups[i];

        group->nursery += espl__group_is_alone(group) ? 0 : begin;
        group->nursery_end += begin;
    }
    return ESPL_OK;
}

// --- Groups ---

// Apply the commands of a group in their order, until memory runs out.
// @param a    of the part; its command is written here.
// @param end  of the commands of the part, in the queue.
static void apply_group(const applying *s, espl__apply *a, uint32_t number, uint32_t end)
{
    const espl__queued *const queue = s->in->grouped->queue;
    const espl__group group = s->in->grouped->groups[number];
    espl__entry *const entries = s->in->ordered->entries;
    espl__edit *const edit = a->edit;
    const bool is_far = espl__forest_is_far(a->forest);
    unsigned seen = 0;

    ESPL_CHECK_FULL(number >= a->part->group_begin && number < a->part->group_end);
    // A group that is applied alone begins where the nursery ends, and grows it.
    if (a->is_alone) {
        espl__edit_begin_group(edit, s->out->nursery.end, s->out->nursery.end, 0);
    } else {
        espl__edit_begin_group(edit, group.nursery, group.nursery_end, group.spare);
    }
    for (uint32_t k = group.entry_begin; k < group.entry_end; ++k) {
        espl__entry *const entry = &entries[queue[k].entry];

        if (is_far && k % ESPL__APPLY_BATCH == 0 &&
            end - k >= ESPL__APPLY_AHEAD + ESPL__APPLY_BATCH) {
            espl__apply_prefetch(a->forest, s->in, k);
        }
        a->entry = entry;
        a->command = entry->command;
        if (a->command->kind != ESPL__COMMAND_WRITE) {
            espl__edit_end_run(edit);
        }
        entry->part = a->part->number;
        entry->made_begin = entry->made_count = 0;
        entry->status = espl__apply_command(a);
        seen |= (unsigned)entry->status;
        if (edit->status != ESPL_OK) {
            return;
        }
    }
    // Nothing reads the worlds of the last run before the part is applied.
    edit->context.batch = a->trees;
    espl__edit_end_run(edit);
    edit->context.batch = NULL;
    a->part->seen |= seen;
    espl__part_note_kinds(a->part);
    // The room of any other group includes that of the tree which it made last.
    if (a->is_alone &&
        espl__nursery_grow(s->context, &s->out->nursery, edit, 0, 0,
                           espl__tree_spare(edit->nursery - edit->nursery_root)) != ESPL_OK) {
        return;
    }
    // Which nodes have to move is found group by group, while their lines are in the cache.
    edit->status = espl__edit_survey(edit);
}

// Apply the groups of a part that are applied alone, or the others.
static void apply_groups(const applying *s, espl__part *part, bool are_alone)
{
    espl__edit *const edit = &part->edit;
    espl__tree_batch trees = {0};
    espl__apply a = {.context = s->context,
                     .in = s->in,
                     .out = s->out,
                     .part = part,
                     .edit = edit,
                     .forest = edit->forest,
                     .is_alone = are_alone,
                     .trees = &trees};

    if (part->group_begin == part->group_end) {
        return;
    }
    const uint32_t begin = s->in->grouped->groups[part->group_begin].entry_begin;
    const uint32_t end = s->in->grouped->groups[part->group_end - 1].entry_end;
    const uint32_t ahead = end - begin < ESPL__APPLY_AHEAD ? end - begin : ESPL__APPLY_AHEAD;

    if (espl__forest_is_far(edit->forest)) {
        espl__apply_prefetch_begin(edit->forest, s->in, begin, begin + ahead);
    }
    for (uint32_t i = part->group_begin; i < part->group_end && edit->status == ESPL_OK; ++i) {
        if (espl__group_is_alone(&s->in->grouped->groups[i]) == are_alone) {
            apply_group(s, &a, i, end);
        }
    }
    espl__tree_batch_finish(edit->forest, &edit->context, &trees);
}

// Job: apply the groups of one part. Skips groups that must be applied alone.
static void apply_part(void *context, size_t number)
{
    const applying *const s = context;
    espl__part *const part = s->out->parts[number];

    ESPL_CHECK(part->number == number && part->group_begin <= part->group_end);
    apply_groups(s, part, false);
}

// --- Parts ---

// Begin the parts, and give each consecutive groups with about equally many commands. One more part
// is for the groups that are applied alone.
static espl_status divide_groups(const applying *s, bool has_alone)
{
    espl__stage_context *const context = s->context;
    const espl__grouped *const grouped = s->in->grouped;
    const size_t entries = s->in->ordered->entry_count;
    const size_t parts = espl__executor_is_serial(context->executor)
                             ? 1
                             : espl__count_jobs(entries, context->divided_entries,
                                                context->part_entries, ESPL__PARTS - 1);
    uint32_t group = 0;

    s->out->parts = context->memory.parts;
    for (uint32_t i = 0; i < parts + (has_alone ? 1 : 0); ++i) {
        espl__part *const part = espl__part_begin(context, i);

        if (part == NULL) {
            return ESPL_ERR_NO_MEMORY;
        }
        part->set_marks = s->in->resolved->changes_sets ? context->memory.set_marks : NULL;
        s->out->part_count = i + 1;
    }
    // A part ends with the group that reaches its share of the commands. Where groups are large,
    // parts may be empty; the last one takes the rest.
    for (uint32_t i = 0; i < parts; ++i) {
        const size_t end = entries * (i + 1) / parts;

        s->out->parts[i]->group_begin = group;
        while (group < grouped->group_count &&
               (grouped->groups[group].entry_end <= end || i + 1 == parts)) {
            group += 1;
        }
        s->out->parts[i]->group_end = group;
    }
    ESPL_CHECK(group == grouped->group_count);
    if (has_alone) {
        s->out->parts[parts]->group_begin = 0;
        s->out->parts[parts]->group_end = (uint32_t)grouped->group_count;
    }
    return ESPL_OK;
}

// --- The stage ---

// Take all memory that is known to be needed, so that parts grow nothing but their own lists.
static espl_status prepare_parts(const applying *s, bool *has_alone)
{
    espl__stage_context *const context = s->context;
    const size_t pendings = s->in->ordered->pending_count;
    // Commands that make nothing need no bounds.
    const size_t elements = pendings != 0 ? s->in->grouped->element_count : 0;
    espl__applied *const out = s->out;

    // One piece for two arrays. Nothing comes to a tree yet, and no pending entity has a slot.
    out->coming = espl__arena_take(&context->arena, elements + pendings, sizeof *out->coming);
    if (out->coming == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    out->pending_slots = out->coming + elements;
    memset(out->coming, 0, elements * sizeof *out->coming);
    _Static_assert(ESPL__NO_SLOT == UINT32_MAX, "bytes 0xff are slots that do not exist");
    memset(out->pending_slots, 0xff, pendings * sizeof *out->pending_slots);
    out->nursery.has_side = s->in->resolved->wants_side || s->in->grouped->wants_side;
    // The trees that change, and the nursery.
    if (out->nursery.has_side &&
        !espl__sides_reserve(context->forest, s->in->grouped->touched_count + 1)) {
        return ESPL_ERR_NO_MEMORY;
    }
    const size_t slots = divide_nursery(s, has_alone);

    if (slots == SIZE_MAX) {
        return ESPL_ERR_LIMIT;
    }
    if (s->in->resolved->changes_sets &&
        !espl__marks_reserve(context->heap, ESPL__FOR_COMMANDS, &context->memory.set_marks,
                             context->forest->end + slots)) {
        return ESPL_ERR_NO_MEMORY;
    }
    const espl_status status = divide_groups(s, *has_alone);
    return status == ESPL_OK && (slots != 0 || *has_alone) ? open_nursery(s, slots) : status;
}

// The status of the first part that failed.
static espl_status check_parts(const espl__applied *applied)
{
    espl_status status = ESPL_OK;

    for (uint32_t i = 0; i < applied->part_count && status == ESPL_OK; ++i) {
        status = applied->parts[i]->edit.status;
    }
    return status;
}

// The status of the first command in playback order that is refused.
static espl_status check_verdicts(const espl__ordered *ordered, uint32_t *first_refused)
{
    for (size_t i = 0; i < ordered->entry_count; ++i) {
        const espl__entry *const entry = &ordered->entries[i];

        if (entry->status < 0) {
            *first_refused = entry->index;
            return entry->status;
        }
    }
    return ESPL_OK;
}

espl_status espl__stage_apply(espl__stage_context *context, const espl__apply_input *in,
                              espl__applied *out)
{
    applying s = {context, in, out};
    bool has_alone = false;
    espl_status status = prepare_parts(&s, &has_alone);

    if (status != ESPL_OK) {
        return status;
    }
    // The last part is no job if it is for the groups that are applied alone.
    const uint32_t jobs = out->part_count - (has_alone ? 1 : 0);

    status = espl__run_jobs(context->executor, context->hooks, apply_part, &s, jobs);
    if (status == ESPL_OK && has_alone) {
        apply_groups(&s, out->parts[out->part_count - 1], true);
    }
    status = status != ESPL_OK ? status : check_parts(out);
    if (status == ESPL_OK && in->request->is_strict) {
        status = check_verdicts(in->ordered, &out->first_refused);
    }
    return status;
}
