/* SPDX-License-Identifier: MIT */
/* The functions on single numbers: their edges, their accuracy against libm in long double, and that they are the same bits everywhere. */
#include <float.h>
#include <math.h>

#include "check.h"

#include "rank/numbers.h"

static uint64_t seed = 1;

static double unit(void) /* 0 <= x < 1 */
{
    return (double)(int64_t)(mix64(seed++) >> 11) * 0x1p-53;
}

/* Any finite double, all exponents alike. */
static double any(void)
{
    double x;
    do
        x = of_bits(mix64(seed++));
    while (!isfinite(x));
    return x;
}

static void assert_real(double got, double want)
{
    if (!(got == want)) /* -0.0 passes for 0.0 */
        fail_msg("got %a (%.17g), want %a (%.17g)", got, got, want, want);
}

#define ASSERT_SMALL(error, most)                                                                                \
    do                                                                                                           \
        if ((error) > (most))                                                                                    \
            fail_msg("%s: %g units in the last place, more than %g", __func__, (double)(error), (double)(most)); \
    while (0)

/* |got - want| in units of the last place of want. */
static double ulps(double got, long double want)
{
    double w = fabs((double)want);
    return (double)(fabsl((long double)got - want) / ((long double)nextafter(w, INFINITY) - (long double)w));
}

enum { ROUNDS = 300000 };

/* ---- accuracy ---- */

static void exp2_is_accurate(void **state)
{
    (void)state;
    double worst = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double x = (unit() - 0.5) * (i % 3 ? 2044.0 : 4.0);
        worst = fmax(worst, ulps(exp2_exact(x), exp2l((long double)x)));
    }
    ASSERT_SMALL(worst, 0.7);
    for (int k = -1074; k < 1024; k++)
        assert_real(exp2_exact(k), ldexp(1.0, k));
    assert_real(exp2_exact(1024), INFINITY);
    assert_real(exp2_exact(1e300), INFINITY);
    assert_real(exp2_exact(-1076), 0);
    assert_real(exp2_exact(-1e300), 0);
    assert_real(exp2_exact(-0.0), 1);
}

static void log2_is_accurate(void **state)
{
    (void)state;
    double worst = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double x = i % 3 == 0 ? fabs(any()) : i % 3 == 1 ? 1 + (unit() - 0.5) * 0.1 : 1 + (unit() - 0.5) * 1e-9;
        if (x > 0)
            worst = fmax(worst, ulps(log2_exact(x), log2l((long double)x)));
    }
    ASSERT_SMALL(worst, 0.51);
    for (int k = -1074; k < 1024; k++)
        assert_real(log2_exact(ldexp(1.0, k)), k);
    assert_real(log2_exact(0), -DBL_MAX);
    assert_real(log2_exact(-1), -DBL_MAX);
    assert_real(log2_exact(NAN), -DBL_MAX);
    assert_real(log2_exact(INFINITY), 1024);
}

static void log1p_is_accurate(void **state)
{
    (void)state;
    double worst = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double x;
        switch (i % 5) {
        case 0: x = unit() * 2 - 1; break;
        case 1: x = unit() * 1e6; break;
        case 2: x = fabs(any()); break;
        case 3: x = (unit() - 0.5) * 1e-6; break;
        default: x = ldexp(1 + unit(), (int)(unit() * 60) - 60) - 1; break; /* near -1 */
        }
        if (x > -1)
            worst = fmax(worst, ulps(num_log1p(x), log1pl((long double)x)));
    }
    ASSERT_SMALL(worst, 1.4);
}

static void exp_is_accurate(void **state)
{
    (void)state;
    double worst = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double x = (unit() - 0.5) * (i % 2 ? 1416 : 3);
        worst = fmax(worst, ulps(num_exp(x), expl((long double)x)));
    }
    ASSERT_SMALL(worst, 0.75);
}

