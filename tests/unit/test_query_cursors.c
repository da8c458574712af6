/* SPDX-License-Identifier: MIT */
/* Cursors: pages laid side by side are the whole ranking, by every order, with DIVERSITY, beside deletes and puts; and bytes that are not a cursor of this
 * statement are never taken for one, nor do they crash. */
#include <math.h>

#include "base/buffer.h"
#include "query_fixture.h"

enum { ROWS = 120 };

static void make_rows(void)
{
    static const char *const names[] = {"k", "ks", "n", "f", "t"};
    exec("CREATE ITEM row (k KEYWORD, ks KEYWORDS, n INTEGER, f REAL, t TEXT); CREATE SIGNAL s ON row HALF LIFE 1d");
    for (uint32_t i = 0; i < ROWS; i++) {
        char key[16], word[16], other[16], text[24];
        sprintf(key, "r%u", i);
        sprintf(word, "w%u", below(5));
        sprintf(other, "v%u", below(4));
        sprintf(text, "text %u\xc3\xa4", below(12));
        eagre_value list[2] = {h_text(word), h_text(other)};
        eagre_value values[5] = {below(8) ? h_text(word) : h_null(), h_list(list, below(3)), below(6) ? h_int(below(10)) : h_null(),
                                 below(6) ? h_real((double)below(8) / 4) : h_null(), below(6) ? h_text(below(9) ? text : "") : h_null()};
        put_values("row", h_text(key), 5, names, values);
        send("s", h_text(key), 1 + below(3), START - below(100000) * SECOND);
    }
}

/* ---- pages are the ranking ---- */

static const char *const orders[] = {
    "",
    "USING f",
    "USING decay(s)",
    "USING n - n",
    "ORDER BY t",
    "ORDER BY t DESC, n",
    "ORDER BY n DESC, t, f DESC",
    "ORDER BY f, k DESC",
    "ORDER BY key DESC",
    "ORDER BY created, key",
};

/* All pages of `limit` rows, joined by blanks; the moment moves on and must not matter. */
static void read_pages(const char *middle, unsigned limit, char *out)
{
    char question[400];
    eagre_value cursor = h_null();
    char *kept = NULL;
    sprintf(question, "RETRIEVE row %s LIMIT %u AFTER ?1", middle, limit);
    out[0] = 0;
    for (int page = 0;; page++) {
        const eagre_result *r = must_with(question, 1, &cursor);
        assert_true(r->now == START);
        if (r->n_rows)
            sprintf(out + strlen(out), "%s%s", out[0] ? " " : "", keys_of(r));
        free(kept);
        kept = NULL;
        if (r->cursor_length == 0)
            break;
        assert_int_equal(r->n_rows, limit);
        kept = malloc((size_t)r->cursor_length);
        memcpy(kept, result_at(r, r->cursor_at), (size_t)r->cursor_length);
        cursor = h_bytes(kept, (size_t)r->cursor_length);
        clock_at(START + (page + 1) * 3600 * SECOND); /* a cursor pins the moment */
    }
    clock_at(START);
}

static void test_pages(void **state)
{
    (void)state;
    static const char *const clauses[] = {"", "WHERE n > 3", "WHERE k IN ('w1', 'w2')", "EXCLUDE ('r5', 'r6', 'r7')"};
    static const unsigned limits[] = {1, 2, 7, 40, 120};
    char all[8192], pages[8192], middle[300];
    random_state = 11;
    make_rows();
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        for (size_t j = 0; j < 4; j++) {
            sprintf(middle, "%s %s", orders[i], clauses[j]);
            char question[400];
            sprintf(question, "RETRIEVE row %s LIMIT 1000", middle);
            strcpy(all, keys_of(must(question)));
            for (size_t l = 0; l < 5; l++) {
                read_pages(middle, limits[l], pages);
                if (strcmp(all, pages) != 0)
                    fail_msg("%s by pages of %u:\n%s\ninstead of\n%s", middle, limits[l], pages, all);
            }
        }
}

/* PER windows reach back over pages and rows passed over come later, so pages are the long answer cut in pieces. */
static void test_pages_of_diversity(void **state)
{
    (void)state;
    static const char *const rules[] = {"DIVERSITY k 1 PER 3", "DIVERSITY ks 1 PER 2", "DIVERSITY k 2 PER 5, n 1 PER 4",
                                        "DIVERSITY n 1 PER 9, ks 2 PER 4"};
    static const unsigned limits[] = {1, 3, 10, 50};
    char all[8192], pages[8192], middle[300], question[400];
    random_state = 12;
    make_rows();
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        for (size_t j = 0; j < 4; j++) {
            sprintf(middle, "%s %s", orders[i], rules[j]);
            sprintf(question, "RETRIEVE row %s LIMIT 1000", middle);
            strcpy(all, keys_of(must(question)));
            for (size_t l = 0; l < 4; l++) {
                read_pages(middle, limits[l], pages);
                if (strcmp(all, pages) != 0)
                    fail_msg("%s by pages of %u:\n%s\ninstead of\n%s", middle, limits[l], pages, all);
            }
        }
}

