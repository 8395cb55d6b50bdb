// SPDX-License-Identifier: MIT
// Applying an archive to entities that live. The order:
//
// 1. All checks of a read.
// 2. Each node finds the entity that it is, if that lives: a survivor.
// 3. Where nothing differs but locals, values and names, the survivors stay in their places, and a batch writes
//    the locals at the end. Steps 4 and 5 are left out then.
// 4. The archive is built as by a read. This is the last step that can fail.
// 5. Each survivor and the entity that was built for its node change their places: the survivor gets the new
//    node and the new row, and keeps its handle.
// 6. Values, references and names are filled in, for the entities that the nodes have now.
// 7. What has the old nodes is destroyed, with all that is below them.
#include "lib/value/archive_reader.h"

#include "lib/base/index_table.h"
#include "lib/base/key_sort.h"
#include "lib/tree/edit_links.h"
#include "lib/world/batch.h"
#include "lib/world/destroy.h"
#include "lib/world/entity_slots.h"
#include "lib/world/refusals.h"
#include "lib/world/structure.h"
#include "lib/world/tape.h"

// An archive that is applied.
typedef struct archive_applier {
    espl__reader reader;
    const espl_archive_known *known; // or NULL
    espl__parse known_parse;
    uint32_t *living; // stb array: index of the entity of a node, or ESPL__NONE
    // Stb array: entities that are destroyed. First those of the known archive that this one lacks, then those
    // that get the old nodes of survivors.
    espl_entity *leaving;
    // Stb arrays of an apply in place: the survivors with a transform, their locals, and of each node whether
    // it has children.
    espl_entity *placed;
    espl_pose *locals;
    uint8_t *is_parent;
    // Stb arrays: the nodes of the known archive in the order of their handles, each with its index; scratch.
    espl__sort_key *by_handle, *spare;
    espl__index_entry *members; // survivors and leaving entities
} archive_applier;

#define APPLIER_RESERVE(a, array, more) \
    ESPL_ARRAY_RESERVE(&(a)->reader.world->heap, ESPL__FOR_COMMANDS, (a)->array, (more))

// --- Survivors and leaving entities ---

// Tell whether an entity is a member, whatever its generation.
static bool is_affected(const archive_applier *a, uint32_t index)
{
    return espl__index_table_at(a->members, index)->key != 0;
}

// Add an entity. @return false: it is a member already.
static bool add_affected(const archive_applier *a, uint32_t index)
{
    espl__index_entry *const entry = espl__index_table_at(a->members, index);
    const bool is_new = entry->key == 0;

    entry->key = index + 1;
    return is_new;
}

// --- The known archive ---

static espl_entity handle_at(const espl__parse *p, uint32_t number)
{
    const unsigned char *const bytes =
        p->sections[ESPL__ARCHIVE_HAND].bytes + (size_t)number * sizeof(espl_entity);

    return (espl_entity){(uint32_t)espl__number_load(bytes, 4),
                         (uint32_t)espl__number_load(bytes + 4, 4)};
}

static bool refuse_known(archive_applier *a, espl_status status, const char *sentence)
{
    return espl__parse_refuse(&a->reader.parse, status, NULL, sentence);
}

// Compare two handles, by their indices and then by their generations.
static int compare_handles(espl_entity a, espl_entity b)
{
    return a.index != b.index ? (a.index > b.index ? 1 : -1)
                              : (a.generation > b.generation) - (a.generation < b.generation);
}

// Sort the nodes of the known archive by their handles. They are not hashed, because bytes from anywhere may
// have handles that all collide.
static bool sort_known(archive_applier *a)
{
    const espl__parse *const p = &a->known_parse;
    const uint32_t nodes = p->info.nodes;
    bool is_sound = true;

    if (!APPLIER_RESERVE(a, by_handle, nodes) || !APPLIER_RESERVE(a, spare, nodes)) {
        return refuse_known(a, ESPL_ERR_NO_MEMORY, NULL);
    }
    espl__array_set_length(a->by_handle, nodes);
    espl__array_set_length(a->spare, nodes);
    for (uint32_t i = 0; i < nodes; ++i) {
        a->by_handle[i] = (espl__sort_key){handle_at(p, i).generation, i};
    }
    espl__sort_by_key(&a->by_handle, &a->spare, nodes);
    for (uint32_t i = 0; i < nodes; ++i) {
        a->by_handle[i].key = handle_at(p, a->by_handle[i].number).index;
    }
    espl__sort_by_key(&a->by_handle, &a->spare, nodes);
    for (uint32_t i = 1; i < nodes && is_sound; ++i) {
        is_sound = !espl_entity_equal(handle_at(p, a->by_handle[i - 1].number),
                                      handle_at(p, a->by_handle[i].number));
    }
    return is_sound ||
           refuse_known(a, ESPL_ERR_FORMAT, "Two nodes of the known archive have the same handle.");
}

