// SPDX-License-Identifier: MIT
// Saving a world: its head and tables, then the areas of the manifest. The size and the bytes come from one
// walk, so that they agree.
#include "lib/value/image.h"

#include "lib/tree/motion.h"
#include "lib/value/checksum.h"
#include "lib/value/manifest.h"
#include "lib/world/refusals.h"

#include <espalier/image.h>

#include <string.h>

const unsigned char espl__image_magic[8] = {0x89, 'E', 'S', 'P', 'I', '\r', '\n', 0x1a};

// --- Gaps: slots without a node ---

typedef enum gap_kind {
    GAP_HOLE,   // one slot of a tree
    GAP_UNUSED, // slots of a tree behind the used ones
    GAP_FREE,   // a free range
    GAP_NONE,   // there is no further gap
} gap_kind;

typedef struct gap {
    gap_kind kind;
    uint32_t begin, end;
} gap;

// A walk over the gaps of a forest, in the order of slots.
typedef struct gaps {
    const espl__forest *forest;
    uint32_t range;      // where the next range begins
    uint32_t slot, used; // of the present tree with holes: where to look on, and the end
    gap present;
} gaps;

// Go to the next hole of the present tree. @return false: there is none.
static bool next_hole(gaps *g)
{
    while (g->slot < g->used) {
        const uint32_t slot = g->slot++;

        if (g->forest->links[slot].entity == ESPL__NO_ENTITY) {
            g->present = (gap){GAP_HOLE, slot, slot + 1};
            return true;
        }
    }
    return false;
}

static void next_gap(gaps *g)
{
    const espl__forest *const forest = g->forest;

    if (g->slot < g->used && next_hole(g)) {
        return;
    }
    // The unused slots of a tree with holes come after them.
    while (g->range < forest->end) {
        const uint32_t begin = g->range, number = forest->tree[begin];

        if (number == ESPL__NO_TREE) {
            g->range = begin + forest->links[begin].first_child;
            g->present = (gap){GAP_FREE, begin, g->range};
            return;
        }
        const espl__tree *const tree = &forest->trees[number];

        if (g->used != begin + tree->used && tree->live != tree->used) {
            g->slot = begin;
            g->used = begin + tree->used;
            if (next_hole(g)) {
                return;
            }
        }
        g->range = begin + tree->capacity;
        if (tree->used != tree->capacity) {
            g->present = (gap){GAP_UNUSED, begin + tree->used, g->range};
            return;
        }
    }
    g->present = (gap){GAP_NONE, UINT32_MAX, UINT32_MAX};
}

// --- Writer ---

enum {
    PIECE = 4096, // bytes that are collected, then copied to the image: they stay in the cache
    LONGEST = 64, // an element that begins in a piece
};

// What an image is written to. Without bytes it is only counted.
typedef struct writer {
    const espl_world *world;
    unsigned char *bytes; // NULL: counted
    size_t at;            // in the image, of the begin of the piece
    size_t used;          // of the piece
    bool passes_cache;    // the image is larger than what stays in the cache until it is read
    espl__checksum checksum;
    _Alignas(64) unsigned char piece[PIECE + LONGEST];
} writer;

// Copy bytes to the image. @param ahead  what comes after them, or NULL.
static void copy_on(writer *w, const void *bytes, size_t size, const void *ahead)
{
    espl__checksum_copy(&w->checksum,
                        &(espl__copying){w->bytes + w->at, bytes, size, ahead, w->passes_cache});
    w->at += size;
}

// Count bytes that were put behind the used ones of the piece, and copy the piece where it is full.
static void use(writer *w, size_t size, const void *ahead)
{
    w->used += size;
    if (w->used >= PIECE) {
        copy_on(w, w->piece, PIECE, ahead);
        w->used -= PIECE;
        memcpy(w->piece, w->piece + PIECE, w->used);
    }
}

