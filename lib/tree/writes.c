// SPDX-License-Identifier: MIT
// The writes of writes.h. A single write stores, recomputes the world of the node, and propagates. Many writes
// of one tree choose between three ways, because a node below several entries would be propagated once for
// each. Few locals are stored first and propagated then. Many are swept: worlds follow in one pass over the
// range. Other writes are done one after the other, and change to a sweep where that visits fewer nodes. All
// give the same bits and statuses. The functions for the frequent writes are inline: poses stay in registers.
#include "lib/tree/writes.h"

#include "lib/jobs/ranges.h"
#include "lib/tree/cell_writes.h"
#include "lib/tree/flagged_writes.h"
#include "lib/tree/local_stores.h"
#include "lib/tree/tree_batch.h"
#include "lib/tree/levels.h"

// --- One node ---

// Store a change of one node and its world. @return true where its children see a change.
static bool store_change(espl__forest *forest, espl__context *context,
                         const espl__node_change *change)
{
    const uint32_t slot = change->slot;
    const bool is_finite = espl__pose_is_finite(&change->world);
    const espl__node_difference differs =
        espl__node_differs(forest, slot, &change->placement, &change->world);
    // A world that is not finite is propagated, though it may be unchanged, because its bits may differ
    // from those of an equal number.
    const bool is_seen = !is_finite || differs.is_moved || differs.is_stretched;
    const bool ends_blend = espl__write_ends_blend(forest, slot, &change->placement);

    ESPL_CHECK_FULL(espl__tree_can_hold(espl__tree_of(forest, slot), &change->placement));
    espl__slot_place(forest, slot, &change->placement);
    if (espl__forest_is_tracked(forest)) {
        espl__mark_placement(forest, slot, ends_blend);
    }
    if (is_seen || differs.has_user_data) {
        espl__world_store(espl__worlds_of(forest), slot, &change->world);
    }
    context->counts.nodes_visited += 1;
    context->counts.writes += 1;
    context->has_overflowed = context->has_overflowed || !is_finite;
    if (!is_seen) {
        context->counts.nodes_skipped += 1;
        context->counts.worlds_kept += 1;
        if (differs.has_user_data) {
            espl__propagate_user_data(forest, slot);
        }
    }
    return is_seen;
}

// A bit-equal placement is skipped: neither a store nor a propagation.
void espl__node_change_commit(espl__forest *forest, espl__context *context,
                              const espl__node_change *change)
{
    if (espl__node_has(forest, change->slot, &change->placement)) {
        context->counts.writes_skipped += 1;
    } else if (store_change(forest, context, change)) {
        espl__propagate_below(forest, context, change->slot);
    }
}

// A world follows from the local and the world of the parent, so that a new world has a new local
// as well. The locals are compared here alone.
espl_status espl__local_put_same_world(espl__forest *forest, espl__context *context, uint32_t slot,
                                       const void *local)
{
    espl_pose *const old = &forest->local[slot];

    if (memcmp(old, local, sizeof *old) == 0) {
        context->counts.writes_skipped += 1;
        return ESPL_OK;
    }
    context->counts.nodes_visited += 1;
    context->counts.writes += 1;
    context->counts.nodes_skipped += 1;
    context->counts.worlds_kept += 1;
    memcpy(old, local, sizeof *old);
    espl__note_written(forest, slot);
    return ESPL_OK;
}

// espl__mark_and_propagate() of a forest with tracks.
static ESPL__APART espl_status mark_and_propagate(espl__forest *forest, espl__context *context,
                                                  uint32_t slot)
{
    if ((forest->modes & ESPL__MODE_OWN) != 0) {
        (void)espl__mark_node_written(forest, slot);
    } else {
        espl__world_stored(espl__worlds_of(forest), slot);
    }
    espl__propagate_below(forest, context, slot);
    return context->has_overflowed ? ESPL_OVERFLOW : ESPL_OK;
}

espl_status espl__mark_and_propagate(espl__forest *forest, espl__context *context, uint32_t slot)
{
    const uint32_t first = forest->links[slot].first_child;

    ESPL_CHECK(first != ESPL__NO_SLOT);
    // What is read of the first child, because the propagation waits for the header of the tree first.
    espl__prefetch(&forest->local[first]);
    espl__prefetch(&forest->links[first]);
    if (espl__forest_is_tracked(forest)) {
        return mark_and_propagate(forest, context, slot);
    }
    espl__propagate_below(forest, context, slot);
    return context->has_overflowed ? ESPL_OVERFLOW : ESPL_OK;
}

