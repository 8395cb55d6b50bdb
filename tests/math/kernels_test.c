// SPDX-License-Identifier: MIT
// Every kernel that this machine can run, against the formula node by node.
#include "lib/math/kernels.h"

#include "tests/math/numbers.h"
#include "tests/runner.h"

#include <espalier/world.h>

#include <stdlib.h>

enum { LARGEST = 70, SHAPES = 400 };

// One hierarchy, its slots between others that nobody may touch. A parent's slot is below its children's.
typedef struct patch {
    uint32_t size;
    uint32_t parent[LARGEST];                         // by slot
    espl_pose local[LARGEST + 2], world[LARGEST + 2]; // by slot + 1, a stranger at both ends
} patch;

static float compose(const espl__kernels *kernels, patch *p, uint32_t begin, uint32_t end)
{
    return kernels->compose(p->world + 1, p->local + 1, p->parent, begin, end);
}

// A pose of any floats in every fourth, where asked for: denormals, zeros, overflow.
static espl_pose any_pose(uint64_t *random, bool is_wild)
{
    const espl_transform t = any_transform(random);
    espl_pose pose = espl__pose_of(&t);

    if (is_wild && test_one_in(random, 4)) {
        for (int i = 0; i < 3; ++i) {
            pose.position[i] = any_finite(random);
        }
        pose.scale = test_one_in(random, 3) ? -0.0f : any_finite(random);
    }
    return pose;
}

// In breadth-first order parents ascend, by steps that make fans from one to the whole tree.
static void link_in_order(patch *p, uint64_t *random)
{
    const uint32_t fan = 1 + test_below(random, 20);

    for (uint32_t slot = 1; slot < p->size; ++slot) {
        const uint32_t before = slot == 1 ? 0 : p->parent[slot - 1];
        const uint32_t steps = test_one_in(random, fan) ? 1 + test_below(random, 3) : 0;

        p->parent[slot] = before + steps < slot ? before + steps : slot - 1;
    }
}

// In any other order they are only below: near ones, or any.
static void link_anyhow(patch *p, uint64_t *random)
{
    const uint32_t reach = 1 + test_below(random, LARGEST);

    for (uint32_t slot = 1; slot < p->size; ++slot) {
        p->parent[slot] = slot - 1 - test_below(random, slot < reach ? slot : reach);
    }
}

// Chains side by side: a level for each step of them.
static void link_in_chains(patch *p, uint64_t *random)
{
    const uint32_t width = 1 + test_below(random, 9);

    for (uint32_t slot = 1; slot < p->size; ++slot) {
        p->parent[slot] = slot > width ? slot - width : 0;
    }
}

static patch any_patch(uint64_t *random, bool is_wild)
{
    patch p = {.size = 2 + test_below(random, LARGEST - 1), .parent = {UINT32_MAX}};

    if (test_one_in(random, 3)) {
        link_in_chains(&p, random);
    } else if (test_one_in(random, 2)) {
        link_in_order(&p, random);
    } else {
        link_anyhow(&p, random);
    }
    for (uint32_t i = 0; i < p.size + 2; ++i) {
        p.local[i] = any_pose(random, is_wild);
        p.world[i] = any_pose(random, false);
    }
    return p;
}

// What is to come out at slots [begin, end). @return the alarm.
static float compose_each(patch *p, uint32_t begin, uint32_t end)
{
    float alarm = 0;

    for (uint32_t slot = begin; slot < end; ++slot) {
        const uint32_t at = 1 + slot, up = 1 + p->parent[slot];

        p->world[at] = espl__pose_compose(&p->world[up], NULL, &p->local[at]);
        alarm += espl__pose_nonfinite(&p->world[at]);
    }
    return alarm;
}

// Bit for bit, but for the bits of a NaN.
static bool is_same_float(const float *a, const float *b)
{
    return memcmp(a, b, sizeof *a) == 0 || (isnan(*a) && isnan(*b));
}

static void are_same_worlds(const patch *a, const patch *b, const char *kernels)
{
    const float *const x = (const float *)(const void *)a->world;
    const float *const y = (const float *)(const void *)b->world;

    for (size_t i = 0; i < (a->size + 2) * sizeof *a->world / sizeof *x; ++i) {
        ck_assert_msg(is_same_float(&x[i], &y[i]), "%s: float %zu of slot %zu", kernels, i % 8,
                      i / 8);
    }
}

