// SPDX-License-Identifier: MIT
// The tables of tables.h: their memory, and the steps of an update. handover.c has publish and acquire.
#include "lib/renderables/tables.h"

#include "lib/base/scratch.h"
#include "lib/renderables/lifetimes.h"

#include <string.h>

enum {
    VECTOR = 16, // numbers of clusters are rounded up to as many, which kernels read at once
    LINE_BYTES = 64,
};

void espl__tables_init(espl__tables *t, bool has_reader, size_t user_size)
{
    *t = (espl__tables){.number = 1,
                        .user_size = user_size,
                        .has_reader = has_reader,
                        .lifetime = ESPL__NO_LIFETIME};
    for (int kind = 0; kind < ESPL__BLOCK_KINDS; ++kind) {
        espl__blocks_init(&t->pools[kind], (espl__block_kind)kind);
    }
    for (int i = 0; i < ESPL__TABLE_COUNT; ++i) {
        t->tables[i].behind_count = ESPL__ALL_BEHIND;
    }
    // Without a reader of its own, there is the table of the publisher alone.
    t->reader = has_reader ? 2 : 0;
    atomic_init(&t->latest, 1);
}

// --- Memory ---

static uint32_t round_clusters(uint32_t clusters)
{
    return (clusters + VECTOR - 1) / VECTOR * VECTOR;
}

// Reserve arrays in a block, as espl__carve().
static void carve_entry_arrays(espl__entry_arrays *out, unsigned char *bytes, size_t *at,
                               uint32_t clusters, bool has_cells)
{
    out->entries = espl__carve(bytes, at, clusters, sizeof *out->entries, LINE_BYTES);
    for (int i = 0; i < ESPL__BOX_NUMBERS; ++i) {
        out->boxes[i] = espl__carve(bytes, at, clusters, sizeof(float), LINE_BYTES);
    }
    out->anchors = NULL;
    if (has_cells) {
        out->anchors = espl__carve(bytes, at, clusters, sizeof *out->anchors, LINE_BYTES);
    }
    out->changed = espl__carve(bytes, at, clusters, sizeof *out->changed, LINE_BYTES);
    out->order = espl__carve(bytes, at, clusters, sizeof *out->order, LINE_BYTES);
}

// Place the newest entries in a block. @return its size.
static size_t place_newest(const espl__tables *t, espl__newest *newest, unsigned char *bytes,
                           uint32_t clusters)
{
    size_t at = 0;

    carve_entry_arrays(&newest->arrays, bytes, &at, clusters, t->has_cells);
    newest->free_numbers = espl__carve(bytes, &at, clusters, sizeof(uint32_t), LINE_BYTES);
    newest->touched = espl__carve(bytes, &at, clusters, sizeof(uint32_t), LINE_BYTES);
    newest->paired = espl__carve(bytes, &at, clusters, sizeof(uint32_t), LINE_BYTES);
    return at;
}

size_t espl__table_place(const espl__tables *t, espl__mirror_table *table, unsigned char *bytes,
                         uint32_t clusters)
{
    size_t at = 0;

    carve_entry_arrays(&table->arrays, bytes, &at, clusters, t->has_cells);
    table->behind =
        espl__carve(bytes, &at, clusters / ESPL__BEHIND_SHARE, sizeof(uint32_t), LINE_BYTES);
    table->user = espl__carve(bytes, &at, t->user_size, 1, LINE_BYTES);
    return at;
}

static void free_table_memory(espl__heap *heap, espl__table_memory *memory)
{
    espl__heap_give(heap, ESPL__FOR_CHANGES, memory->bytes, 1, memory->size, LINE_BYTES);
    *memory = (espl__table_memory){NULL, 0, 0};
}

// @return false: no memory, and *out is unchanged.
static bool take_table_memory(espl__heap *heap, espl__table_memory *out, size_t size,
                              uint32_t clusters)
{
    unsigned char *const bytes = espl__heap_take(heap, ESPL__FOR_CHANGES, 1, size, LINE_BYTES);

    if (bytes == NULL) {
        return false;
    }
    *out = (espl__table_memory){bytes, size, clusters};
    return true;
}

