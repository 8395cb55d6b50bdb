// SPDX-License-Identifier: MIT
// Filing nodes and hanging them elsewhere: which place a node has, and who is told of it.
#include "bench/schemes/clusters.h"

#include "bench/blocks.h"

#include <string.h>

struct clusters clusters_create(unsigned workers)
{
    return (struct clusters){.free_entry = NO_NODE, .crew = crew_create(workers)};
}

void clusters_destroy(struct clusters *all)
{
    crew_destroy(all->crew);
    for (size_t i = 0; i < all->table_count; ++i) {
        free(all->table[i]);
    }
    for (size_t i = 0; i < all->depth_count; ++i) {
        free(all->depths[i].clusters);
        free(all->depths[i].stale);
    }
    for (size_t i = 0; i < all->pool_count; ++i) {
        free(all->pools[i]);
    }
    free(all->table);
    free(all->spare);
    free(all->depths);
    free(all->pools);
}

size_t clusters_bytes(const struct clusters *all)
{
    size_t bytes = sizeof *all + all->table_count * (sizeof(struct cluster) + sizeof(void *)) +
                   all->depth_count * sizeof(struct depth) +
                   all->pool_count * (POOL_SIZE * sizeof(struct entry) + sizeof(void *));

    for (size_t i = 0; i < all->depth_count; ++i) {
        bytes += all->depths[i].capacity * 2 * sizeof(uint32_t);
    }
    return bytes;
}

// Return a cluster that is in no depth. Lanes are composed in fours, so those without a node must
// hold numbers too.
static struct cluster *cluster_new(struct clusters *all)
{
    if (all->spare_count > 0) {
        return all->table[all->spare[--all->spare_count]];
    }

    struct cluster *const cluster = block_new(1, sizeof *cluster);

    memset(cluster, 0, sizeof *cluster);
    cluster->number = (uint32_t)all->table_count;
    cluster->stale_rank = NO_NODE;
    all->table = block_grown(all->table, all->table_count, sizeof *all->table);
    all->table[all->table_count++] = cluster;
    return cluster;
}

// Return a list with room for more, which has what the shorter one has.
static uint32_t *list_grown(uint32_t *list, uint32_t count, uint32_t capacity)
{
    uint32_t *const longer = block_new(capacity, sizeof *longer);

    if (count > 0) {
        memcpy(longer, list, count * sizeof *longer);
    }
    free(list);
    return longer;
}

// Give a depth one more cluster, and make the depth if nobody has gone as deep.
static void depth_extend(struct clusters *all, uint32_t at)
{
    while (all->depth_count <= at) {
        all->depths = block_grown(all->depths, all->depth_count, sizeof *all->depths);
        all->depths[all->depth_count++] = (struct depth){0};
    }

    struct depth *const depth = &all->depths[at];
    struct cluster *const cluster = cluster_new(all);

    if (depth->cluster_count == depth->capacity) {
        depth->capacity = depth->capacity > 0 ? 2 * depth->capacity : 4;
        depth->clusters = list_grown(depth->clusters, depth->cluster_count, depth->capacity);
        depth->stale = list_grown(depth->stale, depth->stale_count, depth->capacity);
    }
    cluster->depth = at;
    depth->clusters[depth->cluster_count++] = cluster->number;
}

// Return the cluster in which a depth has room, or that has its last node.
static struct cluster *last_cluster(const struct clusters *all, const struct depth *depth)
{
    return all->table[depth->clusters[depth->cluster_count - 1]];
}

// Take the last cluster, which is empty, from its depth.
static void depth_shrink(struct clusters *all, struct depth *depth)
{
    struct cluster *const cluster = last_cluster(all, depth);

    if (cluster->stale_rank != NO_NODE) {
        const uint32_t moved = depth->stale[--depth->stale_count];

        depth->stale[cluster->stale_rank] = moved;
        all->table[moved]->stale_rank = cluster->stale_rank;
        cluster->stale_rank = NO_NODE;
    }
    --depth->cluster_count;
    all->spare = block_grown(all->spare, all->spare_count, sizeof *all->spare);
    all->spare[all->spare_count++] = cluster->number;
}

