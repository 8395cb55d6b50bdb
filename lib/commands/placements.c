// SPDX-License-Identifier: MIT
// What commands do to the placement of one node where it stands: writes, inherit flags, and
// placements that come and go.
#include "lib/commands/carrier.h"

// --- Writes ---

// A node with a placement of its own, with what a change of it needs.
typedef struct standing {
    uint32_t node;
    espl__placement placement;
    espl_pose world;
    const espl__frame *up; // in `room`, or NULL
    espl__frame room;
} standing;

static void stand(espl__carrier *c, uint32_t node, standing *out)
{
    out->node = node;
    out->up = espl__carrier_frame(c, espl__sketch_at(c->sketch, node)->parent, &out->room);
    out->placement = espl__sketch_placement(c->sketch, node);
    out->world = espl__sketch_world(c->sketch, node);
}

// Put the changed placement in place, unless the change was refused.
static espl_status put(espl__carrier *c, const standing *s, espl_status status)
{
    const espl_status done = status < 0 ? status : espl__carrier_write(c, s->node, &s->placement);

    return done < 0 ? done : status;
}

static espl_status write_value(espl__carrier *c, uint32_t node, espl_write_kind kind)
{
    standing s;

    stand(c, node, &s);
    return put(c, &s,
               espl__placement_write(&s.placement, &s.world, s.up, kind,
                                     espl__entry_value(c->playback, c->entry)));
}

// The node of a command on what has a placement.
static espl_status find_placed(const espl__carrier *c, uint32_t *node)
{
    const espl_status status = espl__carrier_find(c, &c->entry->target, node);

    return status == ESPL_OK && espl__carrier_has(c, *node, ESPL__NODE_PASS) ? ESPL_ERR_NO_TRANSFORM
                                                                             : status;
}

espl_status espl__carry_write(espl__carrier *c)
{
    uint32_t node = 0;
    const espl_status status = find_placed(c, &node);

    return status != ESPL_OK ? status : write_value(c, node, (espl_write_kind)c->command->place);
}

espl_status espl__carry_inherit(espl__carrier *c)
{
    const uint32_t flags = c->command->inherit;
    uint32_t node = 0;
    standing s;
    const espl_status status = find_placed(c, &node);

    if (status != ESPL_OK) {
        return status;
    }
    stand(c, node, &s);
    if (s.up == NULL) {
        return flags != 0 ? ESPL_ERR_NOT_CHILD : ESPL_OK;
    }
    return put(c, &s, espl__placement_inherit(&s.placement, &s.world, s.up, flags));
}

// --- Placements that come and go ---

// Tell whether children see the same in both: contexts are not seen.
static bool is_same_frame(const espl__frame *a, const espl__frame *b)
{
    return espl__pose_is_same(&a->world, &b->world) &&
           memcmp(a->extra.stretch, b->extra.stretch, sizeof a->extra.stretch) == 0;
}

// Before the frame of a node changes: keep the worlds of what hangs below it.
static espl_status keep_below(espl__carrier *c, uint32_t node, const espl__frame *next,
                              uint32_t lost)
{
    espl__frame now;
    espl_status status = ESPL_OK;

    if (is_same_frame(espl__carrier_frame(c, node, &now), next)) {
        return ESPL_OK;
    }
    for (uint32_t child = espl__sketch_at(c->sketch, node)->first;
         child != ESPL__NO_NODE && status == ESPL_OK;
         child = espl__sketch_at(c->sketch, child)->next) {
        status = espl__carrier_rebase(c, child, next, lost);
    }
    return status;
}

// Give a node its first placement, or with `pass` the one that shows through. Its row follows.
static espl_status replace(espl__carrier *c, uint32_t node, const espl__placement *placement,
                           unsigned pass)
{
    espl__sketch *const sketch = c->sketch;

    if (!espl__sketch_reserve_written(sketch, 1)) {
        return espl__carrier_no_memory(c);
    }
    espl__sketch_write(sketch, node, placement);
    espl__sketch_at(sketch, node)->flags &= ~(unsigned)ESPL__NODE_PASS;
    espl__sketch_at(sketch, node)->flags |= pass;
    espl__sketch_note(sketch, node, ESPL__NODE_REPLACED);
    espl__sketch_restructure(sketch, node);
    return ESPL_OK;
}

espl_status espl__carry_place(espl__carrier *c)
{
    const espl_transform *const value = espl__entry_transform(c->playback, c->entry);
    uint32_t node = 0;
    const espl_status found = espl__carrier_find(c, &c->entry->target, &node);

    if (found != ESPL_OK) {
        return found;
    }
    if (!espl__carrier_has(c, node, ESPL__NODE_PASS)) {
        return write_value(c, node, ESPL_WRITE_LOCAL);
    }
    if (!espl__components_fit(
            espl__components_count(c->playback, c->group, espl__sketch_at(c->sketch, node)),
            true)) {
        return ESPL_ERR_LIMIT;
    }
    espl__frame room;
    const espl__frame *const up =
        espl__carrier_frame(c, espl__sketch_at(c->sketch, node)->parent, &room);
    const espl__placement placement = {espl__pose_of(value), espl__kept_none(),
                                       espl__extra_of(value)};
    const espl__frame next = {espl__placement_world(&placement, up), placement.extra};

    if (!espl__pose_is_finite(&next.world)) {
        return ESPL_ERR_RANGE;
    }
    const espl_status status = keep_below(c, node, &next, ESPL__NO_NODE);

    return status != ESPL_OK ? status : replace(c, node, &placement, 0);
}

espl_status espl__carry_unplace(espl__carrier *c)
{
    const espl__placement bare = espl__placement_identity();
    espl__frame next = {bare.local, bare.extra};
    uint32_t node = 0;
    espl_status status = espl__carrier_find(c, &c->entry->target, &node);

    if (status != ESPL_OK || espl__carrier_has(c, node, ESPL__NODE_PASS)) {
        return status;
    }
    (void)espl__carrier_frame(c, espl__sketch_at(c->sketch, node)->parent, &next);
    status = keep_below(c, node, &next, node);
    return status != ESPL_OK ? status : replace(c, node, &bare, ESPL__NODE_PASS);
}
