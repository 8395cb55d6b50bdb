// SPDX-License-Identifier: MIT
// The second step of a patch: those that stay get their new values, and the links become what was
// drafted. Ranks that stay where they are are shifted in place, so that it is done once. Where
// somebody stood is read from the draft: the old order is being written over.
#include "lib/commands/patch.h"
#include "lib/tree/ranks.h"

#include <string.h>

// --- Those that stay ---

// What a known node that keeps its slot holds.
static void update_node(const espl__patch *p, uint32_t node)
{
    espl__forest *const forest = p->forest;
    const espl__node *const n = espl__sketch_at(p->sketch, node);
    const espl__placement *const written = p->sketch->written.items;

    if (n->written != ESPL__NO_NODE) {
        forest->local[n->slot] = written[n->written].local;
    }
    if ((n->flags & ESPL__NODE_CHANGED) != 0) {
        forest->world[n->slot] = *espl__node_world(p->sketch, n);
    }
    if (p->plot != NULL) {
        forest->flags[n->slot] = espl__flags_of_node(n, p->plot->side != NULL);
    }
}

static void update(const espl__patch *p, const espl__piece *piece, const uint32_t *slots)
{
    if (piece->node != ESPL__NO_NODE) {
        update_node(p, piece->node);
        return;
    }
    for (uint32_t i = 0; piece->worlds != ESPL__NO_NODE && i < piece->count; ++i) {
        p->forest->world[slots[i]] = *espl__piece_world(p->sketch, piece, i);
    }
}

void espl__patch_update(const espl__patch *p, const espl__piece *piece)
{
    const uint32_t run = p->playback->loads[piece->load].run;

    update(p, piece, p->forest->order + p->forest->runs[run].base + piece->rank);
}

// Ranks that stay where they are: their parents and first children may have moved.
static void shift_in_place(const espl__patch *p, const espl__piece *piece)
{
    uint32_t *const parent = p->forest->parent + p->plot->base + piece->rank;
    uint32_t *const first = p->forest->first + p->plot->base + piece->rank;

    if (piece->node != ESPL__NO_NODE) {
        *parent = piece->parents;
        *first = piece->firsts;
        return;
    }
    if (piece->parents != 0) {
        espl__ranks_copy(parent, parent, piece->count, piece->parents);
    }
    if (piece->firsts != 0) {
        espl__ranks_copy(first, first, piece->count, piece->firsts);
    }
}

static bool is_general_before(const espl__patch *p)
{
    return !p->plot->is_moved && (p->forest->runs[p->plot->old_run].flags & ESPL__RUN_GENERAL) != 0;
}

// Only where some node passed its frame on may one that was there and nobody asked for do so.
static unsigned flags_in_place(const espl__patch *p, const espl__piece *piece,
                               const uint32_t *slots, bool was_general)
{
    const uint32_t count = piece->node != ESPL__NO_NODE || was_general ? piece->count : 0;
    unsigned flags = 0;

    for (uint32_t i = 0; i < count; ++i) {
        flags |= p->forest->flags[slots[i]];
    }
    return flags;
}

// --- Links ---

static void write_part(const espl__patch *p, const espl__part *part, espl__found *found)
{
    espl__forest *const forest = p->forest;
    const uint32_t position = part->piece.position, count = part->piece.count;
    const uint32_t to = p->plot->base + position;
    const uint32_t *const slots = p->plot->slots + part->at;
    uint32_t strays = 0, flags = 0;

    memcpy(forest->order + to, slots, count * sizeof *slots);
    memcpy(forest->parent + to, p->plot->parents + part->at, count * sizeof *slots);
    memcpy(forest->first + to, p->plot->firsts + part->at, count * sizeof *slots);
    for (uint32_t i = 0; i < count; ++i) {
        forest->rank[slots[i]] = position + i;
        strays |= slots[i] ^ (to + i);
        flags |= forest->flags[slots[i]];
    }
    found->strays |= strays;
    found->flags |= flags;
}

