/* SPDX-License-Identifier: MIT */
#include "query/result.h"

#include <string.h>

#include "base/publish.h"

/* A piece of the block: its offset, and a pointer to write through when it fits. */
struct piece { uint64_t at; void *p; };

static struct piece reserve(struct output *o, size_t bytes)
{
    size_t at = (o->needed + 7) & ~(size_t)7;
    o->needed = at + bytes;
    bool fits = o->data && o->needed <= o->capacity;
    return (struct piece){.at = at, .p = fits ? o->data + at : NULL};
}

static uint64_t append_bytes(struct output *o, const void *data, size_t n)
{
    struct piece piece = reserve(o, n);
    if (piece.p && n)
        memcpy(piece.p, data, n);
    return piece.at;
}

struct rows { size_t n; const struct row *const *row; bool integer_keys; };

/* ---- Texts: offsets, then bytes ---------------------------------------------------------------------------------------- */

static const char *key_bytes(const struct row *row, uint32_t *n)
{
    *n = row->key->length;
    return row->key->bytes;
}

static const char *field_text(const struct field *f, const struct row *row, uint32_t *n)
{
    *n = 0;
    if (row_null(row, f->index))
        return "";
    if (f->def.type == FIELD_KEYWORD)
        return dictionary_text(f->dictionary, row_keyword(row, f->index), n);
    return row_text(row, f->index, n);
}

/* field NULL: the key. */
static const char *text_of(const struct field *f, const struct row *row, uint32_t *n)
{
    return f ? field_text(f, row, n) : key_bytes(row, n);
}

static void text_column(struct output *o, const struct field *f, const struct rows *rows, uint64_t *data_at, uint64_t *bytes_at)
{
    struct piece offsets = reserve(o, (rows->n + 1) * sizeof(uint64_t));
    uint64_t total = 0;
    uint32_t n;
    for (size_t i = 0; i < rows->n; i++) {
        text_of(f, rows->row[i], &n);
        if (offsets.p)
            ((uint64_t *)offsets.p)[i] = total;
        total += n;
    }
    if (offsets.p)
        ((uint64_t *)offsets.p)[rows->n] = total;
    struct piece bytes = reserve(o, total);
    uint8_t *to = bytes.p;
    for (size_t i = 0; to && i < rows->n; i++) {
        const char *text = text_of(f, rows->row[i], &n);
        memcpy(to, text, n);
        to += n;
    }
    *data_at = offsets.at;
    *bytes_at = bytes.at;
}

/* ---- Sets of keywords: offsets of rows, offsets of elements, bytes ------------------------------------------------------ */

static void list_column(struct output *o, const struct field *f, const struct rows *rows, struct result_column *c)
{
    struct piece lists = reserve(o, (rows->n + 1) * sizeof(uint64_t));
    uint64_t elements = 0, total = 0;
    for (size_t i = 0; i < rows->n; i++) {
        unsigned n;
        row_keywords(rows->row[i], f->index, &n);
        if (lists.p)
            ((uint64_t *)lists.p)[i] = elements;
        elements += n;
    }
    if (lists.p)
        ((uint64_t *)lists.p)[rows->n] = elements;
    struct piece offsets = reserve(o, (elements + 1) * sizeof(uint64_t));
    uint64_t e = 0;
    for (size_t i = 0; i < rows->n; i++) {
        unsigned n;
        const uint32_t *ids = row_keywords(rows->row[i], f->index, &n);
        for (unsigned j = 0; j < n; j++) {
            uint32_t length;
            dictionary_text(f->dictionary, ids[j], &length);
            if (offsets.p)
                ((uint64_t *)offsets.p)[e++] = total;
            total += length;
        }
    }
    if (offsets.p)
        ((uint64_t *)offsets.p)[e] = total;
    struct piece bytes = reserve(o, total);
    uint8_t *to = bytes.p;
    for (size_t i = 0; to && i < rows->n; i++) {
        unsigned n;
        const uint32_t *ids = row_keywords(rows->row[i], f->index, &n);
        for (unsigned j = 0; j < n; j++) {
            uint32_t length;
            const char *text = dictionary_text(f->dictionary, ids[j], &length);
            memcpy(to, text, length);
            to += length;
        }
    }
    c->data_at = lists.at;
    c->list_at = offsets.at;
    c->bytes_at = bytes.at;
}

/* ---- Numbers and vectors ------------------------------------------------------------------------------------------------ */

static void number_column(struct output *o, const struct field *f, const struct rows *rows, struct result_column *c)
{
    struct piece data = reserve(o, rows->n * 8);
    c->data_at = data.at;
    for (size_t i = 0; data.p && i < rows->n; i++) {
        const struct row *row = rows->row[i];
        bool null = row_null(row, f->index);
        if (f->def.type == FIELD_REAL)
            ((double *)data.p)[i] = null ? 0 : row_real(row, f->index);
        else
            ((int64_t *)data.p)[i] = null ? 0 : row_int(row, f->index);
    }
}

