// SPDX-License-Identifier: MIT
// What commands do to the components of nodes: changes, values alone, and what queries skip.
#include "lib/commands/carrier.h"

static size_t count_of(const espl__carrier *c, uint32_t node)
{
    return espl__components_count(c->playback, c->group, espl__sketch_at(c->sketch, node));
}

static bool has(const espl__carrier *c, uint32_t node, espl_component component)
{
    return espl__components_have(c->playback, c->group, espl__sketch_at(c->sketch, node),
                                 component);
}

static bool is_placed(const espl__carrier *c, uint32_t node)
{
    return espl__node_is_placed(espl__sketch_at(c->sketch, node));
}

// --- Changes ---

// Components that a node would have after the command, and whether any of it concerns them.
static size_t count_after(const espl__carrier *c, uint32_t node, bool *changes)
{
    espl__value_cursor values = espl__values_of(c->playback, c->entry);
    size_t count = count_of(c, node);

    *changes = false;
    while (espl__values_next(&values)) {
        const bool is_there = has(c, node, values.header.component);

        count += !values.is_taken && !is_there ? 1 : 0;
        count -= values.is_taken && is_there ? 1 : 0;
        *changes = *changes || !values.is_taken || is_there;
    }
    return count;
}

// Tell whether the set fits at each moment: a placement comes before others go.
static bool fits(const espl__carrier *c, uint32_t node, size_t after)
{
    const bool comes = c->command->place == ESPL__PLACEMENT_COMES;
    const bool goes = c->command->place == ESPL__PLACEMENT_GOES;
    const bool was_placed = is_placed(c, node);

    return (!comes || was_placed || espl__components_fit(count_of(c, node), true)) &&
           espl__components_fit(after, comes || (was_placed && !goes));
}

// What becomes of the placement. As of espl_change(), a remark is not told.
static espl_status change_placement(espl__carrier *c)
{
    espl_status status = ESPL_OK;

    if (c->command->place == ESPL__PLACEMENT_COMES) {
        status = espl__carry_place(c);
    } else if (c->command->place == ESPL__PLACEMENT_GOES) {
        status = espl__carry_unplace(c);
    }
    return status < 0 ? status : ESPL_OK;
}

static espl_status apply(espl__carrier *c, uint32_t node)
{
    const espl_status status = espl__components_open(c, node, c->command->value_count);

    if (status == ESPL_OK) {
        espl__components_apply(c, espl__sketch_at(c->sketch, node)->values);
    }
    return status;
}

espl_status espl__carry_change(espl__carrier *c)
{
    uint32_t node = 0;
    bool changes = false;
    espl_status status = espl__carrier_find(c, &c->entry->target, &node);

    if (status != ESPL_OK) {
        return status;
    }
    const size_t after = count_after(c, node, &changes);

    if (!fits(c, node, after)) {
        return ESPL_ERR_LIMIT;
    }
    status = change_placement(c);
    return status != ESPL_OK || !changes ? status : apply(c, node);
}

espl_status espl__carry_set(espl__carrier *c)
{
    uint32_t node = 0;
    espl__value_cursor values = espl__values_of(c->playback, c->entry);
    const espl_status status = espl__carrier_find(c, &c->entry->target, &node);

    if (status != ESPL_OK) {
        return status;
    }
    (void)espl__values_next(&values);
    if (!has(c, node, values.header.component)) {
        return ESPL_ERR_NO_COMPONENT;
    }
    return values.header.size != 0 ? apply(c, node) : ESPL_OK;
}

// --- What queries skip ---

// The next node of the command's extent, or ESPL__NO_NODE.
static uint32_t next_in_extent(const espl__carrier *c, uint32_t node, uint32_t top)
{
    const unsigned extent = c->command->place;

    while (node != ESPL__NO_NODE) {
        const bool is_in = node == top || extent == ESPL_EXTENT_SUBTREE ||
                           !espl__carrier_has(c, node, ESPL__NODE_FREE_LINK);

        node = espl__sketch_next(c->sketch, node, top, is_in && extent != ESPL_EXTENT_ENTITY);
        if (node != ESPL__NO_NODE &&
            (extent == ESPL_EXTENT_SUBTREE || !espl__carrier_has(c, node, ESPL__NODE_FREE_LINK))) {
            break;
        }
    }
    return node;
}

// Each node of the extent has room for the tag, or has it.
static bool extent_fits(const espl__carrier *c, uint32_t top)
{
    bool is_fine = true;

    for (uint32_t node = top; is_fine && node != ESPL__NO_NODE;
         node = next_in_extent(c, node, top)) {
        is_fine = has(c, node, ESPL_DISABLED) ||
                  espl__components_fit(count_of(c, node) + 1, is_placed(c, node));
    }
    return is_fine;
}

// The last set that was made of a row of an archetype: those of an extent are mostly alike.
typedef struct alike {
    uint32_t base, set; // ESPL__NONE: there is none yet
    bool is_clone;
} alike;

static bool is_alike(const alike *last, uint32_t base, bool is_clone)
{
    return last->set != ESPL__NONE && last->base == base && last->is_clone == is_clone;
}

// Give one node the tag or take it away.
static espl_status tag(espl__carrier *c, uint32_t node, bool comes, alike *last)
{
    espl__sets *const sets = &c->group->work->sets;
    const espl__node *const n = espl__sketch_at(c->sketch, node);
    const bool is_clone = espl__node_is_clone(n), is_plain = n->values == ESPL__NONE;
    const uint32_t base = is_plain ? espl__components_base(c->playback->store, n) : ESPL__NONE;

    if (is_plain && is_alike(last, base, is_clone)) {
        espl__components_set(c, node, last->set);
        return ESPL_OK;
    }
    const espl_status status = espl__components_open(c, node, 1);

    if (status != ESPL_OK) {
        return status;
    }
    const uint32_t set = espl__sketch_at(c->sketch, node)->values;

    if (comes) {
        espl__set_put(sets, set, &(espl__set_item){ESPL_DISABLED, espl__carrier_number(c), NULL});
    } else {
        espl__set_drop(sets, set, ESPL_DISABLED);
    }
    if (is_plain) {
        sets->sets[set].is_shared = true;
        *last = (alike){base, set, is_clone};
    }
    return ESPL_OK;
}

static espl_status tag_extent(espl__carrier *c, bool comes)
{
    alike last = {ESPL__NONE, ESPL__NONE, false};
    uint32_t top = 0;
    espl_status status = espl__carrier_find(c, &c->entry->target, &top);

    if (status != ESPL_OK) {
        return status;
    }
    if (comes && !extent_fits(c, top)) {
        return ESPL_ERR_LIMIT;
    }
    for (uint32_t node = top; status == ESPL_OK && node != ESPL__NO_NODE;
         node = next_in_extent(c, node, top)) {
        if (has(c, node, ESPL_DISABLED) != comes) {
            status = tag(c, node, comes, &last);
        }
    }
    return status;
}

espl_status espl__carry_enable(espl__carrier *c)
{
    return tag_extent(c, false);
}

espl_status espl__carry_disable(espl__carrier *c)
{
    return tag_extent(c, true);
}
