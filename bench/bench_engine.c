/* SPDX-License-Identifier: MIT */
/* How long does a signal take, how long a RETRIEVE, how many bytes an item? Through the ABI, as a C host pays it.
 *
 *     build/release/bench/bench_engine [items, 1000000 if not given]
 *
 * Signals: batches of calls timed together (a clock costs as much as a signal), best and median round. RETRIEVE: every call timed, percentiles of single
 * calls after a warm-up. Each timed answer is checked against EXHAUSTIVE, and the first against a plain count of the events. */
#include <eagre/eagre.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "dataset.h"

enum { ROUNDS = 15, PER_ROUND = 200000, BATCH = 1000, ROTATING = 1000 };

static eagre_error error = {.struct_size = sizeof error};

static void must(eagre_status s)
{
    if (s >= 0)
        return;
    fprintf(stderr, "%s: %s\n", eagre_status_name(s), error.text);
    exit(1);
}

static int64_t nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- Loading ------------------------------------------------------------------------------------------------------------- */

struct bench {
    eagre_db *db;
    uint64_t n;
    uint32_t view, like;
    uint64_t *handles;     /* by item */
    uint64_t *zipf;        /* over n / 10 ranks */
    uint64_t *views;       /* within 24 h, by item: the plain oracle */
};

static eagre_value text(const char *s)
{
    return (eagre_value){.type = EAGRE_TEXT, .length = (uint32_t)strlen(s), .v.at = (uintptr_t)s};
}

static void load_items(struct bench *b)
{
    enum { ROWS = 10000 };
    eagre_value names[] = {text("author"), text("category"), text("created"), text("minutes"), text("rating")};
    uint64_t *keys = malloc(ROWS * 8);
    int64_t *created = malloc(ROWS * 8), *minutes = malloc(ROWS * 8);
    double *rating = malloc(ROWS * 8);
    eagre_value *author = malloc(ROWS * sizeof *author), *category = malloc(ROWS * sizeof *category);
    char (*words)[2][24] = malloc(ROWS * sizeof *words);
    for (uint64_t first = 0; first < b->n; first += ROWS) {
        uint64_t rows = b->n - first < ROWS ? b->n - first : ROWS;
        for (uint64_t j = 0; j < rows; j++) {
            uint64_t i = first + j;
            keys[j] = i;
            created[j] = dataset_created(i);
            minutes[j] = dataset_minutes(i);
            rating[j] = dataset_rating(i);
            snprintf(words[j][0], sizeof words[j][0], "a%" PRIu64, dataset_author(i, b->n));
            snprintf(words[j][1], sizeof words[j][1], "c%" PRIu64, dataset_category(i));
            author[j] = text(words[j][0]);
            category[j] = text(words[j][1]);
        }
        eagre_column k = {EAGRE_UINT, 0, (uintptr_t)keys, EAGRE_NO_NULLS};
        eagre_column c[] = {{EAGRE_COLUMN_VALUES, 0, (uintptr_t)author, EAGRE_NO_NULLS}, {EAGRE_COLUMN_VALUES, 0, (uintptr_t)category, EAGRE_NO_NULLS},
                            {EAGRE_TIME, 0, (uintptr_t)created, EAGRE_NO_NULLS}, {EAGRE_INT, 0, (uintptr_t)minutes, EAGRE_NO_NULLS},
                            {EAGRE_REAL, 0, (uintptr_t)rating, EAGRE_NO_NULLS}};
        must(eagre_put_many(b->db, "post", rows, &k, 5, names, c, NULL, 0, 0, NULL, &error));
    }
    free(keys), free(created), free(minutes), free(rating), free(author), free(category), free(words);
}

