// SPDX-License-Identifier: MIT
// Stage 6: the forest follows the plans. Ranges are handed out one after the other, groups are
// patched in parallel, and what is no longer used goes back at the end: so every slot that a patch
// reads still holds what it held before, and every slot that it moves a node to is free.
#include "lib/commands/short.h"
#include "lib/tree/ranks.h"

#include <string.h>

enum { GRAIN = 16 };

// One plot with the arrays that its patch works on.
typedef struct patch {
    espl__playback *playback;
    espl__forest *forest;
    const espl__sketch *sketch;
    espl__plot *plot;
    const espl__laid *laid;
} patch;

static patch patch_of(espl__playback *playback, const espl__group *group, espl__plot *plot)
{
    return (patch){playback, playback->forest, &group->work->sketch, plot,
                   espl__sketch_laid(&group->work->sketch, plot->laid)};
}

// Tell whether the nodes of a piece keep their slots.
static bool is_resident(const patch *p, const espl__piece *piece)
{
    return !p->plot->is_moved && espl__piece_is_resident(piece, p->laid);
}

// Tell whether the ranks of a piece are rewritten through the draft.
static bool is_drafted(const patch *p, const espl__piece *piece)
{
    return p->plot->is_moved || !espl__piece_stays(piece, p->laid);
}

// --- Before the parallel part ---

static void hand_out_range(espl__forest *forest, espl__plot *plot)
{
    if (plot->old_run == ESPL__NO_RUN) {
        plot->run = espl__run_take(forest);
    }
    if (plot->is_moved) {
        plot->base = espl__range_take(forest, plot->capacity);
    }
}

// In order of groups, whichever way each of them goes.
static void hand_out_ranges(espl__playback *playback)
{
    const size_t ranges = playback->birth_count + playback->plot_count;

    for (size_t i = 0; ranges != 0 && i < playback->group_count; ++i) {
        espl__group *const group = &playback->groups[i];

        if (group->is_short && group->does == ESPL__SHORT_BIRTH) {
            espl__short_hand_out(playback, group);
        }
        for (uint32_t k = group->work->plot_begin; k < group->work->plot_end; ++k) {
            hand_out_range(playback->forest, &playback->plots[k]);
        }
    }
}

// --- The draft: what the links will be, and where everybody comes from. Nothing is written yet. ---

static void draft_ranks(const patch *p, const espl__piece *piece, uint32_t at)
{
    const uint32_t base = p->forest->runs[p->playback->loads[piece->load].run].base + piece->rank;
    const uint32_t *const order = p->forest->order + base;
    const uint32_t *const parent = p->forest->parent + base;
    const uint32_t *const first = p->forest->first + base;

    memcpy(p->plot->sources + at, order, piece->count * sizeof *order);
    espl__ranks_copy(p->plot->parents + at, parent, piece->count, piece->parents);
    espl__ranks_copy(p->plot->firsts + at, first, piece->count, piece->firsts);
}

static void draft_node(const patch *p, const espl__piece *piece, uint32_t at)
{
    p->plot->sources[at] = espl__sketch_at(p->sketch, piece->node)->slot;
    p->plot->parents[at] = piece->parents;
    p->plot->firsts[at] = piece->firsts;
}

// Where the nodes of a piece will stand: in a new range everybody stands in rank order; else
// residents stay, the others take holes in order, then new slots.
static void choose_slots(const patch *p, const espl__piece *piece, uint32_t at, uint32_t *hole)
{
    uint32_t *const slots = p->plot->slots + at;

    if (p->plot->is_moved) {
        for (uint32_t i = 0; i < piece->count; ++i) {
            slots[i] = p->plot->base + piece->position + i;
        }
        return;
    }
    if (is_resident(p, piece)) {
        memcpy(slots, p->plot->sources + at, piece->count * sizeof *slots);
        return;
    }
    const espl__run *const run = &p->forest->runs[p->plot->old_run];

    for (uint32_t i = 0; i < piece->count; ++i, ++*hole) {
        slots[i] = *hole < run->used ? p->forest->order[run->base + *hole] : run->base + *hole;
    }
}

