/* SPDX-License-Identifier: MIT */
/* Reads checked by what they read. Every row is made of its key and its version alone, so whoever reads one knows what all of it must be; and which versions
 * it may have is known too: each key is written by one thread, which says before and after each change which one it is.
 *
 *     writer   begun[key] = n; the n-th change of the key; done[key] = n         what the n-th change does follows from (key, n)
 *     reader   low = done[key]; read; high = begun[key]                          the row is of a version from low to high; so is "not found"
 *
 * All read verbs of the interface at full speed, beside puts, patches, deletes, puts in batches and events; in rounds with many and few keys, integers
 * and strings, and with hashes that collide on purpose. Events of a key weigh a prime of its own: a sum that is no multiple of it has seen another item's.
 *
 * EAGRE_TEST_SECONDS: how long (10). EAGRE_TEST_SEED: where the random numbers start. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/publish.h"
#include "effort.h"
#include "host.h"
#include "random.h"

enum { MAX_KEYS = 20000, WRITERS = 2, READERS = 3, ROUND_MS = 500, WORDS = 37, DIMENSION = 4, BATCH = 16 };
enum column { K, A, BASE, B, W, WS, T, X, C, COLUMNS };
static const char *const names[COLUMNS] = {"k", "a", "base", "b", "w", "ws", "t", "x", "c"};
static const char schema[] = "(k INTEGER, a INTEGER, base INTEGER, b REAL, w KEYWORD, ws KEYWORDS, t TEXT, x VECTOR(4), c TIME) KEY";
static const char returned[] = "RETURN k, a, base, b, w, ws, t, x, c, sum(s, all), decay(s)";
enum { SUM = COLUMNS, DECAY };

struct round {
    uint32_t keys;
    uint64_t degrade;
    bool text;
};
static const struct round rounds[] = {
    {2000, 0, false},  {2000, 0, true}, {40, 0, false},    {500, 3, true},   {500, 3, false},
    {20000, 0, false}, {3, 1, true},    {3000, 64, false}, {20000, 0, true},
};

static const struct round *round_now;
static eagre_db *db;
static uint32_t signal_number;
static uint64_t seed;
static bool stop;                                                                       /* atomic */
static uint64_t begun[MAX_KEYS], done[MAX_KEYS];                                        /* atomic: numbers of changes, see above */
static uint64_t gets, missing, rows_checked, absences, events, changes, answers, twice; /* atomic counts */

#define wrong(...) (fprintf(stderr, "stress_reads: " __VA_ARGS__), fprintf(stderr, " (seed %" PRIu64 ")\n", seed), abort())

/* ---- what (key, n) makes ---- */

static uint64_t mark(uint32_t key, uint64_t n)
{
    return mix64(((uint64_t)key << 32) + n);
}

enum what { DELETE, PUT, PATCH };

static enum what change_of(uint32_t key, uint64_t n)
{
    if (n == 0 || mark(key, n) % 8 == 0)
        return DELETE;
    return mark(key, n) % 8 < 4 && change_of(key, n - 1) != DELETE ? PATCH : PUT;
}

/* Which change the field that patches leave alone is of. */
static uint64_t base_of(uint32_t key, uint64_t n)
{
    while (change_of(key, n) == PATCH)
        n--;
    return n;
}

static double weight_of(uint32_t key)
{
    static const uint16_t primes[] = {1009, 1013, 1019, 1021, 1031, 1033, 1039, 1049, 1051, 1061, 1063, 1069, 1087, 1091, 1093, 1097};
    return primes[mix64(key) % 16];
}

struct made {
    char word[16], words[3][16], text[80];
    float x[DIMENSION];
    eagre_value list[3];
};

static uint32_t text_of(uint64_t h, char out[80])
{
    uint32_t length = 8 * (uint32_t)(1 + h % 9);
    for (uint32_t at = 0; at < length; at += 8)
        snprintf(out + at, 9, "%08x", (uint32_t)(h >> 32));
    return length;
}

