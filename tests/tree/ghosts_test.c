// SPDX-License-Identifier: MIT
// Destroying in place, on every small tree: who dies, who stays where, and what they keep.
#include "tests/runner.h"
#include "tests/tree/grove.h"

#include <math.h>
#include <string.h>

enum { SMALL = 5, TALL = 64 };

static grove g;
static espl__forest *const forest = &g.forest;
static uint32_t buried[TALL], buried_count;
static uint64_t random_state;

static void set_up(void)
{
    grove_begin(&g);
    random_state = 11;
}

static void tear_down(void)
{
    grove_end(&g);
}

// --- What a destroy is to do, from the rules alone ---

// One hierarchy by rank, as it was before.
typedef struct picture {
    uint32_t size, parent[TALL], slot[TALL], entity[TALL];
    unsigned flags[TALL];
    espl__placement placement[TALL];
    espl_pose world[TALL];
    bool has_side, is_prepaid;
    bool is_dead[TALL];  // after the destroy, ghosts of earlier ones included
    bool is_below[TALL]; // its parent is the top, or a dead one below it
} picture;

static picture take_picture(uint32_t run)
{
    const espl__run *const header = &forest->runs[run];
    picture p = {.size = header->size,
                 .has_side = header->side != NULL,
                 .is_prepaid = header->side != NULL && header->side->is_prepaid != 0};

    for (uint32_t rank = 0; rank < p.size; ++rank) {
        const uint32_t slot = forest->order[header->base + rank];

        p.parent[rank] = forest->parent[header->base + rank];
        p.slot[rank] = slot;
        p.entity[rank] = forest->entity[slot];
        p.flags[rank] = forest->flags[slot];
        p.placement[rank] = espl__slot_placement(forest, slot);
        p.world[rank] = forest->world[slot];
        p.is_dead[rank] = espl__slot_is(forest, slot, ESPL__SLOT_GHOST);
    }
    return p;
}

// Everything reached from the top through those that die; old ghosts let it through.
static void mark_dead(picture *p, uint32_t top, espl__closure closure)
{
    bool goes_on[TALL] = {false};

    goes_on[top] = p->is_dead[top] = true;
    for (uint32_t rank = top + 1; rank < p->size; ++rank) {
        const bool is_owned = (p->flags[rank] & ESPL__SLOT_FREE_LINK) == 0;
        const bool is_taken =
            closure == ESPL__CLOSURE_SUBTREE || (closure == ESPL__CLOSURE_OWNED && is_owned);

        p->is_below[rank] = goes_on[p->parent[rank]];
        goes_on[rank] = p->is_below[rank] && (is_taken || p->is_dead[rank]);
        p->is_dead[rank] = p->is_dead[rank] || goes_on[rank];
    }
}

static uint32_t count_dead(const picture *p)
{
    uint32_t count = 0;

    for (uint32_t rank = 0; rank < p->size; ++rank) {
        count += p->is_dead[rank];
    }
    return count;
}

static bool has_living_above(const picture *p, uint32_t rank)
{
    while (rank != 0) {
        rank = p->parent[rank];
        if (!p->is_dead[rank]) {
            return true;
        }
    }
    return false;
}

static bool is_pass(const picture *p, uint32_t rank)
{
    return (p->flags[rank] & ESPL__SLOT_PASS) != 0;
}

static bool is_copy(const picture *p, uint32_t rank)
{
    return espl__placement_copies(&p->placement[rank]);
}

// A root to its users, though it has a dead one above it.
static bool is_rooted(const picture *p, uint32_t rank)
{
    return rank != 0 && !has_living_above(p, rank);
}

// Shows the world of another one, after the destroy too.
static bool follows(const picture *p, uint32_t rank)
{
    return is_pass(p, rank) || (is_copy(p, rank) && !is_rooted(p, rank));
}

// A living transform whose parent changed, be it through others that show another parent's.
static bool is_rebased(const picture *p, uint32_t rank)
{
    while (!p->is_below[rank] && rank != 0 && follows(p, p->parent[rank])) {
        rank = p->parent[rank];
    }
    return p->is_below[rank];
}

