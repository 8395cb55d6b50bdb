// SPDX-License-Identifier: MIT
// Each invariant of the pool, of links and of transforms is broken on purpose, seen named, and
// mended.
#include "tests/runner.h"
#include "tests/tree/grove.h"

#include <math.h>
#include <string.h>

static grove g;
static espl__forest *const forest = &g.forest;
// R{A{C,D},B{E}}: in order; out of order with extras, pass-throughs and holes; out of order with
// inherit flags and holes; with ghosts.
static uint32_t plain, fancy, keeping, haunted, rootless;
static uint32_t gap, wide_gap; // bases of free ranges of one and of many slots
static uint32_t freed[2];      // free headers, first one first

static void bury_nobody(void *context, uint32_t entity)
{
    (void)context;
    (void)entity;
}

static const uint32_t parent_of_six[] = {ESPL__NO_SLOT, 0, 0, 1, 1, 2};

static uint32_t plant(const uint8_t *flags)
{
    return grove_plant(
        &g, &(grove_plan){.parent = parent_of_six, .size = 6, .flags = flags, .seed = g.entities});
}

static uint32_t plant_fancy(const uint8_t *flags, const uint8_t *inherit)
{
    return grove_plant(&g, &(grove_plan){.parent = parent_of_six,
                                         .size = 6,
                                         .flags = flags,
                                         .inherit = inherit,
                                         .holes = 2,
                                         .spare = 1,
                                         .seed = g.entities,
                                         .is_shuffled = true,
                                         .has_extras = inherit == NULL});
}

static void set_up(void)
{
    static const uint8_t fancy_flags[] = {0, ESPL__SLOT_PASS, 0, 0, ESPL__SLOT_PASS, 0};
    static const uint8_t inherit[] = {0, ESPL_KEEP_X | ESPL_KEEP_UP,           ESPL_COPY_PARENT,
                                      0, ESPL_KEEP_ROTATION | ESPL_KEEP_SCALE, ESPL_STRICT_UP};
    static const uint8_t owned[6];
    static const uint32_t chain[20] = {0};

    grove_begin(&g);
    plain = plant(NULL);
    const uint32_t one = grove_plant(&g, &(grove_plan){.parent = chain, .size = 1});
    fancy = plant_fancy(fancy_flags, NULL);
    keeping = plant_fancy(owned, inherit);
    const uint32_t many = grove_plant(&g, &(grove_plan){.parent = chain, .size = 20});
    haunted = plant(owned);
    rootless = plant(owned);
    gap = forest->runs[one].base;
    wide_gap = forest->runs[many].base;
    espl__run_release(forest, one);
    espl__run_release(forest, many);
    freed[0] = many;
    freed[1] = one;

    espl__make_ghosts(forest, grove_slot(&g, haunted, 1), ESPL__CLOSURE_ONLY, bury_nobody, NULL);
    espl__make_ghosts(forest, grove_slot(&g, rootless, 0), ESPL__CLOSURE_ONLY, bury_nobody, NULL);
    espl__run_mark_unsettled(forest, haunted);
    grove_is_sound(&g);
}

static void tear_down(void)
{
    grove_is_sound(&g);
    grove_end(&g);
}

static void expect_rule(const char *expected, int line)
{
    uint32_t slot = 0;
    size_t detail = 0;
    const char *const rule = espl__forest_broken_rule(forest, &slot, &detail);

    ck_assert_msg(rule != NULL, "line %d: not found: %s", line, expected);
    ck_assert_msg(strcmp(rule, expected) == 0, "line %d: %s", line, rule);
}

// Give a field a wrong value, see the rule named, and mend it.
#define BREAKS_HERE(rule, field, wrong)          \
    do {                                         \
        const __typeof__(field) right = (field); \
        (field) = (__typeof__(field))(wrong);    \
        expect_rule((rule), __LINE__);           \
        (field) = right;                         \
    } while (0)

// The same where nothing else is wrong.
#define BREAKS(rule, field, wrong)       \
    do {                                 \
        BREAKS_HERE(rule, field, wrong); \
        grove_is_sound(&g);              \
    } while (0)

static espl__run *header(uint32_t run)
{
    return &forest->runs[run];
}

static uint32_t at(uint32_t run, uint32_t rank)
{
    return grove_slot(&g, run, rank);
}

// --- The pool ---

START_TEST(runs_and_free_ranges_tile_the_pool)
{
    const char *const rule = "free ranges and runs tile the pool";

    BREAKS(rule, forest->run[header(fancy)->base], forest->run_end);
    BREAKS(rule, forest->run[header(fancy)->base], plain);
    BREAKS(rule, header(fancy)->base, gap);
    BREAKS(rule, header(plain)->capacity, 5);
    BREAKS(rule, header(plain)->size, 0); // a free header owns no slots
    BREAKS(rule, forest->run[gap], plain);
}
END_TEST

