// SPDX-License-Identifier: MIT
// Clusters as leaves of codes: which members go into which cluster.
//
// Arrivals are inserted at once: sorted by code, they fall into runs, each of which goes into one leaf. A leaf
// that gets too many becomes several, of which each has as many members. So many arrivals cost a sort and a
// pass over them, and a single one costs a search.
#include "lib/renderables/renderables.h"

#include "lib/base/bits.h"
#include "lib/base/key_sort.h"
#include "lib/base/prefetch.h"

#include <string.h>

uint32_t espl__count_members(const espl__member_bits *bits)
{
    return espl__count_bits(bits->words[0]) + espl__count_bits(bits->words[1]);
}

// --- Memory ---

bool espl__clusters_reserve(espl_renderables *r, size_t clusters)
{
    espl__heap *const heap = &r->world->heap;
    const size_t states = espl__array_length(r->states), dirty = espl__array_length(r->dirty);
    const size_t pages = (clusters + ESPL__CLUSTER_PAGE - 1) / ESPL__CLUSTER_PAGE;

    while (espl__array_length(r->pages) < pages) {
        espl__cluster *page = NULL;

        // NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers to pages.
        if (ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->pages, 1)) {
            page = espl__heap_take(heap, ESPL__FOR_CHANGES, ESPL__CLUSTER_PAGE, sizeof *page,
                                   ESPL__CLUSTER_ALIGNMENT);
        }
        if (page == NULL) {
            return false;
        }
        ESPL_ARRAY_PUSH(r->pages, page);
    }
    if (states < clusters) {
        if (!ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->states, clusters - states)) {
            return false;
        }
        espl__array_set_length(r->states, clusters);
        memset(r->states + states, 0, clusters - states);
    }
    return clusters <= dirty ||
           ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->dirty, clusters - dirty);
}

// --- Plans ---

// Complete an arrival that is a member: where it is now may be another slot than when it was listed.
// @return false: it went, so that it does not move to another cluster.
static bool complete_mover(const espl_renderables *r, espl__arrival *arrival)
{
    const espl__cluster *const cluster = espl__cluster_at(r, espl__member_cluster(arrival->source));
    const uint32_t place = espl__member_place(arrival->source);

    arrival->slot = cluster->slots[place];
    arrival->entity = cluster->entities[place];
    return !espl__has_bit(&cluster->gone, place);
}

// Sort the arrivals of a category by code. Arrivals of one code keep their order.
static bool sort_arrivals(espl_renderables *r, int category)
{
    espl__heap *const heap = &r->world->heap;
    espl__arrival *const arrivals = r->arrivals[category];
    const size_t count = espl__array_length(arrivals);
    uint64_t differing = 0;
    size_t kept = 0;

    espl__array_set_length(r->orders[category], 0);
    if (count == 0) {
        return true;
    }
    if (!ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->keys[0], count) ||
        !ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->keys[1], count) ||
        !ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->orders[category], count)) {
        return false;
    }
    espl__sort_key *items = r->keys[0], *spare = r->keys[1];

    for (uint32_t i = 0; i < count; ++i) {
        if ((arrivals[i].source & ESPL__FROM_STORE) != 0 || complete_mover(r, &arrivals[i])) {
            items[kept++] = (espl__sort_key){(uint32_t)arrivals[i].code, i};
            differing |= arrivals[i].code ^ arrivals[0].code;
        }
    }
    espl__sort_by_key(&items, &spare, kept);
    if (differing >> 32 != 0) {
        for (size_t i = 0; i < kept; ++i) {
            items[i].key = (uint32_t)(arrivals[items[i].number].code >> 32);
        }
        espl__sort_by_key(&items, &spare, kept);
    }
    for (size_t i = 0; i < kept; ++i) {
        r->orders[category][i] = items[i].number;
    }
    espl__array_set_length(r->orders[category], kept);
    return true;
}

// Return how many leaves so many members become.
static uint32_t pieces_of(size_t members)
{
    return members <= ESPL__CLUSTER_SIZE
               ? 1
               : (uint32_t)((members + ESPL__LEAF_FILL - 1) / ESPL__LEAF_FILL);
}

