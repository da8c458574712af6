/* SPDX-License-Identifier: MIT */
/* From the best candidates to the rows of a page: diversity, and where the next page begins. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "query/run.h"
#include "rank/diversity.h"

/* One block of memory, made before the read section. */
struct page_memory {
    size_t k, tokens_capacity, scratch_bytes;
    uint32_t *offsets;         /* k * rules + 1 */
    uint64_t *tokens;
    void *scratch;
    uint32_t *chosen;
    uint8_t *placed;           /* by candidate */
    struct candidate *rows;
    const struct candidate **passed;
    uint32_t *history_offsets;
    uint64_t *history_tokens;
    struct diversity_rule rules[MAX_DIVERSITY_RULES];
};

static status no_memory(struct run *r)
{
    return fail(r->error, STATUS_NO_MEMORY, -1, "no memory to rank %zu rows", r->memory ? r->memory->k : 0);
}

static size_t history_tokens(const struct run *r)
{
    return r->place.n_history ? r->place.history_offsets[(size_t)r->place.n_history * r->plan->n_diversity] : 0;
}

status page_prepare(struct run *r, const struct page_needs *needs)
{
    unsigned rules = r->plan->n_diversity;
    size_t page = r->limit < needs->k ? (size_t)r->limit : needs->k;
    struct page_memory *m = arena_alloc(r->arena, sizeof *m);
    r->memory = m;
    if (!m)
        return no_memory(r);
    m->k = needs->k;
    r->candidates = arena_alloc(r->arena, sizeof *r->candidates * (needs->k + 1));
    m->rows = r->candidates;
    if (!r->candidates)
        return no_memory(r);
    if (!rules)
        return STATUS_OK;
    m->tokens_capacity = needs->tokens;
    m->scratch_bytes = needs->scratch;
    size_t history_rows = r->place.n_history + page + 1;
    m->offsets = arena_alloc(r->arena, sizeof *m->offsets * (needs->k * rules + 1));
    m->tokens = arena_alloc(r->arena, sizeof *m->tokens * (needs->tokens + 1));
    m->scratch = arena_alloc(r->arena, needs->scratch + 8);
    m->chosen = arena_alloc(r->arena, sizeof *m->chosen * (page + 1));
    m->placed = arena_alloc(r->arena, needs->k + 1);
    m->rows = arena_alloc(r->arena, sizeof *m->rows * (page + 1));
    m->passed = arena_alloc(r->arena, sizeof *m->passed * (MAX_PASSED_OVER + 1));
    m->history_offsets = arena_alloc(r->arena, sizeof *m->history_offsets * (history_rows * rules + 1));
    m->history_tokens = arena_alloc(r->arena, sizeof *m->history_tokens * (history_tokens(r) + needs->tokens + 1));
    if (!m->offsets || !m->tokens || !m->scratch || !m->chosen || !m->placed || !m->rows || !m->passed || !m->history_offsets || !m->history_tokens)
        return no_memory(r);
    for (unsigned i = 0; i < rules; i++) {
        const struct diversity_clause *d = &r->plan->diversity[i];
        double share = floor(d->share * (double)r->limit);
        m->rules[i] = (struct diversity_rule){.most = d->window ? d->most : share < 1 ? 1 : (uint32_t)share, .window = d->window};
    }
    return STATUS_OK;
}

/* ---- Tokens: what the rules look at ------------------------------------------------------------------------------------ */

static size_t row_tokens(const struct field *f, const struct row *row, uint64_t *out)
{
    if (row_null(row, f->index))
        return 0;
    if (f->def.type == FIELD_INTEGER) {
        if (out)
            out[0] = (uint64_t)row_int(row, f->index);
        return 1;
    }
    if (f->def.type == FIELD_KEYWORD) {
        if (out)
            out[0] = row_keyword(row, f->index);
        return 1;
    }
    unsigned n;
    const uint32_t *ids = row_keywords(row, f->index, &n);
    for (unsigned i = 0; out && i < n; i++)
        out[i] = ids[i];
    return n;
}

/* False: more room is needed. */
static bool fill_tokens(struct run *r, size_t *needed)
{
    struct page_memory *m = r->memory;
    const struct plan *p = r->plan;
    size_t at = 0, cell = 0;
    for (size_t i = 0; i < r->n_candidates; i++)
        for (unsigned j = 0; j < p->n_diversity; j++) {
            const struct row *row = r->candidates[i].row;
            size_t n = row_tokens(p->diversity[j].field, row, NULL);
            if (at + n <= m->tokens_capacity) {
                m->offsets[cell++] = (uint32_t)at;
                row_tokens(p->diversity[j].field, row, m->tokens + at);
            }
            at += n;
        }
    *needed = at;
    if (at > m->tokens_capacity)
        return false;
    m->offsets[cell] = (uint32_t)at;
    return true;
}

