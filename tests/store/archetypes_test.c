// SPDX-License-Identifier: MIT
#include "tests/base/abort.h"
#include "tests/store/fixture.h"

#include <stdio.h>

static fixture fix;

static void set_up(void)
{
    fixture_begin(&fix);
}

static void tear_down(void)
{
    fixture_is_sound(&fix);
    fixture_end(&fix);
}

static const espl__archetype *at(uint32_t number)
{
    return &fix.store.archetypes[number];
}

static void register_up_to(uint32_t limit, size_t size, size_t alignment)
{
    char name[16];

    for (uint32_t number = ESPL_DISABLED + 1; number <= limit; ++number) {
        snprintf(name, sizeof name, "c%u", number);
        fixture_component(&fix, name, size, alignment);
    }
}

static uint32_t change(uint32_t from, const espl_component *add, size_t add_count,
                       const espl_component *remove, size_t remove_count)
{
    uint32_t number = ESPL__NONE;

    ck_ok(espl__archetype_change(&fix.store, from, add, add_count, remove, remove_count, &number));
    return number;
}

FIXTURE(set_up, tear_down);

TEST(equal_sets_share_an_archetype)
{
    const espl_component first[] = {1, 3, 5}, second[] = {1, 3}, third[] = {1, 3, 5};
    const uint32_t a = fixture_archetype(&fix, first, 3);
    const uint32_t b = fixture_archetype(&fix, second, 2);
    const uint32_t none = fixture_archetype(&fix, NULL, 0);

    ck_assert_uint_ne(a, b);
    ck_assert_uint_ne(a, none);
    ck_assert_uint_eq(fixture_archetype(&fix, third, 3), a);
    ck_assert_uint_eq(fixture_archetype(&fix, NULL, 0), none);
    ck_assert_uint_eq(espl__array_length(fix.store.archetypes), 3);
}

TEST(sets_of_equal_hash_are_told_apart)
{
    const espl_component first[] = {42, 81, 136, 193, 250}, second[] = {62, 120, 160, 212, 261};

    register_up_to(261, 4, 4);
    ck_assert_uint_eq(espl__hash_bytes(first, sizeof first),
                      espl__hash_bytes(second, sizeof second));
    const uint32_t a = fixture_archetype(&fix, first, sizeof first / sizeof *first);
    const uint32_t b = fixture_archetype(&fix, second, sizeof second / sizeof *second);

    ck_assert_uint_ne(a, b);
    ck_assert_uint_eq(fixture_archetype(&fix, first, sizeof first / sizeof *first), a);
    ck_assert_uint_eq(fixture_archetype(&fix, second, sizeof second / sizeof *second), b);
    ck_assert_mem_eq(at(b)->set, second, sizeof second);
}

TEST(set_may_be_as_large_as_the_limit)
{
    espl_component set[ESPL_SET_LIMIT + 1];
    uint32_t number = 777;

    register_up_to(ESPL_SET_LIMIT + 1, 0, 0);
    for (uint32_t i = 0; i <= ESPL_SET_LIMIT; ++i) {
        set[i] = i + 1;
    }
    ck_status(espl__archetype_of(&fix.store, set, ESPL_SET_LIMIT + 1, &number), ESPL_ERR_LIMIT);
    ck_assert_uint_eq(number, 777);
    ck_assert_uint_eq(espl__array_length(fix.store.archetypes), 0);

    const uint32_t full = fixture_archetype(&fix, set, ESPL_SET_LIMIT);
    const espl_component last = ESPL_SET_LIMIT + 1, first = 1;
    ck_status(espl__archetype_change(&fix.store, full, &last, 1, NULL, 0, &number), ESPL_ERR_LIMIT);
    ck_assert_uint_eq(number, 777);

    // One out and one in fits; what is there already takes no place.
    const uint32_t shifted = change(full, &last, 1, &first, 1);
    ck_assert_mem_eq(at(shifted)->set, set + 1, ESPL_SET_LIMIT * sizeof *set);
    ck_assert_uint_eq(change(full, set, ESPL_SET_LIMIT, NULL, 0), full);
}

