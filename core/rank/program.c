/* SPDX-License-Identifier: MIT */
#include "rank/program.h"

#include <assert.h>
#include <string.h>

#include "rank/kernels.h"

/* ---- constants ---- */

void reg_fill_real(struct reg *r, double v)
{
    r->class = REG_REAL;
    r->has_null = false;
    v = num_finite(v);
    for (unsigned i = 0; i < BLOCK_MAX; i++)
        r->lane->real[i] = v;
}

void reg_fill_int(struct reg *r, int64_t v)
{
    r->class = REG_INT;
    r->has_null = false;
    for (unsigned i = 0; i < BLOCK_MAX; i++)
        r->lane->integer[i] = v;
}

void reg_fill_null(struct reg *r)
{
    r->has_null = true;
    if (r->class == REG_TRUTH) {
        memset(r->nulls, TRUTH_NULL, BLOCK_MAX);
        return;
    }
    r->class = REG_REAL;
    memset(r->nulls, 1, BLOCK_MAX);
    memset(r->lane, 0, sizeof *r->lane); /* 0 in both classes, so it may also stand where a time is read */
}

/* ---- one operation ---- */

/* The operands of an operation and where its result goes. The class of the result is set after the operands were read: they may share a register. */
struct step {
    const struct kernels *k;
    struct reg *to;
    const struct reg *a, *b, *c;
    unsigned n;
};

/* A number register as doubles: its own lane, or `room` filled from its integers. */
static const double *reals(const struct step *s, const struct reg *r, union lane *room)
{
    if (r->class != REG_INT)
        return r->lane->real;
    s->k->to_real(room->real, r->lane->integer, s->n);
    return room->real;
}

static void set_real(struct reg *r)
{
    r->class = REG_REAL;
    r->has_null = false;
}

static void set_truth(struct reg *r)
{
    r->class = REG_TRUTH;
    r->has_null = true; /* perhaps */
}

static void run_unary(const struct step *s, kernel_unary *kernel)
{
    union lane room;
    kernel(s->to->lane->real, reals(s, s->a, &room), s->n);
    set_real(s->to);
}

static void run_binary(const struct step *s, kernel_binary *kernel)
{
    union lane room_a, room_b;
    kernel(s->to->lane->real, reals(s, s->a, &room_a), reals(s, s->b, &room_b), s->n);
    set_real(s->to);
}

static void run_real(const struct step *s)
{
    union lane room;
    const double *from = reals(s, s->a, &room);
    if (s->to->lane->real != from)
        memcpy(s->to->lane->real, from, s->n * sizeof *from);
    set_real(s->to);
}

static void run_age(const struct step *s)
{
    s->k->age(s->to->lane->real, s->a->lane->integer, s->b->lane->integer, s->n);
    set_real(s->to);
}

static void run_recency(const struct step *s)
{
    union lane room_c, age;
    bool has_null = s->a->has_null;
    s->k->age(age.real, s->a->lane->integer, s->b->lane->integer, s->n);
    s->k->recency(s->to->lane->real, age.real, reals(s, s->c, &room_c), s->n);
    if (has_null)
        s->k->zero_null(s->to->lane->real, s->a->nulls, s->n);
    set_real(s->to);
}

static void run_random(const struct step *s)
{
    union lane room_a;
    s->k->random_(s->to->lane->real, reals(s, s->a, &room_a), s->b->lane->integer, s->n);
    set_real(s->to);
}

static void run_rise(const struct step *s, double ratio)
{
    union lane room_a, room_b;
    s->k->rise(s->to->lane->real, reals(s, s->a, &room_a), reals(s, s->b, &room_b), ratio, s->n);
    set_real(s->to);
}

/* Integers compared with reals where one of them is too large to be a double: one by one. */
static void compare_mixed(uint8_t *truth, const struct reg *a, const struct reg *b, bool equal, uint8_t flip, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        int order = a->class == REG_INT ? num_compare_int_real(a->lane->integer[i], b->lane->real[i])
                                        : -num_compare_int_real(b->lane->integer[i], a->lane->real[i]);
        truth[i] = (uint8_t)((equal ? order == 0 : order < 0) ^ flip);
    }
}

/* a = b or a < b, or the opposite (flip). */
static void run_compare(const struct step *s, const struct reg *a, const struct reg *b, bool equal, uint8_t flip)
{
    uint8_t truth[BLOCK_MAX]; /* aside: the result's bytes may be an operand's nulls */
    unsigned n = s->n;
    union lane room_a, room_b;
    const struct reg *integer = a->class == REG_INT ? a : b;
    if (a->class == REG_INT && b->class == REG_INT)
        (equal ? s->k->equal_int : s->k->less_int)(truth, a->lane->integer, b->lane->integer, flip, n);
    else if (integer->class != REG_INT || s->k->ints_fit(integer->lane->integer, n))
        (equal ? s->k->equal_real : s->k->less_real)(truth, reals(s, a, &room_a), reals(s, b, &room_b), flip, n);
    else
        compare_mixed(truth, a, b, equal, flip, n);
    if (a->has_null)
        s->k->mask_null(truth, a->nulls, n);
    if (b->has_null)
        s->k->mask_null(truth, b->nulls, n);
    memcpy(s->to->nulls, truth, n);
    set_truth(s->to);
}

/* ---- IN ---- */

