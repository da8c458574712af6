/* SPDX-License-Identifier: MIT */
/* The functions of the language on single numbers (docs/language.md, section 5), each with its values at the edges. Every result is finite.
 *
 * These are the only definitions: the block kernels are loops around them, so one value and a whole block give the same bits. All but num_pow
 * are free of branches, which lets a compiler turn those loops into vector code. */
#ifndef EAGRE_RANK_NUMBERS_H
#define EAGRE_RANK_NUMBERS_H

#include <float.h>
#include <math.h>
#include <stdint.h>

#include "base/exp2.h"
#include "base/hash.h"

/* Choices are written `x < y ? x : y`, never the other way about: so they are one minimum instruction. */

/* Not a number: 0. Overflow: the largest finite number of that sign. */
static inline double num_finite(double x)
{
    double y = x < DBL_MAX ? x : DBL_MAX;
    y = y > -DBL_MAX ? y : -DBL_MAX;
    return x == x ? y : 0.0;
}

/* a / 0 = 0. */
static inline double num_div(double a, double b)
{
    double q = num_finite(a / (b == 0.0 ? 1.0 : b));
    return b == 0.0 ? 0.0 : q;
}

static inline double num_sign(double x)
{
    return (x > 0.0 ? 1.0 : 0.0) - (x < 0.0 ? 1.0 : 0.0);
}

/* x < 0: 0. IEEE 754 rounds a root correctly, so the CPU's is everyone's. */
static inline double num_sqrt(double x)
{
    return sqrt(x > 0.0 ? x : 0.0);
}

static inline double num_min(double a, double b)
{
    return b < a ? b : a;
}

static inline double num_max(double a, double b)
{
    return b > a ? b : a;
}

/* ln(1 + x), accurate near 0; x is taken as at least -1 + 2^-53.
 *
 * 1 + x = u + c exactly; u + c = 2^k (1 + f), 1 + f in [sqrt(1/2), sqrt(2)); with s = f / (2 + f) and R(s^2) = 2/3 s^2 + 2/5 s^4 + ...
 *     ln(1 + f) = f - (f^2/2 - s (f^2/2 + R))
 * as in fdlibm (Sun Microsystems 1993), here without branches. The coefficients of R are a Chebyshev interpolant, relative error 2^-60. */
static inline double num_log1p(double x)
{
    const double lowest = -0x1.fffffffffffffp-1, ln2_head = 0x1.62e42fefp-1, ln2_rest = 0x1.473de6af278edp-34, to_whole = 0x1.8p52;
    x = x > lowest ? x : lowest;
    double u = 1.0 + x;
    double b = u - 1.0;
    double c = (1.0 - (u - b)) + (x - b);
    const uint64_t root_half = (uint64_t)0x3fe6a09e << 32; /* bits of sqrt(1/2), the lower word left out */
    uint64_t up = bits_of(u) - root_half + ((uint64_t)2048 << 52);
    uint64_t k = up >> 52; /* + 2048 */
    double m = of_bits((up & (((uint64_t)1 << 52) - 1)) + root_half);
    double c_scaled = c * of_bits((1024 + 2048 - k) << 52) * 0.5; /* c 2^-k; the factor doubled, so that its exponent is not negative */
    double f = (m - 1.0) + c_scaled;
    double s = f / (2.0 + f), z = s * s, z2 = z * z;
    double r = (0x1.5555555555555p-1 + z * 0x1.9999999999a38p-2) + z2 * (0x1.2492492476c87p-2 + z * 0x1.c71c720160b47p-3);
    r += (z2 * z2) * ((0x1.745cf901605f7p-3 + z * 0x1.3b1c360763b8ap-3) + z2 * (0x1.0fbe83c2cbcf3p-3 + z * 0x1.0c04595972ab8p-3));
    double half_square = 0.5 * f * f;
    double powers = of_bits(bits_of(to_whole) + k) - (to_whole + 2048.0); /* k as a double */
    double small = s * (half_square + z * r) + powers * ln2_rest;
    return num_finite(powers * ln2_head - ((half_square - small) - f));
}

/* Overflow: DBL_MAX. e^x = 2^(x / ln 2), the product in two parts. */
static inline double num_exp(double x)
{
    const double log2e = 0x1.71547652b82fep+0, log2e_head = 0x1.7154768p+0, log2e_rest = -0x1.6a3e80f444178p-27;
    x = num_finite(x);
    x = x < 800.0 ? x : 800.0;
    x = x > -800.0 ? x : -800.0;
    double head = head_bits(x);
    return num_finite(exp2_parts(head * log2e_head, head * log2e_rest + (x - head) * log2e));
}

static inline double num_exp2(double x)
{
    return num_finite(exp2_exact(num_finite(x)));
}

/* b = 0: 1; else a = 0: 0; a < 0: 0 unless b is whole. Overflow: +-DBL_MAX. Error below 0.8 units in the last place. */
double num_pow(double a, double b);

/* Lower end of the Wilson score interval for p of p + n, z = 1.96 (Wilson 1927); p and n are taken as at least 0; p + n = 0: 0.
 *
 * Wilson's (A - B) / (N + z^2), A = p + z^2/2, B = z sqrt(p n / N + z^2/4), N = p + n, has A^2 - B^2 = p^2 (N + z^2) / N: so it is p^2 / (N (A + B)),
 * where nothing cancels. */
static inline double num_wilson(double p, double n)
{
    const double z = 1.96;
    p = num_finite(p > 0.0 ? p : 0.0);
    n = num_finite(n > 0.0 ? n : 0.0);
    double total = num_finite(p + n);
    double share = num_div(p, total);
    double root = sqrt(num_finite(share * n + z * z / 4.0));
    return num_div(share, num_div((p + z * z / 2.0) + z * root, p));
}

/* (a + 1) / (b * ratio + 1): a, b counts in two windows, ratio that of their lengths. */
static inline double num_rise(double a, double b, double ratio)
{
    return num_div(num_finite(a + 1.0), num_finite(b * ratio + 1.0));
}

/* (double)x for x < 2^63, as a CPU without a vector instruction for it can do: both halves become doubles by their bits; the sum is rounded once. */
static inline double num_of_whole(uint64_t x)
{
    double high = of_bits(x >> 32 | bits_of(0x1p84)) - (0x1p84 + 0x1p52);
    return high + of_bits((x & 0xffffffffu) | bits_of(0x1p52));
}

/* 0 <= result < 1. */
static inline double num_random(double seed, uint32_t slot)
{
    return num_of_whole(mix64(bits_of(seed) ^ mix64(slot)) >> 11) * 0x1p-53;
}

/* Seconds from t to now, both in microseconds; the future: 0. A span beyond 2^63 us (none between years 1 and 9999 is) counts as that. */
static inline double num_age(int64_t t, int64_t now)
{
    uint64_t span = (uint64_t)now - (uint64_t)t;
    span = span > (uint64_t)INT64_MAX ? (uint64_t)INT64_MAX : span;
    span = t < now ? span : 0;
    return num_of_whole(span) / 1e6;
}

/* 2^(-age / half_life), both in seconds; half_life <= 0: 0. */
static inline double num_recency(double age, double half_life)
{
    double left = num_exp2(-num_div(age, half_life));
    return half_life > 0.0 ? left : 0.0;
}

/* -1, 0, 1: exact, also beyond 2^53. Not a number ranks as 0. */
int num_compare_int_real(int64_t a, double b);

#endif
