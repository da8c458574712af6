/* SPDX-License-Identifier: MIT */
/* A page's end as bytes: the moment, the frontier, the rows shown so far, and what DIVERSITY needs to go on.
 *
 *   checksum u64 | binding u64 | now i64 | score f64 | slot u32 | shown u32 | passed u32 | history u32
 *   shown: (slot u32, generation u32) ascending | passed: the same | history offsets u32 | history tokens u64 | order values
 *
 * A cursor lives as long as its process's database: slots, generations and keyword ids in it mean nothing elsewhere. The checksum finds damage; a forged
 * cursor can at worst give a wrong page: every number is checked before it is used. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/hash.h"
#include "query/run.h"

/* Counts bytes, and writes them where out is not NULL. */
struct sink { uint8_t *out; size_t n; };

static void put(struct sink *s, const void *data, size_t n)
{
    if (s->out && n)
        memcpy(s->out + s->n, data, n);
    s->n += n;
}

static void put_u32(struct sink *s, uint32_t v) { put(s, &v, sizeof v); }
static void put_u64(struct sink *s, uint64_t v) { put(s, &v, sizeof v); }

/* ---- Encoding ---------------------------------------------------------------------------------------------------------- */

struct slot_mark { uint32_t slot, generation; };

static int by_slot(const void *a, const void *b)
{
    const struct slot_mark *x = a, *y = b;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

/* Rows shown before, and this page's, sorted in place in the output. */
static void put_shown(const struct run *r, const struct page *p, struct sink *s)
{
    size_t start = s->n;
    for (uint32_t i = 0; i < r->place.n_shown; i++) {
        put_u32(s, r->place.shown[i]);
        put_u32(s, r->place.shown_generations[i]);
    }
    for (size_t i = 0; i < p->n; i++) {
        put_u32(s, p->rows[i].slot);
        put_u32(s, s->out ? slot_generation(r->kind, p->rows[i].slot) : 0);
    }
    if (s->out)
        qsort(s->out + start, r->place.n_shown + p->n, sizeof(struct slot_mark), by_slot);
}

static void put_passed(const struct run *r, const struct page *p, struct sink *s)
{
    size_t start = s->n;
    for (uint32_t i = 0; i < p->n_passed; i++) {
        put_u32(s, p->passed[i]->slot);
        put_u32(s, s->out ? slot_generation(r->kind, p->passed[i]->slot) : 0);
    }
    if (s->out)
        qsort(s->out + start, p->n_passed, sizeof(struct slot_mark), by_slot);
}

static void put_history(const struct run *r, const struct page *p, struct sink *s)
{
    if (!p->n_history)
        return;
    size_t cells = (size_t)p->n_history * r->plan->n_diversity;
    put(s, p->history_offsets, (cells + 1) * sizeof(uint32_t));
    put(s, p->history_tokens, p->history_offsets[cells] * sizeof(uint64_t));
}

static void put_order(const struct run *r, const struct page *p, struct sink *s)
{
    struct value values[MAX_ORDER_TERMS];
    const struct value *v = r->place.order;
    if (p->last.row) {
        sort_values(r->plan, p->last.row, values);
        v = values;
    }
    for (unsigned i = 0; i < r->plan->n_order; i++) {
        put_u32(s, v[i].type);
        put_u32(s, v[i].length);
        if (v[i].type == VALUE_TEXT)
            put(s, v[i].text, v[i].length);
        else
            put_u64(s, v[i].u);
    }
}

static void put_cursor(const struct run *r, const struct page *p, struct sink *s)
{
    const struct candidate *last = p->last.row ? &p->last : &r->place.last;
    put_u64(s, 0); /* the checksum, once the rest stands */
    put_u64(s, r->binding);
    put_u64(s, (uint64_t)r->now);
    put(s, &last->score, sizeof last->score);
    put_u32(s, last->slot);
    put_u32(s, r->place.n_shown + (uint32_t)p->n);
    put_u32(s, p->n_passed);
    put_u32(s, p->n_history);
    put_shown(r, p, s);
    put_passed(r, p, s);
    put_history(r, p, s);
    put_order(r, p, s);
}

size_t cursor_bytes(const struct run *r, const struct page *p)
{
    struct sink s = {0};
    put_cursor(r, p, &s);
    return s.n;
}

void cursor_encode(const struct run *r, const struct page *p, uint8_t *out)
{
    struct sink s = {.out = out};
    put_cursor(r, p, &s);
    uint64_t sum = checksum64(out + sizeof sum, s.n - sizeof sum);
    memcpy(out, &sum, sizeof sum);
}

/* ---- Decoding ---------------------------------------------------------------------------------------------------------- */

/* STATUS_CURSOR: cut short or damaged. */
static status take_marks(struct run *r, struct reader *in, uint32_t n, uint32_t **slots, uint32_t **generations)
{
    const uint8_t *bytes = reader_bytes(in, (size_t)n * 8);
    if (!bytes)
        return STATUS_CURSOR;
    *slots = arena_alloc(r->arena, sizeof **slots * (n + 1ul));
    *generations = arena_alloc(r->arena, sizeof **generations * (n + 1ul));
    if (!*slots || !*generations)
        return STATUS_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        memcpy(&(*slots)[i], bytes + 8ul * i, 4);
        memcpy(&(*generations)[i], bytes + 8ul * i + 4, 4);
    }
    return STATUS_OK;
}

