/* SPDX-License-Identifier: MIT */
/* The k best against sorting everything, and the order of sort values. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#include "base/hash.h"
#include "rank/order.h"
#include "rank/topk.h"

static uint64_t seed = 1;

static uint32_t below(uint32_t n)
{
    return (uint32_t)(mix64(seed++) % n);
}

/* ---- top-k ---- */

enum { MOST = 600 };
static struct candidate all[MOST], heap[MOST];

static int by_order(const void *a, const void *b)
{
    return candidate_order(a, b);
}

/* Another total order: slot descending. */
static int by_slot(const void *context, const struct candidate *a, const struct candidate *b)
{
    assert_int_equal(*(const int *)context, 7);
    return (a->slot < b->slot) - (a->slot > b->slot);
}

static int by_slot_plain(const void *a, const void *b)
{
    static const int seven = 7;
    return by_slot(&seven, a, b);
}

static void fill(size_t n, uint32_t scores)
{
    for (size_t i = 0; i < n; i++)
        all[i] = (struct candidate){.score = (double)below(scores) - 3, .slot = (uint32_t)i, .row = &all[i]};
    for (size_t i = n; i > 1; i--) { /* in any order */
        size_t j = below((uint32_t)i);
        struct candidate c = all[i - 1];
        all[i - 1] = all[j];
        all[j] = c;
    }
}

static void check(size_t n, size_t k, candidate_compare *compare, const void *context, int (*plain)(const void *, const void *))
{
    struct topk t;
    topk_init(&t, heap, k, compare, context);
    assert_null(topk_worst(&t));
    struct candidate *sorted = malloc((n + 1) * sizeof *sorted);
    for (size_t i = 0; i < n; i++) {
        bool was_full = topk_full(&t);
        assert_int_equal(was_full, i >= k);
        bool better = k > 0 && (!was_full || plain(&all[i], topk_worst(&t)) < 0);
        assert_int_equal(topk_offer(&t, &all[i]), better);
        if (i % 37 == 0 && k > 0) { /* the worst of the best so far */
            memcpy(sorted, all, (i + 1) * sizeof *sorted);
            qsort(sorted, i + 1, sizeof *sorted, plain);
            assert_int_equal(topk_worst(&t)->slot, sorted[(i + 1 < k ? i + 1 : k) - 1].slot);
        }
    }
    memcpy(sorted, all, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, plain);
    topk_sort(&t);
    assert_int_equal(t.n, n < k ? n : k);
    for (size_t i = 0; i < t.n; i++) {
        assert_int_equal(t.heap[i].slot, sorted[i].slot);
        assert_ptr_equal(t.heap[i].row, sorted[i].row);
    }
    free(sorted);
}

static void is_what_sorting_gives(void **state)
{
    (void)state;
    static const size_t ks[] = {0, 1, 2, 3, 10, 64, 599, 600};
    static const int seven = 7;
    for (int round = 0; round < 150; round++) {
        size_t n = below(MOST + 1), k = round % 2 ? ks[below(sizeof ks / sizeof *ks)] : below(40);
        fill(n, round % 3 ? 8 : 100000); /* with and without ties */
        check(n, k, NULL, NULL, by_order);
        check(n, k, by_slot, &seven, by_slot_plain);
    }
}

static void none_of_none(void **state)
{
    (void)state;
    struct topk t;
    topk_init(&t, NULL, 0, NULL, NULL);
    assert_true(topk_full(&t));
    assert_null(topk_worst(&t));
    assert_false(topk_offer(&t, &(struct candidate){.score = 5}));
    topk_sort(&t);
    assert_int_equal(t.n, 0);
}

static void negative_zero_is_zero(void **state)
{
    (void)state;
    struct topk t;
    topk_init(&t, heap, 3, NULL, NULL);
    const double scores[] = {0.0, -0.0, 0.0, -0.0, -DBL_MAX, DBL_MAX};
    for (uint32_t i = 6; i-- > 0;)
        topk_offer(&t, &(struct candidate){.score = scores[i], .slot = i});
    assert_false(topk_offer(&t, &(struct candidate){.score = -0.0, .slot = 1})); /* equals the worst: not better */
    topk_sort(&t);
    assert_int_equal(t.heap[0].slot, 5);
    assert_int_equal(t.heap[1].slot, 0);
    assert_int_equal(t.heap[2].slot, 1);
}

