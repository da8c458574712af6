/* SPDX-License-Identifier: MIT */
/* The validator against damage: each invariant is broken by hand, has to be named, and is mended again. */
#include "check.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "store_fixture.h"

static struct kind *k;

static void expect(const char *words)
{
    struct error e = {0};
    pthread_mutex_lock(&k->lock);
    bool right = validate_kind(k, &e);
    pthread_mutex_unlock(&k->lock);
    if (words == NULL) {
        if (!right)
            fail_msg("it was in order: %s", e.text);
        return;
    }
    if (right || e.code != STATUS_INTERNAL || strstr(e.text, words) == NULL)
        fail_msg("wanted '%s', got %s '%s'", words, right ? "no fault" : status_name(e.code), e.text);
}

/* Breaks one place, looks, and mends it. */
#define BREAK(type, place, value, words) \
    do {                                 \
        type *at_ = (type *)(place);     \
        type was_ = *at_;                \
        *at_ = (type)(value);            \
        expect(words);                   \
        *at_ = was_;                     \
        expect(NULL);                    \
    } while (0)

static int make(void **state)
{
    (void)state;
    struct error e = {0};
    struct item_change done;
    struct value genres[] = {v_text("drama"), v_text("crime"), v_text("west")};
    float look[4] = {1, 2, 3, 4};
    char key[16];
    k = make_film();
    for (int i = 0; i < 300; i++) {
        struct change ch = {0};
        snprintf(key, sizeof key, "%d", i);
        set(&ch, TITLE, v_text(key));
        set(&ch, DIRECTOR, v_text(i % 2 ? "odd" : "even"));
        set(&ch, GENRES, v_list(genres, 3));
        set(&ch, MINUTES, v_int(i));
        set(&ch, RATING, v_real(i));
        set(&ch, LOOK, v_vector(look, 4));
        set(&ch, UNTIL, v_time(1000000 + i));
        assert_int_equal(put_change(k, v_text(key), &ch, false, 1, &done, &e), STATUS_OK);
    }
    for (int i = 100; i < 110; i++) {
        snprintf(key, sizeof key, "%d", i);
        assert_int_equal(delete_key(k, v_text(key), 1, &e), STATUS_OK);
        if (i == 105)
            settle(k);
    }
    expect(NULL);
    return 0;
}

static int unmake(void **state)
{
    (void)state;
    catalog_destroy(&catalog);
    return 0;
}

static struct row *row_of(uint32_t slot)
{
    return *(struct row **)chunks_at(&k->rows, slot);
}

static uint64_t *cell(uint32_t slot, unsigned field)
{
    return row_of(slot)->words + row_null_words(FILM_FIELDS) + field;
}

static void rows_and_keys(void **state)
{
    (void)state;
    BREAK(struct row *, chunks_at(&k->rows, 7), NULL, "generation");
    BREAK(struct row *, chunks_at(&k->rows, 100), row_of(7), "generation");
    BREAK(uint32_t, chunks_at(&k->generations, 7), 2, "generation");
    BREAK(uint32_t, &row_of(7)->slot, 8, "its record says");
    BREAK(uint16_t, &row_of(7)->n_fields, 200, "fields");
    BREAK(uint32_t, &row_of(7)->key->ref, 8, "its key says");
    BREAK(struct key_rec *, &row_of(7)->key, row_of(8)->key, "its key says");
    BREAK(uint32_t, &k->n_items, 5, "items live");
    BREAK(uint64_t, &k->row_bytes, 5, "records have");
    BREAK(uint32_t, chunks_at(&k->sequences, 1), 3, "odd");
    BREAK(int64_t, &k->expiry.next, 1000003, "expires before");
}

