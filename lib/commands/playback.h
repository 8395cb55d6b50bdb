// SPDX-License-Identifier: MIT
// Playback: seven stages over shared scratch, each a file with its name. Stages 1 to 4 read the
// store and the forest and may fail; 5 and 6 change them and cannot.
#ifndef ESPALIER_LIB_COMMANDS_PLAYBACK_H
#define ESPALIER_LIB_COMMANDS_PLAYBACK_H

#include "lib/base/arena.h"
#include "lib/commands/calls.h"
#include "lib/commands/sets.h"
#include "lib/commands/watch.h"
#include "lib/jobs/weights.h"
#include "lib/tree/sketch.h"
#include "lib/tree/splice.h"
#include "lib/tree/writes.h"

/// A lane as playback sees it.
typedef struct espl__lane_view {
    const espl__command *commands;  // [count]
    unsigned char *const *payloads; // blocks; the first is all there is for commands at once
    espl_entity *created;           // [pending_count] out
    espl_status *results;           // [count] out
    size_t count;
    uint32_t pending_count;
    uint32_t call_count;
    // Set by the order stage.
    uint32_t pending_base; // of the lane's pendings among all
    uint32_t command_base; // likewise of its commands
} espl__lane_view;

/// What a handle in a command turned out to be.
typedef struct espl__operand {
    uint32_t number; // its slot; where it is pending, its number among all pendings
    int32_t state;   // ESPL_OK: it lives; ESPL__OPERAND_PENDING; or the espl_status that refuses it
} espl__operand;

/// State of what pending_entries[number] makes. Refusals are below ESPL_OK and this is above it, so
/// that one compare tells each of the three.
enum { ESPL__OPERAND_PENDING = 1 };

/// A command in playback order: one cache line.
typedef struct espl__entry {
    const espl__command *command;
    uint32_t lane, index;
    espl__operand target, parent, before;
    espl_status status; // verdict
    uint32_t group;
    union {
        uint32_t
            clone_bound;     // before the plan: nodes of a clone at most; 0: only the plan can tell
        uint32_t make_begin; // after it: its first clone that lives, among the makes
    };
    union {
        uint32_t recipe;      // before the plan, and of one that is short: its number, or 0
        uint32_t clone_begin; // in its group's sketch
    };
    uint32_t clone_count; // nodes it made
    bool is_out_of_range; // refused by the search for the command that overflows
    bool is_short;        // its group is
    uint8_t traits;       // set by the classify stage
} espl__entry;

_Static_assert(sizeof(espl__operand) == 8, "operand: 4 + 4");
_Static_assert(sizeof(espl__entry) == 64 || sizeof(void *) != 8, "entry: 16 + 24 + 20 + 3, padded");

/// What commands hang together by; arrays by use, for the group stage.
typedef struct espl__ties {
    uint32_t *homes;   // [entry_count] first run that a command writes to, or ESPL__NO_RUN
    uint32_t *sources; // [entry_count] run of the living source of an instantiate, or ESPL__NO_RUN
    bool *are_linking; // [entry_count] names other runs than its home, or a pending entity
    bool *are_writes;  // [entry_count] writes to a living entity
} espl__ties;

/// How copies of one source are made where nothing depends on it (recipes.c).
typedef struct espl__recipe_card {
    espl__recipe tree;
    const uint32_t *entities; // [tree.size] of the source and what goes with it
    // Where all that is made is made by recipe (makes.c, copies.c):
    uint32_t uses[3];     // commands that make one: as a solo, a root, a member
    uint32_t tops[3];     // archetypes of the first node, likewise, or ESPL__NONE
    uint32_t *archetypes; // [tree.size] of the others
    uint32_t top_bins[3]; // what is made at once with the first node
    uint32_t *bins;       // [tree.size] with the others
    uint32_t slot;        // of the source
    uint8_t lost;         // traits that no command has which makes copies of it
} espl__recipe_card;

/// What a group that goes the short way does (short.h).
enum {
    ESPL__SHORT_NOTHING,
    ESPL__SHORT_SPLICE,   ///< copies come below nodes of one run, subtrees of it go
    ESPL__SHORT_BIRTH,    ///< a copy comes by itself
    ESPL__SHORT_END,      ///< a run goes as a whole
    ESPL__SHORT_WRITE,    ///< nodes of one run are written to (written.h)
    ESPL__SHORT_MOVES,    ///< leaves come below other nodes (reparent.h)
    ESPL__SHORT_ASSEMBLY, ///< solos come together into one hierarchy (assemble.h)
};

