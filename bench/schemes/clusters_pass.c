// SPDX-License-Identifier: MIT
// Propagation over clusters, depth by depth. Whoever changes must be noticed one depth below, and
// there are two ways. Where few have to be told, those that changed mark their children. Where many
// have, every node of the next depth looks at its parent's mark: that costs a look for each, but no
// walk over links.
#include "bench/schemes/clusters.h"

#include <stdatomic.h>
#include <string.h>

typedef float lanes __attribute__((vector_size(16)));

enum {
    lane_count = 4,
    cache_line = 64,
    line_count = cache_line / sizeof(float),
    share_size = sizeof(struct cluster) / (CLUSTER_SIZE / line_count),
    crew_least = 16, ///< Clusters of a depth from which on threads are worth their waking.
    part_size = 8,   ///< Clusters that a thread takes at a time.
    few = 16,        ///< Marking has one look for so many nodes that would look up otherwise.
};

// gcc 12 drops calls of a function that only asks for memory, unless told to inline it.
#define FETCHES __attribute__((always_inline)) static inline

/// How the clusters of a depth learn what has changed above.
enum notice { notice_marks, notice_parents, notice_all };

/// One depth of a propagation.
struct pass {
    const struct clusters *all;
    const uint32_t *numbers; ///< Clusters that are looked at.
    enum notice notice;
    atomic_uint changed; ///< Nodes.
};

static inline lanes lanes_load(const float *from)
{
    lanes out;

    memcpy(&out, from, sizeof out);
    return out;
}

static inline void lanes_store(float *to, lanes from)
{
    memcpy(to, &from, sizeof from);
}

// Load a field of four parents' worlds.
static inline lanes lanes_gather(const float *const above[lane_count], size_t field)
{
    const size_t at = field * CLUSTER_SIZE;

    return (lanes){above[0][at], above[1][at], above[2][at], above[3][at]};
}

// The formula of compose.h, on four nodes in registers.
static inline void compose_lanes(struct cluster *cluster, uint32_t lane,
                                 const float *const above[lane_count])
{
    const lanes ax = lanes_gather(above, 0), ay = lanes_gather(above, 1);
    const lanes az = lanes_gather(above, 2), aw = lanes_gather(above, 3);
    const lanes scale = lanes_gather(above, 7);
    const lanes bx = lanes_load(&cluster->locals.of[0][lane]);
    const lanes by = lanes_load(&cluster->locals.of[1][lane]);
    const lanes bz = lanes_load(&cluster->locals.of[2][lane]);
    const lanes bw = lanes_load(&cluster->locals.of[3][lane]);

    const lanes vx = lanes_load(&cluster->locals.of[4][lane]) * scale;
    const lanes vy = lanes_load(&cluster->locals.of[5][lane]) * scale;
    const lanes vz = lanes_load(&cluster->locals.of[6][lane]) * scale;
    const lanes hx = ay * vz - az * vy;
    const lanes hy = az * vx - ax * vz;
    const lanes hz = ax * vy - ay * vx;
    const lanes tx = hx + hx, ty = hy + hy, tz = hz + hz;
    const lanes px = vx + (aw * tx + (ay * tz - az * ty));
    const lanes py = vy + (aw * ty + (az * tx - ax * tz));
    const lanes pz = vz + (aw * tz + (ax * ty - ay * tx));

    lanes_store(&cluster->worlds.of[0][lane], aw * bx + ax * bw + ay * bz - az * by);
    lanes_store(&cluster->worlds.of[1][lane], aw * by + ay * bw + az * bx - ax * bz);
    lanes_store(&cluster->worlds.of[2][lane], aw * bz + az * bw + ax * by - ay * bx);
    lanes_store(&cluster->worlds.of[3][lane], aw * bw - ax * bx - ay * by - az * bz);
    lanes_store(&cluster->worlds.of[4][lane], lanes_gather(above, 4) + px);
    lanes_store(&cluster->worlds.of[5][lane], lanes_gather(above, 5) + py);
    lanes_store(&cluster->worlds.of[6][lane], lanes_gather(above, 6) + pz);
    lanes_store(&cluster->worlds.of[7][lane], scale * lanes_load(&cluster->locals.of[7][lane]));
}

// Compose four nodes. Lanes behind the last node take the parent of the first one of the four.
static inline void compose_four(const struct clusters *all, struct cluster *cluster, uint32_t lane)
{
    const float *above[lane_count];

    for (uint32_t i = 0; i < lane_count; ++i) {
        const uint32_t at = lane + i < cluster->count ? lane + i : lane;
        const uint32_t parent = cluster->parents[at];

        above[i] = &cluster_of(all, parent)->worlds.of[0][parent % CLUSTER_SIZE];
    }
    compose_lanes(cluster, lane, above);
}

