/* SPDX-License-Identifier: MIT */
/* An answer as one flat block in the caller's buffer. The layout is the ABI's (eagre_result in eagre.h, whose comments describe it); abi/ asserts
 * that the two agree. Everything is copied, so nothing of the engine escapes the read section. */
#ifndef EAGRE_QUERY_RESULT_H
#define EAGRE_QUERY_RESULT_H

#include "query/run.h"

enum { RESULT_MAGIC = 0x31524745, RESULT_INTEGER_KEYS = 1, RESULT_TOTAL = 2, RESULT_RELAXED = 4 };

struct result_header {
    uint32_t magic, flags;
    uint64_t bytes;
    uint32_t n_rows, n_columns;
    int64_t now;
    uint64_t total;
    uint64_t keys_at, key_bytes_at, scores_at, columns_at;
    uint64_t cursor_at, cursor_length;
    uint64_t explain_at, explain_length;
};

struct result_column {
    uint32_t type, width;
    uint64_t name_at, name_length;
    uint64_t nulls_at, data_at, list_at, bytes_at;
};

/* The caller's buffer. `needed` grows past capacity where it is too small; nothing is written beyond it. */
struct output { uint8_t *data; size_t capacity, needed; };

/* Writes the rows of a page, all columns and the cursor; inside the read section. */
void result_page(struct run *r, const struct page *page, struct output *out);
/* Adds EXPLAIN's report behind it; outside. */
void result_explain(struct output *out, const char *json, size_t length);
/* One item: its key and every field. */
void result_item(const struct kind *k, const struct row *row, int64_t now, struct output *out);
/* No rows and no columns: what a statement without an answer gives. */
void result_empty(int64_t now, struct output *out);

#endif
