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

// Tell whether the set stays within its limit at each moment: the immediate call adds the transform
// before it removes components.
static bool change_fits(const espl__apply *a, uint32_t slot, size_t after)
{
    const bool comes = a->command->place == ESPL__PLACEMENT_COMES;
    const bool goes = a->command->place == ESPL__PLACEMENT_GOES;
    const bool had_transform = node_has_transform(a, slot);

    return (!comes || had_transform || espl__components_fit(count_of(a, slot), true)) &&
           espl__components_fit(after, comes || (had_transform && !goes));
}

// Add, overwrite or remove the transform. @return also ESPL_LOSSY.
static espl_status change_transform(espl__apply *a)
{
    espl_status status = ESPL_OK;

    if (a->command->place == ESPL__PLACEMENT_COMES) {
        status = espl__apply_add_transform(a);
    } else if (a->command->place == ESPL__PLACEMENT_GOES) {
        status = espl__apply_remove_transform(a);
    }
    return status;
}

// Put the values of the command into the own set of a node, and remove the components that the
// command removes.
static espl_status change_set(espl__apply *a, uint32_t slot)
{
    const espl_status status = espl__components_open(a, slot, a->command->value_count);

    if (status == ESPL_OK) {
        espl__value_cursor values = espl__values_of(a->in->request->lanes, a->entry);

        espl__set_apply(&a->part->sets, espl__components_set_of(a->part, slot), &values,
                        espl__apply_number(a));
    }
    return status;
}

espl_status espl__apply_change(espl__apply *a)
{
    uint32_t slot = 0;
    bool changes = false;
    espl_status status = espl__apply_find(a, &a->entry->target, &slot);

    if (status != ESPL_OK) {
        return status;
    }
    const size_t after = count_after(a, slot, &changes);

    if (!change_fits(a, slot, after)) {
        return ESPL_ERR_LIMIT;
    }
    // The transform before the set, because only the transform can still be refused.
    const espl_status placed = change_transform(a);

    if (placed < 0 || !changes) {
        return placed;
    }
    status = change_set(a, slot);
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
    return values.header.size != 0 ? change_set(a, slot) : ESPL_OK;
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

// The last set that was made for a node without one. It is reused, because most nodes of an extent
// get the same set.
typedef struct recent_set {
    uint32_t base, set; // set ESPL__NONE: there is none yet
    bool is_made;
} recent_set;

// Tell whether the recent set is right for another node: the same archetype, and both made or
// neither, because a copy loses ESPL_PREFAB.
static bool is_alike(const recent_set *last, uint32_t base, bool is_made)
{
    return last->set != ESPL__NONE && last->base == base && last->is_made == is_made;
}

// Add the tag to a node or remove it. Precondition: the node does not have it, or has it.
static espl_status change_tag(espl__apply *a, uint32_t slot, bool adds, recent_set *last)
{
    espl__sets *const sets = &a->part->sets;
    const bool is_made = espl__slot_is_made(a->forest, slot);
    const bool is_plain = espl__components_set_of(a->part, slot) == ESPL__NONE;
    const uint32_t base = is_plain ? espl__components_base(a->part, slot) : ESPL__NONE;

    ESPL_CHECK_FULL(node_has(a, slot, ESPL_DISABLED) != adds);
    if (is_plain && is_alike(last, base, is_made)) {
        return espl__components_give(a, slot, last->set);
    }
    // A set of its own, with room for the tag.
    const espl_status status = espl__components_open(a, slot, 1);

    if (status != ESPL_OK) {
        return status;
    }
    const uint32_t set = espl__components_set_of(a->part, slot);

    if (adds) {
        espl__set_put(sets, set, &(espl__set_item){ESPL_DISABLED, espl__apply_number(a), NULL});
    } else {
        espl__set_drop(sets, set, ESPL_DISABLED);
    }
    // From now on other nodes may get the set, so that it must not change.
    if (is_plain) {
        sets->sets[set].is_shared = true;
        *last = (recent_set){base, set, is_made};
    }
    return ESPL_OK;
}

// Add the tag to each node of the extent, or remove it. Where one has no room for the tag, none
// gets it. O(nodes of the extent).
static espl_status change_tags(espl__apply *a, bool adds)
{
    recent_set last = {ESPL__NONE, ESPL__NONE, false};
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
            status = change_tag(a, slot, adds, &last);
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
