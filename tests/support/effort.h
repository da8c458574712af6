/* SPDX-License-Identifier: MIT */
/* How long the random part of a test runs, and where its random numbers start: EAGRE_TEST_SECONDS and EAGRE_TEST_SEED. */
#ifndef EAGRE_TESTS_EFFORT_H
#define EAGRE_TESTS_EFFORT_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static inline double test_seconds(double otherwise)
{
    const char *seconds = getenv("EAGRE_TEST_SECONDS");
    return seconds != NULL ? atof(seconds) : otherwise;
}

static inline uint64_t test_seed(void)
{
    const char *seed = getenv("EAGRE_TEST_SEED");
    return seed != NULL ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
}

#endif
