/* SPDX-License-Identifier: MIT */
/* Keyword dictionary and postings: text <-> id, and for each id the slots of the items that have it, as an immutable Roaring set plus a short
 * append-only tail. A set may hold slots that no longer have the keyword (it is widened before a row appears and narrowed lazily by
 * rebuilding): the row decides. The only file that includes roaring is postings.c.
 *
 * Who may run beside whom: the _w functions need the kind's lock; all others are readers, wait-free, and run beside one writer. Ids are never
 * taken back: a dictionary grows with the different keywords it has seen. */
#ifndef EAGRE_STORE_POSTINGS_H
#define EAGRE_STORE_POSTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct dictionary;

struct dictionary *dictionary_create(void);
void dictionary_destroy(struct dictionary *d);
uint32_t dictionary_size(const struct dictionary *d);                                   /* ids are 1 .. size */
uint32_t dictionary_find(const struct dictionary *d, const char *text, size_t length);  /* in a read section, wait-free; 0 = unknown */
const char *dictionary_text(const struct dictionary *d, uint32_t id, uint32_t *length); /* stays valid while the dictionary lives */
uint32_t dictionary_add_w(struct dictionary *d, const char *text, size_t length);       /* find or insert; 0 = out of memory */

/* Writer (kind lock held). add is idempotent enough: a slot may stand twice in set and tail. False: out of memory, nothing changed. Needs room
 * for one retire reserved beforehand. */
bool postings_add_w(struct dictionary *d, uint32_t id, uint32_t slot);
/* A living slot lost the keyword, or its item died: noted; many at once are taken out of the set, those of which `keep(context, id, slot)` says
 * that they do not have it again. Needs room for one retire reserved beforehand. Never fails: without memory the set stays wide. */
void postings_remove_w(struct dictionary *d, uint32_t id, uint32_t slot, bool (*keep)(void *context, uint32_t id, uint32_t slot),
                       void *context);

uint64_t postings_cardinality(const struct dictionary *d, uint32_t id); /* an upper bound; wait-free, in a read section */

/* All slots of an id in ascending order, in batches, inside one read section: set and tail merged, without duplicates. The cursor lives on the
 * caller's stack and holds nothing to free. What was added before the open is seen; what is added after may not be. */
struct postings_cursor {
    uint64_t opaque[48];
};
void postings_open(const struct dictionary *d, uint32_t id, struct postings_cursor *c);
unsigned postings_next(struct postings_cursor *c, uint32_t *slots, unsigned capacity); /* 0 = done */

uint64_t dictionary_bytes(const struct dictionary *d);
/* Every invariant of texts, ids and sets; false and a sentence in *e when one is broken. In a section, and no writer beside it. */
bool dictionary_validate(const struct dictionary *d, struct error *e);

#endif