// Check the known archive, and find its nodes by their handles from now on.
static bool list_known(archive_applier *a)
{
    espl__parse *const p = &a->known_parse;

    p->bytes = a->known->bytes;
    p->size = a->known->size;
    if (!espl__parse_head(p)) {
        return refuse_known(a, p->status, p->fault.sentence);
    }
    if (p->sections[ESPL__ARCHIVE_HAND].size != (uint64_t)p->info.nodes * sizeof(espl_entity)) {
        return refuse_known(a, ESPL_ERR_FORMAT, "The known archive has no handles.");
    }
    if (p->info.nodes != a->known->count) {
        return refuse_known(a, ESPL_ERR_ARGUMENT,
                            "known->count is not the number of entities of the known archive.");
    }
    return sort_known(a);
}

// Find the entity that a handle of the archive names: of the world, or by the known archive. Perhaps dead.
static espl_entity find_known(const archive_applier *a, espl_entity handle)
{
    uint32_t begin = 0, end = a->known == NULL ? 0 : a->known_parse.info.nodes;

    if (a->known == NULL) {
        return handle;
    }
    while (begin < end) {
        const uint32_t middle = begin + (end - begin) / 2, number = a->by_handle[middle].number;
        const int order = compare_handles(handle_at(&a->known_parse, number), handle);

        if (order == 0) {
            return a->known->entities[number];
        }
        begin = order < 0 ? middle + 1 : begin;
        end = order < 0 ? end : middle;
    }
    return espl_entity_null();
}

// --- Survivors ---

static bool take_applier_lists(archive_applier *a)
{
    const size_t nodes = a->reader.parse.info.nodes, known = a->known == NULL ? 0 : a->known->count;

    if (!APPLIER_RESERVE(a, living, nodes) || !APPLIER_RESERVE(a, leaving, nodes + known) ||
        !espl__index_table_make(&a->reader.world->heap, ESPL__FOR_COMMANDS, &a->members,
                                nodes + known)) {
        return espl__parse_refuse(&a->reader.parse, ESPL_ERR_NO_MEMORY, NULL, NULL);
    }
    return true;
}

// Find the survivors, and what the archive lacks.
static bool match_entities(archive_applier *a)
{
    const espl__store *const store = &a->reader.world->store;
    espl__parse *const p = &a->reader.parse;
    const uint32_t nodes = p->info.nodes;

    if (p->sections[ESPL__ARCHIVE_HAND].size == 0 && nodes != 0) {
        return espl__parse_refuse(p, ESPL_ERR_FORMAT, NULL, "The archive has no handles.");
    }
    if ((a->known != NULL && !list_known(a)) || !take_applier_lists(a)) {
        return false;
    }
    for (uint32_t i = 0; i < nodes; ++i) {
        const espl_entity entity = find_known(a, handle_at(p, i));
        const bool lives = espl__entity_is_alive(store, entity);

        if (lives && !add_affected(a, entity.index)) {
            return espl__parse_refuse(p, ESPL_ERR_FORMAT,
                                      p->sections[ESPL__ARCHIVE_HAND].bytes + (size_t)i * 8,
                                      "Two nodes are one entity.");
        }
        ESPL_ARRAY_PUSH(a->living, lives ? entity.index : ESPL__NONE);
    }
    for (size_t i = 0; a->known != NULL && i < a->known->count; ++i) {
        const espl_entity entity = a->known->entities[i];

        if (espl__entity_is_alive(store, entity) && add_affected(a, entity.index)) {
            ESPL_ARRAY_PUSH(a->leaving, entity);
        }
    }
    return true;
}

