/* SPDX-License-Identifier: MIT */
/* Life of a database, its clock, and what runs in its background.
 *
 * Who keeps it alive: a statement holds a reference, so a run needs nothing else; calls that stay within one read section are waited for by close's
 * grace period; all others count themselves in `users`, which close waits for. */
#include "engine/database.h"

#include <sched.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/publish.h"
#include "engine/change.h"
#include "store/items.h"
#include "validate.h"

enum { SWEEP_BUDGET = 4096, WALK_SECONDS = 30 };

/* ---- Clock -------------------------------------------------------------------------------------------------------------- */

int64_t database_now(const struct database *db)
{
    /* ORDER: relaxed: a number that stands for itself; set by database_set_clock. */
    int64_t manual = load_relaxed(&db->manual_clock);
    return manual == WALL_CLOCK ? clock_coarse() : manual;
}

void database_set_clock(struct database *db, int64_t now)
{
    /* ORDER: relaxed: read by database_now. */
    store_relaxed(&db->manual_clock, now);
}

/* ---- Background --------------------------------------------------------------------------------------------------------- */

/* The kinds there are; they are never freed before the database. */
static unsigned kinds(const struct database *db)
{
    /* ORDER: acquire: pairs with the release in catalog_create_kind. */
    return take(&db->catalog.n_kinds);
}

static bool sweep(struct database *db, struct kind *k, unsigned budget)
{
    if (kind_dropped(k))
        return false;
    pthread_mutex_lock(&k->lock);
    unsigned n = kind_dropped(k) ? 0 : items_sweep_w(k, database_now(db), budget, change_tell_expired, db);
    pthread_mutex_unlock(&k->lock);
    return n == budget;
}

/* catalog->lock is held: no signal is dropped meanwhile. */
static void walk_signals_w(struct database *db, struct kind *k)
{
    /* ORDER: acquire: pairs with the release in catalog_create_signal. */
    unsigned n = take(&k->n_signals);
    for (unsigned i = 0; i < n && !kind_dropped(k); i++) {
        /* ORDER: acquire: pairs with the release in catalog_drop_signal. */
        if (take(&k->signals[i].dropped))
            continue;
        /* ORDER: acquire: pairs with the release in items_put_w; slots below have their chunks. */
        signal_maintain(k->signals[i].signal, take(&k->n_slots), database_now(db));
    }
}

static void tick(void *context)
{
    struct database *db = context;
    bool walk = clock_monotonic() >= db->next_walk;
    if (walk && pthread_mutex_trylock(&db->catalog.lock) == 0) {
        db->next_walk = clock_monotonic() + WALK_SECONDS * MICROS;
        for (unsigned i = 0; i < kinds(db); i++)
            walk_signals_w(db, db->catalog.kinds[i]);
        pthread_mutex_unlock(&db->catalog.lock);
    }
    for (unsigned i = 0; i < kinds(db); i++)
        sweep(db, db->catalog.kinds[i], SWEEP_BUDGET);
}

status database_maintain(struct database *db, struct error *e)
{
    if (!reclaim_reserve(1))
        return fail(e, STATUS_NO_MEMORY, -1, "no memory for background work");
    for (unsigned i = 0; i < kinds(db); i++)
        while (sweep(db, db->catalog.kinds[i], SWEEP_BUDGET)) {
        }
    reclaim_barrier();
    pthread_mutex_lock(&db->catalog.lock);
    for (unsigned i = 0; i < kinds(db); i++)
        walk_signals_w(db, db->catalog.kinds[i]);
    pthread_mutex_unlock(&db->catalog.lock);
    for (unsigned i = 0; i < kinds(db); i++)
        sweep(db, db->catalog.kinds[i], SWEEP_BUDGET);
    reclaim_barrier();
    return STATUS_OK;
}

status database_validate(struct database *db, struct error *e)
{
    status s = STATUS_OK;
    pthread_mutex_lock(&db->catalog.lock);
    for (unsigned i = 0; i < kinds(db) && !s; i++) {
        struct kind *k = db->catalog.kinds[i];
        pthread_mutex_lock(&k->lock);
        if (!kind_dropped(k) && !validate_kind(k, e))
            s = STATUS_INTERNAL;
        pthread_mutex_unlock(&k->lock);
    }
    pthread_mutex_unlock(&db->catalog.lock);
    return s;
}

/* ---- Life --------------------------------------------------------------------------------------------------------------- */