START_TEST(runs_and_free_ranges_stay_inside_the_pool)
{
    const char *const rule = "free ranges and runs stay inside the pool";

    BREAKS(rule, header(plain)->capacity, 0);
    BREAKS(rule, header(plain)->capacity, forest->end + 1);
    BREAKS(rule, header(rootless)->capacity, 7);
    BREAKS(rule, forest->end, forest->end - 1);
    BREAKS(rule, forest->rank[wide_gap], 0);
    BREAKS(rule, forest->rank[wide_gap], forest->end);
}
END_TEST

START_TEST(free_ranges_are_merged_and_marked)
{
    const char *const rule = "free ranges are merged and marked at both ends";
    const uint32_t last = wide_gap + 19;

    BREAKS(rule, forest->run[last], plain);
    BREAKS(rule, forest->rank[last], 19);
    BREAKS(rule, forest->rank[wide_gap], 21);
    BREAKS(rule, forest->run[last + 1], ESPL__NO_RUN);
    BREAKS(rule, forest->run[header(fancy)->base], ESPL__NO_RUN);
    BREAKS(rule, forest->end, wide_gap + 20); // the pool does not end in a free range
}
END_TEST

START_TEST(free_ranges_are_filed)
{
    const char *const rule = "free ranges are filed by their size";

    BREAKS(rule, forest->order[gap], wide_gap);
    BREAKS(rule, forest->order[gap], forest->end);
    BREAKS(rule, forest->parent[gap], wide_gap);
    BREAKS(rule, forest->parent[gap], forest->end);
    BREAKS(rule, forest->free_heads[1], ESPL__NO_SLOT);
    BREAKS(rule, forest->free_heads[1], wide_gap);
    BREAKS(rule, forest->free_bits[0], forest->free_bits[0] & ~(uint64_t)2);
}
END_TEST

START_TEST(free_slots_are_counted)
{
    BREAKS("free slots are counted", forest->free_slots, 20);
    BREAKS("free slots are counted", forest->free_slots, 22);
}
END_TEST

START_TEST(free_headers_are_listed)
{
    const char *const rule = "free headers stand in one list";

    ck_assert_uint_eq(forest->free_run, freed[0]);
    ck_assert_uint_eq(header(freed[0])->next, freed[1]);
    BREAKS(rule, forest->free_run, ESPL__NO_RUN);
    BREAKS(rule, forest->free_run, freed[1]);
    BREAKS(rule, forest->free_run, plain);
    BREAKS(rule, forest->free_run, forest->run_end);
    BREAKS(rule, header(freed[1])->next, freed[0]); // a ring
    BREAKS(rule, header(freed[1])->next, fancy);
}
END_TEST

// A header in no list holds slots, and nobody else's.
START_TEST(each_run_has_slots_of_its_own)
{
    const char *const rule = "free ranges and runs tile the pool";
    const espl__run free_one = *header(freed[0]);

    forest->free_run = freed[1];
    *header(freed[0]) = *header(plain);
    expect_rule(rule, __LINE__);
    BREAKS_HERE(rule, header(freed[0])->base, forest->end);
    BREAKS_HERE(rule, header(freed[0])->base, ESPL__NO_SLOT);
    BREAKS_HERE(rule, header(freed[0])->base, gap);
    BREAKS_HERE(rule, header(freed[0])->capacity, UINT32_MAX);
    *header(freed[0]) = free_one;
    forest->free_run = freed[0];
    grove_is_sound(&g);

    // Swallowed whole by the run in front.
    const uint32_t one = plant(NULL), two = plant(NULL);
    ck_assert_uint_eq(header(one)->base + header(one)->capacity, header(two)->base);
    BREAKS(rule, header(one)->capacity, header(one)->capacity + header(two)->capacity);
}
END_TEST

// --- Order and links ---

START_TEST(run_holds_its_nodes)
{
    const char *const rule = "a run holds its nodes";

    BREAKS(rule, header(fancy)->used, 5);
    BREAKS(rule, header(fancy)->used, header(fancy)->capacity + 1);
    BREAKS(rule, header(plain)->size, 7);
}
END_TEST

START_TEST(order_names_slots_of_the_run)
{
    const char *const rule = "the order of a run names its own slots";
    const uint32_t base = header(fancy)->base;

    BREAKS(rule, forest->order[base + 2], base - 1);
    BREAKS(rule, forest->order[base + 2], base + header(fancy)->used);
    BREAKS(rule, forest->order[base + 7], base + header(fancy)->used); // a hole
    BREAKS(rule, forest->order[base + 2], ESPL__NO_SLOT);
}
END_TEST

