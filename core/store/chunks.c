/* SPDX-License-Identifier: MIT */
#include "store/chunks.h"

#include <string.h>

#include "base/alloc.h"

enum { FIRST_LENGTH = 8 };

void chunks_init(struct chunks *c, size_t element)
{
    *c = (struct chunks){.element = element};
    pthread_mutex_init(&c->making, NULL);
}

void chunks_destroy(struct chunks *c)
{
    if (c->element == 0)
        return;
    struct directory *d = c->directory;
    for (uint32_t i = 0; d != NULL && i < d->length; i++)
        mem_free(d->chunk[i]);
    while (d != NULL) {
        struct directory *before = d->before;
        mem_free(d);
        d = before;
    }
    pthread_mutex_destroy(&c->making);
    memset(c, 0, sizeof *c);
}

/* Under `making`. A directory with room for entry k; NULL when out of memory. */
static struct directory *directory_for(struct chunks *c, uint32_t k)
{
    struct directory *old = c->directory;
    if (old != NULL && k < old->length)
        return old;
    uint32_t length = old == NULL ? FIRST_LENGTH : old->length * 2;
    while (length <= k)
        length *= 2;
    size_t bytes = sizeof *old + length * sizeof old->chunk[0];
    struct directory *d = mem_zalloc(bytes);
    if (d == NULL)
        return NULL;
    d->before = old;
    d->length = length;
    if (old != NULL)
        memcpy(d->chunk, old->chunk, old->length * sizeof d->chunk[0]); /* chunks are made under `making`: none is missed */
    /* ORDER: relaxed: a statistic. */
    add_relaxed(&c->bytes, bytes);
    /* ORDER: release. Pairs with the acquire in chunks_at(): all of the directory is visible there. */
    publish(&c->directory, d);
    return d;
}

static bool make_chunk(struct chunks *c, uint32_t k)
{
    pthread_mutex_lock(&c->making);
    struct directory *d = directory_for(c, k);
    bool there = d != NULL && d->chunk[k] != NULL; /* another thread was faster */
    if (d != NULL && !there) {
        char *chunk = mem_aligned(CACHE_LINE, CHUNK_SLOTS * c->element);
        there = chunk != NULL;
        if (there) {
            /* ORDER: relaxed: a statistic. */
            add_relaxed(&c->bytes, CHUNK_SLOTS * c->element);
            /* ORDER: release. Pairs with the acquire in chunks_at(): the chunk reads as zeros there. */
            publish(&d->chunk[k], chunk);
        }
    }
    pthread_mutex_unlock(&c->making);
    return there;
}

bool chunks_ensure_shared(struct chunks *c, uint32_t index)
{
    return __builtin_expect(chunks_at(c, index) != NULL, 1) || make_chunk(c, index >> CHUNK_BITS);
}

bool chunks_ensure(struct chunks *c, uint32_t n)
{
    uint32_t wanted = n / CHUNK_SLOTS + (n % CHUNK_SLOTS != 0);
    /* ORDER: acquire. Pairs with the publish below: the chunks are there for this thread too. */
    uint32_t dense = take(&c->dense);
    if (wanted <= dense)
        return true;
    for (uint32_t k = dense; k < wanted; k++)
        if (!chunks_ensure_shared(c, k << CHUNK_BITS))
            return false;
    /* ORDER: release. Pairs with the acquire above. A slower thread may store less than another: then somebody looks again. */
    publish(&c->dense, wanted);
    return true;
}

uint64_t chunks_bytes(const struct chunks *c)
{
    /* ORDER: relaxed: a statistic. */
    return load_relaxed(&c->bytes);
}
