/* SPDX-License-Identifier: MIT */
/* Loops over a block, one per operation, each around a function of numbers.h. They are compiled for the lowest CPU of the architecture and for wider
 * vectors; all levels give the same bits, since each element goes through the same operations.
 *
 * `to` may be one of the operands (the very same array), but may not overlap one otherwise. */
#ifndef EAGRE_RANK_KERNELS_H
#define EAGRE_RANK_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

typedef void kernel_unary(double *to, const double *a, unsigned n);
typedef void kernel_binary(double *to, const double *a, const double *b, unsigned n);
typedef void kernel_rise(double *to, const double *a, const double *b, double ratio, unsigned n);
typedef void kernel_times(double *to, const int64_t *t, const int64_t *now, unsigned n);
typedef void kernel_random(double *to, const double *seed, const int64_t *slot, unsigned n);
typedef void kernel_convert(double *to, const int64_t *a, unsigned n);
typedef bool kernel_fit(const int64_t *a, unsigned n);
/* 0 or 1, turned round when flip is 1. */
typedef void kernel_compare_real(uint8_t *to, const double *a, const double *b, uint8_t flip, unsigned n);
typedef void kernel_compare_int(uint8_t *to, const int64_t *a, const int64_t *b, uint8_t flip, unsigned n);
typedef void kernel_truth(uint8_t *to, const uint8_t *a, const uint8_t *b, unsigned n);
typedef void kernel_not(uint8_t *to, const uint8_t *a, unsigned n);
typedef void kernel_is(uint8_t *to, const uint8_t *a, uint8_t value, unsigned n); /* a[i] == value */
typedef void kernel_mask(uint8_t *to, const uint8_t *nulls, unsigned n);          /* TRUTH_NULL where null */
typedef void kernel_zero(double *to, const uint8_t *nulls, unsigned n);           /* 0 where null */
typedef void kernel_truth_real(double *to, const uint8_t *a, unsigned n);
typedef void kernel_choose(double *to, const uint8_t *condition, const double *yes, const double *no, unsigned n);

/* clang-format off */
#define KERNEL_LIST(X)                                                                                              \
    X(kernel_unary, negate) X(kernel_unary, absolute) X(kernel_unary, sign) X(kernel_unary, root)                   \
    X(kernel_unary, log1p_) X(kernel_unary, exp_)                                                                   \
    X(kernel_binary, add) X(kernel_binary, subtract) X(kernel_binary, multiply) X(kernel_binary, divide)            \
    X(kernel_binary, power) X(kernel_binary, least) X(kernel_binary, greatest) X(kernel_binary, wilson)             \
    X(kernel_binary, recency) /* of an age, by a half-life */                                                       \
    X(kernel_rise, rise) X(kernel_times, age) X(kernel_random, random_)                                             \
    X(kernel_convert, to_real)                                                                                      \
    X(kernel_fit, ints_fit) /* all within +-2^53, where doubles hold every whole number */                          \
    X(kernel_compare_real, equal_real) X(kernel_compare_real, less_real)                                            \
    X(kernel_compare_int, equal_int) X(kernel_compare_int, less_int)                                                \
    X(kernel_truth, both) X(kernel_truth, either) X(kernel_not, opposite) X(kernel_is, is)                          \
    X(kernel_mask, mask_null) X(kernel_zero, zero_null) X(kernel_truth_real, truth_real) X(kernel_choose, choose)
/* clang-format on */

struct kernels {
#define X(type, name) type *name;
    KERNEL_LIST(X)
#undef X
};

enum kernel_level { KERNELS_PORTABLE, KERNELS_WIDE, KERNEL_LEVELS };
const struct kernels *kernels_at(enum kernel_level level); /* NULL: this CPU or this build has none */
const struct kernels *kernels_best(void);                  /* for this CPU; cheap enough to ask at every block */

#endif
