// SPDX-License-Identifier: MIT
// What `espalier diff` says of two values and of two tapes, and what it takes for equal.
#include "tools/archive_file.h"
#include "tools/diff.h"
#include "tools/tape_words.h"

#include "tests/archives.h"
#include "tests/fixture.h"
#include "tests/images.h"
#include "tests/memory_tape.h"
#include "tests/runner.h"

#include <espalier/history.h>

#include <stdlib.h>
#include <string.h>

// --- Lines ---

static char lines[8192];

static void take(void *user, const char *line)
{
    (void)user;
    ck_assert_uint_lt(strlen(lines) + strlen(line) + 2, sizeof lines);
    strcat(strcat(lines, line), "\n");
}

static tool_diff begin_diff(void)
{
    lines[0] = '\0';
    return (tool_diff){.paths = {"a", "b"}, .take = take};
}

// --- Values ---

enum { TAG_A = 3, TAG_B = 8 };

typedef struct gun {
    float heat;
    uint16_t rounds[2];
    espl_entity target;
    unsigned char tail[8];
} gun;

// A world with a bit of everything, which a test changes.
typedef struct scene {
    test_world test;
    espl_world *world;
    espl_entity ship, mast, lamp, other, twins[2];
    espl_component gun_id, flag_id;
} scene;

static void register_gun(scene *s, uint32_t version)
{
    static const uint32_t references[] = {offsetof(gun, target)};
    static const espl_component_field fields[] = {
        {"heat", ESPL_FIELD_F32, offsetof(gun, heat), 1},
        {"rounds", ESPL_FIELD_U16, offsetof(gun, rounds), 2},
        {"target", ESPL_FIELD_ENTITY, offsetof(gun, target), 1}};
    const espl_component_def def = {.name = "gun",
                                    .size = sizeof(gun),
                                    .alignment = _Alignof(gun),
                                    .references = references,
                                    .reference_count = 1,
                                    .version = version,
                                    .fields = fields,
                                    .field_count = 3};

    ck_ok(espl_component_register(s->world, &def, &s->gun_id));
    ck_ok(espl_component_register(s->world, &(espl_component_def){.name = "flag"}, &s->flag_id));
}

// @param spare  entities that come and go before, so that indices differ.
static void scene_begin(scene *s, uint32_t tag, size_t spare, uint32_t version)
{
    espl_entity spares[8];

    test_world_begin(&s->test, tag, NULL);
    s->world = s->test.world;
    register_gun(s, version);
    ck_ok(espl_create(s->world, NULL, 0, spare, spares));
    s->ship = test_pair_node(s->world, espl_entity_null(), 1, "ship");
    s->mast = test_pair_node(s->world, s->ship, 2, "mast");
    s->lamp = test_pair_node(s->world, s->mast, 3, NULL);
    s->twins[0] = test_pair_node(s->world, s->ship, 4, "gun");
    s->twins[1] = test_pair_node(s->world, s->ship, 5, "gun");
    s->other = test_pair_node(s->world, espl_entity_null(), 6, "other");
    const gun value = {.heat = 0.5F, .rounds = {7, 8}, .target = s->other, .tail = {1, 2}};

    ck_ok(espl_add_component(s->world, s->twins[0], s->gun_id, &value, sizeof value));
    ck_ok(espl_set_inherit(s->world, s->lamp, ESPL_ABSOLUTE_X | ESPL_ABSOLUTE_SCALE));
    ck_ok(espl_destroy_many(s->world, spares, spare, ESPL_EXTENT_ENTITY, NULL));
}

static void open_archive(tool_value *out, const espl_world *world)
{
    test_archive archive = test_archive_of(world, NULL);
    tool_contents contents = {.bytes = archive.bytes, .size = archive.size};
    tool_fault fault = {""};

    ck_assert_msg(value_take(out, &contents, "archive", NULL, &fault), "%s", fault.text);
}

