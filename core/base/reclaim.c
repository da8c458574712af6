/* SPDX-License-Identifier: MIT */
/* Reclamation: freeing what readers may still hold, by liburcu's bp flavour, whose readers may be any thread of any host.
 * The only file that includes urcu.
 *
 *   writer                        blocks of (object, release)                 maintenance thread
 *   reclaim_reserve ---> spare -> spare -> spare                    (about every 100 ms, or when much has gathered)
 *         |                         |  taken when `current` is full    detach full + current
 *   reclaim_retire  ---> current -> full -> full  -----------------> one grace period for all of them
 *                           ^                                          release each; blocks go back to spare
 *                           '------------------------------------------------'
 *
 * Terms. A *section* is what lies between reclaim_enter and reclaim_leave of one thread. A *grace period* is an interval after which every
 * section that was open at its start has ended. *Credit* is room a thread holds for retires to come.
 *
 * Invariants
 *   I1  free entries of `current` + entries of spare blocks >= credit given out. So a retire that was reserved never allocates.
 *   I2  An object in a block is unlinked: no section that begins after its retire can reach it.
 *   I3  A batch is detached before its grace period begins, and its objects are released after it ends.
 *   I4  Credit of a thread goes back when the thread ends (a pthread key's destructor), so threads that come and go cost nothing.
 *
 * Ordering guarantees
 *   G1  What a section read of an object happens before the object's release.
 *   G2  What a writer did before reclaim_retire(p) happens before release(p).
 *   G3  Everything retired before reclaim_barrier() has been released when it returns.
 *   G4  Releases run one at a time, in the order of the retires.
 *
 * Progress
 *   reclaim_enter, reclaim_leave   wait-free for an attached thread; the first call attaches and may wait for a grace period
 *   reclaim_retire                 blocks for `lock`, which is held for a few instructions only
 *   reclaim_reserve                a thread-local comparison most times; now and then `lock` and an allocation; above BACKLOG_MAX it
 *                                  releases a batch itself, that is, waits for a grace period
 *   reclaim_barrier, reclaim_synchronize   block for grace periods
 *
 * Exclusion (X: never at the same time in one thread; across threads everything may overlap)
 *                                  inside a section   inside a release   inside a tick
 *   reserve                               X                  X                -
 *   retire                                -                  X                -
 *   barrier, synchronize                  X                  X                -
 *
 * Locks: `draining` is taken before `lock`; neither is held while a tick runs; `lock` is not held while anything is released. A thread
 * that waits for `draining` waits for a grace period, so it must hold no lock that a section or a release could want: releases take none,
 * sections only those whose holders wait for nothing but the allocator (a new chunk's).
 *
 * fork: the child of a process that loaded the library is marked and every function here does nothing in it; liburcu would wait for
 * readers that are not there any more. */
#include "base/reclaim.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <urcu/urcu-bp.h>

#include "base/alloc.h"
#include "base/publish.h"

#ifdef EAGRE_TSAN
/* TSan does not see that a grace period orders sections before releases (liburcu does it by fences and membarrier): said here. */
void __tsan_acquire(void *);
void __tsan_release(void *);
static char domain;
#    define section_ends() __tsan_release(&domain)
#    define grace_period_ended() __tsan_acquire(&domain)
#else
#    define section_ends() ((void)0)
#    define grace_period_ended() ((void)0)
#endif

enum {
    BLOCK_ENTRIES = 510,       /* a block is 8 KiB */
    SLACK = 64,                /* credit beyond what was asked for: a reserve within a reserve is covered up to this */
    LOT = 128,                 /* credit is taken in lots of this */
    WAKE_AT = 4096,            /* this many gathered: no waiting for the next round */
    BACKLOG_MAX = 1000 * 1000, /* this many not released: writers help */
    ROUND_MS = 100,
    EXIT_WAIT_MS = 2000, /* at exit, for the thread to end */
};

struct entry {
    void *p;
    void (*release)(void *);
};

struct block {
    struct block *next;
    uint64_t count;
    struct entry entries[BLOCK_ENTRIES];
};

/* All under `lock`, but for what says otherwise. */
static struct {
    pthread_mutex_t lock, draining;
    pthread_cond_t wake;    /* the thread waits on it, by the monotonic clock */
    pthread_cond_t changed; /* a tick ended, or the thread did */

