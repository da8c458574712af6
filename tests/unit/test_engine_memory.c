/* SPDX-License-Identifier: MIT */
/* Every allocation fails once, and then all from there on, in every call of the interface that allocates: the call says that there is no memory and has
 * changed nothing, or does without; what holds of a database still holds; the same call works once there is memory again, and leaves what it would
 * have left. Leaks are the sanitizer's to find. */
#include "base/alloc.h"
#include "base/hash.h"
#include "base/reclaim.h"
#include "check.h"
#include "host.h"

#ifdef EAGRE_TSAN /* one thread, and every access is followed: some of the points will do */
enum { MANY = 40, STEP = 5 };
#else
enum { MANY = 40, STEP = 1 };
#endif
static const int64_t NOW = 1700000000000000;

static eagre_db *db;
static eagre_stmt *stmt;
static uint32_t view;
static struct answer cursor; /* of the first page */
static eagre_error error = {.struct_size = sizeof error};
static unsigned points, faults;

static const char schema[] =
    "CREATE ITEM film (title TEXT, director KEYWORD, genres KEYWORDS, released TIME, minutes INTEGER, rating REAL, look VECTOR(3), until "
    "TIME EXPIRES);"
    "CREATE SIGNAL view ON film HALF LIFE 1d WINDOWS 1h, 24h; CREATE PROFILE mine ON film AS minutes + count(view, 1h)";
static const char page[] =
    "RETRIEVE film USING mine WHERE director IN ('d1', 'd2', 'd3') OR minutes > ?1 EXCLUDE ?2 DIVERSITY director 1 PER 3, genres SHARE 0.5 "
    "RETURN title, genres, look, last(view) COUNT LIMIT 4 AFTER ?3";

/* ---- what can be seen of the database ---- */

static uint64_t sum(uint64_t h, const void *bytes, size_t n)
{
    return mix64(h ^ checksum64(bytes, n));
}

static uint64_t fingerprint(void)
{
    static const char *const questions[] = {
        ("RETRIEVE film USING decay(view) RETURN key, title, director, genres, released, minutes, rating, look, until, count(view, 1h), "
         "sum(view, all), last(view) COUNT LIMIT 1000"),
        "RETRIEVE film ORDER BY title DESC WHERE director = 'd1' OR genres = 'g2' LIMIT 1000",
    };
    static char block[1 << 18] __attribute__((aligned(8)));
    size_t needed;
    uint64_t h = 0, n = 0;
    assert_int_equal(eagre_schema(db, block, sizeof block, &needed, NULL), EAGRE_OK);
    h = sum(h, block, needed);
    for (size_t i = 0; i < 2; i++) {
        eagre_stmt *s;
        memset(block, 0, sizeof block);
        eagre_status result = eagre_prepare(db, questions[i], strlen(questions[i]), &s, NULL);
        h = mix64(h ^ (uint64_t)(int64_t)result);
        if (result != EAGRE_OK)
            continue;
        assert_int_equal(eagre_run(s, NULL, 0, NULL, 0, NULL, block, sizeof block, &needed, NULL), EAGRE_OK);
        h = sum(h, block, needed);
        eagre_finalize(s);
    }
    if (eagre_count(db, "film", &n, NULL) == EAGRE_OK)
        h = mix64(h ^ n);
    return h;
}

/* ---- calls ---- */

static eagre_status exec(const char *text)
{
    return eagre_exec(db, text, strlen(text), &error);
}

static eagre_status put_film(uint64_t i, uint32_t flags, uint32_t n_genres)
{
    static const char *const names[] = {"title", "director", "genres", "released", "minutes", "rating", "look", "until"};
    static char words[300][16];
    static eagre_value list[300];
    char key[16], title[32], director[16];
    float look[3] = {(float)i, 1, 2};
    eagre_value fields[8], k = h_bytes(key, (size_t)sprintf(key, "k%llu", (unsigned long long)i));
    for (uint32_t j = 0; j < n_genres; j++) {
        sprintf(words[j], "g%llu", (unsigned long long)(i + j) % 290);
        list[j] = h_text(words[j]);
    }
    sprintf(title, "title %llu", (unsigned long long)i);
    sprintf(director, "d%llu", (unsigned long long)i % 5);
    eagre_value values[8] = {h_text(title),     h_text(director),      h_list(list, n_genres), h_time(NOW - (int64_t)i * 1000000),
                             h_int((int64_t)i), h_real((double)i / 3), h_vector(look, 3),      i % 9 == 8 ? h_time(NOW + 50) : h_null()};
    for (int j = 0; j < 8; j++)
        fields[j] = h_text(names[j]);
    return eagre_put(db, "film", &k, 8, fields, values, NULL, 0, flags, &error);
}

