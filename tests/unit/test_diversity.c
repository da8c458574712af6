/* SPDX-License-Identifier: MIT */
/* Diversity by hand, and thousands of random pages against an oracle that does literally what docs/language.md says. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "effort.h"

#include "base/hash.h"
#include "rank/diversity.h"

static uint64_t seed = 1;

static uint32_t below(uint32_t n)
{
    return (uint32_t)(mix64(seed++) % n);
}

/* ---- the oracle: whole rows are compared, nothing is remembered but what is chosen and what was passed over ---- */

enum { MOST_ROWS = 200, MOST_RULES = 3, MOST_TOKENS = 5 };

struct row {
    unsigned n[MOST_RULES];
    uint64_t tokens[MOST_RULES][MOST_TOKENS];
};
static struct row history[MOST_ROWS], candidates[MOST_ROWS];

struct oracle {
    const struct diversity_input *in;
    uint32_t chosen[MOST_ROWS];
    size_t n, frontier;
    bool taken[MOST_ROWS], relaxed, starved;
};

static bool row_has(const struct row *row, unsigned rule, uint64_t token)
{
    for (unsigned i = 0; i < row->n[rule]; i++)
        if (row->tokens[rule][i] == token)
            return true;
    return false;
}

/* How many of the rows that rule's window still covers have this token. */
static size_t count_before(const struct oracle *o, unsigned rule, uint64_t token)
{
    size_t window = o->in->rules[rule].window, n = 0;
    size_t back = window == 0 ? o->n : window - 1;
    for (size_t i = 0; i < back; i++) {
        if (i < o->n)
            n += row_has(&candidates[o->chosen[o->n - 1 - i]], rule, token);
        else if (i - o->n < o->in->n_history)
            n += row_has(&history[o->in->n_history - 1 - (i - o->n)], rule, token);
    }
    return n;
}

static bool fits(const struct oracle *o, size_t candidate)
{
    const struct row *row = &candidates[candidate];
    for (unsigned r = 0; r < o->in->n_rules; r++)
        for (unsigned i = 0; i < row->n[r]; i++)
            if (count_before(o, r, row->tokens[r][i]) + 1 > o->in->rules[r].most)
                return false;
    return true;
}

/* The candidate for the next place, or n. */
static size_t next_of(struct oracle *o)
{
    size_t n = o->in->n, passed = 0, best = n;
    for (size_t i = 0; i < o->frontier; i++)
        if (!o->taken[i]) {
            if (fits(o, i))
                return i;
            passed++;
            best = best == n ? i : best;
        }
    for (; o->frontier < n; o->frontier++, passed++) {
        size_t i = o->frontier;
        if (fits(o, i)) {
            o->frontier++;
            return i;
        }
        best = best == n ? i : best;
        if (passed == o->in->most_passed_over) {
            o->relaxed = true;
            o->frontier += best == i;
            return best;
        }
    }
    if (o->in->complete && best < n)
        o->relaxed = true;
    return o->in->complete ? best : n;
}

static void solve(struct oracle *o, const struct diversity_input *in, size_t limit)
{
    *o = (struct oracle){.in = in};
    while (o->n < limit) {
        size_t next = next_of(o);
        if (next == in->n)
            break;
        o->taken[next] = true;
        o->chosen[o->n++] = (uint32_t)next;
    }
    o->starved = o->n < limit && !in->complete;
}

/* ---- flat arrays ---- */

struct flat {
    uint32_t offsets[MOST_ROWS * MOST_RULES + 1];
    uint64_t tokens[MOST_ROWS * MOST_RULES * MOST_TOKENS];
};
static struct flat flat_history, flat_candidates;

/* `base`: an offset of the first row other than 0 is allowed. */
static void flatten(struct flat *f, const struct row *rows, size_t n, unsigned n_rules, uint32_t base)
{
    uint32_t at = base;
    f->offsets[0] = at;
    for (size_t i = 0; i < n; i++)
        for (unsigned r = 0; r < n_rules; r++) {
            for (unsigned t = 0; t < rows[i].n[r]; t++)
                f->tokens[at++] = rows[i].tokens[r][t];
            f->offsets[i * n_rules + r + 1] = at;
        }
}

