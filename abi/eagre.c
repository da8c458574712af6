/* SPDX-License-Identifier: MIT */
/* The C interface: check arguments -> call core -> copy out. No logic of its own. The only file that sees both eagre.h and core. */
#include "eagre/eagre.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "engine/change.h"
#include "engine/database.h"
#include "engine/handles.h"
#include "engine/statement.h"

#define X(name, number, text) _Static_assert(EAGRE_##name == (number), "eagre.h and status.h disagree on " #name);
STATUS_LIST(X)
#undef X
_Static_assert(sizeof(eagre_result) == sizeof(struct result_header) && sizeof(eagre_result_column) == sizeof(struct result_column), "layouts differ");
_Static_assert(offsetof(eagre_result, cursor_at) == offsetof(struct result_header, cursor_at), "layouts differ");
_Static_assert(offsetof(eagre_result_column, data_at) == offsetof(struct result_column, data_at), "layouts differ");
_Static_assert(EAGRE_RESULT_MAGIC == RESULT_MAGIC && EAGRE_RESULT_RELAXED == RESULT_RELAXED, "constants differ");
_Static_assert(sizeof(eagre_value) == sizeof(struct value) && EAGRE_VECTOR == VALUE_VECTOR && EAGRE_LIST == VALUE_LIST, "values differ");
_Static_assert(EAGRE_NOW == WALL_CLOCK && EAGRE_WALL_CLOCK == WALL_CLOCK, "constants differ");

/* ---- Errors -------------------------------------------------------------------------------------------------------------- */

/* Copies as much as the caller's struct has room for. */
static eagre_status give(const struct error *from, eagre_status s, eagre_error *to)
{
    if (s >= 0 || !to || to->struct_size < offsetof(eagre_error, text) + 1)
        return s;
    to->code = s;
    to->position = from->position;
    size_t room = to->struct_size - offsetof(eagre_error, text);
    size_t n = strnlen(from->text, sizeof from->text - 1);
    if (n > room - 1)
        n = room - 1;
    memcpy(to->text, from->text, n);
    to->text[n] = 0;
    return s;
}

static status wrong(struct error *e, const char *text)
{
    return fail(e, STATUS_INVALID, -1, "%s", text);
}

static status forked(struct error *e)
{
    return reclaim_forked() ? fail(e, STATUS_FORKED, -1, "the process was forked after this handle was opened") : STATUS_OK;
}

/* The database behind a handle, kept until leave(). NULL: a filled error. */
static struct database *use(const eagre_db *handle, struct error *e)
{
    if (forked(e))
        return NULL;
    reclaim_enter(); /* RCU: the database is not destroyed between the look at its handle and database_use */
    struct database *db = shell_open((const struct shell *)handle, SHELL_DATABASE, "db", e);
    if (db && !database_use(db)) {
        fail(e, STATUS_CLOSED, -1, "db: the handle is closed");
        db = NULL;
    }
    reclaim_leave();
    return db;
}

/* ---- Values: from the caller's heap to the engine's ---------------------------------------------------------------------- */

struct heap { const uint8_t *base; size_t length; };

static const void *at(const struct heap *h, uint64_t offset, uint64_t bytes)
{
    if (!h->base)
        return offset || bytes == 0 ? (const void *)(uintptr_t)(offset ? offset : 1) : NULL;
    return offset <= h->length && bytes <= h->length - offset ? h->base + offset : NULL;
}

static bool plain_value(const struct heap *h, const eagre_value *from, struct value *to)
{
    *to = (struct value){.type = from->type, .u = from->v.u};
    switch (from->type) {
    case EAGRE_NULL: case EAGRE_INT: case EAGRE_REAL: case EAGRE_TIME:
        return true;
    case EAGRE_UINT:
        if (from->v.u <= INT64_MAX)
            to->type = VALUE_INT;
        return true;
    case EAGRE_TEXT:
        to->length = from->length;
        to->text = at(h, from->v.at, from->length);
        return to->text != NULL;
    case EAGRE_VECTOR:
        to->length = from->length;
        to->vector = at(h, from->v.at, (uint64_t)from->length * sizeof(float));
        return to->vector != NULL && (uintptr_t)to->vector % sizeof(float) == 0;
    default:
        return false;
    }
}