// The parent of the roots must not be destroyed.
static bool check_parent(archive_applier *a)
{
    const espl__forest *const forest = &a->reader.world->forest;

    for (uint32_t slot = a->reader.parent; slot != ESPL__NO_SLOT; slot = forest->parent[slot]) {
        if (is_affected(a, forest->links[slot].entity)) {
            return espl__parse_refuse(&a->reader.parse, ESPL_ERR_CYCLE, NULL,
                                      "The parent is an entity of the archive, or below one.");
        }
    }
    return true;
}

// --- In place ---

// Where nothing differs but locals, values and names, the entities stay in their nodes and rows.

static uint32_t slot_of_node(const archive_applier *a, uint32_t number)
{
    return a->reader.world->store.records[a->living[number]].slot;
}

// Tell whether the siblings of the last node that was looked at end with it.
static bool ends_siblings(const archive_applier *a, uint32_t last, uint32_t last_parent)
{
    return last_parent == ESPL__NO_SLOT ||
           a->reader.world->forest.links[slot_of_node(a, last)].next == ESPL__NO_SLOT;
}

// Tell whether a survivor is where the archive says. Earlier nodes are.
// @param last_parent  of the node before it
static bool is_in_its_place(archive_applier *a, uint32_t number, const espl__built *built,
                            uint32_t last_parent)
{
    const espl__forest *const forest = &a->reader.world->forest;
    const uint32_t slot = slot_of_node(a, number);
    const bool is_free = espl__slot_is(forest, slot, ESPL__SLOT_FREE_LINK);

    if (number != 0 && last_parent != built->parent && !ends_siblings(a, number - 1, last_parent)) {
        return false;
    }
    if (built->parent == ESPL__NO_SLOT) {
        return forest->parent[slot] == a->reader.parent && !is_free;
    }
    const uint32_t parent = slot_of_node(a, built->parent);
    const uint32_t expected = last_parent == built->parent
                                  ? forest->links[slot_of_node(a, number - 1)].next
                                  : forest->links[parent].first_child;

    a->is_parent[built->parent] = 1;
    return slot == expected && forest->parent[slot] == parent && is_free == built->is_free;
}

// Tell whether a survivor has the components that the archive says.
static bool has_its_set(const archive_applier *a, uint32_t number, uint32_t set)
{
    const espl__store *const store = &a->reader.world->store;
    const espl__parse *const p = &a->reader.parse;
    const espl__parsed_set *const from = &p->sets[set];
    const uint32_t archetype = espl__entity_archetype(store, a->living[number]);
    size_t count = 1; // its role
    bool has_all = true;

    for (uint32_t i = 0; i < from->component_count && has_all; ++i) {
        const espl_component component = p->components[p->items[from->first + i]].component;

        count += component != 0 ? 1 : 0;
        has_all = component == 0 || espl__archetype_has(store, archetype, component);
    }
    return has_all && count == espl__array_length(store->archetypes[archetype].set);
}

// Tell whether a survivor has what the archive says, but for local, values and name, and list its local.
static bool has_its_parts(archive_applier *a, uint32_t number, const espl__built *built)
{
    const espl__forest *const forest = &a->reader.world->forest;
    const uint32_t slot = slot_of_node(a, number);

    if (espl__slot_is(forest, slot, ESPL__SLOT_BARE) != built->is_bare ||
        !has_its_set(a, number, built->set)) {
        return false;
    }
    if (built->is_bare) {
        return true;
    }
    espl__placement now = espl__slot_placement(forest, slot);

    if (espl__placement_copies(&now)) {
        now.extra = espl__extra_default(); // it shows that of its parent
    }
    // A write of a local moves the parts that inherit flags keep, so that such a node must be as it is.
    if (now.kept.flags == 0) {
        ESPL_ARRAY_PUSH(a->placed, espl__entity_at(&a->reader.world->store, a->living[number]));
        ESPL_ARRAY_PUSH(a->locals, built->placement.local);
        now.local = built->placement.local;
    }
    return espl__placement_is_equal(&now, &built->placement);
}

