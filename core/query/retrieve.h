/* SPDX-License-Identifier: MIT */
/* RETRIEVE: a plan run with parameters, its answer in the caller's buffer. */
#ifndef EAGRE_QUERY_RETRIEVE_H
#define EAGRE_QUERY_RETRIEVE_H

#include "base/buffer.h"
#include "query/result.h"

struct retrieve_request {
    const struct plan *plan;
    const struct value *params;
    unsigned n_params;
    int64_t clock;
    int64_t now;          /* the clock, or the caller's moment */
    bool asked_moment;    /* the caller's */
    int64_t deadline;     /* on the monotonic clock; 0: none */
    uint64_t db_id;       /* binds cursors to the database */
};

/* Any number of threads at once; enters a read section of its own. */
status retrieve_run(const struct retrieve_request *request, struct output *out, struct error *e);

/* explain.c: the report of EXPLAIN, as JSON. `terms`: n_terms values for each row, taken inside the section by explain_terms. */
void explain_terms(struct run *r, const struct page *page, double *terms);
status explain_report(const struct run *r, size_t n_rows, const double *scores, const double *terms, int64_t microseconds, struct buffer *out);

#endif
