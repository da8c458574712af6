/* SPDX-License-Identifier: MIT */
/* Items of a kind: put, patch, delete; slots and their reuse; expiry. Writers of one kind take turns (kind->lock); readers never wait. */
#ifndef EAGRE_STORE_ITEMS_H
#define EAGRE_STORE_ITEMS_H

#include "store/catalog.h"

/* A change that was checked: `fields[i]` gets `values[i]` (already of the field's type: see items_check_value). */
struct item_change {
    const struct key *key;
    bool patch;                  /* keep the fields that are not named; the item must exist */
    unsigned n;
    const uint16_t *fields;
    const struct value *values;
    int64_t now;                 /* becomes first_put of a new item */
    uint32_t slot;               /* in: SLOT_ANY, or the slot to use for a new item (replay); out: the item's slot */
    uint32_t generation;         /* out */
};
enum { SLOT_ANY = UINT32_MAX };

/* Does the value fit the field? Converts what may be converted in place (integer to REAL, text or integer to TIME); sentences name the field. */
status items_check_value(const struct field *f, struct value *v, struct error *e);
status items_check_key(const struct kind *k, const struct value *v, struct key *out, struct error *e);

/* All under kind->lock, taken by the caller (the _w suffix). On failure nothing has changed. */
status items_put_w(struct kind *k, struct item_change *change, struct error *e);
status items_delete_w(struct kind *k, const struct key *key, uint32_t *slot, uint32_t *generation, struct error *e);
/* Deletes what has expired at `now`, at most `budget` items; returns how many. */
unsigned items_sweep_w(struct kind *k, int64_t now, unsigned budget);

/* In a read section. The living, unexpired item of a key: its row, or NULL. */
const struct row *items_find_rcu(const struct kind *k, const struct key *key, int64_t now, uint32_t *generation);
/* The same by slot and generation. */
const struct row *items_at_rcu(const struct kind *k, uint32_t slot, uint32_t generation, int64_t now);
bool items_expired(const struct kind *k, const struct row *row, int64_t now);
uint64_t items_count(const struct kind *k, int64_t now); /* living and not expired; enters a section itself */

/* One block of columns as a consistent whole: rows of slots [block * BLOCK, ...): see items.c for the sequence protocol.
 *   unsigned start = block_begin(k, block);       -- reads the sequence word
 *   ... copy columns and row pointers ...
 *   if (block_moved(k, block, start)) ... take the values from the rows' records instead ... */
uint32_t block_begin(const struct kind *k, uint32_t block);
bool block_moved(const struct kind *k, uint32_t block, uint32_t start);
/* Copies n row pointers (NULL = dead) from slot on; within one block. */
void block_rows(const struct kind *k, uint32_t slot, unsigned n, const struct row **rows);
/* Copies a column's values; types as described at struct field: f64 for REAL (NaN null), i64 for INTEGER/TIME, u32 for KEYWORD. */
void block_ints(const struct field *f, uint32_t slot, unsigned n, int64_t *out);
void block_reals(const struct field *f, uint32_t slot, unsigned n, double *out);
void block_keywords(const struct field *f, uint32_t slot, unsigned n, uint32_t *out);

struct kind_stats { uint64_t items, slots, row_bytes, column_bytes, keyword_bytes, key_bytes, signal_bytes; };
void items_statistics(const struct kind *k, struct kind_stats *out);

#endif
