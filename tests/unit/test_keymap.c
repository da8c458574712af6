/* SPDX-License-Identifier: MIT */
/* The key map: against a model, without memory, and with readers beside its writer, who must never be given another key's record. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/publish.h"
#include "base/reclaim.h"
#include "store/keymap.h"
#include "store/limits.h"

static void validate(const struct keymap *m)
{
    struct error e;
    if (!keymap_validate(m, &e))
        fail_msg("%s", e.text);
}

/* Key i of a map: numbers from both ends of their range, or text of any length. */
static struct key key_of(bool integers, uint32_t i, char text[MAX_KEY])
{
    if (integers)
        return (struct key){.number = i % 2 == 0 ? i / 2 : UINT64_MAX - i / 2};
    uint32_t length = i == 0 ? 0 : 8 + i % (MAX_KEY - 8);
    memset(text, 'a' + (int)(i % 26), length);
    if (length > 0)
        snprintf(text, 9, "%08x", i);
    return (struct key){.bytes = text, .length = length};
}

static bool is_key(const struct key_rec *rec, const struct key *key, bool integers)
{
    if (integers)
        return rec->length == 8 && rec->number == key->number;
    return rec->length == key->length && memcmp(rec->bytes, key->bytes, key->length) == 0;
}

static uint32_t ref_of(const struct keymap *m, const struct key *key)
{
    reclaim_enter();
    const struct key_rec *rec = keymap_find_rcu(m, key);
    uint32_t ref = KEY_NONE;
    if (rec != NULL) {
        assert_true(is_key(rec, key, m->integers));
        ref = take(&rec->ref);
    }
    reclaim_leave();
    return ref;
}

static void empty_costs_nothing(void **state)
{
    (void)state;
    uint64_t before = mem_used();
    struct keymap m;
    keymap_init(&m, true);
    assert_int_equal(ref_of(&m, &(struct key){.number = 5}), KEY_NONE);
    assert_int_equal(keymap_bytes(&m), 0);
    validate(&m);
    assert_int_equal(mem_used(), before);
    keymap_destroy(&m);
    keymap_destroy(&m);
}

static void every_key_is_legal(void **state)
{
    (void)state;
    struct keymap m;
    keymap_init(&m, true);
    const uint64_t numbers[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, (uint64_t)1 << 63};
    for (uint32_t i = 0; i < 5; i++)
        assert_non_null(keymap_put_w(&m, &(struct key){.number = numbers[i]}, i));
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(ref_of(&m, &(struct key){.number = numbers[i]}), i);
    assert_int_equal(ref_of(&m, &(struct key){.number = 2}), KEY_NONE);
    validate(&m);
    keymap_destroy(&m);

    keymap_init(&m, false);
    char text[70000];
    memset(text, 'x', sizeof text);
    for (uint32_t length = 0; length <= MAX_KEY; length++)
        assert_non_null(keymap_put_w(&m, &(struct key){.bytes = length == 0 ? NULL : text, .length = length}, length));
    for (uint32_t length = 0; length <= MAX_KEY; length++)
        assert_int_equal(ref_of(&m, &(struct key){.bytes = text, .length = length}), length);
    text[3] = '\0';
    assert_int_equal(ref_of(&m, &(struct key){.bytes = text, .length = 10}), KEY_NONE);
    validate(&m);
    keymap_destroy(&m);

    /* ck_ht keeps 16 bits of a length: longer keys are not cut to fit. */
    keymap_init(&m, false);
    hash_degrade(1);
    assert_non_null(keymap_put_w(&m, &(struct key){.bytes = text, .length = 7}, 7));
    assert_int_equal(ref_of(&m, &(struct key){.bytes = text, .length = 7}), 7);
    assert_int_equal(ref_of(&m, &(struct key){.bytes = text, .length = 65536 + 7}), KEY_NONE);
    hash_degrade(0);
    keymap_destroy(&m);
}

