/* SPDX-License-Identifier: MIT */
/* The key map: 1,024 shards, each a ck_ht of its own that is only ever inserted into.
 *
 *   keymap -> shards [ 0 | 1 | ... | 1023 ]      by the hash's top 10 bits; ck_ht uses the lower ones
 *                      '-> table, count, dead
 *                                 '-> ck_ht_map: open addressing, a cache line at a time, at most half full
 *                                       '-> key_rec { ref, length, key }       the entry's key points into the record
 *
 * ck_ht 0.7 is wrong once a key was removed from it or set again: duplicates appear, and a reader may be given another key's value. So it
 * is insert-only here. What changes is `ref` in the record. When half of a shard (and at least DEAD_MIN) is dead, a table with the
 * living alone is built aside and published; the old one goes, with the dead records, after a grace period.
 *
 * A struct ck_ht is five words of which only `map` differs between our tables, so a shard keeps just that, and one is put together on the
 * stack for each call (table_of). ck_ht hands maps it has replaced to its allocator as "deferred"; ours lists them (`replaced`), and they are
 * retired once the shard's pointer has moved on.
 *
 * Invariants
 *   I1  A record's key and length never change; it is in its shard's table once, or (retired) in none.
 *   I2  count is the number of records in the table, dead of those whose ref is KEY_NONE.
 *   I3  A table or record is retired only after no pointer of the map leads to it.
 *
 * Ordering guarantees
 *   G1  Who finds a record sees its key, its length, and what the writer did before it stored the ref that is read.
 *
 * Progress: find is wait-free, bounded by the longest probe of an insert (nothing is ever removed, so ck_ht never restarts). put and kill
 * are one writer's; a put that grows a table or a kill that rebuilds one is linear in the shard, a thousandth of the map.
 *
 * Both kinds of keys are stored as bytes: ck_ht's direct mode would keep keys 0 and 2^64-1 for itself, and a hit reads the record anyway. */
#include "store/keymap.h"

#include <assert.h>
#include <ck_ht.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/publish.h"
#include "base/reclaim.h"
#include "store/limits.h"

enum {
    SHARD_BITS = 10,
    SHARDS = 1 << SHARD_BITS,
    FIRST_CAPACITY = 4, /* of a shard's first table */
    DEAD_MIN = 32,
};

/* More than any shard needs; ends ck_ht's attempts to double a table that an impossible number of equal hashes fills. */
#define TABLE_BYTES_MAX ((size_t)1 << 33)

struct key_shard {
    struct ck_ht_map *table; /* atomic */
    uint32_t count, dead;
};

/* ---- ck_ht's memory ---- */

/* Stands before each ck_ht_map. No reader looks at it. */
struct header {
    struct header *next; /* in `replaced`, and of what is retired together */
    size_t bytes;
};

static __thread struct header *replaced; /* tables this thread's call has replaced */
static __thread uint64_t grown;          /* bytes it has allocated less those it has freed or replaced */
static __thread bool no_memory;          /* an allocation failed */

static struct header *header_of(const struct ck_ht_map *table)
{
    /* Through an integer, since the map lies in what its header allocated. */
    return (struct header *)((uintptr_t)table - sizeof(struct header));
}

static void *table_alloc(size_t bytes)
{
    struct header *h = bytes > TABLE_BYTES_MAX ? NULL : mem_alloc(sizeof *h + bytes);
    if (h == NULL) {
        no_memory = true;
        return NULL;
    }
    h->bytes = sizeof *h + bytes;
    grown += h->bytes;
    return h + 1;
}

static void table_free(void *table, size_t bytes, bool defer)
{
    (void)bytes;
    struct header *h = header_of(table);
    grown -= h->bytes;
    if (!defer) {
        mem_free(h);
        return;
    }
    h->next = replaced;
    replaced = h;
}

static struct ck_malloc allocator = {.malloc = table_alloc, .free = table_free};

static void release_tables(void *first)
{
    for (struct header *h = first; h != NULL;) {
        struct header *next = h->next;
#ifdef EAGRE_TESTING
        memset(h + 1, 0xa5, h->bytes - sizeof *h); /* libck is not instrumented: a reader that is still there shall fail to find */
#endif
        mem_free(h);
        h = next;
    }
}

static struct header *take_replaced(void)
{
    struct header *all = replaced;
    replaced = NULL;
    return all;
}

/* ---- keys and hashes ---- */

