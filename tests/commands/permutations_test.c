// SPDX-License-Identifier: MIT
// Every small playback: all ordered pairs and triples of commands on a world of three entities,
// and all orders of four commands over three lanes, against the model.
#include "tests/runner.h"
#include "tests/small.h"

#include <string.h>

// Node 0 is a root with the child 1; node 2 is a solo. The first instance of a batch makes
// TAPE_PENDING + 0, which the commands before it in the order of playback cannot know.
enum { ROOT, CHILD, SOLO };

static const espl_attach_options keep_local = {
    .position = ESPL_STAY_LOCAL, .rotation = ESPL_STAY_LOCAL, .scale = ESPL_STAY_LOCAL};

static operation attach(uint32_t child, uint32_t parent, uint32_t before, bool keeps_local)
{
    return (operation){.code = OP_ATTACH,
                       .entity = child,
                       .parent = parent,
                       .before = before,
                       .options = keeps_local ? keep_local : (espl_attach_options){0}};
}

static operation attach_free(uint32_t child, uint32_t parent)
{
    operation op = attach(child, parent, MODEL_NONE, false);
    op.options.link = ESPL_LINK_FREE;
    return op;
}

static operation on(opcode code, uint32_t entity)
{
    return (operation){.code = code, .entity = entity, .keep = ESPL_STAY_LOCAL};
}

static operation set(opcode code, uint32_t entity, float x)
{
    return (operation){.code = code, .entity = entity, .value = test_at(x, 1, -x)};
}

static operation make(uint32_t source, uint32_t parent, espl_place place, espl_orphan orphan)
{
    return (operation){.code = OP_INSTANCE,
                       .entity = source,
                       .parent = parent,
                       .before = MODEL_NONE,
                       .place = place,
                       .orphan = orphan,
                       .value = test_at(3, 4, 5),
                       .count = 1,
                       .sets_tag = orphan == ESPL_ORPHAN_ROOT,
                       .tag = 77};
}

static operation keep(uint32_t entity, uint32_t flags)
{
    return (operation){.code = OP_SET_INHERIT, .entity = entity, .inherit = flags};
}

static operation write(uint32_t entity, espl_write_kind kind, float x)
{
    return (operation){
        .code = OP_WRITE, .entity = entity, .kind = kind, .data.position = {x, 1, -x}};
}

static operation attach_with(uint32_t child, uint32_t parent, uint32_t flags)
{
    operation op = attach(child, parent, MODEL_NONE, false);
    op.options.inherit = flags;
    return op;
}

static operation make_with(uint32_t source, uint32_t parent, espl_place place, uint32_t flags)
{
    operation op = make(source, parent, place, ESPL_ORPHAN_ROOT);
    op.inherit = flags;
    return op;
}

enum { INSTANCES = 60 };

