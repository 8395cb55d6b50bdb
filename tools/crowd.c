// SPDX-License-Identifier: MIT
#include "tools/crowd.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/// Of each copy in a hundred that is destroyed: as a part of a carrier, and alone.
#define CARRIER_SHARE 0.004
#define COPY_SHARE 0.006
/// Turns of a carrier on its circle, and swings about the vertical, in a second: in four seconds it is where it
/// was, so that a film can end where it begins.
#define CARRIER_TURNS 0.25

/// Order of playback: carriers are created before their copies, and destroys come last.
enum { KEY_CARRIER, KEY_COPY, KEY_DESTROY };

double crowd_clock(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// Layout.

/// Choose the number of seat columns that makes a carrier about as wide as deep.
static size_t choose_columns(const double spacing[2])
{
    size_t columns = 1;

    while (2 * columns < CROWD_SEATS &&
           (double)(2 * columns * columns) * spacing[1] < CROWD_SEATS * spacing[0]) {
        columns *= 2;
    }
    return columns;
}

static void place_seat(tool_crowd *crowd, size_t index, const double spacing[2])
{
    const size_t seat = index % CROWD_SEATS;
    const int up = crowd->scene->up_axis;
    const size_t column = seat % crowd->seat_columns, row = seat / crowd->seat_columns;
    const double last_column = (double)(crowd->seat_columns - 1);
    const double last_row = (double)(CROWD_SEATS / crowd->seat_columns - 1);
    crowd_copy *const copy = &crowd->copies[index];

    copy->carrier = (uint32_t)(index / CROWD_SEATS);
    copy->nodes = crowd->nodes + index * crowd->scene->node_count;
    copy->place = placement_identity();
    copy->place.position[(up + 1) % 3] = ((double)row - last_row / 2) * spacing[0];
    copy->place.position[(up + 2) % 3] = ((double)column - last_column / 2) * spacing[1];
}

/// Carriers stand in a grid that is about as wide as deep.
static void place_home(tool_crowd *crowd, size_t index, const double spacing[2])
{
    const double wide = spacing[1] * ((double)crowd->seat_columns + 1.2);
    const double deep = spacing[0] * ((double)(CROWD_SEATS / crowd->seat_columns) + 1.4);
    const double even = sqrt((double)crowd->carrier_count * deep / wide);
    const size_t columns = (size_t)fmin(ceil(even), (double)crowd->carrier_count);
    const size_t rows = (crowd->carrier_count + columns - 1) / columns;
    crowd_carrier *const carrier = &crowd->carriers[index];
    const double row = (double)(index / columns) - (double)(rows - 1) / 2;
    const double column = (double)(index % columns) - (double)(columns - 1) / 2;

    carrier->home[0] = row * deep;
    carrier->home[1] = column * wide;
    carrier->beat = random_unit(&crowd->random) * 6.283185307179586;
    carrier->place = placement_identity();
}

/// Carriers drift on small circles and swing about the vertical.
static tool_placement place_carrier(const tool_crowd *crowd, const crowd_carrier *carrier,
                                    double seconds)
{
    const int up = crowd->scene->up_axis;
    const double beat = carrier->beat + CARRIER_TURNS * 6.283185307179586 * seconds;
    tool_placement place = placement_identity();
    double axis[3] = {0, 0, 0};

    axis[up] = 1;
    quaternion_about(place.rotation, axis, 0.2 * sin(beat));
    place.position[(up + 1) % 3] = carrier->home[0] + crowd->drift * cos(beat);
    place.position[(up + 2) % 3] = carrier->home[1] + crowd->drift * sin(beat);
    return place;
}

static oracle_frame frame_between(const tool_placement *earlier, const tool_placement *later,
                                  const tool_placement *seat, double share)
{
    oracle_frame frame = oracle_frame_identity();

    oracle_frame_push(&frame, earlier, later, share);
    oracle_frame_push(&frame, seat, seat, share);
    return frame;
}

oracle_frame crowd_frame(const tool_crowd *crowd, const crowd_copy *copy)
{
    const crowd_carrier *const carrier = &crowd->carriers[copy->carrier];

    return frame_between(&carrier->place, &carrier->place, &copy->place, 1);
}

oracle_frame crowd_frame_between(const tool_crowd *crowd, const crowd_copy *copy, double share)
{
    const crowd_carrier *const carrier = &crowd->carriers[copy->carrier];

    return frame_between(&carrier->earlier, &carrier->place, &copy->place, share);
}

void crowd_deck(const tool_crowd *crowd, double half[2])
{
    half[0] = crowd->spacing[0] * ((double)(CROWD_SEATS / crowd->seat_columns) / 2 + 0.1);
    half[1] = crowd->spacing[1] * ((double)crowd->seat_columns / 2 + 0.15);
}

// Opening.

static bool mark_prefab(tool_stage *stage, espl_entity entity, tool_fault *fault)
{
    return stage_went_well(stage, espl_add_component(stage->world, entity, ESPL_PREFAB, NULL, 0),
                           "espl_add_component", fault);
}

/// Create a carrier, and a seat with the scene's nodes below it. All are prefabs, because queries skip
/// prefabs and so find the copies only.
static bool make_prefabs(tool_crowd *crowd, tool_fault *fault)
{
    tool_stage *const stage = crowd->stage;
    const espl_component kinds[] = {ESPL_TRANSFORM, stage->copy_kind};
    espl_entity *const nodes = crowd->nodes; // unused until copies are spawned

    if (!stage_went_well(stage, espl_create(stage->world, kinds, 1, 1, &crowd->carrier_prefab),
                         "espl_create", fault) ||
        !stage_went_well(stage, espl_create(stage->world, kinds, 2, 1, &crowd->seat_prefab),
                         "espl_create", fault) ||
        !stage_plant(stage, crowd->scene, crowd->seat_prefab, nodes, fault) ||
        !mark_prefab(stage, crowd->carrier_prefab, fault) ||
        !mark_prefab(stage, crowd->seat_prefab, fault)) {
        return false;
    }
    for (size_t i = 0; i < crowd->scene->node_count; ++i) {
        if (!mark_prefab(stage, nodes[i], fault)) {
            return false;
        }
    }
    return true;
}

/// Clones have the names of their sources.
static bool name_prefabs(tool_crowd *crowd, tool_fault *fault)
{
    tool_stage *const stage = crowd->stage;

    return stage_went_well(stage, espl_set_name(stage->world, crowd->carrier_prefab, "carrier"),
                           "espl_set_name", fault) &&
           stage_went_well(stage, espl_set_name(stage->world, crowd->seat_prefab, "copy"),
                           "espl_set_name", fault) &&
           stage_name(stage, crowd->scene, crowd->nodes, fault);
}

static bool reserve(tool_crowd *crowd, tool_fault *fault)
{
    crowd->carriers = calloc(crowd->carrier_count, sizeof *crowd->carriers);
    crowd->copies = calloc(crowd->copy_count, sizeof *crowd->copies);
    crowd->nodes = calloc(crowd->copy_count * crowd->scene->node_count, sizeof *crowd->nodes);
    if (crowd->carriers == NULL || crowd->copies == NULL || crowd->nodes == NULL) {
        fault_say(fault, "no memory for %zu copies", crowd->copy_count);
        return false;
    }
    return stage_went_well(
        crowd->stage,
        espl_command_buffer_create(crowd->stage->world, CROWD_LANES, &crowd->commands),
        "espl_command_buffer_create", fault);
}

bool crowd_open(tool_crowd *crowd, tool_stage *stage, const tool_scene *scene,
                const crowd_plan *plan, tool_fault *fault)
{
    *crowd = (tool_crowd){
        .stage = stage,
        .scene = scene,
        .phase_count = plan->phase_count,
        .respawn = plan->respawn,
        .copy_count = plan->copy_count,
        .carrier_count = ((size_t)plan->copy_count + CROWD_SEATS - 1) / CROWD_SEATS,
        .random = {plan->seed},
    };
    if (!reserve(crowd, fault) || !make_prefabs(crowd, fault) ||
        (plan->is_named && !name_prefabs(crowd, fault))) {
        crowd_close(crowd);
        return false;
    }

    crowd->seat_columns = choose_columns(plan->spacing);
    crowd->spacing[0] = plan->spacing[0];
    crowd->spacing[1] = plan->spacing[1];
    crowd->drift = 0.2 * fmin(plan->spacing[0], plan->spacing[1]);
    for (size_t i = 0; i < crowd->carrier_count; ++i) {
        place_home(crowd, i, plan->spacing);
    }
    for (size_t i = 0; i < crowd->copy_count; ++i) {
        place_seat(crowd, i, plan->spacing);
    }
    return true;
}

void crowd_close(tool_crowd *crowd)
{
    espl_command_buffer_destroy(crowd->commands);
    free(crowd->carriers);
    free(crowd->copies);
    free(crowd->nodes);
    *crowd = (tool_crowd){0};
}

// Spawns and destroys.

/// Round a share of a count to an integer, up or down at random with the mean kept.
static size_t draw_count(random_stream *stream, size_t count, double share)
{
    return (size_t)((double)count * share + random_unit(stream));
}

static void mark_carriers(tool_crowd *crowd)
{
    const size_t count =
        draw_count(&crowd->random, crowd->carrier_count, crowd->respawn * CARRIER_SHARE);

    for (size_t i = 0; i < count; ++i) {
        const uint32_t chosen = random_below(&crowd->random, (uint32_t)crowd->carrier_count);
        crowd_carrier *const carrier = &crowd->carriers[chosen];
        carrier->fate = carrier->is_alive ? FATE_DESTROY : carrier->fate;
    }
}

/// A copy on a carrier that is destroyed is destroyed with it, and needs no command.
static void mark_copies(tool_crowd *crowd)
{
    const size_t count = draw_count(&crowd->random, crowd->copy_count, crowd->respawn * COPY_SHARE);

    for (size_t i = 0; i < count; ++i) {
        const uint32_t chosen = random_below(&crowd->random, (uint32_t)crowd->copy_count);
        crowd_copy *const copy = &crowd->copies[chosen];
        const bool is_carried = crowd->carriers[copy->carrier].fate != FATE_DESTROY;
        copy->fate = copy->is_alive && is_carried ? FATE_DESTROY : copy->fate;
    }
}

static void decide(tool_crowd *crowd, double seconds, bool is_last)
{
    for (size_t i = 0; i < crowd->carrier_count; ++i) {
        crowd_carrier *const carrier = &crowd->carriers[i];
        carrier->fate = carrier->is_alive ? FATE_STAY : FATE_SPAWN;
        carrier->earlier = carrier->place;
        carrier->place = place_carrier(crowd, carrier, seconds);
        if (carrier->fate == FATE_SPAWN) {
            carrier->earlier = carrier->place;
        }
    }
    if (!is_last) {
        mark_carriers(crowd);
    }
    for (size_t i = 0; i < crowd->copy_count; ++i) {
        crowd_copy *const copy = &crowd->copies[i];
        const bool is_carried = crowd->carriers[copy->carrier].fate != FATE_DESTROY;
        copy->fate = !copy->is_alive && is_carried ? FATE_SPAWN : FATE_STAY;
    }
    if (!is_last) {
        mark_copies(crowd);
    }
}

static void note(tool_crowd *crowd, size_t lane, espl_status status)
{
    if (!espl_failed(crowd->recorded[lane])) {
        crowd->recorded[lane] = status;
    }
}

static void record_carrier(tool_crowd *crowd, size_t lane, crowd_carrier *carrier)
{
    espl_recorder *const recorder = espl_command_buffer_recorder(crowd->commands, (uint32_t)lane);

    if (carrier->fate == FATE_SPAWN) {
        const espl_instance_def def = {
            .source = crowd->carrier_prefab,
            .place = ESPL_PLACE_WORLD,
            .transform = placement_round(&carrier->place),
        };
        note(crowd, lane,
             espl_record_instantiate(recorder, KEY_CARRIER, &def, 1, &carrier->pending));
    } else if (carrier->fate == FATE_DESTROY) {
        note(crowd, lane,
             espl_record_destroy(recorder, KEY_DESTROY, carrier->entity, ESPL_EXTENT_OWNED));
    }
}

static void record_copy(tool_crowd *crowd, size_t lane, crowd_copy *copy)
{
    espl_recorder *const recorder = espl_command_buffer_recorder(crowd->commands, (uint32_t)lane);
    const crowd_carrier *const carrier = &crowd->carriers[copy->carrier];

    if (copy->fate == FATE_SPAWN) {
        const uint32_t number = (uint32_t)(copy - crowd->copies);
        const espl_component_value value = {crowd->stage->copy_kind, sizeof number, &number};
        const espl_instance_def def = {
            .source = crowd->seat_prefab,
            .parent = carrier->fate == FATE_SPAWN ? carrier->pending : carrier->entity,
            .place = ESPL_PLACE_LOCAL,
            .transform = placement_round(&copy->place),
            .values = &value,
            .value_count = 1,
        };
        note(crowd, lane, espl_record_instantiate(recorder, KEY_COPY, &def, 1, &copy->pending));
    } else if (copy->fate == FATE_DESTROY) {
        note(crowd, lane,
             espl_record_destroy(recorder, KEY_DESTROY, copy->seat, ESPL_EXTENT_OWNED));
    }
}

static void record_carriers(tool_crowd *crowd, size_t lane)
{
    for (size_t i = lane; i < crowd->carrier_count; i += CROWD_LANES) {
        record_carrier(crowd, lane, &crowd->carriers[i]);
    }
}

/// Copies are distributed over the lanes in another way than carriers, so that the parent of most new
/// copies is a pending handle of another lane.
static void record_copies(tool_crowd *crowd, size_t lane)
{
    const size_t begin = crowd->copy_count * lane / CROWD_LANES;
    const size_t end = crowd->copy_count * (lane + 1) / CROWD_LANES;

    for (size_t i = begin; i < end; ++i) {
        record_copy(crowd, lane, &crowd->copies[i]);
    }
}

/// One pass over all lanes. The two atomics order the work of each lane after the caller's earlier
/// writes and before its later reads, so that no executor needs to.
typedef struct lane_run {
    void (*record)(tool_crowd *crowd, size_t lane);
    tool_crowd *crowd;
    atomic_bool is_open;
    atomic_uint finished;
} lane_run;

static void run_lane(void *argument, size_t lane)
{
    lane_run *const run = argument;

    (void)atomic_load_explicit(&run->is_open, memory_order_acquire);
    run->record(run->crowd, lane);
    (void)atomic_fetch_add_explicit(&run->finished, 1, memory_order_acq_rel);
}

static bool run_lanes(tool_crowd *crowd, void (*job)(tool_crowd *crowd, size_t lane))
{
    const espl_executor *const executor = &crowd->stage->executor;
    lane_run run = {.record = job, .crowd = crowd};

    atomic_init(&run.finished, 0);
    atomic_init(&run.is_open, false);
    atomic_store_explicit(&run.is_open, true, memory_order_release);
    if (executor->parallel_for != NULL) {
        executor->parallel_for(executor->context, run_lane, &run, CROWD_LANES);
    } else {
        for (size_t lane = 0; lane < CROWD_LANES; ++lane) {
            run_lane(&run, lane);
        }
    }
    return atomic_load_explicit(&run.finished, memory_order_acquire) == CROWD_LANES;
}

static bool record(tool_crowd *crowd, tool_fault *fault)
{
    memset(crowd->recorded, 0, sizeof crowd->recorded);
    if (!run_lanes(crowd, record_carriers) || !run_lanes(crowd, record_copies)) {
        fault_say(fault, "the executor did not run every lane");
        return false;
    }
    for (size_t lane = 0; lane < CROWD_LANES; ++lane) {
        if (!stage_went_well(crowd->stage, crowd->recorded[lane], "recording", fault)) {
            return false;
        }
    }
    return true;
}

static void add_account(espl_report *sum, const espl_report *part)
{
    sum->accepted += part->accepted;
    sum->applied += part->applied;
    sum->refused += part->refused;
    sum->lossy += part->lossy;
    sum->created += part->created;
    sum->destroyed += part->destroyed;
}

static bool play(tool_crowd *crowd, tool_fault *fault)
{
    espl_report report = {0};

    if (!stage_went_well(crowd->stage, espl_command_buffer_submit(crowd->commands),
                         "espl_command_buffer_submit", fault)) {
        return false;
    }
    const double begin = crowd_clock();
    const espl_status status = espl_sync(crowd->stage->world, &report);
    crowd->playback_seconds += crowd_clock() - begin;
    add_account(&crowd->account, &report);
    return stage_went_well(crowd->stage, status, "espl_sync", fault);
}

static bool number_is(const tool_stage *stage, espl_entity entity, espl_component kind,
                      uint32_t number)
{
    uint32_t found = UINT32_MAX;

    return !espl_failed(espl_get_component(stage->world, entity, kind, &found, sizeof found)) &&
           found == number && !espl_has_component(stage->world, entity, ESPL_PREFAB);
}

/// Resolve the entities of a new copy, and compare them with the prefab.
static bool meet_copy(tool_crowd *crowd, crowd_copy *copy, tool_fault *fault)
{
    const tool_stage *const stage = crowd->stage;
    const size_t count = crowd->scene->node_count;
    const uint32_t number = (uint32_t)(copy - crowd->copies);

    if (!stage_went_well(stage,
                         espl_command_buffer_resolve(crowd->commands, copy->pending, &copy->seat),
                         "espl_command_buffer_resolve", fault)) {
        return false;
    }
    bool is_right = number_is(stage, copy->seat, stage->copy_kind, number) &&
                    stage_list_below(stage, copy->seat, copy->nodes, count) == count;
    for (uint32_t i = 0; is_right && i < count; ++i) {
        is_right = number_is(stage, copy->nodes[i], stage->node_kind, i);
    }
    if (!is_right) {
        fault_say(fault, "copy %u differs from its prefab", number);
        return false;
    }
    copy->phase = random_below(&crowd->random, crowd->phase_count);
    copy->is_alive = true;
    ++crowd->made;
    return true;
}

static bool meet(tool_crowd *crowd, tool_fault *fault)
{
    for (size_t i = 0; i < crowd->carrier_count; ++i) {
        crowd_carrier *const carrier = &crowd->carriers[i];

        carrier->is_alive = carrier->fate != FATE_DESTROY;
        if (carrier->fate == FATE_SPAWN &&
            !stage_went_well(
                crowd->stage,
                espl_command_buffer_resolve(crowd->commands, carrier->pending, &carrier->entity),
                "espl_command_buffer_resolve", fault)) {
            return false;
        }
    }
    for (size_t i = 0; i < crowd->copy_count; ++i) {
        crowd_copy *const copy = &crowd->copies[i];

        if (copy->fate == FATE_DESTROY || !crowd->carriers[copy->carrier].is_alive) {
            copy->is_alive = false;
        } else if (copy->fate == FATE_SPAWN && !meet_copy(crowd, copy, fault)) {
            return false;
        }
    }
    return true;
}

bool crowd_change(tool_crowd *crowd, double seconds, bool is_last, tool_fault *fault)
{
    decide(crowd, seconds, is_last);
    if (!record(crowd, fault) || !play(crowd, fault) || !meet(crowd, fault)) {
        return false;
    }
    espl_command_buffer_reset(crowd->commands);
    return true;
}

bool crowd_move(tool_crowd *crowd, double seconds, tool_fault *fault)
{
    for (size_t i = 0; i < crowd->carrier_count; ++i) {
        crowd_carrier *const carrier = &crowd->carriers[i];

        if (!carrier->is_alive) {
            continue;
        }
        carrier->place = place_carrier(crowd, carrier, seconds);
        const espl_transform local = placement_round(&carrier->place);
        const espl_status status =
            espl_set_local_transform(crowd->stage->world, carrier->entity, &local);
        if (!stage_went_well(crowd->stage, status, "espl_set_local_transform", fault)) {
            return false;
        }
    }
    return true;
}
