/* SPDX-License-Identifier: MIT */
/* Items: values and keys that fit or not, put, patch, delete, expiry, slots used again, columns and blocks; against a model, and without memory. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/publish.h"
#include "store_fixture.h"

static struct catalog catalog;

static struct kind *make_kind(bool integer_keys, unsigned n, const struct field_def *fields)
{
    struct error e = {0};
    catalog_init(&catalog);
    assert_int_equal(catalog_create_kind(&catalog, "film", integer_keys, n, fields, &e), STATUS_OK);
    return catalog_kind(&catalog, "film");
}

static struct kind *make_film(void)
{
    return make_kind(false, FILM_FIELDS, FILM);
}

#define assert_says(e, words) (strstr((e).text, words) != NULL ? (void)0 : fail_msg("\"%s\" does not say \"%s\"", (e).text, words))

/* ---- values and keys ---- */

static void check(const struct kind *k, unsigned field, struct value v, status expected, uint32_t type)
{
    struct error e = {0};
    status s = items_check_value(k->fields[field], &v, &e);
    if (s != expected)
        fail_msg("field %u: %s instead of %s: %s", field, status_name(s), status_name(expected), e.text);
    if (s == STATUS_OK)
        assert_int_equal(v.type, type);
    else {
        assert_int_equal(e.code, expected);
        assert_says(e, FILM[field].name);
        assert_says(e, "film");
    }
}

static void scalars_that_fit(void **state)
{
    (void)state;
    struct kind *k = make_film();
    for (unsigned i = 0; i < FILM_FIELDS; i++)
        check(k, i, v_null(), STATUS_OK, VALUE_NULL);
    check(k, MINUTES, v_int(INT64_MIN), STATUS_OK, VALUE_INT);
    check(k, MINUTES, v_int(INT64_MAX), STATUS_OK, VALUE_INT);
    check(k, MINUTES, v_uint(1ull << 63), STATUS_RANGE, 0);
    check(k, MINUTES, v_real(3.0), STATUS_TYPE, 0);
    check(k, MINUTES, v_time(3), STATUS_TYPE, 0);
    check(k, MINUTES, v_text("3"), STATUS_TYPE, 0);
    check(k, RATING, v_real(8.5), STATUS_OK, VALUE_REAL);
    check(k, RATING, v_int(8), STATUS_OK, VALUE_REAL);
    check(k, RATING, v_uint(UINT64_MAX), STATUS_OK, VALUE_REAL);
    check(k, RATING, v_real((double)NAN), STATUS_RANGE, 0);
    check(k, RATING, v_real((double)INFINITY), STATUS_RANGE, 0);
    check(k, RATING, v_real(-(double)INFINITY), STATUS_RANGE, 0);
    check(k, RATING, v_time(8), STATUS_TYPE, 0);
    check(k, RATING, v_text("8"), STATUS_TYPE, 0);
    check(k, RELEASED, v_time(TIME_MIN_US), STATUS_OK, VALUE_TIME);
    check(k, RELEASED, v_time(TIME_MAX_US), STATUS_OK, VALUE_TIME);
    check(k, RELEASED, v_time(TIME_MAX_US + 1), STATUS_RANGE, 0);
    check(k, RELEASED, v_int(TIME_MIN_US - 1), STATUS_RANGE, 0);
    check(k, RELEASED, v_int(INT64_MIN), STATUS_RANGE, 0);
    check(k, RELEASED, v_uint(UINT64_MAX), STATUS_RANGE, 0);
    check(k, RELEASED, v_int(0), STATUS_OK, VALUE_TIME);
    check(k, RELEASED, v_real(0), STATUS_TYPE, 0);
    check(k, RELEASED, v_text("1994-07-14"), STATUS_OK, VALUE_TIME);
    check(k, RELEASED, v_text("1994-07-14 10:00:00.5Z"), STATUS_OK, VALUE_TIME);
    check(k, RELEASED, v_text("1994-02-30"), STATUS_TYPE, 0);
    check(k, RELEASED, v_text("yesterday, or the day before that, who knows"), STATUS_TYPE, 0);
    check(k, RELEASED, v_text("\xff"), STATUS_TYPE, 0);
    struct value v = v_text("1970-01-01 00:00:01");
    assert_int_equal(items_check_value(k->fields[RELEASED], &v, NULL), STATUS_OK);
    assert_int_equal(v.i, 1000000);
    struct error e = {0};
    v = v_text("long");
    assert_int_equal(items_check_value(k->fields[MINUTES], &v, &e), STATUS_TYPE);
    assert_string_equal(e.text, "field 'minutes' of 'film' expects an integer, got text");
    catalog_destroy(&catalog);
}

