/* SPDX-License-Identifier: MIT */
/* A small generator with a seed, one for each thread. */
#ifndef EAGRE_TESTS_RANDOM_H
#define EAGRE_TESTS_RANDOM_H

#include "base/hash.h"

struct random {
    uint64_t state;
};

static inline uint32_t below(struct random *r, uint32_t n)
{
    r->state++;
    return (uint32_t)(mix64(r->state) % n);
}

#endif
