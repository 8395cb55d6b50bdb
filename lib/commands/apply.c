// SPDX-License-Identifier: MIT
// What each kind of command does, carried out on the trees themselves. A new kind is a line in the table
// at the end, its function here or in a file of its own, and its operands in resolve.c.
#include "lib/commands/apply.h"

// --- Operands ---

espl_status espl__apply_find(const espl__apply *a, const espl__operand *operand, uint32_t *slot)
{
    const espl__playback *const playback = a->playback;

    if (operand->state < ESPL_OK) {
        return (espl_status)operand->state;
    }
    *slot = espl__operand_is_pending(operand) ? playback->pending_slots[operand->number]
                                              : operand->number;
    return *slot == ESPL__NO_SLOT ||
                   playback->forest->links[*slot].entity == ESPL__NO_ENTITY
               ? ESPL_ERR_DEAD
               : ESPL_OK;
}

// The sibling to come before: ESPL__NO_SLOT where the command names none.
static espl_status find_before(const espl__apply *a, uint32_t parent, uint32_t *before)
{
    *before = ESPL__NO_SLOT;
    if (espl_entity_is_null(a->command->before)) {
        return ESPL_OK;
    }
    const espl_status status = espl__apply_find(a, &a->entry->before, before);

    if (status != ESPL_OK) {
        return status;
    }
    return a->playback->forest->parent[*before] == parent ? ESPL_OK : ESPL_ERR_NOT_CHILD;
}

// The node of a command on what has a transform.
static espl_status find_placed(const espl__apply *a, uint32_t *slot)
{
    const espl_status status = espl__apply_find(a, &a->entry->target, slot);

    return status == ESPL_OK && espl__slot_is(a->playback->forest, *slot, ESPL__SLOT_BARE)
               ? ESPL_ERR_NO_TRANSFORM
               : status;
}

// --- Links ---

static espl__keep_rules stay_rules(const espl__apply *a)
{
    return (espl__keep_rules){a->command->stay_position, a->command->stay_rotation,
                              a->command->stay_scale};
}

static espl_status attach(espl__apply *a)
{
    const espl__attach_rules rules = {stay_rules(a), a->command->link, a->command->inherit};
    uint32_t child = 0, parent = 0, before = 0;
    espl_status status = espl__apply_find(a, &a->entry->target, &child);

    status = status != ESPL_OK ? status : espl__apply_find(a, &a->entry->parent, &parent);
    if (status != ESPL_OK) {
        return status;
    }
    if (a->playback->forest->parent[child] != parent &&
        espl__edit_is_at_or_below(a->edit, parent, child)) {
        return ESPL_ERR_CYCLE;
    }
    status = find_before(a, parent, &before);
    return status != ESPL_OK ? status : espl__edit_attach(a->edit, child, parent, before, &rules);
}

static espl_status detach(espl__apply *a)
{
    uint32_t slot = 0;
    const espl_status status = espl__apply_find(a, &a->entry->target, &slot);

    return status != ESPL_OK ? status : espl__edit_detach(a->edit, slot, stay_rules(a));
}

static espl_status set_sibling(espl__apply *a)
{
    uint32_t slot = 0, before = ESPL__NO_SLOT;
    espl_status status = espl__apply_find(a, &a->entry->target, &slot);

    if (status != ESPL_OK) {
        return status;
    }
    const uint32_t parent = a->playback->forest->parent[slot];

    status = parent == ESPL__NO_SLOT ? ESPL_ERR_NOT_CHILD : find_before(a, parent, &before);
    return status != ESPL_OK ? status : espl__edit_set_sibling(a->edit, slot, before);
}

static espl_status destroy(espl__apply *a)
{
    uint32_t slot = 0;
    const espl_status status = espl__apply_find(a, &a->entry->target, &slot);

    return status != ESPL_OK ? status
                             : espl__edit_destroy(a->edit, slot, (espl_extent)a->command->place);
}

// --- Placements ---

static espl_status write_value(espl__apply *a)
{
    uint32_t slot = 0;
    const espl_status status = find_placed(a, &slot);

    return status != ESPL_OK ? status
                             : espl__edit_write(a->edit, slot, (espl_write_kind)a->command->place,
                                                espl__entry_value(a->playback, a->entry));
}

static espl_status set_inherit(espl__apply *a)
{
    uint32_t slot = 0;
    const espl_status status = find_placed(a, &slot);

    return status != ESPL_OK ? status
                             : espl__edit_set_inherit(a->edit, slot, a->command->inherit);
}

