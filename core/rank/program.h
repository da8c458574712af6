/* SPDX-License-Identifier: MIT */
/* A scoring program: an expression compiled to a short list of operations that run over a block of up to BLOCK_MAX slots, column by column.
 * Pure functions on plain arrays: no atomics, no allocation, no knowledge of items. The executor fills the inputs and the constants.
 *
 * Registers are of three classes. REAL: f64 values, all finite. INT: i64 values. Both have a null mask, a byte each (1 = null; the value is then 0).
 * TRUTH: a byte each, SQL's three values. Registers are numbered 0 .. n_registers-1: first the inputs, then the constants, then results. A result's
 * register may be used again, also as an operand's of the same operation. */
#ifndef EAGRE_RANK_PROGRAM_H
#define EAGRE_RANK_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rank/numbers.h" /* num_*: what the kernels do to one value */

enum { BLOCK_MAX = 256, MAX_REGISTERS = 512 };

enum truth { TRUTH_FALSE = 0, TRUTH_TRUE = 1, TRUTH_NULL = 2 };
enum reg_class { REG_REAL, REG_INT, REG_TRUTH };

/* clang-format off */
enum op_code {
    OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_NEG,           /* numbers -> REAL; null is 0; results finite */
    OP_ABS, OP_SIGN, OP_SQRT, OP_LOG1P, OP_EXP, OP_POW, OP_MIN, OP_MAX, OP_WILSON,
    OP_AGE,                                            /* a: INT time (null: 1970); b: INT constant now -> REAL seconds, >= 0 */
    OP_RECENCY,                                        /* a: INT time (null: 0); b: INT constant now; c: number, half-life in seconds (<= 0: 0) */
    OP_RANDOM,                                         /* a: number, the seed; b: INT slot */
    OP_RISE,                                           /* a, b: counts; immediate: ratio of the windows a/b -> (a + 1) / (b * ratio + 1) */
    OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE,          /* numbers of either class, compared exactly -> TRUTH; null if either is */
    OP_IN,                                             /* a: number; list: index of a number list -> TRUTH. Empty list: false; else null if a is */
    OP_IS_NULL,                                        /* any class -> TRUTH */
    OP_AND, OP_OR, OP_NOT,                             /* TRUTH -> TRUTH */
    OP_IF,                                             /* a: TRUTH; b, c: numbers -> REAL; null is 0 */
    OP_TRUTH_REAL,                                     /* TRUTH -> REAL: 1 where true, else 0 */
    OP_REAL,                                           /* number -> REAL (null is 0): a result's last step */
    OP_COUNT
};
/* clang-format on */

struct op {
    uint16_t code;
    uint16_t to, a, b, c; /* registers */
    uint16_t list;
    double immediate;
};

/* A register's block: values and nulls. For TRUTH only `nulls` is used, holding enum truth, and has_null is not looked at. */
union lane {
    double real[BLOCK_MAX];
    int64_t integer[BLOCK_MAX];
};
struct reg {
    uint8_t class;  /* enum reg_class; a constant's class may differ from run to run (a parameter) */
    bool has_null;  /* some number is null; if not, `nulls` is neither read nor, in a result, written. Results other than TRUTH have none */
    uint8_t *nulls; /* BLOCK_MAX bytes */
    union lane *lane; /* NULL for TRUTH */
};

/* Numbers of an IN list, split so that membership is exact: whole numbers that fit as i64 (ascending), others as f64 (ascending). */
struct number_list {
    const int64_t *integers;
    const double *reals;
    size_t n_integers, n_reals;
    bool has_null;
};

/* Fills a constant register over all BLOCK_MAX places and sets its class. A real is made finite. A null has class REAL, or stays TRUTH. */
void reg_fill_real(struct reg *r, double v);
void reg_fill_int(struct reg *r, int64_t v);
void reg_fill_null(struct reg *r);

/* Runs operations over n <= BLOCK_MAX places of `regs` (inputs and constants filled, results with room). Sets the results' classes. Places from n
 * on are left alone. */
void program_run(const struct op *ops, unsigned n_ops, struct reg *regs, const struct number_list *lists, unsigned n);

#endif