/* Random puts, kills and returns against an array of refs. */
static void agrees_with_a_model(bool integers, uint32_t keys, int steps)
{
    struct keymap m;
    keymap_init(&m, integers);
    uint32_t *model = malloc(keys * sizeof *model);
    memset(model, 0xff, keys * sizeof *model);
    uint64_t random = 42;
    char text[MAX_KEY];
    for (int step = 0; step < steps; step++) {
        random = mix64(random);
        uint32_t i = (uint32_t)(random % keys);
        struct key key = key_of(integers, i, text);
        /* Phases of growth and of shrinking, so that rebuilding meets every state. */
        bool kill = random >> 60 < ((step / (steps / 8)) % 2 ? 12 : 5);
        if (!kill) {
            model[i] = (uint32_t)step;
            struct key_rec *rec = keymap_put_w(&m, &key, model[i]);
            assert_non_null(rec);
            assert_ptr_equal(keymap_find_w(&m, &key), rec);
        } else {
            struct key_rec *rec = keymap_find_w(&m, &key);
            if (model[i] != KEY_NONE)
                assert_non_null(rec);
            if (rec != NULL)
                keymap_kill_w(&m, rec); /* killing twice is fine */
            model[i] = KEY_NONE;
        }
        assert_int_equal(ref_of(&m, &key), model[i]);
        if (step % (steps / 16) == 0)
            validate(&m);
    }
    for (uint32_t i = 0; i < keys; i++) {
        struct key key = key_of(integers, i, text);
        assert_int_equal(ref_of(&m, &key), model[i]);
    }
    validate(&m);
    keymap_destroy(&m);
    free(model);
}

static void models(void **state)
{
    (void)state;
    agrees_with_a_model(true, 30000, 200000);
    agrees_with_a_model(false, 3000, 60000);
    hash_degrade(3);
    agrees_with_a_model(true, 300, 20000);
    agrees_with_a_model(false, 300, 20000);
    hash_degrade(1);
    agrees_with_a_model(true, 100, 10000);
    hash_degrade(0);
}

/* A constant number of living keys among ever new ones: memory does not grow. */
static void churn_is_bounded(void **state)
{
    (void)state;
    reclaim_barrier();
    uint64_t before = mem_used();
    struct keymap m;
    keymap_init(&m, true);
    uint64_t most[2] = {0}; /* in the first half and in the second */
    for (uint64_t round = 0; round < 40; round++) {
        for (uint64_t i = 0; i < 10000; i++) {
            assert_non_null(keymap_put_w(&m, &(struct key){.number = round * 10000 + i}, 1));
            if (round > 0)
                keymap_kill_w(&m, keymap_find_w(&m, &(struct key){.number = (round - 1) * 10000 + i}));
        }
        reclaim_barrier();
        uint64_t bytes = keymap_bytes(&m);
        most[round / 20] = bytes > most[round / 20] ? bytes : most[round / 20];
    }
    assert_true(most[1] < most[0] * 11 / 10);
    validate(&m);
    keymap_destroy(&m);
    reclaim_barrier();
    assert_true(mem_used() <= before + 65536); /* spare room of reclaim */
}

static uint64_t allocations; /* of the last scenario */

/* One scenario, with its n-th allocation failing, or all from the n-th on: refused puts change nothing, kills never fail. */
static bool scenario(bool integers, uint64_t n, bool from_then_on)
{
    enum { KEYS = 300 };
    struct keymap m;
    keymap_init(&m, integers);
    bool refused = false, there[KEYS] = {false};
    char text[MAX_KEY];
    hash_degrade(7); /* all in one shard, which grows and is built anew several times */
    mem_fail_at(n, from_then_on);
    for (uint32_t i = 0; i < KEYS; i++) {
        struct key key = key_of(integers, i, text);
        there[i] = keymap_put_w(&m, &key, i) != NULL;
        refused |= !there[i];
        if (i % 3 != 0 && there[i / 2]) {
            key = key_of(integers, i / 2, text);
            keymap_kill_w(&m, keymap_find_w(&m, &key));
            there[i / 2] = false;
        }
    }
    allocations = mem_fail_at(0, false);
    validate(&m);
    for (uint32_t i = 0; i < KEYS; i++) {
        struct key key = key_of(integers, i, text);
        assert_int_equal(ref_of(&m, &key), there[i] ? i : KEY_NONE);
        assert_non_null(keymap_put_w(&m, &key, i + 1)); /* asking again succeeds */
        assert_int_equal(ref_of(&m, &key), i + 1);
    }
    validate(&m);
    hash_degrade(0);
    keymap_destroy(&m);
    return refused;
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    for (int integers = 0; integers < 2; integers++) {
        assert_false(scenario(integers, UINT64_MAX, false));
        uint64_t points = allocations;
        assert_true(points > 300); /* a record for each key, and tables */
        uint64_t refusals = 0;
        for (uint64_t n = 1; n <= points; n++)
            for (int from_then_on = 0; from_then_on < 2; from_then_on++)
                refusals += scenario(integers, n, from_then_on);
        assert_true(refusals > 100);
        reclaim_barrier();
    }
}

/* ---- readers beside a writer ---- */

enum { STRESS_KEYS = 512, READERS = 2 };