espl_status espl__apply_place(espl__apply *a)
{
    const espl_transform *const value = espl__entry_transform(a->playback, a->entry);
    uint32_t slot = 0;
    const espl_status status = espl__apply_find(a, &a->entry->target, &slot);

    if (status != ESPL_OK) {
        return status;
    }
    if (!espl__slot_is(a->playback->forest, slot, ESPL__SLOT_BARE)) {
        const espl_write_value whole = {.transform = *value};

        return espl__edit_write(a->edit, slot, ESPL_WRITE_LOCAL_TRANSFORM, &whole);
    }
    if (!espl__components_fit(espl__components_count(a->playback, a->part, slot), true)) {
        return ESPL_ERR_LIMIT;
    }
    return espl__edit_add_transform(a->edit, slot, value);
}

espl_status espl__apply_unplace(espl__apply *a)
{
    uint32_t slot = 0;
    const espl_status status = espl__apply_find(a, &a->entry->target, &slot);

    return status != ESPL_OK || espl__slot_is(a->playback->forest, slot, ESPL__SLOT_BARE)
               ? status
               : espl__edit_remove_transform(a->edit, slot);
}

// --- What is made ---

// The parent of what a command makes, none also where it is dead and the command says so, and the
// sibling to come before.
static espl_status find_parent(const espl__apply *a, espl__new_node *place)
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
static void take_transform(const espl__apply *a, espl__new_node *place)
{
    const espl_transform *const value = espl__entry_transform(a->playback, a->entry);

    place->placement =
        (espl__placement){espl__pose_of(value), espl__kept_none(), espl__extra_of(value)};
    place->world = place->placement.local;
    place->keeps_world = a->command->place == ESPL_PLACE_WORLD;
}

// Note what the playback knows of the nodes that a command is about to make, beside the edit: so many
// copies of so many nodes, the first of which has a set.
static bool note_made(espl__apply *a, uint32_t copies, uint32_t size, uint32_t top_set)
{
    const uint32_t template = a->entry->template;
    const uint32_t bucket =
        template != 0 ? a->playback->sources[template - 1].first_bucket : ESPL__NONE;
    const uint32_t step = template != 0 ? ESPL__COPY_KINDS : 0;
    const size_t count = (size_t)copies * size;

    if (!ESPL_ARRAY_RESERVE(a->playback->heap, ESPL__FOR_COMMANDS, a->part->made, count)) {
        return false;
    }
    const uint32_t first = (uint32_t)espl__array_length(a->part->made);
    espl__made_info *made = a->part->made + first;

    ESPL_CHECK(espl__array_length(a->edit->made) == first);
    for (uint32_t copy = 0; copy < copies; ++copy, made += size) {
        for (uint32_t i = 0; i < size; ++i) {
            made[i] = (espl__made_info){ESPL__NONE, bucket + i * step};
        }
        made[0].set = top_set;
    }
    espl__array_set_length(a->part->made, first + count);
    a->entry->made_begin = first;
    return true;
}

static uint32_t *pending_slots(const espl__apply *a)
{
    return a->playback->pending_slots + a->playback->lanes[a->entry->lane].pending_base +
           a->command->pending;
}

static bool set_fits(const espl__apply *a, uint32_t set, bool has_transform)
{
    const size_t count = set == ESPL__NONE ? 0 : a->part->sets.sets[set].count;

    return espl__components_fit(count, has_transform);
}

static espl_status create(espl__apply *a)
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
    const espl_status placed = espl__edit_prepare_new(a->edit, &place);

    status = placed < 0 ? placed : espl__apply_grow_nursery(a, 1);
    if (status != ESPL_OK) {
        return status;
    }
    if (!note_made(a, a->command->count, 1, set)) {
        return espl__apply_no_memory(a);
    }
    for (uint32_t i = 0; i < a->command->count; ++i) {
        uint32_t made = 0;

        if (espl__edit_create(a->edit, &place, &made) != ESPL_OK) {
            return espl__apply_no_memory(a);
        }
        a->entry->made_count += 1;
        pending_slots(a)[i] = a->edit->made[made].slot;
    }
    return placed;
}

// --- Clones ---