static void pow_is_accurate(void **state)
{
    (void)state;
    double worst = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double a = i % 2 ? unit() * 10 : fabs(any()), b = (unit() - 0.5) * (i % 2 ? 40 : 3);
        long double want = powl((long double)a, (long double)b);
        if (a > 0 && want < DBL_MAX && want > DBL_MIN)
            worst = fmax(worst, ulps(num_pow(a, b), want));
    }
    ASSERT_SMALL(worst, 0.8);
    for (int a = 1; a < 3000; a++) { /* what is a double exactly, is exact */
        assert_real(num_pow(a, 2), (double)a * a);
        assert_real(num_pow(a, 3), (double)a * a * a);
        assert_real(num_pow((double)a * a, 0.5), a);
        assert_real(num_pow(-a, 3), -(double)a * a * a);
    }
}

/* ---- edges ---- */

static void results_are_finite(void **state)
{
    (void)state;
    assert_real(num_finite(NAN), 0);
    assert_real(num_finite(INFINITY), DBL_MAX);
    assert_real(num_finite(-INFINITY), -DBL_MAX);
    assert_real(num_finite(-3.5), -3.5);
    const double odd[] = {0.0,       -0.0,    1,        -1,    0.5,    -0.5,   2,       -3,       DBL_MIN,   -DBL_MIN,
                          0x1p-1074, DBL_MAX, -DBL_MAX, 1e300, -1e300, 0x1p53, -0x1p63, INFINITY, -INFINITY, NAN};
    enum { N = sizeof odd / sizeof *odd };
    for (int i = 0; i < N; i++) {
        double a = odd[i];
        assert_true(isfinite(num_exp(a)) && isfinite(num_exp2(a)) && isfinite(num_sign(a)));
        if (!isfinite(a))
            continue;
        assert_true(isfinite(num_log1p(a)) && isfinite(num_sqrt(a)));
        for (int j = 0; j < N; j++) {
            double b = odd[j];
            assert_true(isfinite(num_pow(a, b)));
            if (!isfinite(b))
                continue;
            assert_true(isfinite(num_div(a, b)) && isfinite(num_rise(a, b, 24)) && isfinite(num_recency(a, b)));
            assert_true(num_wilson(a, b) >= 0 && num_wilson(a, b) <= 1);
            assert_true(num_random(a, (uint32_t)j) >= 0 && num_random(a, (uint32_t)j) < 1);
        }
    }
}

static void edges_have_stated_values(void **state)
{
    (void)state;
    assert_real(num_div(1, 0), 0);
    assert_real(num_div(-1, -0.0), 0);
    assert_real(num_div(0, 0), 0);
    assert_real(num_div(1, 4), 0.25);
    assert_real(num_div(1e300, 1e-300), DBL_MAX);
    assert_real(num_div(-1e300, 1e-300), -DBL_MAX);
    assert_real(num_sqrt(-1), 0);
    assert_real(num_sqrt(-0x1p-1074), 0);
    assert_real(num_sqrt(2), sqrt(2));
    assert_real(num_sign(0), 0);
    assert_real(num_sign(-0.0), 0);
    assert_false(signbit(num_sign(-0.0)));
    assert_real(num_sign(-0x1p-1074), -1);
    assert_real(num_sign(DBL_MAX), 1);
    assert_real(num_log1p(0), 0);
    assert_real(num_log1p(0x1p-1074), 0x1p-1074);
    assert_real(num_log1p(1e-20), 1e-20);
    assert_real(num_log1p(-5), num_log1p(-1 + 0x1p-53));
    assert_real(num_log1p(-1), num_log1p(-1 + 0x1p-53));
    assert_true(fabs(num_log1p(-5) - -36.7368005696771) < 1e-12); /* -53 ln 2 */
    assert_true(fabs(num_log1p(DBL_MAX) - 709.782712893384) < 1e-12);
    assert_real(num_exp(0), 1);
    assert_real(num_exp(710), DBL_MAX);
    assert_real(num_exp(DBL_MAX), DBL_MAX);
    assert_real(num_exp(-746), 0);
    assert_real(num_exp(-DBL_MAX), 0);
    assert_true(num_exp(-744) > 0); /* subnormal */
    assert_real(num_min(1, 2), 1);
    assert_real(num_max(1, 2), 2);
}

