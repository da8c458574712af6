/* SPDX-License-Identifier: MIT */
/* The same operations at the same times give the same ranking, to the last bit: with every compiler, optimisation level and sanitizer, on every run.
 * A hundred seeds are played through the ABI, the answers' keys and scores go into one checksum, and that is a constant of this file: whatever build runs
 * this test must come to it. A change of a formula changes it, and then it is printed for the new constant. */
#include <eagre/eagre.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "check.h"

#define EXPECTED UINT64_C(0x33b6f242aef6f80d)

enum { SEEDS = 100, ITEMS = 700, EVENTS = 6000, BLOCK_WORDS = 4096 };

static const char schema[] =
    "CREATE ITEM post (author KEYWORD, tags KEYWORDS, made TIME AS created, minutes INTEGER, rating REAL, title TEXT) KEY INTEGER;"
    "CREATE SIGNAL view ON post HALF LIFE 46s WINDOWS 1h, 24h, 7d; CREATE SIGNAL like ON post HALF LIFE 30d WINDOWS 24h, 365d;"
    "CREATE SIGNAL dislike ON post NO DECAY; CREATE SIGNAL access ON post POWER DECAY 0.37";

static const char *const statements[] = {
    "RETRIEVE post USING 3 * velocity(view, 24h) + decay(like) + 0.5 * recency(made, 30d) - 2 * decay(access) LIMIT 50",
    "RETRIEVE post USING decay(view) * log1p(count(like, all)) + pow(rating, 1.7) WHERE minutes < 120 AND tags = 't3' LIMIT 50",
    "RETRIEVE post USING wilson(count(like, all), count(dislike, all)) + exp(-age(made) / 1e7) + sqrt(minutes) / 97 LIMIT 50",
    "RETRIEVE post USING random(7) + sum(view, 1h) / (1 + sum(view, 7d)) DIVERSITY author 2 PER 7 LIMIT 50",
    "RETRIEVE post USING rise(view, 1h, 24h) + if(rating > 5, min(rating, minutes, 9), max(-3, sign(rating - 2))) LIMIT 50",
    "RETRIEVE post USING hot LIMIT 50",
};

static uint64_t state;

static uint64_t draw(uint64_t n)
{
    state = mix64(state + 1);
    return state % n;
}

static eagre_value text(const char *s)
{
    return (eagre_value){.type = EAGRE_TEXT, .length = (uint32_t)strlen(s), .v.at = (uintptr_t)s};
}

static void put_item(eagre_db *db, uint64_t i, int64_t now)
{
    char author[16], tag[16];
    snprintf(author, sizeof author, "a%d", (int)draw(40));
    snprintf(tag, sizeof tag, "t%d", (int)draw(9));
    eagre_value tags[] = {text(tag), text("t8")};
    eagre_value fields[] = {text("author"), text("tags"), text("made"), text("minutes"), text("rating")};
    eagre_value values[] = {text(author),
                            {.type = EAGRE_LIST, .length = 2, .v.at = (uintptr_t)tags},
                            {.type = EAGRE_TIME, .v.i = now - (int64_t)draw(90 * 86400) * 1000000},
                            {.type = EAGRE_INT, .v.i = (int64_t)draw(200)},
                            {.type = EAGRE_REAL, .v.f = (double)draw(1000) / 97}};
    if (draw(20) == 0)
        values[4].type = EAGRE_NULL;
    eagre_value key = {.type = EAGRE_UINT, .v.u = i};
    assert_int_equal(eagre_put(db, "post", &key, 5, fields, values, NULL, 0, 0, NULL), EAGRE_OK);
}

static int64_t send_events(eagre_db *db, int64_t now)
{
    static const char *const names[] = {"view", "like", "dislike", "access"};
    uint32_t signals[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(eagre_signal_id(db, names[i], NULL, &signals[i], NULL), EAGRE_OK);
    for (int i = 0; i < EVENTS; i++) {
        now += (int64_t)draw(30000000);
        assert_int_equal(eagre_set_clock(db, now, NULL), EAGRE_OK);
        int64_t at = draw(10) ? EAGRE_NOW : now - (int64_t)draw(40 * 86400) * 1000000;
        double weight = draw(5) ? 1.0 : (double)(1 + draw(999)) / 251;
        eagre_value key = {.type = EAGRE_UINT, .v.u = draw(ITEMS)};
        assert_int_equal(eagre_signal_key(db, signals[draw(4)], &key, weight, at, NULL, NULL, 0, NULL), EAGRE_OK);
    }
    return now;
}

static uint64_t answer(eagre_db *db, const char *statement, uint64_t sum)
{
    static uint64_t block[BLOCK_WORDS];
    eagre_stmt *stmt;
    size_t needed;
    assert_int_equal(eagre_prepare(db, statement, strlen(statement), &stmt, NULL), EAGRE_OK);
    assert_int_equal(eagre_run(stmt, NULL, 0, NULL, 0, NULL, block, sizeof block, &needed, NULL), EAGRE_OK);
    const eagre_result *r = (const void *)block;
    const char *bytes = (const char *)block;
    sum = mix64(sum ^ checksum64(bytes + r->keys_at, r->n_rows * sizeof(uint64_t)));
    sum = mix64(sum ^ checksum64(bytes + r->scores_at, r->n_rows * sizeof(double)));
    assert_int_equal(eagre_finalize(stmt), EAGRE_OK);
    return sum;
}

static uint64_t play(uint64_t seed)
{
    eagre_options options = {.struct_size = sizeof options, .flags = EAGRE_OPEN_MANUAL_CLOCK, .now = INT64_C(1700000000000000)};
    eagre_db *db;
    uint64_t sum = seed;
    state = mix64(seed);
    assert_int_equal(eagre_open(&options, &db, NULL), EAGRE_OK);
    assert_int_equal(eagre_exec(db, schema, strlen(schema), NULL), EAGRE_OK);
    for (uint64_t i = 0; i < ITEMS; i++)
        put_item(db, i, options.now);
    send_events(db, options.now);
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        sum = answer(db, statements[i], sum);
    assert_int_equal(eagre_close(db), EAGRE_OK);
    return sum;
}

static void test_same_bits(void **unused)
{
    (void)unused;
    uint64_t sum = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        sum = mix64(sum ^ play(seed));
    if (sum != EXPECTED)
        print_error("the rankings came to %#llx\n", (unsigned long long)sum);
    assert_true(sum == EXPECTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