START_TEST(rank_and_order_are_inverse)
{
    const char *const rule = "rank and order are inverse to each other";
    const uint32_t base = header(fancy)->base;

    BREAKS(rule, forest->rank[at(fancy, 3)], 4);
    BREAKS(rule, forest->rank[at(fancy, 6)], 7); // a hole
    BREAKS(rule, forest->run[base + 1], plain);
    BREAKS(rule, forest->order[base + 3], at(fancy, 4)); // one slot twice
}
END_TEST

START_TEST(holes_hold_nobody)
{
    BREAKS("a hole holds nobody", forest->entity[at(fancy, 6)], 0);
    BREAKS("a hole holds nobody", forest->entity[at(keeping, 7)], 77);
}
END_TEST

START_TEST(run_that_says_so_is_in_order)
{
    BREAKS("a run that says so is in order", header(fancy)->flags,
           header(fancy)->flags | ESPL__RUN_IN_ORDER);
}
END_TEST

START_TEST(first_rank_is_the_root)
{
    BREAKS("rank 0 is the root", forest->parent[header(plain)->base], 0);
}
END_TEST

START_TEST(parents_stand_before_children)
{
    const char *const rule = "parents stand before children, in order";
    uint32_t *const first = forest->first + header(plain)->base;
    uint32_t *const parent = forest->parent + header(plain)->base;

    BREAKS(rule, parent[1], 1);
    BREAKS(rule, parent[1], ESPL__NO_SLOT);

    // The lists of the leaves agree that E is nobody's child, up to E itself.
    first[3] = first[4] = first[5] = 5;
    BREAKS_HERE(rule, parent[5], 0); // falls
    BREAKS_HERE(rule, parent[5], 5);
    BREAKS_HERE(rule, parent[5], ESPL__NO_SLOT);
    first[3] = first[4] = first[5] = 6;
}
END_TEST

START_TEST(children_are_contiguous)
{
    const char *const rule = "children are contiguous";
    uint32_t *const first = forest->first + header(plain)->base;
    uint32_t *const parent = forest->parent + header(plain)->base;

    BREAKS(rule, first[0], 2);
    BREAKS(rule, first[1], 4);
    BREAKS(rule, first[5], 5); // a leaf's empty list has its place as well
    BREAKS(rule, parent[4], 2);
    BREAKS(rule, parent[5], 3);
}
END_TEST

// --- Slots ---

START_TEST(slots_know_of_side_arrays)
{
    const char *const rule = "slots know whether their run has side arrays";

    BREAKS(rule, forest->flags[at(plain, 2)], ESPL__SLOT_SIDE);
    BREAKS(rule, forest->flags[at(fancy, 2)], 0);
    BREAKS(rule, forest->flags[at(keeping, 4)], ESPL__SLOT_KEEPS);
    BREAKS(rule, forest->flags[at(haunted, 1)],
           ESPL__SLOT_GHOST | ESPL__SLOT_PASS | ESPL__SLOT_SIDE);
    BREAKS(rule, header(fancy)->side, NULL);
}
END_TEST

START_TEST(ghosts_lack_an_entity)
{
    const char *const rule = "ghosts and no others lack an entity";

    BREAKS(rule, forest->entity[at(plain, 2)], ESPL__NO_ENTITY);
    BREAKS(rule, forest->entity[at(haunted, 1)], 77);
    BREAKS(rule, forest->flags[at(haunted, 1)], ESPL__SLOT_PASS);
}
END_TEST

START_TEST(flags_are_at_rest)
{
    const char *const rule = "flags of a slot are at rest";

    BREAKS(rule, forest->flags[at(plain, 3)], ESPL__SLOT_DYING);
    BREAKS(rule, forest->flags[at(plain, 3)], ESPL__SLOT_LOOSE);
    BREAKS(rule, forest->flags[at(haunted, 1)], ESPL__SLOT_GHOST);
}
END_TEST

START_TEST(special_slots_take_the_general_kernel)
{
    const char *const rule = "a run with pass-throughs takes the general kernel";

    BREAKS(rule, forest->flags[at(plain, 3)], ESPL__SLOT_PASS);
    BREAKS(rule, forest->flags[at(plain, 3)], ESPL__SLOT_ROOTED);
    BREAKS(rule, header(haunted)->flags, header(haunted)->flags & ~(unsigned)ESPL__RUN_GENERAL);
    BREAKS(rule, header(rootless)->flags, header(rootless)->flags & ~(unsigned)ESPL__RUN_GENERAL);
}
END_TEST

START_TEST(root_has_no_link)
{
    BREAKS("a root has no link", forest->flags[at(plain, 0)], ESPL__SLOT_FREE_LINK);
}
END_TEST

START_TEST(free_links_are_known)
{
    const char *const rule = "a forest knows of its free links";

    BREAKS(rule, forest->flags[at(plain, 3)], ESPL__SLOT_FREE_LINK);
    forest->has_free_links = true;
    forest->flags[at(plain, 3)] |= ESPL__SLOT_FREE_LINK;
    grove_is_sound(&g);
    BREAKS(rule, forest->has_free_links, false);
}
END_TEST

