/* SPDX-License-Identifier: MIT */
/*
 * eagre: what comes next, and in what order?
 *
 * An embeddable, in-memory, concurrent ranking engine. This header is the whole C interface; what is not here is not API.
 * The language of statements is described in docs/language.md.
 *
 * Conventions
 *   Errors     Functions return an eagre_status: 0 is success, negative numbers are errors and never reused, positive ones are success with
 *              news. Where an eagre_error is taken it may be NULL; it is filled when the call fails, in the caller's memory.
 *   Ownership  The library never hands out memory to free. Answers go into the caller's buffer: if it is too small the call gives
 *              EAGRE_BUFFER_TOO_SMALL and the bytes needed. What is passed in is copied or only read during the call.
 *   Threads    Every function may be called from any thread at any time, on the same db and statement. Reads take no lock and never wait
 *              for a writer. A thread's first call registers it with the library, which may wait briefly: eagre_attach does it early.
 *   Fork       A handle belongs to the process that made it; in a child every call gives EAGRE_FORKED.
 *   Times      Microseconds since 1970-01-01 UTC in an int64_t.
 *   Values     An eagre_value is flat: texts, lists and vectors lie in one block of bytes, `heap`, and `at` is an offset into it, checked
 *              against heap_length. Where heap is NULL, `at` is an address in the process instead (for C, where that is handier).
 *   Strings    const char * arguments are NUL-terminated UTF-8.
 */
#ifndef EAGRE_H
#define EAGRE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EAGRE_API __attribute__((visibility("default")))

/* ---- Version -------------------------------------------------------------------------------------------------------------------------- */

#define EAGRE_VERSION_MAJOR 0
#define EAGRE_VERSION_MINOR 1
#define EAGRE_VERSION_PATCH 0
/* Bindings compare this with eagre_abi_version() when they load. */
#define EAGRE_ABI_VERSION 1

/* What: version of the library at run time, "0.1.0". Ownership: static. Threads: any. Fails with: nothing. Since 0.1. */
EAGRE_API const char *eagre_version(void);
/* What: the interface's number, EAGRE_ABI_VERSION of the library. Ownership: none. Threads: any. Fails with: nothing. Since 0.1. */
EAGRE_API uint32_t eagre_abi_version(void);

/* ---- Status --------------------------------------------------------------------------------------------------------------------------- */

typedef int32_t eagre_status;

#define EAGRE_OK 0
#define EAGRE_DUPLICATE 1         /* an event with this id was counted before; nothing changed */
#define EAGRE_INTERNAL -1
#define EAGRE_INVALID -2          /* invalid argument */
#define EAGRE_SYNTAX -3           /* the statement is not valid */
#define EAGRE_UNKNOWN -4          /* no such kind, field, signal, profile, role or function */
#define EAGRE_EXISTS -5           /* the name is taken */
#define EAGRE_TYPE -6             /* wrong type of value */
#define EAGRE_RANGE -7            /* value out of range */
#define EAGRE_ENCODING -8         /* text is not valid UTF-8 */
#define EAGRE_NOT_FOUND -9        /* no such item */
#define EAGRE_BUFFER_TOO_SMALL -10
#define EAGRE_CLOSED -11          /* the handle is closed */
#define EAGRE_FORKED -12          /* the handle belongs to the process that opened it */
#define EAGRE_NO_MEMORY -13       /* out of memory or over the memory limit */
#define EAGRE_STALE -14           /* the statement's kind or signal was dropped */
#define EAGRE_CURSOR -15          /* the cursor is damaged or belongs to another statement */
#define EAGRE_UNSUPPORTED -16     /* reserved by the language, not available */
#define EAGRE_LIMIT -17           /* a documented limit is exceeded */
#define EAGRE_DEADLINE -18        /* the deadline passed */
#define EAGRE_PARAMETER -19       /* a parameter is missing or does not fit */
#define EAGRE_MOMENT -20          /* the moment is before the newest event of a signal in use */

