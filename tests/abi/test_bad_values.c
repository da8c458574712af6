/* SPDX-License-Identifier: MIT */
/* Every function of the interface with every class of bad value: it says the documented status with a sentence, changes nothing, and does not crash. Here:
 * handles, options, statements, memory; test_bad_data.c has items and signals. */
#include <limits.h>
#include <math.h>

#include "bad_calls.h"

/* ---- handles ---- */

static void every_db_function(eagre_db *h, eagre_status expected)
{
    eagre_value key = h_text("alien"), field = h_text("title"), value = h_text("x");
    eagre_column column = {.type = EAGRE_COLUMN_VALUES, .at = (uintptr_t)&key, .nulls_at = EAGRE_NO_NULLS};
    eagre_stmt *made = (eagre_stmt *)out;
    uint64_t number;
    uint32_t signal;
    told(expected, eagre_set_clock(h, NOW + 1, &error));
    told(expected, eagre_exec(h, "CREATE ITEM x (a INTEGER)", 25, &error));
    told(expected, eagre_prepare(h, "RETRIEVE film", 13, &made, &error));
    assert_null(made);
    told(expected, eagre_put(h, "film", &key, 1, &field, &value, NULL, 0, 0, &error));
    told(expected, eagre_put_many(h, "film", 1, &column, 0, NULL, NULL, NULL, 0, 0, &number, &error));
    told(expected, eagre_delete(h, "film", &key, NULL, 0, &error));
    told(expected, eagre_get(h, "film", &key, NULL, 0, out, sizeof out, &needed, &error));
    told(expected, eagre_count(h, "film", &number, &error));
    told(expected, eagre_signal_id(h, "view", NULL, &signal, &error));
    told(expected, eagre_handle(h, "film", &key, NULL, 0, &number, &error));
    told(expected, eagre_signal(h, view, film_handle, 1, EAGRE_NOW, &error));
    told(expected, eagre_signal_key(h, view, &key, 1, EAGRE_NOW, NULL, NULL, 0, &error));
    value = h_int(7);
    told(expected, eagre_signal_key(h, view, &key, 1, EAGRE_NOW, &value, NULL, 0, &error));
    told(expected, eagre_signal_many(h, view, 1, &film_handle, NULL, NULL, NULL, NULL, NULL, 0, &number, &error));
    told(expected, eagre_schema(h, out, sizeof out, &needed, &error));
    told(expected, eagre_stats(h, out, sizeof out, &needed, &error));
    told(expected, eagre_maintain(h, &error));
    told(expected, eagre_validate(h, &error));
}

static void test_handles(void **state)
{
    (void)state;
    every_db_function(NULL, EAGRE_INVALID);
    every_db_function(closed_db, EAGRE_CLOSED);
    every_db_function((eagre_db *)stmt, EAGRE_INVALID);
    every_db_function((eagre_db *)closed_stmt, EAGRE_CLOSED);
    told(EAGRE_INVALID, eagre_run(NULL, NULL, 0, NULL, 0, NULL, out, sizeof out, &needed, &error));
    told(EAGRE_INVALID, eagre_run((eagre_stmt *)db, NULL, 0, NULL, 0, NULL, out, sizeof out, &needed, &error));
    told(EAGRE_CLOSED, eagre_run(closed_stmt, NULL, 0, NULL, 0, NULL, out, sizeof out, &needed, &error));
    refused(EAGRE_OK, eagre_close(NULL));
    refused(EAGRE_OK, eagre_finalize(NULL));
    refused(EAGRE_CLOSED, eagre_close(closed_db));
    refused(EAGRE_CLOSED, eagre_finalize(closed_stmt));
    refused(EAGRE_INVALID, eagre_close((eagre_db *)stmt));
    refused(EAGRE_INVALID, eagre_finalize((eagre_stmt *)db));
    refused(EAGRE_OK, eagre_attach());
    for (int i = -100; i < 100; i++)
        assert_true(eagre_status_name(i)[0] && eagre_status_text(i)[0]);
    assert_true(eagre_status_name(INT_MIN)[0] && eagre_status_text(INT_MAX)[0]);
    assert_string_equal(eagre_version(), "0.1.0");
    assert_int_equal(eagre_abi_version(), EAGRE_ABI_VERSION);
}

