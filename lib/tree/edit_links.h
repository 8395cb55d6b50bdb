// SPDX-License-Identifier: MIT
// Changes of links in an edit: attach, detach, sibling move, destroy.
#ifndef ESPALIER_LIB_TREE_EDIT_LINKS_H
#define ESPALIER_LIB_TREE_EDIT_LINKS_H

#include "lib/tree/edit.h"

/// Options of an attach.
typedef struct espl__attach_rules {
    espl__keep_rules stay;
    uint8_t link; // espl_link
    uint8_t inherit;
} espl__attach_rules;

/// Tell whether a node is a descendant of `top`, which has children.
bool espl__edit_is_below(const espl__edit *edit, uint32_t slot, uint32_t top);
/// Tell whether a node is `top` or a descendant of it.
static inline bool espl__edit_is_at_or_below(const espl__edit *edit, uint32_t slot, uint32_t top)
{
    // Fast path: most nodes that are linked elsewhere are leaves.
    return slot == top || (edit->forest->links[top].first_child != ESPL__NO_SLOT &&
                           espl__edit_is_below(edit, slot, top));
}
/// Attach a node to a parent. The parent may be the one that it has, so that options change only.
/// Precondition: the parent is not at or below the node.
/// @param before  a child of the parent, or ESPL__NO_SLOT: last under another parent, else
///                unchanged.
/// @return ESPL_OK, ESPL_LOSSY; refused, nothing changed: ESPL_ERR_NO_TRANSFORM, ESPL_ERR_RANGE;
///         ESPL_ERR_NO_MEMORY: the edit must be undone.
espl_status espl__edit_attach(espl__edit *edit, uint32_t child, uint32_t parent, uint32_t before,
                              const espl__attach_rules *rules);
/// Make a node a root; no effect on a root. Statuses as espl__edit_attach().
espl_status espl__edit_detach(espl__edit *edit, uint32_t slot, espl__keep_rules stay);
/// Move a member before a sibling, or last (ESPL__NO_SLOT). @return ESPL_OK, ESPL_ERR_NO_MEMORY.
espl_status espl__edit_set_sibling(espl__edit *edit, uint32_t slot, uint32_t before);
/// Destroy a node and its closure. Survivors are linked to the parent of the node, at its place
/// among the siblings, and keep their worlds. @return ESPL_OK, ESPL_LOSSY (not all of them can),
/// ESPL_ERR_NO_MEMORY (never with `destroyed`).
espl_status espl__edit_destroy(espl__edit *edit, uint32_t slot, espl_extent extent);

#endif