static void open_image(tool_value *out, const espl_world *world)
{
    test_image image = test_image_of(world);
    tool_contents contents = {.bytes = image.bytes, .size = image.size};
    tool_fault fault = {""};

    ck_assert_msg(value_take(out, &contents, "image", NULL, &fault), "%s", fault.text);
}

static diff_verdict compare_values(tool_value *a, tool_value *b)
{
    tool_diff diff = begin_diff();
    tool_fault fault = {""};
    const diff_verdict verdict = diff_values(&diff, a, b, &fault);

    ck_assert_str_eq(fault.text, "");
    value_close(a);
    value_close(b);
    return verdict;
}

static diff_verdict compare_worlds(const scene *a, const scene *b)
{
    tool_value values[2];

    open_archive(&values[0], a->world);
    open_archive(&values[1], b->world);
    return compare_values(&values[0], &values[1]);
}

TEST(equal_hierarchies_are_equal_whatever_their_handles)
{
    scene a, b;

    scene_begin(&a, TAG_A, 0, 1);
    scene_begin(&b, TAG_B, 7, 1);
    ck_assert_int_eq(compare_worlds(&a, &b), DIFF_EQUAL);
    ck_assert_str_eq(lines, "");
    test_world_end(&a.test);
    test_world_end(&b.test);
}

TEST(an_image_is_compared_with_an_archive_and_with_an_image)
{
    tool_value values[2];
    scene a, b;

    scene_begin(&a, TAG_A, 0, 1);
    scene_begin(&b, TAG_B, 7, 1);
    open_image(&values[0], a.world);
    open_archive(&values[1], b.world);
    ck_assert_int_eq(compare_values(&values[0], &values[1]), DIFF_EQUAL);
    ck_ok(espl_set_local_position(b.world, b.other, (float[]){9, 1, -2}));
    open_image(&values[0], a.world);
    open_image(&values[1], b.world);
    ck_assert_int_eq(compare_values(&values[0], &values[1]), DIFF_DIFFERENT);
    ck_assert_str_eq(lines, "other: the position is 6 1 -2 in A and 9 1 -2 in B\n");
    test_world_end(&a.test);
    test_world_end(&b.test);
}

// --- Large worlds and counterparts ---

TEST(cells_and_originals_that_differ_are_said)
{
    const espl_entity original = {4, 99u << 24 | 1};
    const int32_t far[3] = {1000, -2, 0};
    tool_value values[2];
    scene a, b, c;

    scene_begin(&c, TAG_A, 0, 1);
    test_world_cells(2048);
    scene_begin(&a, TAG_A, 0, 1);
    test_world_cells(2048);
    scene_begin(&b, TAG_B, 7, 1);
    ck_ok(espl_write_one(a.world, a.ship, ESPL_WRITE_CELL, far));
    ck_assert_int_eq(compare_worlds(&a, &b), DIFF_DIFFERENT);
    ck_assert_str_eq(lines, "ship: the cell is 1000 -2 0 in A and 0 0 0 in B\n");
    open_image(&values[0], a.world);
    open_image(&values[1], c.world);
    ck_assert_int_eq(compare_values(&values[0], &values[1]), DIFF_DIFFERENT);
    ck_assert_ptr_nonnull(strstr(lines, "the size of cells is 2048 in A and 0 in B\n"));
    ck_ok(espl_write_one(b.world, b.ship, ESPL_WRITE_CELL, far));
    ck_assert_int_eq(compare_worlds(&a, &b), DIFF_EQUAL);
    ck_ok(espl_set_counterpart(a.world, a.mast, original));
    ck_assert_int_eq(compare_worlds(&a, &b), DIFF_EQUAL);
    ck_ok(espl_rebase(b.world, far, NULL));
    open_image(&values[0], a.world);
    open_image(&values[1], b.world);
    ck_assert_int_eq(compare_values(&values[0], &values[1]), DIFF_DIFFERENT);
    ck_assert_str_eq(lines, "ship: the cell is 1000 -2 0 in A and 2000 -4 0 in B\n"
                            "other: the cell is 0 0 0 in A and 1000 -2 0 in B\n"
                            "ship/mast: the original is 4.1660944385 in A and 0.0 in B\n");
    test_world_end(&a.test);
    test_world_end(&b.test);
    test_world_end(&c.test);
}