// Command instances: each kind on each entity that matters.
static void list_commands(operation out[INSTANCES])
{
    const uint32_t none = MODEL_NONE, born = TAPE_PENDING;
    const operation all[INSTANCES] = {attach(SOLO, ROOT, none, false),
                                      attach(SOLO, CHILD, none, true),
                                      attach(SOLO, ROOT, CHILD, false),
                                      attach(CHILD, SOLO, none, false),
                                      attach(ROOT, SOLO, none, true),
                                      attach(ROOT, CHILD, none, false),
                                      attach(CHILD, ROOT, none, false),
                                      attach(SOLO, SOLO, none, false),
                                      attach_free(CHILD, ROOT),
                                      attach_free(SOLO, CHILD),
                                      attach(born, CHILD, none, false),
                                      attach(SOLO, born, none, false),
                                      attach(ROOT, born, none, true),
                                      attach(born, ROOT, CHILD, false),
                                      attach(CHILD, born, none, false),
                                      attach(MODEL_DEAD, ROOT, none, false),
                                      on(OP_DETACH, CHILD),
                                      on(OP_DETACH, SOLO),
                                      on(OP_DETACH, ROOT),
                                      on(OP_DETACH, born),
                                      on(OP_DESTROY, ROOT),
                                      on(OP_DESTROY, CHILD),
                                      on(OP_DESTROY, SOLO),
                                      on(OP_DESTROY, born),
                                      on(OP_DESTROY_ONLY, ROOT),
                                      on(OP_DESTROY_ONLY, CHILD),
                                      on(OP_DESTROY_ONLY, born),
                                      on(OP_DESTROY_SUBTREE, ROOT),
                                      on(OP_DESTROY_SUBTREE, CHILD),
                                      on(OP_DESTROY_SUBTREE, SOLO),
                                      set(OP_SET_LOCAL, ROOT, 2),
                                      set(OP_SET_LOCAL, CHILD, 3),
                                      set(OP_SET_LOCAL, SOLO, 4),
                                      set(OP_SET_WORLD, ROOT, 5),
                                      set(OP_SET_WORLD, CHILD, 6),
                                      set(OP_SET_WORLD, SOLO, 7),
                                      set(OP_SET_LOCAL, born, 8),
                                      set(OP_SET_WORLD, born, 9),
                                      make(ROOT, none, ESPL_PLACE_SOURCE, ESPL_ORPHAN_REFUSE),
                                      make(ROOT, CHILD, ESPL_PLACE_WORLD, ESPL_ORPHAN_REFUSE),
                                      make(CHILD, none, ESPL_PLACE_SOURCE, ESPL_ORPHAN_ROOT),
                                      make(CHILD, ROOT, ESPL_PLACE_SOURCE, ESPL_ORPHAN_ROOT),
                                      make(SOLO, ROOT, ESPL_PLACE_LOCAL, ESPL_ORPHAN_REFUSE),
                                      make(SOLO, CHILD, ESPL_PLACE_WORLD, ESPL_ORPHAN_ROOT),
                                      make(SOLO, SOLO, ESPL_PLACE_LOCAL, ESPL_ORPHAN_ROOT),
                                      make(SOLO, MODEL_DEAD, ESPL_PLACE_LOCAL, ESPL_ORPHAN_ROOT),
                                      make(SOLO, MODEL_DEAD, ESPL_PLACE_WORLD, ESPL_ORPHAN_REFUSE),
                                      make(MODEL_DEAD, ROOT, ESPL_PLACE_LOCAL, ESPL_ORPHAN_ROOT),
                                      keep(CHILD, ESPL_KEEP_Y | ESPL_KEEP_ROTATION),
                                      keep(CHILD, ESPL_COPY_PARENT),
                                      keep(CHILD, 0),
                                      keep(SOLO, ESPL_KEEP_POSITION),
                                      keep(born, ESPL_KEEP_SCALE),
                                      attach_with(SOLO, CHILD, ESPL_KEEP_X),
                                      attach_with(SOLO, ROOT, ESPL_COPY_PARENT),
                                      write(ROOT, ESPL_WRITE_TRANSLATE_WORLD, 2),
                                      write(CHILD, ESPL_WRITE_TRANSLATE_WORLD, 3),
                                      write(born, ESPL_WRITE_STRETCH, 2),
                                      make_with(CHILD, ROOT, ESPL_PLACE_WORLD, ESPL_KEEP_Z),
                                      make_with(SOLO, CHILD, ESPL_PLACE_SOURCE, ESPL_COPY_PARENT)};

    memcpy(out, all, sizeof all);
}

static void build(small *s)
{
    (void)small_add(s, MODEL_NONE, ESPL_LINK_OWNED);
    (void)small_add(s, ROOT, ESPL_LINK_OWNED);
    (void)small_add(s, MODEL_NONE, ESPL_LINK_OWNED);
}

static bool names_newborn(const operation *op)
{
    return op->entity == TAPE_PENDING || (op->code == OP_ATTACH && op->parent == TAPE_PENDING);
}

