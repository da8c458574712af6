/* SPDX-License-Identifier: MIT */
/* Status codes and error details. The list is one X-macro: code, number, meaning. Numbers are never reused. */
#ifndef EAGRE_BASE_STATUS_H
#define EAGRE_BASE_STATUS_H

#include <stdint.h>

typedef int32_t status;

/* clang-format off */
#define STATUS_LIST(X)                                                                             \
    X(OK,                 0, "success")                                                            \
    X(DUPLICATE,          1, "an event with this id was counted before; nothing changed")          \
    X(INTERNAL,          -1, "internal error")                                                     \
    X(INVALID,           -2, "invalid argument")                                                   \
    X(SYNTAX,            -3, "the statement is not valid")                                         \
    X(UNKNOWN,           -4, "no such kind, field, signal, profile, role or function")             \
    X(EXISTS,            -5, "the name is taken")                                                  \
    X(TYPE,              -6, "wrong type of value")                                                \
    X(RANGE,             -7, "value out of range")                                                 \
    X(ENCODING,          -8, "text is not valid UTF-8")                                            \
    X(NOT_FOUND,         -9, "no such item")                                                       \
    X(BUFFER_TOO_SMALL, -10, "the caller's buffer is too small")                                   \
    X(CLOSED,           -11, "the handle is closed")                                               \
    X(FORKED,           -12, "the handle belongs to the process that opened it")                   \
    X(NO_MEMORY,        -13, "out of memory or over the memory limit")                             \
    X(STALE,            -14, "the statement's kind or signal was dropped")                         \
    X(CURSOR,           -15, "the cursor is damaged or belongs to another statement")              \
    X(UNSUPPORTED,      -16, "reserved by the language, not available")                            \
    X(LIMIT,            -17, "a documented limit is exceeded")                                     \
    X(DEADLINE,         -18, "the deadline passed")                                                \
    X(PARAMETER,        -19, "a parameter is missing or does not fit")                             \
    X(MOMENT,           -20, "the moment is before the newest event of a signal in use")
/* clang-format on */

enum {
#define X(name, number, text) STATUS_##name = (number),
    STATUS_LIST(X)
#undef X
};

const char *status_name(status code); /* "EAGRE_TYPE"; static; never NULL */
const char *status_text(status code); /* static; never NULL */

/* Detail of a failure, in memory of the caller. Every function that can fail takes one and fills it when it fails. */
struct error {
    status code;
    int64_t position; /* byte offset in the statement, or -1 */
    char text[240];   /* a sentence that names the argument and what was expected; NUL-terminated, valid UTF-8 */
};

/* Fills *e (may be NULL) and returns code, so that "return fail(e, STATUS_TYPE, -1, ...)" reads well. */
status fail(struct error *e, status code, int64_t position, const char *format, ...)
    __attribute__((format(printf, 4, 5), cold));

#endif
