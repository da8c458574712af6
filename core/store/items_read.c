/* SPDX-License-Identifier: MIT */
/* Reading items: by key, by slot, by block. All wait-free, in a read section, beside the kind's one writer; the protocol and its guarantees
 * (G1 .. G4) stand in items_put.c and items.h. */
#include <assert.h>
#include <string.h>

#include "base/publish.h"
#include "base/reclaim.h"
#include "store/items_internal.h"

const struct field *kind_expires(const struct kind *k)
{
    /* ORDER: acquire, pairs with the publish in add_fields(): the field and its column are filled. */
    return take(&k->expires);
}

bool row_expired(const struct field *expires, const struct row *row, int64_t now)
{
    return expires != NULL && !row_null(row, expires->index) && row_int(row, expires->index) <= now;
}

bool items_expired(const struct kind *k, const struct row *row, int64_t now)
{
    return row_expired(kind_expires(k), row, now);
}

const struct row *items_find_rcu(const struct kind *k, const struct key *key, int64_t now, uint32_t *generation)
{
    assert(reclaim_reading());
    const struct key_rec *rec = kind_dropped(k) ? NULL : keymap_find_rcu(&k->keys, key);
    if (rec == NULL)
        return NULL;
    /* ORDER: acquire, pairs with the publish of the reference in keymap_put_w(): the slot's chunks stand. */
    uint32_t slot = take(&rec->ref);
    if (slot == KEY_NONE)
        return NULL;
    /* ORDER: acquire, pairs with the publish of the row: record filled, generation odd (G1, G3). */
    const struct row *row = take(row_cell_of(k, slot));
    if (row == NULL || row->key != rec || items_expired(k, row, now))
        return NULL;
    /* ORDER: acquire, pairs with the publish in item_end_w(); even: it has died since. */
    uint32_t g = take(generation_of(k, slot));
    if (generation != NULL)
        *generation = g;
    return g % 2 == 0 ? NULL : row;
}

const struct row *items_at_rcu(const struct kind *k, uint32_t slot, uint32_t generation, int64_t now)
{
    assert(reclaim_reading());
    /* ORDER: acquire, pairs with the publish of n_slots: chunks stand below it. */
    if (kind_dropped(k) || slot >= take(&k->n_slots))
        return NULL;
    /* ORDER: acquire, pairs with the publishes of the generation (G3). */
    if (generation % 2 == 0 || take(generation_of(k, slot)) != generation)
        return NULL;
    /* ORDER: acquire, pairs with the publish of the row (G1). */
    const struct row *row = take(row_cell_of(k, slot));
    return row == NULL || items_expired(k, row, now) ? NULL : row;
}

/* ---- blocks ---- */

uint32_t block_begin(const struct kind *k, uint32_t block)
{
    /* ORDER: acquire, pairs with the publish in block_close_w(): loads that follow see the stores of the put that made it even (G2). */
    return take((uint32_t *)chunks_at(&k->sequences, block));
}

bool block_moved(const struct kind *k, uint32_t block, uint32_t start)
{
    /* ORDER: acquire fence, then relaxed; pairs with the fence in block_open_w(): who loaded a store of a later put sees its odd word here. */
    fence_acquire();
    return start % 2 != 0 || load_relaxed((uint32_t *)chunks_at(&k->sequences, block)) != start;
}

void block_rows(const struct kind *k, uint32_t slot, unsigned n, const struct row **rows)
{
    const struct row *const *from = (const struct row *const *)row_cell_of(k, slot);
    assert(slot / BLOCK == (slot + n - 1) / BLOCK);
    for (unsigned i = 0; i < n; i++)
        /* ORDER: acquire, pairs with the publish of the row: each record may be read right after (G1). */
        rows[i] = take(&from[i]);
}

