/* SPDX-License-Identifier: MIT */
/* Window history of one cell: reading it, taking it apart, building it anew, turning it in place. See signal_history.h. */
#include "store/signal_history.h"

#include <string.h>

#include "base/alloc.h"

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ---- reading ---- */

/* ORDER: in all of this file. A turn stores a word, then (release) its weight, then moves the tally (cas_both). A reader takes the tally, then
 * (acquire) a weight, then its word. So a weight that a turn overwrote comes with that turn's word, which is beyond the reader's tally and skipped;
 * and a word at or below the tally was stored before the tally moved. Relaxed is enough where only C is asked for. */

static bool quiet_before(const struct signal *s, const struct history *h, uint64_t first_unit, uint64_t tally, uint64_t *count,
                         double *weight)
{
    const unsigned n = history_slots(s, h), shift = quiet_shift(s);
    const bool weighted = weight != NULL && h->head & HISTORY_WEIGHTED;
    uint64_t best = FREE, best_weight = 0;
    for (unsigned i = 0; i < n; i++) {
        /* ORDER: acquire, then relaxed: see above. */
        uint64_t w = weighted ? take(&h->words[n + i]) : 0;
        test_gap();
        uint64_t word = load_relaxed(&h->words[i]);
        uint64_t unit = word >> shift;
        if (unit >= first_unit && unit <= tally && word < best) {
            best = word;
            best_weight = w;
        }
    }
    *count = best & s->before_max;
    if (weight != NULL)
        *weight = weighted ? of_bits(best_weight) : (double)*count;
    return best != FREE;
}

static bool ring_before(const struct signal *s, const struct history *h, const struct window *w, uint64_t first, uint64_t last,
                        uint64_t *count, double *weight)
{
    const bool weighted = weight != NULL && h->head & HISTORY_WEIGHTED;
    const uint32_t size = w->buckets + 2;
    uint32_t at = (uint32_t)(first % size);
    /* One step, but for a reader whose words a turn has overwritten meanwhile; never more than n + 1. */
    for (uint64_t e = first; e <= last; e++) {
        const uint32_t i = w->ring_at + at;
        /* ORDER: acquire, then relaxed: see above. */
        uint64_t bits = weighted ? take(&h->words[s->ring_words + i]) : 0;
        test_gap();
        uint64_t word = load_relaxed(&h->words[i]);
        if (word >> EPOCH_SHIFT == (e & 0xffffff)) {
            *count = word & RING_BEFORE;
            if (weight != NULL)
                *weight = weighted ? of_bits(bits) : (double)*count;
            return true;
        }
        at = at + 1 == size ? 0 : at + 1;
    }
    return false;
}

bool history_before(const struct signal *s, const struct history *h, unsigned window, uint64_t first, uint64_t tally, uint64_t *count,
                    double *weight)
{
    const struct window *w = &s->windows[window];
    if (h->head & HISTORY_RING)
        return ring_before(s, h, w, first, bucket_of(w, tally), count, weight);
    return quiet_before(s, h, first * w->ratio, tally, count, weight);
}

/* ---- taking apart (under the cell's lock bit) ---- */

bool same_group(const struct signal *s, uint64_t a, uint64_t b, uint64_t now)
{
    const uint64_t newer = most(a, b);
    for (unsigned i = 0; i < s->n_windows; i++) {
        const struct window *w = &s->windows[i];
        if (bucket_of(w, a) != bucket_of(w, b) && !window_passed(w, newer, now))
            return false;
    }
    return true;
}

