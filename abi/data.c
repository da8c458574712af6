/* SPDX-License-Identifier: MIT */
/* The C interface of items and signals. */
#include "arguments.h"

#include "base/alloc.h"
#include "engine/change.h"
#include "engine/handles.h"

/* ---- Items ------------------------------------------------------------------------------------------------------------------ */

/* What a put's callback finds its cells by. */
struct put_source {
    struct heap heap;
    const eagre_column *keys;
    const eagre_column *columns;
    struct scratch scratch;
};

static bool null_cell(const struct heap *h, const eagre_column *c, uint64_t row)
{
    const uint8_t *nulls = c->nulls_at == EAGRE_NO_NULLS ? NULL : heap_at(h, c->nulls_at, row + 1);
    return nulls && nulls[row];
}

/* One cell of a column; the column was checked to lie in the heap. */
static bool column_cell(const struct heap *h, const eagre_column *c, uint64_t row, struct scratch *s, struct value *out)
{
    *out = (struct value){.type = VALUE_NULL};
    if (null_cell(h, c, row))
        return true;
    if (c->type == EAGRE_COLUMN_VALUES) {
        const eagre_value *values = heap_at(h, c->at, 0);
        s->used = 0;
        return take_value(h, &values[row], s, out);
    }
    if (c->type == EAGRE_VECTOR) {
        const float *numbers = heap_at(h, c->at, 0);
        *out = (struct value){.type = VALUE_VECTOR, .length = c->width, .vector = numbers + row * c->width};
        return true;
    }
    eagre_value v = {.type = c->type};
    v.v.u = ((const uint64_t *)heap_at(h, c->at, 0))[row];
    return plain_value(h, &v, out);
}

static bool put_cell(const struct put_batch *b, uint64_t row, int column, struct value *out)
{
    const struct put_source *p = b->context;
    /* Lists of a row's cells live side by side until the row is done. */
    struct scratch one = {.lists = p->scratch.lists + (size_t)(column + 1) * MAX_KEYWORDS, .capacity = MAX_KEYWORDS};
    return column_cell(&p->heap, column < 0 ? p->keys : &p->columns[column], row, &one, out);
}

static status check_column(const struct heap *h, const eagre_column *c, uint64_t n, bool key, struct error *e)
{
    uint64_t element;
    switch (c->type) {
    case EAGRE_INT: case EAGRE_UINT: element = 8; break;
    case EAGRE_REAL: case EAGRE_TIME: element = key ? 0 : 8; break;
    case EAGRE_COLUMN_VALUES: element = sizeof(eagre_value); break;
    case EAGRE_VECTOR: element = key || c->width > MAX_DIMENSION ? 0 : (uint64_t)c->width * sizeof(float); break;
    default: element = 0;
    }
    if (!element)
        return fail(e, STATUS_INVALID, -1, "column of type %u and width %u: this can not be such a column", c->type, c->width);
    if (n > UINT64_MAX / (MAX_DIMENSION * 4))
        return fail(e, STATUS_RANGE, -1, "n_rows: too large");
    const void *data = heap_at(h, c->at, n * element);
    if (!data || (n && (uintptr_t)data % (c->type == EAGRE_VECTOR ? 4 : 8)) || (c->nulls_at != EAGRE_NO_NULLS && !heap_at(h, c->nulls_at, n)))
        return fail(e, STATUS_INVALID, -1, "column: its %llu rows lie outside the heap or are misaligned", (unsigned long long)n);
    if (c->type == EAGRE_COLUMN_VALUES)
        for (uint64_t i = 0; i < n; i++)
            if (((const eagre_value *)data)[i].type == EAGRE_LIST && ((const eagre_value *)data)[i].length > MAX_KEYWORDS)
                return fail(e, STATUS_LIMIT, -1, "row %llu: a list has at most %d elements", (unsigned long long)i, MAX_KEYWORDS);
    return STATUS_OK;
}

