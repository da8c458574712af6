/* SPDX-License-Identifier: MIT */
/* Items and signals with every class of bad value: the documented status with a sentence, nothing changed, no crash. */
#include <math.h>

#include "bad_calls.h"

#define NAN_ ((double)NAN)
#define INFINITY_ ((double)INFINITY)

static char long_text[(16 << 20) + 2];

/* ---- names of kinds, keys ---- */

static void every_function_of_a_kind(const char *kind, eagre_status expected)
{
    eagre_value key = h_text("alien");
    eagre_column column = {.type = EAGRE_COLUMN_VALUES, .at = (uintptr_t)&key, .nulls_at = EAGRE_NO_NULLS};
    uint64_t number;
    told(expected, eagre_put(db, kind, &key, 0, NULL, NULL, NULL, 0, 0, &error));
    told(expected, eagre_put_many(db, kind, 1, &column, 0, NULL, NULL, NULL, 0, 0, NULL, &error));
    told(expected, eagre_put_many(db, kind, 0, &column, 0, NULL, NULL, NULL, 0, 0, NULL, &error));
    told(expected, eagre_delete(db, kind, &key, NULL, 0, &error));
    told(expected, eagre_get(db, kind, &key, NULL, 0, out, sizeof out, &needed, &error));
    told(expected, eagre_count(db, kind, &number, &error));
    told(expected, eagre_handle(db, kind, &key, NULL, 0, &number, &error));
}

static void test_kinds(void **state)
{
    (void)state;
    every_function_of_a_kind(NULL, EAGRE_INVALID);
    every_function_of_a_kind("", EAGRE_UNKNOWN);
    every_function_of_a_kind("Film", EAGRE_UNKNOWN);
    every_function_of_a_kind("user", EAGRE_UNSUPPORTED);
    memset(long_text, 'x', 1 << 20);
    every_function_of_a_kind(long_text, EAGRE_UNKNOWN);
    for (size_t i = 0; i < sizeof bad_utf8 / sizeof *bad_utf8; i++)
        every_function_of_a_kind(bad_utf8[i], EAGRE_UNKNOWN);
    uint64_t number;
    uint32_t signal;
    eagre_value key = h_text("alien");
    told(EAGRE_INVALID, eagre_count(db, "film", NULL, &error));
    told(EAGRE_INVALID, eagre_handle(db, "film", &key, NULL, 0, NULL, &error));
    told(EAGRE_INVALID, eagre_signal_id(db, NULL, "film", &signal, &error));
    told(EAGRE_INVALID, eagre_signal_id(db, "view", "film", NULL, &error));
    told(EAGRE_UNKNOWN, eagre_signal_id(db, "view", "nothing", &signal, &error));
    told(EAGRE_UNKNOWN, eagre_signal_id(db, "view", "num", &signal, &error));
    told(EAGRE_UNKNOWN, eagre_signal_id(db, "both", NULL, &signal, &error)); /* of two kinds */
    told(EAGRE_UNKNOWN, eagre_signal_id(db, "gone", NULL, &signal, &error));
    told(EAGRE_UNKNOWN, eagre_signal_id(db, long_text, long_text, &signal, &error));
    told(EAGRE_UNKNOWN, eagre_signal_id(db, "", NULL, &signal, &error));
    (void)number;
}