// Copy bytes, in pieces that begin at multiples of their size from the begin of the image.
static void put_bytes(writer *w, const unsigned char *bytes, size_t size)
{
    while (size != 0) {
        const size_t room = PIECE - w->used, count = size < room ? size : room;

        if (count == PIECE) {
            copy_on(w, bytes, PIECE, NULL);
        } else {
            memcpy(w->piece + w->used, bytes, count);
            use(w, count, bytes + count);
        }
        bytes += count;
        size -= count;
    }
}

// The rest up to a multiple of 8 is 0. @param size  so far, of the area or entry.
static void put_rest(writer *w, size_t size)
{
    static const unsigned char zeros[8];

    put_bytes(w, zeros, espl__image_room(size) - size);
}

static void put(writer *w, const void *bytes, size_t size)
{
    if (w->bytes == NULL) {
        w->at += espl__image_room(size);
        return;
    }
    put_bytes(w, bytes, size);
    put_rest(w, size);
}

// --- Head and tables ---

// Bytes of the tables, by the same functions that write them.
static void put_components(writer *w)
{
    const espl__store *const store = &w->world->store;
    const uint32_t count = atomic_load_explicit(&store->component_count, memory_order_relaxed);

    for (espl_component number = 1; number <= count; ++number) {
        const espl__component_info *const info = espl__component_info_of(store, number);
        const size_t length = strlen(info->name);
        const espl__image_component entry = {
            info->size,       info->alignment, info->reference_count,
            (uint32_t)length, info->version,   info->flags};

        put(w, &entry, sizeof entry);
        put(w, info->references, info->reference_count * sizeof *info->references);
        put(w, info->name, length);
    }
}

static void put_archetypes(writer *w)
{
    const espl__store *const store = &w->world->store;
    const size_t count = espl__array_length(store->archetypes);

    for (size_t i = 0; i < count; ++i) {
        const espl__archetype *const archetype = &store->archetypes[i];
        const size_t components = espl__array_length(archetype->set);
        const espl__image_set entry = {(uint32_t)components, (uint32_t)archetype->count};

        put(w, &entry, sizeof entry);
        put(w, archetype->set, components * sizeof *archetype->set);
    }
}

// The names by index, because their order in the table depends on the past.
static void put_names(writer *w)
{
    const espl__store *const store = &w->world->store;
    const uint32_t records = (uint32_t)espl__array_length(store->records);

    for (uint32_t index = 0; store->names.count != 0 && index < records; ++index) {
        const espl__name *const name = espl__name_of(&store->names, index);

        if (name != NULL) {
            const espl__image_name entry = {index, name->size};

            put(w, &entry, sizeof entry);
            put(w, name->text, name->size);
        }
    }
}

// The bytes that names take, without a look at each entity.
static size_t names_size(const espl__names *names)
{
    size_t size = 0;

    for (size_t i = 0; i < names->capacity; ++i) {
        const espl__name *const name = names->entries[i].name;

        size += name != NULL
                    ? espl__image_room(sizeof(espl__image_name)) + espl__image_room(name->size)
                    : 0;
    }
    return size;
}

// The originals by the index of their counterparts.
static void put_originals(writer *w)
{
    const espl__store *const store = &w->world->store;
    const uint32_t records = (uint32_t)espl__array_length(store->records);

    for (uint32_t index = 0; store->counterparts.count != 0 && index < records; ++index) {
        const espl__image_original entry = {index, 0,
                                            espl__original_of(&store->counterparts, index)};

        if (!espl_entity_is_null(entry.original)) {
            put(w, &entry, sizeof entry);
        }
    }
}

_Static_assert(sizeof(espl__image_original) == 16, "entries of a table end at a multiple of 8");

// The bytes that a table takes.
static size_t image_table_size(const espl_world *world, void (*put_table)(writer *))
{
    writer w = {.world = world};

    put_table(&w);
    return w.at;
}

