// SPDX-License-Identifier: MIT
// The columns of a forest: their memory, and the values that go with nodes to other slots and into
// clones. The tests go through the list of columns, so that a column that is added to it is tested.
// Builds with all checks have test columns, which other builds lack.
#include "tests/tree/one_edit.h"

// Bytes of the elements of one slot that move with its node, at most.
enum { ELEMENT_ROOM = 256 };

typedef struct elements {
    unsigned char bytes[ELEMENT_ROOM];
    size_t size;
} elements;

#define NOTE_STRUCTURE(name)
#define NOTE_POSE(name)                                                        \
    ck_assert_uint_le(out.size + sizeof *columns->name, sizeof out.bytes);     \
    memcpy(out.bytes + out.size, &columns->name[slot], sizeof *columns->name); \
    out.size += sizeof *columns->name;
#define NOTE_COPIED(name) NOTE_POSE(name)
#define NOTE_FRESH(name) NOTE_POSE(name)
#define NOTE_COLUMN(access, type, name, role, initial) NOTE_##role(name)

static elements elements_of(const espl__columns *columns, uint32_t slot)
{
    elements out = {.size = 0};

    ESPL__COLUMNS(NOTE_COLUMN)
    return out;
}

static void is_same(const elements *before, uint32_t slot)
{
    const elements now = elements_of(&forest->columns, slot);

    ck_assert_uint_eq(before->size, now.size);
    ck_assert_mem_eq(before->bytes, now.bytes, now.size);
}

// Values of the test columns that no other node has.
static void tell_apart(void)
{
#if ESPL_CHECKS >= 2
    for (uint32_t entity = 0; entity < fix.entities; ++entity) {
        if (fix.slots[entity] != ESPL__NO_SLOT) {
            forest->lineage[fix.slots[entity]] = espl__probe_of(entity + 1000);
        }
    }
#endif
}

// Values in slots without a node that no new node may keep.
static void spoil_free_slots(void)
{
#if ESPL_CHECKS >= 2
    for (uint32_t slot = 0; slot < forest->capacity; ++slot) {
        if (slot >= forest->end || forest->tree[slot] == ESPL__NO_TREE ||
            !fixture_is_node(forest, slot)) {
            forest->probe[slot] = forest->lineage[slot] = UINT32_C(0xdeadbeef);
        }
    }
#endif
}

FIXTURE(set_up, tear_down);

#define NOTE_ARRAY(access, type, name, role, initial)            \
    begins[count] = (const unsigned char *)forest->columns.name; \
    sizes[count++] = sizeof(type);

TEST(each_column_has_memory_of_its_own)
{
    enum { COLUMNS_LIMIT = 64 };
    const unsigned char *begins[COLUMNS_LIMIT];
    size_t sizes[COLUMNS_LIMIT], count = 0, sum = 0;

    for (uint32_t slots = 1; slots < 3000; slots = slots * 3 + 1) {
        ck_ok(espl__forest_reserve(forest, slots, 0));
        const unsigned char *const block = forest->block;

        count = sum = 0;
        ESPL__COLUMNS(NOTE_ARRAY)
        ck_assert_uint_ge(count, 6);
        for (size_t i = 0; i < count; ++i) {
            const size_t begin = (size_t)(begins[i] - block);
            const size_t end = i + 1 < count ? (size_t)(begins[i + 1] - block) : forest->block_size;

            ck_assert_uint_eq((uintptr_t)begins[i] % 64, 0);
            ck_assert_uint_le(begin + forest->capacity * sizes[i], end);
            sum += sizes[i];
        }
        // Nothing but the distances of columns is lost.
        ck_assert_uint_le(forest->block_size, forest->capacity * sum + count * 384);
    }
}

