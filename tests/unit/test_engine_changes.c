/* SPDX-License-Identifier: MIT */
/* Records of changes. A database is changed in every way there is, at random, while a listener keeps the records; a second one is made from the records
 * alone, and both must be the same: slots, generations, rows, readings of signals, answers. Then records are cut short and damaged: that is found
 * out, refused, or harmless. */
#include <pthread.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/publish.h"
#include "base/reclaim.h"
#include "check.h"
#include "engine/change.h"
#include "engine/handles.h"
#include "host.h"
#include "signal_readings.h"

enum { FILM_KEYS = 150, THING_KEYS = 60, OPERATIONS = 12000, COMPARE_EVERY = 1500, EXTRA_FIELDS = 12 };
static const int64_t START = 1700000000LL * MICROS;

/* ---- random numbers and values ---- */

static uint64_t seed;

static uint64_t draw(void)
{
    seed++;
    return mix64(seed);
}

static uint32_t below(uint32_t n)
{
    return (uint32_t)(draw() % n);
}

static bool chance(uint32_t one_in)
{
    return below(one_in) == 0;
}

/* Memory of one operation's values. */
static struct pool {
    char text[96][48];
    unsigned n_texts;
    eagre_value lists[2][320];
    float vectors[4][4];
} pool;

static eagre_value word(void)
{
    static const char *const stems[] = {
        "", "noir", "drama", "\xc3\xa9t\xc3\xa9", "\xe6\x98\xa0\xe7\x94\xbb", "a longer keyword with blanks"};
    char *text = pool.text[pool.n_texts++ % 96];
    int n = snprintf(text, 48, "%s%u", stems[below(6)], below(30));
    return h_bytes(text, chance(20) ? 0 : (size_t)n);
}

static eagre_value words(void)
{
    eagre_value *list = pool.lists[0];
    uint32_t n = chance(40) ? 300 : below(6); /* 300 words, few of them different */
    eagre_value few[5] = {word(), word(), word(), word(), word()};
    for (uint32_t i = 0; i < n; i++)
        list[i] = few[below(5)];
    return h_list(list, n);
}

static eagre_value moment(void)
{
    if (chance(4))
        return h_text("1999-03-31 12:30:01.5");
    return chance(2) ? h_time(START - (int64_t)(draw() % (1ull << 50))) : h_int((int64_t)draw() / 64);
}

static eagre_value integer(void)
{
    static const int64_t edges[] = {INT64_MIN, INT64_MAX, 0, -1, INT64_MIN + 1};
    return h_int(chance(4) ? edges[below(5)] : (int64_t)below(300));
}

static eagre_value vector(void)
{
    float *v = pool.vectors[0];
    for (int i = 0; i < 4; i++)
        v[i] = (float)below(1000) / 7;
    return h_vector(v, 4);
}

/* ---- the two databases ---- */

struct record {
    size_t length;
    uint8_t bytes[];
};

static struct {
    pthread_mutex_t lock;
    size_t n, applied, capacity;
    struct record **all;
} records = {.lock = PTHREAD_MUTEX_INITIALIZER};

static eagre_db *first, *second, *victim; /* the victim takes damaged records */
static int64_t now;
static unsigned refused_signals, n_extra, n_temporary;

static struct database *inside(eagre_db *db)
{
    struct error e;
    struct database *d = shell_open((struct shell *)db, SHELL_DATABASE, "db", &e);
    assert_non_null(d);
    return d;
}

static void keep(void *context, const void *bytes, size_t length)
{
    (void)context;
    pthread_mutex_lock(&records.lock); /* the background's sweep tells too */
    if (records.n == records.capacity) {
        records.capacity = records.capacity == 0 ? 1024 : 2 * records.capacity;
        records.all = realloc(records.all, records.capacity * sizeof *records.all);
        assert_non_null(records.all);
    }
    struct record *r = malloc(sizeof *r + length);
    assert_true(r != NULL && length > 0);
    r->length = length;
    memcpy(r->bytes, bytes, length);
    records.all[records.n++] = r;
    pthread_mutex_unlock(&records.lock);
}

static void right(eagre_status s, const eagre_error *e, const char *what)
{
    if (s != EAGRE_OK)
        fail_msg("%s: %s: %s", what, eagre_status_name(s), e->text);
}