/* Memory of exactly the size asked for, so that a sanitizer sees a step beyond it; filled with rubbish. */
static void place(const struct diversity_input *in, size_t limit, struct diversity_output *out)
{
    size_t bytes = diversity_scratch(in, limit);
    void *scratch = malloc(bytes + 1);
    memset(scratch, 0xa5, bytes);
    memset(out, 0xa5, sizeof *out);
    out->chosen = malloc((limit + 1) * sizeof *out->chosen);
    diversity_place(in, limit, out, scratch, bytes);
    free(scratch);
}

static void assert_as_oracle(const struct diversity_input *in, size_t limit)
{
    static struct oracle o;
    struct diversity_output out;
    solve(&o, in, limit);
    place(in, limit, &out);
    bool same = out.n == o.n && out.frontier == o.frontier && out.relaxed == o.relaxed && out.starved == o.starved;
    for (size_t i = 0; same && i < o.n; i++)
        same = out.chosen[i] == o.chosen[i];
    free(out.chosen);
    if (!same)
        fail_msg("seed %llu: n %zu %zu, frontier %zu %zu, relaxed %d %d, starved %d %d", (unsigned long long)seed, out.n, o.n, out.frontier,
                 o.frontier, out.relaxed, o.relaxed, out.starved, o.starved);
}

/* ---- by hand ---- */

/* One rule; each letter is a candidate with that token, '.' has none. */
static void page(const char *ranking, const char *before, uint32_t most, uint32_t window, size_t limit, bool complete, size_t bound,
                 const char *want, size_t frontier, bool relaxed, bool starved)
{
    struct diversity_rule rule = {most, window};
    size_t n = strlen(ranking), n_history = strlen(before);
    for (size_t i = 0; i < n; i++)
        candidates[i] = (struct row){.n = {ranking[i] != '.'}, .tokens = {{(uint64_t)ranking[i]}}};
    for (size_t i = 0; i < n_history; i++)
        history[i] = (struct row){.n = {before[i] != '.'}, .tokens = {{(uint64_t)before[i]}}};
    flatten(&flat_candidates, candidates, n, 1, 0);
    flatten(&flat_history, history, n_history, 1, 0);
    struct diversity_input in = {.n_rules = 1,
                                 .rules = &rule,
                                 .n = n,
                                 .offsets = flat_candidates.offsets,
                                 .tokens = flat_candidates.tokens,
                                 .complete = complete,
                                 .n_history = n_history,
                                 .history_offsets = n_history ? flat_history.offsets : NULL,
                                 .history_tokens = n_history ? flat_history.tokens : NULL,
                                 .most_passed_over = bound};
    assert_as_oracle(&in, limit);
    struct diversity_output out;
    place(&in, limit, &out);
    char got[MOST_ROWS + 1] = {0};
    for (size_t i = 0; i < out.n; i++)
        got[i] = ranking[out.chosen[i]];
    free(out.chosen);
    assert_string_equal(got, want);
    assert_int_equal(out.frontier, frontier);
    assert_int_equal(out.relaxed, relaxed);
    assert_int_equal(out.starved, starved);
}

