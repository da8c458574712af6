/* SPDX-License-Identifier: MIT */
#include "engine/handles.h"

#include <pthread.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/publish.h"

struct shell {
    uint64_t magic; /* atomic */
    void *object;   /* written before magic is open's */
    struct shell *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the queue of resting shells */
static struct shell *oldest, *newest;
static unsigned resting;

static struct shell *rested(void)
{
    pthread_mutex_lock(&lock);
    struct shell *s = resting > SHELL_REST ? oldest : NULL;
    if (s) {
        oldest = s->next;
        resting--;
    }
    pthread_mutex_unlock(&lock);
    return s;
}

static void rest(struct shell *s)
{
    pthread_mutex_lock(&lock);
    s->next = NULL;
    if (oldest)
        newest->next = s;
    else
        oldest = s;
    newest = s;
    resting++;
    pthread_mutex_unlock(&lock);
}

struct shell *shell_make(uint64_t magic, void *object)
{
    struct shell *s = rested();
    if (!s)
        s = mem_zalloc(sizeof *s);
    if (!s)
        return NULL;
    /* ORDER: relaxed: published by the magic below. */
    store_relaxed(&s->object, object);
    /* ORDER: release: pairs with the acquire in shell_open. */
    publish(&s->magic, magic);
    return s;
}

static void *refuse(uint64_t found, const char *what, struct error *e)
{
    if (found == SHELL_CLOSED)
        fail(e, STATUS_CLOSED, -1, "%s: the handle is closed", what);
    else
        fail(e, STATUS_INVALID, -1, "%s: this is not such a handle", what);
    return NULL;
}

void *shell_open(const struct shell *s, uint64_t magic, const char *what, struct error *e)
{
    if (!s) {
        fail(e, STATUS_INVALID, -1, "%s: NULL", what);
        return NULL;
    }
    /* ORDER: acquire: pairs with the release in shell_make. */
    uint64_t found = take(&s->magic);
    /* ORDER: relaxed: ordered by the acquire above. */
    return found == magic ? load_relaxed(&s->object) : refuse(found, what, e);
}

void *shell_close(struct shell *s, uint64_t magic, const char *what, struct error *e)
{
    if (!s) {
        fail(e, STATUS_INVALID, -1, "%s: NULL", what);
        return NULL;
    }
    /* ORDER: relaxed: a guess; the compare-and-swap decides. */
    void *object = load_relaxed(&s->object);
    uint64_t expected = magic;
    /* ORDER: acquire and release: one closer wins; pairs with shell_make. */
    if (!cas(&s->magic, &expected, SHELL_CLOSED))
        return refuse(expected, what, e);
    rest(s);
    return object;
}
