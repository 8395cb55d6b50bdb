// SPDX-License-Identifier: MIT
// espl_copy_world_transforms(): a batch of writes whose values are read from a world.
//
// The values lie in the scratch memory of batches, behind the arrays of the batch itself. All of them are read
// before any is written, so that a copy within one world does not depend on the order of its entries.
#include "lib/tree/cells.h"
#include "lib/world/batch.h"
#include "lib/world/entity_slots.h"
#include "lib/world/read.h"
#include "lib/world/refusals.h"

#include <string.h>

// What is read, in scratch memory.
typedef struct values {
    espl_transform *transforms; // [count]
    espl_status *readable;      // [count]
} values;

// Place the arrays of `count` values in a block, behind those of a batch.
// @param block  NULL: only measure.
// @return bytes.
static size_t carve_values(values *v, unsigned char *block, size_t count)
{
    size_t at = espl__writes_size(count);

    v->transforms = espl__carve(block, &at, count, sizeof *v->transforms, 16);
    v->readable = espl__carve(block, &at, count, sizeof *v->readable, 16);
    return at;
}

// Bring the positions that were read to the cells of the entities that get them. Those of an entity that
// cannot be written stay.
static void bring_to_cells(const espl_world *to, const espl_world *from, const espl__entries *e,
                           espl_transform *transforms)
{
    for (size_t i = 0; i < e->count; ++i) {
        uint32_t source = 0, target = 0;
        bool is_far = false;
        double position[3];

        if (espl__find_placed(from, espl__handle_at(&e->sources, i), &source) == ESPL_OK &&
            espl__find_placed(to, espl__handle_at(&e->handles, i), &target) == ESPL_OK) {
            const espl__cell_shift shift =
                espl__cell_shift_of(&to->forest, espl__cell_of(&from->forest, source),
                                    espl__cell_of(&to->forest, target));

            // Cells of one size: the difference of integers is exact, and none keeps the bits.
            if (from->forest.cell_size == to->forest.cell_size) {
                espl__position_shift(transforms[i].position, &shift);
                continue;
            }
            espl__absolute_position(&from->forest, source, transforms[i].position, position);
            espl__cell_relative(&to->forest, target, position, transforms[i].position, &is_far);
        }
    }
}

// Read the values of entries into the scratch memory of a world. Those that cannot be read are the identity.
static espl_status read_values(espl_world *to, const espl_world *from, espl__entries *e)
{
    values v;

    if (e->count > ESPL__ENTRIES_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    if (to->is_playing) {
        return ESPL_ERR_BUSY;
    }
    const espl_status status = espl__scratch_grow(&to->heap, ESPL__FOR_COMMANDS, &to->write_scratch,
                                                  carve_values(&v, NULL, e->count));

    if (status != ESPL_OK) {
        return status;
    }
    (void)carve_values(&v, to->write_scratch.block, e->count);
    if (!espl__read_worlds(from, e->sources, e->count, v.transforms, v.readable)) {
        for (size_t i = 0; i < e->count; ++i) {
            v.transforms[i] =
                v.readable[i] == ESPL_OK ? v.transforms[i] : espl_transform_identity();
        }
    }
    if (espl__forest_has_cells(&to->forest) || espl__forest_has_cells(&from->forest)) {
        bring_to_cells(to, from, e, v.transforms);
    }
    e->values = (const unsigned char *)v.transforms;
    e->readable = v.readable;
    return ESPL_OK;
}

static const char *find_fault(const espl_world *from, const espl_copy *copies, size_t count)
{
    if (from == NULL) {
        return "from is NULL.";
    }
    return copies == NULL && count != 0 ? "copies is NULL, but the count is not 0." : NULL;
}

espl_status espl_copy_world_transforms(espl_world *to, const espl_world *from,
                                       const espl_copy *copies, size_t count,
                                       espl_write_report *report)
{
    const char *const fault = find_fault(from, copies, count);
    espl__entries e = {.call = "espl_copy_world_transforms",
                       .value_size = sizeof(espl_transform),
                       .kind = ESPL_WRITE_WORLD_TRANSFORM,
                       .count = count};

    ESPL__CHANGE_OR_RETURN(to, e.call)
    if (to != NULL && fault == NULL && count != 0) {
        e.handles = (espl__handles){(const unsigned char *)&copies->to, sizeof *copies};
        e.sources = (espl__handles){(const unsigned char *)&copies->from, sizeof *copies};
        const espl_status status = read_values(to, from, &e);

        if (status != ESPL_OK) {
            if (report != NULL) {
                *report = (espl_write_report){0};
            }
            return espl__refuse_call(to, e.call, status, NULL);
        }
    }
    return espl__write_entries(to, &e, fault, report);
}
