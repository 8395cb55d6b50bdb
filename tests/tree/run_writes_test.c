// SPDX-License-Identifier: MIT
// Many writes to one hierarchy against the same writes one by one: rank by rank, everything
// recomputed, and what overflows refused by the rules. Each is written in pieces too, on workers.
#include "lib/tree/sweep.h"

#include "tests/runner.h"
#include "tests/tree/scenes.h"

#include <float.h>

enum { SIZE = 40, ENTRIES = 60, SPANS = 2 * ENTRIES, KINDS = ESPL_WRITE_KIND_COUNT };

static grove g;
static espl__forest *const forest = &g.forest;
static uint64_t random_state;
static size_t shared; // passes that were shared among workers

static void set_up(void)
{
    grove_begin(&g);
    random_state = 31;
}

static void tear_down(void)
{
    grove_end(&g);
}

// --- A hierarchy as plain arrays, by rank ---

typedef struct stand {
    uint32_t run, size, parent[SIZE]; // ESPL__NO_SLOT: none that it takes anything from
    bool is_pass[SIZE], is_general, has_side;
    espl__placement placement[SIZE];
    espl_pose world[SIZE];
} stand;

static stand stand_of(uint32_t run)
{
    const espl__run *const header = &forest->runs[run];
    stand s = {.run = run,
               .size = header->size,
               .is_general = (header->flags & ESPL__RUN_GENERAL) != 0,
               .has_side = header->side != NULL};

    for (uint32_t rank = 0; rank < s.size; ++rank) {
        const uint32_t slot = grove_slot(&g, run, rank), up = espl__frame_slot(forest, slot);

        s.parent[rank] = up != ESPL__NO_SLOT ? forest->rank[up] : ESPL__NO_SLOT;
        s.is_pass[rank] = espl__slot_is(forest, slot, ESPL__SLOT_PASS);
        s.placement[rank] = espl__slot_placement(forest, slot);
        s.world[rank] = forest->world[slot];
    }
    return s;
}

static espl__frame frame_of(const stand *s, uint32_t rank)
{
    return (espl__frame){s->world[rank], s->placement[rank].extra};
}

// The world of a rank anew, under its parent's.
static void recompute(stand *s, uint32_t rank)
{
    espl__placement *const p = &s->placement[rank];

    if (s->parent[rank] == ESPL__NO_SLOT) {
        s->world[rank] = p->local;
        return;
    }
    const espl__frame parent = frame_of(s, s->parent[rank]);

    if (s->is_pass[rank] || espl__placement_copies(p)) {
        s->world[rank] = parent.world;
        p->extra = parent.extra;
    } else {
        s->world[rank] = espl__placement_world(p, &parent);
    }
}

// --- Entries ---

typedef struct entry {
    uint32_t rank;
    espl_write_kind kind;
    espl_write_value value;
} entry;

typedef struct batch {
    entry entries[ENTRIES];
    uint32_t count;
    espl_status results[ENTRIES];
} batch;

static espl_status read_entry(const void *context, uint32_t number, espl_write_kind *kind,
                              espl_write_value *value)
{
    const entry *const e = &((const batch *)context)->entries[number];

    *kind = e->kind;
    *value = e->value;
    return espl__write_check(*kind, value);
}

// Apply all entries of a rank to the state as it is.
static void apply_rank(stand *s, uint32_t rank, batch *b, uint64_t *writes, uint64_t *skipped)
{
    espl__frame room = {0};
    const espl__frame *parent = NULL;

    if (s->parent[rank] != ESPL__NO_SLOT) {
        room = frame_of(s, s->parent[rank]);
        parent = &room;
    }
    for (uint32_t i = 0; i < b->count; ++i) {
        const espl__placement before = s->placement[rank];
        espl_write_kind kind;
        espl_write_value value;

        if (b->entries[i].rank != rank || b->results[i] < 0) {
            continue;
        }
        b->results[i] = read_entry(b, i, &kind, &value);
        if (b->results[i] == ESPL_OK) {
            b->results[i] =
                espl__placement_write(&s->placement[rank], &s->world[rank], parent, kind, &value);
        }
        if (b->results[i] >= 0) {
            const bool is_same = espl__placement_is_equal(&before, &s->placement[rank]);

            *(is_same ? skipped : writes) += 1;
        }
    }
}

// Once through the hierarchy. Tells whether all is finite.
static bool pass_through(stand *s, batch *b, uint64_t *writes, uint64_t *skipped)
{
    bool is_finite = true;

    *writes = *skipped = 0;
    for (uint32_t rank = 0; rank < s->size; ++rank) {
        recompute(s, rank);
        apply_rank(s, rank, b, writes, skipped);
        is_finite = espl__pose_is_finite(&s->world[rank]) && is_finite;
    }
    return is_finite;
}

// Mark what is above a world that is the first one down its line not to be finite.
static void find_blame(const stand *s, bool *is_blamed)
{
    memset(is_blamed, 0, SIZE * sizeof *is_blamed);
    for (uint32_t rank = 0; rank < s->size; ++rank) {
        const uint32_t up = s->parent[rank];
        const bool is_top = up == ESPL__NO_SLOT || espl__pose_is_finite(&s->world[up]);

        if (espl__pose_is_finite(&s->world[rank]) || !is_top) {
            continue;
        }
        for (uint32_t at = up; at != ESPL__NO_SLOT; at = s->parent[at]) {
            is_blamed[at] = true;
        }
    }
}

typedef struct outcome {
    uint32_t rounds; // 1, 2, or 3: all refused
    uint64_t writes, skipped;
} outcome;