// Some survivor has more than a pose.
static bool needs_side(const picture *p)
{
    bool is_needed = p->is_prepaid;

    for (uint32_t rank = 0; rank < p->size; ++rank) {
        const espl__placement *const of = &p->placement[rank];
        const bool keeps = of->kept.flags != 0 && !is_rooted(p, rank);
        const bool has_extra = !follows(p, rank) && !espl__extra_is_default(&of->extra);

        is_needed = is_needed || (!p->is_dead[rank] && (keeps || has_extra));
    }
    return is_needed;
}

// --- Comparing; plain conditions, since there are many cases ---

static void demand(bool holds, const char *what, const picture *p, uint32_t top, uint32_t rank)
{
    if (!holds) {
        ck_abort_msg("%s: size %u, parents %u %u %u %u, top %u, rank %u", what, p->size,
                     p->parent[1], p->parent[2], p->parent[3], p->parent[4], top, rank);
    }
}

static bool is_near(const espl_pose *a, const espl_pose *b)
{
    const float reach = fabsf(b->position[0]) + fabsf(b->position[1]) + fabsf(b->position[2]);
    float turn = 0;
    bool near = fabsf(a->scale - b->scale) <= 1e-5f * (1 + fabsf(b->scale));

    for (int i = 0; i < 3; ++i) {
        near = near && fabsf(a->position[i] - b->position[i]) <= 4e-6f * (10 + reach);
    }
    for (int i = 0; i < 4; ++i) {
        turn += a->rotation[i] * b->rotation[i];
    }
    return near && fabsf(turn) >= 1 - 1e-5f;
}

// A survivor keeps what it kept, unless it is a root now; its stretch and context stay, those that
// it showed as a copy too.
static void side_is_right(const picture *p, uint32_t top, uint32_t rank)
{
    const espl__placement after = espl__slot_placement(forest, p->slot[rank]);
    const espl__kept none = espl__kept_none();
    const espl__kept *const kept = is_rooted(p, rank) ? &none : &p->placement[rank].kept;
    const espl__extra bare = espl__extra_default();
    const bool is_bare = is_pass(p, rank) && is_rooted(p, rank);

    demand(memcmp(&after.kept, kept, sizeof *kept) == 0, "kept parts", p, top, rank);
    if (is_bare || !follows(p, rank)) {
        demand(grove_same_extra(&after.extra, is_bare ? &bare : &p->placement[rank].extra),
               "extra stays", p, top, rank);
    }
}

static unsigned flags_of_survivor(const picture *p, uint32_t rank, unsigned side)
{
    const unsigned own = p->flags[rank] & (unsigned)ESPL__SLOT_PASS;
    const unsigned below = ESPL__SLOT_FREE_LINK | ESPL__SLOT_KEEPS;

    return side | own | (is_rooted(p, rank) ? (unsigned)ESPL__SLOT_ROOTED : p->flags[rank] & below);
}

static void survivor_is_right(const picture *p, uint32_t top, uint32_t rank)
{
    const uint32_t slot = p->slot[rank];

    if (is_rooted(p, rank)) {
        demand(grove_same(&forest->local[slot], &forest->world[slot]), "rooted world", p, top,
               rank);
    }
    if (follows(p, rank)) {
        return; // shows another's world, or none
    }
    demand(is_near(&forest->world[slot], &p->world[rank]), "world stays", p, top, rank);
    if (!is_rebased(p, rank)) {
        demand(grove_same(&forest->local[slot], &p->placement[rank].local), "local stays", p, top,
               rank);
    }
    if (rank < top) {
        demand(grove_same(&forest->world[slot], &p->world[rank]), "world above", p, top, rank);
    }
}

// Tell whether everybody at a rank and below it is dead.
static bool is_extinct(const picture *p, uint32_t rank)
{
    bool is_in[TALL] = {false};
    bool is_dead = p->is_dead[rank];

    is_in[rank] = true;
    for (uint32_t below = rank + 1; below < p->size; ++below) {
        is_in[below] = is_in[p->parent[below]];
        is_dead = is_dead && (!is_in[below] || p->is_dead[below]);
    }
    return is_dead;
}