TEST(change_adds_and_removes_in_any_order)
{
    register_up_to(9, 4, 4);
    const espl_component before[] = {2, 6, 8}, after[] = {1, 2, 7, 8, 9};
    const uint32_t from = fixture_archetype(&fix, before, 3);
    const espl_component add[] = {9, 1, 7, 9}, remove[] = {8, 6, 5}, keep[] = {9, 8, 1, 7};

    const uint32_t to = change(from, keep, 4, remove, 3);
    ck_assert_uint_eq(espl__array_length(at(to)->set), 5);
    ck_assert_mem_eq(at(to)->set, after, sizeof after);
    ck_assert_uint_eq(change(to, NULL, 0, NULL, 0), to);

    const espl_component without[] = {1, 2, 7, 9};
    ck_assert_uint_eq(change(from, add, 4, remove, 3), fixture_archetype(&fix, without, 4));
}

// BUGS F14: to remove what is absent and to add what is there is no change.
TEST(change_without_effect_leads_back)
{
    const espl_component set[] = {1, 2}, absent[] = {3, 5};
    const uint32_t from = fixture_archetype(&fix, set, 2);
    const size_t calls = fix.calls;

    ck_assert_uint_eq(change(from, set, 2, NULL, 0), from);
    ck_assert_uint_eq(change(from, NULL, 0, absent, 2), from);
    ck_assert_uint_eq(change(from, set, 2, set, 2), from);
    ck_assert_uint_eq(espl__array_length(fix.store.archetypes), 1);
    ck_assert_uint_eq(fix.calls, calls);
    ck_assert_uint_eq(change(from, NULL, 0, set, 2), fixture_archetype(&fix, NULL, 0));
}

TEST(role_edges_lead_to_the_same_set_with_another_role)
{
    register_up_to(70, 4, 4);
    const espl_component set[] = {1, 2, 6, 70}, as_member[] = {1, 4, 6, 70}, bare[] = {6};
    const uint32_t solo = fixture_archetype(&fix, set, 4);
    uint32_t root = 0, member = 0, back = 0;

    ck_ok(espl__archetype_role(&fix.store, solo, ESPL_ROOT, &root));
    ck_ok(espl__archetype_role(&fix.store, root, ESPL_MEMBER, &member));
    ck_ok(espl__archetype_role(&fix.store, member, ESPL_SOLO, &back));
    ck_assert_uint_eq(back, solo);
    ck_assert_uint_eq(member, fixture_archetype(&fix, as_member, 4));
    ck_assert(espl__archetype_has(&fix.store, root, ESPL_ROOT));
    ck_assert(!espl__archetype_has(&fix.store, root, ESPL_SOLO));
    ck_assert(!espl__archetype_has(&fix.store, root, ESPL_MEMBER));

    // Its own role, one it has to begin with, and the cached way.
    ck_ok(espl__archetype_role(&fix.store, solo, ESPL_SOLO, &back));
    ck_assert_uint_eq(back, solo);
    ck_ok(espl__archetype_role(&fix.store, fixture_archetype(&fix, bare, 1), ESPL_SOLO, &back));
    ck_assert(espl__archetype_has(&fix.store, back, ESPL_SOLO));
    fix.fail_at = fix.calls + 1;
    ck_ok(espl__archetype_role(&fix.store, solo, ESPL_ROOT, &back));
    ck_assert_uint_eq(back, root);
}

// BUGS K12: below, between, past the end; on both sides of the bits.
TEST(component_is_found_where_it_is_alone)
{
    register_up_to(200, 4, 4);
    const espl_component set[] = {1, 5, 63, 64, 65, 128, 200};
    const uint32_t number = fixture_archetype(&fix, set, 7);

    for (espl_component component = 0; component < 1100; ++component) {
        bool expected = false;
        for (size_t i = 0; i < 7; ++i) {
            expected = expected || set[i] == component;
        }
        ck_assert(espl__archetype_has(&fix.store, number, component) == expected);
    }
    ck_assert(!espl__archetype_has(&fix.store, number, UINT32_MAX));
    ck_assert(!espl__archetype_has(&fix.store, fixture_archetype(&fix, NULL, 0), 1));
}

// Bytes of a block whose columns end there: versions of the handles and of each column follow.
static size_t with_versions(size_t end, size_t columns)
{
    return (end + 7) / 8 * 8 + 8 * (columns + 1);
}

