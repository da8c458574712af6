/* SPDX-License-Identifier: MIT */
/* The generated dataset of bench/dataset.py, whose text defines it, in C: fields and events, the same bits. Texts and vectors are left out. */
#ifndef EAGRE_BENCH_DATASET_H
#define EAGRE_BENCH_DATASET_H

#include <stdint.h>
#include <stdlib.h>

enum { DATASET_CATEGORIES = 20, STREAM_CATEGORY = 1, STREAM_CREATED = 2, STREAM_MINUTES = 3, STREAM_RATING = 4,
       STREAM_VIEW = 11, STREAM_VIEW_TIME = 12, STREAM_LIKE = 13, STREAM_LIKE_TIME = 14 };
#define DATASET_SEED 1
#define DATASET_NOW INT64_C(1704067200) /* seconds */
#define DATASET_DAY INT64_C(86400)

static inline uint64_t dataset_mix(uint64_t z)
{
    z ^= z >> 30;
    z *= UINT64_C(0xbf58476d1ce4e5b9);
    z ^= z >> 27;
    z *= UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline uint64_t dataset_draw(uint64_t stream, uint64_t i)
{
    const uint64_t gamma = UINT64_C(0x9e3779b97f4a7c15);
    return dataset_mix(dataset_mix(DATASET_SEED + stream * gamma) + (i + 1) * gamma);
}

static inline uint64_t dataset_below(uint64_t u, uint64_t n)
{
    return (u >> 32) * n >> 32;
}

/* Cumulative Zipf weights of n ranks; free() it. */
static inline uint64_t *dataset_zipf_table(uint64_t n)
{
    uint64_t *table = malloc(n * sizeof *table), sum = 0;
    for (uint64_t r = 0; table && r < n; r++)
        table[r] = sum += (UINT64_C(1) << 27) / (r + 1);
    return table;
}

static inline uint64_t dataset_zipf(uint64_t u, const uint64_t *table, uint64_t n)
{
    uint64_t at = dataset_below(u, table[n - 1]), low = 0, high = n;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (table[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static inline uint64_t dataset_author(uint64_t i, uint64_t n) { return i * 7919 % (n / 100 ? n / 100 : 1); }
static inline uint64_t dataset_category(uint64_t i) { return dataset_below(dataset_draw(STREAM_CATEGORY, i), DATASET_CATEGORIES); }
static inline int64_t dataset_minutes(uint64_t i) { return 1 + (int64_t)dataset_below(dataset_draw(STREAM_MINUTES, i), 180); }
static inline double dataset_rating(uint64_t i) { return (double)(10 + dataset_below(dataset_draw(STREAM_RATING, i), 91)) / 10; }
static inline int64_t dataset_created(uint64_t i)
{
    return (DATASET_NOW - (int64_t)dataset_below(dataset_draw(STREAM_CREATED, i), (uint64_t)(365 * DATASET_DAY))) * 1000000;
}

/* Event e of a stream over the first m ranks: its item and its time in microseconds. */
static inline uint64_t dataset_event_item(uint64_t stream, uint64_t e, uint64_t m, uint64_t n, const uint64_t *table)
{
    uint64_t rank = e < m ? e : dataset_zipf(dataset_draw(stream, e), table, m);
    return rank * UINT64_C(2654435761) % n;
}

static inline int64_t dataset_event_time(uint64_t stream, uint64_t e)
{
    uint64_t a = dataset_draw(stream, e) >> 40;
    return (DATASET_NOW - (int64_t)((a * a >> 16) * (uint64_t)(30 * DATASET_DAY) >> 32)) * 1000000;
}

#endif
