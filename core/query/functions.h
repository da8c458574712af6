/* SPDX-License-Identifier: MIT */
/* The functions of the language: name, form, family. */
#ifndef EAGRE_QUERY_FUNCTIONS_H
#define EAGRE_QUERY_FUNCTIONS_H

#include <stdint.h>

enum function_family { FAMILY_SIGNAL, FAMILY_TIME, FAMILY_NUMBERS, FAMILY_RESERVED };
enum function_id {
    FUNCTION_DECAY, FUNCTION_COUNT_EVENTS, FUNCTION_SUM, FUNCTION_VELOCITY, FUNCTION_RISE, FUNCTION_LAST,
    FUNCTION_AGE, FUNCTION_RECENCY, FUNCTION_IF, FUNCTION_RANDOM, FUNCTION_PLAIN, FUNCTION_NONE,
};

struct function {
    const char *name;
    uint8_t family, id;
    uint8_t least, most; /* arguments */
    uint16_t op;         /* FAMILY_NUMBERS */
    const char *form;    /* as errors show it */
};

const struct function *function_at(unsigned i); /* 0, 1, ...; NULL behind the last */
const struct function *function_by_name(const char *name); /* NULL: none. Names are case-sensitive as all names are */

#endif