static void every_function_of_a_key(const char *kind, uint32_t signal, const eagre_value *key, eagre_status expected)
{
    uint64_t number;
    told(expected, eagre_put(db, kind, key, 0, NULL, NULL, NULL, 0, 0, &error));
    told(expected, eagre_delete(db, kind, key, NULL, 0, &error));
    told(expected, eagre_get(db, kind, key, NULL, 0, out, sizeof out, &needed, &error));
    told(expected, eagre_handle(db, kind, key, NULL, 0, &number, &error));
    told(expected, eagre_signal_key(db, signal, key, 1, EAGRE_NOW, NULL, NULL, 0, &error));
    eagre_value id = h_int(1000);
    told(expected, eagre_signal_key(db, signal, key, 1, EAGRE_NOW, &id, NULL, 0, &error));
    if (key == NULL)
        return;
    eagre_value both[2] = {strcmp(kind, "film") == 0 ? h_text("alien") : h_int(1), *key};
    eagre_column column = {.type = EAGRE_COLUMN_VALUES, .at = (uintptr_t)both, .nulls_at = EAGRE_NO_NULLS};
    told(expected,
         eagre_put_many(db, kind, 2, &column, 0, NULL, NULL, NULL, 0, 0, &number, &error)); /* the first row is good, and is not put */
    assert_int_equal(number, 0);
    told(expected, eagre_signal_many(db, signal, 2, NULL, &column, NULL, NULL, NULL, NULL, 0, &number, &error));
    assert_int_equal(number, 0);
}

static void key_refused(const char *kind, eagre_value key, eagre_status expected)
{
    every_function_of_a_key(kind, strcmp(kind, "film") == 0 ? view : counter, &key, expected);
}

static void test_keys(void **state)
{
    (void)state;
    float numbers[2] = {1, 2};
    eagre_value list[1] = {h_text("alien")};
    memset(long_text, 'x', sizeof long_text);
    every_function_of_a_key("film", view, NULL, EAGRE_INVALID);
    key_refused("film", h_null(), EAGRE_TYPE);
    key_refused("film", h_int(1), EAGRE_TYPE);
    key_refused("film", h_uint(UINT64_MAX), EAGRE_TYPE);
    key_refused("film", h_real(1), EAGRE_TYPE);
    key_refused("film", h_time(1), EAGRE_TYPE);
    key_refused("film", h_vector(numbers, 2), EAGRE_TYPE);
    key_refused("film", h_text(""), EAGRE_RANGE);
    key_refused("film", h_bytes(long_text, 513), EAGRE_LIMIT);
    key_refused("film", h_bytes(long_text, 1 << 20), EAGRE_LIMIT);
    key_refused("film", h_bytes(NULL, 1), EAGRE_INVALID);
    key_refused("film", (eagre_value){.type = 8}, EAGRE_INVALID);
    key_refused("film", (eagre_value){.type = UINT32_MAX}, EAGRE_INVALID);
    key_refused("num", h_null(), EAGRE_TYPE);
    key_refused("num", h_text("1"), EAGRE_TYPE);
    key_refused("num", h_real(1), EAGRE_TYPE);
    key_refused("num", h_time(1), EAGRE_TYPE);
    key_refused("num", h_int(-1), EAGRE_RANGE);
    key_refused("num", h_int(INT64_MIN), EAGRE_RANGE);
    uint64_t number;
    eagre_value key = h_list(list, 1);
    told(EAGRE_INVALID, eagre_get(db, "film", &key, NULL, 0, out, sizeof out, &needed, &error));
    told(EAGRE_INVALID, eagre_delete(db, "film", &key, NULL, 0, &error));
    told(EAGRE_INVALID, eagre_put(db, "film", &key, 0, NULL, NULL, NULL, 0, 0, &error));
    told(EAGRE_INVALID, eagre_signal_key(db, view, &key, 1, EAGRE_NOW, NULL, NULL, 0, &error));
    key = h_text("nobody");
    told(EAGRE_NOT_FOUND, eagre_get(db, "film", &key, NULL, 0, out, sizeof out, &needed, &error));
    told(EAGRE_NOT_FOUND, eagre_delete(db, "film", &key, NULL, 0, &error));
    told(EAGRE_NOT_FOUND, eagre_handle(db, "film", &key, NULL, 0, &number, &error));
    told(EAGRE_NOT_FOUND, eagre_put(db, "film", &key, 0, NULL, NULL, NULL, 0, EAGRE_PATCH, &error));
    told(EAGRE_NOT_FOUND, eagre_signal_key(db, view, &key, 1, EAGRE_NOW, NULL, NULL, 0, &error));
    key = h_bytes("alien\0", 6); /* a key is its bytes, a NUL among them */
    told(EAGRE_NOT_FOUND, eagre_get(db, "film", &key, NULL, 0, out, sizeof out, &needed, &error));
}