    struct block current;
    struct block *full, **full_end; /* oldest first */
    struct block *spare;
    uint64_t spare_blocks;
    uint64_t credit; /* given out to threads and not used */

    uint64_t backlog;   /* retired, not released; read without the lock */
    uint64_t round_due; /* objects that are worth waking the thread for; counts from the last detach */

    bool thread_made, thread_gone, stop, deep_sleep;
    pthread_t thread;
    struct reclaim_task *tasks, *cursor, *running;

    struct block drained; /* under `draining`: current's entries, once detached */

    bool forked; /* read without the lock; written only in a child, while it has one thread */
} r = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .draining = PTHREAD_MUTEX_INITIALIZER,
    .wake = PTHREAD_COND_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
    .full_end = &r.full,
};

static pthread_key_t credit_key; /* its destructor gives a thread's credit back */
static bool credit_key_made;
static __thread unsigned credit;    /* of this thread */
static __thread bool credit_marked; /* the destructor will run */
static __thread bool in_release;

bool reclaim_forked(void)
{
    /* ORDER: relaxed: set before the child's only thread goes on; constant ever after. */
    return __builtin_expect(load_relaxed(&r.forked), 0);
}

/* ---- sections ---- */

void reclaim_attach(void)
{
    if (!reclaim_forked())
        urcu_bp_register_thread();
}

void reclaim_enter(void)
{
    if (!reclaim_forked())
        urcu_bp_read_lock();
}

void reclaim_leave(void)
{
    if (reclaim_forked())
        return;
    section_ends();
    urcu_bp_read_unlock();
}

bool reclaim_reading(void)
{
    return !reclaim_forked() && urcu_bp_read_ongoing() != 0;
}

void reclaim_synchronize(void)
{
    if (reclaim_forked())
        return;
    urcu_bp_synchronize_rcu();
    grace_period_ended();
}

/* ---- releasing ---- */

static uint64_t release_block(struct block *b)
{
    for (uint64_t i = 0; i < b->count; i++)
        b->entries[i].release(b->entries[i].p);
    uint64_t n = b->count;
    b->count = 0;
    return n;
}

/* Under `lock`. Keeps what I1 needs and one block more; the rest is freed by the caller, outside. */
static struct block *trim_spare(struct block *returned)
{
    while (returned != NULL && r.spare_blocks * BLOCK_ENTRIES < r.credit + BLOCK_ENTRIES) {
        struct block *b = returned;
        returned = b->next;
        b->next = r.spare;
        r.spare = b;
        r.spare_blocks++;
    }
    return returned;
}

/* Releases all that was retired before the call, unless the backlog is no more than `enough` by the time it is our turn. */
static void drain(uint64_t enough)
{
    pthread_mutex_lock(&r.draining);
    pthread_mutex_lock(&r.lock);
    if (r.backlog <= enough) {
        pthread_mutex_unlock(&r.lock);
        pthread_mutex_unlock(&r.draining);
        return;
    }
    struct block *batch = r.full;
    r.full = NULL;
    r.full_end = &r.full;
    /* current is copied, not handed over, so that its room stays part of I1. */
    r.drained.count = r.current.count;
    memcpy(r.drained.entries, r.current.entries, r.current.count * sizeof r.current.entries[0]);
    r.current.count = 0;
    r.round_due = 0;
    pthread_mutex_unlock(&r.lock);

    reclaim_synchronize(); /* I3; G1 by the grace period, G2 by the lock */
    in_release = true;
    uint64_t released = 0;
    for (struct block *b = batch; b != NULL; b = b->next)
        released += release_block(b);
    released += release_block(&r.drained);
    in_release = false;

    pthread_mutex_lock(&r.lock);
    /* ORDER: relaxed: a statistic for readers without the lock. */
    store_relaxed(&r.backlog, r.backlog - released);
    batch = trim_spare(batch);
    pthread_mutex_unlock(&r.lock);
    while (batch != NULL) {
        struct block *b = batch;
        batch = b->next;
        mem_free(b);
    }
    pthread_mutex_unlock(&r.draining);
}

void reclaim_barrier(void)
{
    if (!reclaim_forked())
        drain(0);
}

