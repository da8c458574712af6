/* SPDX-License-Identifier: MIT */
/* Every form of a statement, and the trees of expressions. Faults are in test_parser_faults.c. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

#include "ast_check.h"
#include "base/alloc.h"
#include "query/builtin_profiles.h"

static struct ast *parse(const char *text)
{
    struct ast *a = NULL;
    struct error e = {0};
    status s = parse_statement(text, strlen(text), &a, NULL, &e);
    if (s != STATUS_OK)
        fail_msg("%s\n%s at %lld: %s", text, status_name(s), (long long)e.position, e.text);
    const char *wrong = ast_check(a);
    if (wrong != NULL)
        fail_msg("%s\n%s", text, wrong);
    return a;
}

static void assert_shape(const struct node *n, const char *shape)
{
    struct buffer b = {0};
    node_shape(&b, n);
    buffer_u8(&b, 0);
    assert_string_equal((char *)b.data, shape);
    buffer_free(&b);
}

/* The shape of an expression behind USING or WHERE. */
static void check_shape(const char *expression, const char *shape)
{
    struct buffer b = {0};
    buffer_printf(&b, "RETRIEVE film WHERE %s", expression);
    buffer_u8(&b, 0);
    struct ast *a = parse((char *)b.data);
    assert_shape(a->retrieve.where, shape);
    ast_free(a);
    buffer_free(&b);
}

/* ---- schema */

static void create_item(void **state)
{
    (void)state;
    struct ast *a =
        parse("CREATE ITEM film (title TEXT, director KEYWORD AS author, genres KEYWORDS, released TIME AS created, minutes INTEGER,"
              " rating REAL, look VECTOR(128), until TIME EXPIRES)");
    static const struct {
        const char *name;
        uint8_t type, role;
        bool by_as;
    } fields[] = {
        {"title", FIELD_TEXT, ROLE_TITLE, false},     {"director", FIELD_KEYWORD, ROLE_AUTHOR, true},
        {"genres", FIELD_KEYWORDS, ROLE_NONE, false}, {"released", FIELD_TIME, ROLE_CREATED, true},
        {"minutes", FIELD_INTEGER, ROLE_NONE, false}, {"rating", FIELD_REAL, ROLE_NONE, false},
        {"look", FIELD_VECTOR, ROLE_NONE, false},     {"until", FIELD_TIME, ROLE_NONE, false},
    };
    assert_int_equal(a->type, STATEMENT_CREATE_ITEM);
    assert_string_equal(a->name, "film");
    assert_int_equal(a->name_position, 12);
    assert_false(a->integer_keys);
    assert_false(a->if_exists);
    assert_int_equal(a->n_fields, 8);
    for (unsigned i = 0; i < 8; i++) {
        assert_string_equal(a->fields[i].name, fields[i].name);
        assert_int_equal(a->fields[i].type, fields[i].type);
        assert_int_equal(a->fields[i].role, fields[i].role);
        assert_int_equal(a->fields[i].role_by_as, fields[i].by_as);
        assert_int_equal(a->fields[i].dimension, i == 6 ? 128 : 0);
        assert_int_equal(a->fields[i].expires, i == 7);
        assert_memory_equal(a->text + a->field_positions[i], fields[i].name, strlen(fields[i].name));
    }
    ast_free(a);
}

static void create_item_forms(void **state)
{
    (void)state;
    struct ast *a = parse("create item if not exists \"order\" (\"where\" integer, text2 Keyword as title) key integer;");
    assert_true(a->if_exists);
    assert_true(a->integer_keys);
    assert_string_equal(a->name, "order");
    assert_string_equal(a->fields[0].name, "where");
    assert_int_equal(a->fields[1].role, ROLE_TITLE);
    ast_free(a);
    a = parse("CREATE ITEM p (duration REAL, author TEXT, created TIME AS created EXPIRES, title KEYWORD) KEY STRING");
    assert_false(a->integer_keys);
    assert_int_equal(a->fields[0].role, ROLE_DURATION);
    assert_int_equal(a->fields[1].role, ROLE_NONE); /* its type does not fit */
    assert_true(a->fields[2].role_by_as && a->fields[2].expires);
    assert_int_equal(a->fields[3].role, ROLE_TITLE);
    ast_free(a);
    /* Words that are no keywords are names. */
    a = parse(
        "CREATE ITEM item (item KEYWORD, power REAL, half REAL, life TIME, no REAL, integer INTEGER, role TEXT, share REAL, per REAL)");
    assert_int_equal(a->n_fields, 9);
    ast_free(a);
}