// Return a place for a node at a depth, where its world is out of date.
static uint32_t place_new(struct clusters *all, uint32_t depth, uint32_t entry)
{
    const bool is_full = depth >= all->depth_count || all->depths[depth].nodes % CLUSTER_SIZE == 0;

    if (is_full) {
        depth_extend(all, depth);
    }

    struct cluster *const cluster = last_cluster(all, &all->depths[depth]);
    const uint32_t lane = cluster->count++;
    const uint32_t place = cluster->number * CLUSTER_SIZE + lane;

    ++all->depths[depth].nodes;
    cluster->entries[lane] = entry;
    entry_of(all, entry)->place = place;
    clusters_mark(all, place);
    return place;
}

// Tell the children of a node where it is.
static void tell_children(const struct clusters *all, const struct entry *node)
{
    for (uint32_t child = node->first_child; child != NO_NODE;) {
        const struct entry *const at = entry_of(all, child);

        cluster_of(all, at->place)->parents[at->place % CLUSTER_SIZE] = node->place;
        child = at->next_sibling;
    }
}

static void lane_copy(struct cluster *to, uint32_t to_lane, const struct cluster *from,
                      uint32_t from_lane)
{
    for (int i = 0; i < 8; ++i) {
        to->locals.of[i][to_lane] = from->locals.of[i][from_lane];
        to->worlds.of[i][to_lane] = from->worlds.of[i][from_lane];
    }
    to->parents[to_lane] = from->parents[from_lane];
    to->entries[to_lane] = from->entries[from_lane];
}

static bool take_mark(struct cluster *cluster, uint32_t lane)
{
    const uint64_t bit = (uint64_t)1 << lane % 64;
    const bool was_stale = (cluster->stale[lane / 64] & bit) != 0;

    cluster->stale[lane / 64] &= ~bit;
    return was_stale;
}

// Give a place up: the last node of the depth takes it.
static void place_free(struct clusters *all, uint32_t place)
{
    struct cluster *const cluster = cluster_of(all, place);
    struct depth *const depth = &all->depths[cluster->depth];
    struct cluster *const last = last_cluster(all, depth);
    const uint32_t lane = place % CLUSTER_SIZE;
    const uint32_t last_lane = last->count - 1;

    take_mark(cluster, lane);
    if (last != cluster || last_lane != lane) {
        struct entry *const moved = entry_of(all, last->entries[last_lane]);

        lane_copy(cluster, lane, last, last_lane);
        moved->place = place;
        tell_children(all, moved);
        if (take_mark(last, last_lane)) {
            clusters_mark(all, place);
        }
    }
    --depth->nodes;
    if (--last->count == 0) {
        depth_shrink(all, depth);
    }
}

static uint32_t entry_new(struct clusters *all)
{
    uint32_t entry = all->free_entry;

    if (entry != NO_NODE) {
        all->free_entry = entry_of(all, entry)->next_sibling;
        return entry;
    }
    if (all->entry_count == all->pool_count * POOL_SIZE) {
        struct entry *const pool = block_new(POOL_SIZE, sizeof *pool);

        memset(pool, 0, POOL_SIZE * sizeof *pool);
        all->pools = block_grown(all->pools, all->pool_count, sizeof *all->pools);
        all->pools[all->pool_count++] = pool;
    }
    return all->entry_count++;
}

// Make a node the first child of another one.
static void link_first(const struct clusters *all, uint32_t node, uint32_t parent)
{
    struct entry *const at = entry_of(all, node);
    const uint32_t next = parent != NO_NODE ? entry_of(all, parent)->first_child : NO_NODE;

    at->parent = parent;
    at->next_sibling = next;
    at->previous_sibling = NO_NODE;
    if (next != NO_NODE) {
        entry_of(all, next)->previous_sibling = node;
    }
    if (parent != NO_NODE) {
        entry_of(all, parent)->first_child = node;
    }
}