espl__image_head espl__image_head_of(const espl_world *world)
{
    const espl__store *const store = &world->store;
    const espl__forest *const forest = &world->forest;
    espl__image_head head = {
        .layout = espl_image_layout(),
        .tag = store->tag,
        .components = atomic_load_explicit(&store->component_count, memory_order_relaxed),
        .archetypes = (uint32_t)espl__array_length(store->archetypes),
        .names = (uint32_t)store->names.count,
        .names_size = names_size(&store->names),
        .sets_size = image_table_size(world, put_archetypes),
        .registry_size = image_table_size(world, put_components),
        .records = (uint32_t)espl__array_length(store->records),
        .free_head = store->free_count == 0 ? ESPL__NONE : store->free_head,
        .free_count = (uint32_t)store->free_count,
        .alive_count = (uint32_t)store->alive_count,
        .retired_count = (uint32_t)store->retired_count,
        .slots = forest->end,
        .trees = forest->tree_end,
        .free_tree = forest->free_tree,
        .pasts = espl__tracks_past_count(&forest->tracks),
        .is_ticking = espl__forest_has_motion(forest) && forest->tracks.is_ticking ? 1 : 0,
        .has_overflowed = forest->context.has_overflowed ? 1 : 0,
        .least_generation = store->least_generation,
        .originals = (uint32_t)store->counterparts.count,
    };

    memcpy(head.magic, espl__image_magic, sizeof head.magic);
    memcpy(&head.cell_size, &forest->cell_size, sizeof head.cell_size);
    return head;
}

// --- Areas ---

// Return the links of a slot without a node.
static espl__links links_in_gap(const espl__forest *forest, const gap *g, uint32_t slot)
{
    const espl__links *const links = &forest->links[slot];
    espl__links out = {0, 0, 0, g->kind == GAP_FREE ? 0 : ESPL__NO_ENTITY};

    if (g->kind == GAP_HOLE) {
        out.next = links->next;
    } else if (g->kind == GAP_FREE && slot == g->begin) {
        out = (espl__links){links->first_child, links->next, links->previous, 0};
    } else if (g->kind == GAP_FREE && slot == g->end - 1) {
        out.first_child = links->first_child;
    }
    return out;
}

// Clear elements of a copy of an area by slot that are in a gap. @param to  of slot `begin`.
static void clear_gap(const writer *w, const espl__area *area, const gap *g, unsigned char *to,
                      uint32_t begin, uint32_t end)
{
    if (area->kind == ESPL__AREA_LINKS) {
        for (uint32_t slot = begin; slot < end; ++slot) {
            const espl__links links = links_in_gap(&w->world->forest, g, slot);

            memcpy(to + (slot - begin) * sizeof links, &links, sizeof links);
        }
        return;
    }
    // Slots know the tree that they belong to, and a hole the base of its range. The flags of a hole depend on
    // what became of its tree since.
    if ((area->kind == ESPL__AREA_TREE_OF && g->kind != GAP_FREE) ||
        (area->kind == ESPL__AREA_PARENT && g->kind == GAP_HOLE)) {
        return;
    }
    memset(to, 0, (size_t)(end - begin) * area->size);
    if (area->kind == ESPL__AREA_TREE_OF) {
        const uint32_t none = ESPL__NO_TREE;

        if (begin == g->begin) {
            memcpy(to, &none, sizeof none);
        }
        if (end == g->end) {
            memcpy(to + (size_t)(end - 1 - begin) * sizeof none, &none, sizeof none);
        }
    }
}

// Return how many elements begin in the rest of the piece, at most `left`.
static uint32_t count_in_piece(const writer *w, size_t size, uint32_t left)
{
    const uint32_t count = (uint32_t)((PIECE - w->used + size - 1) / size);

    return count < left ? count : left;
}

