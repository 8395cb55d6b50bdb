// SPDX-License-Identifier: MIT
// The state of a world as pieces: equal worlds have equal pieces, each change of what a world holds is
// in one, and a reader of the pieces in their order always knows which one comes next and its size.
#include "lib/world/state.h"
#include "tests/one_world.h"

#include <stdlib.h>
#include <string.h>

// --- A recording of pieces ---

typedef struct piece {
    const char *name;
    espl__state_kind kind;
    size_t count, offset; // offset of its bytes
} piece;

typedef struct recording {
    piece *pieces;
    unsigned char *bytes;
    size_t count, capacity, size, room;
} recording;

// The bytes of an element.
static size_t size_of(espl__state_kind kind)
{
    return kind < ESPL__STATE_BYTES ? sizeof(uint32_t) : 1;
}

static void record(void *context, const char *name, espl__state_kind kind, const void *data,
                   size_t count)
{
    recording *const r = context;
    const size_t bytes = count * size_of(kind);

    ck_assert(count == 0 || data != NULL);
    if (r->count == r->capacity) {
        r->capacity = 2 * r->capacity + 64;
        r->pieces = realloc(r->pieces, r->capacity * sizeof *r->pieces);
        ck_assert_ptr_nonnull(r->pieces);
    }
    if (r->room - r->size < bytes) {
        r->room = 2 * r->room + bytes;
        r->bytes = realloc(r->bytes, r->room);
        ck_assert_ptr_nonnull(r->bytes);
    }
    r->pieces[r->count++] = (piece){name, kind, count, r->size};
    if (bytes != 0) {
        memcpy(r->bytes + r->size, data, bytes);
    }
    r->size += bytes;
}

static recording record_state(const espl_world *world)
{
    recording out = {0};
    const espl__state_visitor visitor = {record, &out};

    espl__state_visit(world, &visitor);
    return out;
}

static void forget(recording *r)
{
    free(r->pieces);
    free(r->bytes);
}

// The first piece of `b` that differs from `a`, notes aside, or NULL.
static const char *first_difference(const recording *a, const recording *b)
{
    for (size_t i = 0; i < a->count && i < b->count; ++i) {
        const piece *const p = &a->pieces[i], *const q = &b->pieces[i];

        if (p->name != q->name || p->kind != q->kind || p->count != q->count) {
            return q->name;
        }
        if (p->kind != ESPL__STATE_NOTE && p->count != 0 &&
            memcmp(a->bytes + p->offset, b->bytes + q->offset, p->count * size_of(p->kind)) != 0) {
            return q->name;
        }
    }
    return a->count == b->count ? NULL : "the number of pieces";
}

// --- A reader ---

typedef struct reader {
    const recording *from;
    size_t at;
} reader;

// The elements of the next piece, which must have this name and count.
static const unsigned char *next(reader *r, const char *name, espl__state_kind kind, size_t count)
{
    ck_assert_uint_lt(r->at, r->from->count);
    const piece *const here = &r->from->pieces[r->at++];

    ck_assert_str_eq(here->name, name);
    ck_assert_int_eq(here->kind, kind);
    ck_assert_msg(here->count == count, "%s: %zu, not %zu", name, here->count, count);
    return r->from->bytes + here->offset;
}

static uint32_t word(const unsigned char *from, size_t at)
{
    uint32_t out = 0;

    // Texts of any size are before it, so that it may be at any address.
    memcpy(&out, from + at * sizeof out, sizeof out);
    return out;
}

// @return the number of living entities.
static size_t read_records(reader *r, uint32_t length)
{
    size_t living = 0;

    for (uint32_t index = 0; index < length; ++index) {
        const bool is_alive = r->from->pieces[r->at].count == 4;

        if (is_alive) {
            (void)next(r, "generation, row, archetype and chunk of a living entity",
                       ESPL__STATE_PAIRS, 4);
            (void)next(r, "slot of an entity", ESPL__STATE_WORDS, 1);
            (void)next(r, "name of an entity", ESPL__STATE_TEXT, r->from->pieces[r->at].count);
            living += 1;
        } else if (word(next(r, "generation and row of a free index", ESPL__STATE_PAIRS, 2), 1) ==
                   ESPL__NONE) {
            (void)next(r, "index that was freed before", ESPL__STATE_WORDS, 1);
        }
    }
    return living;
}

