// SPDX-License-Identifier: MIT
// Legal names of entities, components and custom commands; of entities also the lifetime of names,
// names in clones, hashes and statistics, and searches by names and paths.
#include "tests/checks.h"
#include "tests/inside.h"
#include "tests/fixture.h"
#include "tests/one_world.h"

#include <espalier/writers.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set(espl_entity entity, const char *name)
{
    ck_ok(espl_set_name(w, entity, name));
}

static void has_name(espl_entity entity, const char *name)
{
    ck_assert_str_eq(espl_get_name(w, entity), name);
}

static void attach(espl_entity child, espl_entity parent)
{
    ck_ok(espl_attach(w, child, parent, NULL));
}

// --- One name ---

FIXTURE(set_up, tear_down);

TEST(a_name_is_of_255_bytes_at_most_and_of_none_that_would_break_a_line_or_a_path)
{
    const espl_entity a = test_solo(w);
    char name[ESPL_NAME_LIMIT + 2];

    set(a, "name");
    memset(name, 'n', sizeof name);
    name[ESPL_NAME_LIMIT + 1] = '\0';
    ck_status(espl_set_name(w, a, name), ESPL_ERR_LIMIT);
    has_name(a, "name");
    for (int byte = 1; byte < 256; ++byte) {
        const char one[4] = {'a', (char)byte, 'b', '\0'};
        const bool is_bad = byte < 0x20 || byte == 0x7f || byte == '/';

        ck_status(espl_set_name(w, a, one), is_bad ? ESPL_ERR_ARGUMENT : ESPL_OK);
        has_name(a, is_bad ? "name" : one);
        set(a, "name");
    }
    name[ESPL_NAME_LIMIT] = '\0';
    set(a, name);
    has_name(a, name);
}

static void hear_nothing(void *user, const espl_custom_calls *calls)
{
    (void)user;
    (void)calls;
}

TEST(names_of_components_and_custom_commands_have_the_bytes_of_names_of_entities)
{
    const espl_entity a = test_solo(w);
    const char *const why = ": def->name has a control character or a '/'.";

    for (int byte = 1; byte < 256; ++byte) {
        const char one[4] = {'a', (char)byte, 'b', '\0'};
        const espl_component_def kind = {.name = one};
        const espl_custom_command_def command = {.name = one, .function = hear_nothing};
        espl_component component = 0;
        espl_custom_command number = 0;
        const espl_status status = espl_set_name(w, a, one);

        ck_status(espl_component_register(w, &kind, &component), status);
        ck_assert(status == ESPL_OK || strstr(test.hooks.last_line, why) != NULL);
        ck_assert_uint_eq(espl_component_find(w, one), component);
        ck_assert_uint_eq(component != 0, status == ESPL_OK);
        ck_status(espl_command_register(w, &command, &number), status);
        ck_assert(status == ESPL_OK || strstr(test.hooks.last_line, why) != NULL);
        ck_assert_uint_eq(number != 0, status == ESPL_OK);
        for (const char *at = test.hooks.last_line; *at != '\0'; ++at) {
            ck_assert((unsigned char)*at >= 0x20 && *at != 0x7f);
        }
    }
}

TEST(a_string_of_the_caller_does_not_break_a_line_of_the_log)
{
    const espl_query_def query = {.site = "file.c\nespalier: error:12"};
    const espl_component_def kind = {.name = "health\nerror\x1b[31m"};
    espl_component component = 0;
    espl_query open;

    ck_status(espl_component_register(w, &kind, &component), ESPL_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(test.hooks.last_line, "component \"health?error?[31m\""));
    ck_ok(espl_query_begin(w, &query, &open));
    ck_status(espl_compact(w), ESPL_ERR_BUSY);
    ck_assert_ptr_null(strchr(test.hooks.last_line, '\n'));
#if ESPL_CHECKS >= 1
    ck_assert_ptr_nonnull(strstr(test.hooks.last_line, "file.c?espalier: error:12"));
#endif
    espl_query_end(&open);
    ck_status(espl_query_begin(w, &(espl_query_def){.site = "a\r\nb", .include = 64}, &open),
              ESPL_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(test.hooks.last_line, "espl_query_begin at a??b: "));
}

TEST(the_name_of_another_entity_or_a_part_of_its_own_may_be_given)
{
    const espl_entity a = test_solo(w), b = test_solo(w);

    set(a, "name");
    set(b, espl_get_name(w, a));
    set(a, espl_get_name(w, a) + 1);
    has_name(a, "ame");
    has_name(b, "name");
    set(b, espl_get_name(w, b));
    has_name(b, "name");
}

// --- When ---

static espl_entity named_in_callback;

static void name_it(void *user, const espl_custom_calls *calls)
{
    (void)user;
    ck_ok(espl_set_name(calls->world, named_in_callback, "called"));
}