// A ghost is known for barren where the destroy that left nobody below it was of one at or above
// it, and never where somebody lives below it.
static void ghost_is_right(const picture *p, uint32_t top, uint32_t rank, unsigned side)
{
    const unsigned flags = forest->flags[p->slot[rank]];
    const bool is_barren = (flags & ESPL__SLOT_BARREN) != 0;

    demand((flags & ~(unsigned)ESPL__SLOT_BARREN) == (side | ESPL__SLOT_GHOST | ESPL__SLOT_PASS),
           "flags of a ghost", p, top, rank);
    demand(!is_barren || is_extinct(p, rank), "a barren ghost", p, top, rank);
    demand(rank != top || is_barren == is_extinct(p, top), "a barren top", p, top, rank);
    demand(forest->entity[p->slot[rank]] == ESPL__NO_ENTITY, "entity of a ghost", p, top, rank);
}

static void node_is_right(const picture *p, uint32_t top, uint32_t rank)
{
    const uint32_t slot = p->slot[rank];
    const unsigned flags = forest->flags[slot];
    const unsigned side = p->has_side && needs_side(p) ? ESPL__SLOT_SIDE : 0;

    if (p->is_dead[rank]) {
        ghost_is_right(p, top, rank, side);
        return;
    }
    demand(flags == flags_of_survivor(p, rank, side), "flags of a survivor", p, top, rank);
    demand(forest->entity[slot] == p->entity[rank], "entity of a survivor", p, top, rank);
    side_is_right(p, top, rank);
    survivor_is_right(p, top, rank);
}

static void bury(void *run, uint32_t entity)
{
    // The run is there until everybody is buried.
    ck_assert_uint_ne(forest->runs[*(const uint32_t *)run].size, 0);
    buried[buried_count++] = entity;
}

static void bury_nobody(void *context, uint32_t entity)
{
    (void)context;
    (void)entity;
}

static void burials_are_right(const picture *before, const picture *after, uint32_t top)
{
    uint32_t count = 0;

    for (uint32_t rank = 0; rank < after->size; ++rank) {
        if (after->is_dead[rank] && !before->is_dead[rank]) {
            demand(count < buried_count && buried[count] == after->entity[rank],
                   "buried in rank order", after, top, rank);
            count += 1;
        }
    }
    demand(count == buried_count, "buried once", after, top, count);
}

static void run_is_right(const picture *p, uint32_t run, uint32_t top, uint32_t ghosts_elsewhere)
{
    const espl__run *const header = &forest->runs[run];
    const uint32_t ghosts = count_dead(p);
    const uint32_t bound = p->size / 4 > 8 ? p->size / 4 : 8;
    const bool wants_purge = ghosts > bound || p->size - ghosts == 1 || p->is_dead[0];

    if (ghosts == p->size) {
        demand(header->size == 0, "run is released", p, top, 0);
        demand(forest->ghosts == ghosts_elsewhere, "ghosts of a released run", p, top, 0);
        return;
    }
    demand((header->side != NULL) == (p->has_side && needs_side(p)), "side arrays", p, top, 0);
    demand(header->ghosts == ghosts, "ghosts of the run", p, top, ghosts);
    demand(forest->ghosts == ghosts_elsewhere + ghosts, "ghosts in all", p, top, ghosts);
    demand(((header->flags & ESPL__RUN_UNSETTLED) != 0) == wants_purge, "unsettled", p, top,
           ghosts);
    for (uint32_t rank = 0; rank < p->size; ++rank) {
        node_is_right(p, top, rank);
    }
}

// Destroy one living rank and compare all there is to it.
static void destroy_one(uint32_t run, uint32_t top, espl__closure closure)
{
    const picture before = take_picture(run);
    const uint32_t elsewhere = forest->ghosts - forest->runs[run].ghosts;
    picture after = before;
    uint32_t slot = 0;
    size_t detail = 0;

    mark_dead(&after, top, closure);
    buried_count = 0;
    test_heap_arm(&g.under, 0, false);
    g.heap.is_forbidden = true;
    espl__make_ghosts(forest, before.slot[top], closure, bury, &run);
    g.heap.is_forbidden = false;
    demand(g.under.calls == 0, "takes no memory", &after, top, 0);
    burials_are_right(&before, &after, top);
    run_is_right(&after, run, top, elsewhere);
    const char *const rule = espl__forest_broken_rule(forest, &slot, &detail);
    demand(rule == NULL, rule, &after, top, (uint32_t)detail);
}

