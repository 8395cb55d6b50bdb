// SPDX-License-Identifier: MIT
// Frames of commands that are independent of lanes and pending handles, so that the same frame can
// be recorded in many ways, and hashes of the result of a playback. A script is a function of its
// seed and of what can be read of the world: equal worlds get the same scripts.
#ifndef ESPALIER_TESTS_SCRIPT_H
#define ESPALIER_TESTS_SCRIPT_H

#include "tests/support.h"

/// Kinds of command.
typedef enum script_kind {
    SCRIPT_INSTANTIATE,
    SCRIPT_DESTROY,
    SCRIPT_DESTROY_SUBTREE,
    SCRIPT_DESTROY_ONLY,
    SCRIPT_ATTACH,
    SCRIPT_DETACH,
    SCRIPT_SIBLING,
    SCRIPT_WRITE,
    SCRIPT_INHERIT,
    SCRIPT_CREATE,
    SCRIPT_CHANGE,
    SCRIPT_ADD,
    SCRIPT_REMOVE,
    SCRIPT_SET,
    SCRIPT_ENABLE,
    SCRIPT_DISABLE,
    SCRIPT_CALL,
    SCRIPT_KINDS
} script_kind;

/// Who is meant: an entity, or one that a line of the script makes.
typedef struct script_name {
    espl_entity entity;
    uint32_t maker; // line + 1; 0: none
    uint32_t copy;
} script_name;

/// One command.
typedef struct script_line {
    script_kind kind;
    uint32_t key, count;
    script_name target, parent, before;
    espl_attach_options options; // but for `before`
    espl_dead_parent dead_parent;
    espl_place place;
    espl_extent extent;
    espl_write_kind write;
    espl_write_value value;
    espl_transform transform;
    uint32_t gains, losses; // components, as bits of script_components
    uint32_t number;        // what the values are made of
} script_line;

enum { SCRIPT_LIMIT = 9000 }; // keys that differ still fit

typedef struct script {
    script_line *lines; // [count]
    size_t count;
} script;

/// A world to play in, with components of every kind: a small one, one with a reference, one with
/// an alignment of its own, two tags, and the placement.
enum { SCRIPT_COMPONENTS = 6, SCRIPT_PLACEMENT_BIT = 5 };

typedef struct script_world {
    espl_world *world;
    espl_component number[SCRIPT_COMPONENTS];
    espl_custom_command callback[2];
    uint64_t heard;        // hash of the payloads that came
    size_t calls;          // of either callback
    espl_recorder *follow; // NULL, or where the callbacks record each payload again, once
} script_world;

/// Alignment with which a payload of that content is recorded.
static inline uint32_t script_alignment(uint32_t number)
{
    return UINT32_C(1) << number % 9;
}

/// How many entities to begin with, of those that are meant to be, where the build's limits leave
/// room for what commands make of them; and how many lines then go with them.
uint32_t script_population(uint32_t entities);
uint32_t script_lines(uint32_t lines, uint32_t entities);

/// Register what scripts use in a new world, and plant hierarchies of up to 32 entities each.
void script_world_begin(script_world *s, espl_world *world, uint32_t entities, uint64_t seed);

/// Write a frame. Commands rarely name entities of hierarchies far apart, so that many groups come
/// of it; some name nobody. Keys are unique unless `has_equal_keys`.
/// @param kinds  bits of script_kind; 0 means all.
script script_write(const script_world *s, uint64_t seed, uint32_t count, uint32_t kinds,
                    bool has_equal_keys);
void script_free(script *s);

/// A script as it was recorded.
typedef struct script_recording {
    espl_command_buffer *commands;
    uint32_t *lane, *index; // [count] of each line
    espl_entity **pending;  // [count] NULL for lines that make nothing
    uint32_t *made;         // [count] pending handles of each line
    espl_status *recorded;  // [count] what the recorder answered
    size_t count;
    uint32_t in_lane[ESPL_LANE_LIMIT]; // lines recorded in each lane
} script_recording;

/// Record line i in a lane; what it names was recorded before.
/// @return the recorder's answer, which is kept too.
espl_status script_record_line(const script_world *s, script_recording *r, const script *from,
                               size_t i, uint32_t lane);
void script_recording_begin(script_recording *r, espl_command_buffer *commands, const script *from);
void script_recording_free(script_recording *r);
/// Record a script: line by line in the first lane, or scattered over all lanes, in an order that
/// a shuffle other than 0 decides.
void script_record(const script_world *s, script_recording *r, espl_command_buffer *commands,
                   uint32_t lanes, const script *from, uint64_t shuffle);

/// Hash what became of each line and of all it made.
uint64_t script_results(const script_recording *r);
/// Hash a report: all its counts, and the first lines that were refused.
uint64_t script_account(const script_recording *r, const espl_report *report);
/// Hash the whole world: the physical hash, component values, the version of the columns, and what
/// the callbacks heard.
uint64_t script_hash(const script_world *s);
/// The same without what a trim may change: ranks and slots.
uint64_t script_logical_hash(const script_world *s);
/// Do to a few entities at once what leaves holes and other roles behind.
void script_disturb(script_world *s, uint64_t seed);

#endif
