// SPDX-License-Identifier: MIT
// Playback: seven stages over shared scratch, each a file with its name. Stages 1 to 4 read the
// store and the forest and may fail; 5 and 6 change them and cannot.
#ifndef ESPALIER_LIB_COMMANDS_PLAYBACK_H
#define ESPALIER_LIB_COMMANDS_PLAYBACK_H

#include "lib/base/arena.h"
#include "lib/commands/commands.h"
#include "lib/jobs/ranges.h"
#include "lib/tree/sketch.h"

/// A lane as playback sees it.
typedef struct espl__lane_view {
    const espl__command *commands; // [count]
    const unsigned char *payload;
    espl_entity *created; // [pending_count] out
    espl_status *results; // [count] out
    size_t count;
    uint32_t pending_count;
    uint32_t pending_base; // of the lane's pendings among all; set by the order stage
} espl__lane_view;

/// What a handle in a command turned out to be.
typedef struct espl__operand {
    espl_status status; // ESPL_OK: `slot` lives, or `maker` will make it
    uint32_t slot;      // ESPL__NO_SLOT for a pending one
    uint32_t maker;     // entry that makes it
    uint32_t pending;   // among all pendings
} espl__operand;

/// A command in playback order.
typedef struct espl__entry {
    const espl__command *command;
    uint32_t lane, index;
    espl__operand target, parent, before;
    espl_status status; // verdict
    uint32_t group;
    uint32_t clone_bound;              // clones it makes at most; 0 where only the plan can tell
    uint32_t clone_begin, clone_count; // nodes it made in its group's sketch
    bool is_out_of_range;              // refused by the search for the command that overflows
} espl__entry;

/// One application of a command's values to a clone; the one before it comes first.
typedef struct espl__value_link {
    uint32_t entry, before;
    uint32_t node; // the clone that the command made; a clone of it has the values too
} espl__value_link;

/// Commands and runs that may depend on each other, and nothing else does.
typedef struct espl__group {
    uint32_t entry_begin, entry_end; // in grouped_entries
    uint32_t run_begin, run_end;     // in grouped_runs
    espl__sketch sketch;
    espl__value_link *values; // stb array
    espl_status status;       // ESPL_ERR_NO_MEMORY: the plan failed
    uint32_t plot_begin, plot_end;
    size_t clones, dead, role_changes, visited; // of the plan
    bool has_side;                              // some node may need side arrays
    bool has_plots; // hierarchies are laid out anew; else values change in place
    bool is_patched;
} espl__group;

/// A run that commands touch.
typedef struct espl__touched_run {
    uint32_t run, group, node; // node of rank 0 in the group's sketch
    bool is_kept;              // some hierarchy of the plan goes on in it
} espl__touched_run;

/// One hierarchy to be: where it will stand.
typedef struct espl__plot {
    uint32_t group, laid;
    uint32_t old_run; // goes on in this run, or ESPL__NO_RUN
    uint32_t run;     // set by patch
    uint32_t base, capacity;
    uint32_t old_base, old_capacity; // given back after the patch where is_moved
    bool is_moved;                   // needs a new range
    espl__side *side, *old_side;
} espl__plot;

/// A clone to be given an id and a row.
typedef struct espl__make {
    uint32_t group, node, source, archetype;
} espl__make;

/// A row that goes to another archetype, or away (ESPL__NONE).
typedef struct espl__row_change {
    uint32_t entity, archetype, chunk, row;
} espl__row_change;

/// A field of a member's clones that refers to an entity.
typedef struct espl__reference {
    espl_component component;
    uint32_t offset;  // in it
    uint32_t kind;    // what it names (references.c): what it holds, a member, another clone
    uint32_t node;    // that member's number, or that clone
    espl_entity held; // the handle that stands in it otherwise
} espl__reference;

/// Copies made by one command: members in the same order in each.
typedef struct espl__reference_batch {
    uint32_t group;
    uint32_t begin, size, copies; // nodes [begin, begin + size * copies)
    uint32_t members;             // of its first member in member_fields
    bool has_new;                 // some field names a clone
} espl__reference_batch;

/// A clone that died in the playback that made it, named all the same.
typedef struct espl__lost_clone {
    uint32_t group, node;
} espl__lost_clone;