static outcome write_one_by_one(stand *s, batch *b)
{
    const stand before = *s;
    outcome out = {.rounds = 1};
    bool is_blamed[SIZE];

    if (pass_through(s, b, &out.writes, &out.skipped)) {
        return out;
    }
    find_blame(s, is_blamed);
    for (uint32_t i = 0; i < b->count; ++i) {
        if (b->results[i] >= 0 || b->results[i] == ESPL_ERR_RANGE) {
            b->results[i] = is_blamed[b->entries[i].rank] ? ESPL_ERR_RANGE : ESPL_OK;
        }
    }
    *s = before;
    out.rounds = 2;
    if (pass_through(s, b, &out.writes, &out.skipped)) {
        return out;
    }
    for (uint32_t i = 0; i < b->count; ++i) {
        b->results[i] = b->results[i] >= 0 ? ESPL_ERR_RANGE : b->results[i];
    }
    *s = before;
    return (outcome){.rounds = 3};
}

// --- The writes of the library ---

// Values where they stand, if they are all of one kind.
static const unsigned char *values_of_one_kind(const batch *b)
{
    for (uint32_t i = 0; i < b->count; ++i) {
        if (b->entries[i].kind != b->entries[0].kind || (int)b->entries[i].kind >= KINDS) {
            return NULL;
        }
    }
    return b->count != 0 ? (const unsigned char *)&b->entries[0].value : NULL;
}

static bool ascends(const uint32_t *ranks, uint32_t count)
{
    for (uint32_t i = 1; i < count; ++i) {
        if (ranks[i] <= ranks[i - 1]) {
            return false;
        }
    }
    return true;
}

// Numbers that ascend one by one need not be told.
static const uint32_t *unless_they_ascend(const uint32_t *numbers, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        if (numbers[i] != i) {
            return numbers;
        }
    }
    return NULL;
}

static espl__run_writes write_run(const stand *s, const batch *b, const espl__team *team,
                                  espl_status *results)
{
    static uint32_t numbers[ENTRIES], ranks[ENTRIES];
    static espl__span spans[SPANS];
    static espl_pose old_locals[ENTRIES];
    static espl__side_entry old_sides[ENTRIES];
    static espl__write_source source;
    uint32_t at = 0;

    for (uint32_t rank = 0; rank < s->size; ++rank) {
        for (uint32_t i = 0; i < b->count; ++i) {
            if (b->entries[i].rank == rank) {
                ranks[at] = rank;
                numbers[at++] = i;
            }
        }
    }
    for (uint32_t i = 0; i < b->count; ++i) {
        results[i] = ESPL_OK;
    }
    source = (espl__write_source){.fetch = read_entry,
                                  .context = b,
                                  .results = results,
                                  .values = values_of_one_kind(b),
                                  .value_size = sizeof b->entries[0],
                                  .kind = b->entries[0].kind};
    memset(spans, 0xa5, sizeof spans);
    memset(old_locals, 0xff, sizeof old_locals);
    memset(old_sides, 0xff, sizeof old_sides);
    espl__run_writes w = {.source = &source,
                          .numbers = unless_they_ascend(numbers, b->count),
                          .ranks = ranks,
                          .count = b->count,
                          .run = s->run,
                          .is_once = ascends(ranks, b->count),
                          .team = *team,
                          .spans = spans,
                          .span_count = s->size % 2 == 0 ? 0 : SPANS,
                          .old_locals = old_locals,
                          .old_sides = s->has_side ? old_sides : NULL};

    espl__run_write(forest, &w);
    return w;
}

static void stands_as(const stand *expected)
{
    const stand is = stand_of(expected->run);

    for (uint32_t rank = 0; rank < is.size; ++rank) {
        const bool is_same =
            espl__placement_is_equal(&is.placement[rank], &expected->placement[rank]) &&
            grove_same(&is.world[rank], &expected->world[rank]);

        ck_assert_msg(is_same, "rank %u", rank);
    }
    grove_is_sound(&g);
}

static void results_agree(const batch *b, const espl_status *results)
{
    for (uint32_t i = 0; i < b->count; ++i) {
        if (results[i] != b->results[i]) {
            ck_abort_msg("entry %u of kind %d on rank %u: %d, expected %d", i, b->entries[i].kind,
                         b->entries[i].rank, results[i], b->results[i]);
        }
    }
}

static void put_back(const stand *s)
{
    for (uint32_t rank = 0; rank < s->size; ++rank) {
        const uint32_t slot = grove_slot(&g, s->run, rank);

        espl__slot_place(forest, slot, &s->placement[rank]);
        forest->world[slot] = s->world[rank];
    }
}

// Write a batch on workers of all manners, in pieces however small: all is as it is on one thread.
static espl__run_writes write_in_pieces(const stand *before, const batch *b, espl_status *results)
{
    test_executor hostile = {.manner = (test_manner)test_below(&random_state, 3),
                             .workers = 2 + test_below(&random_state, 63),
                             .random = test_random(&random_state)};
    const espl_executor executor = test_executor_of(&hostile);
    const espl_hooks hooks = {0};
    bool is_closed = false;
    const espl__team alone = {0}, team = {&executor, &hooks, &is_closed};
    espl_status others[ENTRIES];

    forest->grain = 1 + test_below(&random_state, 8);
    const espl__run_writes first = write_run(before, b, &alone, others);
    const stand after = stand_of(before->run);

    put_back(before);
    const espl__run_writes done = write_run(before, b, &team, results);

    shared += hostile.calls;
    ck_assert(!is_closed);
    stands_as(&after);
    ck_assert(b->count == 0 || memcmp(results, others, b->count * sizeof *results) == 0);
    ck_assert_uint_eq(done.visited, first.visited);
    ck_assert_uint_eq(done.skipped, first.skipped);
    ck_assert_uint_eq(done.writes, first.writes);
    ck_assert_uint_eq(done.writes_skipped, first.writes_skipped);
    put_back(before);
    forest->grain = ESPL__GRAIN;
    return done;
}

