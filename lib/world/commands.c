// SPDX-License-Identifier: MIT
// Command buffers and custom commands of a world, and their playback: espl_command_buffer_create(),
// espl_command_register(), espl_play(), espl_sync().
//
// lib/commands records and plays; this file checks the arguments, tells the tape and the
// statistics, and calls the functions of custom commands. A playback either fails with a status
// before it changes anything, and then may be tried again, or applies or refuses every command, and
// then the buffer is played. Functions of custom commands are called last, one after the other, as
// an iteration: they may read and write, and structural calls are refused.
#include "lib/world/commands.h"

#include "lib/commands/playback.h"
#include "lib/world/iterations.h"
#include "lib/world/refusals.h"
#include "lib/world/structure.h"
#include "lib/world/tape.h"

#include <string.h>

// Called here for users' buffers, and by creation.c for the world's own.
espl_status espl__commands_of(espl_world *world, _Atomic uint32_t *alive, uint32_t lanes,
                              espl_command_buffer **out)
{
    const espl_status status = espl__command_buffer_make(&world->heap, &world->store, world, alive,
                                                         &world->line, lanes, out);

    if (status == ESPL_OK) {
        (*out)->hooks = &world->hooks;
        (*out)->last_custom = &world->playback->custom.last;
        (*out)->holder = &world->holder;
    }
    return status;
}

// A change of the world, because the buffer takes memory of it.
espl_status espl_command_buffer_create(espl_world *world, uint32_t lanes, espl_command_buffer **out)
{
    static const char *const call = "espl_command_buffer_create";

    ESPL__CHANGE_OR_RETURN(world, call)
    if (world == NULL || out == NULL) {
        return espl__refuse_call(world, call, ESPL_ERR_ARGUMENT, "out is NULL.");
    }
    // In a job the world takes no memory for the caller.
    const espl_status status = espl__is_parallel(world)
                                   ? ESPL_ERR_BUSY
                                   : espl__commands_of(world, &world->commands_alive, lanes, out);

    return espl__refuse_call(world, call, status, "lanes is 0.");
}

