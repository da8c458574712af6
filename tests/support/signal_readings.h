/* SPDX-License-Identifier: MIT */
/* Readings of one slot, for tests that look at a cell at a time: by turns in the way of a block and in that of scattered slots. */
#ifndef EAGRE_TESTS_SIGNAL_READINGS_H
#define EAGRE_TESTS_SIGNAL_READINGS_H

#include "store/signal.h"

static inline void signal_read_one(const struct signal *s, enum signal_reading what, unsigned window, int64_t now, uint32_t slot, double *f, int64_t *i)
{
    static __thread unsigned turn;
    if (turn++ % 2)
        signal_read_block(s, what, window, now, slot, 1, f, i);
    else
        signal_read_slots(s, what, window, now, &slot, 1, f, i);
}

static inline double signal_reading_of(const struct signal *s, enum signal_reading what, unsigned window, uint32_t slot, int64_t now)
{
    double f;
    signal_read_one(s, what, window, now, slot, &f, NULL);
    return f;
}

static inline double signal_decay(const struct signal *s, uint32_t slot, int64_t now)
{
    return signal_reading_of(s, READ_DECAY, 0, slot, now);
}

static inline uint64_t signal_count(const struct signal *s, uint32_t slot, unsigned window, int64_t now)
{
    return (uint64_t)signal_reading_of(s, READ_COUNT, window, slot, now);
}

static inline double signal_sum(const struct signal *s, uint32_t slot, unsigned window, int64_t now)
{
    return signal_reading_of(s, READ_SUM, window, slot, now);
}

static inline int64_t signal_last(const struct signal *s, uint32_t slot, int64_t now)
{
    int64_t t;
    signal_read_one(s, READ_LAST, 0, now, slot, NULL, &t);
    return t;
}

#endif