// Write a batch both ways. @return what the naive way says of it.
static outcome write_both(uint32_t run, batch *b, espl__run_writes *done)
{
    const stand before = stand_of(run);
    stand expected = before;
    espl_status results[ENTRIES];

    for (uint32_t i = 0; i < b->count; ++i) {
        b->results[i] = ESPL_OK;
    }
    const outcome out = write_one_by_one(&expected, b);
    const espl__run_writes pieces = write_in_pieces(&before, b, results);

    results_agree(b, results);
    *done = write_run(&before, b, &(espl__team){0}, results);
    results_agree(b, results);
    stands_as(&expected);
    ck_assert(before.is_general || pieces.visited == done->visited);
    ck_assert_uint_eq(done->writes, out.writes);
    ck_assert_uint_eq(done->writes_skipped, out.skipped);
    return out;
}

// --- Random hierarchies and batches ---

static uint32_t plant_any(uint32_t round)
{
    uint32_t parent[SIZE];
    uint8_t flags[SIZE], inherit[SIZE];
    const bool is_general = round % 2 != 0, has_side = round % 4 == 3;

    grove_random_parents(parent, SIZE, 1 + test_below(&random_state, 5), &random_state);
    grove_random_inherit(inherit, SIZE, 3, &random_state);
    for (uint32_t rank = 0; rank < SIZE; ++rank) {
        const uint32_t kind = is_general ? test_below(&random_state, 12) : 12;

        flags[rank] = (uint8_t)(kind < 2                ? ESPL__SLOT_PASS
                                : kind < 3 && rank != 0 ? ESPL__SLOT_ROOTED
                                                        : 0);
    }
    return grove_plant(&g, &(grove_plan){.parent = parent,
                                         .size = 1 + test_below(&random_state, SIZE),
                                         .flags = flags,
                                         .inherit = has_side ? inherit : NULL,
                                         .holes = round % 3,
                                         .seed = test_random(&random_state),
                                         .is_shuffled = test_one_in(&random_state, 2),
                                         .has_extras = has_side && round % 8 == 3,
                                         .is_prepaid = has_side});
}

// Bring a hierarchy near to what is past all bounds: some scales and places are huge.
static void make_wild(uint32_t run)
{
    stand s = stand_of(run);

    for (uint32_t i = 0; i < 3; ++i) {
        const uint32_t rank = test_below(&random_state, s.size);
        const stand right = s;
        bool is_finite = true;

        if (s.is_pass[rank] || espl__placement_copies(&s.placement[rank])) {
            continue;
        }
        if (test_one_in(&random_state, 2)) {
            s.placement[rank].local.position[i] = ldexpf(1, (int)test_below(&random_state, 126));
        } else {
            s.placement[rank].local.scale = ldexpf(1, (int)test_below(&random_state, 100));
        }
        for (uint32_t at = 0; at < s.size; ++at) {
            recompute(&s, at);
            is_finite = is_finite && espl__pose_is_finite(&s.world[at]);
        }
        s = is_finite ? s : right;
    }
    for (uint32_t rank = 0; rank < s.size; ++rank) {
        espl__slot_place(forest, grove_slot(&g, run, rank), &s.placement[rank]);
        forest->world[grove_slot(&g, run, rank)] = s.world[rank];
    }
}

static void any_vector(float out[3], bool is_wild)
{
    for (int i = 0; i < 3; ++i) {
        out[i] = test_between(&random_state, -4, 4);
        if (is_wild) {
            out[i] = ldexpf(out[i], (int)test_below(&random_state, 126));
        }
    }
}

// A value for a kind; wild ones are huge in places, bad ones are none.
static espl_write_value any_value(espl_write_kind kind, bool is_wild)
{
    const espl__value_type type = espl__write_value_type(kind);
    espl_write_value value;
    float huge[3];

    memset(&value, 0, sizeof value);
    any_vector(huge, is_wild);
    if (type == ESPL__VALUE_TRANSFORM) {
        value.transform = any_transform(&random_state);
        value.transform.position[1] = huge[1];
        value.transform.scale = is_wild ? huge[0] : value.transform.scale;
    } else if (type == ESPL__VALUE_ROTATION) {
        any_rotation(value.rotation, &random_state);
    } else if (type == ESPL__VALUE_SCALAR) {
        value.scale = huge[0];
    } else if (type == ESPL__VALUE_WORD) {
        value.context = test_below(&random_state, 3);
    } else {
        any_vector(value.position, is_wild);
    }
    if (test_one_in(&random_state, 25)) {
        value.position[0] = type == ESPL__VALUE_WORD ? value.position[0] : HUGE_VALF;
    }
    return value;
}

// Without side arrays a write leaves stretch and context the default, as a batch sees to it.
static void make_plain(entry *e)
{
    const espl_transform identity = espl_transform_identity();

    if (espl__write_value_type(e->kind) == ESPL__VALUE_TRANSFORM) {
        memcpy(e->value.transform.stretch, identity.stretch, sizeof identity.stretch);
        e->value.transform.context = 0;
    } else if (espl__write_wants_side(e->kind, &e->value)) {
        memcpy(e->value.stretch, identity.stretch, sizeof identity.stretch);
        e->value.context = e->kind == ESPL_WRITE_CONTEXT ? 0 : e->value.context;
    }
}

