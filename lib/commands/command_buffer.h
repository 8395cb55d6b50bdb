// SPDX-License-Identifier: MIT
// Command buffers: the records of commands, lane by lane, and the queue of buffers that are
// submitted.
//
// Input: the calls of recorders. Output: for each lane an array of fixed-size records, the bytes of
// their payloads, and after a playback the results and the created entities. A playback reads a
// lane through espl__lane_view and does not change the records.
//
// Invariants: every recorded command was checked as far as it can be without the world; a pending
// handle names its lane and its serial there, and the tag of its buffer.
#ifndef ESPALIER_LIB_COMMANDS_COMMAND_BUFFER_H
#define ESPALIER_LIB_COMMANDS_COMMAND_BUFFER_H

#include "lib/commands/payloads.h"
#include "lib/commands/submit_queue.h"
#include "lib/math/inherit.h"
#include "lib/math/pose.h"
#include "lib/store/store.h"
#include "lib/tree/write_kinds.h"

#include <espalier/commands.h>

/// Kinds of command. The table in apply_commands.c has the function of each.
enum {
    ESPL__COMMAND_INSTANTIATE,
    ESPL__COMMAND_DESTROY, ///< `place` is the extent
    ESPL__COMMAND_ATTACH,
    ESPL__COMMAND_DETACH,
    ESPL__COMMAND_SIBLING,
    ESPL__COMMAND_WRITE,
    ESPL__COMMAND_INHERIT,
    ESPL__COMMAND_CUSTOM, ///< taken out at the end of the order stage
    ESPL__COMMAND_CREATE,
    ESPL__COMMAND_CREATE_BARE, ///< without a transform
    ESPL__COMMAND_CHANGE,      ///< `place` is an espl__placement_change
    ESPL__COMMAND_SET,
    ESPL__COMMAND_ENABLE, ///< `place` is the extent
    ESPL__COMMAND_DISABLE,
    ESPL__COMMAND_KINDS
};

/// Whether a change of components adds or removes the transform.
typedef enum espl__placement_change {
    ESPL__PLACEMENT_STAYS,
    ESPL__PLACEMENT_COMES,
    ESPL__PLACEMENT_GOES,
} espl__placement_change;

/// A recorded command. Fields that its kind does not use are 0.
typedef struct espl__command {
    espl_entity target; // instantiate: the source
    espl_entity parent; // attach, instantiate
    espl_entity before; // attach, instantiate, sibling
    uint32_t key;
    uint32_t count; // instantiate, create: how many
    // Instantiate, create: serial of its first pending handle in the lane. Custom: number of the
    // custom command.
    uint32_t pending;
    // Place of the payload in the lane: see espl__payload_at(). Instantiate, create, a change that
    // adds a transform: the transform, then the values. Other changes: the values. Write: the value.
    uint32_t payload;
    uint32_t value_count;                   // custom: bytes of the payload
    uint8_t kind, link, place, dead_parent; // write: `place` is the espl_write_kind, with its flag
    uint8_t stay_position, stay_rotation, stay_scale, inherit;
} espl__command;

_Static_assert(sizeof(espl__command) == 52, "command: 24 + 20 + 8");
_Static_assert(sizeof(espl_write_value) == sizeof(espl_transform), "payloads of one size");

/// Tell whether a transform precedes the component values in the payload of a command.
static inline bool espl__command_has_transform(const espl__command *command)
{
    return command->kind == ESPL__COMMAND_INSTANTIATE || command->kind == ESPL__COMMAND_CREATE ||
           (command->kind == ESPL__COMMAND_CHANGE && command->place == ESPL__PLACEMENT_COMES);
}

/// What the commands of a lane may do, so that a playback need not ask each of them.
enum {
    ESPL__LANE_WANTS_SIDE = 1,  ///< give a node something that is kept in side arrays
    ESPL__LANE_CHANGES_SETS = 2 ///< change the component set of a node that exists
};

/// What a transform in a payload makes its command do: side arrays have stretch and user data.
static inline unsigned espl__transform_traits(const espl_transform *transform)
{
    const espl__extra extra = espl__extra_of(transform);

    return espl__extra_is_default(&extra) ? 0 : ESPL__LANE_WANTS_SIDE;
}

