/* SPDX-License-Identifier: MIT */
/* Readers beside writers of one kind. Every put writes one number into fields of all types, so whoever sees two fields that disagree has seen
 * half of a put. Checked at full speed, with allocations failing now and then:
 *
 *   blocks     columns and rows copied between block_begin and block_moved agree; when the block moved, the records do
 *   keys       what a key finds is its own, whole, alive; what a handle (slot, generation) finds is the same item
 *   keywords   a set ascends and has every slot whose row has the keyword, before and after the walk
 *   signals    row first, signal after: events are that item's (each key's events weigh a prime of its own), though slots are used again
 *   the rest   after each round validate_kind; at the end memory is flat
 *
 * EAGRE_TEST_SECONDS: how long (10). EAGRE_TEST_SEED: where the random numbers start. */
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/publish.h"
#include "effort.h"
#include "random.h"
#include "signal_readings.h"
#include "store_fixture.h"

enum { KEYS = 3000, WORDS = 24, WRITERS = 2, READERS = 3, ROUND_MS = 500 };
enum stamp_field { A, B, C, D, E, T, X, STAMP_FIELDS };

static const struct field_def STAMPED[STAMP_FIELDS] = {
    [A] = {.name = "a", .type = FIELD_INTEGER},
    [B] = {.name = "b", .type = FIELD_REAL},
    [C] = {.name = "c", .type = FIELD_TIME},
    [D] = {.name = "d", .type = FIELD_KEYWORD},
    [E] = {.name = "e", .type = FIELD_KEYWORDS},
    [T] = {.name = "t", .type = FIELD_TEXT},
    [X] = {.name = "x", .type = FIELD_TIME, .expires = true},
};

static struct kind *kind;
static uint32_t primes[KEYS];
static uint64_t seed;
static int64_t now_us;                                                             /* atomic: the clock of the test */
static bool stop;                                                                  /* atomic */
static uint64_t changes, deletes, refused, swept, events;                          /* atomic counts */
static uint64_t blocks_still, blocks_moved, found, missed, sets, handles, tallies; /* atomic counts */

#define wrong(...) (fprintf(stderr, "stress_items: " __VA_ARGS__), fprintf(stderr, " (seed %llu)\n", (unsigned long long)seed), abort())

/* ---- what one number makes of a row ---- */

static int word_text(char out[16], uint32_t w)
{
    return snprintf(out, 16, "w%u", w);
}

static void check_text(const struct row *row, int64_t stamp)
{
    uint32_t length;
    const char *text = row_text(row, T, &length);
    if (length != 8 * (uint32_t)(stamp % 9 + 1))
        wrong("text of %u bytes beside stamp %lld", length, (long long)stamp);
    for (uint32_t at = 0; at < length; at += 8)
        if (memcmp(text + at, &(int64_t){stamp & 0x7f7f7f7f7f7f7f7f}, 8) != 0)
            wrong("text of another put");
}

static void check_word(const struct field *f, uint32_t id, uint32_t w)
{
    char expected[16];
    uint32_t length;
    int n = word_text(expected, w);
    const char *text = dictionary_text(f->dictionary, id, &length);
    if (length != (uint32_t)n || memcmp(text, expected, length) != 0)
        wrong("keyword '%.*s' instead of '%s'", (int)length, text, expected);
}

/* All fields of a record are of one put. */
static int64_t check_record(const struct row *row)
{
    unsigned n;
    int64_t stamp = row_int(row, A);
    if (row_real(row, B) != (double)stamp || row_int(row, C) != stamp)
        wrong("a record of two puts");
    check_word(kind->fields[D], row_keyword(row, D), (uint32_t)(stamp % WORDS));
    const uint32_t *ids = row_keywords(row, E, &n);
    if (n != (unsigned)(stamp % 4))
        wrong("%u keywords beside stamp %lld", n, (long long)stamp);
    for (unsigned i = 0; i < n; i++)
        check_word(kind->fields[E], ids[i], (uint32_t)((stamp + i) % WORDS));
    check_text(row, stamp);
    return stamp;
}

