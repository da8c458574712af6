/* SPDX-License-Identifier: MIT */
/* Reclamation: nothing is released while a section may hold it, everything is released in the end, and no thread is in the way. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/publish.h"
#include "base/reclaim.h"

#define ALIVE 0x616c697665u
#define DEAD 0xdeadu

struct object {
    uint64_t mark, version;
};

static uint64_t released;

static void release(void *p)
{
    struct object *o = p;
    if (o->mark != ALIVE)
        abort(); /* released twice */
    o->mark = DEAD;
    mem_free(o);
    add_relaxed(&released, 1u);
}

static struct object *make(uint64_t version)
{
    struct object *o = mem_alloc(sizeof *o);
    assert_non_null(o);
    *o = (struct object){ALIVE, version};
    return o;
}

static void sections_nest(void **state)
{
    (void)state;
    reclaim_attach();
    reclaim_attach();
    assert_false(reclaim_reading());
    reclaim_enter();
    reclaim_enter();
    reclaim_leave();
    assert_true(reclaim_reading());
    reclaim_leave();
    assert_false(reclaim_reading());
}

static void barrier_releases_all(void **state)
{
    (void)state;
    store_relaxed(&released, 0);
    for (int i = 0; i < 5000; i++) {
        assert_true(reclaim_reserve(1));
        reclaim_retire(make(0), release);
    }
    reclaim_barrier();
    assert_int_equal(released, 5000);
    assert_int_equal(reclaim_backlog(), 0);
}

static void released_without_being_asked(void **state)
{
    (void)state;
    store_relaxed(&released, 0);
    assert_true(reclaim_reserve(1));
    reclaim_retire(make(0), release);
    int64_t until = clock_monotonic() + 20 * MICROS;
    while (load_relaxed(&released) == 0 && clock_monotonic() < until)
        usleep(1000);
    assert_int_equal(load_relaxed(&released), 1);
}

static void nothing_is_released_under_a_reader(void **state)
{
    (void)state;
    store_relaxed(&released, 0);
    assert_true(reclaim_reserve(1));
    reclaim_enter();
    reclaim_retire(make(0), release);
    usleep(250000); /* two rounds of the maintenance thread */
    assert_int_equal(load_relaxed(&released), 0);
    assert_int_equal(reclaim_backlog(), 1);
    reclaim_leave();
    reclaim_barrier();
    assert_int_equal(released, 1);
}

/* Room for a write that reserves within a write that has reserved. */
static void reserved_room_never_allocates(void **state)
{
    (void)state;
    for (unsigned n = 1; n < 3000; n = n * 3 + 1) {
        assert_true(reclaim_reserve(n));
        assert_true(reclaim_reserve(2));
        void *objects[3064];
        for (unsigned i = 0; i < n + 64; i++)
            objects[i] = make(0);
        store_relaxed(&released, 0);
        mem_fail_at(1, true);
        for (unsigned i = 0; i < n + 64; i++)
            reclaim_retire(objects[i], release);
        mem_fail_at(0, false);
        reclaim_barrier();
        assert_int_equal(released, n + 64);
    }
}

/* Out of memory at every allocation of a reserve: refused, and nothing is broken. */
static void refused_without_memory(void **state)
{
    (void)state;
    for (uint64_t n = 1;; n++) {
        mem_fail_at(n, true);
        bool ok = reclaim_reserve(20000);
        mem_fail_at(0, false);
        if (ok)
            break;
        assert_true(n < 100);
    }
    store_relaxed(&released, 0);
    for (int i = 0; i < 20000; i++)
        reclaim_retire(make(0), release);
    reclaim_barrier();
    assert_int_equal(released, 20000);
}

/* ---- tasks ---- */

static uint64_t ticks;

static void count_tick(void *context)
{
    add_relaxed((uint64_t *)context, 1u);
}

static struct reclaim_task own;

static void remove_itself(void *context)
{
    add_relaxed((uint64_t *)context, 1u);
    reclaim_task_remove(&own);
}

static void tasks_tick_until_removed(void **state)
{
    (void)state;
    struct reclaim_task a = {count_tick, &ticks, NULL}, b = {count_tick, &ticks, NULL};
    uint64_t once = 0;
    own = (struct reclaim_task){remove_itself, &once, NULL};
    assert_true(reclaim_reserve(1));
    reclaim_task_add(&a);
    reclaim_task_add(&own);
    reclaim_task_add(&b);
    int64_t until = clock_monotonic() + 20 * MICROS;
    while (load_relaxed(&ticks) < 4 && clock_monotonic() < until)
        usleep(1000);
    assert_true(load_relaxed(&ticks) >= 4);
    reclaim_task_remove(&a);
    reclaim_task_remove(&b);
    uint64_t then = load_relaxed(&ticks);
    usleep(250000);
    assert_int_equal(load_relaxed(&ticks), then);
    assert_int_equal(load_relaxed(&once), 1);
}

/* ---- stress ---- */

enum { SLOTS = 16 };
static struct object *slots[SLOTS];
static bool stop;