// Return the end of the arrivals that go into the same leaf as one of them.
static size_t end_of_run(const espl_renderables *r, int category, uint32_t leaf, size_t begin)
{
    const espl__leaf *const leaves = r->leaves[category];
    const espl__arrival *const arrivals = r->arrivals[category];
    const uint32_t *const order = r->orders[category];
    const size_t count = espl__array_length(order);
    size_t end = begin + 1;

    if (leaf == ESPL__NO_CLUSTER || leaf + 1 == espl__array_length(leaves)) {
        return count;
    }
    while (end < count && arrivals[order[end]].code < leaves[leaf + 1].low) {
        end += 1;
    }
    return end;
}

// Return the members that go or move to another cluster.
static espl__member_bits removed_of(const espl__cluster *cluster)
{
    return (espl__member_bits){{cluster->gone.words[0] | cluster->leaving.words[0],
                                cluster->gone.words[1] | cluster->leaving.words[1]}};
}

// Count the members of a cluster that go or move to another one. Some may do both.
static uint32_t count_removed(const espl__cluster *cluster)
{
    const espl__member_bits removed = removed_of(cluster);

    return espl__count_members(&removed);
}

// Divide the sorted arrivals of a category into runs.
static bool list_runs(espl_renderables *r, int category)
{
    const size_t count = espl__array_length(r->orders[category]);

    for (size_t begin = 0, end = 0; begin < count; begin = end) {
        const uint64_t code = r->arrivals[category][r->orders[category][begin]].code;
        const uint32_t leaf = espl__find_leaf(r->leaves[category], code);

        end = end_of_run(r, category, leaf, begin);
        if (!ESPL_ARRAY_RESERVE(&r->world->heap, ESPL__FOR_CHANGES, r->runs[category], 1)) {
            return false;
        }
        ESPL_ARRAY_PUSH(
            r->runs[category],
            (espl__run){.leaf = leaf, .begin = (uint32_t)begin, .count = (uint32_t)(end - begin)});
    }
    return true;
}

// Mark the leaf of each run to be written, and count the clusters that the runs add.
static void plan_runs(espl_renderables *r, int category, espl__update *u)
{
    const size_t movers = espl__array_length(espl__arrivals_of(r, category)) -
                          (category == ESPL__MOVING ? 0 : u->added);

    for (size_t i = 0; i < espl__array_length(r->runs[category]); ++i) {
        espl__run *const run = &r->runs[category][i];
        size_t members = 0;

        if (run->leaf != ESPL__NO_CLUSTER) {
            const uint32_t number = r->leaves[category][run->leaf].cluster;
            const espl__cluster *const cluster = espl__cluster_at(r, number);

            members = espl__cluster_members(cluster) - count_removed(cluster);
            espl__mark_dirty(r, number, ESPL__WRITE_MEMBERS);
        }
        run->pieces = pieces_of(members + run->count);
        const size_t added = run->pieces - (run->leaf != ESPL__NO_CLUSTER ? 1 : 0);

        // Leaves at both ends of a run may be joined with others.
        const size_t mixed = members + movers + (size_t)2 * (ESPL__JOINED - 1);

        u->new_clusters += added;
        u->mixed_clusters += added < mixed ? added : mixed;
        u->thin_clusters += run->leaf == ESPL__NO_CLUSTER && run->count < ESPL__MERGE_BELOW ? 1 : 0;
    }
}

// Tell whether a cluster is written because members leave it: it has many holes then, or few members, or a
// member that leaves is counted as bad or as a union.
static bool is_rewritten(const espl__cluster *cluster, uint32_t left)
{
    enum { SHARE_OF_HOLES = 3 };
    uint64_t counted = 0;

    for (int i = 0; i < ESPL__MEMBER_WORDS; ++i) {
        counted |=
            (cluster->gone.words[i] | cluster->leaving.words[i]) &
            (cluster->bad_local.words[i] | cluster->bad_world.words[i] | cluster->unions.words[i]);
    }
    return left < ESPL__MERGE_BELOW || (cluster->count - left) * SHARE_OF_HOLES > cluster->count ||
           counted != 0;
}

static void plan_removals(espl_renderables *r, uint32_t number)
{
    if ((r->states[number] & ESPL__WRITE_HOLES) == 0) {
        return;
    }
    const espl__cluster *const cluster = espl__cluster_at(r, number);
    const uint32_t removed = count_removed(cluster);
    const uint32_t left = espl__cluster_members(cluster) - removed;

    if (removed != 0 && is_rewritten(cluster, left)) {
        espl__mark_dirty(r, number, ESPL__WRITE_MEMBERS);
    }
}