/* The slots in use of a quiet history, oldest group first. */
static unsigned quiet_sorted(const struct signal *s, const struct history *h, unsigned order[QUIET_MAX])
{
    uint64_t words[QUIET_MAX];
    unsigned n = 0;
    for (unsigned i = 0; i < history_slots(s, h); i++) {
        /* ORDER: relaxed, in this part: only holders of the lock bit store, and we hold it. */
        words[i] = load_relaxed(&h->words[i]);
        if (words[i] == FREE)
            continue;
        unsigned at = n++;
        for (; at > 0 && words[order[at - 1]] > words[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return n;
}

static struct group quiet_group(const struct signal *s, const struct history *h, unsigned slot)
{
    const bool weighted = h->head & HISTORY_WEIGHTED;
    /* ORDER: relaxed: as in quiet_sorted(). */
    uint64_t word = load_relaxed(&h->words[slot]), bits = weighted ? load_relaxed(&h->words[history_slots(s, h) + slot]) : 0;
    uint64_t before = word & s->before_max;
    double weight = weighted ? of_bits(bits) : (double)before;
    return (struct group){word >> quiet_shift(s), before, weight};
}

void groups_of_quiet(const struct signal *s, const struct history *h, uint64_t tally, uint64_t now, bool keep_newest, struct groups *out)
{
    out->n = 0;
    if (h == NULL) {
        out->at[out->n++] = (struct group){tally, 0, 0.0};
        return;
    }
    unsigned order[QUIET_MAX];
    const unsigned n = quiet_sorted(s, h, order);
    for (unsigned i = 0; i < n; i++) {
        struct group g = quiet_group(s, h, order[i]);
        bool newest = i + 1 == n;
        if (all_windows_passed(s, g.unit, now) && !(newest && keep_newest))
            continue;
        if (out->n > 0 && same_group(s, out->at[out->n - 1].unit, g.unit, now))
            continue;
        out->at[out->n++] = g;
    }
}

static uint64_t ring_word(const struct signal *s, const struct history *h, const struct window *w, uint64_t e, double *weight)
{
    const uint32_t i = w->ring_at + (uint32_t)(e % (w->buckets + 2));
    /* ORDER: relaxed: as in quiet_sorted(). */
    uint64_t before = load_relaxed(&h->words[i]) & RING_BEFORE;
    *weight = h->head & HISTORY_WEIGHTED ? of_bits(load_relaxed(&h->words[s->ring_words + i])) : (double)before;
    return before;
}

/* The oldest bucket of a window that a ring holds and that is still inside at `now`. */
static uint64_t ring_first(const struct window *w, uint64_t tally, uint64_t now)
{
    uint64_t last = bucket_of(w, tally), inside = bucket_of(w, now);
    uint64_t held = last > w->buckets ? last - w->buckets : 0;
    return most(held, inside > w->buckets ? inside - w->buckets : 0);
}

/* Adds a group that begins with event number `before`; false when it is one too many. */
static bool note_group(struct groups *g, uint64_t before, double weight)
{
    unsigned at = 0;
    while (at < g->n && g->at[at].before < before)
        at++;
    if (at < g->n && g->at[at].before == before)
        return true;
    if (g->n == QUIET_MAX)
        return false;
    memmove(&g->at[at + 1], &g->at[at], (g->n - at) * sizeof g->at[0]);
    g->at[at] = (struct group){0, before, weight};
    g->n++;
    return true;
}

/* A unit that lies in the same buckets as event number `before`: the latest begin of a bucket that holds it. */
static uint64_t ring_unit(const struct signal *s, const struct history *h, uint64_t tally, uint64_t before)
{
    uint64_t unit = 0;
    double unused;
    for (unsigned i = 0; i < s->n_windows; i++) {
        const struct window *w = &s->windows[i];
        uint64_t last = bucket_of(w, tally), held = last > w->buckets ? last - w->buckets : 0;
        for (uint64_t e = last + 1; e-- > held;)
            if (ring_word(s, h, w, e, &unused) <= before) {
                unit = most(unit, e * w->ratio);
                break;
            }
    }
    return unit;
}

bool groups_of_ring(const struct signal *s, const struct history *h, uint64_t tally, uint64_t now, struct groups *out)
{
    out->n = 0;
    uint64_t newest = 0;
    double newest_weight = 0.0;
    for (unsigned i = 0; i < s->n_windows; i++) {
        const struct window *w = &s->windows[i];
        uint64_t last = bucket_of(w, tally);
        double weight, next_weight;
        uint64_t next = UINT64_MAX; /* the newest bucket is never empty: it holds the newest event */
        for (uint64_t e = last + 1; e-- > ring_first(w, tally, now);) {
            uint64_t before = ring_word(s, h, w, e, &weight);
            if (before < next && !note_group(out, before, weight))
                return false;
            next = before;
        }
        next = ring_word(s, h, w, last, &next_weight);
        if (next >= newest) {
            newest = next;
            newest_weight = next_weight;
        }
    }
    if (out->n == 0)
        note_group(out, newest, newest_weight);
    for (unsigned i = 0; i < out->n; i++)
        out->at[i].unit = ring_unit(s, h, tally, out->at[i].before);
    return true;
}

/* ---- building (not published yet: plain stores) ---- */

static size_t bytes_for(unsigned slots, bool weighted)
{
    return sizeof(struct history) + (weighted ? 2 * slots + 1 : slots) * sizeof(uint64_t);
}

static struct history *history_new(const struct signal *s, uint64_t form, unsigned slots, bool weighted, const struct history *old)
{
    struct history *h = mem_alloc(bytes_for(slots, weighted));
    if (h == NULL)
        return NULL;
    h->head = form | (weighted ? HISTORY_WEIGHTED : 0) | history_late(old);
    if (weighted)
        h->words[2 * slots] = bits_of(history_late_weight(s, old));
    return h;
}

/* The earliest unit that shares all buckets with this one. */
static uint64_t first_unit_of_group(const struct signal *s, uint64_t unit)
{
    uint64_t first = 0;
    for (unsigned i = 0; i < s->n_windows; i++)
        first = most(first, bucket_of(&s->windows[i], unit) * s->windows[i].ratio);
    return first;
}

/* By its earliest unit, so that a reader whose tally was in the group before the group's newest events finds it. */
static uint64_t quiet_word(const struct signal *s, uint64_t unit, uint64_t before)
{
    return first_unit_of_group(s, unit) << quiet_shift(s) | least(before, s->before_max);
}

struct history *history_quiet(const struct signal *s, unsigned slots, bool weighted, const struct history *old, const struct groups *g)
{
    struct history *h = history_new(s, (uint64_t)slots << 56, slots, weighted, old);
    if (h == NULL)
        return NULL;
    for (unsigned i = 0; i < slots; i++) {
        h->words[i] = i < g->n ? quiet_word(s, g->at[i].unit, g->at[i].before) : FREE;
        if (weighted)
            h->words[slots + i] = bits_of(i < g->n ? g->at[i].weight_before : 0.0);
    }
    return h;
}

static uint64_t ring_word_of(uint64_t e, uint64_t before)
{
    return (e & 0xffffff) << EPOCH_SHIFT | least(before, RING_BEFORE);
}

struct history *history_ring(const struct signal *s, bool weighted, const struct history *old, uint64_t tally, const struct groups *g)
{
    struct history *h = history_new(s, HISTORY_RING, s->ring_words, weighted, old);
    if (h == NULL)
        return NULL;
    for (unsigned i = 0; i < s->n_windows; i++) {
        const struct window *w = &s->windows[i];
        const uint32_t size = w->buckets + 2;
        const uint64_t last = bucket_of(w, tally);
        unsigned k = g->n - 1; /* the first group at or after bucket e */
        for (uint64_t j = 0; j < size; j++) {
            uint64_t e = last - j; /* before 1970 it wraps: such a word is never asked for, but every word must be something */
            while (k > 0 && last >= j && g->at[k - 1].unit >= e * w->ratio)
                k--;
            uint32_t at = w->ring_at + (uint32_t)((last + size - j) % size);
            h->words[at] = ring_word_of(e, g->at[k].before);
            if (weighted)
                h->words[s->ring_words + at] = bits_of(g->at[k].weight_before);
        }
    }
    return h;
}

struct history *history_copy(const struct signal *s, bool weighted, const struct history *old)
{
    const unsigned slots = history_slots(s, old);
    const uint64_t form = old->head & HISTORY_RING ? HISTORY_RING : (uint64_t)slots << 56;
    const bool had = old->head & HISTORY_WEIGHTED;
    struct history *h = history_new(s, form, slots, weighted, old);
    if (h == NULL)
        return NULL;
    copy_words(h->words, old->words, weighted && had ? 2 * slots : slots);
    if (weighted && !had)
        for (unsigned i = 0; i < slots; i++) {
            uint64_t before = h->words[i] & (form & HISTORY_RING ? RING_BEFORE : s->before_max);
            h->words[slots + i] = bits_of((double)before);
        }
    return h;
}

static void add_before(const struct signal *s, struct history *h, unsigned at, uint64_t limit, double weight)
{
    if ((h->words[at] & limit) < limit)
        h->words[at]++;
    if (h->head & HISTORY_WEIGHTED) {
        uint64_t *bits = &h->words[history_slots(s, h) + at];
        *bits = bits_of(sum_of(of_bits(*bits), weight));
    }
}

void history_add_late(const struct signal *s, struct history *h, uint64_t unit, uint64_t tally, double weight)
{
    const unsigned slots = history_slots(s, h);
    if (h->head & HISTORY_RING) {
        for (unsigned i = 0; i < s->n_windows; i++) {
            const struct window *w = &s->windows[i];
            uint64_t last = bucket_of(w, tally), mine = bucket_of(w, unit);
            uint64_t first = most(mine + 1, last > w->buckets + 1 ? last - w->buckets - 1 : 0);
            for (uint64_t e = first; e <= last; e++)
                add_before(s, h, w->ring_at + (uint32_t)(e % (w->buckets + 2)), RING_BEFORE, weight);
        }
    } else {
        for (unsigned i = 0; i < slots; i++) {
            uint64_t at = h->words[i] >> quiet_shift(s);
            if (h->words[i] != FREE && at > unit)
                add_before(s, h, i, s->before_max, weight);
        }
    }
    if ((h->head & HISTORY_LATE) < HISTORY_LATE)
        h->head++;
    if (h->head & HISTORY_WEIGHTED)
        h->words[2 * slots] = bits_of(sum_of(of_bits(h->words[2 * slots]), weight));
}

/* ---- turning in place (published: readers are beside us) ---- */

int quiet_room(const struct signal *s, const struct history *h, uint64_t unit)
{
    unsigned order[QUIET_MAX];
    const unsigned n = quiet_sorted(s, h, order);
    uint64_t units[QUIET_MAX];
    for (unsigned i = 0; i < n; i++)
        units[i] = quiet_group(s, h, order[i]).unit;
    if (n > 0 && same_group(s, units[n - 1], unit, unit))
        return QUIET_NONE;
    for (unsigned i = 0; i < history_slots(s, h); i++)
        /* ORDER: relaxed: as in quiet_sorted(). */
        if (load_relaxed(&h->words[i]) == FREE)
            return (int)i;
    if (all_windows_passed(s, units[0], unit))
        return (int)order[0];
    for (unsigned i = 1; i < n; i++)
        if (same_group(s, units[i - 1], units[i], unit))
            return (int)order[i];
    return QUIET_FULL;
}

void quiet_turn(const struct signal *s, struct history *h, int slot, uint64_t unit, uint64_t before, double weight)
{
    if (slot < 0)
        return;
    const unsigned slots = history_slots(s, h), at = (unsigned)slot;
    /* ORDER: relaxed, then release: the order of quiet_before(), top of this file. */
    store_relaxed(&h->words[at], quiet_word(s, unit, before));
    test_gap();
    if (h->head & HISTORY_WEIGHTED)
        publish(&h->words[slots + at], bits_of(weight));
}

void ring_turn(const struct signal *s, struct history *h, uint64_t tally, uint64_t unit, uint64_t before, double weight)
{
    const bool weighted = h->head & HISTORY_WEIGHTED;
    for (unsigned i = 0; i < s->n_windows; i++) {
        const struct window *w = &s->windows[i];
        const uint32_t size = w->buckets + 2;
        const uint64_t last = bucket_of(w, tally), next = bucket_of(w, unit);
        uint64_t e = most(last + 1, next > w->buckets + 1 ? next - w->buckets - 1 : 0); /* all buckets skipped get a word too */
        uint32_t at = (uint32_t)(e % size);
        for (; e <= next; e++) {
            const uint32_t j = w->ring_at + at;
            /* ORDER: relaxed, then release: the order of ring_before(), top of this file. */
            store_relaxed(&h->words[j], ring_word_of(e, before));
            test_gap();
            if (weighted)
                publish(&h->words[s->ring_words + j], bits_of(weight));
            at = at + 1 == size ? 0 : at + 1;
        }
    }
}

size_t history_bytes(const struct signal *s, const struct history *h)
{
    return bytes_for(history_slots(s, h), h->head & HISTORY_WEIGHTED);
}

void history_free(void *h)
{
    mem_free(h);
}
