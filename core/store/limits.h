/* SPDX-License-Identifier: MIT */
/* The documented limits, each a named constant (docs/language.md). Going past one gives EAGRE_LIMIT or EAGRE_RANGE. */
#ifndef EAGRE_STORE_LIMITS_H
#define EAGRE_STORE_LIMITS_H

/* clang-format off */
enum {
    MAX_NAME = 64,             /* bytes of a name */
    MAX_KEY = 512,             /* bytes of a string key */
    MAX_KINDS = 255,
    MAX_FIELDS = 256,          /* per kind */
    MAX_SIGNALS = 256,         /* per kind, dropped ones included */
    MAX_WINDOWS = 8,           /* per signal */
    WINDOW_MIN = 60,           /* seconds of a window, a multiple of this */
    WINDOW_MAX = 366 * 86400,
    MAX_POWER = 10,            /* of POWER DECAY */
    MAX_PROFILE_PARAMETERS = 16,
    MAX_KEYWORD = 512,         /* bytes of one keyword */
    MAX_KEYWORDS = 256,        /* keywords of one field of one item */
    MAX_TEXT = 16 << 20,       /* bytes of a text */
    MAX_DIMENSION = 4096,      /* numbers of a vector */
    MAX_ROW = 1 << 30,         /* bytes of one item's values together */
    MAX_EVENT_ID = 64,         /* bytes of an event id */
    MAX_STATEMENT = 65536,     /* bytes of a statement */
    MAX_DEPTH = 200,           /* nesting of an expression */
    MAX_PARAMETER = 999,       /* ?n */
    MAX_LIST = 1000000,        /* elements of a list parameter */
    MAX_LIMIT = 1000000,       /* LIMIT n */
    MAX_DIVERSITY_WINDOW = 1000,
    MAX_PASSED_OVER = 1000,    /* rows a cursor carries */

    SLOT_MAX = 0x7fffffff,     /* slots of a kind */
    BLOCK = 256,               /* slots scored together; one sequence word covers them */
};
/* clang-format on */

#define HALF_LIFE_MIN (30 * 1000000LL) /* microseconds */
#define HALF_LIFE_MAX (3650 * 86400 * 1000000LL)

#endif
