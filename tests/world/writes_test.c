// SPDX-License-Identifier: MIT
// Each kind of write, and each helper, on each role of an entity, with all inherit flags, below
// many kinds of parents: by its function, as an entry of a batch and by its short form. All three
// give the status and the bits of the model.
#include "tests/asked.h"
#include "tests/fixture.h"
#include "tests/runner.h"
#include "tests/small.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

// --- What is written, and where ---

typedef enum role { ROLE_ROOT, ROLE_INNER, ROLE_LEAF, ROLE_SOLO, ROLE_COUNT } role;

static const char *const role_names[ROLE_COUNT] = {"a root", "an inner member", "a leaf", "a solo"};

// Nodes: TOP{PARENT{INNER{BELOW, KEEPER, BARE{UNDER}}, LEAF}}, and a solo.
enum { TOP, PARENT, INNER, BELOW, KEEPER, LEAF, SOLO, BARE, UNDER };

static const uint32_t node_of[ROLE_COUNT] = {TOP, INNER, LEAF, SOLO};

// The kinds of write, then the helpers.
enum { LOOK_AT = TEST_KINDS, ROTATE_ABOUT, SET_INHERIT, SUBJECT_COUNT };

static const char *subject_name(int subject)
{
    static const char *const helpers[3] = {"look_at", "rotate_about", "set_inherit"};
    return subject < LOOK_AT ? form_name((espl_write_kind)subject) : helpers[subject - LOOK_AT];
}

// What the parent is: an ordinary one, one that mirrors, one flat along an axis of its own, a point,
// and an ordinary one again under which scales are about to overflow.
typedef enum ground { PLAIN, MIRROR, FLAT, POINT, LARGE, GROUND_COUNT } ground;

static const char *const ground_names[GROUND_COUNT] = {
    "below an ordinary parent", "below a mirroring parent", "below a flat parent",
    "below a parent of scale zero", "above a child near the end of the range"};

static espl_transform ground_value(ground at)
{
    espl_transform value = test_at(3, -2, (float)at);

    value.rotation[2] = 0.6f;
    value.rotation[3] = 0.8f;
    value.scale = at == POINT ? 0 : 2;
    if (at == MIRROR) {
        value.scale = -1.5f;
        value.stretch[1] = -2;
        value.stretch[2] = 0.5f;
    }
    if (at == FLAT) {
        value.stretch[1] = 0;
    }
    return value;
}

// Two values for each type: an ordinary one, and one with a zero, a sign, or off unit length.
static espl_write_value value_of(espl_write_kind kind, int turn)
{
    static const float rotation[2][4] = {{0.48f, -0.6f, 0, 0.64f}, {3, 0, 0, -4}};
    static const float position[2][3] = {{4, 5, -6}, {-0.0f, 0, 0.25f}};
    static const float stretch[2][3] = {{2, 0.5f, 3}, {0, 1, -1}};
    static const float scale[2] = {1.5f, -0.5f};
    espl_transform whole = espl_transform_identity();
    espl_write_value out = {.user_data = turn == 0 ? 77 : 0};

    memcpy(whole.rotation, rotation[turn], sizeof whole.rotation);
    memcpy(whole.position, position[turn], sizeof whole.position);
    memcpy(whole.stretch, stretch[turn], sizeof whole.stretch);
    whole.scale = scale[turn];
    switch (form_type(kind)) {
    case VALUE_POSITION:
        memcpy(out.position, position[turn], sizeof out.position);
        break;
    case VALUE_ROTATION:
        memcpy(out.rotation, rotation[turn], sizeof out.rotation);
        break;
    case VALUE_SCALE:
        out.scale = scale[turn];
        break;
    case VALUE_STRETCH:
        memcpy(out.stretch, stretch[turn], sizeof out.stretch);
        break;
    case VALUE_POSE:
    case VALUE_TRANSFORM:
        out.transform = whole;
        break;
    case VALUE_CONTEXT:
        break;
    }
    return out;
}

// --- Three worlds in step, one for each form ---

typedef struct trio {
    small s[FORM_COUNT];
    int count; // worlds in use
    char note[160];
} trio;

static void trio_begin(trio *t, int count)
{
    t->count = count;
    for (int i = 0; i < count; ++i) {
        small_begin(&t->s[i]);
        t->s[i].tape.note = t->note;
    }
}

static void trio_end(trio *t)
{
    for (int i = 0; i < t->count; ++i) {
        small_end(&t->s[i]);
    }
}

