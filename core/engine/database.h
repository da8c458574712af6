/* SPDX-License-Identifier: MIT */
/* One database: its schema and items, and its clock. Changes go through change_apply (change.h), questions through statement_run (statement.h). */
#ifndef EAGRE_ENGINE_DATABASE_H
#define EAGRE_ENGINE_DATABASE_H

#include "base/buffer.h"
#include "base/reclaim.h"
#include "store/catalog.h"
#include "store/event_ids.h"

struct database {
    struct catalog catalog;
    struct event_ids ids;
    uint64_t id;              /* random: binds cursors to this database */
    int64_t manual_clock;     /* atomic; WALL_CLOCK: the machine's */
    bool closed;              /* atomic: set once */
    uint32_t references;      /* atomic: the owner's and one for each statement; the last one destroys */
    uint32_t users;           /* atomic: calls in progress that need the database outside of a read section */
    int64_t next_walk;        /* of quiet signals, on the monotonic clock; the maintenance thread's */
    uint64_t memory_limit;    /* that it set for the process, or 0 */
    struct reclaim_task task;
    /* Every change that was applied, encoded, in the order of its item: what a log will be fed by. NULL: nobody listens. Set before any change. */
    void (*listener)(void *context, const void *record, size_t length);
    void *listener_context;
};

#define WALL_CLOCK INT64_MIN

struct database_options {
    int64_t now;           /* WALL_CLOCK or a manual clock */
    uint64_t memory_limit; /* of the process while this database is open; the last one that set it counts. 0: leave it */
};

status database_open(const struct database_options *options, struct database **out, struct error *e);
void database_close(struct database *db); /* marks, waits for calls in progress, gives the owner's reference back */
void database_keep(struct database *db);
void database_release(struct database *db);

int64_t database_now(const struct database *db); /* read once per call or batch */
void database_set_clock(struct database *db, int64_t now);

/* Brackets a call that is not covered by a read section or a statement. False: closed. */
bool database_use(struct database *db);
void database_leave(struct database *db);

/* Handles of items and numbers of signals, as they travel: kind 8 | generation 24 | slot 32; kind 16 | index 16. */
static inline unsigned handle_kind(uint64_t handle)
{
    return (unsigned)(handle >> 56);
}

static inline uint32_t handle_slot(uint64_t handle)
{
    return (uint32_t)handle;
}

static inline uint32_t handle_generation(uint64_t handle) /* its low bits */
{
    return (uint32_t)(handle >> 32) & 0xffffff;
}

status handle_find(struct database *db, const char *kind, const struct value *key, uint64_t *out, struct error *e);
status signal_number(struct database *db, const char *name, const char *kind, uint32_t *out, struct error *e);
status database_kind(struct database *db, const char *name, struct kind **out, struct error *e);
/* In a read section. The living item of a key; NULL: a filled error. */
const struct row *find_item_rcu(const struct kind *k, const struct key *key, int64_t now, uint32_t *generation, struct error *e);
/* The same as a handle, in a section of its own. */
status find_handle(const struct kind *k, const struct key *key, int64_t now, uint64_t *out, struct error *e);

status database_schema(struct database *db, struct buffer *out);
status database_stats(struct database *db, struct buffer *out);
status database_maintain(struct database *db, struct error *e);
status database_validate(struct database *db, struct error *e);

#endif
