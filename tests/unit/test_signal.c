/* SPDX-License-Identifier: MIT */
/* Signals by hand: values worked out on paper, edges, memory, allocations that fail. Random ones: test_signal_random.c; threads: stress_signal.c. */
#include <float.h>
#include <string.h>

#include "check.h"
#include "signal_oracle.h"
#include "signal_readings.h"

#include "base/alloc.h"
#include "base/reclaim.h"

/* A moment at which the buckets of 1h, 24h and 7d begin together: a whole number of weeks of 12,600 s buckets. */
static const int64_t T0 = 1200LL * 48 * 12600 * SECOND;

#define DEFINE(...) signal_create(&(struct signal_def){.name = "s", __VA_ARGS__})
#define HALF_LIFE(h) .decay = DECAY_HALF_LIFE, .half_life = (h)
#define THREE_WINDOWS .n_windows = 3, .windows = {3600, 86400, 604800}

static status add_weighted(struct signal *s, uint32_t slot, double weight, int64_t at, int64_t now)
{
    if (!reclaim_reserve(1))
        return STATUS_NO_MEMORY;
    reclaim_enter();
    status code = signal_add(s, slot, weight, at, now);
    reclaim_leave();
    return code;
}

static void add(struct signal *s, uint32_t slot, int64_t at)
{
    assert_int_equal(add_weighted(s, slot, 1.0, at, at), STATUS_OK);
}

static void finish(struct signal *s, uint32_t n_slots)
{
    struct error e = {0};
    if (!signal_validate(s, n_slots, &e))
        fail_msg("%s", e.text);
    signal_destroy(s);
    reclaim_barrier();
}

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-10 * fabs(want)))
        fail_msg("%.17g, expected %.17g", got, want);
}

