// SPDX-License-Identifier: MIT
// Destroying in place, on every small tree: who dies, who stays where, and that a purge later
// changes no bit.
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
    espl_pose local[TALL], world[TALL];
    bool is_dead[TALL];  // after the destroy, ghosts of earlier ones included
    bool is_below[TALL]; // its parent is the top, or a dead one below it
} picture;

static picture take_picture(uint32_t run)
{
    const espl__run *const header = &forest->runs[run];
    picture p = {.size = header->size};

    for (uint32_t rank = 0; rank < p.size; ++rank) {
        const uint32_t slot = forest->order[header->base + rank];

        p.parent[rank] = forest->parent[header->base + rank];
        p.slot[rank] = slot;
        p.entity[rank] = forest->entity[slot];
        p.flags[rank] = forest->flags[slot];
        p.local[rank] = forest->local[slot];
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

// A living transform whose parent changed, be it through pass-throughs that show another parent's.
static bool is_rebased(const picture *p, uint32_t rank)
{
    while (!p->is_below[rank] && rank != 0 && is_pass(p, p->parent[rank])) {
        rank = p->parent[rank];
    }
    return p->is_below[rank];
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

static void node_is_right(const picture *p, uint32_t top, uint32_t rank)
{
    const uint32_t slot = p->slot[rank];
    const unsigned flags = forest->flags[slot];
    const unsigned extra = p->flags[rank] & ESPL__SLOT_EXTRA;

    if (p->is_dead[rank]) {
        demand(flags == (extra | ESPL__SLOT_GHOST | ESPL__SLOT_PASS), "flags of a ghost", p, top,
               rank);
        demand(forest->entity[slot] == ESPL__NO_ENTITY, "entity of a ghost", p, top, rank);
        return;
    }
    const bool is_rooted = rank != 0 && !has_living_above(p, rank);
    const unsigned kept = p->flags[rank] & ~(unsigned)(ESPL__SLOT_FREE_LINK | ESPL__SLOT_ROOTED);
    const unsigned expected =
        kept | (is_rooted ? (unsigned)ESPL__SLOT_ROOTED : p->flags[rank] & ESPL__SLOT_FREE_LINK);

    demand(flags == expected, "flags of a survivor", p, top, rank);
    demand(forest->entity[slot] == p->entity[rank], "entity of a survivor", p, top, rank);
    if (is_rooted) {
        demand(grove_same(&forest->local[slot], &forest->world[slot]), "rooted world", p, top,
               rank);
    }
    if (is_pass(p, rank)) {
        return; // shows another's world, or none
    }
    demand(is_near(&forest->world[slot], &p->world[rank]), "world stays", p, top, rank);
    if (!is_rebased(p, rank)) {
        demand(grove_same(&forest->local[slot], &p->local[rank]), "local stays", p, top, rank);
    }
    if (rank < top) {
        demand(grove_same(&forest->world[slot], &p->world[rank]), "world above", p, top, rank);
    }
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

// One case: a destroy, and after it others until nobody is left.
static void run_case(const uint32_t *parent, uint32_t size, const uint8_t *flags, uint32_t number)
{
    for (uint32_t which = 0; which < 3 * size; ++which) {
        const grove_plan plan = {.parent = parent,
                                 .size = size,
                                 .flags = flags,
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
    const uint32_t limit = test_scaled(10) < 10 ? SMALL - 1 : SMALL;
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
        uint8_t flags[40] = {0};

        grove_random_parents(parent, 40, 1 + test_below(&random_state, 4), &random_state);
        for (uint32_t rank = 0; rank < 40; ++rank) {
            flags[rank] =
                (uint8_t)((rank != 0 && test_one_in(&random_state, 2) ? ESPL__SLOT_FREE_LINK : 0) |
                          (test_one_in(&random_state, 4) ? ESPL__SLOT_PASS : 0));
        }
        const uint32_t run = grove_plant(&g, &(grove_plan){.parent = parent,
                                                           .size = 40,
                                                           .flags = flags,
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
    ck_assert(espl__propagate_from(forest, run, 1));
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

// --- Degenerate ancestors ---

START_TEST(survivor_below_a_scale_of_zero_stays_where_it_is)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 1, 2};
    const uint8_t flags[] = {0, 0, ESPL__SLOT_FREE_LINK, 0};

    for (uint32_t zero = 0; zero < 3; ++zero) {
        const uint32_t run =
            grove_plant(&g, &(grove_plan){.parent = parent, .size = 4, .flags = flags});

        forest->local[grove_slot(&g, run, zero)].scale = 0;
        ck_assert(espl__propagate_from(forest, run, zero));
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
    ck_assert(espl__propagate_from(forest, run, 0));
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
    ck_assert(espl__propagate_from(forest, run, 0));
    forest->world[last].position[2] = 1e10f; // as if rounding had brought it there
    espl__make_ghosts(forest, grove_slot(&g, run, 1), ESPL__CLOSURE_OWNED, bury_nobody, NULL);
    grove_is_sound(&g);
    ck_assert_float_eq(forest->local[last].position[0], 3);
    ck_assert_float_eq(forest->local[last].position[1], 4);
    ck_assert_float_eq(forest->local[last].position[2], 0);
}
END_TEST

// --- Purge, through a world ---

enum { KIN = 48, SOLOS = 2 };

typedef struct family {
    test_world test;
    espl_entity member[KIN], solo[SOLOS];
    bool is_placed[KIN];
} family;

static bool is_living(const family *f, uint32_t i)
{
    return espl_get_role(f->test.world, f->member[i]) != ESPL_ROLE_NONE;
}

static espl_entity make_member(family *f, uint32_t i)
{
    espl_world *const world = f->test.world;
    espl_entity entity = {0};
    const espl_component placement = ESPL_PLACEMENT;

    f->is_placed[i] = !test_one_in(&random_state, 5);
    ck_assert_int_eq(espl_create(world, &placement, f->is_placed[i] ? 1 : 0, 1, &entity), ESPL_OK);
    return entity;
}

// A random family of pass-throughs, free links and stretches.
static void begin_family(family *f)
{
    test_world_begin(&f->test, 3, NULL);
    for (uint32_t i = 0; i < SOLOS; ++i) {
        f->solo[i] = test_solo(f->test.world);
    }
    for (uint32_t i = 0; i < KIN; ++i) {
        f->member[i] = make_member(f, i);
        if (i != 0) {
            const espl_attach_options options = {
                .position = ESPL_KEEP_LOCAL,
                .rotation = ESPL_KEEP_LOCAL,
                .scale = ESPL_KEEP_LOCAL,
                .link = test_one_in(&random_state, 2) ? ESPL_LINK_FREE : ESPL_LINK_OWNED};
            const espl_entity parent = f->member[i < 4 ? 0 : test_below(&random_state, i)];

            ck_assert_int_eq(espl_attach(f->test.world, f->member[i], parent, &options), ESPL_OK);
        }
        if (f->is_placed[i]) {
            const espl_pose pose = grove_random_pose(&random_state);
            const espl__extra extra = {{1, test_one_in(&random_state, 9) ? 2.0f : 1.0f, 1}, 0};
            const espl_transform value = espl__transform_of(&pose, &extra);

            ck_assert_int_eq(espl_set_local(f->test.world, f->member[i], &value), ESPL_OK);
        }
    }
}

typedef struct placements {
    espl_transform local[KIN], world[KIN];
} placements;

static placements read_placements(const family *f)
{
    placements p;

    memset(&p, 0, sizeof p);
    for (uint32_t i = 0; i < KIN; ++i) {
        if (is_living(f, i) && f->is_placed[i]) {
            p.local[i] = test_local_of(f->test.world, f->member[i]);
            p.world[i] = test_world_of(f->test.world, f->member[i]);
        }
    }
    return p;
}

static size_t count_ghosts(const family *f)
{
    espl_world_stats stats;

    espl_stats(f->test.world, &stats);
    return stats.ghosts;
}

static void destroy_any(family *f, uint32_t from)
{
    const uint32_t i = from + test_below(&random_state, KIN - from);

    if (is_living(f, i)) {
        ck_assert_int_eq(test_one_in(&random_state, 2)
                             ? espl_destroy_only(f->test.world, f->member[i])
                             : espl_destroy(f->test.world, f->member[i]),
                         ESPL_OK);
    }
}

START_TEST(purge_changes_no_bit_of_any_placement)
{
    const size_t rounds = test_scaled(300);
    size_t purged = 0;

    for (size_t round = 0; round < rounds; ++round) {
        family f;

        begin_family(&f);
        for (uint32_t i = 0; i < 4; ++i) {
            destroy_any(&f, 1);
        }
        const placements before = read_placements(&f);
        purged += count_ghosts(&f);

        // Any rebuild purges.
        ck_assert_int_eq(espl_attach(f.test.world, f.solo[0], f.member[0], NULL), ESPL_OK);
        ck_assert_uint_eq(count_ghosts(&f), 0);
        const placements after = read_placements(&f);
        ck_assert_int_eq(memcmp(&before, &after, sizeof before), 0);
        test_world_end(&f.test);
    }
    ck_assert_uint_gt(purged, rounds);
}
END_TEST

START_TEST(purge_put_off_for_lack_of_memory_changes_no_bit_when_it_comes)
{
    const size_t rounds = test_scaled(300);
    size_t rooted = 0;

    for (size_t round = 0; round < rounds; ++round) {
        family f;

        begin_family(&f);
        test_heap_arm(&f.test.heap, 1, true);
        ck_assert_int_eq(espl_destroy_only(f.test.world, f.member[0]), ESPL_OK);
        for (uint32_t i = 0; i < 5; ++i) {
            destroy_any(&f, 1);
        }
        test_heap_arm(&f.test.heap, 0, false);
        test_world_is_valid(f.test.world);
        const placements before = read_placements(&f);
        rooted += count_ghosts(&f) != 0;

        // Whatever is carried out next purges what waits.
        ck_assert_int_eq(espl_attach(f.test.world, f.solo[0], f.solo[1], NULL), ESPL_OK);
        ck_assert_uint_eq(count_ghosts(&f), 0);
        const placements after = read_placements(&f);
        ck_assert_int_eq(memcmp(&before, &after, sizeof before), 0);
        test_world_end(&f.test);
    }
    ck_assert_uint_gt(rooted, rounds / 2);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("tree/ghosts");
    TCase *const trees = tcase_create("trees");
    TCase *const purges = tcase_create("purges");

    tcase_add_checked_fixture(trees, set_up, tear_down);
    tcase_set_timeout(trees, 120);
    tcase_add_test(trees, every_small_tree_loses_what_the_rules_say_and_no_more);
    tcase_add_test(trees, large_trees_lose_one_after_the_other);
    tcase_add_test(trees, run_is_unsettled_past_eight_ghosts_or_a_quarter);
    tcase_add_test(trees, root_left_alone_wants_a_purge);
    tcase_add_test(trees, ghost_root_wants_a_purge_at_once);
    tcase_add_test(trees, children_of_a_dead_root_stand_on_their_own);
    tcase_add_test(trees, rooted_survivor_has_a_rotation_of_unit_length);
    tcase_add_test(trees, survivor_below_a_scale_of_zero_stays_where_it_is);
    tcase_add_test(trees, survivor_keeps_its_local_axes_where_the_parent_has_none);
    tcase_add_test(trees, survivor_that_cannot_be_seen_from_its_parent_takes_the_composed_local);
    suite_add_tcase(suite, trees);

    tcase_add_checked_fixture(purges, set_up, tear_down);
    tcase_set_timeout(purges, 120);
    tcase_add_test(purges, purge_changes_no_bit_of_any_placement);
    tcase_add_test(purges, purge_put_off_for_lack_of_memory_changes_no_bit_when_it_comes);
    suite_add_tcase(suite, purges);
    return suite;
}

RUN_SUITE(make_suite)
