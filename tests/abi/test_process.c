/* SPDX-License-Identifier: MIT */
/* The library in a process that forks, that makes and ends threads, and that closes things while others use them. */
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "host.h"

#ifdef EAGRE_TSAN /* it takes 25 times as long there */
enum { MANY_THREADS = 300, FORKS = 30, CLOSES = 15 };
#else
enum { MANY_THREADS = 10000, FORKS = 100, CLOSES = 50 };
#endif

static eagre_db *db;
static eagre_stmt *stmt;
static uint32_t view;
static const char question[] = "RETRIEVE film USING decay(view) RETURN title LIMIT 5";

static int64_t clock_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static void put(eagre_db *to, const char *key)
{
    eagre_value k = h_text(key), field = h_text("title"), value = h_text(key);
    assert_int_equal(eagre_put(to, "film", &k, 1, &field, &value, NULL, 0, 0, NULL), EAGRE_OK);
}

static eagre_db *open_films(void)
{
    static const char schema[] = "CREATE ITEM film (title TEXT, until TIME EXPIRES); CREATE SIGNAL view ON film HALF LIFE 7d WINDOWS 24h";
    eagre_db *made;
    assert_int_equal(eagre_open(NULL, &made, NULL), EAGRE_OK);
    assert_int_equal(eagre_exec(made, schema, strlen(schema), NULL), EAGRE_OK);
    put(made, "a");
    put(made, "b");
    return made;
}

static int begin(void **state)
{
    (void)state;
    db = open_films();
    return eagre_prepare(db, question, strlen(question), &stmt, NULL) || eagre_signal_id(db, "view", NULL, &view, NULL);
}

static int end(void **state)
{
    (void)state;
    return eagre_validate(db, NULL) || eagre_finalize(stmt) || eagre_close(db);
}

/* One question, a put, an event, a read: what a thread of a host does. */
static bool use(void)
{
    char block[2048] __attribute__((aligned(8)));
    size_t needed;
    eagre_value key = h_text("a");
    return eagre_run(stmt, NULL, 0, NULL, 0, NULL, block, sizeof block, &needed, NULL) == EAGRE_OK &&
           eagre_signal_key(db, view, &key, 1, EAGRE_NOW, NULL, NULL, 0, NULL) == EAGRE_OK &&
           eagre_get(db, "film", &key, NULL, 0, block, sizeof block, &needed, NULL) == EAGRE_OK;
}

/* ---- fork ---- */

static int failed_in_child(const char *what)
{
    fprintf(stderr, "in the child: %s\n", what);
    return 1;
}

#define forked(call) ((call) == EAGRE_FORKED ? 0 : failed_in_child(#call))

/* Every call says that the handle belongs to another process, and does nothing. */
static int child_calls(void)
{
    eagre_value key = h_text("a"), id = h_int(1);
    eagre_column column = {.type = EAGRE_COLUMN_VALUES, .at = (uintptr_t)&key, .nulls_at = EAGRE_NO_NULLS};
    eagre_error e = {.struct_size = sizeof e};
    char block[512] __attribute__((aligned(8)));
    eagre_db *other_db = NULL;
    eagre_stmt *other = NULL;
    uint64_t n;
    uint32_t signal;
    size_t needed;
    int faults = forked(eagre_attach()) + forked(eagre_open(NULL, &other_db, &e)) + forked(eagre_set_clock(db, 0, &e)) +
                 forked(eagre_exec(db, "DROP ITEM film", 14, &e)) + forked(eagre_prepare(db, question, strlen(question), &other, &e)) +
                 forked(eagre_run(stmt, NULL, 0, NULL, 0, NULL, block, sizeof block, &needed, &e)) +
                 forked(eagre_put(db, "film", &key, 0, NULL, NULL, NULL, 0, 0, &e)) +
                 forked(eagre_put_many(db, "film", 1, &column, 0, NULL, NULL, NULL, 0, 0, &n, &e)) +
                 forked(eagre_delete(db, "film", &key, NULL, 0, &e)) +
                 forked(eagre_get(db, "film", &key, NULL, 0, block, sizeof block, &needed, &e)) + forked(eagre_count(db, "film", &n, &e)) +
                 forked(eagre_signal_id(db, "view", NULL, &signal, &e)) + forked(eagre_handle(db, "film", &key, NULL, 0, &n, &e)) +
                 forked(eagre_signal(db, view, 1, 1, EAGRE_NOW, &e)) +
                 forked(eagre_signal_key(db, view, &key, 1, EAGRE_NOW, NULL, NULL, 0, &e)) +
                 forked(eagre_signal_key(db, view, &key, 1, EAGRE_NOW, &id, NULL, 0, &e)) +
                 forked(eagre_signal_many(db, view, 1, NULL, &column, NULL, NULL, NULL, NULL, 0, &n, &e)) +
                 forked(eagre_schema(db, block, sizeof block, &needed, &e)) + forked(eagre_stats(db, block, sizeof block, &needed, &e)) +
                 forked(eagre_maintain(db, &e)) + forked(eagre_validate(db, &e)) + forked(eagre_finalize(stmt)) + forked(eagre_close(db)) +
                 forked(eagre_close(db));
    if (other_db != NULL || other != NULL)
        faults += failed_in_child("something was made");
    if (eagre_abi_version() != EAGRE_ABI_VERSION || eagre_status_name(EAGRE_FORKED)[0] == 0)
        faults += failed_in_child("the version");
    return faults;
}

