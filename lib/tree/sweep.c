// SPDX-License-Identifier: MIT
#include "lib/tree/sweep.h"

#include "lib/jobs/ranges.h"
#include "lib/math/lanes.h"

#include <stdatomic.h>

// Part of the ranks behind the first entry that are written at least.
enum { DENSE = 4 };
// Entries whose locals are put before their worlds follow: what was just written is at hand still.
enum { BLOCK = 2048 };

// What a block of entries came to.
typedef struct tally {
    uint32_t first; // rank whose local changed
    size_t writes;  // that changed one
    size_t told;    // with more to tell than ESPL_OK
    size_t refused;
} tally;

typedef struct sweep {
    espl__forest *forest;
    const espl__run *run;
    espl__run_writes *w;
    tally done;
} sweep;

// On several workers, who add up what they did. A small run has no use for it: atomic sums would
// take as long as its nodes.
typedef struct wide_sweep {
    const sweep *sweep;
    _Atomic uint32_t first; // least rank whose local changed; UINT32_MAX: none did
    atomic_size_t writes, told, refused;
    uint32_t pieces; // of the entries
    bool is_done[ESPL__PIECES];
} wide_sweep;

// --- Locals ---

static inline bool is_usual_transform(const espl_transform *value)
{
    const float stretch = value->stretch[0] + value->stretch[1] + value->stretch[2];

    return stretch - stretch == 0 && espl__rotation_is_unit(value->rotation);
}

static inline bool is_finite_position(const float *value)
{
    const float sum = value[0] + value[1] + value[2];

    return sum - sum == 0;
}

typedef struct taken {
    espl__laned local;
    espl_status status;
} taken;

// A value of any kind, whatever it is. Refused, the local stays.
static ESPL__APART taken take_any(espl__laned before, espl_write_kind kind, const void *bytes)
{
    espl_write_value value;
    espl_pose local;

    espl__write_load(&value, kind, bytes);
    espl__laned_store(&local, before);
    espl_status status = espl__write_check(kind, &value);

    status = status != ESPL_OK ? status : espl__local_write(&local, kind, &value);
    return (taken){espl__laned_load(&local), status};
}

// What entries are and where they go; a copy at hand, since nothing that is written through its
// pointers can change it.
typedef struct entries {
    const uint32_t *numbers, *ranks; // numbers: NULL, or by entry
    uint32_t first_number;
    const unsigned char *values;
    size_t value_size;
    espl_write_kind kind;
    espl_pose *locals, *old_locals; // by rank, by entry
    espl_status *results;           // all open
} entries;

static entries entries_of(const sweep *s)
{
    const espl__run_writes *const w = s->w;

    return (entries){.numbers = w->numbers,
                     .first_number = w->first_number,
                     .ranks = w->ranks,
                     .values = w->source->values,
                     .value_size = w->source->value_size,
                     .kind = w->source->kind,
                     .locals = s->forest->local + s->run->base,
                     .old_locals = w->old_locals,
                     .results = w->source->results};
}

static inline uint32_t number_at(const entries *e, uint32_t at)
{
    return e->numbers != NULL ? e->numbers[at] : e->first_number + at;
}

// The local that an entry leaves; as it was where the entry is refused.
// @param shape  of the value, a constant where it is inlined: of what needs no more than a look, or
//               any other.
ESPL__INLINE espl__laned take_value(const entries *e, tally *t, espl__laned before, uint32_t number,
                                    espl_write_kind shape)
{
    const void *const value = e->values + number * e->value_size;

    if (shape == ESPL_WRITE_LOCAL_POSE && is_usual_transform(value)) {
        const espl__laned after = espl__laned_load(value);

        if (espl__laned_is_finite(after)) {
            return after;
        }
    } else if (shape == ESPL_WRITE_LOCAL_POSITION && is_finite_position(value)) {
        return espl__laned_at(before, value);
    }
    const taken any = take_any(before, e->kind, value);

    if (any.status != ESPL_OK) {
        e->results[number] = any.status;
        t->told += 1;
        t->refused += any.status < 0 ? 1 : 0;
    }
    return any.local;
}

// Put the locals of entries [begin, end) in place, and remember what was there.
ESPL__INLINE tally put_shaped(const entries *e, uint32_t begin, uint32_t end, espl_write_kind shape)
{
    tally t = {.first = UINT32_MAX};

    for (uint32_t at = begin; at < end; ++at) {
        espl_pose *const place = &e->locals[e->ranks[at]];
        const espl__laned before = espl__laned_load(place);
        const espl__laned after = take_value(e, &t, before, number_at(e, at), shape);

        espl__laned_store(&e->old_locals[at], before);
        if (!espl__lane_bits_are_zero(espl__laned_differ(before, after))) {
            espl__laned_store(place, after);
            t.first = t.writes == 0 ? e->ranks[at] : t.first;
            t.writes += 1;
        }
    }
    return t;
}

