/* SPDX-License-Identifier: MIT */
/* Parameters and literals become what a run compares with. Everything is checked here, before the read section. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/reclaim.h"
#include "query/run.h"

static status bind_fail(struct run *r, const struct constant *k, status code, const char *expected, const struct value *v)
{
    if (k->source == CONSTANT_PARAMETER)
        return fail(r->error, code, k->position, "parameter ?%u: %s was expected, got %s", k->parameter, expected, value_type_name(v->type));
    return fail(r->error, code, k->position, "%s was expected, got %s", expected, value_type_name(v->type));
}

/* The value must be one the place can take; times may come as text. */
static status check_bound(struct run *r, const struct constant *k, struct value *v)
{
    if (v->type == VALUE_NULL)
        return STATUS_OK;
    bool number = v->type == VALUE_INT || v->type == VALUE_UINT || v->type == VALUE_REAL || v->type == VALUE_TIME;
    switch (k->expect) {
    case EXPECT_TIME:
        if (v->type == VALUE_TEXT) {
            int64_t t;
            if (!time_parse(v->text, v->length, &t))
                return bind_fail(r, k, STATUS_TYPE, "a time (microseconds, or 'YYYY-MM-DD[ HH:MM[:SS]]')", v);
            *v = (struct value){.type = VALUE_TIME, .i = t};
            return STATUS_OK;
        }
        if (!number)
            return bind_fail(r, k, STATUS_TYPE, "a time (microseconds, or 'YYYY-MM-DD[ HH:MM[:SS]]')", v);
        break;
    case EXPECT_NUMBER:
        if (!number)
            return bind_fail(r, k, STATUS_TYPE, "a number", v);
        break;
    case EXPECT_TEXT:
        if (v->type != VALUE_TEXT)
            return bind_fail(r, k, STATUS_TYPE, "text", v);
        return STATUS_OK;
    default:
        if (r->kind->integer_keys ? v->type != VALUE_INT && v->type != VALUE_UINT : v->type != VALUE_TEXT)
            return bind_fail(r, k, STATUS_TYPE, r->kind->integer_keys ? "an integer key" : "a text key", v);
        return STATUS_OK;
    }
    if (v->type == VALUE_REAL && !isfinite(v->f))
        return bind_fail(r, k, STATUS_RANGE, "a finite number", v);
    if (v->type == VALUE_UINT)
        *v = (struct value){.type = VALUE_REAL, .f = (double)v->u};
    return STATUS_OK;
}

status constant_value(struct run *r, const struct constant *k, struct value *out)
{
    if (k->source == CONSTANT_LITERAL) {
        *out = k->literal;
        return STATUS_OK;
    }
    if (k->source == CONSTANT_NOW) {
        *out = (struct value){.type = VALUE_TIME, .i = r->now};
        return STATUS_OK;
    }
    *out = r->params[k->parameter - 1];
    return check_bound(r, k, out);
}

static status no_memory(struct run *r)
{
    return fail(r->error, STATUS_NO_MEMORY, -1, "no memory to run the statement");
}

/* ---- Registers --------------------------------------------------------------------------------------------------------- */

static status make_registers(struct run *r)
{
    const struct plan *p = r->plan;
    size_t n = p->n_registers, lane = sizeof(union lane) + BLOCK_MAX;
    r->regs = arena_alloc(r->arena, sizeof *r->regs * (n + 1));
    r->lanes = mem_array(n + 1, lane);
    if (!r->regs || !r->lanes)
        return no_memory(r);
    union lane *lanes = r->lanes;
    uint8_t *nulls = (uint8_t *)(lanes + n);
    for (size_t i = 0; i < n; i++)
        r->regs[i] = (struct reg){.class = p->classes[i], .lane = &lanes[i], .nulls = nulls + i * BLOCK_MAX};
    return STATUS_OK;
}

static status bind_constants(struct run *r)
{
    const struct plan *p = r->plan;
    for (unsigned i = 0; i < p->n_constants; i++) {
        struct reg *reg = &r->regs[p->n_inputs + i];
        struct value v;
        status s = constant_value(r, &p->constants[i], &v);
        if (s)
            return s;
        if (v.type == VALUE_NULL)
            reg_fill_null(reg);
        else if (v.type == VALUE_REAL)
            reg_fill_real(reg, v.f);
        else
            reg_fill_int(reg, v.i);
    }
    return STATUS_OK;
}

/* ---- Lists ------------------------------------------------------------------------------------------------------------- */

