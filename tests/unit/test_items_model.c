/* SPDX-License-Identifier: MIT */
/* Random puts, patches, deletes and expiry against a model of the items; the same with allocations failing; churn. */
#include "check.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "store_fixture.h"

#ifdef EAGRE_TSAN /* some twenty times slower, and nothing here has two threads */
enum { SEEDS = 1, MEMORY_ROUNDS = 60, CHURN_ROUNDS = 10 };
#else
enum { SEEDS = 4, MEMORY_ROUNDS = 400, CHURN_ROUNDS = 50 };
#endif

/* ---- against a model ---- */

enum { KEYS = 600, WORDS = 40 };

struct model_item {
    bool lives;
    int64_t first_put, minutes, until; /* 0: null */
    double rating;                     /* negative: null */
    int director;                      /* -1: null */
    unsigned n_genres;
    int genres[6];
    char title[80];
};

static uint64_t random_state;

static uint32_t random_below(uint32_t n)
{
    random_state++;
    return (uint32_t)(mix64(random_state) % n);
}

static struct value word(int i)
{
    static char words[WORDS][16];
    if (i > 0) /* word 0 is the empty one */
        snprintf(words[i], sizeof words[i], "word%d", i);
    return v_text(words[i]);
}

static void random_fields(struct model_item *m, struct change *ch, struct value genres[6], bool patch)
{
    if (!patch) {
        m->minutes = m->until = 0;
        m->rating = m->director = -1;
        m->n_genres = 0;
        m->title[0] = 0;
    }
    if (random_below(2)) {
        m->minutes = random_below(3) == 0 ? 0 : (int64_t)random_below(1000) + 1;
        set(ch, MINUTES, m->minutes == 0 ? v_null() : v_int(m->minutes));
    }
    if (random_below(2)) {
        m->rating = random_below(100) / 10.0;
        set(ch, RATING, v_real(m->rating));
    }
    if (random_below(2)) {
        m->director = (int)random_below(WORDS + 1) - 1;
        set(ch, DIRECTOR, m->director < 0 ? v_null() : word(m->director));
    }
    if (random_below(2)) {
        m->n_genres = 0;
        unsigned n = random_below(7);
        for (unsigned i = 0; i < n; i++) {
            int w = (int)random_below(WORDS / 4);
            genres[i] = word(w);
            unsigned j = 0;
            while (j < m->n_genres && m->genres[j] != w)
                j++;
            if (j == m->n_genres)
                m->genres[m->n_genres++] = w;
        }
        set(ch, GENRES, v_list(genres, n));
    }
    if (random_below(2)) {
        unsigned n = random_below(79) + 1;
        memset(m->title, 'a' + (int)random_below(26), n);
        m->title[n] = 0;
        set(ch, TITLE, v_text(m->title));
    }
}

static bool same_word(const struct field *f, uint32_t id, int w)
{
    struct value v = word(w);
    uint32_t length;
    const char *text = dictionary_text(f->dictionary, id, &length);
    return length == v.length && memcmp(text, v.text, length) == 0;
}

static void check_item(const struct kind *k, int key, const struct model_item *m, int64_t now)
{
    bool there = m->lives && (m->until == 0 || m->until > now);
    const struct row *row = find(k, v_int(key), now);
    assert_int_equal(row != NULL, there);
    if (!there)
        return;
    uint32_t length;
    unsigned n;
    assert_int_equal(row->first_put, m->first_put);
    assert_int_equal(row_null(row, MINUTES) ? 0 : row_int(row, MINUTES), m->minutes);
    assert_true((row_null(row, RATING) ? -1 : row_real(row, RATING)) == m->rating);
    assert_int_equal(row_null(row, DIRECTOR), m->director < 0);
    if (m->director >= 0)
        assert_true(same_word(k->fields[DIRECTOR], row_keyword(row, DIRECTOR), m->director));
    const uint32_t *ids = row_keywords(row, GENRES, &n);
    assert_int_equal(n, m->n_genres);
    for (unsigned i = 0; i < n; i++)
        assert_true(same_word(k->fields[GENRES], ids[i], m->genres[i]));
    const char *title = row_text(row, TITLE, &length);
    assert_int_equal(length, strlen(m->title));
    assert_memory_equal(title, m->title, length);
}

