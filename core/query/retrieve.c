/* SPDX-License-Identifier: MIT */
/* A RETRIEVE from end to end: bind, then inside one read section scan, place the page and copy it out, then leave. The memory for all of that is made
 * before the section; where it proves too small (DIVERSITY passed over more than expected) the section ends, more is made, and the run
 * starts anew, so that an answer always comes from one section. */
#include "query/retrieve.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/publish.h"
#include "base/reclaim.h"

/* Signals by index, and whether all that the plan uses is still there. */
static status find_signals(struct run *r)
{
    if (kind_dropped(r->kind))
        return fail(r->error, STATUS_STALE, -1, "kind '%s' was dropped", r->kind->name);
    for (unsigned i = 0; i < r->plan->n_signals; i++) {
        unsigned index = r->plan->signals[i];
        r->signals[index] = kind_signal_rcu(r->kind, index);
        if (!r->signals[index])
            return fail(r->error, STATUS_STALE, -1, "signal '%s' of '%s' was dropped", r->kind->signals[index].def->name, r->kind->name);
    }
    return STATUS_OK;
}

/* The newest event of any living item: cells of the dead may still be there. */
static int64_t newest_event(struct run *r, const struct signal *s)
{
    int64_t newest = INT64_MIN;
    for (uint32_t slot = 0; slot < r->n_slots; slot += BLOCK) {
        unsigned n = r->n_slots - slot < BLOCK ? r->n_slots - slot : BLOCK;
        block_rows(r->kind, slot, n, r->rows);
        signal_read_block(s, READ_LAST, 0, r->now, slot, n, NULL, r->times);
        for (unsigned i = 0; i < n; i++)
            if (r->times[i] > newest && r->rows[i] && !items_expired(r->kind, r->rows[i], gone_by(r)))
                newest = r->times[i];
    }
    return newest;
}

/* AT moves the clock, never the data: not to before an event that would be counted. */
static status check_moment(struct run *r)
{
    if (!r->asked_moment)
        return STATUS_OK;
    for (unsigned i = 0; i < r->plan->n_signals; i++) {
        const struct signal *s = r->signals[r->plan->signals[i]];
        if (signal_newest_bound(s) <= r->now)
            continue;
        int64_t newest = newest_event(r, s);
        if (newest > r->now)
            return fail(r->error, STATUS_MOMENT, -1, "the moment %" PRId64 " is before the newest event of signal '%s', %" PRId64, r->now,
                        signal_definition(s)->name, newest);
    }
    return STATUS_OK;
}

static void first_needs(const struct run *r, struct page_needs *needs)
{
    size_t limit = r->limit < r->n_slots ? (size_t)r->limit : r->n_slots;
    *needs = (struct page_needs){.k = limit};
    if (r->plan->n_diversity && limit) {
        needs->k = 4 * limit + 64 + r->place.n_passed;
        needs->tokens = 2 * needs->k * r->plan->n_diversity;
        needs->scratch = 64 * needs->tokens + 8 * needs->k + 64 * limit;
    }
}

/* One attempt, in one section. *again: it did not have the memory; needs says how much. */
static status attempt(struct run *r, struct page_needs *needs, struct output *out, double *terms, double *scores, size_t *n_rows, bool *again)
{
    struct page page = {0};
    *again = false;
    reclaim_enter(); /* RCU: protects rows, columns, keyword sets and signals; everything is copied out before it ends */
    status s = find_signals(r);
    if (!s)
        s = check_moment(r);
    if (!s)
        s = scan_run(r, r->memory_k);
    if (!s)
        page_build(r, needs, &page, again);
    if (!s && !*again) {
        result_page(r, &page, out);
        *n_rows = page.n;
        for (size_t i = 0; scores && i < page.n; i++)
            scores[i] = page.rows[i].score;
        if (terms)
            explain_terms(r, &page, terms);
    }
    reclaim_leave();
    return s;
}

static status explain(struct run *r, int64_t started, struct output *out, size_t n_rows, const double *scores, const double *terms)
{
    struct buffer json = {0};
    status s = explain_report(r, n_rows, scores, terms, clock_monotonic() - started, &json);
    if (!s)
        result_explain(out, (const char *)json.data, json.length);
    else
        fail(r->error, s, -1, "no memory for EXPLAIN's report");
    buffer_free(&json);
    return s;
}

static status run_bound(struct run *r, struct output *out)
{
    int64_t started = clock_monotonic();
    bool explains = r->plan->ast->retrieve.explain;
    /* ORDER: acquire: pairs with the release in items_put_w; every slot below it has its row. */
    r->n_slots = take(&r->kind->n_slots);
    const size_t rows = r->n_slots < r->limit ? r->n_slots : (size_t)r->limit;
    r->page_rows = arena_alloc(r->arena, sizeof *r->page_rows * (rows + 1));
    double *scores = explains ? arena_alloc(r->arena, sizeof *scores * (rows + 1)) : NULL;
    double *terms = explains ? arena_alloc(r->arena, sizeof *terms * (rows * r->plan->n_terms + 1)) : NULL;
    if (!r->page_rows || (explains && (!scores || !terms)))
        return fail(r->error, STATUS_NO_MEMORY, -1, "no memory to rank the rows");
    struct page_needs needs;
    first_needs(r, &needs);
    for (;;) {
        size_t n_rows = 0;
        if (needs.k > r->n_slots)
            needs.k = r->n_slots;
        r->memory_k = needs.k;
        status s = page_prepare(r, &needs);
        bool again;
        if (!s)
            s = attempt(r, &needs, out, terms, scores, &n_rows, &again);
        if (s)
            return s;
        if (!again)
            return explains ? explain(r, started, out, n_rows, scores, terms) : STATUS_OK;
    }
}

status retrieve_run(const struct retrieve_request *request, struct output *out, struct error *e)
{
    struct error unused;
    struct arena *arena = arena_create();
    struct run *r = arena ? arena_alloc(arena, sizeof *r) : NULL;
    if (!r) {
        arena_destroy(arena);
        return fail(e, STATUS_NO_MEMORY, -1, "no memory to run the statement");
    }
    r->plan = request->plan;
    r->kind = request->plan->kind;
    r->arena = arena;
    r->error = e ? e : &unused;
    r->params = request->params;
    r->n_params = request->n_params;
    r->clock = request->clock;
    r->now = request->now;
    r->asked_moment = request->asked_moment;
    r->deadline = request->deadline;
    r->db_id = request->db_id;
    status s = bind_run(r);
    if (!s)
        s = run_bound(r, out);
    mem_free(r->lanes);
    arena_destroy(arena);
    if (!s && out->needed > out->capacity)
        return fail(e, STATUS_BUFFER_TOO_SMALL, -1, "the answer needs %zu bytes, the buffer has %zu", out->needed, out->capacity);
    return s;
}
