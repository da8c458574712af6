/* SPDX-License-Identifier: MIT */
/* Tokens: their types, places and values, and every fault of a malformed one. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#include "query/lexer.h"
#include "store/limits.h"

/* The tokens of a text as one letter each, and 'X' for a fault. */
static const char *letters(const char *text)
{
    static const char names[] = "$nQtirdp?(),;=!<{>}+-*/X";
    static char out[256];
    struct lexer lx = {.text = text, .length = strlen(text)};
    size_t n = 0;
    for (struct token t = {.type = TOKEN_FAULT}; n + 2 < sizeof out;) {
        struct error e;
        status s = lexer_next(&lx, &t, &e);
        assert_int_equal(s == STATUS_OK, t.type != TOKEN_FAULT);
        if (t.type == TOKEN_END)
            break;
        out[n++] = names[t.type];
        if (t.type == TOKEN_FAULT)
            break;
    }
    out[n] = '\0';
    return out;
}

static struct token only_token(const char *text)
{
    struct lexer lx = {.text = text, .length = strlen(text)};
    struct token t, end;
    struct error e;
    assert_int_equal(lexer_next(&lx, &t, &e), STATUS_OK);
    assert_int_equal(t.position, 0);
    assert_int_equal(t.end, strlen(text));
    assert_int_equal(lexer_next(&lx, &end, &e), STATUS_OK);
    assert_int_equal(end.type, TOKEN_END);
    return t;
}

static void types(void **state)
{
    (void)state;
    assert_string_equal(letters(""), "");
    assert_string_equal(letters(" \t\r\n\v\f"), "");
    assert_string_equal(letters("RETRIEVE film USING a_1 WHERE \"b c\" = 'x'"), "nnnnnQ=t");
    assert_string_equal(letters("1 1.5 .5 1e3 24h ?1 ? share?,"), "irrrdp?n?,");
    assert_string_equal(letters("= != < <= > >= + - * / ( ) , ;"), "=!<{>}+-*/(),;");
    assert_string_equal(letters("a<-1"), "n<-i");
    assert_string_equal(letters("a>=?2"), "n}p");
    assert_string_equal(letters("a--b\n-c"), "n-n");
    assert_string_equal(letters("a -- 'not a text \xc3\xa9"), "n");
    assert_string_equal(letters("_x X9"), "nn");
    assert_string_equal(letters("1-2"), "i-i");
}

static void places(void **state)
{
    (void)state;
    const char *text = "  ab -- x\n 'c''d'  ?12";
    struct lexer lx = {.text = text, .length = strlen(text)};
    static const size_t at[][2] = {{2, 4}, {11, 17}, {19, 22}, {22, 22}};
    for (size_t i = 0; i < 4; i++) {
        struct token t;
        assert_int_equal(lexer_next(&lx, &t, NULL), STATUS_OK);
        assert_int_equal(t.position, at[i][0]);
        assert_int_equal(t.end, at[i][1]);
    }
}

static void whole_numbers(void **state)
{
    (void)state;
    assert_int_equal(only_token("0").u, 0);
    assert_int_equal(only_token("007").u, 7);
    assert_true(only_token("9223372036854775807").u == INT64_MAX);
    assert_true(only_token("18446744073709551615").u == UINT64_MAX);
    assert_int_equal(only_token("?1").i, 1);
    assert_int_equal(only_token("?999").i, 999);
    assert_int_equal(only_token("?01").i, 1);
}

static void reals(void **state)
{
    (void)state;
    assert_true(only_token("1.5").f == 1.5);
    assert_true(only_token(".5").f == 0.5);
    assert_true(only_token("1e3").f == 1000.0);
    assert_true(only_token("1E+3").f == 1000.0);
    assert_true(only_token("25e-1").f == 2.5);
    assert_true(only_token("0.1").f == 0.1);
    assert_true(only_token("1.7976931348623157e308").f == 1.7976931348623157e308);
    assert_true(only_token("5e-324").f == 5e-324);
    assert_true(only_token("1e-999").f == 0.0);
    char longest[3000]; /* longer than the buffer on the stack */
    memset(longest, '3', sizeof longest);
    memcpy(longest, "0.", 2);
    longest[sizeof longest - 1] = '\0';
    assert_true(only_token(longest).f == 1.0 / 3.0);
}

