/* SPDX-License-Identifier: MIT */
/* Programs: each operation by hand, random programs against a scalar evaluator, and the kernels of every vector width against each other. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "effort.h"

#include "rank/kernels.h"
#include "rank/program.h"

static uint64_t seed = 1;

static uint32_t below(uint32_t n)
{
    return (uint32_t)(mix64(seed++) % n);
}

/* ---- registers ---- */

enum { REGISTERS = 24 };
static union lane lanes[REGISTERS];
static uint8_t nulls[REGISTERS][BLOCK_MAX];
static struct reg regs[REGISTERS];

static void clear_registers(void)
{
    memset(lanes, 0x5a, sizeof lanes);
    memset(nulls, 0x5a, sizeof nulls);
    for (unsigned i = 0; i < REGISTERS; i++)
        regs[i] = (struct reg){.class = REG_REAL, .nulls = nulls[i], .lane = &lanes[i]};
}

static void set_null(struct reg *r, unsigned i, bool null)
{
    if (null) {
        if (!r->has_null)
            memset(r->nulls, 0, BLOCK_MAX);
        r->has_null = true;
        r->lane->integer[i] = 0;
        r->nulls[i] = 1;
    }
}

static void set_truth(struct reg *r, unsigned i, enum truth t)
{
    r->class = REG_TRUTH;
    r->nulls[i] = (uint8_t)t;
}

static void run_op(struct op op, const struct number_list *lists, unsigned n)
{
    program_run(&op, 1, regs, lists, n);
}

static void assert_real(double got, double want)
{
    if (!(got == want))
        fail_msg("got %a (%.17g), want %a (%.17g)", got, got, want, want);
}

/* The value of an operation on constants, in every place of the block. */
static double value_of(struct op op)
{
    op.to = 9;
    run_op(op, NULL, BLOCK_MAX);
    assert_int_equal(regs[9].class, REG_REAL);
    assert_false(regs[9].has_null);
    for (unsigned i = 1; i < BLOCK_MAX; i++)
        assert_real(lanes[9].real[i], lanes[9].real[0]);
    return lanes[9].real[0];
}

static double binary(enum op_code code, double a, double b)
{
    clear_registers();
    reg_fill_real(&regs[0], a);
    reg_fill_real(&regs[1], b);
    return value_of((struct op){.code = (uint16_t)code, .a = 0, .b = 1});
}

static enum truth truth_of(struct op op, const struct number_list *lists)
{
    op.to = 9;
    run_op(op, lists, BLOCK_MAX);
    assert_int_equal(regs[9].class, REG_TRUTH);
    for (unsigned i = 1; i < BLOCK_MAX; i++)
        assert_int_equal(nulls[9][i], nulls[9][0]);
    return nulls[9][0];
}

/* ---- operations by hand ---- */

