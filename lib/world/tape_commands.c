// SPDX-License-Identifier: MIT
// Commands on the tape: of a command buffer that is played, and of a call that creates entities by one
// command (lib/world/tape_bytes.h).
//
// The tape has the commands of a buffer in an order in which a pending entity is created before a
// command names it, so that a replay can record them one by one. Custom commands are left out,
// because what their functions change has records of its own.
#include "lib/world/tape_commands.h"

#include "lib/commands/command_buffer.h"
#include "lib/world/tape_bytes.h"

#include <string.h>

static const uint8_t tape_commands[ESPL__COMMAND_KINDS] = {
    [ESPL__COMMAND_INSTANTIATE] = ESPL_TAPE_COMMAND_INSTANTIATE,
    [ESPL__COMMAND_DESTROY] = ESPL_TAPE_COMMAND_DESTROY,
    [ESPL__COMMAND_ATTACH] = ESPL_TAPE_COMMAND_ATTACH,
    [ESPL__COMMAND_DETACH] = ESPL_TAPE_COMMAND_DETACH,
    [ESPL__COMMAND_SIBLING] = ESPL_TAPE_COMMAND_SIBLING,
    [ESPL__COMMAND_WRITE] = ESPL_TAPE_COMMAND_WRITE,
    [ESPL__COMMAND_INHERIT] = ESPL_TAPE_COMMAND_INHERIT,
    [ESPL__COMMAND_CREATE] = ESPL_TAPE_COMMAND_CREATE,
    [ESPL__COMMAND_CREATE_BARE] = ESPL_TAPE_COMMAND_CREATE_BARE,
    [ESPL__COMMAND_CHANGE] = ESPL_TAPE_COMMAND_CHANGE,
    [ESPL__COMMAND_SET] = ESPL_TAPE_COMMAND_SET,
    [ESPL__COMMAND_ENABLE] = ESPL_TAPE_COMMAND_ENABLE,
    [ESPL__COMMAND_DISABLE] = ESPL_TAPE_COMMAND_DISABLE,
};

// Bytes before the component values in the payload of a command.
static size_t head_size(const espl__command *command)
{
    if (command->kind == ESPL__COMMAND_WRITE) {
        return espl__write_value_size((espl_write_kind)command->place);
    }
    return espl__command_has_transform(command) ? sizeof(espl_transform) : 0;
}

// The component values of a command, from its payload (lib/commands/component_values.h).
static void put_command_values(espl_world *world, const espl__command *command,
                               const unsigned char *payload)
{
    espl__value_layout layout = espl__values_begin(head_size(command));

    espl__tape_u32(world, command->value_count);
    for (uint32_t i = 0; i < command->value_count; ++i) {
        espl__value_header header;

        memcpy(&header, payload + layout.size, sizeof header);
        const size_t size = espl__value_size(&header);
        const size_t at = espl__layout_value(&layout, size, header.alignment);

        espl__tape_u32(world, header.component);
        espl__tape_u32(world, header.size);
        espl__tape_bytes(world, payload + at, size);
    }
}

// How far the commands of a lane are written.
typedef struct lane_cursor {
    size_t next;   // index of the first command that is not written
    uint32_t made; // pending entities whose creation is written
} lane_cursor;

// Tell whether the tape has the creation of an entity already. An entity of the world always is
// known.
static bool is_known(const lane_cursor *cursors, espl_entity entity)
{
    return !espl__is_pending(entity) || entity.index < cursors[espl__pending_lane(entity)].made;
}

// A pending handle that no command created is a handle that the user made up. A handle of another
// world is written instead, because a replay refuses it with the same status.
static void put_operand(espl_world *world, const lane_cursor *cursors, espl_entity entity)
{
    const espl_entity stranger = {0, (world->store.tag ^ 1u) << ESPL__TAG_SHIFT | 1u};

    espl__tape_entity(world, is_known(cursors, entity) ? entity : stranger);
}

