/* SPDX-License-Identifier: MIT */
#include "query/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

/* Blocks grow from FIRST by doubling: a short statement, kept for long, costs little, and a long one few allocations. */
enum { FIRST = 1024, LARGEST = 65536 };

struct block {
    struct block *next;
    size_t size, used; /* of bytes[] */
    alignas(max_align_t) unsigned char bytes[];
};

/* Lives at the start of its own first block. */
struct arena {
    struct block *newest;
};

static size_t aligned(size_t bytes)
{
    return (bytes + alignof(max_align_t) - 1) & ~(size_t)(alignof(max_align_t) - 1);
}

static struct block *block_create(size_t size, struct block *next)
{
    struct block *b = mem_alloc(sizeof *b + size);
    if (b == NULL)
        return NULL;
    b->next = next;
    b->size = size;
    b->used = 0;
    return b;
}

static void *block_take(struct block *b, size_t bytes)
{
    void *p = b->bytes + b->used;
    b->used += bytes;
    return memset(p, 0, bytes);
}

struct arena *arena_create(void)
{
    struct block *b = block_create(FIRST - sizeof *b, NULL);
    if (b == NULL)
        return NULL;
    struct arena *a = block_take(b, aligned(sizeof *a));
    a->newest = b;
    return a;
}

void arena_destroy(struct arena *a)
{
    if (a == NULL)
        return;
    for (struct block *b = a->newest, *next; b != NULL; b = next) {
        next = b->next;
        mem_free(b);
    }
}

void *arena_alloc(struct arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    bytes = aligned(bytes);
    struct block *b = a->newest;
    if (b->size - b->used < bytes) {
        size_t size = 2 * (b->size + sizeof *b);
        size = (size < LARGEST ? size : LARGEST) - sizeof *b;
        b = block_create(size < bytes ? bytes : size, b);
        if (b == NULL)
            return NULL;
        a->newest = b;
    }
    return block_take(b, bytes);
}

char *arena_text(struct arena *a, const char *text, size_t length)
{
    char *copy = arena_alloc(a, length + 1);
    if (copy != NULL && length != 0)
        memcpy(copy, text, length);
    return copy;
}

/* There is room for 4, then for 8, 16, ...: whether the array is full can be told from n alone. */
void *arena_grow(struct arena *a, void *items, size_t n, size_t size)
{
    if (n != 0 && (n < 4 || (n & (n - 1)) != 0))
        return items;
    size_t room = n == 0 ? 4 : 2 * n;
    if (room > SIZE_MAX / 2 / size)
        return NULL;
    void *moved = arena_alloc(a, room * size);
    if (moved != NULL && n != 0)
        memcpy(moved, items, n * size);
    return moved;
}
