/* SPDX-License-Identifier: MIT */
/* The schema: see catalog.h.
 *
 * Invariants
 *   I1  kinds[0 .. n_kinds), fields[0 .. n_fields), signals[0 .. n_signals) are filled before the count that covers them is published, and
 *       their pointers never change after.
 *   I2  At most one field has `expires`, and at most one plays a given role by AS.
 *   I3  A column covers every slot below n_slots before its field is published; slots without a value hold the column's null.
 *   I4  `dropped` is set under catalog->lock and the kind's lock, once; the data is retired after that.
 * Progress: lookups wait-free; changes block on catalog->lock, then the kind's. */
#include "store/catalog.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/publish.h"
#include "base/reclaim.h"
#include "store/items.h"

/* ---- names, types and roles ---- */

const char *const FIELD_TYPES[] = {"INTEGER", "REAL", "TIME", "KEYWORD", "KEYWORDS", "TEXT", "VECTOR", NULL};
static const char *const ROLE_NAMES[ROLE_COUNT] = {"", "title", "author", "created", "duration"};
static const char *const RESERVED[] = {"key", "score", "text", "taste", "all", "user"};

const char *field_type_name(unsigned type)
{
    return type <= FIELD_VECTOR ? FIELD_TYPES[type] : "?";
}

const char *role_name(unsigned role)
{
    return role < ROLE_COUNT ? ROLE_NAMES[role] : "?";
}

bool name_reserved(const char *name)
{
    for (size_t i = 0; i < sizeof RESERVED / sizeof *RESERVED; i++)
        if (strcmp(name, RESERVED[i]) == 0)
            return true;
    return false;
}

enum role role_by_name(const char *name)
{
    for (unsigned role = ROLE_NONE + 1; role < ROLE_COUNT; role++)
        if (strcmp(name, ROLE_NAMES[role]) == 0)
            return (enum role)role;
    return ROLE_NONE;
}

bool role_fits(enum role role, unsigned type)
{
    switch (role) {
    case ROLE_TITLE: return type == FIELD_TEXT || type == FIELD_KEYWORD;
    case ROLE_AUTHOR: return type == FIELD_KEYWORD;
    case ROLE_CREATED: return type == FIELD_TIME;
    case ROLE_DURATION: return type == FIELD_INTEGER || type == FIELD_REAL;
    default: return false;
    }
}

static status no_memory(struct error *e, const char *what, const char *name)
{
    return fail(e, STATUS_NO_MEMORY, -1, "no memory for %s '%s'", what, name);
}

/* A name of 1 .. MAX_NAME bytes of UTF-8 that is not reserved. `what` is "kind", "field", ... */
static status check_name(const char *what, const char *name, struct error *e)
{
    size_t length = strnlen(name, MAX_NAME + 1);
    if (length == 0)
        return fail(e, STATUS_INVALID, -1, "the name of a %s is empty", what);
    if (length > MAX_NAME)
        return fail(e, STATUS_LIMIT, -1, "the name of a %s is longer than %d bytes", what, MAX_NAME);
    if (!utf8_valid(name, length))
        return fail(e, STATUS_ENCODING, -1, "the name of a %s is not valid UTF-8", what);
    if (name_reserved(name))
        return fail(e, STATUS_INVALID, -1, "'%s' is a reserved name and can not be a %s", name, what);
    return STATUS_OK;
}

/* ---- lookups ---- */

bool kind_dropped(const struct kind *k)
{
    /* ORDER: acquire, pairs with the publish in catalog_drop_kind(): who reads false in a section entered it before the data was retired. */
    return take(&k->dropped);
}

struct kind *catalog_kind(const struct catalog *c, const char *name)
{
    /* ORDER: acquire, pairs with the publish of n_kinds in catalog_create_kind(): the shells below it are filled (I1). */
    uint32_t n = take(&c->n_kinds);
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(c->kinds[i]->name, name) == 0 && !kind_dropped(c->kinds[i]))
            return c->kinds[i];
    return NULL;
}

struct field *kind_role(const struct kind *k, enum role role)
{
    struct field *by_name = NULL;
    if (role == ROLE_NONE)
        return NULL;
    /* ORDER: acquire, pairs with the publish of n_fields in add_fields(): the fields below it are filled (I1, I3). */
    uint32_t n = take(&k->n_fields);
    for (uint32_t i = 0; i < n; i++) {
        struct field *f = k->fields[i];
        if (f->def.role != role)
            continue;
        if (f->def.role_by_as)
            return f;
        if (by_name == NULL)
            by_name = f;
    }
    return by_name;
}

