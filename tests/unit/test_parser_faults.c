/* SPDX-License-Identifier: MIT */
/* What the parser says of statements that are wrong: code, place and words. And that nothing, however wrong, brings it down. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "effort.h"

#include "ast_check.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "base/value.h"

struct fault {
    const char *text;
    status code;
    int64_t position;
    const char *says;
};

static void check_fault(const char *text, size_t length, const struct fault *want)
{
    struct ast *a = NULL;
    struct error e = {0};
    status s = parse_statement(text, length, &a, NULL, &e);
    bool as_wanted = s == want->code && e.code == s && e.position == want->position && strstr(e.text, want->says) != NULL && a == NULL;
    if (!as_wanted)
        fail_msg("%.*s\n%s at %lld: %s\nwanted %s at %lld: %s", (int)(length < 200 ? length : 200), text, status_name(s),
                 (long long)e.position, e.text, status_name(want->code), (long long)want->position, want->says);
    ast_free(a);
}

#define CHECK_ALL(faults)                                             \
    for (size_t i_ = 0; i_ < sizeof(faults) / sizeof *(faults); i_++) \
    check_fault((faults)[i_].text, strlen((faults)[i_].text), &(faults)[i_])

static void reserved_features(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        {"CREATE USER (lang KEYWORD, age INTEGER)", STATUS_UNSUPPORTED, 7, "CREATE USER is reserved and not available in this version"},
        {"ALTER USER ADD lang KEYWORD", STATUS_UNSUPPORTED, 6, "ALTER USER is reserved"},
        {"CREATE LINK follow FROM user TO creator", STATUS_UNSUPPORTED, 7, "CREATE LINK is reserved"},
        {"DROP LINK IF EXISTS follow", STATUS_UNSUPPORTED, 5, "DROP LINK is reserved"},
        {"CREATE COHORT x", STATUS_UNSUPPORTED, 7, "CREATE COHORT is reserved"},
        {"CREATE ITEM post (author KEYWORD REFERENCES creator)", STATUS_UNSUPPORTED, 33, "REFERENCES is reserved"},
        {"CREATE SIGNAL view ON film HALF LIFE 7d WINDOWS 1h MARKS seen", STATUS_UNSUPPORTED, 51, "MARKS is reserved"},
        {"CREATE SIGNAL unlike ON film NO DECAY CLEARS liked", STATUS_UNSUPPORTED, 38, "CLEARS is reserved"},
        {"CREATE SIGNAL like ON film HALF LIFE 30d TASTE look +0.1", STATUS_UNSUPPORTED, 41, "TASTE is reserved"},
        {"CREATE SIGNAL like ON film HALF LIFE 30d AFFINITY author +1", STATUS_UNSUPPORTED, 41, "AFFINITY is reserved"},
        {"CREATE SIGNAL like ON film NO DECAY ROLLS UP TO author", STATUS_UNSUPPORTED, 36, "ROLLS UP TO is reserved"},
        {"CREATE SIGNAL like ON film NO DECAY WINDOWS 1h PER COHORT", STATUS_UNSUPPORTED, 47, "PER COHORT is reserved"},
        {"RETRIEVE post FOR USER ?1 USING for_you", STATUS_UNSUPPORTED, 14, "FOR USER is reserved"},
        {"RETRIEVE post IN COHORT young USING hot", STATUS_UNSUPPORTED, 14, "IN COHORT is reserved"},
        {"RETRIEVE post IN SCOPE agent = ?1", STATUS_UNSUPPORTED, 14, "IN SCOPE is reserved"},
        {"RETRIEVE post WHERE author IN follow WITHIN 2 HOPS", STATUS_UNSUPPORTED, 37, "WITHIN is reserved"},
        {"RETRIEVE post DIVERSITY author 2 PER COHORT", STATUS_UNSUPPORTED, 33, "PER COHORT is reserved"},
        {"SEARCH film ?1 IN title, plot LIMIT 10", STATUS_UNSUPPORTED, 0, "SEARCH is reserved"},
        {"search film ?1 OR NEAR look ?2 FUSE rrf", STATUS_UNSUPPORTED, 0, "SEARCH is reserved"},
        {"SUGGEST film ?1 IN title LIMIT 8", STATUS_UNSUPPORTED, 0, "SUGGEST is reserved"},
        {"ASSEMBLE memory ABOUT ?1", STATUS_UNSUPPORTED, 0, "ASSEMBLE is reserved"},
        {"EXPLAIN SEARCH film ?1", STATUS_UNSUPPORTED, 8, "SEARCH is reserved"},
        {"BEGIN SESSION ?1", STATUS_UNSUPPORTED, 0, "BEGIN SESSION is reserved"},
    };
    CHECK_ALL(faults);
}

static void statements(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        {"", STATUS_SYNTAX, 0, "expected CREATE, ALTER, DROP, RETRIEVE or EXPLAIN, found the end of the statement"},
        {"  -- nothing", STATUS_SYNTAX, 12, "found the end"},
        {";", STATUS_SYNTAX, 0, "found ';'"},
        {"SELECT * FROM film", STATUS_SYNTAX, 0, "found 'SELECT'"},
        {"RETREIVE film", STATUS_SYNTAX, 0, "did you mean RETRIEVE?"},
        {"CRAETE ITEM a (b TEXT)", STATUS_SYNTAX, 0, "did you mean CREATE?"},
        {"EXPLAIN", STATUS_SYNTAX, 7, "expected RETRIEVE after 'EXPLAIN', found the end of the statement"},
        {"EXPLAIN EXPLAIN RETRIEVE a", STATUS_SYNTAX, 8, "EXPLAIN"},
        {"EXPLAIN CREATE ITEM a (b TEXT)", STATUS_SYNTAX, 8, "CREATE"},
        {"CREATE", STATUS_SYNTAX, 6, "expected ITEM, SIGNAL or PROFILE after 'CREATE', found the end of the statement"},
        {"CREATE TABLE a", STATUS_SYNTAX, 7, "expected ITEM, SIGNAL or PROFILE after 'CREATE', found 'TABLE'"},
        {"ALTER SIGNAL a ON b", STATUS_SYNTAX, 6, "DROP SIGNAL, then CREATE SIGNAL"},
        {"ALTER KIND a", STATUS_SYNTAX, 6, "expected ITEM or PROFILE"},
        {"DROP film", STATUS_SYNTAX, 5, "expected ITEM, SIGNAL or PROFILE"},
        {"DROP ITEM", STATUS_SYNTAX, 9, "expected a kind name after 'ITEM', found the end of the statement"},
        {"DROP ITEM IF a", STATUS_SYNTAX, 13, "expected EXISTS after 'IF', found 'a'"},
        {"DROP ITEM a b", STATUS_SYNTAX, 12, "expected the end of the statement after 'a', found 'b'"},
        {"DROP SIGNAL a", STATUS_SYNTAX, 13, "expected ON after 'a', found the end of the statement"},
        {"DROP PROFILE a ON", STATUS_SYNTAX, 17, "expected a kind name after 'ON'"},
        {"DROP ITEM a; DROP ITEM b", STATUS_SYNTAX, 13, "expected the end of the text after ';', found 'DROP'"},
        {"DROP ITEM a;;", STATUS_SYNTAX, 12, "found ';'"},
        {"RETRIEVE", STATUS_SYNTAX, 8, "expected a kind name after 'RETRIEVE', found the end of the statement"},
        {"RETRIEVE order", STATUS_SYNTAX, 9,
         "expected a kind name after 'RETRIEVE', found 'order'; a keyword is a name only in double quotes"},
        {"RETRIEVE 'film'", STATUS_SYNTAX, 9, "found the text 'film'"},
        {"RETRIEVE \"\"", STATUS_SYNTAX, 9, "at least one character"},
        {"RETRIEVE ?1", STATUS_SYNTAX, 9, "found '?1'"},
        {"DROP ITEM a23456789012345678901234567890123456789012345678901234567890abcde", STATUS_LIMIT, 10,
         "at most 64 bytes, this one has 65"},
    };
    CHECK_ALL(faults);
}

static void items(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        {"CREATE ITEM a", STATUS_SYNTAX, 13, "expected '(' and the fields after 'a', found the end"},
        {"CREATE ITEM IF EXISTS a (b TEXT)", STATUS_SYNTAX, 15, "expected NOT after 'IF', found 'EXISTS'"},
        {"CREATE ITEM a ()", STATUS_SYNTAX, 15, "expected a field name after '(', found ')'"},
        {"CREATE ITEM a (b)", STATUS_SYNTAX, 16,
         "expected a type (INTEGER, REAL, TIME, KEYWORD, KEYWORDS, TEXT or VECTOR(n)) after 'b', found ')'"},
        {"CREATE ITEM a (b KEYWRD)", STATUS_SYNTAX, 17, "'KEYWRD' is no type; did you mean KEYWORD?"},
        {"CREATE ITEM a (b STRING)", STATUS_SYNTAX, 17, "found 'STRING'"},
        {"CREATE ITEM a (b TEXT,)", STATUS_SYNTAX, 22, "expected a field name after ',', found ')'"},
        {"CREATE ITEM a (b TEXT, WHERE)", STATUS_SYNTAX, 23, "expected a field name after ',', found 'WHERE'"},
        {"CREATE ITEM a (b TEXT c TEXT)", STATUS_SYNTAX, 22, "expected AS, ',' or ')' after 'TEXT', found 'c'"},
        {"CREATE ITEM a (b TIME c TEXT)", STATUS_SYNTAX, 22, "expected AS, EXPIRES, ',' or ')' after 'TIME', found 'c'"},
        {"CREATE ITEM a (b TEXT", STATUS_SYNTAX, 21, "found the end of the statement"},
        {"CREATE ITEM a (b VECTOR)", STATUS_SYNTAX, 23, "expected '(' and the vector's length"},
        {"CREATE ITEM a (b VECTOR(x))", STATUS_SYNTAX, 24, "expected the vector's length after '(', found 'x'"},
        {"CREATE ITEM a (b VECTOR(0))", STATUS_RANGE, 24, "1 to 4096"},
        {"CREATE ITEM a (b VECTOR(4097))", STATUS_LIMIT, 24, "1 to 4096"},
        {"CREATE ITEM a (b VECTOR(18446744073709551615))", STATUS_LIMIT, 24, "1 to 4096"},
        {"CREATE ITEM a (b VECTOR(3)", STATUS_SYNTAX, 26, "found the end"},
        {"CREATE ITEM a (b TEXT, c REAL, b TIME)", STATUS_EXISTS, 31, "'b' is given twice"},
        {"CREATE ITEM a (key TEXT)", STATUS_SYNTAX, 15, "'key' is reserved and can not be a field name"},
        {"CREATE ITEM a (b TEXT, \"all\" TEXT)", STATUS_SYNTAX, 23, "'all' is reserved"},
        {"CREATE ITEM user (b TEXT)", STATUS_SYNTAX, 12, "'user' is reserved and can not be a kind name"},
        {"CREATE ITEM a (b TEXT AS headline)", STATUS_UNKNOWN, 25, "no role 'headline': a role is title, author, created or duration"},
        {"CREATE ITEM a (b TEXT AS created)", STATUS_TYPE, 25, "the role created is for a field of type TIME, 'b' is TEXT"},
        {"CREATE ITEM a (b KEYWORDS AS author)", STATUS_TYPE, 29, "the role author is for a field of type KEYWORD,"},
        {"CREATE ITEM a (b TEXT AS title, c KEYWORD AS title)", STATUS_EXISTS, 32, "same role"},
        {"CREATE ITEM a (b TEXT AS)", STATUS_SYNTAX, 24, "expected a role (title, author, created or duration)"},
        {"CREATE ITEM a (b TEXT EXPIRES)", STATUS_TYPE, 22, "EXPIRES is for a field of type TIME, 'b' is TEXT"},
        {"CREATE ITEM a (b TIME EXPIRES, c TIME EXPIRES)", STATUS_EXISTS, 38, "one EXPIRES field, and 'b' is it"},
        {"CREATE ITEM a (b TIME EXPIRES AS created)", STATUS_SYNTAX, 30, "AS must come before EXPIRES"},
        {"CREATE ITEM a (b TEXT) KEY", STATUS_SYNTAX, 26, "expected STRING or INTEGER after 'KEY'"},
        {"CREATE ITEM a (b TEXT) KEY BLOB", STATUS_SYNTAX, 27, "expected STRING or INTEGER after 'KEY', found 'BLOB'"},
        {"CREATE ITEM a (b TEXT) KEY STRING x", STATUS_SYNTAX, 34, "expected the end of the statement after 'STRING'"},
        {"CREATE ITEM a (b TEXT) x", STATUS_SYNTAX, 23, "expected KEY or the end of the statement after ')', found 'x'"},
        {"ALTER ITEM a b TEXT", STATUS_SYNTAX, 13, "expected ADD after 'a', found 'b'"},
        {"ALTER ITEM a ADD b TEXT c", STATUS_SYNTAX, 24, "expected AS, ',' or the end after 'TEXT', found 'c'"},
        {"ALTER ITEM a ADD b TEXT, b TEXT", STATUS_EXISTS, 25, "'b' is given twice"},
    };
    CHECK_ALL(faults);
}

static void signals(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        {"CREATE SIGNAL a NO DECAY", STATUS_SYNTAX, 16, "expected ON after 'a', found 'NO'"},
        {"CREATE SIGNAL a ON b", STATUS_SYNTAX, 20, "expected HALF LIFE, POWER DECAY or NO DECAY after 'b', found the end"},
        {"CREATE SIGNAL a ON b WINDOWS 1h", STATUS_SYNTAX, 21, "expected HALF LIFE, POWER DECAY or NO DECAY after 'b', found 'WINDOWS'"},
        {"CREATE SIGNAL a ON b HALF 7d", STATUS_SYNTAX, 26, "expected LIFE after 'HALF', found '7d'"},
        {"CREATE SIGNAL a ON b NO", STATUS_SYNTAX, 23, "expected DECAY after 'NO'"},
        {"CREATE SIGNAL a ON b HALF LIFE 7", STATUS_SYNTAX, 31, "expected a duration such as 7d after 'LIFE', found '7'"},
        {"CREATE SIGNAL a ON b HALF LIFE 29s", STATUS_RANGE, 31, "30s to 3650d"},
        {"CREATE SIGNAL a ON b HALF LIFE 3651d", STATUS_RANGE, 31, "30s to 3650d"},
        {"CREATE SIGNAL a ON b HALF LIFE -7d", STATUS_SYNTAX, 31, "found '-'"},
        {"CREATE SIGNAL a ON b POWER DECAY 0", STATUS_RANGE, 33, "above 0 and up to 10"},
        {"CREATE SIGNAL a ON b POWER DECAY -1", STATUS_RANGE, 33, "above 0 and up to 10"},
        {"CREATE SIGNAL a ON b POWER DECAY 10.5", STATUS_RANGE, 33, "above 0 and up to 10"},
        {"CREATE SIGNAL a ON b POWER DECAY 1d", STATUS_SYNTAX, 33, "expected a number such as 0.5"},
        {"CREATE SIGNAL a ON b POWER DECAY ?1", STATUS_SYNTAX, 33, "expected a number"},
        {"CREATE SIGNAL a ON b NO DECAY WINDOWS", STATUS_SYNTAX, 37, "expected a duration such as 24h after 'WINDOWS'"},
        {"CREATE SIGNAL a ON b NO DECAY WINDOWS 24", STATUS_SYNTAX, 38, "found '24'"},
        {"CREATE SIGNAL a ON b NO DECAY WINDOWS 1h, 90s", STATUS_RANGE, 42, "whole number of minutes, 1m to 366d"},
        {"CREATE SIGNAL a ON b NO DECAY WINDOWS 0m", STATUS_RANGE, 38, "1m to 366d"},
        {"CREATE SIGNAL a ON b NO DECAY WINDOWS 367d", STATUS_RANGE, 38, "1m to 366d"},
        {"CREATE SIGNAL a ON b NO DECAY WINDOWS 1h, 2h, 60m", STATUS_EXISTS, 46, "twice"},
        {"CREATE SIGNAL a ON b NO DECAY WINDOWS 1m,2m,3m,4m,5m,6m,7m,8m,9m", STATUS_LIMIT, 62, "at most 8 windows"},
        {"CREATE SIGNAL a ON b NO DECAY WINDOWS 1h WINDOWS 2h", STATUS_SYNTAX, 41, "WINDOWS is given twice"},
        {"CREATE SIGNAL a ON b NO DECAY FORGETS WINDOWS 2h", STATUS_SYNTAX, 38, "WINDOWS must come before FORGETS"},
        {"CREATE SIGNAL a ON b NO DECAY FORGETS FORGETS", STATUS_SYNTAX, 38, "FORGETS is given twice"},
        {"CREATE SIGNAL a ON b NO DECAY HALF LIFE 7d", STATUS_SYNTAX, 30, "one of HALF LIFE, POWER DECAY and NO DECAY"},
        {"CREATE SIGNAL a ON b NO DECAY WINDOW 1h", STATUS_SYNTAX, 30, "did you mean WINDOWS?"},
        {"CREATE SIGNAL a ON b NO DECAY FORGET", STATUS_SYNTAX, 30, "did you mean FORGETS?"},
        {"CREATE SIGNAL a ON b NO DECAY 5", STATUS_SYNTAX, 30, "expected WINDOWS, FORGETS or the end after 'DECAY', found '5'"},
        {"CREATE SIGNAL a ON b NO DECAY WINDOWS 1h 5", STATUS_SYNTAX, 41, "expected ',', FORGETS or the end after '1h', found '5'"},
        {"CREATE SIGNAL all ON b NO DECAY", STATUS_SYNTAX, 14, "'all' is reserved and can not be a signal name"},
    };
    CHECK_ALL(faults);
}

static void profiles(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        {"CREATE PROFILE p AS 1", STATUS_SYNTAX, 17, "expected '(' or ON after 'p', found 'AS'"},
        {"CREATE PROFILE p() AS 1", STATUS_SYNTAX, 19, "expected ON after ')', found 'AS'"},
        {"CREATE PROFILE p ON f 1", STATUS_SYNTAX, 22, "expected AS after 'f', found '1'"},
        {"CREATE PROFILE p ON f AS", STATUS_SYNTAX, 24, "expected an expression after 'AS', found the end"},
        {"CREATE PROFILE p ON f AS ORDER title", STATUS_SYNTAX, 31, "expected BY after 'ORDER', found 'title'"},
        {"CREATE PROFILE p ON f AS ORDER BY title 5", STATUS_SYNTAX, 40, "expected ',' or the end after 'title', found '5'"},
        {"CREATE PROFILE p ON f AS a b", STATUS_SYNTAX, 27, "expected an operator or the end after 'a', found 'b'"},
        {"CREATE PROFILE p ON f AS a LIMIT 3", STATUS_SYNTAX, 27, "found 'LIMIT'"},
        {"CREATE PROFILE p ON f AS a + ?1", STATUS_SYNTAX, 29, "a profile can not use ?1"},
        {"CREATE PROFILE p(a, a) ON f AS a", STATUS_EXISTS, 20, "'a' is given twice"},
        {"CREATE PROFILE p(a =) ON f AS a", STATUS_SYNTAX, 20, "expected a number after '=', found ')'"},
        {"CREATE PROFILE p(a = 'x') ON f AS a", STATUS_SYNTAX, 21, "expected a number after '=', found the text 'x'"},
        {"CREATE PROFILE p(a 1) ON f AS a", STATUS_SYNTAX, 19, "expected '=', ',' or ')' after 'a', found '1'"},
        {"CREATE PROFILE p(a = 1 2) ON f AS a", STATUS_SYNTAX, 23, "expected ',' or ')' after '1', found '2'"},
        {"CREATE PROFILE p(score) ON f AS a", STATUS_SYNTAX, 17, "'score' is reserved and can not be a parameter name"},
        {"CREATE PROFILE p(a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q) ON f AS a", STATUS_LIMIT, 49, "at most 16 parameters"},
        {"CREATE PROFILE random ON f AS a", STATUS_SYNTAX, 15, "'random' is a function"},
        {"CREATE PROFILE text ON f AS a", STATUS_SYNTAX, 15, "'text' is reserved"},
    };
    CHECK_ALL(faults);
}

static void clauses(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        {"RETRIEVE f LIMIT 3 WHERE a = 1", STATUS_SYNTAX, 19, "WHERE must come before LIMIT"},
        {"RETRIEVE f LIMIT 3 AFTER ?1 USING a", STATUS_SYNTAX, 28, "USING must come before LIMIT"},
        {"RETRIEVE f EXHAUSTIVE AT 3", STATUS_SYNTAX, 22, "AT must come before EXHAUSTIVE"},
        {"RETRIEVE f WHERE a = 1 ORDER BY b", STATUS_SYNTAX, 23, "ORDER BY must come before WHERE"},
        {"RETRIEVE f LIMIT 3 LIMIT 4", STATUS_SYNTAX, 19, "LIMIT is given twice"},
        {"RETRIEVE f WHERE a = 1 LIMIT 3 WHERE b = 1", STATUS_SYNTAX, 31, "WHERE is given twice"},
        {"RETRIEVE f USING a USING b", STATUS_SYNTAX, 19, "USING is given twice"},
        {"RETRIEVE f USING a ORDER BY b", STATUS_SYNTAX, 19, "USING and ORDER BY exclude each other"},
        {"RETRIEVE f ORDER BY b USING a", STATUS_SYNTAX, 22, "USING and ORDER BY exclude each other"},
        {"RETRIEVE f WHRE a = 1", STATUS_SYNTAX, 11, "'WHRE' is no clause; did you mean WHERE?"},
        {"RETRIEVE f USING a LIMTI 1", STATUS_SYNTAX, 19, "did you mean LIMIT?"},
        {"RETRIEVE f USING a diversty b 2 PER 10", STATUS_SYNTAX, 19, "did you mean DIVERSITY?"},
        {"RETRIEVE f USNG a", STATUS_SYNTAX, 11, "did you mean USING?"},
        {"RETRIEVE f a", STATUS_SYNTAX, 11,
         "expected USING, ORDER BY, WHERE, EXCLUDE, DIVERSITY, RETURN, COUNT, LIMIT, AFTER, AT, EXHAUSTIVE or the end after 'f'"},
        {"RETRIEVE f WHERE a 5", STATUS_SYNTAX, 19,
         "expected an operator, EXCLUDE, DIVERSITY, RETURN, COUNT, LIMIT, AFTER, AT, EXHAUSTIVE or the end after 'a', found '5'"},
        {"RETRIEVE f EXHAUSTIVE 5", STATUS_SYNTAX, 22, "expected the end after 'EXHAUSTIVE', found '5'"},
        {"RETRIEVE f USING p(a = 1) + 2", STATUS_SYNTAX, 26, "found '+'"},
        {"RETRIEVE f USING p(a = 1, a = 2)", STATUS_SYNTAX, 26, "'a' is given twice"},
        {"RETRIEVE f USING p(a = 1, 2)", STATUS_SYNTAX, 26, "expected a parameter name after ',', found '2'"},
        {"RETRIEVE f USING p(a = 1, b)", STATUS_SYNTAX, 27, "expected '=' after 'b', found ')'"},
        {"RETRIEVE f USING p(a = 'x')", STATUS_SYNTAX, 23, "expected a number or a parameter after '=', found the text 'x'"},
        {"RETRIEVE f USING p(a = 1", STATUS_SYNTAX, 24, "expected ',' or ')' after '1', found the end"},
        {"RETRIEVE f USING p(a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,k=1,l=1,m=1,n=1,o=1,p=1,q=1)", STATUS_LIMIT, 83, "at most 16"},
        {"RETRIEVE f USING", STATUS_SYNTAX, 16, "expected an expression after 'USING', found the end"},
        {"RETRIEVE f ORDER title", STATUS_SYNTAX, 17, "expected BY after 'ORDER', found 'title'"},
        {"RETRIEVE f ORDER BY count(a, 1h)", STATUS_SYNTAX, 20, "expected a field name after 'BY', found 'count'"},
        {"RETRIEVE f ORDER BY age(a)", STATUS_SYNTAX, 20, "an expression stands behind USING"},
        {"RETRIEVE f ORDER BY a,", STATUS_SYNTAX, 22, "expected a field name after ','"},
        {"RETRIEVE f EXCLUDE 'a'", STATUS_SYNTAX, 19,
         "expected a list of keys in parentheses or a parameter after 'EXCLUDE', found the text 'a'"},
        {"RETRIEVE f EXCLUDE ('a', -1)", STATUS_TYPE, 25, "a key is a text, a whole number from 0 on, or a parameter"},
        {"RETRIEVE f EXCLUDE (1.5)", STATUS_TYPE, 20, "a key is"},
        {"RETRIEVE f EXCLUDE (a)", STATUS_SYNTAX, 20, "expected a value or ')' after '(', found 'a'"},
        {"RETRIEVE f EXCLUDE ('a' 'b')", STATUS_SYNTAX, 24, "expected ',' or ')' after the text 'a', found the text 'b'"},
        {"RETRIEVE f EXCLUDE ('a',)", STATUS_SYNTAX, 24, "expected a value after ','"},
        {"RETRIEVE f DIVERSITY a", STATUS_SYNTAX, 22, "expected a whole number (as in 2 PER 10) or SHARE after 'a'"},
        {"RETRIEVE f DIVERSITY a 2", STATUS_SYNTAX, 24, "expected PER after '2'"},
        {"RETRIEVE f DIVERSITY a 0 PER 10", STATUS_RANGE, 23, "1 to 1000"},
        {"RETRIEVE f DIVERSITY a 2 PER 0", STATUS_RANGE, 29, "1 to 1000"},
        {"RETRIEVE f DIVERSITY a 2 PER 1001", STATUS_LIMIT, 29, "1 to 1000"},
        {"RETRIEVE f DIVERSITY a 2 PER x", STATUS_SYNTAX, 29, "after 'PER', found 'x'"},
        {"RETRIEVE f DIVERSITY a SHARE 0", STATUS_RANGE, 29, "above 0 and up to 1"},
        {"RETRIEVE f DIVERSITY a SHARE 1.01", STATUS_RANGE, 29, "above 0 and up to 1"},
        {"RETRIEVE f DIVERSITY a SHARE x", STATUS_SYNTAX, 29, "expected a number above 0"},
        {"RETRIEVE f RETURN", STATUS_SYNTAX, 17, "expected an expression after 'RETURN'"},
        {"RETRIEVE f RETURN a AS", STATUS_SYNTAX, 22, "expected a column name after 'AS'"},
        {"RETRIEVE f RETURN a AS limit", STATUS_SYNTAX, 23, "a keyword is a name only in double quotes"},
        {"RETRIEVE f RETURN a,, b", STATUS_SYNTAX, 20, "expected an expression after ',', found ','"},
        {"RETRIEVE f RETURN *", STATUS_SYNTAX, 18, "expected an expression after 'RETURN', found '*'"},
        {"RETRIEVE f LIMIT", STATUS_SYNTAX, 16, "expected a whole number or a parameter after 'LIMIT'"},
        {"RETRIEVE f LIMIT -1", STATUS_SYNTAX, 17, "found '-'"},
        {"RETRIEVE f LIMIT 1.5", STATUS_SYNTAX, 17, "found '1.5'"},
        {"RETRIEVE f LIMIT 1000001", STATUS_LIMIT, 17, "LIMIT is 0 to 1000000"},
        {"RETRIEVE f LIMIT 18446744073709551615", STATUS_LIMIT, 17, "LIMIT is 0 to 1000000"},
        {"RETRIEVE f LIMIT ?0", STATUS_RANGE, 17, "?1"},
        {"RETRIEVE f LIMIT ?1000", STATUS_LIMIT, 17, "?999"},
        {"RETRIEVE f AFTER 'abc'", STATUS_SYNTAX, 17, "expected a parameter (a cursor travels as one) or NULL"},
        {"RETRIEVE f AT 'yesterday'", STATUS_TYPE, 14, "YYYY-MM-DD"},
        {"RETRIEVE f AT now", STATUS_SYNTAX, 14, "expected a moment"},
        {"RETRIEVE f AT 1.5", STATUS_SYNTAX, 14, "expected a moment"},
        {"RETRIEVE f AT 18446744073709551615", STATUS_RANGE, 14, "0001 and 9999"},
    };
    CHECK_ALL(faults);
}

static void expressions(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        {"RETRIEVE f WHERE", STATUS_SYNTAX, 16, "expected an expression after 'WHERE', found the end of the statement"},
        {"RETRIEVE f WHERE LIMIT 1", STATUS_SYNTAX, 17, "expected an expression after 'WHERE', found 'LIMIT'"},
        {"RETRIEVE f WHERE a +", STATUS_SYNTAX, 20, "expected an expression after '+', found the end"},
        {"RETRIEVE f WHERE a = = b", STATUS_SYNTAX, 21, "expected an expression after '=', found '='"},
        {"RETRIEVE f WHERE a < b < c", STATUS_SYNTAX, 23, "not chained"},
        {"RETRIEVE f WHERE a IN (1) IS NULL", STATUS_SYNTAX, 26, "not chained"},
        {"RETRIEVE f WHERE a = NOT b", STATUS_SYNTAX, 21, "expected an expression after '=', found 'NOT'"},
        {"RETRIEVE f WHERE a NOT b", STATUS_SYNTAX, 23, "expected IN after 'NOT', found 'b'"},
        {"RETRIEVE f WHERE a IS 5", STATUS_SYNTAX, 22, "expected NULL or NOT NULL after 'IS', found '5'"},
        {"RETRIEVE f WHERE a IS NOT 5", STATUS_SYNTAX, 26, "expected NULL after 'NOT', found '5'"},
        {"RETRIEVE f WHERE a IN 5", STATUS_SYNTAX, 22, "expected a list in parentheses, a parameter or a link name after 'IN', found '5'"},
        {"RETRIEVE f WHERE a IN (b)", STATUS_SYNTAX, 23, "expected a value or ')' after '(', found 'b'"},
        {"RETRIEVE f WHERE a IN (- 'x')", STATUS_SYNTAX, 25, "expected a number after '-', found the text 'x'"},
        {"RETRIEVE f WHERE (a = 1", STATUS_SYNTAX, 23, "expected an operator or ')' after '1', found the end"},
        {"RETRIEVE f WHERE a = 1)", STATUS_SYNTAX, 22, "found ')'"},
        {"RETRIEVE f WHERE ()", STATUS_SYNTAX, 18, "expected an expression after '(', found ')'"},
        {"RETRIEVE f WHERE velocity(view 24h) > 1", STATUS_SYNTAX, 31, "expected an operator, ',' or ')' after 'view', found '24h'"},
        {"RETRIEVE f WHERE velocity(view, 24h > 1", STATUS_SYNTAX, 39, "expected an operator, ',' or ')' after '1'"},
        {"RETRIEVE f WHERE f(a,) > 1", STATUS_SYNTAX, 21, "expected an expression after ',', found ')'"},
        {"RETRIEVE f WHERE count(a?b)", STATUS_SYNTAX, 25, "expected an operator, ',' or ')' after '?', found 'b'"},
        {"RETRIEVE f WHERE a? = 1", STATUS_SYNTAX, 18, "found '?'"},
        {"RETRIEVE f WHERE a = ?", STATUS_SYNTAX, 21, "a parameter has a number: ?1"},
        {"RETRIEVE f WHERE +1 = a", STATUS_SYNTAX, 17, "found '+'"},
        {"RETRIEVE f WHERE a23456789012345678901234567890123456789012345678901234567890abcde(b)", STATUS_LIMIT, 17, "this one has 65"},
        {"RETRIEVE f WHERE exists(a)", STATUS_SYNTAX, 17, "expected an expression after 'WHERE', found 'exists'"},
        {"RETRIEVE f WHERE \"max\"(a, b)", STATUS_SYNTAX, 22, "found '('"},
        {"RETRIEVE f WHERE a = 18446744073709551616", STATUS_RANGE, 21, "18446744073709551615"},
        {"RETRIEVE f WHERE a = -9223372036854775809", STATUS_RANGE, 21, "-9223372036854775808"},
        {"RETRIEVE f WHERE a = 1e400", STATUS_RANGE, 21, "64-bit float"},
        {"RETRIEVE f WHERE a = 24hours", STATUS_SYNTAX, 21, "'24hours'"},
        {"RETRIEVE f WHERE a = 'x", STATUS_SYNTAX, 21, "not closed"},
        {"RETRIEVE f WHERE a = '\xff'", STATUS_ENCODING, 22, "UTF-8"},
        {"RETRIEVE f WHERE a LIKE 'x'", STATUS_SYNTAX, 19, "found 'LIKE'"},
        {"RETRIEVE f WHERE a = '0123456789012345678901234567890123456789' 'y", STATUS_SYNTAX, 64, "not closed"},
        {"RETRIEVE f WHERE a 'line\nbreak 0123456789012345678901234567890'", STATUS_SYNTAX, 19,
         "found the text 'line break 012345678901234567890123..."},
        {"RETRIEVE f WHERE a 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\xc3\xa9zzz'", STATUS_SYNTAX, 19, "aaaa..."},
    };
    CHECK_ALL(faults);
    struct fault nul = {"RETRIEVE f\0", STATUS_SYNTAX, 10, "NUL"};
    check_fault(nul.text, 11, &nul);
    nul = (struct fault){"RETRIEVE f WHERE a = 'x\0y'", STATUS_SYNTAX, 23, "NUL"};
    check_fault(nul.text, 26, &nul);
}

/* ---- limits */

