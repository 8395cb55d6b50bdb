// SPDX-License-Identifier: MIT
// Which members have other values than in their values block. The versions of columns say in which chunks some
// row was written, and their rows are compared.
#include "lib/renderables/renderables.h"

#include "lib/base/prefetch.h"
#include "lib/renderables/visible.h"

#include <string.h>

static bool are_bounds_sound(const espl_bounds *bounds)
{
    bool is_sound = true;

    for (int i = 0; i < 3; ++i) {
        // A number minus itself is 0 unless it is not finite.
        is_sound = is_sound && bounds->center[i] - bounds->center[i] == 0 &&
                   bounds->half[i] - bounds->half[i] == 0 && bounds->half[i] >= 0;
    }
    return is_sound;
}

// Tell whether flags and key are known.
static bool is_renderable_known(const espl_renderables *r, const espl_renderable *renderable)
{
    const uint32_t known = ESPL_RENDERABLE_UNION | ESPL_RENDERABLE_ALWAYS;
    const uint32_t key = renderable->key;
    const bool has_levels = (key & ESPL__LOD_KEY) != 0 && key != ESPL_NO_KEY;

    return (renderable->flags & ~known) == 0 &&
           (!has_levels || (key & ~ESPL__LOD_KEY) < r->lod_count);
}

bool espl__values_are_sound(const espl_renderables *r, const espl_bounds *bounds,
                            const espl_renderable *renderable)
{
    return are_bounds_sound(bounds) && is_renderable_known(r, renderable);
}

// A chunk whose rows are compared.
typedef struct changed_chunk {
    const espl__chunk *chunk;
    const espl_bounds *bounds;
    const espl_renderable *renderables;
} changed_chunk;

// Compare the values of a row with those of its member.
static void compare_row(espl_renderables *r, const changed_chunk *c, uint32_t row)
{
    const uint32_t slot = espl__row_slot(&r->world->store, c->chunk, row);
    const uint32_t member = r->member_of[slot];

    // An entity without a member is new in this update.
    if (member == ESPL__NO_MEMBER) {
        return;
    }
    const uint32_t cluster = espl__member_cluster(member), place = espl__member_place(member);
    const espl__values *const values = espl__tables_entry(&r->tables, cluster)->values;
    const espl_bounds *const bounds = &c->bounds[row];
    const espl_renderable *const renderable = &c->renderables[row];
    float local[ESPL__BOX_NUMBERS];

    for (int k = 0; k < ESPL__BOX_NUMBERS; ++k) {
        local[k] = values->local[k][place];
    }
    // The block has zeros for numbers that are bad.
    const bool was_bad = espl__has_bit(&espl__cluster_at(r, cluster)->bad_local, place);
    const bool has_same_box = memcmp(local, bounds, sizeof local) == 0;
    const uint32_t other_flags = values->flags[place] ^ renderable->flags;

    if (has_same_box && !was_bad && other_flags == 0 && values->keys[place] == renderable->key &&
        values->user_data[place] == renderable->user_data) {
        return;
    }
    // Equal bounds of a member that was not bad are sound.
    const bool is_box = !has_same_box || was_bad ||
                        (other_flags & (ESPL_RENDERABLE_UNION | ESPL_RENDERABLE_ALWAYS)) != 0 ||
                        !is_renderable_known(r, renderable);

    espl__set_bit(&espl__cluster_at(r, cluster)->reload, place);
    espl__mark_dirty(r, cluster,
                     ESPL__WRITE_VALUES | (is_box ? ESPL__WRITE_BOXES | ESPL__WRITE_POSES : 0));
    if (is_box && r->union_count != 0) {
        espl__climb_unions(r, slot);
    }
}

static void compare_chunk(espl_renderables *r, const espl__archetype *archetype,
                          const espl__row_kind *kind, const espl__chunk *chunk)
{
    const changed_chunk changed = {
        .chunk = chunk,
        .bounds = (const void *)(chunk->bytes + archetype->columns[kind->bounds].offset),
        .renderables = (const void *)(chunk->bytes + archetype->columns[kind->renderable].offset),
    };

    if (chunk->versions[kind->bounds + 1] <= r->version &&
        chunk->versions[kind->renderable + 1] <= r->version) {
        return;
    }
    for (uint32_t row = 0; row < chunk->count; ++row) {
        compare_row(r, &changed, row);
    }
}

// Read the values of members that are bad again, because their keys may have levels now.
static void reload_bad(espl_renderables *r)
{
    for (int category = 0; category < ESPL__CATEGORIES; ++category) {
        for (size_t i = 0; i < espl__array_length(r->leaves[category]); ++i) {
            const uint32_t number = r->leaves[category][i].cluster;

            if (espl__has_bits(&espl__cluster_at(r, number)->bad_local)) {
                espl__mark_dirty(r, number,
                                 ESPL__WRITE_VALUES | ESPL__WRITE_BOXES | ESPL__WRITE_POSES);
            }
        }
    }
}

void espl__collect_values(espl_renderables *r, espl__row_kinds *kinds, espl__update *u)
{
    enum { AHEAD = 8 };
    const espl__store *const store = &r->world->store;
    const size_t archetypes = espl__array_length(store->archetypes);

    if (r->lod_count != r->known_lods && r->bad_count != 0) {
        reload_bad(r);
        u->is_union_whole = true;
    }
    // Without a write since the last update there is nothing to find, and without members nothing to compare.
    if (store->version == r->version || espl__renderables_count(r) == 0) {
        return;
    }
    for (uint32_t number = 0; number < archetypes; ++number) {
        const espl__archetype *const archetype = &store->archetypes[number];
        const espl__row_kind *const kind = espl__row_kind_of(kinds, number);
        const size_t chunks = espl__array_length(archetype->chunks);

        for (size_t i = 0; i < chunks && kind->is_renderable && archetype->count != 0; ++i) {
            const espl__chunk *const chunk = &store->chunks[archetype->chunks[i]];

            if (i + AHEAD < chunks) {
                espl__prefetch(store->chunks[archetype->chunks[i + AHEAD]].versions);
            }
            if (chunk->count == 0) {
                break;
            }
            compare_chunk(r, archetype, kind, chunk);
        }
    }
}
