// SPDX-License-Identifier: MIT
// The data of a playback: its request, the output of each stage, and what the stages share.
//
// Each stage is a function in a file of its own. It writes one output and takes the outputs of
// earlier stages as const pointers; stages.h declares the stages with their inputs. Only playback.c
// has all outputs together.
//
//     stage      output           what else it writes
//     1 order    espl__ordered    -
//     2 resolve  espl__resolved   -
//     3 group    espl__grouped    forest: marks of touched trees, cleared when the playback ends
//     4 apply    espl__applied    forest: links, transforms, new nodes; each edit is in an undo log
//       reserve  espl__planned    store: archetypes, capacity for rows; forest: free ranges
//     5 change   espl__changed    store: entities and rows; forest: entities of new nodes
//     6 place    -                forest: nodes move to their final slots, worlds are up to date
//     7 report   espl_report      the results of the commands
//
// Some records are shared on purpose, because splitting them would add cache misses: `espl__entry`
// has fields of four stages, the homes and groups of two, and the places of `espl__copies` in the
// plan are written by the change stage. The field comments say which stage writes what.
#ifndef ESPALIER_LIB_COMMANDS_STAGE_DATA_H
#define ESPALIER_LIB_COMMANDS_STAGE_DATA_H

#include "lib/base/arena.h"
#include "lib/commands/component_sets.h"
#include "lib/tree/edit.h"

// --- The input of a playback ---

/// One lane of a playback.
typedef struct espl__lane_view {
    const espl__command *commands;  // [count]
    unsigned char *const *payloads; // blocks of the lane: see espl__payload_at()
    espl_entity *created;           // [pending_count] out: written by the change stage
    espl_status *results;           // [count] out: written by the report stage
    size_t count;
    uint32_t pending_count;
    uint32_t custom_count; // custom commands among the commands
    unsigned traits;       // ESPL__LANE_ bits of the commands
} espl__lane_view;

/// What to play. Constant during the playback.
typedef struct espl__play_request {
    const espl__lane_view *lanes; // [lane_count]
    uint32_t lane_count;
    uint32_t tag;       // of the pending handles of the lanes, or ESPL__NO_TAG
    bool is_strict;     // one command that is refused refuses the whole playback
    // [sum of custom_count] out: payloads of the custom commands, written by the order stage.
    espl_custom_payload *custom_payloads;
} espl__play_request;

// --- The order stage ---

/// What a handle in a command names.
typedef struct espl__operand {
    uint32_t number; // its slot; of a pending handle its number among those of all lanes
    int32_t state;   // ESPL_OK: alive; ESPL__OPERAND_PENDING; below: the status that refuses it
} espl__operand;

/// State of a pending handle: above ESPL_OK, while refusals are below, so that one compare tells
/// each.
enum { ESPL__OPERAND_PENDING = 1 };

/// A command in playback order: one cache line, because the apply stage reads commands in random
/// order.
typedef struct espl__entry {
    // Written by the order stage.
    const espl__command *command;
    uint32_t lane, index; // where the command was recorded
    // Written by the resolve stage.
    espl__operand target, parent, before;
    // Written by the group stage.
    uint32_t template; // instantiate from a source that no command edits: its number + 1; else 0
    // Written by the apply stage.
    espl_status status;  // verdict
    uint32_t made_begin; // number of the first node that the command made, in its part
    uint32_t made_count; // nodes that it made; before it is applied: an upper bound
    uint32_t part;       // in which the command was applied
} espl__entry;

_Static_assert(sizeof(espl__entry) == 64 || sizeof(void *) != 8, "entry: one cache line");

/// Where the numbers of a lane begin among those of all lanes.
typedef struct espl__lane_base {
    uint32_t commands, pendings;
} espl__lane_base;

/// Output of the order stage.
typedef struct espl__ordered {
    espl__entry *entries; // [entry_count] by key, then lane, then index; without custom commands
    size_t entry_count;
    const espl__lane_base *bases; // [lane_count]
    size_t pending_count;         // of all lanes
    // Custom commands. Payloads whose custom command was unregistered come after the delivered
    // ones.
    size_t custom_count, delivered_count;
} espl__ordered;

// --- The resolve stage ---

/// What a command names besides its home.
enum {
    ESPL__LINKS_TREE = 1,   ///< another tree
    ESPL__LINKS_PENDING = 2 ///< a pending entity
};

/// The first node that a command writes to.
typedef struct espl__home {
    uint32_t tree, slot; // ESPL__NO_TREE and ESPL__NO_SLOT: no operand lives
    uint32_t is_linking; // ESPL__LINKS_ bits: what the command names besides
    uint32_t group;      // of the command; written by the group stage
} espl__home;

/// Output of the resolve stage, besides the operands in the entries.
typedef struct espl__resolved {
    const uint32_t *pending_entries; // [pending_count] entry of the command that makes the entity
    espl__home *homes;               // [entry_count]
    bool wants_side;                 // a new node may have something in side arrays
    bool changes_sets;               // a command may change component sets
} espl__resolved;