/* Lists are translated into memory that lives until the call ends. */
struct scratch { struct value *lists; size_t used, capacity; };

static bool take_value(const struct heap *h, const eagre_value *from, struct scratch *s, struct value *to)
{
    if (from->type != EAGRE_LIST)
        return plain_value(h, from, to);
    const eagre_value *list = at(h, from->v.at, (uint64_t)from->length * sizeof *list);
    if (!list || (uintptr_t)list % _Alignof(eagre_value) || from->length > s->capacity - s->used)
        return false;
    struct value *copy = s->lists + s->used;
    s->used += from->length;
    for (uint32_t i = 0; i < from->length; i++)
        if (!plain_value(h, &list[i], &copy[i]))
            return false;
    *to = (struct value){.type = VALUE_LIST, .length = from->length, .list = copy};
    return true;
}

/* n values, with their lists, in memory that the caller frees; NULL: a filled error. */
static struct value *take_values(const struct heap *h, const eagre_value *from, uint32_t n, const char *what, struct error *e)
{
    if (n && !from) {
        fail(e, STATUS_INVALID, -1, "%s: NULL", what);
        return NULL;
    }
    size_t room = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (from[i].type == EAGRE_LIST && from[i].length > MAX_LIST) {
            fail(e, STATUS_LIMIT, -1, "%s: a list has at most %d elements, got %u", what, MAX_LIST, from[i].length);
            return NULL;
        }
        room += from[i].type == EAGRE_LIST ? from[i].length : 0;
    }
    struct value *values = mem_array(n + room + 1, sizeof *values);
    if (!values) {
        fail(e, STATUS_NO_MEMORY, -1, "no memory for the arguments");
        return NULL;
    }
    struct scratch s = {.lists = values + n, .capacity = room};
    for (uint32_t i = 0; i < n; i++)
        if (!take_value(h, &from[i], &s, &values[i])) {
            fail(e, STATUS_INVALID, -1, "%s: value %u lies outside the heap, is misaligned or has an unknown type %u", what, i + 1, from[i].type);
            mem_free(values);
            return NULL;
        }
    return values;
}

static status take_key(const struct heap *h, const eagre_value *from, struct value *to, struct error *e)
{
    if (!from)
        return wrong(e, "key: NULL");
    return plain_value(h, from, to) ? STATUS_OK : wrong(e, "key: it lies outside the heap or is no key");
}

/* ---- Version, status ------------------------------------------------------------------------------------------------------ */

#define TEXT_OF(x) #x
#define VERSION_TEXT(a, b, c) TEXT_OF(a) "." TEXT_OF(b) "." TEXT_OF(c)

const char *eagre_version(void)
{
    return VERSION_TEXT(EAGRE_VERSION_MAJOR, EAGRE_VERSION_MINOR, EAGRE_VERSION_PATCH);
}

uint32_t eagre_abi_version(void)
{
    return EAGRE_ABI_VERSION;
}

const char *eagre_status_name(eagre_status s)
{
    return status_name(s);
}

const char *eagre_status_text(eagre_status s)
{
    return status_text(s);
}

/* ---- Database ------------------------------------------------------------------------------------------------------------- */

eagre_status eagre_attach(void)
{
    if (reclaim_forked())
        return EAGRE_FORKED;
    reclaim_attach();
    return EAGRE_OK;
}

static status read_options(const eagre_options *o, struct database_options *out, struct error *e)
{
    *out = (struct database_options){.now = WALL_CLOCK};
    if (!o)
        return STATUS_OK;
    if (o->struct_size < sizeof *o)
        return wrong(e, "options.struct_size: sizeof(eagre_options) was expected");
    for (const uint8_t *p = (const uint8_t *)(o + 1); p < (const uint8_t *)o + o->struct_size; p++)
        if (*p)
            return fail(e, STATUS_UNSUPPORTED, -1, "options: this version does not know all that is set");
    if (o->flags & ~EAGRE_OPEN_MANUAL_CLOCK)
        return fail(e, STATUS_UNSUPPORTED, -1, "options.flags: unknown bits %#x", o->flags & ~EAGRE_OPEN_MANUAL_CLOCK);
    if (o->path)
        return fail(e, STATUS_UNSUPPORTED, -1, "options.path: a database lives in memory in this version");
    if (o->flags & EAGRE_OPEN_MANUAL_CLOCK) {
        if (o->now < TIME_MIN_US || o->now > TIME_MAX_US)
            return fail(e, STATUS_RANGE, -1, "options.now: a time from year 1 to 9999 was expected");
        out->now = o->now;
    }
    return STATUS_OK;
}