// A pending handle exists once its creation was recorded: creations come first into the lanes,
// and the keys put the playback back into the order that was asked for.
static void play_in_order(small *s, const operation *ops, uint32_t count)
{
    operation sorted[8];
    uint32_t filled = 0;
    bool has_maker = false;

    for (uint32_t i = 0; i < count; ++i) {
        if (ops[i].code == OP_INSTANCE) {
            sorted[filled] = ops[i];
            sorted[filled++].key = i;
            has_maker = true;
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (ops[i].code == OP_INSTANCE || (names_newborn(&ops[i]) && !has_maker)) {
            continue;
        }
        sorted[filled] = ops[i];
        sorted[filled++].key = i;
    }
    build(s);
    small_play(s, sorted, filled);
    small_clear(s);
}

START_TEST(each_pair_of_commands_plays_as_one_after_the_other)
{
    operation all[INSTANCES];
    small s;

    list_commands(all);
    small_begin(&s);
    for (int i = 0; i < INSTANCES; ++i) {
        for (int k = 0; k < INSTANCES; ++k) {
            const operation pair[2] = {all[i], all[k]};
            play_in_order(&s, pair, 2);
        }
    }
    small_end(&s);
}
END_TEST

// All of them, or every so many-th where steps are slow.
START_TEST(each_triple_of_commands_plays_as_one_after_the_other)
{
    const int step = test_scaled(100) < 100 ? 13 : 1;
    operation all[INSTANCES];
    small s;

    list_commands(all);
    small_begin(&s);
    for (int n = 0; n < INSTANCES * INSTANCES * INSTANCES; n += step) {
        const operation triple[3] = {all[n % INSTANCES], all[n / INSTANCES % INSTANCES],
                                     all[n / INSTANCES / INSTANCES]};
        play_in_order(&s, triple, 3);
    }
    small_end(&s);
}
END_TEST

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

// With one key the order is that of the lanes, then of recording.
START_TEST(four_commands_in_any_order_over_three_lanes_play_by_lane)
{
    const uint32_t none = MODEL_NONE;
    const operation sets[5][4] = {
        {attach(SOLO, CHILD, none, false), on(OP_DESTROY, CHILD), set(OP_SET_WORLD, SOLO, 4),
         attach(CHILD, SOLO, none, false)},
        {attach(CHILD, SOLO, none, false), attach(ROOT, CHILD, none, true), on(OP_DETACH, CHILD),
         attach(SOLO, ROOT, none, false)},
        {on(OP_DESTROY_ONLY, ROOT), attach(SOLO, ROOT, none, false), on(OP_DESTROY, SOLO),
         set(OP_SET_LOCAL, CHILD, 9)},
        {make(ROOT, CHILD, ESPL_PLACE_LOCAL, ESPL_ORPHAN_ROOT), on(OP_DESTROY_ONLY, CHILD),
         attach(SOLO, ROOT, CHILD, false), set(OP_SET_WORLD, ROOT, 2)},
        {make(SOLO, SOLO, ESPL_PLACE_SOURCE, ESPL_ORPHAN_REFUSE), on(OP_DESTROY, SOLO),
         attach(SOLO, CHILD, none, false), attach(CHILD, SOLO, none, true)}};
    small s;

    small_begin(&s);
    for (uint32_t n = 0; n < 5 * 24 * 81; ++n) {
        uint32_t lanes = n / (5 * 24);
        operation ops[4];
        permute(sets[n % 5], n / 5 % 24, ops);
        for (uint32_t i = 0; i < 4; ++i, lanes /= 3) {
            ops[i].lane = lanes % 3;
        }
        build(&s);
        small_play(&s, ops, 4);
        small_clear(&s);
    }
    small_end(&s);
}
END_TEST

static Suite *permutations_suite(void)
{
    Suite *const suite = suite_create("permutations");
    TCase *const tcase = tcase_create("small playbacks");

    tcase_set_timeout(tcase, 600);
    tcase_add_test(tcase, each_pair_of_commands_plays_as_one_after_the_other);
    tcase_add_test(tcase, each_triple_of_commands_plays_as_one_after_the_other);
    tcase_add_test(tcase, four_commands_in_any_order_over_three_lanes_play_by_lane);
    suite_add_tcase(suite, tcase);
    return suite;
}

RUN_SUITE(permutations_suite)
