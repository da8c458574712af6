/* SPDX-License-Identifier: MIT */
#include "arguments.h"

#include <string.h>

#include "base/alloc.h"
#include "engine/handles.h"

/* ---- Errors -------------------------------------------------------------------------------------------------------------- */

/* Copies as much as the caller's struct has room for. */
eagre_status give_error(const struct error *from, eagre_status s, eagre_error *to)
{
    if (s >= 0 || !to || to->struct_size < offsetof(eagre_error, text) + 1)
        return s;
    to->code = s;
    to->position = from->position;
    size_t room = to->struct_size - offsetof(eagre_error, text);
    size_t n = strnlen(from->text, sizeof from->text - 1);
    if (n > room - 1)
        n = room - 1;
    memcpy(to->text, from->text, n);
    to->text[n] = 0;
    return s;
}

status wrong_argument(struct error *e, const char *text)
{
    return fail(e, STATUS_INVALID, -1, "%s", text);
}

status refuse_forked(struct error *e)
{
    return reclaim_forked() ? fail(e, STATUS_FORKED, -1, "the process was forked after this handle was opened") : STATUS_OK;
}

/* The database behind a handle, kept until leave(). NULL: a filled error. */
struct database *use_database(const eagre_db *handle, struct error *e)
{
    if (refuse_forked(e))
        return NULL;
    reclaim_enter(); /* RCU: the database is not destroyed between the look at its handle and database_use */
    struct database *db = shell_open((const struct shell *)handle, SHELL_DATABASE, "db", e);
    if (db && !database_use(db)) {
        fail(e, STATUS_CLOSED, -1, "db: the handle is closed");
        db = NULL;
    }
    reclaim_leave();
    return db;
}

/* ---- Values: from the caller's heap to the engine's ---------------------------------------------------------------------- */

const void *heap_at(const struct heap *h, uint64_t offset, uint64_t bytes)
{
    if (!h->base)
        return offset || bytes == 0 ? (const void *)(uintptr_t)(offset ? offset : 1) : NULL;
    return offset <= h->length && bytes <= h->length - offset ? h->base + offset : NULL;
}

bool plain_value(const struct heap *h, const eagre_value *from, struct value *to)
{
    *to = (struct value){.type = from->type, .u = from->v.u};
    switch (from->type) {
    case EAGRE_NULL: case EAGRE_INT: case EAGRE_REAL: case EAGRE_TIME:
        return true;
    case EAGRE_UINT:
        if (from->v.u <= INT64_MAX)
            to->type = VALUE_INT;
        return true;
    case EAGRE_TEXT:
        to->length = from->length;
        to->text = heap_at(h, from->v.at, from->length);
        return to->text != NULL;
    case EAGRE_VECTOR:
        to->length = from->length;
        to->vector = heap_at(h, from->v.at, (uint64_t)from->length * sizeof(float));
        return to->vector != NULL && (uintptr_t)to->vector % sizeof(float) == 0;
    default:
        return false;
    }
}

/* Lists are translated into memory that lives until the call ends. */
bool take_value(const struct heap *h, const eagre_value *from, struct scratch *s, struct value *to)
{
    if (from->type != EAGRE_LIST)
        return plain_value(h, from, to);
    if (from->length == 0) { /* wherever it is said to be: nothing of it is read */
        static const struct value nothing;
        *to = (struct value){.type = VALUE_LIST, .list = &nothing};
        return true;
    }
    const eagre_value *list = heap_at(h, from->v.at, (uint64_t)from->length * sizeof *list);
    if (!list || (uintptr_t)list % _Alignof(eagre_value) || from->length > s->capacity - s->used)
        return false;
    struct value *copy = s->lists + s->used;
    s->used += from->length;
    for (uint32_t i = 0; i < from->length; i++)
        if (!plain_value(h, &list[i], &copy[i]))
            return false;
    *to = (struct value){.type = VALUE_LIST, .length = from->length, .list = copy};
    return true;
}

/* n values, with their lists, in memory that the caller frees; NULL: a filled error. */
struct value *take_values(const struct heap *h, const eagre_value *from, uint32_t n, const char *what, struct error *e)
{
    if (n && !from) {
        fail(e, STATUS_INVALID, -1, "%s: NULL", what);
        return NULL;
    }
    size_t room = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (from[i].type == EAGRE_LIST && from[i].length > MAX_LIST) {
            fail(e, STATUS_LIMIT, -1, "%s: a list has at most %d elements, got %u", what, MAX_LIST, from[i].length);
            return NULL;
        }
        room += from[i].type == EAGRE_LIST ? from[i].length : 0;
    }
    struct value *values = mem_array(n + room + 1, sizeof *values);
    if (!values) {
        fail(e, STATUS_NO_MEMORY, -1, "no memory for the arguments");
        return NULL;
    }
    struct scratch s = {.lists = values + n, .capacity = room};
    for (uint32_t i = 0; i < n; i++)
        if (!take_value(h, &from[i], &s, &values[i])) {
            fail(e, STATUS_INVALID, -1, "%s: value %u lies outside the heap, is misaligned or has an unknown type %u", what, i + 1, from[i].type);
            mem_free(values);
            return NULL;
        }
    return values;
}

status take_key(const struct heap *h, const eagre_value *from, struct value *to, struct error *e)
{
    if (!from)
        return wrong_argument(e, "key: NULL");
    return plain_value(h, from, to) ? STATUS_OK : wrong_argument(e, "key: it lies outside the heap or is no key");
}

/* A size beyond all reason is one that was never set: it is not trusted for a look at the bytes. */
enum { OPTIONS_MAX = 4096 };

status check_options(const void *options, uint32_t known, const char *what, struct error *e)
{
    uint32_t size;
    memcpy(&size, options, sizeof size);
    if (size < known || size > OPTIONS_MAX)
        return fail(e, STATUS_INVALID, -1, "options.struct_size: sizeof(%s) was expected, got %u", what, size);
    for (const uint8_t *p = (const uint8_t *)options + known; p < (const uint8_t *)options + size; p++)
        if (*p)
            return fail(e, STATUS_UNSUPPORTED, -1, "options: this version does not know all that is set");
    return STATUS_OK;
}

/* The caller's buffer for an answer. */
status read_output(void *out, size_t capacity, size_t *needed, struct output *o, struct error *e)
{
    if (!needed)
        return wrong_argument(e, "needed: NULL");
    *needed = 0;
    if ((uintptr_t)out % 8 != 0)
        return wrong_argument(e, "out: it must be aligned to 8 bytes");
    *o = (struct output){.data = out, .capacity = out ? capacity : 0};
    return STATUS_OK;
}