bool espl__sort_arrivals(espl_renderables *r)
{
    for (size_t i = 0; i < espl__array_length(r->dirty); ++i) {
        plan_removals(r, r->dirty[i].cluster);
    }
    return sort_arrivals(r, ESPL__STILL) && list_runs(r, ESPL__STILL) &&
           sort_arrivals(r, ESPL__MOVING) && list_runs(r, ESPL__MOVING);
}

void espl__plan_arrivals(espl_renderables *r, espl__update *u)
{
    for (int category = 0; category < ESPL__CATEGORIES; ++category) {
        plan_runs(r, category, u);
    }
    // A small cluster that is written may be merged with another one, also where it lost no member.
    for (size_t i = 0; i < espl__array_length(r->dirty); ++i) {
        const uint32_t number = r->dirty[i].cluster;

        if ((r->states[number] & ESPL__WRITE_MEMBERS) != 0) {
            const espl__cluster *const cluster = espl__cluster_at(r, number);
            const uint32_t left = espl__cluster_members(cluster) - count_removed(cluster);

            u->thin_clusters += left < ESPL__MERGE_BELOW ? 1 : 0;
        }
    }
}

// --- Sources ---

// Note that the members of a cluster become others: from now on it has an array of what each was.
static espl__sources *sources_of(espl_renderables *r, uint32_t number)
{
    const espl__cluster *const cluster = espl__cluster_at(r, number);

    espl__mark_dirty(r, number, ESPL__WRITE_MEMBERS);
    espl__dirty *const dirty = &r->dirty[cluster->dirty];

    if (dirty->sources == ESPL__NO_CLUSTER) {
        const size_t at = espl__array_length(r->sources);

        ESPL_CHECK(at < espl__array_capacity(r->sources));
        espl__array_set_length(r->sources, at + 1);
        dirty->sources = (uint32_t)at;
        for (uint32_t place = 0; place < cluster->count; ++place) {
            r->sources[at].of[place] = espl__member(number, place);
        }
    }
    return &r->sources[dirty->sources];
}

// --- Removal ---

// Let a member leave its slot.
static void leave_slot(espl_renderables *r, uint32_t number, uint32_t place)
{
    const espl__cluster *const cluster = espl__cluster_at(r, number);

    // A slot of a member that went may have another one already.
    if (!espl__has_bit(&cluster->gone, place)) {
        r->member_of[cluster->slots[place]] = ESPL__NO_MEMBER;
    }
    r->counts[espl__cluster_category(r, number)] -= 1;
}

// Remove the members of a cluster that go or move to another cluster, and the holes. The last member takes the
// place of each.
static void remove_members(espl_renderables *r, uint32_t number)
{
    espl__cluster *const cluster = espl__cluster_at(r, number);
    espl__sources *const sources = sources_of(r, number);
    const espl__member_bits removed = removed_of(cluster);

    for (uint32_t place = cluster->count; place-- > 0;) {
        const bool is_hole = espl__has_bit(&cluster->holes, place);

        if (!is_hole && !espl__has_bit(&removed, place)) {
            continue;
        }
        const uint32_t last = cluster->count - 1;

        if (!is_hole) {
            leave_slot(r, number, place);
        }
        if (place != last) {
            cluster->slots[place] = cluster->slots[last];
            cluster->entities[place] = cluster->entities[last];
            cluster->codes[place] = cluster->codes[last];
            sources->of[place] = sources->of[last];
            r->member_of[cluster->slots[place]] = espl__member(number, place);
            espl__put_bit(&cluster->moved, place, espl__has_bit(&cluster->moved, last));
        }
        cluster->count = last;
    }
    cluster->gone = cluster->leaving = cluster->holes = (espl__member_bits){{0, 0}};
}

// Make holes of the members of a cluster that go or move to another cluster.
static void make_holes(espl_renderables *r, uint32_t number)
{
    espl__cluster *const cluster = espl__cluster_at(r, number);
    const espl__member_bits removed = removed_of(cluster);

    for (uint32_t place = 0; place < cluster->count; ++place) {
        if (espl__has_bit(&removed, place)) {
            leave_slot(r, number, place);
        }
    }
    for (int i = 0; i < ESPL__MEMBER_WORDS; ++i) {
        cluster->holes.words[i] |= removed.words[i];
        cluster->moved.words[i] &= ~removed.words[i];
        cluster->astray.words[i] &= ~removed.words[i];
        cluster->reload.words[i] &= ~cluster->gone.words[i];
    }
    cluster->gone = cluster->leaving = (espl__member_bits){{0, 0}};
}