void espl__tables_free(espl__tables *t, espl__heap *heap)
{
    espl__lifetime_end(t->lifetime);
    for (int kind = 0; kind < ESPL__BLOCK_KINDS; ++kind) {
        espl__blocks_free(heap, &t->pools[kind]);
    }
    for (int i = 0; i < ESPL__TABLE_COUNT; ++i) {
        free_table_memory(heap, &t->tables[i].memory);
        free_table_memory(heap, &t->spare[i]);
    }
    free_table_memory(heap, &t->newest.memory);
    const bool has_cells = t->has_cells;

    espl__tables_init(t, t->has_reader, t->user_size);
    t->has_cells = has_cells;
}

size_t espl__tables_bytes(const espl__tables *t)
{
    size_t bytes = t->newest.memory.size;

    for (int kind = 0; kind < ESPL__BLOCK_KINDS; ++kind) {
        bytes += espl__blocks_bytes(&t->pools[kind]);
    }
    for (int i = 0; i < ESPL__TABLE_COUNT; ++i) {
        bytes += t->tables[i].memory.size + t->spare[i].size;
    }
    return bytes;
}

static void copy_newest(const espl__newest *to, const espl__newest *from)
{
    if (from->clusters == 0) {
        return;
    }
    const espl__entry_arrays *const out = &to->arrays, *const in = &from->arrays;

    memcpy(out->entries, in->entries, from->clusters * sizeof *in->entries);
    for (int i = 0; i < ESPL__BOX_NUMBERS; ++i) {
        memcpy(out->boxes[i], in->boxes[i], from->clusters * sizeof(float));
    }
    if (in->anchors != NULL) {
        memcpy(out->anchors, in->anchors, from->clusters * sizeof *in->anchors);
    }
    memcpy(out->changed, in->changed, from->clusters * sizeof *in->changed);
    memcpy(out->order, in->order, from->order_count * sizeof *in->order);
    memcpy(to->free_numbers, from->free_numbers, from->free_count * sizeof(uint32_t));
    memcpy(to->touched, from->touched, from->touched_count * sizeof(uint32_t));
    memcpy(to->paired, from->paired, from->paired_count * sizeof(uint32_t));
}

// Move the newest entries to memory for so many clusters. @return false: no memory, nothing changed.
static bool move_newest(espl__tables *t, espl__heap *heap, uint32_t clusters)
{
    espl__newest made = t->newest;

    ESPL_CHECK(clusters >= made.clusters && clusters != 0);
    if (!take_table_memory(heap, &made.memory, place_newest(t, &made, NULL, clusters), clusters)) {
        return false;
    }
    (void)place_newest(t, &made, made.memory.bytes, clusters);
    copy_newest(&made, &t->newest);
    free_table_memory(heap, &t->newest.memory);
    t->newest = made;
    return true;
}

// Grow by half at least, so that adding clusters is amortised O(1). Also without clusters there is memory, in
// which a table has the bytes of the user.
static bool grow_newest(espl__tables *t, espl__heap *heap, uint32_t clusters)
{
    const uint32_t has = t->newest.memory.clusters, more = has + has / 2;
    const uint32_t wanted = clusters != 0 ? clusters : 1;

    return wanted <= has || move_newest(t, heap, round_clusters(wanted > more ? wanted : more));
}

// Have spare memory for `count` tables. Tables keep what they have until a publish fills them, because a mirror
// that is read must stay where it is.
static bool take_spares(espl__tables *t, espl__heap *heap, uint32_t count)
{
    espl__mirror_table none = {0};
    const uint32_t clusters = t->newest.memory.clusters;
    const size_t size = espl__table_place(t, &none, NULL, clusters);
    uint32_t found = 0;

    for (int i = 0; i < ESPL__TABLE_COUNT; ++i) {
        found += espl__table_has_room(t, &t->spare[i]) ? 1 : 0;
    }
    for (int i = 0; i < ESPL__TABLE_COUNT && found < count; ++i) {
        if (espl__table_has_room(t, &t->spare[i])) {
            continue;
        }
        free_table_memory(heap, &t->spare[i]);
        if (!take_table_memory(heap, &t->spare[i], size, clusters)) {
            return false;
        }
        found += 1;
    }
    return true;
}

