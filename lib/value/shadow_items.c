// SPDX-License-Identifier: MIT
// The items of a shadow: how they are read from the world, and exchanged.
#include "lib/value/checksum.h"
#include "lib/value/shadow.h"
#include "lib/value/wire.h"

#include <string.h>

enum { LARGEST = ESPL_SET_LIMIT * sizeof(espl_component) }; // bytes of an item

_Static_assert((int)LARGEST >= (int)sizeof(espl__past) &&
                   sizeof(espl__past) >= sizeof(espl__shadow_tree) &&
                   sizeof(espl__past) >= sizeof(espl__shadow_side),
               "room for each item");
_Static_assert(offsetof(espl__shadow_slot, lineage) - offsetof(espl__shadow_slot, flags) == 4,
               "a slot ends with four bytes");

// Return the checksum of an item on a machine whose numbers have their highest byte first.
static uint64_t checksum_of_turned(espl__shadow_kind kind, uint32_t number, const void *item,
                                   size_t size)
{
    const size_t words = (kind == ESPL__SHADOW_SLOT ? size - 4 : size) / 4;
    unsigned char turned[LARGEST];

    ESPL_CHECK(size <= sizeof turned && size % 4 == 0);
    espl__wire_store_words(turned, item, words);
    memcpy(turned + words * 4, (const unsigned char *)item + words * 4, size - words * 4);
    return espl__checksum_item(kind, number, turned, size);
}

// Inline, so that sizes are constants.
ESPL__INLINE uint64_t checksum_of(espl__shadow_kind kind, uint32_t number, const void *item,
                                  size_t size)
{
    return espl__wire_is_native() ? espl__checksum_item(kind, number, item, size)
                                  : checksum_of_turned(kind, number, item, size);
}

uint64_t espl__shadow_checksum_of(espl__shadow_kind kind, uint32_t number, const void *item,
                                  size_t size)
{
    return checksum_of(kind, number, item, size);
}

// Inline, so that sizes are constants.
ESPL__INLINE void put_sized(espl__shadow *shadow, espl__shadow_kind kind, uint32_t number, void *to,
                            const void *from, size_t size, size_t hashed)
{
    static const unsigned char none[sizeof(espl__past)];

    if (memcmp(to, from, size) == 0) {
        return;
    }
    if (shadow->has_checksum && memcmp(to, none, hashed) != 0) {
        shadow->checksum -= checksum_of(kind, number, to, hashed);
    }
    if (shadow->has_checksum && memcmp(from, none, hashed) != 0) {
        shadow->checksum += checksum_of(kind, number, from, hashed);
    }
    if (shadow->log != NULL) {
        espl__undo_push(
            shadow->log,
            &(espl__undo_key){.kind = (uint8_t)kind, .number = number, .size = (uint32_t)size}, to);
    }
    memcpy(to, from, size);
}

void espl__shadow_put(espl__shadow *shadow, espl__shadow_kind kind, uint32_t number, void *to,
                      const void *from, size_t size, size_t hashed)
{
    put_sized(shadow, kind, number, to, from, size, hashed);
}

void espl__shadow_put_local(espl__shadow *shadow, uint32_t slot, const espl_pose *local)
{
    put_sized(shadow, ESPL__SHADOW_LOCAL, slot, &shadow->slots[slot].local, local, sizeof *local,
              sizeof *local);
}

void espl__shadow_put_slot(espl__shadow *shadow, uint32_t slot, const espl__shadow_slot *item)
{
    const size_t begin = offsetof(espl__shadow_slot, links);
    unsigned char *const to = (unsigned char *)&shadow->slots[slot];

    espl__shadow_put_local(shadow, slot, &item->local);
    put_sized(shadow, ESPL__SHADOW_SLOT, slot, to + begin, (const unsigned char *)item + begin,
              sizeof *item - begin, offsetof(espl__shadow_slot, lineage) - begin);
}

// Return the tree in whose range a slot is, or ESPL__NO_TREE. Slots of free ranges have any number.
uint32_t espl__shadow_tree_at(const espl__forest *forest, uint32_t slot)
{
    const uint32_t tree = forest->tree[slot];

    return tree < forest->tree_end && slot - forest->trees[tree].base < forest->trees[tree].capacity
               ? tree
               : ESPL__NO_TREE;
}

