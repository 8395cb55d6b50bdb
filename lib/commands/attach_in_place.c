// SPDX-License-Identifier: MIT
// Attaches that need no memory, as most do: see attach_in_place.h.
//
// The edit has no undo log and no lists, because nothing can fail once the command is not refused: worlds
// are recomputed at once, and the subtree moves at the end, if it has to.
#include "lib/commands/attach_in_place.h"

#include "lib/tree/layout.h"
#include "lib/tree/relocation.h"

// --- Which attaches ---

// Tell whether the tree of a parent has room for a subtree that arrives. A hole may be too low for the nodes
// below the top, so that holes count for a leaf alone.
static bool has_room_for(const espl__forest *forest, uint32_t top, uint32_t parent)
{
    const espl__tree *const t = espl__tree_of(forest, parent);
    const uint32_t free = t->capacity - t->used;
    uint32_t count = 0;

    if (!espl__tree_is_single(forest, t)) {
        return false;
    }
    espl__arrival_prefetch(forest, t);
    if (forest->links[top].first_child == ESPL__NO_SLOT) {
        return free != 0 || (t->hole != ESPL__NO_SLOT && t->hole > parent);
    }
    for (uint32_t slot = top; slot != ESPL__NO_SLOT && count <= free;
         slot = espl__next_in_walk(forest, slot, top, true)) {
        count += 1;
    }
    return count <= free;
}

// Tell whether a node has another child than this one.
static bool has_other_child(const espl__links *links, uint32_t parent, uint32_t child)
{
    const uint32_t first = links[parent].first_child;

    return first != ESPL__NO_SLOT && (first != child || links[child].next != ESPL__NO_SLOT);
}

bool espl__attaches_in_place(const espl__forest *forest, const espl__entry *entry)
{
    const uint32_t child = entry->target.number, parent = entry->parent.number;
    const espl__links *const links = forest->links;

    if (entry->command->kind != ESPL__COMMAND_ATTACH || forest->context.has_overflowed ||
        !espl__operand_is_living(&entry->target) || !espl__operand_is_living(&entry->parent)) {
        return false;
    }
    espl__prefetch(&forest->world[parent]);
    espl__prefetch(&forest->local[child]);
    espl__prefetch_to_write(&links[parent]);
    const uint32_t old = forest->parent[child];
    const unsigned flags = forest->flags[child] | (forest->flags[parent] & ESPL__SLOT_SIDE);

    if (old == ESPL__NO_SLOT || entry->command->inherit != 0 || child == parent ||
        (flags & (ESPL__SLOT_SIDE | ESPL__SLOT_KEEPS | ESPL__SLOT_BARE)) != 0 ||
        (espl__is_root(forest, old) && !has_other_child(links, old, child)) ||
        (espl__is_root(forest, parent) && links[parent].first_child == ESPL__NO_SLOT)) {
        return false;
    }
    return espl__slot_fits_below(forest, child, parent)
               ? links[child].first_child == ESPL__NO_SLOT
               : has_room_for(forest, child, parent);
}

// --- The attach ---

// Tell whether a world at or below a slot is not finite, after an edit that computed one.
static ESPL__APART bool ends_overflowed(espl__forest *forest, uint32_t slot)
{
    uint64_t visited = 0;
    const bool is_found = espl__searches_overflow(forest, slot, &visited);

    espl__clear_search(forest, slot);
    forest->context.has_overflowed = is_found;
    return is_found;
}

espl_status espl__attach_in_place(espl__playback *playback, espl__entry *entry,
                                  espl__immediate_result *out)
{
    espl__forest *const forest = playback->context.forest;
    espl__edit *const edit = &playback->unlogged;
    espl__apply a = {.context = &playback->context,
                     .edit = edit,
                     .forest = forest,
                     .entry = entry,
                     .command = entry->command};
    const uint32_t child = entry->target.number, parent = entry->parent.number;
    const bool moves = !espl__slot_fits_below(forest, child, parent);

    edit->context = (espl__context){.is_job = false};
    espl__heap_forbid(playback->context.heap);
    forest->modes |= ESPL__MODE_EDITED;
    const espl_status verdict = espl__apply_command(&a);

    if (verdict >= 0 && moves) {
        espl__arrival_relocate(forest, child, espl__entities_record_slots, playback->context.store);
    }
    forest->modes &= (uint8_t)~ESPL__MODE_EDITED;
    espl__heap_allow(playback->context.heap);
    if (verdict < 0) {
        out->is_refused = true;
        return verdict;
    }
    espl__counts_add(&forest->context.counts, &edit->context.counts);
    if (edit->context.has_overflowed) {
        const espl_entity named = entry->command->target;

        out->has_overflowed =
            ends_overflowed(forest, playback->context.store->records[named.index].slot);
    }
    return verdict;
}