static uint64_t hash_key(bool integers, const void *bytes, uint32_t length)
{
    uint64_t number;
    if (!integers)
        return hash_bytes(bytes, length);
    memcpy(&number, bytes, sizeof number);
    return hash_u64(number);
}

/* Builds of ck_ht that do not keep hashes ask for them again when they grow; the seed says which kind of keys these are. */
static void hash_callback(ck_ht_hash_t *h, const void *key, size_t length, uint64_t integers)
{
    h->value = hash_key(integers != 0, key, (uint32_t)length);
}

static uint64_t hash_record(const struct keymap *m, const struct key_rec *rec)
{
    return hash_key(m->integers, rec->bytes, rec->length);
}

/* The key's bytes, in whichever kind of map. */
static const char *key_bytes(const struct keymap *m, const struct key *key, uint32_t *length)
{
    if (m->integers) {
        *length = sizeof key->number;
        return (const char *)&key->number;
    }
    *length = key->length;
    return key->length == 0 ? "" : key->bytes;
}

static size_t record_bytes(uint32_t length)
{
    return offsetof(struct key_rec, bytes) + (length < sizeof(uint64_t) ? sizeof(uint64_t) : length);
}

static struct key_rec *record_make(const char *bytes, uint32_t length, uint32_t ref)
{
    struct key_rec *rec = mem_alloc(record_bytes(length));
    if (rec == NULL)
        return NULL;
    rec->length = length;
    memcpy(rec->bytes, bytes, length);
    /* ORDER: release. Pairs with the take in lookup(), where it makes the key visible (ck_ht's own fences are unknown to race detectors). */
    publish(&rec->ref, ref);
    return rec;
}

static struct ck_ht table_of(const struct keymap *m, struct ck_ht_map *table)
{
    return (struct ck_ht){.m = &allocator, .map = table, .mode = CK_HT_MODE_BYTESTRING, .seed = m->integers, .h = hash_callback};
}

static struct key_rec *lookup(const struct keymap *m, struct ck_ht_map *table, uint64_t hash, const char *bytes, uint32_t length)
{
    struct ck_ht ht = table_of(m, table);
    ck_ht_entry_t entry;
    ck_ht_entry_key_set(&entry, bytes, (uint16_t)length);
    if (!ck_ht_get_spmc(&ht, (ck_ht_hash_t){hash}, &entry))
        return NULL;
    struct key_rec *rec = ck_ht_entry_value(&entry);
    /* ORDER: acquire. Pairs with the publish in record_make() and with those of later refs (G1). */
    (void)take(&rec->ref);
    return rec;
}

static struct key_rec *find(const struct keymap *m, const struct key *key)
{
    uint32_t length;
    const char *bytes = key_bytes(m, key, &length);
    /* ORDER: acquire. Pairs with the publish in shards_of(): the shards are made. */
    struct key_shard *shards = take(&m->shards);
    if (shards == NULL || length > MAX_KEY)
        return NULL;
    uint64_t hash = hash_key(m->integers, bytes, length);
    /* ORDER: acquire. Pairs with the publishes of tables in insert() and rebuild(): the table is filled. */
    struct ck_ht_map *table = take(&shards[hash >> (64 - SHARD_BITS)].table);
    return table == NULL ? NULL : lookup(m, table, hash, bytes, length);
}

struct key_rec *keymap_find_rcu(const struct keymap *m, const struct key *key)
{
    assert(reclaim_reading());
    return find(m, key);
}

struct key_rec *keymap_find_w(const struct keymap *m, const struct key *key)
{
    return find(m, key);
}

/* ---- writing ---- */

static void count_bytes(struct keymap *m, uint64_t delta)
{
    /* ORDER: relaxed: a statistic. */
    add_relaxed(&m->bytes, delta);
}

/* What this thread's calls of ck_ht have added to, or taken from, the map's bytes. */
static void count_grown(struct keymap *m)
{
    count_bytes(m, grown);
    grown = 0;
}

static struct key_shard *shards_of(struct keymap *m)
{
    if (m->shards != NULL)
        return m->shards;
    struct key_shard *made = mem_aligned(CACHE_LINE, SHARDS * sizeof *made);
    if (made == NULL)
        return NULL;
    count_bytes(m, SHARDS * sizeof *made);
    /* ORDER: release. Pairs with the take in find(): the shards are zero. */
    publish(&m->shards, made);
    return made;
}

