/* SPDX-License-Identifier: MIT */
/* Churn with a constant live set: items come and go, change their size, gather events and lose them with their item, schemas' signals come and go, statements
 * are prepared and forgotten, and memory stays where it is. What ships is measured: the shared library with its allocator, loaded by EAGRE_LIBRARY, by the
 * pages the process has. It goes up and down by itself (dead keys are taken out in lots, histories gather), so what is compared is the most that ten rounds
 * in a row had: the last ten at most 1.02 times the ten after the first ten
 * (1.10 before five million operations: so long it takes until all is at rest). The allocator's pages go up and down by a few per
 * cent from round to round, so one stretch of rounds that ends higher may be chance: another follows, with its own first ten.
 * A leak makes every stretch grow; what grows in STRETCHES of them in a row is one.
 *
 * EAGRE_TEST_SECONDS: how long (10). EAGRE_TEST_SEED: where the random numbers start. */
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/publish.h"
#include "effort.h"
#include "host.h"
#include "random.h"

enum { LIVE = 500, STILL = 60000, WRITERS = 2, STRETCHES = 4, ROUNDS = 50, WARM = 10, TURNS = 3, SPAN = 10, WORDS = 300 };

/* The library's functions: never the ones that this program is linked to. */
#define FUNCTIONS(X)                                                                                                             \
    X(open)                                                                                                                      \
    X(close)                                                                                                                     \
    X(exec) X(prepare) X(finalize) X(run) X(put) X(delete) X(count) X(signal_id) X(signal_many) X(stats) X(maintain) X(validate) \
        X(set_clock)
static struct {
#define X(name) __typeof__(&eagre_##name) name;
    FUNCTIONS(X)
#undef X
} lib;

static eagre_db *db;
static uint32_t view;
static uint64_t seed, operations, replaced; /* the last two: atomic */
static int64_t now;
static bool stop, over; /* atomic: of a round, of all */
static pthread_barrier_t begins, ends;
static struct {
    uint64_t key, n;
} living[LIVE]; /* the key that stands at each place; each writer has its own places */

#define wrong(...) (fprintf(stderr, "stress_churn: " __VA_ARGS__), fprintf(stderr, " (seed %" PRIu64 ")\n", seed), abort())

static int64_t clock_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

/* Sanitizers keep what was freed, and may not follow what is loaded late: there the functions linked in are as good. */
#if defined(__SANITIZE_ADDRESS__) || defined(EAGRE_TSAN)
#    define SANITIZED 1
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer)
#        define SANITIZED 1
#    endif
#endif

#ifdef SANITIZED
static void load(void)
{
#    define X(name) lib.name = eagre_##name;
    FUNCTIONS(X)
#    undef X
}
#else
#    define SANITIZED 0
static void load(void)
{
    const char *path = getenv("EAGRE_LIBRARY");
    void *library = path != NULL ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library == NULL)
        wrong("EAGRE_LIBRARY: %s", path != NULL ? dlerror() : "not set");