static void an_empty_cell(void **state)
{
    (void)state;
    struct signal *s = DEFINE(HALF_LIFE(HOUR), THREE_WINDOWS);
    double f[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    int64_t t[10] = {0};
    for (int there = 0; there < 2; there++) {
        assert_true(signal_decay(s, 5, T0) == 0.0);
        assert_int_equal(signal_count(s, 5, 0, T0), 0);
        assert_int_equal(signal_count(s, 5, SIGNAL_ALL, T0), 0);
        assert_true(signal_sum(s, 5, 2, T0) == 0.0);
        assert_true(signal_last(s, 5, T0) == INT64_MIN);
        signal_read_block(s, READ_COUNT, 1, T0, 0, 10, f, NULL);
        signal_read_block(s, READ_LAST, 0, T0, 0, 10, NULL, t);
        for (int i = 0; i < 10; i++)
            assert_true(f[i] == 0.0 && t[i] == INT64_MIN);
        signal_clear(s, 5);
        assert_int_equal(signal_maintain(s, 10, T0), 0);
        assert_int_equal(signal_newest_bound(s), 0);
        assert_true(signal_prepare(s, 5));
    }
    finish(s, 10);
}

/* The edges of a window: 1h has buckets of 75 s, and shows 48 whole ones and the one that is running. */
static void the_edges_of_a_window(void **state)
{
    (void)state;
    struct signal *s = DEFINE(HALF_LIFE(HOUR), THREE_WINDOWS);
    add(s, 0, T0);                   /* the first second of its bucket */
    add(s, 0, T0 + 75 * SECOND - 1); /* the last microsecond */
    add(s, 0, T0 + 75 * SECOND);     /* the next bucket */
    const int64_t first_leaves = T0 + 49 * 75 * SECOND, second_leaves = first_leaves + 75 * SECOND;
    assert_int_equal(signal_count(s, 0, 0, first_leaves - 1), 3);
    assert_int_equal(signal_count(s, 0, 0, first_leaves), 1);
    assert_int_equal(signal_count(s, 0, 0, second_leaves - 1), 1);
    assert_int_equal(signal_count(s, 0, 0, second_leaves), 0);
    assert_int_equal(signal_count(s, 0, 1, T0 + 49 * 1800 * SECOND - 1), 3);
    assert_int_equal(signal_count(s, 0, 1, T0 + 49 * 1800 * SECOND), 0);
    assert_int_equal(signal_count(s, 0, 2, T0 + 49 * 12600 * SECOND - 1), 3);
    assert_int_equal(signal_count(s, 0, 2, T0 + 49 * 12600 * SECOND), 0);
    assert_int_equal(signal_count(s, 0, SIGNAL_ALL, T0 + 400 * DAY), 3);
    finish(s, 1);
}

static void windows_of_one_minute_have_48_buckets_or_60(void **state)
{
    (void)state;
    struct signal *s = DEFINE(.decay = DECAY_NONE, .n_windows = 2, .windows = {60, 240});
    const int64_t t = 1000000000LL * SECOND; /* 60 s: buckets of 1 s; 240 s: of 5 s */
    add(s, 0, t + 4 * SECOND);
    assert_int_equal(signal_count(s, 0, 0, t + 65 * SECOND - 1), 1);
    assert_int_equal(signal_count(s, 0, 0, t + 65 * SECOND), 0);
    assert_int_equal(signal_count(s, 0, 1, t + 245 * SECOND - 1), 1);
    assert_int_equal(signal_count(s, 0, 1, t + 245 * SECOND), 0);
    finish(s, 1);
}

static void decays_by_hand(void **state)
{
    (void)state;
    struct signal *h = DEFINE(HALF_LIFE(HOUR)), *p = DEFINE(.decay = DECAY_POWER, .power = 0.5), *n = DEFINE(.decay = DECAY_NONE);
    struct signal *all[] = {h, p, n};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(add_weighted(all[i], 0, 3.0, T0, T0), STATUS_OK);
        assert_int_equal(add_weighted(all[i], 0, 0.5, T0 + 2 * HOUR, T0 + 2 * HOUR), STATUS_OK);
        assert_int_equal(signal_last(all[i], 0, T0), T0 + 2 * HOUR);
        assert_true(signal_sum(all[i], 0, SIGNAL_ALL, T0) == 3.5);
        assert_int_equal(signal_count(all[i], 0, SIGNAL_ALL, T0), 2);
    }
    assert_near(signal_decay(h, 0, T0 + 2 * HOUR), 3.0 / 4 + 0.5);
    assert_near(signal_decay(h, 0, T0 + 3 * HOUR), 3.0 / 8 + 0.25);
    assert_near(signal_decay(h, 0, T0), 3.0 / 4 + 0.5); /* before the newest event: its moment */
    assert_near(signal_decay(h, 0, INT64_MIN), 3.0 / 4 + 0.5);
    assert_true(signal_decay(h, 0, T0 + 70 * HOUR) == 0.0);
    assert_near(signal_decay(h, 0, T0 + 64 * HOUR), 3.0 * 0x1p-64 + 0.5 * 0x1p-62);
    assert_near(signal_decay(p, 0, T0 + 2 * HOUR + DAY), 1.0);
    assert_near(signal_decay(p, 0, T0 + 2 * HOUR + 4 * DAY), 0.5);
    assert_near(signal_decay(p, 0, T0), 10.0); /* never below 0.01 days */
    assert_near(signal_decay(p, 0, T0 + 2 * HOUR + 864 * SECOND), 10.0);
    assert_near(signal_decay(p, 0, T0 + 2 * HOUR + 1728 * SECOND), 1 / sqrt(0.02));
    assert_true(signal_decay(n, 0, T0 + 3000 * DAY) == 3.5);
    for (int i = 0; i < 3; i++)
        finish(all[i], 1);
}