static uint32_t any_living(uint32_t run)
{
    const uint32_t size = forest->runs[run].size;
    uint32_t rank = test_below(&random_state, size);

    while (espl__slot_is(forest, grove_slot(&g, run, rank), ESPL__SLOT_GHOST)) {
        rank = (rank + 1) % size;
    }
    return rank;
}

// --- Every small tree ---

// One case: a destroy, and after it others until nobody is left. Two in three have inherit flags.
static void run_case(const uint32_t *parent, uint32_t size, const uint8_t *flags, uint32_t number)
{
    uint8_t inherit[SMALL];

    for (uint32_t which = 0; which < 3 * size; ++which) {
        grove_random_inherit(inherit, size, 2, &random_state);
        const grove_plan plan = {.parent = parent,
                                 .size = size,
                                 .flags = flags,
                                 .inherit = (number + which) % 3 != 0 ? inherit : NULL,
                                 .is_prepaid = number % 7 == 0,
                                 .holes = number % 2,
                                 .spare = number % 3,
                                 .seed = number,
                                 .is_shuffled = number % 2 == 0,
                                 .has_extras = number % 3 == 0};
        const uint32_t run = grove_plant(&g, &plan);

        destroy_one(run, which / 3, (espl__closure)(which % 3));
        while (forest->runs[run].size != 0) {
            destroy_one(run, any_living(run), (espl__closure)test_below(&random_state, 3));
        }
    }
}

// All links owned or free, all nodes with a transform or without.
static void run_shape(const uint32_t *parent, uint32_t size, uint32_t *number)
{
    const uint32_t masks = UINT32_C(1) << (2 * size - 1);

    for (uint32_t mask = 0; mask < masks; ++mask) {
        uint8_t flags[SMALL] = {0};

        for (uint32_t rank = 0; rank < size; ++rank) {
            const bool is_free = rank != 0 && (mask >> (rank - 1) & 1) != 0;
            const bool passes = (mask >> (size - 1 + rank) & 1) != 0;

            flags[rank] =
                (uint8_t)((is_free ? ESPL__SLOT_FREE_LINK : 0) | (passes ? ESPL__SLOT_PASS : 0));
        }
        run_case(parent, size, flags, (*number)++);
    }
}

START_TEST(every_small_tree_loses_what_the_rules_say_and_no_more)
{
    const uint32_t limit = test_pace_of_build() == TEST_SWIFT ? SMALL : SMALL - 1;
    uint32_t number = 0;

    for (uint32_t size = 1; size <= limit; ++size) {
        uint32_t parent[SMALL] = {0};

        do {
            run_shape(parent, size, &number);
        } while (grove_next_parents(parent, size));
    }
    // Trees of n nodes, 2^(n-1) links, 2^n transforms.
    ck_assert_uint_eq(number, 2 + 8 + 2 * 32 + 5 * 128 + (limit == SMALL ? 14 * 512 : 0));
    ck_assert_uint_eq(forest->ghosts, 0);
    ck_assert_uint_eq(forest->end, 0);
}
END_TEST

START_TEST(large_trees_lose_one_after_the_other)
{
    const size_t rounds = test_scaled(400);

    for (uint32_t round = 0; round < rounds; ++round) {
        uint32_t parent[40];
        uint8_t flags[40] = {0}, inherit[40];

        grove_random_parents(parent, 40, 1 + test_below(&random_state, 4), &random_state);
        grove_random_inherit(inherit, 40, 3, &random_state);
        for (uint32_t rank = 0; rank < 40; ++rank) {
            flags[rank] =
                (uint8_t)((rank != 0 && test_one_in(&random_state, 2) ? ESPL__SLOT_FREE_LINK : 0) |
                          (test_one_in(&random_state, 4) ? ESPL__SLOT_PASS : 0));
        }
        const uint32_t run =
            grove_plant(&g, &(grove_plan){.parent = parent,
                                          .size = 40,
                                          .flags = flags,
                                          .inherit = round % 4 < 2 ? inherit : NULL,
                                          .seed = round,
                                          .is_shuffled = round % 2 == 0,
                                          .has_extras = round % 3 == 0});
        while (forest->runs[run].size != 0) {
            const bool is_alone = test_one_in(&random_state, 2);

            destroy_one(run, any_living(run), is_alone ? ESPL__CLOSURE_ONLY : ESPL__CLOSURE_OWNED);
        }
    }
}
END_TEST

