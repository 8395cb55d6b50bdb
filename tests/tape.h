// SPDX-License-Identifier: MIT
// One operation language for many drivers. A tape makes operations, bad input among them, from
// records of a few bytes each, and carries them out on the model; a seed gives the style, and the
// records if the caller gives none. A side is a world under test with the handles of the model's
// nodes, which carries the same operations out immediately or records them.
#ifndef ESPALIER_TESTS_TAPE_H
#define ESPALIER_TESTS_TAPE_H

#include "tests/draws.h"
#include "tests/forms.h"
#include "tests/model.h"
#include "tests/support.h"

#include <espalier/counterpart.h>
#include <espalier/renderables.h>

typedef enum opcode {
    OP_CREATE,
    OP_ATTACH,
    OP_DETACH,
    OP_DESTROY,
    OP_DESTROY_SUBTREE,
    OP_DESTROY_ONLY,
    OP_INSTANTIATE,
    OP_INSTANCE, // with all that espl_instance_def says
    OP_SET_LOCAL,
    OP_SET_WORLD,
    OP_WRITE, // of any kind, in any form
    OP_LOOK_AT,
    OP_ROTATE_ABOUT,
    OP_SET_INHERIT,
    OP_BATCH, // of the tape's entries
    OP_SET_SIBLING,
    OP_PLACE,   // give a placement
    OP_UNPLACE, // take it away
    OP_ENABLE,
    OP_DISABLE,
    OP_CHANGE,       // components of the tape's named nodes
    OP_CHANGE_QUERY, // components of all that answer
    OP_ATTACH_MANY,  // the tape's named nodes: children, then their parents
    OP_DESTROY_MANY, // the tape's named nodes
    OP_CLEAR,
    OP_NAME,
    OP_TRIM,
    // The rest comes from tape_next_recorded() only.
    OP_CREATION,   // with all that espl_creation_def says
    OP_CHANGE_ONE, // components of the operand
    OP_SET,        // the value of one component
    OP_CALL,       // of a side's callback
    // A step of motion, a present or a collect, of tape_next() and between batches.
    OP_STEP,
    OPCODE_COUNT
} opcode;

// An operand is a node of the model, dead or alive, MODEL_NONE, MODEL_DEAD, MODEL_FOREIGN, or:
#define TAPE_ALIEN MODEL_ALIEN
#define TAPE_PENDING ((uint32_t)1 << 31) // plus a number: pending of this batch

enum { TAPE_COUNT_LIMIT = 8 }; // clones of one operation

/// Ways to give and take components. One that does not fit is espl_change_components_array().
typedef enum change_form { CHANGE_ONE, CHANGE_SINGLE, CHANGE_ARRAY, CHANGE_FORM_COUNT } change_form;

/// What an OP_STEP does.
typedef enum tape_step {
    STEP_START, // motion
    STEP_STOP,
    STEP_BEGIN, // a tick
    STEP_END,
    STEP_PRESENT,
    STEP_COLLECT, // of a watch
    // The rest comes in tapes of some seeds, each family by itself.
    STEP_DRESS,    // components of renderables
    STEP_UPDATE,   // of renderables
    STEP_ORIGINAL, // set, or taken away
    STEP_FOLLOW,
    STEP_REBASE,
    STEP_RECENTER,
    STEP_COUNT
} tape_step;

enum { STEP_NAMED = 4 }; // entities of one step at most

enum { SIDE_CALLBACKS = 3 };

/// A payload that is recorded. Its bytes follow from the seed.
typedef struct side_call {
    uint32_t callback; // one from SIDE_CALLBACKS on is unknown
    uint32_t size, alignment;
    uint64_t seed; // 0: NULL, for zeros
} side_call;

/// Numbers of originals, as steps name them. Those behind the good ones are refused.
enum {
    ORIGINAL_GOOD = 12, // 1 to this; 0: null
    ORIGINAL_OWN,       // of the tag of the world
    ORIGINAL_TAGLESS,
    ORIGINAL_PENDING,
    ORIGINAL_END
};