static inline const espl_transform *transform_at(const entries *e, uint32_t at)
{
    return (const espl_transform *)(const void *)(e->values + number_at(e, at) * e->value_size);
}

// Put a pose in place, and remember what was there. @return bits that changed.
ESPL__INLINE espl__lane_bits put_pose(const entries *e, uint32_t at, const espl_transform *value)
{
    espl_pose *const place = &e->locals[e->ranks[at]];
    const espl__laned before = espl__laned_load(place);
    const espl__laned after = espl__laned_load((const espl_pose *)(const void *)value);

    espl__laned_store(&e->old_locals[at], before);
    espl__laned_store(place, after);
    return espl__laned_differ(before, after);
}

// Four entries of which all are sound. false: some local is as it was.
ESPL__INLINE bool put_four(const entries *e, uint32_t at, const espl_transform *const value[4])
{
    const espl__lane_bits a = put_pose(e, at, value[0]), b = put_pose(e, at + 1, value[1]);
    const espl__lane_bits c = put_pose(e, at + 2, value[2]), d = put_pose(e, at + 3, value[3]);

    return espl__lane_bits_are_each_set(a, b, c, d);
}

// Count what came of entries [begin, end), whose locals were put in place whatever they were.
static ESPL__APART tally count_changes(const entries *e, uint32_t begin, uint32_t end)
{
    tally t = {.first = UINT32_MAX};

    for (uint32_t at = begin; at < end; ++at) {
        if (!espl__pose_is_same(&e->old_locals[at], &e->locals[e->ranks[at]])) {
            t.first = t.writes == 0 ? e->ranks[at] : t.first;
            t.writes += 1;
        }
    }
    return t;
}

static ESPL__APART tally put_poses_closely(const entries *e, uint32_t begin, uint32_t end)
{
    return put_shaped(e, begin, end, ESPL_WRITE_LOCAL_POSE);
}

ESPL__INLINE void add_to(tally *t, const tally *more)
{
    t->first = t->first < more->first ? t->first : more->first;
    t->writes += more->writes;
    t->told += more->told;
    t->refused += more->refused;
}

// Four at a time, where nothing is to be told of any of them.
static tally put_poses(const entries *e, uint32_t begin, uint32_t end)
{
    tally t = {.first = UINT32_MAX};
    uint32_t at = begin;

    for (; end - at >= 4; at += 4) {
        const espl_transform *const four[4] = {transform_at(e, at), transform_at(e, at + 1),
                                               transform_at(e, at + 2), transform_at(e, at + 3)};
        const bool is_sound = espl__laned_are_sound(four[0], four[1], four[2], four[3]);

        if (is_sound && put_four(e, at, four)) {
            t.first = t.first < e->ranks[at] ? t.first : e->ranks[at];
            t.writes += 4;
        } else {
            const tally few =
                is_sound ? count_changes(e, at, at + 4) : put_poses_closely(e, at, at + 4);

            add_to(&t, &few);
        }
    }
    if (at < end) {
        const tally rest = put_poses_closely(e, at, end);

        add_to(&t, &rest);
    }
    return t;
}

static tally put_entries(const sweep *s, uint32_t begin, uint32_t end)
{
    const entries e = entries_of(s);

    switch (e.kind) {
    case ESPL_WRITE_LOCAL:
    case ESPL_WRITE_LOCAL_POSE:
        return put_poses(&e, begin, end);
    case ESPL_WRITE_LOCAL_POSITION:
        return put_shaped(&e, begin, end, ESPL_WRITE_LOCAL_POSITION);
    default:
        return put_shaped(&e, begin, end, ESPL_WRITE_KIND_COUNT);
    }
}

// --- Worlds ---

// Worlds of ranks [begin, end); those before are final. false: one is not finite.
static bool follow(const sweep *s, uint32_t begin, uint32_t end)
{
    bool is_finite = true;

    if (begin == 0) {
        const uint32_t slot = s->run->base;

        s->forest->world[slot] = s->forest->local[slot];
        is_finite = espl__pose_is_finite(&s->forest->world[slot]);
        begin = 1;
    }
    return (begin >= end || espl__compose_ranks(s->forest, s->run, begin, end)) && is_finite;
}

// Locals and worlds in turns, on this thread. false: some world is not finite.
static bool sweep_in_turns(sweep *s)
{
    const espl__run_writes *const w = s->w;
    uint32_t done = UINT32_MAX; // worlds of ranks before are final; none has to follow yet
    bool is_finite = true;

    for (uint32_t at = 0; at < w->count;) {
        const uint32_t end = w->count - at < 2 * BLOCK ? w->count : at + BLOCK;
        const uint32_t limit = end < w->count ? w->ranks[end] : s->run->size;
        const tally t = put_entries(s, at, end);

        done = t.first < done ? t.first : done;
        add_to(&s->done, &t);
        if (done < limit) {
            is_finite = follow(s, done, limit) && is_finite;
            done = limit;
        }
        at = end;
    }
    return is_finite;
}

