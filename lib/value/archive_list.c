// SPDX-License-Identifier: MIT
// Listing what an archive has, in memory that is freed when the archive is written.
#include "lib/value/archive_list.h"

#include "lib/world/entity_slots.h"

#include <string.h>

#define LIST_RESERVE(a, array, more) \
    ESPL_ARRAY_RESERVE((a)->heap, ESPL__FOR_RECORDING, (a)->array, (more))

void espl__archiver_end(espl__archiver *a)
{
    ESPL_ARRAY_FREE(a->heap, ESPL__FOR_RECORDING, a->nodes);
    ESPL_ARRAY_FREE(a->heap, ESPL__FOR_RECORDING, a->counts);
    ESPL_ARRAY_FREE(a->heap, ESPL__FOR_RECORDING, a->table);
    ESPL_ARRAY_FREE(a->heap, ESPL__FOR_RECORDING, a->set_of);
    ESPL_ARRAY_FREE(a->heap, ESPL__FOR_RECORDING, a->sets);
    ESPL_ARRAY_FREE(a->heap, ESPL__FOR_RECORDING, a->node_sets);
    ESPL_ARRAY_FREE(a->heap, ESPL__FOR_RECORDING, a->by_set);
    ESPL_ARRAY_FREE(a->heap, ESPL__FOR_RECORDING, a->set_ends);
    ESPL_ARRAY_FREE(a->heap, ESPL__FOR_RECORDING, a->components);
    ESPL_ARRAY_FREE(a->heap, ESPL__FOR_RECORDING, a->numbers);
}

// Give an empty list a length, all zeros.
#define LIST_ZEROS(a, array, count)                \
    (LIST_RESERVE(a, array, (count)) &&            \
     (espl__array_set_length((a)->array, (count)), \
      (count) == 0 || memset((a)->array, 0, (count) * sizeof *(a)->array) != NULL))

// --- Nodes ---

// The list while it grows.
typedef struct node_list {
    espl__archiver *a;
    uint32_t *nodes, *counts; // as those of `a`
    uint32_t count, capacity;
    espl_extent extent;
} node_list;

static node_list open_list(espl__archiver *a, espl_extent extent)
{
    const size_t nodes = espl__array_capacity(a->nodes), counts = espl__array_capacity(a->counts);

    return (node_list){.a = a,
                       .nodes = a->nodes,
                       .counts = a->counts,
                       .count = (uint32_t)count_nodes(a),
                       .capacity = (uint32_t)(nodes < counts ? nodes : counts),
                       .extent = extent};
}

static void close_list(const node_list *list)
{
    espl__array_set_length(list->a->nodes, list->count);
    espl__array_set_length(list->a->counts, list->count);
}

// Make room for one node more.
static ESPL__APART espl_status grow_list(node_list *list)
{
    espl__archiver *const a = list->a;

    if (list->count >= ESPL__PLACED - 1) {
        return ESPL_ERR_LIMIT;
    }
    close_list(list);
    if (!LIST_RESERVE(a, nodes, 1) || !LIST_RESERVE(a, counts, 1)) {
        return ESPL_ERR_NO_MEMORY;
    }
    *list = open_list(a, list->extent);
    return ESPL_OK;
}

static inline espl_status push_node(node_list *list, uint32_t node, uint32_t top)
{
    const espl_status status = list->count < list->capacity ? ESPL_OK : grow_list(list);

    if (status == ESPL_OK) {
        list->nodes[list->count] = node;
        list->counts[list->count] = top;
        list->count += 1;
    }
    return status;
}

// List the children of a node.
static inline espl_status list_children(node_list *list, uint32_t number)
{
    const espl__forest *const forest = &list->a->world->forest;
    const uint32_t node = list->nodes[number], slot = node & ~ESPL__PLACED, begin = list->count;
    // Below a bare node without a frame there is none either.
    const uint32_t placed = espl__slot_is(forest, slot, ESPL__SLOT_BARE) ? node & ESPL__PLACED : 0;
    espl_status status = ESPL_OK;

    list->a->flags |= forest->flags[slot];
    for (uint32_t child = forest->links[slot].first_child;
         child != ESPL__NO_SLOT && status == ESPL_OK; child = forest->links[child].next) {
        if (list->extent == ESPL_EXTENT_SUBTREE ||
            !espl__slot_is(forest, child, ESPL__SLOT_FREE_LINK)) {
            status = push_node(list, child | placed, 0);
        }
    }
    list->counts[number] += list->count - begin;
    return status;
}

