// SPDX-License-Identifier: MIT
// espl_place_counterparts(): counterparts of an entity of another world and of what is below it.
//
// The entities are created by one playback of recorded creations, so that they mean what creations mean
// everywhere, and are linked with their originals afterwards. The memory of the links is taken before.
#include "lib/commands/command_buffer.h"
#include "lib/tree/cells.h"
#include "lib/world/commands.h"
#include "lib/world/counterparts.h"
#include "lib/world/entity_slots.h"
#include "lib/world/read.h"
#include "lib/world/refusals.h"
#include "lib/world/tape.h"

#include <string.h>

static const char *const placing_name = "espl_place_counterparts";

// What is placed. The arrays lie in one block.
typedef struct placing {
    espl_world *world;
    const espl_world *from;
    espl_entity original;
    const espl_placing_def *def;
    size_t count;           // entities
    espl_entity *originals; // [count] breadth-first
    uint32_t *parents;      // [count] positions of their parents
    espl_transform *locals; // [count]
    espl_entity *made;      // [count] pending handles, then the counterparts
    bool *is_bare_above;    // [count] no entity from the original down to it has a transform
    // [def->component_count] the component of this world for each of the other one, or 0.
    espl_component *here;
    espl_transform transform; // of the counterpart of the original itself
    espl__cell cell;          // that it gets
    unsigned char *room;      // for the values of one entity
    unsigned char *block;
    size_t block_size;
    espl_command_buffer *commands;
} placing;

// --- Checks ---

static const char *find_placing_fault(const placing *p)
{
    const espl_placing_def *const def = p->def;

    if (p->world == NULL || p->from == NULL) {
        return "from is NULL.";
    }
    if (p->world->store.tag == p->from->store.tag) {
        return "Both worlds have the same tag.";
    }
    if ((unsigned)def->extent > ESPL_EXTENT_SUBTREE || (unsigned)def->place > ESPL_PLACE_WORLD) {
        return "def->extent or def->place does not exist.";
    }
    if (def->components == NULL && def->component_count != 0) {
        return "def->components is NULL, but def->component_count is not 0.";
    }
    for (size_t i = 0; i < def->component_count && def->component_count <= ESPL_SET_LIMIT; ++i) {
        const espl_component component = def->components[i];

        if (espl__is_role(component) ||
            espl__component_info_of(&p->from->store, component) == NULL) {
            return "def->components has a role, or a component that the other world lacks.";
        }
    }
    return NULL;
}

// Tell whether an original has a counterpart already.
static bool is_placed(const placing *p)
{
    const espl__counterparts *const links = &p->world->store.counterparts;
    bool is_found = false;

    for (size_t i = 0; i < p->count && !is_found; ++i) {
        is_found = espl__counterpart_of(links, p->originals[i]) != UINT32_MAX;
    }
    return is_found;
}

// --- Memory ---

// The bytes of the values of one entity.
static size_t room_for_values(const placing *p)
{
    size_t size = 0;

    for (size_t i = 0; i < p->def->component_count; ++i) {
        size += espl__component_info_of(&p->from->store, p->def->components[i])->size;
    }
    return size + 1;
}

// Place the arrays in a block. @param block  NULL: only measure. @return bytes.
static size_t carve_placing(placing *p, unsigned char *block)
{
    size_t at = 0;

    p->originals = espl__carve(block, &at, p->count, sizeof *p->originals, 16);
    p->parents = espl__carve(block, &at, p->count, sizeof *p->parents, 16);
    p->locals = espl__carve(block, &at, p->count, sizeof *p->locals, 16);
    p->made = espl__carve(block, &at, p->count, sizeof *p->made, 16);
    p->is_bare_above = espl__carve(block, &at, p->count, sizeof *p->is_bare_above, 16);
    p->here = espl__carve(block, &at, p->def->component_count, sizeof *p->here, 16);
    p->room = espl__carve(block, &at, room_for_values(p), 1, 16);
    return at;
}