static void repeat(struct buffer *b, const char *text, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        buffer_printf(b, "%s", text);
}

/* before, n times open, middle, n times close: refused at `position`, or accepted when that is negative. */
static void check_depth(const char *open, const char *middle, const char *close, unsigned n, int64_t position)
{
    struct buffer b = {0};
    buffer_printf(&b, "RETRIEVE f WHERE ");
    repeat(&b, open, n);
    buffer_printf(&b, "%s", middle);
    repeat(&b, close, n);
    struct fault want = {"", STATUS_LIMIT, position, "nested deeper than 200"};
    if (position >= 0) {
        check_fault((char *)b.data, b.length, &want);
    } else {
        struct ast *a;
        struct error e;
        if (parse_statement((char *)b.data, b.length, &a, NULL, &e) != STATUS_OK)
            fail_msg("%u of %s: %s at %lld", n, open, e.text, (long long)e.position);
        assert_null(ast_check(a));
        ast_free(a);
    }
    buffer_free(&b);
}

static void depth(void **state)
{
    (void)state;
    check_depth("(", "a", ")", 200, -1);
    check_depth("(", "a", ")", 201, 17 + 200);
    check_depth("(", "a", ")", 10000, 17 + 200);
    check_depth("(", "", "", 10000, 17 + 200);
    check_depth("NOT ", "a", "", 200, -1);
    check_depth("NOT ", "a", "", 10000, 17 + 4 * 200);
    check_depth("- ", "a", "", 200, -1);
    check_depth("- ", "a", "", 20000, 17 + 2 * 200);
    check_depth("abs(", "a", ")", 200, -1);
    check_depth("abs(", "a", ")", 201, 17 + 4 * 200);
    check_depth("a OR b AND c = d + e * (", "a", ")", 40, -1);                        /* five operators each */
    check_depth("a OR b AND NOT c = d + e * - (", "a", ")", 1500, 17 + 66 * 30 + 29); /* NOT, - and ( are a level each */
    check_depth("", "a", " + a", 200, -1);
    check_depth("", "a", " + a", 201, 17 + 200 * 4 + 2); /* a sum nests to the left */
    check_depth("", "a", " + a", 15000, 17 + 200 * 4 + 2);
    check_depth("", "a", " OR a", 12000, -1); /* a chain does not nest */
    check_depth("", "a", " AND a OR b", 5000, -1);
    check_depth("a - (", "a", ")", 150, -1);
}

