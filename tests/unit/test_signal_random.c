/* SPDX-License-Identifier: MIT */
/* Signals against a list of events: random events in any order, weights, sets of windows, moments, with upkeep in between. */
#include <float.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "signal_oracle.h"
#include "signal_readings.h"

#include "base/alloc.h"
#include "base/reclaim.h"

enum { ITEMS = 24 };

struct world {
    const char *name;
    struct signal_def def;
    struct signal *signal;
    struct oracle items[ITEMS];
    double greatest[ITEMS]; /* the largest sum an item ever had: what sums of windows are accurate to */
    int64_t now, upkept;
    uint64_t seed;
    unsigned late_percent, weighted_percent, checks;
    int64_t step; /* the clock goes on by up to this, now and then by 50 times as much */
};

static void add(struct world *w, unsigned item, double weight, int64_t at)
{
    assert_true(reclaim_reserve(1));
    reclaim_enter();
    status code = signal_add(w->signal, item, weight, at, w->now);
    reclaim_leave();
    assert_int_equal(code, STATUS_OK);
    oracle_add(&w->def, &w->items[item], weight, at, w->now);
    long double sum = 0;
    for (unsigned i = 0; i < w->items[item].n; i++)
        sum += w->items[item].events[i].weight;
    w->greatest[item] = fmax(w->greatest[item], (double)sum);
}

static void random_event(struct world *w)
{
    unsigned item = (unsigned)draw_below(&w->seed, ITEMS);
    item = item % (1 + (unsigned)draw_below(&w->seed, ITEMS)); /* some items have many events, some few */
    int64_t at = w->now;
    if (draw_below(&w->seed, 100) < w->late_percent) {
        int64_t reach = (int64_t)draw_below(&w->seed, 3) == 0 ? 400 * DAY : w->step * 20;
        at -= (int64_t)draw_below(&w->seed, (uint64_t)reach);
        at = at < 0 ? 0 : at;
    }
    double weight = draw_below(&w->seed, 100) < w->weighted_percent ? draw_unit(&w->seed) * 8 + 0.001 : 1.0;
    add(w, item, weight, at);
}

static void check_close(const struct world *w, const char *what, unsigned window, unsigned item, int64_t y, double got, long double want,
                        double tolerance)
{
    if (fabsl((long double)got - want) > (long double)tolerance)
        fail_msg("%s: %s window %u item %u at %lld: %.17g, expected %.17Lg (now %lld, %u events)", w->name, what, window, item,
                 (long long)y, got, want, (long long)w->now, w->items[item].n);
}

static void check_item(struct world *w, unsigned item, int64_t y)
{
    const struct oracle *o = &w->items[item];
    reclaim_enter();
    for (unsigned i = 0; i <= w->def.n_windows; i++) {
        unsigned window = i < w->def.n_windows ? i : (unsigned)SIGNAL_ALL;
        double n = (double)signal_count(w->signal, item, window, y);
        check_close(w, "count", window, item, y, n, (long double)oracle_count(&w->def, o, window, y), 0);
        check_close(w, "sum", window, item, y, signal_sum(w->signal, item, window, y), oracle_sum(&w->def, o, window, y),
                    1e-13 * (w->greatest[item] + 1) + 1e-15 * w->greatest[item] * o->n);
        w->checks += 2;
    }
    long double decay = oracle_decay(&w->def, o, y);
    check_close(w, "decay", 0, item, y, signal_decay(w->signal, item, y), decay, 1e-9 * (double)decay + 0x1p-62);
    int64_t last = signal_last(w->signal, item, y);
    if (last != oracle_last(&w->def, o, y))
        fail_msg("%s: last of item %u: %lld, expected %lld", w->name, item, (long long)last, (long long)oracle_last(&w->def, o, y));
    reclaim_leave();
}

static void check_blocks(struct world *w, int64_t y)
{
    double f[ITEMS];
    int64_t last[ITEMS];
    reclaim_enter();
    for (unsigned i = 0; i < w->def.n_windows; i++) {
        signal_read_block(w->signal, READ_COUNT, i, y, 0, ITEMS, f, NULL);
        for (unsigned k = 0; k < ITEMS; k++)
            assert_int_equal((int64_t)f[k], (int64_t)signal_count(w->signal, k, i, y));
    }
    signal_read_block(w->signal, READ_DECAY, 0, y, 0, ITEMS, f, NULL);
    signal_read_block(w->signal, READ_LAST, 0, y, 0, ITEMS, NULL, last);
    for (unsigned k = 0; k < ITEMS; k++) {
        assert_true(f[k] == signal_decay(w->signal, k, y));
        assert_true(last[k] == signal_last(w->signal, k, y));
    }
    reclaim_leave();
}

static void pass_time(struct world *w)
{
    uint64_t kind = draw_below(&w->seed, 100);
    int64_t most = kind < 60 ? w->step / 50 : kind < 95 ? w->step : kind < 99 ? w->step * 50 : w->step * 1000;
    w->now += (int64_t)draw_below(&w->seed, (uint64_t)most + 1);
}