/// What the plan of a group that is not short is worked out on.
typedef struct espl__work {
    espl__sketch sketch;
    espl__sets sets;               // node->values is one of them, or ESPL__NO_NODE
    espl_status status;            // ESPL_ERR_NO_MEMORY: the plan failed
    uint32_t starts;               // times that the plan began; for tests
    uint32_t plot_begin, plot_end; // its hierarchies to be
    uint32_t role_changes;         // at most, as the plan has it
    bool has_side;                 // some node may need side arrays
} espl__work;

/// Commands and runs that may depend on each other, and nothing else does: one cache line.
typedef struct espl__group {
    uint32_t entry_begin, entry_end; // in grouped_entries
    uint32_t run_begin, run_end;     // in grouped_runs
    uint32_t clones, dead, visited;  // of the plan
    uint32_t removal_begin;          // of its dead, among the removals
    // Of one that is short:
    uint32_t run, base; // of a birth they are set by the patch
    uint32_t size;      // nodes that there will be
    union {
        uint32_t step_begin;
        uint32_t write_begin; // of one that only writes: of its writes, among all such
    };
    union {
        uint8_t step_count;
        bool asks_for_worlds; // of an assembly: some command does
    };
    uint8_t step_room;
    uint8_t does;
    bool is_short;
    bool is_patched;
    bool is_resettled;  // its run goes to another range: `base` is set anew by the patch
    bool only_writes;   // living entities of one run
    bool may_drop_side; // of these: stretch or context may come to be the default
    espl__work *work;   // of one that is short: an empty one that all those share
} espl__group;

_Static_assert(sizeof(espl__group) == 64 || sizeof(void *) != 8, "group: 48 + 8 + 8");
_Static_assert((int)ESPL__SPLICE_EVENTS <= UINT8_MAX, "a group's steps are counted by a byte");

/// A run that commands touch.
typedef struct espl__touched_run {
    uint32_t run, group;
} espl__touched_run;

/// One hierarchy to be: where it will stand.
typedef struct espl__plot {
    uint32_t group, laid;
    uint32_t old_run; // goes on in this run, or ESPL__NO_RUN
    uint32_t run;     // set by patch
    uint32_t base, capacity;
    uint32_t old_base, old_capacity; // given back after the patch where is_moved
    bool is_moved;                   // needs a new range
    bool is_wide;                    // its patch is cut between workers
    espl__side *side, *old_side;
    // Scratch of the patch: ranks whose slots change or come to stand elsewhere, in rank order.
    uint32_t *slots, *sources, *parents, *firsts; // [drafted]
    uint32_t drafted;
    uint64_t cost;  // of its patch, at most
    uint32_t *left; // [left_capacity] slots of the run that nodes left, unless it is_moved
    uint32_t left_count, left_capacity;
} espl__plot;

/// A run of a group that is short, which goes to another range: the one it had.
typedef struct espl__resettled {
    uint32_t group;
    uint32_t old_base, old_capacity; // given back after the patch
} espl__resettled;

/// A write of a group that only writes.
typedef struct espl__written {
    const espl_write_value *value;
    uint32_t entry;
    uint32_t kind; // espl_write_kind
} espl__written;

/// Where the writes of a run are sorted, and then what its walk keeps its spans in.
typedef union espl__written_room {
    uint64_t keys[2];
    espl__span spans[2];
} espl__written_room;

/// Groups that only write, and their writes: arrays by use, group behind group.
typedef struct espl__writing {
    uint32_t *groups; // [group_count]
    size_t group_count, count;
    espl__written *written;      // [count]
    uint32_t *slots;             // [count] in playback order
    uint32_t *numbers, *ranks;   // [count] by rank; before, the ranks in playback order
    espl_status *results;        // [count]
    espl__written_room *rooms;   // [count]
    espl_pose *old_locals;       // [count]
    espl__side_entry *old_sides; // [count]; NULL: no run has side arrays
    size_t short_count;          // groups that are carried out so
} espl__writing;

/// Kind of a clone that has a set of its own, and of one that is created by the short way of assembly;
/// of others, role and placement tell it.
enum { ESPL__MAKE_GIVEN = 6, ESPL__MAKE_ASSEMBLED };

/// A clone to be given an id and a row; one created from nothing has source ESPL__NO_ENTITY.
typedef struct espl__make {
    uint32_t group, node, source, archetype;
} espl__make;

