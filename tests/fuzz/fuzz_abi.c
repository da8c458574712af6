/* SPDX-License-Identifier: MIT */
/* Any bytes are a sequence of calls of the interface, with values, handles, heaps and buffers made of them. Nothing crashes, every status is one that exists,
 * every answer lies within its block, and afterwards every invariant of every database holds. A libFuzzer target: scripts/fuzz.sh builds and runs it. */
#include "host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DBS = 2, STATEMENTS = 4, HEAP = 512, VALUES = 6, BLOCK = 8192 };

struct input {
    const uint8_t *at, *end;
};

static struct world {
    eagre_db *dbs[DBS];
    eagre_stmt *statements[STATEMENTS];
    char *heap; /* of HEAP bytes, made for each input */
    char *block;
    uint64_t handles[4];
    eagre_value values[VALUES];
} w;

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static uint8_t byte(struct input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

static uint64_t number(struct input *in, unsigned bytes)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < bytes; i++)
        n = n << 8 | byte(in);
    return n;
}

/* Small numbers, and those at the edges. */
static uint64_t odd_number(struct input *in)
{
    static const uint64_t edges[] = {UINT64_MAX, 1ull << 63, (1ull << 63) - 1, 1ull << 31, 1ull << 32, 0xffffffff, 1700000000000000, 1};
    uint8_t b = byte(in);
    return b < 200 ? b : b < 240 ? edges[b % 8] : number(in, 8);
}

static eagre_value value(struct input *in)
{
    uint8_t b = byte(in);
    eagre_value v = {.type = b % 9};
    switch (v.type) {
    case EAGRE_TEXT:
    case EAGRE_LIST:
    case EAGRE_VECTOR:
        v.length = b < 250 ? byte(in) % 12 : (uint32_t)odd_number(in);
        v.v.at = b < 240 ? number(in, 2) % HEAP & (v.type == EAGRE_TEXT ? UINT64_MAX : ~7ull) : odd_number(in);
        break;
    case EAGRE_REAL: {
        uint64_t bits = b < 200 ? 0 : number(in, 8);
        memcpy(&v.v.f, &bits, sizeof bits);
        if (b < 200)
            v.v.f = (double)byte(in) / 4;
        break;
    }
    default: v.v.u = odd_number(in);
    }
    return v;
}

static void fill_values(struct input *in)
{
    for (int i = 0; i < VALUES; i++)
        w.values[i] = value(in);
}

/* What is written into the heap may be texts and lists by chance; some words make hits likelier. */
static void fill_heap(struct input *in)
{
    static const char words[] = "a\0b\0title\0k\0ks\0n\0t\0f\0x\0until\0alien\0noir\0w1\0w2\0";
    size_t at = number(in, 2) % HEAP, n = byte(in);
    memcpy(w.heap, words, sizeof words);
    for (size_t i = 0; i < n && at + i < HEAP; i++)
        w.heap[at + i] = (char)byte(in);
    for (size_t i = 128; i + sizeof(eagre_value) <= 256 && byte(in) % 4; i += sizeof(eagre_value)) {
        eagre_value v = value(in);
        memcpy(w.heap + i, &v, sizeof v);
    }
}

static eagre_db *some_db(struct input *in)
{
    uint8_t b = byte(in);
    return b == 255 ? (eagre_db *)w.statements[0] : b == 254 ? NULL : w.dbs[b < 200 ? 0 : 1];
}

static const char *some_kind(struct input *in)
{
    static const char *const kinds[] = {"film", "thing", "film", "temporary", "user", "", "no"};
    return kinds[byte(in) % 7];
}

static void check(eagre_status s, const eagre_error *e)
{
    require(s <= EAGRE_DUPLICATE && s >= EAGRE_MOMENT && s != EAGRE_INTERNAL && s != EAGRE_FORKED, "an odd status");
    require(s >= 0 || e->code != s || (e->text[0] && memchr(e->text, 0, sizeof e->text)), "no sentence");
}

