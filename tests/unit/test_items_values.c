/* SPDX-License-Identifier: MIT */
/* Values and keys that fit their field or kind, and those that do not. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "store_fixture.h"

#define assert_says(e, words) (strstr((e).text, words) != NULL ? (void)0 : fail_msg("\"%s\" does not say \"%s\"", (e).text, words))

/* ---- values and keys ---- */

static void check(const struct kind *k, unsigned field, struct value v, status expected, uint32_t type)
{
    struct error e = {0};
    status s = items_check_value(k->fields[field], &v, &e);
    if (s != expected)
        fail_msg("field %u: %s instead of %s: %s", field, status_name(s), status_name(expected), e.text);
    if (s == STATUS_OK)
        assert_int_equal(v.type, type);
    else {
        assert_int_equal(e.code, expected);
        assert_says(e, FILM[field].name);
        assert_says(e, "film");
    }
}

static void scalars_that_fit(void **state)
{
    (void)state;
    struct kind *k = make_film();
    for (unsigned i = 0; i < FILM_FIELDS; i++)
        check(k, i, v_null(), STATUS_OK, VALUE_NULL);
    check(k, MINUTES, v_int(INT64_MIN), STATUS_OK, VALUE_INT);
    check(k, MINUTES, v_int(INT64_MAX), STATUS_OK, VALUE_INT);
    check(k, MINUTES, v_uint(1ull << 63), STATUS_RANGE, 0);
    check(k, MINUTES, v_real(3.0), STATUS_TYPE, 0);
    check(k, MINUTES, v_time(3), STATUS_TYPE, 0);
    check(k, MINUTES, v_text("3"), STATUS_TYPE, 0);
    check(k, RATING, v_real(8.5), STATUS_OK, VALUE_REAL);
    check(k, RATING, v_int(8), STATUS_OK, VALUE_REAL);
    check(k, RATING, v_uint(UINT64_MAX), STATUS_OK, VALUE_REAL);
    check(k, RATING, v_real((double)NAN), STATUS_RANGE, 0);
    check(k, RATING, v_real((double)INFINITY), STATUS_RANGE, 0);
    check(k, RATING, v_real(-(double)INFINITY), STATUS_RANGE, 0);
    check(k, RATING, v_time(8), STATUS_TYPE, 0);
    check(k, RATING, v_text("8"), STATUS_TYPE, 0);
    check(k, RELEASED, v_time(TIME_MIN_US), STATUS_OK, VALUE_TIME);
    check(k, RELEASED, v_time(TIME_MAX_US), STATUS_OK, VALUE_TIME);
    check(k, RELEASED, v_time(TIME_MAX_US + 1), STATUS_RANGE, 0);
    check(k, RELEASED, v_int(TIME_MIN_US - 1), STATUS_RANGE, 0);
    check(k, RELEASED, v_int(INT64_MIN), STATUS_RANGE, 0);
    check(k, RELEASED, v_uint(UINT64_MAX), STATUS_RANGE, 0);
    check(k, RELEASED, v_int(0), STATUS_OK, VALUE_TIME);
    check(k, RELEASED, v_real(0), STATUS_TYPE, 0);
    check(k, RELEASED, v_text("1994-07-14"), STATUS_OK, VALUE_TIME);
    check(k, RELEASED, v_text("1994-07-14 10:00:00.5Z"), STATUS_OK, VALUE_TIME);
    check(k, RELEASED, v_text("1994-02-30"), STATUS_TYPE, 0);
    check(k, RELEASED, v_text("yesterday, or the day before that, who knows"), STATUS_TYPE, 0);
    check(k, RELEASED, v_text("\xff"), STATUS_TYPE, 0);
    struct value v = v_text("1970-01-01 00:00:01");
    assert_int_equal(items_check_value(k->fields[RELEASED], &v, NULL), STATUS_OK);
    assert_int_equal(v.i, 1000000);
    struct error e = {0};
    v = v_text("long");
    assert_int_equal(items_check_value(k->fields[MINUTES], &v, &e), STATUS_TYPE);
    assert_string_equal(e.text, "field 'minutes' of 'film' expects an integer, got text");
    catalog_destroy(&catalog);
}

