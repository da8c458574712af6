/* SPDX-License-Identifier: MIT */
/* Writers, readers and upkeep on a few cells, at full speed, while the clock runs through many buckets.
 *
 *   windows   Each writer notes an event in two tables by its second: `started` before signal_add, `finished` after. A reading of any window must
 *             lie between what had finished before it began and what had started when it ended, for the moments that passed meanwhile. Weights are
 *             quarters, so sums are exact and are checked the same way. When all have ended, every window must equal the tables.
 *   totals    of a reader never fall.
 *   races     The writers move the clock themselves. Every few hundred events all stop, and all windows must be exact.
 *   forget    Cells that forget, in bursts with a day between them: of each burst all events are counted and none of the burst before.
 *
 * In three rounds of four the engine's own gaps (test_gap() in core/store) hold threads between accesses that others may come between.
 *
 * EAGRE_TEST_SECONDS: how long (10). EAGRE_TEST_SEED: where the random numbers start. */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/publish.h"
#include "base/reclaim.h"
#include "effort.h"
#include "signal_oracle.h"
#include "signal_readings.h"

enum { CELLS = 3, WRITERS = 3, READERS = 2, SPAN = 30000, REACH = 3800 };

static const int64_t START = 1700000000LL; /* seconds */
static uint64_t first_seed, seed;          /* seed moves on between rounds, while no thread runs */
static uint64_t readings, events, moves;

#define wrong(...) \
    (fprintf(stderr, "stress_signal: " __VA_ARGS__), fprintf(stderr, " (seed %llu)\n", (unsigned long long)first_seed), abort())

struct table {
    uint32_t n[SPAN + 1], quarters[SPAN + 1];
}; /* atomic; by second */

static struct {
    struct signal *signal;
    struct table started[CELLS], finished[CELLS];
    uint64_t all_started[CELLS], all_finished[CELLS]; /* atomic */
    uint64_t second;                                  /* atomic: the clock, from START on */
    bool stop;                                        /* atomic */
    bool weighted, upkeep;
    unsigned late_percent;
} world;

/* ORDER: sequentially consistent, in all of this file: the tables must be at least as strict as what they check. */
#define read_now(p) __atomic_load_n((p), __ATOMIC_SEQ_CST)
#define write_now(p, v) __atomic_store_n((p), (v), __ATOMIC_SEQ_CST)

extern void (*signal_test_gap)(void); /* core/store/signal_cell.h */

/* Holds a thread between two accesses, most times not at all, now and then until another thread has had the core. */
static void gap(void)
{
    static __thread uint64_t random;
    uint64_t r = draw(&random);
    if (r >> 56 == 0)
        sched_yield();
    else if (r >> 56 < 8)
        for (volatile unsigned i = 0; i < (r & 255); i++)
            continue;
}

static int64_t moment(uint64_t second)
{
    return (START + (int64_t)second) * SECOND;
}

static void *writer(void *p)
{
    uint64_t random = seed + (uint64_t)(uintptr_t)p;
    uint64_t n = 0;
    while (!read_now(&world.stop)) {
        if (!reclaim_reserve(1))
            abort();
        uint64_t now = read_now(&world.second), at, r = draw(&random);
        at = now;
        if (r % 100 < world.late_percent) {
            uint64_t back = draw_below(&random, r % 7 == 0 ? REACH : 90);
            at -= back < at ? back : at;
        }
        unsigned c = (unsigned)(r >> 32) % CELLS;
        uint32_t quarters = world.weighted && r % 3 == 0 ? 1 + (uint32_t)(r >> 40) % 8 : 4;
        add_seq(&world.all_started[c], 1u);
        add_seq(&world.started[c].n[at], 1u);
        add_seq(&world.started[c].quarters[at], quarters);
        reclaim_enter();
        status code = signal_add(world.signal, c * 5000, quarters / 4.0, moment(at) + (int64_t)(r >> 44) % 900000, moment(now));
        reclaim_leave();
        if (code != STATUS_OK)
            wrong("an event was refused: %d", code);
        add_seq(&world.finished[c].n[at], 1u);
        add_seq(&world.finished[c].quarters[at], quarters);
        add_seq(&world.all_finished[c], 1u);
        n++;
    }
    add_seq(&events, n);
    return NULL;
}