static void unlink_node(const struct clusters *all, uint32_t node)
{
    const struct entry *const at = entry_of(all, node);

    if (at->next_sibling != NO_NODE) {
        entry_of(all, at->next_sibling)->previous_sibling = at->previous_sibling;
    }
    if (at->previous_sibling != NO_NODE) {
        entry_of(all, at->previous_sibling)->next_sibling = at->next_sibling;
    } else if (at->parent != NO_NODE) {
        entry_of(all, at->parent)->first_child = at->next_sibling;
    }
}

// Return the depth of whoever hangs from a node.
static uint32_t depth_below(const struct clusters *all, uint32_t parent)
{
    return parent == NO_NODE ? 0 : cluster_of(all, entry_of(all, parent)->place)->depth + 1;
}

static void set_parent_place(const struct clusters *all, uint32_t place, uint32_t parent)
{
    if (parent != NO_NODE) {
        cluster_of(all, place)->parents[place % CLUSTER_SIZE] = entry_of(all, parent)->place;
    }
}

uint32_t clusters_add(struct clusters *all, const struct pose *local, uint32_t parent)
{
    const uint32_t node = entry_new(all);
    struct entry *const at = entry_of(all, node);

    ++at->generation;
    at->first_child = NO_NODE;
    link_first(all, node, parent);

    const uint32_t place = place_new(all, depth_below(all, parent), node);

    fields_set(&cluster_of(all, place)->locals, place % CLUSTER_SIZE, local);
    set_parent_place(all, place, parent);
    return node;
}

// Children go before parents, so nobody is told of a place that is given up next.
void clusters_remove(struct clusters *all, uint32_t top)
{
    uint32_t node = top;

    unlink_node(all, top);
    for (;;) {
        struct entry *const at = entry_of(all, node);

        if (at->first_child != NO_NODE) {
            node = at->first_child;
            continue;
        }

        const uint32_t parent = at->parent;
        const uint32_t next = at->next_sibling;

        place_free(all, at->place);
        ++at->generation;
        at->next_sibling = all->free_entry;
        all->free_entry = node;
        if (node == top) {
            return;
        }
        entry_of(all, parent)->first_child = next;
        node = parent;
    }
}

// File a node at another depth. Its mark goes along, or it has one anyway: only what moves is filed.
static void refile(struct clusters *all, uint32_t node, uint32_t depth)
{
    struct entry *const at = entry_of(all, node);
    const uint32_t old = at->place;
    const struct cluster *const from = cluster_of(all, old);
    const uint32_t place = place_new(all, depth, node);

    lane_copy(cluster_of(all, place), place % CLUSTER_SIZE, from, old % CLUSTER_SIZE);
    place_free(all, old);
    tell_children(all, at);
}

// Go on in depth-first order below `top`; NO_NODE at the end.
static uint32_t next_below(const struct clusters *all, uint32_t node, uint32_t top)
{
    if (entry_of(all, node)->first_child != NO_NODE) {
        return entry_of(all, node)->first_child;
    }
    while (node != top) {
        const struct entry *const at = entry_of(all, node);

        if (at->next_sibling != NO_NODE) {
            return at->next_sibling;
        }
        node = at->parent;
    }
    return NO_NODE;
}

void clusters_move(struct clusters *all, uint32_t top, uint32_t parent)
{
    const uint32_t depth = depth_below(all, parent);
    const bool is_elsewhere = cluster_of(all, entry_of(all, top)->place)->depth != depth;

    unlink_node(all, top);
    link_first(all, top, parent);
    for (uint32_t node = top; is_elsewhere && node != NO_NODE; node = next_below(all, node, top)) {
        refile(all, node, depth_below(all, entry_of(all, node)->parent));
    }
    set_parent_place(all, entry_of(all, top)->place, parent);
    clusters_mark(all, entry_of(all, top)->place);
}