// Store a finite local of unit length whose world is not finite, and propagate it. Precondition: the
// node has a parent, because the world of a root is its local.
static ESPL__APART espl_status put_overflowing(espl__forest *forest, espl__context *context,
                                               uint32_t slot, const espl_pose *local)
{
    ESPL_CHECK(!espl__is_root(forest, slot));
    if (espl__pose_is_same(&forest->local[slot], local)) {
        context->counts.writes_skipped += 1;
        return ESPL_OK;
    }
    context->counts.writes += 1;
    forest->local[slot] = *local;
    espl__note_written(forest, slot);
    (void)espl__propagate_node(forest, context, slot);
    espl__propagate_below(forest, context, slot);
    return ESPL_OVERFLOW;
}

// Store a finite local of unit length in a node that is not exceptional, and propagate it.
// @return ESPL_OK; ESPL_OVERFLOW.
static espl_status put_plain_local(espl__forest *forest, espl__context *context, uint32_t slot,
                                   const espl_pose *local)
{
    espl_status status = ESPL_OK;

    ESPL_CHECK_FULL(espl__pose_is_finite(local));
    return espl__local_try_put(forest, context, slot, local, espl__wide_load(local), &status)
               ? status
               : put_overflowing(forest, context, slot, local);
}

// Everything but the fast path: a value that is not finite, that has no unit length, or whose world
// is not finite.
static ESPL__APART espl_status put_closely(espl__forest *forest, espl__context *context,
                                           uint32_t slot, const void *value)
{
    espl_pose local;

    memcpy(&local, value, sizeof local);
    if (!espl__pose_is_finite(&local) || !espl__rotation_normalize(local.rotation)) {
        return ESPL_ERR_NOT_FINITE;
    }
    return put_plain_local(forest, context, slot, &local);
}

espl_status espl__pose_put(espl__forest *forest, espl__context *context, uint32_t slot,
                           const void *value)
{
    espl_status status = ESPL_OK;

    return espl__pose_try_put(forest, context, slot, value, &status)
               ? status
               : put_closely(forest, context, slot, value);
}

// The frame of the parent has no stretch, because a child of a stretched parent is exceptional.
espl_status espl__plain_write(espl__forest *forest, espl__context *context, uint32_t slot,
                              espl_write_kind kind, const espl_write_value *value)
{
    const uint32_t parent = forest->parent[slot];
    espl_pose local = forest->local[slot], world = forest->world[slot];
    espl_status status = ESPL_OK, put = ESPL_OK;

    if (espl__write_is_local(kind)) {
        status = espl__local_write(&local, kind, value);
        if (status >= 0) {
            // The status of the write is kept: the local is finite, and the context notes overflows.
            (void)put_plain_local(forest, context, slot, &local);
        }
        return status;
    }
    if (parent == ESPL__NO_SLOT) {
        status = espl__pose_write(&local, &world, NULL, kind, value);
    } else {
        const espl__frame up = {forest->world[parent], espl__extra_default()};

        status = espl__pose_write(&local, &world, &up, kind, value);
    }
    // The write composed the world already.
    if (status >= 0 &&
        !espl__local_try_put_world(forest, context, slot, &local, espl__wide_load(&local),
                                   espl__wide_load(&world), &put)) {
        (void)put_overflowing(forest, context, slot, &local);
    }
    return status;
}

// --- Many nodes of one tree ---

// The state of writing one tree, in the order of slots. At first each entry is written as a single
// one. Once entries are many, or single writes visited more nodes than passes over the range would,
// it sweeps: locals are stored, and worlds follow in one pass.
typedef struct pass {
    espl__forest *forest;
    espl__context *context;
    const espl__tree_writes *w;
    uint32_t tree, end; // tree, and end of its used slots
    bool sweeps;
    uint32_t final;  // of a sweep: worlds of lower slots are up to date; UINT32_MAX: all worlds are
    bool has_status; // a result is a status other than ESPL_OK
} pass;

// Recompute the worlds of slots below `end` that are not up to date.
static void advance(pass *p, uint32_t end)
{
    if (p->final >= end) {
        return;
    }
    if (p->final == p->forest->trees[p->tree].base) {
        (void)espl__propagate_node(p->forest, p->context, p->final);
        p->final += 1;
    }
    ESPL_CHECK(end <= p->end);
    espl__sweep(p->forest, p->context, p->tree, p->final, end);
    p->final = end;
}