static void arithmetic(void **state)
{
    (void)state;
    assert_real(binary(OP_ADD, 1.5, 2.25), 3.75);
    assert_real(binary(OP_ADD, DBL_MAX, DBL_MAX), DBL_MAX);
    assert_real(binary(OP_ADD, -DBL_MAX, -DBL_MAX), -DBL_MAX);
    assert_real(binary(OP_SUB, 1, 3), -2);
    assert_real(binary(OP_SUB, -DBL_MAX, DBL_MAX), -DBL_MAX);
    assert_real(binary(OP_MUL, -3, 0.5), -1.5);
    assert_real(binary(OP_MUL, 1e200, 1e200), DBL_MAX);
    assert_real(binary(OP_MUL, 1e200, -1e200), -DBL_MAX);
    assert_real(binary(OP_DIV, 1, 8), 0.125);
    assert_real(binary(OP_DIV, 1, 0), 0);
    assert_real(binary(OP_DIV, 0, -0.0), 0);
    assert_real(binary(OP_DIV, -1e300, 1e-300), -DBL_MAX);
    assert_real(binary(OP_MIN, 1, -2), -2);
    assert_real(binary(OP_MAX, 1, -2), 1);
    assert_real(binary(OP_POW, 2, 10), 1024);
    assert_real(binary(OP_POW, -8, 1.0 / 3), 0);
    assert_real(binary(OP_WILSON, 10, 0), num_wilson(10, 0));
    assert_real(binary(OP_NEG, 2, 0), -2);
    assert_real(binary(OP_ABS, -2.5, 0), 2.5);
    assert_real(binary(OP_SIGN, -2.5, 0), -1);
    assert_real(binary(OP_SIGN, 0, 0), 0);
    assert_real(binary(OP_SQRT, 2.25, 0), 1.5);
    assert_real(binary(OP_SQRT, -1, 0), 0);
    assert_real(binary(OP_LOG1P, 0, 0), 0);
    assert_real(binary(OP_LOG1P, -5, 0), num_log1p(-1 + 0x1p-53));
    assert_real(binary(OP_EXP, 0, 0), 1);
    assert_real(binary(OP_EXP, 1000, 0), DBL_MAX);
    assert_real(binary(OP_REAL, 2.5, 0), 2.5);
    clear_registers();
    reg_fill_real(&regs[0], 9);
    reg_fill_int(&regs[1], 4);
    assert_real(value_of((struct op){.code = OP_RISE, .a = 0, .b = 1, .immediate = 0.25}), 5);
    assert_real(value_of((struct op){.code = OP_RANDOM, .a = 1, .b = 1}), num_random(4, 4));
    assert_real(value_of((struct op){.code = OP_MUL, .a = 0, .b = 1}), 36);
}

static void constants_fill_the_block(void **state)
{
    (void)state;
    clear_registers();
    reg_fill_real(&regs[0], INFINITY);
    reg_fill_real(&regs[1], NAN);
    reg_fill_int(&regs[2], INT64_MIN);
    regs[4].class = REG_TRUTH;
    reg_fill_null(&regs[3]);
    reg_fill_null(&regs[4]);
    for (unsigned i = 0; i < BLOCK_MAX; i++) {
        assert_real(lanes[0].real[i], DBL_MAX);
        assert_real(lanes[1].real[i], 0);
        assert_true(lanes[2].integer[i] == INT64_MIN);
        assert_int_equal(lanes[3].integer[i], 0);
        assert_int_equal(nulls[3][i], 1);
        assert_int_equal(nulls[4][i], TRUTH_NULL);
    }
    assert_int_equal(regs[2].class, REG_INT);
    assert_true(regs[3].has_null);
    assert_int_equal(regs[4].class, REG_TRUTH);
}

static void null_counts_as_zero(void **state)
{
    (void)state;
    clear_registers();
    reg_fill_null(&regs[0]);
    reg_fill_real(&regs[1], 3);
    assert_real(value_of((struct op){.code = OP_ADD, .a = 0, .b = 1}), 3);
    assert_real(value_of((struct op){.code = OP_MUL, .a = 0, .b = 1}), 0);
    assert_real(value_of((struct op){.code = OP_DIV, .a = 1, .b = 0}), 0);
    assert_real(value_of((struct op){.code = OP_MIN, .a = 1, .b = 0}), 0);
    assert_real(value_of((struct op){.code = OP_EXP, .a = 0}), 1);
    assert_real(value_of((struct op){.code = OP_REAL, .a = 0}), 0);
    regs[0].class = REG_INT; /* the same bits are an integer 0 */
    assert_real(value_of((struct op){.code = OP_REAL, .a = 0}), 0);
    assert_real(value_of((struct op){.code = OP_RANDOM, .a = 0, .b = 0}), 0x1.4e0dba5e9a32fp-1);
}