// The plot that a load goes on in, where it keeps its slots; NULL for none.
static espl__plot *plot_of_load(const patch *p, uint32_t load)
{
    const uint32_t number = load == ESPL__NO_NODE ? ESPL__NO_NODE : p->playback->loads[load].plot;
    espl__plot *const plot = number == ESPL__NO_NODE ? NULL : &p->playback->plots[number];

    return plot == NULL || plot->is_moved ? NULL : plot;
}

// Note that the nodes of a piece leave the slots that they are in.
static void leave(const patch *p, const espl__piece *piece, uint32_t at)
{
    espl__plot *const old = is_resident(p, piece) ? NULL : plot_of_load(p, piece->load);

    if (old != NULL) {
        ESPL_CHECK(old->left_count + piece->count <= old->left_capacity);
        memcpy(old->left + old->left_count, p->plot->sources + at,
               piece->count * sizeof *old->left);
        old->left_count += piece->count;
    }
}

static void draft(const patch *p)
{
    uint32_t at = 0;
    uint32_t hole = p->plot->is_moved ? 0 : p->forest->runs[p->plot->old_run].size;

    for (uint32_t i = p->laid->begin; i < p->laid->end; ++i) {
        const espl__piece *const piece = espl__sketch_piece(p->sketch, i);

        if (!is_drafted(p, piece)) {
            continue;
        }
        if (piece->node == ESPL__NO_NODE) {
            draft_ranks(p, piece, at);
        } else {
            draft_node(p, piece, at);
        }
        choose_slots(p, piece, at, &hole);
        leave(p, piece, at);
        at += piece->count;
    }
    ESPL_CHECK(at == p->plot->drafted);
}

// The dead leave the slots that they were in; before the draft.
static void bury_dead(espl__playback *playback, const espl__group *group)
{
    const espl__sketch *const sketch = &group->work->sketch;
    const espl__node *const known = sketch->known.items;

    for (uint32_t i = 1; i < sketch->known.count; ++i) {
        const uint32_t number = playback->loads[known[i].load].plot;
        espl__plot *const plot = number == ESPL__NO_NODE ? NULL : &playback->plots[number];

        if (espl__node_is_dead(&known[i]) && plot != NULL && !plot->is_moved) {
            ESPL_CHECK(plot->left_count < plot->left_capacity);
            plot->left[plot->left_count++] = known[i].slot;
        }
    }
}

// --- Those that come to stand elsewhere; reads old slots, writes free ones. And all of the side
// arrays, since they are read from the old runs. ---

static uint8_t known_flags(const espl__node *node, bool has_side)
{
    const bool keeps = (node->flags & ESPL__NODE_KEEPS) != 0;
    const bool is_free = (node->flags & ESPL__NODE_FREE_LINK) != 0;
    const bool is_pass = (node->flags & ESPL__NODE_PASS) != 0;

    return (uint8_t)((is_free ? ESPL__SLOT_FREE_LINK : 0) | (is_pass ? ESPL__SLOT_PASS : 0) |
                     (has_side ? ESPL__SLOT_SIDE : 0) | (keeps ? ESPL__SLOT_KEEPS : 0));
}

static uint8_t with_side(unsigned flags, bool has_side)
{
    return (uint8_t)((flags & ~(unsigned)ESPL__SLOT_SIDE) |
                     (has_side ? (unsigned)ESPL__SLOT_SIDE : 0u));
}

static void move_node(const patch *p, uint32_t node, uint32_t slot)
{
    espl__forest *const forest = p->forest;
    const espl__node *const n = espl__sketch_at(p->sketch, node);
    const espl__placement *const written = p->sketch->written.items;

    forest->local[slot] =
        n->written != ESPL__NO_NODE ? written[n->written].local : forest->local[n->slot];
    forest->world[slot] = (n->flags & ESPL__NODE_CHANGED) != 0 ? *espl__node_world(p->sketch, n)
                                                               : forest->world[n->slot];
    forest->flags[slot] = known_flags(n, p->plot->side != NULL);
    forest->entity[slot] = n->entity;
    espl__entity_set_slot(p->playback->store, n->entity, slot);
}

static void move_ranks(const patch *p, const espl__piece *piece, uint32_t at)
{
    espl__forest *const forest = p->forest;

    for (uint32_t i = 0; i < piece->count; ++i) {
        const uint32_t from = p->plot->sources[at + i], to = p->plot->slots[at + i];

        forest->local[to] = forest->local[from];
        forest->world[to] = piece->worlds != ESPL__NO_NODE ? *espl__piece_world(p->sketch, piece, i)
                                                           : forest->world[from];
        forest->flags[to] = with_side(forest->flags[from], p->plot->side != NULL);
        forest->entity[to] = forest->entity[from];
        espl__entity_set_slot(p->playback->store, forest->entity[from], to);
    }
}