/* ---- fields and their values ---- */

static void put_refused(const char *name, eagre_value v, eagre_status expected)
{
    static const uint32_t flags[] = {0, EAGRE_PATCH};
    eagre_value key = h_text("alien"), fields[2] = {h_text("until"), h_text(name)}, values[2] = {h_time(NOW + 1), v};
    for (int i = 0; i < 2; i++)
        told(expected, eagre_put(db, "film", &key, 2, fields, values, NULL, 0, flags[i], &error));
    /* In the last row of a batch, as a column of values. */
    eagre_value keys[3] = {h_text("alien"), h_text("new"), h_text("alien")}, cells[3] = {h_null(), h_null(), v};
    eagre_column key_column = {.type = EAGRE_COLUMN_VALUES, .at = (uintptr_t)keys, .nulls_at = EAGRE_NO_NULLS}, column = key_column;
    uint64_t applied = 77;
    column.at = (uintptr_t)cells;
    told(expected, eagre_put_many(db, "film", 3, &key_column, 1, &fields[1], &column, NULL, 0, 0, &applied, &error));
    assert_int_equal(applied, 0);
}

static void test_types(void **state)
{
    (void)state;
    static const char *const names[] = {"title", "director", "genres", "released", "minutes", "rating", "look"};
    float numbers[3] = {1, 2, 3};
    eagre_value list[1] = {h_text("a")};
    enum { N, I, U, R, T, X, L, V };
    /* Which types each field takes; null goes everywhere. */
    static const char *const takes[] = {"X", "X", "L", "IT", "I", "IUR", "V"};
    static const char letters[] = "NIURTXLV";
    eagre_value of_type[] = {h_null(),  h_int(1),        h_uint(1ull << 63), h_real(1.5),
                             h_time(1), h_text("plain"), h_list(list, 1),    h_vector(numbers, 3)};
    for (int f = 0; f < 7; f++)
        for (int t = I; t <= V; t++)
            if (!strchr(takes[f], letters[t]))
                put_refused(names[f], of_type[t], (t == U && (f == 3 || f == 4)) ? EAGRE_RANGE : EAGRE_TYPE);
    for (int f = 0; f < 7; f++) {
        put_refused(names[f], (eagre_value){.type = 8}, EAGRE_INVALID);
        put_refused(names[f], (eagre_value){.type = EAGRE_COLUMN_VALUES}, EAGRE_INVALID);
        put_refused(names[f], (eagre_value){.type = 1u << 31}, EAGRE_INVALID);
    }
}