/* Views and likes of the dataset, by handle, in batches. */
static void load_events(struct bench *b, uint32_t signal, uint64_t stream, uint64_t time_stream, uint64_t items, uint64_t events)
{
    enum { ROWS = 10000 };
    uint64_t *handles = malloc(ROWS * 8), *table = dataset_zipf_table(items);
    int64_t *at = malloc(ROWS * 8);
    for (uint64_t first = 0; first < events; first += ROWS) {
        uint64_t rows = events - first < ROWS ? events - first : ROWS;
        for (uint64_t j = 0; j < rows; j++) {
            uint64_t item = dataset_event_item(stream, first + j, items, b->n, table);
            handles[j] = b->handles[item];
            at[j] = dataset_event_time(time_stream, first + j);
            /* inside 24 h: buckets of 30 minutes, 48 back */
            if (signal == b->view && DATASET_NOW / 1800 - at[j] / 1000000 / 1800 <= 48)
                b->views[item]++;
        }
        must(eagre_signal_many(b->db, signal, rows, handles, NULL, NULL, at, NULL, NULL, 0, NULL, &error));
    }
    free(handles), free(at), free(table);
}

static void load(struct bench *b)
{
    static const char schema[] = "CREATE ITEM post (author KEYWORD, category KEYWORD, created TIME, minutes INTEGER, rating REAL) KEY INTEGER;"
                                 "CREATE SIGNAL view ON post HALF LIFE 7d WINDOWS 1h, 24h, 7d; CREATE SIGNAL like ON post HALF LIFE 30d WINDOWS 24h";
    eagre_options options = {.struct_size = sizeof options, .flags = EAGRE_OPEN_MANUAL_CLOCK, .now = DATASET_NOW * 1000000};
    must(eagre_open(&options, &b->db, &error));
    must(eagre_exec(b->db, schema, strlen(schema), &error));
    must(eagre_signal_id(b->db, "view", "post", &b->view, &error));
    must(eagre_signal_id(b->db, "like", "post", &b->like, &error));
    int64_t begun = nanoseconds();
    load_items(b);
    double items = (double)(nanoseconds() - begun) / (double)b->n;
    b->handles = malloc(b->n * sizeof *b->handles);
    b->views = calloc(b->n, sizeof *b->views);
    for (uint64_t i = 0; i < b->n; i++) {
        eagre_value key = {.type = EAGRE_UINT, .v.u = i};
        must(eagre_handle(b->db, "post", &key, NULL, 0, &b->handles[i], &error));
    }
    begun = nanoseconds();
    load_events(b, b->view, STREAM_VIEW, STREAM_VIEW_TIME, b->n / 10, b->n);
    load_events(b, b->like, STREAM_LIKE, STREAM_LIKE_TIME, b->n / 20, b->n / 4);
    double events = (double)(nanoseconds() - begun) / ((double)b->n * 1.25);
    printf("put in batches of columns   %8.0f ns an item\nevents of 30 days, any order %7.0f ns an event\n", items, events);
    b->zipf = dataset_zipf_table(b->n);
}

/* ---- Signals ------------------------------------------------------------------------------------------------------------- */

enum pattern { ROTATE, UNIFORM, ZIPF };
enum way { BY_HANDLE, BY_KEY, IN_BATCHES };

static void fill_items(const struct bench *b, enum pattern pattern, uint64_t round, uint64_t *items)
{
    for (uint64_t i = 0; i < PER_ROUND; i++) {
        uint64_t u = dataset_draw(100 + pattern, round * PER_ROUND + i);
        if (pattern == ROTATE)
            items[i] = i % ROTATING * 997 % b->n;
        else if (pattern == UNIFORM)
            items[i] = dataset_below(u, b->n);
        else
            items[i] = dataset_zipf(u, b->zipf, b->n) * UINT64_C(2654435761) % b->n;
    }
}

static void send(const struct bench *b, enum way way, const uint64_t *items, uint64_t *handles)
{
    if (way == IN_BATCHES) {
        for (uint64_t i = 0; i < PER_ROUND; i += BATCH)
            must(eagre_signal_many(b->db, b->view, BATCH, handles + i, NULL, NULL, NULL, NULL, NULL, 0, NULL, &error));
        return;
    }
    for (uint64_t i = 0; i < PER_ROUND; i++) {
        eagre_value key = {.type = EAGRE_UINT, .v.u = items[i]};
        if (way == BY_KEY)
            must(eagre_signal_key(b->db, b->view, &key, 1.0, EAGRE_NOW, NULL, NULL, 0, &error));
        else
            must(eagre_signal(b->db, b->view, handles[i], 1.0, EAGRE_NOW, &error));
    }
}