/// What the inherit flags of a link make its command do: they are kept in side arrays.
static inline unsigned espl__link_traits(uint32_t inherit)
{
    return inherit != 0 ? ESPL__LANE_WANTS_SIDE : 0;
}

/// What a command may do, without its transform. Creations and clones bring their sets with them, and
/// only commands that link a node or set its flags have inherit flags.
static inline unsigned espl__command_traits(const espl__command *command)
{
    unsigned traits = espl__link_traits(command->inherit);

    switch (command->kind) {
    case ESPL__COMMAND_WRITE:
        return espl__write_has_extra(espl__write_base((espl_write_kind)command->place))
                   ? ESPL__LANE_WANTS_SIDE
                   : 0;
    case ESPL__COMMAND_CHANGE:
        traits |= command->place == ESPL__PLACEMENT_COMES ? ESPL__LANE_WANTS_SIDE : 0;
        return traits | ESPL__LANE_CHANGES_SETS;
    case ESPL__COMMAND_SET:
    case ESPL__COMMAND_ENABLE:
    case ESPL__COMMAND_DISABLE:
        return traits | ESPL__LANE_CHANGES_SETS;
    default:
        return traits;
    }
}

/// Size in a header without a value: the component is removed.
#define ESPL__VALUE_TAKEN UINT16_MAX

/// One component value in a payload, at a multiple of 8. The value follows at its alignment.
typedef struct espl__value_header {
    espl_component component;
    uint16_t size, alignment; // of the value
} espl__value_header;

static inline size_t espl__value_size(const espl__value_header *header)
{
    return header->size == ESPL__VALUE_TAKEN ? 0 : header->size;
}

_Static_assert(sizeof(espl__value_header) == 8, "value header: 4 + 2 + 2");
_Static_assert(ESPL_COMPONENT_SIZE_LIMIT < ESPL__VALUE_TAKEN, "a header holds every size");

/// Layout of the values in a payload, one after the other.
typedef struct espl__value_layout {
    size_t size;      // bytes so far
    size_t alignment; // that the payload needs
} espl__value_layout;

/// Round up to a multiple of an alignment, which is a power of two.
static inline size_t espl__aligned_size(size_t size, size_t alignment)
{
    ESPL_CHECK_FULL(alignment != 0 && (alignment & (alignment - 1)) == 0);
    return (size + alignment - 1) & ~(alignment - 1);
}

/// The layout before the first value, after `head` bytes of another kind: a multiple of 8 if values
/// follow.
static inline espl__value_layout espl__values_begin(size_t head)
{
    return (espl__value_layout){head, ESPL__PAYLOAD_UNIT};
}

/// Add a value and its header. @return offset of its bytes in the payload.
static inline size_t espl__layout_value(espl__value_layout *layout, size_t size, size_t alignment)
{
    ESPL_CHECK_FULL(layout->size % ESPL__PAYLOAD_UNIT == 0); // the header is aligned
    const size_t bytes = espl__aligned_size(layout->size + sizeof(espl__value_header), alignment);

    layout->size = espl__aligned_size(bytes + size, ESPL__PAYLOAD_UNIT);
    layout->alignment = alignment > layout->alignment ? alignment : layout->alignment;
    return bytes;
}

/// One lane of commands. Invariant: results and created have their full length only after a
/// playback.
typedef struct espl__lane {
    espl__command *commands; // stb array
    espl_entity *created;    // [pending_count] after playback: the entities; stb array
    espl_status *results;    // [commands] after playback; stb array
    uint32_t pending_count, custom_count;
    unsigned traits; // ESPL__LANE_ bits of all commands
    espl__payloads payloads;
} espl__lane;

/// Different threads may write different lanes at the same time, so that each has cache lines of
/// its own.
struct espl_recorder {
    _Alignas(64) espl__lane lane;
    struct espl_command_buffer *owner;
    uint32_t number;
};

