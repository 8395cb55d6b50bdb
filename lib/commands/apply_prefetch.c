// SPDX-License-Identifier: MIT
// Prefetches for the apply stage.
//
// Commands of different groups are far apart in memory, and so are their trees, so that each
// command would wait for memory several times. While a command is applied, the memory of the
// commands after it is prefetched in four steps, because each step reads what the step before it
// fetched: the entry, the tree and the node; the command; the neighbours of the node and the slots
// of new nodes; their transforms. Each step is three to eight commands before the next one, which is
// longer than a wait for memory. The first commands of a part go through all steps before the part is
// applied. Of few commands all lines that need no other one are prefetched when they are resolved, and
// those of an immediate call when it begins.
//
// Reads the forest and the entries, writes nothing. What is prefetched may change before it is
// used: a prefetch is never more than a hint, and its addresses are not dereferenced before they
// are checked.
#include "lib/commands/apply.h"

#include "lib/base/prefetch.h"

// --- Existing nodes ---

// Links and flags of a node.
static inline void prefetch_node(const espl__forest *forest, uint32_t slot)
{
    espl__prefetch(&forest->links[slot]);
    espl__prefetch(&forest->flags[slot]);
    espl__prefetch(&forest->parent[slot]);
}

// What the side arrays of its tree hold of a node, if there are side arrays.
static inline void prefetch_side(const espl__forest *forest, uint32_t slot)
{
    if (espl__slot_is(forest, slot, ESPL__SLOT_SIDE)) {
        const espl__tree *const t = espl__tree_of(forest, slot);

        espl__side_prefetch(espl__side_of_slot(forest, slot), t->capacity, slot - t->base);
    }
}

// The links of a node that change. ESPL__NO_SLOT has no effect.
static inline void prefetch_links(const espl__forest *forest, uint32_t slot)
{
    if (slot != ESPL__NO_SLOT) {
        espl__prefetch_to_write(&forest->links[slot]);
    }
}

// A child that a walk visits. ESPL__NO_SLOT has no effect.
static inline void prefetch_child(const espl__forest *forest, uint32_t slot)
{
    if (slot != ESPL__NO_SLOT) {
        espl__prefetch_to_write(&forest->links[slot]);
        espl__prefetch(&forest->flags[slot]);
        espl__prefetch(&forest->parent[slot]);
    }
}

// The first child of a node, and the nodes whose links change where the node is unlinked.
static inline void prefetch_unlink(const espl__forest *forest, uint32_t slot)
{
    const espl__links links = forest->links[slot];
    const uint32_t up = forest->parent[slot];

    prefetch_child(forest, links.first_child);
    prefetch_links(forest, links.next);
    prefetch_links(forest, links.previous);
    if (up != ESPL__NO_SLOT) {
        espl__prefetch_to_write(&forest->links[up]);
        espl__prefetch(&forest->flags[up]);
    }
}

// What a change of a placement reads of the node, and of its parent unless the local stays.
static inline void prefetch_placement(const espl__forest *forest, uint32_t slot, bool keeps_local)
{
    const uint32_t up = keeps_local ? ESPL__NO_SLOT : forest->parent[slot];

    espl__prefetch(&forest->world[slot]);
    espl__prefetch(&forest->local[slot]);
    prefetch_side(forest, slot);
    if (up != ESPL__NO_SLOT) {
        espl__prefetch(&forest->world[up]);
        prefetch_side(forest, up);
    }
}

// --- Slots of new nodes ---

// New nodes get the holes of a tree, or else the slots after its nodes. Holes that were freed
// together are mostly near each other, so that the lines on both sides are prefetched too.
static inline void prefetch_room(const espl__forest *forest, const espl__tree *t)
{
    enum { LINE = 64 / sizeof(espl__links) };
    const uint32_t slot = t->hole != ESPL__NO_SLOT ? t->hole : t->base + t->used;

    if (slot < forest->capacity) {
        espl__prefetch_to_write(&forest->links[slot]);
        espl__prefetch_to_write(&forest->links[slot > LINE ? slot - LINE : 0]);
        espl__prefetch_to_write(&forest->links[slot + LINE]);
        espl__prefetch_to_write(&forest->flags[slot]);
        espl__prefetch_to_write(&forest->parent[slot]);
    }
}

