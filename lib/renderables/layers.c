// SPDX-License-Identifier: MIT
// Effective layers, by slot: the own mask AND the effective layers of the parent. A change spreads to the nodes
// below, and stops at nodes that keep theirs.
//
// A node is looked at where it is a candidate, because its parent or its components may be others, or where its
// row was written. It may be looked at before its parent is, which then spreads to it. So the order does not
// matter for the result, and that of slots, parents first, visits few nodes twice.
//
// What is below a candidate is looked at where its slot got other layers, or where the node may have others than
// in the mirror before. A node with the layers of the mirror before needs no look at its children: those in the
// slots of before have the layers that they had below it, and the others are candidates.
#include "lib/renderables/renderables.h"

#include <string.h>

// Return the effective layers of a living entity, given the parent's.
static uint32_t compute_layers(const espl_renderables *r, espl__row_kinds *kinds, uint32_t slot,
                               uint32_t index)
{
    const espl__store *const store = &r->world->store;
    const espl__record *const record = &store->records[index];
    const espl__chunk *const chunk = &store->chunks[record->chunk];
    const espl__row_kind *const kind = espl__row_kind_of(kinds, chunk->archetype);
    const uint32_t parent = r->world->forest.parent[slot];
    const uint32_t above = parent != ESPL__NO_SLOT ? r->layers_of[parent] : UINT32_MAX;
    espl_layers own = {UINT32_MAX, 0};

    if (kind->layers == ESPL__NONE) {
        return above;
    }
    const espl__column *const column = &store->archetypes[chunk->archetype].columns[kind->layers];

    memcpy(&own, chunk->bytes + column->offset + (size_t)espl__record_row(record) * sizeof own,
           sizeof own);
    return (own.flags & ESPL_LAYERS_ABSOLUTE) != 0 ? own.mask : own.mask & above;
}

// Return the index of the living entity of a slot, or ESPL__NONE. Other than a renderable it needs no
// transform.
static uint32_t find_living(const espl_renderables *r, uint32_t slot)
{
    const espl__store *const store = &r->world->store;

    if (slot >= r->world->forest.end) {
        return ESPL__NONE;
    }
    const uint32_t index = r->world->forest.links[slot].entity;

    return index < espl__array_length(store->records) && espl__index_is_alive(store, index) &&
                   store->records[index].slot == slot
               ? index
               : ESPL__NONE;
}

// Compute the effective layers of a slot. @return whether they changed.
static bool renew(espl_renderables *r, espl__row_kinds *kinds, uint32_t slot)
{
    const uint32_t index = find_living(r, slot);
    const uint32_t now = index != ESPL__NONE ? compute_layers(r, kinds, slot, index) : UINT32_MAX;
    const uint32_t member = r->member_of[slot];

    if (now == r->layers_of[slot]) {
        return false;
    }
    r->layers_of[slot] = now;
    if (member != ESPL__NO_MEMBER) {
        espl__mark_dirty(r, espl__member_cluster(member), ESPL__WRITE_VALUES);
    }
    return index != ESPL__NONE;
}

// Tell whether the node of a slot may have other layers than in the mirror before. Only values blocks have these,
// because the slot may have had another node.
static bool may_have_others(const espl_renderables *r, uint32_t slot)
{
    const uint32_t member = r->member_of[slot];

    if (find_living(r, slot) == ESPL__NONE) {
        return false;
    }
    if (member == ESPL__NO_MEMBER || !r->has_layers_of_mirror) {
        return true;
    }
    const espl__values *const values =
        espl__tables_entry(&r->tables, espl__member_cluster(member))->values;

    return values->layers[espl__member_place(member)] != r->layers_of[slot];
}

