// SPDX-License-Identifier: MIT
#include "lib/tree/writes.h"

#include "lib/jobs/ranges.h"
#include "lib/math/wide.h"
#include "lib/tree/alike.h"
#include "lib/tree/band.h"

// --- One node ---

void espl__node_change_begin(const espl__forest *forest, uint32_t slot, espl__node_change *change)
{
    const uint32_t parent = forest->parent[slot];

    change->slot = slot;
    change->before = change->after = espl__slot_placement(forest, slot);
    change->world = forest->world[slot];
    change->up = NULL;
    if (parent != ESPL__NO_SLOT) {
        change->room = espl__slot_frame(forest, parent);
        change->up = &change->room;
    }
}

// Store a change without what is below. @return whether children see a change.
static bool store(espl__forest *forest, espl__context *context, const espl__node_change *change)
{
    const uint32_t slot = change->slot;
    const bool is_finite = espl__pose_is_finite(&change->world);
    // What is below a world that is not finite is counted, though it may stay the same.
    const bool is_moved = !is_finite || !espl__pose_is_same(&forest->world[slot], &change->world);
    const bool is_stretched = memcmp(change->before.extra.stretch, change->after.extra.stretch,
                                     sizeof change->after.extra.stretch) != 0;

    espl__slot_place(forest, slot, &change->after);
    forest->world[slot] = change->world;
    context->counts.nodes_visited += 1;
    context->counts.writes += 1;
    context->counts.overflowed += is_finite ? 0 : 1;
    if (!is_moved && !is_stretched) {
        context->counts.nodes_skipped += 1;
        context->counts.worlds_kept += 1;
        if (change->before.extra.user_data != change->after.extra.user_data) {
            espl__propagate_user_data(forest, slot);
        }
    }
    return is_moved || is_stretched;
}

void espl__node_change_commit(espl__forest *forest, espl__context *context,
                              const espl__node_change *change)
{
    if (espl__placement_is_equal(&change->before, &change->after)) {
        context->counts.writes_skipped += 1;
    } else if (store(forest, context, change)) {
        espl__propagate_below(forest, context, change->slot);
    }
}

// The world of a node is not finite.
static ESPL__APART espl_status put_overflowing(espl__forest *forest, espl__context *context,
                                               uint32_t slot, espl__wide_pose local,
                                               espl__wide_pose world)
{
    if (!espl__wide_is_finite(local)) {
        return ESPL_ERR_NOT_FINITE;
    }
    context->counts.nodes_visited += 1;
    context->counts.writes += 1;
    context->counts.overflowed += 1;
    espl__wide_store(&forest->local[slot], local);
    espl__wide_store(&forest->world[slot], world);
    espl__propagate_below(forest, context, slot);
    return ESPL_OVERFLOW;
}

static ESPL__APART espl_status follow(espl__forest *forest, espl__context *context, uint32_t slot)
{
    const uint64_t overflowed = context->counts.overflowed;

    espl__propagate_below(forest, context, slot);
    return context->counts.overflowed != overflowed ? ESPL_OVERFLOW : ESPL_OK;
}

// Store the local of a plain node, of unit length, and propagate it. Inline in its callers: the
// pose stays in registers from check to store.
// @return ESPL_OK; ESPL_OVERFLOW; ESPL_ERR_NOT_FINITE: nothing changed.
ESPL__INLINE espl_status put(espl__forest *forest, espl__context *context, uint32_t slot,
                             espl__wide_pose local)
{
    const uint32_t parent = forest->parent[slot];
    const espl__wide_pose old_local = espl__wide_load(&forest->local[slot]);
    const espl__wide_pose old_world = espl__wide_load(&forest->world[slot]);
    const espl__wide_pose world =
        parent == ESPL__NO_SLOT
            ? local
            : espl__wide_compose(espl__wide_load(&forest->world[parent]), local);

    if (espl__wide_bits_are_zero(espl__wide_difference(old_local, local))) {
        context->counts.writes_skipped += 1;
        return ESPL_OK;
    }
    // A world that is finite follows from a local that is.
    if (!espl__wide_bits_are_zero(espl__wide_nonfinite(world))) {
        return put_overflowing(forest, context, slot, local, world);
    }
    context->counts.nodes_visited += 1;
    context->counts.writes += 1;
    espl__wide_store(&forest->local[slot], local);
    if (espl__wide_bits_are_zero(espl__wide_difference(old_world, world))) {
        context->counts.nodes_skipped += 1;
        context->counts.worlds_kept += 1;
        return ESPL_OK;
    }
    espl__wide_store(&forest->world[slot], world);
    return forest->links[slot].first_child == ESPL__NO_SLOT ? ESPL_OK
                                                            : follow(forest, context, slot);
}

