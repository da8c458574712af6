/* SPDX-License-Identifier: MIT */
/* Making an item's record: see row.h for its layout. */
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "store/items_internal.h"

/* Where the value of each field comes from: the change, or the row before. */
struct sources {
    const struct kind *k;
    const struct row *old; /* NULL: nothing is taken over */
    const struct value *values[MAX_FIELDS];
};

static void sources_collect(struct sources *s, const struct kind *k, const struct item_change *change, const struct row *old)
{
    s->k = k;
    s->old = change->patch ? old : NULL;
    memset(s->values, 0, k->n_fields * sizeof *s->values);
    for (unsigned i = 0; i < change->n; i++) {
        assert(change->fields[i] < k->n_fields);
        s->values[change->fields[i]] = &change->values[i];
    }
}

static bool source_null(const struct sources *s, unsigned field)
{
    const struct value *v = s->values[field];
    if (v != NULL)
        return v->type == VALUE_NULL;
    return s->old == NULL || row_null(s->old, field);
}

static unsigned element_size(unsigned type)
{
    switch (type) {
    case FIELD_KEYWORDS: return sizeof(uint32_t);
    case FIELD_VECTOR: return sizeof(float);
    case FIELD_TEXT: return 1;
    default: return 0;
    }
}

/* How many elements the field has room for in the tail. Repeated keywords are counted; they leave a little room unused. */
static unsigned source_elements(const struct sources *s, unsigned field)
{
    const struct value *v = s->values[field];
    unsigned type = s->k->fields[field]->def.type, n;
    if (v == NULL) {
        row_text(s->old, field, &n); /* the count is at the same place for all three */
        return n;
    }
    return type == FIELD_KEYWORDS && v->length > MAX_KEYWORDS ? MAX_KEYWORDS : v->length;
}

/* Bytes of the tail from `at` on for the field's elements, each run beginning at a multiple of 4. */
static uint64_t tail_end(const struct sources *s, unsigned field, uint64_t at)
{
    unsigned size = element_size(s->k->fields[field]->def.type);
    if (size == 0 || source_null(s, field))
        return at;
    return (at + (uint64_t)source_elements(s, field) * size + 3) & ~3ull;
}

static uint64_t head_bytes(unsigned n_fields)
{
    return sizeof(struct row) + (row_null_words(n_fields) + (uint64_t)n_fields) * sizeof(uint64_t);
}

/* Ids of a list's keywords in the order of their first mention. */
static status fill_keywords(struct field *f, const struct value *v, uint32_t *ids, unsigned *n, struct error *e)
{
    *n = 0;
    for (uint32_t i = 0; i < v->length; i++) {
        uint32_t id = dictionary_add_w(f->dictionary, v->list[i].text, v->list[i].length);
        if (id == 0)
            return fail(e, STATUS_NO_MEMORY, -1, "no memory for a keyword of field '%s'", f->def.name);
        unsigned j = 0;
        while (j < *n && ids[j] != id)
            j++;
        if (j < *n)
            continue;
        if (*n == MAX_KEYWORDS)
            return fail(e, STATUS_LIMIT, -1, "field '%s' of '%s' takes at most %d keywords", f->def.name, f->kind->name, MAX_KEYWORDS);
        ids[(*n)++] = id;
    }
    return STATUS_OK;
}

/* The elements of a field into the tail at `at`; its cell. */
static status fill_elements(const struct sources *s, unsigned field, char *at, uint32_t offset, uint64_t *cell, struct error *e)
{
    struct field *f = s->k->fields[field];
    const struct value *v = s->values[field];
    unsigned n = source_elements(s, field), size = element_size(f->def.type);
    if (v == NULL) {
        unsigned old;
        memcpy(at, row_text(s->old, field, &old), (size_t)n * size);
    } else if (f->def.type == FIELD_KEYWORDS) {
        status failed = fill_keywords(f, v, (uint32_t *)(void *)at, &n, e);
        if (failed != STATUS_OK)
            return failed;
    } else if (n != 0)
        memcpy(at, f->def.type == FIELD_TEXT ? (const void *)v->text : (const void *)v->vector, (size_t)n * size);
    *cell = offset | (uint64_t)n << 32;
    return STATUS_OK;
}

