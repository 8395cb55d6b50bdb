// SPDX-License-Identifier: MIT
// Component values that instantiate commands give to their clones. A clone of a clone gets what its
// original got before, so values form chains.
#include "lib/commands/playback.h"

#include <string.h>

// Steps through the values of one command.
typedef struct cursor {
    const unsigned char *at;
    uint32_t left;
    espl__value_header header;
    const unsigned char *bytes;
} cursor;

static cursor values_of(const espl__playback *playback, const espl__entry *entry)
{
    return (cursor){.at = playback->lanes[entry->lane].payload + entry->command->payload +
                          sizeof(espl_transform),
                    .left = entry->command->value_count};
}

static bool next_value(cursor *c)
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

// Add a command's components to a list without repeats; ESPL_SET_LIMIT + 1 says that it is full.
static size_t list_components(const espl__playback *playback, const espl__entry *entry,
                              espl_component *out, size_t count)
{
    cursor c = values_of(playback, entry);

    while (count <= ESPL_SET_LIMIT && next_value(&c)) {
        size_t at = 0;

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
                               uint32_t link, espl_component *out)
{
    size_t count = 0;

    for (; link != ESPL__NO_NODE && count <= ESPL_SET_LIMIT; link = group->values[link].before) {
        count =
            list_components(playback, &playback->entries[group->values[link].entry], out, count);
    }
    return count;
}

bool espl__values_fit(const espl__playback *playback, const espl__group *group,
                      const espl__entry *entry, uint32_t link, uint32_t source)
{
    const espl__store *const store = playback->store;
    const uint32_t archetype = store->chunks[store->records[source].chunk].archetype;
    espl_component added[ESPL_SET_LIMIT];
    size_t count = espl__values_components(playback, group, link, added);
    size_t total = espl__array_length(store->archetypes[archetype].set);

    if (count <= ESPL_SET_LIMIT) {
        count = list_components(playback, entry, added, count);
    }
    if (count > ESPL_SET_LIMIT) {
        return false;
    }
    // A clone loses the tag of a prefab unless it is given.
    total -= espl__archetype_has(store, archetype, ESPL_PREFAB) ? 1 : 0;
    for (size_t i = 0; i < count; ++i) {
        const bool is_new =
            added[i] == ESPL_PREFAB || !espl__archetype_has(store, archetype, added[i]);

        total += is_new ? 1 : 0;
    }
    return total <= ESPL_SET_LIMIT;
}

static void write_values(const espl__playback *playback, const espl__entry *entry, uint32_t entity)
{
    cursor c = values_of(playback, entry);

    while (next_value(&c)) {
        if (c.header.size != 0) {
            memcpy(espl__row_value(playback->store, entity, c.header.component), c.bytes,
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
