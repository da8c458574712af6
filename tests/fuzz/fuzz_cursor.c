/* SPDX-License-Identifier: MIT */
/* Any bytes after AFTER are a cursor of the statement or are refused. The first byte says which statement, and whether the checksum and the binding are made
 * right, which brings forged cursors behind the first two checks. A libFuzzer target: scripts/fuzz.sh builds and runs it. */
#include "base/hash.h"
#include "host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const texts[] = {
    "RETRIEVE row USING f LIMIT 3 AFTER ?1",
    "RETRIEVE row ORDER BY t DESC, n, f LIMIT 4 AFTER ?1",
    "RETRIEVE row USING decay(s) DIVERSITY k 1 PER 3, ks 1 PER 2 LIMIT 5 AFTER ?1",
    "RETRIEVE row ORDER BY k, t DIVERSITY n 1 PER 4 LIMIT 4 AFTER ?1",
    "RETRIEVE row WHERE k = 'w1' LIMIT 2 AFTER ?1",
    "RETRIEVE row ORDER BY created, key DESC LIMIT 6 AFTER ?1",
};
enum { STATEMENTS = sizeof texts / sizeof *texts, HEAD = 16 };

static eagre_db *db;
static eagre_stmt *statements[STATEMENTS];
static uint8_t binding[STATEMENTS][8];
static struct answer answer;

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static void put_row(uint64_t i)
{
    static const char *const names[] = {"k", "ks", "n", "f", "t"};
    char key[16], word[16], text[16];
    eagre_value fields[5], list[2], values[5], k = h_bytes(key, (size_t)sprintf(key, "r%llu", (unsigned long long)i));
    for (int j = 0; j < 5; j++)
        fields[j] = h_text(names[j]);
    sprintf(word, "w%llu", (unsigned long long)(mix64(i) % 4));
    sprintf(text, "t%llu", (unsigned long long)(mix64(i + 100) % 5));
    list[0] = h_text(word);
    list[1] = h_text(text);
    values[0] = i % 5 ? h_text(word) : h_null();
    values[1] = h_list(list, (uint32_t)(i % 3));
    values[2] = i % 7 ? h_int((int64_t)(mix64(i + 7) % 6)) : h_null();
    values[3] = i % 6 ? h_real((double)(mix64(i + 8) % 8) / 4) : h_null();
    values[4] = i % 4 ? h_text(text) : h_null();
    require(eagre_put(db, "row", &k, 5, fields, values, NULL, 0, 0, NULL) == EAGRE_OK, "put");
}

static void set_up(void)
{
    static const char schema[] = "CREATE ITEM row (k KEYWORD, ks KEYWORDS, n INTEGER, f REAL, t TEXT); CREATE SIGNAL s ON row HALF LIFE 1d";
    eagre_options o = {.struct_size = sizeof o, .flags = EAGRE_OPEN_MANUAL_CLOCK, .now = 1700000000000000};
    require(eagre_open(&o, &db, NULL) == EAGRE_OK && eagre_exec(db, schema, sizeof schema - 1, NULL) == EAGRE_OK, "set up");
    for (uint64_t i = 0; i < 60; i++)
        put_row(i);
    for (int i = 0; i < STATEMENTS; i++) {
        eagre_value none = h_null();
        require(eagre_prepare(db, texts[i], strlen(texts[i]), &statements[i], NULL) == EAGRE_OK, texts[i]);
        require(answer_run(&answer, statements[i], &none, 1, NULL, NULL) == EAGRE_OK, texts[i]);
        const eagre_result *r = answer_result(&answer);
        memcpy(binding[i], (const char *)result_at(r, r->cursor_at) + 8, 8);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (db == NULL)
        set_up();
    if (size == 0)
        return 0;
    unsigned which = (data[0] & 0x7f) % STATEMENTS;
    bool forge = data[0] & 0x80;
    uint8_t *cursor = malloc(size); /* of that very size, so that a look beyond it is found out */
    size_t n = size - 1;
    memcpy(cursor, data + 1, n);
    if (forge && n >= HEAD) {
        memcpy(cursor + 8, binding[which], 8);
        uint64_t sum = checksum64(cursor + 8, n - 8);
        memcpy(cursor, &sum, 8);
    }
    eagre_value v = h_bytes(cursor, n);
    eagre_error e = {.struct_size = sizeof e};
    eagre_status s = answer_run(&answer, statements[which], &v, 1, NULL, &e);
    require(s == EAGRE_CURSOR || (s == EAGRE_OK && forge), "taken for a cursor, or another fault");
    free(cursor);
    return 0;
}