static void lengths(void **state)
{
    (void)state;
    struct buffer b = {0};
    buffer_printf(&b, "RETRIEVE f WHERE a = '");
    while (b.length < MAX_STATEMENT - 1)
        buffer_u8(&b, 'x');
    buffer_u8(&b, '\'');
    struct ast *a;
    struct error e;
    assert_int_equal(parse_statement((char *)b.data, b.length, &a, NULL, &e), STATUS_OK);
    assert_int_equal(a->length, MAX_STATEMENT);
    assert_null(ast_check(a));
    ast_free(a);
    buffer_u8(&b, ' ');
    struct fault long_one = {"", STATUS_LIMIT, MAX_STATEMENT, "at most 65536 bytes, this one has 65537"};
    check_fault((char *)b.data, b.length, &long_one);
    size_t consumed;
    assert_int_equal(parse_statement((char *)b.data, b.length, &a, &consumed, &e), STATUS_OK); /* only the blank behind it is too much */
    assert_int_equal(consumed, b.length);
    ast_free(a);
    buffer_u8(&b, 'x');
    assert_int_equal(parse_statement((char *)b.data, b.length, &a, &consumed, &e), STATUS_LIMIT);
    assert_int_equal(e.position, MAX_STATEMENT);
    buffer_free(&b);
}