static void check_model(struct kind *k, const struct model_item *model, int64_t now)
{
    uint64_t living = 0;
    assert_true(valid(k));
    reclaim_enter();
    for (int key = 0; key < KEYS; key++) {
        check_item(k, key, &model[key], now);
        living += model[key].lives && (model[key].until == 0 || model[key].until > now);
    }
    reclaim_leave();
    assert_int_equal(items_count(k, now), living);
}

static void change_one(struct kind *k, struct model_item *model, int64_t now)
{
    struct error e = {0};
    struct item_change done;
    struct change ch = {0};
    struct value genres[6];
    int key = (int)random_below(KEYS);
    struct model_item *m = &model[key], before = *m;
    if (m->lives && m->until != 0 && m->until <= now)
        before.lives = m->lives = false;
    uint32_t what = random_below(10);
    if (what < 3) {
        assert_int_equal(delete_key(k, v_int(key), now, &e), m->lives ? STATUS_OK : STATUS_NOT_FOUND);
        m->lives = false;
        return;
    }
    bool patch = what < 6;
    random_fields(m, &ch, genres, patch);
    if (random_below(8) == 0) {
        m->until = now + random_below(400);
        set(&ch, UNTIL, v_time(m->until));
    }
    status s = put_change(k, v_int(key), &ch, patch, now, &done, &e);
    if (patch && !before.lives) {
        assert_int_equal(s, STATUS_NOT_FOUND);
        *m = before;
        return;
    }
    assert_int_equal(s, STATUS_OK);
    m->lives = true;
    m->first_put = before.lives ? before.first_put : now;
}

static void random_changes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        static struct model_item model[KEYS];
        memset(model, 0, sizeof model);
        random_state = seed << 40;
        struct kind *k = make_kind(true, FILM_FIELDS, FILM);
        for (int i = 0; i < 20000; i++) {
            int64_t now = 1000 + i;
            change_one(k, model, now);
            if (i % 50 == 0)
                sweep(k, now, random_below(20));
            if (i % 1000 == 0)
                reclaim_barrier();
            if (i % 997 == 0)
                check_model(k, model, now);
        }
        check_model(k, model, 21000);
        assert_true(k->n_slots < 20 * KEYS);
        catalog_destroy(&catalog);
    }
}

/* ---- without memory ---- */

/* A few changes with the n-th allocation failing (and all after it, if so said): each either happens or leaves all as it was. */
static bool change_without_memory(struct kind *k, struct model_item *model, uint64_t n, bool from_then_on)
{
    bool failed = false;
    mem_fail_at(n, from_then_on);
    for (int i = 0; i < 6; i++) {
        struct error e = {0};
        struct item_change done;
        struct change ch = {0};
        struct value genres[6];
        int key = (int)random_below(20);
        struct model_item before = model[key], *m = &model[key];
        if (random_below(4) == 0) {
            status s = delete_key(k, v_int(key), 1, &e);
            m->lives = m->lives && s != STATUS_OK;
            assert_true(s == STATUS_NO_MEMORY || s == (before.lives ? STATUS_OK : STATUS_NOT_FOUND));
            failed |= s == STATUS_NO_MEMORY;
            continue;
        }
        random_fields(m, &ch, genres, false);
        status s = put_change(k, v_int(key), &ch, false, 5 + i, &done, &e);
        if (s != STATUS_OK) {
            assert_int_equal(s, STATUS_NO_MEMORY);
            *m = before;
            failed = true;
        } else {
            m->lives = true;
            m->first_put = before.lives ? before.first_put : 5 + i;
        }
    }
    mem_fail_at(0, false);
    check_model(k, model, 100);
    return failed;
}