/* What: name of a status, "EAGRE_TYPE". Ownership: static, never NULL. Threads: any. Fails with: nothing. Since 0.1. */
EAGRE_API const char *eagre_status_name(eagre_status status);
/* What: a short description. Ownership: static, never NULL. Threads: any. Fails with: nothing. Since 0.1. */
EAGRE_API const char *eagre_status_text(eagre_status status);

typedef struct eagre_error {
    uint32_t struct_size; /* set by the caller: sizeof(eagre_error) */
    int32_t code;
    int64_t position;     /* byte offset of the fault in the statement, or -1 */
    char text[240];       /* a sentence that names the argument and what was expected */
} eagre_error;

/* ---- Values --------------------------------------------------------------------------------------------------------------------------- */

#define EAGRE_NULL 0u
#define EAGRE_INT 1u    /* v.i */
#define EAGRE_UINT 2u   /* v.u: any u64 */
#define EAGRE_REAL 3u   /* v.f */
#define EAGRE_TIME 4u   /* v.i: microseconds since 1970 UTC */
#define EAGRE_TEXT 5u   /* v.at: bytes, `length` of them */
#define EAGRE_LIST 6u   /* v.at: eagre_value[length], none of them a list or a vector */
#define EAGRE_VECTOR 7u /* v.at: float[length] */

typedef struct eagre_value {
    uint32_t type;
    uint32_t length;
    union {
        int64_t i;
        uint64_t u;
        double f;
        uint64_t at; /* offset in the heap, or an address where heap is NULL */
    } v;
} eagre_value;

/* A column of a batch: `at` points at n elements of the type (heap rule as above); VECTOR: float[n * width]; EAGRE_COLUMN_VALUES: eagre_value[n].
 * nulls_at: n bytes, 1 = null; EAGRE_NO_NULLS: none. */
#define EAGRE_COLUMN_VALUES 100u
#define EAGRE_NO_NULLS UINT64_MAX
typedef struct eagre_column {
    uint32_t type;  /* EAGRE_INT, EAGRE_UINT, EAGRE_REAL, EAGRE_TIME, EAGRE_VECTOR, EAGRE_COLUMN_VALUES */
    uint32_t width; /* EAGRE_VECTOR: numbers per row; else 0 */
    uint64_t at;
    uint64_t nulls_at;
} eagre_column;

/* ---- Database ------------------------------------------------------------------------------------------------------------------------- */

typedef struct eagre_db eagre_db;
typedef struct eagre_stmt eagre_stmt;

#define EAGRE_OPEN_MANUAL_CLOCK 1u /* options.now is the time until eagre_set_clock moves it */
#define EAGRE_WALL_CLOCK INT64_MIN

typedef struct eagre_options {
    uint32_t struct_size;  /* sizeof(eagre_options); bytes beyond what the library knows must be zero */
    uint32_t flags;        /* EAGRE_OPEN_... */
    int64_t now;           /* with EAGRE_OPEN_MANUAL_CLOCK */
    uint64_t memory_limit; /* bytes the engine may use in this process before writes get EAGRE_NO_MEMORY, while this database is open; of several, the
                            * one opened last counts. 0: nothing is set */
    const char *path;      /* must be NULL: a database lives in memory */
} eagre_options;

/* What: registers the calling thread, so that its first read does not. Ownership: none. Threads: any. Fails with: FORKED. Since 0.1. */
EAGRE_API eagre_status eagre_attach(void);
/* What: opens an empty database; options may be NULL. Ownership: *out until eagre_close. Threads: any.
 * Fails with: INVALID, RANGE, UNSUPPORTED (unknown options, a path), NO_MEMORY, FORKED. Since 0.1. */
EAGRE_API eagre_status eagre_open(const eagre_options *options, eagre_db **out, eagre_error *error);
/* What: closes; waits for calls in progress. Statements may be finalized before or after; they give CLOSED. NULL is fine. Ownership: takes db.
 * Threads: any, once. Fails with: CLOSED (closed before), FORKED (nothing is done). Since 0.1. */