/* SHARE counts within a page; no row comes twice and none is lost. */
static void test_pages_of_share(void **state)
{
    (void)state;
    char pages[8192];
    random_state = 13;
    make_rows();
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        char middle[300];
        bool seen[ROWS] = {false};
        unsigned n = 0;
        sprintf(middle, "%s DIVERSITY k SHARE 0.34, ks 1 PER 2", orders[i]);
        read_pages(middle, 6, pages);
        for (char *word = strtok(pages, " "); word != NULL; word = strtok(NULL, " ")) {
            int key = atoi(word + 1);
            assert_false(seen[key]);
            seen[key] = true;
            n++;
        }
        assert_int_equal(n, ROWS);
    }
}

static eagre_value copy_cursor(const eagre_result *r)
{
    assert_true(r->cursor_length > 0);
    char *copy = malloc((size_t)r->cursor_length);
    memcpy(copy, result_at(r, r->cursor_at), (size_t)r->cursor_length);
    return h_bytes(copy, (size_t)r->cursor_length);
}

static void *bytes_of(eagre_value v)
{
    return (void *)(uintptr_t)v.v.at;
}

static void test_changes_between_pages(void **state)
{
    (void)state;
    exec("CREATE ITEM p (n INTEGER)");
    for (int i = 0; i < 8; i++) {
        char key[16];
        sprintf(key, "p%d", i);
        put_text("p", h_text(key), "n", h_int(8 - i));
    }
    eagre_value none = h_null();
    eagre_value cursor = copy_cursor(must_with("RETRIEVE p USING n LIMIT 3 AFTER ?1", 1, &none));
    assert_string_equal(keys_of(answer_result(&answer)), "p0 p1 p2");
    erase("p", h_text("p2"));                       /* the row at the frontier goes */
    erase("p", h_text("p4"));                       /* one ahead goes */
    put_text("p", h_text("p0"), "n", h_int(1));     /* one that was shown comes again behind the frontier: it was shown */
    put_text("p", h_text("new"), "n", h_int(3));    /* a new one ahead: it comes */
    put_text("p", h_text("above"), "n", h_int(99)); /* a new one before the frontier: it does not */
    assert_string_equal(keys_of(must_with("RETRIEVE p USING n LIMIT 3 AFTER ?1", 1, &cursor)), "p3 p5 new");
    erase("p", h_text("p1"));
    put_text("p", h_text("p1"), "n", h_int(2)); /* the same key, another item */
    eagre_value second = copy_cursor(answer_result(&answer));
    assert_string_equal(keys_of(must_with("RETRIEVE p USING n LIMIT 3 AFTER ?1", 1, &second)), "p6 p1 p7");
    free(bytes_of(cursor));
    free(bytes_of(second));
}

/* The slot of a row that was shown goes to another item, which was not. */
static void test_slot_used_again(void **state)
{
    (void)state;
    exec("CREATE ITEM p (n INTEGER)");
    for (int i = 0; i < 4; i++) {
        char key[16];
        sprintf(key, "p%d", i);
        put_text("p", h_text(key), "n", h_int(8 - i));
    }
    eagre_value none = h_null(), cursor = copy_cursor(must_with("RETRIEVE p USING n LIMIT 2 AFTER ?1", 1, &none));
    erase("p", h_text("p0"));
    assert_int_equal(eagre_maintain(db, &error), EAGRE_OK);
    put_text("p", h_text("new"), "n", h_int(1));
    assert_string_equal(keys_of(must("RETRIEVE p")), "new p1 p2 p3"); /* by slots */
    assert_string_equal(keys_of(must_with("RETRIEVE p USING n LIMIT 2 AFTER ?1", 1, &cursor)), "p2 p3");
    free(bytes_of(cursor));
    cursor = copy_cursor(answer_result(&answer));
    assert_string_equal(keys_of(must_with("RETRIEVE p USING n LIMIT 2 AFTER ?1", 1, &cursor)), "new");
    free(bytes_of(cursor));
}