static void alter_and_drop(void **state)
{
    (void)state;
    struct ast *a = parse("ALTER ITEM film ADD subtitle TEXT AS title, gone TIME EXPIRES");
    assert_int_equal(a->type, STATEMENT_ALTER_ITEM);
    assert_string_equal(a->name, "film");
    assert_int_equal(a->n_fields, 2);
    ast_free(a);
    static const struct {
        const char *text;
        enum statement_type type;
        bool if_exists;
    } drops[] = {
        {"DROP ITEM x", STATEMENT_DROP_ITEM, false},
        {"DROP ITEM IF EXISTS x", STATEMENT_DROP_ITEM, true},
        {"DROP SIGNAL x ON y", STATEMENT_DROP_SIGNAL, false},
        {"DROP SIGNAL IF EXISTS x ON y;", STATEMENT_DROP_SIGNAL, true},
        {"DROP PROFILE x ON y", STATEMENT_DROP_PROFILE, false},
        {"drop profile if exists x on y -- gone", STATEMENT_DROP_PROFILE, true},
    };
    for (size_t i = 0; i < sizeof drops / sizeof *drops; i++) {
        a = parse(drops[i].text);
        assert_int_equal(a->type, drops[i].type);
        assert_int_equal(a->if_exists, drops[i].if_exists);
        assert_string_equal(a->name, "x");
        if (a->type != STATEMENT_DROP_ITEM)
            assert_string_equal(a->kind, "y");
        ast_free(a);
    }
}

static void create_signal(void **state)
{
    (void)state;
    struct ast *a = parse("CREATE SIGNAL view ON film HALF LIFE 7d WINDOWS 30d, 1h, 7d, 24h FORGETS");
    assert_int_equal(a->type, STATEMENT_CREATE_SIGNAL);
    assert_string_equal(a->name, "view");
    assert_string_equal(a->signal.name, "view");
    assert_string_equal(a->kind, "film");
    assert_int_equal(a->signal.decay, DECAY_HALF_LIFE);
    assert_true(a->signal.half_life == INT64_C(7) * 86400 * 1000000);
    assert_true(a->signal.forgets);
    assert_int_equal(a->signal.n_windows, 4);
    static const uint32_t windows[] = {3600, 86400, 604800, 2592000};
    assert_memory_equal(a->signal.windows, windows, sizeof windows);
    ast_free(a);
    a = parse("CREATE SIGNAL IF NOT EXISTS access ON memory POWER DECAY 0.5");
    assert_true(a->if_exists);
    assert_int_equal(a->signal.decay, DECAY_POWER);
    assert_true(a->signal.power == 0.5);
    assert_int_equal(a->signal.n_windows, 0);
    ast_free(a);
    a = parse("CREATE SIGNAL hide ON film NO DECAY WINDOWS 1m, 366d, 2m, 3m, 4m, 5m, 6m, 7m");
    assert_int_equal(a->signal.decay, DECAY_NONE);
    assert_int_equal(a->signal.n_windows, 8);
    assert_int_equal(a->signal.windows[7], 366 * 86400);
    ast_free(a);
    ast_free(parse("CREATE SIGNAL a ON b HALF LIFE 30s"));
    ast_free(parse("CREATE SIGNAL a ON b HALF LIFE 3650d"));
    ast_free(parse("CREATE SIGNAL a ON b POWER DECAY 10 FORGETS"));
    ast_free(parse("CREATE SIGNAL a ON b HALF LIFE 1.5h WINDOWS 1.5h"));
}