// --- Insertion ---

// A member on its way into a cluster.
typedef struct filed {
    uint64_t code;
    espl_entity entity;
    uint32_t slot, source;
    bool rests; // it has not moved since the leaf that it comes from was looked at
} filed;

static void append_member(espl_renderables *r, uint32_t number, espl__sources *sources,
                          const filed *member)
{
    espl__cluster *const cluster = espl__cluster_at(r, number);
    const uint32_t place = cluster->count++;

    ESPL_CHECK(place < ESPL__CLUSTER_SIZE);
    cluster->slots[place] = member->slot;
    espl__put_bit(&cluster->moved, place, !member->rests);
    cluster->entities[place] = member->entity;
    cluster->codes[place] = member->code;
    sources->of[place] = member->source;
    r->member_of[member->slot] = espl__member(number, place);
}

static filed filed_of(const espl__arrival *arrival)
{
    return (filed){arrival->code, arrival->entity, arrival->slot, arrival->source, false};
}

// Add a cluster without members.
static uint32_t add_cluster(espl_renderables *r, int category)
{
    static const uint8_t bits[ESPL__CATEGORIES] = {
        [ESPL__STILL] = ESPL__CLUSTER_USED,
        [ESPL__RECENT] = ESPL__CLUSTER_USED | ESPL__CLUSTER_RECENT,
        [ESPL__MOVING] = ESPL__CLUSTER_USED | ESPL__CLUSTER_MOVING,
    };
    const uint32_t number = espl__tables_add_cluster(&r->tables);
    espl__cluster *const cluster = espl__cluster_at(r, number);

    memset(cluster, 0, sizeof *cluster);
    cluster->looked_at = (uint32_t)r->tables.number - ESPL__STILL_AFTER;
    r->states[number] = bits[category];
    return number;
}

// Take the members of a leaf out, sorted by code. @return their number.
static uint32_t take_out(const espl_renderables *r, uint32_t number, const espl__sources *sources,
                         filed out[ESPL__CLUSTER_SIZE])
{
    espl__cluster *const cluster = espl__cluster_at(r, number);
    const uint32_t count = cluster->count;

    for (uint32_t place = 0; place < count; ++place) {
        const filed member = {cluster->codes[place], cluster->entities[place],
                              cluster->slots[place], sources->of[place],
                              !espl__has_bit(&cluster->moved, place)};
        uint32_t at = place;

        // An insertion sort, because there are few, most of which are in order.
        for (; at > 0 && out[at - 1].code > member.code; --at) {
            out[at] = out[at - 1];
        }
        out[at] = member;
    }
    cluster->count = 0;
    return count;
}

// Members of a leaf and of a run, in the order of their codes.
typedef struct merging {
    const filed *old;
    uint32_t old_count, at_old;
    const espl__arrival *arrivals;
    const uint32_t *order;
    uint32_t count, at;
} merging;

static filed next_filed(merging *m)
{
    enum { AHEAD = 12 };

    if (m->at + AHEAD < m->count) {
        espl__prefetch(&m->arrivals[m->order[m->at + AHEAD]]);
    }
    if (m->at == m->count || (m->at_old != m->old_count &&
                              m->old[m->at_old].code <= m->arrivals[m->order[m->at]].code)) {
        return m->old[m->at_old++];
    }
    return filed_of(&m->arrivals[m->order[m->at++]]);
}

// Divide the members of a leaf and of a run among several leaves.
// @param leaves  in and out: [pieces] the first one has the leaf, where there was one.
static void divide(espl_renderables *r, int category, const espl__run *run, espl__leaf *leaves)
{
    filed old[ESPL__CLUSTER_SIZE];
    merging m = {.old = old,
                 .arrivals = espl__arrivals_of(r, category),
                 .order = r->orders[category] + run->begin,
                 .count = run->count};

    if (run->leaf != ESPL__NO_CLUSTER) {
        m.old_count = take_out(r, leaves[0].cluster, sources_of(r, leaves[0].cluster), old);
    }
    // 64 bits: its products with the number of a piece have more than 32.
    const uint64_t members = (uint64_t)m.old_count + run->count;

    for (uint32_t piece = 0; piece < run->pieces; ++piece) {
        const uint64_t begin = members * piece / run->pieces,
                       end = members * (piece + 1) / run->pieces;

        if (piece != 0 || run->leaf == ESPL__NO_CLUSTER) {
            leaves[piece].cluster = add_cluster(r, category);
            if (run->leaf != ESPL__NO_CLUSTER) {
                espl__cluster_at(r, leaves[piece].cluster)->looked_at =
                    espl__cluster_at(r, leaves[0].cluster)->looked_at;
            }
            leaves[piece].since = (uint32_t)r->tables.number;
        }
        espl__sources *const sources = sources_of(r, leaves[piece].cluster);

        for (uint64_t i = begin; i < end; ++i) {
            const filed member = next_filed(&m);

            if (i == begin && (piece != 0 || category == ESPL__RECENT)) {
                leaves[piece].low = member.code;
            }
            append_member(r, leaves[piece].cluster, sources, &member);
        }
    }
}

