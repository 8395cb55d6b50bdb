// SPDX-License-Identifier: MIT
// The first step of a patch: what the links will be and where everybody comes from is drafted, and
// those that come to stand elsewhere are written there, with all of the side arrays, since these
// are read from the old runs. Links, and slots that somebody is in, stay as they are meanwhile.
#include "lib/commands/patch.h"
#include "lib/tree/ranks.h"

#include <string.h>

// --- The draft ---

static const uint32_t *old_order(const espl__patch *p, const espl__piece *piece)
{
    const uint32_t run = p->playback->loads[piece->load].run;

    return p->forest->order + p->forest->runs[run].base + piece->rank;
}

static void draft_ranks(const espl__patch *p, const espl__piece *piece, uint32_t at)
{
    const uint32_t *const order = old_order(p, piece);
    const size_t base = (size_t)(order - p->forest->order);

    memcpy(p->plot->sources + at, order, piece->count * sizeof *order);
    espl__ranks_copy(p->plot->parents + at, p->forest->parent + base, piece->count, piece->parents);
    espl__ranks_copy(p->plot->firsts + at, p->forest->first + base, piece->count, piece->firsts);
}

static void draft_node(const espl__patch *p, const espl__piece *piece, uint32_t at)
{
    p->plot->sources[at] = espl__sketch_at(p->sketch, piece->node)->slot;
    p->plot->parents[at] = piece->parents;
    p->plot->firsts[at] = piece->firsts;
}

// Where the nodes of a part will stand: in a new range everybody stands in rank order; else
// residents stay, the others take holes in order, then new slots.
static void choose_slots(const espl__patch *p, const espl__part *part)
{
    const espl__piece *const piece = &part->piece;
    uint32_t *const slots = p->plot->slots + part->at;

    if (p->plot->is_moved) {
        for (uint32_t i = 0; i < piece->count; ++i) {
            slots[i] = p->plot->base + piece->position + i;
        }
        return;
    }
    if (part->keeps_slots) {
        memcpy(slots, p->plot->sources + part->at, piece->count * sizeof *slots);
        return;
    }
    const espl__run *const run = &p->forest->runs[p->plot->old_run];

    for (uint32_t i = 0; i < piece->count; ++i) {
        const uint32_t hole = part->hole + i;

        slots[i] = hole < run->used ? p->forest->order[run->base + hole] : run->base + hole;
    }
}

static void draft_part(const espl__patch *p, const espl__part *part)
{
    if (part->piece.node == ESPL__NO_NODE) {
        draft_ranks(p, &part->piece, part->at);
    } else {
        draft_node(p, &part->piece, part->at);
    }
    choose_slots(p, part);
}

// --- Slots that are left ---

// The plot that a load goes on in, where it keeps its slots; NULL for none.
static espl__plot *plot_of_load(const espl__patch *p, uint32_t load)
{
    const uint32_t number = load == ESPL__NO_NODE ? ESPL__NO_NODE : p->playback->loads[load].plot;
    espl__plot *const plot = number == ESPL__NO_NODE ? NULL : &p->playback->plots[number];

    return plot == NULL || plot->is_moved ? NULL : plot;
}

static void leave(const espl__patch *p, const espl__piece *piece, espl__plot *old)
{
    uint32_t *const left = old->left + old->left_count;

    ESPL_CHECK(old->left_count + piece->count <= old->left_capacity);
    if (piece->node == ESPL__NO_NODE) {
        memcpy(left, old_order(p, piece), piece->count * sizeof *left);
    } else {
        *left = espl__sketch_at(p->sketch, piece->node)->slot;
    }
    old->left_count += piece->count;
}

