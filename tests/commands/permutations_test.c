// SPDX-License-Identifier: MIT
// Every small playback: all ordered pairs and triples of commands on a world of three entities,
// and all orders of four commands over three lanes, against the model and immediate calls.
#include "tests/commands/instances.h"
#include "tests/runner.h"
#include "tests/small.h"

#include <string.h>

static small s;

static void set_up(void)
{
    small_begin(&s);
}

static void tear_down(void)
{
    small_end(&s);
}

static void build(void)
{
    operation marked = change(CHILD, MARK, 0), loaded = change(SOLO, LOAD | PEER, 0);

    loaded.change.values.peer = CHILD;
    (void)small_add(&s, MODEL_NONE, ESPL_LINK_OWNED);
    (void)small_add(&s, ROOT, ESPL_LINK_OWNED);
    (void)small_add(&s, MODEL_NONE, ESPL_LINK_OWNED);
    (void)small_run(&s, &marked);
    (void)small_run(&s, &loaded);
}

static bool makes(const operation *op)
{
    return op->code == OP_INSTANCE || op->code == OP_CREATION;
}

static bool names_newborn(const operation *op)
{
    return op->entity == BORN || (op->code == OP_ATTACH && op->parent == BORN);
}

// A pending handle exists once its creation was recorded: creations come first into the lanes,
// and the keys put the playback back into the order that was asked for.
static void play_in_order(const operation *ops, uint32_t count)
{
    operation sorted[8];
    uint32_t filled = 0;
    bool has_maker = false;

    for (uint32_t i = 0; i < count; ++i) {
        if (makes(&ops[i])) {
            sorted[filled] = ops[i];
            sorted[filled++].key = i;
            has_maker = true;
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (makes(&ops[i]) || (names_newborn(&ops[i]) && !has_maker)) {
            continue;
        }
        sorted[filled] = ops[i];
        sorted[filled++].key = i;
    }
    build();
    small_play(&s, sorted, filled);
    small_clear(&s);
}

// Every so many-th is played where that is slow.
static uint32_t step(void)
{
    return test_stride(13);
}

FIXTURE(set_up, tear_down);

TEST(each_pair_of_commands_plays_as_one_after_the_other)
{
    operation all[INSTANCES];

    list_commands(all);
    for (uint32_t n = 0; n < INSTANCES * INSTANCES; n += step()) {
        const operation pair[2] = {all[n % INSTANCES], all[n / INSTANCES]};
        play_in_order(pair, 2);
    }
}

static const uint32_t targets[2] = {CHILD, BORN};

// A value of which each kind reads a part.
static operation write_any(uint32_t entity, espl_write_kind kind)
{
    operation op = write(entity, kind, 2);

    switch (form_type(kind)) {
    case VALUE_ROTATION:
        memcpy(op.data.rotation, (const float[4]){0, 0.6f, 0, 0.8f}, sizeof op.data.rotation);
        break;
    case VALUE_SCALE:
        op.data.scale = 1.5f;
        break;
    case VALUE_CONTEXT:
        op.data.user_data = 9;
        break;
    case VALUE_POSE:
    case VALUE_TRANSFORM:
        op.data.transform = test_at(1, -2, 3);
        op.data.transform.scale = 0.5f;
        break;
    case VALUE_POSITION:
    case VALUE_STRETCH:
        break;
    }
    return op;
}

TEST(each_kind_of_write_plays_before_and_after_each_command)
{
    operation all[INSTANCES];

    list_commands(all);
    for (uint32_t n = 0; n < TEST_KINDS * INSTANCES * 2; n += step()) {
        const operation written = write_any(targets[n % 2], (espl_write_kind)(n / 2 % TEST_KINDS));
        const operation other = all[n / 2 / TEST_KINDS];
        const operation pairs[2][2] = {{written, other}, {other, written}};

        play_in_order(pairs[0], 2);
        play_in_order(pairs[1], 2);
    }
}

// All triples of a list.
static void play_triples(const operation *list, uint32_t count)
{
    for (uint32_t n = 0; n < count * count * count; n += step()) {
        const operation triple[3] = {list[n % count], list[n / count % count],
                                     list[n / count / count]};
        play_in_order(triple, 3);
    }
}

TEST(each_triple_of_commands_plays_as_one_after_the_other)
{
    operation all[STRUCTURE];

    list_structure(all);
    play_triples(all, STRUCTURE);
}

TEST(each_triple_of_commands_of_all_kinds_plays_as_one_after_the_other)
{
    operation chosen[CHOSEN];

    list_chosen(chosen);
    play_triples(chosen, CHOSEN);
}

static void permute(const operation in[4], uint32_t number, operation out[4])
{
    operation left[4];

    memcpy(left, in, sizeof left);
    for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t at = number % (4 - i);
        number /= 4 - i;
        out[i] = left[at];
        memmove(left + at, left + at + 1, (3 - at) * sizeof *left);
    }
}

enum { SETS = 10 };