/* In the order of slots a scan ends with its page: also where page and block end together. */
static void test_pages_of_blocks(void **state)
{
    (void)state;
    exec("CREATE ITEM q (n INTEGER) KEY INTEGER");
    for (uint32_t i = 0; i < 600; i++)
        put_text("q", h_uint(i), "n", h_int(i));
    static const unsigned limits[] = {255, 256, 257, 300, 512};
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
        char question[64];
        eagre_value cursor = h_null();
        uint64_t n = 0;
        sprintf(question, "RETRIEVE q LIMIT %u AFTER ?1", limits[l]);
        do {
            const eagre_result *r = must_with(question, 1, &cursor);
            if (cursor.type != EAGRE_NULL)
                free(bytes_of(cursor));
            for (uint32_t i = 0; i < r->n_rows; i++, n++)
                assert_true(result_number_key(r, i) == n);
            cursor = r->cursor_length ? copy_cursor(r) : h_null();
        } while (cursor.type != EAGRE_NULL);
        assert_int_equal(n, 600);
    }
}

static void test_moment_of_a_cursor(void **state)
{
    (void)state;
    random_state = 14;
    make_rows();
    static const char question[] = "RETRIEVE row USING decay(s) LIMIT 5 AFTER ?1 AT ?2";
    eagre_value p[2] = {h_null(), h_time(START + 77)};
    p[0] = copy_cursor(must_with(question, 2, p));
    assert_int_equal(ask_with(question, 2, p), EAGRE_OK); /* AT beside it says the same moment */
    assert_true(answer_result(&answer)->now == START + 77);
    free(bytes_of(p[0]));
    p[0] = h_null();
    p[0] = copy_cursor(must_with(question, 2, p));
    p[1] = h_time(START + 78); /* another moment */
    assert_int_equal(ask_with(question, 2, p), EAGRE_CURSOR);
    free(bytes_of(p[0]));
    /* Without AT beside it the cursor alone says when. */
    static const char free_moment[] = "RETRIEVE row USING decay(s) LIMIT 5 AFTER ?1";
    p[0] = h_null();
    p[0] = copy_cursor(must_with(free_moment, 1, p));
    clock_at(START + 5 * SECOND);
    assert_true(must_with(free_moment, 1, p)->now == START);
    free(bytes_of(p[0]));
}

/* ---- bytes that are no cursor ---- */