// Free spare memory that no table can use.
static void drop_spares(espl__tables *t, espl__heap *heap)
{
    for (int i = 0; i < ESPL__TABLE_COUNT; ++i) {
        if (!espl__table_has_room(t, &t->spare[i]) || espl__table_is_large(t, &t->spare[i])) {
            free_table_memory(heap, &t->spare[i]);
        }
    }
}

bool espl__tables_reserve(espl__tables *t, espl__heap *heap, const espl__tables_need *need)
{
    bool is_done = true;

    for (int kind = 0; kind < ESPL__BLOCK_KINDS && is_done; ++kind) {
        is_done = espl__blocks_reserve(heap, &t->pools[kind], need->blocks[kind]);
    }
    is_done = is_done && grow_newest(t, heap, need->clusters);
    if (!is_done) {
        return false;
    }
    // A table that is too large since a trim is replaced where there is memory.
    const espl__table_memory *const own = &t->tables[t->own].memory;
    const bool has_room = espl__table_has_room(t, own);

    drop_spares(t, heap);
    return (has_room && !espl__table_is_large(t, own)) || take_spares(t, heap, 1) || has_room;
}

// Make a pool have so many blocks in all.
static bool reserve_in_all(espl__tables *t, espl__heap *heap, espl__block_kind kind, uint32_t count)
{
    espl__block_pool *const pool = &t->pools[kind];
    const uint32_t used = pool->count - pool->free_count;

    return used >= count || espl__blocks_reserve(heap, pool, count - used);
}

// In an update, blocks of a cluster are in use for as many mirrors: the newest one, the one that it makes, and
// the one that a reader holds. Each names one block of values and at most two of poses.
bool espl__tables_prepay(espl__tables *t, espl__heap *heap, uint32_t clusters)
{
    const uint32_t mirrors = t->has_reader ? 3 : 2, poses = 2 * mirrors;
    uint32_t lacking = 0;

    if (clusters > UINT32_MAX / poses || !grow_newest(t, heap, clusters) ||
        !reserve_in_all(t, heap, ESPL__BLOCK_VALUES, mirrors * clusters) ||
        (t->has_cells && !reserve_in_all(t, heap, ESPL__BLOCK_CELLS, mirrors * clusters)) ||
        !reserve_in_all(t, heap, ESPL__BLOCK_POSES, poses * clusters)) {
        return false;
    }
    for (uint32_t i = 0; i < (t->has_reader ? ESPL__TABLE_COUNT : 1u); ++i) {
        lacking += espl__table_has_room(t, &t->tables[i].memory) ? 0 : 1;
    }
    return take_spares(t, heap, lacking);
}

// Newest entries move to smaller memory where it is less than half as large. The memory of a table, which may
// be read, is replaced by a publish.
bool espl__tables_trim(espl__tables *t, espl__heap *heap)
{
    const uint32_t wanted = round_clusters(t->newest.clusters != 0 ? t->newest.clusters : 1);
    bool is_done = true;

    espl__tables_begin(t);
    for (int kind = 0; kind < ESPL__BLOCK_KINDS; ++kind) {
        is_done &= espl__blocks_trim(heap, &t->pools[kind]);
    }
    for (int i = 0; i < ESPL__TABLE_COUNT; ++i) {
        free_table_memory(heap, &t->spare[i]);
    }
    if (t->newest.memory.clusters / 2 > wanted) {
        is_done &= move_newest(t, heap, wanted);
    }
    return is_done;
}

// --- The begin of an update ---

static bool is_needed_by(const espl__block *block, const espl__mirror_table *table)
{
    return block->made <= table->mirror.number && table->mirror.number < block->dropped;
}

// Free a block, and the stretches and cells of values with it.
static void give_block(espl__tables *t, espl__block *block)
{
    if (block->kind == ESPL__BLOCK_VALUES) {
        espl__values *const values = (espl__values *)(void *)block;

        if (values->stretches != NULL) {
            espl__blocks_give(&t->pools[ESPL__BLOCK_STRETCHES], &values->stretches->block);
        }
        if (values->cells != NULL) {
            espl__blocks_give(&t->pools[ESPL__BLOCK_CELLS], &values->cells->block);
        }
    }
    espl__blocks_give(&t->pools[block->kind], block);
}