static status check_columns(const struct heap *h, uint64_t n, const eagre_column *keys, uint32_t n_fields, const eagre_column *columns, struct error *e)
{
    if (!keys || (n_fields && !columns))
        return wrong_argument(e, keys ? "columns: NULL" : "keys: NULL");
    if (n_fields > MAX_FIELDS)
        return fail(e, STATUS_LIMIT, -1, "fields: at most %d can be named", MAX_FIELDS);
    status s = check_column(h, keys, n, true, e);
    for (uint32_t i = 0; i < n_fields && !s; i++)
        s = check_column(h, &columns[i], n, false, e);
    return s;
}

static status put_columns(struct database *db, const char *kind, uint64_t n_rows, const eagre_column *keys, uint32_t n_fields,
                          const eagre_value *fields, const eagre_column *columns, const struct heap *h, uint32_t flags, uint64_t *applied,
                          struct error *e)
{
    if (!kind)
        return wrong_argument(e, "kind: NULL");
    if (flags & ~EAGRE_PATCH)
        return wrong_argument(e, "flags: unknown bits");
    status s = check_columns(h, n_rows, keys, n_fields, columns, e);
    if (s)
        return s;
    struct value *names = take_values(h, fields, n_fields, "fields", e);
    if (!names)
        return e->code;
    struct put_source source = {.heap = *h, .keys = keys, .columns = columns};
    source.scratch.lists = mem_array((size_t)(n_fields + 1) * MAX_KEYWORDS, sizeof(struct value));
    struct put_batch b = {.kind = kind, .patch = flags & EAGRE_PATCH, .n_rows = n_rows, .n_fields = n_fields, .fields = names, .cell = put_cell,
                          .context = &source};
    s = source.scratch.lists ? put_many(db, &b, applied, e) : fail(e, STATUS_NO_MEMORY, -1, "no memory for the arguments");
    mem_free(source.scratch.lists);
    mem_free(names);
    return s;
}

eagre_status eagre_put_many(eagre_db *handle, const char *kind, uint64_t n_rows, const eagre_column *keys, uint32_t n_fields,
                            const eagre_value *fields, const eagre_column *columns, const void *heap, size_t heap_length, uint32_t flags,
                            uint64_t *applied, eagre_error *error)
{
    struct error e = {.position = -1};
    struct heap h = {heap, heap_length};
    uint64_t done = 0;
    struct database *db = use_database(handle, &e);
    if (!db)
        return give_error(&e, e.code, error);
    status s = put_columns(db, kind, n_rows, keys, n_fields, fields, columns, &h, flags, &done, &e);
    database_leave(db);
    if (applied)
        *applied = done;
    return give_error(&e, s, error);
}

/* One item: each value is a column of one row. */
struct one_source { const struct value *key, *values; };

static bool one_cell(const struct put_batch *b, uint64_t row, int column, struct value *out)
{
    const struct one_source *p = b->context;
    (void)row;
    *out = column < 0 ? *p->key : p->values[column];
    return true;
}

static status put_one(struct database *db, const char *kind, const eagre_value *key, uint32_t n, const eagre_value *fields, const eagre_value *values,
                      const struct heap *h, uint32_t flags, struct error *e)
{
    struct value k;
    if (!kind)
        return wrong_argument(e, "kind: NULL");
    if (flags & ~EAGRE_PATCH)
        return wrong_argument(e, "flags: unknown bits");
    if (n > MAX_FIELDS)
        return fail(e, STATUS_LIMIT, -1, "fields: at most %d can be named", MAX_FIELDS);
    status s = take_key(h, key, &k, e);
    if (s)
        return s;
    struct value *names = take_values(h, fields, n, "fields", e);
    struct value *cells = names ? take_values(h, values, n, "values", e) : NULL;
    if (cells) {
        uint64_t applied;
        struct one_source source = {&k, cells};
        struct put_batch b = {.kind = kind, .patch = flags & EAGRE_PATCH, .n_rows = 1, .n_fields = n, .fields = names, .cell = one_cell, .context = &source};
        s = put_many(db, &b, &applied, e);
    } else {
        s = e->code;
    }
    mem_free(cells);
    mem_free(names);
    return s;
}

