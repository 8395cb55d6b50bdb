// SPDX-License-Identifier: MIT
// Histories at random: a world goes back again and again, a twin without a history loads the image of that
// moment, and the model goes back as well. All three go on equally.
#include "tests/images.h"
#include "tests/runner.h"
#include "tests/stage.h"
#include "tests/steps.h"
#include "tests/watching.h"

#include <stdlib.h>
#include <string.h>

// --- The model goes back ---

// What a moment was. Handles need no copy: those of nodes that lived then stay until it is dropped.
typedef struct moment {
    uint64_t number, hash;
    model_node *nodes; // [count]
    uint32_t *living;  // [living_count]
    uint32_t count, living_count, history, recent;
    test_image images[2]; // of twins
} moment;

static void *copied(const void *from, size_t count, size_t size)
{
    void *const out = test_array(count, size);

    if (count != 0) {
        memcpy(out, from, count * size);
    }
    return out;
}

static moment moment_of(const test_tape *tape, uint64_t number)
{
    const test_model *const m = &tape->model;

    return (moment){.number = number,
                    .nodes = copied(m->nodes, m->count, sizeof *m->nodes),
                    .living = copied(m->living, m->living_count, sizeof *m->living),
                    .count = m->count,
                    .living_count = m->living_count,
                    .history = m->history,
                    .recent = tape->recent};
}

static void moment_end(moment *m)
{
    free(m->nodes);
    free(m->living);
    test_image_end(&m->images[0]);
    test_image_end(&m->images[1]);
}

static void model_return(test_tape *tape, const moment *to)
{
    test_model *const m = &tape->model;

    if (to->count != 0) {
        memcpy(m->nodes, to->nodes, to->count * sizeof *m->nodes);
    }
    if (to->living_count != 0) {
        memcpy(m->living, to->living, to->living_count * sizeof *m->living);
    }
    m->count = to->count;
    m->living_count = to->living_count;
    m->history = to->history;
    tape->recent = to->recent;
    tape_forget_pending(tape);
}

// --- The frames that a history must have ---

enum { MOMENTS = 64 };

typedef struct frames {
    espl_history *history;
    test_side *side;
    espl_history_def def;
    size_t large;
    moment moments[MOMENTS];
    uint32_t count;
    uint64_t number; // of the last mark
} frames;

// @param large  bytes that are enough for all frames.
static void past_begin(frames *p, test_side *side, size_t large, uint64_t *random)
{
    const size_t limits[] = {3000, 20000, large, large};

    p->side = side;
    p->count = 0;
    p->number = test_below(random, 5);
    p->large = large;
    p->def = (espl_history_def){.frames = test_below(random, MOMENTS),
                                .flags = test_below(random, 2),
                                .byte_limit = limits[test_below(random, 4)]};
    ck_ok(espl_history_create(side->world, &p->def, &p->history));
    p->def.frames = p->def.frames != 0 ? p->def.frames : 8;
}

static void past_end(frames *p)
{
    for (uint32_t i = 0; i < p->count; ++i) {
        moment_end(&p->moments[i]);
    }
    espl_history_destroy(p->history);
}

static void forget_first(frames *p, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        moment_end(&p->moments[i]);
    }
    p->count -= count;
    memmove(p->moments, p->moments + count, p->count * sizeof *p->moments);
}

// Forget what the history has dropped, which must be the oldest moments, and only where it must drop some.
static void past_follow(frames *p, const test_tape *tape)
{
    const bool is_large = p->def.byte_limit == p->large;
    const uint32_t before = p->count;
    uint64_t oldest = UINT64_MAX, newest = UINT64_MAX;
    uint32_t dropped = 0;

    if (espl_history_range(p->history, &oldest, &newest)) {
        tape_demand(tape, newest == p->moments[p->count - 1].number, "the newest is missing");
    }
    while (dropped < p->count && p->moments[dropped].number < oldest) {
        dropped += 1;
    }
    forget_first(p, dropped);
    tape_demand(tape, p->count == 0 || p->moments[0].number == oldest, "another oldest");
    tape_demand(tape, p->count <= p->def.frames, "%u frames", p->count);
    tape_demand(tape, !is_large || p->count == (before < p->def.frames ? before : p->def.frames),
                "%u of %u frames are left", p->count, before);
}

// Forget all moments where a call emptied the history, which it must do and no other.
static void past_empty(frames *p, const test_tape *tape, bool is_emptied)
{
    if (is_emptied) {
        forget_first(p, p->count);
    }
    tape_demand(tape, espl_history_range(p->history, NULL, NULL) == (p->count != 0),
                "a call %s the history", is_emptied ? "does not empty" : "empties");
}