static eagre_status send(uint64_t i, int64_t at, const eagre_value *id)
{
    char key[16];
    eagre_value k = h_bytes(key, (size_t)sprintf(key, "k%llu", (unsigned long long)i));
    return eagre_signal_key(db, view, &k, 1 + (double)i, at, id, NULL, 0, &error);
}

static eagre_status run_page(bool second)
{
    static char block[1 << 16] __attribute__((aligned(8)));
    eagre_value excluded[2] = {h_text("k3"), h_text("nobody")}, p[3] = {h_int(2), h_list(excluded, 2), h_null()};
    size_t needed;
    if (second)
        p[2] = result_cursor(answer_result(&cursor));
    return eagre_run(stmt, p, 3, NULL, 0, NULL, block, sizeof block, &needed, &error);
}

/* ---- what is there before the call ---- */

static void set_up(unsigned films, bool events, bool statement)
{
    eagre_options o = {.struct_size = sizeof o, .flags = EAGRE_OPEN_MANUAL_CLOCK, .now = NOW};
    assert_int_equal(eagre_open(&o, &db, &error), EAGRE_OK);
    assert_int_equal(exec(schema), EAGRE_OK);
    assert_int_equal(eagre_signal_id(db, "view", NULL, &view, &error), EAGRE_OK);
    for (unsigned i = 0; i < films; i++)
        assert_int_equal(put_film(i, 0, 1 + i % 4), EAGRE_OK);
    for (unsigned i = 0; events && i < films; i++)
        assert_int_equal(send(i, NOW - (int64_t)i * 60000000, NULL), EAGRE_OK);
    if (!statement)
        return;
    eagre_value none = h_list(NULL, 0), p[3] = {h_int(2), none, h_null()}, excluded[2] = {h_text("k3"), h_text("nobody")};
    p[1] = h_list(excluded, 2);
    assert_int_equal(eagre_prepare(db, page, strlen(page), &stmt, &error), EAGRE_OK);
    assert_int_equal(answer_run(&cursor, stmt, p, 3, NULL, &error), EAGRE_OK);
    assert_true(answer_result(&cursor)->cursor_length > 0);
}

static void tear_down(void)
{
    answer_free(&cursor);
    if (stmt != NULL)
        assert_int_equal(eagre_finalize(stmt), EAGRE_OK);
    stmt = NULL;
    assert_int_equal(eagre_close(db), EAGRE_OK);
}

/* ---- scenarios ---- */

static void nothing(void)
{
    set_up(0, false, false);
}
static void some(void)
{
    set_up(12, true, false);
}
static void some_quiet(void)
{
    set_up(12, false, false);
}
static void many(void)
{
    set_up(300, true, false);
}
static void paged(void)
{
    set_up(40, true, true);
}
static void expired(void)
{
    set_up(30, true, false);
    assert_int_equal(eagre_set_clock(db, NOW + 100, &error), EAGRE_OK);
}

