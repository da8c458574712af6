/* SPDX-License-Identifier: MIT */
/* Keyword dictionary and postings against a table of bits, with every batch size, without memory, and beside a writer. */
#include "check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/publish.h"
#include "base/reclaim.h"
#include "store/postings.h"

enum { UNIVERSE = 300000 };

static uint64_t random_state;

static uint32_t random_below(uint32_t n)
{
    random_state++;
    return (uint32_t)(mix64(random_state) % n);
}

/* What one keyword's slots should be: 1 = has it. Its set may hold more (was there once), never less. */
struct oracle {
    struct dictionary *d;
    uint32_t id;
    uint8_t has[UNIVERSE], had[UNIVERSE];
};

static struct oracle *oracle_make(void)
{
    struct oracle *o = calloc(1, sizeof *o);
    o->d = dictionary_create();
    assert_non_null(o->d);
    o->id = dictionary_add_w(o->d, "drama", 5);
    assert_int_equal(o->id, 1);
    return o;
}

static void oracle_free(struct oracle *o)
{
    reclaim_barrier();
    dictionary_destroy(o->d);
    free(o);
}

static bool keep(void *context, uint32_t id, uint32_t slot)
{
    struct oracle *o = context;
    assert_int_equal(id, o->id);
    return o->has[slot];
}

static void add(struct oracle *o, uint32_t slot)
{
    assert_true(reclaim_reserve(1));
    assert_true(postings_add_w(o->d, o->id, slot));
    o->has[slot] = o->had[slot] = 1;
}

static void drop(struct oracle *o, uint32_t slot)
{
    assert_true(reclaim_reserve(1));
    o->has[slot] = 0;
    postings_remove_w(o->d, o->id, slot, keep, o);
}

/* Walks the set in batches of `capacity`: ascending, all that have it, none that never had. Returns its size. */
static uint32_t check_set(struct oracle *o, unsigned capacity)
{
    struct postings_cursor cursor;
    uint32_t slots[1024], n, total = 0, at = 0;
    reclaim_enter();
    postings_open(o->d, o->id, &cursor);
    while ((n = postings_next(&cursor, slots, capacity)) != 0) {
        assert_true(n <= capacity);
        for (uint32_t i = 0; i < n; i++, total++) {
            assert_true(slots[i] >= at);
            for (; at < slots[i]; at++)
                assert_false(o->has[at]);
            assert_true(o->had[at]);
            at++;
        }
    }
    assert_int_equal(postings_next(&cursor, slots, capacity), 0);
    for (; at < UNIVERSE; at++)
        assert_false(o->has[at]);
    assert_true(postings_cardinality(o->d, o->id) >= total);
    struct error e = {0};
    if (!dictionary_validate(o->d, &e))
        fail_msg("%s", e.text);
    reclaim_leave();
    return total;
}

static void check_all_batches(struct oracle *o)
{
    static const unsigned capacities[] = {1, 2, 7, 64, 256, 1000};
    uint32_t total = check_set(o, capacities[0]);
    for (size_t i = 1; i < sizeof capacities / sizeof *capacities; i++)
        assert_int_equal(check_set(o, capacities[i]), total);
}

static void texts_and_ids(void **state)
{
    (void)state;
    struct dictionary *d = dictionary_create();
    char text[600], wide[512];
    uint32_t length;
    assert_int_equal(dictionary_size(d), 0);
    for (uint32_t i = 1; i <= 10000; i++) {
        int n = snprintf(text, sizeof text, "word %u", i * 7919u);
        assert_int_equal(dictionary_add_w(d, text, (size_t)n), i);
    }
    assert_int_equal(dictionary_add_w(d, "", 0), 10001);
    memset(wide, 'x', sizeof wide);
    assert_int_equal(dictionary_add_w(d, wide, sizeof wide), 10002);
    assert_int_equal(dictionary_add_w(d, "a\0b", 3), 10003);
    assert_int_equal(dictionary_size(d), 10003);
    reclaim_enter();
    for (uint32_t i = 1; i <= 10000; i++) {
        int n = snprintf(text, sizeof text, "word %u", i * 7919u);
        assert_int_equal(dictionary_find(d, text, (size_t)n), i);
        assert_memory_equal(dictionary_text(d, i, &length), text, (size_t)n);
        assert_int_equal(length, n);
    }
    assert_int_equal(dictionary_find(d, "", 0), 10001);
    assert_int_equal(dictionary_find(d, wide, sizeof wide), 10002);
    assert_int_equal(dictionary_find(d, wide, sizeof wide - 1), 0);
    assert_int_equal(dictionary_find(d, "a\0b", 3), 10003);
    assert_int_equal(dictionary_find(d, "a\0c", 3), 0);
    assert_int_equal(dictionary_find(d, "a", 1), 0);
    assert_int_equal(postings_cardinality(d, 5), 0);
    reclaim_leave();
    assert_int_equal(dictionary_add_w(d, "", 0), 10001);
    dictionary_destroy(d);
}

