// SPDX-License-Identifier: MIT
// The world as the specification tells it, naive on purpose: nodes with a parent pointer and a
// linked list of children, every world recomputed from the top, a set of components as a word of
// bits. It knows nothing of slots, ranks, layouts, rows or commands, and shares only the pure
// functions of espalier/transform.h.
//
// Locals are finite; worlds are what the arithmetic gives. An answer of the model is ESPL_OK or
// ESPL_LOSSY where worlds overflow too: model.overflow says that they do.
#ifndef ESPALIER_TESTS_MODEL_H
#define ESPALIER_TESTS_MODEL_H

#include <espalier/commands.h>

// Operands that are no node.
#define MODEL_NONE UINT32_MAX          // the null entity
#define MODEL_DEAD (UINT32_MAX - 1)    // dead, or pending and not born
#define MODEL_FOREIGN (UINT32_MAX - 2) // of another world
#define MODEL_ALIEN (UINT32_MAX - 3)   // pending in another command buffer

/// What the library may answer, a set of statuses: where several rules refuse a call, each of
/// their statuses is right. A set of one in all other cases.
typedef uint32_t model_answer;

static inline model_answer model_answer_of(espl_status status)
{
    return (model_answer)1 << (status + 24);
}

/// Whether worlds that an operation computed are not finite.
typedef enum model_overflow {
    MODEL_FINITE,       // all of them are finite
    MODEL_MAY_OVERFLOW, // some are not, but the library need not have computed them: they stay as they
                        // were, or were so in between only
    MODEL_OVERFLOWS,    // some became other values that are not finite
} model_overflow;

/// What an immediate call may answer where the model answers this: ESPL_OVERFLOW takes precedence.
static inline model_answer model_answer_with(model_answer answer, model_overflow overflow)
{
    const model_answer done = model_answer_of(ESPL_OK) | model_answer_of(ESPL_LOSSY);

    if ((answer & done) == 0 || overflow == MODEL_FINITE) {
        return answer;
    }
    return (overflow == MODEL_OVERFLOWS ? answer & ~done : answer) | model_answer_of(ESPL_OVERFLOW);
}

/// Components that a test registers, in this order, behind those that every world has.
enum {
    MODEL_TAG = ESPL_DISABLED + 1, // uint32_t
    MODEL_MARK,                    // no value
    MODEL_LOAD,                    // uint64_t
    MODEL_PEER,                    // a reference to an entity
    MODEL_BULK,                    // so many tags that all come and go together
    MODEL_COMPONENT_END,
    // Of renderables, which every side has: behind the tags of MODEL_BULK in a world.
    MODEL_BOUNDS = 29,
    MODEL_RENDERABLE,
    MODEL_LAYERS,
};

/// Tags in MODEL_BULK, numbered from it on. With a role, a placement and MODEL_TAG two are missing
/// to ESPL_SET_LIMIT.
#define MODEL_BULK_COUNT 59

/// Bit of a component in a word that is a set.
static inline uint32_t model_bit(espl_component component)
{
    return (uint32_t)1 << component;
}

/// Names have the numbers 1 to MODEL_NAMES, the last of which is as long as one may be. Those behind it
/// are refused: one that is too long, and two with a byte that no name has.
enum { MODEL_NAMES = 6, MODEL_NAME_LONG };

/// Roles, which follow by themselves.
#define MODEL_ROLES (model_bit(ESPL_SOLO) | model_bit(ESPL_ROOT) | model_bit(ESPL_MEMBER))

/// Values of a node's components; of one that it lacks the value is not read.
typedef struct model_values {
    uint32_t tag;
    uint64_t load;
    uint32_t peer; // a node, dead or alive, or MODEL_NONE
} model_values;

/// What the values of the components of renderables are made of. Copied to clones.
typedef struct model_look {
    uint32_t bounds, renderable, layers;
} model_look;

/// A cell of a hierarchy, in a world with cells.
typedef struct model_cell {
    int32_t at[3];
} model_cell;

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
    uint32_t name;                                // 0: none
    uint32_t set;                                 // components, but for placement and roles
    model_values values;                          // copied to clones
    model_look look;                              // of the components that it has
    uint32_t original;                            // number of its original; 0: none
    model_cell cell;                              // of a root
    espl_link link;
    bool is_alive, is_doomed;
    bool has_placement; // without one it passes its parent's world through
    model_state state;
    espl_transform world; // as it shows: one that copies its parent has the stretch of that one
    espl_transform trial; // world to be
    bool was_finite;      // for tests: its world was, before a batch of operations
} model_node;

typedef struct test_model {
    model_node *nodes;            // [count] dead ones included: a number is never used again
    uint32_t *living;             // [living_count] numbers, in no order
    uint32_t *doomed, *survivors; // scratch of a destroy or a clone
    uint32_t count, capacity, living_count;
    uint32_t history;                // of motion; 0: none
    float cell_size;                 // 0: the world has no cells
    uint64_t writes, writes_skipped; // carried out: those that changed a state, and the others
    bool is_lossy;                   // the last operation moved a node that it does not name
    model_overflow overflow;         // of the operations since it was set to MODEL_FINITE
} test_model;

typedef enum model_policy { MODEL_CLOSURE, MODEL_SUBTREE, MODEL_ONLY } model_policy;

/// What espl_instance_def says, with nodes for handles.
typedef struct model_instance {
    uint32_t source, parent, before;
    espl_link link;
    espl_dead_parent dead_parent;
    espl_place place;
    espl_transform transform;
    uint32_t inherit;
    uint32_t set; // components that the clone of the source is given
    model_values values;
    size_t count;
} model_instance;