static eagre_status create_item(void)
{
    return exec("CREATE ITEM other (a TEXT AS title, b KEYWORDS, c VECTOR(9), d TIME EXPIRES) KEY INTEGER");
}
static eagre_status create_signal(void)
{
    return exec("CREATE SIGNAL like ON film POWER DECAY 0.5 WINDOWS 1m, 1h");
}
static eagre_status create_profile(void)
{
    return exec("CREATE PROFILE best(a = 2) ON film AS a * rating + recency(released, 30d) + if(minutes > 3, 1, 2)");
}
static eagre_status alter_profile(void)
{
    return exec("ALTER PROFILE mine ON film AS ORDER BY title DESC, minutes");
}
static eagre_status add_fields(void)
{
    return exec("ALTER ITEM film ADD more TEXT, flags KEYWORDS, n INTEGER");
}
static eagre_status drop_signal(void)
{
    return exec("DROP SIGNAL view ON film");
}
static eagre_status drop_profile(void)
{
    return exec("DROP PROFILE mine ON film");
}
static eagre_status drop_item(void)
{
    return exec("DROP ITEM film");
}
static eagre_status put_first(void)
{
    return put_film(0, 0, 4);
}
static eagre_status put_new(void)
{
    return put_film(100, 0, 4);
}
static eagre_status put_over(void)
{
    return put_film(3, 0, 7);
}
static eagre_status put_wide(void)
{
    return put_film(5, 0, 250);
}
static eagre_status patch(void)
{
    return put_film(4, EAGRE_PATCH, 2);
}
static eagre_status put_expired(void)
{
    return put_film(8, 0, 2);
} /* takes the place of one that has expired */
static eagre_status first_event(void)
{
    return send(2, EAGRE_NOW, NULL);
}
static eagre_status late_event(void)
{
    return send(2, NOW - 7200000000, NULL);
}
static eagre_status event_once(void)
{
    eagre_value id = h_text("only once");
    eagre_status s = send(2, EAGRE_NOW, &id);
    return s == EAGRE_DUPLICATE ? EAGRE_OK : s;
}
static eagre_status delete_one(void)
{
    eagre_value key = h_text("k3");
    return eagre_delete(db, "film", &key, NULL, 0, &error);
}
static eagre_status get_one(void)
{
    char block[4096] __attribute__((aligned(8)));
    size_t needed;
    eagre_value key = h_text("k3");
    return eagre_get(db, "film", &key, NULL, 0, block, sizeof block, &needed, &error);
}
static eagre_status first_page(void)
{
    return run_page(false);
}
static eagre_status second_page(void)
{
    return run_page(true);
}
static eagre_status prepare_and_run(void)
{
    static const char text[] = "EXPLAIN RETRIEVE film USING decay(view) + rating ORDER BY title";
    static const char right[] = "EXPLAIN RETRIEVE film USING decay(view) * 2 + if(rating > 1, sum(view, 24h), random(3)) WHERE key IN "
                                "('k1', 'k2') RETURN key, created LIMIT 3";
    char block[8192] __attribute__((aligned(8)));
    eagre_stmt *s;
    size_t needed;
    eagre_status result = eagre_prepare(db, text, sizeof text - 1, &s, &error); /* a fault of the statement's, or no memory to find it */
    assert_true(result == EAGRE_SYNTAX || result == EAGRE_NO_MEMORY);
    result = eagre_prepare(db, right, sizeof right - 1, &s, &error);
    if (result != EAGRE_OK)
        return result;
    result = eagre_run(s, NULL, 0, NULL, 0, NULL, block, sizeof block, &needed, &error);
    assert_int_equal(eagre_finalize(s), EAGRE_OK);
    return result;
}
static eagre_status report_schema(void)
{
    char block[8192];
    size_t needed;
    return eagre_schema(db, block, sizeof block, &needed, &error);
}
static eagre_status report_stats(void)
{
    char block[8192];
    size_t needed;
    return eagre_stats(db, block, sizeof block, &needed, &error);
}
static eagre_status maintain(void)
{
    return eagre_maintain(db, &error);
}
static eagre_status open_another(void)
{
    eagre_db *other;
    eagre_status s = eagre_open(NULL, &other, &error);
    if (s == EAGRE_OK)
        assert_int_equal(eagre_close(other), EAGRE_OK); /* which never needs memory */
    else
        assert_null(other);
    return s;
}

static const struct scenario {
    const char *name;
    void (*before)(void);
    eagre_status (*call)(void);
} scenarios[] = {
    {"open", nothing, open_another},
    {"create item", nothing, create_item},
    {"create signal", some, create_signal},
    {"create profile", some, create_profile},
    {"alter profile", some, alter_profile},
    {"add fields", some, add_fields},
    {"drop signal", some, drop_signal},
    {"drop profile", some, drop_profile},
    {"drop item", some, drop_item},
    {"first put", nothing, put_first},
    {"put", some, put_new},
    {"put over", some, put_over},
    {"put with 250 keywords", some, put_wide},
    {"patch", some, patch},
    {"put over what expired", expired, put_expired},
    {"first event", some_quiet, first_event},
    {"late event", some, late_event},
    {"event with an id", some_quiet, event_once},
    {"delete", some, delete_one},
    {"get", some, get_one},
    {"first page", paged, first_page},
    {"second page", paged, second_page},
    {"prepare and run", some, prepare_and_run},
    {"schema", some, report_schema},
    {"stats", some, report_stats},
    {"maintain", expired, maintain},
    {"put among many", many, put_new},
};