// Find what this world has for the components of the other one.
static void match_placed_components(const placing *p)
{
    for (size_t i = 0; i < p->def->component_count; ++i) {
        const espl__component_info *const info =
            espl__component_info_of(&p->from->store, p->def->components[i]);
        const espl_component found = espl_component_find(p->world, info->name);
        const espl__component_info *const here =
            found != 0 ? espl__component_info_of(&p->world->store, found) : NULL;

        p->here[i] =
            here != NULL && found != ESPL_TRANSFORM && here->size == info->size ? found : 0;
    }
}

// Take all memory but that of the playback, and list what is placed.
static espl_status prepare_placing(placing *p)
{
    espl__heap *const heap = &p->world->heap;

    p->count = espl_copy_subtree(p->from, p->original, p->def->extent, 0, NULL);
    p->block_size = carve_placing(p, NULL);
    p->block = espl__heap_take(heap, ESPL__FOR_COMMANDS, 1, p->block_size, 16);
    if (p->block == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    (void)carve_placing(p, p->block);
    const espl_subtree_arrays arrays = {
        .entities = p->originals, .parents = p->parents, .locals = p->locals};

    (void)espl_copy_subtree(p->from, p->original, p->def->extent, p->count, &arrays);
    match_placed_components(p);
    if (is_placed(p)) {
        return ESPL_ERR_EXISTS;
    }
    espl__store *const store = &p->world->store;
    const size_t indices = espl__array_length(store->records) + p->count;
    const espl_status status =
        espl__commands_of(p->world, &p->world->commands_alive, 1, &p->commands);

    return status == ESPL_OK &&
                   !espl__counterparts_reserve(&store->counterparts, heap, p->count, indices)
               ? ESPL_ERR_NO_MEMORY
               : status;
}

static void end_placing(placing *p)
{
    if (p->commands != NULL) {
        espl__command_buffer_free(p->commands);
    }
    espl__heap_give(&p->world->heap, ESPL__FOR_COMMANDS, p->block, 1, p->block_size, 16);
}

// --- Values ---

// Tell whether a component is copied to the counterpart of an entity.
static bool is_component_placed(const placing *p, size_t i, size_t number)
{
    const espl__store *const store = &p->from->store;
    const uint32_t archetype = espl__entity_archetype(store, p->originals[i].index);

    return p->here[number] != 0 &&
           espl__archetype_has(store, archetype, p->def->components[number]);
}

// Copy a value, with references to this world.
// @param links  NULL: all references are null. @return whether one of them is not.
static bool copy_value(const placing *p, size_t i, size_t number, const espl_world *links,
                       unsigned char *out)
{
    const espl__component_info *const info =
        espl__component_info_of(&p->world->store, p->here[number]);
    bool is_linked = false;

    if (info->size == 0) {
        return false;
    }
    memcpy(out, espl__row_value(&p->from->store, p->originals[i].index, p->def->components[number]),
           info->size);
    for (uint32_t r = 0; r < info->reference_count; ++r) {
        espl_entity to;

        memcpy(&to, out + info->references[r], sizeof to);
        to = espl_find_counterpart(links, to);
        is_linked = is_linked || !espl_entity_is_null(to);
        memcpy(out + info->references[r], &to, sizeof to);
    }
    return is_linked;
}

static bool is_unique(const placing *p, size_t number)
{
    return (espl__component_info_of(&p->world->store, p->here[number])->flags &
            ESPL_COMPONENT_UNIQUE) != 0;
}

// List the values of a counterpart, behind its transform.
// @param values  [ESPL_SET_LIMIT + 1] @return their number.
static size_t list_values(const placing *p, size_t i, espl_component_value *values, size_t count)
{
    unsigned char *room = p->room;

    for (size_t number = 0; number < p->def->component_count; ++number) {
        if (is_component_placed(p, i, number)) {
            const size_t size = espl__component_info_of(&p->world->store, p->here[number])->size;
            const bool is_zero = size == 0 || is_unique(p, number);

            values[count++] = (espl_component_value){p->here[number], size, is_zero ? NULL : room};
            (void)copy_value(p, i, number, NULL, room);
            room += size;
        }
    }
    return count;
}

// --- Creation ---

// Tell whether the counterpart of the original is placed where the original is in its world: it has no parent,
// and the caller gives no transform.
static bool stays_in_place(const placing *p)
{
    return p->def->place == ESPL_PLACE_SOURCE && espl_entity_is_null(p->def->parent);
}

static void shift_by_cell(float position[ESPL__LEAST 3], const espl__cell *cell, float cell_size)
{
    for (int i = 0; i < 3; ++i) {
        position[i] = espl__coordinate_shift(position[i], (double)cell->at[i] * (double)cell_size);
    }
}

// Shift the topmost transforms below an original that has none, and therefore no write of a cell either: their
// counterparts are in the middle cell.
static void shift_topmost(const placing *p, const espl__cell *cell)
{
    const espl__forest *const from = &p->from->forest;

    for (size_t i = 0; i < p->count; ++i) {
        const uint32_t slot = p->from->store.records[p->originals[i].index].slot;
        const bool is_top = i == 0 || p->is_bare_above[p->parents[i]];
        const bool is_bare = espl__slot_is(from, slot, ESPL__SLOT_BARE);

        p->is_bare_above[i] = is_top && is_bare;
        if (is_top && !is_bare) {
            shift_by_cell(p->locals[i].position, cell, from->cell_size);
        }
    }
}

// Bring the counterpart of the original to the place that this has in its world, with the same bits where cells
// have one size. A place without cells is in the middle one. @return ESPL_ERR_RANGE: cells do not reach that
// place.
static espl_status bring_to_place(placing *p, uint32_t slot)
{
    const espl__forest *const from = &p->from->forest, *const to = &p->world->forest;
    const espl__cell cell = espl__cell_of(from, slot);
    float *const position = p->transform.position;
    double wanted[3];

    if (espl__slot_is(from, slot, ESPL__SLOT_BARE)) {
        shift_topmost(p, &cell);
    } else if (!espl__forest_has_cells(to)) {
        shift_by_cell(position, &cell, from->cell_size);
    } else if (from->cell_size == to->cell_size) {
        p->cell = cell;
    } else {
        espl__position_in_cells(&cell, from->cell_size, position, wanted);
        return espl__cell_nearest(to, wanted, &p->cell, position) ? ESPL_OK : ESPL_ERR_RANGE;
    }
    return ESPL_OK;
}

// Work out the transform, and the cell, with which the counterpart of the original itself is created.
static espl_status find_placed_transform(placing *p)
{
    const uint32_t slot = p->from->store.records[p->original.index].slot;

    p->transform = p->def->place != ESPL_PLACE_SOURCE ? p->def->transform
                   : stays_in_place(p)                ? espl__read_world(p->from, slot)
                                                      : p->locals[0];
    return stays_in_place(p) && espl__forest_has_cells(&p->from->forest) ? bring_to_place(p, slot)
                                                                         : ESPL_OK;
}

// Record that the counterpart of the original gets its cell, which leaves all coordinates as they are.
static espl_status record_cell(const placing *p)
{
    static const espl__cell middle;

    return espl__cell_is_same(p->cell, middle)
               ? ESPL_OK
               : espl__record_write(&p->commands->recorders[0], 0, p->made[0], ESPL_WRITE_CELL,
                                    &p->cell, placing_name);
}

// Record the creation of one counterpart. Its parent was recorded before it.
static espl_status record_placed(const placing *p, size_t i)
{
    const espl__forest *const forest = &p->from->forest;
    const uint32_t slot = p->from->store.records[p->originals[i].index].slot;
    const espl_transform transform = i == 0 ? p->transform : p->locals[i];
    espl_component_value values[ESPL_SET_LIMIT + 1];
    espl_creation_def def = {.values = values, .place = ESPL_PLACE_LOCAL};

    if (!espl__slot_is(forest, slot, ESPL__SLOT_BARE)) {
        values[def.value_count++] =
            (espl_component_value){ESPL_TRANSFORM, sizeof transform, &transform};
    }
    def.value_count = list_values(p, i, values, def.value_count);
    if (i == 0) {
        def.parent = p->def->parent;
        def.before = p->def->before;
        def.place = p->def->place;
    } else {
        def.parent = p->made[p->parents[i]];
        def.link =
            espl__slot_is(forest, slot, ESPL__SLOT_FREE_LINK) ? ESPL_LINK_FREE : ESPL_LINK_OWNED;
        def.inherit = espl__slot_kept(forest, slot).flags;
    }
    return espl__record_create(&p->commands->recorders[0], 0, &def, 1, &p->made[i], placing_name);
}

// Create all counterparts, or none.
static espl_status create_placed(placing *p)
{
    const espl__lane *const lane = &p->commands->recorders[0].lane;
    espl_report report = {0};
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < p->count && status == ESPL_OK; ++i) {
        status = record_placed(p, i);
    }
    status = status != ESPL_OK ? status : record_cell(p);
    status = status != ESPL_OK ? status : espl__play_strictly(p->world, p->commands, &report);
    if (status != ESPL_OK) {
        return status;
    }
    memcpy(p->made, lane->created, p->count * sizeof *p->made);
    if (report.has_overflowed) {
        return ESPL_OVERFLOW;
    }
    return report.lossy != 0 ? ESPL_LOSSY : ESPL_OK;
}