// Tell whether worlds of a tree are recomputed in a batch with other trees.
static inline bool can_batch(const espl__forest *forest, const espl__context *context,
                             const espl__tree *t)
{
    return context->batch != NULL && espl__tree_can_batch(forest, t);
}

// Recompute the worlds below a root, whose world is final: in a batch, or now. Both ways add the same
// counts. The root is counted here as well, because the count is then loaded once: after a store of
// another width to it, a load would stall.
ESPL__INLINE void follow_root(espl__forest *forest, espl__context *context, uint32_t slot)
{
    const uint32_t tree = forest->tree[slot];
    const espl__tree *const t = &forest->trees[tree];

    context->counts.nodes_visited += 1;
    if (can_batch(forest, context, t)) {
        espl__worlds_stored(espl__worlds_of(forest), slot, slot + t->used);
        espl__count_tree(forest, context, tree);
        espl__tree_batch_add(forest, context, slot + 1, slot + t->used);
        return;
    }
    espl__world_stored(espl__worlds_of(forest), slot);
    if (!espl__tree_is_single(forest, t)) {
        espl__propagate_below(forest, context, slot);
    } else if (t->live > 1) {
        espl__propagate_tree(forest, context, tree);
    }
}

// espl__tree_follow(), inline in the batches.
ESPL__INLINE void follow_tree(espl__forest *forest, espl__context *context, uint32_t tree,
                              uint32_t begin)
{
    const espl__tree *const t = &forest->trees[tree];
    const uint32_t end = t->base + t->used;

    ESPL_CHECK(espl__tree_is_single(forest, t) && begin >= t->base && begin < end);
    if (begin == t->base) {
        espl__world_put(espl__worlds_of(forest), begin, &forest->local[begin]);
        follow_root(forest, context, begin);
    } else if (can_batch(forest, context, t)) {
        espl__count_swept(forest, context, tree, begin, end);
        espl__worlds_stored(espl__worlds_of(forest), begin, end);
        espl__tree_batch_add(forest, context, begin, end);
    } else {
        espl__sweep(forest, context, tree, begin, end);
    }
}

void espl__tree_follow(espl__forest *forest, espl__context *context, uint32_t tree, uint32_t begin)
{
    follow_tree(forest, context, tree, begin);
}

// Recompute the worlds after all entries are stored.
static void follow(pass *p)
{
    if (p->final < p->end) {
        follow_tree(p->forest, p->context, p->tree, p->final);
        p->final = UINT32_MAX;
    }
}

// Note that worlds from a slot on are out of date.
static void set_dirty(pass *p, uint32_t slot)
{
    p->final = slot < p->final ? slot : p->final;
}

// Carry out a local write on a plain node in a sweep: its world follows later.
static espl_status store_local(pass *p, uint32_t slot, espl_write_kind kind,
                               const espl_write_value *value)
{
    espl_pose *const old = &p->forest->local[slot];
    espl_pose local = *old;

    ESPL_CHECK_FULL(p->sweeps && espl__slot_is_plain(p->forest, slot, kind));
    const espl_status status = espl__local_write(&local, kind, value);

    if (status < 0) {
        return status;
    }
    if (espl__pose_is_same(&local, old)) {
        p->context->counts.writes_skipped += 1;
    } else {
        p->context->counts.writes += 1;
        *old = local;
        espl__note_written(p->forest, slot);
        set_dirty(p, slot);
    }
    return status;
}

// Carry out any write. Precondition: the worlds of the node and its parent are up to date.
static espl_status write_node(pass *p, uint32_t slot, espl_write_kind kind,
                              const espl_write_value *value)
{
    espl__node_change change;

    ESPL_CHECK_FULL(!p->sweeps || p->final > slot);
    espl__node_change_read(p->forest, slot, &change);
    const espl_status status =
        espl__placement_write(&change.placement, &change.world, change.up, kind, value);

    if (status < 0) {
        return status;
    }
    if (!p->sweeps) {
        espl__node_change_commit(p->forest, p->context, &change);
    } else if (espl__node_has(p->forest, slot, &change.placement)) {
        p->context->counts.writes_skipped += 1;
    } else if (store_change(p->forest, p->context, &change)) {
        set_dirty(p, slot + 1);
    }
    return status;
}