static void make_change(struct random *r, struct change *ch, struct value list[4], char words[5][16], char text[80])
{
    int64_t stamp = (int64_t)below(r, 1u << 31);
    ch->n = 0;
    set(ch, A, v_int(stamp));
    set(ch, B, v_int(stamp));
    set(ch, C, v_int(stamp));
    set(ch, D, v_bytes(words[4], (size_t)word_text(words[4], (uint32_t)(stamp % WORDS))));
    for (int64_t i = 0; i < stamp % 4; i++)
        list[i] = v_bytes(words[i], (size_t)word_text(words[i], (uint32_t)((stamp + i) % WORDS)));
    set(ch, E, v_list(list, (uint32_t)(stamp % 4)));
    int64_t masked = stamp & 0x7f7f7f7f7f7f7f7f;
    for (int64_t i = 0; i <= stamp % 9; i++)
        memcpy(text + 8 * i, &masked, 8);
    set(ch, T, v_bytes(text, 8 * (size_t)(stamp % 9 + 1)));
    /* Some expire soon, some long ago; a patch that names nothing else keeps it. */
    uint32_t ends = below(r, 16);
    if (ends < 2)
        set(ch, X, v_time(load_relaxed(&now_us) + below(r, 50000)));
    else if (ends < 14)
        set(ch, X, v_null());
}

/* ---- writers ---- */

static void write_one(struct random *r, bool fails)
{
    struct error e = {0};
    struct item_change done;
    struct change ch;
    struct value list[4];
    char words[5][16], text[80];
    int64_t now = take(&now_us);
    struct value key = v_int(below(r, KEYS));
    if (fails)
        mem_fail_at(1 + below(r, 12), below(r, 2));
    status s;
    if (below(r, 4) == 0) {
        s = delete_key(kind, key, now, &e);
        add_relaxed(&deletes, s == STATUS_OK);
    } else {
        make_change(r, &ch, list, words, text);
        s = put_change(kind, key, &ch, below(r, 3) == 0, now, &done, &e);
        add_relaxed(&changes, s == STATUS_OK);
    }
    if (fails)
        mem_fail_at(0, false);
    if (s != STATUS_OK && s != STATUS_NOT_FOUND && s != STATUS_NO_MEMORY)
        wrong("%s: %s", status_name(s), e.text);
    add_relaxed(&refused, s == STATUS_NO_MEMORY);
}

static void *write_on(void *p)
{
    struct random r = {seed + (uintptr_t)p * 1000003};
    while (!take(&stop))
        for (int i = 0; i < 50; i++)
            write_one(&r, (uintptr_t)p == 0 && i == 0);
    return NULL;
}

/* The clock of the test, the sweep, and a signal that comes and goes. */
static void *sweep_on(void *p)
{
    struct error e;
    struct signal_def brief = {.name = "brief", .decay = DECAY_NONE};
    (void)p;
    for (unsigned i = 0; !take(&stop); i++) {
        usleep(500);
        add_seq(&now_us, 500);
        add_relaxed(&swept, sweep(kind, take(&now_us), 50));
        if (i % 400 == 10 && kind->n_signals < MAX_SIGNALS)
            catalog_create_signal(&catalog, kind, &brief, &e);
        if (i % 400 == 210)
            catalog_drop_signal(&catalog, kind, "brief", &e);
    }
    return NULL;
}

/* ---- readers ---- */