static eagre_db *open_at(int64_t time)
{
    eagre_options o = {.struct_size = sizeof o, .flags = EAGRE_OPEN_MANUAL_CLOCK, .now = time};
    eagre_error e = {.struct_size = sizeof e};
    eagre_db *db;
    right(eagre_open(&o, &db, &e), &e, "open");
    return db;
}

/* Applies what was recorded since the last time. */
static void replay(void)
{
    struct database *db = inside(second);
    pthread_mutex_lock(&records.lock);
    for (; records.applied < records.n; records.applied++) {
        const struct record *r = records.all[records.applied];
        struct arena *arena = arena_create();
        struct change c;
        struct error e = {0};
        if (!change_decode(db, r->bytes, r->length, arena, &c))
            fail_msg("record %zu of type %u does not decode", records.applied, r->bytes[0]);
        uint32_t slot = c.slot, generation = c.generation;
        status s = change_check(db, &c, &e);
        if (s == STATUS_OK)
            s = change_apply(db, &c, &e);
        if (s == STATUS_NOT_FOUND && c.type == CHANGE_SIGNAL)
            refused_signals++; /* the item went while the event was on its way */
        else if (s != STATUS_OK)
            fail_msg("record %zu of type %u: %s: %s", records.applied, c.type, status_name(s), e.text);
        if ((c.type == CHANGE_PUT || c.type == CHANGE_PATCH) && (c.slot != slot || c.generation != generation))
            fail_msg("record %zu: slot %u:%u became %u:%u", records.applied, slot, generation, c.slot, c.generation);
        arena_destroy(arena);
    }
    pthread_mutex_unlock(&records.lock);
}

/* ---- are they the same? ---- */

static bool same_text(const char *a, uint32_t na, const char *b, uint32_t nb)
{
    return na == nb && memcmp(a, b, na) == 0;
}

static bool same_keyword(const struct field *f, uint32_t a, const struct field *g, uint32_t b)
{
    uint32_t na, nb;
    if (a == 0 || b == 0)
        return a == b;
    const char *x = dictionary_text(f->dictionary, a, &na), *y = dictionary_text(g->dictionary, b, &nb);
    return same_text(x, na, y, nb);
}

static bool same_field(const struct field *f, const struct row *a, const struct field *g, const struct row *b)
{
    unsigned i = f->index, na, nb;
    if (row_null(a, i) != row_null(b, i))
        return false;
    if (row_null(a, i))
        return true;
    switch (f->def.type) {
    case FIELD_KEYWORD: return same_keyword(f, row_keyword(a, i), g, row_keyword(b, i));
    case FIELD_KEYWORDS: {
        const uint32_t *x = row_keywords(a, i, &na), *y = row_keywords(b, i, &nb);
        bool same = na == nb;
        for (unsigned j = 0; same && j < na; j++)
            same = same_keyword(f, x[j], g, y[j]);
        return same;
    }
    case FIELD_TEXT: {
        const char *x = row_text(a, i, &na), *y = row_text(b, i, &nb);
        return same_text(x, na, y, nb);
    }
    case FIELD_VECTOR: {
        const float *x = row_vector(a, i, &na), *y = row_vector(b, i, &nb);
        return na == nb && memcmp(x, y, na * sizeof *x) == 0;
    }
    default: return row_int(a, i) == row_int(b, i); /* also the bits of a REAL */
    }
}

static bool same_key(const struct kind *k, const struct key_rec *a, const struct key_rec *b)
{
    return k->integer_keys ? a->number == b->number : same_text(a->bytes, a->length, b->bytes, b->length);
}

static void same_row(const struct kind *k, const struct kind *l, uint32_t slot, const struct row *a, const struct row *b)
{
    if ((a == NULL) != (b == NULL))
        fail_msg("%s: slot %u lives in one only", k->name, slot);
    if (a == NULL)
        return;
    if (!same_key(k, a->key, b->key) || a->first_put != b->first_put)
        fail_msg("%s: slot %u: another key or first put", k->name, slot);
    for (unsigned i = 0; i < k->n_fields; i++)
        if (!same_field(k->fields[i], a, l->fields[i], b))
            fail_msg("%s: slot %u: field %s differs", k->name, slot, k->fields[i]->def.name);
}