static ESPL__APART espl_status put_normalized(espl__forest *forest, espl__context *context,
                                              uint32_t slot, const void *value)
{
    espl_pose local;

    memcpy(&local, value, sizeof local);
    if (!espl__pose_is_finite(&local) || !espl__rotation_normalize(local.rotation)) {
        return ESPL_ERR_NOT_FINITE;
    }
    return put(forest, context, slot, espl__wide_load(&local));
}

espl_status espl__pose_put(espl__forest *forest, espl__context *context, uint32_t slot,
                           const void *value)
{
    // A rotation of unit length is finite; whether the rest is shows in the world.
    return espl__rotation_is_unit(value) // the rotation is the first field
               ? put(forest, context, slot, espl__wide_from(value))
               : put_normalized(forest, context, slot, value);
}

espl_status espl__plain_write(espl__forest *forest, espl__context *context, uint32_t slot,
                              espl_write_kind kind, const espl_write_value *value)
{
    const uint32_t parent = forest->parent[slot];
    espl_pose local = forest->local[slot], world = forest->world[slot];
    espl_status status = ESPL_OK;

    if (espl__write_is_local(kind)) {
        status = espl__local_write(&local, kind, value);
    } else if (parent == ESPL__NO_SLOT) {
        status = espl__pose_write(&local, &world, NULL, kind, value);
    } else {
        const espl__frame up = {forest->world[parent], espl__extra_default()};

        status = espl__pose_write(&local, &world, &up, kind, value);
    }
    if (status >= 0) {
        (void)put(forest, context, slot, espl__wide_load(&local)); // the local is finite
    }
    return status;
}

// --- Entries ---

static espl_write_kind kind_at(const espl__write_source *source, uint32_t number)
{
    return source->writes != NULL ? source->writes[number].kind : source->kind;
}

static const void *value_at(const espl__write_source *source, uint32_t number)
{
    return source->values + number * source->value_size;
}

static void load_value(const espl__write_source *source, uint32_t number, espl_write_kind kind,
                       espl_write_value *value)
{
    espl__write_load(value, kind, value_at(source, number));
}

static uint32_t number_at(const espl__tree_writes *w, uint32_t at)
{
    return w->numbers != NULL ? w->numbers[at] : w->first + at;
}

// --- Many nodes of one tree ---

// Entries in the order of slots. At first each is written like a single one. Where entries are
// many, or single writes visited more nodes than passes over the range would, it sweeps: locals are
// stored, and worlds follow in one pass.
typedef struct pass {
    espl__forest *forest;
    espl__context *context;
    const espl__tree_writes *w;
    uint32_t tree, end; // of the used slots
    bool sweeps;
    uint32_t final; // sweeps: worlds of slots below it are up to date; UINT32_MAX: all are
    bool is_told;
    bool waits; // the tree was added to context->waiting, which counts its overflowed worlds
} pass;

// Bring the worlds of slots below `end` up to date.
static void advance(pass *p, uint32_t end)
{
    if (p->final >= end) {
        return;
    }
    if (p->final == p->forest->trees[p->tree].base) {
        (void)espl__propagate_node(p->forest, p->context, p->final);
        p->final += 1;
    }
    espl__sweep(p->forest, p->context, p->tree, p->final, end);
    p->final = end;
}

// Recompute worlds once all entries are stored. If the local of the root changed, all nodes of the tree are
// due: they are recomputed now, or together with other trees. Both ways add the same counts.
static void follow_root(pass *p)
{
    espl__forest *const forest = p->forest;
    const espl__tree *const t = &forest->trees[p->tree];

    if (p->final != t->base) {
        advance(p, p->end);
        return;
    }
    forest->world[t->base] = forest->local[t->base];
    p->context->counts.nodes_visited += 1;
    p->final = UINT32_MAX;
    if (p->context->waiting != NULL && espl__tree_can_wait(forest, t)) {
        espl__waiting_add(forest, p->context, p->context->waiting, p->tree);
        p->waits = true;
    } else {
        espl__propagate_below(forest, p->context, t->base);
    }
}

// The local, or what children see of a slot, changed: worlds from there on are out of date.
static void set_dirty(pass *p, uint32_t slot)
{
    p->final = slot < p->final ? slot : p->final;
}