// --- When a run wants a purge ---

START_TEST(run_is_unsettled_past_eight_ghosts_or_a_quarter)
{
    for (uint32_t size = 12; size <= TALL; size += 13) {
        const uint32_t bound = size / 4 > 8 ? size / 4 : 8;
        const uint32_t parent[TALL] = {0};
        const uint32_t run = grove_plant(&g, &(grove_plan){.parent = parent, .size = size});

        for (uint32_t ghosts = 1; ghosts <= bound + 1; ++ghosts) {
            destroy_one(run, ghosts, ESPL__CLOSURE_OWNED);
            const bool is_unsettled = (forest->runs[run].flags & ESPL__RUN_UNSETTLED) != 0;
            ck_assert_int_eq(is_unsettled, ghosts > bound);
        }
        ck_assert_uint_eq(forest->unsettled, run);
        espl__run_release(forest, run);
        forest->ghosts -= bound + 1;
        ck_assert_uint_eq(forest->unsettled, ESPL__NO_RUN);
    }
}
END_TEST

START_TEST(root_left_alone_wants_a_purge)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0};
    const uint32_t run = grove_plant(&g, &(grove_plan){.parent = parent, .size = 3});

    destroy_one(run, 1, ESPL__CLOSURE_OWNED);
    ck_assert_uint_eq(forest->unsettled, ESPL__NO_RUN);
    destroy_one(run, 2, ESPL__CLOSURE_OWNED);
    ck_assert_uint_eq(forest->unsettled, run);
}
END_TEST

START_TEST(ghost_root_wants_a_purge_at_once)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0, 1, 1};
    const uint32_t run = grove_plant(&g, &(grove_plan){.parent = parent, .size = 5});

    destroy_one(run, 0, ESPL__CLOSURE_ONLY);
    ck_assert_uint_eq(forest->unsettled, run);
    ck_assert_uint_eq(espl__living_root(forest, grove_slot(&g, run, 3)), grove_slot(&g, run, 1));
    ck_assert_uint_eq(espl__living_parent(forest, grove_slot(&g, run, 2)), ESPL__NO_SLOT);
}
END_TEST

// --- Rooted survivors ---

START_TEST(children_of_a_dead_root_stand_on_their_own)
{
    // Root, two free children, a grandchild each.
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0, 1, 2};
    const uint8_t flags[] = {0, ESPL__SLOT_FREE_LINK, ESPL__SLOT_FREE_LINK, 0, 0};
    const uint32_t run =
        grove_plant(&g, &(grove_plan){.parent = parent, .size = 5, .flags = flags});
    const uint32_t child = grove_slot(&g, run, 1), other = grove_slot(&g, run, 2);

    destroy_one(run, 0, ESPL__CLOSURE_OWNED);
    ck_assert_uint_eq(buried_count, 1);
    const espl_pose beside = forest->world[other];

    // A write to one is not seen by the other.
    forest->local[child].position[0] += 100;
    ck_assert(grove_propagate(forest, run, 1));
    ck_assert(grove_same(&forest->world[child], &forest->local[child]));
    ck_assert(grove_same(&forest->world[other], &beside));
    grove_is_sound(&g);

    // Those below a rooted survivor that dies are rooted too.
    destroy_one(run, 1, ESPL__CLOSURE_ONLY);
    ck_assert(espl__slot_is(forest, grove_slot(&g, run, 3), ESPL__SLOT_ROOTED));
    ck_assert(!espl__slot_is(forest, grove_slot(&g, run, 4), ESPL__SLOT_ROOTED));
}
END_TEST