// --- Side arrays ---

static espl__side *side_of(uint32_t run)
{
    return header(run)->side;
}

// Where a rank's entries stand in the side arrays.
static uint32_t entry(uint32_t run, uint32_t rank)
{
    return at(run, rank) - header(run)->base;
}

START_TEST(what_copies_its_parent_shows_the_parents_stretch)
{
    const char *const rule = "what copies its parent shows the parent's stretch";
    espl__extra *const extra = side_of(fancy)->extra;

    BREAKS(rule, extra[entry(fancy, 1)].stretch[2], 9);
    BREAKS(rule, extra[entry(fancy, 4)].context, 9);
    BREAKS(rule, side_of(keeping)->extra[entry(keeping, 2)].stretch[1], 9);
    BREAKS(rule, side_of(keeping)->extra[entry(keeping, 2)].context, 9);
    BREAKS_HERE(rule, extra[entry(fancy, 0)].stretch[0], 9); // and rank 1 shows what it was
}
END_TEST

START_TEST(flag_and_kept_parts_go_together)
{
    const char *const rule = "inherit flags and kept parts agree";
    espl__kept *const kept = side_of(keeping)->kept;

    for (uint32_t rank = 0; rank < 6; ++rank) {
        uint8_t *const flags = &forest->flags[at(keeping, rank)];

        BREAKS(rule, *flags, *flags ^ ESPL__SLOT_KEEPS);
    }
    BREAKS(rule, kept[entry(keeping, 1)].flags, 0);
    BREAKS(rule, kept[entry(keeping, 2)].flags, 0);
    BREAKS(rule, kept[entry(keeping, 3)].flags, ESPL_KEEP_X);
    // Where there is no room for kept parts, or no side arrays at all.
    BREAKS(rule, forest->flags[at(fancy, 5)], ESPL__SLOT_SIDE | ESPL__SLOT_KEEPS);
    BREAKS(rule, forest->flags[at(plain, 5)], ESPL__SLOT_KEEPS);
    BREAKS(rule, forest->flags[at(haunted, 1)],
           ESPL__SLOT_GHOST | ESPL__SLOT_PASS | ESPL__SLOT_KEEPS);
}
END_TEST

START_TEST(inherit_flags_are_legal)
{
    const char *const rule = "inherit flags and kept parts agree";
    espl__kept *const kept = side_of(keeping)->kept;

    for (uint32_t rank = 1; rank < 6; ++rank) {
        BREAKS(rule, kept[entry(keeping, rank)].flags, ESPL_COPY_PARENT | ESPL_KEEP_X);
        BREAKS(rule, kept[entry(keeping, rank)].flags, 0xff);
        BREAKS(rule, kept[entry(keeping, rank)].flags, 0x100);
        BREAKS(rule, kept[entry(keeping, rank)].flags, 0x100 | ESPL_COPY_PARENT);
        BREAKS(rule, kept[entry(keeping, rank)].flags, UINT32_MAX);
    }
}
END_TEST

START_TEST(parts_that_are_not_kept_are_the_identitys)
{
    const char *const rule = "inherit flags and kept parts agree";
    espl__kept *const kept = side_of(keeping)->kept;

    BREAKS(rule, kept[entry(keeping, 1)].pose.position[1], 1);
    BREAKS(rule, kept[entry(keeping, 1)].pose.position[2], -0.0f);
    BREAKS(rule, kept[entry(keeping, 1)].pose.scale, 2);
    BREAKS(rule, kept[entry(keeping, 2)].pose.position[0], 1);
    BREAKS(rule, kept[entry(keeping, 2)].pose.rotation[3], -1);
    BREAKS(rule, kept[entry(keeping, 4)].pose.position[0], 1);
    BREAKS(rule, kept[entry(keeping, 5)].pose.rotation[0], 1); // ESPL_STRICT_UP alone keeps nothing
    // The nodes without flags, the root among them.
    BREAKS(rule, kept[entry(keeping, 0)].pose.position[0], 1);
    BREAKS(rule, kept[entry(keeping, 3)].pose.rotation[1], 1);
    BREAKS(rule, kept[entry(keeping, 3)].pose.scale, 0);
}
END_TEST

// Let a rank keep its whole rotation, in the flag and in the side arrays.
static void make_keep(uint32_t run, uint32_t rank)
{
    const uint32_t slot = at(run, rank);

    side_of(run)->kept[entry(run, rank)] = espl__kept_of(&forest->world[slot], ESPL_KEEP_ROTATION);
    forest->flags[slot] |= ESPL__SLOT_KEEPS;
}