static void texts_that_fit(void **state)
{
    (void)state;
    struct kind *k = make_film();
    char *wide = malloc(MAX_TEXT + 1);
    memset(wide, 'x', MAX_TEXT + 1);
    check(k, TITLE, v_bytes(wide, MAX_TEXT), STATUS_OK, VALUE_TEXT);
    check(k, TITLE, v_bytes(wide, MAX_TEXT + 1), STATUS_LIMIT, 0);
    check(k, TITLE, v_text(""), STATUS_OK, VALUE_TEXT);
    check(k, TITLE, v_text("\xc3"), STATUS_ENCODING, 0);
    check(k, TITLE, v_int(3), STATUS_TYPE, 0);
    check(k, DIRECTOR, v_bytes(wide, MAX_KEYWORD), STATUS_OK, VALUE_TEXT);
    check(k, DIRECTOR, v_bytes(wide, MAX_KEYWORD + 1), STATUS_LIMIT, 0);
    check(k, DIRECTOR, v_text("\xed\xa0\x80"), STATUS_ENCODING, 0);
    check(k, DIRECTOR, v_list(NULL, 0), STATUS_TYPE, 0);
    struct value mixed[] = {v_text("a"), v_int(1)}, bad[] = {v_text("a"), v_text("\x80")}, null[] = {v_null()};
    check(k, GENRES, v_list(NULL, 0), STATUS_OK, VALUE_LIST);
    check(k, GENRES, v_list(mixed, 1), STATUS_OK, VALUE_LIST);
    check(k, GENRES, v_list(mixed, 2), STATUS_TYPE, 0);
    check(k, GENRES, v_list(bad, 2), STATUS_ENCODING, 0);
    check(k, GENRES, v_list(null, 1), STATUS_TYPE, 0);
    check(k, GENRES, v_text("a"), STATUS_TYPE, 0);
    struct value many[3000];
    char names[3000][8];
    for (int i = 0; i < 3000; i++) {
        snprintf(names[i], sizeof names[i], "g%d", i % 256);
        many[i] = v_text(names[i]);
    }
    check(k, GENRES, v_list(many, 3000), STATUS_OK, VALUE_LIST); /* 256 different ones */
    many[2999] = v_text("one more");
    check(k, GENRES, v_list(many, 3000), STATUS_LIMIT, 0);
    float numbers[5] = {1, 2, 3, 4, 5};
    check(k, LOOK, v_vector(numbers, 4), STATUS_OK, VALUE_VECTOR);
    check(k, LOOK, v_vector(numbers, 3), STATUS_TYPE, 0);
    check(k, LOOK, v_vector(numbers, 5), STATUS_TYPE, 0);
    check(k, LOOK, v_list(mixed, 2), STATUS_TYPE, 0);
    numbers[2] = INFINITY;
    check(k, LOOK, v_vector(numbers, 4), STATUS_RANGE, 0);
    numbers[2] = NAN;
    check(k, LOOK, v_vector(numbers, 4), STATUS_RANGE, 0);
    free(wide);
    catalog_destroy(&catalog);
}

