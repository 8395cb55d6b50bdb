// SPDX-License-Identifier: MIT
#include "tests/runner.h"

#include <espalier/base.h>

#include <string.h>

static const espl_status statuses[] = {
    ESPL_OK,
    ESPL_LOSSY,
    ESPL_PARTLY,
    ESPL_OVERFLOW,
    ESPL_ERR_NO_MEMORY,
    ESPL_ERR_ARGUMENT,
    ESPL_ERR_NULL_ENTITY,
    ESPL_ERR_DEAD,
    ESPL_ERR_FOREIGN,
    ESPL_ERR_CYCLE,
    ESPL_ERR_NOT_FINITE,
    ESPL_ERR_RANGE,
    ESPL_ERR_LIMIT,
    ESPL_ERR_BUSY,
    ESPL_ERR_NO_TRANSFORM,
    ESPL_ERR_NO_COMPONENT,
    ESPL_ERR_EXISTS,
    ESPL_ERR_PLAYED,
    ESPL_ERR_EXECUTOR,
    ESPL_ERR_NOT_CHILD,
    ESPL_ERR_COPIES_PARENT,
    ESPL_ERR_SHEAR,
    ESPL_ERR_NOT_OWNER,
    ESPL_ERR_PENDING,
    ESPL_ERR_UNSUPPORTED,
    ESPL_ERR_ARITHMETIC,
    ESPL_ERR_FORMAT,
    ESPL_ERR_VERSION,
    ESPL_ERR_TOO_OLD,
    ESPL_ERR_SINK,
    ESPL_ERR_GAP,
};

enum { STATUS_COUNT = sizeof statuses / sizeof *statuses };

TEST(names_and_texts_are_distinct)
{
    for (int i = 0; i < STATUS_COUNT; ++i) {
        for (int j = 0; j < i; ++j) {
            ck_assert_str_ne(espl_status_name(statuses[i]), espl_status_name(statuses[j]));
            ck_assert_str_ne(espl_status_text(statuses[i]), espl_status_text(statuses[j]));
        }
    }
}

TEST(refusals_are_negative_and_remarks_positive)
{
    for (int i = 0; i < STATUS_COUNT; ++i) {
        const bool is_refusal = strncmp(espl_status_name(statuses[i]), "ESPL_ERR_", 9) == 0;

        ck_assert_int_eq(is_refusal, statuses[i] < 0);
    }
    ck_assert_int_eq(ESPL_OK, 0);
    ck_assert_int_gt(ESPL_LOSSY, 0);
    ck_assert_int_gt(ESPL_PARTLY, 0);
    ck_assert_int_eq(ESPL_OVERFLOW, 3);
}

TEST(a_refusal_alone_is_a_failure)
{
    for (int i = 0; i < STATUS_COUNT; ++i) {
        const bool is_refusal = strncmp(espl_status_name(statuses[i]), "ESPL_ERR_", 9) == 0;

        ck_assert_int_eq(espl_failed(statuses[i]), is_refusal);
    }
}

// One sentence: it ends once, and what to do follows a semicolon.
TEST(a_text_is_one_sentence_that_says_what_to_do)
{
    for (int i = 0; i < STATUS_COUNT; ++i) {
        const char *const text = espl_status_text(statuses[i]);
        const char *const semicolon = strchr(text, ';');

        ck_assert_msg(text[0] >= 'A' && text[0] <= 'Z', "%s", text);
        ck_assert_msg(text[strlen(text) - 1] == '.' && strstr(text, ". ") == NULL, "%s", text);
        ck_assert_msg(semicolon != NULL && strlen(semicolon) > 10, "%s", text);
        ck_assert_msg(strchr(text, '\n') == NULL, "%s", text);
    }
    ck_assert_ptr_nonnull(strstr(espl_status_text(ESPL_ERR_PENDING),
                                 "play the command buffer, then espl_command_buffer_resolve()"));
}

// Every number in reach that is named is a status of the list above, and so none is forgotten here.
TEST(every_named_number_is_a_status)
{
    int named = 0;

    for (int number = -1000; number <= 1000; ++number) {
        const espl_status status = (espl_status)number;
        const bool is_named = strcmp(espl_status_name(status), "unknown status") != 0;

        named += is_named;
        if (!is_named) {
            ck_assert_str_eq(espl_status_text(status), "Not a status of this library.");
        }
    }
    ck_assert_int_eq(named, STATUS_COUNT);
}