void espl__patch_leave(const espl__patch *p)
{
    // Where nobody comes from another run, nobody leaves one.
    const uint32_t end = p->laid->entrants != 0 ? p->laid->end : p->laid->begin;

    for (uint32_t i = p->laid->begin; i < end; ++i) {
        const espl__piece *const piece = espl__sketch_piece(p->sketch, i);
        espl__plot *const old =
            espl__patch_keeps_slots(p, piece) ? NULL : plot_of_load(p, piece->load);

        if (old != NULL) {
            leave(p, piece, old);
        }
    }
}

// --- Those that come to stand elsewhere ---

static void move_node(const espl__patch *p, uint32_t node, uint32_t slot)
{
    espl__forest *const forest = p->forest;
    const espl__node *const n = espl__sketch_at(p->sketch, node);
    const espl__placement *const written = p->sketch->written.items;

    forest->local[slot] =
        n->written != ESPL__NO_NODE ? written[n->written].local : forest->local[n->slot];
    forest->world[slot] = (n->flags & ESPL__NODE_CHANGED) != 0 ? *espl__node_world(p->sketch, n)
                                                               : forest->world[n->slot];
    forest->flags[slot] = espl__flags_of_node(n, p->plot->side != NULL);
    forest->entity[slot] = n->entity;
    espl__entity_set_slot(p->playback->store, n->entity, slot);
}

static void move_ranks(const espl__patch *p, const espl__piece *piece, uint32_t at)
{
    espl__forest *const forest = p->forest;

    for (uint32_t i = 0; i < piece->count; ++i) {
        const uint32_t from = p->plot->sources[at + i], to = p->plot->slots[at + i];

        forest->local[to] = forest->local[from];
        forest->world[to] = piece->worlds != ESPL__NO_NODE ? *espl__piece_world(p->sketch, piece, i)
                                                           : forest->world[from];
        forest->flags[to] = espl__flags_with_side(forest->flags[from], p->plot->side != NULL);
        forest->entity[to] = forest->entity[from];
        espl__entity_set_slot(p->playback->store, forest->entity[from], to);
    }
}

static void move_part(const espl__patch *p, const espl__part *part)
{
    if (part->piece.node == ESPL__NO_NODE) {
        move_ranks(p, &part->piece, part->at);
    } else {
        move_node(p, part->piece.node, p->plot->slots[part->at]);
    }
}

// --- Side arrays ---

static void write_side(const espl__patch *p, uint32_t node, uint32_t at, espl__found *found)
{
    espl__side *const side = p->plot->side;
    const bool copies = espl__sketch_copies(p->sketch, node);

    side->extra[at] = espl__sketch_extra(p->sketch, node);
    found->extras += !copies && !espl__extra_is_default(&side->extra[at]) ? 1 : 0;
    if (side->kept != NULL) {
        side->kept[at] = espl__sketch_placement(p->sketch, node).kept;
        found->kept += side->kept[at].flags != 0 ? 1 : 0;
    }
}

static void write_sides(const espl__patch *p, const espl__part *part, espl__found *found)
{
    for (uint32_t i = 0; i < part->piece.count; ++i) {
        const uint32_t node = espl__piece_node(p->sketch, &part->piece, i);
        const uint32_t slot = part->is_drafted ? p->plot->slots[part->at + i] : node;

        write_side(p, node, slot - p->plot->base, found);
    }
}

// --- One range ---

void espl__patch_draft(const espl__patch *p, const espl__stretch *stretch, espl__found *found)
{
    espl__cut cut = stretch->begin;
    espl__part part;

    while (espl__part_next(p, &cut, stretch->end, &part)) {
        if (part.is_drafted) {
            draft_part(p, &part);
        }
        if (p->plot->side != NULL) {
            write_sides(p, &part, found);
        }
        if (!part.keeps_slots) {
            move_part(p, &part);
        }
    }
    ESPL_CHECK(stretch->end != p->laid->size || cut.at == p->plot->drafted);
}

void espl__patch_end_draft(const espl__patch *p, const espl__found *all)
{
    if (p->plot->side != NULL) {
        p->plot->side->extra_count = all->extras;
        p->plot->side->kept_count = all->kept;
    }
}