// Few ranks, so that there are several entries on some.
static void any_batch(batch *b, const stand *s, bool is_wild)
{
    const uint32_t one_kind = test_below(&random_state, 2 * KINDS);

    b->count = 0;
    for (uint32_t i = 0; i < ENTRIES; ++i) {
        const uint32_t rank = test_below(&random_state, s->size);
        const bool is_bad = test_one_in(&random_state, 40);
        entry *const e = &b->entries[b->count];

        if (s->is_pass[rank] || test_one_in(&random_state, 3)) {
            continue;
        }
        e->rank = rank;
        e->kind = (espl_write_kind)(is_bad             ? (uint32_t)KINDS + 3
                                    : one_kind < KINDS ? one_kind
                                                       : test_below(&random_state, KINDS));
        e->value = any_value(e->kind, is_wild && test_one_in(&random_state, 4));
        if (!s->has_side) {
            make_plain(e);
        }
        b->count += 1;
    }
}

START_TEST(batch_is_its_writes_one_by_one)
{
    const size_t rounds = test_scaled(3000);
    size_t entries = 0;

    for (uint32_t round = 0; round < rounds; ++round) {
        const uint32_t run = plant_any(round);
        const stand s = stand_of(run);

        for (uint32_t i = 0; i < 3; ++i) {
            espl__run_writes done;
            batch b;

            any_batch(&b, &s, false);
            (void)write_both(run, &b, &done);
            entries += b.count;
        }
        espl__run_release(forest, run);
    }
    ck_assert_uint_gt(entries, 20 * rounds);
    ck_assert_uint_gt(shared, rounds / 2);
}
END_TEST

START_TEST(batch_that_overflows_is_refused_by_the_rules)
{
    const size_t rounds = test_scaled(6000);
    size_t seen[4] = {0};

    for (uint32_t round = 0; round < rounds; ++round) {
        const uint32_t run = plant_any(round);
        const stand s = stand_of(run);

        make_wild(run);
        for (uint32_t i = 0; i < 3; ++i) {
            espl__run_writes done;
            batch b;

            any_batch(&b, &s, true);
            seen[write_both(run, &b, &done).rounds] += 1;
        }
        espl__run_release(forest, run);
    }
    ck_assert_uint_gt(seen[1], rounds / 10);
    ck_assert_uint_gt(seen[2], rounds / 10);
    ck_assert_uint_gt(seen[3], rounds / 100);
}
END_TEST

// --- Sweeps ---

static bool is_swept_kind(espl_write_kind kind)
{
    return espl__write_is_local(kind) && espl__write_value_type(kind) != ESPL__VALUE_WORD;
}

// One kind that needs the local alone, and most ranks from some on, once each; some keep what they
// have. In the order of ranks or not.
static void any_sweep(batch *b, const stand *s, bool is_wild)
{
    const uint32_t first = test_one_in(&random_state, 2) ? 0 : test_below(&random_state, s->size);
    const uint32_t gaps = 1 + test_below(&random_state, 6);
    espl_write_kind kind;

    do {
        kind = (espl_write_kind)test_below(&random_state, KINDS);
    } while (!is_swept_kind(kind));
    b->count = 0;
    for (uint32_t rank = first; rank < s->size; ++rank) {
        entry *const e = &b->entries[b->count];

        if (s->is_pass[rank] || test_one_in(&random_state, gaps + 1)) {
            continue;
        }
        *e = (entry){.rank = rank, .kind = kind};
        e->value = any_value(kind, is_wild && test_one_in(&random_state, 4));
        if (kind == ESPL_WRITE_LOCAL_POSITION && test_one_in(&random_state, 4)) {
            memcpy(e->value.position, s->placement[rank].local.position, sizeof(float[3]));
        }
        if (!s->has_side) {
            make_plain(e);
        }
        b->count += 1;
    }
    for (uint32_t i = b->count; i > 1 && gaps % 2 == 0; --i) {
        const uint32_t other = test_below(&random_state, i);
        const entry held = b->entries[i - 1];

        b->entries[i - 1] = b->entries[other];
        b->entries[other] = held;
    }
}

START_TEST(locals_of_a_good_part_are_their_writes_one_by_one)
{
    const size_t rounds = test_scaled(4000);
    size_t swept = 0, seen[4] = {0};

    for (uint32_t round = 0; round < rounds; ++round) {
        const uint32_t run = plant_any(round);
        const stand s = stand_of(run);
        const bool is_wild = round % 8 >= 6;

        if (is_wild) {
            make_wild(run);
        }
        for (uint32_t i = 0; i < 3; ++i) {
            const stand now = stand_of(run);
            espl__run_writes done;
            batch b;

            any_sweep(&b, &now, is_wild);
            seen[write_both(run, &b, &done).rounds] += 1;
            // What a sweep says that no other way would: nothing but ESPL_OK everywhere.
            swept += b.count > 1 && done.told < b.count ? 1 : 0;
        }
        ck_assert_uint_eq(s.size, forest->runs[run].size);
        espl__run_release(forest, run);
    }
    ck_assert_uint_gt(swept, rounds / 4);
    ck_assert_uint_gt(seen[2] + seen[3], rounds / 100);
}
END_TEST

// --- Visits ---