// Read a slot that belongs to a tree.
static void read_slot_of_tree(const espl__forest *forest, uint32_t slot, espl__shadow_slot *out)
{
    const uint32_t follows = ESPL__SLOT_SIDE | ESPL__SLOT_EXCEPTIONAL;
    const espl__links *const links = &forest->links[slot];

    out->tree = forest->tree[slot];
    out->parent = forest->parent[slot];
    if (links->entity == ESPL__NO_ENTITY) {
        out->kind = ESPL__SHADOW_HOLE;
        out->links = (espl__links){.next = links->next, .entity = ESPL__NO_ENTITY};
        return;
    }
    out->kind = ESPL__SHADOW_NODE;
    out->local = forest->local[slot];
    out->links = *links;
    out->flags = (uint8_t)(forest->flags[slot] & ~follows);
#if ESPL_CHECKS >= 2
    out->lineage = forest->lineage[slot];
#endif
}

// Read an end of a free range. The last slot of several has no links to other ranges.
static void read_free_end(const espl__forest *forest, uint32_t slot, espl__shadow_slot *out)
{
    const espl__links *const links = &forest->links[slot];

    out->kind = ESPL__SHADOW_FREE_END;
    out->tree = ESPL__NO_TREE;
    out->links = (espl__links){links->first_child, links->next, links->previous, 0};
}

void espl__shadow_read_slot(const espl__forest *forest, uint32_t slot, espl__shadow_slot *out)
{
    *out = (espl__shadow_slot){.kind = ESPL__SHADOW_UNUSED};
    if (slot >= forest->end) {
        return;
    }
    const uint32_t tree = espl__shadow_tree_at(forest, slot);

    if (tree == ESPL__NO_TREE) {
        if (forest->tree[slot] == ESPL__NO_TREE) {
            read_free_end(forest, slot, out);
        }
    } else if (slot - forest->trees[tree].base < forest->trees[tree].used) {
        read_slot_of_tree(forest, slot, out);
    }
}

// The default is no item, so that it does not matter whether there are side arrays.
espl__shadow_side espl__shadow_read_side(const espl__forest *forest, uint32_t slot, bool is_node)
{
    const espl__shadow_side none = {espl__extra_default(), espl__kept_none()};
    espl__shadow_side side = none;

    if (!is_node) {
        return (espl__shadow_side){0};
    }
    if (!espl__slot_copies(forest, slot)) {
        side.extra = espl__slot_extra(forest, slot);
    }
    side.kept = espl__slot_kept(forest, slot);
    if (memcmp(&side, &none, sizeof side) == 0) {
        return (espl__shadow_side){0};
    }
    return side;
}

espl__cell espl__shadow_read_cell(const espl__forest *forest, uint32_t slot, bool is_node)
{
    return is_node && espl__is_root(forest, slot) ? forest->tracks.cells[slot]
                                                  : (espl__cell){{0, 0, 0}};
}

espl__past espl__shadow_read_past(const espl__forest *forest, uint32_t slot, bool is_node)
{
    const uint32_t pasts = espl__tracks_past_count(&forest->tracks);
    espl__past past = {0};

    if (pasts != 0 && is_node) {
        const espl__past read = espl__past_read(forest, slot);

        for (uint32_t time = 0; time < pasts; ++time) {
            past.local[time] = read.local[time];
            past.kept[time] = read.kept[time];
        }
    }
    return past;
}

void espl__shadow_read_tree(const espl__forest *forest, uint32_t number, espl__shadow_tree *out)
{
    *out = (espl__shadow_tree){.tree = {0}};
    if (number < forest->tree_end) {
        const espl__tree *const tree = &forest->trees[number];
        const espl__side *const side = espl__side_of(forest, tree);

        out->tree = *tree;
        out->tree.side_number = 0;
        if ((tree->flags & ESPL__TREE_UNSETTLED) != 0) {
            out->tree.next = out->tree.previous = ESPL__NO_TREE;
        }
        if (side != NULL) {
            out->extra_count = side->extra_count;
            out->kept_count = side->kept_count;
            out->is_prepaid = side->is_prepaid;
        }
    }
}
