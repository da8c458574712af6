/* SPDX-License-Identifier: MIT */
/* What the files of items share among themselves. All under the kind's lock unless a line says otherwise. */
#ifndef EAGRE_STORE_ITEMS_INTERNAL_H
#define EAGRE_STORE_ITEMS_INTERNAL_H

#include "store/items.h"

/* ---- rows: items_row.c ---- */

/* The record of an item after a change, made aside: `old` gives the fields that the change does not name when it is a patch. The caller sets key, slot
 * and first_put. New keywords get their ids. Nothing else changes. */
status row_make_w(struct kind *k, const struct item_change *change, const struct row *old, struct row **out, struct error *e);
void row_release(void *row);

/* The ids of a keyword field in a row (NULL: none); `single` gives room for one. */
const uint32_t *row_ids(const struct field *f, const struct row *row, unsigned *n, uint32_t *single);
unsigned row_count_ids(const struct kind *k, const struct row *row);

/* ---- slots: items_slots.c ---- */

/* A slot where the next new item may live, still in its queue; SLOT_NONE when all are taken and one more is to be made at the end. */
uint32_t slots_first_w(struct kind *k);
/* Is this dead slot ready for an item? For replay, which names its slots: waits for a grace period when the slot died just now. */
bool slots_ready_w(struct kind *k, uint32_t slot);
void slots_take_w(struct kind *k, uint32_t slot); /* out of the queue; it is cleared */
void slots_bury_w(struct kind *k, uint32_t slot); /* to the queue's end */
/* Lets slots go on whose grace period is over and asks for the next one. Needs room for one retire. */
void slots_advance_w(struct kind *k);
/* Clears up to `budget` slots' signals ahead of their use. */
void slots_clear_w(struct kind *k, unsigned budget);

/* ---- cells ---- */

static inline struct row **row_cell_of(const struct kind *k, uint32_t slot)
{
    return chunks_at(&k->rows, slot);
}

static inline uint32_t *generation_of(const struct kind *k, uint32_t slot)
{
    return chunks_at(&k->generations, slot);
}

/* The field that EXPIRES, or NULL. Any thread. */
const struct field *kind_expires(const struct kind *k);
bool row_expired(const struct field *expires, const struct row *row, int64_t now);

/* Room for all that the end of an item retires, and the end itself. `key` is the key's record. */
bool item_end_reserve(const struct kind *k, const struct row *row);
void item_end_w(struct kind *k, struct row *row);

#endif