// File dropped blocks: with a mirror that needs them, or as free ones.
static void file_blocks(espl__tables *t, espl__block *list, const bool is_read[])
{
    while (list != NULL) {
        espl__block *const block = list;
        uint32_t i = 0;

        list = block->next;
        while (i < ESPL__TABLE_COUNT && !(is_read[i] && is_needed_by(block, &t->tables[i]))) {
            i += 1;
        }
        if (i < ESPL__TABLE_COUNT) {
            block->next = t->tables[i].held;
            t->tables[i].held = block;
        } else {
            give_block(t, block);
        }
    }
}

// A block is looked at again only when the mirror that holds it ends, so that blocks of a reader that stopped
// cost nothing. The blocks that were dropped last are filed last, and taken first.
void espl__tables_begin(espl__tables *t)
{
    espl__block *const waiting = t->waiting;
    bool is_read[ESPL__TABLE_COUNT];

    for (uint32_t i = 0; i < ESPL__TABLE_COUNT; ++i) {
        is_read[i] = espl__table_is_read(t, i);
    }
    for (uint32_t i = 0; i < ESPL__TABLE_COUNT; ++i) {
        if (!is_read[i]) {
            espl__block *const held = t->tables[i].held;

            t->tables[i].held = NULL;
            file_blocks(t, held, is_read);
        }
    }
    t->waiting = NULL;
    file_blocks(t, waiting, is_read);
}

// --- Entries ---

void espl__tables_touch(espl__tables *t, uint32_t cluster)
{
    espl__newest *const newest = &t->newest;

    ESPL_CHECK(cluster < newest->clusters);
    if (newest->arrays.changed[cluster] != t->number) {
        newest->arrays.changed[cluster] = t->number;
        newest->touched[newest->touched_count] = cluster;
        newest->touched_count += 1;
    }
}

// The cast is sound: the pools own the blocks, and readers do not read their first member.
void espl__block_drop(espl__tables *t, const espl__block *named)
{
    espl__block *const block = (espl__block *)(uintptr_t)named;

    ESPL_CHECK(block->made != 0 && block->made <= t->number && block->dropped == 0);
    block->dropped = t->number;
    block->next = t->waiting;
    t->waiting = block;
}

// Drop both poses blocks of an entry, which may be one.
static void drop_poses(espl__tables *t, const espl__cluster_entry *entry)
{
    if (entry->poses != NULL) {
        espl__block_drop(t, &entry->poses->block);
    }
    if (entry->before != entry->poses) {
        espl__block_drop(t, &entry->before->block);
    }
}

uint32_t espl__tables_add_cluster(espl__tables *t)
{
    espl__newest *const newest = &t->newest;
    uint32_t cluster;

    if (newest->free_count != 0) {
        newest->free_count -= 1;
        cluster = newest->free_numbers[newest->free_count];
    } else {
        ESPL_CHECK(newest->clusters < newest->memory.clusters);
        cluster = newest->clusters;
        newest->clusters += 1;
        newest->arrays.changed[cluster] = 0;
    }
    newest->arrays.entries[cluster] = (espl__cluster_entry){.values = NULL};
    espl__tables_touch(t, cluster);
    return cluster;
}

void espl__tables_remove_cluster(espl__tables *t, uint32_t cluster)
{
    espl__newest *const newest = &t->newest;

    espl__tables_touch(t, cluster);
    espl__cluster_entry *const entry = &newest->arrays.entries[cluster];

    if (entry->values != NULL) {
        espl__block_drop(t, &entry->values->block);
    }
    drop_poses(t, entry);
    *entry = (espl__cluster_entry){.values = NULL};
    newest->free_numbers[newest->free_count] = cluster;
    newest->free_count += 1;
}

espl__values *espl__values_take(espl__tables *t)
{
    espl__values *const values =
        (espl__values *)(void *)espl__blocks_take(&t->pools[ESPL__BLOCK_VALUES], t->number);

    values->stretches = NULL;
    values->cells = NULL;
    return values;
}