static void counts(void **state)
{
    (void)state;
    struct buffer b = {0};
    buffer_printf(&b, "CREATE ITEM a (");
    for (unsigned i = 0; i < MAX_FIELDS; i++)
        buffer_printf(&b, "%sf%u REAL", i > 0 ? ", " : "", i);
    size_t length = b.length;
    buffer_printf(&b, ")");
    struct ast *a;
    struct error e;
    assert_int_equal(parse_statement((char *)b.data, b.length, &a, NULL, &e), STATUS_OK);
    assert_int_equal(a->n_fields, MAX_FIELDS);
    ast_free(a);
    b.length = length;
    buffer_printf(&b, ", g REAL)");
    struct fault field = {"", STATUS_LIMIT, (int64_t)length + 2, "at most 256 fields"};
    check_fault((char *)b.data, b.length, &field);
    b.length = 0;
    buffer_printf(&b, "RETRIEVE a WHERE b IN (1"); /* the longest list a statement can hold */
    while (b.length < MAX_STATEMENT - 3)
        buffer_printf(&b, ",1");
    buffer_printf(&b, ")");
    assert_int_equal(parse_statement((char *)b.data, b.length, &a, NULL, &e), STATUS_OK);
    assert_int_equal(a->retrieve.where->args[1]->n_args, (b.length - 23) / 2);
    ast_free(a);
    buffer_free(&b);
}