struct espl_command_buffer {
    espl__heap *heap;
    const espl__store *store;            // component sizes only
    const void *world;                   // compared, never dereferenced
    const espl_hooks *hooks;             // of the world, which never change
    struct espl__holder *holder;         // of the world
    _Atomic uint32_t *alive;             // the world's count of command buffers
    const _Atomic uint32_t *last_custom; // number of the custom command that was registered last
    uint32_t tag;                        // in the generation of pending handles
    uint32_t lane_count;
    bool is_played;
    bool is_handed_over;       // functions of custom commands read its payloads at this moment
    bool is_submitted;         // it is in the queue
    espl__submit_queue *queue; // of the world
    struct espl_command_buffer *next; // after this one in the queue
    uint64_t submission;              // number of its submission
    espl_custom_payload *payloads;    // by custom command; stb array, filled by playback
    espl_recorder recorders[];        // [lane_count]
};

// A pending handle: index is its serial in the lane; generation is bit 31, then 8 bits of lane,
// then 23 bits of the tag of the command buffer.
enum { ESPL__PENDING_TAG_BITS = 23 };

/// Tag of the world's own buffer, for immediate calls: no pending handle has it, because it takes
/// more bits.
#define ESPL__NO_TAG UINT32_MAX

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
    ESPL_CHECK_FULL(lane < ESPL_LANE_LIMIT && serial < ESPL_PENDING_LIMIT);
    return (espl_entity){serial, (UINT32_C(1) << 31) | (lane << ESPL__PENDING_TAG_BITS) | tag};
}

/// Why a handle that may be null names nothing in a command buffer, or ESPL_OK: ESPL_ERR_FOREIGN for a
/// pending handle of another command buffer or of a lane that does not exist; ESPL_ERR_PENDING for any
/// in the world's own buffer, which issues none. Words are passed one by one, for the reason that
/// espl__is_alive() gives.
static inline espl_status espl__check_pending(const espl_command_buffer *owner, uint32_t index,
                                              uint32_t generation)
{
    const espl_entity entity = {index, generation};

    if (!espl__is_pending(entity) || (espl__pending_tag(entity) == owner->tag &&
                                      espl__pending_lane(entity) < owner->lane_count)) {
        return ESPL_OK;
    }
    return owner->tag == ESPL__NO_TAG ? ESPL_ERR_PENDING : ESPL_ERR_FOREIGN;
}

/// Check an operand as far as it can be without the world: whether the entity is alive is found by the
/// resolve stage. @return ESPL_ERR_NULL_ENTITY, a status of espl__check_pending(), ESPL_OK.
static inline espl_status espl__check_operand(const espl_command_buffer *owner,
                                              const espl_entity *entity)
{
    const uint32_t index = entity->index, generation = entity->generation;

    return (index | generation) == 0 ? ESPL_ERR_NULL_ENTITY
                                     : espl__check_pending(owner, index, generation);
}

/// Check an operand that may be the null entity, which is not pending.
static inline espl_status espl__check_optional(const espl_command_buffer *owner,
                                               const espl_entity *entity)
{
    return espl__check_pending(owner, entity->index, entity->generation);
}

static inline bool espl__is_stay(espl_keep stay)
{
    return stay == ESPL_KEEP_WORLD || stay == ESPL_KEEP_LOCAL || stay == ESPL_SNAP;
}

static inline bool espl__is_link(espl_link link)
{
    return link == ESPL_LINK_OWNED || link == ESPL_LINK_FREE;
}

/// Tell whether all options of an attach are valid.
static inline bool espl__options_are_valid(const espl_attach_options *options)
{
    return espl__is_stay(options->position) && espl__is_stay(options->rotation) &&
           espl__is_stay(options->scale) && espl__is_link(options->link) &&
           espl__flags_are_valid(options->inherit);
}

/// Write the command of an attach, field by field, because a copy of it takes longer than the rest of a
/// recording. Precondition: the options are valid, so that each fits a byte.
static inline void espl__fill_attach(espl__command *out, uint32_t key, espl_entity child,
                                     espl_entity parent, const espl_attach_options *o)
{
    ESPL_CHECK(espl__options_are_valid(o));
    out->target = child;
    out->parent = parent;
    out->before = o->before;
    out->key = key;
    out->count = out->pending = out->payload = out->value_count = 0;
    out->kind = ESPL__COMMAND_ATTACH;
    out->link = (uint8_t)o->link;
    out->place = out->dead_parent = 0;
    out->stay_position = (uint8_t)o->position;
    out->stay_rotation = (uint8_t)o->rotation;
    out->stay_scale = (uint8_t)o->scale;
    out->inherit = (uint8_t)o->inherit;
}

