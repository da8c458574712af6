/* SPDX-License-Identifier: MIT */
#include "query/lexer.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/value.h"
#include "store/limits.h"

/* ---- bytes */

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The byte at i, or NUL behind the end. A NUL inside is refused wherever it stands, so the two need no telling apart. */
static char byte_at(const struct lexer *lx, size_t i)
{
    return i < lx->length ? lx->text[i] : '\0';
}

static size_t utf8_length(char lead)
{
    unsigned char c = (unsigned char)lead;
    return c < 0xc0 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

/* The first character of [from, to) that is not UTF-8; `to` when there is none. */
static size_t find_bad_utf8(const struct lexer *lx, size_t from, size_t to)
{
    if (utf8_valid(lx->text + from, to - from))
        return to;
    while (from < to) {
        size_t n = utf8_length(lx->text[from]);
        if (n > to - from || !utf8_valid(lx->text + from, n))
            return from;
        from += n;
    }
    return to;
}

static status check_bytes(const struct lexer *lx, size_t from, size_t to, struct error *e)
{
    const char *nul = memchr(lx->text + from, '\0', to - from);
    size_t bad = find_bad_utf8(lx, from, nul != NULL ? (size_t)(nul - lx->text) : to);
    if (nul != NULL && lx->text + bad == nul)
        return fail(e, STATUS_SYNTAX, (int64_t)bad, "a statement can not hold a NUL byte; give the value as a parameter");
    if (bad != to)
        return fail(e, STATUS_ENCODING, (int64_t)bad, "the statement is not valid UTF-8 at byte 0x%02x", (unsigned char)lx->text[bad]);
    return STATUS_OK;
}

static status skip_blanks(struct lexer *lx, struct error *e)
{
    for (;;) {
        while (lx->at < lx->length && is_blank(lx->text[lx->at]))
            lx->at++;
        if (byte_at(lx, lx->at) != '-' || byte_at(lx, lx->at + 1) != '-')
            return STATUS_OK;
        const char *newline = memchr(lx->text + lx->at, '\n', lx->length - lx->at);
        size_t end = newline != NULL ? (size_t)(newline - lx->text) : lx->length;
        status s = check_bytes(lx, lx->at, end, e);
        if (s != STATUS_OK)
            return s;
        lx->at = end;
    }
}

/* ---- numbers */

/* Where the parts of a number stand: text[position..point) is its whole part, the rest up to `end` the fraction with its '.', and an exponent. */
struct number {
    size_t position, point, exponent, end;
};

static size_t skip_digits(const struct lexer *lx, size_t at)
{
    while (is_digit(byte_at(lx, at)))
        at++;
    return at;
}

static struct number scan_number(const struct lexer *lx)
{
    struct number n = {.position = lx->at};
    n.point = skip_digits(lx, n.position);
    n.exponent = n.point;
    if (byte_at(lx, n.point) == '.' && is_digit(byte_at(lx, n.point + 1)))
        n.exponent = skip_digits(lx, n.point + 1);
    n.end = n.exponent;
    if (to_lower(byte_at(lx, n.exponent)) == 'e') {
        char sign = byte_at(lx, n.exponent + 1);
        size_t digits = n.exponent + 1 + (sign == '+' || sign == '-');
        if (is_digit(byte_at(lx, digits)))
            n.end = skip_digits(lx, digits);
    }
    return n;
}

/* Digits to a whole number; false when it passes 2^64-1. */
static bool read_whole(const struct lexer *lx, size_t from, size_t to, uint64_t *out)
{
    uint64_t v = 0;
    for (; from < to; from++) {
        uint64_t digit = (uint64_t)(lx->text[from] - '0');
        if (__builtin_mul_overflow(v, 10u, &v) || __builtin_add_overflow(v, digit, &v))
            return false;
    }
    *out = v;
    return true;
}

/* strtod in the C locale, whatever the host's locale says of decimal points. */
static status read_real(const struct lexer *lx, const struct number *n, double *out, struct error *e)
{
    char small[128], *copy = small;
    size_t length = n->end - n->position;
    if (length >= sizeof small && (copy = mem_alloc(length + 1)) == NULL)
        return fail(e, STATUS_NO_MEMORY, -1, "out of memory");
    memcpy(copy, lx->text + n->position, length);
    copy[length] = '\0';
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale != (locale_t)0) {
        *out = strtod_l(copy, NULL, c_locale);
        freelocale(c_locale);
    }
    if (copy != small)
        mem_free(copy);
    if (c_locale == (locale_t)0)
        return fail(e, STATUS_NO_MEMORY, -1, "out of memory");
    if (!isfinite(*out))
        return fail(e, STATUS_RANGE, (int64_t)n->position, "the number is beyond the range of a 64-bit float");
    return STATUS_OK;
}