eagre_status eagre_open(const eagre_options *options, eagre_db **out, eagre_error *error)
{
    struct error e = {.position = -1};
    struct database_options o;
    struct database *db;
    if (!out)
        return give(&e, wrong(&e, "out: NULL"), error);
    *out = NULL;
    status s = forked(&e);
    if (!s)
        s = read_options(options, &o, &e);
    if (!s)
        s = database_open(&o, &db, &e);
    if (s)
        return give(&e, s, error);
    struct shell *shell = shell_make(SHELL_DATABASE, db);
    if (!shell) {
        database_close(db);
        return give(&e, fail(&e, STATUS_NO_MEMORY, -1, "no memory to open a database"), error);
    }
    if (options)
        mem_set_limit(options->memory_limit);
    *out = (eagre_db *)shell;
    return EAGRE_OK;
}

eagre_status eagre_close(eagre_db *handle)
{
    struct error e;
    if (!handle)
        return EAGRE_OK;
    if (reclaim_forked())
        return EAGRE_FORKED;
    struct database *db = shell_close((struct shell *)handle, SHELL_DATABASE, "db", &e);
    if (!db)
        return e.code;
    database_close(db);
    return EAGRE_OK;
}

eagre_status eagre_set_clock(eagre_db *handle, int64_t now, eagre_error *error)
{
    struct error e = {.position = -1};
    struct database *db = use(handle, &e);
    if (!db)
        return give(&e, e.code, error);
    status s = STATUS_OK;
    if (now != WALL_CLOCK && (now < TIME_MIN_US || now > TIME_MAX_US))
        s = fail(&e, STATUS_RANGE, -1, "now: a time from year 1 to 9999 was expected");
    else
        database_set_clock(db, now);
    database_leave(db);
    return give(&e, s, error);
}

/* ---- Statements ------------------------------------------------------------------------------------------------------------ */

eagre_status eagre_exec(eagre_db *handle, const char *text, size_t length, eagre_error *error)
{
    struct error e = {.position = -1};
    struct database *db = use(handle, &e);
    if (!db)
        return give(&e, e.code, error);
    status s = text ? statements_exec(db, text, length, &e) : wrong(&e, "text: NULL");
    database_leave(db);
    return give(&e, s, error);
}

eagre_status eagre_prepare(eagre_db *handle, const char *text, size_t length, eagre_stmt **out, eagre_error *error)
{
    struct error e = {.position = -1};
    struct statement *st = NULL;
    if (!out)
        return give(&e, wrong(&e, "out: NULL"), error);
    *out = NULL;
    struct database *db = use(handle, &e);
    if (!db)
        return give(&e, e.code, error);
    status s = text ? statement_prepare(db, text, length, &st, &e) : wrong(&e, "text: NULL");
    database_leave(db);
    if (s)
        return give(&e, s, error);
    *out = (eagre_stmt *)shell_make(SHELL_STATEMENT, st);
    if (*out)
        return EAGRE_OK;
    statement_free(st);
    return give(&e, fail(&e, STATUS_NO_MEMORY, -1, "no memory for a statement"), error);
}

eagre_status eagre_finalize(eagre_stmt *stmt)
{
    struct error e;
    if (!stmt)
        return EAGRE_OK;
    if (reclaim_forked())
        return EAGRE_FORKED;
    struct statement *st = shell_close((struct shell *)stmt, SHELL_STATEMENT, "stmt", &e);
    if (!st)
        return e.code;
    statement_free(st);
    return EAGRE_OK;
}

