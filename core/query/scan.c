/* SPDX-License-Identifier: MIT */
/* Candidates -> WHERE -> EXCLUDE -> the cursor's place -> score -> the k best.
 *
 * Every row of the kind is looked at (the scan), or, when WHERE requires a keyword or a key that few rows have, only those rows (a driven
 * search); both apply the whole condition to each row, so they give the same answer. Inside the caller's read section: no lock, no allocation, no
 * wait. Column reads are checked by the block's sequence word; a block that moved is done again from its rows' records. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/publish.h"
#include "query/run.h"

enum { MAX_DRIVE_KEYWORDS = 8, CURSOR_BATCH = 64, DEADLINE_BLOCKS = 64 };

struct scan {
    struct run *r;
    struct topk best;
    uint64_t eligible;  /* rows that could stand on this or a later page */
    uint64_t until_check; /* blocks until the deadline is looked at */
    bool stop;
    bool late;
    uint8_t alive[BLOCK_MAX];
};

uint32_t slot_generation(const struct kind *k, uint32_t slot)
{
    const uint32_t *g = chunks_at(&k->generations, slot);
    /* ORDER: relaxed: the row was taken by an acquire load after this generation was stored; a later death adds one, undone here. */
    uint32_t generation = g ? load_relaxed(g) : 0;
    return generation & 1 ? generation : generation - 1;
}

static bool listed(const struct kind *k, const uint32_t *slots, const uint32_t *generations, uint32_t n, uint32_t slot)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (slots[middle] < slot)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && slots[low] == slot && generations[low] == slot_generation(k, slot);
}

/* May the candidate stand on this page or a later one? */
static bool is_ahead(const struct run *r, const struct candidate *c)
{
    const struct place *p = &r->place;
    if (!p->set)
        return true;
    if (listed(r->kind, p->shown, p->shown_generations, p->n_shown, c->slot))
        return false;
    return ranks_behind_place(r, c) || listed(r->kind, p->passed, p->passed_generations, p->n_passed, c->slot);
}

/* The rows in hand that pass WHERE and EXCLUDE: their indexes. */
static unsigned passing(struct scan *s, unsigned n, const uint8_t *truth, uint16_t *out)
{
    struct run *r = s->r;
    unsigned m = 0;
    for (unsigned i = 0; i < n; i++)
        if (s->alive[i] && (!truth || truth[i] == TRUTH_TRUE))
            out[m++] = (uint16_t)i;
    if (r->exclude.n_texts || r->exclude.n_numbers) {
        unsigned kept = 0;
        for (unsigned j = 0; j < m; j++)
            if (!match_key(&r->exclude, r->rows[out[j]], r->kind->integer_keys))
                out[kept++] = out[j];
        m = kept;
    }
    return m;
}

/* Of a full heap; with LIMIT 0 it keeps nothing. */
static double worst_score(const struct topk *best)
{
    const struct candidate *worst = topk_worst(best);
    return worst ? worst->score : INFINITY;
}

static void offer(struct scan *s, const uint16_t *index, unsigned m)
{
    struct run *r = s->r;
    const double *scores = r->plan->has_score ? r->regs[r->plan->score.result].lane->real : NULL;
    /* Most rows of a scan score less than all that are kept: for them nothing else needs to be known. */
    bool quick = scores && !r->plan->n_order && !r->place.set;
    for (unsigned j = 0; j < m; j++) {
        unsigned i = index[j];
        if (quick && topk_full(&s->best) && scores[i] < worst_score(&s->best)) {
            s->eligible++;
            continue;
        }
        struct candidate c = {.score = scores ? scores[i] : 0.0, .slot = r->slots[i], .row = r->rows[i]};
        if (!is_ahead(r, &c))
            continue;
        s->eligible++;
        topk_offer(&s->best, &c);
    }
}

/* WHERE and score of the n rows in hand, by columns from `first` on or by records. Returns how many pass. */
static unsigned evaluate(struct scan *s, bool consecutive, unsigned n, uint16_t *index)
{
    struct run *r = s->r;
    const struct plan *p = r->plan;
    const uint8_t *truth = NULL;
    if (p->has_where) {
        if (consecutive)
            gather_block(r, &p->where, r->slots[0], n);
        else
            gather_rows(r, &p->where, n);
        run_section(r, &p->where, n);
        truth = r->regs[p->where.result].nulls;
    }
    unsigned m = passing(s, n, truth, index);
    if (m && p->has_score) {
        if (consecutive)
            gather_block(r, &p->score, r->slots[0], n);
        else
            gather_rows(r, &p->score, n);
        run_section(r, &p->score, n);
        r->work.rows_scored += n;
    }
    return m;
}

