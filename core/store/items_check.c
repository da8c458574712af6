/* SPDX-License-Identifier: MIT */
/* Does a value fit a field, and a key its kind? Pure checks, any thread; docs/language.md, section 2. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "store/items.h"

static status wrong_type(const struct field *f, const char *expected, const char *got, struct error *e)
{
    return fail(e, STATUS_TYPE, -1, "field '%s' of '%s' expects %s, got %s", f->def.name, f->kind->name, expected, got);
}

static status check_integer(const struct field *f, const struct value *v, struct error *e)
{
    if (v->type == VALUE_INT)
        return STATUS_OK;
    if (v->type == VALUE_UINT)
        return fail(e, STATUS_RANGE, -1, "field '%s' of '%s' expects an integer of at most 2^63-1, got %llu", f->def.name, f->kind->name,
                    (unsigned long long)v->u);
    return wrong_type(f, "an integer", value_type_name(v->type), e);
}

static status check_real(const struct field *f, struct value *v, struct error *e)
{
    if (v->type == VALUE_INT)
        v->f = (double)v->i;
    else if (v->type == VALUE_UINT)
        v->f = (double)v->u;
    else if (v->type != VALUE_REAL)
        return wrong_type(f, "a number", value_type_name(v->type), e);
    v->type = VALUE_REAL;
    if (!isfinite(v->f))
        return fail(e, STATUS_RANGE, -1, "field '%s' of '%s' expects a finite number, got %s", f->def.name, f->kind->name,
                    isnan(v->f) ? "NaN"
                    : v->f > 0  ? "infinity"
                                : "-infinity");
    return STATUS_OK;
}

static status check_time(const struct field *f, struct value *v, struct error *e)
{
    static const char *const expected = "a time (microseconds since 1970, or 'YYYY-MM-DD[ HH:MM[:SS[.ffffff]]][Z]')";
    if (v->type == VALUE_TEXT) {
        int64_t us;
        if (!time_parse(v->text, v->length, &us)) {
            char got[40];
            int shown = v->length <= 32 && utf8_valid(v->text, v->length) ? (int)v->length : 0;
            snprintf(got, sizeof got, shown > 0 ? "'%.*s'" : "other text", shown, v->text);
            return wrong_type(f, expected, got, e);
        }
        v->i = us;
    } else if (v->type != VALUE_TIME && v->type != VALUE_INT && v->type != VALUE_UINT)
        return wrong_type(f, expected, value_type_name(v->type), e);
    if (v->type == VALUE_UINT || v->i < TIME_MIN_US || v->i > TIME_MAX_US)
        return fail(e, STATUS_RANGE, -1, "field '%s' of '%s' expects a time from 0001-01-01 to 9999-12-31", f->def.name, f->kind->name);
    v->type = VALUE_TIME;
    return STATUS_OK;
}

static status check_text(const struct field *f, const struct value *v, const char *expected, uint32_t most, struct error *e)
{
    if (v->type != VALUE_TEXT)
        return wrong_type(f, expected, value_type_name(v->type), e);
    if (v->length > most)
        return fail(e, STATUS_LIMIT, -1, "field '%s' of '%s' takes at most %u bytes of text, got %u", f->def.name, f->kind->name, most,
                    v->length);
    if (!utf8_valid(v->text, v->length))
        return fail(e, STATUS_ENCODING, -1, "field '%s' of '%s' expects UTF-8, and the text is not", f->def.name, f->kind->name);
    return STATUS_OK;
}

/* Counts different texts, up to one more than MAX_KEYWORDS. */
static unsigned count_distinct(const struct value *list, uint32_t n)
{
    enum { TABLE = 1024 };
    uint32_t table[TABLE], seen = 0;
    memset(table, 0, sizeof table); /* index + 1 */
    for (uint32_t i = 0; i < n && seen <= MAX_KEYWORDS; i++) {
        uint64_t h = hash_bytes(list[i].text, list[i].length) % TABLE;
        for (; table[h] != 0; h = (h + 1) % TABLE) {
            const struct value *other = &list[table[h] - 1];
            if (other->length == list[i].length && memcmp(other->text, list[i].text, other->length) == 0)
                break;
        }
        if (table[h] == 0) {
            table[h] = i + 1;
            seen++;
        }
    }
    return seen;
}