// @return the number of rows.
static size_t read_archetype(reader *r, const espl__store *store)
{
    const unsigned char *const head =
        next(r, "size of the set of an archetype, and its rows", ESPL__STATE_WORDS, 2);
    const uint32_t count = word(head, 0), rows = word(head, 1);
    const unsigned char *const set = next(r, "set of an archetype", ESPL__STATE_WORDS, count);

    for (uint32_t read = 0; read < rows;) {
        const uint32_t here = word(next(r, "rows of a chunk", ESPL__STATE_WORDS, 1), 0);

        ck_assert_uint_gt(here, 0);
        (void)next(r, espl__state_of_rows, ESPL__STATE_PAIRS, (size_t)here * 2);
        for (uint32_t i = 0; i < count; ++i) {
            const espl_component component = word(set, i);
            const uint32_t size = espl__component_info_of(store, component)->size;

            if (size != 0) {
                ck_assert_uint_eq(word(next(r, "component of a column", ESPL__STATE_WORDS, 1), 0),
                                  component);
            }
            if (size != 0 && component != ESPL_TRANSFORM) {
                (void)next(r, "values of a column", ESPL__STATE_BYTES, (size_t)here * size);
            }
        }
        read += here;
    }
    return rows;
}

static void read_node(reader *r, uint32_t kept)
{
    (void)next(r, espl__state_of_nodes, ESPL__STATE_PAIRS, 6);
    (void)next(r, "local of a node", ESPL__STATE_FLOATS, 8);
    (void)next(r, "world of a node", ESPL__STATE_FLOATS, 8);
    (void)next(r, "inherit flags of a node", ESPL__STATE_WORDS, 1);
    (void)next(r, "kept parts of a node", ESPL__STATE_FLOATS, 8);
    (void)next(r, "stretch of a node", ESPL__STATE_FLOATS, 3);
    (void)next(r, "user data of a node", ESPL__STATE_WORDS, 1);
    for (uint32_t i = 0; i < kept; ++i) {
        (void)next(r, "earlier local of a node", ESPL__STATE_FLOATS, 8);
        (void)next(r, "earlier kept parts of a node", ESPL__STATE_FLOATS, 8);
    }
}

// @return the number of nodes. @param kept  earlier ticks. @param slots  out: slots of the tree.
static size_t read_tree(reader *r, uint32_t kept, size_t *slots)
{
    const unsigned char *const range =
        next(r, "base, capacity, used slots and nodes of a tree", ESPL__STATE_PAIRS, 4);
    const uint32_t capacity = word(range, 1), used = word(range, 2), live = word(range, 3);

    if ((word(next(r, "flags and layout debt of a tree", ESPL__STATE_WORDS, 2), 0) & ESPL__TREE_UNSETTLED) == 0) {
        (void)next(r, "links of a header", ESPL__STATE_PAIRS, 2);
    }
    (void)next(r, "roots, exceptional nodes and side arrays of a tree", ESPL__STATE_NOTE, 3);
    for (uint32_t i = live; i < used; ++i) {
        (void)next(r, "hole of a tree", ESPL__STATE_WORDS, 1);
    }
    for (uint32_t i = 0; i < live; ++i) {
        read_node(r, kept);
    }
    *slots = capacity;
    return live;
}

static void read_components(reader *r)
{
    const uint32_t count = word(next(r, "components", ESPL__STATE_WORDS, 1), 0);

    for (espl_component i = ESPL_DISABLED + 1; i <= count; ++i) {
        const unsigned char *const words =
            next(r, "definition of a component", ESPL__STATE_WORDS, 7);

        (void)next(r, "name of a component", ESPL__STATE_BYTES, word(words, 0));
        (void)next(r, "offsets of references", ESPL__STATE_WORDS, word(words, 3));
        for (uint32_t field = 0; field < word(words, 6); ++field) {
            const uint32_t length = word(next(r, "field of a component", ESPL__STATE_WORDS, 4), 0);

            (void)next(r, "name of a field", ESPL__STATE_BYTES, length);
        }
    }
}