// Carry out a write whose value was checked, by the shortest way that the node and the kind allow.
static espl_status write_checked(pass *p, uint32_t slot, espl_write_kind kind,
                                 const espl_write_value *value)
{
    espl__forest *const forest = p->forest;
    const bool is_plain =
        espl__slot_is_plain(forest, slot, kind) && !espl__write_wants_side(kind, value);

    if (!p->sweeps) {
        return is_plain ? espl__plain_write(forest, p->context, slot, kind, value)
                        : write_node(p, slot, kind, value);
    }
    if (is_plain && espl__write_is_local(kind)) {
        return store_local(p, slot, kind, value);
    }
    advance(p, slot + 1);
    return write_node(p, slot, kind, value);
}

// Carry out a write that is not ordinary, and whose value was checked. Out of line, because few are.
static ESPL__APART espl_status write_flagged_in_pass(pass *p, uint32_t slot, espl_write_kind kind,
                                                     const espl_write_value *value)
{
    espl__flagged_write flagged;

    if (espl__write_is_of_cell(kind)) {
        advance(p, p->end); // the tree may get other worlds as a whole
        return espl__far_write(p->forest, p->context, slot, kind, value);
    }
    if (espl__write_is_of_previous(kind)) {
        // The parent may copy a stretch that follows from an earlier entry.
        advance(p, slot + 1);
        return espl__previous_write(p->forest, slot, kind, value);
    }
    espl__flagged_write_begin(&flagged, p->forest, slot, kind);
    const espl_status status = write_checked(p, slot, espl__write_base(kind), value);

    espl__flagged_write_end(&flagged, status);
    return status;
}

// Carry out one entry. @return its result, with ESPL__UNCHANGED where no world below follows.
static espl_status write_entry(pass *p, uint32_t slot, uint32_t number)
{
    const espl__write_source *const source = p->w->source;
    const espl_write_kind kind =
        source->writes != NULL ? source->writes[number].kind : source->kind;
    const espl__counts before = p->context->counts, *const now = &p->context->counts;
    espl_write_value value;
    espl_status status = ESPL_OK;

    espl__write_load(&value, kind, espl__value_at(source, number));
    if (!p->sweeps && espl__write_is_usual(p->forest, slot, kind, &value)) {
        status = espl__pose_put(p->forest, p->context, slot, &value);
        // An overflow is no result of an entry, because the context notes overflows.
        status = status == ESPL_OVERFLOW ? ESPL_OK : status;
    } else {
        status = espl__write_check(kind, &value);
        if (status == ESPL_OK) {
            status = espl__write_is_ordinary(kind) ? write_checked(p, slot, kind, &value)
                                                   : write_flagged_in_pass(p, slot, kind, &value);
        }
    }
    p->has_status = p->has_status || status != ESPL_OK;
    const bool follows = now->writes != before.writes && now->worlds_kept == before.worlds_kept;

    return status >= 0 && !follows ? (espl_status)(status + ESPL__UNCHANGED) : status;
}

// Tell whether some entries are so many that a sweep of the slots from the lowest one on costs less
// than a propagation for each.
static inline bool are_many(const espl__tree *t, uint32_t count, uint32_t lowest)
{
    enum { PART = 4 };

    return count > (t->base + t->used - lowest) / PART;
}

// Choose to sweep from an entry on where the entries left are many, or where single writes visited
// more nodes than two passes would.
static void choose_sweep(pass *p, uint32_t at, uint64_t visited_before)
{
    const espl__tree *const t = &p->forest->trees[p->tree];
    const uint64_t visited = p->context->counts.nodes_visited - visited_before;

    p->sweeps = espl__tree_is_single(p->forest, t) &&
                (are_many(t, p->w->count - at, p->w->slots[at]) || visited > 2 * (uint64_t)t->used);
}

// Carry out entries one after the other.
static void write_each(pass *p, uint32_t begin, uint32_t end)
{
    const espl__tree_writes *const w = p->w;
    const uint64_t visited = p->context->counts.nodes_visited;

    for (uint32_t i = begin; i < end; ++i) {
        const uint32_t number = espl__entry_number(w, i);

        if (!p->sweeps && w->count > 1) {
            choose_sweep(p, i, visited);
        }
        w->source->results[number] = write_entry(p, w->slots[i], number);
    }
}

// --- Sweeps of poses ---

// Add the sum of some stores to the state.
static void add_stored(pass *p, const espl__stored *sum)
{
    p->context->counts.writes += sum->writes;
    p->context->counts.writes_skipped += sum->skipped;
    p->has_status = p->has_status || sum->has_status;
    set_dirty(p, sum->first);
}

