// SPDX-License-Identifier: MIT
// The past of nodes in edits (motion.h). A change of parent or of inherit flags is carried out on each
// earlier placement as on the present one, by the same function, relative to the worlds of that time. So a
// node that keeps its world keeps its earlier worlds as well, and nothing is blended that did not move. Where
// that is not exact, because a number is not finite or the result is lossy, the node was always where it is.
#ifndef ESPALIER_LIB_TREE_EDIT_PAST_H
#define ESPALIER_LIB_TREE_EDIT_PAST_H

#include "lib/tree/edit_links.h"
#include "lib/tree/edit_steps.h"

/// Return the frames that the children of a node see. Precondition: `now` is of that node, or NULL.
espl__frames espl__edit_frames(const espl__edit *edit, uint32_t slot, const espl__frame *now);
/// Return the frames that the children of a node will see, once it has a placement and no past.
espl__frames espl__edit_frames_of_new(const espl__edit *edit, uint32_t slot,
                                      const espl__placement *placement, const espl__frame *now);

/// Return the frames that the children of a node will see, once it has no transform.
espl__frames espl__edit_frames_of_bare(const espl__edit *edit, uint32_t slot,
                                       const espl__frame *now);

/// Compute the past of a node after a move to a parent, or to none. Preconditions: motion runs, and the node is not
/// linked to the parent yet. @param now  its placement after the change. @param room  out.
void espl__edit_past_moved(const espl__edit *edit, uint32_t slot, uint32_t parent,
                           const espl__attach_rules *rules, const espl__placement *now,
                           espl__past *room);
/// Return the past of a node that got or lost its transform, in `room`: none. NULL without motion.
const espl__past *espl__edit_past_none(const espl__edit *edit, espl__past *room);

/// Change the inherit flags of a node below its parent, snap the parts that the rules name, and commit the
/// change, now and in the past. @return as espl__placement_reattach(), or ESPL_ERR_NO_MEMORY.
espl_status espl__edit_reattach(espl__edit *edit, espl__node_change *change, espl__keep_rules stay,
                                uint32_t flags);

#endif
