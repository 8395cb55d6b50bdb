// SPDX-License-Identifier: MIT
// The last step of the short way: what stands in the slots that copies got. Command by command, as
// they were recorded, so that commands, payloads and handles are read one behind the other and
// nothing but the slots themselves stands anywhere.
#include "lib/base/ahead.h"
#include "lib/commands/short.h"
#include "lib/math/lanes.h"

// Others that make somebody the short way have no recipe.
static bool is_copy(const espl__entry *entry)
{
    const bool is_made = entry->is_short && entry->recipe != 0;

    ESPL_CHECK(!is_made || entry->clone_count != 0);
    return is_made;
}

// The local and the world of each.
static void place(const espl__playback *playback, const espl__entry *entry, const uint32_t *slots)
{
    const espl__forest *const forest = playback->forest;
    const espl__recipe *const recipe = &espl__short_recipe(playback, entry)->tree;
    const espl_pose top = espl__pose_of(espl__entry_transform(playback, entry));
    espl__laned world = espl__laned_load(&top);

    espl__laned_store(&forest->local[slots[0]], world);
    if (espl__entry_has_parent(entry)) {
        world = espl__laned_compose(espl__laned_load(&forest->world[entry->parent.number]), world);
    }
    espl__laned_store(&forest->world[slots[0]], world);
    for (uint32_t i = 1; i < recipe->size; ++i) {
        const espl__laned local = espl__laned_load(&forest->local[recipe->slots[i]]);
        const espl__laned up = espl__laned_load(&forest->world[slots[recipe->parents[i]]]);

        espl__laned_store(&forest->local[slots[i]], local);
        espl__laned_store(&forest->world[slots[i]], espl__laned_compose(up, local));
    }
}

static void settle_in(const espl__playback *playback, const espl__entry *entry,
                      const uint32_t *slots)
{
    const espl__forest *const forest = playback->forest;
    const espl_entity *const entities = playback->make_entities + entry->make_begin;

    for (uint32_t i = 0; i < entry->clone_count; ++i) {
        forest->flags[slots[i]] = 0;
        forest->entity[slots[i]] = entities[i].index;
        espl__entity_set_slot(playback->store, entities[i].index, slots[i]);
    }
    if (espl__entry_has_parent(entry) && entry->command->link == ESPL_LINK_FREE) {
        forest->flags[slots[0]] = ESPL__SLOT_FREE_LINK;
    }
}

static void ask_for_places(const espl__playback *playback, const espl__entry *entry)
{
    const espl__forest *const forest = playback->forest;
    const uint32_t *const slots = playback->make_slots + entry->make_begin;
    const espl_entity *const entities = playback->make_entities + entry->make_begin;

    espl__ask(&forest->world[espl__operand_slot(&entry->parent)]);
    for (uint32_t i = 0; i < entry->clone_count; ++i) {
        espl__ask_to_write(&forest->local[slots[i]]);
        espl__ask_to_write(&forest->world[slots[i]]);
        espl__ask_to_write(&forest->entity[slots[i]]);
        espl__ask_to_write(&forest->flags[slots[i]]);
        espl__ask_to_write(&playback->store->records[entities[i].index]);
    }
}

void espl__short_place(void *context, size_t begin, size_t end)
{
    enum { AHEAD = 8 };
    const espl__playback *const playback = context;
    const espl__entry *const entries = playback->entries;

    for (size_t at = begin; at < end + AHEAD; ++at) {
        if (at < end && is_copy(&entries[at])) {
            ask_for_places(playback, &entries[at]);
        }
        // Where a number is less than 0 it is past the end as well.
        const size_t placed = at - AHEAD;

        if (placed - begin < end - begin && is_copy(&entries[placed])) {
            const uint32_t *const slots = playback->make_slots + entries[placed].make_begin;

            place(playback, &entries[placed], slots);
            settle_in(playback, &entries[placed], slots);
        }
    }
}