// The transforms and side entries of the first new nodes: of the first holes, or of the slots after the nodes, two of
// which are in a line.
ESPL__INLINE void prefetch_poses(const espl__forest *forest, uint32_t tree)
{
    enum { NODES = 4, IN_LINE = 64 / sizeof(espl_pose) };
    const espl__tree *const t = &forest->trees[tree];
    const espl__side *const side = espl__side_of(forest, t);
    uint32_t hole = t->hole, end = t->base + t->used, left = NODES;

    for (; left != 0 && hole != ESPL__NO_SLOT; --left) {
        espl__prefetch_to_write(&forest->local[hole]);
        espl__prefetch_to_write(&forest->world[hole]);
        espl__side_prefetch(side, t->capacity, hole - t->base);
        hole = forest->links[hole].next;
    }
    for (; left > IN_LINE - 1 && end < forest->capacity; left -= IN_LINE, end += IN_LINE) {
        espl__prefetch_to_write(&forest->local[end]);
        espl__prefetch_to_write(&forest->world[end]);
        espl__side_prefetch(side, t->capacity, end - t->base);
    }
}

// --- Commands ---

// First step: the entry, the header of the tree, and the node.
static inline void prefetch_first(const espl__forest *forest, const espl__entry *entries,
                                  const espl__queued *queued)
{
    espl__prefetch_to_write(&entries[queued->entry]);
    if (queued->slot != ESPL__NO_SLOT) {
        espl__prefetch_to_write(&forest->trees[queued->tree]);
        prefetch_node(forest, queued->slot);
    }
}

// Second step: the command, which may be in two cache lines, and the other parent of a node.
static inline void prefetch_second(const espl__forest *forest, const espl__entry *entry,
                                   uint32_t slot)
{
    espl__prefetch(entry->command);
    espl__prefetch(&entry->command->inherit);
    if (espl__operand_is_living(&entry->parent) && entry->parent.number != slot) {
        prefetch_node(forest, entry->parent.number);
        espl__prefetch(&forest->world[entry->parent.number]);
        espl__prefetch(&forest->tree[entry->parent.number]);
    }
}

// Third step: the transform and the neighbours of the node, the last sibling of new nodes, and the
// slots of these.
ESPL__INLINE void prefetch_third(const espl__forest *forest, const espl__apply_input *in,
                                 const espl__entry *entry, const espl__queued *queued)
{
    if (entry->command->count != 0 && entry->command->kind != ESPL__COMMAND_CREATE_BARE) {
        espl__prefetch(espl__entry_payload(in->request->lanes, entry));
    }
    if (queued->slot == ESPL__NO_SLOT) {
        return;
    }
    if (entry->command->count != 0) {
        espl__prefetch(&forest->world[queued->slot]);
        prefetch_side(forest, queued->slot);
        prefetch_links(forest, forest->links[queued->slot].first_child);
        prefetch_room(forest, &forest->trees[queued->tree]);
        return;
    }
    // A destroy reads placements only where nodes survive, which is rare.
    if (entry->command->kind == ESPL__COMMAND_DESTROY) {
        prefetch_unlink(forest, queued->slot);
        return;
    }
    // A write reads no link but the entity of its node.
    if (entry->command->kind == ESPL__COMMAND_WRITE) {
        espl__prefetch(espl__entry_payload(in->request->lanes, entry));
    } else {
        prefetch_unlink(forest, queued->slot);
    }
    prefetch_placement(forest, queued->slot,
                       entry->command->stay_position == ESPL_KEEP_LOCAL);
    if (espl__operand_is_living(&entry->parent)) {
        const uint32_t parent = entry->parent.number;

        prefetch_links(forest, forest->links[parent].first_child);
        espl__prefetch_to_write(espl__tree_of(forest, parent));
    }
}

