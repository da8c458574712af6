/* SPDX-License-Identifier: MIT */
/* Taking away what has expired, a little at a time, and the background part of the reuse of slots.
 *
 * A walk goes over the expiry column from slot 0 to the end, over as many calls as its budget needs. `expiry.seen` gathers the earliest moment
 * it met (and what puts bring meanwhile); at the end of the walk that becomes `expiry.next`, before which no call has anything to do. */
#include <string.h>

#include "base/publish.h"
#include "base/reclaim.h"
#include "store/items_internal.h"

enum { CLEAR_BUDGET = 4096 }; /* slots whose signals one call clears */

/* The walk has come to the end: nothing expires before what it met. */
static void walk_ends(struct kind *k)
{
    /* ORDER: release, pairs with the take in items_count(). */
    publish(&k->expiry.next, k->expiry.seen);
    k->expiry.seen = INT64_MAX;
    k->expiry.at = 0;
}

/* Deletes what has expired from expiry.at on; returns how many. Stops at the budget, or when there is no room to retire a row. */
static unsigned walk(struct kind *k, const struct field *expires, int64_t now, unsigned budget, item_dies *tell, void *context)
{
    unsigned gone = 0;
    for (; k->expiry.at < k->n_slots; k->expiry.at++) {
        int64_t at = *(const int64_t *)chunks_at(&expires->column, k->expiry.at);
        if (at == INT64_MIN)
            continue; /* null or dead */
        struct row *row = *row_cell_of(k, k->expiry.at);
        if (row == NULL)
            continue;
        if (at > now) {
            if (at < k->expiry.seen)
                k->expiry.seen = at;
            continue;
        }
        if (gone == budget || !item_end_reserve(k, row))
            return gone;
        if (tell != NULL)
            tell(context, k, row, *generation_of(k, row->slot));
        item_end_w(k, row);
        gone++;
    }
    walk_ends(k);
    return gone;
}

unsigned items_sweep_w(struct kind *k, int64_t now, unsigned budget, item_dies *tell, void *context)
{
    if (k->dropped)
        return 0;
    if (k->free_slots.head != SLOT_NONE) {
        if (reclaim_reserve(1))
            slots_advance_w(k);
        slots_clear_w(k, CLEAR_BUDGET);
    }
    if (k->expires == NULL || now < k->expiry.next)
        return 0;
    return walk(k, k->expires, now, budget, tell, context);
}