/* A host's locale may write a comma in numbers; the language does not. */
static void reals_in_any_locale(void **state)
{
    (void)state;
    static const char *const commas[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "tr_TR.UTF-8", "pl_PL.UTF-8"};
    for (size_t i = 0; i < sizeof commas / sizeof *commas; i++) {
        setlocale(LC_ALL, commas[i]);
        assert_true(only_token("1.5").f == 1.5);
    }
    setlocale(LC_ALL, "C");
}

static void durations(void **state)
{
    (void)state;
    const int64_t second = 1000000;
    assert_int_equal(only_token("45s").i, 45 * second);
    assert_int_equal(only_token("30m").i, 1800 * second);
    assert_int_equal(only_token("24h").i, 86400 * second);
    assert_int_equal(only_token("7d").i, 7 * 86400 * second);
    assert_int_equal(only_token("2w").i, 14 * 86400 * second);
    assert_int_equal(only_token("1.5h").i, 5400 * second);
    assert_int_equal(only_token(".5s").i, second / 2);
    assert_int_equal(only_token("0.000001s").i, 1);
    assert_int_equal(only_token("1.2500000000000000000000000000000000s").i, 1250000);
    assert_int_equal(only_token("0.0000000025h").i, 9);
    assert_int_equal(only_token("106751990d").i, INT64_C(106751990) * 86400 * second);
}

