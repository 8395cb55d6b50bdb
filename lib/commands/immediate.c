// SPDX-License-Identifier: MIT
// One command at once: check, edit, reserve, settle roles and rows, place.
//
// Input: a command, with handles. Output: the trees and the store as the command leaves them. The
// edit is that of part 0, whose lists are kept. All that can fail precedes the first change of a
// row; a failure before that undoes the edit, so that the world is as it was, bit for bit.
//
// Cost: that of the edit, of the rows that change and of the nodes that move. A command that changes
// no role, no component and no entity leaves the store alone.
#include "lib/commands/immediate.h"

#include "lib/base/marks.h"
#include "lib/commands/apply.h"
#include "lib/commands/nursery.h"
#include "lib/commands/parts.h"
#include "lib/tree/relocation.h"
#include "lib/tree/relocation_survey.h"

// A command, as the only one of a playback; or none.
typedef struct immediate {
    espl__stage_context *context;
    espl__part *part;                  // number 0
    const espl__play_request *request; // with one lane, or without lanes
    const espl__ordered *ordered;      // with one entry, or without entries
    espl__applied applied;
    size_t archetypes_before;
    bool uses_arena;
    bool has_overflowed; // out
} immediate;

// --- Begin and end ---

// Begin an edit of the part.
// @return false: no memory.
static bool begin(immediate *m, espl__stage_context *context)
{
    m->context = context;
    m->part = espl__part_begin(context, 0);
    if (m->part == NULL) {
        return false;
    }
    m->part->group_end = (uint32_t)m->ordered->entry_count;
    m->applied.parts = context->memory.parts;
    m->applied.part_count = 1;
    m->archetypes_before = espl__array_length(context->store->archetypes);
    ESPL_CHECK(!context->forest->is_edited && context->forest->nursery == ESPL__NO_TREE);
    context->forest->is_edited = true;
    espl__edit_begin_group(&m->part->edit, context->forest->end, context->forest->end, 0);
    return true;
}

// Tell whether the edit leaves something to do in the store.
static bool changes_rows(const espl__part *part)
{
    return (espl__array_length(part->edit.touched) | espl__array_length(part->edit.made) |
            espl__array_length(part->edit.removed) | espl__array_length(part->node_sets)) != 0;
}

// Take all memory, then change the rows and place the nodes, which cannot fail.
static espl_status settle_rows(immediate *m)
{
    espl__stage_context *const context = m->context;
    const espl__queued queued = {0};
    espl__group group = {.entry_end = m->part->group_end};
    const espl__grouped grouped = {.queue = &queued, .groups = &group, .group_count = group.entry_end};
    const espl__reserve_input reserve = {m->request, m->ordered, &grouped, &m->applied};
    espl__planned planned = {0};
    espl__changed changed = {0};

    m->uses_arena = true;
    const espl_status status = espl__stage_reserve(context, &reserve, &planned, &changed);

    if (status == ESPL_OK) {
        const espl__change_input change = {m->request, m->ordered, &m->applied, &planned};

        espl__heap_forbid(context->heap);
        espl__stage_change(context, &change, &changed);
        espl__heap_allow(context->heap);
    }
    espl__references_free(context->heap, planned.references);
    return status;
}

// Survey what moves, change the rows, and place the nodes.
static espl_status settle(immediate *m)
{
    espl__stage_context *const context = m->context;
    espl__edit *edit = &m->part->edit;
    espl_status status = edit->status;

    if (status == ESPL_OK) {
        espl__part_note_kinds(m->part);
        status = espl__edit_survey(edit);
    }
    if (status == ESPL_OK) {
        status = changes_rows(m->part) ? settle_rows(m)
                                       : espl__relocations_reserve(context->forest, &edit, 1);
    }
    if (status == ESPL_OK) {
        espl__heap_forbid(context->heap);
        m->has_overflowed = espl__stage_place(context, &m->applied);
        espl__heap_allow(context->heap);
    }
    return status;
}

// Undo the edit where the status is a failure, and end it.
static void end(immediate *m, espl_status status)
{
    espl__stage_context *const context = m->context;

    if (status < 0) {
        espl__edit_undo(&m->part->edit);
        espl__archetypes_forget(context->store, m->archetypes_before);
    }
    espl__part_clear_marks(context, m->part);
    espl__nursery_close(context, &m->applied.nursery, status < 0);
    if (m->uses_arena) {
        espl__arena_reset(&context->arena);
    }
    context->forest->is_edited = false;
}

// --- One command ---

static inline void find_operand(const espl__store *store, const espl_entity *entity,
                                espl__operand *out)
{
    if ((entity->index | entity->generation) == 0) {
        *out = (espl__operand){.state = ESPL_ERR_NULL_ENTITY};
    } else if (espl__is_alive(store, entity->index, entity->generation)) {
        *out = (espl__operand){store->records[entity->index].slot, ESPL_OK};
    } else {
        *out = (espl__operand){.state = espl__entity_check(store, *entity)};
    }
}

