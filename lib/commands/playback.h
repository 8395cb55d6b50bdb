// SPDX-License-Identifier: MIT
// Playback: recorded commands are carried out in order on the trees themselves, in seven stages, each a
// file with its name. Stages 1 to 4 may fail, and leave the world as it was then; 5 to 7 cannot.
//
//     1 order    commands of all lanes in one order
//     2 resolve  handles to slots, sources to templates
//     3 group    commands that touch the same trees
//     4 apply    each group's commands in order, with an undo log; groups side by side
//       reserve  all memory for what follows
//     5 change   entity ids and rows
//     6 place    nodes to their final slots, worlds up to date
//     7 report
//
// An immediate structural call is the same with one group of one command.
#ifndef ESPALIER_LIB_COMMANDS_PLAYBACK_H
#define ESPALIER_LIB_COMMANDS_PLAYBACK_H

#include "lib/base/arena.h"
#include "lib/commands/calls.h"
#include "lib/commands/sets.h"
#include "lib/commands/watch.h"
#include "lib/jobs/ranges.h"
#include "lib/tree/edit.h"

/// A lane as playback sees it.
typedef struct espl__lane_view {
    const espl__command *commands;  // [count]
    unsigned char *const *payloads; // blocks; the first is all there is for immediate calls
    espl_entity *created;           // [pending_count] out
    espl_status *results;           // [count] out
    size_t count;
    uint32_t pending_count;
    uint32_t call_count;
    // Set by the order stage.
    uint32_t pending_base; // of the lane's pending handles among all
    uint32_t command_base; // likewise of its commands
} espl__lane_view;

/// What a handle in a command names.
typedef struct espl__operand {
    uint32_t number; // its slot; of a pending handle its number among all of them
    int32_t state;   // ESPL_OK: it lives; ESPL__OPERAND_PENDING; else the espl_status that refuses it
} espl__operand;

/// State of a pending handle: above ESPL_OK, and refusals are below, so that one compare tells each.
enum { ESPL__OPERAND_PENDING = 1 };

/// A command in playback order: one cache line.
typedef struct espl__entry {
    const espl__command *command;
    uint32_t lane, index;
    espl__operand target, parent, before;
    espl_status status; // verdict
    uint32_t group;
    uint32_t template;   // instantiate from a source that nobody edits: number + 1; else 0
    uint32_t made_begin; // number of the first node it made, in its part
    uint32_t made_count; // nodes it made; until it is applied: nodes it makes at most
    uint32_t part;       // that its group is applied in
} espl__entry;

_Static_assert(sizeof(espl__entry) == 64 || sizeof(void *) != 8, "entry: one cache line");

/// Commands and trees that may depend on each other, and nothing else does.
typedef struct espl__group {
    uint32_t entry_begin, entry_end; // in grouped_entries
    uint32_t nursery, nursery_end;   // slots for what it makes
    bool is_alone; // it copies what it edits: applied after the others
} espl__group;

/// A tree that commands touch.
typedef struct espl__touched_tree {
    uint32_t tree, group;
    uint32_t coming; // new nodes that commands place below its nodes, at most
} espl__touched_tree;

/// A source that nobody edits in this playback: its closure is found once.
typedef struct espl__source {
    espl__template tree;
    uint32_t slot;
    uint32_t first_bucket; // in known_buckets, of the copies of its first node
} espl__source;

/// What the playback knows of a made node, by the number that its edit gave it.
typedef struct espl__made_info {
    uint32_t set;   // in the sets of the part, or ESPL__NONE: it has what its source has
    uint32_t first_bucket; // in known_buckets, if no command edits its source; else ESPL__NONE
} espl__made_info;

/// A living node whose component set was changed by a command.
typedef struct espl__note {
    uint32_t slot, set;
} espl__note;

/// What one thread applies: some consecutive groups. Lists are in the order of groups, so that all parts
/// one behind the other are in that order however many there are.
typedef struct espl__part {
    espl__edit edit;
    espl__sets sets;
    espl__made_info *made; // stb array, beside edit.made
    espl__note *notes;     // stb array
    uint32_t group_begin, group_end; // of the last part, which is applied alone: all groups
    uint32_t number;
    bool is_placed;
} espl__part;

/// Parts at most, and commands of a part at least: fewer are applied sooner than another worker wakes up.
enum { ESPL__PARTS = 64, ESPL__PART_ENTRIES = 1024 };

/// A row that goes to another archetype.
typedef struct espl__row_change {
    uint32_t entity, archetype, chunk, row;
} espl__row_change;

/// A living entity whose given values are written once its row has moved.
typedef struct espl__given_values {
    uint32_t entity, part, set;
} espl__given_values;

/// A made node that lives, in the order in which ids are dealt.
typedef struct espl__make {
    uint32_t slot;
    uint32_t bucket; // of its source and archetype
} espl__make;

