/* SPDX-License-Identifier: MIT */
/* Turns expressions of the syntax tree into operations over the registers of a plan: names are resolved against a kind, types are checked. */
#ifndef EAGRE_QUERY_COMPILE_H
#define EAGRE_QUERY_COMPILE_H

#include "query/plan.h"

/* While compiling, results are numbered from here; compile_finish gives every register its place. */
enum { FIRST_CONSTANT = 0x4000, FIRST_RESULT = 0x8000 };

struct compiler {
    struct plan *plan;
    struct kind *kind;
    struct arena *arena;
    struct error *error;
    unsigned n_results;
    uint8_t result_classes[MAX_RESULTS];
    struct op *ops;          /* of the section being compiled */
    unsigned n_ops;
    uint16_t *inputs;
    unsigned n_section_inputs;
    bool allow_score;        /* in RETURN */
    bool record_terms;       /* in the score, with EXPLAIN */
    unsigned depth;
    /* Inside a profile: its parameters and what they were given; faults are then told at `blame`, the profile's name in the statement. */
    const struct ast *profile;
    struct node *const *arguments;
    bool in_profile;
    uint32_t blame;
};

/* A number (or a condition, as 0/1) as a section whose result is REAL; `where`: a condition as a section whose result is TRUTH. */
status compile_number(struct compiler *c, const struct node *n, struct section *out);
status compile_condition(struct compiler *c, const struct node *n, struct section *out);
/* A bare time (created without a field, last(s)) as an INT section; *is_time false when n is something else. */
status compile_time(struct compiler *c, const struct node *n, struct section *out, bool *is_time);
/* A literal or a parameter. */
status compile_constant(struct compiler *c, const struct node *n, enum constant_expect expect, struct constant *out);
/* The list after IN or EXCLUDE. */
status compile_list(struct compiler *c, const struct node *n, enum constant_expect expect, struct constant_list *out);
/* Resolves a name to a field. NULL with a filled error when there is none. */
const struct field *compile_field(struct compiler *c, const struct node *n, const char *what);
status compile_fail(struct compiler *c, status code, const struct node *n, const char *format, ...) __attribute__((format(printf, 4, 5), cold));
bool compile_is_created(const struct compiler *c, const struct node *n); /* the name `created` where the kind has no such field */
/* Renumbers registers: inputs, constants, results. */
status compile_finish(struct compiler *c);

#endif
