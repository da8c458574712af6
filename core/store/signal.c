/* SPDX-License-Identifier: MIT */
/* Signals: creation and the write path. Reading is in signal_read.c, upkeep in signal_maintain.c, the decayed word in signal_word.h, window
 * history in signal_history.h.
 *
 *     cells (chunks, by slot, 32 bytes each)                    histories (chunks, by slot, 8 bytes each)
 *     +----------------------+--------+-------+------+          +----------------------+
 *     | unit : life : total  | weight | decay | last |          | pointer : life : bit | ---> struct history, or nothing
 *     +----------------------+--------+-------+------+          +----------------------+
 *      `---- one 16-byte CAS ---'      `-- another --'           touched by turns, late events and window readings only
 *
 * Terms
 *   unit     seconds / the greatest common divisor of all buckets: events in one unit share the bucket of every window
 *   tally    the first word: the unit of the newest event, and how many events there were
 *   turn     an event of a later unit than the tally's; *late*: one of an earlier unit
 *   lock bit bit 0 of the history word; a spin lock of this one cell
 *   life     2 bits that move each time a cell that FORGETS starts anew; always 0 without FORGETS. Tally and history word carry it
 *   serial   every write takes the lock bit: signals that forget, and all where there is no 16-byte compare-and-swap
 *
 * Writing. An event in the tally's unit is one CAS of {total + 1, weight + w}; that it succeeds proves that the unit did not move. Then one CAS
 * of {decay, last}. An empty cell starts the same way. A turn and a late event take the lock bit. A turn allocates first if it must, stores the
 * new words of the history in place and then moves the tally, again with a newer total when events of the old unit came between, so that the words
 * equal the total at the moment it moves. A late event builds a changed copy of the history, in which it is counted, and publishes it by one store.
 *
 * Invariants (those of histories are in signal_history.h)
 *   I1  The unit of a tally, its life, and the WEIGHTED bit move only under the lock bit, but for an empty cell's first event. In a life units never
 *       move back.
 *   I2  An empty cell ({0, 0}; total 0 where the signal forgets) has no history.
 *   I3  Without WEIGHTED, all weights that the tally counted were 1: weight = total.
 *   I4  A cell with WEIGHTED has a history with weights, or none.
 *   I5  After a change that can fail for want of memory nothing else can fail: allocation comes first.
 *   I6  `newest` is raised before signal_add returns: it bounds the time of each event that was counted.
 *
 * Ordering guarantees
 *   G1  Who takes a tally sees the history words stored before it: take the tally, then the history.
 *   G2  Within a cell tally -> history (of a new life) -> decay, last. A reader of a signal that forgets loads them the other way round, so a decay
 *       or time of a new life comes with its tally. A tally and a history word of different lives: see view_cell() in signal_read.c.
 *   G3  A late event is in one history and not in the one before: a reader sees it wholly or not at all.
 *
 * Progress: signal_add is lock-free for an event in the tally's unit of a signal that is not serial. Turns, late events and serial signals block for
 * the lock bit, whose holder waits for nothing but the allocator. Readers are wait-free.
 *
 * Exclusion: signal_add, readings and signal_maintain run beside each other; signal_clear needs that nobody else writes the slot; creation,
 * destruction and validation are alone. */
#include "store/signal.h"

#include "base/alloc.h"
#include "base/reclaim.h"
#include "store/signal_held.h"

/* ---- creation ---- */

static uint64_t divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void lay_out_windows(struct signal *s)
{
    uint64_t unit = 0, lengths[MAX_WINDOWS] = {0};
    for (unsigned i = 0; i < s->n_windows; i++) {
        uint32_t seconds = s->def.windows[i];
        s->windows[i].buckets = seconds % 48 == 0 ? 48 : 60;
        lengths[i] = seconds / s->windows[i].buckets;
        unit = divisor(lengths[i], unit);
    }
    for (unsigned i = 0; i < s->n_windows; i++) {
        struct window *w = &s->windows[i];
        w->ratio = (uint32_t)(lengths[i] / unit);
        w->reciprocal = reciprocal63(w->ratio);
        w->ring_at = s->ring_words;
        s->ring_words += w->buckets + 2;
    }
    s->unit = (uint32_t)unit;
}