/* An answer in its block: touched from end to end, for the sanitizer to look. */
static void check_block(const char *block, size_t needed)
{
    const eagre_result *r = (const void *)block;
    require(r->magic == EAGRE_RESULT_MAGIC && r->bytes == needed, "no result block");
    require(r->keys_at <= needed && r->scores_at + 8ull * r->n_rows <= needed && r->cursor_at + r->cursor_length <= needed &&
                r->explain_at + r->explain_length <= needed && r->columns_at + r->n_columns * sizeof(eagre_result_column) <= needed,
            "beyond the block");
    for (uint32_t c = 0; c < r->n_columns; c++) {
        const eagre_result_column *column = result_column(r, c);
        require(column->name_at + column->name_length <= needed && column->nulls_at + r->n_rows <= needed && column->data_at <= needed,
                "a column beyond the block");
    }
}

static void do_exec(struct input *in, eagre_error *e)
{
    static const char *const texts[] = {
        "CREATE ITEM film (title TEXT, k KEYWORD, ks KEYWORDS, n INTEGER, f REAL, x VECTOR(2), until TIME EXPIRES)",
        "CREATE ITEM thing (n INTEGER, k KEYWORD) KEY INTEGER",
        "CREATE SIGNAL s ON film HALF LIFE 1h WINDOWS 1h, 24h FORGETS",
        "CREATE SIGNAL s ON thing POWER DECAY 0.5",
        "CREATE ITEM temporary (a INTEGER); CREATE SIGNAL s ON temporary NO DECAY",
        "DROP ITEM IF EXISTS temporary",
        "DROP SIGNAL s ON film",
        "ALTER ITEM film ADD t TEXT",
        "CREATE PROFILE p(b = 2) ON film AS n * b + decay(s)",
        "ALTER PROFILE p ON film AS ORDER BY title",
        "DROP PROFILE p ON film",
        "DROP ITEM thing",
    };
    uint8_t b = byte(in);
    if (b < 240) {
        const char *text = texts[b % (sizeof texts / sizeof *texts)];
        check(eagre_exec(some_db(in), text, strlen(text), e), e);
        return;
    }
    eagre_db *to = some_db(in);
    size_t n = byte(in), left = (size_t)(in->end - in->at);
    n = n < left ? n : left;
    check(eagre_exec(to, (const char *)in->at, n, e), e);
    in->at += n;
}

static void do_prepare(struct input *in, eagre_error *e)
{
    static const char *const texts[] = {
        "RETRIEVE film",
        "RETRIEVE film USING decay(s) + n LIMIT ?1",
        "RETRIEVE film ORDER BY title, n DESC LIMIT 2 AFTER ?1",
        "RETRIEVE thing USING decay(s) WHERE key IN ?1 COUNT",
        "RETRIEVE film USING f WHERE k = ?1 OR ks IN ?2 DIVERSITY k 1 PER 2, ks SHARE 0.5 LIMIT 3 AFTER ?3",
        "EXPLAIN RETRIEVE film USING count(s, 1h) WHERE n > ?1 EXCLUDE ?2 RETURN key, title, ks, x, last(s) EXHAUSTIVE",
        "RETRIEVE film USING p",
        "RETRIEVE film USING hot AT ?1",
        "RETRIEVE temporary USING s",
        "DROP ITEM IF EXISTS temporary",
        "RETRIEVE film WHERE until > ?1 OR title = ?2 LIMIT 1",
    };
    eagre_stmt **slot = &w.statements[byte(in) % STATEMENTS];
    if (*slot != NULL)
        eagre_finalize(*slot);
    const char *text = texts[byte(in) % (sizeof texts / sizeof *texts)];
    check(eagre_prepare(some_db(in), text, strlen(text), slot, e), e);
}