static void profiles(void **state)
{
    (void)state;
    struct ast *a =
        parse("CREATE PROFILE evening ON film AS 3 * velocity(view, 24h) + decay(like) + 0.5 * recency(released, 30d) - 2 * decay(skip)");
    assert_int_equal(a->type, STATEMENT_CREATE_PROFILE);
    assert_string_equal(a->name, "evening");
    assert_string_equal(a->kind, "film");
    assert_shape(
        a->score,
        "(- (+ (+ (* 3 (velocity view 86400000000us)) (decay like)) (* 0.5r (recency released 2592000000000us))) (* 2 (decay skip)))");
    ast_free(a);
    a = parse("ALTER PROFILE p(seed = -3, half, age_of = 1.5h, \"where\" = 1e3) ON film AS random(seed)");
    assert_int_equal(a->type, STATEMENT_ALTER_PROFILE);
    assert_int_equal(a->n_parameters, 4);
    assert_true(a->parameters[0].has_default && a->parameters[0].value == -3);
    assert_string_equal(a->parameters[1].name, "half");
    assert_false(a->parameters[1].has_default);
    assert_true(a->parameters[2].value == 5400);
    assert_true(a->parameters[3].value == 1000);
    ast_free(a);
    a = parse("CREATE PROFILE IF NOT EXISTS p() ON film AS ORDER BY title, released DESC, key ASC");
    assert_true(a->if_exists);
    assert_int_equal(a->n_order, 3);
    assert_string_equal(a->order[1].name->text, "released");
    assert_true(a->order[1].descending && !a->order[0].descending && !a->order[2].descending);
    ast_free(a);
}

static void builtin_profiles(void **state)
{
    (void)state;
    unsigned n = 0;
    for (const char *name; (name = builtin_profile_name(n)) != NULL; n++) {
        struct ast *a = parse(builtin_profile(name));
        assert_int_equal(a->type, STATEMENT_CREATE_PROFILE);
        assert_string_equal(a->name, name);
        assert_string_equal(a->kind, "item");
        assert_int_equal(a->n_parameters, strcmp(name, "shuffle") == 0);
        ast_free(a);
    }
    assert_int_equal(n, 22);
    assert_null(builtin_profile("Trending"));
    assert_null(builtin_profile(""));
    assert_null(builtin_profile_name(n));
    assert_null(builtin_profile_name(~0u));
    struct ast *a = parse(builtin_profile("trending"));
    assert_shape(a->score, "(+ (velocity view 86400000000us) (* 2 (velocity share? 86400000000us)))");
    ast_free(a);
}

/* ---- RETRIEVE */

static void retrieve_everything(void **state)
{
    (void)state;
    struct ast *a =
        parse("EXPLAIN RETRIEVE film USING evening WHERE genres = 'drama' AND minutes < 120 AND released >= '1990-01-01'"
              " EXCLUDE ?3 DIVERSITY director 2 PER 10, genres SHARE 0.25 RETURN title, decay(like) AS liking, minutes/60  , key"
              " COUNT LIMIT 20 AFTER ?1 AT ?2 EXHAUSTIVE ;");
    const struct ast_retrieve *r = &a->retrieve;
    assert_int_equal(a->type, STATEMENT_RETRIEVE);
    assert_string_equal(r->kind, "film");
    assert_int_equal(r->kind_position, 17);
    assert_string_equal(r->profile, "evening");
    assert_memory_equal(a->text + r->profile_position, "evening", 7);
    assert_null(r->score);
    assert_shape(r->where, "(and (and (= genres 'drama') (< minutes 120)) (>= released '1990-01-01'))");
    assert_shape(r->exclude, "?3");
    assert_int_equal(r->n_diversity, 2);
    assert_shape(r->diversity[0].most, "2");
    assert_shape(r->diversity[0].window, "10");
    assert_shape(r->diversity[1].share, "0.25r");
    static const char *const columns[] = {"title", "liking", "minutes/60", "key"};
    assert_int_equal(r->n_returns, 4);
    for (unsigned i = 0; i < 4; i++)
        assert_string_equal(r->returns[i].name, columns[i]);
    assert_true(r->count && r->exhaustive && r->explain);
    assert_shape(r->limit, "20");
    assert_shape(r->after, "?1");
    assert_shape(r->at, "?2");
    assert_int_equal(a->max_param, 3);
    assert_int_equal(a->text[a->length - 1], 'E'); /* without its ';' */
    ast_free(a);
}