static void quotes(void **state)
{
    (void)state;
    static const struct {
        const char *text, *value;
    } cases[] = {
        {"'it''s'", "it's"}, {"''", ""}, {"''''", "'"}, {"\"a\"\"b\"", "a\"b"}, {"'\"'", "\""}, {"'caf\xc3\xa9\n'", "caf\xc3\xa9\n"},
        {"'--'", "--"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lexer lx = {.text = cases[i].text, .length = strlen(cases[i].text)};
        struct token t = only_token(cases[i].text);
        char value[32];
        size_t n = token_unquote(&lx, &t, value);
        assert_int_equal(n, strlen(cases[i].value));
        assert_memory_equal(value, cases[i].value, n);
    }
}

static void check_fault(const char *text, size_t length, status code, int64_t position, const char *says)
{
    struct lexer lx = {.text = text, .length = length};
    struct token t;
    struct error e = {0};
    status s;
    do {
        s = lexer_next(&lx, &t, &e);
    } while (s == STATUS_OK && t.type != TOKEN_END);
    if (s != code || e.code != code || e.position != position || strstr(e.text, says) == NULL)
        fail_msg("%.*s: %s at %lld: %s", (int)(length < 80 ? length : 80), text, status_name(s), (long long)e.position, e.text);
    assert_int_equal(t.type, TOKEN_FAULT);
}

static void faults(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        status code;
        int64_t position;
        const char *says;
    } cases[] = {
        {"a 18446744073709551616", STATUS_RANGE, 2, "18446744073709551615"},
        {"99999999999999999999999", STATUS_RANGE, 0, "at most"},
        {"1e309", STATUS_RANGE, 0, "64-bit float"},
        {"12abc", STATUS_SYNTAX, 0, "'12abc' is no number"},
        {"a = 24hours", STATUS_SYNTAX, 4, "'24hours' is no number"},
        {"24H", STATUS_SYNTAX, 0, "s, m, h, d or w"},
        {"1.", STATUS_SYNTAX, 0, "'1.' is no number"},
        {"1.2.3", STATUS_SYNTAX, 0, "'1.2.3' is no number"},
        {"1h.5", STATUS_SYNTAX, 0, "is no number"},
        {"1e", STATUS_SYNTAX, 0, "'1e' is no number"},
        {"1e+", STATUS_SYNTAX, 0, "is no number"},
        {"0x10", STATUS_SYNTAX, 0, "'0x10' is no number"},
        {"1e3s", STATUS_SYNTAX, 0, "exponent"},
        {"0.00000000125h", STATUS_RANGE, 0, "whole number of microseconds"}, /* 4.5 */
        {"0.0000001s", STATUS_RANGE, 0, "whole number of microseconds"},
        {"0.0000000000000000000000000001w", STATUS_RANGE, 0, "whole number of microseconds"},
        {"99999999999999999d", STATUS_RANGE, 0, "too long"},
        {"999999999999999999999999d", STATUS_RANGE, 0, "too long"},
        {"?0", STATUS_RANGE, 0, "?1"},
        {"?1000", STATUS_LIMIT, 0, "?999"},
        {"?99999999999999999999999", STATUS_LIMIT, 0, "?999"},
        {"?1a", STATUS_SYNTAX, 0, "as in ?1"},
        {"a = 'b", STATUS_SYNTAX, 4, "not closed"},
        {"a = 'b''", STATUS_SYNTAX, 4, "not closed"},
        {"a = '", STATUS_SYNTAX, 4, "not closed"},
        {"\"b", STATUS_SYNTAX, 0, "\" is missing"},
        {"a <> b", STATUS_SYNTAX, 2, "!="},
        {"a == b", STATUS_SYNTAX, 2, "="},
        {"a ! b", STATUS_SYNTAX, 2, "!="},
        {"a.b", STATUS_SYNTAX, 1, "'.'"},
        {"a [", STATUS_SYNTAX, 2, "'['"},
        {"a \x01", STATUS_SYNTAX, 2, "0x01"},
        {"a \x7f", STATUS_SYNTAX, 2, "0x7f"},
        {"na\xc3\xafve", STATUS_SYNTAX, 2, "\xc3\xaf"},
        {"\xe2\x80\x98x\xe2\x80\x99", STATUS_SYNTAX, 0, "\xe2\x80\x98"},
        {"a \xff", STATUS_ENCODING, 2, "0xff"},
        {"a \xc3", STATUS_ENCODING, 2, "0xc3"},
        {"a 'xy\xc3\x28'", STATUS_ENCODING, 5, "UTF-8"},
        {"a '\xc3\xa9\xed\xa0\x80'", STATUS_ENCODING, 5, "UTF-8"},
        {"\"\xc0\xaf\"", STATUS_ENCODING, 1, "UTF-8"},
        {"a -- \xe9\n b", STATUS_ENCODING, 5, "UTF-8"},
        {"a -- b \xf0\x9f\x98", STATUS_ENCODING, 7, "UTF-8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_fault(cases[i].text, strlen(cases[i].text), cases[i].code, cases[i].position, cases[i].says);
    check_fault("a \0b", 4, STATUS_SYNTAX, 2, "NUL");
    check_fault("a 'b\0c'", 7, STATUS_SYNTAX, 4, "NUL");
    check_fault("-- \0", 4, STATUS_SYNTAX, 3, "NUL");
    check_fault("'\xff\0'", 4, STATUS_ENCODING, 1, "UTF-8");
    check_fault("'\0\xff'", 4, STATUS_SYNTAX, 1, "NUL");
}

/* Nothing is read behind the end, which no NUL marks. */
static void text_without_terminator(void **state)
{
    (void)state;
    static const char *const texts[] = {"1",  "1.", "1e", "1e+", "24h", "?", "?1", "a",  "'",        "''",
                                        "\"", "-",  "--", "<",   "!",   "=", ".",  ".5", "\xe2\x82", "-- a"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t n = strlen(texts[i]);
        char *exact = malloc(n); /* the sanitizer watches its end */
        memcpy(exact, texts[i], n);
        struct lexer lx = {.text = exact, .length = n};
        struct token t;
        while (lexer_next(&lx, &t, NULL) == STATUS_OK && t.type != TOKEN_END)
            assert_true(t.end <= n);
        free(exact);
    }
}

/* A token that ends at the limit is in, one that ends behind it is out, and blanks do not count. */
static void longest(void **state)
{
    (void)state;
    size_t room = MAX_STATEMENT + 100;
    char *text = malloc(room);
    memset(text, ' ', room);
    struct token t;
    struct error e;
    memcpy(text + MAX_STATEMENT - 2, "ab", 2);
    struct lexer lx = {.text = text, .length = room};
    assert_int_equal(lexer_next(&lx, &t, &e), STATUS_OK);
    assert_int_equal(t.end, MAX_STATEMENT);
    assert_int_equal(lexer_next(&lx, &t, &e), STATUS_OK);
    assert_int_equal(t.type, TOKEN_END);

    text[MAX_STATEMENT] = 'c';
    lx.at = 0;
    assert_int_equal(lexer_next(&lx, &t, &e), STATUS_LIMIT);
    assert_int_equal(e.position, MAX_STATEMENT);

    text[MAX_STATEMENT - 1] = ' ';
    lx.at = MAX_STATEMENT - 1;
    assert_int_equal(lexer_next(&lx, &t, &e), STATUS_LIMIT);
    assert_int_equal(e.position, MAX_STATEMENT);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types),
        cmocka_unit_test(places),
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(reals),
        cmocka_unit_test(reals_in_any_locale),
        cmocka_unit_test(durations),
        cmocka_unit_test(quotes),
        cmocka_unit_test(faults),
        cmocka_unit_test(text_without_terminator),
        cmocka_unit_test(longest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
