// SPDX-License-Identifier: MIT
// What each kind of command does to the trees.
//
// Input: the command and its operands, the trees as the commands before it leave them. Output: the
// edit of the part, and the verdict that is returned. A command that is refused changes nothing. A
// command that runs out of memory may have changed something, and sets the status of the edit, so
// that all edits are undone.
//
// A new kind of command is a line of the table at the end, a function here or in a file of its own,
// and its operands in stage_resolve.c.
#include "lib/commands/component_values.h"
#include "lib/tree/edit_links.h"
#include "lib/tree/edit_nodes.h"

// --- Operands ---

espl_status espl__apply_find(const espl__apply *a, const espl__operand *operand, uint32_t *slot)
{
    if (operand->state < ESPL_OK) {
        return (espl_status)operand->state;
    }
    // A pending entity whose command was refused, or comes later, has no slot.
    *slot = espl__operand_is_pending(operand) ? a->out->pending_slots[operand->number]
                                              : operand->number;
    return *slot == ESPL__NO_SLOT || a->forest->links[*slot].entity == ESPL__NO_ENTITY
               ? ESPL_ERR_DEAD
               : ESPL_OK;
}

// Tell whether a node has no transform. Precondition: the node is alive or was made by this
// playback.
static bool is_bare(const espl__apply *a, uint32_t slot)
{
    return espl__slot_is(a->forest, slot, ESPL__SLOT_BARE);
}

static const espl__lane_view *lanes_of(const espl__apply *a)
{
    return a->in->request->lanes;
}

// The sibling that the node comes before; ESPL__NO_SLOT where the command names none.
static inline espl_status find_before(const espl__apply *a, uint32_t parent, uint32_t *before)
{
    *before = ESPL__NO_SLOT;
    if (espl_entity_is_null(a->command->before)) {
        return ESPL_OK;
    }
    const espl_status status = espl__apply_find(a, &a->entry->before, before);

    if (status != ESPL_OK) {
        return status;
    }
    return a->forest->parent[*before] == parent ? ESPL_OK : ESPL_ERR_NOT_CHILD;
}

// The target of a command that needs a transform.
static espl_status find_transformed(const espl__apply *a, uint32_t *slot)
{
    const espl_status status = espl__apply_find(a, &a->entry->target, slot);

    return status == ESPL_OK && is_bare(a, *slot) ? ESPL_ERR_NO_TRANSFORM : status;
}

// --- Links ---

static espl__keep_rules stay_rules(const espl__apply *a)
{
    return (espl__keep_rules){a->command->stay_position, a->command->stay_rotation,
                              a->command->stay_scale};
}

// Link a node to a parent. Refused: a dead operand, a parent at or below the node (ESPL_ERR_CYCLE),
// a sibling below another parent (ESPL_ERR_NOT_CHILD). What the transform becomes is decided by the
// edit.
static espl_status apply_attach(espl__apply *a)
{
    const espl__attach_rules rules = {stay_rules(a), a->command->link, a->command->inherit};
    uint32_t child = 0, parent = 0, before = 0;
    espl_status status = espl__apply_find(a, &a->entry->target, &child);

    status = status != ESPL_OK ? status : espl__apply_find(a, &a->entry->parent, &parent);
    if (status != ESPL_OK) {
        return status;
    }
    // A node that stays under its parent cannot close a cycle.
    if (a->forest->parent[child] != parent && espl__edit_is_at_or_below(a->edit, parent, child)) {
        return ESPL_ERR_CYCLE;
    }
    status = find_before(a, parent, &before);
    return status != ESPL_OK ? status : espl__edit_attach(a->edit, child, parent, before, &rules);
}

// Make a node a root. No effect on one that is a root already.
static espl_status apply_detach(espl__apply *a)
{
    uint32_t slot = 0;
    const espl_status status = espl__apply_find(a, &a->entry->target, &slot);

    return status != ESPL_OK ? status : espl__edit_detach(a->edit, slot, stay_rules(a));
}

