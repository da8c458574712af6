/* SPDX-License-Identifier: MIT */
/* Time: microseconds since 1970 UTC in an i64. Nothing reads a clock inside a loop: a query or a batch reads it once. */
#ifndef EAGRE_BASE_CLOCK_H
#define EAGRE_BASE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MICROS 1000000LL
#define TIME_MIN_US (-62135596800LL * MICROS)          /* 0001-01-01 00:00:00 */
#define TIME_MAX_US (253402300800LL * MICROS - 1)      /* 9999-12-31 23:59:59.999999 */

int64_t clock_coarse(void);  /* wall clock, a few ns to read, resolution of a timer tick (4 ms) */
int64_t clock_precise(void); /* wall clock */
int64_t clock_monotonic(void); /* for deadlines and timings */

/* 'YYYY-MM-DD[(T| )HH:MM[:SS[.f{1,6}]]][Z]', proleptic Gregorian, UTC. False when it is not that. */
bool time_parse(const char *text, size_t length, int64_t *out);

#endif