// Look at all nodes. @return whether the entities can stay in their places.
static bool are_in_place(archive_applier *a)
{
    const espl__links *const links = a->reader.world->forest.links;
    espl__parse *const p = &a->reader.parse;
    uint32_t last_parent = ESPL__NO_SLOT;
    bool is_same = true;

    espl__walk_begin(&a->reader.walk, p);
    for (uint32_t i = 0; i < p->info.nodes && is_same; ++i) {
        const espl__parsed_node *const node = espl__walk_next(&a->reader.walk);

        is_same = a->living[i] != ESPL__NONE && is_in_its_place(a, i, &node->built, last_parent) &&
                  has_its_parts(a, i, &node->built);
        last_parent = node->built.parent;
    }
    is_same = is_same && p->info.nodes != 0 && ends_siblings(a, p->info.nodes - 1, last_parent);
    for (uint32_t i = 0; i < p->info.nodes && is_same; ++i) {
        is_same = a->is_parent[i] != 0 || links[slot_of_node(a, i)].first_child == ESPL__NO_SLOT;
    }
    return is_same;
}

// Find whether the entities can stay in their places, and take the memory for that. @return false: none.
static bool survey_places(archive_applier *a)
{
    const uint32_t nodes = a->reader.parse.info.nodes;

    if (!APPLIER_RESERVE(a, placed, nodes) || !APPLIER_RESERVE(a, locals, nodes) ||
        !APPLIER_RESERVE(a, is_parent, nodes)) {
        return espl__parse_refuse(&a->reader.parse, ESPL_ERR_NO_MEMORY, NULL, NULL);
    }
    espl__array_set_length(a->is_parent, nodes);
    for (uint32_t i = 0; i < nodes; ++i) {
        a->is_parent[i] = 0;
    }
    a->reader.is_in_place = are_in_place(a);
    const espl_status status =
        a->reader.is_in_place ? espl__writes_reserve(a->reader.world, espl__array_length(a->placed))
                              : ESPL_OK;

    return status == ESPL_OK || espl__parse_refuse(&a->reader.parse, status, NULL, NULL);
}

// Tell whether a survivor has another name than its node.
static bool is_named_otherwise(const archive_applier *a, uint32_t index,
                               const espl__parsed_node *node)
{
    const espl__name *const name = espl__name_of(&a->reader.world->store.names, index);

    return name == NULL || node->name == NULL
               ? (name == NULL) != (node->name == NULL)
               : name->size != node->length + 1 ||
                     memcmp(name->text, node->name, node->length) != 0;
}

// Survivors stay. Each entity gets the name that the archive has, and one that gets another name is marked.
static void name_survivors(archive_applier *a)
{
    espl__store *const store = &a->reader.world->store;
    const uint32_t nodes = a->reader.parse.info.nodes;

    espl__walk_begin(&a->reader.walk, &a->reader.parse);
    a->reader.walk.skips_placements = true;
    for (uint32_t i = 0; i < nodes; ++i) {
        const espl__parsed_node *const node = espl__walk_next(&a->reader.walk);

        a->reader.entities[i] = espl__entity_at(store, a->living[i]);
        if (is_named_otherwise(a, a->living[i], node)) {
            espl__store_mark_entities(store, &a->reader.entities[i], 1);
        }
    }
    espl__names_remove(&store->names, store->heap, a->living, nodes);
}

// Write the locals, as a batch of writes does.
static void write_survivors(archive_applier *a)
{
    const espl__entries entries = {
        .call = "espl_archive_apply",
        .handles = {(const unsigned char *)a->placed, sizeof(espl_entity)},
        .values = (const unsigned char *)a->locals,
        .value_size = sizeof(espl_pose),
        .kind = ESPL_WRITE_LOCAL_POSE,
        .count = espl__array_length(a->placed)};
    espl_write_report report = {0};
    const espl_status status =
        entries.count == 0 ? ESPL_OK : espl__write_untaped(a->reader.world, &entries, &report);

    ESPL_CHECK(status >= 0 && status != ESPL_PARTLY);
    a->reader.has_overflowed = status == ESPL_OVERFLOW;
}

// --- The exchange ---

// Copy values that archives do not have from one row to another one.
static void keep_transients(espl__store *store, uint32_t from, uint32_t to)
{
    const espl__archetype *const archetype = &store->archetypes[espl__entity_archetype(store, to)];
    const size_t columns = espl__array_length(archetype->columns);

    for (size_t i = 0; i < columns; ++i) {
        const espl_component component = archetype->columns[i].component;
        const bool is_transient =
            (espl__component_info_of(store, component)->flags & ESPL_COMPONENT_TRANSIENT) != 0;

        if (is_transient &&
            espl__archetype_has(store, espl__entity_archetype(store, from), component)) {
            memcpy(espl__row_write(store, to, component), espl__row_value(store, from, component),
                   archetype->columns[i].size);
        }
    }
}