// Worlds that must be recomputed: of what changed, and below what shows something else. A plain
// kernel goes on below all that it visits itself; a node written in the world is visited alone.
static uint64_t must_visit(const stand *was, const stand *is, const batch *b)
{
    bool goes_on[SIZE];
    uint64_t visited = 0;

    for (uint32_t rank = 0; rank < is->size; ++rank) {
        const espl__frame now = frame_of(is, rank), then = frame_of(was, rank);
        const bool differs = memcmp(&now, &then, sizeof now) != 0;
        const bool waits = rank != 0 && goes_on[forest->parent[forest->runs[is->run].base + rank]];
        const bool is_written =
            !is->is_pass[rank] && !espl__placement_copies(&is->placement[rank]) &&
            !espl__placement_is_equal(&is->placement[rank], &was->placement[rank]);
        bool is_in_world = false;

        for (uint32_t i = 0; i < b->count; ++i) {
            is_in_world =
                is_in_world ||
                (b->entries[i].rank == rank && b->results[i] != ESPL_ERR_NOT_FINITE &&
                 b->results[i] != ESPL_ERR_ARGUMENT && !espl__write_is_local(b->entries[i].kind));
        }
        visited += waits || is_written;
        goes_on[rank] = is->is_general || is_in_world || rank == 0 ? differs : waits || is_written;
    }
    return visited;
}

START_TEST(batch_visits_what_it_must)
{
    const size_t rounds = test_scaled(3000);
    size_t exact = 0;

    for (uint32_t round = 0; round < rounds; ++round) {
        const uint32_t run = plant_any(round);
        const stand was = stand_of(run);
        espl__run_writes done;
        batch b;

        any_batch(&b, &was, false);
        ck_assert_uint_eq(write_both(run, &b, &done).rounds, 1);
        const stand is = stand_of(run);
        const uint64_t least = must_visit(&was, &is, &b);

        // More gaps than spans may be between what stands still; nobody is visited twice.
        ck_assert_uint_ge(done.visited, least);
        ck_assert_uint_le(done.visited, is.size);
        ck_assert(is.is_general || done.visited == least);
        ck_assert_uint_le(done.skipped, done.visited);
        exact += done.visited == least;
        espl__run_release(forest, run);
    }
    ck_assert_uint_gt(exact, rounds - rounds / 20);
}
END_TEST

// Let all worlds follow from what was put in place by hand.
static void settle(uint32_t run)
{
    ck_assert(espl__propagate_at(forest, &forest->crew, run, 0));
    ck_assert(espl__propagate_below(forest, &forest->crew, run, 0));
    grove_is_sound(&g);
}

// A chain, by hand, with or without side arrays.
static uint32_t plant_chain(uint32_t size, bool is_prepaid)
{
    uint32_t parent[SIZE];

    for (uint32_t rank = 0; rank < size; ++rank) {
        parent[rank] = rank == 0 ? ESPL__NO_SLOT : rank - 1;
    }
    const uint32_t run =
        grove_plant(&g, &(grove_plan){.parent = parent, .size = size, .is_prepaid = is_prepaid});

    for (uint32_t rank = 0; rank < size; ++rank) {
        forest->local[grove_slot(&g, run, rank)] = espl__pose_identity();
    }
    settle(run);
    return run;
}

static void add_entry(batch *b, uint32_t rank, espl_write_kind kind, float x)
{
    ck_assert_uint_lt(b->count, ENTRIES);
    entry *const e = &b->entries[b->count++];

    memset(e, 0, sizeof *e);
    e->rank = rank;
    e->kind = kind;
    e->value.position[0] = x; // or the scale
}

START_TEST(n_writes_on_a_chain_of_n_visit_n)
{
    const espl_write_kind kinds[] = {ESPL_WRITE_TRANSLATE_LOCAL, ESPL_WRITE_TRANSLATE_WORLD,
                                     ESPL_WRITE_WORLD_POSITION, ESPL_WRITE_LOCAL_SCALE};

    for (uint32_t i = 0; i < 8; ++i) {
        const uint32_t run = plant_chain(SIZE, i % 2 != 0);
        espl__run_writes done;
        batch b = {.count = 0};

        // From the leaf up, as the worst order would have it.
        for (uint32_t rank = SIZE; rank-- > 0;) {
            add_entry(&b, rank, kinds[i / 2], 2 - (float)rank / SIZE);
        }
        ck_assert_uint_eq(write_both(run, &b, &done).rounds, 1);
        ck_assert_uint_eq(done.visited, SIZE);
        ck_assert_uint_eq(done.skipped, 0);
        ck_assert_uint_eq(done.writes, SIZE);
        ck_assert_uint_eq(done.writes_skipped, 0);
        espl__run_release(forest, run);
    }
}
END_TEST

START_TEST(batch_that_changes_nothing_visits_nobody)
{
    for (uint32_t i = 0; i < 2; ++i) {
        const uint32_t run = plant_chain(SIZE, i != 0);
        espl__run_writes done;
        batch b = {.count = 0};

        for (uint32_t rank = 0; rank < ENTRIES / 2; ++rank) {
            add_entry(&b, rank, ESPL_WRITE_LOCAL_POSITION, 0);
            add_entry(&b, rank / 2, ESPL_WRITE_WORLD_SCALE, 1);
        }
        (void)write_both(run, &b, &done);
        ck_assert_uint_eq(done.visited, 0);
        ck_assert_uint_eq(done.writes, 0);
        ck_assert_uint_eq(done.writes_skipped, b.count);
        espl__run_release(forest, run);
    }
}
END_TEST