// Read all pieces of a world, each where and as long as those before it say.
static void is_readable(const espl_world *world)
{
    recording whole = record_state(world);
    reader r = {&whole, 0};

    ck_assert_uint_eq(word(next(&r, "tag and layout budget", ESPL__STATE_WORDS, 3), 0), 1);
    read_components(&r);
    const uint32_t length =
        word(next(&r, "issued indices, and the one that was freed last", ESPL__STATE_WORDS, 2), 0);
    const size_t living = read_records(&r, length);
    const uint32_t originals = word(next(&r, "counterparts", ESPL__STATE_NOTE, 1), 0);

    for (uint32_t i = 0; i < originals; ++i) {
        (void)next(&r, "counterpart and original", ESPL__STATE_PAIRS, 4);
    }
    const uint32_t archetypes = word(next(&r, "archetypes", ESPL__STATE_WORDS, 1), 0);
    size_t rows = 0, nodes = 0, slots = 0;

    for (uint32_t i = 0; i < archetypes; ++i) {
        rows += read_archetype(&r, &world->store);
    }
    const uint32_t ranges = word(next(&r, "free ranges", ESPL__STATE_NOTE, 1), 0);
    const unsigned char *const ends = next(&r, "slots and headers", ESPL__STATE_PAIRS, 2);
    const uint32_t end = word(ends, 0), headers = word(ends, 1);

    (void)next(&r, "free header", ESPL__STATE_WORDS, 1);
    const uint32_t kept = word(next(&r, "earlier ticks that motion keeps", ESPL__STATE_WORDS, 1), 0);

    if (kept != 0) {
        (void)next(&r, "whether a tick is under way", ESPL__STATE_WORDS, 1);
    }
    for (uint32_t tree = 0; tree < headers; ++tree) {
        size_t here = 0;

        nodes += read_tree(&r, kept, &here);
        slots += here;
    }
    for (uint32_t i = 0; i < ranges; ++i) {
        slots += word(next(&r, "base and slots of a free range", ESPL__STATE_PAIRS, 2), 1);
    }
    ck_assert_uint_eq(r.at, whole.count);
    ck_assert_uint_eq(living, rows);
    ck_assert_uint_eq(living, nodes);
    ck_assert_uint_eq(slots, end);
    forget(&whole);
}

// --- Worlds ---

enum { ENTITIES = 60 };

static espl_component note;
static espl_entity e[ENTITIES];

// What is done to entities at random may find one that is dead or lacks the component.
static void is_done_or_pointless(espl_status status)
{
    ck_assert(status == ESPL_OK || status == ESPL_ERR_DEAD || status == ESPL_ERR_NO_COMPONENT);
}

// Trees with side arrays, names, values, holes and free ranges.
static void populate(espl_world *world, uint64_t seed)
{
    uint64_t random = seed;

    note = test_component(world, "note", 12, 4);
    for (int i = 0; i < ENTITIES; ++i) {
        const espl_transform at = test_at((float)i, 1, 2);
        const espl_component set[] = {ESPL_TRANSFORM, note};

        ck_ok(espl_create(world, set, test_one_in(&random, 2) ? 2 : 1, 1, &e[i]));
        ck_ok(espl_set_local_transform(world, e[i], &at));
        if (i > 0 && !test_one_in(&random, 4)) {
            ck_ok(espl_attach(world, e[i], e[test_below(&random, (uint32_t)i)], NULL));
        }
        if (test_one_in(&random, 5)) {
            ck_ok(espl_set_user_data(world, e[i], 7));
        }
        if (i % 5 == 1) {
            ck_ok(espl_set_counterpart(world, e[i], (espl_entity){(uint32_t)i, 9u << 24 | 1}));
        }
        if (test_one_in(&random, 5)) {
            ck_ok(espl_set_name(world, e[i], &"a name of any length"[test_below(&random, 19)]));
        }
    }
    for (int i = 0; i < 6; ++i) {
        is_done_or_pointless(
            espl_destroy(world, e[10 + test_below(&random, ENTITIES - 10)], ESPL_EXTENT_OWNED));
    }
}