static void same_signals(const struct kind *k, const struct kind *l, uint32_t slot, int64_t at)
{
    for (unsigned i = 0; i < k->n_signals; i++) {
        const struct signal *s = kind_signal_rcu(k, i), *t = kind_signal_rcu(l, i);
        if ((s == NULL) != (t == NULL))
            fail_msg("%s: signal %u was dropped in one only", k->name, i);
        if (s == NULL)
            continue;
        double a = signal_decay(s, slot, at), b = signal_decay(t, slot, at);
        bool same = memcmp(&a, &b, sizeof a) == 0 && signal_last(s, slot, at) == signal_last(t, slot, at);
        for (unsigned w = 0; w <= k->signals[i].def->n_windows && same; w++) {
            unsigned window = w < k->signals[i].def->n_windows ? w : SIGNAL_ALL;
            a = signal_sum(s, slot, window, at);
            b = signal_sum(t, slot, window, at);
            same = memcmp(&a, &b, sizeof a) == 0 && signal_count(s, slot, window, at) == signal_count(t, slot, window, at);
        }
        if (!same)
            fail_msg("%s: slot %u: signal %s differs at %lld", k->name, slot, k->signals[i].def->name, (long long)at);
    }
}

static void same_kind(const struct kind *k, const struct kind *l)
{
    assert_string_equal(k->name, l->name);
    assert_int_equal(kind_dropped(k), kind_dropped(l));
    if (kind_dropped(k))
        return;
    assert_int_equal(k->n_slots, l->n_slots);
    assert_int_equal(k->n_items, l->n_items);
    assert_int_equal(k->n_fields, l->n_fields);
    assert_int_equal(k->n_signals, l->n_signals);
    reclaim_enter(); /* RCU: protects rows and signals that are looked at */
    for (uint32_t slot = 0; slot < k->n_slots; slot++) {
        const struct row *a, *b;
        block_rows(k, slot, 1, &a);
        block_rows(l, slot, 1, &b);
        same_row(k, l, slot, a, b);
        assert_int_equal(*(uint32_t *)chunks_at(&k->generations, slot), *(uint32_t *)chunks_at(&l->generations, slot));
        for (int64_t later = 0; a != NULL && later < 3; later++)
            same_signals(k, l, slot, now + later * later * 5000 * MICROS);
    }
    reclaim_leave();
}

static const char *const questions[] = {
    "RETRIEVE film USING decay(view) + random(3) RETURN title, director, genres, released, minutes, rating, look, last(view) LIMIT 999",
    "RETRIEVE film USING hot LIMIT 50",
    "RETRIEVE film USING count(view, 1h) + sum(view, all) WHERE director = 'noir7' OR genres = 'drama3' COUNT LIMIT 30",
    "RETRIEVE film ORDER BY title DESC, minutes RETURN minutes LIMIT 40",
    "RETRIEVE film USING decay(brief) WHERE minutes IS NOT NULL DIVERSITY director 1 PER 4, genres SHARE 0.5 RETURN created LIMIT 25",
    "RETRIEVE thing USING decay(pop) + size RETURN key, size, tags COUNT LIMIT 100",
    "RETRIEVE thing ORDER BY key DESC LIMIT 100",
    "RETRIEVE film USING mine LIMIT 10",
    "RETRIEVE passing LIMIT 10",
};

static void same_answer(const char *question)
{
    eagre_run_options o = {.struct_size = sizeof o, .flags = EAGRE_RUN_NOW, .now = now};
    eagre_db *dbs[2] = {first, second};
    static char blocks[2][1 << 20] __attribute__((aligned(8)));
    eagre_status s[2];
    memset(blocks, 0, sizeof blocks); /* what lies between the parts of an answer is not written */
    for (int i = 0; i < 2; i++) {
        eagre_stmt *stmt;
        size_t needed;
        s[i] = eagre_prepare(dbs[i], question, strlen(question), &stmt, NULL);
        if (s[i] == EAGRE_OK) {
            s[i] = eagre_run(stmt, NULL, 0, NULL, 0, &o, blocks[i], sizeof blocks[i], &needed, NULL);
            eagre_finalize(stmt);
        }
    }
    if (s[0] != s[1])
        fail_msg("%s: %s and %s", question, eagre_status_name(s[0]), eagre_status_name(s[1]));
    if (s[0] != EAGRE_OK)
        return;
    const eagre_result *r = (const void *)blocks[0];
    size_t length = (size_t)(r->cursor_length ? r->cursor_at : r->bytes); /* cursors are bound to their database */
    if (memcmp(blocks[0], blocks[1], length) != 0)
        fail_msg("%s: answers differ", question);
}