// --- Each difference ---

static void change_rotation(scene *s)
{
    ck_ok(espl_set_local_rotation(s->world, s->ship, (float[]){1, 0, 0, 0}));
}
static void change_scale(scene *s)
{
    ck_ok(espl_set_local_scale(s->world, s->twins[1], 2));
}
static void change_stretch(scene *s)
{
    const float stretch[3] = {1, 2, 1};

    ck_ok(espl_write_one(s->world, s->ship, ESPL_WRITE_STRETCH, stretch));
}
static void change_user_data(scene *s)
{
    const uint32_t user_data = 12;

    ck_ok(espl_write_one(s->world, s->ship, ESPL_WRITE_USER_DATA, &user_data));
}
static void change_name(scene *s)
{
    ck_ok(espl_set_name(s->world, s->mast, "pole"));
}
static void destroy_subtree(scene *s)
{
    ck_ok(espl_destroy(s->world, s->mast, ESPL_EXTENT_SUBTREE));
}
static void create_another(scene *s)
{
    (void)test_pair_node(s->world, s->mast, 4, "flag");
}
static void change_link(scene *s)
{
    const espl_attach_options options = {.position = ESPL_KEEP_LOCAL,
                                         .rotation = ESPL_KEEP_LOCAL,
                                         .scale = ESPL_KEEP_LOCAL,
                                         .link = ESPL_LINK_FREE};

    ck_ok(espl_attach(s->world, s->mast, s->ship, &options));
}
static void change_inherit(scene *s)
{
    ck_ok(espl_set_inherit(s->world, s->mast, ESPL_ABSOLUTE_ROTATION));
}
// The kept part differs and the local does not: x is that of the world when the flag was set.
static void change_kept(scene *s)
{
    ck_ok(espl_set_inherit(s->world, s->lamp, 0));
    ck_ok(espl_set_world_scale(s->world, s->ship, 2));
    ck_ok(espl_set_inherit(s->world, s->lamp, ESPL_ABSOLUTE_X | ESPL_ABSOLUTE_SCALE));
    ck_ok(espl_set_world_scale(s->world, s->ship, 1));
}
static void add_flag(scene *s)
{
    ck_ok(espl_add_component(s->world, s->lamp, s->flag_id, NULL, 0));
}
static void disable(scene *s)
{
    ck_ok(espl_set_enabled(s->world, s->other, ESPL_EXTENT_ENTITY, false));
}
static void set_gun(scene *s, const gun *value)
{
    ck_ok(espl_set_component(s->world, s->twins[0], s->gun_id, value, sizeof *value));
}
static void change_field(scene *s)
{
    set_gun(s, &(gun){.heat = 0.25F, .rounds = {7, 9}, .target = s->other, .tail = {1, 2}});
}
static void change_byte(scene *s)
{
    set_gun(s, &(gun){.heat = 0.5F, .rounds = {7, 8}, .target = s->other, .tail = {1, 3}});
}
static void change_reference(scene *s)
{
    set_gun(s, &(gun){.heat = 0.5F, .rounds = {7, 8}, .target = s->lamp, .tail = {1, 2}});
}
static void drop_reference(scene *s)
{
    ck_ok(espl_destroy(s->world, s->other, ESPL_EXTENT_ENTITY));
}
static void change_order(scene *s)
{
    ck_ok(espl_move_before(s->world, s->mast, espl_entity_null()));
}
// The lamp keeps its local position, and its scale.
static void move_elsewhere(scene *s)
{
    const espl_attach_options options = {
        .position = ESPL_KEEP_LOCAL, .rotation = ESPL_KEEP_LOCAL, .scale = ESPL_KEEP_LOCAL};

    ck_ok(espl_attach(s->world, s->mast, s->other, &options));
}
static void destroy_between(scene *s)
{
    ck_ok(espl_set_name(s->world, s->lamp, "lamp"));
    ck_ok(espl_destroy(s->world, s->mast, ESPL_EXTENT_ENTITY));
}
static void do_nothing(scene *s)
{
    (void)s;
}