// Clear what gaps have of slots [begin, end). @param g  at the first gap that does not end before; in and out.
static void clear_gaps(const writer *w, const espl__area *area, gaps *g, unsigned char *to,
                       uint32_t begin, uint32_t end)
{
    while (g->present.begin < end) {
        const gap *const at = &g->present;
        const uint32_t from = at->begin > begin ? at->begin : begin;
        const uint32_t until = at->end < end ? at->end : end;

        clear_gap(w, area, at, to + (size_t)(from - begin) * area->size, from, until);
        if (at->end > end) {
            return;
        }
        next_gap(g);
    }
}

// Clear the cells of members, which have no meaning.
static void clear_members(const writer *w, const espl__area *area, unsigned char *to,
                          uint32_t begin, uint32_t end)
{
    const uint32_t *const parents = w->world->forest.parent;

    for (uint32_t slot = begin; area->kind == ESPL__AREA_CELLS && slot < end; ++slot) {
        if (parents[slot] != ESPL__NO_SLOT) {
            memset(to + (slot - begin) * area->size, 0, area->size);
        }
    }
}

// Copy an area by slot.
static void put_slots(writer *w, const espl__area *area)
{
    const uint32_t count = (uint32_t)area->count;
    const unsigned char *bytes = area->bytes;
    gaps g = {.forest = &w->world->forest};

    next_gap(&g);
    for (uint32_t begin = 0; begin < count;) {
        const uint32_t end = begin + count_in_piece(w, area->size, count - begin);
        const size_t size = (end - begin) * area->size;
        unsigned char *const to = w->piece + w->used;

        memcpy(to, bytes, size);
        clear_gaps(w, area, &g, to, begin, end);
        clear_members(w, area, to, begin, end);
        bytes += size;
        use(w, size, bytes);
        begin = end;
    }
    put_rest(w, area->size * area->count);
}

// A living record is found by its row.
static espl__record saved_record(const espl__record *record)
{
    const bool is_living = record->row < ESPL__ROW_RETIRED;
    const bool is_free = record->row == ESPL__NONE;

    return (espl__record){
        .generation = record->generation,
        .chunk = is_living ? ESPL__NONE
                 : is_free ? record->chunk
                           : 0,
        .row = is_living ? 0 : record->row,
        .slot = is_living ? record->slot : 0,
    };
}

static espl__tree saved_tree(const espl__tree *tree)
{
    espl__tree out = *tree;

    out.side_number = 0;
    if ((tree->flags & ESPL__TREE_UNSETTLED) != 0) {
        out.next = out.previous = ESPL__NO_TREE;
    }
    return out;
}

static void put_records(unsigned char *to, const espl__record *records, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        const espl__record record = saved_record(&records[i]);

        memcpy(to + i * sizeof record, &record, sizeof record);
    }
}

static void put_trees(unsigned char *to, const espl__tree *trees, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        const espl__tree tree = saved_tree(&trees[i]);

        memcpy(to + i * sizeof tree, &tree, sizeof tree);
    }
}

// Copy an area of structs that are not saved as they are.
static void put_structs(writer *w, const espl__area *area)
{
    const uint32_t count = (uint32_t)area->count;
    const unsigned char *bytes = area->bytes;

    for (uint32_t begin = 0; begin < count;) {
        const uint32_t here = count_in_piece(w, area->size, count - begin);
        unsigned char *const to = w->piece + w->used;

        if (area->kind == ESPL__AREA_RECORDS) {
            put_records(to, (const espl__record *)area->bytes + begin, here);
        } else {
            put_trees(to, (const espl__tree *)area->bytes + begin, here);
        }
        begin += here;
        bytes += here * area->size;
        use(w, here * area->size, bytes);
    }
}

_Static_assert(sizeof(espl__record) % 8 == 0 && sizeof(espl__tree) % 8 == 0,
               "areas of structs end at a multiple of 8");

static void put_area(void *context, const espl__area *area)
{
    writer *const w = context;

    if (area->kind == ESPL__AREA_TRANSIENT) {
        return;
    }
    if (w->bytes == NULL) {
        w->at += espl__image_room(area->size * area->count);
    } else if (area->kind >= ESPL__AREA_SLOTS) {
        put_slots(w, area);
    } else if (area->kind == ESPL__AREA_RECORDS || area->kind == ESPL__AREA_TREES) {
        put_structs(w, area);
    } else {
        put(w, area->bytes, area->size * area->count);
    }
}