/* The child's exit code; a child that hangs is killed. */
static int wait_for(pid_t child)
{
    int status;
    for (int64_t end_at = clock_us() + 20000000; clock_us() < end_at; usleep(500))
        if (waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return 127;
}

static bool stop;

static void *use_on(void *unused)
{
    (void)unused;
    for (unsigned i = 0; !__atomic_load_n(&stop, __ATOMIC_ACQUIRE); i++) {
        char key[16];
        snprintf(key, sizeof key, "k%u", i % 100);
        put(db, key);
        if (!use())
            abort();
    }
    return NULL;
}

/* What threads of the parent were in the middle of is nobody's in the child, which a leak checker would report. */
#if defined(__SANITIZE_ADDRESS__)
#    define LEAK_CHECK_AT_EXIT 1
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer)
#        define LEAK_CHECK_AT_EXIT 1
#    endif
#endif
#ifndef LEAK_CHECK_AT_EXIT
#    define LEAK_CHECK_AT_EXIT 0
#endif

/* Forks at any moment, while other threads are in the middle of everything; every other child ends by exit, with its handlers. */
static void test_fork(void **state)
{
    (void)state;
    pthread_t threads[2];
    __atomic_store_n(&stop, false, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_on, NULL), 0);
    for (int i = 0; i < FORKS; i++) {
        fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            int faults = child_calls();
            if (i % 2 || LEAK_CHECK_AT_EXIT)
                _exit(faults);
            exit(faults);
        }
        int code = wait_for(child);
        if (code != 0)
            fail_msg("fork %d: the child ended with %d", i, code);
        assert_true(use());
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(eagre_maintain(db, NULL), EAGRE_OK);
    assert_int_equal(eagre_validate(db, NULL), EAGRE_OK);
}

/* A child that does not touch the library is nobody's business, nor is a grandchild. */
static void test_fork_of_a_fork(void **state)
{
    (void)state;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        pid_t grandchild = fork();
        if (grandchild == 0)
            _exit(child_calls());
        _exit(wait_for(grandchild));
    }
    assert_int_equal(wait_for(child), 0);
}

/* ---- threads come and go ---- */

static void *use_once(void *arg)
{
    if (arg != NULL && eagre_attach() != EAGRE_OK)
        return (void *)1;
    return use() ? NULL : (void *)1;
}

static uint64_t memory_used(void)
{
    static char json[1 << 16];
    size_t needed;
    assert_int_equal(eagre_stats(db, json, sizeof json - 1, &needed, NULL), EAGRE_OK);
    json[needed] = 0;
    return strtoull(strchr(json, ':') + 1, NULL, 10); /* memory_used comes first */
}

static void test_threads_come_and_go(void **state)
{
    (void)state;
    const char *text = getenv("EAGRE_TEST_THREADS");
    unsigned n = text != NULL ? (unsigned)atoi(text) : MANY_THREADS;
    uint64_t before = 0;
    for (unsigned i = 0; i < n; i += 4) {
        pthread_t threads[4];
        for (unsigned j = 0; j < 4; j++)
            assert_int_equal(pthread_create(&threads[j], NULL, use_once, j % 2 ? &n : NULL), 0);
        for (unsigned j = 0; j < 4; j++) {
            void *wrong;
            pthread_join(threads[j], &wrong);
            assert_null(wrong);
        }
        if (i / 4 == n / 40)
            before = memory_used();
    }
    uint64_t after = memory_used();
    print_message("%u threads; %llu bytes in use after a tenth of them, %llu at the end\n", n, (unsigned long long)before,
                  (unsigned long long)after);
    assert_true(after < before + (1 << 20));
}

/* ---- close beside calls ---- */

static eagre_db *shared;
static eagre_stmt *shared_stmt;
static bool open_for_use;
static uint64_t answers, closed;

