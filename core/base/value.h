/* SPDX-License-Identifier: MIT */
/* A typed value as it travels: a field's value on its way in or out, a key, a parameter. Points at memory of somebody else. */
#ifndef EAGRE_BASE_VALUE_H
#define EAGRE_BASE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum value_type {
    VALUE_NULL = 0,
    VALUE_INT,    /* i */
    VALUE_UINT,   /* u: integers above 2^63-1 only; smaller ones are VALUE_INT */
    VALUE_REAL,   /* f */
    VALUE_TIME,   /* i: microseconds since 1970 */
    VALUE_TEXT,   /* text, length: bytes, not NUL-terminated */
    VALUE_LIST,   /* list, length: elements, none of them a list or a vector */
    VALUE_VECTOR, /* vector, length: numbers */
};

struct value {
    uint32_t type;   /* enum value_type */
    uint32_t length;
    union {
        int64_t i;
        uint64_t u;
        double f;
        const char *text;
        const struct value *list;
        const float *vector;
    };
};

/* By bytes, unsigned; a beginning comes before the whole. Below, equal to or above 0. */
int value_text_compare(const char *a, size_t na, const char *b, size_t nb);
const char *value_type_name(uint32_t type); /* "an integer", "text", ...: for error sentences */
bool utf8_valid(const char *text, size_t length); /* well-formed UTF-8 (no surrogates, no overlong forms) */
/* Bytes of the well-formed code point that text (at least 1 byte) begins with; 0 when it does not begin with one. */
size_t utf8_step(const char *text, size_t length);

#endif
