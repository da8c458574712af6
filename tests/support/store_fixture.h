/* SPDX-License-Identifier: MIT */
/* A kind with a field of every type, and short ways to make values and changes. For tests of core/store. */
#ifndef EAGRE_TESTS_STORE_FIXTURE_H
#define EAGRE_TESTS_STORE_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/reclaim.h"
#include "store/items.h"
#include "validate.h"

enum film_field { TITLE, DIRECTOR, GENRES, RELEASED, MINUTES, RATING, LOOK, UNTIL, FILM_FIELDS };

static const struct field_def FILM[FILM_FIELDS] = {
    [TITLE] = {.name = "title", .type = FIELD_TEXT},
    [DIRECTOR] = {.name = "director", .type = FIELD_KEYWORD, .role = ROLE_AUTHOR, .role_by_as = true},
    [GENRES] = {.name = "genres", .type = FIELD_KEYWORDS},
    [RELEASED] = {.name = "released", .type = FIELD_TIME, .role = ROLE_CREATED, .role_by_as = true},
    [MINUTES] = {.name = "minutes", .type = FIELD_INTEGER},
    [RATING] = {.name = "rating", .type = FIELD_REAL},
    [LOOK] = {.name = "look", .type = FIELD_VECTOR, .dimension = 4},
    [UNTIL] = {.name = "until", .type = FIELD_TIME, .expires = true},
};

/* The one catalog of a test; catalog_destroy(&catalog) ends it. */
static struct catalog catalog;

static inline struct kind *make_kind(bool integer_keys, unsigned n, const struct field_def *fields)
{
    struct error e = {0};
    if (catalog_init(&catalog) != STATUS_OK || catalog_create_kind(&catalog, "film", integer_keys, n, fields, &e) != STATUS_OK) {
        fprintf(stderr, "%s\n", e.text);
        abort();
    }
    return catalog_kind(&catalog, "film");
}

static inline struct kind *make_film(void)
{
    return make_kind(false, FILM_FIELDS, FILM);
}

static inline struct value v_null(void)
{
    return (struct value){.type = VALUE_NULL};
}
static inline struct value v_int(int64_t i)
{
    return (struct value){.type = VALUE_INT, .i = i};
}
static inline struct value v_uint(uint64_t u)
{
    return (struct value){.type = VALUE_UINT, .u = u};
}
static inline struct value v_real(double f)
{
    return (struct value){.type = VALUE_REAL, .f = f};
}
static inline struct value v_time(int64_t i)
{
    return (struct value){.type = VALUE_TIME, .i = i};
}
static inline struct value v_bytes(const char *text, size_t length)
{
    return (struct value){.type = VALUE_TEXT, .length = (uint32_t)length, .text = text};
}
static inline struct value v_text(const char *text)
{
    return v_bytes(text, strlen(text));
}
static inline struct value v_list(const struct value *list, uint32_t n)
{
    return (struct value){.type = VALUE_LIST, .length = n, .list = list};
}
static inline struct value v_vector(const float *vector, uint32_t n)
{
    return (struct value){.type = VALUE_VECTOR, .length = n, .vector = vector};
}

/* A change as it gathers: set(&ch, FIELD, value) ... then put_change. */
struct change {
    unsigned n;
    uint16_t fields[64];
    struct value values[64];
};

static inline void set(struct change *c, unsigned field, struct value v)
{
    c->fields[c->n] = (uint16_t)field;
    c->values[c->n++] = v;
}

/* Checks the key and the values, then puts or patches, with the kind's lock. */
static inline status put_change(struct kind *k, struct value key_value, struct change *c, bool patch, int64_t now, struct item_change *out,
                                struct error *e)
{
    struct key key;
    status s = items_check_key(k, &key_value, &key, e);
    for (unsigned i = 0; i < c->n && s == STATUS_OK; i++)
        s = items_check_value(k->fields[c->fields[i]], &c->values[i], e);
    if (s != STATUS_OK)
        return s;
    *out = (struct item_change){
        .key = &key, .patch = patch, .n = c->n, .fields = c->fields, .values = c->values, .now = now, .slot = SLOT_ANY};
    pthread_mutex_lock(&k->lock);
    s = items_put_w(k, out, e);
    pthread_mutex_unlock(&k->lock);
    out->key = NULL;
    return s;
}

static inline status delete_key(struct kind *k, struct value key_value, int64_t now, struct error *e)
{
    struct key key;
    uint32_t slot, generation;
    status s = items_check_key(k, &key_value, &key, e);
    if (s != STATUS_OK)
        return s;
    pthread_mutex_lock(&k->lock);
    s = items_delete_w(k, &key, now, &slot, &generation, e);
    pthread_mutex_unlock(&k->lock);
    return s;
}

static inline unsigned sweep(struct kind *k, int64_t now, unsigned budget)
{
    pthread_mutex_lock(&k->lock);
    unsigned n = items_sweep_w(k, now, budget, NULL, NULL);
    pthread_mutex_unlock(&k->lock);
    return n;
}

/* Grace periods and sweeps until every dead slot is ready and nothing waits to be freed. */
static inline void settle(struct kind *k)
{
    do {
        sweep(k, INT64_MIN, 0);
        reclaim_barrier();
    } while (k->free_slots.passed + k->free_slots.waiting + k->free_slots.fresh > 0);
}

static inline bool valid(struct kind *k)
{
    struct error e = {0};
    pthread_mutex_lock(&k->lock);
    bool right = validate_kind(k, &e);
    pthread_mutex_unlock(&k->lock);
    if (!right)
        fprintf(stderr, "%s\n", e.text);
    return right;
}

/* Enters nothing: for use inside a section. */
static inline const struct row *find(const struct kind *k, struct value key_value, int64_t now)
{
    struct key key;
    uint32_t generation;
    if (items_check_key(k, &key_value, &key, NULL) != STATUS_OK)
        return NULL;
    return items_find_rcu(k, &key, now, &generation);
}

#endif