static void take_rows(struct scan *s, const uint16_t *index, unsigned m, unsigned n)
{
    struct run *r = s->r;
    r->total += m;
    r->work.rows_looked_at += n;
    offer(s, index, m);
    /* Slot order: what follows ranks behind all there is. */
    bool ordered = !r->plan->has_score && !r->plan->n_order && r->work.driver != DRIVE_KEYS;
    if (ordered && !r->plan->ast->retrieve.count && s->eligible > s->best.k)
        s->stop = true;
    if (r->deadline && s->until_check-- == 0) {
        s->until_check = DEADLINE_BLOCKS;
        if (clock_monotonic() >= r->deadline)
            s->stop = s->late = true;
    }
}

static bool any(const uint8_t *flags, unsigned n)
{
    return memchr(flags, 1, n) != NULL;
}

/* ---- The scan ---------------------------------------------------------------------------------------------------------- */

static void alive_from_columns(struct scan *s, const struct field *expires, uint32_t slot, unsigned n)
{
    struct run *r = s->r;
    const int64_t gone = gone_by(r);
    for (unsigned i = 0; i < n; i++)
        s->alive[i] = r->rows[i] != NULL;
    if (!expires || !any(s->alive, n))
        return;
    block_ints(expires, slot, n, r->times);
    for (unsigned i = 0; i < n; i++)
        s->alive[i] &= r->times[i] == INT64_MIN || r->times[i] > gone;
}

static void alive_from_rows(struct scan *s, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        s->alive[i] = s->r->rows[i] && !items_expired(s->r->kind, s->r->rows[i], gone_by(s->r));
}

static void scan_block(struct scan *s, uint32_t block)
{
    struct run *r = s->r;
    uint16_t index[BLOCK_MAX];
    uint32_t slot = block * BLOCK;
    unsigned n = r->n_slots - slot < BLOCK ? r->n_slots - slot : BLOCK;
    uint32_t start = block_begin(r->kind, block);
    block_rows(r->kind, slot, n, r->rows);
    for (unsigned i = 0; i < n; i++)
        r->slots[i] = slot + i;
    /* ORDER: acquire inside take(): pairs with the release of the field's pointer in catalog_add_fields. */
    const struct field *expires = take(&r->kind->expires);
    alive_from_columns(s, expires, slot, n);
    unsigned m = any(s->alive, n) ? evaluate(s, true, n, index) : 0;
    if (block_moved(r->kind, block, start)) {
        r->work.blocks_moved++;
        alive_from_rows(s, n);
        m = any(s->alive, n) ? evaluate(s, false, n, index) : 0;
    }
    r->work.blocks++;
    take_rows(s, index, m, n);
}

static void scan_all(struct scan *s)
{
    struct run *r = s->r;
    uint32_t blocks = r->n_slots / BLOCK + (r->n_slots % BLOCK != 0);
    uint32_t first = 0;
    if (!r->plan->has_score && !r->plan->n_order && r->place.set && !r->place.n_passed && !r->plan->ast->retrieve.count)
        first = r->place.last.slot / BLOCK; /* slot order: the pages before end there */
    for (uint32_t b = first; b < blocks && !s->stop; b++)
        scan_block(s, b);
}

/* ---- The driven search ------------------------------------------------------------------------------------------------- */

/* Looks at the n slots gathered in r->slots. */
static void driven_rows(struct scan *s, unsigned n)
{
    struct run *r = s->r;
    uint16_t index[BLOCK_MAX];
    if (!n)
        return;
    for (unsigned i = 0; i < n; i++)
        block_rows(r->kind, r->slots[i], 1, &r->rows[i]);
    alive_from_rows(s, n);
    unsigned m = any(s->alive, n) ? evaluate(s, false, n, index) : 0;
    take_rows(s, index, m, n);
}

/* Several keywords' slots in ascending order, each once. */
struct merge {
    unsigned n;
    struct { struct postings_cursor cursor; uint32_t slots[CURSOR_BATCH]; unsigned at, have; } sides[MAX_DRIVE_KEYWORDS];
};

static bool merge_fill(struct merge *m, unsigned i)
{
    if (m->sides[i].at < m->sides[i].have)
        return true;
    m->sides[i].at = 0;
    m->sides[i].have = postings_next(&m->sides[i].cursor, m->sides[i].slots, CURSOR_BATCH);
    return m->sides[i].have > 0;
}

static bool merge_next(struct merge *m, uint32_t *slot)
{
    bool found = false;
    for (unsigned i = 0; i < m->n; i++)
        if (merge_fill(m, i) && (!found || m->sides[i].slots[m->sides[i].at] < *slot)) {
            *slot = m->sides[i].slots[m->sides[i].at];
            found = true;
        }
    for (unsigned i = 0; found && i < m->n; i++)
        if (merge_fill(m, i) && m->sides[i].slots[m->sides[i].at] == *slot)
            m->sides[i].at++;
    return found;
}

