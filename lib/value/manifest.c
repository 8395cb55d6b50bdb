// SPDX-License-Identifier: MIT
// The areas of a world, in the order of an image.
//
// Not in it, because a load makes it anew or leaves it as it was: caches (edges of archetypes, maps, bits of
// free ranges), lists whose order has no effect (unsettled trees, loose roots, free numbers of chunks and of
// side arrays), reserved memory and floors, versions of columns, planes and what is shown, scratch memory and
// statistics. tests/value/manifest_test lists each field.
#include "lib/value/manifest.h"

#include "lib/tree/motion.h"

// Visit an area that is not empty.
static void visit(const espl__area_visitor *visitor, const espl__area *area)
{
    if (area->count != 0) {
        visitor->visit(visitor->context, area);
    }
}

// The address of an area of a world that only a visitor of a world that is made writes to.
static void *writable(const void *bytes)
{
    return (void *)(uintptr_t)bytes;
}

// --- Rows ---

// What the values of a component are.
static espl__area_kind kind_of_values(const espl__store *store, espl_component component)
{
    if (component == ESPL_TRANSFORM) {
        return ESPL__AREA_BYTES;
    }
    return (espl__component_info_of(store, component)->flags & ESPL_COMPONENT_TRANSIENT) != 0
               ? ESPL__AREA_TRANSIENT
               : ESPL__AREA_VALUES;
}

static void visit_rows(const espl__store *store, const espl__archetype *archetype,
                       const espl__chunk *chunk, const espl__area_visitor *visitor)
{
    const size_t columns = espl__array_length(archetype->columns);

    visit(visitor, &(espl__area){"entities of rows", ESPL__AREA_ENTITIES, 0, chunk->bytes,
                                 sizeof(espl_entity), chunk->count});
    for (size_t i = 0; i < columns; ++i) {
        const espl__column *const column = &archetype->columns[i];
        const espl__area_kind kind = kind_of_values(store, column->component);

        visit(visitor, &(espl__area){"values of a column", kind, column->component,
                                     chunk->bytes + column->offset, column->size, chunk->count});
    }
}

void espl__manifest_rows(const espl__store *store, const espl__area_visitor *visitor)
{
    const size_t archetypes = espl__array_length(store->archetypes);

    visit(visitor, &(espl__area){"records", ESPL__AREA_RECORDS, 0, store->records,
                                 sizeof *store->records, espl__array_length(store->records)});
    for (size_t i = 0; i < archetypes; ++i) {
        const espl__archetype *const archetype = &store->archetypes[i];
        const size_t chunks = espl__array_length(archetype->chunks);

        for (size_t k = 0; k < chunks; ++k) {
            const espl__chunk *const chunk = &store->chunks[archetype->chunks[k]];

            if (chunk->count != 0) {
                visit_rows(store, archetype, chunk, visitor);
            }
        }
    }
}

// --- Nodes ---

// The kind of each column of espl__forest. A column that is added to ESPL__COLUMNS needs a line here.
enum {
    KIND_OF_local = ESPL__AREA_SLOTS,
    KIND_OF_world = ESPL__AREA_SLOTS,
    KIND_OF_parent = ESPL__AREA_PARENT,
    KIND_OF_tree = ESPL__AREA_TREE_OF,
    KIND_OF_links = ESPL__AREA_LINKS,
    KIND_OF_flags = ESPL__AREA_FLAGS,
    KIND_OF_probe = ESPL__AREA_SLOTS,
    KIND_OF_lineage = ESPL__AREA_SLOTS,
};

void espl__manifest_trees(const espl__forest *forest, const espl__area_visitor *visitor)
{
    visit(visitor, &(espl__area){"headers of trees", ESPL__AREA_TREES, 0, forest->trees,
                                 sizeof *forest->trees, forest->tree_end});
}

#define VISIT_COLUMN(access, type, name, role, initial)                               \
    visit(visitor, &(espl__area){"column " #name, (espl__area_kind)KIND_OF_##name, 0, \
                                 writable(forest->columns.name), sizeof(type), forest->end});

void espl__manifest_nodes(const espl__forest *forest, const espl__area_visitor *visitor)
{
    ESPL__COLUMNS(VISIT_COLUMN)
    for (uint32_t time = 0; time < espl__tracks_past_count(&forest->tracks); ++time) {
        visit(visitor, &(espl__area){"earlier locals", ESPL__AREA_SLOTS, 0,
                                     forest->tracks.poses[time], sizeof(espl_pose), forest->end});
    }
    if (forest->tracks.cells != NULL) {
        visit(visitor, &(espl__area){"cells of roots", ESPL__AREA_CELLS, 0, forest->tracks.cells,
                                     sizeof *forest->tracks.cells, forest->end});
    }
}

// --- Side arrays ---

static void visit_side(espl__side *side, uint32_t pasts, const espl__area_visitor *visitor)
{
    visit(visitor, &(espl__area){"counts of side arrays", ESPL__AREA_BYTES, 0, &side->extra_count,
                                 sizeof side->extra_count, 2});
    visit(visitor, &(espl__area){"whether side arrays are reserved", ESPL__AREA_BYTES, 0,
                                 &side->is_prepaid, sizeof side->is_prepaid, 1});
    visit(visitor, &(espl__area){"stretch and user data", ESPL__AREA_BYTES, 0, side->extra,
                                 sizeof *side->extra, side->capacity});
    if (side->has_kept == 0) {
        return;
    }
    visit(visitor, &(espl__area){"inherit flags and kept parts", ESPL__AREA_BYTES, 0,
                                 espl__side_kept(side), sizeof(espl__kept), side->capacity});
    for (uint32_t time = 0; time < pasts; ++time) {
        visit(visitor,
              &(espl__area){"earlier kept parts", ESPL__AREA_BYTES, 0,
                            espl__side_past(side, (int)time), sizeof(espl_pose), side->capacity});
    }
}

_Static_assert(offsetof(espl__side, kept_count) ==
                   offsetof(espl__side, extra_count) + sizeof(uint32_t),
               "the counts are neighbours");

void espl__manifest_sides(const espl__forest *forest, const espl__area_visitor *visitor)
{
    const uint32_t pasts = espl__tracks_past_count(&forest->tracks);

    for (uint32_t tree = 0; espl__forest_has_sides(forest) && tree < forest->tree_end; ++tree) {
        espl__side *const side = espl__side_of(forest, &forest->trees[tree]);

        if (side != NULL) {
            visit_side(side, pasts, visitor);
        }
    }
}