/* The tally's bits: a unit up to EVENT_TIME_MAX (all ones stays free), lives, and the rest for the total. */
static void lay_out_tally(struct signal *s)
{
    s->life_bits = s->forgets ? 2 : 0;
    uint32_t unit_bits = 0, most = 62;
    if (s->n_windows > 0) {
        s->unit_reciprocal = reciprocal63(s->unit);
        unit_bits = 64 - (uint32_t)__builtin_clzll(unit_of(s, EVENT_TIME_MAX) + 1);
        most = 40;
    }
    uint32_t left = 64 - unit_bits - s->life_bits;
    s->total_bits = (uint8_t)(left < most ? left : most);
    if (s->n_windows == 0)
        s->total_bits = (uint8_t)(most - s->life_bits);
    s->total_max = ((uint64_t)1 << s->total_bits) - 1;
    s->before_max = ((uint64_t)1 << (s->total_bits + s->life_bits)) - 1;
}

struct signal *signal_create(const struct signal_def *def)
{
    struct signal *s = mem_aligned(CACHE_LINE, sizeof *s);
    if (s == NULL)
        return NULL;
    s->def = *def;
    s->decays = def->decay == DECAY_HALF_LIFE;
    s->forgets = def->forgets && s->decays; /* no other decay ever reads 0 */
    s->serial = s->forgets || SIGNAL_SERIAL;
    s->n_windows = def->n_windows;
    if (s->decays)
        word_scale_init(&s->scale, def->half_life);
    lay_out_windows(s);
    lay_out_tally(s);
    chunks_init(&s->cells, sizeof(struct cell));
    chunks_init(&s->histories, sizeof(uint64_t));
    return s;
}

const struct signal_def *signal_definition(const struct signal *s)
{
    return &s->def;
}

bool signal_prepare(struct signal *s, uint32_t slot)
{
    /* Histories first: who finds a cell finds its history word. */
    return cell_at(s, slot) != NULL || (chunks_ensure_shared(&s->histories, slot) && chunks_ensure_shared(&s->cells, slot));
}

/* ---- an event's two changes of the cell's words ---- */

struct event {
    double weight;
    int64_t at, now;
    uint64_t unit;
    struct word_part part; /* of the decayed sum */
};

/* The cell's {decay, last} after an event. Whatever bounds the decayed word (block maxima) is to be raised here, before the word is published:
 * becomes[0] is the value that the cas_pair() below makes visible. */
static inline void stamp_cell(struct signal *s, struct cell *c, const struct event *e, uint64_t number)
{
    const uint64_t stamp = ((uint64_t)e->at + 1) << 1;
    uint64_t was[2], becomes[2];
    do {
        take_pair(&c->decay, was);
        becomes[0] = s->decays ? word_add(&s->scale, was[0], e->part, number) : 0;
        becomes[1] = stamp > (was[1] | 1) ? stamp | (was[1] & 1) : was[1];
        if (becomes[0] == was[0] && becomes[1] == was[1])
            break;
    } while (!cas_pair(s, &c->decay, was, becomes));

    const int64_t granule = 1 << 20; /* about a second: a shared word that is seldom written */
    /* ORDER: relaxed: a bound for checks before a query; queries that must not miss an event begin after signal_add returned. */
    int64_t bound = e->at | (granule - 1), seen = (int64_t)load_relaxed(&s->newest);
    while (bound > seen) {
        uint64_t expected = (uint64_t)seen;
        if (cas(&s->newest, &expected, (uint64_t)bound))
            break;
        seen = (int64_t)expected;
    }
}

/* The weight word with one more weight in it. */
static inline uint64_t add_weight(uint64_t was, double weight, bool weighted)
{
    return bits_of(sum_of(weight_of(was), weight)) | (weighted ? WEIGHTED : 0);
}

/* The common case, without the lock bit: the tally's unit is the event's, or the cell is empty, and neither the WEIGHTED bit nor the top of the
 * total is in the way. Whatever bounds counts is to be raised here, before cas_pair(). False: take the long way. */
static inline bool count_in_unit(struct signal *s, struct cell *c, const struct event *e, uint64_t *number)
{
    const bool marks = e->weight != 1.0 && s->n_windows > 0;
    uint64_t was[2], becomes[2];
    do {
        take_pair(&c->tally, was);
        bool weighted = was[1] & WEIGHTED;
        if (is_empty(s, was[0])) {
            becomes[0] = tally_of(s, e->unit, 0, 1);
            weighted = marks;
        } else {
            if (tally_unit(s, was[0]) != e->unit || (marks && !weighted) || tally_total(s, was[0]) == s->total_max)
                return false;
            becomes[0] = was[0] + 1;
        }
        becomes[1] = add_weight(was[1], e->weight, weighted);
    } while (!cas_pair(s, &c->tally, was, becomes));
    *number = becomes[0];
    return true;
}

