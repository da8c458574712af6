/* SPDX-License-Identifier: MIT */
/* Terms. A *row* is a place, counted over all pages: the history's rows, then this page's. A *value* is a token under a rule; a *node* is one mention of
 * a value by a row or a candidate. Each value knows how many rows of its rule's current window have it, and has these rows' nodes in a queue, oldest
 * first. So whether a candidate fits is one look at each of its values.
 *
 * A candidate passed over keeps the row from which it may fit: the oldest row that blocks it, plus the window. Rows placed later can only push that
 * row further away, so until then it need not be looked at again. */
#include "rank/diversity.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"

#define NONE UINT32_MAX
#define NEVER UINT32_MAX

struct value {
    uint64_t token;
    uint32_t rule, count;    /* rows of the window that have it */
    uint32_t oldest, newest; /* nodes of these rows; undefined when count is 0 */
};

struct node {
    uint32_t value, row, next;
};
struct passed {
    uint32_t candidate, wake;
};

struct placer {
    const struct diversity_input *in;
    struct diversity_output *out;
    struct value *values;  /* in order of first mention */
    uint32_t *slots;       /* hash table of indexes into values, plus 1 */
    struct node *nodes;    /* of the history's tokens from history_first on, then of the candidates' */
    struct passed *passed; /* in rank order: [passed_first, passed_end) */
    size_t n_values, n_slots, passed_first, passed_end, passed_room;
    size_t history_first; /* row: older ones are outside every window */
    size_t history_nodes; /* so many nodes before the candidates' */
    size_t resolved;      /* candidates [0, resolved) have their nodes' values */
    uint32_t wake;        /* no candidate passed over fits before this row */
};

/* ---- memory ---- */

enum { FIRST_SLOTS = 64 };

struct layout {
    size_t n_nodes, history_nodes, history_first, max_slots, passed_room, values, nodes, slots, passed, bytes;
};

static struct layout lay_out(const struct diversity_input *in)
{
    struct layout l = {0};
    size_t deepest = 0;
    for (unsigned r = 0; r < in->n_rules; r++)
        if (in->rules[r].window > deepest)
            deepest = in->rules[r].window;
    size_t kept = deepest > 0 ? deepest - 1 : 0;
    l.history_first = in->n_history > kept ? in->n_history - kept : 0;
    if (in->n_history > l.history_first)
        l.history_nodes = in->history_offsets[in->n_history * in->n_rules] - in->history_offsets[l.history_first * in->n_rules];
    l.n_nodes = l.history_nodes + (in->n > 0 ? in->offsets[in->n * in->n_rules] - in->offsets[0] : 0);
    for (l.max_slots = FIRST_SLOTS; l.max_slots < 2 * l.n_nodes;)
        l.max_slots *= 2;
    /* Twice as many as may be held, so that the list seldom has to move back to the start. */
    l.passed_room = in->n / 2 < in->most_passed_over ? in->n : 2 * in->most_passed_over;
    l.values = 0; /* the only ones that need an alignment of 8 come first */
    l.nodes = l.values + l.n_nodes * sizeof(struct value);
    l.slots = l.nodes + l.n_nodes * sizeof(struct node);
    l.passed = l.slots + l.max_slots * sizeof(uint32_t);
    l.bytes = l.passed + l.passed_room * sizeof(struct passed);
    return l;
}

size_t diversity_scratch(const struct diversity_input *in, size_t limit)
{
    (void)limit;
    return lay_out(in).bytes;
}

/* ---- values ---- */

static size_t slot_of(const struct placer *p, uint64_t token, uint32_t rule)
{
    size_t mask = p->n_slots - 1, i = (size_t)hash_u64(token + (uint64_t)rule * 0x9e3779b97f4a7c15u) & mask;
    for (; p->slots[i] != 0; i = (i + 1) & mask) {
        const struct value *v = &p->values[p->slots[i] - 1];
        if (v->token == token && v->rule == rule)
            break;
    }
    return i;
}

/* The table starts small and grows with what was looked at, not with what was offered. */
static void grow_slots(struct placer *p)
{
    p->n_slots *= 2;
    memset(p->slots, 0, p->n_slots * sizeof *p->slots);
    for (size_t v = 0; v < p->n_values; v++)
        p->slots[slot_of(p, p->values[v].token, p->values[v].rule)] = (uint32_t)v + 1;
}

