// SPDX-License-Identifier: MIT
// The validator of a forest: each rule is broken in each way, and the validator names it. Each test
// then restores the forest.
#include "lib/tree/changes.h"
#include "lib/tree/plain_tree.h"
#include "lib/tree/propagate.h"
#include "tests/tree/fixture.h"

#include <math.h>

// A tree with a hole, one in order, one with side arrays, one that is free, and a solo.
static uint32_t holed, ordered, decked;
static uint32_t root, first, second, third, grandchild, hole;
static uint32_t top, left, right, low;
static uint32_t deck, keeper, stretched;

static const espl__kept all_kept = {.flags = ESPL_ABSOLUTE_POSITION | ESPL_ABSOLUTE_ROTATION |
                                             ESPL_ABSOLUTE_SCALE};

static void set_up(void)
{
    espl__placement placement = espl__placement_identity();

    fixture_begin(&fix);
    holed = fixture_tree(&fix, 8);
    const uint32_t gone = fixture_tree(&fix, 20);

    ordered = fixture_tree(&fix, 5);
    const uint32_t gone_too = fixture_tree(&fix, 20);

    decked = fixture_tree(&fix, 4);
    root = forest->trees[holed].base;
    hole = fixture_add(&fix, root, ESPL__NO_SLOT);
    first = fixture_add(&fix, root, ESPL__NO_SLOT);
    second = fixture_add(&fix, root, ESPL__NO_SLOT);
    third = fixture_add(&fix, root, ESPL__NO_SLOT);
    grandchild = fixture_add(&fix, first, ESPL__NO_SLOT);
    fixture_remove(&fix, hole);
    top = forest->trees[ordered].base;
    left = fixture_add(&fix, top, ESPL__NO_SLOT);
    right = fixture_add(&fix, top, ESPL__NO_SLOT);
    low = fixture_add(&fix, left, ESPL__NO_SLOT);
    deck = forest->trees[decked].base;
    stretched = fixture_add(&fix, deck, ESPL__NO_SLOT);
    keeper = fixture_add(&fix, deck, ESPL__NO_SLOT);
    placement.extra.stretch[1] = 2;
    fixture_place(&fix, stretched, &placement);
    placement = espl__placement_identity();
    placement.local.position[1] = placement.local.scale = 3;
    placement.kept = espl__kept_of(&placement.local, all_kept.flags);
    fixture_place(&fix, keeper, &placement);
    espl__propagate_by_links(forest, &forest->context, deck);
    espl__tree_release(forest, gone);
    espl__tree_release(forest, gone_too);
    espl__tree_mark_unsettled(forest, ordered);
    espl__tree_mark_unsettled(forest, decked);
    fixture_is_valid(&fix);
}

static void tear_down(void)
{
    espl__tree_unmark_unsettled(forest, ordered);
    espl__tree_unmark_unsettled(forest, decked);
    fixture_end(&fix);
}

// Write some bytes, see the proof name a rule, also where it checks most trees at once, and put the old ones
// back.
static void breaks(void *what, const void *value, size_t size, const char *rule)
{
    unsigned char kept[16];
    uint32_t slot = 0;
    size_t detail = 0;

    ck_assert_uint_le(size, sizeof kept);
    memcpy(kept, what, size);
    memcpy(what, value, size);
    const char *const found = espl__forest_broken_rule(forest, &slot, &detail);

    ck_assert_msg(found != NULL && strcmp(found, rule) == 0, "%s, not %s",
                  found != NULL ? found : "nothing is broken", rule);
    bool are_plain = false;
    const char *const quick = espl__forest_broken_rule_quick(forest, &slot, &detail, &are_plain);

    ck_assert_msg(quick != NULL && strcmp(quick, rule) == 0, "%s, not %s",
                  quick != NULL ? quick : "nothing is broken", rule);
    memcpy(what, kept, size);
    fixture_is_valid(&fix);
}

static void breaks_word(uint32_t *what, uint32_t value, const char *rule)
{
    breaks(what, &value, sizeof value, rule);
}

static void breaks_flags(uint32_t slot, unsigned flags, const char *rule)
{
    const uint8_t value = (uint8_t)(forest->flags[slot] ^ flags);

    breaks(&forest->flags[slot], &value, sizeof value, rule);
}

static void breaks_float(float *what, float value, const char *rule)
{
    breaks(what, &value, sizeof value, rule);
}

