/* SPDX-License-Identifier: MIT */
/* Slots of deleted items on their way to be used again.
 *
 *     head -> [ cleared | passed | waiting | fresh ] <- tail          linked through kind->links; see struct slot_queue in catalog.h
 *
 * A slot may carry a new item once no read section can still take it for the old one, and once no signal has a cell of the old item. So each
 * dead slot waits for one grace period, and many share it: while one is running, deaths gather behind it as `fresh`. The end of a grace period
 * is told by a retired object (the kind itself) whose release only sets a flag; the next writer, or the sweep, sees the flag and moves the
 * stretches. Nothing is allocated here: the links grow when a slot is made at the end, where a put may still fail.
 *
 * Invariants (under the kind's lock)
 *   I1  The queue's length is cleared + passed + waiting + fresh; its slots are dead and distinct; all dead slots below n_slots are in it.
 *   I2  `uncleared` is the slot at place `cleared`, or SLOT_NONE.
 *   I3  waiting > 0 only while `running`; `over` is set only by the release that belongs to the grace period that is running.
 *   I4  The kind's shell outlives that release: the catalog frees shells after a barrier.
 * Ordering guarantee
 *   G1  Cells of signals are cleared before the new item's row is published. So in one section: take the row first, then read its signals, and
 *       they are that item's. (The other way round a section that began after the death may read the old cell and then see the new row.)
 * Progress: no function waits but slots_ready_w, which is for replay. */
#include <assert.h>

#include "base/publish.h"
#include "base/reclaim.h"
#include "store/items_internal.h"

static uint32_t *link_of(struct kind *k, uint32_t slot)
{
    return chunks_at(&k->links, slot);
}

static void grace_over(void *p)
{
    struct kind *k = p;
    /* ORDER: release, pairs with the take in slots_advance_w(): nothing is handed over but the fact that the grace period has ended. */
    publish(&k->free_slots.over, true);
}

void slots_advance_w(struct kind *k)
{
    struct slot_queue *q = &k->free_slots;
    /* ORDER: acquire, pairs with the publish in grace_over(): sections that could see the waiting slots' items ended before. */
    if (q->running && take(&q->over)) {
        q->running = false;
        q->passed += q->waiting;
        q->waiting = 0;
    }
    if (q->running || q->fresh == 0)
        return;
    q->waiting = q->fresh;
    q->fresh = 0;
    q->running = true;
    /* ORDER: relaxed: the release that sets it again is retired below, under a lock. */
    store_relaxed(&q->over, false);
    /* RETIRE: not the kind but its waiting slots: unlinked by their deaths; readers that entered before may hold their items. */
    reclaim_retire(k, grace_over);
}

static void clear_one(struct kind *k)
{
    struct slot_queue *q = &k->free_slots;
    uint32_t slot = q->uncleared;
    for (uint32_t i = 0; i < k->n_signals; i++)
        if (!k->signals[i].dropped)
            signal_clear(k->signals[i].signal, slot);
    q->uncleared = *link_of(k, slot);
    q->passed--;
    q->cleared++;
}

void slots_clear_w(struct kind *k, unsigned budget)
{
    while (k->free_slots.passed > 0 && budget-- > 0)
        clear_one(k);
}

uint32_t slots_first_w(struct kind *k)
{
    if (k->free_slots.cleared == 0)
        slots_clear_w(k, 1);
    return k->free_slots.cleared > 0 ? k->free_slots.head : SLOT_NONE;
}

/* The place of a slot in the queue; its length when it is not there. *before gets the slot before it. */
static uint32_t place_of(struct kind *k, uint32_t slot, uint32_t *before)
{
    uint32_t place = 0;
    *before = SLOT_NONE;
    for (uint32_t at = k->free_slots.head; at != SLOT_NONE && at != slot; at = *link_of(k, at)) {
        *before = at;
        place++;
    }
    return place;
}

bool slots_ready_w(struct kind *k, uint32_t slot)
{
    struct slot_queue *q = &k->free_slots;
    uint32_t before, place = place_of(k, slot, &before);
    if (place >= q->cleared + q->passed + q->waiting + q->fresh)
        return false;
    if (place >= q->cleared + q->passed) {
        reclaim_synchronize(); /* serves all that died before it; the one that is running goes on, for none */
        q->passed += q->waiting + q->fresh;
        q->waiting = q->fresh = 0;
    }
    while (place >= q->cleared)
        clear_one(k);
    return true;
}

void slots_take_w(struct kind *k, uint32_t slot)
{
    struct slot_queue *q = &k->free_slots;
    uint32_t before, place = place_of(k, slot, &before), next = *link_of(k, slot);
    (void)place; /* asserted only */
    assert(place < q->cleared);
    if (before == SLOT_NONE)
        q->head = next;
    else
        *link_of(k, before) = next;
    if (q->tail == slot)
        q->tail = before;
    q->cleared--;
}

void slots_bury_w(struct kind *k, uint32_t slot)
{
    struct slot_queue *q = &k->free_slots;
    *link_of(k, slot) = SLOT_NONE;
    if (q->tail == SLOT_NONE)
        q->head = slot;
    else
        *link_of(k, q->tail) = slot;
    q->tail = slot;
    if (q->uncleared == SLOT_NONE)
        q->uncleared = slot;
    q->fresh++;
}