// A write that needs nothing but the local of a plain node, while worlds follow later.
static espl_status store_local(pass *p, uint32_t slot, espl_write_kind kind,
                               const espl_write_value *value)
{
    espl_pose *const old = &p->forest->local[slot];
    espl_pose local = *old;
    const espl_status status = espl__local_write(&local, kind, value);

    if (status < 0) {
        return status;
    }
    if (espl__pose_is_same(&local, old)) {
        p->context->counts.writes_skipped += 1;
    } else {
        p->context->counts.writes += 1;
        *old = local;
        set_dirty(p, slot);
    }
    return status;
}

// Any write, on worlds that are up to date.
static espl_status write_node(pass *p, uint32_t slot, espl_write_kind kind,
                              const espl_write_value *value)
{
    espl__node_change change;

    espl__node_change_begin(p->forest, slot, &change);
    const espl_status status =
        espl__placement_write(&change.after, &change.world, change.up, kind, value);

    if (status < 0) {
        return status;
    }
    if (!p->sweeps) {
        espl__node_change_commit(p->forest, p->context, &change);
    } else if (espl__placement_is_equal(&change.before, &change.after)) {
        p->context->counts.writes_skipped += 1;
    } else if (store(p->forest, p->context, &change)) {
        set_dirty(p, slot + 1);
    }
    return status;
}