// @return false where the frame was too large, so that it is the only one.
static bool past_mark(frames *p, const test_tape *tape, uint64_t step)
{
    test_heap *const heap = &p->side->test.heap;

    p->number += step;
    test_heap_arm(heap, 1, true);
    const espl_status status = espl_history_mark(p->history, p->number);
    tape_demand(tape, heap->failures == 0, "a mark takes memory");
    test_heap_arm(heap, 0, false);
    tape_demand(tape, status == ESPL_OK || status == ESPL_PARTLY, "mark: %s",
                espl_status_name(status));
    tape_demand(tape, status == ESPL_OK || p->def.byte_limit != p->large, "a small frame: no room");
    if (p->count == MOMENTS) {
        forget_first(p, 1);
    }
    p->moments[p->count++] = moment_of(tape, p->number);
    if (status == ESPL_PARTLY) {
        forget_first(p, p->count - 1);
    }
    past_follow(p, tape);
    if (p->def.flags != 0) {
        ck_ok(espl_history_hash(p->history, p->number, &p->moments[p->count - 1].hash));
    }
    return status == ESPL_OK;
}

// --- What a rewind reports ---

static int compare_index(const void *a, const void *b)
{
    const espl_entity *const x = a, *const y = b;

    return x->index < y->index ? -1 : x->index > y->index;
}

// The handles of living nodes, by index. @return to be freed.
static espl_entity *list_living(const test_side *side, const test_model *model)
{
    espl_entity *const out = test_array(model->living_count, sizeof *out);

    for (uint32_t i = 0; i < model->living_count; ++i) {
        out[i] = side->handles[model->living[i]];
    }
    qsort(out, model->living_count, sizeof *out, compare_index);
    return out;
}

// Demand that `got` is `all` without `those`. All ascend.
static void check_difference(const test_tape *tape, const espl_entity *got, size_t got_count,
                             const espl_entity *all, uint32_t all_count, const espl_entity *those,
                             uint32_t those_count)
{
    size_t found = 0;
    uint32_t at = 0;

    for (uint32_t i = 0; i < all_count; ++i) {
        while (at < those_count && those[at].index < all[i].index) {
            at += 1;
        }
        if (at < those_count && espl_entity_equal(those[at], all[i])) {
            continue;
        }
        tape_demand(tape, found < got_count && espl_entity_equal(got[found], all[i]),
                    "entity %u is not reported", all[i].index);
        found += 1;
    }
    tape_demand(tape, found == got_count, "%zu entities are reported, not %zu", got_count, found);
}

static void demand_valid(const test_side *side, const test_tape *tape)
{
    espl_validation found;

    tape_demand(tape, espl_validate(side->world, &found), "%s (entity %u)", found.rule,
                found.entity.index);
}

// Go back to a moment, which must take no memory, and let the model follow.
static void past_rewind(frames *p, test_tape *tape, uint32_t to)
{
    test_side *const side = p->side;
    test_heap *const heap = &side->test.heap;
    const uint32_t living = tape->model.living_count;
    const uint64_t turn = espl_world_timeline(side->world);
    espl_entity *const before = list_living(side, &tape->model);
    espl_rewind report;
    uint64_t hash = 0;

    memset(&report, 0xA5, sizeof report);
    test_heap_arm(heap, 1, true);
    const espl_status status = espl_history_rewind(p->history, p->moments[to].number, 0, &report);
    tape_demand(tape, heap->failures == 0, "a rewind takes memory");
    test_heap_arm(heap, 0, false);
    tape_demand(tape, status == ESPL_OK, "rewind: %s", espl_status_name(status));
    tape_demand(tape, espl_world_timeline(side->world) == turn + 1, "the timeline is not counted");
    for (uint32_t i = to + 1; i < p->count; ++i) {
        moment_end(&p->moments[i]);
    }
    p->count = to + 1;
    p->number = p->moments[to].number;
    model_return(tape, &p->moments[to]);
    past_follow(p, tape);
    if (p->def.flags != 0) {
        ck_ok(espl_history_hash(p->history, p->number, &hash));
        tape_demand(tape, hash == p->moments[to].hash, "another checksum");
    }

    espl_entity *const after = list_living(side, &tape->model);

    check_difference(tape, report.unborn, report.unborn_count, before, living, after,
                     tape->model.living_count);
    check_difference(tape, report.revived, report.revived_count, after, tape->model.living_count,
                     before, living);
    free(before);
    free(after);
    demand_valid(side, tape);
}

