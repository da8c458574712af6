/* SPDX-License-Identifier: MIT */
#include "rank/kernels.h"

#include <string.h>

#include "rank/program.h"

/* An element depends on the same element of each operand only, so the order of the iterations is free; the compilers have to be told, since `to`
 * may be an operand. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* a loop that stays scalar is slower, not wrong */
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* for (i = 0; i < n; i++) statement. Whole chunks first: at -O2 gcc makes vector code of a loop only if its length is known. */
enum { CHUNK = 16 };
#define EACH(i, n, statement)                                       \
    do {                                                            \
        unsigned start_ = 0;                                        \
        for (; start_ + CHUNK <= (n); start_ += CHUNK) {            \
            INDEPENDENT                                             \
            for (unsigned j_ = 0; j_ < CHUNK; j_++) {               \
                unsigned i = start_ + j_;                           \
                statement;                                          \
            }                                                       \
        }                                                           \
        for (unsigned i = start_; i < (n); i++)                     \
            statement;                                              \
    } while (0)

#define UNARY(name, value)                                          \
    void name(double *to, const double *a, unsigned n)              \
    {                                                               \
        EACH(i, n, to[i] = value);                                  \
    }
#define BINARY(name, value)                                         \
    void name(double *to, const double *a, const double *b, unsigned n) \
    {                                                               \
        EACH(i, n, to[i] = value);                                  \
    }
#define COMPARE(name, type, value)                                  \
    void name(uint8_t *to, const type *a, const type *b, uint8_t flip, unsigned n) \
    {                                                               \
        EACH(i, n, to[i] = (uint8_t)((value) ^ flip));              \
    }

UNARY(kernel_neg, -a[i])
UNARY(kernel_abs, fabs(a[i]))
UNARY(kernel_sign, num_sign(a[i]))
UNARY(kernel_sqrt, num_sqrt(a[i]))
UNARY(kernel_log1p, num_log1p(a[i]))
UNARY(kernel_exp, num_exp(a[i]))

BINARY(kernel_add, num_finite(a[i] + b[i]))
BINARY(kernel_sub, num_finite(a[i] - b[i]))
BINARY(kernel_mul, num_finite(a[i] * b[i]))
BINARY(kernel_div, num_div(a[i], b[i]))
BINARY(kernel_min, num_min(a[i], b[i]))
BINARY(kernel_max, num_max(a[i], b[i]))
BINARY(kernel_wilson, num_wilson(a[i], b[i]))
BINARY(kernel_recency, num_recency(a[i], b[i]))

COMPARE(kernel_equal_real, double, a[i] == b[i])
COMPARE(kernel_less_real, double, a[i] < b[i])
COMPARE(kernel_equal_int, int64_t, a[i] == b[i])
COMPARE(kernel_less_int, int64_t, a[i] < b[i])

void kernel_pow(double *to, const double *a, const double *b, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        to[i] = num_pow(a[i], b[i]);
}

void kernel_copy(double *to, const double *a, unsigned n)
{
    if (to != a)
        memcpy(to, a, n * sizeof *to);
}

void kernel_int_to_real(double *to, const int64_t *a, unsigned n)
{
    EACH(i, n, to[i] = (double)a[i]);
}

bool kernel_ints_fit(const int64_t *a, unsigned n)
{
    const uint64_t most = (uint64_t)1 << 53;
    uint64_t over = 0;
    for (unsigned i = 0; i < n; i++)
        over |= ((uint64_t)a[i] + most) & ~(2 * most - 1);
    return over == 0;
}

void kernel_age(double *to, const int64_t *t, const int64_t *now, unsigned n)
{
    EACH(i, n, to[i] = num_age(t[i], now[i]));
}

void kernel_random(double *to, const double *seed, const int64_t *slot, unsigned n)
{
    EACH(i, n, to[i] = num_random(seed[i], (uint32_t)slot[i]));
}

void kernel_rise(double *to, const double *a, const double *b, double ratio, unsigned n)
{
    EACH(i, n, to[i] = num_rise(a[i], b[i], ratio));
}

void kernel_zero_null(double *to, const uint8_t *nulls, unsigned n)
{
    EACH(i, n, to[i] = nulls[i] ? 0.0 : to[i]);
}

void kernel_mask_null(uint8_t *to, const uint8_t *nulls, unsigned n)
{
    EACH(i, n, to[i] = nulls[i] ? (uint8_t)TRUTH_NULL : to[i]);
}

/* False decides; else both true is true; else null. */
void kernel_and(uint8_t *to, const uint8_t *a, const uint8_t *b, unsigned n)
{
    EACH(i, n, to[i] = (uint8_t)(a[i] == 0 || b[i] == 0 ? TRUTH_FALSE : (a[i] | b[i]) == 1 ? TRUTH_TRUE : TRUTH_NULL));
}

/* True decides; else both false is false; else null. */
void kernel_or(uint8_t *to, const uint8_t *a, const uint8_t *b, unsigned n)
{
    EACH(i, n, to[i] = (uint8_t)((a[i] | b[i]) & 1 ? TRUTH_TRUE : a[i] | b[i]));
}

void kernel_not(uint8_t *to, const uint8_t *a, unsigned n)
{
    EACH(i, n, to[i] = (uint8_t)(a[i] == TRUTH_NULL ? TRUTH_NULL : a[i] ^ 1));
}

void kernel_is(uint8_t *to, const uint8_t *a, uint8_t value, unsigned n)
{
    EACH(i, n, to[i] = a[i] == value);
}

void kernel_truth_to_real(double *to, const uint8_t *a, unsigned n)
{
    EACH(i, n, to[i] = a[i] == TRUTH_TRUE ? 1.0 : 0.0);
}

void kernel_choose(double *to, const uint8_t *condition, const double *yes, const double *no, unsigned n)
{
    EACH(i, n, to[i] = condition[i] == TRUTH_TRUE ? yes[i] : no[i]);
}