static void times(void **state)
{
    (void)state;
    clear_registers();
    reg_fill_int(&regs[0], 5000000);
    reg_fill_int(&regs[1], 8000000);
    reg_fill_real(&regs[2], 3);
    reg_fill_int(&regs[3], 3);
    reg_fill_null(&regs[4]);
    assert_real(value_of((struct op){.code = OP_AGE, .a = 0, .b = 1}), 3);
    assert_real(value_of((struct op){.code = OP_AGE, .a = 1, .b = 0}), 0);
    assert_real(value_of((struct op){.code = OP_AGE, .a = 4, .b = 1}), 8); /* null: 1970 */
    assert_real(value_of((struct op){.code = OP_RECENCY, .a = 0, .b = 1, .c = 2}), 0.5);
    assert_real(value_of((struct op){.code = OP_RECENCY, .a = 0, .b = 1, .c = 3}), 0.5);
    assert_real(value_of((struct op){.code = OP_RECENCY, .a = 1, .b = 0, .c = 2}), 1);
    assert_real(value_of((struct op){.code = OP_RECENCY, .a = 4, .b = 1, .c = 2}), 0);
    reg_fill_int(&regs[0], -62135596800000000); /* 0001-01-01 */
    reg_fill_int(&regs[1], 253402300799999999); /* 9999-12-31 23:59:59.999999 */
    assert_real(value_of((struct op){.code = OP_AGE, .a = 0, .b = 1}), 315537897599.999999);
    /* A null among times. */
    set_null(&regs[0], 3, true);
    run_op((struct op){.code = OP_RECENCY, .to = 9, .a = 0, .b = 1, .c = 2}, NULL, 5);
    assert_real(lanes[9].real[3], 0);
}

/* Every order of two numbers, through all six comparisons. */
static void assert_order(int want, const char *what)
{
    static const uint16_t codes[] = {OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE};
    const bool truths[] = {want == 0, want != 0, want<0, want <= 0, want> 0, want >= 0};
    for (int i = 0; i < 6; i++)
        if (truth_of((struct op){.code = codes[i], .a = 0, .b = 1}, NULL) != (enum truth)truths[i])
            fail_msg("%s: comparison %d is wrong for order %d", what, i, want);
}

static void compare(const char *what, bool a_int, int64_t ai, double ar, bool b_int, int64_t bi, double br, int want)
{
    clear_registers();
    a_int ? reg_fill_int(&regs[0], ai) : reg_fill_real(&regs[0], ar);
    b_int ? reg_fill_int(&regs[1], bi) : reg_fill_real(&regs[1], br);
    assert_order(want, what);
}

static void comparisons(void **state)
{
    (void)state;
    const int64_t two53 = (int64_t)1 << 53;
#define REALS(a, b, want) compare(#a " and " #b, false, 0, a, false, 0, b, want)
#define INTS(a, b, want) compare(#a " and " #b, true, a, 0, true, b, 0, want)
#define MIXED(a, b, want) (compare(#a " and " #b, true, a, 0, false, 0, b, want), compare(#b " and " #a, false, 0, b, true, a, 0, -(want)))
    REALS(1.5, 1.5, 0);
    REALS(-0.0, 0.0, 0);
    REALS(-1, 0x1p-1074, -1);
    REALS(DBL_MAX, 1, 1);
    INTS(two53, two53 + 1, -1);
    INTS(INT64_MIN, INT64_MAX, -1);
    INTS(7, 7, 0);
    MIXED(7, 7.0, 0);
    MIXED(7, 7.5, -1);
    MIXED(-7, -7.5, 1);
    MIXED(two53, 0x1p53, 0);
    MIXED(two53 + 1, 0x1p53, 1);
    MIXED(two53 + 1, 0x1p53 + 2, -1);
    MIXED(-two53 - 1, -0x1p53, -1);
    MIXED(INT64_MAX, 0x1p63, -1);
    MIXED(INT64_MAX, 0x1p63 - 1024, 1);
    MIXED(INT64_MIN, -0x1p63, 0);
    MIXED(INT64_MIN, -0x1.0000000000001p63, 1);
    MIXED(0, -0.0, 0);
#undef REALS
#undef INTS
#undef MIXED
}

static void comparisons_with_null(void **state)
{
    (void)state;
    static const uint16_t codes[] = {OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE};
    clear_registers();
    reg_fill_real(&regs[0], 1);
    reg_fill_null(&regs[1]);
    reg_fill_int(&regs[2], (int64_t)1 << 60);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(truth_of((struct op){.code = codes[i], .a = 0, .b = 1}, NULL), TRUTH_NULL);
        assert_int_equal(truth_of((struct op){.code = codes[i], .a = 1, .b = 0}, NULL), TRUTH_NULL);
        assert_int_equal(truth_of((struct op){.code = codes[i], .a = 1, .b = 1}, NULL), TRUTH_NULL);
        assert_int_equal(truth_of((struct op){.code = codes[i], .a = 2, .b = 1}, NULL), TRUTH_NULL);
    }
    assert_int_equal(truth_of((struct op){.code = OP_IS_NULL, .a = 0}, NULL), TRUTH_FALSE);
    assert_int_equal(truth_of((struct op){.code = OP_IS_NULL, .a = 1}, NULL), TRUTH_TRUE);
}

