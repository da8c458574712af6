/* SPDX-License-Identifier: MIT */
/* Loops over a block, one per operation. `to` may be one of the operands (the very same array), but may not overlap one otherwise. */
#ifndef EAGRE_RANK_KERNELS_H
#define EAGRE_RANK_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

typedef void kernel_unary(double *to, const double *a, unsigned n);
typedef void kernel_binary(double *to, const double *a, const double *b, unsigned n);
kernel_unary kernel_copy, kernel_neg, kernel_abs, kernel_sign, kernel_sqrt, kernel_log1p, kernel_exp;
kernel_binary kernel_add, kernel_sub, kernel_mul, kernel_div, kernel_pow, kernel_min, kernel_max, kernel_wilson;

void kernel_int_to_real(double *to, const int64_t *a, unsigned n);
bool kernel_ints_fit(const int64_t *a, unsigned n); /* all within +-2^53, where doubles hold every whole number */
void kernel_age(double *to, const int64_t *t, const int64_t *now, unsigned n);
void kernel_recency(double *to, const double *age, const double *half_life, unsigned n);
void kernel_random(double *to, const double *seed, const int64_t *slot, unsigned n);
void kernel_rise(double *to, const double *a, const double *b, double ratio, unsigned n);
void kernel_zero_null(double *to, const uint8_t *nulls, unsigned n); /* to[i] = 0 where null */

/* Comparisons give 0 or 1, turned round when flip is 1. */
void kernel_equal_real(uint8_t *to, const double *a, const double *b, uint8_t flip, unsigned n);
void kernel_less_real(uint8_t *to, const double *a, const double *b, uint8_t flip, unsigned n);
void kernel_equal_int(uint8_t *to, const int64_t *a, const int64_t *b, uint8_t flip, unsigned n);
void kernel_less_int(uint8_t *to, const int64_t *a, const int64_t *b, uint8_t flip, unsigned n);
void kernel_mask_null(uint8_t *to, const uint8_t *nulls, unsigned n); /* TRUTH_NULL where null */

void kernel_and(uint8_t *to, const uint8_t *a, const uint8_t *b, unsigned n);
void kernel_or(uint8_t *to, const uint8_t *a, const uint8_t *b, unsigned n);
void kernel_not(uint8_t *to, const uint8_t *a, unsigned n);
void kernel_is(uint8_t *to, const uint8_t *a, uint8_t value, unsigned n); /* a[i] == value */
void kernel_truth_to_real(double *to, const uint8_t *a, unsigned n);
void kernel_choose(double *to, const uint8_t *condition, const double *yes, const double *no, unsigned n);

#endif
