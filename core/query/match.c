/* SPDX-License-Identifier: MIT */
/* Predicates on text, keywords and the key, row by row. */
#include <stdlib.h>
#include <string.h>

#include "query/run.h"

static bool has_text(const struct bound_match *m, const char *text, uint32_t length)
{
    uint32_t low = 0, high = m->n_texts;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = value_text_compare(m->texts[middle].text, m->texts[middle].length, text, length);
        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static bool has_number(const struct bound_match *m, uint64_t number)
{
    uint32_t low = 0, high = m->n_numbers;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (m->numbers[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->n_numbers && m->numbers[low] == number;
}

/* IN and =, once membership is known: SQL's three values. */
static uint8_t membership(const struct bound_match *m, bool found)
{
    if (found)
        return TRUTH_TRUE;
    return m->has_null ? TRUTH_NULL : TRUTH_FALSE;
}

static uint8_t compared(unsigned test, int order)
{
    switch (test) {
    case TEST_LT: return order < 0;
    case TEST_LE: return order <= 0;
    case TEST_GT: return order > 0;
    default: return order >= 0;
    }
}

static uint8_t match_text(unsigned test, const struct bound_match *m, const char *text, uint32_t length)
{
    if (m->is_null)
        return TRUTH_NULL;
    if (test == TEST_EQ || test == TEST_IN)
        return membership(m, has_text(m, text, length));
    return compared(test, value_text_compare(text, length, m->texts[0].text, m->texts[0].length));
}

bool match_key(const struct bound_match *m, const struct row *row, bool integer)
{
    return integer ? has_number(m, row->key->number) : has_text(m, row->key->bytes, row->key->length);
}

/* What is said without a look at the value: IS NULL, a null, IN of nothing. False: the value decides. */
static bool null_decides(unsigned test, const struct bound_match *m, bool null, uint8_t *truth)
{
    if (test == TEST_NULL)
        *truth = null;
    else if (test == TEST_IN && m->is_empty)
        *truth = TRUTH_FALSE;
    else if (null)
        *truth = TRUTH_NULL;
    else
        return false;
    return true;
}

static uint8_t match_key_row(const struct run *r, unsigned test, const struct bound_match *m, const struct row *row)
{
    uint8_t truth;
    if (null_decides(test, m, false, &truth))
        return truth;
    if (test == TEST_EQ || test == TEST_IN)
        return membership(m, match_key(m, row, r->kind->integer_keys));
    if (m->is_null)
        return TRUTH_NULL;
    if (!r->kind->integer_keys)
        return match_text(test, m, row->key->bytes, row->key->length);
    if (m->n_numbers == 0) /* the operand was a negative integer: below every key */
        return test == TEST_GT || test == TEST_GE;
    uint64_t key = row->key->number, other = m->numbers[0];
    return compared(test, (key > other) - (key < other));
}

static uint8_t match_keyword(const struct match *m, const struct bound_match *b, uint32_t id)
{
    uint8_t truth;
    if (null_decides(m->test, b, id == 0, &truth))
        return truth;
    if (m->test == TEST_EQ || m->test == TEST_IN)
        return membership(b, has_number(b, id));
    uint32_t length;
    const char *text = dictionary_text(m->field->dictionary, id, &length);
    return match_text(m->test, b, text, length);
}

static uint8_t match_keywords(const struct match *m, const struct bound_match *b, const struct row *row)
{
    uint8_t truth;
    if (null_decides(m->test, b, row_null(row, m->field->index), &truth))
        return truth;
    unsigned n;
    const uint32_t *ids = row_keywords(row, m->field->index, &n);
    for (unsigned i = 0; i < n; i++)
        if (has_number(b, ids[i]))
            return TRUTH_TRUE;
    return membership(b, false);
}

static uint8_t match_text_row(const struct match *m, const struct bound_match *b, const struct row *row)
{
    uint8_t truth;
    if (null_decides(m->test, b, row_null(row, m->field->index), &truth))
        return truth;
    uint32_t length;
    const char *text = row_text(row, m->field->index, &length);
    return match_text(m->test, b, text, length);
}

void match_keyword_ids(struct run *r, unsigned match, const uint32_t *ids, unsigned n, uint8_t *truth)
{
    const struct match *m = &r->plan->matches[match];
    const struct bound_match *b = &r->matches[match];
    for (unsigned i = 0; i < n; i++)
        truth[i] = match_keyword(m, b, ids[i]);
}

void match_rows(struct run *r, unsigned match, unsigned n, uint8_t *truth)
{
    const struct match *m = &r->plan->matches[match];
    const struct bound_match *b = &r->matches[match];
    for (unsigned i = 0; i < n; i++) {
        const struct row *row = r->rows[i];
        if (!row)
            truth[i] = TRUTH_FALSE;
        else if (m->subject == MATCH_KEY)
            truth[i] = match_key_row(r, m->test, b, row);
        else if (m->subject == MATCH_KEYWORD)
            truth[i] = match_keyword(m, b, row_null(row, m->field->index) ? 0 : row_keyword(row, m->field->index));
        else if (m->subject == MATCH_KEYWORDS)
            truth[i] = match_keywords(m, b, row);
        else
            truth[i] = match_text_row(m, b, row);
    }
}