// --- The group stage ---

/// Commands that may depend on each other. No command depends on one of another group.
typedef struct espl__group {
    uint32_t entry_begin, entry_end; // in espl__grouped.queue
    // Written by the apply stage: the slots of the nursery for new nodes of the group. `nursery` is
    // ESPL__NO_SLOT where the group copies what it edits: it is applied after the others, alone.
    uint32_t nursery, nursery_end;
    uint32_t created; // nodes that its commands may create outside of living trees
    uint32_t spare;   // slots of the nursery for the room of new trees
} espl__group;

static inline bool espl__group_is_alone(const espl__group *group)
{
    return group->nursery == ESPL__NO_SLOT;
}

/// A command in the order in which commands are applied.
typedef struct espl__queued {
    uint32_t entry;      // its number in playback order
    uint32_t tree, slot; // of its home, for prefetches
} espl__queued;

/// A source that no command of the playback edits: its closure is found once, and all groups read
/// it.
typedef struct espl__source {
    espl__template tree;
    uint32_t slot;
    uint32_t first_bucket; // of the copies of its first node: see espl__made_info
} espl__source;

/// Output of the group stage. While the playback runs, espl__tree.mark of a tree that commands touch
/// is its element + 1, and 0 of any other tree. Elements are numbered in stage_group.c.
typedef struct espl__grouped {
    const uint32_t *touched; // [touched_count] trees that commands touch
    size_t touched_count;
    size_t element_count;        // trees that commands touch, and commands that touch none
    const espl__source *sources; // [source_count]
    size_t source_count;
    size_t bucket_count;       // ESPL__COPY_KINDS for each node of each source
    const espl__queued *queue; // [entry_count] by group, in playback order in each
    espl__group *groups;       // [group_count] in the order of their first commands
    size_t group_count;
    bool wants_side; // a node of a source may have something in side arrays
} espl__grouped;

// --- The apply stage ---

/// What the playback knows of a made node, by the number that the edit gave it. `kind` is written when
/// its group has been applied: no other group changes the node.
typedef struct espl__made_info {
    uint32_t set; // in the sets of the part; ESPL__NONE: the set of its source
    // Of the copies of its source, one bucket for each kind of copy, if no command edits the source
    // and the node has no set of its own; else ESPL__NONE.
    uint32_t first_bucket;
    uint32_t kind; // of the copy: see espl__slot_kind(); ESPL__COPY_KINDS: the node died
} espl__made_info;

/// A node that lived before, and whose component set a command changed.
typedef struct espl__node_set {
    uint32_t slot, set;
} espl__node_set;

/// The last set that a command made for a node without one. Nodes of the same archetype that get the same
/// change share it.
typedef struct espl__recent_set {
    const espl__entry *entry; // of the command; NULL: there is none yet
    uint32_t base, set;       // archetype before the change, and the set
    bool is_made;             // of a node that this playback made: a copy loses ESPL_PREFAB
} espl__recent_set;

/// What one worker applies: consecutive groups, with the edit that all of them share. Lists are in
/// the order of the groups, so that the lists of all parts, one after the other, do not depend on
/// how the groups are divided.
typedef struct espl__part {
    espl__edit edit;
    espl__sets sets;
    espl__recent_set recent;
    espl__made_info *made;     // stb array, parallel to edit.made
    espl__node_set *node_sets; // stb array
    espl__store *store;
    uint32_t *set_marks; // by slot: number in node_sets + 1, or 0. NULL: no command changes sets
    uint32_t group_begin, group_end; // of the last part, which is applied alone: all groups
    uint32_t number;
    unsigned seen; // all bits that are set in some status of its commands
} espl__part;

/// Parts at most, and commands of a part at least. Fewer commands than ESPL__DIVIDED_ENTRIES are one
/// part, because their entries and trees would move to the caches of other workers and back, which
/// takes as long as the workers save.
enum { ESPL__PARTS = 64, ESPL__PART_ENTRIES = 512, ESPL__DIVIDED_ENTRIES = 3584 };

/// Slots at the end of the pool for new nodes that find no room in the range of their parent. They
/// belong to forest->nursery, a tree header of the playback. {0}: there is none.
typedef struct espl__nursery {
    uint32_t begin, end;
    bool is_new;   // its header was taken after all others
    bool has_side; // it has side arrays
} espl__nursery;

/// Output of the apply stage. The trees are as the commands leave them; the stages that follow
/// bring the store up to date.
typedef struct espl__applied {
    espl__part *const *parts; // [part_count]
    uint32_t part_count;
    uint32_t *pending_slots; // [pending_count] of the made entity, or ESPL__NO_SLOT
    uint32_t *coming;        // [element_count] new nodes that come to a touched tree, upper bound
    espl__nursery nursery;
    uint32_t first_refused; // strict: index of the first refused command in its lane, or UINT32_MAX
} espl__applied;

