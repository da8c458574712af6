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
    uint8_t type;    /* enum field_type */
    uint8_t role;    /* enum role: by AS, or by name and type */
    bool role_by_as; /* said by AS: wins over a field of that name */
    bool expires;
    uint16_t dimension; /* VECTOR */
};

struct kind;

struct field {
    struct field_def def;
    uint16_t index;
    struct kind *kind;
    /* Column: i64 (INTEGER, TIME; INT64_MIN means "ask the record": null, or that very number), f64 (REAL; NaN is null), u32 id (KEYWORD; 0 is
     * null). No column for the other types. */
    struct chunks column;
    struct dictionary *dictionary; /* KEYWORD, KEYWORDS: values, ids from 1, and each id's postings; else NULL */
};

static inline bool field_has_column(const struct field *f)
{
    return f->def.type <= FIELD_KEYWORD;
}

struct profile { /* immutable once published */
    char name[MAX_NAME + 1];
    char *text; /* all of the statement: CREATE PROFILE ... */
};

struct profile_list {
    uint32_t n;
    struct profile *items[];
};

enum { SLOT_NONE = UINT32_MAX };

/* Dead slots, the one that died first at the head, linked through kind->links, in four stretches:
 *
 *     head -> [ cleared | passed | waiting | fresh ] <- tail
 *
 * cleared: ready for a new item. passed: a grace period went by since the death, but signals still have cells of the old item. waiting: for the
 * grace period that is running. fresh: died since that began. One grace period serves all of a stretch, and none is waited for: see
 * items_slots.c. */
struct slot_queue {
    uint32_t head, tail, uncleared;           /* slots, SLOT_NONE where there is none; uncleared: the first that is not cleared */
    uint32_t cleared, passed, waiting, fresh; /* lengths */
    bool running;                             /* a grace period was asked for */
    bool over;                                /* atomic: it has ended */
};

/* Where the search for expired items stands. No item expires before `next` (atomic: writers lower it, the end of a walk raises it). */
struct expiry_walk {
    int64_t next, seen;
    uint32_t at;
};

struct kind {
    char name[MAX_NAME + 1];
    uint16_t id;
    bool integer_keys;
    bool dropped;         /* atomic: set once */
    pthread_mutex_t lock; /* the kind's writer role: put, patch, delete, added fields and signals, slot reuse */
    struct keymap keys;
    uint32_t n_slots;          /* atomic: published after a slot's row */
    uint32_t n_items;          /* atomic: living ones */
    struct chunks rows;        /* struct row *, NULL = dead */
    struct chunks generations; /* u32: odd while an item lives in the slot; moves by one at each birth and death */
    struct chunks sequences;   /* u32 per BLOCK of slots: odd while a writer stores into its columns or rows; see items.h */
    uint32_t n_fields;         /* atomic */
    struct field *fields[MAX_FIELDS];
    struct field *expires; /* atomic, or NULL */
    uint32_t n_signals;    /* atomic */
    struct kind_signal {
        struct signal *signal;        /* in a section, after `dropped` read false in it; freed a grace period after it was set */
        const struct signal_def *def; /* stays for as long as the shell */
        bool dropped;                 /* atomic: set once */
    } signals[MAX_SIGNALS];
    struct profile_list *profiles; /* atomic; replaced and retired */
    struct slot_queue free_slots;  /* under lock */
    struct chunks links;           /* u32 per slot: the next one in free_slots; under lock */
    struct expiry_walk expiry;
    uint64_t row_bytes; /* atomic: of all rows, for statistics */
};

/* Concurrency: everything reachable from here is added by a release store of its count or pointer, after it was filled (design rule 1), and taken
 * by an acquire load. What is dropped is marked first; its data is retired and goes after a grace period, so a reader that found the mark unset
 * inside its section may use the data until the section ends. Lookups are wait-free. Changes block on catalog->lock, then the kind's lock. */
struct catalog {
    pthread_mutex_t lock; /* schema changes, taken before any kind's lock */
    uint32_t n_kinds;     /* atomic; dropped ones included */
    struct kind *kinds[MAX_KINDS];
};

status catalog_init(struct catalog *c);
void catalog_destroy(struct catalog *c); /* frees everything; nobody uses it any more. Waits for what was retired: never inside a section */

/* Lookups. Any thread, no section needed: shells are never moved or freed. */
struct kind *catalog_kind(const struct catalog *c, const char *name); /* living ones; NULL */
struct field *kind_field(const struct kind *k, const char *name);     /* by field name, else by role name; NULL */
struct field *kind_role(const struct kind *k, enum role role);        /* by AS first; NULL */
int kind_signal_index(const struct kind *k, const char *name);        /* living ones; -1 */
enum role role_by_name(const char *name);                             /* ROLE_NONE */
bool role_fits(enum role role, unsigned type);                        /* may a field of this type play it? */
extern const char *const FIELD_TYPES[];                               /* their names by enum field_type, then NULL */
const char *field_type_name(unsigned type);                           /* "INTEGER" */
const char *role_name(unsigned role);                                 /* "title" */
bool name_reserved(const char *name);                                 /* nothing can be called so */
bool kind_dropped(const struct kind *k); /* in a section: when false, the kind's data stays until the section ends */
/* In a section. The signal, or NULL when it was dropped; what is returned stays until the section ends. */
struct signal *kind_signal_rcu(const struct kind *k, unsigned index);
/* In a section. The profile of that name, or NULL. */
const struct profile *kind_profile_rcu(const struct kind *k, const char *name);

/* Schema changes. Each checks everything first and changes nothing when it fails; the caller holds no lock. Faults: INVALID for a name that is
 * empty or reserved, LIMIT for one that is too long or one too many, EXISTS, UNKNOWN, TYPE for a role that does not fit, STALE for a dropped kind,
 * NO_MEMORY.
 * `fields[i].role` counts only with role_by_as; a field that is called as a role, and fits it, is given it here. */
status catalog_create_kind(struct catalog *c, const char *name, bool integer_keys, unsigned n, const struct field_def *fields,
                           struct error *e);
status catalog_add_fields(struct catalog *c, struct kind *k, unsigned n, const struct field_def *fields, struct error *e);
status catalog_drop_kind(struct catalog *c, struct kind *k, struct error *e);
status catalog_create_signal(struct catalog *c, struct kind *k, const struct signal_def *def, struct error *e);
status catalog_drop_signal(struct catalog *c, struct kind *k, const char *name, struct error *e);
/* Creates a profile; with `replace` it puts a new text in the place of one that is there (UNKNOWN if none is). */
status catalog_set_profile(struct catalog *c, struct kind *k, const char *name, const char *text, bool replace, struct error *e);
status catalog_drop_profile(struct catalog *c, struct kind *k, const char *name, struct error *e);

#endif
