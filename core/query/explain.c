/* SPDX-License-Identifier: MIT */
/* EXPLAIN: the plan, the work done, and every term of the score with its value for each row. */
#include <inttypes.h>

#include "base/buffer.h"
#include "query/retrieve.h"

static double term_value(const struct reg *reg, unsigned i)
{
    if (reg->class == REG_TRUTH)
        return reg->nulls[i] == TRUTH_TRUE;
    if (reg->has_null && reg->nulls[i])
        return 0;
    return reg->class == REG_INT ? (double)reg->lane->integer[i] : reg->lane->real[i];
}

void explain_terms(struct run *r, const struct page *page, double *terms)
{
    const struct plan *p = r->plan;
    for (size_t first = 0; p->has_score && first < page->n; first += BLOCK_MAX) {
        unsigned n = page->n - first < BLOCK_MAX ? (unsigned)(page->n - first) : BLOCK_MAX;
        for (unsigned i = 0; i < n; i++) {
            r->rows[i] = page->rows[first + i].row;
            r->slots[i] = page->rows[first + i].slot;
        }
        gather_rows(r, &p->score, n);
        run_section(r, &p->score, n);
        for (unsigned t = 0; t < p->n_terms; t++)
            for (unsigned i = 0; i < n; i++)
                terms[(first + i) * p->n_terms + t] = term_value(&r->regs[p->terms[t].reg], i);
    }
}

static void report_plan(const struct run *r, struct buffer *b)
{
    const struct work *w = &r->work;
    const char *how = w->driver == DRIVE_SCAN ? "scan" : w->driver == DRIVE_KEYS ? "keys" : "keywords";
    buffer_printf(b, "\"plan\":{\"candidates\":\"%s\"", how);
    if (w->driven_by) {
        const char *name = w->driven_by->field ? w->driven_by->field->def.name : "key";
        buffer_printf(b, ",\"driven_by\":");
        buffer_json_string(b, name, __builtin_strlen(name));
        buffer_printf(b, ",\"at_most\":%" PRIu64, w->driver_rows);
    }
    buffer_printf(b, ",\"order\":\"%s\",\"diversity_rules\":%u}", r->plan->n_order ? "fields" : r->plan->has_score ? "score" : "slot", r->plan->n_diversity);
}

static void report_work(const struct run *r, int64_t microseconds, struct buffer *b)
{
    const struct work *w = &r->work;
    buffer_printf(b, ",\"work\":{\"slots\":%u,\"blocks\":%" PRIu64 ",\"blocks_moved\":%u,\"rows_looked_at\":%" PRIu64 ",\"rows_scored\":%" PRIu64
                  ",\"matches\":%" PRIu64 ",\"passes\":%" PRIu64 ",\"microseconds\":%" PRId64 "}",
                  r->n_slots, w->blocks, w->blocks_moved, w->rows_looked_at, w->rows_scored, w->matches, w->passes, microseconds);
}

static void report_terms(const struct run *r, size_t n_rows, const double *scores, const double *terms, struct buffer *b)
{
    const struct plan *p = r->plan;
    buffer_printf(b, ",\"terms\":[");
    for (unsigned t = 0; t < p->n_terms; t++) {
        buffer_printf(b, "%s{\"depth\":%u,\"text\":", t ? "," : "", p->terms[t].depth);
        buffer_json_string(b, p->terms[t].text, p->terms[t].length);
        buffer_printf(b, "}");
    }
    buffer_printf(b, "],\"rows\":[");
    for (size_t i = 0; i < n_rows; i++) {
        buffer_printf(b, "%s{\"score\":%.17g,\"values\":[", i ? "," : "", scores[i]);
        for (unsigned t = 0; t < p->n_terms; t++)
            buffer_printf(b, "%s%.17g", t ? "," : "", terms[i * p->n_terms + t]);
        buffer_printf(b, "]}");
    }
    buffer_printf(b, "]");
}

status explain_report(const struct run *r, size_t n_rows, const double *scores, const double *terms, int64_t microseconds, struct buffer *b)
{
    buffer_printf(b, "{");
    report_plan(r, b);
    report_work(r, microseconds, b);
    report_terms(r, n_rows, scores, terms, b);
    buffer_printf(b, "}");
    return b->failed ? STATUS_NO_MEMORY : STATUS_OK;
}