/* The first second that a window shows at a moment. */
static uint64_t first_second(const struct signal_def *d, unsigned window, uint64_t now)
{
    int64_t w = d->windows[window], b = w % 48 == 0 ? w / 48 : w / 60, first = ((START + (int64_t)now) / b - w / b) * b - START;
    return first < 0 ? 0 : (uint64_t)first;
}

static double total(const uint32_t *by_second, uint64_t first, uint64_t last)
{
    uint64_t sum = 0;
    for (uint64_t i = first; i <= last; i++)
        sum += read_now(&by_second[i]);
    return (double)sum;
}

static void check_window(unsigned c, unsigned window, bool sum, uint32_t *copy)
{
    const struct signal_def *d = signal_definition(world.signal);
    const uint32_t *finished = sum ? world.finished[c].quarters : world.finished[c].n,
                   *started = sum ? world.started[c].quarters : world.started[c].n;
    const uint64_t before = read_now(&world.second), from = first_second(d, window, before);
    for (uint64_t i = from; i <= before; i++)
        copy[i - from] = read_now(&finished[i]);
    reclaim_enter();
    double got = sum ? 4 * signal_sum(world.signal, c * 5000, window, moment(before))
                     : (double)signal_count(world.signal, c * 5000, window, moment(before));
    reclaim_leave();
    const uint64_t after = read_now(&world.second);
    double most = total(started, from, after), least = 0;
    for (uint64_t i = first_second(d, window, after); i <= before; i++)
        least += copy[i - from];
    if (got < least || got > most)
        wrong("%s of window %u s of cell %u reads %.2f, between %.0f and %.0f (seconds %llu..%llu)", sum ? "sum (quarters)" : "count",
              d->windows[window], c, got, least, most, (unsigned long long)before, (unsigned long long)after);
}

struct seen {
    double count[CELLS], sum[CELLS];
    int64_t last[CELLS];
};

static void check_totals(unsigned c, struct seen *seen)
{
    uint64_t finished = read_now(&world.all_finished[c]), second = read_now(&world.second);
    reclaim_enter();
    double count = (double)signal_count(world.signal, c * 5000, SIGNAL_ALL, moment(second)),
           sum = signal_sum(world.signal, c * 5000, SIGNAL_ALL, moment(second));
    double decay = signal_decay(world.signal, c * 5000, moment(second));
    int64_t last = signal_last(world.signal, c * 5000, moment(second));
    reclaim_leave();
    uint64_t started = read_now(&world.all_started[c]), now = read_now(&world.second);
    if (count < (double)finished || count > (double)started || count < seen->count[c])
        wrong("%.0f events of cell %u, between %llu and %llu, %.0f before", count, c, (unsigned long long)finished,
              (unsigned long long)started, seen->count[c]);
    if (sum < 0.25 * (double)finished || sum > 2.0 * (double)started || sum < seen->sum[c])
        wrong("weights of cell %u: %.2f of %llu events, %.2f before", c, sum, (unsigned long long)finished, seen->sum[c]);
    if (decay < 0.25 * (double)finished * 0.9999 || decay > 2.0 * (double)started * 1.0001)
        wrong("decay of cell %u: %.2f of %llu events", c, decay, (unsigned long long)finished);
    if (last < seen->last[c] || last > moment(now) + SECOND)
        wrong("newest event of cell %u at %lld, %lld before", c, (long long)last, (long long)seen->last[c]);
    seen->count[c] = count;
    seen->sum[c] = sum;
    seen->last[c] = last;
}