/* What has expired goes now: the clock stands. The second forgets what the first forgets: where a clock is set back after that, nothing else would tell
 * it to. */
static void maintain(void)
{
    eagre_error e = {.struct_size = sizeof e};
    right(eagre_maintain(first, &e), &e, "maintain");
    replay();
    for (unsigned i = 0; i < inside(first)->catalog.n_kinds; i++) /* by the records alone */
        assert_int_equal(inside(first)->catalog.kinds[i]->n_items, inside(second)->catalog.kinds[i]->n_items);
    assert_int_equal(eagre_set_clock(second, now, NULL), EAGRE_OK);
    right(eagre_maintain(second, &e), &e, "maintain");
    assert_int_equal(eagre_set_clock(second, TIME_MIN_US, NULL), EAGRE_OK);
}

static void compare(void)
{
    eagre_error e = {.struct_size = sizeof e};
    maintain();
    struct database *a = inside(first), *b = inside(second);
    assert_int_equal(take(&a->catalog.n_kinds), take(&b->catalog.n_kinds));
    for (unsigned i = 0; i < a->catalog.n_kinds; i++)
        same_kind(a->catalog.kinds[i], b->catalog.kinds[i]);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        same_answer(questions[i]);
    right(eagre_validate(first, &e), &e, "the first");
    right(eagre_validate(second, &e), &e, "the second");
}

/* ---- operations ---- */

static eagre_value film_key(void)
{
    char *text = pool.text[pool.n_texts++ % 96];
    uint32_t i = below(FILM_KEYS);
    int n = snprintf(text, 48, "film%cnumber-%u", i % 7 ? '-' : '\0', i); /* any byte may stand in a key */
    return h_bytes(text, (size_t)n);
}

static eagre_value thing_key(void)
{
    uint32_t i = below(THING_KEYS);
    return i == 0 ? h_uint(UINT64_MAX) : i == 1 ? h_uint(1ull << 63) : chance(2) ? h_int(i) : h_uint(i);
}

static eagre_value film_value(uint32_t field)
{
    if (chance(8))
        return h_null();
    switch (field) {
    case 0:
    case 1: return word();
    case 2: return words();
    case 3: return moment();
    case 4: return integer();
    case 5: return chance(2) ? h_real((double)below(100) / 3) : h_int(below(9));
    case 6: return vector();
    case 7: return chance(2) ? h_null() : h_time(now + ((int64_t)below(4000) - 300) * MICROS);
    default: return integer();
    }
}

static void put(void)
{
    static const char *const names[] = {"title", "director", "genres", "released", "minutes", "rating", "look", "until"};
    static char extra[EXTRA_FIELDS][16];
    eagre_error e = {.struct_size = sizeof e};
    eagre_value fields[8 + EXTRA_FIELDS], values[8 + EXTRA_FIELDS], key;
    uint32_t n = 0, flags = chance(3) ? EAGRE_PATCH : 0;
    bool film = !chance(4);
    if (film) {
        for (uint32_t i = 0; i < 8 + n_extra; i++) {
            if (chance(3))
                continue;
            if (i >= 8)
                snprintf(extra[i - 8], sizeof extra[0], "extra%u", i - 8);
            fields[n] = h_text(i < 8 ? names[i] : extra[i - 8]);
            values[n++] = film_value(i);
        }
        key = film_key();
    } else {
        fields[0] = h_text("tags");
        values[0] = words();
        fields[1] = h_text("size");
        values[1] = integer();
        n = below(3);
        key = thing_key();
    }
    eagre_status s = eagre_put(first, film ? "film" : "thing", &key, n, fields, values, NULL, 0, flags, &e);
    if (s != EAGRE_OK && !(s == EAGRE_NOT_FOUND && flags) && s != EAGRE_RANGE)
        right(s, &e, "put");
}

static void delete (void)
{
    eagre_error e = {.struct_size = sizeof e};
    bool film = !chance(4);
    eagre_value key = film ? film_key() : thing_key();
    eagre_status s = eagre_delete(first, film ? "film" : "thing", &key, NULL, 0, &e);
    if (s != EAGRE_NOT_FOUND)
        right(s, &e, "delete");
}

