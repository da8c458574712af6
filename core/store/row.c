/* SPDX-License-Identifier: MIT */
#include "store/row.h"

#include <string.h>

static uint64_t row_cell(const struct row *r, unsigned field)
{
    return r->words[row_null_words(r->n_fields) + field];
}

bool row_null(const struct row *r, unsigned field)
{
    if (field >= r->n_fields)
        return true;
    return (r->words[field / 64] >> (field % 64)) & 1;
}

int64_t row_int(const struct row *r, unsigned field)
{
    return (int64_t)row_cell(r, field);
}

double row_real(const struct row *r, unsigned field)
{
    double v;
    uint64_t cell = row_cell(r, field);
    memcpy(&v, &cell, sizeof v);
    return v;
}

uint32_t row_keyword(const struct row *r, unsigned field)
{
    return field < r->n_fields ? (uint32_t)row_cell(r, field) : 0;
}

/* Where a field's elements lie in the record, and how many they are. */
static const void *row_elements(const struct row *r, unsigned field, unsigned *n)
{
    uint64_t cell = field < r->n_fields ? row_cell(r, field) : 0;
    *n = (unsigned)(cell >> 32);
    return (const char *)r + (uint32_t)cell;
}

const uint32_t *row_keywords(const struct row *r, unsigned field, unsigned *n)
{
    return row_elements(r, field, n);
}

const char *row_text(const struct row *r, unsigned field, uint32_t *length)
{
    return row_elements(r, field, length);
}

const float *row_vector(const struct row *r, unsigned field, unsigned *n)
{
    return row_elements(r, field, n);
}