/* ---- everything at once */

static void check_outcome(const char *text, size_t length)
{
    char *exact = malloc(length > 0 ? length : 1); /* the sanitizer watches its end */
    memcpy(exact, text, length);
    for (unsigned script = 0; script < 2; script++) {
        struct ast *a = NULL;
        struct error e = {0};
        size_t consumed = SIZE_MAX;
        status s = parse_statement(exact, length, &a, script ? &consumed : NULL, &e);
        const char *wrong = NULL;
        if (s == STATUS_OK && a == NULL && !script)
            wrong = "no tree";
        else if (s == STATUS_OK && a != NULL)
            wrong = ast_check(a);
        else if (s != STATUS_OK && (a != NULL || e.code != s || e.position < 0 || (size_t)e.position > length || e.text[0] == '\0'))
            wrong = "the fault is not filled in";
        else if (s != STATUS_OK && (strlen(e.text) >= sizeof e.text - 1 || !utf8_valid(e.text, strlen(e.text))))
            wrong = "the sentence is cut or not UTF-8";
        if (s == STATUS_OK && script && (consumed > length || (consumed == 0 && length > 0)))
            wrong = "consumed is wrong";
        if (wrong != NULL)
            fail_msg("%s\n%.*s\n%s", wrong, (int)length, text, e.text);
        ast_free(a);
    }
    free(exact);
}