static void read_block(struct random *r)
{
    const struct row *rows[BLOCK];
    int64_t a[BLOCK], c[BLOCK];
    double b[BLOCK];
    uint32_t d[BLOCK];
    uint32_t n_slots = take(&kind->n_slots);
    if (n_slots == 0)
        return;
    uint32_t slot = below(r, n_slots) & ~(uint32_t)(BLOCK - 1);
    unsigned n = n_slots - slot < BLOCK ? n_slots - slot : BLOCK;
    uint32_t start = block_begin(kind, slot / BLOCK);
    if (below(r, 2)) { /* in either order */
        block_rows(kind, slot, n, rows);
        block_ints(kind->fields[A], slot, n, a);
        block_reals(kind->fields[B], slot, n, b);
        block_ints(kind->fields[C], slot, n, c);
        block_keywords(kind->fields[D], slot, n, d);
    } else {
        block_keywords(kind->fields[D], slot, n, d);
        block_ints(kind->fields[C], slot, n, c);
        block_reals(kind->fields[B], slot, n, b);
        block_ints(kind->fields[A], slot, n, a);
        block_rows(kind, slot, n, rows);
    }
    bool moved = block_moved(kind, slot / BLOCK, start);
    for (unsigned i = 0; i < n; i++) {
        if (rows[i] == NULL)
            continue;
        if (rows[i]->slot != slot + i)
            wrong("slot %u has the record of %u", slot + i, rows[i]->slot);
        int64_t stamp = check_record(rows[i]);
        if (!moved && (a[i] != stamp || b[i] != (double)stamp || c[i] != stamp || d[i] != row_keyword(rows[i], D)))
            wrong("slot %u: columns differ from the record in a block that did not move", slot + i);
    }
    add_relaxed(moved ? &blocks_moved : &blocks_still, 1);
}

static void read_key(struct random *r)
{
    struct key key = {.number = below(r, KEYS)};
    int64_t now = take(&now_us);
    uint32_t generation;
    const struct row *row = items_find_rcu(kind, &key, now, &generation);
    if (row == NULL) {
        add_relaxed(&missed, 1);
        return;
    }
    if (row->key->number != key.number || generation % 2 == 0 || items_expired(kind, row, now))
        wrong("key %llu found another item, or a dead one", (unsigned long long)key.number);
    check_record(row);
    add_relaxed(&found, 1);
    /* Its handle finds the same item, or none when it died since. */
    const struct row *again = items_at_rcu(kind, row->slot, generation, now);
    if (again != NULL && (again->key != row->key || again->first_put != row->first_put))
        wrong("a handle found another item");
    if (again != NULL)
        add_relaxed(&handles, 1);
    /* Its signal's events are its own. */
    const struct signal *view = kind->signals[0].signal;
    double sum = signal_sum(view, row->slot, SIGNAL_ALL, now);
    if (fmod(sum, primes[key.number]) != 0)
        wrong("key %llu has a sum of %g: no multiple of %u", (unsigned long long)key.number, sum, primes[key.number]);
    if (sum > 0)
        add_relaxed(&tallies, 1);
    if (below(r, 4) == 0) {
        if (signal_add(kind->signals[0].signal, row->slot, primes[key.number], now, now) == STATUS_OK)
            add_relaxed(&events, 1);
    }
}

static const struct row *row_at(uint32_t slot)
{
    const struct row *row;
    block_rows(kind, slot, 1, &row);
    return row;
}

static void read_set(struct random *r)
{
    uint32_t n_slots = take(&kind->n_slots), slots[64], n;
    if (n_slots == 0)
        return;
    uint32_t slot = below(r, n_slots);
    const struct row *row = row_at(slot);
    uint32_t id = row == NULL ? 0 : row_keyword(row, D);
    if (id == 0)
        return;
    struct postings_cursor cursor;
    int64_t last = -1;
    bool met = false;
    postings_open(kind->fields[D]->dictionary, id, &cursor);
    while ((n = postings_next(&cursor, slots, 64)) != 0)
        for (uint32_t i = 0; i < n; i++) {
            if (slots[i] <= last)
                wrong("a set does not ascend");
            last = slots[i];
            met |= slots[i] == slot;
        }
    if (!met && row_at(slot) == row) /* the very row was there all the time */
        wrong("slot %u has keyword %u and is not in its set", slot, id);
    add_relaxed(&sets, 1);
}

