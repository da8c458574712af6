/* SPDX-License-Identifier: MIT */
/* From a key to a small record, for ever. The only file that calls ck_ht is keymap.c.
 *
 * A key gets one record, and `ref` in it says what the key means now: the slot of the living item, or the id of a keyword. An item's end
 * is a store of KEY_NONE there, its return another store. Records of the dead are taken out in batches, when half of a shard is dead.
 *
 * Who may do what at the same time:
 *                          find_rcu   put, kill (_w)
 *   find_rcu                  yes            yes                readers are never in the way, nor in anyone's
 *   put, kill                 yes            no                 one writer a map: the caller's lock
 *   init, destroy             no             no
 *
 * A record from a _w call may be kept as long as its key lives; a record from find_rcu until the section ends. A killed record is readable
 * until the sections that were open at its kill have ended. */
#ifndef EAGRE_STORE_KEYMAP_H
#define EAGRE_STORE_KEYMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define KEY_NONE UINT32_MAX

/* A key that is looked for: the number in a map of integers, the bytes (0 to MAX_KEY of them) in others. */
struct key {
    uint64_t number;
    const char *bytes;
    uint32_t length;
};

struct key_rec {
    uint32_t ref;    /* take() it; KEY_NONE: dead */
    uint32_t length; /* of the bytes; 8 in a map of integers */
    union {
        uint64_t number;
        struct {
            struct {
            } none; /* C has no flexible array in a union otherwise */
            char bytes[];
        };
    };
};

struct key_shard;

struct keymap {
    bool integers;
    struct key_shard *shards; /* made by the first put */
    uint64_t bytes;
};

void keymap_init(struct keymap *m, bool integers); /* allocates nothing yet */
void keymap_destroy(struct keymap *m);             /* m may be all zeros; nobody reads any more */

/* RCU: inside a read section. NULL, or the key's record, whose ref may be KEY_NONE. Wait-free. */
struct key_rec *keymap_find_rcu(const struct keymap *m, const struct key *key);
/* The same for the map's writer, outside a section. */
struct key_rec *keymap_find_w(const struct keymap *m, const struct key *key);

/* The key's record, made if it is not there, with this ref (not KEY_NONE), published. NULL: out of memory, nothing has changed. Reserves
 * and retires by itself: never inside a section. */
struct key_rec *keymap_put_w(struct keymap *m, const struct key *key, uint32_t ref);
/* The key is dead: ref becomes KEY_NONE, and the record goes at some later kill. Can not fail. Never inside a section. */
void keymap_kill_w(struct keymap *m, struct key_rec *rec);

uint64_t keymap_bytes(const struct keymap *m);

/* Walks everything, with writers excluded: every record is found by its key, so there are no two of one; counts agree. */
bool keymap_validate(const struct keymap *m, struct error *e);

#endif
