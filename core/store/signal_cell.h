/* SPDX-License-Identifier: MIT */
/* What the files of a signal share: the cell and the arithmetic of units and buckets. Included by signal*.c only.
 * The protocol is described in signal.c. */
#ifndef EAGRE_STORE_SIGNAL_CELL_H
#define EAGRE_STORE_SIGNAL_CELL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/publish.h"
#include "store/chunks.h"
#include "store/signal.h"
#include "store/signal_word.h"

/* SIGNAL_CAS16=0 builds without the 16-byte compare-and-swap: an event whose weight is kept then takes its cell's lock bit. So it is under
 * ThreadSanitizer, whose 16-byte operations are atomic among each other only, not beside those of 8 bytes. */
#ifndef SIGNAL_CAS16
#    if defined(__GCC_HAVE_SYNC_COMPARE_AND_SWAP_16) && !defined(EAGRE_TSAN)
#        define SIGNAL_CAS16 1
#    else
#        define SIGNAL_CAS16 0
#    endif
#endif

struct cell {
    uint64_t tally;  /* unit : life : total, widths by signal: lay_out_tally() */
    uint64_t weight; /* WEIGHTED and the sum of all weights as f64; 0 while all were 1, whose sum is the total */
    uint64_t decay;  /* decayed word; 0 where the signal has no half-life */
    uint64_t last;   /* 2 * (microseconds of the newest event + 1) + (does the history hold late events?); 0: never */
} __attribute__((aligned(32)));

_Static_assert(sizeof(struct cell) == 32, "two cells in a cache line");

struct window {
    uint64_t reciprocal; /* of ratio, 63 bits after the point */
    uint32_t ratio;      /* units in a bucket */
    uint32_t buckets;    /* n: an event is inside while its bucket is at most n buckets ago */
    uint32_t ring_at;    /* where its n + 2 words begin in a ring */
};

struct signal {
    struct signal_def def;
    struct word_scale scale;
    bool decays;  /* HALF LIFE: the decayed word is kept */
    bool forgets; /* FORGETS, and the decay can reach 0: every write takes its cell's lock bit */
    uint8_t n_windows;
    uint8_t total_bits, life_bits;
    uint32_t unit; /* seconds: the greatest common divisor of all buckets; 0 without windows */
    uint64_t unit_reciprocal;
    uint64_t total_max;  /* (1 << total_bits) - 1 */
    uint64_t before_max; /* the most a quiet history's word can say */
    uint32_t ring_words;
    struct window windows[MAX_WINDOWS];
    struct chunks cells;                                  /* struct cell */
    struct chunks histories;                              /* u64: pointer to struct history : life (2 bits) : lock bit */
    uint64_t newest __attribute__((aligned(CACHE_LINE))); /* bound of the newest event's time; atomic */
};

/* ---- times ---- */

static inline uint64_t divide63(uint64_t x, uint64_t reciprocal)
{
    return (uint64_t)((unsigned __int128)x * reciprocal >> 63);
}

/* Rounded up, so that the quotient of x by d is exact while x * d < 2^63. */
static inline uint64_t reciprocal63(uint64_t d)
{
    return ((uint64_t)1 << 63) / d + 1;
}

/* A moment as the arithmetic wants it: 0 .. EVENT_TIME_MAX. */
static inline int64_t clamp_time(int64_t at)
{
    at = at < 0 ? 0 : at;
    return at > EVENT_TIME_MAX ? EVENT_TIME_MAX : at;
}

/* The unit of a clamped time; 0 without windows. A bucket of any window is a whole number of units, so two events in one unit are in one bucket
 * of every window. */
static inline uint64_t unit_of(const struct signal *s, int64_t at)
{
    return divide63((uint64_t)at / 1000000u, s->unit_reciprocal);
}

static inline uint64_t bucket_of(const struct window *w, uint64_t unit)
{
    return divide63(unit, w->reciprocal);
}

/* Is the unit outside the window at a moment (both as units)? */
static inline bool window_passed(const struct window *w, uint64_t unit, uint64_t now)
{
    return bucket_of(w, unit) + w->buckets < bucket_of(w, now);
}

