// SPDX-License-Identifier: MIT
// Prefetches for the apply stage.
//
// Commands of different groups are far apart in memory, and so are their trees, so that each
// command would wait for memory several times. While a command is applied, the memory of the
// commands after it is prefetched in five steps, because each step reads what the step before it
// fetched: the entry, the command and the trees, the nodes, their neighbours, the slots of new
// nodes. The distances were found by measurement.
//
// Reads the forest and the entries, writes nothing. What is prefetched may change before it is
// used: a prefetch is never more than a hint, and its addresses are not dereferenced before they
// are checked.
#include "lib/commands/apply.h"

#include "lib/base/prefetch.h"
#include "lib/tree/edit_steps.h"

// --- Existing nodes ---

// First step: the header number of the slot, which leads to the tree.
static void prefetch_tree(const espl__forest *forest, const espl__operand *operand)
{
    if (espl__operand_is_living(operand)) {
        espl__prefetch(&forest->tree[operand->number]);
    }
}

// Second step: all of one node. The header is written, because an edit marks the tree.
static void prefetch_node(const espl__forest *forest, const espl__operand *operand)
{
    if (espl__operand_is_living(operand)) {
        const uint32_t slot = operand->number;

        espl__prefetch(&forest->links[slot]);
        espl__prefetch(&forest->flags[slot]);
        espl__prefetch(&forest->parent[slot]);
        espl__prefetch(&forest->local[slot]);
        espl__prefetch(&forest->world[slot]);
        espl__prefetch_to_write(&forest->trees[forest->tree[slot]]);
    }
}

// The siblings, whose links change with those of a node, and the first child.
static void prefetch_links(const espl__forest *forest, const espl__operand *operand)
{
    if (espl__operand_is_living(operand)) {
        const espl__links links = forest->links[operand->number];
        const uint32_t near[] = {links.first_child, links.next, links.previous};

        for (size_t i = 0; i < sizeof near / sizeof *near; ++i) {
            if (near[i] != ESPL__NO_SLOT) {
                espl__prefetch(&forest->links[near[i]]);
                espl__prefetch(&forest->flags[near[i]]);
                espl__prefetch(&forest->parent[near[i]]);
            }
        }
    }
}

// What the side arrays of its tree hold of a node, if there are side arrays.
static void prefetch_side(const espl__forest *forest, uint32_t slot)
{
    const espl__tree *const t = espl__tree_of(forest, slot);

    espl__side_prefetch(t->side, t->capacity, slot - t->base);
}

// The parent from which a node is unlinked.
static void prefetch_old_parent(const espl__forest *forest, const espl__operand *operand)
{
    if (espl__operand_is_living(operand)) {
        const uint32_t up = forest->parent[operand->number];

        prefetch_side(forest, operand->number);
        if (up != ESPL__NO_SLOT) {
            prefetch_side(forest, up);
            espl__prefetch_to_write(&forest->links[up]);
            espl__prefetch(&forest->world[up]);
            espl__prefetch(&forest->flags[up]);
        }
    }
}

// The second child becomes the first one where the first is unlinked.
static void prefetch_second_child(const espl__forest *forest, const espl__operand *operand)
{
    if (espl__operand_is_living(operand)) {
        const uint32_t first = forest->links[operand->number].first_child;
        const uint32_t second = first != ESPL__NO_SLOT ? forest->links[first].next : first;

        if (second != ESPL__NO_SLOT) {
            espl__prefetch_to_write(&forest->links[second]);
            espl__prefetch_to_write(&forest->flags[second]);
            espl__prefetch(&forest->parent[second]);
        }
    }
}

// --- Slots of new nodes ---

// New nodes get the holes of a tree, or else the slots after its nodes. Holes that were freed
// together are mostly near each other, so that the lines on both sides are prefetched too.
static void prefetch_room(const espl__forest *forest, const espl__operand *parent)
{
    enum { LINE = 64 / sizeof(espl__links) };

    if (espl__operand_is_living(parent)) {
        const espl__tree *const t = espl__tree_of(forest, parent->number);
        const uint32_t slot = t->hole != ESPL__NO_SLOT ? t->hole : t->base + t->used;

        if (slot < forest->capacity) {
            espl__prefetch_to_write(&forest->links[slot]);
            espl__prefetch_to_write(&forest->links[slot > LINE ? slot - LINE : 0]);
            espl__prefetch_to_write(&forest->links[slot + LINE]);
            espl__prefetch_to_write(&forest->flags[slot]);
            espl__prefetch_to_write(&forest->parent[slot]);
        }
        prefetch_side(forest, parent->number);
    }
}

// The transforms of the first new nodes.
static void prefetch_poses(const espl__forest *forest, const espl__operand *parent)
{
    enum { NODES = 4 };

    if (espl__operand_is_living(parent)) {
        const espl__tree *const t = espl__tree_of(forest, parent->number);
        uint32_t hole = t->hole, end = t->base + t->used;

        for (int i = 0; i < NODES; ++i) {
            const uint32_t slot = hole != ESPL__NO_SLOT ? hole : end++;

            if (slot >= forest->capacity) {
                return;
            }
            espl__prefetch_to_write(&forest->local[slot]);
            espl__prefetch_to_write(&forest->world[slot]);
            espl__side_prefetch(t->side, t->capacity, slot - t->base);
            hole = hole != ESPL__NO_SLOT ? forest->links[hole].next : hole;
        }
    }
}

// --- Commands ---

// A command may be in two cache lines.
static void prefetch_command(const espl__command *command)
{
    espl__prefetch(command);
    espl__prefetch(&command->inherit);
}

void espl__apply_prefetch(const espl__forest *forest, const espl__apply_input *in, uint32_t at,
                          uint32_t end)
{
    enum { FIRST = 20, SECOND = 15, THIRD = 10, FOURTH = 6, LAST = 3 };
    const uint32_t *const grouped = in->grouped->entries;
    const espl__entry *const entries = in->ordered->entries;

    ESPL_CHECK_FULL(at < end && end <= in->ordered->entry_count);
    if (end - at <= FIRST) {
        return;
    }
    const espl__entry *const second = &entries[grouped[at + SECOND]];
    const espl__entry *const third = &entries[grouped[at + THIRD]];
    const espl__entry *const fourth = &entries[grouped[at + FOURTH]];
    const espl__entry *const last = &entries[grouped[at + LAST]];

    espl__prefetch_to_write(&entries[grouped[at + FIRST]]);
    prefetch_command(second->command);
    prefetch_tree(forest, &second->target);
    prefetch_tree(forest, &second->parent);
    prefetch_node(forest, &third->target);
    prefetch_node(forest, &third->parent);
    if (fourth->command->count != 0) {
        prefetch_room(forest, &fourth->parent);
        if (fourth->command->kind != ESPL__COMMAND_CREATE_BARE) {
            espl__prefetch(espl__entry_payload(in->request->lanes, fourth));
        }
    } else {
        prefetch_links(forest, &fourth->target);
        prefetch_old_parent(forest, &fourth->target);
    }
    prefetch_links(forest, &fourth->parent);
    if (last->command->count != 0) {
        prefetch_poses(forest, &last->parent);
    } else {
        prefetch_second_child(forest, &last->target);
    }
}
