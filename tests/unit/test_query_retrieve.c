/* SPDX-License-Identifier: MIT */
/* RETRIEVE from statement to answer: small cases by hand, every plan against the exhaustive one on random data, and answers beside a writer. */
#include <pthread.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/publish.h"
#include "query_fixture.h"

/* ---- by hand ---- */

static void make_letters(void)
{
    static const char *const names[] = {"t", "n", "k"};
    exec("CREATE ITEM letter (t TEXT, n INTEGER, k KEYWORD); CREATE SIGNAL hit ON letter NO DECAY; CREATE SIGNAL glow ON letter HALF LIFE "
         "1d");
    put_values("letter", h_text("a"), 3, names, (eagre_value[]){h_text("b"), h_int(3), h_text("x")});
    put_values("letter", h_text("b"), 3, names, (eagre_value[]){h_null(), h_int(1), h_text("y")});
    put_values("letter", h_text("c"), 3, names, (eagre_value[]){h_text(""), h_int(3), h_null()});
    put_values("letter", h_text("d"), 3, names, (eagre_value[]){h_text("ba"), h_null(), h_text("x")});
    put_values("letter", h_text("e"), 3, names, (eagre_value[]){h_text("\xc3\xa4"), h_int(-7), h_text("x")});
}

static void test_order_by(void **state)
{
    (void)state;
    make_letters();
    assert_string_equal(keys_of(must("RETRIEVE letter")), "a b c d e"); /* slot order */
    assert_string_equal(keys_of(must("RETRIEVE letter ORDER BY t")), "c a d e b");
    assert_string_equal(keys_of(must("RETRIEVE letter ORDER BY t DESC")), "e d a c b"); /* nulls last in either direction */
    assert_string_equal(keys_of(must("RETRIEVE letter ORDER BY n, t")), "e b c a d");
    assert_string_equal(keys_of(must("RETRIEVE letter ORDER BY n DESC, t DESC")), "a c b e d");
    assert_string_equal(keys_of(must("RETRIEVE letter ORDER BY k, key DESC")), "e d a b c");
    assert_string_equal(keys_of(must("RETRIEVE letter ORDER BY created DESC")), "a b c d e"); /* all at one moment: slot order */
    assert_true(result_score(answer_result(&answer), 0) == 0);
}

static void test_where(void **state)
{
    (void)state;
    make_letters();
    assert_string_equal(keys_of(must("RETRIEVE letter WHERE k = 'x' AND n > 0")), "a");
    assert_string_equal(keys_of(must("RETRIEVE letter WHERE NOT (n > 0)")), "e"); /* null is not false */
    assert_string_equal(keys_of(must("RETRIEVE letter WHERE n IS NULL OR t IS NULL")), "b d");
    assert_string_equal(keys_of(must("RETRIEVE letter WHERE key IN ('e', 'nobody', 'a', 'e')")), "a e");
    assert_string_equal(keys_of(must("RETRIEVE letter WHERE k NOT IN ('y')")), "a d e");
    assert_string_equal(keys_of(must("RETRIEVE letter WHERE t >= 'b' AND t < 'c'")), "a d");
    assert_string_equal(keys_of(must("RETRIEVE letter WHERE k = 'no such word'")), "");
    eagre_value null = h_null(), none = h_list(NULL, 0);
    none.v.at = (uintptr_t)&null;
    assert_string_equal(keys_of(must_with("RETRIEVE letter WHERE k = ?1", 1, &null)), "");
    assert_string_equal(keys_of(must_with("RETRIEVE letter WHERE k IN ?1", 1, &none)), "");
    assert_string_equal(keys_of(must_with("RETRIEVE letter WHERE k NOT IN ?1", 1, &none)), "a b c d e");
    eagre_value list[2] = {h_text("y"), h_null()}, with_null = h_list(list, 2); /* what is not in it may still equal the null */
    assert_string_equal(keys_of(must_with("RETRIEVE letter WHERE k IN ?1", 1, &with_null)), "b");
    assert_string_equal(keys_of(must_with("RETRIEVE letter WHERE k NOT IN ?1", 1, &with_null)), "");
    assert_string_equal(keys_of(must_with("RETRIEVE letter WHERE t NOT IN ?1", 1, &with_null)), "");
}

