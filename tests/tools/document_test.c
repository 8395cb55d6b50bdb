// SPDX-License-Identifier: MIT
// JSON documents: a parser reads back every value that was written; numbers that are not finite are
// refused, and a full disk is reported.
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tools/document.h"

#include "tests/runner.h"

#include <math.h>
#include <string.h>

#ifdef HAVE_JANSSON

#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

/// Write the document into a file and read it back; the document is released.
static json_t *carry_over(tool_document *document)
{
    char path[] = "/tmp/document_test.XXXXXX";
    const int descriptor = mkstemp(path);
    tool_fault fault = {""};
    json_error_t error;

    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(close(descriptor), 0);
    ck_assert_msg(document_write(document, path, &fault), "%s", fault.text);
    json_t *const out = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(out != NULL, "line %d: %s", error.line, error.text);
    ck_assert_int_eq(remove(path), 0);
    document_release(document);
    return out;
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

TEST(members_go_to_the_scene_that_is_open)
{
    tool_document document = {0};

    document_text(&document, "command", "play");
    for (uint64_t i = 0; i < 3; ++i) {
        document_scene_begin(&document);
        document_count(&document, "nodes", i);
        document_scene_end(&document);
    }
    document_flag(&document, "agreed", true);
    json_t *const root = carry_over(&document);
    const json_t *const scenes = json_object_get(root, "scenes");

    ck_assert_str_eq(text_of(root, "command"), "play");
    ck_assert(json_is_true(json_object_get(root, "agreed")));
    ck_assert_uint_eq(json_object_size(root), 3);
    ck_assert_uint_eq(json_array_size(scenes), 3);
    for (size_t i = 0; i < 3; ++i) {
        const json_t *const scene = json_array_get(scenes, i);
        ck_assert_uint_eq(json_object_size(scene), 1);
        ck_assert_int_eq(json_integer_value(json_object_get(scene, "nodes")), (json_int_t)i);
    }
    json_decref(root);
}

TEST(numbers_come_back_bit_for_bit)
{
    const double numbers[] = {0, 1.0 / 3, 5e-324, 1.7976931348623157e308};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        tool_document document = {0};

        document_number(&document, "number", numbers[i]);
        json_t *const root = carry_over(&document);
        ck_assert(json_real_value(json_object_get(root, "number")) == numbers[i]);
        json_decref(root);
    }
}

TEST(any_file_name_can_be_told)
{
    tool_document document = {0};

    document_text(&document, "quoted", "a \"b\" \\ \n.bvh");
    document_text(&document, "accented", "fl\xc3\xbcgel.bvh");
    document_text(&document, "broken", "fl\xfcgel.bvh");
    json_t *const root = carry_over(&document);

    ck_assert_str_eq(text_of(root, "quoted"), "a \"b\" \\ \n.bvh");
    ck_assert_str_eq(text_of(root, "accented"), "fl\xc3\xbcgel.bvh");
    ck_assert_str_eq(text_of(root, "broken"), "fl?gel.bvh");
    json_decref(root);
}

TEST(what_is_not_finite_is_refused)
{
    const double numbers[] = {HUGE_VAL, -HUGE_VAL, nan("")};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        tool_document document = {0};
        tool_fault fault = {""};

        document_text(&document, "command", "play");
        document_number(&document, "number", numbers[i]);
        ck_assert(!document_write(&document, "/dev/null", &fault));
        ck_assert_str_ne(fault.text, "");
        document_release(&document);
    }
}

TEST(a_full_disk_is_told)
{
    tool_document document = {0};
    tool_fault fault = {""};

    if (access("/dev/full", W_OK) == 0) {
        document_text(&document, "command", "play");
        ck_assert(!document_write(&document, "/dev/full", &fault));
        ck_assert_ptr_eq(strstr(fault.text, "/dev/full: "), fault.text);
        document_release(&document);
    }
}

#else

TEST(without_jansson_nothing_is_written)
{
    tool_document document = {0};
    tool_fault fault = {""};

    document_text(&document, "command", "play");
    ck_assert(!document_is_built());
    ck_assert(!document_write(&document, "/dev/null", &fault));
    ck_assert_ptr_ne(strstr(fault.text, "jansson"), NULL);
    document_release(&document);
}

#endif
