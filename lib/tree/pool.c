// SPDX-License-Identifier: MIT
// The pool: the memory of all slots and tree headers, the free ranges, the free headers, and the
// list of unsettled trees. Each function that makes, moves or frees a
// tree takes and frees ranges here. A take
// needs a reserve before it and cannot fail then.
//
// A free range is in the list of its size class, and no two free ranges are neighbours: they are
// merged. A free range needs no memory of its own. At its first and at its last slot `tree` is
// ESPL__NO_TREE and links.first_child is its length, so that a neighbour that is freed finds it
// from either side. The first slot also has the links of the list.
#include "lib/tree/forest.h"

#include "lib/base/bits.h"
#include "lib/tree/changes.h"
#include "lib/tree/worlds.h"

#include <string.h>

// LINE is the size of a cache line.
enum { LINE = 64, FIRST_SLOT_CAPACITY = 64 };
// --enable-hard-move moves arrays in each reserve, so that tests find pointers that are kept across
// one.
#ifdef ESPL_HARD_MOVE
enum { ARRAYS_MOVE = 1 };
#else
enum { ARRAYS_MOVE = 0 };
#endif

// Columns are an odd number of cache lines apart, so that the same index of several columns does not
// fall into one cache set.
enum { SKEW = 5 * LINE };

#define COLUMN_NUMBER(access, type, name, role, initial) COLUMN_OF_##name,
#define COLUMN_SIZE(access, type, name, role, initial) sizeof(type),
// NOLINTNEXTLINE(bugprone-macro-parentheses): a term of a sum, which begins with its sign.
#define COLUMN_SUM(access, type, name, role, initial) +sizeof(type)
#define COLUMN_FITS(access, type, name, role, initial) \
    _Static_assert(_Alignof(type) <= LINE, "columns begin with a cache line");

// The columns by number, in their order in a block, and the bytes of their elements.
enum { ESPL__COLUMNS(COLUMN_NUMBER) COLUMN_COUNT };
static const size_t element_sizes[COLUMN_COUNT] = {ESPL__COLUMNS(COLUMN_SIZE)};
enum { SLOT_SIZE = 0 ESPL__COLUMNS(COLUMN_SUM) };

ESPL__COLUMNS(COLUMN_FITS)
_Static_assert((int)SLOT_SIZE == 89 || ESPL_CHECKS >= 2, "bytes of a slot without test columns");
_Static_assert(SKEW % (2 * LINE) == LINE, "an odd number of cache lines");

// --- Memory ---

void espl__forest_init(espl__forest *forest, espl__heap *heap)
{
    *forest = (espl__forest){.heap = heap,
                             .free_tree = ESPL__NO_TREE,
                             .free_low = ESPL__NO_TREE,
                             .unsettled = ESPL__NO_TREE,
                             .nursery = ESPL__NO_TREE,
                             .kernels = espl__kernels_best(),
                             .grain = ESPL__GRAIN};
    for (int i = 0; i < ESPL__SIZE_CLASSES; ++i) {
        forest->free_heads[i] = ESPL__NO_SLOT;
    }
}

void espl__forest_free(espl__forest *forest)
{
    for (uint32_t tree = 0; tree < forest->tree_end; ++tree) {
        espl__tree_free_side(forest, tree);
    }
    espl__sides_free(forest);
    espl__heap_give(forest->heap, ESPL__FOR_TREE, forest->trees, forest->tree_capacity,
                    sizeof *forest->trees, LINE);
    ESPL_ARRAY_FREE(forest->heap, ESPL__FOR_TREE, forest->loose);
    espl__heap_give(forest->heap, ESPL__FOR_TREE, forest->block, 1, forest->block_size, LINE);
    espl__tracks_free(forest->heap, &forest->tracks);
    espl__forest_init(forest, forest->heap);
}