static void make_row(uint32_t key, uint64_t n, struct made *m, eagre_value values[COLUMNS])
{
    uint64_t h = mark(key, n);
    sprintf(m->word, "w%u", (unsigned)(h % WORDS));
    for (uint64_t i = 0; i < h / 64 % 4; i++) {
        sprintf(m->words[i], "v%u", (unsigned)((h + i) % WORDS));
        m->list[i] = h_text(m->words[i]);
    }
    for (int i = 0; i < DIMENSION; i++)
        m->x[i] = (float)(h >> 8 * i & 0xffff);
    values[K] = h_int(key);
    values[A] = h_int((int64_t)n);
    values[B] = h_real((double)(h >> 11));
    values[W] = h_text(m->word);
    values[WS] = h_list(m->list, (uint32_t)(h / 64 % 4));
    values[T] = h_bytes(m->text, text_of(h, m->text));
    values[X] = h_vector(m->x, DIMENSION);
    values[C] = h_time((int64_t)(h >> 20));
    values[BASE] = h_int((int64_t)n);
}

static eagre_value key_value(uint32_t key, char out[24])
{
    return round_now->text ? h_bytes(out, (size_t)sprintf(out, "key-%u", key)) : h_uint(mix64(key));
}

/* ---- is it the row of (key, n)? ---- */

static bool same_text(const eagre_result *r, uint32_t column, uint32_t row, const char *text, size_t length)
{
    size_t n;
    const char *found = result_text(r, column, row, &n);
    return n == length && memcmp(found, text, n) == 0;
}

static bool same_words(const eagre_result *r, uint32_t row, uint64_t h)
{
    const eagre_result_column *c = result_column(r, WS);
    const uint64_t *lists = result_at(r, c->data_at), *offsets = result_at(r, c->list_at);
    const char *bytes = result_at(r, c->bytes_at);
    if (lists[row + 1] - lists[row] != h / 64 % 4)
        return false;
    for (uint64_t i = lists[row]; i < lists[row + 1]; i++) {
        char word[16];
        size_t n = (size_t)sprintf(word, "v%u", (unsigned)((h + (i - lists[row])) % WORDS));
        if (offsets[i + 1] - offsets[i] != n || memcmp(bytes + offsets[i], word, n) != 0)
            return false;
    }
    return true;
}

static bool same_vector(const eagre_result *r, uint32_t row, uint64_t h)
{
    const float *x = (const float *)result_at(r, result_column(r, X)->data_at) + (size_t)row * DIMENSION;
    for (int i = 0; i < DIMENSION; i++)
        if (x[i] != (float)(h >> 8 * i & 0xffff))
            return false;
    return true;
}

/* The version of a row, all of whose fields are of that version. */
static uint64_t check_row(const eagre_result *r, uint32_t row, uint32_t *key)
{
    char text[80], word[24];
    *key = (uint32_t)result_int(r, K, row);
    uint64_t n = (uint64_t)result_int(r, A, row), h = mark(*key, n);
    if (*key >= round_now->keys || change_of(*key, n) == DELETE)
        wrong("a row of key %u, version %" PRIu64 ", which nobody made", *key, n);
    if (result_real(r, B, row) != (double)(h >> 11) || result_int(r, C, row) != (int64_t)(h >> 20) ||
        result_int(r, BASE, row) != (int64_t)base_of(*key, n) ||
        !same_text(r, W, row, word, (size_t)sprintf(word, "w%u", (unsigned)(h % WORDS))) || !same_words(r, row, h) ||
        !same_text(r, T, row, text, text_of(h, text)) || !same_vector(r, row, h))
        wrong("a row of key %u, version %" PRIu64 " has fields of another", *key, n);
    size_t length;
    if (!round_now->text && result_number_key(r, row) != mix64(*key))
        wrong("key %" PRIu64 " has a row of key %u", result_number_key(r, row), *key);
    if (round_now->text) {
        const char *found = result_key(r, row, &length);
        if (length != (size_t)sprintf(word, "key-%u", *key) || memcmp(found, word, length) != 0)
            wrong("key '%.*s' has a row of key %u", (int)length, found, *key);
    }
    add_relaxed(&rows_checked, 1);
    return n;
}

