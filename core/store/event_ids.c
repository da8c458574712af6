/* SPDX-License-Identifier: MIT */
/* The set of event ids. See event_ids.h. Tables are open-addressed with linear probing, at most three quarters full, and only ever filled:
 * a generation goes as a whole. Everything of a shard is under its mutex. */
#include "store/event_ids.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "store/limits.h"

enum { FIRST_LIMIT = 64, GROWTH = 4 };

void event_ids_init(struct event_ids *set)
{
    memset(set, 0, sizeof *set);
    for (unsigned i = 0; i < EVENT_ID_SHARDS; i++)
        pthread_mutex_init(&set->shards[i].lock, NULL);
}

void event_ids_destroy(struct event_ids *set)
{
    for (unsigned i = 0; i < EVENT_ID_SHARDS; i++) {
        struct event_id_shard *s = &set->shards[i];
        mem_free(s->current.entries);
        mem_free(s->previous.entries);
        pthread_mutex_destroy(&s->lock);
    }
}

static void hash_id(uint64_t signal, const struct event_id *id, uint64_t out[2])
{
    uint8_t text[sizeof signal + 1 + MAX_EVENT_ID];
    const bool number = id->bytes == NULL;
    const size_t length = number ? sizeof id->number : id->length;
    memcpy(text, &signal, sizeof signal);
    text[sizeof signal] = number;
    memcpy(text + sizeof signal + 1, number ? (const void *)&id->number : id->bytes, length);
    hash128(text, sizeof signal + 1 + length, out);
    if (out[0] == 0 && out[1] == 0)
        out[1] = 1;
}

/* Where the hash is, or the free entry where it would be. The table has a free entry. */
static uint64_t *find(const struct event_id_table *t, const uint64_t hash[2])
{
    uint32_t at = (uint32_t)((unsigned __int128)hash[1] * t->slots >> 64);
    for (;;) {
        uint64_t *entry = t->entries[at];
        if ((entry[0] == hash[0] && entry[1] == hash[1]) || (entry[0] == 0 && entry[1] == 0))
            return entry;
        at = at + 1 == t->slots ? 0 : at + 1;
    }
}

static bool holds(const struct event_id_table *t, const uint64_t hash[2])
{
    if (t->count == 0)
        return false;
    const uint64_t *entry = find(t, hash);
    return entry[0] != 0 || entry[1] != 0;
}

static void insert(struct event_id_table *t, const uint64_t hash[2])
{
    memcpy(find(t, hash), hash, sizeof t->entries[0]);
    t->count++;
}

static bool grow(struct event_id_table *t)
{
    struct event_id_table larger = {.limit = t->limit == 0 ? FIRST_LIMIT : t->limit * GROWTH};
    larger.slots = larger.limit + larger.limit / 3 + 1;
    larger.entries = mem_zarray(larger.slots, sizeof larger.entries[0]);
    if (larger.entries == NULL)
        return false;
    for (uint32_t i = 0; i < t->slots; i++)
        if (t->entries[i][0] != 0 || t->entries[i][1] != 0)
            insert(&larger, t->entries[i]);
    mem_free(t->entries);
    *t = larger;
    return true;
}

/* I2. When the current generation is full, it becomes the previous one, whose memory is used again. */
static bool make_room(struct event_id_shard *s)
{
    if (s->current.count == EVENT_ID_GENERATION) {
        struct event_id_table oldest = s->previous;
        s->previous = s->current;
        s->current = oldest;
        s->current.count = 0;
        if (oldest.entries != NULL)
            memset(oldest.entries, 0, oldest.slots * sizeof oldest.entries[0]);
    }
    return s->current.count < s->current.limit || grow(&s->current);
}

enum event_id_state event_ids_begin(struct event_ids *set, uint64_t signal, const struct event_id *id, struct event_id_turn *turn)
{
    hash_id(signal, id, turn->hash);
    turn->shard = &set->shards[turn->hash[0] % EVENT_ID_SHARDS];
    pthread_mutex_lock(&turn->shard->lock);
    enum event_id_state state = EVENT_ID_NEW;
    if (holds(&turn->shard->current, turn->hash) || holds(&turn->shard->previous, turn->hash))
        state = EVENT_ID_SEEN;
    else if (!make_room(turn->shard))
        state = EVENT_ID_NO_MEMORY;
    if (state != EVENT_ID_NEW)
        pthread_mutex_unlock(&turn->shard->lock);
    return state;
}

void event_ids_commit(struct event_id_turn *turn)
{
    insert(&turn->shard->current, turn->hash);
    pthread_mutex_unlock(&turn->shard->lock);
}

void event_ids_abort(struct event_id_turn *turn)
{
    pthread_mutex_unlock(&turn->shard->lock);
}

uint64_t event_ids_bytes(struct event_ids *set)
{
    uint64_t entries = 0;
    for (unsigned i = 0; i < EVENT_ID_SHARDS; i++) {
        struct event_id_shard *s = &set->shards[i];
        pthread_mutex_lock(&s->lock);
        entries += s->current.slots + s->previous.slots;
        pthread_mutex_unlock(&s->lock);
    }
    return sizeof *set + entries * sizeof set->shards[0].current.entries[0];
}
