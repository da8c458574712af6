/* SPDX-License-Identifier: MIT */
/* The one door for changes. Every change, from a signal to a new field, is a small plain struct with one check, one encoder, one decoder and one apply; whoever
 * makes one (the ABI, an import, a replay) goes through here. Records are what a log carries: slot, generation, the clamped time and all else that
 * was resolved is in them, so that each can be applied alone. */
#ifndef EAGRE_ENGINE_CHANGE_H
#define EAGRE_ENGINE_CHANGE_H

#include "base/buffer.h"
#include "base/value.h"
#include "engine/database.h"
#include "engine/handles.h"
#include "query/arena.h"
#include "store/items.h"

enum change_type { CHANGE_SCHEMA = 1, CHANGE_PUT, CHANGE_PATCH, CHANGE_DELETE, CHANGE_SIGNAL };

struct change {
    uint8_t type;
    uint16_t kind;            /* id */
    int64_t now;              /* the moment it was made; EXPIRED: a DELETE of what had expired */
    /* PUT, PATCH, DELETE */
    struct key key;
    unsigned n;
    const uint16_t *fields;
    struct value *values;     /* checked in place */
    /* SIGNAL */
    uint16_t signal;
    double weight;
    int64_t at;
    struct value id;          /* null: none; INT or UINT: a number; TEXT: 1 .. 64 bytes */
    /* slot: SLOT_ANY until applied; generation: out, or (SIGNAL) in */
    uint32_t slot, generation;
    /* SCHEMA */
    const char *text;
    size_t length;
};

/* Does it fit? Sentences name the argument. Converts values in place. Changes nothing else. */
status change_check(struct database *db, struct change *c, struct error *e);
/* Applies a change that was checked. DUPLICATE: a signal whose id was counted before. */
status change_apply(struct database *db, struct change *c, struct error *e);

/* The record of an item that goes because it has expired; an item_dies of `db`, with the kind's lock. So who replays records with a clock that stands
 * still has every death from them. */
#define EXPIRED INT64_MIN
void change_tell_expired(void *db, struct kind *k, const struct row *row, uint32_t generation);

void change_encode(const struct database *db, const struct change *c, struct buffer *out);
/* False: cut short or not a change. What it points at lies in the record or in the arena. */
bool change_decode(struct database *db, const void *record, size_t length, struct arena *arena, struct change *out);

/* The hot ways of a signal, without an event id: one section, no counter, no lock, no allocation but for a cell's history. `at` WALL_CLOCK: now. `e`
 * is not NULL. */
status signal_by_handle(const struct shell *shell, uint32_t signal, uint64_t handle, double weight, int64_t at, struct error *e);
status signal_by_key(const struct shell *shell, uint32_t signal, const struct value *key, double weight, int64_t at, struct error *e);

struct kind *signal_kind(const struct database *db, uint32_t signal, struct error *e); /* of a signal's number; NULL: a filled error */
bool handle_alive(const struct kind *k, uint64_t handle, int64_t now);

/* Batches, checked whole before anything changes; *applied counts. */
struct signal_batch {
    uint32_t signal;
    uint64_t n;
    const uint64_t *handles;       /* or keys */
    bool (*key)(const struct signal_batch *b, uint64_t i, struct value *out); /* false: lies outside the caller's heap */
    bool (*event_id)(const struct signal_batch *b, uint64_t i, struct value *out); /* NULL: none have one */
    const void *context;
    const double *weights;         /* NULL: 1 */
    const int64_t *at;             /* NULL: now; WALL_CLOCK among them: now */
};
status signal_many(struct database *db, const struct signal_batch *b, uint64_t *applied, struct error *e);

struct put_batch {
    const char *kind;
    bool patch;
    uint64_t n_rows;
    unsigned n_fields;
    const struct value *fields;    /* names */
    bool (*cell)(const struct put_batch *b, uint64_t row, int column, struct value *out); /* column -1: the key */
    const void *context;
};
status put_many(struct database *db, const struct put_batch *b, uint64_t *applied, struct error *e);
status delete_item(struct database *db, const char *kind, const struct value *key, struct error *e);

/* A statement that changes the schema; text is parsed in schema_apply. */
status schema_apply(struct database *db, const char *text, size_t length, struct error *e);

#endif