/* In a column the least integer stands for null, too: which it is, the row says. */
static void test_least_integer(void **state)
{
    (void)state;
    make_letters();
    put_text("letter", h_text("f"), "n", h_int(INT64_MIN));
    put_text("letter", h_text("g"), "n", h_int(INT64_MAX));
    assert_string_equal(keys_of(must("RETRIEVE letter WHERE n IS NULL")), "d");
    assert_string_equal(keys_of(must("RETRIEVE letter WHERE n < 0")), "e f");
    assert_string_equal(keys_of(must("RETRIEVE letter WHERE key = 'f' AND n IS NOT NULL RETURN n")), "f");
    assert_true(result_int(answer_result(&answer), 0, 0) == INT64_MIN);
    assert_string_equal(keys_of(must("RETRIEVE letter USING n")), "g a c b d e f");
}

static void test_exclude_count_limit(void **state)
{
    (void)state;
    make_letters();
    const eagre_result *r = must("RETRIEVE letter WHERE k = 'x' EXCLUDE ('a', 'nobody') COUNT LIMIT 1");
    assert_string_equal(keys_of(r), "d");
    assert_true(r->flags & EAGRE_RESULT_TOTAL && r->total == 2 && r->cursor_length > 0);
    eagre_value list[3] = {h_text("a"), h_text("b"), h_text("b")}, parameter = h_list(list, 3);
    assert_string_equal(keys_of(must_with("RETRIEVE letter EXCLUDE ?1", 1, &parameter)), "c d e");
    r = must("RETRIEVE letter COUNT LIMIT 0");
    assert_true(r->n_rows == 0 && r->total == 5 && r->cursor_length == 0);
    r = must("RETRIEVE letter LIMIT 5"); /* full: there may be more, as far as the page can tell */
    assert_true(r->n_rows == 5);
    r = must("RETRIEVE letter LIMIT 6");
    assert_true(r->n_rows == 5 && r->cursor_length == 0);
}

static void test_empty_kind(void **state)
{
    (void)state;
    exec("CREATE ITEM nothing (a INTEGER, k KEYWORD); CREATE SIGNAL s ON nothing NO DECAY WINDOWS 1h");
    const eagre_result *r = must(
        "RETRIEVE nothing USING decay(s) + a WHERE k = 'x' DIVERSITY k 1 PER 3, a SHARE 0.1 RETURN key, a, last(s) COUNT LIMIT 1000000");
    assert_true(r->n_rows == 0 && r->n_columns == 3 && r->total == 0 && r->cursor_length == 0);
    must("EXPLAIN RETRIEVE nothing ORDER BY a");
    assert_true(answer_result(&answer)->explain_length > 0);
    must("RETRIEVE nothing AT '1970-01-02'");
}

/* A page can not be longer than the kind: what LIMIT and DIVERSITY might need is not what they take. */
static void test_large_limit_small_kind(void **state)
{
    (void)state;
    make_letters();
    uint64_t before = mem_used();
    mem_set_limit(0);
    int64_t began = clock_monotonic();
    assert_string_equal(keys_of(must("RETRIEVE letter DIVERSITY k 1 PER 2, n 1 PER 2 LIMIT 1000000")), "a b c d e");
    assert_true(clock_monotonic() - began < SECOND / 4);
    assert_true(mem_used() < before + (1 << 20));
}