// What side arrays hold of a node.
static void write_side(const patch *p, uint32_t node, uint32_t at)
{
    espl__side *const side = p->plot->side;
    const bool copies = espl__sketch_copies(p->sketch, node);

    side->extra[at] = espl__sketch_extra(p->sketch, node);
    side->extra_count += !copies && !espl__extra_is_default(&side->extra[at]) ? 1 : 0;
    if (side->kept != NULL) {
        side->kept[at] = espl__sketch_placement(p->sketch, node).kept;
        side->kept_count += side->kept[at].flags != 0 ? 1 : 0;
    }
}

static void write_sides(const patch *p, const espl__piece *piece, uint32_t at)
{
    for (uint32_t i = 0; i < piece->count; ++i) {
        const uint32_t node = espl__piece_node(p->sketch, piece, i);
        const uint32_t slot = is_drafted(p, piece) ? p->plot->slots[at + i] : node;

        write_side(p, node, slot - p->plot->base);
    }
}

static void move_in(const patch *p)
{
    uint32_t at = 0;

    for (uint32_t i = p->laid->begin; i < p->laid->end; ++i) {
        const espl__piece *const piece = espl__sketch_piece(p->sketch, i);

        if (p->plot->side != NULL) {
            write_sides(p, piece, at);
        }
        if (!is_drafted(p, piece)) {
            continue;
        }
        if (!is_resident(p, piece) && piece->node == ESPL__NO_NODE) {
            move_ranks(p, piece, at);
        } else if (!is_resident(p, piece)) {
            move_node(p, piece->node, p->plot->slots[at]);
        }
        at += piece->count;
    }
}

// --- Those that stay ---

// What a known node that keeps its slot holds.
static void update_node(const patch *p, uint32_t node)
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
        forest->flags[n->slot] = known_flags(n, p->plot->side != NULL);
    }
}

static void update_ranks(const patch *p, const espl__piece *piece)
{
    espl__forest *const forest = p->forest;

    for (uint32_t i = 0; piece->worlds != ESPL__NO_NODE && i < piece->count; ++i) {
        const uint32_t slot = espl__piece_node(p->sketch, piece, i);

        forest->world[slot] = *espl__piece_world(p->sketch, piece, i);
    }
}

static void update_piece(const patch *p, const espl__piece *piece)
{
    if (piece->node != ESPL__NO_NODE) {
        update_node(p, piece->node);
    } else {
        update_ranks(p, piece);
    }
}

// Ranks that stay where they are: their parents and first children may have moved.
static void shift_in_place(const patch *p, const espl__piece *piece)
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

// --- Links ---

static void write_piece(const patch *p, const espl__piece *piece, uint32_t at)
{
    espl__forest *const forest = p->forest;
    const uint32_t to = p->plot->base + piece->position;
    const size_t size = piece->count * sizeof(uint32_t);

    memcpy(forest->order + to, p->plot->slots + at, size);
    memcpy(forest->parent + to, p->plot->parents + at, size);
    memcpy(forest->first + to, p->plot->firsts + at, size);
    for (uint32_t i = 0; i < piece->count; ++i) {
        forest->rank[p->plot->slots[at + i]] = piece->position + i;
    }
}

// Slots that nobody is in stand behind the nodes in `order`: those that nodes left come first, and
// the holes that are left stay where they are.
static void file_holes(const patch *p)
{
    espl__forest *const forest = p->forest;
    const espl__plot *const plot = p->plot;
    const uint32_t at = p->laid->size;

    ESPL_CHECK(at + plot->left_count == forest->runs[plot->old_run].size + p->laid->entrants);
    for (uint32_t i = 0; i < plot->left_count; ++i) {
        forest->order[plot->base + at + i] = plot->left[i];
        forest->rank[plot->left[i]] = at + i;
        forest->entity[plot->left[i]] = ESPL__NO_ENTITY;
    }
}

