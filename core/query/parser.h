/* SPDX-License-Identifier: MIT */
/* What the files of the parser share. Recursive descent with one token in hand; the first fault sticks, and the token is then TOKEN_FAULT,
 * which nothing accepts, so every function just returns false or NULL to its caller. */
#ifndef EAGRE_QUERY_PARSER_H
#define EAGRE_QUERY_PARSER_H

#include "query/arena.h"
#include "query/ast.h"
#include "query/lexer.h"

struct parser {
    struct lexer lexer;    /* stands behind `token` */
    struct token token;    /* the one in hand */
    struct token previous; /* the one taken last; TOKEN_FAULT at the start */
    struct arena *arena;
    struct error *error;
    status failed;  /* STATUS_OK, or the first fault */
    unsigned depth; /* of nesting, up to MAX_DEPTH */
    unsigned max_param;
    bool in_profile; /* ?n has no meaning */
};

/* Records a fault, if it is the first. Worth false. */
#define fault(p, code, where, ...) \
    ((p)->failed == STATUS_OK ? ((p)->failed = fail((p)->error, (code), (int64_t)(where), __VA_ARGS__), false) : false)
bool no_memory(struct parser *p);
/* The fault "expected `what` after ..., found ...", or that a reserved feature begins here. */
bool expected(struct parser *p, const char *what);

/* A token's text for a sentence: 'WHERE', the text 'abc', the end of the statement. */
struct phrase {
    char text[64];
};
const char *token_phrase(const struct parser *p, const struct token *t, struct phrase *out);

/* ---- tokens */

void advance(struct parser *p);
struct token peek(const struct parser *p);                                           /* the token behind the one in hand */
bool token_is_word(const struct parser *p, const struct token *t, const char *word); /* a bare word, in any case */
bool at(const struct parser *p, enum token_type type);
bool at_word(const struct parser *p, const char *word);
bool take_token(struct parser *p, enum token_type type); /* takes it if it is there */
bool take_word(struct parser *p, const char *word);
bool need_token(struct parser *p, enum token_type type, const char *what);
bool need_word(struct parser *p, const char *word);

/* ---- words (parser_words.c) */

bool is_reserved_word(const char *text, size_t length); /* may be a name in quotes only */
const char *function_name(const char *text,
                          size_t length); /* the function called so, in any case, as docs/language.md writes it; or NULL */
/* Is the word in hand nearly one of these? Then that is a fault: "'WHRE' is no clause; did you mean WHERE?" */
bool misspelled(struct parser *p, const char *what, const char *const *words);
/* Faults when a feature of the list of reserved ones begins at the token in hand. */
bool refuse_reserved(struct parser *p);
bool refuse_reserved_statement(struct parser *p);
bool refuse_reserved_object(struct parser *p);

/* ---- names */

/* A name in the arena, or NULL. `what` says whose, for the fault: "a kind name". */
const char *parse_name(struct parser *p, const char *what, uint32_t *position);
const char *define_name(struct parser *p, const char *what, uint32_t *position); /* not a reserved one */

/* ---- expressions (parser_expression.c) */

struct node *parse_expression(struct parser *p);
struct node *parse_name_node(struct parser *p, const char *what);
struct node *parse_parameter(struct parser *p);
struct node *parse_literal(struct parser *p, const char *what); /* a number, duration, text, NULL or parameter */
struct node *parse_list(struct parser *p);                      /* ( literal, ... ) */
bool parse_number(struct parser *p, double *out);               /* a number or a duration's seconds */

/* ---- statements */

bool parse_retrieve(struct parser *p, struct ast_retrieve *r);              /* parser_retrieve.c; behind RETRIEVE */
bool parse_order(struct parser *p, unsigned *n, struct order_term **order); /* behind ORDER BY */
bool parse_create(struct parser *p, struct ast *a);                         /* parser_schema.c; behind the verb */
bool parse_alter(struct parser *p, struct ast *a);
bool parse_drop(struct parser *p, struct ast *a);
bool at_end(const struct parser *p); /* of the statement: its ';' or the text's end */

#endif