static struct field *field_named(const struct kind *k, const char *name)
{
    /* ORDER: acquire, pairs with the publish of n_fields in add_fields() (I1, I3). */
    uint32_t n = take(&k->n_fields);
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(k->fields[i]->def.name, name) == 0)
            return k->fields[i];
    return NULL;
}

struct field *kind_field(const struct kind *k, const char *name)
{
    struct field *f = field_named(k, name);
    return f != NULL ? f : kind_role(k, role_by_name(name));
}

int kind_signal_index(const struct kind *k, const char *name)
{
    /* ORDER: acquire, pairs with the publish of n_signals in catalog_create_signal() (I1). */
    uint32_t n = take(&k->n_signals);
    for (uint32_t i = 0; i < n; i++) {
        /* ORDER: acquire, pairs with the publish in catalog_drop_signal(). */
        if (strcmp(k->signals[i].def->name, name) == 0 && !take(&k->signals[i].dropped))
            return (int)i;
    }
    return -1;
}

struct signal *kind_signal_rcu(const struct kind *k, unsigned index)
{
    assert(reclaim_reading());
    /* ORDER: acquire, pairs with the publish in catalog_drop_signal(): false here means it is retired after this section began, if at all. */
    if (kind_dropped(k) || take(&k->signals[index].dropped))
        return NULL;
    return k->signals[index].signal;
}

const struct profile *kind_profile_rcu(const struct kind *k, const char *name)
{
    assert(reclaim_reading());
    if (kind_dropped(k))
        return NULL;
    /* ORDER: acquire, pairs with the publish in replace_profiles(): the list and its profiles are filled. */
    const struct profile_list *list = take(&k->profiles);
    for (uint32_t i = 0; list != NULL && i < list->n; i++)
        if (strcmp(list->items[i]->name, name) == 0)
            return list->items[i];
    return NULL;
}

/* ---- making and unmaking kinds ---- */

static size_t column_size(unsigned type)
{
    switch (type) {
    case FIELD_INTEGER:
    case FIELD_TIME: return sizeof(int64_t);
    case FIELD_REAL: return sizeof(double);
    case FIELD_KEYWORD: return sizeof(uint32_t);
    default: return 0;
    }
}

static void profile_free(void *p)
{
    struct profile *profile = p;
    if (profile == NULL)
        return;
    mem_free(profile->text);
    mem_free(profile);
}

static void signal_release(void *p)
{
    signal_destroy(p);
}

/* Everything of a field but its definition. */
static void field_release(struct field *f)
{
    if (column_size(f->def.type) != 0)
        chunks_destroy(&f->column);
    if (f->dictionary != NULL)
        dictionary_destroy(f->dictionary);
    f->dictionary = NULL;
}

/* Gives back all that a kind holds but its shell: names, fields' and signals' definitions. */
static void kind_release(void *p)
{
    struct kind *k = p;
    for (uint32_t slot = 0; slot < k->n_slots; slot++)
        mem_free(*(struct row **)chunks_at(&k->rows, slot));
    chunks_destroy(&k->rows);
    chunks_destroy(&k->generations);
    chunks_destroy(&k->sequences);
    chunks_destroy(&k->links);
    keymap_destroy(&k->keys);
    for (uint32_t i = 0; i < k->n_fields; i++)
        field_release(k->fields[i]);
    for (uint32_t i = 0; i < k->n_signals; i++)
        if (!k->signals[i].dropped)
            signal_destroy(k->signals[i].signal);
    for (uint32_t i = 0; k->profiles != NULL && i < k->profiles->n; i++)
        profile_free(k->profiles->items[i]);
    mem_free(k->profiles);
    k->profiles = NULL;
}

static void kind_free_shell(struct kind *k)
{
    for (uint32_t i = 0; i < k->n_fields; i++)
        mem_free(k->fields[i]);
    for (uint32_t i = 0; i < k->n_signals; i++)
        mem_free((void *)(uintptr_t)k->signals[i].def);
    pthread_mutex_destroy(&k->lock);
    mem_free(k);
}