// Move a node among its siblings. A root has none: ESPL_ERR_NOT_CHILD.
static espl_status apply_sibling(espl__apply *a)
{
    uint32_t slot = 0, before = ESPL__NO_SLOT;
    espl_status status = espl__apply_find(a, &a->entry->target, &slot);

    if (status != ESPL_OK) {
        return status;
    }
    const uint32_t parent = a->forest->parent[slot];

    status = parent == ESPL__NO_SLOT ? ESPL_ERR_NOT_CHILD : find_before(a, parent, &before);
    return status != ESPL_OK ? status : espl__edit_set_sibling(a->edit, slot, before);
}

// Destroy a node and what its extent says. Dead nodes keep their slots until the place stage, so
// that later commands find them dead.
static espl_status apply_destroy(espl__apply *a)
{
    uint32_t slot = 0;
    const espl_status status = espl__apply_find(a, &a->entry->target, &slot);

    ESPL_CHECK_FULL(a->command->place <= ESPL_EXTENT_SUBTREE);
    return status != ESPL_OK ? status
                             : espl__edit_destroy(a->edit, slot, (espl_extent)a->command->place);
}

// --- Transforms ---

// Write a part of the transform, or all of it. The value was checked and normalised when it was
// recorded. A write in world axes brings the worlds above the node up to date first. apply_group() ends
// the run that writes of locals may be added to.
static espl_status apply_write(espl__apply *a)
{
    uint32_t slot = 0;
    const espl_status status = find_transformed(a, &slot);

    return status != ESPL_OK ? status
                             : espl__edit_write_in_run(a->edit, slot,
                                                       (espl_write_kind)a->command->place,
                                                       espl__entry_value(lanes_of(a), a->entry));
}

// Change the inherit flags of a member. The flags were checked when they were recorded.
static espl_status apply_inherit(espl__apply *a)
{
    uint32_t slot = 0;
    const espl_status status = find_transformed(a, &slot);

    return status != ESPL_OK ? status : espl__edit_set_inherit(a->edit, slot, a->command->inherit);
}

espl_status espl__apply_add_transform(espl__apply *a, uint32_t slot)
{
    const espl_transform *const value = espl__entry_transform(lanes_of(a), a->entry);

    if (!is_bare(a, slot)) {
        const espl_write_value whole = {.transform = *value};

        return espl__edit_write(a->edit, slot, ESPL_WRITE_LOCAL_TRANSFORM, &whole);
    }
    return espl__edit_add_transform(a->edit, slot, value);
}

espl_status espl__apply_remove_transform(espl__apply *a, uint32_t slot)
{
    return is_bare(a, slot) ? ESPL_OK : espl__edit_remove_transform(a->edit, slot);
}

// --- New nodes ---

// The parent of new nodes, and the sibling that they come before. A dead parent is no parent where
// the command says so.
static inline espl_status find_parent(const espl__apply *a, espl__new_node *place)
{
    place->parent = place->before = ESPL__NO_SLOT;
    if (espl_entity_is_null(a->command->parent)) {
        return espl_entity_is_null(a->command->before) ? ESPL_OK : ESPL_ERR_NOT_CHILD;
    }
    const espl_status status = espl__apply_find(a, &a->entry->parent, &place->parent);

    if (status == ESPL_ERR_DEAD && a->command->dead_parent == ESPL_DEAD_PARENT_ROOT) {
        place->parent = ESPL__NO_SLOT;
        return ESPL_OK;
    }
    return status != ESPL_OK ? status : find_before(a, place->parent, &place->before);
}

// The recorded transform, relative to the parent or to the world.
static inline void take_transform(const espl__apply *a, espl__new_node *place)
{
    const espl_transform *const value = espl__entry_transform(lanes_of(a), a->entry);

    place->placement.local = place->world = espl__pose_of(value);
    place->placement.extra = espl__extra_of(value);
    place->keeps_world = a->command->place == ESPL_PLACE_WORLD;
}

// Tell whether a set, with a role and perhaps a transform, stays within ESPL_SET_LIMIT. A made set
// may have too many components, because commands change it before it is checked.
static bool set_fits(const espl__apply *a, uint32_t set, bool has_transform)
{
    const size_t count = set == ESPL__NONE ? 0 : a->part->sets.sets[set].count;

    return espl__components_fit(count, has_transform);
}