// The same in each world, a write in the form of that world.
static espl_status run_all(trio *t, operation op)
{
    espl_status first = ESPL_OK;

    for (int i = 0; i < t->count; ++i) {
        op.form = (write_form)i;
        const espl_status status = small_run(&t->s[i], &op);
        side_compare(&t->s[i].side, &t->s[i].tape);
        first = i == 0 ? status : first;
        ck_assert_msg(status == first, "%s: %s by function, %s in form %d", t->note,
                      espl_status_name(first), espl_status_name(status), i);
    }
    const uint64_t hash = test_physical_hash(t->s[0].side.world);
    for (int i = 1; i < t->count; ++i) {
        ck_assert_msg(test_physical_hash(t->s[i].side.world) == hash,
                      "%s: form %d gives other bits", t->note, i);
    }
    return first;
}

static void build(small *s)
{
    static const uint32_t parents[] = {
        [TOP] = MODEL_NONE, [PARENT] = TOP,  [INNER] = PARENT,   [BELOW] = INNER,
        [KEEPER] = INNER,   [LEAF] = PARENT, [SOLO] = MODEL_NONE};
    const operation create = {.code = OP_CREATE, .count = 1};
    const operation hang = {
        .code = OP_ATTACH, .entity = BARE, .parent = INNER, .before = MODEL_NONE};
    const operation keep = {
        .code = OP_SET_INHERIT, .entity = KEEPER, .inherit = ESPL_ABSOLUTE_Y | ESPL_ABSOLUTE_UP};

    for (size_t i = 0; i < sizeof parents / sizeof *parents; ++i) {
        (void)small_add(s, parents[i], ESPL_LINK_OWNED);
    }
    ck_ok(small_run(s, &create));
    ck_ok(small_run(s, &hang));
    (void)small_add(s, BARE, ESPL_LINK_OWNED);
    ck_ok(small_run(s, &keep));
}

static void set_ground(trio *t, ground at)
{
    operation op = {.code = OP_SET_LOCAL, .entity = PARENT, .value = ground_value(at)};

    (void)run_all(t, op);
    op.entity = UNDER;
    op.value = ground_value(PLAIN);
    op.value.scale = at == LARGE ? 1e38f : 1;
    (void)run_all(t, op);
}

// --- One subject on one role ---

static operation subject_operation(int subject, uint32_t node, int turn)
{
    const bool is_kind = subject < LOOK_AT;
    const espl_write_kind kind = is_kind ? (espl_write_kind)subject : ESPL_WRITE_ROTATE_WORLD;
    operation op = {.code = OP_WRITE,
                    .entity = node,
                    .kind = kind,
                    .data = value_of(kind, turn),
                    .point = {1, 2, turn == 0 ? -7.0f : 3.5f},
                    .up = {0, 0.5f, 1},
                    .has_up = turn == 1,
                    .forward = turn == 1 ? ESPL_AXIS_DOWN : ESPL_AXIS_FORWARD};

    if (subject == LOOK_AT) {
        op.code = OP_LOOK_AT;
    } else if (subject == ROTATE_ABOUT) {
        op.code = OP_ROTATE_ABOUT;
    }
    return op;
}

static void try_subject(trio *t, int subject, uint32_t node)
{
    for (int turn = 0; turn < 2; ++turn) {
        (void)run_all(t, subject_operation(subject, node, turn));
    }
}

// From the flags it has to others, and back.
static void try_flags(trio *t, uint32_t node, uint32_t flags)
{
    static const uint32_t others[] = {0,
                                      ESPL_COPY_PARENT,
                                      ESPL_ABSOLUTE_Y,
                                      ESPL_ABSOLUTE_POSITION,
                                      ESPL_ABSOLUTE_FORWARD,
                                      ESPL_ABSOLUTE_UP | ESPL_STRICT_UP,
                                      ESPL_ABSOLUTE_ROTATION,
                                      ESPL_ABSOLUTE_SCALE,
                                      ESPL_COPY_PARENT - 1,
                                      256};

    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        (void)run_all(t, (operation){.code = OP_SET_INHERIT, .entity = node, .inherit = others[i]});
        (void)run_all(t, (operation){.code = OP_SET_INHERIT, .entity = node, .inherit = flags});
    }
}

static void try_grounds(trio *t, int subject, role on, uint32_t flags)
{
    for (int at = PLAIN; at < GROUND_COUNT; ++at) {
        snprintf(t->note, sizeof t->note, "%s on %s, flags %#x, %s", subject_name(subject),
                 role_names[on], (unsigned)flags, ground_names[at]);
        set_ground(t, (ground)at);
        if (subject == SET_INHERIT) {
            try_flags(t, node_of[on], flags);
        } else {
            try_subject(t, subject, node_of[on]);
        }
    }
}

static bool is_member(role on)
{
    return on == ROLE_INNER || on == ROLE_LEAF;
}

// Steps that end at the last.
static uint32_t next_flags(uint32_t flags, uint32_t step, uint32_t last)
{
    return flags < last && flags + step > last ? last : flags + step;
}