static void check_events(const eagre_result *r, uint32_t row, uint32_t key)
{
    double sum = result_real(r, SUM, row), decay = result_real(r, DECAY, row);
    if (fmod(sum, weight_of(key)) != 0 || !(decay >= 0))
        wrong("key %u has events of %g in sum, not of %g each", key, sum, weight_of(key));
}

static void check_version(uint32_t key, uint64_t n, uint64_t low, uint64_t high)
{
    if (n < low || n > high)
        wrong("key %u: version %" PRIu64 " read while %" PRIu64 " to %" PRIu64 " were there", key, n, low, high);
}

/* Nothing was found: was it away at any time from `low` to `high`? */
static void check_absence(uint32_t key, uint64_t low, uint64_t high)
{
    for (uint64_t n = low; n <= high; n++)
        if (change_of(key, n) == DELETE)
            return;
    wrong("key %u was not found while its versions %" PRIu64 " to %" PRIu64 " were there", key, low, high);
}

/* ---- writers ---- */

static void apply(uint32_t key, uint64_t n)
{
    struct made m;
    char text[24];
    eagre_value values[COLUMNS], fields[COLUMNS], k = key_value(key, text);
    eagre_error e = {.struct_size = sizeof e};
    enum what what = change_of(key, n);
    eagre_status s;
    uint32_t count = 0;
    if (what == DELETE) {
        s = eagre_delete(db, "row", &k, NULL, 0, &e);
        if (s == EAGRE_NOT_FOUND && change_of(key, n - 1) == DELETE)
            s = EAGRE_OK;
    } else {
        make_row(key, n, &m, values);
        for (uint32_t i = 0; i < COLUMNS; i++)
            if (i != BASE || what == PUT) {
                fields[count] = h_text(names[i]);
                values[count++] = values[i];
            }
        s = eagre_put(db, "row", &k, count, fields, values, NULL, 0, what == PATCH ? EAGRE_PATCH : 0, &e);
    }
    if (s != EAGRE_OK)
        wrong("key %u, change %" PRIu64 ": %s: %s", key, n, eagre_status_name(s), e.text);
}

static void change_key(uint32_t key)
{
    uint64_t n = load_relaxed(&done[key]) + 1;
    publish(&begun[key], n);
    apply(key, n);
    publish(&done[key], n);
    add_relaxed(&changes, 1);
}

/* Several of a writer's keys that are to be put next, in one call. */
static void change_batch(struct random *r, uint32_t writer)
{
    static __thread struct made made[BATCH];
    static __thread eagre_value cells[COLUMNS][BATCH];
    static __thread char texts[BATCH][24];
    eagre_value keys[BATCH], fields[COLUMNS], values[COLUMNS];
    eagre_column key_column = {.type = EAGRE_COLUMN_VALUES, .at = (uintptr_t)keys, .nulls_at = EAGRE_NO_NULLS}, columns[COLUMNS];
    uint32_t chosen[BATCH], n = 0, first = below(r, round_now->keys);
    for (uint32_t i = 0; i < round_now->keys && n < BATCH && i < 200; i++) {
        uint32_t key = (first + i) % round_now->keys;
        uint64_t next = load_relaxed(&done[key]) + 1;
        if (key % WRITERS != writer || change_of(key, next) != PUT)
            continue;
        make_row(key, next, &made[n], values);
        for (uint32_t c = 0; c < COLUMNS; c++)
            cells[c][n] = values[c];
        keys[n] = key_value(key, texts[n]);
        publish(&begun[key], next);
        chosen[n++] = key;
    }
    for (uint32_t c = 0; c < COLUMNS; c++) {
        fields[c] = h_text(names[c]);
        columns[c] = (eagre_column){.type = EAGRE_COLUMN_VALUES, .at = (uintptr_t)cells[c], .nulls_at = EAGRE_NO_NULLS};
    }
    uint64_t applied;
    eagre_error e = {.struct_size = sizeof e};
    eagre_status s = eagre_put_many(db, "row", n, &key_column, COLUMNS, fields, columns, NULL, 0, 0, &applied, &e);
    if (s != EAGRE_OK || applied != n)
        wrong("a batch: %s: %s", eagre_status_name(s), e.text);
    for (uint32_t i = 0; i < n; i++)
        publish(&done[chosen[i]], load_relaxed(&begun[chosen[i]]));
    add_relaxed(&changes, n);
}

