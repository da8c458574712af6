/* SPDX-License-Identifier: MIT */
/* Items of a kind: put, patch, delete; slots and their reuse; expiry. Writers of one kind take turns (kind->lock); readers never wait.
 *
 * What a reader may rely on, inside one read section:
 *   G1  A row pointer that was taken (items_find_rcu, items_at_rcu, block_rows) may be read to the end of the section; a row never changes.
 *   G2  Columns and row pointers copied between block_begin and a block_moved that says false are, for each slot, of one put. Rows alone are
 *       always whole; when the block moved, take the values from the copied rows.
 *   G3  A slot has no two items within one section: NULL, an item, or an item that dies.
 *   G4  Take a slot's row first and read its signals after: they are that item's, never those of the one that had the slot before.
 *   G5  n_slots (acquire) covers whole slots. Slots at or above it may be met in postings, of puts that are not done yet: leave them out.
 *   G6  A keyword's set holds every slot whose row has the keyword, and may hold others: the row decides. */
#ifndef EAGRE_STORE_ITEMS_H
#define EAGRE_STORE_ITEMS_H

#include "store/catalog.h"

/* A change that was checked: `fields[i]` gets `values[i]` (already of the field's type: see items_check_value). A field named twice gets the later
 * value. */
struct item_change {
    const struct key *key;
    bool patch; /* keep the fields that are not named; the item must exist */
    unsigned n;
    const uint16_t *fields;
    const struct value *values;
    int64_t now;         /* becomes first_put of a new item */
    uint32_t slot;       /* in: SLOT_ANY, or the slot to use for a new item (replay; may wait for a grace period); out: the item's slot */
    uint32_t generation; /* out */
    bool took_expired;   /* out, also of a put that failed: the key's item had expired and was taken away first */
};
enum { SLOT_ANY = SLOT_NONE };

/* Does the value fit the field? Converts what may be converted in place (integer to REAL, text or integer to TIME); sentences name the field.
 * TYPE: another type, a text that is no time, a vector of another dimension. RANGE: a number or time out of range, NaN, infinity. LIMIT: a text
 * or list too long. ENCODING: not UTF-8. */
status items_check_value(const struct field *f, struct value *v, struct error *e);
status items_check_key(const struct kind *k, const struct value *v, struct key *out, struct error *e);

/* All under kind->lock, taken by the caller (the _w suffix), outside of read sections. On failure nothing has changed; STALE: the kind was dropped.
 * A put on the key of an expired item makes a new item; a patch or delete of one is NOT_FOUND (the delete takes it away all the same). */
status items_put_w(struct kind *k, struct item_change *change, struct error *e);
/* `slot` and `generation` get those the item had. now = INT64_MIN: expired or not. */
status items_delete_w(struct kind *k, const struct key *key, int64_t now, uint32_t *slot, uint32_t *generation, struct error *e);
/* Background work, to be called for every kind a few times a second: deletes what has expired at `now`, at most `budget` items, and makes slots of
 * dead items ready for new ones (a grace period and their signals' cells lie in between). Returns how many items it deleted.
 * `tell` (or NULL) hears of each before it goes: who keeps a record of all changes needs these deaths too. */
typedef void item_dies(void *context, struct kind *k, const struct row *row, uint32_t generation);
unsigned items_sweep_w(struct kind *k, int64_t now, unsigned budget, item_dies *tell, void *context);

/* In a read section. The living, unexpired item of a key: its row, or NULL. */
const struct row *items_find_rcu(const struct kind *k, const struct key *key, int64_t now, uint32_t *generation);
/* The same by slot and generation. */
const struct row *items_at_rcu(const struct kind *k, uint32_t slot, uint32_t generation, int64_t now);
bool items_expired(const struct kind *k, const struct row *row, int64_t now);
uint64_t items_count(const struct kind *k, int64_t now); /* living and not expired; enters a section itself */

/* One block of columns as a consistent whole: slots [block * BLOCK, ...), block * BLOCK < n_slots; the protocol stands in items_put.c.
 *   unsigned start = block_begin(k, block);       -- reads the sequence word
 *   ... copy columns and row pointers ...
 *   if (block_moved(k, block, start)) ... take the values from the rows' records instead ... */
uint32_t block_begin(const struct kind *k, uint32_t block);
bool block_moved(const struct kind *k, uint32_t block, uint32_t start);
/* Copies n row pointers (NULL = dead) from slot on; n > 0, within one block. */
void block_rows(const struct kind *k, uint32_t slot, unsigned n, const struct row **rows);
/* Copy a column's values; types as described at struct field: f64 for REAL (NaN null), i64 for INTEGER/TIME, u32 for KEYWORD. */
void block_ints(const struct field *f, uint32_t slot, unsigned n, int64_t *out);
void block_reals(const struct field *f, uint32_t slot, unsigned n, double *out);
void block_keywords(const struct field *f, uint32_t slot, unsigned n, uint32_t *out);

struct kind_stats {
    uint64_t items, slots, row_bytes, column_bytes, keyword_bytes, key_bytes;
};
void items_statistics(const struct kind *k, struct kind_stats *out);

#endif