// --- Links ---

// The memory was taken before.
static espl_status link_placed(const placing *p)
{
    espl__store *const store = &p->world->store;

    for (size_t i = 0; i < p->count; ++i) {
        espl__counterpart_put(&store->counterparts, p->made[i].index, p->originals[i]);
    }
    espl__store_mark_entities(store, p->made, p->count);
    return ESPL_OK;
}

// Fill in references, which lead to entities that are linked now. Not structural, so that nothing refuses it.
static void fill_references(const placing *p)
{
    for (size_t number = 0; number < p->def->component_count; ++number) {
        const espl__component_info *const info =
            p->here[number] != 0 ? espl__component_info_of(&p->world->store, p->here[number])
                                 : NULL;

        if (info == NULL || info->reference_count == 0 || is_unique(p, number)) {
            continue;
        }
        for (size_t i = 0; i < p->count; ++i) {
            if (is_component_placed(p, i, number) && copy_value(p, i, number, p->world, p->room)) {
                const espl_status status =
                    espl_set_component(p->world, p->made[i], p->here[number], p->room, info->size);

                ESPL_CHECK(status == ESPL_OK);
                (void)status;
            }
        }
    }
}

// --- The call ---

static espl_status place(placing *p, espl_entity *out)
{
    espl_status status = espl__check_structural(p->world);

    if (status == ESPL_OK && p->def->component_count > ESPL_SET_LIMIT) {
        status = ESPL_ERR_LIMIT;
    }
    status = status != ESPL_OK ? status : espl__check_living(p->from, p->original);
    if (status != ESPL_OK) {
        return status;
    }
    status = prepare_placing(p);
    status = status != ESPL_OK ? status : find_placed_transform(p);
    status = status != ESPL_OK ? status : create_placed(p);
    if (status >= 0) {
        (void)ESPL__TAPED(p->world, link_placed(p), .op = ESPL_TAPE_COUNTERPARTS,
                          .entities = p->made, .parents = p->originals, .count = p->count);
        fill_references(p);
        if (out != NULL) {
            *out = p->made[0];
        }
    }
    end_placing(p);
    return status;
}

