// SPDX-License-Identifier: MIT
// The writes of flagged_writes.h.
#include "lib/tree/flagged_writes.h"

#include "lib/tree/jumps.h"

// Outside a tick the mark of the ordinary write makes the node one that was always where it is. So a write
// that carries keeps the past here, and gives it back before it moves it.
void espl__flagged_write_begin(espl__flagged_write *write, espl__forest *forest, uint32_t slot,
                               espl_write_kind kind)
{
    ESPL_CHECK(espl__write_exists(kind) && espl__write_flag(kind) != 0);
    // Stretch and user data have no past.
    const bool has_past = espl__write_kinds[espl__write_base(kind)].parts != 0;

    write->forest = forest;
    write->slot = slot;
    write->has_motion = espl__forest_has_motion(forest);
    write->flag = has_past ? espl__write_flag(kind) : 0;
    if (write->flag == ESPL_CARRY && write->has_motion) {
        write->placement = espl__slot_placement(forest, slot);
        write->past = espl__past_read(forest, slot);
    }
}

// Tell whether the ordinary write moved the node.
static bool is_moved(const espl__flagged_write *write)
{
    const espl__placement now = espl__slot_placement(write->forest, write->slot);

    return !espl__placement_is_posed_alike(&now, &write->placement);
}

void espl__flagged_write_end(const espl__flagged_write *write, espl_status status)
{
    espl__forest *const forest = write->forest;
    const uint32_t slot = write->slot;

    if (status < 0 || write->flag == 0) {
        return;
    }
    if (write->flag == ESPL_TELEPORT) {
        espl__note_jump(forest, slot);
    }
    if (!write->has_motion) {
        return;
    }
    if (write->flag == ESPL_TELEPORT) {
        espl__motion_teleport(forest, slot);
        return;
    }
    espl__past_store(forest, slot, &write->past);
    if (is_moved(write)) {
        espl__motion_carry(forest, slot, &write->placement);
    }
}

espl_status espl__previous_write(espl__forest *forest, uint32_t slot, espl_write_kind kind,
                                 const espl_write_value *value)
{
    ESPL_CHECK(espl__write_exists(kind) && espl__write_is_of_previous(kind));
    if (!espl__forest_has_motion(forest)) {
        return ESPL_ERR_UNSUPPORTED;
    }
    if (espl__slot_is(forest, slot, ESPL__SLOT_KEEPS) && espl__slot_copies(forest, slot)) {
        return ESPL_ERR_COPIES_PARENT;
    }
    return espl__motion_set_previous(forest, slot, kind, &value->pose);
}