/* ---- under the lock bit ---- */

/* Moves the tally to `unit` with one event more. False: events of the old unit came between, look again. */
static bool move_tally(const struct signal *s, struct held *h, uint64_t unit, const struct event *e)
{
    uint64_t total = tally_total(s, h->was[0]);
    total += total < s->total_max;
    const bool weighted = h->was[1] & WEIGHTED || (e->weight != 1.0 && s->n_windows > 0);
    const uint64_t becomes[2] = {tally_of(s, unit, tally_life(s, h->was[0]), total), add_weight(h->was[1], e->weight, weighted)};
    h->number = becomes[0];
    if (cas_pair(s, &h->c->tally, h->was, becomes))
        return true;
    take_pair(&h->c->tally, h->was);
    return false;
}

/* An event in the tally's unit, which can not move while we hold the bit; or the first of an empty cell (a serial signal: nobody else writes). */
static status count_here(struct signal *s, struct held *h, const struct event *e)
{
    struct history *old = history_of(h->value);
    if (old != NULL && e->weight != 1.0 && !(old->head & HISTORY_WEIGHTED)) { /* I4 */
        struct history *fresh = history_copy(s, true, old);
        if (fresh == NULL)
            return STATUS_NO_MEMORY;
        replace_history(h, fresh);
    }
    while (!move_tally(s, h, e->unit, e))
        continue;
    return STATUS_OK;
}

/* What a turn to the event's unit needs before anything is stored: a history with room, with weights where they are wanted. *slot gets the quiet
 * word to use. NULL in *fresh: the history that is there will do. */
static bool make_room(struct signal *s, struct held *h, const struct event *e, bool weighted, struct history **fresh, int *slot)
{
    struct history *old = history_of(h->value);
    const uint64_t unit = tally_unit(s, h->was[0]);
    struct groups g;
    *fresh = NULL;
    *slot = QUIET_NONE;
    if (old == NULL) {
        if (same_group(s, unit, e->unit, e->unit))
            return true;
        groups_of_quiet(s, NULL, unit, e->unit, false, &g);
        *slot = (int)g.n;
        *fresh = history_quiet(s, QUIET_MAX, weighted, NULL, &g);
        return *fresh != NULL;
    }
    if (!(old->head & HISTORY_RING)) {
        *slot = quiet_room(s, old, e->unit);
        if (*slot == QUIET_FULL) {
            groups_of_quiet(s, old, unit, unit, true, &g);
            *slot = (int)g.n;
            *fresh = g.n < QUIET_MAX ? history_quiet(s, QUIET_MAX, weighted, old, &g) : history_ring(s, weighted, old, unit, &g);
            return *fresh != NULL;
        }
    }
    if (weighted && !(old->head & HISTORY_WEIGHTED)) {
        *fresh = history_copy(s, true, old);
        return *fresh != NULL;
    }
    return true;
}

static status turn(struct signal *s, struct held *h, const struct event *e)
{
    const struct history *old = history_of(h->value);
    const bool weighted = h->was[1] & WEIGHTED || e->weight != 1.0 || (old != NULL && old->head & HISTORY_WEIGHTED);
    const uint64_t unit = tally_unit(s, h->was[0]);
    struct history *fresh;
    int slot;
    if (!make_room(s, h, e, weighted, &fresh, &slot))
        return STATUS_NO_MEMORY;
    if (fresh != NULL)
        replace_history(h, fresh);
    struct history *now = history_of(h->value);
    do {
        uint64_t before = tally_total(s, h->was[0]) + history_late(now);
        double weight = sum_of(weight_of(h->was[1]), history_late_weight(s, now));
        if (now != NULL && now->head & HISTORY_RING)
            ring_turn(s, now, unit, e->unit, before, weight);
        else if (now != NULL)
            quiet_turn(s, now, slot, e->unit, before, weight);
    } while (!move_tally(s, h, e->unit, e));
    return STATUS_OK;
}