// Upper bound of the number of jobs.
enum { STORE_JOBS = 64 };

// Stores of one tree that are divided into jobs.
typedef struct store_jobs {
    espl__forest *forest;
    const espl__tree_writes *w;
    uint32_t job_count;
    espl__stored done[STORE_JOBS];
    bool is_done[STORE_JOBS];
} store_jobs;

// Return the first entry of a job. All entries of a node are in one job, because they must be
// stored in order.
static uint32_t first_entry_of(const store_jobs *run, size_t job)
{
    const uint32_t *const slots = run->w->slots, count = run->w->count;
    uint32_t at = (uint32_t)((uint64_t)count * job / run->job_count);

    while (at != 0 && at < count && slots[at] == slots[at - 1]) {
        at += 1;
    }
    return at;
}

// Run one job. A second call has no effect.
static void store_job(void *context, size_t job)
{
    store_jobs *const run = context;

    if (!run->is_done[job]) {
        run->done[job] = (espl__stored){.first = UINT32_MAX};
        espl__store_locals(run->forest, run->w, first_entry_of(run, job),
                           first_entry_of(run, job + 1), &run->done[job]);
        run->is_done[job] = true;
    }
}

// Store all entries on the workers of the context. Structural calls are refused meanwhile.
static void store_in_jobs(pass *p)
{
    const espl__workers *const workers = &p->context->workers;
    const uint32_t job_count = p->w->count / p->forest->grain;
    store_jobs run = {.forest = p->forest,
                      .w = p->w,
                      .job_count = job_count < 1            ? 1
                                   : job_count < STORE_JOBS ? job_count
                                                            : STORE_JOBS};

    ESPL_CHECK(workers->is_closed != NULL);
    const bool was_closed = *workers->is_closed;

    *workers->is_closed = true;
    (void)espl__run_jobs(workers->executor, workers->hooks, store_job, &run, run.job_count);
    *workers->is_closed = was_closed;
    for (uint32_t job = 0; job < run.job_count; ++job) {
        store_job(&run, job); // where the executor did not
        add_stored(p, &run.done[job]);
    }
}

// Tell whether a tree is so large that workers store its locals.
static inline bool stores_in_jobs(const espl__forest *forest, const espl__context *context,
                                  const espl__tree *t)
{
    return espl__tree_is_parallel(forest, t) &&
           !espl__executor_is_serial(context->workers.executor);
}

// Store entries and sweep, a block at a time, because the locals of a block are still in the cache
// then. Entries that do not ascend are one block.
static void sweep_poses(pass *p)
{
    enum { BLOCK = 2048 };
    const espl__tree_writes *const w = p->w;

    if (stores_in_jobs(p->forest, p->context, &p->forest->trees[p->tree])) {
        store_in_jobs(p);
        return;
    }
    for (uint32_t at = 0; at < w->count;) {
        const bool is_last = !w->ascend || w->count - at < 2 * BLOCK;
        const uint32_t end = is_last ? w->count : at + BLOCK;
        espl__stored sum = {.first = UINT32_MAX};

        espl__store_locals(p->forest, w, at, end, &sum);
        add_stored(p, &sum);
        if (end == w->count) {
            follow(p);
        } else {
            advance(p, w->slots[end]);
        }
        at = end;
    }
}

// Store entries, and then propagate each node whose local changed. Slots ascend, so that a node below
// another one comes after it and has its final world by then, which ends its propagation. So no world is
// recomputed twice, but for those of the nodes themselves.
static void store_and_propagate(pass *p)
{
    const espl__tree_writes *const w = p->w;
    espl__stored sum = {.first = UINT32_MAX};

    ESPL_CHECK_FULL(w->ascend);
    espl__store_locals(p->forest, w, 0, w->count, &sum);
    add_stored(p, &sum);
    p->final = UINT32_MAX;
    for (uint32_t i = 0; i < w->count; ++i) {
        const espl_status result = w->source->results[espl__entry_number(w, i)];

        if (result == ESPL_OK && espl__propagate_node(p->forest, p->context, w->slots[i])) {
            espl__propagate_below(p->forest, p->context, w->slots[i]);
        }
    }
}

// Tell whether all entries set locals, or one part of them, and the tree has no side arrays, so that
// its nodes are plain.
static inline bool has_only_poses(const espl__tree *t, const espl__write_source *source)
{
    return t->side == 0 && source->is_one_kind && espl__kind_sets_local(source->kind);
}

