/* SPDX-License-Identifier: MIT */
/* Memory of the engine: mimalloc (or the system's malloc under sanitizers), counted, limited, and made to fail by tests.
 * Every allocation can fail and is checked. Nothing allocated here is ever freed by a caller of the ABI. */
#ifndef EAGRE_BASE_ALLOC_H
#define EAGRE_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *mem_alloc(size_t bytes);                   /* NULL when out of memory; bytes > 0 */
void *mem_zalloc(size_t bytes);                  /* zeroed */
void *mem_aligned(size_t alignment, size_t bytes); /* zeroed, aligned to a power of two; freed by mem_free as all others */
void *mem_realloc(void *p, size_t bytes);        /* p may be NULL; on failure p stays as it was */
void mem_free(void *p);                          /* NULL is fine */

/* n * size with overflow checked; NULL on overflow. */
void *mem_array(size_t n, size_t size);
void *mem_zarray(size_t n, size_t size);

uint64_t mem_used(void); /* bytes in use by the engine in this process, from the allocator's usable sizes */

/* A write asks before it changes anything: false when `bytes` more would pass the limit (0 = none). Process-wide. */
void mem_set_limit(uint64_t bytes);
uint64_t mem_limit(void);
bool mem_room(uint64_t bytes);

/* Test hook: the n-th allocation from now fails (1 = the next); with `from_then_on` all later ones fail too. n = 0: off.
 * Counts every allocation of the process's engine; returns how many were made since the last call. */
uint64_t mem_fail_at(uint64_t n, bool from_then_on);

#endif
