/* SPDX-License-Identifier: MIT */
/* Powers and logarithms of two that give the same bits with every compiler, optimisation level and vector width.
 *
 * libm's functions differ from release to release and from CPU to CPU; a ranking must not. So: plain additions, multiplications and divisions
 * in a fixed order, no libm, no fused multiply-add (the project is built with -ffp-contract=off), no branches on the way, so that a loop over an
 * array becomes vector code by itself. Errors stay below 0.7 units in the last place (1 where the result is subnormal); 2^whole and log2(2^whole) are exact.
 * Assumes the CPU as a process starts: rounding to nearest, subnormal numbers kept. */
#ifndef EAGRE_BASE_EXP2_H
#define EAGRE_BASE_EXP2_H

#include <float.h>
#include <stdint.h>
#include <string.h>

_Static_assert(FLT_EVAL_METHOD == 0, "doubles must be computed as doubles");

static inline uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* x with its lowest 27 bits cleared: the product of two such heads is exact (Dekker 1971). */
static inline double head_bits(double x)
{
    return of_bits(bits_of(x) & ~(uint64_t)0x7ffffff);
}

/* (2^r - 1 - r ln 2) / r^2 for |r| <= 1/2: a Chebyshev interpolant, relative error 2^-58 of 2^r. */
static inline double exp2_tail(double r)
{
    double r2 = r * r, r4 = r2 * r2;
    double a = (0x1.ebfbdff82c58fp-3 + r * 0x1.c6b08d704a0c2p-5) + r2 * (0x1.3b2ab6fba4e78p-7 + r * 0x1.5d87fe78a5275p-10);
    double b = (0x1.430912f86bf51p-13 + r * 0x1.ffcbfc670e7b7p-17) + r2 * (0x1.62c022401bdcdp-20 + r * 0x1.b524fae414897p-24);
    double c = (0x1.e4cf1ccee8c6fp-28 + r * 0x1.e9d4025f423adp-32) + r2 * 0x1.c48f79e3d8ae9p-36;
    return a + r4 * (b + r4 * c);
}

/* 2^(hi + lo), |lo| <= 2^-16. Below 2^-1075: 0; from 2^1024 on, and for what is not a number: infinity. */
static inline double exp2_parts(double hi, double lo)
{
    const double to_whole = 0x1.8p52, to_26_bits = 0x1.8p26; /* adding and subtracting these rounds to whole numbers, to 2^-26 */
    const double ln2 = 0x1.62e42fefa39efp-1, ln2_head = 0x1.62e43p-1, ln2_rest = -0x1.05c610ca86c39p-29;
    hi = hi < 1100.0 ? hi : 1100.0; /* in this form a minimum instruction */
    hi = hi > -1100.0 ? hi : -1100.0;
    double shifted = hi + to_whole;
    double r = hi - (shifted - to_whole); /* exact, |r| <= 1/2 */
    double head = (r + to_26_bits) - to_26_bits;
    double rest = (r - head) + lo;
    double x = r + lo;
    /* 1 + r ln 2 + r^2 tail(r), the product r ln 2 in two parts, the sum with its rounding error put back. */
    double first = head * ln2_head;
    double small = (head * ln2_rest + rest * ln2) + (x * x) * exp2_tail(x);
    double sum = 1.0 + first;
    double m = sum + ((first - (sum - 1.0)) + small);
    /* Times 2^k in two steps, so that neither factor leaves the range: k + 2048 is positive, and its halves are too. */
    uint64_t k = bits_of(shifted) - bits_of(to_whole) + 2048;
    uint64_t half = k >> 1;
    return m * of_bits((half - 1) << 52) * of_bits((k - half - 1) << 52);
}

static inline double exp2_exact(double x)
{
    return exp2_parts(x, 0.0);
}

/* log2(x) for x > 0, as a sum with about 68 correct bits; the return value alone is log2 rounded, *rest what is missing.
 * x <= 0 or not a number: -DBL_MAX. Infinity counts as 2^1024. log2 of a power of two is whole. */
double log2_parts(double x, double *rest);
double log2_exact(double x);

#endif
