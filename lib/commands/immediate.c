// SPDX-License-Identifier: MIT
// One command at once: check, edit, reserve, settle roles and rows, place.
//
// Input: a command, with handles. Output: the trees and the store as the command leaves them. The
// edit is that of part 0, whose lists are kept. All that can fail precedes the first change of a
// row; a failure before that undoes the edit, so that the world is as it was, bit for bit.
//
// Cost: that of the edit, of the rows that change and of the nodes that move. A command that changes
// no role, no component and no entity leaves the store alone.
#include "lib/commands/attach_in_place.h"

#include "lib/base/marks.h"
#include "lib/base/prefetch.h"
#include "lib/commands/apply.h"
#include "lib/commands/nursery.h"
#include "lib/commands/parts.h"
#include "lib/tree/edit_nodes.h"
#include "lib/tree/relocation.h"
#include "lib/tree/relocation_survey.h"

// A command, as the only one of a playback; or none.
typedef struct immediate {
    espl__stage_context *context;
    espl__part *part;                  // number 0
    const espl__play_request *request; // with one lane, or without lanes
    const espl__ordered *ordered;      // with one entry, or without entries
    espl__grouped grouped;             // with the source of a clone
    espl__source source;
    espl__applied applied;
    size_t archetypes_before;
    bool uses_arena;
    bool has_overflowed; // out
} immediate;

// Nodes of a copy whose rows are made without a plan, at most.
enum { FEW_MADE = 32 };
// Slots of a pool that is larger than most third-level caches, with entities and rows 32 MB.
enum { DISTANT_SLOTS = 262144 };

// --- Operands ---

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

// --- Begin and end ---

// A copy of zeros, as in playback.c.
static const espl__grouped no_groups;