EAGRE_API eagre_status eagre_close(eagre_db *db);
/* What: sets the database's clock by hand (microseconds), or back to the wall clock by EAGRE_WALL_CLOCK. Ownership: none. Threads: any.
 * Fails with: RANGE, CLOSED, FORKED. Since 0.1. */
EAGRE_API eagre_status eagre_set_clock(eagre_db *db, int64_t now, eagre_error *error);

/* ---- Statements ----------------------------------------------------------------------------------------------------------------------- */

/* What: runs statements that give no rows (CREATE, ALTER, DROP), several separated by ';'. Each is atomic; it stops at the first that fails.
 * Ownership: text is read during the call. Threads: any. Fails with: SYNTAX, UNKNOWN, EXISTS, TYPE, RANGE, LIMIT, ENCODING, UNSUPPORTED, NO_MEMORY,
 * CLOSED, FORKED. Since 0.1. */
EAGRE_API eagre_status eagre_exec(eagre_db *db, const char *text, size_t length, eagre_error *error);
/* What: compiles one statement. It is immutable: many threads may run it at once. Ownership: *out until eagre_finalize. Threads: any.
 * Fails with: as eagre_exec. Since 0.1. */
EAGRE_API eagre_status eagre_prepare(eagre_db *db, const char *text, size_t length, eagre_stmt **out, eagre_error *error);
/* What: frees a statement; no thread may be running it. NULL is fine. Ownership: takes it. Threads: any, once. Fails with: CLOSED (done before). Since 0.1. */
EAGRE_API eagre_status eagre_finalize(eagre_stmt *stmt);

#define EAGRE_RUN_NOW 1u      /* options.now is the moment of the query unless the statement has AT or a cursor */
#define EAGRE_RUN_DEADLINE 2u /* options.deadline: microseconds the call may take; then EAGRE_DEADLINE */
typedef struct eagre_run_options {
    uint32_t struct_size;
    uint32_t flags;
    int64_t now;
    int64_t deadline;
} eagre_run_options;

/* What: runs a statement with parameters ?1 .. ?n and writes its rows as a result block (below) into out; *needed gets the bytes used, or needed.
 * A statement without rows gives a block of no rows. Ownership: out is the caller's, 8-byte aligned. Threads: any number at once.
 * Fails with: BUFFER_TOO_SMALL, PARAMETER, TYPE, RANGE, ENCODING, CURSOR, MOMENT, DEADLINE, STALE, LIMIT, NO_MEMORY, CLOSED, FORKED. Since 0.1. */
EAGRE_API eagre_status eagre_run(eagre_stmt *stmt, const eagre_value *parameters, uint32_t n, const void *heap, size_t heap_length,
                                 const eagre_run_options *options, void *out, size_t capacity, size_t *needed, eagre_error *error);

/* ---- Result blocks -------------------------------------------------------------------------------------------------------------------- */

#define EAGRE_RESULT_MAGIC 0x31524745u /* "EGR1" */
#define EAGRE_RESULT_INTEGER_KEYS 1u
#define EAGRE_RESULT_TOTAL 2u   /* COUNT was asked: total is set */
#define EAGRE_RESULT_RELAXED 4u /* a DIVERSITY rule could not be kept */

/* All `_at` are byte offsets from the start of the block; arrays are 8-byte aligned. */
typedef struct eagre_result {
    uint32_t magic;
    uint32_t flags;
    uint64_t bytes;          /* of the whole block */
    uint32_t n_rows;
    uint32_t n_columns;
    int64_t now;             /* the moment of the query */
    uint64_t total;
    uint64_t keys_at;        /* integer keys: uint64_t[n_rows]; else uint64_t[n_rows + 1]: offsets from key_bytes_at */
    uint64_t key_bytes_at;
    uint64_t scores_at;      /* double[n_rows] */
    uint64_t columns_at;     /* eagre_result_column[n_columns] */
    uint64_t cursor_at;      /* for AFTER; length 0: there is nothing behind */
    uint64_t cursor_length;
    uint64_t explain_at;     /* JSON, with EXPLAIN; else length 0 */
    uint64_t explain_length;
} eagre_result;