static void test_stale(void **state)
{
    (void)state;
    make_letters();
    eagre_stmt *by_hit, *by_glow, *plain;
    size_t needed;
    char block[4096] __attribute__((aligned(8)));
    const char *texts[] = {"RETRIEVE letter USING decay(hit)", "RETRIEVE letter USING decay(glow) LIMIT 0", "RETRIEVE letter"};
    eagre_stmt **statements[] = {&by_hit, &by_glow, &plain};
    for (int i = 0; i < 3; i++)
        assert_int_equal(eagre_prepare(db, texts[i], strlen(texts[i]), statements[i], &error), EAGRE_OK);
    exec("DROP SIGNAL hit ON letter; ALTER ITEM letter ADD more REAL");
    assert_int_equal(eagre_run(by_hit, NULL, 0, NULL, 0, NULL, block, sizeof block, &needed, &error), EAGRE_STALE);
    assert_int_equal(eagre_run(by_glow, NULL, 0, NULL, 0, NULL, block, sizeof block, &needed, &error), EAGRE_OK);
    exec("CREATE SIGNAL hit ON letter NO DECAY"); /* another one */
    assert_int_equal(eagre_run(by_hit, NULL, 0, NULL, 0, NULL, block, sizeof block, &needed, &error), EAGRE_STALE);
    exec("DROP ITEM letter");
    assert_int_equal(eagre_run(plain, NULL, 0, NULL, 0, NULL, block, sizeof block, &needed, &error), EAGRE_STALE);
    assert_int_equal(eagre_run(by_glow, NULL, 0, NULL, 0, NULL, block, sizeof block, &needed, &error), EAGRE_STALE);
    exec("CREATE ITEM letter (t TEXT)");
    assert_int_equal(eagre_run(plain, NULL, 0, NULL, 0, NULL, block, sizeof block, &needed, &error), EAGRE_STALE);
    for (int i = 0; i < 3; i++)
        assert_int_equal(eagre_finalize(*statements[i]), EAGRE_OK);
}

/* ---- moments ---- */

static void test_moment(void **state)
{
    (void)state;
    make_letters();
    send("hit", h_text("a"), 1, START - 100 * SECOND);
    send("hit", h_text("b"), 1, START - 10 * SECOND);
    eagre_value at = h_time(START - 50 * SECOND);
    assert_int_equal(ask_with("RETRIEVE letter USING decay(hit) AT ?1", 1, &at), EAGRE_MOMENT);
    assert_int_equal(ask_with("RETRIEVE letter RETURN last(hit) AT ?1", 1, &at), EAGRE_MOMENT);
    assert_int_equal(ask_with("RETRIEVE letter USING decay(glow) AT ?1", 1, &at), EAGRE_OK); /* another signal's are no matter */
    erase("letter", h_text("b"));                                                            /* the newest of the living is a's now */
    const eagre_result *r = must_with("RETRIEVE letter USING decay(hit) AT ?1", 1, &at);
    assert_true(r->now == at.v.i && result_score(r, 0) == 1);
    at = h_time(START - 100 * SECOND); /* the very moment is fine, the one before it is not */
    assert_int_equal(ask_with("RETRIEVE letter USING decay(hit) AT ?1", 1, &at), EAGRE_OK);
    at.v.i--;
    assert_int_equal(ask_with("RETRIEVE letter USING decay(hit) AT ?1", 1, &at), EAGRE_MOMENT);
    eagre_stmt *stmt;
    struct answer a = {0};
    eagre_run_options o = {.struct_size = sizeof o, .flags = EAGRE_RUN_NOW, .now = START - 101 * SECOND};
    assert_int_equal(eagre_prepare(db, "RETRIEVE letter USING decay(hit)", 32, &stmt, &error), EAGRE_OK);
    assert_int_equal(answer_run(&a, stmt, NULL, 0, &o, &error), EAGRE_MOMENT);
    clock_at(START - 1000 * SECOND); /* a clock that was set back is not refused: each item's moment is its newest event's */
    assert_int_equal(answer_run(&a, stmt, NULL, 0, NULL, &error), EAGRE_OK);
    answer_free(&a);
    eagre_finalize(stmt);
}