static void pow_edges(void **state)
{
    (void)state;
    assert_real(num_pow(0, 0), 1);
    assert_real(num_pow(-3, 0), 1);
    assert_real(num_pow(-3, -0.0), 1);
    assert_real(num_pow(0, 2), 0);
    assert_real(num_pow(0, -2), 0);
    assert_real(num_pow(-0.0, -1), 0);
    assert_real(num_pow(-2, 0.5), 0);
    assert_real(num_pow(-2, 3), -8);
    assert_real(num_pow(-2, 4), 16);
    assert_real(num_pow(-2, -3), -0.125);
    assert_real(num_pow(1, DBL_MAX), 1);
    assert_real(num_pow(-1, 0x1p53), 1);
    assert_real(num_pow(-1, 0x1p53 - 1), -1);
    assert_real(num_pow(10, 309), DBL_MAX);
    assert_real(num_pow(-10, 309), -DBL_MAX);
    assert_real(num_pow(-10, 310), DBL_MAX);
    assert_real(num_pow(10, -400), 0);
    assert_real(num_pow(0.5, 1074), 0x1p-1074);
    assert_real(num_pow(0.5, DBL_MAX), 0);
    assert_real(num_pow(0.5, -DBL_MAX), DBL_MAX);
    assert_real(num_pow(2, 0x1p-1074), 1);
    assert_real(num_pow(10, 22), 1e22);
}

static void wilson_is_the_textbooks(void **state)
{
    (void)state;
    assert_real(num_wilson(0, 0), 0);
    assert_real(num_wilson(0, 5), 0);
    assert_real(num_wilson(-3, 5), 0);
    assert_real(num_wilson(7, -2), num_wilson(7, 0));
    assert_true(fabs(num_wilson(10, 0) - 10 / 13.8416) < 1e-15); /* all for: N / (N + z^2) */
    assert_true(fabs(num_wilson(1, 1) - 0.09452865480086613) < 1e-15);
    assert_true(fabs(num_wilson(DBL_MAX, DBL_MAX) - 0.5) < 0.51); /* finite, a share */
    for (int p = 0; p < 60; p++)
        for (int n = p == 0; n < 60; n++) {
            long double z = 1.96L, total = p + n, share = p / total;
            long double want =
                (share + z * z / (2 * total) - z * sqrtl((share * (1 - share) + z * z / (4 * total)) / total)) / (1 + z * z / total);
            assert_true(fabsl(num_wilson(p, n) - want) < 1e-15L);
        }
}

static void ages_and_recency(void **state)
{
    (void)state;
    const int64_t year_1 = -62135596800000000, year_9999 = 253402300799999999;
    assert_real(num_age(0, 1500000), 1.5);
    assert_real(num_age(1500000, 0), 0);
    assert_real(num_age(7, 7), 0);
    assert_real(num_age(year_1, year_9999), 315537897599.999999);
    assert_real(num_age(INT64_MIN, INT64_MAX), (double)INT64_MAX / 1e6); /* saturates */
    assert_real(num_age(INT64_MAX, INT64_MIN), 0);
    assert_real(num_recency(0, 3600), 1);
    assert_real(num_recency(3600, 3600), 0.5);
    assert_real(num_recency(7200, 3600), 0.25);
    assert_real(num_recency(1e18, 1), 0);
    assert_real(num_recency(5, 0), 0);
    assert_real(num_recency(0, -1), 0);
    assert_real(num_rise(9, 4, 0.25), 5);
    assert_real(num_rise(0, 0, 24), 1);
    for (int i = 0; i < 1000; i++) {
        uint64_t x = mix64(seed++) >> (1 + i % 63);
        assert_real(num_of_whole(x), (double)x);
    }
}

static void random_is_as_written(void **state)
{
    (void)state;
    assert_real(num_random(0, 0), 0x1.4e0dba5e9a32fp-1);
    assert_real(num_random(42, 7), 0x1.1002ce262ded7p-1);
    assert_real(num_random(-1.5, UINT32_MAX), 0x1.240a37d9771e6p-2);
    double sum = 0;
    for (uint32_t slot = 0; slot < 100000; slot++)
        sum += num_random(3, slot);
    assert_true(fabs(sum / 100000 - 0.5) < 0.005);
}