eagre_status eagre_put(eagre_db *handle, const char *kind, const eagre_value *key, uint32_t n, const eagre_value *fields,
                       const eagre_value *values, const void *heap, size_t heap_length, uint32_t flags, eagre_error *error)
{
    struct error e = {.position = -1};
    struct heap h = {heap, heap_length};
    struct database *db = use_database(handle, &e);
    if (!db)
        return give_error(&e, e.code, error);
    status s = put_one(db, kind, key, n, fields, values, &h, flags, &e);
    database_leave(db);
    return give_error(&e, s, error);
}

eagre_status eagre_delete(eagre_db *handle, const char *kind, const eagre_value *key, const void *heap, size_t heap_length, eagre_error *error)
{
    struct error e = {.position = -1};
    struct heap h = {heap, heap_length};
    struct value k;
    struct database *db = use_database(handle, &e);
    if (!db)
        return give_error(&e, e.code, error);
    status s = kind ? take_key(&h, key, &k, &e) : wrong_argument(&e, "kind: NULL");
    if (!s)
        s = delete_item(db, kind, &k, &e);
    database_leave(db);
    return give_error(&e, s, error);
}

static status get_item(struct database *db, const char *kind, const struct value *key, struct output *o, struct error *e)
{
    struct key bytes;
    struct kind *k;
    status s = database_kind(db, kind, &k, e);
    if (!s)
        s = items_check_key(k, key, &bytes, e);
    if (s)
        return s;
    uint32_t generation;
    int64_t now = database_now(db);
    reclaim_enter(); /* RCU: protects the row; it is copied into the caller's buffer */
    const struct row *row = find_item_rcu(k, &bytes, now, &generation, e);
    if (row)
        result_item(k, row, now, o);
    reclaim_leave();
    if (!row)
        return STATUS_NOT_FOUND;
    if (o->needed > o->capacity)
        return fail(e, STATUS_BUFFER_TOO_SMALL, -1, "the item needs %zu bytes, the buffer has %zu", o->needed, o->capacity);
    return STATUS_OK;
}

eagre_status eagre_get(eagre_db *handle, const char *kind, const eagre_value *key, const void *heap, size_t heap_length, void *out,
                       size_t capacity, size_t *needed, eagre_error *error)
{
    struct error e = {.position = -1};
    struct heap h = {heap, heap_length};
    struct value k;
    struct output o = {0};
    struct database *db = use_database(handle, &e);
    if (!db)
        return give_error(&e, e.code, error);
    status s = read_output(out, capacity, needed, &o, &e);
    if (!s)
        s = kind ? take_key(&h, key, &k, &e) : wrong_argument(&e, "kind: NULL");
    if (!s) {
        s = get_item(db, kind, &k, &o, &e);
        *needed = o.needed;
    }
    database_leave(db);
    return give_error(&e, s, error);
}

eagre_status eagre_count(eagre_db *handle, const char *kind, uint64_t *out, eagre_error *error)
{
    struct error e = {.position = -1};
    struct database *db = use_database(handle, &e);
    if (!db)
        return give_error(&e, e.code, error);
    struct kind *k;
    status s = kind && out ? database_kind(db, kind, &k, &e) : wrong_argument(&e, kind ? "out: NULL" : "kind: NULL");
    if (!s)
        *out = items_count(k, database_now(db));
    database_leave(db);
    return give_error(&e, s, error);
}

/* ---- Signals ---------------------------------------------------------------------------------------------------------------- */

eagre_status eagre_signal_id(eagre_db *handle, const char *name, const char *kind, uint32_t *out, eagre_error *error)
{
    struct error e = {.position = -1};
    struct database *db = use_database(handle, &e);
    if (!db)
        return give_error(&e, e.code, error);
    status s = name && out ? signal_number(db, name, kind, out, &e) : wrong_argument(&e, name ? "out: NULL" : "name: NULL");
    database_leave(db);
    return give_error(&e, s, error);
}