static void test_values(void **state)
{
    (void)state;
    float numbers[4] = {1, 2, 3, 4};
    static eagre_value many[300];
    static char words[300][8];
    memset(long_text, 'x', sizeof long_text);
    put_refused("rating", h_real(NAN_), EAGRE_RANGE);
    put_refused("rating", h_real(INFINITY_), EAGRE_RANGE);
    put_refused("rating", h_real(-INFINITY_), EAGRE_RANGE);
    put_refused("minutes", h_uint(UINT64_MAX), EAGRE_RANGE);
    put_refused("released", h_time(INT64_MAX), EAGRE_RANGE);
    put_refused("released", h_time(INT64_MIN), EAGRE_RANGE);
    put_refused("released", h_int(INT64_MIN), EAGRE_RANGE);
    put_refused("released", h_text("yesterday"), EAGRE_TYPE);
    put_refused("released", h_text("2023-02-30"), EAGRE_TYPE);
    put_refused("released", h_text(""), EAGRE_TYPE);
    put_refused("director", h_bytes(long_text, 513), EAGRE_LIMIT);
    put_refused("title", h_bytes(long_text, (16 << 20) + 1), EAGRE_LIMIT);
    put_refused("title", h_bytes(NULL, 9), EAGRE_INVALID);
    for (size_t i = 0; i < sizeof bad_utf8 / sizeof *bad_utf8; i++) {
        eagre_value list[2] = {h_text("good"), h_text(bad_utf8[i])};
        put_refused("title", h_text(bad_utf8[i]), EAGRE_ENCODING);
        put_refused("director", h_text(bad_utf8[i]), EAGRE_ENCODING);
        put_refused("genres", h_list(list, 2), EAGRE_ENCODING);
    }
    put_refused("look", h_vector(numbers, 2), EAGRE_TYPE);
    put_refused("look", h_vector(numbers, 4), EAGRE_TYPE);
    put_refused("look", h_vector(numbers, 0), EAGRE_TYPE);
    put_refused("look", h_vector((const float *)(const void *)(out + 1), 3), EAGRE_INVALID);
    static const float bad[] = {(float)NAN, (float)INFINITY, -(float)INFINITY};
    for (int i = 0; i < 3; i++) {
        numbers[2] = bad[i];
        put_refused("look", h_vector(numbers, 3), EAGRE_RANGE);
    }
    for (int i = 0; i < 300; i++) {
        sprintf(words[i], "w%d", i);
        many[i] = h_text(words[i]);
    }
    put_refused("genres", h_list(many, 257), EAGRE_LIMIT);
    many[1] = h_int(3);
    put_refused("genres", h_list(many, 2), EAGRE_TYPE);
    many[1] = h_null();
    put_refused("genres", h_list(many, 2), EAGRE_TYPE);
    many[1] = h_bytes(long_text, 513);
    put_refused("genres", h_list(many, 2), EAGRE_LIMIT);
    many[1] = h_list(many, 1);
    put_refused("genres", h_list(many, 2), EAGRE_INVALID);
    many[1] = h_vector(numbers, 1);
    put_refused("genres", h_list(many, 2), EAGRE_TYPE);
    put_refused("genres", h_list(many, 1u << 31), EAGRE_LIMIT);
    put_refused("genres", h_list(many, UINT32_MAX), EAGRE_LIMIT);
    put_refused("genres", h_list(NULL, 1), EAGRE_INVALID);
    put_refused("genres", h_list((const eagre_value *)(const void *)(out + 4), 1), EAGRE_INVALID);
}

static void test_fields(void **state)
{
    (void)state;
    static eagre_value names[300], values[300];
    eagre_value key = h_text("alien");
    for (int i = 0; i < 300; i++) {
        names[i] = h_text("title");
        values[i] = h_null();
    }
#define put_fields(n, f, v, flags) eagre_put(db, "film", &key, n, f, v, NULL, 0, flags, &error)
    told(EAGRE_INVALID, put_fields(1, NULL, values, 0));
    told(EAGRE_INVALID, put_fields(1, names, NULL, 0));
    told(EAGRE_LIMIT, put_fields(257, names, values, 0));
    told(EAGRE_LIMIT, put_fields(1u << 31, names, values, 0));
    told(EAGRE_LIMIT, put_fields(UINT32_MAX, names, values, 0));
    told(EAGRE_INVALID, put_fields(2, names, values, 0)); /* one field twice */
    told(EAGRE_INVALID, put_fields(1, names, values, 2));
    told(EAGRE_INVALID, put_fields(1, names, values, 1u << 31));
    told(EAGRE_INVALID, put_fields(1, names, values, UINT32_MAX));
    const eagre_value bad[] = {h_text(""),        h_text("nothing"), h_text("key"), h_bytes("title\0", 6), h_bytes(long_text, 65),
                               h_text("\xff\xfe")};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        names[0] = bad[i];
        told(EAGRE_UNKNOWN, put_fields(1, names, values, 0));
    }
    names[0] = h_int(0);
    told(EAGRE_TYPE, put_fields(1, names, values, 0));
    names[0] = h_null();
    told(EAGRE_TYPE, put_fields(1, names, values, 0));