static espl_status write_checked(pass *p, uint32_t slot, espl_write_kind kind,
                                 const espl_write_value *value)
{
    espl__forest *const forest = p->forest;
    const bool is_plain = espl__slot_is_plain(forest, slot) && !espl__write_wants_side(kind, value);

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

// Write one entry. Its result also says whether worlds follow.
static espl_status write_entry(pass *p, uint32_t slot, uint32_t number)
{
    const espl_write_kind kind = kind_at(p->w->source, number);
    const espl__counts before = p->context->counts, *const now = &p->context->counts;
    espl_write_value value;
    espl_status status = ESPL_OK;

    load_value(p->w->source, number, kind, &value);
    if (!p->sweeps && espl__write_is_usual(p->forest, slot, kind, &value)) {
        status = espl__pose_put(p->forest, p->context, slot, &value);
        status = status == ESPL_OVERFLOW ? ESPL_OK : status; // the context counts them
    } else {
        status = espl__write_check(kind, &value);
        status = status == ESPL_OK ? write_checked(p, slot, kind, &value) : status;
    }
    p->is_told = p->is_told || status != ESPL_OK;
    const bool follows = now->writes != before.writes && now->worlds_kept == before.worlds_kept;

    return status >= 0 && !follows ? (espl_status)(status + ESPL__UNCHANGED) : status;
}

// From here on worlds follow in one pass, where entries are a good part of the slots behind this
// one, or single writes visited more than two passes would.
static void choose(pass *p, uint32_t at, uint64_t visited_before)
{
    enum { PART = 4 };
    const espl__tree *const t = &p->forest->trees[p->tree];
    const uint64_t visited = p->context->counts.nodes_visited - visited_before;

    p->sweeps =
        espl__tree_is_single(p->forest, t) &&
        (p->w->count - at > (p->end - p->w->slots[at]) / PART || visited > 2 * (uint64_t)t->used);
}

static void write_each(pass *p, uint32_t begin, uint32_t end)
{
    const espl__tree_writes *const w = p->w;
    const uint64_t visited = p->context->counts.nodes_visited;

    for (uint32_t i = begin; i < end; ++i) {
        const uint32_t number = number_at(w, i);

        if (!p->sweeps && w->count > 1) {
            choose(p, i, visited);
        }
        w->source->results[number] = write_entry(p, w->slots[i], number);
    }
}

// --- Locals from poses, ahead of the worlds ---

// What storing some locals amounted to.
typedef struct stored {
    uint32_t first; // slot that changed, or UINT32_MAX
    uint32_t writes, skipped;
    bool is_told;
} stored;

// A pose or a transform, which begins with one.
static inline const espl_pose *pose_at(const espl__write_source *source, uint32_t number)
{
    return (const espl_pose *)value_at(source, number);
}

ESPL__INLINE void store_pose(espl_pose *locals, const espl__tree_writes *w, stored *sum,
                             uint32_t at, espl__wide_pose local)
{
    const uint32_t slot = w->slots[at];
    espl_pose *const old = &locals[slot];

    if (espl__wide_bits_are_zero(espl__wide_difference(espl__wide_load(old), local))) {
        w->source->results[number_at(w, at)] = (espl_status)ESPL__UNCHANGED;
        sum->skipped += 1;
        return;
    }
    espl__wide_store(old, local);
    sum->first = slot < sum->first ? slot : sum->first;
    sum->writes += 1;
}

// Each entry by itself, because one of them needs a closer look.
static ESPL__APART stored store_closely(espl_pose *locals, const espl__tree_writes *w,
                                        uint32_t begin, uint32_t end)
{
    const espl__write_source *const source = w->source;
    stored sum = {.first = UINT32_MAX};

    for (uint32_t at = begin; at < end; ++at) {
        const uint32_t number = number_at(w, at);
        espl_write_value value;

        load_value(source, number, source->kind, &value);
        const espl_status status = espl__write_check(source->kind, &value);

        if (status == ESPL_OK) {
            store_pose(locals, w, &sum, at, espl__wide_from(&value));
        } else {
            source->results[number] = status;
            sum.is_told = true;
        }
    }
    return sum;
}

ESPL__INLINE void add(stored *sum, const stored *more)
{
    sum->first = more->first < sum->first ? more->first : sum->first;
    sum->writes += more->writes;
    sum->skipped += more->skipped;
    sum->is_told = sum->is_told || more->is_told;
}

ESPL__INLINE bool are_sound(const espl_pose *const v[4], bool has_stretch)
{
    espl__wide_bits alarm = espl__poses_invalid(v[0], v[1], v[2], v[3]);

    if (has_stretch) {
        alarm |= espl__stretches_nonfinite(
            (const espl_transform *)(const void *)v[0], (const espl_transform *)(const void *)v[1],
            (const espl_transform *)(const void *)v[2], (const espl_transform *)(const void *)v[3]);
    }
    return espl__wide_bits_are_zero(alarm);
}

// `count` entries at most 4, whose values are at v; v is filled up with any of them.
ESPL__INLINE void store_few(espl_pose *locals, const espl__tree_writes *w, stored *sum,
                            uint32_t begin, uint32_t count, const espl_pose *const v[4],
                            bool has_stretch)
{
    if (!are_sound(v, has_stretch)) {
        const espl__tree_writes entries = *w;
        const stored few = store_closely(locals, &entries, begin, begin + count);

        add(sum, &few);
        return;
    }
    for (uint32_t i = 0; i < count; ++i) {
        store_pose(locals, w, sum, begin + i, espl__wide_load(v[i]));
    }
}

// Entries [begin, end). Checked four at a time, because nearly all are finite and of unit length.
static stored store_poses(espl_pose *locals, const espl__tree_writes *of, uint32_t begin,
                          uint32_t end)
{
    const espl__write_source source = *of->source; // copies that no store can change, so that they
    const espl__tree_writes w = *of;               // stay in registers
    const bool has_stretch = source.kind == ESPL_WRITE_LOCAL_TRANSFORM;
    stored sum = {.first = UINT32_MAX};
    uint32_t at = begin;

    for (; end - at >= 4; at += 4) {
        const espl_pose *const v[4] = {
            pose_at(&source, number_at(&w, at)), pose_at(&source, number_at(&w, at + 1)),
            pose_at(&source, number_at(&w, at + 2)), pose_at(&source, number_at(&w, at + 3))};

        store_few(locals, &w, &sum, at, 4, v, has_stretch);
    }
    for (; at < end; ++at) {
        const espl_pose *const v = pose_at(&source, number_at(&w, at));

        store_few(locals, &w, &sum, at, 1, (const espl_pose *const[4]){v, v, v, v}, has_stretch);
    }
    return sum;
}

static void add_stored(pass *p, const stored *sum)
{
    p->context->counts.writes += sum->writes;
    p->context->counts.writes_skipped += sum->skipped;
    p->is_told = p->is_told || sum->is_told;
    set_dirty(p, sum->first);
}

enum { PIECES = 64 };

typedef struct store_run {
    espl_pose *locals;
    const espl__tree_writes *w;
    uint32_t pieces;
    stored done[PIECES];
    bool is_done[PIECES];
} store_run;

// The first entry of a piece. A node's entries are all in one piece.
static uint32_t piece_begin(const store_run *run, size_t piece)
{
    const uint32_t *const slots = run->w->slots, count = run->w->count;
    uint32_t at = (uint32_t)((uint64_t)count * piece / run->pieces);

    while (at != 0 && at < count && slots[at] == slots[at - 1]) {
        at += 1;
    }
    return at;
}

static void store_piece(void *context, size_t piece)
{
    store_run *const run = context;

    if (!run->is_done[piece]) {
        run->done[piece] = store_poses(run->locals, run->w, piece_begin(run, piece),
                                       piece_begin(run, piece + 1));
        run->is_done[piece] = true;
    }
}

// On the workers of the context.
static void store_widely(pass *p)
{
    const espl__workers *const workers = &p->context->workers;
    const uint32_t pieces = p->w->count / p->forest->grain;
    store_run run = {.locals = p->forest->local,
                     .w = p->w,
                     .pieces = pieces < 1        ? 1
                               : pieces < PIECES ? pieces
                                                 : PIECES};

    ESPL_CHECK(workers->is_closed != NULL);
    const bool was_closed = *workers->is_closed;

    *workers->is_closed = true;
    (void)espl__run_jobs(workers->executor, workers->hooks, store_piece, &run, run.pieces);
    *workers->is_closed = was_closed;
    for (uint32_t piece = 0; piece < run.pieces; ++piece) {
        store_piece(&run, piece); // unless the executor had it done
        add_stored(p, &run.done[piece]);
    }
}

// Locals and worlds in turns: what was just stored is in the cache still.
static void sweep_poses(pass *p)
{
    enum { BLOCK = 2048 };
    const espl__tree_writes *const w = p->w;

    if (espl__tree_is_wide(p->forest, &p->forest->trees[p->tree]) &&
        !espl__executor_is_serial(p->context->workers.executor)) {
        store_widely(p);
        return;
    }
    for (uint32_t at = 0; at < w->count;) {
        const uint32_t end = w->count - at < 2 * BLOCK ? w->count : at + BLOCK;
        const stored sum = store_poses(p->forest->local, w, at, end);

        add_stored(p, &sum);
        if (end == w->count) {
            follow_root(p);
        } else {
            advance(p, w->slots[end]);
        }
        at = end;
    }
}

static bool has_only_poses(const pass *p)
{
    const espl__write_source *const source = p->w->source;

    return p->forest->trees[p->tree].side == NULL && source->is_one_kind &&
           (source->kind == ESPL_WRITE_LOCAL_TRANSFORM || source->kind == ESPL_WRITE_LOCAL_POSE);
}

// --- The whole ---

// Worlds that are not finite at or below a node that an entry changed.
static ESPL__APART uint64_t count_overflowed(const pass *p)
{
    espl__forest *const forest = p->forest;
    const espl__tree_writes *const w = p->w;
    uint64_t count = 0;

    for (uint32_t i = 0; i < w->count; ++i) {
        const espl_status result = w->source->results[number_at(w, i)];

        if (result >= 0 && (int)result < ESPL__UNCHANGED) {
            forest->flags[w->slots[i]] |= ESPL__SLOT_MARK;
        }
    }
    for (uint32_t slot = w->slots[0]; slot < p->end; ++slot) {
        const uint32_t parent = forest->parent[slot];

        if (parent != ESPL__NO_SLOT && espl__slot_is(forest, parent, ESPL__SLOT_MARK) &&
            !espl__slot_keeps_world(forest, slot)) {
            forest->flags[slot] |= ESPL__SLOT_MARK;
        }
        count += espl__slot_is(forest, slot, ESPL__SLOT_MARK) &&
                         forest->links[slot].entity != ESPL__NO_ENTITY &&
                         !espl__pose_is_finite(&forest->world[slot])
                     ? 1
                     : 0;
    }
    for (uint32_t slot = w->slots[0]; slot < p->end; ++slot) {
        forest->flags[slot] &= (uint8_t)~ESPL__SLOT_MARK;
    }
    return count;
}

bool espl__tree_write(espl__forest *forest, espl__context *context, const espl__tree_writes *w)
{
    const uint32_t tree = forest->tree[w->slots[0]];
    const espl__tree *const t = &forest->trees[tree];
    const uint64_t overflowed = context->counts.overflowed;
    pass p = {.forest = forest,
              .context = context,
              .w = w,
              .tree = tree,
              .end = t->base + t->used,
              .final = UINT32_MAX};
    const bool are_poses = has_only_poses(&p);

    if (are_poses && w->slots[0] == t->base && espl__tree_is_single(forest, t)) {
        p.sweeps = true; // all other nodes follow the root
    } else if (w->count > 1) {
        choose(&p, 0, context->counts.nodes_visited);
    }
    if (p.sweeps && are_poses) {
        sweep_poses(&p);
    } else {
        write_each(&p, 0, w->count);
    }
    advance(&p, p.end);
    // Several passes may have come by a node, or by a node that is below no entry.
    if (!p.waits && context->counts.overflowed != overflowed) {
        context->counts.overflowed = overflowed + count_overflowed(&p);
    }
    return p.is_told;
}