static void ascending(void **state)
{
    (void)state;
    struct oracle *o = oracle_make();
    check_all_batches(o);
    for (uint32_t i = 0; i < 20000; i++) {
        add(o, i * 3);
        if (i < 200 || i % 1999 == 0)
            check_set(o, 256);
    }
    check_all_batches(o);
    assert_int_equal(check_set(o, 256), 20000);
    oracle_free(o);
}

static void out_of_order(void **state)
{
    (void)state;
    struct oracle *o = oracle_make();
    for (uint32_t i = 0; i < 5000; i++) {
        add(o, random_below(i % 2 == 0 ? UNIVERSE : 2000)); /* repeats too */
        if (i < 300 || i % 499 == 0)
            check_set(o, 64);
    }
    check_all_batches(o);
    oracle_free(o);
}

static void narrowed(void **state)
{
    (void)state;
    struct oracle *o = oracle_make();
    add(o, 7);
    drop(o, 7);
    assert_int_equal(check_set(o, 256), 0);
    assert_int_equal(postings_cardinality(o->d, o->id), 0);
    for (uint32_t i = 0; i < 3000; i++)
        add(o, i);
    uint64_t full = dictionary_bytes(o->d);
    for (uint32_t i = 0; i < 3000; i++)
        if (i % 10 != 0)
            drop(o, i);
    check_all_batches(o);
    assert_true(check_set(o, 256) <= 2 * 300 + 1); /* never more than half is stale */
    for (uint32_t i = 0; i < 3000; i += 10)
        drop(o, i);
    assert_int_equal(check_set(o, 256), 0);
    assert_true(dictionary_bytes(o->d) < full);
    oracle_free(o);
}

/* Where no removal can be noted, a set is rebuilt once half of it is stale. */
static void narrowed_without_notes(void **state)
{
    (void)state;
    struct oracle *o = oracle_make();
    for (uint32_t i = 0; i < 3000; i++)
        add(o, i);
    for (uint32_t i = 0; i < 2000; i++) {
        assert_true(reclaim_reserve(4));
        mem_fail_at(1, false);
        drop(o, i);
        mem_fail_at(0, false);
        if (i % 10 == 0)
            check_set(o, 256);
    }
    assert_true(check_set(o, 256) <= 2 * 1000 + 1);
    check_all_batches(o);
    oracle_free(o);
}

/* A large set is narrowed a part at a time; what came back in between stays. */
static void narrowed_in_parts(void **state)
{
    (void)state;
    struct oracle *o = oracle_make();
    uint32_t living = 200000;
    for (uint32_t i = 0; i < living; i++)
        add(o, i);
    for (uint32_t i = 0; i < 150000; i++) {
        uint32_t slot = random_below(200000);
        if (o->has[slot]) {
            drop(o, slot);
            living--;
            if (i % 5 == 0) {
                add(o, slot);
                living++;
            }
        }
        if (i % 30011 == 0) {
            assert_true(check_set(o, 256) <= living + 1024);
            assert_true(postings_cardinality(o->d, o->id) <= living + living / 8 + 2048);
        }
    }
    check_all_batches(o);
    for (uint32_t i = 0; i < 200000; i++)
        if (o->has[i])
            drop(o, i);
    assert_int_equal(check_set(o, 256), 0);
    oracle_free(o);
}

static void random_changes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct oracle *o = oracle_make();
        random_state = seed << 32;
        uint32_t end = 0, range = seed % 3 == 0 ? 500 : seed % 3 == 1 ? 70000 : UNIVERSE;
        for (uint32_t i = 0; i < 30000; i++) {
            uint32_t slot = random_below(4) == 0 ? end++ % range : random_below(range);
            if (!o->has[slot])
                add(o, slot);
            else
                drop(o, slot);
            if (i % 2003 == 0)
                check_set(o, 1 + random_below(1000));
        }
        check_all_batches(o);
        oracle_free(o);
    }
}