// All 129 values of the flags, on a member; fewer where steps are slow.
static void follow_the_model(int subject, role on)
{
    const uint32_t last = is_member(on) ? ESPL_COPY_PARENT : 0;
    const uint32_t step = test_stride(7);
    trio t;

    trio_begin(&t, subject < LOOK_AT ? FORM_COUNT : 1);
    for (uint32_t flags = 0; flags <= last; flags = next_flags(flags, step, last)) {
        const operation set = {.code = OP_SET_INHERIT, .entity = node_of[on], .inherit = flags};

        snprintf(t.note, sizeof t.note, "%s on %s, flags %#x", subject_name(subject),
                 role_names[on], (unsigned)flags);
        for (int i = 0; i < t.count; ++i) {
            build(&t.s[i]);
        }
        ck_ok(run_all(&t, set));
        try_grounds(&t, subject, on, flags);
        for (int i = 0; i < t.count; ++i) {
            small_clear(&t.s[i]);
        }
    }
    trio_end(&t);
}

TEST_LOOP(on_a_root_each_form_follows_the_model, 0, SUBJECT_COUNT)
{
    follow_the_model(_i, ROLE_ROOT);
}

TEST_LOOP(on_an_inner_member_each_form_follows_the_model, 0, SUBJECT_COUNT)
{
    follow_the_model(_i, ROLE_INNER);
}

TEST_LOOP(on_a_leaf_each_form_follows_the_model, 0, SUBJECT_COUNT)
{
    follow_the_model(_i, ROLE_LEAF);
}

TEST_LOOP(on_a_solo_each_form_follows_the_model, 0, SUBJECT_COUNT)
{
    follow_the_model(_i, ROLE_SOLO);
}

// --- What is counted ---

typedef struct family {
    test_world test;
    espl_entity root, inner, leaf[2];
} family;

static family f;

static void family_begin(void)
{
    test_world_begin(&f.test, 0, NULL);
    f.root = test_solo_at(f.test.world, 1, 2, 3);
    f.inner = test_solo_at(f.test.world, 4, 5, 6);
    ck_ok(espl_attach(f.test.world, f.inner, f.root, &test_keep_local));
    for (int i = 0; i < 2; ++i) {
        f.leaf[i] = test_solo_at(f.test.world, 7, 8, (float)i);
        ck_ok(espl_attach(f.test.world, f.leaf[i], f.inner, &test_keep_local));
    }
}

// The value of a kind that leaves everything as it is on `entity`.
static espl_write idle_write(const espl_world *world, espl_entity entity, espl_write_kind kind)
{
    const bool is_set = kind <= ESPL_WRITE_WORLD_TRANSFORM;
    const bool is_world = kind >= ESPL_WRITE_WORLD_POSITION;
    const espl_transform own =
        is_world ? test_world_of(world, entity) : test_local_of(world, entity);
    const espl_transform value = is_set ? own : espl_transform_identity();
    espl_write write = {.entity = entity, .kind = kind, .value.transform = value};

    switch (form_type(kind)) {
    case VALUE_POSITION:
        memcpy(write.value.position, value.position, sizeof value.position);
        break;
    case VALUE_SCALE:
        write.value.scale = value.scale;
        break;
    case VALUE_STRETCH:
        memcpy(write.value.stretch, value.stretch, sizeof value.stretch);
        break;
    case VALUE_CONTEXT:
        write.value.user_data = value.user_data;
        break;
    case VALUE_ROTATION: // stands first
    case VALUE_POSE:
    case VALUE_TRANSFORM:
        break;
    }
    return write;
}

TEST_LOOP(each_kind_of_write_that_changes_nothing_is_skipped, 0, TEST_KINDS)
{
    const espl_write_kind kind = (espl_write_kind)_i;

    family_begin();
    const espl_world_stats before = test_stats(f.test.world);
    for (int form = 0; form < FORM_COUNT; ++form) {
        const espl_write write = idle_write(f.test.world, f.inner, kind);
        ck_ok(form_write(f.test.world, &write, (write_form)form));
    }
    const espl_world_stats after = test_stats(f.test.world);
    ck_assert_msg(after.writes == before.writes, "%s writes", form_name(kind));
    ck_assert_msg(after.writes_skipped == before.writes_skipped + FORM_COUNT, "%s is not counted",
                  form_name(kind));
    ck_assert_msg(after.nodes_visited == before.nodes_visited, "%s visits", form_name(kind));
    ck_assert_uint_eq(after.bytes_tree, before.bytes_tree);
    test_world_end(&f.test);
}