static void test_expiry_and_moment(void **state)
{
    (void)state;
    exec("CREATE ITEM offer (until TIME EXPIRES); CREATE SIGNAL s ON offer NO DECAY");
    put_text("offer", h_text("short"), "until", h_time(START + 10 * SECOND));
    put_text("offer", h_text("long"), "until", h_time(START + 1000 * SECOND));
    put_text("offer", h_text("ever"), "until", h_null());
    send("s", h_text("short"), 1, START);
    clock_at(START + 10 * SECOND);
    assert_string_equal(keys_of(must("RETRIEVE offer")), "long ever");
    /* A query looks at the later of clock and moment. */
    eagre_value at = h_time(START + 5 * SECOND);
    assert_string_equal(keys_of(must_with("RETRIEVE offer AT ?1", 1, &at)), "long ever");
    assert_string_equal(keys_of(must_with("RETRIEVE offer WHERE key IN ('short', 'ever') AT ?1", 1, &at)), "ever");
    at = h_time(START + 1000 * SECOND);
    assert_string_equal(keys_of(must_with("RETRIEVE offer AT ?1", 1, &at)), "ever");
    at = h_time(START - 5 * SECOND); /* before the event of what has expired: nothing is in the way */
    assert_string_equal(keys_of(must_with("RETRIEVE offer USING decay(s) AT ?1", 1, &at)), "long ever");
}

static void test_deadline(void **state)
{
    (void)state;
    make_letters();
    eagre_stmt *stmt;
    struct answer a = {0};
    eagre_run_options o = {.struct_size = sizeof o, .flags = EAGRE_RUN_DEADLINE, .deadline = 0};
    assert_int_equal(eagre_prepare(db, "RETRIEVE letter USING n", 23, &stmt, &error), EAGRE_OK);
    assert_int_equal(answer_run(&a, stmt, NULL, 0, &o, &error), EAGRE_DEADLINE);
    o.deadline = INT64_MAX;
    assert_int_equal(answer_run(&a, stmt, NULL, 0, &o, &error), EAGRE_OK);
    o.deadline = -1;
    assert_int_equal(answer_run(&a, stmt, NULL, 0, &o, &error), EAGRE_RANGE);
    answer_free(&a);
    eagre_finalize(stmt);
}

static void test_share(void **state)
{
    (void)state;
    make_letters();
    /* Half of four rows: two x, then others; where none is left the rule gives way. */
    const eagre_result *r = must("RETRIEVE letter USING n + 100 DIVERSITY k SHARE 0.5 LIMIT 4");
    assert_string_equal(keys_of(r), "a c b d");
    assert_false(r->flags & EAGRE_RESULT_RELAXED);
    r = must("RETRIEVE letter USING n + 100 DIVERSITY k SHARE 0.4 LIMIT 4"); /* 1.6 rows are one */
    assert_string_equal(keys_of(r), "a c b d");
    assert_true(r->flags & EAGRE_RESULT_RELAXED);
    r = must("RETRIEVE letter USING n + 100 DIVERSITY k SHARE 0.2 LIMIT 4");
    assert_string_equal(keys_of(r), "a c b d");
    assert_true(r->flags & EAGRE_RESULT_RELAXED);
}

/* ---- every plan against the exhaustive one ---- */

enum { ROWS = 3000 };

static void make_rows(bool numbers)
{
    static const char *const names[] = {"k", "ks", "n", "f", "t", "until"};
    exec(numbers ? "CREATE ITEM row (k KEYWORD, ks KEYWORDS, n INTEGER, f REAL, t TEXT, until TIME EXPIRES) KEY INTEGER"
                 : "CREATE ITEM row (k KEYWORD, ks KEYWORDS, n INTEGER, f REAL, t TEXT, until TIME EXPIRES)");
    exec("CREATE SIGNAL s ON row HALF LIFE 1d WINDOWS 1h, 24h");
    for (uint32_t i = 0; i < ROWS; i++) {
        char key[16], word[16], other[2][16], text[16];
        sprintf(key, "r%u", i);
        sprintf(word, "w%u", below(60));
        sprintf(other[0], "w%u", below(500));
        sprintf(other[1], "w%u", below(500));
        sprintf(text, "t%u", below(200));
        eagre_value list[2] = {h_text(other[0]), h_text(other[1])};
        eagre_value values[6] = {below(9) ? h_text(word) : h_null(),
                                 below(9) ? h_list(list, below(3)) : h_null(),
                                 below(9) ? h_int((int64_t)below(200) - 100) : h_null(),
                                 below(9) ? h_real((double)below(1000) / 8) : h_null(),
                                 below(9) ? h_text(text) : h_null(),
                                 below(9) ? h_null() : h_time(START + ((int64_t)below(100) - 10) * SECOND)};
        eagre_value k = numbers ? h_uint(i) : h_text(key);
        put_values("row", k, 6, names, values);
        if (below(4) == 0 && values[5].type == EAGRE_NULL)
            send("s", k, 1 + below(5), START - below(3600) * SECOND);
        if (below(10) == 0 && values[5].type == EAGRE_NULL)
            erase("row", k);
    }
}