static void retrieve_using(void **state)
{
    (void)state;
    static const struct {
        const char *text, *profile, *score;
        unsigned arguments;
    } cases[] = {
        {"RETRIEVE film", NULL, NULL, 0},
        {"RETRIEVE film USING trending", "trending", NULL, 0},
        {"RETRIEVE film USING \"a b\"", "a b", NULL, 0},
        {"RETRIEVE film USING shuffle(seed = ?1)", "shuffle", NULL, 1},
        {"RETRIEVE film USING shuffle()", "shuffle", NULL, 0},
        {"RETRIEVE film USING mine(a = -1, b = 2.5, c = 7d, \"in\" = ?2) LIMIT 1", "mine", NULL, 4},
        {"RETRIEVE film USING \"mine too\"(a = 1)", "mine too", NULL, 1},
        {"RETRIEVE film USING (rating)", NULL, "rating", 0},
        {"RETRIEVE film USING rating + 1", NULL, "(+ rating 1)", 0},
        {"RETRIEVE film USING -rating", NULL, "(- rating)", 0},
        {"RETRIEVE film USING count(view, 24h)", NULL, "(count view 86400000000us)", 0},
        {"RETRIEVE film USING velocity(view, 24h) + 1", NULL, "(+ (velocity view 86400000000us) 1)", 0},
        {"RETRIEVE film USING IF(genres = 'drama', 1, 0)", NULL, "(if (= genres 'drama') 1 0)", 0},
        {"RETRIEVE film USING max(a = 1, b)", NULL, "(max (= a 1) b)", 0},
        {"RETRIEVE film USING mine(a, b = 1)", NULL, "(mine a (= b 1))", 0},
        {"RETRIEVE film USING random()", NULL, "(random)", 0},
        {"RETRIEVE film USING affinity(author) * similarity(look, ?1)", NULL, "(* (affinity author) (similarity look ?1))", 0},
        {"RETRIEVE film USING similarity(look, taste)", NULL, "(similarity look taste)", 0},
        {"RETRIEVE film USING a > 1 AND NOT b", NULL, "(and (> a 1) (not b))", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ast *a = parse(cases[i].text);
        const struct ast_retrieve *r = &a->retrieve;
        if (cases[i].profile != NULL)
            assert_string_equal(r->profile, cases[i].profile);
        else
            assert_null(r->profile);
        if (cases[i].score != NULL)
            assert_shape(r->score, cases[i].score);
        else
            assert_null(r->score);
        assert_int_equal(r->n_arguments, cases[i].arguments);
        ast_free(a);
    }
    struct ast *a = parse("RETRIEVE film USING mine(a = -1, b = ?7)");
    assert_string_equal(a->retrieve.arguments[1].name, "b");
    assert_int_equal(a->retrieve.arguments[1].position, 33);
    assert_shape(a->retrieve.arguments[0].value, "-1");
    assert_int_equal(a->max_param, 7);
    ast_free(a);
}

static void retrieve_clauses(void **state)
{
    (void)state;
    struct ast *a = parse("RETRIEVE film ORDER BY title, released DESC LIMIT 10");
    assert_int_equal(a->retrieve.n_order, 2);
    assert_true(a->retrieve.order[1].descending);
    ast_free(a);
    a = parse("RETRIEVE film EXCLUDE ('a', 'it''s', 3, 18446744073709551615, ?2)");
    assert_shape(a->retrieve.exclude, "(list 'a' 'it's' 3 18446744073709551615u ?2)");
    ast_free(a);
    a = parse("RETRIEVE film DIVERSITY author ?1 PER ?2, genres SHARE ?3, minutes SHARE 1");
    assert_shape(a->retrieve.diversity[0].most, "?1");
    assert_shape(a->retrieve.diversity[0].window, "?2");
    assert_shape(a->retrieve.diversity[1].share, "?3");
    ast_free(a);
    a = parse("RETRIEVE film RETURN count(view, all) COUNT LIMIT ?1 AFTER NULL AT '2026-01-31 12:00'");
    assert_true(a->retrieve.count);
    assert_shape(a->retrieve.after, "null");
    assert_shape(a->retrieve.at, "'2026-01-31 12:00'");
    assert_string_equal(a->retrieve.returns[0].name, "count(view, all)");
    ast_free(a);
    a = parse("RETRIEVE film RETURN (a + -- why\n b) , \"c\" AS \"d e\" AT -1");
    assert_string_equal(a->retrieve.returns[0].name, "(a + -- why\n b)");
    assert_string_equal(a->retrieve.returns[1].name, "d e");
    assert_shape(a->retrieve.at, "-1");
    ast_free(a);
    ast_free(parse("RETRIEVE film LIMIT 0"));
    ast_free(parse("RETRIEVE film LIMIT 1000000 AT 253402300799999999"));
    ast_free(parse("retrieve film using trending where x limit 3 at 0 exhaustive"));
    ast_free(parse("RETRIEVE film EXCLUDE ()"));
}

/* ---- expressions */

static void precedence(void **state)
{
    (void)state;
    check_shape("a OR b AND NOT c = d + e * -f", "(or a (and b (not (= c (+ d (* e (- f)))))))");
    check_shape("a - b - c", "(- (- a b) c)");
    check_shape("a / b * c / d", "(/ (* (/ a b) c) d)");
    check_shape("a - (b - c)", "(- a (- b c))");
    check_shape("a * (b + c)", "(* a (+ b c))");
    check_shape("NOT NOT a", "(not (not a))");
    check_shape("NOT a = b", "(not (= a b))");
    check_shape("NOT (a AND b) OR c", "(or (not (and a b)) c)");
    check_shape("- - 1", "(- -1)");
    check_shape("-a * b", "(* (- a) b)");
    check_shape("a < b AND c >= d OR e != f", "(or (and (< a b) (>= c d)) (!= e f))");
    check_shape("(a < b) = (c > d)", "(= (< a b) (> c d))");
    check_shape("a <= b", "(<= a b)");
    check_shape("((((a))))", "a");
    check_shape("a AND b AND c AND d AND e", "(and (and (and a b) c) (and d e))");
    check_shape("a OR b OR c OR d", "(or (or a b) (or c d))");
}

static void literals(void **state)
{
    (void)state;
    check_shape("a = -9223372036854775808", "(= a -9223372036854775808)");
    check_shape("a = - 9223372036854775808", "(= a -9223372036854775808)");
    check_shape("a = 9223372036854775808", "(= a 9223372036854775808u)");
    check_shape("a = 18446744073709551615", "(= a 18446744073709551615u)");
    check_shape("a = -0", "(= a 0)");
    check_shape("a = -1.5 - -7d", "(= a (- -1.5r -604800000000us))");
    check_shape("a-1", "(- a 1)");
    check_shape("a = 'it''s' OR a = ''", "(or (= a 'it's') (= a ''))");
    check_shape("a = ?12", "(= a ?12)");
    check_shape("a = NULL", "(= a null)");
    check_shape("\"a \"\"b\" = 1", "(= a \"b 1)");
    check_shape("Count(view, ALL) > 1", "(> (count view ALL) 1)");
    check_shape("LOG1P(x) > 1", "(> (log1p x) 1)");
    check_shape("Foo(x)", "(Foo x)");
}

static void tests_of_values(void **state)
{
    (void)state;
    check_shape("a IN (1, -2, 2.5, 'x', NULL, ?1, 7d)", "(in a (list 1 -2 2.5r 'x' null ?1 604800000000us))");
    check_shape("a IN ()", "(in a (list))");
    check_shape("a NOT IN ('x')", "(not-in a (list 'x'))");
    check_shape("a IN ?3", "(in a ?3)");
    check_shape("author IN follow", "(in author follow)");
    check_shape("NOT a IN (1)", "(not (in a (list 1)))");
    check_shape("a IS NULL", "(is-null a)");
    check_shape("a + 1 IS NOT NULL", "(is-not-null (+ a 1))");
    check_shape("a is null and b not in ?1", "(and (is-null a) (not-in b ?1))");
    check_shape("key IN ('a') AND score > 1", "(and (in key (list 'a')) (> score 1))");
}

static void calls(void **state)
{
    (void)state;
    check_shape("if(a, b, c) > min(1, 2, 3)", "(> (if a b c) (min 1 2 3))");
    check_shape("rise(view, 1h, 24h)", "(rise view 3600000000us 86400000000us)");
    check_shape("count(dislike?, all)", "(count dislike? all)");
    check_shape("count(\"my like\"?, 1h)", "(count my like? 3600000000us)");
    check_shape("f()", "(f)");
    check_shape("f(g(h(1)), (2))", "(f (g (h 1)) 2)");
    check_shape("f(a ?)", "(f a?)");
    check_shape("count (view, 1h)", "(count view 3600000000us)");
}

/* A node's text is what was written, parentheses and all. */
static void texts_of_nodes(void **state)
{
    (void)state;
    struct ast *a = parse("RETRIEVE film WHERE  ( a+b ) * 2 > max( c? , - 3)");
    const struct node *n = a->retrieve.where;
    static const char *const texts[] = {"( a+b ) * 2 > max( c? , - 3)", "( a+b ) * 2", "( a+b )", "a", "max( c? , - 3)", "c?", "- 3"};
    const struct node *nodes[] = {n,          n->args[0],          n->args[0]->args[0], n->args[0]->args[0]->args[0],
                                  n->args[1], n->args[1]->args[0], n->args[1]->args[1]};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(nodes[i]->end - nodes[i]->position, strlen(texts[i]));
        assert_memory_equal(a->text + nodes[i]->position, texts[i], strlen(texts[i]));
    }
    ast_free(a);
}

