/* SPDX-License-Identifier: MIT */
/* Ids of events: once per signal, remembered for long enough, in bounded memory, freed by a turn that fails. */
#include <string.h>

#include "check.h"

#include "base/alloc.h"
#include "store/event_ids.h"

static struct event_id number(uint64_t n)
{
    return (struct event_id){.number = n};
}

static struct event_id text(const char *t)
{
    return (struct event_id){.bytes = t, .length = strlen(t)};
}

/* Counts an event with the id: true when it was new. */
static bool once(struct event_ids *set, uint64_t signal, struct event_id id)
{
    struct event_id_turn turn;
    enum event_id_state state = event_ids_begin(set, signal, &id, &turn);
    assert_int_not_equal(state, EVENT_ID_NO_MEMORY);
    if (state == EVENT_ID_NEW)
        event_ids_commit(&turn);
    return state == EVENT_ID_NEW;
}

static void an_id_counts_once_per_signal(void **state)
{
    (void)state;
    struct event_ids set;
    event_ids_init(&set);
    assert_true(once(&set, 1, number(7)));
    assert_false(once(&set, 1, number(7)));
    assert_true(once(&set, 2, number(7)));
    assert_true(once(&set, 1, text("7")));
    assert_false(once(&set, 1, text("7")));
    assert_true(once(&set, 1, text("\7"))); /* the bytes of a number are not the number */
    struct event_id eight = {.bytes = "\7\0\0\0\0\0\0", .length = 8};
    assert_true(once(&set, 1, eight));
    struct event_id zeros = {.bytes = "\0\0", .length = 1}, longer = {.bytes = "\0\0", .length = 2};
    assert_true(once(&set, 1, zeros));
    assert_true(once(&set, 1, longer));
    char longest[64];
    memset(longest, 'x', sizeof longest);
    struct event_id a = {.bytes = longest, .length = 64}, b = {.bytes = longest, .length = 63};
    assert_true(once(&set, 1, a));
    assert_true(once(&set, 1, b));
    assert_false(once(&set, 1, a));
    assert_true(once(&set, UINT64_MAX, number(UINT64_MAX)));
    assert_false(once(&set, UINT64_MAX, number(UINT64_MAX)));
    event_ids_destroy(&set);
}

static void a_failed_turn_frees_the_id(void **state)
{
    (void)state;
    struct event_ids set;
    struct event_id_turn turn;
    struct event_id id = number(1);
    event_ids_init(&set);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(event_ids_begin(&set, 1, &id, &turn), EVENT_ID_NEW);
        event_ids_abort(&turn);
    }
    assert_true(once(&set, 1, id));
    assert_false(once(&set, 1, id));
    event_ids_destroy(&set);
}

static void the_newest_are_remembered_the_oldest_go(void **state)
{
    (void)state;
    const uint64_t total = 2600000, sure = EVENT_ID_GENERATION * 14; /* of 16 shards at random: a little less than 16 generations */
    uint64_t before = mem_used();
    struct event_ids *set = mem_alloc(sizeof *set);
    event_ids_init(set);
    assert_in_range(mem_used() - before, 0, 4096);
    for (uint64_t i = 0; i < total; i++) {
        assert_true(once(set, 3, number(i)));
        if (i % 50021 == 0)
            for (uint64_t back = i > sure ? i - sure : 0; back <= i; back += 9973)
                assert_false(once(set, 3, number(back)));
    }
    assert_in_range(mem_used() - before, 30000000, 46000000);
    assert_in_range(event_ids_bytes(set), 30000000, 46000000);
    assert_true(once(set, 3, number(0))); /* long forgotten */
    event_ids_destroy(set);
    mem_free(set);
    assert_int_equal(mem_used(), before);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct event_ids set;
    struct event_id_turn turn;
    event_ids_init(&set);
    uint64_t refused = 0;
    for (uint64_t i = 0; i < 200000; i++) {
        struct event_id id = number(i);
        mem_fail_at(1, true);
        enum event_id_state first = event_ids_begin(&set, 1, &id, &turn);
        mem_fail_at(0, false);
        if (first == EVENT_ID_NO_MEMORY) {
            refused++;
            assert_int_equal(event_ids_begin(&set, 1, &id, &turn), EVENT_ID_NEW);
        } else {
            assert_int_equal(first, EVENT_ID_NEW);
        }
        event_ids_commit(&turn);
        assert_false(once(&set, 1, id));
    }
    assert_int_equal(refused, 16 * 5); /* 64, 256, 1024, 4096, 16384 entries */
    for (uint64_t i = 0; i < 200000; i++)
        assert_false(once(&set, 1, number(i)));
    event_ids_destroy(&set);
}

struct racer {
    struct event_ids *set;
    pthread_barrier_t *start;
    uint64_t counted, ids;
    unsigned fail_every;
};

static void *race(void *p)
{
    struct racer *r = p;
    pthread_barrier_wait(r->start);
    for (uint64_t i = 0; i < r->ids; i++) {
        struct event_id_turn turn;
        struct event_id id = number(i);
        enum event_id_state s = event_ids_begin(r->set, 9, &id, &turn);
        if (s != EVENT_ID_NEW)
            continue;
        if (r->fail_every != 0 && i % r->fail_every == 0) {
            event_ids_abort(&turn);
        } else {
            r->counted++;
            event_ids_commit(&turn);
        }
    }
    return NULL;
}

/* Several threads with the same ids: each is counted by exactly one; those that one thread's turn fails for are counted by another. */
static void threads_share_ids(void **state)
{
    (void)state;
    enum { THREADS = 4, IDS = 200000 };
    struct event_ids set;
    event_ids_init(&set);
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, THREADS);
    pthread_t threads[THREADS];
    struct racer racers[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        racers[i] = (struct racer){&set, &start, 0, IDS, i == 0 ? 3 : 0};
        pthread_create(&threads[i], NULL, race, &racers[i]);
    }
    uint64_t counted = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        counted += racers[i].counted;
    }
    assert_int_equal(counted, IDS);
    pthread_barrier_destroy(&start);
    event_ids_destroy(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_counts_once_per_signal),
        cmocka_unit_test(a_failed_turn_frees_the_id),
        cmocka_unit_test(the_newest_are_remembered_the_oldest_go),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(threads_share_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
