/* SPDX-License-Identifier: MIT */
/* Signals: readings. Each is a bounded run of loads: no lock, no retry. The layout and the protocol are described in signal.c (I and G below).
 *
 * RCU: a caller's section protects histories; nothing found here escapes it.
 *
 * What a reading sees. It loads the tally first, then what belongs to it (G1). Events that come between are seen wholly or not at all, so a count
 * lies between the events finished before the reading began and those started before it ended. A reading beside an event of a later bucket may be
 * as of a moment up to that event's (signal_history.h). */
#include "store/signal_history.h"

/* A moment, worked out once for many cells. */
struct moment {
    int64_t now;
    uint64_t unit;
    struct word_time time;
    double fade;
};

static struct moment moment_of(const struct signal *s, int64_t now)
{
    const int64_t clamped = clamp_time(now);
    struct moment m = {.now = now, .unit = unit_of(s, clamped)};
    if (s->decays) {
        m.time = word_time(&s->scale, clamped);
        m.fade = word_fade(m.time);
    }
    return m;
}

/* ---- one cell ---- */

/* ORDER: acquire, in all of this file. The takes of a tally, decay or last pair with the stores of signal.c and start_anew(), those of a history
 * word with cell_let_go() and replace_history(). What each makes visible is said in G1 and G2 of signal.c. */

/* The decayed sum of a word at a moment, which is not before the cell's newest event. `last` was loaded after `decay`, so it is not before any
 * event in it (G2). */
static inline double decayed(const struct signal *s, uint64_t decay, uint64_t last, const struct moment *m)
{
    const int64_t newest = (int64_t)(last >> 1) - 1;
    if (__builtin_expect(newest <= m->now, 1))
        return word_value(&s->scale, decay, m->time.whole, m->fade);
    struct word_time t = word_time(&s->scale, clamp_time(newest));
    return word_value(&s->scale, decay, t.whole, word_fade(t));
}

/* d^-r, d = the age in days, at least 0.01; r log2 d is carried in two parts. */
static double power_decay(double r, int64_t age)
{
    double d = (double)age / 86400e6, rest;
    const double l = log2_parts(d < 0.01 ? 0.01 : d, &rest);
    const double l_head = head_bits(l), r_head = head_bits(r), product = r * l;
    double error = ((r_head * l_head - product) + r_head * (l - l_head) + (r - r_head) * l_head) + (r - r_head) * (l - l_head);
    double v = exp2_parts(-product, -(error + r * rest));
    return v < DBL_MAX ? v : DBL_MAX;
}

/* Is the decay of a cell that forgets 0, so that its longest window decides? Loads decay, then last (G2). */
static bool faded(const struct signal *s, const struct cell *c, const struct moment *m, uint64_t *last)
{
    /* ORDER: acquire: as above. */
    uint64_t decay = take(&c->decay);
    test_gap();
    *last = take(&c->last);
    return decayed(s, decay, *last, m) == 0.0;
}

static bool passed(const struct signal *s, uint64_t unit, uint64_t last, const struct moment *m)
{
    const int64_t newest = (int64_t)(last >> 1) - 1;
    return all_windows_passed(s, unit, newest > m->now ? unit_of(s, clamp_time(newest)) : m->unit);
}

struct view {
    uint64_t tally, weight;
    const struct history *history;
};

/* The history that belongs to the tally already in v. False: the cell began a new life after the tally was taken; as of then it is empty. In a life
 * that has just begun the history word may still be the old one's: all its events are in the tally's unit. */
static inline bool view_history(const struct signal *s, uint32_t slot, struct view *v)
{
    test_gap();
    /* ORDER: acquire: as above. */
    uint64_t word = take(history_word(s, slot));
    v->history = history_of(word);
    if (s->forgets) {
        unsigned ahead = ((unsigned)(word >> LIFE_SHIFT) - (unsigned)tally_life(s, v->tally)) & 3;
        if (ahead == 3)
            v->history = NULL;
        return ahead == 0 || ahead == 3;
    }
    return true;
}