/* ---- several statements */

static void scripts(void **state)
{
    (void)state;
    const char *text = "-- first\nDROP ITEM a ; -- done\n\n DROP ITEM b;DROP ITEM c -- the last";
    static const char *const names[] = {"a", "b", "c"};
    static const char *const texts[] = {"-- first\nDROP ITEM a", "DROP ITEM b", "DROP ITEM c"};
    size_t offset = 0, consumed;
    struct error e;
    for (unsigned i = 0; i < 3; i++) {
        struct ast *a;
        assert_int_equal(parse_statement(text + offset, strlen(text) - offset, &a, &consumed, &e), STATUS_OK);
        assert_string_equal(a->name, names[i]);
        assert_string_equal(a->text, texts[i]);
        ast_free(a);
        offset += consumed;
    }
    assert_int_equal(offset, strlen(text));
    static const char *const empty[] = {"", "  ", "-- nothing", " -- a\n -- b\n"};
    for (unsigned i = 0; i < 4; i++) {
        struct ast *a = (struct ast *)&e;
        assert_int_equal(parse_statement(empty[i], strlen(empty[i]), &a, &consumed, &e), STATUS_OK);
        assert_null(a);
        assert_int_equal(consumed, strlen(empty[i]));
    }
    ast_free(NULL);
}