static void *reader(void *p)
{
    uint64_t random = seed + 77 * (uint64_t)(uintptr_t)p, n = 0;
    uint32_t *copy = malloc((SPAN + 1) * sizeof *copy);
    struct seen seen = {.last = {INT64_MIN, INT64_MIN, INT64_MIN}};
    const struct signal_def *d = signal_definition(world.signal);
    for (; !read_now(&world.stop); n++) {
        uint64_t r = draw(&random);
        unsigned c = (unsigned)r % CELLS;
        if (r >> 60 == 0)
            check_totals(c, &seen);
        else
            check_window(c, (unsigned)(r >> 32) % d->n_windows, r >> 50 & 1, copy);
    }
    free(copy);
    add_seq(&readings, n);
    return NULL;
}

static void *upkeep(void *unused)
{
    (void)unused;
    while (!read_now(&world.stop)) {
        signal_maintain(world.signal, CELLS * 5000, moment(read_now(&world.second)));
        usleep(300);
    }
    return NULL;
}

/* The clock: mostly a second further, now and then past whole windows. */
static void run_clock(double seconds, uint64_t clock_seed)
{
    uint64_t random = clock_seed, second = REACH;
    struct timespec begin, t;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (uint64_t n = 0;; n++) {
        usleep((unsigned)draw_below(&random, 200));
        clock_gettime(CLOCK_MONOTONIC, &t);
        if ((double)(t.tv_sec - begin.tv_sec) + 1e-9 * (double)(t.tv_nsec - begin.tv_nsec) > seconds)
            return;
        uint64_t kind = n == 1 ? 99 : draw_below(&random, 100);
        uint64_t step = kind < 40   ? 0
                        : kind < 80 ? 1
                        : kind < 97 ? draw_below(&random, 8)
                        : kind < 99 ? draw_below(&random, 100)
                                    : draw_below(&random, 4000);
        if (second + step > SPAN)
            return;
        second += step;
        write_now(&world.second, second);
    }
}

static void check_at_rest(void)
{
    const struct signal_def *d = signal_definition(world.signal);
    const uint64_t now = world.second;
    struct error e;
    if (!signal_validate(world.signal, CELLS * 5000, &e))
        wrong("%s", e.text);
    for (unsigned c = 0; c < CELLS; c++) {
        long double decay = 0;
        for (uint64_t i = 0; i <= SPAN; i++)
            decay += world.finished[c].quarters[i] / 4.0L *
                     exp2l(-(long double)((int64_t)now - (int64_t)i) * SECOND / (long double)d->half_life);
        double got = signal_decay(world.signal, c * 5000, moment(now));
        if (fabsl(got - decay) > 1e-6L * decay)
            wrong("decay of cell %u is %.9f, expected %.9Lf", c, got, decay);
        for (unsigned window = 0; window < d->n_windows; window++)
            for (uint64_t later = 0; later < 8000; later += 37) {
                /* The moment is the newest event's at least; all of these are later. */
                uint64_t first = first_second(d, window, now + later), last = SPAN;
                double n = (double)signal_count(world.signal, c * 5000, window, moment(now + later));
                double quarters = 4 * signal_sum(world.signal, c * 5000, window, moment(now + later));
                double want = first > last ? 0 : total(world.finished[c].n, first, last),
                       weight = first > last ? 0 : total(world.finished[c].quarters, first, last);
                if (n != want || quarters != weight)
                    wrong("window %u s of cell %u, %llu s later: %.0f events of %.0f, %.2f quarters of %.0f", d->windows[window], c,
                          (unsigned long long)later, n, want, quarters, weight);
            }
    }
}