/// Values that one who lived before is given.
typedef struct espl__gift {
    uint32_t entity, group, set;
} espl__gift;

/// A row that goes to another archetype.
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
    uint32_t group, entry;
    uint32_t begin, size, copies; // nodes [begin, begin + size * copies)
    uint32_t members;             // of its first member in member_fields
    bool has_new;                 // some field names a clone
} espl__reference_batch;

/// A clone that died in the playback that made it, named all the same.
typedef struct espl__lost_clone {
    uint32_t group, node;
} espl__lost_clone;

/// Behind the last command of the last group the first one of all stands so often, for loops that take
/// commands in fours.
enum { ESPL__GROUPED_MORE = 3 };

typedef struct espl__playback {
    espl__heap *heap;
    espl__store *store;
    espl__forest *forest;
    const espl_executor *executor;
    const espl_hooks *hooks;
    espl__arena arena;
    espl__callbacks callbacks;
    espl__watch watch;
    // Marks by number, all zero between playbacks; stb arrays.
    uint32_t *run_marks;    // touched number + 1
    uint32_t *slot_marks;   // of the sketches
    uint32_t *source_marks; // by entity, of those that references may name
    uint32_t *chunk_marks;  // bucket + 1

    // One playback.
    espl__lane_view *lanes; // [lane_count]
    uint32_t lane_count, tag;
    espl__entry *entries; // [entry_count]
    size_t entry_count;
    espl_payload *payloads; // [call_count] out: of all calls, by callback; set before a playback
    size_t call_count;
    uint32_t *pending_entries; // [pending_count] maker
    uint32_t *pending_nodes;   // [pending_count] node in the maker's group, once planned
    size_t pending_count;
    espl__ties ties;
    espl__touched_run *touched; // [touched_count]
    size_t touched_count;
    espl__load *loads;          // [touched_count] the same runs, as sketches see them
    espl__recipe_card *recipes; // [recipe_count + 1] by slot_marks of their sources; 0: nobody's
    size_t recipe_count;
    uint32_t *grouped_entries; // [entry_count + ESPL__GROUPED_MORE]
    uint32_t *grouped_runs;
    espl__group *groups; // [group_count]
    size_t group_count;
    espl__splice_step *steps; // of the groups that may be short
    espl__writing writing;
    // NULL: no group goes that way (reparent.h).
    struct espl__reparenting *reparenting;
    struct espl__assembling *assembling; // likewise (assemble.h)
    espl__work *works;                   // [long_count] of the groups that are not short
    uint32_t *long_groups;               // [long_count] those
    size_t long_count;
    espl__work no_work;                     // empty, for all others
    uint32_t *group_weights, *weight_order; // [long_count] for jobs over them
    espl__plot *plots;                      // [plot_count]
    size_t plot_count;
    espl__make *makes; // [make_count] in command order; not listed where are_all_short
    size_t make_count;
    uint8_t *make_kinds;        // [make_count] of their archetypes (makes.c); likewise
    uint32_t *make_order;       // [make_count] sorted by source, then by archetype, then as above
    espl_entity *make_entities; // [make_count] handles, given by the change stage
    uint32_t *make_slots;       // [make_count] where those of short groups stand, told by the patch
    espl__copies *copies;       // [copies_count] what is made at once, in order of make_order
    size_t copies_count;
    // Commands of commands objects since the world was made; espl_play() adds them up.
    uint64_t accepted, applied, refused;
    espl__row_change *moves; // [move_count]
    uint32_t *removals;      // [removal_count] entities
    size_t move_count, removal_count;
    bool *group_moves; // [group_count] some row of the group may go to another archetype
    espl__gift *gifts; // [gift_count]
    size_t gift_count;
    // References in clones; empty where none has any.
    espl__reference_batch *batches; // [batch_count] in order of groups
    size_t batch_count;
    uint32_t *member_fields;     // member m has references [member_fields[m], member_fields[m + 1])
    espl__reference *references; // stb array, given back at the end
    espl__lost_clone *lost;      // [lost_count]
    size_t lost_count;
    bool are_all_short;         // whatever is made is made by recipe
    size_t birth_count;         // groups whose copy comes by itself
    espl__resettled *resettled; // [resettled_count] in order of groups, set by the patch
    size_t resettled_count;
    // Of the report: counted by the end of stage 4, batches of rows by stage 5.
    size_t visited_nodes, rebuilt_nodes, moved_nodes, row_batches;
    bool sketches_all; // no group goes the short way, which tests compare with the long one
    uint32_t wide;     // ranks written that a plot is cut from, ESPL__WIDE; tests make it small
    bool is_strict;    // all commands are done or none: one refused refuses the playback
    uint32_t first_refused; // index of the first command that did, in its lane; or UINT32_MAX
    // NULL, or called when all is reserved, with `moves` as they will be: takes what whoever plays
    // needs behind the playback, which is refused where this is.
    espl_status (*reserve_more)(void *context);
    void *more_context;
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
/// Give back what the plans of groups that are not short took beside the arena.
void espl__works_drop(espl__playback *playback);
/// Second half of the plan: take all memory that stages 5 and 6 need.
espl_status espl__stage_reserve(espl__playback *playback);
void espl__stage_change(espl__playback *playback);
void espl__stage_patch(espl__playback *playback);
void espl__stage_report(espl__playback *playback, espl_report *report);

// --- Calls (calls.c) ---

/// Behind the first stage: take the calls out of the entries and list their payloads.
void espl__calls_take(espl__playback *playback);
/// Part of the last stage: their results, and the sums.
void espl__calls_report(const espl__playback *playback, espl_report *report);
/// Hand the payloads of the playback that is done over to the callbacks.
void espl__calls_hand_over(const espl__playback *playback, espl_world *world,
                           const espl_commands *commands);

// Its parts: clones (makes.c) and their order (copies.c), rows that move or leave (moves.c),
// hierarchies (plots.c).
espl_status espl__list_makes(espl__playback *playback);
espl_status espl__sort_makes(espl__playback *playback);
/// The same where all is made by recipe: nothing is listed but copies.
espl_status espl__sort_copies(espl__playback *playback);
espl_status espl__list_rows(espl__playback *playback);
espl_status espl__lay_plots(espl__playback *playback);

/// Carry one command out on its group's sketch (carry.c).
/// @return its verdict, or ESPL_ERR_NO_MEMORY with group->work->status set as well.
espl_status espl__carry_out(espl__playback *playback, espl__group *group, espl__entry *entry);

// --- Values and component sets (values.c) ---

/// Steps through the values of one command.
typedef struct espl__value_cursor {
    const unsigned char *payload;
    espl__value_layout layout; // up to the next value
    uint32_t left;
    espl__value_header header;  // of the value at hand
    const unsigned char *bytes; // aligned as its component wants it
    bool is_taken;              // no value: the component goes
} espl__value_cursor;

/// Stand before the first value of a command that has some.
espl__value_cursor espl__values_of(const espl__playback *playback, const espl__entry *entry);
/// Go to the next one; false at the end.
bool espl__values_next(espl__value_cursor *cursor);

/// Where a node has no set of its own: the archetype of its row, or of the row that it is a copy
/// of; ESPL__NONE for one created from nothing.
uint32_t espl__components_base(const espl__store *store, const espl__node *node);
/// Count the components that a node has at this moment, beside its role and its placement.
size_t espl__components_count(const espl__playback *playback, const espl__group *group,
                              const espl__node *node);
/// Tell whether it has one of those.
bool espl__components_have(const espl__playback *playback, const espl__group *group,
                           const espl__node *node, espl_component component);
/// Tell whether so many stay within their limit, with a role and perhaps a placement.
bool espl__components_fit(size_t count, bool is_placed);
/// Find or make the archetype of a node that has a set of its own, or was created without one.
/// @param guess  an archetype that may be the one, or ESPL__NONE.
espl_status espl__components_archetype(const espl__playback *playback, const espl__group *group,
                                       const espl__node *node, uint32_t guess, uint32_t *out);

/// Tell whether some component of a set was given a value.
bool espl__values_are_given(const espl__sets *sets, uint32_t set);
/// Write the values that were given to rows side by side, of which an entity's is the first.
void espl__values_fill(const espl__playback *playback, const espl__sets *sets, uint32_t set,
                       const espl__record *first, uint32_t count);
/// Give a group scratch for the sets that its commands make, unless they are many.
bool espl__values_give_slices(espl__playback *playback, espl__group *group);

// --- Entity references in clones (references.c) ---

/// Tell whether a component of an archetype refers to entities.
bool espl__references_in(const espl__store *store, uint32_t archetype);
/// Work out what the references of all clones name; clones have no handles yet. Part of the plan.
espl_status espl__references_plan(espl__playback *playback);
/// Give handles to clones that live no more but are named by others.
void espl__references_name(espl__playback *playback);
/// Write the references of clones into their rows, and free those handles again.
void espl__references_write(espl__playback *playback);

// --- Scratch of a patch (plots.c) ---

/// Words up to which the draft of a group of one plot stands on the stack of its patch: most are as
/// small, and such a place is in the cache.
enum { ESPL__DRAFT_WORDS = 2048 };

static inline size_t espl__plot_words(const espl__plot *plot)
{
    return (size_t)4 * plot->drafted + plot->left_capacity;
}

static inline bool espl__group_drafts_on_stack(const espl__playback *playback,
                                               const espl__group *group)
{
    return group->work->plot_end - group->work->plot_begin == 1 &&
           espl__plot_words(&playback->plots[group->work->plot_begin]) <= ESPL__DRAFT_WORDS;
}

/// What it costs to patch a rank: to shift its links where they are, and to write anything more.
enum { ESPL__SHIFT_COST = 1, ESPL__RANK_COST = 8 };

/// What each rank of a piece costs; 0: it stays as it is.
static inline uint32_t espl__plot_cost(const espl__plot *plot, const espl__laid *laid,
                                       const espl__piece *piece)
{
    const bool is_written = plot->is_moved || plot->side != NULL || plot->old_side != NULL ||
                            !espl__piece_stays(piece, laid) || piece->node != ESPL__NO_NODE ||
                            piece->worlds != ESPL__NO_NODE;
    const bool is_shifted = piece->parents != 0 || piece->firsts != 0;

    return is_written ? ESPL__RANK_COST : is_shifted ? ESPL__SHIFT_COST : 0;
}

/// Ranks written from which a plot is cut between workers, where its cost is a fair part of all.
#ifdef ESPL_SHRUNKEN
enum { ESPL__WIDE = 8 };
#else
enum { ESPL__WIDE = 65536 };
#endif

/// Let a plot draft in so many words.
void espl__plot_use(espl__plot *plot, uint32_t *words);

/// The i-th command of a group.
static inline espl__entry *espl__group_entry(const espl__playback *playback,
                                             const espl__group *group, uint32_t i)
{
    return &playback->entries[playback->grouped_entries[group->entry_begin + i]];
}

static inline uint32_t espl__group_size(const espl__group *group)
{
    return group->entry_end - group->entry_begin;
}

static inline bool espl__operand_is_living(const espl__operand *operand)
{
    return operand->state == ESPL_OK;
}

static inline bool espl__operand_is_pending(const espl__operand *operand)
{
    return operand->state == ESPL__OPERAND_PENDING;
}

/// Tell whether it lives, or a command makes it.
static inline bool espl__operand_is_known(const espl__operand *operand)
{
    return operand->state >= ESPL_OK;
}

/// Tell whether a command clones a source that it names.
static inline bool espl__entry_instantiates(const espl__entry *entry)
{
    return entry->command->kind == ESPL__COMMAND_INSTANTIATE;
}

/// Zero-filled marks for numbers [0, count).
bool espl__marks_reserve(espl__heap *heap, uint32_t **marks, size_t count);

static inline bool espl__node_is_dead(const espl__node *node)
{
    return (node->flags & ESPL__NODE_DEAD) != 0;
}

static inline bool espl__node_is_clone(const espl__node *node)
{
    return (node->flags & ESPL__NODE_CLONE) != 0;
}

static inline bool espl__node_is_placed(const espl__node *node)
{
    return (node->flags & ESPL__NODE_PASS) == 0;
}

static inline espl_component espl__node_role(const espl__node *node)
{
    if (node->parent != ESPL__NO_NODE) {
        return ESPL_MEMBER;
    }
    return node->first != ESPL__NO_NODE ? ESPL_ROOT : ESPL_SOLO;
}

/// The payload of a command that has one.
static inline const unsigned char *espl__entry_payload(const espl__playback *playback,
                                                       const espl__entry *entry)
{
    return espl__payload_at(playback->lanes[entry->lane].payloads, entry->command->payload);
}

static inline const espl_transform *espl__entry_transform(const espl__playback *playback,
                                                          const espl__entry *entry)
{
    return (const espl_transform *)(const void *)espl__entry_payload(playback, entry);
}

static inline const espl_write_value *espl__entry_value(const espl__playback *playback,
                                                        const espl__entry *entry)
{
    return (const espl_write_value *)(const void *)espl__entry_payload(playback, entry);
}

#endif