/* Every kind of call until all say closed. */
static void *call_until_closed(void *which)
{
    char block[4096] __attribute__((aligned(8)));
    eagre_value key = h_text("a"), field = h_text("title"), value = h_text("x");
    size_t needed;
    uint32_t signal = view;
    uint64_t n, handle;
    eagre_status s = EAGRE_OK;
    while (!__atomic_load_n(&open_for_use, __ATOMIC_ACQUIRE))
        sched_yield();
    while (s != EAGRE_CLOSED) {
        switch ((uintptr_t)which % 6) {
        case 0: s = eagre_run(shared_stmt, NULL, 0, NULL, 0, NULL, block, sizeof block, &needed, NULL); break;
        case 1: s = eagre_put(shared, "film", &key, 1, &field, &value, NULL, 0, 0, NULL); break;
        case 2: s = eagre_signal_key(shared, signal, &key, 1, EAGRE_NOW, NULL, NULL, 0, NULL); break;
        case 3: s = eagre_get(shared, "film", &key, NULL, 0, block, sizeof block, &needed, NULL); break;
        case 4:
            s = eagre_handle(shared, "film", &key, NULL, 0, &handle, NULL);
            if (s == EAGRE_OK)
                s = eagre_signal(shared, signal, handle, 1, EAGRE_NOW, NULL);
            break;
        default:
            s = eagre_count(shared, "film", &n, NULL);
            if (s == EAGRE_OK)
                s = eagre_stats(shared, block, sizeof block, &needed, NULL);
        }
        if (s != EAGRE_OK && s != EAGRE_CLOSED) {
            fprintf(stderr, "%s\n", eagre_status_name(s));
            abort();
        }
        __atomic_fetch_add(s == EAGRE_OK ? &answers : &closed, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void *close_it(void *unused)
{
    (void)unused;
    return (void *)(intptr_t)eagre_close(shared);
}

/* Two threads close at once: one does, the other hears that it is closed. All calls in progress come to a good end. */
static void test_close_beside_calls(void **state)
{
    (void)state;
    enum { CALLERS = 6 };
    for (int round = 0; round < CLOSES; round++) {
        pthread_t callers[CALLERS], closers[2];
        shared = open_films();
        assert_int_equal(eagre_prepare(shared, question, strlen(question), &shared_stmt, NULL), EAGRE_OK);
        __atomic_store_n(&open_for_use, false, __ATOMIC_RELEASE);
        for (uintptr_t i = 0; i < CALLERS; i++)
            assert_int_equal(pthread_create(&callers[i], NULL, call_until_closed, (void *)i), 0);
        __atomic_store_n(&open_for_use, true, __ATOMIC_RELEASE);
        usleep((useconds_t)(round * 100));
        void *result[2];
        for (int i = 0; i < 2; i++)
            assert_int_equal(pthread_create(&closers[i], NULL, close_it, NULL), 0);
        for (int i = 0; i < 2; i++)
            pthread_join(closers[i], &result[i]);
        assert_true((intptr_t)result[0] + (intptr_t)result[1] == EAGRE_CLOSED && ((intptr_t)result[0] == 0 || (intptr_t)result[1] == 0));
        for (int i = 0; i < CALLERS; i++)
            pthread_join(callers[i], NULL);
        assert_int_equal(eagre_finalize(shared_stmt), EAGRE_OK); /* after the close: the last reference goes */
        assert_int_equal(eagre_finalize(shared_stmt), EAGRE_CLOSED);
    }
    print_message("%llu answers, %llu calls on what was closed\n", (unsigned long long)answers, (unsigned long long)closed);
}

static void test_finalize_after_close(void **state)
{
    (void)state;
    eagre_db *one = open_films();
    eagre_stmt *before, *after, *change;
    char block[512] __attribute__((aligned(8)));
    size_t needed;
    assert_int_equal(eagre_prepare(one, question, strlen(question), &before, NULL), EAGRE_OK);
    assert_int_equal(eagre_prepare(one, question, strlen(question), &after, NULL), EAGRE_OK);
    assert_int_equal(eagre_prepare(one, "DROP ITEM film", 14, &change, NULL), EAGRE_OK);
    assert_int_equal(eagre_finalize(before), EAGRE_OK);
    assert_int_equal(eagre_close(one), EAGRE_OK);
    assert_int_equal(eagre_run(after, NULL, 0, NULL, 0, NULL, block, sizeof block, &needed, NULL), EAGRE_CLOSED);
    assert_int_equal(eagre_run(change, NULL, 0, NULL, 0, NULL, block, sizeof block, &needed, NULL), EAGRE_CLOSED);
    assert_int_equal(eagre_finalize(after), EAGRE_OK);
    assert_int_equal(eagre_finalize(change), EAGRE_OK);
    assert_int_equal(eagre_close(one), EAGRE_CLOSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_fork_of_a_fork),
        cmocka_unit_test(test_threads_come_and_go),
        cmocka_unit_test(test_close_beside_calls),
        cmocka_unit_test(test_finalize_after_close),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
