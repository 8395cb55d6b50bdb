// SPDX-License-Identifier: MIT
// Each pointer of each pure function may be missing: checked builds trap, the others write nothing
// and refuse where they can.
#include "tests/checks.h"
#include "tests/base/abort.h"
#include "tests/runner.h"

#include <espalier/quat.h>
#include <espalier/transform.h>

#include <string.h>

// What the calls are handed; one of them is missing.
typedef struct arguments {
    espl_transform *out;
    const espl_transform *a, *b;
    float *to;
    const float *v, *w, *s;
} arguments;

static espl_transform result, first, second;
static float floats[16];
static const float numbers[16] = {0, 0, 0, 1};

// --- The calls; those that answer nothing count as refused where nothing was written ---

static espl_status call_relative(const arguments *x)
{
    return espl_transform_relative(x->out, x->a, x->b);
}

static espl_status call_compose(const arguments *x)
{
    (void)espl_transform_compose(x->a, x->b);
    return ESPL_ERR_ARGUMENT;
}

#define CONVERSION(name)                               \
    static espl_status call_##name(const arguments *x) \
    {                                                  \
        espl_transform_##name(x->to, x->a, x->v);      \
        return ESPL_ERR_ARGUMENT;                      \
    }
CONVERSION(direction)
CONVERSION(direction_inverse)
CONVERSION(vector)
CONVERSION(vector_inverse)
CONVERSION(point)
CONVERSION(point_inverse)

#define MATRIX(name)                                   \
    static espl_status call_##name(const arguments *x) \
    {                                                  \
        espl_transform_##name(x->to, x->a);            \
        return ESPL_ERR_ARGUMENT;                      \
    }
MATRIX(matrix_3x4)
MATRIX(matrix_4x4)
MATRIX(matrix_4x4_inverse)

static espl_status call_axis(const arguments *x)
{
    espl_transform_axis(x->to, x->a, ESPL_AXIS_UP);
    return ESPL_ERR_ARGUMENT;
}

static espl_status call_rotate_about(const arguments *x)
{
    return espl_transform_rotate_about(x->out, x->v, x->w);
}

static espl_status call_from_trs(const arguments *x)
{
    return espl_transform_from_trs(x->out, x->v, x->w, x->s);
}

static espl_status call_to_trs(const arguments *x)
{
    // One array of 4 stands in for all three where it is there.
    espl_transform_to_trs(x->a, x->to, x->v != NULL ? floats + 4 : NULL,
                          x->w != NULL ? floats + 8 : NULL);
    return ESPL_ERR_ARGUMENT;
}

static espl_status call_lerp(const arguments *x)
{
    return espl_transform_lerp(x->out, x->a, x->b, 0.5f);
}

static espl_status call_identity(const arguments *x)
{
    espl_quat_identity(x->to);
    return ESPL_ERR_ARGUMENT;
}

static espl_status call_from_wxyz(const arguments *x)
{
    espl_quat_from_wxyz(x->to, 1, 2, 3, 4);
    return ESPL_ERR_ARGUMENT;
}

static espl_status call_to_wxyz(const arguments *x)
{
    espl_quat_to_wxyz(x->to, x->v);
    return ESPL_ERR_ARGUMENT;
}

static espl_status call_normalize(const arguments *x)
{
    return espl_quat_normalize(x->to);
}

static espl_status call_conjugate(const arguments *x)
{
    espl_quat_conjugate(x->to, x->v);
    return ESPL_ERR_ARGUMENT;
}

static espl_status call_multiply(const arguments *x)
{
    espl_quat_multiply(x->to, x->v, x->w);
    return ESPL_ERR_ARGUMENT;
}

static espl_status call_rotate(const arguments *x)
{
    espl_quat_rotate(x->to, x->v, x->w);
    return ESPL_ERR_ARGUMENT;
}

static espl_status call_from_axis_angle(const arguments *x)
{
    return espl_quat_from_axis_angle(x->to, x->v, 1);
}

static espl_status call_to_axis_angle(const arguments *x)
{
    return espl_quat_to_axis_angle(x->to, x->w != NULL ? floats + 4 : NULL, x->v);
}

static espl_status call_from_euler(const arguments *x)
{
    return espl_quat_from_euler(x->to, x->v, ESPL_EULER_XYZ);
}

static espl_status call_to_euler(const arguments *x)
{
    return espl_quat_to_euler(x->to, x->v, ESPL_EULER_XYZ);
}

static espl_status call_between(const arguments *x)
{
    return espl_quat_between(x->to, x->v, x->w);
}

static espl_status call_nlerp(const arguments *x)
{
    return espl_quat_nlerp(x->to, x->v, x->w, 0.5f);
}