// --- Image ---

static void put_image(writer *w, const espl__image_head *head)
{
    const espl__area_visitor visitor = {put_area, w};

    put(w, head, sizeof *head);
    if (w->bytes == NULL) {
        w->at += (size_t)(head->registry_size + head->sets_size + head->names_size) +
                 head->originals * sizeof(espl__image_original);
    } else {
        put_components(w);
        put_archetypes(w);
        put_names(w);
        put_originals(w);
    }
    espl__manifest_trees(&w->world->forest, &visitor);
    espl__manifest_rows(&w->world->store, &visitor);
    espl__manifest_nodes(&w->world->forest, &visitor);
    espl__manifest_sides(&w->world->forest, &visitor);
}

size_t espl_image_size(const espl_world *world)
{
    writer w = {.world = world};

    if (world == NULL) {
        return 0;
    }
    const espl__image_head head = espl__image_head_of(world);

    put_image(&w, &head);
    return w.at;
}

static void save(const espl_world *world, unsigned char *bytes, size_t size)
{
    espl__image_head head = espl__image_head_of(world);
    writer w = {.world = world, .bytes = bytes, .passes_cache = espl__image_is_large(size)};

    // The flag of the forest may stay set where all worlds are finite again, after a refused call too.
    head.has_overflowed =
        head.has_overflowed != 0 && espl__count_overflowed(&world->forest) != 0 ? 1 : 0;
    head.size = size;
    espl__checksum_begin(&w.checksum);
    put_image(&w, &head);
    copy_on(&w, w.piece, w.used, NULL);
    ESPL_CHECK(w.at == size);
    espl__copied();
    head.checksum = espl__checksum_of(&w.checksum);
    memcpy(bytes, &head, sizeof head);
}

espl_status espl_image_save(const espl_world *world, void *bytes, size_t size)
{
    espl_status status = ESPL_OK;

    if (world == NULL || bytes == NULL || size != espl_image_size(world)) {
        status = ESPL_ERR_ARGUMENT;
    } else if (world->is_playing || espl__is_parallel(world)) {
        status = ESPL_ERR_BUSY;
    } else {
        save(world, bytes, size);
    }
    return espl__refuse_call(world, "espl_image_save", status,
                             "bytes is NULL, or size is not espl_image_size().");
}

// --- Layout ---

// Mix a number into a hash of the layout.
static uint64_t mix_layout(uint64_t hash, uint64_t number)
{
    hash = (hash ^ number) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 32);
}

#define MIX_COLUMN(access, type, name, role, initial) hash = mix_layout(hash, sizeof(type));

// The structs of an image, the limits of the build, and the order of bytes.
uint64_t espl_image_layout(void)
{
    enum { FORMAT = 3 }; // changes with the order or the meaning of what is saved
    const uint64_t numbers[] = {
        FORMAT,
        sizeof(espl__image_head),
        sizeof(espl__record),
        offsetof(espl__record, slot),
        sizeof(espl_entity),
        sizeof(espl__tree),
        offsetof(espl__tree, side),
        sizeof(espl__links),
        sizeof(espl__kept),
        sizeof(espl__extra),
        ESPL__CHUNK_ROWS,
        ESPL__CHUNK_BYTES,
        ESPL__INDEX_BITS,
        ESPL__GENERATION_BITS,
    };
    const uint32_t order = 0x01020304;
    unsigned char bytes[sizeof order];
    uint64_t hash = 0;

    memcpy(bytes, &order, sizeof order);
    hash = mix_layout(hash, bytes[0]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        hash = mix_layout(hash, numbers[i]);
    }
    ESPL__COLUMNS(MIX_COLUMN)
    return hash;
}