// Give survivors the nodes and rows that were built, and their old ones to the entities of those.
static void exchange_survivors(archive_applier *a)
{
    espl_world *const world = a->reader.world;
    espl__store *const store = &world->store;
    espl_entity *const entities = a->reader.entities;
    const uint32_t nodes = a->reader.parse.info.nodes;

    for (uint32_t i = 0; i < nodes; ++i) {
        if (a->living[i] == ESPL__NONE) {
            continue;
        }
        const espl_entity built = entities[i], survivor = espl__entity_at(store, a->living[i]);

        keep_transients(store, survivor.index, built.index);
        espl__names_remove(&store->names, store->heap, &survivor.index, 1);
        espl__rows_exchange(store, survivor.index, built.index);
        espl__node_rename(&world->forest, store->records[survivor.index].slot, survivor.index);
        espl__node_rename(&world->forest, store->records[built.index].slot, built.index);
        entities[i] = survivor;
        ESPL_ARRAY_PUSH(a->leaving, built);
    }
}

static void destroy_leaving(archive_applier *a)
{
    espl_world *const world = a->reader.world;
    const size_t count = espl__array_length(a->leaving);
    espl__edit edit;

    espl__destroy_begin(world, &edit);
    for (size_t i = 0; i < count; ++i) {
        if (espl__entity_is_alive(&world->store, a->leaving[i])) {
            (void)espl__edit_destroy(&edit, world->store.records[a->leaving[i].index].slot,
                                     ESPL_EXTENT_SUBTREE);
        }
    }
    (void)espl__destroy_end(world, &edit, ESPL_OK);
}

// --- The call ---

static espl_status apply_archive(archive_applier *a)
{
    espl__reader *const r = &a->reader;
    espl__heap *const heap = &r->world->heap;
    espl_status status = espl__reader_begin(r);

    if (status == ESPL_OK && (!match_entities(a) || !check_parent(a) || !survey_places(a))) {
        status = r->parse.status;
    }
    status = status != ESPL_OK ? status : espl__reader_build(r);
    if (status == ESPL_OK) {
        if (r->is_in_place) {
            name_survivors(a);
        } else {
            exchange_survivors(a);
        }
        espl__reader_fill(r);
        destroy_leaving(a);
    }
    if (status == ESPL_OK && r->is_in_place) {
        write_survivors(a);
    }
    ESPL_ARRAY_FREE(heap, ESPL__FOR_COMMANDS, a->placed);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_COMMANDS, a->locals);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_COMMANDS, a->is_parent);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_COMMANDS, a->living);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_COMMANDS, a->leaving);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_COMMANDS, a->by_handle);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_COMMANDS, a->spare);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_COMMANDS, a->members);
    return espl__reader_end(r, status);
}

static bool is_readable(const espl_archive_known *known)
{
    return known == NULL ||
           (known->bytes != NULL && (known->entities != NULL || known->count == 0));
}

espl_status espl_archive_apply(espl_world *world, const void *bytes, size_t size,
                               const espl_archive_read_def *def, const espl_archive_known *known,
                               espl_format_fault *fault)
{
    static const char *const call = "espl_archive_apply";
    static const espl_archive_read_def strict;
    archive_applier a = {.reader = {.world = world,
                                    .def = def != NULL ? def : &strict,
                                    .parse = {.bytes = bytes, .size = size}},
                         .known = known};

    if (fault != NULL) {
        *fault = (espl_format_fault){0};
    }
    ESPL__CHANGE_OR_RETURN(world, call)
    espl_status status = espl__reader_check(&a.reader, call);

    if (status != ESPL_OK) {
        return status;
    }
    if (!is_readable(known)) {
        return espl__refuse_call(world, call, ESPL_ERR_ARGUMENT,
                                 "known has no bytes, or no entities.");
    }
    status =
        ESPL__TAPED(world, apply_archive(&a), .op = ESPL_TAPE_APPLY, .entity = a.reader.def->parent,
                    .word = a.reader.def->flags, .value = bytes, .size = size, .known = known);
    if (fault != NULL) {
        *fault = a.reader.parse.fault;
    }
    return espl__reader_tell(&a.reader, call, status);
}