static void slots_break_ties(void **state)
{
    (void)state;
    const struct candidate a = {.score = 1, .slot = 0}, b = {.score = 1, .slot = UINT32_MAX}, c = {.score = 2, .slot = 5};
    assert_true(candidate_order(&a, &b) < 0);
    assert_true(candidate_order(&b, &a) > 0);
    assert_int_equal(candidate_order(&a, &a), 0);
    assert_true(candidate_order(&c, &a) < 0);
}

/* ---- sort values ---- */

static struct value integer(int64_t i)
{
    return (struct value){.type = VALUE_INT, .i = i};
}

static struct value real(double f)
{
    return (struct value){.type = VALUE_REAL, .f = f};
}

static struct value text(const char *s, uint32_t length)
{
    return (struct value){.type = VALUE_TEXT, .text = s, .length = length};
}

static int sign(int x)
{
    return (x > 0) - (x < 0);
}

/* a and b, both ways and in both directions; nulls stand last in both. */
static void assert_order(struct value a, struct value b, int want)
{
    bool null = a.type == VALUE_NULL || b.type == VALUE_NULL;
    assert_int_equal(sign(value_order(&a, &b, false)), want);
    assert_int_equal(sign(value_order(&b, &a, false)), -want);
    assert_int_equal(sign(value_order(&a, &b, true)), null ? want : -want);
    assert_int_equal(sign(value_order(&b, &a, true)), null ? -want : want);
}

static void values_have_an_order(void **state)
{
    (void)state;
    const struct value null = {.type = VALUE_NULL}, large = {.type = VALUE_UINT, .u = UINT64_MAX},
                       less = {.type = VALUE_UINT, .u = (uint64_t)1 << 63}, time = {.type = VALUE_TIME, .i = 5},
                       list = {.type = VALUE_LIST};
    assert_order(integer(1), integer(2), -1);
    assert_order(integer(INT64_MIN), integer(INT64_MAX), -1);
    assert_order(integer(7), integer(7), 0);
    assert_order(time, integer(6), -1);
    assert_order(integer(INT64_MAX), less, -1);
    assert_order(integer(-1), large, -1);
    assert_order(less, large, -1);
    assert_order(large, large, 0);
    assert_order(real(1.5), real(2), -1);
    assert_order(real(-0.0), real(0.0), 0);
    assert_order(integer(((int64_t)1 << 53) + 1), real(0x1p53), 1);
    assert_order(integer(INT64_MAX), real(0x1p63), -1);
    assert_order(integer(2), real(2), 0);
    assert_order(less, real(0x1p63), 0);
    assert_order(less, real(0x1.0000000000001p63), -1);
    assert_order(less, real(-1), 1);
    assert_order(large, real(0x1p64), -1);
    assert_order(large, real(1e300), -1);
    assert_order(text("a", 1), text("b", 1), -1);
    assert_order(text("ab", 2), text("abc", 3), -1);
    assert_order(text("", 0), text("\0", 1), -1);
    assert_order(text("\x7f", 1), text("\xc3\xa9", 2), -1); /* bytes, unsigned */
    assert_order(text("x", 1), text("x", 1), 0);
    assert_order(text(NULL, 0), text("", 0), 0);
    assert_order(null, null, 0);
    assert_order(integer(INT64_MAX), null, -1);
    assert_order(text("zz", 2), null, -1);
    assert_order(list, null, -1);
    assert_order(integer(5), text("1", 1), -1);
    assert_order(list, list, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_what_sorting_gives), cmocka_unit_test(none_of_none),
        cmocka_unit_test(negative_zero_is_zero), cmocka_unit_test(slots_break_ties),
        cmocka_unit_test(values_have_an_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
