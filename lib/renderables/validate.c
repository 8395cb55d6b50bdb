// SPDX-License-Identifier: MIT
// The rules of renderables, for espl_validate(). Those about the world hold of what no change was marked of
// since the last update. O(renderables + slots).
#include "lib/renderables/far_places.h"

#include "lib/tree/changes.h"

#include <string.h>

// What a check has.
typedef struct checking {
    const espl_renderables *r;
    espl__row_kinds kinds;
    espl_entity *where;
    size_t members; // found in clusters
    size_t gone;    // of them renderables no more, as a refused update found
    size_t bad, unions;
} checking;

// Tell whether something of a slot changed after the last update. In a forest that was made anew all slots did.
static bool is_marked(const espl_renderables *r, uint32_t slot)
{
    const espl_world *const world = r->world;
    const espl__plane *const planes = world->forest.tracks.planes;
    const uint32_t since = espl__plane_since(world->moment, r->last);

    return slot >= world->forest.end || world->forest.makings != r->known_makings ||
           espl__plane_has_changed(&planes[ESPL__PLANE_WORLD], slot, since) ||
           espl__plane_has_changed(&planes[ESPL__PLANE_PLACE], slot, since);
}

static bool is_index_marked(const espl_renderables *r, uint32_t index)
{
    const espl_world *const world = r->world;

    return index >= espl__array_length(world->store.records) ||
           espl__plane_has_changed(&world->store.index_plane, index,
                                   espl__plane_since(world->moment, r->last));
}

// Compare the pose and the box of a member with those of the world.
static const char *pose_rule(const checking *c, const espl__cluster_entry *entry,
                             const espl__cluster *cluster, uint32_t place)
{
    const uint32_t slot = cluster->slots[place];
    float box[ESPL__BOX_NUMBERS], local[ESPL__BOX_NUMBERS], room[3];
    bool is_same = true;

    if (!espl__pose_is_alike(&c->r->world->forest.world[slot], &entry->poses->poses[place])) {
        return "the pose of a renderable is that of its slot";
    }
    if (espl__has_bit(&cluster->bad_world, place) || espl__has_bit(&cluster->unions, place)) {
        return NULL;
    }
    for (int k = 0; k < ESPL__BOX_NUMBERS; ++k) {
        local[k] = entry->values->local[k][place];
    }
    espl__box_of_pose(box, &c->r->world->forest.world[slot],
                      espl__slot_stretch(&c->r->world->forest, slot, room), local);
    for (int k = 0; k < ESPL__BOX_NUMBERS; ++k) {
        is_same = is_same && memcmp(&box[k], &entry->poses->boxes[k][place], sizeof box[k]) == 0;
    }
    return is_same ? NULL : "the box of a renderable is that of its pose";
}

// Tell whether a member has the cell that its slot has, which is that of its parent or its tree, unless one of
// these changed.
static bool is_in_its_cell(const espl_renderables *r, const espl__values *values, uint32_t slot,
                           uint32_t place)
{
    const espl__forest *const forest = &r->world->forest;
    const uint32_t parent = forest->parent[slot];
    const espl__cell cell = r->cells_of[slot];

    if (!espl__cell_is_same(values->cells->of[place], cell)) {
        return false;
    }
    if (parent != ESPL__NO_SLOT) {
        return is_marked(r, parent) || espl__cell_is_same(r->cells_of[parent], cell);
    }
    return espl__plane_has_changed(&forest->tracks.planes[ESPL__PLANE_CELL], slot,
                                   espl__plane_since(r->world->moment, r->last)) ||
           !espl__cell_is_same(forest->rebased, r->rebased) ||
           espl__cell_is_same(espl__stored_cell(r, slot), cell);
}

static const char *member_rule(checking *c, uint32_t number, uint32_t place)
{
    const espl_renderables *const r = c->r;
    const espl__cluster *const cluster = espl__cluster_at(r, number);
    const espl__cluster_entry *const entry = espl__tables_entry(&r->tables, number);
    const uint32_t slot = cluster->slots[place];
    const espl_entity entity = cluster->entities[place];

    if (espl__has_bit(&cluster->holes, place)) {
        return NULL;
    }
    *c->where = entity;
    c->members += 1;
    if (memcmp(&entry->values->entities[place], &entity, sizeof entity) != 0) {
        return "a mirror has the members of a cluster in their order";
    }
    if (espl__has_bit(&cluster->gone, place)) {
        c->gone += 1;
        return NULL;
    }
    if (slot >= espl__array_length(r->member_of) ||
        r->member_of[slot] != espl__member(number, place)) {
        return "a renderable and its slot name each other";
    }
    if (is_marked(r, slot) || is_index_marked(r, entity.index)) {
        return NULL;
    }
    if (!espl__is_alive_and_placed(&r->world->store, entity.index, entity.generation) ||
        r->world->store.records[entity.index].slot != slot) {
        return "a renderable lives, and is where it was, unless it changed";
    }
    if (!espl__row_kind_of(&c->kinds, espl__entity_archetype(&r->world->store, entity.index))
             ->is_renderable) {
        return "a renderable has its components, unless it changed";
    }
    if (r->layers_of != NULL && entry->values->layers[place] != r->layers_of[slot] &&
        (r->states[number] & ESPL__WRITE_VALUES) == 0) {
        return "a mirror has the effective layers of a renderable";
    }
    if (espl__renderables_have_cells(r) && (r->states[number] & ESPL__WRITE_ANY) == 0 &&
        !is_in_its_cell(r, entry->values, slot, place)) {
        return "a mirror has the cell of a renderable, which is that of its parent";
    }
    return (r->states[number] & ESPL__WRITE_ANY) == 0 ? pose_rule(c, entry, cluster, place) : NULL;
}