#    define X(name)                                           \
        *(void **)&lib.name = dlsym(library, "eagre_" #name); \
        if (lib.name == NULL)                                 \
            wrong("no eagre_" #name);
    FUNCTIONS(X)
#    undef X
}
#endif

static void right(eagre_status s, const eagre_error *e)
{
    if (s != EAGRE_OK)
        wrong("%d: %s", s, e->text);
}

/* ---- changes ---- */

static eagre_value key_of(uint64_t key, char out[32])
{
    return h_bytes(out, (size_t)sprintf(out, "%.*s%" PRIu64, (int)(key % 9), "--------", key));
}

static void put(struct random *r, uint64_t key, bool patch)
{
    static const char *const names[] = {"title", "director", "genres", "n", "f", "look"};
    char key_text[32], title[400], words[4][16];
    float look[4] = {1, 2, 3, (float)below(r, 9)};
    eagre_value list[3], fields[6], values[6], k = key_of(key, key_text);
    eagre_error e = {.struct_size = sizeof e};
    for (int i = 0; i < 4; i++)
        sprintf(words[i], "word%u", below(r, WORDS));
    for (int i = 0; i < 3; i++)
        list[i] = h_text(words[i]);
    memset(title, 'a' + (int)(key % 26), sizeof title);
    values[0] = h_bytes(title, below(r, sizeof title));
    values[1] = h_text(words[3]);
    values[2] = h_list(list, below(r, 4));
    values[3] = h_int((int64_t)key);
    values[4] = h_real((double)below(r, 1000) / 3);
    values[5] = below(r, 3) ? h_null() : h_vector(look, 4);
    for (int i = 0; i < 6; i++)
        fields[i] = h_text(names[i]);
    right(lib.put(db, "film", &k, patch ? 1 + below(r, 6) : 6, fields, values, NULL, 0, patch ? EAGRE_PATCH : 0, &e), &e);
}

static void replace(struct random *r, uint32_t place, uint32_t writer)
{
    char text[32];
    eagre_error e = {.struct_size = sizeof e};
    eagre_value k = key_of(living[place].key, text);
    if (living[place].n++ != 0)
        right(lib.delete(db, "film", &k, NULL, 0, &e), &e);
    /* Half of them are new for ever, half have been there before. */
    living[place].key = living[place].n % 2 ? place : place + (uint64_t)LIVE * (WRITERS * living[place].n + writer);
    put(r, living[place].key, false);
}

/* 32 events on 32 items; some of another time. */
static void send(struct random *r)
{
    char texts[32][32];
    eagre_value keys[32];
    int64_t times[32];
    eagre_column column = {.type = EAGRE_COLUMN_VALUES, .at = (uintptr_t)keys, .nulls_at = EAGRE_NO_NULLS};
    eagre_error e = {.struct_size = sizeof e};
    int64_t base = load_relaxed(&now);
    for (int i = 0; i < 32; i++) {
        uint32_t place = below(r, LIVE / WRITERS) * WRITERS + (uint32_t)(r->state >> 60 & 1);
        keys[i] = key_of(load_relaxed(&living[place].key), texts[i]);
        times[i] = base - (int64_t)below(r, 7200) * 1000000;
    }
    eagre_status s = lib.signal_many(db, view, 32, NULL, &column, NULL, times, NULL, NULL, 0, NULL, &e);
    if (s != EAGRE_NOT_FOUND) /* the other writer's may just have gone */
        right(s, &e);
}

/* The threads of a host live on; between rounds they wait. False: it is all over. */
static bool in_round(void)
{
    if (!take(&stop))
        return true;
    pthread_barrier_wait(&ends);
    pthread_barrier_wait(&begins);
    return !take(&over);
}

static void *write_on(void *p)
{
    uint32_t writer = (uint32_t)(uintptr_t)p;
    struct random r = {seed + ((uint64_t)writer << 60) + (uint64_t)writer * 1000003 + (uint64_t)clock_us()};
    while (in_round()) {
        for (int i = 0; i < 20; i++)
            replace(&r, below(&r, LIVE / WRITERS) * WRITERS + writer, writer);
        for (int i = 0; i < 40; i++)
            put(&r, living[below(&r, LIVE / WRITERS) * WRITERS + writer].key, true);
        send(&r);
        send(&r);
        add_relaxed(&operations, 20 * 2 + 40 + 64);
        add_relaxed(&replaced, 20);
    }
    return NULL;
}

/* Answers, statements and schema changes that leave nothing behind. */
static void *read_on(void *p)
{
    static char block[1 << 20] __attribute__((aligned(8)));
    static const char question[] =
        "RETRIEVE film USING decay(view) + f WHERE director = ?1 OR n > 5 DIVERSITY director 1 PER 3 RETURN title, genres LIMIT 30";
    eagre_error e = {.struct_size = sizeof e};
    (void)p;
    for (unsigned i = 0; in_round(); i++) {
        eagre_stmt *stmt;
        size_t needed;
        eagre_value word = h_text("word7");
        right(lib.prepare(db, question, sizeof question - 1, &stmt, &e), &e);
        for (int j = 0; j < 5; j++)
            right(lib.run(stmt, &word, 1, NULL, 0, NULL, block, sizeof block, &needed, &e), &e);
        lib.finalize(stmt);
        add_relaxed(&operations, 7);
        if (i % 16 == 0) { /* profiles may change for ever; signals and kinds are numbered and must not */
            static const char change[] = "CREATE PROFILE mine ON film AS f + 1; ALTER PROFILE mine ON film AS f; DROP PROFILE mine ON film";
            right(lib.exec(db, change, sizeof change - 1, &e), &e);
        }
        usleep(1000);
    }
    return NULL;
}

/* ---- rounds ---- */

static uint64_t resident(void)
{
    unsigned long pages = 0, all;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%lu %lu", &all, &pages) != 2)
        wrong("/proc/self/statm");
    fclose(f);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t counted(void)
{
    static char json[1 << 16];
    size_t needed;
    eagre_error e = {.struct_size = sizeof e};
    right(lib.stats(db, json, sizeof json - 1, &needed, &e), &e);
    json[needed] = 0;
    return strtoull(strchr(json, ':') + 1, NULL, 10); /* memory_used comes first */
}

static void run_round(int64_t us)
{
    eagre_error e = {.struct_size = sizeof e};
    publish(&stop, false);
    pthread_barrier_wait(&begins);
    uint64_t enough =
        load_relaxed(&replaced) + (SANITIZED ? 1 : TURNS) * LIVE; /* also on a slow machine every item is another one after a round */
    usleep((useconds_t)us);
    while (load_relaxed(&replaced) < enough)
        usleep(1000);
    publish(&stop, true);
    pthread_barrier_wait(&ends);
    store_relaxed(&now, now + 60 * 1000000LL);
    right(lib.set_clock(db, now, &e), &e);
    right(lib.maintain(db, &e), &e);
    seed += 1000000007;
}

/* Bytes for a million operations, by least squares over the rounds after the first ones. */
static double slope(const uint64_t *bytes, const uint64_t *done)
{
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = WARM; i < ROUNDS; i++) {
        double x = (double)done[i] / 1e6, y = (double)bytes[i];
        n += 1;
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    double spread = n * sxx - sx * sx;
    return spread > 0 ? (n * sxy - sx * sy) / spread : 0;
}

static void set_up(void)
{
    static const char schema[] = "CREATE ITEM film (title TEXT, director KEYWORD, genres KEYWORDS, n INTEGER, f REAL, look VECTOR(4));"
                                 "CREATE SIGNAL view ON film HALF LIFE 1h WINDOWS 1h, 24h";
    eagre_options o = {.struct_size = sizeof o, .flags = EAGRE_OPEN_MANUAL_CLOCK, .now = now};
    eagre_error e = {.struct_size = sizeof e};
    struct random r = {seed};
    right(lib.open(&o, &db, &e), &e);
    right(lib.exec(db, schema, sizeof schema - 1, &e), &e);
    right(lib.signal_id(db, "view", NULL, &view, &e), &e);
    for (uint32_t place = 0; place < LIVE; place++)
        replace(&r, place, place % WRITERS);
    for (uint64_t i = 0; i < STILL; i++) /* that stay as they are, as most of a database does */
        put(&r, (1ull << 62) + i, false);
}

static uint64_t most(const uint64_t *of)
{
    uint64_t m = 0;
    for (int i = 0; i < SPAN; i++)
        m = of[i] > m ? of[i] : m;
    return m;
}

/* Says how it went; false: there is more and more. */
static bool steady(const char *what, const uint64_t *bytes, const uint64_t *done)
{
    uint64_t early = most(bytes + WARM), late = most(bytes + ROUNDS - SPAN);
    printf("%s: %" PRIu64 " bytes at most in rounds %d to %d, %" PRIu64
           " in the last %d: %.4f times, slope %.0f bytes per million operations\n",
           what, early, WARM + 1, WARM + SPAN, late, SPAN, (double)late / (double)early, slope(bytes, done));
    return (double)late <= (load_relaxed(&operations) >= 5000000 ? 1.02 : 1.10) * (double)early;
}

/* Rounds for so many seconds; false: the process ends them with more than it began with. */
static bool run_stretch(double seconds)
{
    static uint64_t pages[ROUNDS], bytes[ROUNDS], done[ROUNDS];
    int64_t began = clock_us();
    for (int i = 0; i < ROUNDS; i++) {
        int64_t left = (int64_t)(seconds * 1e6) - (clock_us() - began);
        run_round(left > 0 ? left / (ROUNDS - i) : 1000);
        pages[i] = resident();
        bytes[i] = counted();
        done[i] = load_relaxed(&operations);
    }
    printf("%" PRIu64 " operations\n", load_relaxed(&operations));
    if (!steady("counted by the engine", bytes, done))
        wrong("the engine holds more and more");
    return steady("pages of the process", pages, done) || SANITIZED;
}

int main(void)
{
    double seconds = test_seconds(10);
    pthread_t threads[WRITERS + 1];
    uint64_t count = 0;
    eagre_error e = {.struct_size = sizeof e};
    seed = test_seed();
    setvbuf(stdout, NULL, _IOLBF, 0); /* what was measured is said even if it is wrong */
    printf("stress_churn: seed %" PRIu64 ", %.0f s\n", seed, seconds);
    load();
    now = 1700000000000000;
    set_up();
    pthread_barrier_init(&begins, NULL, WRITERS + 2);
    pthread_barrier_init(&ends, NULL, WRITERS + 2);
    publish(&stop, true);
    for (uintptr_t i = 0; i < WRITERS; i++)
        pthread_create(&threads[i], NULL, write_on, (void *)i);
    pthread_create(&threads[WRITERS], NULL, read_on, NULL);
    pthread_barrier_wait(&ends);
    int stretch = 1;
    while (!run_stretch(seconds))
        if (stretch++ == STRETCHES)
            wrong("the process has more and more pages");
    publish(&over, true);
    pthread_barrier_wait(&begins);
    for (int i = 0; i <= WRITERS; i++)
        pthread_join(threads[i], NULL);
    right(lib.validate(db, &e), &e);
    right(lib.count(db, "film", &count, &e), &e);
    if (count != LIVE + STILL)
        wrong("%" PRIu64 " items live instead of %d", count, LIVE + STILL);
    right(lib.close(db), &e);
    return 0;
}