static const struct {
    void (*change)(scene *s);
    uint32_t version; // of the component in B
    const char *says;
} changes[] = {
    {change_rotation, 1, "ship: the rotation is 0 0 0 1 in A and 1 0 0 0 in B\n"},
    {change_scale, 1, "ship/gun[2]: the scale is 1 in A and 2 in B\n"},
    {change_stretch, 1, "ship: the stretch is 1 1 1 in A and 1 2 1 in B\n"},
    {change_user_data, 1, "ship: the user data is 0 in A and 12 in B\n"},
    {change_name, 1, "ship/mast: is called 'mast' in A and 'pole' in B\n"},
    {destroy_subtree, 1, "ship/mast: only in A, with 1 below it\n"},
    {create_another, 1, "ship/mast/flag: only in B\n"},
    {change_link, 1, "ship/mast: its link is owned in A and free in B\n"},
    {change_inherit, 1, "ship/mast: the inherit flags are 0x00 in A and 0x18 in B\n"},
    {change_kept, 1, "ship/mast/[1]: the kept world scale is 1 in A and 2 in B\n"},
    {add_flag, 1, "ship/mast/[1]: has flag in B and not in A\n"},
    {disable, 1, "other: has disabled in B and not in A\n"},
    {change_field, 1,
     "ship/gun[1]: gun.heat is 0.5 in A and 0.25 in B\n"
     "ship/gun[1]: gun.rounds[1] is 8 in A and 9 in B\n"},
    {change_byte, 1, "ship/gun[1]: gun, byte 17, is 0x02 in A and 0x03 in B\n"},
    {change_reference, 1, "ship/gun[1]: gun.target names other in A and ship/mast/[1] in B\n"},
    {drop_reference, 1,
     "other: only in A\nship/gun[1]: gun.target names other in A and nothing in B\n"},
    {change_order, 1, "ship/gun[1]: comes after ship/mast in A and before it in B\n"},
    {move_elsewhere, 1,
     "ship/mast: is below ship in A and below other in B\n"
     // Its x is kept, so that its local follows from where its parent is.
     "ship/mast/[1]: the position is 3 1 -2 in A and -2 1 -2 in B\n"},
    {destroy_between, 1, "ship/mast: only in A, with 1 below it\nship/lamp: only in B\n"},
    {do_nothing, 2, "component gun: version 1 in A and 2 in B\n"},
};

TEST(each_difference_of_values_is_said)
{
    for (size_t i = 0; i < sizeof changes / sizeof *changes; ++i) {
        scene a, b;

        scene_begin(&a, TAG_A, 0, 1);
        scene_begin(&b, TAG_B, 5, changes[i].version);
        changes[i].change(&b);
        ck_assert_int_eq(compare_worlds(&a, &b), DIFF_DIFFERENT);
        // The flag that is set again keeps the scale of another moment, and gives another local.
        ck_assert_msg(strstr(lines, changes[i].says) != NULL, "%zu: %s", i, lines);
        ck_assert_msg(changes[i].change == change_kept || strcmp(lines, changes[i].says) == 0,
                      "%zu: %s", i, lines);
        test_world_end(&a.test);
        test_world_end(&b.test);
    }
}