static void *reader(void *result)
{
    uint64_t reads = 0, bad = 0, random = (uint64_t)(uintptr_t)&reads;
    while (!load_relaxed(&stop)) {
        reclaim_enter();
        for (int i = 0; i < 50; i++) {
            random = random * 6364136223846793005u + 1;
            struct object *o = take(&slots[random >> 60]); /* ORDER: pairs with the exchange in writer(). */
            if (o->mark != ALIVE || o->version == 0)
                bad++;
            reads++;
        }
        reclaim_leave();
    }
    *(uint64_t *)result = reads;
    return (void *)(uintptr_t)bad;
}

static void *writer(void *unused)
{
    (void)unused;
    for (uint64_t version = 1; !load_relaxed(&stop); version++) {
        struct object *o = mem_alloc(sizeof *o);
        if (o == NULL || !reclaim_reserve(1))
            abort();
        *o = (struct object){ALIVE, version};
        /* RETIRE: unlinked by the exchange; readers that entered before may hold it. */
        reclaim_retire(swap_acq_rel(&slots[version % SLOTS], o), release);
    }
    return NULL;
}

static void no_use_after_release(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < SLOTS; i++)
        slots[i] = make(1);
    stop = false;
    pthread_t readers[2], writers[2];
    uint64_t reads[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&readers[i], NULL, reader, &reads[i]), 0);
        assert_int_equal(pthread_create(&writers[i], NULL, writer, NULL), 0);
    }
    usleep(1500000);
    store_relaxed(&stop, true);
    for (int i = 0; i < 2; i++) {
        void *bad;
        pthread_join(readers[i], &bad);
        pthread_join(writers[i], NULL);
        assert_null(bad);
        assert_true(reads[i] > 0);
    }
    for (int i = 0; i < SLOTS; i++) {
        assert_true(reclaim_reserve(1));
        reclaim_retire(slots[i], release);
    }
    reclaim_barrier();
    assert_int_equal(reclaim_backlog(), 0);
}

static void *retire_one(void *unused)
{
    (void)unused;
    if (!reclaim_reserve(1))
        abort();
    struct object *o = mem_alloc(sizeof *o);
    *o = (struct object){ALIVE, 1};
    reclaim_retire(o, release);
    return NULL;
}

/* The room that an ended thread had reserved is used again: memory does not grow with the number of threads. */
static void ended_threads_leave_nothing(void **state)
{
    (void)state;
    uint64_t used = 0;
    for (int i = 0; i < 300; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, retire_one, NULL), 0);
        pthread_join(thread, NULL);
        if (i == 100) {
            reclaim_barrier();
            used = mem_used();
        }
    }
    reclaim_barrier();
    assert_true(mem_used() <= used + 16384);
}

/* Memory stays bounded: a writer above the bound waits for a grace period instead of adding to the heap. */
static void backlog_is_bounded(void **state)
{
    (void)state;
    store_relaxed(&released, 0);
    uint64_t most = 0;
    for (int i = 0; i < 1500000; i++) {
        struct object *o = mem_alloc(sizeof *o);
        if (o == NULL || !reclaim_reserve(1))
            abort();
        *o = (struct object){ALIVE, 1};
        reclaim_retire(o, release);
        uint64_t backlog = reclaim_backlog();
        most = backlog > most ? backlog : most;
    }
    reclaim_barrier();
    assert_int_equal(released, 1500000);
    assert_true(most <= 1001000);
}

static void a_forked_child_does_nothing(void **state)
{
    (void)state;
    assert_false(reclaim_forked());
    assert_true(reclaim_reserve(1));
    reclaim_retire(make(0), release);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        struct object o = {DEAD, 0};
        reclaim_attach();
        reclaim_enter();
        bool reading = reclaim_reading();
        reclaim_leave();
        bool reserved = reclaim_reserve(1000);
        reclaim_retire(&o, release); /* would abort if it were released */
        reclaim_barrier();
        reclaim_synchronize();
        reclaim_task_add(&own);
        reclaim_task_remove(&own);
        _exit(reclaim_forked() && !reading && reserved ? 0 : 1);
    }
    int outcome;
    assert_int_equal(waitpid(child, &outcome, 0), child);
    assert_true(WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0);
    reclaim_barrier();
    assert_int_equal(reclaim_backlog(), 0);
}

/* A child's exit runs the library's destructor, and must not wait for threads that are not there. */
static void a_forked_child_exits(void **state)
{
    (void)state;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        exit(0);
    }
    int outcome;
    assert_int_equal(waitpid(child, &outcome, 0), child);
    assert_true(WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_nest),
        cmocka_unit_test(barrier_releases_all),
        cmocka_unit_test(released_without_being_asked),
        cmocka_unit_test(nothing_is_released_under_a_reader),
        cmocka_unit_test(reserved_room_never_allocates),
        cmocka_unit_test(refused_without_memory),
        cmocka_unit_test(tasks_tick_until_removed),
        cmocka_unit_test(no_use_after_release),
        cmocka_unit_test(ended_threads_leave_nothing),
        cmocka_unit_test(backlog_is_bounded),
        cmocka_unit_test(a_forked_child_does_nothing),
        cmocka_unit_test(a_forked_child_exits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