static void late_and_equal_times(void **state)
{
    (void)state;
    struct signal *s = DEFINE(HALF_LIFE(DAY), THREE_WINDOWS);
    const int64_t now = T0 + 3 * DAY;
    add(s, 0, now);
    assert_int_equal(add_weighted(s, 0, 1.0, T0, now), STATUS_OK); /* three days late */
    assert_int_equal(add_weighted(s, 0, 1.0, now - 2 * HOUR, now), STATUS_OK);
    assert_int_equal(add_weighted(s, 0, 2.0, now - HOUR / 2, now), STATUS_OK);
    assert_int_equal(add_weighted(s, 0, 1.0, now, now), STATUS_OK);
    assert_int_equal(signal_count(s, 0, 0, now), 3);
    assert_int_equal(signal_count(s, 0, 1, now), 4);
    assert_int_equal(signal_count(s, 0, 2, now), 5);
    assert_int_equal(signal_count(s, 0, SIGNAL_ALL, now), 5);
    assert_true(signal_sum(s, 0, 0, now) == 4.0);
    assert_true(signal_sum(s, 0, SIGNAL_ALL, now) == 6.0);
    assert_true(signal_last(s, 0, now) == now);
    assert_near(signal_decay(s, 0, now), 2 + 0.125 + exp2(-2.0 / 24) + 2 * exp2(-0.5 / 24));
    add(s, 0, now + 5 * DAY); /* and what came late leaves in its own time */
    assert_int_equal(signal_count(s, 0, 2, now + 5 * DAY), 5);
    assert_int_equal(signal_count(s, 0, SIGNAL_ALL, now + 5 * DAY), 6);
    assert_true(signal_sum(s, 0, 2, now + 5 * DAY) == 6.0);
    finish(s, 1);
}

/* The clock steps back: the cell's moment is its newest event's, and what comes then is late. */
static void the_clock_steps_back(void **state)
{
    (void)state;
    struct signal *s = DEFINE(HALF_LIFE(HOUR), THREE_WINDOWS);
    add(s, 0, T0 + 100LL * 365 * DAY);
    add(s, 0, T0);
    add(s, 0, T0 + HOUR);
    assert_int_equal(signal_count(s, 0, 0, T0 + HOUR), 1);
    assert_int_equal(signal_count(s, 0, SIGNAL_ALL, T0 + HOUR), 3);
    assert_near(signal_decay(s, 0, T0 + HOUR), 1.0);
    assert_int_equal(signal_last(s, 0, T0), T0 + 100LL * 365 * DAY);
    assert_true(signal_newest_bound(s) >= T0 + 100LL * 365 * DAY);
    assert_true(signal_newest_bound(s) <= T0 + 100LL * 365 * DAY + (1 << 20));
    finish(s, 1);
}

static void the_first_and_the_last_times(void **state)
{
    (void)state;
    const int64_t times[] = {0, 1, SECOND, 4922942400LL * SECOND, 250000000000LL * SECOND}; /* 1970, 2126, 9892 */
    for (int i = 0; i < 5; i++) {
        struct signal *s = DEFINE(HALF_LIFE(30 * SECOND), THREE_WINDOWS);
        add(s, 0, times[i]);
        add(s, 0, times[i] + 100 * SECOND);
        add(s, 0, times[i]);
        const int64_t now = times[i] + 100 * SECOND;
        assert_int_equal(signal_count(s, 0, 0, now), 3);
        assert_int_equal(signal_count(s, 0, SIGNAL_ALL, now), 3);
        assert_true(signal_last(s, 0, now) == now);
        if (i < 4)
            assert_near(signal_decay(s, 0, now), 1 + 2 * exp2(-100.0 / 30));
        assert_true(signal_decay(s, 0, INT64_MAX) < 4.0);
        finish(s, 1);
    }
}