// Log why a call is refused. The handle of the original is one of the other world.
static espl_status refuse_placing(const placing *p, espl_status status)
{
    const espl__mention named[] = {{"parent", p->def->parent}, {"before", p->def->before}};

    return espl_entity_is_null(p->def->parent) || status == ESPL_ERR_EXISTS ||
                   espl__check_living(p->from, p->original) != ESPL_OK
               ? espl__refuse_why(p->world, placing_name, p->original, status,
                                  "The original, or an entity below it, has a counterpart in "
                                  "this world.")
               : espl__refuse_named(p->world, placing_name, named, 2, status, NULL);
}

espl_status espl_place_counterparts(espl_world *world, const espl_world *from, espl_entity original,
                                    const espl_placing_def *def, espl_entity *out)
{
    static const espl_placing_def whole;
    placing p = {
        .world = world, .from = from, .original = original, .def = def != NULL ? def : &whole};

    ESPL__CHANGE_OR_RETURN(world, placing_name)
    const char *const fault = find_placing_fault(&p);

    if (fault != NULL) {
        return espl__refuse_call(world, placing_name, ESPL_ERR_ARGUMENT, fault);
    }
    if (ESPL__ASKS_LATER(p.def)) {
        return espl__refuse_later(world, placing_name);
    }
    return refuse_placing(&p, place(&p, out));
}