// With one key the order is that of the lanes, then of recording.
TEST(four_commands_in_any_order_over_three_lanes_play_by_lane)
{
    const uint32_t none = NONE;
    const operation sets[SETS][4] = {
        {attach(SOLO, CHILD, none, false), on(OP_DESTROY, CHILD), set(OP_SET_WORLD, SOLO, 4),
         attach(CHILD, SOLO, none, false)},
        {attach(CHILD, SOLO, none, false), attach(ROOT, CHILD, none, true), on(OP_DETACH, CHILD),
         attach(SOLO, ROOT, none, false)},
        {on(OP_DESTROY_ONLY, ROOT), attach(SOLO, ROOT, none, false), on(OP_DESTROY, SOLO),
         set(OP_SET_LOCAL, CHILD, 9)},
        {make(ROOT, CHILD, ESPL_PLACE_LOCAL, ESPL_DEAD_PARENT_ROOT), on(OP_DESTROY_ONLY, CHILD),
         attach(SOLO, ROOT, CHILD, false), set(OP_SET_WORLD, ROOT, 2)},
        {make(SOLO, SOLO, ESPL_PLACE_SOURCE, ESPL_DEAD_PARENT_REFUSE), on(OP_DESTROY, SOLO),
         attach(SOLO, CHILD, none, false), attach(CHILD, SOLO, none, true)},
        {change(SOLO, BULK, 0), change(SOLO, MARK, 0), change(SOLO, 0, PEER | LOAD),
         enable(OP_DISABLE, SOLO, ESPL_EXTENT_ENTITY)},
        {change(CHILD, LOAD, MARK), set_value(CHILD, MODEL_LOAD, 75), make_given(CHILD, NONE, PEER),
         change(CHILD, PREFAB, PLACED)},
        {create_before(ROOT, CHILD, TAG | PLACED), on(OP_DESTROY, CHILD), call(2, 7, 1),
         enable(OP_DISABLE, ROOT, ESPL_EXTENT_SUBTREE)},
        {change(SOLO, BULK | MARK, PLACED), change(SOLO, PLACED, LOAD),
         set_value(SOLO, MODEL_LOAD, 77), enable(OP_DISABLE, SOLO, ESPL_EXTENT_OWNED)},
        {call(1, 8, 8), call(0, 16, 16), call(1, 24, 2), on(OP_DETACH, CHILD)}};

    for (uint32_t n = 0; n < SETS * 24 * 81; n += step()) {
        uint32_t lanes = n / (SETS * 24);
        operation ops[4];
        permute(sets[n % SETS], n / SETS % 24, ops);
        for (uint32_t i = 0; i < 4; ++i, lanes /= 3) {
            ops[i].lane = lanes % 3;
        }
        build();
        small_play(&s, ops, 4);
        small_clear(&s);
    }
}

// What is pending is named in any lane, before and after its maker in the order of the keys.
TEST(a_pending_entity_is_the_same_in_three_lanes_and_in_any_order_of_keys)
{
    const operation sets[5][4] = {
        {create(CHILD, ESPL_PLACE_LOCAL, ESPL_DEAD_PARENT_ROOT, TAG | PLACED),
         attach(SOLO, BORN, NONE, false), change(BORN, LOAD, TAG), on(OP_DESTROY_ONLY, CHILD)},
        {make(ROOT, NONE, ESPL_PLACE_LOCAL, ESPL_DEAD_PARENT_REFUSE), on(OP_DESTROY, BORN),
         create(BORN, ESPL_PLACE_WORLD, ESPL_DEAD_PARENT_ROOT, PEER | PLACED),
         attach(BORN, CHILD, NONE, true)},
        {create(NONE, ESPL_PLACE_LOCAL, ESPL_DEAD_PARENT_REFUSE, LOAD),
         set_value(BORN, MODEL_LOAD, 76), make_given(BORN, ROOT, MARK), change(BORN, PLACED, LOAD)},
        {create(ROOT, ESPL_PLACE_WORLD, ESPL_DEAD_PARENT_REFUSE, TAG | PLACED),
         attach(CHILD, ROOT, BORN, false), sibling(BORN, CHILD),
         enable(OP_DISABLE, BORN, ESPL_EXTENT_OWNED)},
        {create_before(ROOT, CHILD, TAG | BULK | PLACED), change(BORN, MARK | LOAD, 0),
         on(OP_DETACH, BORN), set(OP_SET_WORLD, BORN, 2)}};

    for (uint32_t n = 0; n < 5 * 24 * 81; n += step()) {
        const operation keyed[4] = {{.key = 0}, {.key = 1}, {.key = 2}, {.key = 3}};
        uint32_t lanes = n / (5 * 24);
        operation ops[4], keys[4];

        memcpy(ops, sets[n % 5], sizeof ops);
        permute(keyed, n / 5 % 24, keys);
        for (uint32_t i = 0; i < 4; ++i, lanes /= 3) {
            ops[i].lane = lanes % 3;
            ops[i].key = keys[i].key;
        }
        build();
        small_play(&s, ops, 4);
        small_clear(&s);
    }
}