static void keys_that_fit(void **state)
{
    (void)state;
    struct key key;
    struct error e = {0};
    char wide[MAX_KEY + 1];
    struct value v;
    struct kind *k = make_film();
    memset(wide, 0xff, sizeof wide);
    assert_int_equal(items_check_key(k, (v = v_bytes(wide, MAX_KEY), &v), &key, &e), STATUS_OK); /* any bytes */
    assert_int_equal(key.length, MAX_KEY);
    assert_int_equal(items_check_key(k, (v = v_bytes(wide, MAX_KEY + 1), &v), &key, &e), STATUS_LIMIT);
    assert_int_equal(items_check_key(k, (v = v_text(""), &v), &key, &e), STATUS_RANGE);
    assert_int_equal(items_check_key(k, (v = v_int(1), &v), &key, &e), STATUS_TYPE);
    assert_int_equal(items_check_key(k, (v = v_null(), &v), &key, &e), STATUS_TYPE);
    catalog_destroy(&catalog);
    k = make_kind(true, 0, NULL);
    assert_int_equal(items_check_key(k, (v = v_int(0), &v), &key, &e), STATUS_OK);
    assert_int_equal(items_check_key(k, (v = v_uint(UINT64_MAX), &v), &key, &e), STATUS_OK);
    assert_true(key.number == UINT64_MAX);
    assert_int_equal(items_check_key(k, (v = v_int(-1), &v), &key, &e), STATUS_RANGE);
    assert_int_equal(items_check_key(k, (v = v_text("1"), &v), &key, &e), STATUS_TYPE);
    assert_int_equal(items_check_key(k, (v = v_real(1), &v), &key, &e), STATUS_TYPE);
    struct item_change done;
    static const uint64_t edges[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, 1ull << 63};
    for (size_t i = 0; i < 5; i++) {
        struct change none = {0};
        v = edges[i] > INT64_MAX ? v_uint(edges[i]) : v_int((int64_t)edges[i]);
        assert_int_equal(put_change(k, v, &none, false, 5, &done, &e), STATUS_OK);
        assert_int_equal(done.slot, i);
    }
    reclaim_enter();
    assert_true(find(k, v_uint(UINT64_MAX), 5)->key->number == UINT64_MAX);
    assert_null(find(k, v_int(2), 5));
    reclaim_leave();
    assert_true(valid(k));
    catalog_destroy(&catalog);
}

/* ---- one item ---- */

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