static struct {
    struct keymap m;
    bool integers, stop;
    /* What the writer says of each key: 4 * version (odd: it lives, even: it does not), + 1 while that changes. */
    uint32_t sure[STRESS_KEYS];
} s;

/* A ref names its key, so a record of another key is told. */
static uint32_t stress_ref(uint32_t i, uint32_t version)
{
    return version % 4000000 * STRESS_KEYS + i;
}

static void *read_keys(void *seed)
{
    uint64_t random = (uint64_t)(uintptr_t)seed, hits = 0;
    char text[MAX_KEY];
    while (!load_relaxed(&s.stop)) {
        for (int n = 0; n < 100; n++) {
            random = mix64(random);
            uint32_t i = (uint32_t)(random % STRESS_KEYS);
            struct key key = key_of(s.integers, i, text);
            uint32_t before = take(&s.sure[i]);
            reclaim_enter();
            const struct key_rec *rec = keymap_find_rcu(&s.m, &key);
            uint32_t ref = rec == NULL ? KEY_NONE : take(&rec->ref);
            bool right = rec == NULL || is_key(rec, &key, s.integers);
            reclaim_leave();
            fence_acquire();
            uint32_t after = load_relaxed(&s.sure[i]);
            if (!right || (ref != KEY_NONE && ref % STRESS_KEYS != i)) {
                fprintf(stderr, "key %u: another key's record, ref %u\n", i, ref);
                abort();
            }
            /* Nothing happened to the key meanwhile (the low bit says that something is under way): the answer is known. */
            if (before == after && before % 2 == 0 && ref != (before / 4 % 2 == 1 ? stress_ref(i, before / 4) : KEY_NONE)) {
                fprintf(stderr, "key %u: ref %u at state %u\n", i, ref, before);
                abort();
            }
            hits += ref != KEY_NONE;
        }
    }
    return (void *)(uintptr_t)hits;
}

static void stress(bool integers, uint64_t degrade, unsigned ms)
{
    hash_degrade(degrade);
    memset(&s, 0, sizeof s);
    keymap_init(&s.m, integers);
    s.integers = integers;
    pthread_t readers[READERS];
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_keys, (void *)(uintptr_t)(i + 1)), 0);
    uint64_t random = 7, writes = 0, start = 0;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    start = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
    char text[MAX_KEY];
    for (;; writes++) {
        random = mix64(random);
        uint32_t i = (uint32_t)(random % STRESS_KEYS);
        struct key key = key_of(integers, i, text);
        uint32_t version = s.sure[i] / 4 + 1;
        store_relaxed(&s.sure[i], 4 * version + 1);
        fence_release();
        if (version % 2 == 1) {
            if (keymap_put_w(&s.m, &key, stress_ref(i, version)) == NULL)
                abort();
        } else {
            keymap_kill_w(&s.m, keymap_find_w(&s.m, &key));
        }
        publish(&s.sure[i], 4 * version);
        if (writes % 256 == 0) {
            clock_gettime(CLOCK_MONOTONIC, &t);
            if ((uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000 - start > ms)
                break;
        }
        if (writes % 65536 == 0) /* a time of deaths: every shard is built anew */
            for (uint32_t j = 0; j < STRESS_KEYS; j++)
                if (s.sure[j] / 4 % 2 == 1) {
                    uint32_t dead = s.sure[j] / 4 + 1;
                    key = key_of(integers, j, text);
                    store_relaxed(&s.sure[j], 4 * dead + 1);
                    fence_release();
                    keymap_kill_w(&s.m, keymap_find_w(&s.m, &key));
                    publish(&s.sure[j], 4 * dead);
                }
    }
    store_relaxed(&s.stop, true);
    uint64_t hits = 0;
    for (int i = 0; i < READERS; i++) {
        void *n;
        pthread_join(readers[i], &n);
        hits += (uintptr_t)n;
    }
    assert_true(hits > 0);
    printf("[    INFO  ] %s, %llu hash values: %llu writes, %llu hits\n", integers ? "integers" : "text", (unsigned long long)degrade,
           (unsigned long long)writes, (unsigned long long)hits);
    validate(&s.m);
    keymap_destroy(&s.m);
    hash_degrade(0);
    reclaim_barrier();
}

static void readers_never_get_another_key(void **state)
{
    (void)state;
    stress(true, 3, 700);
    stress(false, 3, 700);
    stress(true, 0, 700);
    stress(false, 0, 700);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_costs_nothing),
        cmocka_unit_test(every_key_is_legal),
        cmocka_unit_test(models),
        cmocka_unit_test(churn_is_bounded),
        cmocka_unit_test(survives_lack_of_memory),
        cmocka_unit_test(readers_never_get_another_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