static status check_keywords(const struct field *f, const struct value *v, struct error *e)
{
    if (v->type != VALUE_LIST)
        return wrong_type(f, "a list of texts", value_type_name(v->type), e);
    for (uint32_t i = 0; i < v->length; i++) {
        status s = check_text(f, &v->list[i], "a list of texts", MAX_KEYWORD, e);
        if (s != STATUS_OK)
            return s;
    }
    if (v->length > MAX_KEYWORDS && count_distinct(v->list, v->length) > MAX_KEYWORDS)
        return fail(e, STATUS_LIMIT, -1, "field '%s' of '%s' takes at most %d different keywords", f->def.name, f->kind->name,
                    MAX_KEYWORDS);
    return STATUS_OK;
}

static status check_vector(const struct field *f, const struct value *v, struct error *e)
{
    char expected[48];
    snprintf(expected, sizeof expected, "a vector of %u numbers", f->def.dimension);
    if (v->type != VALUE_VECTOR)
        return wrong_type(f, expected, value_type_name(v->type), e);
    if (v->length != f->def.dimension) {
        char got[32];
        snprintf(got, sizeof got, "one of %u", v->length);
        return wrong_type(f, expected, got, e);
    }
    for (uint32_t i = 0; i < v->length; i++)
        if (!isfinite(v->vector[i]))
            return fail(e, STATUS_RANGE, -1, "field '%s' of '%s' expects finite numbers; number %u is not", f->def.name, f->kind->name,
                        i + 1);
    return STATUS_OK;
}

status items_check_value(const struct field *f, struct value *v, struct error *e)
{
    if (v->type == VALUE_NULL)
        return STATUS_OK;
    switch (f->def.type) {
    case FIELD_INTEGER: return check_integer(f, v, e);
    case FIELD_REAL: return check_real(f, v, e);
    case FIELD_TIME: return check_time(f, v, e);
    case FIELD_KEYWORD: return check_text(f, v, "text", MAX_KEYWORD, e);
    case FIELD_KEYWORDS: return check_keywords(f, v, e);
    case FIELD_TEXT: return check_text(f, v, "text", MAX_TEXT, e);
    case FIELD_VECTOR: return check_vector(f, v, e);
    default: return fail(e, STATUS_INTERNAL, -1, "field '%s' has no known type", f->def.name);
    }
}

status items_check_key(const struct kind *k, const struct value *v, struct key *out, struct error *e)
{
    memset(out, 0, sizeof *out);
    if (k->integer_keys) {
        if (v->type != VALUE_INT && v->type != VALUE_UINT)
            return fail(e, STATUS_TYPE, -1, "'%s' has integer keys, got %s", k->name, value_type_name(v->type));
        if (v->type == VALUE_INT && v->i < 0)
            return fail(e, STATUS_RANGE, -1, "a key of '%s' is an integer from 0 to 2^64-1, got %lld", k->name, (long long)v->i);
        out->number = v->u;
        return STATUS_OK;
    }
    if (v->type != VALUE_TEXT)
        return fail(e, STATUS_TYPE, -1, "'%s' has string keys, got %s", k->name, value_type_name(v->type));
    if (v->length == 0)
        return fail(e, STATUS_RANGE, -1, "a key of '%s' is empty; it has 1 to %d bytes", k->name, MAX_KEY);
    if (v->length > MAX_KEY)
        return fail(e, STATUS_LIMIT, -1, "a key of '%s' has %u bytes; it has 1 to %d", k->name, v->length, MAX_KEY);
    out->bytes = v->text;
    out->length = v->length;
    return STATUS_OK;
}