static status take_history(struct run *r, struct reader *in)
{
    struct place *p = &r->place;
    if (!p->n_history)
        return STATUS_OK;
    if (p->n_history >= MAX_DIVERSITY_WINDOW || !r->plan->n_diversity)
        return STATUS_CURSOR;
    size_t cells = (size_t)p->n_history * r->plan->n_diversity;
    const uint8_t *bytes = reader_bytes(in, (cells + 1) * sizeof(uint32_t));
    if (!bytes)
        return STATUS_CURSOR;
    p->history_offsets = arena_alloc(r->arena, (cells + 1) * sizeof(uint32_t));
    if (!p->history_offsets)
        return STATUS_NO_MEMORY;
    memcpy(p->history_offsets, bytes, (cells + 1) * sizeof(uint32_t));
    if (p->history_offsets[0] != 0)
        return STATUS_CURSOR;
    for (size_t i = 0; i < cells; i++)
        if (p->history_offsets[i + 1] < p->history_offsets[i])
            return STATUS_CURSOR;
    size_t tokens = p->history_offsets[cells];
    bytes = reader_bytes(in, tokens * sizeof(uint64_t));
    if (!bytes)
        return STATUS_CURSOR;
    p->history_tokens = arena_alloc(r->arena, (tokens + 1) * sizeof(uint64_t));
    if (!p->history_tokens)
        return STATUS_NO_MEMORY;
    memcpy(p->history_tokens, bytes, tokens * sizeof(uint64_t));
    return STATUS_OK;
}

static bool take_order(struct run *r, struct reader *in)
{
    for (unsigned i = 0; i < r->plan->n_order; i++) {
        struct value *v = &r->place.order[i];
        v->type = reader_u32(in);
        v->length = reader_u32(in);
        if (v->type == VALUE_TEXT)
            v->text = (const char *)reader_bytes(in, v->length);
        else if (v->type <= VALUE_TIME)
            v->u = reader_u64(in);
        else
            return false;
    }
    return true;
}

status cursor_decode(struct run *r, const void *data, size_t length)
{
    struct reader in = {.at = data, .end = (const uint8_t *)data + length};
    struct place *p = &r->place;
    status damaged = STATUS_CURSOR;
    uint64_t sum = reader_u64(&in);
    if (in.failed || sum != checksum64(in.at, (size_t)(in.end - in.at)))
        return fail(r->error, damaged, -1, "AFTER: the cursor is damaged or cut short");
    if (reader_u64(&in) != r->binding)
        return fail(r->error, damaged, -1, "AFTER: the cursor belongs to another statement, other parameters or another database");
    r->now = (int64_t)reader_u64(&in);
    r->asked_moment = false;
    p->last.score = reader_f64(&in);
    p->last.slot = reader_u32(&in);
    p->n_shown = reader_u32(&in);
    p->n_passed = reader_u32(&in);
    p->n_history = reader_u32(&in);
    status s = p->n_passed <= MAX_PASSED_OVER ? take_marks(r, &in, p->n_shown, &p->shown, &p->shown_generations) : STATUS_CURSOR;
    if (!s)
        s = take_marks(r, &in, p->n_passed, &p->passed, &p->passed_generations);
    if (!s)
        s = take_history(r, &in);
    if (s == STATUS_NO_MEMORY)
        return fail(r->error, s, -1, "no memory to read the cursor");
    if (s || !take_order(r, &in) || in.failed || in.at != in.end || isnan(p->last.score) || r->now < TIME_MIN_US || r->now > TIME_MAX_US)
        return fail(r->error, damaged, -1, "AFTER: the cursor is damaged or cut short");
    p->set = true;
    return STATUS_OK;
}
