/* SPDX-License-Identifier: MIT */
#include "base/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/value.h"

#define FIRST_CAPACITY 64

void buffer_free(struct buffer *b)
{
    mem_free(b->data);
    *b = (struct buffer){0};
}

void *buffer_extend(struct buffer *b, size_t n)
{
    if (b->failed)
        return NULL;
    /* The NUL of buffer_printf needs a byte more, and no caller is given NULL for n = 0. */
    if (n >= b->capacity - b->length) {
        size_t least, capacity = b->capacity < FIRST_CAPACITY ? FIRST_CAPACITY : b->capacity;
        if (__builtin_add_overflow(b->length, n, &least) || least == SIZE_MAX) {
            b->failed = true;
            return NULL;
        }
        while (capacity <= least)
            capacity = capacity > SIZE_MAX / 2 ? least + 1 : capacity * 2;
        uint8_t *data = mem_realloc(b->data, capacity);
        if (data == NULL) {
            b->failed = true;
            return NULL;
        }
        b->data = data;
        b->capacity = capacity;
    }
    uint8_t *at = b->data + b->length;
    b->length += n;
    return at;
}

void buffer_bytes(struct buffer *b, const void *data, size_t n)
{
    void *at = buffer_extend(b, n);
    if (at != NULL && n > 0)
        memcpy(at, data, n);
}

void buffer_u8(struct buffer *b, uint8_t v)
{
    buffer_bytes(b, &v, 1);
}

void buffer_u32(struct buffer *b, uint32_t v)
{
    uint8_t bytes[4];
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(v >> (8 * i));
    buffer_bytes(b, bytes, sizeof bytes);
}

void buffer_u64(struct buffer *b, uint64_t v)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(v >> (8 * i));
    buffer_bytes(b, bytes, sizeof bytes);
}

void buffer_f64(struct buffer *b, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    buffer_u64(b, bits);
}

void buffer_printf(struct buffer *b, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    char small[128];
    int n = vsnprintf(small, sizeof small, format, arguments);
    if (n < 0) {
        b->failed = true;
    } else if ((size_t)n < sizeof small) {
        buffer_bytes(b, small, (size_t)n);
    } else {
        char *at = buffer_extend(b, (size_t)n); /* which leaves room for the NUL */
        if (at != NULL)
            vsnprintf(at, (size_t)n + 1, format, again);
    }
    va_end(again);
    va_end(arguments);
}

void buffer_json_string(struct buffer *b, const char *text, size_t length)
{
    buffer_u8(b, '"');
    size_t plain = 0; /* start of the run that needs no escape */
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)text[i];
        size_t n = utf8_step(text + i, length - i);
        if (n > 0 && c >= 0x20 && c != '"' && c != '\\') {
            i += n;
            continue;
        }
        if (i > plain)
            buffer_bytes(b, text + plain, i - plain);
        if (n == 0)
            buffer_bytes(b, "\xef\xbf\xbd", 3); /* U+FFFD */
        else if (c == '"' || c == '\\')
            buffer_bytes(b, (char[2]){'\\', (char)c}, 2);
        else if (c == '\n')
            buffer_bytes(b, "\\n", 2);
        else if (c == '\t')
            buffer_bytes(b, "\\t", 2);
        else if (c == '\r')
            buffer_bytes(b, "\\r", 2);
        else
            buffer_printf(b, "\\u%04x", c);
        plain = ++i;
    }
    if (length > plain)
        buffer_bytes(b, text + plain, length - plain);
    buffer_u8(b, '"');
}

const uint8_t *reader_bytes(struct reader *r, size_t n)
{
    if (r->failed || n > (size_t)(r->end - r->at)) {
        r->failed = true;
        return NULL;
    }
    static const uint8_t nothing;
    if (n == 0) /* of a reader of nothing, whose ends may be NULL */
        return r->at != NULL ? r->at : &nothing;
    r->at += n;
    return r->at - n;
}

uint8_t reader_u8(struct reader *r)
{
    const uint8_t *at = reader_bytes(r, 1);
    return at == NULL ? 0 : *at;
}

static uint64_t get(struct reader *r, size_t bytes)
{
    const uint8_t *at = reader_bytes(r, bytes);
    uint64_t v = 0;
    for (size_t i = 0; at != NULL && i < bytes; i++)
        v |= (uint64_t)at[i] << (8 * i);
    return v;
}

uint32_t reader_u32(struct reader *r)
{
    return (uint32_t)get(r, 4);
}

uint64_t reader_u64(struct reader *r)
{
    return get(r, 8);
}

double reader_f64(struct reader *r)
{
    uint64_t bits = get(r, 8);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}