#undef put_fields
}

static void test_columns(void **state)
{
    (void)state;
    int64_t keys[2] = {1, 2}, cells[2] = {5, 6};
    uint64_t applied = 77;
    uint8_t nulls[2] = {0, 1};
    eagre_value field = h_text("n"), look = h_text("look"), texts[2] = {h_text("alien"), h_text("b")};
    eagre_column k = {.type = EAGRE_INT, .at = (uintptr_t)keys, .nulls_at = EAGRE_NO_NULLS}, c = k, bad;
    c.at = (uintptr_t)cells;
#define put_columns(n, keys_, columns, flags) eagre_put_many(db, "num", n, keys_, 1, &field, columns, NULL, 0, flags, &applied, &error)
#define with(status, kind, wide, data, nulls_) \
    (bad = (eagre_column){.type = (kind), .width = (wide), .at = (data), .nulls_at = (nulls_)}, told(status, put_columns(2, &k, &bad, 0)))
#define bad_column(status, kind, wide) with(status, kind, wide, (uintptr_t)cells, EAGRE_NO_NULLS)
    told(EAGRE_INVALID, put_columns(2, NULL, &c, 0));
    told(EAGRE_INVALID, put_columns(2, &k, NULL, 0));
    told(EAGRE_INVALID, put_columns(2, &k, &c, 4));
    told(EAGRE_RANGE, put_columns(UINT64_MAX, &k, &c, 0));
    told(EAGRE_RANGE, put_columns(1ull << 63, &k, &c, 0));
    refused(EAGRE_OK, put_columns(0, &k, &c, 0));
    told(EAGRE_INVALID, eagre_put_many(db, "num", 2, &k, 1, NULL, &c, NULL, 0, 0, NULL, &error));
    told(EAGRE_LIMIT, eagre_put_many(db, "num", 2, &k, 257, &field, &c, NULL, 0, 0, NULL, &error));
    told(EAGRE_LIMIT, eagre_put_many(db, "num", 2, &k, UINT32_MAX, &field, &c, NULL, 0, 0, NULL, &error));
    static const uint32_t types[] = {EAGRE_NULL, EAGRE_TEXT, EAGRE_LIST, 8, 99, 101, 1u << 31, UINT32_MAX};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        bad_column(EAGRE_INVALID, types[i], 0);
    bad_column(EAGRE_INVALID, EAGRE_VECTOR, 0);
    bad_column(EAGRE_INVALID, EAGRE_VECTOR, 4097);
    bad_column(EAGRE_INVALID, EAGRE_VECTOR, UINT32_MAX);
    bad_column(EAGRE_TYPE, EAGRE_VECTOR, 1);
    bad_column(EAGRE_TYPE, EAGRE_REAL, 0);
    with(EAGRE_INVALID, EAGRE_INT, 0, 0, EAGRE_NO_NULLS);
    with(EAGRE_INVALID, EAGRE_INT, 0, (uintptr_t)cells + 4, EAGRE_NO_NULLS);
    with(EAGRE_INVALID, EAGRE_INT, 0, (uintptr_t)cells, 0);
    cells[1] = -1;
    bad_column(EAGRE_RANGE, EAGRE_UINT, 0); /* 2^64 - 1 is no INTEGER */
    assert_int_equal(applied, 0);
    bad = k;
    bad.nulls_at = (uintptr_t)nulls; /* a null key */
    told(EAGRE_TYPE, put_columns(2, &bad, &c, 0));
    bad = k;
    bad.type = EAGRE_TIME;
    told(EAGRE_INVALID, put_columns(2, &bad, &c, 0));
    told(EAGRE_NOT_FOUND, put_columns(2, &k, &c, EAGRE_PATCH)); /* the second is not there: the first is not changed */
    assert_non_null(strstr(error.text, "row 1"));
    k = (eagre_column){.type = EAGRE_COLUMN_VALUES, .at = (uintptr_t)texts, .nulls_at = EAGRE_NO_NULLS};
    float vectors[6] = {1, 2, 3, 4, (float)NAN, 6};
    bad = (eagre_column){.type = EAGRE_VECTOR, .width = 3, .at = (uintptr_t)vectors, .nulls_at = EAGRE_NO_NULLS};
    told(EAGRE_RANGE, eagre_put_many(db, "film", 2, &k, 1, &look, &bad, NULL, 0, 0, NULL, &error));
    bad.width = 2;
    told(EAGRE_TYPE, eagre_put_many(db, "film", 2, &k, 1, &look, &bad, NULL, 0, 0, NULL, &error));
#undef put_columns
#undef bad_column
#undef with
}

