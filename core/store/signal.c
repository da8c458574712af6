/* SPDX-License-Identifier: MIT */
/* Signals: creation and the write path. Reading is in signal_read.c, upkeep in signal_maintain.c, the decayed word in signal_word.h, window
 * history in signal_history.h.
 *
 *     cells (chunks, by slot, 32 bytes each)                    histories (chunks, by slot, 8 bytes each)
 *     +----------------------+--------+-------+------+          +----------------------+
 *     | unit : life : total  | weight | decay | last |          | pointer : life : bit | ---> struct history, or nothing
 *     +----------------------+--------+-------+------+          +----------------------+
 *      `------- the tally --'                                    touched by turns, late events and window readings only
 *
 * Terms
 *   unit     seconds / the greatest common divisor of all buckets: events in one unit share the bucket of every window
 *   tally    the first word: the unit of the newest event, and how many events there were
 *   turn     an event of a later unit than the tally's; *late*: one of an earlier unit
 *   lock bit bit 0 of the history word; a spin lock of this one cell
 *   life     2 bits that move each time a cell of a signal that FORGETS starts anew; else always 0. Tally and history word carry it
 *
 * Writing
 *   An event in the tally's unit is one compare-and-swap of the tally, total + 1; that it succeeds proves that the unit did not move. While all
 *   weights of a cell are 1 their sum is the total; from the first other weight on the cell is WEIGHTED, and tally and weight move together, by
 *   16 bytes at once (or, where there is no such instruction, under the lock bit). Then `last`, if the event is newer, and the decayed word.
 *   An empty cell starts the same way. A turn and a late event take the lock bit.
 *   A turn allocates first if it must, stores the new words of the history in place and then moves the tally; again with a newer total when
 *   events of the old unit came between, so that the words equal the total at the moment it moves.
 *   A late event builds a changed copy of the history, in which it is counted, and publishes it by one store.
 *   Signals that forget do all of it under the bit.
 *
 * Invariants (those of histories are in signal_history.h)
 *   I1  The unit of a tally, its life, and the WEIGHTED bit of a cell with windows move only under the lock bit, but for an empty cell's first event.
 *       In a life units never move back.
 *   I2  An empty cell (total 0) has no history.
 *   I3  Without WEIGHTED the weight word is 0, and all weights that the tally counted were 1.
 *   I4  A cell with WEIGHTED has a history with weights, or none.
 *   I5  After a change that can fail for want of memory nothing else can fail: allocation comes first.
 *   I6  `newest` is raised before signal_add returns: it bounds the time of each event that was counted.
 *
 * Ordering guarantees
 *   G1  Who takes a tally sees the history words stored before it, and its weight or a newer: take tally, weight, history in this order.
 *   G2  A writer goes tally -> history (of a new life) -> last -> decay, a reader that needs several of them the other way round: who sees a
 *       decay or time sees the tally that belongs to it, or a newer; ages are never negative. A tally and a history word of different lives:
 *       view_history().
 *   G3  A late event is in one history and not in the one before: a reader sees it wholly or not at all.
 *
 * Progress: signal_add is lock-free for an event in the tally's unit, unless the signal forgets. Turns, late events and signals that forget block for
 * the lock bit, whose holder waits for nothing but the allocator. Readers are wait-free.
 *
 * Exclusion: signal_add, readings and signal_maintain run beside each other; signal_clear needs that nobody else writes the slot; creation,
 * destruction and validation are alone.
 */
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

/* ---- an event's changes of the cell's words ---- */

struct event {
    double weight;
    int64_t now;
    struct signal_time time;
};

static inline void raise_newest(struct signal *s, int64_t at)
{
    const int64_t granule = 1 << 20; /* about a second: a shared word that is seldom written */
    /* ORDER: relaxed: a bound for checks before a query; queries that must not miss an event begin after signal_add returned. */
    uint64_t bound = (uint64_t)(at | (granule - 1)), seen = load_relaxed(&s->newest);
    while (bound > seen && !cas(&s->newest, &seen, bound))
        continue;
}

/* The cell's newest time and decayed sum after an event: G2. Whatever bounds the decayed word (block maxima) is to be raised here, before the
 * word is published: `becomes` is the value that the compare-and-swap makes visible. */
static inline __attribute__((always_inline)) void stamp_cell(struct signal *s, struct cell *c, const struct event *e, uint64_t number)
{
    const uint64_t stamp = ((uint64_t)e->time.at + 1) << 1;
    /* ORDER: acquire and release, here and below. Pair with decayed() and faded() in signal_read.c: G2. */
    uint64_t last = take(&c->last);
    while (stamp > (last | 1) && !cas(&c->last, &last, stamp | (last & 1)))
        continue;
    test_gap();
    if (s->decays) {
        const struct word_part part = word_contribution(&s->scale, e->weight, (struct word_power){e->time.whole, e->time.power});
        /* ORDER: acquire and release, as above. */
        uint64_t decay = take(&c->decay), becomes;
        do
            becomes = word_add(&s->scale, decay, part, number);
        while (!cas(&c->decay, &decay, becomes));
    }
    raise_newest(s, e->time.at);
}

