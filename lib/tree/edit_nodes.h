// SPDX-License-Identifier: MIT
// Changes of nodes in an edit: writes, inherit flags, transforms added and removed, clones and new nodes.
#ifndef ESPALIER_LIB_TREE_EDIT_NODES_H
#define ESPALIER_LIB_TREE_EDIT_NODES_H

#include "lib/tree/edit.h"

/// Write a placement. @return as espl__placement_write(), ESPL_ERR_NO_MEMORY.
espl_status espl__edit_write(espl__edit *edit, uint32_t slot, espl_write_kind kind,
                             const espl_write_value *value);
/// As espl__edit_write(), but a write of the local may be added to a run: the world of the node, and those
/// below, are out of date until espl__edit_end_run(), which precedes any other edit.
espl_status espl__edit_write_in_run(espl__edit *edit, uint32_t slot, espl_write_kind kind,
                                    const espl_write_value *value);
/// End the run of writes, as espl__edit_end_run() does where there is one.
void espl__edit_close_run(espl__edit *edit);
/// Bring the worlds of a run up to date, as far as an edit keeps them so. Where the context of the edit has
/// a batch of trees, the worlds of a small tree may be out of date until espl__tree_batch_finish().
static inline void espl__edit_end_run(espl__edit *edit)
{
    if (edit->run.tree != ESPL__NO_TREE) {
        espl__edit_close_run(edit);
    }
}

/// Change inherit flags. The flags are valid. @return as espl__placement_reattach(),
/// ESPL_ERR_NOT_CHILD (flags for a root), ESPL_ERR_NO_MEMORY.
espl_status espl__edit_set_inherit(espl__edit *edit, uint32_t slot, uint32_t flags);
/// Give a bare node a transform. Its descendants keep their worlds. @return ESPL_OK, ESPL_LOSSY (not all
/// of them can), ESPL_ERR_NO_MEMORY.
espl_status espl__edit_add_transform(espl__edit *edit, uint32_t slot, const espl_transform *value);
/// Remove the transform of a node. Its descendants keep their worlds. Statuses as
/// espl__edit_add_transform().
espl_status espl__edit_remove_transform(espl__edit *edit, uint32_t slot);

/// The top of a clone, or a created node: its links and its placement.
typedef struct espl__new_node {
    uint32_t parent, before; // ESPL__NO_SLOT for none, last
    uint8_t link, inherit;
    bool keeps_world;          // `placement` and `world` are those of a root, and `world` is kept
    bool is_bare;              // no transform: the placement is not read
    espl__placement placement; // espl__edit_prepare_new() writes `kept`, which is not read before
    espl_pose world;           // read where keeps_world
} espl__new_node;

/// The template of a node that is created, and is no copy.
extern const espl__template espl__template_of_none;
/// Find the owned closure of a node in its present state. The result is valid until the next call.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY.
espl_status espl__edit_find_template(espl__edit *edit, uint32_t slot, espl__template *out);
/// Return the placement of a copy of a node, and the world of the node: the local as it reads below
/// its parent, the stretch and user data that the children see, and no inherit flags.
espl__placement espl__edit_source_placement(espl__edit *edit, uint32_t slot, espl_pose *world);
/// Compute the placement and the world that a new node has below its parent, and store them in it.
/// @return ESPL_OK, ESPL_LOSSY, ESPL_ERR_RANGE.
espl_status espl__edit_prepare_new(espl__edit *edit, espl__new_node *place);
/// Make one copy of a template. The top gets the prepared links and placement, the others those of
/// their sources. The numbers of the new nodes are consecutive, in the order of the template.
/// @param made  out: number of the first one.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY: the edit must be undone.
espl_status espl__edit_clone(espl__edit *edit, const espl__template *source,
                             const espl__new_node *place, uint32_t *made);

#endif