// Insert a run into a leaf that has room for it.
static void insert_run(espl_renderables *r, int category, const espl__run *run)
{
    const espl__arrival *const arrivals = espl__arrivals_of(r, category);
    espl__leaf *const leaf = &r->leaves[category][run->leaf];
    espl__sources *const sources = sources_of(r, leaf->cluster);

    for (uint32_t i = 0; i < run->count; ++i) {
        const filed member = filed_of(&arrivals[r->orders[category][run->begin + i]]);

        leaf->low = member.code < leaf->low ? member.code : leaf->low;
        append_member(r, leaf->cluster, sources, &member);
    }
}

// Insert the runs of a category. Leaves are copied to a new list where there are more than before.
static void insert_runs(espl_renderables *r, int category)
{
    const espl__run *const runs = r->runs[category];
    const size_t run_count = espl__array_length(runs);
    bool has_new = false;

    for (size_t i = 0; i < run_count; ++i) {
        r->counts[category] += runs[i].count;
        if (runs[i].pieces == 1 && runs[i].leaf != ESPL__NO_CLUSTER) {
            insert_run(r, category, &runs[i]);
        } else {
            has_new = true;
        }
    }
    if (!has_new) {
        return;
    }
    const espl__leaf *const from = r->leaves[category];
    const uint32_t leaf_count = (uint32_t)espl__array_length(from);
    espl__leaf *const to = r->spare_leaves[category];
    size_t written = 0;
    uint32_t copied = 0;

    for (size_t i = 0; i < run_count; ++i) {
        const espl__run *const run = &runs[i];
        const uint32_t first = run->leaf != ESPL__NO_CLUSTER ? run->leaf : leaf_count;

        if (run->pieces == 1 && run->leaf != ESPL__NO_CLUSTER) {
            continue;
        }
        if (first != copied) {
            memcpy(to + written, from + copied, (first - copied) * sizeof *to);
        }
        written += first - copied;
        to[written] = run->leaf != ESPL__NO_CLUSTER ? from[first] : (espl__leaf){0};
        divide(r, category, run, to + written);
        written += run->pieces;
        copied = first + (run->leaf != ESPL__NO_CLUSTER ? 1 : 0);
    }
    if (leaf_count != copied) {
        memcpy(to + written, from + copied, (leaf_count - copied) * sizeof *to);
    }
    written += leaf_count - copied;
    espl__array_set_length(to, written);
    r->spare_leaves[category] = r->leaves[category];
    r->leaves[category] = to;
    r->has_new_order = true;
}

// --- Leaves with few members ---

// Divide the members of neighbours among all of them but the last one, which has none then.
static void join_leaves(espl_renderables *r, espl__leaf *leaves, uint32_t count)
{
    // They fit into one cluster less.
    filed members[(ESPL__JOINED - 1) * ESPL__CLUSTER_SIZE];
    uint32_t total = 0, next = 0, looked_at = espl__cluster_at(r, leaves[0].cluster)->looked_at;

    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t number = leaves[i].cluster;
        const uint32_t at = espl__cluster_at(r, number)->looked_at;

        // What has not moved since an earlier look has not moved since the last one of all.
        looked_at = at - looked_at <= INT32_MAX ? at : looked_at;
        if (espl__has_bits(&espl__cluster_at(r, number)->holes)) {
            remove_members(r, number);
        }
        ESPL_CHECK(total + espl__cluster_at(r, number)->count <= (count - 1) * ESPL__CLUSTER_SIZE);
        total += take_out(r, number, sources_of(r, number), members + total);
    }
    for (uint32_t piece = 0; piece + 1 < count; ++piece) {
        espl__sources *const sources = sources_of(r, leaves[piece].cluster);
        const uint32_t end = total * (piece + 1) / (count - 1);

        espl__cluster_at(r, leaves[piece].cluster)->looked_at = looked_at;
        if (piece != 0) {
            leaves[piece].low = members[next].code;
        }
        for (; next < end; ++next) {
            append_member(r, leaves[piece].cluster, sources, &members[next]);
        }
    }
}