static void by_hand(void **state)
{
    (void)state;
    enum { ALL = 1000 };
    /* ranking, before, most PER window, limit, complete, bound -> page, frontier, relaxed, starved */
    page("abcd", "", 1, 3, 4, true, ALL, "abcd", 4, false, false);
    page("aabc", "", 1, 2, 4, true, ALL, "abac", 4, false, false); /* passed over, then the best that fits */
    page("aabc", "", 1, 3, 4, true, ALL, "abca", 4, false, false);
    page("aaab", "", 2, 3, 4, true, ALL, "aaba", 4, false, false);
    page("aaa", "", 1, 2, 3, true, ALL, "aaa", 3, true, false); /* none fits: the best stands there */
    page("aaa", "", 1, 2, 3, false, ALL, "a", 3, false, true);  /* more are needed */
    page("aab", "", 1, 2, 2, false, ALL, "ab", 3, false, false);
    page("abcd", "", 1, 2, 2, false, ALL, "ab", 2, false, false); /* looks no further than it must */
    page("ab", "", 1, 2, 5, true, ALL, "ab", 2, false, false);
    page("ab", "", 1, 2, 5, false, ALL, "ab", 2, false, true);
    page("", "", 1, 2, 5, true, ALL, "", 0, false, false);
    page("", "", 1, 2, 5, false, ALL, "", 0, false, true);
    page("aab", "", 1, 2, 0, false, ALL, "", 0, false, false);
    page("aaaa", "", 1, 1, 4, true, ALL, "aaaa", 4, false, false);  /* windows of one row limit nothing */
    page("..a.a", "", 1, 5, 5, true, ALL, "..a.a", 5, true, false); /* null is never limited */
    page("....", "", 1, 0, 4, true, ALL, "....", 4, false, false);
    page("aabbc", "", 1, 0, 5, true, ALL, "abcab", 5, true, false); /* on the page: one each, then relaxed */
    page("aabbc", "", 2, 0, 5, true, ALL, "aabbc", 5, false, false);
    page("aabbc", "", 1, 0, 3, true, ALL, "abc", 5, false, false);
    page("abc", "a", 1, 2, 3, true, ALL, "bac", 3, false, false);  /* the page before counts ... */
    page("abc", "ax", 1, 2, 3, true, ALL, "abc", 3, false, false); /* ... as far as the window reaches */
    page("abc", "ax", 1, 3, 3, true, ALL, "bac", 3, false, false);
    page("abc", "aaaa", 1, 0, 3, true, ALL, "abc", 3, false, false); /* not for the whole page's rule */
    page("aab", "aaaa", 2, 4, 3, true, ALL, "baa", 3, true, false);
    page("aaaab", "", 1, 3, 5, true, 1, "aaaba", 5, true, false); /* one may wait: a further one places it */
    page("aaaab", "", 1, 3, 5, true, 0, "aaaab", 5, true, false);
    page("aaaab", "", 1, 3, 2, true, 2, "aa", 3, true, false);
}

static void several_rules_and_values(void **state)
{
    (void)state;
    /* Rule 0: one per 2 rows; rule 1: keywords, one per 3 rows. */
    const struct row rows[] = {
        {{1, 2}, {{1}, {10, 11}}}, {{1, 1}, {{2}, {11}}}, {{1, 1}, {{1}, {12}}}, {{1, 1}, {{3}, {13}}}, {{0, 2}, {{0}, {12, 10}}},
    };
    const struct diversity_rule rules[] = {{1, 2}, {1, 3}};
    memcpy(candidates, rows, sizeof rows);
    flatten(&flat_candidates, candidates, 5, 2, 0);
    struct diversity_input in = {.n_rules = 2,
                                 .rules = rules,
                                 .n = 5,
                                 .offsets = flat_candidates.offsets,
                                 .tokens = flat_candidates.tokens,
                                 .complete = true,
                                 .most_passed_over = 1000};
    assert_as_oracle(&in, 5);
    struct diversity_output out;
    place(&in, 5, &out);
    /* 0; 1 shares 11, 2 shares value 1: 3; 1 still shares 11 with row 0: 2; 1 fits; 4 shares 12 with row 2: relaxed. */
    const uint32_t want[] = {0, 3, 2, 1, 4};
    assert_int_equal(out.n, 5);
    assert_memory_equal(out.chosen, want, sizeof want);
    assert_true(out.relaxed);
    free(out.chosen);
}

static void no_rules(void **state)
{
    (void)state;
    const uint32_t offsets[] = {0};
    struct diversity_input in = {.n = 4, .offsets = offsets, .complete = false, .most_passed_over = 10};
    struct diversity_output out;
    place(&in, 3, &out);
    const uint32_t want[] = {0, 1, 2};
    assert_int_equal(out.n, 3);
    assert_memory_equal(out.chosen, want, sizeof want);
    assert_int_equal(out.frontier, 3);
    assert_false(out.relaxed || out.starved);
    free(out.chosen);
}