FIXTURE(set_up, tear_down);

TEST(equal_histories_give_equal_pieces)
{
    if (test_lacks_room(ENTITIES, "equal worlds")) {
        return;
    }
    for (uint64_t seed = 0; seed < test_scaled(50); ++seed) {
        test_world other;

        test_world_begin(&other, 1, NULL);
        populate(w, seed);
        populate(other.world, seed);
        recording a = record_state(w), b = record_state(other.world);

        ck_assert_ptr_null(first_difference(&a, &b));
        ck_assert_uint_eq(test_physical_hash(w), test_physical_hash(other.world));
        forget(&a);
        forget(&b);
        test_world_end(&other);
        tear_down();
        set_up();
    }
}

TEST(a_reader_knows_each_piece_and_its_size_before_it_comes)
{
    if (test_lacks_room(ENTITIES, "worlds with all kinds of pieces")) {
        return;
    }
    is_readable(w);
    for (uint64_t seed = 0; seed < test_scaled(50); ++seed) {
        populate(w, seed);
        is_readable(w);
        ck_ok(espl_compact(w));
        is_readable(w);
        ck_ok(espl_motion_start(w, &(espl_motion_def){.history = (uint32_t)seed % 2 + 1}));
        is_readable(w);
        tear_down();
        set_up();
    }
}

// A change of one thing, and the first piece that has it.
static void changes(void (*change)(void), const char *name)
{
    populate(w, 3);
    recording before = record_state(w);
    const uint64_t hash = test_physical_hash(w);

    change();
    recording after = record_state(w);
    const char *const found = first_difference(&before, &after);

    ck_assert_msg(found != NULL ? name != NULL && strcmp(found, name) == 0 : name == NULL,
                  "%s, not %s", found != NULL ? found : "nothing", name != NULL ? name : "nothing");
    ck_assert((hash == test_physical_hash(w)) == (name == NULL));
    forget(&before);
    forget(&after);
    tear_down();
    set_up();
}

// The last entity has no children, so that its write passes no other slot.
static void move_leaf(void)
{
    const espl_transform at = test_at(100, 100, 100);

    ck_ok(espl_set_local_transform(w, e[ENTITIES - 1], &at));
}

static void owe_a_layout(void)
{
    const espl_transform there = test_at(1, 1, 1), back = test_local_of(w, e[0]);

    ck_ok(espl_set_local_transform(w, e[0], &there));
    ck_ok(espl_set_local_transform(w, e[0], &back));
}

static void register_another(void)
{
    (void)test_component(w, "another", 4, 4);
}

static void set_user_data(void)
{
    ck_ok(espl_set_user_data(w, e[0], 12345));
}

static void set_name(void)
{
    ck_ok(espl_set_name(w, e[0], "another name"));
}

static void set_original(void)
{
    ck_ok(espl_set_counterpart(w, e[0], (espl_entity){77, 9u << 24 | 1}));
}

static void set_value(void)
{
    for (int i = 0; i < ENTITIES; ++i) {
        is_done_or_pointless(espl_set_component(w, e[i], note, "twelve bytes", 12));
    }
}

static void make_and_destroy(void)
{
    const espl_entity made = test_solo(w);

    ck_ok(espl_destroy(w, made, ESPL_EXTENT_OWNED));
}

static void make_room(void)
{
    const espl_component set[] = {ESPL_TRANSFORM, note};

    ck_ok(test_reserve_rows(w, set, 2, 500));
}

static void meet_a_set(void)
{
    ck_ok(test_reserve_rows(w, &note, 1, 1));
}

TEST(each_change_is_in_a_piece_and_room_is_in_none)
{
    if (test_lacks_room(ENTITIES + 1, "worlds that change")) {
        return;
    }
    changes(move_leaf, "local of a node");
    changes(owe_a_layout, "flags and layout debt of a tree");
    changes(register_another, "components");
    changes(meet_a_set, "archetypes");
    changes(set_original, "counterpart and original");
    changes(set_user_data, "user data of a node");
    changes(set_name, "name of an entity");
    changes(set_value, "values of a column");
    changes(make_and_destroy, "generation and row of a free index");
    changes(make_room, NULL);
}
