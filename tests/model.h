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

typedef struct model_node {
    uint32_t parent, first, last, next, previous; // MODEL_NONE: there is none
    uint32_t living_at;                           // index in model.living
    uint32_t clone;                               // made of this node by the clone at work
    uint32_t tag;                                 // value of a component, copied to clones
    espl_link link;
    bool is_alive, is_doomed;
    bool has_placement; // without one it passes its parent's world through
    espl_transform local, world;
    espl_transform trial; // world to be, until it is known to be finite
    espl_transform saved; // local before a rebase
} model_node;

typedef struct test_model {
    model_node *nodes;            // [count] dead ones included: a number is never used again
    uint32_t *living;             // [living_count] numbers, in no order
    uint32_t *doomed, *survivors; // scratch of a destroy or a clone
    uint32_t count, capacity, living_count;
} test_model;

typedef enum model_policy { MODEL_CLOSURE, MODEL_SUBTREE, MODEL_ONLY } model_policy;

/// What espl_instance_def says, with nodes for handles.
typedef struct model_instance {
    uint32_t source, parent, before;
    espl_link link;
    espl_orphan orphan;
    espl_place place;
    espl_transform transform;
    bool sets_tag;
    uint32_t tag;
    size_t count;
} model_instance;

void model_init(test_model *model);
void model_free(test_model *model);

// kin.c; for the model itself.
uint32_t model_add(test_model *model);
void model_kill(test_model *model, uint32_t node);
void model_unlink(test_model *model, uint32_t node);
void model_link(test_model *model, uint32_t node, uint32_t parent, uint32_t before);

uint32_t model_create(test_model *model, bool has_placement, uint32_t tag);
model_answer model_attach(test_model *model, uint32_t child, uint32_t parent, uint32_t before,
                          const espl_attach_options *options);
model_answer model_detach(test_model *model, uint32_t node, espl_keep keep);
model_answer model_destroy(test_model *model, uint32_t node, model_policy policy);
/// @param out  [def->count] the clones' first nodes; set where the answer is ESPL_OK or ESPL_LOSSY.
model_answer model_instantiate(test_model *model, const model_instance *def, uint32_t *out);
model_answer model_set_local(test_model *model, uint32_t node, const espl_transform *value);
model_answer model_set_world(test_model *model, uint32_t node, const espl_transform *value);

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