static void *read_on(void *p)
{
    struct random r = {seed + 77 + (uintptr_t)p * 1000033};
    while (!take(&stop)) {
        if (!reclaim_reserve(20)) /* for its events */
            continue;
        reclaim_enter(); /* RCU: protects rows, columns and sets; nothing of it is kept */
        read_block(&r);
        for (int i = 0; i < 20; i++)
            read_key(&r);
        read_set(&r);
        reclaim_leave();
    }
    return NULL;
}

/* ---- rounds ---- */

static void make_primes(void)
{
    uint32_t candidate = 100003;
    for (int n = 0; n < KEYS; candidate += 2) {
        bool prime = true;
        for (uint32_t i = 3; i * i <= candidate && prime; i += 2)
            prime = candidate % i != 0;
        if (prime)
            primes[n++] = candidate;
    }
}

static void run_round(unsigned ms)
{
    pthread_t threads[WRITERS + READERS + 1];
    unsigned n = 0;
    publish(&stop, false);
    for (uintptr_t i = 0; i < WRITERS; i++)
        pthread_create(&threads[n++], NULL, write_on, (void *)i);
    for (uintptr_t i = 0; i < READERS; i++)
        pthread_create(&threads[n++], NULL, read_on, (void *)i);
    pthread_create(&threads[n++], NULL, sweep_on, NULL);
    usleep(ms * 1000);
    publish(&stop, true);
    while (n > 0)
        pthread_join(threads[--n], NULL);
    if (!valid(kind))
        wrong("after a round");
    seed += 1000000007;
}

static void empty_kind(void)
{
    struct error e;
    for (int key = 0; key < KEYS; key++)
        delete_key(kind, v_int(key), INT64_MIN, &e);
    settle(kind);
    if (!valid(kind) || kind->n_items != 0 || kind->free_slots.cleared != kind->n_slots)
        wrong("when all was deleted");
}

int main(void)
{
    double seconds = test_seconds(10);
    struct signal_def view = {.name = "view", .decay = DECAY_HALF_LIFE, .half_life = 3600 * MICROS, .n_windows = 1, .windows = {3600}};
    struct error e = {0};
    seed = test_seed();
    printf("stress_items: seed %llu, %.0f s\n", (unsigned long long)seed, seconds);
    now_us = clock_precise();
    make_primes();
    catalog_init(&catalog);
    if (catalog_create_kind(&catalog, "stamped", true, STAMP_FIELDS, STAMPED, &e) != STATUS_OK)
        wrong("%s", e.text);
    kind = catalog_kind(&catalog, "stamped");
    if (catalog_create_signal(&catalog, kind, &view, &e) != STATUS_OK)
        wrong("%s", e.text);
    int64_t end = clock_monotonic() + (int64_t)(seconds * 1e6);
    uint64_t early = 0, rounds = 0;
    do {
        run_round(ROUND_MS);
        empty_kind();
        if (++rounds == 2)
            early = mem_used();
    } while (clock_monotonic() < end);
    uint64_t late = mem_used();
    printf("puts %llu, deletes %llu, swept %llu, refused for memory %llu, events %llu, slots %u\n", (unsigned long long)changes,
           (unsigned long long)deletes, (unsigned long long)swept, (unsigned long long)refused, (unsigned long long)events, kind->n_slots);
    printf("blocks that stood still %llu, that moved %llu, keys found %llu, not %llu, handles %llu, sets %llu, sums %llu\n",
           (unsigned long long)blocks_still, (unsigned long long)blocks_moved, (unsigned long long)found, (unsigned long long)missed,
           (unsigned long long)handles, (unsigned long long)sets, (unsigned long long)tallies);
    printf("%llu rounds; %llu bytes in use after 2, %llu at the end\n", (unsigned long long)rounds, (unsigned long long)early,
           (unsigned long long)late);
    if (blocks_still == 0 || blocks_moved == 0 || found == 0 || sets == 0 || tallies == 0 || swept == 0 || refused == 0)
        wrong("something was never tried");
    catalog_destroy(&catalog);
    return 0;
}
