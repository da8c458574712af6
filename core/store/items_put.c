/* SPDX-License-Identifier: MIT */
/* Puts, patches and deletes. The one writer of a kind holds its lock; readers run beside it (items_read.c).
 *
 * A put, in its order:
 *
 *     make the record aside; slot, chunks, room for retires             may fail; nobody saw anything
 *     widen the keywords' sets; the key's record                        may fail; what was widened is harmless: the row decides
 *     ---------------------------------------------------------------- from here on nothing can fail
 *     sequence word odd | row pointer, columns | sequence word even     for a new item also its generation, then the key's slot, then n_slots
 *     retire the old record; narrow the sets of keywords it lost
 *
 * Invariants (with the lock held, between calls)
 *   I1  rows[slot] is NULL or the living item's record, with that slot and the key's record whose reference is the slot.
 *   I2  generations[slot] is odd exactly where rows[slot] is not NULL.
 *   I3  Columns equal the record's fields where a row stands.
 *   I4  Each keyword of a row has the slot in its set.
 *   I5  Sequence words are even.
 * Ordering guarantees
 *   G1  A record is filled before its pointer is published, and freed a grace period after another took its place.
 *   G2  The stores of one put into a block lie between two changes of its sequence word: a reader that saw the word even and unchanged around
 *       its loads has, for each slot, the values of one put (or none).
 *   G3  Generation odd, then the row; at death the row NULL, then the generation even. So a row that was found by (slot, generation) is that
 *       item's: within one section a slot has no two items, because it is used again only after a grace period (items_slots.c).
 *   G4  Sets are wider than rows at any moment: keywords are added before the row is published and taken out after.
 * Progress: puts and deletes block on the kind's lock and, when too much waits to be freed, for a grace period inside reclaim_reserve, before
 * anything changed. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/publish.h"
#include "base/reclaim.h"
#include "store/items_internal.h"

/* ---- the sequence word of a block ---- */

static void block_open_w(struct kind *k, uint32_t slot)
{
    uint32_t *word = chunks_at(&k->sequences, slot / BLOCK);
    assert(*word % 2 == 0);
    /* ORDER: relaxed, then a release fence: the odd word is seen by who sees any store after it; pairs with the fence in block_moved() (G2). */
    store_relaxed(word, *word + 1);
    fence_release();
}

static void block_close_w(struct kind *k, uint32_t slot)
{
    uint32_t *word = chunks_at(&k->sequences, slot / BLOCK);
    /* ORDER: release, pairs with the take in block_begin(): the stores of this put are seen by who sees the even word (G2). */
    publish(word, *word + 1);
}

/* ORDER for the three: relaxed: racing readers are ordered by the block's sequence word around these stores (G2). */
static void store_int(const struct field *f, uint32_t slot, int64_t v)
{
    store_relaxed((int64_t *)chunks_at(&f->column, slot), v); /* ORDER: see above */
}

static void store_real(const struct field *f, uint32_t slot, double v)
{
    uint64_t word;
    memcpy(&word, &v, sizeof word);
    store_relaxed((uint64_t *)chunks_at(&f->column, slot), word); /* ORDER: see above */
}

static void store_keyword(const struct field *f, uint32_t slot, uint32_t id)
{
    store_relaxed((uint32_t *)chunks_at(&f->column, slot), id); /* ORDER: see above */
}

static void store_columns(struct kind *k, const struct row *row)
{
    for (uint32_t i = 0; i < k->n_fields; i++) {
        const struct field *f = k->fields[i];
        bool null = row_null(row, i);
        if (f->def.type == FIELD_INTEGER || f->def.type == FIELD_TIME)
            store_int(f, row->slot, null ? INT64_MIN : row_int(row, i));
        else if (f->def.type == FIELD_REAL)
            store_real(f, row->slot, null ? (double)NAN : row_real(row, i));
        else if (f->def.type == FIELD_KEYWORD)
            store_keyword(f, row->slot, row_keyword(row, i));
    }
}

