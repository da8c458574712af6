/* SPDX-License-Identifier: MIT */
/* Chooses how a decayed word is split, for a half-life. See signal_word.h. */
#include "store/signal_word.h"

enum {
    LOWEST = 1074,  /* the smallest weight is 2^-1074 */
    HIGHEST = 1024, /* the largest is below 2^1024 */
    GROWTH = 64,    /* no cell has more than 2^64 events */
};

void word_scale_init(struct word_scale *s, int64_t half_life)
{
    uint64_t range = LOWEST + 1 + HIGHEST + GROWTH + 2 + (uint64_t)(EVENT_TIME_MAX / half_life);
    uint32_t exponent_bits = 64 - (uint32_t)__builtin_clzll(range);
    uint32_t bits = 64 - exponent_bits;
    s->half_life = half_life;
    s->per_micro = 1.0 / (double)half_life;
    s->reciprocal = UINT64_MAX / (uint64_t)half_life;
    s->bias = LOWEST + 1; /* so that the smallest contribution has exponent 1 */
    s->bits = bits < 52 ? bits : 52;
}