static void put_and_patch(void **state)
{
    (void)state;
    struct kind *k = make_film();
    struct error e = {0};
    struct item_change done;
    float look[4] = {1, -2, 0.5f, 0};
    struct value genres[] = {v_text("drama"), v_text("crime"), v_text("drama"), v_text("")};
    struct change ch = {0}, patch = {0}, null = {0}, bare = {0};
    uint32_t length;
    unsigned n;
    set(&patch, MINUTES, v_int(103));
    assert_int_equal(put_change(k, v_text("tt1"), &patch, true, 7, &done, &e), STATUS_NOT_FOUND);
    all_of(&ch, "Chungking Express", genres, look);
    assert_int_equal(put_change(k, v_text("tt1"), &ch, false, 7, &done, &e), STATUS_OK);
    assert_int_equal(done.slot, 0);
    assert_int_equal(done.generation, 1);
    reclaim_enter();
    const struct row *row = find(k, v_text("tt1"), 9);
    assert_int_equal(row->first_put, 7);
    assert_memory_equal(row->key->bytes, "tt1", 3);
    assert_memory_equal(row_text(row, TITLE, &length), "Chungking Express", 17);
    assert_int_equal(length, 17);
    const uint32_t *ids = row_keywords(row, GENRES, &n);
    assert_int_equal(n, 3); /* order of first mention, repeats dropped, the empty text is one */
    assert_int_equal(ids[0], dictionary_find(k->fields[GENRES]->dictionary, "drama", 5));
    assert_int_equal(ids[1], dictionary_find(k->fields[GENRES]->dictionary, "crime", 5));
    assert_int_equal(ids[2], dictionary_find(k->fields[GENRES]->dictionary, "", 0));
    assert_int_equal(row_keyword(row, DIRECTOR), dictionary_find(k->fields[DIRECTOR]->dictionary, "Wong", 4));
    assert_int_equal(row_int(row, MINUTES), 102);
    assert_true(row_real(row, RATING) == 8.0);
    assert_int_equal(row_int(row, RELEASED), 774144000000000);
    assert_memory_equal(row_vector(row, LOOK, &n), look, sizeof look);
    assert_int_equal(n, 4);
    assert_true(row_null(row, UNTIL));
    assert_true(row_null(row, 200)); /* a field that came later */
    assert_int_equal(row_keyword(row, 200), 0);
    row_keywords(row, 200, &n);
    assert_int_equal(n, 0);
    reclaim_leave();
    /* A patch changes what it names, a null too; first_put and generation stay. */
    set(&null, DIRECTOR, v_null());
    assert_int_equal(put_change(k, v_text("tt1"), &patch, true, 8, &done, &e), STATUS_OK);
    assert_int_equal(put_change(k, v_text("tt1"), &null, true, 8, &done, &e), STATUS_OK);
    assert_int_equal(done.generation, 1);
    reclaim_enter();
    row = find(k, v_text("tt1"), 9);
    assert_int_equal(row->first_put, 7);
    assert_int_equal(row_int(row, MINUTES), 103);
    assert_true(row_null(row, DIRECTOR));
    assert_memory_equal(row_text(row, TITLE, &length), "Chungking Express", 17);
    assert_int_equal((row_keywords(row, GENRES, &n), n), 3);
    assert_memory_equal(row_vector(row, LOOK, &n), look, sizeof look);
    reclaim_leave();
    assert_true(valid(k));
    /* A put replaces all. */
    assert_int_equal(put_change(k, v_text("tt1"), &bare, false, 9, &done, &e), STATUS_OK);
    assert_int_equal(done.slot, 0);
    reclaim_enter();
    row = find(k, v_text("tt1"), 9);
    assert_int_equal(row->first_put, 7);
    for (unsigned i = 0; i < FILM_FIELDS; i++)
        assert_true(row_null(row, i));
    assert_ptr_equal(items_at_rcu(k, 0, 1, 9), row);
    assert_null(items_at_rcu(k, 0, 2, 9));
    assert_null(items_at_rcu(k, 0, 3, 9));
    assert_null(items_at_rcu(k, 1, 1, 9));
    reclaim_leave();
    /* The empty set is not null. */
    struct change empty = {0};
    set(&empty, GENRES, v_list(NULL, 0));
    set(&empty, TITLE, v_text(""));
    assert_int_equal(put_change(k, v_text("tt1"), &empty, false, 9, &done, &e), STATUS_OK);
    reclaim_enter();
    row = find(k, v_text("tt1"), 9);
    assert_false(row_null(row, GENRES));
    assert_false(row_null(row, TITLE));
    assert_int_equal((row_keywords(row, GENRES, &n), n), 0);
    reclaim_leave();
    assert_true(valid(k));
    catalog_destroy(&catalog);
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

/* A thread in a section, so that no grace period ends. */
static struct {
    pthread_t thread;
    int entered, leave; /* atomic */
} holder;

static void *hold_section(void *unused)
{
    (void)unused;
    reclaim_enter();
    publish(&holder.entered, 1);
    while (!take(&holder.leave))
        usleep(100);
    reclaim_leave();
    return NULL;
}

static void grace_periods_stop(void)
{
    holder.entered = holder.leave = 0;
    assert_int_equal(pthread_create(&holder.thread, NULL, hold_section, NULL), 0);
    while (!take(&holder.entered))
        usleep(100);
}

static void grace_periods_go_on(void)
{
    publish(&holder.leave, 1);
    pthread_join(holder.thread, NULL);
}

static void slots_are_used_again(void **state)
{
    (void)state;
    struct kind *k = make_film();
    struct error e = {0};
    struct item_change done;
    char key[16];
    for (int i = 0; i < 10; i++) {
        snprintf(key, sizeof key, "%d", i);
        put_title(k, key, "x", 1, &done);
        assert_int_equal(done.slot, i);
    }
    grace_periods_stop();
    assert_int_equal(delete_key(k, v_text("3"), 1, &e), STATUS_OK);
    assert_int_equal(delete_key(k, v_text("3"), 1, &e), STATUS_NOT_FOUND);
    assert_int_equal(delete_key(k, v_text("7"), 1, &e), STATUS_OK);
    assert_int_equal(delete_key(k, v_text("no"), 1, &e), STATUS_NOT_FOUND);
    assert_int_equal(items_count(k, 1), 8);
    assert_true(valid(k));
    reclaim_enter();
    assert_null(find(k, v_text("3"), 1));
    assert_null(items_at_rcu(k, 3, 1, 1));
    reclaim_leave();
    for (int i = 0; i < 3; i++) /* it starts no more than one, and that does not end */
        sweep(k, 1, 10);
    put_title(k, "3", "y", 2, &done); /* a new item: no grace period has passed, so at the end */
    assert_int_equal(done.slot, 10);
    assert_int_equal(done.generation, 1);
    grace_periods_go_on();
    settle(k);
    assert_true(valid(k));
    put_title(k, "a", "y", 3, &done);
    assert_int_equal(done.slot, 3); /* oldest first */
    assert_int_equal(done.generation, 3);
    put_title(k, "b", "y", 3, &done);
    assert_int_equal(done.slot, 7);
    put_title(k, "c", "y", 3, &done);
    assert_int_equal(done.slot, 11);
    reclaim_enter();
    assert_null(items_at_rcu(k, 3, 1, 1)); /* the old item's handle */
    assert_non_null(items_at_rcu(k, 3, 3, 1));
    assert_int_equal(find(k, v_text("3"), 3)->first_put, 2);
    reclaim_leave();
    assert_true(valid(k));
    catalog_destroy(&catalog);
}

/* A replay says which slots its items have. */
static void slots_by_name(void **state)
{
    (void)state;
    struct kind *k = make_film();
    struct error e = {0};
    struct key key = {.bytes = "a", .length = 1};
    struct item_change ch = {.key = &key, .now = 1, .slot = 5000};
    pthread_mutex_lock(&k->lock);
    assert_int_equal(items_put_w(k, &ch, &e), STATUS_OK);
    assert_int_equal(ch.slot, 5000);
    assert_int_equal(k->n_slots, 5001);
    key.bytes = "b";
    assert_int_equal(items_put_w(k, &ch, &e), STATUS_INVALID); /* that slot has an item */
    ch.slot = 4999;
    assert_int_equal(items_put_w(k, &ch, &e), STATUS_OK);
    uint32_t slot, generation;
    assert_int_equal(items_delete_w(k, &key, 1, &slot, &generation, &e), STATUS_OK);
    assert_int_equal(slot, 4999);
    assert_int_equal(generation, 1);
    ch.slot = 4999; /* died just now */
    assert_int_equal(items_put_w(k, &ch, &e), STATUS_OK);
    assert_int_equal(ch.generation, 3);
    ch.slot = SLOT_MAX;
    key.bytes = "c";
    assert_int_equal(items_put_w(k, &ch, &e), STATUS_LIMIT);
    ch.slot = SLOT_ANY;
    assert_int_equal(items_put_w(k, &ch, &e), STATUS_OK);
    assert_true(ch.slot < 4999);
    pthread_mutex_unlock(&k->lock);
    assert_true(valid(k));
    catalog_destroy(&catalog);
}

static void added_fields(void **state)
{
    (void)state;
    struct kind *k = make_film();
    struct error e = {0};
    struct item_change done;
    put_title(k, "old", "x", 1, &done);
    struct field_def more[] = {{.name = "number", .type = FIELD_INTEGER}, {.name = "real", .type = FIELD_REAL},
                               {.name = "word", .type = FIELD_KEYWORD},   {.name = "words", .type = FIELD_KEYWORDS},
                               {.name = "body", .type = FIELD_TEXT},      {.name = "shape", .type = FIELD_VECTOR, .dimension = 2}};
    assert_int_equal(catalog_add_fields(&catalog, k, 6, more, &e), STATUS_OK);
    assert_true(valid(k));
    int64_t integer;
    double real;
    uint32_t id;
    unsigned first = FILM_FIELDS;
    reclaim_enter();
    const struct row *row = find(k, v_text("old"), 1);
    assert_int_equal(row->n_fields, FILM_FIELDS);
    for (unsigned i = first; i < first + 6; i++)
        assert_true(row_null(row, i));
    block_ints(k->fields[first], 0, 1, &integer);
    block_reals(k->fields[first + 1], 0, 1, &real);
    block_keywords(k->fields[first + 2], 0, 1, &id);
    assert_true(integer == INT64_MIN && isnan(real) && id == 0);
    reclaim_leave();
    struct change ch = {0}; /* a patch of an old row has the new fields */
    set(&ch, first, v_int(5));
    set(&ch, first + 2, v_text("w"));
    assert_int_equal(put_change(k, v_text("old"), &ch, true, 1, &done, &e), STATUS_OK);
    reclaim_enter();
    row = find(k, v_text("old"), 1);
    assert_int_equal(row->n_fields, first + 6);
    assert_int_equal(row_int(row, first), 5);
    assert_true(row_null(row, first + 1));
    reclaim_leave();
    assert_true(valid(k));
    catalog_destroy(&catalog);
}

static void many_fields(void **state)
{
    (void)state;
    static struct field_def defs[MAX_FIELDS];
    for (unsigned i = 0; i < MAX_FIELDS; i++) {
        defs[i] = (struct field_def){.type = (uint8_t)(i % 7), .dimension = 1};
        snprintf(defs[i].name, sizeof defs[i].name, "f%u", i);
    }
    struct kind *k = make_kind(false, MAX_FIELDS, defs);
    struct error e = {0};
    struct item_change done;
    float one = 1;
    struct value word = v_text("w");
    for (unsigned from = 0; from < MAX_FIELDS; from += 32) {
        struct change ch = {0};
        for (unsigned i = from; i < from + 32; i++)
            switch (defs[i].type) {
            case FIELD_KEYWORDS: set(&ch, i, v_list(&word, 1)); break;
            case FIELD_VECTOR: set(&ch, i, v_vector(&one, 1)); break;
            case FIELD_KEYWORD:
            case FIELD_TEXT: set(&ch, i, v_text(defs[i].name)); break;
            default: set(&ch, i, v_int(i));
            }
        assert_int_equal(put_change(k, v_text("key"), &ch, from > 0, 1, &done, &e), STATUS_OK);
    }
    reclaim_enter();
    const struct row *row = find(k, v_text("key"), 1);
    for (unsigned i = 0; i < MAX_FIELDS; i++) {
        uint32_t length;
        assert_false(row_null(row, i));
        if (defs[i].type == FIELD_INTEGER || defs[i].type == FIELD_TIME)
            assert_int_equal(row_int(row, i), i);
        if (defs[i].type == FIELD_TEXT)
            assert_memory_equal(row_text(row, i, &length), defs[i].name, strlen(defs[i].name));
    }
    reclaim_leave();
    assert_true(valid(k));
    catalog_destroy(&catalog);
}

static void rows_too_large(void **state)
{
    (void)state;
    static struct field_def defs[80];
    for (unsigned i = 0; i < 80; i++) {
        defs[i] = (struct field_def){.type = FIELD_TEXT};
        snprintf(defs[i].name, sizeof defs[i].name, "f%u", i);
    }
    struct kind *k = make_kind(false, 80, defs);
    struct error e = {0};
    struct item_change done;
    char *wide = malloc(MAX_TEXT);
    memset(wide, 'x', MAX_TEXT);
    struct change ch = {0};
    for (unsigned i = 0; i < 64; i++)
        set(&ch, i, v_bytes(wide, MAX_TEXT));
    assert_int_equal(put_change(k, v_text("key"), &ch, false, 1, &done, &e), STATUS_LIMIT);
    mem_set_limit(mem_used() + 1000000);
    struct change one = {0};
    set(&one, 0, v_bytes(wide, MAX_TEXT));
    assert_int_equal(put_change(k, v_text("key"), &one, false, 1, &done, &e), STATUS_NO_MEMORY);
    mem_set_limit(0);
    assert_int_equal(put_change(k, v_text("key"), &one, false, 1, &done, &e), STATUS_OK);
    assert_true(valid(k));
    free(wide);
    catalog_destroy(&catalog);
}

/* ---- expiry ---- */

static void put_until(struct kind *k, const char *key, int64_t until, int64_t now, struct item_change *done)
{
    struct error e = {0};
    struct change ch = {0};
    set(&ch, UNTIL, until == 0 ? v_null() : v_time(until));
    if (put_change(k, v_text(key), &ch, false, now, done, &e) != STATUS_OK)
        fail_msg("%s", e.text);
}

static void expiry(void **state)
{
    (void)state;
    struct kind *k = make_film();
    struct error e = {0};
    struct item_change done;
    struct change none = {0};
    put_until(k, "never", 0, 1, &done);
    put_until(k, "at 100", 100, 1, &done);
    put_until(k, "at 200", 200, 1, &done);
    put_until(k, "before", -5, 1, &done); /* gone from the start */
    assert_int_equal(items_count(k, -6), 4);
    assert_int_equal(items_count(k, -5), 3);
    assert_int_equal(items_count(k, 99), 3);
    assert_int_equal(items_count(k, 100), 2);
    assert_int_equal(items_count(k, 1000), 1);
    reclaim_enter();
    assert_non_null(find(k, v_text("at 100"), 99));
    assert_null(find(k, v_text("at 100"), 100));
    assert_non_null(items_at_rcu(k, 1, 1, 99));
    assert_null(items_at_rcu(k, 1, 1, 100));
    reclaim_leave();
    assert_int_equal(put_change(k, v_text("at 100"), &none, true, 100, &done, &e), STATUS_NOT_FOUND);
    grace_periods_stop();
    assert_int_equal(delete_key(k, v_text("before"), 100, &e), STATUS_NOT_FOUND);
    /* A put on an expired key: a new item, in another slot. */
    put_until(k, "at 100", 300, 150, &done);
    assert_int_equal(done.slot, 4);
    grace_periods_go_on();
    reclaim_enter();
    assert_int_equal(find(k, v_text("at 100"), 150)->first_put, 150);
    reclaim_leave();
    /* A put on a living one keeps it. */
    put_until(k, "at 200", 400, 160, &done);
    assert_int_equal(done.slot, 2);
    assert_true(valid(k));
    assert_int_equal(sweep(k, 250, 100), 0);
    assert_int_equal(k->n_items, 3);
    assert_int_equal(sweep(k, 300, 100), 1);
    assert_int_equal(k->n_items, 2);
    assert_int_equal(k->expiry.next, 400);
    assert_int_equal(sweep(k, 399, 100), 0);
    put_until(k, "soon", 350, 310, &done); /* brings the next moment forward */
    assert_int_equal(sweep(k, 399, 100), 1);
    assert_int_equal(sweep(k, INT64_MAX, 100), 1);
    assert_int_equal(items_count(k, INT64_MAX), 1);
    assert_int_equal(delete_key(k, v_text("never"), INT64_MAX, &e), STATUS_OK);
    assert_true(valid(k));
    catalog_destroy(&catalog);
}

static void sweep_within_its_budget(void **state)
{
    (void)state;
    struct kind *k = make_film();
    struct item_change done;
    char key[16];
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "%d", i);
        put_until(k, key, i % 5 == 0 ? 0 : i, -1, &done);
    }
    unsigned total = 0, n;
    while ((n = sweep(k, 2500, 100)) != 0) {
        assert_true(n <= 100);
        total += n;
        if (total == 1000) { /* what comes between is not forgotten */
            put_until(k, "behind", 2600, 0, &done);
            put_until(k, "5", 2400, 0, &done);
        }
        assert_true(valid(k));
    }
    assert_int_equal(total, 2000 + 1 + 0 * 5);
    assert_int_equal(items_count(k, 2500), 3000);
    assert_int_equal(sweep(k, 2600, 10000), 80 + 1);
    assert_true(valid(k));
    catalog_destroy(&catalog);
}

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
    for (uint64_t seed = 1; seed <= 4; seed++) {
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

/* ---- blocks ---- */

static void blocks(void **state)
{
    (void)state;
    struct kind *k = make_film();
    struct error e = {0};
    struct item_change done;
    char key[16];
    for (int i = 0; i < 5000; i++) {
        struct change ch = {0};
        snprintf(key, sizeof key, "%d", i);
        set(&ch, MINUTES, i % 7 == 0 ? v_null() : v_int(i));
        set(&ch, RATING, i % 5 == 0 ? v_null() : v_real(i / 2.0));
        if (i % 3 != 0)
            set(&ch, DIRECTOR, v_text(i % 2 ? "odd" : "even"));
        assert_int_equal(put_change(k, v_text(key), &ch, false, 1, &done, &e), STATUS_OK);
    }
    for (int i = 0; i < 5000; i += 11) {
        snprintf(key, sizeof key, "%d", i);
        assert_int_equal(delete_key(k, v_text(key), 1, &e), STATUS_OK);
    }
    reclaim_enter();
    for (uint32_t slot = 0; slot < 5000; slot += BLOCK) {
        const struct row *rows[BLOCK];
        int64_t ints[BLOCK];
        double reals[BLOCK];
        uint32_t ids[BLOCK];
        unsigned n = 5000 - slot < BLOCK ? 5000 - slot : BLOCK;
        uint32_t start = block_begin(k, slot / BLOCK);
        block_rows(k, slot, n, rows);
        block_ints(k->fields[MINUTES], slot, n, ints);
        block_reals(k->fields[RATING], slot, n, reals);
        block_keywords(k->fields[DIRECTOR], slot, n, ids);
        assert_false(block_moved(k, slot / BLOCK, start));
        for (unsigned i = 0; i < n; i++) {
            uint32_t at = slot + i;
            assert_int_equal(rows[i] != NULL, at % 11 != 0);
            if (rows[i] == NULL)
                continue;
            assert_int_equal(rows[i]->slot, at);
            assert_true(ints[i] == (at % 7 == 0 ? INT64_MIN : (int64_t)at));
            assert_true(at % 5 == 0 ? isnan(reals[i]) : reals[i] == at / 2.0);
            assert_int_equal(ids[i], at % 3 == 0 ? 0 : row_keyword(rows[i], DIRECTOR));
        }
    }
    uint32_t before = block_begin(k, 3);
    reclaim_leave();
    struct change none = {0};
    assert_int_equal(put_change(k, v_text("800"), &none, false, 1, &done, &e), STATUS_OK);
    assert_true(block_moved(k, 3, before));
    assert_false(block_moved(k, 3, block_begin(k, 3)));
    assert_true(block_moved(k, 3, block_begin(k, 3) | 1)); /* begun in the middle of a put */
    catalog_destroy(&catalog);
}

static void statistics(void **state)
{
    (void)state;
    struct kind *k = make_film();
    struct item_change done;
    struct kind_stats stats;
    items_statistics(k, &stats);
    assert_int_equal(stats.items, 0);
    put_title(k, "a", "x", 1, &done);
    items_statistics(k, &stats);
    assert_int_equal(stats.items, 1);
    assert_int_equal(stats.slots, 1);
    assert_true(stats.row_bytes > 100 && stats.row_bytes < 300);
    assert_true(stats.column_bytes > 0 && stats.keyword_bytes > 0 && stats.key_bytes > 0);
    catalog_destroy(&catalog);
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
    for (int round = 0; round < 400; round++) {
        memset(model, 0, sizeof model);
        random_state = (uint64_t)round << 20;
        struct kind *k = make_kind(true, FILM_FIELDS, FILM);
        for (int i = 0; i < 3; i++) /* allocation 1, 2, 3 ... of this round's changes, then of changes on top of these */
            failures += change_without_memory(k, model, 1 + (uint64_t)round / 4, round % 4 == 0);
        assert_false(change_without_memory(k, model, 0, false));
        catalog_destroy(&catalog);
    }
    assert_true(failures > 300);
    reclaim_barrier();
}

/* ---- churn ---- */

static void churn(void **state)
{
    (void)state;
    enum { N = 4000, ROUNDS = 50 };
    struct kind *k = make_film();
    struct error e = {0};
    struct item_change done;
    char key[16];
    uint64_t early = 0;
    uint32_t early_slots = 0;
    struct value genres[] = {v_text("drama"), v_text("crime"), v_text("west"), v_text("east")};
    float look[4] = {1, 2, 3, 4};
    for (int round = 0; round < ROUNDS; round++) {
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
        cmocka_unit_test(scalars_that_fit), cmocka_unit_test(texts_that_fit),
        cmocka_unit_test(keys_that_fit),    cmocka_unit_test(put_and_patch),
        cmocka_unit_test(slots_are_used_again), cmocka_unit_test(slots_by_name),
        cmocka_unit_test(added_fields),     cmocka_unit_test(many_fields),
        cmocka_unit_test(rows_too_large),   cmocka_unit_test(expiry),
        cmocka_unit_test(sweep_within_its_budget), cmocka_unit_test(random_changes),
        cmocka_unit_test(blocks),           cmocka_unit_test(statistics),
        cmocka_unit_test(without_memory),   cmocka_unit_test(churn),
        cmocka_unit_test(churn_without_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