/// What an STEP_FOLLOW repeats.
typedef struct step_follow {
    uint32_t removed[STEP_NAMED], written[STEP_NAMED]; // originals
    uint32_t removed_count, written_count;
    uint64_t values; // seed of the transforms
    bool is_world, is_added, keeps, is_plain;
} step_follow;

typedef struct operation {
    opcode code;
    uint32_t key, lane;
    uint32_t entity, parent, before; // operands
    espl_attach_options options;     // but for before
    espl_keep keep;
    espl_dead_parent dead_parent;
    espl_place place;
    espl_transform value;
    uint32_t inherit;     // flags to set, or of an instance
    espl_write_kind kind; // with a flag or without
    write_form form;
    espl_write_value data; // of a write; what to rotate by
    float point[3], up[3]; // to look at, or to rotate about
    espl_axis forward;     // what looks
    uint32_t count;        // clones, entries, or nodes named
    uint32_t pending;      // number of the first of `count` clones
    bool has_placement, sets_tag, has_up;
    uint32_t tag;
    uint32_t given; // components of an instance besides the tag, or all of a creation
    uint64_t load;  // its value; so is peer
    uint32_t peer;
    uint32_t zeroed;          // of what a creation is given, with NULL for a value
    model_flaw flaw;          // of a creation or a set
    espl_component component; // to set
    side_call call;
    espl_extent extent;
    uint32_t name; // as the model numbers them
    change_form change_form;
    model_change change;
    model_query query;
    tape_step step;
    uint32_t history;           // of motion
    float time;                 // to present; the limit of a recenter
    int32_t cells[3];           // to rebase by; the offset is `point`
    bool ends_watch;            // that is collected, or renderables that are updated
    bool is_held;               // the mirror that was acquired before an update
    uint32_t named[STEP_NAMED]; // [count] operands that are dressed
    model_look look;            // that they are given
    step_follow follow;
    uint32_t original; // number
} operation;

typedef enum tape_shape {
    SHAPE_RANDOM,
    SHAPE_CHAIN,
    SHAPE_STAR,
    SHAPE_WIDE,
    SHAPE_TINY, // many roots of a few nodes
    SHAPE_COUNT
} tape_shape;
typedef enum tape_values { VALUES_PLAIN, VALUES_STRETCHED, VALUES_ZERO, VALUES_HUGE } tape_values;
typedef enum tape_flags { FLAGS_NONE, FLAGS_FEW, FLAGS_MANY } tape_flags;

/// What one seed turns out. A random subset of all that could be.
typedef struct tape_style {
    uint32_t weights[OPCODE_COUNT];
    uint32_t population; // living entities it strives for
    tape_shape shape;
    tape_values values;
    uint32_t huge_one_in; // of VALUES_HUGE
    tape_flags flags;
    uint32_t flag_mask;  // ESPL_ABSOLUTE_ flags that are given
    uint32_t bad_one_in; // operands
    bool has_unplaced;
    uint32_t components;  // set of those that come and go
    uint32_t lanes, keys; // of recorded operations
} tape_style;

typedef struct test_tape {
    uint64_t seed, random;
    const tape_record *records; // [record_count] NULL: as many as are asked for, from the seed
    size_t record_count, taken; // of the records
    tape_draw draw;             // of the operation at hand
    const char *driver;         // NULL, or how to run the tape again, but for seed and length
    size_t at;                  // operation at hand, for the failure message
    opcode code;
    const char *note; // NULL, or the case at hand, for the failure message
    tape_style style;
    bool moves;               // takes steps, whatever the seed says
    bool draws;               // takes steps of renderables, whatever the seed says
    bool is_still;            // takes none
    bool takes_places;        // moves the world, and writes cells
    bool has_own_renderables; // of the driver: the tape has none
    test_model model;
    uint32_t recent;   // last child attached
    uint32_t *pending; // [pending_count] node of the model, MODEL_DEAD while not born
    uint32_t pending_count, pending_capacity;
    model_entry *entries; // [entry_capacity] of an OP_BATCH; nodes are operands
    uint32_t entry_capacity;
    uint32_t *named; // [named_capacity] operands of an OP_CHANGE
    uint32_t named_capacity;
    uint32_t answered; // nodes that the last OP_CHANGE_QUERY changed in the model
    size_t refused;    // entry of the last OP_ATTACH_MANY or OP_DESTROY_MANY, or SIDE_UNTOUCHED
    espl_write_report report;        // the model's account of the last OP_BATCH
    uint64_t writes, writes_skipped; // of the model when the last operation began
} test_tape;

