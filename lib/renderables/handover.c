// SPDX-License-Identifier: MIT
// The hand-over of mirrors: publish, acquire, and which mirrors a reader may have (tables.h).
#include "lib/renderables/tables.h"

#include "lib/renderables/lifetimes.h"

#include <string.h>

enum { TABLE_BITS = ESPL__TABLE_FRESH - 1, BOX_VECTOR = 16 };

// The table that is neither in the middle nor the publisher's is the reader's. The reader may exchange these
// two at any time. Then both are the reader's for the publisher, which errs on the safe side. A mirror that
// stays in the middle needs no blocks held: it is the newest one, of which no update dropped any yet, or was
// given back.
//
// Acquire: what the reader read of a table that it gave back happened before the publisher changes its blocks.
bool espl__table_is_read(const espl__tables *t, uint32_t table)
{
    // The atomic load takes no const object in C11. The cast is sound, because it changes nothing.
    espl__tables *const loaded = (espl__tables *)(uintptr_t)t;
    const uint32_t latest = atomic_load_explicit(&loaded->latest, memory_order_acquire);

    return t->has_reader && table != t->own && table != (latest & TABLE_BITS) &&
           t->tables[table].mirror.number != 0;
}

// --- Publish ---

// Clusters that moved in the mirror before, and not in this one, have one poses block.
static void settle_pairs(espl__tables *t)
{
    espl__newest *const newest = &t->newest;

    for (uint32_t i = 0; i < newest->paired_count; ++i) {
        const uint32_t cluster = newest->paired[i];
        espl__cluster_entry *const entry = &newest->arrays.entries[cluster];

        if (entry->before != entry->poses && entry->poses->block.made != t->number) {
            espl__tables_touch(t, cluster);
            espl__block_drop(t, &entry->before->block);
            entry->before = entry->poses;
        }
    }
}

// Read the boxes of clusters whose entries changed, and list the clusters that moved.
static void read_touched(espl__tables *t)
{
    static const float none[ESPL__BOX_NUMBERS];
    espl__newest *const newest = &t->newest;

    newest->paired_count = 0;
    for (uint32_t i = 0; i < newest->touched_count; ++i) {
        const uint32_t cluster = newest->touched[i];
        const espl__cluster_entry *const entry = &newest->arrays.entries[cluster];
        const float *const box = entry->poses != NULL ? entry->poses->box : none;

        ESPL_CHECK((entry->poses != NULL) == (entry->values != NULL));
        for (int n = 0; n < ESPL__BOX_NUMBERS; ++n) {
            newest->arrays.boxes[n][cluster] = box[n];
        }
        if (newest->arrays.anchors != NULL) {
            newest->arrays.anchors[cluster] =
                entry->values != NULL ? entry->values->cells->of[0] : (espl__cell){{0, 0, 0}};
        }
        if (entry->before != entry->poses) {
            newest->paired[newest->paired_count] = cluster;
            newest->paired_count += 1;
        }
    }
}

// Note in a table which clusters changed.
static void note_behind(espl__mirror_table *table, const espl__newest *newest)
{
    const uint32_t room = table->memory.clusters / ESPL__BEHIND_SHARE;

    if (table->behind_count > room || newest->touched_count > room - table->behind_count) {
        table->behind_count = ESPL__ALL_BEHIND;
        return;
    }
    if (newest->touched_count != 0) {
        memcpy(table->behind + table->behind_count, newest->touched,
               newest->touched_count * sizeof *newest->touched);
        table->behind_count += newest->touched_count;
    }
}

// Exchange the memory of a table for spare memory, where it has too little or far too much.
static void take_room(espl__tables *t, espl__mirror_table *table)
{
    const bool has_room = espl__table_has_room(t, &table->memory);
    uint32_t i = 0;

    if (has_room && !espl__table_is_large(t, &table->memory)) {
        return;
    }
    while (i < ESPL__TABLE_COUNT && !espl__table_has_room(t, &t->spare[i])) {
        i += 1;
    }
    ESPL_CHECK(has_room || i < ESPL__TABLE_COUNT);
    if (i == ESPL__TABLE_COUNT) {
        return;
    }
    const espl__table_memory old = table->memory;

    table->memory = t->spare[i];
    t->spare[i] = old;
    (void)espl__table_place(t, table, table->memory.bytes, table->memory.clusters);
    table->behind_count = ESPL__ALL_BEHIND;
    table->order_moment = 0;
}

static void copy_all(const espl__entry_arrays *to, const espl__entry_arrays *from, uint32_t count)
{
    memcpy(to->entries, from->entries, count * sizeof *from->entries);
    memcpy(to->changed, from->changed, count * sizeof *from->changed);
    if (from->anchors != NULL) {
        memcpy(to->anchors, from->anchors, count * sizeof *from->anchors);
    }
    for (int n = 0; n < ESPL__BOX_NUMBERS; ++n) {
        memcpy(to->boxes[n], from->boxes[n], count * sizeof(float));
    }
}

