/* SPDX-License-Identifier: MIT */
/* A writer that stands still, at any instant, keeps no reader waiting. A signal stops one writer thread wherever it is (in a lock, between two stores of a
 * row, with a block's sequence word odd, in the middle of a signal's cell) and holds it there until attached readers have each done every read verb
 * several times. Then it goes on. A freeze in which a reader does not come through within seconds is a failure; so is a row that is half of one put and half
 * of another, which a writer that stands still in the middle of one would show to everyone.
 *
 * EAGRE_TEST_SECONDS: how long (10). EAGRE_TEST_SEED: where the random numbers start. */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/publish.h"
#include "effort.h"
#include "host.h"
#include "random.h"

enum { KEYS = 400, READERS = 2, VERBS = 6, FREEZES = 2000, PATIENCE_US = 20 * 1000000 };

static eagre_db *db;
static uint32_t view;
static uint64_t seed;
static bool stop;                       /* atomic, as all below */
static bool held;                       /* the writer stands still */
static int gate[2];                     /* a pipe: a byte lets it go on */
static uint64_t rounds_of[READERS];     /* every verb once, so many times */
static uint64_t writes, longest[VERBS]; /* microseconds of the longest call beside a frozen writer */
static const char *const verbs[VERBS] = {"get", "handle", "count", "run by score", "run by keyword", "run by keys"};

#define wrong(...) (fprintf(stderr, "stress_frozen: " __VA_ARGS__), fprintf(stderr, " (seed %" PRIu64 ")\n", seed), abort())

/* ---- the writer ---- */

/* Runs on the writer's thread, wherever that is. */
static void stand_still(int number)
{
    (void)number;
    char byte;
    publish(&held, true);
    while (read(gate[0], &byte, 1) != 1) {
    }
    publish(&held, false);
}

static void write_one(struct random *r)
{
    static const char *const names[] = {"a", "b", "k", "ks", "t"};
    eagre_error e = {.struct_size = sizeof e};
    eagre_value key = h_uint(below(r, KEYS)), fields[5], values[5], list[2];
    char words[3][16], text[300];
    uint32_t a = below(r, 1000);
    sprintf(words[0], "w%u", a % 30); /* a, b and k are of one number */
    for (int i = 1; i < 3; i++)
        sprintf(words[i], "w%u", below(r, 30));
    list[0] = h_text(words[1]);
    list[1] = h_text(words[2]);
    memset(text, 'x', sizeof text);
    values[0] = h_int(a);
    values[1] = h_real(a);
    values[2] = h_text(words[0]);
    values[3] = h_list(list, below(r, 3));
    values[4] = h_bytes(text, below(r, sizeof text));
    for (int i = 0; i < 5; i++)
        fields[i] = h_text(names[i]);
    eagre_status s;
    switch (below(r, 6)) {
    case 0: s = eagre_delete(db, "row", &key, NULL, 0, &e); break;
    case 1: s = eagre_put(db, "row", &key, 3, fields, values, NULL, 0, EAGRE_PATCH, &e); break;
    case 2: s = eagre_signal_key(db, view, &key, 1, EAGRE_NOW, NULL, NULL, 0, &e); break;
    case 3: s = eagre_signal_key(db, view, &key, 2, 1700000000000000 - (int64_t)below(r, 1u << 30) * 1000, &key, NULL, 0, &e); break;
    default: s = eagre_put(db, "row", &key, 5, fields, values, NULL, 0, 0, &e);
    }
    if (s != EAGRE_OK && s != EAGRE_NOT_FOUND && s != EAGRE_DUPLICATE)
        wrong("%s: %s", eagre_status_name(s), e.text);
}

static void *write_on(void *p)
{
    struct random r = {seed};
    (void)p;
    while (!take(&stop)) {
        write_one(&r);
        add_relaxed(&writes, 1);
        if (below(&r, 5000) == 0)
            eagre_maintain(db, NULL);
    }
    return NULL;
}

/* ---- readers ---- */

/* Rows with a, b and k in columns `first` to `first` + 2, scored by a - b. */
static eagre_status check_rows(eagre_status s, const struct answer *answer, uint32_t first, bool scored)
{
    if (s != EAGRE_OK)
        return s;
    const eagre_result *r = answer_result(answer);
    for (uint32_t row = 0; row < r->n_rows; row++) {
        char word[16];
        size_t n, length = (size_t)sprintf(word, "w%lld", (long long)result_int(r, first, row) % 30);
        const char *text = result_text(r, first + 2, row, &n);
        if (result_real(r, first + 1, row) != (double)result_int(r, first, row) || n != length || memcmp(text, word, n) != 0)
            wrong("a row of two puts");
        if (scored && result_score(r, row) != 0)
            wrong("a row scored by two puts");
    }
    return s;
}

static eagre_status read_verb(unsigned verb, struct random *r, struct answer *a, eagre_stmt *const *statements)
{
    eagre_value key = h_uint(below(r, KEYS)), word, list[4];
    uint64_t n;
    char text[16];
    switch (verb) {
    case 0: return check_rows(answer_get(a, db, "row", &key, NULL), a, 0, false);
    case 1: return eagre_handle(db, "row", &key, NULL, 0, &n, NULL);
    case 2: return eagre_count(db, "row", &n, NULL);
    case 3: return check_rows(answer_run(a, statements[0], NULL, 0, NULL, NULL), a, 1, true);
    case 4:
        word = h_bytes(text, (size_t)sprintf(text, "w%u", below(r, 30)));
        return check_rows(answer_run(a, statements[1], &word, 1, NULL, NULL), a, 0, false);
    default:
        for (int i = 0; i < 4; i++)
            list[i] = h_uint(below(r, KEYS));
        word = h_list(list, 4);
        return check_rows(answer_run(a, statements[2], &word, 1, NULL, NULL), a, 0, false);
    }
}