static void make_keep_nothing(uint32_t run, uint32_t rank)
{
    side_of(run)->kept[entry(run, rank)] = espl__kept_none();
    forest->flags[at(run, rank)] &= (uint8_t)~ESPL__SLOT_KEEPS;
}

START_TEST(only_members_with_a_transform_have_inherit_flags)
{
    const char *const rule = "only a member with a transform has inherit flags";
    uint8_t *const leaf = &forest->flags[at(keeping, 3)];
    const uint8_t flags = *leaf;

    make_keep(keeping, 0);
    expect_rule(rule, __LINE__);
    make_keep_nothing(keeping, 0);
    grove_is_sound(&g);

    make_keep(keeping, 3);
    BREAKS_HERE(rule, *leaf, *leaf | ESPL__SLOT_PASS);
    BREAKS_HERE(rule, *leaf, *leaf | ESPL__SLOT_ROOTED);
    make_keep_nothing(keeping, 3);
    ck_assert_uint_eq(*leaf, flags);
}
END_TEST

START_TEST(run_with_side_arrays_takes_the_general_kernel)
{
    const char *const rule = "a run with side arrays takes the general kernel";
    const unsigned general = ESPL__RUN_GENERAL;

    BREAKS(rule, header(keeping)->flags, header(keeping)->flags & ~general);
    BREAKS(rule, side_of(keeping)->capacity, header(keeping)->capacity - 1);
    BREAKS(rule, side_of(fancy)->capacity, header(fancy)->capacity + 1);
    BREAKS(rule, side_of(fancy)->capacity, 0);
}
END_TEST

START_TEST(what_side_arrays_are_needed_for_is_counted)
{
    const char *const rule = "what side arrays are needed for is counted";

    ck_assert_uint_eq(side_of(fancy)->extra_count, 4); // the pass-throughs show another's
    ck_assert_uint_eq(side_of(fancy)->kept_count, 0);
    ck_assert_uint_eq(side_of(keeping)->extra_count, 0);
    ck_assert_uint_eq(side_of(keeping)->kept_count, 4);
    BREAKS(rule, side_of(fancy)->extra_count, 3);
    BREAKS(rule, side_of(fancy)->extra_count, 6);
    BREAKS(rule, side_of(fancy)->kept_count, 1);
    BREAKS(rule, side_of(keeping)->extra_count, 1);
    BREAKS(rule, side_of(keeping)->kept_count, 3);
    BREAKS(rule, side_of(keeping)->kept_count, 5);
    BREAKS(rule, side_of(keeping)->extra[entry(keeping, 5)].context, 1);

    // Nothing hangs below the last one that could miss its extra.
    espl__extra *const last = &side_of(fancy)->extra[entry(fancy, 5)];
    const espl__extra own = *last;

    *last = espl__extra_default();
    expect_rule(rule, __LINE__);
    *last = own;
}
END_TEST

START_TEST(side_arrays_without_need_are_prepaid)
{
    const char *const rule = "side arrays are there for a reason";
    const grove_plan idle = {.parent = parent_of_six, .size = 6, .is_prepaid = true};
    const uint32_t run = grove_plant(&g, &idle);

    grove_is_sound(&g);
    BREAKS(rule, side_of(run)->is_prepaid, 0);

    // An extra or a kept part is a reason as well.
    side_of(run)->is_prepaid = 0;
    side_of(run)->extra[entry(run, 5)].context = 1;
    side_of(run)->extra_count = 1;
    grove_is_sound(&g);
    side_of(run)->extra[entry(run, 5)].context = 0;
    side_of(run)->extra_count = 0;
    make_keep(run, 5);
    side_of(run)->kept_count = 1;
    grove_is_sound(&g);
    espl__run_release(forest, run);
}
END_TEST

// --- Transforms ---

START_TEST(transforms_are_finite)
{
    const char *const rule = "transforms are finite";

    BREAKS(rule, forest->local[at(plain, 2)].rotation[3], NAN);
    BREAKS(rule, forest->local[at(fancy, 5)].position[0], INFINITY);
    BREAKS(rule, forest->world[at(plain, 0)].scale, -INFINITY);
    BREAKS(rule, forest->world[at(haunted, 1)].position[2], NAN); // ghosts too
    BREAKS(rule, side_of(fancy)->extra[entry(fancy, 5)].stretch[1], NAN);
    BREAKS(rule, side_of(fancy)->extra[entry(fancy, 2)].stretch[2], INFINITY);
    BREAKS(rule, side_of(keeping)->kept[entry(keeping, 1)].pose.position[0], INFINITY);
    BREAKS(rule, side_of(keeping)->kept[entry(keeping, 4)].pose.rotation[1], NAN);
}
END_TEST

