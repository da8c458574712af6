/* SPDX-License-Identifier: MIT */
/* log2(x), x = 2^k m, m in [45/64, 45/32): with c = j/32 the nearest to m and s = (m - c) / (m + c), |s| < 0.011,
 *
 *     log2(m) = log2(c) + 2/ln 2 * (s + s^3/3 + s^5/5 + ...)
 *
 * log2(c) comes from a table in two parts, s and its product with 2/ln 2 are carried in two parts, the rest is small enough for plain doubles. */
#include "base/exp2.h"

enum { FIRST = 23, LAST = 45 };

/* log2(j/32): a head of 36 bits after the point, to which a whole k is added without rounding, and what is missing. */
static const double log2_table[LAST - FIRST + 1][2] = {
    {-0x1.e7df5fe54p-2, 0x1.d532c412ba94ep-40},  {-0x1.a8ff9718p-2, -0x1.0a5e1817fd3b8p-38},
    {-0x1.6cb0f6864p-2, -0x1.c8ea036da812p-38},  {-0x1.32bfee37p-2, -0x1.dcd0cb4492f1cp-39},
    {-0x1.f5fd8a908p-3, 0x1.c1cb6f70109b1p-39},  {-0x1.8a8980acp-3, 0x1.0b36665592075p-41},
    {-0x1.22dadc2a8p-3, -0x1.9a4b69691d799p-38}, {-0x1.7d60496dp-4, 0x1.12ce6312ebb82p-42},
    {-0x1.77394c9ep-5, 0x1.a9caa8868f1fcp-39},   {0.0, 0.0},
    {0x1.6bad3758p-5, 0x1.dfb0e626c0de1p-38},    {0x1.663f6fadp-4, -0x1.bb3a60cceb1f6p-38},
    {0x1.08c588cd8p-3, 0x1.3cf1cb13de37fp-38},   {0x1.5c01a39f8p-3, 0x1.eb43cfd00589p-38},
    {0x1.acf5e2db8p-3, -0x1.89b6080f709a2p-38},  {0x1.fbc16b9p-3, 0x1.340511d46ccc5p-38},
    {0x1.24407ab1p-2, -0x1.f8c67dba46b46p-38},   {0x1.49a784bccp-2, 0x1.1b8afe492bf7p-38},
    {0x1.6e221cd9cp-2, 0x1.0cde578d520b4p-38},   {0x1.91bba892p-2, -0x1.d1ee969a95f53p-39},
    {0x1.b47ebf738p-2, 0x1.05414828ddf2p-39},    {0x1.d6753e034p-2, -0x1.15f101c141e67p-38},
    {0x1.f7a8568ccp-2, -0x1.f26263cd9cfffp-39},
};

/* s = d / (m + c) as head + rest: the head has 26 bits, the rest comes from the remainder, computed without rounding. */
static double quotient_parts(double m, double c, double *rest)
{
    double d = m - c, g = m + c;
    double b = g - m;
    double g_error = (m - (g - b)) + (c - b);
    double head = head_bits(d / g), g_head = head_bits(g);
    double left = ((d - head * g_head) - head * (g - g_head)) - head * g_error;
    *rest = left / g;
    return head;
}

double log2_parts(double x, double *rest)
{
    const double two_ln2 = 0x1.71547652b82fep+1, two_ln2_head = 0x1.7154768p+1, two_ln2_rest = -0x1.6a3e80f444178p-26; /* 2/ln 2 */
    *rest = 0.0;
    if (!(x > 0.0))
        return -DBL_MAX;
    int64_t k = 0;
    if (x < DBL_MIN) {
        x *= 0x1p54;
        k = -54;
    }
    const uint64_t lowest = bits_of(0x1.68p-1);                 /* 45/64 */
    uint64_t up = bits_of(x) - lowest + ((uint64_t)2048 << 52); /* biased, so that the shift is of a positive number */
    int64_t e = (int64_t)(up >> 52) - 2048;
    k += e;
    double m = of_bits(bits_of(x) - ((uint64_t)e << 52));
    unsigned j = (unsigned)(m * 32.0 + 0.5);
    const double *entry = log2_table[j - FIRST];

    double s_rest, s_head = quotient_parts(m, (double)j / 32.0, &s_rest);
    double s = s_head + s_rest, z = s * s;
    double series = (0x1.ec709dc3a03fdp-1 + z * 0x1.2776c50efa00fp-1) + (z * z) * (0x1.a6176255852e7p-2 + z * 0x1.485bafe89334ap-2);
    double first = s_head * two_ln2_head;
    double small = ((s_head * two_ln2_rest + s_rest * two_ln2) + s * z * series) + entry[1];
    double whole = (double)k + entry[0];
    double sum = whole + first; /* whole is 0 or the larger of the two */
    small += first - (sum - whole);
    double result = sum + small;
    *rest = small - (result - sum);
    return result;
}

double log2_exact(double x)
{
    double rest;
    return log2_parts(x, &rest);
}