// Slots that nobody is in stand behind the nodes in `order`: those that nodes left come first, and
// the holes that are left stay where they are.
static void file_holes(const espl__patch *p, const espl__stretch *stretch)
{
    espl__forest *const forest = p->forest;
    const espl__plot *const plot = p->plot;
    const uint32_t at = p->laid->size;
    const uint32_t end = espl__stretch_share(stretch, stretch->number + 1, plot->left_count);

    ESPL_CHECK(at + plot->left_count == forest->runs[plot->old_run].size + p->laid->entrants);
    for (uint32_t i = espl__stretch_share(stretch, stretch->number, plot->left_count); i < end;
         ++i) {
        forest->order[plot->base + at + i] = plot->left[i];
        forest->rank[plot->left[i]] = at + i;
        forest->entity[plot->left[i]] = ESPL__NO_ENTITY;
    }
}

// A new range belongs to its run from end to end, unused slots too.
static void claim_slots(const espl__patch *p, const espl__stretch *stretch)
{
    const uint32_t end = espl__stretch_share(stretch, stretch->number + 1, p->plot->capacity);

    for (uint32_t i = espl__stretch_share(stretch, stretch->number, p->plot->capacity); i < end;
         ++i) {
        p->forest->run[p->plot->base + i] = p->plot->run;
    }
}

// Where side arrays came or went all slots say so.
static void tell_sides(const espl__patch *p, const espl__stretch *stretch)
{
    const espl__plot *const plot = p->plot;
    const bool is_told = plot->side != NULL || plot->old_side != NULL;

    for (uint32_t i = stretch->begin.position; is_told && i < stretch->end; ++i) {
        uint8_t *const flags = &p->forest->flags[p->forest->order[plot->base + i]];

        *flags = espl__flags_with_side(*flags, plot->side != NULL);
    }
}

void espl__patch_link(const espl__patch *p, const espl__stretch *stretch, espl__found *found)
{
    const bool was_general = is_general_before(p);
    espl__cut cut = stretch->begin;
    espl__part part;

    while (espl__part_next(p, &cut, stretch->end, &part)) {
        const uint32_t *const slots = part.is_drafted
                                          ? p->plot->slots + part.at
                                          : p->forest->order + p->plot->base + part.piece.rank;

        if (part.keeps_slots) {
            update(p, &part.piece, slots);
        }
        if (part.is_drafted) {
            write_part(p, &part, found);
        } else {
            shift_in_place(p, &part.piece);
            found->flags |= flags_in_place(p, &part.piece, slots, was_general);
        }
    }
    if (p->plot->is_moved) {
        claim_slots(p, stretch);
    } else {
        file_holes(p, stretch);
    }
    tell_sides(p, stretch);
}

// --- The header ---

static uint32_t used_slots(const espl__patch *p)
{
    if (p->plot->is_moved) {
        return p->laid->size;
    }
    const espl__run *const old = &p->forest->runs[p->plot->old_run];
    const uint32_t reached = old->size + p->laid->entrants;

    return reached > old->used ? reached : old->used;
}

static bool is_in_order(const espl__patch *p, const espl__found *all)
{
    return p->plot->is_moved || (all->strays == 0 && (p->forest->runs[p->plot->old_run].flags &
                                                      ESPL__RUN_IN_ORDER) != 0);
}

void espl__patch_end_links(const espl__patch *p, const espl__found *all)
{
    const espl__plot *const plot = p->plot;
    const bool is_general = plot->side != NULL || (all->flags & ESPL__SLOT_PASS) != 0;

    p->forest->runs[plot->run] =
        (espl__run){.base = plot->base,
                    .capacity = plot->capacity,
                    .used = used_slots(p),
                    .size = p->laid->size,
                    .flags = (is_in_order(p, all) ? (unsigned)ESPL__RUN_IN_ORDER : 0u) |
                             (is_general ? (unsigned)ESPL__RUN_GENERAL : 0u),
                    .next = ESPL__NO_RUN,
                    .previous = ESPL__NO_RUN,
                    .side = plot->side};
}
