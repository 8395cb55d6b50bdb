// SPDX-License-Identifier: MIT
#include "tests/store/fixture.h"

static fixture fix;

enum { BUILT_IN = ESPL_DISABLED, FIRST = BUILT_IN + 1 };

static void set_up(void)
{
    fixture_begin(&fix);
}

static void tear_down(void)
{
    fixture_is_sound(&fix);
    fixture_end(&fix);
}

static espl_status try(const char *name, size_t size, size_t alignment)
{
    const espl_component_def def = {.name = name, .size = size, .alignment = alignment};
    espl_component number = 999;
    const espl_status status = espl__component_register(&fix.store, &def, &number);

    if (status != ESPL_OK) {
        ck_assert_uint_eq(number, 999);
    }
    return status;
}

FIXTURE(set_up, tear_down);

TEST(numbers_count_up_in_order_of_registration)
{
    ck_assert_uint_eq(fixture_component(&fix, "mass", 4, 4), 7);
    ck_assert_uint_eq(fixture_component(&fix, "name", 32, 0), 8);
    ck_assert_uint_eq(fixture_component(&fix, "is-lit", 0, 0), 9);

    ck_assert_uint_eq(espl__component_info_of(&fix.store, 8)->size, 32);
    ck_assert_uint_eq(espl__component_info_of(&fix.store, 8)->alignment, 1);
}

TEST(unsound_definitions_are_refused)
{
    char name[258];

    memset(name, 'n', sizeof name);
    name[256] = '\0';
    ck_status(try(NULL, 4, 4), ESPL_ERR_ARGUMENT);
    ck_status(try("", 4, 4), ESPL_ERR_ARGUMENT);
    ck_status(try(name, 4, 4), ESPL_ERR_ARGUMENT);
    ck_status(try("a", ESPL_COMPONENT_SIZE_LIMIT + 1, 1), ESPL_ERR_LIMIT);
    ck_status(try("a", SIZE_MAX, 1), ESPL_ERR_LIMIT);
    ck_status(try("a", SIZE_MAX / 2 + 5, 1), ESPL_ERR_LIMIT);
    ck_status(try("a", 12, 3), ESPL_ERR_ARGUMENT);
    ck_status(try("a", 1024, 512), ESPL_ERR_ARGUMENT);
    ck_status(try("a", 6, 4), ESPL_ERR_ARGUMENT);
    ck_status(try("a", 128, 256), ESPL_ERR_ARGUMENT);
    ck_assert_uint_eq(fix.store.component_count, BUILT_IN);
    ck_assert_uint_eq(espl__component_find(&fix.store, "a"), 0);

    name[255] = '\0';
    ck_ok(try(name, ESPL_COMPONENT_SIZE_LIMIT, 256));
    ck_ok(try("a", 0, 256));
}

TEST(taken_name_is_refused)
{
    ck_ok(try("mass", 4, 4));

    ck_status(try("mass", 8, 8), ESPL_ERR_EXISTS);
    ck_status(try("prefab", 0, 0), ESPL_ERR_EXISTS);
    ck_ok(try("Mass", 4, 4));
    ck_ok(try("mas", 4, 4));
    ck_assert_uint_eq(espl__component_find(&fix.store, "mass"), 7);
    ck_assert_uint_eq(espl__component_info_of(&fix.store, 7)->size, 4);
}

TEST(name_is_copied)
{
    char name[] = "mass";

    ck_ok(try(name, 4, 4));
    memset(name, 'x', sizeof name - 1);
    ck_assert_uint_eq(espl__component_find(&fix.store, "mass"), 7);
    ck_assert_uint_eq(espl__component_find(&fix.store, name), 0);
}

TEST(names_of_equal_hash_are_told_apart)
{
    static const char *const pairs[][2] = {
        {"costarring", "liquid"}, {"declinate", "macallums"}, {"altarage", "zinke"}};

    for (size_t i = 0; i < 3; ++i) {
        ck_assert_uint_eq(espl__hash_bytes(pairs[i][0], strlen(pairs[i][0])),
                          espl__hash_bytes(pairs[i][1], strlen(pairs[i][1])));
        ck_ok(try(pairs[i][0], 4, 4));
        ck_assert_uint_eq(espl__component_find(&fix.store, pairs[i][1]), 0);
        ck_ok(try(pairs[i][1], 8, 8));
        ck_status(try(pairs[i][1], 8, 8), ESPL_ERR_EXISTS);
        ck_assert_uint_eq(espl__component_find(&fix.store, pairs[i][0]), FIRST + 2 * i);
        ck_assert_uint_eq(espl__component_find(&fix.store, pairs[i][1]), FIRST + 1 + 2 * i);
    }
}