static inline bool all_windows_passed(const struct signal *s, uint64_t unit, uint64_t now)
{
    for (unsigned i = s->n_windows; i-- > 0;) /* the longest first */
        if (!window_passed(&s->windows[i], unit, now))
            return false;
    return true;
}

/* ---- the tally ---- */

static inline uint64_t tally_unit(const struct signal *s, uint64_t tally)
{
    return tally >> (s->total_bits + s->life_bits);
}

static inline uint64_t tally_life(const struct signal *s, uint64_t tally)
{
    return tally >> s->total_bits & (((uint64_t)1 << s->life_bits) - 1);
}

static inline uint64_t tally_total(const struct signal *s, uint64_t tally)
{
    return tally & s->total_max;
}

static inline uint64_t tally_of(const struct signal *s, uint64_t unit, uint64_t life, uint64_t total)
{
    return (unit << s->life_bits | life) << s->total_bits | total;
}

static inline bool is_empty(const struct signal *s, uint64_t tally)
{
    return tally_total(s, tally) == 0;
}

#define WEIGHTED ((uint64_t)1 << 63) /* the sign bit of a sum that is never negative */

/* The sum of the weights that a tally counted. */
static inline double weight_of(const struct signal *s, uint64_t tally, uint64_t weight)
{
    return weight & WEIGHTED ? of_bits(weight & ~WEIGHTED) : (double)tally_total(s, tally);
}

/* Sums stay finite. */
static inline double sum_of(double a, double b)
{
    double sum = a + b;
    return sum > DBL_MAX ? DBL_MAX : sum;
}

/* ---- cells ---- */

static inline struct cell *cell_at(const struct signal *s, uint32_t slot)
{
    return chunks_at(&s->cells, slot);
}

static inline uint64_t *history_word(const struct signal *s, uint32_t slot)
{
    return chunks_at(&s->histories, slot);
}

/* Replaces tally and weight at once if they are still what they were. Without the 16-byte compare-and-swap the caller has the lock bit, and who else
 * writes the tally does so from a weight without WEIGHTED, by one compare-and-swap: the weight is stored first, and again until the tally follows. A
 * reader loads the tally first, so either way it may find the weight newer than the tally, never older. */
static inline bool cas_both(struct cell *c, const uint64_t was[2], const uint64_t becomes[2])
{
#if SIGNAL_CAS16
    unsigned __int128 old = (unsigned __int128)was[1] << 64 | was[0];
    unsigned __int128 new = (unsigned __int128)becomes[1] << 64 | becomes[0];
    /* ORDER: sequentially consistent, on success and on failure. Pairs with the acquire of the tally in signal_read.c, and with take_both(). */
    return __sync_bool_compare_and_swap((unsigned __int128 *)(void *)&c->tally, old, new);
#else
    uint64_t expected = was[0];
    /* ORDER: relaxed, then release. Pair with the acquire of the tally in signal_read.c: who sees it sees the weight, or a newer. */
    store_relaxed(&c->weight, becomes[1]);
    return cas(&c->tally, &expected, becomes[0]);
#endif
}

/* Two loads; what they got is verified by the compare-and-swap that follows. */
static inline void take_both(const struct cell *c, uint64_t out[2])
{
    /* ORDER: acquire. Pairs with cas_both(): who sees a tally sees the history words stored before it, and its weight or a newer. */
    out[0] = take(&c->tally);
    out[1] = take(&c->weight);
}

/* Where two accesses lie between which others may come: a test holds its threads here for a moment, so that they do. */
#ifdef EAGRE_TESTING
extern void (*signal_test_gap)(void);
#    define test_gap() (signal_test_gap != NULL ? signal_test_gap() : (void)0)
#else
#    define test_gap() ((void)0)
#endif

/* ---- the history word ---- */

#define LOCKED ((uint64_t)1)
#define LIFE_SHIFT 1
#define POINTER_MASK (~(uint64_t)7)

#endif