START_TEST(worlds_follow_from_the_locals)
{
    const char *const rule = "a world follows from the locals bit for bit";

    for (uint32_t rank = 0; rank < 6; ++rank) {
        const uint32_t runs[] = {plain, fancy, keeping, haunted, rootless};

        for (uint32_t i = 0; i < 5; ++i) {
            float *const x = &forest->world[at(runs[i], rank)].position[0];

            BREAKS(rule, *x, nextafterf(*x, 1e9f));
        }
    }
    BREAKS(rule, forest->local[at(plain, 5)].scale, 4);
    BREAKS(rule, forest->local[at(rootless, 1)].position[1],
           4); // a rooted slot's world is its local
    // Rank 0 stretches rank 2 below it.
    BREAKS(rule, side_of(fancy)->extra[entry(fancy, 2)].stretch[0], 7);
    // And from what is kept.
    BREAKS(rule, side_of(keeping)->kept[entry(keeping, 1)].pose.position[0], 7);
    BREAKS(rule, side_of(keeping)->kept[entry(keeping, 4)].pose.rotation[0], 7);
    BREAKS(rule, side_of(keeping)->kept[entry(keeping, 4)].pose.scale, 7);
}
END_TEST

START_TEST(zeros_of_both_signs_are_told_apart)
{
    const uint32_t slot = at(plain, 0);

    forest->local[slot].position[0] = 0;
    ck_assert(grove_propagate(forest, plain, 0));
    BREAKS("a world follows from the locals bit for bit", forest->world[slot].position[0], -0.0f);
}
END_TEST

// --- Ghosts, and runs that want a purge ---

START_TEST(ghosts_of_a_run_are_counted)
{
    const char *const rule = "the ghosts of a run are counted, and not alone";

    BREAKS(rule, header(haunted)->ghosts, 0);
    BREAKS(rule, header(haunted)->ghosts, 2);
    BREAKS(rule, header(plain)->ghosts, 1);
}
END_TEST

START_TEST(run_of_ghosts_alone_is_none)
{
    const uint32_t alone = grove_plant(&g, &(grove_plan){.parent = &(uint32_t){0}, .size = 1});
    const uint32_t slot = at(alone, 0);

    forest->entity[slot] = ESPL__NO_ENTITY;
    forest->flags[slot] = ESPL__SLOT_GHOST | ESPL__SLOT_PASS;
    header(alone)->flags |= ESPL__RUN_GENERAL;
    header(alone)->ghosts = 1;
    forest->ghosts += 1;
    expect_rule("the ghosts of a run are counted, and not alone", __LINE__);
    forest->ghosts -= 1;
    espl__run_release(forest, alone);
}
END_TEST

START_TEST(all_ghosts_are_counted)
{
    BREAKS("all ghosts are counted", forest->ghosts, 0);
    BREAKS("all ghosts are counted", forest->ghosts, 3);
}
END_TEST

START_TEST(unsettled_runs_are_listed)
{
    const char *const rule = "runs that want a purge stand in one list";
    const unsigned marked = ESPL__RUN_UNSETTLED;

    ck_assert_uint_eq(forest->unsettled, haunted);
    ck_assert_uint_eq(header(haunted)->next, rootless);
    BREAKS(rule, forest->unsettled, ESPL__NO_RUN);
    BREAKS(rule, forest->unsettled, rootless);
    BREAKS(rule, forest->unsettled, plain);
    BREAKS(rule, header(haunted)->flags, header(haunted)->flags & ~marked);
    BREAKS(rule, header(plain)->flags, header(plain)->flags | marked);
    BREAKS(rule, header(haunted)->next, ESPL__NO_RUN);
    BREAKS(rule, header(haunted)->next, forest->run_end);
    BREAKS(rule, header(rootless)->previous, ESPL__NO_RUN);
    BREAKS(rule, header(rootless)->previous, plain);
    BREAKS(rule, header(rootless)->previous, forest->run_end);
    BREAKS(rule, header(rootless)->next, rootless);
}
END_TEST

// With nobody in the list, its head still names nobody.
START_TEST(list_of_unsettled_runs_is_met_from_its_head)
{
    const char *const rule = "runs that want a purge stand in one list";
    grove other;
    const grove_plan plan = {.parent = parent_of_six, .size = 6};

    grove_begin(&other);
    const uint32_t one = grove_plant(&other, &plan), two = grove_plant(&other, &plan);
    uint32_t slot = 0;
    size_t detail = 0;

    other.forest.unsettled = other.forest.run_end;
    ck_assert_str_eq(espl__forest_broken_rule(&other.forest, &slot, &detail), rule);
    other.forest.unsettled = ESPL__NO_RUN;

    // A ring beside the list.
    espl__run_mark_unsettled(&other.forest, one);
    espl__run_mark_unsettled(&other.forest, two);
    other.forest.unsettled = ESPL__NO_RUN;
    other.forest.runs[one].next = two;
    other.forest.runs[two].previous = one;
    ck_assert_str_eq(espl__forest_broken_rule(&other.forest, &slot, &detail), rule);
    grove_end(&other);
}
END_TEST