// A new range belongs to its run from end to end, unused slots too.
static void claim_range(const patch *p)
{
    for (uint32_t i = 0; p->plot->is_moved && i < p->plot->capacity; ++i) {
        p->forest->run[p->plot->base + i] = p->plot->run;
    }
}

static bool is_straight(const patch *p)
{
    const espl__plot *const plot = p->plot;
    const bool was =
        plot->is_moved || (p->forest->runs[plot->old_run].flags & ESPL__RUN_IN_ORDER) != 0;
    uint32_t at = 0;

    for (uint32_t i = p->laid->begin; was && !plot->is_moved && i < p->laid->end; ++i) {
        const espl__piece *const piece = espl__sketch_piece(p->sketch, i);

        for (uint32_t k = 0; is_drafted(p, piece) && k < piece->count; ++k) {
            if (plot->slots[at++] != plot->base + piece->position + k) {
                return false;
            }
        }
    }
    return was;
}

// Tell whether some node passes through. Only what was so may still be so without having come.
static bool has_passes(const patch *p)
{
    const espl__plot *const plot = p->plot;
    const bool was_general =
        !plot->is_moved && (p->forest->runs[plot->old_run].flags & ESPL__RUN_GENERAL) != 0;
    const uint32_t count = was_general ? p->laid->size : plot->drafted;
    const uint32_t *const slots = was_general ? p->forest->order + plot->base : plot->slots;
    unsigned flags = 0;

    for (uint32_t i = 0; i < count; ++i) {
        flags |= p->forest->flags[slots[i]];
    }
    for (uint32_t i = p->laid->begin; i < p->laid->end; ++i) {
        const espl__piece *const piece = espl__sketch_piece(p->sketch, i);

        flags |= piece->node != ESPL__NO_NODE && is_resident(p, piece)
                     ? p->forest->flags[espl__sketch_at(p->sketch, piece->node)->slot]
                     : 0u;
    }
    return (flags & ESPL__SLOT_PASS) != 0;
}

// Where side arrays came or went all slots say so.
static void tell_sides(const patch *p)
{
    const espl__plot *const plot = p->plot;

    for (uint32_t i = 0; (plot->side != NULL || plot->old_side != NULL) && i < p->laid->size; ++i) {
        uint8_t *const flags = &p->forest->flags[p->forest->order[plot->base + i]];

        *flags = with_side(*flags, plot->side != NULL);
    }
}

static void write_header(const patch *p, uint32_t used)
{
    const espl__plot *const plot = p->plot;
    const bool is_general = plot->side != NULL || has_passes(p);
    const bool is_in_order = is_straight(p);

    p->forest->runs[plot->run] =
        (espl__run){.base = plot->base,
                    .capacity = plot->capacity,
                    .used = used,
                    .size = p->laid->size,
                    .flags = (is_in_order ? (unsigned)ESPL__RUN_IN_ORDER : 0u) |
                             (is_general ? (unsigned)ESPL__RUN_GENERAL : 0u),
                    .next = ESPL__NO_RUN,
                    .previous = ESPL__NO_RUN,
                    .side = plot->side};
}

static void write_links(const patch *p)
{
    const espl__plot *const plot = p->plot;
    const espl__run *const old = plot->is_moved ? NULL : &p->forest->runs[plot->old_run];
    const uint32_t reached = old != NULL ? old->size + p->laid->entrants : 0;
    const uint32_t used = old == NULL ? p->laid->size : reached > old->used ? reached : old->used;
    uint32_t at = 0;

    for (uint32_t i = p->laid->begin; i < p->laid->end; ++i) {
        const espl__piece *const piece = espl__sketch_piece(p->sketch, i);

        if (is_resident(p, piece)) {
            update_piece(p, piece);
        }
        if (!is_drafted(p, piece)) {
            shift_in_place(p, piece);
        }
    }
    claim_range(p);
    if (old != NULL) {
        file_holes(p);
    }
    for (uint32_t i = p->laid->begin; i < p->laid->end; ++i) {
        const espl__piece *const piece = espl__sketch_piece(p->sketch, i);

        if (is_drafted(p, piece)) {
            write_piece(p, piece, at);
            at += piece->count;
        }
    }
    tell_sides(p);
    write_header(p, used);
}

// --- One group ---

static void patch_plots(espl__playback *playback, const espl__group *group,
                        void (*step)(const patch *p))
{
    for (uint32_t i = group->work->plot_begin; i < group->work->plot_end; ++i) {
        const patch p = patch_of(playback, group, &playback->plots[i]);

        step(&p);
    }
}