// Return the capacity for `wanted` items: half as many again as now, because growth is amortised
// O(1) then. Precondition: `wanted` is at most `limit`.
static uint32_t grown(uint32_t capacity, size_t wanted, size_t limit)
{
    size_t next = capacity + (size_t)capacity / 2;

    ESPL_CHECK(wanted <= limit);
    // Only where arrays always move.
    if (wanted <= capacity) { // GCOVR_EXCL_BR_LINE
        return capacity;
    }
    next = next < wanted ? wanted : next;
    next = next < FIRST_SLOT_CAPACITY ? FIRST_SLOT_CAPACITY : next;
    return (uint32_t)(next > limit ? limit : next);
}

// Compute the offsets of the columns in a block.
// @return the size of the block in bytes. 0 where a size_t cannot hold it, which happens for 49
// million slots on a machine of 32 bits; an allocation of 0 bytes fails.
static size_t column_offsets(size_t offsets[COLUMN_COUNT], size_t capacity)
{
    const size_t most = (SIZE_MAX - COLUMN_COUNT * (SKEW + LINE - 1)) / SLOT_SIZE;
    size_t size = 0;

    // Only a machine of 32 bits reaches this limit.
    if (capacity > most) { // GCOVR_EXCL_BR_LINE
        return 0;
    }
    for (int i = 0; i < COLUMN_COUNT; ++i) {
        offsets[i] = size;
        size += (capacity * element_sizes[i] + SKEW + LINE - 1) & ~(size_t)(LINE - 1);
    }
    return size;
}

// Copy the first elements of a column to its place in another block. @return that place.
static void *move_column(unsigned char *to, const void *from, size_t count, size_t size)
{
    if (count != 0) {
        memcpy(to, from, count * size);
    }
    return to;
}

