/* SPDX-License-Identifier: MIT */
/* Ids of events, so that an event counts once per signal: a set that remembers the newest ids and forgets the oldest.
 *
 *     hash128(signal, id) ---> shard (4 bits) ---> current generation    up to 65,536 ids, grows from 64
 *                                            '---> previous generation   the 65,536 before them; dropped when current is full
 *
 * Terms. *turn*: from a begin that answered EVENT_ID_NEW to its commit or abort. The shard is locked in between.
 *
 * Invariants
 *   I1  An id is in a shard's generations if it was committed and fewer than 65,536 others of the shard were committed since.
 *   I2  A turn's id is in neither generation, and the current one has room for it.
 * Guarantee: two threads with one id take turns: the second waits for the first and hears EVENT_ID_SEEN if it committed, EVENT_ID_NEW if not.
 *
 * Ids are told apart by 128 keyed bits, so by chance never wrongly within the life of a machine. Memory: nothing until the first id; at most
 * 16 * 2 * 87,382 entries of 16 bytes = 45 MB.
 * Progress: begin blocks for the shard's mutex, which its holder keeps while it counts its event. So begin before a read section, never inside one,
 * and hold one turn at a time. */
#ifndef EAGRE_STORE_EVENT_IDS_H
#define EAGRE_STORE_EVENT_IDS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

enum { EVENT_ID_SHARDS = 16, EVENT_ID_GENERATION = 65536 };

struct event_id_table {
    uint64_t (*entries)[2]; /* hashes, never 0:0, which is free */
    uint32_t slots, limit, count;
};

struct event_id_shard {
    pthread_mutex_t lock;
    struct event_id_table current, previous;
    char apart[128 - sizeof(pthread_mutex_t) - 2 * sizeof(struct event_id_table)]; /* no two shards' locks in one cache line */
};

struct event_ids {
    struct event_id_shard shards[EVENT_ID_SHARDS];
};

struct event_id {
    const void *bytes; /* 1..MAX_EVENT_ID bytes, or NULL: then it is the number. A number equals no text */
    size_t length;
    uint64_t number;
};

struct event_id_turn {
    struct event_id_shard *shard;
    uint64_t hash[2];
};

void event_ids_init(struct event_ids *set);
void event_ids_destroy(struct event_ids *set); /* nobody uses it any more */

/* EVENT_ID_NEW: the turn is the caller's; it ends it by commit or abort. Otherwise there is no turn. `signal` is a number of its own for each
 * signal. */
enum event_id_state { EVENT_ID_NEW, EVENT_ID_SEEN, EVENT_ID_NO_MEMORY };
enum event_id_state event_ids_begin(struct event_ids *set, uint64_t signal, const struct event_id *id, struct event_id_turn *turn);
void event_ids_commit(struct event_id_turn *turn); /* the event was counted: the id is remembered. Can not fail */
void event_ids_abort(struct event_id_turn *turn);  /* it was not: the id is free again */

uint64_t event_ids_bytes(struct event_ids *set);

#endif
