/* SPDX-License-Identifier: MIT */
/* Cells under their lock bit. See signal_held.h. */
#include "store/signal_held.h"

#include <sched.h>

#ifdef EAGRE_TESTING
void (*signal_test_gap)(void);
#endif

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

void cell_hold(const struct signal *s, uint32_t slot, struct held *h)
{
    *h = (struct held){.c = cell_at(s, slot), .word = history_word(s, slot)};
    for (unsigned spins = 1;; spins++) {
        /* ORDER: acquire on success. Pairs with cell_let_go(): we see all that the holder before us stored. The load is a mere guess. */
        h->value = load_relaxed(h->word) & ~LOCKED;
        if (cas(h->word, &h->value, h->value | LOCKED))
            break;
        if (spins % 64 == 0)
            sched_yield(); /* the holder may have lost its core */
        else
            pause_briefly();
    }
    take_both(h->c, h->was);
}

void cell_let_go(struct held *h)
{
    /* ORDER: release. Pairs with cell_hold(), and with the take of the word in signal_read.c: what the pointer leads to is filled. */
    publish(h->word, h->value);
}

void replace_history(struct held *h, struct history *fresh)
{
    h->old = history_of(h->value);
    h->value = (uint64_t)(uintptr_t)fresh | (h->value & ~POINTER_MASK);
    /* ORDER: release. Pairs with the take of the word in signal_read.c: the fresh history is filled. */
    publish(h->word, h->value | LOCKED);
}

bool forgotten_at(const struct signal *s, const struct held *h, int64_t now)
{
    /* ORDER: relaxed: stored under the lock bit, which we hold. */
    uint64_t last = load_relaxed(&h->c->last) >> 1, decay = load_relaxed(&h->c->decay);
    if (is_empty(s, h->was[0]) || last == 0)
        return false;
    const int64_t newest = (int64_t)last - 1;
    now = clamp_time(newest > now ? newest : now);
    struct word_time t = word_time(&s->scale, now);
    return all_windows_passed(s, tally_unit(s, h->was[0]), unit_of(s, now)) && word_value(&s->scale, decay, t.whole, word_fade(t)) == 0.0;
}

uint64_t start_anew(const struct signal *s, struct held *h, uint64_t unit, uint64_t total, uint64_t weight)
{
    const uint64_t lives = (uint64_t)1 << s->life_bits, life = (tally_life(s, h->was[0]) + 1) & (lives - 1);
    const uint64_t becomes[2] = {tally_of(s, unit, life, total), weight};
    /* G2 of signal.c. It succeeds: nobody else writes. */
    cas_both(h->c, h->was, becomes);
    test_gap();
    h->old = history_of(h->value);
    h->value = life << LIFE_SHIFT;
    /* ORDER: release, three times: G2. Pair with the takes in view_history() and faded() of signal_read.c. */
    publish(h->word, h->value | LOCKED);
    test_gap();
    publish(&h->c->decay, 0);
    publish(&h->c->last, 0);
    return becomes[0];
}
