/* SPDX-License-Identifier: MIT */
/* The plain parts of core/base: hash, clock, value, status, buffer. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "check.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/status.h"
#include "base/value.h"

/* ---- hash ---- */

static void hashes_differ_and_repeat(void **state)
{
    (void)state;
    char text[64];
    memset(text, 'a', sizeof text);
    uint64_t seen[64];
    for (size_t n = 0; n < 64; n++) { /* prefixes of one run: the length matters */
        seen[n] = hash_bytes(text, n);
        assert_int_equal(seen[n], hash_bytes(text, n));
        for (size_t i = 0; i < n; i++)
            assert_int_not_equal(seen[n], seen[i]);
    }
    uint64_t a[2], b[2];
    hash128(text, 20, a);
    hash128(text, 20, b);
    assert_memory_equal(a, b, sizeof a);
    hash128(text, 21, b);
    assert_int_not_equal(a[0], b[0]);
    assert_int_not_equal(a[1], b[1]);
    assert_int_not_equal(a[0], a[1]);
}

/* A flipped bit of the input flips each bit of the output about half of the time. */
static void integers_avalanche(void **state)
{
    (void)state;
    enum { ROUNDS = 4000 };
    static unsigned flips[64][64];
    for (uint64_t v = 0; v < ROUNDS; v++)
        for (int in = 0; in < 64; in++) {
            uint64_t changed = hash_u64(v) ^ hash_u64(v ^ (uint64_t)1 << in);
            for (int out = 0; out < 64; out++)
                flips[in][out] += (unsigned)(changed >> out & 1);
        }
    for (int in = 0; in < 64; in++)
        for (int out = 0; out < 64; out++)
            assert_in_range(flips[in][out], ROUNDS * 4 / 10, ROUNDS * 6 / 10);
}

static void degraded_hashes_collide(void **state)
{
    (void)state;
    hash_degrade(3);
    for (uint64_t v = 0; v < 100; v++) {
        assert_true(hash_u64(v) < 3);
        assert_true(hash_bytes(&v, sizeof v) < 3);
    }
    hash_degrade(0);
    assert_true(hash_u64(1) > 2 || hash_u64(2) > 2);
}

static void checksum_is_unkeyed(void **state)
{
    (void)state;
    assert_int_equal(checksum64("", 0), mix64(0xcbf29ce484222325u));
    assert_int_equal(checksum64("a", 1), mix64(0xaf63dc4c8601ec8cu)); /* FNV-1a of "a" is published */
}

/* ---- clock ---- */

static void clocks_run(void **state)
{
    (void)state;
    int64_t precise = clock_precise(), coarse = clock_coarse();
    assert_true(precise > 1700000000 * MICROS && precise < TIME_MAX_US);
    assert_true(coarse > precise - MICROS && coarse < precise + MICROS);
    int64_t a = clock_monotonic(), b = clock_monotonic();
    assert_true(b >= a);
}

/* By the C library. */
static void write_time(int64_t us, char out[80])
{
    int64_t fraction = ((us % MICROS) + MICROS) % MICROS;
    time_t seconds = (us - fraction) / MICROS;
    struct tm tm;
    gmtime_r(&seconds, &tm);
    snprintf(out, 80, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
             (int)fraction);
}

static void check_time(const char *text, int64_t expected, const char *canonical)
{
    int64_t us;
    assert_true(time_parse(text, strlen(text), &us));
    assert_int_equal(us, expected);
    char out[80];
    write_time(us, out);
    assert_string_equal(out, canonical);
}

static void times_are_read(void **state)
{
    (void)state;
    check_time("1970-01-01", 0, "1970-01-01T00:00:00.000000Z");
    check_time("2000-02-29 12:34", 951827640 * MICROS, "2000-02-29T12:34:00.000000Z");
    check_time("2024-12-31T23:59:59.5Z", 1735689599 * MICROS + 500000, "2024-12-31T23:59:59.500000Z");
    check_time("1969-12-31T23:59:59.999999", -1, "1969-12-31T23:59:59.999999Z");
    check_time("0001-01-01Z", TIME_MIN_US, "0001-01-01T00:00:00.000000Z");
    check_time("9999-12-31T23:59:59.999999Z", TIME_MAX_US, "9999-12-31T23:59:59.999999Z");
    const char *bad[] = {"",
                         "1970",
                         "1970-1-1",
                         "1970-13-01",
                         "1970-02-30",
                         "1900-02-29",
                         "0000-01-01",
                         "1970-01-01T",
                         "1970-01-01T24:00",
                         "1970-01-01T23:60",
                         "1970-01-01T23:59:60",
                         "1970-01-01T23:59:",
                         "1970-01-01 x",
                         "1970-01-01T23:59:59.",
                         "1970-01-01T23:59:59.1234567",
                         "1970-01-01ZZ",
                         "+970-01-01"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t us;
        assert_false(time_parse(bad[i], strlen(bad[i]), &us));
    }
}