TEST(components_of_two_sizes_are_not_compared)
{
    scene a;
    test_world other;
    espl_component number;
    tool_value values[2];
    const uint32_t value = 7;

    scene_begin(&a, TAG_A, 0, 1);
    test_world_begin(&other, TAG_B, NULL);
    ck_ok(espl_component_register(
        other.world, &(espl_component_def){.name = "gun", .size = 4, .alignment = 4}, &number));
    const espl_entity ship = test_pair_node(other.world, espl_entity_null(), 1, "ship");

    ck_ok(espl_add_component(other.world, test_pair_node(other.world, ship, 4, "gun"), number,
                             &value, sizeof value));
    open_archive(&values[0], a.world);
    open_archive(&values[1], other.world);
    ck_assert_int_eq(compare_values(&values[0], &values[1]), DIFF_DIFFERENT);
    ck_assert_ptr_nonnull(strstr(lines, "component gun: 24 bytes in A and 4 in B; values are not "
                                        "compared\n"));
    test_world_end(&a.test);
    test_world_end(&other);
}

// --- Bytes that are wrong ---

// A value with other bytes, which must be refused with a reason, or equal.
static void open_spoiled(const tool_contents *good, const unsigned char *bytes, size_t size)
{
    tool_contents contents = {.bytes = malloc(size + 1), .size = size};
    tool_contents copy = {.bytes = malloc(good->size), .size = good->size};
    tool_fault fault = {""};
    tool_value value, whole;

    ck_assert(contents.bytes != NULL && copy.bytes != NULL);
    memcpy(contents.bytes, bytes, size);
    memcpy(copy.bytes, good->bytes, good->size);
    if (!value_take(&value, &contents, "spoiled", NULL, &fault)) {
        ck_assert_str_ne(fault.text, "");
        contents_release(&copy);
        return;
    }
    ck_assert(value_take(&whole, &copy, "good", NULL, &fault));
    ck_assert_int_eq(compare_values(&whole, &value), DIFF_EQUAL);
}

static void spoil_each(const tool_contents *good, size_t step)
{
    unsigned char *const bytes = malloc(good->size);

    ck_assert_ptr_nonnull(bytes);
    memcpy(bytes, good->bytes, good->size);
    for (size_t i = 0; i < good->size; i += step) {
        open_spoiled(good, bytes, i);
        for (int bit = 0; bit < 8; bit += (int)step) {
            bytes[i] ^= (unsigned char)(1u << bit);
            open_spoiled(good, bytes, good->size);
            bytes[i] ^= (unsigned char)(1u << bit);
        }
    }
    free(bytes);
}

TEST(damaged_archives_and_images_are_refused_or_equal)
{
    const int32_t far[3] = {1, 0, 0};
    scene a;

    test_world_cells(16);
    scene_begin(&a, TAG_A, 2, 1);
    ck_ok(espl_write_one(a.world, a.ship, ESPL_WRITE_CELL, far));
    test_archive archive = test_archive_of(a.world, NULL);
    test_image image = test_image_of(a.world);

    spoil_each(&(tool_contents){.bytes = archive.bytes, .size = archive.size}, 3);
    spoil_each(&(tool_contents){.bytes = image.bytes, .size = image.size}, 13);
    test_archive_end(&archive);
    test_image_end(&image);
    test_world_end(&a.test);
}

// --- Tapes ---

// A world that is recorded, and what a test does in it.
typedef struct recording {
    memory_tape tape;
    scene s;
} recording;

static void record(recording *r, uint32_t tag, void (*act)(scene *s))
{
    r->tape = (memory_tape){0};
    test_world_record((espl_tape){&r->tape, memory_tape_append});
    scene_begin(&r->s, tag, 0, 1);
    ck_ok(espl_tape_frame(r->s.world));
    act(&r->s);
    ck_ok(espl_tape_frame(r->s.world));
    test_world_end(&r->s.test);
}

static diff_place place;      // where the last two tapes part
static espl_entity places[2]; // the second twin in both