static void truth_tables(void **state)
{
    (void)state;
    enum { F = TRUTH_FALSE, T = TRUTH_TRUE, N = TRUTH_NULL };
    static const uint8_t and[3][3] = {{F, F, F}, {F, T, N}, {F, N, N}};
    static const uint8_t or [3][3] = {{F, T, N}, {T, T, T}, {N, T, N}};
    static const uint8_t not [3] = {T, F, N};
    for (uint8_t a = 0; a < 3; a++) {
        clear_registers();
        for (unsigned i = 0; i < BLOCK_MAX; i++)
            set_truth(&regs[0], i, a);
        assert_int_equal(truth_of((struct op){.code = OP_NOT, .a = 0}, NULL), not [a]);
        assert_int_equal(truth_of((struct op){.code = OP_IS_NULL, .a = 0}, NULL), a == N);
        assert_real(value_of((struct op){.code = OP_TRUTH_REAL, .a = 0}), a == T ? 1 : 0);
        for (uint8_t b = 0; b < 3; b++) {
            for (unsigned i = 0; i < BLOCK_MAX; i++)
                set_truth(&regs[1], i, b);
            assert_int_equal(truth_of((struct op){.code = OP_AND, .a = 0, .b = 1}, NULL), and[a][b]);
            assert_int_equal(truth_of((struct op){.code = OP_OR, .a = 0, .b = 1}, NULL), or [a][b]);
        }
        reg_fill_real(&regs[2], 2.5);
        reg_fill_int(&regs[3], 7);
        reg_fill_null(&regs[4]);
        assert_real(value_of((struct op){.code = OP_IF, .a = 0, .b = 2, .c = 3}), a == T ? 2.5 : 7);
        assert_real(value_of((struct op){.code = OP_IF, .a = 0, .b = 4, .c = 3}), a == T ? 0 : 7);
    }
}

static enum truth in_list(bool is_int, int64_t i, double r, const struct number_list *list)
{
    clear_registers();
    is_int ? reg_fill_int(&regs[0], i) : reg_fill_real(&regs[0], r);
    return truth_of((struct op){.code = OP_IN, .a = 0, .list = 1}, list);
}

static void membership(void **state)
{
    (void)state;
    const int64_t two53 = (int64_t)1 << 53;
    const int64_t integers[] = {INT64_MIN, -3, 0, 7, two53 + 1, (int64_t)3 << 61, INT64_MAX};
    const double reals[] = {-1e300, -0.5, 0.25, 0x1p63, 1e300};
    struct number_list lists[2] = {{0}, {integers, reals, 7, 5, false}};
    for (int null = 0; null < 2; null++) {
        lists[1].has_null = null;
        enum truth no = null ? TRUTH_NULL : TRUTH_FALSE;
        for (int i = 0; i < 7; i++)
            assert_int_equal(in_list(true, integers[i], 0, lists), TRUTH_TRUE);
        for (int i = 0; i < 5; i++)
            assert_int_equal(in_list(false, 0, reals[i], lists), TRUTH_TRUE);
        assert_int_equal(in_list(false, 0, -0.0, lists), TRUTH_TRUE);
        assert_int_equal(in_list(false, 0, 7.0, lists), TRUTH_TRUE);
        assert_int_equal(in_list(false, 0, 0x3p61, lists), TRUTH_TRUE);
        assert_int_equal(in_list(false, 0, -0x1p63, lists), TRUTH_TRUE);
        assert_int_equal(in_list(true, two53, 0, lists), no);
        assert_int_equal(in_list(false, 0, 0x1p53, lists), no);
        assert_int_equal(in_list(false, 0, 7.5, lists), no);
        assert_int_equal(in_list(true, 1, 0, lists), no);
        assert_int_equal(in_list(false, 0, 0.2, lists), no);
    }
    clear_registers();
    reg_fill_null(&regs[0]);
    assert_int_equal(truth_of((struct op){.code = OP_IN, .a = 0, .list = 1}, lists), TRUTH_NULL);
    lists[1] = (struct number_list){0}; /* empty */
    assert_int_equal(truth_of((struct op){.code = OP_IN, .a = 0, .list = 1}, lists), TRUTH_FALSE);
    assert_int_equal(in_list(true, 7, 0, lists), TRUTH_FALSE);
    lists[1].has_null = true; /* only null */
    assert_int_equal(in_list(true, 7, 0, lists), TRUTH_NULL);
}