static status read_run_options(const eagre_run_options *o, struct run_request *r, struct error *e)
{
    r->budget = -1;
    if (!o)
        return STATUS_OK;
    if (o->struct_size < sizeof *o)
        return wrong(e, "options.struct_size: sizeof(eagre_run_options) was expected");
    for (const uint8_t *p = (const uint8_t *)(o + 1); p < (const uint8_t *)o + o->struct_size; p++)
        if (*p)
            return fail(e, STATUS_UNSUPPORTED, -1, "options: this version does not know all that is set");
    if (o->flags & ~(EAGRE_RUN_NOW | EAGRE_RUN_DEADLINE))
        return fail(e, STATUS_UNSUPPORTED, -1, "options.flags: unknown bits");
    if (o->flags & EAGRE_RUN_NOW) {
        if (o->now < TIME_MIN_US || o->now > TIME_MAX_US)
            return fail(e, STATUS_RANGE, -1, "options.now: a time from year 1 to 9999 was expected");
        r->now = &o->now;
    }
    if (o->flags & EAGRE_RUN_DEADLINE) {
        if (o->deadline < 0)
            return fail(e, STATUS_RANGE, -1, "options.deadline: microseconds from 0 on were expected");
        r->budget = o->deadline < INT64_MAX / 2 ? o->deadline : INT64_MAX / 2;
    }
    return STATUS_OK;
}

/* The caller's buffer for an answer. */
static status read_output(void *out, size_t capacity, size_t *needed, struct output *o, struct error *e)
{
    if (!needed)
        return wrong(e, "needed: NULL");
    *needed = 0;
    if ((uintptr_t)out % 8 != 0)
        return wrong(e, "out: it must be aligned to 8 bytes");
    *o = (struct output){.data = out, .capacity = out ? capacity : 0};
    return STATUS_OK;
}

eagre_status eagre_run(eagre_stmt *stmt, const eagre_value *parameters, uint32_t n, const void *heap, size_t heap_length,
                       const eagre_run_options *options, void *out, size_t capacity, size_t *needed, eagre_error *error)
{
    struct error e = {.position = -1};
    struct heap h = {heap, heap_length};
    struct run_request r = {.n_params = n};
    struct output o;
    status s = forked(&e);
    if (s)
        return give(&e, s, error);
    struct statement *st = shell_open((struct shell *)stmt, SHELL_STATEMENT, "stmt", &e);
    if (!st)
        return give(&e, e.code, error);
    s = read_output(out, capacity, needed, &o, &e);
    if (!s)
        s = read_run_options(options, &r, &e);
    if (!s && n > MAX_PARAMETER)
        s = fail(&e, STATUS_LIMIT, -1, "parameters: at most %d", MAX_PARAMETER);
    struct value *values = s ? NULL : take_values(&h, parameters, n, "parameters", &e);
    if (!s && !values)
        s = e.code;
    if (!s) {
        r.params = values;
        s = statement_run(st, &r, &o, &e);
        *needed = o.needed;
    }
    mem_free(values);
    return give(&e, s, error);
}

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
    const uint8_t *nulls = c->nulls_at == EAGRE_NO_NULLS ? NULL : at(h, c->nulls_at, row + 1);
    return nulls && nulls[row];
}

/* One cell of a column; the column was checked to lie in the heap. */
static bool column_cell(const struct heap *h, const eagre_column *c, uint64_t row, struct scratch *s, struct value *out)
{
    *out = (struct value){.type = VALUE_NULL};
    if (null_cell(h, c, row))
        return true;
    if (c->type == EAGRE_COLUMN_VALUES) {
        const eagre_value *values = at(h, c->at, 0);
        s->used = 0;
        return take_value(h, &values[row], s, out);
    }
    if (c->type == EAGRE_VECTOR) {
        const float *numbers = at(h, c->at, 0);
        *out = (struct value){.type = VALUE_VECTOR, .length = c->width, .vector = numbers + row * c->width};
        return true;
    }
    eagre_value v = {.type = c->type};
    v.v.u = ((const uint64_t *)at(h, c->at, 0))[row];
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
    const void *data = at(h, c->at, n * element);
    if (!data || (n && (uintptr_t)data % (c->type == EAGRE_VECTOR ? 4 : 8)) || (c->nulls_at != EAGRE_NO_NULLS && !at(h, c->nulls_at, n)))
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
        return wrong(e, keys ? "columns: NULL" : "keys: NULL");
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
        return wrong(e, "kind: NULL");
    if (flags & ~EAGRE_PATCH)
        return wrong(e, "flags: unknown bits");
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
    struct database *db = use(handle, &e);
    if (!db)
        return give(&e, e.code, error);
    status s = put_columns(db, kind, n_rows, keys, n_fields, fields, columns, &h, flags, &done, &e);
    database_leave(db);
    if (applied)
        *applied = done;
    return give(&e, s, error);
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
        return wrong(e, "kind: NULL");
    if (flags & ~EAGRE_PATCH)
        return wrong(e, "flags: unknown bits");
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
    struct database *db = use(handle, &e);
    if (!db)
        return give(&e, e.code, error);
    status s = put_one(db, kind, key, n, fields, values, &h, flags, &e);
    database_leave(db);
    return give(&e, s, error);
}