static void extreme_weights(void **state)
{
    (void)state;
    const double weights[] = {5e-324, 1e-300, 1e300, DBL_MAX};
    for (int i = 0; i < 4; i++) {
        struct signal *s = DEFINE(HALF_LIFE(DAY), THREE_WINDOWS);
        for (int k = 0; k < 3; k++)
            assert_int_equal(add_weighted(s, 0, weights[i], T0 + k * HOUR, T0 + k * HOUR), STATUS_OK);
        assert_int_equal(add_weighted(s, 0, weights[i], T0 + 30 * MINUTE, T0 + 2 * HOUR), STATUS_OK);
        const double all = weights[i] > 1e307 ? DBL_MAX : 4 * weights[i];
        assert_near(signal_sum(s, 0, SIGNAL_ALL, T0 + 2 * HOUR), all);
        assert_near(signal_sum(s, 0, 2, T0 + 2 * HOUR), all);
        assert_int_equal(signal_count(s, 0, 0, T0 + 2 * HOUR), 2);
        double decay = signal_decay(s, 0, T0 + 2 * HOUR);
        assert_true(weights[i] < 1 ? decay == 0.0 : decay <= DBL_MAX && decay >= weights[i]);
        finish(s, 1);
    }
    /* Small beside large: a window's sum is as exact as the sum of all weights is, never negative, never infinite. */
    struct signal *s = DEFINE(HALF_LIFE(DAY), THREE_WINDOWS);
    const double mixed[] = {1e300, 1.0, 1e-300, DBL_MAX, 2.0, DBL_MAX, 3.0};
    for (int k = 0; k < 7; k++)
        assert_int_equal(add_weighted(s, 0, mixed[k], T0 + k * DAY, T0 + k * DAY), STATUS_OK);
    for (unsigned w = 0; w < 3; w++) {
        double sum = signal_sum(s, 0, w, T0 + 6 * DAY);
        assert_true(sum >= 0.0 && sum <= DBL_MAX);
    }
    assert_true(signal_sum(s, 0, SIGNAL_ALL, T0 + 6 * DAY) == DBL_MAX);
    finish(s, 1);
}

/* 46 s half-life, one event a minute for 14 hours, then a burst; all windows exact all the way. */
static void minutes_then_a_burst(void **state)
{
    (void)state;
    struct signal *s = DEFINE(HALF_LIFE(46 * SECOND), THREE_WINDOWS);
    int64_t now = T0;
    double decay = 0;
    for (int minute = 0; minute < 14 * 60; minute++, now += MINUTE) {
        add(s, 0, now);
        decay = decay * exp2(-60.0 / 46) + 1;
        assert_near(signal_decay(s, 0, now), decay);
        int64_t oldest = (now / SECOND / 75 - 48) * 75 * SECOND; /* the begin of the oldest bucket */
        uint64_t inside = (uint64_t)((now - (oldest > T0 ? oldest + (MINUTE - (oldest - T0) % MINUTE) % MINUTE : T0)) / MINUTE + 1);
        assert_int_equal(signal_count(s, 0, 0, now), inside);
        assert_int_equal(signal_count(s, 0, 2, now), minute + 1);
    }
    now -= MINUTE;
    for (int i = 0; i < 100000; i++)
        add(s, 0, now);
    assert_near(signal_decay(s, 0, now), decay + 100000);
    assert_int_equal(signal_count(s, 0, SIGNAL_ALL, now), 100000 + 14 * 60);
    finish(s, 1);
}

static void ten_years_and_idle_days(void **state)
{
    (void)state;
    struct signal *s = DEFINE(HALF_LIFE(MINUTE), THREE_WINDOWS);
    int64_t now = T0;
    for (unsigned i = 0; i < 10 * 365 * 24; i++, now += HOUR)
        add(s, 0, now);
    now -= HOUR;
    assert_near(signal_decay(s, 0, now), 1.0 + 0x1p-60);
    assert_int_equal(signal_count(s, 0, 0, now), 2);
    assert_int_equal(signal_count(s, 0, 1, now), 25);
    assert_int_equal(signal_count(s, 0, SIGNAL_ALL, now), 10 * 365 * 24);
    now += 30 * DAY;
    for (unsigned w = 0; w < 3; w++)
        assert_int_equal(signal_count(s, 0, w, now), 0);
    assert_true(signal_decay(s, 0, now) == 0.0);
    add(s, 0, now);
    for (unsigned w = 0; w < 3; w++)
        assert_int_equal(signal_count(s, 0, w, now), 1);
    assert_int_equal(signal_count(s, 0, SIGNAL_ALL, now), 10 * 365 * 24 + 1);
    finish(s, 1);
}