// Check a leaf. @param next  the lowest code of the next one; UINT64_MAX: there is none.
static const char *leaf_rule(checking *c, const espl__leaf *leaf, uint64_t next, int category)
{
    const espl_renderables *const r = c->r;
    const espl__cluster *const cluster = espl__cluster_at(r, leaf->cluster);
    const espl__cluster_entry *const entry = espl__tables_entry(&r->tables, leaf->cluster);
    const uint8_t state = r->states[leaf->cluster];
    const char *rule = NULL;

    if ((state & ESPL__CLUSTER_USED) == 0 || espl__cluster_category(r, leaf->cluster) != category) {
        return "a leaf has a cluster of its category";
    }
    if (cluster->count == 0 || cluster->count > ESPL__CLUSTER_SIZE || entry->values == NULL ||
        entry->poses == NULL || entry->values->count != cluster->count) {
        return "a cluster has 1 to 128 members, and a mirror has as many";
    }
    if (memcmp(entry->holes, cluster->holes.words, sizeof entry->holes) != 0 ||
        espl__count_members(&cluster->holes) >= cluster->count) {
        return "a mirror has the holes of a cluster, which has a member";
    }
    if (espl__has_bits(&cluster->leaving)) {
        return "members move to another cluster within an update";
    }
    for (uint32_t place = 0; place < cluster->count && rule == NULL; ++place) {
        if (!espl__has_bit(&cluster->holes, place) &&
            (cluster->codes[place] < leaf->low || cluster->codes[place] > next)) {
            *c->where = cluster->entities[place];
            return "a member was filed in the range of its leaf";
        }
        rule = member_rule(c, leaf->cluster, place);
    }
    c->bad += espl__count_bad(cluster);
    c->unions += espl__count_members(&cluster->unions);
    return rule;
}

static const char *category_rule(checking *c, int category)
{
    const espl__leaf *const leaves = c->r->leaves[category];
    const size_t count = espl__array_length(leaves), before = c->members;
    const char *rule = NULL;

    for (size_t i = 0; i < count && rule == NULL; ++i) {
        // Recent leaves are in no order.
        const bool is_tree = category != ESPL__RECENT;
        const uint64_t next = is_tree && i + 1 < count ? leaves[i + 1].low : UINT64_MAX;

        rule = !is_tree || (leaves[i].low <= next && (i != 0 || leaves[i].low == 0))
                   ? leaf_rule(c, &leaves[i], next, category)
                   : "the ranges of leaves ascend from 0";
    }
    return rule == NULL && c->members - before != c->r->counts[category]
               ? "renderables of a category are counted"
               : rule;
}

// Check that each renderable is a member, unless it changed since the last update.
static const char *presence_rule(checking *c)
{
    const espl_renderables *const r = c->r;
    const espl__store *const store = &r->world->store;
    size_t named = 0;

    for (uint32_t index = 0; index < espl__array_length(store->records); ++index) {
        const espl__record *const record = &store->records[index];

        if (record->row >= ESPL__ROW_BARE ||
            !espl__row_kind_of(&c->kinds, store->chunks[record->chunk].archetype)->is_renderable ||
            is_index_marked(r, index) || is_marked(r, record->slot)) {
            continue;
        }
        *c->where = espl__entity_at(store, index);
        if (r->member_of[record->slot] == ESPL__NO_MEMBER) {
            return "each renderable is a member, unless it changed";
        }
    }
    *c->where = espl_entity_null();
    for (size_t slot = 0; slot < espl__array_length(r->member_of); ++slot) {
        named += r->member_of[slot] != ESPL__NO_MEMBER ? 1 : 0;
    }
    return named == c->members - c->gone ? NULL : "slots name members";
}

const char *espl__renderables_broken_rule(const void *renderables, espl_entity *where)
{
    checking c = {.r = renderables, .where = where};
    const char *rule = espl__tables_broken_rule(&c.r->tables);

    // Before the first update there is nothing to check.
    if (rule != NULL || c.r->last == 0) {
        return rule;
    }
    espl__row_kinds_begin(&c.kinds, c.r);
    for (int category = 0; category < ESPL__CATEGORIES && rule == NULL; ++category) {
        rule = category_rule(&c, category);
    }
    rule = rule == NULL ? presence_rule(&c) : rule;
    if (rule == NULL && (c.bad != c.r->bad_count || c.unions != c.r->union_count)) {
        return "renderables that are left out, and unions, are counted";
    }
    return rule;
}
