/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdlib.h>

#include "check.h"

#include "base/alloc.h"
#include "store/chunks.h"

static void empty_has_nothing(void **state)
{
    (void)state;
    struct chunks c;
    chunks_init(&c, 8);
    assert_null(chunks_at(&c, 0));
    assert_null(chunks_at(&c, UINT32_MAX));
    assert_true(chunks_ensure(&c, 0));
    assert_null(chunks_at(&c, 0));
    assert_int_equal(chunks_bytes(&c), 0);
    chunks_destroy(&c);
    chunks_destroy(&c);
}

static void addresses_stay(void **state)
{
    (void)state;
    struct chunks c;
    chunks_init(&c, 12);
    uint32_t n = 40 * CHUNK_SLOTS + 5;
    uint32_t **seen = calloc(n, sizeof *seen);
    for (uint32_t i = 0; i < n; i++) {
        assert_true(chunks_ensure(&c, i + 1));
        seen[i] = chunks_at(&c, i);
        assert_non_null(seen[i]);
        assert_int_equal(seen[i][0] | seen[i][1] | seen[i][2], 0);
        if (i % CHUNK_SLOTS == 0)
            assert_int_equal((uintptr_t)seen[i] % CACHE_LINE, 0);
        else
            assert_ptr_equal(seen[i], seen[i - 1] + 3);
        seen[i][2] = i;
    }
    for (uint32_t i = 0; i < n; i++) {
        assert_ptr_equal(chunks_at(&c, i), seen[i]);
        assert_int_equal(seen[i][2], i);
    }
    assert_null(chunks_at(&c, 41 * CHUNK_SLOTS));
    assert_true(chunks_bytes(&c) >= 41u * CHUNK_SLOTS * 12);
    free(seen);
    chunks_destroy(&c);
}

static void holes_are_allowed(void **state)
{
    (void)state;
    struct chunks c;
    chunks_init(&c, 1);
    assert_true(chunks_ensure_shared(&c, UINT32_MAX));
    assert_true(chunks_ensure_shared(&c, 7 * CHUNK_SLOTS));
    assert_non_null(chunks_at(&c, UINT32_MAX));
    assert_non_null(chunks_at(&c, 7 * CHUNK_SLOTS + 1));
    assert_null(chunks_at(&c, 3 * CHUNK_SLOTS));
    assert_null(chunks_at(&c, 0));
    assert_true(chunks_ensure(&c, 5 * CHUNK_SLOTS)); /* fills what is below */
    assert_non_null(chunks_at(&c, 3 * CHUNK_SLOTS));
    assert_non_null(chunks_at(&c, 0));
    assert_null(chunks_at(&c, 5 * CHUNK_SLOTS));
    chunks_destroy(&c);
}

/* Every allocation of a growth fails once: refused, what stood stands, and asking again succeeds. */
static void survives_lack_of_memory(void **state)
{
    (void)state;
    for (uint64_t n = 1;; n++) {
        uint64_t before = mem_used();
        struct chunks c;
        chunks_init(&c, 8);
        assert_true(chunks_ensure(&c, 1));
        *(uint64_t *)chunks_at(&c, 0) = 77;
        mem_fail_at(n, false);
        bool ok = chunks_ensure(&c, 20 * CHUNK_SLOTS);
        mem_fail_at(0, false);
        if (!ok)
            assert_true(chunks_ensure(&c, 20 * CHUNK_SLOTS));
        assert_int_equal(*(uint64_t *)chunks_at(&c, 0), 77);
        for (uint32_t k = 0; k < 20; k++)
            assert_non_null(chunks_at(&c, k * CHUNK_SLOTS));
        chunks_destroy(&c);
        assert_int_equal(mem_used(), before);
        if (ok)
            break;
        assert_true(n < 100);
    }
}

enum { THREADS = 4, STRESS_CHUNKS = 64 };

static void *count_up(void *chunks)
{
    struct chunks *c = chunks;
    for (uint32_t k = 0; k < STRESS_CHUNKS; k++)
        for (uint32_t i = 0; i < 8; i++) {
            uint32_t index = ((k * 37) % STRESS_CHUNKS) * CHUNK_SLOTS + i;
            if (!chunks_ensure_shared(c, index))
                abort();
            add_relaxed((uint64_t *)chunks_at(c, index), 1u);
        }
    return NULL;
}

/* Threads that race to make the same chunks all write into the same ones. */
static void threads_share_chunks(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        struct chunks c;
        chunks_init(&c, sizeof(uint64_t));
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, count_up, &c), 0);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        for (uint32_t k = 0; k < STRESS_CHUNKS; k++)
            for (uint32_t i = 0; i < 8; i++)
                assert_int_equal(*(uint64_t *)chunks_at(&c, k * CHUNK_SLOTS + i), THREADS);
        chunks_destroy(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_has_nothing),       cmocka_unit_test(addresses_stay),       cmocka_unit_test(holes_are_allowed),
        cmocka_unit_test(survives_lack_of_memory), cmocka_unit_test(threads_share_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
