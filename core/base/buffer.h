/* SPDX-License-Identifier: MIT */
/* A growing run of bytes with little-endian encoders, and a reader that checks every length before it is used. */
#ifndef EAGRE_BASE_BUFFER_H
#define EAGRE_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
    uint8_t *data;
    size_t length, capacity;
    bool failed; /* an allocation failed; later puts do nothing */
};

void buffer_free(struct buffer *b);
void *buffer_extend(struct buffer *b, size_t n); /* n more bytes, uninitialised; NULL when out of memory */
void buffer_bytes(struct buffer *b, const void *data, size_t n);
void buffer_u8(struct buffer *b, uint8_t v);
void buffer_u32(struct buffer *b, uint32_t v);
void buffer_u64(struct buffer *b, uint64_t v);
void buffer_f64(struct buffer *b, double v);
void buffer_printf(struct buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buffer_json_string(struct buffer *b, const char *text, size_t length); /* quoted and escaped; bad UTF-8 becomes U+FFFD */

struct reader {
    const uint8_t *at, *end;
    bool failed; /* something was cut short; later gets give zeros */
};

const uint8_t *reader_bytes(struct reader *r, size_t n); /* NULL when fewer are left */
uint8_t reader_u8(struct reader *r);
uint32_t reader_u32(struct reader *r);
uint64_t reader_u64(struct reader *r);
double reader_f64(struct reader *r);

#endif