// All worlds from a rank on, on the workers of a team.
static bool follow_widely(const sweep *s, uint32_t first)
{
    const uint32_t begin = first == 0 ? 1 : first;
    const bool is_finite = first != 0 || follow(s, 0, 1);
    espl__span spans[2];
    espl__walk walk;

    espl__walk_begin(&walk, s->forest, s->w->run, spans, 2);
    // None of these hangs below another, and all that is behind them does.
    espl__walk_wait(&walk, begin, espl__first_child(s->forest, s->run, begin));
    espl__walk_finish(&walk, &s->w->team);
    espl__walk_advance(&walk, UINT32_MAX);
    return walk.is_finite && is_finite;
}

static void add_tally(wide_sweep *wide, const tally *t)
{
    uint32_t first = wide->first;

    while (t->first < first && !atomic_compare_exchange_weak(&wide->first, &first, t->first)) {
    }
    wide->writes += t->writes;
    wide->told += t->told;
    wide->refused += t->refused;
}

static void put_piece(void *context, size_t piece)
{
    wide_sweep *const wide = context;
    const uint64_t count = wide->sweep->w->count;

    if (!wide->is_done[piece]) {
        const tally t = put_entries(wide->sweep, (uint32_t)(count * piece / wide->pieces),
                                    (uint32_t)(count * (piece + 1) / wide->pieces));

        add_tally(wide, &t);
        wide->is_done[piece] = true;
    }
}

// All locals, on the workers of the run's team.
static tally put_widely(const sweep *s)
{
    const espl__team *const team = &s->w->team;
    const uint32_t pieces = s->w->count / s->forest->grain;
    bool own = false;
    bool *const is_closed = team->is_closed != NULL ? team->is_closed : &own;
    const bool was_closed = *is_closed;
    wide_sweep wide = {.sweep = s};

    atomic_init(&wide.first, UINT32_MAX);
    wide.pieces = pieces < 1 ? 1 : pieces < ESPL__PIECES ? pieces : ESPL__PIECES;
    *is_closed = true;
    (void)espl__run_jobs(team->executor, team->hooks, put_piece, &wide, wide.pieces);
    *is_closed = was_closed;
    // What an executor loses is done here.
    for (uint32_t piece = 0; piece < wide.pieces; ++piece) {
        put_piece(&wide, piece);
    }
    return (tally){wide.first, wide.writes, wide.told, wide.refused};
}

// Locals first, then worlds, each on the workers of the run's team.
static bool sweep_widely(sweep *s)
{
    s->done = put_widely(s);
    return s->done.first == UINT32_MAX || follow_widely(s, s->done.first);
}

// --- The whole ---

static bool can_sweep(const espl__run *run, const espl__run_writes *w)
{
    const unsigned kind = run->flags & ((unsigned)ESPL__RUN_IN_ORDER | ESPL__RUN_GENERAL);

    return w->is_once && w->source->values != NULL && kind == ESPL__RUN_IN_ORDER &&
           w->old_sides == NULL && espl__write_is_local(w->source->kind) &&
           w->count >= (run->size - w->ranks[0]) / DENSE;
}

static void take_back(const sweep *s)
{
    espl__run_writes *const w = s->w;

    for (uint32_t at = 0; at < w->count; ++at) {
        s->forest->local[s->run->base + w->ranks[at]] = w->old_locals[at];
        w->source->results[espl__write_number(w, at)] = ESPL_OK;
    }
    if (s->done.first != UINT32_MAX) {
        (void)follow(s, s->done.first, s->run->size);
    }
}

bool espl__run_sweep(espl__forest *forest, espl__run_writes *w)
{
    if (!can_sweep(&forest->runs[w->run], w)) {
        return false;
    }
    sweep s = {forest, &forest->runs[w->run], w, {.first = UINT32_MAX}};
    const bool is_wide =
        espl__run_is_wide(forest, s.run) && !espl__executor_is_serial(w->team.executor);
    const bool is_finite = is_wide ? sweep_widely(&s) : sweep_in_turns(&s);
    const uint64_t visited = s.done.first != UINT32_MAX ? s.run->size - s.done.first : 0;

    w->visited += visited;
    if (!is_finite) {
        take_back(&s);
        w->visited += visited;
        return false;
    }
    w->writes = s.done.writes;
    w->writes_skipped = w->count - s.done.refused - w->writes;
    w->told = s.done.told;
    return true;
}