static void copy_listed(const espl__entry_arrays *to, const espl__entry_arrays *from,
                        const uint32_t *clusters, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t cluster = clusters[i];

        to->entries[cluster] = from->entries[cluster];
        to->changed[cluster] = from->changed[cluster];
        if (from->anchors != NULL) {
            to->anchors[cluster] = from->anchors[cluster];
        }
        for (int n = 0; n < ESPL__BOX_NUMBERS; ++n) {
            to->boxes[n][cluster] = from->boxes[n][cluster];
        }
    }
}

// The boxes past the last cluster are 0, up to where kernels read.
static void end_boxes(const espl__entry_arrays *to, uint32_t clusters)
{
    const uint32_t end = (clusters + BOX_VECTOR - 1) / BOX_VECTOR * BOX_VECTOR;

    for (int n = 0; n < ESPL__BOX_NUMBERS && end != clusters; ++n) {
        memset(to->boxes[n] + clusters, 0, (end - clusters) * sizeof(float));
    }
}

// Make a table have the newest entries.
static void fill_entries(const espl__tables *t, espl__mirror_table *table)
{
    const espl__newest *const newest = &t->newest;

    if (table->behind_count == ESPL__ALL_BEHIND && newest->clusters != 0) {
        copy_all(&table->arrays, &newest->arrays, newest->clusters);
    } else if (table->behind_count != ESPL__ALL_BEHIND) {
        copy_listed(&table->arrays, &newest->arrays, table->behind, table->behind_count);
    }
    table->behind_count = 0;
    end_boxes(&table->arrays, newest->clusters);
    if (table->order_moment != newest->order_moment && newest->order_count != 0) {
        memcpy(table->arrays.order, newest->arrays.order,
               newest->order_count * sizeof *newest->arrays.order);
    }
    table->order_moment = newest->order_moment;
}

// Say what the mirror of a table has.
static void describe_table(const espl__tables *t, espl__mirror_table *table,
                           const espl__publication *publication)
{
    const espl__newest *const newest = &t->newest;
    espl_mirror *const mirror = &table->mirror;

    if (t->user_size != 0) {
        if (publication->user != NULL) {
            memcpy(table->user, publication->user, t->user_size);
        } else {
            memset(table->user, 0, t->user_size);
        }
    }
    // Not as a whole, because the reader may ask whether this one, which has ended, is valid.
    atomic_store_explicit(&mirror->life, t->first_life + t->number, memory_order_relaxed);
    mirror->number = t->number;
    mirror->renderables = publication->renderables;
    mirror->clusters = newest->clusters;
    mirror->order_count = newest->order_count;
    mirror->still_count = newest->still_count;
    mirror->order = table->arrays.order;
    mirror->entries = table->arrays.entries;
    mirror->anchors = table->arrays.anchors;
    mirror->rebased = publication->rebased;
    mirror->cell_size = publication->cell_size;
    mirror->changed = table->arrays.changed;
    mirror->user = t->user_size != 0 ? table->user : NULL;
    mirror->lod_pages = publication->lod_pages;
    mirror->lod_count = publication->lod_count;
    for (int n = 0; n < ESPL__BOX_NUMBERS; ++n) {
        mirror->boxes[n] = table->arrays.boxes[n];
    }
}

// A rebase by cells changes the cells of all members, and none of their blocks.
static void touch_rebased(espl__tables *t, espl__cell rebased)
{
    espl__newest *const newest = &t->newest;

    if (espl__cell_is_same(newest->rebased, rebased)) {
        return;
    }
    newest->rebased = rebased;
    for (uint32_t i = 0; i < newest->clusters; ++i) {
        if (newest->arrays.entries[i].values != NULL) {
            espl__tables_touch(t, i);
        }
    }
}

uint64_t espl__tables_publish(espl__tables *t, const espl__publication *publication)
{
    espl__mirror_table *const table = &t->tables[t->own];
    const uint64_t number = t->number;

    if (number == 1) {
        t->lifetime = espl__lifetime_begin(&t->first_life);
        for (int i = 0; i < ESPL__TABLE_COUNT; ++i) {
            t->tables[i].mirror.lifetime = t->lifetime;
        }
    }
    touch_rebased(t, publication->rebased);
    settle_pairs(t);
    read_touched(t);
    for (int i = 0; i < ESPL__TABLE_COUNT; ++i) {
        note_behind(&t->tables[i], &t->newest);
    }
    take_room(t, table);
    fill_entries(t, table);
    describe_table(t, table, publication);
    t->newest.touched_count = 0;
    t->number += 1;
    if (t->has_reader) {
        // Release: the reader sees the table and its blocks. Acquire: as in espl__table_is_read().
        t->own =
            atomic_exchange_explicit(&t->latest, t->own | ESPL__TABLE_FRESH, memory_order_acq_rel) &
            TABLE_BITS;
    } else {
        espl__lifetime_set(t->lifetime, table->mirror.life);
    }
    return number;
}

// --- Acquire ---