static void *write_on(void *p)
{
    uint32_t writer = (uint32_t)(uintptr_t)p;
    struct random r = {seed + (uintptr_t)p * 1000003};
    while (!take(&stop)) {
        uint32_t key = below(&r, round_now->keys);
        if (below(&r, 50) == 0)
            change_batch(&r, writer);
        else if (key % WRITERS == writer)
            change_key(key);
    }
    return NULL;
}

/* ---- readers ---- */

struct reader {
    struct random r;
    struct answer answer;
    eagre_stmt *all, *by_word, *by_keys, *top;
    struct {
        uint64_t handle;
        uint32_t key;
    } kept[64]; /* handles of a while ago: their items may have gone, their slots may have others */
    uint64_t low[MAX_KEYS];
    uint8_t seen[MAX_KEYS];
};

static void read_key(struct reader *me)
{
    char text[24];
    uint32_t key = below(&me->r, round_now->keys), found;
    eagre_value k = key_value(key, text);
    eagre_error e = {.struct_size = sizeof e};
    uint64_t low = take(&done[key]);
    eagre_status s = answer_get(&me->answer, db, "row", &k, &e);
    uint64_t high = take(&begun[key]);
    if (s == EAGRE_NOT_FOUND) {
        check_absence(key, low, high);
        add_relaxed(&missing, 1);
        return;
    }
    if (s != EAGRE_OK)
        wrong("get: %s: %s", eagre_status_name(s), e.text);
    uint64_t n = check_row(answer_result(&me->answer), 0, &found);
    if (found != key)
        wrong("key %u found the row of %u", key, found);
    check_version(key, n, low, high);
    add_relaxed(&gets, 1);
}

/* By a handle that is used for a while: as long as its item lives, and never for another. */
static void send_events(struct reader *me)
{
    char text[24];
    uint32_t key = below(&me->r, round_now->keys);
    eagre_value k = key_value(key, text);
    uint64_t handle;
    eagre_status s = eagre_handle(db, "row", &k, NULL, 0, &handle, NULL);
    for (int i = 0; i < 4 && s == EAGRE_OK; i++)
        s = i % 2 ? eagre_signal(db, signal_number, handle, weight_of(key), EAGRE_NOW, NULL)
                  : eagre_signal_key(db, signal_number, &k, weight_of(key), EAGRE_NOW, NULL, NULL, 0, NULL);
    if (s != EAGRE_OK && s != EAGRE_NOT_FOUND)
        wrong("event: %s", eagre_status_name(s));
    add_relaxed(&events, s == EAGRE_OK);
    uint32_t place = below(&me->r, 64);
    if (me->kept[place].handle != 0)
        s = eagre_signal(db, signal_number, me->kept[place].handle, weight_of(me->kept[place].key), EAGRE_NOW, NULL);
    if (s != EAGRE_OK && s != EAGRE_NOT_FOUND)
        wrong("an event by an old handle: %s", eagre_status_name(s));
    if (s == EAGRE_NOT_FOUND || me->kept[place].handle == 0 || below(&me->r, 8) == 0) {
        me->kept[place].key = key;
        if (eagre_handle(db, "row", &k, NULL, 0, &me->kept[place].handle, NULL) != EAGRE_OK)
            me->kept[place].handle = 0;
    }
}