static diff_verdict compare_tapes(void (*in_a)(scene *s), void (*in_b)(scene *s))
{
    static recording a, b;
    tool_diff diff = begin_diff();
    tool_fault fault = {""};
    int side = 0;

    record(&a, TAG_A, in_a);
    record(&b, TAG_B, in_b);
    const tool_contents contents[2] = {{.bytes = a.tape.bytes, .size = a.tape.size},
                                       {.bytes = b.tape.bytes, .size = b.tape.size}};
    const diff_verdict verdict = diff_tapes(&diff, &contents[0], &contents[1], &side, &fault);

    ck_assert_msg(fault.text[0] == '\0', "%s", fault.text);
    free(a.tape.bytes);
    free(b.tape.bytes);
    place = diff.place;
    places[0] = a.s.twins[1];
    places[1] = b.s.twins[1];
    return verdict;
}

static void move_mast(scene *s)
{
    ck_ok(espl_set_local_position(s->world, s->mast, (float[]){1, 2, 3}));
}
static void move_mast_elsewhere(scene *s)
{
    ck_ok(espl_set_local_position(s->world, s->mast, (float[]){1, 2, 4}));
}
static void move_ship(scene *s)
{
    ck_ok(espl_set_local_position(s->world, s->ship, (float[]){1, 2, 3}));
}
static void turn_mast(scene *s)
{
    ck_ok(espl_set_local_rotation(s->world, s->mast, (float[]){1, 0, 0, 0}));
}
static void move_twice(scene *s)
{
    move_mast(s);
    move_ship(s);
}
static void write_batch(scene *s, float x)
{
    const espl_write writes[] = {
        {.entity = s->mast, .kind = ESPL_WRITE_LOCAL_SCALE, .value.scale = 2},
        {.entity = s->twins[1], .kind = ESPL_WRITE_LOCAL_POSITION, .value.position = {x, 0, 0}}};

    ck_ok(espl_write_batch(s->world, writes, 2, NULL));
}
static void write_one_batch(scene *s)
{
    write_batch(s, 1);
}
static void write_other_batch(scene *s)
{
    write_batch(s, 2);
}
static void play(scene *s, bool attaches)
{
    espl_command_buffer *const commands = test_commands(s->world, 1);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);

    ck_ok(espl_record_destroy(recorder, 0, s->lamp, ESPL_EXTENT_OWNED));
    ck_ok(espl_record_attach(recorder, 1, s->other, attaches ? s->mast : s->ship, NULL));
    ck_ok(espl_play(s->world, commands, NULL));
    espl_command_buffer_destroy(commands);
}
static void play_one(scene *s)
{
    play(s, true);
}
static void play_other(scene *s)
{
    play(s, false);
}
static void attach_below_itself(scene *s)
{
    (void)!espl_attach(s->world, s->ship, s->mast, NULL);
}
static void destroy_other(scene *s)
{
    ck_ok(espl_destroy(s->world, s->other, ESPL_EXTENT_OWNED));
}

static const struct {
    void (*in_a)(scene *s), (*in_b)(scene *s);
    const char *says;
} partings[] = {
    {move_mast, move_mast_elsewhere,
     "  both have a write\n  ship/mast: the value is 1 2 3 in A and 1 2 4 in B\n"},
    {move_mast, move_ship,
     "  both have a write\n  ship/mast: the entity is ship/mast in A and ship in B\n"},
    {move_mast, destroy_other, "  A has a write of ship/mast\n  B has a destroy of other\n"},
    {move_mast, turn_mast,
     "  both have a write\n  ship/mast: the kind of write is local position in A and local "
     "rotation in B\n"},
    {write_one_batch, write_other_batch,
     "  both have a batch of writes\n  ship/gun: the value is 1 0 0 in A and 2 0 0 in B\n"},
    {play_one, play_other,
     "  both have a playback\n  other: the parent is ship/mast in A and ship in B\n"},
    {change_name, do_nothing, "  A has a name of ship/mast\n  B has the end of the frame\n"},
    {change_field, change_byte,
     "  both have a write of a component\n  ship/gun: gun.heat is 0.25 in A and 0.5 in B\n"},
    {change_field, change_reference,
     "  both have a write of a component\n  ship/gun: gun.heat is 0.25 in A and 0.5 in B\n"},
    {change_byte, change_reference,
     "  both have a write of a component\n  ship/gun: gun.target is other in A and "
     "ship/mast/2.134217729 in B\n"},
};