static void round_of_windows(struct signal_def *def, double seconds)
{
    memset(&world, 0, sizeof world);
    world.second = REACH;
    world.signal = signal_create(def);
    const uint64_t r = draw(&seed), clock_seed = draw(&seed);
    world.weighted = r & 1;
    world.upkeep = r & 2;
    world.late_percent = r & 4 ? 10 : r & 8 ? 1 : 0;
    for (uint32_t c = 0; c < CELLS; c++)
        if (!signal_prepare(world.signal, c * 5000))
            abort();
    pthread_t threads[WRITERS + READERS + 1];
    unsigned n = 0;
    for (uintptr_t i = 0; i < WRITERS; i++)
        pthread_create(&threads[n++], NULL, writer, (void *)(i + 1));
    for (uintptr_t i = 0; i < READERS; i++)
        pthread_create(&threads[n++], NULL, reader, (void *)(i + 1));
    if (world.upkeep)
        pthread_create(&threads[n++], NULL, upkeep, NULL);
    run_clock(seconds, clock_seed);
    write_now(&world.stop, true);
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    moves += world.second - REACH;
    check_at_rest();
    signal_destroy(world.signal);
}

/* ---- races: the writers move the clock, so that every few events turn a bucket; after a few hundred events everything must be exact ---- */

enum { RACE_EVENTS = 300, RACE_SPAN = 120 };

static struct {
    struct signal *signal;
    uint64_t second; /* atomic */
    struct {
        uint32_t n[RACE_SPAN], quarters[RACE_SPAN];
    } done[WRITERS][CELLS];
    pthread_barrier_t begin, end;
    bool stop, weighted;
    unsigned late_percent, clock_bits;
} race;