/* One call with the n-th allocation failing. False: it made fewer. */
static bool fail_at(const struct scenario *s, uint64_t n, bool from_then_on, uint64_t after)
{
    s->before();
    uint64_t before = fingerprint();
    mem_fail_at(n, from_then_on);
    eagre_status result = s->call();
    bool reached = mem_fail_at(0, false) >= n;
    if (result == EAGRE_NO_MEMORY) {
        faults++;
        if (error.code != EAGRE_NO_MEMORY || error.text[0] == 0)
            fail_msg("%s, allocation %llu: no sentence", s->name, (unsigned long long)n);
        if (fingerprint() != before)
            fail_msg("%s, allocation %llu: refused, and yet something has changed", s->name, (unsigned long long)n);
    } else if (result != EAGRE_OK) {
        fail_msg("%s, allocation %llu: %s: %s", s->name, (unsigned long long)n, eagre_status_name(result), error.text);
    }
    if (eagre_validate(db, &error) != EAGRE_OK)
        fail_msg("%s, allocation %llu: %s", s->name, (unsigned long long)n, error.text);
    if (result != EAGRE_OK && (result = s->call()) != EAGRE_OK)
        fail_msg("%s, allocation %llu: again, with memory: %s: %s", s->name, (unsigned long long)n, eagre_status_name(result), error.text);
    if (fingerprint() != after)
        fail_msg("%s, allocation %llu: what it leaves is not what it should", s->name, (unsigned long long)n);
    if (eagre_validate(db, &error) != EAGRE_OK)
        fail_msg("%s, allocation %llu, again: %s", s->name, (unsigned long long)n, error.text);
    tear_down();
    points++;
    return reached;
}

static void test_every_call(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        const struct scenario *s = &scenarios[i];
        s->before();
        assert_int_equal(s->call(), EAGRE_OK);
        uint64_t after = fingerprint();
        tear_down();
        for (int from_then_on = 0; from_then_on < 2; from_then_on++)
            for (uint64_t n = 1; fail_at(s, n, from_then_on != 0, after); n += STEP)
                assert_true(n < 5000);
    }
    print_message("%u points, %u calls refused\n", points, faults);
}

/* ---- batches: each row whole, and as many as are said ---- */

static struct batch {
    char keys[MANY][16], titles[MANY][32];
    eagre_value key_cells[MANY], title_cells[MANY];
} batch;

static eagre_status put_batch(uint64_t *applied)
{
    eagre_column keys = {.type = EAGRE_COLUMN_VALUES, .at = (uintptr_t)batch.key_cells, .nulls_at = EAGRE_NO_NULLS},
                 columns[2] = {keys, keys};
    eagre_value fields[2] = {h_text("title"), h_text("director")};
    for (int i = 0; i < MANY; i++) {
        batch.key_cells[i] = h_bytes(batch.keys[i], (size_t)sprintf(batch.keys[i], "k%d", i));
        batch.title_cells[i] = h_bytes(batch.titles[i], (size_t)sprintf(batch.titles[i], "of a batch %d", i));
    }
    columns[0].at = columns[1].at = (uintptr_t)batch.title_cells;
    return eagre_put_many(db, "film", MANY, &keys, 2, fields, columns, NULL, 0, 0, applied, &error);
}