static int64_t unit_micros(char unit)
{
    switch (unit) {
    case 's': return 1000000;
    case 'm': return 60 * INT64_C(1000000);
    case 'h': return 3600 * INT64_C(1000000);
    case 'd': return 86400 * INT64_C(1000000);
    case 'w': return 604800 * INT64_C(1000000);
    default: return 0;
    }
}

/* whole * unit + fraction * unit / 10^digits, exactly. A unit has at most 13 factors of 2 and 8 of 5, so a fraction of more than 18
 * digits (its trailing zeros gone) is never whole. */
static status read_duration(const struct lexer *lx, const struct number *n, int64_t unit, int64_t *out, struct error *e)
{
    size_t last = n->exponent;
    while (last > n->point + 1 && lx->text[last - 1] == '0')
        last--;
    size_t digits = last > n->point + 1 ? last - n->point - 1 : 0;
    uint64_t whole = 0, fraction = 0, scale = 1;
    for (size_t i = 0; i < digits && digits <= 18; i++)
        scale *= 10;
    if (digits <= 18 && digits > 0)
        read_whole(lx, n->point + 1, last, &fraction);
    unsigned __int128 part = (unsigned __int128)fraction * (uint64_t)unit;
    if (digits > 18 || part % scale != 0)
        return fail(e, STATUS_RANGE, (int64_t)n->position, "a duration is a whole number of microseconds");
    if (!read_whole(lx, n->position, n->point, &whole) || whole > (uint64_t)(INT64_MAX / unit - 1))
        return fail(e, STATUS_RANGE, (int64_t)n->position, "the duration is too long");
    *out = (int64_t)whole * unit + (int64_t)(part / scale);
    return STATUS_OK;
}

/* A number that runs into a letter, a digit of something else, or a second point. */
static status bad_number(const struct lexer *lx, const struct number *n, struct error *e)
{
    size_t end = n->end;
    while (is_name_part(byte_at(lx, end)) || byte_at(lx, end) == '.')
        end++;
    int length = (int)(end - n->position < 40 ? end - n->position : 40);
    const char *text = lx->text + n->position;
    if (byte_at(lx, n->end) == '.')
        return fail(e, STATUS_SYNTAX, (int64_t)n->position, "'%.*s' is no number: digits follow the '.', as in 1.5", length, text);
    return fail(e, STATUS_SYNTAX, (int64_t)n->position,
                "'%.*s' is no number: only a unit (s, m, h, d or w) may follow the digits, as in 24h", length, text);
}

static status lex_number(struct lexer *lx, struct token *t, struct error *e)
{
    struct number n = scan_number(lx);
    int64_t unit = unit_micros(byte_at(lx, n.end));
    char behind = byte_at(lx, n.end + (unit != 0));
    if (is_name_part(behind) || behind == '.')
        return bad_number(lx, &n, e);
    lx->at = n.end + (unit != 0);
    if (unit != 0) {
        t->type = TOKEN_DURATION;
        if (n.end != n.exponent)
            return fail(e, STATUS_SYNTAX, (int64_t)n.position, "a duration is written without an exponent, as in 24h");
        return read_duration(lx, &n, unit, &t->i, e);
    }
    if (n.end != n.point) {
        t->type = TOKEN_REAL;
        return read_real(lx, &n, &t->f, e);
    }
    t->type = TOKEN_INTEGER;
    if (!read_whole(lx, n.position, n.end, &t->u))
        return fail(e, STATUS_RANGE, (int64_t)n.position, "a whole number is at most 18446744073709551615");
    return STATUS_OK;
}

/* ---- everything else */

static status lex_parameter(struct lexer *lx, struct token *t, struct error *e)
{
    size_t end = skip_digits(lx, lx->at + 1);
    if (end == lx->at + 1) {
        t->type = TOKEN_QUESTION;
        lx->at = end;
        return STATUS_OK;
    }
    uint64_t number = 0;
    bool fits = read_whole(lx, lx->at + 1, end, &number);
    if (is_name_part(byte_at(lx, end)))
        return fail(e, STATUS_SYNTAX, (int64_t)lx->at, "a parameter is a '?' and a number, as in ?1");
    if (fits && number == 0)
        return fail(e, STATUS_RANGE, (int64_t)lx->at, "parameters are counted from ?1");
    if (!fits || number > MAX_PARAMETER)
        return fail(e, STATUS_LIMIT, (int64_t)lx->at, "parameters go up to ?%d", MAX_PARAMETER);
    t->type = TOKEN_PARAMETER;
    t->i = (int64_t)number;
    lx->at = end;
    return STATUS_OK;
}

