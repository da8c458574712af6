/* SPDX-License-Identifier: MIT */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/value.h"

const char *status_name(status code)
{
    switch (code) {
#define X(name, number, text) \
    case (number): return "EAGRE_" #name;
        STATUS_LIST(X)
#undef X
    default: return "EAGRE_UNKNOWN_STATUS";
    }
}

const char *status_text(status code)
{
    switch (code) {
#define X(name, number, text) \
    case (number): return text;
        STATUS_LIST(X)
#undef X
    default: return "unknown status";
    }
}

/* A sentence may quote foreign bytes, or be cut in the middle of a character: what is left is made valid. */
static void make_valid(char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length;) {
        size_t n = utf8_step(text + i, length - i);
        if (n == 0) {
            text[i] = '?';
            n = 1;
        }
        i += n;
    }
}

status fail(struct error *e, status code, int64_t position, const char *format, ...)
{
    if (e == NULL)
        return code;
    e->code = code;
    e->position = position;
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(e->text, sizeof e->text, format, arguments);
    va_end(arguments);
    if (n < 0)
        snprintf(e->text, sizeof e->text, "%s", status_text(code));
    if (n >= (int)sizeof e->text) {
        /* Cut: drop the character that was cut through, if one was, rather than leave marks in its place. */
        size_t last = sizeof e->text - 1;
        while (last > sizeof e->text - 4 && ((unsigned char)e->text[last - 1] & 0xc0) == 0x80)
            last--;
        if (((unsigned char)e->text[last - 1] & 0xc0) == 0xc0 && utf8_step(e->text + last - 1, sizeof e->text - last) == 0)
            e->text[last - 1] = '\0';
    }
    make_valid(e->text);
    return code;
}