START_TEST(rooted_survivor_has_a_rotation_of_unit_length)
{
    uint32_t parent[TALL];

    for (uint32_t rank = 1; rank < TALL; ++rank) {
        parent[rank] = rank - 1;
    }
    for (uint32_t round = 0; round < 50; ++round) {
        const uint32_t run =
            grove_plant(&g, &(grove_plan){.parent = parent, .size = TALL, .seed = round});
        const uint32_t last = grove_slot(&g, run, TALL - 1);

        // Everything above it dies, so that it is rooted with a long product of rotations.
        for (uint32_t rank = 0; rank < TALL - 1; ++rank) {
            espl__make_ghosts(forest, grove_slot(&g, run, rank), ESPL__CLOSURE_ONLY, bury_nobody,
                              NULL);
        }
        const float *const q = forest->local[last].rotation;
        const float off_unit = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1;
        ck_assert_float_le(fabsf(off_unit), 4e-7f);
        ck_assert(espl__slot_is(forest, last, ESPL__SLOT_ROOTED));
        destroy_one(run, TALL - 1, ESPL__CLOSURE_OWNED);
    }
}
END_TEST

// --- Inherit flags ---

START_TEST(copy_of_a_dead_root_goes_on_with_what_it_showed)
{
    // Root, a copy of it, a child of that; the copy's link is free.
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 1};
    const uint8_t flags[] = {0, ESPL__SLOT_FREE_LINK, 0};
    const uint8_t inherit[] = {0, ESPL_COPY_PARENT, 0};
    const uint32_t run = grove_plant(
        &g,
        &(grove_plan){
            .parent = parent, .size = 3, .flags = flags, .inherit = inherit, .has_extras = true});
    const uint32_t copy = grove_slot(&g, run, 1), last = grove_slot(&g, run, 2);
    const espl_pose world = forest->world[last];
    const espl__extra shown = espl__slot_extra(forest, grove_slot(&g, run, 0));

    destroy_one(run, 0, ESPL__CLOSURE_OWNED);
    const espl__extra own = espl__slot_extra(forest, copy);
    ck_assert(grove_same_extra(&own, &shown));
    ck_assert(grove_same(&forest->world[last], &world));
    ck_assert_uint_eq(forest->runs[run].side->kept_count, 0);
    ck_assert_uint_eq(forest->runs[run].side->extra_count, 2);
}
END_TEST

START_TEST(copy_of_a_dead_member_copies_the_heir)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 1, 2};
    const uint8_t inherit[] = {0, 0, ESPL_COPY_PARENT, 0};
    const uint32_t run = grove_plant(
        &g, &(grove_plan){.parent = parent, .size = 4, .inherit = inherit, .has_extras = true});
    const uint32_t top = grove_slot(&g, run, 0), copy = grove_slot(&g, run, 2);
    const uint32_t last = grove_slot(&g, run, 3);
    const espl_pose world = forest->world[last];

    destroy_one(run, 1, ESPL__CLOSURE_ONLY);
    const espl__frame heir = espl__slot_frame(forest, top), shown = espl__slot_frame(forest, copy);
    ck_assert(grove_same(&shown.world, &heir.world));
    ck_assert(grove_same_extra(&shown.extra, &heir.extra));
    ck_assert(is_near(&forest->world[last], &world));
}
END_TEST

START_TEST(side_arrays_go_with_the_last_that_needs_them)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0};
    const uint8_t inherit[] = {0, ESPL_KEEP_X, ESPL_KEEP_SCALE};

    for (uint32_t prepaid = 0; prepaid < 2; ++prepaid) {
        const uint32_t run = grove_plant(
            &g, &(grove_plan){
                    .parent = parent, .size = 3, .inherit = inherit, .is_prepaid = prepaid != 0});

        destroy_one(run, 1, ESPL__CLOSURE_OWNED);
        ck_assert_ptr_nonnull(forest->runs[run].side);
        destroy_one(run, 2, ESPL__CLOSURE_OWNED);
        ck_assert_int_eq(forest->runs[run].side != NULL, prepaid != 0);
        destroy_one(run, 0, ESPL__CLOSURE_OWNED);
    }
}
END_TEST

// --- Degenerate ancestors ---

START_TEST(survivor_below_a_scale_of_zero_stays_where_it_is)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 1, 2};
    const uint8_t flags[] = {0, 0, ESPL__SLOT_FREE_LINK, 0};

    for (uint32_t zero = 0; zero < 3; ++zero) {
        const uint32_t run =
            grove_plant(&g, &(grove_plan){.parent = parent, .size = 4, .flags = flags});

        forest->local[grove_slot(&g, run, zero)].scale = 0;
        ck_assert(grove_propagate(forest, run, zero));
        destroy_one(run, 1, ESPL__CLOSURE_OWNED);
        espl__run_release(forest, run);
        forest->ghosts -= 1;
    }
}
END_TEST