static void race_once(unsigned me, uint64_t *random)
{
    for (unsigned i = 0; i < RACE_EVENTS; i++) {
        uint64_t now = read_now(&race.second), at, r = draw(random);
        if (r >> (64 - race.clock_bits) == 0 && now < RACE_SPAN - 1 &&
            __atomic_compare_exchange_n(&race.second, &now, now + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            now++;
        at = r % 100 < race.late_percent ? draw_below(random, now + 1) : now;
        unsigned c = (unsigned)(r >> 32) % CELLS;
        uint32_t quarters = race.weighted && (r >> 40) % 8 == 0 ? 1 + (uint32_t)(r >> 44) % 8 : 4;
        if (!reclaim_reserve(1))
            abort();
        reclaim_enter();
        status code = signal_add(race.signal, c, quarters / 4.0, moment(at), moment(now));
        reclaim_leave();
        if (code != STATUS_OK)
            wrong("an event was refused: %d", code);
        race.done[me][c].n[at]++;
        race.done[me][c].quarters[at] += quarters;
    }
}

static void *racer(void *p)
{
    const unsigned me = (unsigned)(uintptr_t)p;
    uint64_t random = seed + 1001 * me;
    for (;;) {
        pthread_barrier_wait(&race.begin);
        if (race.stop)
            return NULL;
        race_once(me, &random);
        pthread_barrier_wait(&race.end);
    }
}

static void check_race(void)
{
    const struct signal_def *d = signal_definition(race.signal);
    struct error e;
    if (!signal_validate(race.signal, CELLS, &e))
        wrong("%s", e.text);
    for (unsigned c = 0; c < CELLS; c++)
        for (unsigned window = 0; window < d->n_windows; window++)
            for (uint64_t later = 0; later < 75 * 50; later += later < 70 ? 1 : later < 320 ? 5 : 75) {
                const uint64_t now = race.second + later, first = first_second(d, window, now);
                uint64_t n = 0, quarters = 0;
                for (uint64_t i = first; i < RACE_SPAN; i++)
                    for (unsigned w = 0; w < WRITERS; w++) {
                        n += race.done[w][c].n[i];
                        quarters += race.done[w][c].quarters[i];
                    }
                uint64_t got = signal_count(race.signal, c, window, moment(now));
                double sum = 4 * signal_sum(race.signal, c, window, moment(now));
                if (got != n || sum != (double)quarters)
                    wrong("after a race: window %u s of cell %u, %llu s later: %llu events of %llu, %.2f quarters of %llu",
                          d->windows[window], c, (unsigned long long)later, (unsigned long long)got, (unsigned long long)n, sum,
                          (unsigned long long)quarters);
            }
}

static void round_of_races(struct signal_def *def, double seconds)
{
    uint64_t random = draw(&seed);
    memset(&race, 0, sizeof race);
    pthread_barrier_init(&race.begin, NULL, WRITERS + 1);
    pthread_barrier_init(&race.end, NULL, WRITERS + 1);
    pthread_t threads[WRITERS];
    for (uintptr_t i = 0; i < WRITERS; i++)
        pthread_create(&threads[i], NULL, racer, (void *)i);
    struct timespec begin, t;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        const uint64_t r = draw(&random);
        memset(race.done, 0, sizeof race.done);
        race.signal = signal_create(def);
        race.second = 0;
        race.weighted = r & 1;
        race.late_percent = r & 2 ? 0 : 5;
        race.clock_bits = 2 + (unsigned)(r >> 8) % 4;
        if (!signal_prepare(race.signal, 0))
            abort();
        pthread_barrier_wait(&race.begin);
        pthread_barrier_wait(&race.end);
        check_race();
        moves += race.second;
        add_seq(&events, (uint64_t)WRITERS * RACE_EVENTS);
        signal_destroy(race.signal);
        clock_gettime(CLOCK_MONOTONIC, &t);
    } while ((double)(t.tv_sec - begin.tv_sec) + 1e-9 * (double)(t.tv_nsec - begin.tv_nsec) < seconds);
    race.stop = true;
    pthread_barrier_wait(&race.begin);
    for (unsigned i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&race.begin);
    pthread_barrier_destroy(&race.end);
}

/* ---- cells that forget ---- */

enum { BURST = 200, BURSTS = 60 };

static struct {
    struct signal *signal;
    uint64_t burst;                             /* atomic: which one */
    uint64_t started[BURSTS], finished[BURSTS]; /* atomic: events of each */
    pthread_barrier_t begin, end;
    bool stop;
    bool weighted;
} life;

static void *burst_writer(void *p)
{
    uint64_t random = seed + 13 * (uint64_t)(uintptr_t)p;
    for (;;) {
        pthread_barrier_wait(&life.begin);
        if (life.stop)
            return NULL;
        const uint64_t b = life.burst;
        for (unsigned i = 0; i < BURST; i++) {
            if (!reclaim_reserve(1))
                abort();
            int64_t now = START * SECOND + (int64_t)b * DAY + i * 50000;
            int64_t at = draw_below(&random, 10) == 0 ? now - (int64_t)draw_below(&random, 60 * SECOND) : now;
            at = at < START * SECOND + (int64_t)b * DAY ? now : at;
            add_seq(&life.started[b], 1u);
            reclaim_enter();
            status code = signal_add(life.signal, 0, life.weighted && i % 4 == 0 ? 0.5 : 1.0, at, now);
            reclaim_leave();
            if (code != STATUS_OK)
                wrong("an event was refused");
            add_seq(&life.finished[b], 1u);
        }
        pthread_barrier_wait(&life.end);
    }
}

static void *burst_reader(void *unused)
{
    (void)unused;
    uint64_t n = 0;
    for (; !read_now(&life.stop); n++) {
        const uint64_t b = read_now(&life.burst), finished = read_now(&life.finished[b]);
        const int64_t now = START * SECOND + (int64_t)b * DAY + BURST * 50000;
        reclaim_enter();
        uint64_t all = signal_count(life.signal, 0, SIGNAL_ALL, now), window = signal_count(life.signal, 0, 0, now);
        int64_t last = signal_last(life.signal, 0, now);
        double sum = signal_sum(life.signal, 0, SIGNAL_ALL, now);
        reclaim_leave();
        const uint64_t started = read_now(&life.started[b]);
        if (read_now(&life.burst) != b)
            continue;
        if (all < finished || all > started || window < finished || window > started)
            wrong("burst %llu: %llu events, %llu in the window, between %llu and %llu", (unsigned long long)b, (unsigned long long)all,
                  (unsigned long long)window, (unsigned long long)finished, (unsigned long long)started);
        if (sum < 0.5 * (double)finished || sum > (double)started)
            wrong("burst %llu: weights %.1f, events between %llu and %llu", (unsigned long long)b, sum, (unsigned long long)finished,
                  (unsigned long long)started);
        if (last == INT64_MIN ? finished > 0 : last < START * SECOND + (int64_t)b * DAY)
            wrong("burst %llu: newest event at %lld", (unsigned long long)b, (long long)last);
    }
    add_seq(&readings, n);
    return NULL;
}

static void *burst_upkeep(void *unused)
{
    (void)unused;
    while (!read_now(&life.stop)) {
        signal_maintain(life.signal, 1, START * SECOND + (int64_t)read_now(&life.burst) * DAY);
        usleep(100);
    }
    return NULL;
}

static void round_of_lives(void)
{
    memset(&life, 0, sizeof life);
    struct signal_def def = {
        .name = "brief", .decay = DECAY_HALF_LIFE, .half_life = 30 * SECOND, .forgets = true, .n_windows = 2, .windows = {300, 3600}};
    life.signal = signal_create(&def);
    life.weighted = draw(&seed) & 1;
    if (!signal_prepare(life.signal, 0))
        abort();
    pthread_barrier_init(&life.begin, NULL, WRITERS + 1);
    pthread_barrier_init(&life.end, NULL, WRITERS + 1);
    pthread_t threads[WRITERS + 2];
    for (uintptr_t i = 0; i < WRITERS; i++)
        pthread_create(&threads[i], NULL, burst_writer, (void *)(i + 1));
    pthread_create(&threads[WRITERS], NULL, burst_reader, NULL);
    pthread_create(&threads[WRITERS + 1], NULL, burst_upkeep, NULL);
    for (uint64_t b = 0; b < BURSTS; b++) {
        write_now(&life.burst, b);
        pthread_barrier_wait(&life.begin);
        pthread_barrier_wait(&life.end);
        const int64_t now = START * SECOND + (int64_t)b * DAY + BURST * 50000;
        if (signal_count(life.signal, 0, SIGNAL_ALL, now) != WRITERS * BURST || signal_count(life.signal, 0, 1, now) != WRITERS * BURST)
            wrong("burst %llu: not all events were counted", (unsigned long long)b);
    }
    write_now(&life.stop, true);
    pthread_barrier_wait(&life.begin);
    for (unsigned i = 0; i < WRITERS + 2; i++)
        pthread_join(threads[i], NULL);
    struct error e;
    if (!signal_validate(life.signal, 1, &e))
        wrong("%s", e.text);
    pthread_barrier_destroy(&life.begin);
    pthread_barrier_destroy(&life.end);
    add_seq(&events, (uint64_t)BURSTS * WRITERS * BURST);
    signal_destroy(life.signal);
}

int main(void)
{
    const double budget = test_seconds(10);
    first_seed = seed = test_seed();
    printf("seed %llu\n", (unsigned long long)seed);
    struct signal_def defs[] = {
        {.name = "three", .decay = DECAY_HALF_LIFE, .half_life = 3650 * DAY, .n_windows = 3, .windows = {60, 300, 3600}},
        {.name = "hour", .decay = DECAY_HALF_LIFE, .half_life = 3650 * DAY, .n_windows = 1, .windows = {3600}},
        {.name = "uneven", .decay = DECAY_HALF_LIFE, .half_life = 3650 * DAY, .n_windows = 2, .windows = {420, 660}},
    };
    const time_t end = time(NULL) + (time_t)budget;
    unsigned rounds = 0;
    do {
        signal_test_gap = rounds % 4 != 3 ? gap : NULL;
        for (unsigned i = 0; i < 8; i++) {
            round_of_windows(&defs[rounds % 3], 0.1);
            round_of_lives();
        }
        round_of_races(&defs[rounds % 3], 0.5);
        rounds++;
    } while (time(NULL) < end);
    reclaim_barrier();
    printf("%u rounds, %llu events, %llu readings, the clock moved %llu s\n", rounds, (unsigned long long)events,
           (unsigned long long)readings, (unsigned long long)moves);
    return 0;
}