TEST(each_operation_of_a_tape_has_a_name)
{
    for (uint32_t op = ESPL_TAPE_FRAME; op < ESPL_TAPE_OP_COUNT; ++op) {
        ck_assert_msg(strcmp(tape_call_word(op), "no call") != 0, "operation %u", op);
        for (uint32_t other = ESPL_TAPE_FRAME; other < op; ++other) {
            ck_assert_str_ne(tape_call_word(op), tape_call_word(other));
        }
    }
    ck_assert_str_eq(tape_call_word(0), "no call");
    ck_assert_str_eq(tape_call_word(ESPL_TAPE_OP_COUNT), "no call");
    for (uint64_t kind = 0; kind < ESPL_WRITE_KIND_COUNT; ++kind) {
        char text[64];

        ck_assert_str_ne(tape_write_word(kind, text, sizeof text), "none");
    }
    for (uint64_t kind = 0; kind < ESPL_TAPE_COMMAND_COUNT; ++kind) {
        ck_assert_str_ne(tape_command_word(kind), "none");
    }
}

TEST(tapes_of_the_same_calls_are_equal_whatever_their_tags)
{
    void (*const acts[])(scene * s) = {do_nothing,       move_mast,       play_one,
                                       change_reference, write_one_batch, attach_below_itself,
                                       change_order};

    for (size_t i = 0; i < sizeof acts / sizeof *acts; ++i) {
        ck_assert_int_eq(compare_tapes(acts[i], acts[i]), DIFF_EQUAL);
        ck_assert_str_eq(lines, "");
    }
}

TEST(the_call_where_two_tapes_part_is_said)
{
    for (size_t i = 0; i < sizeof partings / sizeof *partings; ++i) {
        ck_assert_int_eq(compare_tapes(partings[i].in_a, partings[i].in_b), DIFF_DIFFERENT);
        ck_assert_msg(strncmp(lines, "they part in frame 1, at call 1 of it: byte ", 44) == 0, "%s",
                      lines);
        ck_assert_msg(strstr(lines, partings[i].says) != NULL, "%zu: %s", i, lines);
    }
    ck_assert_int_eq(compare_tapes(move_mast, move_twice), DIFF_DIFFERENT);
    ck_assert_msg(strncmp(lines, "they part in frame 1, at call 2 of it: byte ", 44) == 0, "%s",
                  lines);
    ck_assert_ptr_nonnull(strstr(lines, "  A has the end of the frame\n  B has a write of ship\n"));
}

static void compact(scene *s)
{
    ck_ok(espl_compact(s->world));
}

TEST(the_place_where_two_tapes_part_has_the_entity_of_each)
{
    ck_assert_int_eq(compare_tapes(write_one_batch, write_other_batch), DIFF_DIFFERENT);
    ck_assert_uint_eq(place.frame, 1);
    ck_assert_uint_eq(place.call, 1);
    for (int i = 0; i < 2; ++i) {
        ck_assert(espl_entity_equal(place.entities[i], places[i]));
    }
    ck_assert_int_eq(compare_tapes(do_nothing, compact), DIFF_DIFFERENT);
    ck_assert(espl_entity_is_null(place.entities[0]) && espl_entity_is_null(place.entities[1]));
}

static void mark_and_move(scene *s, float x)
{
    const espl_history_def def = {.frames = 2, .flags = ESPL_HISTORY_HASH};
    espl_history *history;

    ck_ok(espl_history_create(s->world, &def, &history));
    ck_ok(espl_history_mark(history, 1));
    ck_ok(espl_tape_frame(s->world));
    ck_ok(espl_set_local_position(s->world, s->mast, (float[]){x, 0, 0}));
    espl_history_destroy(history);
}
static void mark_and_move_here(scene *s)
{
    mark_and_move(s, 1);
}
static void mark_and_move_there(scene *s)
{
    mark_and_move(s, 2);
}

