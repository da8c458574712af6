/* SPDX-License-Identifier: MIT */
/* ORDER BY over rows: which values they are ordered by, and where a page's end stands among them. */
#include "query/run.h"
#include "rank/order.h"

static struct value sort_value(const struct plan *p, const struct sort_key *key, const struct row *row)
{
    if (key->type == SORT_FIRST_PUT)
        return (struct value){.type = VALUE_TIME, .i = row->first_put};
    if (key->type == SORT_KEY && p->kind->integer_keys)
        return (struct value){.type = VALUE_UINT, .u = row->key->number};
    if (key->type == SORT_KEY)
        return (struct value){.type = VALUE_TEXT, .length = row->key->length, .text = row->key->bytes};
    const struct field *f = key->field;
    struct value v = {.type = VALUE_NULL};
    if (row_null(row, f->index))
        return v;
    switch (f->def.type) {
    case FIELD_REAL: return (struct value){.type = VALUE_REAL, .f = row_real(row, f->index)};
    case FIELD_INTEGER: case FIELD_TIME: return (struct value){.type = VALUE_INT, .i = row_int(row, f->index)};
    case FIELD_KEYWORD:
        v.type = VALUE_TEXT;
        v.text = dictionary_text(f->dictionary, row_keyword(row, f->index), &v.length);
        return v;
    default:
        v.type = VALUE_TEXT;
        v.text = row_text(row, f->index, &v.length);
        return v;
    }
}

void sort_values(const struct plan *p, const struct row *row, struct value *out)
{
    for (unsigned i = 0; i < p->n_order; i++)
        out[i] = sort_value(p, &p->order[i], row);
}

int sort_compare(const void *run, const struct candidate *a, const struct candidate *b)
{
    const struct plan *p = ((const struct run *)run)->plan;
    for (unsigned i = 0; i < p->n_order; i++) {
        struct value x = sort_value(p, &p->order[i], a->row), y = sort_value(p, &p->order[i], b->row);
        int order = value_order(&x, &y, p->order[i].descending);
        if (order)
            return order;
    }
    return (a->slot > b->slot) - (a->slot < b->slot);
}

bool ranks_behind_place(const struct run *r, const struct candidate *a)
{
    const struct plan *p = r->plan;
    if (!p->n_order)
        return candidate_order(a, &r->place.last) > 0;
    for (unsigned i = 0; i < p->n_order; i++) {
        struct value x = sort_value(p, &p->order[i], a->row);
        int order = value_order(&x, &r->place.order[i], p->order[i].descending);
        if (order)
            return order > 0;
    }
    return a->slot > r->place.last.slot;
}
