/* SPDX-License-Identifier: MIT */
/* The C interface: check arguments -> call core -> copy out. No logic of its own. abi/ is the only folder that sees both eagre.h and core. Here: version,
 * database, statements, reports. Items and signals: data.c. */
#include "arguments.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
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
    status s = check_options(o, sizeof *o, "eagre_options", e);
    if (s)
        return s;
    if (o->flags & ~EAGRE_OPEN_MANUAL_CLOCK)
        return fail(e, STATUS_UNSUPPORTED, -1, "options.flags: unknown bits %#x", o->flags & ~EAGRE_OPEN_MANUAL_CLOCK);
    if (o->path)
        return fail(e, STATUS_UNSUPPORTED, -1, "options.path: a database lives in memory in this version");
    if (o->flags & EAGRE_OPEN_MANUAL_CLOCK) {
        if (o->now < TIME_MIN_US || o->now > TIME_MAX_US)
            return fail(e, STATUS_RANGE, -1, "options.now: a time from year 1 to 9999 was expected");
        out->now = o->now;
    }
    out->memory_limit = o->memory_limit;
    return STATUS_OK;
}

eagre_status eagre_open(const eagre_options *options, eagre_db **out, eagre_error *error)
{
    struct error e = {.position = -1};
    struct database_options o;
    struct database *db;
    if (!out)
        return give_error(&e, wrong_argument(&e, "out: NULL"), error);
    *out = NULL;
    status s = reclaim_forked() ? fail(&e, STATUS_FORKED, -1, "the process was forked after it had used the library: start it by spawn, or open before any fork") : STATUS_OK;
    if (!s)
        s = read_options(options, &o, &e);
    if (!s)
        s = database_open(&o, &db, &e);
    if (s)
        return give_error(&e, s, error);
    struct shell *shell = shell_make(SHELL_DATABASE, db);
    if (!shell) {
        database_close(db);
        return give_error(&e, fail(&e, STATUS_NO_MEMORY, -1, "no memory to open a database"), error);
    }
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
    struct database *db = use_database(handle, &e);
    if (!db)
        return give_error(&e, e.code, error);
    status s = STATUS_OK;
    if (now != WALL_CLOCK && (now < TIME_MIN_US || now > TIME_MAX_US))
        s = fail(&e, STATUS_RANGE, -1, "now: a time from year 1 to 9999 was expected");
    else
        database_set_clock(db, now);
    database_leave(db);
    return give_error(&e, s, error);
}

/* ---- Statements ------------------------------------------------------------------------------------------------------------ */

eagre_status eagre_exec(eagre_db *handle, const char *text, size_t length, eagre_error *error)
{
    struct error e = {.position = -1};
    struct database *db = use_database(handle, &e);
    if (!db)
        return give_error(&e, e.code, error);
    status s = !text || length > PTRDIFF_MAX ? wrong_argument(&e, text ? "length: no text is that long" : "text: NULL") : statements_exec(db, text, length, &e);
    database_leave(db);
    return give_error(&e, s, error);
}

eagre_status eagre_prepare(eagre_db *handle, const char *text, size_t length, eagre_stmt **out, eagre_error *error)
{
    struct error e = {.position = -1};
    struct statement *st = NULL;
    if (!out)
        return give_error(&e, wrong_argument(&e, "out: NULL"), error);
    *out = NULL;
    struct database *db = use_database(handle, &e);
    if (!db)
        return give_error(&e, e.code, error);
    status s = text ? statement_prepare(db, text, length, &st, &e) : wrong_argument(&e, "text: NULL");
    database_leave(db);
    if (s)
        return give_error(&e, s, error);
    *out = (eagre_stmt *)shell_make(SHELL_STATEMENT, st);
    if (*out)
        return EAGRE_OK;
    statement_free(st);
    return give_error(&e, fail(&e, STATUS_NO_MEMORY, -1, "no memory for a statement"), error);
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
    status s = check_options(o, sizeof *o, "eagre_run_options", e);
    if (s)
        return s;
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

eagre_status eagre_run(eagre_stmt *stmt, const eagre_value *parameters, uint32_t n, const void *heap, size_t heap_length,
                       const eagre_run_options *options, void *out, size_t capacity, size_t *needed, eagre_error *error)
{
    struct error e = {.position = -1};
    struct heap h = {heap, heap_length};
    struct run_request r = {.n_params = n};
    struct output o;
    status s = refuse_forked(&e);
    if (s)
        return give_error(&e, s, error);
    struct statement *st = shell_open((struct shell *)stmt, SHELL_STATEMENT, "stmt", &e);
    if (!st)
        return give_error(&e, e.code, error);
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
    return give_error(&e, s, error);
}

/* ---- About the database ------------------------------------------------------------------------------------------------------- */

static eagre_status report(eagre_db *handle, status (*make)(struct database *, struct buffer *), void *out, size_t capacity, size_t *needed,
                           eagre_error *error)
{
    struct error e = {.position = -1};
    struct buffer b = {0};
    struct database *db = use_database(handle, &e);
    if (!db)
        return give_error(&e, e.code, error);
    status s = needed ? make(db, &b) : wrong_argument(&e, "needed: NULL");
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
    return give_error(&e, s, error);
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
    struct database *db = use_database(handle, &e);
    if (!db)
        return give_error(&e, e.code, error);
    status s = work(db, &e);
    database_leave(db);
    return give_error(&e, s, error);
}

eagre_status eagre_maintain(eagre_db *db, eagre_error *error)
{
    return do_plain(db, database_maintain, error);
}

eagre_status eagre_validate(eagre_db *db, eagre_error *error)
{
    return do_plain(db, database_validate, error);
}