/* ---- at random ---- */

static void random_rows(struct row *rows, size_t n, unsigned n_rules, uint32_t values, uint32_t most_tokens, bool twice)
{
    for (size_t i = 0; i < n; i++)
        for (unsigned r = 0; r < n_rules; r++) {
            struct row *row = &rows[i];
            row->n[r] = 0;
            for (uint32_t t = below(most_tokens + 1); t > 0; t--) {
                uint64_t token = below(values) ? below(values) : UINT64_MAX - below(3);
                if (twice || !row_has(row, r, token))
                    row->tokens[r][row->n[r]++] = token;
            }
        }
}

static void random_page(void)
{
    static const uint32_t windows[] = {0, 0, 1, 2, 3, 5, 10, 50, 1000};
    struct diversity_rule rules[MOST_RULES];
    unsigned n_rules = 1 + below(MOST_RULES);
    for (unsigned r = 0; r < n_rules; r++)
        rules[r] = (struct diversity_rule){.most = 1 + below(3), .window = windows[below(9)]};
    if (below(30) == 0)
        rules[0].most = 0;
    uint32_t size = below(20) == 0 ? MOST_ROWS : 30;
    size_t n = below(size), n_history = below(3) ? below(size) : 0;
    uint32_t values = 1 + below(8), most_tokens = 1 + (below(2) ? below(MOST_TOKENS) : 0);
    bool twice = below(8) == 0;
    random_rows(candidates, n, n_rules, values, most_tokens, twice);
    random_rows(history, n_history, n_rules, values, most_tokens, twice);
    uint32_t base = below(2) * 3;
    flatten(&flat_candidates, candidates, n, n_rules, base);
    flatten(&flat_history, history, n_history, n_rules, base);
    struct diversity_input in = {.n_rules = n_rules,
                                 .rules = rules,
                                 .n = n,
                                 .offsets = flat_candidates.offsets,
                                 .tokens = flat_candidates.tokens,
                                 .complete = below(2),
                                 .n_history = n_history,
                                 .history_offsets = flat_history.offsets,
                                 .history_tokens = flat_history.tokens,
                                 .most_passed_over = below(3) ? 1000 : below(6)};
    assert_as_oracle(&in, below(2) ? below(size) : n);
}

static void random_pages(void **state)
{
    (void)state;
    time_t end = time(NULL) + (time_t)test_seconds(0) / 4;
    for (unsigned round = 0; round < 30000 || time(NULL) < end; round++) {
        hash_degrade(round % 4 == 0 ? 2 : 0); /* also when every token collides */
        random_page();
    }
    hash_degrade(0);
}

/* Offering more candidates only continues the page. */
static void more_candidates_continue(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct diversity_rule rule = {1, 1 + below(6)};
        random_rows(candidates, 100, 1, 4, 1, false);
        flatten(&flat_candidates, candidates, 100, 1, 0);
        struct diversity_input in = {
            .n_rules = 1, .rules = &rule, .offsets = flat_candidates.offsets, .tokens = flat_candidates.tokens, .most_passed_over = 1000};
        uint32_t before[100];
        size_t n_before = 0;
        for (in.n = 0; in.n <= 100; in.n += 10) {
            in.complete = in.n == 100;
            struct diversity_output out;
            place(&in, 20, &out);
            assert_true(out.n >= n_before);
            assert_memory_equal(out.chosen, before, n_before * sizeof *before);
            n_before = out.n;
            memcpy(before, out.chosen, n_before * sizeof *before);
            free(out.chosen);
        }
        assert_int_equal(n_before, 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),      cmocka_unit_test(several_rules_and_values), cmocka_unit_test(no_rules),
        cmocka_unit_test(random_pages), cmocka_unit_test(more_candidates_continue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