uint64_t reclaim_backlog(void)
{
    /* ORDER: relaxed: a statistic. */
    return load_relaxed(&r.backlog);
}

/* ---- the maintenance thread ---- */

static struct timespec after_ms(clockid_t clock, long ms)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += ms % 1000 * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

/* Under `lock`, which it gives up during each tick. */
static void run_ticks(void)
{
    r.cursor = r.tasks;
    while (r.cursor != NULL && !r.stop) {
        struct reclaim_task *task = r.cursor;
        r.cursor = task->next;
        r.running = task;
        pthread_mutex_unlock(&r.lock);
        task->tick(task->context);
        pthread_mutex_lock(&r.lock);
        r.running = NULL;
        pthread_cond_broadcast(&r.changed);
    }
    r.cursor = NULL;
}

static bool passed(const struct timespec *moment)
{
    struct timespec now = after_ms(CLOCK_MONOTONIC, 0);
    return now.tv_sec != moment->tv_sec ? now.tv_sec > moment->tv_sec : now.tv_nsec >= moment->tv_nsec;
}

static void *maintain(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "eagre-reclaim");
    struct timespec round = after_ms(CLOCK_MONOTONIC, ROUND_MS);
    pthread_mutex_lock(&r.lock);
    while (!r.stop) {
        /* With nothing to release and nothing to tick the process sleeps undisturbed. */
        r.deep_sleep = r.tasks == NULL && r.round_due == 0;
        if (r.deep_sleep) {
            pthread_cond_wait(&r.wake, &r.lock);
            r.deep_sleep = false;
            round = after_ms(CLOCK_MONOTONIC, ROUND_MS);
        } else if (r.round_due < WAKE_AT) {
            pthread_cond_timedwait(&r.wake, &r.lock, &round);
        }
        bool round_is_over = passed(&round);
        if (!r.stop && r.round_due > 0 && (round_is_over || r.round_due >= WAKE_AT)) {
            pthread_mutex_unlock(&r.lock);
            drain(0);
            pthread_mutex_lock(&r.lock);
        }
        if (round_is_over) {
            run_ticks();
            round = after_ms(CLOCK_MONOTONIC, ROUND_MS);
        }
    }
    r.thread_gone = true;
    pthread_cond_broadcast(&r.changed);
    pthread_mutex_unlock(&r.lock);
    return NULL;
}