/* data_at by type. INT, TIME: int64_t[n]. UINT: uint64_t[n]. REAL: double[n]. TEXT: uint64_t[n + 1], offsets from bytes_at. LIST (of texts):
 * uint64_t[n + 1], indexes into list_at's uint64_t[m + 1], offsets from bytes_at. VECTOR: float[n * width]. */
typedef struct eagre_result_column {
    uint32_t type;
    uint32_t width;
    uint64_t name_at;
    uint64_t name_length;
    uint64_t nulls_at;       /* uint8_t[n], 1 = null */
    uint64_t data_at;
    uint64_t list_at;
    uint64_t bytes_at;
} eagre_result_column;

/* ---- Items ---------------------------------------------------------------------------------------------------------------------------- */

#define EAGRE_PATCH 1u /* change the fields that are named, keep the others; the item must exist. Without it put replaces */

/* What: puts (or patches) one item: `fields` are n TEXT values, the fields' names; `values` what they get. Atomic for every reader.
 * Ownership: read during the call. Threads: any; writers of one kind take turns. Fails with: UNKNOWN, TYPE, RANGE, ENCODING, LIMIT, NOT_FOUND (patch),
 * INVALID, NO_MEMORY, CLOSED, FORKED; nothing has changed then. Since 0.1. */
EAGRE_API eagre_status eagre_put(eagre_db *db, const char *kind, const eagre_value *key, uint32_t n, const eagre_value *fields,
                                 const eagre_value *values, const void *heap, size_t heap_length, uint32_t flags, eagre_error *error);
/* What: puts or patches n_rows items given as columns. Checked whole before anything changes; each row is atomic. *applied (may be NULL) gets the
 * rows done, less than all only with NO_MEMORY. Ownership: read during the call. Threads: any. Fails with: as eagre_put. Since 0.1. */
EAGRE_API eagre_status eagre_put_many(eagre_db *db, const char *kind, uint64_t n_rows, const eagre_column *keys, uint32_t n_fields,
                                      const eagre_value *fields, const eagre_column *columns, const void *heap, size_t heap_length,
                                      uint32_t flags, uint64_t *applied, eagre_error *error);
/* What: deletes an item; gone for every reader when the call returns. Ownership: read during the call. Threads: any. Fails with: NOT_FOUND, UNKNOWN,
 * TYPE, RANGE, NO_MEMORY, CLOSED, FORKED. Since 0.1. */
EAGRE_API eagre_status eagre_delete(eagre_db *db, const char *kind, const eagre_value *key, const void *heap, size_t heap_length,
                                    eagre_error *error);
/* What: one item as a result block of one row: its key and every field. Ownership: out is the caller's. Threads: any; never waits. Fails with:
 * NOT_FOUND, BUFFER_TOO_SMALL, UNKNOWN, TYPE, RANGE, NO_MEMORY, CLOSED, FORKED. Since 0.1. */
EAGRE_API eagre_status eagre_get(eagre_db *db, const char *kind, const eagre_value *key, const void *heap, size_t heap_length, void *out,
                                 size_t capacity, size_t *needed, eagre_error *error);
/* What: number of living items of a kind. Ownership: none. Threads: any. Fails with: UNKNOWN, INVALID, CLOSED, FORKED. Since 0.1. */
EAGRE_API eagre_status eagre_count(eagre_db *db, const char *kind, uint64_t *out, eagre_error *error);

/* ---- Signals -------------------------------------------------------------------------------------------------------------------------- */

#define EAGRE_NOW INT64_MIN /* an event's time: the database's clock */

/* What: the number of a signal, for the calls below; kind may be NULL where the name is unique. Valid until the signal is dropped. Ownership: none.
 * Threads: any. Fails with: UNKNOWN (also when two kinds have it and none was named), CLOSED, FORKED. Since 0.1. */
