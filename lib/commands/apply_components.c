// SPDX-License-Identifier: MIT
// Commands that change the components of nodes: changes of the set, single values, and the tag
// ESPL_DISABLED, which excludes entities from queries.
//
// Input: the values in the payload, the sets of nodes at this moment (component_values.h). Output:
// the sets of the part. Rows are not touched: the reserve stage lists what changes, the change
// stage writes it. A command that is refused changes nothing.
#include "lib/commands/component_values.h"

// The components of a node at this moment, besides its role and its transform.
static size_t count_of(const espl__apply *a, uint32_t slot)
{
    return espl__components_count(a->part, slot);
}

static bool node_has(const espl__apply *a, uint32_t slot, espl_component component)
{
    return espl__components_have(a->part, slot, component);
}

static bool node_has_transform(const espl__apply *a, uint32_t slot)
{
    return !espl__slot_is(a->forest, slot, ESPL__SLOT_BARE);
}

// --- Changes ---

// Count the components that a node would have after the command.
// @param changes  out: the command changes the set or a value.
static size_t count_after(const espl__apply *a, uint32_t slot, bool *changes)
{
    espl__value_cursor values = espl__values_of(a->in->request->lanes, a->entry);
    size_t count = count_of(a, slot);

    *changes = false;
    while (espl__values_next(&values)) {
        const bool is_there = node_has(a, slot, values.header.component);

        count += !values.is_taken && !is_there ? 1 : 0;
        count -= values.is_taken && is_there ? 1 : 0;
        *changes = *changes || !values.is_taken || is_there;
    }
    return count;
}

// Tell whether the set that a node would have is within its limit.
static bool change_fits(const espl__apply *a, uint32_t slot, size_t after)
{
    const bool comes = a->command->place == ESPL__PLACEMENT_COMES;
    const bool goes = a->command->place == ESPL__PLACEMENT_GOES;

    return espl__components_fit(after, comes || (node_has_transform(a, slot) && !goes));
}

// Add, overwrite or remove the transform. @return also ESPL_LOSSY.
static espl_status change_transform(espl__apply *a, uint32_t slot)
{
    espl_status status = ESPL_OK;

    if (a->command->place == ESPL__PLACEMENT_COMES) {
        status = espl__apply_add_transform(a, slot);
    } else if (a->command->place == ESPL__PLACEMENT_GOES) {
        status = espl__apply_remove_transform(a, slot);
    }
    return status;
}

// --- Sets that nodes share ---

// Tell whether nodes may share the set that the command makes: it changes a whole extent, or it is one of an
// immediate change of many entities, whose commands have one payload. Such a playback makes no nodes. Other
// commands keep sets of their own, so that a later command changes them in place.
static bool shares_sets(const espl__apply *a)
{
    return a->in->request->is_strict || a->command->kind == ESPL__COMMAND_ENABLE ||
           a->command->kind == ESPL__COMMAND_DISABLE;
}

// Tell whether the command changes components as another one that shares sets does.
static bool is_same_change(const espl__apply *a, const espl__entry *other)
{
    return a->entry == other ||
           (a->in->request->is_strict && a->command->kind == other->command->kind &&
            a->command->payload == other->command->payload);
}

// Return the archetype of a node without a set of its own, if its set may be shared; else ESPL__NONE.
static uint32_t sharing_base(const espl__apply *a, uint32_t slot)
{
    return shares_sets(a) && espl__components_set_of(a->part, slot) == ESPL__NONE
               ? espl__components_base(a->part, slot)
               : ESPL__NONE;
}

// Return the set that the same change made for another node of the archetype, or ESPL__NONE.
static uint32_t shared_set(const espl__apply *a, uint32_t slot, uint32_t base)
{
    const espl__recent_set *const last = &a->part->recent;

    return base != ESPL__NONE && last->entry != NULL && last->base == base &&
                   last->is_made == espl__slot_is_made(a->forest, slot) &&
                   is_same_change(a, last->entry)
               ? last->set
               : ESPL__NONE;
}

// Note the set of a node for others. From now on they may get it, so that it must not change.
static void share_set(espl__apply *a, uint32_t slot, uint32_t base, uint32_t set)
{
    if (base != ESPL__NONE) {
        a->part->sets.sets[set].is_shared = true;
        a->part->recent =
            (espl__recent_set){a->entry, base, set, espl__slot_is_made(a->forest, slot)};
    }
}

// Put the values of the command into the own set of a node, and remove the components that the
// command removes.
static espl_status change_set(espl__apply *a, uint32_t slot, uint32_t base)
{
    uint32_t set = ESPL__NONE;
    const espl_status status = espl__components_open(a, slot, a->command->value_count, &set);

    if (status == ESPL_OK) {
        espl__value_cursor values = espl__values_of(a->in->request->lanes, a->entry);

        espl__set_apply(&a->part->sets, set, &values, espl__apply_number(a));
        share_set(a, slot, base, set);
    }
    return status;
}