TEST(frames_beside_a_history_are_counted)
{
    ck_assert_int_eq(compare_tapes(mark_and_move_here, mark_and_move_there), DIFF_DIFFERENT);
    ck_assert_msg(strncmp(lines, "they part in frame 2, at call 1 of it: byte ", 44) == 0, "%s",
                  lines);
    ck_assert_ptr_nonnull(strstr(lines, "  ship/mast: the value is 1 0 0 in A and 2 0 0 in B\n"));
}

// Change one byte of two equal tapes, from the end on. @return the lines.
static const char *compare_changed(size_t from_end, unsigned char flip, size_t cut)
{
    static recording a;
    tool_diff diff = begin_diff();
    tool_fault fault = {""};
    int side = 0;

    record(&a, TAG_A, move_mast);
    unsigned char *const copy = malloc(a.tape.size);

    ck_assert_ptr_nonnull(copy);
    memcpy(copy, a.tape.bytes, a.tape.size);
    copy[a.tape.size - from_end] ^= flip;
    const tool_contents contents[2] = {{.bytes = a.tape.bytes, .size = a.tape.size},
                                       {.bytes = copy, .size = a.tape.size - cut}};

    ck_assert_int_eq(diff_tapes(&diff, &contents[0], &contents[1], &side, &fault), DIFF_DIFFERENT);
    free(copy);
    free(a.tape.bytes);
    return lines;
}

TEST(hashes_answers_and_ends_that_differ_are_said)
{
    // The last record: an operation, a kind, a number, the answer.
    enum { FRAME = 14 };

    ck_assert_ptr_nonnull(strstr(compare_changed(1, 1, 0), "  the answer is ESPL_OK in A and "));
    ck_assert_ptr_nonnull(strstr(compare_changed(FRAME - 1, 1, 0),
                                 "  the kind of hash is checksum in A and logical hash in B"));
    ck_assert_ptr_nonnull(strstr(compare_changed(2, 1, 0), "  the checksum is "));
    ck_assert_ptr_nonnull(strstr(compare_changed(1, 0, 1), "  B ends within it\n"));
    ck_assert_ptr_nonnull(strstr(compare_changed(1, 0, FRAME),
                                 "B ends in frame 1, after call 1 of it; A goes on with "
                                 "the end of the frame\n"));
}

// A tape that cannot be read is trouble, whatever the other one is.
TEST(damaged_tapes_are_compared_within_bounds)
{
    recording a;
    uint64_t random = 5;

    record(&a, TAG_A, play_one);
    const tool_contents good = {.bytes = a.tape.bytes, .size = a.tape.size};
    unsigned char *const copy = malloc(a.tape.size);

    ck_assert_ptr_nonnull(copy);
    for (size_t i = 0; i < test_scaled(2000); ++i) {
        const size_t at = test_below(&random, (uint32_t)a.tape.size);
        const tool_contents bad = {.bytes = copy, .size = a.tape.size};
        tool_diff diff = {.is_quiet = true};
        tool_fault fault = {""};
        int side = 0;

        memcpy(copy, a.tape.bytes, a.tape.size);
        copy[at] ^= (unsigned char)(1u << test_below(&random, 8));
        const diff_verdict verdict = i % 2 == 0 ? diff_tapes(&diff, &good, &bad, &side, &fault)
                                                : diff_tapes(&diff, &bad, &good, &side, &fault);

        ck_assert(verdict != DIFF_TROUBLE || fault.text[0] != '\0');
        ck_assert(verdict != DIFF_EQUAL || (at >= 12 && at < 16) || at < a.tape.size);
    }
    free(copy);
    free(a.tape.bytes);
}
