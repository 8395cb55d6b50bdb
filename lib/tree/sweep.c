// SPDX-License-Identifier: MIT
#include "lib/tree/sweep.h"

#include "lib/jobs/ranges.h"
#include "lib/math/lanes.h"

#include <string.h>

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

// On several workers. What a piece came to is added up when all are done.
typedef struct wide_sweep {
    const sweep *sweep;
    uint32_t pieces; // of the entries
    tally done[ESPL__PIECES];
    bool is_done[ESPL__PIECES];
} wide_sweep;

// --- Locals ---

// How a value is looked at: what needs no more than a look, or any other.
typedef enum value_shape { TRANSFORMS, POSES, POSITIONS, OTHERS } value_shape;

static inline bool is_finite_stretch(const espl_transform *value)
{
    const float sum = value->stretch[0] + value->stretch[1] + value->stretch[2];

    return sum - sum == 0;
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
static ESPL__APART taken take_any(espl__laned before, const espl__write_source *source,
                                  uint32_t number)
{
    espl_write_kind kind;
    espl_write_value value;
    espl_pose local;

    espl__laned_store(&local, before);
    espl_status status = source->fetch(source->context, number, &kind, &value);

    status = status != ESPL_OK ? status : espl__local_write(&local, kind, &value);
    return (taken){espl__laned_load(&local), status};
}

// What entries are and where they go; a copy at hand, since nothing that is written through its
// pointers can change it.
typedef struct entries {
    const espl__write_source *source;
    const uint32_t *numbers, *ranks; // numbers: NULL, or by entry
    uint32_t first_number;
    const unsigned char *values;
    size_t value_size;
    espl_pose *locals, *old_locals; // by rank, by entry
    espl_status *results;           // all open
} entries;

static entries entries_of(const sweep *s)
{
    const espl__run_writes *const w = s->w;

    return (entries){.source = w->source,
                     .numbers = w->numbers,
                     .first_number = w->first_number,
                     .ranks = w->ranks,
                     .values = w->source->values,
                     .value_size = w->source->value_size,
                     .locals = s->forest->local + s->run->base,
                     .old_locals = w->old_locals,
                     .results = w->source->results};
}

static inline uint32_t number_at(const entries *e, uint32_t at)
{
    return e->numbers != NULL ? e->numbers[at] : e->first_number + at;
}

static inline const void *value_at(const entries *e, uint32_t at)
{
    return e->values + number_at(e, at) * e->value_size;
}

// Where a pose begins; a transform begins with one.
static inline const espl_pose *pose_at(const void *value)
{
    return value;
}

// The local that a sound value leaves.
ESPL__INLINE espl__laned shaped(espl__laned before, const void *value, value_shape shape)
{
    return shape == POSITIONS ? espl__laned_at(before, value) : espl__laned_load(pose_at(value));
}

static inline bool is_sound(const void *value, value_shape shape)
{
    if (shape == POSITIONS) {
        return is_finite_position(value);
    }
    return (shape == POSES || is_finite_stretch(value)) &&
           espl__rotation_is_unit(pose_at(value)->rotation) &&
           espl__laned_is_finite(espl__laned_load(pose_at(value)));
}

// The local that an entry leaves; as it was where the entry is refused.
// @param shape  of the value, a constant where it is inlined.
ESPL__INLINE espl__laned take_value(const entries *e, tally *t, espl__laned before, uint32_t number,
                                    value_shape shape)
{
    const void *const value = e->values + number * e->value_size;

    if (shape != OTHERS && is_sound(value, shape)) {
        return shaped(before, value, shape);
    }
    const taken any = take_any(before, e->source, number);

    if (any.status != ESPL_OK) {
        e->results[number] = any.status;
        t->told += 1;
        t->refused += any.status < 0 ? 1 : 0;
    }
    return any.local;
}

static inline uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

// Put the locals of entries [begin, end) in place, and remember what was there.
ESPL__INLINE tally put_shaped(const entries *e, uint32_t begin, uint32_t end, value_shape shape)
{
    tally t = {.first = UINT32_MAX};

    for (uint32_t at = begin; at < end; ++at) {
        espl_pose *const place = &e->locals[e->ranks[at]];
        const espl__laned before = espl__laned_load(place);
        const espl__laned after = take_value(e, &t, before, number_at(e, at), shape);

        espl__laned_store(&e->old_locals[at], before);
        if (!espl__lane_bits_are_zero(espl__laned_differ(before, after))) {
            espl__laned_store(place, after);
            t.first = lesser(t.first, e->ranks[at]);
            t.writes += 1;
        }
    }
    return t;
}

// The values of four entries.
typedef struct four {
    const void *value[4];
} four;

ESPL__INLINE four four_at(const entries *e, uint32_t at)
{
    if (e->numbers != NULL) {
        return (four){
            {value_at(e, at), value_at(e, at + 1), value_at(e, at + 2), value_at(e, at + 3)}};
    }
    const size_t size = e->value_size;
    const unsigned char *const first = value_at(e, at);

    return (four){{first, first + size, first + 2 * size, first + 3 * size}};
}

ESPL__INLINE bool are_sound(const four *of, value_shape shape)
{
    const void *const *const value = of->value;

    if (shape == POSITIONS) {
        return espl__positions_are_sound(value[0], value[1], value[2], value[3]);
    }
    const espl__lane_bits alarm = espl__poses_alarm(value[0], value[1], value[2], value[3]);

    return espl__lane_bits_are_zero(
        shape == POSES ? alarm
                       : alarm | espl__stretches_alarm(value[0], value[1], value[2], value[3]));
}

// Put a sound value in place, and remember what was there. @return bits that changed.
ESPL__INLINE espl__lane_bits put_sound(const entries *e, uint32_t at, const void *value,
                                       value_shape shape)
{
    espl_pose *const place = &e->locals[e->ranks[at]];
    const espl__laned before = espl__laned_load(place);
    const espl__laned after = shaped(before, value, shape);

    espl__laned_store(&e->old_locals[at], before);
    espl__laned_store(place, after);
    return espl__laned_differ(before, after);
}

// Four entries of which all are sound. false: some local is as it was.
ESPL__INLINE bool put_four(const entries *e, uint32_t at, const four *of, value_shape shape)
{
    const espl__lane_bits a = put_sound(e, at, of->value[0], shape);
    const espl__lane_bits b = put_sound(e, at + 1, of->value[1], shape);
    const espl__lane_bits c = put_sound(e, at + 2, of->value[2], shape);
    const espl__lane_bits d = put_sound(e, at + 3, of->value[3], shape);

    return espl__lane_bits_are_each_set(a, b, c, d);
}

// Count what came of entries [begin, end), whose locals were put in place whatever they were.
static ESPL__APART tally count_changes(const entries *e, uint32_t begin, uint32_t end)
{
    tally t = {.first = UINT32_MAX};

    for (uint32_t at = begin; at < end; ++at) {
        if (!espl__pose_is_same(&e->old_locals[at], &e->locals[e->ranks[at]])) {
            t.first = lesser(t.first, e->ranks[at]);
            t.writes += 1;
        }
    }
    return t;
}

static ESPL__APART tally put_closely(const entries *e, uint32_t begin, uint32_t end,
                                     value_shape shape)
{
    switch (shape) {
    case TRANSFORMS:
        return put_shaped(e, begin, end, TRANSFORMS);
    case POSES:
        return put_shaped(e, begin, end, POSES);
    case POSITIONS:
        return put_shaped(e, begin, end, POSITIONS);
    default:
        return put_shaped(e, begin, end, OTHERS);
    }
}

ESPL__INLINE void add_to(tally *t, const tally *more)
{
    t->first = lesser(t->first, more->first);
    t->writes += more->writes;
    t->told += more->told;
    t->refused += more->refused;
}

// The least of four ranks.
ESPL__INLINE uint32_t least_of(const uint32_t *ranks)
{
    return lesser(lesser(ranks[0], ranks[1]), lesser(ranks[2], ranks[3]));
}

// Four at a time, where nothing is to be told of any of them.
ESPL__INLINE tally put_fours(const entries *e, uint32_t begin, uint32_t end, value_shape shape)
{
    tally t = {.first = UINT32_MAX};
    uint32_t at = begin;

    for (; end - at >= 4; at += 4) {
        const four of = four_at(e, at);
        const bool is_sound = are_sound(&of, shape);

        if (is_sound && put_four(e, at, &of, shape)) {
            t.first = lesser(t.first, least_of(&e->ranks[at]));
            t.writes += 4;
        } else {
            const tally few =
                is_sound ? count_changes(e, at, at + 4) : put_closely(e, at, at + 4, shape);

            add_to(&t, &few);
        }
    }
    if (at < end) {
        const tally rest = put_closely(e, at, end, shape);

        add_to(&t, &rest);
    }
    return t;
}

static tally put_entries(const sweep *s, uint32_t begin, uint32_t end)
{
    const entries e = entries_of(s);

    switch (e.source->kind) {
    case ESPL_WRITE_LOCAL:
    case ESPL_WRITE_LOCAL_POSE:
        return e.source->has_poses ? put_fours(&e, begin, end, POSES)
                                   : put_fours(&e, begin, end, TRANSFORMS);
    case ESPL_WRITE_LOCAL_POSITION:
        return put_fours(&e, begin, end, POSITIONS);
    default:
        return put_closely(&e, begin, end, OTHERS);
    }
}

// --- Worlds ---

// The root's world is its local, which is finite. @return the first rank behind it from `begin` on.
static uint32_t follow_root(const sweep *s, uint32_t begin)
{
    const uint32_t slot = s->run->base;

    if (begin != 0) {
        return begin;
    }
    s->forest->world[slot] = s->forest->local[slot];
    return 1;
}

// Worlds of ranks [begin, end); those before are final. false: one is not finite.
static bool follow(const sweep *s, uint32_t begin, uint32_t end)
{
    return espl__compose_ranks(s->forest, s->run, follow_root(s, begin), end);
}

// Locals and worlds in turns, on this thread. false: some world is not finite.
static bool sweep_in_turns(sweep *s)
{
    const espl__run_writes *const w = s->w;
    uint32_t done = UINT32_MAX; // worlds of ranks before are final; none has to follow yet
    bool is_finite = true;

    for (uint32_t at = 0; at < w->count;) {
        const bool is_last = w->is_unordered || w->count - at < 2 * BLOCK;
        const uint32_t end = is_last ? w->count : at + BLOCK;
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
    const uint32_t begin = follow_root(s, first);
    espl__span spans[2];
    espl__walk walk;

    espl__walk_begin(&walk, s->forest, s->w->run, spans, 2);
    // None of these hangs below another, and all that is behind them does.
    espl__walk_wait(&walk, begin, espl__first_child(s->forest, s->run, begin));
    espl__walk_finish(&walk, &s->w->team);
    espl__walk_advance(&walk, UINT32_MAX);
    return walk.is_finite;
}

static void put_piece(void *context, size_t piece)
{
    wide_sweep *const wide = context;
    const uint64_t count = wide->sweep->w->count;

    if (!wide->is_done[piece]) {
        wide->done[piece] = put_entries(wide->sweep, (uint32_t)(count * piece / wide->pieces),
                                        (uint32_t)(count * (piece + 1) / wide->pieces));
        wide->is_done[piece] = true;
    }
}

// All locals, on the workers of the run's team.
static tally put_widely(const sweep *s)
{
    const espl__team *const team = &s->w->team;
    const uint32_t pieces = s->w->count / s->forest->grain;
    tally sum = {.first = UINT32_MAX};
    wide_sweep wide;

    ESPL_CHECK(team->is_closed != NULL);
    const bool was_closed = *team->is_closed;

    wide.sweep = s;
    wide.pieces = pieces < 1 ? 1 : pieces < ESPL__PIECES ? pieces : ESPL__PIECES;
    memset(wide.is_done, 0, sizeof wide.is_done);
    *team->is_closed = true;
    (void)espl__run_jobs(team->executor, team->hooks, put_piece, &wide, wide.pieces);
    *team->is_closed = was_closed;
    for (uint32_t piece = 0; piece < wide.pieces; ++piece) {
        put_piece(&wide, piece); // unless the executor had it done
        add_to(&sum, &wide.done[piece]);
    }
    return sum;
}

// Locals first, then worlds, each on the workers of the run's team.
static bool sweep_widely(sweep *s)
{
    s->done = put_widely(s);
    return s->done.first == UINT32_MAX || follow_widely(s, s->done.first);
}

// --- The whole ---

static uint32_t least_rank(const espl__run_writes *w)
{
    uint32_t least = w->ranks[0];

    for (uint32_t at = 1; at < w->count && w->is_unordered; ++at) {
        least = lesser(least, w->ranks[at]);
    }
    return least;
}

// Tell whether no rank has two entries, whatever their order: a bit for each rank, where no span
// stands yet. There is room for 128 bits an entry.
static bool has_none_twice(const espl__run *run, const espl__run_writes *w)
{
    uint32_t *const bits = (uint32_t *)(void *)w->spans;
    uint32_t twice = 0;

    if (!w->is_unordered) {
        return true;
    }
    memset(bits, 0, (run->size / 32 + 1) * sizeof *bits);
    for (uint32_t at = 0; at < w->count; ++at) {
        const uint32_t rank = w->ranks[at], bit = (uint32_t)1 << rank % 32;

        twice |= bits[rank / 32] & bit;
        bits[rank / 32] |= bit;
    }
    return twice == 0;
}

static bool is_dense(const espl__run *run, const espl__run_writes *w)
{
    return w->count >= (run->size - least_rank(w)) / ESPL__SWEPT_PART &&
           (!w->is_unordered || run->size / 32 < w->span_count * 2);
}

static bool can_sweep(const espl__run *run, const espl__run_writes *w)
{
    const unsigned kind = run->flags & ((unsigned)ESPL__RUN_IN_ORDER | ESPL__RUN_GENERAL);

    ESPL_CHECK(w->is_once || !w->is_unordered);
    ESPL_CHECK(w->old_sides == NULL || (kind & ESPL__RUN_GENERAL) != 0);
    return w->is_once && w->source->values != NULL && kind == ESPL__RUN_IN_ORDER &&
           espl__write_is_local(w->source->kind) && is_dense(run, w) && has_none_twice(run, w);
}

static void take_back(const sweep *s)
{
    espl__run_writes *const w = s->w;

    for (uint32_t at = 0; at < w->count; ++at) {
        s->forest->local[s->run->base + w->ranks[at]] = w->old_locals[at];
        w->source->results[espl__write_number(w, at)] = ESPL_OK;
    }
    ESPL_CHECK(s->done.first != UINT32_MAX); // a world that is not finite followed a local
    (void)follow(s, s->done.first, s->run->size);
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
