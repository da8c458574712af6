/* SPDX-License-Identifier: MIT */
/* One signal of a kind: for each slot a cell with the decayed sum, the totals, the newest time and the window history.
 * Semantics: docs/language.md, section 3. Layout and protocol: signal.c.
 *
 * Limits, each of which holds a value where it is instead of wrapping: times beyond 2224 count as EVENT_TIME_MAX (signal_word.h); an item counts
 * up to 2^62 events without windows; with windows up to 2^31 where a window has buckets of one second (1m), 2^37 with windows of whole hours, never
 * more than 2^40 (FORGETS: a quarter of that). Sums stay finite. A sum over a window is a difference of sums over all time: it errs by about 2^-53
 * of the latter per event. */
#ifndef EAGRE_STORE_SIGNAL_H
#define EAGRE_STORE_SIGNAL_H

#include <stdbool.h>

#include "base/status.h"
#include "store/limits.h"

enum decay_type { DECAY_HALF_LIFE, DECAY_POWER, DECAY_NONE };

struct signal_def {
    char name[MAX_NAME + 1];
    uint8_t decay; /* enum decay_type */
    bool forgets;
    uint8_t n_windows;
    int64_t half_life;             /* microseconds, DECAY_HALF_LIFE */
    double power;                  /* DECAY_POWER */
    uint32_t windows[MAX_WINDOWS]; /* seconds, ascending */
};

struct signal; /* opaque outside signal*.c */

/* What a query reads of a cell. `window` is an index into def.windows, or SIGNAL_ALL. */
enum signal_reading { READ_DECAY, READ_COUNT, READ_SUM, READ_LAST };
enum { SIGNAL_ALL = 255 };

struct signal *signal_create(const struct signal_def *def); /* NULL: out of memory */
void signal_destroy(struct signal *s);                      /* nobody can see it any more; NULL is fine; may run as a release */
const struct signal_def *signal_definition(const struct signal *s);

/* Makes sure the cell of `slot` can be written, so that a batch can be checked whole before it changes anything. Call inside a read section.
 * False: out of memory. */
bool signal_prepare(struct signal *s, uint32_t slot);
/* Counts one event. weight finite and > 0, 0 <= at <= now (the caller clamped it; `now` matters to FORGETS only). Inside a read section that was
 * entered after reclaim_reserve() for one retire per event. Any thread; lock-free but for a bucket's turn, late events, and signals that
 * forget, which take the cell's own bit. NO_MEMORY changes nothing. */
status signal_add(struct signal *s, uint32_t slot, double weight, int64_t at, int64_t now);
/* The same where many events of one signal have one time: what depends on the time alone is worked out once. */
struct signal_time {
    int64_t at;
    uint64_t unit;
    int64_t whole;
    double power;
};
struct signal_time signal_time(const struct signal *s, int64_t at);
status signal_add_at(struct signal *s, uint32_t slot, double weight, const struct signal_time *t, int64_t now);
/* Prefetches the cell's cache line for an add that follows. */
void signal_prefetch(const struct signal *s, uint32_t slot);

/* Readings at moment `now` (per cell never before its newest event). Inside a read section, wait-free. */
/* Of n consecutive slots that do not cross a chunk (4096). READ_DECAY/COUNT/SUM fill f; READ_LAST fills i, INT64_MIN where there never was an event
 * (forgotten ones count as never). */
void signal_read_block(const struct signal *s, enum signal_reading what, unsigned window, int64_t now, uint32_t slot, unsigned n, double *f,
                       int64_t *i);
/* Of any n slots. */
void signal_read_slots(const struct signal *s, enum signal_reading what, unsigned window, int64_t now, const uint32_t *slots, unsigned n, double *f,
                       int64_t *i);

/* An upper bound of the time of the newest event of any item, at most 1.05 s above; 0 without events. */
int64_t signal_newest_bound(const struct signal *s);

/* Empties the cell of a slot whose item is gone; nobody can reach it any more (a grace period has passed). Outside sections. */
void signal_clear(struct signal *s, uint32_t slot);
/* Background work over slots [0, n_slots): histories shrink to what their windows still show, forgotten cells go. Called by one thread at a
 * time, outside read sections (it enters short ones itself). Returns how many cells it changed. */
uint64_t signal_maintain(struct signal *s, uint32_t n_slots, int64_t now);

struct signal_stats {
    uint64_t cells, quiet, rings, bytes;
};
void signal_statistics(const struct signal *s, uint32_t n_slots, struct signal_stats *out);
/* Checks every invariant of every cell; false and a sentence in *e when one is broken. No writers beside it. */
bool signal_validate(const struct signal *s, uint32_t n_slots, struct error *e);

#endif
