/* SPDX-License-Identifier: MIT */
/* Batches: every row is checked before the first is applied; only a lack of memory stops one in the middle, and then it says how many rows it applied. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "engine/change.h"

/* Puts the row's number in front of the sentence. */
static void in_row(uint64_t row, uint64_t n, struct error *e)
{
    if (!e || n < 2)
        return;
    char text[sizeof e->text];
    memcpy(text, e->text, sizeof text);
    snprintf(e->text, sizeof e->text, "row %" PRIu64 ": %.200s", row, text);
}

/* ---- Items -------------------------------------------------------------------------------------------------------------- */

struct put_plan {
    struct kind *kind;
    uint16_t fields[MAX_FIELDS];
    struct value *values;  /* n_fields for a row */
};

static status resolve_fields(const struct put_batch *b, struct put_plan *p, struct error *e)
{
    if (b->n_fields > MAX_FIELDS)
        return fail(e, STATUS_LIMIT, -1, "fields: at most %d can be named", MAX_FIELDS);
    for (unsigned i = 0; i < b->n_fields; i++) {
        char name[MAX_NAME + 1] = {0};
        const struct value *v = &b->fields[i];
        if (v->type != VALUE_TEXT)
            return fail(e, STATUS_TYPE, -1, "fields: names were expected, got %s", value_type_name(v->type));
        struct field *f = NULL;
        if (v->length <= MAX_NAME && !memchr(v->text, 0, v->length)) {
            memcpy(name, v->text, v->length);
            f = kind_field(p->kind, name);
        }
        if (!f)
            return fail(e, STATUS_UNKNOWN, -1, "kind '%s' has no field '%.*s'", p->kind->name, v->length > MAX_NAME ? MAX_NAME : (int)v->length, v->text);
        for (unsigned j = 0; j < i; j++)
            if (p->fields[j] == f->index)
                return fail(e, STATUS_INVALID, -1, "field '%s' is given twice", f->def.name);
        p->fields[i] = f->index;
    }
    return STATUS_OK;
}

/* Row i as a checked change. */
static status put_row(struct database *db, const struct put_batch *b, struct put_plan *p, uint64_t i, int64_t now, struct change *c, struct error *e)
{
    struct value key;
    *c = (struct change){.type = b->patch ? CHANGE_PATCH : CHANGE_PUT, .kind = p->kind->id, .now = now, .slot = SLOT_ANY, .n = b->n_fields,
                         .fields = p->fields, .values = p->values};
    if (!b->cell(b, i, -1, &key))
        return fail(e, STATUS_INVALID, -1, "key: it lies outside the heap");
    for (unsigned j = 0; j < b->n_fields; j++)
        if (!b->cell(b, i, (int)j, &p->values[j]))
            return fail(e, STATUS_INVALID, -1, "field '%s': its value lies outside the heap or is no value", p->kind->fields[p->fields[j]]->def.name);
    status s = items_check_key(p->kind, &key, &c->key, e);
    return s ? s : change_check(db, c, e);
}

/* A patch needs its item: a batch asks for all of them before it changes any. */
static status patch_target(struct put_plan *p, const struct change *c, struct error *e)
{
    uint64_t unused;
    return find_handle(p->kind, &c->key, c->now, &unused, e);
}

status put_many(struct database *db, const struct put_batch *b, uint64_t *applied, struct error *e)
{
    struct put_plan p;
    *applied = 0;
    status s = database_kind(db, b->kind, &p.kind, e);
    if (!s)
        s = resolve_fields(b, &p, e);
    if (s)
        return s;
    p.values = mem_array(b->n_fields + 1ul, sizeof *p.values);
    if (!p.values)
        return fail(e, STATUS_NO_MEMORY, -1, "no memory for the batch");
    int64_t now = database_now(db);
    struct change c;
    for (uint64_t i = 0; i < b->n_rows && b->n_rows > 1 && !s; i++) {
        s = put_row(db, b, &p, i, now, &c, e);
        if (!s && b->patch)
            s = patch_target(&p, &c, e);
        if (s)
            in_row(i, b->n_rows, e);
    }
    for (uint64_t i = 0; i < b->n_rows && !s; i++) {
        s = put_row(db, b, &p, i, now, &c, e);
        if (!s)
            s = change_apply(db, &c, e);
        if (s)
            in_row(i, b->n_rows, e);
        else
            ++*applied;
    }
    mem_free(p.values);
    return s;
}