/* ---- events ---- */

static void event_refused(uint32_t signal, uint64_t handle, double weight, int64_t at, eagre_status expected)
{
    eagre_value key = h_text("alien"), id = h_int(1001);
    uint64_t handles[2] = {film_handle, handle}, applied = 77;
    double weights[2] = {1, weight};
    int64_t times[2] = {NOW, at};
    told(expected, eagre_signal(db, signal, handle, weight, at, &error));
    told(expected,
         eagre_signal_many(db, signal, 2, handles, NULL, weights, times, NULL, NULL, 0, &applied, &error)); /* the first one is good */
    assert_int_equal(applied, 0);
    if (handle != film_handle || signal == counter)
        return;
    told(expected, eagre_signal_key(db, signal, &key, weight, at, NULL, NULL, 0, &error));
    told(expected, eagre_signal_key(db, signal, &key, weight, at, &id, NULL, 0, &error));
}

static void test_events(void **state)
{
    (void)state;
    static const double weights[] = {0, -0.0, -1, -INFINITY};
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++)
        event_refused(view, film_handle, weights[i], NOW, EAGRE_RANGE);
    event_refused(view, film_handle, NAN_, NOW, EAGRE_RANGE);
    event_refused(view, film_handle, INFINITY_, NOW, EAGRE_RANGE);
    event_refused(view, film_handle, 1, -1, EAGRE_RANGE);
    event_refused(view, film_handle, 1, INT64_MIN + 1, EAGRE_RANGE);
    static const uint32_t numbers[] = {UINT32_MAX, 1u << 31, 0xffff, 200u << 16, 1u << 8};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        event_refused(numbers[i], film_handle, 1, NOW, EAGRE_INVALID);
    event_refused(dropped, film_handle, 1, NOW, EAGRE_STALE);
    event_refused(counter, film_handle, 1, NOW, EAGRE_INVALID); /* a film's handle, another kind's signal */
    event_refused(view, UINT64_MAX, 1, NOW, EAGRE_INVALID);
    event_refused(view, film_handle ^ 1ull << 32, 1, NOW, EAGRE_NOT_FOUND); /* another generation */
    event_refused(view, film_handle + 1, 1, NOW, EAGRE_NOT_FOUND);          /* slots that nobody lives in */
    event_refused(view, film_handle | 1ull << 31, 1, NOW, EAGRE_NOT_FOUND);
    event_refused(view, film_handle | UINT32_MAX, 1, NOW, EAGRE_NOT_FOUND);
    event_refused(view, 0, 1, NOW, EAGRE_NOT_FOUND); /* an even generation: never alive */
}