/* Early, late and to come; with and without a weight of its own. */
static int64_t event_time(void)
{
    switch (below(6)) {
    case 0: return EAGRE_NOW;
    case 1: return now + (int64_t)below(1000000) * MICROS;
    case 2: return below(1000);
    case 3: return now - (int64_t)below(400) * 86400 * MICROS;
    default: return now - (int64_t)below(7200) * MICROS;
    }
}

static void send_events(void)
{
    static const char *const names[] = {"view", "like", "brief", "dislike", "pop"};
    uint32_t which = below(5), signal, n = chance(3) ? below(20) : 1;
    bool film = which < 4;
    eagre_error e = {.struct_size = sizeof e};
    eagre_value keys[20], ids[20];
    double weights[20];
    int64_t times[20];
    for (uint32_t i = 0; i < n; i++) {
        keys[i] = film ? film_key() : thing_key();
        ids[i] = chance(3) ? word() : chance(2) ? h_int(below(500)) : h_null();
        if (ids[i].type == EAGRE_TEXT && ids[i].length == 0)
            ids[i] = h_uint(UINT64_MAX);
        weights[i] = chance(2) ? 1.0 : (double)(1 + below(1000)) / 16;
        times[i] = event_time();
    }
    right(eagre_signal_id(first, names[which], NULL, &signal, &e), &e, "signal_id");
    eagre_status s;
    uint64_t handle;
    if (n != 1) {
        eagre_column column = {.type = EAGRE_COLUMN_VALUES, .at = (uintptr_t)keys, .nulls_at = EAGRE_NO_NULLS};
        s = eagre_signal_many(first, signal, n, NULL, &column, weights, times, chance(2) ? ids : NULL, NULL, 0, NULL, &e);
    } else if (chance(2) && eagre_handle(first, film ? "film" : "thing", keys, NULL, 0, &handle, NULL) == EAGRE_OK) {
        s = eagre_signal(first, signal, handle, weights[0], times[0], &e);
    } else {
        s = eagre_signal_key(first, signal, keys, weights[0], times[0], chance(2) ? ids : NULL, NULL, 0, &e);
    }
    if (s != EAGRE_OK && s != EAGRE_NOT_FOUND && s != EAGRE_DUPLICATE)
        right(s, &e, "signal");
}

static void exec(const char *text)
{
    eagre_error e = {.struct_size = sizeof e};
    eagre_status s = eagre_exec(first, text, strlen(text), &e);
    if (s != EAGRE_OK)
        fail_msg("%s: %s", text, e.text);
}

static void change_schema(void)
{
    char text[256];
    switch (below(5)) {
    case 0:
        if (n_extra == EXTRA_FIELDS)
            return;
        snprintf(text, sizeof text, "ALTER ITEM film ADD extra%u INTEGER", n_extra++);
        break;
    case 1: /* few kinds can ever be made */
        if (n_temporary++ >= 20)
            return;
        exec("CREATE ITEM passing (a INTEGER, b KEYWORD, e TIME EXPIRES)");
        exec("CREATE SIGNAL s ON passing NO DECAY");
        eagre_value field = h_text("a"), value = h_int(1), key = h_text("k");
        eagre_put(first, "passing", &key, 1, &field, &value, NULL, 0, 0, NULL);
        snprintf(text, sizeof text, "DROP ITEM passing");
        break;
    case 2: snprintf(text, sizeof text, "CREATE PROFILE IF NOT EXISTS mine ON film AS %u + count(view, all)", below(9)); break;
    case 3: snprintf(text, sizeof text, "DROP PROFILE IF EXISTS mine ON film"); break;
    default: exec("DROP SIGNAL brief ON film"); snprintf(text, sizeof text, "CREATE SIGNAL brief ON film HALF LIFE 30s WINDOWS 1m FORGETS");
    }
    exec(text);
}

static void move_clock(void)
{
    static const int64_t steps[] = {1, 1000, 30 * MICROS, 3600 * MICROS, 86400 * MICROS, -3000 * MICROS};
    now += (int64_t)(draw() % 1000) * steps[below(6)] / 100;
    assert_int_equal(eagre_set_clock(first, now, NULL), EAGRE_OK);
}

static void operate(void)
{
    uint32_t what = below(1000);
    pool.n_texts = 0;
    if (what < 450)
        put();
    else if (what < 530)
        delete ();
    else if (what < 900)
        send_events();
    else if (what < 988)
        move_clock();
    else if (what < 996)
        change_schema();
    else
        maintain();
}