// List a top and what is below it, breadth-first: the list is its own queue.
static espl_status list_top(node_list *list, uint32_t slot)
{
    espl__archiver *const a = list->a;
    const bool is_root = a->world->forest.parent[slot] == ESPL__NO_SLOT;
    uint32_t number = list->count;
    espl_status status = push_node(list, slot | (is_root ? 0 : ESPL__PLACED), ESPL__TOP);

    a->tops += 1;
    a->has_placed = a->has_placed || !is_root;
    a->flags |= a->world->forest.flags[slot];
    for (; list->extent != ESPL_EXTENT_ENTITY && status == ESPL_OK && number < list->count;
         ++number) {
        status = list_children(list, number);
    }
    return status;
}

static espl_status list_all(node_list *list)
{
    const espl__store *const store = &list->a->world->store;
    const size_t records = espl__array_length(store->records);
    espl_status status = ESPL_OK;

    for (uint32_t index = 0; index < records && status == ESPL_OK; ++index) {
        if (espl__index_is_alive(store, index)) {
            const uint32_t slot = store->records[index].slot;

            status = list->a->world->forest.parent[slot] == ESPL__NO_SLOT ? list_top(list, slot)
                                                                          : ESPL_OK;
        }
    }
    return status;
}

static espl_status list_given(node_list *list, espl_entity *named)
{
    const espl__archiver *const a = list->a;
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < a->def->top_count && status == ESPL_OK; ++i) {
        uint32_t slot = 0;

        *named = a->def->tops[i];
        status = espl__find_slot(a->world, *named, &slot);
        status = status != ESPL_OK ? status : list_top(list, slot);
    }
    return status;
}

static espl_status list_nodes(espl__archiver *a, espl_entity *named)
{
    const bool is_all = a->def->tops == NULL;
    node_list list = open_list(a, is_all ? ESPL_EXTENT_SUBTREE : a->def->extent);
    const espl_status status = is_all ? list_all(&list) : list_given(&list, named);

    close_list(&list);
    return status;
}

// --- Numbers of entities ---

uint32_t espl__archiver_number_of(const espl__archiver *a, uint32_t entity)
{
    const espl__index_entry *const entry = espl__index_table_at(a->table, entity);

    return entry->key != 0 ? entry->number : ESPL__NONE;
}

// Make the table of numbers, where references need it, or where an entity may be listed twice.
// @return ESPL_ERR_ARGUMENT: one is.
static espl_status number_entities(espl__archiver *a)
{
    const size_t count = count_nodes(a);

    if (a->def->tops == NULL && a->world->store.referring_count == 0) {
        return ESPL_OK;
    }
    if (!espl__index_table_make(a->heap, ESPL__FOR_RECORDING, &a->table, count)) {
        return ESPL_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t entity = entity_of(a, i);
        espl__index_entry *const entry = espl__index_table_at(a->table, entity);

        if (entry->key != 0) {
            return ESPL_ERR_ARGUMENT;
        }
        *entry = (espl__index_entry){entity + 1, i};
    }
    return ESPL_OK;
}

// --- Components and sets ---

static bool is_role(espl_component component)
{
    return component >= ESPL_SOLO && component <= ESPL_MEMBER;
}

// Tell whether two archetypes differ in nothing but the role.
static bool has_same_set(const espl__archetype *one, const espl__archetype *other)
{
    const size_t count = espl__array_length(one->set);
    bool is_same = count == espl__array_length(other->set);

    // A set has one role, at the same place in both, because it is in ascending order.
    for (size_t i = 0; i < count && is_same; ++i) {
        is_same = one->set[i] == other->set[i] || (is_role(one->set[i]) && is_role(other->set[i]));
    }
    return is_same;
}

// Find or make the set of an archetype. @return its number, or ESPL__NONE: no memory.
static uint32_t set_of_archetype(espl__archiver *a, uint32_t archetype)
{
    const espl__archetype *const archetypes = a->world->store.archetypes;
    const uint32_t count = (uint32_t)espl__array_length(a->sets);
    uint32_t set = 0;

    while (set < count && !has_same_set(&archetypes[a->sets[set]], &archetypes[archetype])) {
        set += 1;
    }
    if (set == count) {
        if (!LIST_RESERVE(a, sets, 1)) {
            return ESPL__NONE;
        }
        ESPL_ARRAY_PUSH(a->sets, archetype);
    }
    a->set_of[archetype] = set + 1;
    return set;
}

