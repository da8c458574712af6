/* SPDX-License-Identifier: MIT */
/* A compiled RETRIEVE: what the statement's names mean for one kind, as programs over one set of registers. Immutable once made, so that many
 * threads may run it at once; what differs from run to run (parameters, the moment) is in a struct run (run.h). */
#ifndef EAGRE_QUERY_PLAN_H
#define EAGRE_QUERY_PLAN_H

#include "query/ast.h"
#include "rank/program.h"
#include "store/catalog.h"

enum {
    MAX_INPUTS = 128,
    MAX_CONSTANTS = 128,
    MAX_RESULTS = MAX_REGISTERS - MAX_INPUTS - MAX_CONSTANTS,
    MAX_RETURNS = 128,
    MAX_ORDER_TERMS = 16,
    MAX_DIVERSITY_RULES = 8,
};

/* Where a constant's value comes from, and what it must be. */
enum constant_source { CONSTANT_LITERAL, CONSTANT_PARAMETER, CONSTANT_NOW };
enum constant_expect { EXPECT_NUMBER, EXPECT_TIME, EXPECT_TEXT, EXPECT_KEY };
struct constant {
    uint8_t source, expect;
    uint16_t parameter;  /* 1 .. 999 */
    uint32_t position;
    struct value literal; /* INT, UINT, REAL, TIME, TEXT or NULL; text lies in the plan's statement */
};

/* The right side of IN: constants one by one, or one list parameter. */
struct constant_list {
    uint8_t expect;
    uint16_t parameter;  /* 0: the constants below */
    uint32_t position;
    unsigned n;
    struct constant *items;
};

/* A predicate on text, keywords or the key, answered per row. */
enum match_subject { MATCH_KEYWORD, MATCH_KEYWORDS, MATCH_TEXT, MATCH_KEY };
enum match_test { TEST_EQ, TEST_LT, TEST_LE, TEST_GT, TEST_GE, TEST_IN, TEST_NULL };
struct match {
    uint8_t subject, test;
    const struct field *field;
    struct constant_list operand; /* one constant, or IN's */
};

enum input_source { INPUT_FIELD, INPUT_FIRST_PUT, INPUT_SIGNAL, INPUT_SLOT, INPUT_SCORE, INPUT_MATCH };
struct input {
    uint8_t source, class;   /* enum reg_class */
    uint8_t reading, window; /* INPUT_SIGNAL */
    uint16_t index;          /* INPUT_SIGNAL: of the kind's signals; INPUT_MATCH: of matches */
    uint16_t zero;           /* no padding: inputs are compared as bytes */
    const struct field *field;
};

/* One expression: operations, the register of its value, and the inputs it reads. */
struct section {
    struct op *ops;
    unsigned n_ops;
    uint16_t result;
    unsigned n_inputs;
    uint16_t *inputs;
};

/* A named part of the score, for EXPLAIN. */
struct term { uint16_t reg; uint16_t depth; const char *text; uint32_t length; };

enum return_type { RETURN_EXPRESSION, RETURN_INT_REGISTER, RETURN_FIELD, RETURN_KEY, RETURN_SCORE };
struct return_column {
    uint8_t type;
    const char *name;
    const struct field *field;
    struct section section; /* RETURN_EXPRESSION; RETURN_INT_REGISTER: a time (first put, last) */
};

struct sort_key { uint8_t type; /* enum sort_type */ bool descending; const struct field *field; };
enum sort_type { SORT_FIELD, SORT_FIRST_PUT, SORT_KEY };

struct diversity_clause { const struct field *field; uint32_t most, window; double share; };

struct plan {
    struct ast *ast;           /* owns the texts */
    struct ast *profile;       /* the profile's statement, or NULL */
    struct kind *kind;
    uint64_t text_hash;        /* binds cursors to the statement */

    unsigned n_inputs;
    struct input inputs[MAX_INPUTS];
    unsigned n_constants;
    struct constant constants[MAX_CONSTANTS];
    unsigned n_registers;
    uint8_t classes[MAX_REGISTERS];
    unsigned n_matches;
    struct match matches[MAX_INPUTS];
    unsigned n_lists;
    struct constant_list lists[MAX_INPUTS]; /* of OP_IN */
    unsigned n_signals;
    uint16_t signals[MAX_SIGNALS]; /* used, by index: checked for STALE and AT */

    bool has_where, has_score;
    struct section where, score;
    unsigned n_terms;
    struct term *terms;
    unsigned n_order;
    struct sort_key order[MAX_ORDER_TERMS];
    unsigned n_returns;
    struct return_column returns[MAX_RETURNS];
    unsigned n_diversity;
    struct diversity_clause diversity[MAX_DIVERSITY_RULES];
    bool has_exclude;
    struct constant_list exclude;
    struct constant limit, after, at; /* literal null when absent */
    bool has_limit, has_after, has_at;

    /* Matches that WHERE requires (its top-level AND): candidates for driving the search. */
    unsigned n_required;
    uint16_t required[MAX_INPUTS];
};

/* Compiles a parsed RETRIEVE; takes the ast over when it succeeds. */
status plan_create(const struct catalog *c, struct ast *ast, struct plan **out, struct error *e);
void plan_free(struct plan *p);
/* Checks a profile's statement against a kind: every name must mean something. */
status plan_check_profile(struct kind *k, struct ast *profile, struct error *e);

#endif