/// Set up and choose a style from the seed.
/// @param population  at most what a world of this build holds four times.
void tape_begin(test_tape *tape, uint64_t seed, uint32_t population);
/// Let the seed say whether worlds are moved and have cells: model.cell_size. Before the sides begin.
void tape_take_cells(test_tape *tape);
/// Make operations of records, which must outlive the tape, instead of such as the seed makes.
/// @param records  [count]
void tape_feed(test_tape *tape, const tape_record *records, size_t count);
/// Tell whether there is no more record.
bool tape_is_over(const test_tape *tape);
/// Begin with the next record; there must be one.
void tape_advance(test_tape *tape);
/// Tell whether worlds that follow a tape may soon lack indices, so many lives it made: it ends.
bool tape_is_worn(const test_tape *tape);
void tape_end(test_tape *tape);
/// Leave little but operations that change structure or components.
void tape_prefer_structure(test_tape *tape);
/// Tell whether an opcode is one of them; a create is not.
bool tape_is_structural(opcode code);
const char *tape_code_name(opcode code);
/// Make the next operation of the tape from the next record and the state of the model.
operation tape_next(test_tape *tape);
/// Let the style say what tape_next_recorded() makes.
void tape_prepare_recorded(test_tape *tape);
/// As tape_next(), of a kind that can be recorded; its operands may be pending.
operation tape_next_recorded(test_tape *tape);
/// What a creation asks for.
model_creation tape_creation_of(const test_tape *tape, const operation *operation);
/// Carry an operation out on the model.
model_answer tape_apply(test_tape *tape, const operation *operation);
/// Give pending numbers to the clones of an operation. @return the first.
uint32_t tape_pend(test_tape *tape, uint32_t count);
/// Make room for the entries of a batch.
void tape_reserve_entries(test_tape *tape, uint32_t count);
/// Make room for the nodes that a change names.
void tape_reserve_named(test_tape *tape, uint32_t count);
/// What an operation gives and takes: its change, or a placement.
model_change tape_change_of(const operation *operation);
/// The model's part of OP_ATTACH_MANY and OP_DESTROY_MANY (many.c). Sets refused.
model_answer tape_apply_many(test_tape *tape, const operation *operation);
/// Forget the pending numbers of a batch.
void tape_forget_pending(test_tape *tape);
/// Node of an operand, a pending one resolved; an alien one stays.
uint32_t tape_node(const test_tape *tape, uint32_t operand);
/// Fail the test with seed, operation, opcode, and how to run it again.
#define tape_demand(tape, condition, ...)                       \
    do {                                                        \
        if (!(condition)) {                                     \
            tape_fail((tape), __FILE__, __LINE__, __VA_ARGS__); \
        }                                                       \
    } while (0)
