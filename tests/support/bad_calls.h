/* SPDX-License-Identifier: MIT */
/* Calls with bad values, and the proof that each changed nothing. */
#ifndef EAGRE_TESTS_BAD_CALLS_H
#define EAGRE_TESTS_BAD_CALLS_H

#include "check.h"
#include "host.h"

static const int64_t NOW = 1700000000000000;
static const char bad_utf8[][5] = {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "a\xe2\x82"};

static eagre_db *db, *closed_db;
static eagre_stmt *stmt, *closed_stmt;
static uint32_t view, dropped, counter;
static uint64_t film_handle;
static eagre_error error;
static char out[1 << 16] __attribute__((aligned(8)));
static size_t needed;
static unsigned tried;

/* ---- nothing changes ---- */

static inline uint64_t sum_bytes(uint64_t h, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        h = (h ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
    return h;
}

static inline uint64_t sum_question(uint64_t h, const char *text)
{
    static char block[1 << 16] __attribute__((aligned(8)));
    eagre_stmt *s;
    size_t n;
    memset(block, 0, sizeof block);
    assert_int_equal(eagre_prepare(db, text, strlen(text), &s, NULL), EAGRE_OK);
    assert_int_equal(eagre_run(s, NULL, 0, NULL, 0, NULL, block, sizeof block, &n, NULL), EAGRE_OK);
    eagre_finalize(s);
    const eagre_result *r = (const void *)block;
    return sum_bytes(h, block, (size_t)(r->cursor_length ? r->cursor_at : r->bytes));
}

/* All there is to see of the database. */
static inline uint64_t fingerprint(void)
{
    static char text[1 << 16];
    size_t n;
    assert_int_equal(eagre_schema(db, text, sizeof text, &n, NULL), EAGRE_OK);
    uint64_t h = sum_bytes(0xcbf29ce484222325u, text, n);
    h = sum_question(h, "RETRIEVE film USING decay(view) RETURN key, title, director, genres, released, minutes, rating, look, last(view), "
                        "count(view, 1h) COUNT LIMIT 100");
    return sum_question(h, "RETRIEVE num USING count(hits, all) RETURN key, n, last(hits) COUNT LIMIT 100");
}

static inline void reset(void)
{
    memset(&error, 0x5a, sizeof error);
    error.struct_size = sizeof error;
    error.code = 12345;
}

static uint64_t before; /* the fingerprint at the end of begin() */

static inline void refused_at(int line, const char *call, eagre_status expected, eagre_status got)
{
    tried++;
    if (got != expected)
        fail_msg("line %d: %s: %s, expected %s: %s", line, call, eagre_status_name(got), eagre_status_name(expected),
                 got < 0 && error.code == got ? error.text : "");
    if (got < 0 && error.code != 12345 && (error.code != got || memchr(error.text, 0, sizeof error.text) == NULL || error.text[0] == 0))
        fail_msg("line %d: %s: the error's details are not its own", line, call);
    if (before != fingerprint())
        fail_msg("line %d: %s: something has changed", line, call);
}

/* The call gives the status, tells why, and leaves everything as it was. */
#define refused(expected, call) (reset(), refused_at(__LINE__, #call, (expected), (call)))
#define told(expected, call) (refused(expected, call), assert_int_equal(error.code, (expected)))

static inline void exec(const char *text)
{
    reset();
    if (eagre_exec(db, text, strlen(text), &error) != EAGRE_OK)
        fail_msg("%s: %s", text, error.text);
}

static inline eagre_db *open_manual(void)
{
    eagre_options o = {.struct_size = sizeof o, .flags = EAGRE_OPEN_MANUAL_CLOCK, .now = NOW};
    eagre_db *made;
    assert_int_equal(eagre_open(&o, &made, NULL), EAGRE_OK);
    return made;
}

static inline int begin(void **state)
{
    static const char question[] = "RETRIEVE film USING decay(view)";
    eagre_value title = h_text("title"), value = h_text("Alien"), key = h_text("alien"), n = h_text("n"), one = h_int(1);
    (void)state;
    closed_db = open_manual();
    assert_int_equal(eagre_prepare(closed_db, "CREATE ITEM a (b INTEGER)", 25, &closed_stmt, NULL), EAGRE_OK);
    assert_int_equal(eagre_finalize(closed_stmt), EAGRE_OK);
    assert_int_equal(eagre_close(closed_db), EAGRE_OK);
    db = open_manual();
    exec("CREATE ITEM film (title TEXT, director KEYWORD, genres KEYWORDS, released TIME, minutes INTEGER, rating REAL, look VECTOR(3), "
         "until TIME EXPIRES);"
         "CREATE ITEM num (n INTEGER) KEY INTEGER; CREATE SIGNAL view ON film HALF LIFE 1d WINDOWS 1h; CREATE SIGNAL gone ON film NO DECAY;"
         "CREATE SIGNAL both ON film NO DECAY; CREATE SIGNAL both ON num NO DECAY; CREATE SIGNAL hits ON num NO DECAY");
    assert_int_equal(eagre_put(db, "film", &key, 1, &title, &value, NULL, 0, 0, NULL), EAGRE_OK);
    assert_int_equal(eagre_put(db, "num", &one, 1, &n, &one, NULL, 0, 0, NULL), EAGRE_OK);
    assert_int_equal(eagre_signal_id(db, "view", NULL, &view, NULL), EAGRE_OK);
    assert_int_equal(eagre_signal_id(db, "gone", NULL, &dropped, NULL), EAGRE_OK);
    assert_int_equal(eagre_signal_id(db, "hits", NULL, &counter, NULL), EAGRE_OK);
    exec("DROP SIGNAL gone ON film");
    assert_int_equal(eagre_handle(db, "film", &key, NULL, 0, &film_handle, NULL), EAGRE_OK);
    assert_int_equal(eagre_signal(db, view, film_handle, 2, NOW, NULL), EAGRE_OK);
    assert_int_equal(eagre_prepare(db, question, sizeof question - 1, &stmt, NULL), EAGRE_OK);
    before = fingerprint();
    return 0;
}

static inline int end(void **state)
{
    (void)state;
    print_message("%u bad calls\n", tried);
    return eagre_validate(db, NULL) || eagre_finalize(stmt) || eagre_close(db) || eagre_close(db) != EAGRE_CLOSED ||
           eagre_finalize(stmt) != EAGRE_CLOSED;
}

#endif