FIXTURE(set_up, tear_down);

TEST(ranges_have_room_and_slots_know_them)
{
    static const char room[] = "a range has room for the nodes of its tree";
    espl__tree *const t = &forest->trees[holed];

    breaks_word(&t->live, 0, room);
    breaks_word(&t->live, t->used + 1, room);
    breaks_word(&t->used, t->capacity + 1, room);
    breaks_word(&t->live, t->live - 1, "the nodes of a tree are counted");
    breaks_word(&forest->tree[root + 2], ordered, "slots know their tree");
}

TEST(holes_are_in_one_chain_and_clean)
{
    static const char chain[] = "the holes of a tree are in one chain";
    static const char clean[] =
        "a hole has no flags, and names the base of its range as its parent";
    espl__tree *const t = &forest->trees[holed];

    breaks_word(&t->hole, ESPL__NO_SLOT, chain);
    breaks_word(&t->hole, first, chain);
    breaks_word(&t->hole, top, chain);
    breaks_word(&t->hole, t->base + t->used, chain);
    breaks_word(&forest->links[hole].next, hole, chain);
    breaks_word(&forest->parent[hole], first, clean);
    breaks_flags(hole, ESPL__SLOT_BARE, clean);
    // A hole in a tree with side arrays.
    const uint32_t more = fixture_add(&fix, deck, stretched);

    forest->flags[more] = ESPL__SLOT_SIDE;
    fixture_remove(&fix, stretched);
    espl__side_of(forest, &forest->trees[decked])->extra_count = 0;
    fixture_is_valid(&fix);
    espl__side *const side = espl__side_of(forest, &forest->trees[decked]);

    breaks_word(&side->extra[stretched - deck].user_data, 1,
                "a hole has nothing in the side arrays");
}

TEST(links_name_each_other)
{
    static const char alone[] = "a root has neither siblings nor a link";
    static const char mutual[] = "siblings name each other";
    static const char name[] = "children name their parent";
    espl__links *const links = forest->links;

    breaks_word(&links[root].next, first, alone);
    breaks_word(&links[root].previous, first, alone);
    breaks_flags(root, ESPL__SLOT_FREE_LINK, alone);
    breaks_word(&forest->parent[root], hole, "a parent is a node of the same tree");
    breaks_word(&forest->parent[root], top, "a parent is a node of the same tree");
    breaks_word(&forest->parent[root], first,
                "the slot of a parent is below those of its children");
    breaks_word(&forest->parent[grandchild], hole, name);
    breaks_word(&forest->parent[first], grandchild, name);
    breaks_word(&links[first].first_child, top, name);
    breaks_word(&links[first].first_child, hole, name);
    breaks_word(&links[first].first_child, second, name);
    breaks_word(&links[third].next, first, name);
    breaks_word(&links[third].previous, first, mutual);
    breaks_word(&links[first].previous, second, "a first child names the last one");
    breaks_word(&links[first].first_child, ESPL__NO_SLOT,
                "each node is a root or among the children of one");
    breaks_word(&forest->trees[holed].roots, 2, "the roots of a tree are counted");
}

TEST(order_is_what_a_tree_says)
{
    static const char order[] = "a tree that says so is in breadth-first order";
    static const char single[] =
        "a tree has one root, at its base, or is unsettled and not in order";
    espl__tree *const t = &forest->trees[ordered];

    breaks_word(&forest->trees[holed].flags, ESPL__TREE_IN_ORDER,
                "a tree that is in order has no holes");
    // Siblings in another order than their slots.
    espl__node_unlink(forest, left);
    espl__node_link(forest, left, top, ESPL__NO_SLOT);
    fixture_is_valid(&fix);
    breaks_word(&t->flags, t->flags | ESPL__TREE_IN_ORDER, order);
    espl__node_unlink(forest, low);
    espl__node_link(forest, low, right, ESPL__NO_SLOT);
    // Two roots in one range.
    espl__node_unlink(forest, low);
    fixture_is_valid(&fix);
    breaks_word(&t->flags, t->flags | ESPL__TREE_IN_ORDER, single);
    breaks_word(&t->flags, t->flags & ~(uint32_t)ESPL__TREE_UNSETTLED, single);
    espl__node_link(forest, low, left, ESPL__NO_SLOT);
}