static void time_signals(const struct bench *b)
{
    static const char *const ways[] = {"by handle", "by key", "batches of 1,000"}, *const patterns[] = {"rotating 1,000", "uniform", "Zipf"};
    uint64_t *items = malloc(PER_ROUND * 8), *handles = malloc(PER_ROUND * 8);
    printf("\nsignal with three windows, ns each, median (best) of %d rounds\n%20s", ROUNDS, "");
    for (int p = 0; p < 3; p++)
        printf("%22s", patterns[p]);
    printf("\n");
    for (int w = 0; w < 3; w++) {
        printf("%20s", ways[w]);
        for (int p = 0; p < 3; p++) {
            double rounds[ROUNDS];
            for (int r = -1; r < ROUNDS; r++) {
                fill_items(b, (enum pattern)p, (uint64_t)(r + 1), items);
                for (uint64_t i = 0; i < PER_ROUND; i++)
                    handles[i] = b->handles[items[i]];
                int64_t begun = nanoseconds();
                send(b, (enum way)w, items, handles);
                if (r >= 0)
                    rounds[r] = (double)(nanoseconds() - begun) / PER_ROUND;
            }
            qsort(rounds, ROUNDS, sizeof *rounds, by_double);
            printf("%14.1f (%5.1f)", rounds[ROUNDS / 2], rounds[0]);
        }
        printf("\n");
    }
    free(items), free(handles);
}

/* ---- RETRIEVE ------------------------------------------------------------------------------------------------------------ */

enum { BLOCK_BYTES = 1 << 16 };

static const eagre_result *run(eagre_stmt *stmt, uint64_t *block)
{
    size_t needed;
    must(eagre_run(stmt, NULL, 0, NULL, 0, NULL, block, BLOCK_BYTES, &needed, &error));
    return (const eagre_result *)block;
}

static eagre_stmt *prepare(eagre_db *db, const char *statement)
{
    eagre_stmt *stmt;
    must(eagre_prepare(db, statement, strlen(statement), &stmt, &error));
    return stmt;
}

static bool same(const eagre_result *a, const eagre_result *b)
{
    const char *x = (const char *)a, *y = (const char *)b;
    return a->n_rows == b->n_rows && memcmp(x + a->keys_at, y + b->keys_at, a->n_rows * 8) == 0 &&
           memcmp(x + a->scores_at, y + b->scores_at, a->n_rows * 8) == 0;
}

static void check(struct bench *b, const char *statement, const eagre_result *got)
{
    static uint64_t block[BLOCK_BYTES / 8];
    char exhaustive[512];
    snprintf(exhaustive, sizeof exhaustive, "%s EXHAUSTIVE", statement);
    eagre_stmt *stmt = prepare(b->db, exhaustive);
    if (!same(got, run(stmt, block))) {
        fprintf(stderr, "wrong answer: %s\n", statement);
        exit(1);
    }
    eagre_finalize(stmt);
}

static void time_retrieve(struct bench *b, const char *name, const char *statement, int calls)
{
    static uint64_t block[BLOCK_BYTES / 8];
    eagre_stmt *stmt = prepare(b->db, statement);
    double *us = malloc((size_t)calls * sizeof *us);
    for (int i = 0; i < calls / 10 + 1; i++)
        run(stmt, block);
    for (int i = 0; i < calls; i++) {
        int64_t begun = nanoseconds();
        run(stmt, block);
        us[i] = (double)(nanoseconds() - begun) / 1000;
    }
    check(b, statement, (const eagre_result *)block);
    qsort(us, (size_t)calls, sizeof *us, by_double);
    printf("%-44s%12.1f%12.1f\n", name, us[calls / 2], us[calls * 99 / 100]);
    eagre_finalize(stmt);
    free(us);
}