// BUGS K12: what is not there is not found, and nothing past the end is read.
TEST(unknown_numbers_and_names_are_not_found)
{
    ck_assert_ptr_null(espl__component_info_of(&fix.store, 0));
    ck_assert_ptr_null(espl__component_info_of(&fix.store, FIRST));
    ck_assert_ptr_null(espl__component_info_of(&fix.store, ESPL_COMPONENT_LIMIT + 1));
    ck_assert_ptr_null(espl__component_info_of(&fix.store, UINT32_MAX));
    ck_assert_uint_eq(espl__component_find(&fix.store, ""), 0);
    ck_assert_uint_eq(espl__component_find(&fix.store, "placemen"), 0);
    ck_assert_uint_eq(espl__component_find(&fix.store, "placement "), 0);
}

// --- References ---

static espl_status try_references(size_t size, const uint32_t *references, size_t count)
{
    const espl_component_def def = {
        .name = "bond", .size = size, .references = references, .reference_count = count};
    espl_component number = 999;
    const espl_status status = espl__component_register(&fix.store, &def, &number);

    ck_assert(status == ESPL_OK || number == 999);
    return status;
}

TEST(references_are_copied)
{
    uint32_t references[] = {4, 12, 24};
    const espl__component_info *const plain =
        espl__component_info_of(&fix.store, fixture_component(&fix, "mass", 4, 4));

    ck_assert_uint_eq(fix.store.referring_count, 0);
    ck_ok(try_references(32, references, 3));
    const espl__component_info *const info = espl__component_info_of(&fix.store, FIRST + 1);
    const uint32_t expected[] = {4, 12, 24};

    memset(references, 0xff, sizeof references);
    ck_assert_uint_eq(info->reference_count, 3);
    ck_assert_mem_eq(info->references, expected, sizeof expected);
    ck_assert_uint_eq(plain->reference_count, 0);
    ck_assert_ptr_null(plain->references);
    ck_assert_uint_eq(fix.store.referring_count, 1);
}

TEST(unsound_references_are_refused)
{
    static const uint32_t first[] = {0}, past[] = {0, 9}, across[] = {0, 7}, twice[] = {8, 8},
                          descending[] = {8, 0}, far[] = {UINT32_MAX};
    uint32_t many[ESPL_REFERENCE_LIMIT + 1];

    for (uint32_t i = 0; i <= ESPL_REFERENCE_LIMIT; ++i) {
        many[i] = i * 8;
    }
    ck_status(try_references(16, NULL, 1), ESPL_ERR_ARGUMENT);
    ck_status(try_references(16, past, 2), ESPL_ERR_ARGUMENT);
    ck_status(try_references(16, across, 2), ESPL_ERR_ARGUMENT);
    ck_status(try_references(16, twice, 2), ESPL_ERR_ARGUMENT);
    ck_status(try_references(16, descending, 2), ESPL_ERR_ARGUMENT);
    ck_status(try_references(16, far, 1), ESPL_ERR_ARGUMENT);
    ck_status(try_references(0, first, 1), ESPL_ERR_ARGUMENT);
    ck_status(try_references(7, first, 1), ESPL_ERR_ARGUMENT);
    ck_status(try_references(4096, many, ESPL_REFERENCE_LIMIT + 1), ESPL_ERR_LIMIT);
    ck_status(try_references(4096, first, SIZE_MAX), ESPL_ERR_LIMIT);
    ck_assert_uint_eq(fix.store.referring_count, 0);
    ck_assert_uint_eq(fix.store.component_count, BUILT_IN);

    ck_ok(try_references(4096, many, ESPL_REFERENCE_LIMIT));
    ck_assert_uint_eq(fix.store.referring_count, 1);
}

TEST(references_may_be_named_and_not_counted)
{
    static const uint32_t past[] = {100};

    ck_ok(try_references(16, past, 0));
    ck_assert_ptr_null(espl__component_info_of(&fix.store, FIRST)->references);
    ck_assert_uint_eq(fix.store.referring_count, 0);
}
