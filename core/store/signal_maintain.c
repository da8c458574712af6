/* SPDX-License-Identifier: MIT */
/* Signals: upkeep in the background, the end of cells and of signals, figures and checks. The protocol is described in signal.c.
 *
 * Upkeep takes a cell's lock bit as a turn does, and changes a history by replacement as a late event does; so writers and readers go on beside it.
 * What it lets go lies outside every window at the moment it is given. Should the clock step back behind that moment, windows show too little for
 * what was let go, until they have passed it. */
#include <string.h>

#include "base/alloc.h"
#include "base/reclaim.h"
#include "store/signal_held.h"

void signal_destroy(struct signal *s)
{
    if (s == NULL)
        return;
    const struct directory *d = s->histories.directory;
    for (uint32_t k = 0; d != NULL && k < d->length; k++) {
        const uint64_t *words = (const uint64_t *)(const void *)d->chunk[k];
        for (unsigned i = 0; words != NULL && i < CHUNK_SLOTS; i++)
            history_free(history_of(words[i]));
    }
    chunks_destroy(&s->histories);
    chunks_destroy(&s->cells);
    mem_free(s);
}

void signal_clear(struct signal *s, uint32_t slot)
{
    if (cell_at(s, slot) == NULL)
        return;
    const bool reserved = reclaim_reserve(1);
    struct held h;
    cell_hold(s, slot, &h);
    start_anew(s, &h, 0, 0, 0);
    cell_let_go(&h);
    if (h.old == NULL)
        return;
    /* RETIRE: unlinked by start_anew(); readers of whole blocks may hold it though the item is gone. */
    if (reserved) {
        reclaim_retire(h.old, history_free);
    } else {
        reclaim_synchronize();
        history_free(h.old);
    }
}

/* ---- upkeep ---- */

/* The history as it need be at `now`: *fresh, which may be none. False: leave it as it is. */
static bool smaller_history(const struct signal *s, const struct held *h, uint64_t now, struct history **fresh)
{
    const struct history *old = history_of(h->value);
    const uint64_t unit = tally_unit(s, h->was[0]);
    now = now > unit ? now : unit;
    const bool ring = old->head & HISTORY_RING, passed = all_windows_passed(s, unit, now);
    const unsigned slots = ring ? UINT32_MAX : history_slots(s, old);
    struct groups g;
    if (ring) {
        if (!groups_of_ring(s, old, unit, now, &g))
            return false;
    } else {
        if (passed ? slots == 1 : slots < 4 * QUIET_FIRST)
            return false;
        groups_of_quiet(s, old, unit, now, true, &g);
    }
    const unsigned wanted = passed ? 1 : quiet_slots(g.n);
    if (!passed && wanted > slots / 4) /* it would soon grow again */
        return false;
    const bool nothing = passed && g.at[0].before == 0 && history_late(old) == 0;
    *fresh = nothing ? NULL : history_quiet(s, wanted, old->head & HISTORY_WEIGHTED, old, &g);
    return nothing || *fresh != NULL;
}

/* May the cell be forgotten at `now`? A guess without the lock bit. */
static bool looks_forgotten(const struct signal *s, const struct cell *c, int64_t now)
{
    /* ORDER: acquire, twice: a guess, verified by forgotten_at(). */
    if (!s->forgets || take(&c->last) == 0)
        return false;
    struct word_time t = word_time(&s->scale, clamp_time(now));
    return word_value(&s->scale, take(&c->decay), t.whole, word_fade(t)) == 0.0;
}

static bool maintain_cell(struct signal *s, uint32_t slot, int64_t now, uint64_t unit)
{
    struct held h;
    struct history *fresh;
    bool changed = false;
    cell_hold(s, slot, &h);
    if (s->forgets && forgotten_at(s, &h, now)) {
        start_anew(s, &h, 0, 0, 0);
        changed = true;
    } else if (history_of(h.value) != NULL && smaller_history(s, &h, unit, &fresh)) {
        replace_history(&h, fresh);
        changed = true;
    }
    cell_let_go(&h);
    if (h.old != NULL)
        /* RETIRE: unlinked above; readers that took the word before may hold it. */
        reclaim_retire(h.old, history_free);
    return changed;
}

uint64_t signal_maintain(struct signal *s, uint32_t n_slots, int64_t now)
{
    const uint64_t unit = unit_of(s, clamp_time(now));
    uint64_t changed = 0;
    for (uint32_t slot = 0; slot < n_slots; slot++) {
        const struct cell *c = cell_at(s, slot);
        if (c == NULL) {
            slot |= CHUNK_SLOTS - 1;
            continue;
        }
        /* ORDER: relaxed: a guess whether there is anything to do; the cell is looked at again under its bit. */
        if (history_of(load_relaxed(history_word(s, slot))) == NULL && !looks_forgotten(s, c, now))
            continue;
        if (!reclaim_reserve(1))
            break;
        changed += maintain_cell(s, slot, now, unit);
    }
    return changed;
}