static void without_memory(void **state)
{
    (void)state;
    static struct model_item model[KEYS];
    unsigned failures = 0;
    for (int round = 0; round < MEMORY_ROUNDS; round++) {
        memset(model, 0, sizeof model);
        random_state = (uint64_t)round << 20;
        struct kind *k = make_kind(true, FILM_FIELDS, FILM);
        for (int i = 0; i < 3; i++) /* allocation 1, 2, 3 ... of this round's changes, then of changes on top of these */
            failures += change_without_memory(k, model, 1 + (uint64_t)round / 4, round % 4 == 0);
        assert_false(change_without_memory(k, model, 0, false));
        catalog_destroy(&catalog);
    }
    assert_true(failures > MEMORY_ROUNDS);
    reclaim_barrier();
}

/* ---- churn ---- */

static void all_of(struct change *ch, const char *title, struct value *genres, const float *look)
{
    set(ch, TITLE, v_text(title));
    set(ch, DIRECTOR, v_text("Wong"));
    set(ch, GENRES, v_list(genres, 4));
    set(ch, RELEASED, v_text("1994-07-14"));
    set(ch, MINUTES, v_int(102));
    set(ch, RATING, v_int(8));
    set(ch, LOOK, v_vector(look, 4));
}

static void put_title(struct kind *k, const char *key, const char *title, int64_t now, struct item_change *done)
{
    struct error e = {0};
    struct change ch = {0};
    set(&ch, TITLE, v_text(title));
    set(&ch, DIRECTOR, v_text(title));
    if (put_change(k, v_text(key), &ch, false, now, done, &e) != STATUS_OK)
        fail_msg("%s", e.text);
}

static void churn(void **state)
{
    (void)state;
    enum { N = 4000 };
    struct kind *k = make_film();
    struct error e = {0};
    struct item_change done;
    char key[16];
    uint64_t early = 0;
    uint32_t early_slots = 0;
    struct value genres[] = {v_text("drama"), v_text("crime"), v_text("west"), v_text("east")};
    float look[4] = {1, 2, 3, 4};
    for (int round = 0; round < CHURN_ROUNDS; round++) {
        for (int i = 0; i < N; i++) {
            struct change ch = {0};
            snprintf(key, sizeof key, "%d", i);
            all_of(&ch, key, genres, look);
            assert_int_equal(put_change(k, v_text(key), &ch, false, round, &done, &e), STATUS_OK);
        }
        for (int i = 0; i < N; i++) {
            snprintf(key, sizeof key, "%d", (i * 7) % N);
            assert_int_equal(delete_key(k, v_text(key), round, &e), STATUS_OK);
        }
        assert_int_equal(items_count(k, round), 0);
        settle(k);
        if (round == 5) {
            early = mem_used();
            early_slots = k->n_slots;
        }
    }
    assert_true(valid(k));
    assert_int_equal(k->n_slots, early_slots);
    if (mem_used() > early + early / 50)
        fail_msg("memory grew from %llu to %llu bytes", (unsigned long long)early, (unsigned long long)mem_used());
    catalog_destroy(&catalog);
}

/* The same without waiting for anything: the backlog is bounded by how fast grace periods go, not by how many rounds there are. */
static void churn_without_waiting(void **state)
{
    (void)state;
    struct kind *k = make_film();
    struct item_change done;
    struct error e = {0};
    for (int i = 0; i < 200000; i++) {
        put_title(k, "key", "x", i, &done);
        assert_int_equal(delete_key(k, v_text("key"), i, &e), STATUS_OK);
    }
    assert_true(valid(k));
    assert_true(k->n_slots < 150000);
    settle(k);
    assert_int_equal(k->free_slots.cleared, k->n_slots);
    catalog_destroy(&catalog);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_changes),
        cmocka_unit_test(without_memory),
        cmocka_unit_test(churn),
        cmocka_unit_test(churn_without_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