static void forgetting(void **state)
{
    (void)state;
    struct signal *s = DEFINE(HALF_LIFE(MINUTE), .forgets = true, .n_windows = 1, .windows = {3600});
    for (int i = 0; i < 40; i++) /* over many buckets, some late, some weighted: a history of every sort */
        assert_int_equal(add_weighted(s, 0, i % 7 == 0 ? 2.0 : 1.0, T0 + (i % 5 == 0 ? i - 4 : i) * 100 * SECOND, T0 + i * 100 * SECOND),
                         STATUS_OK);
    const int64_t last = T0 + 39 * 100 * SECOND;
    assert_int_equal(signal_count(s, 0, SIGNAL_ALL, last + HOUR), 40);
    assert_true(signal_decay(s, 0, last + 62 * MINUTE) > 0.0); /* the window has passed, the decay has not */
    assert_int_equal(signal_count(s, 0, SIGNAL_ALL, last + 62 * MINUTE), 40);
    const int64_t gone = last + 66 * MINUTE;
    assert_int_equal(signal_count(s, 0, SIGNAL_ALL, gone), 0);
    assert_true(signal_sum(s, 0, SIGNAL_ALL, gone) == 0.0);
    assert_true(signal_last(s, 0, gone) == INT64_MIN);
    assert_int_equal(signal_count(s, 0, SIGNAL_ALL, last + HOUR), 40); /* AT moves the clock, not the data */
    add(s, 0, gone);
    assert_int_equal(signal_count(s, 0, SIGNAL_ALL, gone), 1);
    assert_int_equal(signal_count(s, 0, 0, gone), 1);
    assert_true(signal_sum(s, 0, SIGNAL_ALL, gone) == 1.0);
    assert_near(signal_decay(s, 0, gone), 1.0);
    assert_true(signal_last(s, 0, gone) == gone);
    assert_int_equal(signal_maintain(s, 1, gone + DAY), 1);
    struct signal_stats stats;
    signal_statistics(s, 1, &stats);
    assert_int_equal(stats.cells, 0);
    assert_int_equal(signal_maintain(s, 1, gone + 2 * DAY), 0);
    for (int life = 0; life < 10; life++) { /* more lives than two bits */
        add(s, 0, gone + (life + 2) * DAY);
        add(s, 0, gone + (life + 2) * DAY + 20 * MINUTE);
        assert_int_equal(signal_count(s, 0, SIGNAL_ALL, gone + (life + 2) * DAY), 2);
    }
    finish(s, 1);
    /* Without a half-life the decay never reads 0. */
    s = DEFINE(.decay = DECAY_POWER, .power = 10.0, .forgets = true, .n_windows = 1, .windows = {3600});
    add(s, 0, T0);
    assert_int_equal(signal_count(s, 0, SIGNAL_ALL, T0 + 20000 * DAY), 1);
    finish(s, 1);
}