/* The weight word after one more weight. */
static inline uint64_t add_weight(const struct signal *s, uint64_t tally, uint64_t was, double weight)
{
    if (weight == 1.0 && !(was & WEIGHTED))
        return was;
    return bits_of(sum_of(weight_of(s, tally, was), weight)) | WEIGHTED;
}

/* The common case, without the lock bit: the tally's unit is the event's, or the cell is empty, and neither the WEIGHTED bit nor the top of the
 * total is in the way. Whatever bounds counts is to be raised here, before the tally is published. False: take the long way. */
static bool count_in_unit(struct signal *s, struct cell *c, const struct event *e, uint64_t *number)
{
    const bool plain = e->weight == 1.0;
    uint64_t was[2], becomes[2];
    take_both(c, was);
    for (;;) {
        test_gap();
        const bool empty = is_empty(s, was[0]);
        if (!empty && (tally_unit(s, was[0]) != e->time.unit || tally_total(s, was[0]) == s->total_max))
            return false;
        becomes[0] = empty ? tally_of(s, e->time.unit, 0, 1) : was[0] + 1;
        if (plain && !(was[1] & WEIGHTED)) {
            /* ORDER: release on success. Pairs with the take of the tally in signal_read.c. Who makes the weight WEIGHTED moves the tally too. */
            if (cas(&c->tally, &was[0], becomes[0]))
                break;
        } else {
            if (!SIGNAL_CAS16 || (!(was[1] & WEIGHTED) && !empty && s->n_windows > 0))
                return false;
            becomes[1] = add_weight(s, was[0], was[1], e->weight);
            if (cas_both(c, was, becomes))
                break;
        }
        take_both(c, was);
    }
    *number = becomes[0];
    return true;
}

/* The commonest of it, a weight of 1 in a cell of such weights, tried once. Few instructions: then the cache misses of several calls overlap. */
static inline bool count_plain(const struct signal *s, struct cell *c, const struct event *e, uint64_t *number)
{
    /* ORDER: acquire, and release on success: as in count_in_unit(). */
    uint64_t tally = take(&c->tally), weight = take(&c->weight);
    test_gap();
    *number = tally + 1;
    if (tally_unit(s, tally) != e->time.unit || e->weight != 1.0 || weight & WEIGHTED || is_empty(s, tally) || is_empty(s, tally + 1))
        return false;
    /* ORDER: as above. */
    return cas(&c->tally, &tally, tally + 1);
}

/* ---- under the lock bit ---- */

/* Moves the tally to the event's unit with one event more. False: events of the old unit came between, look again. */
static bool move_tally(const struct signal *s, struct held *h, const struct event *e)
{
    uint64_t total = tally_total(s, h->was[0]);
    total += total < s->total_max;
    const uint64_t becomes[2] = {tally_of(s, e->time.unit, tally_life(s, h->was[0]), total),
                                 add_weight(s, h->was[0], h->was[1], e->weight)};
    h->number = becomes[0];
    if (cas_both(h->c, h->was, becomes))
        return true;
    const uint64_t weight = h->was[1];
    take_both(h->c, h->was);
    if (!SIGNAL_CAS16)
        h->was[1] = weight; /* only holders of the bit change it: what we loaded is what we stored */
    return false;
}

static status count_locked(struct signal *s, struct held *h, const struct event *e);

/* An event in the tally's unit, which can not move while we hold the bit; or the first one of an empty cell. */
static status count_here(struct signal *s, struct held *h, const struct event *e)
{
    struct history *old = history_of(h->value);
    if (old != NULL && e->weight != 1.0 && !(old->head & HISTORY_WEIGHTED)) { /* I4 */
        struct history *fresh = history_copy(s, true, old);
        if (fresh == NULL)
            return STATUS_NO_MEMORY;
        replace_history(h, fresh);
    }
    while (!move_tally(s, h, e))
        if (tally_unit(s, h->was[0]) != e->time.unit) { /* the cell was empty, and another thread began it without the bit */
            /* ORDER: relaxed: without a 16-byte compare-and-swap the weight is ahead of the tally; who reads it began before we end. */
            if (!SIGNAL_CAS16)
                store_relaxed(&h->c->weight, h->was[1]);
            return count_locked(s, h, e);
        }
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
        if (same_group(s, unit, e->time.unit, e->time.unit))
            return true;
        groups_of_quiet(s, NULL, unit, e->time.unit, false, &g);
        *slot = (int)g.n;
        *fresh = history_quiet(s, QUIET_FIRST, weighted, NULL, &g);
        return *fresh != NULL;
    }
    if (!(old->head & HISTORY_RING)) {
        *slot = quiet_room(s, old, e->time.unit);
        if (*slot == QUIET_FULL) {
            groups_of_quiet(s, old, unit, unit, true, &g);
            *slot = (int)g.n;
            *fresh = g.n < QUIET_MAX ? history_quiet(s, quiet_slots(g.n + 1), weighted, old, &g) : history_ring(s, weighted, old, unit, &g);
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
        double weight = sum_of(weight_of(s, h->was[0], h->was[1]), history_late_weight(s, now));
        if (now != NULL && now->head & HISTORY_RING)
            ring_turn(s, now, unit, e->time.unit, before, weight);
        else if (now != NULL)
            quiet_turn(s, now, slot, e->time.unit, before, weight);
        test_gap();
    } while (!move_tally(s, h, e));
    return STATUS_OK;
}

