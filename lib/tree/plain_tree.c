// SPDX-License-Identifier: MIT
// The rules of a tree, which validate.c checks one by one, say together of a plain tree in breadth-first order:
// each slot follows from those before it. So two loops without a call decide whether all of them hold. Which one
// does not hold is left to validate.c.
#include "lib/tree/plain_tree.h"

#include "lib/math/wide.h"

static bool is_header_plain(const espl__forest *forest, uint32_t number)
{
    const espl__tree *const tree = &forest->trees[number];

    return tree->live != 0 && tree->live == tree->used && tree->used <= tree->capacity &&
           tree->hole == ESPL__NO_SLOT && tree->roots == 1 && tree->exceptional == 0 &&
           tree->moved == 0 && tree->incoming == 0 && tree->flags == ESPL__TREE_IN_ORDER &&
           tree->side == 0 && forest->unsettled != number;
}

// Tell whether all slots of the range know the tree, and the used ones are nodes without a flag but for that of a
// free link.
static bool are_slots_plain(const espl__forest *forest, uint32_t number)
{
    const espl__tree *const tree = &forest->trees[number];
    const uint32_t end = tree->base + tree->used;
    uint32_t others = 0, entities = 0;
    unsigned flags = forest->flags[tree->base] != 0 ? ESPL__SLOT_BARE : 0; // a root has no link
    bool is_sound = true;

    for (uint32_t slot = tree->base; slot < tree->base + tree->capacity; ++slot) {
        others |= forest->tree[slot] ^ number;
    }
    for (uint32_t slot = tree->base; slot < end; ++slot) {
        flags |= forest->flags[slot];
        entities |= forest->links[slot].entity; // that of a hole has the bit ESPL__MADE
        is_sound =
            is_sound && espl__probe_is_sound(&forest->columns, slot, forest->links[slot].entity);
    }
    return others == 0 && (flags & ~(unsigned)ESPL__SLOT_FREE_LINK) == 0 &&
           (entities & ESPL__MADE) == 0 && is_sound;
}

// Tell whether the list of children that ends before a slot is closed on both sides.
static bool is_list_closed(const espl__links *links, uint32_t parent, uint32_t end)
{
    return links[end - 1].next == ESPL__NO_SLOT &&
           links[links[parent].first_child].previous == end - 1;
}

// Tell whether parents ascend, and the children of each are neighbours that name each other. Then as many nodes
// have a first child as there are lists.
static bool are_links_plain(const espl__forest *forest, const espl__tree *tree)
{
    const espl__links *const links = forest->links;
    const uint32_t *const parents = forest->parent;
    const uint32_t base = tree->base, end = base + tree->used;
    uint32_t parent = base, lists = 0;
    uint32_t inner = links[base].first_child != ESPL__NO_SLOT ? 1 : 0;

    if (parents[base] != ESPL__NO_SLOT || links[base].next != ESPL__NO_SLOT ||
        links[base].previous != ESPL__NO_SLOT) {
        return false;
    }
    for (uint32_t slot = base + 1; slot < end; ++slot) {
        const uint32_t up = parents[slot];

        if (up == parent && lists != 0) {
            if (links[slot - 1].next != slot || links[slot].previous != slot - 1) {
                return false;
            }
        } else {
            const bool is_next = lists == 0 ? up == base : up > parent && up < slot;

            if (!is_next || links[up].first_child != slot ||
                (lists != 0 && !is_list_closed(links, parent, slot))) {
                return false;
            }
            parent = up;
            lists += 1;
        }
        inner += links[slot].first_child != ESPL__NO_SLOT ? 1 : 0;
    }
    return inner == lists && (lists == 0 || is_list_closed(links, parent, end));
}

// Tell whether locals are finite with unit rotations, and worlds follow from them and are finite.
static bool are_worlds_plain(const espl__forest *forest, const espl__tree *tree)
{
    const uint32_t base = tree->base, end = base + tree->used;
    const espl__wide_pose root = espl__wide_load(&forest->local[base]);
    bool is_plain = espl__wide_is_same(root, espl__wide_load(&forest->world[base])) &&
                    espl__wide_is_unit(root) && espl__wide_is_finite(root);

    for (uint32_t slot = base + 1; slot < end && is_plain; ++slot) {
        const espl__wide_pose local = espl__wide_load(&forest->local[slot]);
        const espl__wide_pose world =
            espl__wide_compose(espl__wide_load(&forest->world[forest->parent[slot]]), local);
        const espl__wide_bits found = espl__wide_nonfinite(local) | espl__wide_nonfinite(world);

        is_plain = espl__wide_is_same(world, espl__wide_load(&forest->world[slot])) &&
                   espl__wide_is_unit(local) && espl__wide_found_nothing(found);
    }
    return is_plain;
}

bool espl__tree_is_plain(const espl__forest *forest, uint32_t number)
{
    const espl__tree *const tree = &forest->trees[number];

    return is_header_plain(forest, number) && are_slots_plain(forest, number) &&
           are_links_plain(forest, tree) && are_worlds_plain(forest, tree);
}