static void note_low(struct reader *me)
{
    for (uint32_t key = 0; key < round_now->keys; key++)
        me->low[key] = take(&done[key]);
    memset(me->seen, 0, round_now->keys);
}

static const eagre_result *run(struct reader *me, eagre_stmt *stmt, const eagre_value *parameters, uint32_t n)
{
    eagre_error e = {.struct_size = sizeof e};
    eagre_status s = answer_run(&me->answer, stmt, parameters, n, NULL, &e);
    if (s != EAGRE_OK)
        wrong("%s: %s", eagre_status_name(s), e.text);
    add_relaxed(&answers, 1);
    return answer_result(&me->answer);
}

/* Every row whole, of a version that was there, and, where it is there twice, of an item that went and came meanwhile. */
static void check_answer(struct reader *me, const eagre_result *r)
{
    for (uint32_t row = 0; row < r->n_rows; row++) {
        uint32_t key;
        uint64_t n = check_row(r, row, &key), high = take(&begun[key]);
        check_version(key, n, me->low[key], high);
        check_events(r, row, key);
        if (me->seen[key]) {
            check_absence(key, me->low[key], high);
            add_relaxed(&twice, 1);
        }
        me->seen[key] = 1;
    }
}

/* What the answer does not have must have been away, or not fit the question, at some time. */
static void check_absences(struct reader *me, const char *word)
{
    for (uint32_t key = 0; key < round_now->keys; key++) {
        if (me->seen[key])
            continue;
        bool may = false;
        uint64_t high = take(&begun[key]);
        for (uint64_t n = me->low[key]; n <= high && !may; n++)
            may = change_of(key, n) == DELETE || (word != NULL && mark(key, n) % WORDS != (uint64_t)atoi(word + 1));
        if (!may)
            wrong("key %u is missing from an answer; its versions %" PRIu64 " to %" PRIu64 " belong there", key, me->low[key], high);
        add_relaxed(&absences, 1);
    }
}

static void read_all(struct reader *me)
{
    note_low(me);
    const eagre_result *r = run(me, me->all, NULL, 0);
    if (r->total != r->n_rows)
        wrong("%u rows of %" PRIu64, r->n_rows, r->total);
    check_answer(me, r);
    check_absences(me, NULL);
}

static void read_by_word(struct reader *me)
{
    char word[16];
    sprintf(word, "w%u", below(&me->r, WORDS));
    eagre_value v = h_text(word);
    note_low(me);
    const eagre_result *r = run(me, me->by_word, &v, 1);
    for (uint32_t row = 0; row < r->n_rows; row++) {
        if (!same_text(r, W, row, word, strlen(word)))
            wrong("a row without the word that was asked for");
        if (result_score(r, row) != (double)result_int(r, A, row) + result_real(r, B, row) ||
            (row && result_score(r, row) > result_score(r, row - 1)))
            wrong("a score that is not the row's, or out of order");
    }
    check_answer(me, r);
    check_absences(me, word);
}

static void read_by_keys(struct reader *me)
{
    char texts[8][24];
    eagre_value list[8], v = h_list(list, 8);
    for (int i = 0; i < 8; i++)
        list[i] = key_value(below(&me->r, round_now->keys), texts[i]);
    note_low(me);
    check_answer(me, run(me, me->by_keys, &v, 1));
}

static void read_top(struct reader *me)
{
    note_low(me);
    const eagre_result *r = run(me, me->top, NULL, 0);
    for (uint32_t row = 1; row < r->n_rows; row++)
        if (result_score(r, row) > result_score(r, row - 1))
            wrong("a ranking out of order");
    check_answer(me, r);
}

static eagre_stmt *prepare(const char *head, const char *tail)
{
    char text[400];
    eagre_stmt *stmt;
    eagre_error e = {.struct_size = sizeof e};
    snprintf(text, sizeof text, "%s %s %s", head, returned, tail);
    if (eagre_prepare(db, text, strlen(text), &stmt, &e) != EAGRE_OK)
        wrong("%s: %s", text, e.text);
    return stmt;
}