static void step(struct world *w, unsigned n)
{
    struct error e;
    random_event(w);
    if (draw_below(&w->seed, 4) == 0)
        pass_time(w);
    /* Any moment from the last upkeep on: before the newest event it counts as that event's. */
    int64_t y = w->now;
    if (draw_below(&w->seed, 3) == 0)
        y += (int64_t)draw_below(&w->seed, (uint64_t)(w->step * 3));
    else if (draw_below(&w->seed, 3) == 0)
        y = w->upkept + (int64_t)draw_below(&w->seed, (uint64_t)(w->now - w->upkept) + 1);
    check_item(w, (unsigned)draw_below(&w->seed, ITEMS), y);
    if (n % 64 == 0)
        check_blocks(w, y);
    if (n % 97 == 0) {
        signal_maintain(w->signal, ITEMS, w->now);
        w->upkept = w->now;
    }
    if (n % 101 == 0 && !signal_validate(w->signal, ITEMS, &e))
        fail_msg("%s: %s", w->name, e.text);
}

static void run(struct world *w, unsigned steps)
{
    w->signal = signal_create(&w->def);
    assert_non_null(w->signal);
    for (unsigned n = 0; n < steps; n++) {
        step(w, n);
        if (n % 1000 == 999) { /* an item goes, and its slot is used again */
            unsigned item = (unsigned)draw_below(&w->seed, ITEMS);
            signal_clear(w->signal, item);
            w->items[item].n = 0;
            w->greatest[item] = 0;
            check_item(w, item, w->now);
        }
    }
    for (unsigned i = 0; i < ITEMS; i++)
        free(w->items[i].events);
    signal_destroy(w->signal);
    reclaim_barrier();
}

#define WEEK_DEF .decay = DECAY_HALF_LIFE, .half_life = 7 * DAY

static void against_a_list(void **state)
{
    (void)state;
    const struct world worlds[] = {
        {"1h 24h 7d", {.name = "a", WEEK_DEF, .n_windows = 3, .windows = {3600, 86400, 604800}}, .late_percent = 10, .step = MINUTE},
        {"1h 24h 7d, rare", {.name = "b", WEEK_DEF, .n_windows = 3, .windows = {3600, 86400, 604800}}, .late_percent = 5, .step = 2 * HOUR},
        {"weighted",
         {.name = "c", WEEK_DEF, .n_windows = 3, .windows = {3600, 86400, 604800}},
         .late_percent = 10,
         .weighted_percent = 60,
         .step = 10 * MINUTE},
        {"seldom weighted",
         {.name = "d", WEEK_DEF, .n_windows = 2, .windows = {60, 300}},
         .late_percent = 10,
         .weighted_percent = 1,
         .step = 5 * SECOND},
        {"buckets that do not divide",
         {.name = "e", .decay = DECAY_NONE, .n_windows = 4, .windows = {420, 660, 3600, 46800}},
         .late_percent = 20,
         .weighted_percent = 10,
         .step = 3 * SECOND},
        {"one minute",
         {.name = "f", .decay = DECAY_POWER, .power = 0.5, .n_windows = 1, .windows = {60}},
         .late_percent = 30,
         .step = SECOND},
        {"366d",
         {.name = "g", .decay = DECAY_POWER, .power = 10, .n_windows = 2, .windows = {86400, 366 * 86400}},
         .late_percent = 20,
         .step = 2 * DAY},
        {"no windows",
         {.name = "h", .decay = DECAY_HALF_LIFE, .half_life = 30 * SECOND},
         .late_percent = 20,
         .weighted_percent = 50,
         .step = 10 * SECOND},
        {"eight windows",
         {.name = "i", WEEK_DEF, .n_windows = 8, .windows = {60, 120, 300, 600, 1800, 3600, 86400, 604800}},
         .late_percent = 10,
         .weighted_percent = 5,
         .step = 20 * SECOND},
        {"forgets",
         {.name = "j", .forgets = true, .decay = DECAY_HALF_LIFE, .half_life = 30 * SECOND, .n_windows = 2, .windows = {60, 3600}},
         .late_percent = 10,
         .weighted_percent = 30,
         .step = 2 * MINUTE},
        {"forgets, no windows",
         {.name = "k", .forgets = true, .decay = DECAY_HALF_LIFE, .half_life = 30 * SECOND},
         .late_percent = 10,
         .weighted_percent = 30,
         .step = 3 * MINUTE},
        {"forgets, long decay",
         {.name = "l", .forgets = true, .decay = DECAY_HALF_LIFE, .half_life = HOUR, .n_windows = 1, .windows = {300}},
         .late_percent = 10,
         .step = 2 * HOUR},
    };
    unsigned checks = 0;
    for (unsigned round = 0; round < 4; round++)
        for (unsigned i = 0; i < sizeof worlds / sizeof worlds[0]; i++) {
            struct world w = worlds[i];
            w.seed = i * 1000 + round;
            w.now = w.upkept = round == 0   ? 0
                               : round == 1 ? 4922942400LL * SECOND /* 2126 */
                                            : 1700000000LL * SECOND + (int64_t)round * 12345;
            run(&w, 3000);
            checks += w.checks;
        }
    print_message("%u window readings compared\n", checks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_a_list)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
