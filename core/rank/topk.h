/* SPDX-License-Identifier: MIT */
/* The k best candidates under the total order: score descending, then slot ascending. A binary heap with the worst on top. */
#ifndef EAGRE_RANK_TOPK_H
#define EAGRE_RANK_TOPK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct candidate {
    double score;
    uint32_t slot;
    const void *row;
};

/* <0 when a ranks before b. */
static inline int candidate_order(const struct candidate *a, const struct candidate *b)
{
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    return (a->slot > b->slot) - (a->slot < b->slot);
}

/* The order may be another one (ORDER BY): `before(context, a, b)` < 0 when a ranks before b. NULL: candidate_order. */
typedef int candidate_compare(const void *context, const struct candidate *a, const struct candidate *b);

struct topk {
    struct candidate *heap; /* caller's memory, capacity k */
    size_t k, n;
    candidate_compare *compare;
    const void *context;
};

void topk_init(struct topk *t, struct candidate *memory, size_t k, candidate_compare *compare, const void *context);
bool topk_full(const struct topk *t);
const struct candidate *topk_worst(const struct topk *t);   /* NULL when empty */
bool topk_offer(struct topk *t, const struct candidate *c); /* false: not among the best k */
void topk_sort(struct topk *t);                             /* best first, in place; ends the heap */

#endif