eagre_status eagre_delete(eagre_db *handle, const char *kind, const eagre_value *key, const void *heap, size_t heap_length, eagre_error *error)
{
    struct error e = {.position = -1};
    struct heap h = {heap, heap_length};
    struct value k;
    struct database *db = use(handle, &e);
    if (!db)
        return give(&e, e.code, error);
    status s = kind ? take_key(&h, key, &k, &e) : wrong(&e, "kind: NULL");
    if (!s)
        s = delete_item(db, kind, &k, &e);
    database_leave(db);
    return give(&e, s, error);
}

static status get_item(struct database *db, const char *kind, const struct value *key, struct output *o, struct error *e)
{
    struct key bytes;
    struct kind *k = database_kind(db, kind, e);
    if (!k)
        return e->code;
    status s = items_check_key(k, key, &bytes, e);
    if (s)
        return s;
    uint32_t generation;
    int64_t now = database_now(db);
    reclaim_enter(); /* RCU: protects the row; it is copied into the caller's buffer */
    const struct row *row = kind_dropped(k) ? NULL : items_find_rcu(k, &bytes, now, &generation);
    if (row)
        result_item(k, row, now, o);
    reclaim_leave();
    if (!row)
        return fail(e, STATUS_NOT_FOUND, -1, "kind '%s' has no item of that key", kind);
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
    struct database *db = use(handle, &e);
    if (!db)
        return give(&e, e.code, error);
    status s = read_output(out, capacity, needed, &o, &e);
    if (!s)
        s = kind ? take_key(&h, key, &k, &e) : wrong(&e, "kind: NULL");
    if (!s) {
        s = get_item(db, kind, &k, &o, &e);
        *needed = o.needed;
    }
    database_leave(db);
    return give(&e, s, error);
}

eagre_status eagre_count(eagre_db *handle, const char *kind, uint64_t *out, eagre_error *error)
{
    struct error e = {.position = -1};
    struct database *db = use(handle, &e);
    if (!db)
        return give(&e, e.code, error);
    struct kind *k = kind && out ? database_kind(db, kind, &e) : NULL;
    status s = !kind || !out ? wrong(&e, kind ? "out: NULL" : "kind: NULL") : k ? STATUS_OK : e.code;
    if (k)
        *out = items_count(k, database_now(db));
    database_leave(db);
    return give(&e, s, error);
}

/* ---- Signals ---------------------------------------------------------------------------------------------------------------- */

eagre_status eagre_signal_id(eagre_db *handle, const char *name, const char *kind, uint32_t *out, eagre_error *error)
{
    struct error e = {.position = -1};
    struct database *db = use(handle, &e);
    if (!db)
        return give(&e, e.code, error);
    status s = name && out ? signal_number(db, name, kind, out, &e) : wrong(&e, name ? "out: NULL" : "name: NULL");
    database_leave(db);
    return give(&e, s, error);
}

eagre_status eagre_handle(eagre_db *handle, const char *kind, const eagre_value *key, const void *heap, size_t heap_length, uint64_t *out,
                          eagre_error *error)
{
    struct error e = {.position = -1};
    struct heap h = {heap, heap_length};
    struct value k;
    struct database *db = use(handle, &e);
    if (!db)
        return give(&e, e.code, error);
    status s = kind && out ? take_key(&h, key, &k, &e) : wrong(&e, kind ? "out: NULL" : "kind: NULL");
    if (!s)
        s = handle_find(db, kind, &k, out, &e);
    database_leave(db);
    return give(&e, s, error);
}