static void clearing(void **state)
{
    (void)state;
    struct signal *s = DEFINE(HALF_LIFE(HOUR), THREE_WINDOWS);
    for (int life = 0; life < 3; life++) {
        for (int i = 0; i < 60; i++)
            assert_int_equal(add_weighted(s, 7, life == 1 ? 2.0 : 1.0, T0 + i * HOUR - (i % 7 == 6 ? 3 * HOUR : 0), T0 + i * HOUR),
                             STATUS_OK);
        assert_int_equal(signal_count(s, 7, SIGNAL_ALL, T0 + 60 * HOUR), 60);
        if (life == 2)
            mem_fail_at(1, true); /* it need not be able to allocate */
        signal_clear(s, 7);
        mem_fail_at(0, false);
        assert_int_equal(signal_count(s, 7, SIGNAL_ALL, T0 + 60 * HOUR), 0);
        assert_int_equal(signal_count(s, 7, 2, T0 + 60 * HOUR), 0);
        assert_true(signal_sum(s, 7, SIGNAL_ALL, T0) == 0.0 && signal_decay(s, 7, T0) == 0.0 && signal_last(s, 7, T0) == INT64_MIN);
    }
    finish(s, 8);
}

/* ---- memory ---- */

/* A signal of three windows, in which few things happen, takes at most 128 bytes an item in all; unused slots 40. */
static void a_quiet_signal_takes_128_bytes(void **state)
{
    (void)state;
    enum { SLOTS = 8 * 4096 };
    for (int weighted = 0; weighted < 2; weighted++) {
        uint64_t before = mem_used();
        struct signal *s = DEFINE(HALF_LIFE(7 * DAY), THREE_WINDOWS);
        for (uint32_t i = 0; i < SLOTS; i++)
            assert_true(signal_prepare(s, i));
        assert_in_range(mem_used() - before, 40 * SLOTS, 41 * SLOTS);
        for (uint32_t i = 0; i < SLOTS; i++)
            for (int k = 0; k < 4; k++)
                assert_int_equal(add_weighted(s, i, weighted ? 0.5 : 1.0, T0 + k * 2 * HOUR, T0 + k * 2 * HOUR), STATUS_OK);
        reclaim_barrier();
        assert_in_range(mem_used() - before, 0, 128 * SLOTS + 4096); /* 4096: of the signal itself */
        struct signal_stats stats;
        signal_statistics(s, SLOTS, &stats);
        assert_int_equal(stats.cells, SLOTS);
        assert_int_equal(stats.quiet, SLOTS);
        assert_in_range(stats.bytes, 80 * SLOTS, 128 * SLOTS);
        finish(s, SLOTS);
        /* What reclaim keeps for itself is not ours. */
        assert_in_range(mem_used() - before, 0, 1 << 20);
    }
}

static void upkeep_gives_memory_back(void **state)
{
    (void)state;
    enum { SLOTS = 512 };
    struct signal *s = DEFINE(HALF_LIFE(7 * DAY), THREE_WINDOWS);
    struct signal_stats stats;
    for (uint32_t i = 0; i < SLOTS; i++)
        for (int k = 0; k < 30; k++)
            assert_int_equal(add_weighted(s, i, i % 2 ? 0.5 : 1.0, T0 + k * HOUR - (k == 20 ? DAY : 0), T0 + k * HOUR), STATUS_OK);
    int64_t now = T0 + 29 * HOUR;
    signal_statistics(s, SLOTS, &stats);
    assert_int_equal(stats.rings, SLOTS);
    uint64_t at_first = stats.bytes;
    assert_int_equal(signal_maintain(s, SLOTS, now), 0); /* all of it is still shown */
    now += 7 * DAY;
    uint64_t shown = signal_count(s, 0, 2, now);
    assert_in_range(shown, 1, 29);
    assert_int_equal(signal_maintain(s, SLOTS, now), SLOTS);
    assert_int_equal(signal_count(s, 0, 2, now), shown);
    assert_int_equal(signal_count(s, 0, 2, T0 + 29 * HOUR + 8 * DAY), 0);
    assert_true(signal_sum(s, 1, 2, now) == (double)shown / 2);
    signal_statistics(s, SLOTS, &stats);
    assert_int_equal(stats.rings, 0);
    assert_true(stats.bytes < at_first - SLOTS * 1000);
    now += 30 * DAY;
    assert_int_equal(signal_maintain(s, SLOTS, now), SLOTS);
    assert_int_equal(signal_maintain(s, SLOTS, now), 0);
    uint64_t small = stats.bytes;
    signal_statistics(s, SLOTS, &stats);
    assert_true(stats.bytes < small);
    assert_int_equal(signal_count(s, 0, SIGNAL_ALL, now), 30); /* what counts for ever is kept */
    assert_true(signal_sum(s, 1, SIGNAL_ALL, now) == 15.0);
    add(s, 0, now);
    assert_int_equal(signal_count(s, 0, 2, now), 1);
    assert_int_equal(signal_count(s, 0, SIGNAL_ALL, now), 31);
    /* One unit's events need no history; others keep one word once all have passed. */
    add(s, SLOTS, now);
    add(s, SLOTS, now);
    add(s, SLOTS + 1, now);
    add(s, SLOTS + 1, now + HOUR);
    assert_int_equal(signal_maintain(s, SLOTS + 2, now + 60 * DAY), 1);
    assert_int_equal(signal_maintain(s, SLOTS + 2, now + 60 * DAY), 0);
    finish(s, SLOTS + 2);
}