/* A closed handle is found out though its memory is used again for others. */
static void test_old_handles(void **state)
{
    (void)state;
    eagre_db *old = open_manual();
    assert_int_equal(eagre_close(old), EAGRE_OK);
    for (int i = 0; i < 500; i++) {
        eagre_db *other = open_manual();
        assert_ptr_not_equal(old, other);
        assert_int_equal(eagre_close(other), EAGRE_OK);
        assert_int_equal(eagre_close(old), EAGRE_CLOSED);
    }
}

/* ---- options and errors ---- */

static void test_open(void **state)
{
    (void)state;
    struct {
        eagre_options o;
        uint64_t more[4];
    } wide;
    eagre_options o = {.struct_size = sizeof o};
    eagre_db *made;
    told(EAGRE_INVALID, eagre_open(&o, NULL, &error));
    static const uint32_t sizes[] = {0, 1, sizeof o - 1, 1u << 31, UINT32_MAX, 1u << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        o.struct_size = sizes[i];
        told(EAGRE_INVALID, eagre_open(&o, &made, &error));
        assert_null(made);
    }
    memset(&wide, 0, sizeof wide);
    wide.o.struct_size = sizeof wide;
    assert_int_equal(eagre_open(&wide.o, &made, &error), EAGRE_OK);
    assert_int_equal(eagre_close(made), EAGRE_OK);
    wide.more[3] = 1ull << 63;
    told(EAGRE_UNSUPPORTED, eagre_open(&wide.o, &made, &error));
    o = (eagre_options){.struct_size = sizeof o, .flags = 2};
    told(EAGRE_UNSUPPORTED, eagre_open(&o, &made, &error));
    o.flags = UINT32_MAX;
    told(EAGRE_UNSUPPORTED, eagre_open(&o, &made, &error));
    o = (eagre_options){.struct_size = sizeof o, .path = ""};
    told(EAGRE_UNSUPPORTED, eagre_open(&o, &made, &error));
    static const int64_t times[] = {INT64_MIN, INT64_MAX, -62135596800000001, 253402300800000000};
    for (size_t i = 0; i < 4; i++) {
        o = (eagre_options){.struct_size = sizeof o, .flags = EAGRE_OPEN_MANUAL_CLOCK, .now = times[i]};
        told(EAGRE_RANGE, eagre_open(&o, &made, &error));
        if (times[i] != EAGRE_WALL_CLOCK)
            told(EAGRE_RANGE, eagre_set_clock(db, times[i], &error));
    }
}

/* An error struct of any size gets as much as it has room for; nothing is written behind it. */
static void test_error_sizes(void **state)
{
    (void)state;
    for (uint32_t size = 0; size <= sizeof(eagre_error); size++) {
        eagre_error *e = malloc(size < 4 ? 4 : size); /* so that a byte too much is found out */
        memset(e, 0x5a, size < 4 ? 4 : size);
        e->struct_size = size;
        refused(EAGRE_UNKNOWN, eagre_exec(db, "DROP ITEM nothing_like_this", 27, e));
        if (size > 17)
            assert_int_equal(e->code, EAGRE_UNKNOWN);
        free(e);
    }
    static const uint32_t sizes[] = {1u << 31, UINT32_MAX, sizeof error};
    for (size_t i = 0; i < 3; i++) { /* larger than it is: no more than a sentence is written all the same */
        error.struct_size = sizes[i];
        assert_int_equal(eagre_exec(db, "DROP ITEM nothing_like_this", 27, &error), EAGRE_UNKNOWN);
    }
    refused(EAGRE_UNKNOWN, eagre_exec(db, "DROP ITEM nothing_like_this", 27, NULL));
}

/* ---- statements ---- */