/* Adds the event's unit as a group of its own, unless it belongs to one that is there or to no window. */
static void insert_group(const struct signal *s, struct groups *g, uint64_t unit, uint64_t now)
{
    if (all_windows_passed(s, unit, now))
        return;
    unsigned at = g->n;
    for (unsigned i = g->n; i-- > 0;) {
        if (same_group(s, g->at[i].unit, unit, now))
            return;
        if (g->at[i].unit > unit)
            at = i;
    }
    for (unsigned i = g->n; i > at; i--)
        g->at[i] = g->at[i - 1];
    g->at[at].unit = unit; /* as many events before it as before the group it pushes up */
    g->n++;
}

static struct history *with_late(const struct signal *s, const struct history *old, uint64_t tally, bool weighted, const struct event *e)
{
    struct history *fresh;
    if (old != NULL && old->head & HISTORY_RING) {
        fresh = history_copy(s, weighted, old);
    } else {
        struct groups g;
        groups_of_quiet(s, old, tally, tally, true, &g);
        insert_group(s, &g, e->unit, tally);
        fresh = g.n <= QUIET_MAX ? history_quiet(s, QUIET_MAX, weighted, old, &g) : history_ring(s, weighted, old, tally, &g);
    }
    if (fresh != NULL)
        history_add_late(s, fresh, e->unit, tally, e->weight);
    return fresh;
}

static status count_late(struct signal *s, struct held *h, const struct event *e)
{
    struct history *old = history_of(h->value);
    const bool weighted = e->weight != 1.0 || h->was[1] & WEIGHTED || (old != NULL && old->head & HISTORY_WEIGHTED);
    struct history *fresh = with_late(s, old, tally_unit(s, h->was[0]), weighted, e);
    if (fresh == NULL)
        return STATUS_NO_MEMORY;
    replace_history(h, fresh); /* G3 */
    h->number = h->was[0] + (history_late(fresh) << 40);
    /* ORDER: release. Pairs with the take of `last` in signal_read.c: who sees the bit sees the history above. */
    __atomic_fetch_or(&h->c->last, 1, __ATOMIC_RELEASE);
    return STATUS_OK;
}

static status count_locked(struct signal *s, struct held *h, const struct event *e)
{
    take_pair(&h->c->tally, h->was);
    if (s->forgets && forgotten_at(s, h, e->now)) {
        h->number = start_anew(s, h, e->unit, 1, add_weight(0, e->weight, e->weight != 1.0 && s->n_windows > 0));
        return STATUS_OK;
    }
    const uint64_t unit = tally_unit(s, h->was[0]);
    if (is_empty(s, h->was[0]) || unit == e->unit)
        return count_here(s, h, e);
    return e->unit > unit ? turn(s, h, e) : count_late(s, h, e);
}

static __attribute__((noinline)) status add_slowly(struct signal *s, uint32_t slot, struct cell *c, const struct event *e)
{
    struct held h;
    cell_hold(s, slot, &h);
    status code = count_locked(s, &h, e);
    if (code == STATUS_OK && s->serial)
        stamp_cell(s, c, e, h.number);
    cell_let_go(&h);
    if (code == STATUS_OK && !s->serial)
        stamp_cell(s, c, e, h.number);
    if (h.old != NULL)
        /* RETIRE: unlinked by replace_history() or start_anew(); readers that took the word before may hold it. */
        reclaim_retire(h.old, history_free);
    return code;
}

status signal_add(struct signal *s, uint32_t slot, double weight, int64_t at, int64_t now)
{
    struct cell *c = cell_at(s, slot);
    if (__builtin_expect(c == NULL, 0)) {
        if (!signal_prepare(s, slot))
            return STATUS_NO_MEMORY;
        c = cell_at(s, slot);
    }
    struct event e = {.weight = weight, .at = at, .now = now};
    const int64_t when = clamp_time(at);
    e.unit = unit_of(s, when);
    if (s->decays)
        e.part = word_contribution(&s->scale, weight, word_time(&s->scale, when));
    uint64_t number;
    if (SIGNAL_SERIAL || s->serial || !count_in_unit(s, c, &e, &number))
        return add_slowly(s, slot, c, &e);
    stamp_cell(s, c, &e, number);
    return STATUS_OK;
}

void signal_prefetch(const struct signal *s, uint32_t slot)
{
    const struct cell *c = cell_at(s, slot);
    if (c != NULL)
        __builtin_prefetch(c, 1);
}
