// SPDX-License-Identifier: MIT
// Commands as they are recorded: fixed-size records and payload bytes, lane by lane.
#ifndef ESPALIER_LIB_COMMANDS_COMMANDS_H
#define ESPALIER_LIB_COMMANDS_COMMANDS_H

#include "lib/math/inherit.h"
#include "lib/store/store.h"

#include <espalier/commands.h>

/// Kinds of command. The table in carry.c says what each does.
enum {
    ESPL__COMMAND_INSTANTIATE,
    ESPL__COMMAND_DESTROY,
    ESPL__COMMAND_DESTROY_SUBTREE,
    ESPL__COMMAND_DESTROY_ONLY,
    ESPL__COMMAND_ATTACH,
    ESPL__COMMAND_DETACH,
    ESPL__COMMAND_SIBLING,
    ESPL__COMMAND_WRITE,
    ESPL__COMMAND_INHERIT,
    ESPL__COMMAND_PLACE,   ///< only at once: its payload is checked and normalised
    ESPL__COMMAND_UNPLACE, ///< only at once
    ESPL__COMMAND_KINDS
};

typedef struct espl__command {
    espl_entity target; // instantiate: the source
    espl_entity parent; // attach, instantiate
    espl_entity before; // attach, instantiate, sibling
    uint32_t key;
    uint32_t count;   // instantiate: clones
    uint32_t pending; // instantiate: serial of the first clone in its lane
    uint32_t payload; // offset in the lane: a transform, then the values; write, place: its value
    uint32_t value_count;
    uint8_t kind, link, place, orphan; // write: `place` is the kind of write
    uint8_t stay_position, stay_rotation, stay_scale, inherit;
} espl__command;

_Static_assert(sizeof(espl__command) == 52, "command: 24 + 20 + 8");
_Static_assert(sizeof(espl_write_value) == sizeof(espl_transform), "payloads of one size");

/// One component value in a payload; its bytes follow, all rounded up to 8.
typedef struct espl__value_header {
    espl_component component;
    uint32_t size;
} espl__value_header;

/// One lane of commands.
typedef struct espl__lane {
    espl__command *commands; // stb array
    unsigned char *payload;  // stb array
    espl_entity *created;    // [pending_count] after playback: what each pending became; stb array
    espl_status *results;    // [commands] after playback; stb array
    uint32_t pending_count;
} espl__lane;

struct espl_recorder {
    espl__lane lane;
    struct espl_commands *owner;
    uint32_t number;
};

struct espl_commands {
    espl__heap *heap;
    const espl__store *store; // component sizes only
    const void *world;        // compared, never followed
    const espl_hooks *hooks;  // the world's, which never change
    _Atomic uint32_t *alive;  // the world's count of commands objects
    uint32_t tag;             // in the generation of pending handles
    uint32_t lane_count;
    bool is_played;
    struct espl_commands *next;       // submitted behind this one
    struct espl_commands **submitted; // head of the world's line
    bool is_submitted;
    espl_recorder recorders[]; // [lane_count]
};

// A pending handle: index is its serial in the lane; generation is bit 31, then 8 bits of lane,
// then 23 bits of the commands object's tag.
enum { ESPL__PENDING_TAG_BITS = 23 };

static inline bool espl__is_pending(espl_entity entity)
{
    return (entity.generation >> 31) != 0;
}

static inline uint32_t espl__pending_lane(espl_entity entity)
{
    return (entity.generation >> ESPL__PENDING_TAG_BITS) & 0xffu;
}

static inline uint32_t espl__pending_tag(espl_entity entity)
{
    return entity.generation & ((UINT32_C(1) << ESPL__PENDING_TAG_BITS) - 1);
}

static inline espl_entity espl__pending_handle(uint32_t tag, uint32_t lane, uint32_t serial)
{
    return (espl_entity){serial, (UINT32_C(1) << 31) | (lane << ESPL__PENDING_TAG_BITS) | tag};
}

static inline bool espl__is_stay(espl_stay stay)
{
    return stay == ESPL_STAY_WORLD || stay == ESPL_STAY_LOCAL || stay == ESPL_STAY_NONE;
}

static inline bool espl__is_link(espl_link link)
{
    return link == ESPL_LINK_OWNED || link == ESPL_LINK_FREE;
}

/// Tell whether every rule of attaching is one that there is.
static inline bool espl__options_are_valid(const espl_attach_options *options)
{
    return espl__is_stay(options->position) && espl__is_stay(options->rotation) &&
           espl__is_stay(options->scale) && espl__is_link(options->link) &&
           espl__flags_are_valid(options->inherit);
}

espl_status espl__commands_make(espl__heap *heap, const espl__store *store, const void *world,
                                _Atomic uint32_t *alive, espl_commands **submitted, uint32_t lanes,
                                espl_commands **out);
/// Take a commands object out of the line of its world.
void espl__commands_withdraw(espl_commands *commands);

#endif