/* ---- random programs against a scalar evaluator ---- */

struct scalar {
    uint8_t class;
    bool null;
    double real;
    int64_t integer;
    enum truth truth;
};

static double as_real(const struct scalar *s)
{
    return s->null ? 0 : s->class == REG_INT ? (double)s->integer : s->real;
}

/* Exact where long double holds every i64, as on x86. */
static int order_of(const struct scalar *a, const struct scalar *b)
{
    if (a->class == REG_INT && b->class == REG_INT)
        return (a->integer > b->integer) - (a->integer < b->integer);
    long double x = a->class == REG_INT ? (long double)a->integer : (long double)a->real;
    long double y = b->class == REG_INT ? (long double)b->integer : (long double)b->real;
    return (x > y) - (x < y);
}

static struct scalar real(double x)
{
    return (struct scalar){.class = REG_REAL, .real = x};
}

static struct scalar truth(enum truth t)
{
    return (struct scalar){.class = REG_TRUTH, .truth = t};
}

static struct scalar compare_scalars(enum op_code code, const struct scalar *a, const struct scalar *b)
{
    if (a->null || b->null)
        return truth(TRUTH_NULL);
    int o = order_of(a, b);
    const bool truths[] = {o == 0, o != 0, o<0, o <= 0, o> 0, o >= 0};
    return truth(truths[code - OP_EQ] ? TRUTH_TRUE : TRUTH_FALSE);
}

static struct scalar in_scalar(const struct scalar *a, const struct number_list *list)
{
    if (list->n_integers + list->n_reals == 0 && !list->has_null)
        return truth(TRUTH_FALSE);
    if (a->null)
        return truth(TRUTH_NULL);
    for (size_t i = 0; i < list->n_integers; i++)
        if (order_of(a, &(struct scalar){.class = REG_INT, .integer = list->integers[i]}) == 0)
            return truth(TRUTH_TRUE);
    for (size_t i = 0; i < list->n_reals; i++)
        if (order_of(a, &(struct scalar){.class = REG_REAL, .real = list->reals[i]}) == 0)
            return truth(TRUTH_TRUE);
    return truth(list->has_null ? TRUTH_NULL : TRUTH_FALSE);
}