static const char schema[] =
    "CREATE ITEM film (title TEXT, director KEYWORD AS author, genres KEYWORDS, released TIME AS created, minutes INTEGER, rating REAL,"
    "                  look VECTOR(4), until TIME EXPIRES);"
    "CREATE ITEM thing (tags KEYWORDS, size INTEGER) KEY INTEGER;"
    "CREATE SIGNAL view ON film HALF LIFE 7d WINDOWS 1h, 24h, 30d; CREATE SIGNAL like ON film NO DECAY; CREATE SIGNAL dislike ON film NO "
    "DECAY;"
    "CREATE SIGNAL brief ON film HALF LIFE 30s WINDOWS 1m FORGETS; CREATE SIGNAL pop ON thing POWER DECAY 0.5";

static void begin(void)
{
    const char *text = getenv("EAGRE_TEST_SEED");
    seed = text != NULL ? strtoull(text, NULL, 10) : (uint64_t)clock_precise();
    print_message("seed %llu\n", (unsigned long long)seed);
    now = START;
    first = open_at(now);
    second = open_at(TIME_MIN_US); /* its own clock takes nothing away: every death is in the records */
    inside(first)->listener = keep;
    exec(schema);
}

static void test_replay(void **state)
{
    (void)state;
    for (unsigned i = 1; i <= OPERATIONS; i++) {
        operate();
        if (i % COMPARE_EVERY == 0)
            compare();
    }
    print_message("%zu records, of which %u events came after their item had gone\n", records.n, refused_signals);
    assert_true(refused_signals <= records.n / 1000);
}

/* ---- damage ---- */

static const struct record *random_record(void)
{
    return records.all[below((uint32_t)records.n)];
}

/* Decodes a copy of exactly that many bytes, so that a look beyond them is found out. */
static bool decode(const uint8_t *bytes, size_t length, bool apply)
{
    struct database *db = inside(victim);
    struct arena *arena = arena_create();
    struct change c;
    uint8_t *copy = malloc(length ? length : 1);
    assert_true(copy != NULL && arena != NULL);
    memcpy(copy, bytes, length);
    bool good = change_decode(db, copy, length, arena, &c);
    /* A slot far away is not damage that can be seen; it would only take memory for all the slots before it. */
    bool near = good && (c.type == CHANGE_SCHEMA || c.slot == SLOT_ANY || c.slot < db->catalog.kinds[c.kind]->n_slots + 5000);
    if (near && apply && change_check(db, &c, NULL) == STATUS_OK)
        change_apply(db, &c, NULL);
    arena_destroy(arena);
    free(copy);
    return good;
}

static void test_truncated(void **state)
{
    (void)state;
    victim = open_at(START);
    for (size_t i = 0; i < records.n && i < 2000; i++)
        assert_true(decode(records.all[i]->bytes, records.all[i]->length, true));
    static uint8_t longer[16384];
    for (unsigned i = 0; i < 400; i++) {
        const struct record *r = random_record();
        for (size_t length = 0; length < r->length; length++)
            assert_false(decode(r->bytes, length, false));
        if (r->length < sizeof longer) {
            memcpy(longer, r->bytes, r->length);
            assert_false(decode(longer, r->length + 1, false));
        }
    }
}

static void test_damaged(void **state)
{
    (void)state;
    eagre_error e = {.struct_size = sizeof e};
    uint8_t bytes[16384];
    unsigned decoded = 0, tried = 0;
    for (unsigned i = 0; i < 20000; i++) {
        const struct record *r = random_record();
        if (r->length > sizeof bytes)
            continue;
        memcpy(bytes, r->bytes, r->length);
        for (uint32_t flips = 1 + below(3); flips > 0; flips--)
            bytes[below((uint32_t)r->length)] ^= (uint8_t)(1u << below(8));
        tried++;
        decoded += decode(bytes, r->length, true);
    }
    print_message("%u of %u damaged records decoded\n", decoded, tried);
    right(eagre_validate(victim, &e), &e, "the victim");
    struct answer a = {0};
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        answer_query(&a, victim, questions[i], NULL, 0, NULL);
    answer_free(&a);
}

static int group_begin(void **state)
{
    (void)state;
    begin();
    return 0;
}

static int group_end(void **state)
{
    (void)state;
    eagre_close(first);
    eagre_close(second);
    eagre_close(victim);
    for (size_t i = 0; i < records.n; i++)
        free(records.all[i]);
    free(records.all);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replay),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