static void random_condition(char *out, bool numbers)
{
    static const char *const key_tests[2][3] = {
        {"key IN ('r5', 'r77', 'r1999', 'zz', 'r77')", "key = 'r9'", "key IN ('r1', 'r2') AND n > 0"},
        {"key IN (5, 77, 1999, 99999, 77)", "key = 9", "key IN (1, 2) AND n > 0"}};
    switch (below(9)) {
    case 0: sprintf(out, "k = 'w%u'", below(70)); break;
    case 1: sprintf(out, "ks IN ('w%u', 'w%u', 'w%u')", below(510), below(510), below(510)); break;
    case 2: sprintf(out, "ks = 'w%u' AND n >= %d", below(500), (int)below(100) - 50); break;
    case 3: sprintf(out, "%s", key_tests[numbers][below(3)]); break;
    case 4: sprintf(out, "k IN ('w%u', 'w%u') AND NOT (f < %u OR t = 't%u')", below(60), below(60), below(125), below(200)); break;
    case 5: sprintf(out, "k = 'w%u' AND ks = 'w%u'", below(60), below(500)); break;
    case 6: sprintf(out, "k = 'w%u' OR n = %u", below(60), below(99)); break;
    case 7: sprintf(out, "count(s, 1h) > 0 AND k != 'w%u'", below(60)); break;
    default: sprintf(out, "k = 'w%u' AND t IS NOT NULL AND f IN (1, 2.5, %u)", below(60), below(125));
    }
}

static void random_question(char *out, bool numbers, bool exhaustive)
{
    static const char *const orders[] = {"USING decay(s) + f", "USING n * f - count(s, 24h)", "ORDER BY t DESC, n", "", "USING random(4)",
                                         "ORDER BY key DESC"};
    static const char *const rules[] = {"", "", "DIVERSITY k 1 PER 3", "DIVERSITY ks 1 PER 2, k SHARE 0.3"};
    char condition[200];
    uint64_t state = random_state;
    random_condition(condition, numbers);
    const char *order = orders[below(6)];
    sprintf(out, "EXPLAIN RETRIEVE row %s WHERE %s %s %s RETURN k, n, f, t COUNT LIMIT %u %s", order, condition,
            below(3) || numbers ? "" : "EXCLUDE ('r5', 'r9', 'r100')", rules[below(4)], 1 + below(60), exhaustive ? "EXHAUSTIVE" : "");
    if (!exhaustive)
        random_state = state; /* the same question again */
}

static bool explained(const char *word)
{
    const eagre_result *r = answer_result(&answer);
    return memmem(result_at(r, r->explain_at), (size_t)r->explain_length, word, strlen(word)) != NULL;
}

static void compare_plans(bool numbers)
{
    struct answer kept = {0};
    unsigned scans = 0, keys = 0, keywords = 0;
    char question[600];
    make_rows(numbers);
    for (unsigned i = 0; i < 600; i++) {
        random_question(question, numbers, false);
        must(question);
        scans += explained("\"candidates\":\"scan\"");
        keys += explained("\"candidates\":\"keys\"");
        keywords += explained("\"candidates\":\"keywords\"");
        struct answer other = kept;
        kept = answer;
        answer = other;
        random_question(question, numbers, true);
        const eagre_result *r = must(question), *q = answer_result(&kept);
        assert_true(explained("\"candidates\":\"scan\""));
        size_t length = (size_t)(r->cursor_length ? r->cursor_at : r->explain_at);
        if (q->n_rows != r->n_rows || q->total != r->total || q->flags != r->flags || strcmp(keys_of(q), keys_of(r)) != 0)
            fail_msg("%s: %u rows of %llu, exhaustive %u of %llu", question, q->n_rows, (unsigned long long)q->total, r->n_rows,
                     (unsigned long long)r->total);
        assert_memory_equal(result_at(q, q->scores_at), result_at(r, r->scores_at), r->n_rows * sizeof(double));
        assert_true(length <= r->bytes);
    }
    answer_free(&kept);
    print_message("plans: %u scans, %u by keys, %u by keywords\n", scans, keys, keywords);
    assert_true(scans > 20 && keys > 20 && keywords > 20);
}

