/* SPDX-License-Identifier: MIT */
/* Included by kernels.c once per level: KERNEL(name) is the name of a function at that level, KERNEL_TABLE that of the table. No guard. */

#define UNARY(name, value)                                            \
    static void KERNEL(name)(double *to, const double *a, unsigned n) \
    {                                                                 \
        EACH(i, n, to[i] = value);                                    \
    }
#define BINARY(name, value)                                                            \
    static void KERNEL(name)(double *to, const double *a, const double *b, unsigned n) \
    {                                                                                  \
        EACH(i, n, to[i] = value);                                                     \
    }
#define COMPARE(name, type, value)                                                                 \
    static void KERNEL(name)(uint8_t * to, const type *a, const type *b, uint8_t flip, unsigned n) \
    {                                                                                              \
        EACH(i, n, to[i] = (uint8_t)((value) ^ flip));                                             \
    }

UNARY(negate, -a[i])
UNARY(absolute, fabs(a[i]))
UNARY(sign, num_sign(a[i]))
UNARY(root, num_sqrt(a[i]))
UNARY(log1p_, num_log1p(a[i]))
UNARY(exp_, num_exp(a[i]))

BINARY(add, num_finite(a[i] + b[i]))
BINARY(subtract, num_finite(a[i] - b[i]))
BINARY(multiply, num_finite(a[i] * b[i]))
BINARY(divide, num_div(a[i], b[i]))
BINARY(least, num_min(a[i], b[i]))
BINARY(greatest, num_max(a[i], b[i]))
BINARY(wilson, num_wilson(a[i], b[i]))
BINARY(recency, num_recency(a[i], b[i]))

COMPARE(equal_real, double, a[i] == b[i])
COMPARE(less_real, double, a[i] < b[i])
COMPARE(equal_int, int64_t, a[i] == b[i])
COMPARE(less_int, int64_t, a[i] < b[i])

#undef UNARY
#undef BINARY
#undef COMPARE

static void KERNEL(power)(double *to, const double *a, const double *b, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        to[i] = num_pow(a[i], b[i]);
}

static void KERNEL(rise)(double *to, const double *a, const double *b, double ratio, unsigned n)
{
    EACH(i, n, to[i] = num_rise(a[i], b[i], ratio));
}

static void KERNEL(age)(double *to, const int64_t *t, const int64_t *now, unsigned n)
{
    EACH(i, n, to[i] = num_age(t[i], now[i]));
}

static void KERNEL(random_)(double *to, const double *seed, const int64_t *slot, unsigned n)
{
    EACH(i, n, to[i] = num_random(seed[i], (uint32_t)slot[i]));
}

static void KERNEL(to_real)(double *to, const int64_t *a, unsigned n)
{
    EACH(i, n, to[i] = (double)a[i]);
}

static bool KERNEL(ints_fit)(const int64_t *a, unsigned n)
{
    const uint64_t most = (uint64_t)1 << 53;
    uint64_t over = 0;
    EACH(i, n, over |= ((uint64_t)a[i] + most) & ~(2 * most - 1));
    return over == 0;
}

/* False decides; else null does. */
static void KERNEL(both)(uint8_t *to, const uint8_t *a, const uint8_t *b, unsigned n)
{
    EACH(i, n, uint8_t low = a[i] < b[i] ? a[i] : b[i]; uint8_t high = a[i] < b[i] ? b[i] : a[i]; to[i] = low ? high : TRUTH_FALSE);
}

/* True decides; else null does. */
static void KERNEL(either)(uint8_t *to, const uint8_t *a, const uint8_t *b, unsigned n)
{
    EACH(i, n, to[i] = (uint8_t)((a[i] | b[i]) & 1 ? TRUTH_TRUE : a[i] | b[i]));
}

static void KERNEL(opposite)(uint8_t *to, const uint8_t *a, unsigned n)
{
    EACH(i, n, to[i] = (uint8_t)(a[i] == TRUTH_NULL ? TRUTH_NULL : a[i] ^ 1));
}

static void KERNEL(is)(uint8_t *to, const uint8_t *a, uint8_t value, unsigned n)
{
    EACH(i, n, to[i] = a[i] == value);
}

/* The choices below are masks, not conditions: gcc 12 at -O3 makes of a byte's condition over doubles a masked load under the wrong mask. */

static void KERNEL(mask_null)(uint8_t *to, const uint8_t *nulls, unsigned n)
{
    EACH(i, n, unsigned null = 0u - (nulls[i] != 0); to[i] = (uint8_t)((TRUTH_NULL & null) | (to[i] & ~null)));
}

static void KERNEL(zero_null)(double *to, const uint8_t *nulls, unsigned n)
{
    EACH(i, n, uint64_t kept = (uint64_t)(nulls[i] != 0) - 1; to[i] = of_bits(bits_of(to[i]) & kept));
}

static void KERNEL(truth_real)(double *to, const uint8_t *a, unsigned n)
{
    EACH(i, n, to[i] = (double)(a[i] == TRUTH_TRUE));
}

static void KERNEL(choose)(double *to, const uint8_t *condition, const double *yes, const double *no, unsigned n)
{
    EACH(i, n, uint64_t mask = 0u - (uint64_t)(condition[i] == TRUTH_TRUE);
         to[i] = of_bits((bits_of(yes[i]) & mask) | (bits_of(no[i]) & ~mask)));
}

static const struct kernels KERNEL_TABLE = {
#define X(type, name) .name = KERNEL(name),
    KERNEL_LIST(X)
#undef X
};