static espl_status call_slerp(const arguments *x)
{
    return espl_quat_slerp(x->to, x->v, x->w, 0.5f);
}

enum { OUT = 1, A = 2, B = 4, TO = 8, V = 16, W = 32, S = 64, POINTERS = 7 };

static const struct {
    espl_status (*call)(const arguments *x);
    unsigned uses;
} calls[] = {
    {call_relative, OUT | A | B},
    {call_compose, A | B},
    {call_direction, TO | A | V},
    {call_direction_inverse, TO | A | V},
    {call_vector, TO | A | V},
    {call_vector_inverse, TO | A | V},
    {call_point, TO | A | V},
    {call_point_inverse, TO | A | V},
    {call_matrix_3x4, TO | A},
    {call_matrix_4x4, TO | A},
    {call_matrix_4x4_inverse, TO | A},
    {call_axis, TO | A},
    {call_rotate_about, OUT | V | W},
    {call_from_trs, OUT | V | W | S},
    {call_to_trs, A | TO | V | W},
    {call_lerp, OUT | A | B},
    {call_identity, TO},
    {call_from_wxyz, TO},
    {call_to_wxyz, TO | V},
    {call_normalize, TO},
    {call_conjugate, TO | V},
    {call_multiply, TO | V | W},
    {call_rotate, TO | V | W},
    {call_from_axis_angle, TO | V},
    {call_to_axis_angle, TO | V | W},
    {call_from_euler, TO | V},
    {call_to_euler, TO | V},
    {call_between, TO | V | W},
    {call_nlerp, TO | V | W},
    {call_slerp, TO | V | W},
};

static int at;
static unsigned missing;

static void call_it(void)
{
    const arguments x = {.out = missing == OUT ? NULL : &result,
                         .a = missing == A ? NULL : &first,
                         .b = missing == B ? NULL : &second,
                         .to = missing == TO ? NULL : floats,
                         .v = missing == V ? NULL : numbers,
                         .w = missing == W ? NULL : numbers,
                         .s = missing == S ? NULL : numbers};

    ck_assert_int_eq(calls[at].call(&x), ESPL_ERR_ARGUMENT);
}

static void begin(void)
{
    result = first = second = espl_transform_identity();
    for (int i = 0; i < 16; ++i) {
        floats[i] = 77;
    }
}

START_TEST(each_missing_pointer_traps_in_checked_builds_and_is_refused_in_others)
{
    const espl_transform identity = espl_transform_identity();
    char said[256];

    at = _i;
    for (unsigned bit = 0; bit < POINTERS; ++bit) {
        missing = 1u << bit;
        if ((calls[at].uses & missing) == 0) {
            continue;
        }
        begin();
        if (ESPL_CHECKS >= 1) {
            expect_abort(call_it, said, sizeof said);
            ck_assert_ptr_nonnull(strstr(said, "wrong use"));
            continue;
        }
        call_it();
        ck_assert_int_eq(memcmp(&result, &identity, sizeof result), 0);
        for (int i = 0; i < 16; ++i) {
            ck_assert_float_eq(floats[i], 77);
        }
    }
}
END_TEST

static void call_without_order(void)
{
    ck_assert_int_eq(espl_quat_from_euler(floats, numbers, (espl_euler_order)at),
                     ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_quat_to_euler(floats, numbers, (espl_euler_order)at), ESPL_ERR_ARGUMENT);
}

static void read_without_order(void)
{
    ck_assert_int_eq(espl_quat_to_euler(floats, numbers, (espl_euler_order)at), ESPL_ERR_ARGUMENT);
}

START_TEST(order_that_does_not_exist_traps_in_checked_builds_and_is_refused_in_others)
{
    const int orders[] = {-1, ESPL_EULER_ZYX + 1, 1000};
    char said[256];

    for (int i = 0; i < 3; ++i) {
        at = orders[i];
        begin();
        if (ESPL_CHECKS >= 1) {
            expect_abort(call_without_order, said, sizeof said);
            ck_assert_ptr_nonnull(strstr(said, "wrong use"));
            expect_abort(read_without_order, said, sizeof said);
            ck_assert_ptr_nonnull(strstr(said, "wrong use"));
            continue;
        }
        call_without_order();
        ck_assert_float_eq(floats[0], 77);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("math/pointers");
    TCase *const pointers = tcase_create("pointers");

    tcase_add_loop_test(pointers,
                        each_missing_pointer_traps_in_checked_builds_and_is_refused_in_others, 0,
                        (int)(sizeof calls / sizeof *calls));
    tcase_add_test(pointers,
                   order_that_does_not_exist_traps_in_checked_builds_and_is_refused_in_others);
    suite_add_tcase(suite, pointers);
    return suite;
}

RUN_SUITE(make_suite)
