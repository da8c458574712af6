/* SPDX-License-Identifier: MIT */
/* Memory of one statement: many small pieces, given back all at once. */
#ifndef EAGRE_QUERY_ARENA_H
#define EAGRE_QUERY_ARENA_H

#include <stddef.h>

struct arena;

struct arena *arena_create(void);                                   /* NULL when out of memory */
void arena_destroy(struct arena *a);                                /* and all that was taken from it; NULL is fine */
void *arena_alloc(struct arena *a, size_t bytes);                   /* zeroed, aligned for anything; NULL when out of memory */
char *arena_text(struct arena *a, const char *text, size_t length); /* a copy with a NUL behind it */

/* Room for element n of an array of n elements that only grows, at its end, through this function. The array may move: use what is
 * returned. NULL when out of memory. The new element is zeroed. */
void *arena_grow(struct arena *a, void *items, size_t n, size_t size);

#endif