// Links as they were: values change where they stand.
static void write_in_place(espl__playback *playback, const espl__group *group)
{
    const espl__sketch *const sketch = &group->work->sketch;
    const patch p = {playback, playback->forest, sketch, NULL, NULL};

    for (uint32_t i = 0; i < sketch->laid.count; ++i) {
        const espl__laid *const laid = espl__sketch_laid(sketch, i);

        for (uint32_t k = laid->begin; !laid->is_restructured && k < laid->end; ++k) {
            update_piece(&p, espl__sketch_piece(sketch, k));
        }
    }
}

static void patch_group(espl__playback *playback, espl__group *group)
{
    uint32_t words[ESPL__DRAFT_WORDS];

    if (espl__group_drafts_on_stack(playback, group)) {
        espl__plot_use(&playback->plots[group->work->plot_begin], words);
    }
    bury_dead(playback, group);
    patch_plots(playback, group, draft);
    patch_plots(playback, group, move_in);
    patch_plots(playback, group, write_links);
    if (!group->work->has_side) {
        write_in_place(playback, group);
    }
}

static void patch_one(void *context, size_t number)
{
    espl__playback *const playback = context;
    espl__group *const group = &playback->groups[playback->long_groups[number]];

    if (!group->is_patched) {
        patch_group(playback, group);
        group->is_patched = true;
    }
}

// A run that is laid out anew, or goes, loses its ghosts.
static void retire_run(espl__forest *forest, uint32_t run)
{
    const uint32_t ghosts = forest->runs[run].ghosts;

    forest->ghosts -= ghosts;
    forest->purges += ghosts != 0 ? 1 : 0;
    espl__run_unmark_unsettled(forest, run);
}

static void retire_runs(espl__playback *playback)
{
    for (size_t i = 0; i < playback->touched_count; ++i) {
        playback->loads[i].plot = ESPL__NO_NODE;
        if (!playback->loads[i].goes_on) {
            retire_run(playback->forest, playback->loads[i].run);
        }
    }
    for (size_t i = 0; i < playback->plot_count; ++i) {
        const espl__plot *const plot = &playback->plots[i];

        if (plot->old_run != ESPL__NO_RUN) {
            playback->loads[playback->run_marks[plot->old_run] - 1].plot = (uint32_t)i;
            retire_run(playback->forest, plot->old_run);
        }
    }
}

// --- After the parallel part ---

static void release_unused(espl__playback *playback)
{
    espl__forest *const forest = playback->forest;

    for (size_t i = 0; i < playback->touched_count; ++i) {
        if (!playback->loads[i].goes_on) {
            espl__run_release(forest, playback->loads[i].run);
        }
    }
    for (size_t i = 0; i < playback->plot_count; ++i) {
        const espl__plot *const plot = &playback->plots[i];

        if (plot->old_run == ESPL__NO_RUN) {
            continue;
        }
        espl__side_free(playback->heap, plot->old_side);
        if (plot->is_moved) {
            espl__range_give(forest, plot->old_base, plot->old_capacity);
        }
    }
}

// Where the executor loses a job, the change is under way and is completed here.
static void patch_short(espl__playback *playback)
{
    const size_t count = playback->group_count;

    if (playback->long_count != count &&
        espl__run_ranges(playback->executor, playback->hooks, espl__short_patch, playback, count,
                         ESPL__SHORT_GRAIN) != ESPL_OK) {
        espl__short_patch(playback, 0, count);
    }
}

static void patch_long(espl__playback *playback)
{
    const espl_status status = espl__run_weighted(
        playback->executor, playback->hooks, patch_one, playback, playback->group_weights,
        playback->weight_order, playback->long_count, GRAIN);

    for (size_t i = 0; status != ESPL_OK && i < playback->long_count; ++i) {
        patch_one(playback, i);
    }
}

void espl__stage_patch(espl__playback *playback)
{
    espl__forest *const forest = playback->forest;

    hand_out_ranges(playback);
    retire_runs(playback);
    patch_short(playback);
    patch_long(playback);
    forest->nodes_visited += playback->visited_nodes;
    forest->nodes_rebuilt += playback->rebuilt_nodes;
    release_unused(playback);
}
