/* SPDX-License-Identifier: MIT */
/* The schema: kinds with their fields, signals and profiles, changed while the database is open. ALTER only adds, so a pointer to a kind, field
 * or signal stays valid until the catalog is destroyed: what is dropped keeps its shell, marked, and gives its data back. */
#ifndef EAGRE_STORE_CATALOG_H
#define EAGRE_STORE_CATALOG_H

#include <pthread.h>

#include "base/status.h"
#include "base/value.h"
#include "store/chunks.h"
#include "store/keymap.h"
#include "store/limits.h"
#include "store/postings.h"
#include "store/row.h"
#include "store/signal.h"

enum field_type { FIELD_INTEGER, FIELD_REAL, FIELD_TIME, FIELD_KEYWORD, FIELD_KEYWORDS, FIELD_TEXT, FIELD_VECTOR };
enum role { ROLE_NONE, ROLE_TITLE, ROLE_AUTHOR, ROLE_CREATED, ROLE_DURATION, ROLE_COUNT };

struct field_def {
    char name[MAX_NAME + 1];
    uint8_t type;       /* enum field_type */
    uint8_t role;       /* enum role: by AS, or by name and type */
    bool role_by_as;    /* said by AS: wins over a field of that name */
    bool expires;
    uint16_t dimension; /* VECTOR */
};

struct field {
    struct field_def def;
    uint16_t index;
    /* Column: i64 (INTEGER, TIME; INT64_MIN means "ask the record": null, or that very number), f64 (REAL; NaN is null), u32 id (KEYWORD; 0 is
     * null). No column for the other types. */
    struct chunks column;
    struct dictionary *dictionary; /* KEYWORD, KEYWORDS: values, ids from 1, and each id's postings; else NULL */
};

struct profile { /* immutable once published */
    char name[MAX_NAME + 1];
    char *text; /* all of the statement: CREATE PROFILE ... */
};

struct profile_list { uint32_t n; struct profile *items[]; };

struct kind {
    char name[MAX_NAME + 1];
    uint16_t id;
    bool integer_keys;
    bool dropped;                 /* atomic: set once */
    pthread_mutex_t lock;         /* the kind's writer role: put, patch, delete, added fields and signals, slot reuse */
    struct keymap keys;
    uint32_t n_slots;             /* atomic: published after a slot's row */
    uint32_t n_items;             /* atomic: living ones */
    struct chunks rows;           /* struct row *, NULL = dead */
    struct chunks generations;    /* u32: odd while an item lives in the slot; moves by one at each birth and death */
    struct chunks sequences;      /* u32 per BLOCK of slots: odd while a writer stores into its columns or rows */
    uint32_t n_fields;            /* atomic */
    struct field *fields[MAX_FIELDS];
    struct field *expires;        /* atomic, or NULL */
    uint32_t n_signals;           /* atomic */
    struct kind_signal { struct signal *signal; bool dropped; /* atomic */ } signals[MAX_SIGNALS];
    struct profile_list *profiles; /* atomic; replaced and retired */
    struct slot_queue { uint32_t *slots; uint32_t head, count, capacity; } free_slots; /* oldest first; under lock */
};

struct catalog {
    pthread_mutex_t lock; /* schema changes, taken before any kind's lock */
    uint64_t version;     /* atomic: moves at each change */
    uint32_t n_kinds;     /* atomic; dropped ones included */
    struct kind *kinds[MAX_KINDS];
};

status catalog_init(struct catalog *c);
void catalog_destroy(struct catalog *c); /* frees everything; nobody uses it any more */

struct kind *catalog_kind(const struct catalog *c, const char *name); /* living ones; NULL */
struct field *kind_field(const struct kind *k, const char *name);     /* by field name, else by role name; NULL */
struct field *kind_role(const struct kind *k, enum role role);        /* by AS first; NULL */
int kind_signal_index(const struct kind *k, const char *name);        /* living ones; -1 */
enum role role_by_name(const char *name);                             /* ROLE_NONE */
const char *field_type_name(unsigned type);                           /* "INTEGER" */

/* Schema changes. Each checks everything first and changes nothing when it fails; the caller holds no lock. */
status catalog_create_kind(struct catalog *c, const char *name, bool integer_keys, unsigned n, const struct field_def *fields, struct error *e);
status catalog_add_fields(struct catalog *c, struct kind *k, unsigned n, const struct field_def *fields, struct error *e);
status catalog_drop_kind(struct catalog *c, struct kind *k, struct error *e);
status catalog_create_signal(struct catalog *c, struct kind *k, const struct signal_def *def, struct error *e);
status catalog_drop_signal(struct catalog *c, struct kind *k, const char *name, struct error *e);
status catalog_set_profile(struct catalog *c, struct kind *k, const char *name, const char *text, bool replace, struct error *e);
status catalog_drop_profile(struct catalog *c, struct kind *k, const char *name, struct error *e);

#endif