static void every_day_comes_back(void **state)
{
    (void)state;
    for (int64_t us = TIME_MIN_US; us <= TIME_MAX_US; us += 97 * 86400 * MICROS + 1234567) {
        char out[80];
        int64_t again;
        write_time(us, out);
        assert_true(time_parse(out, strlen(out), &again));
        assert_int_equal(again, us);
    }
}

/* ---- value ---- */

static void utf8_is_told_from_bytes(void **state)
{
    (void)state;
    const char *good[] = {"",
                          "plain ASCII, longer than eight",
                          "\xc2\x80",
                          "\xdf\xbf",
                          "\xe0\xa0\x80",
                          "\xed\x9f\xbf",
                          "\xee\x80\x80",
                          "\xef\xbf\xbf",
                          "\xf0\x90\x80\x80",
                          "\xf4\x8f\xbf\xbf",
                          "12345678\xc3\xa9zzzzzzzz",
                          "\xe9\x87\x8d\xe6\x85\xb6"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(utf8_valid(good[i], strlen(good[i])));
    assert_true(utf8_valid(NULL, 0));
    assert_true(utf8_valid("a\0b", 3));
    const char *bad[] = {
        "\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "\xff", "\xc2",     "\xe2\x82", "\xf0\x9f\x98", "\xc2 ",        "\xe2\x82 ",        "12345678\xc3"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(utf8_valid(bad[i], strlen(bad[i])));
}

/* Every code point, and its bytes with the last one cut off. */
static void every_code_point_is_valid(void **state)
{
    (void)state;
    for (uint32_t c = 0x80; c <= 0x10ffff; c++) {
        char s[4];
        size_t n;
        if (c < 0x800) {
            s[0] = (char)(0xc0 | c >> 6);
            n = 2;
        } else if (c < 0x10000) {
            s[0] = (char)(0xe0 | c >> 12);
            n = 3;
        } else {
            s[0] = (char)(0xf0 | c >> 18);
            n = 4;
        }
        for (size_t i = 1; i < n; i++)
            s[i] = (char)(0x80 | (c >> 6 * (n - 1 - i) & 0x3f));
        bool surrogate = c >= 0xd800 && c <= 0xdfff;
        if (utf8_valid(s, n) == surrogate || utf8_valid(s, n - 1))
            fail_msg("U+%04X", c);
    }
}

/* ---- status ---- */

static void every_status_has_a_name_and_a_text(void **state)
{
    (void)state;
    assert_string_equal(status_name(STATUS_TYPE), "EAGRE_TYPE");
    assert_string_equal(status_text(STATUS_OK), "success");
    assert_non_null(status_name(-1000));
    assert_non_null(status_text(INT32_MIN));
}

static void failures_are_told_in_valid_text(void **state)
{
    (void)state;
    struct error e;
    assert_int_equal(fail(NULL, STATUS_TYPE, -1, "x"), STATUS_TYPE);
    assert_int_equal(fail(&e, STATUS_UNKNOWN, 7, "no field '%s'",
                          "a\xff"
                          "b"),
                     STATUS_UNKNOWN);
    assert_int_equal(e.code, STATUS_UNKNOWN);
    assert_int_equal(e.position, 7);
    assert_string_equal(e.text, "no field 'a?b'");
    for (int pad = 0; pad < 8; pad++) { /* cut at every place of a character */
        char text[600];
        size_t n = (size_t)pad;
        memset(text, 'x', n);
        while (n < 500) {
            memcpy(text + n, "\xf0\x9f\x98\x80", 4);
            n += 4;
        }
        text[n] = '\0';
        fail(&e, STATUS_RANGE, -1, "%s", text);
        assert_true(utf8_valid(e.text, strlen(e.text)));
        assert_null(strchr(e.text, '?'));
        assert_true(strlen(e.text) >= 236);
    }
}

/* ---- buffer ---- */

static void what_is_written_is_read(void **state)
{
    (void)state;
    struct buffer b = {0};
    buffer_u8(&b, 200);
    buffer_u32(&b, 0x01020304);
    buffer_u64(&b, 0x0102030405060708);
    buffer_f64(&b, -0.5);
    buffer_bytes(&b, "abc", 3);
    buffer_bytes(&b, NULL, 0);
    assert_false(b.failed);
    assert_int_equal(b.length, 24);
    assert_int_equal(b.data[1], 4); /* little-endian */
    struct reader r = {b.data, b.data + b.length, false};
    assert_int_equal(reader_u8(&r), 200);
    assert_int_equal(reader_u32(&r), 0x01020304);
    assert_int_equal(reader_u64(&r), 0x0102030405060708);
    assert_true(reader_f64(&r) == -0.5);
    assert_memory_equal(reader_bytes(&r, 3), "abc", 3);
    assert_non_null(reader_bytes(&r, 0));
    assert_false(r.failed);
    assert_int_equal(reader_u8(&r), 0);
    assert_true(r.failed);
    buffer_free(&b);
    struct reader none = {0};
    assert_non_null(reader_bytes(&none, 0));
    assert_int_equal(reader_u64(&none), 0);
    assert_true(none.failed);
    struct reader hostile = {(const uint8_t *)"x", (const uint8_t *)"x" + 1, false};
    hostile.end = hostile.at + 1;
    assert_null(reader_bytes(&hostile, SIZE_MAX));
    assert_null(reader_bytes(&hostile, 1)); /* once failed, always failed */
}

static void json_strings_are_escaped(void **state)
{
    (void)state;
    struct buffer b = {0};
    buffer_json_string(&b, "a\"\\\n\t\r\x01\xc3\xa9\xff.\xe2\x82", 13);
    buffer_json_string(&b, NULL, 0);
    const char *expected = "\"a\\\"\\\\\\n\\t\\r\\u0001\xc3\xa9\xef\xbf\xbd.\xef\xbf\xbd\xef\xbf\xbd\"\"\"";
    assert_int_equal(b.length, strlen(expected));
    assert_memory_equal(b.data, expected, b.length);
    buffer_free(&b);
}

static void prints_short_and_long(void **state)
{
    (void)state;
    struct buffer b = {0};
    for (int n = 0; n < 300; n++) {
        b.length = 0;
        buffer_printf(&b, "%0*d", n, 0);
        assert_int_equal(b.length, n == 0 ? 1 : n);
        for (size_t i = 0; i < b.length; i++)
            assert_int_equal(b.data[i], '0');
    }
    buffer_free(&b);
}

static void failing_buffers_stay_as_they_are(void **state)
{
    (void)state;
    struct buffer b = {0};
    assert_null(buffer_extend(&b, SIZE_MAX));
    assert_true(b.failed);
    b.failed = false;
    buffer_u32(&b, 7);
    mem_fail_at(1, false);
    for (int i = 0; i < 100; i++)
        buffer_u8(&b, 1);
    mem_fail_at(0, false);
    assert_true(b.failed);
    assert_int_equal(b.length, 63);
    buffer_printf(&b, "%0300d", 0);
    assert_int_equal(b.length, 63);
    buffer_free(&b);
    assert_false(b.failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_differ_and_repeat),
        cmocka_unit_test(integers_avalanche),
        cmocka_unit_test(degraded_hashes_collide),
        cmocka_unit_test(checksum_is_unkeyed),
        cmocka_unit_test(clocks_run),
        cmocka_unit_test(times_are_read),
        cmocka_unit_test(every_day_comes_back),
        cmocka_unit_test(utf8_is_told_from_bytes),
        cmocka_unit_test(every_code_point_is_valid),
        cmocka_unit_test(every_status_has_a_name_and_a_text),
        cmocka_unit_test(failures_are_told_in_valid_text),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(json_strings_are_escaped),
        cmocka_unit_test(prints_short_and_long),
        cmocka_unit_test(failing_buffers_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