static bool has_integer(const struct number_list *list, int64_t v)
{
    size_t low = 0, high = list->n_integers;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->integers[middle] < v)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->n_integers && list->integers[low] == v;
}

static bool has_real(const struct number_list *list, double v)
{
    if (v >= -0x1p63 && v < 0x1p63 && (double)(int64_t)v == v)
        return has_integer(list, (int64_t)v);
    size_t low = 0, high = list->n_reals;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->reals[middle] < v)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->n_reals && list->reals[low] == v;
}

static void run_in(const struct step *s, const struct number_list *list)
{
    uint8_t *truth = s->to->nulls;
    const struct reg *a = s->a;
    bool empty = list->n_integers == 0 && list->n_reals == 0 && !list->has_null;
    uint8_t otherwise = list->has_null ? TRUTH_NULL : TRUTH_FALSE;
    for (unsigned i = 0; i < s->n; i++) {
        if (empty)
            truth[i] = TRUTH_FALSE;
        else if (a->has_null && a->nulls[i])
            truth[i] = TRUTH_NULL;
        else if (a->class == REG_INT ? has_integer(list, a->lane->integer[i]) : has_real(list, a->lane->real[i]))
            truth[i] = TRUTH_TRUE;
        else
            truth[i] = otherwise;
    }
    set_truth(s->to);
}

/* ---- truth ---- */

static void run_is_null(const struct step *s)
{
    const struct reg *a = s->a;
    if (a->class == REG_TRUTH)
        s->k->is(s->to->nulls, a->nulls, TRUTH_NULL, s->n);
    else if (a->has_null)
        s->k->is(s->to->nulls, a->nulls, 1, s->n);
    else
        memset(s->to->nulls, TRUTH_FALSE, s->n);
    set_truth(s->to);
}

static void run_if(const struct step *s)
{
    union lane room_b, room_c;
    s->k->choose(s->to->lane->real, s->a->nulls, reals(s, s->b, &room_b), reals(s, s->c, &room_c), s->n);
    set_real(s->to);
}

static void run_truth(const struct step *s, enum op_code code)
{
    uint8_t *to = s->to->nulls;
    if (code == OP_AND)
        s->k->both(to, s->a->nulls, s->b->nulls, s->n);
    else if (code == OP_OR)
        s->k->either(to, s->a->nulls, s->b->nulls, s->n);
    else
        s->k->opposite(to, s->a->nulls, s->n);
    set_truth(s->to);
}

static void run_truth_real(const struct step *s)
{
    s->k->truth_real(s->to->lane->real, s->a->nulls, s->n);
    set_real(s->to);
}

static void run_op(const struct step *s, const struct op *op, const struct number_list *lists)
{
    switch ((enum op_code)op->code) {
    case OP_ADD: run_binary(s, s->k->add); break;
    case OP_SUB: run_binary(s, s->k->subtract); break;
    case OP_MUL: run_binary(s, s->k->multiply); break;
    case OP_DIV: run_binary(s, s->k->divide); break;
    case OP_POW: run_binary(s, s->k->power); break;
    case OP_MIN: run_binary(s, s->k->least); break;
    case OP_MAX: run_binary(s, s->k->greatest); break;
    case OP_WILSON: run_binary(s, s->k->wilson); break;
    case OP_NEG: run_unary(s, s->k->negate); break;
    case OP_ABS: run_unary(s, s->k->absolute); break;
    case OP_SIGN: run_unary(s, s->k->sign); break;
    case OP_SQRT: run_unary(s, s->k->root); break;
    case OP_LOG1P: run_unary(s, s->k->log1p_); break;
    case OP_EXP: run_unary(s, s->k->exp_); break;
    case OP_REAL: run_real(s); break;
    case OP_AGE: run_age(s); break;
    case OP_RECENCY: run_recency(s); break;
    case OP_RANDOM: run_random(s); break;
    case OP_RISE: run_rise(s, op->immediate); break;
    /* a <= b is not b < a, and so on: values are never "not a number", so every pair is ordered. */
    case OP_EQ: run_compare(s, s->a, s->b, true, 0); break;
    case OP_NE: run_compare(s, s->a, s->b, true, 1); break;
    case OP_LT: run_compare(s, s->a, s->b, false, 0); break;
    case OP_GE: run_compare(s, s->a, s->b, false, 1); break;
    case OP_GT: run_compare(s, s->b, s->a, false, 0); break;
    case OP_LE: run_compare(s, s->b, s->a, false, 1); break;
    case OP_IN: run_in(s, &lists[op->list]); break;
    case OP_IS_NULL: run_is_null(s); break;
    case OP_AND:
    case OP_OR:
    case OP_NOT: run_truth(s, (enum op_code)op->code); break;
    case OP_IF: run_if(s); break;
    case OP_TRUTH_REAL: run_truth_real(s); break;
    case OP_COUNT: assert(false); break;
    }
}

void program_run(const struct op *ops, unsigned n_ops, struct reg *regs, const struct number_list *lists, unsigned n)
{
    assert(n <= BLOCK_MAX);
    const struct kernels *k = kernels_best();
    for (unsigned i = 0; i < n_ops; i++) {
        const struct op *op = &ops[i];
        struct step s = {.k = k, .to = &regs[op->to], .a = &regs[op->a], .b = &regs[op->b], .c = &regs[op->c], .n = n};
        run_op(&s, op, lists);
    }
}
