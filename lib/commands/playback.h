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
    uint32_t *make_order;               // [make_count] sorted by source, then as above
    uint32_t *make_indices;             // [make_count] scratch of the change stage
    espl__row_change *moves, *removals; // [move_count], [removal_count]
    size_t move_count, removal_count;
} espl__playback;

void espl__playback_init(espl__playback *playback, espl__heap *heap, espl__store *store,
                         espl__forest *forest, const espl_executor *executor,
                         const espl_hooks *hooks);
void espl__playback_free(espl__playback *playback);

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

/// List the components, each once, that a chain of values gives to a clone.
/// @param out  [ESPL_SET_LIMIT] @return how many; ESPL_SET_LIMIT + 1 where there are more.
size_t espl__values_components(const espl__playback *playback, const espl__group *group,
                               uint32_t link, espl_component *out);
/// Tell whether a clone of a source may have what a command and a chain of values give it.
bool espl__values_fit(const espl__playback *playback, const espl__group *group,
                      const espl__entry *entry, uint32_t link, uint32_t source);
/// Write a chain of values to an entity: oldest first, so that the clone's own command wins.
void espl__values_apply(const espl__playback *playback, const espl__group *group, uint32_t link,
                        uint32_t entity);

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