struct espl__references;

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
    uint32_t *note_marks;   // by slot: number of a note + 1, in the part of its tree
    uint32_t *entity_marks; // by entity, for references
    uint32_t *chunk_marks;  // bucket + 1
    espl__part *parts[ESPL__PARTS]; // made when first used; kept
    uint32_t part_count;            // of this playback
    size_t usual_bytes;             // of the items in the lists of all parts, a moving average

    // One playback; all in the arena.
    espl__lane_view *lanes; // [lane_count]
    uint32_t lane_count, tag;
    espl__entry *entries; // [entry_count]
    size_t entry_count;
    espl_custom_payload
        *payloads; // [call_count] out: of all calls, by callback; set before a playback
    size_t call_count, delivered_count; // the calls that no callback gets stand behind the others
    uint32_t *pending_entries; // [pending_count] the command that makes it
    uint32_t *pending_slots;   // [pending_count] once made; else ESPL__NO_SLOT
    size_t pending_count;
    uint32_t *homes;        // [entry_count] first tree that a command writes to, or ESPL__NO_TREE
    bool *are_linking;      // [entry_count] it names other trees than its home, or a pending entity
    bool wants_side;        // some new node may have something in side arrays
    bool changes_sets;      // some command changes component sets
    espl__touched_tree *touched; // [touched_count]
    size_t touched_count;
    espl__source *sources; // stb array
    // Buckets of copies by node of a source and kind; ESPL__NONE: not looked up.
    uint32_t *known_buckets; // [ESPL__COPY_KINDS * nodes of all sources]
    uint32_t *grouped_entries; // [entry_count]
    espl__group *groups;       // [group_count]
    size_t group_count;
    uint32_t nursery_begin, nursery_end;
    bool nursery_is_new; // its header was taken behind all others
    espl__make *makes;          // [make_count]
    uint32_t *make_order;       // [make_count] sorted by bucket
    espl_entity *make_entities; // [make_count]
    espl__copies *copies;       // [copies_count] by bucket
    size_t make_count, copies_count;
    espl__row_change *moves;       // [move_count]
    uint32_t *removals;            // [removal_count] entities
    espl__given_values *given;     // [given_count]
    size_t move_count, removal_count, given_count;
    struct espl__references *references; // NULL: no made node refers to entities
    // Commands of command buffers since the world was made; espl_play() adds them up.
    uint64_t accepted, applied, refused;
    // Of the report.
    size_t moved_nodes, row_batches;
    uint64_t layouts_before; // nodes laid out before this playback
    uint32_t part_entries;  // commands of a part at least: ESPL__PART_ENTRIES, but for tests
    uint32_t root_tree;     // ESPL__NO_TREE, or a range whose roots get their roles and their own ranges
    bool is_strict;         // all commands are done or none: one refused refuses the playback
    uint32_t first_refused; // index of the first command that did, in its lane; or UINT32_MAX
    // NULL, or called when all is reserved, with `moves` as they will be: takes the memory that the
    // caller needs behind the playback, which is refused where this is.
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

/// Play lanes of commands. Results, created entities and the report are written when it answers ESPL_OK
/// only.
/// @param tag  of the pending handles.
espl_status espl__playback_run(espl__playback *playback, espl__lane_view *lanes,
                               uint32_t lane_count, uint32_t tag, espl_report *report);

// --- The stages ---

espl_status espl__stage_order(espl__playback *playback);
espl_status espl__stage_resolve(espl__playback *playback);
espl_status espl__stage_group(espl__playback *playback);
espl_status espl__stage_apply(espl__playback *playback);
/// Take all memory that stages 5 and 6 need.
espl_status espl__stage_reserve(espl__playback *playback);
void espl__stage_change(espl__playback *playback);
void espl__stage_place(espl__playback *playback);
void espl__stage_report(espl__playback *playback, espl_report *report);

// --- Calls (calls.c) ---

/// Behind the first stage: take the calls out of the entries and list their payloads.
void espl__calls_take(espl__playback *playback);
/// Part of the last stage: their results, and the sums.
void espl__calls_report(const espl__playback *playback, espl_report *report);
/// Hand the payloads of the playback that is done over to the callbacks.
/// @param count  as the report has it: what was settled behind the playback was a playback of its own,
///               without calls.
void espl__calls_hand_over(const espl__playback *playback, espl_world *world,
                           const espl_command_buffer *commands, size_t count);

// --- Parts and the nursery (apply_stage.c) ---

/// A part with empty lists. NULL: no memory.
espl__part *espl__playback_part(espl__playback *playback, uint32_t number);
/// Give the header of the nursery back; where everything was undone, its slots too.
void espl__nursery_close(espl__playback *playback, bool is_undone);

// --- Rows (rows.c) ---

/// List the made nodes that live, the rows that move or go, and the values that are given, with their
/// archetypes. Part of the reserve stage.
espl_status espl__list_rows(espl__playback *playback);

// --- One command (apply.c) ---

/// A command under way, and where it is applied.
typedef struct espl__apply {
    espl__playback *playback;
    espl__part *part;
    espl__edit *edit; // the part's
    espl__entry *entry;
    const espl__command *command;
    bool is_alone; // nothing else is applied meanwhile
} espl__apply;

