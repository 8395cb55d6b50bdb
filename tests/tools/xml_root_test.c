// SPDX-License-Identifier: MIT
// The root element tells XML formats apart, whatever stands before it and whatever words the file has.
#include "tools/xml_root.h"

#include "tests/runner.h"

#include <stdio.h>
#include <string.h>

/// Write text into a file and read its root element; "" where there is none.
static const char *root_of(const char *text, size_t size)
{
    static char name[XML_NAME_SIZE];
    const char path[] = "xml_root_test.xml";
    FILE *const file = fopen(path, "wb");

    ck_assert(file != NULL);
    ck_assert_uint_eq(fwrite(text, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
    if (!xml_read_root(name, path)) {
        name[0] = '\0';
    }
    ck_assert_int_eq(remove(path), 0);
    return name;
}

#define ROOT_OF(text) root_of((text), sizeof(text) - 1)

TEST(name_ends_at_a_space_or_at_the_end_of_the_tag)
{
    ck_assert_str_eq(ROOT_OF("<mujoco>"), "mujoco");
    ck_assert_str_eq(ROOT_OF("<mujoco model='a'>"), "mujoco");
    ck_assert_str_eq(ROOT_OF("<mujoco\n>"), "mujoco");
    ck_assert_str_eq(ROOT_OF("<mujoco/>"), "mujoco");
    ck_assert_str_eq(ROOT_OF("<mujocoinclude>"), "mujocoinclude");
    ck_assert_str_eq(ROOT_OF("<m:mujoco>"), "m:mujoco");
}

TEST(what_may_stand_before_the_root_is_passed_over)
{
    ck_assert_str_eq(ROOT_OF("\xef\xbb\xbf<robot>"), "robot");
    ck_assert_str_eq(ROOT_OF(" \t\r\n<robot>"), "robot");
    ck_assert_str_eq(ROOT_OF("<?xml version='1.0' encoding='UTF-8'?><robot>"), "robot");
    ck_assert_str_eq(ROOT_OF("\xef\xbb\xbf<?xml version='1.0'?>\n<?xml-model href='>'?>\n<robot>"),
                     "robot");
    ck_assert_str_eq(ROOT_OF("<!DOCTYPE robot SYSTEM 'a>b'><robot>"), "robot");
    ck_assert_str_eq(ROOT_OF("<!DOCTYPE a [<!ENTITY e \"<mujoco>]>\"> <!-- ' > --> <?p ' > ?>]>"
                             "<robot>"),
                     "robot");
}

TEST(word_in_a_comment_is_no_root)
{
    ck_assert_str_eq(ROOT_OF("<!-- <mujoco> --><COLLADA>"), "COLLADA");
    ck_assert_str_eq(ROOT_OF("<!-- a -- <mujoco> -> ---><sdf>"), "sdf");
    ck_assert_str_eq(ROOT_OF("<!----><sdf>"), "sdf");
    ck_assert_str_eq(ROOT_OF("<robot><mujoco/></robot>"), "robot");
}

TEST(comment_of_any_length_is_passed_over)
{
    enum { LENGTH = 100000 };
    static char text[LENGTH + 32];

    memset(text, '-', sizeof text);
    memcpy(text, "<!--", 4);
    memcpy(text + LENGTH, "--><mujoco>", 11);
    ck_assert_str_eq(root_of(text, LENGTH + 11), "mujoco");
}

TEST(file_that_does_not_begin_as_xml_has_no_root)
{
    ck_assert_str_eq(ROOT_OF(""), "");
    ck_assert_str_eq(ROOT_OF("mujoco <mujoco>"), "");
    ck_assert_str_eq(ROOT_OF("glTF\2\0\0\0<mujoco>"), "");
    ck_assert_str_eq(ROOT_OF("<!-- <mujoco>"), "");
    ck_assert_str_eq(ROOT_OF("<?xml <mujoco>"), "");
    ck_assert_str_eq(ROOT_OF("<!DOCTYPE a [ <mujoco>"), "");
    ck_assert_str_eq(ROOT_OF("<!- <mujoco>"), "");
    ck_assert_str_eq(ROOT_OF("\xff\xfe<\0m\0"), "");
    ck_assert_str_eq(ROOT_OF("<>"), "");
    ck_assert_str_eq(ROOT_OF("<"), "");
    ck_assert_str_eq(ROOT_OF("</mujoco>"), "");
}

TEST(long_name_is_cut)
{
    char text[200] = "<";

    memset(text + 1, 'a', sizeof text - 1);
    ck_assert_uint_eq(strlen(root_of(text, sizeof text)), XML_NAME_SIZE - 1);
}

TEST(missing_file_has_no_root)
{
    char name[XML_NAME_SIZE];

    ck_assert(!xml_read_root(name, "xml_root_test.missing"));
}