static struct kind *kind_make(const char *name, bool integer_keys)
{
    struct kind *k = mem_zalloc(sizeof *k);
    if (k == NULL)
        return NULL;
    keymap_init(&k->keys, integer_keys);
    strcpy(k->name, name);
    k->integer_keys = integer_keys;
    pthread_mutex_init(&k->lock, NULL);
    chunks_init(&k->rows, sizeof(struct row *));
    chunks_init(&k->generations, sizeof(uint32_t));
    chunks_init(&k->sequences, sizeof(uint32_t));
    chunks_init(&k->links, sizeof(uint32_t));
    k->free_slots.head = k->free_slots.tail = k->free_slots.uncleared = SLOT_NONE;
    k->expiry.next = k->expiry.seen = INT64_MAX;
    return k;
}

status catalog_init(struct catalog *c)
{
    memset(c, 0, sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    return STATUS_OK;
}

void catalog_destroy(struct catalog *c)
{
    reclaim_barrier(); /* what was retired before, of dropped kinds, and the ends of grace periods that slots wait for */
    for (uint32_t i = 0; i < c->n_kinds; i++) {
        struct kind *k = c->kinds[i];
        if (!k->dropped)
            kind_release(k);
        kind_free_shell(k);
    }
    pthread_mutex_destroy(&c->lock);
    memset(c, 0, sizeof *c);
}

/* ---- fields ---- */

/* What is wrong with defs[i] by itself or beside defs[0 .. i) and the kind's fields? `k` may be NULL. */
static status check_field(const struct kind *k, const struct field_def *defs, unsigned i, struct error *e)
{
    const struct field_def *d = &defs[i];
    status s = check_name("field", d->name, e);
    if (s != STATUS_OK)
        return s;
    if (d->type > FIELD_VECTOR)
        return fail(e, STATUS_INVALID, -1, "field '%s' has no known type", d->name);
    if (d->type == FIELD_VECTOR && (d->dimension < 1 || d->dimension > MAX_DIMENSION))
        return fail(e, STATUS_RANGE, -1, "field '%s' has dimension %u; a VECTOR has 1 to %d", d->name, d->dimension, MAX_DIMENSION);
    if (d->expires && d->type != FIELD_TIME)
        return fail(e, STATUS_TYPE, -1, "field '%s' is %s; only a TIME field EXPIRES", d->name, field_type_name(d->type));
    if (d->role_by_as && (d->role == ROLE_NONE || d->role >= ROLE_COUNT))
        return fail(e, STATUS_UNKNOWN, -1, "field '%s' has no known role", d->name);
    if (d->role_by_as && !role_fits(d->role, d->type))
        return fail(e, STATUS_TYPE, -1, "field '%s' is %s and can not play the role '%s'", d->name, field_type_name(d->type),
                    ROLE_NAMES[d->role]);
    unsigned known = k == NULL ? 0 : k->n_fields;
    for (unsigned j = 0; j < known + i; j++) {
        const struct field_def *other = j < known ? &k->fields[j]->def : &defs[j - known];
        if (strcmp(other->name, d->name) == 0)
            return fail(e, STATUS_EXISTS, -1, "there is a field '%s' already", d->name);
        if (d->expires && other->expires)
            return fail(e, STATUS_EXISTS, -1, "both '%s' and '%s' say EXPIRES; one field may", other->name, d->name);
        if (d->role_by_as && other->role_by_as && other->role == d->role)
            return fail(e, STATUS_EXISTS, -1, "both '%s' and '%s' say AS %s; one field may", other->name, d->name, ROLE_NAMES[d->role]);
    }
    return STATUS_OK;
}

static void field_free(struct field *f)
{
    if (f == NULL)
        return;
    field_release(f);
    mem_free(f);
}

/* Every slot gets the column's null. A slot's put stores into every column there is, so only slots that stand already matter (I3). */
static void column_fill_null(struct field *f, uint32_t n_slots)
{
    for (uint32_t slot = 0; slot < n_slots; slot++) {
        void *at = chunks_at(&f->column, slot);
        /* ORDER: plain stores: nobody sees the field before n_fields is published. */
        if (f->def.type == FIELD_REAL)
            *(double *)at = (double)NAN;
        else if (f->def.type != FIELD_KEYWORD)
            *(int64_t *)at = INT64_MIN;
    }
}

static struct field *field_make(struct kind *k, const struct field_def *def, unsigned index)
{
    struct field *f = mem_zalloc(sizeof *f);
    if (f == NULL)
        return NULL;
    f->def = *def;
    if (!def->role_by_as) {
        enum role role = role_by_name(def->name);
        f->def.role = role_fits(role, def->type) ? (uint8_t)role : ROLE_NONE;
    }
    f->index = (uint16_t)index;
    f->kind = k;
    size_t size = column_size(def->type);
    if (size != 0)
        chunks_init(&f->column, size);
    if (size != 0 && k->n_slots != 0 && !chunks_ensure(&f->column, k->n_slots))
        goto failed;
    if (def->type == FIELD_KEYWORD || def->type == FIELD_KEYWORDS) {
        f->dictionary = dictionary_create();
        if (f->dictionary == NULL)
            goto failed;
    }
    if (size != 0)
        column_fill_null(f, k->n_slots);
    return f;
failed:
    field_free(f);
    return NULL;
}

/* Checks, makes and publishes fields. The kind is locked, or not published yet. */
static status add_fields(struct kind *k, unsigned n, const struct field_def *defs, struct error *e)
{
    if (n > MAX_FIELDS - k->n_fields)
        return fail(e, STATUS_LIMIT, -1, "kind '%s' would have more than %d fields", k->name, MAX_FIELDS);
    for (unsigned i = 0; i < n; i++) {
        status s = check_field(k, defs, i, e);
        if (s != STATUS_OK)
            return s;
    }
    uint32_t base = k->n_fields;
    for (unsigned i = 0; i < n; i++) {
        k->fields[base + i] = field_make(k, &defs[i], base + i);
        if (k->fields[base + i] != NULL)
            continue;
        while (i-- > 0)
            field_free(k->fields[base + i]);
        return no_memory(e, "the fields of", k->name);
    }
    for (unsigned i = 0; i < n; i++)
        if (defs[i].expires)
            /* ORDER: release, pairs with the take in kind_expires() (items_read.c). */
            publish(&k->expires, k->fields[base + i]);
    /* ORDER: release, pairs with the takes of n_fields: the fields and columns filled above are seen by who sees the count (I1, I3). */
    publish(&k->n_fields, base + n);
    return STATUS_OK;
}

/* ---- changes ---- */

status catalog_create_kind(struct catalog *c, const char *name, bool integer_keys, unsigned n, const struct field_def *fields,
                           struct error *e)
{
    status s = check_name("kind", name, e);
    if (s != STATUS_OK)
        return s;
    pthread_mutex_lock(&c->lock);
    if (catalog_kind(c, name) != NULL) {
        s = fail(e, STATUS_EXISTS, -1, "there is a kind '%s' already", name);
        goto out;
    }
    if (c->n_kinds == MAX_KINDS) {
        s = fail(e, STATUS_LIMIT, -1, "kind '%s' would be one too many: a database has %d, dropped ones included", name, MAX_KINDS);
        goto out;
    }
    struct kind *k = kind_make(name, integer_keys);
    if (k == NULL) {
        s = no_memory(e, "kind", name);
        goto out;
    }
    s = add_fields(k, n, fields, e);
    if (s != STATUS_OK) {
        kind_release(k);
        kind_free_shell(k);
        goto out;
    }
    k->id = (uint16_t)c->n_kinds;
    c->kinds[c->n_kinds] = k;
    /* ORDER: release, pairs with the takes of n_kinds: the shell is filled (I1). */
    publish(&c->n_kinds, c->n_kinds + 1);
out:
    pthread_mutex_unlock(&c->lock);
    return s;
}

/* Both locks, in their order; STALE, and neither held, when the kind was dropped. */
static status lock_kind(struct catalog *c, struct kind *k, struct error *e)
{
    pthread_mutex_lock(&c->lock);
    pthread_mutex_lock(&k->lock);
    if (!k->dropped)
        return STATUS_OK;
    pthread_mutex_unlock(&k->lock);
    pthread_mutex_unlock(&c->lock);
    return fail(e, STATUS_STALE, -1, "kind '%s' was dropped", k->name);
}

static status unlock_kind(struct catalog *c, struct kind *k, status s)
{
    pthread_mutex_unlock(&k->lock);
    pthread_mutex_unlock(&c->lock);
    return s;
}

status catalog_add_fields(struct catalog *c, struct kind *k, unsigned n, const struct field_def *fields, struct error *e)
{
    status s = lock_kind(c, k, e);
    if (s != STATUS_OK)
        return s;
    return unlock_kind(c, k, add_fields(k, n, fields, e));
}

status catalog_drop_kind(struct catalog *c, struct kind *k, struct error *e)
{
    status s = lock_kind(c, k, e);
    if (s != STATUS_OK)
        return s;
    if (!reclaim_reserve(1))
        return unlock_kind(c, k, no_memory(e, "dropping kind", k->name));
    /* ORDER: release, pairs with the take in kind_dropped(). */
    publish(&k->dropped, true);
    /* RETIRE: unlinked by the mark; sections that found it unset may use the data; freed after a grace period. The shell stays. */
    reclaim_retire(k, kind_release);
    return unlock_kind(c, k, STATUS_OK);
}

static status check_windows(const struct signal_def *d, struct error *e)
{
    if (d->n_windows > MAX_WINDOWS)
        return fail(e, STATUS_LIMIT, -1, "signal '%s' has %u windows; a signal has at most %d", d->name, d->n_windows, MAX_WINDOWS);
    for (unsigned i = 0; i < d->n_windows; i++) {
        if (d->windows[i] < WINDOW_MIN || d->windows[i] > WINDOW_MAX || d->windows[i] % WINDOW_MIN != 0)
            return fail(e, STATUS_RANGE, -1, "signal '%s' has a window of %u s; windows are whole minutes from 1m to 366d", d->name,
                        d->windows[i]);
        if (i > 0 && d->windows[i] <= d->windows[i - 1])
            return fail(e, STATUS_INVALID, -1, "signal '%s': windows are to ascend, each named once", d->name);
    }
    return STATUS_OK;
}

static status check_signal(const struct signal_def *d, struct error *e)
{
    status s = check_name("signal", d->name, e);
    if (s != STATUS_OK)
        return s;
    if (d->decay > DECAY_NONE)
        return fail(e, STATUS_INVALID, -1, "signal '%s' has no known decay", d->name);
    if (d->decay == DECAY_HALF_LIFE && (d->half_life < HALF_LIFE_MIN || d->half_life > HALF_LIFE_MAX))
        return fail(e, STATUS_RANGE, -1, "signal '%s': HALF LIFE is from 30s to 3650d", d->name);
    if (d->decay == DECAY_POWER && !(d->power > 0 && d->power <= MAX_POWER))
        return fail(e, STATUS_RANGE, -1, "signal '%s': POWER DECAY is above 0 and at most %d", d->name, MAX_POWER);
    return check_windows(d, e);
}

/* The kind is locked. */
static status add_signal(struct kind *k, const struct signal_def *def, struct error *e)
{
    if (kind_signal_index(k, def->name) >= 0)
        return fail(e, STATUS_EXISTS, -1, "kind '%s' has a signal '%s' already", k->name, def->name);
    if (k->n_signals == MAX_SIGNALS)
        return fail(e, STATUS_LIMIT, -1, "signal '%s' would be one too many: a kind has %d, dropped ones included", def->name, MAX_SIGNALS);
    struct signal_def *copy = mem_alloc(sizeof *copy);
    struct signal *signal = copy == NULL ? NULL : signal_create(def);
    if (signal == NULL) {
        mem_free(copy);
        return no_memory(e, "signal", def->name);
    }
    *copy = *def;
    k->signals[k->n_signals] = (struct kind_signal){.signal = signal, .def = copy};
    /* ORDER: release, pairs with the takes of n_signals: the signal is made (I1). */
    publish(&k->n_signals, k->n_signals + 1);
    return STATUS_OK;
}

status catalog_create_signal(struct catalog *c, struct kind *k, const struct signal_def *def, struct error *e)
{
    status s = check_signal(def, e);
    if (s == STATUS_OK)
        s = lock_kind(c, k, e);
    if (s != STATUS_OK)
        return s;
    return unlock_kind(c, k, add_signal(k, def, e));
}

status catalog_drop_signal(struct catalog *c, struct kind *k, const char *name, struct error *e)
{
    status s = lock_kind(c, k, e);
    if (s != STATUS_OK)
        return s;
    int index = kind_signal_index(k, name);
    if (index < 0)
        return unlock_kind(c, k, fail(e, STATUS_UNKNOWN, -1, "kind '%s' has no signal '%s'", k->name, name));
    if (!reclaim_reserve(1))
        return unlock_kind(c, k, no_memory(e, "dropping signal", name));
    struct kind_signal *ks = &k->signals[index];
    /* ORDER: release, pairs with the takes of `dropped`. */
    publish(&ks->dropped, true);
    /* RETIRE: unlinked by the mark; sections that found it unset may use it; freed after a grace period. The definition stays. */
    reclaim_retire(ks->signal, signal_release);
    return unlock_kind(c, k, STATUS_OK);
}

/* ---- profiles ---- */

static struct profile *profile_make(const char *name, const char *text)
{
    struct profile *p = mem_zalloc(sizeof *p);
    size_t bytes = strlen(text) + 1;
    if (p == NULL)
        return NULL;
    p->text = mem_alloc(bytes);
    if (p->text == NULL) {
        mem_free(p);
        return NULL;
    }
    strcpy(p->name, name);
    memcpy(p->text, text, bytes);
    return p;
}

static void list_free(void *p)
{
    mem_free(p);
}

/* Publishes a list with `fresh` (NULL: none) in the place of items[at], or at the end. Takes ownership of `fresh` when it succeeds. */
static status replace_profiles(struct kind *k, uint32_t at, struct profile *fresh)
{
    struct profile_list *old = k->profiles;
    uint32_t n = old == NULL ? 0 : old->n;
    struct profile_list *list = mem_alloc(sizeof *list + (n + 1) * sizeof *list->items);
    if (list == NULL || !reclaim_reserve(2)) {
        mem_free(list);
        return STATUS_NO_MEMORY;
    }
    list->n = 0;
    for (uint32_t i = 0; i < n; i++)
        if (i != at)
            list->items[list->n++] = old->items[i];
        else if (fresh != NULL)
            list->items[list->n++] = fresh;
    if (at == n && fresh != NULL)
        list->items[list->n++] = fresh;
    /* ORDER: release, pairs with the take in kind_profile_rcu(): the list and the profile are filled. */
    publish(&k->profiles, list);
    if (old == NULL)
        return STATUS_OK;
    if (at < n)
        /* RETIRE: unlinked by the new list; readers of the old one may hold it; freed after a grace period. */
        reclaim_retire(old->items[at], profile_free);
    /* RETIRE: unlinked by the publish above; readers that took it before may walk it; freed after a grace period. */
    reclaim_retire(old, list_free);
    return STATUS_OK;
}

/* Index of a profile; the number of profiles when there is none. The kind is locked. */
static uint32_t profile_index(const struct kind *k, const char *name, uint32_t *n)
{
    *n = k->profiles == NULL ? 0 : k->profiles->n;
    for (uint32_t i = 0; i < *n; i++)
        if (strcmp(k->profiles->items[i]->name, name) == 0)
            return i;
    return *n;
}

static status set_profile(struct kind *k, const char *name, const char *text, bool replace, struct error *e)
{
    uint32_t n, at = profile_index(k, name, &n);
    if (at < n && !replace)
        return fail(e, STATUS_EXISTS, -1, "kind '%s' has a profile '%s' already", k->name, name);
    if (at == n && replace)
        return fail(e, STATUS_UNKNOWN, -1, "kind '%s' has no profile '%s' of its own", k->name, name);
    struct profile *fresh = profile_make(name, text);
    if (fresh == NULL || replace_profiles(k, at, fresh) != STATUS_OK) {
        profile_free(fresh);
        return no_memory(e, "profile", name);
    }
    return STATUS_OK;
}

status catalog_set_profile(struct catalog *c, struct kind *k, const char *name, const char *text, bool replace, struct error *e)
{
    status s = check_name("profile", name, e);
    if (s == STATUS_OK && strlen(text) > MAX_STATEMENT)
        s = fail(e, STATUS_LIMIT, -1, "the text of profile '%s' is longer than %d bytes", name, MAX_STATEMENT);
    if (s == STATUS_OK)
        s = lock_kind(c, k, e);
    if (s != STATUS_OK)
        return s;
    return unlock_kind(c, k, set_profile(k, name, text, replace, e));
}

status catalog_drop_profile(struct catalog *c, struct kind *k, const char *name, struct error *e)
{
    status s = lock_kind(c, k, e);
    if (s != STATUS_OK)
        return s;
    uint32_t n, at = profile_index(k, name, &n);
    if (at == n)
        s = fail(e, STATUS_UNKNOWN, -1, "kind '%s' has no profile '%s' of its own", k->name, name);
    else if (replace_profiles(k, at, NULL) != STATUS_OK)
        s = no_memory(e, "dropping profile", name);
    return unlock_kind(c, k, s);
}