static void texts_that_fit(void **state)
{
    (void)state;
    struct kind *k = make_film();
    char *wide = malloc(MAX_TEXT + 1);
    memset(wide, 'x', MAX_TEXT + 1);
    check(k, TITLE, v_bytes(wide, MAX_TEXT), STATUS_OK, VALUE_TEXT);
    check(k, TITLE, v_bytes(wide, MAX_TEXT + 1), STATUS_LIMIT, 0);
    check(k, TITLE, v_text(""), STATUS_OK, VALUE_TEXT);
    check(k, TITLE, v_text("\xc3"), STATUS_ENCODING, 0);
    check(k, TITLE, v_int(3), STATUS_TYPE, 0);
    check(k, DIRECTOR, v_bytes(wide, MAX_KEYWORD), STATUS_OK, VALUE_TEXT);
    check(k, DIRECTOR, v_bytes(wide, MAX_KEYWORD + 1), STATUS_LIMIT, 0);
    check(k, DIRECTOR, v_text("\xed\xa0\x80"), STATUS_ENCODING, 0);
    check(k, DIRECTOR, v_list(NULL, 0), STATUS_TYPE, 0);
    struct value mixed[] = {v_text("a"), v_int(1)}, bad[] = {v_text("a"), v_text("\x80")}, null[] = {v_null()};
    check(k, GENRES, v_list(NULL, 0), STATUS_OK, VALUE_LIST);
    check(k, GENRES, v_list(mixed, 1), STATUS_OK, VALUE_LIST);
    check(k, GENRES, v_list(mixed, 2), STATUS_TYPE, 0);
    check(k, GENRES, v_list(bad, 2), STATUS_ENCODING, 0);
    check(k, GENRES, v_list(null, 1), STATUS_TYPE, 0);
    check(k, GENRES, v_text("a"), STATUS_TYPE, 0);
    struct value many[3000];
    char names[3000][8];
    for (int i = 0; i < 3000; i++) {
        snprintf(names[i], sizeof names[i], "g%d", i % 256);
        many[i] = v_text(names[i]);
    }
    check(k, GENRES, v_list(many, 3000), STATUS_OK, VALUE_LIST); /* 256 different ones */
    many[2999] = v_text("one more");
    check(k, GENRES, v_list(many, 3000), STATUS_LIMIT, 0);
    float numbers[5] = {1, 2, 3, 4, 5};
    check(k, LOOK, v_vector(numbers, 4), STATUS_OK, VALUE_VECTOR);
    check(k, LOOK, v_vector(numbers, 3), STATUS_TYPE, 0);
    check(k, LOOK, v_vector(numbers, 5), STATUS_TYPE, 0);
    check(k, LOOK, v_list(mixed, 2), STATUS_TYPE, 0);
    numbers[2] = INFINITY;
    check(k, LOOK, v_vector(numbers, 4), STATUS_RANGE, 0);
    numbers[2] = NAN;
    check(k, LOOK, v_vector(numbers, 4), STATUS_RANGE, 0);
    free(wide);
    catalog_destroy(&catalog);
}

static void keys_that_fit(void **state)
{
    (void)state;
    struct key key;
    struct error e = {0};
    char wide[MAX_KEY + 1];
    struct value v;
    struct kind *k = make_film();
    memset(wide, 0xff, sizeof wide);
    assert_int_equal(items_check_key(k, (v = v_bytes(wide, MAX_KEY), &v), &key, &e), STATUS_OK); /* any bytes */
    assert_int_equal(key.length, MAX_KEY);
    assert_int_equal(items_check_key(k, (v = v_bytes(wide, MAX_KEY + 1), &v), &key, &e), STATUS_LIMIT);
    assert_int_equal(items_check_key(k, (v = v_text(""), &v), &key, &e), STATUS_RANGE);
    assert_int_equal(items_check_key(k, (v = v_int(1), &v), &key, &e), STATUS_TYPE);
    assert_int_equal(items_check_key(k, (v = v_null(), &v), &key, &e), STATUS_TYPE);
    catalog_destroy(&catalog);
    k = make_kind(true, 0, NULL);
    assert_int_equal(items_check_key(k, (v = v_int(0), &v), &key, &e), STATUS_OK);
    assert_int_equal(items_check_key(k, (v = v_uint(UINT64_MAX), &v), &key, &e), STATUS_OK);
    assert_true(key.number == UINT64_MAX);
    assert_int_equal(items_check_key(k, (v = v_int(-1), &v), &key, &e), STATUS_RANGE);
    assert_int_equal(items_check_key(k, (v = v_text("1"), &v), &key, &e), STATUS_TYPE);
    assert_int_equal(items_check_key(k, (v = v_real(1), &v), &key, &e), STATUS_TYPE);
    struct item_change done;
    static const uint64_t edges[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, 1ull << 63};
    for (size_t i = 0; i < 5; i++) {
        struct change none = {0};
        v = edges[i] > INT64_MAX ? v_uint(edges[i]) : v_int((int64_t)edges[i]);
        assert_int_equal(put_change(k, v, &none, false, 5, &done, &e), STATUS_OK);
        assert_int_equal(done.slot, i);
    }
    reclaim_enter();
    assert_true(find(k, v_uint(UINT64_MAX), 5)->key->number == UINT64_MAX);
    assert_null(find(k, v_int(2), 5));
    reclaim_leave();
    assert_true(valid(k));
    catalog_destroy(&catalog);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars_that_fit),
        cmocka_unit_test(texts_that_fit),
        cmocka_unit_test(keys_that_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