eagre_status eagre_signal(eagre_db *db, uint32_t signal, uint64_t handle, double weight, int64_t time, eagre_error *error)
{
    struct error e;
    e.position = -1;
    status s = forked(&e);
    return give(&e, s ? s : signal_by_handle((struct shell *)db, signal, handle, weight, time, &e), error);
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
    struct database *db = use(handle, e);
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
    status s = forked(&e);
    if (!s)
        s = take_key(&h, key, &k, &e);
    if (s)
        return give(&e, s, error);
    if (!id || id->type == EAGRE_NULL)
        return give(&e, signal_by_key((struct shell *)db, signal, &k, weight, time, &e), error);
    struct one_event source = {.key = k};
    if (!plain_value(&h, id, &source.id))
        return give(&e, wrong(&e, "id: it lies outside the heap or is no id"), error);
    struct signal_batch b = {.signal = signal, .n = 1, .key = one_event_key, .event_id = one_event_id, .context = &source, .weights = &weight, .at = &time};
    return give(&e, send_batch(db, &b, NULL, &e), error);
}

eagre_status eagre_signal_many(eagre_db *db, uint32_t signal, uint64_t n, const uint64_t *handles, const eagre_column *keys,
                               const double *weights, const int64_t *times, const eagre_value *ids, const void *heap, size_t heap_length,
                               uint64_t *applied, eagre_error *error)
{
    struct error e = {.position = -1};
    struct event_source source = {.heap = {heap, heap_length}, .keys = keys, .ids = ids};
    struct signal_batch b = {.signal = signal, .n = n, .handles = handles, .key = event_key, .event_id = ids ? event_id : NULL, .context = &source,
                             .weights = weights, .at = times};
    status s = forked(&e);
    if (!s && !handles)
        s = keys ? check_column(&source.heap, keys, n, true, &e) : wrong(&e, "keys: NULL, and no handles");
    return give(&e, s ? s : send_batch(db, &b, applied, &e), error);
}

/* ---- About the database ------------------------------------------------------------------------------------------------------- */

static eagre_status report(eagre_db *handle, status (*make)(struct database *, struct buffer *), void *out, size_t capacity, size_t *needed,
                           eagre_error *error)
{
    struct error e = {.position = -1};
    struct buffer b = {0};
    struct database *db = use(handle, &e);
    if (!db)
        return give(&e, e.code, error);
    status s = needed ? make(db, &b) : wrong(&e, "needed: NULL");
    database_leave(db);
    if (s == STATUS_NO_MEMORY)
        fail(&e, s, -1, "no memory for the report");
    if (!s) {
        *needed = b.length;
        if (b.length > (out ? capacity : 0))
            s = fail(&e, STATUS_BUFFER_TOO_SMALL, -1, "the report needs %zu bytes, the buffer has %zu", b.length, out ? capacity : 0);
        else
            memcpy(out, b.data, b.length);
    }
    buffer_free(&b);
    return give(&e, s, error);
}

eagre_status eagre_schema(eagre_db *db, void *out, size_t capacity, size_t *needed, eagre_error *error)
{
    return report(db, database_schema, out, capacity, needed, error);
}

eagre_status eagre_stats(eagre_db *db, void *out, size_t capacity, size_t *needed, eagre_error *error)
{
    return report(db, database_stats, out, capacity, needed, error);
}

static eagre_status do_plain(eagre_db *handle, status (*work)(struct database *, struct error *), eagre_error *error)
{
    struct error e = {.position = -1};
    struct database *db = use(handle, &e);
    if (!db)
        return give(&e, e.code, error);
    status s = work(db, &e);
    database_leave(db);
    return give(&e, s, error);
}

eagre_status eagre_maintain(eagre_db *db, eagre_error *error)
{
    return do_plain(db, database_maintain, error);
}

eagre_status eagre_validate(eagre_db *db, eagre_error *error)
{
    return do_plain(db, database_validate, error);
}