static inline void copy_four(struct cluster *cluster, uint32_t lane)
{
    for (int i = 0; i < 8; ++i) {
        memcpy(&cluster->worlds.of[i][lane], &cluster->locals.of[i][lane], sizeof(lanes));
    }
}

// Arrays this short are no stream that the machine would see, so what the next cluster needs is
// asked for, into the second-level cache: the first one takes too few requests at a time (14 ns a
// node against 9, 50000x20).
#define FETCH(address) __builtin_prefetch(address, 0, 2)

// Ask for a share of a whole cluster, in the order of memory.
FETCHES void fetch_share(const struct cluster *cluster, uint32_t share)
{
    const char *const begin = (const char *)cluster + share * share_size;

    for (uint32_t at = 0; at < share_size; at += cache_line) {
        FETCH(begin + at);
    }
}

// Ask for the line that a node is in, of each field.
FETCHES void fetch_line(const struct cluster *cluster, uint32_t lane)
{
    for (int i = 0; i < 8; ++i) {
        FETCH(&cluster->locals.of[i][lane]);
        FETCH(&cluster->worlds.of[i][lane]);
    }
}

// Ask for the world of a node's parent.
FETCHES void fetch_above(const struct clusters *all, const struct cluster *cluster, uint32_t lane)
{
    const uint32_t parent = cluster->parents[lane];
    const struct cluster *const above = cluster_of(all, parent);

    for (int i = 0; cluster->depth > 0 && i < 8; ++i) {
        FETCH(&above->worlds.of[i][parent % CLUSTER_SIZE]);
    }
}

// Ask for what will be needed of a line of nodes: all of them, or those that are stale.
FETCHES void fetch_nodes(const struct pass *pass, const struct cluster *cluster, uint32_t lane)
{
    const uint64_t stale = cluster->stale[lane / 64] >> lane % 64 & 0xffff;

    if (pass->notice != notice_marks) {
        fetch_share(cluster, lane / line_count);
        fetch_above(pass->all, cluster, lane);
        fetch_above(pass->all, cluster, lane + line_count / 2);
    } else if (stale != 0) {
        fetch_line(cluster, lane);
        fetch_above(pass->all, cluster, lane + (uint32_t)__builtin_ctzll(stale));
    }
}

// Ask for what tells whether a cluster is to be composed, and from whom.
FETCHES void fetch_head(const struct cluster *cluster)
{
    FETCH(cluster);
    for (uint32_t lane = 0; lane < CLUSTER_SIZE; lane += line_count) {
        FETCH(&cluster->parents[lane]);
    }
}

// Compose the nodes wanted, and others of the same four: their worlds come out as they are.
static void compose_fours(const struct clusters *all, struct cluster *cluster, uint32_t begin,
                          uint32_t wanted)
{
    for (uint32_t i = 0; i < line_count; i += lane_count) {
        if ((wanted >> i & 15) == 0) {
            continue;
        }
        if (cluster->depth == 0) {
            copy_four(cluster, begin + i);
        } else {
            compose_four(all, cluster, begin + i);
        }
    }
}

// Line by line, with the same line of the next cluster fetched on the way.
static void compose_cluster(const struct pass *pass, struct cluster *cluster,
                            const uint64_t wanted[MARK_WORDS], const struct cluster *next)
{
    for (uint32_t lane = 0; lane < CLUSTER_SIZE; lane += line_count) {
        const uint32_t bits = (uint32_t)(wanted[lane / 64] >> lane % 64 & 0xffff);

        if (next != NULL) {
            fetch_nodes(pass, next, lane);
        }
        if (bits != 0) {
            compose_fours(pass->all, cluster, lane, bits);
        }
    }
}

// Add the nodes whose parent has changed.
static void add_below(const struct clusters *all, const struct cluster *cluster,
                      uint64_t wanted[MARK_WORDS])
{
    for (uint32_t lane = 0; lane < cluster->count; ++lane) {
        const uint32_t parent = cluster->parents[lane];
        const struct cluster *const above = cluster_of(all, parent);
        const uint32_t at = parent % CLUSTER_SIZE;
        const uint64_t bit = above->changed[at / 64] >> at % 64 & (above->frame == all->frame);

        wanted[lane / 64] |= bit << lane % 64;
    }
}

static uint64_t lowest_bits(uint32_t count)
{
    return count >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << count) - 1;
}

static uint32_t count_bits(const uint64_t words[MARK_WORDS])
{
    return (uint32_t)(__builtin_popcountll(words[0]) + __builtin_popcountll(words[1]));
}