TEST(a_name_may_be_set_during_iteration_and_in_a_custom_command)
{
    const espl_entity a = test_solo(w);
    const espl_custom_command_def def = {.name = "name it", .function = name_it};
    espl_custom_command number = 0;
    espl_query query;

    ck_ok(espl_query_begin(w, NULL, &query));
    while (espl_query_next(&query)) {
        set(query.entities[0], "seen");
    }
    has_name(a, "seen");
    named_in_callback = a;
    ck_ok(espl_command_register(w, &def, &number));
    espl_command_buffer *const commands = test_commands(w, 1);
    ck_ok(espl_record_custom(espl_command_buffer_recorder(commands, 0), 0, number, NULL, 0, 0));
    ck_ok(espl_play(w, commands, NULL));
    espl_command_buffer_destroy(commands);
    has_name(a, "called");
}

// --- Clones ---

// A prefab of three, of which the first and the last have names.
static espl_entity make_prefab(void)
{
    const espl_entity top = test_solo(w), arm = test_solo(w), hand = test_solo(w);

    attach(arm, top);
    attach(hand, arm);
    set(top, "body");
    set(hand, "hand");
    return top;
}

static void is_named_clone(espl_entity clone)
{
    const espl_entity arm = espl_get_first_child(w, clone);

    has_name(clone, "body");
    has_name(arm, "");
    has_name(espl_get_first_child(w, arm), "hand");
}

// A source that ends in the playback that clones it, and clones of what is made there.
TEST(recorded_clones_have_the_names_of_their_sources_whatever_becomes_of_these)
{
    const espl_entity prefab = make_prefab();
    const espl_instance_def def = {.source = prefab};
    espl_entity pending[2], again, made, clones[4];

    espl_command_buffer *const commands = test_commands(w, 1);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    const espl_creation_def creation = {.parent = espl_entity_null()};

    ck_ok(espl_record_create(recorder, 0, &creation, 1, &made));
    ck_ok(espl_record_instantiate(recorder, 0, &def, 2, pending));
    const espl_instance_def of_clone = {.source = pending[1]};
    ck_ok(espl_record_instantiate(recorder, 0, &of_clone, 1, &again));
    ck_ok(espl_record_add_component(recorder, 0, again, ESPL_DISABLED, NULL, 0));
    ck_ok(espl_record_destroy(recorder, 0, prefab, ESPL_EXTENT_OWNED));
    ck_ok(espl_record_destroy(recorder, 0, pending[1], ESPL_EXTENT_OWNED));
    ck_ok(espl_play(w, commands, NULL));
    ck_ok(espl_command_buffer_resolve(commands, pending[0], &clones[0]));
    ck_ok(espl_command_buffer_resolve(commands, again, &clones[1]));
    ck_ok(espl_command_buffer_resolve(commands, made, &clones[2]));
    espl_command_buffer_destroy(commands);
    is_named_clone(clones[0]);
    is_named_clone(clones[1]);
    has_name(clones[2], "");
    ck_assert_uint_eq(test_stats(w).names, 4);
}

TEST(names_of_clones_do_not_depend_on_workers)
{
    uint64_t hashes[4];

    for (uint32_t workers = 1; workers <= 4; ++workers) {
        test_executor executor = {.manner = TEST_SHUFFLED, .workers = workers, .random = workers};
        const espl_executor shuffled = test_executor_of(&executor);
        test_world other;
        const uint32_t count = test_fitting(3000, 40) / 4;

        test_world_begin(&other, 1, &shuffled);
        w = other.world;
        const espl_entity prefab = make_prefab();
        espl_command_buffer *const commands = test_commands(w, 2);
        for (uint32_t i = 0; i < count; ++i) {
            const espl_instance_def def = {.source = prefab};

            ck_ok(espl_record_instantiate(espl_command_buffer_recorder(commands, i % 2), i, &def, 1,
                                          NULL));
        }
        ck_ok(espl_play(w, commands, NULL));
        ck_assert_uint_eq(test_stats(w).names, 2 * ((size_t)count + 1));
        espl_command_buffer_destroy(commands);
        hashes[workers - 1] = test_physical_hash(w);
        test_world_end(&other);
    }
    w = test.world;
    ck_assert_uint_eq(hashes[0], hashes[1]);
    ck_assert_uint_eq(hashes[0], hashes[2]);
    ck_assert_uint_eq(hashes[0], hashes[3]);
}

// --- Hashes and bytes ---

