// SPDX-License-Identifier: MIT
// Counterparts in tapes: originals of another world that nothing is known of but their handles, and changes
// of them that are followed.
#include "tests/asserts.h"
#include "tests/changes.h"
#include "tests/fixture.h"
#include "tests/forms.h"
#include "tests/placing.h"
#include "tests/steps.h"

#include <string.h>

// --- Draws ---

void pick_original_step(const test_tape *tape, uint64_t *random, operation *out)
{
    step_follow *const follow = &out->follow;

    out->step = test_one_in(random, 3) ? STEP_FOLLOW : STEP_ORIGINAL;
    out->entity = pick_operand_aside(tape, random);
    out->original = test_one_in(random, 16) ? ORIGINAL_OWN + test_below(random, 3)
                                            : test_below(random, ORIGINAL_GOOD + 1);
    follow->removed_count = test_one_in(random, 3) ? test_below(random, 3) : 0;
    follow->written_count = test_below(random, STEP_NAMED + 1);
    for (uint32_t i = 0; i < STEP_NAMED; ++i) {
        follow->removed[i] = 1 + test_below(random, ORIGINAL_GOOD);
        follow->written[i] = 1 + test_below(random, ORIGINAL_GOOD);
    }
    follow->values = test_random(random);
    follow->is_world = test_one_in(random, 3);
    follow->is_added = test_one_in(random, 2);
    follow->keeps = test_one_in(random, 6);
    // Where memory for a side array lacks, the counterparts of what was removed are gone.
    follow->is_plain = follow->removed_count != 0;
    out->extent = (espl_extent)test_below(random, 3);
}

static espl_transform followed_value(const step_follow *follow, uint32_t i)
{
    uint64_t random = follow->values + i;
    espl_write_value value =
        write_ordinary(espl_entity_null(), ESPL_WRITE_LOCAL_TRANSFORM, &random).value;

    if (follow->is_plain) {
        value.transform.user_data = 0;
        value.transform.stretch[0] = value.transform.stretch[1] = value.transform.stretch[2] = 1;
    }
    return value.transform;
}

// --- The model ---

// The living node with an original, or MODEL_NONE.
static uint32_t find_node(const test_model *model, uint32_t original)
{
    for (uint32_t i = 0; i < model->living_count; ++i) {
        if (model->nodes[model->living[i]].original == original) {
            return model->living[i];
        }
    }
    return MODEL_NONE;
}

static model_answer original_fault(const test_model *model, uint32_t node, uint32_t original)
{
    const uint32_t other = original == 0 ? MODEL_NONE : find_node(model, original);

    if (original == ORIGINAL_OWN || original == ORIGINAL_TAGLESS) {
        return model_answer_of(ESPL_ERR_ARGUMENT);
    }
    if (original == ORIGINAL_PENDING) {
        return model_answer_of(ESPL_ERR_PENDING);
    }
    return other != MODEL_NONE && other != node ? model_answer_of(ESPL_ERR_EXISTS) : 0;
}

model_answer model_set_original(test_model *model, const operation *op)
{
    const model_answer faults = model_fault_of(model, op->entity);

    if (faults != 0) {
        return faults;
    }
    const model_answer fault = original_fault(model, op->entity, op->original);

    if (fault == 0) {
        model->nodes[op->entity].original = op->original;
    }
    return fault != 0 ? fault : model_answer_of(ESPL_OK);
}

static bool is_listed(const uint32_t *nodes, uint32_t count, uint32_t node)
{
    bool is_found = false;

    for (uint32_t i = 0; i < count && !is_found; ++i) {
        is_found = nodes[i] == node;
    }
    return is_found;
}

// List the counterparts of the removed, each once. @return how many.
static uint32_t list_removed(const test_model *model, const step_follow *follow, uint32_t *out)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < follow->removed_count && !follow->keeps; ++i) {
        const uint32_t node = find_node(model, follow->removed[i]);

        if (node != MODEL_NONE && !is_listed(out, count, node)) {
            out[count++] = node;
        }
    }
    return count;
}

static size_t count_infinite(const test_model *model)
{
    size_t count = 0;

    for (uint32_t i = 0; i < model->living_count; ++i) {
        count += !model_is_finite(&model->nodes[model->living[i]].world);
    }
    return count;
}

model_answer model_follow(test_model *model, const operation *op)
{
    const step_follow *const follow = &op->follow;
    const model_answer done = model_answer_of(ESPL_OK);
    model_entry entries[STEP_NAMED];
    espl_write_report report;
    uint32_t doomed[STEP_NAMED], count = 0;
    size_t refused;
    const size_t infinite = count_infinite(model);
    const model_answer removed = model_destroy_many(
        model, doomed, list_removed(model, follow, doomed), op->extent, &refused);

    for (uint32_t i = 0; i < follow->written_count; ++i) {
        const uint32_t node = find_node(model, follow->written[i]);

        if (node != MODEL_NONE) {
            entries[count++] = (model_entry){.node = node,
                                             .kind = follow->is_world ? ESPL_WRITE_WORLD_TRANSFORM
                                                                      : ESPL_WRITE_LOCAL_TRANSFORM,
                                             .value = {.transform = followed_value(follow, i)}};
        }
    }
    const model_answer written =
        count != 0 ? model_write_batch(model, entries, count, &report) : done;

    // The write may have made finite what the destroy did not leave so.
    if (model->overflow == MODEL_OVERFLOWS && count_infinite(model) <= infinite) {
        model->overflow = MODEL_MAY_OVERFLOW;
    }
    return written != done ? written : removed;
}

