/* SPDX-License-Identifier: MIT */
/* The engine's allocator. The only file that includes <mimalloc.h>.
 *
 * mimalloc is called by its own names (mi_malloc, not malloc), so the host's malloc stays what it is, and from its default heap, so
 * any thread may free what another allocated. With EAGRE_SYSTEM_MALLOC (tests, sanitizers) the C library's functions stand in.
 *
 * What is in use is counted by the allocator's usable sizes, in shards that threads are spread over: no cache line is written by all.
 * A block may be freed by another thread than its maker's, so one shard may run below zero (it wraps); only the sum means something.
 *
 * Progress: counting is wait-free; the rest is as the allocator's. */
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#ifdef EAGRE_SYSTEM_MALLOC
#    include <malloc.h>
#else
#    include <mimalloc.h>
#endif

#include "base/publish.h"

#define SHARDS 16

static struct shard {
    uint64_t bytes; /* in use */
    uint64_t made;  /* allocations ever */
} __attribute__((aligned(CACHE_LINE))) shards[SHARDS];

static uint32_t next_shard;
static __thread struct shard *own_shard;

static uint64_t limit; /* of mem_set_limit */

/* The test hook. `armed` is all that an allocation looks at while it is off. */
static struct {
    bool armed, from_then_on;
    uint64_t left;      /* allocations until the one that fails */
    uint64_t made_then; /* at the last call of mem_fail_at */
} hook;

static struct shard *shard_of_thread(void)
{
    if (__builtin_expect(own_shard == NULL, 0))
        /* ORDER: relaxed: hands out numbers; nothing else depends on it. */
        own_shard = &shards[add_relaxed(&next_shard, 1u) % SHARDS];
    return own_shard;
}

static bool hook_fails(void)
{
    /* ORDER: relaxed, also below: a test arms the hook before the work it watches; only the counts matter. */
    if (__builtin_expect(!load_relaxed(&hook.armed), 1))
        return false;
    uint64_t left = load_relaxed(&hook.left);
    do {               /* ORDER: relaxed: as above. */
        if (left == 0) /* the one has passed */
            return load_relaxed(&hook.from_then_on);
    } while (!cas_relaxed(&hook.left, &left, left - 1));
    return left == 1;
}

/* Counts one attempt; false when a test wants it to fail. */
static bool begin(void)
{
    /* ORDER: relaxed: a statistic. */
    add_relaxed(&shard_of_thread()->made, 1u);
    return !hook_fails();
}

static void count_change(uint64_t delta)
{
    /* ORDER: relaxed: a statistic; limits are checked before a write begins and tolerate a moment's lag. */
    add_relaxed(&shard_of_thread()->bytes, delta);
}

#ifdef EAGRE_SYSTEM_MALLOC
static size_t usable(void *p)
{
    return malloc_usable_size(p);
}

static void *aligned_zeroed(size_t alignment, size_t bytes)
{
    void *p;
    if (posix_memalign(&p, alignment < sizeof(void *) ? sizeof(void *) : alignment, bytes) != 0)
        return NULL;
    return memset(p, 0, bytes);
}

#    define raw_alloc malloc
#    define raw_zalloc(bytes) calloc(1, bytes)
#    define raw_realloc realloc
#    define raw_free free
#else
static size_t usable(void *p)
{
    return mi_usable_size(p);
}

static void *aligned_zeroed(size_t alignment, size_t bytes)
{
    return mi_zalloc_aligned(bytes, alignment);
}

#    define raw_alloc mi_malloc
#    define raw_zalloc mi_zalloc
#    define raw_realloc mi_realloc
#    define raw_free mi_free
#endif

static void *counted(void *p)
{
    if (p != NULL)
        count_change(usable(p));
    return p;
}

void *mem_alloc(size_t bytes)
{
    return begin() ? counted(raw_alloc(bytes)) : NULL;
}

void *mem_zalloc(size_t bytes)
{
    return begin() ? counted(raw_zalloc(bytes)) : NULL;
}

void *mem_aligned(size_t alignment, size_t bytes)
{
    return begin() ? counted(aligned_zeroed(alignment, bytes)) : NULL;
}

void *mem_realloc(void *p, size_t bytes)
{
    if (!begin())
        return NULL;
    uint64_t before = p == NULL ? 0 : usable(p);
    void *q = raw_realloc(p, bytes);
    if (q != NULL)
        count_change(usable(q) - before);
    return q;
}

void mem_free(void *p)
{
    if (p == NULL)
        return;
    count_change(0 - (uint64_t)usable(p));
    raw_free(p);
}

void *mem_array(size_t n, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(n, size, &bytes) ? NULL : mem_alloc(bytes);
}

void *mem_zarray(size_t n, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(n, size, &bytes) ? NULL : mem_zalloc(bytes);
}

uint64_t mem_used(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < SHARDS; i++)
        /* ORDER: relaxed: a statistic. */
        sum += load_relaxed(&shards[i].bytes);
    /* Between the reading of one shard and the next a block may have moved: below zero reads as nothing. */
    return (int64_t)sum < 0 ? 0 : sum;
}

void mem_set_limit(uint64_t bytes)
{
    /* ORDER: relaxed: a setting; a write that began before may still go by the old one. */
    store_relaxed(&limit, bytes);
}

uint64_t mem_limit(void)
{
    /* ORDER: relaxed: as in mem_set_limit(). */
    return load_relaxed(&limit);
}

bool mem_room(uint64_t bytes)
{
    uint64_t most = mem_limit();
    if (most == 0)
        return true;
    uint64_t used = mem_used();
    return used <= most && bytes <= most - used;
}

uint64_t mem_fail_at(uint64_t n, bool from_then_on)
{
    uint64_t made = 0;
    /* ORDER: relaxed, here and below: as in hook_fails(). */
    for (int i = 0; i < SHARDS; i++)
        made += load_relaxed(&shards[i].made);
    uint64_t since = made - hook.made_then;
    hook.made_then = made;
    /* ORDER: relaxed: as above. */
    store_relaxed(&hook.from_then_on, from_then_on);
    store_relaxed(&hook.left, n);
    store_relaxed(&hook.armed, n != 0);
    return since;
}
