/* SPDX-License-Identifier: MIT */
#include "base/value.h"

#include <string.h>

int value_text_compare(const char *a, size_t na, const char *b, size_t nb)
{
    size_t shorter = na < nb ? na : nb;
    int order = shorter > 0 ? memcmp(a, b, shorter) : 0; /* an empty text may be NULL */
    return order != 0 ? order : (na > nb) - (na < nb);
}

const char *value_type_name(uint32_t type)
{
    switch (type) {
    case VALUE_NULL: return "null";
    case VALUE_INT: return "an integer";
    case VALUE_UINT: return "an integer above 2^63-1";
    case VALUE_REAL: return "a real number";
    case VALUE_TIME: return "a time";
    case VALUE_TEXT: return "text";
    case VALUE_LIST: return "a list";
    case VALUE_VECTOR: return "a vector";
    default: return "a value of unknown type";
    }
}

size_t utf8_step(const char *text, size_t length)
{
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80)
        return 1;
    /* The second byte's range rules out overlong forms, surrogates and what lies above U+10FFFF (Unicode, table 3-7). */
    unsigned char low = 0x80, high = 0xbf;
    size_t n;
    if (s[0] >= 0xc2 && s[0] <= 0xdf) {
        n = 2;
    } else if (s[0] >= 0xe0 && s[0] <= 0xef) {
        n = 3;
        low = s[0] == 0xe0 ? 0xa0 : low;
        high = s[0] == 0xed ? 0x9f : high;
    } else if (s[0] >= 0xf0 && s[0] <= 0xf4) {
        n = 4;
        low = s[0] == 0xf0 ? 0x90 : low;
        high = s[0] == 0xf4 ? 0x8f : high;
    } else {
        return 0;
    }
    if (length < n || s[1] < low || s[1] > high)
        return 0;
    for (size_t i = 2; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

bool utf8_valid(const char *text, size_t length)
{
    size_t i = 0;
    while (i < length) {
        uint64_t eight;
        while (length - i >= sizeof eight) { /* runs of ASCII, eight bytes at a time */
            memcpy(&eight, text + i, sizeof eight);
            if (eight & 0x8080808080808080u)
                break;
            i += sizeof eight;
        }
        if (i == length)
            break;
        size_t n = utf8_step(text + i, length - i);
        if (n == 0)
            return false;
        i += n;
    }
    return true;
}
