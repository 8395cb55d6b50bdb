// SPDX-License-Identifier: MIT
// Many writes at once: hierarchy by hierarchy, parents before children, the writes to one node in
// the order of the array.
#include "tests/placing.h"

#include <string.h>

typedef struct batch {
    test_model *model;
    model_entry *entries;
    uint32_t count;
} batch;

static bool is_open(const model_entry *entry)
{
    return entry->answer == 0;
}

// --- One hierarchy ---

static const espl_transform *trial_above(const test_model *model, uint32_t node)
{
    const uint32_t parent = model->nodes[node].parent;
    return parent != MODEL_NONE ? &model->nodes[parent].trial : NULL;
}

// Carry out the entries of one node under its parent's new world, each on what the one before left.
// Worlds below it may be computed after each of them, or after all.
static void write_node(const batch *b, uint32_t node)
{
    test_model *const model = b->model;
    model_node *const n = &model->nodes[node];
    const espl_transform *const above = trial_above(model, node);

    n->trial = model_world_of(above, n->has_placement, &n->state);
    for (uint32_t i = n->entries; i != MODEL_NONE; i = b->entries[i].next) {
        model_entry *const entry = &b->entries[i];
        const bool is_of_cell = model_is_of_cell(entry->kind);
        espl_transform value;
        espl_status begun = ESPL_OK;

        if (is_of_cell) {
            begun = model_begin_cell_write(model, node, entry->kind, &entry->value, &value);
            n->trial = model_world_of(above, n->has_placement, &n->state);
        } else {
            (void)model_write_faults(model, node, entry->kind, &entry->value, &value);
        }
        if (begun < 0 || entry->kind == ESPL_WRITE_CELL) {
            entry->outcome = begun;
            continue;
        }
        model_placed placed = {above, n->state, n->trial};
        const espl_write_kind kind = is_of_cell ? ESPL_WRITE_WORLD_POSITION : entry->kind;
        const espl_status status = model_carry_out(&placed, kind, &value);

        entry->outcome = status == ESPL_OK ? begun : status;
        if (entry->outcome < 0 || !model_is_storable(&placed.state)) {
            entry->outcome = ESPL_ERR_RANGE;
            continue;
        }
        entry->is_same = memcmp(&n->state, &placed.state, sizeof n->state) == 0;
        n->state = placed.state;
        if (model->overflow == MODEL_FINITE && !model_try(model, node, &placed.world)) {
            model->overflow = MODEL_MAY_OVERFLOW;
        }
        n->trial = placed.world;
    }
}

// Settle the answers of a node's entries.
static void close_node(const batch *b, model_node *node)
{
    for (uint32_t i = node->entries; i != MODEL_NONE; i = b->entries[i].next) {
        const model_entry *const entry = &b->entries[i];

        b->entries[i].answer = model_answer_of(entry->outcome);
        const bool is_counted =
            entry->outcome >= 0 && !model_is_of_past(entry->kind) && entry->kind != ESPL_WRITE_CELL;

        b->model->writes += is_counted && !entry->is_same;
        b->model->writes_skipped += is_counted && entry->is_same;
    }
    node->entries = MODEL_NONE;
}

static void run_hierarchy(const batch *b, uint32_t root)
{
    for (uint32_t i = root; i != MODEL_NONE; i = model_next(b->model, root, i)) {
        write_node(b, i);
        close_node(b, &b->model->nodes[i]);
    }
    model_keep_trial(b->model, root);
}

// --- All of them ---

static espl_status account(const batch *b, espl_write_report *report)
{
    memset(report, 0, sizeof *report);
    for (uint32_t i = b->count; i-- > 0;) {
        const model_answer answer = b->entries[i].answer;
        const bool is_lossy = answer == model_answer_of(ESPL_LOSSY);
        const bool is_applied = is_lossy || answer == model_answer_of(ESPL_OK);

        report->applied += is_applied;
        report->lossy += is_lossy;
        report->refused += !is_applied;
        report->first_refused = is_applied ? report->first_refused : i;
    }
    if (report->refused != 0) {
        return ESPL_PARTLY;
    }
    return report->lossy != 0 ? ESPL_LOSSY : ESPL_OK;
}

model_answer model_write_batch(test_model *model, model_entry *entries, uint32_t count,
                               espl_write_report *report)
{
    const batch b = {model, entries, count};

    // Backwards, so that each node's list has the order of the array.
    for (uint32_t i = count; i-- > 0;) {
        model_entry *const entry = &entries[i];
        espl_transform value;
        entry->answer = model_write_faults(model, entry->node, entry->kind, &entry->value, &value);
        if (is_open(entry)) {
            entry->next = model->nodes[entry->node].entries;
            model->nodes[entry->node].entries = i;
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (is_open(&entries[i])) {
            run_hierarchy(&b, model_root(model, entries[i].node));
        }
    }
    return model_answer_of(account(&b, report));
}
