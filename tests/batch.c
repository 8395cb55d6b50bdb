// SPDX-License-Identifier: MIT
// Many writes at once: hierarchy by hierarchy, parents before children, the writes to one node in
// the order of the array.
#include "tests/placing.h"

#include <math.h>
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
static void write_node(const batch *b, uint32_t node)
{
    model_node *const n = &b->model->nodes[node];
    const espl_transform *const above = trial_above(b->model, node);

    n->trial = model_world_of(above, n->has_placement, &n->state);
    for (uint32_t i = n->is_refused ? MODEL_NONE : n->entries; i != MODEL_NONE;
         i = b->entries[i].next) {
        model_entry *const entry = &b->entries[i];
        model_placed placed = {above, n->state, n->trial};
        espl_transform value;

        (void)model_write_faults(b->model, node, entry->kind, &entry->value, &value);
        entry->outcome = model_carry_out(&placed, entry->kind, &value);
        const espl_transform *const local = &placed.state.local;
        if (!model_is_finite(local) || !model_is_finite(&placed.world) ||
            !isfinite(local->stretch[0]) || !isfinite(local->stretch[1]) ||
            !isfinite(local->stretch[2])) {
            entry->outcome = ESPL_ERR_RANGE;
            continue;
        }
        entry->is_same = memcmp(&n->state, &placed.state, sizeof n->state) == 0;
        n->state = placed.state;
        n->trial = placed.world;
    }
}

// Carry out all entries from the states saved. Those of a node marked refused are left out.
static void write_hierarchy(const batch *b, uint32_t root)
{
    for (uint32_t i = root; i != MODEL_NONE; i = model_next(b->model, root, i)) {
        b->model->nodes[i].state = b->model->nodes[i].saved;
        write_node(b, i);
    }
}

// Mark what stands above a world that left its range, but for what only follows such a one.
// Returns whether there is any.
static bool mark_causes(const test_model *model, uint32_t root)
{
    bool is_found = false;

    for (uint32_t i = root; i != MODEL_NONE; i = model_next(model, root, i)) {
        const espl_transform *const above = trial_above(model, i);
        if (model_is_finite(&model->nodes[i].trial) || (above != NULL && !model_is_finite(above))) {
            continue;
        }
        is_found = true;
        for (uint32_t up = model->nodes[i].parent; up != MODEL_NONE; up = model->nodes[up].parent) {
            model->nodes[up].is_refused = true;
        }
    }
    return is_found;
}

static void close_entry(const batch *b, model_entry *entry, bool is_taken)
{
    const espl_status status = is_taken ? entry->outcome : ESPL_ERR_RANGE;

    entry->answer = model_answer_of(status);
    b->model->writes += status >= 0 && !entry->is_same;
    b->model->writes_skipped += status >= 0 && entry->is_same;
}

// Settle the answers of a hierarchy's entries and put its scratch back.
static void close_hierarchy(const batch *b, uint32_t root, bool is_done)
{
    for (uint32_t node = root; node != MODEL_NONE; node = model_next(b->model, root, node)) {
        model_node *const n = &b->model->nodes[node];
        for (uint32_t i = n->entries; i != MODEL_NONE; i = b->entries[i].next) {
            close_entry(b, &b->entries[i], is_done && !n->is_refused);
        }
        n->state = is_done ? n->state : n->saved;
        n->world = is_done ? n->trial : n->world;
        n->entries = MODEL_NONE;
        n->is_refused = false;
    }
}

static bool all_finite(const test_model *model, uint32_t root)
{
    for (uint32_t i = root; i != MODEL_NONE; i = model_next(model, root, i)) {
        if (!model_is_finite(&model->nodes[i].trial)) {
            return false;
        }
    }
    return true;
}

static void run_hierarchy(const batch *b, uint32_t root)
{
    for (uint32_t i = root; i != MODEL_NONE; i = model_next(b->model, root, i)) {
        b->model->nodes[i].saved = b->model->nodes[i].state;
    }
    write_hierarchy(b, root);
    if (mark_causes(b->model, root)) {
        write_hierarchy(b, root);
    }
    close_hierarchy(b, root, all_finite(b->model, root));
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