/// Number of the command in playback order.
static inline uint32_t espl__apply_number(const espl__apply *a)
{
    return (uint32_t)(a->entry - a->playback->entries);
}

/// Note that memory ran out, so that the playback is taken back, and say so.
static inline espl_status espl__apply_no_memory(espl__apply *a)
{
    a->edit->status = ESPL_ERR_NO_MEMORY;
    return ESPL_ERR_NO_MEMORY;
}

/// The slot that an operand names at this moment of the playback.
/// @return ESPL_OK, ESPL_ERR_DEAD, or the status that refuses the operand.
espl_status espl__apply_find(const espl__apply *a, const espl__operand *operand, uint32_t *slot);

// Commands that change components (changes.c).
espl_status espl__apply_change(espl__apply *a);
espl_status espl__apply_set(espl__apply *a);
espl_status espl__apply_enable(espl__apply *a);
espl_status espl__apply_disable(espl__apply *a);
/// What becomes of the transform in a change of components (apply.c): it comes or goes.
espl_status espl__apply_place(espl__apply *a);
espl_status espl__apply_unplace(espl__apply *a);

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

/// The set that a node has of its own at this moment, or ESPL__NONE.
uint32_t espl__components_set_of(const espl__playback *playback, const espl__part *part,
                                 uint32_t slot);
/// Where a node has no set of its own: the archetype of its row, or of the row that it is a copy of;
/// ESPL__NONE for one made from nothing.
uint32_t espl__components_base(const espl__playback *playback, const espl__part *part,
                               uint32_t slot);
/// Count the components that a node has at this moment, beside its role and its transform.
size_t espl__components_count(const espl__playback *playback, const espl__part *part,
                              uint32_t slot);
/// Tell whether it has one of those.
bool espl__components_have(const espl__playback *playback, const espl__part *part, uint32_t slot,
                           espl_component component);
/// Tell whether so many stay within their limit, with a role and perhaps a transform.
bool espl__components_fit(size_t count, bool has_transform);
/// See that a node has a set of its own, not shared, with room for more components.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY.
espl_status espl__components_open(espl__apply *a, uint32_t slot, size_t more);
/// Have a node own a set from now on. @return ESPL_OK, ESPL_ERR_NO_MEMORY.
espl_status espl__components_give(espl__apply *a, uint32_t slot, uint32_t set);
/// The set that a copy of a node gets, or ESPL__NONE: without the tag of a prefab, shared.
espl_status espl__components_share(espl__apply *a, uint32_t slot, uint32_t *out);
/// A set with the values of the command on top of a shared one, or of what copies of a row of the
/// archetype `base` have (ESPL__NONE: nothing); without values `before` itself. It may have too many
/// components.
espl_status espl__components_make(espl__apply *a, uint32_t before, uint32_t base, uint32_t *out);
/// Find or make the archetype of a node with a set (or ESPL__NONE: an empty one), role and transform.
/// @param guess  an archetype that may be the one, or ESPL__NONE.
espl_status espl__components_archetype(const espl__playback *playback, const espl__part *part,
                                       uint32_t set, espl_component role, bool has_transform,
                                       uint32_t guess, uint32_t *out);
/// Tell whether some component of a set was given a value.
bool espl__values_are_given(const espl__sets *sets, uint32_t set);
/// Write the values that were given to rows side by side, of which an entity's is the first.
void espl__values_fill(const espl__playback *playback, const espl__sets *sets, uint32_t set,
                       const espl__record *first, uint32_t count);

// --- Entity references in clones (references.c) ---

/// Tell whether a component of an archetype refers to entities.
bool espl__references_in(const espl__store *store, uint32_t archetype);
/// Work out what the references of all made nodes name; they have no handles yet. Part of the reserve
/// stage, once makes are listed.
espl_status espl__references_plan(espl__playback *playback);
/// Nodes that died in the playback that made them and are named all the same: they need an entity.
size_t espl__references_lost(const espl__playback *playback);
/// Give those entities.
void espl__references_name(espl__playback *playback);
/// Write the references of made nodes into their rows, and free those entities again.
void espl__references_write(espl__playback *playback);
/// Give back what the plan took.
void espl__references_drop(espl__playback *playback);

// --- Small things ---

static inline bool espl__operand_is_living(const espl__operand *operand)
{
    return operand->state == ESPL_OK;
}

static inline bool espl__operand_is_pending(const espl__operand *operand)
{
    return operand->state == ESPL__OPERAND_PENDING;
}

/// Zero-filled marks for numbers [0, count).
bool espl__marks_reserve(espl__heap *heap, uint32_t **marks, size_t count);

/// Tell whether a node was made by this playback.
static inline bool espl__slot_is_made(const espl__forest *forest, uint32_t slot)
{
    const uint32_t entity = forest->links[slot].entity;

    return entity >= ESPL__MADE && entity != ESPL__NO_ENTITY;
}

/// Number of a made node in its part.
static inline uint32_t espl__made_number(const espl__forest *forest, uint32_t slot)
{
    return forest->links[slot].entity & ~ESPL__MADE;
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