// Sort the nodes by their sets, stable.
static bool sort_by_set(espl__archiver *a)
{
    const size_t count = count_nodes(a), sets = espl__array_length(a->sets);
    uint32_t begin = 0;

    if (!LIST_ZEROS(a, set_ends, sets)) {
        return false;
    }
    if (sets == 1) {
        a->set_ends[0] = (uint32_t)count;
        return true;
    }
    if (!LIST_RESERVE(a, by_set, count)) {
        return false;
    }
    espl__array_set_length(a->by_set, count);
    for (uint32_t i = 0; i < count; ++i) {
        a->set_ends[a->node_sets[i]] += 1;
    }
    for (size_t set = 0; set < sets; ++set) {
        const uint32_t in_set = a->set_ends[set];

        a->set_ends[set] = begin;
        begin += in_set;
    }
    for (uint32_t i = 0; i < count; ++i) {
        a->by_set[a->set_ends[a->node_sets[i]]++] = i;
    }
    return true;
}

// List the sets of the nodes.
static bool list_sets(espl__archiver *a)
{
    const espl__store *const store = &a->world->store;
    const uint32_t count = (uint32_t)count_nodes(a);

    if (!LIST_ZEROS(a, set_of, espl__array_length(store->archetypes)) ||
        !LIST_RESERVE(a, node_sets, count)) {
        return false;
    }
    espl__array_set_length(a->node_sets, count);
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t archetype = espl__entity_archetype(store, entity_of(a, i));
        uint32_t set = a->set_of[archetype] - 1;

        if (set == ESPL__NONE) {
            set = set_of_archetype(a, archetype);
            if (set == ESPL__NONE) {
                return false;
            }
        }
        a->node_sets[i] = set;
    }
    return true;
}

// List a component at its place in the order of names. Reserved.
static void list_component(espl__archiver *a, espl_component component)
{
    const char *const name = info_of_component(a, component)->name;
    size_t at = espl__array_length(a->components);

    ESPL_ARRAY_PUSH(a->components, component);
    for (; at > 0 && strcmp(info_of_component(a, a->components[at - 1])->name, name) > 0; --at) {
        a->components[at] = a->components[at - 1];
    }
    a->components[at] = component;
}

static bool list_components(espl__archiver *a)
{
    const espl__store *const store = &a->world->store;
    const uint32_t known = atomic_load_explicit(&store->component_count, memory_order_relaxed);
    const size_t sets = espl__array_length(a->sets);

    if (!LIST_ZEROS(a, numbers, (size_t)known + 1) || !LIST_RESERVE(a, components, known)) {
        return false;
    }
    for (size_t set = 0; set < sets; ++set) {
        const espl__archetype *const archetype = &store->archetypes[a->sets[set]];
        const size_t count = espl__array_length(archetype->set);

        for (size_t i = 0; i < count; ++i) {
            const espl_component component = archetype->set[i];

            if (!is_role(component) && a->numbers[component] == 0) {
                a->numbers[component] = 1;
                list_component(a, component);
            }
        }
    }
    for (uint32_t i = 0; i < espl__array_length(a->components); ++i) {
        a->numbers[a->components[i]] = i + 1;
    }
    return true;
}

size_t espl__archiver_set(const espl__archiver *a, uint32_t set, espl_component *out)
{
    const espl__archetype *const archetype = &a->world->store.archetypes[a->sets[set]];
    const size_t all = espl__array_length(archetype->set);
    size_t count = 0;

    for (size_t i = 0; i < all; ++i) {
        const espl_component component = archetype->set[i];
        size_t at = count;

        if (is_role(component)) {
            continue;
        }
        for (; at > 0 && a->numbers[out[at - 1]] > a->numbers[component]; --at) {
            out[at] = out[at - 1];
        }
        out[at] = component;
        count += 1;
    }
    return count;
}

// --- All lists ---

espl_status espl__archiver_list(espl__archiver *a, espl_entity *named)
{
    espl_status status = list_nodes(a, named);

    if (status != ESPL_OK) {
        return status;
    }
    *named = espl_entity_null();
    status = number_entities(a);
    if (status == ESPL_OK && (!list_sets(a) || !sort_by_set(a) || !list_components(a))) {
        status = ESPL_ERR_NO_MEMORY;
    }
    return status;
}