static void all_compose_alike(const patch *before, uint32_t begin, uint32_t end)
{
    const espl__kernels *all[ESPL__KERNELS_LIMIT];
    const size_t count = espl__kernels_all(all);
    patch expected = *before;
    const float alarm = compose_each(&expected, begin, end);

    for (size_t i = 0; i < count; ++i) {
        patch p = *before;
        const float heard = compose(all[i], &p, begin, end);

        ck_assert_msg(heard == 0 || isnan(heard), "%s: neither 0 nor NaN", all[i]->name);
        ck_assert_msg((heard == 0) == (alarm == 0), "%s: alarm", all[i]->name);
        are_same_worlds(&expected, &p, all[i]->name);
    }
}

TEST(every_shape_comes_out_the_same)
{
    uint64_t random = 1;

    for (int i = 0; i < SHAPES; ++i) {
        const patch p = any_patch(&random, false);

        all_compose_alike(&p, 1, p.size);
    }
}

TEST(any_part_is_composed_and_nothing_else)
{
    uint64_t random = 2;

    for (int i = 0; i < SHAPES / 40; ++i) {
        const patch p = any_patch(&random, false);

        for (uint32_t begin = 1; begin <= p.size; ++begin) {
            for (uint32_t end = begin; end <= p.size; ++end) {
                all_compose_alike(&p, begin, end);
            }
        }
    }
}

TEST(extreme_floats_come_out_the_same)
{
    uint64_t random = 3;

    for (int i = 0; i < SHAPES; ++i) {
        const patch p = any_patch(&random, true);

        all_compose_alike(&p, 1, p.size);
    }
}

TEST(a_world_that_is_not_finite_raises_the_alarm_from_any_slot)
{
    const espl__kernels *all[ESPL__KERNELS_LIMIT];
    const size_t count = espl__kernels_all(all);
    uint64_t random = 4;

    for (uint32_t slot = 1; slot < LARGEST; ++slot) {
        patch p = any_patch(&random, false);

        if (slot >= p.size) {
            continue;
        }
        p.local[1 + slot].position[slot % 3] = 3e38f;
        p.world[1].scale = 4;
        p.world[1].position[0] = 3e38f;
        all_compose_alike(&p, 1, p.size);
        for (size_t i = 0; i < count; ++i) {
            patch now = p;

            now.local[1 + slot].scale = INFINITY;
            ck_assert(isnan(compose(all[i], &now, 1, p.size)));
        }
    }
}

// --- Several ranges at once ---

enum { MOST_TREES = ESPL__WIDTH_LIMIT, MOST_SIZE = 24, MOST_SLOTS = MOST_TREES * (MOST_SIZE + 1) };

// Trees of any shape and size in consecutive slots. The slot after each tree belongs to no tree, so
// the kernel must not write it.
typedef struct rows {
    uint32_t trees, least, slots; // number; size of the smallest one; all slots
    uint32_t base[MOST_TREES];
    uint32_t parent[MOST_SLOTS];
    espl_pose local[MOST_SLOTS], world[MOST_SLOTS];
} rows;

static void draw_tree(rows *r, uint64_t *random, bool is_wild)
{
    const uint32_t base = r->slots;
    patch shape = any_patch(random, false);

    while (shape.size > MOST_SIZE) {
        shape = any_patch(random, false);
    }
    for (uint32_t k = 0; k <= shape.size; ++k) {
        r->parent[base + k] = k == 0 || k == shape.size ? UINT32_MAX : base + shape.parent[k];
        r->local[base + k] = any_pose(random, is_wild);
        r->world[base + k] = any_pose(random, false);
    }
    r->base[r->trees++] = base;
    r->slots += shape.size + 1;
    r->least = shape.size < r->least ? shape.size : r->least;
}

static float compose_rows(rows *r, const uint32_t *first, uint32_t trees, uint32_t count)
{
    float alarm = 0;

    for (uint32_t i = 0; i < trees; ++i) {
        for (uint32_t slot = first[i]; slot < first[i] + count; ++slot) {
            r->world[slot] =
                espl__pose_compose(&r->world[r->parent[slot]], NULL, &r->local[slot]);
            alarm += espl__pose_nonfinite(&r->world[slot]);
        }
    }
    return alarm;
}

