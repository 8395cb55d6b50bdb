// SPDX-License-Identifier: MIT
// The world as the specification tells it, naive on purpose: nodes with a parent pointer and a
// linked list of children, every world recomputed from the top. It knows nothing of runs, ranks,
// ghosts, rows or commands, and shares only the pure functions of espalier/transform.h.
#ifndef ESPALIER_TESTS_MODEL_H
#define ESPALIER_TESTS_MODEL_H

#include <espalier/commands.h>

// Operands that are no node.
#define MODEL_NONE UINT32_MAX          // the null entity
#define MODEL_DEAD (UINT32_MAX - 1)    // dead, or pending and not born
#define MODEL_FOREIGN (UINT32_MAX - 2) // of another world, or pending elsewhere

/// What the library may answer, a set of statuses: where several rules refuse a call, each of
/// their statuses is right. A set of one in all other cases.
typedef uint32_t model_answer;

static inline model_answer model_answer_of(espl_status status)
{
    return (model_answer)1 << (status + 24);
}

/// What a placed node stores.
typedef struct model_state {
    espl_transform local; // stretch and context are the node's own
    espl_transform kept;  // world values; parts that the flags do not name are the identity's
    uint32_t flags;       // inherit flags, 0 for a root or solo
} model_state;

typedef struct model_node {
    uint32_t parent, first, last, next, previous; // MODEL_NONE: there is none
    uint32_t living_at;                           // index in model.living
    uint32_t clone;                               // made of this node by the clone at work
    uint32_t entries;                             // its first entry in the batch at work
    uint32_t tag;                                 // value of a component, copied to clones
    espl_link link;
    bool is_alive, is_doomed;
    bool is_refused;    // the batch at work takes no entry of this node
    bool has_placement; // without one it passes its parent's world through
    model_state state;
    espl_transform world; // as it shows: one that copies its parent has the stretch of that one
    espl_transform trial; // world to be, until it is known to be finite
    model_state saved;    // state to go back to
} model_node;

typedef struct test_model {
    model_node *nodes;            // [count] dead ones included: a number is never used again
    uint32_t *living;             // [living_count] numbers, in no order
    uint32_t *doomed, *survivors; // scratch of a destroy or a clone
    uint32_t count, capacity, living_count;
    uint64_t writes, writes_skipped; // carried out: those that changed a state, and the others
} test_model;

typedef enum model_policy { MODEL_CLOSURE, MODEL_SUBTREE, MODEL_ONLY } model_policy;

/// What espl_instance_def says, with nodes for handles.
typedef struct model_instance {
    uint32_t source, parent, before;
    espl_link link;
    espl_orphan orphan;
    espl_place place;
    espl_transform transform;
    uint32_t inherit;
    bool sets_tag;
    uint32_t tag;
    size_t count;
} model_instance;

/// One write of a batch.
typedef struct model_entry {
    uint32_t node;
    espl_write_kind kind;
    espl_write_value value;
    model_answer answer; // out: what becomes of it
    espl_status outcome; // scratch
    bool is_same;        // scratch: it changed nothing
    uint32_t next;       // scratch: next entry of the same node
} model_entry;

void model_init(test_model *model);
void model_free(test_model *model);

uint32_t model_create(test_model *model, bool has_placement, uint32_t tag);
model_answer model_attach(test_model *model, uint32_t child, uint32_t parent, uint32_t before,
                          const espl_attach_options *options);
model_answer model_detach(test_model *model, uint32_t node, espl_stay keep);
model_answer model_destroy(test_model *model, uint32_t node, model_policy policy);
/// @param out  [def->count] the clones' first nodes; set where the answer is ESPL_OK or ESPL_LOSSY.
model_answer model_instantiate(test_model *model, const model_instance *def, uint32_t *out);

model_answer model_write(test_model *model, uint32_t node, espl_write_kind kind,
                         const espl_write_value *value);
/// @param up  NULL means +Y.
model_answer model_look_at(test_model *model, uint32_t node, const float target[3],
                           const float *up);
model_answer model_rotate_about(test_model *model, uint32_t node, const float pivot[3],
                                const float by[4]);
model_answer model_set_inherit(test_model *model, uint32_t node, uint32_t flags);
/// @param entries  [count] each with its answer in the end.
/// @param report   the account; its first_status is one of the answer of that entry.
model_answer model_write_batch(test_model *model, model_entry *entries, uint32_t count,
                               espl_write_report *report);

/// The local placement as it is read.
espl_transform model_local(const test_model *model, uint32_t node);
espl_role model_role(const test_model *model, uint32_t node);
uint32_t model_root(const test_model *model, uint32_t node);
uint32_t model_depth(const test_model *model, uint32_t node);
/// Tell whether a node is `top` or below it.
bool model_is_at_or_below(const test_model *model, uint32_t node, uint32_t top);
/// Next node of a walk over everything below `top`, parents first; MODEL_NONE at the end.
uint32_t model_next(const test_model *model, uint32_t top, uint32_t node);
/// The same, leaving out what hangs below `node`.
uint32_t model_next_behind(const test_model *model, uint32_t top, uint32_t node);
/// Count what a clone of the node would make.
uint32_t model_closure_size(const test_model *model, uint32_t node);

#endif