static uint64_t random_state;

static unsigned below(unsigned n)
{
    return (unsigned)(mix64(random_state++) % n);
}

static const char *const soup[] = {
    "CREATE", "ALTER",      "DROP",    "RETRIEVE", "EXPLAIN",   "ITEM",    "SIGNAL",    "PROFILE", "USING",
    "ORDER",  "BY",         "WHERE",   "EXCLUDE",  "DIVERSITY", "RETURN",  "COUNT",     "LIMIT",   "AFTER",
    "AT",     "EXHAUSTIVE", "ON",      "AS",       "IF",        "NOT",     "EXISTS",    "KEY",     "INTEGER",
    "STRING", "TEXT",       "TIME",    "VECTOR",   "(",         ")",       "(",         ")",       ",",
    ",",      ";",          "=",       "!=",       "<",         "<=",      ">",         ">=",      "+",
    "-",      "*",          "/",       "?",        "?1",        "?2",      "1",         "2.5",     "24h",
    "7d",     "'x'",        "\"y\"",   "a",        "b",         "film",    "view",      "AND",     "OR",
    "IN",     "IS",         "NULL",    "ASC",      "DESC",      "PER",     "SHARE",     "HALF",    "LIFE",
    "POWER",  "NO",         "DECAY",   "WINDOWS",  "FORGETS",   "EXPIRES", "velocity(", "max(",    "9223372036854775808",
    "1e300",  "title",      "created", "\xc3\xa9", "\xff",      "'",       "-- c\n",    "FOR",     "USER",
    "MARKS",
};