/* The table that ck_ht left, and what it replaced. One retire at most. */
static void publish_table(struct key_shard *shard, struct ck_ht_map *table)
{
    struct header *old = take_replaced();
    if (shard->table != table)
        /* ORDER: release. Pairs with the take in find(): the table is filled. */
        publish(&shard->table, table);
    if (old != NULL)
        /* RETIRE: unlinked by the publish above; readers that entered before may be in them; freed after a grace period (I3). */
        reclaim_retire(old, release_tables);
}

static void set_entry(ck_ht_entry_t *entry, uint64_t hash, const struct key_rec *rec)
{
    ck_ht_entry_set(entry, (ck_ht_hash_t){hash}, rec->bytes, (uint16_t)rec->length, rec);
}

/* With one retire reserved; the key is not there. False: out of memory, and the old table works on. */
static bool insert(const struct keymap *m, struct key_shard *shard, uint64_t hash, const struct key_rec *rec)
{
    struct ck_ht ht = table_of(m, shard->table);
    if (ht.map == NULL && !ck_ht_init(&ht, ht.mode, ht.h, &allocator, FIRST_CAPACITY, ht.seed))
        return false;
    ck_ht_entry_t entry;
    set_entry(&entry, hash, rec);
    /* A failure to grow after the entry is in is no failure: the table is fuller than it likes, and the next put tries again. */
    bool ok = ck_ht_put_spmc(&ht, (ck_ht_hash_t){hash}, &entry);
    publish_table(shard, ht.map);
    return ok;
}

struct key_rec *keymap_put_w(struct keymap *m, const struct key *key, uint32_t ref)
{
    uint32_t length;
    const char *bytes = key_bytes(m, key, &length);
    assert(ref != KEY_NONE && length <= MAX_KEY && !reclaim_reading());
    struct key_shard *shards = shards_of(m);
    if (shards == NULL || !reclaim_reserve(1))
        return NULL;
    uint64_t hash = hash_key(m->integers, bytes, length);
    struct key_shard *shard = &shards[hash >> (64 - SHARD_BITS)];
    struct key_rec *rec = shard->table == NULL ? NULL : lookup(m, shard->table, hash, bytes, length);
    if (rec != NULL) {
        if (rec->ref == KEY_NONE)
            shard->dead--;
        /* ORDER: release. Pairs with the reader's take of ref: what it refers to stands (G1). */
        publish(&rec->ref, ref);
    } else {
        rec = record_make(bytes, length, ref);
        if (rec != NULL && !insert(m, shard, hash, rec)) {
            mem_free(rec);
            rec = NULL;
        }
        if (rec != NULL) {
            shard->count++;
            count_bytes(m, record_bytes(length));
        }
        count_grown(m);
    }
    return rec;
}

/* ---- rebuilding without the dead ---- */

struct garbage {
    struct header *tables;
    uint32_t n;
    struct key_rec *records[];
};

static void release_garbage(void *p)
{
    struct garbage *g = p;
    release_tables(g->tables);
    for (uint32_t i = 0; i < g->n; i++)
        mem_free(g->records[i]);
    mem_free(g);
}

static struct key_rec *next_record(struct ck_ht *ht, ck_ht_iterator_t *at)
{
    ck_ht_entry_t *entry;
    return ck_ht_next(ht, at, &entry) ? ck_ht_entry_value(entry) : NULL;
}

/* The living of `old` go into `fresh`, the dead into g. False: out of memory. */
static bool sort_out(const struct keymap *m, struct ck_ht *old, struct ck_ht *fresh, struct garbage *g)
{
    ck_ht_iterator_t at = CK_HT_ITERATOR_INITIALIZER;
    for (struct key_rec *rec; (rec = next_record(old, &at)) != NULL;) {
        if (rec->ref == KEY_NONE) {
            g->records[g->n++] = rec;
            continue;
        }
        uint64_t hash = hash_record(m, rec);
        ck_ht_entry_t entry;
        set_entry(&entry, hash, rec);
        if (!ck_ht_put_spmc(fresh, (ck_ht_hash_t){hash}, &entry))
            return false;
    }
    return true;
}