/* ---- allocations that fail ---- */

struct script_event {
    double weight;
    int64_t at;
};

/* Events that make every sort of history: none, quiet of 4, 8, 16, ring, with weights, late ones in each. */
static unsigned write_script(struct script_event *out, unsigned weighted)
{
    unsigned n = 0;
    uint64_t seed = 11;
    for (int i = 0; i < 40; i++) {
        double weight = weighted == 2 || (weighted == 1 && i >= 25) ? 0.5 : 1.0;
        out[n++] = (struct script_event){weight, T0 + i * HOUR};
        out[n++] = (struct script_event){1.0, T0 + i * HOUR};
        if (i % 3 == 2)
            out[n++] = (struct script_event){weight, T0 + i * HOUR - (int64_t)draw_below(&seed, 2 * DAY)};
    }
    return n;
}

/* For each n: the n-th allocation of the script fails. The event is refused and nothing has changed; tried again it is counted. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    static struct script_event script[200];
    unsigned points = 0;
    for (unsigned variant = 0; variant < 6; variant++) {
        const unsigned n = write_script(script, variant / 2);
        for (uint64_t at = 1;; at++) {
            const bool forgets = variant % 2;
            struct signal *s = DEFINE(HALF_LIFE(7 * DAY), THREE_WINDOWS, .forgets = forgets);
            unsigned refused = 0;
            struct error e;
            assert_true(reclaim_reserve(400));
            mem_fail_at(at, false);
            for (unsigned i = 0; i < n; i++) {
                uint64_t all = signal_count(s, 0, SIGNAL_ALL, T0);
                reclaim_enter();
                status code = signal_add(s, 0, script[i].weight, script[i].at, T0 + 40 * HOUR);
                reclaim_leave();
                if (code == STATUS_OK)
                    continue;
                assert_int_equal(code, STATUS_NO_MEMORY);
                assert_int_equal(signal_count(s, 0, SIGNAL_ALL, T0), all);
                if (!signal_validate(s, 1, &e))
                    fail_msg("%s", e.text);
                refused++;
                i--;
            }
            mem_fail_at(0, false);
            assert_in_range(refused, 0, 1);
            struct oracle o = {0};
            const struct signal_def *d = signal_definition(s);
            for (unsigned i = 0; i < n; i++)
                oracle_add(d, &o, script[i].weight, script[i].at, T0 + 40 * HOUR);
            for (unsigned w = 0; w < 3; w++) {
                assert_int_equal(signal_count(s, 0, w, T0 + 41 * HOUR), oracle_count(d, &o, w, T0 + 41 * HOUR));
                assert_near(signal_sum(s, 0, w, T0 + 41 * HOUR), (double)oracle_sum(d, &o, w, T0 + 41 * HOUR));
            }
            free(o.events);
            finish(s, 1);
            if (refused == 0)
                break;
            points++;
        }
    }
    print_message("%u allocations failed\n", points);
    assert_in_range(points, 60, 1000);
}

static void creation_and_upkeep_without_memory(void **state)
{
    (void)state;
    mem_fail_at(1, true);
    assert_null(DEFINE(HALF_LIFE(DAY)));
    mem_fail_at(0, false);
    struct signal *s = DEFINE(HALF_LIFE(7 * DAY), THREE_WINDOWS);
    for (int k = 0; k < 30; k++)
        add(s, 0, T0 + k * HOUR);
    reclaim_reserve(10);
    mem_fail_at(1, true);
    assert_false(signal_prepare(s, 1 << 20));
    assert_int_equal(signal_maintain(s, 1, T0 + 8 * DAY), 0);
    assert_int_equal(signal_add(s, 1 << 20, 1.0, T0, T0), STATUS_NO_MEMORY);
    mem_fail_at(0, false);
    assert_int_equal(signal_count(s, 0, SIGNAL_ALL, T0 + 8 * DAY), 30);
    assert_int_equal(signal_maintain(s, 1, T0 + 8 * DAY), 1);
    finish(s, 1);
}

/* ---- many slots ---- */

