/* SPDX-License-Identifier: MIT */
/* What a signal should read: a plain list of events per item, and docs/language.md section 3 word by word. */
#ifndef EAGRE_TESTS_SIGNAL_ORACLE_H
#define EAGRE_TESTS_SIGNAL_ORACLE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "store/signal.h"

#define SECOND 1000000LL
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

struct oracle_event {
    int64_t at;
    double weight;
};
struct oracle {
    unsigned n, capacity;
    struct oracle_event *events;
};

static inline int64_t oracle_moment(const struct oracle *o, int64_t now)
{
    for (unsigned i = 0; i < o->n; i++)
        now = o->events[i].at > now ? o->events[i].at : now;
    return now;
}

static inline bool oracle_inside(const struct signal_def *d, unsigned window, int64_t at, int64_t y)
{
    if (window == SIGNAL_ALL)
        return true;
    const int64_t w = d->windows[window], b = w % 48 == 0 ? w / 48 : w / 60;
    return y / SECOND / b - at / SECOND / b <= w / b;
}

static inline long double oracle_decay(const struct signal_def *d, const struct oracle *o, int64_t now)
{
    const int64_t y = oracle_moment(o, now);
    long double sum = 0;
    int64_t last = -1;
    for (unsigned i = 0; i < o->n; i++) {
        long double age = (long double)(y - o->events[i].at);
        sum += d->decay == DECAY_NONE ? o->events[i].weight : o->events[i].weight * exp2l(-age / (long double)d->half_life);
        last = o->events[i].at > last ? o->events[i].at : last;
    }
    if (d->decay == DECAY_POWER)
        return last < 0 ? 0 : powl(fmaxl((long double)(y - last) / 86400e6L, 0.01L), -(long double)d->power);
    if (sum > 0x1.fffffffffffffp1023L)
        return 0x1.fffffffffffffp1023L;
    return d->decay == DECAY_HALF_LIFE && sum < 0x1p-64L ? 0 : sum;
}

static inline uint64_t oracle_count_kept(const struct signal_def *d, const struct oracle *o, unsigned window, int64_t now)
{
    const int64_t y = oracle_moment(o, now);
    uint64_t n = 0;
    for (unsigned i = 0; i < o->n; i++)
        n += oracle_inside(d, window, o->events[i].at, y);
    return n;
}

static inline bool oracle_forgotten(const struct signal_def *d, const struct oracle *o, int64_t now)
{
    return d->forgets && o->n > 0 && oracle_decay(d, o, now) == 0 &&
           (d->n_windows == 0 || oracle_count_kept(d, o, d->n_windows - 1u, now) == 0);
}

static inline uint64_t oracle_count(const struct signal_def *d, const struct oracle *o, unsigned window, int64_t now)
{
    return oracle_forgotten(d, o, now) ? 0 : oracle_count_kept(d, o, window, now);
}

static inline long double oracle_sum(const struct signal_def *d, const struct oracle *o, unsigned window, int64_t now)
{
    const int64_t y = oracle_moment(o, now);
    long double sum = 0;
    for (unsigned i = 0; i < o->n; i++)
        if (oracle_inside(d, window, o->events[i].at, y))
            sum += o->events[i].weight;
    return oracle_forgotten(d, o, now) ? 0 : sum;
}

static inline int64_t oracle_last(const struct signal_def *d, const struct oracle *o, int64_t now)
{
    return o->n == 0 || oracle_forgotten(d, o, now) ? INT64_MIN : oracle_moment(o, INT64_MIN);
}

static inline void oracle_add(const struct signal_def *d, struct oracle *o, double weight, int64_t at, int64_t now)
{
    if (oracle_forgotten(d, o, now))
        o->n = 0;
    if (o->n == o->capacity) {
        o->capacity = o->capacity == 0 ? 16 : 2 * o->capacity;
        o->events = realloc(o->events, o->capacity * sizeof o->events[0]);
    }
    o->events[o->n++] = (struct oracle_event){at, weight};
}

/* A small generator with a seed, so that a failure can be repeated. */
static inline uint64_t draw(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline uint64_t draw_below(uint64_t *state, uint64_t n)
{
    return draw(state) % n;
}

static inline double draw_unit(uint64_t *state)
{
    return (double)(draw(state) >> 11) * 0x1p-53;
}

#endif
