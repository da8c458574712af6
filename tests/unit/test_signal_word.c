/* SPDX-License-Identifier: MIT */
/* The decayed word: its accuracy after a million events, how it falls, how it compares, and its ends. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "signal_oracle.h"

#include "store/signal_word.h"

static const int64_t NOW = 1700000000LL * SECOND;

static double relative(double got, long double want)
{
    return (double)(fabsl((long double)got - want) / want);
}

static uint64_t add_at(const struct word_scale *s, uint64_t word, double weight, int64_t at, uint64_t number)
{
    return word_add(s, word, word_contribution(s, weight, word_power(s, at)), number);
}

static double value_at(const struct word_scale *s, uint64_t word, int64_t now)
{
    struct word_time t = word_time(s, now);
    return word_value(s, word, t.whole, word_fade(t));
}

static long double exact(double weight, int64_t at, int64_t now, int64_t half_life)
{
    return weight * exp2l(-(long double)(now - at) / (long double)half_life);
}

static void widths(void **state)
{
    (void)state;
    struct word_scale s;
    word_scale_init(&s, 30 * SECOND);
    assert_int_equal(s.bits, 36);
    word_scale_init(&s, 7 * DAY);
    assert_int_equal(s.bits, 50);
    word_scale_init(&s, 3650 * DAY);
    assert_int_equal(s.bits, 52);
}

static void one_event_to_the_last_places(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 300000; i++) {
        int64_t half_life = 30 * SECOND + (int64_t)(exp2(draw_unit(&seed) * 48)), at = (int64_t)draw_below(&seed, EVENT_TIME_MAX + 1);
        half_life = half_life > 3650 * DAY ? 3650 * DAY : half_life;
        struct word_scale s;
        word_scale_init(&s, half_life);
        double weight = exp2(draw_unit(&seed) * 2000 - 1000);
        uint64_t word = add_at(&s, 0, weight, at, (uint64_t)i);
        int64_t now = at + (int64_t)(draw_unit(&seed) * 3 * (double)half_life);
        long double want = exact(weight, at, now, half_life);
        double got = value_at(&s, word, now);
        if (want < 0x1p-64L * 1.001L) {
            assert_true(got <= 0x1.01p-64);
            continue;
        }
        /* One unit of the word, and a few of a double for powers of 2 there and back. */
        if (relative(got, want) > ldexp(1.0, -(int)s.bits) + 8 * 0x1p-53)
            fail_msg("half-life %lld, weight %g: %.17g, expected %.17Lg", (long long)half_life, weight, got, want);
    }
}

static void powers_of_an_event(void **state)
{
    (void)state;
    struct word_scale s;
    word_scale_init(&s, 1LL << 40);
    double worst = 0;
    for (int64_t i = 0; i < 1 << 20; i++) {
        int64_t at = (i << 20) + i;
        struct word_power p = word_power(&s, at);
        long double want = exp2l((long double)at * 0x1p-40L - (long double)p.whole);
        worst = fmax(worst, relative(p.power, want));
    }
    assert_true(worst < 1.05 * 0x1p-52);
    for (int i = 0; i <= 128; i++)
        assert_true(word_roots[i] == (double)exp2l(i / 128.0L));
}

/* A word that nothing is added to falls by exactly 2^(-dt/H). */
static void it_falls_exactly(void **state)
{
    (void)state;
    const int64_t half_life = 30 * SECOND;
    struct word_scale s;
    word_scale_init(&s, half_life);
    uint64_t word = 0;
    for (uint64_t i = 0; i < 1000; i++)
        word = add_at(&s, word, 0.37, NOW + (int64_t)i * 12345, i);
    const int64_t start = NOW + 12345000;
    const double first = value_at(&s, word, start);
    double before = DBL_MAX;
    for (int64_t dt = 0; dt < 60 * half_life; dt += 777777) {
        double got = value_at(&s, word, start + dt);
        assert_true(relative(got, exact(first, start, start + dt, half_life)) < 4 * 0x1p-53);
        assert_true(got <= before);
        before = got;
    }
    assert_true(value_at(&s, word, start + half_life) == first / 2);
    assert_true(value_at(&s, word, start + 10 * half_life) == first / 1024);
}

enum order { FORWARD, BACKWARD, SHUFFLED, EQUAL };

/* A million events within `spread`, in an order. */
static double million(int64_t half_life, int64_t spread, enum order order, double weight, double first)
{
    enum { N = 1000000 };
    struct word_scale s;
    word_scale_init(&s, half_life);
    uint64_t word = first > 0 ? add_at(&s, 0, first, NOW, 0) : 0;
    long double sum = first;
    for (uint64_t i = 0; i < N; i++) {
        uint64_t place = order == BACKWARD ? N - 1 - i : order == SHUFFLED ? i * 7919 % N : i;
        int64_t at = NOW - (order == EQUAL ? 0 : (int64_t)((double)spread * (double)(N - 1 - place) / N));
        word = add_at(&s, word, weight, at, i + 1);
        sum += exact(weight, at, NOW, half_life);
    }
    return relative(value_at(&s, word, NOW), sum);
}

static void a_million_events(void **state)
{
    (void)state;
    const int64_t lives[] = {30 * SECOND, 45 * SECOND, HOUR, 7 * DAY};
    double worst = 0;
    for (int i = 0; i < 4; i++)
        for (int order = FORWARD; order <= EQUAL; order++) {
            worst = fmax(worst, million(lives[i], 10 * lives[i], (enum order)order, 1.0, 0));
            worst = fmax(worst, million(lives[i], lives[i] / 100, (enum order)order, 0.123, 0));
        }
    print_message("a million events: worst error %.2g\n", worst);
    assert_true(worst < 3e-8);
}