static void try_damaged(const char *question, eagre_value cursor)
{
    size_t n = cursor.length;
    for (size_t length = 0; length < n; length++) { /* cut short, in a block of that very length */
        char *cut = malloc(length ? length : 1);
        memcpy(cut, bytes_of(cursor), length);
        eagre_value v = h_bytes(cut, length);
        assert_int_equal(ask_with(question, 1, &v), EAGRE_CURSOR);
        free(cut);
    }
    uint8_t *flipped = malloc(n + 1);
    memcpy(flipped, bytes_of(cursor), n);
    flipped[n] = 0;
    eagre_value longer = h_bytes(flipped, n + 1);
    assert_int_equal(ask_with(question, 1, &longer), EAGRE_CURSOR);
    for (size_t bit = 0; bit < 8 * n; bit++) {
        flipped[bit / 8] ^= (uint8_t)(1u << bit % 8);
        eagre_value v = h_bytes(flipped, n);
        assert_int_equal(ask_with(question, 1, &v), EAGRE_CURSOR);
        flipped[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    free(flipped);
}

static const char *const paged[] = {
    "RETRIEVE row USING f LIMIT 3 AFTER ?1",
    "RETRIEVE row ORDER BY t DESC, n, f LIMIT 4 AFTER ?1",
    "RETRIEVE row USING f DIVERSITY k 1 PER 3, ks 1 PER 2 LIMIT 5 AFTER ?1",
    "RETRIEVE row ORDER BY k, t DIVERSITY n 1 PER 4 LIMIT 4 AFTER ?1",
    "RETRIEVE row LIMIT 2 AFTER ?1",
};

static eagre_value second_cursor(const char *question)
{
    eagre_value none = h_null(), first = copy_cursor(must_with(question, 1, &none)), second = copy_cursor(must_with(question, 1, &first));
    free(bytes_of(first));
    return second;
}

static void test_damage(void **state)
{
    (void)state;
    random_state = 15;
    make_rows();
    for (size_t i = 0; i < sizeof paged / sizeof *paged; i++) {
        eagre_value cursor = second_cursor(paged[i]);
        assert_int_equal(ask_with(paged[i], 1, &cursor), EAGRE_OK);
        try_damaged(paged[i], cursor);
        for (size_t j = 0; j < sizeof paged / sizeof *paged; j++)
            assert_int_equal(ask_with(paged[j], 1, &cursor), i == j ? EAGRE_OK : EAGRE_CURSOR);
        free(bytes_of(cursor));
    }
    eagre_value text = h_text("no cursor"), empty = h_text(""), number = h_int(5);
    assert_int_equal(ask_with(paged[0], 1, &text), EAGRE_CURSOR);
    assert_int_equal(ask_with(paged[0], 1, &empty), EAGRE_CURSOR);
    assert_int_equal(ask_with(paged[0], 1, &number), EAGRE_TYPE);
}

static void test_other_parameters_and_databases(void **state)
{
    (void)state;
    random_state = 16;
    make_rows();
    static const char question[] = "RETRIEVE row USING f WHERE n > ?2 AND k IN ?3 LIMIT 2 AFTER ?1";
    eagre_value words[2] = {h_text("w1"), h_text("w2")}, p[3] = {h_null(), h_int(2), h_list(words, 2)};
    p[0] = copy_cursor(must_with(question, 3, p));
    assert_int_equal(ask_with(question, 3, p), EAGRE_OK);
    p[1] = h_int(3);
    assert_int_equal(ask_with(question, 3, p), EAGRE_CURSOR);
    p[1] = h_int(2);
    words[1] = h_text("w3");
    assert_int_equal(ask_with(question, 3, p), EAGRE_CURSOR);
    words[1] = h_text("w2");
    assert_int_equal(ask_with("RETRIEVE row USING f WHERE n > ?2 AND k IN ?3 LIMIT 3 AFTER ?1", 3, p), EAGRE_CURSOR);
    eagre_db *mine = db;
    db = open_manual(); /* the same in another database */
    random_state = 16;
    make_rows();
    assert_int_equal(ask_with(question, 3, p), EAGRE_CURSOR);
    assert_int_equal(eagre_close(db), EAGRE_OK);
    db = mine;
    free(bytes_of(p[0]));
}

/* Someone who knows the checksum can forge a cursor. It may give a wrong page, never a crash. */
static void test_forged(void **state)
{
    (void)state;
    unsigned taken = 0, tried = 0;
    random_state = 17;
    make_rows();
    for (size_t i = 0; i < sizeof paged / sizeof *paged; i++) {
        eagre_value cursor = second_cursor(paged[i]);
        for (unsigned round = 0; round < 6000; round++) {
            size_t n = below(4) ? cursor.length : 16 + below(cursor.length - 16);
            uint8_t *forged = malloc(n);
            memcpy(forged, bytes_of(cursor), n);
            for (uint32_t changes = below(4); changes > 0; changes--) {
                size_t at = 16 + below((uint32_t)(n - 16) + 1) % (n > 16 ? n - 16 : 1);
                static const uint8_t bytes[] = {0, 1, 0x7f, 0x80, 0xff, 5};
                if (at < n)
                    forged[at] = below(2) ? bytes[below(6)] : (uint8_t)draw();
            }
            uint64_t sum = checksum64(forged + 8, n - 8);
            memcpy(forged, &sum, 8);
            eagre_value v = h_bytes(forged, n);
            eagre_status s = ask_with(paged[i], 1, &v);
            assert_true(s == EAGRE_OK || s == EAGRE_CURSOR);
            taken += s == EAGRE_OK;
            tried++;
            free(forged);
        }
        free(bytes_of(cursor));
    }
    print_message("%u of %u forged cursors were taken\n", taken, tried);
}

/* More rows wait than a cursor carries: the best of them is placed then, and nothing is lost. */
static void test_many_passed_over(void **state)
{
    (void)state;
    exec("CREATE ITEM q (n INTEGER, k KEYWORD) KEY INTEGER");
    static const char *const names[] = {"n", "k"};
    for (uint32_t i = 0; i < 2500; i++)
        put_values("q", h_uint(i), 2, names, (eagre_value[]){h_int(5000 - i), h_text(i < 2400 ? "same" : "other")});
    bool seen[2500] = {false};
    eagre_value cursor = h_null();
    unsigned n = 0;
    do {
        const eagre_result *r = must_with("RETRIEVE q USING n DIVERSITY k 1 PER 2 LIMIT 100 AFTER ?1", 1, &cursor);
        if (cursor.type != EAGRE_NULL)
            free(bytes_of(cursor));
        if (n == 0)
            assert_true(r->flags & EAGRE_RESULT_RELAXED && result_number_key(r, 0) == 0 && result_number_key(r, 1) == 1);
        for (uint32_t i = 0; i < r->n_rows; i++, n++) {
            assert_false(seen[result_number_key(r, i)]);
            seen[result_number_key(r, i)] = true;
        }
        cursor = r->cursor_length ? copy_cursor(r) : h_null();
    } while (cursor.type != EAGRE_NULL);
    assert_int_equal(n, 2500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        case_of(test_pages),
        case_of(test_pages_of_diversity),
        case_of(test_pages_of_share),
        case_of(test_changes_between_pages),
        case_of(test_slot_used_again),
        case_of(test_pages_of_blocks),
        case_of(test_moment_of_a_cursor),
        case_of(test_damage),
        case_of(test_other_parameters_and_databases),
        case_of(test_forged),
        case_of(test_many_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