START_TEST(survivor_keeps_its_local_axes_where_the_parent_has_none)
{
    // The middle one dies; the root's scale hides where the last one is to stand.
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 1};
    const uint8_t flags[] = {0, 0, ESPL__SLOT_FREE_LINK};
    const uint32_t run =
        grove_plant(&g, &(grove_plan){.parent = parent, .size = 3, .flags = flags});
    const uint32_t top = grove_slot(&g, run, 0), middle = grove_slot(&g, run, 1);
    const uint32_t last = grove_slot(&g, run, 2);

    forest->local[top].scale = 0;
    ck_assert(grove_propagate(forest, run, 0));
    const espl_pose composed =
        espl__pose_compose(&forest->local[middle], NULL, &forest->local[last]);
    destroy_one(run, 1, ESPL__CLOSURE_OWNED);
    ck_assert(is_near(&forest->local[last], &composed));
    ck_assert_int_eq(
        memcmp(forest->local[last].position, composed.position, sizeof composed.position), 0);
}
END_TEST

START_TEST(survivor_that_cannot_be_seen_from_its_parent_takes_the_composed_local)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 1};
    const uint8_t flags[] = {0, 0, ESPL__SLOT_FREE_LINK};
    const uint32_t run =
        grove_plant(&g, &(grove_plan){.parent = parent, .size = 3, .flags = flags});
    const uint32_t last = grove_slot(&g, run, 2);

    // The offset over the root's scale is past all bounds; the composed local is not.
    for (uint32_t rank = 0; rank < 3; ++rank) {
        forest->local[grove_slot(&g, run, rank)] = espl__pose_identity();
    }
    forest->local[grove_slot(&g, run, 0)].position[0] = 1e10f;
    forest->local[grove_slot(&g, run, 0)].scale = 1e-38f;
    forest->local[grove_slot(&g, run, 1)].position[0] = 3;
    forest->local[last].position[1] = 4;
    ck_assert(grove_propagate(forest, run, 0));
    forest->world[last].position[2] = 1e10f; // as if rounding had brought it there
    espl__make_ghosts(forest, grove_slot(&g, run, 1), ESPL__CLOSURE_OWNED, bury_nobody, NULL);
    grove_is_sound(&g);
    ck_assert_float_eq(forest->local[last].position[0], 3);
    ck_assert_float_eq(forest->local[last].position[1], 4);
    ck_assert_float_eq(forest->local[last].position[2], 0);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("tree/ghosts");
    TCase *const trees = tcase_create("trees");

    tcase_add_checked_fixture(trees, set_up, tear_down);
    tcase_set_timeout(trees, 120);
    tcase_add_test(trees, every_small_tree_loses_what_the_rules_say_and_no_more);
    tcase_add_test(trees, large_trees_lose_one_after_the_other);
    tcase_add_test(trees, run_is_unsettled_past_eight_ghosts_or_a_quarter);
    tcase_add_test(trees, root_left_alone_wants_a_purge);
    tcase_add_test(trees, ghost_root_wants_a_purge_at_once);
    tcase_add_test(trees, children_of_a_dead_root_stand_on_their_own);
    tcase_add_test(trees, rooted_survivor_has_a_rotation_of_unit_length);
    tcase_add_test(trees, copy_of_a_dead_root_goes_on_with_what_it_showed);
    tcase_add_test(trees, copy_of_a_dead_member_copies_the_heir);
    tcase_add_test(trees, side_arrays_go_with_the_last_that_needs_them);
    tcase_add_test(trees, survivor_below_a_scale_of_zero_stays_where_it_is);
    tcase_add_test(trees, survivor_keeps_its_local_axes_where_the_parent_has_none);
    tcase_add_test(trees, survivor_that_cannot_be_seen_from_its_parent_takes_the_composed_local);
    suite_add_tcase(suite, trees);
    return suite;
}

RUN_SUITE(make_suite)
