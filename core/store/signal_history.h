/* SPDX-License-Identifier: MIT */
/* Window history of one cell: how many events, and how much weight, came before each bucket that a window may begin with.
 *
 *      head              words[0 .. n)           words[n .. 2n)      words[2n]
 *     +-----------------+-----------------------+-------------------+---------------+
 *     | form, n, late   | unit : C  (quiet)     | W as f64          | late weight   |     the last two only if weighted
 *     |                 | epoch : C (ring)      |                   |               |
 *     +-----------------+-----------------------+-------------------+---------------+
 *
 * Terms. *unit*, *bucket*: see signal_cell.h. C(e): events of the cell before the begin of bucket e; W(e): their weights. So window w at a moment y
 * holds (all events) - C(y's bucket - n_w). *Group*: events that share a bucket in every window that still shows any of them.
 * *quiet*: n = 4, 8 or 16 words {first unit of a group, events before the group} (1 once all have passed), in any order, FREE where unused.
 * *ring*: for each window n_w + 2 words {low 24 bits of the bucket's number, C}, the word of bucket e at e mod (n_w + 2), for all buckets from
 * the newest event's back.
 * *late*: events that were counted by a changed copy of the history instead of the tally: all events = tally's total + late.
 *
 * Invariants
 *   I1  No history: all events of the cell lie in the buckets of its tally's unit, in every window.
 *   I2  head, and with it late, never changes once published; neither does any word for a unit or epoch up to the tally's, until a turn
 *       overwrites it (I5). Words beyond the tally's belong to a turn under way: readers skip them.
 *   I3  The word for the tally's own unit or epoch equals the total at the moment the tally moved there.
 *   I4  Without `weighted`, W = C for every word, and the late weight equals late.
 *   I5  What a turn overwrites lies, at the moment of the event that turns it, outside every window that would need it.
 *
 * A reader whose tally is older than the words it finds (it slept between two loads) may miss groups that I5 let go. It then answers as of a
 * moment up to that newer event: too little by what has left the window then, never too much. */
#ifndef EAGRE_STORE_SIGNAL_HISTORY_H
#define EAGRE_STORE_SIGNAL_HISTORY_H

#include "store/signal_cell.h"

struct history {
    uint64_t head;
    uint64_t words[];
};

#define HISTORY_RING ((uint64_t)1 << 63)
#define HISTORY_WEIGHTED ((uint64_t)1 << 62)
#define HISTORY_LATE (((uint64_t)1 << 56) - 1)
#define FREE UINT64_MAX /* a quiet word that holds nothing: a unit beyond every tally */

/* 16 words are two cache lines; a ring is ten times as large, and a turn of it touches a line for each window. */
enum { QUIET_FIRST = 4, QUIET_MAX = 16, EPOCH_SHIFT = 40 };
#define RING_BEFORE (((uint64_t)1 << EPOCH_SHIFT) - 1)

static inline struct history *history_of(uint64_t word)
{
    return (struct history *)(uintptr_t)(word & POINTER_MASK);
}

static inline unsigned history_slots(const struct signal *s, const struct history *h)
{
    return h->head & HISTORY_RING ? s->ring_words : (unsigned)(h->head >> 56 & 63);
}

/* The words of a quiet history with room for n groups. */
static inline unsigned quiet_slots(unsigned n)
{
    unsigned slots = QUIET_FIRST;
    while (slots < n)
        slots *= 2;
    return slots;
}

static inline uint64_t history_late(const struct history *h)
{
    return h == NULL ? 0 : h->head & HISTORY_LATE;
}

static inline double history_late_weight(const struct signal *s, const struct history *h)
{
    if (h == NULL || !(h->head & HISTORY_WEIGHTED))
        return (double)history_late(h);
    return of_bits(h->words[2 * history_slots(s, h)]);
}

static inline unsigned quiet_shift(const struct signal *s)
{
    return s->total_bits + s->life_bits; /* a unit takes the same bits as in the tally */
}

/* What lies before the first bucket of a window. False: nothing of the cell is inside. `tally` is the unit of the tally the reader loaded before
 * the history; first is the window's first bucket, at most that unit's. *weight is filled only where asked for. */
bool history_before(const struct signal *s, const struct history *h, unsigned window, uint64_t first, uint64_t tally, uint64_t *count,
                    double *weight);

/* A history taken apart, oldest group first. */
struct group {
    uint64_t unit, before;
    double weight_before;
};
struct groups {
    unsigned n;
    struct group at[QUIET_MAX + 2];
};

/* The groups of a quiet history, or of none (I1), as they matter at `now` (a unit): what has left all windows is dropped, what has become one
 * group is merged. With `keep_newest` the newest group stays in any case. */
void groups_of_quiet(const struct signal *s, const struct history *h, uint64_t tally, uint64_t now, bool keep_newest, struct groups *out);
/* The same of a ring; false when there are more than QUIET_MAX. */
bool groups_of_ring(const struct signal *s, const struct history *h, uint64_t tally, uint64_t now, struct groups *out);
bool same_group(const struct signal *s, uint64_t a, uint64_t b, uint64_t now);

/* New histories. `old` says what late and late weight are (NULL: none). NULL: out of memory. */
struct history *history_quiet(const struct signal *s, unsigned slots, bool weighted, const struct history *old, const struct groups *g);
struct history *history_ring(const struct signal *s, bool weighted, const struct history *old, uint64_t tally, const struct groups *g);
struct history *history_copy(const struct signal *s, bool weighted, const struct history *old);

/* Counts a late event in a history that is not published yet: +1 and +weight for every bucket after the event's, and in late. */
void history_add_late(const struct signal *s, struct history *h, uint64_t unit, uint64_t tally, double weight);

/* Makes room for a turn from the tally's unit to `unit`: the quiet word to use; QUIET_NONE when the unit belongs to the newest group;
 * QUIET_FULL when a ring is needed. */
enum { QUIET_NONE = -1, QUIET_FULL = -2 };
int quiet_room(const struct signal *s, const struct history *h, uint64_t unit);
/* Stores the words of a turn in place, in a published history. Repeated with newer totals until the tally has moved. */
void quiet_turn(const struct signal *s, struct history *h, int slot, uint64_t unit, uint64_t before, double weight);
void ring_turn(const struct signal *s, struct history *h, uint64_t tally, uint64_t unit, uint64_t before, double weight);

size_t history_bytes(const struct signal *s, const struct history *h);
void history_free(void *h);

#endif
