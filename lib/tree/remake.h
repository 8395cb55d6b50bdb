// SPDX-License-Identifier: MIT
// A forest that gets the contents of another world: it is made beside the old one, and then takes its place.
#ifndef ESPALIER_LIB_TREE_REMAKE_H
#define ESPALIER_LIB_TREE_REMAKE_H

#include "lib/tree/forest.h"

/// Make a forest with the settings and the planes of an old one, for so many slots and headers, whose
/// contents are undefined. @param pasts  arrays of earlier locals; 0: motion does not run.
/// @param takes_slots  memory of the old forest for slots may be used, where it has enough and not far too much.
///                     Then espl__forest_take_slots() follows before the columns are written.
/// @return false: no memory, nothing made.
bool espl__forest_begin(espl__forest *made, const espl__forest *old, uint32_t slots, uint32_t trees,
                        uint32_t pasts, bool takes_slots);
/// Give a forest that was begun without memory for its slots that of the old one, which can only be freed
/// from here on.
void espl__forest_take_slots(espl__forest *made, espl__forest *old);
/// Make the side arrays that the headers name, when these have their contents.
/// @return ESPL_OK; ESPL_ERR_NO_MEMORY; ESPL_ERR_FORMAT: no forest has such headers. The headers name the
///         side arrays that there are, whatever the status.
espl_status espl__forest_make_sides(espl__forest *made);
/// Build lists and counts when all arrays have their contents, and mark everything as changed.
/// @return false: ranges and headers do not cover the slots.
bool espl__forest_finish(espl__forest *made);

#endif