START_TEST(list_of_unsettled_runs_has_an_end_and_no_free_headers)
{
    const char *const rule = "runs that want a purge stand in one list";
    const grove_plan plan = {.parent = parent_of_six, .size = 6};
    grove other;

    grove_begin(&other);
    const uint32_t first = grove_plant(&other, &plan), gone = grove_plant(&other, &plan);
    const uint32_t alone = grove_plant(&other, &plan);
    espl__run *const runs = other.forest.runs;
    uint32_t slot = 0;
    size_t detail = 0;

    // A ring instead of a list.
    espl__run_mark_unsettled(&other.forest, first);
    runs[first].next = runs[first].previous = first;
    ck_assert_str_eq(espl__forest_broken_rule(&other.forest, &slot, &detail), rule);

    // One that goes on at a free header, beside a ring of as many as it has too many.
    espl__run_release(&other.forest, gone);
    runs[first].previous = ESPL__NO_RUN;
    runs[first].next = gone;
    runs[gone].previous = first;
    runs[alone].flags |= ESPL__RUN_UNSETTLED;
    runs[alone].next = runs[alone].previous = alone;
    ck_assert_str_eq(espl__forest_broken_rule(&other.forest, &slot, &detail), rule);
    grove_end(&other);
}
END_TEST

// Take the mark away that a hierarchy wants a purge.
static void unmark(uint32_t run)
{
    espl__run_unmark_unsettled(forest, run);
}

START_TEST(root_lives_or_its_hierarchy_wants_a_purge)
{
    unmark(rootless);
    expect_rule("a root lives, or its hierarchy wants a purge", __LINE__);
    espl__run_mark_unsettled(forest, rootless);
    grove_is_sound(&g);
}
END_TEST

START_TEST(hierarchy_has_two_members_or_wants_a_purge)
{
    const uint32_t run = plant(NULL);

    for (uint32_t rank = 1; rank < 6; ++rank) {
        grove_is_sound(&g);
        espl__make_ghosts(forest, at(run, rank), ESPL__CLOSURE_ONLY, bury_nobody, NULL);
    }
    grove_is_sound(&g);
    unmark(run);
    expect_rule("a hierarchy has two members, or wants a purge", __LINE__);
    espl__run_release(forest, run);
    forest->ghosts -= 5;
}
END_TEST

START_TEST(ghosts_that_pile_up_want_a_purge)
{
    static const uint32_t star[40] = {0};
    const uint32_t run = grove_plant(&g, &(grove_plan){.parent = star, .size = 40});

    for (uint32_t rank = 1; rank <= 10; ++rank) {
        espl__make_ghosts(forest, at(run, rank), ESPL__CLOSURE_ONLY, bury_nobody, NULL);
        grove_is_sound(&g);
        ck_assert_uint_eq(header(run)->flags & ESPL__RUN_UNSETTLED, 0);
    }
    espl__make_ghosts(forest, at(run, 11), ESPL__CLOSURE_ONLY, bury_nobody, NULL);
    grove_is_sound(&g);
    unmark(run);
    expect_rule("ghosts that pile up want a purge", __LINE__);
    espl__run_release(forest, run);
    forest->ghosts -= 11;
}
END_TEST

START_TEST(bytes_of_a_forest_are_what_it_took)
{
    ck_assert_uint_eq(espl__forest_bytes(forest), espl__heap_bytes_for(&g.heap, ESPL__FOR_TREE));
    espl__run_release(forest, fancy);
    ck_assert_uint_eq(espl__forest_bytes(forest), espl__heap_bytes_for(&g.heap, ESPL__FOR_TREE));
}
END_TEST

// --- The report ---

START_TEST(report_names_slot_and_rank)
{
    uint32_t slot = 0;
    size_t detail = 0;

    ck_assert_ptr_null(espl__forest_broken_rule(forest, &slot, &detail));
    ck_assert_uint_eq(slot, ESPL__NO_SLOT);

    // A rule of all runs names none of their slots.
    forest->ghosts += 1;
    ck_assert_ptr_nonnull(espl__forest_broken_rule(forest, &slot, &detail));
    ck_assert_uint_eq(slot, ESPL__NO_SLOT);
    ck_assert_uint_eq(detail, 2);
    forest->ghosts -= 1;
    for (uint32_t rank = 0; rank < 6; ++rank) {
        const uint32_t broken = at(fancy, rank);
        const float right = forest->local[broken].scale;

        forest->local[broken].scale = NAN;
        ck_assert_ptr_nonnull(espl__forest_broken_rule(forest, &slot, &detail));
        ck_assert_uint_eq(slot, broken);
        ck_assert_uint_eq(detail, rank);
        forest->local[broken].scale = right;

        forest->first[header(fancy)->base + rank] += 1;
        ck_assert_ptr_nonnull(espl__forest_broken_rule(forest, &slot, &detail));
        ck_assert_uint_eq(slot, broken);
        ck_assert_uint_eq(detail, rank);
        forest->first[header(fancy)->base + rank] -= 1;
    }
}
END_TEST