static void without_memory(void **state)
{
    (void)state;
    struct oracle *o = oracle_make();
    unsigned refused = 0;
    for (uint32_t i = 0; i < 4000; i++) {
        uint32_t slot = random_below(1000);
        assert_true(reclaim_reserve(4));
        if (o->has[slot]) { /* removing can not fail: without memory the set stays wide */
            mem_fail_at(1, true);
            drop(o, slot);
            mem_fail_at(0, false);
            continue;
        }
        mem_fail_at(1 + random_below(2), true);
        bool added = postings_add_w(o->d, o->id, slot);
        mem_fail_at(0, false);
        if (added)
            o->has[slot] = o->had[slot] = 1;
        refused += !added;
        if (i % 97 == 0)
            check_set(o, 64);
    }
    assert_true(refused > 0);
    check_all_batches(o);
    /* Over the limit nothing is merged, and adding says so. */
    add(o, 1500);
    mem_set_limit(1);
    unsigned full = 0;
    for (uint32_t slot = 2000; slot < 4000; slot++) {
        assert_true(reclaim_reserve(1));
        bool added = postings_add_w(o->d, o->id, slot);
        if (added)
            o->has[slot] = o->had[slot] = 1;
        full += !added;
    }
    mem_set_limit(0);
    assert_true(full > 0);
    check_all_batches(o);
    oracle_free(o);
}

static void dictionary_without_memory(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 40; n++) {
        mem_fail_at(n, true);
        struct dictionary *d = dictionary_create();
        uint32_t id = d == NULL ? 0 : dictionary_add_w(d, "word", 4);
        mem_fail_at(0, false);
        if (d == NULL)
            continue;
        struct error e = {0};
        reclaim_enter();
        if (!dictionary_validate(d, &e))
            fail_msg("%s", e.text);
        assert_int_equal(dictionary_find(d, "word", 4), id);
        reclaim_leave();
        assert_int_equal(dictionary_add_w(d, "word", 4), 1);
        dictionary_destroy(d);
    }
}

/* ---- readers beside the writer ---- */

static struct {
    struct oracle *o;
    uint32_t done; /* atomic: slots below this, in the order they were added, are there */
    int running;   /* atomic: threads that have begun */
    bool over;     /* atomic */
    uint32_t order[UNIVERSE];
} race;

static void *read_on(void *unused)
{
    (void)unused;
    static _Thread_local uint8_t seen[UNIVERSE];
    uint32_t slots[100], n;
    uintptr_t rounds = 0;
    add_seq(&race.running, 1);
    while (!take(&race.over)) {
        struct postings_cursor cursor;
        reclaim_enter();
        uint32_t done = take(&race.done);
        postings_open(race.o->d, race.o->id, &cursor);
        memset(seen, 0, sizeof seen);
        int64_t last = -1;
        while ((n = postings_next(&cursor, slots, 100)) != 0)
            for (uint32_t i = 0; i < n; i++) {
                if (slots[i] <= last || slots[i] >= UNIVERSE)
                    abort();
                last = slots[i];
                seen[slots[i]] = 1;
            }
        for (uint32_t i = 0; i < done; i++)
            if (!seen[race.order[i]])
                abort();
        reclaim_leave();
        rounds++;
    }
    return (void *)rounds;
}

static void readers_beside_the_writer(void **state)
{
    (void)state;
    pthread_t threads[2];
    void *rounds;
    enum { N = 20000 };
    race.o = oracle_make();
    race.done = 0;
    race.over = false;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_on, NULL), 0);
    while (take(&race.running) < 2)
        continue;
    for (uint32_t i = 0; i < N; i++) {
        race.order[i] = i % 3 == 0 ? random_below(UNIVERSE) : i * 15;
        add(race.o, race.order[i]);
        publish(&race.done, i + 1);
        if (i % 5 == 0) /* one that goes again, to have sets rebuilt */
            for (uint32_t slot = i * 15 + 1; slot < i * 15 + 8; slot++)
                if (!race.o->had[slot] && slot % 15 != 0) {
                    add(race.o, slot);
                    drop(race.o, slot);
                }
    }
    publish(&race.over, true);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], &rounds);
        assert_true((uintptr_t)rounds > 0);
    }
    check_all_batches(race.o);
    oracle_free(race.o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_and_ids),
        cmocka_unit_test(ascending),
        cmocka_unit_test(out_of_order),
        cmocka_unit_test(narrowed),
        cmocka_unit_test(narrowed_without_notes),
        cmocka_unit_test(narrowed_in_parts),
        cmocka_unit_test(random_changes),
        cmocka_unit_test(without_memory),
        cmocka_unit_test(dictionary_without_memory),
        cmocka_unit_test(readers_beside_the_writer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
