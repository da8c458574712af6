/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <string.h>

#include "check.h"

#include "base/alloc.h"

static void counts_what_is_in_use(void **state)
{
    (void)state;
    uint64_t before = mem_used();
    char *p = mem_alloc(1000);
    uint64_t *q = mem_zalloc(80);
    assert_true(mem_used() >= before + 1080);
    for (int i = 0; i < 10; i++)
        assert_int_equal(q[i], 0);
    memset(p, 7, 1000);
    p = mem_realloc(p, 50000);
    assert_int_equal(p[999], 7);
    assert_true(mem_used() >= before + 50080);
    mem_free(p);
    mem_free(q);
    mem_free(NULL);
    assert_int_equal(mem_used(), before);
}

static void aligned_and_zeroed(void **state)
{
    (void)state;
    for (size_t alignment = 8; alignment <= 4096; alignment *= 2) {
        char *p = mem_aligned(alignment, alignment + 24);
        assert_int_equal((uintptr_t)p % alignment, 0);
        for (size_t i = 0; i < alignment + 24; i++)
            assert_int_equal(p[i], 0);
        mem_free(p);
    }
}

static void overflow_is_out_of_memory(void **state)
{
    (void)state;
    assert_null(mem_array(SIZE_MAX / 2, 3));
    assert_null(mem_zarray(SIZE_MAX / 8 + 1, 8));
    void *p = mem_zarray(3, 8);
    assert_non_null(p);
    mem_free(p);
}

static void fails_where_told(void **state)
{
    (void)state;
    mem_fail_at(0, false);
    void *p = mem_alloc(8);
    mem_free(mem_alloc(8));
    assert_int_equal(mem_fail_at(2, false), 2);
    void *a = mem_alloc(8);
    assert_non_null(a);
    assert_null(mem_realloc(p, 100)); /* p stays */
    void *b = mem_zalloc(8);
    assert_non_null(b);
    assert_int_equal(mem_fail_at(1, true), 3);
    assert_null(mem_alloc(8));
    assert_null(mem_aligned(64, 64));
    assert_null(mem_zarray(1, 8));
    mem_fail_at(0, false);
    mem_free(p);
    mem_free(a);
    mem_free(b);
    p = mem_alloc(8);
    assert_non_null(p);
    mem_free(p);
}

static void limit_is_asked(void **state)
{
    (void)state;
    assert_true(mem_room(UINT64_MAX));
    mem_set_limit(mem_used() + 1000);
    assert_int_equal(mem_limit(), mem_used() + 1000);
    assert_true(mem_room(1000));
    assert_false(mem_room(1001));
    assert_false(mem_room(UINT64_MAX));
    mem_set_limit(1);
    void *p = mem_alloc(64);
    assert_false(mem_room(0));
    mem_free(p);
    mem_set_limit(0);
}

static void *free_all(void *blocks)
{
    for (void **p = blocks; *p != NULL; p++)
        mem_free(*p);
    return NULL;
}

static void freed_by_another_thread(void **state)
{
    (void)state;
    uint64_t before = mem_used();
    void *blocks[1001] = {0};
    for (size_t i = 0; i < 1000; i++)
        blocks[i] = mem_alloc(1 + i % 300);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, free_all, blocks), 0);
    pthread_join(thread, NULL);
    assert_int_equal(mem_used(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_what_is_in_use), cmocka_unit_test(aligned_and_zeroed), cmocka_unit_test(overflow_is_out_of_memory),
        cmocka_unit_test(fails_where_told),      cmocka_unit_test(limit_is_asked),     cmocka_unit_test(freed_by_another_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
