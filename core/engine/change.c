/* SPDX-License-Identifier: MIT */
#include "engine/change.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/publish.h"

static struct kind *kind_of(const struct database *db, unsigned id)
{
    /* ORDER: acquire: pairs with the release in catalog_create_kind. */
    return id < take(&db->catalog.n_kinds) ? db->catalog.kinds[id] : NULL;
}

static void tell(struct database *db, const struct change *c)
{
    if (!db->listener)
        return;
    struct buffer record = {0};
    change_encode(db, c, &record);
    db->listener(db->listener_context, record.data, record.failed ? 0 : record.length);
    buffer_free(&record);
}

void change_tell_expired(void *db, struct kind *k, const struct row *row, uint32_t generation)
{
    struct change c = {.type = CHANGE_DELETE, .kind = k->id, .now = EXPIRED, .slot = row->slot, .generation = generation};
    if (k->integer_keys)
        c.key.number = row->key->number;
    else
        c.key = (struct key){.bytes = row->key->bytes, .length = row->key->length};
    tell(db, &c);
}

/* ---- Check -------------------------------------------------------------------------------------------------------------- */

static status check_fields(const struct kind *k, struct change *c, struct error *e)
{
    for (unsigned i = 0; i < c->n; i++) {
        status s = items_check_value(k->fields[c->fields[i]], &c->values[i], e);
        if (s)
            return s;
    }
    return STATUS_OK;
}

static status check_weight(double weight, struct error *e)
{
    if (!isfinite(weight) || weight <= 0)
        return fail(e, STATUS_RANGE, -1, "weight: a finite number above 0 was expected, got %g", weight);
    return STATUS_OK;
}

static status check_time(int64_t at, struct error *e)
{
    if (at < 0 && at != WALL_CLOCK)
        return fail(e, STATUS_RANGE, -1, "at: a time from 1970 on was expected, got %lld", (long long)at);
    return STATUS_OK;
}

static status check_event(const struct change *c, struct error *e)
{
    status s = check_weight(c->weight, e);
    return s ? s : check_time(c->at, e);
}

static status check_event_id(const struct value *id, struct error *e)
{
    switch (id->type) {
    case VALUE_NULL: case VALUE_UINT:
        return STATUS_OK;
    case VALUE_INT:
        return id->i >= 0 ? STATUS_OK : fail(e, STATUS_RANGE, -1, "id: an integer from 0 to 2^64-1 was expected, got %lld", (long long)id->i);
    case VALUE_TEXT:
        if (id->length == 0 || id->length > MAX_EVENT_ID)
            return fail(e, STATUS_RANGE, -1, "id: 1 to %d bytes were expected, got %u", MAX_EVENT_ID, id->length);
        return STATUS_OK;
    default:
        return fail(e, STATUS_TYPE, -1, "id: an integer or text was expected, got %s", value_type_name(id->type));
    }
}

status change_check(struct database *db, struct change *c, struct error *e)
{
    if (c->now < TIME_MIN_US || c->now > TIME_MAX_US) {
        if (c->type != CHANGE_DELETE || c->now != EXPIRED)
            return fail(e, STATUS_RANGE, -1, "now: a time from year 1 to 9999 was expected, got %lld", (long long)c->now);
    }
    if (c->type == CHANGE_SCHEMA)
        return STATUS_OK; /* parsed and checked as it is applied, which is atomic */
    struct kind *k = kind_of(db, c->kind);
    if (!k)
        return fail(e, STATUS_UNKNOWN, -1, "there is no kind of number %u", c->kind);
    if (c->type != CHANGE_SIGNAL)
        return check_fields(k, c, e);
    status s = check_event(c, e);
    return s ? s : check_event_id(&c->id, e);
}

/* ---- Apply -------------------------------------------------------------------------------------------------------------- */

static status apply_put(struct database *db, struct kind *k, struct change *c, struct error *e)
{
    struct item_change item = {.key = &c->key, .patch = c->type == CHANGE_PATCH, .n = c->n, .fields = c->fields, .values = c->values, .now = c->now,
                               .slot = c->slot};
    pthread_mutex_lock(&k->lock);
    status s = items_put_w(k, &item, e);
    if (!s) {
        c->slot = item.slot;
        c->generation = item.generation;
        tell(db, c);
    } else if (item.took_expired) {
        struct change gone = {.type = CHANGE_DELETE, .kind = k->id, .now = EXPIRED, .key = c->key, .slot = SLOT_NONE};
        tell(db, &gone);
    }
    pthread_mutex_unlock(&k->lock);
    return s;
}