espl__poses *espl__poses_take(espl__tables *t)
{
    return (espl__poses *)(void *)espl__blocks_take(&t->pools[ESPL__BLOCK_POSES], t->number);
}

espl__member_cells *espl__member_cells_take(espl__tables *t)
{
    return (espl__member_cells *)(void *)espl__blocks_take(&t->pools[ESPL__BLOCK_CELLS], t->number);
}

espl__stretches *espl__stretches_take(espl__tables *t)
{
    return (espl__stretches *)(void *)espl__blocks_take(&t->pools[ESPL__BLOCK_STRETCHES],
                                                        t->number);
}

void espl__values_give(espl__tables *t, espl__values *values)
{
    ESPL_CHECK(values->block.made == t->number && values->block.dropped == 0);
    give_block(t, &values->block);
}

void espl__poses_give(espl__tables *t, espl__poses *poses)
{
    ESPL_CHECK(poses->block.made == t->number && poses->block.dropped == 0);
    give_block(t, &poses->block);
}

// The cast is sound, as that of espl__block_drop().
espl__poses *espl__tables_reuse_before(espl__tables *t, uint32_t cluster)
{
    ESPL_CHECK(espl__tables_may_reuse(t, cluster));
    return (espl__poses *)(uintptr_t)t->newest.arrays.entries[cluster].before;
}

// Poses before that were written over are dropped by the publish, because the cluster has no others.
void espl__tables_leave_poses(espl__tables *t, uint32_t cluster, espl__poses *poses)
{
    if (poses != t->newest.arrays.entries[cluster].before) {
        espl__poses_give(t, poses);
    }
}

void espl__tables_set_values(espl__tables *t, uint32_t cluster, espl__values *values)
{
    espl__tables_touch(t, cluster);
    espl__cluster_entry *const entry = &t->newest.arrays.entries[cluster];

    ESPL_CHECK(values->block.made == t->number);
    if (entry->values != NULL) {
        espl__block_drop(t, &entry->values->block);
    }
    entry->values = values;
}

void espl__tables_set_poses(espl__tables *t, uint32_t cluster, espl__poses *poses)
{
    espl__tables_touch(t, cluster);
    espl__cluster_entry *const entry = &t->newest.arrays.entries[cluster];
    const espl__poses *const old = entry->poses;

    if (poses == entry->before && poses != old) {
        // They were reused.
        poses->block.made = t->number;
        entry->before = old;
    }
    ESPL_CHECK(poses->block.made == t->number);
    if (old == NULL) {
        entry->before = poses;
    } else if (old->block.made == t->number) {
        // The second poses of one update: those before stay.
        espl__block_drop(t, &old->block);
        entry->before = entry->before == old ? poses : entry->before;
    } else {
        if (entry->before != old) {
            espl__block_drop(t, &entry->before->block);
        }
        entry->before = old;
    }
    entry->poses = poses;
}

void espl__tables_set_pair(espl__tables *t, uint32_t cluster, espl__poses *poses,
                           espl__poses *before)
{
    espl__tables_touch(t, cluster);
    espl__cluster_entry *const entry = &t->newest.arrays.entries[cluster];

    ESPL_CHECK(poses->block.made == t->number && before->block.made == t->number);
    drop_poses(t, entry);
    entry->poses = poses;
    entry->before = before;
}

void espl__tables_set_holes(espl__tables *t, uint32_t cluster,
                            const uint64_t holes[ESPL__LEAST ESPL__MEMBER_WORDS])
{
    espl__cluster_entry *const entry = &t->newest.arrays.entries[cluster];

    if (memcmp(entry->holes, holes, sizeof entry->holes) != 0) {
        espl__tables_touch(t, cluster);
        memcpy(entry->holes, holes, sizeof entry->holes);
    }
}

uint32_t *espl__tables_order(espl__tables *t)
{
    return t->newest.arrays.order;
}

void espl__tables_set_order(espl__tables *t, uint32_t count, uint32_t still_count)
{
    ESPL_CHECK(still_count <= count && count <= t->newest.clusters);
    t->newest.order_count = count;
    t->newest.still_count = still_count;
    t->newest.order_moment += 1;
}
