/* SPDX-License-Identifier: MIT */
/* Events by hand, through the C interface: whom a handle means, when an event counts, and what becomes of an id. */
#include "query_fixture.h"

static uint32_t visit; /* the signal */

static uint64_t handle_of(const char *name)
{
    uint64_t handle;
    eagre_value key = h_text(name);
    assert_int_equal(eagre_handle(db, "page", &key, NULL, 0, &handle, &error), EAGRE_OK);
    return handle;
}

static void make_pages(void)
{
    exec("CREATE ITEM page (until TIME EXPIRES); CREATE SIGNAL visit ON page NO DECAY WINDOWS 1h");
    put_text("page", h_text("a"), "until", h_null());
    put_text("page", h_text("b"), "until", h_time(START + 10 * SECOND));
    assert_int_equal(eagre_signal_id(db, "visit", NULL, &visit, &error), EAGRE_OK);
}

/* One event, in the three ways there are: alone, in a batch, with an id. */
static void each_way(uint64_t handle, int64_t at, int64_t id, eagre_status expected)
{
    uint64_t applied;
    eagre_value ids = h_int(id);
    assert_int_equal(eagre_signal(db, visit, handle, 1, at, &error), expected);
    assert_int_equal(eagre_signal_many(db, visit, 1, &handle, NULL, NULL, &at, NULL, NULL, 0, &applied, &error), expected);
    assert_int_equal(eagre_signal_many(db, visit, 1, &handle, NULL, NULL, &at, &ids, NULL, 0, &applied, &error), expected);
}

/* Count and time of the newest event of the only row there is. */
static void assert_events(int64_t count, int64_t last)
{
    const eagre_result *r = must("RETRIEVE page USING count(visit, all) RETURN last(visit) LIMIT 1");
    assert_true(result_score(r, 0) == (double)count);
    assert_true(result_int(r, 0, 0) == last);
}

static void test_time_ahead_counts_as_now(void **state)
{
    (void)state;
    make_pages();
    each_way(handle_of("a"), START + 100 * SECOND, 1, EAGRE_OK);
    assert_events(3, START);
    clock_at(START + 5 * SECOND);
    each_way(handle_of("a"), EAGRE_NOW, 2, EAGRE_OK);
    assert_events(6, START + 5 * SECOND);
}

static void test_expired_item(void **state)
{
    (void)state;
    make_pages();
    uint64_t handle = handle_of("b");
    clock_at(START + 10 * SECOND - 1);
    each_way(handle, EAGRE_NOW, 1, EAGRE_OK);
    clock_at(START + 10 * SECOND);
    each_way(handle, EAGRE_NOW, 2, EAGRE_NOT_FOUND);
    each_way(handle, START, 3, EAGRE_NOT_FOUND);
}

/* The slot of a dead item goes to another, its old handle does not. */
static void test_handle_of_a_dead_item(void **state)
{
    (void)state;
    make_pages();
    uint64_t old = handle_of("a");
    each_way(old, EAGRE_NOW, 1, EAGRE_OK);
    erase("page", h_text("a"));
    erase("page", h_text("b"));
    each_way(old, EAGRE_NOW, 2, EAGRE_NOT_FOUND);
    assert_int_equal(eagre_maintain(db, &error), EAGRE_OK);
    put_text("page", h_text("c"), "until", h_null());
    assert_int_equal((uint32_t)handle_of("c"), (uint32_t)old);
    each_way(old, EAGRE_NOW, 3, EAGRE_NOT_FOUND);
    each_way(handle_of("c"), EAGRE_NOW, 4, EAGRE_OK);
    assert_events(3, START); /* neither a's, nor what was sent to a */
}

/* An event that was refused may be sent again under its id; one that was counted may not. */
static void test_ids(void **state)
{
    (void)state;
    make_pages();
    uint64_t gone = handle_of("b"), handle = handle_of("a"), applied;
    eagre_value id = h_text("x");
    erase("page", h_text("b"));
    assert_int_equal(eagre_signal_many(db, visit, 1, &gone, NULL, NULL, NULL, &id, NULL, 0, &applied, &error), EAGRE_NOT_FOUND);
    assert_int_equal(eagre_signal_many(db, visit, 1, &handle, NULL, NULL, NULL, &id, NULL, 0, &applied, &error), EAGRE_OK);
    assert_int_equal(eagre_signal_many(db, visit, 1, &handle, NULL, NULL, NULL, &id, NULL, 0, &applied, &error), EAGRE_DUPLICATE);
    assert_events(1, START);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        case_of(test_time_ahead_counts_as_now),
        case_of(test_expired_item),
        case_of(test_handle_of_a_dead_item),
        case_of(test_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