// Give the members of a clone, except its top, the sets of their originals. Those of a source that
// has a template have none.
static espl_status share_member_sets(espl__apply *a, const espl__template *from, uint32_t first)
{
    espl_status status = ESPL_OK;

    for (uint32_t i = 1; i < from->count && status == ESPL_OK; ++i) {
        uint32_t set = ESPL__NONE;

        status = espl__components_share(a, from->nodes[i].slot, &set);
        a->part->made[first + i].set = set;
    }
    return status;
}

// Write what the playback knows of the nodes of one copy: [size]. The first one has a set.
static inline void write_made_info(espl__made_info *made, uint32_t size, uint32_t top_set,
                                   uint32_t bucket, uint32_t step)
{
    made[0].set = top_set;
    made[0].first_bucket = top_set == ESPL__NONE ? bucket : ESPL__NONE;
    for (uint32_t i = 1; i < size; ++i) {
        bucket += step;
        made[i].set = ESPL__NONE;
        made[i].first_bucket = bucket;
    }
}

// Make the copies of a template, or the nodes of a creation. Precondition: `place` is prepared and
// the nursery has room. The nodes of a clone are consecutive, in the order of the template, which
// clone_references.c relies on.
static inline espl_status make_clones(espl__apply *a, const espl__template *from,
                                      const espl__new_node *place, uint32_t set)
{
    const uint32_t template = a->entry->template, size = from->count, copies = a->command->count;
    espl__part *const part = a->part;
    // The slots of the pending entities of the command.
    uint32_t *const slots = a->out->pending_slots + a->in->ordered->bases[a->entry->lane].pendings +
                            a->command->pending;
    // Without a template no node has a bucket.
    const uint32_t bucket =
        template != 0 ? a->in->grouped->sources[template - 1].first_bucket : ESPL__NONE;
    const uint32_t step = template != 0 ? ESPL__COPY_KINDS : 0;
    uint32_t made = (uint32_t)espl__array_length(part->made);

    if (!ESPL_ARRAY_RESERVE(a->context->heap, ESPL__FOR_COMMANDS, part->made,
                            (size_t)copies * size)) {
        return espl__apply_no_memory(a);
    }
    a->entry->made_begin = made;
    for (uint32_t i = 0; i < copies; ++i) {
        // The two lists of made nodes are parallel.
        write_made_info(part->made + made, size, set, bucket, step);
        espl__array_set_length(part->made, made + size);
        if (espl__edit_clone(a->edit, from, place, &made) != ESPL_OK ||
            (template == 0 && share_member_sets(a, from, made) != ESPL_OK)) {
            return espl__apply_no_memory(a);
        }
        slots[i] = a->edit->made[made].slot;
        made += size;
    }
    a->entry->made_count = copies * size;
    ESPL_CHECK(espl__array_length(a->edit->made) == espl__array_length(part->made));
    return ESPL_OK;
}

// Create entities that are no clones. All checks precede the first node, so that a refused creation
// makes none. The nodes share one set, because they have the same values.
// @return the verdict: ESPL_OK or ESPL_LOSSY, else a refusal.
static espl_status apply_create(espl__apply *a)
{
    espl__new_node place = {.link = a->command->link,
                            .inherit = a->command->inherit,
                            .is_bare = a->command->kind == ESPL__COMMAND_CREATE_BARE};
    uint32_t set = 0;
    espl_status status = espl__components_make(a, ESPL__NONE, ESPL__NONE, &set);

    if (status != ESPL_OK) {
        return status;
    }
    if (!set_fits(a, set, !place.is_bare)) {
        return ESPL_ERR_LIMIT;
    }
    status = find_parent(a, &place);
    if (status != ESPL_OK) {
        return status;
    }
    place.placement = espl__placement_identity();
    if (!place.is_bare) {
        take_transform(a, &place);
    }
    // Placed once for all copies, because they are placed alike.
    const espl_status placed = espl__edit_prepare_new(a->edit, &place);

    status = placed < 0 ? placed : espl__apply_ensure_room(a, &espl__template_of_none, place.parent);
    status = status != ESPL_OK ? status : make_clones(a, &espl__template_of_none, &place, set);
    return status != ESPL_OK ? status : placed;
}

// --- Clones ---