static void slots_far_apart(void **state)
{
    (void)state;
    struct signal *s = DEFINE(HALF_LIFE(HOUR), THREE_WINDOWS);
    const uint32_t slots[] = {0, 4095, 4096, 1000000, 4000000000u};
    double f[4096];
    for (int i = 0; i < 5; i++)
        for (int k = 0; k <= i; k++)
            add(s, slots[i], T0 + k * HOUR);
    for (int i = 0; i < 5; i++)
        assert_int_equal(signal_count(s, slots[i], SIGNAL_ALL, T0), i + 1);
    reclaim_enter();
    signal_read_block(s, READ_COUNT, SIGNAL_ALL, T0, 0, 4096, f, NULL);
    reclaim_leave();
    for (int i = 0; i < 4096; i++)
        assert_true(f[i] == (i == 0 ? 1 : i == 4095 ? 2 : 0));
    struct signal_stats stats;
    signal_statistics(s, 1000001, &stats);
    assert_int_equal(stats.cells, 4);
    finish(s, 1000001);
}

static void many_events_of_one_time(void **state)
{
    (void)state;
    struct signal *s = DEFINE(HALF_LIFE(HOUR), THREE_WINDOWS);
    const struct signal_time t = signal_time(s, T0);
    assert_true(reclaim_reserve(100));
    reclaim_enter();
    for (int i = 0; i < 100; i++) {
        signal_prefetch(s, (uint32_t)i);
        assert_int_equal(signal_add_at(s, (uint32_t)i % 10, 1.0, &t, T0), STATUS_OK);
    }
    reclaim_leave();
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(signal_count(s, i, 0, T0), 10);
        assert_near(signal_decay(s, i, T0), 10.0);
    }
    finish(s, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_cell),
        cmocka_unit_test(the_edges_of_a_window),
        cmocka_unit_test(windows_of_one_minute_have_48_buckets_or_60),
        cmocka_unit_test(decays_by_hand),
        cmocka_unit_test(late_and_equal_times),
        cmocka_unit_test(the_clock_steps_back),
        cmocka_unit_test(the_first_and_the_last_times),
        cmocka_unit_test(extreme_weights),
        cmocka_unit_test(minutes_then_a_burst),
        cmocka_unit_test(ten_years_and_idle_days),
        cmocka_unit_test(forgetting),
        cmocka_unit_test(clearing),
        cmocka_unit_test(a_quiet_signal_takes_128_bytes),
        cmocka_unit_test(upkeep_gives_memory_back),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(creation_and_upkeep_without_memory),
        cmocka_unit_test(slots_far_apart),
        cmocka_unit_test(many_events_of_one_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