status database_open(const struct database_options *options, struct database **out, struct error *e)
{
    struct database *db = mem_zalloc(sizeof *db);
    if (!db)
        return fail(e, STATUS_NO_MEMORY, -1, "no memory to open a database");
    status s = catalog_init(&db->catalog);
    if (s) {
        mem_free(db);
        return fail(e, s, -1, "no memory to open a database");
    }
    event_ids_init(&db->ids);
    if (getrandom(&db->id, sizeof db->id, 0) != sizeof db->id)
        db->id = (uint64_t)clock_precise() ^ (uintptr_t)db;
    db->manual_clock = options->now;
    db->memory_limit = options->memory_limit;
    if (db->memory_limit)
        mem_set_limit(db->memory_limit);
    db->references = 1;
    db->next_walk = clock_monotonic() + WALK_SECONDS * MICROS;
    db->task = (struct reclaim_task){.tick = tick, .context = db};
    reclaim_task_add(&db->task);
    *out = db;
    return STATUS_OK;
}

void database_keep(struct database *db)
{
    /* ORDER: relaxed: who adds a reference holds one. */
    add_relaxed(&db->references, 1u);
}

void database_release(struct database *db)
{
    /* ORDER: sequentially consistent: the last one sees all that the others did. */
    if (sub_seq(&db->references, 1u) != 1)
        return;
    catalog_destroy(&db->catalog);
    event_ids_destroy(&db->ids);
    mem_free(db);
}

bool database_use(struct database *db)
{
    /* ORDER: sequentially consistent, with the store of closed in database_close: either close sees this user, or this user sees closed. */
    add_seq(&db->users, 1u);
    if (!load_seq(&db->closed))
        return true;
    database_leave(db);
    return false;
}

void database_leave(struct database *db)
{
    /* ORDER: sequentially consistent: pairs with database_close's wait. */
    sub_seq(&db->users, 1u);
}

void database_close(struct database *db)
{
    /* ORDER: sequentially consistent: see database_use. */
    store_seq(&db->closed, true);
    reclaim_task_remove(&db->task);
    if (db->memory_limit && mem_limit() == db->memory_limit)
        mem_set_limit(0);
    /* ORDER: sequentially consistent: see database_use. */
    while (load_seq(&db->users) != 0)
        sched_yield();
    reclaim_synchronize();
    database_release(db);
}

/* ---- Names, handles ----------------------------------------------------------------------------------------------------- */

status database_kind(struct database *db, const char *name, struct kind **out, struct error *e)
{
    *out = catalog_kind(&db->catalog, name);
    if (*out)
        return STATUS_OK;
    if (strcmp(name, "user") == 0)
        return fail(e, STATUS_UNSUPPORTED, -1, "kind 'user' is reserved and not available");
    return fail(e, STATUS_UNKNOWN, -1, "there is no kind '%.64s'", name);
}

const struct row *find_item_rcu(const struct kind *k, const struct key *key, int64_t now, uint32_t *generation, struct error *e)
{
    const struct row *row = kind_dropped(k) ? NULL : items_find_rcu(k, key, now, generation);
    if (!row)
        fail(e, STATUS_NOT_FOUND, -1, "kind '%s' has no item of that key", k->name);
    return row;
}

status find_handle(const struct kind *k, const struct key *key, int64_t now, uint64_t *out, struct error *e)
{
    uint32_t generation;
    reclaim_enter(); /* RCU: protects the key's record and row; only numbers leave the section */
    const struct row *row = find_item_rcu(k, key, now, &generation, e);
    if (row)
        *out = (uint64_t)k->id << 56 | (uint64_t)(generation & 0xffffff) << 32 | row->slot;
    reclaim_leave();
    return row ? STATUS_OK : STATUS_NOT_FOUND;
}

status handle_find(struct database *db, const char *kind, const struct value *key, uint64_t *out, struct error *e)
{
    struct kind *k;
    struct key bytes;
    status s = database_kind(db, kind, &k, e);
    if (!s)
        s = items_check_key(k, key, &bytes, e);
    return s ? s : find_handle(k, &bytes, database_now(db), out, e);
}

status signal_number(struct database *db, const char *name, const char *kind, uint32_t *out, struct error *e)
{
    bool found = false;
    for (unsigned i = 0; i < kinds(db); i++) {
        const struct kind *k = db->catalog.kinds[i];
        if (kind_dropped(k) || (kind && strcmp(k->name, kind) != 0))
            continue;
        int index = kind_signal_index(k, name);
        if (index < 0)
            continue;
        if (found)
            return fail(e, STATUS_UNKNOWN, -1, "signal '%.64s' is of several kinds: name the kind", name);
        *out = (uint32_t)k->id << 16 | (uint32_t)index;
        found = true;
    }
    if (found)
        return STATUS_OK;
    if (kind && !catalog_kind(&db->catalog, kind))
        return fail(e, STATUS_UNKNOWN, -1, "there is no kind '%.64s'", kind);
    return fail(e, STATUS_UNKNOWN, -1, "there is no signal '%.64s'%s%.64s%s", name, kind ? " of kind '" : "", kind ? kind : "", kind ? "'" : "");
}
