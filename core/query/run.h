/* SPDX-License-Identifier: MIT */
/* One run of a RETRIEVE: the plan with its parameters and its moment. Lives in one call, on one thread.
 *
 *   bind.c    parameters -> constants, lists, matches          (before the read section)
 *   gather.c  columns or records -> input registers            (the rest inside it)
 *   match.c   predicates on text, keywords, keys
 *   scan.c    candidates -> WHERE -> score -> the k best
 *   page.c    diversity and the cursor's place
 *   result.c  rows -> the caller's buffer
 *   explain.c the report of EXPLAIN
 */
#ifndef EAGRE_QUERY_RUN_H
#define EAGRE_QUERY_RUN_H

#include "query/arena.h"
#include "query/plan.h"
#include "rank/topk.h"
#include "store/items.h"

/* The right side of a match, ready to compare with. */
struct bound_match {
    bool is_null;     /* the one operand is null */
    bool has_null;    /* IN: an element is null */
    bool is_empty;    /* IN: no element at all */
    uint32_t n_texts, n_numbers;
    struct value *texts;    /* ascending by bytes */
    uint64_t *numbers;      /* integer keys, or ids of keywords (unknown ones left out), ascending */
};

/* Where a page begins, from a cursor. */
struct place {
    bool set;
    struct candidate last;          /* the last row looked at: score and slot */
    struct value order[MAX_ORDER_TERMS]; /* ORDER BY: its values */
    uint32_t n_shown;               /* rows of the pages before */
    uint32_t *shown;                /* slots, ascending */
    uint32_t *shown_generations;
    uint32_t n_passed;              /* rows DIVERSITY passed over, still to come */
    uint32_t *passed;               /* slots, ascending */
    uint32_t *passed_generations;
    uint32_t n_history;             /* rows of the pages before, for PER windows */
    uint32_t *history_offsets;      /* n_history * n_diversity + 1 */
    uint64_t *history_tokens;
};

enum driver { DRIVE_SCAN, DRIVE_KEYWORDS, DRIVE_KEYS };
struct work { /* for EXPLAIN */
    uint64_t blocks, rows_looked_at, rows_scored, matches, passes;
    enum driver driver;
    const struct match *driven_by;
    uint64_t driver_rows;
    unsigned blocks_moved;
};

struct run {
    const struct plan *plan;
    struct kind *kind;
    struct arena *arena;
    struct error *error;
    const struct value *params;
    unsigned n_params;
    int64_t now, deadline; /* deadline on the monotonic clock; 0: none */
    int64_t clock;         /* what has expired is gone by the later of clock and now: see gone_by */
    uint32_t n_slots;      /* the universe: published when the run began */
    uint64_t limit;
    uint64_t binding;      /* hash of statement and parameters, for the cursor */
    uint64_t db_id;

    bool asked_moment;     /* AT or the caller's now: it must not be before a used signal's newest event */

    struct reg *regs;
    void *lanes;           /* the registers' memory */
    struct number_list *lists;
    struct bound_match *matches;
    struct bound_match exclude;
    struct signal *signals[MAX_SIGNALS]; /* by the kind's index; filled in the section */
    struct place place;

    const struct row *rows[BLOCK_MAX];   /* of the block in hand */
    uint32_t slots[BLOCK_MAX];
    double scores[BLOCK_MAX];            /* for INPUT_SCORE */
    uint32_t keyword_ids[BLOCK_MAX];
    int64_t times[BLOCK_MAX];

    struct page_memory *memory;          /* page.c */
    size_t memory_k;                     /* candidates there is room for */
    struct candidate *candidates;        /* best first, once scanned */
    size_t n_candidates;
    const struct row **page_rows;        /* result.c: room for limit */
    bool complete;                       /* no other row matches behind the candidates */
    uint64_t total;
    struct work work;
};

static inline int64_t gone_by(const struct run *r)
{
    return r->clock > r->now ? r->clock : r->now;
}

/* The rows of an answer, and where the next page begins. */
struct page {
    size_t n;
    struct candidate *rows;       /* in their places */
    bool relaxed, more;
    struct candidate last;        /* the frontier: the last candidate looked at; row NULL: the place before stays */
    uint32_t n_passed;
    const struct candidate **passed; /* in rank order */
    uint32_t n_history;           /* rows of all pages so far that PER windows still reach, oldest first */
    const uint32_t *history_offsets;
    const uint64_t *history_tokens;
};

/* bind.c */
status bind_run(struct run *r); /* r->now holds the clock, or the caller's moment with asked_moment */
status constant_value(struct run *r, const struct constant *k, struct value *out);

/* cursor.c: a page's end as bytes, and back. The bytes are checked: another statement's, damaged or cut short ones give CURSOR. */
status cursor_decode(struct run *r, const void *data, size_t length);
size_t cursor_bytes(const struct run *r, const struct page *p);                     /* how many cursor_encode writes */
void cursor_encode(const struct run *r, const struct page *p, uint8_t *out);

/* gather.c: fills the inputs of a section for the n rows in hand. */
void gather_block(struct run *r, const struct section *s, uint32_t slot, unsigned n); /* consecutive slots, from columns */
void gather_rows(struct run *r, const struct section *s, unsigned n);                 /* r->rows and r->slots, from records */
void run_section(struct run *r, const struct section *s, unsigned n);

/* match.c */
void match_rows(struct run *r, unsigned match, unsigned n, uint8_t *truth);
void match_keyword_ids(struct run *r, unsigned match, const uint32_t *ids, unsigned n, uint8_t *truth);
bool match_key(const struct bound_match *m, const struct row *row, bool integer);

/* scan.c: fills candidates, complete, total. `k`: how many to keep; r->candidates has room for k + 1. */
status scan_run(struct run *r, size_t k);

/* The generation that the item in a slot was born with: it moves when the item dies, and the slot is not used again within a section. */
uint32_t slot_generation(const struct kind *k, uint32_t slot);

/* sort.c: for ORDER BY. */
int sort_compare(const void *run, const struct candidate *a, const struct candidate *b);
/* The values a row is ordered by, one for each key; what they point at stays until the section ends. */
void sort_values(const struct plan *p, const struct row *row, struct value *out);
/* Does a rank behind r->place? */
bool ranks_behind_place(const struct run *r, const struct candidate *a);

/* page.c: rows of the page from the candidates. All memory is made before the section by page_prepare; where it turns out too small, or DIVERSITY wants
 * more candidates, page_build says *again and what it needs, and the run scans anew. */
struct page_needs { size_t k, tokens, scratch; };
status page_prepare(struct run *r, const struct page_needs *needs);
void page_build(struct run *r, struct page_needs *needs, struct page *out, bool *again);

#endif