static void *read_on(void *p)
{
    struct reader *me = calloc(1, sizeof *me);
    if (me == NULL || eagre_attach() != EAGRE_OK)
        wrong("no memory");
    me->r.state = seed + 77 + (uintptr_t)p * 1000033;
    me->all = prepare("RETRIEVE row", "COUNT LIMIT 1000000");
    me->by_word = prepare("RETRIEVE row USING a + b WHERE w = ?1", "LIMIT 1000000");
    me->by_keys = prepare("RETRIEVE row ORDER BY b WHERE key IN ?1", "");
    me->top = prepare("RETRIEVE row USING decay(s) WHERE a >= 0 AND b IS NOT NULL", "LIMIT 50");
    while (!take(&stop)) {
        for (int i = 0; i < 50; i++)
            read_key(me);
        for (int i = 0; i < 20; i++)
            send_events(me);
        for (int i = 0; i < 5; i++) {
            read_by_keys(me);
        }
        if (below(&me->r, 4) == 0)
            read_all(me);
        read_by_word(me);
        read_top(me);
    }
    eagre_stmt *all[] = {me->all, me->by_word, me->by_keys, me->top};
    for (int i = 0; i < 4; i++)
        eagre_finalize(all[i]);
    answer_free(&me->answer);
    free(me);
    return NULL;
}

/* ---- rounds ---- */

static void exec(const char *text)
{
    eagre_error e = {.struct_size = sizeof e};
    if (eagre_exec(db, text, strlen(text), &e) != EAGRE_OK)
        wrong("%s: %s", text, e.text);
}

static void run_round(const struct round *round, unsigned ms)
{
    pthread_t threads[WRITERS + READERS];
    unsigned n = 0;
    char text[300];
    eagre_error e = {.struct_size = sizeof e};
    round_now = round;
    hash_degrade(round->degrade); /* nothing hashed lives now */
    memset(begun, 0, sizeof begun);
    memset(done, 0, sizeof done);
    if (eagre_open(NULL, &db, &e) != EAGRE_OK)
        wrong("%s", e.text);
    snprintf(text, sizeof text, "CREATE ITEM row %s %s; CREATE SIGNAL s ON row HALF LIFE 1h WINDOWS 1h", schema,
             round->text ? "STRING" : "INTEGER");
    exec(text);
    eagre_signal_id(db, "s", "row", &signal_number, NULL);
    publish(&stop, false);
    for (uintptr_t i = 0; i < WRITERS; i++)
        pthread_create(&threads[n++], NULL, write_on, (void *)i);
    for (uintptr_t i = 0; i < READERS; i++)
        pthread_create(&threads[n++], NULL, read_on, (void *)i);
    usleep(ms * 1000);
    publish(&stop, true);
    while (n > 0)
        pthread_join(threads[--n], NULL);
    if (eagre_validate(db, &e) != EAGRE_OK)
        wrong("after a round: %s", e.text);
    eagre_close(db);
    seed += 1000000007;
}

int main(void)
{
    double seconds = test_seconds(10);
    seed = test_seed();
    printf("stress_reads: seed %" PRIu64 ", %.0f s\n", seed, seconds);
    int64_t end = clock_monotonic() + (int64_t)(seconds * 1e6);
    unsigned n = 0;
    do {
        run_round(&rounds[n % (sizeof rounds / sizeof *rounds)], ROUND_MS);
        n++;
    } while (clock_monotonic() < end || n < 3);
    printf("%" PRIu64 " reads checked: %" PRIu64 " rows (%" PRIu64 " by key, %" PRIu64 " answers; %" PRIu64 " twice in one) and %" PRIu64
           " absences\n",
           rows_checked + missing + absences, rows_checked, gets, answers, twice, missing + absences);
    printf("%" PRIu64 " changes, %" PRIu64 " rounds of events, %u rounds\n", changes, events, n);
    if (gets == 0 || missing == 0 || answers == 0 || changes == 0 || events == 0)
        wrong("something was never tried");
    return 0;
}