/// Return the command of an attach: see espl__fill_attach().
static inline espl__command espl__attach_command(espl_entity child, espl_entity parent,
                                                 const espl_attach_options *o)
{
    espl__command command;

    espl__fill_attach(&command, 0, child, parent, o);
    return command;
}

/// Make a command buffer. The caller sets hooks, last_custom and holder.
/// @param alive  counts the buffers of the world, up by this one.
/// @return ESPL_OK, ESPL_ERR_ARGUMENT: no lanes, ESPL_ERR_LIMIT, ESPL_ERR_NO_MEMORY.
espl_status espl__command_buffer_make(espl__heap *heap, const espl__store *store, const void *world,
                                      _Atomic uint32_t *alive, espl__submit_queue *queue,
                                      uint32_t lanes, espl_command_buffer **out);
/// Free a command buffer, also one that has commands or is in the queue.
void espl__command_buffer_free(espl_command_buffer *commands);
/// Remove all that was recorded in a lane, and keep the memory.
void espl__lane_clear(espl__lane *lane);
/// Remove a command buffer from the queue of its world. No effect if it is not in it.
void espl__command_buffer_withdraw(espl_command_buffer *commands);

// --- Recording (recorder.c) ---

/// ESPL_OK; ESPL_ERR_ARGUMENT for NULL, ESPL_ERR_PLAYED.
espl_status espl__check_recorder(const espl_recorder *recorder);
/// Append a command and make room for its payload, which the caller fills. Precondition, here and
/// below: the command was checked. A call that fails appends nothing.
///
/// @param alignment  of the payload: 0 or a power of two, at most ESPL__PAYLOAD_ALIGNMENT.
/// @param bytes      [size] out: the room; NULL for a size of 0.
/// @return ESPL_OK, ESPL_ERR_LIMIT, ESPL_ERR_NO_MEMORY.
espl_status espl__append_room(espl_recorder *recorder, const espl__command *command, size_t size,
                              size_t alignment, unsigned char **bytes);
/// Append a command without a payload.
/// @return ESPL_OK, ESPL_ERR_LIMIT, ESPL_ERR_NO_MEMORY.
espl_status espl__append(espl_recorder *recorder, const espl__command *command);
/// Refuse a command about one entity, and log why: see espl__refuse_record(). @return the status.
espl_status espl__refuse_target(const espl_recorder *recorder, const char *call, espl_entity entity,
                                espl_status status, const char *why);
/// espl_record_instantiate() and espl_record_create() with another name in messages, because
/// immediate calls record by these. A refusal is logged.
espl_status espl__record_instantiate(espl_recorder *recorder, uint32_t key,
                                     const espl_instance_def *def, size_t count,
                                     espl_entity *pending, const char *call);
espl_status espl__record_create(espl_recorder *recorder, uint32_t key, const espl_creation_def *def,
                                size_t count, espl_entity *pending, const char *call);
/// Return the definition of a spawn: one clone of a prefab. @param local  NULL: that of the prefab.
static inline espl_instance_def espl__spawn_def(espl_entity prefab, espl_entity parent,
                                                const espl_transform *local)
{
    espl_instance_def def = {.source = prefab, .parent = parent};

    if (local != NULL) {
        def.place = ESPL_PLACE_LOCAL;
        def.transform = *local;
    }
    return def;
}
/// espl_record_write() with another name in messages. A refusal is logged.
espl_status espl__record_write(espl_recorder *recorder, uint32_t key, espl_entity entity,
                               espl_write_kind kind, const void *value, const char *call);

/// A component that a command gives or removes.
typedef struct espl__given {
    espl__value_header header;
    const void *bytes; // [header.size]; NULL: zero bytes
} espl__given;

/// Append a command with a payload of values, and before them perhaps a transform.
/// @param transform  NULL: none.
/// @param pending    [command->count] out: handles of the entities to be made; may be NULL.
/// @return as espl__append().
espl_status espl__append_given(espl_recorder *recorder, const espl__command *command,
                               const espl_transform *transform, const espl__given *given,
                               size_t count, espl_entity *pending);

#endif
