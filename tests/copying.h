// SPDX-License-Identifier: MIT
// Small hierarchies in which nodes copy their parent or keep parts of their world, and all changes of
// one node. Each change is carried out at once or recorded, so that a playback can be compared with
// the same calls at once, and an undone playback with the world before it.
#ifndef ESPALIER_TESTS_COPYING_H
#define ESPALIER_TESTS_COPYING_H

#include "tests/support.h"

/// Entities of a hierarchy: a chain of nodes, each the parent of the next one, and after them a root
/// that stands apart, with a stretch, user data and a child.
enum { COPYING_CHAIN = 4, COPYING_ENTITIES = COPYING_CHAIN + 2 };

typedef struct copying {
    espl_world *world;
    uint32_t nodes;                  // of the chain
    espl_entity e[COPYING_ENTITIES]; // the chain, the root apart, its child
} copying;

/// The hierarchies, by the nodes of their chain: 't' has a transform, 'i' has the identity, 's' has a
/// stretch and user data too, 'b' has no transform, 'c' has ESPL_COPY_PARENT, 'w' keeps all parts of
/// its world, 'y' keeps one axis, 'f' is a free member.
extern const char *const copying_chains[];
extern const uint32_t copying_chain_count;

/// Make a hierarchy. Precondition: the world has no entities.
void copying_make(copying *c, espl_world *world, const char *chain);

/// What is done to a node. The first ones are those of which the effect depends most on their order.
typedef enum copying_kind {
    COPYING_STRETCH,
    COPYING_USER_DATA,
    COPYING_READ, // inherit flags that a node without a transform cannot have: reads its world
    COPYING_ADD,
    COPYING_REMOVE,
    COPYING_COPY,   // inherit flags ESPL_COPY_PARENT
    COPYING_PLAIN,  // no inherit flags
    COPYING_ATTACH, // to the root apart, keeping the local
    COPYING_DESTROY,
    COPYING_CORE,                  // their number
    COPYING_SHRINK = COPYING_CORE, // the stretch is 1 again
    COPYING_LOCAL,
    COPYING_WORLD,
    COPYING_TRANSFORM, // local, stretch and user data
    COPYING_NUDGE,     // a translation by 0 in world axes
    COPYING_FIX,       // inherit flags: all of the world is kept
    COPYING_FIX_Y,     // one axis
    COPYING_DETACH,
    COPYING_ATTACH_KEEP_WORLD,
    COPYING_ATTACH_COPY, // with ESPL_COPY_PARENT
    COPYING_ADOPT,       // the child of the root apart becomes a child of the node
    COPYING_CLONE,       // below the root apart
    COPYING_KINDS
} copying_kind;

typedef struct copying_change {
    uint8_t kind; // copying_kind
    uint8_t node; // of the chain
} copying_change;

/// Count the sequences of `length` changes of the first `kinds` kinds to the nodes of a chain.
uint64_t copying_count(const char *chain, uint32_t kinds, uint32_t length);
/// Return the sequence of a number below that count. @param out  [length]
void copying_sequence(const char *chain, uint32_t kinds, uint32_t length, uint64_t number,
                      copying_change *out);
/// Carry a change out at once. @return its status.
espl_status copying_run(const copying *c, copying_change change);
/// Record a change. @return the status of the recorder.
espl_status copying_record(const copying *c, espl_recorder *to, copying_change change);
/// Write changes as text, for the message of a failure. @return `text`.
const char *copying_describe(const char *chain, const copying_change *changes, uint32_t count,
                             char *text, size_t size);
/// Hash what can be read of each entity of the hierarchy: whether it is alive, its parent, inherit
/// flags, local and world transform, with stretch and user data.
uint64_t copying_hash(const copying *c);

#endif