static void test_statements(void **state)
{
    (void)state;
    eagre_stmt *made;
    told(EAGRE_INVALID, eagre_exec(db, NULL, 10, &error));
    told(EAGRE_INVALID, eagre_exec(db, "x", SIZE_MAX, &error));
    told(EAGRE_INVALID, eagre_prepare(db, NULL, 10, &made, &error));
    told(EAGRE_INVALID, eagre_prepare(db, "RETRIEVE film", 13, NULL, &error));
    told(EAGRE_LIMIT, eagre_prepare(db, "RETRIEVE film", SIZE_MAX, &made, &error));
    told(EAGRE_LIMIT, eagre_prepare(db, "RETRIEVE film", 1ul << 31, &made, &error));
    told(EAGRE_SYNTAX, eagre_prepare(db, "", 0, &made, &error));
    told(EAGRE_SYNTAX, eagre_prepare(db, "RETRIEVE film\0", 14, &made, &error));
    told(EAGRE_SYNTAX, eagre_exec(db, "DROP ITEM\0film", 14, &error));
    told(EAGRE_UNKNOWN, eagre_prepare(db, "RETRIEVE nothing", 16, &made, &error));
    told(EAGRE_INVALID, eagre_exec(db, "RETRIEVE film", 13, &error));
    told(EAGRE_UNSUPPORTED, eagre_prepare(db, "SEARCH film", 11, &made, &error));
    for (size_t i = 0; i < sizeof bad_utf8 / sizeof *bad_utf8; i++) {
        char text[64];
        int n = sprintf(text, "RETRIEVE film WHERE title = '%.5s'", bad_utf8[i]);
        told(EAGRE_ENCODING, eagre_prepare(db, text, (size_t)n, &made, &error));
        assert_null(made);
        n = sprintf(text, "CREATE ITEM a%.5s (a INTEGER)", bad_utf8[i]);
        reset();
        eagre_status s = eagre_exec(db, text, (size_t)n, &error);
        assert_true(s == EAGRE_ENCODING || s == EAGRE_SYNTAX);
    }
    /* Several statements: the ones before the fault stand. */
    told(EAGRE_UNKNOWN, eagre_exec(db, "DROP ITEM IF EXISTS a; DROP ITEM b; DROP ITEM film", 50, &error));
    assert_int_equal(error.position, 33);
}

static void test_run(void **state)
{
    (void)state;
    static const char question[] = "RETRIEVE film USING minutes + ?1 WHERE director = ?2 AND genres IN ?3 LIMIT ?4 AFTER ?5";
    eagre_value words[2] = {h_text("a"), h_text("b")}, good[5] = {h_int(1), h_text("x"), h_list(words, 2), h_int(10), h_null()}, p[5];
    eagre_stmt *s;
    assert_int_equal(eagre_prepare(db, question, sizeof question - 1, &s, NULL), EAGRE_OK);
#define run_with(n) eagre_run(s, p, n, NULL, 0, NULL, out, sizeof out, &needed, &error)
#define parameter(i, v, status) (memcpy(p, good, sizeof p), p[i] = (v), told(status, run_with(5)))
    memcpy(p, good, sizeof p);
    assert_int_equal(run_with(5), EAGRE_OK);
    told(EAGRE_INVALID, eagre_run(s, NULL, 5, NULL, 0, NULL, out, sizeof out, &needed, &error));
    told(EAGRE_PARAMETER, run_with(0));
    told(EAGRE_PARAMETER, run_with(4));
    told(EAGRE_LIMIT, run_with(1000));
    told(EAGRE_LIMIT, run_with(UINT32_MAX));
    told(EAGRE_LIMIT, run_with(1u << 31));
    told(EAGRE_INVALID, eagre_run(s, p, 5, NULL, 0, NULL, out, sizeof out, NULL, &error));
    told(EAGRE_INVALID, eagre_run(s, p, 5, NULL, 0, NULL, out + 4, sizeof out - 4, &needed, &error));
    told(EAGRE_INVALID, eagre_run(s, p, 5, NULL, 0, NULL, out + 1, sizeof out - 1, &needed, &error));
    parameter(0, h_text("a"), EAGRE_TYPE);
    parameter(0, h_real((double)NAN), EAGRE_RANGE);
    parameter(0, h_real((double)INFINITY), EAGRE_RANGE);
    parameter(0, h_real(-(double)INFINITY), EAGRE_RANGE);
    parameter(0, h_list(words, 2), EAGRE_TYPE);
    parameter(1, h_int(3), EAGRE_TYPE);
    parameter(2, h_text("a"), EAGRE_TYPE);
    parameter(3, h_int(-1), EAGRE_RANGE);
    parameter(3, h_int(1000001), EAGRE_RANGE);
    parameter(3, h_int(INT64_MIN), EAGRE_RANGE);
    parameter(3, h_real(2), EAGRE_TYPE);
    parameter(4, h_text(""), EAGRE_CURSOR);
    parameter(4, h_text("garbage"), EAGRE_CURSOR);
    parameter(4, h_int(0), EAGRE_TYPE);
    parameter(0, ((eagre_value){.type = 8}), EAGRE_INVALID);
    parameter(0, ((eagre_value){.type = EAGRE_COLUMN_VALUES}), EAGRE_INVALID);
    parameter(0, ((eagre_value){.type = UINT32_MAX}), EAGRE_INVALID);
    /* Lists: too long, misaligned, within a list, of what can not be. */
    parameter(2, h_list(words, 1u << 31), EAGRE_LIMIT);
    parameter(2, h_list(words, UINT32_MAX), EAGRE_LIMIT);
    parameter(2, h_list(words, 1000001), EAGRE_LIMIT);
    parameter(2, h_list((const eagre_value *)(const void *)(out + 4), 1), EAGRE_INVALID);
    parameter(2, h_list(NULL, 2), EAGRE_INVALID);
    words[1] = h_list(words, 1);
    parameter(2, h_list(words, 2), EAGRE_INVALID);
    words[1] = (eagre_value){.type = 77};
    parameter(2, h_list(words, 2), EAGRE_INVALID);
    words[1] = h_int(5);
    parameter(2, h_list(words, 2), EAGRE_TYPE);
    words[1] = h_bytes(NULL, 5);
    parameter(2, h_list(words, 2), EAGRE_INVALID);
#undef run_with
#undef parameter
    eagre_finalize(s);
}