static struct scalar evaluate(const struct op *op, const struct scalar *r, const struct number_list *lists)
{
    const struct scalar *a = &r[op->a], *b = &r[op->b], *c = &r[op->c];
    double x = as_real(a), y = as_real(b), z = as_real(c);
    switch ((enum op_code)op->code) {
    case OP_ADD: return real(num_finite(x + y));
    case OP_SUB: return real(num_finite(x - y));
    case OP_MUL: return real(num_finite(x * y));
    case OP_DIV: return real(num_div(x, y));
    case OP_NEG: return real(-x);
    case OP_ABS: return real(fabs(x));
    case OP_SIGN: return real(num_sign(x));
    case OP_SQRT: return real(num_sqrt(x));
    case OP_LOG1P: return real(num_log1p(x));
    case OP_EXP: return real(num_exp(x));
    case OP_POW: return real(num_pow(x, y));
    case OP_MIN: return real(num_min(x, y));
    case OP_MAX: return real(num_max(x, y));
    case OP_WILSON: return real(num_wilson(x, y));
    case OP_AGE: return real(num_age(a->null ? 0 : a->integer, b->integer));
    case OP_RECENCY: return real(a->null ? 0 : num_recency(num_age(a->integer, b->integer), z));
    case OP_RANDOM: return real(num_random(x, (uint32_t)b->integer));
    case OP_RISE: return real(num_rise(x, y, op->immediate));
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE: return compare_scalars((enum op_code)op->code, a, b);
    case OP_IN: return in_scalar(a, &lists[op->list]);
    case OP_IS_NULL: return truth(a->class == REG_TRUTH ? a->truth == TRUTH_NULL : a->null);
    case OP_AND:
        return truth(a->truth == TRUTH_FALSE || b->truth == TRUTH_FALSE ? TRUTH_FALSE
                     : a->truth == TRUTH_NULL || b->truth == TRUTH_NULL ? TRUTH_NULL
                                                                        : TRUTH_TRUE);
    case OP_OR:
        return truth(a->truth == TRUTH_TRUE || b->truth == TRUTH_TRUE   ? TRUTH_TRUE
                     : a->truth == TRUTH_NULL || b->truth == TRUTH_NULL ? TRUTH_NULL
                                                                        : TRUTH_FALSE);
    case OP_NOT: return truth(a->truth == TRUTH_NULL ? TRUTH_NULL : a->truth == TRUTH_TRUE ? TRUTH_FALSE : TRUTH_TRUE);
    case OP_IF: return real(a->truth == TRUTH_TRUE ? y : z);
    case OP_TRUTH_REAL: return real(a->truth == TRUTH_TRUE);
    case OP_REAL: return real(x);
    case OP_COUNT: break;
    }
    fail_msg("no operation %d", op->code);
    return real(0);
}

static double some_real(void)
{
    static const double odd[] = {0.0,     -0.0,   1,       -1,      0.5,      7,         0x1p53,  0x1p53 + 2,
                                 -0x1p53, 0x1p63, -0x1p63, DBL_MAX, -DBL_MAX, 0x1p-1074, DBL_MIN, 1e-9};
    switch (below(4)) {
    case 0: return odd[below(sizeof odd / sizeof *odd)];
    case 1: return (double)below(10);
    case 2: return ((double)below(1u << 30) / 0x1p20) - 300;
    default: return num_finite(of_bits(mix64(seed++)));
    }
}

static int64_t some_int(void)
{
    static const int64_t odd[] = {
        0, 1, -1, 7, (int64_t)1 << 53, ((int64_t)1 << 53) + 1, -((int64_t)1 << 53) - 1, INT64_MAX, INT64_MIN, 1700000000000000};
    switch (below(4)) {
    case 0: return odd[below(sizeof odd / sizeof *odd)];
    case 1: return (int64_t)below(10);
    case 2: return (int64_t)below(UINT32_MAX) * 1000000;
    default: return (int64_t)mix64(seed++) >> below(64);
    }
}

enum { LONGEST = 40 };

/* Classes of the registers as the program goes; scalars of each place. */
static uint8_t classes[REGISTERS];
static struct scalar places[BLOCK_MAX][REGISTERS];

static void random_inputs(unsigned n)
{
    clear_registers();
    for (unsigned r = 0; r < REGISTERS; r++) {
        classes[r] = (uint8_t)(r % 3);
        regs[r].class = classes[r];
        bool with_nulls = below(2), small = below(2);
        for (unsigned i = 0; i < n; i++) {
            struct scalar *s = &places[i][r];
            *s = (struct scalar){.class = classes[r]};
            if (s->class == REG_TRUTH) {
                s->truth = (enum truth)below(3);
                set_truth(&regs[r], i, s->truth);
                continue;
            }
            s->null = with_nulls && below(4) == 0;
            if (s->class == REG_REAL)
                lanes[r].real[i] = s->real = s->null ? 0 : some_real();
            else
                lanes[r].integer[i] = s->integer = s->null ? 0 : small ? (int64_t)below(10) : some_int();
            set_null(&regs[r], i, s->null);
        }
    }
}

static uint16_t pick(uint8_t class, bool any_number)
{
    for (;;) {
        uint16_t r = (uint16_t)below(REGISTERS);
        if (classes[r] == class || (any_number && classes[r] != REG_TRUTH))
            return r;
    }
}