static status apply_delete(struct database *db, struct kind *k, struct change *c, struct error *e)
{
    pthread_mutex_lock(&k->lock);
    c->slot = SLOT_NONE;
    status s = items_delete_w(k, &c->key, c->now, &c->slot, &c->generation, e);
    if (s && c->slot != SLOT_NONE)
        c->now = EXPIRED; /* it was there, though nobody saw it any more */
    if (!s || c->now == EXPIRED)
        tell(db, c);
    pthread_mutex_unlock(&k->lock);
    return s;
}

/* In a section. Is the item of this slot and (low bits of the) generation alive? */
static status alive(const struct kind *k, uint32_t slot, uint32_t generation, int64_t now, struct error *e)
{
    const uint32_t *cell = chunks_at(&k->generations, slot);
    /* ORDER: acquire: pairs with the release in items_put_w and items_delete_w; signals of a newer item are not touched for an older handle. */
    uint32_t current = cell ? take(cell) : 0;
    if (!(current & 1) || ((current ^ generation) & 0xffffff) != 0)
        return fail(e, STATUS_NOT_FOUND, -1, "the handle's item of kind '%s' was deleted", k->name);
    /* ORDER: acquire: pairs with the release in catalog_add_fields. */
    if (take(&k->expires) && !items_at_rcu(k, slot, current, now))
        return fail(e, STATUS_NOT_FOUND, -1, "the handle's item of kind '%s' has expired", k->name);
    return STATUS_OK;
}

/* A time ahead of the clock counts as now. */
static void clamp_time(struct change *c)
{
    if (c->at > c->now || c->at == WALL_CLOCK)
        c->at = c->now;
    if (c->at < 0)
        c->at = 0;
}

/* In a section; room for a retire was reserved before it. `known`: the section has found the item alive. */
static status add_event_rcu(struct database *db, struct kind *k, struct change *c, bool known, struct error *e)
{
    struct signal *s = kind_signal_rcu(k, c->signal);
    status result = s ? STATUS_OK : fail(e, STATUS_STALE, -1, "the signal was dropped");
    if (!result && !known)
        result = alive(k, c->slot, c->generation, c->now, e);
    if (result)
        return result;
    clamp_time(c);
    result = signal_add(s, c->slot, c->weight, c->at, c->now);
    if (result)
        return fail(e, result, -1, "no memory for an event of signal '%s'", k->signals[c->signal].def->name);
    tell(db, c);
    return STATUS_OK;
}

static status add_event(struct database *db, struct kind *k, struct change *c, struct error *e)
{
    reclaim_enter(); /* RCU: protects the row, the signal and its cell */
    status s = add_event_rcu(db, k, c, false, e);
    reclaim_leave();
    return s;
}

/* With an id: the turn holds its shard, so that a second thread with the same id waits and takes the outcome. */
static status add_event_once(struct database *db, struct kind *k, struct change *c, struct error *e)
{
    bool text = c->id.type == VALUE_TEXT;
    struct event_id id = {.bytes = text ? c->id.text : NULL, .length = text ? c->id.length : 0, .number = text ? 0 : c->id.u};
    struct event_id_turn turn;
    switch (event_ids_begin(&db->ids, (uint64_t)c->kind << 16 | c->signal, &id, &turn)) {
    case EVENT_ID_SEEN:
        return STATUS_DUPLICATE;
    case EVENT_ID_NO_MEMORY:
        return fail(e, STATUS_NO_MEMORY, -1, "no memory to remember the event's id");
    default:
        break;
    }
    status s = add_event(db, k, c, e);
    if (s)
        event_ids_abort(&turn);
    else
        event_ids_commit(&turn);
    return s;
}

static status reserve_event(struct error *e)
{
    return mem_room(0) && reclaim_reserve(1) ? STATUS_OK : fail(e, STATUS_NO_MEMORY, -1, "no memory for an event");
}

static status apply_signal(struct database *db, struct kind *k, struct change *c, struct error *e)
{
    status s = reserve_event(e);
    if (s)
        return s;
    return c->id.type == VALUE_NULL ? add_event(db, k, c, e) : add_event_once(db, k, c, e);
}

status change_apply(struct database *db, struct change *c, struct error *e)
{
    if (c->type == CHANGE_SCHEMA) {
        status s = schema_apply(db, c->text, c->length, e);
        if (!s)
            tell(db, c);
        return s;
    }
    struct kind *k = kind_of(db, c->kind);
    switch (c->type) {
    case CHANGE_PUT: case CHANGE_PATCH: return apply_put(db, k, c, e);
    case CHANGE_DELETE: return apply_delete(db, k, c, e);
    default: return apply_signal(db, k, c, e);
    }
}