TEST(hashes_tell_names_and_are_as_ever_without)
{
    const espl_entity a = test_solo(w), b = test_solo_at(w, 1, 2, 3);
    const uint64_t logical = test_logical_hash(w), physical = test_physical_hash(w);

    set(a, "a");
    const uint64_t logical_a = test_logical_hash(w), physical_a = test_physical_hash(w);
    ck_assert(logical_a != logical && physical_a != physical);
    set(a, NULL);
    ck_assert(test_logical_hash(w) == logical && test_physical_hash(w) == physical);
    set(b, "a");
    ck_assert(test_logical_hash(w) != logical_a && test_physical_hash(w) != physical_a);
    set(a, "a");
    set(b, "");
    ck_assert(test_logical_hash(w) == logical_a && test_physical_hash(w) == physical_a);
}

TEST(worlds_without_names_pay_nothing_and_compaction_gives_back_what_names_took)
{
    const uint32_t count = test_fitting(1000, 40);
    espl_entity *const all = test_array(count, sizeof *all);

    test_solos(w, count, all);
    ck_ok(espl_compact(w));
    const espl_world_stats before = test_stats(w);

    ck_assert_uint_eq(before.bytes_names + before.names, 0);
    for (uint32_t i = 0; i < count; ++i) {
        set(all[i], "one of many");
    }
    const espl_world_stats named = test_stats(w);

    ck_assert_uint_eq(named.names, count);
    ck_assert_uint_eq(named.bytes_store - before.bytes_store, named.bytes_names);
    ck_assert_uint_eq(named.bytes - before.bytes, named.bytes_names);
    ck_assert_uint_ge(named.bytes_names, count * sizeof "one of many");
    for (uint32_t i = 1; i < count; ++i) {
        set(all[i], NULL);
    }
    const size_t kept = test_stats(w).bytes_names;

    ck_ok(espl_compact(w));
    ck_assert_uint_lt(test_stats(w).bytes_names, kept);
    has_name(all[0], "one of many");
    set(all[0], NULL);
    ck_ok(espl_compact(w));
    ck_assert_uint_eq(test_stats(w).bytes, before.bytes);
    free(all);
}

// Clones share the text: each takes a place in the table, and no memory of its own.
TEST(names_of_clones_take_no_memory_for_their_texts)
{
    const espl_entity prefab = test_solo(w);
    const uint32_t count = test_fitting(600, 40);
    char name[ESPL_NAME_LIMIT + 1];

    memset(name, 'n', sizeof name);
    name[ESPL_NAME_LIMIT] = '\0';
    set(prefab, name);
    ck_ok(espl_instantiate(w, &(espl_instance_def){.source = prefab}, count, NULL));
    ck_assert_uint_eq(test_stats(w).names, count + 1);
    ck_assert_uint_lt(test_stats(w).bytes_names, 300 + 64 * ((size_t)count + 8));
}

// --- Messages ---

TEST(a_refused_call_tells_the_names_of_its_entities)
{
    const espl_entity top = test_solo(w), child = test_solo(w);
    char name[ESPL_NAME_LIMIT + 1];

    memset(name, 'n', sizeof name);
    name[ESPL_NAME_LIMIT] = '\0';
    attach(child, top);
    set(top, "top");
    ck_status(espl_attach(w, top, child, NULL), ESPL_ERR_CYCLE);
    ck_assert_ptr_nonnull(strstr(test.hooks.last_line, " \"top\", "));
    ck_status(espl_attach(w, top, top, NULL), ESPL_ERR_CYCLE);
    ck_assert_ptr_nonnull(strstr(test.hooks.last_line, "\"top\", "));
    // Long names leave room for the rule.
    set(child, name);
    ck_status(espl_set_name(w, child, "\n"), ESPL_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(test.hooks.last_line, name));
    ck_assert_ptr_nonnull(strstr(test.hooks.last_line, "ESPL_ERR_ARGUMENT"));
    ck_ok(espl_destroy(w, top, ESPL_EXTENT_OWNED));
    ck_status(espl_destroy(w, top, ESPL_EXTENT_OWNED), ESPL_ERR_DEAD);
    ck_assert_ptr_null(strstr(test.hooks.last_line, "\"top\""));
}

// --- Finding ---

// body{arm{hand{finger}}, arm{hand{thumb}, (unnamed){hand}}, leg}
typedef struct figure {
    espl_entity body, arm[2], hand[3], finger, thumb, unnamed, leg;
} figure;

static espl_entity limb(espl_entity parent, const char *name)
{
    const espl_entity made = test_solo(w);

    attach(made, parent);
    set(made, name);
    return made;
}

static figure make_figure(void)
{
    figure f = {.body = test_solo(w)};

    set(f.body, "body");
    f.arm[0] = limb(f.body, "arm");
    f.arm[1] = limb(f.body, "arm");
    f.leg = limb(f.body, "leg");
    f.hand[0] = limb(f.arm[0], "hand");
    f.hand[1] = limb(f.arm[1], "hand");
    f.unnamed = limb(f.arm[1], NULL);
    f.hand[2] = limb(f.unnamed, "hand");
    f.finger = limb(f.hand[0], "finger");
    f.thumb = limb(f.hand[1], "thumb");
    return f;
}