static void remove_cluster(espl_renderables *r, uint32_t number)
{
    espl__cluster *const cluster = espl__cluster_at(r, number);

    // It is in the list of clusters to be written, because its members went.
    ESPL_CHECK((r->states[number] & ESPL__WRITE_ANY) != 0 && cluster->count == 0);
    r->states[number] = 0;
}

static uint32_t members_of_leaf(const espl_renderables *r, const espl__leaf *leaf)
{
    return espl__cluster_members(espl__cluster_at(r, leaf->cluster));
}

static bool is_written_whole(const espl_renderables *r, const espl__leaf *leaf)
{
    return (r->states[leaf->cluster] & ESPL__WRITE_MEMBERS) != 0;
}

// Return how many of the last leaves of a list become one less; 0: none. All of them are written anyway, but the
// last one but one where the last one has few members.
static uint32_t joined_of(const espl_renderables *r, const espl__leaf *leaves, uint32_t count,
                          uint32_t most)
{
    const bool is_small = members_of_leaf(r, &leaves[count - 1]) < ESPL__MERGE_BELOW;
    uint32_t members = 0;

    for (uint32_t joined = 1; joined <= most && joined <= count; ++joined) {
        const espl__leaf *const leaf = &leaves[count - joined];

        members += members_of_leaf(r, leaf);
        if (!is_written_whole(r, leaf) && !(is_small && joined == 2)) {
            return 0;
        }
        if (joined > 1 && members <= (joined - 1) * ESPL__JOINED_FILL) {
            return joined;
        }
    }
    return 0;
}

// Remove leaves without members, and join neighbours that have few.
static void merge_leaves(espl_renderables *r, int category)
{
    espl__leaf *const leaves = r->leaves[category];
    const uint32_t count = (uint32_t)espl__array_length(leaves);
    // Recent leaves have ranges that overlap.
    const uint32_t most = category == ESPL__RECENT ? 2 : ESPL__JOINED;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; ++i) {
        leaves[kept++] = leaves[i];
        if (!is_written_whole(r, &leaves[i])) {
            continue;
        }
        if (espl__cluster_at(r, leaves[i].cluster)->count == 0) {
            remove_cluster(r, leaves[--kept].cluster);
            continue;
        }
        const uint32_t joined = joined_of(r, leaves, kept, most);

        if (joined != 0) {
            const uint64_t low = leaves[kept - joined].low, last_low = leaves[kept - 1].low;

            join_leaves(r, &leaves[kept - joined], joined);
            leaves[kept - joined].low = low < last_low ? low : last_low;
            remove_cluster(r, leaves[--kept].cluster);
        }
    }
    if (kept != count) {
        espl__array_set_length(leaves, kept);
        r->has_new_order = true;
    }
    if (kept != 0 && category != ESPL__RECENT) {
        leaves[0].low = 0;
    }
}

// --- All of it ---

void espl__refile(espl_renderables *r, espl__update *u)
{
    const size_t listed = espl__array_length(r->dirty);
    bool has_small = false;
    size_t written = 0;

    (void)u;
    for (size_t i = 0; i < listed; ++i) {
        const uint32_t number = r->dirty[i].cluster, state = r->states[number];

        // Most clusters are those of which only poses are written.
        if ((state & (ESPL__WRITE_MEMBERS | ESPL__WRITE_HOLES)) == 0) {
            continue;
        }
        const espl__cluster *const cluster = espl__cluster_at(r, number);
        const bool loses_some = count_removed(cluster) != 0;

        if ((state & ESPL__WRITE_MEMBERS) != 0) {
            written += 1;
            if (loses_some || espl__has_bits(&cluster->holes)) {
                remove_members(r, number);
            }
            has_small = has_small || (loses_some && cluster->count < ESPL__MERGE_BELOW);
        } else if (loses_some) {
            make_holes(r, number);
        }
    }
    espl__array_set_length(r->gone, 0);
    for (int category = 0; category < ESPL__CATEGORIES; ++category) {
        insert_runs(r, category);
        if (has_small || written * 64 > espl__array_length(r->leaves[category])) {
            merge_leaves(r, category);
        }
    }
}