// Any of the trees in any order, some of them twice.
static void ranges_come_out(const espl__kernels *kernels, uint64_t *random, bool is_wild)
{
    static rows before, is, expected;
    uint32_t first[MOST_TREES];

    before.trees = before.slots = 0;
    before.least = MOST_SIZE;
    while (before.trees < MOST_TREES) {
        draw_tree(&before, random, is_wild);
    }
    for (uint32_t i = 0; i < kernels->width; ++i) {
        first[i] = before.base[test_below(random, before.trees)] + 1;
    }
    is = expected = before;
    const float alarm = compose_rows(&expected, first, kernels->width, before.least - 1);
    const float heard =
        kernels->compose_ranges(is.world, is.local, is.parent, first, before.least - 1);

    ck_assert_msg(heard == 0 || isnan(heard), "%s: neither 0 nor NaN", kernels->name);
    ck_assert_msg((heard == 0) == (alarm == 0), "%s: alarm", kernels->name);
    for (uint32_t slot = 0; slot < is.slots; ++slot) {
        const float *const x = (const float *)(const void *)&is.world[slot];
        const float *const y = (const float *)(const void *)&expected.world[slot];

        for (size_t i = 0; i < sizeof *is.world / sizeof *x; ++i) {
            ck_assert_msg(is_same_float(&x[i], &y[i]), "%s: float %zu of slot %u", kernels->name,
                          i, slot);
        }
    }
}

TEST(several_ranges_come_out_the_same)
{
    const espl__kernels *all[ESPL__KERNELS_LIMIT];
    const size_t count = espl__kernels_all(all);
    uint64_t random = 5;

    for (size_t i = 0; i < count; ++i) {
        ck_assert_uint_le(all[i]->width, ESPL__WIDTH_LIMIT);
        ck_assert((all[i]->width == 1) == (all[i]->compose_ranges == NULL));
        for (int round = 0; all[i]->width != 1 && round < SHAPES; ++round) {
            ranges_come_out(all[i], &random, round % 2 != 0);
        }
    }
}

// --- Stores of poses ---

enum { ENTRIES = 41, NODES = 60, OBSTACLES = 8 };

// Entries of a batch of writes: their values in any order, or as they come.
typedef struct entries {
    uint32_t slots[ENTRIES], numbers[ENTRIES];
    espl_transform values[ENTRIES]; // by number
    espl_pose local[NODES];
} entries;

static bool is_sound(const espl_transform *t, bool has_stretch)
{
    const espl_pose pose = espl__pose_of(t);

    return espl__pose_is_finite(&pose) && espl__rotation_is_unit(pose.rotation) &&
           (!has_stretch || espl__all_finite(t->stretch, 3));
}

// Something that a store may not take, or that makes a sum of several values overflow.
static void spoil(entries *e, uint64_t *random, uint32_t i)
{
    espl_transform *const t = &e->values[e->numbers[i]];

    switch (test_below(random, 6)) {
    case 0:
        memcpy(t, &e->local[e->slots[i]], sizeof e->local[0]);
        break;
    case 1:
        t->position[test_below(random, 3)] = NAN;
        break;
    case 2:
        t->scale = INFINITY;
        break;
    case 3:
        t->rotation[test_below(random, 4)] += 0.125f;
        break;
    case 4:
        t->stretch[test_below(random, 3)] = -INFINITY;
        break;
    default:
        t->position[0] = 3e38f;
        break;
    }
}

static void draw_entries(entries *e, uint64_t *random, bool is_shuffled)
{
    uint32_t slot = 0;

    for (uint32_t i = 0; i < NODES; ++i) {
        e->local[i] = any_pose(random, false);
    }
    for (uint32_t i = 0; i < ENTRIES; ++i) {
        slot += test_below(random, 8) == 0 ? 0 : 1;
        e->slots[i] = slot;
        e->numbers[i] = is_shuffled ? ENTRIES - 1 - i : i;
        e->values[i] = any_transform(random);
        e->values[i].user_data = UINT32_MAX; // a NaN, where it is taken for a float
    }
    for (uint32_t i = 0; i < ENTRIES; ++i) {
        if (test_one_in(random, 12)) {
            spoil(e, random, i);
        }
    }
}

