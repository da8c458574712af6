/* SPDX-License-Identifier: MIT */
/* An array that grows at the end and never moves: fixed chunks behind a directory.
 *
 *   chunks -> directory [ 0 | 1 | - | 3 | - ... ]     a directory that is full is replaced by one twice as large
 *                         |   |       |
 *                         |   |       '-> 4,096 elements, zeroed, on a cache line's boundary
 *
 * Invariants
 *   I1  A chunk, once there, stays where it is until chunks_destroy(). So does every element's address.
 *   I2  A directory that was replaced is kept until chunks_destroy(): all of them together are smaller than the last one, and so nobody
 *       needs a grace period, here or in what calls this.
 *
 * Ordering: who gets an element's address sees its chunk zeroed. What is written into elements is the caller's to publish.
 *
 * Progress: chunks_at is wait-free. chunks_ensure and chunks_ensure_shared are wait-free while the chunks are there; to make one they take a
 * mutex, allocate, and wait for nothing else. They need no reservation with reclaim. */
#ifndef EAGRE_STORE_CHUNKS_H
#define EAGRE_STORE_CHUNKS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/publish.h"

enum { CHUNK_BITS = 12, CHUNK_SLOTS = 1 << CHUNK_BITS };

struct directory {
    struct directory *before; /* the one it replaced (I2) */
    uint32_t length;          /* entries */
    char *chunk[];            /* NULL: not there */
};

struct chunks {
    struct directory *directory; /* NULL: empty */
    size_t element;              /* bytes */
    uint64_t bytes;              /* of memory held */
    uint32_t dense;              /* chunks 0..dense-1 are there; perhaps more */
    pthread_mutex_t making;      /* who makes a chunk or a directory */
};

void chunks_init(struct chunks *c, size_t element); /* element > 0; allocates nothing */
void chunks_destroy(struct chunks *c);              /* nobody reads any more; c may be all zeros */

/* Elements 0..n-1 exist afterwards. False: out of memory, and what existed before still does. Any thread. */
bool chunks_ensure(struct chunks *c, uint32_t n);
/* The element `index` exists afterwards, with the rest of its chunk; chunks before it need not. Any thread, several at once. */
bool chunks_ensure_shared(struct chunks *c, uint32_t index);

/* The element, or NULL when its chunk is not there. The elements after it follow up to the next multiple of CHUNK_SLOTS. Any thread. */
static inline void *chunks_at(const struct chunks *c, uint32_t index)
{
    /* ORDER: acquire, both. Pair with the publishes in chunks.c: the directory is filled, the chunk zeroed. */
    const struct directory *d = take(&c->directory);
    if (d == NULL || index >> CHUNK_BITS >= d->length)
        return NULL;
    char *chunk = take(&d->chunk[index >> CHUNK_BITS]);
    return chunk == NULL ? NULL : chunk + (size_t)(index & (CHUNK_SLOTS - 1)) * c->element;
}

uint64_t chunks_bytes(const struct chunks *c);

#endif