// --- A side ---

static espl_entity original_handle(const test_side *side, uint32_t number)
{
    switch (number) {
    case 0:
        return espl_entity_null();
    case ORIGINAL_OWN:
        return side->dead;
    case ORIGINAL_TAGLESS:
        return (espl_entity){3, 1};
    case ORIGINAL_PENDING:
        return side->alien;
    default:
        return (espl_entity){number * 7 % 5, (9 + number / 7) << 24 | number};
    }
}

espl_status side_set_original(const test_side *side, const test_tape *tape, const operation *op)
{
    return espl_set_counterpart(side->world, side_handle(side, tape, op->entity),
                                original_handle(side, op->original));
}

static void check_follow(const test_side *side, const test_tape *tape, const operation *op,
                         const espl_follow_report *report, uint32_t doomed)
{
    const step_follow *const follow = &op->follow;

    tape_demand(tape, report->destroyed == doomed, "%zu counterparts destroyed, not %u",
                report->destroyed, doomed);
    tape_demand(tape, report->written + report->refused + report->unknown == follow->written_count,
                "%zu written, %zu refused, %zu unknown of %u", report->written, report->refused,
                report->unknown, follow->written_count);
    for (uint32_t i = 0; i < follow->removed_count && !follow->keeps; ++i) {
        tape_demand(tape,
                    espl_entity_is_null(espl_find_counterpart(
                        side->world, original_handle(side, follow->removed[i]))),
                    "original %u was removed and has a counterpart", follow->removed[i]);
    }
}

espl_status side_follow_changes(test_side *side, const test_tape *tape, const operation *op)
{
    const step_follow *const follow = &op->follow;
    const espl_follow_def def = {.kind = follow->is_world ? ESPL_FOLLOW_WORLD : ESPL_FOLLOW_LOCAL,
                                 .removed = op->extent,
                                 .flags = follow->keeps ? ESPL_FOLLOW_KEEPS : 0};
    // The first entities are added where there are some, and the rest changed.
    const uint32_t added = follow->is_added ? follow->written_count / 2 : 0;
    espl_entity removed[STEP_NAMED], written[STEP_NAMED];
    espl_transform values[STEP_NAMED];
    uint32_t doomed[STEP_NAMED];
    espl_follow_report report;

    for (uint32_t i = 0; i < STEP_NAMED; ++i) {
        removed[i] = original_handle(side, follow->removed[i]);
        written[i] = original_handle(side, follow->written[i]);
        values[i] = followed_value(follow, i);
    }
    const espl_transform *const of_added = values, *const of_changed = values + added;
    const espl_changes changes = {.removed = removed,
                                  .removed_count = follow->removed_count,
                                  .added = written,
                                  .added_count = added,
                                  .changed = written + added,
                                  .changed_count = follow->written_count - added,
                                  .added_locals = follow->is_world ? NULL : of_added,
                                  .added_worlds = follow->is_world ? of_added : NULL,
                                  .changed_locals = follow->is_world ? NULL : of_changed,
                                  .changed_worlds = follow->is_world ? of_changed : NULL};
    const uint32_t known = list_removed(&tape->model, follow, doomed);
    const espl_status status = espl_follow(side->world, &changes, &def, &report);

    if (status >= 0) {
        check_follow(side, tape, op, &report, known);
    }
    return status;
}

// --- What is there ---

void side_compare_original(const test_side *side, const test_tape *tape, uint32_t node)
{
    const uint32_t number = tape->model.nodes[node].original;
    const espl_entity got = espl_get_original(side->world, side->handles[node]);

    tape_demand(tape, espl_entity_equal(got, original_handle(side, number)),
                "node %u has the original %u.%x, not number %u", node, got.index, got.generation,
                number);
}

void side_compare_originals(const test_side *side, const test_tape *tape)
{
    uint32_t count = 0;
    espl_world_stats stats;

    for (uint32_t number = 1; number <= ORIGINAL_GOOD; ++number) {
        const uint32_t node = find_node(&tape->model, number);
        const espl_entity wanted = node != MODEL_NONE ? side->handles[node] : espl_entity_null();
        const espl_entity got = espl_find_counterpart(side->world, original_handle(side, number));

        count += node != MODEL_NONE ? 1 : 0;
        tape_demand(tape, espl_entity_equal(got, wanted), "original %u has another counterpart",
                    number);
    }
    espl_stats(side->world, &stats);
    tape_demand(tape, stats.counterparts == count, "%zu counterparts, not %u",
                (size_t)stats.counterparts, count);
}