static void do_run(struct input *in, eagre_error *e)
{
    eagre_stmt *stmt = w.statements[byte(in) % STATEMENTS];
    eagre_run_options o = {
        .struct_size = sizeof o, .flags = byte(in) % 5, .now = (int64_t)odd_number(in), .deadline = (int64_t)odd_number(in)};
    uint8_t b = byte(in);
    size_t needed = 0, room = b < 220 ? BLOCK : b * 8u;
    uint32_t n = byte(in) % (VALUES + 1);
    fill_values(in);
    if (b % 3 == 0) { /* the cursor of the answer before */
        const eagre_result *r = (const void *)w.block;
        if (r->magic == EAGRE_RESULT_MAGIC && r->cursor_length && r->cursor_length < HEAP / 2) {
            memcpy(w.heap + HEAP / 2, result_at(r, r->cursor_at), (size_t)r->cursor_length);
            w.values[n ? n - 1 : 0] = (eagre_value){.type = EAGRE_TEXT, .length = (uint32_t)r->cursor_length, .v.at = HEAP / 2};
        }
    }
    eagre_status s = eagre_run(stmt, w.values, n, w.heap, HEAP, b % 2 ? &o : NULL, w.block, room, &needed, e);
    check(s, e);
    if (s == EAGRE_OK)
        check_block(w.block, needed);
    else
        memset(w.block, 0, sizeof(eagre_result));
}

static void do_put(struct input *in, eagre_error *e)
{
    static const char *const names[] = {"title", "k", "ks", "n", "f", "x", "until", "t", "nothing"};
    eagre_value fields[VALUES];
    uint32_t n = byte(in) % VALUES, first = byte(in);
    fill_values(in);
    for (uint32_t i = 0; i < VALUES; i++) {
        const char *name = names[(first + i) % 9];
        memcpy(w.heap + 300 + 16 * i, name, strlen(name));
        fields[i] = (eagre_value){.type = EAGRE_TEXT, .length = (uint32_t)strlen(name), .v.at = 300 + 16 * i};
    }
    check(eagre_put(some_db(in), some_kind(in), &w.values[5], n, fields, w.values, w.heap, HEAP,
                    byte(in) % 8 == 0 ? byte(in) : byte(in) % 2, e),
          e);
}

static eagre_column column(struct input *in)
{
    static const uint32_t types[] = {EAGRE_COLUMN_VALUES, EAGRE_INT, EAGRE_UINT, EAGRE_REAL, EAGRE_TIME, EAGRE_VECTOR, EAGRE_TEXT, 77};
    eagre_column c = {.type = types[byte(in) % 8], .nulls_at = byte(in) % 2 ? EAGRE_NO_NULLS : byte(in)};
    c.width = c.type == EAGRE_VECTOR ? byte(in) % 4 : 0;
    c.at = byte(in) < 240 ? byte(in) % 32 * 8 + 128 : odd_number(in);
    return c;
}

static void do_put_many(struct input *in, eagre_error *e)
{
    eagre_column keys = column(in), columns[2] = {column(in), column(in)};
    eagre_value fields[2] = {{EAGRE_TEXT, 1, {.at = 12}}, {EAGRE_TEXT, 1, {.at = 20}}};
    uint64_t n = byte(in) < 240 ? byte(in) % 8 : odd_number(in), applied = 0;
    check(eagre_put_many(some_db(in), some_kind(in), n, &keys, byte(in) % 3, fields, columns, w.heap, HEAP, byte(in) % 2, &applied, e), e);
    require(applied <= n, "more rows than there are");
}

static void do_read(struct input *in, eagre_error *e)
{
    size_t needed = 0, room = byte(in) % 4 ? BLOCK : byte(in);
    uint64_t n;
    eagre_value key = value(in);
    eagre_status s = eagre_get(some_db(in), some_kind(in), &key, w.heap, HEAP, w.block, room, &needed, e);
    check(s, e);
    if (s == EAGRE_OK)
        check_block(w.block, needed);
    memset(w.block, 0, sizeof(eagre_result));
    check(eagre_count(some_db(in), some_kind(in), &n, e), e);
    check(eagre_handle(some_db(in), some_kind(in), &key, w.heap, HEAP, &w.handles[byte(in) % 4], e), e);
    check(byte(in) % 2 ? eagre_schema(some_db(in), w.block, room, &needed, e) : eagre_stats(some_db(in), w.block, room, &needed, e), e);
    memset(w.block, 0, sizeof(eagre_result));
}

static double weight(struct input *in)
{
    uint64_t bits = number(in, 2) << 48;
    double d;
    memcpy(&d, &bits, sizeof d);
    return byte(in) % 4 ? (double)byte(in) : d;
}