// The placement of each clone's top. One without a transform has nothing to be placed.
static espl_status place_clone(espl__apply *a, uint32_t source, espl__new_node *place)
{
    place->is_bare = espl__slot_is(a->playback->forest, source, ESPL__SLOT_BARE);
    if (place->is_bare) {
        place->placement = espl__placement_identity();
        place->world = place->placement.local;
        if (place->inherit != 0 && place->parent != ESPL__NO_SLOT) {
            return ESPL_ERR_NO_TRANSFORM;
        }
    } else if (a->command->place == ESPL_PLACE_SOURCE) {
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

    if (a->entry->template == 0) {
        status = espl__components_share(a, source, &before);
    }
    *set = before;
    if (status != ESPL_OK || a->command->value_count == 0) {
        return status;
    }
    const uint32_t base = espl__components_base(a->playback, a->part, source);

    return espl__components_make(a, before, base, set);
}

// What members of a clone have of sets that commands changed before.
static espl_status share_sets(espl__apply *a, const espl__template *from, uint32_t first)
{
    espl_status status = ESPL_OK;

    for (uint32_t i = 1; i < from->count && status == ESPL_OK && a->entry->template == 0; ++i) {
        uint32_t set = ESPL__NONE;

        status = espl__components_share(a, from->slots[i], &set);
        a->part->made[first + i].set = set;
    }
    return status;
}

static espl_status make_clones(espl__apply *a, const espl__template *from,
                               const espl__new_node *place, uint32_t set)
{
    if (!note_made(a, a->command->count, from->count, set)) {
        return espl__apply_no_memory(a);
    }
    for (uint32_t i = 0; i < a->command->count; ++i) {
        uint32_t made = 0;

        if (espl__edit_clone(a->edit, from, place, &made) != ESPL_OK ||
            share_sets(a, from, made) != ESPL_OK) {
            return espl__apply_no_memory(a);
        }
        a->entry->made_count += from->count;
        pending_slots(a)[i] = a->edit->made[made].slot;
    }
    return ESPL_OK;
}

static espl_status instantiate(espl__apply *a)
{
    espl__new_node place = {.link = a->command->link, .inherit = a->command->inherit};
    espl__template found;
    const espl__template *from = &found;
    uint32_t source = a->entry->target.number, set = ESPL__NONE;
    espl_status status = ESPL_OK;

    if (a->entry->template == 0) {
        status = espl__apply_find(a, &a->entry->target, &source);
    }
    status = status != ESPL_OK ? status : find_parent(a, &place);
    status = status != ESPL_OK ? status : make_top_set(a, source, &set);
    if (status != ESPL_OK) {
        return status;
    }
    const bool has_transform = !espl__slot_is(a->playback->forest, source, ESPL__SLOT_BARE);

    if (a->command->value_count != 0 && !set_fits(a, set, has_transform)) {
        return ESPL_ERR_LIMIT;
    }
    const espl_status placed = place_clone(a, source, &place);

    if (placed < 0) {
        return placed;
    }
    if (a->entry->template != 0) {
        from = &a->playback->sources[a->entry->template - 1].tree;
    } else {
        status = espl__edit_find_template(a->edit, source, &found);
    }
    status = status != ESPL_OK ? status : espl__apply_grow_nursery(a, from->count);
    status = status != ESPL_OK ? status : make_clones(a, from, &place, set);
    return status != ESPL_OK ? status : placed;
}

// --- The table ---

typedef espl_status (*command_function)(espl__apply *a);

static const command_function table[ESPL__COMMAND_KINDS] = {
    [ESPL__COMMAND_INSTANTIATE] = instantiate,
    [ESPL__COMMAND_DESTROY] = destroy,
    [ESPL__COMMAND_ATTACH] = attach,
    [ESPL__COMMAND_DETACH] = detach,
    [ESPL__COMMAND_SIBLING] = set_sibling,
    [ESPL__COMMAND_WRITE] = write_value,
    [ESPL__COMMAND_INHERIT] = set_inherit,
    [ESPL__COMMAND_PLACE] = espl__apply_place,
    [ESPL__COMMAND_UNPLACE] = espl__apply_unplace,
    [ESPL__COMMAND_CREATE] = create,
    [ESPL__COMMAND_CREATE_BARE] = create,
    [ESPL__COMMAND_CHANGE] = espl__apply_change,
    [ESPL__COMMAND_SET] = espl__apply_set,
    [ESPL__COMMAND_ENABLE] = espl__apply_enable,
    [ESPL__COMMAND_DISABLE] = espl__apply_disable,
};

espl_status espl__apply_command(espl__apply *a)
{
    return table[a->command->kind](a);
}