// Tell whether one of the next entries is a reason to end before them.
static bool has_reason(const entries *e, const espl_pose *local, uint32_t at, bool has_stretch)
{
    bool has = false;

    for (uint32_t i = at; i < ENTRIES && i < at + OBSTACLES; ++i) {
        const espl_transform *const t = &e->values[e->numbers[i]];
        const espl_pose pose = espl__pose_of(t);

        has = has || !is_sound(t, has_stretch) || t->position[0] > 1e38f ||
              espl__pose_is_same(&local[e->slots[i]], &pose);
    }
    return has || at + 4 > ENTRIES;
}

static void poses_are_stored(const espl__kernels *kernels, uint64_t *random)
{
    const bool is_shuffled = test_one_in(random, 2), has_stretch = test_one_in(random, 2);
    const uint32_t begin = test_below(random, ENTRIES);
    static entries before, is;

    draw_entries(&before, random, is_shuffled);
    is = before;
    const espl__pose_values values = {(const unsigned char *)before.values, sizeof *before.values,
                                      has_stretch};
    const uint32_t done =
        kernels->store_poses(is.local, is.slots + begin, &values,
                             is_shuffled ? is.numbers + begin : NULL, begin, ENTRIES - begin);

    ck_assert_msg(done <= ENTRIES - begin, "%s: too many", kernels->name);
    for (uint32_t i = begin; i < begin + done; ++i) {
        const espl_transform *const t = &before.values[before.numbers[i]];
        const espl_pose pose = espl__pose_of(t);

        ck_assert_msg(is_sound(t, has_stretch), "%s: entry %u is stored", kernels->name, i);
        ck_assert_msg(!espl__pose_is_same(&before.local[before.slots[i]], &pose),
                      "%s: entry %u is not skipped", kernels->name, i);
        before.local[before.slots[i]] = pose;
    }
    ck_assert_msg(memcmp(is.local, before.local, sizeof is.local) == 0, "%s: stores",
                  kernels->name);
    ck_assert_msg(begin + done == ENTRIES ||
                      has_reason(&before, before.local, begin + done, has_stretch),
                  "%s: ends at entry %u", kernels->name, begin + done);
}

TEST(poses_are_stored_up_to_an_obstacle)
{
    const espl__kernels *all[ESPL__KERNELS_LIMIT];
    const size_t count = espl__kernels_all(all);
    uint64_t random = 6;

    for (size_t i = 0; i < count; ++i) {
        for (int round = 0; round < 5 * SHAPES; ++round) {
            poses_are_stored(all[i], &random);
        }
    }
}

TEST(kernels_are_found_by_name)
{
    const espl__kernels *all[ESPL__KERNELS_LIMIT];
    const size_t count = espl__kernels_all(all);

    ck_assert_uint_ge(count, 1);
    ck_assert_uint_le(count, ESPL__KERNELS_LIMIT);
    ck_assert_str_eq(all[0]->name, "scalar");
    ck_assert_ptr_eq(all[count - 1], espl__kernels_best());
    for (size_t i = 0; i < count; ++i) {
        ck_assert_ptr_eq(espl__kernels_named(all[i]->name), all[i]);
    }
    ck_assert_ptr_null(espl__kernels_named(""));
    ck_assert_ptr_null(espl__kernels_named("sse"));
}

// A test of wide kernels on a machine where only the plain one is found would prove nothing.
TEST(a_world_takes_the_best_kernels_where_nobody_asks)
{
    espl_world *world = NULL;

    unsetenv("ESPALIER_KERNELS");
    ck_ok(espl_world_create(NULL, &world));
    ck_assert_str_eq(espl_world_kernels(world), espl__kernels_best()->name);
    espl_world_destroy(world);
}

TEST(machines_with_vectors_have_wide_kernels)
{
#if defined(__x86_64__) && defined(__GNUC__)
    ck_assert_ptr_nonnull(espl__kernels_named("sse2"));
    ck_assert(!__builtin_cpu_supports("avx2") || espl__kernels_named("avx2") != NULL);
    ck_assert(!__builtin_cpu_supports("avx512f") || espl__kernels_named("avx512") != NULL);
    ck_assert_ptr_null(espl__kernels_named("neon"));
#elif defined(__aarch64__) && defined(__GNUC__)
    ck_assert_ptr_nonnull(espl__kernels_named("neon"));
    ck_assert_ptr_null(espl__kernels_named("avx2"));
#endif
}
