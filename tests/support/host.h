/* SPDX-License-Identifier: MIT */
/* What a host of the C interface writes again and again: values, answers that grow, cells of a result block. Needs the public header only. Values hold
 * addresses (heap NULL). */
#ifndef EAGRE_TESTS_HOST_H
#define EAGRE_TESTS_HOST_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eagre/eagre.h"

static inline eagre_value h_null(void)
{
    return (eagre_value){.type = EAGRE_NULL};
}
static inline eagre_value h_int(int64_t i)
{
    return (eagre_value){.type = EAGRE_INT, .v.i = i};
}
static inline eagre_value h_uint(uint64_t u)
{
    return (eagre_value){.type = EAGRE_UINT, .v.u = u};
}
static inline eagre_value h_real(double f)
{
    return (eagre_value){.type = EAGRE_REAL, .v.f = f};
}
static inline eagre_value h_time(int64_t i)
{
    return (eagre_value){.type = EAGRE_TIME, .v.i = i};
}
static inline eagre_value h_bytes(const void *bytes, size_t length)
{
    return (eagre_value){.type = EAGRE_TEXT, .length = (uint32_t)length, .v.at = (uintptr_t)bytes};
}
static inline eagre_value h_text(const char *text)
{
    return h_bytes(text, strlen(text));
}
static inline eagre_value h_list(const eagre_value *list, uint32_t n)
{
    return (eagre_value){.type = EAGRE_LIST, .length = n, .v.at = (uintptr_t)list};
}
static inline eagre_value h_vector(const float *numbers, uint32_t n)
{
    return (eagre_value){.type = EAGRE_VECTOR, .length = n, .v.at = (uintptr_t)numbers};
}

/* A buffer that grows as answers need it. */
struct answer {
    char *block;
    size_t capacity;
};

static inline void answer_free(struct answer *a)
{
    free(a->block);
    *a = (struct answer){0};
}

/* Room for `needed` bytes, and a quarter more: the next answer may be a little longer. */
static inline void answer_grow(struct answer *a, size_t needed)
{
    free(a->block);
    a->capacity = needed + needed / 4 + 64;
    a->block = malloc(a->capacity);
    if (a->block == NULL)
        abort();
}

static inline eagre_status answer_run(struct answer *a, eagre_stmt *stmt, const eagre_value *parameters, uint32_t n,
                                      const eagre_run_options *options, eagre_error *error)
{
    for (;;) {
        size_t needed = 0;
        eagre_status s = eagre_run(stmt, parameters, n, NULL, 0, options, a->block, a->capacity, &needed, error);
        if (s != EAGRE_BUFFER_TOO_SMALL)
            return s;
        answer_grow(a, needed);
    }
}

static inline eagre_status answer_get(struct answer *a, eagre_db *db, const char *kind, const eagre_value *key, eagre_error *error)
{
    for (;;) {
        size_t needed = 0;
        eagre_status s = eagre_get(db, kind, key, NULL, 0, a->block, a->capacity, &needed, error);
        if (s != EAGRE_BUFFER_TOO_SMALL)
            return s;
        answer_grow(a, needed);
    }
}

/* One statement, once. */
static inline eagre_status answer_query(struct answer *a, eagre_db *db, const char *text, const eagre_value *parameters, uint32_t n,
                                        eagre_error *error)
{
    eagre_stmt *stmt;
    eagre_status s = eagre_prepare(db, text, strlen(text), &stmt, error);
    if (s != EAGRE_OK)
        return s;
    s = answer_run(a, stmt, parameters, n, NULL, error);
    eagre_finalize(stmt);
    return s;
}

static inline const eagre_result *answer_result(const struct answer *a)
{
    return (const void *)a->block;
}

static inline const void *result_at(const eagre_result *r, uint64_t at)
{
    return (const char *)r + at;
}
static inline const char *result_key(const eagre_result *r, uint32_t row, size_t *length)
{
    const uint64_t *offsets = result_at(r, r->keys_at);
    *length = (size_t)(offsets[row + 1] - offsets[row]);
    return result_at(r, r->key_bytes_at + offsets[row]);
}
static inline uint64_t result_number_key(const eagre_result *r, uint32_t row)
{
    return ((const uint64_t *)result_at(r, r->keys_at))[row];
}
static inline double result_score(const eagre_result *r, uint32_t row)
{
    return ((const double *)result_at(r, r->scores_at))[row];
}
static inline const eagre_result_column *result_column(const eagre_result *r, uint32_t column)
{
    return (const eagre_result_column *)result_at(r, r->columns_at) + column;
}
static inline int64_t result_int(const eagre_result *r, uint32_t column, uint32_t row)
{
    return ((const int64_t *)result_at(r, result_column(r, column)->data_at))[row];
}
static inline double result_real(const eagre_result *r, uint32_t column, uint32_t row)
{
    return ((const double *)result_at(r, result_column(r, column)->data_at))[row];
}
static inline const char *result_text(const eagre_result *r, uint32_t column, uint32_t row, size_t *length)
{
    const eagre_result_column *c = result_column(r, column);
    const uint64_t *offsets = result_at(r, c->data_at);
    *length = (size_t)(offsets[row + 1] - offsets[row]);
    return result_at(r, c->bytes_at + offsets[row]);
}
static inline eagre_value result_cursor(const eagre_result *r)
{
    return r->cursor_length ? h_bytes(result_at(r, r->cursor_at), (size_t)r->cursor_length) : h_null();
}

#endif