/* An operation whose operands have the classes it wants, so long as some register has them. */
static struct op random_op(void)
{
    for (;;) {
        struct op op = {.code = (uint16_t)below(OP_COUNT), .to = (uint16_t)below(REGISTERS), .list = (uint16_t)below(3), .immediate = 24};
        unsigned count[3] = {0};
        for (unsigned r = 0; r < REGISTERS; r++)
            count[classes[r]]++;
        bool logic = op.code == OP_AND || op.code == OP_OR || op.code == OP_NOT || op.code == OP_TRUTH_REAL;
        bool timed = op.code == OP_AGE || op.code == OP_RECENCY;
        if (count[REG_TRUTH] < 3 || count[REG_INT] < 3 || count[REG_REAL] < 3)
            return (struct op){.code = OP_COUNT};
        op.a = logic || op.code == OP_IF ? pick(REG_TRUTH, false)
               : timed                   ? pick(REG_INT, false)
               : op.code == OP_IS_NULL   ? (uint16_t)below(REGISTERS)
                                         : pick(REG_REAL, true);
        op.b = logic ? pick(REG_TRUTH, false) : timed || op.code == OP_RANDOM ? pick(REG_INT, false) : pick(REG_REAL, true);
        op.c = pick(REG_REAL, true);
        if (below(4) == 0)
            op.to = below(2) ? op.a : op.b; /* in place */
        return op;
    }
}

static bool gives_truth(uint16_t code)
{
    return (code >= OP_EQ && code <= OP_NOT);
}

static void check_register(unsigned r, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const struct scalar *s = &places[i][r];
        assert_int_equal(regs[r].class, s->class);
        if (s->class == REG_TRUTH) {
            assert_int_equal(nulls[r][i], s->truth);
            continue;
        }
        assert_int_equal(regs[r].has_null && nulls[r][i], s->null);
        if (s->class == REG_REAL && bits_of(lanes[r].real[i]) != bits_of(s->null ? 0 : s->real))
            fail_msg("register %u, place %u: got %a, want %a", r, i, lanes[r].real[i], s->real);
        if (s->class == REG_REAL)
            assert_true(isfinite(lanes[r].real[i]));
    }
}

static void random_programs(void **state)
{
    (void)state;
    const int64_t integers[] = {INT64_MIN, 0, 1, 7, 1 + ((int64_t)1 << 53), INT64_MAX};
    const double reals[] = {-DBL_MAX, 0.5, 0x1p63};
    const struct number_list lists[3] = {{integers, reals, 6, 3, false}, {integers + 1, reals, 3, 0, true}, {0}};
    time_t end = time(NULL) + (time_t)test_seconds(0) / 4;
    unsigned rounds = 0;
    while (rounds < 400 || time(NULL) < end) {
        rounds++;
        unsigned n = below(2) ? BLOCK_MAX : 1 + below(BLOCK_MAX);
        random_inputs(n);
        struct op ops[LONGEST];
        unsigned n_ops = 0;
        while (n_ops < LONGEST) {
            ops[n_ops] = random_op();
            if (ops[n_ops].code == OP_COUNT)
                break;
            const struct op *op = &ops[n_ops++];
            for (unsigned i = 0; i < n; i++)
                places[i][op->to] = evaluate(op, places[i], lists);
            classes[op->to] = gives_truth(op->code) ? REG_TRUTH : REG_REAL;
        }
        program_run(ops, n_ops, regs, lists, n);
        for (unsigned r = 0; r < REGISTERS; r++)
            check_register(r, n);
    }
}

/* Places from n on keep what they had. */
static void stays_within_n(void **state)
{
    (void)state;
    for (uint16_t code = 0; code < OP_COUNT; code++)
        for (unsigned n = 0; n < 40; n++) {
            clear_registers();
            memset(nulls[0], TRUTH_TRUE, BLOCK_MAX);
            memset(lanes[0].integer, 0, sizeof lanes[0]);
            const struct number_list list = {0};
            run_op((struct op){.code = code, .to = 1}, &list, n);
            for (unsigned i = n; i < BLOCK_MAX; i++) {
                assert_int_equal(nulls[1][i], 0x5a);
                assert_int_equal(lanes[1].integer[i], 0x5a5a5a5a5a5a5a5a);
            }
        }
}