/* A fault behind the ';' is the next statement's. */
static void script_with_a_fault_behind(void **state)
{
    (void)state;
    static const char *const texts[] = {"DROP ITEM a;'", "DROP ITEM a; \xff", "DROP ITEM a; -- \xff", "DROP ITEM a;)"};
    for (unsigned i = 0; i < 4; i++) {
        struct ast *a;
        struct error e;
        size_t consumed;
        assert_int_equal(parse_statement(texts[i], strlen(texts[i]), &a, &consumed, &e), STATUS_OK);
        ast_free(a);
        assert_int_equal(consumed, 12);
        assert_int_not_equal(parse_statement(texts[i] + 12, strlen(texts[i]) - 12, &a, &consumed, &e), STATUS_OK);
        assert_null(a);
    }
}

/* A script may be longer than a statement. */
static void long_script(void **state)
{
    (void)state;
    struct buffer b = {0};
    unsigned count = 0, found = 0;
    while (b.length < 3 * MAX_STATEMENT) {
        buffer_printf(&b, "DROP ITEM a%u; -- %u\n", count, count);
        count++;
    }
    struct error e;
    for (size_t offset = 0, consumed; offset < b.length; offset += consumed, found++) {
        struct ast *a;
        assert_int_equal(parse_statement((char *)b.data + offset, b.length - offset, &a, &consumed, &e), STATUS_OK);
        ast_free(a);
    }
    assert_int_equal(found, count);
    buffer_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create_item),
        cmocka_unit_test(create_item_forms),
        cmocka_unit_test(alter_and_drop),
        cmocka_unit_test(create_signal),
        cmocka_unit_test(profiles),
        cmocka_unit_test(builtin_profiles),
        cmocka_unit_test(retrieve_everything),
        cmocka_unit_test(retrieve_using),
        cmocka_unit_test(retrieve_clauses),
        cmocka_unit_test(precedence),
        cmocka_unit_test(literals),
        cmocka_unit_test(tests_of_values),
        cmocka_unit_test(calls),
        cmocka_unit_test(texts_of_nodes),
        cmocka_unit_test(scripts),
        cmocka_unit_test(script_with_a_fault_behind),
        cmocka_unit_test(long_script),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
