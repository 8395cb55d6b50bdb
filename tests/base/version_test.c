// SPDX-License-Identifier: MIT
// One version: of the package, of the headers and of the library.
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tests/runner.h"

#include <espalier/base.h>

#include <stdio.h>

#define HEADER_VERSION ESPL_VERSION(ESPL_VERSION_MAJOR, ESPL_VERSION_MINOR, ESPL_VERSION_PATCH)

#if HEADER_VERSION < ESPL_VERSION(0, 1, 0) || HEADER_VERSION >= ESPL_VERSION(1000, 0, 0)
#error "the preprocessor cannot compare versions"
#endif

TEST(package_headers_and_library_are_of_one_version)
{
    char text[32];

    snprintf(text, sizeof text, "%d.%d.%d", ESPL_VERSION_MAJOR, ESPL_VERSION_MINOR,
             ESPL_VERSION_PATCH);
    ck_assert_str_eq(text, PACKAGE_VERSION);
    ck_assert_uint_eq(espl_version(), HEADER_VERSION);
}

TEST(later_versions_have_greater_numbers)
{
    const uint32_t versions[] = {ESPL_VERSION(0, 0, 1),  ESPL_VERSION(0, 0, 999),
                                 ESPL_VERSION(0, 1, 0),  ESPL_VERSION(0, 2, 0),
                                 ESPL_VERSION(0, 2, 17), ESPL_VERSION(0, 10, 0),
                                 ESPL_VERSION(1, 0, 0),  ESPL_VERSION(2, 3, 4)};

    for (size_t i = 1; i < sizeof versions / sizeof *versions; ++i) {
        ck_assert_uint_gt(versions[i], versions[i - 1]);
    }
    ck_assert_uint_eq(ESPL_VERSION(2, 3, 4), 2003004);
    ck_assert_uint_eq(ESPL_VERSION(1 - 1, 1 + 1, 2 * 2), 2004);
}