/* The elements of IN's list, each checked. */
static status list_values(struct run *r, const struct constant_list *l, struct value **out, uint32_t *n)
{
    struct constant shape = {.source = CONSTANT_PARAMETER, .expect = l->expect, .parameter = l->parameter, .position = l->position};
    const struct value *list = NULL;
    *n = l->n;
    if (l->parameter) {
        list = &r->params[l->parameter - 1];
        if (list->type == VALUE_NULL) { /* a null list is a list of one null */
            *n = 1;
            *out = arena_alloc(r->arena, sizeof **out);
            return *out ? STATUS_OK : no_memory(r);
        }
        if (list->type != VALUE_LIST)
            return bind_fail(r, &shape, STATUS_TYPE, "a list", list);
        *n = list->length;
    }
    *out = arena_alloc(r->arena, sizeof **out * (*n ? *n : 1u));
    if (!*out)
        return no_memory(r);
    for (uint32_t i = 0; i < *n; i++) {
        status s;
        if (list) {
            (*out)[i] = list->list[i];
            s = check_bound(r, &shape, &(*out)[i]);
        } else {
            s = constant_value(r, &l->items[i], &(*out)[i]);
        }
        if (s)
            return s;
    }
    return STATUS_OK;
}

static int by_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int by_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int by_f64(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int by_text(const void *a, const void *b)
{
    const struct value *x = a, *y = b;
    return value_text_compare(x->text, x->length, y->text, y->length);
}

static status bind_number_list(struct run *r, const struct constant_list *l, struct number_list *out)
{
    struct value *v;
    uint32_t n;
    status s = list_values(r, l, &v, &n);
    if (s)
        return s;
    int64_t *integers = arena_alloc(r->arena, sizeof *integers * (n ? n : 1u));
    double *reals = arena_alloc(r->arena, sizeof *reals * (n ? n : 1u));
    if (!integers || !reals)
        return no_memory(r);
    *out = (struct number_list){.integers = integers, .reals = reals};
    for (uint32_t i = 0; i < n; i++) {
        if (v[i].type == VALUE_NULL)
            out->has_null = true;
        else if (v[i].type != VALUE_REAL)
            integers[out->n_integers++] = v[i].i;
        else if (v[i].f >= -0x1p63 && v[i].f < 0x1p63 && v[i].f == nearbyint(v[i].f))
            integers[out->n_integers++] = (int64_t)v[i].f;
        else
            reals[out->n_reals++] = v[i].f;
    }
    qsort(integers, out->n_integers, sizeof *integers, by_i64);
    qsort(reals, out->n_reals, sizeof *reals, by_f64);
    return STATUS_OK;
}

/* ---- Matches ----------------------------------------------------------------------------------------------------------- */

static status bind_keys(struct run *r, const struct value *v, uint32_t n, struct bound_match *out)
{
    if (!r->kind->integer_keys) {
        out->texts = arena_alloc(r->arena, sizeof *out->texts * (n ? n : 1u));
        if (!out->texts)
            return no_memory(r);
        for (uint32_t i = 0; i < n; i++)
            if (v[i].type != VALUE_NULL)
                out->texts[out->n_texts++] = v[i];
        qsort(out->texts, out->n_texts, sizeof *out->texts, by_text);
        return STATUS_OK;
    }
    out->numbers = arena_alloc(r->arena, sizeof *out->numbers * (n ? n : 1u));
    if (!out->numbers)
        return no_memory(r);
    for (uint32_t i = 0; i < n; i++) /* a negative integer is no key: it matches nothing */
        if (v[i].type == VALUE_UINT || (v[i].type == VALUE_INT && v[i].i >= 0))
            out->numbers[out->n_numbers++] = v[i].u;
    qsort(out->numbers, out->n_numbers, sizeof *out->numbers, by_u64);
    return STATUS_OK;
}

static status bind_keyword_ids(struct run *r, const struct field *f, const struct value *v, uint32_t n, struct bound_match *out)
{
    out->numbers = arena_alloc(r->arena, sizeof *out->numbers * (n ? n : 1u));
    if (!out->numbers)
        return no_memory(r);
    reclaim_enter(); /* RCU: protects the dictionary's table during the look-ups */
    for (uint32_t i = 0; i < n && !kind_dropped(r->kind); i++)
        if (v[i].type == VALUE_TEXT) {
            uint32_t id = dictionary_find(f->dictionary, v[i].text, v[i].length);
            if (id)
                out->numbers[out->n_numbers++] = id;
        }
    reclaim_leave();
    qsort(out->numbers, out->n_numbers, sizeof *out->numbers, by_u64);
    return STATUS_OK;
}

static status bind_match(struct run *r, const struct match *m, struct bound_match *out)
{
    struct value *v = NULL;
    uint32_t n = 0;
    *out = (struct bound_match){0};
    if (m->test == TEST_NULL)
        return STATUS_OK;
    status s = list_values(r, &m->operand, &v, &n);
    if (s)
        return s;
    for (uint32_t i = 0; i < n; i++)
        out->has_null |= v[i].type == VALUE_NULL;
    out->is_null = m->test != TEST_IN && out->has_null;
    out->is_empty = n == 0;
    bool by_id = (m->subject == MATCH_KEYWORD || m->subject == MATCH_KEYWORDS) && (m->test == TEST_EQ || m->test == TEST_IN);
    if (by_id)
        return bind_keyword_ids(r, m->field, v, n, out);
    if (m->subject == MATCH_KEY)
        return bind_keys(r, v, n, out);
    out->texts = v;
    for (uint32_t i = 0; i < n; i++)
        if (v[i].type == VALUE_TEXT)
            out->texts[out->n_texts++] = v[i];
    qsort(out->texts, out->n_texts, sizeof *out->texts, by_text);
    return STATUS_OK;
}

/* ---- The page ---------------------------------------------------------------------------------------------------------- */

static status bind_limit(struct run *r)
{
    r->limit = 20;
    if (!r->plan->has_limit)
        return STATUS_OK;
    struct value v;
    status s = constant_value(r, &r->plan->limit, &v);
    if (s)
        return s;
    if (r->plan->limit.source == CONSTANT_PARAMETER && r->params[r->plan->limit.parameter - 1].type == VALUE_UINT)
        return fail(r->error, STATUS_RANGE, r->plan->limit.position, "LIMIT takes 0 to %d", MAX_LIMIT);
    if (v.type != VALUE_INT)
        return bind_fail(r, &r->plan->limit, STATUS_TYPE, "LIMIT: a whole number", &v);
    if (v.i < 0 || v.i > MAX_LIMIT)
        return fail(r->error, STATUS_RANGE, r->plan->limit.position, "LIMIT takes 0 to %d, got %lld", MAX_LIMIT, (long long)v.i);
    r->limit = (uint64_t)v.i;
    return STATUS_OK;
}

static uint64_t hash_value(uint64_t h, const struct value *v)
{
    uint64_t head = mix64(h ^ ((uint64_t)v->type << 32 | v->length));
    switch (v->type) {
    case VALUE_NULL: return head;
    case VALUE_TEXT: return mix64(head ^ checksum64(v->text, v->length));
    case VALUE_VECTOR: return mix64(head ^ checksum64(v->vector, v->length * sizeof *v->vector));
    case VALUE_LIST:
        for (uint32_t i = 0; i < v->length; i++)
            head = hash_value(head, &v->list[i]);
        return head;
    default: return mix64(head ^ v->u);
    }
}

/* A cursor is bound to the statement, the kind, and all parameters but itself. */
static void bind_cursor_hash(struct run *r)
{
    const struct plan *p = r->plan;
    uint64_t h = mix64(p->text_hash ^ r->db_id);
    h = mix64(h ^ p->kind->id);
    for (unsigned i = 0; i < r->n_params; i++)
        if (!(p->has_after && p->after.parameter == i + 1))
            h = hash_value(h, &r->params[i]);
    r->binding = h;
}

/* The moment: the cursor's, AT's, the caller's, or the clock's. It is pinned before anything depends on it. */
static status bind_moment(struct run *r)
{
    const struct plan *p = r->plan;
    struct value at = {0}, after = {0};
    status s = p->has_at ? constant_value(r, &p->at, &at) : STATUS_OK;
    if (!s && p->has_after)
        s = constant_value(r, &p->after, &after);
    if (s)
        return s;
    if (at.type != VALUE_NULL) {
        if (at.type != VALUE_TIME && at.type != VALUE_INT)
            return fail(r->error, STATUS_TYPE, p->at.position, "AT takes a time, got %s", value_type_name(at.type));
        if (at.i < TIME_MIN_US || at.i > TIME_MAX_US)
            return fail(r->error, STATUS_RANGE, p->at.position, "AT takes a time from year 1 to 9999");
        r->now = at.i;
        r->asked_moment = true;
    }
    if (after.type == VALUE_NULL)
        return STATUS_OK;
    s = cursor_decode(r, after.text, after.length);
    if (!s && at.type != VALUE_NULL && at.i != r->now)
        return fail(r->error, STATUS_CURSOR, p->at.position, "a cursor has its own moment: AT beside it must say the same");
    return s;
}

status bind_run(struct run *r)
{
    const struct plan *p = r->plan;
    if (r->n_params != p->ast->max_param)
        return fail(r->error, STATUS_PARAMETER, -1, "the statement takes %u parameter%s, %u given", p->ast->max_param, p->ast->max_param == 1 ? "" : "s", r->n_params);
    bind_cursor_hash(r);
    status s = bind_moment(r);
    if (!s)
        s = bind_limit(r);
    if (!s)
        s = make_registers(r);
    if (!s)
        s = bind_constants(r);
    r->lists = arena_alloc(r->arena, sizeof *r->lists * (p->n_lists + 1));
    r->matches = arena_alloc(r->arena, sizeof *r->matches * (p->n_matches + 1));
    if (!s && (!r->lists || !r->matches))
        s = no_memory(r);
    for (unsigned i = 0; i < p->n_lists && !s; i++)
        s = bind_number_list(r, &p->lists[i], &r->lists[i]);
    for (unsigned i = 0; i < p->n_matches && !s; i++)
        s = bind_match(r, &p->matches[i], &r->matches[i]);
    if (!s && p->has_exclude) {
        struct match m = {.subject = MATCH_KEY, .test = TEST_IN, .operand = p->exclude};
        s = bind_match(r, &m, &r->exclude);
    }
    return s;
}