static void test_run_options(void **state)
{
    (void)state;
    struct {
        eagre_run_options o;
        uint64_t more[2];
    } wide = {.o.struct_size = sizeof wide};
    eagre_run_options *o = &wide.o;
#define run_now() eagre_run(stmt, NULL, 0, NULL, 0, o, out, sizeof out, &needed, &error)
    assert_int_equal(run_now(), EAGRE_OK);
    wide.more[1] = 1;
    told(EAGRE_UNSUPPORTED, run_now());
    static const uint32_t sizes[] = {0, sizeof *o - 1, 1u << 31, UINT32_MAX};
    for (size_t i = 0; i < 4; i++) {
        o->struct_size = sizes[i];
        told(EAGRE_INVALID, run_now());
    }
    *o = (eagre_run_options){.struct_size = sizeof *o, .flags = 4};
    told(EAGRE_UNSUPPORTED, run_now());
    *o = (eagre_run_options){.struct_size = sizeof *o, .flags = EAGRE_RUN_DEADLINE, .deadline = -1};
    told(EAGRE_RANGE, run_now());
    o->deadline = INT64_MIN;
    told(EAGRE_RANGE, run_now());
    *o = (eagre_run_options){.struct_size = sizeof *o, .flags = EAGRE_RUN_NOW, .now = INT64_MIN};
    told(EAGRE_RANGE, run_now());
    o->now = INT64_MAX;
    told(EAGRE_RANGE, run_now());
    o->now = NOW - 1;
    told(EAGRE_MOMENT, run_now());
#undef run_now
}

/* ---- the caller's memory ---- */

/* What lies outside of the heap, or seems to lie inside only because a sum wrapped. */
static void test_heaps(void **state)
{
    (void)state;
    char heap[64] __attribute__((aligned(8))) = "alien";
    static const uint64_t at[] = {60, 64, 65, 1ull << 31, 1ull << 32, 1ull << 63, UINT64_MAX, UINT64_MAX - 4, UINT64_MAX - 8};
    eagre_value field = h_text("title"), value = h_text("x"), key;
    uint64_t number;
    field.v.at = 0;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        key = (eagre_value){.type = EAGRE_TEXT, .length = 5, .v.at = at[i]};
        told(EAGRE_INVALID, eagre_get(db, "film", &key, heap, sizeof heap, out, sizeof out, &needed, &error));
        told(EAGRE_INVALID, eagre_delete(db, "film", &key, heap, sizeof heap, &error));
        told(EAGRE_INVALID, eagre_handle(db, "film", &key, heap, sizeof heap, &number, &error));
        told(EAGRE_INVALID, eagre_put(db, "film", &key, 0, NULL, NULL, heap, sizeof heap, 0, &error));
        told(EAGRE_INVALID, eagre_signal_key(db, view, &key, 1, EAGRE_NOW, NULL, heap, sizeof heap, &error));
        eagre_value good = {.type = EAGRE_TEXT, .length = 5, .v.at = 0};
        told(EAGRE_INVALID, eagre_signal_key(db, view, &good, 1, EAGRE_NOW, &key, heap, sizeof heap, &error)); /* as an id */
        told(EAGRE_INVALID, eagre_put(db, "film", &good, 1, &key, &value, heap, sizeof heap, 0, &error));      /* as a name */
        told(EAGRE_INVALID, eagre_run(stmt, &key, 1, heap, sizeof heap, NULL, out, sizeof out, &needed, &error));
        value = (eagre_value){.type = EAGRE_LIST, .length = 2, .v.at = at[i]};
        memcpy(heap + 8, "title", 5);
        field = (eagre_value){.type = EAGRE_TEXT, .length = 5, .v.at = 8};
        told(EAGRE_INVALID, eagre_put(db, "film", &good, 1, &field, &value, heap, sizeof heap, 0, &error));
        value = (eagre_value){.type = EAGRE_VECTOR, .length = 3, .v.at = at[i]};
        told(EAGRE_INVALID, eagre_put(db, "film", &good, 1, &field, &value, heap, sizeof heap, 0, &error));
        eagre_column column = {.type = EAGRE_INT, .at = at[i], .nulls_at = EAGRE_NO_NULLS};
        told(EAGRE_INVALID, eagre_put_many(db, "num", 2, &column, 0, NULL, NULL, heap, sizeof heap, 0, NULL, &error));
        told(EAGRE_INVALID, eagre_signal_many(db, counter, 2, NULL, &column, NULL, NULL, NULL, heap, sizeof heap, NULL, &error));
        column = (eagre_column){.type = EAGRE_INT, .at = 0, .nulls_at = at[i] == UINT64_MAX ? UINT64_MAX - 1 : at[i]};
        if (at[i] > 62)
            told(EAGRE_INVALID, eagre_put_many(db, "num", 2, &column, 0, NULL, NULL, heap, sizeof heap, 0, NULL, &error));
    }
    key = (eagre_value){.type = EAGRE_TEXT, .length = UINT32_MAX, .v.at = 0}; /* longer than the heap */
    told(EAGRE_INVALID, eagre_get(db, "film", &key, heap, sizeof heap, out, sizeof out, &needed, &error));
    key = h_bytes(NULL, 5); /* an address of nothing */
    told(EAGRE_INVALID, eagre_get(db, "film", &key, NULL, 0, out, sizeof out, &needed, &error));
    key = (eagre_value){.type = EAGRE_TEXT, .length = 5, .v.at = 0}; /* an empty heap is not no heap */
    told(EAGRE_INVALID, eagre_get(db, "film", &key, heap, 0, out, sizeof out, &needed, &error));
}