// Mostly one of the last frames.
static uint32_t pick_moment(const frames *p, uint64_t *random)
{
    const uint32_t back = test_below(random, test_one_in(random, 4) ? p->count
                                             : p->count < 8         ? p->count
                                                                    : 8);

    return p->count - 1 - back;
}

// Bytes for all that changes in MOMENTS frames of so many entities.
static size_t enough_for(uint32_t population)
{
    const size_t bytes = population * (size_t)131072;

    return bytes < 24 << 20 ? bytes : 24 << 20;
}

// --- Calls at once ---

typedef struct pair {
    test_tape tape;
    test_side here, twin;
    frames past;
    espl_history *other; // of the twin, for its checksums alone; NULL: none
    uint64_t twin_number;
    test_watcher watcher;
    bool is_watched;
    uint64_t random;
} pair;

static void demand_equal(const pair *p)
{
    const test_tape *const tape = &p->tape;

    tape_demand(tape, test_physical_hash(p->here.world) == test_physical_hash(p->twin.world),
                "another physical hash");
    tape_demand(tape, test_logical_hash(p->here.world) == test_logical_hash(p->twin.world),
                "another logical hash");
}

// Carry an operation out in both worlds.
static void carry_out(pair *p, const operation *op)
{
    test_tape *const tape = &p->tape;
    const espl_status status = side_run(&p->here, tape, op);
    const espl_status other = side_run(&p->twin, tape, op);
    const model_answer answer = tape_apply(tape, op);

    side_check(&p->here, tape, op, status, answer);
    side_check(&p->twin, tape, op, other, answer);
    tape_demand(tape, status == other || op->code == OP_STEP, "%s, and %s in the twin",
                espl_status_name(status), espl_status_name(other));
    const uint32_t known = p->here.mapped;

    side_map(&p->here, tape, op);
    side_map(&p->twin, tape, op);
    for (uint32_t i = known; i < p->here.mapped; ++i) {
        tape_demand(tape, espl_entity_equal(p->here.handles[i], p->twin.handles[i]),
                    "node %u has another handle", i);
    }
    past_empty(
        &p->past, tape,
        status >= 0 && (op->code == OP_TRIM || (op->code == OP_STEP && op->step <= STEP_STOP)));
}

// The same call in both worlds. @return how many operations it was.
static size_t step(pair *p)
{
    const operation op = tape_next(&p->tape);

    carry_out(p, &op);
    return op.code == OP_BATCH ? op.count : 1;
}

static void draw(pair *p)
{
    const operation update = {
        .code = OP_STEP, .count = 1, .step = STEP_UPDATE, .load = test_random(&p->random)};

    carry_out(p, &update);
}

// Make more nodes renderables.
static void dress(pair *p)
{
    for (int i = 0; i < 6; ++i) {
        operation op = {.code = OP_STEP, .count = 1};

        pick_renderable_step(&p->tape, &p->random, &op);
        carry_out(p, &op);
    }
}

// Side arrays that are reserved are a part of a frame and of an image, though no node has anything in them.
static void reserve_side(pair *p)
{
    const test_model *const m = &p->tape.model;
    const uint32_t node =
        m->living_count == 0 ? 0 : m->living[test_below(&p->random, m->living_count)];

    if (m->living_count != 0) {
        const espl_status status = espl_reserve(
            p->here.world, &(espl_reserve_def){.side_of = p->here.handles[node]});

        ck_status(espl_reserve(p->twin.world,
                               &(espl_reserve_def){.side_of = p->twin.handles[node]}),
                  status);
    }
}

static void mark(pair *p)
{
    uint64_t hash = 0;
    frames *const past = &p->past;
    const bool is_marked = past_mark(past, &p->tape, 1 + test_below(&p->random, 3));

    past->moments[past->count - 1].images[0] = test_image_of(p->twin.world);
    if (p->other != NULL && is_marked && past->def.flags != 0) {
        p->twin_number += 1;
        ck_ok(espl_history_mark(p->other, p->twin_number));
        ck_ok(espl_history_hash(p->other, p->twin_number, &hash));
        tape_demand(&p->tape, hash == past->moments[past->count - 1].hash,
                    "worlds that are equal have different checksums");
    }
}