EAGRE_API eagre_status eagre_signal_id(eagre_db *db, const char *name, const char *kind, uint32_t *out, eagre_error *error);
/* What: a key resolved once, for hot writers. It means this item only: after a delete it gives NOT_FOUND. Ownership: none. Threads: any. Fails with:
 * NOT_FOUND, UNKNOWN, TYPE, RANGE, CLOSED, FORKED. Since 0.1. */
EAGRE_API eagre_status eagre_handle(eagre_db *db, const char *kind, const eagre_value *key, const void *heap, size_t heap_length,
                                    uint64_t *out, eagre_error *error);
/* What: one event by handle: weight finite and above 0, at in microseconds or EAGRE_NOW; a time ahead of the clock counts as now. Ownership: none.
 * Threads: any number; lock-free but for a bucket's turn. Fails with: NOT_FOUND, RANGE, STALE (signal dropped), INVALID (handle of another kind),
 * NO_MEMORY, CLOSED, FORKED. Since 0.1. */
EAGRE_API eagre_status eagre_signal(eagre_db *db, uint32_t signal, uint64_t handle, double weight, int64_t at, eagre_error *error);
/* What: one event by key, with an event id (INT, UINT or TEXT of 1..64 bytes) for exactly-once, or NULL. DUPLICATE: the id was counted before.
 * Ownership: read during the call. Threads: any. Fails with: as eagre_signal, TYPE. Since 0.1. */
EAGRE_API eagre_status eagre_signal_key(eagre_db *db, uint32_t signal, const eagre_value *key, double weight, int64_t at, const eagre_value *id,
                                        const void *heap, size_t heap_length, eagre_error *error);
/* What: n events: by handles, or (handles NULL) by keys, a column of INT, UINT or VALUES. weights, at and ids may be NULL: 1.0, now, none. The batch is
 * checked whole before anything changes. *applied (may be NULL) gets the events counted (repeated ids are not). Ownership: read during the
 * call. Threads: any. Fails with: as eagre_signal, TYPE; the sentence names the row. Since 0.1. */
EAGRE_API eagre_status eagre_signal_many(eagre_db *db, uint32_t signal, uint64_t n, const uint64_t *handles, const eagre_column *keys,
                                         const double *weights, const int64_t *at, const eagre_value *ids, const void *heap,
                                         size_t heap_length, uint64_t *applied, eagre_error *error);

/* ---- About the database --------------------------------------------------------------------------------------------------------------- */

/* What: the schema as JSON (kinds, fields, signals, profiles with their text), not NUL-terminated. Ownership: out is the caller's. Threads: any.
 * Fails with: BUFFER_TOO_SMALL, NO_MEMORY, CLOSED, FORKED. Since 0.1. */
EAGRE_API eagre_status eagre_schema(eagre_db *db, void *out, size_t capacity, size_t *needed, eagre_error *error);
/* What: statistics as JSON: items, slots and bytes per kind, cells and bytes per signal, memory in use. Otherwise as eagre_schema. Since 0.1. */
EAGRE_API eagre_status eagre_stats(eagre_db *db, void *out, size_t capacity, size_t *needed, eagre_error *error);
/* What: does now what the background does by itself: frees what was retired, sweeps expired items, shrinks quiet signals. Ownership: none.
 * Threads: any; may take long. Fails with: NO_MEMORY, CLOSED, FORKED. Since 0.1. */
EAGRE_API eagre_status eagre_maintain(eagre_db *db, eagre_error *error);
/* What: walks the whole database and checks every invariant; puts wait, and no signals may be written meanwhile. For tests and doubts. Ownership: none. Threads: any.
 * Fails with: INTERNAL (the sentence says which invariant), CLOSED, FORKED. Since 0.1. */
EAGRE_API eagre_status eagre_validate(eagre_db *db, eagre_error *error);

#ifdef __cplusplus
}
#endif

#endif
