// SPDX-License-Identifier: MIT
// Commands objects at the public face, and their playback.
#include "lib/world/inside.h"

#include <string.h>

espl_status espl_commands_create(espl_world *world, uint32_t lanes, espl_commands **out)
{
    if (!ESPL_DEMAND(espl__hooks_of(world), world != NULL && out != NULL)) {
        return ESPL_ERR_ARGUMENT;
    }
    const espl_status status = espl__commands_make(
        &world->heap, &world->store, world, &world->commands_alive, &world->submitted, lanes, out);

    if (status == ESPL_OK) {
        (*out)->hooks = &world->hooks;
    }
    return espl__refuse(world, "making of commands", espl_entity_null(), status);
}

// Room for the answers, so that playback need not fail at its end.
static bool reserve_answers(espl_world *world, espl_commands *commands)
{
    for (uint32_t i = 0; i < commands->lane_count; ++i) {
        espl__lane *const lane = &commands->recorders[i].lane;
        const size_t count = espl__array_length(lane->commands);

        if (!ESPL_ARRAY_RESERVE(&world->heap, ESPL__FOR_RECORDING, lane->results,
                                count - espl__array_length(lane->results)) ||
            !ESPL_ARRAY_RESERVE(&world->heap, ESPL__FOR_RECORDING, lane->created,
                                lane->pending_count - espl__array_length(lane->created))) {
            return false;
        }
    }
    return true;
}

static espl__lane_view view_of(const espl__lane *lane)
{
    return (espl__lane_view){.commands = lane->commands,
                             .payload = lane->payload,
                             .created = lane->created,
                             .results = lane->results,
                             .count = espl__array_length(lane->commands),
                             .pending_count = lane->pending_count};
}

static void mark_played(espl_commands *commands)
{
    for (uint32_t i = 0; i < commands->lane_count; ++i) {
        espl__lane *const lane = &commands->recorders[i].lane;

        espl__array_set_length(lane->results, espl__array_length(lane->commands));
        espl__array_set_length(lane->created, lane->pending_count);
    }
    espl__commands_withdraw(commands);
    commands->is_played = true;
}

static espl_status play(espl_world *world, espl_commands *commands, espl_report *report)
{
    espl__lane_view lanes[ESPL_LANE_LIMIT];
    espl_status status = espl__check_structural(world);

    if (status == ESPL_OK && !ESPL_DEMAND(&world->hooks, commands != NULL)) {
        status = ESPL_ERR_ARGUMENT;
    }
    if (status != ESPL_OK) {
        return status;
    }
    if (commands->world != world) {
        return ESPL_ERR_FOREIGN;
    }
    if (commands->is_played) {
        return ESPL_ERR_PLAYED;
    }
    if (!reserve_answers(world, commands)) {
        return ESPL_ERR_NO_MEMORY;
    }

    for (uint32_t i = 0; i < commands->lane_count; ++i) {
        lanes[i] = view_of(&commands->recorders[i].lane);
    }
    world->is_playing = true;
    status =
        espl__playback_run(&world->playback, lanes, commands->lane_count, commands->tag, report);
    world->is_playing = false;
    if (status == ESPL_OK) {
        mark_played(commands);
        world->playback.accepted += report->accepted;
        world->playback.applied += report->applied;
        world->playback.refused += report->refused;
    }
    return status;
}

espl_status espl_play(espl_world *world, espl_commands *commands, espl_report *report)
{
    espl_report account = {0};
    const espl_status status = play(world, commands, &account);

    if (report != NULL) {
        *report = account;
    }
    return espl__refuse(world, "playback", espl_entity_null(), status);
}

static void sum_up(espl_report *sum, const espl_report *one)
{
    for (size_t i = 0; i < ESPL_REASON_COUNT; ++i) {
        if (sum->refused_by[i] == 0) {
            sum->first_refused[i] = one->first_refused[i];
        }
        sum->refused_by[i] += one->refused_by[i];
    }
    sum->accepted += one->accepted;
    sum->applied += one->applied;
    sum->refused += one->refused;
    sum->lossy += one->lossy;
    sum->created += one->created;
    sum->destroyed += one->destroyed;
    sum->row_moves += one->row_moves;
    sum->groups += one->groups;
    sum->rebuilt_nodes += one->rebuilt_nodes;
    sum->visited_nodes += one->visited_nodes;
}

espl_status espl_sync(espl_world *world, espl_report *report)
{
    espl_report sum = {0};
    espl_status status = espl__check_structural(world);

    while (status == ESPL_OK && world->submitted != NULL) {
        espl_report one = {0};

        status = play(world, world->submitted, &one);
        sum_up(&sum, &one);
    }
    if (report != NULL) {
        *report = sum;
    }
    return espl__refuse(world, "sync", espl_entity_null(), status);
}