/* ---- keywords ---- */

struct keep_context {
    const struct kind *k;
    const struct field *f;
};

static bool has_id(const uint32_t *ids, unsigned n, uint32_t id)
{
    for (unsigned i = 0; i < n; i++)
        if (ids[i] == id)
            return true;
    return false;
}

/* Does the item in the slot have the keyword? Its row says. */
static bool keep_slot(void *context, uint32_t id, uint32_t slot)
{
    const struct keep_context *c = context;
    uint32_t single;
    unsigned n;
    const uint32_t *ids = row_ids(c->f, *row_cell_of(c->k, slot), &n, &single);
    return has_id(ids, n, id);
}

/* Adds the slot to the sets of keywords that `row` has and `old` has not. False: no memory; some may be wider then. */
static bool widen(struct kind *k, const struct row *row, const struct row *old, uint32_t slot)
{
    for (uint32_t i = 0; i < k->n_fields; i++) {
        const struct field *f = k->fields[i];
        uint32_t single, old_single;
        unsigned n, old_n;
        const uint32_t *ids = row_ids(f, row, &n, &single), *old_ids = row_ids(f, old, &old_n, &old_single);
        for (unsigned j = 0; j < n; j++)
            if (!has_id(old_ids, old_n, ids[j]) && !postings_add_w(f->dictionary, ids[j], slot))
                return false;
    }
    return true;
}

/* Counts the slot as lost by the keywords that `old` had and `row` (NULL: none) has not. */
static void narrow(struct kind *k, const struct row *old, const struct row *row, uint32_t slot)
{
    for (uint32_t i = 0; i < k->n_fields; i++) {
        const struct field *f = k->fields[i];
        struct keep_context context = {.k = k, .f = f};
        uint32_t single, old_single;
        unsigned n, old_n;
        const uint32_t *ids = row_ids(f, row, &n, &single), *old_ids = row_ids(f, old, &old_n, &old_single);
        for (unsigned j = 0; j < old_n; j++)
            if (!has_id(ids, n, old_ids[j]))
                postings_remove_w(f->dictionary, old_ids[j], slot, keep_slot, &context);
    }
}

/* ---- the end of an item ---- */

enum { RETIRES = 4 }; /* of a put or delete beside its keywords': the record, the end of a grace period, and those of the key map */

bool item_end_reserve(const struct kind *k, const struct row *row)
{
    return reclaim_reserve(RETIRES + row_count_ids(k, row));
}

void item_end_w(struct kind *k, struct row *row)
{
    uint32_t slot = row->slot, *generation = generation_of(k, slot);
    struct key_rec *rec = row->key;
    const struct field *expires = k->expires;
    block_open_w(k, slot);
    /* ORDER: release for plainness; who still reads the old pointer may use the record for its section (G1, G3). */
    publish(row_cell_of(k, slot), NULL);
    if (expires != NULL)
        store_int(expires, slot, INT64_MIN);
    block_close_w(k, slot);
    /* ORDER: release, pairs with the takes in items_find_rcu() and items_at_rcu(): who sees it even finds no row (G3). */
    publish(generation, *generation + 1);
    keymap_kill_w(&k->keys, rec);
    /* ORDER: relaxed: counters for statistics. */
    store_relaxed(&k->n_items, k->n_items - 1);
    sub_relaxed(&k->row_bytes, row->bytes);
    narrow(k, row, NULL, slot);
    /* RETIRE: unlinked by the NULL above; readers that took it before may hold it; freed after a grace period. */
    reclaim_retire(row, row_release);
    slots_bury_w(k, slot);
    slots_advance_w(k);
}

/* The living item's row of a key, expired or not; NULL. */
static struct row *find_w(struct kind *k, const struct key *key)
{
    const struct key_rec *rec = keymap_find_w(&k->keys, key);
    return rec == NULL || rec->ref == KEY_NONE ? NULL : *row_cell_of(k, rec->ref);
}

