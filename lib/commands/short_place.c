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
    const bool is_made = entry->recipe != 0 && entry->is_short;

    ESPL_CHECK(!is_made || entry->clone_count != 0);
    return is_made;
}

// The local and the world of each. Arrays are fetched once: a pose might be anything, so that all that
// memory holds is read anew behind each that is stored.
static void place(const espl__playback *playback, const espl__entry *entry, const uint32_t *slots)
{
    const espl__recipe *const recipe = &espl__short_recipe(playback, entry)->tree;
    const uint32_t *const sources = recipe->slots, *const parents = recipe->parents;
    const uint32_t size = recipe->size;
    espl_pose *const locals = playback->forest->local, *const worlds = playback->forest->world;
    espl__laned world = espl__laned_of(espl__entry_transform(playback, entry));

    espl__laned_store(&locals[slots[0]], world);
    if (espl__entry_has_parent(entry)) {
        world = espl__laned_compose(espl__laned_load(&worlds[entry->parent.number]), world);
    }
    espl__laned_store(&worlds[slots[0]], world);
    // Siblings stand side by side.
    for (uint32_t i = 1, above = 0; i < size; ++i) {
        const uint32_t slot = slots[i];
        const espl__laned local = espl__laned_load(&locals[sources[i]]);

        if (parents[i] != above) {
            above = parents[i];
            world = espl__laned_load(&worlds[slots[above]]);
        }
        espl__laned_store(&locals[slot], local);
        espl__laned_store(&worlds[slot], espl__laned_compose(world, local));
    }
}

static void settle_in(const espl__playback *playback, const espl__entry *entry,
                      const uint32_t *slots)
{
    const espl__store *const store = playback->store;
    const espl_entity *const entities = playback->make_entities + entry->make_begin;
    uint32_t *const entity = playback->forest->entity;
    uint8_t *const flags = playback->forest->flags;
    const uint32_t count = entry->clone_count;

    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t slot = slots[i], index = entities[i].index;

        flags[slot] = 0;
        entity[slot] = index;
        espl__entity_set_slot(store, index, slot);
    }
    if (espl__entry_has_parent(entry) && entry->command->link == ESPL_LINK_FREE) {
        flags[slots[0]] = ESPL__SLOT_FREE_LINK;
    }
}

static void ask_for_places(const espl__playback *playback, const espl__entry *entry)
{
    const espl__forest *const forest = playback->forest;
    const espl__record *const records = playback->store->records;
    const uint32_t *const slots = playback->make_slots + entry->make_begin;
    const espl_entity *const entities = playback->make_entities + entry->make_begin;

    espl__ask(&forest->world[espl__operand_slot(&entry->parent)]);
    for (uint32_t i = 0; i < entry->clone_count; ++i) {
        espl__ask_to_write(&forest->local[slots[i]]);
        espl__ask_to_write(&forest->world[slots[i]]);
        espl__ask_to_write(&forest->entity[slots[i]]);
        espl__ask_to_write(&forest->flags[slots[i]]);
        espl__ask_to_write(&records[entities[i].index]);
    }
}

void espl__short_place(void *context, size_t begin, size_t end)
{
    enum { AHEAD = 8 };
    const espl__playback *const playback = context;
    const espl__entry *const entries = playback->entries;
    const size_t first = begin + AHEAD;

    for (size_t at = begin; at < end + AHEAD; ++at) {
        if (at < end && is_copy(&entries[at])) {
            ask_for_places(playback, &entries[at]);
        }
        if (at >= first && is_copy(&entries[at - AHEAD])) {
            const espl__entry *const entry = &entries[at - AHEAD];
            const uint32_t *const slots = playback->make_slots + entry->make_begin;

            place(playback, entry, slots);
            settle_in(playback, entry, slots);
        }
    }
}