TEST(elements_go_with_their_nodes_to_other_slots)
{
    static elements before[FIXTURE_NODES];
    const uint64_t seeds = test_scaled(600);
    uint64_t moves = 0;

    for (uint64_t seed = 0; seed < seeds; ++seed) {
        uint64_t random = seed;

        fixture_random_forest(seed % 2 == 0, &random);
        tell_apart();
        for (uint32_t entity = 0; entity < fix.entities; ++entity) {
            if (fix.slots[entity] != ESPL__NO_SLOT) {
                before[entity] = elements_of(&forest->columns, fix.slots[entity]);
            }
        }
        for (uint32_t tree = 0; tree < forest->tree_end; ++tree) {
            if (forest->trees[tree].capacity != 0 && test_one_in(&random, 2)) {
                ck_assert(espl__tree_compact(forest, tree, fixture_moved, &fix));
            }
        }
        ck_assert(espl__forest_compact(forest, seed % 3 == 0, fixture_moved, &fix));
        ck_ok(espl__forest_reserve(forest, 1 + test_below(&random, 200), 0));
        for (uint32_t entity = 0; entity < fix.entities; ++entity) {
            if (fix.slots[entity] != ESPL__NO_SLOT) {
                is_same(&before[entity], fix.slots[entity]);
                moves += fix.moves[entity];
            }
        }
        fixture_is_valid(&fix);
        tear_down();
        set_up();
    }
    ck_assert_uint_gt(moves, 10 * seeds);
}

#define CHECK_STRUCTURE(name, initial)
#define CHECK_POSE(name, initial)
#define CHECK_COPIED(name, initial)                                                           \
    if (original != ESPL__NO_SLOT) {                                                          \
        ck_assert_mem_eq(&forest->name[slot], &forest->name[original], sizeof *forest->name); \
    } else {                                                                                  \
        ck_assert(forest->name[slot] == (initial));                                           \
    }
#define CHECK_FRESH(name, initial) ck_assert(forest->name[slot] == (initial));
#define CHECK_COLUMN(access, type, name, role, initial) CHECK_##role(name, initial)

static void has_elements_of(uint32_t slot, uint32_t original)
{
    ck_assert_uint_lt(slot, forest->end);
    ck_assert(original == ESPL__NO_SLOT || slot != original);
    ESPL__COLUMNS(CHECK_COLUMN)
}

TEST(clones_have_the_elements_of_their_originals_and_new_nodes_have_initial_ones)
{
    const uint64_t seeds = test_scaled(600);
    uint64_t cloned = 0;

    for (uint64_t seed = 0; seed < seeds; ++seed) {
        uint64_t random = seed;
        uint32_t first = 0;
        espl__template template;

        fixture_random_forest(true, &random);
        tell_apart();
        spoil_free_slots();
        fixture_begin_edit(&edit, 128);
        const uint32_t parent = fixture_choose(&random), source = fixture_choose(&random);

        if (parent != ESPL__NO_SLOT && source != ESPL__NO_SLOT) {
            espl__new_node place = {.parent = test_one_in(&random, 3) ? ESPL__NO_SLOT : parent,
                                    .before = ESPL__NO_SLOT,
                                    .placement = espl__placement_identity()};

            ck_ok(espl__edit_find_template(&edit, source, &template));
            ck_ok(espl__edit_prepare_new(&edit, &place));
            ck_ok(espl__edit_clone(&edit, &template, &place, &first));
            for (uint32_t i = 0; i < template.count; ++i) {
                has_elements_of(edit.made[first + i].slot, template.nodes[i].slot);
            }
            cloned += template.count;
            place.parent = edit.made[first].slot;
            ck_ok(espl__edit_prepare_new(&edit, &place));
            ck_ok(espl__edit_clone(&edit, &espl__template_of_none, &place, &first));
            has_elements_of(edit.made[first].slot, ESPL__NO_SLOT);
        }
        espl__edit_undo(&edit);
        fixture_close_nursery(true);
        tear_down();
        set_up();
    }
    ck_assert_uint_gt(cloned, seeds);
}

// --- The test columns ---

#if ESPL_CHECKS >= 2

TEST(a_node_whose_columns_stayed_behind_is_found)
{
    const uint32_t tree = fixture_tree(&fix, 4), root = forest->trees[tree].base;
    const uint32_t child = fixture_add(&fix, root, ESPL__NO_SLOT);
    const uint32_t probe = forest->probe[child];
    uint32_t slot = 0;
    size_t detail = 0;

    fixture_is_valid(&fix);
    forest->probe[child] = forest->probe[root];
    ck_assert_str_eq(espl__forest_broken_rule(forest, &slot, &detail),
                     "columns move with their nodes");
    ck_assert_uint_eq(slot, child);
    forest->probe[child] = probe;
    forest->lineage[child] = ESPL__NO_PROBE;
    ck_assert_str_eq(espl__forest_broken_rule(forest, &slot, &detail),
                     "columns move with their nodes");
}

#endif