eagre_status eagre_handle(eagre_db *handle, const char *kind, const eagre_value *key, const void *heap, size_t heap_length, uint64_t *out,
                          eagre_error *error)
{
    struct error e = {.position = -1};
    struct heap h = {heap, heap_length};
    struct value k;
    struct database *db = use_database(handle, &e);
    if (!db)
        return give_error(&e, e.code, error);
    status s = kind && out ? take_key(&h, key, &k, &e) : wrong_argument(&e, kind ? "out: NULL" : "kind: NULL");
    if (!s)
        s = handle_find(db, kind, &k, out, &e);
    database_leave(db);
    return give_error(&e, s, error);
}

eagre_status eagre_signal(eagre_db *db, uint32_t signal, uint64_t handle, double weight, int64_t time, eagre_error *error)
{
    struct error e;
    e.position = -1;
    status s = refuse_forked(&e);
    return give_error(&e, s ? s : signal_by_handle((struct shell *)db, signal, handle, weight, time, &e), error);
}

struct event_source {
    struct heap heap;
    const eagre_column *keys;
    const eagre_value *ids;
};

static bool event_key(const struct signal_batch *b, uint64_t i, struct value *out)
{
    const struct event_source *p = b->context;
    struct scratch none = {0};
    return column_cell(&p->heap, p->keys, i, &none, out);
}

static bool event_id(const struct signal_batch *b, uint64_t i, struct value *out)
{
    const struct event_source *p = b->context;
    return plain_value(&p->heap, &p->ids[i], out);
}

struct one_event { struct value key, id; };

static bool one_event_key(const struct signal_batch *b, uint64_t i, struct value *out)
{
    (void)i;
    *out = ((const struct one_event *)b->context)->key;
    return true;
}

static bool one_event_id(const struct signal_batch *b, uint64_t i, struct value *out)
{
    (void)i;
    *out = ((const struct one_event *)b->context)->id;
    return true;
}

static eagre_status send_batch(eagre_db *handle, struct signal_batch *b, uint64_t *applied, struct error *e)
{
    uint64_t done = 0;
    struct database *db = use_database(handle, e);
    if (applied)
        *applied = 0;
    if (!db)
        return e->code;
    status s = signal_many(db, b, &done, e);
    database_leave(db);
    if (applied)
        *applied = done;
    return s;
}

eagre_status eagre_signal_key(eagre_db *db, uint32_t signal, const eagre_value *key, double weight, int64_t time, const eagre_value *id,
                              const void *heap, size_t heap_length, eagre_error *error)
{
    struct error e;
    e.position = -1;
    struct heap h = {heap, heap_length};
    struct value k;
    status s = refuse_forked(&e);
    if (!s)
        s = take_key(&h, key, &k, &e);
    if (s)
        return give_error(&e, s, error);
    if (!id || id->type == EAGRE_NULL)
        return give_error(&e, signal_by_key((struct shell *)db, signal, &k, weight, time, &e), error);
    struct one_event source = {.key = k};
    if (!plain_value(&h, id, &source.id))
        return give_error(&e, wrong_argument(&e, "id: it lies outside the heap or is no id"), error);
    struct signal_batch b = {.signal = signal, .n = 1, .key = one_event_key, .event_id = one_event_id, .context = &source, .weights = &weight, .at = &time};
    return give_error(&e, send_batch(db, &b, NULL, &e), error);
}

eagre_status eagre_signal_many(eagre_db *db, uint32_t signal, uint64_t n, const uint64_t *handles, const eagre_column *keys,
                               const double *weights, const int64_t *times, const eagre_value *ids, const void *heap, size_t heap_length,
                               uint64_t *applied, eagre_error *error)
{
    struct error e = {.position = -1};
    struct event_source source = {.heap = {heap, heap_length}, .keys = keys, .ids = ids};
    struct signal_batch b = {.signal = signal, .n = n, .handles = handles, .key = event_key, .event_id = ids ? event_id : NULL, .context = &source,
                             .weights = weights, .at = times};
    status s = refuse_forked(&e);
    if (!s && !handles)
        s = keys ? check_column(&source.heap, keys, n, true, &e) : wrong_argument(&e, "keys: NULL, and no handles");
    return give_error(&e, s ? s : send_batch(db, &b, applied, &e), error);
}
