/* SPDX-License-Identifier: MIT */
#include "rank/topk.h"

static inline int order(const struct topk *t, const struct candidate *a, const struct candidate *b)
{
    return t->compare != NULL ? t->compare(t->context, a, b) : candidate_order(a, b);
}

/* Puts c at place i, or below it: each parent ranks behind its children. */
static void sink(struct topk *t, size_t n, size_t i, struct candidate c)
{
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= n)
            break;
        if (child + 1 < n && order(t, &t->heap[child + 1], &t->heap[child]) > 0)
            child++;
        if (order(t, &t->heap[child], &c) <= 0)
            break;
        t->heap[i] = t->heap[child];
        i = child;
    }
    t->heap[i] = c;
}

static void rise(struct topk *t, size_t i, struct candidate c)
{
    while (i > 0) {
        size_t parent = (i - 1) / 2;
        if (order(t, &c, &t->heap[parent]) <= 0)
            break;
        t->heap[i] = t->heap[parent];
        i = parent;
    }
    t->heap[i] = c;
}

void topk_init(struct topk *t, struct candidate *memory, size_t k, candidate_compare *compare, const void *context)
{
    *t = (struct topk){.heap = memory, .k = k, .compare = compare, .context = context};
}

bool topk_full(const struct topk *t)
{
    return t->n == t->k;
}

const struct candidate *topk_worst(const struct topk *t)
{
    return t->n > 0 ? &t->heap[0] : NULL;
}

bool topk_offer(struct topk *t, const struct candidate *c)
{
    if (t->n < t->k) {
        rise(t, t->n++, *c);
        return true;
    }
    if (t->k == 0 || order(t, c, &t->heap[0]) >= 0)
        return false;
    sink(t, t->n, 0, *c);
    return true;
}

/* The worst goes behind the heap of the others, again and again. */
void topk_sort(struct topk *t)
{
    for (size_t n = t->n; n > 1; n--) {
        struct candidate last = t->heap[n - 1];
        t->heap[n - 1] = t->heap[0];
        sink(t, n - 1, 0, last);
    }
}