static void do_signal(struct input *in, eagre_error *e)
{
    uint32_t signal = 0;
    eagre_value key = value(in), id = value(in), ids[2] = {id, key};
    double weights[2] = {weight(in), 1};
    int64_t times[2] = {(int64_t)odd_number(in), EAGRE_NOW};
    uint64_t applied;
    if (eagre_signal_id(some_db(in), "s", some_kind(in), &signal, e) != EAGRE_OK)
        signal = (uint32_t)odd_number(in);
    switch (byte(in) % 4) {
    case 0:
        check(eagre_signal(some_db(in), signal, byte(in) < 240 ? w.handles[byte(in) % 4] : odd_number(in), weights[0], times[0], e), e);
        break;
    case 1: check(eagre_signal_key(some_db(in), signal, &key, weights[0], times[0], byte(in) % 2 ? &id : NULL, w.heap, HEAP, e), e); break;
    case 2:
        check(eagre_signal_many(some_db(in), signal, byte(in) % 3, w.handles, NULL, weights, times, byte(in) % 2 ? ids : NULL, w.heap, HEAP,
                                &applied, e),
              e);
        break;
    default: {
        eagre_column keys = column(in);
        check(eagre_signal_many(some_db(in), signal, byte(in) % 3, NULL, &keys, NULL, times, NULL, w.heap, HEAP, &applied, e), e);
    }
    }
}

static void do_rest(struct input *in, eagre_error *e)
{
    eagre_value key = value(in);
    switch (byte(in) % 8) {
    case 0:
        check(eagre_set_clock(some_db(in), byte(in) % 2 ? 1700000000000000 + (int64_t)number(in, 6) : (int64_t)odd_number(in), e), e);
        break;
    case 1: check(byte(in) % 16 ? EAGRE_OK : eagre_maintain(some_db(in), e), e); break;
    case 2: check(eagre_finalize(w.statements[byte(in) % STATEMENTS]), e); break; /* again and again: it is found out */
    case 3: check(byte(in) % 8 ? EAGRE_OK : eagre_close(w.dbs[1]), e); break;
    default: check(eagre_delete(some_db(in), some_kind(in), &key, w.heap, HEAP, e), e);
    }
}

static void call(struct input *in)
{
    static void (*const calls[])(struct input *, eagre_error *) = {do_exec, do_prepare, do_run,  do_put, do_put_many,
                                                                   do_read, do_signal,  do_rest, do_put, do_run};
    eagre_error e = {.struct_size = sizeof e};
    uint8_t b = byte(in);
    if (b >= 250)
        fill_heap(in);
    else
        calls[b % 10](in, &e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, data + size};
    eagre_options o = {.struct_size = sizeof o, .flags = EAGRE_OPEN_MANUAL_CLOCK, .now = 1700000000000000};
    eagre_error e = {.struct_size = sizeof e};
    static const char schema[] = "CREATE ITEM film (title TEXT, k KEYWORD, ks KEYWORDS, n INTEGER, f REAL, x VECTOR(2), until TIME "
                                 "EXPIRES); CREATE SIGNAL s ON film HALF LIFE 1h WINDOWS 1h";
    memset(&w, 0, sizeof w);
    w.heap = calloc(1, HEAP);
    w.block = calloc(1, BLOCK);
    for (int i = 0; i < DBS; i++)
        require(eagre_open(&o, &w.dbs[i], &e) == EAGRE_OK, e.text);
    require(eagre_exec(w.dbs[0], schema, sizeof schema - 1, &e) == EAGRE_OK, e.text);
    struct input start = in;
    fill_heap(&start);
    for (int i = 0; in.at < in.end && i < 200; i++)
        call(&in);
    require(eagre_validate(w.dbs[0], &e) == EAGRE_OK, e.text);
    for (int i = 0; i < STATEMENTS; i++)
        eagre_finalize(w.statements[i]);
    for (int i = 0; i < DBS; i++)
        eagre_close(w.dbs[i]);
    free(w.heap);
    free(w.block);
    return 0;
}