static status no_room(const struct kind *k, struct error *e)
{
    return fail(e, STATUS_NO_MEMORY, -1, "no memory for a change of an item of '%s'", k->name);
}

static status not_found(const struct kind *k, struct error *e)
{
    return fail(e, STATUS_NOT_FOUND, -1, "there is no such item of '%s'", k->name);
}

status items_delete_w(struct kind *k, const struct key *key, int64_t now, uint32_t *slot, uint32_t *generation, struct error *e)
{
    if (k->dropped)
        return fail(e, STATUS_STALE, -1, "kind '%s' was dropped", k->name);
    struct row *row = find_w(k, key);
    if (row == NULL)
        return not_found(k, e);
    bool expired = row_expired(k->expires, row, now);
    if (!item_end_reserve(k, row))
        return no_room(k, e);
    if (slot != NULL)
        *slot = row->slot;
    if (generation != NULL)
        *generation = *generation_of(k, row->slot);
    item_end_w(k, row);
    return expired ? not_found(k, e) : STATUS_OK;
}

/* ---- put and patch ---- */

/* Room for elements from..to. Those below `from` have theirs. */
static bool ensure(struct chunks *c, uint32_t from, uint32_t to)
{
    for (uint32_t at = from; at < to; at = (at | (CHUNK_SLOTS - 1)) + 1)
        if (!chunks_ensure_shared(c, at))
            return false;
    return chunks_ensure_shared(c, to);
}

/* Room for one more slot, and for those that it skips. */
static bool slots_ensure(struct kind *k, uint32_t slot)
{
    uint32_t from = k->n_slots;
    uint64_t chunks = slot / CHUNK_SLOTS + 1 - (from + CHUNK_SLOTS - 1) / CHUNK_SLOTS;
    if (chunks != 0 && !mem_room(chunks * CHUNK_SLOTS * sizeof(uint64_t) * (k->n_fields + 4)))
        return false;
    if (!ensure(&k->rows, from, slot) || !ensure(&k->generations, from, slot) || !ensure(&k->links, from, slot) ||
        !ensure(&k->sequences, from / BLOCK, slot / BLOCK))
        return false;
    for (uint32_t i = 0; i < k->n_fields; i++)
        if (field_has_column(k->fields[i]) && !ensure(&k->fields[i]->column, from, slot))
            return false;
    return true;
}

/* Where a new item is to live; nothing is taken yet. */
static status choose_slot(struct kind *k, struct item_change *change, uint32_t *slot, struct error *e)
{
    if (change->slot == SLOT_ANY) {
        *slot = slots_first_w(k);
        if (*slot == SLOT_NONE)
            *slot = k->n_slots;
    } else {
        *slot = change->slot;
        if (*slot < k->n_slots && !slots_ready_w(k, *slot))
            return fail(e, STATUS_INVALID, -1, "slot %u of '%s' has an item", *slot, k->name);
    }
    if (*slot >= SLOT_MAX)
        return fail(e, STATUS_LIMIT, -1, "kind '%s' has no more slots", k->name);
    if (*slot >= k->n_slots && !slots_ensure(k, *slot))
        return no_room(k, e);
    return STATUS_OK;
}

/* Takes the slot for good. Slots that are skipped (replay names its slots) are dead ones. */
static void occupy_slot(struct kind *k, uint32_t slot)
{
    if (slot < k->n_slots)
        slots_take_w(k, slot);
    else
        for (uint32_t skipped = k->n_slots; skipped < slot; skipped++)
            slots_bury_w(k, skipped);
}

static void watch_expiry(struct kind *k, const struct row *row)
{
    const struct field *f = k->expires;
    if (f == NULL || row_null(row, f->index))
        return;
    int64_t at = row_int(row, f->index);
    if (at < k->expiry.seen)
        k->expiry.seen = at;
    if (at < k->expiry.next)
        /* ORDER: release, pairs with the take in items_count(). */
        publish(&k->expiry.next, at);
}