/* A cell that holds its value itself. */
static status fill_scalar(const struct sources *s, unsigned field, uint64_t *cell, struct error *e)
{
    struct field *f = s->k->fields[field];
    const struct value *v = s->values[field];
    if (v == NULL)
        *cell = f->def.type == FIELD_KEYWORD ? row_keyword(s->old, field) : (uint64_t)row_int(s->old, field);
    else if (f->def.type == FIELD_REAL)
        memcpy(cell, &v->f, sizeof *cell);
    else if (f->def.type != FIELD_KEYWORD)
        *cell = (uint64_t)v->i;
    else if ((*cell = dictionary_add_w(f->dictionary, v->text, v->length)) == 0)
        return fail(e, STATUS_NO_MEMORY, -1, "no memory for a keyword of field '%s'", f->def.name);
    return STATUS_OK;
}

static status row_fill(const struct sources *s, struct row *row, struct error *e)
{
    uint64_t *nulls = row->words, *cells = row->words + row_null_words(row->n_fields), at = head_bytes(row->n_fields);
    for (unsigned field = 0; field < row->n_fields; field++) {
        status failed = STATUS_OK;
        if (source_null(s, field))
            nulls[field / 64] |= 1ull << (field % 64);
        else if (element_size(s->k->fields[field]->def.type) == 0)
            failed = fill_scalar(s, field, &cells[field], e);
        else
            failed = fill_elements(s, field, (char *)row + at, (uint32_t)at, &cells[field], e);
        if (failed != STATUS_OK)
            return failed;
        at = tail_end(s, field, at);
    }
    return STATUS_OK;
}

status row_make_w(struct kind *k, const struct item_change *change, const struct row *old, struct row **out, struct error *e)
{
    struct sources s;
    sources_collect(&s, k, change, old);
    uint64_t head = head_bytes(k->n_fields), bytes = head;
    for (unsigned field = 0; field < k->n_fields; field++)
        bytes = tail_end(&s, field, bytes);
    bytes = (bytes + 7) & ~7ull;
    if (bytes > MAX_ROW)
        return fail(e, STATUS_LIMIT, -1, "an item of '%s' would have %llu bytes; it has at most %d", k->name, (unsigned long long)bytes,
                    MAX_ROW);
    struct row *row = mem_room(bytes) ? mem_alloc(bytes) : NULL;
    if (row == NULL)
        return fail(e, STATUS_NO_MEMORY, -1, "no memory for an item of '%s' (%llu bytes)", k->name, (unsigned long long)bytes);
    memset(row, 0, head);
    row->bytes = (uint32_t)bytes;
    row->n_fields = (uint16_t)k->n_fields;
    status failed = row_fill(&s, row, e);
    if (failed != STATUS_OK) {
        mem_free(row);
        return failed;
    }
    *out = row;
    return STATUS_OK;
}

void row_release(void *row)
{
    mem_free(row);
}

const uint32_t *row_ids(const struct field *f, const struct row *row, unsigned *n, uint32_t *single)
{
    *n = 0;
    if (row == NULL || f->dictionary == NULL)
        return NULL;
    if (f->def.type == FIELD_KEYWORDS)
        return row_keywords(row, f->index, n);
    *single = row_keyword(row, f->index);
    *n = *single != 0;
    return single;
}

unsigned row_count_ids(const struct kind *k, const struct row *row)
{
    unsigned total = 0, n;
    uint32_t single;
    for (uint32_t i = 0; i < k->n_fields; i++) {
        row_ids(k->fields[i], row, &n, &single);
        total += n;
    }
    return total;
}