status delete_item(struct database *db, const char *kind, const struct value *key, struct error *e)
{
    struct kind *k;
    status s = database_kind(db, kind, &k, e);
    if (s)
        return s;
    struct change c = {.type = CHANGE_DELETE, .kind = k->id, .now = database_now(db), .slot = SLOT_ANY};
    s = items_check_key(k, key, &c.key, e);
    return s ? s : change_apply(db, &c, e);
}

/* ---- Signals ------------------------------------------------------------------------------------------------------------ */

/* The item of event i. */
static status event_item(const struct signal_batch *b, const struct kind *k, uint64_t i, int64_t now, uint64_t *handle, struct error *e)
{
    if (b->handles) {
        *handle = b->handles[i];
        return handle_kind(*handle) == k->id ? STATUS_OK : fail(e, STATUS_INVALID, -1, "handle: it is not of kind '%s'", k->name);
    }
    struct value value;
    struct key key;
    if (!b->key(b, i, &value))
        return fail(e, STATUS_INVALID, -1, "key: it lies outside the heap or is no key");
    status s = items_check_key(k, &value, &key, e);
    return s ? s : find_handle(k, &key, now, handle, e);
}

/* Event i as a change, checked; its item may still die before it is applied, and then it is not counted. */
static status event(struct database *db, const struct signal_batch *b, const struct kind *k, uint64_t i, uint64_t handle, int64_t now,
                    struct change *c, struct error *e)
{
    *c = (struct change){.type = CHANGE_SIGNAL, .kind = k->id, .signal = (uint16_t)b->signal, .slot = handle_slot(handle),
                         .generation = handle_generation(handle), .now = now, .weight = b->weights ? b->weights[i] : 1.0,
                         .at = b->at ? b->at[i] : WALL_CLOCK};
    if (b->event_id && !b->event_id(b, i, &c->id))
        return fail(e, STATUS_INVALID, -1, "id: it lies outside the heap or is no id");
    return change_check(db, c, e);
}

/* Checks every event before any is applied. `found` gets the items of keys; NULL where the batch has handles. */
static status check_batch(struct database *db, const struct signal_batch *b, const struct kind *k, int64_t now, uint64_t *found, struct error *e)
{
    uint64_t handle = 0;
    struct change c;
    status s = STATUS_OK;
    for (uint64_t i = 0; i < b->n && !s; i++) {
        s = event_item(b, k, i, now, &handle, e);
        if (!s)
            s = event(db, b, k, i, handle, now, &c, e);
        if (found)
            found[i] = handle;
        else if (!s && !handle_alive(k, handle, now))
            s = fail(e, STATUS_NOT_FOUND, -1, "handle: its item of kind '%s' was deleted", k->name);
        if (s)
            in_row(i, b->n, e);
    }
    return s;
}

static status apply_batch(struct database *db, const struct signal_batch *b, const struct kind *k, int64_t now, const uint64_t *handles,
                          uint64_t *applied, struct error *e)
{
    status s = STATUS_OK;
    for (uint64_t i = 0; i < b->n && !s; i++) {
        struct change c;
        s = event(db, b, k, i, handles[i], now, &c, e);
        if (!s)
            s = change_apply(db, &c, e);
        if (s == STATUS_OK)
            ++*applied;
        else if (s == STATUS_DUPLICATE || s == STATUS_NOT_FOUND)
            s = STATUS_OK; /* its item died while the batch ran: nobody will read that event */
        else
            in_row(i, b->n, e);
    }
    return s;
}

static status signal_one(struct database *db, const struct signal_batch *b, const struct kind *k, int64_t now, uint64_t *applied, struct error *e)
{
    uint64_t handle;
    struct change c;
    status s = event_item(b, k, 0, now, &handle, e);
    if (!s)
        s = event(db, b, k, 0, handle, now, &c, e);
    if (!s)
        s = change_apply(db, &c, e);
    *applied = s == STATUS_OK;
    return s;
}

status signal_many(struct database *db, const struct signal_batch *b, uint64_t *applied, struct error *e)
{
    *applied = 0;
    struct kind *k = signal_kind(db, b->signal, e);
    if (!k)
        return STATUS_INVALID;
    int64_t now = database_now(db);
    if (b->n == 1)
        return signal_one(db, b, k, now, applied, e);
    uint64_t *found = b->handles ? NULL : mem_array(b->n + 1, sizeof *found);
    if (!b->handles && !found)
        return fail(e, STATUS_NO_MEMORY, -1, "no memory for the batch");
    status s = check_batch(db, b, k, now, found, e);
    if (!s)
        s = apply_batch(db, b, k, now, found ? found : b->handles, applied, e);
    mem_free(found);
    return s;
}
