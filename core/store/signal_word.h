/* SPDX-License-Identifier: MIT */
/* The decayed word: the sum over events of weight * 2^((t - 1970)/H) in one u64 that does not change as time passes.
 *
 *      63            m m-1           0
 *     +---------------+---------------+      value at 1970 = (1 + fraction / 2^m) * 2^(exponent - bias)
 *     |   exponent    |   fraction    |      value at y    = that * 2^-((y - 1970)/H)
 *     +---------------+---------------+      0 = no events
 *
 * Terms. H: half-life. *contribution*: what one event adds, weight * 2^(t/H). m: bits of the fraction, chosen per half-life so that the exponent
 * reaches from the smallest weight in 1970 to 2^64 of the largest in 2225 (EVENT_TIME_MAX): 36 for 30 s, 50 for 7 d, 52 for 3,650 d.
 *
 * Invariants
 *   I1  As an integer a word compares as its value does, at every moment: exponent first, implicit leading one.
 *   I2  Adding never lowers a word. At the top it stays; it never wraps.
 *   I3  Adding rounds by a dither, so that errors of many additions cancel: the part below the last bit goes up with a probability of its own size.
 *       The dither is mix64(old word + number of the event): the same events in the same order give the same word, and an event too small to
 *       move the word is not rounded away each time. A million events, in any order, err by less than 3e-8 even with m = 36.
 *
 * Pure functions; no atomics. Everything is computed with whole numbers, additions and multiplications in a fixed order, so results have the same
 * bits on every machine. */
#ifndef EAGRE_STORE_SIGNAL_WORD_H
#define EAGRE_STORE_SIGNAL_WORD_H

#include <stdbool.h>

#include "base/exp2.h"
#include "base/hash.h"

#define EVENT_TIME_MAX (8047188000LL * 1000000) /* 255 years of 365.25 days: 2225-01-01. Later counts as then */
#define DECAY_FLOOR 0x1p-64                     /* below it a decayed sum reads 0 */

struct word_scale {
    int64_t half_life;   /* microseconds */
    double per_micro;    /* 1 / half_life */
    uint64_t reciprocal; /* floor(2^64 / half_life) */
    int32_t bias;
    uint32_t bits; /* m */
};

/* A time as a whole number of half-lives since 1970 and a fraction of one, 0 <= fraction <= 1. */
struct word_time {
    int64_t whole;
    double fraction;
};

/* 2^(t/H) of an event's time: power * 2^whole, 1 <= power <= 2. */
struct word_power {
    int64_t whole;
    double power;
};

struct word_part { /* a contribution: mantissa * 2^(exponent - bias - 62), 2^62 <= mantissa < 2^63 */
    uint64_t mantissa;
    int64_t exponent;
};

void word_scale_init(struct word_scale *s, int64_t half_life);

/* 0 <= at <= EVENT_TIME_MAX. */
static inline struct word_time word_time(const struct word_scale *s, int64_t at)
{
    int64_t whole = (int64_t)((unsigned __int128)(uint64_t)at * s->reciprocal >> 64); /* one too low at most */
    int64_t rest = at - whole * s->half_life;
    bool low = rest >= s->half_life;
    whole += low;
    rest -= low ? s->half_life : 0;
    return (struct word_time){whole, (double)rest * s->per_micro};
}

extern const double word_roots[129]; /* 2^(i/128), rounded to nearest */

/* For events: an error of 1 in the last place, where readings (exp2_exact) have 0.7; but a third of the work. 2^r - 1 on [0, 1/128] is a polynomial
 * by Chebyshev interpolation, its error 2^-63. */
static inline struct word_power word_power(const struct word_scale *s, int64_t at)
{
    const struct word_time t = word_time(s, at);
    const int64_t i = (int64_t)(t.fraction * 128.0);
    const double r = t.fraction - (double)i * 0x1p-7, r2 = r * r, root = word_roots[i];
    double a = 0x1.62e42fefa39efp-1 + r * 0x1.ebfbdff82bda8p-3, b = 0x1.c6b08d7830bb5p-5 + r * 0x1.3b2a8abea4570p-7;
    return (struct word_power){t.whole, root + root * (r * (a + r2 * (b + r2 * 0x1.5e52252d122bcp-10)))};
}

/* weight finite and > 0. */
static inline struct word_part word_contribution(const struct word_scale *s, double weight, struct word_power p)
{
    const uint64_t fraction_mask = ((uint64_t)1 << 52) - 1, one = (uint64_t)1023 << 52;
    int64_t exponent = p.whole + s->bias - 2 * 1023;
    if (weight < 0x1p-1000) { /* no subnormal product */
        weight *= 0x1p64;
        exponent -= 64;
    }
    exponent += (int64_t)(bits_of(weight) >> 52);
    const uint64_t m = bits_of(of_bits((bits_of(weight) & fraction_mask) | one) * p.power); /* in [1, 4] */
    exponent += (int64_t)(m >> 52);
    return (struct word_part){((m & fraction_mask) | ((uint64_t)1 << 52)) << 10, exponent};
}

/* The word after one more event. `number` differs from event to event of a cell. */
static inline uint64_t word_add(const struct word_scale *s, uint64_t old, struct word_part part, uint64_t number)
{
    const uint64_t one = (uint64_t)1 << 62;
    const uint32_t spare = 62 - s->bits; /* bits of the sum that do not fit the word */
    uint64_t big = part.mantissa, small = 0;
    int64_t exponent = part.exponent;
    if (old != 0) {
        int64_t old_exponent = (int64_t)(old >> s->bits);
        uint64_t old_mantissa = one | (old << (64 - s->bits) >> 2);
        int64_t apart = old_exponent - exponent;
        bool above = apart >= 0;
        small = above ? big : old_mantissa;
        big = above ? old_mantissa : big;
        exponent = above ? old_exponent : exponent;
        apart = above ? apart : -apart;
        small = apart < 63 ? small >> apart : 0;
    }
    uint64_t sum = big + small, carry = sum >> 63;
    sum >>= carry;
    sum += mix64(old + number) & (((uint64_t)1 << spare) - 1);
    /* A fraction that overflows here moves the exponent up by itself: what is left of it is 0. */
    uint64_t high = (uint64_t)exponent + carry;
    uint64_t word = (high << s->bits) + ((sum - one) >> spare);
    bool top = high >= ((uint64_t)1 << (64 - s->bits)) - 1;
    return top ? UINT64_MAX : word;
}

/* What a word reads at a moment; `fade` is 2^-fraction of it: word_fade(). */
static inline double word_fade(struct word_time now)
{
    return exp2_exact(-now.fraction);
}

static inline double word_value(const struct word_scale *s, uint64_t word, int64_t whole, double fade)
{
    int64_t exponent = (int64_t)(word >> s->bits) - s->bias - whole;
    double m = of_bits((word << (64 - s->bits) >> 12) | ((uint64_t)1023 << 52)) * fade; /* in [1/2, 2) */
    if (word == 0 || exponent < -66)
        return 0.0;
    if (exponent > 1022) {
        if (exponent > 1024)
            return DBL_MAX;
        double v = m * 0x1p1022 * of_bits((uint64_t)(exponent - 1022 + 1023) << 52);
        return v < DBL_MAX ? v : DBL_MAX;
    }
    double v = m * of_bits((uint64_t)(exponent + 1023) << 52);
    return v < DECAY_FLOOR ? 0.0 : v;
}

#endif