static void test_put_many(void **state)
{
    (void)state;
    bool reached = true;
    for (uint64_t n = 1; reached; n++) {
        uint64_t applied = 99, count;
        some();
        mem_fail_at(n, n % 2);
        eagre_status s = put_batch(&applied);
        reached = mem_fail_at(0, false) >= n;
        assert_true(s == EAGRE_OK ? applied == MANY : s == EAGRE_NO_MEMORY && applied < MANY);
        for (int i = 0; i < MANY; i++) { /* the rows that were put, and not one more */
            char block[4096] __attribute__((aligned(8)));
            size_t needed, length;
            eagre_value key = h_text(batch.keys[i]);
            eagre_status got = eagre_get(db, "film", &key, NULL, 0, block, sizeof block, &needed, NULL);
            assert_int_equal(got, i < 12 || (uint64_t)i < applied ? EAGRE_OK : EAGRE_NOT_FOUND);
            if (got != EAGRE_OK)
                continue;
            const char *title = result_text((const void *)block, 0, 0, &length);
            assert_true((length > 10 && memcmp(title, "of a batch", 10) == 0) == ((uint64_t)i < applied));
        }
        assert_int_equal(eagre_validate(db, &error), EAGRE_OK);
        assert_int_equal(put_batch(&applied), EAGRE_OK);
        assert_int_equal(eagre_count(db, "film", &count, &error), EAGRE_OK);
        assert_int_equal(count, MANY);
        tear_down();
        points++;
    }
    print_message("%u points\n", points);
}

static void test_signal_many(void **state)
{
    (void)state;
    bool reached = true;
    for (uint64_t n = 1; reached; n++) {
        eagre_value keys[MANY], ids[MANY];
        int64_t times[MANY];
        char texts[MANY][16];
        uint64_t applied = 99, again, handle;
        eagre_column column = {.type = EAGRE_COLUMN_VALUES, .at = (uintptr_t)keys, .nulls_at = EAGRE_NO_NULLS};
        some_quiet();
        for (int i = 0; i < MANY; i++) {
            keys[i] = h_bytes(texts[i], (size_t)sprintf(texts[i], "k%d", i % 8));
            ids[i] = h_int(i);
            times[i] = NOW - (int64_t)(i * 37 % 50) * 600000000;
        }
        mem_fail_at(n, n % 2);
        eagre_status s = eagre_signal_many(db, view, MANY, NULL, &column, NULL, times, ids, NULL, 0, &applied, &error);
        reached = mem_fail_at(0, false) >= n;
        assert_true(s == EAGRE_OK ? applied == MANY : s == EAGRE_NO_MEMORY && applied < MANY);
        assert_int_equal(eagre_validate(db, &error), EAGRE_OK);
        /* Again: those that were counted are known by their ids, and each counts once. */
        assert_int_equal(eagre_signal_many(db, view, MANY, NULL, &column, NULL, times, ids, NULL, 0, &again, &error), EAGRE_OK);
        assert_int_equal(applied + again, MANY);
        struct answer a = {0};
        assert_int_equal(answer_query(&a, db, "RETRIEVE film USING count(view, all) LIMIT 100", NULL, 0, &error), EAGRE_OK);
        double all = 0;
        for (uint32_t i = 0; i < answer_result(&a)->n_rows; i++)
            all += result_score(answer_result(&a), i);
        assert_true(all == MANY);
        answer_free(&a);
        assert_int_equal(eagre_handle(db, "film", keys, NULL, 0, &handle, &error), EAGRE_OK);
        tear_down();
        points++;
    }
    print_message("%u points\n", points);
}

/* A limit refuses writes and lets reads and deletes go on; lifted, writes go on too. */
static void test_memory_limit(void **state)
{
    (void)state;
    some();
    mem_set_limit(mem_used() + (64 << 10));
    eagre_status s = EAGRE_OK;
    unsigned n = 0;
    for (; n < 100000 && s == EAGRE_OK; n++)
        s = put_film(1000 + n, 0, 3);
    assert_int_equal(s, EAGRE_NO_MEMORY);
    assert_int_equal(get_one(), EAGRE_OK);
    assert_int_equal(prepare_and_run(), EAGRE_OK);
    assert_int_equal(delete_one(), EAGRE_OK);
    assert_int_equal(eagre_validate(db, &error), EAGRE_OK);
    mem_set_limit(0);
    assert_int_equal(put_film(1000 + n, 0, 3), EAGRE_OK);
    print_message("%u puts until the limit\n", n);
    tear_down();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_call),
        cmocka_unit_test(test_put_many),
        cmocka_unit_test(test_signal_many),
        cmocka_unit_test(test_memory_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