// Tell whether a new node may have something in side arrays, because of the command, or because a node
// that it names has.
static bool wants_side(const immediate *m, const espl__entry *entry)
{
    const uint8_t *const flags = m->context->forest->flags;
    const espl__operand *const named[3] = {&entry->target, &entry->parent, &entry->before};
    unsigned seen = 0;

    for (int i = 0; i < 3; ++i) {
        seen |= espl__operand_is_living(named[i]) ? flags[named[i]->number] : 0u;
    }
    return (m->request->lanes->traits & ESPL__LANE_WANTS_SIDE) != 0 || (seen & ESPL__SLOT_SIDE) != 0;
}

// Take the memory of the command besides the lists of the edit: marks of component sets, and places for
// the slots of what it makes. @param few  [few_count] used where they are enough.
static espl_status prepare(immediate *m, uint32_t *few, size_t few_count)
{
    espl__stage_context *const context = m->context;
    const espl__lane_view *const lane = m->request->lanes;
    const size_t made = lane->pending_count;

    m->part->set_marks = NULL;
    if ((lane->traits & ESPL__LANE_CHANGES_SETS) != 0) {
        if (!espl__marks_reserve(context->heap, ESPL__FOR_COMMANDS, &context->memory.set_marks,
                                 context->forest->end)) {
            return ESPL_ERR_NO_MEMORY;
        }
        m->part->set_marks = context->memory.set_marks;
    }
    m->applied.pending_slots = few;
    if (made > few_count) {
        m->uses_arena = true;
        m->applied.pending_slots = espl__arena_take(&context->arena, made, sizeof *few);
        if (m->applied.pending_slots == NULL) {
            return ESPL_ERR_NO_MEMORY;
        }
    }
    for (size_t i = 0; i < made; ++i) {
        m->applied.pending_slots[i] = ESPL__NO_SLOT;
    }
    return ESPL_OK;
}

// Apply the command to the trees. @return its verdict. What fails is in the status of the edit too.
static espl_status apply(immediate *m, espl__entry *entry)
{
    // Without the outputs of the resolve and group stages, which no command reads.
    const espl__apply_input in = {.request = m->request, .ordered = m->ordered};
    espl__apply a = {.context = m->context,
                     .in = &in,
                     .out = &m->applied,
                     .part = m->part,
                     .edit = &m->part->edit,
                     .forest = m->context->forest,
                     .entry = entry,
                     .command = entry->command,
                     .is_alone = true};

    return espl__apply_command(&a);
}

espl_status espl__immediate_apply(espl__playback *playback, const espl__lane_view *lane,
                                  bool *has_overflowed)
{
    enum { FEW = 16 };
    const espl__store *const store = playback->context.store;
    const espl__lane_base base = {0, 0};
    uint32_t few[FEW];
    const espl__play_request request = {.lanes = lane, .lane_count = 1, .tag = ESPL__NO_TAG};
    espl__entry entry = {.command = lane->commands};
    const espl__ordered ordered = {.entries = &entry,
                                   .entry_count = 1,
                                   .bases = &base,
                                   .pending_count = lane->pending_count};
    immediate m = {.request = &request, .ordered = &ordered};

    *has_overflowed = false;
    ESPL_CHECK(lane->count == 1);
    if (!begin(&m, &playback->context)) {
        return ESPL_ERR_NO_MEMORY;
    }
    find_operand(store, &entry.command->target, &entry.target);
    find_operand(store, &entry.command->parent, &entry.parent);
    find_operand(store, &entry.command->before, &entry.before);
    m.applied.nursery.has_side = lane->pending_count != 0 && wants_side(&m, &entry);
    const espl_status ready = prepare(&m, few, FEW);
    const espl_status verdict = ready == ESPL_OK ? apply(&m, &entry) : ready;
    const espl_status status = verdict < 0 ? verdict : settle(&m);

    end(&m, status);
    *has_overflowed = m.has_overflowed;
    return status < 0 ? status : verdict;
}

// --- Roots ---

bool espl__immediate_settle(espl__playback *playback, uint32_t tree, bool lays_out)
{
    const espl__play_request request = {.tag = ESPL__NO_TAG};
    const espl__ordered ordered = {0};
    immediate m = {.request = &request, .ordered = &ordered};

    if (!begin(&m, &playback->context)) {
        return false;
    }
    m.part->set_marks = NULL;
    const espl_status status =
        espl__edit_mark_roots(&m.part->edit, tree, lays_out) ? settle(&m) : ESPL_ERR_NO_MEMORY;

    end(&m, status);
    return status == ESPL_OK;
}