// Prepare the placement of each clone's top. A clone without a transform has no placement.
static espl_status place_clone(espl__apply *a, uint32_t source, espl__new_node *place)
{
    place->is_bare = is_bare(a, source);
    if (place->is_bare) {
        place->placement = espl__placement_identity();
        place->world = place->placement.local;
        if (place->inherit != 0 && place->parent != ESPL__NO_SLOT) {
            return ESPL_ERR_NO_TRANSFORM;
        }
    } else if (a->command->place == ESPL_PLACE_SOURCE) {
        // As a root the clone keeps the world of its source, below a parent the local.
        place->placement = espl__edit_source_placement(a->edit, source, &place->world);
        place->keeps_world = place->parent == ESPL__NO_SLOT;
    } else {
        take_transform(a, place);
    }
    return espl__edit_prepare_new(a->edit, place);
}

// The set of each clone's top: what the source has, with the command's values on top.
static espl_status make_top_set(espl__apply *a, uint32_t source, uint32_t *set)
{
    uint32_t before = ESPL__NONE;
    espl_status status = ESPL_OK;

    // No command edits a source that has a template, so that it has no set of its own.
    if (a->entry->template == 0) {
        status = espl__components_share(a, source, &before);
    }
    *set = before;
    if (status != ESPL_OK || a->command->value_count == 0) {
        return status;
    }
    return espl__components_make(a, before, espl__components_base(a->part, source), set);
}

// Clone the owned closure of a source. A source that no command edits was resolved before, and has
// a template; any other source is looked up and walked now, as the commands before this one leave
// it.
// @return the verdict: ESPL_OK or ESPL_LOSSY, else a refusal.
static espl_status apply_instantiate(espl__apply *a)
{
    espl__new_node place; // not set to 0, because most commands set all that is read
    espl__template found;
    const espl__template *from = &found;
    uint32_t source = a->entry->target.number, set = ESPL__NONE;
    espl_status status = ESPL_OK;

    place.link = a->command->link;
    place.inherit = a->command->inherit;
    place.keeps_world = false;
    if (a->entry->template == 0) {
        status = espl__apply_find(a, &a->entry->target, &source);
    }
    status = status != ESPL_OK ? status : find_parent(a, &place);
    status = status != ESPL_OK ? status : make_top_set(a, source, &set);
    if (status != ESPL_OK) {
        return status;
    }
    // A clone without values has the set of its source, which fits.
    if (a->command->value_count != 0 && !set_fits(a, set, !is_bare(a, source))) {
        return ESPL_ERR_LIMIT;
    }
    const espl_status placed = place_clone(a, source, &place);

    if (placed < 0) {
        return placed;
    }
    if (a->entry->template != 0) {
        from = &a->in->grouped->sources[a->entry->template - 1].tree;
    } else {
        status = espl__edit_find_template(a->edit, source, &found);
    }
    status = status != ESPL_OK ? status : espl__apply_ensure_room(a, from, place.parent);
    status = status != ESPL_OK ? status : make_clones(a, from, &place, set);
    return status != ESPL_OK ? status : placed;
}

// --- The table ---

typedef espl_status (*command_function)(espl__apply *a);

static const command_function functions[ESPL__COMMAND_KINDS] = {
    [ESPL__COMMAND_INSTANTIATE] = apply_instantiate, [ESPL__COMMAND_DESTROY] = apply_destroy,
    [ESPL__COMMAND_ATTACH] = apply_attach,           [ESPL__COMMAND_DETACH] = apply_detach,
    [ESPL__COMMAND_SIBLING] = apply_sibling,         [ESPL__COMMAND_WRITE] = apply_write,
    [ESPL__COMMAND_INHERIT] = apply_inherit,         [ESPL__COMMAND_CREATE] = apply_create,
    [ESPL__COMMAND_CREATE_BARE] = apply_create,      [ESPL__COMMAND_CHANGE] = espl__apply_change,
    [ESPL__COMMAND_SET] = espl__apply_set,           [ESPL__COMMAND_ENABLE] = espl__apply_enable,
    [ESPL__COMMAND_DISABLE] = espl__apply_disable,
};

espl_status espl__apply_command(espl__apply *a)
{
    // Custom commands were taken out by the order stage.
    ESPL_CHECK_FULL(a->command->kind < ESPL__COMMAND_KINDS && functions[a->command->kind] != NULL);
    return functions[a->command->kind](a);
}
