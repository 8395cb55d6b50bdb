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

// Return the leaf that a code goes into: the last one that does not begin above it. ESPL__NO_CLUSTER where
// there is none.
static uint32_t find_leaf(const espl__leaf *leaves, uint64_t code)
{
    uint32_t begin = 0, end = (uint32_t)espl__array_length(leaves);

    if (end == 0) {
        return ESPL__NO_CLUSTER;
    }
    // The first leaf has all codes below that of the second one.
    while (end - begin > 1) {
        const uint32_t middle = begin + (end - begin) / 2;

        if (leaves[middle].low <= code) {
            begin = middle;
        } else {
            end = middle;
        }
    }
    return begin;
}

uint32_t espl__find_cluster(const espl_renderables *r, int category, uint64_t code)
{
    const uint32_t leaf = find_leaf(r->leaves[category], code);

    return leaf != ESPL__NO_CLUSTER ? r->leaves[category][leaf].cluster : ESPL__NO_CLUSTER;
}

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

// Count the members of a cluster that go or move to another one. Some may do both.
static uint32_t count_removed(const espl__cluster *cluster)
{
    return espl__count_members(
        &(espl__member_bits){{cluster->gone.words[0] | cluster->leaving.words[0],
                              cluster->gone.words[1] | cluster->leaving.words[1]}});
}

// Divide the sorted arrivals of a category into runs, and list the leaves that get some.
static bool list_runs(espl_renderables *r, int category, espl__update *u)
{
    const size_t count = espl__array_length(r->orders[category]);
    const size_t movers =
        espl__array_length(r->arrivals[category]) - (category == ESPL__STILL ? u->added : 0);

    espl__array_set_length(r->runs[category], 0);
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
        const uint64_t code = r->arrivals[category][r->orders[category][begin]].code;
        const uint32_t leaf = find_leaf(r->leaves[category], code);
        size_t members = 0;

        end = end_of_run(r, category, leaf, begin);
        if (leaf != ESPL__NO_CLUSTER) {
            const uint32_t number = r->leaves[category][leaf].cluster;
            const espl__cluster *const cluster = espl__cluster_at(r, number);

            members = cluster->count - count_removed(cluster);
            espl__mark_dirty(r, number, ESPL__WRITE_MEMBERS);
        }
        const uint32_t pieces = pieces_of(members + (end - begin));

        if (!ESPL_ARRAY_RESERVE(&r->world->heap, ESPL__FOR_CHANGES, r->runs[category], 1)) {
            return false;
        }
        ESPL_ARRAY_PUSH(r->runs[category],
                        (espl__run){leaf, (uint32_t)begin, (uint32_t)(end - begin), pieces});
        const size_t added = pieces - (leaf != ESPL__NO_CLUSTER ? 1 : 0);

        u->new_clusters += added;
        u->mixed_clusters += added < members + movers ? added : members + movers;
    }
    return true;
}

bool espl__plan_arrivals(espl_renderables *r, espl__update *u)
{
    bool is_done = true;

    for (int category = 0; category < ESPL__CATEGORIES && is_done; ++category) {
        is_done = sort_arrivals(r, category) && list_runs(r, category, u);
    }
    for (size_t i = 0; i < espl__array_length(r->dirty); ++i) {
        const espl__cluster *const cluster = espl__cluster_at(r, r->dirty[i].cluster);
        const uint32_t removed = count_removed(cluster);

        u->thin_clusters += removed != 0 && cluster->count - removed < ESPL__MERGE_BELOW ? 1 : 0;
    }
    return is_done;
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

// Remove the members of a cluster that go or move to another cluster. The last one takes the place of each.
static void remove_members(espl_renderables *r, uint32_t number)
{
    espl__cluster *const cluster = espl__cluster_at(r, number);
    espl__sources *const sources = sources_of(r, number);

    for (uint32_t place = cluster->count; place-- > 0;) {
        const bool is_gone = espl__has_bit(&cluster->gone, place);

        if (!is_gone && !espl__has_bit(&cluster->leaving, place)) {
            continue;
        }
        const uint32_t last = cluster->count - 1;

        // A slot of a member that went may have another one already.
        if (!is_gone) {
            r->member_of[cluster->slots[place]] = ESPL__NO_MEMBER;
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
        r->counts[(r->states[number] & ESPL__CLUSTER_MOVING) != 0 ? ESPL__MOVING : ESPL__STILL] -=
            1;
    }
    cluster->gone = cluster->leaving = (espl__member_bits){{0, 0}};
}

// --- Insertion ---

// A member on its way into a cluster.
typedef struct filed {
    uint64_t code;
    espl_entity entity;
    uint32_t slot, source;
} filed;

static void append_member(espl_renderables *r, uint32_t number, espl__sources *sources,
                          const filed *member)
{
    espl__cluster *const cluster = espl__cluster_at(r, number);
    const uint32_t place = cluster->count++;

    ESPL_CHECK(place < ESPL__CLUSTER_SIZE);
    cluster->slots[place] = member->slot;
    espl__set_bit(&cluster->moved, place);
    cluster->entities[place] = member->entity;
    cluster->codes[place] = member->code;
    sources->of[place] = member->source;
    r->member_of[member->slot] = espl__member(number, place);
}

static filed filed_of(const espl__arrival *arrival)
{
    return (filed){arrival->code, arrival->entity, arrival->slot, arrival->source};
}

// Add a cluster without members.
static uint32_t add_cluster(espl_renderables *r, int category)
{
    const uint32_t number = espl__tables_add_cluster(&r->tables);
    espl__cluster *const cluster = espl__cluster_at(r, number);

    memset(cluster, 0, sizeof *cluster);
    cluster->looked_at = (uint32_t)r->tables.number - ESPL__STILL_AFTER;
    r->states[number] =
        (uint8_t)(ESPL__CLUSTER_USED | (category == ESPL__MOVING ? ESPL__CLUSTER_MOVING : 0));
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
                              cluster->slots[place], sources->of[place]};
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
                 .arrivals = r->arrivals[category],
                 .order = r->orders[category] + run->begin,
                 .count = run->count};

    if (run->leaf != ESPL__NO_CLUSTER) {
        m.old_count = take_out(r, leaves[0].cluster, sources_of(r, leaves[0].cluster), old);
    }
    const size_t members = (size_t)m.old_count + run->count;

    for (uint32_t piece = 0; piece < run->pieces; ++piece) {
        const size_t begin = members * piece / run->pieces,
                     end = members * (piece + 1) / run->pieces;

        if (piece != 0 || run->leaf == ESPL__NO_CLUSTER) {
            leaves[piece].cluster = add_cluster(r, category);
        }
        espl__sources *const sources = sources_of(r, leaves[piece].cluster);

        for (size_t i = begin; i < end; ++i) {
            const filed member = next_filed(&m);

            if (i == begin && piece != 0) {
                leaves[piece].low = member.code;
            }
            append_member(r, leaves[piece].cluster, sources, &member);
        }
    }
}