// Only the reader clears the bit, so that the table it gets is fresh where it saw the bit before.
const espl_mirror *espl__tables_acquire(espl__tables *t)
{
    if (t->has_reader &&
        (atomic_load_explicit(&t->latest, memory_order_relaxed) & ESPL__TABLE_FRESH) != 0) {
        t->reader =
            atomic_exchange_explicit(&t->latest, t->reader, memory_order_acq_rel) & TABLE_BITS;
        // Words of tables that the publisher writes later are not read.
        const espl_mirror *const fresh = &t->tables[t->reader].mirror;

        espl__lifetime_set(fresh->lifetime, fresh->life);
    }
    const espl_mirror *const mirror = &t->tables[t->reader].mirror;

    return mirror->number != 0 ? mirror : NULL;
}

// --- Validation ---

// The blocks that are in use, by kind.
typedef struct named_blocks {
    uint32_t count[ESPL__BLOCK_KINDS];
} named_blocks;

static void count_values(named_blocks *named, const espl__values *values)
{
    named->count[ESPL__BLOCK_VALUES] += 1;
    named->count[ESPL__BLOCK_STRETCHES] += values->stretches != NULL ? 1 : 0;
    named->count[ESPL__BLOCK_CELLS] += values->cells != NULL ? 1 : 0;
}

// Count blocks that were dropped. @return whether each of them was made and dropped by updates, in this order.
static bool count_dropped(const espl__tables *t, named_blocks *named, const espl__block *list)
{
    bool is_sound = true;

    for (; list != NULL; list = list->next) {
        is_sound =
            is_sound && list->made != 0 && list->made <= list->dropped && list->dropped < t->number;
        if (list->kind == ESPL__BLOCK_VALUES) {
            count_values(named, (const espl__values *)(const void *)list);
        } else {
            named->count[list->kind] += 1;
        }
    }
    return is_sound;
}

static bool is_newest_block(const espl__tables *t, const espl__block *block)
{
    return block->made != 0 && block->made < t->number && block->dropped == 0;
}

// Count the blocks of the newest entries. @return whether they are as entries are.
static bool count_newest(const espl__tables *t, named_blocks *named)
{
    bool is_sound = true;

    for (uint32_t i = 0; i < t->newest.clusters; ++i) {
        const espl__cluster_entry *const entry = &t->newest.arrays.entries[i];

        if (entry->values == NULL) {
            is_sound = is_sound && entry->poses == NULL && entry->before == NULL;
            continue;
        }
        count_values(named, entry->values);
        named->count[ESPL__BLOCK_POSES] += entry->before != entry->poses ? 2 : 1;
        is_sound = is_sound && is_newest_block(t, &entry->values->block) &&
                   is_newest_block(t, &entry->poses->block) &&
                   is_newest_block(t, &entry->before->block) && entry->values->count != 0 &&
                   entry->values->count <= ESPL__CLUSTER_SIZE;
    }
    return is_sound;
}

// Tell whether no update frees a block that a mirror names.
static bool is_kept_for(const espl__block *block, uint64_t number)
{
    return block->made != 0 && block->made <= number &&
           (block->dropped == 0 || block->dropped > number);
}

static bool is_mirror_whole(const espl_mirror *mirror)
{
    bool is_whole = true;

    for (uint32_t i = 0; i < mirror->clusters; ++i) {
        const espl__cluster_entry *const entry = &mirror->entries[i];

        is_whole = is_whole &&
                   (entry->values == NULL || (is_kept_for(&entry->values->block, mirror->number) &&
                                              is_kept_for(&entry->poses->block, mirror->number) &&
                                              is_kept_for(&entry->before->block, mirror->number)));
    }
    return is_whole;
}

static bool are_mirrors_whole(const espl__tables *t)
{
    bool is_whole = true;

    for (uint32_t i = 0; i < ESPL__TABLE_COUNT; ++i) {
        if (espl__table_is_read(t, i) || (!t->has_reader && i == 0)) {
            is_whole = is_whole && is_mirror_whole(&t->tables[i].mirror);
        }
    }
    return is_whole;
}

const char *espl__tables_broken_rule(const espl__tables *t)
{
    named_blocks named = {{0}};
    bool is_sound = count_dropped(t, &named, t->waiting);

    for (int i = 0; i < ESPL__TABLE_COUNT; ++i) {
        is_sound &= count_dropped(t, &named, t->tables[i].held);
    }
    if (!is_sound) {
        return "a block that waits was made and dropped by updates";
    }
    if (!count_newest(t, &named)) {
        return "a cluster has values and poses that no update dropped";
    }
    for (int kind = 0; kind < ESPL__BLOCK_KINDS; ++kind) {
        const espl__block_pool *const pool = &t->pools[kind];
        const char *const rule = espl__blocks_broken_rule(pool);

        if (rule != NULL) {
            return rule;
        }
        if (named.count[kind] != pool->count - pool->free_count) {
            return "a block is named by one cluster, waits or is free";
        }
    }
    if (t->newest.order_count != t->newest.clusters - t->newest.free_count) {
        return "each cluster has a place in the order";
    }
    return are_mirrors_whole(t) ? NULL : "a mirror that may be read keeps its blocks";
}