typedef struct espl__playback {
    espl__heap *heap;
    espl__store *store;
    espl__forest *forest;
    const espl_executor *executor;
    const espl_hooks *hooks;
    espl__arena arena;
    // Marks by number, all zero between playbacks; stb arrays.
    uint32_t *run_marks;    // touched number + 1
    uint32_t *source_marks; // by entity: bucket + 1
    uint32_t *chunk_marks;  // bucket + 1

    // One playback.
    espl__lane_view *lanes; // [lane_count]
    uint32_t lane_count, tag;
    espl__entry *entries; // [entry_count]
    size_t entry_count;
    uint32_t *pending_entries; // [pending_count] maker
    uint32_t *pending_nodes;   // [pending_count] node in the maker's group, once planned
    size_t pending_count;
    espl__touched_run *touched; // [touched_count]
    size_t touched_count;
    uint32_t *grouped_entries, *grouped_runs;
    espl__group *groups; // [group_count]
    size_t group_count;
    espl__plot *plots; // [plot_count]
    size_t plot_count;
    espl__make *makes; // [make_count] in command order
    size_t make_count;
    uint32_t *make_order;   // [make_count] sorted by source, then as above
    uint32_t *make_indices; // [make_count] scratch of the change stage
    // Commands of commands objects since the world was made; espl_play() adds them up.
    uint64_t accepted, applied, refused;
    espl__row_change *moves, *removals; // [move_count], [removal_count]
    size_t move_count, removal_count;
    // References in clones; empty where none has any.
    espl__reference_batch *batches; // [batch_count] in order of groups
    size_t batch_count;
    uint32_t *member_fields;     // member m has references [member_fields[m], member_fields[m + 1])
    espl__reference *references; // stb array, given back at the end
    espl__lost_clone *lost;      // [lost_count]
    size_t lost_count;
    bool is_strict;         // all commands are done or none: one refused refuses the playback
    uint32_t first_refused; // index of the first command that did, in its lane; or UINT32_MAX
} espl__playback;

void espl__playback_init(espl__playback *playback, espl__heap *heap, espl__store *store,
                         espl__forest *forest, const espl_executor *executor,
                         const espl_hooks *hooks);
void espl__playback_free(espl__playback *playback);
/// Give back what is kept from one playback to the next. Not while one runs.
void espl__playback_trim(espl__playback *playback);
/// Bytes that are kept from one playback to the next, under ESPL__FOR_COMMANDS.
size_t espl__playback_bytes(const espl__playback *playback);

/// Play lanes of commands; none purges what is unsettled. Results, created entities and the
/// report are written when it answers ESPL_OK only.
/// @param tag  of the pending handles.
espl_status espl__playback_run(espl__playback *playback, espl__lane_view *lanes,
                               uint32_t lane_count, uint32_t tag, espl_report *report);

// --- The stages ---

espl_status espl__stage_order(espl__playback *playback);
espl_status espl__stage_classify(espl__playback *playback);
espl_status espl__stage_group(espl__playback *playback);
espl_status espl__stage_plan(espl__playback *playback);
/// Second half of the plan: take all memory that stages 5 and 6 need.
espl_status espl__stage_reserve(espl__playback *playback);
void espl__stage_change(espl__playback *playback);
void espl__stage_patch(espl__playback *playback);
void espl__stage_report(espl__playback *playback, espl_report *report);

/// Carry one command out on its group's sketch (carry.c).
/// @return its verdict, or ESPL_ERR_NO_MEMORY with group->status set as well.
espl_status espl__carry_out(espl__playback *playback, espl__group *group, espl__entry *entry);

// --- Values of instantiate commands (values.c) ---

/// Steps through the values of one command.
typedef struct espl__value_cursor {
    const unsigned char *at;
    uint32_t left;
    espl__value_header header; // of the value at hand
    const unsigned char *bytes;
} espl__value_cursor;

/// Stand before the first value of an instantiate command.
espl__value_cursor espl__values_of(const espl__playback *playback, const espl__entry *entry);
/// Go to the next one; false at the end.
bool espl__values_next(espl__value_cursor *cursor);

/// List the components, each once, that a chain of values gives to a clone. The tag of a prefab
/// does not go on to a clone of a clone: it counts only where the node's own command gives it.
/// @param out  [ESPL_SET_LIMIT] @return how many; ESPL_SET_LIMIT + 1 where there are more.
size_t espl__values_components(const espl__playback *playback, const espl__group *group,
                               uint32_t link, uint32_t node, espl_component *out);
/// Tell whether the components of a node stay within their limit: with a placement or without; where
/// the command instantiates, those of a clone of it with the command's values.
bool espl__values_fit(const espl__playback *playback, const espl__group *group,
                      const espl__entry *entry, const espl__node *node, bool is_placed);
/// Write a chain of values to an entity: oldest first, so that the clone's own command wins.
void espl__values_apply(const espl__playback *playback, const espl__group *group, uint32_t link,
                        uint32_t entity);

// --- Entity references in clones (references.c) ---

/// Tell whether a component of an archetype refers to entities.
bool espl__references_in(const espl__store *store, uint32_t archetype);
/// Work out what the references of all clones name; clones have no handles yet. Part of the plan.
espl_status espl__references_plan(espl__playback *playback);
/// Give handles to clones that live no more but are named by others.
void espl__references_name(espl__playback *playback);
/// Write the references of clones into their rows, and free those handles again.
void espl__references_write(espl__playback *playback);

/// Zero-filled marks for numbers [0, count).
bool espl__marks_reserve(espl__heap *heap, uint32_t **marks, size_t count);

static inline const espl_transform *espl__entry_transform(const espl__playback *playback,
                                                          const espl__entry *entry)
{
    const unsigned char *const payload = playback->lanes[entry->lane].payload;

    return (const espl_transform *)(const void *)(payload + entry->command->payload);
}

static inline const espl_write_value *espl__entry_value(const espl__playback *playback,
                                                        const espl__entry *entry)
{
    const unsigned char *const payload = playback->lanes[entry->lane].payload;

    return (const espl_write_value *)(const void *)(payload + entry->command->payload);
}

#endif