static void test_plans_text_keys(void **state)
{
    (void)state;
    random_state = 1;
    compare_plans(false);
}

static void test_plans_number_keys(void **state)
{
    (void)state;
    random_state = 2;
    compare_plans(true);
}

/* ---- blocks that move ---- */

static bool stop;

/* Every put writes one number into all fields. */
static void *write_pairs(void *unused)
{
    static const char *const names[] = {"a", "b", "k"};
    eagre_value fields[3] = {h_text(names[0]), h_text(names[1]), h_text(names[2])};
    (void)unused;
    for (uint64_t i = 0; !take(&stop); i++) {
        char word[16];
        int64_t v = (int64_t)(mix64(i) % 1000);
        sprintf(word, "w%lld", (long long)v);
        eagre_value key = h_uint(mix64(i + 7) % 300), values[3] = {h_int(v), h_real((double)v), h_text(word)};
        eagre_put(db, "pair", &key, 3, fields, values, NULL, 0, i % 3 == 0 ? EAGRE_PATCH : 0, NULL);
        if (i % 5 == 0)
            eagre_delete(db, "pair", &key, NULL, 0, NULL);
    }
    return NULL;
}

static void test_blocks_move(void **state)
{
    (void)state;
    pthread_t writer;
    exec("CREATE ITEM pair (a INTEGER, b REAL, k KEYWORD) KEY INTEGER");
    publish(&stop, false);
    assert_int_equal(pthread_create(&writer, NULL, write_pairs, NULL), 0);
    unsigned moved = 0;
    uint64_t rows = 0;
    int64_t end = clock_monotonic() + SECOND;
    for (unsigned i = 0; clock_monotonic() < end; i++) {
        const eagre_result *r = must(i % 2 ? "EXPLAIN RETRIEVE pair USING a - b WHERE a = b RETURN a, b, k COUNT LIMIT 9999"
                                           : "EXPLAIN RETRIEVE pair USING b WHERE NOT (a < b) AND a <= b RETURN a, b, k COUNT LIMIT 9999");
        moved += !explained("\"blocks_moved\":0");
        rows += r->n_rows;
        assert_true(r->total == r->n_rows); /* an item that dies and comes back beside a scan may be in it twice */
        for (uint32_t row = 0; row < r->n_rows; row++) {
            size_t n;
            int64_t a = result_int(r, 0, row);
            char word[16];
            const char *text = result_text(r, 2, row, &n);
            assert_true(result_real(r, 1, row) == (double)a);
            assert_true(n == (size_t)sprintf(word, "w%lld", (long long)a) && memcmp(text, word, n) == 0);
            assert_true(result_score(r, row) == (i % 2 ? 0 : (double)a));
        }
        /* No row may be missing for being written to: b = a always holds, so WHERE never filters. */
        const eagre_result *other = must("RETRIEVE pair WHERE a != b LIMIT 10");
        assert_int_equal(other->n_rows, 0);
    }
    publish(&stop, true);
    pthread_join(writer, NULL);
    assert_true(rows > 0);
    print_message("%llu rows, %u answers had a block that moved\n", (unsigned long long)rows, moved);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        case_of(test_order_by),
        case_of(test_where),
        case_of(test_least_integer),
        case_of(test_exclude_count_limit),
        case_of(test_empty_kind),
        case_of(test_large_limit_small_kind),
        case_of(test_stale),
        case_of(test_moment),
        case_of(test_expiry_and_moment),
        case_of(test_deadline),
        case_of(test_share),
        case_of(test_plans_text_keys),
        case_of(test_plans_number_keys),
        case_of(test_blocks_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
