/* SPDX-License-Identifier: MIT */
/* A database with a manual clock, and statements on it in one line. For tests through the C interface. */
#ifndef EAGRE_TESTS_QUERY_FIXTURE_H
#define EAGRE_TESTS_QUERY_FIXTURE_H

#include "base/hash.h"
#include "check.h"
#include "host.h"

#define SECOND 1000000LL
static const int64_t START = 1700000000LL * SECOND;

static eagre_db *db;
static struct answer answer; /* of the last question */
static eagre_error error = {.struct_size = sizeof error};

static inline eagre_db *open_manual(void)
{
    eagre_options o = {.struct_size = sizeof o, .flags = EAGRE_OPEN_MANUAL_CLOCK, .now = START};
    eagre_db *made;
    assert_int_equal(eagre_open(&o, &made, &error), EAGRE_OK);
    return made;
}

static inline int open_db(void **state)
{
    (void)state;
    db = open_manual();
    return 0;
}

static inline int close_db(void **state)
{
    (void)state;
    answer_free(&answer);
    eagre_status s = eagre_validate(db, &error);
    if (s != EAGRE_OK)
        print_error("%s\n", error.text);
    return s != EAGRE_OK || eagre_close(db) != EAGRE_OK;
}

#define case_of(test) cmocka_unit_test_setup_teardown(test, open_db, close_db)

static inline void exec(const char *text)
{
    if (eagre_exec(db, text, strlen(text), &error) != EAGRE_OK)
        fail_msg("%s: %s", text, error.text);
}

static inline void clock_at(int64_t now)
{
    assert_int_equal(eagre_set_clock(db, now, &error), EAGRE_OK);
}

static inline void put_values(const char *kind, eagre_value key, uint32_t n, const char *const *names, const eagre_value *values)
{
    eagre_value fields[64];
    for (uint32_t i = 0; i < n; i++)
        fields[i] = h_text(names[i]);
    if (eagre_put(db, kind, &key, n, fields, values, NULL, 0, 0, &error) != EAGRE_OK)
        fail_msg("put: %s", error.text);
}

static inline void put_text(const char *kind, eagre_value key, const char *name, eagre_value value)
{
    put_values(kind, key, 1, &name, &value);
}

static inline void erase(const char *kind, eagre_value key)
{
    assert_int_equal(eagre_delete(db, kind, &key, NULL, 0, &error), EAGRE_OK);
}

static inline void send(const char *signal, eagre_value key, double weight, int64_t at)
{
    uint32_t number;
    assert_int_equal(eagre_signal_id(db, signal, NULL, &number, &error), EAGRE_OK);
    assert_int_equal(eagre_signal_key(db, number, &key, weight, at, NULL, NULL, 0, &error), EAGRE_OK);
}

/* The status of a question; its answer, if it has one, is in `answer`. */
static inline eagre_status ask_with(const char *text, uint32_t n, const eagre_value *parameters)
{
    return answer_query(&answer, db, text, parameters, n, &error);
}

static inline eagre_status ask(const char *text)
{
    return ask_with(text, 0, NULL);
}

static inline const eagre_result *must_with(const char *text, uint32_t n, const eagre_value *parameters)
{
    if (ask_with(text, n, parameters) != EAGRE_OK)
        fail_msg("%s: %s", text, error.text);
    return answer_result(&answer);
}

static inline const eagre_result *must(const char *text)
{
    return must_with(text, 0, NULL);
}

/* The keys of an answer, joined by blanks. */
static inline const char *keys_of(const eagre_result *r)
{
    static char text[1 << 16];
    size_t at = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < r->n_rows && at < sizeof text - 600; i++) {
        size_t n = 0;
        const char *key = r->flags & EAGRE_RESULT_INTEGER_KEYS ? "" : result_key(r, i, &n);
        if (r->flags & EAGRE_RESULT_INTEGER_KEYS)
            at += (size_t)sprintf(text + at, "%s%llu", i ? " " : "", (unsigned long long)result_number_key(r, i));
        else
            at += (size_t)sprintf(text + at, "%s%.*s", i ? " " : "", (int)n, key);
    }
    return text;
}

/* A small generator with a seed. */
static uint64_t random_state;
static inline uint64_t draw(void)
{
    random_state++;
    return mix64(random_state);
}
static inline uint32_t below(uint32_t n)
{
    return (uint32_t)(draw() % n);
}

#endif
