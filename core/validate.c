/* SPDX-License-Identifier: MIT */
#include "validate.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/reclaim.h"
#include "store/items_internal.h"

#define BROKEN(...) return fail(e, STATUS_INTERNAL, -1, __VA_ARGS__), false

/* ---- rows, keys, generations, columns ---- */

static struct key key_of(const struct kind *k, const struct key_rec *rec)
{
    struct key key = {0};
    if (k->integer_keys)
        key.number = rec->number;
    else {
        key.bytes = rec->bytes;
        key.length = rec->length;
    }
    return key;
}

static bool check_column(const struct field *f, const struct row *row, struct error *e)
{
    bool null = row_null(row, f->index), same = true;
    const void *at = field_has_column(f) ? chunks_at(&f->column, row->slot) : NULL;
    if (f->def.type == FIELD_INTEGER || f->def.type == FIELD_TIME)
        same = *(const int64_t *)at == (null ? INT64_MIN : row_int(row, f->index));
    else if (f->def.type == FIELD_KEYWORD)
        same = *(const uint32_t *)at == row_keyword(row, f->index);
    else if (f->def.type == FIELD_REAL) {
        double v;
        memcpy(&v, at, sizeof v);
        same = null ? isnan(v) : v == row_real(row, f->index);
    }
    if (!same)
        BROKEN("slot %u: column '%s' differs from the record", row->slot, f->def.name);
    return true;
}

/* Does what lies in the tail lie inside the record? */
static bool check_elements(const struct field *f, const struct row *row, struct error *e)
{
    const char *at;
    unsigned n = 0, size = f->def.type == FIELD_KEYWORDS || f->def.type == FIELD_VECTOR ? 4 : 1;
    if (f->def.type < FIELD_KEYWORDS || row_null(row, f->index))
        return true;
    at = row_text(row, f->index, &n);
    if (at < (const char *)row || at + (size_t)n * size > (const char *)row + row->bytes)
        BROKEN("slot %u: field '%s' lies outside of the record", row->slot, f->def.name);
    if (f->def.type == FIELD_VECTOR && n != f->def.dimension)
        BROKEN("slot %u: field '%s' has %u numbers", row->slot, f->def.name, n);
    return true;
}

static bool check_ids(const struct field *f, const struct row *row, struct error *e)
{
    uint32_t single;
    unsigned n;
    const uint32_t *ids = row_ids(f, row, &n, &single);
    for (unsigned i = 0; i < n; i++) {
        if (ids[i] == 0 || ids[i] > dictionary_size(f->dictionary))
            BROKEN("slot %u: field '%s' has no such keyword: %u", row->slot, f->def.name, ids[i]);
        for (unsigned j = 0; j < i; j++)
            if (ids[j] == ids[i])
                BROKEN("slot %u: field '%s' has a keyword twice", row->slot, f->def.name);
    }
    return true;
}

static bool check_row(const struct kind *k, uint32_t slot, const struct row *row, struct error *e)
{
    if (row->slot != slot)
        BROKEN("slot %u: its record says %u", slot, row->slot);
    if (row->n_fields > k->n_fields)
        BROKEN("slot %u: its record has %u fields", slot, row->n_fields);
    struct key key = key_of(k, row->key);
    const struct key_rec *rec = keymap_find_rcu(&k->keys, &key);
    if (rec != row->key)
        BROKEN("slot %u: its key is not found", slot);
    if (rec->ref != slot)
        BROKEN("slot %u: its key says %u", slot, rec->ref);
    for (uint32_t i = 0; i < k->n_fields; i++)
        if (!check_column(k->fields[i], row, e) || !check_elements(k->fields[i], row, e) || !check_ids(k->fields[i], row, e))
            return false;
    return true;
}

static bool check_rows(const struct kind *k, struct error *e)
{
    uint32_t living = 0;
    uint64_t bytes = 0;
    for (uint32_t slot = 0; slot < k->n_slots; slot++) {
        const struct row *row = *row_cell_of(k, slot);
        if (*generation_of(k, slot) % 2 != (row != NULL))
            BROKEN("slot %u: generation %u of %s", slot, *generation_of(k, slot), row != NULL ? "a living item" : "a dead slot");
        if (row == NULL)
            continue;
        if (!check_row(k, slot, row, e))
            return false;
        living++;
        bytes += row->bytes;
        if (k->expires != NULL && !row_null(row, k->expires->index) && row_int(row, k->expires->index) < k->expiry.next)
            BROKEN("slot %u expires before any item does", slot);
    }
    if (living != k->n_items)
        BROKEN("%u items live, the count says %u", living, k->n_items);
    if (bytes != k->row_bytes)
        BROKEN("records have %llu bytes, the sum says %llu", (unsigned long long)bytes, (unsigned long long)k->row_bytes);
    for (uint32_t block = 0; block * BLOCK < k->n_slots; block++)
        if (*(const uint32_t *)chunks_at(&k->sequences, block) % 2 != 0)
            BROKEN("block %u: its sequence word is odd", block);
    return true;
}