// Begin an edit of the part.
// @return false: no memory.
static bool begin(immediate *m, espl__stage_context *context, const espl__play_request *request,
                  const espl__ordered *ordered)
{
    espl__forest *const forest = context->forest;
    espl__part *const part = espl__part_begin(context, 0);

    if (part == NULL) {
        return false;
    }
    ESPL_CHECK(!espl__forest_is_edited(forest) && forest->nursery == ESPL__NO_TREE);
    forest->modes |= ESPL__MODE_EDITED;
    part->group_end = (uint32_t)ordered->entry_count;
    // The lists are empty, so that the edit is its own first group. A nursery would begin here.
    espl__edit_begin_nursery(&part->edit, forest->end, forest->end, 0);
    m->context = context;
    m->part = part;
    m->request = request;
    m->ordered = ordered;
    m->applied.parts = context->memory.parts;
    m->applied.part_count = 1;
    m->applied.nursery = (espl__nursery){0};
    m->grouped = no_groups;
    m->archetypes_before = espl__array_length(context->store->archetypes);
    m->uses_arena = m->has_overflowed = false;
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
    espl__grouped grouped = m->grouped;
    const espl__reserve_input reserve = {m->request, m->ordered, &grouped, &m->applied};
    espl__planned planned = {0};
    espl__changed changed = {0};

    m->uses_arena = true;
    grouped.queue = &queued;
    grouped.groups = &group;
    grouped.group_count = group.entry_end;
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

// Take the memory of the places of nodes that move, where no plan of rows does it.
static inline espl_status reserve_places(const espl__stage_context *context, espl__edit *edit)
{
    return espl__array_length(edit->relocations) != 0
               ? espl__relocations_reserve(context->forest, &edit, 1)
               : ESPL_OK;
}

// Tell whether a source has a name, which its copies share, or refers to entities.
static bool has_name_or_reference(const espl__store *store, uint32_t source)
{
    return (store->names.count != 0 && espl__name_of(&store->names, source) != NULL) ||
           (store->referring_count != 0 &&
            espl__references_in(store, espl__entity_archetype(store, source)));
}

// Tell whether the rows of one copy of few nodes are all that changes, with neither values, names
// nor references. Then each row is a copy of its own, in the order of the nodes, and no plan is
// needed to tell.
static bool makes_few_rows(const immediate *m)
{
    const espl__edit *const edit = &m->part->edit;
    const size_t count = espl__array_length(edit->made);
    bool is_few = count != 0 && count <= FEW_MADE && m->grouped.source_count != 0 &&
                  m->ordered->entries->command->count == 1 &&
                  m->ordered->entries->command->value_count == 0 &&
                  espl__array_length(edit->touched) == 0;

    for (size_t i = 0; i < count && is_few; ++i) {
        is_few = !has_name_or_reference(m->context->store, edit->made[i].source);
    }
    return is_few;
}

// Find the archetypes of new rows, and reserve the rows.
static espl_status reserve_rows(immediate *m, espl__copies *copies, uint32_t count)
{
    espl__store *const store = m->context->store;
    const espl__made *const made = m->part->edit.made;
    espl_status status = espl__entities_reserve(store, count);
    uint32_t found = 0;

    while (found < count && status == ESPL_OK) {
        const uint32_t source = made[found].source;
        uint32_t archetype = 0;

        status = espl__archetype_copy(store, espl__entity_archetype(store, source),
                                      espl__slot_kind(m->context->forest, made[found].slot),
                                      &archetype);
        if (status == ESPL_OK) {
            copies[found] = (espl__copies){
                .archetype = archetype, .source = source, .begin = found, .count = 1};
            store->archetypes[archetype].coming += 1;
            found += 1;
        }
    }
    // All sums are cleared, also where one fails.
    for (uint32_t i = 0; i < found; ++i) {
        const espl_status here = espl__rows_reserve_coming(store, copies[i].archetype);

        status = status != ESPL_OK ? status : here;
    }
    return status;
}

// Make the rows of the nodes that the command made.
static espl_status make_few_rows(immediate *m)
{
    espl__stage_context *const context = m->context;
    espl__store *const store = context->store;
    espl__forest *const forest = context->forest;
    const espl__made *const made = m->part->edit.made;
    const uint32_t count = (uint32_t)espl__array_length(made);
    uint32_t order[FEW_MADE], slots[FEW_MADE];
    espl__copies copies[FEW_MADE];
    espl_entity entities[FEW_MADE];
    const espl__new_rows rows = {entities, slots, order};
    espl_status status = reserve_rows(m, copies, count);

    // Ranges are reserved last, because they could not be given back without a trace.
    status = status != ESPL_OK ? status : reserve_places(context, &m->part->edit);
    if (status != ESPL_OK) {
        return status;
    }
    espl__heap_forbid(context->heap);
    espl__entities_take(store, entities, count);
    for (uint32_t i = 0; i < count; ++i) {
        order[i] = i;
        slots[i] = made[i].slot;
        forest->links[slots[i]].entity = entities[i].index;
        espl__probe_node(&forest->columns, slots[i], entities[i].index);
    }
    espl__rows_open(store, copies, count);
    espl__rows_copy(store, &rows, copies, 0, count);
    m->request->lanes->created[0] = entities[0];
    espl__rows_settle(store, NULL, NULL);
    espl__heap_allow(context->heap);
    return ESPL_OK;
}

// Survey what moves, change the rows, and place the nodes.
static espl_status settle(immediate *m)
{
    espl__stage_context *const context = m->context;
    espl__edit *edit = &m->part->edit;
    espl_status status = edit->status;

    if (status == ESPL_OK) {
        status = espl__edit_survey(edit);
    }
    if (status == ESPL_OK && makes_few_rows(m)) {
        status = make_few_rows(m);
    } else if (status == ESPL_OK) {
        if (espl__array_length(edit->made) != 0) {
            espl__part_note_kinds(m->part);
        }
        status = changes_rows(m->part) ? settle_rows(m) : reserve_places(context, edit);
    }
    if (status == ESPL_OK) {
        espl__heap_forbid(context->heap);
        m->has_overflowed = espl__place_one(context, &m->applied);
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
    if (context->forest->nursery != ESPL__NO_TREE) {
        espl__nursery_close(context, &m->applied.nursery, status < 0);
    }
    if (m->uses_arena) {
        espl__arena_reset(&context->arena);
        espl__marks_trim(context->heap, ESPL__FOR_COMMANDS, &context->memory.set_marks,
                         context->forest->end);
        espl__marks_trim(context->heap, ESPL__FOR_COMMANDS, &context->memory.chunk_marks,
                         espl__array_length(context->store->chunks));
    }
    context->forest->modes &= (uint8_t)~ESPL__MODE_EDITED;
    if (espl__part_is_long(m->part)) {
        espl__parts_trim(context, 1);
    }
}

// --- Commands that may need memory ---

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

// Find the closure of the source of a clone. The command edits no source.
static espl_status find_source(immediate *m, espl__entry *entry)
{
    if (entry->command->kind != ESPL__COMMAND_INSTANTIATE ||
        !espl__operand_is_living(&entry->target)) {
        return ESPL_OK;
    }
    const espl_status status =
        espl__edit_find_template(&m->part->edit, entry->target.number, &m->source.tree);

    m->source.slot = entry->target.number;
    m->source.first_bucket = 0;
    m->grouped.sources = &m->source;
    m->grouped.source_count = 1;
    m->grouped.bucket_count = (size_t)ESPL__COPY_KINDS * m->source.tree.count;
    entry->template = 1;
    return status;
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
    // Without the output of the resolve stage, which no command reads.
    const espl__apply_input in = {m->request, m->ordered, NULL, &m->grouped};
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

// Apply a command by an edit with an undo log.
static ESPL__APART espl_status apply_logged(espl__playback *playback, const espl__lane_view *lane,
                                            espl__entry *entry, espl__immediate_result *out)
{
    enum { FEW = 16 };
    const espl__lane_base base = {0, 0};
    uint32_t few[FEW];
    const espl__play_request request = {.lanes = lane, .lane_count = 1, .tag = ESPL__NO_TAG};
    const espl__ordered ordered = {.entries = entry,
                                   .entry_count = 1,
                                   .bases = &base,
                                   .pending_count = lane->pending_count};
    immediate m; // not set to 0, because begin() sets what is read

    if (!begin(&m, &playback->context, &request, &ordered)) {
        return ESPL_ERR_NO_MEMORY;
    }
    m.applied.nursery.has_side = lane->pending_count != 0 && wants_side(&m, entry);
    const bool is_placed = lane->pending_count != 0 && espl__operand_is_living(&entry->parent);
    espl_status ready = prepare(&m, few, FEW);

    // What a new node reads of its parent, and the slots that it gets, are waited for while the source is read.
    if (is_placed) {
        espl__prefetch(&m.context->forest->world[entry->parent.number]);
        espl__prefetch_to_write(&m.context->forest->links[entry->parent.number]);
        espl__arrival_prefetch(m.context->forest,
                               espl__tree_of(m.context->forest, entry->parent.number));
    }
    ready = ready != ESPL_OK ? ready : find_source(&m, entry);
    const espl_status verdict = ready == ESPL_OK ? apply(&m, entry) : ready;
    const espl_status status = verdict < 0 ? verdict : settle(&m);

    // Before the end, which may free the part.
    out->is_refused = verdict < 0 && ready == ESPL_OK && m.part->edit.status == ESPL_OK;
    end(&m, status);
    out->has_overflowed = m.has_overflowed;
    return status < 0 ? status : verdict;
}

// --- One command ---

espl_status espl__immediate_apply(espl__playback *playback, const espl__lane_view *lane,
                                  espl__immediate_result *out)
{
    const espl__store *const store = playback->context.store;
    espl__entry entry = {.command = lane->commands};

    // In a smaller pool the waits are shorter than what the prefetches take.
    const bool is_distant = playback->context.forest->end >= DISTANT_SLOTS;

    *out = (espl__immediate_result){false, false};
    ESPL_CHECK(lane->count == 1);
    if (is_distant) {
        espl__prefetch_element(store->records, entry.command->target.index, sizeof *store->records);
        espl__prefetch_element(store->records, entry.command->parent.index, sizeof *store->records);
    }
    find_operand(store, &entry.command->target, &entry.target);
    find_operand(store, &entry.command->parent, &entry.parent);
    find_operand(store, &entry.command->before, &entry.before);
    if (is_distant) {
        espl__entry_prefetch(playback->context.forest, store, &entry);
    }
    return espl__attaches_in_place(playback->context.forest, &entry)
               ? espl__attach_in_place(playback, &entry, out)
               : apply_logged(playback, lane, &entry, out);
}

// --- A build ---

// Make the component sets of a build. Their numbers are those in the build.
static bool make_built_sets(immediate *m, const espl__build *build)
{
    espl__sets *const sets = &m->part->sets;

    for (size_t i = 0; i < build->set_count; ++i) {
        const espl__built_set *const from = &build->sets[i];
        const uint32_t set =
            espl__set_make(m->context->heap, sets, from->count, ESPL__NONE, 0);

        if (set == ESPL__NONE) {
            return false;
        }
        ESPL_CHECK(set == i);
        for (size_t k = 0; k < from->count; ++k) {
            espl__set_put(sets, set, &(espl__set_item){from->components[k], ESPL__NONE, NULL});
        }
        sets->sets[set].is_shared = true;
    }
    return true;
}

// Compute the world that follows from the placement of a node, and complete the placement of one that
// shows its parent's stretch and user data.
static void place_built(const espl__forest *forest, espl__new_node *place)
{
    const bool has_parent = place->parent != ESPL__NO_SLOT;

    if (place->is_bare) {
        place->placement = espl__placement_identity();
    }
    // Fast path: without inherit flags there is nothing to keep.
    if (!place->is_bare && place->placement.kept.flags == 0) {
        espl__wide_store(
            &place->world,
            espl__world_below(forest, place->parent, espl__wide_load(&place->placement.local)));
        return;
    }
    const espl__frame frame =
        has_parent ? espl__slot_frame(forest, place->parent) : (espl__frame){0};

    if (has_parent && (place->is_bare || espl__placement_copies(&place->placement))) {
        place->placement.extra = frame.extra;
        place->world = frame.world;
    } else {
        place->world = espl__placement_world(&place->placement, has_parent ? &frame : NULL);
    }
}

// Nodes of a build that are made by one call: a node, and nodes below it with a transform and nothing else.
typedef struct built_run {
    espl__template tree;
    espl__template_node *nodes; // [longest of the build]
    espl_pose *locals;          // the same
    espl__built top;
    bool is_open;   // nodes below the top may join it
    uint32_t first; // number of the top
} built_run;

// Tell whether a node has neither a placement besides its local nor a free link.
static bool is_built_plain(const espl__built *node)
{
    return !node->is_bare && !node->is_free && !node->has_side;
}

// Add a node to a run. @return false: it begins another one.
static inline bool join_run(built_run *run, const espl__built *node)
{
    const uint32_t at = run->tree.count;

    if (at == 0) {
        run->top = *node;
        run->is_open = is_built_plain(node);
    } else if (!run->is_open || node->parent == ESPL__NO_SLOT || node->parent < run->first ||
               !is_built_plain(node)) {
        return false;
    }
    run->nodes[at] = (espl__template_node){ESPL__NO_SLOT, at == 0 ? 0 : node->parent - run->first,
                                           ESPL__NO_ENTITY, ESPL__NO_ENTITY};
    run->locals[at] = node->placement.local;
    run->tree.count += 1;
    return true;
}

// Make the nodes of a run, and empty it. @return false: no memory.
static bool make_run(immediate *m, const espl__build *build, built_run *run)
{
    espl__edit *const edit = &m->part->edit;
    uint32_t *const slots = m->applied.pending_slots;
    const espl__built *const top = &run->top;
    const bool is_top = top->parent == ESPL__NO_SLOT;
    espl__new_node place = {.parent = is_top ? build->parent : slots[top->parent],
                            .before = ESPL__NO_SLOT,
                            .link = top->is_free && !is_top ? ESPL_LINK_FREE : ESPL_LINK_OWNED,
                            .is_bare = top->is_bare,
                            .placement = top->placement};
    uint32_t made = 0;

    place_built(m->context->forest, &place);
    if (espl__edit_clone(edit, &run->tree, &place, &made) != ESPL_OK) {
        return false;
    }
    ESPL_CHECK(made == run->first);
    for (uint32_t i = 0; i < run->tree.count; ++i) {
        slots[made + i] = edit->made[made + i].slot;
    }
    run->first += run->tree.count;
    run->tree.count = 0;
    return true;
}

// Make the nodes. @return false: no memory.
static bool make_built(immediate *m, const espl__build *build)
{
    espl__part *const part = m->part;
    espl__arena *const arena = &m->context->arena;
    built_run run = {.nodes = espl__arena_take(arena, build->longest, sizeof *run.nodes),
                     .locals = espl__arena_take(arena, build->longest, sizeof *run.locals)};

    if (run.nodes == NULL || run.locals == NULL) {
        return false;
    }
    run.tree.nodes = run.nodes;
    run.tree.locals = run.locals;
    espl__array_set_length(part->made, build->count);
    for (uint32_t i = 0; i < build->count; ++i) {
        const espl__built *const node = build->next(build->context);

        ESPL_CHECK(node->set < build->set_count &&
                   (node->parent == ESPL__NO_SLOT || node->parent < i));
        if (!join_run(&run, node)) {
            if (!make_run(m, build, &run)) {
                return false;
            }
            (void)join_run(&run, node);
        }
        part->made[i] =
            (espl__made_info){.set = node->set, .first_bucket = node->set * ESPL__COPY_KINDS};
    }
    return make_run(m, build, &run);
}

// Take the memory of the nodes but their rows, in lists that are as long as is needed.
static espl_status prepare_build(immediate *m, const espl__build *build)
{
    espl__stage_context *const context = m->context;
    espl__part *const part = m->part;
    espl__edit *const edit = &part->edit;

    if (prepare(m, NULL, 0) != ESPL_OK || !make_built_sets(m, build) ||
        !ESPL_ARRAY_RESERVE(context->heap, ESPL__FOR_COMMANDS, part->made, build->count) ||
        !ESPL_ARRAY_RESERVE(context->heap, ESPL__FOR_COMMANDS, edit->made, build->count) ||
        !ESPL_ARRAY_RESERVE(context->heap, ESPL__FOR_COMMANDS, edit->log, build->count)) {
        return ESPL_ERR_NO_MEMORY;
    }
    return espl__nursery_grow(context, &m->applied.nursery, edit, build->count, 1, build->spare);
}

espl_status espl__immediate_build(espl__playback *playback, const espl__build *build,
                                  espl_entity *entities, espl__immediate_result *out)
{
    const espl__lane_base base = {0, 0};
    const espl__lane_view lane = {.created = entities, .pending_count = build->count};
    const espl__play_request request = {.lanes = &lane, .lane_count = 1, .tag = ESPL__NO_TAG};
    const espl__ordered ordered = {.bases = &base, .pending_count = build->count};
    const espl__forest *const forest = playback->context.forest;
    immediate m;

    *out = (espl__immediate_result){false, false};
    if (!begin(&m, &playback->context, &request, &ordered)) {
        return ESPL_ERR_NO_MEMORY;
    }
    m.grouped.bucket_count = build->set_count * ESPL__COPY_KINDS;
    m.applied.nursery.has_side =
        build->has_side || (build->parent != ESPL__NO_SLOT &&
                            espl__slot_is(forest, build->parent, ESPL__SLOT_SIDE));
    espl_status status = prepare_build(&m, build);

    if (status == ESPL_OK) {
        status = make_built(&m, build) ? settle(&m) : ESPL_ERR_NO_MEMORY;
    }
    end(&m, status);
    out->has_overflowed = m.has_overflowed;
    return status;
}

// --- Roots ---

bool espl__immediate_settle(espl__playback *playback, uint32_t tree, bool lays_out)
{
    const espl__play_request request = {.tag = ESPL__NO_TAG};
    const espl__ordered ordered = {0};
    immediate m;

    if (!begin(&m, &playback->context, &request, &ordered)) {
        return false;
    }
    m.part->set_marks = NULL;
    const espl_status status =
        espl__edit_mark_roots(&m.part->edit, tree, lays_out) ? settle(&m) : ESPL_ERR_NO_MEMORY;

    end(&m, status);
    return status == ESPL_OK;
}