static uint32_t value_of(struct placer *p, uint64_t token, uint32_t rule)
{
    size_t slot = slot_of(p, token, rule);
    if (p->slots[slot] == 0) {
        if (2 * (p->n_values + 1) > p->n_slots) {
            grow_slots(p);
            slot = slot_of(p, token, rule);
        }
        p->values[p->n_values] = (struct value){.token = token, .rule = rule};
        p->slots[slot] = (uint32_t)++p->n_values;
    }
    return p->slots[slot] - 1;
}

struct range {
    size_t from, to;
};

/* Nodes of a candidate or of a row of the history under a rule. */
static struct range candidate_nodes(const struct placer *p, size_t candidate, unsigned rule)
{
    const uint32_t *offsets = p->in->offsets + candidate * p->in->n_rules + rule;
    size_t base = p->history_nodes - p->in->offsets[0];
    return (struct range){base + offsets[0], base + offsets[1]};
}

static struct range row_nodes(const struct placer *p, size_t row, unsigned rule)
{
    const struct diversity_input *in = p->in;
    if (row >= in->n_history)
        return candidate_nodes(p, p->out->chosen[row - in->n_history], rule);
    const uint32_t *offsets = in->history_offsets + row * in->n_rules + rule;
    size_t first = in->history_offsets[p->history_first * in->n_rules];
    return (struct range){offsets[0] - first, offsets[1] - first};
}

/* ---- windows ---- */

static void enter_row(struct placer *p, size_t row, unsigned rule)
{
    struct range nodes = row_nodes(p, row, rule);
    for (size_t i = nodes.from; i < nodes.to; i++) {
        struct node *node = &p->nodes[i];
        struct value *v = &p->values[node->value];
        if (v->count > 0 && p->nodes[v->newest].row == (uint32_t)row) { /* said twice */
            node->value = NONE;
            continue;
        }
        node->row = (uint32_t)row;
        node->next = NONE;
        if (v->count++ == 0)
            v->oldest = (uint32_t)i;
        else
            p->nodes[v->newest].next = (uint32_t)i;
        v->newest = (uint32_t)i;
    }
}

static void leave_row(struct placer *p, size_t row, unsigned rule)
{
    struct range nodes = row_nodes(p, row, rule);
    for (size_t i = nodes.from; i < nodes.to; i++) {
        const struct node *node = &p->nodes[i];
        if (node->value == NONE)
            continue;
        struct value *v = &p->values[node->value];
        assert(v->oldest == i);
        v->oldest = node->next;
        v->count--;
    }
}

/* The last row is placed: it enters every window, and a row leaves each that moves. */
static void close_row(struct placer *p, size_t row)
{
    for (unsigned r = 0; r < p->in->n_rules; r++) {
        size_t window = p->in->rules[r].window;
        enter_row(p, row, r);
        if (window > 0 && row + 1 >= window)
            leave_row(p, row + 1 - window, r);
    }
}

/* Windows reach back over the pages before; shares do not. */
static void enter_history(struct placer *p)
{
    const struct diversity_input *in = p->in;
    for (unsigned r = 0; r < in->n_rules; r++) {
        size_t window = in->rules[r].window, kept = window > 0 ? window - 1 : 0;
        for (size_t row = in->n_history > kept ? in->n_history - kept : 0; row < in->n_history; row++) {
            struct range nodes = row_nodes(p, row, r);
            const uint64_t *tokens = in->history_tokens + in->history_offsets[row * in->n_rules + r];
            for (size_t i = nodes.from; i < nodes.to; i++)
                p->nodes[i].value = value_of(p, *tokens++, r);
            enter_row(p, row, r);
        }
    }
}

/* ---- candidates ---- */

static void resolve(struct placer *p, size_t candidate)
{
    if (candidate < p->resolved)
        return;
    const struct diversity_input *in = p->in;
    for (unsigned r = 0; r < in->n_rules; r++) {
        struct range nodes = candidate_nodes(p, candidate, r);
        const uint64_t *tokens = in->tokens + in->offsets[candidate * in->n_rules + r];
        for (size_t i = nodes.from; i < nodes.to; i++)
            p->nodes[i].value = value_of(p, *tokens++, r);
    }
    p->resolved = candidate + 1;
}