// Last step: the transforms of new nodes, or the second child, which becomes the first one where
// the first is unlinked.
ESPL__INLINE void prefetch_last(const espl__forest *forest, const espl__entry *entry,
                                const espl__queued *queued)
{
    if (queued->slot != ESPL__NO_SLOT && entry->command->count != 0) {
        prefetch_poses(forest, queued->tree);
    } else if (queued->slot != ESPL__NO_SLOT) {
        const uint32_t first = forest->links[queued->slot].first_child;

        prefetch_child(forest, first != ESPL__NO_SLOT ? forest->links[first].next : first);
    }
}

// The steps of several commands follow each other, because a call for each command takes longer.
void espl__apply_prefetch(const espl__forest *forest, const espl__apply_input *in, uint32_t at)
{
    enum { SECOND = 12, THIRD = 6, LAST = 3, BATCH = ESPL__APPLY_BATCH };
    const espl__entry *const entries = in->ordered->entries;
    const espl__queued *const queue = in->grouped->queue + at;

    ESPL_CHECK_FULL(at + ESPL__APPLY_AHEAD + BATCH <= in->ordered->entry_count);
    for (uint32_t i = ESPL__APPLY_AHEAD; i < ESPL__APPLY_AHEAD + BATCH; ++i) {
        prefetch_first(forest, entries, &queue[i]);
    }
    for (uint32_t i = SECOND; i < SECOND + BATCH; ++i) {
        prefetch_second(forest, &entries[queue[i].entry], queue[i].slot);
    }
    for (uint32_t i = THIRD; i < THIRD + BATCH; ++i) {
        prefetch_third(forest, in, &entries[queue[i].entry], &queue[i]);
    }
    for (uint32_t i = LAST; i < LAST + BATCH; ++i) {
        prefetch_last(forest, &entries[queue[i].entry], &queue[i]);
    }
}

void espl__apply_prefetch_begin(const espl__forest *forest, const espl__apply_input *in,
                                uint32_t begin, uint32_t end)
{
    const espl__entry *const entries = in->ordered->entries;
    const espl__queued *const queue = in->grouped->queue;

    ESPL_CHECK(begin <= end && end <= in->ordered->entry_count);
    for (uint32_t i = begin; i < end; ++i) {
        prefetch_second(forest, &entries[queue[i].entry], queue[i].slot);
    }
    for (uint32_t i = begin; i < end; ++i) {
        prefetch_third(forest, in, &entries[queue[i].entry], &queue[i]);
    }
    for (uint32_t i = begin; i < end; ++i) {
        prefetch_last(forest, &entries[queue[i].entry], &queue[i]);
    }
}

// --- Few commands ---

// What a command reads and writes of an operand.
static inline void prefetch_operand(const espl__forest *forest, const espl__operand *operand)
{
    const uint32_t slot = operand->number;

    if (espl__operand_is_living(operand)) {
        espl__prefetch_to_write(&forest->links[slot]);
        espl__prefetch_to_write(&forest->parent[slot]);
        espl__prefetch_to_write(&forest->tree[slot]);
        espl__prefetch_to_write(&forest->flags[slot]);
        espl__prefetch(&forest->world[slot]);
    }
}

// The row of an entity, which changes where its node moves.
static inline void prefetch_row(const espl__store *store, const espl__record *record)
{
    const espl__chunk *const chunk = &store->chunks[record->chunk];
    const uint32_t row = espl__record_row(record);

    espl__prefetch_to_write(espl__chunk_entities(chunk) + row);
    if (chunk->slots_offset != ESPL__NONE) {
        espl__prefetch_to_write(chunk->bytes + chunk->slots_offset + row * sizeof(uint32_t));
    }
}

// The lines that depend on nothing come first.
void espl__entry_prefetch(const espl__forest *forest, const espl__store *store,
                          const espl__entry *entry)
{
    const espl__operand *const target = &entry->target, *const parent = &entry->parent;

    prefetch_operand(forest, target);
    prefetch_operand(forest, parent);
    if (espl__operand_is_living(target)) {
        espl__prefetch(&forest->local[target->number]);
        prefetch_row(store, &store->records[entry->command->target.index]);
        prefetch_unlink(forest, target->number);
    }
    if (espl__operand_is_living(parent)) {
        prefetch_links(forest, forest->links[parent->number].first_child);
    }
}