/* Words in any order, and good statements with a few bytes or words changed. */
static void token_soup(void **state)
{
    (void)state;
    static const char *const seeds[] = {
        ("RETRIEVE film USING p(a = ?1) WHERE genres = 'drama' AND minutes < 120 OR NOT (a IN (1, 2) AND b IS NOT NULL) EXCLUDE ?3"
         " DIVERSITY director 2 PER 10, genres SHARE 0.5 RETURN title, decay(like) AS x COUNT LIMIT 20 AFTER ?1 AT ?2 EXHAUSTIVE"),
        "CREATE ITEM film (title TEXT, director KEYWORD AS author, released TIME AS created EXPIRES, look VECTOR(128)) KEY INTEGER",
        "CREATE SIGNAL view ON film HALF LIFE 7d WINDOWS 1h, 24h, 7d, 30d FORGETS",
        "CREATE PROFILE p(a = 1, b) ON film AS 3 * velocity(view, 24h) + if(a > 1, b, -c) / count(share?, all)",
    };
    time_t end = time(NULL) + (time_t)test_seconds(0) / 8 + 1;
    random_state = test_seed();
    print_message("seed %llu\n", (unsigned long long)random_state);
    struct buffer b = {0};
    while (time(NULL) < end) {
        b.length = 0;
        if (below(2) == 0) {
            for (unsigned n = below(40); n > 0; n--)
                buffer_printf(&b, "%s%s", soup[below(sizeof soup / sizeof *soup)], below(8) == 0 ? "" : " ");
        } else {
            const char *seed = seeds[below(sizeof seeds / sizeof *seeds)];
            size_t length = strlen(seed), cut = below((unsigned)length), skip = below(12);
            buffer_bytes(&b, seed, cut);
            buffer_printf(&b, "%s", soup[below(sizeof soup / sizeof *soup)]);
            if (cut + skip < length)
                buffer_bytes(&b, seed + cut + skip, length - cut - skip);
        }
        check_outcome((char *)b.data, b.length);
    }
    buffer_free(&b);
}