// @param number  of the lane.
static void put_command(espl_world *world, uint32_t number, const lane_cursor *cursors,
                        const espl__command *command, const espl__lane *lane)
{
    const uint8_t rules[8] = {
        command->link,          command->place,      command->dead_parent, command->stay_position,
        command->stay_rotation, command->stay_scale, command->inherit,     0};
    const size_t head = head_size(command);
    const unsigned char *const payload =
        head != 0 || command->value_count != 0
            ? espl__payload_at(lane->payloads.blocks, command->payload)
            : NULL;

    ESPL_CHECK(number < ESPL_LANE_LIMIT && command->kind < ESPL__COMMAND_KINDS);
    espl__tape_u32(world, number);
    espl__tape_u8(world, tape_commands[command->kind]);
    espl__tape_u32(world, command->key);
    put_operand(world, cursors, command->target);
    put_operand(world, cursors, command->parent);
    put_operand(world, cursors, command->before);
    espl__tape_u32(world, command->count);
    espl__tape_bytes(world, rules, sizeof rules);
    espl__tape_u32(world, (uint32_t)head);
    espl__tape_words(world, payload, head / 4);
    put_command_values(world, command, payload);
}

// Write the commands of a lane up to the first one that names a pending entity whose creation is not
// written yet, because it is in another lane.
// @param guesses  commands that are written although they name such an entity.
// @return commands that the cursor moved past.
static size_t put_lane(espl_world *world, const espl_command_buffer *commands, uint32_t number,
                       lane_cursor *cursors, size_t guesses)
{
    const espl__lane *const lane = &commands->recorders[number].lane;
    const size_t count = espl__array_length(lane->commands), from = cursors[number].next;
    size_t at = from;

    ESPL_CHECK(from <= count);
    for (; at < count; ++at) {
        const espl__command *const command = &lane->commands[at];

        // Custom commands are left out: what their functions change has records of its own.
        if (command->kind == ESPL__COMMAND_CUSTOM) {
            continue;
        }
        if (!is_known(cursors, command->target) || !is_known(cursors, command->parent) ||
            !is_known(cursors, command->before)) {
            if (guesses == 0) {
                break;
            }
            guesses -= 1;
        }
        put_command(world, number, cursors, command, lane);
        cursors[number].made += command->count;
    }
    cursors[number].next = at;
    return at - from;
}

// Write all lanes, creations of pending entities before the commands that name them. Each pass over
// the lanes writes at least one command: a handle exists before a command can name it, so some lane
// can go on. Where none can, a command names a handle that was made up; one such command is written.
void espl__tape_playback(espl_world *world, const espl_command_buffer *commands)
{
    lane_cursor cursors[ESPL_LANE_LIMIT] = {{0, 0}};
    size_t left = 0, guesses = 0;
    uint64_t count = 0;

    ESPL_CHECK(commands->lane_count <= ESPL_LANE_LIMIT);
    for (uint32_t lane = 0; lane < commands->lane_count; ++lane) {
        const espl__lane *const from = &commands->recorders[lane].lane;

        left += espl__array_length(from->commands);
        count += espl__array_length(from->commands) - from->custom_count;
    }
    espl__tape_u32(world, commands->lane_count);
    espl__tape_u32(world, commands->tag);
    espl__tape_u64(world, count);
    while (left != 0) {
        size_t passed = 0;

        for (uint32_t lane = 0; lane < commands->lane_count; ++lane) {
            passed += put_lane(world, commands, lane, cursors, passed == 0 ? guesses : 0);
        }
        ESPL_CHECK(passed != 0 || guesses == 0);
        guesses = passed == 0 ? 1 : 0;
        left -= passed;
    }
}

void espl__tape_command(espl_world *world, const espl__lane *lane)
{
    const lane_cursor cursors[ESPL_LANE_LIMIT] = {{0, 0}};

    ESPL_CHECK(espl__array_length(lane->commands) == 1);
    put_command(world, 0, cursors, &lane->commands[0], lane);
}