TEST(tag_has_no_column)
{
    const espl_component set[] = {1, 2, 5};
    const uint32_t number = fixture_archetype(&fix, set, 3);
    const uint32_t bare = fixture_archetype(&fix, set + 1, 2);

    ck_assert_uint_eq(espl__array_length(at(number)->columns), 1);
    ck_assert_uint_eq(at(number)->columns[0].component, ESPL_TRANSFORM);
    ck_assert_uint_eq(at(number)->placement_offset, at(number)->columns[0].offset);
    ck_assert_uint_eq(at(number)->chunk_bytes, with_versions(ESPL__CHUNK_ROWS * 12, 1));
    ck_assert_uint_eq(espl__array_length(at(bare)->columns), 0);
    ck_assert_uint_eq(at(bare)->placement_offset, ESPL__NONE);
    ck_assert_uint_eq(at(bare)->chunk_bytes, with_versions(ESPL__CHUNK_ROWS * 8, 0));
}

// BUGS J8: every column of every row count stands at its alignment, in memory aligned enough.
TEST_LOOP(columns_are_aligned, 0, 9)
{
    const size_t alignment = (size_t)1 << _i;
    const size_t sizes[] = {1, alignment, 3, 3 * alignment, 0, alignment * 8};
    espl_component set[6];
    uint32_t index = 0;

    for (uint32_t i = 0; i < 6; ++i) {
        char name[16];

        snprintf(name, sizeof name, "c%u", i);
        set[i] = fixture_component(&fix, name, sizes[i], i % 2 == 0 ? 1 : alignment);
    }
    set[5] = fixture_component(&fix, "large", sizes[5], alignment);
    const uint32_t number = fixture_archetype(&fix, set, 6);
    fixture_create(&fix, number, &index, 1);

    const espl__chunk *const chunk = &fix.store.chunks[at(number)->chunks[0]];
    ck_assert_uint_eq((uintptr_t)chunk->bytes % 64, 0);
    ck_assert_uint_ge(at(number)->capacity, 1);
    ck_assert_uint_le(at(number)->chunk_bytes, ESPL__CHUNK_BYTES);
    for (size_t i = 0; i < 6; ++i) {
        const espl__component_info *const info = espl__component_info_of(&fix.store, set[i]);
        const unsigned char *const column = espl__chunk_column(&fix.store, 0, set[i]);

        ck_assert((column == NULL) == (info->size == 0));
        ck_assert_uint_eq((uintptr_t)column % info->alignment, 0);
        ck_assert(
            column == NULL ||
            (column >= chunk->bytes + at(number)->capacity * sizeof(espl_entity) &&
             column + at(number)->capacity * info->size <= chunk->bytes + at(number)->chunk_bytes));
    }
}

TEST(chunk_is_as_large_as_its_rows_need)
{
    const espl_component byte = fixture_component(&fix, "byte", 1, 1);
    const espl_component page = fixture_component(&fix, "page", 4096, 1);
    const espl_component line = fixture_component(&fix, "line", 512, 256);
    const espl_component small[] = {byte}, large[] = {byte, page}, lines[] = {byte, line};
    const uint32_t a = fixture_archetype(&fix, small, 1);
    const uint32_t b = fixture_archetype(&fix, large, 2);
    const uint32_t c = fixture_archetype(&fix, lines, 2);

    ck_assert_uint_eq(at(a)->capacity, ESPL__CHUNK_ROWS);
    ck_assert_uint_eq(at(a)->chunk_bytes, with_versions(ESPL__CHUNK_ROWS * 9, 1));
    ck_assert_uint_eq(at(b)->capacity, 3);
    ck_assert_uint_eq(at(b)->chunk_bytes, with_versions(3 * (8 + 1 + 4096), 2));
    // 30 rows: 270 bytes, 512 with padding, then 30 * 512 more; with a row more there is no room
    // for the versions.
    ck_assert_uint_eq(at(c)->capacity, ESPL__CHUNK_ROWS < 30 ? ESPL__CHUNK_ROWS : 30);
    ck_assert_uint_eq(at(c)->block_alignment, 256);
}