START_TEST(empty_forest_breaks_no_rule)
{
    grove empty;

    grove_begin(&empty);
    grove_is_sound(&empty);
    grove_end(&empty);
}
END_TEST

static TCase *pool_case(void)
{
    TCase *const pool = tcase_create("pool");

    tcase_add_checked_fixture(pool, set_up, tear_down);
    tcase_add_test(pool, runs_and_free_ranges_tile_the_pool);
    tcase_add_test(pool, runs_and_free_ranges_stay_inside_the_pool);
    tcase_add_test(pool, free_ranges_are_merged_and_marked);
    tcase_add_test(pool, free_ranges_are_filed);
    tcase_add_test(pool, free_slots_are_counted);
    tcase_add_test(pool, free_headers_are_listed);
    tcase_add_test(pool, each_run_has_slots_of_its_own);
    return pool;
}

static TCase *links_case(void)
{
    TCase *const links = tcase_create("links");

    tcase_add_checked_fixture(links, set_up, tear_down);
    tcase_add_test(links, run_holds_its_nodes);
    tcase_add_test(links, order_names_slots_of_the_run);
    tcase_add_test(links, rank_and_order_are_inverse);
    tcase_add_test(links, holes_hold_nobody);
    tcase_add_test(links, run_that_says_so_is_in_order);
    tcase_add_test(links, first_rank_is_the_root);
    tcase_add_test(links, parents_stand_before_children);
    tcase_add_test(links, children_are_contiguous);
    return links;
}

static TCase *slots_case(void)
{
    TCase *const slots = tcase_create("slots");

    tcase_add_checked_fixture(slots, set_up, tear_down);
    tcase_add_test(slots, slots_know_of_side_arrays);
    tcase_add_test(slots, ghosts_lack_an_entity);
    tcase_add_test(slots, flags_are_at_rest);
    tcase_add_test(slots, special_slots_take_the_general_kernel);
    tcase_add_test(slots, root_has_no_link);
    tcase_add_test(slots, free_links_are_known);
    tcase_add_test(slots, transforms_are_finite);
    tcase_add_test(slots, worlds_follow_from_the_locals);
    tcase_add_test(slots, zeros_of_both_signs_are_told_apart);
    return slots;
}

static TCase *sides_case(void)
{
    TCase *const sides = tcase_create("side arrays");

    tcase_add_checked_fixture(sides, set_up, tear_down);
    tcase_add_test(sides, what_copies_its_parent_shows_the_parents_stretch);
    tcase_add_test(sides, flag_and_kept_parts_go_together);
    tcase_add_test(sides, inherit_flags_are_legal);
    tcase_add_test(sides, parts_that_are_not_kept_are_the_identitys);
    tcase_add_test(sides, only_members_with_a_transform_have_inherit_flags);
    tcase_add_test(sides, run_with_side_arrays_takes_the_general_kernel);
    tcase_add_test(sides, what_side_arrays_are_needed_for_is_counted);
    tcase_add_test(sides, side_arrays_without_need_are_prepaid);
    return sides;
}

static TCase *ghosts_case(void)
{
    TCase *const ghosts = tcase_create("ghosts");

    tcase_add_checked_fixture(ghosts, set_up, tear_down);
    tcase_add_test(ghosts, ghosts_of_a_run_are_counted);
    tcase_add_test(ghosts, run_of_ghosts_alone_is_none);
    tcase_add_test(ghosts, all_ghosts_are_counted);
    tcase_add_test(ghosts, unsettled_runs_are_listed);
    tcase_add_test(ghosts, list_of_unsettled_runs_is_met_from_its_head);
    tcase_add_test(ghosts, list_of_unsettled_runs_has_an_end_and_no_free_headers);
    tcase_add_test(ghosts, root_lives_or_its_hierarchy_wants_a_purge);
    tcase_add_test(ghosts, hierarchy_has_two_members_or_wants_a_purge);
    tcase_add_test(ghosts, ghosts_that_pile_up_want_a_purge);
    tcase_add_test(ghosts, bytes_of_a_forest_are_what_it_took);
    tcase_add_test(ghosts, report_names_slot_and_rank);
    tcase_add_test(ghosts, empty_forest_breaks_no_rule);
    return ghosts;
}

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("tree/validate");

    suite_add_tcase(suite, pool_case());
    suite_add_tcase(suite, links_case());
    suite_add_tcase(suite, slots_case());
    suite_add_tcase(suite, sides_case());
    suite_add_tcase(suite, ghosts_case());
    return suite;
}

RUN_SUITE(make_suite)
