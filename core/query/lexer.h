/* SPDX-License-Identifier: MIT */
/* From a statement's bytes to tokens: docs/language.md, section 1. Holds no memory; a copy of a struct lexer looks ahead. */
#ifndef EAGRE_QUERY_LEXER_H
#define EAGRE_QUERY_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum token_type {
    TOKEN_END,       /* of the text */
    TOKEN_NAME,      /* a bare word: a keyword or a name */
    TOKEN_QUOTED,    /* "name" */
    TOKEN_TEXT,      /* 'text' */
    TOKEN_INTEGER,   /* u */
    TOKEN_REAL,      /* f, finite */
    TOKEN_DURATION,  /* i: microseconds */
    TOKEN_PARAMETER, /* ?n; i: 1 .. MAX_PARAMETER */
    TOKEN_QUESTION,  /* ? without a number */
    TOKEN_LEFT,
    TOKEN_RIGHT,
    TOKEN_COMMA,
    TOKEN_SEMICOLON,
    TOKEN_EQ,
    TOKEN_NE,
    TOKEN_LT,
    TOKEN_LE,
    TOKEN_GT,
    TOKEN_GE,
    TOKEN_PLUS,
    TOKEN_MINUS,
    TOKEN_STAR,
    TOKEN_SLASH,
    TOKEN_FAULT, /* what lexer_next leaves when it fails */
};

struct token {
    enum token_type type;
    size_t position, end; /* text[position..end) */
    union {
        uint64_t u;
        int64_t i;
        double f;
    };
};

struct lexer {
    const char *text;
    size_t length;
    size_t at;
};

/* The next token. Fails, with a position in the text, on what is no token, on bad UTF-8, and on any token that ends behind MAX_STATEMENT. */
status lexer_next(struct lexer *lx, struct token *t, struct error *e);

/* The value of a TOKEN_QUOTED or TOKEN_TEXT, its quotes undone. Writes at most end - position bytes, returns how many; no NUL is added. */
size_t token_unquote(const struct lexer *lx, const struct token *t, char *to);

/* ASCII only, in any locale. */
static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}
static inline char to_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}
static inline bool is_name_start(char c)
{
    return (to_lower(c) >= 'a' && to_lower(c) <= 'z') || c == '_';
}
static inline bool is_name_part(char c)
{
    return is_name_start(c) || is_digit(c);
}

#endif