/* ---- vector widths ---- */

static double reals_a[BLOCK_MAX], reals_b[BLOCK_MAX], reals_out[BLOCK_MAX];
static int64_t ints_a[BLOCK_MAX], ints_b[BLOCK_MAX];
static uint8_t truth_a[BLOCK_MAX], truth_b[BLOCK_MAX], truth_out[BLOCK_MAX];

/* The checksum of what every kernel of a level makes of the arrays above. */
static uint64_t run_all(const struct kernels *k, unsigned n)
{
    uint64_t sum = 0;
#define REALS(call) (call, sum = mix64(sum ^ checksum64(reals_out, n * sizeof *reals_out)))
#define TRUTH(call) (call, sum = mix64(sum ^ checksum64(truth_out, n)))
    kernel_unary *unaries[] = {k->negate, k->absolute, k->sign, k->root, k->log1p_, k->exp_};
    kernel_binary *binaries[] = {k->add, k->subtract, k->multiply, k->divide, k->power, k->least, k->greatest, k->wilson, k->recency};
    for (size_t i = 0; i < sizeof unaries / sizeof *unaries; i++)
        REALS(unaries[i](reals_out, reals_a, n));
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++)
        REALS(binaries[i](reals_out, reals_a, reals_b, n));
    REALS(k->rise(reals_out, reals_a, reals_b, 24, n));
    REALS(k->age(reals_out, ints_a, ints_b, n));
    REALS(k->random_(reals_out, reals_a, ints_a, n));
    REALS(k->to_real(reals_out, ints_a, n));
    REALS(k->zero_null(reals_out, truth_a, n));
    REALS(k->truth_real(reals_out, truth_a, n));
    REALS(k->choose(reals_out, truth_a, reals_a, reals_b, n));
    for (uint8_t flip = 0; flip < 2; flip++) {
        TRUTH(k->equal_real(truth_out, reals_a, reals_b, flip, n));
        TRUTH(k->less_real(truth_out, reals_a, reals_b, flip, n));
        TRUTH(k->equal_int(truth_out, ints_a, ints_b, flip, n));
        TRUTH(k->less_int(truth_out, ints_a, ints_b, flip, n));
    }
    TRUTH(k->both(truth_out, truth_a, truth_b, n));
    TRUTH(k->either(truth_out, truth_a, truth_b, n));
    TRUTH(k->opposite(truth_out, truth_a, n));
    TRUTH(k->is(truth_out, truth_a, TRUTH_NULL, n));
    TRUTH(k->mask_null(truth_out, truth_b, n));
#undef REALS
#undef TRUTH
    return sum ^ k->ints_fit(ints_a, n);
}

static void widths_give_the_same_bits(void **state)
{
    (void)state;
    if (!kernels_at(KERNELS_WIDE))
        skip();
    for (int round = 0; round < 300; round++) {
        unsigned n = 1 + below(BLOCK_MAX);
        for (unsigned i = 0; i < BLOCK_MAX; i++) {
            reals_a[i] = some_real();
            reals_b[i] = below(3) ? some_real() : reals_a[i];
            ints_a[i] = some_int();
            ints_b[i] = below(3) ? some_int() : ints_a[i];
            truth_a[i] = (uint8_t)below(3);
            truth_b[i] = (uint8_t)below(3);
        }
        assert_true(run_all(kernels_at(KERNELS_PORTABLE), n) == run_all(kernels_at(KERNELS_WIDE), n));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic),
        cmocka_unit_test(constants_fill_the_block),
        cmocka_unit_test(null_counts_as_zero),
        cmocka_unit_test(times),
        cmocka_unit_test(comparisons),
        cmocka_unit_test(comparisons_with_null),
        cmocka_unit_test(truth_tables),
        cmocka_unit_test(membership),
        cmocka_unit_test(random_programs),
        cmocka_unit_test(stays_within_n),
        cmocka_unit_test(widths_give_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