TEST(flags_and_side_arrays_agree)
{
    static const char edit[] = "no edit left anything behind";
    static const char agree[] = "inherit flags and kept parts agree";
    static const char counted[] = "the entries of side arrays are counted";
    espl__side *const side = espl__side_of(forest, &forest->trees[decked]);

    breaks_flags(first, ESPL__SLOT_SIDE, "slots know whether their tree has side arrays");
    breaks_flags(first, ESPL__SLOT_MOVED, edit);
    breaks_flags(first, ESPL__SLOT_MARK, edit);
    breaks_flags(first, ESPL__SLOT_STALE, edit);
    breaks_word(&forest->links[first].entity, ESPL__MADE, edit);
    breaks_flags(first, ESPL__SLOT_EXCEPTIONAL, "slots know whether their worlds are exceptional");
    breaks_flags(first, ESPL__SLOT_BARE, "slots know whether their worlds are exceptional");
    breaks_word(&espl__side_kept(side)[keeper - deck].flags, 0, agree);
    breaks_word(&espl__side_kept(side)[keeper - deck].flags, 0x8000, agree);
    breaks_word(&espl__side_kept(side)[keeper - deck].flags, ESPL_ABSOLUTE_X, agree);
    breaks_word(&espl__side_kept(side)[stretched - deck].flags, ESPL_ABSOLUTE_SCALE, agree);
    breaks_flags(keeper, ESPL__SLOT_BARE, "only a member with a transform has inherit flags");
    breaks_word(&side->capacity, side->capacity + 1, "side arrays fit the range of their tree");
    breaks_word(&forest->trees[decked].side, ESPL__HAS_SIDE,
                "headers know what their side arrays have");
    breaks_word(&side->extra_count, 2, counted);
    breaks_word(&side->kept_count, 0, counted);
    breaks_word(&forest->trees[decked].exceptional, 0,
                "the exceptional nodes of a tree are counted");
    breaks_word(&forest->trees[holed].moved, 1, edit);
    breaks_word(&forest->trees[holed].incoming, 1, edit);
    breaks_word(&forest->trees[holed].flags, ESPL__TREE_DUE, edit);
    breaks_word(&forest->nursery, holed, edit);
}

TEST(worlds_follow_from_finite_locals)
{
    static const char finite[] = "locals and kept parts are finite";
    static const char follows[] = "a world follows from the locals bit for bit";
    espl__side *const side = espl__side_of(forest, &forest->trees[decked]);
    espl_pose *const world = &espl__worlds_of(forest).to_store[first];

    breaks_float(&forest->local[first].position[0], INFINITY, finite);
    breaks_float(&espl__side_kept(side)[keeper - deck].pose.position[2], NAN, finite);
    breaks_float(&side->extra[stretched - deck].stretch[2], INFINITY, finite);
    for (int i = 0; i < 4; ++i) {
        breaks_float(&world->rotation[i], 0.5f, follows);
    }
    for (int i = 0; i < 3; ++i) {
        breaks_float(&world->position[i], i == 0 ? NAN : 3, follows);
    }
    breaks_float(&world->scale, 3, follows);
}

TEST(unsettled_trees_are_in_one_list)
{
    static const char list[] = "unsettled trees are in one list";
    const uint32_t late = forest->unsettled, early = forest->trees[late].next;

    breaks_word(&forest->unsettled, holed, list);
    breaks_word(&forest->unsettled, ESPL__NO_TREE, list);
    breaks_word(&forest->trees[early].previous, 1000, list);
    breaks_word(&forest->trees[early].previous, holed, list);
    breaks_word(&forest->trees[late].next, 1000, list);
    breaks_word(&forest->trees[late].next, ESPL__NO_TREE, list);
    breaks_word(&forest->trees[late].next, holed, list);
    breaks_word(&forest->trees[early].next, early, list);
}