static void go_back(pair *p)
{
    frames *const past = &p->past;

    if (past->count == 0) {
        ck_status(espl_history_rewind(past->history, past->number, 0, NULL), ESPL_ERR_TOO_OLD);
        return;
    }
    const uint32_t to = pick_moment(past, &p->random);

    past_rewind(past, &p->tape, to);
    test_image_load(p->twin.world, &past->moments[to].images[0], ESPL_IMAGE_TRUSTED);
    p->here.mapped = p->twin.mapped = p->tape.model.count;
    if (test_one_in(&p->random, 8)) {
        test_image_compare(p->here.world, p->twin.world);
        side_compare(&p->here, &p->tape);
        side_compare_past(&p->here, &p->twin, &p->tape);
    }
    demand_equal(p);
}

static void pair_begin(pair *p, uint64_t seed, uint32_t population, bool draws)
{
    memset(p, 0, sizeof *p);
    p->random = seed;
    tape_begin(&p->tape, seed, population);
    tape_take_cells(&p->tape);
    p->tape.moves = seed % 4 == 1;
    p->tape.draws = draws;
    if (draws) {
        tape_prefer_structure(&p->tape);
    }
    p->tape.style.weights[OP_TRIM] /= 2;
    side_begin(&p->here, &p->tape, 1, NULL);
    side_begin(&p->twin, &p->tape, 1, NULL);
    p->twin.is_unseen = true; // what is shown is no part of a value
    past_begin(&p->past, &p->here, enough_for(population), &p->random);
    if (seed % 2 == 0) {
        const espl_history_def def = {
            .frames = 1, .flags = ESPL_HISTORY_HASH, .byte_limit = 4 << 20};

        ck_ok(espl_history_create(p->twin.world, &def, &p->other));
    }
    p->is_watched = seed % 3 == 0;
    if (p->is_watched) {
        test_watcher_begin(&p->watcher, p->here.world,
                           test_watch_flags[seed / 6 % TEST_WATCH_FLAGS_UNSHOWN], NULL);
    }
}

static void pair_end(pair *p)
{
    if (p->is_watched) {
        test_watcher_end(&p->watcher);
    }
    past_end(&p->past);
    espl_history_destroy(p->other);
    side_end(&p->here);
    side_end(&p->twin);
    tape_end(&p->tape);
}

static size_t run_at_once(uint64_t seed, uint32_t population, size_t steps, bool draws)
{
    pair *const p = test_array(1, sizeof *p);
    size_t operations = 0, to_mark = 1, to_rewind = 1, to_draw = 0;

    pair_begin(p, seed, population, draws);
    // Abandoned lives count as well where indices retire.
    const size_t limit = steps < 1000 ? steps : 1000;

    for (p->tape.at = 0; p->tape.at < limit && !test_is_worn(operations, 2 * population);
         ++p->tape.at) {
        operations += step(p);
        if (--to_mark == 0) {
            mark(p);
            to_mark = 1 + test_below(&p->random, test_one_in(&p->random, 3) ? 20 : 4);
        }
        if (--to_rewind == 0) {
            // A mirror has what the rewind abandons. Before the next one, slots that the rewind dropped from the
            // end of the pool may be back, with other nodes or without one.
            if (p->tape.draws) {
                dress(p);
                draw(p);
                to_draw = 1 + test_below(&p->random, 12);
            }
            go_back(p);
            to_rewind = 1 + test_below(&p->random, 60);
        }
        if (to_draw != 0 && --to_draw == 0) {
            draw(p);
        }
        if (test_one_in(&p->random, 16)) {
            reserve_side(p);
        }
        if (test_one_in(&p->random, population / 3 + 2)) {
            demand_equal(p);
        }
        if (p->is_watched && test_one_in(&p->random, 16)) {
            test_watcher_check(&p->watcher, NULL);
        }
    }
    test_image_compare(p->here.world, p->twin.world);
    side_compare(&p->here, &p->tape);
    pair_end(p);
    free(p);
    return operations;
}

// Run some seeds, or the one that ESPL_SEED chooses. @return the operations.
static size_t run_seeds(uint64_t state, uint32_t population, size_t count, bool draws)
{
    const uint64_t chosen = test_environment("ESPL_SEED", 0);
    const size_t steps = (size_t)test_environment("ESPL_OPERATIONS", test_scaled_alone(1000));
    const size_t runs = chosen != 0 ? 1 : count * (size_t)test_factor();
    size_t operations = 0;

    for (size_t i = 0; i < runs; ++i) {
        operations +=
            run_at_once(chosen != 0 ? chosen : test_random(&state), population, steps, draws);
    }
    return operations;
}