START_TEST(sweep_visits_all_behind_the_first_that_changed)
{
    enum { KEPT = 3, FIRST = 10 };
    const uint32_t run = plant_chain(SIZE, false);
    espl__run_writes done;
    batch b = {.count = 0};

    for (uint32_t rank = FIRST - KEPT; rank < SIZE; rank += 2) {
        add_entry(&b, rank, ESPL_WRITE_LOCAL_POSITION, rank < FIRST ? 0 : 1);
    }
    (void)write_both(run, &b, &done);
    ck_assert_uint_eq(done.visited, SIZE - (FIRST + 1));
    ck_assert_uint_eq(done.writes, b.count - 2);
    ck_assert_uint_eq(done.writes_skipped, 2);
    ck_assert_uint_eq(done.told, 0);
}
END_TEST

// So far from the origin that a step is lost: locals change, and no world does.
START_TEST(who_is_found_where_it_stood_is_told_and_nobody_below_is_visited)
{
    for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t run = plant_chain(4, i % 2 != 0), entries = 1 + i / 2;
        espl__run_writes done;
        batch b = {.count = 0};

        forest->local[grove_slot(&g, run, 0)].position[0] = 1e10f;
        settle(run);
        for (uint32_t k = 0; k < entries; ++k) {
            add_entry(&b, 1, ESPL_WRITE_TRANSLATE_LOCAL, 1);
        }
        ck_assert_uint_eq(write_both(run, &b, &done).rounds, 1);
        ck_assert_uint_eq(done.writes, entries);
        ck_assert_uint_eq(done.visited, 1);
        ck_assert_uint_eq(done.skipped, 1);
        espl__run_release(forest, run);
    }
}
END_TEST

// Entries in no order are swept by a bit for each rank, for which there has to be room.
START_TEST(few_entries_in_no_order_are_not_swept_in_a_large_run)
{
    enum { LARGE = 1024, SENTINEL = 0x5a };
    static const uint32_t parent[LARGE] = {ESPL__NO_SLOT};
    const uint32_t run = grove_plant(&g, &(grove_plan){.parent = parent, .size = LARGE});
    const uint32_t ranks[] = {LARGE - 2, LARGE - 4};
    const uint64_t before = grove_hash(&g);
    const espl_write_value values[2] = {{.position = {1}}, {.position = {2}}};
    espl_status results[2] = {ESPL_OK, ESPL_OK};
    espl_pose old_locals[2];
    espl__span spans[LARGE / 32 + 1];
    const espl__write_source source = {.results = results,
                                       .values = (const unsigned char *)values,
                                       .value_size = sizeof *values,
                                       .kind = ESPL_WRITE_LOCAL_POSITION};
    espl__run_writes w = {.source = &source,
                          .ranks = ranks,
                          .count = 2,
                          .run = run,
                          .is_once = true,
                          .is_unordered = true,
                          .spans = spans,
                          .span_count = 4,
                          .old_locals = old_locals};

    memset(spans, SENTINEL, sizeof spans);
    ck_assert(!espl__run_sweep(forest, &w));
    for (size_t i = 0; i < sizeof spans; ++i) {
        ck_assert_uint_eq(((const unsigned char *)spans)[i], SENTINEL);
    }
    ck_assert_uint_eq(grove_hash(&g), before);

    // With more of it they are.
    w.span_count = LARGE / 64 + 1;
    ck_assert(espl__run_sweep(forest, &w));
    ck_assert_uint_eq(w.writes, 2);
    ck_assert_float_eq(forest->local[grove_slot(&g, run, LARGE - 4)].position[0], 2);
    grove_is_sound(&g);
    espl__run_release(forest, run);
}
END_TEST

START_TEST(empty_batch_is_none)
{
    const uint32_t run = plant_chain(4, false);
    espl__run_writes done;
    batch b = {.count = 0};

    (void)write_both(run, &b, &done);
    ck_assert_uint_eq(done.visited + done.skipped + done.writes + done.writes_skipped, 0);
}
END_TEST

// --- By hand ---

START_TEST(write_in_the_world_sees_where_the_parent_has_come_to)
{
    for (uint32_t i = 0; i < 2; ++i) {
        const uint32_t run = plant_chain(3, i != 0);
        espl__run_writes done;
        batch b = {.count = 0};

        // The child first in the array, and still it is set after its parent.
        add_entry(&b, 1, ESPL_WRITE_WORLD_POSITION, 5);
        add_entry(&b, 0, ESPL_WRITE_LOCAL_POSITION, 100);
        (void)write_both(run, &b, &done);
        ck_assert_float_eq(forest->world[grove_slot(&g, run, 1)].position[0], 5);
        ck_assert_float_eq(forest->local[grove_slot(&g, run, 1)].position[0], -95);
        ck_assert_float_eq(forest->world[grove_slot(&g, run, 2)].position[0], 5);
        espl__run_release(forest, run);
    }
}
END_TEST

START_TEST(writes_to_one_node_follow_one_another)
{
    for (uint32_t i = 0; i < 2; ++i) {
        const uint32_t run = plant_chain(3, i != 0);
        espl__run_writes done;
        batch b = {.count = 0};

        add_entry(&b, 1, ESPL_WRITE_LOCAL_POSITION, 5);
        add_entry(&b, 1, ESPL_WRITE_TRANSLATE_LOCAL, 3);
        add_entry(&b, 0, ESPL_WRITE_LOCAL_POSITION, 10);
        add_entry(&b, 1, ESPL_WRITE_TRANSLATE_WORLD, 1);
        add_entry(&b, 1, ESPL_WRITE_TRANSLATE_LOCAL, 0);
        (void)write_both(run, &b, &done);
        ck_assert_float_eq(forest->local[grove_slot(&g, run, 1)].position[0], 9);
        ck_assert_float_eq(forest->world[grove_slot(&g, run, 2)].position[0], 19);
        ck_assert_uint_eq(done.writes, 4);
        ck_assert_uint_eq(done.writes_skipped, 1);
        ck_assert_uint_eq(done.visited, 3);
        espl__run_release(forest, run);
    }
}
END_TEST