/* 0: the candidate breaks no rule in the next row. Else a row before which it can not fit. */
static uint32_t blocked_until(const struct placer *p, size_t candidate)
{
    uint64_t until = 0;
    for (unsigned r = 0; r < p->in->n_rules; r++) {
        struct diversity_rule rule = p->in->rules[r];
        struct range nodes = candidate_nodes(p, candidate, r);
        for (size_t i = nodes.from; i < nodes.to; i++) {
            const struct value *v = &p->values[p->nodes[i].value];
            if (v->count < rule.most)
                continue;
            if (rule.window == 0 || rule.most == 0)
                return NEVER;
            uint64_t free = (uint64_t)p->nodes[v->oldest].row + rule.window;
            until = free > until ? free : until;
        }
    }
    return until < NEVER ? (uint32_t)until : NEVER;
}

/* The best candidate passed over that fits in `row`, as its index in the list, or passed_end. */
static size_t find_passed(struct placer *p, uint32_t row)
{
    if (row < p->wake)
        return p->passed_end;
    uint32_t wake = NEVER;
    for (size_t i = p->passed_first; i < p->passed_end; i++) {
        struct passed *c = &p->passed[i];
        if (c->wake <= row) {
            c->wake = blocked_until(p, c->candidate);
            if (c->wake == 0) {
                p->wake = 0; /* those behind it were not looked at */
                return i;
            }
        }
        wake = c->wake < wake ? c->wake : wake;
    }
    p->wake = wake;
    return p->passed_end;
}

/* Moves those before it, which were just looked at: the list keeps its end. */
static uint32_t take_passed(struct placer *p, size_t i)
{
    uint32_t candidate = p->passed[i].candidate;
    struct passed *first = p->passed + p->passed_first++;
    memmove(first + 1, first, (size_t)(p->passed + i - first) * sizeof *first);
    return candidate;
}

static void pass_over(struct placer *p, size_t candidate, uint32_t wake)
{
    if (p->passed_end == p->passed_room) {
        size_t held = p->passed_end - p->passed_first;
        memmove(p->passed, p->passed + p->passed_first, held * sizeof *p->passed);
        p->passed_first = 0;
        p->passed_end = held;
    }
    p->passed[p->passed_end++] = (struct passed){(uint32_t)candidate, wake};
    p->wake = wake < p->wake ? wake : p->wake;
}

/* Looks at further candidates until one fits, or one more would have to be passed over than may be. NONE: no more are offered. */
static uint32_t advance(struct placer *p)
{
    size_t *frontier = &p->out->frontier;
    for (; *frontier < p->in->n; ++*frontier) {
        resolve(p, *frontier);
        uint32_t wake = blocked_until(p, *frontier);
        if (wake == 0)
            return (uint32_t)(*frontier)++;
        if (p->passed_end - p->passed_first >= p->in->most_passed_over) {
            p->out->relaxed = true;
            return p->passed_first < p->passed_end ? take_passed(p, p->passed_first) : (uint32_t)(*frontier)++;
        }
        pass_over(p, *frontier, wake);
    }
    return NONE;
}

static uint32_t next_candidate(struct placer *p, uint32_t row)
{
    size_t found = find_passed(p, row);
    if (found < p->passed_end)
        return take_passed(p, found);
    uint32_t candidate = advance(p);
    if (candidate == NONE && p->in->complete && p->passed_first < p->passed_end) {
        p->out->relaxed = true;
        candidate = take_passed(p, p->passed_first);
    }
    return candidate;
}

void diversity_place(const struct diversity_input *in, size_t limit, struct diversity_output *out, void *scratch, size_t bytes)
{
    struct layout l = lay_out(in);
    assert(bytes >= l.bytes);
    (void)bytes;
    char *memory = scratch;
    struct placer p = {
        .in = in,
        .out = out,
        .values = (struct value *)(void *)(memory + l.values),
        .nodes = (struct node *)(void *)(memory + l.nodes),
        .slots = (uint32_t *)(void *)(memory + l.slots),
        .passed = (struct passed *)(void *)(memory + l.passed),
        .n_slots = FIRST_SLOTS,
        .passed_room = l.passed_room,
        .history_first = l.history_first,
        .history_nodes = l.history_nodes,
        .wake = NEVER,
    };
    memset(p.slots, 0, FIRST_SLOTS * sizeof *p.slots);
    out->n = out->frontier = 0;
    out->relaxed = false;
    enter_history(&p);
    while (out->n < limit) {
        size_t row = in->n_history + out->n;
        uint32_t candidate = next_candidate(&p, (uint32_t)row);
        if (candidate == NONE)
            break;
        out->chosen[out->n++] = candidate;
        close_row(&p, row);
    }
    out->starved = out->n < limit && !in->complete;
}
