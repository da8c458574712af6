/* SPDX-License-Identifier: MIT */
#include "rank/order.h"

#include "rank/numbers.h"

enum sort { SORT_NUMBER, SORT_TEXT, SORT_OTHER, SORT_NULL };

static enum sort sort_of(const struct value *v)
{
    switch ((enum value_type)v->type) {
    case VALUE_INT:
    case VALUE_UINT:
    case VALUE_REAL:
    case VALUE_TIME: return SORT_NUMBER;
    case VALUE_TEXT: return SORT_TEXT;
    case VALUE_NULL: return SORT_NULL;
    case VALUE_LIST:
    case VALUE_VECTOR: break;
    }
    return SORT_OTHER;
}

/* A VALUE_UINT is 2^63 or more; a real at least as large as that is whole. */
static int compare_uint_real(uint64_t a, double b)
{
    if (b < 0x1p63)
        return 1;
    if (b >= 0x1p64)
        return -1;
    uint64_t whole = (uint64_t)b;
    return (a > whole) - (a < whole);
}

static int compare_numbers(const struct value *a, const struct value *b)
{
    bool a_real = a->type == VALUE_REAL, b_real = b->type == VALUE_REAL;
    bool a_large = a->type == VALUE_UINT && a->u > INT64_MAX, b_large = b->type == VALUE_UINT && b->u > INT64_MAX;
    if (a_real && b_real)
        return (a->f > b->f) - (a->f < b->f);
    if (b_real)
        return a_large ? compare_uint_real(a->u, b->f) : num_compare_int_real(a->i, b->f);
    if (a_real)
        return -compare_numbers(b, a);
    if (a_large || b_large)
        return a_large && b_large ? (a->u > b->u) - (a->u < b->u) : a_large ? 1 : -1;
    return (a->i > b->i) - (a->i < b->i);
}

int value_order(const struct value *a, const struct value *b, bool descending)
{
    enum sort sort_a = sort_of(a), sort_b = sort_of(b);
    if (sort_a != sort_b) {
        int c = sort_a < sort_b ? -1 : 1;
        return descending && sort_a != SORT_NULL && sort_b != SORT_NULL ? -c : c;
    }
    int c = sort_a == SORT_NUMBER ? compare_numbers(a, b) : sort_a == SORT_TEXT ? value_text_compare(a->text, a->length, b->text, b->length) : 0;
    return descending ? (c < 0) - (c > 0) : c;
}