START_TEST(own_overflow_is_refused_alone)
{
    for (uint32_t i = 0; i < 2; ++i) {
        const uint32_t run = plant_chain(3, i != 0);
        espl__run_writes done;
        batch b = {.count = 0};

        add_entry(&b, 0, ESPL_WRITE_LOCAL_SCALE, 4);
        add_entry(&b, 1, ESPL_WRITE_LOCAL_POSITION, FLT_MAX); // four times that is too far
        add_entry(&b, 1, ESPL_WRITE_TRANSLATE_LOCAL, 2);
        const outcome out = write_both(run, &b, &done);

        ck_assert_uint_eq(out.rounds, 1);
        ck_assert_int_eq(b.results[0], ESPL_OK);
        ck_assert_int_eq(b.results[1], ESPL_ERR_RANGE);
        ck_assert_int_eq(b.results[2], ESPL_OK);
        ck_assert_float_eq(forest->local[grove_slot(&g, run, 1)].position[0], 2);
        espl__run_release(forest, run);
    }
}
END_TEST

START_TEST(own_overflow_that_a_later_write_takes_back_is_refused_all_the_same)
{
    for (uint32_t i = 0; i < 2; ++i) {
        const uint32_t run = plant_chain(3, i != 0);
        espl__run_writes done;
        batch b = {.count = 0};

        add_entry(&b, 0, ESPL_WRITE_LOCAL_SCALE, 4);
        add_entry(&b, 1, ESPL_WRITE_LOCAL_POSITION, FLT_MAX);
        add_entry(&b, 1, ESPL_WRITE_LOCAL_POSITION, 1);
        (void)write_both(run, &b, &done);
        ck_assert_int_eq(b.results[1], ESPL_ERR_RANGE);
        ck_assert_uint_eq(done.writes, 2);
        espl__run_release(forest, run);
    }
}
END_TEST

START_TEST(overflow_below_refuses_what_is_above_it_and_no_more)
{
    // Root; A with a far away child; B beside it, with a child.
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0, 1, 2};

    for (uint32_t i = 0; i < 2; ++i) {
        const uint32_t run =
            grove_plant(&g, &(grove_plan){.parent = parent, .size = 5, .is_prepaid = i != 0});
        espl__run_writes done;
        batch b = {.count = 0};

        for (uint32_t rank = 0; rank < 5; ++rank) {
            forest->local[grove_slot(&g, run, rank)] = espl__pose_identity();
        }
        forest->local[grove_slot(&g, run, 3)].position[0] = 1e38f;
        settle(run);
        add_entry(&b, 0, ESPL_WRITE_LOCAL_POSITION, 1);
        add_entry(&b, 1, ESPL_WRITE_LOCAL_SCALE, 10);
        add_entry(&b, 2, ESPL_WRITE_LOCAL_SCALE, 10);
        add_entry(&b, 4, ESPL_WRITE_LOCAL_POSITION, 1);
        add_entry(&b, 3, ESPL_WRITE_LOCAL_SCALE, 2);
        const outcome out = write_both(run, &b, &done);

        // The root is above it as well, though it has nothing to do with it.
        ck_assert_uint_eq(out.rounds, 2);
        ck_assert_int_eq(b.results[0], ESPL_ERR_RANGE);
        ck_assert_int_eq(b.results[1], ESPL_ERR_RANGE);
        ck_assert_int_eq(b.results[2], ESPL_OK);
        ck_assert_int_eq(b.results[3], ESPL_OK);
        ck_assert_int_eq(b.results[4], ESPL_OK);
        ck_assert_float_eq(forest->world[grove_slot(&g, run, 4)].position[0], 10);
        ck_assert_uint_eq(done.writes, 3);
        espl__run_release(forest, run);
    }
}
END_TEST

// One write of a local, above a leaf that overflows and a line that goes on beside it, which is
// finite to its end.
START_TEST(overflow_beside_what_goes_on_refuses_a_single_write)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 1, 1, 3, 4};

    // In rank order, out of it, with side arrays.
    for (uint32_t i = 0; i < 3; ++i) {
        const uint32_t run = grove_plant(
            &g, &(grove_plan){
                    .parent = parent, .size = 6, .is_shuffled = i == 1, .is_general = i == 2});
        espl__run_writes done;
        batch b = {.count = 0};

        for (uint32_t rank = 0; rank < 6; ++rank) {
            forest->local[grove_slot(&g, run, rank)] = espl__pose_identity();
        }
        forest->local[grove_slot(&g, run, 2)].position[0] = 1e38f;
        settle(run);
        const stand before = stand_of(run);

        add_entry(&b, 1, ESPL_WRITE_LOCAL_SCALE, 10);
        (void)write_both(run, &b, &done);
        ck_assert_int_eq(b.results[0], ESPL_ERR_RANGE);
        ck_assert_uint_eq(done.writes, 0);
        stands_as(&before);
        espl__run_release(forest, run);
    }
}
END_TEST