static void drive_keywords(struct scan *s, const struct match *m, const struct bound_match *b)
{
    struct run *r = s->r;
    struct merge merge;
    merge.n = b->n_numbers;
    for (unsigned i = 0; i < merge.n; i++) {
        postings_open(m->field->dictionary, (uint32_t)b->numbers[i], &merge.sides[i].cursor);
        merge.sides[i].at = merge.sides[i].have = 0;
    }
    uint32_t slot = 0;
    unsigned n = 0;
    while (!s->stop && merge_next(&merge, &slot)) {
        if (slot >= r->n_slots)
            break;
        r->slots[n++] = slot;
        if (n == BLOCK_MAX) {
            driven_rows(s, n);
            n = 0;
        }
    }
    if (!s->stop)
        driven_rows(s, n);
}

static void drive_keys(struct scan *s, const struct bound_match *b)
{
    struct run *r = s->r;
    uint32_t count = r->kind->integer_keys ? b->n_numbers : b->n_texts;
    unsigned n = 0;
    for (uint32_t i = 0; i < count && !s->stop; i++) {
        struct key key = {0};
        if (r->kind->integer_keys)
            key.number = b->numbers[i];
        else
            key = (struct key){.bytes = b->texts[i].text, .length = b->texts[i].length};
        bool repeated = i && (r->kind->integer_keys ? b->numbers[i] == b->numbers[i - 1]
                                                     : value_text_compare(b->texts[i].text, b->texts[i].length, b->texts[i - 1].text, b->texts[i - 1].length) == 0);
        if (repeated || (!r->kind->integer_keys && (key.length == 0 || key.length > MAX_KEY)))
            continue;
        uint32_t generation;
        const struct row *row = items_find_rcu(r->kind, &key, gone_by(r), &generation);
        if (!row || row->slot >= r->n_slots)
            continue;
        r->slots[n++] = row->slot;
        if (n == BLOCK_MAX) {
            driven_rows(s, n);
            n = 0;
        }
    }
    if (!s->stop)
        driven_rows(s, n);
}

/* Rows a required match leaves, at most; UINT64_MAX when it can not drive. */
static uint64_t match_rows_at_most(const struct run *r, const struct match *m, const struct bound_match *b)
{
    if (m->test != TEST_EQ && m->test != TEST_IN)
        return UINT64_MAX;
    if (m->subject == MATCH_KEY)
        return r->kind->integer_keys ? b->n_numbers : b->n_texts;
    if (m->subject == MATCH_TEXT || b->n_numbers > MAX_DRIVE_KEYWORDS)
        return UINT64_MAX;
    uint64_t rows = 0;
    for (unsigned i = 0; i < b->n_numbers; i++)
        rows += postings_cardinality(m->field->dictionary, (uint32_t)b->numbers[i]);
    return rows;
}

static void choose_driver(struct run *r, const struct match **match, const struct bound_match **bound)
{
    const struct plan *p = r->plan;
    uint64_t best = r->n_slots / 4; /* a scattered row costs a few times a scanned one */
    r->work.driver = DRIVE_SCAN;
    if (p->ast->retrieve.exhaustive)
        return;
    for (unsigned i = 0; i < p->n_required; i++) {
        const struct match *m = &p->matches[p->required[i]];
        const struct bound_match *b = &r->matches[p->required[i]];
        uint64_t rows = match_rows_at_most(r, m, b);
        if (rows < best || (rows == 0 && best == 0)) {
            best = rows;
            *match = m;
            *bound = b;
            r->work.driver = m->subject == MATCH_KEY ? DRIVE_KEYS : DRIVE_KEYWORDS;
        }
    }
    r->work.driver_rows = best;
    r->work.driven_by = r->work.driver == DRIVE_SCAN ? NULL : *match;
}

status scan_run(struct run *r, size_t k)
{
    struct scan s = {.r = r};
    const struct match *match = NULL;
    const struct bound_match *bound = NULL;
    topk_init(&s.best, r->candidates, k, r->plan->n_order ? sort_compare : NULL, r);
    r->total = 0;
    r->work.passes++;
    choose_driver(r, &match, &bound);
    if (r->work.driver == DRIVE_SCAN)
        scan_all(&s);
    else if (r->work.driver == DRIVE_KEYS)
        drive_keys(&s, bound);
    else
        drive_keywords(&s, match, bound);
    if (s.late)
        return fail(r->error, STATUS_DEADLINE, -1, "the deadline passed while rows were scored");
    topk_sort(&s.best);
    r->n_candidates = s.best.n;
    r->complete = s.eligible <= s.best.n;
    r->work.matches = r->total;
    return STATUS_OK;
}
