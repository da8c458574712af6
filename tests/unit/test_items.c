/* SPDX-License-Identifier: MIT */
/* Items: put, patch, delete, expiry, slots used again, added fields, columns and blocks. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/publish.h"
#include "store_fixture.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(put_and_patch), cmocka_unit_test(slots_are_used_again),
        cmocka_unit_test(slots_by_name), cmocka_unit_test(added_fields),
        cmocka_unit_test(many_fields),   cmocka_unit_test(rows_too_large),
        cmocka_unit_test(expiry),        cmocka_unit_test(sweep_within_its_budget),
        cmocka_unit_test(blocks),        cmocka_unit_test(statistics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