/* Before any other signal: the events of the dataset, counted plainly. */
static void check_counts(struct bench *b)
{
    static uint64_t block[BLOCK_BYTES / 8];
    eagre_stmt *stmt = prepare(b->db, "RETRIEVE post USING count(view, 24h) LIMIT 20");
    const eagre_result *r = run(stmt, block);
    const uint64_t *keys = (const void *)((const char *)r + r->keys_at);
    const double *scores = (const void *)((const char *)r + r->scores_at);
    uint64_t best = 0;
    for (uint64_t i = 0; i < b->n; i++)
        best = b->views[i] > best ? b->views[i] : best;
    for (uint32_t i = 0; i < r->n_rows; i++)
        if (scores[i] != (double)b->views[keys[i]] || scores[0] != (double)best) {
            fprintf(stderr, "wrong count of item %" PRIu64 "\n", keys[i]);
            exit(1);
        }
    eagre_finalize(stmt);
}

static void time_retrieves(struct bench *b)
{
    int calls = b->n > 100000 ? 200 : 2000;
    printf("\nRETRIEVE, us, %d calls%30s%12s\n", calls, "p50", "p99");
    time_retrieve(b, "count(view, 24h)", "RETRIEVE post USING count(view, 24h) LIMIT 20", calls);
    time_retrieve(b, "decay(view)", "RETRIEVE post USING decay(view) LIMIT 20", calls);
    time_retrieve(b, "three signals, a field and an age",
                  "RETRIEVE post USING 3 * velocity(view, 24h) + decay(like) + 0.5 * recency(created, 30d) - 0.1 * rating LIMIT 20", calls);
    time_retrieve(b, "decay(view) WHERE rating > 5 AND minutes < 90", "RETRIEVE post USING decay(view) WHERE rating > 5 AND minutes < 90 LIMIT 20", calls);
    time_retrieve(b, "decay(view), one category (5 %)", "RETRIEVE post USING decay(view) WHERE category = 'c3' LIMIT 20", calls);
    time_retrieve(b, "new, one category", "RETRIEVE post USING new WHERE category = 'c3' LIMIT 20", calls);
    time_retrieve(b, "decay(view), at most 2 of an author in 10", "RETRIEVE post USING decay(view) DIVERSITY author 2 PER 10 LIMIT 20", calls);
    time_retrieve(b, "one author (100 items)", "RETRIEVE post USING decay(view) WHERE author = 'a7' LIMIT 20", calls * 10);
}

/* ---- Memory -------------------------------------------------------------------------------------------------------------- */

static double number_behind(const char *json, const char *name)
{
    const char *at = strstr(json, name);
    return at ? strtod(at + strlen(name), NULL) : 0;
}

static void print_memory(struct bench *b)
{
    static char json[1 << 16];
    size_t needed;
    must(eagre_maintain(b->db, &error));
    must(eagre_stats(b->db, json, sizeof json - 1, &needed, &error));
    json[needed] = 0;
    const char *view = strstr(json, "\"name\":\"view\"");
    printf("\nmemory in use %.1f MB; %.1f bytes an item (5 fields, key); signal view: %.0f cells, %.0f quiet, %.0f with rings, %.1f bytes a cell\n",
           number_behind(json, "\"memory_used\":") / 1e6, number_behind(json, "\"bytes_per_item\":"), number_behind(view, "\"cells\":"),
           number_behind(view, "\"quiet\":"), number_behind(view, "\"rings\":"), number_behind(view, "\"bytes_per_cell\":"));
}

int main(int argc, char **argv)
{
    struct bench b = {.n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000};
    if (b.n < 1000 || b.n > 100000000) {
        fprintf(stderr, "usage: bench_engine [items, 1000 to 100000000]\n");
        return 2;
    }
    printf("eagre %s, %" PRIu64 " items\n", eagre_version(), b.n);
    load(&b);
    print_memory(&b);
    check_counts(&b);
    time_retrieves(&b);
    time_signals(&b);
    must(eagre_validate(b.db, &error));
    must(eagre_close(b.db));
    free(b.handles), free(b.views), free(b.zipf);
    return 0;
}