static void test_event_ids(void **state)
{
    (void)state;
    eagre_value key = h_text("alien"), list[1] = {h_int(1)}, ids[2];
    float number = 1;
    uint64_t handles[2] = {film_handle, film_handle}, applied;
    memset(long_text, 'x', 100);
    const struct {
        eagre_value id;
        eagre_status expected;
    } bad[] = {
        {h_real(1), EAGRE_TYPE},
        {h_time(1), EAGRE_TYPE},
        {h_text(""), EAGRE_RANGE},
        {h_bytes(long_text, 65), EAGRE_RANGE},
        {h_vector(&number, 1), EAGRE_TYPE},
        {h_list(list, 1), EAGRE_INVALID},
        {{.type = 8}, EAGRE_INVALID},
        {h_bytes(NULL, 4), EAGRE_INVALID},
        {{.type = UINT32_MAX}, EAGRE_INVALID},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        told(bad[i].expected, eagre_signal_key(db, view, &key, 1, EAGRE_NOW, &bad[i].id, NULL, 0, &error));
        ids[0] = h_int(2000);
        ids[1] = bad[i].id;
        told(bad[i].expected, eagre_signal_many(db, view, 2, handles, NULL, NULL, NULL, ids, NULL, 0, &applied, &error));
    }
    told(EAGRE_INVALID, eagre_signal_many(db, view, 2, NULL, NULL, NULL, NULL, NULL, NULL, 0, &applied, &error));
    refused(EAGRE_OK, eagre_signal_many(db, view, 0, handles, NULL, NULL, NULL, NULL, NULL, 0, &applied, &error));
    eagre_column column = {.type = EAGRE_REAL, .at = (uintptr_t)handles, .nulls_at = EAGRE_NO_NULLS};
    told(EAGRE_INVALID, eagre_signal_many(db, counter, 2, NULL, &column, NULL, NULL, NULL, NULL, 0, &applied, &error));
    column.type = EAGRE_INT;
    told(EAGRE_RANGE, eagre_signal_many(db, counter, UINT64_MAX, NULL, &column, NULL, NULL, NULL, NULL, 0, &applied, &error));
    told(EAGRE_INVALID, eagre_signal_many(db, UINT32_MAX, 1, NULL, &column, NULL, NULL, NULL, NULL, 0, &applied, &error));
    const eagre_value lists[2] = {h_list(NULL, 0), h_list(list, 1)}; /* no list is a key, an empty one no more than others */
    for (int i = 0; i < 2; i++) {
        column = (eagre_column){.type = EAGRE_COLUMN_VALUES, .at = (uintptr_t)&lists[i], .nulls_at = EAGRE_NO_NULLS};
        told(i ? EAGRE_INVALID : EAGRE_TYPE, eagre_signal_many(db, counter, 1, NULL, &column, NULL, NULL, NULL, NULL, 0, &applied, &error));
    }
}

/* No words, wherever they are not: with addresses and with a heap. */
static void test_empty_list(void **state)
{
    (void)state;
    static const char heap[] = "agenres", schema[] = "CREATE ITEM film (genres KEYWORDS)";
    eagre_db *other = open_manual();
    eagre_value key = h_text("a"), name = h_text("genres"), none = h_list(NULL, 0);
    assert_int_equal(eagre_exec(other, schema, strlen(schema), NULL), EAGRE_OK);
    assert_int_equal(eagre_put(other, "film", &key, 1, &name, &none, NULL, 0, 0, NULL), EAGRE_OK);
    key.v.at = 0;
    name.v.at = none.v.at = 1;
    assert_int_equal(eagre_put(other, "film", &key, 1, &name, &none, heap, sizeof heap, 0, NULL), EAGRE_OK);
    assert_int_equal(eagre_close(other), EAGRE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),  cmocka_unit_test(test_keys),    cmocka_unit_test(test_types),  cmocka_unit_test(test_values),
        cmocka_unit_test(test_fields), cmocka_unit_test(test_columns), cmocka_unit_test(test_events), cmocka_unit_test(test_event_ids),
        cmocka_unit_test(test_empty_list),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