/* ---- integers and reals ---- */

static int sign_of(int x)
{
    return (x > 0) - (x < 0);
}

static void integers_compare_exactly_with_reals(void **state)
{
    (void)state;
    const int64_t two53 = (int64_t)1 << 53;
    assert_int_equal(num_compare_int_real(two53 + 1, 0x1p53), 1);
    assert_int_equal(num_compare_int_real(two53, 0x1p53), 0);
    assert_int_equal(num_compare_int_real(-two53 - 1, -0x1p53), -1);
    assert_int_equal(num_compare_int_real(INT64_MAX, 0x1p63), -1);
    assert_int_equal(num_compare_int_real(INT64_MAX, 0x1p63 - 1024), 1);
    assert_int_equal(num_compare_int_real(INT64_MIN, -0x1p63), 0);
    assert_int_equal(num_compare_int_real(INT64_MIN, -0x1p63 - 2048), 1);
    assert_int_equal(num_compare_int_real(INT64_MIN, -DBL_MAX), 1);
    assert_int_equal(num_compare_int_real(0, -0.0), 0);
    assert_int_equal(num_compare_int_real(0, 0x1p-1074), -1);
    assert_int_equal(num_compare_int_real(0, -0x1p-1074), 1);
    assert_int_equal(num_compare_int_real(-3, -3.5), 1);
    assert_int_equal(num_compare_int_real(-4, -3.5), -1);
    assert_int_equal(num_compare_int_real(5, INFINITY), -1);
    assert_int_equal(num_compare_int_real(5, -INFINITY), 1);
    if (LDBL_MANT_DIG < 64)
        return; /* no type holds both */
    for (int i = 0; i < 100000; i++) {
        int64_t a = (int64_t)mix64(seed++) >> (i % 64);
        double b = i % 3 == 0   ? (double)a
                   : i % 3 == 1 ? nextafter((double)a, unit() < 0.5 ? -INFINITY : INFINITY)
                                : (double)a + (double)(i % 5) / 2;
        long double x = (long double)a, y = (long double)b;
        assert_int_equal(sign_of(num_compare_int_real(a, b)), (x > y) - (x < y));
    }
}

/* ---- the same bits ---- */

/* The value below was computed once; every compiler, optimisation level and machine must come to it again. */
static void bits_are_the_same_everywhere(void **state)
{
    (void)state;
    uint64_t sum = 0;
    seed = 99;
    for (int i = 0; i < 100000; i++) {
        double a = i % 2 ? any() : (unit() - 0.3) * 1000, b = i % 4 < 2 ? any() : (unit() - 0.5) * 8;
        double results[] = {num_exp2(a),
                            num_exp(b),
                            num_log1p(a),
                            num_log1p(b),
                            num_pow(a, b),
                            num_wilson(a, b),
                            num_recency(fabs(a), fabs(b)),
                            num_rise(a, b, 24),
                            num_div(a, b),
                            num_sqrt(a),
                            log2_exact(fabs(a)),
                            num_random(a, (uint32_t)i),
                            num_age(i * (int64_t)1000003, (int64_t)1 << 44)};
        for (size_t r = 0; r < sizeof results / sizeof *results; r++)
            sum = mix64(sum ^ bits_of(results[r]));
    }
    if (sum != 0xc44daa4bdbd00310u)
        fail_msg("other bits: 0x%llx", (unsigned long long)sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp2_is_accurate),
        cmocka_unit_test(log2_is_accurate),
        cmocka_unit_test(log1p_is_accurate),
        cmocka_unit_test(exp_is_accurate),
        cmocka_unit_test(pow_is_accurate),
        cmocka_unit_test(results_are_finite),
        cmocka_unit_test(edges_have_stated_values),
        cmocka_unit_test(pow_edges),
        cmocka_unit_test(wilson_is_the_textbooks),
        cmocka_unit_test(ages_and_recency),
        cmocka_unit_test(random_is_as_written),
        cmocka_unit_test(integers_compare_exactly_with_reals),
        cmocka_unit_test(bits_are_the_same_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