/* Tally and weight. The weight may be newer than the tally, never older. */
static inline bool view_tally(const struct signal *s, const struct cell *c, struct view *v)
{
    /* ORDER: acquire: as above. */
    v->tally = take(&c->tally);
    test_gap();
    v->weight = take(&c->weight);
    v->history = NULL;
    return tally_total(s, v->tally) != 0;
}

/* All that the cell counts, late events included, which are in its history. */
static bool view_all(const struct signal *s, uint32_t slot, const struct cell *c, const struct moment *m, struct view *v)
{
    uint64_t last;
    bool may_be_forgotten = false;
    if (s->forgets)
        may_be_forgotten = faded(s, c, m, &last);
    else
        /* ORDER: acquire: as above; pairs with count_late(). */
        last = take(&c->last);
    if (!view_tally(s, c, v) || (may_be_forgotten && passed(s, tally_unit(s, v->tally), last, m)))
        return false;
    return !(last & 1) || view_history(s, slot, v);
}

static inline uint64_t count_all(const struct signal *s, const struct view *v)
{
    return tally_total(s, v->tally) + history_late(v->history);
}

static inline double sum_all(const struct signal *s, const struct view *v)
{
    double weight = weight_of(s, v->tally, v->weight);
    return v->history == NULL ? weight : sum_of(weight, history_late_weight(s, v->history));
}

/* Does any event of the tally's bucket lie in the window? If so, *first is the window's first bucket. */
static inline bool window_open(const struct signal *s, unsigned window, const struct moment *m, uint64_t tally, uint64_t *first)
{
    const struct window *w = &s->windows[window];
    const uint64_t unit = tally_unit(s, tally);
    const uint64_t now = bucket_of(w, unit > m->unit ? unit : m->unit);
    *first = now > w->buckets ? now - w->buckets : 0;
    return tally_total(s, tally) != 0 && bucket_of(w, unit) >= *first;
}

static inline uint64_t count_from(const struct signal *s, const struct view *v, unsigned window, uint64_t first)
{
    uint64_t before = 0, all = count_all(s, v);
    test_gap();
    if (v->history != NULL && !history_before(s, v->history, window, first, tally_unit(s, v->tally), &before, NULL))
        return 0;
    return before < all ? all - before : 0;
}

static inline double sum_from(const struct signal *s, const struct view *v, unsigned window, uint64_t first)
{
    uint64_t before;
    double weight = 0.0, all = sum_all(s, v);
    test_gap();
    if (v->history != NULL && !history_before(s, v->history, window, first, tally_unit(s, v->tally), &before, &weight))
        return 0.0;
    return weight < all ? all - weight : 0.0;
}

static double read_number(const struct signal *s, enum signal_reading what, unsigned window, const struct moment *m, uint32_t slot,
                          const struct cell *c)
{
    struct view v;
    uint64_t first;
    if (window == SIGNAL_ALL) {
        if (!view_all(s, slot, c, m, &v))
            return 0.0;
        return what == READ_COUNT ? (double)count_all(s, &v) : sum_all(s, &v);
    }
    if (!view_tally(s, c, &v) || !window_open(s, window, m, v.tally, &first) || !view_history(s, slot, &v))
        return 0.0;
    return what == READ_COUNT ? (double)count_from(s, &v, window, first) : sum_from(s, &v, window, first);
}

static inline double read_decay(const struct signal *s, uint32_t slot, const struct cell *c, const struct moment *m)
{
    if (s->decays) {
        /* ORDER: acquire: as above. */
        uint64_t decay = take(&c->decay);
        test_gap();
        return decayed(s, decay, take(&c->last), m);
    }
    if (s->def.decay == DECAY_NONE)
        return read_number(s, READ_SUM, SIGNAL_ALL, m, slot, c);
    /* ORDER: acquire: as above. */
    const int64_t newest = (int64_t)(take(&c->last) >> 1) - 1;
    if (newest < 0)
        return 0.0;
    return power_decay(s->def.power, newest < m->now ? m->now - newest : 0);
}