static void fill_canary(char *p, size_t n)
{
    memset(p, 0x77, n);
}

/* Each answer into buffers of every size below what it needs: said, and not a byte written behind them. */
static void test_buffers(void **state)
{
    (void)state;
    eagre_value key = h_text("alien");
    size_t whole;
    told(EAGRE_INVALID, eagre_get(db, "film", &key, NULL, 0, out, sizeof out, NULL, &error));
    told(EAGRE_INVALID, eagre_get(db, "film", &key, NULL, 0, out + 2, sizeof out - 2, &needed, &error));
    told(EAGRE_INVALID, eagre_schema(db, out, sizeof out, NULL, &error));
    told(EAGRE_INVALID, eagre_stats(db, out, sizeof out, NULL, &error));
    for (int which = 0; which < 4; which++) {
#define ask(to, room)                                                                  \
    (which == 0   ? eagre_get(db, "film", &key, NULL, 0, to, room, &needed, &error)    \
     : which == 1 ? eagre_run(stmt, NULL, 0, NULL, 0, NULL, to, room, &needed, &error) \
     : which == 2 ? eagre_schema(db, to, room, &needed, &error)                        \
                  : eagre_stats(db, to, room, &needed, &error))
        told(EAGRE_BUFFER_TOO_SMALL, ask(NULL, 0));
        whole = needed;
        told(EAGRE_BUFFER_TOO_SMALL, ask(NULL, SIZE_MAX)); /* no buffer, whatever its size */
        for (size_t room = 0; room + 40 < whole; room += which < 2 ? 8 : 61) {
            fill_canary(out, sizeof out);
            reset();
            assert_int_equal(ask(out, room), EAGRE_BUFFER_TOO_SMALL);
            assert_true(needed >= whole - 40); /* statistics move by a few digits */
            for (size_t i = room; i < whole + 64; i++)
                assert_int_equal(out[i], 0x77);
        }
        if (which == 3)
            continue;
        told(EAGRE_BUFFER_TOO_SMALL, ask(out, whole - 1));
        assert_int_equal(ask(out, whole), EAGRE_OK);
        assert_int_equal(needed, whole);
#undef ask
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handles),     cmocka_unit_test(test_old_handles), cmocka_unit_test(test_open),
        cmocka_unit_test(test_error_sizes), cmocka_unit_test(test_statements),  cmocka_unit_test(test_run),
        cmocka_unit_test(test_run_options), cmocka_unit_test(test_heaps),       cmocka_unit_test(test_buffers),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