static void prepare(eagre_stmt **statements)
{
    static const char *const texts[3] = {
        "RETRIEVE row USING a - b WHERE decay(s) >= 0 RETURN key, a, b, k, ks, t, last(s), count(s, 1h) COUNT LIMIT 400",
        "RETRIEVE row ORDER BY t, a DESC WHERE k = ?1 DIVERSITY a 1 PER 3 RETURN a, b, k, t",
        "RETRIEVE row USING sum(s, all) WHERE key IN ?1 RETURN a, b, k, ks",
    };
    for (int i = 0; i < 3; i++)
        if (eagre_prepare(db, texts[i], strlen(texts[i]), &statements[i], NULL) != EAGRE_OK)
            wrong("prepare");
}

static void *read_on(void *p)
{
    uintptr_t me = (uintptr_t)p;
    struct random r = {seed + 77 + me};
    struct answer a = {0};
    eagre_stmt *statements[3];
    prepare(statements);
    if (eagre_attach() != EAGRE_OK)
        wrong("attach");
    while (!take(&stop)) {
        for (unsigned verb = 0; verb < VERBS; verb++) {
            bool before = take(&held);
            int64_t began = clock_monotonic();
            eagre_status s = read_verb(verb, &r, &a, statements);
            uint64_t took = (uint64_t)(clock_monotonic() - began);
            if (s != EAGRE_OK && s != EAGRE_NOT_FOUND)
                wrong("%s: %s", verbs[verb], eagre_status_name(s));
            if (before && took > load_relaxed(&longest[verb]))
                store_relaxed(&longest[verb], took);
        }
        add_seq(&rounds_of[me], 1);
    }
    for (int i = 0; i < 3; i++)
        eagre_finalize(statements[i]);
    answer_free(&a);
    return NULL;
}

/* ---- freezes ---- */

static void wait_until(bool *flag, bool value)
{
    int64_t end = clock_monotonic() + PATIENCE_US;
    for (; take(flag) != value; usleep(20))
        if (clock_monotonic() > end)
            wrong("the writer does not stop or go on");
}

/* All readers do everything twice from beginning to end: the first round may have begun before the freeze. */
static void readers_come_through(void)
{
    uint64_t from[READERS];
    int64_t end = clock_monotonic() + PATIENCE_US;
    for (int i = 0; i < READERS; i++)
        from[i] = load_seq(&rounds_of[i]);
    for (int i = 0; i < READERS; i++)
        while (load_seq(&rounds_of[i]) < from[i] + 2) {
            if (clock_monotonic() > end)
                wrong("reader %d waits for a writer that stands still", i);
            usleep(50);
        }
}

/* Preparing and attaching may wait for a writer, and so may a thread's first allocation: no freeze before these are over. */
static void everyone_has_begun(void)
{
    for (int i = 0; i < READERS; i++)
        while (load_seq(&rounds_of[i]) == 0)
            usleep(50);
    while (load_relaxed(&writes) == 0)
        usleep(50);
}

static void freeze(pthread_t writer)
{
    pthread_kill(writer, SIGUSR1);
    wait_until(&held, true);
    readers_come_through();
    if (write(gate[1], "", 1) != 1)
        wrong("the pipe");
    wait_until(&held, false);
}

static void set_up(void)
{
    static const char schema[] = "CREATE ITEM row (a INTEGER, b REAL, k KEYWORD, ks KEYWORDS, t TEXT) KEY INTEGER;"
                                 "CREATE SIGNAL s ON row HALF LIFE 1d WINDOWS 1h, 24h";
    if (pipe(gate) != 0 || eagre_open(NULL, &db, NULL) != EAGRE_OK || eagre_exec(db, schema, sizeof schema - 1, NULL) != EAGRE_OK ||
        eagre_signal_id(db, "s", "row", &view, NULL) != EAGRE_OK)
        wrong("set up");
    struct sigaction action = {.sa_handler = stand_still, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
}

int main(void)
{
    double seconds = test_seconds(10);
    seed = test_seed();
    printf("stress_frozen: seed %" PRIu64 ", %.0f s\n", seed, seconds);
    pthread_t writer, readers[READERS];
    set_up();
    pthread_create(&writer, NULL, write_on, NULL);
    for (uintptr_t i = 0; i < READERS; i++)
        pthread_create(&readers[i], NULL, read_on, (void *)i);
    everyone_has_begun();
    struct random r = {seed + 5};
    unsigned freezes = 0;
    int64_t end = clock_monotonic() + (int64_t)(seconds * 1e6);
    for (; clock_monotonic() < end && (freezes < FREEZES || seconds > 10); freezes++) {
        struct timespec pause = {.tv_nsec = below(&r, 300000)};
        nanosleep(&pause, NULL);
        freeze(writer);
    }
    publish(&stop, true);
    pthread_join(writer, NULL);
    uint64_t read = 0;
    for (int i = 0; i < READERS; i++) {
        pthread_join(readers[i], NULL);
        read += rounds_of[i] * VERBS;
    }
    eagre_error e = {.struct_size = sizeof e};
    if (eagre_validate(db, &e) != EAGRE_OK)
        wrong("%s", e.text);
    eagre_close(db);
    printf("%u freezes, %" PRIu64 " reads, %" PRIu64 " writes; longest read beside a frozen writer, in microseconds:", freezes, read,
           writes);
    for (int i = 0; i < VERBS; i++)
        printf(" %s %" PRIu64, verbs[i], longest[i]);
    printf("\n");
    if (freezes == 0 || writes == 0)
        wrong("something was never tried");
    return 0;
}