static espl_entity found(espl_entity top, const char *path)
{
    espl_entity out = {7, 7};

    ck_ok(espl_find_descendant(w, top, path, &out));
    return out;
}

static bool finds(espl_entity top, const char *path, espl_entity wanted)
{
    return espl_entity_equal(found(top, path), wanted);
}

TEST(the_first_of_a_name_in_depth_first_order_is_found)
{
    const figure f = make_figure();
    const espl_entity none = espl_entity_null();

    ck_assert(finds(f.body, "arm", f.arm[0]));
    ck_assert(finds(f.body, "hand", f.hand[0]));
    ck_assert(finds(f.arm[1], "hand", f.hand[1]));
    ck_assert(finds(f.body, "leg", f.leg));
    ck_assert(finds(f.body, "thumb", f.thumb));
    ck_assert(finds(f.unnamed, "hand", f.hand[2]));
    // Neither the top itself nor what is beside it or above it.
    ck_assert(finds(f.body, "body", none));
    ck_assert(finds(f.arm[0], "arm", none));
    ck_assert(finds(f.arm[1], "finger", none));
    ck_assert(finds(f.leg, "hand", none));
    // No part of a name.
    ck_assert(finds(f.body, "han", none));
    ck_assert(finds(f.body, "hands", none));
    // The order is that of siblings.
    ck_ok(espl_move_before(w, f.arm[0], espl_entity_null()));
    ck_assert(finds(f.body, "hand", f.hand[1]));
}

TEST(a_path_with_an_empty_name_is_refused)
{
    static const char *const paths[] = {"", "/", "//", "a/", "a//b", "//a", "/a/"};
    const figure f = make_figure();

    for (size_t i = 0; i < sizeof paths / sizeof *paths; ++i) {
        espl_entity out = {7, 7};

        ck_status(espl_find_descendant(w, f.body, paths[i], &out), ESPL_ERR_ARGUMENT);
        ck_assert_uint_eq(out.index, 7);
    }
}

// --- Paths ---

static void has_path(espl_entity entity, const char *path)
{
    char text[1024];

    ck_assert_uint_eq(espl_get_path(w, entity, text, sizeof text), strlen(path));
    ck_assert_str_eq(text, path);
}

TEST(a_path_is_the_names_of_all_above_and_of_the_entity)
{
    const figure f = make_figure();
    char path[128];

    has_path(f.body, "body");
    has_path(f.finger, "body/arm/hand/finger");
    snprintf(path, sizeof path, "body/arm/%u.%u/hand", f.unnamed.index, f.unnamed.generation);
    has_path(f.hand[2], path);
    snprintf(path, sizeof path, "%u.%u", f.unnamed.index, f.unnamed.generation);
    ck_ok(espl_detach(w, f.unnamed, ESPL_KEEP_WORLD));
    has_path(f.unnamed, path);
    // What espl_get_path() writes, espl_find_descendant() reads.
    ck_assert(finds(f.body, "/arm/hand/finger", f.finger));
}

TEST(a_path_is_cut_as_snprintf_cuts)
{
    static const char whole[] = "body/arm/hand/finger";
    const figure f = make_figure();
    char text[64];

    for (size_t size = 0; size <= sizeof whole + 2; ++size) {
        char wanted[64];

        memset(text, '#', sizeof text);
        memset(wanted, '#', sizeof wanted);
        (void)snprintf(wanted, size, "%s", whole);
        ck_assert_uint_eq(espl_get_path(w, f.finger, text, size), strlen(whole));
        // Behind the terminator nothing is promised but within the size.
        ck_assert_mem_eq(text, wanted, size < sizeof whole ? size : sizeof whole);
        ck_assert_int_eq(text[size < sizeof whole ? size : sizeof whole], '#');
    }
    ck_assert_uint_eq(espl_get_path(w, f.finger, NULL, 0), strlen(whole));
}

TEST(a_path_of_any_depth_is_written)
{
    const uint32_t count = test_fitting(4000, 0);
    espl_entity *const chain = make_chain(w, count);
    char *const text = malloc((size_t)count * 2 + 1);

    ck_assert_ptr_nonnull(text);
    for (uint32_t i = 0; i < count; ++i) {
        set(chain[i], "n");
    }
    ck_assert_uint_eq(espl_get_path(w, chain[count - 1], text, (size_t)count * 2), count * 2 - 1);
    for (uint32_t i = 0; i < count * 2 - 1; ++i) {
        ck_assert(text[i] == (i % 2 == 0 ? 'n' : '/'));
    }
    ck_assert(text[count * 2 - 1] == '\0');
    ck_assert(finds(chain[0], text + 2, chain[count - 1]));
    free(text);
    free(chain);
}
