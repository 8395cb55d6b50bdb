// SPDX-License-Identifier: MIT
// Component values that instantiate commands give to their clones. A clone of a clone gets what its
// original got before, so values form chains.
#include "lib/commands/playback.h"

#include <string.h>

espl__value_cursor espl__values_of(const espl__playback *playback, const espl__entry *entry)
{
    return (espl__value_cursor){.at = playback->lanes[entry->lane].payload +
                                      entry->command->payload + sizeof(espl_transform),
                                .left = entry->command->value_count};
}

bool espl__values_next(espl__value_cursor *c)
{
    if (c->left == 0) {
        return false;
    }
    memcpy(&c->header, c->at, sizeof c->header);
    c->bytes = c->at + sizeof c->header;
    c->at = c->bytes + ((c->header.size + 7u) & ~7u);
    c->left -= 1;
    return true;
}

// Add a command's components, but for one, to a list without repeats; ESPL_SET_LIMIT + 1 says that
// it is full.
static size_t list_components(const espl__playback *playback, const espl__entry *entry,
                              espl_component skipped, espl_component *out, size_t count)
{
    espl__value_cursor c = espl__values_of(playback, entry);

    while (count <= ESPL_SET_LIMIT && espl__values_next(&c)) {
        size_t at = 0;

        if (c.header.component == skipped) {
            continue;
        }
        while (at < count && out[at] != c.header.component) {
            at += 1;
        }
        if (at == ESPL_SET_LIMIT) {
            return ESPL_SET_LIMIT + 1;
        }
        out[at] = c.header.component;
        count = at == count ? count + 1 : count;
    }
    return count;
}

size_t espl__values_components(const espl__playback *playback, const espl__group *group,
                               uint32_t link, uint32_t node, espl_component *out)
{
    size_t count = 0;

    for (; link != ESPL__NO_NODE && count <= ESPL_SET_LIMIT; link = group->values[link].before) {
        const espl__value_link *const own = &group->values[link];

        count = list_components(playback, &playback->entries[own->entry],
                                own->node == node ? 0 : ESPL_PREFAB, out, count);
    }
    return count;
}

bool espl__values_fit(const espl__playback *playback, const espl__group *group,
                      const espl__entry *entry, const espl__node *node, bool is_placed)
{
    const espl__store *const store = playback->store;
    const bool is_clone = (node->flags & ESPL__NODE_CLONE) != 0;
    const bool makes_clone = entry->command->kind == ESPL__COMMAND_INSTANTIATE;
    const uint32_t source = is_clone ? node->source : node->entity;
    const uint32_t link = node->values;
    const uint32_t archetype = espl__entity_archetype(store, source);
    espl_component added[ESPL_SET_LIMIT];
    size_t count = espl__values_components(playback, group, link, ESPL__NO_NODE, added);
    size_t total = espl__array_length(store->archetypes[archetype].set);

    if (count <= ESPL_SET_LIMIT) {
        count = list_components(playback, entry, 0, added, count);
    }
    if (count > ESPL_SET_LIMIT) {
        return false;
    }
    // A clone loses the tag of a prefab unless it is given.
    const bool loses_tag =
        (is_clone || makes_clone) && espl__archetype_has(store, archetype, ESPL_PREFAB);
    total -= loses_tag ? 1 : 0;
    total -= espl__archetype_has(store, archetype, ESPL_PLACEMENT) ? 1 : 0;
    total += is_placed ? 1 : 0;
    for (size_t i = 0; i < count; ++i) {
        const bool is_new = (added[i] == ESPL_PREFAB && loses_tag) ||
                            !espl__archetype_has(store, archetype, added[i]);

        total += is_new ? 1 : 0;
    }
    return total <= ESPL_SET_LIMIT;
}

static void write_values(const espl__playback *playback, const espl__entry *entry, uint32_t entity)
{
    espl__value_cursor c = espl__values_of(playback, entry);

    while (espl__values_next(&c)) {
        if (c.header.size != 0) {
            memcpy(espl__row_write(playback->store, entity, c.header.component), c.bytes,
                   c.header.size);
        }
    }
}

void espl__values_apply(const espl__playback *playback, const espl__group *group, uint32_t link,
                        uint32_t entity)
{
    const espl__value_link *const links = group->values;
    size_t depth = 0;

    for (uint32_t at = link; at != ESPL__NO_NODE; at = links[at].before) {
        depth += 1;
    }
    for (; depth > 0; --depth) {
        uint32_t at = link;

        for (size_t skip = 1; skip < depth; ++skip) {
            at = links[at].before;
        }
        write_values(playback, &playback->entries[links[at].entry], entity);
    }
}