/// A fault of what a change or a creation asks for, whatever the entity.
typedef enum model_flaw {
    MODEL_FLAWLESS,
    MODEL_GIVES_ROLE,
    MODEL_TAKES_ROLE,
    MODEL_REPEATS,     // one component given twice
    MODEL_CONTRADICTS, // the same given and taken
    MODEL_MISSIZES,    // a size that is not the registered one
    MODEL_UNKNOWN,     // a component that nobody registered
    MODEL_FLAW_COUNT
} model_flaw;

/// What espl_creation_def says, with nodes for handles.
typedef struct model_creation {
    uint32_t parent, before;
    espl_link link;
    espl_dead_parent dead_parent;
    espl_place place;
    uint32_t inherit;
    uint32_t set;    // its components, the placement too
    uint32_t zeroed; // of `set`: given with NULL for a value
    model_values values;
    espl_transform placement;
    model_flaw flaw;
    size_t count;
} model_creation;

/// Components to give and to take away.
typedef struct model_change {
    uint32_t add, remove; // sets without a bit in common
    uint32_t zeroed;      // of `add`: given with NULL for a value
    model_values values;
    espl_transform placement;
    model_flaw flaw;
} model_change;

/// What a query asks for, in sets.
typedef struct model_query {
    uint32_t all, none, any;
    uint32_t include; // ESPL_INCLUDE_ bits
} model_query;

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
/// Forget all nodes and begin again with number 0.
void model_clear(test_model *model);

uint32_t model_create(test_model *model, bool has_placement, uint32_t tag);
model_answer model_set_sibling(test_model *model, uint32_t node, uint32_t before);
model_answer model_attach(test_model *model, uint32_t child, uint32_t parent, uint32_t before,
                          const espl_attach_options *options);
model_answer model_detach(test_model *model, uint32_t node, espl_keep keep);
model_answer model_destroy(test_model *model, uint32_t node, model_policy policy);
/// @param out  [def->count] the clones' first nodes; set where the answer is ESPL_OK or ESPL_LOSSY.
model_answer model_instantiate(test_model *model, const model_instance *def, uint32_t *out);
/// @param out  [def->count] the new nodes; set where the answer is ESPL_OK or ESPL_LOSSY.
model_answer model_make(test_model *model, const model_creation *def, uint32_t *out);

// --- many.c ---

/// Attach one after the other, all or none. @param refused  set where one is refused.
model_answer model_attach_many(test_model *model, const uint32_t *children, const uint32_t *parents,
                               uint32_t count, uint32_t before, const espl_attach_options *options,
                               size_t *refused);
/// Destroy one after the other; those that are dead before refuse all.
model_answer model_destroy_many(test_model *model, const uint32_t *nodes, uint32_t count,
                                espl_extent extent, size_t *refused);
void model_destroy_all(test_model *model);
/// @param name  a number; 0 takes it away.
model_answer model_set_name(test_model *model, uint32_t node, uint32_t name);
/// First node below `top`, in depth-first order, of a name whose parent has another name (0: any), or
/// MODEL_NONE.
uint32_t model_find_below(const test_model *model, uint32_t top, uint32_t above, uint32_t name);

// ---

model_answer model_write(test_model *model, uint32_t node, espl_write_kind kind,
                         const espl_write_value *value);
/// @param up  NULL means +Y.
model_answer model_look_at(test_model *model, uint32_t node, const float target[3], const float *up,
                           espl_axis forward);
model_answer model_rotate_about(test_model *model, uint32_t node, const float pivot[3],
                                const float by[4]);
model_answer model_set_inherit(test_model *model, uint32_t node, uint32_t flags);
/// @param entries  [count] each with its answer in the end.
/// @param report   the account; its first_status is one of the answer of that entry.
model_answer model_write_batch(test_model *model, model_entry *entries, uint32_t count,
                               espl_write_report *report);

/// Give and take components of many nodes, one after the other; all or nothing.
/// @param nodes  [count] operands; repeats are legal.
model_answer model_change_nodes(test_model *model, const uint32_t *nodes, uint32_t count,
                                const model_change *change);
/// What a change answers for one operand that is not refused for what it comes to.
model_answer model_change_faults(const test_model *model, uint32_t node,
                                 const model_change *change);
/// The same change for all that answer a query; it gives and takes no placement.
/// @param count  out: how many answered.
model_answer model_change_query(test_model *model, const model_query *query,
                                const model_change *change, uint32_t *count);
/// Set the value of one component that a node has.
model_answer model_set(test_model *model, uint32_t node, espl_component component,
                       const model_values *values, model_flaw flaw);
/// Give ESPL_DISABLED to an extent, or take it away.
model_answer model_set_enabled(test_model *model, uint32_t node, espl_extent extent,
                               bool is_enabled);
/// All components of a node, its role among them.
uint32_t model_components(const test_model *model, uint32_t node);
/// Count the components of a set as the library counts them.
uint32_t model_set_size(uint32_t set);
/// Tell whether a living node answers a query.
bool model_answers(const test_model *model, uint32_t node, const model_query *query);

// --- model_cells.c ---

/// The cell of a node's hierarchy; 0, 0, 0 without cells.
model_cell model_cell_of(const test_model *model, uint32_t node);
/// Move the whole world by whole cells and by an offset.
model_answer model_move_world(test_model *model, const int32_t cells[3], const float offset[3]);
/// Bring what is far from its cell to the nearest one.
model_answer model_recenter(test_model *model, float limit);

// ---

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