/* Copies n words of 8 bytes that a writer may be storing to; each comes whole. */
static void copy_column(const struct field *f, uint32_t slot, unsigned n, void *out)
{
    const uint64_t *from = chunks_at(&f->column, slot);
#ifdef EAGRE_TSAN
    for (unsigned i = 0; i < n; i++) {
        uint64_t word = load_relaxed(&from[i]); /* ORDER: relaxed: ordered by the block's sequence word (G2) */
        memcpy((char *)out + i * sizeof word, &word, sizeof word);
    }
#else
    memcpy(out, from, n * sizeof *from); /* moves aligned words whole on every machine we build for; see copy_words() */
#endif
}

void block_ints(const struct field *f, uint32_t slot, unsigned n, int64_t *out)
{
    assert(f->def.type == FIELD_INTEGER || f->def.type == FIELD_TIME);
    copy_column(f, slot, n, out);
}

void block_reals(const struct field *f, uint32_t slot, unsigned n, double *out)
{
    assert(f->def.type == FIELD_REAL);
    copy_column(f, slot, n, out);
}

void block_keywords(const struct field *f, uint32_t slot, unsigned n, uint32_t *out)
{
    assert(f->def.type == FIELD_KEYWORD);
    const uint32_t *from = chunks_at(&f->column, slot);
#ifdef EAGRE_TSAN
    for (unsigned i = 0; i < n; i++)
        out[i] = load_relaxed(&from[i]); /* ORDER: relaxed: ordered by the block's sequence word (G2) */
#else
    memcpy(out, from, n * sizeof *from);
#endif
}

/* ---- counts ---- */

/* Living items of a block that have not expired. */
static unsigned count_block(const struct kind *k, const struct field *expires, uint32_t slot, unsigned n, int64_t now)
{
    const struct row *rows[BLOCK];
    int64_t at[BLOCK];
    unsigned living = 0;
    uint32_t start = block_begin(k, slot / BLOCK);
    block_rows(k, slot, n, rows);
    block_ints(expires, slot, n, at);
    bool moved = block_moved(k, slot / BLOCK, start);
    for (unsigned i = 0; i < n; i++)
        if (rows[i] != NULL)
            living += moved ? !row_expired(expires, rows[i], now) : at[i] == INT64_MIN || at[i] > now;
    return living;
}

uint64_t items_count(const struct kind *k, int64_t now)
{
    uint64_t living = 0;
    reclaim_enter(); /* RCU: protects chunks and rows; left before return */
    if (!kind_dropped(k)) {
        const struct field *expires = kind_expires(k);
        /* ORDER: acquire, pairs with the publish in watch_expiry(): a put that returned before this call has lowered it. */
        if (expires == NULL || now < take(&k->expiry.next)) {
            /* ORDER: relaxed: a counter. */
            living = load_relaxed(&k->n_items);
        } else {
            /* ORDER: acquire, pairs with the publish of n_slots. */
            uint32_t n_slots = take(&k->n_slots);
            for (uint32_t slot = 0; slot < n_slots; slot += BLOCK)
                living += count_block(k, expires, slot, n_slots - slot < BLOCK ? n_slots - slot : BLOCK, now);
        }
    }
    reclaim_leave();
    return living;
}

void items_statistics(const struct kind *k, struct kind_stats *out)
{
    memset(out, 0, sizeof *out);
    reclaim_enter(); /* RCU: protects chunks and dictionaries; left before return */
    if (!kind_dropped(k)) {
        /* ORDER: relaxed: numbers for statistics, except n_slots and the counts that cover what is walked: acquire, pair with their publishes. */
        out->items = load_relaxed(&k->n_items);
        out->slots = take(&k->n_slots);
        out->row_bytes = load_relaxed(&k->row_bytes);
        uint32_t n_fields = take(&k->n_fields); /* ORDER: see above */
        out->column_bytes = chunks_bytes(&k->rows) + chunks_bytes(&k->generations) + chunks_bytes(&k->sequences) + chunks_bytes(&k->links);
        out->key_bytes = keymap_bytes(&k->keys);
        for (uint32_t i = 0; i < n_fields; i++) {
            const struct field *f = k->fields[i];
            if (field_has_column(f))
                out->column_bytes += chunks_bytes(&f->column);
            if (f->dictionary != NULL)
                out->keyword_bytes += dictionary_bytes(f->dictionary);
        }
    }
    reclaim_leave();
}