/* ---- keywords ---- */

static bool row_has(const struct field *f, const struct row *row, uint32_t id)
{
    uint32_t single;
    unsigned n;
    const uint32_t *ids = row_ids(f, row, &n, &single);
    for (unsigned i = 0; i < n; i++)
        if (ids[i] == id)
            return true;
    return false;
}

/* Walks an id's set; adds to *found how many of its slots have the keyword. */
static bool check_set(const struct kind *k, const struct field *f, uint32_t id, uint64_t *found, struct error *e)
{
    struct postings_cursor cursor;
    uint32_t slots[100], n;
    int64_t last = -1;
    uint64_t total = 0;
    postings_open(f->dictionary, id, &cursor);
    while ((n = postings_next(&cursor, slots, 100)) != 0)
        for (uint32_t i = 0; i < n; i++, total++) {
            if (slots[i] <= last)
                BROKEN("field '%s': the set of keyword %u does not ascend", f->def.name, id);
            last = slots[i];
            *found += slots[i] < k->n_slots && row_has(f, *row_cell_of(k, slots[i]), id);
        }
    if (total > postings_cardinality(f->dictionary, id))
        BROKEN("field '%s': the set of keyword %u is larger than its bound", f->def.name, id);
    return true;
}

static bool check_keywords(const struct kind *k, const struct field *f, struct error *e)
{
    uint64_t wanted = 0, found = 0;
    uint32_t single;
    unsigned n;
    if (!dictionary_validate(f->dictionary, e))
        return false;
    for (uint32_t slot = 0; slot < k->n_slots; slot++) {
        row_ids(f, *row_cell_of(k, slot), &n, &single);
        wanted += n;
    }
    for (uint32_t id = 1; id <= dictionary_size(f->dictionary); id++)
        if (!check_set(k, f, id, &found, e))
            return false;
    if (wanted != found)
        BROKEN("field '%s': %llu keywords in records, %llu of them in sets", f->def.name, (unsigned long long)wanted,
               (unsigned long long)found);
    return true;
}

/* ---- dead slots ---- */

static bool walk_queue(const struct kind *k, uint8_t *met, struct error *e)
{
    const struct slot_queue *q = &k->free_slots;
    uint32_t place = 0, last = SLOT_NONE, total = q->cleared + q->passed + q->waiting + q->fresh;
    for (uint32_t slot = q->head; slot != SLOT_NONE; slot = *(const uint32_t *)chunks_at(&k->links, slot)) {
        if (slot >= k->n_slots || *row_cell_of(k, slot) != NULL)
            BROKEN("slot %u is free and not dead", slot);
        if (met[slot])
            BROKEN("slot %u is free twice", slot);
        met[slot] = 1;
        if ((place == q->cleared) != (slot == q->uncleared))
            BROKEN("slot %u: the stretch of cleared slots ends elsewhere", slot);
        last = slot;
        place++;
    }
    if (place != total || place != k->n_slots - k->n_items)
        BROKEN("%u slots are free, %u are counted, %u are dead", place, total, k->n_slots - k->n_items);
    if (last != q->tail)
        BROKEN("the last free slot is %u, not %u", last, q->tail);
    if (place == q->cleared && q->uncleared != SLOT_NONE)
        BROKEN("all free slots are cleared, but %u", q->uncleared);
    if (q->waiting > 0 && !q->running)
        BROKEN("slots wait for no grace period");
    return true;
}

static bool check_queue(const struct kind *k, struct error *e)
{
    uint8_t *met = mem_zalloc(k->n_slots + 1u);
    if (met == NULL)
        return fail(e, STATUS_NO_MEMORY, -1, "no memory to validate kind '%s'", k->name), false;
    bool right = walk_queue(k, met, e);
    mem_free(met);
    return right;
}

static bool check_all(const struct kind *k, struct error *e)
{
    if (!keymap_validate(&k->keys, e) || !check_rows(k, e) || !check_queue(k, e))
        return false;
    for (uint32_t i = 0; i < k->n_fields; i++) {
        const struct field *f = k->fields[i];
        if (f->index != i || f->kind != k)
            BROKEN("field '%s' is not in its place", f->def.name);
        if (f->dictionary != NULL && !check_keywords(k, f, e))
            return false;
    }
    for (uint32_t i = 0; i < k->n_signals; i++)
        if (!k->signals[i].dropped && !signal_validate(k->signals[i].signal, k->n_slots, e))
            return false;
    return true;
}

bool validate_kind(struct kind *k, struct error *e)
{
    if (k->dropped)
        return true;
    reclaim_enter(); /* RCU: for the lookups of keys and keywords; left before return */
    bool right = check_all(k, e);
    reclaim_leave();
    return right;
}