/* Makes the groups ready for a late event of that unit, which will be counted before every group that begins after it: a group of its own,
 * unless no window shows it, or it belongs to one that is there, which then begins with it. */
static void insert_group(const struct signal *s, struct groups *g, uint64_t unit, uint64_t now)
{
    if (all_windows_passed(s, unit, now))
        return;
    unsigned at = g->n;
    for (unsigned i = g->n; i-- > 0;) {
        if (same_group(s, g->at[i].unit, unit, now)) {
            g->at[i].unit = unit < g->at[i].unit ? unit : g->at[i].unit;
            return;
        }
        if (g->at[i].unit > unit)
            at = i;
    }
    if (at == g->n) /* upkeep has merged what lay around it with the newest group */
        return;
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
        insert_group(s, &g, e->time.unit, tally);
        fresh = g.n <= QUIET_MAX ? history_quiet(s, quiet_slots(g.n), weighted, old, &g) : history_ring(s, weighted, old, tally, &g);
    }
    if (fresh != NULL)
        history_add_late(s, fresh, e->time.unit, tally, e->weight);
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
    test_gap();
    h->number = h->was[0] + (history_late(fresh) << 40);
    /* ORDER: release. Pairs with the take of `last` in signal_read.c: who sees the bit sees the history above. */
    __atomic_fetch_or(&h->c->last, 1, __ATOMIC_RELEASE);
    return STATUS_OK;
}

static status count_locked(struct signal *s, struct held *h, const struct event *e)
{
    if (s->forgets && forgotten_at(s, h, e->now)) {
        h->number = start_anew(s, h, e->time.unit, 1, add_weight(s, 0, 0, e->weight));
        return STATUS_OK;
    }
    const uint64_t unit = tally_unit(s, h->was[0]);
    if (is_empty(s, h->was[0]) || unit == e->time.unit)
        return count_here(s, h, e);
    return e->time.unit > unit ? turn(s, h, e) : count_late(s, h, e);
}

static __attribute__((noinline)) status add_slowly(struct signal *s, uint32_t slot, const struct event *e)
{
    struct held h;
    cell_hold(s, slot, &h);
    status code = count_locked(s, &h, e);
    if (code == STATUS_OK && s->forgets) /* so that a cell is forgotten or kept with all of its events */
        stamp_cell(s, h.c, e, h.number);
    cell_let_go(&h);
    if (code == STATUS_OK && !s->forgets)
        stamp_cell(s, h.c, e, h.number);
    if (h.old != NULL)
        /* RETIRE: unlinked by replace_history() or start_anew(); readers that took the word before may hold it. */
        reclaim_retire(h.old, history_free);
    return code;
}

static inline __attribute__((always_inline)) status add(struct signal *s, uint32_t slot, const struct event *e)
{
    struct cell *c = cell_at(s, slot);
    if (__builtin_expect(c == NULL, 0)) {
        if (!signal_prepare(s, slot))
            return STATUS_NO_MEMORY;
        c = cell_at(s, slot);
    }
    uint64_t number;
    if (s->forgets || (!count_plain(s, c, e, &number) && !count_in_unit(s, c, e, &number)))
        return add_slowly(s, slot, e);
    stamp_cell(s, c, e, number);
    return STATUS_OK;
}

static inline __attribute__((always_inline)) struct signal_time time_of(const struct signal *s, int64_t at)
{
    const int64_t when = clamp_time(at);
    struct signal_time t = {.at = at, .unit = unit_of(s, when)};
    if (s->decays) {
        const struct word_power p = word_power(&s->scale, when);
        t.whole = p.whole;
        t.power = p.power;
    }
    return t;
}

struct signal_time signal_time(const struct signal *s, int64_t at)
{
    return time_of(s, at);
}

status signal_add_at(struct signal *s, uint32_t slot, double weight, const struct signal_time *t, int64_t now)
{
    const struct event e = {weight, now, *t};
    return add(s, slot, &e);
}

status signal_add(struct signal *s, uint32_t slot, double weight, int64_t at, int64_t now)
{
    const struct event e = {weight, now, time_of(s, at)};
    return add(s, slot, &e);
}

void signal_prefetch(const struct signal *s, uint32_t slot)
{
    const struct cell *c = cell_at(s, slot);
    if (c != NULL)
        __builtin_prefetch(c, 1);
}