// Insert a run into a leaf that has room for it.
static void insert_run(espl_renderables *r, int category, const espl__run *run)
{
    const uint32_t number = r->leaves[category][run->leaf].cluster;
    espl__sources *const sources = sources_of(r, number);

    for (uint32_t i = 0; i < run->count; ++i) {
        const filed member = filed_of(&r->arrivals[category][r->orders[category][run->begin + i]]);

        append_member(r, number, sources, &member);
    }
}

// Insert the runs of a category. Leaves are copied to a new list where there are more than before.
static void insert_runs(espl_renderables *r, int category)
{
    const espl__run *const runs = r->runs[category];
    const size_t run_count = espl__array_length(runs);
    bool has_new = false;

    for (size_t i = 0; i < run_count; ++i) {
        if (runs[i].pieces == 1 && runs[i].leaf != ESPL__NO_CLUSTER) {
            insert_run(r, category, &runs[i]);
        } else {
            has_new = true;
        }
    }
    r->counts[category] += espl__array_length(r->orders[category]);
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
        const uint32_t first = run->leaf != ESPL__NO_CLUSTER ? run->leaf : 0;

        if (run->pieces == 1 && run->leaf != ESPL__NO_CLUSTER) {
            continue;
        }
        if (first != copied) {
            memcpy(to + written, from + copied, (first - copied) * sizeof *to);
        }
        written += first - copied;
        to[written] = run->leaf != ESPL__NO_CLUSTER ? from[first] : (espl__leaf){0, 0};
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

// Move all members of a cluster to another one.
static void merge_into(espl_renderables *r, uint32_t from, uint32_t to)
{
    filed members[ESPL__CLUSTER_SIZE];
    const uint32_t count = take_out(r, from, sources_of(r, from), members);
    espl__sources *const sources = sources_of(r, to);

    for (uint32_t i = 0; i < count; ++i) {
        append_member(r, to, sources, &members[i]);
    }
}

static void remove_cluster(espl_renderables *r, uint32_t number)
{
    espl__cluster *const cluster = espl__cluster_at(r, number);

    // It is in the list of clusters to be written, because its members went.
    ESPL_CHECK((r->states[number] & ESPL__WRITE_ANY) != 0 && cluster->count == 0);
    r->states[number] = 0;
}

// Remove leaves without members, and merge neighbours that have few. Leaves that lost no member stay as they
// are.
static void merge_leaves(espl_renderables *r, int category)
{
    espl__leaf *const leaves = r->leaves[category];
    const uint32_t count = (uint32_t)espl__array_length(leaves);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t number = leaves[i].cluster;
        const uint32_t members = espl__cluster_at(r, number)->count;
        const bool is_small =
            members < ESPL__MERGE_BELOW && (r->states[number] & ESPL__WRITE_MEMBERS) != 0;

        if (is_small && members != 0 && kept != 0) {
            const uint32_t before = leaves[kept - 1].cluster;

            if (espl__cluster_at(r, before)->count + members <= ESPL__MERGED_FILL) {
                merge_into(r, number, before);
            }
        }
        if (espl__cluster_at(r, number)->count == 0) {
            remove_cluster(r, number);
            continue;
        }
        leaves[kept++] = leaves[i];
    }
    if (kept != count) {
        espl__array_set_length(leaves, kept);
        r->has_new_order = true;
    }
    if (kept != 0) {
        leaves[0].low = 0;
    }
}

// --- All of it ---

void espl__refile(espl_renderables *r, espl__update *u)
{
    const size_t listed = espl__array_length(r->dirty);
    bool has_small = false;

    (void)u;
    for (size_t i = 0; i < listed; ++i) {
        const uint32_t number = r->dirty[i].cluster;
        espl__cluster *const cluster = espl__cluster_at(r, number);

        if (espl__has_bits(&cluster->gone) || espl__has_bits(&cluster->leaving)) {
            remove_members(r, number);
            has_small = has_small || cluster->count < ESPL__MERGE_BELOW;
        }
    }
    espl__array_set_length(r->gone, 0);
    for (int category = 0; category < ESPL__CATEGORIES; ++category) {
        insert_runs(r, category);
        if (has_small) {
            merge_leaves(r, category);
        }
    }
}