// The context moves nothing, but those below that copy it show it.
TEST_LOOP(each_kind_of_write_that_changes_something_visits_what_hangs_below, 0, TEST_KINDS)
{
    const espl_write_kind kind = (espl_write_kind)_i;
    const espl_write_value value = value_of(kind, 0);

    for (int form = 0; form < FORM_COUNT; ++form) {
        family_begin();
        const espl_write write = {f.inner, kind, value};
        const espl_world_stats before = test_stats(f.test.world);
        ck_ok(form_write(f.test.world, &write, (write_form)form));
        const espl_world_stats after = test_stats(f.test.world);
        const uint64_t visited = after.nodes_visited - before.nodes_visited;

        ck_assert_msg(after.writes == before.writes + 1, "%s is not counted", form_name(kind));
        ck_assert_msg(after.writes_skipped == before.writes_skipped, "%s is skipped",
                      form_name(kind));
        ck_assert_msg(kind == ESPL_WRITE_USER_DATA ? visited <= 3 : visited == 3,
                      "%s visits %llu nodes", form_name(kind), (unsigned long long)visited);
        test_world_end(&f.test);
    }
}

// Worlds that are huge but finite sound a false alarm, which a closer look settles.
TEST(a_root_above_huge_finite_worlds_is_written)
{
    const espl_transform half = {.rotation = {0, 0, 0, 1}, .scale = 0.5f, .stretch = {1, 1, 1}};
    const espl_transform whole = {.rotation = {0, 0, 0, 1}, .scale = 1, .stretch = {1, 1, 1}};
    const espl_transform twice = {.rotation = {0, 0, 0, 1}, .scale = 2, .stretch = {1, 1, 1}};
    const espl_transform huge = test_at(FLT_MAX, FLT_MAX, FLT_MAX);
    test_world test;

    test_world_begin(&test, 0, NULL);
    const espl_entity root = test_solo(test.world);

    for (int i = 0; i < 3; ++i) {
        const espl_entity child = test_solo(test.world);

        ck_ok(espl_attach(test.world, child, root, NULL));
        ck_ok(espl_set_local_transform(test.world, child, &huge));
    }
    for (int i = 0; i < 2; ++i) {
        ck_ok(espl_set_local_transform(test.world, root, i == 0 ? &half : &whole));
        const espl_transform is = test_world_of(test.world, espl_get_first_child(test.world, root));

        ck_assert_float_eq(is.position[0], i == 0 ? FLT_MAX / 2 : FLT_MAX);
    }
    ck_status(espl_set_local_transform(test.world, root, &twice), ESPL_OVERFLOW);
    ck_assert_uint_eq(test_count_overflowed(test.world), 3);
    ck_ok(espl_set_local_transform(test.world, root, &half));
    ck_assert_uint_eq(test_count_overflowed(test.world), 0);
    test_world_end(&test);
}

TEST(each_helper_is_one_write)
{
    static const float target[3] = {9, 9, 1}, turn[4] = {0, 0.6f, 0, 0.8f}, still[4] = {0, 0, 0, 1};

    family_begin();
    const espl_transform placed = test_world_of(f.test.world, f.inner);
    const espl_world_stats before = test_stats(f.test.world);
    ck_status(espl_look_at(f.test.world, f.inner, placed.position, NULL, ESPL_AXIS_FORWARD),
              ESPL_LOSSY);
    ck_ok(espl_rotate_about(f.test.world, f.inner, placed.position, still));
    ck_assert_uint_eq(test_stats(f.test.world).writes, before.writes);
    ck_assert_uint_eq(test_stats(f.test.world).nodes_visited, before.nodes_visited);

    ck_ok(espl_look_at(f.test.world, f.inner, target, NULL, ESPL_AXIS_FORWARD));
    ck_assert_uint_eq(test_stats(f.test.world).writes, before.writes + 1);
    ck_assert_uint_eq(test_stats(f.test.world).nodes_visited, before.nodes_visited + 3);
    ck_ok(espl_rotate_about(f.test.world, f.inner, target, turn));
    ck_assert_uint_eq(test_stats(f.test.world).writes, before.writes + 2);
    ck_assert_uint_eq(test_stats(f.test.world).nodes_visited, before.nodes_visited + 6);
    test_world_end(&f.test);
}

// --- Values without surprises ---

// A refused write of each kind leaves everything as it was, in each form.
TEST_LOOP(each_kind_refuses_a_member_that_copies_its_parent, 0, TEST_KINDS)
{
    const espl_write_kind kind = (espl_write_kind)_i;

    family_begin();
    ck_ok(espl_set_inherit(f.test.world, f.inner, ESPL_COPY_PARENT));
    const uint64_t before = test_physical_hash(f.test.world);
    for (int form = 0; form < FORM_COUNT; ++form) {
        const espl_write write = {f.inner, kind, value_of(kind, 0)};
        const espl_status status = form_write(f.test.world, &write, (write_form)form);
        ck_assert_msg(status == ESPL_ERR_COPIES_PARENT, "%s in form %d answers %s", form_name(kind),
                      form, espl_status_name(status));
    }
    ck_assert_uint_eq(test_physical_hash(f.test.world), before);
    test_world_end(&f.test);
}