// @return ESPL_OK; ESPL_ERR_BUSY; ESPL_ERR_ARGUMENT; statuses of espl__custom_register().
static espl_status register_custom(espl_world *world, const espl_custom_command_def *def,
                                   espl_custom_command *out)
{
    const espl_status status = espl__check_structural(world);

    if (status != ESPL_OK) {
        return status;
    }
    if (out == NULL || espl__custom_fault(def) != NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    return espl__custom_register(&world->heap, &world->playback->custom, def, out);
}

espl_status espl_command_register(espl_world *world, const espl_custom_command_def *def,
                                  espl_custom_command *out)
{
    static const char *const call = "espl_command_register";

    ESPL__CHANGE_OR_RETURN(world, call)
    if (def != NULL && ESPL__ASKS_LATER(def)) {
        return espl__refuse_later(world, call);
    }
    const espl_status status = register_custom(world, def, out);
    const char *const fault = espl__custom_fault(def);

    return espl__refuse_call(world, call, status, fault != NULL ? fault : "out is NULL.");
}

static const char no_such_command[] =
    "The world has no custom command of that number, or it was unregistered already.";

// @return ESPL_OK; ESPL_ERR_BUSY; statuses of espl__custom_unregister().
static espl_status unregister_custom(espl_world *world, espl_custom_command command)
{
    const espl_status status = espl__check_structural(world);

    return status != ESPL_OK
               ? status
               : espl__custom_unregister(&world->heap, &world->playback->custom, command);
}

espl_status espl_command_unregister(espl_world *world, espl_custom_command command)
{
    ESPL__CHANGE_OR_RETURN(world, "espl_command_unregister")
    return espl__refuse_call(world, "espl_command_unregister", unregister_custom(world, command),
                             no_such_command);
}

// --- Playback ---

// Reserve room for the results of the commands and for the payloads of custom commands, so that
// nothing fails after the playback.
// @return false: there is no memory.
static bool reserve_results(espl_world *world, espl_command_buffer *commands)
{
    size_t calls = 0;

    for (uint32_t i = 0; i < commands->lane_count; ++i) {
        espl__lane *const lane = &commands->recorders[i].lane;
        const size_t count = espl__array_length(lane->commands);

        // Handles of pending entities have room since they were recorded.
        ESPL_CHECK(lane->pending_count <= espl__array_capacity(lane->created));
        if (!ESPL_ARRAY_RESERVE(&world->heap, ESPL__FOR_RECORDING, lane->results,
                                count - espl__array_length(lane->results))) {
            return false;
        }
        calls += lane->custom_count;
    }
    return calls == 0 ||
           ESPL_ARRAY_RESERVE(&world->heap, ESPL__FOR_RECORDING, commands->payloads, calls);
}

// A lane as the playback reads it. Precondition: its arrays do not move until the playback has
// ended.
static espl__lane_view view_of(const espl__lane *lane)
{
    ESPL_CHECK(espl__array_capacity(lane->results) >= espl__array_length(lane->commands));
    return (espl__lane_view){.commands = lane->commands,
                             .payloads = lane->payloads.blocks,
                             .created = lane->created,
                             .results = lane->results,
                             .count = espl__array_length(lane->commands),
                             .pending_count = lane->pending_count,
                             .custom_count = lane->custom_count,
                             .traits = lane->traits};
}

// Make the results of a playback readable, and remove the buffer from the queue of espl_sync().
static void mark_played(espl_command_buffer *commands)
{
    ESPL_CHECK(!commands->is_played);
    for (uint32_t i = 0; i < commands->lane_count; ++i) {
        espl__lane *const lane = &commands->recorders[i].lane;

        espl__array_set_length(lane->results, espl__array_length(lane->commands));
        espl__array_set_length(lane->created, lane->pending_count);
    }
    espl__command_buffer_withdraw(commands);
    commands->is_played = true;
}

// Call the functions of custom commands, in the order of the commands.
static void call_functions(espl_world *world, espl_command_buffer *commands, size_t calls)
{
    ESPL_CHECK(!world->is_playing && !commands->is_handed_over);
    const espl__iteration_id id =
        espl__iteration_begin(world, ESPL__ITERATES_CALLBACK, NULL, commands, espl_entity_null());

    commands->is_handed_over = true;
    espl__custom_deliver(&world->playback->custom, &world->playback->trace, world, commands,
                         commands->payloads, calls);
    commands->is_handed_over = false;
    const bool is_ended = espl__iteration_end(world, id);

    ESPL_CHECK(is_ended);
    (void)is_ended;
}

// Why a buffer cannot be played now, or ESPL_OK.
static espl_status check_playable(const espl_world *world, const espl_command_buffer *commands)
{
    const espl_status status = espl__check_structural(world);

    if (status != ESPL_OK || commands == NULL) {
        return status != ESPL_OK ? status : ESPL_ERR_ARGUMENT;
    }
    if (commands->world != world) {
        return ESPL_ERR_FOREIGN;
    }
    return commands->is_played ? ESPL_ERR_PLAYED : ESPL_OK;
}

// Postcondition of ESPL_OK: every command has a result, and trees are settled. Otherwise nothing
// has changed. @param is_strict  one command that is refused refuses the playback.
static espl_status run_playback(espl_world *world, espl_command_buffer *commands,
                                espl_report *report, bool is_strict)
{
    espl__lane_view lanes[ESPL_LANE_LIMIT];

    ESPL_CHECK(!world->is_playing && commands->lane_count <= ESPL_LANE_LIMIT);
    if (!reserve_results(world, commands)) {
        return ESPL_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < commands->lane_count; ++i) {
        lanes[i] = view_of(&commands->recorders[i].lane);
    }
    const espl__play_request request = {.lanes = lanes,
                                        .lane_count = commands->lane_count,
                                        .tag = commands->tag,
                                        .is_strict = is_strict,
                                        .custom_payloads = commands->payloads};

    world->is_playing = true;
    const espl_status status = espl__playback_run(world->playback, &request, report);
    world->is_playing = false;
    if (status == ESPL_OK) {
        (void)espl__settle(world);
    }
    return status;
}

// What is recorded on the tape as one playback.
static espl_status run_timed(espl_world *world, espl_command_buffer *commands, espl_report *report,
                             bool is_timed)
{
    espl__trace_begin(&world->playback->trace, &world->hooks, is_timed);
    return run_playback(world, commands, report, false);
}

// What follows a playback that succeeded.
static void finish_playback(espl_world *world, espl_command_buffer *commands,
                            const espl_report *report)
{
    mark_played(commands);
    ESPL_CHECK(report->accepted == report->applied + report->refused);
    world->playback->totals.accepted += report->accepted;
    world->playback->totals.applied += report->applied;
    world->playback->totals.refused += report->refused;
    call_functions(world, commands, report->calls);
}

// Play a buffer of which one refused command refuses all. A replay has no such playback: that a command was
// refused is on the tape as ESPL_ERR_BUSY, which a replay leaves out. @param why  out: the status.
static espl_status run_strictly(espl_world *world, espl_command_buffer *commands,
                                espl_report *report, espl_status *why)
{
    espl__trace_begin(&world->playback->trace, &world->hooks, false);
    *why = run_playback(world, commands, report, true);
    return *why < 0 && world->playback->applied.first_refused != UINT32_MAX ? ESPL_ERR_BUSY : *why;
}

espl_status espl__play_strictly(espl_world *world, espl_command_buffer *commands,
                                espl_report *report)
{
    espl_status status = check_playable(world, commands);

    if (status != ESPL_OK) {
        return status;
    }
    (void)ESPL__TAPED(world, run_strictly(world, commands, report, &status), .op = ESPL_TAPE_PLAY,
                      .commands = commands);
    if (status == ESPL_OK) {
        finish_playback(world, commands, report);
    }
    espl__trace_end(&world->playback->trace);
    return status;
}

// Play one buffer. @param is_timed  the report wants the times of the stages.
static espl_status play_buffer(espl_world *world, espl_command_buffer *commands,
                               espl_report *report, bool is_timed)
{
    espl_status status = check_playable(world, commands);

    if (status != ESPL_OK) {
        return status;
    }
    espl__stage_trace *const trace = &world->playback->trace;

    // The record ends before functions of custom commands are called, because what these change has
    // records of its own.
    status = ESPL__TAPED(world, run_timed(world, commands, report, is_timed), .op = ESPL_TAPE_PLAY,
                         .commands = commands);
    if (status == ESPL_OK) {
        finish_playback(world, commands, report);
    }
    espl__trace_end(trace);
    if (status == ESPL_OK) {
        memcpy(report->stage_ns, trace->spent, sizeof report->stage_ns);
    }
    return status;
}

espl_status espl_play(espl_world *world, espl_command_buffer *commands, espl_report *report)
{
    espl_report account = {0};

    ESPL__CHANGE_OR_RETURN(world, "espl_play")
    const espl_status status = play_buffer(world, commands, &account, report != NULL);

    if (report != NULL) {
        *report = account;
    }
    return espl__refuse_call(world, "espl_play", status, "commands is NULL.");
}

// Refused commands by reason; the first of each is that of the first buffer that has one.
static void sum_reasons(espl_report *sum, const espl_report *one)
{
    for (size_t i = 0; i < ESPL_REASON_COUNT; ++i) {
        if (sum->refused_by[i] == 0) {
            sum->first_refused[i] = one->first_refused[i];
        }
        sum->refused_by[i] += one->refused_by[i];
    }
}

// Add the report of one buffer to that of all buffers of espl_sync().
static void sum_up(espl_report *sum, const espl_report *one)
{
    const size_t largest = one->largest_group;

    sum_reasons(sum, one);
    for (size_t i = 0; i < ESPL_STAGE_COUNT; ++i) {
        sum->stage_ns[i] += one->stage_ns[i];
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
    sum->pendings += one->pendings;
    sum->largest_group = largest > sum->largest_group ? largest : sum->largest_group;
    sum->moved_nodes += one->moved_nodes;
    sum->row_batches += one->row_batches;
    sum->calls += one->calls;
    sum->has_overflowed = sum->has_overflowed || one->has_overflowed;
}

// Settle trees where espl_sync() played nothing, because a layout may be due, or an earlier call may have
// lacked memory for it. A playback settles them itself, and has a record of its own on the tape.
static espl_status settle_idle(espl_world *world)
{
    (void)espl__settle(world);
    return ESPL_OK;
}

espl_status espl_sync(espl_world *world, espl_report *report)
{
    espl_report sum = {0};

    ESPL__CHANGE_OR_RETURN(world, "espl_sync")
    espl_status status = espl__check_structural(world);

    // Buffers that functions of custom commands submit wait for the next call, so that this one ends.
    const uint64_t last = status == ESPL_OK ? world->line.submissions : 0;

    bool is_settled = false; // by a playback

    while (status == ESPL_OK && world->line.first != NULL &&
           world->line.first->submission <= last) {
        espl_report one = {0};

        ESPL_CHECK(world->line.first->world == world && !world->line.first->is_played);

        status = play_buffer(world, world->line.first, &one, report != NULL);
        sum_up(&sum, &one);
        is_settled = is_settled || status == ESPL_OK;
    }
    if (status == ESPL_OK && !is_settled) {
        status = ESPL__TAPED(world, settle_idle(world), .op = ESPL_TAPE_SYNC);
    }
    if (report != NULL) {
        *report = sum;
    }
    return espl__refuse_call(world, "espl_sync", status, NULL);
}
