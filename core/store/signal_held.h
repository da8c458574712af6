/* SPDX-License-Identifier: MIT */
/* A cell whose lock bit this thread holds: what turns, late events and upkeep do to its history. The protocol is described in signal.c.
 * Progress: taking the bit blocks for its holder; no other function here waits, and none allocates. */
#ifndef EAGRE_STORE_SIGNAL_HELD_H
#define EAGRE_STORE_SIGNAL_HELD_H

#include "store/signal_history.h"

struct held {
    struct cell *c;
    uint64_t *word;      /* its history word */
    uint64_t value;      /* what the word becomes when the bit is given back */
    struct history *old; /* unlinked here; the caller retires it after cell_let_go() */
    uint64_t was[2];     /* tally and weight as last seen */
    uint64_t number;     /* of the event, for the dither */
};

/* Takes the lock bit; the cell's chunk must be there. Fills all of *h. */
void cell_hold(const struct signal *s, uint32_t slot, struct held *h);
/* Gives the bit back and publishes the history word. */
void cell_let_go(struct held *h);

/* Puts a history, or none, in the place of the one that is there; once while the bit is held. */
void replace_history(struct held *h, struct history *fresh);

/* Is the cell forgotten at `now`? Signals that forget only: all words of the cell stand still while its bit is held. */
bool forgotten_at(const struct signal *s, const struct held *h, int64_t now);
/* A new life with `total` events (0 or 1) of `unit` and their weight word; the decay and the time begin at 0. Returns the tally. Nobody else may
 * write: signals that forget, and cells that nobody can reach. */
uint64_t start_anew(const struct signal *s, struct held *h, uint64_t unit, uint64_t total, uint64_t weight);

#endif