// Compute the effective layers of a slot and of the nodes below it whose parent changed.
// @param is_candidate  the slot may have another node than before, with the layers of the one before it.
static void spread(espl_renderables *r, espl__row_kinds *kinds, uint32_t top, bool is_candidate)
{
    const espl__forest *const forest = &r->world->forest;
    bool has_changed = renew(r, kinds, top) || (is_candidate && may_have_others(r, top));

    if (!has_changed) {
        return;
    }
    for (uint32_t slot = top;
         (slot = espl__next_in_walk(forest, slot, top, has_changed)) != ESPL__NO_SLOT;) {
        has_changed = renew(r, kinds, slot);
    }
}

// Look at the rows with layers of a chunk that was written.
static void spread_chunk(espl_renderables *r, espl__row_kinds *kinds, const espl__chunk *chunk,
                         uint64_t since)
{
    const espl__row_kind *const kind = espl__row_kind_of(kinds, chunk->archetype);
    const espl__store *const store = &r->world->store;

    if (chunk->versions[kind->layers + 1] <= since) {
        return;
    }
    for (uint32_t row = 0; row < chunk->count; ++row) {
        spread(r, kinds, espl__row_slot(store, chunk, row), false);
    }
}

// Tell whether an entity has layers.
static bool has_layers(const espl_renderables *r, espl__row_kinds *kinds)
{
    const espl__store *const store = &r->world->store;
    const size_t archetypes = espl__array_length(store->archetypes);
    bool has_some = false;

    for (uint32_t number = 0; number < archetypes && !has_some; ++number) {
        has_some = store->archetypes[number].count != 0 &&
                   espl__row_kind_of(kinds, number)->layers != ESPL__NONE;
    }
    return has_some;
}

// Make the array, with all bits for each slot: it needs no walk, because no entity had layers before.
static bool make_layers(espl_renderables *r)
{
    const size_t slots = espl__array_length(r->member_of);

    // One more, so that there is an array where there is no slot.
    if (!ESPL_ARRAY_RESERVE(&r->world->heap, ESPL__FOR_CHANGES, r->layers_of, slots + 1)) {
        return false;
    }
    espl__array_set_length(r->layers_of, slots);
    memset(r->layers_of, 0xff, slots * sizeof *r->layers_of);
    return true;
}

// Note the members of candidates whose layers are others than in their values block: the layers of a slot may
// be as before, and its member another one.
static void compare_layers(espl_renderables *r)
{
    for (size_t i = 0; i < espl__array_length(r->candidates); ++i) {
        const uint32_t slot = r->candidates[i], member = r->member_of[slot];

        if (member == ESPL__NO_MEMBER) {
            continue;
        }
        const uint32_t cluster = espl__member_cluster(member);

        if (espl__tables_entry(&r->tables, cluster)->values->layers[espl__member_place(member)] !=
            r->layers_of[slot]) {
            espl__mark_dirty(r, cluster, ESPL__WRITE_VALUES);
        }
    }
}

bool espl__collect_layers(espl_renderables *r, espl__row_kinds *kinds, espl__update *u)
{
    const espl__store *const store = &r->world->store;
    const size_t archetypes = espl__array_length(store->archetypes);
    uint64_t since = r->version;

    (void)u;
    if (store->version == r->version && espl__array_length(r->candidates) == 0) {
        return true;
    }
    if (r->layers_of == NULL) {
        if (!has_layers(r, kinds)) {
            return true;
        }
        if (!make_layers(r)) {
            return false;
        }
        since = 0;
    }
    for (size_t i = 0; i < espl__array_length(r->candidates); ++i) {
        if (r->candidates[i] < espl__array_length(r->layers_of)) {
            spread(r, kinds, r->candidates[i], true);
        }
    }
    for (uint32_t number = 0; number < archetypes; ++number) {
        const espl__archetype *const archetype = &store->archetypes[number];

        if (archetype->count == 0 || espl__row_kind_of(kinds, number)->layers == ESPL__NONE) {
            continue;
        }
        for (size_t i = 0; i < espl__array_length(archetype->chunks); ++i) {
            spread_chunk(r, kinds, &store->chunks[archetype->chunks[i]], since);
        }
    }
    compare_layers(r);
    r->has_layers_of_mirror = false; // until a mirror with them is published
    return true;
}