// A node that gets the set of another one has room for it, as that one had.
espl_status espl__apply_change(espl__apply *a)
{
    uint32_t slot = 0;
    bool changes = true;
    espl_status status = espl__apply_find(a, &a->entry->target, &slot);

    if (status != ESPL_OK) {
        return status;
    }
    const uint32_t base = sharing_base(a, slot), shared = shared_set(a, slot, base);

    if (shared == ESPL__NONE && !change_fits(a, slot, count_after(a, slot, &changes))) {
        return ESPL_ERR_LIMIT;
    }
    // The transform before the set, because only the transform can still be refused.
    const espl_status placed = change_transform(a, slot);

    if (placed < 0 || !changes) {
        return placed;
    }
    status =
        shared != ESPL__NONE ? espl__components_give(a, slot, shared) : change_set(a, slot, base);
    return status != ESPL_OK ? status : placed;
}

espl_status espl__apply_set(espl__apply *a)
{
    uint32_t slot = 0;
    espl__value_cursor values = espl__values_of(a->in->request->lanes, a->entry);
    const espl_status status = espl__apply_find(a, &a->entry->target, &slot);

    if (status != ESPL_OK) {
        return status;
    }
    const bool has_value = espl__values_next(&values);

    ESPL_CHECK(has_value && values.left == 0 && !values.is_taken);
    (void)has_value;
    if (!node_has(a, slot, values.header.component)) {
        return ESPL_ERR_NO_COMPONENT;
    }
    // A tag has no value, so that setting one that the node has changes nothing.
    return values.header.size != 0 ? change_set(a, slot, ESPL__NONE) : ESPL_OK;
}

// --- Enable and disable ---

// The node after another one in the command's extent, or ESPL__NO_SLOT.
static uint32_t next_in_extent(const espl__apply *a, uint32_t slot, uint32_t top)
{
    const unsigned extent = a->command->place;

    ESPL_CHECK_FULL(extent <= ESPL_EXTENT_SUBTREE);
    if (extent == ESPL_EXTENT_ENTITY) {
        return ESPL__NO_SLOT;
    }
    // A parent does not own what is linked to it by a free link: skip the node and all below it.
    slot = espl__next_in_walk(a->forest, slot, top, true);
    while (slot != ESPL__NO_SLOT && extent == ESPL_EXTENT_OWNED &&
           espl__slot_is(a->forest, slot, ESPL__SLOT_FREE_LINK)) {
        slot = espl__next_in_walk(a->forest, slot, top, false);
    }
    return slot;
}

// Tell whether each node of the extent has the tag or has room for it.
static bool extent_fits(const espl__apply *a, uint32_t top)
{
    bool is_fine = true;

    for (uint32_t slot = top; is_fine && slot != ESPL__NO_SLOT;
         slot = next_in_extent(a, slot, top)) {
        is_fine = node_has(a, slot, ESPL_DISABLED) ||
                  espl__components_fit(count_of(a, slot) + 1, node_has_transform(a, slot));
    }
    return is_fine;
}

// Add the tag to a node or remove it. Precondition: the node does not have it, or has it.
static espl_status change_tag(espl__apply *a, uint32_t slot, bool adds)
{
    espl__sets *const sets = &a->part->sets;
    const uint32_t base = sharing_base(a, slot), shared = shared_set(a, slot, base);

    ESPL_CHECK_FULL(node_has(a, slot, ESPL_DISABLED) != adds);
    if (shared != ESPL__NONE) {
        return espl__components_give(a, slot, shared);
    }
    // A set of its own, with room for the tag.
    uint32_t set = ESPL__NONE;
    const espl_status status = espl__components_open(a, slot, 1, &set);

    if (status != ESPL_OK) {
        return status;
    }
    if (adds) {
        espl__set_put(sets, set, &(espl__set_item){ESPL_DISABLED, espl__apply_number(a), NULL});
    } else {
        espl__set_drop(sets, set, ESPL_DISABLED);
    }
    share_set(a, slot, base, set);
    return ESPL_OK;
}

// Add the tag to each node of the extent, or remove it. Where one has no room for the tag, none
// gets it. O(nodes of the extent).
static espl_status change_tags(espl__apply *a, bool adds)
{
    uint32_t top = 0;
    espl_status status = espl__apply_find(a, &a->entry->target, &top);

    if (status != ESPL_OK) {
        return status;
    }
    if (adds && !extent_fits(a, top)) {
        return ESPL_ERR_LIMIT;
    }
    for (uint32_t slot = top; status == ESPL_OK && slot != ESPL__NO_SLOT;
         slot = next_in_extent(a, slot, top)) {
        if (node_has(a, slot, ESPL_DISABLED) != adds) {
            status = change_tag(a, slot, adds);
        }
    }
    return status;
}

espl_status espl__apply_enable(espl__apply *a)
{
    return change_tags(a, false);
}

espl_status espl__apply_disable(espl__apply *a)
{
    return change_tags(a, true);
}
