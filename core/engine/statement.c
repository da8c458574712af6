/* SPDX-License-Identifier: MIT */
#include "engine/statement.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/publish.h"
#include "engine/change.h"
#include "query/retrieve.h"

struct statement {
    struct database *db;
    struct plan *plan; /* RETRIEVE, or ... */
    struct ast *ast;   /* ... a schema change, done anew from its text */
};

status statement_prepare(struct database *db, const char *text, size_t length, struct statement **out, struct error *e)
{
    struct ast *ast;
    status s = parse_statement(text, length, &ast, NULL, e);
    if (s)
        return s;
    struct statement *st = mem_zalloc(sizeof *st);
    if (!st)
        s = fail(e, STATUS_NO_MEMORY, -1, "no memory for a statement");
    else if (ast->type == STATEMENT_RETRIEVE)
        s = plan_create(&db->catalog, ast, &st->plan, e);
    else
        st->ast = ast;
    if (s) {
        ast_free(ast);
        mem_free(st);
        return s;
    }
    st->db = db;
    database_keep(db);
    *out = st;
    return STATUS_OK;
}

void statement_free(struct statement *s)
{
    plan_free(s->plan);
    ast_free(s->ast);
    database_release(s->db);
    mem_free(s);
}

static status run_schema(struct statement *s, const struct run_request *request, struct output *out, struct error *e)
{
    if (request->n_params)
        return fail(e, STATUS_PARAMETER, -1, "the statement takes no parameters, %u given", request->n_params);
    const int64_t now = database_now(s->db);
    result_empty(now, out);
    if (out->needed > out->capacity) /* before anything has changed */
        return fail(e, STATUS_BUFFER_TOO_SMALL, -1, "the answer needs %zu bytes, the buffer has %zu", out->needed, out->capacity);
    struct change c = {.type = CHANGE_SCHEMA, .now = now, .text = s->ast->text, .length = s->ast->length};
    return change_apply(s->db, &c, e);
}

status statement_run(struct statement *s, const struct run_request *request, struct output *out, struct error *e)
{
    /* ORDER: acquire: pairs with database_close; a run that misses it is covered by the statement's reference. */
    if (take(&s->db->closed))
        return fail(e, STATUS_CLOSED, -1, "the database is closed");
    if (!s->plan)
        return run_schema(s, request, out, e);
    int64_t clock = database_now(s->db);
    struct retrieve_request r = {.plan = s->plan, .params = request->params, .n_params = request->n_params, .db_id = s->db->id,
                                 .clock = clock, .now = request->now ? *request->now : clock, .asked_moment = request->now != NULL,
                                 .deadline = request->budget < 0 ? 0 : clock_monotonic() + request->budget};
    return retrieve_run(&r, out, e);
}

status statements_exec(struct database *db, const char *text, size_t length, struct error *e)
{
    struct error unused;
    e = e ? e : &unused;
    size_t at = 0;
    while (at < length) {
        struct ast *ast;
        size_t used = 0;
        status s = parse_statement(text + at, length - at, &ast, &used, e);
        if (!s && !ast)
            return STATUS_OK; /* only blanks and comments were left */
        if (!s) {
            struct change c = {.type = CHANGE_SCHEMA, .now = database_now(db), .text = ast->text, .length = ast->length};
            s = change_apply(db, &c, e);
            ast_free(ast);
        }
        if (s) {
            if (e->position >= 0)
                e->position += (int64_t)at;
            return s;
        }
        at += used;
    }
    return STATUS_OK;
}