struct kind *signal_kind(const struct database *db, uint32_t signal, struct error *e)
{
    struct kind *k = kind_of(db, signal >> 16);
    /* ORDER: acquire: pairs with the release in catalog_create_signal. */
    if (k && (signal & 0xffff) < take(&k->n_signals))
        return k;
    fail(e, STATUS_INVALID, -1, "signal: %u is not the number of a signal", signal);
    return NULL;
}

bool handle_alive(const struct kind *k, uint64_t handle, int64_t now)
{
    reclaim_enter(); /* RCU: protects the row, where the kind's items expire */
    bool living = !kind_dropped(k) && alive(k, handle_slot(handle), handle_generation(handle), now, NULL) == STATUS_OK;
    reclaim_leave();
    return living;
}

/* The hot ways: one section covers the look at the handle, the key and the event, so that nothing else is counted or locked. */

status signal_by_handle(const struct shell *shell, uint32_t signal, uint64_t handle, double weight, int64_t at, struct error *e)
{
    status s = reserve_event(e);
    if (s)
        return s;
    reclaim_enter(); /* RCU: protects the database, the signal and its cell */
    struct database *db = shell_open(shell, SHELL_DATABASE, "db", e);
    struct kind *k = db ? signal_kind(db, signal, e) : NULL;
    if (k && handle_kind(handle) == k->id) {
        struct change c = {.type = CHANGE_SIGNAL, .kind = k->id, .signal = (uint16_t)signal, .slot = handle_slot(handle),
                           .generation = handle_generation(handle), .weight = weight, .at = at, .now = database_now(db)};
        s = check_event(&c, e);
        if (!s)
            s = add_event_rcu(db, k, &c, false, e);
    } else {
        s = k ? fail(e, STATUS_INVALID, -1, "handle: it is not of kind '%s'", k->name) : e->code;
    }
    reclaim_leave();
    return s;
}

static status add_by_key_rcu(struct database *db, struct kind *k, uint32_t signal, const struct value *key, double weight, int64_t at, struct error *e)
{
    struct change c = {.type = CHANGE_SIGNAL, .kind = k->id, .signal = (uint16_t)signal, .weight = weight, .at = at, .now = database_now(db)};
    status s = items_check_key(k, key, &c.key, e);
    if (!s)
        s = check_event(&c, e);
    if (s)
        return s;
    const struct row *row = find_item_rcu(k, &c.key, c.now, &c.generation, e);
    if (!row)
        return STATUS_NOT_FOUND;
    c.slot = row->slot;
    return add_event_rcu(db, k, &c, true, e);
}

status signal_by_key(const struct shell *shell, uint32_t signal, const struct value *key, double weight, int64_t at, struct error *e)
{
    status s = reserve_event(e);
    if (s)
        return s;
    reclaim_enter(); /* RCU: protects the database, the key's record and row, the signal and its cell */
    struct database *db = shell_open(shell, SHELL_DATABASE, "db", e);
    struct kind *k = db ? signal_kind(db, signal, e) : NULL;
    s = k ? add_by_key_rcu(db, k, signal, key, weight, at, e) : e->code;
    reclaim_leave();
    return s;
}

/* ---- Records ------------------------------------------------------------------------------------------------------------ */

static void encode_value(const struct value *v, struct buffer *b)
{
    buffer_u8(b, (uint8_t)v->type);
    switch (v->type) {
    case VALUE_NULL: break;
    case VALUE_TEXT: buffer_u32(b, v->length); buffer_bytes(b, v->text, v->length); break;
    case VALUE_VECTOR: buffer_u32(b, v->length); buffer_bytes(b, v->vector, v->length * sizeof *v->vector); break;
    case VALUE_LIST:
        buffer_u32(b, v->length);
        for (uint32_t i = 0; i < v->length; i++)
            encode_value(&v->list[i], b);
        break;
    default: buffer_u64(b, v->u);
    }
}

static void encode_key(const struct kind *k, const struct key *key, struct buffer *b)
{
    if (k->integer_keys) {
        buffer_u64(b, key->number);
        return;
    }
    buffer_u32(b, key->length);
    buffer_bytes(b, key->bytes, key->length);
}

/* type u8 | kind u32 | now i64 | slot u32 | generation u32 | then
 *   SCHEMA              length u32, text
 *   SIGNAL              signal u32, weight f64, at i64, id as a value
 *   PUT, PATCH, DELETE  key (u64, or length u32 and bytes), n u32, n times field u32 and a value */