/* ---- figures ---- */

void signal_statistics(const struct signal *s, uint32_t n_slots, struct signal_stats *out)
{
    *out = (struct signal_stats){.bytes = sizeof *s + chunks_bytes(&s->cells) + chunks_bytes(&s->histories)};
    for (uint32_t slot = 0; slot < n_slots; slot++) {
        const struct cell *c = cell_at(s, slot);
        /* ORDER: acquire, twice. As in signal_read.c. */
        if (c == NULL || is_empty(s, take(&c->tally)))
            continue;
        reclaim_enter(); /* RCU: protects h */
        const struct history *h = history_of(take(history_word(s, slot)));
        const bool ring = h != NULL && h->head & HISTORY_RING;
        out->bytes += h == NULL ? 0 : history_bytes(s, h);
        reclaim_leave();
        out->cells++;
        out->rings += ring;
        out->quiet += !ring;
    }
}

/* ---- checks: nobody writes beside them, so the loads need no order ---- */

static const char *check_groups(const struct signal *s, const struct history *h, uint64_t unit, uint64_t all)
{
    struct groups g;
    groups_of_quiet(s, h, unit, unit, true, &g);
    if (g.n == 0 || history_slots(s, h) > QUIET_MAX)
        return "a quiet history has no group";
    for (unsigned i = 0; i < g.n; i++) {
        if (i > 0 && g.at[i].before < g.at[i - 1].before)
            return "a later group has fewer events before it";
        if (i > 0 && g.at[i].weight_before < g.at[i - 1].weight_before)
            return "a later group has less weight before it";
    }
    if (g.at[g.n - 1].before > all || g.at[g.n - 1].unit > unit)
        return "the newest group is beyond the tally";
    return NULL;
}

static const char *check_ring(const struct signal *s, const struct history *h, uint64_t unit, uint64_t all)
{
    for (unsigned i = 0; i < s->n_windows; i++) {
        const struct window *w = &s->windows[i];
        const uint64_t last = bucket_of(w, unit);
        uint64_t before = 0;
        for (uint64_t e = last > w->buckets ? last - w->buckets : 0; e <= last; e++) {
            uint64_t word = h->words[w->ring_at + e % (w->buckets + 2)];
            if (word >> EPOCH_SHIFT != (e & 0xffffff))
                return "a ring lacks a bucket";
            if ((word & RING_BEFORE) < before || (word & RING_BEFORE) > all)
                return "a ring's totals do not ascend to the cell's";
            before = word & RING_BEFORE;
        }
    }
    return NULL;
}

static const char *check_cell(const struct signal *s, const struct cell *c, uint64_t word)
{
    const struct history *h = history_of(word);
    const uint64_t total = tally_total(s, c->tally), unit = tally_unit(s, c->tally);
    if (word & LOCKED)
        return "a lock bit is set";
    if ((word & ~POINTER_MASK) >> LIFE_SHIFT != tally_life(s, c->tally))
        return "tally and history are of different lives";
    if (total == 0)
        return h != NULL || c->weight != 0 || c->decay != 0 || c->last != 0 ? "an empty cell holds something" : NULL;
    const double weight = weight_of(s, c->tally, c->weight);
    if (!(weight > 0.0 && weight <= DBL_MAX) || (!(c->weight & WEIGHTED) && c->weight != 0))
        return "the weights' sum is not a positive number";
    if (c->last >> 1 == 0 || (c->decay != 0) != s->decays)
        return "a cell with events lacks its decay or time";
    if (unit_of(s, clamp_time((int64_t)(c->last >> 1) - 1)) != unit)
        return "the newest time is not in the tally's unit";
    if ((c->last & 1) != (history_late(h) != 0))
        return "the mark of late events is wrong";
    if (h == NULL)
        return NULL;
    if (c->weight & WEIGHTED && !(h->head & HISTORY_WEIGHTED))
        return "a weighted cell has a history without weights";
    const uint64_t all = total + history_late(h);
    return h->head & HISTORY_RING ? check_ring(s, h, unit, all) : check_groups(s, h, unit, all);
}

bool signal_validate(const struct signal *s, uint32_t n_slots, struct error *e)
{
    for (uint32_t slot = 0; slot < n_slots; slot++) {
        const struct cell *c = cell_at(s, slot);
        const char *fault = c == NULL ? NULL : check_cell(s, c, *history_word(s, slot));
        if (fault == NULL && c != NULL && (int64_t)(c->last >> 1) - 1 > signal_newest_bound(s))
            fault = "the bound of the newest time is too low";
        if (fault != NULL) {
            fail(e, STATUS_INTERNAL, -1, "signal '%s', slot %u: %s", s->def.name, slot, fault);
            return false;
        }
    }
    return true;
}