/* When memory is out nothing has changed, and a later kill tries again. */
static void rebuild(struct keymap *m, struct key_shard *shard)
{
    struct garbage *g = mem_alloc(sizeof *g + shard->dead * sizeof g->records[0]);
    if (g == NULL || !reclaim_reserve(1)) {
        mem_free(g);
        return;
    }
    *g = (struct garbage){0};
    uint32_t living = shard->count - shard->dead;
    struct ck_ht old = table_of(m, shard->table), fresh = table_of(m, NULL);
    bool ok = living == 0 || ck_ht_init(&fresh, fresh.mode, fresh.h, &allocator, 2 * (uint64_t)living + 1, fresh.seed);
    ok = ok && sort_out(m, &old, &fresh, g);
    release_tables(take_replaced()); /* of fresh's own growth: nobody has seen them */
    if (!ok) {
        if (fresh.map != NULL)
            ck_ht_destroy(&fresh);
        mem_free(g);
        count_grown(m);
        return;
    }
    uint64_t freed = 0;
    for (uint32_t i = 0; i < g->n; i++)
        freed += record_bytes(g->records[i]->length);
    table_free(old.map, 0, true);
    g->tables = take_replaced();
    count_grown(m);
    count_bytes(m, 0 - freed);
    /* ORDER: release. Pairs with the take in find(): the table is filled. */
    publish(&shard->table, fresh.map);
    shard->count = living;
    shard->dead = 0;
    /* RETIRE: unlinked by the publish above; readers that entered before may hold the table and its records (I3). */
    reclaim_retire(g, release_garbage);
}

void keymap_kill_w(struct keymap *m, struct key_rec *rec)
{
    assert(!reclaim_reading());
    struct key_shard *shard = &m->shards[hash_record(m, rec) >> (64 - SHARD_BITS)];
    if (rec->ref == KEY_NONE)
        return;
    /* ORDER: release, for plainness: a reader that takes KEY_NONE looks at nothing else. */
    publish(&rec->ref, KEY_NONE);
    shard->dead++;
    if (shard->dead >= DEAD_MIN && shard->dead >= shard->count - shard->dead)
        rebuild(m, shard);
}

/* ---- the whole ---- */

void keymap_init(struct keymap *m, bool integers)
{
    *m = (struct keymap){.integers = integers};
}

void keymap_destroy(struct keymap *m)
{
    struct key_shard *shards = m->shards;
    for (int i = 0; shards != NULL && i < SHARDS; i++) {
        if (shards[i].table != NULL) {
            struct ck_ht ht = table_of(m, shards[i].table);
            ck_ht_iterator_t at = CK_HT_ITERATOR_INITIALIZER;
            for (struct key_rec *rec; (rec = next_record(&ht, &at)) != NULL;)
                mem_free(rec);
            ck_ht_destroy(&ht);
        }
    }
    mem_free(shards);
    grown = 0;
    *m = (struct keymap){0};
}

uint64_t keymap_bytes(const struct keymap *m)
{
    /* ORDER: relaxed: a statistic. */
    return load_relaxed(&m->bytes);
}

static bool validate_shard(const struct keymap *m, int number, struct error *e, uint64_t *bytes)
{
    const struct key_shard *shard = &m->shards[number];
    uint32_t count = 0, dead = 0;
    if (shard->table != NULL) {
        struct ck_ht ht = table_of(m, shard->table);
        ck_ht_iterator_t at = CK_HT_ITERATOR_INITIALIZER;
        *bytes += header_of(shard->table)->bytes;
        for (struct key_rec *rec; (rec = next_record(&ht, &at)) != NULL; count++) {
            dead += rec->ref == KEY_NONE;
            *bytes += record_bytes(rec->length);
            uint64_t hash = hash_record(m, rec);
            if (hash >> (64 - SHARD_BITS) != (uint64_t)number)
                return fail(e, STATUS_INTERNAL, -1, "shard %d has a key of another", number), false;
            if (lookup(m, shard->table, hash, rec->bytes, rec->length) != rec)
                return fail(e, STATUS_INTERNAL, -1, "shard %d: a record is not what its key finds", number), false;
        }
        if (count != ck_ht_count(&ht))
            return fail(e, STATUS_INTERNAL, -1, "shard %d: ck_ht counts otherwise than its entries", number), false;
    }
    if (count != shard->count || dead != shard->dead)
        return fail(e, STATUS_INTERNAL, -1, "shard %d has %u records, %u of them dead, and counts %u and %u", number, count, dead,
                    shard->count, shard->dead),
               false;
    return true;
}

bool keymap_validate(const struct keymap *m, struct error *e)
{
    uint64_t bytes = m->shards == NULL ? 0 : SHARDS * sizeof(struct key_shard);
    for (int i = 0; m->shards != NULL && i < SHARDS; i++)
        if (!validate_shard(m, i, e, &bytes))
            return false;
    if (bytes != m->bytes)
        return fail(e, STATUS_INTERNAL, -1, "the map has %llu bytes and counts %llu", (unsigned long long)bytes,
                    (unsigned long long)m->bytes),
               false;
    return true;
}