TEST(free_ranges_and_headers_are_listed)
{
    static const char tile[] = "free ranges and trees tile the pool";
    static const char inside[] = "free ranges and trees stay inside the pool";
    static const char merged[] = "free ranges are merged and marked at both ends";
    static const char listed[] = "free ranges are listed by their size";
    static const char headers[] = "free headers are in one list";
    const uint32_t base = forest->trees[holed].base + forest->trees[holed].capacity;
    const uint32_t next = forest->trees[ordered].base + forest->trees[ordered].capacity;
    const uint32_t count = forest->links[base].first_child;
    const uint32_t unused = forest->free_tree;

    ck_assert_uint_eq(forest->tree[base], ESPL__NO_TREE);
    breaks_word(&forest->tree[base], holed, tile);
    breaks_word(&forest->tree[base], 1000, tile);
    breaks_word(&forest->links[base].first_child, 0, inside);
    breaks_word(&forest->links[base].first_child, 1000, inside);
    breaks_word(&forest->tree[base + count - 1], holed, merged);
    breaks_word(&forest->links[base + count - 1].first_child, count - 1, merged);
    breaks_word(&forest->links[base].first_child, count - 1, merged);
    ck_assert_uint_gt(count, 2);
    breaks_word(&forest->tree[base + 1], ESPL__NO_TREE, merged);
    breaks_word(&forest->links[base].previous, 1000, listed);
    breaks_word(&forest->links[base].next, 1000, listed);
    breaks_word(&forest->links[next].previous, next == base ? 1 : root, listed);
    breaks_word(&forest->links[next].next, root, listed);
    breaks_word(&forest->free_slots, forest->free_slots + 1, "free slots are counted");
    breaks_word(&forest->free_tree, ESPL__NO_TREE, headers);
    breaks_word(&forest->free_tree, holed, headers);
    breaks_word(&forest->free_tree, 1000, headers);
    breaks_word(&forest->trees[unused].next, unused, headers);
    breaks_word(&forest->trees[unused].capacity, 1, tile);
}

// Flip each bit of some bytes: both checks of the forest find the same.
static size_t flip_all(void *bytes, size_t size)
{
    unsigned char *const at = bytes;
    size_t kept = 0;

    for (size_t bit = 0; bit < size * 8; ++bit) {
        uint32_t slots[2];
        size_t details[2];
        bool are_plain = false;

        at[bit / 8] = (unsigned char)(at[bit / 8] ^ 1U << bit % 8);
        const char *const each = espl__forest_broken_rule(forest, &slots[0], &details[0]);
        const char *const quick =
            espl__forest_broken_rule_quick(forest, &slots[1], &details[1], &are_plain);

        ck_assert_msg(each == quick, "%s, not %s", quick == NULL ? "nothing" : quick,
                      each == NULL ? "nothing" : each);
        ck_assert_uint_eq(slots[0], slots[1]);
        kept += each == NULL ? 1 : 0;
        at[bit / 8] = (unsigned char)(at[bit / 8] ^ 1U << bit % 8);
    }
    return kept;
}

#define FLIP_COLUMN(access, type, name, role, initial) \
    kept += flip_all((void *)(uintptr_t)&forest->columns.name[t->base], t->used * sizeof(type));

TEST(a_plain_tree_with_a_flipped_bit_is_found_by_both_checks)
{
    espl__tree *const t = &forest->trees[ordered];
    size_t kept = 0;

    espl__tree_unmark_unsettled(forest, ordered);
    ck_assert(espl__tree_is_plain(forest, ordered));
    ck_assert(!espl__tree_is_plain(forest, holed));
    ck_assert(!espl__tree_is_plain(forest, decked));
    kept += flip_all(t, sizeof *t);
    // Debt, mark, flags of an edit, links of a settled tree and the number of no side arrays.
    ck_assert_uint_le(kept, 6 * 32);
    kept = 0;
    ESPL__COLUMNS(FLIP_COLUMN)
    // A link of a member is owned or free. Of each node a word is not compared: the test column, or without it
    // the entity. Some bits of a local are lost in rounding.
    ck_assert_uint_le(kept, t->used - 1 + t->used * (32 + 8));
    espl__tree_mark_unsettled(forest, ordered);
}

TEST(cells_and_their_size_are_there_together)
{
    static const char rule[] = "a world has cells where it has a size of cells";
    espl__cell *const none = NULL;

    breaks_float(&forest->cell_size, 64, rule);
    ck_assert(espl__cells_open(forest, 64));
    fixture_is_valid(&fix);
    breaks_float(&forest->cell_size, 0, rule);
    breaks_float(&forest->cell_size, 3, rule);
    breaks_float(&forest->cell_size, NAN, rule);
    breaks(&forest->tracks.cells, &none, sizeof none, rule);
    breaks_word(&forest->tracks.capacity, 0, "tracks have room for each slot");
}
