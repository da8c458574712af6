/* SPDX-License-Identifier: MIT */
#include "rank/numbers.h"

#include <stdbool.h>

/* |a|^b = 2^(b log2 |a|), a > 0, the exponent in two parts. */
static double pow_positive(double a, double b)
{
    double rest, log = log2_parts(a, &rest);
    double product = log * b;
    if (product > 1100.0)
        return DBL_MAX;
    if (product < -1100.0)
        return 0.0;
    double log_head = head_bits(log), log_tail = log - log_head;
    double b_head = head_bits(b), b_tail = b - b_head;
    double error = ((log_head * b_head - product) + log_head * b_tail + log_tail * b_head) + log_tail * b_tail;
    return exp2_parts(product, error + rest * b);
}

static bool is_odd(double whole)
{
    return fabs(whole) < 0x1p53 && ((int64_t)whole & 1);
}

static bool is_whole(double x)
{
    return fabs(x) >= 0x1p52 || (double)(int64_t)x == x;
}

double num_pow(double a, double b)
{
    a = num_finite(a);
    b = num_finite(b);
    if (b == 0.0)
        return 1.0;
    if (a == 0.0)
        return 0.0;
    if (a > 0.0)
        return num_finite(pow_positive(a, b));
    if (!is_whole(b))
        return 0.0;
    double size = num_finite(pow_positive(-a, b));
    return is_odd(b) ? -size : size;
}

int num_compare_int_real(int64_t a, double b)
{
    if (b != b)
        b = 0.0;
    if (b >= 0x1p63)
        return -1;
    if (b < -0x1p63)
        return 1;
    int64_t whole = (int64_t)b; /* toward zero */
    if (a != whole)
        return a < whole ? -1 : 1;
    double fraction = b - (double)whole;
    return (fraction < 0.0) - (fraction > 0.0);
}
