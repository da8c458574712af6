/* SPDX-License-Identifier: MIT */
/* The one door for statements: prepared once, immutable, run by any number of threads. */
#ifndef EAGRE_ENGINE_STATEMENT_H
#define EAGRE_ENGINE_STATEMENT_H

#include "engine/database.h"
#include "query/result.h"

struct statement; /* holds a reference to its database */

struct run_request {
    const struct value *params;
    unsigned n_params;
    const int64_t *now;   /* NULL: the clock */
    int64_t budget;       /* microseconds; < 0: none */
};

status statement_prepare(struct database *db, const char *text, size_t length, struct statement **out, struct error *e);
void statement_free(struct statement *s);
status statement_run(struct statement *s, const struct run_request *request, struct output *out, struct error *e);
/* Several statements that give no rows, separated by ';'. Positions count from the start of the whole text. */
status statements_exec(struct database *db, const char *text, size_t length, struct error *e);

#endif