// Return how many nodes of a cluster change.
static uint32_t pass_cluster(const struct pass *pass, struct cluster *cluster,
                             const struct cluster *next)
{
    uint64_t live[MARK_WORDS] = {lowest_bits(cluster->count), 0};
    uint64_t wanted[MARK_WORDS];

    if (cluster->count > 64) {
        live[1] = lowest_bits(cluster->count - 64);
    }
    memcpy(wanted, pass->notice == notice_all ? live : cluster->stale, sizeof wanted);
    if (pass->notice == notice_parents && memcmp(wanted, live, sizeof live) != 0) {
        add_below(pass->all, cluster, wanted);
    }
    memset(cluster->stale, 0, sizeof cluster->stale);
    cluster->stale_rank = NO_NODE;

    const uint32_t count = count_bits(wanted);
    if (count > 0) {
        compose_cluster(pass, cluster, wanted, next);
        memcpy(cluster->changed, wanted, sizeof wanted);
        cluster->frame = pass->all->frame;
    }
    return count;
}

static void pass_part(void *context, size_t begin, size_t end)
{
    struct pass *const pass = context;
    struct cluster *const *const table = pass->all->table;
    const uint32_t *const numbers = pass->numbers;
    uint32_t changed = 0;

    for (size_t i = begin; i < end; ++i) {
        struct cluster *const cluster = table[numbers[i]];

        if (i + 2 < end) {
            fetch_head(table[numbers[i + 2]]);
        }
        changed += pass_cluster(pass, cluster, i + 1 < end ? table[numbers[i + 1]] : NULL);
    }
    atomic_fetch_add_explicit(&pass->changed, changed, memory_order_relaxed);
}

// Mark the children of a node, which cost a look each, as does the node.
// Return what is left of the looks; 0: there were too few.
static uint32_t mark_children(struct clusters *all, uint32_t node, uint32_t looks)
{
    for (uint32_t child = entry_of(all, node)->first_child; child != NO_NODE && looks > 1;
         --looks) {
        const struct entry *const at = entry_of(all, child);

        clusters_mark(all, at->place);
        child = at->next_sibling;
    }
    return looks - 1;
}

// Mark the children of all that changed in these clusters, with so many looks at most. Return
// whether all are marked; marks that were set before it came to nothing do no harm.
static bool mark_below(struct clusters *all, const uint32_t *numbers, uint32_t count,
                       uint32_t looks)
{
    for (uint32_t i = 0; i < count; ++i) {
        const struct cluster *const cluster = all->table[numbers[i]];

        for (uint32_t word = 0; cluster->frame == all->frame && word < MARK_WORDS; ++word) {
            for (uint64_t bits = cluster->changed[word]; bits != 0; bits &= bits - 1) {
                const uint32_t lane = word * 64 + (uint32_t)__builtin_ctzll(bits);

                looks = mark_children(all, cluster->entries[lane], looks);
                if (looks == 0) {
                    return false;
                }
            }
        }
    }
    return true;
}

// Return how nodes of a depth learn that so many have changed at the one above, in these clusters.
static enum notice tell_below(struct clusters *all, uint32_t at, const uint32_t *numbers,
                              uint32_t count, uint32_t changed)
{
    if (changed == 0 || at == all->depth_count) {
        return notice_marks;
    }
    if (changed == all->depths[at - 1].nodes) {
        return notice_all;
    }
    return mark_below(all, numbers, count, 2 + all->depths[at].nodes / few) ? notice_marks
                                                                            : notice_parents;
}

// Bring a depth up to date. Return how the next one learns of it.
static enum notice pass_depth(struct clusters *all, uint32_t at, enum notice notice)
{
    struct depth *const depth = &all->depths[at];
    const bool sees_all = notice != notice_marks;
    const uint32_t count = sees_all ? depth->cluster_count : depth->stale_count;
    struct pass pass = {
        .all = all, .numbers = sees_all ? depth->clusters : depth->stale, .notice = notice};

    crew_run(count >= crew_least ? all->crew : NULL, pass_part, &pass, count, part_size);
    depth->stale_count = 0;

    const uint32_t changed = atomic_load_explicit(&pass.changed, memory_order_relaxed);
    return tell_below(all, at + 1, pass.numbers, count, changed);
}

void clusters_propagate(struct clusters *all)
{
    enum notice notice = notice_marks;

    ++all->frame;
    for (uint32_t at = 0; at < all->depth_count; ++at) {
        const bool is_idle = notice == notice_marks && all->depths[at].stale_count == 0;

        notice = is_idle ? notice_marks : pass_depth(all, at, notice);
    }
}