static int64_t read_last(const struct signal *s, const struct cell *c, const struct moment *m)
{
    uint64_t last;
    bool may_be_forgotten = false;
    if (s->forgets)
        may_be_forgotten = faded(s, c, m, &last);
    else
        /* ORDER: acquire: as above. */
        last = take(&c->last);
    const int64_t newest = (int64_t)(last >> 1) - 1;
    /* By the time, not the tally: in a new life the tally is there before the time. */
    if (newest < 0 || (may_be_forgotten && passed(s, unit_of(s, clamp_time(newest)), last, m)))
        return INT64_MIN;
    return newest;
}

/* ---- many cells ---- */

enum { STRIDE = 64 };

/* A window of up to STRIDE cells: first the tallies, which say whose history is needed, then those histories, whose lines are on their way. */
static void read_window(const struct signal *s, enum signal_reading what, unsigned window, const struct moment *m, uint32_t slot,
                        const struct cell *c, unsigned n, double *f)
{
    struct view views[STRIDE];
    uint64_t first[STRIDE];
    uint8_t open[STRIDE];
    unsigned n_open = 0;
    for (unsigned k = 0; k < n; k++) {
        struct view *v = &views[n_open];
        f[k] = 0.0;
        if (!view_tally(s, &c[k], v) || !window_open(s, window, m, v->tally, &first[n_open]) || !view_history(s, slot + k, v))
            continue;
        if (v->history != NULL)
            __builtin_prefetch(v->history);
        open[n_open++] = (uint8_t)k;
    }
    for (unsigned j = 0; j < n_open; j++)
        f[open[j]] = what == READ_COUNT ? (double)count_from(s, &views[j], window, first[j]) : sum_from(s, &views[j], window, first[j]);
}

static void read_nothing(enum signal_reading what, unsigned n, double *f, int64_t *i)
{
    for (unsigned k = 0; k < n; k++) {
        if (what == READ_LAST)
            i[k] = INT64_MIN;
        else
            f[k] = 0.0;
    }
}

void signal_read_block(const struct signal *s, enum signal_reading what, unsigned window, int64_t now, uint32_t slot, unsigned n, double *f,
                       int64_t *i)
{
    const struct cell *c = cell_at(s, slot);
    const struct moment m = moment_of(s, now);
    if (c == NULL) {
        read_nothing(what, n, f, i);
    } else if (what == READ_DECAY) {
        for (unsigned k = 0; k < n; k++)
            f[k] = read_decay(s, slot + k, &c[k], &m);
    } else if (what == READ_LAST) {
        for (unsigned k = 0; k < n; k++)
            i[k] = read_last(s, &c[k], &m);
    } else if (window == SIGNAL_ALL) {
        for (unsigned k = 0; k < n; k++)
            f[k] = read_number(s, what, window, &m, slot + k, &c[k]);
    } else {
        for (unsigned at = 0; at < n; at += STRIDE)
            read_window(s, what, window, &m, slot + at, c + at, n - at < STRIDE ? n - at : STRIDE, f + at);
    }
}

void signal_read_slots(const struct signal *s, enum signal_reading what, unsigned window, int64_t now, const uint32_t *slots, unsigned n, double *f,
                       int64_t *i)
{
    const struct moment m = moment_of(s, now);
    for (unsigned k = 0; k < n; k++)
        __builtin_prefetch(cell_at(s, slots[k])); /* NULL does no harm */
    for (unsigned k = 0; k < n; k++) {
        const struct cell *c = cell_at(s, slots[k]);
        if (what == READ_LAST)
            i[k] = c == NULL ? INT64_MIN : read_last(s, c, &m);
        else if (c == NULL)
            f[k] = 0.0;
        else
            f[k] = what == READ_DECAY ? read_decay(s, slots[k], c, &m) : read_number(s, what, window, &m, slots[k], c);
    }
}

/* ---- the newest event ---- */

int64_t signal_newest_bound(const struct signal *s)
{
    /* ORDER: relaxed: pairs with stamp_cell(); see there. */
    return (int64_t)load_relaxed(&s->newest);
}