static void columns_and_fields(void **state)
{
    (void)state;
    BREAK(int64_t, chunks_at(&k->fields[MINUTES]->column, 7), 8, "column 'minutes'");
    BREAK(int64_t, chunks_at(&k->fields[RELEASED]->column, 7), 0, "column 'released'"); /* it is null */
    BREAK(double, chunks_at(&k->fields[RATING]->column, 7), 8, "column 'rating'");
    BREAK(uint32_t, chunks_at(&k->fields[DIRECTOR]->column, 7), 0, "column 'director'");
    BREAK(uint64_t, cell(7, MINUTES), 8, "column 'minutes'");
    BREAK(uint64_t, cell(7, TITLE), 1ull << 42, "outside");
    BREAK(uint64_t, cell(7, LOOK), *cell(7, LOOK) - (1ull << 32), "has 3 numbers");
    uint32_t *ids = (uint32_t *)((char *)row_of(7) + (uint32_t)*cell(7, GENRES));
    BREAK(uint32_t, &ids[1], ids[0], "twice");
    BREAK(uint32_t, &ids[1], 77, "no such keyword");

    BREAK(struct kind *, &k->fields[TITLE]->kind, NULL, "not in its place");
}

static void keyword_sets(void **state)
{
    (void)state;
    struct error e = {0};
    struct item_change done;
    struct change ch = {0};
    unsigned n;
    const struct field *f = k->fields[GENRES];
    set(&ch, GENRES, v_list(&(struct value){.type = VALUE_TEXT, .length = 3, .text = "new"}, 1));
    assert_int_equal(put_change(k, v_text("7"), &ch, true, 1, &done, &e), STATUS_OK);
    uint32_t *ids = (uint32_t *)((char *)row_of(7) + (uint32_t)*cell(7, GENRES)), other = row_keywords(row_of(8), GENRES, &n)[0];
    BREAK(uint32_t, &ids[0], other, NULL); /* its set has the slot still: it is narrowed lazily */
    uint32_t rare = ids[0];
    uint32_t *ids8 = (uint32_t *)((char *)row_of(8) + (uint32_t)*cell(8, GENRES));
    BREAK(uint32_t, &ids8[0], rare, "of them in sets");
    assert_int_equal(dictionary_size(f->dictionary), 4);
}

static void dead_slots(void **state)
{
    (void)state;
    struct slot_queue *q = &k->free_slots;
    assert_true(q->cleared == 6 && q->passed + q->waiting + q->fresh == 4);
    BREAK(uint32_t, &q->head, 101, "stretch");
    BREAK(uint32_t, &q->head, 7, "free and not dead");
    BREAK(uint32_t, &q->tail, 101, "the last free slot");
    BREAK(uint32_t, &q->cleared, 5, "stretch");
    BREAK(uint32_t, &q->uncleared, SLOT_NONE, "stretch");
    BREAK(uint32_t, chunks_at(&k->links, 102), SLOT_NONE, "slots are free");
    BREAK(uint32_t, chunks_at(&k->links, 103), 102, "free twice");
    BREAK(uint32_t, &q->fresh, q->fresh + 1, "are counted");
    bool running = q->running;
    uint32_t waiting = q->waiting, passed = q->passed;
    q->running = false;
    q->waiting = waiting + passed;
    q->passed = 0;
    expect(q->waiting > 0 ? "wait for no grace period" : NULL);
    q->running = running;
    q->waiting = waiting;
    q->passed = passed;
    expect(NULL);
}

static void without_memory(void **state)
{
    (void)state;
    struct error e = {0};
    mem_fail_at(1, true);
    assert_false(validate_kind(k, &e));
    mem_fail_at(0, false);
    assert_int_equal(e.code, STATUS_NO_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_and_keys, make, unmake),  cmocka_unit_test_setup_teardown(columns_and_fields, make, unmake),
        cmocka_unit_test_setup_teardown(keyword_sets, make, unmake),   cmocka_unit_test_setup_teardown(dead_slots, make, unmake),
        cmocka_unit_test_setup_teardown(without_memory, make, unmake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