TEST_LOOP(b16_a_world_that_goes_back_goes_on_as_it_did, 0, 3)
{
    static const uint32_t populations[3] = {6, 40, 300};
    static const size_t counts[3] = {16, 6, 1};

    test_tell_figure(run_seeds(31 + (uint64_t)_i, populations[_i], counts[_i], false),
                     "operations with rewinds, beside a twin");
}

TEST_LOOP(renderables_are_those_of_a_world_that_goes_back, 0, 3)
{
    static const uint32_t populations[3] = {12, 30, 80};

    test_tell_figure(run_seeds(53 + (uint64_t)_i, populations[_i], 8, true),
                     "operations with rewinds and renderables, beside a twin");
}

// Renderables stayed in slots that a rewind dropped, and were in the mirror twice.
TEST(slots_that_a_rewind_dropped_have_no_renderables)
{
    (void)run_at_once(0x3d5fb5c0f5c57b16, 12, 1000, true);
}

// A rebase by an offset added layout debt to a hierarchy in which no local was shifted.
TEST(a_rewind_finds_the_layout_debt_of_a_rebase)
{
    (void)run_at_once(0xbc46b610e9d3f375, 30, 1000, true);
}

// --- Playbacks ---

typedef struct trio {
    stage *stage;
    frames past; // of the first played world; the other two load their images
    uint64_t random;
} trio;

static void mark_trio(trio *t)
{
    frames *const past = &t->past;

    (void)past_mark(past, &t->stage->tape, 1);
    past->moments[past->count - 1].images[0] = test_image_of(t->stage->played[1].world);
    past->moments[past->count - 1].images[1] = test_image_of(t->stage->at_once.world);
}

static void rewind_trio(trio *t)
{
    stage *const s = t->stage;
    frames *const past = &t->past;
    const uint32_t to = pick_moment(past, &t->random);

    past_rewind(past, &s->tape, to);
    test_image_load(s->played[1].world, &past->moments[to].images[0], ESPL_IMAGE_TRUSTED);
    test_image_load(s->at_once.world, &past->moments[to].images[1], ESPL_IMAGE_TRUSTED);
    s->at_once.mapped = s->played[0].mapped = s->played[1].mapped = s->tape.model.count;
    test_image_compare(s->played[0].world, s->played[1].world);
}

static size_t run_played(uint64_t seed, uint32_t population, uint32_t limit, size_t rounds)
{
    test_executor hostile = {.manner = TEST_SHUFFLED, .workers = 4, .random = seed};
    const espl_executor executors[2] = {test_executor_of(&hostile), {0}};
    trio t = {.stage = stage_begin(seed, population, executors, 2), .random = seed};
    const uint32_t fitting = stage_fit(t.stage, limit);
    size_t made = 0;

    t.stage->at_once.is_unseen = t.stage->played[1].is_unseen = true;
    past_begin(&t.past, &t.stage->played[0], enough_for(population), &t.random);
    for (size_t round = 1; round <= rounds && !tape_is_worn(&t.stage->tape); ++round) {
        const uint32_t count = 1 + test_below(&t.random, fitting),
                       motion = t.stage->tape.model.history;

        made += count;
        if (test_is_worn(made, 2 * population) || !stage_step(t.stage, count)) {
            break;
        }
        past_empty(&t.past, &t.stage->tape,
                   t.stage->tape.model.history != motion || t.past.count == 0);
        mark_trio(&t);
        if (test_one_in(&t.random, 3)) {
            rewind_trio(&t);
        }
    }
    const size_t commands = t.stage->commands;

    past_end(&t.past);
    stage_end(t.stage);
    return commands;
}

TEST_LOOP(playbacks_after_a_rewind_do_what_they_did, 0, 3)
{
    static const uint32_t populations[3] = {6, 40, 300}, limits[3] = {8, 60, 400};
    const uint64_t chosen = test_environment("ESPL_SEED", 0);
    uint64_t state = 47 + (uint64_t)_i;
    const size_t runs =
        chosen != 0 ? 1 : (_i == 0 ? 16 : _i == 1 ? 6 : 1) * (size_t)test_factor();
    size_t commands = 0;

    for (size_t i = 0; i < runs; ++i) {
        commands += run_played(chosen != 0 ? chosen : test_random(&state), populations[_i],
                               limits[_i], test_scaled(16));
    }
    test_tell_figure(commands, "commands with rewinds, beside a twin");
}