TEST(row_larger_than_a_chunk_has_a_block_of_its_own)
{
    espl_component set[ESPL_SET_LIMIT];
    uint32_t indices[3];

    register_up_to(ESPL_SET_LIMIT + ESPL_DISABLED, 4096, 256);
    for (uint32_t i = 0; i < ESPL_SET_LIMIT; ++i) {
        set[i] = ESPL_DISABLED + 1 + i;
    }
    const uint32_t five = fixture_archetype(&fix, set, 5);
    const uint32_t all = fixture_archetype(&fix, set, ESPL_SET_LIMIT);

    ck_assert_uint_eq(at(five)->capacity, 1);
    ck_assert_uint_eq(at(five)->chunk_bytes, with_versions(256 + 5 * 4096, 5));
    ck_assert_uint_eq(at(all)->capacity, 1);
    ck_assert_uint_eq(at(all)->chunk_bytes,
                      with_versions(256 + ESPL_SET_LIMIT * 4096, ESPL_SET_LIMIT));

    fixture_create(&fix, all, indices, 3);
    for (size_t i = 0; i < 3; ++i) {
        memset(espl__row_value(&fix.store, indices[i], set[63]), (int)i + 1, 4096);
    }
    fixture_destroy(&fix, indices[0]);
    fixture_settle(&fix);
    for (size_t i = 1; i < 3; ++i) {
        const unsigned char *const value = espl__row_value(&fix.store, indices[i], set[63]);
        ck_assert_uint_eq(value[0], i + 1);
        ck_assert_uint_eq(value[4095], i + 1);
    }
}

// BUGS E9, E10: a set read from the store's own memory while its tables grow.
TEST(own_memory_may_be_the_input)
{
    register_up_to(64, 4, 4);
    const espl_component first[] = {6, 7, 8};
    const uint32_t from = fixture_archetype(&fix, first, 3);

    for (uint32_t extra = 9; extra <= 64; ++extra) {
        const uint32_t to = change(from, &extra, 1, at(from)->set, 1);
        const espl_component expected[] = {7, 8, extra};

        ck_assert_mem_eq(at(to)->set, expected, sizeof expected);
        ck_assert_uint_eq(fixture_archetype(&fix, at(to)->set, 3), to);
    }
}

TEST(archetype_without_memory_is_not_made)
{
    const espl_component base[] = {1, 2, 6, 7};
    size_t failures = 0;

    register_up_to(80, 4, 4);
    const uint32_t from = fixture_archetype(&fix, base, 4);
    for (uint32_t extra = 8; extra <= 80; ++extra) {
        const size_t before = espl__array_length(fix.store.archetypes);

        for (size_t n = 1;; ++n) {
            uint32_t to = 777;

            fix.fail_at = fix.calls + n;
            const espl_status status =
                espl__archetype_change(&fix.store, from, &extra, 1, NULL, 0, &to);
            if (status == ESPL_OK) {
                ck_assert_uint_eq(to, before);
                break;
            }
            ck_status(status, ESPL_ERR_NO_MEMORY);
            ck_assert_uint_eq(to, 777);
            ck_assert_uint_eq(espl__array_length(fix.store.archetypes), before);
            failures += 1;
        }
        fixture_is_sound(&fix);
    }
    fix.fail_at = 0;
    ck_assert_uint_gt(failures, 2 * 72);
}

static const espl_component *wrong_set;

static void make_wrong_archetype(void)
{
    fixture_archetype(&fix, wrong_set, 2);
}

TEST(set_out_of_order_or_of_strangers_is_no_archetype)
{
    const espl_component unknown[] = {ESPL_TRANSFORM, ESPL_COMPONENT_LIMIT};
    const espl_component twice[] = {ESPL_ROOT, ESPL_ROOT}, falling[] = {ESPL_ROOT, ESPL_TRANSFORM};
    const espl_component *const wrong[] = {unknown, twice, falling};
    char said[256];

    for (size_t i = 0; i < 3 && ESPL_CHECKS >= 1; ++i) {
        wrong_set = wrong[i];
        expect_abort(make_wrong_archetype, said, sizeof said);
        ck_assert_ptr_nonnull(strstr(said, "is_set"));
    }
}