START_TEST(all_are_refused_where_that_is_not_enough)
{
    for (uint32_t i = 0; i < 2; ++i) {
        const uint32_t run = plant_chain(4, i != 0);
        espl__run_writes done;
        batch b = {.count = 0};

        // The root makes the world of 1 too far, so 1 cannot be written; without it it can, and
        // then 2 is too far.
        forest->local[grove_slot(&g, run, 1)].position[0] = 1e20f;
        forest->local[grove_slot(&g, run, 2)].position[0] = 1e20f;
        settle(run);
        const stand before = stand_of(run);
        add_entry(&b, 0, ESPL_WRITE_LOCAL_SCALE, 1e30f);
        add_entry(&b, 1, ESPL_WRITE_LOCAL_SCALE, 1e30f);
        add_entry(&b, 3, ESPL_WRITE_LOCAL_POSITION, NAN);
        add_entry(&b, 3, ESPL_WRITE_LOCAL_POSITION, 1);
        const outcome out = write_both(run, &b, &done);

        ck_assert_uint_eq(out.rounds, 3);
        ck_assert_int_eq(b.results[0], ESPL_ERR_RANGE);
        ck_assert_int_eq(b.results[1], ESPL_ERR_RANGE);
        ck_assert_int_eq(b.results[2], ESPL_ERR_NOT_FINITE);
        ck_assert_int_eq(b.results[3], ESPL_ERR_RANGE);
        ck_assert_uint_eq(done.writes + done.writes_skipped, 0);
        stands_as(&before);
        espl__run_release(forest, run);
    }
}
END_TEST

START_TEST(entries_at_fault_are_refused_alone)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 1};
    const uint8_t inherit[] = {0, ESPL_COPY_PARENT, 0};
    const uint32_t run =
        grove_plant(&g, &(grove_plan){.parent = parent, .size = 3, .inherit = inherit});
    espl__run_writes done;
    batch b = {.count = 0};

    add_entry(&b, 0, ESPL_WRITE_LOCAL_POSITION, NAN);
    add_entry(&b, 0, (espl_write_kind)KINDS, 1);
    add_entry(&b, 1, ESPL_WRITE_LOCAL_POSITION, 1);
    add_entry(&b, 2, ESPL_WRITE_LOCAL_ROTATION, 0); // no length
    add_entry(&b, 2, ESPL_WRITE_LOCAL_POSITION, 7);
    (void)write_both(run, &b, &done);
    ck_assert_int_eq(b.results[0], ESPL_ERR_NOT_FINITE);
    ck_assert_int_eq(b.results[1], ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(b.results[2], ESPL_ERR_COPIES_PARENT);
    ck_assert_int_eq(b.results[3], ESPL_ERR_NOT_FINITE);
    ck_assert_int_eq(b.results[4], ESPL_OK);
    ck_assert_uint_eq(done.visited, 1);
}
END_TEST

START_TEST(lossy_write_is_told)
{
    for (uint32_t i = 0; i < 2; ++i) {
        const uint32_t run = plant_chain(3, i != 0);
        espl__run_writes done;
        batch b = {.count = 0};

        add_entry(&b, 0, ESPL_WRITE_LOCAL_SCALE, 0);
        add_entry(&b, 1, ESPL_WRITE_WORLD_POSITION, 3);
        (void)write_both(run, &b, &done);
        ck_assert_int_eq(b.results[0], ESPL_OK);
        ck_assert_int_eq(b.results[1], ESPL_LOSSY);
        ck_assert_uint_eq(done.writes, 1);
        ck_assert_uint_eq(done.writes_skipped, 1); // what could not be reached stayed
        espl__run_release(forest, run);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("tree/run_writes");
    TCase *const random = tcase_create("random");
    TCase *const visited = tcase_create("visits");
    TCase *const hand = tcase_create("by hand");

    tcase_add_checked_fixture(random, set_up, tear_down);
    tcase_set_timeout(random, 60);
    tcase_add_test(random, batch_is_its_writes_one_by_one);
    tcase_add_test(random, batch_that_overflows_is_refused_by_the_rules);
    tcase_add_test(random, locals_of_a_good_part_are_their_writes_one_by_one);
    suite_add_tcase(suite, random);

    tcase_add_checked_fixture(visited, set_up, tear_down);
    tcase_add_test(visited, batch_visits_what_it_must);
    tcase_add_test(visited, n_writes_on_a_chain_of_n_visit_n);
    tcase_add_test(visited, batch_that_changes_nothing_visits_nobody);
    tcase_add_test(visited, sweep_visits_all_behind_the_first_that_changed);
    tcase_add_test(visited, who_is_found_where_it_stood_is_told_and_nobody_below_is_visited);
    tcase_add_test(visited, few_entries_in_no_order_are_not_swept_in_a_large_run);
    tcase_add_test(visited, empty_batch_is_none);
    suite_add_tcase(suite, visited);

    tcase_add_checked_fixture(hand, set_up, tear_down);
    tcase_add_test(hand, write_in_the_world_sees_where_the_parent_has_come_to);
    tcase_add_test(hand, writes_to_one_node_follow_one_another);
    tcase_add_test(hand, own_overflow_is_refused_alone);
    tcase_add_test(hand, own_overflow_that_a_later_write_takes_back_is_refused_all_the_same);
    tcase_add_test(hand, overflow_below_refuses_what_is_above_it_and_no_more);
    tcase_add_test(hand, overflow_beside_what_goes_on_refuses_a_single_write);
    tcase_add_test(hand, all_are_refused_where_that_is_not_enough);
    tcase_add_test(hand, entries_at_fault_are_refused_alone);
    tcase_add_test(hand, lossy_write_is_told);
    suite_add_tcase(suite, hand);
    return suite;
}

RUN_SUITE(make_suite)