/* From here on nothing fails: the new item's record, columns, generation, key and slot become visible. */
static void publish_new(struct kind *k, struct row *row)
{
    uint32_t slot = row->slot, *generation = generation_of(k, slot);
    occupy_slot(k, slot);
    watch_expiry(k, row);
    /* ORDER: relaxed: the publish of the row below covers it (G3). */
    store_relaxed(generation, *generation + 1);
    block_open_w(k, slot);
    store_columns(k, row);
    /* ORDER: release, pairs with the takes of row pointers: the record is filled, the generation odd (G1, G3). */
    publish(row_cell_of(k, slot), row);
    block_close_w(k, slot);
    if (slot >= k->n_slots)
        /* ORDER: release, pairs with the takes of n_slots: chunks, row and generation stand below it. */
        publish(&k->n_slots, slot + 1);
    /* ORDER: relaxed: a counter. */
    store_relaxed(&k->n_items, k->n_items + 1);
}

static void publish_over(struct kind *k, struct row *row, struct row *old)
{
    watch_expiry(k, row);
    block_open_w(k, row->slot);
    store_columns(k, row);
    /* ORDER: release, pairs with the takes of row pointers: the record is filled (G1). */
    publish(row_cell_of(k, row->slot), row);
    block_close_w(k, row->slot);
    /* ORDER: relaxed: a sum for statistics. */
    sub_relaxed(&k->row_bytes, old->bytes);
    narrow(k, old, row, row->slot);
    /* RETIRE: unlinked by the publish above; readers that took it before may hold it; freed after a grace period. */
    reclaim_retire(old, row_release);
}

/* All of a put that can fail after the record was made. On failure sets may be wider; they are narrowed again. */
static status prepare(struct kind *k, struct item_change *change, struct row *row, const struct row *old, struct error *e)
{
    if (!reclaim_reserve(1))
        return no_room(k, e);
    slots_advance_w(k);
    row->slot = old != NULL ? old->slot : SLOT_NONE;
    if (old == NULL) {
        status s = choose_slot(k, change, &row->slot, e); /* clears signals' cells, which reserve and retire by themselves */
        if (s != STATUS_OK)
            return s;
    }
    if (!reclaim_reserve(RETIRES + 2 * row_count_ids(k, row) + row_count_ids(k, old)))
        return no_room(k, e);
    if (widen(k, row, old, row->slot)) {
        row->key = old != NULL ? old->key : keymap_put_w(&k->keys, change->key, row->slot);
        if (row->key != NULL)
            return STATUS_OK;
    }
    narrow(k, row, old, row->slot);
    return no_room(k, e);
}

status items_put_w(struct kind *k, struct item_change *change, struct error *e)
{
    if (k->dropped)
        return fail(e, STATUS_STALE, -1, "kind '%s' was dropped", k->name);
    struct row *old = find_w(k, change->key), *row;
    if (old != NULL && !change->patch && row_expired(k->expires, old, change->now)) {
        /* The item is gone for every reader; this only takes it away, and what follows makes another. */
        if (!item_end_reserve(k, old))
            return no_room(k, e);
        item_end_w(k, old);
        change->took_expired = true;
        old = NULL;
    }
    if (change->patch && (old == NULL || row_expired(k->expires, old, change->now)))
        return not_found(k, e);
    status s = row_make_w(k, change, old, &row, e);
    if (s != STATUS_OK)
        return s;
    row->first_put = old != NULL ? old->first_put : change->now;
    s = prepare(k, change, row, old, e);
    if (s != STATUS_OK) {
        row_release(row);
        return s;
    }
    /* ORDER: relaxed: a sum for statistics. */
    add_relaxed(&k->row_bytes, row->bytes);
    if (old != NULL)
        publish_over(k, row, old);
    else
        publish_new(k, row);
    change->slot = row->slot;
    change->generation = *generation_of(k, row->slot);
    return STATUS_OK;
}
