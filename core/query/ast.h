/* SPDX-License-Identifier: MIT */
/* What the parser makes of a statement: plain structs in one arena, names and texts still as written, nothing resolved. */
#ifndef EAGRE_QUERY_AST_H
#define EAGRE_QUERY_AST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "store/catalog.h"

enum node_type {
    NODE_NULL,
    NODE_INT,       /* i: 0 .. 2^63-1 (a unary minus folds into it, so that -2^63 can be written) */
    NODE_UINT,      /* u: 2^63 .. 2^64-1 (keys) */
    NODE_REAL,      /* f */
    NODE_DURATION,  /* i: microseconds; in an expression its value is seconds */
    NODE_TEXT,      /* text, length: unescaped */
    NODE_PARAM,     /* i: 1 .. 999 */
    NODE_NAME,      /* text: a field, role, profile parameter, `key`, `score`, `all` */
    NODE_CALL,      /* text: function, in lower case if it is one of the language's; args. A signal's name as an argument is a NODE_NAME; `maybe` on it says `name?` */
    NODE_LIST,      /* args: literals and parameters, after IN or EXCLUDE */
    NODE_NEG, NODE_NOT,
    NODE_ADD, NODE_SUB, NODE_MUL, NODE_DIV,
    NODE_EQ, NODE_NE, NODE_LT, NODE_LE, NODE_GT, NODE_GE,
    NODE_AND, NODE_OR, /* of two; a chain a AND b AND c ... becomes a balanced tree, its order kept */
    NODE_IN,        /* args[0] IN args[1], which is a NODE_LIST, a NODE_PARAM, or a NODE_NAME (a link: refused later) */
    NODE_IS_NULL,   /* args[0] */
};

struct node {
    uint8_t type;
    bool negated;      /* NOT IN, IS NOT NULL */
    bool maybe;        /* NODE_NAME followed by '?' */
    uint8_t height;    /* longest way down to a leaf, at most MAX_DEPTH: recursion over a tree is safe */
    uint16_t n_args;
    uint32_t position; /* byte offset in the statement's text */
    uint32_t end;      /* one past its last byte: text[position..end) reads as the node was written */
    uint32_t length;   /* of text */
    union { int64_t i; uint64_t u; double f; const char *text; /* NUL-terminated in the arena */ };
    struct node **args;
};

struct order_term { struct node *name; bool descending; };
struct return_term { struct node *expression; const char *name; /* AS, or the text as written */ };
struct diversity_term { struct node *name; struct node *most; struct node *window; /* PER */ struct node *share; /* SHARE */ };
struct named_argument { const char *name; uint32_t position; struct node *value; };

struct ast_retrieve {
    const char *kind; uint32_t kind_position;
    /* USING: one of these, or none */
    const char *profile; uint32_t profile_position; unsigned n_arguments; struct named_argument *arguments; /* `name` or `name(p = v, ...)` */
    struct node *score;                                   /* an expression; a bare name is in `profile` */
    unsigned n_order; struct order_term *order;           /* ORDER BY */
    struct node *where, *exclude, *limit, *after, *at;    /* NULL when absent */
    unsigned n_diversity; struct diversity_term *diversity;
    unsigned n_returns; struct return_term *returns;
    bool count, exhaustive, explain;
};

enum statement_type {
    STATEMENT_CREATE_ITEM, STATEMENT_ALTER_ITEM, STATEMENT_DROP_ITEM,
    STATEMENT_CREATE_SIGNAL, STATEMENT_DROP_SIGNAL,
    STATEMENT_CREATE_PROFILE, STATEMENT_ALTER_PROFILE, STATEMENT_DROP_PROFILE,
    STATEMENT_RETRIEVE,
};

struct ast_parameter { const char *name; uint32_t position; bool has_default; double value; };

struct ast {
    enum statement_type type;
    const char *text; size_t length;  /* the statement without its ';', copied into the arena; NUL-terminated */
    const char *name; uint32_t name_position;   /* of the kind, signal or profile */
    const char *kind; uint32_t kind_position;   /* ON kind; RETRIEVE kind */
    bool if_exists;                   /* IF EXISTS / IF NOT EXISTS */
    bool integer_keys;
    unsigned n_fields; struct field_def *fields; uint32_t *field_positions;   /* role_by_as with its role checked against the type */
    struct signal_def signal;
    /* profiles */
    unsigned n_parameters; struct ast_parameter *parameters;
    struct node *score; unsigned n_order; struct order_term *order;
    struct ast_retrieve retrieve;
    unsigned max_param;               /* highest ?n */
    struct arena *arena;              /* owns everything above */
};

/* Parses one statement (a trailing ';' allowed). On success *out is to be given to ast_free. Errors carry position, what was found and what could
 * stand there. `consumed`: when not NULL, several statements may follow; it gets the offset of the next one, or `length` when this was the last,
 * and *out is NULL when there was none, only blanks and comments. Positions count from `text`. */
status parse_statement(const char *text, size_t length, struct ast **out, size_t *consumed, struct error *e);
void ast_free(struct ast *a);

#endif