/* Events too small to move the word one by one still count: 1M that are together a millionth of what is there. */
static void small_events_are_not_lost(void **state)
{
    (void)state;
    const double error = million(30 * SECOND, 0, EQUAL, 1.0, 1e12);
    print_message("1M events of 1 on top of 1e12: error %.2g\n", error);
    assert_true(error < 3e-8); /* if all were lost it would be 1e-6 */
    assert_true(million(7 * DAY, 0, EQUAL, 1e-6, 1e12) < 3e-12);
}

static void words_compare_as_values(void **state)
{
    (void)state;
    uint64_t seed = 7;
    struct word_scale s;
    word_scale_init(&s, HOUR);
    for (int i = 0; i < 100000; i++) {
        uint64_t a = add_at(&s, 0, exp2(draw_unit(&seed) * 40 - 20), NOW - (int64_t)draw_below(&seed, DAY), draw(&seed));
        uint64_t b = add_at(&s, 0, exp2(draw_unit(&seed) * 40 - 20), NOW - (int64_t)draw_below(&seed, DAY), draw(&seed));
        for (int64_t now = NOW; now < NOW + 20 * HOUR; now += 7 * HOUR) {
            double x = value_at(&s, a, now), y = value_at(&s, b, now);
            assert_true(a < b ? x <= y : a > b ? x >= y : x == y);
        }
        assert_true(add_at(&s, a, 1e-3, NOW, draw(&seed)) >= a);
        assert_true(add_at(&s, a, 1e-30, 0, draw(&seed)) >= a);
    }
}

static void the_ends(void **state)
{
    (void)state;
    const int64_t lives[] = {30 * SECOND, 7 * DAY, 3650 * DAY};
    const double weights[] = {5e-324, 1e-300, 1e-20, 1.0, 1e300, DBL_MAX};
    for (int i = 0; i < 3; i++) {
        struct word_scale s;
        word_scale_init(&s, lives[i]);
        for (int w = 0; w < 6; w++) {
            const int64_t times[] = {0, NOW, 4922942400LL * SECOND, EVENT_TIME_MAX};
            for (int t = 0; t < 4; t++) {
                uint64_t word = add_at(&s, 0, weights[w], times[t], 1);
                assert_true(word != 0 && word != UINT64_MAX);
                double got = value_at(&s, word, times[t]);
                if (weights[w] < 0x1p-64)
                    assert_true(got == 0.0);
                else
                    assert_true(relative(got, weights[w]) < 1e-10);
                assert_true(value_at(&s, word, EVENT_TIME_MAX) <= DBL_MAX);
                for (uint64_t n = 0; n < 3000; n++) /* sums beyond the largest double: the word goes on, readings stay there */
                    word = add_at(&s, word, weights[w], times[t], n);
                got = value_at(&s, word, times[t]);
                assert_true(got <= DBL_MAX);
                if (weights[w] == DBL_MAX)
                    assert_true(got == DBL_MAX);
                else if (weights[w] >= 0x1p-64)
                    assert_true(relative(got, 3001.0L * weights[w]) < 1e-9);
            }
        }
        /* Nothing is higher than the top. */
        uint64_t word = UINT64_MAX;
        assert_true(add_at(&s, word, DBL_MAX, EVENT_TIME_MAX, 1) == UINT64_MAX);
        assert_true(value_at(&s, word, EVENT_TIME_MAX) == DBL_MAX);
        assert_true(value_at(&s, 0, NOW) == 0.0);
    }
}

/* Half-life 46 s: one event a minute for 14 hours, then a thousand at once. */
static void minutes_then_a_burst(void **state)
{
    (void)state;
    const int64_t half_life = 46 * SECOND;
    struct word_scale s;
    word_scale_init(&s, half_life);
    uint64_t word = 0, n = 0;
    int64_t now = NOW;
    for (int minute = 0; minute < 14 * 60; minute++, now += MINUTE)
        word = add_at(&s, word, 1.0, now, n++);
    long double sum = 0;
    for (int minute = 0; minute < 14 * 60; minute++)
        sum += exact(1.0, NOW + minute * MINUTE, now, half_life);
    assert_true(relative(value_at(&s, word, now), sum) < 1e-9);
    for (int i = 0; i < 1000; i++)
        word = add_at(&s, word, 1.0, now, n++);
    assert_true(relative(value_at(&s, word, now), sum + 1000) < 1e-9);
}

/* Half-life 1 minute, an event every ten minutes for ten years. */
static void ten_years(void **state)
{
    (void)state;
    const int64_t half_life = MINUTE;
    struct word_scale s;
    word_scale_init(&s, half_life);
    uint64_t word = 0;
    int64_t now = NOW;
    for (uint64_t i = 0; i < 10 * 366 * 144; i++, now += 10 * MINUTE)
        word = add_at(&s, word, 1.0, now, i);
    now -= 10 * MINUTE;
    assert_true(relative(value_at(&s, word, now), 1 / (1 - 0x1p-10L)) < 1e-9);
    assert_true(value_at(&s, word, now + 30 * DAY) == 0.0);
    word = add_at(&s, word, 2.0, now + 30 * DAY, 1);
    assert_true(relative(value_at(&s, word, now + 30 * DAY), 2.0L) < 1e-10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths),
        cmocka_unit_test(one_event_to_the_last_places),
        cmocka_unit_test(powers_of_an_event),
        cmocka_unit_test(it_falls_exactly),
        cmocka_unit_test(a_million_events),
        cmocka_unit_test(small_events_are_not_lost),
        cmocka_unit_test(words_compare_as_values),
        cmocka_unit_test(the_ends),
        cmocka_unit_test(minutes_then_a_burst),
        cmocka_unit_test(ten_years),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