static void vector_column(struct output *o, const struct field *f, const struct rows *rows, struct result_column *c)
{
    size_t width = f->def.dimension;
    struct piece data = reserve(o, rows->n * width * sizeof(float));
    c->data_at = data.at;
    c->width = (uint32_t)width;
    for (size_t i = 0; data.p && i < rows->n; i++) {
        unsigned n = 0;
        const float *v = row_null(rows->row[i], f->index) ? NULL : row_vector(rows->row[i], f->index, &n);
        float *to = (float *)data.p + i * width;
        if (v)
            memcpy(to, v, width * sizeof *to);
        else
            memset(to, 0, width * sizeof *to);
    }
}

static void field_column(struct output *o, const struct field *f, const struct rows *rows, struct result_column *c)
{
    static const uint32_t types[] = {[FIELD_INTEGER] = VALUE_INT, [FIELD_REAL] = VALUE_REAL, [FIELD_TIME] = VALUE_TIME, [FIELD_KEYWORD] = VALUE_TEXT,
                                     [FIELD_KEYWORDS] = VALUE_LIST, [FIELD_TEXT] = VALUE_TEXT, [FIELD_VECTOR] = VALUE_VECTOR};
    c->type = types[f->def.type];
    struct piece nulls = reserve(o, rows->n);
    c->nulls_at = nulls.at;
    for (size_t i = 0; nulls.p && i < rows->n; i++)
        ((uint8_t *)nulls.p)[i] = row_null(rows->row[i], f->index);
    if (f->def.type == FIELD_KEYWORDS)
        list_column(o, f, rows, c);
    else if (f->def.type == FIELD_VECTOR)
        vector_column(o, f, rows, c);
    else if (c->type == VALUE_TEXT)
        text_column(o, f, rows, &c->data_at, &c->bytes_at);
    else
        number_column(o, f, rows, c);
}

static void no_nulls(struct output *o, size_t n, struct result_column *c)
{
    struct piece nulls = reserve(o, n);
    c->nulls_at = nulls.at;
    if (nulls.p)
        memset(nulls.p, 0, n);
}

static void key_column(struct output *o, const struct rows *rows, uint64_t *data_at, uint64_t *bytes_at)
{
    if (!rows->integer_keys) {
        text_column(o, NULL, rows, data_at, bytes_at);
        return;
    }
    struct piece data = reserve(o, rows->n * sizeof(uint64_t));
    *data_at = data.at;
    *bytes_at = data.at;
    for (size_t i = 0; data.p && i < rows->n; i++)
        ((uint64_t *)data.p)[i] = rows->row[i]->key->number;
}

/* ---- Expressions: evaluated over the page's rows, a block at a time ------------------------------------------------------ */

static void take_block(struct run *r, const struct page *page, size_t first, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        r->rows[i] = page->rows[first + i].row;
        r->slots[i] = page->rows[first + i].slot;
        r->scores[i] = page->rows[first + i].score;
    }
}

static void expression_column(struct run *r, const struct return_column *rc, const struct page *page, struct output *o, struct result_column *c)
{
    bool ints = rc->type == RETURN_INT_REGISTER;
    c->type = ints ? VALUE_TIME : VALUE_REAL;
    no_nulls(o, page->n, c);
    struct piece data = reserve(o, page->n * 8);
    c->data_at = data.at;
    for (size_t first = 0; data.p && first < page->n; first += BLOCK_MAX) {
        unsigned n = page->n - first < BLOCK_MAX ? (unsigned)(page->n - first) : BLOCK_MAX;
        take_block(r, page, first, n);
        gather_rows(r, &rc->section, n);
        run_section(r, &rc->section, n);
        const struct reg *reg = &r->regs[rc->section.result];
        if (!ints) {
            memcpy((double *)data.p + first, reg->lane->real, n * sizeof(double));
            continue;
        }
        memcpy((int64_t *)data.p + first, reg->lane->integer, n * sizeof(int64_t));
        if (reg->has_null)
            memcpy(o->data + c->nulls_at + first, reg->nulls, n);
    }
}

static void score_column(const struct page *page, struct output *o, uint64_t *data_at)
{
    struct piece data = reserve(o, page->n * sizeof(double));
    *data_at = data.at;
    for (size_t i = 0; data.p && i < page->n; i++)
        ((double *)data.p)[i] = page->rows[i].score;
}