/* Under `lock`. Detached: at exit `thread_gone` is waited for, not the thread itself, since that wait must have an end. */
static bool make_thread(void)
{
    if (r.thread_made || r.stop)
        return true;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the host's handlers run on the host's threads */
    r.thread_made = pthread_create(&r.thread, &attributes, maintain, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return r.thread_made;
}

static bool on_maintenance_thread(void)
{
    return r.thread_made && pthread_equal(r.thread, pthread_self());
}

void reclaim_task_add(struct reclaim_task *task)
{
    if (reclaim_forked())
        return;
    pthread_mutex_lock(&r.lock);
    task->next = r.tasks;
    r.tasks = task;
    if (r.deep_sleep)
        pthread_cond_signal(&r.wake);
    pthread_mutex_unlock(&r.lock);
}

void reclaim_task_remove(struct reclaim_task *task)
{
    if (reclaim_forked())
        return;
    pthread_mutex_lock(&r.lock);
    for (struct reclaim_task **at = &r.tasks; *at != NULL; at = &(*at)->next) {
        if (*at == task) {
            *at = task->next;
            break;
        }
    }
    if (r.cursor == task)
        r.cursor = task->next;
    while (r.running == task && !on_maintenance_thread()) /* a tick may remove its own task */
        pthread_cond_wait(&r.changed, &r.lock);
    pthread_mutex_unlock(&r.lock);
}

/* ---- credit and retiring ---- */

static void give_credit_back(void *unused)
{
    (void)unused;
    if (!reclaim_forked()) {
        pthread_mutex_lock(&r.lock);
        r.credit -= credit;
        pthread_mutex_unlock(&r.lock);
    }
    credit = 0;
    credit_marked = false; /* another key's destructor may reserve again */
}

/* Under `lock`, which it gives up to allocate. Makes I1 hold for `more` further credit, and gives it out. */
static bool take_credit(unsigned more)
{
    struct block *fresh = NULL;
    bool ok = true;
    while (BLOCK_ENTRIES - r.current.count + r.spare_blocks * BLOCK_ENTRIES < r.credit + more) {
        if (fresh == NULL) {
            pthread_mutex_unlock(&r.lock);
            fresh = mem_alloc(sizeof *fresh);
            pthread_mutex_lock(&r.lock);
            if (fresh == NULL) {
                ok = false;
                break;
            }
            continue; /* look again: a lot may have changed */
        }
        fresh->count = 0;
        fresh->next = r.spare;
        r.spare = fresh;
        r.spare_blocks++;
        fresh = NULL;
    }
    if (ok)
        r.credit += more;
    mem_free(fresh);
    return ok;
}

static bool reserve_slowly(unsigned n)
{
    if (reclaim_forked())
        return true;
    if (reclaim_backlog() > BACKLOG_MAX && !in_release && !reclaim_reading())
        drain(BACKLOG_MAX);
    if (!credit_marked && credit_key_made)
        credit_marked = pthread_setspecific(credit_key, &r) == 0;
    pthread_mutex_lock(&r.lock);
    unsigned more = n + SLACK + LOT - credit;
    bool ok = make_thread() && take_credit(more);
    pthread_mutex_unlock(&r.lock);
    if (ok)
        credit += more;
    return ok;
}

bool reclaim_reserve(unsigned n)
{
    return __builtin_expect(credit >= n + SLACK, 1) || reserve_slowly(n);
}

void reclaim_retire(void *p, void (*release)(void *))
{
    if (reclaim_forked())
        return;
    bool reserved = credit > 0;
    pthread_mutex_lock(&r.lock);
    if (!reserved && !take_credit(1)) {
        /* The caller reserved too little and memory is out. Nobody may be left with a dangling pointer: wait if that is allowed,
         * and leak if it is not. */
        pthread_mutex_unlock(&r.lock);
        if (!reclaim_reading()) {
            reclaim_synchronize();
            release(p);
        }
        return;
    }
    if (reserved)
        credit--;
    r.credit--;
    if (r.current.count == BLOCK_ENTRIES) { /* then I1 says that there is a spare block: it takes what is in `current` */
        struct block *b = r.spare;
        r.spare = b->next;
        r.spare_blocks--;
        b->next = NULL;
        b->count = r.current.count;
        memcpy(b->entries, r.current.entries, sizeof b->entries);
        *r.full_end = b;
        r.full_end = &b->next;
        r.current.count = 0;
    }
    r.current.entries[r.current.count++] = (struct entry){p, release};
    r.round_due++;
    /* ORDER: relaxed: a statistic for readers without the lock. */
    store_relaxed(&r.backlog, r.backlog + 1);
    if (r.deep_sleep || r.round_due == WAKE_AT)
        pthread_cond_signal(&r.wake);
    pthread_mutex_unlock(&r.lock);
}

/* ---- process ---- */

static void mark_child(void)
{
    /* ORDER: relaxed: the child has one thread. */
    store_relaxed(&r.forked, true);
}

__attribute__((constructor)) static void begin(void)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) == 0) {
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        pthread_cond_init(&r.wake, &attributes);
        pthread_cond_init(&r.changed, &attributes);
        pthread_condattr_destroy(&attributes);
    }
    pthread_atfork(NULL, NULL, mark_child);
    credit_key_made = pthread_key_create(&credit_key, give_credit_back) == 0;
}

/* At exit the thread ends before liburcu's own destructor runs. What was retired stays as it is: the process is going. The wait is
 * bounded, since a section of a thread that was cancelled inside one never ends. */
__attribute__((destructor)) static void end(void)
{
    if (reclaim_forked())
        return;
    struct timespec until = after_ms(CLOCK_MONOTONIC, EXIT_WAIT_MS);
    pthread_mutex_lock(&r.lock);
    r.stop = true;
    pthread_cond_signal(&r.wake);
    while (r.thread_made && !r.thread_gone)
        if (pthread_cond_timedwait(&r.changed, &r.lock, &until) != 0)
            break;
    pthread_mutex_unlock(&r.lock);
}