// --- The reserve stage ---

/// A row that moves to another archetype.
typedef struct espl__row_move {
    uint32_t entity, archetype, chunk, row;
} espl__row_move;

/// A living entity that commands gave values, which are written once its row has moved.
typedef struct espl__given_values {
    uint32_t entity, part, set;
    bool repeats; // the entry before has the same values, from one payload
} espl__given_values;

struct espl__references;

/// Output of the reserve stage: all changes of the store, with their memory taken. A make is a made
/// node that lives. Makes are numbered in the order in which they get their entities.
typedef struct espl__planned {
    uint32_t *make_slots; // [make_count]
    uint32_t *make_order; // [make_count] numbers of makes by bucket
    espl__copies *copies; // [copies_count] by bucket; their places are written by the change stage
    size_t make_count, copies_count;
    size_t made_count;         // nodes that commands made; make_count of them live in the end
    espl__row_move *moves;     // [move_count] by chunk, then archetype, then row
    uint32_t *removals;        // [removal_count] entities
    espl__given_values *given; // [given_count]
    size_t move_count, removal_count, given_count;
    struct espl__references *references; // NULL: no made node refers to entities
} espl__planned;

// --- The change stage ---

/// Output of the change stage. Its memory is taken by the reserve stage, because the change stage
/// cannot fail.
typedef struct espl__changed {
    espl_entity *entities; // [make_count] of the makes
    size_t row_batches;
} espl__changed;

// --- All stages ---

/// Memory that is kept from one playback to the next.
typedef struct espl__playback_memory {
    espl__part *parts[ESPL__PARTS]; // NULL: not needed so far
    size_t usual_bytes;             // of the items in the lists of all parts: a moving average
    espl__source *sources;          // stb array, empty between playbacks; of the group stage
    // Marks by number, all 0 between playbacks. stb arrays.
    uint32_t *set_marks;    // by slot; of the apply stage: see espl__part.set_marks
    uint32_t *entity_marks; // by entity; of the reserve stage (clone_references.c)
    uint32_t *chunk_marks;  // by chunk; of the reserve stage (row_plan.c)
} espl__playback_memory;

/// What each stage may use besides its input and its output.
typedef struct espl__stage_context {
    espl__heap *heap;
    espl__store *store;
    espl__forest *forest;
    const espl_executor *executor; // the workers
    const espl_hooks *hooks;
    espl__arena arena; // outputs and scratch of one playback; emptied when it ends
    espl__playback_memory memory;
    // ESPL__PART_ENTRIES and ESPL__DIVIDED_ENTRIES, except in tests.
    uint32_t part_entries, divided_entries;
} espl__stage_context;

// --- Accessors ---

static inline bool espl__operand_is_living(const espl__operand *operand)
{
    return operand->state == ESPL_OK;
}

static inline bool espl__operand_is_pending(const espl__operand *operand)
{
    return operand->state == ESPL__OPERAND_PENDING;
}

/// Tell whether the node at a slot was made by the playback under way.
static inline bool espl__slot_is_made(const espl__forest *forest, uint32_t slot)
{
    const uint32_t entity = forest->links[slot].entity;

    return entity >= ESPL__MADE && entity != ESPL__NO_ENTITY;
}

/// Number of a made node in its part. Precondition: espl__slot_is_made().
static inline uint32_t espl__made_number(const espl__forest *forest, uint32_t slot)
{
    ESPL_CHECK_FULL(espl__slot_is_made(forest, slot));
    return forest->links[slot].entity & ~ESPL__MADE;
}

/// The kind of a copy, below ESPL__COPY_KINDS: its role, and whether it has a transform.
static inline uint32_t espl__slot_kind(const espl__forest *forest, uint32_t slot)
{
    return (uint32_t)(espl__slot_role(forest, slot) - ESPL_SOLO) * 2 +
           (espl__slot_is(forest, slot, ESPL__SLOT_BARE) ? 0u : 1u);
}

/// The payload of a command that has one.
static inline const unsigned char *espl__entry_payload(const espl__lane_view *lanes,
                                                       const espl__entry *entry)
{
    return espl__payload_at(lanes[entry->lane].payloads, entry->command->payload);
}

/// The transform at the begin of a payload.
static inline const espl_transform *espl__entry_transform(const espl__lane_view *lanes,
                                                          const espl__entry *entry)
{
    return (const espl_transform *)(const void *)espl__entry_payload(lanes, entry);
}

/// The payload of a write.
static inline const espl_write_value *espl__entry_value(const espl__lane_view *lanes,
                                                        const espl__entry *entry)
{
    ESPL_CHECK_FULL(entry->command->kind == ESPL__COMMAND_WRITE);
    return (const espl_write_value *)(const void *)espl__entry_payload(lanes, entry);
}

#endif
