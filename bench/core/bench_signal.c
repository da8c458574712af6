/* SPDX-License-Identifier: MIT */
/* What does one event cost? Nanoseconds per signal_add by slot, without key lookup, handle or ABI.
 *
 * 1M slots, of which 10 % have had events, three windows (1h, 24h, 7d). The events' slots are drawn beforehand; the clock stands, or goes on by
 * 60 s per 1,000 events ("days pass"), so that buckets turn. Each figure is the best and the median of some rounds. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/exp2.h"
#include "base/hash.h"
#include "base/reclaim.h"
#include "store/signal.h"

enum { SLOTS = 1000000, ACTIVE = SLOTS / 10, EVENTS = 4000000, ROUNDS = 7, BATCH = 1000 };

static const int64_t START = 1700000000LL * 1000000;

static double clock_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* One thread is timed by its own processor time, which other programs disturb less; two by the wall. */
static double seconds(void)
{
    return clock_seconds(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t state = 1;

static double draw(void)
{
    return (double)(mix64(state++) >> 11) * 0x1p-53;
}

/* Slots scattered over all of 1M: rank r's slot. */
static uint32_t scatter(uint32_t rank)
{
    return (uint32_t)(((uint64_t)rank * 611953u + 7) % SLOTS);
}

/* Zipf with exponent 1 over n ranks, by inverting the continuous distribution. */
static uint32_t zipf(uint32_t n)
{
    double rank = exp2_exact(draw() * log2_exact((double)n + 1));
    return (uint32_t)rank - 1;
}

enum shape { ROTATING, ZIPF, UNIFORM };

static void fill(uint32_t *slots, size_t n, enum shape shape)
{
    for (size_t i = 0; i < n; i++)
        slots[i] = scatter(shape == ROTATING ? (uint32_t)(i % 1000) : shape == ZIPF ? zipf(SLOTS) : (uint32_t)(draw() * SLOTS));
}

struct job {
    struct signal *signal;
    const uint32_t *slots;
    size_t n;
    int64_t start, step; /* the clock goes on by `step` after each batch */
    bool batched;        /* as a batch does: prefetched, its time worked out once */
    double weight;
    pthread_barrier_t *begin;
};

static void *work(void *p)
{
    const struct job *j = p;
    int64_t now = j->start;
    if (j->begin != NULL)
        pthread_barrier_wait(j->begin);
    for (size_t at = 0; at < j->n; at += BATCH, now += j->step) {
        if (!reclaim_reserve(BATCH))
            abort();
        reclaim_enter();
        const struct signal_time t = signal_time(j->signal, now);
        for (size_t i = at; i < at + BATCH; i++) {
            if (j->batched && i + 12 < at + BATCH)
                signal_prefetch(j->signal, j->slots[i + 12]);
            status code = j->batched ? signal_add_at(j->signal, j->slots[i], j->weight, &t, now)
                                     : signal_add(j->signal, j->slots[i], j->weight, now, now);
            if (code != STATUS_OK)
                abort();
        }
        reclaim_leave();
    }
    return NULL;
}

static struct signal *make(bool forgets)
{
    struct signal_def def = {.name = "view",
                             .decay = DECAY_HALF_LIFE,
                             .half_life = 7LL * 86400 * 1000000,
                             .forgets = forgets,
                             .n_windows = 3,
                             .windows = {3600, 86400, 604800}};
    struct signal *s = signal_create(&def);
    if (s == NULL)
        abort();
    for (uint32_t i = 0; i < SLOTS; i++) {
        if (!signal_prepare(s, i) || !reclaim_reserve(1))
            abort();
        reclaim_enter();
        if (i % 10 == 0)
            signal_add(s, scatter(i), 1.0, START - 1000000, START);
        reclaim_leave();
    }
    return s;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *name, double *ns)
{
    qsort(ns, ROUNDS, sizeof ns[0], ascending);
    printf("  %-44s %7.1f %7.1f\n", name, ns[0], ns[ROUNDS / 2]);
}

static void one_thread(const char *name, struct signal *s, const uint32_t *slots, struct job job, int64_t *clock)
{
    double ns[ROUNDS];
    job.signal = s;
    job.slots = slots;
    job.n = EVENTS;
    for (int r = 0; r < ROUNDS; r++) {
        job.start = *clock;
        double t = seconds();
        work(&job);
        ns[r] = (seconds() - t) * 1e9 / EVENTS;
        *clock += job.step * (EVENTS / BATCH);
    }
    report(name, ns);
}

/* ns of one event on one of two threads that run at the same time. */
static void two_threads(const char *name, struct signal *s, uint32_t *const slots[2])
{
    double ns[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        pthread_barrier_t begin;
        pthread_barrier_init(&begin, NULL, 3);
        pthread_t threads[2];
        struct job jobs[2];
        for (int i = 0; i < 2; i++) {
            jobs[i] = (struct job){.signal = s, .slots = slots[i], .n = EVENTS, .start = START, .weight = 1.0, .begin = &begin};
            pthread_create(&threads[i], NULL, work, &jobs[i]);
        }
        pthread_barrier_wait(&begin);
        double t = clock_seconds(CLOCK_MONOTONIC);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        ns[r] = (clock_seconds(CLOCK_MONOTONIC) - t) * 1e9 / EVENTS;
        pthread_barrier_destroy(&begin);
    }
    report(name, ns);
}

static void read_blocks(const char *name, const struct signal *s, enum signal_reading what, unsigned window, int64_t now)
{
    double ns[ROUNDS], f[256];
    int64_t times[256];
    for (int r = 0; r < ROUNDS; r++) {
        double t = seconds();
        for (uint32_t slot = 0; slot < SLOTS; slot += 256) {
            reclaim_enter();
            signal_read_block(s, what, window, now, slot, SLOTS - slot < 256 ? SLOTS - slot : 256, f, times);
            reclaim_leave();
        }
        ns[r] = (seconds() - t) * 1e9 / SLOTS;
    }
    report(name, ns);
}

int main(void)
{
    uint32_t *slots[4];
    for (int i = 0; i < 4; i++)
        slots[i] = malloc(EVENTS * sizeof slots[i][0]);
    setvbuf(stdout, NULL, _IOLBF, 0);
    const uint64_t before = mem_used();
    struct signal *s = make(false);
    int64_t clock = START;
    printf("ns per event                                        best  median\n");
    const char *names[] = {"rotating 1,000", "Zipf over 1M", "uniform over 1M"};
    for (int shape = 0; shape < 3; shape++) {
        fill(slots[shape], EVENTS, (enum shape)shape);
        one_thread(names[shape], s, slots[shape], (struct job){.weight = 1.0}, &clock);
    }
    one_thread("rotating 1,000, weight 0.5", s, slots[0], (struct job){.weight = 0.5}, &clock);
    one_thread("Zipf, batches of 1,000", s, slots[1], (struct job){.weight = 1.0, .batched = true}, &clock);
    one_thread("uniform, batches of 1,000", s, slots[2], (struct job){.weight = 1.0, .batched = true}, &clock);
    fill(slots[3], EVENTS, ZIPF);
    two_threads("two threads, shared Zipf", s, (uint32_t *const[]){slots[1], slots[3]});
    for (size_t i = 0; i < EVENTS; i++) {
        slots[2][i] = scatter((uint32_t)(i % 1000));
        slots[3][i] = scatter((uint32_t)(i % 1000) + 500000);
    }
    two_threads("two threads, 1,000 slots of its own each", s, (uint32_t *const[]){slots[2], slots[3]});
    one_thread("Zipf, days pass", s, slots[1], (struct job){.weight = 1.0, .step = 60 * 1000000}, &clock);
    struct signal_stats stats;
    signal_statistics(s, SLOTS, &stats);
    printf("  cells %lu, quiet %lu, rings %lu, %.1f MB, counted by the allocator %.1f MB\n", stats.cells, stats.quiet, stats.rings,
           (double)stats.bytes / 1e6, (double)(mem_used() - before) / 1e6);
    double t = seconds();
    uint64_t changed = signal_maintain(s, SLOTS, clock);
    printf("  upkeep of 1M slots: %.1f ms, %lu cells changed\n", (seconds() - t) * 1e3, changed);
    read_blocks("read decay, whole blocks", s, READ_DECAY, SIGNAL_ALL, clock);
    read_blocks("read count(24h)", s, READ_COUNT, 1, clock);
    read_blocks("read count(all)", s, READ_COUNT, SIGNAL_ALL, clock);
    read_blocks("read sum(7d)", s, READ_SUM, 2, clock);
    read_blocks("read last", s, READ_LAST, SIGNAL_ALL, clock);
    t = seconds();
    changed = signal_maintain(s, SLOTS, clock + 30LL * 86400 * 1000000);
    reclaim_barrier();
    signal_statistics(s, SLOTS, &stats);
    printf("  upkeep 30 days later: %.1f ms, %lu cells changed; then rings %lu, %.1f MB\n", (seconds() - t) * 1e3, changed, stats.rings,
           (double)stats.bytes / 1e6);
    signal_destroy(s);
    s = make(true);
    one_thread("FORGETS, rotating 1,000", s, slots[2], (struct job){.weight = 1.0}, &clock);
    signal_destroy(s);
    for (int i = 0; i < 4; i++)
        free(slots[i]);
    return 0;
}