/* A statement cut anywhere is refused or is one. */
static void cut_short(void **state)
{
    (void)state;
    const char *text =
        "EXPLAIN RETRIEVE film USING mine(a = -1, b = ?2) WHERE x IN ('it''s', 2) AND f(\"g h\"?, 1.5h) >= -2e3 LIMIT ?1 -- \xc3\xa9;";
    for (size_t n = 0; n <= strlen(text); n++)
        check_outcome(text, n);
}

/* Whichever allocation fails, the parser says so and leaves nothing behind. */
static void out_of_memory(void **state)
{
    (void)state;
    struct buffer b = {0};
    buffer_printf(&b, "RETRIEVE film USING mine(a = 1, b = 2, c = 3, d = 4, e = 5) WHERE 0.3");
    for (unsigned i = 0; i < 200; i++)
        buffer_printf(&b, "%u", i);
    for (unsigned i = 0; i < 300; i++)
        buffer_printf(&b, " AND f%u('text', %u) IN (1, 2, 3, 4, 5)", i, i);
    buffer_printf(&b, " RETURN a, b, c, d, e AS f COUNT");
    static const char *const more[] = {"CREATE ITEM a (b TEXT, c TEXT, d TEXT, e TEXT, f TEXT, g TEXT, h TEXT, i TEXT, j TEXT)",
                                       "CREATE PROFILE p(a, b = 1, c) ON film AS ORDER BY a, b, c, d, e", "DROP ITEM a"};
    for (unsigned i = 0; i < 4; i++) {
        const char *text = i < 3 ? more[i] : (char *)b.data;
        size_t length = i < 3 ? strlen(text) : b.length;
        for (unsigned way = 0; way < 2; way++) {
            uint64_t used = mem_used();
            for (unsigned n = 1;; n++) {
                struct ast *a = NULL;
                struct error e = {0};
                mem_fail_at(n, way == 1);
                status s = parse_statement(text, length, &a, NULL, &e);
                mem_fail_at(0, false);
                ast_free(a);
                assert_true(mem_used() == used);
                if (s == STATUS_OK)
                    break;
                assert_int_equal(s, STATUS_NO_MEMORY);
                assert_int_equal(e.position, -1);
                assert_null(a);
                assert_in_range(n, 1, 1000);
            }
        }
    }
    buffer_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reserved_features), cmocka_unit_test(statements), cmocka_unit_test(items),       cmocka_unit_test(signals),
        cmocka_unit_test(profiles),          cmocka_unit_test(clauses),    cmocka_unit_test(expressions), cmocka_unit_test(depth),
        cmocka_unit_test(lengths),           cmocka_unit_test(counts),     cmocka_unit_test(token_soup),  cmocka_unit_test(cut_short),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