static void return_column_of(struct run *r, const struct return_column *rc, const struct page *page, const struct rows *rows, struct output *o,
                             struct result_column *c)
{
    switch (rc->type) {
    case RETURN_FIELD:
        field_column(o, rc->field, rows, c);
        break;
    case RETURN_KEY:
        c->type = rows->integer_keys ? VALUE_UINT : VALUE_TEXT;
        no_nulls(o, rows->n, c);
        key_column(o, rows, &c->data_at, &c->bytes_at);
        break;
    case RETURN_SCORE:
        c->type = VALUE_REAL;
        no_nulls(o, rows->n, c);
        score_column(page, o, &c->data_at);
        break;
    default:
        expression_column(r, rc, page, o, c);
    }
    c->name_length = strlen(rc->name);
    c->name_at = append_bytes(o, rc->name, c->name_length);
}

/* ---- Whole blocks -------------------------------------------------------------------------------------------------------- */

static struct result_header *begin(struct output *o, struct result_header *spare)
{
    o->needed = 0;
    struct piece piece = reserve(o, sizeof *spare);
    struct result_header *h = piece.p ? piece.p : spare;
    *h = (struct result_header){.magic = RESULT_MAGIC};
    return h;
}

/* Where a column's description goes: in the block, or nowhere. */
static struct result_column *column_at(struct piece columns, unsigned i, struct result_column *spare)
{
    struct result_column *c = columns.p ? (struct result_column *)columns.p + i : spare;
    *c = (struct result_column){0};
    return c;
}

void result_page(struct run *r, const struct page *page, struct output *o)
{
    const struct plan *p = r->plan;
    struct result_header spare, *h = begin(o, &spare);
    const struct row **row = r->page_rows;
    for (size_t i = 0; i < page->n; i++)
        row[i] = page->rows[i].row;
    struct rows rows = {.n = page->n, .row = row, .integer_keys = r->kind->integer_keys};
    h->n_rows = (uint32_t)page->n;
    h->n_columns = p->n_returns;
    h->now = r->now;
    h->total = p->ast->retrieve.count ? r->total : 0;
    h->flags = (rows.integer_keys ? RESULT_INTEGER_KEYS : 0u) | (p->ast->retrieve.count ? RESULT_TOTAL : 0u) | (page->relaxed ? RESULT_RELAXED : 0u);
    key_column(o, &rows, &h->keys_at, &h->key_bytes_at);
    score_column(page, o, &h->scores_at);
    struct piece columns = reserve(o, p->n_returns * sizeof(struct result_column));
    h->columns_at = columns.at;
    struct result_column spare_column;
    for (unsigned i = 0; i < p->n_returns; i++)
        return_column_of(r, &p->returns[i], page, &rows, o, column_at(columns, i, &spare_column));
    if (page->more) {
        h->cursor_length = cursor_bytes(r, page);
        struct piece cursor = reserve(o, h->cursor_length);
        h->cursor_at = cursor.at;
        if (cursor.p)
            cursor_encode(r, page, cursor.p);
    }
    h->bytes = o->needed;
}

void result_explain(struct output *o, const char *json, size_t length)
{
    uint64_t at = append_bytes(o, json, length);
    if (o->needed > o->capacity)
        return;
    struct result_header *h = (struct result_header *)o->data;
    h->explain_at = at;
    h->explain_length = length;
    h->bytes = o->needed;
}

void result_item(const struct kind *k, const struct row *row, int64_t now, struct output *o)
{
    struct result_header spare, *h = begin(o, &spare);
    struct rows rows = {.n = 1, .row = &row, .integer_keys = k->integer_keys};
    /* ORDER: acquire: pairs with the release of n_fields in catalog_add_fields; the fields below it stand. */
    unsigned n = take(&k->n_fields);
    h->n_rows = 1;
    h->n_columns = n;
    h->now = now;
    h->flags = k->integer_keys ? RESULT_INTEGER_KEYS : 0u;
    key_column(o, &rows, &h->keys_at, &h->key_bytes_at);
    struct piece score = reserve(o, sizeof(double));
    h->scores_at = score.at;
    if (score.p)
        *(double *)score.p = 0;
    struct piece columns = reserve(o, n * sizeof(struct result_column));
    h->columns_at = columns.at;
    struct result_column spare_column;
    for (unsigned i = 0; i < n; i++) {
        struct result_column *c = column_at(columns, i, &spare_column);
        field_column(o, k->fields[i], &rows, c);
        c->name_length = strlen(k->fields[i]->def.name);
        c->name_at = append_bytes(o, k->fields[i]->def.name, c->name_length);
    }
    h->bytes = o->needed;
}

void result_empty(int64_t now, struct output *o)
{
    struct result_header spare, *h = begin(o, &spare);
    h->now = now;
    h->keys_at = h->key_bytes_at = h->scores_at = h->columns_at = sizeof *h;
    struct piece offsets = reserve(o, sizeof(uint64_t));
    if (offsets.p)
        *(uint64_t *)offsets.p = 0;
    h->bytes = o->needed;
}