#define COLUMN_GROW(access, type, name, role, initial) \
    columns->name =                                    \
        move_column(block + offsets[COLUMN_OF_##name], columns->name, forest->end, sizeof(type));

// Move the columns to a larger block. Only slots below `end` are copied, because the others
// are undefined until a range that has them is taken. @return false: no memory, nothing changed.
static bool grow_slots(espl__forest *forest, uint32_t capacity)
{
    espl__columns *const columns = &forest->columns;
    size_t offsets[COLUMN_COUNT];
    const size_t size = column_offsets(offsets, capacity);

    if (!espl__heap_grow(forest->heap, ESPL__GROWTH_SLOTS, 0, capacity)) {
        return false;
    }
    unsigned char *const block = espl__heap_take(forest->heap, ESPL__FOR_TREE, 1, size, LINE);
    espl__tracks tracks = forest->tracks;

    ESPL_CHECK(capacity >= forest->end);
    if (block == NULL) {
        return false;
    }
    if (espl__forest_is_tracked(forest) &&
        !espl__tracks_make(forest->heap, &tracks, capacity, &forest->tracks, forest->end)) {
        espl__heap_give(forest->heap, ESPL__FOR_TREE, block, 1, size, LINE);
        return false;
    }
    ESPL__COLUMNS(COLUMN_GROW)
    espl__heap_give(forest->heap, ESPL__FOR_TREE, forest->block, 1, forest->block_size, LINE);
    forest->block = block;
    forest->block_size = size;
    forest->capacity = capacity;
    if (espl__forest_is_tracked(forest)) {
        espl__tracks_free(forest->heap, &forest->tracks);
        forest->tracks = tracks;
    }
    // For a follower, no slot is an end of a free range by chance.
    if (forest->heap->follower.grow != NULL) {
        memset(columns->tree + forest->end, 0, (capacity - forest->end) * sizeof *columns->tree);
    }
    for (uint32_t slot = forest->end; ESPL_CHECKS >= 2 && slot < capacity; ++slot) {
        espl__probe_clear(columns, slot);
    }
    return true;
}

// Move the headers to a larger array. @return false: no memory, nothing changed.
static bool grow_trees(espl__forest *forest, uint32_t capacity)
{
    espl__tree *const trees =
        espl__heap_grow(forest->heap, ESPL__GROWTH_TREES, 0, capacity)
            ? espl__heap_take(forest->heap, ESPL__FOR_TREE, capacity, sizeof *trees, LINE)
            : NULL;

    ESPL_CHECK(capacity >= forest->tree_end);
    if (trees == NULL) {
        return false;
    }
    if (forest->tree_end != 0) {
        memcpy(trees, forest->trees, forest->tree_end * sizeof *trees);
    }
    espl__heap_give(forest->heap, ESPL__FOR_TREE, forest->trees, forest->tree_capacity,
                    sizeof *trees, LINE);
    forest->trees = trees;
    forest->tree_capacity = capacity;
    return true;
}

// Tell whether a reserve moves an array: it is too small, or arrays move in each reserve of any
// room.
static bool must_grow(size_t wanted, uint32_t capacity, bool moves)
{
    return wanted > capacity || ((bool)ARRAYS_MOVE && moves && wanted != 0);
}

// Free ranges and free headers do not count, because the free ranges may all be too short.
espl_status espl__forest_reserve(espl__forest *forest, size_t slots, size_t trees)
{
    // Half of the range of a number, so that sums of two counts do not wrap.
    const size_t limit = UINT32_MAX / 2;
    size_t wanted = 0, wanted_trees = 0;

    if (!espl__size_add(&wanted, forest->end, slots) ||
        !espl__size_add(&wanted_trees, forest->tree_end, trees) || wanted > limit ||
        wanted_trees > limit) {
        return ESPL_ERR_LIMIT;
    }
    const bool moves = slots + trees != 0;

    if (must_grow(wanted, forest->capacity, moves) &&
        !grow_slots(forest, grown(forest->capacity, wanted, limit))) {
        return ESPL_ERR_NO_MEMORY;
    }
    if (must_grow(wanted_trees, forest->tree_capacity, moves) &&
        !grow_trees(forest, grown(forest->tree_capacity, wanted_trees, limit))) {
        return ESPL_ERR_NO_MEMORY;
    }
    ESPL_CHECK(forest->capacity - forest->end >= slots);
    ESPL_CHECK(forest->tree_capacity - forest->tree_end >= trees);
    return ESPL_OK;
}

bool espl__forest_lends_slots(const espl__forest *forest, uint32_t slots)
{
    return !ARRAYS_MOVE && slots <= forest->capacity && forest->capacity / 2 <= slots;
}

bool espl__forest_make_room(espl__forest *forest, uint32_t slots, uint32_t trees)
{
    ESPL_CHECK(forest->block == NULL && forest->tree_capacity == 0);
    return (slots == 0 || grow_slots(forest, slots)) && (trees == 0 || grow_trees(forest, trees));
}

// Return the larger of a capacity and a wanted one, which a reserve found within its limit.
static uint32_t larger(uint32_t a, size_t b)
{
    return a > b ? a : (uint32_t)b;
}

// The floors are never lowered here, so that a smaller reserve does not undo a larger one.
espl_status espl__forest_prepay(espl__forest *forest, size_t slots, size_t trees)
{
    const espl_status status = espl__forest_reserve(forest, slots, trees);

    if (status == ESPL_OK) {
        forest->floor = larger(forest->floor, forest->end + slots);
        forest->tree_floor = larger(forest->tree_floor, forest->tree_end + trees);
    }
    return status;
}

// --- Headers ---

// The header that was freed last is reused first, because its line is likely in the cache.
uint32_t espl__tree_take(espl__forest *forest)
{
    uint32_t tree = forest->free_tree;

    if (tree != ESPL__NO_TREE) {
        ESPL_CHECK(tree < forest->tree_end && forest->trees[tree].capacity == 0);
        forest->free_tree = forest->trees[tree].next;
        // The headers behind it are the lowest ones that no call took since.
        if (forest->free_low == tree) {
            forest->free_low = forest->free_tree;
        }
    } else {
        ESPL_CHECK(forest->tree_end < forest->tree_capacity);
        tree = forest->tree_end++;
    }
    forest->trees[tree] =
        (espl__tree){.hole = ESPL__NO_SLOT, .next = ESPL__NO_TREE, .previous = ESPL__NO_TREE};
    return tree;
}

// A free header has capacity 0, no flags, and `next` for the list of free headers.
void espl__tree_give(espl__forest *forest, uint32_t tree)
{
    ESPL_CHECK(tree < forest->tree_end && forest->trees[tree].side == 0);
    espl__tree_unmark_unsettled(forest, tree);
    forest->trees[tree] =
        (espl__tree){.hole = ESPL__NO_SLOT, .next = forest->free_tree, .previous = ESPL__NO_TREE};
    forest->free_tree = tree;
}

// Otherwise the numbers of later trees would depend on the order in which earlier trees were freed.
void espl__headers_forget(espl__forest *forest)
{
    ESPL_CHECK(forest->end == 0 && forest->free_slots == 0);
    ESPL_CHECK(forest->unsettled == ESPL__NO_TREE && forest->nursery == ESPL__NO_TREE);
    forest->tree_end = 0;
    forest->free_tree = forest->free_low = ESPL__NO_TREE;
}

void espl__tree_release(espl__forest *forest, uint32_t tree)
{
    const espl__tree *const header = &forest->trees[tree];

    espl__tree_free_side(forest, tree);
    if (header->capacity != 0) {
        espl__range_give(forest, header->base, header->capacity);
    }
    espl__tree_give(forest, tree);
}

// Range, header and node at once: a created entity is the most frequent new tree.
uint32_t espl__solo_make(espl__forest *forest, uint32_t entity, bool has_transform)
{
    const uint32_t tree = espl__tree_take(forest);
    const uint32_t slot = espl__range_take(forest, 1);
    espl__tree *const header = &forest->trees[tree];

    header->base = slot;
    header->capacity = header->used = header->live = header->roots = 1;
    header->flags = ESPL__TREE_IN_ORDER;
    espl__columns_make(&forest->columns, slot);
    espl__note_made(forest, slot);
    forest->parent[slot] = ESPL__NO_SLOT;
    forest->tree[slot] = tree;
    forest->links[slot] = (espl__links){ESPL__NO_SLOT, ESPL__NO_SLOT, ESPL__NO_SLOT, entity};
    ESPL_CHECK(entity != ESPL__NO_ENTITY);
    forest->flags[slot] = has_transform ? 0 : ESPL__SLOT_BARE;
    espl__probe_node(&forest->columns, slot, entity);
    return slot;
}

// --- Unsettled trees ---

void espl__tree_mark_unsettled(espl__forest *forest, uint32_t tree)
{
    espl__tree *const header = &forest->trees[tree];

    // Free headers use `next` for their own list.
    ESPL_CHECK(tree < forest->tree_end && header->capacity != 0);
    if ((header->flags & ESPL__TREE_UNSETTLED) != 0) {
        return;
    }
    header->flags |= ESPL__TREE_UNSETTLED;
    header->next = forest->unsettled;
    header->previous = ESPL__NO_TREE;
    if (forest->unsettled != ESPL__NO_TREE) {
        forest->trees[forest->unsettled].previous = tree;
    }
    forest->unsettled = tree;
}

void espl__tree_unmark_unsettled(espl__forest *forest, uint32_t tree)
{
    espl__tree *const header = &forest->trees[tree];

    if ((header->flags & ESPL__TREE_UNSETTLED) == 0) {
        return;
    }
    header->flags &= ~(unsigned)ESPL__TREE_UNSETTLED;
    if (header->previous != ESPL__NO_TREE) {
        ESPL_CHECK(forest->trees[header->previous].next == tree);
        forest->trees[header->previous].next = header->next;
    } else {
        ESPL_CHECK(forest->unsettled == tree);
        forest->unsettled = header->next;
    }
    if (header->next != ESPL__NO_TREE) {
        forest->trees[header->next].previous = header->previous;
    }
    header->next = header->previous = ESPL__NO_TREE;
}

// Merge two ascending lists of unsettled trees. Reads and writes `next` only.
static uint32_t merge_unsettled(espl__tree *trees, uint32_t a, uint32_t b)
{
    uint32_t first = ESPL__NO_TREE, *end = &first;

    while (a != ESPL__NO_TREE && b != ESPL__NO_TREE) {
        uint32_t *const lower = a < b ? &a : &b;

        *end = *lower;
        end = &trees[*lower].next;
        *lower = *end;
    }
    *end = a != ESPL__NO_TREE ? a : b;
    return first;
}

// Merge sort from the bottom up, because it needs no memory: lists[i] is ESPL__NO_TREE or an
// ascending list of 2^i trees. `previous` is written at the end.
void espl__sort_unsettled(espl__forest *forest)
{
    enum { LISTS_LIMIT = 32 };
    espl__tree *const trees = forest->trees;
    uint32_t lists[LISTS_LIMIT], sorted = ESPL__NO_TREE, previous = ESPL__NO_TREE;

    if (forest->unsettled == ESPL__NO_TREE || trees[forest->unsettled].next == ESPL__NO_TREE) {
        return;
    }
    for (uint32_t i = 0; i < LISTS_LIMIT; ++i) {
        lists[i] = ESPL__NO_TREE;
    }
    for (uint32_t tree = forest->unsettled, next = tree; tree != ESPL__NO_TREE; tree = next) {
        uint32_t list = tree, i = 0;

        next = trees[tree].next;
        trees[tree].next = ESPL__NO_TREE;
        for (; lists[i] != ESPL__NO_TREE; ++i) {
            list = merge_unsettled(trees, lists[i], list);
            lists[i] = ESPL__NO_TREE;
        }
        ESPL_CHECK(i < LISTS_LIMIT);
        lists[i] = list;
    }
    for (uint32_t i = 0; i < LISTS_LIMIT; ++i) {
        sorted = merge_unsettled(trees, lists[i], sorted);
    }
    for (uint32_t tree = sorted; tree != ESPL__NO_TREE; tree = trees[tree].next) {
        ESPL_CHECK(previous == ESPL__NO_TREE || previous < tree);
        trees[tree].previous = previous;
        previous = tree;
    }
    forest->unsettled = sorted;
}

// --- Free ranges ---

// Return the number of the highest bit that is set.
static unsigned highest_bit(uint32_t value)
{
    ESPL_CHECK(value != 0);
    return espl__highest_bit(value);
}

// Return the size class of a range. Sizes up to 15 have a class each, and each power of two above
// has eight, so that a range of a class is less than an eighth longer than the shortest one.
unsigned espl__size_class(uint32_t count)
{
    if (count < 16) {
        return count;
    }
    const unsigned octave = highest_bit(count);

    return 16 + (octave - 4) * 8 + ((count >> (octave - 3)) & 7u);
}

// Return the first class all of whose ranges have at least `count` slots: the class of the count,
// rounded up to the shortest range of a class.
static unsigned class_that_fits(uint32_t count)
{
    const unsigned step = count < 16 ? 0 : highest_bit(count) - 3;

    return espl__size_class(count + ((UINT32_C(1) << step) - 1));
}

// Return the first class from `from` on that has a free range, or ESPL__SIZE_CLASSES.
static unsigned first_filled_class(const espl__forest *forest, unsigned from)
{
    for (unsigned word = from / 64; word < ESPL__SIZE_CLASSES / 64; ++word) {
        const uint64_t above = word == from / 64 ? ~UINT64_C(0) << (from % 64) : ~UINT64_C(0);
        const uint64_t bits = forest->free_bits[word] & above;

        if (bits != 0) {
            return word * 64 + espl__lowest_bit(bits);
        }
    }
    return ESPL__SIZE_CLASSES;
}

// Insert a free range at the head of the list of its size class, and mark both of its ends.
static void list_range(espl__forest *forest, uint32_t base, uint32_t count)
{
    const unsigned class = espl__size_class(count);
    const uint32_t next = forest->free_heads[class];
    const uint32_t last = base + count - 1;

    ESPL_CHECK(count > 0 && last < forest->end && class < ESPL__SIZE_CLASSES);
    forest->tree[base] = forest->tree[last] = ESPL__NO_TREE;
    forest->links[base].first_child = forest->links[last].first_child = count;
    forest->links[base].next = next;
    forest->links[base].previous = ESPL__NO_SLOT;
    if (next != ESPL__NO_SLOT) {
        forest->links[next].previous = base;
    }
    forest->free_heads[class] = base;
    forest->free_bits[class / 64] |= UINT64_C(1) << (class % 64);
    forest->free_slots += count;
    if (espl__forest_is_tracked(forest)) {
        espl__mark_listed(forest, base, count);
    }
}

// Remove a free range from the list of its size class.
static void unlist_range(espl__forest *forest, uint32_t base)
{
    ESPL_CHECK(base < forest->end && forest->tree[base] == ESPL__NO_TREE);
    const uint32_t count = forest->links[base].first_child;
    const unsigned class = espl__size_class(count);
    const uint32_t next = forest->links[base].next, previous = forest->links[base].previous;

    ESPL_CHECK(count <= forest->free_slots);
    ESPL_CHECK(previous != ESPL__NO_SLOT || forest->free_heads[class] == base);
    if (previous != ESPL__NO_SLOT) {
        forest->links[previous].next = next;
    } else {
        forest->free_heads[class] = next;
    }
    if (next != ESPL__NO_SLOT) {
        forest->links[next].previous = previous;
    }
    if (forest->free_heads[class] == ESPL__NO_SLOT) {
        forest->free_bits[class / 64] &= ~(UINT64_C(1) << (class % 64));
    }
    forest->free_slots -= count;
    // Its ends may be in the middle of another range afterwards: no slot but an end has ESPL__NO_TREE.
    forest->tree[base] = forest->tree[base + count - 1] = 0;
    if (espl__forest_is_tracked(forest)) {
        espl__mark_unlisted(forest, base, count);
    }
}

// Choose the size class to take from. The class of the count itself has shorter ranges as well, so
// that only the head of its list is tried: a tree of the same size that was just freed is reused by
// it.
static unsigned choose_class(const espl__forest *forest, uint32_t count)
{
    const unsigned own = espl__size_class(count);
    const uint32_t last = forest->free_heads[own];

    return last != ESPL__NO_SLOT && forest->links[last].first_child >= count
               ? own
               : first_filled_class(forest, class_that_fits(count));
}

// A free range that is longer is split, and its upper part stays free. Without a free range that
// fits the pool grows by the range.
uint32_t espl__range_take(espl__forest *forest, uint32_t count)
{
    const unsigned class = choose_class(forest, count);
    uint32_t base = forest->end;

    ESPL_CHECK(count > 0);
    if (class == ESPL__SIZE_CLASSES) {
        ESPL_CHECK(count <= forest->capacity - forest->end);
        forest->end += count;
        // Some of the slots may have been in use before the end moved down.
        if (espl__plane_is_open(&forest->tracks.planes[ESPL__PLANE_PLACE])) {
            espl__plane_mark_range(&forest->tracks.planes[ESPL__PLANE_PLACE], base, forest->end);
        }
    } else {
        base = forest->free_heads[class];
        const uint32_t found = forest->links[base].first_child;

        ESPL_CHECK(found >= count);
        unlist_range(forest, base);
        if (found > count) {
            list_range(forest, base + count, found - count);
        }
    }
    // Any tree number, so that a neighbour that is freed does not take the range for a free one
    // before the owner writes its own number.
    forest->tree[base] = forest->tree[base + count - 1] = 0;
    return base;
}

// Free neighbours on both sides are merged with the range first, so that no two free ranges are
// neighbours.
void espl__range_give(espl__forest *forest, uint32_t base, uint32_t count)
{
    ESPL_CHECK(count > 0 && count <= forest->end && base <= forest->end - count);
    if (base > 0 && forest->tree[base - 1] == ESPL__NO_TREE) {
        const uint32_t before = forest->links[base - 1].first_child;

        base -= before;
        count += before;
        unlist_range(forest, base);
    }
    if (base + count < forest->end && forest->tree[base + count] == ESPL__NO_TREE) {
        const uint32_t behind = base + count;

        count += forest->links[behind].first_child;
        unlist_range(forest, behind);
    }
    // No free range is at the end of the pool: the end moves down instead.
    if (base + count == forest->end) {
        forest->end = base;
        return;
    }
    list_range(forest, base, count);
}

// --- Validation ---

// Tell whether a free range is in the list of its size class: its neighbours there link to it.
static bool is_range_listed(const espl__forest *forest, uint32_t base)
{
    const espl__links *const links = &forest->links[base];
    const unsigned class = espl__size_class(links->first_child);
    const bool is_first = links->previous == ESPL__NO_SLOT;

    if ((!is_first && links->previous >= forest->end) ||
        (links->next != ESPL__NO_SLOT && links->next >= forest->end)) {
        return false;
    }
    return (is_first ? forest->free_heads[class] : forest->links[links->previous].next) == base &&
           (links->next == ESPL__NO_SLOT || forest->links[links->next].previous == base) &&
           (forest->free_bits[class / 64] >> (class % 64) & 1) != 0;
}

// Count the headers without a range.
static uint32_t count_free_headers(const espl__forest *forest)
{
    uint32_t count = 0;

    for (uint32_t tree = 0; tree < forest->tree_end; ++tree) {
        count += forest->trees[tree].capacity == 0 ? 1 : 0;
    }
    return count;
}

// Tell whether the list of free headers has each of them once. A list that visits as many free
// headers as there are, and ends then, visits none twice.
static bool are_headers_listed(const espl__forest *forest)
{
    const uint32_t unused = count_free_headers(forest);
    uint32_t listed = 0;

    for (uint32_t tree = forest->free_tree; tree != ESPL__NO_TREE;
         tree = forest->trees[tree].next) {
        if (tree >= forest->tree_end || forest->trees[tree].capacity != 0 || listed == unused) {
            return false;
        }
        listed += 1;
    }
    return listed == unused;
}

// Tell whether a free range is marked at its ends alone and a range of a tree follows it.
static bool is_range_merged(const espl__forest *forest, uint32_t base, uint32_t count)
{
    const uint32_t behind = base + count;

    for (uint32_t slot = base + 1; slot + 1 < behind; ++slot) {
        if (forest->tree[slot] == ESPL__NO_TREE) {
            return false;
        }
    }
    return forest->tree[behind - 1] == ESPL__NO_TREE &&
           forest->links[behind - 1].first_child == count && behind != forest->end &&
           forest->tree[behind] != ESPL__NO_TREE;
}

// Each step goes to the end of the range that begins at `slot`. So the walk reaches the end of the
// pool exactly where ranges cover it without gap or overlap, and the counts are compared
// afterwards.
const char *espl__pool_broken_rule(const espl__forest *forest)
{
    uint32_t slot = 0, free_slots = 0, trees = 0;

    while (slot < forest->end) {
        const uint32_t tree = forest->tree[slot];
        const bool is_free = tree == ESPL__NO_TREE;

        if (!is_free && (tree >= forest->tree_end || forest->trees[tree].base != slot)) {
            return "free ranges and trees tile the pool";
        }
        const uint32_t count =
            is_free ? forest->links[slot].first_child : forest->trees[tree].capacity;
        if (count == 0 || count > forest->end - slot) {
            return "free ranges and trees stay inside the pool";
        }
        if (is_free && !is_range_merged(forest, slot, count)) {
            return "free ranges are merged and marked at both ends";
        }
        if (is_free && !is_range_listed(forest, slot)) {
            return "free ranges are listed by their size";
        }
        free_slots += is_free ? count : 0;
        trees += is_free ? 0 : 1;
        slot += count;
    }
    // The loop visited each range once, so that no other header has slots.
    if (trees + count_free_headers(forest) != forest->tree_end) {
        return "free ranges and trees tile the pool";
    }
    if (free_slots != forest->free_slots) {
        return "free slots are counted";
    }
    return are_headers_listed(forest) ? NULL : "free headers are in one list";
}