void change_encode(const struct database *db, const struct change *c, struct buffer *b)
{
    buffer_u8(b, c->type);
    buffer_u32(b, c->kind);
    buffer_u64(b, (uint64_t)c->now);
    buffer_u32(b, c->slot);
    buffer_u32(b, c->generation);
    switch (c->type) {
    case CHANGE_SCHEMA:
        buffer_u32(b, (uint32_t)c->length);
        buffer_bytes(b, c->text, c->length);
        break;
    case CHANGE_SIGNAL:
        buffer_u32(b, c->signal);
        buffer_f64(b, c->weight);
        buffer_u64(b, (uint64_t)c->at);
        encode_value(&c->id, b);
        break;
    default:
        encode_key(kind_of(db, c->kind), &c->key, b);
        buffer_u32(b, c->n);
        for (unsigned i = 0; i < c->n; i++) {
            buffer_u32(b, c->fields[i]);
            encode_value(&c->values[i], b);
        }
    }
}

static bool decode_value(struct reader *r, struct arena *arena, bool nested, struct value *v)
{
    *v = (struct value){.type = reader_u8(r)};
    switch (v->type) {
    case VALUE_NULL: return !r->failed;
    case VALUE_INT: case VALUE_UINT: case VALUE_REAL: case VALUE_TIME: v->u = reader_u64(r); return !r->failed;
    case VALUE_TEXT: v->length = reader_u32(r); v->text = (const char *)reader_bytes(r, v->length); return v->text != NULL;
    case VALUE_VECTOR: {
        v->length = reader_u32(r);
        const uint8_t *bytes = v->length <= MAX_DIMENSION ? reader_bytes(r, v->length * sizeof(float)) : NULL;
        float *copy = bytes ? arena_alloc(arena, v->length * sizeof(float) + 1) : NULL; /* records are not aligned */
        if (copy)
            memcpy(copy, bytes, v->length * sizeof(float));
        v->vector = copy;
        return copy != NULL;
    }
    case VALUE_LIST: {
        v->length = reader_u32(r);
        bool fits = !nested && v->length <= (size_t)(r->end - r->at); /* an element has a byte at least */
        struct value *list = fits ? arena_alloc(arena, sizeof *list * (v->length + 1ul)) : NULL;
        v->list = list;
        for (uint32_t i = 0; list && i < v->length; i++)
            if (!decode_value(r, arena, true, &list[i]))
                return false;
        return list != NULL;
    }
    default: return false;
    }
}

static bool decode_item(const struct kind *k, struct reader *r, struct arena *arena, struct change *c)
{
    if (k->integer_keys) {
        c->key.number = reader_u64(r);
    } else {
        c->key.length = reader_u32(r);
        c->key.bytes = (const char *)reader_bytes(r, c->key.length);
        if (!c->key.bytes || c->key.length == 0 || c->key.length > MAX_KEY)
            return false;
    }
    c->n = reader_u32(r);
    if (c->n > MAX_FIELDS)
        return false;
    uint16_t *fields = arena_alloc(arena, sizeof *fields * (c->n + 1ul));
    c->values = arena_alloc(arena, sizeof *c->values * (c->n + 1ul));
    if (!fields || !c->values)
        return false;
    c->fields = fields;
    for (unsigned i = 0; i < c->n; i++) {
        uint32_t field = reader_u32(r);
        /* ORDER: acquire: pairs with the release in catalog_add_fields. */
        if (field >= take(&k->n_fields) || !decode_value(r, arena, false, &c->values[i]))
            return false;
        fields[i] = (uint16_t)field;
    }
    return true;
}

bool change_decode(struct database *db, const void *record, size_t length, struct arena *arena, struct change *c)
{
    struct reader r = {.at = record, .end = (const uint8_t *)record + length};
    *c = (struct change){.type = reader_u8(&r)};
    uint32_t kind = reader_u32(&r);
    c->kind = (uint16_t)kind;
    c->now = (int64_t)reader_u64(&r);
    c->slot = reader_u32(&r);
    c->generation = reader_u32(&r);
    if (c->type == CHANGE_SCHEMA) {
        c->length = reader_u32(&r);
        c->text = (const char *)reader_bytes(&r, c->length);
        return c->text && r.at == r.end;
    }
    const struct kind *k = kind <= UINT16_MAX ? kind_of(db, kind) : NULL;
    if (!k || c->type < CHANGE_PUT || c->type > CHANGE_SIGNAL)
        return false;
    if (c->type != CHANGE_SIGNAL)
        return decode_item(k, &r, arena, c) && !r.failed && r.at == r.end;
    uint32_t signal = reader_u32(&r);
    c->signal = (uint16_t)signal;
    c->weight = reader_f64(&r);
    c->at = (int64_t)reader_u64(&r);
    return signal < MAX_SIGNALS && decode_value(&r, arena, false, &c->id) && !r.failed && r.at == r.end;
}
