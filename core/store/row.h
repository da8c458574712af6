/* SPDX-License-Identifier: MIT */
/* An item's row: one immutable record behind one pointer, and the truth about the item. Columns and keyword sets are ways to find it.
 *
 *   struct row | null bits (one per field) | one 8-byte cell per field | tail: keyword ids, texts, vectors
 *
 * Cells: INTEGER and TIME an i64, REAL an f64, KEYWORD its id. KEYWORDS, TEXT and VECTOR: where in the record the elements lie (low half:
 * bytes from the record's start) and how many they are (high half: ids, bytes, numbers). A null field's cell is 0.
 * A row made before a field was added simply has fewer fields: the missing ones are null.
 *
 * Ordering: a row is filled before its pointer is published and never changes after, so whoever took the pointer may read all of it, until
 * the end of the read section (or while holding the kind's lock). */
#ifndef EAGRE_STORE_ROW_H
#define EAGRE_STORE_ROW_H

#include "base/value.h"
#include "store/keymap.h"

struct row {
    struct key_rec *key;
    int64_t first_put; /* microseconds; kept by later puts of the same living item */
    uint32_t bytes;    /* of the whole record */
    uint32_t slot;
    uint16_t n_fields;
    uint16_t reserved[3];
    uint64_t words[]; /* null bits, cells, tail */
};

static inline unsigned row_null_words(unsigned n_fields)
{
    return (n_fields + 63) / 64;
}

/* Readers; field < any number (beyond n_fields is null). */
bool row_null(const struct row *r, unsigned field);
int64_t row_int(const struct row *r, unsigned field); /* INTEGER, TIME; only when not null */
double row_real(const struct row *r, unsigned field);
uint32_t row_keyword(const struct row *r, unsigned field);                      /* id; 0 when null */
const uint32_t *row_keywords(const struct row *r, unsigned field, unsigned *n); /* ids; n = 0 when null or empty */
const char *row_text(const struct row *r, unsigned field, uint32_t *length);
const float *row_vector(const struct row *r, unsigned field, unsigned *n);

#endif