/* The rows that PER windows of the next page reach back to: the last w - 1 of all shown so far. */
static void fill_history(struct run *r, struct page *page)
{
    struct page_memory *m = r->memory;
    const struct place *p = &r->place;
    unsigned rules = r->plan->n_diversity;
    uint32_t reach = 0;
    for (unsigned i = 0; i < rules; i++)
        if (m->rules[i].window > reach + 1)
            reach = m->rules[i].window - 1;
    size_t all = p->n_history + page->n, skip = all > reach ? all - reach : 0;
    size_t at = 0, cell = 0;
    for (size_t row = skip; row < all; row++)
        for (unsigned j = 0; j < rules; j++) {
            bool old = row < p->n_history;
            size_t first = old ? row * rules + j : (size_t)m->chosen[row - p->n_history] * rules + j;
            const uint32_t *offsets = old ? p->history_offsets : m->offsets;
            const uint64_t *tokens = old ? p->history_tokens : m->tokens;
            uint32_t n = offsets[first + 1] - offsets[first];
            m->history_offsets[cell++] = (uint32_t)at;
            memcpy(m->history_tokens + at, tokens + offsets[first], n * sizeof *tokens);
            at += n;
        }
    m->history_offsets[cell] = (uint32_t)at;
    page->n_history = (uint32_t)(all - skip);
    page->history_offsets = m->history_offsets;
    page->history_tokens = m->history_tokens;
}

static void set_frontier(struct run *r, struct page *page, const struct candidate *last)
{
    page->last = (struct candidate){.row = NULL};
    if (last && (!r->place.set || ranks_behind_place(r, last)))
        page->last = *last;
}

/* Was it passed over by an earlier page? */
static bool waited(const struct run *r, const struct candidate *c)
{
    return r->place.set && !ranks_behind_place(r, c);
}

static bool place_diverse(struct run *r, struct page_needs *needs, struct page *page)
{
    struct page_memory *m = r->memory;
    if (!fill_tokens(r, &needs->tokens))
        return false;
    struct diversity_input in = {
        .n_rules = r->plan->n_diversity, .rules = m->rules, .n = r->n_candidates, .offsets = m->offsets, .tokens = m->tokens,
        .complete = r->complete, .n_history = r->place.n_history, .history_offsets = r->place.history_offsets,
        .history_tokens = r->place.history_tokens, .most_passed_over = MAX_PASSED_OVER};
    size_t page_limit = r->limit < r->n_candidates ? (size_t)r->limit : r->n_candidates;
    size_t scratch = diversity_scratch(&in, page_limit);
    if (scratch > m->scratch_bytes) {
        needs->scratch = scratch;
        return false;
    }
    struct diversity_output out = {.chosen = m->chosen};
    diversity_place(&in, page_limit, &out, m->scratch, m->scratch_bytes);
    if (out.starved || (!r->complete && out.n < r->limit)) {
        needs->k *= 4;
        needs->tokens *= 4;
        needs->scratch *= 4;
        return false;
    }
    memset(m->placed, 0, r->n_candidates);
    for (size_t i = 0; i < out.n; i++) {
        m->rows[i] = r->candidates[m->chosen[i]];
        m->placed[m->chosen[i]] = 1;
    }
    page->rows = m->rows;
    page->n = out.n;
    page->relaxed = out.relaxed;
    /* Those that wait since an earlier page stand first, and go on waiting even where this page did not look at them. */
    for (size_t i = 0; i < r->n_candidates && (i < out.frontier || waited(r, &r->candidates[i])); i++)
        if (!m->placed[i])
            m->passed[page->n_passed++] = &r->candidates[i];
    page->passed = m->passed;
    page->more = page->n_passed || out.frontier < r->n_candidates || !r->complete;
    fill_history(r, page);
    set_frontier(r, page, out.frontier ? &r->candidates[out.frontier - 1] : NULL);
    return true;
}

void page_build(struct run *r, struct page_needs *needs, struct page *page, bool *again)
{
    *page = (struct page){.rows = r->candidates};
    *again = false;
    if (r->limit == 0)
        return;
    if (r->plan->n_diversity) {
        *again = !place_diverse(r, needs, page);
        return;
    }
    page->n = r->n_candidates < r->limit ? r->n_candidates : (size_t)r->limit;
    page->more = !r->complete || page->n < r->n_candidates;
    set_frontier(r, page, page->n ? &r->candidates[page->n - 1] : NULL);
}