_Noreturn void tape_fail(const test_tape *tape, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/// What an output of a call holds before it.
#define SIDE_UNTOUCHED SIZE_MAX

/// Value of MODEL_PEER. The reference does not stand first.
typedef struct side_peer {
    uint32_t word;
    espl_entity peer;
} side_peer;

/// A payload as a callback saw it.
typedef struct side_heard {
    uint32_t callback, key, lane, index;
    size_t size;
    uint64_t hash;
    uintptr_t address;
} side_heard;

/// What a callback of a side knows.
typedef struct side_ear {
    struct test_side *side;
    uint32_t callback; // its number here
    espl_custom_command number;
    uint32_t playbacks; // since the last side_forget_calls()
} side_ear;

/// A world under test.
typedef struct test_side {
    test_world test, elsewhere;
    espl_world *world;         // of test
    espl_entity *handles;      // [capacity] by node of the model
    uint32_t capacity, mapped; // nodes [0, mapped) have their handles
    espl_entity foreign, alien, dead;
    espl_command_buffer *aliens, *batch;
    espl_watch *watch;             // NULL: none
    espl_renderables *renderables; // NULL: none; with `visible`
    espl_visible *visible;
    const espl_mirror *mirror;           // NULL, or the one that was acquired last
    uint64_t mirror_hash, mirror_number; // of it; of the last update
    bool reads_apart;                    // a mirror stays valid over updates
    bool is_unseen;                      // never presented nor collected
    espl_entity *pending;                // [pending_capacity] by number
    uint32_t pending_capacity;
    espl_entity fresh[TAPE_COUNT_LIMIT];
    espl_write *writes; // [write_capacity] of an OP_BATCH
    uint32_t write_capacity;
    espl_write_report report; // of the last OP_BATCH
    espl_entity *named;       // [named_capacity] of an OP_CHANGE
    uint32_t named_capacity;
    size_t refused;  // of the last OP_CHANGE: index, or SIDE_UNTOUCHED
    size_t answered; // of the last OP_CHANGE_QUERY: count, or SIDE_UNTOUCHED
    uint32_t *nodes; // [node_capacity] by index of a handle: scratch of a comparison
    uint32_t node_capacity;
    espl_world_stats before; // of the world when the last operation began
    side_ear ears[SIDE_CALLBACKS];
    side_heard *heard; // [heard_capacity] payloads of the last playback, as they were handed over
    uint32_t heard_count, heard_capacity, heard_expected;
} test_side;

/// @param tape  says what cells the world has.
void side_begin(test_side *side, const test_tape *tape, uint32_t lanes,
                const espl_executor *executor);
void side_end(test_side *side);
/// Carry an operation out at once. The model follows with tape_apply(), then side_map().
espl_status side_run(test_side *side, const test_tape *tape, const operation *operation);
/// Count the entities that the world has indices for.
size_t side_room(const test_side *side);
/// Compare what side_run() answered with what the model allows, the account of a batch too.
void side_check(const test_side *side, const test_tape *tape, const operation *operation,
                espl_status status, model_answer answer);
/// Record an operation in the side's batch.
espl_status side_record(test_side *side, const operation *operation);
/// Learn the handles of nodes that the model made since the last call. @param operation  the one
/// that was run, or NULL after a playback of the batch.
void side_map(test_side *side, const test_tape *tape, const operation *operation);
/// Let the model follow what side_run() answered: tape_apply(), side_check(), side_map().
void side_follow(test_side *side, test_tape *tape, const operation *operation, espl_status status);
/// What a call that is recorded answers: the world has no part in it.
espl_status side_call_status(const side_call *call);
/// Demand that the next payload handed over is that of an operation.
/// @param index  Where it was recorded in its lane.
void side_expect_call(test_side *side, const test_tape *tape, const operation *operation,
                      uint32_t index);
/// Demand that no more were handed over, and begin again.
void side_forget_calls(test_side *side, const test_tape *tape);
/// Demand that a count of worlds that are not finite is possible.
void side_check_overflowed(const test_tape *tape, bool has_overflowed, model_overflow overflow);
/// Compare everything with the model, then validate.
void side_compare(test_side *side, const test_tape *tape);
/// Compare one node's placements with the model.
void side_compare_node(const test_side *side, const test_tape *tape, uint32_t node);
/// Compare every way to read one node, also as another one sees it.
void side_compare_reads(const test_side *side, const test_tape *tape, uint32_t node,
                        uint32_t frame);

#endif