// Tell whether entries are swept from the first one on. Locals that include that of the root are in
// any case, because all worlds follow from the root.
static inline bool sweeps_all(const espl__forest *forest, const espl__tree *t,
                              const espl__tree_writes *w)
{
    const bool sets_root = w->lowest == t->base && has_only_poses(t, w->source);

    return espl__tree_is_single(forest, t) &&
           (sets_root || (w->count > 1 && are_many(t, w->count, w->lowest)));
}

// Not where jobs store the locals: two of them may have entries of one node.
bool espl__tree_takes_any_order(const espl__forest *forest, const espl__context *context,
                                const espl__tree_writes *w)
{
    const espl__tree *const t = espl__tree_of(forest, w->lowest);

    return has_only_poses(t, w->source) && sweeps_all(forest, t, w) &&
           !stores_in_jobs(forest, context, t);
}

// --- The whole ---

// Writes that are not swept begin one by one and may change to a sweep.
bool espl__tree_write(espl__forest *forest, espl__context *context, const espl__tree_writes *w)
{
    const uint32_t tree = forest->tree[w->lowest];
    const espl__tree *const t = &forest->trees[tree];
    pass p = {.forest = forest,
              .context = context,
              .w = w,
              .tree = tree,
              .end = t->base + t->used,
              .sweeps = sweeps_all(forest, t, w),
              .final = UINT32_MAX};

    ESPL_CHECK(w->count != 0 && w->lowest >= t->base && w->slots[w->count - 1] < p.end);
    ESPL_CHECK(!espl__forest_is_edited(forest));
    ESPL_CHECK_FULL(w->ascend || espl__tree_takes_any_order(forest, context, w));
    const bool are_poses = has_only_poses(t, w->source);

    if (are_poses && p.sweeps) {
        sweep_poses(&p);
    } else if (are_poses && w->count > 1) {
        store_and_propagate(&p);
    } else {
        write_each(&p, 0, w->count);
    }
    advance(&p, p.end);
    return p.has_status;
}

// Store the local of a root, and propagate it. The caller of espl__tree_try_write_one() marks it.
// @return ESPL_OK or ESPL__UNCHANGED.
static inline espl_status put_root(espl__forest *forest, espl__context *context, uint32_t slot,
                                   espl__wide_pose local)
{
    const espl__worlds worlds = espl__worlds_of(forest);

    if (espl__wide_is_same(espl__wide_load(&forest->local[slot]), local)) {
        context->counts.writes_skipped += 1;
        return (espl_status)ESPL__UNCHANGED;
    }
    context->counts.writes += 1;
    espl__wide_store(&forest->local[slot], local);
    espl__world_put_wide(worlds, slot, local);
    follow_root(forest, context, slot);
    return ESPL_OK;
}

// It needs no state of a pass.
bool espl__tree_try_write_one(espl__forest *forest, espl__context *context,
                              const espl__write_source *source, uint32_t slot, uint32_t number)
{
    const void *value = espl__value_at(source, number);
    espl_status status = ESPL_OK;
    espl_pose local;
    size_t size = 0;

    if (!source->is_one_kind || !espl__slot_is_plain(forest, slot, source->kind)) {
        return false;
    }
    if (espl__kind_sets_part(source->kind)) {
        if (!espl__part_is_sound(source->kind, value)) {
            return false;
        }
        float *const part = espl__part_of(&local, source->kind, &size);

        memcpy(&local, &forest->local[slot], sizeof local);
        memcpy(part, value, size);
        value = &local;
    } else if (!espl__value_is_usual(source->kind, value)) {
        return false;
    }
    if (espl__is_root(forest, slot)) {
        if (!espl__value_is_sound(value, false)) {
            return false;
        }
        status = put_root(forest, context, slot, espl__wide_from(value));
    } else {
        const espl__counts *const now = &context->counts;
        const uint64_t written = now->writes, kept = now->worlds_kept;

        if (!espl__pose_try_put(forest, context, slot, value, &status)) {
            return false;
        }
        // An overflow is no result of an entry, because the context notes overflows.
        status = now->writes != written && now->worlds_kept == kept ? ESPL_OK
                                                                    : (espl_status)ESPL__UNCHANGED;
    }
    if (status != ESPL_OK) {
        source->results[number] = status;
    }
    return true;
}