/* 'text' or "name": to the next quote that is not doubled. */
static status lex_quoted(struct lexer *lx, struct token *t, struct error *e)
{
    char quote = lx->text[lx->at];
    size_t at = lx->at + 1;
    for (;;) {
        const char *next = at < lx->length ? memchr(lx->text + at, quote, lx->length - at) : NULL;
        if (next == NULL)
            return fail(e, STATUS_SYNTAX, (int64_t)lx->at,
                        quote == '\'' ? "the text that begins here is not closed: a ' is missing"
                                      : "the name that begins here is not closed: a \" is missing");
        at = (size_t)(next - lx->text) + 1;
        if (byte_at(lx, at) != quote)
            break;
        at++;
    }
    t->type = quote == '\'' ? TOKEN_TEXT : TOKEN_QUOTED;
    status s = check_bytes(lx, lx->at, at, e);
    lx->at = at;
    return s;
}

static status bad_character(const struct lexer *lx, struct error *e)
{
    size_t n = utf8_length(lx->text[lx->at]);
    size_t end = n < lx->length - lx->at ? lx->at + n : lx->length;
    status s = check_bytes(lx, lx->at, end, e);
    if (s != STATUS_OK)
        return s;
    const char *hint = "";
    if (n > 1)
        hint = "; a name with it stands in double quotes";
    else if (lx->text[lx->at] == '!')
        hint = "; 'not equal' is !=";
    if ((unsigned char)lx->text[lx->at] < 0x20 || lx->text[lx->at] == 0x7f)
        return fail(e, STATUS_SYNTAX, (int64_t)lx->at, "the byte 0x%02x means nothing here", (unsigned char)lx->text[lx->at]);
    return fail(e, STATUS_SYNTAX, (int64_t)lx->at, "the character '%.*s' means nothing here%s", (int)n, lx->text + lx->at, hint);
}

static status lex_symbol(struct lexer *lx, struct token *t, struct error *e)
{
    static const struct {
        char text[3];
        uint8_t type;
    } symbols[] = {
        {"!=", TOKEN_NE},  {"<=", TOKEN_LE},   {">=", TOKEN_GE},   {"=", TOKEN_EQ},    {"<", TOKEN_LT},
        {">", TOKEN_GT},   {"(", TOKEN_LEFT},  {")", TOKEN_RIGHT}, {",", TOKEN_COMMA}, {";", TOKEN_SEMICOLON},
        {"+", TOKEN_PLUS}, {"-", TOKEN_MINUS}, {"*", TOKEN_STAR},  {"/", TOKEN_SLASH},
    };
    char first = lx->text[lx->at], second = byte_at(lx, lx->at + 1);
    if (first == '<' && second == '>')
        return fail(e, STATUS_SYNTAX, (int64_t)lx->at, "'not equal' is !=, not <>");
    if (first == '=' && second == '=')
        return fail(e, STATUS_SYNTAX, (int64_t)lx->at, "'equal' is =, not ==");
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        if (symbols[i].text[0] != first || (symbols[i].text[1] != '\0' && symbols[i].text[1] != second))
            continue;
        t->type = symbols[i].type;
        lx->at += symbols[i].text[1] != '\0' ? 2 : 1;
        return STATUS_OK;
    }
    return bad_character(lx, e);
}

static status lex_token(struct lexer *lx, struct token *t, struct error *e)
{
    char c = lx->text[lx->at];
    if (is_name_start(c)) {
        t->type = TOKEN_NAME;
        while (is_name_part(byte_at(lx, lx->at)))
            lx->at++;
        return STATUS_OK;
    }
    if (is_digit(c) || (c == '.' && is_digit(byte_at(lx, lx->at + 1))))
        return lex_number(lx, t, e);
    if (c == '?')
        return lex_parameter(lx, t, e);
    if (c == '\'' || c == '"')
        return lex_quoted(lx, t, e);
    return lex_symbol(lx, t, e);
}

status lexer_next(struct lexer *lx, struct token *t, struct error *e)
{
    *t = (struct token){.type = TOKEN_FAULT};
    status s = skip_blanks(lx, e);
    t->position = t->end = lx->at;
    if (s != STATUS_OK)
        return s;
    if (lx->at == lx->length) {
        t->type = TOKEN_END;
        return STATUS_OK;
    }
    s = lx->at < MAX_STATEMENT ? lex_token(lx, t, e) : STATUS_OK;
    if (s == STATUS_OK && lx->at >= MAX_STATEMENT && (lx->at > MAX_STATEMENT || t->type == TOKEN_FAULT))
        s = fail(e, STATUS_LIMIT, MAX_STATEMENT, "a statement has at most %d bytes", MAX_STATEMENT);
    t->end = lx->at;
    if (s != STATUS_OK)
        t->type = TOKEN_FAULT;
    return s;
}

size_t token_unquote(const struct lexer *lx, const struct token *t, char *to)
{
    char quote = lx->text[t->position];
    size_t n = 0;
    for (size_t i = t->position + 1; i + 1 < t->end; i++) {
        to[n++] = lx->text[i];
        i += lx->text[i] == quote; /* of a pair only the first */
    }
    return n;
}
